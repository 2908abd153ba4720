"""Words that a parameter may be. In: a set of them. Out: ``Words``. Callers: estimators."""

from __future__ import annotations

from sklearn.utils._param_validation import StrOptions


class Words(StrOptions):
    """scikit-learn's ``StrOptions`` in alphabetical order: a set's own order changes with the hash seed."""

    def __str__(self) -> str:
        return "a str among {" + ", ".join(repr(word) for word in sorted(self.options)) + "}"
