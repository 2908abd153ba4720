"""A tree or forest as scikit-learn's own, for programs that read only those: ``export_text``, dtreeviz, skl2onnx.

The arrays of a tree become the state from which scikit-learn unpickles its trees. That can hold thresholds of numbers,
the branch of missing cells, and one prediction for each output; anything else in a model is refused by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treewright.exceptions import ParameterError
from treewright.learn.registry import EXTRA_TREES, FOREST
from treewright.model.model import Model
from treewright.trees.arrays import LEAF, THRESHOLD, Tree
from treewright.trees.data import class_proportions, output_columns
from treewright.trees.wording import clock_of

__all__ = ["to_sklearn"]

# scikit-learn's names of the impurities that its trees support.
_CRITERIA = {
    "gini": "gini", "entropy": "entropy", "log_loss": "log_loss", "gain_ratio": "entropy",
    "squared_error": "squared_error", "absolute_error": "absolute_error", "poisson": "poisson",
}  # fmt: skip
_FORESTS = {
    (FOREST.name, True): RandomForestClassifier, (FOREST.name, False): RandomForestRegressor,
    (EXTRA_TREES.name, True): ExtraTreesClassifier, (EXTRA_TREES.name, False): ExtraTreesRegressor,
}  # fmt: skip
_LEAF, _NO_FEATURE = -1, -2


def to_sklearn(fitted: Any) -> Any:
    """Return a fitted model as scikit-learn's own tree or forest.

    Parameters
    ----------
    fitted : estimator or Model
        Of one tree, or of a forest whose trees are averaged. All tests must be thresholds of numeric columns.

    Returns
    -------
    estimator of scikit-learn, fitted
        A ``DecisionTree``, ``RandomForest`` or ``ExtraTrees`` classifier or regressor. Its predictions are those of the
        model for rows whose cells are float32 numbers: scikit-learn rounds all cells to these, and a cell that is
        nearer to a threshold may take the other branch.

    Raises
    ------
    ParameterError
        The model has something that such a tree does not support: tests of levels, several branches, rows in several
        leaves, surrogate tests, votes, summed scores (boosting), or another impurity. The message names it.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.tree import export_text
    >>> tree = tw.DecisionTreeClassifier().fit({"size": [1, 2, 3, 4]}, ["no", "no", "yes", "yes"])
    >>> print(export_text(tw.to_sklearn(tree), feature_names=["size"]))
    |--- size <= 2.50
    |   |--- class: no
    |--- size >  2.50
    |   |--- class: yes
    <BLANKLINE>
    """
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    if not isinstance(model, Model):
        raise _unsaid(f"a {type(fitted).__name__}, which is not a fitted tree or forest")
    _check(model)
    trees = [_tree_of(model, tree) for tree in model.trees]
    if model.is_single_tree:
        return _finished(_estimator_of(model, trees[0]), model)
    forest = _FORESTS[str(model.facts["algorithm"]), model.task == "classification"](
        n_estimators=len(trees), criterion=_criterion_of(model)
    )
    forest.estimators_ = [_member(_estimator_of(model, tree), model) for tree in trees]
    forest.estimator_ = type(forest.estimators_[0])()
    return _finished(forest, model)


def _check(model: Model) -> None:
    """Refuse what a tree of scikit-learn does not support."""
    algorithm = str(model.facts.get("algorithm"))
    if not model.is_single_tree and (algorithm, True) not in _FORESTS:
        raise _unsaid(f"trees grown by {algorithm}, which are not averaged as a forest's are")
    if model.aggregation.votes or model.aggregation.weights is not None:
        raise _unsaid("trees that vote: scikit-learn's forests average probabilities; fit with voting='soft'")
    if model.missing in ("fractional", "surrogate") and any(column.missing_seen for column in model.schema.columns):
        raise _unsaid(f"missing={model.missing!r}: scikit-learn's trees send missing cells down one branch")
    if model.threshold is not None:
        raise _unsaid(
            f"a threshold of {model.threshold.at:g}: scikit-learn's trees predict the more probable class; use "
            "model.with_threshold(None), and FixedThresholdClassifier around the result"
        )
    if len(model.schema.given) < len(model.schema):
        raise _unsaid(
            "columns that the model derives (parts of dates, or derived_columns): make them columns of the "
            'table before the fit, or fit without calendar and with derived_columns="none"'
        )
    _criterion_of(model)
    for tree in model.trees:
        asked = tree.feature[tree.kind != LEAF]
        for at in np.unique(asked).tolist():
            column = model.schema.columns[at]
            kind = "of dates" if clock_of(column)[0] else column.kind
            if kind != "numeric":
                raise _unsaid(
                    f"tests of column {column.name!r}, which is {kind}: scikit-learn's trees test numbers "
                    "only; encode it before the fit"
                )
        if ((tree.kind != LEAF) & ((tree.kind != THRESHOLD) | (tree.n_branches != 2))).any():
            raise _unsaid("tests with several branches")


def _criterion_of(model: Model) -> str:
    """The impurity by scikit-learn's name."""
    name = str(model.facts.get("criterion"))
    if name not in _CRITERIA:
        raise _unsaid(f"criterion={name!r}: scikit-learn's trees have {', '.join(sorted(set(_CRITERIA.values())))}")
    return _CRITERIA[name]


def _tree_of(model: Model, tree: Tree) -> Any:
    """One tree as scikit-learn's array of nodes and its values float64[n_nodes, n_outputs, n_classes]."""
    n_classes = np.array(model.n_classes or (1,) * model.n_outputs, np.intp)
    made = DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_  # any tree: the type of nodes differs between versions
    inner = tree.kind != LEAF
    nodes = np.zeros(tree.n_nodes, made.__getstate__()["nodes"].dtype)
    nodes["left_child"] = np.where(inner, tree.first_child, _LEAF)
    nodes["right_child"] = np.where(inner, tree.first_child + 1, _LEAF)
    nodes["feature"] = np.where(inner, tree.feature, _NO_FEATURE)
    nodes["threshold"] = np.where(inner, tree.threshold, float(_NO_FEATURE))
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.n_samples
    nodes["weighted_n_node_samples"] = tree.weight
    nodes["missing_go_to_left"] = inner & (tree.missing_branch == 0)
    values = np.zeros((tree.n_nodes, model.n_outputs, int(n_classes.max())))
    if model.task == "regression":
        values[:, :, 0] = tree.value
    else:
        shares = class_proportions(model, tree.value)
        for output, columns in enumerate(output_columns(model.n_classes)):
            values[:, output, : n_classes[output]] = shares[:, columns]
    state = {"max_depth": int(tree.depth.max()), "node_count": tree.n_nodes, "nodes": nodes, "values": values}
    result = type(made)(len(model.schema), n_classes, model.n_outputs)
    result.__setstate__(state)
    return result


def _estimator_of(model: Model, tree: Any) -> Any:
    """scikit-learn's estimator of one tree, without the attributes that ``_finished`` adds."""
    kind = DecisionTreeClassifier if model.task == "classification" else DecisionTreeRegressor
    estimator = kind(criterion=_criterion_of(model))
    estimator.tree_ = tree
    estimator.max_features_ = len(model.schema)
    return estimator


def _member(estimator: Any, model: Model) -> Any:
    """A tree of a forest: its classes are codes, and it has no names."""
    _finished(estimator, model, named=False)
    if model.task == "classification":
        each = [np.arange(len(labels), dtype=np.float64) for labels in model.classes]
        estimator.classes_ = each[0] if model.n_outputs == 1 else each
    return estimator


def _finished(estimator: Any, model: Model, *, named: bool = True) -> Any:
    """The estimator with the attributes that a fit sets."""
    estimator.n_features_in_, estimator.n_outputs_ = len(model.schema), model.n_outputs
    names = [column.name for column in model.schema.columns]
    if named and all(isinstance(name, str) for name in names) and model.schema.named:
        estimator.feature_names_in_ = np.array(names, object)
    if model.task == "classification":
        counts = np.array(model.n_classes, np.intp)
        estimator.classes_ = model.classes[0] if model.n_outputs == 1 else list(model.classes)
        estimator.n_classes_ = int(counts[0]) if model.n_outputs == 1 else counts.tolist()
    return estimator


def _unsaid(what: str) -> ParameterError:
    return ParameterError(f"scikit-learn has no such model: {what}")
