"""XGBoost's models. In: a JSON or UBJSON file, or an object of the library. Out: a ``ModelData``.

Both kinds of file hold one value (lists, numbers, texts by name), and an object gives the bytes of the second kind. The
value is read in three steps: the objective, which turns sums into predictions, the columns, and the trees.

The behaviour of XGBoost, from its source and from trials with 3.2: a cell is rounded to float32 and goes left if it is
below the cut; a category goes right if the node lists it, and any other code goes left; missing cells follow
``default_left``. Leaves are float32 and added in float32, here in float64; with "dart" a leaf counts times the weight
of its tree, rounded to float32.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from treewright.core.elementary import log_of
from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError, ParameterError
from treewright.exchange.foreign import ForeignTree, cut_of_float32, imported, json_of, named_once
from treewright.trees.data import Boosting, Link, ModelData

_MOST_COLUMNS = 1_000_000
_NONE = 2**31 - 1  # the parent of a root, and the column of a node that was pruned
_DEEPEST = 64  # lists in lists of a UBJSON file; XGBoost's own are 8 deep
_LEAST_SHARE = np.float32(1e-6)  # the least distance from 0 and 1 of a probability as the base score
_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_WORDS = {b"T": True, b"F": False, b"Z": None}


@dataclass(frozen=True)
class _Objective:
    """The link of an objective, the unit of its base, and its loss here; empty if there is none."""

    link: Link = "identity"
    base: Literal["score", "share", "mean"] = "score"
    loss: str = ""


_OBJECTIVES = {
    "reg:squarederror": _Objective(loss="squared_error"),
    "reg:linear": _Objective(loss="squared_error"),
    "reg:absoluteerror": _Objective(loss="absolute_error"),
    "reg:quantileerror": _Objective(loss="quantile"),
    "reg:squaredlogerror": _Objective(),
    "reg:pseudohubererror": _Objective(),
    "rank:pairwise": _Objective(),
    "rank:ndcg": _Objective(),
    "rank:map": _Objective(),
    "binary:logitraw": _Objective(),
    "count:poisson": _Objective("log", "mean", "poisson"),
    "reg:gamma": _Objective("log", "mean", "gamma"),
    "reg:tweedie": _Objective("log", "mean", "tweedie"),
    "survival:cox": _Objective("log", "mean"),
    "survival:aft": _Objective("log", "mean"),
    "binary:logistic": _Objective("classes", "share", "log_loss"),
    "reg:logistic": _Objective("classes", "share", "log_loss"),
    "multi:softprob": _Objective("classes", "score", "log_loss"),
    "multi:softmax": _Objective("classes", "score", "log_loss"),
}
_NO_SHARES = "it predicts 0 or 1 without probabilities: train it with binary:logistic"
_NO_NUMBER = "its predict returns a probability as a number, which no regression here does: train an XGBClassifier"
_NO_CLASS = "the predict of an XGBClassifier treats the sums as probabilities: give its get_booster(), a regression"


# Files and objects ----------------------------------------------------------------------------------------------------


def begins(head: bytes, ending: str) -> bool:
    """Whether a file with these first bytes is a model of XGBoost."""
    del ending
    return head[:4] in (b"binf", b"bs64") or (head[:1] == b"{" and b"learner" in head[:64])


def of_file(data: bytes) -> ModelData:
    """The model of a file.

    If a wrapper (``XGBClassifier``, ...) saved it, it predicts as the wrapper does, up to the best round if training
    stopped early; if a ``Booster`` saved it, it has all rounds.

    Raises ``InputFileError``: the file is damaged, or trees of this library cannot represent its model.
    """
    if data[:4] in (b"binf", b"bs64"):
        raise InputFileError("XGBoost's old binary format: load it with XGBoost 3.0 or earlier and save it as .ubj")
    parsed = json_of(data) if data[1:64].lstrip()[:1] == b'"' else _whole_ubjson(data)
    about = parsed["learner"].get("attributes", {}).get("scikit_learn")
    kind = None if about is None else json.loads(about).get("_estimator_type")
    return _model(
        parsed, "Booster" if about is None else f"XGB{str(kind).capitalize()}", kind, is_best=about is not None
    )


def of_object(source: Any) -> ModelData:
    """The model of a ``Booster``, or of a wrapper such as ``XGBClassifier``.

    Raises ``ParameterError``: the object is not fitted, is not a model, or trees of this library cannot represent it.
    """
    name, is_wrapper = type(source).__name__, hasattr(source, "get_booster")
    if not is_wrapper and not hasattr(source, "save_raw"):
        raise ParameterError(f"{name} is not a model: give a Booster, or a fitted XGBClassifier or XGBRegressor")
    missing = getattr(source, "missing", None)
    if missing is not None and not math.isnan(missing):
        raise ParameterError(f"{name} has missing={missing!r}, but missing cells are nan here: train with missing=nan")
    try:
        data = bytes((source.get_booster() if is_wrapper else source).save_raw("ubj"))
    except Exception as error:
        raise ParameterError(f"{name} cannot be read; is it fitted? XGBoost's message: {error}") from error
    kind = ("classifier" if hasattr(source, "predict_proba") else "regressor") if is_wrapper else None
    labels = np.asarray(source.classes_) if kind == "classifier" else None
    return _model(_whole_ubjson(data), name, kind, is_best=is_wrapper, labels=labels)


def _model(parsed: Any, name: str, kind: str | None, *, is_best: bool, labels: np.ndarray | None = None) -> ModelData:
    """The model of the content of a file; ``kind`` is that of the wrapper's predictions."""
    learner = parsed["learner"]
    objective, param = learner["objective"], learner["learner_model_param"]
    how = _objective(objective["name"], kind, param)
    trees, place, n_scores, stored = _trees(learner, is_best)
    base = _base(param["base_score"], how, n_scores)
    schema, codes = _columns(learner, stored, trees)
    foreign = [replace(tree, levels=_positions(tree, schema, codes)) for tree in trees]
    order = np.argsort(place, kind="stable").reshape(n_scores, -1).T.ravel()  # round by round
    n_outputs = n_scores
    classes: tuple[np.ndarray, ...] = ()
    if how.link == "classes":
        is_many = objective["name"].startswith("multi:")
        n_outputs, n_classes = (1, n_scores) if is_many else (n_scores, 2)
        own = np.arange(n_classes)
        if labels is not None and labels.shape == own.shape and (np.diff(labels) > 0).all():
            own = labels
        classes = (own,) * n_outputs
        if is_many and n_scores == 2:
            # The probabilities of two scores depend on their difference, which is the one score of two classes here.
            foreign = [
                replace(tree, value=-tree.value) if first else tree
                for tree, first in zip(foreign, place == 0, strict=True)
            ]
            base = (base[1] - base[0],)
    loss = _loss(how.loss, objective)
    facts: dict[str, Any] = {"loss": loss} if loss else {}
    model = imported(
        [foreign[at] for at in order.tolist()],
        schema,
        task="classification" if classes else "regression",
        combine="sum",
        algorithm="gradient_boosting",
        criterion="gradient",
        source={
            "library": "XGBoost", "version": ".".join(map(str, parsed["version"])), "class": name,
            "objective": objective["name"],
        },
        classes=classes,
        n_outputs=n_outputs,
        boosting=Boosting(base, how.link),
        **facts,
    )  # fmt: skip
    # XGBoost refuses a new category if it keeps their names; without names, a code that no node lists goes left.
    return replace(model, unseen="error") if any(stored) else model


# From sums to predictions ---------------------------------------------------------------------------------------------


def _objective(name: str, kind: str | None, param: Mapping[str, Any]) -> _Objective:
    """The meaning of an objective's scores; refused if our predictions would differ from the original ones."""
    how, why = _OBJECTIVES.get(name), ""
    if how is None:
        why = _NO_SHARES if name == "binary:hinge" else f"the known ones are {', '.join(_OBJECTIVES)}"
    elif how.link == "classes" and (kind == "regressor" or (kind is None and name == "reg:logistic")):
        why = _NO_NUMBER
    elif how.link != "classes" and kind == "classifier":
        why = _NO_CLASS
    elif name == "binary:logitraw" and not param["base_score"].startswith("["):
        why = "before version 3.1 its base has another meaning: load it with XGBoost 3.1 or later and save it again"
    if how is None or why:
        raise InputFileError(f"the objective {name!r} is not read: {why}")
    return how


def _base(text: str, how: _Objective, n_scores: int) -> tuple[float, ...]:
    """The base scores, computed in float32 like XGBoost."""
    given = np.array([float(each) for each in text.strip("[]").split(",")]).astype(np.float32)
    if len(given) not in (1, n_scores):
        raise InputFileError(f"{len(given)} base scores for {n_scores} scores")
    one = np.float32(1)
    with np.errstate(all="ignore"):
        if how.base == "share":
            given = np.clip(given, _LEAST_SHARE, one - _LEAST_SHARE)
            given = -log_of((one / given - one).astype(np.float64)).astype(np.float32)
        elif how.base == "mean":
            given = log_of(given.astype(np.float64)).astype(np.float32)
    if not np.isfinite(given).all():
        raise InputFileError(f"the base score {text} gives no finite score")
    return tuple(np.broadcast_to(given, n_scores).astype(np.float64).tolist())


def _loss(name: str, objective: Mapping[str, Any]) -> dict[str, Any]:
    """The loss as a fact; empty for several quantiles, which XGBoost does not sort."""
    if name == "quantile":
        levels = json.loads(objective["quantile_loss_param"]["quantile_alpha"])
        levels = levels if isinstance(levels, list) else [levels]
        return {"name": name, "quantile": float(levels[0])} if len(levels) == 1 else {}
    if name == "tweedie":
        return {"name": name, "tweedie_power": float(objective["tweedie_regression_param"]["tweedie_variance_power"])}
    return {"name": name} if name else {}


# Columns --------------------------------------------------------------------------------------------------------------


def _columns(
    learner: Mapping[str, Any], stored: Sequence[tuple[Any, ...]], trees: Sequence[ForeignTree]
) -> tuple[Schema, list[np.ndarray | None]]:
    """The columns, and per column the codes of its levels, ascending; None for a numeric column.

    A model trained on categories keeps its levels; for a column of codes the levels are those that a node lists.
    """
    n = int(learner["learner_model_param"]["num_feature"])
    names, types = learner.get("feature_names") or [], learner.get("feature_types") or []
    if not 0 < n <= _MOST_COLUMNS or len(names) not in (0, n) or len(types) not in (0, n) or len(stored) not in (0, n):
        raise InputFileError(f"{n:,} columns, {len(names):,} names and {len(types):,} types do not match")
    if not all(isinstance(name, str) for name in names):
        raise InputFileError("the name of a column is not a string")
    listed: dict[int, list[np.ndarray]] = {at: [] for at in range(len(types)) if types[at] == "c"}
    for tree in trees:
        for node, tested in tree.levels.items():
            listed.setdefault(int(tree.column[node]), []).append(tested)
    columns, codes = [], []
    for at in range(n):
        levels: tuple[Any, ...] = stored[at] if stored else ()
        own = np.arange(len(levels)) if levels else np.unique(np.concatenate([[], *listed.get(at, [])])).astype(int)
        levels = levels or tuple(own.tolist())
        is_nominal = at in listed and bool(levels)
        family = "string" if is_nominal and isinstance(levels[0], str) else "number"
        name = names[at] if names else f"x{at}"
        columns.append(Column(name, "nominal" if is_nominal else "numeric", levels if is_nominal else (), True, family))
        codes.append(own if is_nominal else None)
    return Schema(tuple(columns), named=bool(names)), codes


def _stored_levels(model: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The levels of each column that the model keeps, in the order of their codes; empty if it keeps none."""
    found: list[tuple[Any, ...]] = []
    for each in (model.get("cats") or {}).get("enc") or []:
        values = np.asarray(each["values"])
        if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            raise InputFileError("a category is neither a string nor a number")
        if "offsets" not in each:
            found.append(tuple(values.tolist()))
            continue
        text, ends = values.astype(np.int8).tobytes(), _whole(each, "offsets").tolist()
        if not text.isascii():
            # XGBoost 3.2 counts the characters of pandas strings and keeps as many bytes: the name may be cut off.
            raise InputFileError(
                "a category has a name beyond ASCII, of which XGBoost keeps only a part if the table was a pandas one: "
                "train it with other names, or with codes"
            )
        found.append(tuple(text[begin:end].decode() for begin, end in pairwise(ends)))
    return found if any(found) else []


def _positions(tree: ForeignTree, schema: Schema, codes: Sequence[np.ndarray | None]) -> dict[int, np.ndarray]:
    """The categories that nodes list, as positions among the levels."""
    found = {}
    for node, tested in tree.levels.items():
        at = int(tree.column[node])
        own = codes[at] if 0 <= at < len(schema) else None
        if own is None or not np.isin(tested, own).all():
            raise InputFileError("a node lists a category that its column does not have")
        found[node] = np.searchsorted(own, tested)
    return found


# Trees ----------------------------------------------------------------------------------------------------------------


def _trees(
    learner: Mapping[str, Any], is_best: bool
) -> tuple[list[ForeignTree], np.ndarray, int, list[tuple[Any, ...]]]:
    """The trees, the score that each adds to, the number of scores, and the levels of the columns."""
    booster = learner["gradient_booster"]
    name, weights = booster["name"], None
    if name not in ("gbtree", "dart"):
        raise InputFileError(f"the booster is {name!r}: only the trees of 'gbtree' and 'dart' are read")
    model = booster["model"] if name == "gbtree" else booster["gbtree"]["model"]
    entries, group = model["trees"], _whole(model, "tree_info")
    param, n = learner["learner_model_param"], len(entries)
    if not n or len(group) != n:
        raise InputFileError(f"{n} trees and {len(group)} entries of tree_info: expected equal numbers, at least 1")
    if name == "dart":
        weights = _numbers(booster, "weight_drop", n)
    n_scores = max(1, int(param["num_class"]), int(param.get("num_target", 1)))
    stated = learner["objective"].get("softmax_multiclass_param", {}).get("num_class", param["num_class"])
    _check_same("number of classes", int(param["num_class"]), int(stated))
    _check_same("number of trees", n, int(model.get("gbtree_model_param", {}).get("num_trees", n)))
    ends = _whole(model, "iteration_indptr") if "iteration_indptr" in model else None
    if ends is not None and (ends[0] != 0 or ends[-1] != n or (np.diff(ends) < 0).any()):
        raise InputFileError(f"the file contradicts itself: iteration_indptr does not divide {n} trees into rounds")
    width = int(entries[0]["tree_param"].get("size_leaf_vector", 1))
    is_vector = width > 1
    if is_vector and width != n_scores:
        raise InputFileError(f"a leaf has {width} numbers, but there are {n_scores} scores")
    kept = n
    best = learner.get("attributes", {}).get("best_iteration")
    if is_best and best is not None:
        in_round = (1 if is_vector else n_scores) * int(model["gbtree_model_param"].get("num_parallel_tree", 1))
        ends = np.arange(0, n + 1, in_round) if ends is None else ends
        kept = int(ends[min(int(best) + 1, len(ends) - 1)])
    trees: list[ForeignTree] = []
    for at in range(kept):
        if entries[at].get("id", at) != at:
            raise InputFileError(f"tree {at} has another number, {entries[at]['id']}")
        if int(entries[at]["tree_param"].get("size_leaf_vector", 1)) != width:
            raise InputFileError(f"tree {at} has leaves with another number of values")
        _check_same(
            f"number of columns of tree {at}", int(param["num_feature"]),
            int(entries[at]["tree_param"].get("num_feature", param["num_feature"])),
        )  # fmt: skip
        trees += _tree(entries[at], at, width, None if weights is None else weights[at])
    place = np.tile(np.arange(n_scores), kept) if is_vector else group[:kept]
    if not len(trees) or (place < 0).any() or (place >= n_scores).any() or n_scores > len(trees):
        raise InputFileError(f"tree_info does not assign {len(trees)} trees to {n_scores} scores")
    counts = np.bincount(place, minlength=n_scores)
    if (counts != counts[0]).any():
        raise InputFileError(f"scores have {counts.min()} to {counts.max()} trees, expected the same number each")
    return trees, place, n_scores, _stored_levels(model)


def _check_same(what: str, first: int, second: int) -> None:
    if first != second:
        raise InputFileError(f"the file contradicts itself: the {what} is {first} in one place, {second} in another")


def _check_nodes(entry: Mapping[str, Any], at: int, left: np.ndarray, right: np.ndarray) -> None:
    """Refuse a tree whose numbers of nodes, parents and branches contradict each other."""
    n, param = len(left), entry["tree_param"]
    _check_same(f"number of nodes of tree {at}", n, int(param.get("num_nodes", n)))
    pruned = int(np.count_nonzero(_whole(entry, "split_indices", n) == _NONE))
    _check_same(f"number of pruned nodes of tree {at}", pruned, int(param.get("num_deleted", pruned)))
    inner = np.flatnonzero(left >= 0)
    branches = np.concatenate([left[inner], right[inner]])
    if (branches >= n).any() or (branches < 0).any():
        raise InputFileError(f"tree {at} has a branch to a node that does not exist")
    if "parents" in entry:
        parents = _whole(entry, "parents", n)
        if not n or parents[0] not in (_NONE, -1) or (parents[branches] != np.tile(inner, 2)).any():
            raise InputFileError(f"the file contradicts itself: the parents of tree {at} are not those of its branches")
    ways = _whole(entry, "default_left", n)
    if not np.isin(ways, (0, 1)).all():
        odd = int(ways[~np.isin(ways, (0, 1))][0])
        raise InputFileError(f"tree {at} has a node with default_left {odd}, expected 0 or 1")


def _tree(entry: Mapping[str, Any], at: int, width: int, weight: np.float32 | None) -> list[ForeignTree]:
    """A tree; if leaves have several numbers, one tree for each number."""
    left = _whole(entry, "left_children")
    n, leaf = len(left), left < 0
    right = np.where(leaf, -1, _whole(entry, "right_children", n))
    _check_nodes(entry, at, left, right)
    conditions = _numbers(entry, "split_conditions", n)
    hessian = _numbers(entry, "sum_hessian", n).astype(np.float64)
    if not np.isfinite(hessian).all():
        raise InputFileError(f"tree {at} has a hessian that is not a number")
    if width > 1:
        stated = _numbers(entry, "leaf_weights", int(leaf.sum()) * width).reshape(-1, width)
        of_leaf = np.where(leaf, _whole(entry, "right_children", n), 0)  # a leaf has the position of its numbers there
        if (of_leaf < 0).any() or (of_leaf >= len(stated)).any():
            raise InputFileError(f"tree {at} has a leaf whose numbers are missing")
        value = stated[of_leaf]
    else:
        value = np.where(leaf, conditions, np.float32(0))[:, None]
    if weight is not None:
        value = value * weight
    levels = _listed(entry, at, n, leaf)
    # The listed categories go right, and ours go left: the branches are exchanged. So they are if only a missing cell
    # can go left, which becomes the test "is there a value?".
    turned = ~leaf & np.isneginf(conditions)
    turned[list(levels)] = True
    cut = cut_of_float32(np.where(turned | leaf, np.float32(0), conditions), strict=True)
    tree = ForeignTree(
        left=np.where(turned, right, left),
        right=np.where(turned, left, right),
        column=_whole(entry, "split_indices", n),
        cut=np.where(turned, np.inf, cut),
        missing_left=(_whole(entry, "default_left", n) != 0) ^ turned,
        value=value[:, :1],
        weight=hessian,
        gain=np.nan_to_num(_numbers(entry, "loss_changes", n).astype(np.float64), posinf=0.0, neginf=0.0),
        levels=levels,
    )
    return [replace(tree, value=value[:, place : place + 1]) for place in range(width)]


def _listed(entry: Mapping[str, Any], at: int, n: int, leaf: np.ndarray) -> dict[int, np.ndarray]:
    """The categories that each categorical node lists."""
    kinds = _whole(entry, "split_type", n) if len(entry.get("split_type", ())) else np.zeros(n, np.int64)
    if not np.isin(kinds, (0, 1)).all():
        raise InputFileError(f"tree {at} has a node of split_type {int(kinds.max())}, expected 0 or 1")
    nodes = np.flatnonzero((kinds == 1) & ~leaf)
    if not len(nodes) and not len(entry.get("categories_nodes", ())):
        return {}
    codes, which = _whole(entry, "categories"), _whole(entry, "categories_nodes")
    begin, size = _whole(entry, "categories_segments", len(which)), _whole(entry, "categories_sizes", len(which))
    if (begin < 0).any() or (size < 0).any() or (begin + size > len(codes)).any() or size.sum() > len(codes):
        raise InputFileError(f"tree {at} lists categories that do not exist")
    if (codes < 0).any() or not np.array_equal(np.sort(which), nodes):
        raise InputFileError(
            f"the file contradicts itself: categories_nodes of tree {at} are not its categorical nodes"
        )
    place = {int(node): row for row, node in enumerate(which.tolist())}
    rows = {int(node): place[int(node)] for node in nodes.tolist()}
    return {node: codes[begin[row] : begin[row] + size[row]] for node, row in rows.items()}


def _whole(entry: Mapping[str, Any], name: str, n: int | None = None) -> np.ndarray:
    """A list of whole numbers of the entry: int64[n]."""
    found = np.asarray(entry[name])
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iub") or (n is not None and len(found) != n):
        raise InputFileError(f"{name} is not a list of {'' if n is None else f'{n:,} '}whole numbers")
    return found.astype(np.int64)


def _numbers(entry: Mapping[str, Any], name: str, n: int) -> np.ndarray:
    """A list of numbers of the entry: float32[n]."""
    found = np.asarray(entry[name])
    if found.shape != (n,) or found.dtype.kind not in "iuf":
        raise InputFileError(f"{name} is not a list of {n:,} numbers")
    with np.errstate(all="ignore"):
        return found.astype(np.float32)


# UBJSON ---------------------------------------------------------------------------------------------------------------


def _whole_ubjson(data: bytes) -> Any:
    """The content of a UBJSON file."""
    value, end = _ubjson(data, 0, 0)
    if end != len(data):
        raise InputFileError(f"damaged UBJSON: {len(data) - end:,} bytes after its end")
    return value


def _ubjson(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """The value that begins at a position of a UBJSON file, and the position of the next one.

    Lists of numbers of one type are arrays. Nothing is read or allocated beyond the end of the bytes.
    """
    kind, at = data[at : at + 1], at + 1
    if kind in _NUMBERS:
        size = np.dtype(_NUMBERS[kind]).itemsize
        return _array(data, at, kind, 1)[0].item(), at + size
    if kind in _WORDS:
        return _WORDS[kind], at
    if kind == b"S":
        return _text(data, at, depth)
    if depth >= _DEEPEST:
        raise InputFileError("not a model: it is nested too deeply")
    if kind == b"{":
        pairs: list[tuple[str, Any]] = []
        while data[at : at + 1] != b"}":
            name, at = _text(data, at, depth)
            value, at = _ubjson(data, at, depth + 1)
            pairs.append((name, value))
        return named_once(pairs), at + 1
    if kind != b"[":
        raise InputFileError(f"damaged UBJSON: no value begins at byte {at - 1:,}")
    listed: list[Any] = []
    if data[at : at + 1] == b"$":
        kind = data[at + 1 : at + 2]
        if kind not in _NUMBERS or data[at + 2 : at + 3] != b"#":
            raise InputFileError(f"damaged UBJSON: no list of numbers begins at byte {at:,}")
        count, at = _count(data, at + 3, depth)
        array = _array(data, at, kind, count)
        return array, at + array.nbytes
    if data[at : at + 1] == b"#":
        count, at = _count(data, at + 1, depth)
        for _ in range(count):
            value, at = _ubjson(data, at, depth + 1)
            listed.append(value)
        return listed, at
    while data[at : at + 1] != b"]":
        value, at = _ubjson(data, at, depth + 1)
        listed.append(value)
    return listed, at + 1


def _count(data: bytes, at: int, depth: int) -> tuple[int, int]:
    """The number of bytes or values that follow, at most the bytes that are left, and their position."""
    if data[at : at + 1] not in (b"i", b"U", b"I", b"l", b"L"):
        raise InputFileError(f"damaged UBJSON: no length begins at byte {at:,}")
    count, at = _ubjson(data, at, depth)
    if not 0 <= count <= len(data) - at:
        raise InputFileError(f"damaged UBJSON: length {count:,} at byte {at:,}, but {len(data) - at:,} bytes follow")
    return count, at


def _text(data: bytes, at: int, depth: int) -> tuple[str, int]:
    """The text whose length begins at a position."""
    count, at = _count(data, at, depth)
    return data[at : at + count].decode("utf-8"), at + count


def _array(data: bytes, at: int, kind: bytes, count: int) -> np.ndarray:
    """Numbers of one type, in the byte order of this machine."""
    dtype = np.dtype(_NUMBERS[kind])
    if count * dtype.itemsize > len(data) - at:
        raise InputFileError(f"damaged UBJSON: it ends within the numbers at byte {at:,}")
    return np.frombuffer(data, dtype, count, at).astype(dtype.newbyteorder("="))
