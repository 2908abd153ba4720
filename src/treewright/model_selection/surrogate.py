"""One small tree that predicts what a model predicts. In: a fitted model, rows. Out: ``SurrogateTree``.

The tree is grown on the model's answers, not on the truth, and judged on rows that it was not grown on: how often it
says the same is its fidelity. The idea is that of TREPAN (Craven and Shavlik 1996, "Extracting tree-structured
representations of trained networks", NIPS 8, 24-30), which asks the network about rows that it makes up as well; here
only given rows are asked about. Bastani, Kim and Bastani 2017, "Interpreting blackbox models via model extraction"
(arXiv 1705.08504), say what such a tree is good for and how far it is to be trusted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor

from treewright.core.confidence import check_level, r2_interval, wilson_interval
from treewright.core.whole import whole_number
from treewright.data.dataset import Dataset
from treewright.data.encoder import encode
from treewright.data.take import count_rows, take_rows
from treewright.data.target import Labels, Numbers, check_lengths, check_weights
from treewright.estimators.trees import DecisionTreeClassifier, DecisionTreeRegressor
from treewright.exceptions import DataError, ParameterError
from treewright.fitted import Model
from treewright.judge.folds import two_parts
from treewright.judge.scores import explained, share_right
from treewright.judge.uncertainty import rows_worth
from treewright.model.check import ISOLATION_FOREST
from treewright.model.summary import counted
from treewright.predict.values import predict_codes, predict_numbers

LEAVES = 16
Tree = DecisionTreeClassifier | DecisionTreeRegressor


@dataclass(frozen=True, eq=False, repr=False)
class SurrogateTree:
    """A small tree that says about what another model says.

    Attributes
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted on the answers of the model. Its classes are the model's, also those that the model never answered.
    of : str
        What it stands for, in words: ``"the 100 trees"``.
    measure : {"agreement", "r2"}
        What ``fidelity`` is: the share of the rows with the same answers, or the share of the variance of the model's
        numbers that the tree explains.
    fidelity : float
        On rows that the tree was not grown on; of weighted rows by weight. nan where the rows have one number only.
    low, high : float
        Ends of its interval: of a share as Wilson 1927 (of as many rows as the weights are worth), of R2 by the delta
        method for log(1 - R2); nan where the rows do not tell, as where every answer is the same number.
    level : float
        Of the interval.
    fidelity_at_fit : float
        The same on the rows that the tree was grown on.
    one_answer : float
        The fidelity of a tree without a question, which always gives the most frequent answer; 0 for numbers.
    n_fit, n_judged : int
        Rows that the tree was grown on, and rows that judge it.
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
        """The fidelity as a sentence without a subject."""
        rows = f"{'the weight of ' if self.weighted else ''}{counted(self.n_judged, 'row')} it did not see"
        share = _percent(self.fidelity)
        if math.isfinite(self.low):
            share += f" ({_percent(self.low).removesuffix(' %')} to {_percent(self.high)})"
        if self.measure == "r2":
            if math.isnan(self.fidelity):
                return f"was judged on {rows}, which have no variance to explain"
            return f"explains {share} of the variance in what {self.of} {self.verb} of {rows}"
        one = _percent(self.one_answer)
        return f"says the same as {self.of} for {share} of {rows}; always giving the most frequent answer, for {one}"

    @property
    def verb(self) -> str:
        """What ``of`` does: say, or says."""
        return "say" if self.of.endswith("trees") else "says"

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain values."""
        names = ("measure", "fidelity", "low", "high", "level", "fidelity_at_fit", "one_answer", "n_fit", "n_judged")
        return {**{name: getattr(self, name) for name in names}, "n_leaves": self.n_leaves, "depth": self.depth}

    def show(self) -> str:
        """The sentence and the tree as text."""
        return str(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        size = f"{counted(self.n_leaves, 'leaf', 'leaves')}, depth {self.depth}"
        return "\n".join([
            f"One tree in place of {self.of}: {size}, grown on what {self.of} {self.verb} of "
            f"{counted(self.n_fit, 'row')}.",
            f"It {self.words}.",
            "",
            self.estimator.show(),
        ])  # fmt: skip


class _Answers(NamedTuple):
    """What a model predicts: codes int32[n, n_outputs] among ``classes``, or numbers float64[n, n_outputs]."""

    predicted: np.ndarray
    classes: tuple[np.ndarray, ...]


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
    """Grow one small tree on what a model says, and tell how often it says the same.

    Parameters
    ----------
    fitted : fitted classifier or regressor, or Model
        Of this library or of scikit-learn: a forest, boosted trees, neighbours, a pipeline.
    X : table of n rows
        Rows that the model is asked about, as its ``predict`` takes them; no target. Best such rows as the model will
        meet: the tree is faithful where they are.
    max_leaf_nodes : int >= 2, default 16
        Leaves of the tree at most; CART, best-first: the leaf whose split gains most is split next.
    min_samples_leaf : int >= 1, default 1
        Rows that a leaf has at least; more where rows are few.
    test_size : float in (0, 1), default 0.5
        Share of the rows that the tree is not grown on but judged on.
    sample_weight : n numbers >= 0, optional
        For growing and for judging.
    level : float, between 0 and 1
        Of the interval.
    random_state : int, RandomState or None
        Seed of which rows are kept aside.
    n_jobs : int, optional
        Threads; the tree does not depend on it.

    Returns
    -------
    SurrogateTree
        Print it, or take ``estimator``, ``fidelity``, ``low``, ``high``.

    Raises
    ------
    ParameterError
        It is no fitted classifier or regressor, or a parameter is out of range.
    DataError
        The table was refused, or there are fewer than 2 rows with weight.

    Notes
    -----
    Fidelity is not accuracy: a faithful tree of a wrong model is wrong. And a fidelity of 0.95 still leaves one row in
    twenty for which the tree's reasons are not the model's; it says nothing about *why* the model answers as it does on
    a single row.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = tw.RandomForestClassifier(n_estimators=100).fit(X[::2], y[::2])
    >>> found = tw.model_selection.surrogate_tree(forest, X[1::2], max_leaf_nodes=4)
    >>> print(found.words)
    says the same as the 100 trees for 93.0 % (87.5 to 96.1 %) of 142 rows it did not see; always giving the most
    frequent answer, for 62.7 %
    """
    leaves = whole_number("max_leaf_nodes", max_leaf_nodes, 2)
    size = {"max_leaf_nodes": leaves, "min_samples_leaf": whole_number("min_samples_leaf", min_samples_leaf, 1)}
    level = check_level(level)
    if isinstance(test_size, bool) or not isinstance(test_size, float | np.floating) or not 0 < test_size < 1:
        raise ParameterError(f"test_size={test_size!r}: give a share between 0 and 1")
    model = _model_of(fitted)
    n = count_rows(X)
    weights = check_weights(sample_weight, n)
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
        labels = _in_words(answers, first)
        tree.fit(take_rows(X, first), labels, **({} if own is None else {"sample_weight": own[first]}))
        return tree

    def predict(tree: Tree, at: np.ndarray) -> np.ndarray:
        predicted = np.asarray(tree.predict(take_rows(X, at)))
        return predicted.reshape(len(at), -1) if not answers.classes else _codes(predicted, answers.classes)

    return _judged(
        answers, own, grow, predict, f"the {type(fitted).__name__}", float(test_size), level, random_state
    )  # fmt: skip


def surrogate_of_model(
    model: Model, matrix: np.ndarray, weights: np.ndarray | None, *, max_leaf_nodes: int = LEAVES,
    min_samples_leaf: int = 1, test_size: float = 0.5, level: float = 0.95, random_state: Any = 0,
    n_jobs: int | None = None,
) -> SurrogateTree:  # fmt: skip
    """As ``surrogate_tree``, on rows that are encoded already; the tree has the columns and levels of the model.

    Parameters
    ----------
    model : Model
    matrix : float64[n, p]
    weights : float64[n], > 0, or None
    max_leaf_nodes, min_samples_leaf, test_size, level, random_state, n_jobs
        As for ``surrogate_tree``, checked.
    """
    predict_rows = predict_codes if model.classes else predict_numbers
    answers = _Answers(np.asarray(predict_rows(model, matrix, n_jobs)), model.classes)
    size = {"max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": min_samples_leaf}
    missing = "error" if model.missing == "error" else "direction"

    def grow(first: np.ndarray) -> Tree:
        tree = _unfitted(answers, n_jobs, **size, unseen=model.unseen, missing=missing)
        return _grown_on_rows(tree, model, matrix[first], answers.predicted[first], _part(weights, first))

    def predict(tree: Tree, at: np.ndarray) -> np.ndarray:
        return np.asarray(predict_rows(tree.model_, matrix[at], n_jobs))

    of = "the tree" if model.is_single_tree else f"the {counted(model.n_trees, 'tree')}"
    return _judged(answers, weights, grow, predict, of, test_size, level, random_state)


def _grown_on_rows(
    tree: Tree, model: Model, matrix: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
) -> Tree:
    """A tree grown on encoded rows; it has the model's own columns and levels, also those that these rows lack."""
    held, names = np.ascontiguousarray(answers), model.target_names
    flat = held.shape[1] == 1
    target = Labels(held, model.classes, names, flat) if model.classes else Numbers(held, names, flat)
    return tree._fit_dataset(Dataset(model.schema, matrix, target, weights, weights))


def _part(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """Weights of some rows, if there are any."""
    return None if weights is None else weights[rows]


def _judged(
    answers: _Answers, weights: np.ndarray | None, grow: Any, predict: Any, of: str, test_size: float, level: float,
    random_state: Any,
) -> SurrogateTree:  # fmt: skip
    """Grow on some rows, judge on the others."""
    n = len(answers.predicted)
    if n < 2:
        raise DataError(f"{n} row(s) with weight: at least 2 are needed, one to grow the tree on and one to judge it")
    n_second = min(max(math.ceil(test_size * n), 1), n - 1)
    first, second = two_parts(
        answers.predicted[:, 0], n_second, random_state, by_class="where possible" if answers.classes else "never"
    )
    tree = grow(first)
    at_fit = _fidelity(answers, predict(tree, first), first, weights)
    predicted = predict(tree, second)
    found = _fidelity(answers, predicted, second, weights)
    own = _part(weights, second)
    if answers.classes:
        worth = rows_worth(len(second), own)
        low, high = wilson_interval(found * worth, worth, level)
        one = _fidelity(answers, np.tile(_most_frequent(answers, first, weights), (len(second), 1)), second, weights)
    else:
        if not np.ptp(answers.predicted[second], axis=0).any():
            found = math.nan  # one number for all rows
        (low, high), one = r2_interval(answers.predicted[second], predicted, own, found, level), 0.0
    return SurrogateTree(
        tree, of, "agreement" if answers.classes else "r2", found, low, high, level, at_fit, one, len(first),
        len(second), weights is not None,
    )  # fmt: skip


def _fidelity(answers: _Answers, predicted: np.ndarray, rows: np.ndarray, weights: np.ndarray | None) -> float:
    """Share of equal answers, or R2 of the model's numbers."""
    compare = share_right if answers.classes else explained
    return float(compare(answers.predicted[rows], predicted, _part(weights, rows)))


def _most_frequent(answers: _Answers, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """int[n_outputs]: per output the answer with the most weight."""
    own = _part(weights, rows)
    return np.array([np.bincount(codes, weights=own).argmax() for codes in answers.predicted[rows].T])


def _model_of(fitted: Any) -> Model | None:
    """The model of trees, where it is one; None for what else can predict."""
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    name = type(fitted).__name__
    if isinstance(model, Model):
        if model.facts.get("algorithm") == ISOLATION_FOREST:
            raise ParameterError(
                "an isolation forest says how lonely a row is, no class and no number of a target: grow a tree on its "
                "answers yourself, as in DecisionTreeClassifier(max_leaf_nodes=16).fit(X, forest.predict(X))"
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


def _answers_of(fitted: Any, X: Any) -> _Answers:
    """What anything with ``predict`` predicts of rows."""
    predicted = np.asarray(fitted.predict(X))
    if getattr(fitted, "task", "") != "classification" and not (not hasattr(fitted, "task") and is_classifier(fitted)):
        return _Answers(predicted.astype(np.float64).reshape(len(predicted), -1), ())
    columns = predicted.reshape(len(predicted), -1)
    parts = [np.unique(columns[:, at], return_inverse=True) for at in range(columns.shape[1])]
    codes = np.stack([place.reshape(-1) for _, place in parts], axis=1).astype(np.int32)
    return _Answers(codes, tuple(labels for labels, _ in parts))


def _in_words(answers: _Answers, rows: np.ndarray) -> np.ndarray:
    """Answers as a target: labels or numbers, [n] for one output."""
    held = answers.predicted[rows]
    if answers.classes:
        parts = [labels[held[:, at]] for at, labels in enumerate(answers.classes)]
        return parts[0] if len(parts) == 1 else np.stack(parts, axis=1)
    return held[:, 0] if held.shape[1] == 1 else held


def _codes(predicted: np.ndarray, classes: tuple[np.ndarray, ...]) -> np.ndarray:
    """int[n, n_outputs]: labels as their places among the answers of the model."""
    columns = predicted.reshape(len(predicted), -1)
    return np.stack([np.searchsorted(labels, columns[:, at]) for at, labels in enumerate(classes)], axis=1)


def _declared(fitted: Any) -> dict[str, Any]:
    """What an estimator of this library was told of its columns; nothing of others."""
    if not type(fitted).__module__.startswith("treewright.") or not hasattr(fitted, "get_params"):
        return {}
    known = fitted.get_params(deep=False)
    return {name: known[name] for name in ("nominal", "ordinal", "numeric") if known.get(name) is not None}


def _unfitted(answers: _Answers, n_jobs: int | None, **more: Any) -> Tree:
    """The tree before it is grown."""
    kind = DecisionTreeClassifier if answers.classes else DecisionTreeRegressor
    return kind(n_jobs=n_jobs, **more)


def _percent(share: float) -> str:
    """A share in percent with one decimal."""
    return f"{100 * share:.1f} %"
