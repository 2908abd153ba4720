"""Rounds join a fit on the same table only; together they are what one fit would have grown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.boosting.sampling import drawn_uniformly, keys_of
from treewright.core.random import mixed
from treewright.data.encoder import encode_fit
from treewright.data.row_content import hash_content
from treewright.exceptions import DataWarning, ParameterError

RNG = np.random.default_rng(0)
CELLS = RNG.normal(size=(90, 2))
NUMBERS = CELLS[:, 0] + RNG.normal(scale=0.3, size=90)
TABLE = pd.DataFrame({"a": CELLS[:, 0], "b": CELLS[:, 1], "c": np.array(["u", "v", "w"])[np.arange(90) % 3]})
FEW = {"min_samples_leaf": 5, "warm_start": True}


def grown(**parameters):
    return tw.GradientBoostingRegressor(3, **FEW, **parameters).fit(TABLE, NUMBERS).set_params(n_estimators=5)


@pytest.mark.parametrize(
    ("table", "numbers", "told"),
    [
        (TABLE.rename(columns={"a": "z"}), NUMBERS, "columns have other names"),
        (TABLE.assign(c=TABLE.c.map({"u": "x", "v": "y", "w": "z"})), NUMBERS, "column c has other levels"),
        (TABLE, NUMBERS + 1, "rows, target or weights are different"),
        (TABLE.iloc[::-1], NUMBERS, "rows, target or weights are different"),
    ],
)
def test_another_table_is_refused_by_what_is_another(table, numbers, told):
    boosted = grown()
    before = boosted.model_

    with pytest.raises(ParameterError, match=told):
        boosted.fit(table, numbers)
    assert boosted.model_ is before


@pytest.mark.parametrize(
    ("name", "value"),
    [("init", 1.0), ("level_l2", 2.0), ("random_state", 4), ("loss", "huber"), ("max_bins", 9)],
)
def test_another_parameter_is_refused_by_its_name(name, value):
    with pytest.raises(ParameterError, match=rf"{name} is different|rows, target or weights"):
        grown().set_params(**{name: value}).fit(TABLE, NUMBERS)


@pytest.mark.parametrize(
    "parameters", [{"n_jobs": 1}, {"verbose": 1}, {"callbacks": print}, {"tol": 0.1, "callbacks": print}]
)
def test_what_decides_over_no_tree_may_change(parameters, capsys):
    assert grown().set_params(**parameters).fit(TABLE, NUMBERS).n_estimators_ == 5


def test_fewer_rounds_than_there_are_cannot_be_asked_for():
    with pytest.raises(ParameterError, match=r"n_estimators=2 must be larger or equal to the 3 fitted rounds"):
        grown().set_params(n_estimators=2).fit(TABLE, NUMBERS)


def test_as_many_rounds_as_there_are_is_nothing_to_do():
    boosted = grown().set_params(n_estimators=3)
    before = boosted.model_

    with pytest.warns(DataWarning, match="without increasing n_estimators"):
        boosted.fit(TABLE, NUMBERS)
    assert boosted.model_ is before


def test_without_warm_start_a_fit_begins_anew():
    boosted = grown().set_params(warm_start=False)

    assert boosted.fit(TABLE, -NUMBERS).n_estimators_ == 5


def test_early_stopping_goes_on_from_the_best_round_and_the_history_is_whole():
    early = {"early_stopping": True, "n_iter_no_change": 2, "learning_rate": 0.9, "validation_fraction": 0.3}
    boosted = tw.GradientBoostingRegressor(40, **FEW, **early).fit(TABLE, NUMBERS)
    best, values = boosted.best_iteration_, boosted.history_["validation"]
    boosted.fit(TABLE, NUMBERS)

    assert boosted.n_estimators_ == best < boosted.n_iter_ == best + 2
    assert boosted.history_["validation"] == values


def test_a_history_that_an_earlier_fit_did_not_keep_is_left_out():
    boosted = grown().set_params(verbose=1).fit(TABLE, NUMBERS)

    assert boosted.history_ == {}
    assert boosted.best_iteration_ == 5


def test_a_random_state_that_draws_is_drawn_from_once():
    boosted = tw.GradientBoostingRegressor(3, **FEW, subsample=0.5, random_state=np.random.RandomState(7))
    boosted.fit(TABLE, NUMBERS)
    again = tw.GradientBoostingRegressor(6, **FEW, subsample=0.5, random_state=np.random.RandomState(7))

    assert (
        boosted.set_params(n_estimators=6).fit(TABLE, NUMBERS).predict(TABLE).tobytes()
        == again.fit(TABLE, NUMBERS).predict(TABLE).tobytes()
    )


def test_rounds_of_another_depth_and_rate_may_follow():
    boosted = tw.GradientBoostingRegressor(3, max_depth=3, **FEW).fit(TABLE, NUMBERS)
    before = boosted.predict(TABLE)

    boosted.set_params(n_estimators=4, max_depth=1, learning_rate=1.0).fit(TABLE, NUMBERS)

    stump = boosted.tree(3)
    assert stump.trees[0].max_depth == 1
    assert boosted.predict(TABLE) == pytest.approx(before + stump.predict(TABLE), rel=1e-6)
    assert boosted.model_.facts["parameters"]["learning_rate"] == 1.0


# What a round does for the rows that it leaves out.


def test_what_a_round_does_for_rows_that_it_leaves_out_is_the_fall_of_their_loss():
    boosted = tw.GradientBoostingRegressor(12, min_samples_leaf=5, subsample=0.5, learning_rate=0.5).fit(TABLE, NUMBERS)

    gained = boosted.oob_improvement_

    assert gained.shape == (12,)
    contents = np.zeros(90, np.uint64)
    hash_content(NUMBERS[:, None], encode_fit(TABLE)[1], contents)
    said = [np.full(90, NUMBERS.mean()), *boosted.staged_predict(TABLE)]
    for number in (1, 2, 12):
        drawn = drawn_uniformly(keys_of(contents, mixed(mixed(mixed(0, number), 0), 0)), 0.5)
        out = np.setdiff1d(np.arange(90), drawn)
        before, after = (np.mean((NUMBERS - said[at])[out] ** 2) / 2 for at in (number - 1, number))
        assert gained[number - 1] == pytest.approx(before - after, rel=1e-5, abs=1e-9)


def test_rows_left_out_of_many_classes_have_a_loss():
    labels = np.array(["low", "mid", "high"])[np.digitize(NUMBERS, [-0.5, 0.5])]
    boosted = tw.GradientBoostingClassifier(3, min_samples_leaf=5, subsample=0.5).fit(TABLE, labels)

    assert (boosted.oob_improvement_ > 0).all()


def test_a_warm_start_goes_on_with_what_rounds_did_for_rows_that_they_left_out():
    at_once = tw.GradientBoostingRegressor(5, subsample=0.5, **FEW).fit(TABLE, NUMBERS)

    in_steps = grown(subsample=0.5).fit(TABLE, NUMBERS)

    assert in_steps.oob_improvement_.tolist() == at_once.oob_improvement_.tolist()


def test_without_rows_left_out_or_a_value_of_the_loss_nothing_is_said_of_them():
    def squared(y, raw):
        return raw - y, np.ones_like(y)

    for parameters in ({}, {"subsample": 0.5, "loss": squared}):
        boosted = tw.GradientBoostingRegressor(3, min_samples_leaf=5, **parameters).fit(TABLE, NUMBERS)
        with pytest.raises(AttributeError, match="subsample below 1"):
            _ = boosted.oob_improvement_


# Words of other libraries.


@pytest.mark.parametrize(
    ("word", "here"),
    [
        ("eval_set", "X_val and y_val"),
        ("early_stopping_rounds", "n_iter_no_change"),
        ("categorical_feature", "nominal"),
    ],
)
def test_an_argument_of_another_library_is_told_by_its_name_here(word, here):
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{word}': here it is .*{here}"):
        tw.GradientBoostingRegressor(3).fit(TABLE, NUMBERS, **{word: 1})


def test_an_argument_that_nobody_knows_is_no_argument():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'foo': choose one of X, X_val"):
        tw.GradientBoostingRegressor(3).fit(TABLE, NUMBERS, foo=1)


@pytest.mark.parametrize(
    ("word", "here"), [("objective_", "model_"), ("best_score_", "history_"), ("booster_", "model_")]
)
def test_an_attribute_of_another_library_is_told_by_its_name_here(word, here):
    boosted = tw.GradientBoostingRegressor(3, min_samples_leaf=5).fit(TABLE, NUMBERS)

    assert not hasattr(boosted, word)
    with pytest.raises(AttributeError, match=rf"{word}.*here it is {here}"):
        getattr(boosted, word)


def test_an_attribute_that_refuses_keeps_its_words():
    two = tw.GradientBoostingClassifier(2, min_samples_leaf=5).fit(TABLE, np.column_stack([NUMBERS > 0, NUMBERS > 1]))

    with pytest.raises(AttributeError, match="has no attribute 'decision_function'") as raised:
        _ = two.decision_function
    assert "need a single output" in str(raised.value.__cause__)
