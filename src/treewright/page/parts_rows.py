"""Rows to follow through the tree. In: nothing. Out: ``ExamplesPart``. Callers: page.parts, reporting.examples_part."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExampleRow:
    """A judged row.

    Attributes
    ----------
    number : int
        Its position in the table, from 0: ``X[number]``.
    cells : tuple of float
        Encoded; nan where a cell is missing, the number of levels for a level that the fit never saw.
    truth, said : str
        The target, and what the model predicts, in words.
    right : bool or None
        Whether they are equal; None for numbers.
    name : str
        Its name in the index of the table; empty where that counts from 0.
    shares : tuple of tuple of float
        Per output the predicted shares of the classes, or the predicted number.
    """

    number: int
    cells: tuple[float, ...]
    truth: str
    said: str
    right: bool | None
    shares: tuple[tuple[float, ...], ...]
    name: str = ""


@dataclass(frozen=True)
class SupportPart:
    """What a node rests on, as a leaf.

    Attributes
    ----------
    intervals : tuple of pairs of float, or of None
        Per output the confidence interval of the predicted share, or of the mean; None where there is none.
    levels : tuple of pairs of int
        Of nominal columns that the way asks about: the column, and the code of a level that was in the node above.
    absent : tuple of int
        Of the levels that the node's own test asks about: the codes of those that no row of the fit had there.
    """

    intervals: tuple[tuple[float, float] | None, ...]
    levels: tuple[tuple[int, int], ...]
    absent: tuple[int, ...] = ()


@dataclass(frozen=True)
class ExamplesPart:
    """What it takes to follow a row, and to say what would have to change.

    Attributes
    ----------
    rows : tuple of ExampleRow
        None of the table's where none were asked for.
    supports : tuple of SupportPart
        Per node of ``TreePart.nodes``, in their order.
    level : float
        Of the intervals.
    interval : str
        Whose they are: ``"Wilson"``, ``"Student's t"``; empty where there are none.
    scales : tuple of float
        Per column how much of it counts as a change of 1.
    unseen : {"missing", "error", "majority"}
        What a level that the fit never saw is taken for.
    """

    rows: tuple[ExampleRow, ...]
    supports: tuple[SupportPart, ...]
    level: float
    interval: str
    scales: tuple[float, ...]
    unseen: str
