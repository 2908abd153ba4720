"""Rows that no tree is grown on. In: given rows, or a share of those of the fit. Out: ``OtherRows``, two parts.

Caller: estimators.boosting_base.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.data.encoder import encode
from treewright.data.schema import Schema
from treewright.data.target import Labels, check_lengths, check_weights, encode_labels, encode_numbers, recode
from treewright.data.weights import Factors, weighed
from treewright.exceptions import DataError, ParameterError, TreewrightError


@dataclass(frozen=True, eq=False)
class Given:
    """Rows for evaluation as ``fit`` was given them."""

    X: Any
    y: Any
    sample_weight: Any

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any) -> Given | None:
        """None where there are none.

        Raises
        ------
        ParameterError
            One of X_val and y_val is given without the other, or weights without them.
        """
        if X is None and y is None and sample_weight is None:
            return None
        if X is None or y is None:
            raise ParameterError("fit takes X_val and y_val together, sample_weight_val only with them")
        return cls(X, y, sample_weight)


@dataclass(frozen=True, eq=False)
class OtherRows:
    """Encoded rows; those of weight 0 are left out.

    Attributes
    ----------
    matrix : float[n, p]
    target : int32[n, n_outputs] or float64[n, n_outputs]
    weights : float64[n], > 0, or None
    """

    matrix: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None


def encode_given(
    given: Given,
    schema: Schema,
    classes: tuple[np.ndarray, ...],
    n_outputs: int,
    factors: Factors | None,
    *,
    unseen: str,
    owner: str,
    named: str = "evaluation rows (X_val, y_val, sample_weight_val): ",
) -> OtherRows:
    """Rows for evaluation, as the model that is being fitted will encode them.

    Parameters
    ----------
    given : Given
    schema : Schema
    classes : tuple of ndarray
        Of the fit; empty for numbers.
    n_outputs : int
    factors : tuple of float64[n_classes], or None
        What classes weigh in the fit.
    unseen : {"missing", "error", "majority"}
    owner : str
        Who is named in messages about the table.
    named : str
        What messages begin with.

    Raises
    ------
    DataError
        As at fit; lengths or outputs differ, or there are labels that the fit does not know.
    """
    with _named_in_errors(named):
        matrix = encode(schema, given.X, unseen=unseen, missing="direction", owner=owner)
        if classes:
            labels = encode_labels(given.y)
            check_lengths(len(matrix), labels)
            _refuse_strange(labels, classes)
            target = recode(labels, classes)
        else:
            numbers = encode_numbers(given.y)
            check_lengths(len(matrix), numbers)
            target = numbers.values
            if target.shape[1] != n_outputs:
                raise DataError(f"y has {target.shape[1]} outputs, that of the fit has {n_outputs}")
        weights = weighed(check_weights(given.sample_weight, len(matrix)), factors, target)
        if weights is not None and not weights.all():
            kept = weights > 0
            matrix, target, weights = matrix[kept], target[kept], weights[kept]
        return OtherRows(matrix, target, weights)


@contextmanager
def _named_in_errors(named: str) -> Iterator[None]:
    """What is wrong is told of these rows, not of those of the fit."""
    try:
        yield
    except TreewrightError as error:
        raise type(error)(f"{named}{error}") from None


def _refuse_strange(labels: Labels, classes: tuple[np.ndarray, ...]) -> None:
    """Refuse labels that the fit does not know.

    Raises
    ------
    DataError
        It names how many rows have one, the first of them and its label.
    """
    for output, (own, known) in enumerate(zip(labels.classes, classes[: len(labels.classes)], strict=False)):
        places = set(known.tolist())
        is_strange = np.array([label not in places for label in own.tolist()])
        rows = np.flatnonzero(is_strange[labels.codes[:, output]])
        if len(rows):
            label = own.tolist()[labels.codes[rows[0], output]]
            more = ", ..." if len(known) > 10 else ""
            raise DataError(
                f"y has {len(rows)} row(s) with a label that the rows of the fit do not have (first row {rows[0]}: "
                f"{shown(label)}); they have {', '.join(shown(each) for each in known.tolist()[:10])}{more}: leave "
                "these rows out, or give the fit rows of that class"
            )


def held_out(target: np.ndarray, share: float, seed: int, *, by_class: bool) -> np.ndarray:
    """Which rows are kept aside: a share drawn at random.

    Parameters
    ----------
    target : int32[n, n_outputs] or float64[n, n_outputs]
    share : float, above 0 and below 1
    seed : int
    by_class : bool
        Every combination of classes gives its share (to within a row); a class keeps at least one row.

    Returns
    -------
    bool[n]

    Raises
    ------
    DataError
        There are too few rows for two parts.

    Examples
    --------
    >>> codes = np.repeat([0, 1], [80, 20]).reshape(-1, 1)
    >>> aside = held_out(codes, 0.1, 0, by_class=True)
    >>> aside[:80].sum(), aside[80:].sum()
    (np.int64(8), np.int64(2))
    """
    n = len(target)
    order = np.argsort(np.random.RandomState(seed).random_sample(n), kind="stable")
    if by_class:
        _, group = np.unique(target, axis=0, return_inverse=True)
        order = order[np.argsort(group.ravel()[order], kind="stable")]
    # Where the whole part of share * position rises: as many rows as the share says, evenly along the order. A start in
    # the middle of a step takes as many of a class as its share, rounded.
    reached = np.floor(np.arange(n + 1) * share + 0.5)
    aside = np.zeros(n, bool)
    aside[order[reached[1:] > reached[:-1]]] = True
    if by_class:
        for codes in target.T:
            _, first = np.unique(codes[order], return_index=True)
            aside[order[first]] = False
    if not aside.any() or aside.all():
        raise DataError(
            f"{n} rows are too few to keep the share {share:g} of them aside for early stopping: give more rows, "
            "another validation_fraction, rows of your own (X_val, y_val), or set early_stopping=False"
        )
    return aside
