"""The parts of a forest, each made when it is asked for. In: a model, draws. Out: sequences.

Caller: estimators.forest_base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from treewright.model import Model

if TYPE_CHECKING:
    from treewright.forest.draws import Draws


class TreesOf(Sequence[Model]):
    """The trees of a model, each as a model of its own.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def __len__(self) -> int:
        return self._model.n_trees

    @overload
    def __getitem__(self, item: int) -> Model: ...

    @overload
    def __getitem__(self, item: slice) -> list[Model]: ...

    def __getitem__(self, item: int | slice) -> Model | list[Model]:
        places = range(len(self))[item]
        return [self._model.tree(at) for at in places] if isinstance(places, range) else self._model.tree(places)

    def __repr__(self) -> str:
        return f"<the {len(self)} trees of {self._model!r}>"


class SamplesOf(Sequence[np.ndarray]):
    """The rows that each tree was grown on.

    Parameters
    ----------
    draws : Draws or None
        None: every tree was grown on all rows.
    rows : int64[n]
        What the rows that could be drawn are called: their positions in the table of the fit, less those of weight 0.
    n_trees : int
    """

    def __init__(self, draws: Draws | None, rows: np.ndarray, n_trees: int) -> None:
        self._draws, self._rows, self._n_trees = draws, rows, n_trees

    def __len__(self) -> int:
        return self._n_trees

    @overload
    def __getitem__(self, item: int) -> np.ndarray: ...

    @overload
    def __getitem__(self, item: slice) -> list[np.ndarray]: ...

    def __getitem__(self, item: int | slice) -> np.ndarray | list[np.ndarray]:
        places = range(self._n_trees)[item]
        return [self._of_tree(at) for at in places] if isinstance(places, range) else self._of_tree(places)

    def _of_tree(self, tree: int) -> np.ndarray:
        """int64[m], ascending; a row that was drawn twice is there twice."""
        if self._draws is None:
            return self._rows.copy()
        rows, counts = self._draws.counts(tree)
        return np.repeat(self._rows[rows], counts)
