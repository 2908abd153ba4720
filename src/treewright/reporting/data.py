"""What a report is made of: test rows with predictions, options, and what an estimator knows beyond its model.

``Options`` holds the other arguments of a report.

A model made by an estimator holds its parameters as facts, so that a report made from the model alone can also fit
folds (``estimator_of``). The facts are plain JSON; a function, or a label without a JSON form, is stored by the name of
its type only. So the estimator is used only if its own facts equal those of the model, and if the columns, levels and
classes that they name are in the model. A fitted estimator may also keep its training rows, and a forest knows which of
them each tree left out. The shuffles are those of ``importances("permutation", X, y)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from treewright.boosting.growth import losses_of_model
from treewright.core.notices import listening
from treewright.core.threads import resolve_jobs
from treewright.data.calendar import requested_parts
from treewright.data.encoder import UnseenLevels, unseen_cells
from treewright.data.kinds import encode_cells, resolve
from treewright.data.schema import Schema, match_columns
from treewright.data.table import read_table
from treewright.data.take import take_rows, warn_of_another_order
from treewright.data.target import check_weights, encode_labels
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
from treewright.predict.ensemble import predict_leaves
from treewright.predict.fractional import rows_with_missing
from treewright.prune.methods import Rows
from treewright.trees.data import encoded_target
from treewright.trees.threshold import cost_by_class, positive_code
from treewright.trees.writing import written_level

CurveName = Literal["learning", "depth"]
SAME_MEAN = 1e-9  # times the largest number: largest difference between two orders of a sum


@dataclass(frozen=True)
class Options:
    """Arguments of ``treewright.report``, checked."""

    # Folds of the pruning path and of curves; "auto" is ten if the test rows are the training rows, else None: the
    # rows are held-out rows.
    cv: Any = "auto"
    curves: tuple[CurveName, ...] = ()
    examples: int = 50  # how many test rows go into the page to be followed
    columns: int = 12  # at most so many columns have a partial dependence: those that matter most
    # Permutation and partial dependence use at most so many of the test rows, sampled by ``random_state``.
    rows: int = 2000
    trees: int = 6  # how many single trees of an ensemble go into the page
    random_state: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """The cells of a column with unseen levels."""

    rows: np.ndarray  # bool[n]: of the test rows
    levels: tuple[str, ...]  # as texts, sorted
    is_most: bool  # of the cells that are not missing


@dataclass(frozen=True, eq=False)
class ReportData:
    """Rows with their target, as a model sees them."""

    model: Any  # Model or NeighborsModel
    estimator: Any  # fitted; None if the report is made from a model alone
    table: Any  # as it was given
    target_given: Any
    matrix: np.ndarray  # float64[n, p], encoded: codes of levels, nan if a cell is missing
    target: np.ndarray  # int32[n, n_outputs] class codes, or float64[n, n_outputs]
    weights: np.ndarray  # float64[n], as given, or ones; without class weights
    # float64[m]: one for each row of the table, for functions that take the table itself; None without weights
    weights_given: np.ndarray | None
    # Classes that the model does not know, as texts, with their numbers of rows: the arrays above do not hold them.
    unknown: tuple[tuple[str, int], ...] = ()
    n_unknown: int = 0  # those rows
    unknown_share: float = 0.0  # and their weight as a share of all

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    @property
    def is_classification(self) -> bool:
        """Whether the target holds classes."""
        return self.model.task == "classification"

    @property
    def is_weighted(self) -> bool:
        """Whether the weights of the rows differ."""
        return bool((self.weights != self.weights[0]).any())

    @property
    def is_neighbors(self) -> bool:
        """Whether the model holds rows and looks for the nearest, instead of trees: it has no leaves."""
        return not self.model.has_trees

    @cached_property
    def codes(self) -> np.ndarray:
        """int[n, n_outputs]: the predicted classes."""
        return self.model.codes_of(self.matrix)

    @cached_property
    def shares(self) -> list[np.ndarray]:
        """Per output float64[n, n_classes]: predicted probabilities of the classes."""
        return self.model.shares_of(self.matrix)

    @cached_property
    def numbers(self) -> np.ndarray:
        """float64[n, n_outputs]: the predicted numbers."""
        return self.model.numbers_of(self.matrix)

    @cached_property
    def leaves(self) -> np.ndarray:
        """int[n], for many trees int[n, n_trees]: the leaves of the rows; not for neighbours."""
        return predict_leaves(self.model, self.matrix)

    @cached_property
    def unseen(self) -> dict[int, UnseenRows]:
        """The columns with unseen levels, by their position.

        In the encoded rows they may look like missing cells, so the table is read once more.
        """
        schema = self.model.schema
        if all(column.kind == "numeric" for column in schema.columns):
            return {}
        with listening():  # encoding the rows has given these warnings already
            table = read_table(self.table)
            source = match_columns(schema, table, "report")
        given = None if self.weights_given is None else check_weights(self.weights_given, table.n_rows)
        kept = slice(None) if given is None else given > 0
        found = {}
        for at, column in enumerate(schema.columns):
            if column.kind == "numeric" or column.part:
                continue
            cells = table.cells(source[at])
            # Under "majority" only a nominal level has a code of its own; an ordinal one is nan, as a missing cell is.
            unknown = unseen_cells(column, cells, encode_cells(column, cells, "", "majority"))
            if unknown[kept].any():
                codes, distinct = cells.coded()
                own = np.unique(codes[kept][unknown[kept]]).tolist()
                levels = sorted({written_level(distinct[code]) for code in own})
                counts = UnseenLevels()
                counts.count(column, cells, unknown)
                found[at] = UnseenRows(unknown[kept], tuple(levels), counts.is_most(column.name))
        return found

    @cached_property
    def seen(self) -> bool | None:
        """Whether these are the training rows; None if they may be, or may contain them.

        They are if every leaf gets as many of them as in the fit, with the same target as far as weights allow a
        comparison. If there are more rows and every leaf gets at least as many, the training rows may be among them.
        For trees that sampled their rows, only a smaller number of rows shows that they are others. Neighbours hold
        the rows themselves.
        """
        n_fit = int(self.model.facts.get("n_samples", -1))
        if n_fit < 0 or self.n < n_fit:
            return False
        more = self.n > n_fit
        if self.is_neighbors:
            return self._has_stored_rows(more=more)
        tree = self.model.trees[0]
        leaves = self.leaves if self.leaves.ndim == 1 else self.leaves[:, 0]
        held = np.bincount(leaves, minlength=tree.n_nodes)[tree.is_leaf]
        had = tree.n_samples[tree.is_leaf]
        # Boosting grows its first tree on all training rows, unless it samples some.
        tells = self.model.is_single_tree or (self.model.has_scores and tree.n_samples[0] == n_fit)
        if not more and np.array_equal(held, had):
            return not tells or not self.model.is_single_tree or self._has_target_of_fit(leaves)
        # In the fit, divided rows are counted in each of their leaves.
        divided = self.model.missing == "fractional" and len(rows_with_missing(self.matrix)) > 0
        if not tells or divided:
            return None
        return None if more and self._may_hold_fit(leaves, held >= had) else False

    def _has_stored_rows(self, *, more: bool) -> bool | None:
        """Whether these are the stored rows of neighbours; None if they are more rows that contain those."""
        stored = self.model.stored
        points = stored.points_of(self.matrix)
        if not more:
            return bool(np.array_equal(points, stored.points, equal_nan=True))
        found = {row.tobytes() for row in np.asarray(points)}
        return None if all(row.tobytes() in found for row in np.asarray(stored.points)) else False

    def _may_hold_fit(self, leaves: np.ndarray, enough: np.ndarray) -> bool:
        """Whether every leaf of the first tree gets at least its training rows, for classification of each class."""
        tree = self.model.trees[0]
        if not enough.all():
            return False
        counts = self.model.is_single_tree and self.is_classification and not self.is_weighted
        if not counts or not np.array_equal(tree.weight, tree.n_samples):
            return True
        held = np.zeros((tree.n_nodes, len(self.model.classes[0])))
        np.add.at(held, (leaves, self.target[:, 0].astype(np.int64)), 1.0)
        return bool((held[tree.is_leaf] >= tree.value[tree.is_leaf, : held.shape[1]]).all())

    def _has_target_of_fit(self, leaves: np.ndarray) -> bool:
        """Whether the leaves of a single tree have the same target as in the fit; also true if weights hide it."""
        tree, target = self.model.trees[0], self.target[:, 0]
        kept = np.flatnonzero(tree.is_leaf & (tree.n_samples > 0))
        if self.is_weighted or not np.array_equal(tree.weight[kept], tree.n_samples[kept]):
            return True
        if self.is_classification:
            held = np.zeros((tree.n_nodes, len(self.model.classes[0])))
            np.add.at(held, (leaves, target.astype(np.int64)), 1.0)
            return bool(np.array_equal(held[kept], tree.value[kept, : held.shape[1]]))
        if self.model.facts.get("criterion") != "squared_error":
            return True
        with np.errstate(over="ignore", invalid="ignore"):
            means = np.bincount(leaves, weights=target, minlength=tree.n_nodes)[kept] / tree.n_samples[kept]
            # Sums may be added in another order, or be beyond float64.
            finite = np.isfinite(means)
            near = SAME_MEAN * max(np.abs(target).max(), np.finfo(np.float64).tiny)
            return bool((np.abs(means - tree.value[kept, 0])[finite] <= near).all())


def report_data(model: Any, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> ReportData:
    """Encode rows with their target as the model sees them; rows of weight 0 or of an unknown class are left out."""
    if y is None:
        raise DataError("report requires y to be passed, but the target y is None: give the target of the rows")
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    if tuple(getattr(y, "shape", ()))[1:] == (1,):  # else every fold warns of a column
        y = np.asarray(y)[:, 0]
    matrix = _encoded(model, X, "the model" if estimator is None else type(estimator).__name__)
    given = check_weights(sample_weight, len(matrix))
    known, unknown = _known_classes(model, y, len(matrix))
    n_unknown, unknown_share = len(matrix) - len(known), 0.0
    if unknown:
        of_all = np.ones(len(matrix)) if given is None else given / given.max()
        unknown_share = 1.0 - float(of_all[known].sum() / of_all.sum())
        X, y, matrix = take_rows(X, known), take_rows(y, known), matrix[known]
        given = None if given is None else check_weights(given[known], len(known))
    target = encoded_target(model, y, len(matrix))
    weights = np.ones(len(matrix)) if given is None else given.astype(np.float64)
    kept = weights > 0
    if not kept.all():
        matrix, target, weights = matrix[kept], target[kept], weights[kept]
    return ReportData(model, estimator, X, y, matrix, target, weights, given, unknown, n_unknown, unknown_share)


def _known_classes(model: Any, y: Any, n: int) -> tuple[np.ndarray, tuple[tuple[str, int], ...]]:
    """Positions of the rows whose classes the model knows; and the unknown classes with their numbers of rows.

    A fold, or held-out rows, may contain all rows of a rare class. If the model knows no row's class nothing is left
    out: encoding the target refuses that.
    """
    everything = np.arange(n)
    if model.task != "classification":
        return everything, ()
    labels = encode_labels(y)
    if len(labels.codes) != n or len(labels.classes) != len(model.classes):
        return everything, ()
    strange = np.zeros(n, bool)
    unknown: list[tuple[str, int]] = []
    for codes, own, known in zip(labels.codes.T, labels.classes, model.classes, strict=True):
        places = set(known.tolist())
        for code, label in enumerate(own.tolist()):
            if label not in places:
                unknown.append((written_level(label), int((codes == code).sum())))
                strange |= codes == code
    if strange.all():
        return everything, ()
    return np.flatnonzero(~strange), tuple(unknown)


def _encoded(model: Any, X: Any, owner: str) -> np.ndarray:
    """The rows as the model sees them, float64[n, p]."""
    if model.schema is None:
        raise ParameterError(
            "the model was fitted on sparse rows, and a report needs the columns of a table: fit on a dense table, "
            "such as X.toarray()"
        )
    return np.asarray(model._encoded(X, owner), np.float64)


def sampled_rows(n: int, most: int, random_state: int) -> np.ndarray:
    """Positions of all rows, or of at most so many sampled ones, ascending.

    Examples
    --------
    >>> sampled_rows(3, 5, 0).tolist(), len(sampled_rows(9, 5, 0))
    ([0, 1, 2], 5)
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))


def cells_of(data: ReportData, at: int) -> np.ndarray:
    """Return float64[n]: a column's cells; nan is missing, the code after the last level is an unseen level."""
    cells = np.array(data.matrix[:, at], np.float64)
    if at in data.unseen:
        cells[data.unseen[at].rows] = len(data.model.schema.columns[at].levels)
    return cells


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
        requested_parts(given.get("calendar"), schema.given_names)
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
