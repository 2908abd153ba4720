"""Growing level after level without leaving compiled code. In: nodes to split. Out: the tree below them.

Caller: grow.grower.

A call of a kernel from Python costs about 10 us with this many arrays, three of them a level: more than the work on a
small table. The steps are those of the grower's own loop; this one returns when it needs room, or when it has worked
long enough for Ctrl-C to wait.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.core.random import mix
from treewright.grow.exact import advance, choose
from treewright.grow.families import place_rows
from treewright.grow.split import open_node, split_nodes


@bare_inner_kernel
def words_needed(columns, nodes, splitting):
    """Words that the level sets of these splits take."""
    n_words = 0
    for k in range(splitting.shape[0]):
        if splitting[k] >= 0 and columns.code_row[nodes.feature[splitting[k]]] >= 0:
            n_words += columns.n_levels[nodes.feature[splitting[k]]] // 64 + 1
    return n_words


@bare_inner_kernel
def collect(nodes, parents, splitting):
    """Children of these parents that have a split, in order, into ``splitting`` int32[>= 2k]; returns how many."""
    n_splitting = 0
    for k in range(parents.shape[0]):
        child = 0 if parents[k] < 0 else nodes.first_child[parents[k]]
        for branch in range(1 if parents[k] < 0 else 2):
            if nodes.feature[child + branch] >= 0:
                splitting[n_splitting] = child + branch
                n_splitting += 1
    return n_splitting


@bare_kernel
def grow_levels(
    stats,
    columns,
    nodes,
    splitting,
    n_splitting,
    n_nodes,
    words,
    n_words,
    limits,
    side,
    drawn,
    gains,
    work,
    cells,
    seed,
):
    """Split nodes, scan their children, and go on with those that have a split.

    Parameters
    ----------
    splitting : int32[2, k], INOUT
        Row 0: the nodes to split; a single -1 stands for "scan the root". On return the nodes that are still to be
        split.
    n_splitting, n_nodes, n_words : int
        How many of each there are. Without nodes the root is opened first.
    words : uint64[2, :], INOUT
    drawn : uint8[0, 0], IN
        Every column may be used.
    gains : float64[p, 2m], scratch
        A level is worked off ``m`` nodes at a time.
    cells : int
        About how many cells may be looked at before returning.
    seed : uint64

    Returns
    -------
    n_splitting, n_nodes, n_words : int
        ``n_splitting`` 0: the tree is grown. Else there was no room for their children, or the cells were used up.
    """
    p = columns.code_row.shape[0]
    if n_nodes == 0:
        nodes.lo[0] = 0
        nodes.hi[0] = columns.order.shape[1]
        nodes.depth[0] = 0
        if nodes.key.shape[0] > 0:
            nodes.key[0] = mix(seed, np.uint64(0))
        if limits.is_monotone:
            nodes.low[0] = -np.inf
            nodes.high[0] = np.inf
        place_rows(stats, columns, nodes.lo[0], nodes.hi[0])
        open_node(stats, np.int64(0), nodes, columns.order[0], limits)
        n_nodes = 1
    while n_splitting > 0 and cells > 0:
        parents = splitting[0, :n_splitting]
        if 2 * n_splitting > splitting.shape[1] or n_nodes + 2 * n_splitting > nodes.lo.shape[0]:
            break
        if n_words + words_needed(columns, nodes, parents) > words.shape[1]:
            break
        n_next = 0
        for start in range(0, n_splitting, gains.shape[1] // 2):
            some = parents[start : min(start + gains.shape[1] // 2, n_splitting)]
            if some[0] >= 0:
                n_nodes, n_words = split_nodes(stats, columns, nodes, some, n_nodes, words, n_words, limits, side, work)
            advance(stats, columns, nodes, some, limits, side, drawn, gains, 0, p, work)
            choose(nodes, some, gains, limits)
            n_next += collect(nodes, some, splitting[1, n_next:])
            for k in range(some.shape[0]):
                cells -= p * (nodes.hi[max(some[k], 0)] - nodes.lo[max(some[k], 0)])
        n_splitting = n_next
        for k in range(n_splitting):  # a slice assigned to a slice costs two seconds of compile time: its error's text
            splitting[0, k] = splitting[1, k]
    return n_splitting, n_nodes, n_words


# The same steps one by one, for large levels on several threads and for best-first growth. Doors of their own: what
# Python does not call needs none, and a door costs half a second of compile time.


@bare_kernel
def split_some(stats, columns, nodes, splitting, n_nodes, words, n_words, limits, side, work):
    """``split.split_nodes``."""
    return split_nodes(stats, columns, nodes, splitting, n_nodes, words, n_words, limits, side, work)


@bare_kernel
def advance_some(stats, columns, nodes, parents, limits, side, drawn, gains, first_column, last_column, work):
    """``exact.advance``."""
    advance(stats, columns, nodes, parents, limits, side, drawn, gains, first_column, last_column, work)


@bare_kernel
def choose_some(nodes, parents, gains, limits, splitting):
    """``exact.choose``, and the children that have a split.

    Returns
    -------
    n_without, n_splitting : int
    """
    n_without = choose(nodes, parents, gains, limits)
    return n_without, collect(nodes, parents, splitting)
