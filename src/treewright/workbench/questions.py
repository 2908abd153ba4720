"""The questions that the rows of a node are asked, or could be. In: rows, a plan, a path, words. Out: tests, gains.

A question in words is what ``Session.split`` takes: a column, and ``cut`` or ``levels``, and the branch that missing
values follow. A question as a test is the grower's own ``Candidate``; ``told`` turns a test into words, ``test_of``
words into a test.

The gain of a question is the decrease of impurity per unit of the node's weight. Its p-value tests the target against
the branches; the adjusted one is that times the number of possible tests of a node (``grow.by_node.significance``), and
the log worth is minus its decimal logarithm, which also distinguishes the smallest ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from treewright.core.elementary import is_whole, log_of
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, did_you_mean
from treewright.exceptions import ColumnError, ParameterError
from treewright.grow.by_node.candidates import Candidate, level_branches
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances, all_instances
from treewright.grow.by_node.plan import Path, Plan, divided
from treewright.grow.by_node.search import GainPolicy
from treewright.grow.by_node.significance import Chance, log_count_of_tests, log_divisions, log_p_of
from treewright.grow.problem import Problem
from treewright.learn.single import TreeParams, problem_and_policy
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD
from treewright.trees.summary import n_named
from treewright.workbench.plan import instances_at, named, without_orders, written

SIDES = ("left", "right")
OWN = "own"
LOG_OF_10 = float(log_of(10.0))
ROUNDED = 1e-12  # of the impurity of a node: gains that differ by no more are equal
MOST_NAMED = 12
# Columns of more levels are asked only by hand: the search by nodes compares pairs of levels (1,000: 9 MB a node).
MOST_SEARCHED = 1_000


@dataclass(eq=False)
class Ground:
    """The rows that a tree is grown on by hand, prepared for questions.

    ``sorted`` has every column in its order, what a search needs; ``whole`` only the rows: enough to divide them, in a
    tenth of the time. ``offers`` has the best questions of leaves, by the questions that lead to them
    (``commands.grow``). The policy does not search nominal columns of more than 1,000 levels.
    """

    rows: Dataset
    params: TreeParams
    problem: Problem = field(init=False)
    policy: GainPolicy = field(init=False)
    sorted: Instances = field(init=False)
    whole: Instances = field(init=False)
    offers: dict[Any, tuple[float, Plan] | None] = field(init=False, default_factory=dict)
    _last: tuple[Plan, Path, list[dict[str, Any]]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.problem, policy = problem_and_policy(self.rows, self.params)
        wide = [
            at for at, column in enumerate(self.columns)
            if column.kind == "nominal" and len(column.levels) > MOST_SEARCHED
        ]  # fmt: skip
        if wide:
            matrix = self.rows.matrix.copy()
            matrix[:, wide] = np.nan
            policy = problem_and_policy(replace(self.rows, matrix=matrix), self.params)[1]
        self.policy = cast("GainPolicy", policy)  # CART's
        self.sorted = all_instances(self.problem)
        self.whole = without_orders(self.sorted)

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the schema."""
        return self.rows.schema.columns

    def column(self, name: Any) -> int:
        """The position of a column, by its name or by the position itself."""
        positions = self.rows.schema.positions
        if isinstance(name, Hashable) and name in positions:
            return int(positions[name])
        # If names of columns are numbers, a number is a name.
        if is_whole(name) and not any(is_whole(each.name) for each in self.columns) and 0 <= int(name) < len(positions):
            return int(name)
        meant = did_you_mean(str(name), [each.name for each in self.columns if isinstance(each.name, str)])
        raise ColumnError(f"there is no column {name!r}{meant}", column=name)

    def at(self, plan: Plan, path: Path, *, in_order: bool = False) -> Instances:
        """The rows of a node; ParameterError if it has none."""
        instances = instances_at(self.problem, self.sorted if in_order else self.whole, plan, path)
        if instances is None:
            raise ParameterError(f"path={written(path)!r}: no row reaches this node, so there is nothing to ask")
        return instances

    def test_of(self, plan: Plan, path: Path, feature: int, given: Mapping[str, Any]) -> Candidate:
        """The test of a question; ParameterError if it leaves a branch without rows, unless ``empty`` is given."""
        may_be_empty = bool(given.get("empty"))
        instances = instances_at(self.problem, self.whole, plan, path) if may_be_empty else self.at(plan, path)
        column = self.columns[feature]
        if given.get("cut") is not None and given.get("levels") is not None:
            raise ParameterError(f"column {column.name!r}: give either cut= or levels=")
        if column.kind == "nominal":
            test = self._test_of_levels(column, feature, given, instances)
        else:
            test = _test_of_cuts(column, feature, given)
        if instances is None or may_be_empty:
            return test
        held = [own is not None for own in divided(self.problem, instances, test)[0]]
        # A branch for levels that the node lacks is no error if at least two others have rows.
        if not all(held) and (test.kind != MULTIWAY or sum(held) < len(SIDES)):
            instead = "another cut"
            if column.kind == "nominal":
                instead = "other levels, or a list of lists for a branch each"
            raise ParameterError(
                f"the question about {column.name!r} leaves a branch of {named(path)} without rows: give {instead}"
            )
        return test

    def _test_of_levels(
        self, column: Column, feature: int, given: Mapping[str, Any], instances: Instances | None
    ) -> Candidate:
        if given.get("cut") is not None or not isinstance(given.get("levels"), list):
            raise ParameterError(f"column {column.name!r} is nominal: give levels=[...], those that go to branch 0")
        levels = given["levels"]
        if not given.get("empty") and any(isinstance(each, list) and not each for each in levels):
            raise ParameterError(f"levels={levels!r}: an empty list makes a branch that no row can reach")
        is_many = bool(levels) and all(isinstance(each, list) for each in levels)
        branches = levels if is_many else [levels]
        places = {level: code for code, level in enumerate(column.levels)}
        groups = np.full(len(places), -1 if is_many else 1)
        for branch, own in enumerate(branches):
            for level in own:
                if isinstance(level, list | dict) or level not in places:
                    raise ParameterError(
                        f"column {column.name!r} has no level {level!r}: it has {list(column.levels)[:MOST_NAMED]}"
                    )
                if is_many and groups[places[level]] >= 0:
                    raise ParameterError(f"level {level!r} of column {column.name!r} is in two branches")
                groups[places[level]] = branch
        n_branches = len(branches) if is_many else 2
        if n_branches < 2:
            raise ParameterError(f"levels={levels!r}: give two lists of levels or more, one for each branch")
        held = np.zeros(len(groups))
        if instances is not None:
            cells = self.problem.values[feature, instances.rows]
            codes = cells[~np.isnan(cells)].astype(np.int64)
            held = np.bincount(codes[codes < len(groups)], minlength=len(groups)).astype(float)
        forgotten = np.flatnonzero((held > 0) & (groups < 0))
        if len(forgotten):
            named = [column.levels[code] for code in forgotten[: n_named(len(forgotten), MOST_NAMED)].tolist()]
            raise ParameterError(f"levels of column {column.name!r} are in no branch: {named}")
        sums = np.bincount(np.maximum(groups, 0), held, minlength=n_branches)
        # As in the grower: of two equal branches the right one.
        heaviest = int(sums.argmax()) if n_branches > 2 else int(sums[1] >= sums[0])
        branch_of = level_branches(len(groups), groups, held > 0, heaviest)
        n_branches, missing = _missing_branch(given.get("missing"), n_branches)
        return Candidate(
            feature, MULTIWAY if is_many else SUBSET, n_branches, missing, 0.0, 0.0, branch_of=branch_of
        )  # fmt: skip

    # What could be asked.

    def candidates(self, plan: Plan, path: Path) -> list[dict[str, Any]]:
        """The best question about each column, the largest gain first; see ``Session.candidates``."""
        if self._last is not None and self._last[0] is plan and self._last[1] == path:
            return self._last[2]
        instances = self.at(plan, path, in_order=True)
        if self.problem.is_classes and self.problem.n_stats == 1:
            return []  # with one class there is nothing to ask
        found = sorted(self.policy.candidates(instances), key=lambda test: -test.gain)
        log_n = log_count_of_tests(self.policy.search, instances, 2) if found else 0.0
        told = [
            {
                **self.told(test), "gain": test.gain, "cost": found[0].gain - test.gain,
                **_chances(log_p_of(self.problem, instances, test), log_n),
            }
            for test in found
        ]  # fmt: skip
        self._last = (plan, path, told)
        return told

    def weighed(self, plan: Plan, path: Path, test: Candidate) -> dict[str, Any]:
        """The gain of a question, its cost against the best one, and how its branches divide the rows."""
        best = max((each["gain"] for each in self.candidates(plan, path)), default=0.0)
        instances = self.at(plan, path, in_order=True)
        children = divided(self.problem, instances, test)[0]
        before = float(self.policy.impurity(instances))
        gain = before - float(
            sum(own.weight / instances.weight * self.policy.impurity(own) for own in children if own is not None)
        )
        # The search adds up in another order: the cost of the best question is only a rounding error.
        cost = best - gain if abs(best - gain) > ROUNDED * before else 0.0
        log_n = self._log_n_tests(instances, test)
        return {
            "gain": gain,
            "cost": cost,
            **_chances(log_p_of(self.problem, instances, test), log_n),
            "branches": [
                {
                    "n": 0 if own is None else len(own),
                    "values": [] if own is None else self.policy.value(own).tolist(),
                }
                for own in children
            ],
        }

    def _log_n_tests(self, instances: Instances, test: Candidate) -> float:
        """Logarithm of the number of possible questions: those of the search, or those with as many branches."""
        if self.problem.is_classes and self.problem.n_stats == 1:
            return 0.0
        log_n = log_count_of_tests(self.policy.search, instances, 2)
        cells = self.problem.values[test.feature, instances.rows]
        n_values = len(np.unique(cells[~np.isnan(cells)]))
        n_groups = test.n_branches - (test.missing_branch == test.n_branches - 1 and test.n_branches > len(SIDES))
        in_order = test.kind in (THRESHOLD, INTERVALS)
        ways = log_divisions(n_values, n_groups, in_order) if 1 < n_groups <= n_values else 0.0
        return max(log_n, float(ways))

    def told(self, test: Candidate) -> dict[str, Any]:
        """A test in words; names the levels of the node, or all levels if each branch has a list of its own."""
        return words_of_test(self.columns[test.feature], test, every_level=test.kind == MULTIWAY)


def _chances(log_p: float, log_n: float) -> dict[str, float]:
    chance = Chance(1.0, log_p, log_n)
    log_worth = max(-(log_p + log_n), 0.0) / LOG_OF_10
    return {"p_value": chance.p_value, "adjusted_p_value": chance.adjusted_p_value, "log_worth": log_worth}


def words_of_test(column: Column, test: Candidate, *, every_level: bool = False) -> dict[str, Any]:
    """A test in the words of ``Session.split``.

    With ``every_level``, levels that the node lacks are named too, with the branch that they go to.
    """
    told: dict[str, Any] = {"column": column.name}
    n_branches = test.n_branches
    if test.kind in (THRESHOLD, INTERVALS):
        cuts = [test.threshold] if test.kind == THRESHOLD else test.cuts.tolist()
        n_of_values = len(cuts) + 1
        cuts = [cut for cut in cuts if np.isfinite(cut)]
        if test.kind == INTERVALS:
            n_of_values = len(cuts) + 1
        words = [column.levels[int(np.floor(cut))] for cut in cuts] if column.kind == "ordinal" else cuts
        if words:
            told["cut"] = words[0] if test.kind == THRESHOLD else words
    else:
        n_of_values = (
            2 if test.kind == SUBSET else int(np.where(test.branch_of < 0, ~test.branch_of, test.branch_of).max()) + 1
        )
        branch_of = np.where(test.branch_of < 0, ~test.branch_of if every_level else -1, test.branch_of)[:-1]
        branches = [
            [column.levels[code] for code in np.flatnonzero(branch_of == at).tolist()] for at in range(n_of_values)
        ]
        told["levels"] = branches[0] if test.kind == SUBSET else branches
    if test.missing_branch != EVERY_BRANCH:
        is_own = n_branches > n_of_values and test.missing_branch == n_branches - 1
        told["missing"] = OWN if is_own else SIDES[test.missing_branch] if n_branches == 2 else test.missing_branch
    return told


def _test_of_cuts(column: Column, feature: int, given: Mapping[str, Any]) -> Candidate:
    if given.get("levels") is not None:
        raise ParameterError(f"column {column.name!r} is not nominal: give cut=..., up to which rows go to branch 0")
    cut = given.get("cut")
    if cut is None:
        if given.get("missing") not in (OWN, "right"):
            raise ParameterError(
                f"column {column.name!r} is not nominal: give cut=..., up to which rows go to branch 0; or, without "
                "one, missing='right', to ask whether there is a value"
            )
        return Candidate(feature, THRESHOLD, 2, 1, 0.0, 0.0, threshold=np.inf)
    numbers = [_number_of(column, each) for each in (cut if isinstance(cut, list) else [cut])]
    if not numbers or any(one >= two for one, two in pairwise(numbers)):
        raise ParameterError(f"cut={cut!r}: give ascending cuts")
    n_branches, missing = _missing_branch(given.get("missing"), len(numbers) + 1)
    if len(numbers) == 1:
        return Candidate(feature, THRESHOLD, n_branches, missing, 0.0, 0.0, threshold=numbers[0])
    cuts = np.array([*numbers, np.inf] if n_branches > len(numbers) + 1 else numbers)
    return Candidate(feature, INTERVALS, n_branches, missing, 0.0, 0.0, cuts=cuts)


def _number_of(column: Column, cut: Any) -> float:
    if column.kind == "ordinal":
        if cut not in column.levels:
            raise ParameterError(
                f"column {column.name!r} has no level {cut!r}: it has {list(column.levels)[:MOST_NAMED]}"
            )
        return column.levels.index(cut) + 0.5
    number = number_or_nan(cut)
    if not np.isfinite(number):
        raise ParameterError(f"cut={cut!r}: column {column.name!r} is numeric, give a finite number")
    return number


def number_or_nan(value: Any) -> float:
    """A given number as a float; nan for anything else, such as a text or a number beyond float64."""
    try:
        return np.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _missing_branch(missing: Any, n_branches: int) -> tuple[int, int]:
    """Number of branches of a test, and the one that missing values follow; ``EVERY_BRANCH``: the heaviest."""
    if missing is None:
        return n_branches, EVERY_BRANCH
    if missing == OWN:
        return n_branches + 1, n_branches
    if n_branches == len(SIDES) and missing in SIDES:
        return n_branches, SIDES.index(missing)
    if is_whole(missing) and 0 <= missing < n_branches:
        return n_branches, int(missing)
    sides = "'left', 'right'" if n_branches == len(SIDES) else f"a branch from 0 to {n_branches - 1}"
    raise ParameterError(f"missing={missing!r}: give {sides} or 'own', for a branch of its own")
