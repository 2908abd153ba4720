"""Text columns that are no names bring one warning that names the column and the remedy; other text brings none."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.exceptions import DataWarning

N = 60
Y = np.arange(N) % 2
# Two rows of each: with fewer a column is left out (``tests/unit/data/test_identifiers.py``).
DAYS = [f"{1 + at // 2 % 28}.{1 + at // 56}.2024" for at in range(N)]


def fitted(column, estimator=tw.DecisionTreeClassifier, **parameters):
    return estimator(max_depth=2, **parameters).fit({"number": np.arange(N) // 7, "it": column}, Y)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (DAYS, r"column 'it' \(30 levels\): dates as text.*write them as 2021-12-31"),
        ([day + " 12:30:00" for day in DAYS], "dates as text"),
        ([f"{1 + at // 2}.1.2024" for at in range(N)], "dates as text"),
        ([f"1/{1 + at // 2}/24" for at in range(N)], "dates as text"),
        ([*DAYS[:50], *[None] * 10], "dates as text"),
        ([f"{at // 2 / 8}" for at in range(N)], r"column 'it' \(30 levels\): numbers as text.*declare them numeric"),
        ([str(at % 30) for at in range(N)], "numbers as text"),
    ],
)
def test_text_that_is_no_name_is_told(column, message):
    with pytest.warns(DataWarning, match=message) as told:
        fitted(column)

    assert len(told) == 1


@pytest.mark.parametrize(
    "column",
    [
        [str(at % 20) for at in range(N)],
        [DAYS[at % 20] for at in range(N)],
        [f"{at % 30:05}" for at in range(N)],
        [f"name {at // 2}" for at in range(N)],
        [*DAYS[:-2], "never", "never"],
        [*(str(at // 2) for at in range(N - 2)), "none", "none"],
        np.arange(N)[::-1],
    ],
    ids=["few numbers", "few dates", "postal codes", "names", "a date or a word", "a number or a word", "numbers"],
)
def test_other_columns_bring_no_warning(column):
    fitted(column)


@pytest.mark.parametrize("nominal", [["it"], [1], "all", {"it": sorted(set(DAYS))}, {"it": None}])
def test_what_is_declared_brings_no_warning(nominal):
    fitted(DAYS, nominal=nominal)


def test_a_table_of_numbers_as_text_brings_one_warning():
    X = np.random.default_rng(0).normal(size=(N, 8)).astype(str)

    with pytest.warns(
        DataWarning, match=r"columns 'x0' \(60 levels\), .*, 'x4' \(60 levels\) and 3 more: numbers"
    ) as told:
        tw.DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert len(told) == 1
    tw.DecisionTreeClassifier(max_depth=2, numeric=list(range(8))).fit(X, Y)


def test_text_that_differs_in_every_row_is_told_where_nothing_else_would_remain():
    with pytest.warns(
        DataWarning, match=r"column 'it' \(60 different texts in 60 rows\): such values identify"
    ) as told:
        tw.DecisionTreeClassifier(max_depth=2).fit({"it": [f"row {at}" for at in range(N)]}, Y)

    assert len(told) == 1


def test_every_identifier_is_told_where_nothing_else_would_remain():
    table = {"id": list(range(1, N + 1)), "uuid": [f"u{at}" for at in range(N)], "same": [1] * N}
    with pytest.warns(
        DataWarning,
        match=r"columns 'id' \(counts the rows\), 'uuid' \(60 different texts in 60 rows\): such .* no other column "
        "varies: add columns to the table, or declare them nominal or numeric",
    ) as told:
        tree = tw.DecisionTreeClassifier(max_depth=2).fit(table, Y)

    assert len(told) == 1
    assert len(tree.model_.schema.used) == 3
    with pytest.warns(DataWarning, match="column 'id'"):
        tw.DecisionTreeClassifier(max_depth=2).fit({"id": table["id"]}, Y)
    tw.DecisionTreeClassifier(max_depth=2, nominal=["uuid"]).fit({"uuid": table["uuid"]}, Y)


def test_a_lone_time_of_a_series_is_no_identifier():
    tw.DecisionTreeRegressor(max_depth=2).fit({"t": list(range(N))}, Y)


DATES = r"different texts in 60 rows that look like dates\) is left out: write them as 2021-12-31"
AMOUNTS = r"that look like numbers with a sign, a unit or separators\) is left out: write bare numbers, as 4123"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([f"{1 + at // 2}/{1 + at % 12}/{2000 + at}" for at in range(N)], DATES),
        ([f"{1 + at % 12}/{1 + at // 3}/{at:02}" for at in range(N)], DATES),
        ([f"{1 + at % 28}. March {2000 + at}" for at in range(N)], DATES),
        ([f"Dec {1 + at % 28}, {2000 + at} 10:00 PM" for at in range(N)], DATES),
        ([f"${at},123" for at in range(1, N + 1)], AMOUNTS),
        ([f"{at / 4}%" for at in range(N)], AMOUNTS),
        ([f"{at} kg" for at in range(N)], AMOUNTS),
        ([f"(\u20ac {at},50)" for at in range(N)], AMOUNTS),
    ],
)
def test_what_is_left_out_and_looks_like_dates_or_amounts_is_told_how_to_be_written(column, message):
    with pytest.warns(DataWarning, match=rf"column 'it' \(60 .*{message}.*; to keep it, declare it nominal") as told:
        fitted(column)

    assert len(told) == 1


@pytest.mark.parametrize(
    "column",
    [
        [f"{at}{'ABC'[at % 3]}" for at in range(N)],
        [f"C{at}" for at in range(N)],
        [f"{at:05}" for at in range(N)],
        [f"10.0.{at}.1" for at in range(N)],
        [*(f"{at}%" for at in range(N - 1)), "none"],
    ],
    ids=["house numbers", "cabins", "postal codes", "addresses", "a share or a word"],
)
def test_codes_look_like_nothing(column):
    with pytest.warns(DataWarning, match=r"column 'it' \(60 different texts in 60 rows\) is left out: such values"):
        fitted(column)


def test_kept_amounts_and_dates_within_categories_are_told_each_in_a_line():
    day = pd.Categorical([f"2021-01-{1 + at % 28:02}" for at in range(N)])
    table = pd.DataFrame({"paid": [f"${at % 30},123" for at in range(N)], "day": day, "x": np.arange(N) // 7})
    with pytest.warns(DataWarning) as told:
        tw.DecisionTreeClassifier(max_depth=2).fit(table, Y)

    assert [str(each.message).partition(", leave")[0] for each in told] == [
        "column 'day' (28 levels): dates as categories, treated as nominal: turn the categories into text or dates",
        "column 'paid' (30 levels): numbers with a sign, a unit or separators, treated as nominal: write bare numbers, "
        "as 4123 for $4,123 and 25 for 25%",
    ]


def test_dates_declared_as_numbers_are_refused_not_warned_of():
    with pytest.raises(ValueError, match=r"1\.1\.2024"):
        fitted(DAYS, numeric=["it"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: tw.GradientBoostingClassifier(2),
        lambda: tw.AdaBoostClassifier(n_estimators=2),
        lambda: tw.RandomForestClassifier(2),
        lambda: tw.BaggingClassifier(n_estimators=2),
        lambda: tw.IsolationForest(n_estimators=2),
    ],
)
def test_ensembles_warn_once(make):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        make().fit({"number": np.arange(N) // 7, "it": DAYS}, Y)

    assert sum("dates as text" in str(each.message) for each in told) == 1
