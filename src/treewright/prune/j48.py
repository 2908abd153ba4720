"""The steps of C4.5's pruning, and the rows that go down a tree while it is pruned.

The order of the steps, the tolerances and the ties are those of J48 in Weka 3.6. If missing values are divided, a row
without a value takes every branch, in proportion to the weight of the node's rows that have one; the proportions
therefore change when a subtree gets more rows. Otherwise it takes the missing branch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.core.elementary import power
from treewright.core.jit import allocating_inner_kernel, allocating_kernel, inner_kernel, kernel
from treewright.exceptions import ParameterError
from treewright.grow.by_node.candidates import heaviest_of
from treewright.grow.by_node.instances import order_of_sums
from treewright.grow.objective import are_whole
from treewright.predict.route import Branches, branch_of, branches_of
from treewright.prune.costs import leaf_sums
from treewright.prune.methods import Action
from treewright.trees.arrays import MULTIWAY, SUBSET, Tree
from treewright.trees.edit import rebuild

# J48's tolerances: training errors when it collapses, estimated errors when it prunes; and for equal numbers.
_COLLAPSE_SLACK = 1e-3
_PRUNE_SLACK = 0.1
_EQUAL = 1e-6
# The arrays that move with a node when it is raised.
_OF_TEST = ("kind", "feature", "threshold", "first_child", "n_branches", "missing_branch", "level_set")
# Below this weight a distribution counts as empty, as in J48.
NOTHING = 1e-6

Impurity = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.float64]]


class Places(NamedTuple):
    """The nodes of a tree that is being pruned; all arrays are written to.

    ``test_of`` int32[n_nodes]: the node whose test and children each node has: itself at first, another one after a
    subtree was raised. ``begin``, ``end`` int64[n_nodes]: the node's rows are in ``Pool`` from ``begin`` to ``end -
    1``, leaf by leaf; a divided row occurs several times.
    """

    test_of: np.ndarray
    leaf: np.ndarray  # bool[n_nodes]
    begin: np.ndarray
    end: np.ndarray
    counts: np.ndarray  # float64[n_nodes, n_classes]
    n_samples: np.ndarray  # int64[n_nodes]
    errors: np.ndarray  # float64[n_nodes]: estimated errors of the node as a leaf
    seen: np.ndarray  # uint64[n_words]: ``levels_seen`` of the tree; a raised subtree may see more levels


class Pool(NamedTuple):
    """Rows with weights, the rows of one leaf after those of another: ``rows`` int32 and ``weights`` float64 [k]."""

    rows: np.ndarray
    weights: np.ndarray


class Given(NamedTuple):
    """The inputs that stay the same while a tree is pruned."""

    matrix: np.ndarray
    codes: np.ndarray  # int32[n]: classes of the rows
    tables: Branches  # ``level_branch`` is written to where rows settle
    slots: np.ndarray  # int32[n], scratch: -1 everywhere
    limit: Limit
    divides: bool  # whether a row without a value is divided among all branches, instead of taking the missing branch


class Limit(NamedTuple):
    """The confidence of the upper limit of the errors, in (0, 0.5], and the normal deviate ``z`` of one minus it."""

    confidence: float
    z: float


class Step(NamedTuple):
    """One decision.

    ``estimated``: estimated errors as a leaf, of the subtree, of the largest branch with all rows; nan where they did
    not decide.
    """

    node: int  # position of the pruned node in the original tree
    action: Action
    training: tuple[float, float]  # training errors as a leaf, of the subtree; nan where they did not decide
    estimated: tuple[float, float, float]


_NOT_ASKED = float("nan")


def _at_most(a: float, b: float) -> bool:
    """Whether ``a`` is at most ``b``, with J48's tolerance."""
    return a <= b or a - b < _EQUAL


class Pruning:
    """A tree while it is pruned: nodes keep their positions, their tests and children move.

    ``tree``: as it was; ``places``: what the nodes hold now.
    """

    def __init__(self, tree: Tree, limit: Limit) -> None:
        n_nodes = tree.n_nodes
        self.tree, self.limit = tree, limit
        self.steps: list[Step] = []
        self.places = Places(
            test_of=np.arange(n_nodes, dtype=np.int32),
            leaf=tree.is_leaf.copy(),
            begin=np.zeros(n_nodes, np.int64),
            end=np.zeros(n_nodes, np.int64),
            counts=np.zeros(tree.value.shape),
            n_samples=np.zeros(n_nodes, np.int64),
            errors=np.zeros(n_nodes),
            seen=np.array(tree.levels_seen),
        )

    def keep(self) -> None:
        """Use the counts that the tree holds: enough as long as nothing is raised."""
        tree, places = self.tree, self.places
        # A leaf without rows shows what its parent holds; its own errors are none.
        places.counts[:] = np.where(tree.n_samples[:, None] > 0, tree.value, 0.0)
        places.n_samples[:] = tree.n_samples
        estimate_leaves(self.limit, places.counts, places.errors)

    def send(
        self,
        matrix: npt.NDArray[np.floating],
        codes: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float64] | None,
        *,
        divides: bool = True,
    ) -> None:
        """Send the training rows down: computes all counts again, so that subtrees can be raised.

        ``codes`` int32[n]; ``weights`` float64[n] or None; ``divides``: whether a row without a value is divided among
        all branches, instead of taking the missing branch.
        """
        n = len(matrix)
        rows = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
        if not len(rows):
            raise ParameterError("no row has a weight above 0: pass rows to prune with")
        tables = branches_of(self.tree)
        # Copies where the original may not be written to, or would be another type to the kernel.
        own = np.array(matrix, order="C")
        self.is_whole = np.asarray(~np.isnan(own).any(axis=1)) if divides else np.ones(n, bool)
        self.all_whole = bool(self.is_whole.all())
        self.given = Given(
            matrix=own,
            codes=np.array(codes, np.int32),
            tables=tables._replace(level_branch=tables.level_branch.copy()),
            slots=np.full(n, -1, np.int32),
            limit=self.limit,
            divides=divides,
        )
        added = np.ones(len(rows)) if weights is None else weights[rows]
        order = order_of_sums(
            codes[rows][None], added, own[rows].T if divides else None, is_rounded=not are_whole(weights)
        )
        if order is not None:
            rows, added = rows[order], added[order]
        self.pool = Pool(rows.astype(np.int32), added.copy())
        self.top = len(rows)
        self.places.end[0] = len(rows)
        self._send(0, 0, settles=True)

    def _send(self, source: int, start: int, *, settles: bool, adds: bool = False) -> float:
        """Send the rows of one node down from another with ``send_down``; returns the errors."""
        errors, self.pool, self.top = send_down(
            self.given, self.places, self.pool, self.top, source, start, settles, adds
        )
        return float(errors)

    def _children(self, node: int) -> range:
        """Positions of a node's branches."""
        test = self.places.test_of[node]
        first = int(self.tree.first_child[test])
        return range(first, first + int(self.tree.n_branches[test]))

    def collapse(self) -> None:
        """Make a leaf of every node whose subtree has no fewer training errors."""
        tree, counts = self.tree, self.places.counts
        wrong = counts.sum(axis=1) - counts.max(axis=1)
        below = leaf_sums(tree, wrong)
        folds = (below >= wrong - _COLLAPSE_SLACK) & ~tree.is_leaf
        self.places.leaf[folds] = True
        # Only the uppermost nodes are steps: nodes below them go too. Parents come before children.
        gone = np.zeros(tree.n_nodes, bool)
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            if folds[node] and not gone[node]:
                self.steps.append(Step(node, "leaf", (float(wrong[node]), float(below[node])), (_NOT_ASKED,) * 3))
            if folds[node] or gone[node]:
                gone[tree.first_child[node] : tree.first_child[node] + tree.n_branches[node]] = True

    def prune(self, *, raising: bool) -> None:
        """Go through the nodes, children first, and choose the least costly of leaf, largest branch and subtree."""
        places = self.places
        below = [0.0] * self.tree.n_nodes  # estimated errors of the leaves under a settled node
        # On the stack: a node to enter, or the complement of one whose branches are settled; with the place of its rows
        # if it is a raised one that is settled.
        stack: list[tuple[int, tuple[int, int] | None]] = [(0, None)]
        while stack:
            node, home = stack.pop()
            if home is not None:
                # The rows of a settled subtree are not used again; those of the node are back in their old place.
                self.top = int(places.begin[node])
                places.begin[node], places.end[node] = home
                continue
            if node >= 0:
                if places.leaf[node]:
                    below[node] = float(places.errors[node])
                else:
                    stack.append((~node, None))
                    stack += [(child, None) for child in reversed(self._children(node))]
                continue
            node = ~node
            children = self._children(node)
            below[node] = sum(below[child] for child in children)
            largest = self._largest(children)
            as_leaf = float(places.errors[node])
            as_branch = self._errors_as_branch(node, largest, below[largest]) if raising else np.inf
            estimated = as_leaf, below[node], as_branch if raising else _NOT_ASKED
            if _at_most(as_leaf, below[node] + _PRUNE_SLACK) and _at_most(as_leaf, as_branch + _PRUNE_SLACK):
                self._note(node, "leaf", estimated)
                places.leaf[node] = True
                below[node] = as_leaf
            elif _at_most(as_branch, below[node] + _PRUNE_SLACK):
                self._note(node, "raise", estimated)
                stack += [(node, (int(places.begin[node]), int(places.end[node]))), (node, None)]
                self._raise(node, largest)

    def _note(self, node: int, action: Action, estimated: tuple[float, float, float]) -> None:
        """Record a step; the test that is removed is the node's current one."""
        self.steps.append(Step(int(self.places.test_of[node]), action, (_NOT_ASKED,) * 2, estimated))

    def _errors_as_branch(self, node: int, branch: int, own: float) -> float:
        """Estimated errors of a branch's subtree if all rows of the node went down it; ``own`` are its present ones."""
        if self.places.leaf[branch]:
            return float(self.places.errors[node])  # a leaf with all rows of the node is the node as a leaf
        rows = self.pool.rows[self.places.begin[node] : self.places.end[node]]
        if self.all_whole or self.is_whole[rows].all():
            # The rows of the branch stay in their leaves: only the other rows have to be sent.
            return own + self._send(node, branch, settles=False, adds=True)
        return self._send(node, branch, settles=False)

    def _largest(self, children: range) -> int:
        """The branch with the largest weight, the last one if several have it."""
        weights = self.places.counts[children.start : children.stop].sum(axis=1).tolist()
        largest, found = 0.0, children.start
        for child, weight in zip(children, weights, strict=True):
            if _at_most(largest, weight):
                largest, found = weight, child
        return found

    def _raise(self, node: int, branch: int) -> None:
        """Replace the node's test and children by a branch's, and send the node's rows down again."""
        test_of, leaf = self.places.test_of, self.places.leaf
        # Exchanged, not copied: every test stays with exactly one node, so that side tables stay tiled.
        test_of[node], test_of[branch] = test_of[branch], test_of[node]
        leaf[node] = leaf[branch]
        self._send(node, node, settles=True)

    def cut_nodes(self) -> npt.NDArray[np.int64]:
        """Positions of the inner nodes that are leaves now; they describe the pruning if nothing was raised."""
        return np.flatnonzero(self.places.leaf & ~self.tree.is_leaf)

    def result(self, impurity_of: Impurity, *, keeps_own: bool = False) -> Tree:
        """The pruned tree, level by level; call it after ``send``.

        ``impurity_of``: takes class counts float64[n_nodes, n_classes] and their sums, returns impurities.
        ``keeps_own``: whether nodes whose rows did not change keep their numbers, and moved tests their missing branch.
        Otherwise all numbers are computed again, and missing values take the heaviest branch.
        """
        tree, places = self.tree, self.places
        order = self._level_order()
        value, total = places.counts.copy(), places.counts.sum(axis=1)
        impurity = impurity_of(value, total)
        if keeps_own:
            same = np.isclose(value, tree.value, rtol=1e-9, atol=1e-9 * tree.weight[0]).all(axis=1)
            same &= (places.n_samples == tree.n_samples) & (tree.n_samples > 0)
            value[same], total[same], impurity[same] = tree.value[same], tree.weight[same], tree.impurity[same]
        per_node = {name: getattr(tree, name)[places.test_of] for name in _OF_TEST}
        changed = ~np.isclose(total, tree.weight[places.test_of], rtol=1e-9, atol=0.0)
        for node in order[~places.leaf[order]].tolist():
            children = np.array(self._children(node))
            empty = children[places.n_samples[children] == 0]
            value[empty], impurity[empty] = value[node], impurity[node]
            if changed[node] and not keeps_own:
                per_node["missing_branch"][node] = heaviest_of(total[children])
        moved = replace(
            tree,
            **per_node,
            n_samples=places.n_samples.copy(),
            weight=total,
            impurity=impurity,
            value=value,
            levels_seen=places.seen.copy(),
            level_branch=self.given.tables.level_branch.copy(),
        )
        return rebuild(moved, order, places.leaf)

    def _level_order(self) -> npt.NDArray[np.int64]:
        """The nodes that stay, level by level."""
        leaf, levels = self.places.leaf, [[0]]
        while levels[-1]:
            levels.append([child for node in levels[-1] if not leaf[node] for child in self._children(node)])
        return np.array([node for level in levels for node in level], np.int64)


@inner_kernel
def _above(total: float, errors: float, z: float) -> float:
    """Errors that the upper limit adds to one or more errors."""
    if errors + 0.5 >= total:
        return max(total - errors, 0.0)
    f = (errors + 0.5) / total
    z2 = z * z
    spread = math.sqrt(f / total - f * f / total + z2 / (4.0 * total * total))
    return total * (f + z2 / (2.0 * total) + z * spread) / (1.0 + z2 / total) - errors


@kernel
def added_by(limit: Limit, total: float, errors: float) -> float:
    """Errors that the upper limit adds to ``errors`` among ``total``.

    Quinlan (1993), section 4.2: exact for no error, the normal approximation with a correction for continuity from one
    error on, in between the straight line.
    """
    if errors >= 1.0:
        return _above(total, errors, limit.z)
    base = total * (1.0 - power(limit.confidence, 1.0 / total))
    if errors == 0.0:
        return base
    return base + errors * (_above(total, 1.0, limit.z) - base)


@inner_kernel
def _estimated(limit: Limit, counts: np.ndarray) -> float:
    """Estimated errors of a leaf with these class counts, float64[n_classes]."""
    total, largest = 0.0, 0.0
    for count in counts:
        total += count
        largest = max(largest, count)
    if total < NOTHING:
        return 0.0
    wrong = max(total - largest, 0.0)
    return wrong + added_by(limit, total, wrong)


@kernel
def estimate_leaves(limit: Limit, counts: np.ndarray, errors: np.ndarray) -> None:
    """Write the estimated errors of each node as a leaf.

    ``counts`` float64[n_nodes, n_classes], ``errors`` float64[n_nodes], OUT.
    """
    for node in range(len(counts)):
        errors[node] = _estimated(limit, counts[node])


@allocating_inner_kernel
def _grown(array: np.ndarray, used: int, wanted: int) -> np.ndarray:
    """The array, int32, int64 or float64[k], or a longer copy of its first ``used`` cells where it is too short."""
    if wanted <= len(array):
        return array
    longer = np.empty(max(wanted, 2 * len(array)), array.dtype)
    for at in range(used):
        longer[at] = array[at]
    return longer


@allocating_inner_kernel
def _appended(array: np.ndarray, used: int, more: np.ndarray, begin: int, end: int) -> np.ndarray:
    """The first ``used`` cells of an array and then ``more[begin:end]``, in a longer array where it is too short.

    ``array`` int32 or float64[k], ``more`` [m] of the same dtype.
    """
    longer = _grown(array, used, used + end - begin)
    for at in range(begin, end):
        longer[used + at - begin] = more[at]
    return longer


@inner_kernel
def _settle_node(places: Places, node: int, counts: np.ndarray, n_samples: int, errors: float, top: int) -> None:
    """Write what a node holds now, ``counts`` float64[n_classes] among it; its rows begin at ``top``."""
    for label in range(len(counts)):
        places.counts[node, label] = counts[label]
    places.n_samples[node] = n_samples
    places.errors[node] = errors
    places.begin[node] = top


@allocating_inner_kernel
def _merged(places: Places, pool: Pool, node: int, without: int, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a node, each once with the sum of its weights, in the order of their first occurrence.

    ``without`` is a branch whose rows are left out, or -1; ``slots`` int32[n_rows] holds -1 everywhere, before and
    after.
    """
    begin, end = places.begin[node], places.end[node]
    skip_from, skip_to = (places.begin[without], places.end[without]) if without >= 0 else (end, end)
    size = end - begin - (skip_to - skip_from)
    rows, weights = np.empty(size + 1, np.int32), np.empty(size + 1)
    n = 0
    at = begin - 1
    while True:
        at += 1
        if at == skip_from:
            at = skip_to
        if at >= end:
            break
        row = pool.rows[at]
        if slots[row] < 0:
            slots[row] = n
            rows[n], weights[n] = row, 0.0
            n += 1
        weights[slots[row]] += pool.weights[at]
    for at in range(n):
        slots[rows[at]] = -1
    return rows[:n], weights[:n]


@inner_kernel
def _find_ways(
    given: Given,
    test: int,
    rows: np.ndarray,
    weights: np.ndarray,
    begin: int,
    top: int,
    ways: np.ndarray,
    sizes: np.ndarray,
    parts: np.ndarray,
) -> int:
    """The branch of each row (-1: to be divided), the number of rows per branch, and its share of a divided row.

    ``rows`` int32[>= top] and ``weights`` float64[>= top] are those waiting from ``begin`` to ``top - 1``; ``ways``
    int64[>= top - begin], ``sizes`` int64[>= n_branches] and ``parts`` float64[>= n_branches] are written to. Returns
    the number of rows that all branches get together.
    """
    tables = given.tables
    n_branches = tables.n_branches[test]
    for branch in range(n_branches):
        sizes[branch], parts[branch] = 0, 0.0
    n_missing = 0
    for at in range(begin, top):
        way = branch_of(tables, test, given.matrix[rows[at], tables.feature[test]])
        if way < 0 and not given.divides:
            way = int(tables.missing_branch[test])
        ways[at - begin] = way
        if way < 0:
            n_missing += 1
        else:
            sizes[way] += 1
            parts[way] += weights[at]
    known = 0.0
    for branch in range(n_branches):
        known += parts[branch]
    wanted = 0
    for branch in range(n_branches):
        parts[branch] = parts[branch] / known if known > 0.0 else 1.0 / n_branches
        if parts[branch] > 0.0:
            sizes[branch] += n_missing
        wanted += sizes[branch]
    return wanted


@inner_kernel
def _note_levels(given: Given, places: Places, test: int, rows: np.ndarray, begin: int, top: int) -> None:
    """Mark the levels that the rows ``rows[begin:top]`` of a node hold as seen there. ``rows`` int32[>= top]."""
    matrix, tables = given.matrix, given.tables
    kind = tables.kind[test]
    if kind not in (SUBSET, MULTIWAY):
        return
    start = int(tables.level_set[test])
    for at in range(begin, top):
        x = matrix[rows[at], tables.feature[test]]
        if not np.isnan(x):
            code = int(x)
            if kind == SUBSET:
                places.seen[start + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
            elif tables.level_branch[start + code] < 0:
                tables.level_branch[start + code] = ~tables.level_branch[start + code]


@allocating_inner_kernel
def _divide(
    rows: np.ndarray,
    weights: np.ndarray,
    begin: int,
    top: int,
    ways: np.ndarray,
    sizes: np.ndarray,
    parts: np.ndarray,
    new_rows: np.ndarray,
    new_weights: np.ndarray,
) -> None:
    """Write the rows of a node branch by branch, a divided row to every branch that has a share of it.

    ``rows`` int32[>= top], ``weights`` float64[>= top], ``ways`` int64[>= top - begin], ``sizes`` int64[>= n_branches]
    and ``parts`` float64[n_branches] as ``_find_ways`` has them; ``new_rows`` int32[k] and ``new_weights`` float64[k],
    OUT, have room for all of them.
    """
    places = np.empty(len(parts), np.int64)
    place = 0
    for branch in range(len(parts)):
        places[branch] = place
        place += sizes[branch]
    for at in range(begin, top):
        way = ways[at - begin]
        if way >= 0:
            new_rows[places[way]], new_weights[places[way]] = rows[at], weights[at]
            places[way] += 1
            continue
        for branch in range(len(parts)):
            if parts[branch] > 0.0:
                new_rows[places[branch]], new_weights[places[branch]] = rows[at], weights[at] * parts[branch]
                places[branch] += 1


@allocating_kernel
def send_down(
    given: Given, places: Places, pool: Pool, top: int, source: int, start: int, settles: bool, adds: bool
) -> tuple[float, Pool, int]:
    """Send the rows of the node ``source`` down from the node ``start``.

    Parameters
    ----------
    given : Given
    places : Places
        Written to where ``settles``: everything but ``test_of`` and ``leaf``, for all nodes from ``start`` down.
    pool : Pool
        Where ``settles``, the rows of the leaves are appended at ``top``.
    top : int
        Cells of the pool in use.
    settles : bool
        Whether the rows stay there, or only the errors are computed.
    adds : bool
        Whether ``start`` is a branch of ``source`` whose own rows stay where they are: only the others are sent, and
        the result is the increase of the errors. Correct only if no row is divided.

    Returns
    -------
    errors : float
        Estimated errors of all leaves, or their increase.
    pool : Pool
        The same, or a longer one.
    top : int

    Notes
    -----
    O(rows x depth) for rows without missing values. The waiting rows form a stack: a node's segment is the end of it,
    and is replaced by those of its branches, the last of which comes next. A number below zero on the stack of nodes
    says that everything below its complement is done.
    """
    tables, limit = given.tables, given.limit
    rows, weights = _merged(places, pool, source, start if adds else -1, given.slots)
    n_waiting = len(rows)
    pool_rows, pool_weights = pool.rows, pool.weights
    ways = np.empty(len(rows) + 1, np.int64)
    new_rows, new_weights = np.empty(len(rows) + 1, np.int32), np.empty(len(rows) + 1)
    sizes, parts = np.empty(2, np.int64), np.empty(2)
    nodes, begins = np.empty(64, np.int64), np.empty(64, np.int64)
    nodes[0], begins[0] = start, 0
    n_nodes = 1
    counts = np.empty(places.counts.shape[1])
    errors, estimate = 0.0, 0.0
    while n_nodes:
        n_nodes -= 1
        node = nodes[n_nodes]
        if node < 0:
            places.end[~node] = top
            continue
        begin = begins[n_nodes]
        leaf = places.leaf[node]
        if leaf or settles:
            for label in range(len(counts)):
                counts[label] = places.counts[node, label] if adds else 0.0
            for at in range(begin, n_waiting):
                counts[given.codes[rows[at]]] += weights[at]
            estimate = _estimated(limit, counts)
        if settles:
            _settle_node(places, node, counts, n_waiting - begin, estimate, top)
        if leaf:
            errors += estimate - (places.errors[node] if adds else 0.0)
            if settles:
                pool_rows = _appended(pool_rows, top, rows, begin, n_waiting)
                pool_weights = _appended(pool_weights, top, weights, begin, n_waiting)
                top += n_waiting - begin
                places.end[node] = top
            n_waiting = begin
            continue
        test = places.test_of[node]
        n_branches = int(tables.n_branches[test])
        ways = _grown(ways, 0, n_waiting - begin)
        sizes, parts = _grown(sizes, 0, n_branches), _grown(parts, 0, n_branches)
        if settles:
            _note_levels(given, places, test, rows, begin, n_waiting)
        wanted = _find_ways(given, test, rows, weights, begin, n_waiting, ways, sizes, parts)
        new_rows, new_weights = _grown(new_rows, 0, wanted), _grown(new_weights, 0, wanted)
        _divide(rows, weights, begin, n_waiting, ways, sizes, parts[:n_branches], new_rows, new_weights)
        rows = _appended(rows, begin, new_rows, 0, wanted)
        weights = _appended(weights, begin, new_weights, 0, wanted)
        n_waiting = begin + wanted
        nodes = _grown(nodes, n_nodes, n_nodes + n_branches + 1)
        begins = _grown(begins, n_nodes, n_nodes + n_branches + 1)
        if settles:
            nodes[n_nodes] = ~node
            n_nodes += 1
        for branch in range(n_branches):
            if settles or sizes[branch]:
                nodes[n_nodes] = int(tables.first_child[test]) + branch
                begins[n_nodes] = begin
                n_nodes += 1
            begin += sizes[branch]
    return errors, Pool(pool_rows, pool_weights), top
