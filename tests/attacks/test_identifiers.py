"""Tables made to fool the rules for columns that only tell rows apart: what is left out, what is kept, what is said."""

from __future__ import annotations

import uuid
import warnings

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.exceptions import DataWarning

N = 400
_rng = np.random.default_rng(11)
SIZE, NOISE = _rng.normal(size=N), _rng.normal(size=N)
TARGET = (SIZE + 0.3 * _rng.normal(size=N) > 0).astype(int)
SHUFFLED = _rng.permutation(N)


def _uuids():
    random = np.random.default_rng(5)
    return [str(uuid.UUID(bytes=random.bytes(16), version=4)) for _ in range(N)]


# Column name, cells, and whether the fit must leave it out.
CASES = {
    "ages in ascending order, a row each": ("age", np.arange(N) // 5 + 18, False),
    "years in ascending order": ("year", np.arange(N) + 1600, False),
    "a counter under another name": ("nr", np.arange(N) + 1, True),
    "a counter that begins late": ("nr", np.arange(N) + 900, False),
    "a shuffled counter that is called an id": ("customer_id", SHUFFLED, True),
    "a shuffled counter under another name": ("income", SHUFFLED, False),
    "a column that is called an id and repeats": ("store_id", np.arange(N) % 40, False),
    "uuids": ("key", _uuids(), True),
    "uuids of two rows each": ("key", _uuids()[: N // 2] * 2, False),
    "numbers padded with zeros": ("code", [f"{at:05d}" for at in SHUFFLED], True),
    "postal codes of many rows each": ("code", [f"{at % 90:05d}" for at in range(N)], False),
    "e-mail addresses": ("mail", [f"user{at}@example.org" for at in SHUFFLED], True),
    "names that differ in case": ("name", [f"{'Ann' if at % 2 else 'ANN'} {at // 2}" for at in range(N)], True),
    "floats of full precision": ("weight", _rng.normal(size=N), False),
    "instants": ("at", pd.date_range("2024-01-01", periods=N, freq="h"), False),
    "a counter with missing cells": ("nr", [None, *range(1, N)], False),
    "one text in every row": ("note", ["same"] * N, False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_that_only_tells_rows_apart_is_left_out_and_said_to_be(case):
    name, cells, expected = CASES[case]
    table = {name: list(cells), "size": SIZE}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        est = tw.DecisionTreeClassifier(max_depth=3).fit(table, TARGET)

    told = [str(each.message) for each in heard if issubclass(each.category, DataWarning)]
    assert bool(est.model_.schema.columns[0].left_out) == expected
    assert any(repr(name) in text and "left out" in text for text in told) == expected
    if expected:  # and the line says how to keep it: the tree may ask about it then
        assert any("to keep it, declare it" in text for text in told), told
        kind = "numeric" if est.model_.schema.columns[0].left_out.startswith(("counts", "another")) else "nominal"
        kept = tw.DecisionTreeClassifier(max_depth=3, **{kind: [name]}).fit(table, TARGET)
        assert not kept.model_.schema.columns[0].left_out


def _table(with_ids):
    ids = {"row": np.arange(N), "key": _uuids(), "mail": [f"{at}@example.org" for at in range(N)]}
    # Between columns that are used, so that positions shift.
    return {"size": SIZE, **(ids if with_ids else {}), "noise": NOISE, "kind": [list("abc")[at % 3] for at in range(N)]}


ESTIMATORS = {
    "tree": tw.DecisionTreeClassifier(max_features=1, random_state=3),
    "random": tw.DecisionTreeClassifier(splitter="random", max_features=2, random_state=3),
    "forest": tw.RandomForestClassifier(n_estimators=8, max_features=1, random_state=3),
    "share": tw.RandomForestClassifier(n_estimators=8, max_features=0.5, max_features_per_tree=2, random_state=3),
    "extra": tw.ExtraTreesClassifier(n_estimators=8, max_features="sqrt", random_state=3),
    "boosting": tw.GradientBoostingClassifier(
        n_estimators=8, features_per_tree=0.5, features_per_node=0.5, random_state=3
    ),
    "isolation": tw.IsolationForest(n_estimators=8, max_features=1, random_state=3),
    "isolation share": tw.IsolationForest(n_estimators=8, max_features=0.5, random_state=3),
}


@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_columns_are_drawn_among_those_that_are_used(name):
    target = () if "isolation" in name else (TARGET,)
    model = ESTIMATORS[name].fit(_table(with_ids=True), *target).model_

    assert [bool(column.left_out) for column in model.schema.columns] == [False, True, True, True, False, False]
    asked = set()
    for tree in model.trees:
        asked |= set(np.unique(tree.feature[~tree.is_leaf]).tolist())
    assert asked <= {0, 4, 5}
    assert len(asked) > 1
    assert any(tree.n_nodes > 1 for tree in model.trees)


@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")
@pytest.mark.parametrize("max_features", [None, 1.0, 3])
def test_without_draws_a_forest_is_the_one_of_the_table_without_the_columns(max_features):
    est = tw.RandomForestClassifier(n_estimators=5, max_features=max_features, bootstrap=False, random_state=0)
    with_ids = est.fit(_table(with_ids=True), TARGET).predict_proba(_table(with_ids=True))
    without = est.fit(_table(with_ids=False), TARGET).predict_proba(_table(with_ids=False))
    np.testing.assert_array_equal(with_ids, without)


@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")
def test_constraints_name_columns_beside_those_that_are_left_out():
    table = _table(with_ids=True)
    est = tw.GradientBoostingClassifier(
        n_estimators=5, monotonic_cst={"noise": -1}, interaction_cst=[["size"], ["noise"]]
    )
    proba = est.fit(table, TARGET).predict_proba(
        {**table, "noise": np.sort(NOISE), "size": np.zeros(N), "kind": ["a"] * N}
    )[:, 1]
    assert (np.diff(proba) <= 1e-12).all()
