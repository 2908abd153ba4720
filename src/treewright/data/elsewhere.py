"""Rows that lie elsewhere: in a file, in other processes, on other machines. In: parts. Out: answers.

An `Elsewhere` stands where the matrix of a `Dataset` stands. It knows how many rows there are and the bins of their
columns, and has a *carrier*, which takes a question to every part and brings back the answers. Learners that can learn
from answers ask; others are refused with the reason.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import numpy as np

from treewright.data.bins import Bins
from treewright.exceptions import ParameterError, Phrase, TreewrightError

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset

T = TypeVar("T")


class PartLostError(TreewrightError):
    """A part does not answer any more: its process or machine has gone. ``revive`` makes it again."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(f"part {at} of the rows is lost: {why}")
        self.at = at


class NotBorrowedError(TreewrightError):
    """A part has not, or no longer, borrowed the rows for the fit that asks: it has to borrow them again."""


claims = threading.Lock()  # held while a part looks whether its rows are free, and takes them for a fit


class Carrier(Protocol):
    """Whoever carries a question to all parts and brings back the answers."""

    @property
    def n_parts(self) -> int:
        """How many parts there are."""

    def ask(self, what: str, *given: Any) -> list[Any]:
        """The answers of all parts, in their order: of the method ``what``, with these arguments.

        What a part raises is raised here. PartLostError where one is gone.
        """

    def share(self, fit: str) -> None:
        """Let every part ``borrow`` what all ``lend``, in their order, for a fit: then each has all rows, as bins."""

    def settle(self, what: str, *given: Any) -> list[Any]:
        """As ``ask``, of what makes the parts what they are: one that is made again is told it again."""

    def revive(self) -> None:
        """Make parts that are lost again, from where their rows come; what they had learned is gone."""


_MOST_LOST = 3  # times in a row that parts may be lost before a question is given up


def unless_lost(carrier: Carrier, work: Callable[[bool], T]) -> T:
    """What ``work`` returns; where a part is lost on the way, parts are made again, and it is told so: True."""
    n_lost = 0
    while True:
        try:
            if n_lost:
                carrier.revive()
            return work(n_lost > 0)
        except PartLostError:
            n_lost += 1
            if n_lost > _MOST_LOST:
                raise


def answers_of(carrier: Carrier, what: str, *given: Any, settles: bool = False) -> list[Any]:
    """The answers to a question that parts which are made again can be asked anew: it changes nothing in them.

    ``settles``: it makes them what they are (``Carrier.settle``).
    """
    asked = carrier.settle if settles else carrier.ask
    return unless_lost(carrier, lambda _: asked(what, *given))


@dataclass(eq=False)
class Here:
    """The carrier of parts that are in this process: one after another, each on its threads."""

    parts: list[Any]

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    def ask(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.ask``."""
        return [getattr(part, what)(*given) for part in self.parts]

    def share(self, fit: str) -> None:
        """See ``Carrier.share``."""
        self.ask("borrow", self.ask("lend"), fit)

    def settle(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.settle``."""
        return self.ask(what, *given)

    def revive(self) -> None:
        """Nothing: parts of this process are not lost."""


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """The cells of a table that lie elsewhere.

    Attributes
    ----------
    shape : (int, int)
    bins : Bins
        Of the columns; the parts hold the rows as these.
    max_bins : int
        What they were cut with.
    n_rows : int
        What the rows count as: whole weights are numbers of rows.
    of_classes : tuple of float64[n_classes]
        What the rows of each class weigh, of each output; empty for numbers.
    carrier : Carrier
    where : str
        Where the rows lie, in a few words for messages.
    budget : int or None, bytes
        What may be held in memory; None: whatever there is.
    """

    shape: tuple[int, int]
    bins: Bins
    max_bins: int
    n_rows: int
    of_classes: tuple[np.ndarray, ...]
    carrier: Carrier = field(repr=False)
    where: str = "elsewhere"
    budget: int | None = None

    def refuse(self, *why: str | Phrase) -> NoReturn:
        """ParameterError for what is not worked out of rows that lie elsewhere."""
        raise ParameterError(f"the rows lie {self.where}, where this is not worked out: ", *why)

    def check_bins(self, max_bins: int) -> None:
        """ParameterError for bins of another size than those that the parts hold."""
        if max_bins != self.max_bins:
            raise ParameterError(
                f"max_bins={max_bins}, and the rows that lie {self.where} were cut into {self.max_bins} bins: give "
                f"max_bins={self.max_bins}, or make the dataset with max_bins={max_bins}"
            )


@dataclass(eq=False)
class Together:
    """All rows of a table as bins, at one of its parts, which takes a share of the work.

    Attributes
    ----------
    codes : uint8[n, stride]
    target : int32[n] or float64[n]
    sample_weights : float64[n] or None
    share : (int, int)
        The number of the part, and how many there are.
    n_threads : int
    budget : int or None, bytes
        What may be held in memory beside the rows; None: whatever there is.
    room : callable or None
        Makes arrays, of a shape and dtype, that need not stay in memory.
    fit : str
        Which fit has borrowed the rows.
    kept : anything
        What the fit keeps here from one question to the next.
    """

    codes: np.ndarray
    target: np.ndarray
    sample_weights: np.ndarray | None
    share: tuple[int, int]
    n_threads: int
    budget: int | None
    room: Callable[[tuple[int, ...], Any], np.ndarray] | None
    fit: str
    kept: Any = None

    def filled(self, dataset: Dataset) -> Dataset:
        """A dataset whose cells lie elsewhere, with the targets, weights and bins of its rows."""
        where: Elsewhere = dataset.matrix
        target: Any = dataset.target
        return replace(
            dataset,
            target=target._replace(**{target._fields[0]: self.target[:, None]}),
            weights=self.sample_weights, sample_weight=self.sample_weights,
            cache={("bins", where.max_bins): (where.bins, self.codes)}, keeps_bins=True,
        )  # fmt: skip
