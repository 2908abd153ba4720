"""Growing and cutting back as one estimator. In: an estimator, a way to prune. Out: ``PrunedTree``.

Callers: users, cli, model_selection.pruners.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from treewright.data.matching import did_you_mean
from treewright.data.target import label_codes
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.folds import as_array
from treewright.model_selection.path import pruning_path
from treewright.model_selection.path_table import Rule
from treewright.model_selection.rows import count_rows, take_rows
from treewright.model_selection.whole import is_whole
from treewright.prune.methods import METHODS, method_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.model import Model
    from treewright.tree.arrays import Tree

BY_CROSS_VALIDATION: dict[str, Rule] = {"ccp_1se": "1se", "ccp_min": "min"}


def prunings() -> tuple[str, ...]:
    """The ways to prune: by cross-validated cost-complexity, then every method of ``prune``."""
    return (*BY_CROSS_VALIDATION, *METHODS)


def unpruned(estimator: Any) -> Any:
    """A fresh copy of a tree estimator that does not prune by itself."""
    parameters = estimator.get_params(deep=False)
    off = {name: value for name, value in {"ccp_alpha": 0.0, "confidence": None}.items() if name in parameters}
    return clone(estimator).set_params(**off)


def folds_within(cv: Any, y: Any, *, is_classification: bool, random_state: int | None) -> Any:
    """Folds for a choice inside a fit: stratified where every class has rows enough, else without heed of classes.

    A user who splits by hand is told of a class with fewer rows than folds (``splits_of``); inside a fit nobody could
    answer, and a rare class is no reason to give no tree.
    """
    held = as_array(y)
    if is_whole(cv) and is_classification and held.ndim == 1 and 2 <= cv <= len(held):
        codes, _ = label_codes(held)
        if np.bincount(codes).min() < cv:
            return KFold(int(cv), shuffle=True, random_state=random_state)
    return cv


class PrunedTree(MetaEstimatorMixin, BaseEstimator):
    """A tree that is grown and then cut back, in one ``fit``: for cross-validation, comparison and tuning.

    Parameters
    ----------
    estimator : estimator
        A single-tree estimator of this library; its own pruning (``ccp_alpha``, ``confidence``) is switched off.
    pruning : str, default "ccp_1se"
        ``"ccp_1se"`` or ``"ccp_min"``: cost-complexity with the price found by cross-validation on the rows of the fit
        (``pruning_path``); or a method of ``prune``. ``"reduced_error"`` keeps a part of the rows of the fit aside.
    options : mapping, optional
        The method's options, such as ``{"max_p_value": 0.01}``.
    cv : int, default 10
        Folds of ``ccp_1se`` and ``ccp_min``; stratified unless a class has fewer rows than that.
    prune_size : float in (0, 1), default 1/3
        Share of the rows that ``reduced_error`` keeps aside to prune with.
    random_state : int or None, default 0
        Seed of the folds and of the rows kept aside.

    Attributes
    ----------
    estimator_ : estimator
        The pruned tree; what it has (``model_``, ``tree_``, ``show``, ``plot``, ``rules``, ``save`` ...) this one has.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> est = tw.model_selection.PrunedTree(tw.DecisionTreeClassifier(), "pessimistic").fit(*load_iris(return_X_y=True))
    >>> est.get_n_leaves()
    4
    """

    def __init__(
        self,
        estimator: Any,
        pruning: str = "ccp_1se",
        *,
        options: Mapping[str, Any] | None = None,
        cv: int = 10,
        prune_size: float = 1 / 3,
        random_state: int | None = 0,
    ) -> None:
        self.estimator = estimator
        self.pruning = pruning
        self.options = options
        self.cv = cv
        self.prune_size = prune_size
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)

    def __getattr__(self, name: str) -> Any:
        # Only what is not found here: the fitted tree answers for the rest.
        fitted = self.__dict__.get("estimator_")
        if fitted is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(fitted, name)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree and cut it back.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator's own ``fit``.

        Raises
        ------
        ParameterError
            There is no such pruning, an option is wrong, or the method is undefined for the tree.
        DataError
            The rows were refused, or are too few for the folds or for a part to prune with.
        """
        if self.pruning not in prunings():
            guess = did_you_mean(str(self.pruning), prunings())
            raise ParameterError(f"there is no pruning {self.pruning!r}{guess}: choose one of {', '.join(prunings())}")
        estimator, options = unpruned(self.estimator), dict(self.options or {})
        if self.pruning in BY_CROSS_VALIDATION:
            rule = BY_CROSS_VALIDATION[self.pruning]
            path = pruning_path(
                estimator, X, y, cv=self._folds(estimator, y), rule=rule, sample_weight=sample_weight,
                random_state=self.random_state, **options,
            )  # fmt: skip
            self.estimator_ = path.estimator
        elif method_of(self.pruning).needs == "holdout":
            self.estimator_ = self._fit_in_two_parts(estimator, X, y, sample_weight, options)
        else:
            grown = estimator.fit(X, y, sample_weight)
            rows = (X, y, sample_weight) if method_of(self.pruning).needs == "training" else ()
            self.estimator_ = grown.prune(self.pruning, *rows, **options)
        return self

    def _folds(self, estimator: Any, y: Any) -> Any:
        """The folds that choose the price."""
        return folds_within(
            self.cv, y, is_classification=is_classifier(estimator), random_state=self.random_state
        )  # fmt: skip

    def _fit_in_two_parts(self, estimator: Any, X: Any, y: Any, sample_weight: Any, options: Mapping[str, Any]) -> Any:
        """Grow on one part of the rows, prune with the other."""
        grow, prune = rows_in_two(y, self.prune_size, self.random_state, is_classification=is_classifier(estimator))
        if count_rows(X) != len(grow) + len(prune):
            estimator.fit(X, y, sample_weight)  # refuses, and says which lengths differ
        weights = (None, None) if sample_weight is None else tuple(np.asarray(sample_weight)[i] for i in (grow, prune))
        estimator.fit(take_rows(X, grow), take_rows(y, grow), weights[0])
        return estimator.prune(self.pruning, take_rows(X, prune), take_rows(y, prune), weights[1], **options)

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row, as the pruned tree does."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R2 for numbers."""
        check_is_fitted(self, "estimator_")
        return float(self.estimator_.score(X, y, sample_weight))

    @property
    def model_(self) -> Model:
        """The pruned tree's model."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.model_

    @property
    def tree_(self) -> Tree:
        """The pruned tree as flat arrays."""
        return self.model_.trees[0]


def rows_in_two(
    y: Any, share: float, random_state: int | None, *, is_classification: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of two parts of the rows, both ascending; stratified where every class has two rows or more.

    Parameters
    ----------
    y : target of n rows
    share : float in (0, 1)
        Share of the second part.
    random_state : int or None
    is_classification : bool

    Raises
    ------
    ParameterError
        ``share`` is not between 0 and 1.
    DataError
        A part would be empty.
    """
    if not 0 < share < 1:
        raise ParameterError(f"a share of {share!r} of the rows: give a number between 0 and 1")
    n = count_rows(y)
    n_second = round(share * n)
    if not 0 < n_second < n:
        raise DataError(f"{n} rows are too few to keep a share of {share:g} aside: give more rows or another share")
    labels = None
    if is_classification and np.ndim(y) == 1:
        _, codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
        labels = codes if counts.min() >= 2 and min(n_second, n - n_second) >= len(counts) else None
    first, second = train_test_split(np.arange(n), test_size=n_second, random_state=random_state, stratify=labels)
    return np.sort(first), np.sort(second)
