"""One tree: Treewright against scikit-learn. In: made-up tables. Out: a table, JSON. Callers: people, tests.

scikit-learn's trees use one thread; ours are measured with one and with two. Both get the same float32 array, so
scikit-learn copies nothing. Kernels are compiled before the clock runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from memory import begin_peak, memory_pair, peak_bytes
from pairs import Pair, machine, table_of, time_pairs, write_json
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treewright as tw

CRITERIA = ("gini", "entropy", "squared_error")
THREADS = (1, 2)


@dataclass(frozen=True)
class Sizes:
    """How large the tables are, and how often a job is repeated (None: as often as the budget allows)."""

    large: tuple[int, int] = (200_000, 28)
    medium: tuple[int, int] = (20_000, 10)
    predicted: int = 1_000_000
    rows: tuple[int, ...] = (25_000, 50_000, 100_000, 200_000, 400_000)
    columns: tuple[int, ...] = (7, 14, 28, 56, 112)
    scaling: tuple[int, int] = (100_000, 28)
    n_pairs: int | None = None


QUICK = Sizes((2_000, 28), (1_000, 10), 5_000, (500, 1_000), (7, 14), (1_000, 28), 1)


def make_table(n: int, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normal numbers with two noisy targets that no single column explains.

    Returns
    -------
    X : float32[n, p]
    label : int64[n], 0 or 1
    number : float64[n]
    """
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, p), dtype=np.float32)
    number = (X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] ** 2).astype(np.float64)
    number += rng.standard_normal(n)
    return X, (number > np.median(number)).astype(np.int64), number


def estimators(criterion: str, n_jobs: int, **limits: Any) -> tuple[Any, Any]:
    """Ours and theirs with the same parameters."""
    numbers = criterion == "squared_error"
    ours = tw.DecisionTreeRegressor if numbers else tw.DecisionTreeClassifier
    theirs = DecisionTreeRegressor if numbers else DecisionTreeClassifier
    return (
        ours(criterion=criterion, n_jobs=n_jobs, **limits),
        theirs(criterion=criterion, random_state=0, **limits),
    )


def fit_pair(size: tuple[int, int], criterion: str, n_jobs: int, n_pairs: int | None, **limits: Any) -> Pair:
    """Time one fit."""
    X, label, number = make_table(*size)
    y = number if criterion == "squared_error" else label
    ours, theirs = estimators(criterion, n_jobs, **limits)
    few = min(len(X), max(2_000, 200_000 // X.shape[1]))  # enough cells for the threads to be used
    ours.fit(X[:few], y[:few])
    limited = "".join(f", {name} {value}" for name, value in limits.items())
    job = f"fit {criterion} {size[0]:,} x {size[1]}{limited}, n_jobs={n_jobs}"
    return time_pairs(job, lambda: ours.fit(X, y), lambda: theirs.fit(X, y), n_pairs=n_pairs)


def fits(sizes: Sizes) -> Iterator[Pair]:
    """Full-depth fits, large and medium, and a shallow one."""
    for criterion in CRITERIA:
        for n_jobs in THREADS:
            yield fit_pair(sizes.large, criterion, n_jobs, sizes.n_pairs)
    for criterion in CRITERIA:
        yield fit_pair(sizes.medium, criterion, 1, sizes.n_pairs)
    for n_jobs in THREADS:
        yield fit_pair(sizes.large, "gini", n_jobs, sizes.n_pairs, max_depth=8)


def iris(sizes: Sizes) -> Iterator[Pair]:
    """The cost of a fit that is almost no work."""
    X, y = load_iris(return_X_y=True)
    ours, theirs = estimators("gini", 1)
    yield time_pairs("fit gini iris 150 x 4", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), n_pairs=sizes.n_pairs)


def predictions(sizes: Sizes) -> Iterator[Pair]:
    """Many rows through a full-depth tree, and one row."""
    X, y, _ = make_table(*sizes.large)
    ours, theirs = estimators("gini", 1)
    ours.fit(X, y)
    theirs.fit(X, y)
    many = make_table(sizes.predicted, sizes.large[1])[0]
    for n_jobs in THREADS:
        ours.set_params(n_jobs=n_jobs)
        job = f"predict {sizes.predicted:,} rows, {ours.get_n_leaves():,} leaves, n_jobs={n_jobs}"
        yield time_pairs(job, lambda: ours.predict(many), lambda: theirs.predict(many), n_pairs=sizes.n_pairs)
    one = X[:1]
    cells = one[0].astype(float).tolist()
    model = ours.model_
    predict = theirs.predict
    yield time_pairs("predict 1 row, estimator", lambda: ours.predict(one), lambda: predict(one), n_pairs=sizes.n_pairs)
    yield time_pairs(
        "predict 1 row, predict_one",
        lambda: model.predict_one(cells),
        lambda: predict(one),
        n_pairs=sizes.n_pairs,
        note="a list against an array of one row",
    )


def scaling(sizes: Sizes) -> Iterator[Pair]:
    """Fits over growing tables."""
    for n in sizes.rows:
        yield fit_pair((n, sizes.scaling[1]), "gini", 1, sizes.n_pairs)
    for p in sizes.columns:
        yield fit_pair((sizes.scaling[0], p), "gini", 1, sizes.n_pairs)


def memory(sizes: Sizes) -> Iterator[Pair]:
    """Peak memory of a fit beyond the table, as a multiple of the table."""
    for criterion in CRITERIA:
        yield memory_pair(sizes.large, criterion, run_child)


def run_child(*words: str) -> str:
    """This script in a process of its own; what it printed."""
    command = [sys.executable, __file__, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout


def rise_of_fit(whose: str, criterion: str, size: tuple[int, int]) -> int:
    """Bytes a fit needs, in a process that made a table and did small fits first (they load what a fit needs)."""
    X, label, number = make_table(*size)
    y = number if criterion == "squared_error" else label
    chosen = dict(zip(("ours", "theirs"), estimators(criterion, 1), strict=True))
    few = max(500, len(X) // 100)
    for estimator in chosen.values():
        estimator.fit(X[:few], y[:few])
    before = begin_peak()
    chosen[whose].fit(X, y)
    return peak_bytes() - before


JOBS: dict[str, Callable[[Sizes], Iterator[Pair]]] = {
    "memory": memory,
    "fits": fits,
    "iris": iris,
    "predictions": predictions,
    "scaling": scaling,
}


def main() -> None:
    """Run the jobs asked for."""
    parser = argparse.ArgumentParser(description="One tree: Treewright against scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="small tables, one pair each: does everything run?")
    parser.add_argument("--out", type=Path, help="write JSON there")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which; all of them by default")
    parser.add_argument("--measured-fit", nargs=4, metavar="WORD", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measured_fit:
        whose, criterion, n, p = arguments.measured_fit
        print(rise_of_fit(whose, criterion, (int(n), int(p))))
        return
    sizes = QUICK if arguments.quick else Sizes()
    results = []
    for name in arguments.jobs:
        for pair in JOBS[name](sizes):
            print(table_of([pair]).splitlines()[-1], flush=True)
            results.append(pair)
    print(f"\n{machine()}\nscikit-learn's trees use one thread; ratio is theirs / ours, above 1 we are ahead\n")
    print(table_of(results))
    write_json(arguments.out, results, theirs_threads=1)


if __name__ == "__main__":
    main()
