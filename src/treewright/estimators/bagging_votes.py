"""What members say, as one answer. In: fitted members, a table. Out: shares of the classes, numbers. Callers: bagging.

Members answer side by side; their answers are added in the order of the members, so that no bit depends on the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treewright.data.target import encode_labels, recode
from treewright.estimators.side_by_side import answers
from treewright.exceptions import ParameterError

Answer = list[np.ndarray]


def in_order(work: Callable[[int], Any], n_members: int, n_threads: int, take: Callable[[int, Any], None]) -> None:
    """``take(member, work(member))`` for each member in order; only ``n_threads`` answers are held at a time.

    Parameters
    ----------
    work : callable
        May be called by several threads at the same time.
    n_members, n_threads : int
    take : callable
    """
    for first in range(0, n_members, n_threads):
        n_now = min(n_threads, n_members - first)
        said = answers(lambda at, first=first: work(first + at), n_now, n_threads, "members")  # type: ignore[misc]
        for at, answer in enumerate(said):
            take(first + at, answer)


def classes_of(member: Any, n_outputs: int) -> list[np.ndarray]:
    """The labels that a member knows, an array per output."""
    return [np.asarray(member.classes_)] if n_outputs == 1 else [np.asarray(one) for one in member.classes_]


def codes_of(known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Where a member's labels stand among all classes.

    Parameters
    ----------
    known : ndarray[k]
    classes : ndarray[n_classes]

    Returns
    -------
    int64[k]

    Raises
    ------
    ParameterError
        A label is none of the classes: the member was fitted on another target.
    """
    places = {label: code for code, label in enumerate(classes.tolist())}
    try:
        return np.array([places[label] for label in known.tolist()], np.int64)
    except KeyError as lost:
        raise ParameterError(f"a member knows the class {lost}, which is not among the classes of y") from None


def shares_of(member: Any, X: Any, classes: tuple[np.ndarray, ...], *, is_soft: bool) -> Answer:
    """What a member says of the classes of each row.

    Parameters
    ----------
    member : fitted classifier
    X : table of n rows
    classes : tuple of ndarray
        Per output.
    is_soft : bool
        Take its ``predict_proba``, if it has one; else its vote.

    Returns
    -------
    list of float64[n, n_classes]
        Per output; a class that the member has never seen has 0.
    """
    if not is_soft or not hasattr(member, "predict_proba"):
        return votes_of(member.predict(X), classes)
    said = member.predict_proba(X)
    aligned = []
    known = classes_of(member, len(classes))
    for labels, shares, own in zip(classes, [said] if len(classes) == 1 else said, known, strict=True):
        given = np.asarray(shares, np.float64)
        if len(own) == len(labels) and np.array_equal(own, labels):
            aligned.append(given)
            continue
        wide = np.zeros((len(given), len(labels)))
        wide[:, codes_of(own, labels)] = given
        aligned.append(wide)
    return aligned


def votes_of(predicted: Any, classes: tuple[np.ndarray, ...]) -> Answer:
    """Predicted labels as a 1 in the column of the class."""
    predicted = np.asarray(predicted)
    votes = [np.zeros((len(predicted), len(labels))) for labels in classes]
    if len(predicted):
        codes = recode(encode_labels(predicted), classes)
        for output, ballot in enumerate(votes):
            ballot[np.arange(len(ballot)), codes[:, output]] = 1.0
    return votes


def numbers_of(member: Any, X: Any, n_outputs: int) -> Answer:
    """What a regressor says of each row: a list of one float64[n, n_outputs]."""
    return [np.asarray(member.predict(X), np.float64).reshape(-1, n_outputs)]


def decisions_of(member: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """The decision values of a member.

    Raises
    ------
    ParameterError
        It has not seen every class: its values belong to other questions.
    """
    own = np.asarray(member.classes_)
    if not np.array_equal(own, classes):
        raise ParameterError(
            f"decision_function: a member has seen {len(own)} of {len(classes)} classes, so that its values cannot be "
            "averaged with the others': use predict_proba"
        )
    return np.asarray(member.decision_function(X), np.float64)


class Average:
    """A mean that is summed up in the order in which answers come.

    Parameters
    ----------
    shapes : sequence of (int, int)
        Of each array of an answer.
    """

    def __init__(self, shapes: Sequence[tuple[int, int]]) -> None:
        self._sums = [np.zeros(shape) for shape in shapes]
        self.times = np.zeros(shapes[0][0], np.int64)

    def add(self, answer: Answer, rows: np.ndarray | None = None) -> None:
        """Add an answer for all rows, or for some."""
        places: Any = slice(None) if rows is None else rows
        for total, part in zip(self._sums, answer, strict=True):
            total[places] += part
        self.times[places] += 1

    def means(self) -> Answer:
        """The means so far; nan for a row that no answer was about."""
        with np.errstate(invalid="ignore"):
            return [total / self.times[:, None] for total in self._sums]
