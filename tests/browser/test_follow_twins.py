"""The scripts send rows down as Python does, and find the same changes: every kind of test, every policy."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from treewright.data.derived import (
    level_pairs,
    linear_score,
    pairs_of,
    rows_of_levels,
    with_derived,
    with_derived_cells,
)
from treewright.data.encoder import encode_fit
from treewright.explain.cheapest_leaf import Query, cheapest_leaf, nearest_value
from treewright.explain.counterfactual import preferred_levels
from treewright.predict.ensemble import leaf_table, predict_leaves
from treewright.predict.fractional import decision_path
from treewright.reporting.tree import supports_of
from treewright.show.page.render import asset, plain
from treewright.show.page.tree import columns_in_words, tree_part
from treewright.trees.data import ModelData
from treewright.trees.summary import summarize

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "predict"))
from random_trees import SCHEMA, flat, grow_at_random, random_matrix

pytestmark = pytest.mark.smoke  # a change of Python alone may part the twins
POLICIES = ("direction", "branch", "surrogate", "fractional", "error")
COLUMNS = [{"name": column.name, "kind": column.kind, "levels": list(column.levels)} for column in SCHEMA.columns]
HARNESS = """([cases, name]) => {
  %s
  const cell = (held) => held === null ? null : numbers.value(held);
  const work = {
    ways: ({tree, columns, rows, closed}) => rows.map((row) => {
      const isLeaf = (node) => closed.includes(node.id);
      const found = route.way(tree, columns, row.map(cell), isLeaf);
      return {found, ends: route.leaves(tree, found, isLeaf)};
    }),
    changes: ({tree, columns, rows, keep, scales, supports}) => rows.map((row, at) => {
      const places = new Map(tree.nodes.map((node, at) => [node.id, at]));
      const levels = (node, column) => {
        const pair = supports[places.get(node.id)].levels.find(([each]) => each === column);
        return pair ? pair[1] : undefined;
      };
      const task = {tree, columns, cells: row.map(cell), keep: new Set(keep[at]), scales, levels};
      return change.find(task, [0, 1, 2].map((code) => (node) => node.code === code)).map((one) => one && {
        leaf: one.node.id, cost: one.cost, exact: one.exact,
        after: one.changes.map((each) => [each.column, each.after]),
      });
    }),
    made: ({columns, rows}) => rows.map((row) => {
      const cells = row.map(cell);
      return columns.map((column, at) => column.part ? numbers.madeOf(columns, at, cells) : cells[at])
        .map((held) => held === null || Number.isFinite(held) ? held : String(held));
    }),
  };
  return JSON.stringify(JSON.parse(cases).map(work[name]));
}"""


@pytest.fixture(scope="module")
def scripts(chromium):
    """Runs the page's own scripts on cases."""
    page = chromium.new_page()
    text = HARNESS % "\n".join(asset("scripts", f"{name}.js") for name in ("numbers", "route", "change"))
    # As text both ways: Playwright takes seconds over as many values.
    yield lambda cases, name: json.loads(page.evaluate(text, [json.dumps(plain(cases)), name]))
    page.close()


def test_columns_made_of_others_have_the_cells_of_python(scripts):
    rng = np.random.default_rng(3)
    numbers = np.array([0.0, -0.0, 1.5, -2.25, 1e308, -1e308, 5e-324, np.inf, -np.inf, np.nan])
    schema, matrix = encode_fit({
        "a": rng.choice(numbers, 300).tolist(), "b": rng.choice(numbers, 300).tolist(),
        "town": [None if rng.random() < 0.1 else f"t{rng.integers(0, 9)}" for _ in range(300)],
        "kind": [None if rng.random() < 0.1 else "abc"[rng.integers(0, 3)] for _ in range(300)],
    })  # fmt: skip
    of_columns = [[0.1, *rng.normal(size=10), *rng.normal(size=4)], [1 / 3, *sorted(rng.normal(size=2)), 0.7, -0.9]]
    wide = with_derived(schema, [
        rows_of_levels(schema, 2, matrix[:, 2], None), *pairs_of(schema, [0, 1]),
        level_pairs(schema, 2, 3, matrix[:100]), linear_score("linear score", (2, 3), of_columns[0]),
        linear_score("another", (0,), of_columns[1]),
    ])  # fmt: skip
    later = matrix.copy()
    later[:20, 2], later[10:30, 3] = 9, 3  # levels that fit never saw
    expected = with_derived_cells(wide, later)
    columns = [plain(each) for each in columns_in_words(wide)]
    [found] = scripts([{"columns": columns, "rows": later.tolist()}], "made")
    as_numbers = [[math.nan if held is None else float(str(held).replace("I", "i")) for held in row] for row in found]
    np.testing.assert_array_equal(np.array(as_numbers), expected)


def random_case(seed, missing):
    """A model with every kind of test, and rows."""
    rng = np.random.default_rng(seed)
    n, absent = int(rng.integers(8, 120)), 0.0 if missing == "error" else 0.15
    matrix = random_matrix(rng, n, absent)
    rows = [(row, float(rng.integers(1, 4))) for row in range(n)]
    options = {"own": missing == "branch", "substitutes": missing == "surrogate", "depth": int(rng.integers(1, 7))}
    tree = flat(grow_at_random(rng, matrix, rng.integers(0, 3, n), rows, **options), matrix)
    model = ModelData("classification", SCHEMA, (tree,), (np.array(["a", "b", "c"]),), missing=missing)
    return model, random_matrix(rng, 25, 2 * absent, unseen=True)


@pytest.mark.parametrize("missing", POLICIES)
def test_ways_are_those_of_decision_path_and_apply(scripts, missing):
    models = [random_case(seed, missing) for seed in range(20)]
    cases = [{"tree": tree_part(model), "columns": COLUMNS, "rows": rows, "closed": []} for model, rows in models]

    answers = scripts(cases, "ways")

    several = 0
    for (model, rows), found in zip(models, answers, strict=True):
        leaves = predict_leaves(model, rows)
        path = decision_path(model, rows, leaves).toarray()
        for row, way in enumerate(found):
            shares = np.zeros(model.trees[0].n_nodes)
            for each in way["found"]:
                shares[each["node"]] += each["share"]
            assert np.array_equal(shares, path[row])
            assert way["ends"][0]["node"] == leaves[row]
            several += len(way["ends"]) > 1
    assert (several > 30) == (missing == "fractional")


@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
def test_ways_end_where_the_shape_ends(scripts, missing):
    models = [random_case(seed, missing) for seed in range(20)]
    closed = [
        [node for node in range(model.trees[0].n_nodes) if not model.trees[0].is_leaf[node] and node % 3 == 1]
        for model, _ in models
    ]
    cases = [
        {"tree": tree_part(model), "columns": COLUMNS, "rows": rows, "closed": ends}
        for (model, rows), ends in zip(models, closed, strict=True)
    ]

    answers = scripts(cases, "ways")

    stopped = 0
    for (model, rows), ends, found in zip(models, closed, answers, strict=True):
        parents = model.trees[0].parent
        path = decision_path(model, rows, predict_leaves(model, rows)).toarray()
        gone = np.zeros(model.trees[0].n_nodes, bool)
        for node in range(1, len(gone)):
            gone[node] = gone[parents[node]] or parents[node] in ends
        path[:, gone] = 0
        for row, way in enumerate(found):
            assert {each["node"]: each["share"] for each in way["found"]} == {
                int(node): path[row, node] for node in np.flatnonzero(path[row])
            }
            stopped += any(each["node"] in ends for each in way["ends"])
    assert stopped > 50


def test_a_row_with_a_missing_cell_has_no_way_where_the_model_refuses_it(scripts):
    model, rows = random_case(3, "error")
    rows[0, 1] = math.nan
    tree = tree_part(model)

    [found] = scripts([{"tree": tree, "columns": COLUMNS, "rows": rows, "closed": []}], "ways")

    assert found[0]["found"] == []
    assert found[1]["found"] != []


def test_a_way_ends_at_a_node_that_is_folded_in_the_page(scripts):
    for seed in range(40):
        model, rows = random_case(seed, "direction")
        if model.trees[0].n_nodes < 15:
            continue
        tree = tree_part(model, max_nodes=9)
        folded = {node.id for node in tree.nodes if node.hidden}

        [found] = scripts([{"tree": tree, "columns": COLUMNS, "rows": rows, "closed": []}], "ways")

        ends = [way["ends"][0]["node"] for way in found]
        path = decision_path(model, rows, predict_leaves(model, rows)).toarray()
        assert all(path[row, end] for row, end in enumerate(ends))
        if folded & set(ends):
            return
    pytest.fail("no row came to a folded node")


@pytest.mark.parametrize("missing", POLICIES)
def test_changes_are_those_of_python(scripts, missing):
    models = [random_case(seed, missing) for seed in range(100, 112)]
    rng = np.random.default_rng(0)
    cases = []
    for model, rows in models:
        tree = tree_part(model)
        keep = [rng.choice(5, int(rng.integers(3)), replace=False).tolist() for _ in rows]
        scales = np.where(np.arange(5) < 2, rng.uniform(0.5, 3, 5), 1.0)
        supports = supports_of(summarize(model), tree)
        cases.append(
            {"tree": tree, "columns": COLUMNS, "rows": rows, "keep": keep, "scales": scales, "supports": supports}
        )

    answers = scripts(cases, "changes")

    changed = 0
    for (model, rows), case, found in zip(models, cases, answers, strict=True):
        codes = leaf_table(model).codes[:, 0]
        for row, keep, told in zip(rows, case["keep"], found, strict=True):
            asked = Query(SCHEMA, row, frozenset(keep), case["scales"])
            for code in range(3):
                reached = cheapest_leaf(model, asked, (codes == code) & model.trees[0].is_leaf)
                if reached is None:
                    assert told[code] is None
                    continue
                levels = preferred_levels(model, reached.leaf)
                after = [
                    [at, nearest_value(SCHEMA.columns[at], held.bound, row[at], levels.get(at))]
                    for at, held in reached.path.held.items()
                    if not held.kept
                ]
                expected = {
                    "leaf": reached.leaf,
                    "cost": [len(reached.path.distances), reached.path.distance],
                    "exact": True,
                    "after": after,
                }
                assert told[code] == expected
                changed += bool(after)
    assert changed > 100
