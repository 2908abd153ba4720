"""Audits of a model on rows. In: a model, encoded rows. Out: ``Audit``. Callers: model, estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.explain.audit import Audit, audit_node
from treewright.grow.by_node.policies import policy_of, problem_of
from treewright.grow.by_node.search import Policy
from treewright.grow.problem import Problem
from treewright.model.data import ModelData
from treewright.model.growth import BOOSTED, FORESTS, SEARCHED, growth_of
from treewright.model.summary import node_of
from treewright.predict import paths, values
from treewright.tree.edit import is_below

# Parameters that the search of an algorithm cannot do without.
_NEEDED: dict[str, dict[str, type | tuple[type, ...]]] = {
    "cart": {"criterion": str, "nominal_splits": str, "min_weight_fraction_leaf": (int, float)},
    "id3": {},
    "c45": {"nominal_splits": str},
    "chaid": {
        "alpha": (int, float), "alpha_merge": (int, float), "bonferroni": bool, "exhaustive": bool, "n_bins": int,
    },
}  # fmt: skip


def audit_model(
    model: ModelData, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, node: int, **options: Any
) -> Audit:
    """Audit a node of a model on encoded rows; the algorithm is that of the model's facts.

    Parameters
    ----------
    model : ModelData
        Of one tree; one of bagging's is audited by the algorithm of the members.
    matrix : float[n, p]
    target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
    weights : float64[n], > 0, or None
    node : int
    **options
        As ``treewright.explain.audit.audit_node``.

    Raises
    ------
    ParameterError
        The trees did not choose among all tests; the facts do not tell the parameters of the search; there is no such
        node or column.
    """
    refuse_other_growth(model)
    growth = growth_of(model)
    for name, kind in _NEEDED[growth.algorithm].items():
        if not isinstance(growth.parameters.get(name), kind):
            raise ParameterError(
                f"the facts of the model do not tell {name!r} of {growth.algorithm}, so its search cannot be repeated: "
                "audit the estimator that was fitted, or fit again"
            )
    algorithm, parameters, facts = growth.algorithm, growth.parameters, model.facts
    n_rows = int(facts.get("n_samples", len(matrix)))
    if growth.is_member:
        # The audit reads the facts of one tree; shares of rows are those of the rows that bagging drew for it.
        n_rows = int(model.trees[0].n_samples[0])
        model = replace(model, facts={**facts, "algorithm": algorithm, "parameters": dict(parameters)})
    problem = problem_of(algorithm, parameters, model.missing, matrix, model.schema, target, weights, model.n_classes)
    policy = policy_of(algorithm, parameters, problem, n_rows)
    return audit_rows(model, problem, policy, matrix, node, **options)


def refuse_other_growth(model: ModelData) -> None:
    """Refuse trees whose nodes did not choose the best of all tests: an audit would star another one.

    Raises
    ------
    ParameterError
        They are a forest's or boosted, or were grown with random cuts or by an algorithm that is not known.
    """
    growth = growth_of(model)
    instead = "fit a tree with splitter='best' to see how one is chosen"
    boosted = model.facts.get("algorithm")
    if boosted in BOOSTED:
        raise ParameterError(
            f"audit compares the tests of a node by the target of its rows, and a tree of {boosted} "
            f"{BOOSTED[boosted]}. show(tree=i) tells what a tree asks; {instead}"
        )
    if growth.algorithm in FORESTS:
        raise ParameterError(
            f"audit compares every test that a node could ask, and the trees of {FORESTS[growth.algorithm]} do not "
            f"choose so: their nodes draw columns or cuts by chance. show(tree=i) tells what a tree asks; {instead}"
        )
    if growth.splitter not in ("best", "hist"):
        raise ParameterError(
            f"audit compares every test that a node could ask, and this tree was grown with splitter="
            f"{growth.splitter!r}, which draws one cut of each column by chance: {instead}"
        )
    if growth.algorithm not in SEARCHED:
        raise ParameterError(
            f"audit knows the algorithms {', '.join(SEARCHED)}; the facts of the model say {growth.algorithm!r}"
        )


def audit_rows(
    model: ModelData, problem: Problem, policy: Policy, matrix: np.ndarray, node: int, **options: Any
) -> Audit:
    """Audit a node on the rows of a problem that reach it; arguments as `audit_model`.

    Raises
    ------
    ParameterError
        As `audit_model`.
    """
    refuse_other_growth(model)
    node_of(model, node)  # refuses a node that is not there
    rows, shares = rows_at(model, matrix, node)
    audit = audit_node(model, problem, policy, rows, problem.weights[rows] * shares, node, **options)
    is_chosen_here = audit.every is None and bool(audit.asked) and audit.n_samples == audit.n_fitted
    if is_chosen_here and not audit.takes_winner and growth_of(model).splitter == "hist":
        raise ParameterError(
            f"node {node} asks {audit.asked!r}, the best cut between bins (splitter='hist'); audit compares the cuts "
            f"between all values, and another one is better: fit a tree with splitter='best' to see how one is chosen"
        )
    return audit


def rows_at(model: ModelData, matrix: np.ndarray, node: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that reach a node (int32[m]) and the share of each that does (float64[m], above 0)."""
    if node == 0:
        return np.arange(len(matrix), dtype=np.int32), np.ones(len(matrix))
    leaves = values.predict_leaves(model, matrix)
    if model.missing != "fractional":
        rows = np.flatnonzero(is_below(model.trees[0], node)[leaves]).astype(np.int32)
        return rows, np.ones(len(rows))
    path = paths.decision_path(model, matrix, leaves).tocsc()
    column = slice(path.indptr[node], path.indptr[node + 1])
    rows, shares = path.indices[column].astype(np.int32), path.data[column].astype(np.float64)
    order = np.argsort(rows, kind="stable")
    return rows[order], shares[order]
