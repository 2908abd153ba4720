"""The data of a fitted model: its columns, its trees, and how these are combined into a prediction.

``ModelData`` is data only. ``treewright.fitted.Model`` is the same with the verbs as methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from treewright.data.encoder import encode
from treewright.data.schema import Schema
from treewright.data.take import warn_of_another_order
from treewright.data.target import check_lengths, check_weights, encode_labels, encode_numbers, recode
from treewright.data.weights import class_factors, weighed
from treewright.exceptions import DataError
from treewright.model.aggregation import Aggregation, Boosting, Combine, Grid, aggregation_of, grid_of, grids_of
from treewright.model.leaf_targets import LeafTargets
from treewright.model.pickled import stamped, unstamped
from treewright.model.threshold import Threshold, positive_label
from treewright.model.trees import BoostedTrees, ListedTrees, Trees
from treewright.tree.arrays import Missing
from treewright.tree.packed import PackedTrees
from treewright.tree.records import child_of
from treewright.tree.walk import Sizes

Unseen = Literal["missing", "error", "majority"]


@dataclass(frozen=True, eq=False)
class ModelData:
    """The data of a fitted model: self-contained and immutable.

    Attributes
    ----------
    task : {"classification", "regression"}
    schema : Schema
        The columns, in the order of the encoded matrix.
    trees : ListedTrees or PackedTrees
        Sequences of ``Tree`` (``model.trees``); a plain tuple becomes ``ListedTrees``.
    classes : tuple of ndarray
        Classification: the sorted class labels of each output, in the target's own dtype. Regression: empty.
    n_outputs : int
        The number of predicted targets.
    combine : {"single", "mean", "sum", "vote", "median"}
        How the outputs of the trees are combined, by its name in files; ``aggregation`` is the same as an object.
    unseen : {"missing", "error", "majority"}
        How a level that fit never saw is treated.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        The branch that missing values follow: the node's ``missing_branch`` (``direction``, ``branch``), that of the
        first surrogate with a value (``surrogate``), every branch in part (``fractional``), or none (``error``).
    target_names : tuple of str
        A name per output; empty if the target had none.
    facts : dict
        Training facts that are plain JSON: algorithm, criterion, parameters, rows, version. Never thread counts.
    leaf_targets : LeafTargets or None
        The targets in the leaves, if a regression forest keeps them.
    boosting : Boosting or None
        For ``combine="sum"``: the base and the link of the scores. The trees then hold numbers, also for
        classification: ``PackedTrees`` or ``BoostedTrees``.
    tree_weights : float64[n_trees] or None
        The weights of the trees in a vote or a median; None: equal weights.
    threshold : Threshold or None
        The decision threshold for one of two classes; None: the more probable class is predicted.
    grid : tuple of int, or None
        Exponents of two. With one, the values of trees in a mean, a vote or a sum are rounded to multiples of
        ``2**grid[0]`` before they are added, so that sums are exact in any order (``aggregation.grid_of``). With
        several, a value is the sum of a multiple of each (``aggregation.parts_of``), without rounding: the parts have
        sums of their own, and the mean of equal values is that value. None: values are added as they are. Rows that are
        divided among branches get averages, which are not on a grid.
    """

    task: Literal["classification", "regression"]
    schema: Schema
    trees: Trees
    classes: tuple[np.ndarray, ...] = ()
    n_outputs: int = 1
    combine: Combine = "single"
    unseen: Unseen = "missing"
    missing: Missing = "direction"
    target_names: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    leaf_targets: LeafTargets | None = None
    boosting: Boosting | None = None
    tree_weights: np.ndarray | None = None
    threshold: Threshold | None = None
    grid: Grid | None = None

    has_trees = True  # not a field, as it has no annotation

    def __post_init__(self) -> None:
        given: Any = self.trees
        if type(given) is tuple:
            listed = ListedTrees if self.boosting is None else BoostedTrees
            object.__setattr__(self, "trees", listed(given))

    def __getstate__(self) -> dict[str, Any]:
        return stamped(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unstamped(state, type(self).__name__))
        self.__post_init__()  # skops writes tuples of all kinds as plain tuples, and trees come back as one

    @property
    def n_parts(self) -> int:
        """The number of parts of each value that have sums of their own."""
        return 1 if self.grid is None else len(self.grid)

    @property
    def aggregation(self) -> Aggregation:
        """How the trees are combined, as an object."""
        return aggregation_of(self.combine, self.boosting, self.tree_weights, self.grid)

    @property
    def is_single_tree(self) -> bool:
        """Whether the model is a single tree, which can be shown, pruned and written as rules."""
        return self.combine == "single"

    @property
    def has_scores(self) -> bool:
        """Whether the trees add up to scores, as in gradient boosting."""
        return self.boosting is not None

    @property
    def has_rounds(self) -> bool:
        """Whether the trees were fitted in rounds, each to the errors of those before it."""
        return self.aggregation.has_rounds

    @property
    def n_classes(self) -> tuple[int, ...]:
        """Classes per output; empty for regression."""
        return tuple(len(labels) for labels in self.classes)

    @property
    def n_targets(self) -> int:
        """The number of target columns; several quantiles are of one column."""
        return 1 if self.boosting is not None and self.boosting.link == "sorted" else self.n_outputs

    @property
    def positive(self) -> Any:
        """The label of the positive class of two: that of the threshold, of the fit, or the second; else None."""
        return positive_label(self)

    @property
    def counted_classes(self) -> tuple[int, ...]:
        """Classes per output whose counts the trees hold; empty if they hold numbers."""
        return () if self.boosting is not None else self.n_classes


AnyModel = TypeVar("AnyModel", bound=ModelData)


def sizes_of(model: ModelData) -> Sizes:
    """The sizes of the trees and the columns that they test."""
    return model.trees.sizes(len(model.schema))


# Of boosted trees: steps of the grid are at most 2**-32 of a typical sum. If the largest sum is 2**21 times a typical
# one, there is none.
_MOST_APART = 2.0**21


def with_grid(model: AnyModel) -> AnyModel:
    """The same model with the values of its trees on grids, so that their sums are exact in any order.

    A mean has as many grids as hold every value exactly. A sum of boosted trees and weights of votes have one, to which
    they are rounded: a sum of different addends is rounded anyway. One tree and medians do not change, nor numbers
    whose sum is beyond float64, nor boosted trees with numbers so much larger than typical ones that their grid would
    be coarse for these.
    """
    how, n_trees = model.aggregation, len(model.trees)
    if how.is_single or how.sorts:
        return model
    if how.votes:
        return replace(model, grid=_one_grid(float(how.weights_of(n_trees).sum())))
    if how.has_scores:
        bound, typical = sums_of_sizes(model)
        return replace(model, grid=_one_grid(bound) if bound <= _MOST_APART * typical else None)
    if n_trees == 1:  # nothing is added up
        return replace(model, grid=None)
    bound = float(n_trees) if model.task == "classification" else sums_of_sizes(model)[0]
    trees, loose = model.trees, replace(model, grid=None)
    said = trees.leaf_value if isinstance(trees, PackedTrees) else _said_by_trees(trees)[0]
    return replace(model, grid=grids_of(how.content(loose, said), bound, n_trees, model.counted_classes))


def _one_grid(bound: float) -> Grid | None:
    exponent = grid_of(bound)
    return None if exponent is None else (exponent,)


def sums_of_sizes(model: ModelData) -> tuple[float, float]:
    """An upper bound of all sums over the trees, and one of the sums of typical leaves.

    For several outputs or scores the largest, and the smallest that is not 0. A typical leaf is the median of a tree by
    absolute value, among those that are not 0.
    """
    base = np.zeros(1) if model.boosting is None else np.abs(np.array(model.boosting.base))
    largest, typical = np.zeros((2, len(model.trees), 1 if model.boosting is not None else model.n_outputs))
    said, counts = _said_by_trees(model.trees)
    ends, tree = np.cumsum(counts), np.repeat(np.arange(len(counts)), counts)
    begins = ends - counts
    for output, sizes in enumerate(np.abs(said).T):
        ascending = sizes[np.lexsort((sizes, tree))]
        n_zeros = np.add.reduceat((ascending == 0).astype(np.int64), begins)
        largest[:, output] = ascending[ends - 1]
        typical[:, output] = ascending[begins + np.minimum((n_zeros + counts) // 2, counts - 1)]
    with np.errstate(over="ignore"):
        if model.boosting is not None:
            bounds, usual = (each.reshape(-1, len(base)).sum(axis=0) + base for each in (largest, typical))
        else:
            bounds, usual = largest.sum(axis=0), typical.sum(axis=0)
    return float(bounds.max()), float(min(usual[usual > 0], default=0.0))


def _said_by_trees(trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """The values of the leaves, tree by tree, float[n_leaves, k]; and how many each tree has."""
    if not isinstance(trees, PackedTrees):
        said = [tree.value[tree.is_leaf] for tree in trees]
        return np.concatenate(said), np.array([len(each) for each in said])
    is_leaf = trees.is_leaf
    counts = np.add.reduceat(is_leaf.astype(np.int64), trees.roots[:-1])
    return trees.leaf_value[child_of(trees.records)[is_leaf]], counts


def labels_of(classes: tuple[np.ndarray, ...], codes: np.ndarray) -> np.ndarray:
    """The labels of class codes, as ``predict`` returns them.

    Parameters
    ----------
    classes : tuple of ndarray
        Per output the sorted labels.
    codes : int[n, n_outputs]

    Returns
    -------
    ndarray[n], or ndarray[n, n_outputs] for several outputs

    Examples
    --------
    >>> labels_of((np.array(["no", "yes"]),), np.array([[1], [0]])).tolist()
    ['yes', 'no']
    """
    if len(classes) == 1:
        return classes[0].take(codes[:, 0])
    return np.stack([labels.take(codes[:, output]) for output, labels in enumerate(classes)], axis=1)


def classes_as_estimators_have_them(classes: tuple[np.ndarray, ...]) -> np.ndarray | list[np.ndarray]:
    """The labels as ``classes_``: an array, or a list for several outputs; an ``AttributeError`` for regression."""
    if not classes:
        raise AttributeError("a regression model has no classes")
    return classes[0] if len(classes) == 1 else list(classes)


def quantile_levels(model: Any) -> tuple[float, ...]:
    """The levels of the quantiles that a boosted model predicts for one target; empty for any other model."""
    loss = model.facts.get("loss")
    if not model.has_scores or not isinstance(loss, dict) or loss.get("name") != "quantile":
        return ()
    given = loss.get("quantile")
    levels = given if isinstance(given, list) else [given]
    if len(levels) != model.n_outputs or not all(isinstance(level, float) for level in levels):
        return ()
    return tuple(levels)


def rows_with_target(
    model: ModelData, X: Any, y: Any, sample_weight: Any, *, owner: str, routed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows, target and weights as numbers; rows of weight 0 are left out.

    Parameters, results and errors are those of ``Model.encode_rows``.
    """
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    unseen = "missing" if model.unseen == "majority" and not routed else model.unseen
    matrix = encode(model.schema, X, unseen=unseen, owner=owner, missing=model.missing)
    target = encoded_target(model, y, len(matrix))
    weights = check_weights(sample_weight, len(matrix))
    if model.task == "classification":
        weights = weighed(weights, class_factors(model.facts, target, model.classes), target)
    if weights is not None and not weights.all():
        kept = weights > 0
        matrix, target, weights = matrix[kept], target[kept], weights[kept]
    return matrix, target, weights


def encoded_target(model: Any, y: Any, n: int) -> np.ndarray:
    """Class codes of a model int32[n, n_outputs], or numbers float64[n, n_outputs]."""
    if model.task == "classification":
        labels = encode_labels(y)
        check_lengths(n, labels)
        return recode(labels, model.classes)
    numbers = encode_numbers(y)
    check_lengths(n, numbers)
    if numbers.values.shape[1] != model.n_targets:
        raise DataError(f"y has {numbers.values.shape[1]} outputs, and the model has {model.n_targets}")
    return numbers.values
