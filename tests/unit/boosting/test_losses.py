"""Losses by name: what they refuse, where they begin, what they hold."""

from __future__ import annotations

import re

import numpy as np
import pytest

from treewright.boosting.losses import (
    CLASS_LOSSES,
    NUMBER_LOSSES,
    AbsoluteError,
    Gamma,
    Huber,
    ManyClasses,
    OneClass,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
    TwoClasses,
    build_loss,
)
from treewright.exceptions import DataError, ParameterError

NAN = float("nan")


@pytest.mark.parametrize("name", NUMBER_LOSSES)
def test_every_loss_of_numbers_bears_its_name(name):
    loss = build_loss(name)
    assert loss.name == name
    assert loss.rowwise
    assert loss == build_loss(name)
    assert loss.link == ("log" if name in {"poisson", "gamma", "tweedie"} else "identity")


@pytest.mark.parametrize(("n_classes", "expected"), [(1, OneClass()), (2, TwoClasses()), (5, ManyClasses(5))])
def test_the_number_of_classes_decides_which_log_loss_it_is(n_classes, expected):
    loss = build_loss("log_loss", n_classes=n_classes)
    assert loss == expected
    assert loss.name in CLASS_LOSSES
    assert loss.link == "classes"
    assert loss.n_scores == (1 if n_classes <= 2 else n_classes)


def test_several_levels_have_a_score_each_and_are_sorted():
    one, several = build_loss("quantile", quantile=0.3), build_loss("quantile", quantile=np.array([0.1, 0.5, 0.9]))
    assert (one.levels, one.n_scores, one.link) == ((0.3,), 1, "identity")
    assert (several.levels, several.n_scores, several.link) == ((0.1, 0.5, 0.9), 3, "sorted")


def test_losses_that_renew_have_unit_hessians():
    for name in NUMBER_LOSSES:
        loss = build_loss(name)
        assert loss.renews == (name in {"absolute_error", "quantile"})
        assert loss.unit_hessian == (name in {"absolute_error", "quantile", "squared_error", "huber"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "squared_eror"}, "loss='squared_eror'.*did you mean 'squared_error'"),
        ({"loss": "log_loss"}, "loss='log_loss': the losses for regression"),
        ({"loss": "poisson", "n_classes": 3}, "loss='poisson': the losses for classification are 'log_loss'"),
        ({"loss": 3}, "loss=3: give a name"),
        ({"loss": None}, "loss=None: give a name"),
        ({"loss": SquaredError}, "loss=SquaredError is a class: give an instance"),
        ({"loss": SquaredError(), "n_classes": 2}, "not for classification"),
        ({"loss": TwoClasses()}, "not for regression"),
        ({"loss": ManyClasses(3), "n_classes": 4}, "has 3 score"),
        ({"loss": "quantile", "quantile": 0}, "quantile=0: give a number between 0 and 1"),
        ({"loss": "quantile", "quantile": 1.0}, "quantile=1.0"),
        ({"loss": "quantile", "quantile": NAN}, "quantile=nan"),
        ({"loss": "quantile", "quantile": "0.5"}, "quantile='0.5'"),
        ({"loss": "quantile", "quantile": True}, "quantile=True"),
        ({"loss": "quantile", "quantile": []}, r"quantile=\[\]"),
        ({"loss": "quantile", "quantile": [0.5, 0.5]}, "several different ones in ascending order"),
        ({"loss": "quantile", "quantile": [0.9, 0.1]}, "several different ones in ascending order"),
        ({"loss": "quantile", "quantile": [0.1, 1.5]}, "quantile=1.5"),
        ({"loss": "huber", "huber_delta": 0}, "huber_delta=0: give a number > 0, or None"),
        ({"loss": "huber", "huber_delta": -1}, "huber_delta=-1"),
        ({"loss": "huber", "huber_delta": float("inf")}, "huber_delta=inf"),
        ({"loss": "huber", "huber_delta": NAN}, "huber_delta=nan"),
        ({"loss": "tweedie", "tweedie_power": 1}, "tweedie_power=1: give a number between 1 and 2, both excluded"),
        ({"loss": "tweedie", "tweedie_power": 2.0}, "tweedie_power=2.0"),
        ({"loss": "tweedie", "tweedie_power": None}, "tweedie_power=None"),
        ({"loss": "expectile", "expectile": 1}, "expectile=1: give a number between 0 and 1"),
        ({"loss": "expectile", "expectile": "half"}, "expectile='half'"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name_and_range(given, message):
    with pytest.raises(ParameterError, match=message):
        build_loss(**given)


def test_parameters_of_other_losses_are_not_read():
    assert build_loss("squared_error", quantile="?", huber_delta=-1, tweedie_power=9, expectile=None) == SquaredError()


def test_a_loss_that_is_made_already_is_taken_as_it_is():
    loss = Huber(2.0)
    assert build_loss(loss) is loss


@pytest.mark.parametrize(
    ("loss", "target", "message"),
    [
        (Poisson(), [1.0, -0.5, 2.0, -1.0], "y has 2 value(s) that cannot be used (first row 1: -0.5). loss='poisson'"),
        (Gamma(), [1.0, 0.0], "y has 1 value(s) that cannot be used (first row 1: 0.0). loss='gamma' needs y > 0"),
        (Tweedie(), [-1e-9], "first row 0: -1e-09). loss='tweedie' needs y >= 0"),
        (SquaredError(), [0.0, NAN], "first row 1: nan)"),
        (AbsoluteError(), [float("-inf")], "first row 0: -inf)"),
        (SquaredError(), [0.0, 1e31], "numbers from -1e+30 to 1e+30: give y in another unit"),
    ],
)
def test_targets_outside_the_domain_are_refused_with_count_row_value_and_remedy(loss, target, message):
    with pytest.raises(DataError, match=re.escape(message)):
        loss.check(np.array(target))


def test_a_refusal_names_the_rows_that_were_meant():
    with pytest.raises(DataError, match="the evaluation target has 1 value"):
        Poisson().check(np.array([-1.0]), "the evaluation target")


@pytest.mark.parametrize("loss", [Poisson(), Tweedie()])
def test_zero_is_a_count(loss):
    loss.check(np.array([0.0, 3.0]))


@pytest.mark.parametrize("name", NUMBER_LOSSES)
def test_targets_that_gradients_cannot_tell_apart_are_refused(name):
    with pytest.raises(DataError, match="give y in another unit"):
        build_loss(name).bound(np.array([1e-32, 3e-32]), None)


def test_huber_finds_its_distance_once():
    target = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 100.0, 101.0])
    # The median is 5; nine of ten distances, rounded up, are 95 at most.
    bound = Huber().bound(target, None)
    assert bound.delta == 95.0
    assert bound.bound(target[:3], None) is bound
    assert Huber(0.5).bound(target, None).delta == 0.5


def test_huber_weighs_rows_where_it_finds_its_distance():
    target, weights = np.array([0.0, 1.0, 2.0, 50.0]), np.array([1.0, 5.0, 3.0, 1.0])
    assert Huber().bound(target, weights) == Huber().bound(np.repeat(target, weights.astype(int)), None)


def test_huber_has_a_distance_where_most_targets_are_equal():
    assert Huber().bound(np.array([1.0] * 99 + [101.0]), None).delta == 1.0
    assert Huber().bound(np.full(5, 3.0), None).delta == 1.0


def test_huber_without_a_distance_says_what_is_missing():
    with pytest.raises(ParameterError, match="call bound first"):
        Huber().base(np.array([1.0]), None)


def test_huber_between_two_far_groups_begins_in_the_middle():
    assert Huber(1.0).base(np.array([0.0, 0.0, 10.0, 10.0]), None).tolist() == [5.0]


def test_a_class_without_rows_has_a_finite_base():
    assert np.isfinite(TwoClasses().base(np.zeros(3, np.int32), None)).all()
    base = ManyClasses(3).base(np.array([0, 0, 2], np.int32), np.array([1.0, 1e-200, 1.0]))
    assert np.isfinite(base).all()
    assert base[1] == pytest.approx(np.log(1e-15))


def test_base_of_classes_is_their_share_of_the_weight():
    target, weights = np.array([0, 1, 2, 2], np.int32), np.array([1.0, 2.0, 3.0, 4.0])
    assert np.exp(ManyClasses(3).base(target, weights)) == pytest.approx([0.1, 0.2, 0.7])
    assert TwoClasses().base(np.minimum(target, 1), weights) == pytest.approx(np.log(9))


@pytest.mark.parametrize("loss", [SquaredError(), Poisson(), TwoClasses(), ManyClasses(3)])
def test_weights_beyond_float64_in_sum_give_the_base_of_equal_weights(loss):
    target = np.array([0, 1, 1, 0], np.int32)
    target = target if loss.link == "classes" else target.astype(float)
    for size in (1e-300, 1e150):
        np.testing.assert_array_equal(loss.base(target, np.full(4, size)), loss.base(target, None))


def test_an_output_of_one_class_has_nothing_to_learn():
    loss, target = OneClass(), np.zeros(3, np.int32)
    g, h = np.ones((1, 3), np.float32), np.ones((1, 3), np.float32)
    loss.check(target)
    loss.gradients(target, np.full((1, 3), 9.0), g, h)
    assert g.tolist() == [[0.0, 0.0, 0.0]]
    assert loss.unit_hessian
    assert loss.base(target, None).tolist() == [0.0]
    assert loss.values(target, np.zeros((1, 3))).tolist() == [0.0, 0.0, 0.0]


def test_pinball_gradients_are_0_at_the_target():
    g = np.full((2, 3), np.nan, np.float32)
    Quantile((0.25, 0.75)).gradients(np.array([1.0, 2.0, 3.0]), np.full((2, 3), 2.0), g, g)
    assert g.tolist() == [[0.75, 0.0, -0.25], [0.25, 0.0, -0.75]]


def test_losses_without_renewal_have_no_renewed_leaves():
    with pytest.raises(NotImplementedError):
        SquaredError().renewed(0, np.ones(1), np.ones((1, 1)), None, np.zeros(1, np.int32), np.array([0, 1]))
