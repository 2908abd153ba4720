"""Predictions of a model for encoded rows: of all trees, after each round, or of the first ones.

The outputs of the trees are added up in their order, for any number of threads and blocks, so a batch equals row by
row. ``model.aggregation`` combines them: a mean, a vote, a median, or scores that start at a base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.predict.boosted import boosted_scores, staged_boosted_scores
from treewright.predict.fractional import average_of_leaves, rows_with_missing
from treewright.predict.route import leaf_of
from treewright.predict.walks import (
    Reading,
    add_listed,
    contents_in_tree,
    empty_sums,
    leaves_in_listed_tree,
    packed_leaves,
    sums_of,
)
from treewright.trees.data import (
    ModelData,
    Trees,
    class_proportions,
    first_largest,
    on_grid,
    output_columns,
    predicted_codes,
    predictions_of_scores,
    together,
    weighted_median,
)
from treewright.trees.packed import PackedTrees
from treewright.trees.repacking import Repacked, repacked

__all__ = [
    "LeafTable",
    "first_largest",
    "leaf_table",
    "predict_codes",
    "predict_leaves",
    "predict_numbers",
    "predict_probabilities",
]

_MEDIAN_CELLS = 1 << 22  # predictions that are sorted at a time
_REPEATED_CELLS = 1 << 23  # cells of repeated columns, at a time
_FEW_ROWS = 64  # up to here listed trees are walked: 16 us a row, by bins 60
_MOST_PARTS = 4  # of each tested column: with more, making bins takes longer than walking listed trees

_contents: WeakKeyDictionary[ModelData, tuple[np.ndarray, ...]] = WeakKeyDictionary()
_addends: WeakKeyDictionary[ModelData, tuple[np.ndarray, ...]] = WeakKeyDictionary()
_bins: WeakKeyDictionary[ModelData, Repacked | None] = WeakKeyDictionary()
_parts: WeakKeyDictionary[ModelData, tuple[Trees, tuple[float, ...]]] = WeakKeyDictionary()


def contents_of(model: ModelData) -> tuple[np.ndarray, ...]:
    """The leaf contents of many trees, made once: tuple of float64[m, n_values].

    One for packed trees: a row per row of the leaf table. Else one per tree, a row per node. Class proportions; for
    trees that vote, a 1 for the most frequent class; for regression, predictions.
    """
    contents = _contents.get(model)
    if contents is None:
        contents = _contents[model] = _of_each_tree(model, model.aggregation.content)
    return contents


def addends_of(model: ModelData) -> tuple[np.ndarray, ...]:
    """The leaf contents as they are added up, made once: with several grids the parts of each number, side by side."""
    if model.n_parts == 1:
        return contents_of(model)
    addends = _addends.get(model)
    if addends is None:
        addends = _addends[model] = _of_each_tree(model, model.aggregation.addends)
    return addends


def _of_each_tree(model: ModelData, made: Callable[[ModelData, np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...]:
    """What is made of the values of the leaves, for each tree."""
    values = model.trees.values
    # One array for the walk of all trees; each tree has a view.
    whole = made(model, values[0] if len(values) == 1 else np.concatenate(values))
    ends = np.cumsum([len(value) for value in values]).tolist()
    return tuple(whole[end - len(value) : end] for value, end in zip(values, ends, strict=True))


def combined(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """The combined prediction of many trees, float64[n, n_values].

    Class proportions or numbers, averaged over the trees; the proportion of the trees, or of their weight, that vote
    for a class; the weighted median; or the predictions from the scores. A mean is finite even if the sum is beyond
    float64.
    """
    how = model.aggregation
    if how.has_scores:
        return predictions_of_scores(model, scores_of(model, matrix, n_jobs))
    if how.sorts:
        return _median(model, matrix, n_jobs)
    addends = addends_of(model)
    means = how.mean(sums_of(model, addends, matrix, n_jobs), len(model.trees), model.n_parts)
    if model.task == "regression" and not np.isfinite(means).all():  # class proportions are always finite
        beyond = ~np.isfinite(means)
        rows = np.flatnonzero(beyond.any(axis=1))
        means[beyond] = _mean_of_large(model, addends, matrix[rows], n_jobs)[beyond[rows]]
    return means


def _mean_of_large(
    model: ModelData, contents: tuple[np.ndarray, ...], matrix: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """The mean of numbers whose sum is beyond float64: all are first scaled down by one power of two."""
    n_trees = len(model.trees)
    shift = n_trees.bit_length()
    small = tuple(np.ldexp(content, -shift) for content in contents)
    mean = sums_of(model, small, matrix, n_jobs) / n_trees
    largest = np.ldexp(np.finfo(np.float64).max, -shift)
    return np.ldexp(np.clip(mean, -largest, largest), shift)  # rounding of the sum may have left the range


def _median(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """The weighted median of the trees' predictions, computed in blocks of rows: float64[n, 1]."""
    weights = model.aggregation.weights_of(len(model.trees))
    median = np.empty((len(matrix), 1))
    block = max(_MEDIAN_CELLS // len(model.trees), 1)
    for begin in range(0, len(matrix), block):
        predicted = predictions_of_trees(model, matrix[begin : begin + block], n_jobs)
        median[begin : begin + block, 0] = weighted_median(predicted, weights)
    return median


def predictions_of_trees(
    model: ModelData, matrix: np.ndarray, n_jobs: int | None, n_trees: int | None = None
) -> np.ndarray:
    """Predictions of one number by each of the trees, or of the first ones: float64[n, n_trees]."""
    n_trees = len(model.trees) if n_trees is None else n_trees
    check_fits(len(matrix) * n_trees * 8, f"{len(matrix)} x {n_trees} predictions", "pass fewer rows")
    contents, reading = contents_of(model), Reading(model, matrix, n_jobs)
    predicted = np.empty((len(matrix), n_trees))
    for tree in range(n_trees):
        predicted[:, tree] = reading.of_tree(tree, contents)[:, 0]
    return predicted


def scores_of(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Scores of a boosted model, float64[n, n_scores]: the base plus the leaf values."""
    trees, base = boosted_parts(model)
    if isinstance(trees, PackedTrees):
        return boosted_scores(trees, base, matrix, n_jobs)
    if len(matrix) > _FEW_ROWS and (bins := _bins_of(model)) is not None:
        scores = np.empty((len(matrix), len(base)))
        block = max(_REPEATED_CELLS // len(bins.sources), 1)
        for begin in range(0, len(matrix), block):
            rows = matrix[begin : begin + block][:, bins.sources]
            scores[begin : begin + block] = boosted_scores(bins.trees, base, rows, n_jobs)
        return scores
    return next(_listed_scores(model, base, matrix, len(trees), n_jobs))


def staged_scores(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> Iterator[np.ndarray]:
    """Scores of a boosted model after each round, float64[n, n_scores]."""
    trees, base = boosted_parts(model)
    if isinstance(trees, PackedTrees):
        return staged_boosted_scores(trees, base, matrix, n_jobs)
    return (scores.copy() for scores in _listed_scores(model, base, matrix, len(base), n_jobs))


def boosted_parts(model: ModelData) -> tuple[Trees, tuple[float, ...]]:
    """The trees of a boosted model and the base of its scores, both on the model's grid; made once."""
    if model.boosting is None:
        raise ParameterError("the model has no scores: use a model of gradient boosting")
    parts = _parts.get(model)
    if parts is None:
        trees, base = model.trees, model.boosting.base
        if isinstance(trees, PackedTrees) and model.grid is not None:
            trees = replace(trees, leaf_value=contents_of(model)[0])
        parts = _parts[model] = trees, tuple(on_grid(np.array(base), model.grid).tolist())
    return parts


def _bins_of(model: ModelData) -> Repacked | None:
    """Listed boosted trees in bins, made once; None if columns have too many cuts."""
    if model not in _bins:
        found = repacked(list(model.trees), model.schema, "gradient", (), most_parts=_MOST_PARTS)
        if found is not None:
            leaf_value = on_grid(found.trees.leaf_value, model.grid)
            found = found._replace(trees=replace(found.trees, leaf_value=leaf_value))
        _bins[model] = found
    return _bins[model]


def _listed_scores(
    model: ModelData, base: Sequence[float], matrix: np.ndarray, step: int, n_jobs: int | None
) -> Iterator[np.ndarray]:
    """Scores of boosted trees that are not packed, after each ``step`` trees; always the same array, updated."""
    contents, scores = contents_of(model), empty_sums(len(matrix), len(base))
    scores[:] = base
    for first in range(0, len(model.trees), step):
        add_listed(model, first, first + step, contents, matrix, scores, n_jobs, n_scores=len(base))
        yield scores


def staged_predictions(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> Iterator[np.ndarray]:
    """The combined prediction after each round: one tree per score, or one tree if trees have weights.

    Yields float64[n, n_values]: as ``combined`` of the rounds so far; the last is that of all. While all trees so far
    have weight 0, they count equally.
    """
    how = model.aggregation
    if how.has_scores:
        return (predictions_of_scores(model, scores) for scores in staged_scores(model, matrix, n_jobs))
    if how.sorts:
        return _medians(model, matrix, range(1, len(model.trees) + 1), n_jobs)
    return _votes(model, matrix, n_jobs)


def predictions_after(
    model: ModelData, matrix: np.ndarray, counts: Sequence[int], n_jobs: int | None = None
) -> Iterator[np.ndarray]:
    """The combined prediction of the first trees, for several numbers of trees; each tree is walked once.

    ``counts``, ascending, from 1 to the number of trees (of gradient boosting: of rounds). Yields float64[n, n_values]:
    as ``combined`` of only these trees, a new array.
    """
    how = model.aggregation
    if how.sorts:
        return _medians(model, matrix, counts, n_jobs)
    if how.has_rounds:
        wanted = set(counts)
        return (answers for at, answers in enumerate(staged_predictions(model, matrix, n_jobs), 1) if at in wanted)
    return _means(model, matrix, counts, n_jobs)


def _medians(model: ModelData, matrix: np.ndarray, counts: Sequence[int], n_jobs: int | None) -> Iterator[np.ndarray]:
    """Weighted medians of the first trees."""
    weights = model.aggregation.weights_of(len(model.trees))
    predicted = predictions_of_trees(model, matrix, n_jobs, max(counts))
    for count in counts:
        yield weighted_median(predicted[:, :count], weights[:count])[:, None]


def _votes(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> Iterator[np.ndarray]:
    """Share of the weight that votes for each class, after each tree."""
    weights = model.aggregation.weights_of(len(model.trees))
    contents, reading = contents_of(model), Reading(model, matrix, n_jobs)
    sums = empty_sums(len(matrix), contents[0].shape[1])
    total = 0.0
    alike = np.zeros_like(sums)  # of the first rounds, while no tree has a weight
    for tree, weight in enumerate(weights):
        votes = reading.of_tree(tree, contents)
        sums += votes * weight
        total += float(weight)
        if total == 0:
            alike += votes
        yield sums / total if total > 0 else alike / (tree + 1)


def _means(model: ModelData, matrix: np.ndarray, counts: Sequence[int], n_jobs: int | None) -> Iterator[np.ndarray]:
    """Means of class proportions, votes or numbers of the first trees."""
    contents = addends_of(model)
    # Numbers near the end of float64 are scaled down by a power of two before they are added.
    largest = max(float(np.abs(content).max(initial=0.0)) for content in contents)
    shift = 0 if largest * 2.0 < np.finfo(np.float64).max / len(model.trees) else len(model.trees).bit_length() + 1
    if shift:
        contents = tuple(np.ldexp(content, -shift) for content in contents)
    reading = Reading(model, matrix, n_jobs)
    sums, before = empty_sums(len(matrix), contents[0].shape[1]), 0
    for count in counts:
        reading.add(before, count, contents, sums)
        before = count
        means = together(sums / count, model.n_parts)
        yield np.ldexp(means, shift) if shift else means


def leaves_of_trees(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """int64[n, n_trees]: position of each row's leaf in every tree, as ``leaves_in_listed_tree`` chooses it."""
    trees, n, n_trees = model.trees, len(matrix), len(model.trees)
    if isinstance(trees, PackedTrees):
        return packed_leaves(trees, matrix, n_jobs)
    check_fits(n * n_trees * 8, f"{n} x {n_trees} leaf positions", "pass fewer rows")
    leaves = np.empty((n, n_trees), np.int64)
    for at, tree in enumerate(trees):
        leaves[:, at] = leaves_in_listed_tree(model, tree, matrix, n_jobs)
    return leaves


class LeafTable(NamedTuple):
    """Predictions of each node.

    ``shares`` float64[n_nodes, n_values]: class probabilities, output by output (empty for regression). ``codes``
    int32[n_nodes, n_outputs]: the most frequent class, the first of equals, or the one by the model's decision
    threshold (empty for regression). ``values`` float64[n_nodes, n_outputs]: predictions (empty for classification).
    """

    shares: np.ndarray
    codes: np.ndarray
    values: np.ndarray


_tables: WeakKeyDictionary[ModelData, LeafTable] = WeakKeyDictionary()


def leaf_table(model: ModelData) -> LeafTable:
    """Predictions of each node of a single tree, computed once."""
    table = _tables.get(model)
    if table is None:
        table = _tables[model] = _make_table(model)
    return table


def _make_table(model: ModelData) -> LeafTable:
    """Compute the predictions of every node."""
    value = model.trees[0].value
    nothing = np.empty((len(value), 0))
    if model.task == "regression":
        # A copy: kernels take arrays that can be written to, and a read-only one would be another kernel.
        return LeafTable(nothing, nothing.astype(np.int32), value.copy())
    shares = class_proportions(model, value)
    # The most frequent class by counts: the division could make neighbours equal.
    codes = first_largest(model, value) if model.threshold is None else predicted_codes(model, shares)
    return LeafTable(shares, codes, nothing)


def predict_codes(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Class codes of each row, int32[n, n_outputs]: the most probable class or the one with the most votes.

    Of equals the first. If the model has a decision threshold, it decides the class.
    """
    if not model.is_single_tree:
        return predicted_codes(model, combined(model, matrix, n_jobs))
    table, tree = leaf_table(model), model.trees[0]
    codes: np.ndarray = table.codes.take(leaf_of(tree, matrix, n_jobs), axis=0)
    if model.missing == "fractional" and len(rows := rows_with_missing(matrix)):
        codes[rows] = predicted_codes(model, average_of_leaves(tree, matrix, rows, table.shares, n_jobs))
    return codes


def predict_probabilities(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> list[np.ndarray]:
    """Class probabilities of each row, float64[n, n_classes] per output; proportions of votes if the trees vote."""
    if model.is_single_tree and model.missing != "fractional":
        shares = leaf_table(model).shares
        leaves = leaf_of(model.trees[0], matrix, n_jobs)
        return [shares[:, columns].take(leaves, axis=0) for columns in output_columns(model.n_classes)]
    if model.is_single_tree:
        predicted = contents_in_tree(model, model.trees[0], leaf_table(model).shares, matrix, n_jobs)
    else:
        predicted = combined(model, matrix, n_jobs)
    predicted = np.minimum(predicted, 1.0)  # averages of ones may be rounded to more
    return [np.ascontiguousarray(predicted[:, columns]) for columns in output_columns(model.n_classes)]


def predict_numbers(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Predicted numbers of each row: float64[n, n_outputs]."""
    if not model.is_single_tree:
        return combined(model, matrix, n_jobs)
    return contents_in_tree(model, model.trees[0], leaf_table(model).values, matrix, n_jobs)


def predict_leaves(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Position of each row's leaf, int32[n], or int64[n, n_trees] for many trees.

    For a row in several leaves the one with its largest share, the lowest of equals.
    """
    if not model.is_single_tree:
        return leaves_of_trees(model, matrix, n_jobs)
    return leaves_in_listed_tree(model, model.trees[0], matrix, n_jobs)
