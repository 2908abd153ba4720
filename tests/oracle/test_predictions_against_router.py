"""Every verb that sends rows down a tree agrees with a router that is plain to see, one row at a time."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from by_node_tables import Drawn, bits_at, draw, level
from rotating import few

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.model import Model
from treewright.trees.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree

Cells = list[float | None]  # numbers and level codes; None is missing
MODELS = {
    "fractional subsets": (tw.DecisionTreeClassifier, {"missing": "fractional"}),
    "fractional branches": (tw.DecisionTreeClassifier, {"missing": "fractional", "nominal_splits": "multiway"}),
    "fractional numbers": (tw.DecisionTreeRegressor, {"missing": "fractional", "nominal_splits": "multiway"}),
    "C4.5": (tw.C45Classifier, {"confidence": None, "min_samples_leaf": 1}),
    "surrogates": (tw.DecisionTreeClassifier, {"missing": "surrogate"}),
    "surrogates of numbers": (tw.DecisionTreeRegressor, {"missing": "surrogate", "max_depth": 4}),
    "own branch": (tw.DecisionTreeClassifier, {"missing": "branch", "nominal_splits": "multiway"}),
    "own branch of numbers": (tw.DecisionTreeRegressor, {"missing": "branch"}),
    "direction": (tw.DecisionTreeClassifier, {"missing": "direction", "nominal_splits": "one_vs_rest"}),
}


def branch_of(tree: Tree, node: int, x: float, n_levels: int) -> int:
    """The branch that a value takes."""
    offset, kind = int(tree.level_set[node]), tree.kind[node]
    if kind == THRESHOLD:
        return 0 if x <= tree.threshold[node] else 1
    if kind == SUBSET:
        return 0 if int(x) in bits_at(tree.levels_left, offset, n_levels) else 1
    if kind == MULTIWAY:
        entry = int(tree.level_branch[offset + int(x)])
        return entry if entry >= 0 else ~entry
    assert kind == INTERVALS
    cuts = tree.cuts[offset : offset + tree.n_branches[node] - 1].tolist()
    return next((b for b, cut in enumerate(cuts) if x <= cut), len(cuts))


def answer_of_surrogates(model: Model, node: int, cells: Cells) -> int:
    """The first surrogate that answers, else the missing branch."""
    tree = model.trees[0]
    for at in np.flatnonzero(tree.surrogate_node == node).tolist():
        column, offset = int(tree.surrogate_feature[at]), int(tree.surrogate_level_set[at])
        x, n_levels = cells[column], len(model.schema.columns[column].levels)
        if x is None or (offset >= 0 and int(x) not in bits_at(tree.levels_seen, offset, n_levels)):
            continue
        if offset >= 0:
            answer = 0 if int(x) in bits_at(tree.levels_left, offset, n_levels) else 1
        else:
            answer = 0 if x <= tree.surrogate_threshold[at] else 1
        return answer ^ int(tree.surrogate_flipped[at])
    return int(tree.missing_branch[node])


def shares_of(model: Model, cells: Cells) -> np.ndarray:
    """float64[n_nodes]: the share of a row that passes each node."""
    tree = model.trees[0]
    passed = np.zeros(tree.n_nodes)

    def send(node: int, share: float) -> None:
        passed[node] = share
        if tree.kind[node] == LEAF:
            return
        first, n = int(tree.first_child[node]), int(tree.n_branches[node])
        column = int(tree.feature[node])
        x = cells[column]
        if x is not None:
            send(first + branch_of(tree, node, x, len(model.schema.columns[column].levels)), share)
        elif model.missing == "fractional":
            weights = tree.weight[first : first + n]
            for branch in range(n):
                if weights[branch] > 0:
                    send(first + branch, share * weights[branch] / weights.sum())
        else:
            send(first + answer_of_surrogates(model, node, cells), share)

    send(0, 1.0)
    return passed


def draw_rows(rng: np.random.Generator, drawn: Drawn, model: Model, n: int) -> tuple[dict[str, Any], list[Cells]]:
    """Rows as a user has them, many cells missing or of a level never seen, and as codes."""
    table: dict[str, Any] = {}
    coded: list[Cells] = [[] for _ in range(n)]
    for column in model.schema.columns:
        cells = []
        for row in coded:
            pick, value = rng.random(), int(rng.integers(0, 9))
            is_number = column.kind == "numeric"
            if pick < 0.3:
                cells.append(np.nan if is_number else None)
                row.append(None)
            elif is_number:
                cells.append(float(value))
                row.append(float(value))
            elif pick < 0.5 or not column.levels:
                cells.append("never seen")
                row.append(
                    float(len(column.levels)) if model.unseen == "majority" and column.kind == "nominal" else None
                )
            else:
                code = value % len(column.levels)
                cells.append(level(code))
                row.append(float(code))
        table[str(column.name)] = cells
    return table, coded


def row_of(table: dict[str, Any], at: int) -> dict[str, Any]:
    return {name: cells[at] for name, cells in table.items()}


@pytest.mark.parametrize("unseen", ["missing", "majority"])
@pytest.mark.parametrize("name", MODELS)
def test_every_verb_sends_rows_where_the_router_does(name: str, unseen: str, tmp_path: Path) -> None:
    kind, parameters = MODELS[name]
    is_classifier = kind is not tw.DecisionTreeRegressor
    n_parted = 0
    for at, seed in enumerate(few(range(25))):
        rng = np.random.default_rng(seed)
        drawn = draw(rng, "gini" if is_classifier else "squared_error", 3 if is_classifier else 0)
        estimator = kind(unseen=unseen, n_jobs=1, **parameters)
        drawn.fit(estimator)
        model = estimator.model_
        table, coded = draw_rows(rng, drawn, model, 12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # levels never seen are the point here
            n_parted += check_rows(estimator, model, table, coded, f"seed {seed}")
            if at < 2:
                check_file(model, table, tmp_path / f"{seed}.tw")
    assert n_parted if model.missing == "fractional" else not n_parted


def check_rows(estimator: Any, model: Model, table: dict[str, Any], coded: list[Cells], where: str) -> int:
    """Compare one batch; returns how many rows ended in several leaves."""
    tree = model.trees[0]
    passed = np.stack([shares_of(model, cells) for cells in coded])
    at_leaves = np.where(tree.is_leaf, passed, 0.0)
    np.testing.assert_allclose(at_leaves.sum(axis=1), 1.0, rtol=1e-12, err_msg=where)
    found = estimator.decision_path(table).toarray()
    np.testing.assert_allclose(found, passed, rtol=1e-12, atol=0, err_msg=where)
    assert (found.dtype == np.float64) == (model.missing == "fractional")
    largest = at_leaves.max(axis=1)
    for row, leaf in enumerate(estimator.apply(table).tolist()):
        # Shares are products of quotients: equal ones may differ by a rounding here and there.
        assert at_leaves[row, leaf] >= largest[row] * (1 - 1e-12), where
    if model.task == "classification":
        shares = at_leaves @ (tree.value / tree.value.sum(axis=1, keepdims=True))
        np.testing.assert_allclose(estimator.predict_proba(table), shares, rtol=1e-12, atol=1e-15, err_msg=where)
        codes = np.searchsorted(model.classes[0], estimator.predict(table))
        rows = np.arange(len(codes))
        assert (shares[rows, codes] >= shares.max(axis=1) * (1 - 1e-12)).all(), where
        np.testing.assert_array_equal(estimator.predict_proba(table).argmax(axis=1), codes)
    else:
        np.testing.assert_allclose(estimator.predict(table), at_leaves @ tree.value[:, 0], rtol=1e-12, err_msg=where)
    ones = [model.predict_one(row_of(table, at)) for at in range(len(coded))]
    assert np.array(ones).tobytes() == np.asarray(estimator.predict(table)).astype(np.array(ones).dtype).tobytes(), (
        where
    )
    return int((at_leaves > 0).sum(axis=1).max() > 1)


def check_file(model: Model, table: dict[str, Any], path: Path) -> None:
    """The file's model predicts to the same bit, and writes the same bytes again."""
    model.save(path)
    again = tw.load(path)
    again.save(path.with_suffix(".second"))
    assert path.read_bytes() == path.with_suffix(".second").read_bytes()
    assert again.predict(table).tobytes() == model.predict(table).tobytes()
    assert (again.decision_path(table) != model.decision_path(table)).nnz == 0


def test_every_cell_missing_predicts_the_root_where_each_branch_is_a_leaf() -> None:
    """Class counts of the root 4 and 2; the leaves' shares averaged by their weights give them back."""
    table = {"colour": ["red", "red", "blue", "blue", "green", "green"]}
    estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", missing="fractional", max_depth=1)
    estimator.fit(table, ["a", "a", "a", "b", "a", "b"])

    with pytest.warns(DataWarning, match="'colour'"):
        shares = estimator.predict_proba({"colour": [None]})[0]
    with pytest.warns(DataWarning, match="'colour'"):
        path = estimator.decision_path({"colour": [None]}).toarray()[0]

    assert shares == pytest.approx([4 / 6, 2 / 6], rel=1e-15)
    assert path == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])
