"""Checks of one tree, and of packed trees with their bins.

A tree that passes can be walked without bounds checks: every walk ends at a leaf, every offset is inside its array.
Packed trees that pass can also be unpacked, and each ``Tree`` made from them passes ``check_tree``. Each check may rely
on those before it, so their order matters. None of them needs much more memory than the arrays, whatever they hold:
records are read in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError
from treewright.trees.arrays import (
    BRANCH_FIELDS,
    CUT_FIELDS,
    FIELDS,
    INTERVALS,
    LEAF,
    LEAF_RECORD,
    MAX_NODES,
    MULTIWAY,
    NODE_FIELDS,
    SUBSET,
    SUBSET_RECORD,
    SURROGATE_FIELDS,
    THRESHOLD,
    THRESHOLD_RECORD,
    WORD_FIELDS,
    Missing,
    Tree,
    bits_below,
    child_of,
    children_of,
    column_of,
    cut_of,
    kind_of,
    set_of,
)
from treewright.trees.packed import COUNT_CRITERIA, MEAN_CRITERIA, PackedTrees, leaf_samples_of, leaf_weights_of

if TYPE_CHECKING:
    from treewright.data.bins import Bins

# Another engine may add floating-point weights in another order; fixed-point sums differ by rounding errors.
SUM_TOLERANCE = 1e-6
# Agreement and adjusted agreement are quotients of sums of weights.
SHARE_TOLERANCE = 1e-9


class ColumnFacts(NamedTuple):
    """The part of a schema that the checks need, once per model rather than once per tree."""

    is_nominal: np.ndarray  # bool[p]
    is_numeric: np.ndarray  # bool[p]
    n_levels: np.ndarray  # int64[p]


def column_facts(schema: Schema) -> ColumnFacts:
    """Return the facts of a schema as arrays."""
    return ColumnFacts(
        np.array([column.kind == "nominal" for column in schema.columns], bool),
        np.array([column.kind == "numeric" for column in schema.columns], bool),
        np.array([len(column.levels) for column in schema.columns], np.int64),
    )


def check_tree(
    tree: Tree,
    schema: Schema,
    n_values: int,
    *,
    n_classes: tuple[int, ...] = (),
    missing: Missing = "direction",
    name: str = "tree",
) -> None:
    """Refuse a tree that breaks an invariant of ``trees.arrays``; ModelFileError names the first such node.

    Parameters
    ----------
    n_values : int >= 1
        Width of ``tree.value``.
    n_classes : tuple of int, optional
        Classes per output if the values are weighted class counts; then they must not be negative and must add up.
    missing : str
        Only ``"surrogate"`` has surrogate tests, and only under ``"fractional"`` may the branches of a node hold
        more rows than the node, as one row can be in several.
    """
    check_arrays(tree, column_facts(schema), n_values, n_classes, missing, name)


def check_arrays(
    tree: Tree, columns: ColumnFacts, n_values: int, n_classes: tuple[int, ...], missing: Missing, name: str
) -> None:
    """Refuse a tree that breaks an invariant; parameters as in ``check_tree``."""
    check_shapes(tree, n_values, name)
    check_links(tree, name)
    check_node_tests(tree, columns, name)
    check_surrogates(tree, columns.is_nominal, missing, name)
    check_level_sets(tree, columns.n_levels, name)
    check_level_branch(tree, columns.n_levels, name)
    check_cuts(tree, name)
    empty = check_amounts(tree, name)
    check_sums(tree, fractional=missing == "fractional", name=name)
    check_empty_leaves(tree, empty, name)
    check_values(tree, n_classes, empty, name)


def refuse(
    name: str, bad: np.ndarray, what: str | Callable[[int], str], places: np.ndarray | None = None, *, of: str = "node"
) -> None:
    """Raise on the first True in ``bad``, bool[n], in the words of ``what`` for the place.

    Position ``i`` of ``bad`` is about ``places[i]``, or about ``i``; ``of`` is the name of a place, such as "node".
    """
    if not bad.any():
        return
    place = int(bad.argmax()) if places is None else int(places[bad.argmax()])
    raise ModelFileError(f"{name}, {of} {place}: {what if isinstance(what, str) else what(place)}")


def check_shapes(tree: Tree, n_values: int, name: str) -> None:
    """Refuse wrong dtypes and lengths."""
    for field, dtype in FIELDS.items():
        array = getattr(tree, field)
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            raise ModelFileError(f"{name}: {field} is not an array of {dtype}")
    if tree.kind.ndim != 1 or not 1 <= tree.n_nodes < 2**31:
        raise ModelFileError(f"{name}: kind has shape {tree.kind.shape}: expected one axis of 1 to 2**31 - 1 nodes")
    for field in NODE_FIELDS:
        expected = (tree.n_nodes, n_values) if field == "value" else (tree.n_nodes,)
        if getattr(tree, field).shape != expected:
            raise ModelFileError(f"{name}: {field} has shape {getattr(tree, field).shape}, expected {expected}")
    for table in (WORD_FIELDS, BRANCH_FIELDS, CUT_FIELDS, SURROGATE_FIELDS):
        first, *others = table
        shape = getattr(tree, first).shape
        if len(shape) != 1:
            raise ModelFileError(f"{name}: {first} has shape {shape}, expected one axis")
        for field in others:
            if getattr(tree, field).shape != shape:
                raise ModelFileError(f"{name}: {first} has shape {shape}, {field} {getattr(tree, field).shape}")


def check_links(tree: Tree, name: str) -> None:
    """Refuse nodes without exactly one earlier parent: then the root leads to every node and every walk ends."""
    kind, n_nodes, n_branches = tree.kind, tree.n_nodes, tree.n_branches
    refuse(name, kind > INTERVALS, lambda i: f"kind {kind[i]} is not known")
    leaf = kind == LEAF
    refuse(name, leaf & (n_branches != 0), lambda i: f"{n_branches[i]} branches, expected 0")
    # The third branch of these two kinds is for missing values alone.
    two = (kind == THRESHOLD) | (kind == SUBSET)
    third = (n_branches == 3) & (tree.missing_branch == 2)
    refuse(
        name,
        two & (n_branches != 2) & ~third,
        lambda i: f"{n_branches[i]} branches, expected 2, or 3 with missing_branch 2",
    )
    refuse(name, ~leaf & (n_branches < 2), lambda i: f"{n_branches[i]} branches, expected 2 or more")
    refuse(
        name, leaf & (tree.first_child != -1), lambda i: f"a leaf has first_child {tree.first_child[i]}, expected -1"
    )
    inner = np.flatnonzero(~leaf)
    first = tree.first_child[inner].astype(np.int64)
    ends = first + n_branches[inner]
    refuse(name, first <= inner, lambda i: f"first_child {tree.first_child[i]} is not after its parent", inner)
    refuse(
        name,
        ends > n_nodes,
        lambda i: (
            f"children {tree.first_child[i]} {'and' if n_branches[i] == 2 else 'to'} "
            f"{int(tree.first_child[i]) + int(n_branches[i]) - 1} are not among the {n_nodes} nodes"
        ),
        inner,
    )
    # Counted from starts and ends, not child by child: hostile branches may overlap a billionfold.
    steps = np.bincount(first, minlength=n_nodes + 1) - np.bincount(ends, minlength=n_nodes + 1)
    parents = np.cumsum(steps[:-1])
    parents[0] += 1
    refuse(name, parents != 1, lambda i: f"{parents[i]} parents, expected 1")


def check_node_tests(tree: Tree, columns: ColumnFacts, name: str) -> None:
    """Refuse a test that does not fit its column, and anything but fillers in nodes without one."""
    n_columns, kind, feature = len(columns.n_levels), tree.kind, tree.feature
    leaf = kind == LEAF
    refuse(name, leaf & (feature != -1), lambda i: f"a leaf has feature {feature[i]}, expected -1")
    refuse(
        name,
        ~leaf & ((feature < 0) | (feature >= n_columns)),
        lambda i: f"feature {feature[i]} is not one of {n_columns} columns",
    )
    inner = np.flatnonzero(~leaf)
    tested = kind[inner]
    nominal, numeric = columns.is_nominal[feature[inner]], columns.is_numeric[feature[inner]]
    fits = np.where(nominal, (tested == SUBSET) | (tested == MULTIWAY), (tested == THRESHOLD) | (tested == INTERVALS))
    fits |= ~nominal & ~numeric & (tested == MULTIWAY)
    refuse(name, ~fits, lambda i: f"its kind of test does not fit the kind of column {feature[i]}", inner)
    cut = kind == THRESHOLD
    refuse(name, cut & np.isnan(tree.threshold), "the threshold is nan")
    # Bits, not values: -0.0 would be a second way to write the same tree.
    refuse(
        name,
        ~cut & (tree.threshold.view(np.uint64) != 0),
        lambda i: f"threshold {tree.threshold[i]} at a node without a threshold test, expected 0.0",
    )
    refuse(
        name,
        (leaf | cut) & (tree.level_set != -1),
        lambda i: f"level_set {tree.level_set[i]} at a node that needs no side table, expected -1",
    )
    highest = np.where(leaf, 0, tree.n_branches - 1)
    refuse(
        name,
        (tree.missing_branch < 0) | (tree.missing_branch > highest),
        lambda i: f"missing_branch {tree.missing_branch[i]}, expected 0 to {highest[i]}",
    )


def check_surrogates(tree: Tree, is_nominal: np.ndarray, missing: Missing, name: str) -> None:
    """Refuse surrogate tests in models without them, and those that do not fit their node or column."""
    node, feature = tree.surrogate_node, tree.surrogate_feature
    if not len(node):
        return
    if missing != "surrogate":
        raise ModelFileError(f"{name}: {len(node)} surrogate tests, but missing is {missing!r}: expected none")

    def check(bad: np.ndarray, what: str) -> None:
        refuse(name, bad, what, of="surrogate")

    check((node < 0) | (node >= tree.n_nodes), f"its node is not among the {tree.n_nodes} nodes")
    check(np.concatenate([[False], node[1:] < node[:-1]]), "it comes after a surrogate of a later node")
    check(tree.n_branches[node] != 2, "its node does not have two branches")
    check((feature < 0) | (feature >= len(is_nominal)), f"its feature is not one of {len(is_nominal)} columns")
    check(feature == tree.feature[node], "it tests the same column as its node")
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


def check_tiling(
    name: str, table: str, n_cells: int, nodes: np.ndarray, starts: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """Refuse owners whose parts overlap or leave a hole in a table of ``n_cells``; return their order along the table.

    ``nodes``, ``starts`` and ``lengths`` int[n] have per owner its node, its offset and how many cells it needs.
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
    """Refuse bit sets of nodes and surrogates that do not tile the words, or have bits beyond the levels."""
    own = np.flatnonzero(tree.kind == SUBSET)
    # A set of a surrogate is known by its place -1 already; the others belong here whatever they hold.
    stand_in = np.flatnonzero(tree.surrogate_level_set != -1)
    nodes = np.concatenate([own, tree.surrogate_node[stand_in]])
    starts = np.concatenate([tree.level_set[own], tree.surrogate_level_set[stand_in]]).astype(np.int64)
    levels = n_levels[np.concatenate([tree.feature[own], tree.surrogate_feature[stand_in]])]
    order = check_tiling(name, "words of level sets", len(tree.levels_left), nodes, starts, levels // 64 + 1)
    nodes, levels = nodes[order], levels[order]
    last_word = np.cumsum(levels // 64 + 1) - 1
    # Bit v ("never seen at fit") has a branch, but cannot have been seen: levels_seen ends one bit earlier.
    allowed_left = np.uint64(2**64 - 1) >> (np.uint64(63) - (levels % 64).astype(np.uint64))
    allowed_seen = allowed_left >> np.uint64(1)
    for field, allowed in (("levels_left", allowed_left), ("levels_seen", allowed_seen)):
        stray = (getattr(tree, field)[last_word] & ~allowed) != 0
        refuse(name, stray, f"{field} has bits beyond the levels of its column", nodes)


def check_level_branch(tree: Tree, n_levels: np.ndarray, name: str) -> None:
    """Refuse entries of ``MULTIWAY`` tests that lead nowhere, and branches that no level leads to."""
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
    """Refuse cuts of ``INTERVALS`` tests that are nan or not ascending, or ``+inf`` but not for missing values."""
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


def check_amounts(tree: Tree, name: str) -> np.ndarray:
    """Refuse samples, weights and impurities out of range; return bool[n_nodes], the leaves without training rows."""
    empty = (tree.kind == LEAF) & (tree.n_samples == 0) & (tree.weight.view(np.uint64) == 0)
    empty[0] = False
    refuse(
        name,
        ~empty & (tree.n_samples < 1),
        lambda i: f"n_samples is {tree.n_samples[i]}, expected at least 1 (or 0 with weight 0.0 at a leaf)",
    )
    refuse(
        name,
        ~empty & ~((tree.weight > 0) & np.isfinite(tree.weight)),
        lambda i: f"weight is {tree.weight[i]}, expected a finite number above 0",
    )
    refuse(
        name,
        ~((tree.impurity >= 0) & np.isfinite(tree.impurity)),
        lambda i: f"impurity is {tree.impurity[i]}, expected a finite number, at least 0",
    )
    return empty


def check_sums(tree: Tree, *, fractional: bool, name: str) -> None:
    """Refuse children whose rows or weights do not add up to their parent's."""
    inner = np.flatnonzero(tree.kind != LEAF)
    if not len(inner):
        return
    counts = tree.n_branches[inner].astype(np.int64)
    below, begins = children_of(tree, inner), np.cumsum(counts) - counts
    samples = np.add.reduceat(tree.n_samples[below], begins)
    own = tree.n_samples[inner]
    # The whole numbers may have wrapped around; their sum as floating-point numbers tells.
    about = np.add.reduceat(tree.n_samples[below].astype(np.float64), begins)
    if fractional:
        # A row with a missing value is in several branches, but never in one of them twice.
        more = np.maximum.reduceat(tree.n_samples[below], begins) > own
        refuse(name, more, lambda i: f"n_samples is {tree.n_samples[i]}, but a child has more", inner)
        fewer = about < own * (1 - SUM_TOLERANCE)
        refuse(
            name,
            fewer | ((about < 2.0**53) & (samples < own)),
            lambda i: f"n_samples is {tree.n_samples[i]}, but its children have fewer together",
            inner,
        )
    else:
        refuse(
            name,
            (samples != own) | (np.abs(about - own) > SUM_TOLERANCE * own),
            lambda i: f"n_samples is {tree.n_samples[i]}, but not the sum of its children's",
            inner,
        )
    with np.errstate(over="ignore"):  # a sum that overflows cannot equal its parent, which is positive and finite
        off = np.abs(np.add.reduceat(tree.weight[below], begins) - tree.weight[inner])
    refuse(
        name,
        np.isnan(off) | (off > SUM_TOLERANCE * tree.weight[inner]),
        lambda i: f"weight is {tree.weight[i]}, but not the sum of its children's",
        inner,
    )


def check_empty_leaves(tree: Tree, empty: np.ndarray, name: str) -> None:
    """Refuse a leaf without training rows that does not predict like its parent."""
    if not empty.any():
        return
    inner = np.flatnonzero(tree.kind != LEAF)
    parent = np.zeros(tree.n_nodes, np.int64)
    parent[children_of(tree, inner)] = np.repeat(inner, tree.n_branches[inner])
    leaves = np.flatnonzero(empty)
    # Bits: the leaf's numbers are copies.
    for field in ("value", "impurity"):
        what = f"a leaf without training rows has a different {field} from its parent"
        cells = np.ascontiguousarray(getattr(tree, field)).reshape(tree.n_nodes, -1).view(np.uint64)
        refuse(
            name,
            (cells[leaves] != cells[parent[leaves]]).any(axis=1),
            what,
            leaves,
        )


def check_values(tree: Tree, n_classes: tuple[int, ...], empty: np.ndarray, name: str) -> None:
    """Refuse values that are not finite, and class counts that are negative or do not add up to the weight."""
    refuse(name, ~np.isfinite(tree.value).all(axis=1), "a value is not finite")
    if not n_classes:
        return
    refuse(name, tree.value.min(axis=1) < 0, "a class count is negative")
    starts = np.cumsum((0, *n_classes[:-1]))
    with np.errstate(over="ignore"):
        totals = np.add.reduceat(tree.value, starts, axis=1)
    off = np.abs(totals - tree.weight[:, None]).max(axis=1)
    refuse(
        name,
        ~empty & (off > SUM_TOLERANCE * tree.weight),
        lambda i: f"its class counts add up to {totals[i].tolist()}, but its weight is {tree.weight[i]}",
    )


NAME = "packed trees"
BLOCK = 1 << 17  # records: their parts stay in the cache
_LEAF_BITS = ((1 << 32) - 1) ^ 3  # of a leaf: all 0
_LARGEST_ROWS, _LARGEST_WEIGHT = 2.0**62, 1e300  # of a tree: sums that stay in range in any order
_WHOLE = 2.0**53  # weights beyond are not counts of rows
# Number of axes of an array and the dtypes it may have.
SHAPES: dict[str, tuple[int, tuple[type, ...]]] = {
    "records": (1, (np.int64,)),
    "roots": (1, (np.int64,)),
    "sets": (2, (np.uint64,)),
    "seen": (2, (np.uint64,)),
    "set_column": (1, (np.int32,)),
    "leaf_value": (2, (np.float32, np.float64)),
    "leaf_weight": (1, (np.float32, np.float64)),
    "leaf_impurity": (1, (np.float32, np.float64)),
    "leaf_samples": (1, (np.int64,)),
    "importances": (2, (np.float64,)),
}
MAX_BINS = 255  # ``data.bins.MAX_BINS``, which brings Numba
BIN_DTYPES = {
    "is_nominal": np.bool_,
    "n_bins": np.int32,
    "start": np.int64,
    "lowest": np.float64,
    "highest": np.float64,
    "level_start": np.int64,
    "level_bin": np.uint8,
}


def check_packed(packed: PackedTrees, columns: ColumnFacts, n_values: int, n_classes: tuple[int, ...]) -> None:
    """Refuse packed trees that break an invariant of ``trees.packed``; ``n_values`` is the width of the leaf table."""
    check_bins(packed.bins, columns)
    criteria = COUNT_CRITERIA if n_classes else MEAN_CRITERIA
    if packed.n_classes != n_classes:
        raise ModelFileError(f"{NAME}: made for {packed.n_classes} classes, but the model has {n_classes}")
    if packed.criterion not in criteria:
        raise ModelFileError(f"{NAME}: criterion {packed.criterion[:40]!r} is not one of {', '.join(criteria)}")
    _check_shapes(packed, n_values)
    _check_roots(packed)
    _check_sets(packed)
    _check_records(packed)
    _check_leaves(packed, n_classes)
    _check_sums(packed)
    if packed.criterion == "gradient":
        _check_gains(packed)
    else:
        _check_importances(packed.importances)


def _check_shapes(packed: PackedTrees, n_values: int) -> None:
    """Check dtypes, axes and lengths."""
    for name, array in packed.arrays().items():
        n_axes, dtypes = SHAPES[name]
        if array.dtype not in dtypes or array.ndim != n_axes:
            kinds = " or ".join(np.dtype(dtype).name for dtype in dtypes)
            raise ModelFileError(f"{NAME}: {name} is not an array of {kinds} with {n_axes} axes")
    n_sets, n_rows = len(packed.set_column), len(packed.leaf_value)
    means = 0 if packed.n_classes else n_rows
    expected = {
        "sets": (n_sets, 4),
        "seen": (n_sets, 4),
        "leaf_value": (n_rows, n_values),
        "leaf_weight": (means,),
        "leaf_impurity": (means,),
        "importances": (packed.n_trees, packed.bins.n_columns),
    }
    for name, axes in expected.items():
        if getattr(packed, name).shape != axes:
            raise ModelFileError(f"{NAME}: {name} has shape {getattr(packed, name).shape}, expected {axes}")
    if len(packed.leaf_samples) not in (0, n_rows):
        raise ModelFileError(f"{NAME}: leaf_samples has {len(packed.leaf_samples)} entries, expected 0 or {n_rows}")
    if packed.leaf_weight.dtype != packed.leaf_impurity.dtype:
        raise ModelFileError(f"{NAME}: leaf_weight and leaf_impurity have two dtypes")
    if not packed.n_classes and packed.leaf_value.dtype != np.float64:
        raise ModelFileError(f"{NAME}: predictions are {packed.leaf_value.dtype}, expected float64")
    if packed.n_classes and packed.leaf_weight.dtype != np.float32:
        raise ModelFileError(f"{NAME}: leaf_weight is empty and {packed.leaf_weight.dtype}, expected float32")


def _check_roots(packed: PackedTrees) -> None:
    """Check that trees follow one another and each has a node."""
    n_nodes, roots = packed.n_nodes, packed.roots
    if not 1 <= n_nodes <= MAX_NODES:
        raise ModelFileError(f"{NAME}: {n_nodes} nodes, expected 1 to 2**31 - 1")
    # Compared, not subtracted: a difference of hostile numbers may overflow.
    is_complete = len(roots) > 1 and roots[0] == 0 and roots[-1] == n_nodes
    if not is_complete or (roots[1:] <= roots[:-1]).any():
        raise ModelFileError(f"{NAME}: roots do not divide {n_nodes:,} nodes")


def _check_sets(packed: PackedTrees) -> None:
    """Check that sets hold only bins of their columns."""
    column, bins = packed.set_column, packed.bins
    outside = (column < 0) | (column >= bins.n_columns)
    refuse(NAME, outside, lambda i: f"column {column[i]} is not one of {bins.n_columns}", of="set")
    refuse(NAME, ~bins.is_nominal[column], lambda i: f"column {column[i]} is not nominal", of="set")
    n_bins = bins.n_bins[column].astype(np.int64)
    # Bin n_bins holds levels without rows: they have a branch, but none was seen.
    for name, n_bits in (("sets", n_bins + 1), ("seen", n_bins)):
        stray = (getattr(packed, name) & ~bits_below(n_bits)).any(axis=1)
        refuse(NAME, stray, f"{name} has bits beyond the bins of its column", of="set")


def _blocks(packed: PackedTrees) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Records block by block: their positions and themselves."""
    for begin in range(0, packed.n_nodes, BLOCK):
        records = packed.records[begin : begin + BLOCK]
        yield np.arange(begin, begin + len(records)), records


def _ends(packed: PackedTrees, places: np.ndarray) -> np.ndarray:
    """int64[k]: where the tree of each of some neighbouring nodes ends."""
    first, last = np.searchsorted(packed.roots, [places[0], places[-1]], "right")
    ends = packed.roots[first : last + 1]
    steps = np.minimum(ends, places[-1] + 1) - np.maximum(packed.roots[first - 1 : last], places[0])
    return np.repeat(ends, steps)


def _check_records(packed: PackedTrees) -> None:
    """Check kinds, columns, cuts and children; every node but a root has one parent, every set and leaf row is used."""
    bins, n_rows = packed.bins, len(packed.leaf_value)
    lasts = np.where(bins.is_nominal, -1, bins.n_bins - 1)
    reached = np.zeros(packed.n_nodes, bool)
    used = np.zeros(n_rows, bool)
    n_sets = n_inner = 0
    for places, records in _blocks(packed):
        refuse(NAME, (records < 0) | (kind_of(records) > SUBSET_RECORD), "its record has an unknown kind", places)
        kind, child = kind_of(records), child_of(records)
        at = np.flatnonzero(kind == LEAF_RECORD)
        refuse(NAME, (records[at] & _LEAF_BITS) != 0, "a leaf with bits of a test", places[at])
        refuse(NAME, child[at] >= n_rows, f"its leaf row is not one of {n_rows}", places[at])
        used[child[at]] = True
        at = np.flatnonzero(kind == THRESHOLD_RECORD)
        column = column_of(records[at])
        refuse(NAME, column >= bins.n_columns, f"its column is not one of {bins.n_columns}", places[at])
        refuse(NAME, cut_of(records[at]) > lasts[column], "its cut is not at a bin of a numeric column", places[at])
        at = np.flatnonzero(kind == SUBSET_RECORD)
        wrong = set_of(records[at]) != np.arange(n_sets, n_sets + len(at))
        refuse(NAME, wrong, "its set is not the next one", places[at])
        n_sets += len(at)
        at = np.flatnonzero(kind != LEAF_RECORD)
        inner, first = places[at], child[at]
        refuse(NAME, first <= inner, "its children are not after it", inner)
        refuse(NAME, first + 2 > _ends(packed, places)[at], "its children are not in its tree", inner)
        reached[first] = True
        reached[first + 1] = True
        n_inner += len(at)
    if n_sets != len(packed.set_column):
        raise ModelFileError(f"{NAME}: {n_sets} subset tests, but {len(packed.set_column)} sets")
    reached[packed.roots[:-1]] ^= True
    refuse(NAME, ~reached, "it has no parent and is not a root, or is a root and has one")
    # As many children as nodes that are not a root, and all of them reached: none is reached twice.
    if 2 * n_inner != packed.n_nodes - packed.n_trees:
        raise ModelFileError(f"{NAME}: some nodes have two parents")
    refuse(NAME, ~used, "no leaf needs it", of="leaf row")


def _check_leaves(packed: PackedTrees, n_classes: tuple[int, ...]) -> None:
    """Check leaf rows: finite numbers, counts that are not negative and add up, weights above 0, at least one row."""
    value, of = packed.leaf_value, "leaf row"
    refuse(NAME, ~np.isfinite(value).all(axis=1), "a value is not finite", of=of)
    if n_classes:
        # Bits: -0.0 would be a second way to write the same counts.
        refuse(NAME, np.signbit(value).any(axis=1), "a class count is negative", of=of)
    with np.errstate(over="ignore", invalid="ignore"):
        weight = leaf_weights_of(packed)
        refuse(NAME, ~((weight > 0) & np.isfinite(weight)), "its weight is not a finite number above 0", of=of)
        begin = 0
        for count in n_classes:
            off = np.abs(value[:, begin : begin + count].sum(axis=1, dtype=np.float64) - weight)
            refuse(NAME, ~(off <= SUM_TOLERANCE * weight), "the class counts of its outputs differ in sum", of=of)
            begin += count
    if not n_classes:
        impurity = packed.leaf_impurity
        bad = ~((impurity >= 0) & (impurity < np.inf)) | np.signbit(impurity)
        refuse(NAME, bad, "its impurity is not a finite number, at least 0", of=of)
        if packed.criterion == "poisson":
            refuse(NAME, value.min(axis=1) < 0, "its prediction is negative", of=of)
    if len(packed.leaf_samples):
        refuse(NAME, packed.leaf_samples < 1, "it has no training rows", of=of)
    else:
        refuse(NAME, (weight != np.rint(weight)) | (weight > _WHOLE), "its weight is not a row count", of=of)


def _check_sums(packed: PackedTrees) -> None:
    """Check that the sums of rows and weights of every tree are in range."""
    weight, samples = leaf_weights_of(packed), leaf_samples_of(packed).astype(np.float64)
    sums = np.zeros((2, packed.n_trees))
    with np.errstate(over="ignore"):
        for places, records in _blocks(packed):
            at = np.flatnonzero(kind_of(records) == LEAF_RECORD)
            rows = child_of(records[at])
            first = int(np.searchsorted(packed.roots, places[0], "right")) - 1
            tree = np.searchsorted(packed.roots, places[at], "right") - 1 - first
            for total, amount in zip(sums, (weight, samples), strict=True):
                added = np.bincount(tree, amount[rows])
                total[first : first + len(added)] += added
    refuse(NAME, ~(sums[0] <= _LARGEST_WEIGHT), "its weights add up to more than 1e300", of="tree")
    refuse(NAME, sums[1] > _LARGEST_ROWS, "its leaves have more rows than can be counted", of="tree")


def _check_gains(packed: PackedTrees) -> None:
    """Check that gains have a finite sum and that leaves have impurity 0."""
    refuse(NAME, packed.leaf_impurity != 0, "its impurity is not 0, though the criterion is gradient", of="leaf row")
    gains = packed.importances
    bad = np.signbit(gains) | ~(gains <= _LARGEST_WEIGHT / gains.size)
    refuse(NAME, bad.any(axis=1), "a gain is not a number, at least 0, whose sum stays finite", of="tree")


def _check_importances(importances: np.ndarray) -> None:
    """Check that importances are shares that add up to 1, or all 0."""
    bad = np.signbit(importances) | ~(importances <= 1 + SUM_TOLERANCE)
    refuse(NAME, bad.any(axis=1), "an importance is not a share", of="tree")
    total = importances.sum(axis=1)
    refuse(NAME, (total != 0) & ~(np.abs(total - 1) <= SUM_TOLERANCE), "its importances do not add up to 1", of="tree")


def check_bins(bins: Bins, columns: ColumnFacts) -> None:
    """Refuse bins that do not fit the columns or are out of order."""
    for name, dtype in BIN_DTYPES.items():
        array = getattr(bins, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise ModelFileError(f"bins: {name} is not an array of {np.dtype(dtype).name} with one axis")
    p, of = len(columns.n_levels), "column"
    if len(bins.is_nominal) != p or len(bins.n_bins) != p:
        raise ModelFileError(f"bins: {len(bins.n_bins)} columns, but the model has {p}")
    nominal = bins.is_nominal
    refuse("bins", nominal != columns.is_nominal, "bins and schema differ in whether it is nominal", of=of)
    # A nominal column needs one more number, for levels without rows; 255 is that of a missing cell.
    most = np.where(nominal, MAX_BINS - 1, MAX_BINS)
    refuse("bins", (bins.n_bins < 0) | (bins.n_bins > most), lambda i: f"{bins.n_bins[i]} bins", of=of)
    _check_starts("start", bins.start, np.where(nominal, 0, bins.n_bins), len(bins.lowest))
    _check_starts("level_start", bins.level_start, np.where(nominal, columns.n_levels + 1, 0), len(bins.level_bin))
    if len(bins.highest) != len(bins.lowest):
        raise ModelFileError(f"bins: {len(bins.lowest)} lowest and {len(bins.highest)} highest values")
    # A comparison with nan is false.
    refuse("bins", ~(bins.lowest <= bins.highest), "its highest value is below its lowest", of="bin")
    rises = np.ones(len(bins.lowest), bool)
    rises[1:] = bins.highest[:-1] < bins.lowest[1:]
    rises[bins.start[:-1][bins.start[:-1] < len(rises)]] = True
    refuse("bins", ~rises, "it does not begin above the one before", of="bin")
    counts = bins.n_bins[nominal]
    beyond = bins.level_bin > np.repeat(counts, columns.n_levels[nominal] + 1)
    refuse("bins", beyond, "its bin is not one of its column", of="level")
    unseen = bins.level_bin[bins.level_start[1:][nominal] - 1]
    refuse("bins", unseen != counts, "a level never seen is in a bin with rows", np.flatnonzero(nominal), of=of)


def _check_starts(name: str, starts: np.ndarray, lengths: np.ndarray, n_cells: int) -> None:
    """Refuse offsets that are not the running sum of the lengths, or do not end where the cells do."""
    expected = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if len(starts) != len(expected) or (starts != expected).any() or expected[-1] != n_cells:
        raise ModelFileError(f"bins: {name} does not divide {n_cells:,} cells among the columns as it must")
