"""Growing trees on gradients. In: binned rows, a gradient and a hessian per row. Out: ``GradientTree``.

gradients -> words -> [take the best node -> divide its rows -> histograms -> search] -> exact sums of the leaves
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from treewright.core import threads
from treewright.data.bin_rows import SparseCodes
from treewright.data.bins import Bins
from treewright.data.memory import check_fits
from treewright.exceptions import TooLargeError
from treewright.grow.gradient.layout import (
    N_NODES,
    Bundles,
    Grown,
    Limits,
    Nodes,
    Rows,
    Table,
    bundle,
    columns_of,
    desk_for,
    grown_for,
    growth_for,
    limits_of,
    most_leaves,
    nodes_for,
    table_of,
    without_bundles,
)
from treewright.grow.gradient.leaves import (
    add_by_codes,
    add_to_scores,
    close_tree,
    leaf_sums,
    leaves_of_codes,
    list_leaves,
    note_leaves,
    renew_leaves,
)
from treewright.grow.gradient.rows import blocks_of, part_rows, sum_up, write_column
from treewright.grow.gradient.splitting import draw_for_tree
from treewright.grow.gradient.step import (
    begin_tree,
    fill_of_node,
    free_slot_of,
    look_at_children,
    look_at_node,
    note_total,
    open_node,
    split_some,
)
from treewright.grow.gradient.symmetric import choose_level, grow_at_once
from treewright.grow.gradient.words import (
    Scales,
    checked,
    magnitudes,
    refuse_gradients,
    scales_of,
    to_words,
    words_at_once,
)
from treewright.grow.layout import MAX_ROWS
from treewright.grow.settings import GradientSettings

STAGES = ("gradients", "histograms", "search", "partition", "update", "evaluation")
_BLOCK_ROWS = 1 << 15  # a constant: sums of sizes are made block by block
_SPARSE_ROWS = 4096  # of a sparse table, written out at a time
# Rows times columns of a node that is split without a return to Python: about half a ms, and 20 if the grower has one
# thread; Ctrl-C waits that long.
_MOST_CELLS, _MOST_CELLS_ALONE = 1 << 19, 1 << 25


_Walked = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class GradientTree(NamedTuple):
    """A grown tree, before it is packed.

    Attributes
    ----------
    first_child, column, cut : int32[n_nodes]
        The first child's number (-1 at a leaf); column of the test; last bin on the left.
    missing_branch : int8[n_nodes]
    is_set : bool[n_nodes]
        Whether each test is of a set of bins.
    sets, seen : uint64[n_nodes, 4], or a single row where no column is nominal
    gain : float64[n_nodes]
        Gain of each test.
    leaves : int32[n_leaves]
        The leaves' numbers, ascending.
    begins, ends : int32[n_leaves]
        Range of each leaf's rows in ``order``.
    order : int32[2 n]
        The tree's rows; the next tree overwrites it.
    values : float64[n_leaves]
        Newton's step within the bounds of monotone constraints; not yet times the learning rate.
    bounds : float64[2, n_leaves]
        Those bounds.
    depth : int32[n_nodes]
        Edges from the root.
    covers : float64[n_leaves]
        Sums of hessians.
    """

    first_child: np.ndarray
    column: np.ndarray
    cut: np.ndarray
    missing_branch: np.ndarray
    is_set: np.ndarray
    sets: np.ndarray
    seen: np.ndarray
    gain: np.ndarray
    leaves: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    order: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    depth: np.ndarray
    covers: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Nodes, leaves included."""
        return len(self.first_child)

    def groups(self, leaves: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        """The rows of some groups of leaves, group by group.

        Parameters
        ----------
        leaves : sequence of sequences of int
            Per group the positions in ``leaves``.

        Returns
        -------
        rows : int32[m]
        starts : int64[k + 1]
            Start of each group.
        """
        sizes = [int((self.ends[group] - self.begins[group]).sum()) for group in map(list, leaves)]
        rows = [self.order[self.begins[leaf] : self.ends[leaf]] for group in leaves for leaf in group]
        return np.concatenate(rows), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def leaves_of(self, codes: Any, rows: np.ndarray) -> np.ndarray:
        """int32[m]: the positions in ``leaves`` of any rows, int32[m], of uint8[n, stride] or SparseCodes."""
        if isinstance(codes, SparseCodes):
            blocks = [rows[begin : begin + _SPARSE_ROWS] for begin in range(0, len(rows), _SPARSE_ROWS)]
            parts = [self.leaves_of(codes.dense(some), np.arange(len(some), dtype=np.int32)) for some in blocks]
            return np.concatenate([np.empty(0, np.int32), *parts])
        found = np.empty(len(rows), np.int32)
        leaves_of_codes(codes, rows, *self._as_walked(), found)
        return found

    def add_to(self, codes: Any, rows: np.ndarray, adds: np.ndarray, scores: np.ndarray) -> None:
        """Add ``adds`` float64[n_leaves] to ``scores`` float64[n] of any rows; as ``leaves_of``."""
        if isinstance(codes, SparseCodes):
            scores[rows] += adds[self.leaves_of(codes, rows)]
        else:
            add_by_codes(codes, rows, *self._as_walked(), adds, scores)

    def _as_walked(self) -> _Walked:
        """What kernels need to walk down the tree, and room for the numbers of its leaves."""
        room = np.empty(len(self.first_child), np.int32)
        return self.first_child, self.column, self.cut, self.missing_branch, self.is_set, self.sets, room

    def leaves_below(self) -> list[list[int]]:
        """Per node the positions of the leaves below it; for a leaf its own."""
        below: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for place, leaf in enumerate(self.leaves.tolist()):
            below[leaf] = [place]
        for node in range(self.n_nodes - 1, -1, -1):  # children come after their parents
            first = int(self.first_child[node])
            if first >= 0:
                below[node] = below[first] + below[first + 1]
        return below


def tree_of_nodes(n: int, n_leaves: int, nodes: Nodes, grown: Grown, order: np.ndarray) -> GradientTree:
    """The tree that these arrays hold, copied: ``n`` nodes and their leaves."""
    n_sets = n if len(nodes.sets) > 1 else 1
    return GradientTree(
        first_child=nodes.first_child[:n].copy(),
        column=nodes.column[:n].copy(),
        cut=nodes.cut[:n].copy(),
        missing_branch=grown.missing_branch[:n].copy(),
        is_set=grown.is_set[:n].copy(),
        sets=nodes.sets[:n_sets].copy(),
        seen=nodes.seen[:n_sets].copy(),
        gain=grown.gain[:n].copy(),
        leaves=grown.leaves[:n_leaves].copy(),
        begins=grown.begins[:n_leaves].copy(),
        ends=grown.ends[:n_leaves].copy(),
        order=order,
        values=grown.values[:n_leaves].copy(),
        bounds=grown.bounds[:, :n_leaves].copy(),
        depth=nodes.depth[:n].copy(),
        covers=grown.covers[:n_leaves].copy(),
    )


def table_of_tree(table: Table, share: float, seed: int) -> Table:
    """The table with the columns sampled for a tree, a share of them."""
    if share >= 1.0:
        return table
    p = len(table.n_bins)
    drawn = np.empty(p, np.int32)
    n_drawn = draw_for_tree(np.arange(p, dtype=np.int32), share, np.uint64(seed), drawn)
    return table._replace(pool=drawn[:n_drawn])


class _Stage:
    """Adds the time of a block to that of a stage (a generator takes four times as long; there are fourteen a tree)."""

    __slots__ = ("begun", "name", "stages")

    def __init__(self, stages: dict[str, float], name: str) -> None:
        self.stages, self.name = stages, name

    def __enter__(self) -> None:
        self.begun = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        self.stages[self.name] += time.perf_counter() - self.begun


class GradientGrower:
    """Grows one tree after another on the same rows; their arrays are made once.

    Parameters
    ----------
    codes : uint8[n, stride], or SparseCodes
        Bins of the rows (``data.bin_rows``); only read.
    bins : Bins
    ordered : bool[p]
        Nominal columns whose bins have an order.
    repeats : int32[n] or None
        Number of rows that each row counts as.
    settings : GradientSettings
    bundles : Bundles, optional
        Of these rows, if they are known.
    """

    def __init__(
        self, codes: Any, bins: Bins, ordered: np.ndarray, repeats: np.ndarray | None, settings: GradientSettings,
        bundles: Bundles | None = None,
    ) -> None:  # fmt: skip
        n, p, is_sparse = len(codes), bins.n_columns, isinstance(codes, SparseCodes)
        if n > MAX_ROWS:
            raise TooLargeError(f"{n} rows: boosting holds at most {MAX_ROWS}; fit on a sample of the rows")
        n_cells = codes.by_row.nnz * 13 if is_sparse else n * p
        check_fits(n_cells + n * 24, f"boosting on {n} rows x {p} columns")
        self.settings, self.n_threads = settings, settings.n_threads
        columns = np.empty((0, n), np.uint8) if is_sparse else columns_of(codes, p)
        if bundles is None:
            bundles = (
                without_bundles(codes, bins, repeats, settings) if is_sparse else bundle(codes, columns, bins.n_bins)
            )
        self.bundles = bundles
        self.stride = bundles.codes.shape[1]
        self.table = table_of(bins, ordered, columns, bundles, settings, codes if is_sparse else None)
        self.row_start, self.places = bundles.row_start, bundles.cells
        self.codes = bundles.codes.reshape(-1)
        self.repeats = np.empty(0, np.int32) if repeats is None else repeats
        self.every_row = np.arange(n, dtype=np.int32)
        self.blocks = [(begin, min(begin + _BLOCK_ROWS, n)) for begin in range(0, n, _BLOCK_ROWS)]
        self.shares = blocks_of(0, n, self.n_threads).tolist()  # of the threads
        self.n_rows = n if repeats is None else int(repeats.sum(dtype=np.int64))
        self.n_leaves, self.width, self.spans = most_leaves(settings, n, self.n_rows), bundles.width, bundles.spans
        self._make_room()

    def _make_room(self) -> None:
        """Make the arrays that are written while a tree grows."""
        n, p, settings = len(self.every_row), len(self.table.n_bins), self.settings
        self.rows = Rows(
            codes=self.codes,
            words=np.empty(n, np.int64),
            repeats=self.repeats,
            order=np.empty(2 * n, np.int32),
            row_start=self.row_start,
            places=self.places,
            cells=np.empty(n if len(self.row_start) else 0, np.uint8),
        )
        self.leaf_of = np.empty(n, np.uint8 if self.n_leaves < 256 else np.int32)
        self.nodes = nodes_for(
            self.n_leaves, is_nominal=bool(self.table.kind.any()), has_groups=settings.interactions is not None
        )
        self.grown = grown_for(self.n_leaves)
        self.growth = growth_for(self.n_leaves, self.spans, needs_all=settings.order == "symmetric")
        self.desk, self.level_desk = desk_for(p), (np.empty(256), np.zeros(256, np.int64), np.zeros(4, np.uint64))
        self.histograms = np.empty((self.n_threads, self.width), np.int64)
        self.stages: dict[str, float] = dict.fromkeys(STAGES, 0.0)

    def another(self) -> GradientGrower:
        """A grower of the same rows with its own arrays, for trees that grow at the same time."""
        other = copy(self)
        other._make_room()
        return other

    def on_one_thread(self) -> GradientGrower:
        """The same grower with the same arrays on one thread, for trees that grow alongside others."""
        other = copy(self)
        other.n_threads, other.histograms, other.shares = 1, self.histograms[:1], [0, len(self.every_row)]
        return other

    def stage(self, name: str) -> _Stage:
        """Add the time that the block takes to a stage's."""
        return _Stage(self.stages, name)

    def grow(
        self,
        gradient: np.ndarray,
        hessian: np.ndarray,
        chosen: np.ndarray | None,
        seed: int,
        max_step: float = np.inf,
    ) -> GradientTree:
        """Grow a tree.

        Parameters
        ----------
        gradient : float32[n]
        hessian : float32[n], >= 0
            Empty if each is 1.
        chosen : int32[m] or None
            The tree's rows, ascending; None for all.
        seed : int, 0 to 2**64 - 1
            Of this tree: decides which columns are sampled.
        max_step : float > 0
            The largest size of a leaf's value.

        Returns
        -------
        GradientTree
        """
        with self.stage("gradients"):
            scales = self._to_words(gradient, hessian)
        limits = limits_of(self.settings, scales, seed, unit_hessian=not len(hessian))
        self.table = table_of_tree(self.table, self.settings.features_per_tree, seed)  # its own pool of columns
        order = self.every_row if chosen is None else chosen
        self.rows.order[: len(order)] = order
        most = max_step * scales.gradient / scales.hessian
        self.nodes.low[0], self.nodes.high[0] = -most, most
        most_cells = _MOST_CELLS_ALONE if self.n_threads == 1 else _MOST_CELLS
        if len(order) * (self.width >> 8) <= most_cells:
            with self.stage("histograms"):
                n, n_leaves = grow_at_once(
                    len(order), chosen is None, most_cells, self.stride, self.table, self.rows, self.nodes, limits,
                    self.growth, self.desk, *self.level_desk, gradient, hessian, scales.hessian / scales.gradient,
                    scales.fine_gradient, scales.fine_hessian, self.settings.l1, self.settings.l2, self.leaf_of,
                    self.grown,
                )  # fmt: skip
        else:
            self._open_root(len(order), limits, is_every_row=chosen is None)
            self._split_all(limits, most_cells)
            if limits.symmetric:
                self._split_levels(limits, most_cells)
            with self.stage("update"):
                n, n_leaves = self._close_tree(gradient, hessian, scales)
        return tree_of_nodes(n, n_leaves, self.nodes, self.grown, self.rows.order)

    def _split_levels(self, limits: Limits, most_cells: int) -> None:
        """Split level by level, each level by one test."""
        first, last = 0, 1
        while last > first and limits.max_depth > self.nodes.depth[first]:
            with self.stage("search"):
                n_waiting = choose_level(
                    first, last, self.table, self.rows, self.nodes, limits, self.growth, self.desk, *self.level_desk
                )
            if not n_waiting:
                return
            self._split_all(limits, most_cells)
            first, last = last, int(self.growth.state[N_NODES])

    def _split_all(self, limits: Limits, most_cells: int) -> None:
        """Split nodes as long as any waits."""
        while True:
            # Small nodes: histograms, search and partition together; a clock outside cannot separate them.
            with self.stage("histograms"):
                node = split_some(
                    most_cells, self.stride, self.table, self.rows, self.nodes, limits, self.growth, self.desk
                )
            if node < 0:
                break
            self._split_large(int(node), limits)
            threads.heed()

    def _to_words(self, gradient: np.ndarray, hessian: np.ndarray) -> Scales:
        """Fill the rows' words; returns the scales."""
        blocks, rows, n_rows = self.blocks, self.rows, self.n_rows
        if len(blocks) == 1:
            return checked(words_at_once(gradient, hessian, rows.repeats, n_rows, rows.words))
        sizes = np.empty((len(blocks), 3))

        def measure(task: int, _thread: int) -> None:
            magnitudes(gradient, hessian, rows.repeats, *blocks[task], sizes[task])

        def pack(task: int, _thread: int) -> None:
            to_words(gradient, hessian, rows.repeats, scales.gradient, scales.hessian, *blocks[task], rows.words)

        threads.run_each(measure, len(blocks), self.n_threads)
        scales = scales_of(sizes, n_rows, unit_hessian=not len(hessian))
        threads.run_each(pack, len(blocks), self.n_threads)
        return scales

    def _sum_up(self, begin: int, end: int, slot: int, *, is_every_row: bool = False) -> None:
        """Write the histogram of some rows into a slot."""
        with self.stage("histograms"):
            sum_up(
                self.rows, self.stride, begin, end, self.histograms, self.growth.slots[slot], is_every_row=is_every_row
            )

    def _open_root(self, n: int, limits: Limits, *, is_every_row: bool) -> None:
        """Begin a tree of ``n`` rows."""
        nodes, growth, rows = self.nodes, self.growth, self.rows
        begin_tree(n, rows, nodes, growth)
        slot = int(free_slot_of(growth))
        self._sum_up(0, n, slot, is_every_row=is_every_row)
        note_total(slot, rows, nodes, growth)
        with self.stage("search"):
            look_at_node(0, slot, self.table, rows, nodes, limits, growth, self.desk)

    def _split_large(self, node: int, limits: Limits) -> None:
        """Split a node on several threads."""
        nodes, growth, rows = self.nodes, self.growth, self.rows
        begin, end = int(nodes.begin[node]), int(nodes.end[node])
        with self.stage("partition"):
            fill_of_node(node, self.table, nodes, self.desk.goes_left)
            if len(rows.row_start):
                write_column(int(nodes.column[node]), begin, end, self.table, rows)
                column = rows.cells
            else:
                column = self.table.columns[nodes.column[node]]
            n_left = part_rows(column, self.desk.goes_left, rows, begin, end, self.n_threads)
            first, smaller, is_wanted = open_node(node, n_left, self.table, rows, nodes, limits, growth)
        if not is_wanted:
            return
        has_parent = nodes.slot[node] >= 0
        for child in (smaller,) if has_parent else (first, first + 1):
            slot = int(free_slot_of(growth))
            self._sum_up(int(nodes.begin[child]), int(nodes.end[child]), slot)
            with self.stage("search"):
                if has_parent:
                    look_at_children(node, child, slot, self.table, rows, nodes, limits, growth, self.desk)
                else:
                    look_at_node(child, slot, self.table, rows, nodes, limits, growth, self.desk)

    def _close_tree(self, gradient: np.ndarray, hessian: np.ndarray, scales: Scales) -> tuple[int, int]:
        """Fill ``grown``; returns the numbers of nodes and leaves."""
        n, grown, settings = int(self.growth.state[N_NODES]), self.grown, self.settings
        n_leaves = list_leaves(n, self.nodes, grown)
        self._note_leaves(grown.begins[:n_leaves], grown.ends[:n_leaves])
        grown.sums[: n_leaves + 1] = self._leaf_sums(n_leaves, gradient, hessian, scales)
        close_tree(
            n, n_leaves, scales.hessian / scales.gradient, scales.fine_gradient, scales.fine_hessian, settings.l1,
            settings.l2, self.table, self.nodes, grown,
        )  # fmt: skip
        return n, n_leaves

    def _note_leaves(self, begins: np.ndarray, ends: np.ndarray) -> None:
        """Fill ``leaf_of``: the position of each row's leaf; for rows outside of the tree that after the last."""
        order, leaf_of = self.rows.order, self.leaf_of
        if self.nodes.end[0] < len(leaf_of):
            leaf_of[:] = len(begins)
        bounds = self._runs_of_leaves(begins, ends)

        def note(task: int, _thread: int) -> None:
            note_leaves(order, begins, ends, bounds[task], bounds[task + 1], leaf_of)

        threads.run_each(note, len(bounds) - 1, self.n_threads)

    def _runs_of_leaves(self, begins: np.ndarray, ends: np.ndarray) -> list[int]:
        """Runs of leaves with about equally many rows each, one per thread if that is faster."""
        if self.n_threads == 1 or len(self.leaf_of) < 2 * _BLOCK_ROWS:
            return [0, len(begins)]
        sizes = (ends - begins).astype(np.int64)
        total = int(sizes.sum())
        k = max(1, min(self.n_threads, total // _BLOCK_ROWS))
        wanted = np.arange(1, k) * (total / k)
        inner = np.searchsorted(np.cumsum(sizes), wanted).tolist()
        return sorted({0, *inner, len(sizes)})

    def _leaf_sums(self, n_leaves: int, gradient: np.ndarray, hessian: np.ndarray, scales: Scales) -> np.ndarray:
        """int64[n_leaves + 1, 2]: exact sums of gradients and hessians, the last of rows outside of the tree."""
        shares = self.shares
        sums = np.zeros((len(shares) - 1, n_leaves + 1, 2), np.int64)

        def add(task: int, _thread: int) -> None:
            leaf_sums(
                self.leaf_of, gradient, hessian, self.repeats, scales.fine_gradient, scales.fine_hessian,
                shares[task], shares[task + 1], sums[task],
            )  # fmt: skip

        threads.run_each(add, len(sums), self.n_threads)
        whole: np.ndarray = sums.sum(axis=0)
        return whole

    def renewed(
        self, tree: GradientTree, leaf_of: np.ndarray, gradient: np.ndarray, hessian: np.ndarray, *, needs_rows: bool
    ) -> GradientTree:
        """A tree grown on other rows, with the values that its leaves have on these rows.

        Parameters
        ----------
        tree : GradientTree
            Grown on some of the rows, or on others.
        leaf_of : int32[n]
            The position of each row's leaf in ``tree.leaves``.
        gradient, hessian
            As in ``grow``.
        needs_rows : bool
            Whether the rows of leaves (``groups``) are needed: sorting them takes as long as all the rest.
        """
        k = len(tree.leaves)
        with self.stage("update"):
            ranges, found = np.zeros((2, k), np.int32), np.empty((2, k))
            if not renew_leaves(
                leaf_of, gradient, hessian, self.repeats, self.n_rows, self.settings.l1, self.settings.l2, tree.bounds,
                np.zeros((k, 2), np.int64), ranges, found,
            ):  # fmt: skip
                refuse_gradients()
            order = np.argsort(leaf_of, kind="stable").astype(np.int32) if needs_rows else tree.order
            return tree._replace(order=order, begins=ranges[0], ends=ranges[1], values=found[0], covers=found[1])

    def add_to_scores(self, values: np.ndarray, scores: np.ndarray) -> None:
        """Add the leaf values of the last grown tree to the scores of its rows.

        Parameters
        ----------
        values : float64[n_leaves]
        scores : float64[n], IN and OUT
        """
        shares = self.shares
        adds = np.zeros(len(values) + 1)  # the last one for rows outside of the tree
        adds[:-1] = values
        if len(shares) == 2:
            add_to_scores(self.leaf_of, adds, 0, len(scores), scores)
            return

        def add(task: int, _thread: int) -> None:
            add_to_scores(self.leaf_of, adds, shares[task], shares[task + 1], scores)

        with self.stage("update"):
            threads.run_each(add, len(shares) - 1, self.n_threads)
