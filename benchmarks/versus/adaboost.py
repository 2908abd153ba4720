"""AdaBoost against scikit-learn's. In: nothing. Out: a table and JSON. Caller: a person (``--quick`` on small tables).

The same members: stumps, or trees of three levels for numbers, as many rounds, on one made-up table of numbers; both on
one thread, as scikit-learn has no other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from pairs import Pair, machine, table_of, time_pairs, write_json
from sklearn import ensemble, tree

import treewright as tw

FULL, QUICK = (20_000, 20, 50), (500, 5, 5)


def table(n: int, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, labels and numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, score > 0, score


def measure(n: int, p: int, n_rounds: int, n_pairs: int | None) -> list[Pair]:
    """Fits and predictions of both."""
    X, labels, numbers = table(n, p)
    options = {"note": f"{n:,} x {p}, {n_rounds} rounds", "n_pairs": n_pairs}
    one = tw.AdaBoostClassifier(n_estimators=n_rounds, n_jobs=1)
    other = ensemble.AdaBoostClassifier(n_estimators=n_rounds)
    pairs = [
        time_pairs("fit stumps", lambda: one.fit(X, labels), lambda: other.fit(X, labels), **options),
        time_pairs("predict", lambda: one.predict(X), lambda: other.predict(X), **options),
    ]
    differ = int((one.predict(X) != other.predict(X)).sum())
    print(f"{differ} of {n} predictions differ, right: {one.score(X, labels):.4f} and {other.score(X, labels):.4f}")
    ours = tw.AdaBoostRegressor(n_estimators=n_rounds, n_jobs=1)
    # Theirs draws rows, ours takes weights; the trees are as large.
    theirs = ensemble.AdaBoostRegressor(tree.DecisionTreeRegressor(max_depth=3), n_estimators=n_rounds)
    return [*pairs, time_pairs("fit numbers", lambda: ours.fit(X, numbers), lambda: theirs.fit(X, numbers), **options)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="AdaBoost against scikit-learn's.")
    parser.add_argument("--quick", action="store_true", help="a small table")
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    pairs = measure(*(QUICK if arguments.quick else FULL), n_pairs=1 if arguments.quick else None)
    print(machine())
    print(table_of(pairs))
    write_json(arguments.out, pairs)


if __name__ == "__main__":
    main()
