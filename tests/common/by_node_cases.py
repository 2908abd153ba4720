"""Trees that grow node by node on tables that Hypothesis makes up. In: a draw. Out: tables, fitted estimators.

Callers: test_by_node and test_significance of tests/properties.
"""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import strategies as st

import treewright as tw
from treewright.trees.arrays import Tree

KINDS = {
    "multiway": lambda: tw.DecisionTreeClassifier(nominal_splits="multiway", n_jobs=1),
    "one against the rest": lambda: tw.DecisionTreeClassifier(nominal_splits="one_vs_rest", missing="branch", n_jobs=1),
    "surrogates": lambda: tw.DecisionTreeClassifier(missing="surrogate", n_jobs=1),
    "fractional": lambda: tw.DecisionTreeClassifier(missing="fractional", n_jobs=1),
    "gain ratio": lambda: tw.DecisionTreeClassifier(criterion="gain_ratio", nominal_splits="multiway", n_jobs=1),
    "variance by branches": lambda: tw.DecisionTreeRegressor(nominal_splits="multiway", missing="branch", n_jobs=1),
    "C4.5": lambda: tw.C45Classifier(confidence=None, n_jobs=1),
    "pruned C4.5": lambda: tw.C45Classifier(n_jobs=1),
}
LEVELS = ("blue", "green", "red")


@st.composite
def tables(draw, smallest=2):
    """Two columns of numbers, one of levels, some cells missing; three labels; whole weights."""
    n = draw(st.integers(smallest, 30))
    number = st.one_of(st.integers(-3, 3).map(float), st.integers(-3, 3).map(float), st.just(np.nan))
    colour = st.sampled_from((*LEVELS, *LEVELS, None))
    table = {
        "x": np.array(draw(st.lists(number, min_size=n, max_size=n))),
        "z": np.array(draw(st.lists(number, min_size=n, max_size=n))),
        "colour": draw(st.lists(colour, min_size=n, max_size=n)),
    }
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), float)
    return table, y, weights


def taken(table, rows):
    """Some rows of a table, in this order."""
    return {
        name: [cells[at] for at in rows] if isinstance(cells, list) else cells[rows] for name, cells in table.items()
    }


def fitted(make, table, y, weights=None):
    """A fitted estimator; its levels are declared so that a part of the rows has the same schema."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant and empty columns are drawn now and then
        return make().set_params(nominal={"colour": list(LEVELS)}).fit(table, y, weights)


def assert_alike(first: Tree, second: Tree) -> None:
    """The same tests and counts; weights and values but for the order in which they were added."""
    for name in (
        "kind",
        "feature",
        "threshold",
        "first_child",
        "n_branches",
        "missing_branch",
        "n_samples",
        "levels_left",
        "levels_seen",
        "level_branch",
        "surrogate_feature",
        "surrogate_threshold",
    ):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    for name in ("weight", "value", "impurity", "surrogate_agreement"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-12, atol=1e-12, err_msg=name)
