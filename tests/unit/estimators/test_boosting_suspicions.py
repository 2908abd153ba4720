"""Boosted estimators say why no tree asks anything, and when no round helps."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataWarning

RNG = np.random.default_rng(8)
X = RNG.normal(size=(120, 3))
NUMBERS = 2.0 + X[:, 0] + 0.1 * RNG.normal(size=120)
TWO = np.where(X[:, 0] > 0, "yes", "no")
KINDS = [(tw.GradientBoostingClassifier, TWO), (tw.GradientBoostingRegressor, NUMBERS)]
FEW = {"n_estimators": 3, "min_samples_leaf": 10}


@pytest.mark.parametrize(("kind", "target"), KINDS)
@pytest.mark.parametrize(
    ("rows", "weights", "more", "told"),
    [
        (19, None, {}, "19 row(s) are fewer than twice min_samples_leaf=10"),
        (5, 3.0, {}, "15 row(s) are fewer than twice min_samples_leaf=10"),
        (24, None, {"subsample": 0.5}, "row(s) are fewer than twice min_samples_leaf=10"),
        (120, 1e-9, {}, "less than twice min_child_weight=0.001"),
        (120, None, {"min_gain": 1e6}, "no split gains more than min_gain=1e+06"),
    ],
)
def test_what_keeps_every_tree_from_a_test_is_named(kind, target, rows, weights, more, told):
    rows = np.r_[: rows // 2, 120 - (rows - rows // 2) : 120]
    weights = None if weights is None else np.full(len(rows), weights)
    with pytest.warns(DataWarning, match=r"no tree has a test, so every row gets the same prediction") as heard:
        kind(**{**FEW, "min_child_weight": 1e-3, **more}).fit(X[rows], target[rows], weights)

    assert len(heard) == 1
    assert told in str(heard[0].message)


def test_targets_of_a_unit_in_which_hessians_are_too_small_are_named():
    with pytest.warns(DataWarning, match=r"hessians of all rows add up to .*min_child_weight.*poisson"):
        tw.GradientBoostingRegressor(**FEW, loss="poisson", min_child_weight=1e-3).fit(X, np.abs(NUMBERS) * 1e-20)


@pytest.mark.parametrize(("kind", "target"), KINDS)
def test_weights_beside_which_the_penalty_is_all_are_named(kind, target):
    more = {**FEW, "min_child_weight": 0}
    shares = np.full(120, 1e-4)
    with pytest.warns(DataWarning, match=r"l2=1 is added to the hessians.*scale up the weights"):
        kind(**more, l2=1.0).fit(X, target, shares)
    kind(**more, l2=0).fit(X, target, shares)
    kind(**more, l2=1.0).fit(X, target)


def test_quantiles_are_not_shrunk_and_nothing_is_said_of_the_penalty():
    more = {**FEW, "min_child_weight": 0, "l2": 1.0, "loss": "absolute_error"}
    tw.GradientBoostingRegressor(**more).fit(X, NUMBERS, np.full(120, 1e-4))


def test_weights_that_lie_too_far_apart_are_named():
    weights = RNG.random(120) + 1.0
    weights[5] = 1e13
    with pytest.warns(DataWarning, match="half of the rows weigh less than 1/4294967296 of the total"):
        tw.GradientBoostingRegressor(**FEW).fit(X, NUMBERS, weights)


@pytest.mark.parametrize(("kind", "target"), KINDS)
def test_nothing_is_said_where_a_tree_asks_or_nothing_is_to_be_asked(kind, target):
    kind(**FEW).fit(X, target)
    kind(**FEW).fit(X[:5], np.repeat(target[:1], 5))
    with pytest.warns(DataWarning, match="every column is constant") as heard:
        kind(**FEW).fit(np.zeros((5, 2)), target[:5] if kind is KINDS[1][0] else ["a", "a", "b", "b", "a"])
    assert len(heard) == 1


def test_a_user_hears_that_no_round_is_better_than_none():
    train, other = NUMBERS[:80], -NUMBERS[80:] + 2 * NUMBERS[:80].mean()
    boosted = tw.GradientBoostingRegressor(**FEW, early_stopping=True)
    with pytest.warns(DataWarning, match=r"no round is better than none \(.* before the first tree"):
        boosted.fit(X[:80], train, X_val=X[80:], y_val=other)
    boosted.fit(X[:80], train, X_val=X[80:], y_val=NUMBERS[80:])
