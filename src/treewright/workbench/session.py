"""A tree grown by hand, command by command. In: a table, commands. Out: a model, its log, a script.

A session is a list of commands and nothing else: the states between them are plans (``workbench.plan``), each made of
the one before. So every command can be undone, the list can be replayed on other rows, and what is saved is the list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import Any, Self

import numpy as np

from treewright.core.files import write_whole
from treewright.core.whole import is_whole
from treewright.data.dataset import Dataset
from treewright.data.schema import Column
from treewright.exceptions import ColumnError, InputFileError, ParameterError, TreewrightError
from treewright.fitted import Model
from treewright.grow.by_node.candidates import Candidate, level_branches
from treewright.grow.by_node.grower import Stops, grow_below
from treewright.grow.by_node.instances import EVERY_BRANCH, all_instances
from treewright.grow.by_node.policies import count_of
from treewright.grow.settings import REGRESSION_CRITERIA
from treewright.judge.scores import explained, share_right
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.rows_aside import contents_of, held_out
from treewright.learn.single import TreeParams, problem_and_policy
from treewright.learn.train import make_dataset, model_of
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD
from treewright.tree.arrays import LEAF as LEAF_KIND
from treewright.tree.class_criteria import CLASSIFICATION_CRITERIA
from treewright.tree.tests import chosen, node_levels
from treewright.workbench.plan import (
    LEAF,
    Path,
    Plan,
    divided,
    instances_at,
    node_at,
    path_of,
    tree_of,
    with_node_at,
    without_orders,
    written,
)

_FORMAT = 1  # of saved sessions
_SIDES = {"left": 0, "right": 1}
# Parameters of a tree that mean something where nodes grow one by one.
_USED = {
    "calendar", "class_weight", "criterion", "max_depth", "min_impurity_decrease", "min_samples_leaf",
    "min_samples_split", "min_weight_fraction_leaf", "missing", "nominal", "nominal_splits", "numeric", "ordinal",
    "unseen",
}  # fmt: skip


@dataclass(frozen=True)
class Command:
    """What somebody decided.

    Attributes
    ----------
    do : str
        "split", "grow", "move", "merge", "prune", "lock", "unlock", "rename" or "decide".
    path : str
        Of the node that it is about.
    given : mapping of plain JSON
    who, why, when : str
        When is a moment in ISO 8601, to the second.
    """

    do: str
    path: str
    given: Mapping[str, Any] = field(default_factory=dict)
    who: str = ""
    why: str = ""
    when: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON has it, without what is empty."""
        return {name: value for name, value in vars(self).items() if value not in ("", {}, None) or name == "path"}


class Session:
    """A tree that somebody grows by hand.

    Parameters
    ----------
    X : table of n rows
        Array, dict of columns, list of rows, or a pandas, polars or pyarrow table.
    y : n labels or numbers
    sample_weight : n numbers >= 0, optional
    task : {"classification", "regression"}, optional
        Without it numbers that are no whole numbers are a regression, everything else is a classification.
    held_out : float, default 0.25
        Share of the rows that judge and are not learned from; 0 for none.
    sealed : float, default 0
        Share of the rows for one last judgement (``open_sealed``).
    random_state : int, default 0
        For the rows kept aside, which depend on what rows hold, not on their order.
    who : str, optional
        Who decides; written into the log.
    **params
        Of CART (``DecisionTreeClassifier``): ``criterion``, ``min_samples_leaf``, ``class_weight``, ``nominal``,
        ``ordinal``, ``numeric``, ``nominal_splits`` ...

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [22, 25, 31, 40, 47, 58], "home": ["own", "rent", "rent", "own", "own", "rent"]}
    >>> session = tw.workbench.Session(table, ["bad", "bad", "bad", "good", "good", "good"], held_out=0)
    >>> session.split("", "age", cut=35, why="below 35 is a group of its own in the scorecard")
    >>> session.split("1", "home", levels=["own"])
    >>> session.undo()
    >>> print(session.model.show())
    Classification tree: 6 rows, 3 nodes, 2 leaves, depth 1
    grown by cart
    counts: bad / good
    <BLANKLINE>
    node                rows  counts   gini    predicts
       0  all rows         6     3/3  0.500
       1  ├─ age <= 35     3     3/0  0      * bad
       2  └─ age > 35      3     0/3  0      * good
    <BLANKLINE>
    * leaf
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        task: str | None = None,
        held_out: float = 0.25,
        sealed: float = 0.0,
        random_state: int = 0,
        who: str = "",
        **params: Any,
    ) -> None:
        self._made_with = {
            "task": task, "held_out": held_out, "sealed": sealed, "random_state": random_state, "who": who, **params,
        }  # fmt: skip
        self.who = who
        shares: dict[str, Any] = {"held_out": held_out, "sealed": sealed}
        for name, share in shares.items():
            if not isinstance(share, int | float) or not 0 <= share < 1:
                raise ParameterError(f"{name}={share!r}: give a share of the rows from 0 to below 1")
        unused = sorted(set(params) - _USED)
        if unused:
            raise ParameterError(f"{unused[0]} is no parameter of a session; there are {', '.join(sorted(_USED))}")
        if task is None:
            task = NUMBERS if _are_fractions(y) else CLASSES
        self._params = TreeParams(task=task, **params)  # type: ignore[arg-type]
        if self._params.missing not in ("direction", "branch", "error"):
            raise ParameterError(
                f"missing={self._params.missing!r}: by hand a missing cell goes one way: give 'direction', 'branch' or "
                "'error'"
            )
        whole = make_dataset(X, y, self._params, sample_weight)
        if whole.n_outputs != 1:
            raise ParameterError(f"y has {whole.n_outputs} targets, and a tree is grown by hand for one")
        if whole.is_sparse:
            whole = whole.made_dense()
        self._rows, self._judging, self._sealed = _apart(whole, held_out, sealed, random_state)
        self._problem, self._policy = problem_and_policy(self._rows, self._params)
        # Columns are sorted once; most commands only divide rows.
        self._sorted_rows = all_instances(self._problem)
        self._all_rows = without_orders(self._sorted_rows)
        self._commands: list[Command] = []
        self._states: list[Plan] = [LEAF]  # before the first command, and after each
        self._at = 0
        self._n_looks = 0
        self._is_opened = False
        self._tree: tuple[Plan, Any] | None = None

    # What there is.

    @property
    def log(self) -> tuple[Command, ...]:
        """The commands that made the state, in their order."""
        return tuple(self._commands[: self._at])

    @property
    def plan(self) -> Plan:
        """The state."""
        return self._states[self._at]

    @property
    def model(self) -> Model:
        """The tree as a model like any other; its facts hold the log, and how often held-out rows were looked at."""
        tree, paths = self._grown()
        noted = {
            "log": [command.plain() for command in self.log],
            "names": {written(path): node.name for path, node in self.plan.nodes() if node.name},
            "locked": [written(path) for path, node in self.plan.nodes() if node.locked],
            "nodes": {written(path): at for at, path in enumerate(paths)},
            "looks_at_held_out_rows": self._n_looks,
            "sealed_rows_opened": self._is_opened,
        }
        return model_of(
            self._rows, (tree,), self._params, combine="single", criterion=self._params.criterion_name,
            missing=self._params.missing, workbench=noted,
        )  # fmt: skip

    def node(self, path: str) -> int:
        """The number of a node in the model, by its path."""
        paths = self._grown()[1]
        node_at(self.plan, path_of(path))
        return paths.index(path_of(path))

    def candidates(self, path: str = "") -> list[dict[str, Any]]:
        """What a node could ask: the best test of each column, by what it gains, the largest first.

        Returns
        -------
        list of dict
            ``column``; ``cut`` or ``levels`` (those that go to branch 0), as ``split`` takes them; ``gain``, the
            decrease of impurity per unit of the node's weight; ``missing``, "left", "right" or None.
        """
        found = self._policy.candidates(instances_at(self._problem, self._sorted_rows, self.plan, path_of(path)))
        told = [self._told(test) for test in found if test.kind in (THRESHOLD, SUBSET)]
        return sorted(told, key=lambda each: -each["gain"])

    # Commands.

    def split(
        self, path: str, column: Hashable, *, cut: float | None = None, levels: Sequence[Any] | None = None,
        missing: str | None = None, why: str = "",
    ) -> None:  # fmt: skip
        """Ask a leaf about a column: ``x <= cut``, or whether its level is one of ``levels``.

        Parameters
        ----------
        path : str
            Of a leaf; of another node what is below it is gone.
        column : its name
        cut : float
            Of a column with an order; of an ordinal one a level: up to it, rows go to branch 0.
        levels : sequence
            Of a nominal column: those that go to branch 0.
        missing : {"left", "right"}, optional
            Where missing cells go; by default with the larger branch.
        why : str
        """
        given = {"column": column, "cut": cut, "levels": None if levels is None else list(levels), "missing": missing}
        self._do("split", path, {name: value for name, value in given.items() if value is not None}, why)

    def grow(self, path: str = "", *, levels: int | None = None, rest: bool = False, why: str = "") -> None:
        """Let the algorithm grow below a node: so many levels, or to the end; ``rest``: below every leaf not locked."""
        self._do("grow", path, {"levels": levels, "rest": rest}, why)

    def move(
        self, path: str, *, cut: float | None = None, levels: Sequence[Any] | None = None, missing: str | None = None,
        why: str = "",
    ) -> None:  # fmt: skip
        """Move a cut, or levels between branches; the questions below stay, and other rows come to them."""
        given = {"cut": cut, "levels": None if levels is None else list(levels), "missing": missing}
        self._do("move", path, {name: value for name, value in given.items() if value is not None}, why)

    def merge(self, path: str, branches: Sequence[int], *, why: str = "") -> None:
        """Make one branch of several; what was below them is gone. Of two branches in all: as ``prune``."""
        self._do("merge", path, {"branches": list(branches)}, why)

    def prune(self, path: str, *, why: str = "") -> None:
        """Make a node a leaf."""
        self._do("prune", path, {}, why)

    def lock(self, path: str, *, why: str = "") -> None:
        """Let nothing change a node, its rows, or what is below it, until it is unlocked."""
        self._do("lock", path, {}, why)

    def unlock(self, path: str, *, why: str = "") -> None:
        """Take a lock away."""
        self._do("unlock", path, {}, why)

    def rename(self, path: str, name: str, *, why: str = "") -> None:
        """Call a node by a name of your own."""
        self._do("rename", path, {"name": name}, why)

    def decide(self, path: str, value: Any, *, why: str) -> None:
        """Set what a leaf predicts, a label or a number, whatever its rows say; it needs a reason."""
        if not str(why).strip():
            raise ParameterError("why is empty: what a leaf predicts against its rows needs a reason")
        self._do("decide", path, {"value": value}, why)

    def undo(self) -> None:
        """Go back before the last command."""
        self._refuse_opened()
        if not self._at:
            raise ParameterError("there is nothing to undo")
        self._at -= 1

    def redo(self) -> None:
        """Do again what was undone last; gone after another command."""
        self._refuse_opened()
        if self._at == len(self._commands):
            raise ParameterError("there is nothing to do again")
        self._at += 1

    # Rows that judge.

    def held_out(self) -> dict[str, Any]:
        """How the model does on the rows held out; every look is counted.

        Returns
        -------
        dict
            ``score`` (share of the weight that is right, or R2), ``n`` rows, ``seen``: looks up to now.
        """
        if self._judging is None:
            raise ParameterError("no rows are held out: make the session with held_out=0.25")
        self._n_looks += 1
        return {**self._judged(self._judging), "seen": self._n_looks}

    def open_sealed(self) -> dict[str, Any]:
        """How the model does on the sealed rows. Once: the session takes no command afterwards."""
        if self._sealed is None:
            raise ParameterError("no rows are sealed: make the session with sealed=0.2")
        self._is_opened = True
        return self._judged(self._sealed)

    # What stays.

    def save(self, path: str) -> None:
        """Write the session, its commands without any row, as JSON."""
        document = {"document": "treewright session", "version": _FORMAT, "made_with": self._made_with}
        document["commands"] = [command.plain() for command in self.log]
        try:
            text = json.dumps(document, indent=1, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the session cannot be written as JSON: {error}") from None
        write_whole(path, (text + "\n").encode())

    @classmethod
    def load(cls, path: str, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make a session of a saved one on the same rows, or on others; see ``replay``."""
        try:
            document = json.loads(FilePath(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputFileError(f"{path}: cannot be read ({error})") from None
        if not isinstance(document, dict) or document.get("document") != "treewright session":
            raise InputFileError(f"{path}: is no session of Treewright")
        if document.get("version") != _FORMAT:
            raise InputFileError(f"{path}: is a session of version {document.get('version')!r}, known is {_FORMAT}")
        try:
            session = cls(X, y, sample_weight, **document["made_with"])
            commands = [Command(**each) for each in document["commands"]]
        except (KeyError, TypeError) as error:
            raise InputFileError(f"{path}: is damaged ({error})") from None
        session.replay(commands)
        return session

    @classmethod
    def from_model(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        """Begin with the tree of a model: each of its questions is a command, so it can be taken back one by one.

        Parameters
        ----------
        model : Model or estimator of one tree
            With two branches at every question; also one that was imported.
        X, y, sample_weight
            The rows that the session is about; of other rows than the fit's the counts are others.
        **options
            As of ``Session``; the criterion is the model's where it has that of a tree.

        Raises
        ------
        ParameterError
            It has many trees, or questions with more branches; or a question leaves a branch without rows, which
            names the command.
        """
        found = getattr(model, "model_", model)
        if not isinstance(found, Model) or found.n_trees != 1 or found.combine != "single":
            raise ParameterError("model is to be a single tree: of a forest or boosted model take its surrogate")
        tree, columns = found.trees[0], found.schema.columns
        if any(kind in (MULTIWAY, INTERVALS) for kind in tree.kind.tolist()) or (tree.n_branches > 2).any():
            raise ParameterError("the tree asks questions with more than two branches, which split cannot ask")
        options.setdefault("task", found.task)
        criterion = found.facts.get("criterion")
        if criterion in (*CLASSIFICATION_CRITERIA, *REGRESSION_CRITERIA):
            options.setdefault("criterion", criterion)
        session, waiting = cls(X, y, sample_weight, **options), [(0, "")]
        commands = []
        while waiting:
            node, path = waiting.pop()
            if tree.kind[node] == LEAF_KIND:
                continue
            column, first = columns[tree.feature[node]], int(tree.first_child[node])
            given: dict[str, Any] = {
                "column": column.name,
                "missing": ("left", "right")[int(tree.missing_branch[node])],
            }
            if tree.kind[node] == SUBSET:
                is_left, _ = node_levels(column, tree, node)
                given["levels"] = list(chosen(column, is_left))
            elif column.kind == "ordinal":
                given["cut"] = column.levels[int(np.floor(tree.threshold[node]))]
            else:
                given["cut"] = float(tree.threshold[node])
            commands.append(Command("split", path, given, session.who, "as in the model"))
            below = f"{path}." if path else ""
            waiting += [(first + 1, f"{below}1"), (first, f"{below}0")]
        session.replay(commands)
        return session

    def compare(self, other: Session) -> dict[str, Any]:
        """What two sessions have in common, and how their trees differ.

        Returns
        -------
        dict
            ``common``: commands that both begin with; ``here``, ``there``: those behind them; ``leaves``, ``depth``:
            of both trees; ``same``: whether the trees are the same.
        """
        mine, theirs = self.log, other.log
        plain = [[(each.do, each.path, dict(each.given)) for each in log] for log in (mine, theirs)]
        same = [one == two for one, two in zip(*plain, strict=False)]
        common = same.index(False) if False in same else len(same)
        trees = [self._grown()[0], other._grown()[0]]
        is_same = all(np.array_equal(getattr(trees[0], name), getattr(trees[1], name)) for name in vars(trees[0]))
        return {
            "common": common, "here": mine[common:], "there": theirs[common:], "same": is_same,
            "leaves": tuple(int(tree.is_leaf.sum()) for tree in trees),
            "depth": tuple(int(tree.depth.max()) for tree in trees),
        }  # fmt: skip

    def replay(self, commands: Sequence[Command]) -> None:
        """Do the commands of another session, in their order.

        Raises
        ------
        ParameterError, ColumnError, DataError
            A command does not fit these rows: which one, and why. Those before it are done.
        """
        for number, command in enumerate(commands, 1):
            try:
                self._do(command.do, command.path, dict(command.given), command.why, command.who, command.when)
            except (TreewrightError, KeyError, TypeError, ValueError, AttributeError) as error:
                kind = type(error) if isinstance(error, TreewrightError) else ParameterError
                why = error if isinstance(error, TreewrightError) else f"it is damaged ({error!r})"
                at = f"command {number} of {len(commands)} ({command.do} {command.path!r})"
                raise kind(f"{at} does not fit: {why}") from None

    def script(self) -> str:
        """A Python script that makes the model again, of ``X`` and ``y``, which it has to be given."""
        options = {name: value for name, value in self._made_with.items() if value not in (None, "")}
        lines = ["import treewright as tw", "", "# X, y = the table and its target"]
        lines.append(f"session = tw.workbench.Session(X, y{''.join(f', {k}={v!r}' for k, v in options.items())})")
        for command in self.log:
            words = "".join(f", {name}={value!r}" for name, value in command.given.items())
            why = f", why={command.why!r}" if command.why else ""
            lines.append(f"session.{command.do}({command.path!r}{words}{why})")
        return "\n".join([*lines, "model = session.model", ""])

    # Inside.

    def _do(
        self, do: str, path: str, given: dict[str, Any], why: str, who: str | None = None, when: str | None = None
    ) -> None:
        self._refuse_opened()
        given = {name: _plain(value) for name, value in given.items()}
        if do not in _DO:
            raise ParameterError(f"there is no command {do!r}: there are {', '.join(_DO)}")
        at = path_of(path)
        node_at(self.plan, at)
        if do not in ("lock", "unlock", "rename"):
            self._refuse_locked(at, rest=bool(given.get("rest")))
        plan = _DO[do](self, self.plan, at, given)
        moment = datetime.now(UTC).isoformat(timespec="seconds") if when is None else when
        command = Command(do, path, given, self.who if who is None else who, why, moment)
        del self._commands[self._at :], self._states[self._at + 1 :]
        self._commands.append(command)
        self._states.append(plan)
        self._at += 1

    def _refuse_opened(self) -> None:
        if self._is_opened:
            raise ParameterError("the sealed rows were opened: the session takes no further command")

    def _refuse_locked(self, path: Path, *, rest: bool) -> None:
        for depth in range(len(path) + 1):
            if node_at(self.plan, path[:depth]).locked:
                raise ParameterError(f"node {written(path[:depth])!r} is locked: unlock it first")
        if not rest:
            below = next((own for own, node in node_at(self.plan, path).nodes(path) if node.locked), None)
            if below is not None:
                raise ParameterError(f"node {written(below)!r} below is locked, and its rows would change: unlock it")

    def _grown(self) -> Any:
        if self._tree is None or self._tree[0] is not self.plan:
            self._tree = (self.plan, tree_of(self._problem, self._policy, self._all_rows, self.plan))
        return self._tree[1]

    def _judged(self, rows: Dataset) -> dict[str, Any]:
        model = self.model
        if model.task == CLASSES:
            score = share_right(rows.target_array, model.codes_of(rows.matrix), rows.sample_weight)
        else:
            score = explained(rows.target_array, model.numbers_of(rows.matrix), rows.sample_weight)
        return {"score": float(score), "n": len(rows)}

    def _column(self, name: Hashable) -> int:
        positions = self._rows.schema.positions
        if name in positions:
            return int(positions[name])
        if is_whole(name) and 0 <= int(name) < len(positions):  # type: ignore[call-overload]
            return int(name)  # type: ignore[call-overload]
        raise ColumnError(f"there is no column {name!r}", column=name)

    def _told(self, test: Candidate) -> dict[str, Any]:
        column = self._rows.schema.columns[test.feature]
        told: dict[str, Any] = {"column": column.name, "gain": test.gain}
        if test.kind == THRESHOLD:
            told["cut"] = test.threshold
            if column.kind == "ordinal":
                told["cut"] = column.levels[int(np.floor(test.threshold))]
        else:
            told["levels"] = [level for level, side in zip(column.levels, test.branch_of, strict=False) if side == 0]
        sides = {0: "left", 1: "right"}
        return {**told, "missing": sides.get(test.missing_branch)}

    def _test_of(self, path: Path, feature: int, given: Mapping[str, Any]) -> Candidate:
        """The test that somebody asks for, on the rows of a node."""
        column, instances = (
            self._rows.schema.columns[feature],
            instances_at(self._problem, self._all_rows, self.plan, path),
        )
        missing = given.get("missing")
        if missing not in (None, *_SIDES):
            raise ParameterError(f"missing={missing!r}: give 'left' or 'right'")
        side = EVERY_BRANCH if missing is None else _SIDES[missing]
        if column.kind == "nominal":
            branch_of = self._sides_of_levels(column, feature, given, instances.rows)
            test = Candidate(feature, SUBSET, 2, side, 0.0, 0.0, branch_of=branch_of)
        else:
            test = Candidate(feature, THRESHOLD, 2, side, 0.0, 0.0, threshold=_cut_of(column, given))
        if any(own is None for own in divided(self._problem, instances, test)[0]):
            raise ParameterError(
                f"the question about {column.name!r} leaves a branch of node {written(path)!r} without rows: "
                "give another cut, or other levels"
            )
        return test

    def _sides_of_levels(self, column: Column, feature: int, given: Mapping[str, Any], rows: np.ndarray) -> np.ndarray:
        if given.get("levels") is None or given.get("cut") is not None:
            raise ParameterError(f"column {column.name!r} is nominal: give levels=[...], those that go to branch 0")
        unknown = [level for level in given["levels"] if level not in column.levels]
        if unknown:
            raise ParameterError(
                f"column {column.name!r} has no level {unknown[0]!r}: it has {list(column.levels)[:12]}"
            )
        groups = np.array([0 if level in given["levels"] else 1 for level in column.levels])
        cells = self._problem.values[feature, rows]
        held = cells[~np.isnan(cells)].astype(np.int64)
        present = np.bincount(held[held < len(groups)], minlength=len(groups)) > 0
        here = groups[present]
        heavier = 1 if len(here) == 0 or 2 * np.isin(held, np.flatnonzero(groups == 1)).sum() >= len(held) else 0
        return level_branches(len(groups), groups, present, heavier)


def _cut_of(column: Column, given: Mapping[str, Any]) -> float:
    cut = given.get("cut")
    if cut is None or given.get("levels") is not None:
        raise ParameterError(f"column {column.name!r} has an order: give cut=..., up to which rows go to branch 0")
    if column.kind == "ordinal":
        if cut not in column.levels:
            raise ParameterError(f"column {column.name!r} has no level {cut!r}: it has {list(column.levels)[:12]}")
        return column.levels.index(cut) + 0.5
    try:
        number = float(cut)
    except (TypeError, ValueError):
        raise ParameterError(f"cut={cut!r}: column {column.name!r} holds numbers, give one") from None
    if not np.isfinite(number):
        raise ParameterError(f"cut={cut!r}: give a finite number")
    return number


# What each command makes of a plan.


def _split(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    test = session._test_of(path, session._column(given["column"]), given)
    return with_node_at(plan, path, replace(node_at(plan, path), test=test, branches=(LEAF, LEAF), decision=None))


def _grow(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    levels = given.get("levels")
    if levels is not None and not (is_whole(levels) and levels >= 1):
        raise ParameterError(f"levels={levels!r}: give a whole number of at least 1, or None")
    at = [path]
    if given.get("rest"):
        locked = [own for own, node in plan.nodes() if node.locked]
        at = [
            own for own, node in node_at(plan, path).nodes(path)
            if node.test is None and node.decision is None and not any(own[: len(lock)] == lock for lock in locked)
        ]  # fmt: skip
    for each in at:
        plan = with_node_at(plan, each, _grown_below(session, plan, each, levels))
    return plan


def _grown_below(session: Session, plan: Plan, path: Path, levels: int | None) -> Plan:
    """The node with what the algorithm grows below it."""
    params, node = session._params, node_at(plan, path)
    instances = instances_at(session._problem, session._sorted_rows, plan, path)
    limit = None if params.max_depth is None else max(int(params.max_depth) - len(path), 0)
    depths = [depth for depth in (limit, levels) if depth is not None]
    stops = Stops(
        max_depth=min(depths) if depths else None,
        min_samples_split=max(2, count_of(params.min_samples_split, len(session._rows))),
        min_impurity_decrease=float(params.min_impurity_decrease), seed=0,
    )  # fmt: skip
    records = grow_below(session._problem, session._policy, stops, instances)
    children: list[dict[int, int]] = [{} for _ in records]
    for number, record in enumerate(records[1:], 1):
        children[record.parent][record.branch] = number
    grown: list[Plan] = [LEAF] * len(records)
    for at in range(len(records) - 1, -1, -1):  # children stand behind their parents
        test, own = records[at].candidate, children[at]
        if test is not None:
            grown[at] = Plan(test, tuple(grown[own[branch]] for branch in range(test.n_branches)))
    return replace(node, test=grown[0].test, branches=grown[0].branches, decision=None)


def _move(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    node = node_at(plan, path)
    if node.test is None or node.test.kind not in (THRESHOLD, SUBSET) or len(node.branches) != 2:
        raise ParameterError(f"node {written(path)!r} asks no question with two branches: there is nothing to move")
    return with_node_at(plan, path, replace(node, test=session._test_of(path, node.test.feature, given)))


def _merge(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    node = node_at(plan, path)
    merged = sorted({branch for branch in given["branches"] if is_whole(branch)})
    if len(merged) < 2 or merged[0] < 0 or merged[-1] >= len(node.branches):
        raise ParameterError(f"branches={given['branches']!r}: give two or more of the {len(node.branches)} branches")
    if len(merged) == len(node.branches) or node.test is None:
        return with_node_at(plan, path, replace(node, test=None, branches=()))
    if node.test.kind == INTERVALS and merged != list(range(merged[0], merged[-1] + 1)):
        raise ParameterError(f"branches={given['branches']!r}: intervals that merge stand side by side")
    new_of, n_new = np.zeros(len(node.branches), np.int64), 0
    for branch in range(len(node.branches)):
        if branch in merged[1:]:
            new_of[branch] = new_of[merged[0]]
        else:
            new_of[branch], n_new = n_new, n_new + 1
    kept = [below for branch, below in enumerate(node.branches) if branch not in merged[1:]]
    kept[int(new_of[merged[0]])] = LEAF
    test, missing = node.test, node.test.missing_branch
    changed: dict[str, Any] = {"n_branches": n_new, "missing_branch": missing if missing < 0 else int(new_of[missing])}
    if test.kind == INTERVALS:
        changed["cuts"] = np.delete(test.cuts, [branch - 1 for branch in merged[1:]])
    elif test.kind == MULTIWAY:
        absent = test.branch_of < 0
        moved = new_of[np.where(absent, ~test.branch_of, test.branch_of)]
        changed["branch_of"] = np.where(absent, ~moved, moved)
    else:
        raise ParameterError(
            f"node {written(path)!r}: a branch of missing cells stands alone: prune it, or move levels"
        )
    return with_node_at(plan, path, replace(node, test=replace(test, **changed), branches=tuple(kept)))


def _prune(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    return with_node_at(plan, path, replace(node_at(plan, path), test=None, branches=()))


def _lock(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    return with_node_at(plan, path, replace(node_at(plan, path), locked=True))


def _unlock(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    node = node_at(plan, path)
    if not node.locked:
        raise ParameterError(f"node {written(path)!r} is not locked")
    return with_node_at(plan, path, replace(node, locked=False))


def _rename(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    return with_node_at(plan, path, replace(node_at(plan, path), name=str(given["name"])))


def _decide(session: Session, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    node, value = node_at(plan, path), given["value"]
    if node.test is not None:
        raise ParameterError(f"node {written(path)!r} is no leaf: prune it first, or decide about its leaves")
    if not session._rows.classes:
        try:
            decision = float(value)
        except (TypeError, ValueError):
            decision = np.nan
        if not np.isfinite(decision):
            raise ParameterError(f"value={value!r}: give a finite number")
    else:
        labels = session._rows.classes[0].tolist()
        if value not in labels:
            raise ParameterError(f"value={value!r}: there is no such class; there are {labels[:12]}")
        decision = float(labels.index(value))
    return with_node_at(plan, path, replace(node, decision=decision))


_DO: dict[str, Callable[[Session, Plan, Path, Mapping[str, Any]], Plan]] = {
    "split": _split,
    "grow": _grow,
    "move": _move,
    "merge": _merge,
    "prune": _prune,
    "lock": _lock,
    "unlock": _unlock,
    "rename": _rename,
    "decide": _decide,
}


def _plain(value: Any) -> Any:
    """A value as JSON and a script write it: numbers of numpy as Python's."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _are_fractions(y: Any) -> bool:
    values = np.asarray(y)
    if values.dtype.kind != "f":
        return False
    return bool((values[np.isfinite(values)] != np.floor(values[np.isfinite(values)])).any())


def _apart(whole: Dataset, share: float, sealed: float, seed: int) -> tuple[Dataset, Dataset | None, Dataset | None]:
    """The rows to learn from, those that judge, and those that are sealed."""
    parts: list[Dataset | None] = []
    for number, part in enumerate((sealed, share)):
        if not part:
            parts.append(None)
            continue
        contents = contents_of(whole)
        aside = held_out(whole.target_array, contents, part, seed + number, by_class=bool(whole.classes))
        parts.append(whole.take(aside))
        whole = whole.take(~aside)
    return whole, parts[1], parts[0]
