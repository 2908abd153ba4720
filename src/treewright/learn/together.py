"""Trees of rows that lie elsewhere, grown by parts that have all rows. In: a dataset, a grower. Out: trees, in order.

    carrier.share                    every part has all rows, as bins: mapped from files, or from the other workers
    "do" begin_work                  begin(rows, dataset, *given): what grows trees by their numbers
    "do" some_of_work(first, ...)    each part its share of the next trees, wave by wave: a lost part costs at most one
                                     wave

Histograms would move more data than the rows: a node moves columns x 256 sums, and a forest has a node for a few rows.
So the parts share the trees. Rows move once to each part that grows, one byte per cell and 12 per row.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Self

from treewright.data.dataset import Carrier, Dataset, NotBorrowedError, PartLostError, Together, unless_lost
from treewright.exceptions import TooLargeError

Work = Callable[[range], list[Any]]
_WAVE = 20.0  # seconds, roughly: the work lost with a part, and the longest wait after Ctrl-C
# Bytes, in addition to the bins, measured on 12,000,000 rows: per row of the table for the order of sampling, and for
# each draw; per row of a growing tree, and for its nodes if trees may be deep.
_ORDER_BYTES, _DRAW_BYTES, _ROW_BYTES, _NODE_BYTES, _DEEP = 28, 12, 36, 20, 20


@dataclass(eq=False)
class Shared:
    """The rows of a dataset while each part has all of them; ``with`` gives them back.

    Attributes
    ----------
    dataset : Dataset
        Its cells lie elsewhere.
    begin : callable
        Importable: from ``Together``, the dataset without its carrier and ``given`` to a function that grows trees by
        their numbers.
    given : tuple
    """

    dataset: Dataset
    begin: Callable[..., Work]
    given: tuple[Any, ...]
    fit: str = field(default_factory=lambda: secrets.token_hex(8))
    is_begun: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(PartLostError):
            self.carrier.ask("give_back", self.fit)

    @property
    def carrier(self) -> Carrier:
        """The carrier of the dataset, which asks the parts."""
        carrier: Carrier = self.dataset.matrix.carrier
        return carrier

    def each(self, n: int) -> Iterator[Any]:
        """The results of the work for the numbers 0 to ``n - 1``, in order."""
        first, of_wave = 0, 1
        while first < n:
            began = perf_counter()
            answers = self.ask(some_of_work, first, min(of_wave, -(-(n - first) // max(self.carrier.n_parts, 1))), n)
            some = [each for of_part in answers for each in of_part]
            yield from some
            first += len(some)
            of_wave = max(1, int(of_wave * min(_WAVE / max(perf_counter() - began, 1e-3), 8.0)))

    def ask(self, work: Callable[..., Any], *given: Any) -> list[Any]:
        """The answers of all parts to a question that can be repeated; if a part is lost, all borrow again."""

        def done(was_lost: bool) -> list[Any]:
            if was_lost:
                self.carrier.ask("give_back", self.fit)
            if was_lost or not self.is_begun:
                self.carrier.share(self.fit)
                without = replace(self.dataset, matrix=replace(self.dataset.matrix, carrier=None))
                self.carrier.ask("do", self.fit, begin_work, without, self.begin, self.given)
                self.is_begun = True
            return self.carrier.ask("do", self.fit, work, *given)

        try:
            return unless_lost(self.carrier, done)
        except NotBorrowedError:  # another fit on the same rows has lost a part and restarted all
            self.carrier.ask("give_back", self.fit)
            self.is_begun = False
            return unless_lost(self.carrier, done)


# At the parts.


def begin_work(rows: Together, dataset: Dataset, begin: Callable[..., Work], given: tuple[Any, ...]) -> None:
    """Make the function that grows trees of the rows."""
    rows.kept = begin(rows, rows.filled(dataset), *given)


def some_of_work(rows: Together, first: int, n_each: int, n: int) -> list[Any]:
    """The part's share of the next trees; a part has ``n_each`` of them, while there are trees left."""
    number, _ = rows.share
    begin = min(first + number * n_each, n)
    some: list[Any] = rows.kept(range(begin, min(begin + n_each, n)))
    return some


def trees_at_once(rows: Together, params: Any, n_drawn: int | None) -> int:
    """How many trees may grow at a time within the budget; each on ``n_drawn`` sampled rows, None: on all rows.

    Raises
    ------
    TooLargeError
        Not even one tree fits.
    """
    if rows.budget is None:
        return rows.n_threads
    n = len(rows.codes)
    are_few_nodes = params.max_leaf_nodes is not None or (params.max_depth or _DEEP) < _DEEP
    of_row = _ROW_BYTES if are_few_nodes else _ROW_BYTES + _NODE_BYTES
    beside, of_tree = (0, of_row * n) if n_drawn is None else (_ORDER_BYTES * n, _DRAW_BYTES * n + of_row * n_drawn)
    if beside + of_tree > rows.budget:
        n_held, n_parts = n if n_drawn is None else n_drawn, rows.share[1]
        draw = f" and {of_tree - of_row * n_held + beside:,} for sampling from {n:,} rows" if beside else ""
        processes = f", or fewer than {n_parts} processes" if n_parts > 1 else ""
        limits = [] if are_few_nodes else ["max_depth"]
        limits += ["max_samples"] if beside else []
        smaller = f", or a smaller tree ({', '.join(limits)})" if limits else ""
        raise TooLargeError(
            f"growing a tree takes about {of_row * n_held:,} bytes for its {n_held:,} rows{draw}, and each process may "
            f"use {rows.budget:,}: set memory={n_parts * (beside + of_tree)}{processes}{smaller}"
        )
    return min(rows.n_threads, (rows.budget - beside) // of_tree)
