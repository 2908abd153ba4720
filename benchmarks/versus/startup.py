"""How long it takes to begin. In: nothing. Out: a table and JSON. Caller: a person, or the tests (``--quick``).

Whole processes, from start to end, in turn: with an empty cache of kernels, and with what the same work has left there
once its helper was done (``treewright warmup`` where that is asked for). ``--warmup`` times a full warm-up as well.
Run by the interpreter of an environment with a wheel that brings kernels, "empty cache" is what such a wheel
takes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pairs import machine, written

PENGUINS = Path(__file__).resolve().parents[2] / "examples" / "penguins.csv"
IRIS = """
from sklearn.datasets import load_iris
{library}
X, y = load_iris(return_X_y=True)
{estimator}.fit(X, y)
"""
FITS = {
    "tree": ("DecisionTreeClassifier()", "tree.DecisionTreeClassifier()"),
    "forest of 100": ("RandomForestClassifier(100)", "ensemble.RandomForestClassifier(100)"),
    "boosting of 100": ("GradientBoostingClassifier(n_estimators=100)", "ensemble.HistGradientBoostingClassifier()"),
}
FIT = ["-m", "treewright", "fit", "t.csv", "--target", "species", "--set", "max_depth=3"]
OURS = {
    "README's first command": [*FIT, "--out", "first.tw", "--svg", "first.svg", "--force"],
    "predict 10 rows": ["-m", "treewright", "predict", "kept.tw", "ten.csv"],
    **{
        f"iris, {name}": ["-c", IRIS.format(library="import treewright as tw", estimator=f"tw.{ours}")]
        for name, (ours, _) in FITS.items()
    },
}
LARGE = {
    "forest of 20, 100,000 x 20": ["-c", """
import numpy as np
import treewright as tw
random = np.random.default_rng(0)
X = random.normal(size=(100_000, 20))
tw.RandomForestClassifier(20, random_state=0).fit(X, X[:, 0] + random.normal(size=100_000) > 0)
"""]
}  # fmt: skip
OTHERS = {
    "python alone": ["-c", "pass"],
    "import numpy, numba, polars": ["-c", "import numpy, numba, polars"],
    "import scikit-learn's tree": ["-c", "import sklearn.tree"],
    "treewright --help": ["-m", "treewright", "--help"],
    **{
        f"iris, {name}, scikit-learn": [
            "-c",
            IRIS.format(library="import sklearn.tree, sklearn.ensemble", estimator=f"sklearn.{theirs}"),
        ]
        for name, (_, theirs) in FITS.items()
    },
}


class Bench:
    """A folder with a table and a model, and caches of kernels beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(PENGUINS, folder / "t.csv")
        (folder / "ten.csv").write_text("".join(PENGUINS.read_text().splitlines(keepends=True)[:11]))
        self.seconds([*FIT, "--out", "kept.tw"], "kept", TREEWRIGHT_COMPILE="first")

    def seconds(self, words: list[str], cache: str, **changes: str) -> float:
        """Wall time of one process; the helper that may compile beside it ends with it."""
        place = self.folder / cache
        told = {name: value for name, value in os.environ.items() if name not in {"CI", "TREEWRIGHT_COMPILE"}}
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=self.folder, env={**told, "TREEWRIGHT_CACHE_DIR": str(place), **changes},
        )  # fmt: skip
        took = time.perf_counter() - start
        subprocess.run(["pkill", "-f", str(place)], check=False)
        return took

    def first(self, words: list[str]) -> float:
        """With nothing compiled."""
        shutil.rmtree(self.folder / "empty", ignore_errors=True)
        return self.seconds(words, "empty")


def measure(n_repeats: int, *, warms_up: bool, large: bool) -> dict[str, float]:
    """Median seconds per job; the jobs take turns."""
    times: dict[str, list[float]] = {}
    ours = OURS | (LARGE if large else {})
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        if warms_up:
            times["treewright warmup, empty cache"] = [bench.seconds(["-m", "treewright", "warmup"], "kept")]
        for job, words in ours.items():  # what each leaves when all it needs was compiled
            bench.seconds(words, "kept", TREEWRIGHT_COMPILE="first")
            times[f"{job}, empty cache"], times[f"{job}, cached"] = [], []
        for _ in range(n_repeats):
            for job, words in ours.items():
                times[f"{job}, empty cache"].append(bench.first(words))
                times[f"{job}, cached"].append(bench.seconds(words, "kept"))
            for job, words in OTHERS.items():
                times.setdefault(job, []).append(bench.seconds(words, "kept"))
    return {job: statistics.median(each) for job, each in times.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How long Treewright takes to begin.")
    parser.add_argument("--quick", action="store_true", help="once each")
    parser.add_argument("--warmup", action="store_true", help="time a full warm-up too")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    times = measure(1 if arguments.quick else arguments.repeats, warms_up=arguments.warmup, large=not arguments.quick)
    print(machine())
    for job, seconds in times.items():
        print(f"{job:40}{written(seconds, 's')}")
    if arguments.out is not None:
        content = {"command": "startup.py", "machine": machine(), "seconds": times}
        arguments.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
