"""The tests that a node could have had: the audit of one split. In: a model, rows, a node. Out: ``Audit``.

An audit shows the best test of every column with the numbers that they are compared by, or every cut or division of one
column. Nothing is kept while a tree grows: the search of the node-by-node grower is repeated
(``explain.audit_search``), each number is computed from the rows of the branches (``explain.audit_rows``), and the text
computes it step by step as by hand (``explain.audit_text``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np

from treewright.core.elementary import LOG_OF_2
from treewright.data.cells import shown
from treewright.exceptions import DataError, ParameterError
from treewright.explain.audit_rows import AuditBranch, AuditedNode, AuditRow, BranchSums, branches_of
from treewright.explain.audit_search import PURE, Barred, compared, every_of, is_pure
from treewright.explain.audit_text import columns_of, html_of, text_of
from treewright.grow.by_node.instances import some_instances
from treewright.grow.by_node.policies import policy_of, problem_of
from treewright.grow.by_node.search import Policy
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import Problem
from treewright.model.data import ModelData
from treewright.model.growth import BOOSTED, FORESTS, SEARCHED, growth_of, node_test
from treewright.model.summary import TreeSummary, node_of, summarize
from treewright.predict import paths, values
from treewright.tree.class_criteria import ENTROPY
from treewright.tree.edit import is_below
from treewright.tree.tests import Bound, narrowed
from treewright.tree.walk import path_to
from treewright.tree.wording import conditions

LogBase = Literal[2, "e"]
# Parameters that the search of an algorithm cannot do without.
NEEDED: dict[str, dict[str, type | tuple[type, ...]]] = {
    "cart": {"criterion": str, "nominal_splits": str, "min_weight_fraction_leaf": (int, float)},
    "id3": {},
    "c45": {"nominal_splits": str},
    "chaid": {
        "alpha": (int, float), "alpha_merge": (int, float), "bonferroni": bool, "exhaustive": bool, "n_bins": int,
    },
}  # fmt: skip
UNITS: dict[object, float] = {2: 1.0, "e": LOG_OF_2}
LARGEST = 1e150  # the squares of a million such numbers add up to a float64
MOST_TARGETS = 8  # a variance of more numbers is not written out


@dataclass(frozen=True, eq=False)
class Audit(Sequence[AuditRow]):
    """The possible tests of a node: a sequence of ``AuditRow`` that prints as one would compute it by hand.

    Attributes
    ----------
    rows : tuple of AuditRow
        The best test of each column, best first; or, with ``every``, all cuts or divisions of one column.
    summary : TreeSummary
        The tree, its classes and criterion.
    node : int
    path : tuple of str
        The conditions on the path to the node, one per column.
    n_samples, weight : int, float
        Rows of the given data that are in the node.
    n_fitted : int
        Training rows in the node.
    whole : AuditBranch
        The node as a whole: counts or numbers, and its impurity.
    criterion, algorithm : str
    log_base : {2, "e"}
        Entropies are in bits or in nats.
    every : hashable or None
        The column whose candidates are listed.
    of : hashable or None
        The column whose test is computed step by step, if it is not the best one.
    barred : tuple of Barred
        Columns without a candidate, and why.
    asked : str
        The test of the tree; empty at a leaf.
    asked_feature : int
        Its column; -1 at a leaf.
    leaf_reason : str
        Why the node is a leaf; empty if it is none.
    by_ratio : bool
        Whether columns are compared by their gain ratio.
    average_of : tuple of float
        Gains that the average gain is computed from, if columns below the average are left out.
    uncounted : tuple of hashable
        Columns with a test whose gain is not in that average: they have too many levels (C4.5).
    gainless : tuple of hashable
        Columns that are left out because their gain is 0, though they are not below the average (C4.5).
    tied : tuple of hashable
        Other columns with the winner's score.
    n_equal_cuts : int
        Other cuts of the winner's column with the same gain.
    digits : int
        Decimals in texts.
    """

    rows: tuple[AuditRow, ...]
    summary: TreeSummary
    node: int
    path: tuple[str, ...]
    n_samples: int
    weight: float
    n_fitted: int
    whole: AuditBranch
    criterion: str
    algorithm: str
    log_base: LogBase
    targets: tuple[float, ...] = ()
    every: Hashable | None = None
    of: Hashable | None = None
    barred: tuple[Barred, ...] = ()
    asked: str = ""
    asked_feature: int = -1
    leaf_reason: str = ""
    by_ratio: bool = False
    average_of: tuple[float, ...] = ()
    uncounted: tuple[Hashable, ...] = ()
    gainless: tuple[Hashable, ...] = ()
    tied: tuple[Hashable, ...] = ()
    n_equal_cuts: int = 0
    digits: int = 3

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> AuditRow: ...
    @overload
    def __getitem__(self, index: slice) -> Audit: ...
    def __getitem__(self, index: int | slice) -> AuditRow | Audit:
        return replace(self, rows=self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __iter__(self) -> Iterator[AuditRow]:
        return iter(self.rows)

    @property
    def winner(self) -> AuditRow | None:
        """The candidate that the algorithm chooses; None if it chooses none."""
        return next((row for row in self.rows if row.chosen), None)

    @property
    def takes_winner(self) -> bool:
        """Whether the tree has the chosen test: not at a leaf, nor if sampling or a limit ruled the test out."""
        return self.winner is not None and bool(self.asked) and self.winner.question == self.asked

    @property
    def by_p(self) -> bool:
        """Whether columns are compared by adjusted p-values (CHAID)."""
        return any("multiplier" in row.notes for row in self.rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the candidates as columns, for ``pandas.DataFrame`` or ``polars.DataFrame``.

        Returns
        -------
        dict of str to list
            ``rank`` (int), ``column``, ``question``, ``chosen`` (bool), ``branches`` (int), ``labels`` (list of str),
            ``samples`` (list of int), ``weights`` (list of float), ``counts`` (list per branch of the weight of each
            class) or ``values`` and ``variances`` (list per branch of a number per output), ``impurities`` (list of
            float), ``known`` (float, 0 to 1), ``before``, ``after``, ``price``, ``gain``, ``split_info``,
            ``gain_ratio``, ``score``, ``p_value``, ``threshold`` (float or None), ``exact`` (bool).
        """
        return columns_of(self)

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        what = "candidates" if self.every is None else f"candidates of {self.every!r}"
        return f"<treewright.Audit: node {self.node}, {len(self)} {what}>"

    def _repr_html_(self) -> str:
        """Return the candidates as an HTML table for notebooks."""
        return html_of(self)


def audit_model(
    model: ModelData, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, node: int, **options: Any
) -> Audit:
    """Audit a node of a model on encoded rows; the algorithm is that of the model's facts.

    Parameters
    ----------
    model : ModelData
        Of one tree; a tree of bagging is audited by the algorithm of the members.
    matrix : float[n, p]
    target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
    weights : float64[n], > 0, or None
    node : int
    **options
        As `audit_node`.
    """
    refuse_other_growth(model)
    growth = growth_of(model)
    for name, kind in NEEDED[growth.algorithm].items():
        if not isinstance(growth.parameters.get(name), kind):
            raise ParameterError(
                f"the facts of the model lack {name!r} of {growth.algorithm}, so its search cannot be repeated: "
                "audit the fitted estimator, or fit again"
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


def audit_rows(
    model: ModelData, problem: Problem, policy: Policy, matrix: np.ndarray, node: int, **options: Any
) -> Audit:
    """Audit a node on the rows of a problem that reach it; arguments as `audit_model`."""
    refuse_other_growth(model)
    check_node(node)
    node_of(model, node)  # refuses a node that is not there
    rows, shares = rows_at(model, matrix, node)
    audit = audit_node(model, problem, policy, rows, problem.weights[rows] * shares, node, **options)
    is_chosen_here = audit.every is None and bool(audit.asked) and audit.n_samples == audit.n_fitted
    if is_chosen_here and not audit.takes_winner and growth_of(model).splitter == "hist":
        raise ParameterError(
            f"node {node} tests {audit.asked!r}, the best cut between bins (splitter='hist'); audit compares the cuts "
            f"between all values, and another one is better: fit a tree with splitter='best' to see how one is chosen"
        )
    return audit


def refuse_other_growth(model: ModelData) -> None:
    """Refuse trees whose nodes did not choose the best of all tests: an audit would mark another one."""
    growth = growth_of(model)
    instead = "fit a tree with splitter='best' to see how one is chosen"
    boosted = model.facts.get("algorithm")
    if boosted in BOOSTED:
        raise ParameterError(
            f"audit compares the tests of a node by the target of its rows, and a tree of {boosted} "
            f"{BOOSTED[boosted]}. show(tree=i) shows the tests of a tree; {instead}"
        )
    if growth.algorithm in FORESTS:
        raise ParameterError(
            f"audit compares all possible tests of a node, and the trees of {FORESTS[growth.algorithm]} do not choose "
            f"so: their nodes sample columns or cuts at random. show(tree=i) shows the tests of a tree; {instead}"
        )
    if growth.splitter not in ("best", "hist"):
        raise ParameterError(
            f"audit compares all possible tests of a node, and this tree was fitted with splitter="
            f"{growth.splitter!r}, which samples one cut of each column at random: {instead}"
        )
    if growth.algorithm not in SEARCHED:
        raise ParameterError(
            f"audit supports the algorithms {', '.join(SEARCHED)}; the facts of the model name {growth.algorithm!r}"
        )


def rows_at(model: ModelData, matrix: np.ndarray, node: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that reach a node (int32[m]) and the share of each row that reaches it (float64[m], above 0)."""
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
        The training rows, or others.
    policy : Policy
        The algorithm, on that problem.
    rows : int32[m], weights : float64[m]
        The instances of the problem that are in the node.
    node : int
    every : hashable, optional
        The name or position of a column, to list its cuts or divisions one by one.
    tree : int
        Which of the model's trees.
    log_base : {2, "e"}
        Whether entropies are in bits or in nats.
    digits : int, 1 to 12
        Decimals in texts.

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
    """Refuse options out of range."""
    if isinstance(log_base, np.ndarray) or log_base not in (2, "e"):
        raise ParameterError(f"log_base is {shown(log_base)}; choose 2 (bits) or 'e' (nats)")
    if type(digits) is not int or not 1 <= digits <= 12:
        raise ParameterError(f"digits is {shown(digits)}; give a whole number from 1 to 12")
    check_node(node)


def check_node(node: object) -> None:
    """Refuse anything but the number of a node, such as a table in its place."""
    if isinstance(node, bool) or not isinstance(node, int | np.integer):
        raise ParameterError(
            f"node is {shown(node)}; give audit the number of a node, 0 for the root, and after it, optionally, a "
            "table and its target"
        )


def refuse_beyond_squares(here: AuditedNode) -> None:
    """Refuse weights and targets whose squares add up to more than float64 holds."""
    problem, rows = here.problem, here.instances.rows
    weight = here.weight * problem.weight_unit
    if weight > LARGEST:
        raise DataError(f"the weights in the node add up to {weight:g}: divide them all by {weight:.0e}")
    largest = float(np.abs(problem.targets[:, rows]).max(initial=0.0)) if not problem.is_classes else 0.0
    if largest > LARGEST:
        raise DataError(f"the largest target in the node is {largest:g}: divide them all by {largest:.0e}")


def path_texts(model: ModelData, summary: TreeSummary, node: int) -> tuple[str, ...]:
    """Return the conditions on the path to a node, one per column."""
    bounds: dict[int, Bound] = {}
    arrays = summary.tree
    for above, branch in path_to(arrays, node):
        feature = int(arrays.feature[above])
        before = bounds.get(feature, Bound())
        bounds[feature] = narrowed(before, model.schema.columns[feature], arrays, above, branch)
    return conditions(model.schema, bounds, exact=False, max_levels=12, missing=model.missing)


def position_of(model: ModelData, column: Hashable) -> int:
    """Return the position of a column that is given by its name, or by its position."""
    names = model.schema.names
    try:
        if column in model.schema.positions:
            return model.schema.positions[column]
    except TypeError:
        raise ParameterError(f"every is {column!r}; give the name of a column") from None
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    raise ParameterError(f"every is {shown(column)}; the model's columns are {known}")


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
    """Return the target of each row if they are few enough to write out a variance; else nothing."""
    problem, instances = here.problem, here.instances
    plain = not problem.is_classes and problem.n_outputs == 1 and bool((instances.weights == 1.0).all())
    return tuple(problem.targets[0, instances.rows].tolist()) if plain and len(instances) <= MOST_TARGETS else ()
