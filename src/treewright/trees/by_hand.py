"""The marks that the workbench leaves in the facts of a model: names, locks, decisions and the log.

    facts["workbench"] = {
        "log": [{"do", "path", "given", "who", "why", "when"}, ...],
        "names": {path: text}, "locked": [path, ...],
        "decided": {path: [the tree's values by the rows]},
        "looks_at_held_out_rows": int, "sealed_rows": null or {"score", ..., "who", "when"},
    }

A path lists the branches that lead to a node, with dots between them. A file may hold anything here: entries that do
not fit the tree are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.trees.arrays import Tree
from treewright.trees.wording import BETWEEN
from treewright.trees.writing import escape_controls, shorten, written_amount, written_level, written_set

BY_HAND = "workbench"  # the name of the fact
WIDTH = 200
MOST_WORDS = 4  # the most levels and branches in a line of the log
MOST_DIGITS = 9  # of a branch in a path


@dataclass(frozen=True)
class Mark:
    """The marks of a node: its name, whether it is locked, and for a decided leaf its values by the rows."""

    name: str = ""
    locked: bool = False
    rows_say: tuple[float, ...] | None = None


@dataclass(frozen=True)
class LogLine:
    """A command in words."""

    words: str
    who: str
    when: str
    why: str


def noted(facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The workbench's entry in the facts; None if the tree was not grown by hand."""
    found = facts.get(BY_HAND)
    return found if isinstance(found, Mapping) else None


def marks_of(facts: Mapping[str, Any], tree: Tree) -> dict[int, Mark]:
    """The marks of nodes, by their numbers."""
    marks = noted(facts)
    if marks is None:
        return {}
    names, locked, decided = marks.get("names"), marks.get("locked"), marks.get("decided")
    found: dict[int, dict[str, Any]] = {}
    for path, name in names.items() if isinstance(names, Mapping) else ():
        found.setdefault(number_at(tree, path), {})["name"] = shorten(escape_controls(str(name)), WIDTH)
    for path in locked if isinstance(locked, Sequence) else ():
        found.setdefault(number_at(tree, path), {})["locked"] = True
    for path, values in decided.items() if isinstance(decided, Mapping) else ():
        if isinstance(values, Sequence) and len(values) == tree.value.shape[1] and all(map(_is_number, values)):
            found.setdefault(number_at(tree, path), {})["rows_say"] = tuple(map(float, values))
    return {node: Mark(**each) for node, each in found.items() if node >= 0}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and bool(np.isfinite(value))


def number_at(tree: Tree, path: object) -> int:
    """The number of the node at the end of a path of branches, such as ``"0.1"``; -1 if there is none."""
    node = 0
    for word in str(path).split(".") if path else ():
        branch = int(word) if word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS else -1
        if not 0 <= branch < tree.n_branches[node]:
            return -1
        node = int(tree.first_child[node]) + branch
    return node


def log_of(facts: Mapping[str, Any]) -> list[LogLine]:
    """The commands in words, in their order."""
    marks = noted(facts)
    log = marks.get("log") if marks is not None else None
    return [line_of(each) for each in log if isinstance(each, Mapping)] if isinstance(log, Sequence) else []


def line_of(command: Mapping[str, Any]) -> LogLine:
    """One command in words."""
    who, when, why = (shorten(escape_controls(str(command.get(name, ""))), WIDTH) for name in ("who", "when", "why"))
    return LogLine(shorten(escape_controls(_sentence(command)), WIDTH), who, when, why)


def _sentence(command: Mapping[str, Any]) -> str:
    do, path = str(command.get("do", "")), str(command.get("path", ""))
    held = command.get("given")
    given: Mapping[str, Any] = held if isinstance(held, Mapping) else {}
    where = f"node {path}" if path else "the root"
    if do in ("split", "move"):
        name = f"{written_level(given['column'])} " if "column" in given else ""
        return f"{do.capitalize()} {where}: {name}{words_of(given)}"
    if do == "grow":
        what = "all open leaves" if given.get("rest") else where
        if given.get("leaves") is not None:
            return f"Grow {what} by {_counted(given['leaves'], 'leaf', 'leaves')}, the best first"
        levels = given.get("levels")
        return f"Grow {what} " + ("to the end" if levels is None else f"by {_counted(levels, 'level', 'levels')}")
    if do == "prune" and given.get("leaves") is not None:
        return f"Prune {'the tree' if not path else where} to {_counted(given['leaves'], 'leaf', 'leaves')}"
    if do == "decide":
        value = given.get("value")
        return f"Decide {where}: {'by its rows' if value is None else written_level(value)}"
    if do == "rename":
        return f"Name {where}: {given['name']}" if given.get("name") else f"Remove the name of {where}"
    if do == "merge":
        branches = given.get("branches")
        listed = ", ".join(map(str, branches)) if isinstance(branches, Sequence) else ""
        return f"Merge branches {listed} of {where}"
    return f"{do.capitalize()} {where}"


def _counted(number: object, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def words_of(given: Mapping[str, Any]) -> str:
    """The words of a test: its cut, or its groups of levels."""
    cut, levels = given.get("cut"), given.get("levels")
    if isinstance(levels, list):
        if not levels:
            return "is missing"
        groups = levels if all(isinstance(each, list) for each in levels) else [levels]
        named = [written_set(own, max_levels=MOST_WORDS) for own in groups[:MOST_WORDS]]
        more = [f"... {len(groups) - MOST_WORDS} more"] if len(groups) > MOST_WORDS else []
        return BETWEEN.join([*named, *more])
    if cut is None:
        return "has a value"
    cuts = cut if isinstance(cut, list) else [cut]
    return "≤ " + ", ".join(
        written_amount(each, digits=6) if isinstance(each, float) else written_level(each) for each in cuts
    )
