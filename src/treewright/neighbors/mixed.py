"""Search over columns of several kinds. In: encoded rows and ``MixedColumns``. Out: nearest rows, rows within a rank.

Caller: neighbors.index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from treewright.core.threads import run_each
from treewright.neighbors.direct import blocks_of, in_order, joined, select
from treewright.neighbors.mixed_columns import SHARES, MixedColumns
from treewright.neighbors.mixed_kernels import COLUMNS, TILE, nearest_of_block, ranks_of_block

__all__ = ["Mixed"]

# Queries that are measured against one tile of points.
_QUERIES = 64
# Of lines of levels, and of all ranks of some queries: bytes of one thread.
_BLOCK_BYTES = 2**23
# More neighbours are selected from all ranks of a query.
_FEW = 64


class Plan(NamedTuple):
    """``MixedColumns`` for kernels.

    Attributes
    ----------
    kinds, scales, rule, n_levels, tables, starts, n_classes
        As there.
    lines : int64[p + 1]
        Where each column's line begins: of a column of shares one number per level and two more, of others none.
    """

    kinds: np.ndarray
    scales: np.ndarray
    rule: np.int64
    n_levels: np.ndarray
    tables: np.ndarray
    starts: np.ndarray
    n_classes: np.int64
    lines: np.ndarray


class Scratch(NamedTuple):
    """Arrays of one thread.

    Attributes
    ----------
    cells : float64[COLUMNS, TILE]
    sums, counts : float64[queries, TILE]
    lines : float64[queries, w]
    """

    cells: np.ndarray
    sums: np.ndarray
    counts: np.ndarray
    lines: np.ndarray


@dataclass(frozen=True, eq=False)
class Mixed:
    """Every query against every row, in blocks that the caches hold: Gower, HEOM and HVDM.

    Memory beside rows and results, per thread: 384 KiB, up to 8 MiB of levels' distances (HVDM; one query's, if those
    are more), and for more than 64 neighbours or rows within a rank 8 MiB or the ranks of one query if that is more.

    Attributes
    ----------
    points : float64[n, p], C order
        Encoded rows: nan is missing, nominal cells hold codes. Kept, not copied.
    columns : MixedColumns

    Examples
    --------
    >>> from treewright.data.encoder import encode_fit
    >>> from treewright.neighbors.mixed_columns import GOWER, mixed_columns
    >>> schema, matrix = encode_fit({"age": [20, 30, 40], "sky": ["sun", "rain", None]})
    >>> index = Mixed(matrix, mixed_columns(GOWER, schema, matrix, None))
    >>> rows, ranks = index.nearest(matrix[:1], k=3, n_threads=1)
    >>> rows.tolist(), ranks.tolist()
    ([[0, 1, 2]], [[0.0, 0.75, 1.0]])
    """

    points: np.ndarray
    columns: MixedColumns
    _plan: Plan = field(init=False, repr=False)

    def __post_init__(self) -> None:
        columns = self.columns
        widths = np.where(columns.kinds == SHARES, columns.n_levels + 2, 0)
        lines = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
        object.__setattr__(
            self,
            "_plan",
            Plan(
                np.ascontiguousarray(columns.kinds, np.uint8),
                np.ascontiguousarray(columns.scales, np.float64),
                np.int64(columns.rule),
                np.ascontiguousarray(columns.n_levels, np.int64),
                np.ascontiguousarray(columns.tables, np.float64),
                np.ascontiguousarray(columns.starts, np.int64),
                np.int64(columns.n_classes),
                lines,
            ),
        )

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each point; see ``ranks.Index``."""
        rows = np.empty((len(points), k), np.int64)
        ranks = np.empty((len(points), k))
        if k > _FEW:

            def take(begin: int, found: np.ndarray) -> None:
                for at, of_query in enumerate(found):
                    rows[begin + at], ranks[begin + at] = select(of_query, k)

            self._measure_all(points, n_threads, take)
            return rows, ranks
        size, n_tasks = blocks_of(len(points), n_threads, self._most_queries())
        scratch = self._scratch(min(n_threads, n_tasks), size)

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            nearest_of_block(self._plan, points, begin, end, self.points, scratch[thread], rows, ranks)

        run_each(work, n_tasks, n_threads)
        return rows, ranks

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``; see ``ranks.Index``."""
        blocks: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

        def take(begin: int, found: np.ndarray) -> None:
            query, row = np.nonzero(found <= rank)
            blocks[begin] = in_order(len(found), query, row, found[query, row])

        self._measure_all(points, n_threads, take)
        return joined([blocks[begin] for begin in sorted(blocks)])

    def _measure_all(self, points: np.ndarray, n_threads: int, take: Callable[[int, np.ndarray], None]) -> None:
        """Hand all ranks of each block of queries to ``take``: its first query, and float64[queries, n]."""
        n = len(self.points)
        size, n_tasks = blocks_of(len(points), n_threads, min(self._most_queries(), _BLOCK_BYTES // (8 * n)))
        scratch = self._scratch(min(n_threads, n_tasks), size)
        everything = [np.empty((size, n)) for _ in scratch]

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            found = everything[thread]
            ranks_of_block(self._plan, points, begin, end, self.points, scratch[thread], found)
            take(begin, found[: end - begin])

        run_each(work, n_tasks, n_threads)

    def _most_queries(self) -> int:
        """Of a block, so that their lines of levels fit."""
        return min(_QUERIES, _BLOCK_BYTES // (8 * max(1, int(self._plan.lines[-1]))))

    def _scratch(self, n_threads: int, size: int) -> list[Scratch]:
        """Arrays of each thread."""
        width = int(self._plan.lines[-1])
        return [
            Scratch(np.empty((COLUMNS, TILE)), np.empty((size, TILE)), np.empty((size, TILE)), np.empty((size, width)))
            for _ in range(n_threads)
        ]
