"""What the first trees of many say together. In: ``ModelData``, encoded rows, numbers of trees. Out: their answers.

Callers: reporting. Each tree is asked once; the answer of all trees is that of ``combined``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from treewright.core import threads
from treewright.data.bin_rows import bin_rows
from treewright.data.memory import check_fits
from treewright.predict.ensemble import predictions_of_trees, said_by_tree, weighted_median
from treewright.predict.ensemble_blocks import empty_sums, walk_arrays
from treewright.predict.ensemble_content import contents_of
from treewright.predict.ensemble_walk import SCRATCH_ROWS, sum_over_trees
from treewright.predict.staged import has_rounds, staged_answers
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees

_BLOCK = 8192
_LANES = 2048


def answers_after(
    model: ModelData, matrix: np.ndarray, counts: Sequence[int], n_jobs: int | None = None
) -> Iterator[np.ndarray]:
    """What the first trees say together, for several numbers of trees.

    Parameters
    ----------
    model : ModelData
        Of many trees.
    matrix : float64 or float32 [n, p]
    counts : sequence of int, 1 to the number of trees (of a model of gradient boosting: of rounds), ascending
    n_jobs : int or None
        Threads; the result does not depend on it.

    Yields
    ------
    float64[n, n_values]
        As ``predict.ensemble.combined`` of these trees alone, an array of its own.
    """
    if model.combine == "median":
        return _medians(model, matrix, counts, n_jobs)
    if has_rounds(model):
        wanted = set(counts)
        return (said for at, said in enumerate(staged_answers(model, matrix, n_jobs), 1) if at in wanted)
    return _means(model, matrix, counts, n_jobs)


def _medians(model: ModelData, matrix: np.ndarray, counts: Sequence[int], n_jobs: int | None) -> Iterator[np.ndarray]:
    """Weighted medians."""
    weights = np.ones(len(model.trees)) if model.tree_weights is None else model.tree_weights
    last = max(counts)
    first = replace(model, trees=model.trees[:last], tree_weights=weights[:last])
    said = predictions_of_trees(first, matrix, n_jobs)
    for count in counts:
        yield weighted_median(said[:, :count], weights[:count])[:, None]


def _means(model: ModelData, matrix: np.ndarray, counts: Sequence[int], n_jobs: int | None) -> Iterator[np.ndarray]:
    """Means of shares, votes or numbers."""
    contents = contents_of(model)
    # Numbers near the end of float64 are added up smaller by a power of two, so that their sum stays in its range.
    largest = max(float(np.abs(content).max(initial=0.0)) for content in contents)
    shift = 0 if largest * 2.0 < np.finfo(np.float64).max / len(model.trees) else len(model.trees).bit_length() + 1
    if shift:
        contents = tuple(np.ldexp(content, -shift) for content in contents)
    packed = _PackedSums(model.trees, contents[0], matrix, n_jobs) if isinstance(model.trees, PackedTrees) else None
    sums, before = empty_sums(len(matrix), contents[0].shape[1]), 0
    for count in counts:
        if packed is not None:
            packed.add(before, count, sums)
        else:
            for at in range(before, count):
                sums += said_by_tree(model, model.trees[at], contents[at], matrix, n_jobs)
        before = count
        yield np.ldexp(sums / count, shift) if shift else sums / count


class _PackedSums:
    """Adds what some of the packed trees say to sums, in the order of the trees."""

    def __init__(self, packed: PackedTrees, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None) -> None:
        check_fits(matrix.size, f"bins of {len(matrix)} x {matrix.shape[1]} cells", "pass fewer rows")
        self.arrays, self.content = walk_arrays(packed), content
        self.blocks = [
            (start, bin_rows(packed.bins, matrix[start : start + _BLOCK])) for start in range(0, len(matrix), _BLOCK)
        ]
        self.n_threads = threads.resolve_jobs(n_jobs)

    def add(self, first: int, stop: int, sums: np.ndarray) -> None:
        """Add the trees from ``first`` up to ``stop``."""
        roots = self.arrays.roots[first : stop + 1]

        def work(task: int, _thread: int) -> None:
            start, codes = self.blocks[task]
            scratch = np.empty((SCRATCH_ROWS, min(_LANES, max(len(codes), stop - first))), np.uint32)
            sum_over_trees(
                codes.reshape(-1), codes.shape[1], self.arrays.records, roots, self.arrays.sets,
                self.arrays.set_column, self.content, 1, scratch, sums[start : start + len(codes)],
            )  # fmt: skip

        threads.run_each(work, len(self.blocks), self.n_threads)
