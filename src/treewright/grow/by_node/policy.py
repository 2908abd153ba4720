"""Which column a node asks about. In: what a search found. Out: the chosen candidate. Caller: grow.by_node.grower.

CART takes the column that gains most; with ``gain_ratio``, and in ID3 and C4.5, see the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.criteria import ABSOLUTE_ERROR
from treewright.grow.by_node.instances import Instances, value_of
from treewright.grow.by_node.medians import medians_of
from treewright.grow.by_node.search import Found, Search


@dataclass(frozen=True, eq=False)
class Choice:
    """What a node was offered and took.

    Attributes
    ----------
    gains, scores : float64[p]
        Of the best candidate of each column; -1 (gain) and nan (score) where it offers none.
    chosen : Candidate or None
    """

    gains: np.ndarray
    scores: np.ndarray
    chosen: Candidate | None


class Policy(Protocol):
    """An algorithm's way to choose a test."""

    by_ratio: ClassVar[bool]  # whether scores are gain ratios

    def impurity(self, instances: Instances) -> float:
        """Impurity of a node, in the criterion's units."""

    def value(self, instances: Instances) -> np.ndarray:
        """float64[n_values]: what a node predicts."""

    def may_split(self, instances: Instances) -> bool:
        """Whether it is worth to search the node at all."""

    def choose(self, instances: Instances, columns: Sequence[int] | None) -> Choice:
        """Choose among these columns; None means all."""

    def candidates(self, instances: Instances) -> list[Candidate]:
        """The best candidate of each column that offers one, in column order."""


class GainPolicy:
    """The column that gains most; of equals the first."""

    by_ratio: ClassVar[bool] = False

    def __init__(self, search: Search) -> None:
        self.search = search

    def impurity(self, instances: Instances) -> float:
        """Impurity of a node."""
        cost, weight = self.search.measure(instances)
        return cost / weight

    def value(self, instances: Instances) -> np.ndarray:
        """What a node predicts: class counts, means, or medians under absolute error."""
        if self.search.criterion.number == ABSOLUTE_ERROR:
            return medians_of(self.search.problem, instances.rows, instances.weights)
        return value_of(self.search.problem, instances)

    def may_split(self, instances: Instances) -> bool:  # noqa: ARG002 - C4.5 looks at them
        """Whether it is worth to search the node at all."""
        return True

    def scores(self, found: Found) -> np.ndarray:
        """float64[p]: what columns are compared by; nan where a column is out."""
        return np.where(found.gains >= 0.0, found.gains, np.nan)

    def tolerance(self, found: Found) -> float:
        """Scores closer than this are equal."""
        return found.tolerance

    def choose(self, instances: Instances, columns: Sequence[int] | None = None) -> Choice:
        """Choose among these columns; None means all."""
        found = self.search.run(instances)
        if columns is not None:
            out = np.ones(len(found.gains), bool)
            out[columns] = False
            found.gains[out] = -1.0
        scores = self.scores(found)
        best = np.fmax.reduce(scores)
        if best != best:
            return Choice(found.gains, scores, None)
        feature = int((scores >= best - self.tolerance(found)).argmax())
        return Choice(found.gains, scores, found.build(feature, float(scores[feature])))

    def candidates(self, instances: Instances) -> list[Candidate]:
        """The best candidate of each column that offers one."""
        found = self.search.run(instances)
        scores = self.scores(found)
        return [found.build(feature, float(scores[feature])) for feature in np.flatnonzero(found.gains >= 0.0).tolist()]


class RatioPolicy(GainPolicy):
    """The largest gain ratio among columns of at least average gain (Quinlan 1993, section 2.2)."""

    by_ratio = True

    def averaged(self, instances: Instances) -> np.ndarray:
        """float64[k]: the gains that the average is made of."""
        gains = self.search.run(instances).gains
        return gains[gains >= 0.0]

    def scores(self, found: Found) -> np.ndarray:
        """Gain ratio; nan for a column below the average gain."""
        scores = np.full(len(found.gains), np.nan)
        offered = found.gains >= 0.0
        if not offered.any():
            return scores
        average = float(found.gains[offered].mean())
        for feature in np.flatnonzero(offered & (found.gains >= average - found.tolerance)).tolist():
            info = found.split_info(feature)
            scores[feature] = found.gains[feature] / info if info > 0.0 else 0.0
        return scores

    def tolerance(self, found: Found) -> float:  # noqa: ARG002 - a ratio has no unit
        """Ratios closer than this are equal."""
        return 1e-12
