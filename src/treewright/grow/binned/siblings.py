"""Histograms kept for the children. In: a node whose columns were all looked at. Out: those of its children.

Caller: grow.binned.step, grow.binned.frontier.

A parent's sums are those of its children together: the smaller child is added up, the larger one is what is left, in
the parent's own place. Sums are integers, so nothing is rounded.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel
from treewright.grow.binned.layout import FREE, SLOT_ROWS
from treewright.grow.binned.sums import clear_touched, fill, mark_touched


@bare_inner_kernel
def take_slot(growth):
    """A slot that nobody has, all zero; -1 where there is none."""
    if growth.state[FREE] == 0:
        return -1
    growth.state[FREE] -= 1
    return growth.free[growth.state[FREE]]


@bare_inner_kernel
def give_back(growth, slot):
    """Clear a slot and let others have it."""
    histograms = growth.slots[slot]
    for k in range(histograms.shape[0]):
        for at in range(histograms.shape[1]):
            histograms[k, at] = 0
    growth.free[growth.state[FREE]] = slot
    growth.state[FREE] += 1


@bare_inner_kernel
def fill_slot(stats, codes, rows, bins, slot, growth, desk):
    """Add up all columns that the tree may use."""
    n = bins.candidates.shape[0]
    fill(stats, codes, rows, bins.candidates, bins.n_bins, growth.slots[slot], desk.touched)
    for k in range(n):
        for word in range(4):
            desk.touched[k, word] = 0


@bare_inner_kernel
def slot_of(stats, codes, node, nodes, bins, growth, desk):
    """The node's histograms, filled: its own slot, a new one for many rows, or -1."""
    if growth.slot.shape[0] == 0:
        return -1
    slot = np.int64(growth.slot[node])
    if slot < 0 and nodes.hi[node] - nodes.lo[node] >= SLOT_ROWS:
        slot = take_slot(growth)
        if slot >= 0:
            fill_slot(stats, codes, growth.rows[nodes.lo[node] : nodes.hi[node]], bins, slot, growth, desk)
            growth.slot[node] = slot
    if slot >= 0:
        mark_touched(growth.slots[slot], desk.touched, bins.candidates, bins.n_bins, growth.slots.shape[2] // 256)
    return slot


@bare_inner_kernel
def subtract(larger, smaller, n_columns):
    """Take one node's sums from another's."""
    for k in range(n_columns):
        for at in range(larger.shape[1]):
            larger[k, at] -= smaller[k, at]


@bare_inner_kernel
def hand_down(stats, codes, node, nodes, bins, growth, desk):
    """After a split: the parent's slot goes to the larger child, if that may be split and has rows enough."""
    slot = np.int64(growth.slot[node])
    child = np.int64(nodes.first_child[node])
    growth.slot[node] = -1
    growth.slot[child] = -1
    growth.slot[child + 1] = -1
    if slot < 0:
        return
    larger = child if nodes.hi[child] - nodes.lo[child] >= nodes.hi[child + 1] - nodes.lo[child + 1] else child + 1
    smaller = 2 * child + 1 - larger
    if not nodes.is_open[larger] or nodes.hi[larger] - nodes.lo[larger] < SLOT_ROWS:
        give_back(growth, slot)
        return
    rows = growth.rows[nodes.lo[smaller] : nodes.hi[smaller]]
    own = np.int64(-1)
    if nodes.is_open[smaller] and rows.shape[0] >= SLOT_ROWS:
        own = take_slot(growth)
    if own >= 0:
        fill_slot(stats, codes, rows, bins, own, growth, desk)
        subtract(growth.slots[slot], growth.slots[own], bins.candidates.shape[0])
        growth.slot[smaller] = own
    else:
        n = bins.candidates.shape[0]
        fill(stats, codes, rows, bins.candidates, bins.n_bins, desk.histograms, desk.touched)
        subtract(growth.slots[slot], desk.histograms, n)
        for k in range(n):
            clear_touched(desk.histograms[k], desk.touched[k], desk.histograms.shape[1] // 256)
    growth.slot[larger] = slot
