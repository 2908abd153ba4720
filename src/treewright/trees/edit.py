"""New trees from old ones, and the marks that the workbench leaves in the facts of a model.

The marks are names, locks, decisions and the log:

    facts["workbench"] = {
        "log": [{"do", "path", "given", "who", "why", "when"}, ...],
        "names": {path: text}, "locked": [path, ...],
        "decided": {path: [the tree's values by the rows]},
        "looks_at_held_out_rows": int, "sealed_rows": null or {"score", ..., "who", "when"},
    }

A path lists the branches that lead to a node, with dots between them. A file may hold anything here: entries that do
not fit the tree are ignored.

An edit never changes its argument. Every result keeps what ``check_tree`` states: parents before children, siblings
side by side, fillers at leaves. The parts of side tables come out one after another in the order of the nodes; level
sets of surrogates follow those of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.core.jit import kernel
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.trees.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, SURROGATE_FIELDS, Tree
from treewright.trees.facts import BY_HAND
from treewright.trees.wording import BETWEEN
from treewright.trees.writing import escape_controls, shorten, written_amount, written_level, written_set

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


# Of a surrogate: what does not change with its place.
_COPIED = tuple(field for field in SURROGATE_FIELDS if field not in ("surrogate_node", "surrogate_level_set"))


def collapse(tree: Tree, nodes: Iterable[int] | npt.NDArray[np.integer]) -> Tree:
    """Turn inner nodes into leaves; the nodes below them are removed, and the others keep their order and contents.

    Leaves among the nodes, nodes below others of them and repetitions change nothing. ``tree`` itself if there is
    nothing to collapse.
    """
    leaf = tree.is_leaf.copy()
    leaf[_positions(tree, nodes)] = True
    if (leaf == tree.is_leaf).all():
        return tree
    # A node is removed if one of its ancestors became a leaf.
    gone = _some_ancestor(tree, leaf)
    return rebuild(tree, np.flatnonzero(~gone), leaf)


def subtree(tree: Tree, node: int) -> Tree:
    """The part of a tree from one node down, as a tree of its own; ``tree`` itself for node 0."""
    root = int(_positions(tree, [node])[0])
    if root == 0:
        return tree
    if tree.n_samples[root] == 0:
        raise ParameterError(f"node {root} is a leaf without training rows: it cannot be a tree of its own")
    return rebuild(tree, np.flatnonzero(is_below(tree, root)), tree.is_leaf)


def is_below(tree: Tree, node: int) -> npt.NDArray[np.bool_]:
    """Which nodes are ``node`` itself or below it."""
    marked = np.zeros(tree.n_nodes, bool)
    marked[_positions(tree, [node])] = True
    return marked | _some_ancestor(tree, marked)


def rebuild(tree: Tree, order: npt.NDArray[np.int64], leaf: npt.NDArray[np.bool_]) -> Tree:
    """Some nodes of a tree, in a given order, as a new tree; inner nodes keep their test and surrogates.

    Parameters
    ----------
    order : int64[k], k >= 1
        The nodes that stay, by their old positions and in their new order: the new root first, parents before their
        children, siblings side by side in the order of their branches; all children of a node that stays inner,
        none of one that becomes a leaf.
    leaf : bool[n_nodes]
        Which of the old nodes become or are leaves; leaves of ``tree`` are among them.
    """
    place = np.full(tree.n_nodes, -1, np.int64)
    place[order] = np.arange(len(order))
    ends = leaf[order]
    kind = np.where(ends, LEAF, tree.kind[order]).astype(np.uint8)
    # first_child is -1 at a leaf: any position may be read there, it is replaced.
    first_child = np.where(ends, -1, place[tree.first_child[order]])
    level_set = np.full(len(order), -1, np.int32)
    surrogates, surrogate_node = _kept_surrogates(tree, place, leaf)
    words, starts = _compact_words(tree, order, kind, surrogates)
    n_subsets = int((kind == SUBSET).sum())
    level_set[kind == SUBSET] = starts[:n_subsets]
    surrogate_level_set = np.full(len(surrogates), -1, np.int32)
    surrogate_level_set[tree.surrogate_level_set[surrogates] != -1] = starts[n_subsets:]
    entries, level_set[kind == MULTIWAY] = _compact(tree, order, kind, MULTIWAY, len(tree.level_branch))
    cuts, level_set[kind == INTERVALS] = _compact(tree, order, kind, INTERVALS, len(tree.cuts))
    return Tree(
        kind=kind,
        feature=np.where(ends, -1, tree.feature[order]).astype(np.int32),
        threshold=np.where(ends, 0.0, tree.threshold[order]),
        first_child=first_child.astype(np.int32),
        n_branches=np.where(ends, 0, tree.n_branches[order]).astype(np.int32),
        missing_branch=np.where(ends, 0, tree.missing_branch[order]).astype(np.int32),
        level_set=level_set,
        n_samples=tree.n_samples[order],
        weight=tree.weight[order],
        impurity=tree.impurity[order],
        value=tree.value[order],
        levels_left=tree.levels_left[words],
        levels_seen=tree.levels_seen[words],
        level_branch=tree.level_branch[entries],
        cuts=tree.cuts[cuts],
        surrogate_node=surrogate_node,
        surrogate_level_set=surrogate_level_set,
        **{field: getattr(tree, field)[surrogates] for field in _COPIED},
    )


def level_order(tree: Tree) -> npt.NDArray[np.int64]:
    """The nodes level by level, int64[n_nodes], each level in the order of its parents: an order for ``rebuild``."""
    level = np.zeros(1, np.int64)
    levels = [level]
    while True:
        level = level[~tree.is_leaf[level]]
        if not len(level):
            return np.concatenate(levels)
        counts = tree.n_branches[level].astype(np.int64)
        first = np.repeat(tree.first_child[level].astype(np.int64), counts)
        level = first + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        levels.append(level)


def with_complete_runs(tree: Tree, columns: Iterable[int], schema: Schema) -> Tree:
    """In columns split by runs of levels, send levels that a node never saw by their place in the order of codes.

    A level between one that goes left and one that goes right follows the nearer one, the lower of equally near.
    """
    nodes = np.flatnonzero((tree.kind == SUBSET) & np.isin(tree.feature, list(columns)))
    n_levels = np.array([len(column.levels) for column in schema.columns], np.int64)[tree.feature[nodes]]
    words = tree.levels_left.copy()
    complete_runs(tree.level_set[nodes].astype(np.int64), n_levels, tree.levels_seen.copy(), words)
    return replace(tree, levels_left=words)


@kernel
def complete_runs(starts: np.ndarray, n_levels: np.ndarray, seen: np.ndarray, left: np.ndarray) -> None:
    """Set the bits of levels that are not seen.

    Parameters
    ----------
    starts, n_levels : int64[k], IN
        Where each set begins, and the number of levels of its column.
    seen : uint64[n_words], IN
    left : uint64[n_words], IN and OUT
    """
    for at in range(len(starts)):
        start, v = starts[at], n_levels[at]
        last_left = last_right = first_left = first_right = -1
        for code in range(v):
            bit = np.uint64(1) << np.uint64(code & 63)
            word = start + (code >> 6)
            if seen[word] & bit == 0:
                continue
            if left[word] & bit:
                last_left = code
                first_left = code if first_left < 0 else first_left
            else:
                last_right = code
                first_right = code if first_right < 0 else first_right
        if first_left < 0 or first_right < 0:
            continue  # all levels that are present go one way, and missing cells the other way
        is_left_low = last_left < first_right
        cut = (last_left + first_right) >> 1 if is_left_low else (last_right + first_left) >> 1
        for code in range(v):
            bit = np.uint64(1) << np.uint64(code & 63)
            word = start + (code >> 6)
            if seen[word] & bit:
                continue
            if (code <= cut) == is_left_low:
                left[word] |= bit
            else:
                left[word] &= ~bit


def _positions(tree: Tree, nodes: Iterable[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Positions as int64, all of them in the tree; a negative one is refused, because it would count from the end."""
    given = nodes if isinstance(nodes, np.ndarray) else np.array(list(nodes))
    if given.size and (given.dtype.kind not in "iu" or given.ndim != 1):
        raise ParameterError(f"nodes must be a sequence of whole numbers, not {given.dtype} with {given.ndim} axes")
    bad = (given < 0) | (given >= tree.n_nodes)
    if bad.any():
        raise ParameterError(f"node {given[bad][0]} is not in the tree: its nodes are 0 to {tree.n_nodes - 1}")
    return given.astype(np.int64)


def _some_ancestor(tree: Tree, marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether some ancestor of each node is marked; O(n log depth) for any shape."""
    above = tree.parent.astype(np.int64)
    above[0] = 0
    found = marked[above]
    found[0] = False
    # Invariant: found[i] covers the nearest 2**k ancestors of i, above[i] is the one 2**k up (or the root).
    while above.any():
        found |= found[above]
        above = above[above]
    return found


def _kept_surrogates(
    tree: Tree, place: npt.NDArray[np.int64], leaf: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The surrogates of the nodes that stay inner, in the new order of their nodes, and those nodes."""
    kept = np.flatnonzero((place[tree.surrogate_node] >= 0) & ~leaf[tree.surrogate_node])
    nodes = place[tree.surrogate_node[kept]]
    by_node = np.argsort(nodes, kind="stable")  # stable: the order of preference within a node stays
    return kept[by_node], nodes[by_node].astype(np.int32)


def _compact_words(
    tree: Tree, order: npt.NDArray[np.int64], kind: npt.NDArray[np.uint8], surrogates: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The old position of each word of level sets that stays, and where the sets of nodes, then of surrogates begin."""
    all_sets = np.concatenate(
        [tree.level_set[tree.kind == SUBSET], tree.surrogate_level_set[tree.surrogate_level_set != -1]]
    )
    stand_in = tree.surrogate_level_set[surrogates]
    kept = np.concatenate([tree.level_set[order[kind == SUBSET]], stand_in[stand_in != -1]])
    return _closed_up(all_sets, kept, len(tree.levels_left))


def _compact(
    tree: Tree, order: npt.NDArray[np.int64], kind: npt.NDArray[np.uint8], which: int, n_cells: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The same for the table of the nodes of one kind."""
    return _closed_up(tree.level_set[tree.kind == which], tree.level_set[order[kind == which]], n_cells)


def _closed_up(
    starts: npt.NDArray[np.int32], kept: npt.NDArray[np.int32], n_cells: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Parts of a table without the gaps between them: the old position of each cell, and where each part begins.

    ``starts`` int32[n] is where each part begins; together they tile the table of ``n_cells``, so each ends where the
    next begins. ``kept`` are those that stay, in their new order.
    """
    old = np.sort(starts).astype(np.int64)
    counts = np.diff(old, append=n_cells)[np.searchsorted(old, kept)]
    begins = np.cumsum(counts) - counts
    return np.repeat(kept - begins, counts) + np.arange(counts.sum()), begins
