"""A user's own loss is asked for what it must say, and none of its answers is trusted."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from treewright.boosting.losses import OneClass, OwnLoss, build_loss
from treewright.exceptions import DataError, ParameterError

Y = np.array([1.0, 2.0, 4.0])
NAN = float("nan")


def squared(y, raw):
    return raw - y, np.ones_like(raw)


def both(loss, target=Y, scores=None):
    scores = np.zeros((loss.n_scores, len(target))) if scores is None else scores
    g, h = np.full(scores.shape, np.nan, np.float32), np.full(scores.shape, np.nan, np.float32)
    loss.gradients(target, scores, g, h)
    return g.tolist(), h.tolist()


def with_parts(**parts):
    return build_loss(SimpleNamespace(**({"gradients": squared} | parts)))


def test_a_function_is_a_loss():
    loss = build_loss(squared)
    assert both(loss) == ([[-1.0, -2.0, -4.0]], [[1.0, 1.0, 1.0]])
    assert (loss.link, loss.n_scores, loss.unit_hessian, loss.renews) == ("identity", 1, False, False)


def test_a_users_loss_sees_all_rows_at_once():
    assert not build_loss(squared).rowwise


def test_lists_and_whole_numbers_are_answers_too():
    assert both(build_loss(lambda y, raw: ([1, 2, 3], [True, True, False]))) == ([[1.0, 2.0, 3.0]], [[1.0, 1.0, 0.0]])


def test_several_scores_are_columns_of_raw_and_of_the_answers():
    def shifted(y, raw):
        assert raw.shape == (3, 2)
        return raw - y[:, np.newaxis], np.full(raw.shape, 2.0)

    loss = with_parts(gradients=shifted, n_scores=2)
    scores = np.array([[1.0, 1.0, 1.0], [5.0, 6.0, 7.0]])
    assert both(loss, scores=scores) == ([[0.0, -1.0, -3.0], [4.0, 4.0, 3.0]], [[2.0] * 3] * 2)


def test_a_loss_of_classes_gets_codes_and_a_score_per_class():
    def softmax(y, raw):
        assert y.dtype == np.int32
        assert raw.shape == (3, 3)
        return raw - (np.arange(3) == y[:, np.newaxis]), np.ones(raw.shape)

    loss = build_loss(softmax, n_classes=3)
    assert loss.link == "classes"
    assert both(loss, np.array([0, 2, 2], np.int32))[0] == [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, -1.0]]
    assert build_loss(softmax, n_classes=2).n_scores == 1
    assert build_loss(softmax, n_classes=1) == OneClass()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "it returned a NoneType: return two arrays, the gradient and the hessian"),
        (np.zeros(3), "it returned a ndarray"),
        ((1, 2, 3), "it returned a tuple"),
        (([0, 0], [1, 1, 1]), "its gradient has shape (2,): return shape (3,)"),
        ((0.0, [1, 1, 1]), "its gradient has shape ()"),
        (([0, 0, 0], [[1, 1, 1]]), "its hessian has shape (1, 3)"),
        (([0, NAN, NAN], [1, 1, 1]), "its gradient has 2 value(s) that cannot be used (first row 1: nan)"),
        (([0, 0, 0], [1, 1, np.inf]), "its hessian has 1 value(s) that cannot be used (first row 2: inf)"),
        (([0, 1e38, 0], [1, 1, 1]), "(first row 1: 1e+38): return numbers from -1e+37 to 1e+37"),
        (([0, 0, 0], [1, 1, -0.5]), "its hessian has 1 value(s) that cannot be used (first row 2: -0.5): return 0 or"),
        ((["a", "b", "c"], [1, 1, 1]), "its gradient is not an array of numbers"),
        (([1j, 0, 0], [1, 1, 1]), "its gradient is not an array of numbers"),
        (([0, [0], 0], [1, 1, 1]), "its gradient is not an array of numbers"),
        (([0, None, 0], [1, 1, 1]), "its gradient"),
    ],
)
def test_answers_that_are_no_derivatives_are_refused(answer, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        both(build_loss(lambda y, raw: answer))


def test_a_refusal_says_which_score():
    loss = with_parts(gradients=lambda y, raw: (raw, np.where(np.arange(2) == 1, -1.0, raw)), n_scores=2)
    with pytest.raises(ParameterError, match=re.escape("(first row 0, score 1: -1.0)")):
        both(loss)


def test_what_a_user_gets_cannot_be_written():
    for n_scores in (1, 2):

        def greedy(y, raw):
            raw[0] = 0.0

        with pytest.raises(ValueError, match="read-only"):
            both(with_parts(gradients=greedy, n_scores=n_scores))

    def spoiling(y, raw):
        y[:] = 0.0

    with pytest.raises(ValueError, match="read-only"):
        both(build_loss(spoiling))
    assert Y.tolist() == [1.0, 2.0, 4.0]


def test_an_error_of_the_users_own_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        both(build_loss(lambda y, raw: 1 / 0))


def test_base_is_asked_where_there_is_one():
    weights = np.array([1.0, 1.0, 2.0])
    loss = with_parts(base=lambda y, weights: 0.0 if weights is None else (y * weights).sum())
    assert loss.base(Y, weights).tolist() == [11.0]
    assert loss.base(Y, None).tolist() == [0.0]
    assert with_parts(base=lambda y, weights: [1, 2], n_scores=2).base(Y, None).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("answer", [NAN, [1.0, 2.0], None, "x"])
def test_a_base_that_is_no_finite_number_is_refused(answer):
    with pytest.raises(ParameterError, match="base"):
        with_parts(base=lambda y, weights: answer).base(Y, None)


def test_scores_begin_with_means_where_no_base_is_given():
    weights = np.array([1.0, 1.0, 2.0])
    assert build_loss(squared).base(Y, weights).tolist() == [2.75]
    assert with_parts(link="log").base(Y, weights) == pytest.approx([np.log(2.75)])
    assert with_parts(link="log").base(-Y, None).tolist() == [0.0]
    assert with_parts(link="sorted", n_scores=2).base(Y, weights).tolist() == [2.75, 2.75]
    codes = np.array([0, 1, 1], np.int32)
    assert OwnLoss(squared, 2).base(codes, None) == pytest.approx([np.log(2)])
    assert OwnLoss(squared, 3).base(codes, None) == pytest.approx(np.log([1 / 3, 2 / 3, 1e-15]))


def test_values_are_those_of_the_user():
    loss = with_parts(value=lambda y, raw: (raw - y) ** 2)
    assert loss.values(Y, np.zeros((1, 3))).tolist() == [1.0, 4.0, 16.0]


def test_a_loss_without_values_says_what_needs_them():
    with pytest.raises(ParameterError, match="early stopping and the history need"):
        build_loss(squared).values(Y, np.zeros((1, 3)))


@pytest.mark.parametrize(
    ("answer", "message"),
    [(1.0, "one number a row"), ([1, 2], "one number a row"), ([0, NAN, 0], "first row 1: nan"), ("?", "its value")],
)
def test_values_that_are_not_one_number_a_row_are_refused(answer, message):
    with pytest.raises(ParameterError, match=message):
        with_parts(value=lambda y, raw: answer).values(Y, np.zeros((1, 3)))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"link": "probit"}, "its link is 'probit': give one of 'identity', 'log', 'sorted', 'classes'"),
        ({"link": "classes"}, "its link is 'classes', and this target needs 'identity', 'log' or 'sorted'"),
        ({"link": ["log"]}, r"its link is \['log'\]"),
        ({"n_scores": 0}, "its n_scores is 0: give a whole number >= 1"),
        ({"n_scores": 1.5}, "its n_scores is 1.5"),
    ],
)
def test_links_and_scores_that_do_not_exist_are_refused(parts, message):
    with pytest.raises(ParameterError, match=message):
        with_parts(**parts)


def test_links_and_scores_must_fit_the_classes():
    with pytest.raises(ParameterError, match="its link is 'log', and this target needs 'classes'"):
        build_loss(SimpleNamespace(gradients=squared, link="log"), n_classes=3)
    with pytest.raises(ParameterError, match="its n_scores is 2, and 3 classes need 3"):
        build_loss(SimpleNamespace(gradients=squared, n_scores=2), n_classes=3)


def test_targets_of_a_users_loss_are_finite_numbers():
    with pytest.raises(DataError, match="first row 1: nan"):
        build_loss(squared).check(np.array([1.0, NAN]))
    build_loss(squared).check(np.array([-1.0, 0.0]))


@pytest.mark.parametrize("part", ["gradients", "value", "base"])
def test_an_exception_of_the_users_own_passes_through_with_a_note_of_where_it_comes_from(part):
    def broken(y, other):
        return np.zeros((3, 2)) - y

    loss = with_parts(**{part: broken})
    ask = {
        "gradients": lambda: both(loss),
        "value": lambda: loss.values(Y, np.zeros((1, 3))),
        "base": lambda: loss.base(Y, None),
    }[part]
    with pytest.raises(ValueError, match="could not be broadcast") as told:
        ask()

    assert type(told.value) is ValueError
    (note,) = told.value.__notes__
    asked = {"gradients": "the gradients", "value": "value", "base": "base"}[part]
    other = "weights None" if part == "base" else "raw of shape (3,)"
    assert note == f"raised by loss=, asked for {asked} with y float64(3,) and {other}"
