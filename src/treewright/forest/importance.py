"""How much each column matters to a model of trees. In: a model, rows with their target. Out: ``Importances``.

Three measures of a forest, each a number per tree and column, then the mean over the trees with its standard error:

    impurity     the decrease of impurity by splits on the training rows
    debiased     the same, measured on rows that the tree was not fitted on
    permutation  how much worse the tree predicts such rows when a column is shuffled among them

A tree's numbers depend only on the tree, its rows and its number in the forest, so the result does not depend on the
threads. Where trees only count together (one tree, boosting, a threshold by costs), ``shuffled_rises`` measures how
much the error of all predictions rises when a column is shuffled (Breiman 2001, "Random forests", Machine Learning 45,
section 10), a mean over several shuffles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from treewright.core import progress, threads
from treewright.core.jit import kernel
from treewright.data.derived import derived_cells, is_derived
from treewright.data.memory import check_fits
from treewright.data.schema import Column
from treewright.exceptions import DataError, ParameterError
from treewright.forest.draws import COLUMNS, choose_columns, seeds_of
from treewright.predict.ensemble import predict_codes, predict_numbers, scores_of
from treewright.predict.walks import Walk, leaf_rows_of_bins
from treewright.prune.methods import Rows
from treewright.show.spans import GAP, TextColumn, aligned
from treewright.trees.arrays import (
    CHILD_SHIFT,
    COLUMN_SHIFT,
    LEAF_RECORD,
    MAX_COLUMNS,
    MAX_SETS,
    SET_SHIFT,
    SUBSET_RECORD,
    child_of,
    column_of,
    kind_of,
    set_of,
)
from treewright.trees.data import ModelData, Trees, first_largest, output_columns, sizes_of
from treewright.trees.packed import PackedTrees
from treewright.trees.summary import counted
from treewright.trees.threshold import cost_by_class
from treewright.trees.writing import shorten, written_name

_NAME_WIDTH = 40
MOST_LINES = 40
WRONG = "increase of the misclassification rate when the column is shuffled"
COSTS = "increase of the cost per row when the column is shuffled"
SQUARED = "increase of the squared error when the column is shuffled"
_LOSS = "increase of the loss when the column is shuffled"
# By kind: of classification, of regression.
_MEANINGS = {
    "impurity": ("share of the impurity that splits removed, on the training rows",) * 2,
    "weighted": ("share of the impurity that splits removed, trees by their weights, on the training rows",) * 2,
    "gain": ("share of the gain of all splits, on the training rows",) * 2,
    "cover": ("share of the hessians of the rows that reach the tests, on the training rows",) * 2,
    "frequency": ("share of the tests",) * 2,
    "debiased": (
        "share of the Gini impurity of unseen rows that splits remove",
        "share of the variance of unseen rows that splits remove",
    ),
    "permutation": (WRONG, SQUARED),
    "error": (
        "increase of all trees' joint misclassification rate when the column is shuffled",
        "increase of all trees' joint squared error when the column is shuffled",
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Importances:
    """The importance of each column in a forest.

    Attributes
    ----------
    kind : {"impurity", "weighted", "gain", "cover", "frequency", "debiased", "permutation", "error"}
    task : {"classification", "regression"}
    names : tuple
        The names of the columns, in the order of the table.
    values : float64[p]
        Means over the trees, or over what ``sample`` names.
    standard_errors : float64[p]
        Those of the means: the standard deviation over the trees divided by the root of their number. How much the
        value would change with other trees on the same rows, not with other rows. nan for fewer than two trees.
    n_trees : int
        The number of trees (or shuffles) that count.
    sample : {"tree", "shuffle", ""}
        What the means are taken over; for boosted trees shuffles, or nothing: then there are no standard errors.
    what : str
        The meaning of the values, in words; by default that of the kind.

    Examples
    --------
    >>> print(Importances("permutation", "classification", ("a", "b"), np.array([0.0, 0.25]), np.array([0.0, 0.02]), 9))
    increase of the misclassification rate when the column is shuffled (permutation)
    mean over 9 trees, with its standard error
    column  importance   s.e.
    b            0.250  0.020
    a            0.000  0.000
    """

    kind: str
    task: str
    names: tuple[Hashable, ...]
    values: np.ndarray
    standard_errors: np.ndarray
    n_trees: int
    sample: str = "tree"
    what: str = ""

    def __post_init__(self) -> None:
        self.values.flags.writeable = self.standard_errors.flags.writeable = False

    @property
    def order(self) -> np.ndarray:
        """int64[p]: columns from the most important to the least; the first of equals first."""
        return np.argsort(-self.values, kind="stable")

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per column of the table, in its order."""
        return {
            "column": list(self.names),
            "importance": self.values.tolist(),
            "standard_error": self.standard_errors.tolist(),
        }

    def plot(self, *, most: int = 20, ax: Any = None) -> Any:
        """Draw the values as bars, a matplotlib figure; as ``treewright.show.figures.bars.importance_bars``."""
        from treewright.show.figures.bars import importance_bars

        return importance_bars(
            names=[written_name(name) for name in self.names],
            values=self.values,
            standard_errors=self.standard_errors if self.sample else None,
            xlabel=f"importance ({self.kind})",
            most=most,
            ax=ax,
        )

    @property
    def meaning(self) -> str:
        """The meaning of the values, in words."""
        if self.what:
            return self.what
        if self.sample == "shuffle" and self.kind == "permutation":
            return _LOSS
        return _MEANINGS[self.kind][self.task == "regression"]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        shown = self.order[:MOST_LINES]
        digits = _decimals(self.values)
        columns = [
            TextColumn("column", [shorten(written_name(self.names[at]), _NAME_WIDTH) for at in shown], "left"),
            TextColumn("importance", [_text(self.values[at], digits) for at in shown], "point"),
        ]
        lines = [f"{self.meaning} ({self.kind})"]
        if self.sample:
            errors = [_text(self.standard_errors[at], digits) for at in shown]
            columns.append(TextColumn("s.e.", errors, "point"))
            lines.append(f"mean over {counted(self.n_trees, self.sample)}, with its standard error")
        lines += [
            *(GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)),
        ]
        if len(shown) < len(self.names):
            lines.append(f"{len(self.names) - len(shown)} more: to_dict() has every column")
        return "\n".join(lines)


def _decimals(values: np.ndarray) -> int:
    """The number of decimals that shows the largest value with three digits or more."""
    largest = float(np.abs(values).max(initial=0.0))
    return min(12, max(0, 2 - math.floor(math.log10(largest)), 3 * (largest < 1000))) if largest > 0 else 3


def _text(value: float, digits: int) -> str:
    """A number as text, or - for nan; never -0.000."""
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}" if abs(value) < 1e9 else f"{value:.3g}"
    return text.removeprefix("-") if not float(text) else text


_TINY = float(np.finfo(np.float64).tiny)
_REMEDY = "use fewer threads (n_jobs), or evaluate on fewer rows"
_KIND_MASK = 3
_COLUMN_MASK = MAX_COLUMNS - 1
_SET_MASK = MAX_SETS - 1


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """Rows on which trees are evaluated.

    ``cells`` (uint8[n, stride], or float32 or float64 [n, p]): bins of the model's packed trees; or the encoded cells,
        if its trees are not packed.
    ``target`` (int32[n, n_outputs] or float64[n, n_outputs]): class codes, or numbers.
    ``weights`` (float64[n], > 0, or None).
    ``left_out``, from the number of a tree to the rows, int32[m], on which it is evaluated; None: all rows for every
        tree.
    """

    cells: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None = None
    left_out: Callable[[int], np.ndarray] | None = None

    def of_tree(self, tree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Copies of the cells, the target and the weights of the rows on which a tree is evaluated."""
        if self.left_out is None:
            return np.array(self.cells), self.target, self.weights
        rows = self.left_out(tree)
        return self.cells[rows], self.target[rows], None if self.weights is None else self.weights[rows]


def impurity_decrease(model: ModelData) -> Importances:
    """Importances from the decrease of impurity by splits, on the training rows.

    Each tree's sum to one, and trees without a split do not count. For boosted trees they are shares of all gains;
    trees with weights count by these. Neither has a standard error, because the trees depend on those before them.
    """
    trees, how, p = model.trees, model.aggregation, len(model.schema)
    if how.has_rounds:
        kind, values = "gain" if how.has_scores else "weighted", trees.mean_importances(p, how.weights)
        return Importances(kind, model.task, model.schema.names, values, np.full(p, np.nan), len(trees), sample="")
    by_tree = trees.importances_by_tree(p)
    return _summary(model, "impurity", by_tree[by_tree.any(axis=1)])


_BOOSTED_KINDS = ("gain", "cover", "frequency")


def boosted_importances(trees: Trees, n_columns: int, kind: Any = "gain") -> np.ndarray:
    """Return the importance of each column in the trees of a boosted model: float64[p].

    ``kind``: the gain of the column's tests; the sum of the hessians of the rows that they test; their number. Shares
    of the whole: they sum to one, or are all 0 if no tree has a split (or none has a gain). Raises ``ParameterError``:
    there is no such kind.
    """
    if kind not in _BOOSTED_KINDS:
        raise ParameterError(f"kind is {kind!r}; choose one of {', '.join(_BOOSTED_KINDS)}")
    if kind == "gain":
        return trees.mean_importances(n_columns)
    if isinstance(trees, PackedTrees):
        inner = np.flatnonzero(kind_of(trees.records) != LEAF_RECORD)
        columns, covers = _columns_tested(trees, inner), _covers_of(trees)[inner]
    else:
        columns = np.concatenate([tree.feature[~tree.is_leaf] for tree in trees])
        covers = np.concatenate([tree.weight[~tree.is_leaf] for tree in trees])
    amounts = None if kind == "frequency" else covers
    total = np.bincount(columns, amounts, minlength=n_columns).astype(np.float64)
    whole = total.sum()
    return total / whole if whole > 0 else total


def _columns_tested(packed: PackedTrees, inner: np.ndarray) -> np.ndarray:
    """int64[k]: the column that each of some inner nodes tests."""
    records = packed.records[inner]
    column = column_of(records)
    is_subset = kind_of(records) == SUBSET_RECORD
    column[is_subset] = packed.set_column[set_of(records[is_subset])]
    return column


def _covers_of(packed: PackedTrees) -> np.ndarray:
    """float64[n_nodes]: the weight of every node, from the leaves up."""
    records = packed.records
    is_leaf = kind_of(records) == LEAF_RECORD
    cover = np.zeros(len(records))
    cover[is_leaf] = packed.leaf_weight[child_of(records[is_leaf])]
    levels = []
    here = packed.roots[:-1]
    while len(here := here[~is_leaf[here]]):
        levels.append(here)
        first = child_of(records[here])
        here = np.concatenate((first, first + 1))
    for level in reversed(levels):
        first = child_of(records[level])
        cover[level] = cover[first] + cover[first + 1]
    return cover


# Shuffled columns, tree by tree --------------------------------------------------------------------------------------


def permutation_importances(
    model: ModelData, rows: EvaluationRows, *, seed: int = 0, n_threads: int = 1
) -> Importances:  # fmt: skip
    """The rises of the trees' misclassification rate or mean squared error when a column is shuffled.

    Each tree alone, on its out-of-bag rows; several outputs have a mean error. A column that a tree does not test
    cannot change its predictions, so it is not shuffled there. The row count of a level (``data.derived``) is shuffled
    with the level, since no table has that column.
    """
    if model.has_scores:
        raise ParameterError("trees of a boosted model add up and cannot be evaluated one by one: use its estimator")
    exponent = _exponent(model, rows.target)
    errors = _TreeErrors(model, exponent)
    source_of = {at: column.sources[0] for at, column in enumerate(model.schema.columns) if is_derived(column)}

    def rises(tree: int) -> np.ndarray | None:
        cells, target, weights = rows.of_tree(tree)
        if not len(cells):
            return None
        target = errors.in_units(target)
        before = errors.error(tree, cells, target, weights)
        found = np.zeros(len(model.schema))
        order = np.empty(len(cells), np.int32)
        states = seeds_of(int(seeds_of(seed, tree, 1)[0, COLUMNS]), 0, len(model.schema))[:, COLUMNS]
        for column in sorted({source_of.get(at, at) for at in model.trees.tested_columns(tree).tolist()}):
            order[:] = np.arange(len(cells))
            choose_columns(states[column], len(order), len(order), order)
            shuffled = [column, *(at for at, source in source_of.items() if source == column)]
            own = cells[:, shuffled].copy()
            cells[:, shuffled] = own[order]
            found[column] = errors.error(tree, cells, target, weights) - before
            cells[:, shuffled] = own
        return found

    check_fits(n_threads * (rows.cells.nbytes + 40 * len(rows.cells)), "the rows that evaluate a tree", _REMEDY)
    return _summary(model, "permutation", _by_tree(rises, model, n_threads), 2 * exponent)


class _TreeErrors:
    """The predictions of single trees of a model, and their errors."""

    def __init__(self, model: ModelData, exponent: int) -> None:
        self.model, self.exponent = model, exponent
        self.walk = Walk(model.trees)
        self.predicted = tuple(map(self._predicted, model.trees.values))

    def _predicted(self, value: np.ndarray) -> np.ndarray:
        """[m, n_outputs]: class codes or numbers that leaves predict."""
        if self.model.task == "classification":
            return first_largest(self.model, value)
        return self.in_units(value.astype(np.float64))

    def in_units(self, target: np.ndarray) -> np.ndarray:
        """Targets to be compared with predictions: class codes, or numbers divided by ``2**exponent``."""
        scaled: np.ndarray = np.ldexp(target, -self.exponent) if self.exponent else target
        return scaled

    def error(self, tree: int, cells: np.ndarray, target: np.ndarray, weights: np.ndarray | None) -> float:
        """Misclassification rate, or mean squared error; the target is given ``in_units``."""
        leaves, _ = self.walk.leaves(tree, cells, np.arange(len(cells), dtype=np.int32))
        predicted = self.predicted[self.walk.table(tree)][leaves]
        wrong = predicted != target if self.model.task == "classification" else np.square(predicted - target)
        return float(np.average(wrong.mean(axis=1), weights=weights))


# Unseen rows ---------------------------------------------------------------------------------------------------------


def debiased_importances(model: ModelData, rows: EvaluationRows, *, n_threads: int = 1) -> Importances:
    """Importances from the decrease of impurity by splits on rows that the tree was not fitted on.

    Shares of the evaluation rows' sum of squares about the mean of the tree's training rows (for classes, of their
    indicator columns, which gives Gini impurity). They add up to the share that the tree explains. About 0, and as
    often below as above, for a column that has nothing to do with the target.

    Li, Wang, Basu, Kumbier and Yu 2019, "A debiased MDI feature importance measure for random forests", NeurIPS 32,
    equation (7): with f_k(x) the sum, over the nodes on the path of x that test column k, of the child's mean minus the
    node's, the measure is the mean of f_k(x) y. On a tree's own training rows that is the decrease of impurity; on
    out-of-bag rows it has no bias by chance. The mean of the tree's training rows is subtracted from the target, which
    changes neither the measure on these nor its expectation, and avoids rounding errors of large numbers. For any
    criterion of the trees, the measure is that of the variance or of Gini impurity.
    """
    trees = model.trees
    if not isinstance(trees, PackedTrees):
        raise ParameterError(
            "debiased importances need means, and the leaves of these trees hold medians (criterion="
            f"{model.facts.get('criterion')!r}): use kind='permutation'"
        )
    n_values = trees.leaf_value.shape[1]
    size = 16 * n_values * int(np.diff(trees.roots).max()) + rows.cells.nbytes + 8 * n_values * len(rows.cells)
    check_fits(n_threads * size, "the sums of a tree's nodes", _REMEDY)

    exponent = _exponent(model, rows.target)

    def gains(tree: int) -> np.ndarray | None:
        cells, target, weights = rows.of_tree(tree)
        return _gains_of_tree(model, trees, tree, cells, target, weights, exponent) if len(cells) else None

    return _summary(model, "debiased", _by_tree(gains, model, n_threads))


def _gains_of_tree(
    model: ModelData,
    packed: PackedTrees,
    tree: int,
    cells: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray | None,
    exponent: int,
) -> np.ndarray:
    """float64[p]: the gains of a tree's splits on some rows, as shares of their sum of squares about its mean."""
    begin, end = packed.roots[tree : tree + 2].tolist()
    records = np.array(packed.records[begin:end])
    leaves = np.flatnonzero(kind_of(records) == LEAF_RECORD)
    kept = child_of(records[leaves])
    value = packed.leaf_value[kept].astype(np.float64)
    inside, outside = np.zeros((2, len(records), value.shape[1]))
    weight = np.zeros(len(records))
    if model.task == "classification":
        weight[leaves] = value[:, output_columns(model.n_classes)[0]].sum(axis=1)
        inside[leaves] = value
    else:
        value, target = np.ldexp(value, -exponent), np.ldexp(target, -exponent)
        weight[leaves] = packed.leaf_weight[kept]
        inside[leaves] = value * weight[leaves, None]
    mean = inside.sum(axis=0) / weight.sum()
    inside[leaves] -= weight[leaves, None] * mean
    # For classes, their indicator columns of 0 and 1.
    columns = [target[:, output, None] == np.arange(n) for output, n in enumerate(model.n_classes)] or [target]
    apart = np.concatenate(columns, axis=1) - mean
    squares = np.square(apart).sum(axis=1)
    if weights is not None:
        apart, squares = apart * weights[:, None], squares * weights
    ends = leaf_rows_of_bins(packed, cells, np.arange(len(cells), dtype=np.int32), tree, as_positions=True)
    for at in range(apart.shape[1]):
        outside[:, at] = np.bincount(ends, apart[:, at], minlength=len(records))
    gains = np.zeros(len(model.schema))
    add_up_gains(records, begin, np.array(packed.set_column), inside, weight, outside, gains)
    whole = squares.sum()
    return gains / whole if whole > 0 else np.zeros(len(gains))


@kernel
def add_up_gains(records, first, set_column, inside, weight, outside, gains):
    """Add up the gains of a tree's nodes, each to the column that its node tests.

    The value of a node is ``outside . inside / weight``: the product of its evaluation rows with the mean of its
    training rows. The gain of a split is the sum of its children's values minus that of the node. Sums go up from the
    leaves: children follow their parents, so one pass from the last node to the first has both children ready at every
    parent, for any depth.

    Parameters
    ----------
    records : int64[n_nodes], IN
        Those of one tree.
    first : int64
        The number of its first record among those of all trees; children are numbered from it.
    set_column : int32[n_sets], IN
        Those of all trees.
    inside : float64[n_nodes, k]
        Sums over the training rows; leaves IN, inner nodes OUT.
    weight : float64[n_nodes]
        Weight of the training rows, as ``inside``.
    outside : float64[n_nodes, k]
        Sums over the evaluation rows, as ``inside``.
    gains : float64[p]
        Added to.
    """
    for node in range(len(records) - 1, -1, -1):
        packed = records[node]
        if packed & _KIND_MASK == 0:
            continue
        left = (packed >> CHILD_SHIFT) - first
        weight[node] = weight[left] + weight[left + 1]
        gain = 0.0
        for at in range(inside.shape[1]):
            inside[node, at] = inside[left, at] + inside[left + 1, at]
            outside[node, at] = outside[left, at] + outside[left + 1, at]
            gain += outside[left, at] * (inside[left, at] / weight[left])
            gain += outside[left + 1, at] * (inside[left + 1, at] / weight[left + 1])
            gain -= outside[node, at] * (inside[node, at] / weight[node])
        if packed & _KIND_MASK == SUBSET_RECORD:
            gains[set_column[(packed >> SET_SHIFT) & _SET_MASK]] += gain
        else:
            gains[(packed >> COLUMN_SHIFT) & _COLUMN_MASK] += gain


# Means over the trees ------------------------------------------------------------------------------------------------


def _by_tree(measure: Callable[[int], np.ndarray | None], model: ModelData, n_threads: int) -> np.ndarray:
    """float64[k, p]: the measure of each tree that has evaluation rows, in their order."""
    n_trees = len(model.trees)
    found: list[np.ndarray | None] = [None] * n_trees
    done = count(1)

    def work(task: int, thread: int) -> None:
        found[task] = measure(task)
        progress.report(next(done) / n_trees, "evaluating trees")

    threads.run_each(work, n_trees, max(1, min(n_threads, n_trees)))
    kept = [each for each in found if each is not None]
    if not kept:
        raise DataError("every tree sampled all rows, so none is out of bag: give other rows (rows='all')")
    return np.array(kept)


def _exponent(model: ModelData, target: np.ndarray) -> int:
    """The exponent of two that bounds targets and predictions; divided by it, their squares stay within float64."""
    if model.task == "classification":
        return 0
    return int(np.frexp(max(float(np.abs(each).max()) for each in (target, *model.trees.values)))[1])


def _summary(model: ModelData, kind: str, by_tree: np.ndarray, exponent: int = 0) -> Importances:
    """Means over the trees, and their standard errors, of numbers in units of ``2**exponent``."""
    n, p = len(by_tree), len(model.schema)
    total = by_tree.sum(axis=0) if n else np.zeros(p)
    # A share of the sum, bit-identical to feature_importances_.
    values = total / total.sum() if kind == "impurity" and n else total / max(n, 1)
    errors = by_tree.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(p, np.nan)
    if exponent:
        values, errors = _scaled(values, exponent), _scaled(errors, exponent)
    return Importances(kind, model.task, model.schema.names, values, errors, n)


def _scaled(values: np.ndarray, exponent: int) -> np.ndarray:
    """Squared errors times ``2**exponent``; a DataError if the largest is beyond float64."""
    with np.errstate(over="ignore", under="ignore"):
        scaled: np.ndarray = np.ldexp(values, exponent)
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > 0 and not _TINY <= np.nanmax(np.abs(scaled)) < np.inf:
        raise DataError(
            "the squares of the numbers in y are beyond float64, so the squared error cannot be computed: "
            f"divide y by {2.0 ** (exponent // 2):.0e} before the fit, or use kind='debiased', which has no unit"
        )
    return scaled


# Shuffled columns, all trees together --------------------------------------------------------------------------------


def shuffled_rises(
    error: Callable[[np.ndarray], float], cells: np.ndarray, used: np.ndarray, n_repeats: int, seed: int,
    columns: Sequence[Column] = (),
) -> np.ndarray:  # fmt: skip
    """How much an error of all predictions rises when a column is shuffled.

    Columns derived from it (``data.derived``) are computed anew from the shuffled one; they are not shuffled
    themselves, as no table has them.

    ``error`` gives the error for encoded rows, ``cells``. Only columns that the model uses are shuffled (``used``,
    int64[k]); the rise of others is 0.

    Returns float64[n_repeats, p]. Raises ``DataError``: the error is beyond float64, for the rows as they are or with a
    column shuffled.
    """
    check_fits(8 * cells.size, "a copy of the rows", "judge on fewer rows")
    matrix = np.array(cells, order="F")
    before = error(matrix)
    if not np.isfinite(before):
        raise DataError("the loss of these rows is beyond float64, so its rise cannot be computed")
    found = np.zeros((n_repeats, cells.shape[1]))
    order = np.empty(len(matrix), np.int32)
    derived = {at: each for at, each in enumerate(columns) if is_derived(each)}
    sources = {at for made in used.tolist() if made in derived for at in derived[made].sources}
    shuffled = sorted(({*used.tolist()} | sources) - {*derived})
    for done, column in enumerate(shuffled):
        made_of_it = [at for at, each in derived.items() if column in each.sources]
        own, made = matrix[:, column].copy(), matrix[:, made_of_it].copy()
        states = seeds_of(int(seeds_of(seed, column, 1)[0, COLUMNS]), 0, n_repeats)[:, COLUMNS]
        for repeat in range(n_repeats):
            order[:] = np.arange(len(matrix))
            choose_columns(states[repeat], len(order), len(order), order)
            matrix[:, column] = own[order]
            for place, at in enumerate(made_of_it):
                alone = len(derived[at].sources) == 1
                matrix[:, at] = made[order, place] if alone else derived_cells(columns, at, matrix)
            found[repeat, column] = error(matrix) - before
        matrix[:, column], matrix[:, made_of_it] = own, made
        progress.report((done + 1) / len(shuffled), "shuffling columns")
    if not np.isfinite(found).all():
        raise DataError("the loss of these rows with a column shuffled is beyond float64: its rise cannot be computed")
    return found


def error_of_predictions(
    predict: Callable[[np.ndarray], np.ndarray], task: str, target: np.ndarray, weights: np.ndarray | None,
    by_class: np.ndarray | None = None,
) -> Callable[[np.ndarray], float]:  # fmt: skip
    """Return a function from rows to the error of the predictions: misclassification rate, cost or mean squared error.

    ``predict`` gives int[n, n_outputs] class codes, or float64[n, n_outputs]; ``by_class``, float64[2], is what a wrong
    prediction costs, by the true class (``threshold.cost_by_class``).
    """

    def error(cells: np.ndarray) -> float:
        predicted = predict(cells)
        if task == "classification":
            wrong = (predicted != target).astype(np.float64)
            if by_class is not None:
                wrong *= by_class[target]
        else:
            with np.errstate(over="ignore"):
                wrong = np.square(predicted - target)
        return float(np.average(wrong.mean(axis=1), weights=weights))

    return error


def permutation_of_trees(
    model: ModelData, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, *, n_repeats: int, seed: int,
    n_jobs: int | None, kind: str = "permutation", what: str | None = None, among: np.ndarray | None = None,
) -> Importances:  # fmt: skip
    """How much the error of all trees together rises when a column is shuffled, a mean over the repeats.

    If costs chose the decision threshold of the model, the error is the cost of the mistakes.

    ``matrix``, ``target`` and ``weights`` (above 0) are encoded rows. ``kind`` and ``what`` are as ``Importances`` has
    them. Only columns of ``among``, bool[p], are shuffled; the rise of the others is 0.
    """
    is_classes, by_class = model.task == "classification", cost_by_class(model)
    if what is None or by_class is not None:
        what = SQUARED if not is_classes else WRONG if by_class is None else COSTS
    predict = predict_codes if is_classes else predict_numbers
    error = error_of_predictions(lambda cells: predict(model, cells, n_jobs), model.task, target, weights, by_class)
    # A surrogate test may replace a test on a missing cell, so any column can change a prediction.
    used = np.arange(len(model.schema)) if model.missing == "surrogate" else np.flatnonzero(sizes_of(model).n_tests)
    if among is not None:
        used = used[among[used]]
    made_of = model.schema.columns if model.has_scores else ()  # boosted trees have derived columns
    by_repeat = shuffled_rises(error, matrix, used, n_repeats, seed, made_of)
    return mean_of_repeats(by_repeat, model.task, model.schema.names, kind, what)


def permutation_of_boosted(
    model: ModelData, losses: Sequence[Any], rows: Rows, n_repeats: int, seed: int, n_jobs: int,
    among: np.ndarray | None = None,
) -> Importances:  # fmt: skip
    """How much the weighted mean loss of boosted trees rises when a column is shuffled, a mean over the repeats.

    There is one loss per target (``boosting.losses``). Only columns of ``among``, bool[p], are shuffled.
    """
    used = np.flatnonzero(sizes_of(model).n_tests if among is None else sizes_of(model).n_tests * among)

    def error(cells: np.ndarray) -> float:
        scores, at, total = scores_of(model, cells, n_jobs), 0, 0.0
        for output, loss in enumerate(losses):
            own = np.ascontiguousarray(scores[:, at : at + loss.n_scores].T)
            values = loss.values(np.ascontiguousarray(rows.target[:, output]), own)
            total += float(np.average(values, weights=rows.weights))
            at += loss.n_scores
        return total

    by_repeat = shuffled_rises(error, rows.matrix, used, n_repeats, seed, model.schema.columns)
    return mean_of_repeats(by_repeat, model.task, model.schema.names, "permutation", "")


def mean_of_repeats(by_repeat: np.ndarray, task: Any, names: tuple[Hashable, ...], kind: str, what: str) -> Importances:
    """The means of float64[n_repeats, p] over the shuffles, with their standard errors."""
    n_repeats = len(by_repeat)
    # Sums and squares of numbers near the end of float64 overflow; powers of two change no digit.
    exponents = np.frexp(np.abs(by_repeat).max(axis=0))[1]
    small = np.ldexp(by_repeat, -exponents)
    errors = np.full(by_repeat.shape[1], np.nan)
    if n_repeats > 1:
        errors = np.ldexp(small.std(axis=0, ddof=1) / np.sqrt(n_repeats), exponents)
    means = np.ldexp(small.mean(axis=0), exponents)
    return Importances(kind, task, names, means, errors, n_repeats, sample="shuffle", what=what)
