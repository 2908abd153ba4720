"""Every verb of a model asks what ``missing`` says; one row is answered as the table is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError, DataWarning, MissingValueError, UnseenLevelError
from treewright.model import Model
from treewright.trees.data import ModelData

VERBS: dict[str, Callable[[Model, Any], Any]] = {
    "predict": lambda model, table: model.predict(table),
    "predict_proba": lambda model, table: model.predict_proba(table),
    "apply": lambda model, table: model.apply(table),
    "decision_path": lambda model, table: model.decision_path(table),
}


@pytest.fixture
def strict(golf_model: ModelData) -> Model:
    return Model.of(replace(golf_model, missing="error"))


def golf(outlook: Any, temperature: Any, humidity: Any) -> dict[str, list[Any]]:
    return {"outlook": outlook, "temperature": temperature, "humidity": humidity}


@pytest.mark.parametrize("verb", VERBS)
def test_missing_cells_are_refused_where_fit_refused_them(strict: Model, verb: str) -> None:
    table = golf(["sunny"] * 4, ["hot", "mild", "cool", "hot"], [70, None, 80, math.nan])

    with pytest.raises(
        MissingValueError, match=r"column 'humidity': 2 missing value\(s\), first row 1; .*fill them in"
    ):
        VERBS[verb](strict, table)


@pytest.mark.parametrize("verb", VERBS)
def test_a_level_that_counts_as_missing_is_refused_in_other_words(strict: Model, verb: str) -> None:
    table = golf(["sunny", "snow", "fog"], ["hot"] * 3, [70, 71, 72])

    with pytest.raises(
        MissingValueError, match=r"column 'outlook': 2 cell\(s\) with a level that fit never saw.* row 1"
    ):
        VERBS[verb](strict, table)
    with pytest.raises(UnseenLevelError):
        VERBS[verb](Model.of(replace(strict, unseen="error")), table)
    with pytest.warns(DataWarning, match="2 of 3 cells, such as 'fog'"):
        VERBS[verb](Model.of(replace(strict, unseen="majority")), table)


@pytest.mark.parametrize(
    "row", [["sunny", "hot", None], ["sunny", "hot", math.nan], ["snow", "hot", 70.0], {"humidity": 1, "outlook": None}]
)
def test_one_row_with_a_missing_cell_is_refused_too(strict: Model, row: Any) -> None:
    if isinstance(row, dict):
        row = {"temperature": "mild"} | row

    with pytest.raises(MissingValueError, match=r"column '(humidity|outlook)': 1 "):
        strict.predict_one(row)


def test_the_refusal_of_missing_cells_is_a_data_error_and_whole_rows_are_answered(strict: Model) -> None:
    assert issubclass(MissingValueError, DataError)
    assert strict.predict(golf(["overcast"], ["hot"], [70])).tolist() == ["yes"]
    assert strict.predict_one(["overcast", "hot", 70]) == "yes"


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("seen", [True, False])
def test_a_plain_matrix_is_refused_by_position(mean_model: ModelData, order: Any, seen: bool) -> None:
    schema = Schema(
        (Column("x0", "numeric", missing_seen=seen), Column("x1", "numeric", missing_seen=seen)), named=False
    )
    model = Model.of(replace(mean_model, schema=schema, missing="error"))
    matrix = np.asarray([[1.0, 2.0], [0.1, math.nan], [np.inf, -np.inf]], order=order)

    with pytest.raises(MissingValueError, match=r"column 1: 1 missing value\(s\), first row 1"):
        model.predict(matrix)
    assert model.predict(matrix[::2]).tolist() == [7, 7]
    assert model.predict(matrix[:0]).tolist() == []
    assert model.predict_one([-np.inf, np.inf]) == 2
    with pytest.raises(MissingValueError, match=r"'x0': 1 missing|column 0: 1 missing"):
        model.predict_one([math.nan, 1.0])


def test_the_warning_says_which_way_missing_values_go(surrogate_model: ModelData, mean_model: ModelData) -> None:
    table = {"length": [1.0], "width": [1.0], "site": ["a"], "sepal": [None]}
    with pytest.warns(DataWarning, match="'sepal'; a surrogate test decides"):
        Model.of(surrogate_model).predict(table)
    with pytest.warns(DataWarning, match="'x'; they follow the branch for missing values at each test"):
        Model.of(mean_model).predict({"x": [None]})


CELLS = {
    "golf_model": (["overcast", "rainy", "sunny", "snow", None], ["cool", "mild", "hot"], [70, 72.5, 80.0, 99, None]),
    "own_branch_model": ([30, 31.0, None], ["Bonn", "Oslo", "X", None], [10.0, 20, 1e9, None], ["S", "M", "L", None]),
    "surrogate_model": ([2.5, 3, 5, None], [0.8, 0.9, None], ["a", "b", "c", "d", None], [5.5, 5.6]),
    "full_model": ([1.0, 3, None], ["Bonn", "Oslo", "Rome", "X"], ["S", "M", "L"]),
    "fractional_model": ([2.5, 2.6, None],),
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("unseen", ["missing", "majority"])
def test_one_row_is_answered_as_the_table_is(name: str, unseen: Any, request: pytest.FixtureRequest) -> None:
    model = Model.of(replace(request.getfixturevalue(name), unseen=unseen))
    rows = np.array(np.meshgrid(*(np.array(cells, object) for cells in CELLS[name]), indexing="ij"), object)
    rows = rows.reshape(len(CELLS[name]), -1).T
    names = model.schema.names
    table = {name: rows[:, at].tolist() for at, name in enumerate(names)}

    together = model.predict(table).tolist()

    assert [model.predict_one(dict(zip(names, row, strict=True))) for row in rows.tolist()] == together
    assert [model.predict_one(row) for row in rows.tolist()] == together
    assert len(set(together)) > 1


def test_a_node_can_be_asked_for(golf_model: ModelData) -> None:
    model = Model.of(golf_model)

    assert model.node(0).samples == 14
    assert model.node(3).samples == 5
