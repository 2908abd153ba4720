"""Claims about a tree as plain data."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.exchange.structure import to_structure
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData


def nodes_of(model: ModelData) -> list[dict[str, Any]]:
    """The nodes of the first tree, after a trip through strict JSON."""
    text = json.dumps(to_structure(model), allow_nan=False)
    return json.loads(text)["trees"][0]["nodes"]  # type: ignore[no-any-return]


def test_nodes_are_a_flat_list_by_number(penguin_model: ModelData) -> None:
    nodes = nodes_of(penguin_model)

    assert [node["node"] for node in nodes] == list(range(11))
    assert [node["parent"] for node in nodes] == [None, 0, 0, 1, 1, 2, 2, 4, 4, 8, 8]
    assert [node["depth"] for node in nodes] == [0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4]
    assert nodes[8]["branches"] == [9, 10]
    assert "branches" not in nodes[9]


def test_every_kind_of_test_says_how_to_answer(penguin_model: ModelData) -> None:
    nodes = nodes_of(penguin_model)

    kinds = [nodes[node]["test"]["type"] for node in (0, 1, 2, 4, 8)]
    assert kinds == ["subset", "threshold", "present", "subset", "rank"]
    assert nodes[0]["test"]["levels"] == [["Biscoe"], ["Dream", "Torgersen"]]
    assert (nodes[0]["test"]["missing_branch"], nodes[0]["test"]["unseen_branch"]) == (0, 1)
    assert nodes[8]["test"]["threshold"] == 0.5


def test_numbers_are_exact(mean_model: ModelData) -> None:
    nodes = nodes_of(mean_model)

    assert nodes[0]["test"]["threshold"] == 0.1 + 0.2
    assert (nodes[1]["prediction"], nodes[1]["samples"], nodes[1]["impurity"]) == ([2.0], 4, 1.0)


def test_a_reader_of_the_structure_routes_rows_like_the_tree(iris_model: ModelData) -> None:
    nodes = nodes_of(iris_model)

    def leaf_of(row: tuple[float, ...]) -> int:
        node = nodes[0]
        while "test" in node:
            test = node["test"]
            node = nodes[node["branches"][0 if row[test["column"]] <= test["threshold"] else 1]]
        return int(node["node"])

    assert [leaf_of(row) for row in ((2.45, 9.0), (2.46, 1.75), (2.46, 1.76))] == [1, 3, 4]


def test_labels_keep_their_json_types(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[1, 2]])
    schema = Schema((Column(("a", 1), "nominal", (True, 2, "x", None)),))
    for labels, shown in (
        (np.array([False, True]), [False, True]),
        (np.array([3, 5]), [3, 5]),
        (np.array(["2024-01-01", "2024-01-02"], "M8[D]"), ["2024-01-01", "2024-01-02"]),
        (np.array(["b", 7], object), ["b", 7]),
    ):
        structure = to_structure(ModelData("classification", schema, (tree,), (labels,)))
        assert structure["targets"][0]["classes"] == shown
        assert structure["trees"][0]["nodes"][0]["prediction"] == [shown[1]]
    assert structure["columns"][0]["name"] == "('a', 1)"
    assert structure["columns"][0]["levels"] == [True, 2, "x", None]


def test_what_json_cannot_hold_becomes_text(mean_model: ModelData) -> None:
    facts = {"limit": float("inf"), "deep": {"a": [1, (2, float("nan"))]}, "other": {3}}
    model = replace(mean_model, facts=facts)

    written = json.loads(json.dumps(to_structure(model), allow_nan=False))["facts"]

    assert written == {"limit": "inf", "deep": {"a": [1, [2, "nan"]]}, "other": "{3}"}


def test_hostile_names_pass_through_json(hostile_model: ModelData) -> None:
    columns = json.loads(json.dumps(to_structure(hostile_model), allow_nan=False))["columns"]

    assert columns[1]["name"] == "a\nb\u202ec\x1b[31m"


def routed(structure: dict[str, Any], row: list[float | str | None]) -> int:
    """The leaf of a row by what the structure says, as a program in another language would do it."""
    columns, nodes = structure["columns"], structure["trees"][0]["nodes"]

    def number(text: float | str) -> float:
        return float(text)

    def branch_of(test: dict[str, Any], cell: float | str) -> int | None:
        kind = test["type"]
        if kind in ("subset", "multiway"):
            sides = zip(test["levels"], test.get("absent_levels", [[]] * len(test["levels"])), strict=True)
            return next((branch for branch, side in enumerate(sides) if cell in side[0] + side[1]), None)
        value = columns[test["column"]]["levels"].index(cell) if "rank" in kind else float(cell)
        cuts = test["cuts"] if "cuts" in test else [test["threshold"]]
        return sum(value > number(cut) for cut in cuts)

    node = nodes[0]
    while "test" in node:
        test, branch = node["test"], None
        if row[test["column"]] is not None:
            branch = branch_of(test, row[test["column"]])
        for surrogate in node.get("surrogates", []) if row[test["column"]] is None else []:
            if branch is None and row[surrogate["column"]] is not None:
                answer = branch_of(surrogate, row[surrogate["column"]])
                branch = answer if answer is None or not surrogate["flipped"] else 1 - answer
        node = nodes[node["branches"][test["missing_branch"] if branch is None else branch]]
    return int(node["node"])


def test_a_reader_can_route_rows_through_every_kind_of_test(
    golf_model: ModelData, own_branch_model: ModelData, surrogate_model: ModelData
) -> None:
    golf, own, stand_in = map(to_structure, (golf_model, own_branch_model, surrogate_model))

    kinds = [node["test"]["type"] for node in (*golf["trees"][0]["nodes"], *own["trees"][0]["nodes"]) if "test" in node]
    assert kinds == ["multiway", "multiway", "intervals", "threshold", "subset", "intervals", "multiway"]
    assert (golf["missing"], own["missing"], stand_in["missing"]) == ("direction", "branch", "surrogate")
    rows = [["overcast", None, None], [None, "hot", None], ["sunny", "hot", 72.5], ["sunny", "hot", 80.0]]
    assert [routed(golf, row) for row in rows] == [1, 6, 7, 8]
    assert routed(golf, ["sunny", "hot", None]) == 9
    more = [[30.5, None, 1.0, "S"], [31.0, "Oslo", 20.5, "S"], [31.0, "Oslo", None, "S"], [None, "Bonn", 1.0, "M"]]
    assert [routed(own, row) for row in more] == [6, 9, 10, 12]
    # length missing: width says left; width missing too: site a is flipped, so right, then left.
    assert [routed(stand_in, row) for row in ([None, 0.8, "c", 9.0], [None, None, "a", 0.0])] == [1, 3]
    assert [routed(stand_in, row) for row in ([None] * 4, [9.0, None, None, None], [4.0, 1.0, None, 1.0])] == [3, 3, 4]


def test_intervals_of_ranks_and_an_infinite_cut_are_told_apart(golf_model: ModelData) -> None:
    tree = golf_model.trees[0]
    ranks = replace(tree, feature=np.where(np.arange(10) == 3, 1, tree.feature).astype(np.int32))
    ranks = replace(ranks, cuts=np.array([0.5, np.inf]))

    test = nodes_of(replace(golf_model, trees=(ranks,)))[3]["test"]

    assert (test["type"], test["cuts"]) == ("rank_intervals", [0.5, "inf"])
    assert test["answers"] == ["= cool", "> cool", "is missing"]


def test_surrogates_are_listed_best_first_and_only_where_the_model_has_them(
    surrogate_model: ModelData, golf_model: ModelData
) -> None:
    nodes = nodes_of(surrogate_model)

    assert [surrogate["question"] for surrogate in nodes[0]["surrogates"]] == [
        "width <= 0.8",
        "site = a",
        "sepal <= 5.5",
    ]
    assert nodes[0]["surrogates"][1]["levels"] == [["a"], ["b", "c"]]
    assert [nodes[2]["surrogates"][0][key] for key in ("flipped", "agreement", "adjusted")] == [True, 0.94, 0.88]
    assert not any("surrogates" in node for node in nodes_of(golf_model))
