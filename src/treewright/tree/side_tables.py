"""What must hold of the side tables of a tree. In: ``Tree``, levels per column. Out: nothing, or an error.

Caller: ``tree.invariants``, after shapes, links and questions are known to be right. Every table is tiled by its
owners: their parts cover it without holes or overlaps, in any order (a grower that splits the best leaf first hands
parts out in the order of its splits).
"""

from __future__ import annotations

import numpy as np

from treewright.exceptions import ModelFileError
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, Tree
from treewright.tree.model import Missing
from treewright.tree.refuse import refuse

# Agreement and adjusted agreement are quotients of sums of weights.
SHARE_TOLERANCE = 1e-9


def check_tiling(
    name: str, table: str, n_cells: int, nodes: np.ndarray, starts: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """Refuse owners whose parts overlap or leave a hole; return their order along the table.

    Parameters
    ----------
    name, table : str
        What messages call the tree and the cells of the table.
    n_cells : int
        Length of the table.
    nodes, starts, lengths : int[n]
        Per owner its node, its offset and how many cells it needs.
    """
    order = np.argsort(starts, kind="stable")
    ends = np.cumsum(lengths[order])
    wrong = starts[order] != ends - lengths[order]
    if wrong.any():
        owner = int(order[wrong.argmax()])
        raise ModelFileError(
            f"{name}, node {nodes[owner]}: level_set {starts[owner]} overlaps another node's {table} or leaves a gap"
        )
    expected = int(ends[-1]) if len(ends) else 0
    if expected != n_cells:
        raise ModelFileError(f"{name}: {n_cells} {table}, expected {expected}")
    return order


def check_level_sets(tree: Tree, n_levels: np.ndarray, name: str) -> None:
    """Refuse bit sets of nodes and surrogates that do not tile the words, or have bits for levels that are not there.

    Parameters
    ----------
    tree : Tree
    n_levels : int64[p]
    name : str
    """
    own = np.flatnonzero(tree.kind == SUBSET)
    # A set of a surrogate is told by its place -1 already; the others belong here whatever they hold.
    stand_in = np.flatnonzero(tree.surrogate_level_set != -1)
    nodes = np.concatenate([own, tree.surrogate_node[stand_in]])
    starts = np.concatenate([tree.level_set[own], tree.surrogate_level_set[stand_in]]).astype(np.int64)
    levels = n_levels[np.concatenate([tree.feature[own], tree.surrogate_feature[stand_in]])]
    order = check_tiling(name, "words of level sets", len(tree.levels_left), nodes, starts, levels // 64 + 1)
    nodes, levels = nodes[order], levels[order]
    last_word = np.cumsum(levels // 64 + 1) - 1
    # Bit v ("never seen at fit") has a way to go, but cannot have been seen: levels_seen ends one bit earlier.
    allowed_left = np.uint64(2**64 - 1) >> (np.uint64(63) - (levels % 64).astype(np.uint64))
    allowed_seen = allowed_left >> np.uint64(1)
    for field, allowed in (("levels_left", allowed_left), ("levels_seen", allowed_seen)):
        stray = (getattr(tree, field)[last_word] & ~allowed) != 0
        refuse(name, stray, f"{field} has bits beyond the levels of its column", nodes)


def check_level_branch(tree: Tree, n_levels: np.ndarray, name: str) -> None:
    """Refuse entries of ``MULTIWAY`` tests that lead nowhere, and branches that no level leads to.

    Parameters
    ----------
    tree : Tree
    n_levels : int64[p]
    name : str
    """
    nodes = np.flatnonzero(tree.kind == MULTIWAY)
    lengths = n_levels[tree.feature[nodes]] + 1
    starts = tree.level_set[nodes].astype(np.int64)
    order = check_tiling(name, "entries of level_branch", len(tree.level_branch), nodes, starts, lengths)
    nodes, lengths = nodes[order], lengths[order]
    entries = tree.level_branch
    branch = np.where(entries < 0, ~entries, entries).astype(np.int64)
    owner = np.repeat(np.arange(len(nodes)), lengths)
    counts = tree.n_branches[nodes].astype(np.int64)
    refuse(name, branch >= counts[owner], "level_branch leads to a branch that the node does not have", nodes[owner])
    unseen = np.cumsum(lengths) - 1
    refuse(
        name,
        entries[unseen] >= 0,
        "level_branch says that the level never seen at fit was seen (its last entry must be negative)",
        nodes,
    )
    # One flag per branch of these nodes: as many as there are children.
    begins = np.cumsum(counts) - counts
    reached = np.zeros(int(counts.sum()), bool)
    levels = np.ones(len(entries), bool)
    levels[unseen] = False
    reached[begins[owner[levels]] + branch[levels]] = True
    which = np.repeat(np.arange(len(nodes)), counts)
    place = np.arange(len(reached)) - begins[which]
    # Only the branch of missing values needs no level, and then it is the last.
    spare = (place == tree.missing_branch[nodes][which]) & (place == counts[which] - 1)
    refuse(name, ~reached & ~spare, "level_branch lets no level take one of the branches", nodes[which])


def check_cuts(tree: Tree, name: str) -> None:
    """Refuse cuts of ``INTERVALS`` tests that are nan or not ascending, or ``+inf`` and not for missing values."""
    nodes = np.flatnonzero(tree.kind == INTERVALS)
    lengths = tree.n_branches[nodes].astype(np.int64) - 1
    starts = tree.level_set[nodes].astype(np.int64)
    order = check_tiling(name, "cuts", len(tree.cuts), nodes, starts, lengths)
    nodes, lengths = nodes[order], lengths[order]
    owner = np.repeat(nodes, lengths)
    refuse(name, np.isnan(tree.cuts), "one of its cuts is nan", owner)
    refuse(
        name,
        (owner[1:] == owner[:-1]) & (tree.cuts[1:] <= tree.cuts[:-1]),
        "its cuts are not strictly ascending",
        owner[1:],
    )
    # Ascending: only the last cut of a node can be +inf.
    last = tree.cuts[np.cumsum(lengths) - 1] if len(nodes) else np.zeros(0)
    refuse(
        name,
        (last == np.inf) & (tree.missing_branch[nodes] != tree.n_branches[nodes] - 1),
        lambda i: f"its last cut is inf, but missing values take branch {tree.missing_branch[i]}, not the last one",
        nodes,
    )


def check_surrogates(tree: Tree, is_nominal: np.ndarray, missing: Missing, name: str) -> None:
    """Refuse surrogate tests where they have no place, or that no row could be asked.

    Parameters
    ----------
    tree : Tree
    is_nominal : bool[p]
    missing : str
        Surrogates exist under ``"surrogate"`` only.
    name : str
    """
    node, feature = tree.surrogate_node, tree.surrogate_feature
    if not len(node):
        return
    if missing != "surrogate":
        raise ModelFileError(f"{name}: {len(node)} surrogate tests, but missing is {missing!r}: expected none")

    def check(bad: np.ndarray, what: str) -> None:
        refuse(name, bad, what, of="surrogate")

    check((node < 0) | (node >= tree.n_nodes), f"its node is not among the {tree.n_nodes} nodes")
    check(np.concatenate([[False], node[1:] < node[:-1]]), "it stands after a surrogate of a later node")
    check(tree.n_branches[node] != 2, "its node does not have two branches")
    check((feature < 0) | (feature >= len(is_nominal)), f"its feature is not one of {len(is_nominal)} columns")
    check(feature == tree.feature[node], "it asks about the column that it stands in for")
    nominal = is_nominal[feature]
    check(nominal & (tree.surrogate_level_set < 0), "a nominal column needs a level set")
    check(~nominal & (tree.surrogate_level_set != -1), "only a nominal column has a level set")
    check(nominal & (tree.surrogate_threshold.view(np.uint64) != 0), "a level set has threshold 0.0")
    check(np.isnan(tree.surrogate_threshold), "its threshold is nan")
    check(tree.surrogate_flipped > 1, "flipped is neither 0 nor 1")
    agreement, adjusted = tree.surrogate_agreement, tree.surrogate_adjusted
    check(~((agreement >= 0) & (agreement <= 1 + SHARE_TOLERANCE)), "its agreement is not between 0 and 1")
    fits = np.isfinite(adjusted) & (adjusted <= agreement + SHARE_TOLERANCE)
    check(~fits, "its adjusted agreement is not finite, or above its agreement")
