"""Rounds join a fit on the same table only; together they are what one fit would have grown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treewright as tw
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
        (TABLE, NUMBERS + 1, "rows, target or weights are others"),
        (TABLE.iloc[::-1], NUMBERS, "rows, target or weights are others"),
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
    [("learning_rate", 0.2), ("growth", "level"), ("l2", 1), ("random_state", 4), ("loss", "huber"), ("max_bins", 9)],
)
def test_another_parameter_is_refused_by_its_name(name, value):
    with pytest.raises(ParameterError, match=rf"{name} is another|rows, target or weights"):
        grown().set_params(**{name: value}).fit(TABLE, NUMBERS)


@pytest.mark.parametrize(
    "parameters", [{"n_jobs": 1}, {"verbose": 1}, {"callbacks": print}, {"tol": 0.1, "callbacks": print}]
)
def test_what_decides_over_no_tree_may_change(parameters, capsys):
    assert grown().set_params(**parameters).fit(TABLE, NUMBERS).n_estimators_ == 5


def test_fewer_rounds_than_there_are_cannot_be_asked_for():
    with pytest.raises(ParameterError, match=r"n_estimators=2 must be larger or equal to the 3 rounds"):
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
