"""Folds, and fits of an estimator on them. In: a table, a target, ``cv``. Out: training and test rows, ``Fold``.

Splitters and their random draws are scikit-learn's; the folds are checked here, so that an impossible fold is refused
before anything is fitted. Folds and all other random choices depend on ``random_state`` alone.

Folds run on several threads, not processes: the kernels release the lock, nothing is copied, and the result of a fold
or a member does not depend on the schedule.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from treewright.core import notices
from treewright.core.elementary import is_whole
from treewright.core.notices import Notices, listening
from treewright.core.progress import counted
from treewright.core.threads import resolve_jobs, run_each
from treewright.data.cells import is_missing, shown
from treewright.data.schema import did_you_mean
from treewright.data.take import count_rows, header_of, indexed_like, take_columns, take_rows, warn_of_another_order
from treewright.data.target import check_weights, checked_columns, encode_labels, encode_numbers, label_codes
from treewright.exceptions import DataError, ParameterError, Phrase, TreewrightError, setting

if TYPE_CHECKING:
    from treewright.evaluation.scoring import Scorer

Answer = TypeVar("Answer")


# Tasks on threads -----------------------------------------------------------------------------------------------------


def run_tasks(work: Callable[[int], Answer], n_tasks: int, n_jobs: int | None, what: str = "folds") -> list[Answer]:
    """``[work(0), work(1), ...]``, on several threads; each warning is shown once, with the number of tasks.

    If some fail, the error of the first is raised: first in order, not in time.

    ``work``: may be called by several threads at the same time. ``what``: the name of the tasks, for the warnings and
    for the progress.
    """
    done: list[Any] = [None] * n_tasks
    heard: list[Notices | None] = [None] * n_tasks
    failed: dict[int, Exception] = {}
    settings = _settings()

    def run(task: int, _: int) -> None:
        try:
            with settings(), listening() as notices:
                done[task] = work(task)
            heard[task] = notices
        except Exception as error:
            failed[task] = error
            raise
        count()

    try:
        with counted(n_tasks, what) as count:
            run_each(run, n_tasks, resolve_jobs(n_jobs))
    except Exception:
        # Tasks begin in order: all tasks before a failed one have begun, and have ended by now.
        if not failed:
            raise
    if failed:
        raise failed[min(failed)]
    together = Notices()
    for each in heard:
        for site, (text, _) in (each.heard if each else {}).items():
            together.add(site, text)
    together.tell(n_tasks, what)
    return done


def _settings() -> Callable[[], Any]:
    """A context with scikit-learn's settings, which it keeps per thread, for another thread; empty if not loaded."""
    if "sklearn" not in sys.modules:
        return nullcontext
    from sklearn import config_context, get_config

    return partial(config_context, **get_config())


Split = tuple[np.ndarray, np.ndarray]
FORMS = "a number of folds, a splitter of scikit-learn, pairs of training and test rows, or a fold number for each row"


# Folds ----------------------------------------------------------------------------------------------------------------


def splits_of(cv: Any, y: Any, *, is_classification: bool, random_state: Any = 0, groups: Any = None) -> list[Split]:
    """Training and test rows of each fold.

    ``cv`` (>= 2, splitter, iterable of pairs, or array of n fold numbers): an int shuffles the rows with
    ``random_state``, stratified for one target of classes. A splitter has a method ``split``, which is called. A fold
    number for each row is the fold in which it is tested. ``random_state``: for ``cv`` as an int only. ``groups``:
    passed to the splitter, such as ``GroupKFold``. Returns list of (int64[n_train], int64[n_test]): no row is in both.
    A row may be tested in several folds if the splitter repeats (``check_tested_once``).
    """
    held = as_array(y)
    n = len(held)
    if groups is not None:
        if not hasattr(cv, "split"):
            raise ParameterError(
                f"groups= needs a splitter that keeps groups together, such as cv=GroupKFold(5): {cv!r}"
            )
        if count_rows(groups) != n:
            raise DataError(f"groups has {count_rows(groups)} entries, and y has {n} rows: give one for each row")
    warn_of_another_order(y, "y", groups=groups, cv=cv)
    check_random_state(random_state)
    if is_whole(cv):
        return _shuffled(int(cv), held, is_classification, random_state)
    if isinstance(cv, type):
        raise ParameterError(f"cv={cv.__name__} is a class: give a splitter, such as cv={cv.__name__}()")
    if isinstance(cv, str | bytes | bool | float | dict) or cv is None:
        raise ParameterError(f"cv={cv!r}: give {FORMS}")
    if hasattr(cv, "split"):
        pairs = _split_by(cv, held, groups)
    else:
        numbers, pairs = _fold_numbers(cv)
        if numbers is not None:
            return _numbered(numbers, n)
    return [_checked(fold, pair, n) for fold, pair in enumerate(_at_least_one(pairs))]


def _shuffled(n_folds: int, held: np.ndarray, is_classification: bool, random_state: Any) -> list[Split]:
    """Folds of shuffled rows, stratified for one target of classes."""
    n = len(held)
    if n_folds < 2:
        raise ParameterError(setting("cv", n_folds), ": give at least 2 folds, one to test and one to train on")
    if n < n_folds:
        raise DataError(
            f"{n} rows are too few for {n_folds} folds: give ", setting("cv", max(n, 2)), " or less, or more rows"
        )
    if not is_classification or held.ndim > 1:
        return _numbered(_fold_of_each(n, n_folds, random_state), n)
    codes, labels = label_codes(held)
    counts = np.bincount(codes, minlength=len(labels))
    if counts.min() < n_folds:
        rarest = int(np.argmin(counts))
        fewest = int(counts[rarest])
        lower = ("give ", setting("cv", fewest), " or less, or ") if fewest >= 2 else ("give ",)
        own = f"KFold({n_folds}, shuffle=True, random_state=0)"
        name = labels[rarest : rarest + 1].tolist()[0]
        raise DataError(
            f"class {shown(name)} has {fewest} row(s), fewer than {n_folds} folds: ",
            *lower,
            "folds that are not stratified, ",
            Phrase(f"cv={own}", "setting", "cv", own),
        )
    return _numbered(_fold_of_each_by_class(codes, n_folds, random_state), n)


def _fold_of_each(n: int, n_folds: int, random_state: Any) -> np.ndarray:
    """The fold of each row, int64[n], in shuffled rows: the same folds as scikit-learn's ``KFold``.

    Like those of ``_fold_of_each_by_class`` and ``_parts_by_class`` they are computed here because the import of
    scikit-learn takes longer than the folds of a small table; tests compare them.
    """
    order, fold = np.arange(n), np.empty(n, np.int64)
    _generator(random_state).shuffle(order)
    for number, rows in enumerate(np.array_split(order, n_folds)):
        fold[rows] = number
    return fold


def _fold_of_each_by_class(codes: np.ndarray, n_folds: int, random_state: Any) -> np.ndarray:
    """The fold of each row, stratified: the same folds as scikit-learn's ``StratifiedKFold``."""
    rng, fold = _generator(random_state), np.empty(len(codes), np.int64)
    _, firsts = np.unique(codes, return_index=True)
    counts = np.bincount(codes)
    begin = 0
    for code in np.argsort(firsts):  # classes in the order in which they appear
        # Rows sorted by class go to the folds in turn: a fold gets every n_folds-th row of each class.
        turns = np.bincount(np.arange(begin, begin + counts[code]) % n_folds, minlength=n_folds)
        folds = np.arange(n_folds).repeat(turns)
        rng.shuffle(folds)
        fold[codes == code] = folds
        begin += counts[code]
    return fold


def _generator(random_state: Any) -> Any:
    """The generator of random numbers."""
    return random_state if hasattr(random_state, "permutation") else np.random.RandomState(random_state)


def _split_by(cv: Any, held: np.ndarray, groups: Any) -> list[Any]:
    """The folds of a splitter."""
    n = len(held)
    try:
        return list(cv.split(np.zeros((n, 1)), held, groups))
    except TreewrightError:
        raise
    except Exception as error:
        if groups is None and "groups" in str(error):
            raise ParameterError(f"cv={cv!r} needs groups: give groups=") from error
        if isinstance(error, ValueError):
            raise DataError(f"cv={cv!r} cannot make folds of these {n} rows: {error}") from error
        raise ParameterError(f"cv={cv!r} does not split like a splitter of scikit-learn: {error}") from error


def _fold_numbers(cv: Any) -> tuple[np.ndarray | None, Any]:
    """The fold number of each row, or the pairs."""
    if isinstance(cv, list | tuple):
        numbers = bool(cv) and not any(_is_list(entry) for entry in cv)
        return (np.asarray(cv), ()) if numbers else (None, cv)
    if isinstance(cv, np.ndarray) or hasattr(cv, "__array__"):
        held = np.asarray(cv)
        if held.ndim == 0:
            raise ParameterError(f"cv={cv!r}: give {FORMS}")
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
        raise DataError(f"cv holds {len(numbers)} fold numbers, and y has {n} rows: give one for each row")
    if numbers.dtype.kind == "O" or (numbers.dtype.kind == "f" and np.isnan(numbers).any()):
        row = next((row for row, number in enumerate(numbers.tolist()) if is_missing(number)), None)
        if row is not None:
            raise DataError(f"cv: the fold number of row {row} is missing: give one for each row")
    try:
        folds, place = np.unique(numbers, return_inverse=True)
    except TypeError:
        raise DataError("cv: the fold numbers have types that cannot be compared: give whole numbers") from None
    if len(folds) < 2:
        raise DataError(f"cv: every row has the fold {folds[0]}: give at least 2 folds")
    return [(np.flatnonzero(place != fold), np.flatnonzero(place == fold)) for fold in range(len(folds))]


def _at_least_one(pairs: Iterable[Any]) -> list[Any]:
    """All pairs, at least one.

    One fold is enough: it is a hold-out, as ``ShuffleSplit(1)`` gives it.
    """
    held = list(pairs)
    if not held:
        raise DataError("cv has no folds: give at least one pair of training and test rows")
    return held


def _checked(fold: int, pair: Any, n: int) -> Split:
    """A pair of training and test rows as positions."""
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
            raise DataError(f"cv, fold {fold}: the mask of {part} rows has {len(held)} entries, and y has {n} rows")
        held = np.flatnonzero(held)
    if not held.size:
        raise DataError(f"cv, fold {fold}, has no {part} rows")
    if int(held.min()) < 0 or int(held.max()) >= n:
        odd = int(held.min()) if int(held.min()) < 0 else int(held.max())
        raise DataError(f"cv, fold {fold}: the {part} row {odd} is not in the table, whose rows are 0 to {n - 1}")
    return held.astype(np.int64)


def folds_within(cv: Any, y: Any, *, is_classification: bool, random_state: int | None) -> Any:
    """Folds for a choice inside a fit: stratified if every class has enough rows.

    ``splits_of`` refuses a class with fewer rows than folds; inside a fit, a rare class must not prevent the tree.

    Returns list of (int64[n_train], int64[n_test]), or ``cv`` unchanged: for ``splits_of``.
    """
    held = as_array(y)
    if is_whole(cv) and is_classification and held.ndim == 1 and 2 <= cv <= len(held):
        codes, _ = label_codes(held)
        if np.bincount(codes).min() < cv:
            return _numbered(_fold_of_each(len(held), int(cv), random_state), len(held))
    return cv


def two_parts(
    y: Any, n_second: int, random_state: Any, *, by_class: Literal["always", "where possible", "never"]
) -> Split:
    """A random partition of the rows into two parts; positions in ascending order.

    ``n_second``: rows of the second part. ``by_class``: whether the parts are stratified; "always" refuses if that is
    impossible. With several outputs they are not.
    """
    check_random_state(random_state)
    held = as_array(y)
    n = len(held)
    if not 0 < n_second < n:
        raise DataError(
            f"{n} row(s) are too few to hold out {n_second or 'a part'}: give more rows, or hold out another share of "
            "them"
        )
    codes = None
    if by_class != "never" and held.ndim == 1:
        codes, labels = label_codes(held)
        problem = _too_few_for_parts(codes, labels, n_second)
        if problem and by_class == "always":
            raise DataError(problem)
        codes = None if problem else codes
    rng = _generator(random_state)
    if codes is None:
        order = rng.permutation(n)
        first, second = order[n_second:], order[:n_second]
    else:
        first, second = _parts_by_class(codes, n_second, rng)
    return np.sort(first), np.sort(second)


def _parts_by_class(codes: np.ndarray, n_second: int, rng: Any) -> Split:
    """A stratified partition of the rows into two parts.

    The same as that of scikit-learn's ``train_test_split(stratify=)``, whose import takes a second; a test compares
    them.
    """
    counts = np.bincount(codes)
    n_first_of = _shares_drawn(counts, len(codes) - n_second, rng)
    n_second_of = _shares_drawn(counts - n_first_of, n_second, rng)
    by_class = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    first, second = [], []
    for rows, here, there in zip(by_class, n_first_of, n_second_of, strict=True):
        drawn = rows[rng.permutation(len(rows))]
        first.append(drawn[:here])
        second.append(drawn[here : here + there])
    # Their order is drawn too, so that a RandomState advances as far as in scikit-learn.
    return rng.permutation(np.concatenate(first)), rng.permutation(np.concatenate(second))


def _shares_drawn(counts: np.ndarray, n_drawn: int, rng: Any) -> np.ndarray:
    """How many rows of each class (int64[k]) are sampled, ``n_drawn`` in all: its proportion, rounded down.

    The remaining rows go to the classes with the largest remainders, at random among equal ones.
    """
    shares = counts / counts.sum() * n_drawn
    drawn = np.floor(shares)
    remainders = shares - drawn
    missing = int(n_drawn - drawn.sum())
    for remainder in np.unique(remainders)[::-1]:
        if missing <= 0:
            break
        equal = np.flatnonzero(remainders == remainder)
        lucky = rng.choice(equal, size=min(len(equal), missing), replace=False)
        drawn[lucky] += 1
        missing -= len(lucky)
    return drawn.astype(np.int64)


def _too_few_for_parts(codes: np.ndarray, labels: np.ndarray, n_second: int) -> str:
    """Why two parts cannot hold every class; empty if they can."""
    n_first, counts = len(codes) - n_second, np.bincount(codes)
    rarest = int(np.argmin(counts))
    if counts[rarest] < 2:
        label = shown(labels[rarest : rarest + 1].tolist()[0])
        return f"class {label} has 1 row, too few for two parts: give more rows, or stratify=False"
    if min(n_first, n_second) < len(labels):
        return (
            f"{n_first} and {n_second} rows cannot both hold all {len(labels)} classes: give another test_size, or "
            "stratify=False"
        )
    return ""


def rows_in_two(y: Any, share: float, random_state: int | None, *, is_classification: bool) -> Split:
    """Positions of two parts of the rows, both ascending; stratified if every class has two rows or more.

    No class is only in the second part: its rows would go to the first, since a tree fitted on the first part would not
    know the class.

    ``share``: share of the second part.
    """
    if not 0 < share < 1:
        raise ParameterError(f"{share!r} is not a share of the rows: give a number between 0 and 1")
    by_class: Literal["where possible", "never"] = "where possible" if is_classification else "never"
    first, second = two_parts(y, round(share * count_rows(y)), random_state, by_class=by_class)
    if not is_classification:
        return first, second
    strange = _only_in_second(as_array(y), first, second)
    if strange.all():
        raise DataError(f"{count_rows(y)} rows are too few to hold out some: no class is in both parts; give more rows")
    return np.union1d(first, second[strange]), second[~strange]


def _only_in_second(held: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """bool[len(second)]: rows of the second part with a class, of any output, that the first part lacks."""
    strange = np.zeros(len(second), np.bool_)
    for column in held.reshape(len(held), -1).T:
        codes, _ = label_codes(column)
        strange |= ~np.isin(codes[second], codes[first])
    return strange


def nested_order(task: Task, rows: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """The rows in an order in which the first m are a representative sample, for every m.

    ``rows`` (int64[n]). Returns int64[n]: the rows, shuffled; for one target of classes each class is spread evenly, so
    that the first rows have about the class proportions of all rows.
    """
    shuffled = random.permutation(rows)
    if not task.is_classification or task.truth.ndim > 1:
        return shuffled
    # Checked on the whole target, so that an error names the user's row.
    codes = label_codes(task.truth)[0][shuffled]
    counts = np.bincount(codes)
    # The i-th of a class's c rows is at (i - 1/2) / c of the order.
    by_class = np.argsort(codes, kind="stable")
    begin = np.cumsum(counts) - counts
    rank = np.empty(len(rows), np.int64)
    rank[by_class] = np.arange(len(rows)) - np.repeat(begin, counts)
    return shuffled[np.argsort((rank + 0.5) / counts[codes], kind="stable")]


def nested_orders(task: Task, splits: Sequence[Split], random_state: Any) -> list[np.ndarray]:
    """``nested_order`` of the training rows of each fold, with another seed than that of the folds."""
    random = np.random.RandomState(seed_beside(random_state, purpose=1))
    return [nested_order(task, train, random) for train, _ in splits]


def overlap_of(splits: Sequence[Split], n: int) -> float:
    """How far folds of n rows share test rows, for ``scores.standard_error``.

    The mean of test rows over training rows if any row is tested more than once, else 0.
    """
    if times_tested(splits, n).max(initial=0) < 2:
        return 0.0
    return float(np.mean([len(test) / len(train) for train, test in splits]))


def check_tested_once(splits: Sequence[Split], n: int) -> None:
    """Refuse folds that do not test each of n rows exactly once."""
    times = times_tested(splits, n)
    for wrong, where in ((times > 1, "in more than one test set"), (times == 0, "in no test set")):
        if wrong.any():
            raise DataError(
                f"{int(wrong.sum())} of {n} rows are {where} (first row {int(np.argmax(wrong))}): give folds that test "
                f"every row once, such as cv=10"
            )


def check_random_state(random_state: Any) -> None:
    """Refuse a ``random_state`` that is not a seed."""
    if random_state is None or random_state is np.random or isinstance(random_state, np.random.RandomState):
        return
    if not is_whole(random_state) or not 0 <= random_state < 2**32:
        raise ParameterError(
            f"random_state={random_state!r}: give a whole number from 0 to {2**32 - 1}, a numpy.random.RandomState, or "
            "None"
        )


def seed_beside(random_state: Any, purpose: int = 0) -> int:
    """A seed for another purpose than the folds, independent of theirs.

    ``random_state``: a RandomState is read, not advanced. ``purpose``: different purposes have different seeds. Returns
    int, 0 to 2**32 - 1: a different one each time for None.
    """
    check_random_state(random_state)
    entropy = random_state
    if random_state is np.random:
        entropy = None
    elif isinstance(random_state, np.random.RandomState):
        entropy = int(deepcopy(random_state).randint(2**31))
    sequence = np.random.SeedSequence(None if entropy is None else int(entropy), spawn_key=(purpose,))
    return int(sequence.generate_state(1)[0])


def as_array(y: Any) -> np.ndarray:
    """A target as an array of one dimension, or of two for several outputs, in its own dtype."""
    target = checked_columns(y)
    if len(target.columns) == 1:
        return target.columns[0]
    return np.stack(target.columns, axis=1)


def times_tested(splits: Sequence[Split], n: int) -> np.ndarray:
    """int64[n]: the number of test sets that contain each row."""
    return np.bincount(np.concatenate([test for _, test in splits]), minlength=n)


LEAST_SQUARE = 1e-290  # squares near the end of float64 have lost their digits
FARTHEST_UNIT = 500  # weights beyond 2**500, or all below 2**-500, are scaled before anything is averaged


@dataclass(frozen=True, eq=False)
class Task:
    """A table with its target, checked.

    ``truth`` (ndarray[n] or ndarray[n, n_outputs]): the same as an array.
    ``weights`` (float64[n] or None).
    ``seed``: for random choices of an estimator without a seed of its own.
    ``is_pairwise``, whether the columns of X are its rows, as in a matrix of distances: training rows then choose
        columns as well.
    """

    X: Any
    y: Any
    truth: np.ndarray
    weights: np.ndarray | None
    is_classification: bool
    seed: int = 0
    is_pairwise: bool = False

    def table(self, rows: np.ndarray, learned: np.ndarray) -> Any:
        """Some rows of X, for an estimator with the training rows ``learned``."""
        part = take_rows(self.X, rows)
        if not self.is_pairwise:
            return part
        names = header_of(part)[0]
        return take_columns(part, learned, None if names is None else [names[at] for at in learned.tolist()])

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.truth)

    def weights_at(self, rows: np.ndarray) -> np.ndarray | None:
        """Weights of some rows, for a mean over them; very large and very small ones are scaled.

        Rows that all have weight 0 are refused: there is no mean.
        """
        if self.weights is None:
            return None
        weights = self.weights[rows]
        largest = float(weights.max(initial=0.0))
        if largest == 0.0:
            raise DataError(
                f"{len(rows)} row(s) of a fold all have weight 0 (first row {int(rows[0])}): give folds "
                "that each contain a row with a weight above 0"
            )
        exponent = math.frexp(largest)[1]
        return weights if abs(exponent) <= FARTHEST_UNIT else np.ldexp(weights, -exponent)

    def fit(self, estimator: Any, rows: np.ndarray | None, where: str, *, seeded: bool = True) -> Any:
        """A fresh copy of an estimator, fitted on some rows.

        ``rows`` (int64[m], or None), None: all rows. ``where``: the name of the rows, for a note on the errors of
        ``fit``. ``seeded``: whether parameters of the copy without a seed get one, which depends on ``seed`` and the
        rows alone, so that the order of the threads changes nothing.
        """
        if seeded:
            known = np.arange(self.n) if rows is None else rows
            copy = fresh(estimator, np.random.default_rng([self.seed, zlib.crc32(np.asarray(known, "<i8").tobytes())]))
        else:
            copy = unfitted(estimator)
        X, y, weights = self.X, self.y, self.weights
        if rows is not None:
            X, y, weights = self.table(rows, rows), take_rows(y, rows), None if weights is None else weights[rows]
        try:
            return copy.fit(X, y) if weights is None else copy.fit(X, y, sample_weight=weights)
        except Exception as error:
            n_rows = self.n if rows is None else len(rows)
            error.add_note(f"while fitting {name_of_class(estimator)} on {where} ({n_rows} rows)")
            raise


def task_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None, random_state: Any = 0) -> Task:
    """Check that an estimator, a table, a target and weights go together.

    ``random_state``: for the estimators' seeds. A RandomState is read, not advanced, so that its folds stay the same.
    """
    from sklearn.base import is_classifier, is_regressor

    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise ParameterError(f"{estimator.__name__} is a class: give an estimator, {estimator.__name__}()")
    if not all(hasattr(estimator, method) for method in ("fit", "get_params")):
        raise ParameterError(f"a {name} is not an estimator: give one of treewright or scikit-learn")
    is_classification = bool(is_classifier(estimator))
    if not is_classification and not is_regressor(estimator):
        raise ParameterError(f"{name} is neither a classifier nor a regressor, so it predicts no target")
    truth = as_array(y)
    if count_rows(X) != len(truth):
        raise DataError(f"X has {count_rows(X)} rows, and y has {len(truth)}: give a target for each row")
    check_target(y, is_classification=is_classification)
    weights = check_weights(sample_weight, len(truth))
    if weights is not None:
        check_takes_weights(estimator)
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    seed = seed_beside(random_state)
    return Task(X, indexed_like(X, y), truth, weights, is_classification, seed, takes_pairs(estimator))


def name_of_class(estimator: Any) -> str:
    """The name of an estimator's class; of one that is wrapped to get a threshold, the class within."""
    is_ours = type(estimator).__module__.startswith("treewright.")
    return str(getattr(estimator, "name", "") if is_ours else "") or type(estimator).__name__


def takes_pairs(estimator: Any) -> bool:
    """Whether the columns of an estimator's table are its training rows, as in a matrix of distances."""
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.pairwise)


def refuse_pairs(estimator: Any, what: str) -> None:
    """Refuse an estimator of distances if rows are sampled without their columns, by ``what``."""
    if takes_pairs(estimator):
        raise ParameterError(
            f"{what} samples rows, and {type(estimator).__name__} takes the distances between all of them "
            "(metric='precomputed'): fit it on the rows themselves, with another metric"
        )


def check_target(y: Any, *, is_classification: bool) -> None:
    """Refuse a target that cannot be learned, or whose errors cannot be summed.

    A test row is not part of any ``fit``, so only this check refuses its missing label.
    """
    if is_classification:
        encode_labels(y)
        return
    values = encode_numbers(y).values
    largest = np.abs(values).max(axis=0)
    with np.errstate(over="ignore", under="ignore"):
        of_all = np.square(largest) * len(values)
        of_spread = np.square(np.ptp(values, axis=0))
    if not np.isfinite(4.0 * of_all).all():
        raise DataError(
            f"y holds numbers up to {largest.max():.0e}, and the squares of their errors are beyond float64: divide y"
        )
    small = (of_spread < LEAST_SQUARE) & (np.ptp(values, axis=0) > 0)
    if small.any():
        raise DataError(
            f"the numbers of y differ by {np.ptp(values, axis=0)[small].min():.0e}, so the squares of their errors are "
            "below the least of float64: multiply y"
        )


def check_takes_weights(estimator: Any) -> None:
    """Refuse weights for an estimator whose ``fit`` has no ``sample_weight``.

    A ``fit`` that passes its arguments on to an estimator with weights (as a search does) is accepted.
    """
    from sklearn.pipeline import Pipeline

    name, inner = type(estimator).__name__, estimator
    for _ in range(10):
        if isinstance(inner, Pipeline):
            raise ParameterError(
                f"fit of {name} takes no sample_weight, as a Pipeline passes none to its steps: leave it out, or give "
                "only the last step, with prepared columns"
            )
        arguments = signature(inner.fit).parameters
        if "sample_weight" in arguments:
            return
        if not any(one.kind is Parameter.VAR_KEYWORD for one in arguments.values()):
            break
        if not hasattr(inner, "estimator"):
            return
        inner = inner.estimator
    raise ParameterError(f"fit of {name} takes no sample_weight: leave it out")


def unfitted(estimator: Any) -> Any:
    """An unfitted copy, made by the estimator itself or else by scikit-learn."""
    if hasattr(estimator, "__sklearn_clone__"):
        return estimator.__sklearn_clone__()
    from sklearn.base import clone

    return clone(estimator)


def fresh(estimator: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy; parameters without a seed get one."""
    copy = unfitted(estimator)
    unseeded = sorted(
        name
        for name, value in copy.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    )
    return copy.set_params(**{name: int(rng.integers(2**31 - 1)) for name in unseeded}) if unseeded else copy


def with_parameters(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """A fresh copy with some parameters set; values that are estimators are copied as well."""
    from sklearn.base import clone

    values = {name: clone(value, safe=False) for name, value in parameters.items()}
    return unfitted(estimator).set_params(**values)


def with_positive(estimator: Any, positive: Any) -> Any:
    """The same estimator with this positive class, in every ``positive`` of the estimators of Treewright in it.

    Another class that one of them has already is refused: there is one positive class.
    """
    if positive is None:
        return estimator
    unset = {}
    for name, value in positives_in(estimator):
        if value is not None and value != positive:
            raise ParameterError(
                f"positive={positive!r}, but {name_of_class(estimator)} has {name}={value!r}: there is one positive "
                "class; set it in one place"
            )
        if value is None:
            unset[name] = positive
    return with_parameters(estimator, unset) if unset else estimator


def positives_in(estimator: Any) -> list[tuple[str, Any]]:
    """The parameters ``positive`` of the estimators of Treewright in an estimator, by name; none if it has no names."""
    known = {"": estimator, **estimator.get_params(deep=True)} if hasattr(estimator, "get_params") else {}
    return [
        (name, value)
        for name, value in known.items()
        if name.rpartition("__")[2] == "positive"
        and any(one.__module__.startswith("treewright.") for one in type(known[name.rpartition("__")[0]]).__mro__)
    ]


def check_parameter(estimator: Any, name: str) -> None:
    """Refuse a parameter that the estimator does not have."""
    known = estimator.get_params(deep=True)
    if name not in known:
        guess = did_you_mean(name, known)
        raise ParameterError(
            f"{type(estimator).__name__} has no parameter {name!r}{guess}; it has {', '.join(sorted(known))}"
        )


def tree_of(estimator: Any) -> Any:
    """The estimator that holds the tree: the last step of a pipeline, the best of a search, else itself."""
    from sklearn.pipeline import Pipeline

    for _ in range(10):
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    return estimator


def size_of(estimator: Any) -> tuple[float, float]:
    """Leaves and depth of a fitted tree; nan for other models."""
    tree = tree_of(estimator)
    try:
        return float(tree.get_n_leaves()), float(tree.get_depth())
    except AttributeError:
        return float("nan"), float("nan")


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold of an evaluation.

    ``n_train``: the number of training rows.
    ``test`` (int64[]): positions of the test rows.
    ``n_leaves``, ``depth``: nan for models other than a tree.
    """

    n_train: int
    test: np.ndarray
    test_scores: Mapping[str, float]
    train_scores: Mapping[str, float] | None
    predictions: np.ndarray
    n_leaves: float
    depth: float
    estimator: Any


def evaluate_folds(
    estimator: Any,
    task: Task,
    splits: Sequence[Split],
    scorers: Mapping[str, Scorer],
    *,
    n_jobs: int | None,
    keep: bool = False,
    on_training_rows: bool = True,
) -> list[Fold]:
    """Fit and score every fold.

    ``splits`` (sequence of (int64[n_train], int64[n_test])). ``keep``: whether to keep the fitted copies.
    ``on_training_rows``: whether to score the training rows as well.
    """
    if task.weights is not None:
        for at, (_, test) in enumerate(splits):
            try:
                task.weights_at(test)
            except DataError as error:
                error.add_note(f"these are the test rows of fold {at} of {len(splits)}")
                raise

    def work(at: int) -> Fold:
        train, test = splits[at]
        fitted = task.fit(estimator, train, f"the training rows of fold {at} of {len(splits)}")
        try:
            table = task.table(test, train)
            scores = _scores(scorers, fitted, task, table, test)
            predictions = np.asarray(fitted.predict(table))
            on_train = None
            if on_training_rows:
                on_train = _scores(scorers, fitted, task, task.table(train, train), train)
        except Exception as error:
            error.add_note(f"while scoring {type(estimator).__name__} in fold {at} of {len(splits)}")
            raise
        return Fold(len(train), test, scores, on_train, predictions, *size_of(fitted), fitted if keep else None)

    return run_tasks(work, len(splits), n_jobs)


def _scores(scorers: Mapping[str, Scorer], fitted: Any, task: Task, table: Any, rows: np.ndarray) -> dict[str, float]:
    """All scores on some rows."""
    return {name: scorer(fitted, table, task.truth[rows], task.weights_at(rows)) for name, scorer in scorers.items()}


def best_first(mean: float, n_leaves: float) -> tuple[bool, float, float]:
    """A sort key for the best first: the greatest mean score, among equals the fewest leaves; nan last."""
    return math.isnan(mean), -mean, math.inf if math.isnan(n_leaves) else n_leaves


def warn_of_nan(test: Mapping[str, np.ndarray], remedy: str = "give larger folds, or another score") -> None:
    """Warn once about scores (float64[k] by name) that are nan in some fold: their mean is not defined."""
    undefined = {name: np.flatnonzero(np.isnan(scores)) for name, scores in test.items()}
    undefined = {name: folds for name, folds in undefined.items() if len(folds)}
    if not undefined:
        return
    name, folds = next(iter(undefined.items()))
    more = f"; so are {len(undefined) - 1} more of {len(test)} scores" if len(undefined) > 1 else ""
    notices.warn(
        f"the score {name!r} is nan in {len(folds)} of {len(test[name])} folds (first fold {folds[0]}), so its mean is "
        f"nan too{more}: {remedy}"
    )
