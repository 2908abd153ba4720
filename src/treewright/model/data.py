"""What a fitted model is: its columns, its trees, and what makes of their answers a prediction.

``ModelData`` is data only. ``treewright.fitted.Model`` is the same thing with the verbs as methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from treewright.data.encoder import encode
from treewright.data.schema import Schema
from treewright.data.target import check_lengths, check_weights, encode_labels, encode_numbers, recode
from treewright.data.weights import class_factors, weighed
from treewright.exceptions import DataError, ParameterError
from treewright.model.aggregation import Aggregation, Boosting, Combine, aggregation_of
from treewright.model.leaf_targets import LeafTargets
from treewright.model.pickled import stamped, unstamped
from treewright.model.threshold import Threshold
from treewright.model.trees import ListedTrees, Trees
from treewright.tree.arrays import Missing
from treewright.tree.packed import PackedTrees
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
        Of ``combine="sum"``: where scores begin and how they are read. The trees are packed trees of numbers then, also
        where classes are predicted.
    tree_weights : float64[n_trees] or None
        How much each tree counts in a vote or a median; None: all alike.
    threshold : Threshold or None
        From which share on one of two classes is predicted; None: the class with the larger share.
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

    has_trees = True  # without an annotation: it is no field

    def __post_init__(self) -> None:
        given: Any = self.trees
        if type(given) is tuple:
            object.__setattr__(self, "trees", ListedTrees(given))

    def __getstate__(self) -> dict[str, Any]:
        return stamped(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unstamped(state, type(self).__name__))
        self.__post_init__()  # who writes tuples of all kinds as tuples (skops) gives trees back as one

    @property
    def aggregation(self) -> Aggregation:
        """What the trees say together, as a value."""
        return aggregation_of(self.combine, self.boosting, self.tree_weights)

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


def sizes_of(model: ModelData) -> Sizes:
    """How large the trees are and which columns they ask."""
    return model.trees.sizes(len(model.schema))


def boosted_parts(model: ModelData) -> tuple[PackedTrees, Boosting]:
    """The trees of a boosted model, and what makes their sum an answer."""
    if model.boosting is None or not isinstance(model.trees, PackedTrees):
        raise ParameterError("the model has no scores: only the trees of gradient boosting add to one")
    return model.trees, model.boosting


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
