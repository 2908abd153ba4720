"""Hold-out losses: each loss by hand, the loss that is meant, shares of divided rows, numbers beyond squares."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.prune.losses import loss_of, node_losses
from treewright.prune.methods import Rows

X = [[1.0], [2.0], [3.0], [4.0]]


def rows_of(est, table, target, weights=None):
    return Rows(*est.model_.encode_rows(table, target, weights, routed=True))


def test_a_row_costs_every_node_on_its_way_what_it_would_cost_as_a_leaf():
    est = tw.DecisionTreeClassifier().fit(X, ["a", "a", "b", "a"])
    assert est.tree_.threshold.tolist() == [2.5, 0, 3.5, 0, 0]

    losses = node_losses(
        est.model_, rows_of(est, [[1], [3], [3.2], [5]], ["b", "b", "a", "b"], [1, 2, 3, 4]), "misclassification"
    )

    # Node 0 says a; its leaf 1 says a; node 2 (one a, one b) says a; leaf 3 says b, leaf 4 a.
    assert losses.cost.tolist() == [7.0, 1.0, 6.0, 3.0, 4.0]
    assert losses.weight.tolist() == [10.0, 1.0, 9.0, 5.0, 4.0]
    assert (losses.unit, losses.is_exact) == (1.0, True)


@pytest.mark.parametrize(
    ("loss", "of_one"),
    [
        ("squared_error", lambda y, said: (y - said) ** 2),
        ("absolute_error", lambda y, said: abs(y - said)),
        ("poisson", lambda y, said: 2 * (y * math.log(y / said) - y + said)),
    ],
)
def test_losses_of_numbers_are_those_of_their_formulas(loss, of_one):
    est = tw.DecisionTreeRegressor(max_depth=1).fit(X, [2.0, 2.0, 4.0, 4.0])

    losses = node_losses(est.model_, rows_of(est, [[1.0], [4.0]], [1.0, 2.0]), loss)

    # The root says 3, its leaves 2 and 4.
    assert losses.cost.tolist() == pytest.approx([of_one(1, 3) + of_one(2, 3), of_one(1, 2), of_one(2, 4)])


def test_poissons_deviance_of_no_event_is_twice_the_prediction():
    est = tw.DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(X, [1.0, 1.0, 3.0, 3.0])

    losses = node_losses(est.model_, rows_of(est, [[1.0]], [0.0]), "poisson")

    assert losses.cost.tolist() == [4.0, 2.0, 0.0]


def test_the_mean_over_several_outputs_counts():
    est = tw.DecisionTreeClassifier().fit(X, [["a", 0, "u"], ["a", 0, "u"], ["b", 1, "u"], ["b", 1, "v"]])

    losses = node_losses(est.model_, rows_of(est, [[1.0]], [["b", 1, "u"]]), "misclassification")

    leaf = 1
    assert losses.cost[leaf] * losses.unit == pytest.approx(2 / 3)
    assert losses.cost[leaf] == 2.0


def test_a_divided_row_counts_at_each_node_with_its_share():
    est = tw.C45Classifier(confidence=None, min_samples_leaf=1).fit(
        {"town": ["Bonn", "Bonn", "Bonn", "Graz"]}, ["a", "a", "a", "b"]
    )

    with pytest.warns(tw.exceptions.DataWarning, match="missing values"):
        rows = rows_of(est, {"town": [None, "Graz"]}, ["b", "b"], [2.0, 1.0])
    losses = node_losses(est.model_, rows, "misclassification")

    assert losses.weight.tolist() == [3.0, 1.5, 1.5]
    assert losses.cost.tolist() == [3.0, 1.5, 0.0]
    assert not losses.is_exact


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [("squared_error", "squared_error"), ("absolute_error", "absolute_error"), ("poisson", "poisson")],
)
def test_the_loss_that_is_meant_is_the_one_that_was_grown_by(criterion, expected):
    est = tw.DecisionTreeRegressor(criterion=criterion).fit(X, [1.0, 2.0, 4.0, 4.0])

    assert loss_of(est.model_) == expected


def test_a_function_of_the_users_means_the_squared_error_whatever_its_name():
    def poisson(tables):
        return tables[:, 2]

    assert loss_of(tw.DecisionTreeRegressor(criterion=poisson).fit(X, [1.0, 2.0, 4.0, 4.0]).model_) == "squared_error"
    assert loss_of(tw.CHAIDRegressor().fit(X, [1.0, 2.0, 4.0, 4.0]).model_) == "squared_error"
    assert loss_of(tw.DecisionTreeClassifier().fit(X, [0, 0, 1, 1]).model_) == "misclassification"


@pytest.mark.parametrize(
    ("est", "loss", "why"),
    [
        (tw.DecisionTreeClassifier, "squared_error", "is not one of classification"),
        (tw.DecisionTreeRegressor, "misclassification", "is not one of regression"),
        (tw.DecisionTreeRegressor, "mse", "is not a loss"),
        (tw.DecisionTreeRegressor, ["squared_error"], "is not a loss"),
        (tw.DecisionTreeRegressor, 3, "is not a loss"),
        (tw.DecisionTreeRegressor, np.array(["poisson", "poisson"]), "is not a loss"),
    ],
)
def test_a_loss_that_does_not_fit_is_refused_with_those_that_do(est, loss, why):
    with pytest.raises(ParameterError, match=f"{why}: for .* choose"):
        loss_of(est().fit(X, [1, 2, 2, 1]).model_, loss)


def test_poissons_deviance_asks_for_counts_and_positive_predictions():
    counts = tw.DecisionTreeRegressor(criterion="poisson").fit(X, [1.0, 1.0, 3.0, 3.0])
    with pytest.raises(DataError, match=r"negative value.*first row 1: -2"):
        node_losses(counts.model_, rows_of(counts, [[1], [2]], [1.0, -2.0]), "poisson")
    zeros = tw.DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 3.0, 3.0])
    with pytest.raises(ParameterError, match="node 1 predicts 0"):
        node_losses(zeros.model_, rows_of(zeros, [[1]], [1.0]), "poisson")


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("weight", [1e-300, 1.0, 1e300])
def test_numbers_whose_squares_are_beyond_float64_are_still_compared(scale, weight):
    est = tw.DecisionTreeRegressor().fit(X, np.array([1.0, 1.0, 2.0, 3.0]) * scale)

    losses = node_losses(
        est.model_, rows_of(est, X, np.array([1.0, 1.0, 2.0, 2.0]) * scale, [weight] * 4), "squared_error"
    )

    assert np.isfinite(losses.cost).all()
    # Root 1.75: 2 x 0.5625 + 2 x 0.0625; the leaf of 3 is off by one.
    assert losses.cost[0] / losses.cost[est.tree_.value[:, 0] == 3.0 * scale].item() == pytest.approx(1.25)
    assert losses.weight[0] * losses.weight_unit == pytest.approx(4 * weight)
