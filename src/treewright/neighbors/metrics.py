"""What distance means. In: a name, the rows of the fit. Out: ``Metric``. Callers: neighbors.stored, estimators, model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treewright.neighbors.mixed_columns import MixedColumns


@dataclass(frozen=True, eq=False)
class Metric:
    """How far two rows are from each other (docs/decisions/0007).

    Attributes
    ----------
    name : str
        As it was asked for: ``"euclidean"``, ``"gower"``, ...
    kind : int
        Formula of the rank distance: ``ranks.SQUARES``, ... ; ``MIXED`` or ``CALLED``.
    p : float >= 1
        Of ``POWERS``.
    center, scales : float64[p] or None
        Points are ``(cells - center) * scales``.
    transform : float64[p, p] or None
        Then times this matrix (Mahalanobis).
    mixed : MixedColumns or None
        Of ``MIXED``.
    function : callable or None
        Of ``CALLED``: takes two float64[p], returns a number >= 0.
    """

    name: str
    kind: int
    p: float = 2.0
    center: np.ndarray | None = None
    scales: np.ndarray | None = None
    transform: np.ndarray | None = None
    mixed: MixedColumns | None = None
    function: Callable[[np.ndarray, np.ndarray], float] | None = None

    def points(self, matrix: np.ndarray) -> np.ndarray:
        """Rows in the coordinates that rank distances compare: float64[n, d], C order."""
        raise NotImplementedError

    def distances(self, ranks: np.ndarray) -> np.ndarray:
        """The metric's own distances of rank distances, float64."""
        raise NotImplementedError

    def ranks(self, distance: float) -> float:
        """The largest rank distance whose distance is at most ``distance``."""
        raise NotImplementedError
