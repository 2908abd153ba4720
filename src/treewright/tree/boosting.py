"""What makes a sum over trees an answer. In: where scores begin, their link. Out: ``Boosting``.

Callers: tree.model, codec, predict, boosting, estimators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Link = Literal["identity", "log", "sorted", "classes"]
LINKS: tuple[Link, ...] = ("identity", "log", "sorted", "classes")


@dataclass(frozen=True)
class Boosting:
    """How a boosted model's scores begin, and how they are read (docs/decisions/0006).

    Attributes
    ----------
    base : tuple of float
        Where each score begins; tree ``t`` adds to score ``t % len(base)``.
    link : {"identity", "log", "sorted", "classes"}
        ``"identity"``: a score is the answer; ``"log"``: its exponential is; ``"sorted"``: the scores of a row in
        ascending order are; ``"classes"``: shares of the classes, by the logistic function for an output of two (its
        one score is the log odds of the second), by softmax for more.
    """

    base: tuple[float, ...]
    link: Link = "identity"

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return len(self.base)
