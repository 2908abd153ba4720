"""Models of Yggdrasil Decision Forests. In: a model of the package ``ydf``. Out: a ``ModelData``.

Models are read through the package: only ``ydf.load_model`` reads the folder of a saved one.

A condition of YDF sends a row to its positive branch if it holds, and states the branch of a missing cell. Numbers are
compared in float32, ``x >= threshold``: the positive branch is the right one here. For levels the positive branch is
the left one; item 0 of a dictionary stands for all levels that it does not hold, and an empty text is a missing cell.
Leaf values are float32, and YDF adds them in float32: sums are equal within that rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.exchange.foreign import ForeignTree, cut_of_float32, imported
from treewright.trees.data import Boosting, Combine, Link, ModelData
from treewright.trees.threshold import Threshold

_BOOSTED, _FOREST = "GradientBoostedTreesModel", "RandomForestModel"  # a tree of CART is a forest of one
_LOSS_FOLDER = "yggdrasil_decision_forests.model.gradient_boosted_trees"
# The link of the scores, and the name of the loss in our own fits.
_LOSSES: dict[str, tuple[Link, str]] = {
    "BINOMIAL_LOG_LIKELIHOOD": ("classes", "log_loss"),
    "MULTINOMIAL_LOG_LIKELIHOOD": ("classes", "log_loss"),
    "BINARY_FOCAL_LOSS": ("classes", ""),
    "SQUARED_ERROR": ("identity", "squared_error"),
    "MEAN_AVERAGE_ERROR": ("identity", "absolute_error"),
    "POISSON": ("log", "poisson"),
    "LAMBDA_MART_NDCG": ("identity", ""),
    "LAMBDA_MART_NDCG5": ("identity", ""),
    "XE_NDCG_MART": ("identity", ""),
}
_BOOLEAN, _NUMBERS = "BOOLEAN", ("NUMERICAL", "DISCRETIZED_NUMERICAL")


def of_object(fitted: Any) -> ModelData:
    """The model of gradient boosted trees, a random forest or a tree of CART.

    Raises ``ParameterError``: trees of this library cannot represent the object; the message gives the reason.
    """
    name = type(fitted).__name__
    if name not in (_BOOSTED, _FOREST):
        raise ParameterError(f"{name} is not read: give gradient boosted trees, a random forest or a tree of CART")
    task = fitted.task().name
    if task not in ("CLASSIFICATION", "REGRESSION", "RANKING"):
        raise ParameterError(f"the model is for {task.lower()}: classification, regression and ranking are read")
    specs = fitted.data_spec().columns
    features = list(fitted.input_features_col_idxs())
    columns = Schema(tuple(_column_of(specs[at]) for at in features))
    places = {at: place for place, at in enumerate(features)}
    labels: tuple[np.ndarray, ...] = ()
    if task == "CLASSIFICATION":
        labels = (np.array(_levels_of(specs[fitted.label_col_idx()], fitted.label_classes())),)
    n_classes = len(labels[0]) if labels else 0
    trees = []
    for number, tree in enumerate(fitted.iter_trees()):
        test_of = partial(_test_of, specs=specs, schema=columns, places=places, name=f"tree {number}")
        trees.append(_tree_of(tree.root, test_of, 0 if name == _BOOSTED else n_classes, name == _BOOSTED))
    if not trees:
        raise ParameterError("the model has no trees: it predicts the same for every row")
    facts: dict[str, Any] = {}
    boosting = None
    combine: Combine = "single" if len(trees) == 1 else "mean"
    if name == _FOREST:
        algorithm, criterion = "cart" if len(trees) == 1 else "random_forest", "gini" if labels else "squared_error"
        combine = "vote" if labels and fitted.winner_takes_all() else combine
    else:
        algorithm, criterion, combine = "gradient_boosting", "gradient", "sum"
        named = import_module(f"{_LOSS_FOLDER}.gradient_boosted_trees_pb2").Loss
        loss = named.Name(int(fitted._model.loss()))  # no public function returns it
        if loss not in _LOSSES:
            raise ParameterError(f"the loss {loss} is not read: the meaning of its scores is not known")
        link, known = _LOSSES[loss]
        facts = {"loss": {"name": known}} if known else {}
        base = tuple(float(each) for each in fitted.initial_predictions())
        if labels and len(base) != (1 if n_classes == 2 else n_classes):
            raise ParameterError(
                f"{len(base)} scores for {n_classes} classes are not read: use BINOMIAL_LOG_LIKELIHOOD"
            )
        boosting = Boosting(base, link)
    version = getattr(import_module("ydf"), "__version__", "")
    model = imported(
        trees, columns, task="classification" if labels else "regression", combine=combine, algorithm=algorithm,
        criterion=criterion, source={"library": "ydf", "version": version, "class": name}, classes=labels,
        boosting=boosting, target_names=(fitted.label(),), **facts,
    )  # fmt: skip
    # At one half YDF predicts the second class.
    return replace(model, threshold=Threshold(1, 0.5, "as YDF predicts")) if n_classes == 2 else model


def _word(spec: Any, field: str) -> str:
    """The name of a column's type, or of its cells' type."""
    return str(spec.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number[getattr(spec, field)].name)


def _levels_of(spec: Any, texts: Sequence[str]) -> list[Any]:
    """The levels of a dictionary with the types of the table: YDF keeps their texts."""
    dtype = _word(spec, "dtype")
    if "INT" in dtype:
        return [int(text) for text in texts]
    return [text == "true" for text in texts] if dtype == "DTYPE_BOOL" else list(texts)


def _column_of(spec: Any) -> Column:
    """A column from its YDF description."""
    kind, missing = _word(spec, "type"), spec.count_nas > 0
    if kind in _NUMBERS:
        return Column(spec.name, "numeric", missing_seen=missing)
    if kind == _BOOLEAN:
        return Column(spec.name, "nominal", (False, True), missing, "boolean")
    if kind != "CATEGORICAL" or spec.categorical.is_already_integerized:
        return Column(spec.name, "numeric", left_out="no tree tests the column")
    items = sorted((value.index, text) for text, value in spec.categorical.items.items() if value.index > 0)
    if [index for index, _ in items] != list(range(1, len(items) + 1)):
        raise ParameterError(f"the dictionary of column {spec.name!r} is not numbered from 1")
    levels = _levels_of(spec, [text for _, text in items])
    family = {int: "number", bool: "boolean"}.get(type(levels[0]) if levels else str, "string")
    if family == "string":
        levels.append("")  # follows the branch of a missing cell
    return Column(spec.name, "nominal", tuple(levels), missing, family)


class _Test(NamedTuple):
    """The test of a node, as in ``ForeignTree``; ``levels`` is None for a cut."""

    column: int
    cut: float
    missing_left: bool
    positive_left: bool
    levels: list[int] | None = None
    unseen_left: bool = False


def _test_of(tested: Any, specs: Any, schema: Schema, places: dict[int, int], name: str) -> _Test:
    """The test of a YDF condition."""
    kind, place = type(tested).__name__, places.get(getattr(tested, "attribute", -1), -1)
    column = schema.columns[place]
    if place < 0 or column.left_out:
        kind = f"{kind}, or a column of a kind,"
    missing = bool(tested.missing)
    if kind == "NumericalHigherThanCondition":
        return _Test(place, _cut(tested.threshold), not missing, False)
    if kind == "DiscretizedNumericalHigherThanCondition":
        borders = specs[tested.attribute].discretized_numerical.boundaries
        return _Test(place, _cut(borders[tested.threshold_idx - 1]), not missing, False)
    if kind == "IsTrueCondition":
        return _Test(place, 0.0, missing, True, [1])
    empty = [len(column.levels) - 1] if column.family == "string" else []  # the empty text
    n_items = len(column.levels) - len(empty)
    if kind == "CategoricalIsInCondition":
        items = set(tested.mask)
        levels = [item - 1 for item in items if 0 < item <= n_items] + empty * missing
        return _Test(place, 0.0, missing, True, levels, 0 in items)
    if kind == "IsMissingInCondition" and column.kind == "nominal":
        return _Test(place, 0.0, False, False, list(range(n_items)), True)
    if kind == "IsMissingInCondition":
        return _Test(place, np.inf, False, False)
    raise ParameterError(f"{name} has a condition of kind {kind} that is not read")


def _cut(threshold: float) -> float:
    """The largest number below a threshold in float32."""
    return float(cut_of_float32(np.array([threshold], np.float32), strict=True)[0])


def _tree_of(root: Any, test_of: Callable[[Any], _Test], n_classes: int, is_boosted: bool) -> ForeignTree:
    """A tree; the class proportions of a forest's leaves become counts."""
    nodes, branches, tests, gain = [root], [], [], []
    for node in nodes:  # the list grows in the loop
        if node.is_leaf:
            tests.append(_Test(0, 0.0, True, True))
            branches.append((-1, -1))
            gain.append(0.0)
            continue
        test = test_of(node.condition)
        tests.append(test)
        branches.append((len(nodes), len(nodes) + 1))
        gain.append(node.condition.score * node.value.num_examples)
        nodes += [node.pos_child, node.neg_child] if test.positive_left else [node.neg_child, node.pos_child]
    found = [node.value for node in nodes]
    weight = np.array([max(value.num_examples, 0.0) for value in found])
    impurity = None
    if n_classes:
        value = np.array([each.probability for each in found]) * np.where(weight > 0, weight, 1.0)[:, None]
    else:
        value = np.array([[each.value] for each in found])
        spreads = [each.standard_deviation for each in found]
        impurity = None if is_boosted or None in spreads else np.array(spreads) ** 2
    left, right = np.array(branches).T
    column, cut, missing_left = (np.array([test[at] for test in tests]) for at in range(3))
    return ForeignTree(
        left, right, column, cut, missing_left, value, weight, impurity=impurity,
        gain=np.array(gain) if is_boosted else None,
        levels={at: np.array(test.levels, np.int64) for at, test in enumerate(tests) if test.levels is not None},
        unseen_left=np.array([test.unseen_left for test in tests]),
    )  # fmt: skip
