"""What must hold of every optimal tree, however early its search was stopped."""

from __future__ import annotations

import numpy as np
import pytest
from by_node_cases import fitted, tables
from hypothesis import given
from hypothesis import strategies as st
from rotating import examples

import treewright as tw

CLASS_LOSSES = {
    "misclassification": lambda shares: 1 - shares.max(axis=1),
    "gini": lambda shares: 1 - (shares**2).sum(axis=1),
    "entropy": lambda shares: -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1),
}
NUMBER_LOSSES = ("squared_error", "poisson")
EQUAL = 1e-9  # a loss is rounded once a leaf


@st.composite
def limits(draw):
    """Limits that both growers have."""
    return {
        "max_depth": draw(st.integers(1, 3)),
        "max_leaf_nodes": draw(st.sampled_from((None, 2, 3, 5))),
        "min_samples_leaf": draw(st.sampled_from((1, 1, 2, 5))),
        "min_weight_fraction_leaf": draw(st.sampled_from((0.0, 0.0, 0.1))),
    }


def loss_of(est, loss):
    """The loss of the leaves, per unit of weight; for classes from their weights in the leaves."""
    tree = est.tree_
    leaves = tree.is_leaf
    if loss in CLASS_LOSSES:
        value = tree.value[leaves]
        impurity = CLASS_LOSSES[loss](value / value.sum(axis=1, keepdims=True))
    else:
        impurity = tree.impurity[leaves]
    return float((tree.weight[leaves] * impurity).sum() / tree.weight[0])


@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *NUMBER_LOSSES])
@examples(12)
@given(
    data=tables(), own=limits(), alpha=st.sampled_from((0.0, 0.0, 0.04)), search=st.sampled_from((1, 10, None)),
    weighted=st.booleans(),
)  # fmt: skip
def test_the_training_loss_is_never_above_that_of_cart_within_the_same_limits(loss, data, own, alpha, search, weighted):
    table, y, weights = data
    weights = weights if weighted else None
    is_classes = loss in CLASS_LOSSES
    optimal = tw.OptimalTreeClassifier if is_classes else tw.OptimalTreeRegressor
    cart = tw.DecisionTreeClassifier if is_classes else tw.DecisionTreeRegressor
    y = y if is_classes else y.astype(float) + (y.sum() == 0)  # Poisson counts some event
    own = {**own, "n_jobs": 1}

    est = fitted(lambda: optimal(criterion=loss, ccp_alpha=alpha, max_search=search, **own), table, y, weights)

    objective = loss_of(est, loss) + alpha * est.get_n_leaves()
    found = est.model_.facts["optimal"]
    assert est.objective_ == pytest.approx(objective, abs=EQUAL)
    assert est.lower_bound_ <= est.objective_ + EQUAL
    assert found["objective"] <= found["greedy_objective"] + EQUAL
    for criterion in CLASS_LOSSES if is_classes else (loss,):
        greedy = fitted(lambda by=criterion: cart(criterion=by, **own), table, y, weights)
        pruned = fitted(lambda by=criterion: cart(criterion=by, ccp_alpha=alpha, **own), table, y, weights)
        for other in (greedy, pruned):
            assert found["greedy_objective"] <= loss_of(other, loss) + alpha * other.get_n_leaves() + EQUAL
