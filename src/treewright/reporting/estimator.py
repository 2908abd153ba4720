"""What a report takes from estimators in addition to their model.

A model made by an estimator holds its parameters as facts, so that a report made from the model alone can also fit
folds (``estimator_of``). The facts are plain JSON; a function, or a label without a JSON form, is stored by the name of
its type only. So the estimator is used only if its own facts equal those of the model, and if the columns, levels and
classes that they name are in the model. A fitted estimator may also keep its training rows, and a forest knows which of
them each tree left out. The shuffles are those of ``importances("permutation", X, y)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treewright.boosting.growth import losses_of_model
from treewright.core.threads import resolve_jobs
from treewright.data.calendar import asked_parts
from treewright.data.kinds import resolve
from treewright.data.schema import Schema
from treewright.evaluation.path import is_single_tree
from treewright.exceptions import DataError, ParameterError, TooLargeError
from treewright.forest.importance import (
    COSTS,
    SQUARED,
    WRONG,
    Importances,
    error_of_predictions,
    mean_of_repeats,
    permutation_of_boosted,
    permutation_of_trees,
    shuffled_rises,
)
from treewright.forest.out_of_bag import OobCurve
from treewright.learn.params import plain
from treewright.learn.registry import algorithm_of, algorithm_of_estimator
from treewright.neighbors.nearest import CALLED
from treewright.prune.methods import Rows
from treewright.reporting.data import ReportData
from treewright.trees.threshold import cost_by_class, positive_code

# Parameters that map columns, classes or names to something; facts hold them as pairs.
MAPPINGS = ("calendar", "class_weight", "metric_params", "monotonic_cst", "nominal", "ordinal", "scale")
DECLARATIONS = ("nominal", "ordinal", "numeric")
PAIR = 2
REPEATS = 5  # shuffles of a column
POINTS_OF_TREES = 60  # of a curve over the number of trees
MOST_OUT_OF_BAG = 100_000_000  # training rows times trees


def estimator_of(model: Any) -> Any:
    """Return an unfitted estimator with the parameters of the fit that made a model.

    Parameters
    ----------
    model : Model or NeighborsModel

    Returns
    -------
    estimator or None
        None if the facts do not suffice: a function of the user was a parameter, the model is one of many trees, or it
        comes from elsewhere. If ``random_state`` was a generator, the estimator has no seed.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.DecisionTreeClassifier(max_depth=2, class_weight={"in": 2.0})
    >>> model = est.fit({"sky": ["sun", "rain", "sun"]}, ["out", "in", "in"]).model_
    >>> estimator_of(model)
    DecisionTreeClassifier(class_weight={'in': 2.0}, max_depth=2)
    """
    kinds: tuple[str, ...] = ("tree",) if model.is_single_tree else ("trees", "members")
    if not model.has_trees:
        kinds = ("rows",)
        if model.stored.metric.kind == CALLED:
            return None
    stated = model.facts.get("parameters")
    if not isinstance(stated, Mapping):
        return None
    base = None
    if isinstance(stated.get("estimator"), str):
        base = _member_of(model)
        if base is None or type(base).__name__ != stated["estimator"]:
            return None
    code = None if positive_code(model) is None else model.facts.get("positive")
    more = {} if code is None else {"positive": model.classes[0].tolist()[code]}
    return _made(kinds, model, model.facts.get("algorithm"), stated, base, more)


def _member_of(model: Any) -> Any:
    """The estimator of the members of bagging or AdaBoost; None if the facts do not suffice."""
    member = model.facts.get("member")
    stated = member.get("parameters") if isinstance(member, Mapping) else None
    if not isinstance(member, Mapping) or not isinstance(stated, Mapping):
        return None
    return _made(("tree",), model, member.get("algorithm"), stated)


def _made(
    kinds: tuple[str, ...], model: Any, algorithm: Any, stated: Mapping[str, Any], base: Any = None,
    more: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """An estimator with these parameters; None if there is none, or it would not be the same."""
    known = algorithm_of(algorithm) if isinstance(algorithm, str) else None
    kind = known.estimator(model.task) if known is not None and known.kind in kinds else None
    if kind is None:
        return None
    parameters = {name: _restored(name, value) for name, value in stated.items()} | dict(more or {})
    if isinstance(parameters.get("random_state"), str):
        parameters["random_state"] = None
    if base is not None:
        parameters["estimator"] = base
    try:
        made = kind(**parameters)
        made._check_parameters()
    except (TypeError, ValueError):
        return None
    return made if _is_whole(made, stated) and _fits(made, model) else None


def _restored(name: str, value: Any) -> Any:
    """A parameter as a user writes it: pairs become a mapping if the parameter can be one."""
    if name not in MAPPINGS or not isinstance(value, list):
        return value
    if value and all(_is_pair(name, entry) for entry in value):
        return {entry[0]: entry[1] for entry in value}
    if name == "class_weight":  # a mapping for each output
        return [_restored(name, entry) if isinstance(entry, list) else entry for entry in value]
    return [tuple(entry) if isinstance(entry, list) else entry for entry in value]


def _is_pair(name: str, entry: Any) -> bool:
    """Whether an entry of a list is a key with its value."""
    if not isinstance(entry, list) or len(entry) != PAIR or isinstance(entry[0], list):
        return False
    return name != "nominal" or entry[1] is None or isinstance(entry[1], list)


def _is_whole(made: Any, stated: Mapping[str, Any]) -> bool:
    """Whether the estimator's own facts equal these, except for a seed that was a generator."""
    own = {name: plain(value) for name, value in made.get_params(deep=False).items() if name in stated}
    return own == {
        name: None if name == "random_state" and isinstance(value, str) else value for name, value in stated.items()
    }


def _fits(made: Any, model: Any) -> bool:
    """Whether the columns, levels and classes that the parameters name are those of the model."""
    given = made.get_params(deep=False)
    known = {label for labels in model.classes for label in labels.tolist()}
    if not known.issuperset(_labels_in(given.get("class_weight"))):
        return False
    groups = given.get("interaction_cst")
    if isinstance(groups, list) and not all(isinstance(group, list | tuple) for group in groups):
        return False  # sets are stored by the name of their type
    return model.schema is None or _declares(given, model.schema)


def _labels_in(class_weight: Any) -> Iterator[Any]:
    """The labels that class weights are stated for."""
    for entry in class_weight if isinstance(class_weight, list) else [class_weight]:
        if isinstance(entry, Mapping):
            yield from entry


def _declares(given: Mapping[str, Any], schema: Schema) -> bool:
    """Whether declarations of columns lead to the model's own columns."""
    try:
        declared = resolve(schema.given_names, *(given.get(name) for name in DECLARATIONS))
        asked_parts(given.get("calendar"), schema.given_names)
        for name in ("monotonic_cst", "scale"):
            if isinstance(given.get(name), Mapping):
                resolve(schema.names, list(given[name]), None, None)
    except (DataError, ParameterError):
        return False
    return all(
        schema.columns[at].kind == declaration.kind
        and (not declaration.levels or declaration.levels == schema.columns[at].levels)
        for at, declaration in declared.items()
    )


def tree_estimator(data: ReportData) -> Any:
    """The fitted estimator of the tree; None if the report is made from a model."""
    of_pruned = getattr(data.estimator, "estimator_", None)  # of ``PrunedTree``
    return next((each for each in (data.estimator, of_pruned) if is_single_tree(each)), None)


def kept_rows(estimator: Any) -> Any:
    """The encoded training rows, if the estimator keeps them: single trees do, up to 32 MB."""
    return getattr(estimator, "__dict__", {}).get("_rows")


def is_ours(given: Any) -> bool:
    """Whether something is an estimator of this library, fitted or not."""
    return algorithm_of_estimator(given) is not None


def shuffled(
    data: ReportData, rows: np.ndarray, among: np.ndarray | None = None, *, seed: int = 0, n_jobs: int | None = None
) -> Importances | None:
    """Return how much worse the model is when a column is shuffled among some rows, over five shuffles.

    Parameters
    ----------
    data : ReportData
    rows : int64[m]
        The rows that are shuffled.
    among : bool[p], optional
        Only these columns are shuffled, the rise of the others is 0; for nearest neighbours all are.
    seed : int >= 0
    n_jobs : int or None

    Returns
    -------
    Importances or None
        The rise of the cost per row, if costs chose the threshold. Else of boosted trees that of the loss that they
        were fitted with; of others that of the misclassification rate, or of the squared error. None if it cannot be
        computed: errors beyond float64, or a loss that is an unknown function.
    """
    model = data.model
    matrix, target, weights = data.matrix[rows], data.target[rows], data.weights[rows]
    own = None if (weights == weights[0]).all() else weights
    n_threads = resolve_jobs(n_jobs)
    try:
        if data.is_neighbors:
            return _of_neighbors(data, matrix, target, own, seed)
        if model.has_scores and cost_by_class(model) is None:
            losses = getattr(data.estimator, "_bound", None) or losses_of_model(model, Rows(matrix, target, own))
            others = Rows(matrix, target, own)
            return permutation_of_boosted(model, losses, others, REPEATS, seed, n_threads, among) if losses else None
        return permutation_of_trees(
            model, matrix, target, own, n_repeats=REPEATS, seed=seed, n_jobs=n_threads, among=among
        )
    except (DataError, TooLargeError):
        return None


def _of_neighbors(
    data: ReportData, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, seed: int
) -> Importances:
    """The rises for nearest neighbours: every column is shuffled."""
    model = data.model
    answers = data.model.codes_of if data.is_classification else data.model.numbers_of
    by_class = cost_by_class(model)
    error = error_of_predictions(
        lambda cells: answers(np.ascontiguousarray(cells)), model.task, target, weights, by_class
    )
    by_repeat = shuffled_rises(error, matrix, np.arange(matrix.shape[1]), REPEATS, seed)
    what = SQUARED if not data.is_classification else WRONG if by_class is None else COSTS
    return mean_of_repeats(by_repeat, model.task, model.schema.names, "permutation", what)


def out_of_bag_of(data: ReportData) -> tuple[OobCurve | None, str]:
    """The out-of-bag curve of a forest, or why there is none."""
    model, est = data.model, data.estimator
    no_curve = "There is no out-of-bag curve:"
    if est is None:
        return None, f"{no_curve} a model without its estimator does not hold its training rows."
    if not hasattr(est, "oob_curve"):
        score = getattr(est, "oob_score_", None)
        what = "accuracy" if data.is_classification else "R2"
        known = f" Out of bag, with all trees, the {what} is {score:.4g} (oob_score_)." if score is not None else ""
        return None, f"{no_curve} {type(est).__name__} does not keep its training rows.{known}"
    n_fit = int(model.facts.get("n_samples", 0))
    if n_fit * len(model.trees) > MOST_OUT_OF_BAG:
        return None, f"{no_curve} {n_fit:,} training rows times {len(model.trees)} trees take long; call oob_curve()."
    try:
        return est.oob_curve(points=POINTS_OF_TREES), ""
    except (ParameterError, TooLargeError) as error:
        return None, f"{no_curve} {error}."
