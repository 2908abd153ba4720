"""C4.5's search of one node, compiled. In: a node's instances. Out: gains of all columns. Caller: grow.by_node.c45.

One call a node: most nodes are small, and a call from Python costs more than the work on them.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import kernel
from treewright.grow.by_node.criteria import ENTROPY
from treewright.grow.by_node.scan import LEAVE_OUT, scan_columns, tabulate, weigh_levels


@kernel
def search_c45(
    values,
    ordered_columns,
    level_columns,
    codes,
    level_starts,
    rows,
    weights,
    orders,
    n_present,
    index,
    amounts,
    outputs,
    table,
    stats,
    node_weight,
    least,
    min_leaf,
    close,
    gains,
    infos,
    places,
    tables,
    counts,
):
    """Gains of the best candidate of each column; those of cuts less what the choice among so many costs.

    Parameters
    ----------
    least : Least
        Weight that each side of a cut needs.
    min_leaf : float
        Weight that two branches of a level column need.
    close : float
        Gains, per unit of weight, that differ by no more are equal.
    gains, infos : float64[p], OUT
        Cost taken away (-1 where a column offers nothing), entropy of the division.
    places : int64[3, q], OUT
        Of ordered columns: where the cut lies, where missing rows go, cuts tried.
    tables : float64[n_levels, n_stats], counts : int64[n_levels], INOUT
        Zero on entry; as ``scan.tabulate`` leaves them.
    """
    q = ordered_columns.shape[0]
    k = level_columns.shape[0]
    cut_gains = np.empty(q)
    cut_infos = np.empty(q)
    scan_columns(
        values, ordered_columns, rows, weights, orders, n_present, index, amounts, outputs, ENTROPY, table, stats,
        np.full(q, LEAVE_OUT, np.uint8), 1, least, close * node_weight, cut_gains, places[0], places[1], cut_infos,
        places[2],
    )  # fmt: skip
    for c in range(q):
        gain = cut_gains[c]
        if gain >= 0.0:
            gain -= np.log2(np.float64(max(places[2, c], 1)))
            if gain <= close * node_weight:
                gain = -1.0
        gains[ordered_columns[c]] = gain
        infos[ordered_columns[c]] = cut_infos[c]
    if k == 0:
        return
    level_gains = np.empty(k)
    level_infos = np.empty(k)
    held = np.empty((k, 4))
    tabulate(codes, level_starts, rows, weights, index, amounts, tables, counts)
    weigh_levels(
        tables, counts, level_starts, stats, outputs, ENTROPY, table, True, np.zeros(k, np.uint8), level_gains,
        level_infos, held,
    )  # fmt: skip
    for c in range(k):
        # Two branches need the least weight: the second heaviest tells.
        gains[level_columns[c]] = level_gains[c] if held[c, 3] >= min_leaf - close else -1.0
        infos[level_columns[c]] = level_infos[c]


@kernel
def score_c45(gains, infos, node_weight, is_counted, slack, close, scores):
    """Gain ratios of the columns of at least average gain, and which is taken.

    Parameters
    ----------
    gains, infos : float64[p], IN
        As `search_c45` leaves them.
    is_counted : bool[p], IN
        Columns whose gain counts in the average.
    slack : float
        How far below the average still counts as average.
    scores : float64[p], OUT
        Gain ratio; nan for a column that is out.

    Returns
    -------
    int
        The first column whose ratio is largest within ``close``; -1 without one.
    """
    total = 0.0
    n_counted = 0
    for c in range(gains.shape[0]):
        if gains[c] >= 0.0 and is_counted[c]:
            total += gains[c] / node_weight
            n_counted += 1
    average = total / n_counted if n_counted > 0 else -np.inf
    best = 0.0
    for c in range(gains.shape[0]):
        scores[c] = np.nan
        if gains[c] >= 0.0 and gains[c] / node_weight >= average - slack and infos[c] > 0.0:
            ratio = gains[c] / node_weight / infos[c]
            if ratio > close:
                scores[c] = ratio
                best = max(best, ratio)
    for c in range(gains.shape[0]):
        if scores[c] >= best - close:
            return c
    return -1
