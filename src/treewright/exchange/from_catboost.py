"""Models of CatBoost. In: a file of ``save_model(..., format="json")``, or a fitted object. Out: a ``ModelData``.

A symmetric tree has one split on each of its levels; bit ``i`` of a leaf's number is the outcome of split ``i``. Such a
tree is written out in full here, except branches that an earlier cut of the same column leaves empty. CatBoost rounds
a cell to float32 and goes right if it is above the border.

The leaves of a tree hold a number for each score, so a round becomes one tree for each score here, all of one shape.
CatBoost adds the leaves in the order of the trees and the bias last; boosted trees here start with it. The sums are
bit-identical if the bias is 0 (all classifiers), else equal up to rounding.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treewright.data.encoder import numbered
from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError, ParameterError
from treewright.exchange.foreign import ForeignTree, cut_of_float32, imported, json_of
from treewright.trees.data import Boosting, Link, ModelData
from treewright.trees.threshold import Threshold

_DEEPEST = 20  # splits of a symmetric tree; CatBoost grows 16 at most
_CLASSES = ("Logloss", "CrossEntropy", "Focal", "MultiClass", "MultiLogloss", "MultiCrossEntropy")
_MANY_OUTPUTS = ("MultiLogloss", "MultiCrossEntropy")
_LOGARITHMS = ("Poisson", "Tweedie")
_NUMBERS = (
    "RMSE", "MAE", "Quantile", "MultiQuantile", "Huber", "Expectile", "LogLinQuantile", "Lq", "MAPE", "LogCosh",
    "RMSPE", "MultiRMSE", "MultiRMSEWithMissingValues", "YetiRank", "YetiRankPairwise", "PairLogit",
    "PairLogitPairwise", "QueryRMSE", "QuerySoftMax", "QueryCrossEntropy", "StochasticFilter", "StochasticRank",
    "LambdaMart",
)  # fmt: skip
# The name of a loss in our own fits, the name of its option there, and in CatBoost, with CatBoost's default.
_LOSSES: dict[str, tuple[str, str, str, float]] = {
    "RMSE": ("squared_error", "", "", 0.0),
    "MultiRMSE": ("squared_error", "", "", 0.0),
    "MAE": ("absolute_error", "", "", 0.0),
    "Quantile": ("quantile", "quantile", "alpha", 0.5),
    "Expectile": ("expectile", "expectile", "alpha", 0.5),
    "Huber": ("huber", "huber_delta", "delta", 1.0),
    "Poisson": ("poisson", "", "", 0.0),
    "Tweedie": ("tweedie", "tweedie_power", "variance_power", 1.5),
    "Logloss": ("log_loss", "", "", 0.0),
    "MultiClass": ("log_loss", "", "", 0.0),
    "MultiLogloss": ("log_loss", "", "", 0.0),
}
_LABELS: dict[str, type] = {"Integer": int, "Float": float, "String": str, "Boolean": bool}
_HASHED = (
    "and the model keeps only 32-bit hashes of the levels. Train on numeric columns, or on columns of 0 and 1 for "
    "the levels"
)


class _Place(NamedTuple):
    """The column of a numeric feature."""

    column: int
    missing_left: bool
    borders: np.ndarray  # float32, ascending
    first: int  # the number of its first border among those of all features


_Places = dict[int, _Place]  # by the number of the feature


def begins(head: bytes, ending: str) -> bool:
    """Whether a file with these first bytes is a model of CatBoost."""
    del ending
    if head.startswith(b"CBM1"):
        return True
    return head.lstrip().startswith(b"{") and (b'"features_info"' in head or b'"ctr_data"' in head)


def of_object(fitted: Any) -> ModelData:
    """The model of a fitted ``CatBoost``, ``CatBoostClassifier``, ``CatBoostRegressor`` or ``CatBoostRanker``.

    Raises ``ParameterError``: it is not fitted, or CatBoost does not write it as JSON. ``InputFileError``: trees of
    this library cannot represent it; the message gives the reason.
    """
    name = type(fitted).__name__
    if not callable(getattr(fitted, "save_model", None)):
        raise ParameterError(f"{name} is not a model of CatBoost: give a fitted CatBoost, or a file of save_model")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        try:
            fitted.save_model(str(path), format="json")
        except Exception as error:  # a class of CatBoost: not fitted, or not possible in JSON
            raise ParameterError(f"CatBoost does not write this {name} as JSON: {error}") from error
        data = path.read_bytes()
    return _model_of(json_of(data), name)


def of_file(data: bytes) -> ModelData:
    """The model in a file of JSON.

    Raises ``InputFileError``: it is in CatBoost's own format, damaged, or trees of this library cannot represent it;
    the message gives the reason.
    """
    if data.startswith(b"CBM1"):
        raise InputFileError(
            "a model in CatBoost's own format, which only CatBoost reads: load it there, and give the object, or the "
            'file that model.save_model("model.json", format="json") writes'
        )
    return _model_of(json_of(data), "")


def _model_of(content: dict[str, Any], class_name: str) -> ModelData:
    info = content["model_info"]
    kind, options = _loss_of(info)
    if kind not in _CLASSES + _LOGARITHMS + _NUMBERS:
        why = {
            "MultiClassOneVsAll": "the probabilities of its classes do not add up to 1; train with MultiClass",
            "RMSEWithUncertainty": "it predicts a mean and a variance",
        }.get(kind, "the meaning of its scores is not known")
        raise InputFileError(f"the loss {kind!r} is not read: {why}")
    schema, places = _schema_of(content["features_info"])
    scale, bias = float(content["scale_and_bias"][0]), np.array(content["scale_and_bias"][1], np.float64).reshape(-1)
    if not abs(scale) < np.inf:
        raise InputFileError(f"the scale of the scores is {scale!r}, not a finite number")
    symmetric = content.get("oblivious_trees")
    if symmetric is not None and "trees" in content:
        raise InputFileError("the file contradicts itself: it has both oblivious_trees and trees")
    listed = content["trees"] if symmetric is None else symmetric
    if not listed:
        raise InputFileError("the model has no trees: it predicts the same for every row")
    trees: list[ForeignTree] = []
    grown = _grown if symmetric is None else _symmetric
    for number, tree in enumerate(listed):
        tree = grown(tree, places, len(bias), f"tree {number}")
        with np.errstate(over="ignore", invalid="ignore"):
            trees += [replace(tree, value=tree.value[:, score : score + 1] * scale) for score in range(len(bias))]
    source: dict[str, Any] = {"library": "catboost", "loss": kind}
    version = str(info.get("catboost_version_info", "")).partition("release ")[2].partition(" ")[0].rstrip(".")
    source |= {"version": version} if version else {}
    source |= {"class": class_name} if class_name else {}
    facts: dict[str, Any] = {}
    if kind in _LOSSES:
        name, option, here, default = _LOSSES[kind]
        facts["loss"] = {"name": name} | ({option: float(options.get(here, default))} if option else {})
    classes: tuple[np.ndarray, ...] = ()
    target_names: tuple[str, ...] = ()
    n_outputs = len(bias)
    link: Link = "log" if kind in _LOGARITHMS else "identity"
    if kind in _CLASSES:
        link = "classes"
        labels = _labels_of(info.get("class_params") or {}, len(bias))
        if kind in _MANY_OUTPUTS:
            target_names = tuple(map(str, labels.tolist()))
            classes = (np.array([0, 1]),) * n_outputs
        else:
            classes, n_outputs = (labels,), 1
            if len(labels) == len(bias) == 2:  # one score gives both probabilities: the second minus the first
                pairs = zip(trees[::2], trees[1::2], strict=True)
                trees, bias = [replace(one, value=two.value - one.value) for one, two in pairs], bias[1:] - bias[:1]
    if kind == "MultiQuantile":
        target_names = tuple(f"quantile {level.strip()}" for level in str(options.get("alpha", "")).split(","))
        target_names = target_names if len(target_names) == n_outputs else ()
    model = imported(
        trees, schema, task="classification" if classes else "regression", combine="sum",
        algorithm="gradient_boosting", criterion="gradient", source=source, classes=classes, n_outputs=n_outputs,
        boosting=Boosting(tuple(bias.tolist()), link), target_names=target_names, **facts,
    )  # fmt: skip
    if "binclass_probability_threshold" not in info:
        return model
    at = float(info["binclass_probability_threshold"])
    if model.n_classes != (2,) or not 0.0 < at < 1.0:
        raise InputFileError(f"a threshold of {at!r} for {len(bias)} scores is not read")
    return replace(model, threshold=Threshold(1, float(np.nextafter(at, 1.0)), "set in CatBoost"))  # above, not at it


def _loss_of(info: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The kind of the loss, and its options; the file states them up to three times."""
    params = info.get("params") or {}
    stated = [each["loss_function"] for each in (params, info) if "loss_function" in each]
    parsed = [json.loads(loss) if isinstance(loss, str) and loss.startswith("{") else loss for loss in stated]
    found = [(loss, {}) if isinstance(loss, str) else (loss["type"], loss.get("params") or {}) for loss in parsed]
    kind, options = found[0]
    if kind in _LOSSES or kind in _CLASSES:  # ranking states the metric that it improves instead
        metric = (params.get("metrics") or {}).get("objective_metric") or {}
        found += [(metric["type"], metric.get("params") or {})] if "type" in metric else []
    other = next((each for each in found if each != found[0]), None)
    if other is not None:
        raise InputFileError(f"the file contradicts itself: the loss is {found[0]} in one place, {other} in another")
    return kind, options


def _schema_of(info: dict[str, Any]) -> tuple[Schema, _Places]:
    """The columns in the order of the table, and the positions of the numeric features among them."""
    for kind in ("text_features", "embedding_features"):
        if info.get(kind):
            raise InputFileError(f"the model uses {kind.replace('_', ' ')}, which are not read")
    found = [(feature, True) for feature in info.get("float_features") or ()]
    found += [(feature, False) for feature in info.get("categorical_features") or ()]
    found.sort(key=lambda each: each[0]["flat_feature_index"])
    if [feature["flat_feature_index"] for feature, _ in found] != list(range(len(found))):
        raise InputFileError("the features are not numbered from 0")
    for kind, are_numbers in (("float_features", True), ("categorical_features", False)):
        numbers = [feature["feature_index"] for feature, is_number in found if is_number == are_numbers]
        if numbers != list(range(len(numbers))):
            raise InputFileError(
                f"the file contradicts itself: {kind} have the numbers {numbers} in the order of columns"
            )
    names = [feature.get("feature_id", "") for feature, _ in found]
    if not all(isinstance(name, str) for name in names):
        raise InputFileError("the name of a feature is not a string")
    named = any(name not in ("", str(at)) for at, name in enumerate(names))
    columns: list[Column] = []
    places: _Places = {}
    n_borders = 0
    for (feature, is_number), name in zip(found, names if named else numbered(len(names)), strict=True):
        way = feature["nan_value_treatment"] if is_number else "AsIs"
        if way not in ("AsFalse", "AsTrue", "AsIs"):
            raise InputFileError(f"feature {name!r}: the treatment {way!r} of missing values is not known")
        left_out = "" if is_number else "no tree tests the column"
        seen = is_number and bool(feature["has_nans"])
        if is_number:
            if way == "AsTrue" and not seen:
                raise InputFileError(
                    f"the file contradicts itself: feature {name!r} has no missing cells (has_nans), but they are "
                    f"treated as {way} (nan_value_treatment)"
                )
            borders = _float32(feature.get("borders") or ())
            if borders.ndim != 1 or not (np.diff(borders) > 0).all():
                raise InputFileError(f"feature {name!r}: its borders are not in ascending order")
            places[feature["feature_index"]] = _Place(len(columns), way != "AsTrue", borders, n_borders)
            n_borders += len(borders)
        columns.append(Column(name, "numeric", missing_seen=seen, left_out=left_out))
    return Schema(tuple(columns), named), places


def _labels_of(content: dict[str, Any], n_scores: int) -> np.ndarray:
    """The labels in the order of the scores: with equal scores CatBoost predicts the first, as we do."""
    names, codes = content.get("class_names") or [], content.get("class_to_label") or [0, 1]
    n_classes = content.get("classes_count") or len(names) or max(codes) + 1
    is_odd = len(names) not in (0, n_classes) or len(set(names)) != len(names) or (n_scores == 1 and n_classes != 2)
    if is_odd or not set(codes) <= set(range(n_classes)):
        raise InputFileError(
            f"the file contradicts itself: class_to_label {codes}, {len(names)} class_names and a classes_count of "
            f"{content.get('classes_count') or 0}"
        )
    labels = [names[int(code)] for code in codes] if names else [int(code) for code in codes]
    kind = _LABELS[content.get("class_label_type", "Integer")]
    if len(labels) != (2 if n_scores == 1 else n_scores):
        raise InputFileError(f"{len(labels)} class labels for {n_scores} scores")
    if not all(type(label) is kind or (kind is float and type(label) is int) for label in labels):
        raise InputFileError(f"a class label is not of type {kind.__name__}, as the others are")
    found = np.array([kind(label) for label in labels])
    if found.dtype.kind == "O" or (kind is float and not np.isfinite(found).all()):
        raise InputFileError(f"a class label is not a finite {kind.__name__} of 64 bits")
    return found


def _test_of(split: dict[str, Any], places: _Places, name: str) -> tuple[int, float, bool]:
    """The column that a split tests, its border, and whether a missing cell goes left."""
    kind = split["split_type"]
    if kind != "FloatFeature":
        why = {
            "OnlineCtr": f"it tests statistics of the target by level, {_HASHED}",
            "OneHotFeature": f"it tests for a level of a categorical feature, {_HASHED}",
        }.get(kind, f"it has a test of kind {kind!r}, which is not read")
        raise InputFileError(f"{name}: {why}")
    place, border, number = places[split["float_feature_index"]], float(split["border"]), split["split_index"]
    at = number - place.first if isinstance(number, int) else -1
    # CatBoost follows the number, and writes the border next to it.
    if not (0 <= at < len(place.borders) and place.borders[at] == _float32(border)):
        raise InputFileError(
            f"{name}: the file contradicts itself: a split of feature {split['float_feature_index']} has the border "
            f"{border!r} and the split_index {number!r}, but features_info has {len(place.borders)} borders of this "
            f"feature, from number {place.first}, and not this one at that number"
        )
    return place.column, border, place.missing_left


def _float32(borders: Any) -> np.ndarray:
    """Borders as CatBoost keeps them."""
    with np.errstate(over="ignore"):
        return np.array(borders, np.float32)


def _cuts(borders: Any) -> np.ndarray:
    return cut_of_float32(_float32(borders), strict=False)


def _symmetric(content: dict[str, Any], places: _Places, n_scores: int, name: str) -> ForeignTree:
    """A tree with the same split in all nodes of a level, the first split first; ``value`` is float64[n, n_scores]."""
    tested = [_test_of(split, places, name) for split in content.get("splits") or ()]
    depth = len(tested)
    values, weights = np.array(content["leaf_values"], np.float64), content.get("leaf_weights")
    if depth > _DEEPEST or values.shape != (n_scores << depth,):
        raise InputFileError(f"{name} has {values.size} leaf values for {depth} splits and {n_scores} scores")
    if weights is not None and np.shape(weights) != (1 << depth,):
        raise InputFileError(f"{name} has {np.size(weights)} leaf weights for {depth} splits")
    columns = [column for column, _, _ in tested]
    cuts = _cuts([border for _, border, _ in tested])
    # Open paths: their outcomes so far as bits, and the node whose branch each of them is. The branch of no node, -1,
    # is written to the last row, which no node has.
    paths, parent, side = np.zeros(1, np.int64), np.full(1, -1), np.zeros(1, np.int64)
    branches, level_of = np.full((2 << depth, 2), -1), np.zeros(2 << depth, np.int64)
    n = 0
    for level in range(depth):
        is_left, is_right = np.zeros((2, len(paths)), bool)
        for before in range(level):
            if columns[before] == columns[level]:
                went_right = (paths >> before & 1).astype(bool)
                is_left |= ~went_right & (cuts[before] <= cuts[level])
                is_right |= went_right & (cuts[before] >= cuts[level])
        asks = ~(is_left | is_right)
        nodes = n + np.arange(int(asks.sum()))
        n += len(nodes)
        branches[parent[asks], side[asks]] = nodes
        level_of[nodes] = level
        known = paths[~asks] | is_right[~asks].astype(np.int64) << level
        paths = np.concatenate([known, paths[asks], paths[asks] | 1 << level])
        parent = np.concatenate([parent[~asks], nodes, nodes])
        side = np.concatenate([side[~asks], np.zeros_like(nodes), np.ones_like(nodes)])
    leaves = n + np.arange(len(paths))
    branches[parent, side] = leaves
    n += len(leaves)
    value = np.zeros((n, n_scores))
    value[leaves] = values.reshape(-1, n_scores)[paths]
    weight = None
    if weights is not None:
        weight = np.zeros(n)
        weight[leaves] = np.array(weights, np.float64)[paths]
    at = level_of[:n]
    column, cut, missing_left = (
        np.array([*each, fill])[at] for each, fill in ((columns, 0), (cuts, 0.0), ([way for _, _, way in tested], True))
    )
    return ForeignTree(branches[:n, 0], branches[:n, 1], column, cut, missing_left, value, weight)


def _grown(content: dict[str, Any], places: _Places, n_scores: int, name: str) -> ForeignTree:
    """A tree of any shape; ``value`` is float64[n, n_scores]."""
    nodes, left, right = [content], [-1], [-1]
    tested: list[tuple[int, float, bool]] = []
    for at, node in enumerate(nodes):  # the list grows in the loop
        if "split" not in node:
            tested.append((0, 0.0, True))
            continue
        tested.append(_test_of(node["split"], places, name))
        left[at], right[at] = len(nodes), len(nodes) + 1
        nodes += [node["left"], node["right"]]
        left += [-1, -1]
        right += [-1, -1]
    value, weight = np.zeros((len(nodes), n_scores)), np.zeros(len(nodes))
    for at, node in enumerate(nodes):
        if "split" not in node:
            stated = np.array(node["value"], np.float64).reshape(-1)
            if len(stated) != n_scores:
                raise InputFileError(f"{name} has a leaf with {len(stated)} values for {n_scores} scores")
            value[at], weight[at] = stated, float(node.get("weight", 1.0))
    column, borders, missing_left = (np.array(each) for each in zip(*tested, strict=True))
    return ForeignTree(np.array(left), np.array(right), column, _cuts(borders), missing_left, value, weight)
