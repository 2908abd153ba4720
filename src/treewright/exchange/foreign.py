"""Tree models of other libraries. In: a file, or a fitted object. Out: a ``ModelData``.

``read`` finds the ``Reader`` of a file or object: one module per library, which fills a ``ForeignTree`` per tree and
calls ``imported``. There nodes are put into our order, siblings together and parents first, which also proves that they
are a tree; the values of inner nodes are computed from their leaves; and boosted trees and forests are packed if no
column has more cuts than bins. Nothing in a file is ever executed, and no pickle is opened.

Cuts are exact. Libraries that compare in float32 round a cell first; rounding never changes the order of two numbers,
so the cells that go left are those up to one float64, which ``cut_of_float32`` finds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from treewright.core.files import open_regular
from treewright.data.schema import Schema
from treewright.exceptions import InputFileError, ModelFileError, ParameterError
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.trees.data import Boosting, Combine, ModelData, Unseen
from treewright.trees.packed import count_impurity
from treewright.trees.repacking import checked, kept_trees
from treewright.version import __version__

_LEAST_WEIGHT = float(np.finfo(np.float64).tiny)  # a leaf's weight is above 0,
_LEAST_SHARE = 2.0**-52  # and its proportions are large enough for products
_LARGEST = 1e300  # of weights, and of squares; sums of more are beyond float64
_BEYOND_FLOAT32 = 2.0**128  # the float32 after the largest, if there were one


@dataclass(frozen=True, eq=False)
class ForeignTree:
    """A tree of another library: nodes in any order, the root first, two branches each.

    ``left``, ``right`` int[n]: positions of the branches; -1 at a leaf.
    ``cut`` float64[n]: ``x <= cut`` goes left; ``+inf`` tests whether there is a value. Anything if ``levels`` has the
    node.
    ``value`` float64[n, k]: of leaves: numbers, what they add to a score, or counts of classes (outputs one after
    another).
    ``weight`` float64[n], or None: of leaves: the weight of their training rows, or their hessians; None if the library
    does not store it: each leaf then counts as one.
    ``n_samples`` int[n], or None: of leaves: number of training rows; None: their weight, rounded.
    ``gain`` float64[n], or None: of tests of boosted trees. Without impurities and gains, the impurity of numbers is
    the variance of the values of the leaves below.
    ``levels`` mapping of int to int[m]: of tests of nominal columns: the codes that go left.
    ``unseen_left`` bool[n], or None: whether a level that training never saw goes left; None: right.
    """

    left: np.ndarray
    right: np.ndarray
    column: np.ndarray  # int[n]: position of the tested column; anything at a leaf
    cut: np.ndarray
    missing_left: np.ndarray  # bool[n]
    value: np.ndarray
    weight: np.ndarray | None = None
    n_samples: np.ndarray | None = None
    impurity: np.ndarray | None = None  # float64[n], or None: of all nodes
    gain: np.ndarray | None = None
    levels: Mapping[int, np.ndarray] = field(default_factory=dict)
    unseen_left: np.ndarray | None = None


def cut_of_float32(cut: np.ndarray, *, strict: bool) -> np.ndarray:
    """The largest float64 that goes left in a library that rounds cells to float32 and compares them with a cut.

    ``cut`` float32[n], not nan; not ``-inf`` if strict. ``strict``: ``x < cut`` goes left, else ``x <= cut``. Returns
    float64[n].

    Examples
    --------
    >>> cut_of_float32(np.array([0.1], np.float32), strict=True)
    array([0.1])
    >>> np.float32(0.1) < np.float32(0.1), np.float32(np.nextafter(0.1, 0)) < np.float32(0.1)
    (np.False_, np.False_)
    """
    cut = np.asarray(cut, np.float32)
    with np.errstate(over="ignore", under="ignore"):
        last = np.nextafter(cut, np.float32(-np.inf)) if strict else cut
        first = np.nextafter(last, np.float32(np.inf)).astype(np.float64)
    low, high = (np.clip(each.astype(np.float64), -_BEYOND_FLOAT32, _BEYOND_FLOAT32) for each in (last, first))
    middle = low + (high - low) / 2  # exact: both have 24 digits
    with np.errstate(over="ignore", under="ignore"):
        goes_left = middle.astype(np.float32) <= last
    found = np.where(goes_left, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isposinf(last), np.inf, found)


def imported(
    trees: Sequence[ForeignTree],
    schema: Schema,
    *,
    task: Literal["classification", "regression"],
    combine: Combine,
    algorithm: str,
    criterion: str,
    source: Mapping[str, Any],
    classes: tuple[np.ndarray, ...] = (),
    n_outputs: int = 1,
    boosting: Boosting | None = None,
    tree_weights: np.ndarray | None = None,
    target_names: tuple[str, ...] = (),
    missing: Literal["direction", "error"] = "direction",
    **facts: Any,
) -> ModelData:
    """The model made of the trees of another library.

    ``algorithm``, ``criterion``: with the names of our own fits ("cart", "random_forest", "gradient_boosting"; "gini",
    "squared_error", "gradient"). ``source``: the origin of the model, as plain JSON: at least ``library``. ``facts``:
    further facts of the model; others as in ``ModelData``. Levels that training never saw take the branch that the
    trees state. Raises ``InputFileError``: the nodes are no trees, or their values cannot be a model.
    """
    counts = () if boosting is not None or task == "regression" else tuple(map(len, classes))
    listed = [tree_of(tree, schema, counts, f"tree {number}") for number, tree in enumerate(trees)]
    kept = kept_trees(listed, schema, counts, combine, missing, {"algorithm": algorithm, "criterion": criterion})
    n_samples = int(listed[0].n_samples[0])
    model = ModelData(
        task=task,
        schema=schema,
        trees=kept,
        classes=classes,
        n_outputs=n_outputs,
        combine=combine,
        unseen="majority" if any(column.kind == "nominal" for column in schema.columns) else "missing",
        missing=missing,
        target_names=target_names,
        facts={
            "algorithm": algorithm, "criterion": criterion, "n_samples": n_samples, "parameters": {},
            "version": __version__, "imported": dict(source), **facts,
        },
        boosting=boosting,
        tree_weights=tree_weights,
    )  # fmt: skip
    return checked(model)


def tree_of(foreign: ForeignTree, schema: Schema, n_classes: tuple[int, ...], name: str) -> Tree:
    """One tree in our order.

    Raises ``InputFileError``: a branch leads out of the tree or to a node that another one leads to, a column does not
    exist, a cut or value is not a number, a code is not one of the column's levels.
    """
    levels_of_tree, order, first_child = _in_order(foreign, name)
    n, leaf = len(order), first_child < 0
    inner = np.flatnonzero(~leaf)
    column = np.where(leaf, -1, np.asarray(foreign.column)[order])
    _refuse(name, (column[inner] < 0) | (column[inner] >= len(schema)), "tests a column that does not exist")
    is_set = np.array([int(node) in foreign.levels for node in order.tolist()], bool) & ~leaf
    cut = np.where(leaf | is_set, 0.0, np.asarray(foreign.cut, np.float64)[order])
    _refuse(name, np.isnan(cut), "has nan as a cut")
    value = np.asarray(foreign.value, np.float64)[order].reshape(n, -1)
    _refuse(name, ~np.isfinite(value[leaf]).all(axis=1), "has a leaf whose value is not a finite number")
    weight = np.where(leaf, 1.0 if foreign.weight is None else np.asarray(foreign.weight, np.float64)[order], 0.0)
    _refuse(name, ~(np.abs(weight[leaf]) < _LARGEST), "has a leaf whose weight is not a finite number")
    weight[leaf] = np.maximum(weight[leaf], max(float(weight.max()) * _LEAST_SHARE, _LEAST_WEIGHT))
    if foreign.n_samples is None:
        n_samples = np.maximum(np.rint(np.minimum(weight, 2.0**62)), 1).astype(np.int64)
    else:
        n_samples = np.maximum(np.asarray(foreign.n_samples)[order].astype(np.int64), 1)
    n_samples = n_samples * leaf
    if n_classes:
        weight[leaf] = value[leaf][:, : n_classes[0]].sum(axis=1)
    impurity = np.zeros(n) if foreign.impurity is None else np.maximum(np.asarray(foreign.impurity)[order], 0.0)
    gain = None if foreign.gain is None else np.maximum(np.asarray(foreign.gain, np.float64)[order], 0.0)
    value[~leaf] = 0.0
    for nodes in reversed(levels_of_tree):  # values of inner nodes, the deepest first
        here = nodes[~leaf[nodes]]
        one, two = first_child[here], first_child[here] + 1
        n_samples[here] = n_samples[one] + n_samples[two]
        weight[here] = weight[one] + weight[two]
        if n_classes:
            value[here] = value[one] + value[two]
        else:
            share = (weight[two] / weight[here])[:, None]
            value[here] = value[one] + (value[two] - value[one]) * share
        if gain is not None:
            held = weight[one] * impurity[one] + weight[two] * impurity[two]
            impurity[here] = (held + gain[here]) / weight[here]
        elif foreign.impurity is None and not n_classes:
            with np.errstate(over="ignore"):
                apart = ((value[two] - value[one]) ** 2).sum(axis=1)
                spread = (
                    impurity[one] + (impurity[two] - impurity[one]) * share[:, 0] + apart * (share * (1 - share))[:, 0]
                )
            impurity[here] = np.where(spread < _LARGEST, spread, 0.0)
    if n_classes and foreign.impurity is None:
        impurity = count_impurity("gini", n_classes, value)
    starts, left, seen = _level_words(foreign, schema, order, is_set, column, name)
    unseen = np.zeros(n, bool) if foreign.unseen_left is None else np.asarray(foreign.unseen_left, bool)[order]
    for node in np.flatnonzero(is_set & unseen).tolist():
        code = len(schema.columns[column[node]].levels)
        left[starts[node] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
    return Tree(
        kind=np.where(leaf, LEAF, np.where(is_set, SUBSET, THRESHOLD)).astype(np.uint8),
        feature=column.astype(np.int32),
        threshold=cut,
        first_child=first_child.astype(np.int32),
        n_branches=np.where(leaf, 0, 2).astype(np.int32),
        missing_branch=np.where(leaf | np.asarray(foreign.missing_left, bool)[order], 0, 1).astype(np.int32),
        level_set=starts.astype(np.int32),
        n_samples=n_samples,
        weight=weight,
        impurity=impurity,
        value=value,
        levels_left=left,
        levels_seen=seen,
    )


def _in_order(foreign: ForeignTree, name: str) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Nodes level by level, siblings side by side.

    Returns ``levels`` list of int64: new positions of each level; ``order`` int64[m]: the old position of each;
    ``first_child`` int64[m].
    """
    left, right = (np.asarray(each).astype(np.int64) for each in (foreign.left, foreign.right))
    n = len(left)
    _refuse(name, np.array([n == 0 or len(right) != n]), "has no nodes")
    _refuse(name, (left < 0) != (right < 0), "has a node with one branch")
    _refuse(name, (left >= n) | (right >= n), "has a branch that leads nowhere")
    here, reached = np.zeros(1, np.int64), 1
    levels, orders, children = [np.zeros(1, np.int64)], [here], []
    while True:
        is_inner = left[here] >= 0
        first = np.full(len(here), -1, np.int64)
        first[is_inner] = reached + 2 * np.arange(int(is_inner.sum()))
        children.append(first)
        here = np.stack([left[here[is_inner]], right[here[is_inner]]], axis=1).reshape(-1)
        if not len(here):
            break
        levels.append(np.arange(reached, reached + len(here)))
        reached += len(here)
        # At most as many nodes as there are: a cycle would never end.
        _refuse(name, np.array([reached > n]), "has a node that two branches lead to")
        orders.append(here)
    order = np.concatenate(orders)
    _refuse(name, np.array([len(np.unique(order)) != len(order)]), "has a node that two branches lead to")
    return levels, order, np.concatenate(children)


def _level_words(
    foreign: ForeignTree, schema: Schema, order: np.ndarray, is_set: np.ndarray, column: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of levels as words: the first word of each node (-1 without), and ``levels_left`` and ``levels_seen``."""
    starts, at = np.full(len(order), -1, np.int64), 0
    places: list[np.ndarray] = []
    sizes: list[tuple[int, int]] = []
    for node in np.flatnonzero(is_set).tolist():
        tested = schema.columns[column[node]]
        codes, n_levels = np.asarray(foreign.levels[int(order[node])]).astype(np.int64), len(tested.levels)
        _refuse(name, np.array([tested.kind != "nominal"]), f"tests column {tested.name!r} for levels, but it has none")
        _refuse(
            name, (codes < 0) | (codes >= n_levels), f"tests column {tested.name!r} for a level that it does not have"
        )
        starts[node] = at
        places.append(codes + 64 * at)
        sizes.append((at, n_levels))
        at += n_levels // 64 + 1
    left, seen = np.zeros((2, at), np.uint64)
    for codes in places:
        np.bitwise_or.at(left, codes >> 6, np.uint64(1) << (codes & 63).astype(np.uint64))
    for begin, n_levels in sizes:
        every = np.arange(n_levels) + 64 * begin
        np.bitwise_or.at(seen, every >> 6, np.uint64(1) << (every & 63).astype(np.uint64))
    return starts, left, seen


def _refuse(name: str, bad: np.ndarray, words: str) -> None:
    """Raise an error with these words if any element is bad."""
    if bad.any():
        raise InputFileError(f"{name} {words}")


_MOST_BYTES = 4 << 30
_HEAD = 4096  # first bytes of a file, by which it is recognized


@dataclass(frozen=True)
class Reader:
    """One library whose models are read, by functions of a module next to this one that is imported when it is used."""

    name: str
    module: str
    package: str = ""  # of the classes of its objects; empty if none are read
    reads_files: bool = True

    def begins(self, head: bytes, ending: str) -> bool:
        """Whether a file is one of the library, by its first bytes and its ending."""
        return bool(self._call("begins", head, ending))

    def of_file(self, data: bytes) -> ModelData:
        """The model in a file, from all its bytes."""
        model: ModelData = self._call("of_file", data)
        return model

    def of_object(self, fitted: Any) -> ModelData:
        """The model in a fitted object."""
        model: ModelData = self._call("of_object", fitted)
        return model

    def _call(self, name: str, *given: Any) -> Any:
        return getattr(import_module(f"treewright.exchange.{self.module}"), name)(*given)


READERS: tuple[Reader, ...] = (
    Reader("Treewright's JSON", "structure"),
    Reader("XGBoost", "from_xgboost", "xgboost"),
    Reader("LightGBM", "from_lightgbm", "lightgbm"),
    Reader("CatBoost", "from_catboost", "catboost"),
    Reader("ONNX", "from_onnx", "onnx"),
    Reader("YDF", "from_ydf", "ydf", reads_files=False),
    Reader("scikit-learn", "from_scikit", "sklearn", reads_files=False),
)
# Errors of reading a damaged file: a missing name or position, a wrong type, a number out of range. A reader does not
# check everything before it uses it.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError)


def read(source: str | os.PathLike[str] | Any) -> ModelData:
    """The model in a file of another library, or in a fitted object of it.

    Raises ``InputFileError``: the file cannot be read, is of no known kind, or is damaged. ``ParameterError``: the
    object is of no known library, or trees of this library cannot represent its model; the message gives the reason.
    """
    if not isinstance(source, str | os.PathLike):
        package = type(source).__module__.partition(".")[0]
        for reader in READERS:
            if package == reader.package:
                try:
                    return reader.of_object(source)
                except InputFileError as error:  # an object is read like a file
                    raise ParameterError(f"{type(source).__name__}: {error}") from None
        known = ", ".join(reader.name for reader in READERS if reader.package)
        if package == "treewright":
            raise ParameterError(f"{type(source).__name__} is of this library: use it, or its model_, directly")
        raise ParameterError(f"{type(source).__name__} of {package!r} is not read: give a model of {known}")
    path = Path(os.fsdecode(os.fspath(source)))
    if os.path.isfile(path / "data_spec.pb"):  # noqa: PTH113 - a Path would raise where it may not look
        raise InputFileError(f"{path}: a model folder of YDF, which only YDF reads: give ydf.load_model({str(path)!r})")
    with open_regular(path) as (file, size):
        if size > _MOST_BYTES:
            raise InputFileError(f"{path}: {size:,} bytes are too many for a model of trees ({_MOST_BYTES:,} at most)")
        data = file.read()
    for reader in READERS:
        if reader.reads_files and reader.begins(data[:_HEAD], path.suffix.lower()):
            try:
                return reader.of_file(data)
            except (InputFileError, ModelFileError) as error:
                raise InputFileError(f"{path}: {error}") from None
            except _DAMAGE as error:
                said = f"{type(error).__name__}: {error}"[:300]
                raise InputFileError(f"{path}: damaged, or not a model of {reader.name} ({said})") from error
    if b'"treewright' in data[:_HEAD] or path.suffix == ".tw":
        raise InputFileError(f"{path}: a model file of this library: use treewright.load, or give it to a command")
    if data[:1] == b"\x80" or path.suffix.lower() in (".pkl", ".pickle", ".joblib"):
        raise InputFileError(
            f"{path}: a pickle, which can run any code when it is opened: load it yourself if you trust it, and give "
            "the object to read_model"
        )
    known = ", ".join(reader.name for reader in READERS if reader.reads_files)
    raise InputFileError(f"{path}: not a model file of {known}")


def named(
    model: ModelData, columns: Sequence[str] | None, target: str | None, classes: Sequence[Any] | None,
    unseen: Unseen | None,
) -> ModelData:  # fmt: skip
    """The same model with given names of columns, classes and target.

    Raises ``ParameterError``: there are not as many names as columns or classes, or two are equal.
    """
    for name, words in (("columns", columns), ("classes", classes)):
        if words is not None and (isinstance(words, str) or not isinstance(words, Sequence | np.ndarray)):
            raise ParameterError(f"{name}={words!r}: give a list")
        if words is not None and not all(isinstance(word, Hashable) for word in words):
            raise ParameterError(f"{name}={words!r}: give a list of strings or numbers")
    if columns is not None:
        given = model.schema.columns
        if len(columns) != len(given):
            raise ParameterError(f"columns: {len(columns)} names for {len(given)} columns: name each once")
        twice = next((name for at, name in enumerate(columns) if name in columns[:at]), None)
        if twice is not None:
            raise ParameterError(f"columns: {twice!r} occurs twice: name each column once")
        renamed = (replace(column, name=name) for column, name in zip(given, columns, strict=True))
        model = replace(model, schema=Schema(tuple(renamed), named=True))
    if classes is not None:
        n_classes = model.n_classes[0] if len(model.classes) == 1 else 0
        if len(classes) != n_classes or len(set(classes)) != len(classes):
            raise ParameterError(f"classes: {len(classes)} labels for {n_classes} classes: name each once")
        labels = np.array(list(classes), object)
        kinds = {type(label) for label in classes}
        model = replace(model, classes=(np.array(list(classes)) if len(kinds) == 1 else labels,))
    if target is not None:
        if not isinstance(target, str):
            raise ParameterError(f"target={target!r}: give a string")
        if model.n_targets != 1:
            raise ParameterError(f"target={target!r} is one name, but the model has {model.n_targets} targets")
        model = replace(model, target_names=(target,) * model.n_outputs)
    if unseen not in (None, *get_args(Unseen)):
        raise ParameterError(f"unseen={unseen!r}: give one of {', '.join(get_args(Unseen))}")
    return model if unseen is None else replace(model, unseen=unseen)


def json_of(data: bytes) -> Any:
    """The content of a JSON file.

    Raises ``InputFileError``: it is not JSON, nested deeper than Python reads, or an object has a name twice, of which
    other readers may use the first.
    """
    try:
        return json.loads(data, object_pairs_hook=named_once)
    except RecursionError:
        raise InputFileError("not a model: it is nested too deeply") from None
    except ValueError as error:
        raise InputFileError(f"damaged, or not JSON: {error}") from None


def named_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dict; a name that occurs twice is refused."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise InputFileError(f"the file contradicts itself: {double!r} occurs twice in one place")
    return found
