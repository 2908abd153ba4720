"""The rows that judge a model: encoded, with their target, what the model predicts and whether the fit saw them.

``Options`` says what else a report is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from treewright.core.notices import listening
from treewright.data.frame import read_table
from treewright.data.kinds import encode_cells
from treewright.data.matching import match_columns
from treewright.data.take import take_rows
from treewright.data.target import check_weights, encode_labels
from treewright.exceptions import DataError, ParameterError
from treewright.model.data import encoded_target
from treewright.predict.fractional import rows_with_missing
from treewright.predict.values import predict_leaves
from treewright.tree.writing import written_level

CurveName = Literal["learning", "depth"]
SAME_MEAN = 1e-9  # of the largest number: what two orders of a sum may differ by


@dataclass(frozen=True)
class Options:
    """Arguments of ``treewright.report``, checked."""

    # Folds of the pruning path and of curves; "auto" is ten where the test rows are those of the fit, else None: the
    # rows judge themselves.
    cv: Any = "auto"
    curves: tuple[CurveName, ...] = ()
    examples: int = 50  # how many test rows go into the page to be followed
    columns: int = 12  # at most so many columns have a partial dependence: those that matter most
    # Permutation and partial dependence take at most so many of the test rows, drawn by ``random_state``.
    rows: int = 2000
    trees: int = 6  # how many single trees of an ensemble go into the page
    random_state: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows with their target, as a model sees them."""

    model: Any  # Model or NeighborsModel
    estimator: Any  # fitted; None where the report is made from a model alone
    table: Any  # as it was given
    target_given: Any
    matrix: np.ndarray  # float64[n, p], encoded: codes of levels, nan where a cell is missing
    target: np.ndarray  # int32[n, n_outputs] class codes, or float64[n, n_outputs]
    weights: np.ndarray  # float64[n], as given, or ones; class weights are no part of them
    # float64[m]: one for each row of the table, for functions that take the table itself; None without weights
    weights_given: np.ndarray | None
    # Classes that the model does not know, ready to be read, with their rows: those are in none of the arrays above.
    unknown: tuple[tuple[str, int], ...] = ()
    n_unknown: int = 0  # those rows
    unknown_share: float = 0.0  # and what they weigh, as a share of all

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.matrix)

    @property
    def is_classification(self) -> bool:
        """Whether the target holds classes."""
        return self.model.task == "classification"

    @property
    def is_weighted(self) -> bool:
        """Whether weights differ, so that a row is not a row."""
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
        """Per output float64[n, n_classes]: predicted shares of the classes."""
        return self.model.shares_of(self.matrix)

    @cached_property
    def numbers(self) -> np.ndarray:
        """float64[n, n_outputs]: the predicted numbers."""
        return self.model.numbers_of(self.matrix)

    @cached_property
    def leaves(self) -> np.ndarray:
        """int[n], of many trees int[n, n_trees]: where the rows end; neighbours have no leaves to ask for."""
        return predict_leaves(self.model, self.matrix)

    @cached_property
    def seen(self) -> bool | None:
        """Whether these are the rows of the fit; None where they may be, or may hold them.

        They are where every leaf gets as many of them as it got at the fit, with the same target as far as weights let
        that be compared. Where there are more rows and every leaf gets at least as many, those of the fit may be among
        them. Of trees that drew their rows, only a smaller number of rows tells that they are others. Neighbours hold
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
        # Boosting grows its first tree on all rows of the fit, unless it draws some.
        tells = self.model.is_single_tree or (self.model.has_scores and tree.n_samples[0] == n_fit)
        if not more and np.array_equal(held, had):
            return not tells or not self.model.is_single_tree or self._has_target_of_fit(leaves)
        # Divided rows are counted in each of their leaves at the fit.
        divided = self.model.missing == "fractional" and len(rows_with_missing(self.matrix)) > 0
        if not tells or divided:
            return None
        return None if more and self._may_hold_fit(leaves, held >= had) else False

    def _has_stored_rows(self, *, more: bool) -> bool | None:
        """Whether these are the rows that neighbours are looked for among; of more rows None where they hold those."""
        stored = self.model.stored
        points = stored.points_of(self.matrix)
        if not more:
            return bool(np.array_equal(points, stored.points, equal_nan=True))
        found = {row.tobytes() for row in np.asarray(points)}
        return None if all(row.tobytes() in found for row in np.asarray(stored.points)) else False

    def _may_hold_fit(self, leaves: np.ndarray, enough: np.ndarray) -> bool:
        """Whether every leaf of the first tree gets the rows of the fit, of classes those of each class, and more."""
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
        """Whether the leaves of a single tree hold the target that they held at the fit; also where weights hide it."""
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


def judged_rows(model: Any, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Judged:
    """Encode rows with their target as the model sees them; rows of weight 0 or of an unknown class are left out."""
    if y is None:
        raise DataError("report requires y to be passed, but the target y is None: rows without a target judge nothing")
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
    return Judged(model, estimator, X, y, matrix, target, weights, given, unknown, n_unknown, unknown_share)


def _known_classes(model: Any, y: Any, n: int) -> tuple[np.ndarray, tuple[tuple[str, int], ...]]:
    """Positions of the rows whose classes the model knows; and the classes that it does not, with their rows.

    A fold, or rows held out, may hold all rows of a rare class. Where the model knows no row's class nothing is left
    out: that is refused where the target is encoded.
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
            "the model was fitted on sparse rows, and a report tells of the columns of a table: fit on a dense table, "
            "such as X.toarray(), to have one"
        )
    return np.asarray(model._encoded(X, owner), np.float64)


def rows_drawn(n: int, most: int, random_state: int) -> np.ndarray:
    """Positions of all rows, or of as many as there may be, ascending.

    Parameters
    ----------
    n : int
    most : int >= 1
    random_state : int >= 0

    Returns
    -------
    int64[min(n, most)]

    Examples
    --------
    >>> rows_drawn(3, 5, 0).tolist(), len(rows_drawn(9, 5, 0))
    ([0, 1, 2], 5)
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))


@dataclass(frozen=True, eq=False)
class UnseenLevels:
    """The cells of a column with a level that the fit never saw."""

    rows: np.ndarray  # bool[n]: of the test rows
    levels: tuple[str, ...]  # ready to be read, sorted


def unseen_levels(judged: Judged) -> dict[int, UnseenLevels]:
    """Return the columns that hold such levels, by their position.

    The encoded rows no longer tell them from missing cells, so the table is looked at once more.
    """
    schema = judged.model.schema
    if all(column.kind == "numeric" for column in schema.columns):
        return {}
    with listening():  # what there is to warn of was said when the rows were encoded
        table = read_table(judged.table)
        source = match_columns(schema, table, "report")
    given = None if judged.weights_given is None else check_weights(judged.weights_given, table.n_rows)
    kept = slice(None) if given is None else given > 0
    found = {}
    for at, column in enumerate(schema.columns):
        if column.kind == "numeric" or column.part:
            continue
        cells = table.cells(source[at])
        # Under "majority" only a nominal level has a code of its own; an ordinal one is nan, as a missing cell is.
        codes = encode_cells(column, cells, "", "majority")
        unknown = ((np.isnan(codes) | (codes == len(column.levels))) & ~cells.missing())[kept]
        if unknown.any():
            own, distinct = cells.coded()
            levels = sorted({written_level(distinct[code]) for code in np.unique(own[kept][unknown]).tolist()})
            found[at] = UnseenLevels(unknown, tuple(levels))
    return found


def cells_of(judged: Judged, at: int, unseen: dict[int, UnseenLevels]) -> np.ndarray:
    """Return float64[n]: a column's cells; nan is missing, the code after the last level one that the fit never saw."""
    cells = np.array(judged.matrix[:, at], np.float64)
    if at in unseen:
        cells[unseen[at].rows] = len(judged.model.schema.columns[at].levels)
    return cells
