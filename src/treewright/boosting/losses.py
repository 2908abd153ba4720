"""Losses. In: targets, scores. Out: gradients, hessians, the loss. Callers: boosting.rounds, estimators.

``losses_numbers``, ``losses_classes`` and ``losses_own`` hold them; ``losses_by_name`` makes one from parameters.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from treewright.model.aggregation import Link


class Loss(ABC):
    """What boosting lowers, of one output.

    Attributes
    ----------
    name : str
    link : Link
    n_scores : int >= 1
        Scores of a row.
    unit_hessian : bool
        Whether the hessian is 1 for every row; then ``gradients`` does not write it.
    renews : bool
        Whether leaf values are not minus gradient over hessian, but come from ``renewed``.
    max_step : float > 0
        The most that a leaf may add to a score in one round, before the learning rate.
    rowwise : bool
        Whether a row's gradient does not depend on other rows, so that ``gradients`` may be asked for any rows, by
        several threads at once. If not, it is asked for all rows in one call.
    """

    name: ClassVar[str]
    link: Link = "identity"
    n_scores: int = 1
    unit_hessian: bool = False
    renews: bool = False
    rowwise: bool = True
    max_step: float = math.inf

    @abstractmethod
    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Refuse targets outside the loss's domain: DataError with the count, the first row, its value, the remedy.

        ``rows`` int64[m] says which rows of the user's table these are; None: all, in their order.
        """

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Loss:  # noqa: ARG002 - others read the rows
        """The loss with all that it takes from the rows of the fit; itself where it takes nothing.

        Called once, after ``check`` and before everything else.

        Raises
        ------
        DataError
            The numbers of the target are too small or too large for gradients.
        """
        return self

    @abstractmethod
    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """float64[n_scores]: the best constant scores, of rows that weigh ``weights`` (float64[m], > 0)."""

    @abstractmethod
    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Write gradient and hessian of some rows, unweighted.

        Parameters
        ----------
        target : float64[m] or int32[m]
        scores : float64[n_scores, m], rows contiguous or slices of longer rows
        g, h : float32[n_scores, m], OUT
            Finite, ``h`` above 0 (a user's own may be 0). ``h`` is not written where ``unit_hessian``.
        """

    @abstractmethod
    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """float64[m]: the loss of each row; inf where it is beyond float64."""

    def renewed(
        self, score: int, target: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, rows: np.ndarray,
        starts: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """float64[n_leaves]: what each leaf should add to score number ``score``, where the loss ``renews``.

        ``rows`` int32[m] are the rows leaf by leaf, ascending within a leaf; ``starts`` int64[n_leaves + 1] where each
        leaf begins. ``scores`` float64[n_scores, n] and ``target`` [n], ``weights`` [n] are of all rows. A leaf without
        rows adds 0.
        """
        raise NotImplementedError
