"""Rows that lie elsewhere: in a file, in other processes, on other machines. In: parts. Out: answers.

An `Elsewhere` takes the place of the matrix of a `Dataset`. It knows how many rows there are and the bins of their
columns, and has a *carrier*, which takes a question to every part and returns the answers. Algorithms that can learn
from answers use it; for others an error gives the reason.
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
    """A part no longer answers because its process or machine is gone; ``revive`` restarts it."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(f"part {at} of the rows is lost: {why}")
        self.at = at


class NotBorrowedError(TreewrightError):
    """A part does not hold the rows borrowed for this fit, or no longer: it has to borrow them again."""


claims = threading.Lock()  # held while a part checks that its rows are free and claims them for a fit


class Carrier(Protocol):
    """The interface of a carrier, which takes a question to all parts and returns their answers."""

    @property
    def n_parts(self) -> int:
        """How many parts there are."""

    def ask(self, what: str, *given: Any) -> list[Any]:
        """Call the method ``what`` of all parts with these arguments; returns their answers in the order of the parts.

        An error in a part is raised here; PartLostError if a part is gone.
        """

    def share(self, fit: str) -> None:
        """Let every part ``borrow`` what all ``lend``, in their order, for a fit: then each has all rows, as bins."""

    def settle(self, what: str, *given: Any) -> list[Any]:
        """Like ``ask``, for questions that set up the parts: they are repeated for a part that is restarted."""

    def revive(self) -> None:
        """Restart lost parts from the source of their rows; what they had learned is gone."""


_MOST_LOST = 3  # times in a row that parts may be lost before a question is given up


def unless_lost(carrier: Carrier, work: Callable[[bool], T]) -> T:
    """The result of ``work(False)``; if a part is lost on the way, parts are restarted and ``work(True)`` is called."""
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
    """The answers to a question that changes nothing in the parts and so can be repeated if one is restarted.

    ``settles``: the question sets up the parts (``Carrier.settle``).
    """
    asked = carrier.settle if settles else carrier.ask
    return unless_lost(carrier, lambda _: asked(what, *given))


@dataclass(eq=False)
class Here:
    """The carrier of parts in this process; they answer one after another, each on its threads."""

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
        """Do nothing: parts of this process are never lost."""


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """The cells of a table that lie elsewhere.

    Attributes
    ----------
    shape : (int, int)
    bins : Bins
        Of the columns; the parts hold the rows as these.
    max_bins : int
        With which they were made.
    n_rows : int
        Number of rows; a row with a whole weight k counts as k rows.
    of_classes : tuple of float64[n_classes]
        Weight of the rows of each class, per output; empty for regression.
    carrier : Carrier
    where : str
        Where the rows lie, in a few words for messages.
    budget : int or None, bytes
        Memory that may be used; None: all that is available.
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
        """Raise ParameterError for what cannot be computed from rows that lie elsewhere."""
        raise ParameterError(f"the rows lie {self.where}, where this cannot be computed: ", *why)

    def check_bins(self, max_bins: int) -> None:
        """Raise ParameterError if ``max_bins`` is not the one with which the parts made their bins."""
        if max_bins != self.max_bins:
            raise ParameterError(
                f"max_bins={max_bins}, but the rows {self.where} were binned with max_bins={self.max_bins}: pass "
                f"max_bins={self.max_bins}, or make the dataset with max_bins={max_bins}"
            )


@dataclass(eq=False)
class Together:
    """All rows of a table as bins, at one of its parts, which does a share of the work.

    Attributes
    ----------
    codes : uint8[n, stride]
    target : int32[n] or float64[n]
    sample_weights : float64[n] or None
    share : (int, int)
        The number of the part, and how many there are.
    n_threads : int
    budget : int or None, bytes
        Memory that may be used in addition to the rows; None: all that is available.
    room : callable or None
        Makes arrays, of a shape and dtype, that need not stay in memory.
    fit : str
        The fit that has borrowed the rows.
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
