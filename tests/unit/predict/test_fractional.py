"""A missing value takes every branch in part: shares by hand, a slow recursive twin, and deep and wide trees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_trees import SCHEMA, Node, branch, flat, grow_at_random, random_matrix
from sklearn.datasets import load_wine

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.model import Model
from treewright.predict import ensemble
from treewright.predict.fractional import rows_with_missing
from treewright.trees.arrays import LEAF, MULTIWAY, Tree
from treewright.trees.check_model import check_model
from treewright.trees.data import ModelData

nan = math.nan


def test_a_missing_value_is_divided_by_the_weights_of_the_branches(fractional_model: ModelData) -> None:
    # Leaves [5, 1.6] and [1, 2.4], of weight 6.6 and 3.4: together they say [6, 4] again.
    value = np.array([[6, 4], [5, 1.6], [1, 2.4]])
    model = Model.of(replace(fractional_model, trees=(replace(fractional_model.trees[0], value=value),)))
    asked = {"x": [nan, 2.5, 3.0]}

    shares = model.predict_proba(asked)

    assert shares == pytest.approx(np.array([[0.6, 0.4], [5 / 6.6, 1.6 / 6.6], [1 / 3.4, 2.4 / 3.4]]))
    assert model.predict(asked).tolist() == ["no", "no", "yes"]
    assert model.apply(asked).tolist() == [1, 1, 2]
    path = model.decision_path(asked)
    assert path.dtype == np.float64
    assert path.toarray() == pytest.approx(np.array([[1, 0.66, 0.34], [1, 1, 0], [1, 0, 1]]))


def test_of_equal_shares_the_lowest_leaf_and_the_first_class_are_taken(fractional_model: ModelData) -> None:
    tree = fractional_model.trees[0]
    even = replace(tree, weight=np.array([2.0, 1.0, 1.0]), value=np.array([[1.0, 1], [0, 1], [1, 0]]))
    model = Model.of(replace(fractional_model, trees=(even,)))

    assert model.predict_proba({"x": [nan]}).tolist() == [[0.5, 0.5]]
    assert model.predict({"x": [nan]}).tolist() == ["no"]
    assert model.apply({"x": [nan]}).tolist() == [1]


def test_a_branch_without_weight_gets_nothing(golf_model: ModelData) -> None:
    model = Model.of(replace(golf_model, missing="fractional"))
    asked = {"outlook": ["rainy"], "temperature": [None], "humidity": [70]}

    with pytest.warns(DataWarning, match="'temperature'; they follow every branch, in proportion"):
        path = model.decision_path(asked)

    assert dict(zip(path.indices.tolist(), path.data.tolist(), strict=True)) == {0: 1, 2: 1, 4: 0.4, 5: 0.6}
    with pytest.warns(DataWarning, match="every branch, in proportion to the branch weights"):
        shares = model.predict_proba(asked)
    assert shares.tolist() == [pytest.approx([0.4 * 0.5 + 0.6 / 3, 0.4 * 0.5 + 0.6 * 2 / 3])]


def test_an_empty_leaf_says_what_its_parent_would(golf_model: ModelData) -> None:
    model = Model.of(replace(golf_model, missing="fractional"))

    shares = model.predict_proba({"outlook": ["rainy"], "temperature": ["hot"], "humidity": [None]})

    assert shares.tolist() == [pytest.approx([0.4, 0.6])]


def arrivals(node: Node, row: np.ndarray, share: float, found: dict[int, float]) -> None:
    """Shares of a row in the nodes of a nested tree."""
    found[node["at"]] = share
    if node["test"] is None:
        return
    at = branch(node["test"], row[node["test"][0]])
    if at >= 0:
        arrivals(node["children"][at], row, share, found)
        return
    weights = [child["counts"].sum() for child in node["children"]]
    for child, weight in zip(node["children"], weights, strict=True):
        if weight > 0:
            arrivals(child, row, share * weight / sum(weights), found)


def random_models(n: int) -> Any:
    """Random classification models with their nested trees and rows to ask."""
    for seed in range(n):
        rng = np.random.default_rng(seed)
        matrix = random_matrix(rng, 60, 0.15)
        rows = [(row, 1.0) for row in range(60)]
        nested = grow_at_random(rng, matrix, rng.integers(0, 3, 60), rows)
        classes = (np.array(["p", "q", "r"]),)
        tree = flat(nested, matrix)
        model = Model("classification", SCHEMA, (tree,), classes, missing="fractional", unseen="majority")
        check_model(model)
        yield nested, model, random_matrix(rng, 60, 0.3, unseen=True)


def test_random_trees_spread_rows_as_the_twin_does() -> None:
    n_divided = 0
    for nested, model, asked in random_models(80):
        tree = model.trees[0]
        shares, codes = ensemble.predict_probabilities(model, asked)[0], ensemble.predict_codes(model, asked)[:, 0]
        leaves = ensemble.predict_leaves(model, asked)
        for at, row in enumerate(asked):
            found: dict[int, float] = {}
            arrivals(nested, row, 1.0, found)
            ends = {node: share for node, share in found.items() if tree.kind[node] == LEAF}
            said = sum(share * tree.value[node] / tree.value[node].sum() for node, share in ends.items())
            assert shares[at] == pytest.approx(said, abs=1e-12)
            assert shares[at].sum() == pytest.approx(1)
            assert ends[leaves[at]] >= max(ends.values()) - 1e-12
            if np.isnan(row).any():
                assert codes[at] == shares[at].argmax()
            n_divided += len(ends) > 1
    assert n_divided > 500


def test_one_row_is_the_row_of_the_table_to_the_last_bit() -> None:
    for _, model, asked in random_models(20):
        numbers = replace(
            model,
            task="regression",
            classes=(),
            trees=(replace(model.trees[0], value=model.trees[0].value[:, :1] / 3),),
        )
        for one in (model, numbers):
            table = {
                column.name: [
                    None
                    if math.isnan(x)
                    else (column.levels[int(x)] if int(x) < len(column.levels) else "?")
                    if column.levels
                    else x
                    for x in asked[:, at].tolist()
                ]
                for at, column in enumerate(SCHEMA.columns)
            }
            together = one.predict(table).tolist()
            alone = [one.predict_one({name: cells[at] for name, cells in table.items()}) for at in range(len(asked))]
            assert alone == together


def test_nothing_depends_on_threads_or_neighbours() -> None:
    rng = np.random.default_rng(1)
    _, model, _ = next(random_models(1))
    asked = random_matrix(rng, 45_000, 0.2)

    shares = ensemble.predict_probabilities(model, asked, n_jobs=2)[0]

    assert shares.tobytes() == ensemble.predict_probabilities(model, asked, n_jobs=1)[0].tobytes()
    few = ensemble.predict_probabilities(model, asked[44_990:], n_jobs=1)[0]
    assert few.tobytes() == shares[44_990:].tobytes()
    leaves = ensemble.predict_leaves(model, asked, n_jobs=2)
    assert (leaves == ensemble.predict_leaves(model, asked, n_jobs=1)).all()
    assert (ensemble.predict_leaves(model, asked[44_990:]) == leaves[44_990:]).all()


def test_rows_with_missing_cells_are_found_in_any_layout() -> None:
    matrix = np.zeros((70_000, 3), np.float32)
    matrix[[0, 65_536, 69_999], [2, 0, 1]] = nan

    for table in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2]):
        assert rows_with_missing(table).tolist() == [0, 65_536, 69_999]
    assert rows_with_missing(np.full((3, 2), np.inf)).tolist() == []
    assert rows_with_missing(matrix[:0]).tolist() == []


def test_a_row_arrives_at_all_20_001_leaves_of_a_chain(chain_model: Callable[[int], ModelData]) -> None:
    chain = chain_model(20_000)
    schema = replace(chain.schema, columns=(replace(chain.schema.columns[0], missing_seen=True),))
    model = Model.of(replace(chain, schema=schema, missing="fractional"))

    # Every leaf holds one of the 20,001 rows: each gets the same share, and says its own position.
    said = model.predict({"x": [nan]})

    positions = [*range(1, 40_000, 2), 40_000]
    assert said == pytest.approx(np.mean(positions))
    assert model.decision_path({"x": [nan]}).nnz == 40_001
    assert model.predict_one([nan]) == said[0]


def test_a_row_arrives_at_all_of_100_000_branches(fractional_model: ModelData) -> None:
    k = 100_000
    rows = np.append(k, np.ones(k))
    tree = Tree(
        kind=np.append(MULTIWAY, np.zeros(k)).astype(np.uint8),
        feature=np.append(0, np.full(k, -1)).astype(np.int32),
        threshold=np.zeros(k + 1),
        first_child=np.append(1, np.full(k, -1)).astype(np.int32),
        n_branches=np.append(k, np.zeros(k)).astype(np.int32),
        missing_branch=np.zeros(k + 1, np.int32),
        level_set=np.append(0, np.full(k, -1)).astype(np.int32),
        n_samples=rows.astype(np.int64),
        weight=rows,
        impurity=np.zeros(k + 1),
        value=np.arange(k + 1.0)[:, None],
        levels_left=np.zeros(0, np.uint64),
        levels_seen=np.zeros(0, np.uint64),
        level_branch=np.append(np.arange(k), ~0).astype(np.int32),
    )
    schema = replace(SCHEMA, columns=(replace(SCHEMA.columns[3], levels=tuple(f"v{i:06}" for i in range(k))),))
    model = Model("regression", schema, (tree,), missing="fractional")

    assert ensemble.predict_numbers(model, np.array([[nan], [7.0]])).ravel() == pytest.approx([(k + 1) / 2, 8.0])


def test_no_share_of_a_class_is_above_one() -> None:
    # scikit-learn's metrics refuse such a table of shares.
    X, y = load_wine(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    tree = tw.DecisionTreeClassifier(missing="fractional").fit(X, y)

    shares = tree.predict_proba(X)

    assert shares.max() == 1.0
    assert [tree.predict_proba_one(row).tolist() for row in X] == shares.tolist()
