"""What an isolation forest says of its trees. In: a fitted forest. Out: trees, what they drew, a file.

Caller: estimators.isolation. The sequence of its trees is that of ``ForestTrees``, text and pictures of ``ManyTrees``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from treewright.estimators.forest_trees import ForestTrees
from treewright.forest.draws import candidate_columns

if TYPE_CHECKING:
    from treewright.model import Model


class IsolationVerbs(ForestTrees):
    """Verbs of an isolation forest beside its scores."""

    model_: Model
    _past: Any  # an IsolationPlan

    def _fitted(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """Columns that each tree drew, ascending."""
        model = self._fitted()
        seed, p, n_columns = self._past.draws.seed, len(model.schema), self._past.n_columns
        return [candidate_columns(seed, tree, p, n_columns).astype(np.int64) for tree in range(model.n_trees)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; ``treewright.load`` reads it, and ``anomaly_scores`` scores rows with what it read.

        Raises
        ------
        InputFileError
            The file cannot be written there.
        """
        self._fitted().save(path)
