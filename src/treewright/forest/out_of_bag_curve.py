"""How good the rows left out are predicted by the first trees. In: trees, rows, draws. Out: votes, ``OobCurve``.

Callers: estimators.forest_curve, users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.core import threads
from treewright.explain.table import GAP, TextColumn, aligned
from treewright.forest.out_of_bag import Ballots, Votes
from treewright.model.trees import Trees
from treewright.predict.walks import walk_of
from treewright.tree.arrays import Tree

MOST_LINES = 24
ERRORS = {"classification": "share of the rows that are wrong", "regression": "mean squared error"}
SCORES = {"classification": "accuracy", "regression": "R2"}


@dataclass(frozen=True, eq=False, repr=False)
class OobCurve:
    """How good a forest of the first trees predicts the rows that these trees left out.

    Attributes
    ----------
    task : {"classification", "regression"}
    n_trees : int64[k], ascending
        The last is the number of trees of the forest.
    error : float64[k]
        Share of the rows with a wrong answer (of several outputs, with any), or mean squared error; inf where it is
        beyond float64, nan where no row is judged.
    score : float64[k]
        As ``score`` and ``oob_score_``: share of the rows that are right, or R2.
    n_judged : int64[k]
        Rows that at least one of the trees left out; the others are not in the numbers.
    n_rows : int
        Rows of the fit.

    Examples
    --------
    >>> print(OobCurve("classification", np.array([1, 2]), np.array([0.25, 0.125]), np.array([0.75, 0.875]),
    ...                np.array([4, 8]), 9))
    out of bag: share of the rows that are wrong, 9 rows of the fit
    trees  error  accuracy  rows judged
        1  0.250     0.750            4
        2  0.125     0.875            8
    """

    task: str
    n_trees: np.ndarray
    error: np.ndarray
    score: np.ndarray
    n_judged: np.ndarray
    n_rows: int

    def __post_init__(self) -> None:
        for array in (self.n_trees, self.error, self.score, self.n_judged):
            array.flags.writeable = False

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per number of trees."""
        return {
            "n_trees": self.n_trees.tolist(),
            "error": self.error.tolist(),
            "score": self.score.tolist(),
            "n_judged": self.n_judged.tolist(),
        }

    def plot(self, **options: Any) -> Any:
        """Draw the error over the number of trees, a matplotlib figure; needs the extra ``plot``.

        Parameters
        ----------
        **options
            As ``treewright.plot.figures.curves.error_curve``.
        """
        from treewright.plot.figures.curves import error_curve

        known = np.isfinite(self.error)
        given: dict[str, Any] = {
            "x": self.n_trees[known].astype(np.float64),
            "test": self.error[known],
            "xlabel": "trees",
            "ylabel": ERRORS[self.task],
            "test_label": "rows left out",
        }
        return error_curve(**(given | options))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        shown = np.unique(np.linspace(0, len(self.n_trees) - 1, MOST_LINES).round().astype(int)).tolist()
        columns = [
            TextColumn("trees", [str(self.n_trees[at]) for at in shown], "right"),
            TextColumn("error", [_text(self.error[at]) for at in shown], "point"),
            TextColumn(SCORES[self.task], [_text(self.score[at]) for at in shown], "point"),
            TextColumn("rows judged", [str(self.n_judged[at]) for at in shown], "right"),
        ]
        lines = [f"out of bag: {ERRORS[self.task]}, {self.n_rows} rows of the fit"]
        lines += [GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)]
        if len(shown) < len(self.n_trees):
            lines.append(f"{len(self.n_trees) - len(shown)} more: to_dict() has every number of trees")
        return "\n".join(lines)


def counts_to_show(n: int, points: int) -> list[int]:
    """Numbers of trees up to ``n``, at most ``points``: every one of the first, then at like ratios; 1 and n included.

    Examples
    --------
    >>> counts_to_show(5, 60), counts_to_show(1000, 10)
    ([1, 2, 3, 4, 5], [1, 2, 5, 10, 22, 46, 100, 215, 464, 1000])
    """
    if n <= points:
        return list(range(1, n + 1))
    return sorted({int(count) for count in np.geomspace(1, n, points).round()} | {n})


def votes_after(
    trees: Trees | Sequence[Tree], cells: np.ndarray, target: np.ndarray, left_out: Callable[[int], np.ndarray],
    counts: Sequence[int], n_classes: tuple[int, ...], *, one_each: bool, n_threads: int,
) -> Iterator[Votes]:  # fmt: skip
    """What the first trees of a forest say of the rows they left out, for several numbers of trees.

    Parameters
    ----------
    trees : PackedTrees or sequence of Tree
    cells : uint8[n, stride], or float[n, p]
        The rows of the fit: bins for packed trees, else encoded cells.
    target : int32[n, n_outputs] or float64[n, n_outputs]
    left_out : callable
        Gives int32[m], the rows that a tree did not draw, for its number.
    counts : sequence of int, 1 to the number of trees, ascending
    n_classes, one_each
        As for ``out_of_bag.Ballots``.
    n_threads : int
        The votes do not depend on it.

    Yields
    ------
    Votes
        The last, of all trees, are those that the fit counts.
    """
    ballots = Ballots(target, n_classes, len(trees), n_threads, one_each=one_each)
    walk = walk_of(trees)
    before = 0
    for count in counts:

        def work(task: int, thread: int, first: int = before) -> None:
            tree = first + task
            rows = left_out(tree)
            leaves, values = walk.leaves(tree, cells, rows)
            # Of packed trees the table has the leaves of all: only the rows that these came to.
            used, place = np.unique(leaves, return_inverse=True)
            ballots.cast(thread, rows, place.astype(np.int32), values[used])

        threads.run_each(work, count - before, n_threads)
        before = count
        yield ballots.total()


def _text(number: float) -> str:
    """A number with three decimals, or three digits where it is large or small."""
    if np.isnan(number):
        return "-"
    return f"{number:.3f}" if number == 0 or 1e-2 <= abs(number) < 1e4 else f"{number:.3g}"
