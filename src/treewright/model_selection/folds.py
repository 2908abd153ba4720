"""Which rows are learned from and which are predicted. In: ``cv``, a target. Out: pairs of positions.

Callers: model_selection.

Splitters are scikit-learn's; what is asked of them is checked here, so that a fold that cannot be is refused before
anything is grown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from treewright.data.cells import is_missing, shown
from treewright.data.target import checked_columns, label_codes
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.rows import count_rows
from treewright.model_selection.whole import is_whole

Split = tuple[np.ndarray, np.ndarray]
FORMS = "a number of folds, a splitter of scikit-learn, pairs of training and test rows, or a fold number for each row"


def splits_of(cv: Any, y: Any, *, is_classification: bool, random_state: Any = 0, groups: Any = None) -> list[Split]:
    """Training and test rows of each fold.

    Parameters
    ----------
    cv : int >= 2, splitter, iterable of pairs, or array of n fold numbers
        An int shuffles the rows with ``random_state``; for one target of classes every fold gets its share of each
        class. A splitter has ``split`` and is asked as it is. A fold number for each row says in which fold it is
        tested.
    y : target of n rows
    is_classification : bool
    random_state : int, RandomState or None
        For ``cv`` as an int only.
    groups : n group labels, optional
        Handed to the splitter, such as ``GroupKFold``.

    Returns
    -------
    list of (int64[n_train], int64[n_test])
        No row is in both. A row may be tested in several folds where the splitter repeats (``check_tested_once``).

    Raises
    ------
    ParameterError
        ``cv`` is none of these, fewer than 2 folds, or ``groups`` come without a splitter.
    DataError
        Fewer rows than folds; a class with fewer rows than folds; fold numbers of another length, missing or all the
        same; a fold without training or test rows, with a row in both, twice among the tested, or outside the table.

    Examples
    --------
    >>> for train, test in splits_of([1, 2, 1, 2], [0, 1, 0, 1], is_classification=True):
    ...     print(train, test)
    [1 3] [0 2]
    [0 2] [1 3]
    """
    held = as_array(y)
    n = len(held)
    if groups is not None:
        if not hasattr(cv, "split"):
            raise ParameterError(
                f"groups= needs a splitter that keeps groups together, such as cv=GroupKFold(5): {cv!r}"
            )
        if count_rows(groups) != n:
            raise DataError(f"groups has {count_rows(groups)} entries, y has {n} rows: give one for each row")
    if is_whole(cv):
        return _shuffled(int(cv), held, is_classification, random_state)
    if isinstance(cv, str | bytes | bool | float | dict) or cv is None:
        raise ParameterError(f"cv={cv!r}: give {FORMS}")
    if hasattr(cv, "split"):
        pairs = cv.split(np.zeros((n, 1)), held, groups)
    else:
        numbers, pairs = _fold_numbers(cv)
        if numbers is not None:
            return _numbered(numbers, n)
    return [_checked(fold, pair, n) for fold, pair in enumerate(_some(pairs))]


def check_tested_once(splits: Sequence[Split], n: int) -> None:
    """Refuse folds that do not test every row exactly once.

    Parameters
    ----------
    splits : sequence of (int64[n_train], int64[n_test])
    n : int
        Rows.

    Raises
    ------
    DataError
    """
    times = times_tested(splits, n)
    for wrong, where in ((times > 1, "in more than one test set"), (times == 0, "in no test set")):
        if wrong.any():
            raise DataError(
                f"{int(wrong.sum())} of {n} rows are {where} (first row {int(np.argmax(wrong))}): give folds that test "
                f"every row once, such as cv=10"
            )


def times_tested(splits: Sequence[Split], n: int) -> np.ndarray:
    """In how many test sets each row is.

    Returns
    -------
    int64[n]
    """
    return np.bincount(np.concatenate([test for _, test in splits]), minlength=n)


def as_array(y: Any) -> np.ndarray:
    """A target as an array of one dimension, or of two where it has several outputs, in its own dtype.

    Parameters
    ----------
    y : array, list, series or frame

    Returns
    -------
    ndarray[n] or ndarray[n, n_outputs]
    """
    target = checked_columns(y)
    if len(target.columns) == 1:
        return target.columns[0]
    return np.stack(target.columns, axis=1)


def _shuffled(n_folds: int, held: np.ndarray, is_classification: bool, random_state: Any) -> list[Split]:
    """Folds of shuffled rows, with each class spread evenly where there is one target of classes."""
    from sklearn.model_selection import KFold, StratifiedKFold

    n = len(held)
    if n_folds < 2:
        raise ParameterError(f"cv={n_folds}: at least 2 folds are needed, one to test while another is learned from")
    if n < n_folds:
        raise DataError(f"{n} rows are too few for {n_folds} folds: give cv={max(n, 2)} or less, or more rows")
    if not is_classification or held.ndim > 1:
        splits = KFold(n_folds, shuffle=True, random_state=random_state).split(np.zeros(n))
        return [_whole(pair) for pair in splits]
    codes, labels = label_codes(held)
    counts = np.bincount(codes, minlength=len(labels))
    if counts.min() < n_folds:
        rarest = int(np.argmin(counts))
        fewest = int(counts[rarest])
        lower = f"give cv={fewest} or less, or " if fewest >= 2 else "give "
        name = labels[rarest : rarest + 1].tolist()[0]
        raise DataError(
            f"class {shown(name)} has {fewest} row(s), fewer than {n_folds} folds: {lower}folds that take no heed of "
            f"classes, cv=KFold({n_folds}, shuffle=True, random_state=0)"
        )
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(np.zeros(n), codes)
    return [_whole(pair) for pair in splits]


def _whole(pair: Any) -> Split:
    """A pair of position arrays in the one dtype."""
    train, test = pair
    return np.asarray(train).astype(np.int64), np.asarray(test).astype(np.int64)


def _fold_numbers(cv: Any) -> tuple[np.ndarray | None, Any]:
    """The fold number of each row, or the pairs."""
    if isinstance(cv, list | tuple):
        numbers = bool(cv) and not any(_is_list(entry) for entry in cv)
        return (np.asarray(cv), ()) if numbers else (None, cv)
    if isinstance(cv, np.ndarray) or hasattr(cv, "__array__"):
        held = np.asarray(cv)
        return (held, ()) if held.ndim == 1 and not any(_is_list(entry) for entry in held[:1]) else (None, cv)
    if not isinstance(cv, Iterable):
        raise ParameterError(f"cv={cv!r}: give {FORMS}")
    return None, cv


def _is_list(entry: Any) -> bool:
    """Whether an entry of ``cv`` holds entries itself, as a pair does and a fold number does not."""
    return hasattr(entry, "__len__") and not isinstance(entry, str | bytes)


def _numbered(numbers: np.ndarray, n: int) -> list[Split]:
    """A fold per number, in ascending order."""
    if len(numbers) != n:
        raise DataError(f"cv holds {len(numbers)} fold numbers, y has {n} rows: give one for each row")
    if numbers.dtype.kind == "O" or (numbers.dtype.kind == "f" and np.isnan(numbers).any()):
        row = next((row for row, number in enumerate(numbers.tolist()) if is_missing(number)), None)
        if row is not None:
            raise DataError(f"cv, the fold numbers, is missing in row {row}: give one for each row")
    folds, place = np.unique(numbers, return_inverse=True)
    if len(folds) < 2:
        raise DataError(f"cv gives every row the fold {folds[0]}: at least 2 folds are needed")
    return [(np.flatnonzero(place != fold), np.flatnonzero(place == fold)) for fold in range(len(folds))]


def _some(pairs: Iterable[Any]) -> list[Any]:
    """All pairs, at least one.

    One fold is enough: it is a hold-out, as ``ShuffleSplit(1)`` gives it.
    """
    held = list(pairs)
    if not held:
        raise DataError("cv gives no folds: at least one pair of training and test rows is needed")
    return held


def _checked(fold: int, pair: Any, n: int) -> Split:
    """One pair as positions.

    Raises
    ------
    ParameterError
        It is no pair.
    DataError
        The rows cannot be a fold.
    """
    if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
        raise ParameterError(f"cv, fold {fold}, is not a pair of training and test rows: give {FORMS}")
    train, test = (_positions(fold, part, rows, n) for part, rows in zip(("training", "test"), pair, strict=True))
    tested = np.bincount(test, minlength=n)
    if tested.max() > 1:
        raise DataError(f"cv, fold {fold}: row {int(np.argmax(tested > 1))} is twice in the test set")
    both = train[tested[train] > 0]
    if len(both):
        raise DataError(
            f"cv, fold {fold}: {len(both)} row(s) are in both the training and the test set (first row {int(both[0])})"
        )
    return train, test


def _positions(fold: int, part: str, rows: Any, n: int) -> np.ndarray:
    """Positions of a part of a fold; a mask becomes the positions where it is True."""
    held = np.asarray(rows)
    if held.ndim != 1 or (held.size and held.dtype.kind not in "biu"):
        raise ParameterError(f"cv, fold {fold}: the {part} rows are not a list of row positions")
    if held.dtype.kind == "b":
        if len(held) != n:
            raise DataError(f"cv, fold {fold}: the mask of {part} rows has {len(held)} entries, y has {n} rows")
        held = np.flatnonzero(held)
    if not held.size:
        raise DataError(f"cv, fold {fold}, has no {part} rows")
    if int(held.min()) < 0 or int(held.max()) >= n:
        odd = int(held.min()) if int(held.min()) < 0 else int(held.max())
        raise DataError(f"cv, fold {fold}: the {part} row {odd} is not in the table, rows are 0 to {n - 1}")
    return held.astype(np.int64)
