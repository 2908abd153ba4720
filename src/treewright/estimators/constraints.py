"""What a parameter may be. In: a set of words, a range. Out: ``Words``, ``Number``. Callers: estimators."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions


class Words(StrOptions):
    """scikit-learn's ``StrOptions`` in alphabetical order: a set's own order changes with the hash seed."""

    def __str__(self) -> str:
        return "a str among {" + ", ".join(repr(word) for word in sorted(self.options)) + "}"


class Number(Interval):
    """scikit-learn's ``Interval`` of whole numbers and floats.

    True and False are none, though Python takes them for 1 and 0; numpy's floats of any width are, and no other numbers
    (the interval asks whether they are nan, which a ``Fraction`` cannot be asked).
    """

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value is a number of the range."""
        if isinstance(val, bool):
            return False
        if isinstance(val, Integral):
            return bool(super().is_satisfied_by(val))
        return self.type is not Integral and isinstance(val, float | np.floating) and val in self


def numbers_only(constraints: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The same constraints with a ``Number`` for every ``Interval``."""
    return {name: [_number(each) for each in allowed] for name, allowed in constraints.items()}


def _number(constraint: Any) -> Any:
    """A ``Number`` for an ``Interval``; anything else as it is."""
    if not isinstance(constraint, Interval):
        return constraint
    return Number(constraint.type, constraint.left, constraint.right, closed=constraint.closed)
