"""Weights of rows: by class, and too small ones. In: ``class_weight``, facts, codes. Out: numbers, or a warning.

Every later use of a model gives a class the weight that it had at the fit: the facts hold ``class_factors``, per output
one number for each class, in the order of the classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from treewright.core import notices
from treewright.data.cells import shown
from treewright.exceptions import DataError, ParameterError

Factors = tuple[np.ndarray, ...]

_SMALL_SHARE = 0.1  # weights that add up to less than this share of the rows


def factors_by_code(
    given: Sequence[Any], codes: np.ndarray, classes: tuple[np.ndarray, ...], weights: np.ndarray | None = None
) -> Factors:
    """Weight of each class.

    Parameters
    ----------
    given : sequence of "balanced" or of pairs of label and weight, one per output
        A label that is not among the classes is ignored; a class that is not named weighs 1.
    codes : int32[n, n_outputs]
    classes : tuple of ndarray
    weights : float64[n], >= 0, optional
        A row of weight k counts as k rows.

    Returns
    -------
    tuple of float64[n_classes], one per output
        "balanced" is n / (classes x rows of the class), of these rows; 1 for a class without rows.

    Examples
    --------
    >>> codes, classes = np.array([[0], [0], [1]], np.int32), (np.array(["no", "yes"]),)
    >>> factors_by_code([[("yes", 3.0)]], codes, classes)[0].tolist()
    [1.0, 3.0]
    >>> factors_by_code(["balanced"], codes, classes)[0].tolist()
    [0.75, 1.5]
    """
    factors = []
    for output, (stated, labels) in enumerate(zip(given, classes, strict=True)):
        by_code = np.ones(len(labels))
        if isinstance(stated, str):
            counts = _weight_of_each(codes[:, output], weights, len(labels))
            here = counts > 0
            by_code[here] = counts.sum() / (np.count_nonzero(here) * counts[here])
        else:
            places = {label: code for code, label in enumerate(labels.tolist())}
            for label, weight in stated:
                if label in places:
                    by_code[places[label]] = float(weight)
        factors.append(by_code)
    return tuple(factors)


def _weight_of_each(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Weight of the rows of each class, float64[n_classes]; rounded once, so that the order of rows does not matter."""
    if weights is None or (weights == np.rint(weights)).all():
        return np.bincount(codes, weights, n_classes)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=n_classes))[:-1]
    return np.array([math.fsum(own) for own in np.split(weights[order], ends)])


def class_factors(facts: Mapping[str, Any], codes: np.ndarray, classes: tuple[np.ndarray, ...]) -> Factors | None:
    """Weight of each class at the fit, from a model's facts.

    Parameters
    ----------
    facts : mapping
        ``class_factors`` if ``class_weight`` was given. Older files hold only the parameter as it was stated; for
        these "balanced" is computed from the rows at hand.
    codes : int32[n, n_outputs]
    classes : tuple of ndarray

    Returns
    -------
    tuple of float64[n_classes], one per output; or None
        None if no class weighs more than another.
    """
    factors = facts.get("class_factors")
    if factors is not None:
        return _checked(factors, classes)
    parameters = facts.get("parameters")
    stated = parameters.get("class_weight") if isinstance(parameters, dict) else None
    if stated is None:
        return None
    if isinstance(stated, list) and stated and all(_is_of_output(entry) for entry in stated):
        per_output = stated
    else:
        per_output = [stated] * len(classes)
    if len(per_output) != len(classes):
        raise DataError(
            f"the model's facts state class weights of {len(per_output)} outputs, the model has {len(classes)}: "
            "fit it again"
        )
    given = [_stated_pairs(entry, labels) for entry, labels in zip(per_output, classes, strict=True)]
    return factors_by_code(given, codes, classes)


def is_weight(value: Any) -> bool:
    """Whether something is a finite number >= 0 within float64; booleans are not numbers.

    Examples
    --------
    >>> [is_weight(value) for value in (0, 2.5, np.float32(1), -1, 10**400, float("nan"), True, "1")]
    [True, True, True, False, False, False, False, False]
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return 0.0 <= float(value) < math.inf
    except OverflowError:  # a whole number or a fraction beyond float64
        return False


def weighed(weights: np.ndarray | None, factors: Factors | None, codes: np.ndarray) -> np.ndarray | None:
    """Weights of rows times those of their classes, the product over the outputs.

    Parameters
    ----------
    weights : float64[n] or None
        None: every row weighs one.
    factors : tuple of float64[n_classes], one per output; or None
    codes : int32[n, n_outputs]

    Returns
    -------
    float64[n] or None

    Examples
    --------
    >>> weighed(np.array([1.0, 2.0]), (np.array([1.0, 20.0]),), np.array([[0], [1]])).tolist()
    [1.0, 40.0]
    """
    if factors is None:
        return weights
    product = np.ones(len(codes))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for output, by_code in enumerate(factors):
            product = product * by_code[codes[:, output]]
        of_classes = np.isfinite(product).all() and product.any()
        product = product if weights is None else product * weights
        total = float(product.sum())
    what = "class_weight times sample_weight" if weights is not None and of_classes else "class_weight"
    if not math.isfinite(total):
        raise ParameterError(f"{what} is beyond float64: scale the weights down")
    if not product.any():
        raise ParameterError(f"{what} gives every row the weight 0")
    return product


def warn_of_small_weights(total: float, n_rows: int, what: str) -> None:
    """Warn if weights add up to far less than the number of rows, in a method that treats them as row counts.

    The warning names the line of the caller from outside this package.

    Parameters
    ----------
    total : float
        Sum of the weights.
    what : str
        The method that treats them so.

    Warns
    -----
    DataWarning
    """
    if total < _SMALL_SHARE * n_rows:
        notices.warn(
            f"the weights add up to {total:g} for {n_rows} rows, and {what} treats weights as row counts: scale "
            "them up before the fit if they are shares",
        )


def _checked(factors: Any, classes: tuple[np.ndarray, ...]) -> Factors:
    """The class factors of a file, which may hold anything, checked."""
    fits = isinstance(factors, list | tuple) and len(factors) == len(classes)
    fits = fits and all(
        isinstance(by_code, list | tuple) and len(by_code) == len(labels) and all(map(is_weight, by_code))
        for by_code, labels in zip(factors, classes, strict=True)
    )
    if not fits:
        sizes = " and ".join(str(len(labels)) for labels in classes)
        raise DataError(
            f"class_factors of the model's facts are not one number >= 0 for each class ({sizes} of them): fit again"
        )
    return tuple(np.array(by_code, np.float64) for by_code in factors)


def _stated_pairs(stated: Any, labels: np.ndarray) -> Any:
    """An output's class weights as the facts of an older file state them, checked."""
    if stated == "balanced":
        return stated
    known = labels.tolist()
    is_told = isinstance(stated, list) and all(
        isinstance(pair, list) and len(pair) == 2 and is_weight(pair[1]) for pair in stated
    )
    if not is_told:
        raise DataError(f"the model's facts do not hold the class weights of its fit ({shown(stated)}): fit it again")
    pairs = [(_as_tuple(label), weight) for label, weight in stated]
    # What has no JSON form (bytes, dates) was written as the name of its type.
    names_types = not all(map(_has_json_form, known))
    for label, _ in pairs:
        is_name = isinstance(label, str) and not any(isinstance(one, str) for one in known)
        if label not in known and (is_name or names_types):
            raise DataError(
                f"the model's facts name a class only by its type ({label!r}), so its weight is lost: fit it again"
            )
    return pairs


def _has_json_form(label: Any) -> bool:
    """Whether a label reads back from JSON as itself, but for tuples, which come back as lists."""
    if isinstance(label, tuple):
        return all(map(_has_json_form, label))
    return label is None or isinstance(label, bool | str | int | float)


def _is_of_output(entry: Any) -> bool:
    """Whether an entry of a list of class weights is for a whole output, not a pair of label and weight."""
    return entry == "balanced" or (isinstance(entry, list) and all(isinstance(pair, list) for pair in entry))


def _as_tuple(label: Any) -> Any:
    """A label that is a tuple, as it was before JSON made a list of it."""
    return tuple(_as_tuple(part) for part in label) if isinstance(label, list) else label
