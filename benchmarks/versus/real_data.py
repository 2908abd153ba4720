"""Real tables: Treewright against scikit-learn. In: a folder of data sets. Out: a table, JSON. Callers: people, tests.

A data set is NAME.json beside NAME.csv.gz: the JSON names the ``task``, the ``target``, the ``nominal`` columns and the
``file``; an empty cell is missing. scikit-learn gets its nominal columns one-hot encoded, ours takes them as they are.
Five folds, both on the same rows, trees of full depth.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pairs import Pair, machine, table_of, write_json
from sklearn.compose import make_column_transformer
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treewright as tw

MISSING = "(missing)"


def those_there(names: list[str], folder: Path) -> Iterator[dict[str, Any]]:
    """The facts of data sets; those whose file is not there are named and skipped."""
    for name in names:
        facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        if (folder / facts["file"]).exists():
            yield facts
        else:
            print(f"{name}: not there, skipped")


def read(facts: dict[str, Any], folder: Path) -> tuple[pl.DataFrame, pl.Series]:
    """A data set's columns and target."""
    nominal, target = facts["nominal"], facts["target"]
    names = nominal if facts["task"] == "regression" else [*nominal, target]
    path = folder / facts["file"]
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path).with_columns(pl.col(names).cast(pl.String))
    else:
        frame = pl.read_csv(path, schema_overrides=dict.fromkeys(names, pl.String), infer_schema_length=None)
    return frame.drop(target), frame[target]


def estimators(facts: dict[str, Any]) -> tuple[Any, Any]:
    """Ours, and theirs with the encoding it needs."""
    numbers = facts["task"] == "regression"
    ours = (tw.DecisionTreeRegressor if numbers else tw.DecisionTreeClassifier)(nominal=facts["nominal"] or None)
    theirs = (DecisionTreeRegressor if numbers else DecisionTreeClassifier)(random_state=0)
    if facts["nominal"]:
        one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        encoding = make_column_transformer((one_hot, facts["nominal"]), remainder="passthrough")
        theirs = make_pipeline(encoding, theirs)
    return ours, theirs


def compare(facts: dict[str, Any], folder: Path, n_repeats: int) -> Pair:
    """Fit time and score of one data set; the score is in the note."""
    X, y = read(facts, folder)
    nominal = facts["nominal"]
    filled = X.with_columns(pl.col(nominal).fill_null(MISSING)) if nominal else X
    tables, target = (X, filled), y.to_numpy()
    numbers = facts["task"] == "regression"
    score = r2_score if numbers else accuracy_score
    folds = (KFold if numbers else StratifiedKFold)(5, shuffle=True, random_state=0)
    seconds: list[tuple[float, float]] = []
    scores: tuple[list[float], list[float]] = ([], [])
    pair = estimators(facts)
    pair[0].fit(X[:200], target[:200])  # compiles
    for train, test in folds.split(np.zeros(len(y)), target):
        for repeat in range(n_repeats):
            ours, theirs = (fit_seconds(pair[at], tables[at][train], target[train]) for at in (0, 1))
            seconds.append((ours, theirs))
            if repeat == 0:
                for est, table, own in zip(pair, tables, scores, strict=True):
                    own.append(float(score(target[test], est.predict(table[test]))))
    means = [statistics.mean(own) for own in scores]
    return Pair(
        job=f"{facts['name']} {len(X):,} x {X.width}",
        ours=statistics.median(each[0] for each in seconds),
        theirs=statistics.median(each[1] for each in seconds),
        ratio=statistics.median(each[1] / each[0] for each in seconds),
        pairs=len(seconds),
        note=f"{'R2' if numbers else 'accuracy'} ours {means[0]:.4f}, theirs {means[1]:.4f}",
    )


def fit_seconds(estimator: Any, X: pl.DataFrame, y: np.ndarray) -> float:
    """Wall time of one fit, encoding included."""
    start = time.perf_counter()
    estimator.fit(X, y)
    return time.perf_counter() - start


def data_sets(folder: Path, names: list[str] | None) -> Iterator[dict[str, Any]]:
    """Facts of the data sets that are there; the others are named and skipped."""
    found = {path.stem: path for path in sorted(folder.glob("*.json"))}
    for name in names or found:
        facts = json.loads(found[name].read_text(encoding="utf-8")) if name in found else {}
        if "target" not in facts or not (folder / facts["file"]).exists():
            print(f"{name}: not there, skipped")
            continue
        yield facts


def main() -> None:
    """Compare on each data set."""
    parser = argparse.ArgumentParser(description="Real tables: Treewright against scikit-learn.")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of NAME.json and NAME.csv.gz")
    parser.add_argument("--names", nargs="+", help="which data sets; all by default")
    parser.add_argument("--repeats", type=int, default=3, help="fits per fold")
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    results = []
    for facts in data_sets(arguments.data, arguments.names):
        results.append(compare(facts, arguments.data, arguments.repeats))
        print(table_of(results[-1:]).splitlines()[-1], flush=True)
    print(f"\n{machine()}\nfit with encoding, all processors; scikit-learn's trees use one thread\n")
    print(table_of(results))
    write_json(arguments.out, results)


if __name__ == "__main__":
    main()
