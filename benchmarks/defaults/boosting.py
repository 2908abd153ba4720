"""Boosting at defaults: mean ranks over data sets. In: a folder of tables. Out: a Markdown table, JSON.

Callers: people, tests. Ten folds, the same for every library, seeded; classes by log loss (lower is better), numbers by
R2 (higher is better). With ``--try`` candidate defaults of ours are ranked, each for itself, against the other
libraries; their scores are kept in a file (``--cache``), so that a candidate costs no more than its own fits. With
``--own-cache`` ours are kept too, by parameters: only for as long as the code that is judged stays the same. A search
may look at some of the folds (``--judged``), the table is made of all.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import equal_rows
import numpy as np
from libraries import (  # makes those of versus importable
    FORESTS,
    OUR_FOREST,
    OURS,
    RIVALS,
    TREEWRIGHT,
    Library,
    Table,
    installed,
)
from pairs import machine
from real_data import data_sets, read
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold

FEWEST_ROWS = 100  # a fold of fewer than ten rows says nothing
SMALLEST_SHARE = 1e-15

Scores = dict[str, dict[str, list[float]]]  # of each set and library, a score for each fold


@dataclass
class Kept:
    """Scores in a file.

    Attributes
    ----------
    path : Path or None
    folds : dict from "set / library" to scores of folds
    seconds : dict from "set / library" to seconds of a fold, mean
    """

    path: Path | None
    folds: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None) -> Kept:
        """What is there already."""
        if path is None or not path.exists():
            return cls(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls(path, content["folds"], content["seconds"])

    def add(self, key: str, scores: list[float], seconds: float) -> None:
        """Keep the scores of one library on one set."""
        self.folds[key], self.seconds[key] = scores, seconds
        if self.path is not None:
            written = json.dumps({"folds": self.folds, "seconds": self.seconds}, indent=1)
            self.path.write_text(written + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Plan:
    """How to judge: folds, threads, seconds after which a library's other folds are left out, folds that are judged."""

    n_folds: int
    n_threads: int
    limit: float
    n_judged: int | None = None


def table_of_set(facts: dict[str, Any], folder: Path, most_rows: int) -> Table:
    """A data set, shuffled with a fixed seed, with at most so many rows."""
    frame, target = read(facts, folder)
    rows = np.random.default_rng(0).permutation(len(frame))[:most_rows]
    frame, target = frame[rows], target[rows]
    if facts["task"] == "regression":
        return Table(facts["name"], frame, tuple(facts["nominal"]), target.to_numpy().astype(np.float64), 0)
    classes, codes = np.unique(target.to_numpy().astype(str), return_inverse=True)
    return Table(facts["name"], frame, tuple(facts["nominal"]), codes.astype(np.int64), len(classes))


def tables(folder: Path, names: list[str] | None, most_rows: int) -> Iterator[Table]:
    """The data sets of a folder, those with few cells first, and tables of equal rows; very small ones are left out."""
    own = None if names is None else [name for name in names if name not in equal_rows.NAMES]
    of_folder = [] if own == [] else data_sets(folder, own)
    found = [facts for facts in of_folder if facts.get("rows", FEWEST_ROWS) >= FEWEST_ROWS]
    size = {
        facts["name"]: min(facts.get("rows", 0), most_rows) * max(2, len(facts.get("classes", ""))) for facts in found
    }
    for facts in sorted(found, key=lambda facts: size[facts["name"]]):
        yield table_of_set(facts, folder, most_rows)
    yield from equal_rows.tables(folder, names, most_rows)


def folds_of(table: Table, n_folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold."""
    kind = StratifiedKFold if table.n_classes else KFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
        return list(kind(n_folds, shuffle=True, random_state=0).split(np.zeros(len(table.y)), table.y))


def score_of(table: Table, y: np.ndarray, answer: np.ndarray) -> float:
    """Log loss of class shares, or R2."""
    if not table.n_classes:
        return float(r2_score(y, answer))
    own = answer[np.arange(len(y)), y] / answer.sum(axis=1)
    return float(-np.log(np.clip(own, SMALLEST_SHARE, 1.0)).mean())


def judge(library: Library, table: Table, plan: Plan, more: dict[str, Any]) -> tuple[list[float], float]:
    """Scores of the folds, as many as the limit allows, and the mean seconds of one."""
    X = library.prepare(table)
    scores: list[float] = []
    begin = time.perf_counter()
    for train, test in folds_of(table, plan.n_folds)[: plan.n_judged]:
        parts = library.rows(X, train), table.y[train], library.rows(X, test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = library.fit_predict(*parts, table, plan.n_threads, more)
        scores.append(score_of(table, table.y[test], answer))
        if time.perf_counter() - begin > plan.limit:
            break
    return scores, (time.perf_counter() - begin) / len(scores)


def judge_ours(
    table: Table, plan: Plan, own: Kept, candidate: dict[str, Any], ours: Library = TREEWRIGHT
) -> list[float]:
    """Scores of ours with some parameters, from the file where they are in it."""
    key = f"{table.name} {len(table.frame)}, {plan.n_judged or plan.n_folds} of {plan.n_folds} folds / "
    key += f"{OURS} {json.dumps(candidate, sort_keys=True)}"
    if key not in own.folds:
        found, seconds = judge(ours, table, plan, candidate)
        own.add(key, found, seconds)
        print(f"{key}: {np.mean(found):.4f}, {len(found)} folds of {seconds:.2f} s", flush=True)
    return own.folds[key]


def ranks_of(scores: dict[str, list[float]], *, higher_is_better: bool) -> dict[str, float]:
    """Ranks from 1 on of means over the folds that all have; equal means (six digits) share the mean of their ranks."""
    n_folds = min(len(each) for each in scores.values())
    sign = -1.0 if higher_is_better else 1.0
    means = {name: sign * round(float(np.mean(each[:n_folds])), 6) for name, each in scores.items()}
    values = list(means.values())
    return {
        name: 0.5 * (sum(other < mean for other in values) + sum(other <= mean for other in values) + 1)
        for name, mean in means.items()
    }


def markdown(all_tables: list[Table], scores: Scores, names: list[str]) -> str:
    """Scores and ranks of every set, and mean ranks."""
    lines = [
        "| set | rows x columns | nominal (most levels) | score | " + " | ".join(names) + " |",
        "|---|---|---|---|" + "---|" * len(names),
    ]
    ranks: dict[str, list[float]] = {name: [] for name in names}
    for table in all_tables:
        of_set = {name: scores[table.name][name] for name in names if name in scores[table.name]}
        of_rank = ranks_of(of_set, higher_is_better=not table.n_classes)
        n_folds = min(len(each) for each in of_set.values())
        levels = max((table.frame[name].n_unique() for name in table.nominal), default=0)
        cells = []
        for name in names:
            if name not in of_set:
                cells.append("not run")
                continue
            ranks[name].append(of_rank[name])
            cells.append(f"{np.mean(of_set[name][:n_folds]):.4f} ({of_rank[name]:g})")
        head = f"{table.name} | {len(table.frame):,} x {table.frame.width} | {len(table.nominal)} ({levels})"
        lines.append(f"| {head} | {'log loss' if table.n_classes else 'R2'} | " + " | ".join(cells) + " |")
    means = " | ".join(f"**{np.mean(ranks[name]):.2f}**" for name in names)
    spread = " | ".join("{:.2f} to {:.2f}".format(*interval_of(ranks[name])) if ranks[name] else "" for name in names)
    return "\n".join([*lines, f"| mean rank | | | | {means} |", f"| 95 % of other choices of sets | | | | {spread} |"])


def interval_of(ranks: list[float]) -> tuple[float, float]:
    """Where 95 % of the mean ranks lie when the sets are drawn again, with replacement (a bootstrap over sets)."""
    draws = np.random.default_rng(0).choice(ranks, (2000, len(ranks))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975]).tolist()
    return low, high


def mean_rank(all_tables: list[Table], scores: Scores, rivals: list[str]) -> float:
    """The mean rank of ours."""
    return float(
        np.mean(
            [
                ranks_of(
                    {name: scores[table.name][name] for name in (OURS, *rivals) if name in scores[table.name]},
                    higher_is_better=not table.n_classes,
                )[OURS]
                for table in all_tables
            ]
        )
    )


def candidates_of(words: list[str]) -> list[dict[str, Any]]:
    """Every combination of NAME=VALUE,VALUE words; values are JSON or plain words."""
    names, choices = [], []
    for word in words:
        name, _, values = word.partition("=")
        names.append(name)
        choices.append([_value(value) for value in values.split(",")])
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*choices)]


def _value(word: str) -> Any:
    """A number, true, false, null or a plain word."""
    try:
        return json.loads(word)
    except json.JSONDecodeError:
        return word


def judge_rivals(
    all_tables: list[Table], libraries: list[Library], plan: Plan, kept: Kept, skipped: list[str]
) -> Scores:
    """Scores of the other libraries, from the file where they are in it."""
    scores: Scores = {table.name: {} for table in all_tables}
    for table in all_tables:
        for library in libraries:
            key = f"{table.name} {len(table.frame)} / {library.name}"
            if f"{table.name}/{library.name}" in skipped:
                continue
            if key not in kept.folds:
                try:
                    found, seconds = judge(library, table, plan, {})
                except ValueError as error:  # scikit-learn takes no column of more than 255 levels
                    print(f"{key}: left out: {str(error).splitlines()[0]}", flush=True)
                    continue
                kept.add(key, found, seconds)
                print(f"{key}: {np.mean(found):.4f}, {len(found)} folds of {seconds:.2f} s", flush=True)
            scores[table.name][library.name] = kept.folds[key]
    return scores


def arguments_of() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description="Boosting at defaults: mean ranks of Treewright and other libraries.")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of NAME.json and NAME.csv.gz")
    parser.add_argument("--names", nargs="+", help="which data sets; by default all with at least 100 rows")
    parser.add_argument("--forests", action="store_true", help="forests of 100 trees instead (a cache of their own)")
    parser.add_argument("--half", type=int, choices=(1, 2), help="every second set: to choose on one, confirm on other")
    parser.add_argument("--rows", type=int, default=20_000, help="at most so many rows of each set")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--judged", type=int, metavar="N", help="only the first N folds, for a search")
    parser.add_argument("--threads", type=int, default=1, help="threads of every library")
    parser.add_argument(
        "--limit", type=float, default=600.0, help="seconds of a library on a set; then folds are left out"
    )
    parser.add_argument(
        "--skip", nargs="+", default=[], metavar="SET/LIBRARY", help="leave these out: they take too long"
    )
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep the scores of the other libraries there")
    parser.add_argument("--own-cache", type=Path, metavar="FILE", help="keep the scores of ours there")
    parser.add_argument("--rivals-only", action="store_true", help="only fill the file and rank those")
    parser.add_argument("--try", nargs="+", dest="words", default=[], metavar="NAME=VALUES", help="a grid of ours")
    parser.add_argument("--out", type=Path, help="write JSON there")
    return parser.parse_args()


def main() -> None:
    """Judge the libraries, or candidates."""
    arguments = arguments_of()
    plan = Plan(arguments.folds, arguments.threads, arguments.limit, arguments.judged)
    libraries, ours = installed(RIVALS), TREEWRIGHT
    if arguments.forests:
        libraries, ours = installed(FORESTS), OUR_FOREST
    rivals = [library.name for library in libraries]
    all_tables = list(tables(arguments.data, arguments.names, arguments.rows))
    if arguments.half:
        chosen = sorted(table.name for table in all_tables)[arguments.half - 1 :: 2]
        all_tables = [table for table in all_tables if table.name in chosen]
    kept, own = Kept.read(arguments.cache), Kept.read(arguments.own_cache)
    scores = judge_rivals(all_tables, libraries, plan, kept, arguments.skip)
    written: dict[str, Any] = {"machine": machine(), "scores": scores}
    if arguments.rivals_only:
        print(markdown(all_tables, scores, rivals))
    elif arguments.words:
        written["candidates"] = []
        for candidate in candidates_of(arguments.words):
            begin = time.perf_counter()
            for table in all_tables:
                scores[table.name][OURS] = judge_ours(table, plan, own, candidate, ours)
            rank = mean_rank(all_tables, scores, rivals)
            of_sets = {table.name: float(np.mean(scores[table.name][OURS])) for table in all_tables}
            written["candidates"].append({"parameters": candidate, "mean rank": rank, "scores": of_sets})
            print(f"{rank:.3f} {time.perf_counter() - begin:6.0f} s  {json.dumps(candidate)}", flush=True)
    else:
        for table in all_tables:
            scores[table.name][OURS] = judge_ours(table, plan, own, {}, ours)
        print(markdown(all_tables, scores, [OURS, *rivals]))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
