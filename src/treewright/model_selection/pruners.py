"""One tree under every pruner. In: an estimator, rows to grow on, rows to judge on. Out: ``PrunerTable``.

Callers: users, treewright.model_selection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from treewright.data.target import check_weights
from treewright.data.weights import warn_of_small_weights
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.candidates import check_prunable, unpruned
from treewright.model_selection.folds import as_array, folds_within
from treewright.model_selection.losses import WORDS, Loss, check_loss, mean_loss, mean_with_error
from treewright.model_selection.path import pruning_path
from treewright.model_selection.pruned import BY_CROSS_VALIDATION, check_options, rows_in_two
from treewright.model_selection.rows import count_rows, take_rows
from treewright.model_selection.seeds import check_random_state
from treewright.model_selection.table_text import beside
from treewright.prune.methods import METHODS, method_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = tuple[Any, np.ndarray, np.ndarray | None]

# What is compared unless the user says otherwise: everything that needs no number to be chosen.
DEFAULT = (
    "ccp_min", "ccp_1se", "reduced_error", "error_based", "pessimistic", "minimum_error", "significance",
    "description_length", "merge_equal_leaves",
)  # fmt: skip


@dataclass(frozen=True)
class PrunedResult:
    """What one pruner made of the tree.

    Attributes
    ----------
    method : str
        ``"unpruned"``, a method of ``prune``, ``"ccp_min"`` or ``"ccp_1se"``.
    n_leaves, depth, n_nodes_cut : int
    train_error, valid_error : float
        The misclassified share, or the mean squared error; weighted where weights were given.
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
        Methods that have no meaning for this tree, and why.
    n_judged : int
        Rows that ``valid_error`` was measured on.
    error : str
        What the errors are.
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

        It is chosen by the very rows that ``valid_error`` was measured on, which flatters that error a little: to know
        how good it is, ask rows that chose nothing.
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
        lines = [f"{self.error}, judged on {self.n_judged} rows", head]
        for row in self.rows:
            error = f"{row.valid_error:.4g}"
            lines.append(
                f"{row.method:<20}{row.n_leaves:>8}{row.depth:>7}{row.n_nodes_cut:>8}{row.train_error:>11.4g}"
                f"{error:>12}{beside(row.standard_error, error):>12}"
            )
        lines += [f"{method}: {why}" for method, why in self.undefined.items()]
        return "\n".join(lines)

    def plot(self, **options: Any) -> Figure:
        """Leaves and errors of every pruner as a figure; needs the extra ``plot``."""
        from treewright.plot.figures.bars import pruning_comparison

        columns = self.to_dict()
        return pruning_comparison(
            methods=columns["method"], n_leaves=columns["n_leaves"], train_error=columns["train_error"],
            valid_error=columns["valid_error"], valid_se=columns["standard_error"], xlabel=self.error, **options,
        )  # fmt: skip


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
    """Grow one tree and put it under every pruner.

    Parameters
    ----------
    est : estimator
        A single-tree estimator of this library, fitted or not; a copy is grown, without its own pruning.
    X, y : table of n rows and its target
        To grow on, and what the pruners see.
    X_valid, y_valid : table and its target
        Rows that the tree was not grown on. Where ``reduced_error`` is among the methods, half of them (by seed,
        stratified) prune it, and every method is judged on the other half only: an error measured on the rows that
        a tree was pruned with flatters it.
    methods : sequence of str
        Methods of ``prune``, ``"ccp_min"``, ``"ccp_1se"``.
    options : mapping from method to its options, optional
    sample_weight, valid_weight : optional
        Weights of the rows. In a standard error a weight counts as so many rows: scale weights that only say how much
        rows matter to a mean of 1.
    cv : int
        Folds of ``ccp_min`` and ``ccp_1se``, among the rows of ``X``.
    random_state : int or None

    Returns
    -------
    PrunerTable
        A method that is undefined for the tree (such as ``pessimistic`` for numbers) is left out and named. The error
        of ``best`` is a little too good, as the rows that show it chose it.

    Raises
    ------
    ParameterError
        A method or option is unknown, an option that has no default is lacking, or ``est`` is not a single-tree
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
        raise ParameterError("cv=None: ccp_min and ccp_1se find their price by folds, give a number such as cv=10")
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


def _checked_options(methods: Any, options: Any) -> dict[str, dict[str, Any]]:
    """The options of every method.

    Raises
    ------
    ParameterError
        A method or option is unknown, or lacks an option that has no default.
    """
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
    """What one pruner made of the tree.

    Raises
    ------
    DataError
        An error is beyond float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        on_train, (on_unseen, spread) = mean_loss(loss, tree, *learned), mean_with_error(loss, tree, *unseen)
    if not np.isfinite([on_train, on_unseen, spread]).all():
        raise DataError("the targets hold numbers so large that the squares of errors are beyond float64: divide both")
    cut = grown.tree_.n_nodes - tree.tree_.n_nodes
    return PrunedResult(name, tree.get_n_leaves(), tree.get_depth(), cut, on_train, on_unseen, spread, tree)


def _warn_of_small(unseen: Rows) -> None:
    """Warn of weights that are no numbers of rows, which standard errors take them for."""
    weights = unseen[2]
    if weights is not None:
        n_rows = int(np.count_nonzero(weights))
        warn_of_small_weights(float(weights.sum()), n_rows, "the standard error of compare_pruning")


def _parts(
    grown: Any, X_valid: Any, y_valid: Any, weights: Any, methods: Sequence[str], random_state: int | None
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """The rows to judge on, and those to prune with: the same unless a method needs some of its own."""
    grown.model_.encode_rows(X_valid, y_valid, weights, routed=True)  # refuses what is wrong, before the work
    whole = (X_valid, y_valid, check_weights(weights, count_rows(y_valid)))
    if not any(name in METHODS and METHODS[name].needs == "holdout" for name in methods):
        return whole, whole
    if count_rows(y_valid) < 2:
        raise DataError(
            "1 row to judge on is too few to keep another to prune with: give more, or leave reduced_error out"
        )
    halves = rows_in_two(y_valid, 0.5, random_state, is_classification=is_classifier(grown))
    judged, to_prune = (tuple(None if part is None else take_rows(part, half) for part in whole) for half in halves)
    return judged, to_prune  # type: ignore[return-value]


def _arrays(X: Any, y: Any, weights: Any) -> Rows:
    """Rows with their target and weights as arrays."""
    target = as_array(y)
    return X, target, check_weights(weights, len(target))
