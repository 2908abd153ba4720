"""Audits of a model on rows. In: a model, encoded rows. Out: ``Audit``. Callers: model, estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.explain.audit import Audit, audit_node
from treewright.grow.by_node.policies import policy_of, problem_of
from treewright.grow.by_node.policy import Policy
from treewright.grow.by_node.problem import Problem
from treewright.predict import paths, values
from treewright.tree.edit import is_below
from treewright.tree.model import ModelData
from treewright.tree.nodes import node_of


def audit_model(
    model: ModelData, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, node: int, **options: Any
) -> Audit:
    """Audit a node of a model on encoded rows; the algorithm is that of the model's facts.

    Parameters
    ----------
    matrix : float[n, p]
    target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
    weights : float64[n], > 0, or None
    node : int
    **options
        As ``treewright.explain.audit.audit_node``.
    """
    facts = model.facts
    algorithm, parameters = str(facts.get("algorithm", "cart")), facts.get("parameters", {})
    problem = problem_of(algorithm, parameters, model.missing, matrix, model.schema, target, weights, model.n_classes)
    policy = policy_of(algorithm, parameters, problem, int(facts.get("n_samples", len(matrix))))
    return audit_rows(model, problem, policy, matrix, node, **options)


def audit_rows(
    model: ModelData, problem: Problem, policy: Policy, matrix: np.ndarray, node: int, **options: Any
) -> Audit:
    """Audit a node on the rows of a problem that reach it; arguments as `audit_model`."""
    node_of(model, node)  # refuses a node that is not there
    rows, shares = rows_at(model, matrix, node)
    return audit_node(model, problem, policy, rows, problem.weights[rows] * shares, node, **options)


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
