"""What one rule is. In: facts of a leaf. Out: ``LeafRule`` and its parts. Callers: explain.rules, explain.rule_table.

The numbers in a ``ColumnBound`` are exact and its levels complete, for programs; its ``text`` is for people.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

from treewright.model.summary import counted
from treewright.tree.writing import written_amount, written_number

MAX_COUNTS = 8


@dataclass(frozen=True)
class ColumnBound:
    """What one column must be for a rule to hold.

    Attributes
    ----------
    column : hashable
        The column's own name.
    feature : int
        Its position in the schema.
    kind : {"numeric", "ordinal", "nominal"}
    lower, upper : float
        Numeric: a value holds where ``lower < value <= upper``; ``-inf`` and ``inf`` where that end is open. They are
        exact, whatever the text says. ``-inf`` and ``inf`` for the other kinds.
    levels : tuple or None
        Ordinal and nominal: the levels that hold, those without training rows in the leaf included. Numeric: None.
    present : bool
        Whether any value that is there holds; False is "is missing".
    missing : bool or None
        Whether a missing value holds. None where the leaf alone does not decide it (see ``leaf_rules``).
    text : str
        The same for people; empty where every row that fit saw meets it.
    """

    column: Hashable
    feature: int
    kind: Literal["numeric", "ordinal", "nominal"]
    lower: float = -math.inf
    upper: float = math.inf
    levels: tuple[Hashable, ...] | None = None
    present: bool = True
    missing: bool | None = False
    text: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a rule says about one target.

    Attributes
    ----------
    name : str
        Name of the target; empty where it had none.
    prediction : object
        The class label, or the number, that the model predicts.
    text : str
        The same for people.
    probability : float or None
        Share of the predicted class in the leaf, by weight (in the node above where the leaf has no training rows);
        None for a number.
    interval : tuple of two floats, or None
        Confidence interval of that share, or of the mean that is predicted; None where there is none.
    classes : tuple of str
        Class labels, ready to be read; empty for a number.
    counts : tuple of float
        Weighted class counts of the leaf's training rows, in the order of ``classes``.
    """

    name: str
    prediction: Any
    text: str
    probability: float | None = None
    interval: tuple[float, float] | None = None
    classes: tuple[str, ...] = ()
    counts: tuple[float, ...] = ()

    def evidence(self, level: float) -> str:
        """Return the class counts that are not 0, the share and the interval, as far as there are any."""
        pairs = zip(self.counts, self.classes, strict=True)
        held = [f"{label} {written_amount(count, digits=6)}" for count, label in pairs if count]
        more = [f"... {len(held) - MAX_COUNTS} more"] if len(held) > MAX_COUNTS else []
        parts = [", ".join(held[:MAX_COUNTS] + more)] if held else []
        if self.interval is not None:
            low, high = self.interval
            ends = f"{written_percent(level, digits=6)} interval {self._number(low)} to {self._number(high)}"
            parts.append(f"share {self._number(self.probability)}, {ends}" if self.probability is not None else ends)
        return "; ".join(parts)

    def _number(self, number: float) -> str:
        return f"{number:.3f}" if self.probability is not None else written_number(number)


@dataclass(frozen=True)
class LeafRule:
    """The rule of one leaf.

    Attributes
    ----------
    number : int
        Its place in tree order, from 1; the same in every order of the rules.
    leaf : int
        Position of the leaf in the tree, as ``apply`` gives it.
    bounds : tuple of ColumnBound
        One per column that the rule restricts, first asked first.
    outcomes : tuple of Outcome
        One per target.
    n_samples : int
        Training rows in the leaf.
    weight : float
        Sum of their weights.
    support : float, 0 to 1
        That weight as a share of the whole; without weights the share of all rows.
    weighted : bool
        Whether weights differ from numbers of rows anywhere in the tree.
    level : float
        Level of the intervals.
    """

    number: int
    leaf: int
    bounds: tuple[ColumnBound, ...]
    outcomes: tuple[Outcome, ...]
    n_samples: int
    weight: float
    support: float
    weighted: bool = False
    level: float = 0.95

    @property
    def conditions(self) -> tuple[str, ...]:
        """The texts of the bounds, to be joined by "and"; empty where the rule holds for every row."""
        return tuple(bound.text for bound in self.bounds if bound.text)

    @property
    def prediction(self) -> Any:
        """The label or number predicted; a tuple of them for several targets."""
        return self._of_outcomes("prediction")

    @property
    def probability(self) -> Any:
        """Share of the predicted class, None for a number; a tuple of them for several targets."""
        return self._of_outcomes("probability")

    @property
    def interval(self) -> Any:
        """``(low, high)`` of that share or of the mean, or None; a tuple of them for several targets."""
        return self._of_outcomes("interval")

    def _of_outcomes(self, name: str) -> Any:
        found = tuple(getattr(outcome, name) for outcome in self.outcomes)
        return found[0] if len(found) == 1 else found

    @property
    def conclusion(self) -> str:
        """What the rule predicts, one text per target, joined by commas."""
        return ", ".join(outcome.text for outcome in self.outcomes)

    @property
    def evidence(self) -> str:
        """What the rule rests on: rows and their share, weight where it differs, classes, intervals."""
        parts = [f"leaf {self.leaf}", f"{counted(self.n_samples, 'row')} ({written_percent(self.support)})"]
        if self.weighted:
            parts.append(f"weight {written_amount(self.weight, digits=6)}")
        if not self.n_samples:
            parts.append("predicts as the node above")
        for outcome in self.outcomes:
            said = outcome.evidence(self.level)
            if said:
                parts.append(f"{outcome.name}: {said}" if len(self.outcomes) > 1 else said)
        return "; ".join(parts)

    @property
    def text(self) -> str:
        """The rule as lines: ``if ...``, ``and ...``, ``then ...``."""
        steps = [f"{'if  ' if i == 0 else 'and '} {text}" for i, text in enumerate(self.conditions)]
        return "\n".join([*steps, f"then {self.conclusion}  [{self.evidence}]"])

    def __str__(self) -> str:
        return self.text


def written_percent(share: float, *, digits: int = 3) -> str:
    """Return a share as a percentage with so many significant digits.

    Examples
    --------
    >>> written_percent(0.95), written_percent(1 / 3)
    ('95 %', '33.3 %')
    """
    return f"{written_amount(100 * share, digits=digits)} %"
