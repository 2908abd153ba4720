"""Sparse tables against scikit-learn, LightGBM and XGBoost. In: nothing. Out: a table and JSON. Caller: a person.

Made-up documents: 100 words drawn by Zipf's law in each row, as counts; four classes of equal size. Every fit runs
once, in a process of its own and on one thread: its seconds, how far its memory rose above where it stood before, and
the share of other rows that it then predicts right. A library that is not installed is left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from memory import begin_peak, peak_bytes
from pairs import machine

FULL, QUICK = (18_000, 100_000), (1_000, 5_000)
WORDS = 100  # of a document
JOBS = {
    "tree": ("treewright", "scikit-learn"),
    "forest of 20": ("treewright", "scikit-learn"),
    "extra trees, 20": ("treewright", "scikit-learn"),
    "boosting, 10 rounds": ("treewright", "lightgbm", "xgboost"),
    "isolation, 100 trees": ("treewright", "scikit-learn"),
}


def documents(n: int, p: int) -> tuple[Any, np.ndarray]:
    """Rows of counts, and which of four subjects each has: that of the most words."""
    rng = np.random.default_rng(0)
    word = np.minimum((p ** rng.random(n * WORDS)).astype(np.int64) - 1, p - 1)
    X = sp.csr_matrix((np.ones(n * WORDS), (np.repeat(np.arange(n), WORDS), word)), shape=(n, p))
    X.sum_duplicates()
    scores = X @ rng.normal(size=p)
    return X, np.digitize(scores, np.quantile(scores, [0.25, 0.5, 0.75]))


def estimator(job: str, library: str) -> Any:
    """What is fitted."""
    if library == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=10, learning_rate=0.1, num_leaves=31, n_jobs=1, verbose=-1)
    if library == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_estimators=10, learning_rate=0.1, max_leaves=31, max_depth=0, grow_policy="lossguide",
                             n_jobs=1)  # fmt: skip
    is_ours = library == "treewright"
    if is_ours:
        import treewright as package
    else:
        import sklearn.ensemble as package
        import sklearn.tree
    makes: dict[str, Callable[[], Any]] = {
        "tree": lambda: (
            package.DecisionTreeClassifier(splitter="hist", n_jobs=1)
            if is_ours
            else sklearn.tree.DecisionTreeClassifier(random_state=0)
        ),
        "forest of 20": lambda: package.RandomForestClassifier(20, random_state=0, n_jobs=1),
        "extra trees, 20": lambda: package.ExtraTreesClassifier(20, random_state=0, n_jobs=1),
        "boosting, 10 rounds": lambda: package.GradientBoostingClassifier(n_estimators=10, n_jobs=1),
        "isolation, 100 trees": lambda: package.IsolationForest(n_estimators=100, random_state=0, n_jobs=1),
    }
    return makes[job]()


def measure(job: str, library: str, n: int, p: int) -> dict[str, Any]:
    """One fit, and what it predicts of rows that it did not see."""
    warnings.simplefilter("ignore")
    X, y = documents(n + n // 4, p)
    train, other = X[:n], X[n:]
    has_target = not job.startswith("isolation")
    few = [train[:300], y[:300]] if has_target else [train[:300]]
    estimator(job, library).fit(*few)  # kernels are loaded, or compiled, before the clock runs
    est = estimator(job, library)
    before, began = begin_peak(), perf_counter()
    est.fit(train, y[:n]) if has_target else est.fit(train)
    seconds, peak = perf_counter() - began, peak_bytes()
    began = perf_counter()
    answers = est.predict(other)
    return {
        "job": job, "library": library, "fit": seconds, "memory": (peak - before) / 2**20,
        "predict": perf_counter() - began, "right": float((answers == y[n:]).mean()) if has_target else None,
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Sparse tables against other libraries.")
    parser.add_argument("--quick", action="store_true", help="a small table")
    parser.add_argument("--out", type=Path, help="write JSON there")
    parser.add_argument("--one", nargs=4, metavar=("JOB", "LIBRARY", "N", "P"), help="a single fit, as JSON")
    arguments = parser.parse_args()
    if arguments.one:
        job, library, n, p = arguments.one
        print(json.dumps(measure(job, library, int(n), int(p))))
        return
    n, p = QUICK if arguments.quick else FULL
    print(machine(), f"{n:,} x {p:,}, {WORDS} words a row: {n * p * 8 / 2**20:,.0f} MiB as a dense table", sep="\n")
    print("| job | library | fit, s | memory, MiB | predict, s | right |\n|---|---|--:|--:|--:|--:|")
    measured = []
    for job, libraries in JOBS.items():
        for library in libraries:
            words = [sys.executable, __file__, "--one", job, library, str(n), str(p)]
            ran = subprocess.run(words, capture_output=True, text=True, check=False)
            if ran.returncode:
                print(f"| {job} | {library} | left out: {ran.stderr.strip().splitlines()[-1]} | | | |")
                continue
            one = json.loads(ran.stdout.splitlines()[-1])
            measured.append(one)
            right = "" if one["right"] is None else f"{one['right']:.3f}"
            print(f"| {job} | {library} | {one['fit']:.1f} | {one['memory']:.0f} | {one['predict']:.2f} | {right} |",
                  flush=True)  # fmt: skip
    if arguments.out:
        arguments.out.write_text(json.dumps(measured, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
