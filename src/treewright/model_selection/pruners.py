"""One tree under every pruner. In: an estimator, rows to grow on, rows to judge on. Out: ``PrunerTable``.

Callers: users, treewright.model_selection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.path import pruning_path
from treewright.model_selection.pruned import BY_CROSS_VALIDATION, folds_within, rows_in_two, unpruned
from treewright.model_selection.rows import count_rows, take_rows
from treewright.prune.methods import METHODS, method_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        Of ``valid_error``, over the rows.
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
        """The smallest tree whose validation error is within one standard error of the least."""
        least = min(self.rows, key=lambda row: (row.valid_error, row.n_leaves))
        good = [row for row in self.rows if row.valid_error <= least.valid_error + least.standard_error]
        return min(good, key=lambda row: (row.n_leaves, row.valid_error))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame."""
        names = ("method", "n_leaves", "depth", "n_nodes_cut", "train_error", "valid_error", "standard_error")
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def __str__(self) -> str:
        head = f"{'method':<20}{'leaves':>8}{'depth':>7}{'cut':>8}{'training':>11}{'validation':>12}{'std. error':>12}"
        lines = [f"{self.error}, judged on {self.n_judged} rows", head]
        lines += [
            f"{row.method:<20}{row.n_leaves:>8}{row.depth:>7}{row.n_nodes_cut:>8}{row.train_error:>11.4g}"
            f"{row.valid_error:>12.4g}{row.standard_error:>12.2g}"
            for row in self.rows
        ]
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
        Weights of the rows.
    cv : int
        Folds of ``ccp_min`` and ``ccp_1se``, among the rows of ``X``.
    random_state : int or None

    Returns
    -------
    PrunerTable
        A method that is undefined for the tree (such as ``pessimistic`` for numbers) is left out and named.

    Raises
    ------
    ParameterError
        A method or option is unknown, or ``est`` is not a single-tree estimator.
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
    if not hasattr(est, "prune"):
        raise ParameterError(f"{type(est).__name__} cannot be pruned: give a single-tree estimator of treewright")
    options = dict(options or {})
    for name in methods:
        if name not in BY_CROSS_VALIDATION:
            method_of(name)
    strange = [name for name in options if name not in methods]
    if strange:
        raise ParameterError(f"options are given for {strange[0]!r}, which is not among the methods")
    fresh = unpruned(est)
    grown = unpruned(est).fit(X, y, sample_weight)
    is_classification = is_classifier(grown)
    judged, to_prune = _parts(grown, X_valid, y_valid, valid_weight, methods, random_state)
    folds = folds_within(cv, y, is_classification=is_classification, random_state=random_state)
    trees, undefined, path = {"unpruned": grown}, {}, None
    for name in methods:
        given = dict(options.get(name, {}))
        if name in BY_CROSS_VALIDATION:
            if path is None or given:
                path = pruning_path(
                    fresh, X, y, cv=folds, sample_weight=sample_weight, random_state=random_state, **given
                )  # fmt: skip
            trees[name] = path.prune(path.step_of(BY_CROSS_VALIDATION[name]))
            continue
        rows = {"none": (), "training": (X, y, sample_weight), "holdout": to_prune}[method_of(name).needs]
        try:
            trees[name] = grown.prune(name, *rows, **given)
        except ParameterError as error:
            if given:
                raise
            undefined[name] = str(error)
    n_nodes = grown.tree_.n_nodes
    results = tuple(
        PrunedResult(
            name, tree.get_n_leaves(), tree.get_depth(), n_nodes - tree.tree_.n_nodes,
            _mean_error(tree, (X, y, sample_weight), is_classification=is_classification)[0],
            *_mean_error(tree, judged, is_classification=is_classification), tree,
        )
        for name, tree in trees.items()
    )  # fmt: skip
    return PrunerTable(
        results, undefined, count_rows(judged[1]), "misclassified share" if is_classification else "mean squared error"
    )


def _parts(
    grown: Any, X_valid: Any, y_valid: Any, weights: Any, methods: Sequence[str], random_state: int | None
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """The rows to judge on, and those to prune with: the same unless a method needs some of its own."""
    grown.model_.encode_rows(X_valid, y_valid, weights, routed=True)  # refuses what is wrong, before the work
    whole = (X_valid, y_valid, None if weights is None else np.asarray(weights))
    if not any(name in METHODS and METHODS[name].needs == "holdout" for name in methods):
        return whole, whole
    if count_rows(y_valid) < 2:
        raise DataError(
            "1 row to judge on is too few to keep another to prune with: give more, or leave reduced_error out"
        )
    halves = rows_in_two(y_valid, 0.5, random_state, is_classification=is_classifier(grown))
    judged, to_prune = (tuple(None if part is None else take_rows(part, half) for part in whole) for half in halves)
    return judged, to_prune  # type: ignore[return-value]


def _mean_error(tree: Any, rows: tuple[Any, Any, Any], *, is_classification: bool) -> tuple[float, float]:
    """Mean loss over rows, and its standard error; the mean over several outputs."""
    X, y, weights = rows
    predicted, truth = np.asarray(tree.predict(X)), np.asarray(y)
    truth = truth.reshape(predicted.shape)
    losses = (predicted != truth).astype(np.float64) if is_classification else (predicted - truth.astype(float)) ** 2
    losses = losses.reshape(len(losses), -1).mean(axis=1)
    weights = np.ones(len(losses)) if weights is None else np.asarray(weights, np.float64)
    mean = float(np.average(losses, weights=weights))
    spread = float((weights**2 * (losses - mean) ** 2).sum())
    return mean, sqrt(spread) / float(weights.sum())
