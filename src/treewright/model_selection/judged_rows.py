"""Rows that judge the subtrees of a path. In: a table, its target. Out: ``JudgedRows``, their losses per subtree.

Callers: model_selection.path, model_selection.curves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treewright.data.encoder import encode
from treewright.data.target import Labels, encode_labels, encode_numbers, recode
from treewright.exceptions import DataError
from treewright.model import Model
from treewright.model_selection.rows import take_rows
from treewright.prune.path import Path
from treewright.prune.path_errors import PathLoss, PathLosses, path_losses

LARGEST = float(np.finfo(np.float64).max)
LEAST_SQUARE = 1e-300  # a mean of squares below it has lost digits, and its parts are 0


class JudgedRows(NamedTuple):
    """A table of n rows with its target as numbers.

    Attributes
    ----------
    X : table of n rows
    weights : float64[n]
        In the errors, in any unit (``in_units``).
    truth : float64[n, n_outputs]
        Codes among the classes of all rows, or numbers divided by ``scale``.
    labels : Labels or None
        The classes of all rows; None for numbers.
    scale : float
        A power of 2.
    """

    X: Any
    weights: np.ndarray
    truth: np.ndarray
    labels: Labels | None
    scale: float

    def losses(self, model: Model, path: Path, steps: np.ndarray, rows: np.ndarray, loss: PathLoss) -> PathLosses:
        """Losses of some rows under some subtrees of a path.

        Parameters
        ----------
        model : Model
            It may lack a class that the rows have.
        path : Path
            The model's.
        steps : int64[m], ascending
        rows : int64[r], 0 to n - 1
        loss : {"misclassification", "squared_error", "absolute_error"}
        """
        matrix = encode(model.schema, take_rows(self.X, rows), unseen=model.unseen, missing=model.missing)
        codes = None if self.labels is None else _codes_among(model, self.labels)
        return path_losses(
            model, path, steps, matrix, self.truth[rows], self.weights[rows], loss, codes=codes, scale=self.scale
        )


def judged_labels(X: Any, y: Any, weights: np.ndarray, classes: tuple[np.ndarray, ...] | None = None) -> JudgedRows:
    """Rows with classes.

    Parameters
    ----------
    X, y : table of n rows and its target
    weights : float64[n]
    classes : tuple of ndarray, optional
        The codes are the positions in these; by default the classes of ``y``.
    """
    labels = encode_labels(y)
    if classes is not None:
        labels = labels._replace(classes=classes, codes=recode(labels, classes))
    return JudgedRows(X, weights, labels.codes.astype(np.float64), labels, 1.0)


def judged_numbers(X: Any, y: Any, weights: np.ndarray) -> JudgedRows:
    """Rows with numbers; those of weight 0 do not set the scale."""
    values = np.where((weights > 0)[:, None], encode_numbers(y).values, 0.0)
    # A power of 2 (nothing is rounded) that makes every loss at most 1: sums are then no larger than those of weights.
    with np.errstate(over="ignore"):  # infinite near the end of float64: `in_own_unit` refuses such losses
        scale = float(np.ldexp(2.0, np.frexp(np.abs(values).max())[1])) if values.any() else 1.0
    return JudgedRows(X, weights, values / scale, None, scale)


def in_units(weights: np.ndarray) -> np.ndarray:
    """Weights divided by a power of 4, so that the largest is from 0.5 up to 2: means stay, sums lose no digits.

    Examples
    --------
    >>> in_units(np.array([8.0, 2.0])).tolist(), in_units(np.array([1.0, 0.5])).tolist()
    ([0.5, 0.125], [1.0, 0.5])
    """
    exponent = int(np.frexp(weights.max())[1])
    return np.asarray(np.ldexp(weights, -2 * (exponent // 2)))


def in_own_unit(numbers: np.ndarray, scale: float, loss: PathLoss) -> np.ndarray:
    """Means of losses, or their standard errors, in the target's own unit.

    Raises
    ------
    DataError
        They are beyond float64, or all so small that it holds them as 0.
    """
    found = numbers
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for _ in range(2 if loss == "squared_error" else 1):
            found = found * scale
    if not np.isfinite(found).all():
        raise DataError(
            f"y holds numbers up to {min(scale, LARGEST):.0e} or predictions are as large: the squares of their errors "
            "are beyond float64: divide y"
        )
    if loss == "squared_error" and numbers.any() and found.max() < LEAST_SQUARE:
        raise DataError(f"y holds numbers up to {scale:.0e}, the squares of their errors are below float64: multiply y")
    return found


def _codes_among(model: Model, labels: Labels) -> tuple[np.ndarray, ...]:
    """Per output the code, among the classes of all rows, of each class that a model knows."""
    codes = []
    for output, (own, known) in enumerate(zip(model.classes, labels.classes, strict=True)):
        alone = Labels(np.arange(len(own), dtype=np.int32)[:, None], (own,), labels.names[output : output + 1], True)
        codes.append(recode(alone, (known,))[:, 0])
    return tuple(codes)
