"""What a fitted model is. In: schema, trees, target facts. Out: ``ModelData``.

Callers: codec, every verb, ``treewright.model``.

``ModelData`` is data only. ``treewright.model.Model`` is the same thing with the verbs as methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from treewright.data.schema import Schema
from treewright.tree.arrays import Tree
from treewright.tree.boosting import Boosting
from treewright.tree.leaf_targets import LeafTargets
from treewright.tree.packed import PackedTrees

Unseen = Literal["missing", "error", "majority"]
Combine = Literal["single", "mean", "sum", "vote", "median"]
Missing = Literal["direction", "branch", "surrogate", "fractional", "error"]


@dataclass(frozen=True, eq=False)
class ModelData:
    """A fitted model: it stands alone and never changes.

    Attributes
    ----------
    task : {"classification", "regression"}
    schema : Schema
        The columns, in the order of the encoded matrix.
    trees : tuple of Tree, or PackedTrees
        Packed trees are a sequence of ``Tree`` too, each made when it is asked for.
    classes : tuple of ndarray
        Classification: the sorted class labels of each output, in the target's own dtype. Regression: empty.
    n_outputs : int
        How many targets are predicted at once.
    combine : {"single", "mean", "sum", "vote", "median"}
        How the trees' outputs become one. ``"vote"`` (classification): the class that most trees have most of.
        ``"median"`` (regression): the weighted median of what they predict. ``"sum"``: the scores of ``boosting``.
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
    """

    task: Literal["classification", "regression"]
    schema: Schema
    trees: tuple[Tree, ...] | PackedTrees
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
