"""Forests: Treewright against scikit-learn, YDF, LightGBM and XGBoost. In: tables. Out: a table, JSON.

Callers: people, tests. Speed and quality stand side by side: every fit is also scored on rows that it did not see. All
get the same float32 array and the same number of threads. Kernels are compiled before the clock runs.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from forest_rivals import OURS, SCIKIT_LEARN, Plan, Rival, installed
from memory import begin_peak, memory_pair, peak_bytes
from pairs import Pair, library_version, machine, table_of, time_pairs, write_json
from real_data import read
from sklearn.metrics import accuracy_score, roc_auc_score

KINDS = ("random forest", "extra-trees")
WARM_ROWS = 2_000
MIB = 2**20


@dataclass(frozen=True)
class Sizes:
    """How large tables and forests are, and how often a job is repeated (None: as often as the budget allows)."""

    rows: int = 200_000
    columns: int = 28
    new_rows: int = 50_000
    trees: int = 50
    one_row_trees: int = 100
    small: tuple[int, int, int] = (1_000, 10, 100)  # rows, columns, trees
    share: float = 1.0  # of the rows of real tables
    n_pairs: int | None = None

    def scaled(self, share: float) -> Sizes:
        """As many trees, fewer rows."""
        rows, new_rows = (max(100, round(share * n)) for n in (self.rows, self.new_rows))
        return replace(self, rows=rows, new_rows=new_rows, share=share)


QUICK = Sizes(2_000, 28, 500, 3, 4, (200, 10, 5), 0.005, 1)


@dataclass(frozen=True)
class Task:
    """A table for forests, with rows kept aside.

    Attributes
    ----------
    name : str
    X, X_new : float32[n, p]
    y, y_new : int64[n]
        0 to k - 1.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray

    def quality(self, shares: np.ndarray) -> tuple[str, float]:
        """The area under the curve for two classes, else the share that is right."""
        if shares.shape[1] == 2:
            return "AUC", float(roc_auc_score(self.y_new, shares[:, 1]))
        return "accuracy", float(accuracy_score(self.y_new, shares.argmax(axis=1)))


@dataclass(frozen=True)
class Run:
    """What was asked for."""

    sizes: Sizes
    n_threads: int
    rivals: tuple[Rival, ...]
    data: Path | None
    leaves: tuple[int, ...]


def make_rows(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, half of them without meaning, and a class from products, waves and a slope.

    Returns
    -------
    X : float32[n, p]
    y : int64[n], 0 or 1
        Drawn with the chance that the logistic function makes of a sum of terms of the first columns.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=np.float32)
    a = X[:, : max(8, p // 2)].T.astype(np.float64)
    score = 1.6 * a[0] * a[1] + 1.4 * np.sin(2.0 * a[2]) + a[3] + 0.8 * (a[4] ** 2 - 1.0) + 0.7 * np.abs(a[5]) * a[6]
    score += sum(0.35 * column for column in a[7:])
    chance = 1.0 / (1.0 + np.exp(-1.5 * score))
    return X, (rng.random(n) < chance).astype(np.int64)


def made_task(n: int, p: int, n_new: int) -> Task:
    """A made-up table."""
    return Task(f"made {n:,} x {p}", *make_rows(n, p, 7), *make_rows(n_new, p, 8))


def covertype(folder: Path | None, share: float) -> Task | None:
    """Covertype with a fifth of its rows kept aside; None where it is not there."""
    if folder is None or not (folder / "covertype.json").exists():
        print("covertype is not there, skipped (--data DIR names its folder)")
        return None
    frame, target = read(json.loads((folder / "covertype.json").read_text(encoding="utf-8")), folder)
    X = frame.to_numpy().astype(np.float32)
    y = np.unique(target.to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(X))[: round(share * len(X))]
    new, old = np.split(order, [len(order) // 5])
    return Task(f"covertype {len(old):,} x {X.shape[1]}", X[old], y[old], X[new], y[new])


def warm(run: Run) -> None:
    """Compile what the jobs call: fits of both kinds on two and on more classes, batches and single rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((WARM_ROWS, run.sizes.columns), dtype=np.float32)
    for kind in KINDS:
        for n_classes in (2, 7):
            y = rng.integers(0, n_classes, WARM_ROWS)
            fitted = OURS.fit(Plan(kind, max(2, run.n_threads), run.n_threads), X, y)
            fitted.predict_proba(X)
            fitted.predict_proba(X[:1])
            fitted.model_.predict_one(X[0].tolist())


def fits(run: Run) -> Iterator[Pair]:
    """Fits of both kinds, with the quality of ours and theirs; leaves of several sizes for YDF."""
    sizes = run.sizes
    made = made_task(sizes.rows, sizes.columns, sizes.new_rows)
    for task in (made, covertype(run.data, sizes.share)):
        if task is None:
            continue
        for leaf in run.leaves:
            for kind in KINDS:
                plan = Plan(kind, sizes.trees, run.n_threads, leaf)
                for rival in run.rivals:
                    if kind in rival.kinds and (leaf == 1 or rival.package in ("sklearn", "ydf")):
                        yield fit_pair(task, plan, rival, sizes.n_pairs)


def fit_pair(task: Task, plan: Plan, rival: Rival, n_pairs: int | None) -> Pair:
    """Time a fit of ours and one of theirs in turn; the note has the quality of both."""
    last: dict[str, Any] = {}

    def fit(which: Rival) -> None:
        last.pop(which.name, None)  # never two of them in memory
        last[which.name] = which.fit(plan, task.X, task.y)

    leaf = "" if plan.leaf == 1 else f", leaves of {plan.leaf}"
    job = f"fit {plan.kind} {task.name}, {plan.n_trees} trees{leaf}: {rival.name}"
    pair = time_pairs(job, lambda: fit(OURS), lambda: fit(rival), n_pairs=n_pairs)
    scores = [task.quality(which.shares(last[which.name])(task.X_new)) for which in (OURS, rival)]
    note = f"{scores[0][0]} ours {scores[0][1]:.4f}, theirs {scores[1][1]:.4f}"
    return replace(pair, note="; ".join(filter(None, (note, rival.note))))


def predictions(run: Run) -> Iterator[Pair]:
    """Many rows through full trees, and one row through more of them."""
    sizes = run.sizes
    task = made_task(sizes.rows, sizes.columns, sizes.new_rows)
    plan = Plan("random forest", sizes.trees, run.n_threads)
    ours = OURS.fit(plan, task.X, task.y).predict_proba
    for rival in run.rivals:
        theirs = rival.shares(rival.fit(plan, task.X, task.y))
        job = f"predict {len(task.X_new):,} rows, {plan.n_trees} trees: {rival.name}"
        yield time_pairs(job, lambda: ours(task.X_new), lambda: theirs(task.X_new), n_pairs=sizes.n_pairs)  # noqa: B023
    plan = Plan("random forest", sizes.one_row_trees, 1)  # a second thread only delays one row
    fitted, theirs = (which.fit(plan, task.X, task.y) for which in (OURS, SCIKIT_LEARN))
    one = task.X_new[:1]
    cells, model = one[0].tolist(), fitted.model_
    name = f"predict 1 row, {plan.n_trees} trees"
    estimator, other = fitted.predict_proba, theirs.predict_proba
    yield time_pairs(f"{name}, estimator", lambda: estimator(one), lambda: other(one), n_pairs=sizes.n_pairs)
    yield time_pairs(
        f"{name}, predict_one",
        lambda: model.predict_one(cells),
        lambda: other(one),
        n_pairs=sizes.n_pairs,
        note="a list against an array of one row",
    )


def memory(run: Run) -> Iterator[Pair]:
    """Peak memory of a fit beyond the table, and what the fitted forest takes."""
    sizes = run.sizes
    for kind in KINDS:
        yield memory_pair((sizes.rows, sizes.columns), kind, lambda *words: run_child(run, *words))
    task = made_task(sizes.rows, sizes.columns, 1)
    for kind in KINDS:
        plan = Plan(kind, sizes.trees, run.n_threads)
        ours, theirs = (which.fit(plan, task.X, task.y) for which in (OURS, SCIKIT_LEARN))
        job = f"fitted {kind} {task.name}, {plan.n_trees} trees"
        sizes_of_arrays = ours.model_.trees.nbytes, sum(array_bytes(tree.tree_) for tree in theirs.estimators_)
        yield size_pair(f"{job}, arrays", *sizes_of_arrays)
        yield size_pair(f"{job}, pickled", *(len(pickle.dumps(each)) for each in (ours, theirs)))
        yield size_pair(f"{job}, model pickled", len(pickle.dumps(ours.model_)), len(pickle.dumps(theirs)))


def array_bytes(tree: Any) -> int:
    """What scikit-learn's tree holds: 64 bytes for each node, and the values."""
    return int(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes)


def size_pair(job: str, ours: int, theirs: int) -> Pair:
    """Two sizes in bytes."""
    return Pair(job=job, ours=ours / MIB, theirs=theirs / MIB, ratio=theirs / ours, pairs=1, unit="MiB")


def run_child(run: Run, *words: str) -> str:
    """This script in a process of its own; what it printed."""
    plan = ("--threads", str(run.n_threads), "--trees", str(run.sizes.trees))
    command = [sys.executable, __file__, *plan, *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ).stdout


def rise_of_fit(whose: str, plan: Plan, n: int, p: int) -> int:
    """Bytes a fit needs, in a process that made a table and did small fits first (they load what a fit needs)."""
    X, y = make_rows(n, p, 7)
    few = max(500, len(X) // 100)
    for rival in (OURS, SCIKIT_LEARN):
        rival.fit(plan, X[:few], y[:few])
    before = begin_peak()
    kept = {"ours": OURS, "theirs": SCIKIT_LEARN}[whose].fit(plan, X, y)
    rise = peak_bytes() - before
    del kept
    return rise


def small(run: Run) -> Iterator[Pair]:
    """A small table: what is there before any work is done."""
    n, p, n_trees = run.sizes.small
    task = made_task(n, p, n)
    for kind in KINDS:
        for n_threads in dict.fromkeys((1, run.n_threads)):
            plan = Plan(kind, n_trees, n_threads)
            for rival in run.rivals:
                if kind in rival.kinds:
                    pair = fit_pair(task, plan, rival, run.sizes.n_pairs)
                    yield replace(pair, job=f"{pair.job}, n_jobs={n_threads}")


JOBS: dict[str, Callable[[Run], Iterator[Pair]]] = {
    "memory": memory,
    "fits": fits,
    "predictions": predictions,
    "small": small,
}


def arguments_of() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description="Forests: Treewright against scikit-learn, YDF, LightGBM, XGBoost.")
    parser.add_argument("--quick", action="store_true", help="small tables, few trees, one pair: does everything run?")
    parser.add_argument("--scale", type=float, default=1.0, metavar="SHARE", help="share of the rows, above 0 to 1")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder that holds covertype.json and its file")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which; all of them by default")
    parser.add_argument(
        "--rivals", nargs="+", metavar="PACKAGE", help="sklearn, ydf, lightgbm, xgboost; all by default"
    )
    parser.add_argument("--repeats", type=int, metavar="N", help="pairs of each job; by default what the budget allows")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads of every library")
    parser.add_argument("--trees", type=int, metavar="N", help="trees of the large forests")
    parser.add_argument("--leaves", type=int, nargs="+", default=[1, 5], metavar="N", help="smallest leaves of fits")
    parser.add_argument("--out", type=Path, help="write JSON there")
    parser.add_argument("--measured-fit", nargs=4, metavar="WORD", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Run the jobs asked for."""
    arguments = arguments_of()
    sizes = QUICK if arguments.quick else Sizes().scaled(arguments.scale)
    sizes = replace(sizes, trees=arguments.trees or sizes.trees, n_pairs=arguments.repeats or sizes.n_pairs)
    if arguments.measured_fit:
        whose, kind, n, p = arguments.measured_fit
        print(rise_of_fit(whose, Plan(kind, sizes.trees, arguments.threads), int(n), int(p)))
        return
    rivals = tuple(installed(arguments.rivals))
    run = Run(sizes, arguments.threads, rivals, arguments.data, tuple(arguments.leaves))
    warm(run)
    results = []
    for name in arguments.jobs:
        for pair in JOBS[name](run):
            print(table_of([pair], "the other").splitlines()[-1], flush=True)
            results.append(pair)
    versions = {rival.package: library_version(rival.package) for rival in rivals if rival.package != "sklearn"}
    print(f"\n{machine()}\n{versions}, all with {arguments.threads} threads; ratio is theirs / ours\n")
    print(table_of(results, "the other"))
    write_json(arguments.out, results, threads=arguments.threads, rivals=versions)


if __name__ == "__main__":
    main()
