"""What to boost. In: an estimator's parameters, resolved. Out: ``BoostSettings``, ``BoostRows``, ``Evaluation``.

Callers: estimators, boosting.rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from treewright.data.bins import Bins
from treewright.data.schema import Schema
from treewright.grow.settings import GradientSettings

if TYPE_CHECKING:
    from treewright.boosting.history import Round
    from treewright.boosting.losses import Loss

Sampling = Literal["uniform", "gradient"]


@dataclass(frozen=True, eq=False)
class BoostRows:
    """Rows with their targets, as the rounds need them.

    Attributes
    ----------
    codes : uint8[n, stride]
        Bins (``data.bin_rows``).
    target : float64[n, n_outputs] or int32[n, n_outputs]
        Numbers, or class codes.
    sample_weights : float64[n] or None
        Above 0: what rows weigh without their classes; whole numbers are numbers of rows.
    of_classes : float64[n] or None
        Above 0: what the rows' classes weigh; it makes gradients larger, and no row count as several.
    """

    codes: np.ndarray
    target: np.ndarray
    sample_weights: np.ndarray | None = None
    of_classes: np.ndarray | None = None

    @cached_property
    def weights(self) -> np.ndarray | None:
        """float64[n] or None: both weights of each row, multiplied."""
        if self.sample_weights is None or self.of_classes is None:
            return self.of_classes if self.sample_weights is None else self.sample_weights
        return np.multiply(self.sample_weights, self.of_classes)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Rows that no tree is grown on, and when to stop because of them.

    Attributes
    ----------
    rows : BoostRows or None
        None: the rows of the fit are evaluated.
    score : callable or None
        Takes the scores float64[n_scores, n] of these rows and returns a number to be lowered; None for the loss.
    patience : int >= 1, or None
        Rounds without a better value before the growth ends; None never ends it.
    tolerance : float >= 0
        A value must be lower by more than this to count as better.
    """

    rows: BoostRows | None = None
    score: Callable[[np.ndarray], float] | None = None
    patience: int | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class BoostSettings:
    """Everything that decides which trees are grown, and the number of threads, which does not.

    Attributes
    ----------
    losses : tuple of Loss
        One per output.
    tree : GradientSettings
        Of every tree; its ``seed`` is set by the rounds.
    n_rounds : int >= 1
        Rounds in all, those of ``start`` included.
    learning_rate : float, above 0 up to 1
    subsample : float, above 0 up to 1
        Share of the rows drawn for each round, without replacement.
    sampling : {"uniform", "gradient"}
        How: all alike; or those of large gradients always, and some of the others, which count for more.
    top_rate, other_rate : float
        Of ``sampling="gradient"``: the share of rows with the largest gradients, and the share drawn of all rows from
        the others.
    seed : int
    n_threads : int >= 1
    evaluation : Evaluation or None
        What the history tells of each round; None: nothing is evaluated, which takes no time.
    callbacks : sequence of callables
        Each is called after each round with a ``Round``; one that returns True ends the growth.
    """

    losses: tuple[Loss, ...]
    tree: GradientSettings = field(default_factory=GradientSettings)
    n_rounds: int = 100
    learning_rate: float = 0.1
    subsample: float = 1.0
    sampling: Sampling = "uniform"
    top_rate: float = 0.2
    other_rate: float = 0.1
    seed: int = 0
    n_threads: int = 1
    evaluation: Evaluation | None = None
    callbacks: Sequence[Callable[[Round], bool | None]] = ()


@dataclass(frozen=True, eq=False)
class BoostTable:
    """What all rows have in common.

    Attributes
    ----------
    bins : Bins
    schema : Schema
    ordered : bool[p]
        Nominal columns whose bins are in the order of a target statistic: a test asks for a first run of them.
    """

    bins: Bins
    schema: Schema
    ordered: np.ndarray
