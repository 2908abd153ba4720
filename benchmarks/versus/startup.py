"""How long it takes to begin. In: nothing. Out: a table and JSON. Caller: a person, or the tests (``--quick``).

Whole processes, from start to end. The first fit ever compiles kernels and keeps them; the later one finds them in the
cache.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pairs import machine, written

IRIS = """
from sklearn.datasets import load_iris
{library}
X, y = load_iris(return_X_y=True)
{estimator}().fit(X, y)
"""
OURS = IRIS.format(library="import treewright as tw", estimator="tw.DecisionTreeClassifier")
THEIRS = IRIS.format(library="import sklearn.tree", estimator="sklearn.tree.DecisionTreeClassifier")
JOBS = {
    "python alone": ["-c", "pass"],
    "import treewright": ["-c", "import treewright"],
    "treewright --help": ["-m", "treewright", "--help"],
    "import scikit-learn's tree": ["-c", "import sklearn.tree"],
    "fit iris, scikit-learn": ["-c", THEIRS],
}


def seconds_of(words: list[str], cache: Path | None = None) -> float:
    """Wall time of one process."""
    surroundings = {**os.environ, **({"TREEWRIGHT_CACHE_DIR": str(cache)} if cache else {})}
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, env=surroundings)
    return time.perf_counter() - start


def measure(n_repeats: int, *, first_ever: bool) -> dict[str, float]:
    """Median seconds per job; the jobs take turns."""
    times: dict[str, list[float]] = {job: [] for job in JOBS}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) if first_ever else None
        if first_ever:
            times["fit iris, first ever (compiles)"] = [seconds_of(["-c", OURS], cache)]
        else:
            seconds_of(["-c", OURS])
        times["fit iris, later process"] = []
        for _ in range(n_repeats):
            for job, words in JOBS.items():
                times[job].append(seconds_of(words))
            times["fit iris, later process"].append(seconds_of(["-c", OURS], cache))
    return {job: statistics.median(each) for job, each in times.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How long Treewright takes to begin.")
    parser.add_argument("--quick", action="store_true", help="once each, with the cache as it is")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    times = measure(1 if arguments.quick else arguments.repeats, first_ever=not arguments.quick)
    print(machine())
    for job, seconds in times.items():
        print(f"{job:34}{written(seconds, 's')}")
    if arguments.out is not None:
        content = {"machine": machine(), "seconds": times}
        arguments.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
