"""``IsolationForest(warm_start=True)``: a forest that grew in two steps is that of one step, or is refused."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.estimators.isolation import IsolationForest
from treewright.exceptions import ParameterError
from treewright.trees import codec


@pytest.fixture
def table():
    """Two columns of numbers, one of them whole."""
    rng = np.random.default_rng(1)
    return {"x": rng.normal(size=120).tolist(), "k": rng.integers(0, 40, 120).tolist()}


def new(n_estimators, **parameters):
    return IsolationForest(n_estimators=n_estimators, **{"contamination": 0.1, **parameters})


def grown(table, n_estimators=6, **parameters):
    return new(n_estimators, warm_start=True, **parameters).fit(table)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_samples", 50),
        ("max_samples", 120),
        ("max_features", 1),  # one column; the default 1.0 is all of them
        ("bootstrap", True),
        ("random_state", 7),
        ("nominal", ["k"]),
        ("numeric", ["k"]),
        ("ordinal", {"k": list(range(40))}),
    ],
)
def test_a_parameter_that_trees_depend_on_is_refused_by_its_name(table, name, value):
    forest = grown(table)
    before = forest.model_

    with pytest.raises(ParameterError, match=f"{name} is different from the fit before"):
        forest.set_params(n_estimators=9, **{name: value}).fit(table)

    assert forest.model_ is before


@pytest.mark.parametrize("change", [{"contamination": 0.2}, {"unseen": "majority"}, {"n_jobs": 1, "verbose": 0}])
def test_a_parameter_that_no_tree_depends_on_may_change(table, change):
    forest = grown(table).set_params(n_estimators=9, **change).fit(table)

    at_once = new(9, **change).fit(table)
    assert codec.dumps(forest.model_) == codec.dumps(at_once.model_)
    assert forest.offset_ == at_once.offset_


def test_another_table_is_refused(table):
    weights = np.linspace(1, 2, 120)
    others = {
        "a cell": {**table, "x": [table["x"][0] + 1, *table["x"][1:]]},
        "a row fewer": {name: cells[1:] for name, cells in table.items()},
        "another order": {name: cells[::-1] for name, cells in table.items()},
        "another name": {"x": table["x"], "l": table["k"]},
        "names for numbers": {"x": table["x"], "k": [f"k{k}" for k in table["k"]]},
    }
    forest = grown(table).set_params(n_estimators=9)

    for other in others.values():
        with pytest.raises(ParameterError, match="columns, rows or weights are different from the fit before"):
            forest.fit(other)
    with pytest.raises(ParameterError, match="columns, rows or weights are different from the fit before"):
        forest.fit(table, sample_weight=weights)


def test_names_with_other_levels_are_another_table():
    forest = grown({"town": ["a", "b", "c"] * 6})

    with pytest.raises(ParameterError, match="columns, rows or weights are different"):
        forest.set_params(n_estimators=9).fit({"town": ["x", "y", "z"] * 6})


def test_the_same_numbers_in_another_type_are_the_same_table():
    X = np.random.default_rng(2).normal(size=(90, 2)).astype(np.float32)

    forest = grown(X).set_params(n_estimators=9).fit(np.asfortranarray(X.astype(np.float64)))

    assert codec.dumps(forest.model_) == codec.dumps(new(9).fit(X).model_)


def test_a_random_state_that_draws_is_asked_once(table):
    forest = grown(table, 3, random_state=np.random.RandomState(5), bootstrap=True)

    forest.set_params(n_estimators=7).fit(table)

    at_once = new(7, random_state=np.random.RandomState(5), bootstrap=True).fit(table)
    assert codec.dumps(forest.model_) == codec.dumps(at_once.model_)
    for name in ("estimators_samples_", "estimators_features_"):
        both = [[drawn.tolist() for drawn in getattr(each, name)] for each in (forest, at_once)]
        assert both[0] == both[1]


def test_rows_of_weight_0_may_change_and_samples_are_called_by_their_new_places(table):
    weights = np.ones(121)
    weights[0] = 0
    with_one_more = {name: [cells[0], *cells] for name, cells in table.items()}

    forest = grown(table, max_samples=20).set_params(n_estimators=7).fit(with_one_more, sample_weight=weights)

    at_once = new(7, max_samples=20).fit(with_one_more, sample_weight=weights)
    assert [rows.tolist() for rows in forest.estimators_samples_] == [
        rows.tolist() for rows in at_once.estimators_samples_
    ]


def test_without_warm_start_everything_may_change(table):
    forest = grown(table).set_params(warm_start=False, max_samples=30, n_estimators=3)

    assert len(forest.fit({"x": table["x"]}).estimators_) == 3
