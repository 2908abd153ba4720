"""Boosting on a table that is larger than the memory it may use: ours, XGBoost's external memory, LightGBM's sequences.

    python benchmarks/versus/beyond_memory.py make  --folder big --rows 50000000 --columns 100
    python benchmarks/versus/beyond_memory.py run   --folder big --memory 2GB --rounds 10
    python benchmarks/versus/beyond_memory.py here  --folder big --files 5 --rounds 10      the first files, in memory
    python benchmarks/versus/beyond_memory.py trees --folder big --memory 2GB               forests, trees, predictions
    python benchmarks/versus/beyond_memory.py trees --folder big --files 5                  the first files, in memory

Each library runs as a process of its own, one after another; what is told of each is the time to make its dataset, the
time of a round for a million rows, the most memory that the process held (``ru_maxrss``, and without file-backed
pages ``RssAnon`` of the moment), and the log loss on the last file, which nobody is trained on.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

ROWS_PER_FILE = 1_000_000
LEAVES, RATE, LEAST_ROWS = 31, 0.1, 20


def make(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write a table of two classes as Parquet: float64 columns, a tenth of the cells of every tenth missing."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = np.random.default_rng(0).normal(size=n_columns) / np.sqrt(n_columns)
    for at in range(-(-n_rows // ROWS_PER_FILE)):
        path = folder / f"{at:04d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(at + 1)
        cells = rng.standard_normal((ROWS_PER_FILE, n_columns))
        pull = cells @ weights + np.sin(3 * cells[:, 0]) + cells[:, 1] * cells[:, 2]
        target = (pull + rng.standard_normal(ROWS_PER_FILE) > 0).astype(np.int8)
        cells[:, ::10][rng.random((ROWS_PER_FILE, -(-n_columns // 10))) < 0.1] = np.nan
        table = pl.DataFrame({**{f"x{j}": cells[:, j] for j in range(n_columns)}, "y": target})
        whole = path.with_suffix(".part")
        table.write_parquet(whole, compression="uncompressed")
        whole.rename(path)


def files_of(folder: Path) -> tuple[list[Path], Path]:
    """The files to learn from, and the one to judge by."""
    files = sorted(folder.glob("*.parquet"))
    return files[:-1], files[-1]


class Anonymous:
    """The most memory of the process that no file stands behind, looked at ten times a second."""

    def __init__(self) -> None:
        self.most, self._over = 0, threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
            found = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
            self.most = max(self.most, found * 1024)


def log_loss(shares: np.ndarray, path: Path) -> float:
    """Of the shares of the second class in the rows of a file."""
    target = pl.read_parquet(path, columns=["y"])["y"].to_numpy()
    right = np.where(target == 1, shares, 1 - shares)
    return float(-np.log(np.maximum(right, 1e-15)).mean())


def told(name: str, made: float, fitted: float, n_rows: int, rounds: int, loss: float, most: tuple[int, int]) -> None:
    """Print a line of JSON; ``most``: memory up to the end of the fit, and what of it no file stands behind."""
    print(
        json.dumps(
            {
                "library": name,
                "rows": n_rows,
                "dataset s": round(made, 1),
                "ms a round and million rows": round(1e9 * fitted / rounds / n_rows, 1),
                "most memory GB": round(most[0] / 1e9, 2),
                "of it anonymous GB": round(most[1] / 1e9, 2),
                "log loss": round(loss, 5),
            }
        ),
        flush=True,
    )


def ours(folder: Path, memory: str, rounds: int, n_files: int | None) -> None:
    """Rows in files, or in memory where ``n_files`` says how many files."""
    import treewright as tw

    files, judged = files_of(folder)
    anonymous = Anonymous()
    began = time.perf_counter()
    boosting = tw.GradientBoostingClassifier(
        rounds, learning_rate=RATE, max_leaf_nodes=LEAVES, min_samples_leaf=LEAST_ROWS
    )
    if n_files is None:
        dataset = tw.Dataset.from_parquet(files, target="y", task="classification", memory=memory)
        made = time.perf_counter() - began
        began = time.perf_counter()
        boosting.fit(dataset)
    else:
        files = files[:n_files]
        table = pl.read_parquet(files)
        made = time.perf_counter() - began
        began = time.perf_counter()
        boosting.fit(table.drop("y"), table["y"])
    fitted = time.perf_counter() - began
    most = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, anonymous.most)
    loss = log_loss(boosting.predict_proba(pl.read_parquet(judged).drop("y"))[:, 1], judged)
    name = "treewright" if n_files is None else "treewright, in memory"
    told(name, made, fitted, len(files) * ROWS_PER_FILE, rounds, loss, most)


def trees(folder: Path, memory: str, n_files: int | None) -> None:
    """Forests, a tree and predictions: of rows in files, or in memory where ``n_files`` says how many files."""
    import treewright as tw

    files, _ = files_of(folder)
    files = files[:n_files]
    learners: dict[str, tuple[Any, int]] = {
        "forest, a tenth of the rows a tree": (tw.RandomForestClassifier(4, max_samples=0.1), 4),
        "forest, depth 12": (tw.RandomForestClassifier(2, max_depth=12), 2),
        "extra trees, depth 12": (tw.ExtraTreesClassifier(2, max_depth=12), 2),
        "tree on bins, depth 10": (tw.DecisionTreeClassifier(splitter="hist", max_depth=10), 1),
    }
    rows: tuple[Any, ...]
    if n_files is None:
        rows = (tw.Dataset.from_parquet(files, target="y", task="classification", memory=memory),)
    else:
        table = pl.read_parquet(files)
        rows = (table.drop("y"), table["y"])
    n_rows = len(files) * ROWS_PER_FILE
    for name, (estimator, n_trees) in learners.items():
        anonymous = Anonymous()
        began = time.perf_counter()
        estimator.fit(*rows)
        taken = time.perf_counter() - began
        print(
            json.dumps(
                {
                    "learner": name,
                    "rows": n_rows,
                    "ms a tree and million rows": round(1e9 * taken / n_trees / n_rows, 1),
                    "anonymous GB": round(anonymous.most / 1e9, 2),
                }
            ),
            flush=True,
        )
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        tw.predict_files(learners["forest, depth 12"][0], files, out, proba=True)
        taken = time.perf_counter() - began
    print(json.dumps({"predicted": n_rows, "s a million rows": round(1e6 * taken / n_rows, 2)}), flush=True)


def xgboost(folder: Path, rounds: int, cache: Path) -> None:
    """External memory: a page for each file."""
    import xgboost as xgb

    files, judged = files_of(folder)
    anonymous = Anonymous()

    class Files(xgb.DataIter):
        def __init__(self) -> None:
            self.at = 0
            super().__init__(cache_prefix=str(cache / "xgboost"))

        def next(self, input_data: Any) -> bool:
            if self.at == len(files):
                return False
            table = pl.read_parquet(files[self.at])
            input_data(data=table.drop("y").to_numpy(), label=table["y"].to_numpy())
            self.at += 1
            return True

        def reset(self) -> None:
            self.at = 0

    began = time.perf_counter()
    matrix = xgb.ExtMemQuantileDMatrix(Files(), max_bin=256)
    made = time.perf_counter() - began
    began = time.perf_counter()
    settings = {
        "objective": "binary:logistic", "eta": RATE, "max_leaves": LEAVES, "grow_policy": "lossguide", "max_depth": 0,
        "tree_method": "hist", "nthread": 2,
    }  # fmt: skip
    booster = xgb.train(settings, matrix, rounds)
    fitted = time.perf_counter() - began
    most = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, anonymous.most)
    table = pl.read_parquet(judged).drop("y").to_numpy()
    loss = log_loss(booster.predict(xgb.DMatrix(table)), judged)
    told("xgboost", made, fitted, len(files) * ROWS_PER_FILE, rounds, loss, most)


def lightgbm(folder: Path, rounds: int) -> None:
    """Sequences: a file each, rows binned as they are read."""
    import lightgbm as lgb

    files, judged = files_of(folder)
    anonymous = Anonymous()

    class File(lgb.Sequence):
        batch_size = 65_536

        def __init__(self, path: Path) -> None:
            self.path = path
            self.held: Any = None

        def __getitem__(self, index: Any) -> Any:
            if self.held is None:  # it asks for single rows and for slices in turn
                File.let_go()
                self.held = pl.read_parquet(self.path).drop("y").to_numpy()
            return self.held[index]

        def __len__(self) -> int:
            return ROWS_PER_FILE

        every: ClassVar[list[File]] = []

        @classmethod
        def let_go(cls) -> None:
            for each in cls.every:
                each.held = None

    began = time.perf_counter()
    File.every = [File(path) for path in files]
    target = np.concatenate([pl.read_parquet(path, columns=["y"])["y"].to_numpy() for path in files])
    dataset = lgb.Dataset(File.every, target, params={"max_bin": 255, "verbose": -1, "num_threads": 2})
    dataset.construct()
    File.let_go()
    made = time.perf_counter() - began
    began = time.perf_counter()
    settings = {
        "objective": "binary", "learning_rate": RATE, "num_leaves": LEAVES, "min_data_in_leaf": LEAST_ROWS,
        "num_threads": 2, "verbose": -1,
    }  # fmt: skip
    booster = lgb.train(settings, dataset, rounds)
    fitted = time.perf_counter() - began
    most = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, anonymous.most)
    loss = log_loss(np.asarray(booster.predict(pl.read_parquet(judged).drop("y").to_numpy())), judged)
    told("lightgbm", made, fitted, len(files) * ROWS_PER_FILE, rounds, loss, most)


def main() -> None:
    """Make the table, or run the libraries on it."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("what", choices=["make", "run", "here", "trees", "treewright", "xgboost", "lightgbm"])
    asked.add_argument("--folder", type=Path, required=True)
    asked.add_argument("--rows", type=int, default=50_000_000)
    asked.add_argument("--columns", type=int, default=100)
    asked.add_argument("--memory", default="2GB")
    asked.add_argument("--rounds", type=int, default=10)
    asked.add_argument("--files", type=int)
    given = asked.parse_args()
    if given.what == "make":
        make(given.folder, given.rows, given.columns)
    elif given.what == "run":
        for library in ("treewright", "xgboost", "lightgbm"):
            subprocess.run([sys.executable, __file__, library, *sys.argv[2:]], check=False)
    elif given.what == "trees":
        trees(given.folder, given.memory, given.files)
    elif given.what in ("treewright", "here"):
        ours(given.folder, given.memory, given.rounds, given.files if given.what == "here" else None)
    elif given.what == "xgboost":
        xgboost(given.folder, given.rounds, given.folder.parent)
    else:
        lightgbm(given.folder, given.rounds)


if __name__ == "__main__":
    main()
