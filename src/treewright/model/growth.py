"""How the trees of a model were grown, by its facts, and therefore the candidates for the tests of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treewright.model.data import ModelData
from treewright.tree.arrays import Tree
from treewright.tree.class_criteria import CLASSIFICATION_CRITERIA
from treewright.tree.wording import NodeTest, describe

# The node-by-node grower lists the candidates of their nodes.
SEARCHED = ("cart", "id3", "c45", "chaid")
# Forests whose nodes sample columns, on bins or with random cuts.
FORESTS = {
    "random_forest": "a random forest",
    "extra_trees": "extra-trees",
    "isolation_forest": "an isolation forest",
}
GRADIENT_BOOSTING, ADABOOST = "gradient_boosting", "adaboost"
# Why the rows and their target do not show how a test of these was chosen.
BOOSTED = {
    GRADIENT_BOOSTING: "is chosen by gradients, which depend on the trees before it, and not by the target",
    ADABOOST: "is fitted with row weights that depend on the trees before it, which the model does not keep",
}
MEMBERS = ("bagging", ADABOOST)  # ensembles of trees that an estimator of one tree grew
EXACT_FORESTS = (("random_forest", "absolute_error"),)  # fitted on the values, because a histogram has no medians
# With one number per row, levels in the order of their means contain the best partition (Breiman et al. 1984, 4.2.2).
ORDERED_CRITERIA = {
    "classification": tuple(CLASSIFICATION_CRITERIA),
    "regression": ("squared_error", "poisson"),
}


@dataclass(frozen=True)
class Growth:
    """The algorithm of each tree, and its parameters.

    Attributes
    ----------
    algorithm : str
        For bagging and AdaBoost that of their members; ``"cart"`` if the facts name none.
    criterion : str
        Empty if the facts name none.
    parameters : mapping
        Those of the estimator of one tree; empty if the facts have none.
    is_member : bool
        Whether bagging or AdaBoost chose the rows of each tree, or their weights.
    """

    algorithm: str
    criterion: str
    parameters: Mapping[str, Any]
    is_member: bool = False

    @property
    def splitter(self) -> str:
        """``"best"`` if every cut between two values was tried, ``"hist"`` on bins, ``"random"`` for random cuts."""
        if self.algorithm == GRADIENT_BOOSTING:
            return "hist"
        if self.algorithm in FORESTS:
            if (self.algorithm, self.criterion) in EXACT_FORESTS:
                return "best"
            return "hist" if self.algorithm == "random_forest" else "random"
        return str(self.parameters.get("splitter", "best"))

    @property
    def tries_every_cut(self) -> bool:
        """Whether a node tried every cut between two values of its candidate columns."""
        return self.splitter == "best"


def growth_of(model: ModelData) -> Growth:
    """Return how each tree of a model was grown, by its facts, which may come from a file of any origin.

    Examples
    --------
    >>> from treewright.data.schema import Column, Schema
    >>> facts = {"algorithm": "cart", "parameters": {"splitter": "hist"}}
    >>> growth_of(ModelData("regression", Schema((Column("x", "numeric"),)), (), facts=facts)).tries_every_cut
    False
    """
    facts: Mapping[str, Any] = model.facts
    criterion, member = str(facts.get("criterion", "")), facts.get("member")
    is_member = False
    if facts.get("algorithm") in MEMBERS and isinstance(member, Mapping):
        facts, is_member = member, True
    parameters = facts.get("parameters")
    return Growth(
        algorithm=str(facts.get("algorithm", "cart")),
        criterion=criterion,
        parameters=parameters if isinstance(parameters, Mapping) else {},
        is_member=is_member,
    )


def node_test(model: ModelData, tree: Tree, node: int) -> NodeTest:
    """Return `describe` with what the model knows about missing values and about the search among cuts and levels."""
    every_cut = growth_of(model).tries_every_cut
    return describe(model.schema, tree, node, missing=model.missing, ordered=has_best_order(model), every_cut=every_cut)


def has_best_order(model: ModelData) -> bool:
    """Return whether an order of a nominal column's levels is known to contain their best partition in two.

    True for one number per row (two classes, or one target) under a criterion that Breiman et al. 1984, section 4.2.2,
    cover; a criterion that the model does not state is not known.
    """
    if growth_of(model).parameters.get("nominal_splits") == "one_vs_rest":
        return True  # every one of those is tried
    one_number = model.n_outputs == 1 and sum(model.n_classes) <= 2
    return one_number and model.facts.get("criterion") in ORDERED_CRITERIA[model.task]
