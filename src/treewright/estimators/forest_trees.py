"""Many trees as a sequence. In: a fitted estimator. Out: trees, each a model; the rows that each drew.

Callers: estimators.forest_base, estimators.isolation_verbs, estimators.boosting_verbs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

from treewright.estimators.forest_parts import SamplesOf, TreesOf
from treewright.estimators.many_trees import ManyTrees

if TYPE_CHECKING:
    from treewright.estimators.forest_past import PastFit
    from treewright.model import Model


class TreeSequence(ManyTrees):
    """The trees of an estimator, by ``len``, ``[]``, ``for`` and ``tree``."""

    @property
    def estimators_(self) -> TreesOf:
        """The trees, each a ``Model`` of its own that is made when it is asked for."""
        return TreesOf(self._fitted())

    def __len__(self) -> int:
        return len(self.estimators_)

    def __bool__(self) -> bool:
        # Not by its length: an estimator that was not fitted has none, and is there all the same.
        return True

    def __iter__(self) -> Iterator[Model]:
        return iter(self.estimators_)

    @overload
    def __getitem__(self, item: int) -> Model: ...

    @overload
    def __getitem__(self, item: slice) -> list[Model]: ...

    def __getitem__(self, item: Any) -> Model | list[Model]:
        return self.estimators_[item]


class ForestTrees(TreeSequence):
    """The trees of a forest, and what each drew."""

    _past: PastFit

    @property
    def estimators_samples_(self) -> SamplesOf:
        """The rows that each tree was grown on: int64, ascending, a row that was drawn twice is there twice."""
        model = self._fitted()
        return SamplesOf(self._past.draws, self._past.rows, model.n_trees)
