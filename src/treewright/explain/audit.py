"""The audit of one split. In: a model, the rows of a node, the algorithm. Out: ``Audit``. Caller: explain.audit_model.

An audit shows what a node could have asked: the best test of every column with the numbers that it was judged by, or
every cut or division of one column. It asks the node-by-node grower again; nothing is kept while a tree grows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.exceptions import DataError, ParameterError
from treewright.explain.audit_record import Audit, LogBase
from treewright.explain.audit_rows import AuditBranch, AuditedNode, BranchSums, branches_of
from treewright.explain.audit_search import compared, every_of
from treewright.explain.audit_why import PURE, is_pure
from treewright.grow.by_node.instances import some_instances
from treewright.grow.by_node.search import Policy
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import Problem
from treewright.model.data import ModelData
from treewright.model.growth import node_test
from treewright.model.summary import TreeSummary, summarize
from treewright.tree.class_criteria import ENTROPY
from treewright.tree.tests import Bound, narrowed
from treewright.tree.walk import path_to
from treewright.tree.wording import conditions

__all__ = ["Audit", "audit_node"]

UNITS: dict[object, float] = {2: 1.0, "e": math.log(2.0)}
LARGEST = 1e150  # the squares of a million such numbers add up to a float64
MOST_TARGETS = 8  # a variance of more numbers is not written out


def audit_node(
    model: ModelData,
    problem: Problem,
    policy: Policy,
    rows: np.ndarray,
    weights: np.ndarray,
    node: int,
    *,
    every: Hashable | None = None,
    tree: int = 0,
    log_base: LogBase = 2,
    digits: int = 3,
) -> Audit:
    """Return the audit of one node.

    Parameters
    ----------
    model : ModelData
    problem : Problem
        The rows of the fit, or others.
    policy : Policy
        The algorithm, on that problem.
    rows : int32[m], weights : float64[m]
        The instances of the problem that are in the node.
    node : int
    every : hashable, optional
        The name or position of a column whose cuts or divisions are to be listed one by one.
    tree : int
        Which of the model's trees.
    log_base : {2, "e"}
        Whether entropies are in bits or in nats.
    digits : int, 1 to 12
        Decimals in texts.

    Returns
    -------
    Audit

    Raises
    ------
    ParameterError
        A parameter is out of range; there is no such node or column; the algorithm lists no candidates of a column.
    DataError
        Weights or targets are above 1e150.
    """
    check_options(node, log_base, digits)
    summary = summarize(model, tree)
    path = path_texts(model, summary, int(node))
    feature = None if every is None else position_of(model, every)
    order = np.asarray(rows, np.int32), np.asarray(weights, np.float64)
    instances = some_instances(problem, *order)
    search = getattr(policy, "search", None)
    # CHAID chooses by tests of independence; its nodes hold an impurity none the less.
    owner: Any = policy if search is None else search
    criterion: Criterion = owner.criterion
    here = AuditedNode(problem, criterion, instances, UNITS[log_base], model.missing)
    refuse_beyond_squares(here)
    arrays = summary.tree
    audit = Audit(
        rows=(),
        summary=summary,
        node=int(node),
        path=path,
        n_samples=len(instances),
        weight=here.weight * problem.weight_unit,
        n_fitted=int(arrays.n_samples[node]),
        whole=whole_of(here),
        criterion=criterion.name if criterion.number != ENTROPY else "entropy",
        algorithm=summary.algorithm,
        log_base=log_base,
        targets=few_targets(here),
        asked="" if arrays.is_leaf[node] else node_test(model, arrays, int(node)).question(),
        asked_feature=int(arrays.feature[node]),
        by_ratio=policy.by_ratio,
        digits=digits,
    )
    if not len(instances):
        return replace(audit, leaf_reason="no row reaches it" if arrays.is_leaf[node] else "")
    if problem.is_classes and problem.n_stats == 1:
        return replace(audit, leaf_reason="the target has one class")  # no test could tell anything apart
    if feature is not None:
        pure = PURE if not audit.asked and is_pure(summary, audit.node) else ""
        listed = tuple(every_of(here, policy, feature))
        return replace(audit, rows=listed, every=model.schema.columns[feature].name, leaf_reason=pure)
    return compared(audit, here, policy)


def check_options(node: object, log_base: object, digits: object) -> None:
    """Refuse options out of range.

    Raises
    ------
    ParameterError
        ``node`` or ``digits`` is no whole number, ``digits`` is not 1 to 12, ``log_base`` is neither 2 nor "e".
    """
    if isinstance(log_base, np.ndarray) or log_base not in (2, "e"):
        raise ParameterError(f"log_base is {log_base!r}; there are: 2 (bits), 'e' (nats)")
    if type(digits) is not int or not 1 <= digits <= 12:
        raise ParameterError(f"digits is {digits!r}; give a whole number from 1 to 12")
    if isinstance(node, bool) or not isinstance(node, int | np.integer):
        raise ParameterError(f"node is {node!r}; give a whole number")


def refuse_beyond_squares(here: AuditedNode) -> None:
    """Refuse weights and targets whose squares add up to more than float64 holds.

    Raises
    ------
    DataError
        The largest is above 1e150.
    """
    problem, rows = here.problem, here.instances.rows
    weight = here.weight * problem.weight_unit
    if weight > LARGEST:
        raise DataError(f"the weights in the node add up to {weight:g}: divide them all by {weight:.0e}")
    largest = float(np.abs(problem.targets[:, rows]).max(initial=0.0)) if not problem.is_classes else 0.0
    if largest > LARGEST:
        raise DataError(f"the largest target in the node is {largest:g}: divide them all by {largest:.0e}")


def path_texts(model: ModelData, summary: TreeSummary, node: int) -> tuple[str, ...]:
    """Return what leads to a node, one condition per column."""
    bounds: dict[int, Bound] = {}
    arrays = summary.tree
    for above, branch in path_to(arrays, node):
        feature = int(arrays.feature[above])
        before = bounds.get(feature, Bound())
        bounds[feature] = narrowed(before, model.schema.columns[feature], arrays, above, branch)
    return conditions(model.schema, bounds, exact=False, max_levels=12, missing=model.missing)


def position_of(model: ModelData, column: Hashable) -> int:
    """Return the position of a column that is given by its name, or by its position.

    Raises
    ------
    ParameterError
        The model has no such column.
    """
    names = model.schema.names
    try:
        if column in model.schema.positions:
            return model.schema.positions[column]
    except TypeError:
        raise ParameterError(f"every is {column!r}; give the name of a column") from None
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    raise ParameterError(f"every is {column!r}; the model's columns are {shown}")


def whole_of(here: AuditedNode) -> AuditBranch:
    """Return the node's own counts or numbers as one branch."""
    if not len(here.instances):
        empty = np.zeros(1, np.int64)
        sums = BranchSums(empty, np.zeros((1, here.problem.n_stats)), np.zeros((1, here.problem.n_outputs)))
        impurities = np.zeros(1)
    else:
        sums = here.sums(np.zeros(len(here.instances), np.int64), 1)
        impurities = here.impurities(sums)
    return branches_of(here.problem, [""], sums, impurities)[0]


def few_targets(here: AuditedNode) -> tuple[float, ...]:
    """Return the target of each row where there are so few that a variance can be written out; else nothing."""
    problem, instances = here.problem, here.instances
    plain = not problem.is_classes and problem.n_outputs == 1 and bool((instances.weights == 1.0).all())
    return tuple(problem.targets[0, instances.rows].tolist()) if plain and len(instances) <= MOST_TARGETS else ()
