"""One small tree that predicts what a model predicts. In: a fitted model, rows. Out: ``SurrogateTree``.

The tree is fitted to the model's predictions, not to the true values, and tested on held-out rows: the share of their
variance that it explains is its fidelity. For classes it is fitted to the predicted probabilities, as numbers: if one
class is rare, the predicted class is nearly always the other one, but the probability still varies. The fitted numbers
are then the class proportions of a classification tree (the squared error of the probabilities of all classes is their
Gini impurity). Columns that the model never tests, and text that only identifies these rows (``data.identifiers``), are
left out.

The idea is that of TREPAN (Craven and Shavlik 1996, "Extracting tree-structured representations of trained networks",
NIPS 8, 24-30), which also lets the network predict synthetic rows; here only given rows are predicted.
Bastani, Kim and Bastani 2017, "Interpreting blackbox models via model extraction" (arXiv 1705.08504), discuss the uses
and limits of such a tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor

from treewright.core.confidence import check_level, r2_interval, wilson_interval
from treewright.core.elementary import whole_number
from treewright.data.dataset import Dataset
from treewright.data.encoder import encode
from treewright.data.identifiers import is_nearly_unique
from treewright.data.take import count_rows, take_rows, warn_of_another_order
from treewright.data.target import Labels, Numbers, check_lengths, check_weights
from treewright.evaluation.folds import two_parts
from treewright.evaluation.scores import accuracy, r2, rows_worth
from treewright.exceptions import DataError, ParameterError
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.registry import CART
from treewright.learn.train import Trained
from treewright.model import Model
from treewright.predict.ensemble import predict_codes, predict_numbers, predict_probabilities
from treewright.trees.check_model import ISOLATION_FOREST
from treewright.trees.class_criteria import GINI, impurity_of_proportions
from treewright.trees.data import sizes_of
from treewright.trees.summary import counted
from treewright.trees.threshold import Threshold

LEAVES = 16
# With more classes only the predicted class is learned: the probability of each class would be one more output.
MOST_CLASSES = 30
# The parameters that the classification tree keeps from the regression tree.
SHARED = (
    "max_leaf_nodes",
    "min_samples_leaf",
    "nominal",
    "ordinal",
    "numeric",
    "calendar",
    "unseen",
    "missing",
    "n_jobs",
)
Tree = Any  # DecisionTreeClassifier or DecisionTreeRegressor: the registry makes them


@dataclass(frozen=True, eq=False, repr=False)
class SurrogateTree:
    """A small tree that approximates the predictions of another model.

    Attributes
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted to the predictions of the model. Its classes are the model's, also those that the model never predicted;
        if the model has probabilities, its class proportions are their means over the rows of a leaf.
    of : str
        The model it approximates, in words: ``"the 100 trees"``.
    measure : {"r2", "agreement"}
        The kind of ``fidelity``: the share of the variance of the model's probabilities, or numbers, that the tree
        explains (the mean of several outputs); or ``agreement``, for a model without probabilities or with more than 30
        classes.
    fidelity : float
        On held-out rows, weighted if they have weights. nan if all predictions are the same number.
    low, high : float
        Ends of its interval: for a share as Wilson 1927 (with as many rows as the weights are worth), for R2 by the
        delta method for log(1 - R2); nan if undefined, for example if all predictions are the same number.
    level : float
        Level of the interval.
    fidelity_at_fit : float
        The same on the training rows of the tree.
    agreement : float
        Share of the rows for which both predict the same class, in every output; nan for regression.
    one_answer : float
        The agreement of a tree without a test, which always predicts the most frequent class; 0 for regression.
    n_fit, n_judged : int
        Training rows and held-out rows of the tree.
    weighted : bool
        Whether rows have weights.
    """

    estimator: Tree
    of: str
    measure: str
    fidelity: float
    low: float
    high: float
    level: float
    fidelity_at_fit: float
    agreement: float
    one_answer: float
    n_fit: int
    n_judged: int
    weighted: bool = False

    @property
    def n_leaves(self) -> int:
        """Leaves of the tree."""
        return self.estimator.get_n_leaves()

    @property
    def depth(self) -> int:
        """Depth of the tree."""
        return self.estimator.get_depth()

    @property
    def words(self) -> str:
        """The fidelity in words, as a sentence without its subject."""
        rows = f"{counted(self.n_judged, 'weighted row' if self.weighted else 'row')} it did not see"
        share = _percent(self.fidelity)
        if math.isfinite(self.low):
            share += f" ({_percent(self.low).removesuffix(' %')} to {_percent(self.high)})"
        if self.measure == "agreement":
            return f"predicts the same class as {self.of} for {share} of {rows}; {self._always}"
        if math.isnan(self.fidelity):
            return f"was tested on {rows}, which have no variance to explain"
        words = f"explains {share} of the variance in {self.answers} for {rows}"
        if math.isnan(self.agreement):
            return words
        return f"{words}, and predicts the same class for {_percent(self.agreement)}; {self._always}"

    @property
    def _always(self) -> str:
        """The agreement of the most frequent class, in words."""
        return f"always predicting the most frequent class agrees for {_percent(self.one_answer)}"

    @property
    def answers(self) -> str:
        """The predictions that the tree is fitted to, in words."""
        what = "what" if math.isnan(self.agreement) else "the class that"
        if self.measure == "r2" and what != "what":
            what = "the probabilities that"
        return f"{what} {self.of} {'predict' if self.of.endswith('trees') else 'predicts'}"

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain values."""
        names = ("measure", "fidelity", "low", "high", "level", "fidelity_at_fit", "agreement", "one_answer",
                 "n_fit", "n_judged")  # fmt: skip
        return {**{name: getattr(self, name) for name in names}, "n_leaves": self.n_leaves, "depth": self.depth}

    def show(self) -> str:
        """The sentence and the tree as text."""
        return str(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        size = f"{counted(self.n_leaves, 'leaf', 'leaves')}, depth {self.depth}"
        return "\n".join([
            f"One tree in place of {self.of}: {size}, fitted to {self.answers} for {counted(self.n_fit, 'row')}.",
            f"It {self.words}.",
            "",
            self.estimator.show(),
        ])  # fmt: skip


class _Answers(NamedTuple):
    """Predictions of a model: codes int32[n, n_outputs] among ``classes``, or numbers float64[n, n_outputs].

    ``probabilities`` float64[n, m]: those of every class, with two classes only the second one's; None if there are
    none, or too many.
    """

    predicted: np.ndarray
    classes: tuple[np.ndarray, ...]
    probabilities: np.ndarray | None
    threshold: Threshold | None = None  # of the model, and so of its surrogate tree

    @property
    def grown_on(self) -> np.ndarray:
        """The target of the tree: probabilities or numbers if there are any, else codes."""
        return self.predicted if self.probabilities is None else self.probabilities

    @property
    def is_numeric(self) -> bool:
        """Whether the target of the tree is numeric."""
        return not self.classes or self.probabilities is not None


def surrogate_tree(
    fitted: Any,
    X: Any,
    *,
    max_leaf_nodes: int = LEAVES,
    min_samples_leaf: int = 1,
    test_size: Any = 0.5,
    sample_weight: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SurrogateTree:
    """Fit one small tree to the predictions of a model, and measure its fidelity.

    Parameters
    ----------
    fitted : fitted classifier or regressor, or Model
        Of this library or of scikit-learn: a forest, boosted trees, neighbours, a pipeline.
    X : table of n rows
        Rows to predict, as the model's ``predict`` takes them; no target. Use rows like those that the model will
        predict: the tree is faithful only for such rows.
    max_leaf_nodes : int >= 2, default 16
        Most leaves of the tree; CART, best-first: the leaf whose split gains most is split next.
    min_samples_leaf : int >= 1, default 1
        Fewest rows of a leaf; choose more if there are few rows.
    test_size : float in (0, 1), default 0.5
        Share of the rows that are held out to measure the fidelity.
    sample_weight : n numbers >= 0, optional
        For fitting and for the fidelity.
    level : float, between 0 and 1
        Level of the interval.
    random_state : int, RandomState or None
        Seed of the held-out rows.
    n_jobs : int, optional
        Threads; the tree does not depend on it.

    Returns
    -------
    SurrogateTree
        Print it, or use ``estimator``, ``fidelity``, ``low``, ``high``.

    Raises
    ------
    ParameterError
        It is no fitted classifier or regressor, or a parameter is out of range.
    DataError
        The table was refused, or there are fewer than 2 rows with weight.

    Notes
    -----
    Fidelity is not accuracy: a faithful tree of a wrong model is wrong. Even with a fidelity of 0.95 the tree does not
    explain *why* the model predicts as it does for a single row. If the model has ``predict_proba``, the tree is fitted
    to its probabilities.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = tw.RandomForestClassifier(n_estimators=100).fit(X[::2], y[::2])
    >>> found = tw.model_selection.surrogate_tree(forest, X[1::2], max_leaf_nodes=4)
    >>> print(found.words)
    explains 88.4 % (81.3 to 92.8 %) of the variance in the probabilities that the 100 trees predict for 142 rows it did
    not see, and predicts the same class for 90.8 %; always predicting the most frequent class agrees for 62.7 %
    """
    leaves = whole_number("max_leaf_nodes", max_leaf_nodes, 2)
    size = {"max_leaf_nodes": leaves, "min_samples_leaf": whole_number("min_samples_leaf", min_samples_leaf, 1)}
    level = check_level(level)
    if isinstance(test_size, bool) or not isinstance(test_size, float | np.floating) or not 0 < test_size < 1:
        raise ParameterError(f"test_size={test_size!r}: give a share between 0 and 1")
    model = _model_of(fitted)
    n = count_rows(X)
    weights = check_weights(sample_weight, n)
    warn_of_another_order(X, sample_weight=sample_weight)
    if weights is not None:
        check_lengths(n, Numbers(weights[:, None], (), True))
    rows = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
    own = None if weights is None else weights[rows]
    if len(rows) < n:
        X = take_rows(X, rows)
    if model is not None:
        matrix = encode(model.schema, X, unseen=model.unseen, missing=model.missing, owner="surrogate_tree")
        return surrogate_of_model(
            model, matrix, own, **size, test_size=float(test_size), level=level, random_state=random_state,
            n_jobs=n_jobs,
        )  # fmt: skip
    answers = _answers_of(fitted, X)

    def grow(first: np.ndarray) -> Tree:
        tree = _unfitted(answers, n_jobs, **size, **_declared(fitted))
        target = answers.grown_on[first] if answers.is_numeric else _labels(answers, first)
        flat = target[:, 0] if target.ndim > 1 and target.shape[1] == 1 else target
        return tree.fit(take_rows(X, first), flat, **({} if own is None else {"sample_weight": own[first]}))

    def predict(tree: Tree, at: np.ndarray) -> np.ndarray:
        predicted = np.asarray(tree.predict(take_rows(X, at))).reshape(len(at), -1)
        return predicted if answers.is_numeric else _codes(predicted, answers.classes)

    return _judged(answers, own, grow, predict, f"the {type(fitted).__name__}", float(test_size), level, random_state)


def surrogate_of_model(
    model: Model, matrix: np.ndarray, weights: np.ndarray | None, *, max_leaf_nodes: int = LEAVES,
    min_samples_leaf: int = 1, test_size: float = 0.5, level: float = 0.95, random_state: Any = 0,
    n_jobs: int | None = None,
) -> SurrogateTree:  # fmt: skip
    """``surrogate_tree`` on encoded rows; the tree has the columns and levels of the model.

    ``matrix`` (float64[n, p]). ``weights`` (float64[n], > 0, or None). ``max_leaf_nodes``, ``min_samples_leaf``,
    ``test_size``, ``level``, ``random_state``, ``n_jobs``: as for ``surrogate_tree``, checked.
    """
    answers = _answers_of_model(model, matrix, n_jobs)
    size = {"max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": min_samples_leaf}
    missing = "error" if model.missing == "error" else "direction"
    predict_rows = predict_numbers if answers.is_numeric else predict_codes

    def grow(first: np.ndarray) -> Tree:
        tree = _unfitted(answers, n_jobs, **size, unseen=model.unseen, missing=missing)
        return _grown_on_rows(tree, model, matrix[first], answers, first, _part(weights, first))

    def predict(tree: Tree, at: np.ndarray) -> np.ndarray:
        return np.asarray(predict_rows(tree.model_, matrix[at], n_jobs))

    of = "the tree" if model.is_single_tree else f"the {counted(model.n_trees, 'tree')}"
    return _judged(answers, weights, grow, predict, of, test_size, level, random_state, model.target_names)


def _grown_on_rows(
    tree: Tree, model: Model, matrix: np.ndarray, answers: _Answers, rows: np.ndarray, weights: np.ndarray | None
) -> Tree:
    """A tree grown on encoded rows; it has all columns and levels of the model, also those that these rows lack.

    Columns that the model never tests, or that only identify rows, are set to one value: the tree does not test them.
    """
    idle = sizes_of(model).n_tests == 0
    if model.missing == "surrogate":
        idle[:] = False  # other columns may be surrogates
    for at, column in enumerate(model.schema.columns):
        if column.kind == "nominal":
            cells = matrix[:, at][~np.isnan(matrix[:, at])]
            idle[at] |= is_nearly_unique(len(np.unique(cells)), len(cells))
    held = np.ascontiguousarray(answers.grown_on[rows])
    flat = held.shape[1] == 1
    names = model.target_names if held.shape[1] == model.n_outputs else ()
    target = Numbers(held, names, flat) if answers.is_numeric else Labels(held, model.classes, names, flat)
    return tree._fit_dataset(Dataset(model.schema, np.where(idle, 0.0, matrix), target, weights, weights))


def _part(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """The weights of the given rows, or None."""
    return None if weights is None else weights[rows]


def _judged(
    answers: _Answers, weights: np.ndarray | None, grow: Any, predict: Any, of: str, test_size: float, level: float,
    random_state: Any, target_names: tuple[str, ...] = (),
) -> SurrogateTree:  # fmt: skip
    """Grow the tree on one part of the rows, measure its fidelity on the other."""
    n = len(answers.predicted)
    if n < 2:
        raise DataError(f"{n} row(s) with weight: at least 2 are needed, one to fit the tree and one to test it")
    n_second = min(max(math.ceil(test_size * n), 1), n - 1)
    first, second = two_parts(
        answers.predicted[:, 0], n_second, random_state, by_class="where possible" if answers.classes else "never"
    )
    tree = grow(first)
    own, at_fit, predicted = _part(weights, second), predict(tree, first), predict(tree, second)
    agreement, one, low, high = math.nan, 0.0, math.nan, math.nan
    if answers.classes:
        agreement = _agreement(answers, predicted, second, own)
        common = np.tile(_most_frequent(answers, first, weights), (len(second), 1))
        one = accuracy(answers.predicted[second], common, own)
    if answers.is_numeric:
        # A class with probability 0 in all rows has nothing to explain.
        varies = np.ptp(answers.grown_on[second], axis=0) > 0
        true, held = answers.grown_on[:, varies], predicted[:, varies]
        found = float(r2(true[second], held, own)) if varies.any() else math.nan
        before = float(r2(true[first], at_fit[:, varies], _part(weights, first))) if varies.any() else math.nan
        low, high = r2_interval(true[second], held, own, found, level) if varies.any() else (low, high)
    else:
        found, before = agreement, _agreement(answers, at_fit, first, _part(weights, first))
        worth = rows_worth(len(second), own)
        low, high = wilson_interval(found * worth, worth, level)
    return SurrogateTree(
        _as_classifier(tree, answers, target_names), of, "r2" if answers.is_numeric else "agreement", found, low, high,
        level, before, agreement, one, len(first), len(second), weights is not None,
    )  # fmt: skip


def _agreement(answers: _Answers, predicted: np.ndarray, rows: np.ndarray, weights: np.ndarray | None) -> float:
    """Share of rows with the same class in every output; ``predicted`` are codes or the numbers of the tree."""
    if answers.is_numeric:
        shares, threshold = _shares_in(answers, predicted), answers.threshold
        codes = [each.argmax(axis=1) if threshold is None else threshold.codes(each) for each in shares]
        predicted = np.stack(codes, axis=1)
    return accuracy(answers.predicted[rows], predicted, weights)


def _shares_in(answers: _Answers, numbers: np.ndarray) -> list[np.ndarray]:
    """The probabilities from the numbers of the tree, per output float64[n, n_classes]."""
    found = []
    for labels in answers.classes:
        k = len(labels)
        own, numbers = numbers[:, : _columns(k)], numbers[:, _columns(k) :]
        shares = own if k > 2 else np.hstack([1.0 - own, own]) if k > 1 else np.ones((len(own), 1))
        found.append(np.clip(shares, 0.0, 1.0))
    return found


def _columns(n_classes: int) -> int:
    """Number of probabilities to learn for so many classes: with two classes, only the second one's."""
    return n_classes if n_classes > 2 else n_classes - 1


def _as_classifier(tree: Tree, answers: _Answers, target_names: tuple[str, ...]) -> Tree:
    """The tree grown on probabilities as a classifier: the class proportions of a leaf are their means."""
    if not answers.classes or not answers.is_numeric:
        return tree
    grown, numbers = tree.tree_, tree.model_
    shares = _shares_in(answers, grown.value)
    counts = [share / share.sum(axis=1, keepdims=True) * grown.weight[:, None] for share in shares]
    impurity = np.mean([impurity_of_proportions(GINI, share) for share in shares], axis=0)
    known = tree.get_params(deep=False)
    own = CART.estimator(CLASSES)(**{name: known[name] for name in SHARED})
    params = own._check_parameters()
    model = replace(
        numbers,
        task="classification",
        trees=(replace(grown, value=np.hstack(counts), impurity=np.maximum(impurity, 0.0)),),
        classes=answers.classes,
        n_outputs=len(answers.classes),
        target_names=target_names,
        threshold=answers.threshold,
        facts={**numbers.facts, "criterion": params.criterion_name, "parameters": params.facts()},
    )
    codes = Labels(answers.predicted[:0], answers.classes, target_names, len(answers.classes) == 1)
    own._keep(Dataset(model.schema, np.empty((0, len(model.schema))), codes, None, None), params, Trained(model))
    own.__dict__["_rows"] = None  # their target were numbers
    return own


def _most_frequent(answers: _Answers, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """int[n_outputs]: per output the prediction with the most weight."""
    own = _part(weights, rows)
    return np.array([np.bincount(codes, weights=own).argmax() for codes in answers.predicted[rows].T])


def _model_of(fitted: Any) -> Model | None:
    """The ``Model`` of a fitted object of this library; None for any other classifier or regressor."""
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    name = type(fitted).__name__
    if isinstance(model, Model):
        if model.facts.get("algorithm") == ISOLATION_FOREST:
            raise ParameterError(
                "an isolation forest predicts anomaly scores, not a target: fit a tree to its predictions, as in "
                "DecisionTreeClassifier(max_leaf_nodes=16).fit(X, forest.predict(X))"
            )
        return model
    if not isinstance(fitted, type) and hasattr(fitted, "predict"):
        if getattr(fitted, "task", "") in ("classification", "regression"):
            return None
        try:
            if is_classifier(fitted) or is_regressor(fitted):
                return None
        except (AttributeError, TypeError):
            pass
    raise ParameterError(f"surrogate_tree takes a fitted classifier or regressor or a Model, not {name}")


def _answers_of_model(model: Model, matrix: np.ndarray, n_jobs: int | None) -> _Answers:
    """The predictions of a model for encoded rows."""
    if not model.classes:
        return _Answers(np.asarray(predict_numbers(model, matrix, n_jobs)), (), None)
    codes = np.asarray(predict_codes(model, matrix, n_jobs))
    return _Answers(codes, model.classes, _numbers_of(predict_probabilities(model, matrix, n_jobs)), model.threshold)


def _answers_of(fitted: Any, X: Any) -> _Answers:
    """The predictions of any object with ``predict``."""
    predicted = np.asarray(fitted.predict(X))
    if getattr(fitted, "task", "") != "classification" and not (not hasattr(fitted, "task") and is_classifier(fitted)):
        return _Answers(predicted.astype(np.float64).reshape(len(predicted), -1), (), None)
    columns = predicted.reshape(len(predicted), -1)
    if hasattr(fitted, "predict_proba") and hasattr(fitted, "classes_"):
        shares, classes = fitted.predict_proba(X), fitted.classes_
        shares, classes = (shares, classes) if isinstance(shares, list) else ([shares], [classes])
        known = tuple(np.asarray(labels) for labels in classes)
        threshold = getattr(getattr(fitted, "model_", fitted), "threshold", None)
        return _Answers(_codes(columns, known).astype(np.int32), known, _numbers_of(shares), threshold)
    parts = [np.unique(columns[:, at], return_inverse=True) for at in range(columns.shape[1])]
    codes = np.stack([place.reshape(-1) for _, place in parts], axis=1).astype(np.int32)
    return _Answers(codes, tuple(labels for labels, _ in parts), None)


def _numbers_of(shares: list[np.ndarray]) -> np.ndarray | None:
    """The predicted probabilities that a tree is fitted to; None with one class, or with too many."""
    counts = [share.shape[1] for share in shares]
    if max(counts) > MOST_CLASSES or max(counts) < 2:
        return None
    parts = [np.asarray(share, np.float64)[:, share.shape[1] - _columns(share.shape[1]) :] for share in shares]
    return np.hstack(parts)


def _labels(answers: _Answers, rows: np.ndarray) -> np.ndarray:
    """The predicted classes of the rows as a target."""
    held = answers.predicted[rows]
    return np.stack([labels[held[:, at]] for at, labels in enumerate(answers.classes)], axis=1)


def _codes(predicted: np.ndarray, classes: tuple[np.ndarray, ...]) -> np.ndarray:
    """int[n, n_outputs]: the positions of labels among the classes of the model."""
    columns = predicted.reshape(len(predicted), -1)
    return np.stack([np.searchsorted(labels, columns[:, at]) for at, labels in enumerate(classes)], axis=1)


def _declared(fitted: Any) -> dict[str, Any]:
    """The column declarations of an estimator of this library; empty for others."""
    if not type(fitted).__module__.startswith("treewright.") or not hasattr(fitted, "get_params"):
        return {}
    known = fitted.get_params(deep=False)
    return {name: known[name] for name in ("nominal", "ordinal", "numeric", "calendar") if known.get(name) is not None}


def _unfitted(answers: _Answers, n_jobs: int | None, **more: Any) -> Tree:
    """The unfitted tree estimator."""
    return CART.estimator(NUMBERS if answers.is_numeric else CLASSES)(n_jobs=n_jobs, **more)


def _percent(share: float) -> str:
    """A share in percent with one decimal."""
    return f"{100 * share:.1f} %"
