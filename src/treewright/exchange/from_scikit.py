"""Fitted tree models of scikit-learn. In: a fitted estimator. Out: a ``ModelData``.

Only attributes are read; scikit-learn itself is not imported, and no pickle is opened. Three things are read:

- ``tree_`` objects (trees, forests, bagging, AdaBoost, ``GradientBoosting*``, isolation forests) round a cell to
  float32 and test ``cell <= threshold``. Their leaves hold numbers, or class proportions.
- ``TreePredictor`` objects (``HistGradientBoosting*``) compare float64, and store levels as the codes of an encoder.
- The way the predictions of many trees are combined: a mean, a weighted median, or scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from treewright.data.categories import python_scalar
from treewright.data.encoder import numbered
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError, InputFileError, ParameterError
from treewright.exchange.foreign import ForeignTree, cut_of_float32, imported
from treewright.trees.check_model import ISOLATION_FOREST
from treewright.trees.data import Boosting, Link, ModelData
from treewright.trees.threshold import Threshold

_TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")
_CONSTANT = {
    "DummyClassifier": ("prior", "most_frequent", "constant"),
    "DummyRegressor": ("mean", "median", "quantile", "constant"),
}
_NEAR = 1.0 + 2.0**-45 * np.arange(64)  # factors that change a weight in its last digits
_LINKS: dict[str, Link] = {"poisson": "log", "gamma": "log"}
_OF_FRIEDMAN = "friedman_mse"  # chooses splits by another score; its impurity is the squared error


def of_object(estimator: Any) -> ModelData:
    """The model of a fitted tree, forest or boosted model of scikit-learn.

    Raises ``ParameterError``: it is not fitted, is not a model of trees, or trees of this library cannot represent it;
    the message gives the reason.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> model = of_object(DecisionTreeRegressor().fit([[1.0], [2.0]], [5.0, 7.0]))
    >>> model.trees[0].threshold.tolist()[:1], model.trees[0].value[1:].tolist()
    ([1.5000000596046448], [[5.0], [7.0]])
    """
    name = type(estimator).__name__
    reader = _READERS.get(name)
    if reader is None:
        raise ParameterError(_refusal(estimator, name))
    if not hasattr(estimator, "n_features_in_"):
        raise ParameterError(f"{name} is not fitted: call fit first")
    try:
        return reader(estimator)
    except ParameterError:
        raise
    except (
        InputFileError, DataError, AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError,
    ) as error:  # fmt: skip
        raise ParameterError(f"{name} is not a completely fitted model: {error}") from error


def _refusal(estimator: Any, name: str) -> str:
    """The message for an object that is not read, with what to give instead."""
    known = ", ".join(_READERS)
    for attribute, words in (
        ("steps", "give its last step, pipeline[-1], which takes the columns that the other steps make"),
        ("best_estimator_", "give its best_estimator_"),
        ("estimators_", "trees cannot represent how it combines its models: give one of its estimators_"),
        ("estimator", "it changes the predictions of a model: give the fitted model inside"),
    ):
        if hasattr(estimator, attribute):
            return f"{name} is not read: {words}"
    return f"{name} is not read: give one of {known}"


# Columns and trees ----------------------------------------------------------------------------------------------------


def _schema(estimator: Any, levels: dict[int, tuple[tuple[Any, ...], str]] | None = None) -> Schema:
    """The columns; ``levels`` holds the levels and family of the nominal ones."""
    n = int(estimator.n_features_in_)
    given = getattr(estimator, "feature_names_in_", None)
    names = list(numbered(n)) if given is None else [python_scalar(name) for name in given]
    levels, seen = levels or {}, _missing(estimator) == "direction"
    columns = [
        Column(name, "nominal", levels[at][0], seen, levels[at][1]) if at in levels
        else Column(name, "numeric", missing_seen=seen)
        for at, name in enumerate(names)
    ]  # fmt: skip
    return Schema(tuple(columns), named=given is not None)


def _missing(estimator: Any) -> Literal["direction", "error"]:
    """Whether missing cells are allowed, by scikit-learn's own tag, not by whether fit saw any."""
    return "direction" if estimator.__sklearn_tags__().input_tags.allow_nan else "error"


def _tree(member: Any, value: np.ndarray, columns: Any = None, *, gains: bool = False) -> ForeignTree:
    """One ``tree_``; ``columns`` are the positions of its columns, None for all."""
    tree = member.tree_
    left, right = tree.children_left, tree.children_right
    column = tree.feature if columns is None else np.asarray(columns)[np.maximum(tree.feature, 0)]
    # Cells are float32: those up to a cut are those up to the last float32 that is not above it.
    with np.errstate(over="ignore"):
        cut = tree.threshold.astype(np.float32)
    cut = np.where(cut > tree.threshold, np.nextafter(cut, np.float32(-np.inf)), cut)
    gain = None
    if gains:
        held = tree.weighted_n_node_samples * tree.impurity
        gain = np.where(left < 0, 0.0, held - held[left] - held[right])
    return ForeignTree(
        left, right, column, cut_of_float32(cut, strict=False), np.asarray(tree.missing_go_to_left).astype(bool), value,
        weight=tree.weighted_n_node_samples, n_samples=tree.n_node_samples,
        impurity=None if gains else np.maximum(tree.impurity, 0.0) + 0.0, gain=gain,
    )  # fmt: skip


def _counts(member: Any, n_classes: Sequence[int], own: np.ndarray | None = None) -> np.ndarray:
    """Class counts of a ``tree_``, float64[n, all classes]; ``own`` are the classes of its columns."""
    tree = member.tree_
    weight, outputs = tree.weighted_n_node_samples, []
    for output, count in enumerate(n_classes):
        shares = np.zeros((tree.node_count, count))
        held = np.arange(count) if own is None else own
        shares[:, held] = tree.value[:, output, : len(held)]
        outputs.append(counts_of_shares(shares, weight))
    return np.concatenate(outputs, axis=1)


def counts_of_shares(shares: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Class counts whose proportions, as a model computes them, are bit-identical to the given ones: float64[n, k].

    scikit-learn keeps ``count / weight`` but not the count. Whole counts are restored by rounding. Others (rows or
    classes have weights, or proportions were made monotone) are searched among nearby weights. If proportions do not
    add up to 1 there often are none: then a proportion differs in its last bits, and the first largest one stays the
    same.

    ``shares`` float64[n, k], which add up to about 1; ``weight`` float64[n], > 0.

    Examples
    --------
    >>> counts_of_shares(np.array([[2 / 3, 1 / 3]]), np.array([3.0]))
    array([[2., 1.]])
    """
    whole = np.rint(shares * weight[:, None])
    is_whole = (whole.sum(axis=1) == weight) & _have(whole, shares)
    found = np.where(is_whole[:, None], whole, shares * weight[:, None])
    left = np.flatnonzero(~_have(found, shares))
    for factor in _NEAR:
        if not len(left):
            return found
        counts = shares[left] * (weight[left] * factor)[:, None]
        fits = _have(counts, shares[left])
        found[left[fits]] = counts[fits]
        left = left[~fits]
    off = left[found[left].argmax(axis=1) != shares[left].argmax(axis=1)]
    found[off] = np.ldexp(shares[off], np.frexp(weight[off])[1][:, None])  # exact: no two become equal
    return found


def _have(counts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """bool[n]: whether counts have exactly these proportions."""
    with np.errstate(invalid="ignore", divide="ignore"):
        made = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray((made == shares).all(axis=1))


def _refuse_others(estimator: Any, members: Sequence[Any]) -> None:
    """Refuse an ensemble whose members are not all trees."""
    for member in members:
        if type(member).__name__ not in _TREES:
            raise ParameterError(
                f"{type(estimator).__name__} of {type(member).__name__} is not read: give an ensemble of "
                f"{', '.join(_TREES)}"
            )


def _source(estimator: Any) -> dict[str, str]:
    return {"library": "scikit-learn", "version": version("scikit-learn"), "class": type(estimator).__name__}


def _criterion(estimator: Any) -> str:
    name = estimator.criterion
    if not isinstance(name, str):
        return type(name).__name__.lower()
    return "squared_error" if name == _OF_FRIEDMAN else name


def _classes(estimator: Any) -> tuple[np.ndarray, ...]:
    """The labels of each output; empty for regression."""
    found = getattr(estimator, "classes_", ())
    return tuple(found) if isinstance(found, list | tuple) else (found,)


# Trees, forests and bagging -------------------------------------------------------------------------------------------


def _alone_or_mean(
    estimator: Any, members: Sequence[Any], algorithm: str, columns: Sequence[Any] | None = None
) -> ModelData:
    """The model of a single tree, or of the mean of many."""
    classes, facts = _classes(estimator), _growth(members[0])
    _refuse_others(estimator, members)
    trees = []
    for at, member in enumerate(members):
        if classes:
            # A member of bagging may have only some of the classes, as codes.
            own = member.classes_ if columns is not None else None
            value = _counts(member, [len(labels) for labels in classes], own)
        else:
            value = member.tree_.value[:, :, 0]
        trees.append(_tree(member, value, None if columns is None else columns[at]))
    return imported(
        trees,
        _schema(estimator),
        task="classification" if classes else "regression",
        combine="single" if members[0] is estimator else "mean",
        algorithm=algorithm,
        criterion=_criterion(members[0]),
        source=_source(estimator),
        classes=classes,
        n_outputs=len(classes) or members[0].n_outputs_,
        missing=_missing(estimator),
        **({"member": {"algorithm": "cart", **facts}} if columns is not None else facts),
    )


def _growth(member: Any) -> dict[str, Any]:
    """The splitter of a tree, in the form of our own facts."""
    return {"parameters": {"splitter": str(getattr(member, "splitter", "best"))}}


def _single(estimator: Any) -> ModelData:
    return _alone_or_mean(estimator, [estimator], "cart")


def _forest(algorithm: str) -> Callable[[Any], ModelData]:
    return lambda estimator: _alone_or_mean(estimator, estimator.estimators_, algorithm)


def _bagging(estimator: Any) -> ModelData:
    return _alone_or_mean(estimator, estimator.estimators_, "bagging", estimator.estimators_features_)


def _isolation_forest(estimator: Any) -> ModelData:
    """The model of an isolation forest: path lengths, from which ``anomaly_scores`` computes scores."""
    size, trees = int(estimator._max_samples), []
    for member, columns, depth, rest in zip(
        estimator.estimators_,
        estimator.estimators_features_,
        estimator._decision_path_lengths,
        estimator._average_path_length_per_tree,
        strict=True,
    ):
        length = depth + rest - 1.0
        tree = _tree(member, length[:, None], columns)
        n_samples = member.tree_.n_node_samples
        if n_samples[0] != size:  # rows that were sampled several times: they are counted by weight
            n_samples = np.rint(member.tree_.weighted_n_node_samples).astype(np.int64)
        trees.append(replace(tree, n_samples=n_samples, impurity=_variance(tree, length)))
    return imported(
        trees, _schema(estimator), task="regression", combine="mean", algorithm=ISOLATION_FOREST,
        criterion="squared_error", source=_source(estimator), missing=_missing(estimator),
        max_samples=size, offset=float(estimator.offset_),
    )  # fmt: skip


def _variance(tree: ForeignTree, length: np.ndarray) -> np.ndarray:
    """float64[n]: variance of the path lengths of each node's rows; children come after their parents."""
    left, right, mean = tree.left.tolist(), tree.right.tolist(), length.tolist()
    weight, variance = np.asarray(tree.weight).tolist(), [0.0] * len(mean)
    for node in reversed(np.flatnonzero(tree.left >= 0).tolist()):
        one, two = left[node], right[node]
        share, apart = weight[two] / weight[node], mean[two] - mean[one]
        mean[node] = mean[one] + share * apart
        variance[node] = (1 - share) * (variance[one] + share * apart**2) + share * variance[two]
    return np.array(variance)


# Boosting -------------------------------------------------------------------------------------------------------------


def _boosted(
    estimator: Any, trees: Sequence[ForeignTree], schema: Schema, base: np.ndarray, link: Link, **facts: Any
) -> ModelData:
    """The model of trees that add to scores."""
    classes, scores = _classes(estimator), tuple(np.asarray(base, np.float64).ravel().tolist())
    return imported(
        trees, schema, task="classification" if classes else "regression", combine="sum",
        criterion="gradient", source=_source(estimator), classes=classes, boosting=Boosting(scores, link),
        missing=_missing(estimator), **facts,
    )  # fmt: skip


def _gradient_boosting(estimator: Any) -> ModelData:
    """``GradientBoosting*``: a leaf adds learning rate times value."""
    stages, name = estimator.estimators_, estimator.loss
    twice = 2.0 if name == "exponential" else 1.0  # its scores are half the log odds
    rate = estimator.learning_rate
    trees = [_tree(member, twice * (rate * member.tree_.value[:, 0]), gains=True) for member in stages.ravel()]
    start = estimator.init_
    if not _is_constant(start):
        raise ParameterError(
            f"{type(estimator).__name__} whose scores start with the predictions of {type(start).__name__} is not "
            "read, only with a constant: fit it with init=None or init='zero'"
        )
    base = twice * estimator._raw_predict_init(np.zeros((1, estimator.n_features_in_), np.float32))
    facts: dict[str, Any] = {}
    if name == "quantile":
        facts["loss"] = {"name": name, "quantile": float(estimator.alpha)}
    elif name == "huber":
        facts["loss"] = {"name": name, "huber_delta": float(estimator._loss.closs.delta) or None}
    elif name != "exponential":
        facts["loss"] = {"name": name}
    link: Link = "classes" if _classes(estimator) else "identity"
    model = _boosted(estimator, trees, _schema(estimator), base, link, algorithm="gradient_boosting", **facts)
    if model.n_classes == (2,):
        return replace(model, threshold=Threshold(1, 0.5, "as scikit-learn: a score of 0 is the second class"))
    return model


def _is_constant(start: Any) -> bool:
    """Whether an ``init_`` predicts the same for every row."""
    if isinstance(start, str):
        return start == "zero"
    return getattr(start, "strategy", None) in _CONSTANT.get(type(start).__name__, ())


def _hist_gradient_boosting(estimator: Any) -> ModelData:
    """``HistGradientBoosting*``: cuts of float64, levels by the codes of its encoder."""
    order, levels = np.arange(estimator.n_features_in_), {}
    if estimator._preprocessor is not None:  # it puts nominal columns first
        nominal = np.flatnonzero(estimator.is_categorical_)
        order = np.concatenate([nominal, np.flatnonzero(~estimator.is_categorical_)])
        encoder = estimator._preprocessor.named_transformers_["encoder"]
        for at, known in zip(nominal.tolist(), encoder.categories_, strict=True):
            levels[at] = _levels(known, at)
    loss = estimator.loss
    facts: dict[str, Any] = {"name": loss}
    if loss == "quantile":
        facts["quantile"] = float(estimator.quantile)
    return _boosted(
        estimator,
        [_hist_tree(predictor, order) for stage in estimator._predictors for predictor in stage],
        _schema(estimator, levels),
        estimator._baseline_prediction,
        "classes" if _classes(estimator) else _LINKS.get(loss, "identity"),
        algorithm="gradient_boosting",
        loss=facts,
    )


def _levels(known: np.ndarray, at: int) -> tuple[tuple[Any, ...], str]:
    """Levels of a nominal column in the order of their codes, and their family."""
    levels = [python_scalar(level) for level in known.tolist()]
    if levels and isinstance(levels[-1], float) and np.isnan(levels[-1]):
        levels.pop()  # missing cells of the fit
    if None in levels:
        raise ParameterError(
            f"column {at} has None as a level and missing cells, which are the same here: fit with nan for None"
        )
    kinds = {bool: "boolean", int: "number", float: "number", str: "string"}
    families = {kinds.get(type(level), "object") for level in levels}
    return tuple(levels), families.pop() if len(families) == 1 else "object"


def _hist_tree(predictor: Any, order: np.ndarray) -> ForeignTree:
    """One ``TreePredictor``; ``order`` holds the column of each of its positions."""
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    missing_left = nodes["missing_go_to_left"].astype(bool)
    words = np.asarray(predictor.raw_left_cat_bitsets, "<u4")
    is_set = nodes["is_categorical"].astype(bool) & ~leaf
    levels = {
        node: np.flatnonzero(np.unpackbits(words[nodes["bitset_idx"][node]].view(np.uint8), bitorder="little"))
        for node in np.flatnonzero(is_set).tolist()
    }
    count = nodes["count"].astype(np.int64)
    return ForeignTree(
        left, right, order[np.where(leaf, 0, nodes["feature_idx"])], np.where(leaf, 0.0, nodes["num_threshold"]),
        missing_left, nodes["value"][:, None], weight=count.astype(np.float64), n_samples=count,
        gain=np.where(leaf, 0.0, nodes["gain"]), levels=levels,
        unseen_left=missing_left,  # an unknown level is treated as a missing cell
    )  # fmt: skip


def _adaboost_classifier(estimator: Any) -> ModelData:
    """The model of votes that add to scores: probabilities are their softmax, as in ``predict_proba``.

    A member becomes a tree for each score. With two classes the score is the log odds, twice the mean vote.
    """
    (labels,) = _classes(estimator)
    members, n = estimator.estimators_, len(labels)
    _refuse_others(estimator, members)
    total, trees = estimator.estimator_weights_.sum(), []
    for member, weight in zip(members, estimator.estimator_weights_, strict=False):
        own = np.array([np.flatnonzero(labels == label)[0] for label in member.classes_.tolist()])
        said = own[member.tree_.value[:, 0].argmax(axis=1)]
        for code in range(n) if n > 2 else (1,):
            against = -1.0 / (n - 1) if n > 2 else -1.0
            vote = np.where(said == code, weight, against * weight) / total
            trees.append(_tree(member, (vote / (n - 1) if n > 2 else 2.0 * vote)[:, None], gains=True))
    base = np.zeros(n if n > 2 else 1)
    return _boosted(estimator, trees, _schema(estimator), base, "classes", algorithm="adaboost")


def _adaboost_regressor(estimator: Any) -> ModelData:
    """The model of the weighted median of the trees' predictions."""
    members = estimator.estimators_
    _refuse_others(estimator, members)
    weights = np.array(estimator.estimator_weights_[: len(members)], np.float64)
    return imported(
        [_tree(member, member.tree_.value[:, :, 0]) for member in members], _schema(estimator), task="regression",
        combine="median", algorithm="adaboost", criterion=_criterion(members[0]), source=_source(estimator),
        missing=_missing(estimator), tree_weights=weights if weights.any() else np.ones(len(members)),
        member={"algorithm": "cart", **_growth(members[0])},
    )  # fmt: skip


_READERS: dict[str, Callable[[Any], ModelData]] = {
    **dict.fromkeys(_TREES, _single),
    "RandomForestClassifier": _forest("random_forest"),
    "RandomForestRegressor": _forest("random_forest"),
    "ExtraTreesClassifier": _forest("extra_trees"),
    "ExtraTreesRegressor": _forest("extra_trees"),
    "BaggingClassifier": _bagging,
    "BaggingRegressor": _bagging,
    "IsolationForest": _isolation_forest,
    "GradientBoostingClassifier": _gradient_boosting,
    "GradientBoostingRegressor": _gradient_boosting,
    "HistGradientBoostingClassifier": _hist_gradient_boosting,
    "HistGradientBoostingRegressor": _hist_gradient_boosting,
    "AdaBoostClassifier": _adaboost_classifier,
    "AdaBoostRegressor": _adaboost_regressor,
}
