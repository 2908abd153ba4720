"""What a fitted model is: its columns, its trees, and what makes of their answers a prediction.

``ModelData`` is data only. ``treewright.fitted.Model`` is the same thing with the verbs as methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np

from treewright.data.encoder import encode
from treewright.data.schema import Schema
from treewright.data.target import check_lengths, check_weights, encode_labels, encode_numbers, recode
from treewright.data.weights import class_factors, weighed
from treewright.exceptions import DataError
from treewright.model.aggregation import Aggregation, Boosting, Combine, aggregation_of, grid_of
from treewright.model.leaf_targets import LeafTargets
from treewright.model.pickled import stamped, unstamped
from treewright.model.threshold import Threshold
from treewright.model.trees import BoostedTrees, ListedTrees, Trees
from treewright.tree.arrays import Missing
from treewright.tree.packed import PackedTrees
from treewright.tree.records import child_of
from treewright.tree.walk import Sizes

Unseen = Literal["missing", "error", "majority"]


@dataclass(frozen=True, eq=False)
class ModelData:
    """A fitted model: it stands alone and never changes.

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
        How many targets are predicted at once.
    combine : {"single", "mean", "sum", "vote", "median"}
        How the trees' outputs become one, as files name it; ``aggregation`` is the same as a value.
    unseen : {"missing", "error", "majority"}
        What a level that fit never saw is taken for.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        Which way a missing value goes: the node's ``missing_branch`` (``direction``, ``branch``), the first surrogate
        that answers (``surrogate``), every branch in part (``fractional``), or nowhere (``error``).
    target_names : tuple of str
        A name per output; empty where the target had none.
    facts : dict
        Training facts that are plain JSON: algorithm, criterion, parameters, rows, version. Never thread counts.
    leaf_targets : LeafTargets or None
        Which targets lie in the leaves, where a forest for numbers was asked to keep them.
    boosting : Boosting or None
        Of ``combine="sum"``: where scores begin and how they are read. The trees hold numbers then, also where classes
        are predicted: ``PackedTrees`` or ``BoostedTrees``.
    tree_weights : float64[n_trees] or None
        How much each tree counts in a vote or a median; None: all alike.
    threshold : Threshold or None
        From which share on one of two classes is predicted; None: the class with the larger share.
    grid : int or None
        What the trees of a mean, a vote or a sum say is rounded to multiples of ``2**grid`` before it is added, so that
        sums are exact in any order (``aggregation.grid_of``); None: it is added as it is. Not so where rows are divided
        over branches: what they get are averages.
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
    grid: int | None = None

    has_trees = True  # without an annotation: it is no field

    def __post_init__(self) -> None:
        given: Any = self.trees
        if type(given) is tuple:
            listed = ListedTrees if self.boosting is None else BoostedTrees
            object.__setattr__(self, "trees", listed(given))

    def __getstate__(self) -> dict[str, Any]:
        return stamped(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unstamped(state, type(self).__name__))
        self.__post_init__()  # who writes tuples of all kinds as tuples (skops) gives trees back as one

    @property
    def aggregation(self) -> Aggregation:
        """What the trees say together, as a value."""
        return aggregation_of(self.combine, self.boosting, self.tree_weights, self.grid)

    @property
    def is_single_tree(self) -> bool:
        """Whether the model is one tree that answers alone, which can be shown, pruned and written as rules."""
        return self.combine == "single"

    @property
    def has_scores(self) -> bool:
        """Whether the trees add to scores, as those of gradient boosting do."""
        return self.boosting is not None

    @property
    def has_rounds(self) -> bool:
        """Whether the trees were grown round by round, each for what those before it got wrong."""
        return self.aggregation.has_rounds

    @property
    def n_classes(self) -> tuple[int, ...]:
        """Classes per output; empty for regression."""
        return tuple(len(labels) for labels in self.classes)

    @property
    def n_targets(self) -> int:
        """How many columns the target has: several quantiles are of one."""
        return 1 if self.boosting is not None and self.boosting.link == "sorted" else self.n_outputs

    @property
    def counted_classes(self) -> tuple[int, ...]:
        """Classes per output whose counts the trees hold; empty where they hold numbers."""
        return () if self.boosting is not None else self.n_classes


AnyModel = TypeVar("AnyModel", bound=ModelData)


def sizes_of(model: ModelData) -> Sizes:
    """How large the trees are and which columns they ask."""
    return model.trees.sizes(len(model.schema))


# Grid steps to a typical sum: 2**-32 of it. Where the largest sum is 2**21 times a typical one, there is no grid.
_MOST_APART = 2.0**21


def with_grid(model: AnyModel) -> AnyModel:
    """The same model, whose sums over trees are exact in any order: what trees say is rounded to a grid.

    A single tree and medians stay as they are, and so do numbers whose sum is beyond float64, or so much larger than
    typical ones that the grid of the largest would be coarse for these: an outlier, outputs of unlike scales.
    """
    how, n_trees = model.aggregation, len(model.trees)
    if how.is_single or how.sorts:
        return model
    if how.votes or (model.task == "classification" and not how.has_scores):
        bound = typical = float(how.weights_of(n_trees).sum())  # shares and votes are at most 1
    else:
        bound, typical = sums_of_sizes(model)
    return replace(model, grid=grid_of(bound) if bound <= _MOST_APART * typical else None)


def sums_of_sizes(model: ModelData) -> tuple[float, float]:
    """No sum of what trees say is larger than the first number; of typical leaves none is larger than the second.

    Of several outputs or scores the largest, and the smallest that is not 0. A typical leaf is the middle one of a tree
    by size, among those that say more than 0.
    """
    base = np.zeros(1) if model.boosting is None else np.abs(np.array(model.boosting.base))
    largest, typical = np.zeros((2, len(model.trees), 1 if model.boosting is not None else model.n_outputs))
    for at, said in enumerate(_said_by_trees(model.trees)):
        sizes = np.sort(np.abs(said), axis=0)
        largest[at] = sizes[-1]
        n_zeros = (sizes == 0).sum(axis=0)
        middle = np.minimum((n_zeros + len(sizes)) // 2, len(sizes) - 1)
        typical[at] = np.take_along_axis(sizes, middle[None], axis=0)[0]
    with np.errstate(over="ignore"):
        if model.boosting is not None:
            bounds, usual = (each.reshape(-1, len(base)).sum(axis=0) + base for each in (largest, typical))
        else:
            bounds, usual = largest.sum(axis=0), typical.sum(axis=0)
    return float(bounds.max()), float(min(usual[usual > 0], default=0.0))


def _said_by_trees(trees: Trees) -> Iterator[np.ndarray]:
    """What the leaves of each tree say: float[n_leaves, k]."""
    if not isinstance(trees, PackedTrees):
        yield from (tree.value[tree.is_leaf] for tree in trees)
        return
    is_leaf, rows = trees.is_leaf, child_of(trees.records)
    for begin, end in pairwise(trees.roots.tolist()):
        yield trees.leaf_value[rows[begin:end][is_leaf[begin:end]]]


def labels_of(classes: tuple[np.ndarray, ...], codes: np.ndarray) -> np.ndarray:
    """The labels that ``predict`` gives.

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
    """The labels as ``classes_``: the array of one output, or a list of arrays; of numbers an ``AttributeError``."""
    if not classes:
        raise AttributeError("a regression model has no classes")
    return classes[0] if len(classes) == 1 else list(classes)


def quantile_levels(model: Any) -> tuple[float, ...]:
    """The levels of the quantiles that a boosted model predicts of one target; empty for any other model."""
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
        raise DataError(f"y has {numbers.values.shape[1]} outputs, the model has {model.n_targets}")
    return numbers.values
