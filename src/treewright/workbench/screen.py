"""Requests of a screen to a session, and their answers. In: requests as plain JSON. Out: answers as plain JSON.

    a page of the server, or a widget of a notebook
      Desk.ask(request) -> answer      one at a time; an error is an answer too
        _ASKED[request["ask"]]         one function for each kind of request
          Session                      a command, or the questions of a node
        state_of                       the content of the screen: tree, log, figures
      Desk.tell(message)               to every screen: another state, progress of long work

A request that changes the session names the revision that its screen shows: if another screen has changed it since, the
request is refused, and the screen draws the current state.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from treewright.core import progress
from treewright.data.schema import Column
from treewright.exceptions import ParameterError, TreewrightError
from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.plan import Path, as_seen
from treewright.learn.params import CLASSES
from treewright.show.page.render import plain
from treewright.show.page.tree import NAME_WIDTH, columns_in_words, tree_part, without_paths
from treewright.trees.arrays import MULTIWAY, SUBSET
from treewright.trees.codec import dumps
from treewright.trees.edit import line_of, words_of
from treewright.trees.summary import counted
from treewright.trees.threshold import threshold_text
from treewright.trees.writing import shorten, written_level
from treewright.workbench.commands import leaf_counts
from treewright.workbench.plan import node_at, path_of, paths_of
from treewright.workbench.session import BareSession

MOST_NODES = 4001
N_BARS, MOST_CLASSES, MOST_LEVELS, MOST_WIDE = 48, 8, 200, 200
OTHERS = -1  # in place of the code of a class: all others
TOLD_EVERY = 0.15  # seconds between two reports of long work


class _StoppedError(Exception):
    """A screen has stopped long work."""


class Desk:
    """A session with its screens.

    ``save_to`` holds the session after every command. ``known`` is its content, if the session was made from it: a file
    with any other content is not overwritten. ``note`` is a note on the figures.
    """

    def __init__(
        self, session: BareSession, *, save_to: str | None = None, title: str = "", note: str = "",
        known: bytes | None = None,
    ) -> None:  # fmt: skip
        self.session, self.save_to, self.title, self.note = session, save_to, title, note
        self._begun = session.n_changes
        self._is_closing = False
        self._busy = session.lock_of_screens  # two desks, such as two cells of a notebook, take turns too
        self._stop = threading.Event()
        self._listeners: list[Callable[[dict[str, Any]], None]] = []
        self._last_told = 0.0
        self._saved = known if known is not None or save_to is None else session.written(save_to)
        self.is_saved = False
        self._n_saved = 0  # commands in the file
        self._why_not = ""

    @property
    def revision(self) -> int:
        """Number of changes of the session since the desk was made."""
        return self.session.n_changes - self._begun

    def listen(self, listener: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Add a listener to all messages; returns a function that removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to every screen."""
        for listener in list(self._listeners):
            with suppress(Exception):  # a screen that goes away, or cannot be drawn, does not affect the session
                listener(message)

    def ask(self, request: Any) -> dict[str, Any]:
        """Answer a request; ``{"error": text}`` if it does not fit."""
        sort = request.get("ask") if isinstance(request, dict) else None
        if not isinstance(sort, str) or sort not in _ASKED:
            return {"error": "this is not a request of the workbench"}
        if request["ask"] == "stop":
            self.stop()
            return {}
        with self._busy:
            if self._is_closing:
                return {"error": "The workbench has quit."}
            self._stop.clear()
            try:
                return _ASKED[request["ask"]](self, request)
            except _StoppedError:
                return {"error": "Stopped: nothing has changed."}
            except TreewrightError as error:
                return {"error": str(error)}
            except Exception as error:  # a request may be anything, and a screen without an answer waits for ever
                return {"error": f"this request is damaged ({error!r})"}

    def stop(self) -> None:
        """Stop long work at its next progress report."""
        self._stop.set()

    def settle(self) -> None:
        """Stop long work, wait until it has ended, and refuse further requests."""
        self._is_closing = True
        self.stop()
        with self._busy:
            pass

    def _heard(self, done: float, what: str) -> None:
        if self._stop.is_set():
            raise _StoppedError
        now = time.monotonic()
        if now - self._last_told >= TOLD_EVERY:
            self._last_told = now
            self.tell({"progress": done, "what": what})

    def changed(self, request: Mapping[str, Any], change: Callable[[], object]) -> dict[str, Any]:
        """Change the session, save it, and tell the other screens."""
        if request.get("revision") != self.revision:
            return {"error": "Another screen has changed this session: this is its current state.", **self.state()}
        with progress.listen(self._heard):  # work that is stopped here has changed nothing
            change()
        answer = self.state()
        self.tell({"revision": self.revision})
        return answer

    def save(self) -> dict[str, Any]:
        """Save the session to its file; an error is returned as a warning.

        A file that somebody else has changed is left as it is: from then on the session is saved next to it.
        """
        if self.save_to is None:
            return {}
        trouble = ""
        try:
            place = FilePath(self.save_to)
            if place.exists() and (self._saved is None or place.read_bytes() != self._saved):
                whose = "exists already" if self._saved is None else "was changed by somebody else"
                trouble = f"{place} {whose}, and is left as it is: "
                place = next(own for at in count(2) if not (own := place.with_name(f"{place.stem}-{at}.json")).exists())
                self.save_to = str(place)
                trouble += f"this session is saved in {place} from now on."
            self.session.save(self.save_to)
            self._saved = place.read_bytes()
        except (TreewrightError, OSError) as error:
            self.is_saved, self._why_not = False, str(error)
            return {"warning": f"The session could not be saved: {error}"}
        self.is_saved, self._n_saved = True, len(self.session.log)
        return {"warning": trouble} if trouble else {}

    def unsaved(self) -> str:
        """Save the session if the last time failed, and return what is still not saved and why; empty if nothing is."""
        if self.save_to is None or self.is_saved:
            return ""
        self.save()
        if self.is_saved:
            return ""
        n = len(self.session.log)
        lost = f"{counted(n - self._n_saved, 'command')} of {n}" if n > self._n_saved else "the last changes"
        return f"{lost} could not be saved: {self._why_not}"

    def bye(self) -> dict[str, Any]:
        """The message to screens when the workbench quits."""
        return {"bye": True, "saved": self.save_to if self.is_saved else ""}

    def export(self, kind: str) -> tuple[str, bytes, str]:
        """A file of the session: its name, its bytes, its type. A report is a look at the held-out rows."""
        with self._busy:
            seen = self.session.n_looks
            found = exported(self, kind)
            if self.session.n_looks != seen:
                self.save()
                self.tell({"again": True})
        return found

    def state(self) -> dict[str, Any]:
        """The content of a screen; it may be a look at the held-out rows, so the session is saved afterwards."""
        state = state_of(self)
        trouble = self.save()
        return {"state": {**state, "is_saved": self.is_saved}, **trouble}


# The state.


def state_of(desk: Desk) -> dict[str, Any]:
    """The content of a screen: the tree with the paths of its nodes, the log, figures."""
    session = desk.session
    model, plan = session.model, session.plan
    tree = model.trees[0]
    part = without_paths(tree_part(model, max_nodes=MOST_NODES, has_rules=False))
    is_leaf_at, sizes = leaf_counts(tree, plan, ())
    ids = [node.id for node in part.nodes]
    paths = paths_of(tree, max(ids) + 1)
    return {
        "revision": desk.revision,
        "title": desk.title,
        "labels": [written_level(label) for label in model.classes[0]] if model.classes else [],
        "tree": plain(part),
        "paths": {str(node_id): paths[node_id] for node_id in ids},
        "columns": plain(_columns_alone(session)),
        "leaf_at": {str(node_id): int(is_leaf_at[node_id]) for node_id in ids if is_leaf_at[node_id]},
        "sizes": sizes.tolist(),
        "log": [plain(line_of(command.plain())) for command in (*session.log, *session.undone)],
        "at": len(session.log),
        "figures": plain(session.figures(look=session.looks_always and not session.opened)),
        "measures": [
            {"name": each.name, "words": each.words, "less_is_better": each.sign < 0}
            for each in session.measures.values()
        ],
        "looks_always": session.looks_always,
        "has_held_out": session.has_held_out,
        "n_held_out": len(session.rows_held_out),
        "sealed": session.n_sealed,
        "opened": plain(session.opened),
        "note": desk.note,
        "decides": threshold_text(model.threshold, model.classes),
        "who": session.who,
    }


def _columns_alone(session: BareSession) -> list[Any]:
    """The columns with their names and kinds; with levels only for ordinal columns."""
    return [
        replace(words, levels=words.levels if words.kind == "ordinal" else ())
        for words in columns_in_words(session.ground.rows.schema)
    ]


# What a node could ask.


def _candidates(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """The possible questions of a node, and its current one with its cost."""
    session, path = desk.session, str(request["path"])
    at = path_of(path)
    node = node_at(session.plan, at)
    found = session.candidates(path)
    columns = session.ground.columns
    told = [_described_candidate(session, each) for each in found[:MOST_WIDE]]
    asked = None
    if node.test is not None:
        weighed = session.ground.weighed(session.plan, at, node.test)
        asked = {**weighed, "column": node.test.feature}
    offered = {each["column"] for each in told}
    return {
        "candidates": plain(told), "asked": plain(asked),
        "others": [at for at in range(len(columns)) if at not in offered and not columns[at].left_out][:MOST_WIDE],
    }  # fmt: skip


def _described_candidate(session: BareSession, told: Mapping[str, Any]) -> dict[str, Any]:
    cut = told.get("cut")
    return {
        "column": session.ground.column(told["column"]),
        "words": shorten(words_of(told), NAME_WIDTH),
        "cut": cut if isinstance(cut, int | float) else None,
        **{name: told[name] for name in ("gain", "cost", "adjusted_p_value", "log_worth")},
    }


def _column(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """The distribution of a column in the rows of a node, and where the current question divides it."""
    session, path = desk.session, str(request["path"])
    at, feature = path_of(path), int(request["column"])
    column = session.ground.columns[feature]
    node = node_at(session.plan, at)
    instances = session.ground.at(session.plan, at)
    cells = session.ground.problem.values[feature, instances.rows]
    present = ~np.isnan(cells)
    target = session.ground.rows.target_array[instances.rows, 0]
    drawn = _levels if column.kind == "nominal" else _bars
    base = _base_of(session, at, feature)
    if base is not None:
        base = as_seen(session.ground.problem, instances, base)
    picture = {
        **drawn(session, column, cells[present], target[present], instances.weights[present], base),
        "column": feature, "kind": column.kind, "missing": int((~present).sum()),
        "is_asked": node.test is not None and node.test.feature == feature,
        "missing_goes": None if base is None else session.ground.told(base).get("missing"),
    }  # fmt: skip
    return {"picture": plain(picture)}


def _base_of(session: BareSession, path: Path, feature: int) -> Candidate | None:
    """The question of a node about a column, or the best possible one; None if there is none."""
    asked, name = node_at(session.plan, path).test, session.ground.columns[feature].name
    if asked is not None and asked.feature == feature:
        return asked
    told = next((each for each in session.ground.candidates(session.plan, path) if each["column"] == name), None)
    return None if told is None else session.ground.test_of(session.plan, path, feature, {**told, "empty": True})


def _groups(session: BareSession, target: np.ndarray, weights: np.ndarray, bars: np.ndarray, n: int) -> dict[str, Any]:
    """The content of each bar: weights of the most frequent classes, or for regression weight and mean."""
    if session.ground.params.task != CLASSES:
        held = np.bincount(bars, weights, minlength=n)
        sums = np.bincount(bars, weights * target, minlength=n)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"codes": [None], "counts": [held.tolist()], "means": (sums / held).tolist()}
    n_classes = len(session.ground.rows.classes[0])
    whole = np.bincount(session.ground.rows.target_array[:, 0].astype(np.int64), minlength=n_classes)
    codes = sorted(np.argsort(-whole, kind="stable")[:MOST_CLASSES].tolist())
    place = np.full(n_classes, len(codes))
    place[codes] = np.arange(len(codes))
    counts = np.zeros((len(codes) + 1, n))
    np.add.at(counts, (place[target.astype(np.int64)], bars), weights)
    if n_classes > len(codes):
        return {"codes": [*codes, OTHERS], "counts": counts.tolist(), "means": None}
    return {"codes": codes, "counts": counts[:-1].tolist(), "means": None}


def _bars(
    session: BareSession,
    column: Column,
    cells: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray,
    base: Candidate | None,
) -> dict[str, Any]:
    """Bars of a numeric or ordinal column: one for each value if they are few, else of equal width."""
    values = np.unique(cells)
    held = values[np.isfinite(values)]
    if len(values) <= N_BARS:  # a bar of one width for each value, and cuts between them
        edges = np.arange(max(len(held), 1) + 1.0)
        at = np.searchsorted(held, cells, side="left") if len(held) else np.zeros(len(cells), np.int64)
        at = np.minimum(at, max(len(held) - 1, 0))
    else:
        low, high = np.quantile(cells[np.isfinite(cells)], [0.005, 0.995])
        low, high = (float(low), float(high)) if high > low else (float(held[0]), float(held[-1]))
        edges = 2.0 * np.linspace(low / 2, high / 2, N_BARS + 1)
        at = np.clip(np.searchsorted(edges, cells, side="left") - 1, 0, N_BARS - 1)
    n = len(edges) - 1
    cuts = np.empty(0)
    if base is not None:
        cuts = base.cuts if len(base.cuts) else np.array([base.threshold])
    names = [written_level(level) for level in column.levels] if column.kind == "ordinal" else []
    return {
        "edges": edges.tolist(), "ends": [float(held[0]), float(held[-1])] if len(held) else [0.0, 1.0],
        "cuts": [float(cut) for cut in cuts if np.isfinite(cut)],
        "is_whole": bool(len(held)) and bool((held == np.rint(held)).all()), "names": names,
        "values": held.tolist() if len(values) <= N_BARS else [], **_groups(session, target, weights, at, n),
    }  # fmt: skip


def _levels(
    session: BareSession,
    column: Column,
    cells: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray,
    base: Candidate | None,
) -> dict[str, Any]:
    """A bar for each level of the node, or for the heaviest of many, ordered by their target."""
    n_levels = len(column.levels)
    codes = np.minimum(cells.astype(np.int64), n_levels)
    held = np.bincount(codes, weights, minlength=n_levels + 1)[:n_levels]
    present = np.flatnonzero(held > 0)
    shown = present[np.argsort(-held[present], kind="stable")[:MOST_LEVELS]]
    # By the share of the last class, or the mean, as in the search for the best split.
    towards = (target == target.max() if len(target) else target) if session.ground.params.task == CLASSES else target
    means = np.bincount(codes, weights * towards, minlength=n_levels + 1)[shown] / held[shown]
    shown = shown[np.argsort(means, kind="stable")]
    place = np.full(n_levels + 1, len(shown))
    place[shown] = np.arange(len(shown))
    branches, n_branches = _branches_of(base, n_levels)
    groups = _groups(session, target, weights, place[codes], len(shown) + 1)
    names = [shorten(written_level(column.levels[code]), NAME_WIDTH) for code in shown.tolist()]
    return {
        "levels": [
            {"code": code, "name": name, "branch": branch}
            for code, name, branch in zip(shown.tolist(), names, branches[shown].tolist(), strict=True)
        ],
        "n_branches": n_branches, "n_others": len(present) - len(shown), **groups,
    }  # fmt: skip


def _branches_of(base: Candidate | None, n_levels: int) -> tuple[np.ndarray, int]:
    """The branch of each level under a test, and the number of branches with levels."""
    if base is None or base.kind not in (SUBSET, MULTIWAY):
        return np.ones(n_levels, np.int64), 2
    branch_of = base.branch_of[:n_levels]
    branch_of = np.where(branch_of < 0, ~branch_of, branch_of)
    return branch_of, 2 if base.kind == SUBSET else int(branch_of.max(initial=1)) + 1


def _given(desk: Desk, request: Mapping[str, Any], path: str) -> dict[str, Any]:
    """A question as ``split`` takes it, from a request with codes of levels and the branches they moved to."""
    session, feature = desk.session, int(request["column"])
    column = session.ground.columns[feature]
    given: dict[str, Any] = {"column": column.name}
    if request.get("missing") is not None:
        given["missing"] = request["missing"]
    if column.kind != "nominal":
        cut = request.get("cut")
        if column.kind == "ordinal" and isinstance(cut, int | float):
            cut = column.levels[min(max(int(np.floor(cut)), 0), len(column.levels) - 1)]
        return {**given, "cut": cut} if cut is not None else given
    base = _base_of(session, path_of(path), feature)
    branches, n_branches = _branches_of(base, len(column.levels))
    branches = branches.copy()
    for code, branch in dict(request.get("moved") or {}).items():
        if not 0 <= int(branch) < n_branches:
            raise ParameterError(f"there is no branch {branch}")
        branches[int(code)] = int(branch)
    lists = [[column.levels[code] for code in np.flatnonzero(branches == at).tolist()] for at in range(n_branches)]
    return {**given, "levels": lists if base is not None and base.kind == MULTIWAY else lists[0]}


def _question(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """The gain of a question, without asking it."""
    path = str(request["path"])
    given = _given(desk, request, path)
    return {"question": plain(desk.session.question(path, given.pop("column"), **given))}


def _audit(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """The arithmetic, as text."""
    session, path = desk.session, str(request["path"])
    # A node is named by its path on the screen; the audit knows its number.
    text = str(session.audit(path)).partition(",")[2]
    return {"text": f"Node {path}," * bool(path) + "Root," * (not path) + text}


# What changes the session.


def _do(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """Do a command."""
    session, do, path = desk.session, str(request["do"]), str(request["path"])
    given = dict(request.get("given") or {})
    if do in ("split", "move") and "column" in given:
        given = _given(desk, given, path)
        if do == "move":
            given.pop("column")
    if do == "decide" and session.ground.rows.classes and given["value"] is not None:
        given["value"] = session.ground.rows.classes[0].tolist()[int(given["value"])]

    def change() -> None:
        if isinstance(request.get("who"), str):
            session.who = request["who"]
        session.command(do, path, given, why=str(request.get("why") or ""))

    return desk.changed(request, change)


def _look(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """Look at the held-out rows now, or switch looks after every step on or off."""
    if "always" in request:
        desk.session.looks_always = bool(request["always"])
    else:
        desk.session.held_out()
    desk.tell({"again": True})
    return desk.state()


def _measure(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """Judge the tree by another measure."""
    desk.session.measure = str(request["name"])
    desk.tell({"again": True})
    return desk.state()


def _compare(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    """Compare a saved session, replayed on these rows, with this one."""
    session = desk.session
    with progress.listen(desk._heard):
        other = type(session).from_dict(dict(request["document"]), *session._table, named="that session")
    found = session.compare(other)
    # Both by the measure of this session, each on its own training rows.
    scores = [each.judged(each.ground.rows, measure=session.measures[session.measure])[0] for each in (session, other)]
    sides = {side: [line_of(command.plain()).words for command in found[side]] for side in ("here", "there")}
    return {"compared": plain({**found, **sides, "scores": scores})}


def _export(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    name, body, kind = desk.export(str(request["kind"]))
    return {"name": name, "type": kind, "base64": base64.b64encode(body).decode("ascii")}


def exported(desk: Desk, kind: str) -> tuple[str, bytes, str]:
    """A file of the session: its name, its bytes, its type."""
    session = desk.session
    stem = FilePath(desk.save_to or "tree").name.removesuffix(".json").removesuffix(".session")
    if kind == "model":
        return f"{stem}.tw", dumps(session.model), "application/octet-stream"
    if kind == "script":
        return f"{stem}.py", session.script().encode(), "text/x-python"
    if kind == "session":
        text = json.dumps(session.to_dict(), indent=1, ensure_ascii=False)
        return f"{stem}.session.json", text.encode(), "application/json"
    if kind == "picture":
        return f"{stem}.svg", session.model.plot().text.encode(), "image/svg+xml"
    if kind == "report":
        return f"{stem}.html", session.report().html.encode(), "text/html"
    raise ParameterError(f"there is no file {kind!r}: choose model, script, session, picture or report")


_ASKED: dict[str, Callable[[Desk, Mapping[str, Any]], dict[str, Any]]] = {
    "state": lambda desk, _: desk.state(),
    "candidates": _candidates,
    "column": _column,
    "question": _question,
    "audit": _audit,
    "do": _do,
    "undo": lambda desk, request: desk.changed(request, desk.session.undo),
    "redo": lambda desk, request: desk.changed(request, desk.session.redo),
    "go_to": lambda desk, request: desk.changed(request, lambda: desk.session.go_to(request["n"])),
    "open_sealed": lambda desk, request: desk.changed(
        request, lambda: desk.session.open_sealed(why=str(request.get("why") or ""))
    ),
    "look": _look,
    "measure": _measure,
    "compare": _compare,
    "export": _export,
    "stop": lambda desk, _: {},  # noqa: ARG005 - answered before this
}
