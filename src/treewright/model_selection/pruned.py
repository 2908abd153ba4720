"""Growing and cutting back as one estimator. In: an estimator, a way to prune. Out: ``PrunedTree``.

Callers: users, cli, model_selection.pruners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from treewright.core.whole import is_whole
from treewright.data.matching import did_you_mean
from treewright.data.target import check_weights, label_codes
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.candidates import check_prunable, unpruned
from treewright.model_selection.folds import Split, as_array, folds_within, two_parts
from treewright.model_selection.path import pruning_path
from treewright.model_selection.path_table import Rule
from treewright.model_selection.rows import count_rows, take_rows
from treewright.model_selection.seeds import check_random_state
from treewright.prune.methods import METHODS, method_of, options_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.model import Model
    from treewright.tree.arrays import Tree

BY_CROSS_VALIDATION: dict[str, Rule] = {"ccp_1se": "1se", "ccp_min": "min"}
OF_PATH = ("risk", "loss")  # what may be said of ``pruning_path`` beside the rows and folds


def prunings() -> tuple[str, ...]:
    """The ways to prune: by cross-validated cost-complexity, then every method of ``prune``."""
    return (*BY_CROSS_VALIDATION, *METHODS)


def check_options(pruning: str, options: Mapping[str, Any]) -> None:
    """Refuse options that a pruning has not, and a lack of one that has no default.

    Parameters
    ----------
    pruning : one of ``prunings()``
    options : mapping

    Raises
    ------
    ParameterError
    """
    if pruning not in BY_CROSS_VALIDATION:
        options_of(method_of(pruning), {str(name): value for name, value in options.items()})
        return
    for name in options:
        if name not in OF_PATH:
            raise ParameterError(f"{pruning} has no option {name!r}: its options are {', '.join(OF_PATH)}")


def _gives(method: str) -> Callable[[PrunedTree], bool]:
    """Whether the estimator within has a method; it is asked before the fit as well."""
    return lambda whole: hasattr(whole.estimator, method)


class PrunedTree(MetaEstimatorMixin, BaseEstimator):
    """A tree that is grown and then cut back, in one ``fit``: for cross-validation, comparison and tuning.

    Parameters
    ----------
    estimator : estimator
        A single-tree estimator of this library; its own pruning (``ccp_alpha``, ``confidence``) is switched off. The
        folds run on as many threads as its ``n_jobs`` says.
    pruning : str, default "ccp_1se"
        ``"ccp_1se"`` or ``"ccp_min"``: cost-complexity with the price found by cross-validation on the rows of the fit
        (``pruning_path``); or a method of ``prune``. ``"reduced_error"`` keeps a part of the rows of the fit aside.
    options : mapping, optional
        The method's options, such as ``{"max_p_value": 0.01}``; of ``ccp_1se`` and ``ccp_min`` ``risk`` and ``loss``.
    cv : int or splitter, default 10
        Folds of ``ccp_1se`` and ``ccp_min``, one for each row where there are fewer rows; stratified unless a class
        has fewer rows than that.
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
        # Only what is not found here: the fitted tree answers for the rest, but for its inner state.
        fitted = self.__dict__.get("estimator_")
        if fitted is None and not name.startswith("_") and self._would_have(name):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet, so it has no {name}: call fit first")
        if fitted is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(fitted, name)

    def _would_have(self, name: str) -> bool:
        """Whether a fit would bring an attribute: what the estimator has, and what ends as fitted state does."""
        return name.endswith("_") or hasattr(type(self.__dict__.get("estimator")), name)

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
        self._check_parameters()
        estimator, options = unpruned(self.estimator), dict(self.options or {})
        if self._needs_parts() and len(as_array(y)) == 1:
            raise DataError("n_samples=1: 2 rows or more are needed, to judge cuts by others than the tree is grown on")
        if self.pruning in BY_CROSS_VALIDATION:
            rule = BY_CROSS_VALIDATION[self.pruning]
            path = pruning_path(
                estimator, X, y, cv=self._folds(estimator, y), rule=rule, sample_weight=sample_weight,
                random_state=self.random_state, n_jobs=estimator.n_jobs, **options,
            )  # fmt: skip
            self.estimator_ = path.estimator
        elif method_of(self.pruning).needs == "holdout":
            self.estimator_ = self._fit_in_two_parts(estimator, X, y, sample_weight, options)
        else:
            grown = estimator.fit(X, y, sample_weight)
            rows = (X, y, sample_weight) if method_of(self.pruning).needs == "training" else ()
            self.estimator_ = grown.prune(self.pruning, *rows, **options)
        return self

    def _check_parameters(self) -> None:
        """Refuse what is wrong whatever the table; folds and options are refused where they are used."""
        check_prunable(self.estimator)
        if self.pruning not in prunings():
            guess = did_you_mean(str(self.pruning), prunings())
            raise ParameterError(f"there is no pruning {self.pruning!r}{guess}: choose one of {', '.join(prunings())}")
        if self.options is not None and not isinstance(self.options, Mapping):
            raise ParameterError(f"options={self.options!r}: give a mapping from option to value")
        check_options(self.pruning, self.options or {})
        if self.cv is None and self.pruning in BY_CROSS_VALIDATION:
            raise ParameterError(f"cv=None: {self.pruning} finds its price by folds, give a number such as cv=10")
        share = self.prune_size
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
            raise ParameterError(f"prune_size={share!r}: give a share of the rows, a number between 0 and 1")
        check_random_state(self.random_state)

    def _needs_parts(self) -> bool:
        """Whether some rows are kept from the growing, to judge with."""
        return self.pruning in BY_CROSS_VALIDATION or method_of(self.pruning).needs == "holdout"

    def _folds(self, estimator: Any, y: Any) -> Any:
        """The folds that choose the price."""
        # A small part of a cross-validation may have fewer rows than folds, and nobody is there to be asked.
        cv = min(self.cv, len(as_array(y))) if is_whole(self.cv) else self.cv
        return folds_within(cv, y, is_classification=is_classifier(estimator), random_state=self.random_state)

    def _fit_in_two_parts(self, estimator: Any, X: Any, y: Any, sample_weight: Any, options: Mapping[str, Any]) -> Any:
        """Grow on one part of the rows, prune with the other."""
        grow, prune = rows_in_two(y, self.prune_size, self.random_state, is_classification=is_classifier(estimator))
        try:
            weights = check_weights(sample_weight, len(grow) + len(prune))
            if count_rows(X) != len(grow) + len(prune):
                raise DataError(f"X has {count_rows(X)} rows, y has {len(grow) + len(prune)}: give a target for each")
            grown, judge = (
                (take_rows(X, part), take_rows(y, part), None if weights is None else weights[part])
                for part in (grow, prune)
            )
            return estimator.fit(*grown).prune(self.pruning, *judge, **options)
        except DataError:
            # A refusal of a part counts its rows; that of the whole table, if there is one, names the caller's.
            clone(estimator).fit(X, y, sample_weight)
            raise

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row, as the pruned tree does."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    @available_if(_gives("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Probabilities of the classes, as the pruned tree gives them; of a classifier only."""
        check_is_fitted(self, "estimator_")
        shares: np.ndarray | list[np.ndarray] = self.estimator_.predict_proba(X)
        return shares

    @available_if(_gives("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Their logarithms."""
        check_is_fitted(self, "estimator_")
        logs: np.ndarray | list[np.ndarray] = self.estimator_.predict_log_proba(X)
        return logs

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


def rows_in_two(y: Any, share: float, random_state: int | None, *, is_classification: bool) -> Split:
    """Positions of two parts of the rows, both ascending; stratified where every class has two rows or more.

    No class is in the second part alone: where the draw has it so, its rows go to the first. A tree that is grown on
    the first part would not know the class, and the second could not judge it.

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
    by_class: Literal["where possible", "never"] = "where possible" if is_classification else "never"
    first, second = two_parts(y, round(share * count_rows(y)), random_state, by_class=by_class)
    if not is_classification:
        return first, second
    strange = _only_in_second(as_array(y), first, second)
    if strange.all():
        raise DataError(f"{count_rows(y)} rows are too few to keep some aside: no class is in both parts; give more")
    return np.union1d(first, second[strange]), second[~strange]


def _only_in_second(held: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """bool[len(second)]: rows of the second part with a class, of any output, that the first part lacks."""
    strange = np.zeros(len(second), np.bool_)
    for column in held.reshape(len(held), -1).T:
        codes, _ = label_codes(column)
        strange |= ~np.isin(codes[second], codes[first])
    return strange
