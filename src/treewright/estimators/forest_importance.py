"""Importances of a fitted forest. In: the rows of the fit, or others. Out: ``Importances``. Caller: forest_base."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from treewright.core.progress_bar import bar_where_nobody_listens
from treewright.core.threads import resolve_jobs
from treewright.core.whole import whole_number
from treewright.data.bin_rows import bin_rows
from treewright.data.weights import weighed
from treewright.estimators.binned import BinnedTable
from treewright.estimators.growth import Growing
from treewright.estimators.table import KEPT_BYTES
from treewright.exceptions import ParameterError
from treewright.forest.importance import (
    JudgingRows,
    debiased_importances,
    impurity_decrease,
    permutation_importances,
)
from treewright.tree.packed import PackedTrees

if TYPE_CHECKING:
    from treewright.estimators.forest_past import PastFit
    from treewright.estimators.table import FitInput
    from treewright.forest.importance_table import Importances

KINDS = ("impurity", "debiased", "permutation")
ROWS = ("out_of_bag", "all")


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows of a fit, as trees are judged on them: cells, target, weights (see ``JudgingRows``).

    ``own`` float64[n] or None: what rows weigh without their classes.
    """

    cells: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None
    own: np.ndarray | None = None


class ForestImportance(Growing):
    """A forest that tells how much each column matters to it."""

    verbose: int
    _past: PastFit
    _kept_rows: KeptRows | None

    def importances(
        self,
        kind: str = "impurity",
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        rows: str = "out_of_bag",
        random_state: int = 0,
    ) -> Importances:
        """How much each column matters to the forest, with a standard error over the trees.

        Parameters
        ----------
        kind : {"impurity", "debiased", "permutation"}, default "impurity"
            ``"impurity"``: the share of the impurity that splits removed, on the training rows: the values of
            ``feature_importances_``. It likes columns with many distinct values, also those that say nothing.
            ``"debiased"``: the same sums on rows that the tree never saw (Li et al. 2019).
            ``"permutation"``: how much worse a tree predicts such rows when the column is shuffled among them
            (Breiman 2001).
        X, y : optional
            Rows with their target. ``rows="out_of_bag"``: the table of the fit again, row by row, where the estimator
            did not keep it: it keeps up to 32 MB of bins, and none in a pickle. ``rows="all"``: other rows, such as a
            hold-out.
        sample_weight : float[n], optional
            What rows of X weigh; as at the fit, where they are its rows.
        rows : {"out_of_bag", "all"}, default "out_of_bag"
            Which rows judge a tree: those that it did not draw, or all of X.
        random_state : int >= 0, default 0
            Seed of the shuffles.

        Returns
        -------
        treewright.forest.importance_table.Importances
            Print it, or take ``names``, ``values``, ``standard_errors``, ``to_dict()`` or ``plot()``. It does not
            depend on ``n_jobs``.

        Raises
        ------
        ParameterError
            There is no such kind; ``rows="out_of_bag"`` of trees that saw every row, or with another table than that of
            the fit; rows are lacking or not wanted; ``"debiased"`` of trees whose leaves hold medians.
        DataError
            The table was refused, or every tree drew all rows.
        """
        model = self._fitted()
        for name, value, known in (("kind", kind, KINDS), ("rows", rows, ROWS)):
            if not isinstance(value, str):
                raise ParameterError(
                    f"{name} is one of {', '.join(map(repr, known))}, not of type {type(value).__name__}: as in "
                    "importances('permutation', X, y)"
                )
            if value not in known:
                raise ParameterError(f"{name}={value!r}: there are {', '.join(map(repr, known))}")
        if (X is None) != (y is None) or (X is None and sample_weight is not None):
            raise ParameterError("importances takes X and y together, sample_weight only with them")
        if kind == "impurity":
            if X is not None:
                raise ParameterError("kind='impurity' is of the training rows as the trees hold them: leave X, y out")
            return impurity_decrease(model)
        seed, n_threads = whole_number("random_state", random_state, 0), resolve_jobs(self.n_jobs)
        judging = self._judging_rows(X, y, sample_weight, rows, n_threads)
        with bar_where_nobody_listens(bool(self.verbose)):
            if kind == "debiased":
                return debiased_importances(model, judging, n_threads=n_threads)
            return permutation_importances(model, judging, seed=seed, n_threads=n_threads)

    def __getstate__(self) -> dict[str, Any]:
        # The rows of the fit stay here: a pickle is for using the model, and may leave the house.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_kept_rows", None)
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # A copy stays here too; copy would make it by way of __getstate__. Nobody changes the rows: they are shared.
        kept = self.__dict__.get("_kept_rows")
        memo[id(kept)] = kept
        return self._copied(deepcopy(self.__dict__, memo))

    def __copy__(self) -> Self:
        return self._copied(self.__dict__)

    def _copied(self, state: dict[str, Any]) -> Self:
        """An estimator with this state."""
        made = type(self).__new__(type(self))
        made.__dict__.update(state)
        return made

    def _keep_rows(self, given: FitInput, binned: BinnedTable) -> None:
        """Keep the rows of a fit while they are few; ``_learn`` calls it when the model is there."""
        cells = self._cells(binned)
        self._kept_rows = None
        if cells.nbytes <= KEPT_BYTES:
            # The matrix and the target may be the user's own arrays, which may be changed after the fit.
            cells = cells.copy() if cells is binned.table.matrix else cells
            own = None if given.sample_weight is None else given.sample_weight.copy()
            self._kept_rows = KeptRows(cells, given.table.target[0].copy(), _weights_of(given), own)

    def _cells(self, binned: BinnedTable) -> np.ndarray:
        """What the trees read: bins, or the encoded table."""
        return binned.codes if isinstance(self.model_.trees, PackedTrees) else binned.table.matrix

    def _judging_rows(self, X: Any, y: Any, sample_weight: Any, rows: str, n_threads: int) -> JudgingRows:
        """The rows that judge the trees."""
        owner = type(self).__name__
        if rows == "all":
            if X is None:
                raise ParameterError("rows='all' needs rows: give X and y, such as a hold-out")
            matrix, target, weights = self.model_.encode_rows(X, y, sample_weight, owner=owner, routed=True)
            trees = self.model_.trees
            cells = bin_rows(trees.bins, matrix, n_threads) if isinstance(trees, PackedTrees) else matrix
            return JudgingRows(cells, target, weights)
        draws = self._past.draws
        if draws is None:
            raise ParameterError(
                f"every tree of {owner}(bootstrap=False) was grown on all rows, so none is left out to judge it on: "
                "give other rows, as in importances(kind, X, y, rows='all'), or fit with bootstrap=True"
            )
        kept = self.__dict__.get("_kept_rows")
        if X is not None:
            kept = self._rows_again(X, y, sample_weight, n_threads)
        if kept is None:
            raise ParameterError(
                "the rows of the fit were not kept (more than 32 MB, or the estimator comes out of a pickle): give the "
                "same table again, as in importances(kind, X, y), or other rows with rows='all'"
            )
        return JudgingRows(kept.cells, kept.target, kept.weights, draws.left_out)

    def _rows_again(
        self, X: Any, y: Any, sample_weight: Any, n_threads: int, *, who: str = "rows='out_of_bag'",
        otherwise: str = "give that one, or rows='all' to judge every tree on all rows of this table",
    ) -> KeptRows:  # fmt: skip
        """The rows of the fit, given once more; ``who`` needs them, ``otherwise`` says what to do.

        Raises
        ------
        ParameterError
            They are others: which rows a tree drew is known by their places alone.
        """
        given = self._checked(X, y, sample_weight, n_threads)
        binned = BinnedTable.of(given.table, self.max_bins, n_threads)
        other = self._past.other_than(self.model_, given.table, binned.digest())
        if other:
            raise ParameterError(
                f"{who} needs the table of the fit, row by row, with its target, weights and parameters; "
                f"this is another ({other}): {otherwise}"
            )
        return KeptRows(self._cells(binned), given.table.target[0], _weights_of(given), given.sample_weight)


def _weights_of(given: FitInput) -> np.ndarray | None:
    """float64[n] or None: what rows weigh with their classes, as ``Model.encode_rows`` says it."""
    return weighed(given.sample_weight, given.factors, given.table.target[0])
