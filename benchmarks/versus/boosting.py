"""Boosting: Treewright against LightGBM, XGBoost, CatBoost and scikit-learn. In: tables. Out: a table, JSON.

Callers: people, tests. Speed and quality stand side by side: every fit is also scored on rows that it did not see. All
get the same float32 array (of a mixed table: categories of pandas; CatBoost strings) and the same number of threads;
each rival stands against ours grown in its own order. Kernels are compiled before the clock runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from boosting_rivals import GROWTHS, OURS, RIVALS, Plan, Rival, as_pandas, installed
from forests import Task, covertype, made_task, make_rows
from memory import begin_peak, memory_pair, peak_bytes
from pairs import Pair, library_version, machine, table_of, time_pairs, write_json
from real_data import read
from sklearn.metrics import roc_auc_score

WARM_ROWS = 2_000
SMALLEST_SHARE = 1e-15


@dataclass(frozen=True)
class Sizes:
    """How large tables and models are, and how often a job is repeated (None: as often as the budget allows)."""

    rows: int = 1_000_000
    columns: int = 28
    new_rows: int = 200_000
    trees: int = 100
    small: tuple[int, int] = (1_000, 10)
    share: float = 1.0  # of the rows of real tables
    n_pairs: int | None = None

    def scaled(self, share: float) -> Sizes:
        """As many trees, fewer rows."""
        rows, new_rows = (max(100, round(share * n)) for n in (self.rows, self.new_rows))
        return replace(self, rows=rows, new_rows=new_rows, share=share)


QUICK = Sizes(2_000, 12, 500, 3, (200, 10), 0.005, 1)


@dataclass(frozen=True)
class Forms:
    """One table in the forms that libraries take, with rows kept aside.

    Attributes
    ----------
    name : str
    old, new : dict from form to a table
        Rows to fit and rows to judge.
    y, y_new : int64[n]
        0 to k - 1.
    """

    name: str
    old: dict[str, Any]
    new: dict[str, Any]
    y: np.ndarray
    y_new: np.ndarray

    @classmethod
    def of_task(cls, task: Task) -> Forms:
        """A table of numbers: every library takes the array."""
        forms = ("categories", "strings")
        return cls(task.name, dict.fromkeys(forms, task.X), dict.fromkeys(forms, task.X_new), task.y, task.y_new)

    def quality(self, shares: np.ndarray) -> str:
        """Log loss, and for two classes the area under the curve."""
        own = shares[np.arange(len(shares)), self.y_new] / shares.sum(
            axis=1, dtype=np.float64
        )  # float32 sums are not 1
        loss = f"log loss {-np.log(np.maximum(own, SMALLEST_SHARE)).mean():.4f}"
        return loss if shares.shape[1] > 2 else f"{loss}, AUC {roc_auc_score(self.y_new, shares[:, 1]):.4f}"


@dataclass(frozen=True)
class Run:
    """What was asked for."""

    sizes: Sizes
    n_threads: int
    rivals: tuple[Rival, ...]
    data: Path | None

    @property
    def plan(self) -> Plan:
        """Of the large fits."""
        return Plan(self.sizes.trees, self.n_threads)


def adult(folder: Path | None, share: float) -> Forms | None:
    """Census data of mixed columns with missing cells, a fifth of the rows kept aside; None where it is not there."""
    if folder is None or not (folder / "adult.json").exists():
        print("adult is not there, skipped (--data DIR names its folder)")
        return None
    facts = json.loads((folder / "adult.json").read_text(encoding="utf-8"))
    frame, target = read(facts, folder)
    y = np.unique(target.to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))[: round(share * len(y))]
    new, old = np.split(order, [len(order) // 5])
    tables = {form: as_pandas(frame, facts["nominal"], form=form) for form in ("categories", "strings")}
    parts = [{form: table.iloc[rows] for form, table in tables.items()} for rows in (old, new)]
    return Forms(f"adult {len(old):,} x {frame.width}", *parts, y[old], y[new])


def warm(run: Run) -> None:
    """Compile what the jobs call: fits in every order on two and on more classes, batches and single rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((WARM_ROWS, run.sizes.columns), dtype=np.float32)
    for growth in GROWTHS:
        for n_classes in (2, 7):
            fitted = OURS[growth].fit(Plan(2, max(2, run.n_threads)), X, rng.integers(0, n_classes, WARM_ROWS))
            fitted.predict_proba(X)
            fitted.predict_proba(X[:1])
            fitted.model_.predict_one(X[0].tolist())
    mixed = adult(run.data, min(1.0, 20 * WARM_ROWS / 50_000))
    if mixed is not None:
        for growth in GROWTHS:
            OURS[growth].fit(Plan(2, run.n_threads), mixed.old["categories"], mixed.y)


def fit_pair(forms: Forms, plan: Plan, rival: Rival, n_pairs: int | None) -> Pair:
    """Time a fit of ours and one of theirs in turn; the note has the quality of both."""
    last: dict[str, Any] = {}
    ours = OURS[rival.growth]

    def fit(which: Rival) -> None:
        last.pop(which.name, None)  # never two of them in memory
        last[which.name] = which.fit(plan, forms.old[which.form], forms.y)

    job = f"fit {forms.name}, {plan.n_trees} trees {rival.growth}: {rival.name}"
    pair = time_pairs(job, lambda: fit(ours), lambda: fit(rival), n_pairs=n_pairs)
    said = [
        forms.quality(which.shares(last[which.name], plan.n_threads)(forms.new[which.form])) for which in (ours, rival)
    ]
    return replace(pair, note="; ".join(filter(None, (f"ours {said[0]}; theirs {said[1]}", rival.note))))


def fits(run: Run) -> Iterator[Pair]:
    """A large table of numbers, one of seven classes, a mixed one with missing cells."""
    sizes = run.sizes

    def made() -> Forms | None:
        return Forms.of_task(made_task(sizes.rows, sizes.columns, sizes.new_rows))

    def seven() -> Forms | None:
        task = covertype(run.data, sizes.share)
        return None if task is None else Forms.of_task(task)

    for make in (made, seven, lambda: adult(run.data, sizes.share)):
        forms = make()  # one after another: only one of them in memory
        if forms is not None:
            for rival in run.rivals:
                yield fit_pair(forms, run.plan, rival, sizes.n_pairs)


def small(run: Run) -> Iterator[Pair]:
    """A small table: what is there before any work is done."""
    n, p = run.sizes.small
    forms = Forms.of_task(made_task(n, p, n))
    for n_threads in dict.fromkeys((1, run.n_threads)):
        for rival in run.rivals:
            pair = fit_pair(forms, Plan(run.sizes.trees, n_threads), rival, run.sizes.n_pairs)
            yield replace(pair, job=f"{pair.job}, n_jobs={n_threads}")


def scaling(run: Run) -> Iterator[Pair]:
    """Fewer rows, more columns, one thread."""
    sizes = run.sizes
    shapes = (
        (sizes.rows // 100, sizes.columns),
        (sizes.rows // 10, sizes.columns),
        (sizes.rows // 10, 8 * sizes.columns),
    )
    for n, p in shapes:
        forms = Forms.of_task(made_task(max(n, 100), p, min(max(n, 100), sizes.new_rows)))
        for rival in run.rivals:
            yield fit_pair(forms, run.plan, rival, sizes.n_pairs)
    forms = Forms.of_task(made_task(max(sizes.rows // 10, 100), sizes.columns, sizes.new_rows))
    for rival in run.rivals:
        pair = fit_pair(forms, replace(run.plan, n_threads=1), rival, sizes.n_pairs)
        yield replace(pair, job=f"{pair.job}, n_jobs=1")


def predictions(run: Run) -> Iterator[Pair]:
    """Many rows through a model, and one row."""
    sizes = run.sizes
    n = max(100, sizes.rows // 5)
    task = made_task(n, sizes.columns, sizes.new_rows)
    fitted = {growth: which.fit(run.plan, task.X, task.y) for growth, which in OURS.items()}
    one = task.X_new[:1]
    cells = one[0].tolist()
    for rival in run.rivals:
        own = fitted[rival.growth]
        theirs_fitted = rival.fit(run.plan, task.X, task.y)
        ours, theirs = OURS[rival.growth].shares(own, run.n_threads), rival.shares(theirs_fitted, run.n_threads)
        job = f"predict {len(task.X_new):,} rows, {run.plan.n_trees} trees {rival.growth}: {rival.name}"
        yield _timed(job, lambda: ours(task.X_new), lambda: theirs(task.X_new), sizes.n_pairs)  # noqa: B023
        ours, theirs = OURS[rival.growth].shares(own, 1), rival.shares(theirs_fitted, 1)  # more threads only delay it
        job = f"predict 1 row, {run.plan.n_trees} trees {rival.growth}: {rival.name}"
        yield _timed(job, lambda: ours(one), lambda: theirs(one), sizes.n_pairs)  # noqa: B023
        predict_one = own.model_.predict_one
        pair = _timed(f"{job}, predict_one", lambda: predict_one(cells), lambda: theirs(one), sizes.n_pairs)  # noqa: B023
        yield replace(pair, note="a list against an array of one row")


def _timed(job: str, ours: Callable[[], Any], theirs: Callable[[], Any], n_pairs: int | None) -> Pair:
    return time_pairs(job, ours, theirs, n_pairs=n_pairs)


def memory(run: Run) -> Iterator[Pair]:
    """Peak memory of a fit beyond the table."""
    for rival in run.rivals:
        yield memory_pair((run.sizes.rows, run.sizes.columns), rival.name, lambda *words: run_child(run, *words))


def run_child(run: Run, *words: str) -> str:
    """This script in a process of its own; what it printed."""
    plan = ("--threads", str(run.n_threads), "--trees", str(run.sizes.trees))
    command = [sys.executable, __file__, *plan, *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ).stdout


def rise_of_fit(whose: str, name: str, plan: Plan, n: int, p: int) -> int:
    """Bytes a fit needs, in a process that made a table and did a small fit first (it loads what a fit needs)."""
    rival = next(each for each in RIVALS if each.name == name)
    which = OURS[rival.growth] if whose == "ours" else rival
    X, y = make_rows(n, p, 7)
    few = max(500, len(X) // 100)
    which.fit(plan, X[:few], y[:few])
    before = begin_peak()
    kept = which.fit(plan, X, y)
    rise = peak_bytes() - before
    del kept
    return rise


JOBS: dict[str, Callable[[Run], Iterator[Pair]]] = {
    "memory": memory,
    "fits": fits,
    "small": small,
    "predictions": predictions,
    "scaling": scaling,
}


def arguments_of() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description="Boosting: Treewright, LightGBM, XGBoost, CatBoost, scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="small tables, few trees, one pair: does everything run?")
    parser.add_argument("--scale", type=float, default=1.0, metavar="SHARE", help="share of the rows, above 0 to 1")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of covertype.json, adult.json and their files")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which; all of them by default")
    parser.add_argument(
        "--rivals", nargs="+", metavar="PACKAGE", help="lightgbm, xgboost, catboost, sklearn; all by default"
    )
    parser.add_argument("--repeats", type=int, metavar="N", help="pairs of each job; by default what the budget allows")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads of every library")
    parser.add_argument("--trees", type=int, metavar="N", help="trees of the models")
    parser.add_argument("--out", type=Path, help="write JSON there")
    parser.add_argument("--measured-fit", nargs=4, metavar="WORD", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Run the jobs asked for."""
    arguments = arguments_of()
    sizes = QUICK if arguments.quick else Sizes().scaled(arguments.scale)
    sizes = replace(sizes, trees=arguments.trees or sizes.trees, n_pairs=arguments.repeats or sizes.n_pairs)
    if arguments.measured_fit:
        whose, name, n, p = arguments.measured_fit
        print(rise_of_fit(whose, name, Plan(sizes.trees, arguments.threads), int(n), int(p)))
        return
    rivals = tuple(installed(arguments.rivals))
    run = Run(sizes, arguments.threads, rivals, arguments.data)
    warm(run)
    results = []
    for name in arguments.jobs:
        for pair in JOBS[name](run):
            print(table_of([pair], "the other").splitlines()[-1], flush=True)
            results.append(pair)
    packages = dict.fromkeys(rival.package for rival in rivals if rival.package != "sklearn")
    versions = {package: library_version(package) for package in packages}
    print(f"\n{machine()}\n{versions}, all with {arguments.threads} threads; ratio is theirs / ours\n")
    print(table_of(results, "the other"))
    write_json(arguments.out, results, threads=arguments.threads, rivals=versions)


if __name__ == "__main__":
    main()
