"""A tree grown and pruned in one fit, ``PrunedTree``; and all pruners on one tree, ``compare_pruning``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from treewright.data.schema import did_you_mean
from treewright.data.take import count_rows, indexed_like, take_rows, warn_of_another_order
from treewright.data.target import check_weights, warn_of_small_weights
from treewright.evaluation.after_fit import Decided, Pruned, clone_with_steps, has_steps, without_steps
from treewright.evaluation.folds import as_array, check_random_state, folds_within, rows_in_two
from treewright.evaluation.path import BY_CROSS_VALIDATION, check_prunable, pruning_path, size_by_folds, unpruned
from treewright.evaluation.scores import WORDS, Loss, check_loss, mean_loss, mean_with_error
from treewright.evaluation.tables import beside
from treewright.exceptions import DataError, ParameterError
from treewright.learn.registry import naming_keywords
from treewright.prune.methods import METHODS, method_of, options_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from sklearn.utils import Tags

    from treewright.model import Model
    from treewright.trees.arrays import Tree

OF_PATH = ("risk", "loss")  # options of ``pruning_path`` besides the rows and folds
Rows = tuple[Any, np.ndarray, np.ndarray | None]
# The methods compared by default: all that need no number to be chosen.
DEFAULT = (
    "ccp_min", "ccp_1se", "reduced_error", "error_based", "pessimistic", "minimum_error", "significance",
    "description_length", "merge_equal_leaves",
)  # fmt: skip


def prunings() -> tuple[str, ...]:
    """The ways to prune: by cross-validated cost-complexity, then every method of ``prune``."""
    return (*BY_CROSS_VALIDATION, *METHODS)


def check_options(pruning: str, options: Mapping[str, Any]) -> None:
    """Refuse unknown options of a pruning, and a missing option that has no default."""
    if pruning not in BY_CROSS_VALIDATION:
        options_of(method_of(pruning), {str(name): value for name, value in options.items()})
        return
    for name in options:
        if name not in OF_PATH:
            raise ParameterError(f"{pruning} has no option {name!r}: its options are {', '.join(OF_PATH)}")


def _gives(method: str) -> Callable[[PrunedTree], bool]:
    """A check whether the inner estimator has a method; it works before the fit as well."""
    return lambda whole: hasattr(whole.estimator, method)


class PrunedTree(MetaEstimatorMixin, BaseEstimator):
    """A tree that is grown and then pruned, in one ``fit``: for cross-validation, comparison and tuning.

    Parameters
    ----------
    estimator : estimator
        A single-tree estimator of this library; its own pruning (``ccp_alpha``, ``confidence``) is switched off. The
        folds run on as many threads as its ``n_jobs``.
    pruning : str, default "ccp_1se"
        ``"ccp_1se"`` or ``"ccp_min"``: cost-complexity with the price chosen by cross-validation on the training rows
        (``pruning_path``); or a method of ``prune``. ``"reduced_error"`` holds a part of the training rows out.
    options : mapping, optional
        The method's options, such as ``{"max_p_value": 0.01}``; of ``ccp_1se`` and ``ccp_min`` ``risk`` and ``loss``
        (with ``choose_threshold`` the log loss if none is given, as it judges probabilities for every threshold).
    cv : int or splitter, default 10
        Folds of ``ccp_1se`` and ``ccp_min``, one for each row if there are fewer rows; stratified unless a class has
        fewer rows than that.
    prune_size : float in (0, 1), default 1/3
        Share of the rows that ``reduced_error`` holds out to prune with.
    random_state : int or None, default 0
        Seed of the folds and of the held-out rows.

    Attributes
    ----------
    estimator_ : estimator
        The pruned tree; its attributes and methods (``model_``, ``tree_``, ``show``, ``plot``, ``rules``, ``save`` ...)
        are also available here.
    path_ : PruningPath
        Every subtree with its error, and why this one was chosen; of ``ccp_1se`` and ``ccp_min``.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> est = tw.model_selection.PrunedTree(tw.DecisionTreeClassifier(), "pessimistic").fit(*load_iris(return_X_y=True))
    >>> est.get_n_leaves()
    4
    """

    @naming_keywords
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

    _after_fit: tuple[Decided, ...] = ()

    def __sklearn_clone__(self) -> Self:
        bare = copy.copy(self)
        bare.estimator = without_steps(self.estimator, Pruned)  # fit switches it off; some cannot be repeated
        copied: Self = clone_with_steps(bare) if has_steps(bare) else super(PrunedTree, bare).__sklearn_clone__()
        return copied

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)

    def __getattr__(self, name: str) -> Any:
        # Called for names not found here: they are looked up in the fitted tree, except its inner state.
        fitted = self.__dict__.get("estimator_")
        if fitted is None and not name.startswith("_") and self._would_have(name):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet, so it has no {name}: call fit first")
        if fitted is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(fitted, name)

    def _would_have(self, name: str) -> bool:
        """Whether a fit would add an attribute: one of the inner estimator, or a name that ends with ``_``."""
        return name.endswith("_") or hasattr(type(self.__dict__.get("estimator")), name)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator's own ``fit``.

        Raises
        ------
        ParameterError
            There is no such pruning, an option is wrong, or the method is undefined for the tree.
        DataError
            The rows were refused, or are too few for the folds or for held-out rows.
        """
        self._check_parameters()
        estimator, options = unpruned(self.estimator), dict(self.options or {})
        if self.pruning in BY_CROSS_VALIDATION:
            self.path_ = size_by_folds(
                lambda *rows: clone(estimator).fit(*rows), X, y, sample_weight, pruning=self.pruning, cv=self.cv,
                is_classification=is_classifier(estimator), random_state=self.random_state, n_jobs=estimator.n_jobs,
                **options,
            )  # fmt: skip
            self.estimator_ = self.path_.estimator
        elif method_of(self.pruning).needs == "holdout":
            self.estimator_ = self._fit_in_two_parts(estimator, X, y, sample_weight, options)
        else:
            grown = estimator.fit(X, y, sample_weight)
            rows = (X, y, sample_weight) if method_of(self.pruning).needs == "training" else ()
            self.estimator_ = grown.prune(self.pruning, *rows, **options)
        for step in self._after_fit:
            self.estimator_.model_ = step.repeated(self.estimator_.model_)
        return self

    def judged_by_shares(self) -> Self:
        """The same request, whose size the log loss of folds chooses if no option names another loss.

        A threshold is chosen after the tree, so misclassification would choose the tree of another threshold: with
        dear mistakes about a rare class often a single leaf. The log loss judges the probabilities for every threshold.
        """
        options = dict(self.options or {})
        if self.pruning not in BY_CROSS_VALIDATION or "loss" in options:
            return self
        copied = copy.copy(self)
        copied.options = {**options, "loss": "log_loss"}
        return copied

    def _check_parameters(self) -> None:
        """Refuse parameters that are wrong for any table; folds and options are checked where they are used."""
        check_prunable(self.estimator)
        if self.pruning not in prunings():
            guess = did_you_mean(str(self.pruning), prunings())
            raise ParameterError(f"pruning={self.pruning!r} is unknown{guess}: choose one of {', '.join(prunings())}")
        if self.options is not None and not isinstance(self.options, Mapping):
            raise ParameterError(f"options={self.options!r}: give a mapping from option to value")
        check_options(self.pruning, self.options or {})
        share = self.prune_size
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
            raise ParameterError(f"prune_size={share!r}: give a share of the rows, a number between 0 and 1")
        check_random_state(self.random_state)

    def _fit_in_two_parts(self, estimator: Any, X: Any, y: Any, sample_weight: Any, options: Mapping[str, Any]) -> Any:
        """Grow on one part of the rows, prune with the other."""
        if len(as_array(y)) == 1:
            raise DataError("n_samples=1: at least 2 rows are needed, to fit the tree and to prune it on other rows")
        grow, prune = rows_in_two(y, self.prune_size, self.random_state, is_classification=is_classifier(estimator))
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
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
            # An error in a part counts the part's rows; an error in the whole table names the caller's rows.
            clone(estimator).fit(X, y, sample_weight)
            raise

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row with the pruned tree."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    @available_if(_gives("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Class probabilities of the pruned tree; only for classifiers."""
        check_is_fitted(self, "estimator_")
        shares: np.ndarray | list[np.ndarray] = self.estimator_.predict_proba(X)
        return shares

    @available_if(_gives("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Logarithms of the class probabilities."""
        check_is_fitted(self, "estimator_")
        logs: np.ndarray | list[np.ndarray] = self.estimator_.predict_log_proba(X)
        return logs

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R2 for regression."""
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


def compare_pruning(
    est: Any,
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    *,
    methods: Sequence[str] = DEFAULT,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    sample_weight: Any = None,
    valid_weight: Any = None,
    cv: int = 10,
    random_state: int | None = 0,
) -> PrunerTable:
    """Grow one tree and prune it by every method.

    Parameters
    ----------
    est : estimator
        A single-tree estimator of this library, fitted or not; a copy is grown, without its own pruning.
    X, y : table of n rows and its target
        Training rows of the tree and of the pruners.
    X_valid, y_valid : table and its target
        Rows that the tree was not fitted on. If ``reduced_error`` is among the methods, half of them (by seed,
        stratified) prune it, and every method is evaluated on the other half only: an error measured on the rows that
        a tree was pruned with is too low.
    methods : sequence of str
        Methods of ``prune``, ``"ccp_min"``, ``"ccp_1se"``.
    options : mapping from method to its options, optional
    sample_weight, valid_weight : optional
        Weights of the rows. In a standard error a weight counts as so many rows: scale weights that only state how much
        rows matter to a mean of 1.
    cv : int
        Folds of ``ccp_min`` and ``ccp_1se``, among the rows of ``X``.
    random_state : int or None

    Returns
    -------
    PrunerTable
        A method that is undefined for the tree (such as ``pessimistic`` for regression) is left out and named. The
        error of ``best`` is a little too low, as it was chosen on the same rows.

    Raises
    ------
    ParameterError
        A method or option is unknown, an option without a default is missing, or ``est`` is not a single-tree
        estimator.
    DataError
        Rows were refused.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> table = tw.model_selection.compare_pruning(
    ...     tw.DecisionTreeClassifier(), X[::2], y[::2], X[1::2], y[1::2], methods=["ccp_1se", "pessimistic"])
    >>> [row.method for row in table]
    ['unpruned', 'ccp_1se', 'pessimistic']
    """
    check_prunable(est)
    check_random_state(random_state)
    options = _checked_options(methods, options)
    if cv is None and any(name in BY_CROSS_VALIDATION for name in methods):
        raise ParameterError("cv=None: ccp_min and ccp_1se choose their price by folds: give a number such as cv=10")
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    warn_of_another_order(X_valid, "X_valid", y_valid=y_valid, valid_weight=valid_weight)
    y, sample_weight = indexed_like(X, y), indexed_like(X, sample_weight)
    y_valid, valid_weight = indexed_like(X_valid, y_valid), indexed_like(X_valid, valid_weight)
    fresh = unpruned(est)
    grown = clone(fresh).fit(X, y, sample_weight)
    is_classification = is_classifier(grown)
    judged, to_prune = _parts(grown, X_valid, y_valid, valid_weight, methods, random_state)
    folds = folds_within(cv, y, is_classification=is_classification, random_state=random_state)
    trees, undefined, path = {"unpruned": grown}, {}, None
    for name in methods:
        given = options.get(name, {})
        if name in BY_CROSS_VALIDATION:
            own = pruning_path(
                fresh, X, y, cv=folds, sample_weight=sample_weight, random_state=random_state, n_jobs=fresh.n_jobs,
                **given,
            ) if given or path is None else path  # fmt: skip
            path = path if given else own  # both rules read the same path unless one has options of its own
            trees[name] = own.prune(own.step_of(BY_CROSS_VALIDATION[name]))
            continue
        rows = {"none": (), "training": (X, y, sample_weight), "holdout": to_prune}[method_of(name).needs]
        try:
            trees[name] = grown.prune(name, *rows, **given)
        except ParameterError as error:
            if given:
                raise
            undefined[name] = str(error).removeprefix(f"{name} ")
    loss = check_loss(None, is_classification=is_classification)
    learned, unseen = _arrays(X, y, sample_weight), _arrays(*judged)
    results = tuple(_result(name, tree, grown, loss, learned, unseen) for name, tree in trees.items())
    _warn_of_small(unseen)
    return PrunerTable(results, undefined, len(unseen[1]), WORDS[loss])


@dataclass(frozen=True)
class PrunedResult:
    """The tree pruned by one method, with its errors.

    Attributes
    ----------
    method : str
        ``"unpruned"``, a method of ``prune``, ``"ccp_min"`` or ``"ccp_1se"``.
    n_leaves, depth, n_nodes_cut : int
    train_error, valid_error : float
        The misclassification rate, or the mean squared error; weighted if weights were given.
    standard_error : float
        Of ``valid_error``, over the rows: sqrt(sum(w (e - mean)^2)) / sum(w), as in ``pruning_path``.
    estimator : estimator
        Fitted and pruned.
    """

    method: str
    n_leaves: int
    depth: int
    n_nodes_cut: int
    train_error: float
    valid_error: float
    standard_error: float
    estimator: Any


@dataclass(frozen=True)
class PrunerTable(Sequence[PrunedResult]):
    """The same tree under several pruners, in the order asked for; a sequence of ``PrunedResult``.

    Attributes
    ----------
    rows : tuple of PrunedResult
        The first is the unpruned tree.
    undefined : dict from str to str
        Methods that are undefined for this tree, with the reasons.
    n_judged : int
        Rows that ``valid_error`` was measured on.
    error : str
        Name of the error.
    """

    rows: tuple[PrunedResult, ...]
    undefined: Mapping[str, str]
    n_judged: int
    error: str

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        """A row by position or by the method's name."""
        if isinstance(at, str):
            found = [row for row in self.rows if row.method == at]
            if not found:
                raise KeyError(f"{at!r}: the table has {', '.join(row.method for row in self.rows)}")
            return found[0]
        return self.rows[at]

    def __iter__(self) -> Iterator[PrunedResult]:
        return iter(self.rows)

    @property
    def best(self) -> PrunedResult:
        """The smallest tree whose validation error is within one standard error of the least.

        It is chosen on the same rows that ``valid_error`` was measured on, so that error is a little too low: measure
        it on other rows.
        """
        least = min(self.rows, key=lambda row: (row.valid_error, row.n_leaves))
        good = [row for row in self.rows if row.valid_error <= least.valid_error + least.standard_error]
        return min(good, key=lambda row: (row.n_leaves, row.valid_error))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame."""
        names = ("method", "n_leaves", "depth", "n_nodes_cut", "train_error", "valid_error", "standard_error")
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        head = f"{'method':<20}{'leaves':>8}{'depth':>7}{'cut':>8}{'training':>11}{'validation':>12}{'std. error':>12}"
        lines = [f"{self.error} on {self.n_judged} validation rows", head]
        for row in self.rows:
            error = f"{row.valid_error:.4g}"
            lines.append(
                f"{row.method:<20}{row.n_leaves:>8}{row.depth:>7}{row.n_nodes_cut:>8}{row.train_error:>11.4g}"
                f"{error:>12}{beside(row.standard_error, error):>12}"
            )
        lines += [f"{method}: {why}" for method, why in self.undefined.items()]
        return "\n".join(lines)

    def plot(self, **options: Any) -> Figure:
        """Draw leaves and errors of every pruner; needs the extra ``plot``."""
        from treewright.show.figures.bars import pruning_comparison

        columns = self.to_dict()
        return pruning_comparison(
            methods=columns["method"], n_leaves=columns["n_leaves"], train_error=columns["train_error"],
            valid_error=columns["valid_error"], valid_se=columns["standard_error"], xlabel=self.error, **options,
        )  # fmt: skip


def _checked_options(methods: Any, options: Any) -> dict[str, dict[str, Any]]:
    """The options of every method, checked."""
    if isinstance(methods, str) or not isinstance(methods, Sequence):
        raise ParameterError(f"methods={methods!r}: give a list of names, such as {list(DEFAULT[:2])}")
    if options is not None and not (
        isinstance(options, Mapping) and all(isinstance(given, Mapping) for given in options.values())
    ):
        raise ParameterError(f"options={options!r}: give a mapping from method to a mapping of its options")
    held = {name: dict(given) for name, given in (options or {}).items()}
    for name in methods:
        if not (isinstance(name, str) and name in BY_CROSS_VALIDATION):
            method_of(name)
        check_options(name, held.get(name, {}))
    strange = [name for name in held if name not in methods]
    if strange:
        raise ParameterError(f"options are given for {strange[0]!r}, which is not among the methods")
    return held


def _result(name: str, tree: Any, grown: Any, loss: Loss, learned: Rows, unseen: Rows) -> PrunedResult:
    """The result of one pruner: its tree and the errors."""
    with np.errstate(over="ignore", invalid="ignore"):
        on_train, (on_unseen, spread) = mean_loss(loss, tree, *learned), mean_with_error(loss, tree, *unseen)
    if not np.isfinite([on_train, on_unseen, spread]).all():
        raise DataError("the targets are so large that the squares of errors are beyond float64: divide both")
    cut = grown.tree_.n_nodes - tree.tree_.n_nodes
    return PrunedResult(name, tree.get_n_leaves(), tree.get_depth(), cut, on_train, on_unseen, spread, tree)


def _warn_of_small(unseen: Rows) -> None:
    """Warn of weights that are no numbers of rows: standard errors treat them as such."""
    weights = unseen[2]
    if weights is not None:
        n_rows = int(np.count_nonzero(weights))
        warn_of_small_weights(float(weights.sum()), n_rows, "the standard error of compare_pruning")


def _parts(
    grown: Any, X_valid: Any, y_valid: Any, weights: Any, methods: Sequence[str], random_state: int | None
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """The rows to evaluate on, and those to prune with: the same unless a method needs held-out rows."""
    grown.model_.encode_rows(X_valid, y_valid, weights, routed=True)  # raises errors in the rows before the work
    whole = (X_valid, y_valid, check_weights(weights, count_rows(y_valid)))
    if not any(name in METHODS and METHODS[name].needs == "holdout" for name in methods):
        return whole, whole
    if count_rows(y_valid) < 2:
        raise DataError(
            "X_valid has 1 row, but reduced_error needs other rows than the evaluation: give at least 2, or leave "
            "reduced_error out"
        )
    halves = rows_in_two(y_valid, 0.5, random_state, is_classification=is_classifier(grown))
    judged, to_prune = (tuple(None if part is None else take_rows(part, half) for part in whole) for half in halves)
    return judged, to_prune  # type: ignore[return-value]


def _arrays(X: Any, y: Any, weights: Any) -> Rows:
    """Rows with their target and weights as arrays."""
    target = as_array(y)
    return X, target, check_weights(weights, len(target))
