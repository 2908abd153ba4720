"""One tree on rows that lie elsewhere. In: a function that asks those who hold them. Out: ``GradientTree``.

    ask("open", ...)                  the root's rows and histogram
    [take the best node that waits]
        ask("split", ...)             its rows are divided, and those of all nodes that wait behind it
        search both children          as for local rows: the same kernels on the same histograms
    ask("leaf_sums", ...)             exact sums of the leaves

Each row holds the *key* of its node. Keys are assigned when rows are divided, which is before a node is finally split:
nodes that wait are asked for together, since each question goes to all parts and back, and for some of them no leaf is
left in the end. Their rows then count for the leaf above, and the tree is the one that grows node by node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treewright.core import threads
from treewright.data.bins import Bins
from treewright.exceptions import ParameterError, TooLargeError
from treewright.grow.gradient.grower import GradientTree, table_of_tree, tree_of_nodes
from treewright.grow.gradient.layout import (
    N_LEAVES,
    N_NODES,
    N_WAITING,
    NO_COLUMN,
    SCRATCH,
    desk_for,
    grown_for,
    growth_for,
    limits_of,
    most_leaves,
    nodes_for,
    of_columns,
    table_of,
)
from treewright.grow.gradient.leaves import close_tree, list_leaves
from treewright.grow.gradient.rows import subtract
from treewright.grow.gradient.splitting import LOW, begin_search, end_search, next_offer, settle
from treewright.grow.gradient.step import (
    begin_elsewhere,
    fill_of_node,
    free_slot_of,
    give_back_of,
    open_node_elsewhere,
    put_node,
    take_node,
)
from treewright.grow.gradient.words import Scales
from treewright.grow.settings import GradientSettings


@dataclass(frozen=True, eq=False)
class Splits:
    """The division of the rows of some nodes, and the children to sum up.

    Attributes
    ----------
    keys, columns, first_keys : int32[k]
        Of each node; the tested column; the key of the left child (the right child has the next one).
    goes_left : uint8[k, 256]
        1 for each bin that goes left.
    summed : int32[m]
        Keys of the children whose histograms are needed.
    """

    keys: np.ndarray
    columns: np.ndarray
    first_keys: np.ndarray
    goes_left: np.ndarray
    summed: np.ndarray


@dataclass(eq=False)
class _Parted:
    """A node whose rows are already divided: key of its first child, rows of both, histograms by key."""

    first_key: int
    n_rows: tuple[int, int]
    histograms: dict[int, np.ndarray] = field(default_factory=dict)


class GrowerElsewhere:
    """Grows one tree after another on rows that lie elsewhere.

    Parameters
    ----------
    ask : callable
        From the name of a question and its arguments to the answers of all parts.
    bins : Bins
    ordered : bool[p]
        Nominal columns whose bins have an order.
    settings : GradientSettings
    n, n_rows : int
        Rows in all, and their count.
    """

    def __init__(
        self, ask: Callable[..., list[Any]], bins: Bins, ordered: np.ndarray, settings: GradientSettings, n: int,
        n_rows: int,
    ) -> None:  # fmt: skip
        if settings.order == "symmetric":
            raise ParameterError(
                "growth='symmetric' is not available for rows that lie elsewhere, as it has one test per level: "
                "use growth='leaf' or 'level'"
            )
        if n_rows > MOST_ROWS:
            raise TooLargeError(
                f"{n_rows:,} rows: with more than {MOST_ROWS:,} the words of a histogram are too coarse for gradients; "
                "fit on a sample of the rows"
            )
        p = bins.n_columns
        self.ask, self.settings, self.n_rows, self.p = ask, settings, n_rows, p
        alone = of_columns(np.empty((0, 0), np.uint8), bins.n_bins)
        self.table = table_of(bins, ordered, np.empty((p, 0), np.uint8), alone, settings)
        self.n_leaves = n_leaves = most_leaves(settings, n, n_rows)
        self.nodes = nodes_for(
            n_leaves, is_nominal=bool(self.table.kind.any()), has_groups=settings.interactions is not None
        )
        self.grown = grown_for(n_leaves)
        self.growth, self.desk = growth_for(n_leaves, alone.spans, needs_all=False), desk_for(p)

    def grow(self, score: int, scales: Scales, seed: int, max_step: float, *, unit_hessian: bool) -> GradientTree:
        """Grow the tree of a score, whose gradients have these scales; ``leaf_of_key`` then has the leaf of each key.

        Parameters
        ----------
        seed, max_step
            As in ``GradientGrower.grow``.
        unit_hessian : bool
            Whether every hessian is 1.
        """
        nodes, growth = self.nodes, self.growth
        self.limits = limits = limits_of(self.settings, scales, seed, unit_hessian=unit_hessian)
        self.own = table_of_tree(self.table, self.settings.features_per_tree, seed)
        most = max_step * scales.gradient / scales.hessian
        nodes.low[0], nodes.high[0] = -most, most
        self.key_of, self.n_keys, self.parted = {0: 0}, 1, dict[int, _Parted]()
        answers = self.ask("open", score, scales)
        begin_elsewhere(sum(n_rows for n_rows, _ in answers), nodes, growth)
        slot = int(free_slot_of(growth))
        growth.slots[slot] = _added([histogram for _, histogram in answers])
        nodes.total[0] = growth.slots[slot, :256].sum()
        self._look(0, slot)
        while growth.state[N_WAITING] > 0 and growth.state[N_LEAVES] < limits.max_leaves:
            node = int(take_node(nodes, limits, growth))
            if node not in self.parted:
                self._part_with_others(node)
            self._split(node)
            threads.heed()
        return self._tree(score, scales)

    def _part_with_others(self, node: int) -> None:
        """Divide the rows of a node, and of those that wait behind it, as far as there may be leaves for them."""
        nodes, growth, limits = self.nodes, self.growth, self.limits
        waiting = [int(other) for other in growth.heap[: growth.state[N_WAITING]] if int(other) not in self.parted]
        waiting.sort(key=lambda other: (-nodes.gain[other] if limits.by_gain else 0.0, other))
        n_left = limits.max_leaves - int(growth.state[N_LEAVES])
        batch = [node, *waiting[: min(n_left - 1, _MOST_AT_ONCE)]]
        goes_left, summed = np.zeros((len(batch), 256), np.uint8), list[int]()
        first_keys = self.n_keys + 2 * np.arange(len(batch), dtype=np.int32)
        self.n_keys += 2 * len(batch)
        for at, each in enumerate(batch):
            fill_of_node(each, self.own, nodes, goes_left[at])
            if n_left > 1 and nodes.depth[each] + 1 < limits.max_depth:
                first = int(first_keys[at])
                is_left_smaller = 2 * (int(nodes.left[each]) & LOW) <= int(nodes.total[each]) & LOW
                has_histogram = nodes.slot[each] >= 0
                summed += [first if is_left_smaller else first + 1] if has_histogram else [first, first + 1]
        splits = Splits(
            np.array([self.key_of[each] for each in batch], np.int32), nodes.column[batch].astype(np.int32),
            first_keys, goes_left, np.array(summed, np.int32),
        )  # fmt: skip
        answers = self.ask("split", splits, self.n_keys)
        n_rows = _added([of_children for of_children, _ in answers])
        histograms = _added([of_summed for _, of_summed in answers])
        for at, each in enumerate(batch):
            self.parted[each] = _Parted(int(first_keys[at]), (int(n_rows[2 * at]), int(n_rows[2 * at + 1])))
        place_of = {int(key): at for at, first in enumerate(first_keys) for key in (first, first + 1)}
        for histogram, key in zip(histograms, summed, strict=True):
            self.parted[batch[place_of[key]]].histograms[key] = histogram

    def _split(self, node: int) -> None:
        """Split a node whose rows are divided, and search its children."""
        nodes, growth, parted = self.nodes, self.growth, self.parted.pop(node)
        first, is_wanted = open_node_elsewhere(node, *parted.n_rows, self.own, nodes, self.limits, growth)
        first = int(first)
        self.key_of[first], self.key_of[first + 1] = parted.first_key, parted.first_key + 1
        if not is_wanted:
            give_back_of(node, nodes, growth)
            return
        kept = int(nodes.slot[node])
        nodes.slot[node] = -1
        for child in (first, first + 1):
            histogram = parted.histograms.get(self.key_of[child])
            if histogram is None:
                continue
            slot = int(free_slot_of(growth))
            growth.slots[slot] = histogram
            if kept >= 0:
                subtract(growth.slots[kept], growth.slots[slot], growth.spans)
            self._look(child, slot)
        for child in (first, first + 1):
            if self.key_of[child] not in parted.histograms:
                self._look(child, kept)

    def _look(self, node: int, slot: int) -> None:
        """Search a node whose histogram is in a slot; it waits if it can be split, else it needs no histogram."""
        nodes, growth, limits, table, desk = self.nodes, self.growth, self.limits, self.own, self.desk
        histogram = growth.slots[slot]
        n_columns = begin_search(node, histogram, table, nodes, limits, desk)
        while True:
            column, best, is_unsure = next_offer(n_columns, node, histogram, table, nodes, limits, desk)
            if not is_unsure:
                break
            desk.counts[:] = _added(self.ask("count", self.key_of[node], int(column)))
            if settle(column, node, histogram, table, nodes, limits, desk):
                break
        end_search(column, best, node, histogram, table, nodes, limits, desk)
        if slot != SCRATCH:
            nodes.slot[node] = slot
        if nodes.column[node] != NO_COLUMN:
            put_node(node, nodes, limits, growth)
        else:
            give_back_of(node, nodes, growth)

    def _tree(self, score: int, scales: Scales) -> GradientTree:
        """The tree that the nodes hold, with the exact values of its leaves."""
        nodes, n = self.nodes, int(self.growth.state[N_NODES])
        leaves = np.flatnonzero(nodes.first_child[:n] < 0)
        place = {int(leaf): at for at, leaf in enumerate(leaves)}
        self.leaf_of_key = np.zeros(self.n_keys, np.int32)
        for node, at in place.items():
            self.leaf_of_key[self.key_of[node]] = at
            if node in self.parted:  # it was divided in advance, and no leaf was left for it
                first = self.parted[node].first_key
                self.leaf_of_key[[first, first + 1]] = at
        sums = _added(self.ask("leaf_sums", score, self.leaf_of_key, len(leaves), scales))
        grown, k, settings = self.grown, len(leaves), self.settings
        list_leaves(n, nodes, grown)
        grown.sums[:k] = sums[:, :2]
        # The rows of a leaf lie elsewhere; only their number is kept.
        grown.begins[:k], grown.ends[:k] = 0, sums[:, 2]
        close_tree(
            n, k, scales.hessian / scales.gradient, scales.fine_gradient, scales.fine_hessian, settings.l1,
            settings.l2, self.own, nodes, grown,
        )  # fmt: skip
        return tree_of_nodes(n, k, nodes, grown, np.empty(0, np.int32))


MOST_ROWS = 2**28  # half a word for the gradients: a usual one is then eight units
_MOST_AT_ONCE = 63  # nodes: histograms of as many children are held by every part at once


def _added(answers: list[np.ndarray]) -> np.ndarray:
    """The sum of whole numbers, in any order."""
    total = answers[0].copy()
    for answer in answers[1:]:
        total += answer
    return total
