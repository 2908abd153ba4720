"""A tree grown by hand, command by command. In: a table, commands. Out: a model, its log, a script.

A session is a list of commands: the states between them are plans (``workbench.plan``), each made from the one before.
So every command can be undone, the list can be replayed on other rows, and only the list is saved.
"""

from __future__ import annotations

import hashlib
import json
import threading
import warnings
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any, Self, TypedDict, Unpack

import numpy as np

from treewright.core import progress
from treewright.core.elementary import is_whole, whole_number
from treewright.core.files import write_whole
from treewright.data.dataset import Dataset
from treewright.data.kinds import ALL, listed_columns
from treewright.data.schema import Kind
from treewright.data.take import count_rows, take_rows
from treewright.data.target import are_classes
from treewright.evaluation.measures import (
    MEASURES_OF_NUMBERS,
    Measure,
    Predicted,
    cost_matrix,
    measure_named,
    measures_of_classes,
    own_choice,
    place_of,
)
from treewright.evaluation.surrogate import surrogate_tree
from treewright.exceptions import DataError, DataWarning, InputFileError, ParameterError, TreewrightError
from treewright.explain.audit import Audit, audit_node
from treewright.files import ReadOptions, Table, read_table
from treewright.files.columns import CellType
from treewright.files.matching import as_whole
from treewright.files.table import checked_weights, pick, rows_with_target
from treewright.files.text import READING, check_regular
from treewright.grow.by_node.grower import candidate_of
from treewright.grow.by_node.plan import LEAF, Plan, as_seen, tree_of
from treewright.grow.settings import REGRESSION_CRITERIA
from treewright.learn.held_out import contents_of, held_out, names_of
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.single import TreeParams
from treewright.learn.train import make_dataset, model_of
from treewright.model import Model
from treewright.reporting.document import Report, report
from treewright.trees.arrays import LEAF as LEAF_KIND
from treewright.trees.arrays import Tree
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA
from treewright.trees.edit import number_at
from treewright.trees.summary import counted
from treewright.trees.threshold import Threshold, code_of_positive, threshold_given
from treewright.workbench.commands import Command, NothingGrowsError, done
from treewright.workbench.plan import instances_at, named, node_at, path_of, with_node_at, written
from treewright.workbench.questions import MOST_SEARCHED, Ground, words_of_test

_FORMAT = 1  # of saved sessions
_PAIRS = "pairs"  # marks a mapping whose names are not texts
_LOGS = ("commands", "undone", "dropped")  # lists of commands in one
# How a file is read: the parameters of ``from_file``.
_TOLD = ("path", "target", "weight", "drop", "types", "skip_missing_target", *READING)
# Parameters of a tree that have a meaning if nodes grow one by one.
_USED = {
    "calendar", "class_weight", "criterion", "max_depth", "min_impurity_decrease", "min_samples_leaf",
    "min_samples_split", "min_weight_fraction_leaf", "missing", "nominal", "nominal_splits", "numeric", "ordinal",
    "unseen",
}  # fmt: skip


class Noted(TypedDict, total=False):
    """Entries of the log about a command: why, who if not the session's own, when if not now (ISO 8601)."""

    why: str
    who: str
    when: str


class BareSession:
    """A session without its screens, which ``workbench.app`` adds."""

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
        looks: int | Sequence[str] = 0,
        cost: Any = None,
        threshold: float | None = None,
        positive: Any = None,
        measure: str | None = None,
        **params: Any,
    ) -> None:
        made_with = {
            "task": task, "held_out": held_out, "sealed": sealed, "random_state": random_state, "who": who,
            **_given(cost=cost, threshold=threshold, positive=positive), **params,
        }  # fmt: skip
        self._made_with: dict[str, Any] = {name: _plain(value) for name, value in made_with.items()}
        random_state = whole_number("random_state", random_state, 0)
        self._file: dict[str, Any] | None = None
        self.who = who
        shares: dict[str, Any] = {"held_out": held_out, "sealed": sealed}
        for name, share in shares.items():
            if not isinstance(share, int | float | np.floating) or not 0 <= share < 1:
                raise ParameterError(f"{name}={share!r}: give a share of the rows from 0 to below 1")
        if held_out + sealed >= 1:
            raise ParameterError(f"held_out={held_out!r} and sealed={sealed!r} leave no training rows")
        unused = sorted(set(params) - _USED)
        if unused:
            raise ParameterError(f"{unused[0]} is not a parameter of a session; they are {', '.join(sorted(_USED))}")
        if task is None:
            task = CLASSES if _holds_classes(y) else NUMBERS
        try:
            tree_params = TreeParams(task=task, **params)  # type: ignore[arg-type]
        except ParameterError as error:
            raise ParameterError(str(error).replace(TreeParams.__name__, "a session")) from None
        if tree_params.missing not in ("direction", "branch", "error"):
            raise ParameterError(
                f"missing={tree_params.missing!r}: in a session a missing value follows one branch: give 'direction', "
                "'branch' or 'error'"
            )
        whole = make_dataset(X, y, tree_params, sample_weight)
        if whole.n_outputs != 1:
            raise ParameterError(f"y has {whole.n_outputs} targets: a session grows a tree for one")
        if whole.is_sparse:
            whole = whole.made_dense()
        if not held_out and not sealed:  # otherwise the parts are copies
            whole = replace(whole, matrix=np.array(whole.matrix))  # the session outlives changes of the user's table
        self.rows_digest = _digest_of(whole)
        if positive is not None and whole.classes:
            labels = whole.classes[0].tolist()
            positive = labels[place_of(positive, labels, "positive")]
            code_of_positive(whole.classes, positive)  # refuses another number of classes than two
            tree_params = replace(tree_params, positive=positive)
        self._threshold = _threshold_of(whole, cost, threshold, positive)
        self.measures, self._usual = _measures_of(whole, cost, positive, params.get("class_weight"))
        self.measure = self._usual if measure is None else measure
        given = np.arange(len(whole)) if whole.kept is None else np.flatnonzero(whole.kept)
        try:
            parts, self._places = _apart(whole, given, held_out, sealed, random_state)
        except DataError as error:
            if not whole.classes:
                raise
            classes, n = counted(len(whole.classes[0]), "class", "classes"), counted(len(whole), "row")
            raise DataError(
                f"held_out={held_out!r} of the rows cannot be held out: the target has {classes} in {n}. "
                "Are too few rows different, is the target an identifier, or is it a number (task='regression')? "
                "Otherwise give held_out=0 and sealed=0"
            ) from error
        rows, self._judging, self._sealed = parts
        self._table = (X, y, sample_weight)
        self._reported = self._places[0 if self._judging is None else 1]  # rows of the table that a report is about
        # Columns are sorted once; most commands only divide rows.
        self.ground = Ground(rows, tree_params)
        self._commands: list[Command] = []
        self._states: list[Plan] = [LEAF]  # before the first command, and after each
        self._at = 0
        if not (is_whole(looks) or isinstance(looks, list | tuple)):
            raise ParameterError(f"looks={looks!r}: give a number, or the list of a script")
        self._n_before = whole_number("looks", looks, 0) if is_whole(looks) else 0
        self._looks: list[str] = [] if is_whole(looks) else [str(each) for each in looks]  # type: ignore[union-attr]
        self._dropped: list[Command] = []
        self.n_changes = 0  # of the state: screens compare it to find that they show an old one
        self.lock_of_screens = threading.RLock()
        self._written: dict[str, bytes] = {}  # content of the files that it was saved in, or made from
        self.looks_always = True  # whether a screen looks at the held-out rows after every step
        self.misfit = ""  # why a replay stopped that goes only as far as commands fit
        self.opened: dict[str, Any] | None = None  # the result of ``open_sealed``
        self._tree: tuple[Plan, Tree] | None = None
        # By state and measure: cached figures on training rows, and on held-out rows.
        self._trained: dict[tuple[Plan, str], dict[str, Any]] = {}
        self._looked: dict[Plan, dict[str, dict[str, Any]]] = {}
        self._look_of: dict[Plan, int] = {}  # the look that a state was counted for

    # What there is.

    @property
    def log(self) -> tuple[Command, ...]:
        """The commands that led to the state, in their order."""
        return tuple(self._commands[: self._at])

    @property
    def undone(self) -> tuple[Command, ...]:
        """The commands that ``redo`` repeats, the next one first."""
        return tuple(self._commands[self._at :])

    @property
    def plan(self) -> Plan:
        """The current state."""
        return self._states[self._at]

    @property
    def measure(self) -> str:
        """The name of the measure that judges the tree, one of ``measures``; it can be set at any time."""
        return self._measure.name

    @measure.setter
    def measure(self, name: str) -> None:
        self._measure = measure_named(name, self.measures)

    @property
    def n_looks(self) -> int:
        """Number of states that were evaluated on the held-out rows."""
        return self._n_before + len(self._looks)

    @property
    def has_held_out(self) -> bool:
        """Whether rows are held out."""
        return self._judging is not None

    @property
    def n_sealed(self) -> int:
        """Number of sealed rows."""
        return 0 if self._sealed is None else len(self._sealed)

    @property
    def model(self) -> Model:
        """The tree as a model like any other; its facts hold the log, and the number of looks at held-out rows."""
        noted = {
            "log": [command.plain() for command in self.log],
            "names": {written(path): node.name for path, node in self.plan.nodes() if node.name},
            "locked": [written(path) for path, node in self.plan.nodes() if node.locked],
            "decided": self._decided(),
            "looks_at_held_out_rows": self.n_looks,
            "sealed_rows": self.opened,
        }
        return self._model_of(self.plan, workbench=noted)

    def leaves(self, path: str = "") -> list[str]:
        """The paths of the leaves below a node, from left to right."""
        at = path_of(path)
        return [written(own) for own, node in node_at(self.plan, at).nodes(at) if node.test is None]

    @property
    def rows_held_out(self) -> np.ndarray:
        """int64[k]: positions of the held-out rows in the table."""
        return self._places[1].copy()

    def __repr__(self) -> str:
        n, leaves = len(self.log), len(self.leaves())
        return f"<treewright.workbench.Session: {counted(n, 'command')}, {counted(leaves, 'leaf', 'leaves')}>"

    def node(self, path: str) -> int:
        """The number of a node in the model, by its path."""
        at = path_of(path)
        node_at(self.plan, at)
        number = number_at(self._grown(), written(at))
        if number < 0:
            raise ParameterError(f"{named(at)} is below a node without rows, where the tree ends")
        return number

    # What a step shows.

    def candidates(self, path: str = "") -> list[dict[str, Any]]:
        """The possible questions of a node: the best one about each column, the largest gain first.

        Parameters
        ----------
        path : str

        Returns
        -------
        list of dict
            ``column``, ``cut`` or ``levels`` and ``missing``, as ``split`` takes them; ``gain``, the decrease of
            impurity per unit of the node's weight; ``cost``, the gain of the best one minus its own; ``p_value`` of the
            target against the branches (chi-squared, or F), and ``adjusted_p_value``, that times the number of possible
            questions of the node (Bonferroni); ``log_worth``, minus the decimal logarithm of the adjusted one. Weights
            count as numbers of rows.

        Raises
        ------
        ParameterError
            There is no such node, or no row reaches it.
        """
        at = path_of(path)
        node_at(self.plan, at)
        return deepcopy(self.ground.candidates(self.plan, at))

    def question(
        self, path: str, column: Hashable, *, cut: Any = None, levels: Any = None, missing: Any = None,
        empty: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """The gain and cost of a question, without asking it.

        Parameters
        ----------
        path, column, cut, levels, missing, empty
            As for ``split``.

        Returns
        -------
        dict
            ``gain``, ``cost``, ``p_value``, ``adjusted_p_value``, ``log_worth`` as in ``candidates``; the cost is
            below 0 if it gains more than all of them, which is possible with more branches. ``branches``: for each its
            rows ``n`` and ``values``, the weight of each class or the mean.
        """
        at = path_of(path)
        given = {name: _plain(value) for name, value in _given(cut=cut, levels=levels, missing=missing).items()}
        given["empty"] = empty
        node_at(self.plan, at)
        test = self.ground.test_of(self.plan, at, self.ground.column(column), given)
        return self.ground.weighed(self.plan, at, test)

    def costs(self) -> list[dict[str, Any]]:
        """The gain of every question of the tree, and its cost against the best one there; the root first.

        Returns
        -------
        list of dict
            ``path``, ``column``, ``cut`` or ``levels`` and ``missing`` as ``split`` takes them, and what ``question``
            returns without ``branches``; a node without rows is left out.
        """
        found = []
        for path, node in self.plan.nodes():
            if node.test is None:
                continue
            instances = instances_at(self.ground.problem, self.ground.whole, self.plan, path)
            if instances is not None:
                test = as_seen(self.ground.problem, instances, node.test)
                told = self.ground.weighed(self.plan, path, test)
                asked = {"path": written(path), **self.ground.told(test)}
                found.append({**asked, **{name: told[name] for name in told if name != "branches"}})
        return found

    def audit(self, path: str = "", *, of: Hashable | None = None, **options: Any) -> Audit:
        """The arithmetic of the possible questions of a node, as by hand.

        Parameters
        ----------
        path : str
        of : its name, optional
            The column whose best question is computed step by step; by default the best question of all.
        **options
            ``every`` (a column, to list its cuts one by one), ``log_base``, ``digits``, as for ``est.audit``.
        """
        node_at(self.plan, path_of(path))
        instances = self.ground.at(self.plan, path_of(path))
        ground = self.ground
        found = audit_node(
            self.model, ground.problem, ground.policy, instances.rows, instances.weights, self.node(path), **options
        )
        return found if of is None else replace(found, of=ground.columns[ground.column(of)].name)

    def figures(self, *, look: bool = True) -> dict[str, Any]:
        """The scores of the tree, now and before the last command.

        Parameters
        ----------
        look : bool
            Whether to look at the held-out rows; a state is counted once.

        Returns
        -------
        dict
            ``measure``, such as "accuracy" or "R2"; ``name``, its name among ``measures``; ``less_is_better``;
            ``training`` and ``held_out``: ``score``, ``low`` and ``high`` of its 95 % interval (nan if the rows do not
            determine it), ``n`` rows; ``seen``, states evaluated on held-out rows so far; ``before``: both of the
            state before, or None. ``held_out`` is None if it was not looked at by this measure.
        """
        if look and self._judging is not None:
            self.held_out()
        before = self._states[self._at - 1] if self._at else None
        # Copies: a caller may change them.
        return deepcopy(
            {
                "measure": self._measure.words,
                "name": self.measure,
                "less_is_better": self._measure.sign < 0,
                "training": self._on_training(self.plan),
                "held_out": self._looked.get(self.plan, {}).get(self.measure),
                "seen": self.n_looks,
                "before": None
                if before is None
                else {
                    "training": self._on_training(before),
                    "held_out": self._looked.get(before, {}).get(self.measure),
                },
            }
        )

    def report(self, **options: Any) -> Report:
        """A report page about the current tree, on the held-out rows, which counts as a look at them.

        Parameters
        ----------
        **options
            As for ``treewright.report``. If no rows are held out the page is about the training rows.
        """
        if self._judging is not None:
            self.held_out()
        X, y, weights = (None if each is None else take_rows(each, self._reported) for each in self._table)
        return report(self.model, X, y, sample_weight=weights, **options)

    # Commands.

    def command(self, do: str, path: str, given: Mapping[str, Any] | None = None, **noted: Unpack[Noted]) -> None:
        """Do a command by its name, with its arguments as plain JSON."""
        self._do(do, path, dict(given or {}), **noted)

    def split(
        self, path: str, column: Hashable, *, cut: Any = None, levels: Any = None, missing: Any = None,
        empty: bool = False, **noted: Unpack[Noted],
    ) -> None:  # fmt: skip
        """Ask a leaf about a column: ``x <= cut``, or whether its level is one of ``levels``.

        Parameters
        ----------
        path : str
            Of a leaf; the nodes below another node are removed.
        column : its name
        cut : float, or list of float
            For a numeric column, or a level for an ordinal one: up to it, rows go to branch 0. Several cuts make one
            branch more than there are cuts. Without any, and with ``missing``: whether there is a value.
            The limits of the session, such as ``min_samples_leaf``, apply only to what the algorithm grows.
        levels : list, or list of lists
            For a nominal column: those that go to branch 0; or those of each branch.
        missing : {"left", "right", "own"} or int, optional
            The branch that missing values follow: a side or a branch, or a branch of their own; by default the largest.
        empty : bool
            Whether a branch may be without rows.
        **noted
            ``why``; ``who`` if not the session's own; ``when``, if not now.
        """
        name = self.ground.columns[self.ground.column(column)].name
        given = _given(column=name, cut=cut, levels=levels, missing=missing, empty=empty or None)
        self._do("split", path, given, **noted)

    def grow(
        self, path: str = "", *, levels: int | None = None, leaves: int | None = None, rest: bool = False,
        **noted: Unpack[Noted],
    ) -> None:  # fmt: skip
        """Let the algorithm grow below a node, by default to the end.

        Parameters
        ----------
        path : str
            If neither ``leaves`` nor ``rest`` is given, the nodes below it are grown anew.
        levels : int >= 1, optional
            At most so many levels.
        leaves : int >= 1, optional
            So many leaves more: the leaf whose question lowers the impurity of all rows most is split first.
        rest : bool
            Below every leaf that is neither locked nor decided.
        """
        self._do("grow", path, _given(levels=levels, leaves=leaves, rest=rest or None), **noted)

    def move(
        self, path: str, *, cut: Any = None, levels: Any = None, missing: Any = None, **noted: Unpack[Noted]
    ) -> None:
        """Move a cut, or levels between branches; the questions below stay, with other rows."""
        self._do("move", path, _given(cut=cut, levels=levels, missing=missing), **noted)

    def merge(self, path: str, branches: Sequence[int], **noted: Unpack[Noted]) -> None:
        """Make one branch of several; the nodes below them are removed. All branches: as ``prune``."""
        self._do("merge", path, {"branches": list(branches)}, **noted)

    def prune(self, path: str = "", *, leaves: int | None = None, **noted: Unpack[Noted]) -> None:
        """Make a node a leaf; or prune the weakest links below it until at most so many leaves are left there.

        Parameters
        ----------
        path : str
        leaves : int >= 1, optional
            By cost-complexity on the training rows (Breiman et al. 1984, section 3.3); locked nodes stay.
        """
        self._do("prune", path, _given(leaves=leaves), **noted)

    def lock(self, path: str, **noted: Unpack[Noted]) -> None:
        """Protect a node, its rows and all below it from changes, until it is unlocked."""
        self._do("lock", path, {}, **noted)

    def unlock(self, path: str, **noted: Unpack[Noted]) -> None:
        """Remove a lock."""
        self._do("unlock", path, {}, **noted)

    def rename(self, path: str, name: str, **noted: Unpack[Noted]) -> None:
        """Give a node a name; an empty one removes it."""
        self._do("rename", path, {"name": name}, **noted)

    def decide(self, path: str, value: Any, **noted: Unpack[Noted]) -> None:
        """Set the prediction of a leaf by hand, a label or a number; it needs a reason, ``why``."""
        self._do("decide", path, {"value": value}, **noted)

    def undo(self) -> None:
        """Undo the last command."""
        self._refuse_opened()
        if not self._at:
            raise ParameterError("there is nothing to undo")
        self._at -= 1
        self.n_changes += 1

    def redo(self) -> None:
        """Redo the command that was undone last; not possible after another command."""
        self._refuse_opened()
        if self._at == len(self._commands):
            raise ParameterError("there is nothing to redo")
        self._at += 1
        self.n_changes += 1

    def go_to(self, n: int) -> None:
        """Undo or redo, so that the first ``n`` commands are done."""
        self._refuse_opened()
        if not (is_whole(n) and 0 <= n <= len(self._commands)):
            raise ParameterError(f"n={n!r}: give a number from 0 to {len(self._commands)}, the number of commands")
        self._at = int(n)
        self.n_changes += 1

    # Held-out and sealed rows.

    def held_out(self) -> dict[str, Any]:
        """The score of the model on the held-out rows by ``measure``; every look is counted.

        A state with the same predictions for all held-out rows as an earlier one is not counted again, nor is a state
        that is looked at by another measure.

        Returns
        -------
        dict
            ``score`` (weighted), ``low``, ``high`` of its 95 % interval, ``n`` rows, ``seen``: states evaluated up to
            now.
        """
        if self._judging is None:
            raise ParameterError("no rows are held out: make the session with held_out=0.25")
        found = self._looked.setdefault(self.plan, {})
        if self.measure not in found:
            found[self.measure], digest = self.judged(self._judging)
            if not any(digest in look.split("+") for look in self._looks):
                own = self._look_of.get(self.plan)
                if own is None:
                    self._look_of[self.plan] = len(self._looks)
                    self._looks.append(digest)
                else:  # classes were seen, and now probabilities: one look, with both digests
                    self._looks[own] += f"+{digest}"
        return {**found[self.measure], "seen": self.n_looks}

    def open_sealed(self, **noted: Unpack[Noted]) -> dict[str, Any]:
        """The score of the model on the sealed rows. Only once: the session takes no command afterwards."""
        if self._sealed is None:
            raise ParameterError("no rows are sealed: make the session with sealed=0.2")
        _check_noted("open_sealed", noted)
        if self.opened is None:
            self.n_changes += 1
            self.opened = {
                **self.judged(self._sealed)[0], "measure": self._measure.words, "who": noted.get("who", self.who),
                "when": noted.get("when") or _now(), "why": noted.get("why") or "",
            }  # fmt: skip
        return dict(self.opened)

    # Saving and loading.

    def to_dict(self) -> dict[str, Any]:
        """The session, its commands without any row, as plain JSON."""
        return {
            "document": "treewright session",
            "version": _FORMAT,
            "made_with": {name: _as_pairs(value) for name, value in self._made_with.items()},
            "who": self.who,
            "file": self._file,
            "rows": self.rows_digest,
            "looks": self._looks_given(),
            "looks_always": self.looks_always,
            "measure": self.measure,
            "opened": self.opened,
            "commands": [command.plain() for command in self.log],
            "undone": [command.plain() for command in self.undone],
            "dropped": [command.plain() for command in self._dropped],
        }

    def save(self, path: str) -> None:
        """Write the session, its commands without any row, as JSON."""
        try:
            body = (json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n").encode()
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the session cannot be written as JSON: {error}") from None
        write_whole(path, body)
        self._written[str(FilePath(path).absolute())] = body

    def written(self, path: str) -> bytes | None:
        """The content of a file that the session was saved in, or made from; None for another."""
        return self._written.get(str(FilePath(path).absolute()))

    @classmethod
    def load(cls, path: str, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make a session from a saved one on the same rows, or on others; see ``replay``.

        Raises
        ------
        InputFileError
            The file cannot be read, is not a session, or is damaged.
        ParameterError, ColumnError, DataError
            A command does not fit these rows: which one, and why.
        """
        document = read_saved(path)
        session = cls.from_dict(document, X, y, sample_weight, named=str(path))
        session._written[str(FilePath(path).absolute())] = FilePath(path).read_bytes()
        if session.rows_digest != document.get("rows", session.rows_digest):
            warnings.warn(
                f"{path}: the rows have changed since the session was saved; every command fits, but other rows may "
                "be held out",
                DataWarning,
                stacklevel=2,
            )
        return session

    @classmethod
    def from_dict(
        cls, document: Mapping[str, Any], X: Any, y: Any, sample_weight: Any = None, *, named: str = "the session",
        fitting: bool = False,
    ) -> Self:  # fmt: skip
        """Make a session from the result of ``to_dict``.

        Parameters
        ----------
        document : dict
        X, y, sample_weight
            Its rows, or others.
        named : str
            Its name in errors.
        fitting : bool
            Whether to stop before a command that does not fit instead of raising: ``misfit`` is the reason.
        """
        try:
            options = {name: _of_pairs(value) for name, value in document["made_with"].items()}
            session = cls(X, y, sample_weight, **{**options, "looks": document.get("looks", 0)})
            logs = [document[name] if name == "commands" else document.get(name, []) for name in _LOGS]
            if not all(isinstance(log, list) for log in logs):
                raise TypeError("its commands are not a list")
            commands, undone, dropped = ([Command(**each) for each in log] for log in logs)
            if not all(isinstance(each.given, Mapping) for each in (*commands, *undone, *dropped)):
                raise TypeError("the arguments of a command have no names")
        except (KeyError, TypeError, AttributeError) as error:
            raise InputFileError(f"{named}: is damaged ({error})") from None
        try:
            session.replay(commands)
        except TreewrightError as error:
            if not fitting:
                raise
            session.misfit = str(error)
        else:
            # Undone commands that do not fit these rows are no reason to refuse the others.
            with suppress(TreewrightError):
                session.replay(undone)
        n_done = len(session._commands)
        session.go_to(min(len(commands), n_done))
        session._dropped = [*dropped, *[*commands, *undone][n_done:]]
        session.looks_always = bool(document.get("looks_always", True))
        if document.get("measure") in session.measures:  # not on other rows, whose target may be of another kind
            session.measure = document["measure"]
        session.who = str(document.get("who", session.who))
        opened = document.get("opened")
        if isinstance(opened, Mapping) and isinstance(opened.get("score"), int | float):
            # The result of that time, not on other rows; before there was a choice, the measure was the first.
            usual = next(iter(session.measures.values())).words
            session.opened = {"who": "", "when": "", "why": "", "measure": usual, **opened}
        elif opened:
            session.open_sealed()
        return session

    @classmethod
    def from_file(
        cls, path: str, target: str, *, weight: str | None = None, drop: Sequence[str] = (),
        types: Mapping[str, CellType] | None = None, skip_missing_target: bool = False,
        missing_tokens: Sequence[str] | None = None, separator: str | None = None, encoding: str | None = None,
        decimal: str | None = None, thousands: str | None = None, date_format: str | None = None, skip_rows: int = 0,
        skip_footer: int = 0, **options: Any,
    ) -> Self:  # fmt: skip
        """Make a session from a file, as ``treewright workbench`` does.

        Parameters
        ----------
        path : str
            CSV, TSV (plain or gzip) or Parquet; or a folder of such files, or a pattern.
        target, weight : str
            The columns of the target and of the weights.
        drop : sequence of str
            Columns to leave out.
        types : mapping of str to {"number", "boolean", "text"}, optional
            Types of columns of text files; by default those of ``nominal``, ``ordinal`` and ``numeric`` in the options,
            and for other columns inferred from their cells.
        skip_missing_target : bool
            Whether rows without a target are left out instead of refused.
        missing_tokens, separator, encoding, decimal, thousands, date_format, skip_rows, skip_footer
            As on the command line.
        **options
            As for ``Session``.

        Raises
        ------
        InputFileError, ColumnError, DataError
            The file is not a valid table, lacks a column, or a cell was refused.
        """
        types = _declared_types(options) | dict(types or {})
        told = {
            "path": str(path), "target": target, "weight": weight, "drop": list(drop), "types": types or None,
            "skip_missing_target": skip_missing_target, "missing_tokens": list(missing_tokens or ()),
            "separator": separator, "encoding": encoding, "decimal": decimal, "thousands": thousands,
            "date_format": date_format, "skip_rows": skip_rows, "skip_footer": skip_footer,
        }  # fmt: skip
        return cls.of_table(table_of(told), told, options)

    @classmethod
    def of_table(
        cls, table: Table, told: Mapping[str, Any], options: Mapping[str, Any], model: Any = None
    ) -> Self:  # fmt: skip
        """Make a session from a table that was read with ``told`` of ``from_file``, and optionally a model."""
        data = _parts_of_table(table, told)
        session = cls(*data, **options) if model is None else cls.from_model(model, *data, **options)
        session._file = {name: value for name, value in told.items() if value}
        return session

    @classmethod
    def of_document(
        cls, document: Mapping[str, Any], table: Table, told: Mapping[str, Any], *, named: str, fitting: bool = False
    ) -> Self:
        """Make a session from the result of ``to_dict``, on a table that was read as ``told``."""
        session = cls.from_dict(document, *_parts_of_table(table, told), named=named, fitting=fitting)
        session._file = {name: value for name, value in told.items() if value}
        return session

    @classmethod
    def from_model(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        """Begin with the tree of a model: each of its questions is a command, so they can be undone one by one.

        Parameters
        ----------
        model : Model or estimator
            Of one tree, also an imported one: its questions are used, its leaves are computed from the rows. Of many
            trees their surrogate tree is used (``model_selection.surrogate_tree``), fitted to their predictions for
            ``X``.
        X, y, sample_weight
            The rows of the session; rows other than the training rows give other counts. If training rows are held out,
            the errors on them are too low: give others, or ``held_out=0``.
        **options
            As for ``Session``; the criterion is the model's if it has that of a tree, and so are its positive class,
            its decision threshold, and the costs that chose it.

        Warns
        -----
        DataWarning
            The session predicts differently from the tree for some of the rows: how many.

        Raises
        ------
        ParameterError
            It is not a model of trees. A column of the model is not in the table: the message names the command.
        """
        found = given = getattr(model, "model_", model)
        if not isinstance(found, Model):
            raise ParameterError(f"model must be a fitted model of trees, not {type(model).__name__}")
        why = "as in the model"
        if found.n_trees != 1:
            surrogate = surrogate_tree(model, X, sample_weight=sample_weight)
            why = f"as in the surrogate of {surrogate.of}"
            found = surrogate.estimator.model_
        options.setdefault("task", found.task)
        columns = found.schema.columns
        ranked = {each.name: list(each.levels) for each in columns if each.kind == "ordinal" and not each.part}
        if ranked:
            options.setdefault("ordinal", ranked)
        criterion = found.facts.get("criterion")
        if criterion in (*CLASSIFICATION_CRITERIA, *REGRESSION_CRITERIA):
            options.setdefault("criterion", criterion)
        parameters = found.facts.get("parameters")
        weights = parameters.get("class_weight") if isinstance(parameters, Mapping) else None
        if weights is not None:  # facts have a mapping as pairs
            options.setdefault("class_weight", dict(weights) if isinstance(weights, list) else weights)
        options.setdefault("unseen", found.unseen)
        decides = given.threshold
        if decides is not None and not any(name in options for name in ("cost", "threshold", "positive")):
            options["threshold"] = decides.at
            if decides.cost_each is not None:
                options["cost"] = dict(zip(("fp", "fn"), decides.cost_each, strict=True))
        if decides is not None or "positive" in given.facts:
            options.setdefault("positive", given.positive)
        # Its levels in its order, also those that these rows lack; unless they have others.
        levels = {
            each.name: list(each.levels)
            for each in columns if each.kind == "nominal" and not each.part and 0 < len(each.levels) <= MOST_SEARCHED
        }  # fmt: skip
        try:
            session = cls(X, y, sample_weight, **({"nominal": levels} if levels else {}) | options)
        except TreewrightError:
            session = cls(X, y, sample_weight, **options)
        tree = found.trees[0]
        known = {column.name: set(column.levels) for column in session.ground.columns}
        commands, waiting = [], [(0, "")]
        while waiting:
            node, path = waiting.pop()
            if tree.kind[node] == LEAF_KIND:
                continue
            test = candidate_of(tree, node, found.schema, found.missing)
            given = {**words_of_test(columns[test.feature], test, every_level=True), "empty": True}
            if "levels" in given:
                given["levels"] = _only(given["levels"], known.get(given["column"], set()))
            commands.append(Command("split", path, given, session.who, why, _now()))
            first, below = int(tree.first_child[node]), f"{path}." if path else ""
            waiting += [(first + at, f"{below}{at}") for at in reversed(range(test.n_branches))]
        session.replay(commands)
        n_other = session._n_other_than(found, X)
        if n_other:
            warnings.warn(
                f"the session predicts differently from the model for {n_other} of {counted(count_rows(X), 'row')}: "
                "its leaves are computed from these rows, and a missing value follows one branch",
                DataWarning,
                stacklevel=2,
            )
        return session

    def compare(self, other: BareSession) -> dict[str, Any]:
        """Compare the commands and the trees of two sessions.

        Returns
        -------
        dict
            ``common``: commands that both begin with; ``here``, ``there``: those after them; ``leaves``, ``depth``:
            of both trees; ``same``: whether the trees are the same.
        """
        mine, theirs = self.log, other.log
        plain = [[(each.do, each.path, dict(each.given)) for each in log] for log in (mine, theirs)]
        same = [one == two for one, two in zip(*plain, strict=False)]
        common = same.index(False) if False in same else len(same)
        trees = [self._grown(), other._grown()]
        is_same = all(np.array_equal(*(getattr(tree, each.name) for tree in trees)) for each in fields(trees[0]))
        return {
            "common": common, "here": mine[common:], "there": theirs[common:], "same": is_same,
            "leaves": tuple(int(tree.is_leaf.sum()) for tree in trees),
            "depth": tuple(int(tree.depth.max()) for tree in trees),
        }  # fmt: skip

    def replay(self, commands: Sequence[Command | Mapping[str, Any]]) -> None:
        """Do the commands of another session, in their order; also those in the facts of a model.

        Raises
        ------
        ParameterError, ColumnError, DataError
            A command does not fit these rows: which one, and why. Those before it are done.
        """
        for number, each in enumerate(commands, 1):
            command = Command(**each) if isinstance(each, Mapping) else each
            try:
                with progress.part(number - 1, len(commands)):
                    progress.report(0.0, "replaying")
                    self._take(command, is_replay=True)
            except (
                TreewrightError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError,
            ) as error:  # fmt: skip
                kind = type(error) if isinstance(error, TreewrightError) else ParameterError
                why = error if isinstance(error, TreewrightError) else f"it is damaged ({error!r})"
                at = f"command {number} of {len(commands)} ({command.do} {command.path!r})"
                raise kind(f"{at} does not fit: {why}") from None

    def script(self) -> str:
        """A Python script that makes the same model, byte for byte."""
        measure = None if self.measure == self._usual else self.measure
        options = {**self._made_with, "measure": measure, "looks": self._looks_given() or None}
        lines = ["import treewright as tw", ""]
        if self._file is None:
            has_weights = self._table[2] is not None
            names = (
                "# X, y, w = the table, its target and weights" if has_weights else "# X, y = the table and its target"
            )
            lines.append(names)
            made = "tw.workbench.Session(X, y" + ", w" * has_weights
        else:
            options = {**self._file, **options}
            made = f"tw.workbench.Session.from_file({options.pop('path')!r}, {options.pop('target')!r}"
        words = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None and value != "")
        lines.append(f"session = {made}{words})")
        for command in self.log:
            noted = {name: value for name, value in (("why", command.why), ("when", command.when)) if value}
            given = {**command.given, **noted, **self._who_told(command.who)}
            lines.append(f"session.{command.do}({command.path!r}{''.join(f', {k}={v!r}' for k, v in given.items())})")
        if self.opened is not None:
            noted = {name: self.opened[name] for name in ("when", "why") if self.opened[name]}
            words = ", ".join(
                f"{name}={value!r}" for name, value in (noted | self._who_told(self.opened["who"])).items()
            )
            lines.append(f"session.open_sealed({words})")
        return "\n".join([*lines, "model = session.model", ""])

    # Inside.

    def _do(self, do: str, path: str, given: dict[str, Any], **noted: Unpack[Noted]) -> None:
        _check_noted(do, noted)
        given = {name: _plain(value) for name, value in given.items()}
        who, when = noted.get("who"), noted.get("when")
        self._take(Command(do, path, given, self.who if who is None else who, noted.get("why") or "", when or _now()))

    def _take(self, command: Command, *, is_replay: bool = False) -> None:
        self._refuse_opened()
        if command.do == "decide" and not command.why.strip():
            raise ParameterError("why is empty: a decision against the rows of a leaf needs a reason")
        try:
            plan = done(self.ground, self.plan, command)
        except NothingGrowsError:
            if not is_replay:  # on other rows there may be nothing to grow
                raise
            plan = self.plan
        try:  # the log must be written, and read again unchanged
            json.dumps(command.plain(), allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            raise ParameterError(f"a session keeps texts, finite numbers and lists of them: {error}") from None
        self._dropped += self._commands[self._at :]
        del self._commands[self._at :], self._states[self._at + 1 :]
        self._commands.append(command)
        self._states.append(plan)
        self._at += 1
        self.n_changes += 1

    def _who_told(self, who: str) -> dict[str, str]:
        """Who decided, if a script has to state it."""
        return {} if who == self._made_with["who"] else {"who": who}

    def _n_other_than(self, model: Model, X: Any) -> int:
        """Number of rows that the session predicts differently from a model."""
        if model.task == NUMBERS:
            return int((~np.isclose(self.model.predict(X), model.predict(X), rtol=1e-9, atol=0.0)).sum())
        return int((np.asarray(self.model.predict(X)) != np.asarray(model.predict(X))).sum())

    def _refuse_opened(self) -> None:
        if self.opened is not None:
            raise ParameterError("the sealed rows were opened: the session takes no further command")

    def _grown(self, plan: Plan | None = None) -> Tree:
        plan = self.plan if plan is None else plan
        if self._tree is None or self._tree[0] is not plan:
            ground = self.ground
            self._tree = (plan, tree_of(ground.problem, ground.policy, ground.whole, plan))
        return self._tree[1]

    def _model_of(self, plan: Plan, **facts: Any) -> Model:
        params = self.ground.params
        model = model_of(
            self.ground.rows, (self._grown(plan),), params, combine="single", criterion=params.criterion_name,
            missing=params.missing, **facts,
        )  # fmt: skip
        return replace(model, threshold=self._threshold)

    def _on_training(self, plan: Plan) -> dict[str, Any]:
        key = (plan, self.measure)
        if key not in self._trained:
            self._trained[key] = self.judged(self.ground.rows, plan)[0]
        return self._trained[key]

    def judged(
        self, rows: Dataset, plan: Plan | None = None, measure: Measure | None = None
    ) -> tuple[dict[str, Any], str]:
        """The score of a state on rows, with its interval; and a digest of its predictions."""
        model, measure = self._model_of(self.plan if plan is None else plan), measure or self._measure
        truth, shares = rows.target_array, None
        if self.ground.params.task == CLASSES:
            truth, said = truth[:, 0].astype(np.int64), model.codes_of(rows.matrix)[:, 0]
            shares = model.shares_of(rows.matrix)[0] if measure.of_shares else None
        else:
            said = model.numbers_of(rows.matrix)
        score, low, high = measure.work(Predicted(truth, said, shares, rows.sample_weight))
        seen = np.ascontiguousarray(said if shares is None else shares)
        digest = hashlib.sha256(seen.tobytes()).hexdigest()[:8]
        return {"score": float(score), "low": low, "high": high, "n": len(rows)}, digest

    def _looks_given(self) -> int | list[str]:
        return self._n_before + len(self._looks) if self._n_before else list(self._looks)

    def _decided(self) -> dict[str, list[float]]:
        """The values by the rows of each decided leaf, by its path."""
        paths = [path for path, node in self.plan.nodes() if node.decision is not None and node.test is None]
        if not paths:
            return {}
        plan, ground = self.plan, self.ground
        for path in paths:
            plan = with_node_at(plan, path, replace(node_at(plan, path), decision=None))
        tree = tree_of(ground.problem, ground.policy, ground.whole, plan)
        # A leaf without rows has no decision to compare.
        numbers = {path: number_at(tree, written(path)) for path in paths}
        return {
            written(path): tree.value[at].tolist() for path, at in numbers.items() if at >= 0 and tree.n_samples[at]
        }


def read_saved(path: str) -> dict[str, Any]:
    """Read a saved session as ``to_dict`` returned it.

    Raises
    ------
    InputFileError
        It cannot be read, is not a session, or is one of a later version.
    """
    check_regular(FilePath(path))  # a pipe would be waited for
    try:
        document = json.loads(FilePath(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputFileError(f"{path}: cannot be read ({error})") from None
    if not isinstance(document, dict) or document.get("document") != "treewright session":
        raise InputFileError(f"{path}: is not a Treewright session")
    if document.get("version") != _FORMAT:
        raise InputFileError(f"{path}: is a session of version {document.get('version')!r}, expected {_FORMAT}")
    return document


def file_options(file: object, named: str) -> dict[str, Any]:
    """How the file of a saved session was read; InputFileError if that is damaged.

    Returns
    -------
    dict
        With all parameters of ``from_file``, None if not given.
    """
    full = {**dict.fromkeys(_TOLD), **file} if isinstance(file, Mapping) else {}
    if set(full) != set(_TOLD) or not isinstance(full["types"] or {}, Mapping):
        raise InputFileError(f"{named}: is damaged (how its file was read)")
    return full


def _declared_types(options: Mapping[str, Any]) -> dict[str, CellType]:
    """How the cells of the columns are read that the options declare by name; under "all" the cells decide."""
    kinds: tuple[tuple[Kind, CellType], ...] = (("nominal", "text"), ("ordinal", "text"), ("numeric", "number"))
    return {
        name: cells
        for kind, cells in kinds
        if options.get(kind) != ALL
        for name in listed_columns(kind, options.get(kind))
        if isinstance(name, str)
    }


def table_of(told: Mapping[str, Any]) -> Table:
    """The table of a file, read with the arguments ``told``."""
    reading = ReadOptions(**{name: told[name] for name in READING if told[name]})
    needed = [told["target"], *([told["weight"]] if told["weight"] else [])]
    return read_table(FilePath(told["path"]), reading, told["types"], tuple(told["drop"] or ()), needed)


def _parts_of_table(table: Table, told: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The columns without target and weights, the target, and the weights or None."""
    name, weight = told["target"], told["weight"]
    kept = rows_with_target(table.path, table.frame[name], table.place, skip=bool(told["skip_missing_target"]))
    if kept is not None:
        table = table.filter(kept)
    weights = None if weight is None else checked_weights(table.path, table.frame[weight], table.place)
    features = pick(table.frame, [each for each in table.frame.columns if each not in (name, weight)])
    if not features.width:
        raise DataError(f"{table.path}: no column is left besides the target")
    return features, as_whole(table.frame[name]), weights


def _check_noted(do: str, noted: Mapping[str, Any]) -> None:
    unknown = sorted(set(noted) - set(Noted.__annotations__))
    if unknown:
        raise TypeError(f"{do}() got an unexpected argument {unknown[0]!r}")


def _given(**words: Any) -> dict[str, Any]:
    """The arguments of a command that were given."""
    return {name: value for name, value in words.items() if value is not None}


def _digest_of(rows: Dataset) -> str:
    """A digest of the content and weights of the rows in any order."""
    contents = contents_of(rows)
    weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
    order = np.lexsort((weights, contents))
    found = hashlib.sha256(contents[order].tobytes() + weights[order].astype(np.float64).tobytes())
    for column in rows.schema.columns:
        found.update(repr((column.name, column.kind, column.levels)).encode("utf-8", "replace"))
    for labels in rows.classes or ():
        found.update(repr(labels.tolist()).encode("utf-8", "replace"))
    return f"{found.hexdigest()[:16]}-{len(rows)}"


def _only(levels: list[Any], known: set[Any]) -> list[Any]:
    """The levels, or lists of levels, that a column has."""
    kept = [_only(each, known) if isinstance(each, list) else each for each in levels]
    return [each for each in kept if isinstance(each, list) or each in known]


def _as_pairs(value: Any) -> Any:
    """A parameter for JSON, which has only texts as names: a mapping with other names as pairs."""
    if isinstance(value, dict) and not all(isinstance(name, str) for name in value):
        return {_PAIRS: [[name, each] for name, each in value.items()]}
    return value


def _of_pairs(value: Any) -> Any:
    return dict(value[_PAIRS]) if isinstance(value, dict) and set(value) == {_PAIRS} else value


def _threshold_of(rows: Dataset, cost: Any, threshold: Any, positive: Any) -> Threshold | None:
    """The decision threshold that is given, or that follows from the costs of two classes; else None.

    By costs a leaf predicts the positive class if its proportion p has fn p >= fp (1 - p) (Elkan 2001, "The foundations
    of cost-sensitive learning"). ``class_weight`` moves the proportions, and the threshold with them.
    """
    if not rows.classes:
        for name, value in (("cost", cost), ("threshold", threshold), ("positive", positive)):
            if value is not None:
                raise ParameterError(f"{name}={value!r} is for classes, and the target is a number: leave it out")
        return None
    labels = rows.classes[0].tolist()
    matrix = None if cost is None else cost_matrix(cost, labels, positive)
    if threshold is None and (matrix is None or len(labels) != 2):
        return None
    at = code_of_positive(rows.classes, positive)
    fp, fn = (0.0, 0.0) if matrix is None else (matrix[1 - at, at], matrix[at, 1 - at])
    why = ""
    if threshold is None and matrix is not None:
        saved_fp, saved_fn = fp - matrix[1 - at, 1 - at], fn - matrix[at, at]
        if min(saved_fp, saved_fn) < 0 or saved_fp + saved_fn == 0:
            raise ParameterError(f"cost={cost!r}: no threshold follows from costs by which a mistake costs less")
        of_classes = np.ones(2) if rows.class_factors is None else rows.class_factors[0]
        against, towards = saved_fp * of_classes[at], saved_fn * of_classes[1 - at]
        threshold, why = float(against / (against + towards)), f"least cost of fp={fp:g}, fn={fn:g}"
    found = threshold_given(rows.classes, threshold, labels[at], why)
    is_plain = matrix is not None and not matrix.diagonal().any()
    return replace(found, cost_each=(float(fp), float(fn))) if found is not None and is_plain else found


def _measures_of(rows: Dataset, cost: Any, positive: Any, class_weight: Any) -> tuple[dict[str, Measure], str]:
    """The measures of a target by name, and the name of the one by which the tree is chosen."""
    if not rows.classes:
        return MEASURES_OF_NUMBERS, "r2"
    labels = rows.classes[0].tolist()
    factors = None if rows.class_factors is None else rows.class_factors[0]
    matrix = None if cost is None else cost_matrix(cost, labels, positive)
    found = measures_of_classes(labels, positive=positive, cost=matrix, factors=factors)
    return found, own_choice(factors, class_weight, has_cost=cost is not None, is_classification=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _plain(value: Any) -> Any:
    """A value for JSON and scripts: NumPy's numbers and texts as Python's, sequences as lists."""
    if isinstance(value, dict):
        return {_plain(name): _plain(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(each) for each in value), key=lambda each: (type(each).__name__, str(each)))
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _holds_classes(y: Any) -> bool:
    values = np.asarray(y)
    if values.dtype.kind == "O" and len(values) and all(isinstance(each, Decimal) for each in values.ravel()):
        values = values.astype(float)
    return values.dtype.kind not in "iuf" or are_classes(values)


def _apart(
    whole: Dataset, given: np.ndarray, share: float, sealed: float, seed: int
) -> tuple[tuple[Dataset, Dataset | None, Dataset | None], list[np.ndarray]]:
    """The training rows, the held-out rows and the sealed rows; and their positions in the table."""
    parts: list[tuple[Dataset | None, np.ndarray]] = []
    # Shares: the first of all rows, the second of the remaining ones.
    for number, part in enumerate((sealed, share / (1.0 - sealed))):
        if not part:
            parts.append((None, given[:0]))
            continue
        aside = held_out(whole.target_array, names_of(whole), part, seed + number, by_class=bool(whole.classes))
        parts.append((whole.take(aside), given[aside]))
        whole, given = whole.take(~aside), given[~aside]
    return (whole, parts[1][0], parts[0][0]), [given, parts[1][1], parts[0][1]]
