"""Rows with the scores they have so far. In: rows, trees. Out: scores, the loss. Caller: boosting.rounds."""

from __future__ import annotations

import numpy as np

from treewright.boosting.losses import Loss
from treewright.boosting.settings import BoostRows
from treewright.core import threads
from treewright.predict.walks import leaf_rows_of_bins
from treewright.tree.packed import PackedTrees

_BLOCK_ROWS = 1 << 14


class Scored:
    """Rows, and where they stand.

    Parameters
    ----------
    rows : BoostRows
    losses : tuple of Loss
        One per output.
    base : float64[k]
        Where scores begin.
    n_threads : int

    Attributes
    ----------
    scores : float64[k, n]
    target : list of [n]
        One per output.
    scores_of : list of slice
        Which scores are an output's; ``output_of`` tells it the other way round.
    """

    def __init__(self, rows: BoostRows, losses: tuple[Loss, ...], base: np.ndarray, n_threads: int) -> None:
        self.rows, self.losses, self.n_threads = rows, losses, n_threads
        self.target = [np.ascontiguousarray(rows.target[:, output]) for output in range(len(losses))]
        ends = np.cumsum([loss.n_scores for loss in losses]).tolist()
        self.scores_of = [slice(end - loss.n_scores, end) for end, loss in zip(ends, losses, strict=True)]
        self.output_of = [output for output, loss in enumerate(losses) for _ in range(loss.n_scores)]
        self.scores = np.empty((len(base), len(rows.codes)))
        self.scores[:] = base[:, None]

    @property
    def n_scores(self) -> int:
        """Scores of a row."""
        return len(self.scores)

    def add_tree(self, packed: PackedTrees, tree: int, score: int, chosen: np.ndarray | None) -> None:
        """Add what a tree says to a score of all rows, or of ``chosen`` ones (int32, ascending)."""
        rows = np.arange(self.scores.shape[1], dtype=np.int32) if chosen is None else chosen
        blocks = [rows[begin : begin + _BLOCK_ROWS] for begin in range(0, len(rows), _BLOCK_ROWS)]
        adds = packed.leaf_value[:, 0]

        def work(task: int, _thread: int) -> None:
            block = blocks[task]
            self.scores[score, block] += adds[leaf_rows_of_bins(packed, self.rows.codes, block, tree)]

        threads.run_each(work, len(blocks), self.n_threads)

    def add_trees(self, packed: PackedTrees) -> None:
        """Add all trees, one per score and round."""
        for tree in range(len(packed)):
            self.add_tree(packed, tree, tree % self.n_scores, None)

    def loss(self) -> float:
        """The mean loss of the rows by their weights, of several outputs the sum; always added up in the same order."""
        total = 0.0
        for output, loss in enumerate(self.losses):
            values = loss.values(self.target[output], self.scores[self.scores_of[output]])
            total += float(np.average(values, weights=self.rows.weights))
        return total
