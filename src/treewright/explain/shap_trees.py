"""Trees as the dictionary that ``shap.TreeExplainer`` takes. In: a model. Out: a dictionary of arrays.

shap supports cuts of numbers with two branches, one of which takes missing cells. Any other test is refused with the
reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.derived import is_derived
from treewright.exceptions import ParameterError
from treewright.explain.contributions import game_of
from treewright.model.data import ModelData
from treewright.tree.arrays import THRESHOLD
from treewright.tree.writing import written_name

_REMEDY = "use model.explain"


def shap_trees(model: ModelData) -> dict[str, Any]:
    """Return the trees of a model for ``shap.TreeExplainer``; the columns are those of the table, as numbers.

    Parameters
    ----------
    model : ModelData

    Returns
    -------
    dict
        ``trees``: of each tree ``children_left``, ``children_right``, ``children_default``, ``feature``, ``threshold``,
        ``value`` (float64[n_nodes, k]: what is added to the k outputs) and ``node_sample_weight``; ``base_offset``,
        ``tree_output``, ``objective``, ``input_dtype``, ``internal_dtype``.

    Raises
    ------
    ParameterError
        A tree has tests that shap does not support: of levels, with several branches, without one branch for missing
        cells, or of derived columns; or the predictions are not a sum over the trees.

    Examples
    --------
    >>> import treewright as tw
    >>> model = tw.DecisionTreeRegressor(max_depth=1).fit([[0.0], [2.0], [9.0]], [1.0, 2.0, 9.0]).model_
    >>> tree = shap_trees(model)["trees"][0]
    >>> tree["threshold"].tolist(), tree["value"].ravel().tolist()
    ([5.5, 0.0, 0.0], [4.0, 1.5, 9.0])
    """
    _refuse(model)
    game = game_of(model)
    grown, tables, n_outputs = game.trees, game.tables, game.n_outputs
    trees = []
    for number in range(game.n_trees):
        nodes = slice(int(grown.roots[number]), int(grown.roots[number + 1]))
        first = np.where(tables.first_child[nodes] < 0, -1, tables.first_child[nodes] - nodes.start).astype(np.int32)
        is_leaf = first < 0
        value = np.zeros((len(first), n_outputs))
        begin, expected = int(grown.output[number]), grown.expected[nodes]
        value[:, begin : begin + expected.shape[1]] = expected
        if game.n_kept < n_outputs:  # the last class has the rest of the tree's weight
            value[:, -1] = _whole_of(model, number) - expected.sum(axis=1)
        trees.append({
            "children_left": first,
            "children_right": np.where(is_leaf, -1, first + 1).astype(np.int32),
            "children_default": np.where(is_leaf, -1, first + tables.missing_branch[nodes]).astype(np.int32),
            "feature": np.where(is_leaf, -2, tables.feature[nodes]).astype(np.int32),
            "threshold": tables.threshold[nodes].astype(np.float64),
            "value": value,
            "node_sample_weight": np.array(model.trees[number].weight, np.float64),
        })  # fmt: skip
    start = game.start if game.n_kept == n_outputs else np.zeros(n_outputs)
    return {
        "trees": trees,
        "base_offset": float(start[0]) if n_outputs == 1 else start,
        "tree_output": "probability" if model.counted_classes else "raw_value",
        "objective": None,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


def _whole_of(model: ModelData, number: int) -> float:
    """The sum of a tree's class proportions in the prediction: its weight as a share of all trees."""
    n_trees = len(model.trees)
    weights, total = model.aggregation.weights_of(n_trees), model.aggregation.total(n_trees)
    return float(weights[number] / total)


def _refuse(model: ModelData) -> None:
    """Refuse a model that shap cannot represent."""
    if model.aggregation.sorts or model.facts.get("algorithm") == "isolation_forest":
        raise ParameterError("the predictions of the model are not a sum over its trees: shap explains only such sums")
    if model.missing in ("surrogate", "fractional"):
        raise ParameterError(
            f"missing={model.missing!r}: shap needs one branch for missing cells at each node; {_REMEDY}"
        )
    for number, tree in enumerate(model.trees):
        inner = ~tree.is_leaf
        other = inner & ((tree.kind != THRESHOLD) | (tree.n_branches != 2))
        asked = np.unique(tree.feature[inner])
        made = [at for at in asked.tolist() if model.schema.columns[at].part or is_derived(model.schema.columns[at])]
        if other.any():
            node = int(np.flatnonzero(other)[0])
            name = written_name(model.schema.columns[int(tree.feature[node])].name)
            raise ParameterError(
                f"node {node} of tree {number} tests levels of {name}, or has {tree.n_branches[node]} branches: shap "
                f"supports only cuts into two branches; {_REMEDY}"
            )
        if made:
            name = written_name(model.schema.columns[made[0]].name)
            raise ParameterError(
                f"tree {number} tests {name}, which is derived from other columns: shap supports only columns of the "
                f"table; {_REMEDY}"
            )
