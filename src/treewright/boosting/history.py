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
    scored : bool
        Whether what is evaluated is minus a score, not the loss.
    """

    number: int
    n_rounds: int
    train: float | None
    validation: float | None
    best: int
    seconds: float
    seconds_left: float
    scored: bool = False

    def __str__(self) -> str:
        """In a few words.

        Examples
        --------
        >>> print(Round(3, 100, 0.25, 0.3125, 2, 0.5, 16.2))
        round 3, loss 0.25, others 0.3125 (best: 2), 16 s left
        """
        return f"{self.words()}, {self.seconds_left:.0f} s left"

    def words(self) -> str:
        """As a progress bar shows it: short, as the bar has the time beside it. ``others`` are rows kept aside."""
        best = "" if self.validation is None else f" (best: {self.best})"
        return f"round {self.number}{_evaluated(self.train, self.validation, self.scored)}{best}"


def _evaluated(train: float | None, validation: float | None, scored: bool) -> str:
    """What was evaluated, each with a comma before it; scores as they are, higher is better."""
    word, sign = ("score", -1.0) if scored else ("loss", 1.0)
    words = "" if train is None else f", {word} {sign * train:.4g}"
    if validation is not None:
        words += f", {'others' if words else f'{word} of others'} {sign * validation:.4g}"
    return words


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
    last, n_rounds : int
        The last round that was grown; rounds that were asked for.
    scored : bool
        Whether values are minus a score, not the loss.
    """

    train: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    last: int = 0
    n_rounds: int = 0
    scored: bool = False

    def __str__(self) -> str:
        """In a few words, as the last line of a progress bar.

        Examples
        --------
        >>> print(History([0.7, 0.5, 0.4], [0.7, 0.6, 0.65], 1, last=2, n_rounds=9))
        boosting stopped after round 2 of 9, loss 0.4, others 0.65, best in round 1: 0.6
        """
        is_whole = self.last >= self.n_rounds
        end = f"grew {self.n_rounds} rounds" if is_whole else f"stopped after round {self.last} of {self.n_rounds}"
        train, validation = (values[-1] if values else None for values in (self.train, self.validation))
        words = f"boosting {end}{_evaluated(train, validation, self.scored)}"
        if validation is None:
            return words
        least = min(self.validation)
        return f"{words}, best in round {self.best}: {-least if self.scored else least:.4g}"
