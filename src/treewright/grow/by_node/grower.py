"""Growing one tree node by node. In: ``Problem``, a policy, limits. Out: ``Grown``: the tree and how it grew.

    take a node -> let the policy choose a test -> divide the node's instances among its branches -> repeat
    -> number the nodes level by level -> ``Tree``

``retrace`` follows a tree of another grower, and lists the candidates of every node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from treewright.core import progress, threads
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.grow.by_node.candidates import (
    Candidate,
    Surrogate,
    find_surrogates,
    heaviest_of,
    is_two_way,
    sides_of_missing,
)
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances, all_instances, divide, is_pure, own
from treewright.grow.by_node.search import SAME, Choice, Policy
from treewright.grow.by_node.significance import Chance, chance_of
from treewright.grow.problem import Problem
from treewright.grow.settings import BestFirst
from treewright.trees.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.tests import level_bits, level_branches, node_cuts, node_levels

NODE_BYTES = 600  # of a node while the tree grows and is laid out: its record, arrays and level sets


@dataclass(frozen=True)
class Stops:
    """The limits of growth.

    Attributes
    ----------
    max_depth : int or None
    min_samples_split : int
    min_impurity_decrease : float
        As a share of all weight, as in scikit-learn.
    max_leaf_nodes : int or None
        With a number, the leaf whose split gains most is split next.
    max_features : int or None
        Columns sampled per node.
    max_surrogates : int
    seed : int
        Only used to sample columns.
    max_p_value : float, above 0 and at most 1, or None
        A node whose test has a larger adjusted p-value stays a leaf (see ``significance``).
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    max_features: int | None = None
    max_surrogates: int = 5
    seed: int = 0
    max_p_value: float | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """One node of the trace: its test and gain.

    ``gains`` and ``scores`` are those of the best candidate of every column (see ``policy.Choice``). ``chance`` is None
    without a limit of p-values. A node whose chance is not significant is a leaf: ``chosen`` is its best candidate.
    """

    node: int
    depth: int
    n_samples: int
    weight: float
    impurity: float
    gains: np.ndarray
    scores: np.ndarray
    chosen: Candidate
    chance: Chance | None = None

    @property
    def is_split(self) -> bool:
        """Whether the node was split."""
        return self.chance is None or self.chance.is_significant


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree and, if requested, how it grew.

    Attributes
    ----------
    tree : Tree
    inexact : int64[k]
        Nodes whose partition of levels may not be the best there is.
    trace : tuple of Step
        In the order of growth; empty unless requested.
    """

    tree: Tree
    inexact: np.ndarray
    trace: tuple[Step, ...] = ()


@dataclass(eq=False)
class _Waiting:
    """A node that has a test and is not split yet."""

    record: int
    instances: Instances
    choice: Choice
    candidate: Candidate  # the chosen one


@dataclass(eq=False)
class _Growth:
    """The records of a tree while it grows, and the nodes that wait."""

    problem: Problem
    policy: Policy
    stops: Stops
    keep_trace: bool
    records: list[Record] = field(default_factory=list)
    steps: list[tuple[int, Choice, Candidate]] = field(default_factory=list)
    chances: dict[int, Chance] = field(default_factory=dict)  # by record; only kept for the trace
    waiting: dict[int, _Waiting] = field(default_factory=dict)
    best_first: BestFirst | None = None
    total_weight: float = 0.0
    next_look: int = 100_000  # number of nodes at which the memory is checked again
    rows_done: float = 0.0

    def run(self, root: Instances | None = None) -> None:
        """Grow until nothing waits, or the leaves are used up; on all rows, or on those of a node."""
        root = all_instances(self.problem) if root is None else root
        self.total_weight = float(self.problem.weights.sum())
        if self.stops.max_leaf_nodes is not None:
            # Any node that waits may be taken: a split with too many branches for the remaining leaves is skipped.
            self.best_first = BestFirst(2**62)
        self.open(root, parent=-1, branch=0, depth=0)
        n_leaves = 1
        most = self.stops.max_leaf_nodes
        while self.waiting:
            threads.heed()
            node = self.take()
            candidate = node.candidate
            if most is not None and n_leaves + candidate.n_branches - 1 > most:
                continue
            n_leaves += candidate.n_branches - 1
            self.split(node, candidate)
            if progress.is_heard():
                progress.report(min(self.rows_done / self.total_weight, 1.0), "growing")

    def open(self, instances: Instances, *, parent: int, branch: int, depth: int) -> None:
        """Record a node, and let it wait if it has a test."""
        weight = instances.weight
        impurity = self.policy.impurity(instances)
        record = Record(
            parent, branch, depth, len(instances), weight, impurity, self.policy.value(instances),
        )  # fmt: skip
        self.records.append(record)
        choice = self.choose(instances, record)
        if choice is None or choice.chosen is None:
            self.rows_done += weight
            return
        number = len(self.records) - 1
        self.waiting[number] = _Waiting(number, own(instances), choice, choice.chosen)
        if self.best_first is not None:
            gain, tolerance = choice.chosen.gain * weight, SAME * impurity * weight
            self.best_first.offer(np.array([number]), np.array([gain]), np.array([tolerance]))

    def choose(self, instances: Instances, record: Record) -> Choice | None:
        """Choose the node's test; None if it stays a leaf."""
        stops = self.stops
        if (
            (stops.max_depth is not None and record.depth >= stops.max_depth)
            or len(instances) < stops.min_samples_split
            or is_pure(self.problem, instances)
            or not self.policy.may_split(instances)
        ):
            return None
        columns: list[int] | None = None
        if stops.max_features:
            choice, columns = self.draw_and_choose(instances)
        else:
            choice = self.policy.choose(instances, None)
        if choice.chosen is None:
            return None
        decrease = choice.chosen.gain * record.weight / self.total_weight
        if decrease < stops.min_impurity_decrease * (1 - 1e-12):
            return None
        return choice if self.is_significant(instances, choice, choice.chosen, columns) else None

    def is_significant(
        self, instances: Instances, choice: Choice, chosen: Candidate, columns: list[int] | None
    ) -> bool:
        """Whether the test of the last opened node is significant; always without a limit."""
        limit = self.stops.max_p_value
        if limit is None:
            return True
        chance = chance_of(self.policy, instances, chosen, limit, columns)
        if self.keep_trace:
            number = len(self.records) - 1
            self.chances[number] = chance
            if not chance.is_significant:
                self.steps.append((number, choice, chosen))
        return chance.is_significant

    def draw_and_choose(self, instances: Instances) -> tuple[Choice, list[int]]:
        """Choose among columns sampled at random; as in scikit-learn, more are sampled until one splits the node.

        Also returns the columns that were searched.
        """
        n_columns = len(self.problem.schema)
        stream = np.random.Generator(np.random.Philox(key=[self.stops.seed % 2**63, len(self.records)]))
        order = stream.permutation(n_columns)
        first = min(self.stops.max_features or n_columns, n_columns)
        columns: list[int] = order[:first].tolist()
        choice = self.policy.choose(instances, columns)
        for column in order[first:].tolist():
            if choice.chosen is not None:
                break
            choice = self.policy.choose(instances, [column])
            columns.append(column)
        return choice, columns

    def take(self) -> _Waiting:
        """The next node to split: the one that gains most, or without a limit on leaves the last opened.

        Then few nodes wait, and their rows are those of one path.
        """
        if self.best_first is not None:
            return self.waiting.pop(int(self.best_first.take()[0]))
        return self.waiting.popitem()[1]

    def split(self, node: _Waiting, candidate: Candidate) -> None:
        """Divide a node's instances among the branches of its test, and open them."""
        problem, instances, record = self.problem, node.instances, self.records[node.record]
        branch = candidate.branches(problem, instances.rows)
        shares = shares_of(candidate, instances, branch)
        record.candidate = candidate
        record.missing_branch = candidate.missing_branch
        if candidate.missing_branch == EVERY_BRANCH:
            record.missing_branch = heaviest_of(shares)
        if problem.missing == "surrogate" and is_two_way(candidate):
            record.surrogates = find_surrogates(problem, instances, candidate, branch, self.stops.max_surrogates)
        if self.keep_trace:
            self.steps.append((node.record, node.choice, candidate))
        if len(self.records) + candidate.n_branches > self.next_look:
            # Twice as many as there are: at the end the arrays of the tree exist alongside the records.
            self.next_look = 2 * (len(self.records) + candidate.n_branches)
            check_fits(
                self.next_look * NODE_BYTES,
                f"a tree of {self.next_look} nodes",
                "set max_depth or min_samples_leaf, or leave out columns with very many levels",
            )
        children = divide_by(problem, instances, branch, shares, record.surrogates, record.missing_branch)
        for number, child in enumerate(children):
            if child is not None:
                self.open(child, parent=node.record, branch=number, depth=record.depth + 1)
            else:
                self.records.append(
                    Record(node.record, number, record.depth + 1, 0, 0.0, record.impurity, record.value)
                )


def shares_of(candidate: Candidate, instances: Instances, branch: np.ndarray) -> np.ndarray:
    """float64[k]: the share of each branch in the weight of the rows that are present."""
    known = branch != EVERY_BRANCH
    weights = np.bincount(branch[known], weights=instances.weights[known], minlength=candidate.n_branches)
    total = weights.sum()
    return weights / total if total > 0.0 else weights  # by hand a column may be tested in which no row has a value


def divide_by(
    problem: Problem,
    instances: Instances,
    branch: np.ndarray,
    shares: np.ndarray,
    surrogates: Sequence[Surrogate],
    otherwise: int,
) -> list[Instances | None]:
    """The instances of each branch of a test; None if it has none.

    Parameters
    ----------
    branch : int32[m]
        The branch of each; ``EVERY_BRANCH`` if the test does not decide.
    shares : float64[k]
        As `shares_of`.
    surrogates : sequence of Surrogate
        Used if the test does not decide.
    otherwise : int
        Branch of a row that no test decides; with fractional missing values it is divided among all branches.
    """
    if problem.missing != "fractional":
        branch = sides_of_missing(problem, instances, branch, surrogates, otherwise)
    return divide(problem, instances, branch, shares)


def grow_by_node(problem: Problem, policy: Policy, stops: Stops, *, keep_trace: bool = False) -> Grown:
    """Grow a tree node by node.

    Parameters
    ----------
    problem : Problem
    policy : Policy
        Chooses each node's test.
    stops : Stops
    keep_trace : bool
        Whether to keep the candidates of every node.

    Returns
    -------
    Grown
    """
    growth = _Growth(problem, policy, stops, keep_trace)
    growth.run()
    tree, places = assemble(growth.records, problem)
    inexact = [
        places[at] for at, record in enumerate(growth.records) if record.candidate and not record.candidate.exact
    ]
    trace = []
    for at, choice, chosen in growth.steps:
        record = growth.records[at]
        trace.append(
            Step(
                int(places[at]),
                record.depth,
                record.n_samples,
                record.weight,
                record.impurity,
                choice.gains,
                choice.scores,
                chosen,
                growth.chances.get(at),
            )
        )
    return Grown(tree, np.array(sorted(inexact), np.int64), tuple(trace))


def grow_below(problem: Problem, policy: Policy, stops: Stops, instances: Instances) -> list[Record]:
    """The nodes grown on a node's rows, the node itself first, parents before their children."""
    growth = _Growth(problem, policy, stops, keep_trace=False)
    growth.run(instances)
    return growth.records


# From records to the arrays of a tree.


@dataclass(eq=False, slots=True)
class Record:
    """The data of a node; ``candidate`` is None at a leaf."""

    parent: int
    branch: int
    depth: int
    n_samples: int
    weight: float
    impurity: float
    value: np.ndarray
    candidate: Candidate | None = None
    missing_branch: int = 0
    surrogates: Sequence[Surrogate] = ()


def assemble(records: list[Record], problem: Problem) -> tuple[Tree, np.ndarray]:
    """Number the nodes level by level, siblings together, and write them into arrays.

    Returns
    -------
    tree : Tree
    places : int64[n]
        Position of each record's node.
    """
    n = len(records)
    parents = np.array([record.parent for record in records], np.int64)
    places = _places(parents, np.array([record.depth for record in records]), [record.branch for record in records])
    order = np.argsort(places)
    laid_out = [records[at] for at in order.tolist()]
    tables = _SideTables(problem)
    level_set = np.full(n, -1, np.int32)
    for node, record in enumerate(laid_out):
        if record.candidate is not None:
            level_set[node] = tables.add_test(record.candidate)
            for surrogate in record.surrogates:
                tables.add_surrogate(node, surrogate)
    tests = [record.candidate for record in laid_out]
    first_child = np.full(n, -1, np.int64)
    is_first = np.array([record.branch == 0 and record.parent >= 0 for record in laid_out], bool)
    first_child[places[parents[order[is_first]]]] = np.flatnonzero(is_first)
    return Tree(
        kind=np.array([LEAF if test is None else test.kind for test in tests], np.uint8),
        feature=np.array([-1 if test is None else test.feature for test in tests], np.int32),
        threshold=np.array(
            [test.threshold + 0.0 if test is not None and test.kind == THRESHOLD else 0.0 for test in tests]
        ),
        first_child=first_child.astype(np.int32),
        n_branches=np.array([0 if test is None else test.n_branches for test in tests], np.int32),
        missing_branch=np.array([record.missing_branch for record in laid_out], np.int32),
        level_set=level_set,
        n_samples=np.array([record.n_samples for record in laid_out], np.int64),
        weight=np.array([record.weight for record in laid_out]) * problem.weight_unit,
        impurity=np.array([max(record.impurity, 0.0) for record in laid_out]),
        value=np.array([record.value for record in laid_out]) * (problem.weight_unit if problem.is_classes else 1.0),
        **tables.arrays(),
    ), places


def _places(parents: np.ndarray, depths: np.ndarray, branches: list[int]) -> np.ndarray:
    """Position of each record: by depth, then by the parent's position, then by branch."""
    places = np.zeros(len(parents), np.int64)
    number = np.array(branches)
    end = 0
    # By depth, so that a level's parents have their positions before it; sorting once keeps this linear in the depth.
    by_depth = np.argsort(depths, kind="stable")
    bounds = np.searchsorted(depths[by_depth], np.arange(depths.max() + 2))
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        level = by_depth[start:stop]
        above = places[np.maximum(parents[level], 0)]
        level = level[np.lexsort((number[level], above))]
        places[level] = np.arange(end, end + len(level))
        end += len(level)
    return places


class _SideTables:
    """The side tables of a tree, filled node by node."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.left: list[np.ndarray] = []
        self.seen: list[np.ndarray] = []
        self.level_branch: list[np.ndarray] = []
        self.cuts: list[np.ndarray] = []
        self.surrogates: list[tuple[int, int, float, int, int, float, float]] = []
        self.n_words = self.n_entries = self.n_cuts = 0

    def add_test(self, test: Candidate) -> int:
        """Add a test; returns its position in a side table, -1 if it needs none."""
        if test.kind == SUBSET:
            return self.add_words(test.branch_of)
        if test.kind == MULTIWAY:
            self.level_branch.append(test.branch_of)
            self.n_entries += len(test.branch_of)
            return self.n_entries - len(test.branch_of)
        if test.kind == INTERVALS:
            self.cuts.append(test.cuts)
            self.n_cuts += len(test.cuts)
            return self.n_cuts - len(test.cuts)
        return -1

    def add_words(self, branch_of: np.ndarray) -> int:
        """Add a two-sided partition as bit sets; returns the position of its first word."""
        n_words = (len(branch_of) - 1) // 64 + 1
        bits = np.zeros((2, 64 * n_words), np.uint8)
        bits[0, : len(branch_of)] = np.where(branch_of < 0, ~branch_of, branch_of) == 0
        bits[1, : len(branch_of)] = branch_of >= 0
        words = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
        self.left.append(words[0])
        self.seen.append(words[1])
        self.n_words += n_words
        return self.n_words - n_words

    def add_surrogate(self, node: int, surrogate: Surrogate) -> None:
        """Add a surrogate of a node."""
        test = surrogate.test
        offset = self.add_words(test.branch_of) if test.kind == SUBSET else -1
        threshold = test.threshold + 0.0 if test.kind == THRESHOLD else 0.0
        self.surrogates.append(
            (node, test.feature, threshold, offset, surrogate.flipped, surrogate.agreement, surrogate.adjusted)
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The side tables by the names of ``Tree``."""
        columns = list(zip(*self.surrogates, strict=True)) or [()] * 7
        names = ("node", "feature", "threshold", "level_set", "flipped", "agreement", "adjusted")
        types = (np.int32, np.int32, np.float64, np.int32, np.uint8, np.float64, np.float64)
        surrogates = {
            f"surrogate_{name}": np.array(column, dtype)
            for name, column, dtype in zip(names, columns, types, strict=True)
        }
        return {
            "levels_left": np.concatenate([*self.left, np.empty(0, np.uint64)]),
            "levels_seen": np.concatenate([*self.seen, np.empty(0, np.uint64)]),
            "level_branch": np.concatenate([*self.level_branch, np.empty(0, np.int32)]).astype(np.int32),
            "cuts": np.concatenate([*self.cuts, np.empty(0)]),
            **surrogates,
        }


# The trace of a tree that already exists.


def candidate_of(tree: Tree, node: int, schema: Schema, missing_cells: str) -> Candidate:
    """The test of an inner node as a candidate, for the columns of its model; its gain and score are 0."""
    kind, feature = int(tree.kind[node]), int(tree.feature[node])
    n_branches, missing = int(tree.n_branches[node]), int(tree.missing_branch[node])
    if missing_cells in ("fractional", "surrogate"):
        missing = EVERY_BRANCH
    column = schema.columns[feature]
    cuts, branch_of = np.empty(0), np.empty(0, np.int64)
    if kind == INTERVALS:
        cuts = node_cuts(tree, node)
    elif kind == MULTIWAY:
        branch_of = _branch_of(*level_branches(column, tree, node))
    elif kind == SUBSET:
        left, seen = node_levels(column, tree, node)
        branch_of = _branch_of(~left, seen)
    return Candidate(
        feature, kind, n_branches, missing, 0.0, 0.0,
        threshold=float(tree.threshold[node]), cuts=cuts, branch_of=branch_of,
    )  # fmt: skip


def _branch_of(branch: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """``Candidate.branch_of``: the branch of each level, ``~branch`` if the node did not hold it."""
    branch = branch.astype(np.int64)
    return np.where(seen, branch, ~branch)


def surrogates_of(tree: Tree, node: int, problem: Problem) -> list[Surrogate]:
    """The surrogates of a node, best first."""
    found = []
    first, last = np.searchsorted(tree.surrogate_node, [node, node + 1]).tolist()
    for at in range(first, last):
        feature, offset = int(tree.surrogate_feature[at]), int(tree.surrogate_level_set[at])
        test = Candidate(feature, 1, 2, 0, 0.0, 0.0, threshold=float(tree.surrogate_threshold[at]))
        if offset >= 0:
            left, seen = level_bits(problem.schema.columns[feature], tree, offset)
            test = Candidate(feature, SUBSET, 2, 0, 0.0, 0.0, branch_of=_branch_of(~left, seen))
        found.append(
            Surrogate(
                test,
                int(tree.surrogate_flipped[at]),
                float(tree.surrogate_agreement[at]),
                float(tree.surrogate_adjusted[at]),
            )
        )
    return found


def retrace(tree: Tree, problem: Problem, policy: Policy) -> tuple[Step, ...]:
    """The candidates of every inner node, level by level.

    Parameters
    ----------
    tree : Tree
        Grown on the rows of ``problem``.
    """
    steps = []
    waiting = {0: all_instances(problem)}
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        instances = waiting.pop(node)
        choice = policy.choose(instances, None)
        own = chosen = candidate_of(tree, node, problem.schema, problem.missing)
        if choice.chosen is not None and choice.chosen.feature == own.feature:
            chosen = choice.chosen
        steps.append(
            Step(
                node,
                int(tree.depth[node]),
                len(instances),
                float(tree.weight[node]),
                float(tree.impurity[node]),
                choice.gains,
                choice.scores,
                chosen,
            )
        )
        answers = own.branches(problem, instances.rows)
        children = divide_by(
            problem, instances, answers, shares_of(own, instances, answers), surrogates_of(tree, node, problem),
            int(tree.missing_branch[node]),
        )  # fmt: skip
        first = int(tree.first_child[node])
        for branch, child in enumerate(children):
            if child is not None and not tree.is_leaf[first + branch]:
                waiting[first + branch] = child
    return tuple(steps)
