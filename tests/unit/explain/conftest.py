"""Small tables with what an audit of them needs: the problem, the algorithm, the tree that it grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from treewright.data.encoder import encode_fit
from treewright.data.target import encode_labels, encode_numbers
from treewright.explain.audit import Audit, audit_node
from treewright.grow.by_node.c45 import C45Policy, C45Search
from treewright.grow.by_node.chaid import ChaidPolicy, ChaidRules, bin_numbers
from treewright.grow.by_node.cuts import Rules
from treewright.grow.by_node.grower import Grown, Stops, grow_by_node
from treewright.grow.by_node.instances import all_instances
from treewright.grow.by_node.search import GainPolicy, Policy, RatioPolicy, Search
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import Problem, class_problem, number_problem
from treewright.trees.data import ModelData

# Quinlan 1986, table 1: is a Saturday morning suitable for tennis?
TENNIS = """\
sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rain mild high weak yes
rain cool normal weak yes
rain cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rain mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rain mild high strong no"""


@dataclass(frozen=True, eq=False)
class Grove:
    """A grown tree and what it was grown with."""

    model: ModelData
    problem: Problem
    policy: Policy
    grown: Grown

    def audit(self, node: int = 0, rows: Sequence[int] | None = None, **options: Any) -> Audit:
        """The audit of a node by the rows given; all rows unless told otherwise."""
        instances = all_instances(self.problem)
        at = np.arange(self.problem.n_rows) if rows is None else np.array(rows, int)
        return audit_node(
            self.model, self.problem, self.policy, instances.rows[at], instances.weights[at], node, **options
        )


def policy_of(
    problem: Problem, algorithm: str, criterion: Any, nominal_splits: str, min_rows: int
) -> tuple[Problem, Policy]:
    """An algorithm on a problem."""
    if algorithm == "c45":
        return problem, C45Policy(C45Search(problem, min_rows))
    if algorithm == "chaid":
        binned = bin_numbers(problem, 10)
        return binned, ChaidPolicy(binned, ChaidRules(min_rows=min_rows))
    kind = RatioPolicy if algorithm == "gain_ratio" else GainPolicy
    return problem, kind(Search(problem, Criterion.of(criterion), Rules(nominal_splits, min_rows)))


def plant_tree(
    table: Mapping[str, Sequence[Any]],
    y: Sequence[Any],
    *,
    algorithm: str = "cart",
    criterion: Any = "gini",
    nominal_splits: str = "subset",
    missing: Any = "direction",
    min_rows: int = 1,
    weights: Sequence[float] | None = None,
    stops: Stops | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Grove:
    """Grow a tree on a small table; several targets are a list of rows."""
    schema, matrix = encode_fit(table)
    weight = None if weights is None else np.array(weights, float)
    is_text = not isinstance(np.ravel(np.array(y))[0], np.floating)
    classes: tuple[np.ndarray, ...] = ()
    if is_text:
        labels = encode_labels(y)
        classes = labels.classes
        counts = [len(each) for each in classes]
        problem = class_problem(matrix, schema, labels.codes, counts, weight, missing, cut_ordinal=algorithm != "chaid")
    else:
        numbers = encode_numbers(y)
        problem = number_problem(matrix, schema, numbers.values, weight, missing, is_poisson=criterion == "poisson")
    problem, policy = policy_of(problem, algorithm, criterion, nominal_splits, min_rows)
    grown = grow_by_node(problem, policy, stops or Stops(), keep_trace=True)
    name = criterion if isinstance(criterion, str) else criterion.__name__
    facts = {"algorithm": algorithm, "criterion": name, "parameters": dict(parameters or {})}
    task: Any = "classification" if is_text else "regression"
    n_outputs = problem.n_outputs
    model = ModelData(task, schema, (grown.tree,), classes, n_outputs, missing=missing, facts=facts)
    return Grove(model, problem, policy, grown)


@pytest.fixture
def plant() -> Callable[..., Grove]:
    """The function `plant_tree`."""
    return plant_tree


@pytest.fixture
def tennis() -> tuple[dict[str, list[str]], list[str]]:
    """The columns and the classes of Quinlan's table."""
    rows = [line.split() for line in TENNIS.splitlines()]
    names = ("outlook", "temperature", "humidity", "wind")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}, [row[4] for row in rows]
