"""What each column of a tree gains on some rows: a kernel. In: sums of leaves. Out: gains. Caller: forest.importance.

A tree's sums go up from its leaves: children stand behind their parents, so one pass from the last node to the first
has both children ready at every parent. No recursion: a tree may be as deep as it likes.
"""

from __future__ import annotations

from treewright.core.jit import kernel
from treewright.tree.records import CHILD_SHIFT, COLUMN_SHIFT, MAX_COLUMNS, MAX_SETS, SET_SHIFT, SUBSET_RECORD

_KIND_MASK = 3
_COLUMN_MASK = MAX_COLUMNS - 1
_SET_MASK = MAX_SETS - 1


@kernel
def add_up_gains(records, first, set_column, inside, weight, outside, gains):
    """Add up the gains of a tree's nodes, each to the column that its node asks.

    A node holds ``outside . inside / weight``: what its judging rows have in common with the mean of its training
    rows. The gain of a split is what its children hold together, less what the node holds.

    Parameters
    ----------
    records : int64[n_nodes], IN
        Of one tree.
    first : int
        What its first record is called in the children's numbers.
    set_column : int32[n_sets], IN
        Of all trees.
    inside : float64[n_nodes, k]
        Sums over the training rows; leaves IN, inner nodes OUT.
    weight : float64[n_nodes]
        Of the training rows, as ``inside``.
    outside : float64[n_nodes, k]
        Sums over the judging rows, as ``inside``.
    gains : float64[p]
        Added to.
    """
    for node in range(len(records) - 1, -1, -1):
        packed = records[node]
        if packed & _KIND_MASK == 0:
            continue
        left = (packed >> CHILD_SHIFT) - first
        weight[node] = weight[left] + weight[left + 1]
        gain = 0.0
        for at in range(inside.shape[1]):
            inside[node, at] = inside[left, at] + inside[left + 1, at]
            outside[node, at] = outside[left, at] + outside[left + 1, at]
            gain += outside[left, at] * (inside[left, at] / weight[left])
            gain += outside[left + 1, at] * (inside[left + 1, at] / weight[left + 1])
            gain -= outside[node, at] * (inside[node, at] / weight[node])
        if packed & _KIND_MASK == SUBSET_RECORD:
            gains[set_column[(packed >> SET_SHIFT) & _SET_MASK]] += gain
        else:
            gains[(packed >> COLUMN_SHIFT) & _COLUMN_MASK] += gain
