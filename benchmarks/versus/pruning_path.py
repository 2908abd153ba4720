"""The whole cost-complexity path with its ten-fold errors: ours against scikit-learn.

In: a folder with the data set `adult` (benchmarks/README.md), else a generated table. Out: a table, JSON.
Callers: people, tests.

With scikit-learn one asks `cost_complexity_pruning_path` for the prices and `cross_val_score` at every price: ten
trees a price. There are thousands of prices, so some are timed, evenly spread over the path, and the mean is scaled
up to all of them; the rows that say "scaled" were not measured as a whole. Beside it stands what a sensible user
does: only the timed prices (their number times the mean of each turn's). Ours always gives all of them. Our whole
path and a part of their prices run in turn, and the ratio is the median over the turns. scikit-learn takes no
nominal columns: it gets them as the numbers of their levels, or one-hot; a missing cell is one more level. Ours is
timed on the table as it is (it encodes it once a fold) and, like with like, on the numbers. Encoding for scikit-
learn is not counted. On adult this takes some twenty minutes, nearly all of them scikit-learn's.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from classics import frame_of, seconds_of
from pairs import Pair, table_of, write_json
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import treewright as tw
from treewright.model_selection import pruning_path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

import sets

FOLDS = 10
TURNS = 5


@dataclass(frozen=True)
class Problem:
    """A table in three forms, its labels and its folds."""

    name: str
    frame: pl.DataFrame
    numbers: np.ndarray
    one_hot: np.ndarray
    y: np.ndarray
    folds: list[tuple[np.ndarray, np.ndarray]]


def problem_of(name: str, frame: pl.DataFrame, y: np.ndarray) -> Problem:
    """The forms of a table."""
    nominal = [label for label, kind in frame.schema.items() if kind == pl.String]
    filled = frame.with_columns(pl.col(nominal).fill_null("missing"))
    codes = [
        filled[label].rank("dense").to_numpy() if label in nominal else filled[label].to_numpy()
        for label in frame.columns
    ]
    numbers = np.column_stack(codes).astype(np.float64)
    plain = [at for at, label in enumerate(frame.columns) if label not in nominal]
    hot = OneHotEncoder(sparse_output=False).fit_transform(filled.select(nominal).to_numpy())
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(numbers, y))
    return Problem(name, frame, numbers, np.column_stack([numbers[:, plain], hot]), y, folds)


def generated(n: int) -> Problem:
    """Numbers and levels, a fifth of the labels turned over."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{at}": rng.normal(size=n).round(2) for at in range(6)}
    levels = np.array(["red", "green", "blue", "grey", "black"])
    columns |= {f"colour{at}": levels[rng.integers(0, 5, n)].tolist() for at in range(3)}
    score = columns["x0"] + columns["x1"] * columns["x2"] + np.array([c == "red" for c in columns["colour0"]])
    y = np.where((score > 0.5) ^ (rng.random(n) < 0.2), "yes", "no")
    return problem_of(f"generated {n:,} x 9", pl.DataFrame(columns), y)


def find(folder: Path | None) -> Problem | None:
    """Adult from a folder."""
    table = sets.find("adult", folder)
    if table is None:
        return None
    X, y = frame_of(table)
    return problem_of(f"adult {len(X):,} x {X.width}", X, y.to_numpy())


@dataclass(frozen=True)
class Turns:
    """Seconds of our whole path and of their prices, turn by turn; their path once a turn."""

    ours: list[float]
    path: list[float]
    prices: list[list[float]]
    n_prices: int
    note: str

    def pair(self, job: str, n_prices: int, note: str) -> Pair:
        """Ours against their path and so many prices."""
        each = [
            (ours, path + n_prices * statistics.mean(prices))
            for ours, path, prices in zip(self.ours, self.path, self.prices, strict=True)
        ]
        mine, theirs = (statistics.median(pair[at] for pair in each) for at in (0, 1))
        ratio = statistics.median(theirs / ours for ours, theirs in each)
        return Pair(job, mine, theirs, ratio, len(each), note=note)


def measure(problem: Problem, ours: Any, theirs: np.ndarray, n_timed: int, n_jobs: int) -> Turns:
    """Time both, in turn."""
    estimator, other = tw.DecisionTreeClassifier(n_jobs=1), DecisionTreeClassifier(random_state=0)

    def own() -> Any:
        return pruning_path(estimator, ours, problem.y, cv=problem.folds, n_jobs=n_jobs)

    path = own()  # compiles, or reads what was compiled
    alphas = other.cost_complexity_pruning_path(theirs, problem.y).ccp_alphas
    timed = np.unique(np.linspace(0, len(alphas) - 1, n_timed).astype(int))
    scores: list[float] = []

    def score(alpha: float) -> None:
        tree = DecisionTreeClassifier(random_state=0, ccp_alpha=max(alpha, 0.0))
        scores.append(cross_val_score(tree, theirs, problem.y, cv=problem.folds, n_jobs=n_jobs).mean())

    mine, paths, prices = [], [], []
    # Every turn has prices from all over the path: small ones cost most.
    for part in (timed[turn::TURNS] for turn in range(min(TURNS, len(timed)))):
        mine.append(seconds_of(own))
        paths.append(seconds_of(lambda: other.cost_complexity_pruning_path(theirs, problem.y)))
        prices.append([seconds_of(lambda alpha=alpha: score(alpha)) for alpha in alphas[part]])
    note = f"{len(path)} of our subtrees; best accuracy {1 - path.cv_error.min():.4f}, theirs {max(scores):.4f}"
    return Turns(mine, paths, prices, len(alphas), note)


def jobs(problem: Problem, n_timed: int, n_jobs: int) -> Iterator[Pair]:
    """Every pair of forms."""
    forms = (
        ("ours as it is, theirs level numbers", problem.frame, problem.numbers),
        ("both level numbers", problem.numbers, problem.numbers),
        ("ours as it is, theirs one-hot", problem.frame, problem.one_hot),
    )
    for form, ours, theirs in forms:
        turns = measure(problem, ours, theirs, n_timed, n_jobs)
        n_some = sum(map(len, turns.prices))
        scaled = f"scaled from {n_some} of their {turns.n_prices:,} prices; {turns.note}"
        yield turns.pair(f"{problem.name}, {form}, whole path", turns.n_prices, scaled)
        yield turns.pair(
            f"{problem.name}, {form}, {n_some} of their prices",
            n_some,
            "every one of them timed, a fifth each turn; ours is the whole path",
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of data sets; without adult in it a generated table is taken")
    parser.add_argument("--prices", type=int, default=50, help="how many of scikit-learn's prices are timed")
    parser.add_argument(
        "--n-jobs", type=int, default=1, help="ours: threads; scikit-learn: processes of cross_val_score"
    )
    parser.add_argument("--rows", type=int, default=5000, help="of the generated table")
    parser.add_argument("--quick", action="store_true", help="400 rows, 5 prices: only to see that it runs")
    parser.add_argument("--out", type=Path, help="write JSON here")
    given = parser.parse_args()
    if given.quick:
        given.rows, given.prices = 400, 5
    problem = find(given.data)
    if problem is None:
        print("adult is not there: a generated table is taken")
        problem = generated(given.rows)
    pairs = []
    with warnings.catch_warnings():
        # scikit-learn's smallest price may be a negative rounding, ours names columns a fold has in one value only.
        warnings.simplefilter("ignore")
        for pair in jobs(problem, given.prices, given.n_jobs):
            print(pair.job, f"{pair.ours:.4g} s against {pair.theirs:.4g} s: {pair.ratio:.1f}", flush=True)
            pairs.append(pair)
    print(table_of(pairs))
    write_json(given.out, pairs)


if __name__ == "__main__":
    main()
