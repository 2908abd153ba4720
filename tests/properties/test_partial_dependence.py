"""Properties of partial dependence, on random trees and random rows."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.explain.partial_dependence import spread_values

NUMBERS = st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, math.nan])
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def cases(draw: st.DrawFn) -> Any:
    """Rows with their target: two columns of numbers with gaps, one of names; and whether a forest is grown."""
    n = draw(st.integers(3, 25))
    table = {
        "a": [0.0, *draw(st.lists(NUMBERS, min_size=n - 1, max_size=n - 1))],
        "b": [*draw(st.lists(NUMBERS, min_size=n - 1, max_size=n - 1)), 1.0],
        "c": draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n)),
    }
    target = draw(st.lists(st.sampled_from(["no", "perhaps", "yes"]), min_size=n, max_size=n))
    return table, target, draw(st.booleans())


def fitted(case: Any) -> Any:
    """A tree or forest, its rows, and how many they are."""
    table, target, is_forest = case
    est = tw.RandomForestClassifier(3, random_state=0) if is_forest else tw.DecisionTreeClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        est.fit(table, target)
    return est, table, len(target)


@given(cases(), st.sampled_from("abc"))
def test_shares_of_all_classes_add_up_to_one_and_means_lie_between_single_rows(case: Any, column: str) -> None:
    est, table, n = fitted(case)
    every = [est.partial_dependence(table, column, individual=n, label=label) for label in est.classes_.tolist()]

    np.testing.assert_allclose(sum(found.values for found in every), 1.0, rtol=1e-12)
    for found in every:
        assert found.rows.tolist() == list(range(n))
        low, high = found.individual[0].min(axis=0), found.individual[0].max(axis=0)
        assert (found.values[0] >= low - 1e-12).all()
        assert (found.values[0] <= high + 1e-12).all()


@given(cases(), st.sampled_from("abc"), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_no_mean(case: Any, column: str, random: Any) -> None:
    est, table, n = fitted(case)
    order = random.sample(range(n), n)
    turned = {name: [cells[at] for at in order] for name, cells in table.items()}
    first, second = (est.partial_dependence(rows, column) for rows in (table, turned))

    assert first.axes[0].values == second.axes[0].values
    np.testing.assert_allclose(first.values, second.values, rtol=1e-12, atol=1e-15)


@given(cases(), st.sampled_from("abc"))
def test_a_row_says_at_its_own_value_what_the_model_says_of_it(case: Any, column: str) -> None:
    est, table, n = fitted(case)
    found = est.partial_dependence(table, column, individual=n, label=est.classes_[0], grid=100)
    said = est.predict_proba(table)[:, 0]
    places = {value: at for at, value in enumerate(found.axes[0].values)}

    for row in range(n):
        if table[column][row] in places:
            assert found.individual[0, row, places[table[column][row]]] == said[row]


@given(cases())
def test_a_pair_holds_what_one_column_says_of_rows_that_have_the_other_value(case: Any) -> None:
    est, table, n = fitted(case)
    pair = est.partial_dependence(table, "a", "c")
    across, up = (axis.values for axis in pair.axes)
    for at, level in enumerate(up):
        alone = est.partial_dependence({**table, "c": [level] * n}, "a", grid=list(across))
        np.testing.assert_allclose(pair.values[:, :, at], alone.values, rtol=1e-12, atol=1e-15)


@given(st.lists(FINITE, min_size=1, max_size=60), st.integers(2, 20))
def test_the_grid_holds_values_of_the_rows_with_both_ends_and_never_too_many(held: list[float], n_points: int) -> None:
    found = spread_values(np.array(held), n_points)

    assert len(found) == min(n_points, len(set(held)))
    assert set(found.tolist()) <= set(held)
    assert (found[0], found[-1]) == (min(held), max(held))
    assert (np.diff(found) > 0).all()
