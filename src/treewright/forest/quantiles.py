"""Quantile regression forests. In: a forest and its rows; a model, new rows. Out: ``LeafTargets``; quantiles.

A forest's mean is a weighted mean of training targets: in each tree the training rows in the leaf of the new row have a
total weight of one, and the weights are averaged over the trees. The same weights give a distribution, and its
quantiles (Meinshausen 2006, "Quantile regression forests", Journal of Machine Learning Research 7, 983-999).

Shares are whole units of 2**-30, so sums do not depend on the order. A leaf's units up to a target are rounded down,
which loses less than one unit per tree: shares that are so close below a quantile count as having reached it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import costs, kernel
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.forest.draws import Draws, counts_of_rows
from treewright.grow.objective import fixed_weights
from treewright.predict.ensemble import leaves_of_trees
from treewright.predict.walks import Walk, _for_kernels
from treewright.trees.arrays import Tree
from treewright.trees.data import WHOLE, LeafTargets, ModelData
from treewright.trees.packed import PackedTrees

_REMEDY = "set quantiles=False, or use fewer trees or rows (n_estimators, max_samples)"
_BLOCK_CELLS = 1 << 21  # rows times trees whose leaves are held at a time
_INLINE_SEARCHES = 20_000  # rows times trees; with fewer, a second thread costs more than it saves

# For each tree: the first entry of its leaf, the bounds of the search for a target, and the last position.
BEGIN, LOW, HIGH, AT = 0, 1, 2, 3


@costs(lambda leaves, starts, ranks, reached, needs, *_: 20 * leaves.size * len(needs))
@kernel
def quantile_ranks(leaves: np.ndarray, starts: np.ndarray, ranks: np.ndarray, reached: np.ndarray, needs: np.ndarray,
                   places: np.ndarray, found: np.ndarray) -> None:  # fmt: skip
    """The lowest target up to which the leaves of a row hold the units needed.

    Bisection over ranks: the shares up to a rank are found in every leaf by bisection too, between the positions of the
    last steps, so that nothing is sorted and no memory is needed.

        low, high = the lowest and the highest target in the row's leaves
        while low < high:
            units = what the leaves hold up to the middle             (a bisection in each tree's leaf)
            enough: high = middle, else low = middle + 1

    Parameters
    ----------
    leaves : int64[n, n_trees], IN
        The number of each row's leaf in every tree, among the leaves of all trees.
    starts : int64[n_leaves + 1], IN
        The first entry of each leaf.
    ranks, reached : int32[n_entries], IN
        As ``LeafTargets``.
    needs : int64[q], IN
        Units, 1 to n_trees * 2**30.
    places : int64[4, n_trees]
        Scratch.
    found : int32[n, q], OUT
    """
    n, n_trees = leaves.shape
    for row in range(n):
        lowest, highest = np.int64(ranks[starts[leaves[row, 0]]]), np.int64(0)
        for tree in range(n_trees):
            begin, end = starts[leaves[row, tree]], starts[leaves[row, tree] + 1]
            lowest = min(lowest, np.int64(ranks[begin]))
            highest = max(highest, np.int64(ranks[end - 1]))
        for wanted in range(len(needs)):
            low, high = lowest, highest
            for tree in range(n_trees):
                places[BEGIN, tree] = places[LOW, tree] = starts[leaves[row, tree]]
                places[HIGH, tree] = starts[leaves[row, tree] + 1]
            while low < high:
                middle = (low + high) >> 1
                units = np.int64(0)
                for tree in range(n_trees):
                    # The first entry beyond it. The window only shrinks: entries outside are already decided.
                    first, last = places[LOW, tree], places[HIGH, tree]
                    while first < last:
                        half = (first + last) >> 1
                        if ranks[half] <= middle:
                            first = half + 1
                        else:
                            last = half
                    places[AT, tree] = first
                    if first > places[BEGIN, tree]:
                        units += reached[first - 1]
                if units >= needs[wanted]:
                    high = middle
                    for tree in range(n_trees):
                        places[HIGH, tree] = places[AT, tree]
                else:
                    low = middle + 1
                    for tree in range(n_trees):
                        places[LOW, tree] = places[AT, tree]
            found[row, wanted] = low


def leaf_targets_of(
    trees: PackedTrees | Sequence[Tree],
    codes: np.ndarray,
    matrix: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray | None,
    draws: Draws | None,
    n_threads: int = 1,
) -> LeafTargets:
    """The targets in the leaves of a forest that was just grown.

    ``codes`` (uint8[n, stride]): the training rows as bins, for packed trees.
    ``matrix`` (float64 or float32 [n, p]): the same rows as cells, for other trees.
    ``target`` (float64[n, n_outputs]).
    ``weights`` (float64[n], > 0, or None): the weights of rows in trees that are fitted on all rows.
    ``draws``, the rows sampled for each tree; a row counts as often as it was drawn. None: each is fitted on all rows.

    Returns LeafTargets: the same for any order of the rows.
    """
    n, n_outputs = target.shape
    per_tree = n if draws is None else min(n, draws.n_draws)
    # The entries of the trees, and a copy when they are concatenated.
    check_fits(16 * len(trees) * n_outputs * per_tree, f"the targets in the leaves of {len(trees)} trees", _REMEDY)
    ranked = [np.unique(target[:, output] + 0.0, return_inverse=True) for output in range(n_outputs)]
    amounts = _amounts(weights, n)
    parts: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in range(len(trees))]

    walk = Walk(trees)
    cells = walk.chosen(codes, matrix)

    def gather(tree: int, thread: int) -> None:
        rows, times = (np.arange(n, dtype=np.int32), amounts) if draws is None else draws.counts(tree)
        leaves = walk.positions(tree, cells, rows)
        parts[tree] = [_entries(leaves, rank[rows], len(own), times) for own, rank in ranked]

    threads.run_each(gather, len(trees), min(n_threads, len(trees)))
    values: list[np.ndarray] = []
    ranks: list[np.ndarray] = []
    reached: list[np.ndarray] = []
    first = 0
    for output, (own, _) in enumerate(ranked):
        is_there = np.zeros(len(own), bool)
        for part in parts:
            is_there[part[output][0]] = True
        # Targets that no tree drew are left out.
        numbers = (np.cumsum(is_there) - 1 + first).astype(np.int32)
        values.append(own[is_there])
        ranks.extend(numbers[part[output][0]] for part in parts)
        reached.extend(part[output][1] for part in parts)
        first += len(values[-1])
    return LeafTargets(np.concatenate(values), np.concatenate(ranks), np.concatenate(reached))


def _amounts(weights: np.ndarray | None, n: int) -> np.ndarray:
    """int64[n]: the weight of each row in a tree fitted on all rows, as whole numbers with a sum below 2**53."""
    if weights is None:
        return np.ones(n, np.int64)
    counts = counts_of_rows(weights)
    return fixed_weights(weights, n)[0] if counts is None else counts


def _entries(leaves: np.ndarray, ranks: np.ndarray, n_ranks: int, amounts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows as entries of their leaves: the rank of each, and the share of its leaf up to it."""
    key = leaves.astype(np.int64) * n_ranks + ranks
    order = np.argsort(key, kind="stable")
    key = key[order]
    is_first = np.concatenate((np.ones(1, bool), key[1:] != key[:-1]))
    at = np.flatnonzero(is_first)
    upto = np.cumsum(np.add.reduceat(amounts[order].astype(np.int64), at))
    leaf, rank = np.divmod(key[at], n_ranks)
    is_last = np.concatenate((leaf[1:] != leaf[:-1], np.ones(1, bool)))
    ends = upto[is_last]
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    lengths = np.diff(np.flatnonzero(is_last), prepend=-1)
    within = (upto - np.repeat(begins, lengths)) / np.repeat(ends - begins, lengths)
    reached = np.where(is_last, WHOLE, np.minimum(np.floor(within * WHOLE), WHOLE - 1))
    return rank.astype(np.int32), reached.astype(np.int32)


def units_needed(quantile: float, n_trees: int) -> int:
    """The units of 2**-30 that the leaves of all trees must hold up to a quantile."""
    if quantile == 1:
        return n_trees * WHOLE
    return max(1, math.ceil(Fraction(quantile) * n_trees * WHOLE) - n_trees)


def checked_quantiles(quantiles: Any) -> list[float]:
    """The quantiles as numbers.

    Raises ``ParameterError``: there is none, or one is not a number from 0 to 1.

    Examples
    --------
    >>> checked_quantiles(0.5), checked_quantiles([0, 0.9])
    ([0.5], [0.0, 0.9])
    """
    given = np.atleast_1d(np.asarray(quantiles, object))
    if given.ndim != 1 or not len(given) or not all(_is_number(each) and 0 <= each <= 1 for each in given):
        raise ParameterError(f"quantiles={quantiles!r}: give numbers from 0 to 1, as in [0.05, 0.5, 0.95]")
    return [float(each) for each in given]


def _is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not, nor is text."""
    return isinstance(value, Real) and not isinstance(value, bool)


def ends_of_level(level: Any) -> list[float]:
    """The two quantiles between which a share of the distribution lies, with equal shares below and above.

    Raises ``ParameterError``: it is not a number between 0 and 1.

    Examples
    --------
    >>> ends_of_level(0.5)
    [0.25, 0.75]
    """
    number = level[()] if isinstance(level, np.ndarray) and level.ndim == 0 else level
    if not _is_number(number) or not 0 < number < 1:
        raise ParameterError(f"level={level!r}: give a number between 0 and 1, such as 0.9")
    return [(1 - float(number)) / 2, (1 + float(number)) / 2]


def predict_quantiles(model: ModelData, matrix: np.ndarray, quantiles: Any, n_jobs: int | None = None) -> np.ndarray:
    """Predicted quantiles of the target for each row.

    The quantile ``q`` is the lowest training target up to which the row's leaves hold the share ``q`` of the weight:
    the inverse of the weighted distribution function. Shares within 2**-30 below ``q`` count as ``q``; 0 gives the
    lowest target in the leaves, 1 the highest.

    ``model``: a forest with ``leaf_targets``. ``matrix`` (float64 or float32 [n, p]). Returns float64[n, q, n_outputs].
    """
    if model.task != "regression":
        raise AttributeError("a classification model has no quantiles; use predict_proba")
    wanted = checked_quantiles(quantiles)
    targets = model.leaf_targets
    if targets is None:
        raise ParameterError(
            "the model does not hold the targets of its leaves: fit RandomForestRegressor or ExtraTreesRegressor with "
            "quantiles=True (a single tree of such a forest does not hold them)"
        )
    n, n_trees = len(matrix), len(model.trees)
    answers = np.empty((n, len(wanted), model.n_outputs))
    needs = np.array([units_needed(quantile, n_trees) for quantile in wanted], np.int64)
    search = _search_of(model, targets, needs)
    n_threads = threads.resolve_jobs(n_jobs) if n * n_trees >= _INLINE_SEARCHES else 1
    block = max(1, min(_BLOCK_CELLS // n_trees, -(-n // n_threads)))

    def work(task: int, thread: int) -> None:
        rows = slice(task * block, min((task + 1) * block, n))
        search(leaves_of_trees(model, matrix[rows], 1), answers[rows])

    threads.run_each(work, -(-n // block), n_threads)
    return answers


_places: WeakKeyDictionary[ModelData, tuple[np.ndarray, np.ndarray, np.ndarray]] = WeakKeyDictionary()


def _leaf_places(model: ModelData, targets: LeafTargets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First node of each tree, int64[n_trees]; leaf of each node, int32[n_nodes]; first entry of each leaf. Cached."""
    places = _places.get(model)
    if places is None:
        roots = model.trees.begins[:-1].astype(np.int64)
        numbers = np.cumsum(model.trees.is_leaf, dtype=np.int32) - np.int32(1)
        places = _places[model] = roots, numbers, targets.starts()
    return places


def _search_of(model: ModelData, targets: LeafTargets, needs: np.ndarray) -> Callable[[np.ndarray, np.ndarray], None]:
    """A function that writes the quantiles of rows from their leaves."""
    roots, numbers, starts = _leaf_places(model, targets)
    ranks, reached = _for_kernels(targets.ranks), _for_kernels(targets.reached)
    n_leaves = (len(starts) - 1) // model.n_outputs

    def search(positions: np.ndarray, answers: np.ndarray) -> None:
        leaves = numbers[positions + roots].astype(np.int64)
        places = np.empty((4, leaves.shape[1]), np.int64)
        found = np.empty((len(leaves), len(needs)), np.int32)
        for output in range(model.n_outputs):
            own = starts[output * n_leaves : (output + 1) * n_leaves + 1]
            quantile_ranks(leaves, own, ranks, reached, needs, places, found)
            answers[:, :, output] = targets.values[found]

    return search
