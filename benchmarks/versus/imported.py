"""Models of other libraries, here: prediction and size beside the library's own. In: made tables. Out: a table, JSON.

Callers: people, tests. Each library trains a model on the same table; it predicts a batch and one row, and so does the
model that ``read_model`` makes of it. One row goes the way that each library's users go: a row of a matrix through
``predict``, of XGBoost through ``inplace_predict``, its faster door. A library that is not installed is left out. The
note says how far the answers are apart, and how large the files are.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from pairs import Pair, machine, table_of, time_pairs, write_json

import treewright as tw

COLUMNS = 20
Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Sizes:
    """How large tables are."""

    train_rows: int = 20_000
    rows: int = 100_000
    trees: int = 100
    n_pairs: int | None = 5


QUICK = Sizes(500, 300, 5, 1)


def made(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with an additive part, a product and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, COLUMNS))
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:8].sum(axis=1) / 3 + rng.normal(scale=0.3, size=n)


@dataclass(frozen=True)
class Other:
    """A model of another library.

    Attributes
    ----------
    name : str
    model : object
        What ``read_model`` takes.
    predict, predict_one : function from rows to numbers
        The second is given one row.
    """

    name: str
    model: Any
    predict: Predict
    predict_one: Predict


def of_xgboost(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int) -> Iterator[Other]:
    """Depth 6 on 256 bins, and exact cuts."""
    xgboost = import_module("xgboost")
    for method in ("hist", "exact"):
        model = xgboost.XGBRegressor(n_estimators=sizes.trees, max_depth=6, tree_method=method, n_jobs=n_threads)
        model.fit(X, y)
        yield Other(f"XGBoost, {method}", model, model.predict, model.get_booster().inplace_predict)


def of_lightgbm(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int) -> Iterator[Other]:
    """31 leaves."""
    lightgbm = import_module("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=sizes.trees, n_jobs=n_threads, verbose=-1).fit(X, y)
    booster = model.booster_
    yield Other("LightGBM", model, booster.predict, booster.predict)


def of_catboost(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int) -> Iterator[Other]:
    """Depth 6."""
    catboost = import_module("catboost")
    model = catboost.CatBoostRegressor(
        n_estimators=sizes.trees, verbose=False, thread_count=n_threads, allow_writing_files=False
    ).fit(X, y)
    yield Other("CatBoost", model, lambda rows: model.predict(rows, thread_count=n_threads), model.predict)


def of_sklearn(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int) -> Iterator[Other]:
    """A forest, extra-trees, boosting by exact cuts and by histograms."""
    ensemble = import_module("sklearn.ensemble")
    for name, model in (
        ("forest", ensemble.RandomForestRegressor(sizes.trees, n_jobs=n_threads, random_state=0)),
        ("extra-trees, 1,000 leaves", ensemble.ExtraTreesRegressor(
            sizes.trees, n_jobs=n_threads, max_leaf_nodes=1_000, random_state=0)),
        ("boosting", ensemble.GradientBoostingRegressor(n_estimators=sizes.trees, random_state=0)),
        ("histogram boosting", ensemble.HistGradientBoostingRegressor(max_iter=sizes.trees, early_stopping=False)),
    ):  # fmt: skip
        model.fit(X, y)
        yield Other(f"scikit-learn, {name}", model, model.predict, model.predict)


OTHERS = {
    "xgboost": of_xgboost,
    "lightgbm": of_lightgbm,
    "catboost": of_catboost,
    "sklearn": of_sklearn,
}


def compared(other: Other, rows: np.ndarray, sizes: Sizes, n_threads: int) -> Iterator[Pair]:
    """A batch, one row, and how large both are."""
    model = tw.read_model(other.model)
    one, cells = rows[:1], rows[0].tolist()
    theirs, ours = np.asarray(other.predict(rows)), model.predict(rows, n_jobs=n_threads)
    model.predict_one(cells), other.predict_one(one)
    apart = np.abs(theirs - ours).max() / np.abs(ours).max()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.tw")
        model.save(path)
        size = path.stat().st_size / 1e6
    note = f"apart {apart:.1e} of the range; {size:.2f} MB, its pickle {len(pickle.dumps(other.model)) / 1e6:.2f}"
    yield time_pairs(
        f"{other.name}: {len(rows):,} rows",
        lambda: model.predict(rows, n_jobs=n_threads), lambda: other.predict(rows), n_pairs=sizes.n_pairs, note=note,
    )  # fmt: skip
    yield time_pairs(
        f"{other.name}: one row",
        lambda: model.predict_one(cells), lambda: other.predict_one(one), n_pairs=sizes.n_pairs,
    )  # fmt: skip


def main() -> None:
    """Run the libraries asked for."""
    parser = argparse.ArgumentParser(description="Models of other libraries, predicted by them and here.")
    parser.add_argument("--quick", action="store_true", help="small tables, few trees, one pair: does everything run?")
    parser.add_argument("--libraries", nargs="+", choices=OTHERS, default=list(OTHERS), help="which; all by default")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads of every library that has some")
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else Sizes()
    warnings.simplefilter("ignore")
    os.environ.setdefault("TREEWRIGHT_COMPILE", "first")  # no kernel is timed as Python
    X, y = made(sizes.train_rows)
    rows, _ = made(sizes.rows)
    results = []
    for name in arguments.libraries:
        if find_spec(name) is None:
            continue
        for other in OTHERS[name](X, y, sizes, arguments.threads):
            for pair in compared(other, rows, sizes, arguments.threads):
                print(table_of([pair], "the library").splitlines()[-1], flush=True)
                results.append(pair)
    versions = {name: import_module(name).__version__ for name in arguments.libraries if find_spec(name)}
    print(f"\n{machine()}\n{versions}; ratio is theirs / ours\n")
    print(table_of(results, "the library"))
    write_json(arguments.out, results, threads=arguments.threads, rivals=versions)


if __name__ == "__main__":
    main()
