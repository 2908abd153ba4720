"""Trees of ``ai.onnx.ml``, as onnxruntime runs them. In: the attributes of the operators. Out: ``ForeignTree`` objects.

Both forms (``TreeEnsemble`` of version 5; the parallel lists of version 3) become an ``Ensemble``: tests, with branches
to tests or leaves. The nodes need not form a tree: a node that several branches lead to is copied for each, within a
limit; tests of one column of levels that lead to one node are one set. A numeric column that is only tested for
equality with whole numbers has those as its levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from treewright.exceptions import InputFileError
from treewright.importing.trees import ForeignTree, cut_of_float32

_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER = range(7)
_MODES = {name: mode for mode, name in enumerate(("LEQ", "LT", "GTE", "GT", "EQ", "NEQ"))}
_LEAF = -1  # of the modes of nodes of version 3
_MOST_COPIES = 16  # as many nodes as the file has, and so many more ...
_LEAST_COPIES = 100_000  # ... where it has few
_MOST_NUMBERS = 1 << 27  # in leaves; and levels of all sets
_MOST_LOOKUPS = 64  # tests in a row that make a column for other trees; our writer bisects, and needs about 20

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # of leaves: where each begins, targets, numbers


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell that trees test.

    ``said`` holds the numbers that trees see of a column of levels: one for each level, for an unknown level, and for a
    missing cell. None: a number, unchanged or rounded to float32.
    """

    column: int
    is_float32: bool
    said: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Tests of trees. A way is the position of a test, or ``~`` the position of a leaf."""

    cells: tuple[Cell, ...]
    mode: np.ndarray
    cell: np.ndarray
    split: np.ndarray
    tracks: np.ndarray
    true: np.ndarray
    false: np.ndarray
    sets: Mapping[int, np.ndarray]
    n_leaves: int


@dataclass(frozen=True, eq=False)
class Part:
    """A tree and the values of its leaves: entries ``starts[leaf]`` to ``starts[leaf + 1]`` are targets and numbers.

    With a ``table``, a leaf holds the number of a row, which is added to the targets from ``first``.
    """

    ensemble: Ensemble
    root: int
    starts: np.ndarray
    targets: np.ndarray
    numbers: np.ndarray
    table: np.ndarray | None = None
    own: int = 0
    first: int = 0


def numbers_of(onnx: Any, said: Mapping[str, Any], name: str, dtype: Any = np.float64) -> np.ndarray:
    """The numbers of an attribute, a list or a tensor."""
    found = said.get(name, said.get(f"{name}_as_tensor", ()))
    if isinstance(found, onnx.TensorProto):
        if found.data_location == onnx.TensorProto.EXTERNAL:
            raise InputFileError(f"{name} is in another file: save the model as one file")
        found = onnx.numpy_helper.to_array(found).ravel()
    return np.asarray(found).astype(dtype)


def check_within(places: np.ndarray, n: int, what: str) -> None:
    """Refuse positions outside 0 to n - 1."""
    if len(places) and (int(places.min()) < 0 or int(places.max()) >= n):
        raise InputFileError(f"{what} from {places.min()} to {places.max()}, but there are {n}")


def _same_length(name: str, *arrays: np.ndarray) -> None:
    if len({len(array) for array in arrays}) != 1:
        raise InputFileError(
            f"lists of {name} have different lengths: {', '.join(str(len(array)) for array in arrays)}"
        )


def version_5(
    onnx: Any, cells: tuple[Cell, ...], said: dict[str, Any], kind: str
) -> tuple[Ensemble, np.ndarray, Entries]:
    """Tests, roots and entries of leaves of a ``TreeEnsemble``."""
    del kind
    ints = {
        key: numbers_of(onnx, said, key, np.int64)
        for key in (
            "nodes_modes", "nodes_featureids", "nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids",
            "nodes_falseleafs", "leaf_targetids", "tree_roots",
        )
    }  # fmt: skip
    split, weights = numbers_of(onnx, said, "nodes_splits"), numbers_of(onnx, said, "leaf_weights")
    tracks = numbers_of(onnx, said, "nodes_missing_value_tracks_true", np.int64)
    n, n_leaves, modes = len(split), len(weights), ints["nodes_modes"]
    tracks = tracks if len(tracks) else np.zeros(n, np.int64)
    _same_length("nodes", split, tracks, *(ints[key] for key in ints if key.startswith("nodes_")))
    _same_length("leaves", weights, ints["leaf_targetids"])
    check_within(modes, 7, "modes")
    check_within(ints["tree_roots"], n, "roots")
    ways = []
    for side in ("true", "false"):
        ids, is_leaf = ints[f"nodes_{side}nodeids"], ints[f"nodes_{side}leafs"] != 0
        check_within(ids[is_leaf], n_leaves, "branches to leaves")
        check_within(ids[~is_leaf], n, "branches to nodes")
        ways.append(np.where(is_leaf, ~ids, ids))
    members = numbers_of(onnx, said, "membership_values")
    ends = np.flatnonzero(np.isnan(members)).tolist()
    own = [members[begin + 1 : end] for begin, end in pairwise([-1, *ends, len(members)])]
    asked = np.flatnonzero(modes == _MEMBER).tolist()
    if len(own) not in (len(asked), len(asked) + 1) or any(len(last) for last in own[len(asked) :]):
        raise InputFileError(f"{len(asked)} nodes test for members of sets, but membership_values has {len(own)} sets")
    sets = dict(zip(asked, own, strict=False))
    ensemble = Ensemble(cells, modes, ints["nodes_featureids"], split, tracks != 0, ways[0], ways[1], sets, n_leaves)
    check_within(ensemble.cell, len(cells), "columns of tests")
    return ensemble, ints["tree_roots"], (np.arange(n_leaves + 1), ints["leaf_targetids"], weights)


def version_3(
    onnx: Any, cells: tuple[Cell, ...], said: dict[str, Any], kind: str
) -> tuple[Ensemble, np.ndarray, Entries]:
    """The same of a ``TreeEnsembleRegressor`` (``kind="target"``) or ``TreeEnsembleClassifier`` (``"class"``).

    Each node has a position among the tests and one among the leaves, and uses one of them.
    """
    names = ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
    tree, node, column, true_id, false_id = (numbers_of(onnx, said, name, np.int64) for name in names)
    split, n = numbers_of(onnx, said, "nodes_values"), len(tree)
    tracks = numbers_of(onnx, said, "nodes_missing_value_tracks_true", np.int64)
    tracks = tracks if len(tracks) else np.zeros(n, np.int64)
    known = {b"LEAF": _LEAF} | {b"BRANCH_" + name.encode(): mode for name, mode in _MODES.items()}
    texts = said["nodes_modes"]
    if set(texts) - set(known):
        raise InputFileError(f"nodes of mode {min(set(texts) - set(known)).decode(errors='replace')!r} are not known")
    modes = np.array([known[text] for text in texts], np.int64)
    _same_length("nodes", tree, node, column, true_id, false_id, split, tracks, modes)
    place_of = dict(zip(zip(tree.tolist(), node.tolist(), strict=True), range(n), strict=True))
    if len(place_of) != n:
        raise InputFileError("a node occurs twice")
    is_leaf = modes == _LEAF
    ways = [np.zeros(n, np.int64), np.zeros(n, np.int64)]
    for ids, found in zip((true_id, false_id), ways, strict=True):
        for at in np.flatnonzero(~is_leaf).tolist():
            place = place_of.get((int(tree[at]), int(ids[at])))
            if place is None:
                raise InputFileError(f"node {node[at]} of tree {tree[at]} leads to a missing node, {ids[at]}")
            found[at] = ~place if is_leaf[place] else place
    is_reached = np.zeros(n, bool)
    for found in ways:
        is_reached[np.where(found < 0, ~found, found)[~is_leaf]] = True
    is_reached[np.flatnonzero(np.concatenate([[True], tree[1:] != tree[:-1]]) if n else [])] = True
    if not is_reached.all():
        at = int(np.argmin(is_reached))
        raise InputFileError(f"no branch leads to node {node[at]} of tree {tree[at]}, which is not the first")
    own = (numbers_of(onnx, said, f"{kind}_{name}", np.int64) for name in ("treeids", "nodeids", "ids"))
    of_tree, of_node, targets = own
    weights = numbers_of(onnx, said, f"{kind}_weights")
    _same_length("leaves", of_tree, of_node, targets, weights)
    leaf_of = [place_of.get(key, -1) for key in zip(of_tree.tolist(), of_node.tolist(), strict=True)]
    leaf = np.array(leaf_of, np.int64)
    if len(leaf) and (leaf.min() < 0 or not is_leaf[leaf].all()):
        raise InputFileError("a node that is not a leaf has a value")
    if len(set(zip(leaf_of, targets.tolist(), strict=True))) < len(leaf):
        raise InputFileError("a leaf has two numbers for one target, of which onnxruntime uses the last: not read")
    order = np.argsort(leaf, kind="stable")
    starts = np.searchsorted(leaf[order], np.arange(n + 1))
    if not n:
        raise InputFileError("there are no trees")
    check_within(column[~is_leaf], len(cells), "columns of tests")
    ensemble = Ensemble(cells, modes, np.where(is_leaf, 0, column), split, tracks != 0, ways[0], ways[1], {}, n)
    roots = np.flatnonzero(np.concatenate([[True], tree[1:] != tree[:-1]]))
    return ensemble, np.where(is_leaf[roots], ~roots, roots), (starts, targets[order], weights[order])


def _goes_true(ensemble: Ensemble, test: int, said: np.ndarray, is_float32: bool) -> np.ndarray:
    """Whether a test is true, bool[n], for a cell with each of n numbers. A missing cell is unequal to all numbers."""
    mode, split = int(ensemble.mode[test]), ensemble.split[test]
    members = ensemble.sets.get(test)
    if is_float32:
        said, split = said.astype(np.float32), np.float32(split)
        members = None if members is None else members.astype(np.float32)
    missing = np.isnan(said)
    if members is not None:
        holds = np.isin(said, members)
    else:
        compared = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)[mode]
        holds = compared(said, split)
    return np.where(missing, ensemble.tracks[test] | (mode == _NEQ), holds)


def answers_by_level(part: Part) -> tuple[Cell | None, tuple[int, np.ndarray]]:
    """The only column of levels that a tree tests, its target, and its value for each level; None if it tests more."""
    ensemble, found = part.ensemble, None
    waiting, seen, leaves = [part.root], set(), []
    while waiting:
        way = waiting.pop()
        if way < 0:
            leaves.append(~way)
        elif way not in seen:
            seen.add(way)
            cell = ensemble.cells[ensemble.cell[way]]
            if cell.said is None or (
                found is not None and (found.column != cell.column or cell.said is not found.said)
            ):
                return None, (0, np.empty(0))
            found = cell
            waiting += [int(ensemble.true[way]), int(ensemble.false[way])]
    targets = {int(part.targets[part.starts[leaf]]) for leaf in leaves}
    if (
        found is None
        or found.said is None
        or len(targets) != 1
        or any(part.starts[leaf + 1] - part.starts[leaf] != 1 for leaf in leaves)
    ):
        return None, (0, np.empty(0))
    ways = np.full(len(found.said), part.root)
    for _ in range(_MOST_LOOKUPS):
        for test in np.unique(ways[ways >= 0]).tolist():
            here = ways == test
            goes = _goes_true(ensemble, test, found.said[here], found.is_float32)
            ways[here] = np.where(goes, ensemble.true[test], ensemble.false[test])
    if (ways >= 0).any():
        return None, (0, np.empty(0))
    return found, (targets.pop(), part.numbers[part.starts[~ways]])


def whole_numbers_asked(ensembles: Sequence[Ensemble]) -> dict[int, np.ndarray]:
    """The whole numbers, ascending, of numeric columns that are only tested for equality with whole numbers."""
    asked: dict[int, set[float]] = {}
    beyond: set[int] = set()
    for ensemble in ensembles:
        columns = np.array([cell.column if cell.said is None else -1 for cell in ensemble.cells])[ensemble.cell]
        inner = (ensemble.mode >= 0) & (columns >= 0)
        beyond |= set(columns[inner & (ensemble.mode < _EQ)].tolist())
        for test in np.flatnonzero(inner & (ensemble.mode >= _EQ)).tolist():
            values = ensemble.sets.get(test, ensemble.split[test : test + 1])
            asked.setdefault(int(columns[test]), set()).update(values.tolist())
    return {
        column: np.array(sorted(values))
        for column, values in asked.items()
        if column not in beyond and values and all(abs(each) < 2**24 and each == int(each) for each in values)
    }


@dataclass
class _Room:
    """The numbers of nodes and of levels in their sets that all trees may still have."""

    nodes: int
    levels: int = _MOST_NUMBERS

    def spend(self, nodes: int, levels: int) -> None:
        """Subtract nodes and levels; refuse more than there is room for."""
        self.nodes -= nodes
        self.levels -= levels
        if min(self.nodes, self.levels) < 0:
            raise InputFileError(
                "copies of nodes that several branches lead to, or sets of many levels, make too many nodes"
            )


def _unrolled(root: int, plan: _Plan) -> tuple[ForeignTree, np.ndarray]:
    """A tree without values, and int[n] the leaf of each of its nodes (-1 for tests)."""
    left: list[int] = []
    columns, cuts, missing, leaf_of, unseen = [], [], [], [], []
    sets: dict[int, np.ndarray] = {}
    waiting: list[tuple[Any, int, bool]] = [(root, -1, False)]
    right: list[int] = []
    while waiting:
        way, parent, is_left = waiting.pop()
        at = len(left)
        plan.room.spend(1, 0)
        if parent >= 0:
            (left if is_left else right)[parent] = at
        test = plan.test(way)
        left.append(-1)
        right.append(-1)
        leaf_of.append(test if isinstance(test, int) else -1)
        column, cut, tracks, goes, one, other = (0, 0.0, False, None, 0, 0) if isinstance(test, int) else test
        columns.append(column)
        cuts.append(cut)
        missing.append(tracks)
        unseen.append(goes is not None and bool(goes[-2]))
        if goes is not None:
            sets[at] = np.flatnonzero(goes[:-2])
        if not isinstance(test, int):
            waiting += [(other, at, False), (one, at, True)]
    tree = ForeignTree(
        np.array(left), np.array(right), np.array(columns), np.array(cuts), np.array(missing, bool), np.empty(0),
        levels=sets, unseen_left=np.array(unseen, bool),
    )  # fmt: skip
    return tree, np.array(leaf_of)


_Test = tuple[int, float, bool, np.ndarray | None, Any, Any]  # column, cut, missing left, goes left, ways


class _Plan:
    """The tests of an ensemble as ours: threshold tests, or subset tests of levels."""

    def __init__(self, ensemble: Ensemble, levels: Mapping[int, np.ndarray], room: _Room) -> None:
        self.ensemble, self.room = ensemble, room
        self.levels = {column: np.array([*own, np.inf, np.nan]) for column, own in levels.items()}
        cells, mode, split = ensemble.cells, ensemble.mode, ensemble.split
        is_32 = np.array([cell.is_float32 for cell in cells], bool)[ensemble.cell]
        rounded = split.astype(np.float32)
        self.up_to = np.where(is_32, cut_of_float32(rounded, strict=False), split)
        lowest = np.isneginf(split)
        self.below = np.nextafter(split, -np.inf)
        self.below[is_32 & ~lowest] = cut_of_float32(rounded[is_32 & ~lowest], strict=True)
        # Nothing is below minus infinity: all present values take the other branch.
        self.below[lowest] = np.inf
        self.flips = np.isin(mode, (_GTE, _GT)) ^ (lowest & np.isin(mode, (_LT, _GTE)))
        self.bad = np.isnan(split) & np.isin(mode, (_LEQ, _LT, _GTE, _GT, _EQ, _NEQ))

    def test(self, way: Any) -> int | _Test:
        """The leaf or the test that a way leads to.

        A way may also be a step of the test whether a number is one of several: (test, values, whether it is below the
        first of them or equal to it).
        """
        ensemble = self.ensemble
        if isinstance(way, tuple):
            return self._equal(*way)
        n_steps = 0
        while way >= 0 and ensemble.true[way] == ensemble.false[way]:
            way, n_steps = int(ensemble.true[way]), n_steps + 1
            if n_steps > len(ensemble.mode):
                raise InputFileError("the nodes of a tree form a cycle")
        if way < 0:
            return ~way
        cell, mode = ensemble.cells[ensemble.cell[way]], int(ensemble.mode[way])
        if self.bad[way]:
            raise InputFileError("a test has nan as its threshold")
        said = self.said(cell)
        if said is not None:
            return self._set(way, cell, said)
        if mode >= _EQ:
            values = ensemble.sets[way] if mode == _MEMBER else ensemble.split[way : way + 1]
            return self._equal(way, sorted({*values.tolist()}), False)
        strict, flips = mode in (_LT, _GTE), bool(self.flips[way])
        ways = int(ensemble.true[way]), int(ensemble.false[way])
        cut = float((self.below if strict else self.up_to)[way])
        return cell.column, cut, bool(ensemble.tracks[way]) ^ flips, None, *(ways[::-1] if flips else ways)

    def said(self, cell: Cell) -> np.ndarray | None:
        """The numbers that trees see of a column of levels; None for numbers."""
        return self.levels.get(cell.column) if cell.said is None else cell.said

    def _set(self, way: int, cell: Cell, said: np.ndarray) -> int | _Test:
        """A test for levels, joined with the following ones that lead to the same node."""
        ensemble = self.ensemble
        self.room.spend(0, len(said))
        goes = _goes_true(ensemble, way, said, cell.is_float32)
        true, false = int(ensemble.true[way]), int(ensemble.false[way])
        for _ in range(len(ensemble.mode)):
            merged = False
            for is_true, other in ((False, false), (True, true)):
                if other < 0 or ensemble.cells[ensemble.cell[other]].column != cell.column or self.bad[other]:
                    continue
                kept, behind = (false, true) if is_true else (true, false)
                asked = ensemble.cells[ensemble.cell[other]]
                own = self.said(asked)
                if own is None or kept not in (int(ensemble.true[other]), int(ensemble.false[other])):
                    continue
                self.room.spend(1, len(own))
                also = _goes_true(ensemble, other, own, asked.is_float32)
                if int(ensemble.true[other]) != kept:
                    also = ~also
                behind = int(ensemble.false[other] if int(ensemble.true[other]) == kept else ensemble.true[other])
                # A level that the first test does not send to the kept node may be sent there by the second one.
                goes, true, false = (goes & ~also, behind, false) if is_true else (goes | also, true, behind)
                merged = True
                break
            if not merged or true == false:
                break
        if goes.all() or true == false:
            return self.test(true)
        if not goes.any():
            return self.test(false)
        return cell.column, 0.0, bool(goes[-1]), goes, true, false

    def _equal(self, test: int, values: list[float], is_below: bool) -> int | _Test:
        """Whether a number is one of several: up to the first of them and not below it, or one of the others."""
        ensemble = self.ensemble
        true, false = int(ensemble.true[test]), int(ensemble.false[test])
        if ensemble.mode[test] == _NEQ:
            true, false, tracks = false, true, False
        else:
            tracks = bool(ensemble.tracks[test])
        if not values:
            return self.test(false)
        cell = ensemble.cells[ensemble.cell[test]]
        is_first = np.array(values[:1])
        if cell.is_float32:
            rounded = is_first.astype(np.float32)
            cuts = [cut_of_float32(rounded, strict=False)]
            cuts += [cut_of_float32(rounded, strict=True)] if np.isfinite(rounded).all() else []
        else:
            cuts = [is_first, np.nextafter(is_first, -np.inf)]
        if not np.isfinite(is_first).all() or len(cuts) < 2:
            raise InputFileError("a test compares a cell with infinity or nan: that is not read")
        if is_below:
            return cell.column, float(cuts[1][0]), False, None, false, true
        rest: Any = (test, values[1:], False) if len(values) > 1 else false
        return cell.column, float(cuts[0][0]), tracks, None, (test, values, True), rest


def read_parts(
    parts: Sequence[Part], levels: Mapping[int, np.ndarray]
) -> list[tuple[ForeignTree, np.ndarray, np.ndarray]]:
    """Per tree its nodes, its targets int[k], and the values of its leaves float64[n, k]."""
    ensembles = {id(part.ensemble): part.ensemble for part in parts}
    n_nodes = sum(len(ensemble.mode) + ensemble.n_leaves for ensemble in ensembles.values())
    room = _Room(_MOST_COPIES * n_nodes + _LEAST_COPIES)
    plans = {at: _Plan(ensemble, levels, room) for at, ensemble in ensembles.items()}
    found, left = [], _MOST_NUMBERS
    for part in parts:
        tree, leaf_of = _unrolled(part.root, plans[id(part.ensemble)])
        nodes = np.flatnonzero(leaf_of >= 0)
        begins = part.starts[leaf_of[nodes]]
        counts = part.starts[leaf_of[nodes] + 1] - begins
        entries = np.repeat(begins - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(counts.sum())
        of_node, own, numbers = np.repeat(nodes, counts), part.targets[entries], part.numbers[entries]
        targets = np.unique(own)
        k = len(targets) if part.table is None else part.table.shape[1]
        left -= len(leaf_of) * k
        if left < 0:
            raise InputFileError("the leaves hold more numbers than are read")
        value = np.zeros((len(leaf_of), k))
        if part.table is None:
            np.add.at(value, (of_node, np.searchsorted(targets, own)), numbers)
        else:
            rows = numbers.astype(np.int64)
            if targets.tolist() != [part.own] or (counts != 1).any() or (rows != numbers).any():
                raise InputFileError("a table is looked up by something other than one whole number of each tree")
            check_within(rows, len(part.table), "rows of a table")
            value[of_node] = part.table[rows]
            targets = part.first + np.arange(k)
        found.append((tree, targets, value))
    return found
