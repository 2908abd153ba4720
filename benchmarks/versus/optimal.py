"""Optimal trees: time to the proof, ours against ConTree on raw columns and against STreeD on binary ones, one thread.

In: a folder of numeric sets (NAME.csv.gz, the class last) and one of binary sets (NAME.csv.gz, the label first).
Out: tables, JSON.

Programs run in turn. Every solve has a time limit: a program that meets it has proved nothing, and the ratio then is a
bound (at least, at most), which the note tells; such a pair is not in the geometric mean. Errors are those of the
training rows, for both. Two things are measured further: how the time grows, for shares of the rows of the numeric sets
(every set's depths are rows of the first table), and the errors of a search that is stopped early. pycontree and
pystreed are no dependency: the one that is not installed is left out.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pairs import LIBRARIES, Pair, table_of, time_pairs, write_json

import treewright as tw

LIBRARIES |= {"pycontree": "pycontree", "pystreed": "pystreed"}
SHARES = (0.25, 0.5, 1.0)
SEARCHES = (1, 10, 100, 1000, 10_000)
NEARLY = 0.98  # of the time limit: a solve that takes so long was stopped by it


@dataclass(frozen=True)
class Problem:
    """A table of numbers with its class codes."""

    name: str
    X: np.ndarray
    y: np.ndarray


@dataclass
class Program:
    """A solver: its estimator of a depth and a time limit. ``errors`` and ``seconds`` are those of the last call."""

    name: str
    build: Callable[[int, float], Any]
    dtype: type = np.float64
    errors: int = -1
    seconds: list[float] = field(default_factory=list)
    is_proven: bool = False

    def solve(self, problem: Problem, depth: int, limit: float) -> None:
        """Search, and keep what was found; errors are counted outside the time by ``judge``."""
        est = self.build(depth, limit)
        X = problem.X.astype(self.dtype, copy=False)
        start = time.perf_counter()
        self.fitted = est.fit(X, problem.y)
        spent = time.perf_counter() - start
        self.seconds.append(spent)
        self.is_proven = bool(getattr(est, "proven_", spent < NEARLY * limit))

    def judge(self, problem: Problem) -> int:
        """Errors of the last tree."""
        found = np.asarray(self.fitted.predict(problem.X.astype(self.dtype, copy=False)))
        return int((found != problem.y).sum())


def ours() -> Program:
    """Our search."""
    return Program(
        "Treewright",
        lambda depth, limit: tw.OptimalTreeClassifier(max_depth=depth, max_search=None, time_limit=limit, n_jobs=1),
    )


def others() -> dict[str, Program]:
    """The other programs, if they are installed."""
    found = {}
    if find_spec("pycontree"):
        solver = import_module("pycontree").ConTree
        found["ConTree"] = Program("ConTree", lambda depth, limit: solver(max_depth=depth, time_limit=limit))
    if find_spec("pystreed"):
        streed = import_module("pystreed").STreeDClassifier
        found["STreeD"] = Program("STreeD", lambda depth, limit: streed(max_depth=depth, time_limit=limit), np.int32)
    return found


def read(path: Path, *, is_class_first: bool) -> Problem:
    """A table of a file."""
    frame = pl.read_csv(path)
    label = frame.columns[0 if is_class_first else -1]
    y = np.unique(frame[label].to_numpy(), return_inverse=True)[1]
    return Problem(path.name.removesuffix(".csv.gz"), frame.drop(label).to_numpy().astype(np.float64), y)


def chosen(folder: Path | None, names: list[str] | None, *, is_class_first: bool) -> list[Problem]:
    """The sets of a folder, or some of them, the smallest first."""
    files = sorted(folder.glob("*.csv.gz")) if folder else []
    problems = [read(path, is_class_first=is_class_first) for path in files]
    some = [problem for problem in problems if names is None or problem.name in names]
    return sorted(some, key=lambda problem: problem.X.size)


def generated(*, is_binary: bool) -> Problem:
    """Some rows, a tenth of the labels replaced."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 8)).astype(float) if is_binary else rng.normal(size=(120, 3)).round(2)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(120) < 0.1)
    return Problem("generated", X, y.astype(int))


def measure(problem: Problem, depth: int, limit: float, theirs: Program, n_pairs: int | None) -> Pair:
    """Time to the proof of both."""
    mine = ours()
    pair = time_pairs(
        f"{problem.name} {problem.X.shape[0]:,} x {problem.X.shape[1]}, depth {depth}, {theirs.name}",
        lambda: mine.solve(problem, depth, limit),
        lambda: theirs.solve(problem, depth, limit),
        n_pairs=n_pairs,
    )
    errors = f"errors {mine.judge(problem)}, theirs {theirs.judge(problem)}"
    ratio: float | None = pair.ratio
    if not mine.is_proven and not theirs.is_proven:
        ratio, errors = None, f"{errors}; no proof by either"
    elif not mine.is_proven:
        ratio, errors = None, f"{errors}; no proof of ours: ratio at most {pair.ratio:.2f}"
    elif not theirs.is_proven:
        ratio, errors = None, f"{errors}; no proof of theirs: ratio at least {pair.ratio:.2f}"
    return Pair(pair.job, pair.ours, pair.theirs, ratio, pair.pairs, note=errors)


def growth(problem: Problem, depth: int, limit: float, theirs: Program, n_pairs: int | None) -> Iterator[Pair]:
    """Time of shares of the rows."""
    order = np.random.default_rng(0).permutation(len(problem.y))
    for share in SHARES:
        rows = np.sort(order[: int(share * len(order))])
        yield measure(Problem(problem.name, problem.X[rows], problem.y[rows]), depth, limit, theirs, n_pairs)


def curve(problem: Problem, depth: int, limit: float, theirs: Program | None) -> list[dict[str, Any]]:
    """Errors of searches that are stopped: ours by subproblems and by seconds, theirs by seconds."""
    points = []
    for most in SEARCHES:
        mine = Program(
            "Treewright",
            lambda levels, seconds, most=most: tw.OptimalTreeClassifier(
                max_depth=levels, max_search=most, time_limit=seconds, n_jobs=1
            ),
        )
        mine.solve(problem, depth, limit)
        points.append(point(problem, depth, mine, "max_search", most))
        if mine.is_proven:
            break
    for seconds in (limit / 256, limit / 64, limit / 16, limit / 4):
        for program in filter(None, (ours(), theirs)):
            program.solve(problem, depth, seconds)
            points.append(point(problem, depth, program, "time_limit", seconds))
    return points


def point(problem: Problem, depth: int, program: Program, kind: str, most: float) -> dict[str, Any]:
    """A stopped search, as JSON has it."""
    found = {
        "set": problem.name, "depth": depth, "program": program.name, "limit": kind, "most": most,
        "seconds": program.seconds[-1], "errors": program.judge(problem), "proven": program.is_proven,
    }  # fmt: skip
    if program.name == "Treewright":
        found["gap"] = program.fitted.gap_
    return found


def greedy_errors(problem: Problem, depth: int) -> int:
    """Errors of CART."""
    est = tw.DecisionTreeClassifier(max_depth=depth, n_jobs=1).fit(problem.X, problem.y)
    return int((np.asarray(est.predict(problem.X)) != problem.y).sum())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numeric", type=Path, help="folder of numeric sets; without any folder, generated tables")
    parser.add_argument("--binary", type=Path, help="folder of binary sets")
    parser.add_argument("--sets", nargs="+", help="only these sets")
    parser.add_argument("--depths", nargs="+", type=int, default=[2, 3, 4], help="of the numeric sets")
    parser.add_argument("--binary-depths", nargs="+", type=int, default=[3, 4])
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of a solve")
    parser.add_argument("--pairs", type=int, help="of each job; without it, as many as 20 s allow, at least 3")
    parser.add_argument("--no-growth", action="store_true", help="neither the growth nor the stopped searches")
    parser.add_argument("--quick", action="store_true", help="short limits, once each: only to see that it runs")
    parser.add_argument("--out", type=Path, help="write JSON here")
    given = parser.parse_args()
    if given.quick:
        given.limit, given.pairs = 2.0, 1
    numeric = chosen(given.numeric, given.sets, is_class_first=False)
    binary = chosen(given.binary, given.sets, is_class_first=True)
    if given.numeric is None and given.binary is None:
        numeric, binary = [generated(is_binary=False)], [generated(is_binary=True)]
    programs = others()
    pairs: list[Pair] = []
    points: list[dict[str, Any]] = []
    greedy: list[dict[str, Any]] = []
    warnings.simplefilter("ignore")
    for is_binary in (False, True):  # loads the kernels, and what is compiled
        ours().solve(generated(is_binary=is_binary), 3, given.limit)
    for name, problems, depths in (("ConTree", numeric, given.depths), ("STreeD", binary, given.binary_depths)):
        theirs = programs.get(name)
        if theirs is None:
            print(f"{name} is not installed" if problems else f"no sets for {name}")
            continue
        some: list[Pair] = []
        for problem in problems:
            for depth in depths:
                some.append(measure(problem, depth, given.limit, theirs, given.pairs))
                print(some[-1].job, f"{some[-1].ours:.4g} s, {some[-1].theirs:.4g} s;", some[-1].note, flush=True)
                greedy.append({"set": problem.name, "depth": depth, "errors": greedy_errors(problem, depth)})
        if some:
            print(table_of(some, name))
            ratios = [pair.ratio for pair in some if pair.ratio is not None]
            if ratios:
                mean = statistics.geometric_mean(ratios)
                print(f"{name}: geometric mean of {len(ratios)} of {len(some)} ratios, both proved: {mean:.2f}\n")
        pairs += some
    if not given.no_growth and "ConTree" in programs:
        grown = []
        for problem in numeric:
            depth = min(3, max(given.depths))
            grown += growth(problem, depth, given.limit, programs["ConTree"], given.pairs)
            points += curve(problem, max(given.depths), given.limit, programs["ConTree"])
        print("Growth with the rows\n" + table_of(grown, "ConTree"))
        pairs += grown
        print("\nStopped searches")
        for one in points:
            gap = f", gap {one['gap']:.4f}" if "gap" in one else ""
            print(
                f"{one['set']} depth {one['depth']} {one['program']} {one['limit']} {one['most']:g}: {one['errors']} "
                f"errors in {one['seconds']:.3g} s{gap}{', proven' if one['proven'] else ''}"
            )
    write_json(given.out, pairs, stopped=points, greedy=greedy)


if __name__ == "__main__":
    main()
