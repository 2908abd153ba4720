"""The test rows of a report: encoded, with their target, their predictions, and whether they are the training rows.

``Options`` holds the other arguments of a report.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from treewright.core.notices import listening
from treewright.data.encoder import UnseenLevels, unseen_cells
from treewright.data.kinds import encode_cells
from treewright.data.schema import match_columns
from treewright.data.table import read_table
from treewright.data.take import take_rows, warn_of_another_order
from treewright.data.target import check_weights, encode_labels
from treewright.exceptions import DataError, ParameterError
from treewright.predict.fractional import rows_with_missing
from treewright.predict.values import predict_leaves
from treewright.trees.data import encoded_target
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
