"""XGBoost's models. In: a JSON or UBJSON file, or an object of the library. Out: a ``ModelData``.

Both kinds of file hold one value (lists, numbers, texts by name), and an object gives the bytes of the second kind. The
value is read in three steps: what makes an answer of the sums (the objective), what the columns are, and the trees.

What XGBoost does, seen in its source and by trials with 3.2: a cell is rounded to float32 and goes left where it is
below the cut; a category goes right where the node lists it, and any other code goes left; missing cells go as
``default_left`` says. Leaves are float32 and added in float32, here in float64; with "dart" a leaf counts times the
weight of its tree, rounded to float32.
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
from treewright.importing.reading import json_of
from treewright.importing.trees import ForeignTree, cut_of_float32, imported
from treewright.model.aggregation import Boosting, Link
from treewright.model.data import ModelData

_MOST_COLUMNS = 1_000_000
_DEEPEST = 64  # lists in lists of a UBJSON file; XGBoost's own are 8 deep
_LEAST_SHARE = np.float32(1e-6)  # shares that scores begin at are kept so far from 0 and 1
_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_WORDS = {b"T": True, b"F": False, b"Z": None}


@dataclass(frozen=True)
class _Objective:
    """How scores are read, what the base is a number of, and the loss that it is here; empty where there is none."""

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
_NO_SHARES = "it answers 0 or 1 and has no shares: train it with binary:logistic"
_NO_NUMBER = "its predict gives a share as a number, which no model of numbers here does: train an XGBClassifier"
_NO_CLASS = "the predict of an XGBClassifier takes the sums for shares: give its get_booster(), which predicts numbers"


# Files and objects ----------------------------------------------------------------------------------------------------


def begins(head: bytes, ending: str) -> bool:
    """Whether a file is one of XGBoost's."""
    del ending
    return head[:4] in (b"binf", b"bs64") or (head[:1] == b"{" and b"learner" in head[:64])


def of_file(data: bytes) -> ModelData:
    """The model of a file.

    One that a wrapper (``XGBClassifier``, ...) saved predicts as the wrapper does, up to the best round where training
    stopped early; one that a ``Booster`` saved has all rounds.

    Raises
    ------
    InputFileError
        The file is damaged, or its model does what trees of this library cannot say.
    """
    if data[:4] in (b"binf", b"bs64"):
        raise InputFileError("XGBoost's old binary form: load it with XGBoost 3.0 or before and save it as .ubj")
    parsed = json_of(data) if data[1:64].lstrip()[:1] == b'"' else _whole_ubjson(data)
    about = parsed["learner"].get("attributes", {}).get("scikit_learn")
    kind = None if about is None else json.loads(about).get("_estimator_type")
    return _model(
        parsed, "Booster" if about is None else f"XGB{str(kind).capitalize()}", kind, is_best=about is not None
    )


def of_object(source: Any) -> ModelData:
    """The model of a ``Booster``, or of a wrapper such as ``XGBClassifier``.

    Raises
    ------
    ParameterError
        The object is not fitted, is no model, or does what trees of this library cannot say.
    """
    name, is_wrapper = type(source).__name__, hasattr(source, "get_booster")
    if not is_wrapper and not hasattr(source, "save_raw"):
        raise ParameterError(f"{name} is no model: give a Booster, or a fitted XGBClassifier or XGBRegressor")
    missing = getattr(source, "missing", None)
    if missing is not None and not math.isnan(missing):
        raise ParameterError(f"{name} has missing={missing!r}: here a missing cell is nan, train it with missing=nan")
    try:
        data = bytes((source.get_booster() if is_wrapper else source).save_raw("ubj"))
    except Exception as error:
        raise ParameterError(f"{name} cannot be read, is it fitted? XGBoost says: {error}") from error
    kind = ("classifier" if hasattr(source, "predict_proba") else "regressor") if is_wrapper else None
    labels = np.asarray(source.classes_) if kind == "classifier" else None
    return _model(_whole_ubjson(data), name, kind, is_best=is_wrapper, labels=labels)


def _model(parsed: Any, name: str, kind: str | None, *, is_best: bool, labels: np.ndarray | None = None) -> ModelData:
    """The model of what a file holds; ``kind`` says how a wrapper predicts."""
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
            # Shares of two scores are those of their difference, which is the one score of two classes here.
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
    # Of categories that it kept XGBoost refuses a new one; a code without a name that no node lists goes left.
    return replace(model, unseen="error") if any(stored) else model


# What makes an answer of the sums -------------------------------------------------------------------------------------


def _objective(name: str, kind: str | None, param: Mapping[str, Any]) -> _Objective:
    """How the scores of an objective are read; refused where ours would not predict what the original does."""
    how, why = _OBJECTIVES.get(name), ""
    if how is None:
        why = _NO_SHARES if name == "binary:hinge" else f"the known ones are {', '.join(_OBJECTIVES)}"
    elif how.link == "classes" and (kind == "regressor" or (kind is None and name == "reg:logistic")):
        why = _NO_NUMBER
    elif how.link != "classes" and kind == "classifier":
        why = _NO_CLASS
    elif name == "binary:logitraw" and not param["base_score"].startswith("["):
        why = "versions before 3.1 differ in what its base is: load it with XGBoost 3.1 or later and save it again"
    if how is None or why:
        raise InputFileError(f"the objective {name!r} is not read: {why}")
    return how


def _base(text: str, how: _Objective, n_scores: int) -> tuple[float, ...]:
    """Where scores begin, in float32 as XGBoost has it."""
    given = np.array([float(each) for each in text.strip("[]").split(",")]).astype(np.float32)
    if len(given) not in (1, n_scores):
        raise InputFileError(f"scores begin at {len(given)} numbers, and there are {n_scores} scores")
    one = np.float32(1)
    with np.errstate(all="ignore"):
        if how.base == "share":
            given = np.clip(given, _LEAST_SHARE, one - _LEAST_SHARE)
            given = -log_of((one / given - one).astype(np.float64)).astype(np.float32)
        elif how.base == "mean":
            given = log_of(given.astype(np.float64)).astype(np.float32)
    if not np.isfinite(given).all():
        raise InputFileError(f"scores begin at {text}, of which no finite score comes")
    return tuple(np.broadcast_to(given, n_scores).astype(np.float64).tolist())


def _loss(name: str, objective: Mapping[str, Any]) -> dict[str, Any]:
    """The loss as facts have it; of several quantiles none, since XGBoost does not sort them."""
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
    """The columns, and per column the codes of its levels, ascending; None of a column of numbers.

    A table of categories leaves its levels in the model; of a column of codes the levels are those that a node lists.
    """
    n = int(learner["learner_model_param"]["num_feature"])
    names, types = learner.get("feature_names") or [], learner.get("feature_types") or []
    if not 0 < n <= _MOST_COLUMNS or len(names) not in (0, n) or len(types) not in (0, n) or len(stored) not in (0, n):
        raise InputFileError(f"{n:,} columns, {len(names):,} names, {len(types):,} types: these are no table")
    if not all(isinstance(name, str) for name in names):
        raise InputFileError("a name of a column is no text")
    listed: dict[int, list[np.ndarray]] = {at: [] for at in range(len(types)) if types[at] == "c"}
    for tree in trees:
        for node, asked in tree.levels.items():
            listed.setdefault(int(tree.column[node]), []).append(asked)
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
    """The levels of each column as the model keeps them, in the order of their codes; empty where it keeps none."""
    found: list[tuple[Any, ...]] = []
    for each in (model.get("cats") or {}).get("enc") or []:
        values = np.asarray(each["values"])
        if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            raise InputFileError("a category is neither a text nor a number")
        if "offsets" not in each:
            found.append(tuple(values.tolist()))
            continue
        text, ends = values.astype(np.int8).tobytes(), _whole(each, "offsets").tolist()
        if not text.isascii():
            # XGBoost 3.2 counts characters of pandas texts and keeps as many bytes: what is here may be cut off.
            raise InputFileError(
                "a category is a text beyond ASCII, of which XGBoost keeps only a part where the table was of pandas: "
                "train it with other names, or with codes"
            )
        found.append(tuple(text[begin:end].decode() for begin, end in pairwise(ends)))
    return found if any(found) else []


def _positions(tree: ForeignTree, schema: Schema, codes: Sequence[np.ndarray | None]) -> dict[int, np.ndarray]:
    """The categories that nodes list as positions of levels."""
    found = {}
    for node, asked in tree.levels.items():
        at = int(tree.column[node])
        own = codes[at] if 0 <= at < len(schema) else None
        if own is None or not np.isin(asked, own).all():
            raise InputFileError("a node lists a category that its column does not have")
        found[node] = np.searchsorted(own, asked)
    return found


# Trees ----------------------------------------------------------------------------------------------------------------


def _trees(
    learner: Mapping[str, Any], is_best: bool
) -> tuple[list[ForeignTree], np.ndarray, int, list[tuple[Any, ...]]]:
    """The trees, to which score each adds, how many scores there are, and the levels of the columns."""
    booster = learner["gradient_booster"]
    name, weights = booster["name"], None
    if name not in ("gbtree", "dart"):
        raise InputFileError(f"the booster is {name!r}: only trees are read, those of 'gbtree' and 'dart'")
    model = booster["model"] if name == "gbtree" else booster["gbtree"]["model"]
    entries, group = model["trees"], _whole(model, "tree_info")
    param, n = learner["learner_model_param"], len(entries)
    if not n or len(group) != n:
        raise InputFileError(f"{n} trees, of {len(group)} of which is told to which score they add")
    if name == "dart":
        weights = _numbers(booster, "weight_drop", n)
    n_scores = max(1, int(param["num_class"]), int(param.get("num_target", 1)))
    width = int(entries[0]["tree_param"].get("size_leaf_vector", 1))
    is_vector = width > 1
    if is_vector and width != n_scores:
        raise InputFileError(f"a leaf has {width} numbers, and there are {n_scores} scores")
    kept = n
    best = learner.get("attributes", {}).get("best_iteration")
    if is_best and best is not None:
        in_round = (1 if is_vector else n_scores) * int(model["gbtree_model_param"].get("num_parallel_tree", 1))
        ends = _whole(model, "iteration_indptr") if "iteration_indptr" in model else np.arange(0, n + 1, in_round)
        kept = int(ends[min(int(best) + 1, len(ends) - 1)])
    trees: list[ForeignTree] = []
    for at in range(kept):
        if entries[at].get("id", at) != at:
            raise InputFileError(f"tree {at} has another number, {entries[at]['id']}")
        if int(entries[at]["tree_param"].get("size_leaf_vector", 1)) != width:
            raise InputFileError(f"tree {at} has leaves of another width")
        trees += _tree(entries[at], at, width, None if weights is None else weights[at])
    place = np.tile(np.arange(n_scores), kept) if is_vector else group[:kept]
    if not len(trees) or (place < 0).any() or (place >= n_scores).any() or n_scores > len(trees):
        raise InputFileError(f"{len(trees)} trees do not add to {n_scores} scores")
    counts = np.bincount(place, minlength=n_scores)
    if (counts != counts[0]).any():
        raise InputFileError(f"scores have {counts.min()} to {counts.max()} trees, expected the same number each")
    return trees, place, n_scores, _stored_levels(model)


def _tree(entry: Mapping[str, Any], at: int, width: int, weight: np.float32 | None) -> list[ForeignTree]:
    """A tree; of leaves with several numbers one for each."""
    left = _whole(entry, "left_children")
    n, leaf = len(left), left < 0
    right = np.where(leaf, -1, _whole(entry, "right_children", n))
    conditions = _numbers(entry, "split_conditions", n)
    hessian = _numbers(entry, "sum_hessian", n).astype(np.float64)
    if not np.isfinite(hessian).all():
        raise InputFileError(f"tree {at} has a hessian that is no number")
    if width > 1:
        said = _numbers(entry, "leaf_weights", int(leaf.sum()) * width).reshape(-1, width)
        of_leaf = np.where(leaf, _whole(entry, "right_children", n), 0)  # a leaf has the place of its numbers there
        if (of_leaf < 0).any() or (of_leaf >= len(said)).any():
            raise InputFileError(f"tree {at} has a leaf whose numbers are not there")
        value = said[of_leaf]
    else:
        value = np.where(leaf, conditions, np.float32(0))[:, None]
    if weight is not None:
        value = value * weight
    levels = _listed(entry, at, n, leaf)
    # What a node lists goes right, and ours goes left: the branches change places. So they do where nothing but a
    # missing cell can go left, which is asked for as "is there a value?".
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
    """The categories that each node of categories lists."""
    kinds = _whole(entry, "split_type", n) if len(entry.get("split_type", ())) else np.zeros(n, np.int64)
    nodes = np.flatnonzero((kinds == 1) & ~leaf)
    if not len(nodes):
        return {}
    codes, which = _whole(entry, "categories"), _whole(entry, "categories_nodes")
    begin, size = _whole(entry, "categories_segments", len(which)), _whole(entry, "categories_sizes", len(which))
    if (begin < 0).any() or (size < 0).any() or (begin + size > len(codes)).any() or size.sum() > len(codes):
        raise InputFileError(f"tree {at} lists categories that are not there")
    if (codes < 0).any() or len(np.unique(which)) != len(which) or not np.isin(nodes, which).all():
        raise InputFileError(f"tree {at} has a node of categories without any, or one with two lists")
    place = {int(node): row for row, node in enumerate(which.tolist())}
    rows = {int(node): place[int(node)] for node in nodes.tolist()}
    return {node: codes[begin[row] : begin[row] + size[row]] for node, row in rows.items()}


def _whole(entry: Mapping[str, Any], name: str, n: int | None = None) -> np.ndarray:
    """Whole numbers: int64[n]."""
    found = np.asarray(entry[name])
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iub") or (n is not None and len(found) != n):
        raise InputFileError(f"{name} is no list of {'' if n is None else f'{n:,} '}whole numbers")
    return found.astype(np.int64)


def _numbers(entry: Mapping[str, Any], name: str, n: int) -> np.ndarray:
    """Numbers: float32[n]."""
    found = np.asarray(entry[name])
    if found.shape != (n,) or found.dtype.kind not in "iuf":
        raise InputFileError(f"{name} is no list of {n:,} numbers")
    with np.errstate(all="ignore"):
        return found.astype(np.float32)


# UBJSON ---------------------------------------------------------------------------------------------------------------


def _whole_ubjson(data: bytes) -> Any:
    """What a file of UBJSON holds."""
    value, end = _ubjson(data, 0, 0)
    if end != len(data):
        raise InputFileError(f"no whole UBJSON: {len(data) - end:,} bytes are behind its end")
    return value


def _ubjson(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """The value that begins at a place of a UBJSON file, and where the next one does.

    Lists of numbers of one type are arrays. Nothing is read or made room for beyond the end of the bytes.
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
        raise InputFileError("no model: it is nested too deep")
    if kind == b"{":
        named: dict[str, Any] = {}
        while data[at : at + 1] != b"}":
            name, at = _text(data, at, depth)
            named[name], at = _ubjson(data, at, depth + 1)
        return named, at + 1
    if kind != b"[":
        raise InputFileError(f"no whole UBJSON: byte {at - 1:,} begins no value")
    listed: list[Any] = []
    if data[at : at + 1] == b"$":
        kind = data[at + 1 : at + 2]
        if kind not in _NUMBERS or data[at + 2 : at + 3] != b"#":
            raise InputFileError(f"no whole UBJSON: byte {at:,} begins no list of numbers")
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
    """How many bytes or values follow, which is not more than there are bytes, and where they begin."""
    if data[at : at + 1] not in (b"i", b"U", b"I", b"l", b"L"):
        raise InputFileError(f"no whole UBJSON: byte {at:,} begins no length")
    count, at = _ubjson(data, at, depth)
    if not 0 <= count <= len(data) - at:
        raise InputFileError(f"no whole UBJSON: {count:,} are told at byte {at:,}, and {len(data) - at:,} bytes follow")
    return count, at


def _text(data: bytes, at: int, depth: int) -> tuple[str, int]:
    """The text whose length begins at a place."""
    count, at = _count(data, at, depth)
    return data[at : at + count].decode("utf-8"), at + count


def _array(data: bytes, at: int, kind: bytes, count: int) -> np.ndarray:
    """Numbers of one type, in the byte order of this machine."""
    dtype = np.dtype(_NUMBERS[kind])
    if count * dtype.itemsize > len(data) - at:
        raise InputFileError(f"no whole UBJSON: it ends within the numbers at byte {at:,}")
    return np.frombuffer(data, dtype, count, at).astype(dtype.newbyteorder("="))
