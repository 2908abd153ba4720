"""What happened in each round. In: values of the loss. Out: ``Round``, ``History``.

Callers: boosting.rounds, estimators.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Round:
    """What a callback is told after each round.

    Attributes
    ----------
    number : int
        Counted from 1.
    n_rounds : int
        Rounds in all, if nothing ends the growth before.
    train, validation : float or None
        What is evaluated on the rows of the fit and on those kept aside; None where it is not.
    best : int
        The round with the best value so far; this one where nothing is evaluated.
    seconds, seconds_left : float
        Since the growth began; what the rest would take at this pace.
    """

    number: int
    n_rounds: int
    train: float | None
    validation: float | None
    best: int
    seconds: float
    seconds_left: float

    def __str__(self) -> str:
        """In a few words, as a progress bar shows it.

        Examples
        --------
        >>> print(Round(3, 100, 0.25, 0.3125, 2, 0.5, 16.2))
        boosting, loss 0.25, of other rows 0.3125 (best in round 2), 16 s left
        """
        parts = ["boosting"]
        if self.train is not None:
            parts.append(f"loss {self.train:.4g}")
        if self.validation is not None:
            parts.append(f"of other rows {self.validation:.4g} (best in round {self.best})")
        return ", ".join([*parts, f"{self.seconds_left:.0f} s left"])


@dataclass(eq=False)
class History:
    """The values of all rounds.

    Attributes
    ----------
    train, validation : list of float
        A value per round; the first belongs to the round before those that were grown: 0, before any tree, or the last
        one of those that were there. Empty where nothing was evaluated.
    best : int
        The round with the lowest value of ``validation``, or of ``train`` where there is no other; the last one where
        nothing was evaluated.
    stages : dict of str to float
        Seconds spent in each stage: ``gradients``, ``histograms`` (with all that is done in small nodes), ``search``,
        ``partition``, ``update``, ``evaluation``.
    """

    train: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best: int = 0
    stages: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """In a few words, as the last line of a progress bar.

        Examples
        --------
        >>> print(History([0.7, 0.5, 0.4], [0.7, 0.6, 0.65], 1))
        boosting, loss 0.4, of other rows 0.65; best in round 1: 0.6
        """
        parts = ["boosting"]
        if self.train:
            parts.append(f"loss {self.train[-1]:.4g}")
        if self.validation:
            least = min(self.validation)
            parts.append(f"of other rows {self.validation[-1]:.4g}; best in round {self.best}: {least:.4g}")
        return ", ".join(parts)
