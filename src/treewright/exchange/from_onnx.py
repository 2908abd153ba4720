"""Models of ONNX: trees of ``ai.onnx.ml``. In: the bytes of a file, or a ``ModelProto``. Out: a ``ModelData``.

    inputs -> cells of columns -> ensembles of trees -> sums -> operations on the sums -> outputs of the graph

The graph is walked in its order, and each tensor has one of these kinds: cells, sums of trees, a constant, or else a
term: an operation with its inputs. At the end the terms of the outputs must be those of a known model: the sums, the
probabilities and labels of ``TreeEnsembleClassifier``, or the outputs that our own writer makes of sums. The latter are
not described again: the writer writes its operations for each link, and their terms are compared. Any other operation
is refused by its name.

The first half of this file reads the trees, as onnxruntime runs them. Both forms (``TreeEnsemble`` of version 5; the
parallel lists of version 3) become an ``Ensemble``: tests, with branches to tests or leaves. The nodes need not form a
tree: a node that several branches lead to is copied for each, within a limit; tests of one column of levels that lead
to one node are one set. A numeric column that is only tested for equality with whole numbers has those as its levels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from treewright.core.elementary import log
from treewright.data.schema import Column, Schema, unlike
from treewright.exceptions import InputFileError, MissingLibraryError
from treewright.exchange.foreign import ForeignTree, cut_of_float32, imported, named_once
from treewright.exchange.to_onnx import (
    BOOL,
    DOUBLE,
    EQ,
    FLOAT,
    GT,
    GTE,
    INT32,
    INT64,
    LEQ,
    LT,
    MEMBER,
    ML,
    MODES,
    NEQ,
    TEXT,
    Graph,
    label_outputs,
    values_of,
)
from treewright.trees.check_model import scores_of_classes
from treewright.trees.data import LINKS, Boosting, Link, ModelData, together, whole_parts, with_grid
from treewright.trees.threshold import Threshold

_LEAF = -1  # of the modes of nodes of version 3
_MOST_COPIES = 16  # as many nodes as the file has, and so many more ...
_LEAST_COPIES = 100_000  # ... where it has few
_MOST_NUMBERS = 1 << 27  # in leaves; and levels of all sets
_MOST_LOOKUPS = 64  # tests in a row that make a column for other trees; our writer bisects, and needs about 20

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # of leaves: where each begins, targets, numbers


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell that trees test.

    ``numbers`` are those that trees see of a column of levels: one for each level, for an unknown level, and for a
    missing cell. None: a number, unchanged or rounded to float32.
    """

    column: int
    is_float32: bool
    numbers: np.ndarray | None = None


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


def numbers_of(onnx: Any, attrs: Mapping[str, Any], name: str, dtype: Any = np.float64) -> np.ndarray:
    """The numbers of an attribute, a list or a tensor."""
    found = attrs.get(name, attrs.get(f"{name}_as_tensor", ()))
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
    onnx: Any, cells: tuple[Cell, ...], attrs: dict[str, Any], kind: str
) -> tuple[Ensemble, np.ndarray, Entries]:
    """Tests, roots and entries of leaves of a ``TreeEnsemble``."""
    del kind
    ints = {
        key: numbers_of(onnx, attrs, key, np.int64)
        for key in (
            "nodes_modes", "nodes_featureids", "nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids",
            "nodes_falseleafs", "leaf_targetids", "tree_roots",
        )
    }  # fmt: skip
    split, weights = numbers_of(onnx, attrs, "nodes_splits"), numbers_of(onnx, attrs, "leaf_weights")
    tracks = numbers_of(onnx, attrs, "nodes_missing_value_tracks_true", np.int64)
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
    members = numbers_of(onnx, attrs, "membership_values")
    ends = np.flatnonzero(np.isnan(members)).tolist()
    own = [members[begin + 1 : end] for begin, end in pairwise([-1, *ends, len(members)])]
    tested = np.flatnonzero(modes == MEMBER).tolist()
    if len(own) not in (len(tested), len(tested) + 1) or any(len(last) for last in own[len(tested) :]):
        raise InputFileError(f"{len(tested)} nodes test for members of sets, but membership_values has {len(own)} sets")
    sets = dict(zip(tested, own, strict=False))
    ensemble = Ensemble(cells, modes, ints["nodes_featureids"], split, tracks != 0, ways[0], ways[1], sets, n_leaves)
    check_within(ensemble.cell, len(cells), "columns of tests")
    return ensemble, ints["tree_roots"], (np.arange(n_leaves + 1), ints["leaf_targetids"], weights)


def version_3(
    onnx: Any, cells: tuple[Cell, ...], attrs: dict[str, Any], kind: str
) -> tuple[Ensemble, np.ndarray, Entries]:
    """The same of a ``TreeEnsembleRegressor`` (``kind="target"``) or ``TreeEnsembleClassifier`` (``"class"``).

    Each node has a position among the tests and one among the leaves, and uses one of them.
    """
    names = ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
    tree, node, column, true_id, false_id = (numbers_of(onnx, attrs, name, np.int64) for name in names)
    split, n = numbers_of(onnx, attrs, "nodes_values"), len(tree)
    tracks = numbers_of(onnx, attrs, "nodes_missing_value_tracks_true", np.int64)
    tracks = tracks if len(tracks) else np.zeros(n, np.int64)
    known = {b"LEAF": _LEAF} | {b"BRANCH_" + name.encode(): mode for mode, name in enumerate(MODES[:MEMBER])}
    texts = attrs["nodes_modes"]
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
    own = (numbers_of(onnx, attrs, f"{kind}_{name}", np.int64) for name in ("treeids", "nodeids", "ids"))
    of_tree, of_node, targets = own
    weights = numbers_of(onnx, attrs, f"{kind}_weights")
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


def _goes_true(ensemble: Ensemble, test: int, numbers: np.ndarray, is_float32: bool) -> np.ndarray:
    """Whether a test is true, bool[n], for a cell with each of n numbers. A missing cell is unequal to all numbers."""
    mode, split = int(ensemble.mode[test]), ensemble.split[test]
    members = ensemble.sets.get(test)
    if is_float32:
        numbers, split = numbers.astype(np.float32), np.float32(split)
        members = None if members is None else members.astype(np.float32)
    missing = np.isnan(numbers)
    if members is not None:
        holds = np.isin(numbers, members)
    else:
        compared = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)[mode]
        holds = compared(numbers, split)
    return np.where(missing, ensemble.tracks[test] | (mode == NEQ), holds)


def branches_by_level(part: Part) -> tuple[Cell | None, tuple[int, np.ndarray]]:
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
            if cell.numbers is None or (
                found is not None and (found.column != cell.column or cell.numbers is not found.numbers)
            ):
                return None, (0, np.empty(0))
            found = cell
            waiting += [int(ensemble.true[way]), int(ensemble.false[way])]
    targets = {int(part.targets[part.starts[leaf]]) for leaf in leaves}
    if (
        found is None
        or found.numbers is None
        or len(targets) != 1
        or any(part.starts[leaf + 1] - part.starts[leaf] != 1 for leaf in leaves)
    ):
        return None, (0, np.empty(0))
    ways = np.full(len(found.numbers), part.root)
    for _ in range(_MOST_LOOKUPS):
        for test in np.unique(ways[ways >= 0]).tolist():
            here = ways == test
            goes = _goes_true(ensemble, test, found.numbers[here], found.is_float32)
            ways[here] = np.where(goes, ensemble.true[test], ensemble.false[test])
    if (ways >= 0).any():
        return None, (0, np.empty(0))
    return found, (targets.pop(), part.numbers[part.starts[~ways]])


def whole_numbers_tested(ensembles: Sequence[Ensemble]) -> dict[int, np.ndarray]:
    """The whole numbers, ascending, of numeric columns that are only tested for equality with whole numbers."""
    tested: dict[int, set[float]] = {}
    beyond: set[int] = set()
    for ensemble in ensembles:
        columns = np.array([cell.column if cell.numbers is None else -1 for cell in ensemble.cells])[ensemble.cell]
        inner = (ensemble.mode >= 0) & (columns >= 0)
        beyond |= set(columns[inner & (ensemble.mode < EQ)].tolist())
        for test in np.flatnonzero(inner & (ensemble.mode >= EQ)).tolist():
            values = ensemble.sets.get(test, ensemble.split[test : test + 1])
            tested.setdefault(int(columns[test]), set()).update(values.tolist())
    return {
        column: np.array(sorted(values))
        for column, values in tested.items()
        if column not in beyond and values and all(abs(each) < 2**24 and each == int(each) for each in values)
    }


@dataclass
class _Budget:
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
        plan.budget.spend(1, 0)
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

    def __init__(self, ensemble: Ensemble, levels: Mapping[int, np.ndarray], budget: _Budget) -> None:
        self.ensemble, self.budget = ensemble, budget
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
        self.flips = np.isin(mode, (GTE, GT)) ^ (lowest & np.isin(mode, (LT, GTE)))
        self.bad = np.isnan(split) & np.isin(mode, (LEQ, LT, GTE, GT, EQ, NEQ))

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
        numbers = self.numbers(cell)
        if numbers is not None:
            return self._set(way, cell, numbers)
        if mode >= EQ:
            values = ensemble.sets[way] if mode == MEMBER else ensemble.split[way : way + 1]
            return self._equal(way, sorted({*values.tolist()}), False)
        strict, flips = mode in (LT, GTE), bool(self.flips[way])
        ways = int(ensemble.true[way]), int(ensemble.false[way])
        cut = float((self.below if strict else self.up_to)[way])
        return cell.column, cut, bool(ensemble.tracks[way]) ^ flips, None, *(ways[::-1] if flips else ways)

    def numbers(self, cell: Cell) -> np.ndarray | None:
        """The numbers that trees see of a column of levels; None for numbers."""
        return self.levels.get(cell.column) if cell.numbers is None else cell.numbers

    def _set(self, way: int, cell: Cell, numbers: np.ndarray) -> int | _Test:
        """A test for levels, joined with the following ones that lead to the same node."""
        ensemble = self.ensemble
        self.budget.spend(0, len(numbers))
        goes = _goes_true(ensemble, way, numbers, cell.is_float32)
        true, false = int(ensemble.true[way]), int(ensemble.false[way])
        for _ in range(len(ensemble.mode)):
            merged = False
            for is_true, other in ((False, false), (True, true)):
                if other < 0 or ensemble.cells[ensemble.cell[other]].column != cell.column or self.bad[other]:
                    continue
                kept, behind = (false, true) if is_true else (true, false)
                tested = ensemble.cells[ensemble.cell[other]]
                own = self.numbers(tested)
                if own is None or kept not in (int(ensemble.true[other]), int(ensemble.false[other])):
                    continue
                self.budget.spend(1, len(own))
                also = _goes_true(ensemble, other, own, tested.is_float32)
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
        if ensemble.mode[test] == NEQ:
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
    budget = _Budget(_MOST_COPIES * n_nodes + _LEAST_COPIES)
    plans = {at: _Plan(ensemble, levels, budget) for at, ensemble in ensembles.items()}
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


_MOST_COLUMNS = 100_000
_MOST_TREES = 1_000_000  # of a sum
_SLACK = 1e-4  # by which the sum of class proportions in float32 may differ from 1
_FLOATS, _WHOLE = (FLOAT, DOUBLE), (INT32, INT64, BOOL)


def begins(head: bytes, ending: str) -> bool:
    """Whether a file is a model of ONNX: by its ending, or by a version followed by a known field."""
    return ending == ".onnx" or (
        head[:1] == b"\x08" and head[1:2] < b"\x20" and head[2:3] in (b"\x12", b"\x3a", b"\x42")
    )


def of_file(data: bytes) -> ModelData:
    """The model of a file.

    Raises ``InputFileError``: the file is damaged, or trees of this library cannot represent its graph;
    ``MissingLibraryError``: the package onnx is not installed.
    """
    onnx = _onnx()
    try:
        proto = onnx.ModelProto.FromString(data)
    except Exception as error:  # a class of protobuf, which cannot be imported here
        raise InputFileError(f"damaged, or not an ONNX file: {error}"[:200]) from None
    with np.errstate(all="ignore"):  # numbers of damaged files; those that are not finite are refused
        return _model(onnx, proto)


def of_object(source: Any) -> ModelData:
    """The model of a ``ModelProto``."""
    if type(source).__name__ != "ModelProto":
        raise InputFileError("not a model: give an onnx.ModelProto, or the path of a file")
    with np.errstate(all="ignore"):
        return _model(_onnx(), source)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise MissingLibraryError(
            'reading a model of ONNX needs the package onnx: pip install "treewright[onnx]"'
        ) from None
    return onnx


@dataclass(frozen=True, eq=False)
class _Codes:
    """The codes that a ``LabelEncoder`` gives to a column of texts, in the layout of ``Cell.said``."""

    column: int
    numbers: np.ndarray


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of trees, divided by ``total``, plus ``base``."""

    parts: tuple[Part, ...]
    base: np.ndarray
    total: float = 1.0
    is_whole: bool = False  # cast to whole numbers
    is_table: bool = False  # [N, n_trees, k], not added up yet
    n_parts: int = 1  # of our own files: [N, n_parts, k], parts of each number with sums of their own
    held: range = range(0)  # the parts that are added up already: [N, k]
    was_split: bool = False


@dataclass(frozen=True, eq=False)
class _Prediction:
    """The prediction from sums: numbers, or class probabilities."""

    sums: _Sums
    link: str
    classes: tuple[list[Any], ...] = ()
    threshold: tuple[int, float] | None = None


@dataclass(eq=False)
class _Walk:
    """The tensors of a graph by name, and terms as whole numbers: equal numbers are equal operations."""

    onnx: Any
    columns: list[Column]
    tensors: dict[str, Any] = field(default_factory=dict)
    terms: dict[tuple[Any, ...], int] = field(default_factory=dict)
    term_keys: list[tuple[Any, ...]] = field(default_factory=list)
    held: dict[int, Any] = field(default_factory=dict)  # sums and predictions by their terms
    texts: dict[int, str | None] = field(default_factory=dict)  # per column of texts, the text of a missing cell
    holds: dict[int, str] = field(default_factory=dict)
    ensembles: list[Ensemble] = field(default_factory=list)

    def term(self, *key: Any) -> int:
        """The number of a term."""
        if key not in self.terms:
            self.terms[key] = len(self.term_keys)
            self.term_keys.append(key)
        return self.terms[key]

    def term_of(self, value: Any) -> int:
        """The term of any tensor."""
        if isinstance(value, int):
            return value
        if isinstance(value, np.ndarray):
            held = tuple(value.ravel().tolist()) if value.dtype == object else value.tobytes()
            return self.term("constant", value.dtype.str, value.shape, held)
        found = self.term("own", id(value))
        self.held[found] = value
        return found

    def names_in(self, term: int) -> list[str]:
        """The names of the operations in a term."""
        waiting, seen, found = [term], set[int](), dict[str, None]()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            key = self.term_keys[at]
            if key[0] == "operation":
                found[key[2]] = None
                waiting += key[4]
        return list(found)

    def run(self, nodes: Iterable[Any], tensors: Iterable[Any]) -> None:
        """Walk operations in their order."""
        for tensor in tensors:
            if tensor.data_location == self.onnx.TensorProto.EXTERNAL:
                raise InputFileError(f"tensor {tensor.name!r} is in another file: save the model as one file")
            self.tensors[tensor.name] = self.onnx.numpy_helper.to_array(tensor)
        for node in nodes:
            attrs = named_once([(each.name, self.onnx.helper.get_attribute_value(each)) for each in node.attribute])
            _check_one_form(attrs)
            given = [self.tensors[name] if name else None for name in node.input]
            domain = "" if node.domain == "ai.onnx" else node.domain
            found = self._said(domain, node.op_type, given, attrs, len(node.output))
            self.tensors.update(zip(node.output, found, strict=True))

    def _said(self, domain: str, name: str, given: list[Any], attrs: dict[str, Any], n: int) -> list[Any]:
        """The outputs of an operation."""
        first = given[0] if given else None
        if (domain, name) == ("", "Constant") and "value" in attrs:
            return [self.onnx.numpy_helper.to_array(attrs["value"])]
        if domain == ML and name.startswith("TreeEnsemble"):
            if not isinstance(first, tuple):
                made = ", ".join(self.names_in(self.term_of(first))) or "something else"
                raise InputFileError(f"{name} takes the output of {made}: only trees of unchanged columns are read")
            return self._trees(name, first, attrs, n)
        if (domain, name) == (ML, "ZipMap"):
            prediction, labels = self.held.get(self.term_of(first)), _labels_in(attrs)
            if not isinstance(prediction, _Prediction) or prediction.classes != (labels,):
                raise InputFileError("ZipMap has other classes than the probabilities")
        if (domain, name) in (("", "Identity"), (ML, "ZipMap")):
            return [first]
        found = None
        if isinstance(first, tuple | _Codes | _Sums) or any(isinstance(each, tuple | _Codes | _Sums) for each in given):
            found = self._of_cells(domain, name, given, attrs) or self._of_sums(domain, name, given, attrs)
        elif (
            (name in ("Cast", "Reshape", "Squeeze") and self._is_label(first))
            or (name == "Cast" and attrs["to"] in _FLOATS)
            or (name == "Mul" and isinstance(given[1], np.ndarray) and (given[1] == 1).all())
        ):
            found = first
        if found is not None:
            return [found]
        own = tuple((key, repr(value)) for key, value in sorted(attrs.items()))
        inputs = tuple(self.term_of(each) if each is not None else self.term("nothing") for each in given)
        return [self.term("operation", domain, name, own, inputs, at) for at in range(n)]

    def _is_label(self, value: Any) -> bool:
        """Whether a term is a label, or the result of looking one up."""
        key = self.term_keys[value] if isinstance(value, int) else ("nothing",)
        return key[0] == "labels" or (key[0] == "operation" and key[2] in ("Gather", "ArrayFeatureExtractor"))

    def _of_cells(self, domain: str, name: str, given: list[Any], attrs: dict[str, Any]) -> Any:
        """The cells that an operation on cells returns; None for any other operation."""
        first = given[0]
        if (domain, name) == (ML, "LabelEncoder") and isinstance(first, tuple) and len(first) == 1:
            return self._encoded(first[0], attrs)
        if name == "Gather" and isinstance(given[1], _Codes) and isinstance(first, np.ndarray) and first.ndim == 1:
            column, codes = given[1].column, given[1].numbers
            cells = first[codes].astype(np.float64)
            n, own = len(codes) - 2, self.columns[column]
            is_code = np.array_equal(cells[:n], np.arange(n)) and np.isnan(cells[n:]).all()
            if own.kind == "ordinal" and is_code:
                return (Cell(column, first.dtype == np.float32),)
            self.columns[column] = replace(own, kind="nominal")
            return (Cell(column, first.dtype == np.float32, cells),)
        if isinstance(first, _Codes) and name == "Cast" and attrs["to"] in _FLOATS:
            return (Cell(first.column, attrs["to"] == 1, first.numbers.astype(np.float64)),)
        if isinstance(first, tuple) and name == "Cast" and attrs["to"] in _FLOATS:  # others cut off fractions
            return tuple(replace(cell, is_float32=cell.is_float32 or attrs["to"] == 1) for cell in first)
        is_joined = (name == "Concat" and attrs["axis"] in (1, -1)) or name == "FeatureVectorizer"
        if isinstance(first, tuple) and is_joined:
            groups = [each if isinstance(each, tuple) else self._looked_up(each) for each in given]
            if None in groups:
                return None
            if sum(len(group or ()) for group in groups) > _MOST_COLUMNS:
                raise InputFileError(f"{name} makes a table of more columns than are read ({_MOST_COLUMNS:,})")
            rounds = name == "FeatureVectorizer"
            return tuple(
                replace(cell, is_float32=rounds or cell.is_float32) for group in groups for cell in group or ()
            )
        return None

    def _encoded(self, cell: Cell, attrs: dict[str, Any]) -> Any:
        """The codes that a ``LabelEncoder`` gives to a column of texts; None if it is not read."""
        own = self.columns[cell.column]
        keys = attrs.get("keys_strings")
        values = next((attrs[key] for key in ("values_int64s", "values_floats") if key in attrs), None)
        if cell.column not in self.texts or keys is None or values is None or own.levels:
            return None
        default = attrs.get("default_int64", -1) if "values_int64s" in attrs else attrs.get("default_float", -0.0)
        of_text = dict(zip((key.decode() for key in keys), values, strict=True))
        text = self.texts[cell.column]
        if len(of_text) != len(keys):
            return None
        missing = default if text is None else of_text.pop(text, default)
        levels, family = _levels(list(of_text), self.holds[cell.column])
        self.columns[cell.column] = replace(own, levels=tuple(levels), family=family)
        return _Codes(cell.column, np.array([*of_text.values(), default, missing]))

    def _looked_up(self, made: Any) -> tuple[Cell, ...] | None:
        """The cells that trees make of one column of levels each; None for other trees."""
        if not isinstance(made, _Sums) or made.is_table or made.total != 1.0 or made.base.any():
            return None
        found: list[Cell | None] = [None] * len(made.base)
        for part in made.parts:
            cell, branches = branches_by_level(part)
            if cell is None or found[branches[0]] is not None:
                raise InputFileError("trees take the outputs of other trees, as surrogates for missing cells do: "
                                     "that is not read")  # fmt: skip
            found[branches[0]] = replace(cell, numbers=branches[1])
        return tuple(each for each in found if each is not None) if None not in found else None

    def _of_sums(self, domain: str, name: str, given: list[Any], attrs: dict[str, Any]) -> Any:
        """The sums that an operation on sums returns; None for any other operation."""
        sums = [each for each in given if isinstance(each, _Sums)]
        constant = next((each for each in given if isinstance(each, np.ndarray)), None)
        if not sums or domain:
            return None
        first = sums[0]
        if name == "Cast":
            is_whole = first.is_whole or attrs["to"] == INT64
            return replace(first, is_whole=is_whole) if attrs["to"] in (*_FLOATS, INT64) else None
        if (
            name == "Gather"
            and not attrs.get("axis", 0)
            and first.is_whole
            and given[1] is first
            and constant is not None
            and constant.ndim == 2
        ):
            return _by_table(first, constant)
        if first.is_whole:
            return None
        if name == "Reshape" and constant is not None:
            shape, n = constant.tolist(), len(first.base)
            if not first.is_table:
                is_same = shape in ([-1, n], [0, n]) or (n == 1 and shape == [-1])
                is_split = len(shape) == 3 and shape[0] == 0 and min(shape[1:]) > 0 and shape[1] * shape[2] == n
                is_split &= (
                    first.n_parts == 1 and not first.base.any() and all(p.table is not None for p in first.parts)
                )
                return first if is_same else replace(first, n_parts=shape[1]) if is_split else None
            n_trees, k = len(first.parts), int(first.base.size)
            if k == 1 and len(shape) == 3 and shape[0] == 0 and shape[2] > 0 and shape[1] * shape[2] == n_trees:
                parts = tuple(replace(part, first=at % shape[2]) for at, part in enumerate(first.parts))
                return replace(first, parts=parts, base=np.zeros(shape[2]))
            return None
        if first.is_table:
            is_sum = name == "ReduceSum" and not attrs.get("keepdims", 1)
            is_ours = is_sum and constant is not None and constant.tolist() == [1]
            return replace(first, is_table=False) if is_ours else None
        if first.n_parts > 1:
            return self._of_parts(name, sums, constant, attrs)
        if name in ("Add", "Sum") and len(sums) == len(given):
            if any(
                each.total != 1.0 or each.is_table or each.is_whole or len(each.base) != len(first.base)
                for each in sums
            ):
                return None
            if sum(len(each.parts) for each in sums) > _MOST_TREES:
                raise InputFileError(f"{name} adds up more trees than are read ({_MOST_TREES:,})")
            return replace(
                first,
                parts=tuple(part for each in sums for part in each.parts),
                base=np.sum([each.base for each in sums], axis=0),
            )
        if (
            name == "Add"
            and constant is not None
            and constant.shape in ((), (1,), (1, 1), (len(first.base),), (1, len(first.base)))
        ):
            return replace(first, base=first.base + constant.ravel().astype(np.float64))
        if name == "Div" and constant is not None and constant.size == 1 and given[0] is first and not first.base.any():
            return replace(first, total=first.total * float(constant.ravel()[0]))
        return None

    @staticmethod
    def _of_parts(name: str, sums: list[_Sums], constant: np.ndarray | None, attrs: dict[str, Any]) -> _Sums | None:
        """The sums of parts of numbers, chosen and added up in their order as our writer does it."""
        first, n = sums[0], sums[0].n_parts
        is_part = name == "Gather" and attrs.get("axis") == 1 and not first.held
        if is_part and constant is not None and not constant.ndim:
            return replace(first, held=range(int(constant), int(constant) + 1)) if 0 <= constant < n else None
        other = sums[-1]
        if name != "Add" or len(sums) != 2 or other.parts is not first.parts or other.n_parts != n:
            return None
        if first.held.start or not first.held or not other.held or other.held.start != first.held.stop:
            return None
        if other.held.stop < n:
            return replace(first, held=range(other.held.stop))
        k = len(first.base) // n
        whole: dict[int, np.ndarray] = {}
        for part in first.parts:
            if part.table is not None and id(part.table) not in whole:
                whole[id(part.table)] = together(part.table, n)
        parts = tuple(replace(part, table=whole[id(part.table)]) for part in first.parts)
        return _Sums(parts, np.zeros(k), first.total, was_split=True)

    def _trees(self, name: str, cells: tuple[Cell, ...], attrs: dict[str, Any], n: int) -> list[Any]:
        """The sums of an ensemble, or the labels and probabilities of a classifier."""
        if name not in ("TreeEnsemble", "TreeEnsembleRegressor", "TreeEnsembleClassifier"):
            raise InputFileError(f"the operator {name} is not known")
        transform = attrs.get("post_transform", 0 if name == "TreeEnsemble" else b"NONE")
        if any(cell.column in self.texts and not self.columns[cell.column].levels for cell in cells):
            raise InputFileError(f"{name} tests a column of texts that no LabelEncoder turned into numbers")
        read = version_5 if name == "TreeEnsemble" else version_3
        ensemble, roots, entries = read(self.onnx, cells, attrs, "class" if name.endswith("Classifier") else "target")
        self.ensembles.append(ensemble)
        targets, parts = entries[1], tuple(Part(ensemble, int(root), *entries) for root in roots)
        if name.endswith("Classifier"):
            prediction = _classified(parts, targets, attrs, transform)
            shares = self.term_of(prediction)
            return [self.term("labels", shares), shares][:n]
        if transform not in (0, b"NONE"):
            raise InputFileError(
                f"{name} has post_transform={_text(transform)}, which onnxruntime ignores: it is not read"
            )
        aggregate = attrs.get("aggregate_function", 1 if name == "TreeEnsemble" else b"SUM")
        if aggregate not in (0, 1, b"AVERAGE", b"SUM"):
            raise InputFileError(f"{name} predicts the {_text(aggregate)} of its trees: only SUM and AVERAGE are read")
        n_targets = int(attrs.get("n_targets", 1))
        check_within(targets, n_targets, "targets")
        if not 1 <= n_targets <= max(1, len(targets)):
            raise InputFileError(f"{name} has {n_targets} targets, but {len(targets)} entries of leaves")
        base = numbers_of(self.onnx, attrs, "base_values")
        if len(base) not in (0, n_targets):
            raise InputFileError(f"{name} has {len(base)} base values for {n_targets} targets")
        total = float(len(parts)) if aggregate in (0, b"AVERAGE") else 1.0
        return [_Sums(parts, base if len(base) else np.zeros(n_targets), total)]


def _text(attrs: Any) -> str:
    return attrs.decode(errors="replace") if isinstance(attrs, bytes) else str(attrs)


def _labels_in(attrs: Mapping[str, Any]) -> list[Any]:
    """The classes that an operation names."""
    texts = [text.decode() for text in attrs.get("classlabels_strings", ())]
    return texts or list(attrs.get("classlabels_int64s", ()))


def _levels(texts: list[str], holds: str) -> tuple[list[Any], str]:
    """The levels of a column from their texts, and their family."""
    if holds == "boolean" and set(texts) <= {"True", "False"}:
        return [text == "True" for text in texts], holds
    if holds == "number":
        levels = [int(text) if text.lstrip("-").isdecimal() else float(text) for text in texts]
        if list(map(str, levels)) == texts:
            return levels, holds
    return texts, "string"


def _classified(parts: tuple[Part, ...], targets: np.ndarray, attrs: dict[str, Any], transform: Any) -> _Prediction:
    """The probabilities that a ``TreeEnsembleClassifier`` makes of its sums.

    onnxruntime has rules of its own for the labels of two classes (all weights positive; both classes in the leaves),
    which contradict the probabilities; here the label is the more probable class, as in the original models.
    """
    labels = _labels_in(attrs)
    n, ids = len(labels), set(targets.tolist())
    check_within(targets, n, "classes")
    base = np.asarray(attrs.get("base_values", ()), np.float64)
    if "base_values_as_tensor" in attrs:
        raise InputFileError("TreeEnsembleClassifier has base_values_as_tensor, which is not read")
    how = f"TreeEnsembleClassifier with post_transform={_text(transform)}"
    if n < 2 or (n == 2 and len(base) == 2) or len(base) not in (0, 1 if n == 2 else n):
        raise InputFileError(f"{how} with {len(base)} base values for {n} classes is not read")
    if n == 2 and ids == {0}:
        sums = _Sums(parts, base if len(base) else np.zeros(1))
        if transform == b"LOGISTIC":
            return _Prediction(sums, "classes", (labels,))
        if transform == b"NONE" and not len(base):
            return _Prediction(sums, "second share", (labels,))
    elif n > 2 or (ids == {0, 1} and not len(base)):
        sums = _Sums(parts, base if len(base) else np.zeros(n))
        if transform == b"NONE":
            return _Prediction(sums, "identity", (labels,))
        if transform == b"SOFTMAX":
            return _Prediction(sums, "classes" if n > 2 else "softmax of two", (labels,))
    raise InputFileError(
        f"{how} with {n} classes, and leaves with numbers for {sorted(ids)[:5]}, gives no probabilities that are read"
    )


def _by_table(sums: _Sums, table: np.ndarray) -> _Sums:
    """Sums of rows of a table: each target is one tree's number, a row of the table."""
    if len(sums.parts) != len(sums.base) or sums.base.any() or sums.total != 1.0:
        raise InputFileError("a table is looked up by something other than one number of each tree")
    table = table.astype(np.float64)
    parts = tuple(replace(part, table=table, own=at) for at, part in enumerate(sums.parts))
    return _Sums(parts, np.zeros(table.shape[1]), is_table=True)


def _model(onnx: Any, proto: Any) -> ModelData:
    """The model of a parsed file."""
    graph, metadata = proto.graph, {each.key: each.value for each in proto.metadata_props}
    if len(graph.sparse_initializer) or len(proto.functions):
        raise InputFileError("the graph has sparse tensors or local functions, which are not read")
    walk, is_named = _walk_of_inputs(onnx, graph, metadata)
    walk.run(graph.node, graph.initializer)
    prediction = _prediction_of_outputs(walk, [(each.name, walk.tensors[each.name]) for each in graph.output])
    levels = whole_numbers_tested(walk.ensembles)
    for at, own in levels.items():
        walk.columns[at] = replace(walk.columns[at], kind="nominal", levels=tuple(map(int, own)))
    return _model_of_prediction(prediction, Schema(tuple(walk.columns), is_named), levels, {
        "library": "ONNX", "producer": proto.producer_name, "version": proto.producer_version,
        "class": next(node.op_type for node in graph.node if node.op_type.startswith("TreeEnsemble")),
    })  # fmt: skip


def _walk_of_inputs(onnx: Any, graph: Any, metadata: Mapping[str, str]) -> tuple[_Walk, bool]:
    """A walk that knows only the inputs, and whether the columns have names."""
    known = {tensor.name for tensor in graph.initializer}
    inputs, own = [each for each in graph.input if each.name not in known], []
    for each in inputs:
        kind, shape = each.type.tensor_type.elem_type, each.type.tensor_type.shape.dim
        if kind not in (*_FLOATS, *_WHOLE, TEXT) or len(shape) > 2:
            raise InputFileError(f"input {each.name!r} is not a table of numbers or texts")
        width = int(shape[1].dim_value) if len(shape) == 2 else 1
        if not width:
            if len(inputs) > 1:
                raise InputFileError(f"input {each.name!r} does not state its number of columns")
            tested = [attrs.ints for node in graph.node for attrs in node.attribute if attrs.name == "nodes_featureids"]
            width = 1 + max((max(ids, default=0) for ids in tested), default=0)
        own.append((each.name, kind, width))
    if not 1 <= sum(width for _, _, width in own) <= _MOST_COLUMNS or any(width < 1 for _, _, width in own):
        raise InputFileError(
            f"the inputs have {sum(width for _, _, width in own)} columns: 1 to {_MOST_COLUMNS:,} are read"
        )
    columns: list[Column] = []
    walk, ours = _Walk(onnx, columns), _own_columns(metadata)
    if ours is None:
        is_named = len(own) > 1 and all(width == 1 for _, _, width in own)
        names = (
            [name for name, _, _ in own] if is_named else [f"x{at}" for at in range(sum(width for _, _, width in own))]
        )
        attrs = [{"name": name} for name in unlike(names)]
    else:
        is_named = not any(each["input"] == "X" for each in ours) or own[0][2] != len(ours)
        attrs = ours
    waiting = iter(attrs)
    for name, kind, width in own:
        cells = []
        for _ in range(width):
            description = _next(waiting, columns)
            at = len(columns)
            if kind == TEXT:
                walk.texts[at], walk.holds[at] = description.get("missing"), description.get("holds", "string")
            cells.append(Cell(at, kind != DOUBLE))
            columns.append(Column(
                description["name"], description.get("kind", "nominal") if kind == TEXT else "numeric",
                missing_seen=True,
                family="string" if kind == TEXT else "number",
            ))  # fmt: skip
        walk.tensors[name] = tuple(cells)
    columns += map(_left_out, waiting)
    return walk, is_named


def _own_columns(metadata: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """The column descriptions of our own writer; None for a file of another one."""
    if "treewright" not in metadata or "columns" not in metadata:
        return None
    found = json.loads(metadata["columns"])
    if not all(isinstance(each["name"], str | int | float | bool) for each in found):
        raise InputFileError("the names of columns are not known")
    return list(found)


def _left_out(description: Mapping[str, Any]) -> Column:
    return Column(description["name"], "numeric", missing_seen=True, left_out="the file does not use it")


def _next(waiting: Iterator[dict[str, Any]], columns: list[Column]) -> dict[str, Any]:
    """The description of the next column that has an input."""
    for description in waiting:
        if description.get("input", "") is not None:
            return description
        columns.append(_left_out(description))
    raise InputFileError("the file describes fewer columns than it has inputs")


def _prediction_of_outputs(walk: _Walk, outputs: Sequence[tuple[str, Any]]) -> _Prediction:
    """The prediction that the outputs of the graph form."""
    terms = {name: walk.term_of(value) for name, value in outputs}
    for term in terms.values():
        of = walk.term_keys[term]
        held = walk.held.get(of[1] if of[0] == "labels" else term)
        if isinstance(held, _Prediction):
            shares = walk.term_of(held)
            return _only(walk, held, terms, [shares, walk.term("labels", shares), *_relabelled(walk, held, shares)])
    sums = [each for each in walk.held.values() if isinstance(each, _Sums) and not (each.is_whole or each.is_table)]
    for made in reversed(sums):
        for prediction, expected, labels in _hypotheses(walk, made, terms.values()):
            if set(terms.values()) <= set(expected) and set(labels) <= set(terms.values()):
                return prediction
    names = sorted({name for term in terms.values() for name in walk.names_in(term)})
    raise InputFileError(
        "the outputs are not those of a known model: they are made of the trees by "
        f"{', '.join(names) or 'something else'}"
    )


def _only(walk: _Walk, prediction: _Prediction, terms: Mapping[str, int], expected: Sequence[int]) -> _Prediction:
    """The prediction, if no output is anything else."""
    for name, term in terms.items():
        if term not in expected:
            made = ", ".join(walk.names_in(term)) or "something else"
            raise InputFileError(f"output {name!r} is made by {made}: that is not read after class probabilities")
    return prediction


def _relabelled(walk: _Walk, prediction: _Prediction, shares: int) -> list[int]:
    """Terms of labels that are looked up by the position of the largest probability."""
    found = []
    for term, key in enumerate(walk.term_keys):
        if key[0] == "operation" and key[2] in ("Gather", "ArrayFeatureExtractor") and len(key[4]) == 2:
            table, at = (walk.term_keys[each] for each in key[4])
            is_largest = (
                at[0] == "operation"
                and at[2] == "ArgMax"
                and at[4] == (shares,)
                and dict(at[3]).get("axis") in ("1", "-1")
            )
            if table[0] == "constant" and is_largest and _constant(table) == prediction.classes[0]:
                found.append(term)
    return found


def _hypotheses(walk: _Walk, sums: _Sums, outputs: Iterable[int]) -> Iterator[tuple[_Prediction, list[int], list[int]]]:
    """The possible predictions from sums: each with the terms of its outputs and of its labels."""
    term, n = walk.term_of(sums), len(sums.base)
    found = [walk.term_keys[each] for each in outputs]
    tables = [
        key
        for key in found
        if key[0] == "operation" and key[2] == "Gather" and walk.term_keys[key[4][0]][0] == "constant"
    ]
    classes = tuple(_constant(walk.term_keys[key[4][0]]) for key in tables)
    counts = tuple(map(len, classes))
    threshold = _threshold(walk, walk.term_keys[tables[0][4][1]]) if len(tables) == 1 else None
    for link in LINKS:
        needed = sum(scores_of_classes(counts)) if link == "classes" else sum(counts) if classes else n
        if n != needed or bool(classes) != (link == "classes" or (link == "identity" and bool(classes))):
            continue
        graph = Graph(walk.onnx, "/")
        values = values_of(graph, "sums", link, counts, n)
        labels = [label for label, _ in label_outputs(graph, values, classes, threshold)]
        beside = _Walk(walk.onnx, walk.columns, {"sums": term}, walk.terms, walk.term_keys)
        beside.run(graph.nodes, graph.tensors)
        own = [beside.term_of(beside.tensors[label]) for label in labels]
        prediction = _Prediction(sums, link, classes, threshold)
        yield prediction, [*own, beside.term_of(beside.tensors[values]), term], own
    if not classes:
        # As the converters of LightGBM and XGBoost write what counts: exp(sums), or a positive number of times that.
        power = walk.term("operation", "", "Exp", (), (term,), 0)
        yield _Prediction(sums, "log"), [power], []
        for key in found:
            if key[:3] != ("operation", "", "Mul") or power not in key[4]:
                continue
            other = next(walk.term_keys[each] for each in key[4] if each != power)
            times = _constant(other) if other[0] == "constant" else []
            if len(times) == 1 and times[0] > 0.0 and sums.total == 1.0:
                base = sums.base + log(float(times[0]))
                yield _Prediction(replace(sums, base=base), "log"), [walk.terms[key]], []


def _constant(key: tuple[Any, ...]) -> list[Any]:
    """The labels in the term of a constant."""
    _, kind, _, held = key
    if isinstance(held, tuple):
        return [each.decode() if isinstance(each, bytes) else each for each in held]
    return list(np.frombuffer(held, kind).tolist())


def _threshold(walk: _Walk, best: tuple[Any, ...]) -> tuple[int, float] | None:
    """The class and the decision threshold in the term of a label as our writer makes it; None without."""
    if best[0] != "operation" or best[2] != "Where":
        return None
    reached, positive, _ = (walk.term_keys[each] for each in best[4])
    at = walk.term_keys[reached[4][1]]
    return int(np.frombuffer(positive[3], np.int64)[0]), float(np.frombuffer(at[3], np.float64)[0])


def _model_of_prediction(
    prediction: _Prediction, schema: Schema, levels: Mapping[int, np.ndarray], source: Mapping[str, Any]
) -> ModelData:
    """The model of a prediction and the columns."""
    sums, link = prediction.sums, prediction.link
    parts, n, total = read_parts(sums.parts, levels), len(sums.base), sums.total
    if not total > 0.0 or not np.isfinite(total):
        raise InputFileError(f"the sums are divided by {total}")
    classes = tuple(np.array(own) for own in prediction.classes)
    if prediction.classes and link in ("identity", "second share"):
        model = _forest_of_classes(prediction, parts, schema, classes, source)
    elif not prediction.classes and link == "identity" and not sums.base.any() and total == len(parts) and (
        all(len(targets) == n for _, targets, _ in parts)
    ):  # fmt: skip
        trees = [replace(tree, value=value) for tree, _, value in parts]
        is_one = len(trees) == 1
        model = imported(
            trees, schema, task="regression", combine="single" if is_one else "mean", criterion="squared_error",
            algorithm="cart" if is_one else "random_forest", n_outputs=n, source=source,
        )  # fmt: skip
    else:
        model = _boosted(prediction, parts, schema, classes, source)
    if sums.was_split:
        model = with_grid(model)
    if prediction.threshold is None:
        return model
    return replace(model, threshold=Threshold(*prediction.threshold))


_Parts = list[tuple[ForeignTree, np.ndarray, np.ndarray]]


def _boosted(
    prediction: _Prediction, parts: _Parts, schema: Schema, classes: tuple[np.ndarray, ...], source: Mapping[str, Any]
) -> ModelData:
    """The model of trees that add to scores: a round has one for each score, in their order."""
    base, total, link = prediction.sums.base, prediction.sums.total, prediction.link
    if link == "softmax of two":
        # With two scores only the difference matters.
        parts = [
            (tree, np.zeros(1, np.int64), np.diff(_full(targets, value, 2), axis=1)) for tree, targets, value in parts
        ]
        base, link = base[1:] - base[:1], "classes"
    of_score: list[list[ForeignTree]] = [[] for _ in base]
    for tree, targets, value in parts:
        for at, target in enumerate(targets.tolist()):
            of_score[target].append(replace(tree, value=value[:, at : at + 1] / total))
    n_rounds = max(1, *map(len, of_score))
    if n_rounds * len(base) > 4 * len(parts) + 1_000 and n_rounds * len(base) > 4 * sum(map(len, of_score)):
        raise InputFileError("the sums have different numbers of trees")
    no = np.full(1, -1)
    nothing = ForeignTree(no, no, no, np.zeros(1), np.zeros(1, bool), np.zeros((1, 1)))
    trees = [own[at] if at < len(own) else nothing for at in range(n_rounds) for own in of_score]
    more: dict[str, Any] = {"loss": {"name": "log_loss"}} if classes else {}
    return imported(
        trees, schema, task="classification" if classes else "regression", combine="sum", source=source,
        algorithm="gradient_boosting", criterion="gradient", classes=classes,
        n_outputs=len(classes) if classes else len(base),
        boosting=Boosting(tuple(base.tolist()), cast("Link", link)), **more,
    )  # fmt: skip


def _full(targets: np.ndarray, value: np.ndarray, n: int) -> np.ndarray:
    """The values of the leaves for all targets."""
    found = np.zeros((len(value), n))
    found[:, targets] = value
    return found


def _as_parts(shares: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Numbers with exactly these proportions, output by output: a model divides them by their sum."""
    rows, row_of = np.unique(shares, axis=0, return_inverse=True)
    of_output = [[whole_parts(row) for row in own.tolist()] for own in np.split(rows, ends[:-1], axis=1)]
    return np.hstack(of_output)[row_of.ravel()]


def _forest_of_classes(
    prediction: _Prediction, parts: _Parts, schema: Schema, classes: tuple[np.ndarray, ...], source: Mapping[str, Any]
) -> ModelData:
    """The model of trees whose leaves have class proportions of the same sum; or that vote, each by a weight."""
    n, total = len(prediction.sums.base), prediction.sums.total
    whole = total / len(parts)  # the sum of the numbers of a leaf
    held = [_full(targets, value, n) for _, targets, value in parts]
    if prediction.link == "second share":
        held, n = [np.hstack([whole - value, value]) for value in held], 2
    if prediction.sums.base.any():
        raise InputFileError("class proportions with base values are not read")
    ends = np.cumsum([len(own) for own in classes])
    trees, weights, are_shares = [], [], True
    for (tree, _, _), value in zip(parts, held, strict=True):
        leaf = tree.left < 0
        own = value[leaf]
        if own.min() < -_SLACK * whole:
            raise InputFileError("a leaf has a class proportion below 0: the trees are not a forest")
        value[leaf] = own = np.maximum(own, 0.0)
        of_output = np.stack([each.sum(axis=1) for each in np.split(own, ends[:-1], axis=1)])
        are_shares &= bool((np.abs(of_output - whole) <= _SLACK * whole).all())
        is_vote = ((own == 0.0) | (own == own.max())).all() and ((own > 0.0).sum(axis=1) == len(classes)).all()
        weights.append(float(own.max()) if is_vote else np.nan)
        if prediction.sums.was_split:
            value[leaf] = _as_parts(own, ends)
        trees.append(replace(tree, value=value))
    of_trees = None
    if not are_shares:
        sum_of_weights = float(np.cumsum(weights)[-1])
        if not abs(sum_of_weights - total) <= _SLACK * total:
            raise InputFileError("the class proportions of the leaves have different sums: that is not read")
        of_trees = np.array(weights)
        trees = [replace(tree, value=(tree.value > 0.0).astype(np.float64)) for tree in trees]
    is_one = len(trees) == 1 and of_trees is None
    return imported(
        trees, schema, task="classification", source=source, classes=classes, n_outputs=len(classes), criterion="gini",
        combine="vote" if of_trees is not None else "single" if is_one else "mean",
        algorithm="adaboost" if of_trees is not None else "cart" if is_one else "random_forest", tree_weights=of_trees,
    )  # fmt: skip


def _check_one_form(attrs: dict[str, Any]) -> None:
    """Refuse attributes that state one list in two forms, of which runtimes use either."""
    of_stem: dict[str, list[str]] = {}
    for name, value in attrs.items():
        if len(value) if isinstance(value, list) else name.endswith("_as_tensor"):
            stem = re.sub("_(as_tensor|strings|int64s|floats|tensor)$", "", name)
            of_stem.setdefault(stem, []).append(name)
    double = next((names for names in of_stem.values() if len(names) > 1), None)
    if double is not None:
        raise InputFileError(f"the file contradicts itself: an operator has {' and '.join(sorted(double))}")
