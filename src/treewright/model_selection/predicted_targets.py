"""Targets of rows that are to be predicted. In: ``y_test``, ``true_values``. Out: numbers or labels, checked.

Callers: model_selection.decompose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.data.target import Labels, encode_labels, encode_numbers
from treewright.exceptions import DataError
from treewright.model_selection.rows import take_rows
from treewright.model_selection.training_sets import Bootstrap


def numbers_of(values: Any, m: int, what: str) -> np.ndarray:
    """A target of numbers, float64[m, n_outputs]."""
    numbers = _named(encode_numbers, values, what).values
    if len(numbers) != m:
        raise DataError(f"X_test has {m} rows and {what} has {len(numbers)}: give one for each row")
    return numbers


def labels_of(values: Any, m: int, what: str) -> Labels:
    """A target of labels."""
    labels = _named(encode_labels, values, what)
    if len(labels.codes) != m:
        raise DataError(f"X_test has {m} rows and {what} has {len(labels.codes)}: give one for each row")
    return labels


def numbers_or_none(values: Any, m: int) -> np.ndarray | None:
    """True values of numbers, if any are given."""
    return None if values is None else numbers_of(values, m, "true_values")


def labels_or_none(values: Any, m: int) -> Labels | None:
    """Optimal labels, if any are given."""
    return None if values is None else labels_of(values, m, "true_values")


def _named(encode: Callable[[Any], Any], values: Any, what: str) -> Any:
    """Encode a target; an error says which one it was."""
    try:
        return encode(values)
    except DataError as error:
        raise type(error)(f"{what}: {error}") from None


def refuse_unknown(labels: Labels, source: Bootstrap) -> None:
    """Refuse test labels that no training set can hold: they would only raise the bias.

    Raises
    ------
    DataError
    """
    known = encode_labels(take_rows(source.y, source.kept))
    for output, (asked, learned) in enumerate(zip(labels.classes, known.classes, strict=False)):
        strange = [label for label in asked.tolist() if label not in set(learned.tolist())]
        if strange:
            where = f" (output {output})" if len(labels.classes) > 1 else ""
            raise DataError(
                f"y_test holds the label {shown(strange[0])}{where}, which no row of y has that counts: leave these "
                "test rows out, or add rows of that class to X and y"
            )
