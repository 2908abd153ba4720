"""The tests that a node could have had: the audit of one split. In: a model, rows, a node. Out: ``Audit``.

An audit shows the best test of every column with the numbers that they are compared by, or every cut or division of one
column. Nothing is kept while a tree grows: the search of the node-by-node grower is repeated on the rows of the node
(``audit_node``). Told from the widest to the narrowest:

    Audit, AuditRow   the result: a row per candidate test
    audit_model       an audit of a node of a model, or what it is refused for
    best_tests        the best test of every column, as the algorithm ranks them; ``tests_of_column`` has every cut or
                      division of one; why a column offers no test, or why the node is a leaf
    measured          a candidate with its numbers, computed from the rows of the branches and not taken from the search
                      that found it, so that the two check each other
    text_of           the text, as one would write it by hand: the node and its impurity, the table of candidates, then
                      the best one computed step by step with the numbers of ``explain.arithmetic``
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from treewright.core.elementary import LOG_OF_2, log2_of
from treewright.data.cells import shown
from treewright.data.schema import Schema
from treewright.exceptions import DataError, ParameterError, old_name
from treewright.explain.arithmetic import CLASS_FORMULAS, MOST_TERMS, Paper, Written, decimals_for, fraction, plain
from treewright.grow.by_node.c45 import CLOSE, SLACK, C45Policy, C45Search
from treewright.grow.by_node.candidates import Candidate, level_branches, split_information
from treewright.grow.by_node.cuts import LEAVE_OUT, LEFT, OWN, OWN_BRANCH, RIGHT, CutList, list_cuts, middle_between
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances, some_instances
from treewright.grow.by_node.levels import EXHAUSTIVE_LEVELS, divisions, every_split
from treewright.grow.by_node.policies import policy_of, problem_of
from treewright.grow.by_node.search import GainPolicy, Policy, RatioPolicy, Search
from treewright.grow.by_node.significance import Chance, chance_of
from treewright.grow.criteria import medians
from treewright.grow.criteria.costs import ABSOLUTE_ERROR, Criterion
from treewright.grow.problem import Problem
from treewright.predict import ensemble, fractional
from treewright.show.spans import TextColumn, aligned, html_table
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD, Missing, path_to
from treewright.trees.class_criteria import ENTROPY
from treewright.trees.data import ModelData
from treewright.trees.edit import is_below
from treewright.trees.facts import BOOSTED, BY_HAND, FORESTS, SEARCHED, cuts_of, growth_of, node_test
from treewright.trees.summary import TreeSummary, counted, node_of, summarize
from treewright.trees.tests import Bound, narrowed, shared_out
from treewright.trees.wording import IntervalTest, MultiwayTest, NodeTest, SubsetTest, conditions, cut_test
from treewright.trees.writing import gap_digits, shorten, written_amount, written_name

LogBase = Literal[2, "e"]


@dataclass(frozen=True)
class AuditBranch:
    """One branch of a candidate test.

    Attributes
    ----------
    label : str
        Its condition, such as ``> 2.45``.
    samples : int
        Rows of the node that take it.
    weight : float
    counts : tuple of float
        Weight of each class, outputs one after another; empty for regression.
    values, variances : tuple of float
        Per output the mean (the median under ``absolute_error``) and the variance; empty for classification.
    impurity : float
        0.0 for a branch without rows.
    """

    label: str
    samples: int
    weight: float
    counts: tuple[float, ...]
    values: tuple[float, ...]
    variances: tuple[float, ...]
    impurity: float


@dataclass(frozen=True)
class AuditRow:
    """A candidate test with its impurities, gain, score and p-value.

    Attributes
    ----------
    column : hashable
        The column's name.
    feature : int
        Its position.
    test : str
        Its test, such as ``petal_length <= 2.45``.
    branches : tuple of AuditBranch
        Those without rows (a level that the node does not hold) included.
    n_left_out, weight_left_out : int, float
        Rows whose cell is missing and that no branch counts.
    share_known : float, 0 to 1
        Weight of the other rows, as a share of the node's weight.
    before, after : float
        Impurity of the rows that branches count, before the split; after it, the weighted mean over the branches.
    price : float
        What C4.5 subtracts for the choice among many cuts; 0.0 otherwise.
    gain : float
        ``share_known * (before - after) - price``.
    split_info, gain_ratio : float
        Entropy of the division into branches, with rows left out as one more; gain divided by it (nan if that is 0).
    score : float
        What the algorithm compares columns by; nan if it leaves the column out.
    p_value : float
        Chi-squared test of branches and classes, or F test of the branches' means; CHAID's adjusted one. nan if the
        test has no degrees of freedom or there are several outputs.
    exact : bool
        False if not every split of the column was tried.
    notes : mapping of str to float
        Numbers specific to the algorithm, as ``Candidate.notes``: cuts tried, or the parts of CHAID's p-value.
    rank : int
        1 for the best.
    chosen : bool
        Whether the algorithm chooses it.
    threshold : float
        Of a test with one cut; else nan.
    """

    column: Hashable
    feature: int
    test: str
    branches: tuple[AuditBranch, ...]
    n_left_out: int
    weight_left_out: float
    share_known: float
    before: float
    after: float
    price: float
    gain: float
    split_info: float
    gain_ratio: float
    score: float
    p_value: float
    exact: bool
    notes: Mapping[str, float]
    rank: int
    chosen: bool
    threshold: float

    question = old_name("question", "test")

    @property
    def held(self) -> tuple[AuditBranch, ...]:
        """The branches that hold rows."""
        return tuple(branch for branch in self.branches if branch.samples)


@dataclass(frozen=True)
class Barred:
    """A column without a candidate, and why."""

    column: Hashable
    reason: str


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
    tree_test : str
        The test of the tree; empty at a leaf.
    tree_feature : int
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
    tree_test: str = ""
    tree_feature: int = -1
    leaf_reason: str = ""
    by_ratio: bool = False
    average_of: tuple[float, ...] = ()
    uncounted: tuple[Hashable, ...] = ()
    gainless: tuple[Hashable, ...] = ()
    tied: tuple[Hashable, ...] = ()
    n_equal_cuts: int = 0
    digits: int = 3

    asked = old_name("asked", "tree_test")
    asked_feature = old_name("asked_feature", "tree_feature")

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
        return self.winner is not None and bool(self.tree_test) and self.winner.test == self.tree_test

    @property
    def by_p(self) -> bool:
        """Whether columns are compared by adjusted p-values (CHAID)."""
        return any("multiplier" in row.notes for row in self.rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """The candidates as columns, for ``pandas.DataFrame`` or ``polars.DataFrame``.

        Returns
        -------
        dict of str to list
            ``rank`` (int), ``column``, ``test``, ``chosen`` (bool), ``branches`` (int), ``labels`` (list of str),
            ``samples`` (list of int), ``weights`` (list of float), ``counts`` (list per branch of the weight of each
            class) or ``values`` and ``variances`` (list per branch of a number per output), ``impurities`` (list of
            float), ``known`` (float, 0 to 1), ``before``, ``after``, ``price``, ``gain``, ``split_info``,
            ``gain_ratio``, ``score``, ``p_value``, ``threshold`` (float or None), ``exact`` (bool).
        """
        rows = self.rows
        columns: dict[str, list[Any]] = {
            "rank": [row.rank for row in rows],
            "column": [row.column for row in rows],
            "test": [row.test for row in rows],
            "chosen": [row.chosen for row in rows],
            "branches": [len(row.branches) for row in rows],
            "labels": [[branch.label for branch in row.branches] for row in rows],
            "samples": [[branch.samples for branch in row.branches] for row in rows],
            "weights": [[branch.weight for branch in row.branches] for row in rows],
        }
        if self.summary.counts_classes:
            columns["counts"] = [[list(branch.counts) for branch in row.branches] for row in rows]
        else:
            columns["values"] = [[list(branch.values) for branch in row.branches] for row in rows]
            columns["variances"] = [[list(branch.variances) for branch in row.branches] for row in rows]
        columns["impurities"] = [[branch.impurity for branch in row.branches] for row in rows]
        columns["known"] = [row.share_known for row in rows]
        for name in ("before", "after", "price", "gain", "split_info", "gain_ratio", "score", "p_value"):
            columns[name] = [getattr(row, name) for row in rows]
        columns["threshold"] = [None if math.isnan(row.threshold) else row.threshold for row in rows]
        columns["exact"] = [row.exact for row in rows]
        return columns

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        what = "candidates" if self.every is None else f"candidates of {self.every!r}"
        return f"<treewright.Audit: node {self.node}, {len(self)} {what}>"

    def _repr_html_(self) -> str:
        """The candidates as an HTML table for notebooks."""
        shown = best_rows(self, MAX_HTML_ROWS)
        titles, cells = titles_and_cells(self, shown, width=None)
        hidden = len(self) - len(shown)
        note = f"{hidden} more: see to_dict()" if hidden else ""
        return html_table(head_lines(self), titles, cells, note)


# An audit of a node.

# Parameters that the search of an algorithm cannot do without.
NEEDED: dict[str, dict[str, type | tuple[type, ...]]] = {
    "cart": {"criterion": str, "nominal_splits": str, "min_weight_fraction_leaf": (int, float)},
    "id3": {},
    "c45": {"nominal_splits": str},
    "chaid": {
        "alpha": (int, float), "alpha_merge": (int, float), "bonferroni": bool, "exhaustive": bool, "n_bins": int,
    },
    "optimal": {"criterion": str, "min_weight_fraction_leaf": (int, float)},
}  # fmt: skip
UNITS: dict[object, float] = {2: 1.0, "e": LOG_OF_2}
LARGEST = 1e150  # the squares of a million such numbers add up to a float64
MOST_TARGETS = 8  # a variance of more numbers is not written out


def audit_model(
    model: ModelData, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, node: int, **options: Any
) -> Audit:
    """Audit a node of a model of one tree on encoded rows; the algorithm is that of the model's facts.

    A tree of bagging is audited by the algorithm of the members. ``target`` int32[n, n_outputs] class codes, or
    float64[n, n_outputs]; ``weights`` float64[n], > 0, or None; ``options`` as of `audit_node`.
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
    is_chosen_here = audit.every is None and bool(audit.tree_test) and audit.n_samples == audit.n_fitted
    if is_chosen_here and not audit.takes_winner and growth_of(model).splitter == "hist":
        raise ParameterError(
            f"node {node} tests {audit.tree_test!r}, the best cut between bins (splitter='hist'); audit compares the "
            f"cuts between all values, and another one is better: fit a tree with splitter='best' to see how one is "
            "chosen"
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
    leaves = ensemble.predict_leaves(model, matrix)
    if model.missing != "fractional":
        rows = np.flatnonzero(is_below(model.trees[0], node)[leaves]).astype(np.int32)
        return rows, np.ones(len(rows))
    path = fractional.decision_path(model, matrix, leaves).tocsc()
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
    """The audit of one node.

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
        whole=node_as_branch(here),
        criterion=criterion.name if criterion.number != ENTROPY else "entropy",
        algorithm=summary.algorithm,
        log_base=log_base,
        targets=targets_to_write(here),
        tree_test="" if arrays.is_leaf[node] else node_test(model, arrays, int(node)).question(),
        tree_feature=int(arrays.feature[node]),
        by_ratio=policy.by_ratio,
        digits=digits,
    )
    if not len(instances):
        return replace(audit, leaf_reason="no row reaches it" if arrays.is_leaf[node] else "")
    if problem.is_classes and problem.n_stats == 1:
        return replace(audit, leaf_reason="the target has one class")  # no test could tell anything apart
    if feature is not None:
        pure = PURE if not audit.tree_test and is_pure(summary, audit.node) else ""
        listed = tuple(tests_of_column(here, policy, feature))
        return replace(audit, rows=listed, every=model.schema.columns[feature].name, leaf_reason=pure)
    return best_tests(audit, here, policy)


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
    """The conditions on the path to a node, one per column."""
    bounds: dict[int, Bound] = {}
    arrays = summary.tree
    for above, branch in path_to(arrays, node):
        feature = int(arrays.feature[above])
        before = bounds.get(feature, Bound())
        bounds[feature] = narrowed(before, model.schema.columns[feature], arrays, above, branch)
    return conditions(model.schema, bounds, exact=False, max_levels=12, missing=model.missing)


def position_of(model: ModelData, column: Hashable) -> int:
    """The position of a column that is given by its name, or by its position."""
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


def node_as_branch(here: AuditedNode) -> AuditBranch:
    """The node's own counts or numbers as one branch."""
    if not len(here.instances):
        empty = np.zeros(1, np.int64)
        sums = BranchSums(empty, np.zeros((1, here.problem.n_stats)), np.zeros((1, here.problem.n_outputs)))
        impurities = np.zeros(1)
    else:
        sums = here.sums(np.zeros(len(here.instances), np.int64), 1)
        impurities = here.impurities(sums)
    return branches_of(here.problem, [""], sums, impurities)[0]


def targets_to_write(here: AuditedNode) -> tuple[float, ...]:
    """The target of each row if they are few enough to write out a variance; else nothing."""
    problem, instances = here.problem, here.instances
    plain = not problem.is_classes and problem.n_outputs == 1 and bool((instances.weights == 1.0).all())
    in_order = np.sort(instances.rows)
    return tuple(problem.targets[0, in_order].tolist()) if plain and len(instances) <= MOST_TARGETS else ()


# The candidates of a node.

NO_ORDER_OF_ITS_OWN = 1e-12  # scores of an algorithm that states no tolerance are equal within this
OWN_BRANCH_NUMBER = 2  # a third branch of missing values, next to the two sides of a cut
PURE = "it is pure: all its rows have one target"
NOTHING_KNOWN = "every cell is missing in this node"
CONSTANT = "only one value in this node"
TOO_FEW = "no split leaves enough rows in its branches"
DOES_NOT_PAY = "no cut gains more than the price of the choice among so many"
NOT_OFFERED = "the algorithm offers no test of it"


def best_tests(audit: Audit, here: AuditedNode, policy: Policy) -> Audit:
    """The audit with the best candidate of each column, ranked."""
    instances = here.instances
    choice = policy.choose(instances, None)
    chosen = -1 if choice.chosen is None else choice.chosen.feature
    candidates = policy.candidates(instances)

    def place(one: Candidate) -> tuple[bool, bool, float, float]:
        is_out = math.isnan(one.score)  # the algorithm leaves it out: such columns are last
        return one.feature != chosen, is_out, 0.0 if is_out else -one.score, -one.gain

    candidates.sort(key=place)
    scale = here.factor if isinstance(policy, GainPolicy) and not policy.by_ratio else 1.0
    rows = [
        measured(
            here,
            candidate,
            price=price_of(policy, candidate, here),
            score=candidate.score * scale,
            rank=rank,
            chosen=candidate.feature == chosen,
        )
        for rank, candidate in enumerate(candidates, 1)
    ]
    average: tuple[float, ...] = ()
    tolerance = NO_ORDER_OF_ITS_OWN
    if isinstance(policy, GainPolicy):
        tolerance = policy.tolerance(policy.search.run(instances))
    elif isinstance(policy, C45Policy):
        tolerance = CLOSE
    if isinstance(policy, RatioPolicy | C45Policy):
        average = tuple((policy.averaged(instances) * here.factor).tolist())
    uncounted, gainless = columns_out_of_c45(policy, candidates, instances)
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
        uncounted=uncounted,
        gainless=gainless,
        tied=tied,
        n_equal_cuts=equal_cuts(here, policy, candidates[0]) if chosen >= 0 else 0,
    )
    if audit.tree_test:
        return audit
    if is_pure(audit.summary, audit.node):
        # Every candidate of a pure node has gain 0: there is nothing to show.
        return replace(
            audit, rows=(), barred=(), tied=(), average_of=(), uncounted=(), gainless=(), n_equal_cuts=0,
            leaf_reason=PURE,
        )  # fmt: skip
    best_row = next(iter(rows), None)
    chance = None if choice.chosen is None else chance_of_winner(audit, here, policy, choice.chosen)
    return replace(
        audit,
        leaf_reason=leaf_reason(
            audit.summary, audit.node, here, audit.winner, best_row, none_gains=0 < len(rows) == len(gainless),
            chance=chance,
        ),
    )  # fmt: skip


def chance_of_winner(audit: Audit, here: AuditedNode, policy: Policy, chosen: Candidate) -> Chance | None:
    """How significant the winner is among the tests of all columns; None without ``max_p_value``."""
    limit = audit.summary.model.facts.get("parameters", {}).get("max_p_value")
    # Facts may come from a file of any origin.
    if not isinstance(limit, int | float) or not 0.0 < limit <= 1.0 or not isinstance(policy, GainPolicy | C45Policy):
        return None
    return chance_of(policy, here.instances, chosen, float(limit))


def columns_out_of_c45(
    policy: Policy, candidates: Sequence[Candidate], instances: Instances
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """The columns that C4.5 does not count in the average gain, and those left out for a gain of 0."""
    if not isinstance(policy, C45Policy):
        return (), ()
    columns = policy.search.problem.schema.columns
    counted = policy.averaged(instances)
    least = float(counted.mean()) - SLACK if len(counted) else -math.inf
    ordered = sorted(candidates, key=lambda one: one.feature)
    uncounted = tuple(columns[one.feature].name for one in ordered if not policy.is_counted[one.feature])
    gainless = tuple(columns[one.feature].name for one in ordered if math.isnan(one.score) and one.gain >= least)
    return uncounted, gainless


def price_of(policy: Policy, candidate: Candidate, here: AuditedNode) -> float:
    """What C4.5 subtracts from the gain of a cut for the choice among many: log2 of their number, per row."""
    if candidate.kind != THRESHOLD or not isinstance(getattr(policy, "search", None), C45Search):
        return 0.0
    return float(log2_of(max(candidate.notes["tried"], 1.0))) / here.weight * here.unit


def equal_cuts(here: AuditedNode, policy: Policy, candidate: Candidate) -> int:
    """How many other cuts of the candidate's column have the same gain."""
    search = getattr(policy, "search", None)
    if candidate.kind != THRESHOLD or not isinstance(search, Search):
        return 0
    gains = allowed_cuts(here, search, candidate.feature).gains
    # As the search: 1e-12 of the node's cost.
    tolerance = 1e-12 * max(float(search.criterion.costs(here.problem, here.instances.stats)), 1e-300)
    return int((gains >= gains.max() - tolerance).sum()) - 1 if len(gains) else 0


def tests_of_column(here: AuditedNode, policy: Policy, feature: int) -> list[AuditRow]:
    """All candidates of one column; the best one is marked."""
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
        price = float(log2_of(max(tried, 1))) / here.weight * here.unit if isinstance(search, C45Search) else 0.0
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
    """Whether two candidates of one column split the rows alike."""
    if math.isnan(row.threshold) != math.isnan(other.threshold) or len(row.branches) != len(other.branches):
        return False
    if not math.isnan(row.threshold):
        return row.threshold == other.threshold and _held(row) == _held(other)
    return row.test == other.test and _held(row) == _held(other)


def _held(row: AuditRow) -> list[int]:
    """Rows per branch: they show which branch missing values follow."""
    return [branch.samples for branch in row.branches]


def mode_of_cuts(search: Search, instances: Instances, place: int) -> int:
    """What the search does with the missing rows of an ordered column (``cuts``)."""
    n_missing = len(instances) - instances.n_present
    return int(search.modes(n_missing, search.missing_tables(instances))[place])


def place_of(columns: np.ndarray, feature: int) -> int:
    """The position of a column among the ordered or the level columns."""
    return int(np.searchsorted(columns, feature))


def allowed_cuts(node: AuditedNode, search: Search, feature: int) -> CutList:
    """The cuts of an ordered column that leave enough rows on both sides, the lowest first."""
    instances, problem = node.instances, node.problem
    place = place_of(problem.ordered_columns, feature)
    n_present = int(instances.n_present[place])
    known = float(instances.weights[instances.orders[place, :n_present]].sum())
    flat, share, most = search.least
    return list_cuts(
        problem,
        search.criterion,
        instances,
        place,
        mode_of_cuts(search, instances, place),
        min_rows=search.rules.min_rows,
        min_weight=max(flat, min(share * known, most)),
    )


def every_cut(node: AuditedNode, search: Search, feature: int, price: float) -> list[AuditRow]:
    """Every allowed cut of an ordered column, the lowest first.

    ``price``: what each loses for the choice among them.
    """
    cuts = allowed_cuts(node, search, feature)
    if not len(cuts.gains):
        return []
    candidates = _cut_candidates(node, search, feature, cuts)
    digits = int(gap_digits(np.array([candidate.threshold for candidate in candidates])).max())
    sums: Sequence[BranchSums | None] = [None] * len(candidates)
    if node.criterion.number != ABSOLUTE_ERROR:
        sums = _sums_along(node, feature, cuts, candidates)
    return [
        measured(node, candidate, sums=held, digits=digits, price=price)
        for candidate, held in zip(candidates, sums, strict=True)
    ]


def _cut_candidates(node: AuditedNode, search: Search, feature: int, cuts: CutList) -> list[Candidate]:
    """The cuts as candidates, as the search would return them."""
    problem, instances = node.problem, node.instances
    place = place_of(problem.ordered_columns, feature)
    n_present = int(instances.n_present[place])
    x = problem.values[feature, instances.rows[instances.orders[place]]]
    left_out = n_present == len(instances) or mode_of_cuts(search, instances, place) == LEAVE_OUT
    candidates = []
    for at, side in zip(cuts.places.tolist(), cuts.sides.tolist(), strict=True):
        after = float(x[at + 1]) if at + 1 < n_present else float("nan")
        threshold = middle_between(float(x[at]), after)
        if search.data_values and np.isfinite(threshold):
            threshold = float(problem.value_at_most(feature, threshold))
        missing = EVERY_BRANCH if left_out else {RIGHT: 1, LEFT: 0, OWN: 2}[side]
        candidates.append(
            Candidate(
                feature,
                THRESHOLD,
                3 if missing == OWN_BRANCH_NUMBER else 2,
                missing,
                0.0,
                0.0,
                threshold=threshold,
                notes={"tried": cuts.n_tried},
            )
        )
    return candidates


def _sums_along(
    node: AuditedNode, feature: int, cuts: CutList, candidates: Sequence[Candidate]
) -> list[BranchSums | None]:
    """Sums over the branches of each cut, from running sums: one pass for all cuts."""
    instances = node.instances
    place = place_of(node.problem.ordered_columns, feature)
    order, last = instances.orders[place], int(instances.n_present[place])
    held = []
    for parts in (np.ones((len(order), 1)), node.parts, node.squares):
        running = np.cumsum(parts[order[:last]], axis=0)
        left = running[cuts.places]
        # Rounding must not give a class a weight on a side where it has no rows.
        right = np.cumsum(parts[order[:last]][::-1], axis=0)[::-1]
        right = np.vstack([right, np.zeros((1, parts.shape[1]))])[cuts.places + 1]
        held.append((left, right, parts[order[last:]].sum(axis=0)))
    result: list[BranchSums | None] = []
    for at, candidate in enumerate(candidates):
        tables = []
        for left, right, gone in held:
            table = np.zeros((candidate.n_branches, left.shape[1]))
            table[0], table[1] = left[at], right[at]
            if candidate.missing_branch != EVERY_BRANCH:
                table[candidate.missing_branch] += gone
            tables.append(table)
        result.append(BranchSums(tables[0][:, 0].astype(np.int64), tables[1], tables[2]))
    return result


def every_division(node: AuditedNode, search: Search, feature: int) -> list[AuditRow]:
    """The binary splits of a nominal column's levels, the largest gain first.

    All of them up to 10 levels in the node; with more, those that the search tries.
    """
    problem, instances = node.problem, node.instances
    place = place_of(problem.level_columns, feature)
    tables, counts = search.level_tables(instances)
    levels = problem.levels_of(place)
    held, n_gone = np.flatnonzero(counts[levels]), int(counts[levels.stop])
    gone = tables[levels.stop]
    mode = int(search.modes(np.array([n_gone]), gone[None])[0]) if n_gone else LEAVE_OUT
    if len(held) + (mode != LEAVE_OUT) < 2:
        return []
    masks = _divisions(node, search, feature, tables[levels][held])
    sides = {LEAVE_OUT: (EVERY_BRANCH,), OWN_BRANCH: (OWN_BRANCH_NUMBER,)}.get(mode, (1, 0))
    offers = [(mask, side) for mask in masks for side in sides]
    if mode != LEAVE_OUT:
        offers.append((np.ones(len(held), bool), 1))  # present against missing
    # Two offers may be the same split: of two levels, each against the other. A dict keeps it once.
    stated = {(mask.tobytes(), way): mask for mask, way in (_stated(mask, side) for mask, side in offers)}
    rows = [_division(node, feature, held, mask, way) for (_, way), mask in stated.items()]
    least = max(search.rules.min_rows, 1)
    allowed = [
        row
        for row in rows
        if min(b.samples for b in row.branches[:2]) >= least
        and min(b.weight for b in row.branches[:2]) >= search.rules.min_weight
    ]
    return sorted(allowed, key=lambda row: -row.gain)


def _divisions(node: AuditedNode, search: Search, feature: int, tables: np.ndarray) -> np.ndarray:
    """bool[k, g]: levels on the left of each division."""
    splits = search.rules.splits_of(feature)
    if splits == "subset" and len(tables) <= EXHAUSTIVE_LEVELS:
        return every_split(len(tables))[1:]
    # The order of levels by medians is that by means here: this lists divisions, it does not choose one.
    return divisions(node.problem, search.criterion, tables, splits)[0]


def _stated(mask: np.ndarray, side: int) -> tuple[np.ndarray, int]:
    """A division with fewer levels on the left; of equal halves the one with the lowest code."""
    n_left = int(mask.sum())
    if 2 * n_left > len(mask) or (2 * n_left == len(mask) and not mask[0]):
        return ~mask, {0: 1, 1: 0}.get(side, side)
    return mask, side


def _division(node: AuditedNode, feature: int, held: np.ndarray, mask: np.ndarray, side: int) -> AuditRow:
    """One division with its numbers."""
    v = len(node.problem.schema.columns[feature].levels)
    groups, present = np.full(v, -1, np.int64), np.zeros(v, bool)
    groups[held], present[held] = np.where(mask, 0, 1), True
    n_branches = 3 if side == OWN_BRANCH_NUMBER else 2
    branch_of = level_branches(v, groups, present, 1)
    return measured(node, Candidate(feature, SUBSET, n_branches, side, 0.0, 0.0, branch_of=branch_of))


def barred_columns(here: AuditedNode, policy: Policy, offered: Sequence[int]) -> tuple[Barred, ...]:
    """The columns that offer no test, in column order, each with the reason."""
    columns = here.problem.schema.columns
    out = sorted(set(range(len(columns))) - set(offered))
    return tuple(Barred(columns[feature].name, reason_of(here, policy, feature)) for feature in out)


def reason_of(here: AuditedNode, policy: Policy, feature: int) -> str:
    """Why a column offers no test."""
    if left_out := here.problem.schema.columns[feature].left_out:
        return f"left out: {left_out}"
    cells = here.problem.values[feature, here.instances.rows]
    known = cells[~np.isnan(cells)]
    if not len(known):
        return NOTHING_KNOWN
    if len(known) == len(cells) and bool((known == known[0]).all()):
        return CONSTANT
    search = getattr(policy, "search", None)
    if not isinstance(search, Search):
        return CONSTANT if bool((known == known[0]).all()) else NOT_OFFERED
    place = place_of(here.problem.ordered_columns, feature)
    is_ordered = place < len(here.problem.ordered_columns) and here.problem.ordered_columns[place] == feature
    if is_ordered and len(allowed_cuts(here, search, feature).gains):
        return DOES_NOT_PAY
    if bool((known == known[0]).all()) and here.problem.missing in ("fractional", "surrogate"):
        return CONSTANT
    return TOO_FEW


def is_pure(summary: TreeSummary, node: int) -> bool:
    """Whether all training rows of a node have the same target."""
    impurity = summary.tree.impurity
    return float(impurity[node]) <= 1e-12 * float(impurity[0])


def leaf_reason(
    summary: TreeSummary,
    node: int,
    here: AuditedNode,
    winner: AuditRow | None,
    best: AuditRow | None = None,
    *,
    none_gains: bool = False,
    chance: Chance | None = None,
) -> str:
    """Why a node is a leaf.

    ``winner``: the candidate that the algorithm would choose there; ``best``: the best one, chosen or not;
    ``none_gains``: whether none is chosen because no candidate has a positive gain; ``chance``: the p-values of the
    winner, if growth has a limit of p-values.
    """
    tree, parameters = summary.tree, summary.model.facts.get("parameters", {})
    if is_pure(summary, node):
        return PURE
    depth = int(tree.depth[node])
    limit = parameters.get("max_depth")
    if limit is not None and depth >= limit:
        return f"max_depth is {limit} and the node has depth {depth}"
    n, least = int(tree.n_samples[node]), rows_needed(parameters, int(tree.n_samples[0]))
    if n < least:
        return f"it has {counted(n, 'row')}, and a split needs {least} (min_samples_split)"
    if winner is None and best is not None and "multiplier" in best.notes:
        return f"the smallest adjusted p-value, {best.p_value:.3g}, is above alpha, {parameters.get('alpha', 0.05):g}"
    if winner is None and none_gains:
        return "no column has a positive gain"
    if winner is None:
        return "no column offers a test that the algorithm would choose"
    decrease, required = (
        winner.gain * here.weight / float(tree.weight[0]),
        parameters.get("min_impurity_decrease") or 0.0,
    )
    if decrease < required * (1 - 1e-12):
        return (
            f"its best test lowers the impurity of the tree by {decrease:.3g}, and min_impurity_decrease requires "
            f"{required:.3g}"
        )
    if chance is not None and not chance.is_significant:
        return f"its best test is {significance_text(chance)} (max_p_value)"
    return later_reason(summary, parameters)


def significance_text(chance: Chance) -> str:
    """A test's p-values in words, compared with their limit."""
    p_value, adjusted = chance.p_value, chance.adjusted_p_value
    if chance.is_significant:
        return f"significant: p {p_value:.3g}, adjusted {_within(adjusted, chance)} <= {chance.limit:.6g}"
    if math.isnan(adjusted):
        return f"not significant: p {_within(p_value, chance)} > {chance.limit:.6g}"
    return f"not significant: p {p_value:.3g}, adjusted {_within(adjusted, chance)} > {chance.limit:.6g}"


def _within(p_value: float, chance: Chance) -> str:
    """A p-value with as many digits as keep it on its side of the limit."""
    for digits in (3, 6, 9):
        text = f"{p_value:.{digits}g}"
        if (float(text) <= float(f"{chance.limit:.6g}")) == chance.is_significant:
            break
    return text


def rows_needed(parameters: dict[str, Any], n_rows: int) -> int:
    """The rows that a node needs to be split."""
    least = parameters.get("min_samples_split", 2)
    # A float is a share of all rows.
    return max(2, math.ceil(least * n_rows) if isinstance(least, float) else int(least))


def later_reason(summary: TreeSummary, parameters: dict[str, Any]) -> str:
    """Why a node that could be split is a leaf."""
    # A leaf does not record why it is one: it may be a limit of growth, or pruning afterwards.
    was_cut = bool(cuts_of(summary.model.facts))
    afterwards = "; or it was pruned after growth" if was_cut else ""
    if parameters.get("ccp_alpha"):
        return (
            f"it was pruned, or not split: a split was possible (ccp_alpha is {parameters['ccp_alpha']:g}){afterwards}"
        )
    if parameters.get("max_leaf_nodes") is not None:
        return (
            f"the tree has all its leaves (max_leaf_nodes is {parameters['max_leaf_nodes']}): a split was possible"
            f"{afterwards}"
        )
    if summary.algorithm == "c45" and parameters.get("confidence", 0.25) is not None:
        return "it was split and then pruned"
    if BY_HAND in summary.model.facts:
        return "no test was chosen here"
    if was_cut:
        return "a split was possible: the tree was pruned after growth"
    return "a split was possible: the tree was pruned, or fitted on other rows"


# The numbers of a candidate.


@dataclass(frozen=True, eq=False)
class BranchSums:
    """Sums over the rows of each branch of a test.

    ``costs`` float64[b] or None: weight times impurity, if the statistics do not determine it (``absolute_error``).
    """

    samples: np.ndarray  # int64[b]
    table: np.ndarray  # float64[b, n_stats]: as ``Candidate.table``
    squares: np.ndarray  # float64[b, n_outputs]: sum of squares of the centred targets; empty for classes
    costs: np.ndarray | None = None
    medians: np.ndarray | None = None  # float64[b, n_outputs] or None: only for ``absolute_error``


@dataclass(frozen=True, eq=False)
class AuditedNode:
    """A node's rows, with the criterion that measures them."""

    problem: Problem
    criterion: Criterion
    instances: Instances
    unit: float  # factor that turns entropies in bits into the unit asked for
    missing: Missing  # ``ModelData.missing``

    @cached_property
    def weight(self) -> float:
        """Weight of the node."""
        return float(self.problem.weight_of(self.instances.stats))

    @property
    def factor(self) -> float:
        """Factor of impurities: only entropies have a unit to choose."""
        return self.unit if self.criterion.number == ENTROPY else 1.0

    @cached_property
    def parts(self) -> np.ndarray:
        """float64[m, n_stats]: what each row adds to its branch."""
        rows = self.instances.rows
        parts = np.zeros((len(rows), self.problem.n_stats))
        amounts = self.problem.amounts[rows] * self.instances.weights[:, None]
        parts[np.arange(len(rows))[:, None], self.problem.index[rows]] = amounts
        return parts

    @cached_property
    def squares(self) -> np.ndarray:
        """float64[m, n_outputs]: weighted squares of the centred targets; no columns for classification."""
        problem, rows = self.problem, self.instances.rows
        if problem.is_classes:
            return np.zeros((len(rows), 0))
        centred = problem.targets[:, rows] - problem.centres[:, None]
        squares: np.ndarray = (centred * centred * self.instances.weights).T
        return squares

    def sums(self, branch: np.ndarray, n_branches: int) -> BranchSums:
        """Sums over the branches when row ``i`` of the node takes ``branch[i]`` (int[m]; negative: none)."""
        kept = np.flatnonzero(branch >= 0)
        table = np.zeros((n_branches, self.problem.n_stats))
        np.add.at(table, branch[kept], self.parts[kept])
        squares = np.zeros((n_branches, self.squares.shape[1]))
        np.add.at(squares, branch[kept], self.squares[kept])
        samples = np.bincount(branch[kept], minlength=n_branches)
        costs, middle = None, None
        if self.criterion.number == ABSOLUTE_ERROR:
            costs, middle = self._by_medians(branch, n_branches)
        return BranchSums(samples, table, squares, costs, middle)

    def _by_medians(self, branch: np.ndarray, n_branches: int) -> tuple[np.ndarray, np.ndarray]:
        """Costs and medians of the branches."""
        costs, middle = np.zeros(n_branches), np.full((n_branches, self.problem.n_outputs), math.nan)
        for b in np.unique(branch[branch >= 0]).tolist():
            rows, weights = self.instances.rows[branch == b], self.instances.weights[branch == b]
            costs[b] = medians.cost(self.problem, rows, weights)
            middle[b] = medians.medians_of(self.problem, rows, weights)
        return costs, middle

    def impurities(self, sums: BranchSums) -> np.ndarray:
        """float64[b]: impurity of each branch, in the unit asked for."""
        if sums.costs is not None:
            weights = self.problem.weight_of(sums.table)
            return np.divide(sums.costs, weights, out=np.zeros_like(sums.costs), where=weights > 0)
        return self.criterion.impurities(self.problem, sums.table) * self.factor

    def before(self, branch: np.ndarray | None, table: np.ndarray) -> float:
        """Impurity of all rows that the branches of a test hold together (``table`` is their statistics)."""
        if self.criterion.number == ABSOLUTE_ERROR:
            kept = slice(None) if branch is None else branch >= 0
            rows, weights = self.instances.rows[kept], self.instances.weights[kept]
            return medians.cost(self.problem, rows, weights) / float(weights.sum())
        return float(self.criterion.impurities(self.problem, table)) * self.factor


def measured(
    node: AuditedNode,
    candidate: Candidate,
    *,
    sums: BranchSums | None = None,
    digits: int = 6,
    price: float = 0.0,
    score: float = math.nan,
    rank: int = 0,
    chosen: bool = False,
) -> AuditRow:
    """A candidate with its numbers.

    ``sums``: over its branches, if they are known already. ``digits``: significant digits of cuts in texts. ``price``,
    ``score``, ``rank``, ``chosen`` as in ``AuditRow``, in the unit asked for.
    """
    problem = node.problem
    branch = None
    if sums is None or node.criterion.number == ABSOLUTE_ERROR:
        branch = candidate.branches(problem, node.instances.rows)
        sums = node.sums(branch, candidate.n_branches)
    weights = problem.weight_of(sums.table)
    impurities = node.impurities(sums)
    known = float(weights.sum())
    share = min(known / node.weight, 1.0)
    n_out = len(node.instances) - int(sums.samples.sum())
    # Without rows left out a share of 1 - 1e-16 would be written as a product.
    share, left_out = (share, max(node.weight - known, 0.0)) if n_out else (1.0, 0.0)
    before = node.before(branch, sums.table.sum(axis=0))
    after = float((weights * impurities).sum()) / known
    gain = max(share * (before - after), 0.0) - price
    split_info = split_information(np.append(weights, left_out)) * node.unit
    test = candidate_test(problem.schema, candidate, node.missing)
    labels = [test.edge(b, digits=digits) for b in range(candidate.n_branches)]
    p_value = candidate.p_value if not math.isnan(candidate.p_value) else independence_p(problem, sums)
    return AuditRow(
        column=problem.schema.columns[candidate.feature].name,
        feature=candidate.feature,
        test=test.question(digits=digits),
        branches=branches_of(problem, labels, sums, impurities),
        n_left_out=n_out,
        weight_left_out=left_out * problem.weight_unit,
        share_known=share,
        before=before,
        after=after,
        price=price,
        gain=gain,
        split_info=split_info,
        gain_ratio=gain / split_info if split_info > 0.0 else math.nan,
        score=score,
        p_value=p_value,
        exact=candidate.exact,
        notes=candidate.notes,
        rank=rank,
        chosen=chosen,
        threshold=candidate.threshold if candidate.kind == THRESHOLD else math.nan,
    )


def branches_of(
    problem: Problem, labels: Sequence[str], sums: BranchSums, impurities: np.ndarray
) -> tuple[AuditBranch, ...]:
    """The branches of a test, named ``labels``, with their numbers."""
    weights = problem.weight_of(sums.table)
    no_numbers: tuple[float, ...] = ()
    branches = []
    for b, samples in enumerate(sums.samples.tolist()):
        counts, values, variances = no_numbers, no_numbers, no_numbers
        if problem.is_classes:
            counts = tuple((sums.table[b] * problem.weight_unit).tolist())
        elif samples:
            means = sums.table[b, 1::3] / weights[b]
            variances = tuple(np.maximum(sums.squares[b] / weights[b] - means * means, 0.0).tolist())
            values = tuple((means + problem.centres if sums.medians is None else sums.medians[b]).tolist())
        else:
            values = variances = (math.nan,) * problem.n_outputs
        branches.append(
            AuditBranch(
                labels[b],
                samples,
                float(weights[b]) * problem.weight_unit,
                counts,
                values,
                variances,
                float(impurities[b]),
            )
        )
    return tuple(branches)


def candidate_test(schema: Schema, candidate: Candidate, missing: Missing) -> NodeTest:
    """The readable test of a candidate."""
    feature, column = candidate.feature, schema.columns[candidate.feature]
    name, quote = written_name(column.name), column.family == "object"
    if candidate.kind == THRESHOLD:
        return cut_test(
            column,
            feature,
            candidate.threshold,
            candidate.missing_branch,
            n_branches=candidate.n_branches,
            missing=missing,
        )
    if candidate.kind == INTERVALS:
        levels = column.levels if column.kind == "ordinal" else ()
        cuts = tuple(candidate.cuts.tolist())
        return IntervalTest(name, feature, cuts, candidate.missing_branch, column.missing_seen, levels, quote, missing)
    entries = candidate.branch_of
    ways, present = np.where(entries < 0, ~entries, entries), entries >= 0
    kind = MultiwayTest if candidate.kind == MULTIWAY else SubsetTest
    return kind(
        name,
        feature,
        branches=shared_out(column, ways[:-1], present[:-1], candidate.n_branches),
        absent=shared_out(column, ways[:-1], ~present[:-1], candidate.n_branches),
        unseen_edge=int(ways[-1]),
        missing_edge=candidate.missing_branch,
        missing_seen=column.missing_seen,
        quote_levels=quote,
        missing=missing,
    )


def independence_p(problem: Problem, sums: BranchSums) -> float:
    """The p-value of "the target does not depend on the branch"; nan if there is no such test.

    Pearson's chi-squared of branches and classes, or the F test of a one-way analysis of variance. Weights count as
    numbers of rows.
    """
    if problem.n_outputs > 1:
        return math.nan
    from scipy.special import chdtrc, fdtrc

    table = sums.table[sums.samples > 0]
    if problem.is_classes:
        table = table[:, table.sum(axis=0) > 0]
        dof = (table.shape[0] - 1) * (table.shape[1] - 1)
        if dof < 1:
            return math.nan
        weights = table.sum(axis=1, keepdims=True)
        expected = weights * (table.sum(axis=0) / weights.sum())
        apart = table - expected
        return float(chdtrc(dof, (apart * (apart / expected)).sum()))
    weights, totals, squares = table[:, 0], table[:, 1], sums.squares[sums.samples > 0, 0]
    dof_between, dof_within = len(table) - 1, float(weights.sum()) - len(table)
    if dof_between < 1 or dof_within <= 0:
        return math.nan
    between = float((weights * (totals / weights - totals.sum() / weights.sum()) ** 2).sum())
    within = float(np.maximum(squares - totals * totals / weights, 0.0).sum())
    # A sum of squares within rounding error is 0.
    noise = 1e-14 * float(squares.sum())
    if within <= noise:
        return 0.0 if between > noise else math.nan
    return float(fdtrc(dof_between, dof_within, between / dof_between / (within / dof_within)))


# Text.

MAX_TEXT_ROWS = 20  # candidates that print shows; to_dict has them all
MAX_NAMES = 8
MAX_CLASSES = 5  # with more of them a branch shows its rows alone
TEST_WIDTH, BRANCHES_WIDTH = 40, 60
CLASSES_WIDTH = 26  # of all class names together
TERMS = {"squared_error": "variance", "poisson": "half deviance", "absolute_error": "distance to the median"}
UNIT_NAMES = {2: "bits", "e": "nats"}
LEFT_OUT = {
    "surrogate": "they follow the surrogate tests",
    "fractional": "they take every branch, in proportion to the branch weights",
}
MOST_BRANCHES, MOST_CLASSES = 4, 4  # larger tables show their sum alone
# A page with more rows than this is slow and too long to read; to_dict has them all.
MAX_HTML_ROWS = 200


def text_of(audit: Audit) -> str:
    """The whole text: the node, the table of candidates, the arithmetic of the best one."""
    lines = head_lines(audit)
    if audit.rows:
        lines += ["", *table_lines(audit)]
    if audit.barred:
        lines += ["", *barred_lines(audit)]
    shown = audit.winner or next(iter(best_rows(audit, 1)), None)
    if audit.of is not None:
        shown = next((row for row in audit.rows if row.column == audit.of), None)
    if shown is not None:
        lines += ["", *winner_lines(audit, shown)]
        if audit.of is None or shown is audit.winner:
            lines += ["", *verdict_lines(audit, shown)]
    return "\n".join(lines).rstrip()


def paper_of(audit: Audit) -> Paper:
    """How numbers are written: digits after the point; more for small variances, fewer for large ones."""
    known_size = audit.criterion in CLASS_FORMULAS
    decimals = audit.digits if known_size else decimals_for(audit.digits, audit.whole.impurity)
    return Paper(decimals, "log2" if audit.log_base == 2 else "ln")


def term_of(audit: Audit) -> str:
    """The name of the impurity."""
    return TERMS.get(audit.criterion, audit.criterion)


def unit_of(audit: Audit) -> str:
    """The unit of the impurity; empty if it has none."""
    return UNIT_NAMES[audit.log_base] if audit.criterion == "entropy" else ""


def head_lines(audit: Audit) -> list[str]:
    """The lines about the node: its rows, its path, its impurity, and notes."""
    place = "the root" if audit.node == 0 else "if " + " and ".join(audit.path)
    is_counted = math.isclose(audit.weight, audit.n_samples, rel_tol=1e-9)
    weight = "" if is_counted else f", weight {written_amount(audit.weight, digits=6)}"
    lines = [f"Node {audit.node}, {place}: {counted(audit.n_samples, 'row')}{weight}"]
    if audit.n_samples:
        lines.append(holds_text(audit))
        lines.append(impurity_line(audit, audit.whole, term_of(audit)))
    if audit.n_samples != audit.n_fitted:
        lines.append(
            f"The tree was fitted on {counted(audit.n_fitted, 'row')} here: these numbers are those of the given rows, "
            "not of the training rows."
        )
    if audit.leaf_reason:
        lines.append(f"The node is a leaf: {audit.leaf_reason}.")
    return lines


def holds_text(audit: Audit) -> str:
    """The weights of the node's classes, or the mean of its targets."""
    outputs = audit.summary.outputs
    texts = []
    for at, output in enumerate(outputs):
        if output.classes:
            counts = audit.whole.counts[output.start : output.stop]
            held = [
                f"{shorten(label, TEST_WIDTH)} {plain(count)}"
                for label, count in zip(output.classes, counts, strict=True)
                if count
            ]
            more = [f"... {len(held) - MAX_NAMES} more classes"] if len(held) > MAX_NAMES else []
            text = ", ".join(held[:MAX_NAMES] + more)
        else:
            text = f"{audit.summary.centre} {written_amount(audit.whole.values[at], digits=6)}"
        texts.append(f"{output.name}: {text}" if output.name else text)
    return "; ".join(texts)


def impurity_line(audit: Audit, held: AuditBranch, label: str) -> str:
    """Return ``label = computation = impurity``; without a computation if it is obviously 0 or too long."""
    paper, unit = paper_of(audit), unit_of(audit)
    formula = CLASS_FORMULAS.get(audit.criterion)
    written = None
    if len(audit.summary.outputs) == 1:
        if formula is not None:
            written = formula(paper, held.counts)
        elif audit.criterion == "squared_error" and len(audit.targets) == held.samples and held is audit.whole:
            written = paper.variance(audit.targets, held.values[0])
    if written is not None:
        return paper.line(label, written, held.impurity, unit)
    note = "" if len(audit.summary.outputs) == 1 else f" (mean over {len(audit.summary.outputs)} targets)"
    return f"{label} = {paper.number(held.impurity)}" + (f" {unit}" if unit else "") + note


def best_rows(audit: Audit, most: int) -> list[AuditRow]:
    """The rows to show: all, or the best ones, in their order."""
    if len(audit.rows) <= most:
        return list(audit.rows)
    return [row for row in audit.rows if row.rank <= most]


def table_lines(audit: Audit) -> list[str]:
    """The table of candidates."""
    shown = best_rows(audit, MAX_TEXT_ROWS)
    titles, cells = titles_and_cells(audit, shown, width=TEST_WIDTH)
    aligns = ["right", "left", "left", *["right"] * (len(titles) - 3)]
    columns = [
        aligned(TextColumn(title, [row[at] for row in cells], align))  # type: ignore[arg-type]
        for at, (title, align) in enumerate(zip(titles, aligns, strict=True))
    ]
    what = "Best test of each column" if audit.every is None else f"Every test of {written_name(audit.every)}"
    unit = f"; entropies in {unit_of(audit)} (log base {audit.log_base})" if unit_of(audit) else ""
    taken = ", * is chosen" if audit.takes_winner else ", * would be chosen"
    mark = "" if audit.winner is None else taken if audit.every is None else ", * is the best of them"
    out = "; -: left out" if audit.every is None and any(is_out(audit, row) for row in shown) else ""
    name = p_name(audit)
    lines = [f"{what}{mark}{out}{unit}" + (f"; p of the {name}" if name else "")]
    lines += ["  ".join(parts).rstrip() for parts in zip(*columns, strict=True)]
    hidden = len(audit.rows) - len(shown)
    if hidden:
        lines.append(f"... {hidden} that rank lower: to_dict() has them all")
    return lines


def is_out(audit: Audit, row: AuditRow) -> bool:
    """Whether this column is left out of the comparison of gain ratios."""
    return audit.by_ratio and audit.every is None and math.isnan(row.score)


def titles_and_cells(audit: Audit, rows: Sequence[AuditRow], *, width: int | None) -> tuple[list[str], list[list[str]]]:
    """The titles of the table and the cells of each row; texts cut to ``width`` unless that is None."""
    paper = paper_of(audit)
    with_ratio = audit.by_ratio or audit.criterion == "entropy"
    titles = ["", "test", f"branches ({branch_title(audit)})", f"{term_of(audit)} after", "gain"]
    titles += (["split info", "gain ratio"] if with_ratio else []) + ["adjusted p" if audit.by_p else "p-value"]
    cells = []
    for row in rows:
        test, branches = row.test, branches_text(audit, row)
        if width is not None:
            test, branches = shorten(test, width), shorten(branches, BRANCHES_WIDTH)
        numbers = [row.after, row.gain] + ([row.split_info, row.gain_ratio] if with_ratio else [])
        mark = f"* {row.rank}" if row.chosen else "-" if is_out(audit, row) else str(row.rank)
        p_value = "-" if math.isnan(row.p_value) else f"{row.p_value:.2g}"
        cells.append([mark, test, branches, *map(paper.number, numbers), p_value])
    return titles, cells


def branch_title(audit: Audit) -> str:
    """What the table shows of each branch."""
    output = audit.summary.outputs[0]
    if len(audit.summary.outputs) > 1 or len(output.classes) > MAX_CLASSES:
        return f"rows: {term_of(audit)}"
    if not output.classes:
        return f"rows at {audit.summary.centre}: {term_of(audit)}"
    return f"{shorten('/'.join(output.classes), CLASSES_WIDTH)}: {term_of(audit)}"


def branches_text(audit: Audit, row: AuditRow) -> str:
    """The branches that hold rows: ``4/0: 0.000 | 3/2: 0.971``."""
    paper, several = paper_of(audit), len(audit.summary.outputs) > 1
    texts = []
    for branch in row.held[: 2 * MOST_TERMS]:
        if several or len(branch.counts) > MAX_CLASSES:
            held = str(branch.samples)
        elif branch.counts:
            held = "/".join(written_amount(count, digits=4) for count in branch.counts)
        else:
            held = f"{branch.samples} at {written_amount(branch.values[0], digits=4)}"
        texts.append(f"{held}: {paper.number(branch.impurity)}")
    hidden = len(row.held) - len(texts)
    return " | ".join(texts + ([f"... {hidden} more"] if hidden else []))


def barred_lines(audit: Audit) -> list[str]:
    """The columns without a candidate, by reason."""
    by_reason: dict[str, list[str]] = {}
    for barred in audit.barred:
        by_reason.setdefault(barred.reason, []).append(written_name(barred.column))
    lines = ["Columns without a test:"]
    for reason, names in by_reason.items():
        more = f", ... {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        lines.append(f"  {', '.join(shorten(name, TEST_WIDTH) for name in names[:MAX_NAMES])}{more}: {reason}")
    return lines


def winner_lines(audit: Audit, row: AuditRow) -> list[str]:
    """The arithmetic of one candidate, as one would write it by hand."""
    paper, term = paper_of(audit), term_of(audit)
    held = row.held
    lines = [f"{shorten(row.test, 2 * TEST_WIDTH)}, by hand"]
    if row.n_left_out:
        way = LEFT_OUT.get(audit.summary.model.missing, "")
        lines.append(
            f"  missing in {counted(row.n_left_out, 'row')} (weight {plain(row.weight_left_out)}), which no branch "
            f"counts{': ' + way if way else ''}"
        )
        lines.append(f"  {known_line(audit, row)}")
    labels = [f"{term}({shorten(branch.label, TEST_WIDTH)})" for branch in held[:MOST_TERMS]]
    lines += [f"  {impurity_line(audit, branch, label)}" for branch, label in zip(held, labels, strict=False)]
    if len(held) > MOST_TERMS:
        lines.append(f"  ... {len(held) - MOST_TERMS} more branches")
    weights = [branch.weight for branch in held]
    after = paper.weighted(weights, sum(weights), [branch.impurity for branch in held])
    if after is not None:
        lines.append("  " + paper.line(f"{term} after", after, row.after, unit_of(audit)))
    else:
        lines.append(f"  {term} after, the mean over {len(held)} branches by their weight: {paper.number(row.after)}")
    known = fraction(audit.weight - row.weight_left_out, audit.weight) if row.n_left_out else None
    if row.price:
        price = paper.price(int(row.notes["tried"]), audit.weight)
        lines.append("  " + paper.line(f"price of the choice among {int(row.notes['tried'])} cuts", price, row.price))
    lines.append("  " + paper.line("gain", paper.gain(row.before, row.after, row.price, known), row.gain))
    return lines + [f"  {line}" for line in ratio_lines(audit, row)]


def known_line(audit: Audit, row: AuditRow) -> str:
    """The impurity of the rows that branches count."""
    held = row.held
    counts = tuple(map(sum, zip(*(branch.counts for branch in held), strict=True)))
    samples = sum(branch.samples for branch in held)
    weight = sum(branch.weight for branch in held)
    known = AuditBranch("", samples, weight, counts, (), (), row.before)
    return impurity_line(audit, known, f"{term_of(audit)}(known rows)")


def ratio_lines(audit: Audit, row: AuditRow) -> list[str]:
    """Split information and gain ratio, or CHAID's p-value, if the algorithm uses them."""
    paper = paper_of(audit)
    lines = []
    if audit.by_ratio:
        parts = [branch.weight for branch in row.held] + ([row.weight_left_out] if row.n_left_out else [])
        written = paper.entropy(parts)
        if written is None:
            lines.append(f"split information, over {len(parts)} branches: {paper.number(row.split_info)}")
        else:
            lines.append(paper.line("split information", written, row.split_info, UNIT_NAMES[audit.log_base]))
        if row.split_info > 0:
            lines.append(paper.line("gain ratio", paper.ratio(row.gain, row.split_info), row.gain_ratio))
        lines += average_lines(audit)
    return lines + (independence_lines(audit, row, paper) if "multiplier" in row.notes else [])


def average_lines(audit: Audit) -> list[str]:
    """The average gain, and the columns that do not count in it."""
    paper, lines = paper_of(audit), []
    mean = paper.mean(audit.average_of)
    average = sum(audit.average_of) / len(audit.average_of) if audit.average_of else math.nan
    none_gains = len(audit.gainless) == len(audit.rows)
    if mean is not None:
        rule = "no column has a positive gain" if none_gains else "columns below it are left out"
        lines.append(f"{paper.line('average gain', mean, average)}: {rule}")
    elif audit.average_of:
        rule = "no column has a positive gain" if none_gains else "columns below it are left out"
        lines.append(f"average gain of {len(audit.average_of)} columns: {paper.number(average)}; {rule}")
    if audit.uncounted:
        verb = "has very many levels and does" if len(audit.uncounted) == 1 else "have very many levels and do"
        lines.append(f"{names_text(audit.uncounted)} {verb} not count in the average")
    return lines


def names_text(names: Sequence[Hashable]) -> str:
    """The names of columns, the first few of many."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(shorten(written_name(name), TEST_WIDTH) for name in names[:MAX_NAMES]) + more


def verdict_lines(audit: Audit, row: AuditRow) -> list[str]:
    """How the best candidate compares with the others and with the tree."""
    lines = []
    if audit.every is None:
        lines += rival_lines(audit, row)
    if row.price and row.gain <= 0:
        lines.append("The gain does not exceed the price of the choice among so many cuts.")
    elif row.gain <= 1e-12 * max(audit.whole.impurity, 1e-300):
        lines.append(
            "The gain is 0: the split does not reduce the impurity."
            if audit.tree_test
            else "The gain would be 0: the split would not reduce the impurity."
        )
    if audit.n_equal_cuts:
        others = (
            "1 other cut of this column has"
            if audit.n_equal_cuts == 1
            else (f"{audit.n_equal_cuts} other cuts of this column have")
        )
        lines.append(f"{others} the same gain: the lowest is chosen.")
    if not row.exact:
        lines.append("Not every split of its levels was tried: a better one may exist.")
    if audit.every is None and audit.tree_test and not (row.chosen and audit.takes_winner):
        test = shorten(audit.tree_test, 2 * TEST_WIDTH)
        lines.append(f"The tree tests '{test}' here, which is not the best test of these rows{why_other(audit)}.")
    return lines


def why_other(audit: Audit) -> str:
    """Why a node may have another test than the best one of its rows."""
    parameters = audit.summary.model.facts.get("parameters", {})
    if BY_HAND in audit.summary.model.facts:
        return ": it was chosen by hand"
    if audit.n_samples != audit.n_fitted:
        return ": it was fitted on others"
    levels = audit.summary.model.facts.get("optimal", {}).get("greedy_below")
    if levels and audit.summary.model.trees[0].depth[audit.node] >= levels:
        of = "level" if levels == 1 else f"{levels} levels"
        return f": below its first {of} the tree is greedy, with CART's tests by an impurity or between bins"
    if audit.summary.algorithm == "optimal":
        return what_optimum_gives_up(audit)
    if parameters.get("max_features") is not None:
        return f": columns were sampled (max_features is {parameters['max_features']})"
    if any(parameters.get("monotonic_cst") or ()):
        return ": monotonic_cst excludes some tests"
    return ": subtree raising moved it here, or it was fitted on other rows"


def what_optimum_gives_up(audit: Audit) -> str:
    """What the test of an optimal tree costs at its node, its rank there, and what the tests below it make good."""
    tree, node, winner = audit.summary.model.trees[0], audit.node, audit.winner
    inside = np.zeros(tree.n_nodes, bool)
    inside[node] = True
    for below in range(node + 1, tree.n_nodes):
        inside[below] = inside[tree.parent[below]]
    leaves = inside & tree.is_leaf
    children = tree.parent == node
    impurity = tree.impurity * (UNITS[audit.log_base] if audit.criterion == "entropy" else 1.0)
    paper, here, weight = paper_of(audit), float(impurity[node]), float(tree.weight[node])
    own = here - float((tree.weight[children] * impurity[children]).sum()) / weight
    at_end = float((tree.weight[leaves] * impurity[leaves]).sum()) / weight
    best = winner.gain if winner is not None else 0.0
    n_better = sum(row.gain > own + 1e-12 * here for row in audit.rows)
    in_leaves = f"a loss of {paper.number(at_end)} per row in the leaves below"
    if not n_better:
        return f": it gains as much, and the optimal tree needs it for {in_leaves}"
    ahead = f"{n_better} of the {len(audit.rows)} tests above {'gains' if n_better == 1 else 'gain'} more"
    return (
        f": {ahead} than its {paper.number(max(own, 0.0))}. The optimal tree gives up {paper.number(best - own)} of "
        f"gain here, for {in_leaves}, where the best test alone would leave {paper.number(here - best)}"
    )


def rival_lines(audit: Audit, row: AuditRow) -> list[str]:
    """The runner-up and the ties."""
    paper = paper_of(audit)
    rivals = [other for other in audit.rows if other is not row and not math.isnan(other.score)]
    n_out = sum(math.isnan(other.score) for other in audit.rows)
    lines = []
    if audit.tied:
        verb = "has" if len(audit.tied) == 1 else "have"
        lines.append(f"Tie: {names_text(audit.tied)} {verb} the same score; the first column in the table is chosen.")
    elif rivals:
        rival = rivals[0]
        name = shorten(rival.test, TEST_WIDTH)
        if audit.by_p:
            lines.append(f"Runner-up: {name}, adjusted p {rival.p_value:.3g}.")
        else:
            what, ours, theirs = (
                ("gain ratio", row.gain_ratio, rival.gain_ratio) if audit.by_ratio else ("gain", row.gain, rival.gain)
            )
            ahead = paper.gain(ours, theirs, 0.0, None)
            lines.append(f"Runner-up: {name}; ahead by {what}: " + paper.line("lead", ahead, ours - theirs))
    elif not n_out:
        lines.append("No other column offers a test.")
    if n_out and audit.by_ratio:
        lines += out_lines(audit, n_out)
    return lines


def out_lines(audit: Audit, n_out: int) -> list[str]:
    """How many columns are left out, and why."""
    n_gainless = len(audit.gainless)
    if n_gainless == len(audit.rows):
        return ["No column has a positive gain: none is chosen."]
    n_below = n_out - n_gainless
    lines = [f"{counted(n_below, 'column')} below the average gain, left out."] if n_below else []
    if n_gainless:
        verb = "gains" if n_gainless == 1 else "gain"
        lines.append(f"{counted(n_gainless, 'column')} {verb} nothing, left out.")
    return lines


def p_name(audit: Audit) -> str:
    """The name of the test behind the p-values; empty if there are none."""
    if all(math.isnan(row.p_value) for row in audit.rows):
        return ""
    if not audit.summary.counts_classes:
        return "F test of the branches' means"
    return (
        "likelihood-ratio" if audit.by_p and by_likelihood(audit) else "chi-squared"
    ) + " test of branches and classes"


def by_likelihood(audit: Audit) -> bool:
    """Whether the model was fitted with the likelihood-ratio statistic."""
    parameters = audit.summary.model.facts.get("parameters", {})
    return bool(parameters.get("test") == "likelihood_ratio")


def independence_lines(audit: Audit, row: AuditRow, paper: Paper) -> list[str]:
    """How the adjusted p-value of a candidate of CHAID is computed."""
    notes = row.notes
    statistic, dof = notes["statistic"], f"{notes['dof']:g}"
    lines: list[str] = []
    if not audit.summary.counts_classes:
        within = f" and {notes['dof_within']:.4g}" if "dof_within" in notes else ""
        name, freedom = "F", f"{dof}{within} degrees of freedom"
    else:
        name = "likelihood-ratio statistic" if by_likelihood(audit) else "chi-squared"
        freedom = counted(int(notes["dof"]), "degree") + " of freedom"
        if not by_likelihood(audit):
            lines += squares_lines(row, paper, statistic)
    lines.append(f"{name} {statistic:.4g} with {freedom}: p {notes['unadjusted_p_value']:.3g}")
    ways = counted(int(notes["multiplier"]), "way") if notes["multiplier"] < 1e9 else f"{notes['multiplier']:g} ways"
    return [*lines, f"adjusted: p x {ways} to merge, at most 1: {row.p_value:.3g}"]


def squares_lines(row: AuditRow, paper: Paper, statistic: float) -> list[str]:
    """Pearson's statistic from the observed and the expected weight of every class in every branch."""
    held = row.held
    present = [at for at, total in enumerate(map(sum, zip(*(branch.counts for branch in held), strict=True))) if total]
    table = [[branch.counts[at] for at in present] for branch in held]
    totals = [sum(column) for column in zip(*table, strict=True)]
    whole = sum(totals)
    lines = ["expected is weight of branch x weight of class / " + plain(whole)]
    if len(table) > MOST_BRANCHES or len(totals) > MOST_CLASSES:
        size = f"{len(table)} branches x {len(totals)} classes"
        return [f"{lines[0]}; chi-squared is the sum of (observed - expected)^2 / expected over {size}"]
    parts, printed = [], []
    for branch, observed in zip(held, table, strict=True):
        expected = [sum(observed) * total / whole for total in totals]
        label = shorten(branch.label, TEST_WIDTH)
        lines.append(f"expected({label}): " + ", ".join(map(paper.expected, expected)))
        parts.append(sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True)))
        printed.append(paper.as_printed(parts[-1]))
        lines.append(paper.line(f"chi-squared({label})", paper.squares(observed, expected), parts[-1]))
    terms = Written(" + ".join(map(paper.number, parts)), sum(printed))
    return [*lines, paper.line("chi-squared", terms, statistic)]
