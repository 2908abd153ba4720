"""How much each column matters to one tree. In: a fitted tree, rows. Out: ``Importances``.

Caller: estimators.single.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.core.whole import whole_number
from treewright.exceptions import ParameterError
from treewright.forest.importance_table import Importances

if TYPE_CHECKING:
    from treewright.model import Model

KINDS = ("impurity", "permutation")
SHARE = "share of the impurity that splits removed, on the training rows"


class SingleImportance:
    """A tree that tells how much each column matters to it."""

    n_jobs: int | None

    def importances(
        self,
        kind: str = "impurity",
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        n_repeats: int = 5,
        random_state: int = 0,
    ) -> Importances:
        """How much each column matters to the tree.

        Parameters
        ----------
        kind : {"impurity", "permutation"}, default "impurity"
            ``"impurity"``: the share of the impurity that splits removed, on the training rows: the values of
            ``feature_importances_``. ``"permutation"``: how much more of the rows X the tree predicts wrong, or how
            much its squared error rises, when the column is shuffled among them (Breiman 2001).
        X, y : optional
            Rows for ``"permutation"``: best such that the tree was not grown on.
        sample_weight : float[n], optional
        n_repeats : int >= 1, default 5
            Shuffles of each column.
        random_state : int >= 0, default 0
            Seed of the shuffles.

        Returns
        -------
        treewright.forest.importance_table.Importances
            Print it, or take ``names``, ``values``, ``standard_errors``, ``to_dict()`` or ``plot()``.

        Raises
        ------
        ParameterError
            There is no such kind; rows are lacking or not wanted.
        DataError
            The table was refused, or the squared error is beyond float64.

        Examples
        --------
        >>> import treewright as tw
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> est = tw.DecisionTreeClassifier(max_depth=2).fit(X[::2], y[::2])
        >>> est.importances("permutation", X[1::2], y[1::2]).order[:1].tolist()
        [2]
        """
        model: Model = self._fitted()  # type: ignore[attr-defined]
        if kind not in KINDS:
            raise ParameterError(f"kind={kind!r}: there are {', '.join(map(repr, KINDS))}")
        if kind == "impurity":
            if X is not None or y is not None or sample_weight is not None:
                raise ParameterError("kind='impurity' is of the tree as it was grown: leave X and y out")
            values = model.feature_importances
            nothing = np.full(len(values), np.nan)
            return Importances(kind, model.task, model.schema.names, values, nothing, 1, sample="", what=SHARE)
        if X is None or y is None:
            raise ParameterError("kind='permutation' needs rows: importances('permutation', X, y), such as a hold-out")
        from treewright.estimators.shuffled import permutation_of_trees

        repeats, seed = whole_number("n_repeats", n_repeats, 1), whole_number("random_state", random_state, 0)
        rows = model.encode_rows(X, y, sample_weight, owner=type(self).__name__, routed=True)
        return permutation_of_trees(model, *rows, n_repeats=repeats, seed=seed, n_jobs=resolve_jobs(self.n_jobs))
