"""Trees that are optimal in their first levels, next to CART of the same depth, one thread.

In: a folder of data sets (see the README). Out: a table, JSON.

A fifth of the rows is held out; of the others ``--rows`` are drawn, with replacement where there are fewer. For both
trees: seconds of the fit (of the processor, which other programs do not lengthen as much), and the loss (errors, or
squared error as share of the variance) on fitted and held-out rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pairs import machine, write_json
from real_data import read, those_there

import treewright as tw

SETS = ("adult", "census_income_kdd", "covertype", "higgs_sample", "diamonds", "bike_sharing")


def losses(est: Any, X: pl.DataFrame, y: np.ndarray, *, is_number: bool) -> float:
    """The loss of a row, relative to the variance if the target is a number."""
    found = np.asarray(est.predict(X))
    return float(((found - y) ** 2).mean() / y.var()) if is_number else float((found != y).mean())


def measure(facts: dict[str, Any], folder: Path, given: argparse.Namespace) -> list[dict[str, Any]]:
    """CART, and searches of one level and of two, on one table."""
    X, target = read(facts, folder)
    is_number, y = facts["task"] == "regression", target.to_numpy()
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    held_out, fitted = order[: len(y) // 5], order[len(y) // 5 :]
    rows = fitted[: given.rows] if len(fitted) >= given.rows else rng.choice(fitted, given.rows)
    kinds = (tw.DecisionTreeRegressor, tw.OptimalTreeRegressor) if is_number else (
        tw.DecisionTreeClassifier, tw.OptimalTreeClassifier,
    )  # fmt: skip
    fixed: dict[str, Any] = {"max_depth": given.depth, "nominal": facts["nominal"] or None, "n_jobs": 1}
    jobs = [("CART", kinds[0](**fixed))] + [
        (f"{levels} of {given.depth} levels, {most:,} completions",
         kinds[1](**fixed, optimal_depth=levels, max_search=most))
        for levels in (1, 2) for most in given.searches
    ]  # fmt: skip
    found = []
    for name, est in jobs:
        est.fit(X[rows[:500]], y[rows[:500]])  # loads the kernels
        start = time.process_time()
        est.fit(X[rows], y[rows])
        seconds = time.process_time() - start
        one = {
            "set": facts["name"], "rows": len(rows), "columns": X.width, "tree": name, "seconds": seconds,
            "loss": losses(est, X[rows], y[rows], is_number=is_number),
            "held_out": losses(est, X[held_out], y[held_out], is_number=is_number),
            "leaves": int(est.get_n_leaves()), "is_proven": bool(getattr(est, "proven_", False)),
        }  # fmt: skip
        size, proven = f"{one['rows']:,} x {one['columns']}", " (proven)" * one["is_proven"]
        print(
            f"{one['set']} {size}: {name}{proven}: {seconds:.2f} s, loss {one['loss']:.4f}, "
            f"held out {one['held_out']:.4f}, {one['leaves']} leaves", flush=True,
        )  # fmt: skip
        found.append(one)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--names", nargs="+", default=list(SETS), help="only these sets")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of each fit")
    parser.add_argument("--depth", type=int, default=5, help="of the trees")
    parser.add_argument("--searches", nargs="+", type=int, default=[2000], help="completions of each search")
    parser.add_argument("--quick", action="store_true", help="few rows: only to see that it runs")
    parser.add_argument("--out", type=Path, help="write JSON here")
    given = parser.parse_args()
    if given.quick:
        given.rows, given.searches = 1000, [20]
    warnings.simplefilter("ignore")
    print(machine())
    found = []
    for facts in those_there(given.names, given.data):
        found += measure(facts, given.data, given)
    write_json(given.out, [], trees=found)


if __name__ == "__main__":
    main()
