"""The audit of one split. In: a model, the rows of a node, the algorithm. Out: ``Audit``. Callers: estimators, model, cli.

An audit shows what a node could have asked: the best test of every column with the numbers that it was judged by, or
every cut or division of one column. It asks the node-by-node grower again; nothing is kept while a tree grows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np

from treewright.exceptions import ParameterError
from treewright.explain.audit_every import allowed_cuts, every_cut, every_division
from treewright.explain.audit_rows import AuditedNode, AuditRow, BranchSums, branches_of, candidate_test, measured
from treewright.explain.audit_why import Barred, barred_columns, leaf_reason
from treewright.grow.by_node.c45 import C45Search
from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.criteria import ENTROPY, Criterion
from treewright.grow.by_node.instances import some_instances
from treewright.grow.by_node.policy import GainPolicy, Policy, RatioPolicy
from treewright.grow.by_node.problem import Problem
from treewright.grow.by_node.search import Search
from treewright.tree.arrays import THRESHOLD
from treewright.tree.conditions import Bound, conditions, narrowed
from treewright.tree.model import ModelData
from treewright.tree.summary import TreeSummary, summarize
from treewright.tree.tests import node_test
from treewright.tree.walk import path_to

LogBase = Literal[2, "e"]
UNITS: dict[object, float] = {2: 1.0, "e": math.log(2.0)}
NO_ORDER_OF_ITS_OWN = 1e-12  # scores of an algorithm that states no tolerance are equal within this


@dataclass(frozen=True, eq=False)
class Audit(Sequence[AuditRow]):
    """What a node could ask: a sequence of ``AuditRow`` that prints as one would work it out on paper.

    Attributes
    ----------
    rows : tuple of AuditRow
        The best test of each column, best first; or, with ``every``, all cuts or divisions of one column.
    summary : TreeSummary
        The tree, its classes and criterion.
    node : int
    path : tuple of str
        What leads to the node, one condition per column.
    n_samples, weight : int, float
        Rows of the data given that are in the node.
    n_fitted : int
        Rows that the tree saw in the node.
    whole : AuditBranch
        What the node holds: counts or numbers, and its impurity.
    criterion, algorithm : str
    log_base : {2, "e"}
        Entropies are in bits or in nats.
    every : hashable or None
        The column whose candidates are listed.
    barred : tuple of Barred
        Columns without a candidate, and why.
    asked : str
        The question of the tree; empty at a leaf.
    asked_feature : int
        Its column; -1 at a leaf.
    leaf_reason : str
        Why the node is a leaf; empty where it is none.
    by_ratio : bool
        Whether columns are compared by their gain ratio.
    average_of : tuple of float
        Gains that make the average gain, where columns below the average are left out.
    tied : tuple of hashable
        Other columns with the winner's score.
    n_equal_cuts : int
        Other cuts of the winner that gain the same.
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
    whole: Any
    criterion: str
    algorithm: str
    log_base: LogBase
    targets: tuple[float, ...] = ()
    every: Hashable | None = None
    barred: tuple[Barred, ...] = ()
    asked: str = ""
    asked_feature: int = -1
    leaf_reason: str = ""
    by_ratio: bool = False
    average_of: tuple[float, ...] = ()
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
        """The candidate that the algorithm takes; None where it takes none."""
        return next((row for row in self.rows if row.chosen), None)

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
        from treewright.explain.audit_table import columns_of

        return columns_of(self)

    def __str__(self) -> str:
        from treewright.explain.audit_text import text_of

        return text_of(self)

    def __repr__(self) -> str:
        what = "candidates" if self.every is None else f"candidates of {self.every!r}"
        return f"<treewright.Audit: node {self.node}, {len(self)} {what}>"

    def _repr_html_(self) -> str:
        """The candidates as a table; a notebook asks for it."""
        from treewright.explain.audit_table import html_of

        return html_of(self)


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
    """
    if log_base not in UNITS or isinstance(log_base, bool):
        raise ParameterError(f"log_base is {log_base!r}; there are: 2 (bits), 'e' (nats)")
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= 12:
        raise ParameterError(f"digits is {digits!r}; give a whole number from 1 to 12")
    if isinstance(node, bool) or not isinstance(node, int | np.integer):
        raise ParameterError(f"node is {node!r}; give a whole number")
    summary = summarize(model, tree)
    path = path_texts(model, summary, int(node))
    feature = None if every is None else position_of(model, every)
    order = np.asarray(rows, np.int32), np.asarray(weights, np.float64)
    instances = some_instances(problem, *order)
    search = getattr(policy, "search", None)
    # CHAID searches by tests of independence; its nodes hold an impurity none the less.
    criterion = getattr(search or policy, "criterion", None) or Criterion.of(summary.criterion)
    here = AuditedNode(problem, criterion, instances, UNITS[log_base], model.missing)
    arrays = summary.tree
    audit = Audit(
        rows=(),
        summary=summary,
        node=int(node),
        path=path,
        n_samples=len(instances),
        weight=here.weight,
        n_fitted=int(arrays.n_samples[node]),
        whole=whole_of(here),
        criterion=criterion.name if criterion.number != ENTROPY else "entropy",
        algorithm=summary.algorithm,
        log_base=log_base,
        targets=few_targets(here),
        asked="" if arrays.is_leaf[node] else node_test(model, arrays, int(node)).question(),
        asked_feature=int(arrays.feature[node]),
        by_ratio=isinstance(policy, RatioPolicy),
        digits=digits,
    )
    if not len(instances):
        return replace(audit, leaf_reason="no row reaches it" if arrays.is_leaf[node] else "")
    if feature is not None:
        listed = every_of(here, policy, feature)
        return replace(audit, rows=tuple(listed), every=model.schema.columns[feature].name)
    return compared(audit, here, policy)


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


def whole_of(here: AuditedNode) -> Any:
    """Return the node's own counts or numbers as one branch."""
    if not len(here.instances):
        empty = np.zeros(1, np.int64)
        sums = BranchSums(empty, np.zeros((1, here.problem.n_stats)), np.zeros((1, here.problem.n_outputs)))
        impurities = np.zeros(1)
    else:
        sums = here.sums(np.zeros(len(here.instances), np.int64), 1)
        impurities = here.impurities(sums)
    return branches_of(here.problem, _Everything(), sums, impurities)[0]


class _Everything:
    """The test that all rows pass."""

    def edge(self, branch: int, **_: object) -> str:
        """Return nothing: there is no condition."""
        del branch
        return ""


def few_targets(here: AuditedNode) -> tuple[float, ...]:
    """Return the target of each row where there are so few that a variance can be written out; else nothing."""
    problem, instances = here.problem, here.instances
    plain = not problem.is_classes and problem.n_outputs == 1 and bool((instances.weights == 1.0).all())
    return tuple(problem.targets[0, instances.rows].tolist()) if plain and len(instances) <= MOST_TARGETS else ()


MOST_TARGETS = 8


def compared(audit: Audit, here: AuditedNode, policy: Policy) -> Audit:
    """Return the audit with the best candidate of each column, ranked."""
    instances = here.instances
    choice = policy.choose(instances, None)
    chosen = -1 if choice.chosen is None else choice.chosen.feature
    candidates = policy.candidates(instances)
    # nan scores are last: the algorithm leaves them out.
    candidates.sort(key=lambda one: (one.feature != chosen, math.isnan(one.score), -_plain(one.score), -one.gain))
    scale = 1.0 if isinstance(policy, RatioPolicy) or not isinstance(policy, GainPolicy) else here.factor
    rows = [
        measured(
            here, candidate, price=price_of(policy, candidate, here), score=candidate.score * scale, rank=rank,
            chosen=candidate.feature == chosen,
        )
        for rank, candidate in enumerate(candidates, 1)
    ]  # fmt: skip
    average: tuple[float, ...] = ()
    tolerance = NO_ORDER_OF_ITS_OWN
    if isinstance(policy, GainPolicy):
        found = policy.search.run(instances)
        tolerance = policy.tolerance(found)
        if isinstance(policy, RatioPolicy):
            average = tuple((found.gains[policy.counted(found)] * here.factor).tolist())
    best = candidates[0].score if candidates and chosen >= 0 else math.nan
    tied = tuple(
        row.column
        for row, one in zip(rows, candidates, strict=True)
        if not row.chosen and abs(one.score - best) <= tolerance
    )
    audit = replace(
        audit,
        rows=tuple(rows),
        barred=barred_columns(here, policy, [candidate.feature for candidate in candidates]),
        average_of=average,
        tied=tied,
        n_equal_cuts=equal_cuts(here, policy, candidates[0]) if chosen >= 0 else 0,
    )
    if audit.asked:
        return audit
    return replace(audit, leaf_reason=leaf_reason(audit.summary, audit.node, here, audit.winner))


def _plain(score: float) -> float:
    """A score to sort by."""
    return -math.inf if math.isnan(score) else score


def price_of(policy: Policy, candidate: Candidate, here: AuditedNode) -> float:
    """Return what C4.5 takes off the gain of a cut for the choice among many: log2 of their number, per row."""
    if candidate.kind != THRESHOLD or not isinstance(getattr(policy, "search", None), C45Search):
        return 0.0
    return math.log2(max(candidate.notes["tried"], 1.0)) / here.weight * here.unit


def equal_cuts(here: AuditedNode, policy: Policy, candidate: Candidate) -> int:
    """Return how many other cuts of the candidate's column gain the same."""
    search = getattr(policy, "search", None)
    if candidate.kind != THRESHOLD or not isinstance(search, Search):
        return 0
    gains = allowed_cuts(here, search, candidate.feature).gains
    # As the search: 1e-12 of the node's cost.
    tolerance = 1e-12 * max(float(search.criterion.costs(here.problem, here.instances.stats)), 1e-300)
    return int((gains >= gains.max() - tolerance).sum()) - 1 if len(gains) else 0


def every_of(here: AuditedNode, policy: Policy, feature: int) -> list[AuditRow]:
    """Return all candidates of one column; the best one is marked.

    Raises
    ------
    ParameterError
        The algorithm makes one candidate of a column step by step, and tries no list of them.
    """
    search = getattr(policy, "search", None)
    name = here.problem.schema.columns[feature].name
    if not isinstance(search, Search):
        raise ParameterError(
            f"every={name!r}: this algorithm merges the groups of a column step by step and tries no list of "
            "candidates; leave every out"
        )
    best = next((one for one in policy.candidates(here.instances) if one.feature == feature), None)
    if feature not in here.problem.level_columns:
        tried = 0 if best is None else best.notes["tried"]
        if isinstance(search, C45Search):
            tried = allowed_cuts(here, search, feature).n_tried
        price = math.log2(max(tried, 1)) / here.weight * here.unit if isinstance(search, C45Search) else 0.0
        rows = every_cut(here, search, feature, price)
    elif search.rules.nominal_splits == "multiway":
        rows = [] if best is None else [measured(here, best)]
    else:
        rows = every_division(here, search, feature)
    wanted = None if best is None else measured(here, best)
    ranks = {at: rank for rank, at in enumerate(sorted(range(len(rows)), key=lambda at: -rows[at].gain), 1)}
    ranked = []
    for at, row in enumerate(rows):
        is_best = wanted is not None and same_test(row, wanted)
        ranked.append(replace(row, rank=ranks[at], score=row.gain, chosen=is_best))
    return ranked


def same_test(row: AuditRow, other: AuditRow) -> bool:
    """Return whether two candidates of one column divide the rows alike."""
    if math.isnan(row.threshold) != math.isnan(other.threshold) or len(row.branches) != len(other.branches):
        return False
    if not math.isnan(row.threshold):
        return row.threshold == other.threshold and _held(row) == _held(other)
    return row.question == other.question and _held(row) == _held(other)


def _held(row: AuditRow) -> list[int]:
    """Rows per branch: tells where the missing ones go."""
    return [branch.samples for branch in row.branches]
