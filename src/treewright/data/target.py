"""Targets and weights as arrays: ``Labels``, ``Numbers``, weights of rows and of classes.

Labels keep the type they came in; equal labels share a code, codes follow the sorted order of the labels.

Every later use of a model gives a class the weight that it had at the fit: the facts hold ``class_factors``, per output
one number for each class, in the order of the classes.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from treewright.core import notices
from treewright.data.cells import LARGEST_WHOLE, cells_of_array, family_of_type, is_hashable, is_missing, shown
from treewright.data.table import TargetColumns, target_columns
from treewright.exceptions import TARGET, DataError, ParameterError, first_row

Factors = tuple[np.ndarray, ...]
_SMALL_FRACTION = 0.1  # weights that add up to less than this share of the rows
# A table of flags beats sorting while it is not much longer than the data.
FLAGS_PER_ROW, FLAGS_AT_LEAST = 4, 65_536
DOUBLE_BYTES = 8
MOST_CLASSES = 20  # different numbers
LARGEST_SQUARED = 1e149  # as many squares as a table can have add up to less than the largest float64
NUMBER_LIKE = ("number", "boolean", "missing")


class Labels(NamedTuple):
    """A classification target."""

    codes: np.ndarray  # int32[n, n_outputs], C order
    classes: tuple[np.ndarray, ...]  # per output the sorted labels, in the target's own dtype
    names: tuple[str, ...]  # per output its name; empty if the target had none
    flat: bool  # the target was one-dimensional


class Numbers(NamedTuple):
    """A regression target."""

    values: np.ndarray  # float64[n, n_outputs], C order
    names: tuple[str, ...]
    flat: bool  # the target was one-dimensional


def are_classes(values: np.ndarray) -> bool:
    """Whether a numeric target holds classes by default: all numbers are whole, and at most 20 are different.

    The dtype does not matter: 1.0 counts as 1, because one missing cell turns a column of whole numbers into floats.
    nan is missing, and is passed over.

    >>> are_classes(np.array([0.0, 1.0, np.nan])), are_classes(np.array([0.0, 0.5])), are_classes(np.arange(21))
    (True, False, False)
    """
    held = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if held.dtype.kind == "f" and not (np.isfinite(held).all() and (held == np.rint(held)).all()):
        return False
    return 0 < len(np.unique(held)) <= MOST_CLASSES


def encode_labels(y: Any) -> Labels:
    """Labels as codes into their sorted distinct values.

    Parameters
    ----------
    y : array, list, series or frame; one- or two-dimensional
        Labels of any hashable, sortable type; tuples in a list are labels. Unused category levels are dropped.

    Examples
    --------
    >>> labels = encode_labels(["yes", "no", "yes"])
    >>> labels.codes.ravel().tolist(), labels.classes[0].tolist()
    ([1, 0, 1], ['no', 'yes'])
    """
    target = checked_columns(y)
    codes = np.empty((len(target.columns[0]), len(target.columns)), np.int32)
    classes = []
    for at, column in enumerate(target.columns):
        codes[:, at], labels = label_codes(column)
        classes.append(labels)
    return Labels(codes, tuple(classes), target.names, target.flat)


def encode_numbers(y: Any) -> Numbers:
    """A regression target, one- or two-dimensional, as float64."""
    target = checked_columns(y)
    values = np.empty((len(target.columns[0]), len(target.columns)), np.float64)
    for at, column in enumerate(target.columns):
        values[:, at] = number_column(column, "y", "use a classifier for classes, or convert y to numbers")
    refuse_not_finite(values, "y")
    for at, column in enumerate(target.columns):
        _warn_of_lost_digits(column, values[:, at], name_of_target(target.names, at))
    values += 0.0  # no -0.0: a file would distinguish it from 0.0, depending on the first row
    return Numbers(values, target.names, target.flat)


def _warn_of_lost_digits(column: np.ndarray, values: np.ndarray, name: str) -> None:
    """Warn of integers that float64 rounds, with the first row."""
    if column.dtype.kind not in "iuO":
        return
    rows = np.flatnonzero(np.abs(values) >= LARGEST_WHOLE).tolist()
    lost = [row for row in rows if isinstance(column[row], numbers.Integral) and int(column[row]) != int(values[row])]
    if lost:
        given, kept = int(column[lost[0]]), int(values[lost[0]])
        notices.warn(
            f"{name} has {len(lost)} integer(s) beyond 2**53 that lose digits (first row {lost[0]}: {given} becomes "
            f"{kept}): subtract an offset, or use classification if they are identifiers"
        )


def name_of_target(names: Sequence[str], output: int = 0) -> str:
    """The name of a target in a message.

    >>> name_of_target(["price"]), name_of_target([])
    ("target 'price'", 'y')
    """
    return f"target {shown(names[output])}" if names else "y"


def checked_columns(y: Any) -> TargetColumns:
    """The columns of a target."""
    if y is None:
        raise DataError("fit requires y to be passed, but the target y is None")
    target = target_columns(y, "y")
    if not target.columns:
        raise DataError("y has 0 outputs; at least 1 is needed")
    if not len(target.columns[0]):
        raise DataError("y has 0 samples; at least 1 is needed")
    return target


def label_codes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes int[n] of one output, and its sorted labels in the column's dtype."""
    kind = column.dtype.kind
    if kind == "c":
        raise DataError("Complex data not supported: y is complex")
    if kind == "V":
        raise DataError(f"Unknown label type: y has dtype {column.dtype}")
    if kind in "fmM":
        refuse_missing(np.flatnonzero(np.isnat(column) if kind in "mM" else np.isnan(column)), "y")
    if kind == "f":
        refuse_continuous(column)
        if column.dtype.itemsize > DOUBLE_BYTES:
            column = cells_of_array(column, "y").values
    if not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))
    if kind in "biu":
        return integer_codes(column)
    if kind == "f":
        labels, codes = np.unique(column + column.dtype.type(0), return_inverse=True)  # -0.0 becomes 0.0
        return codes, labels
    if kind in "mM":
        labels, codes = np.unique(column, return_inverse=True)
        return codes, labels
    return hashed_codes(column)


def integer_codes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of booleans and integers: by a table of flags if the range is small, else by sorting."""
    kept = column.dtype
    if kept.kind == "b":
        column = column.view(np.uint8)
    low, high = int(column.min()), int(column.max())
    if high - low > max(FLAGS_PER_ROW * len(column), FLAGS_AT_LEAST):
        labels, codes = np.unique(column, return_inverse=True)
        return codes, labels
    # Differences are taken in 64 bits without a sign: int8 -128..127 must not wrap.
    place = (column.astype(np.int64) - low) if high < 2**63 else (column - column.dtype.type(low)).astype(np.int64)
    seen = np.zeros(high - low + 1, bool)
    seen[place] = True
    code_of = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    found = np.flatnonzero(seen)
    labels = np.array([low + at for at in found.tolist()], column.dtype)
    return code_of[place], labels.view(kept) if kept.kind == "b" else labels


def hashed_codes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of text, bytes and objects, by hashing: several times faster than sorting an array of strings."""
    cells = column.tolist()
    try:
        distinct = list(dict.fromkeys(cells))
    except TypeError:
        row = next(row for row, value in enumerate(cells) if not is_hashable(value))
        raise DataError(
            f"Unknown label type: y row {row} holds a {type(cells[row]).__name__}, {shown(cells[row])}: "
            f"a label is a single hashable value"
        ) from None
    if any(is_missing(value) for value in distinct):
        refuse_missing(np.flatnonzero([is_missing(value) for value in cells]), "y")
    types = {family_of_type(type(value)) for value in distinct}
    if "complex" in types:
        raise DataError("Complex data not supported: y is complex")
    if types == {"number"} and any(isinstance(value, float | np.floating) for value in distinct):
        refuse_continuous(np.array(cells, np.float64))
    try:
        ordered = sorted(distinct)
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in distinct}))
        raise DataError(
            f"Unknown label type: y mixes labels that do not sort together ({kinds}): convert them all to one type"
        ) from None
    code_of = {value: code for code, value in enumerate(ordered)}
    codes = np.fromiter(map(code_of.__getitem__, cells), np.int32, len(cells))
    labels = np.empty(len(ordered), column.dtype)
    for code, value in enumerate(ordered):
        labels[code] = value
    return codes, labels


def refuse_continuous(column: np.ndarray) -> None:
    """Refuse floats that are not whole numbers as labels."""
    broken = np.isinf(column) | (column != np.floor(column))
    if not broken.any():
        return
    row = int(np.argmax(broken))
    raise DataError(
        f"Unknown label type: continuous. y has {int(broken.sum())} value(s) that are not whole numbers (",
        first_row(row),
        f": {shown(column[row].item())}): use a regressor, or convert the labels to text",
        row=row,
    )


def refuse_missing(rows: np.ndarray, name: str) -> None:
    """Refuse missing values in a target."""
    if len(rows):
        what = TARGET if name == "y" else name
        raise DataError(
            what,
            f" has {len(rows)} missing value(s) (",
            first_row(int(rows[0])),
            "). Input ",
            what,
            " contains NaN. Drop these rows, or give them a label or value",
            row=int(rows[0]),
        )


def number_column(column: np.ndarray, name: str, remedy: str) -> np.ndarray:
    """One column of real numbers as float64."""
    kind = column.dtype.kind
    if kind == "c":
        raise DataError(f"Complex data not supported: {name} is complex")
    if kind in "mM":
        raise DataError(f"{name} holds dates (dtype {column.dtype}): {remedy}")
    if kind in "biu" or (kind == "f" and column.dtype.itemsize <= DOUBLE_BYTES):
        return column.astype(np.float64)
    if kind == "f":
        return cells_of_array(column, name).values
    cells = column.astype(object).tolist()
    odd = next((row for row, value in enumerate(cells) if family_of_type(type(value)) not in NUMBER_LIKE), -1)
    if odd >= 0:
        if family_of_type(type(cells[odd])) == "complex":
            raise DataError(f"Complex data not supported: {name} row {odd} is complex")
        held = type(cells[odd]).__name__
        raise DataError(f"{name} row {odd}: {shown(cells[odd])} ({held}) is not a number: {remedy}")
    result = np.empty(len(cells))
    for row, value in enumerate(cells):
        try:
            result[row] = math.nan if is_missing(value) else float(value)
        except OverflowError:
            result[row] = math.inf
    return result


def refuse_not_finite(values: np.ndarray, name: str) -> None:
    """Refuse nan and infinity."""
    if np.isfinite(values).all():
        return
    by_row = values.reshape(len(values), -1)
    refuse_missing(np.flatnonzero(np.isnan(by_row).any(axis=1)), name)
    rows = np.flatnonzero(np.isinf(by_row).any(axis=1))
    what = TARGET if name == "y" else name
    raise DataError(
        what,
        f" has {len(rows)} infinite value(s) (",
        first_row(int(rows[0])),
        "). Input ",
        what,
        " contains infinity or a value too large for dtype('float64'). Drop or replace them",
        row=int(rows[0]),
    )


def refuse_large(values: np.ndarray, kept: np.ndarray | None = None) -> None:
    """Refuse numbers, float64[n, n_outputs], so large that the sum of their squares could exceed float64.

    ``kept`` bool[n] has the rows that count.

    >>> refuse_large(np.array([[1e149], [-2e149]]), np.array([True, False]))
    """
    beyond = (np.abs(values) > LARGEST_SQUARED).any(axis=1)
    if kept is not None:
        beyond &= kept
    if beyond.any():
        row = int(np.argmax(beyond))
        first = next(value for value in values[row].tolist() if abs(value) > LARGEST_SQUARED)
        raise DataError(
            TARGET,
            f" has {int(beyond.sum())} value(s) that cannot be used (",
            first_row(row),
            f": {first!r}). Use numbers from -{LARGEST_SQUARED:g} to {LARGEST_SQUARED:g}: larger squares do not add "
            "up in float64. Scale ",
            TARGET,
            " down, or drop these rows",
            row=row,
        )


def check_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Sample weights for n rows as float64[n], never the caller's own array; None if all weigh one."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        sample_weight = [sample_weight] * n
    if not isinstance(sample_weight, Sequence) and not hasattr(sample_weight, "shape"):
        sample_weight = np.asarray(sample_weight)
    shape = np.shape(sample_weight) if not isinstance(sample_weight, Sequence) else (len(sample_weight),)
    is_one_column = len(shape) == 2 and shape[-1] == 1
    target = target_columns(sample_weight, "sample_weight") if len(shape) == 1 or is_one_column else None
    if target is None or not (target.flat or is_one_column):
        dimensions = len(shape) if target is None else 2
        raise DataError(
            f"Sample weights must be 1D array or scalar, got {dimensions}D array. Expected either a scalar value or "
            f"a 1D array of length {n}."
        )
    weights = number_column(target.columns[0], "sample_weight", "a weight is a number >= 0")
    if len(weights) != n:
        raise DataError(f"sample_weight.shape == ({len(weights)},), expected ({n},)! One weight per row is needed.")
    refuse_not_finite(weights, "sample_weight")
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        raise DataError(
            f"sample_weight has {len(negative)} negative value(s) (first row {int(negative[0])}): weights must be >= 0"
        )
    if not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number: all weights are zero.")
    with np.errstate(over="ignore"):
        if not math.isfinite(float(weights.sum())):
            raise DataError("the sum of sample_weight is beyond float64: divide the weights by their largest")
    return None if (weights == 1).all() else weights


def check_lengths(n_rows: int, y: Any) -> None:
    """Check that the target has a row for every row of the table."""
    rows = len(y[0]) if isinstance(y, Labels | Numbers) else len(y)
    if rows != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {rows}]: "
            f"X has {n_rows} rows and y has {rows}"
        )


def recode(labels: Labels, classes: tuple[np.ndarray, ...]) -> np.ndarray:
    """Codes int32[n, n_outputs] of labels in the classes of a fitted model."""
    if len(labels.classes) != len(classes):
        raise DataError(f"y has {len(labels.classes)} outputs, the model has {len(classes)}")
    columns = []
    for output, (own, known) in enumerate(zip(labels.classes, classes, strict=True)):
        places = {label: code for code, label in enumerate(known.tolist())}
        strange = [label for label in own.tolist() if label not in places]
        if strange:
            row = int((labels.codes[:, output] == own.tolist().index(strange[0])).argmax())
            raise DataError(
                f"y holds a label that the model does not know: {shown(strange[0])} (first row {row}); its classes are "
                f"{', '.join(shown(label) for label in known.tolist()[:10])}"
            )
        columns.append(np.array([places[label] for label in own.tolist()], np.int32)[labels.codes[:, output]])
    return np.stack(columns, axis=1)


def factors_by_code(
    given: Sequence[Any], codes: np.ndarray, classes: tuple[np.ndarray, ...], weights: np.ndarray | None = None
) -> Factors:
    """Weight of each class, float64[n_classes] per output, from "balanced" or pairs of label and weight, per output.

    A label that is not among the classes is ignored; a class that is not named weighs 1. "balanced" is n / (classes x
    rows of the class), of these rows; 1 for a class without rows. A row of weight k counts as k rows.
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
    """Weight of each class at the fit, float64[n_classes] per output, from a model's facts; None if all weigh the same.

    Older files hold only the parameter as it was stated; for these "balanced" is computed from the rows at hand.
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
    """Weights of rows, float64[n], times those of their classes for all outputs; None: every row weighs one."""
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
    """Warn if weights add up to far less than the number of rows, in a method ``what`` that treats them as row counts.

    The warning names the line of the caller from outside this package.
    """
    if total < _SMALL_FRACTION * n_rows:
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
    has_pairs = isinstance(stated, list) and all(
        isinstance(pair, list) and len(pair) == 2 and is_weight(pair[1]) for pair in stated
    )
    if not has_pairs:
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
