"""The classics' speed: C4.5 against J48 and c50py, ID3 against Weka's Id3, CHAID against the CHAID package.

In: a folder of data sets (benchmarks/README.md). Out: a table, JSON. Callers: people, tests.

Weka times its own ``buildClassifier`` inside a running Java process, several times in a row, so that neither Java's
start nor the reading of the file counts; ours is ``fit`` on the table as a user has it, encoding included. The whole
commands are compared too. A program that is not there is left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pairs import Pair, table_of, write_json

import treewright as tw

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

import sets
from chaid_package import _tree as grow_with_package
from tables import Table

WEKA_TREES = Path(__file__).resolve().parents[1] / "reference" / "WekaTrees.java"
CHAID_OPTIONS = {"max_depth": 3, "min_parent_node_size": 30, "min_child_node_size": 10, "alpha_merge": 0.05}


def frame_of(table: Table) -> tuple[pl.DataFrame, pl.Series]:
    """The table as polars reads it: words in nominal columns, numbers elsewhere."""
    columns = {
        label: pl.Series(label, table.columns[label], pl.String)
        if label in table.nominal
        else pl.Series(label, table.columns[label], pl.String).cast(pl.Float64)
        for label in table.columns
    }
    frame = pl.DataFrame(columns)
    return frame.drop(table.target), frame[table.target]


def seconds_of(function: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def weka_seconds(jar: str, program: str, path: Path, options: str, n: int) -> list[float]:
    """Build times of one program on one file, in one Java process; the first ones warm it up."""
    command = ["java", "-Xss64m", "-cp", jar, str(WEKA_TREES), program, str(path), "-", *[options] * (n + 2)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line)["seconds"] for line in done.stdout.splitlines()][2:]


def pair_of(job: str, ours: list[float], theirs: list[float], note: str) -> Pair:
    """Medians, and the ratio of them: the two cannot run in turn inside one process."""
    mine, other = statistics.median(ours), statistics.median(theirs)
    return Pair(job, mine, other, other / mine, min(len(ours), len(theirs)), note=note)


def against_weka(job: str, make: Callable[[], Any], table: Table, jar: str, program: str, options: str, n: int) -> Pair:
    """Our fit against Weka's build; both before and after, so that a slow machine slows both."""
    X, y = frame_of(table)
    make().fit(X, y)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "table.arff"
        path.write_text(sets.arff(table), encoding="utf-8")
        theirs, ours = [], []
        for _ in range(2):
            theirs += weka_seconds(jar, program, path, options, n)
            ours += [seconds_of(lambda: make().fit(X, y)) for _ in range(n)]
    est = make().fit(X, y)
    return pair_of(job, ours, theirs, f"Weka {program}, warm, build only; ours {est.tree_.n_nodes} nodes")


def whole_commands(table: Table, jar: str, n: int) -> Pair:
    """Both programs from the shell: read the file, grow, print the tree and the training score."""
    with tempfile.TemporaryDirectory() as place:
        arff, csv = Path(place) / "table.arff", Path(place) / "table.csv"
        arff.write_text(sets.arff(table), encoding="utf-8")
        X, y = frame_of(table)
        X.with_columns(y).write_csv(csv)
        weka = ["java", "-Xss64m", "-cp", jar, "weka.classifiers.trees.J48", "-t", str(arff), "-no-cv", "-v"]
        nominal = [word for label in table.features if label in table.nominal for word in ("--nominal", label)]
        own = [
            sys.executable, "-m", "treewright", "fit", str(csv), "--target", table.target, "--algorithm", "c45",
            "--test-size", "0", *nominal,
        ]  # fmt: skip
        shell = partial(subprocess.run, check=True, capture_output=True)
        shell(own)
        theirs, ours = [], []
        for _ in range(n):
            theirs.append(seconds_of(lambda: shell(weka)))
            ours.append(seconds_of(lambda: shell(own)))
    return pair_of(f"whole command, C4.5 on {table.name}", ours, theirs, "java J48 -t -no-cv against treewright fit")


def against_c50py(table: Table, n: int) -> Pair:
    """C4.5 against the package c50py, which grows another tree (C5.0-like, two-way splits)."""
    from c50 import cells_of
    from c50py import C5Classifier

    X, y = frame_of(table)
    cells, truth = cells_of(table), np.array(table.columns[table.target])
    nominal = [i for i, label in enumerate(table.features) if label in table.nominal]

    def theirs() -> None:
        model = C5Classifier(categorical_features=nominal, infer_categorical=False)
        model.fit(cells, truth, feature_names=table.features)

    tw.C45Classifier().fit(X, y)
    ours = [seconds_of(lambda: tw.C45Classifier().fit(X, y)) for _ in range(7)]
    return pair_of(f"C4.5 on {table.name}, c50py", ours, [seconds_of(theirs) for _ in range(n)], "c50py: whole fit")


def against_chaid(table: Table, n: int) -> Pair:
    """CHAID against the package of that name, with the same limits."""
    features = [label for label in table.features if label in table.nominal]
    X, y = frame_of(table)
    X = X.select(features)
    cells = np.array([table.columns[label] for label in features], dtype=object).T
    truth = np.array(table.columns[table.target])

    def make() -> Any:
        return tw.CHAIDClassifier(max_depth=3, min_samples_split=30, min_samples_leaf=10)

    def theirs() -> Any:
        given = np.array([[np.nan if cell is None else cell for cell in row] for row in cells], dtype=object)
        return grow_with_package(given, truth, features, "nominal", "categorical", CHAID_OPTIONS)

    make().fit(X, y)
    ours, others = [], []
    for _ in range(n):
        others.append(seconds_of(theirs))
        ours += [seconds_of(lambda: make().fit(X, y)) for _ in range(3)]
    return pair_of(f"CHAID on {table.name} (nominal columns)", ours, others, "package CHAID: build_tree")


def jobs(folder: Path | None, jar: str, n: int) -> Iterator[Pair]:
    """Every job whose data and program are there."""
    adult, mushroom = sets.find("adult", folder), sets.find("mushroom", folder)
    has_weka = Path(jar).is_file() and shutil.which("java") is not None
    if has_weka and adult is not None:
        yield against_weka("C4.5 on adult", tw.C45Classifier, adult, jar, "J48", "-C 0.25 -M 2", n)
        unpruned = lambda: tw.C45Classifier(confidence=None)  # noqa: E731 - a name for the job
        yield against_weka("C4.5 on adult, unpruned", unpruned, adult, jar, "J48", "-U", n)
        yield whole_commands(adult, jar, n)
    if has_weka and mushroom is not None:
        complete = sets.without(mushroom, *sets.with_missing(mushroom))
        yield against_weka("ID3 on mushroom", tw.ID3Classifier, complete, jar, "Id3", "", n)
    if adult is not None and importlib.util.find_spec("c50py"):
        yield against_c50py(adult, max(1, n // 3))
    if importlib.util.find_spec("CHAID"):
        for table in filter(None, (adult, mushroom)):
            yield against_chaid(table, n)
    for name, is_there in (("adult", adult), ("mushroom", mushroom), ("Weka or Java", has_weka or None)):
        if is_there is None:
            print(f"{name} is not there: its jobs are left out")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of data sets; without it nothing big is measured")
    parser.add_argument("--weka-jar", default="/usr/share/java/weka.jar")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write JSON here")
    given = parser.parse_args()
    pairs = []
    for pair in jobs(given.data, given.weka_jar, given.repeats):
        print(pair.job, f"{pair.ours:.4g} s against {pair.theirs:.4g} s: {pair.ratio:.2f}", flush=True)
        pairs.append(pair)
    print(table_of(pairs, theirs="other"))
    write_json(given.out, pairs)


if __name__ == "__main__":
    main()
