"""What a parameter may be. In: a set of words, a range. Out: ``Words``, ``Number``. Callers: estimators."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions


class Words(StrOptions):
    """scikit-learn's ``StrOptions`` in alphabetical order: a set's own order changes with the hash seed."""

    def __str__(self) -> str:
        return "a str among {" + ", ".join(repr(word) for word in sorted(self.options)) + "}"


class Number(Interval):
    """scikit-learn's ``Interval`` without True and False: Python takes them for 1 and 0."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value is a number of the range."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))
