"""Pages about degenerate numbers open: no chart counts ticks without end."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw

ROWS = np.random.default_rng(3).normal(size=(120, 3))
LAST_DIGIT = np.column_stack([1e16 + ROWS[:, 0], ROWS[:, 1:]])


@pytest.mark.parametrize(
    ("X", "fitted", "judged"),
    [
        (ROWS, np.ones(120), np.ones(120)),
        (ROWS, 2 * ROWS[:, 0], np.ones(120)),
        (LAST_DIGIT, ROWS[:, 0], ROWS[:, 0]),
    ],
    ids=["one number", "one number judged", "last digits"],
)
def test_numbers_that_hardly_differ_are_drawn(X, fitted, judged, open_page):
    est = tw.DecisionTreeRegressor(max_depth=3).fit(X, fitted)

    opened = open_page(tw.report(est, X, judged).html)

    assert opened.page.locator("#quality svg").count() > 0
