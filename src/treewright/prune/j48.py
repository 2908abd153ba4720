"""The steps of C4.5's pruning. In: ``Tree``, its training rows. Out: the pruned ``Tree``, every step.

Caller: prune.error_based. The order of the steps, the tolerances and the ties are those of J48 in Weka 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.exceptions import ParameterError
from treewright.grow.by_node.candidates import heaviest_of
from treewright.predict.branches import branches_of
from treewright.prune.backward import leaf_sums
from treewright.prune.decision import Action
from treewright.prune.descent import Limit, Places, Pool, estimate_leaves, send_down
from treewright.tree.arrays import Tree
from treewright.tree.edit import rebuild

# What J48 gives away: training errors when it collapses, estimated errors when it prunes; and what it takes for equal.
_COLLAPSE_SLACK = 1e-3
_PRUNE_SLACK = 0.1
_EQUAL = 1e-6
# What a node takes along when it is raised.
_OF_TEST = ("kind", "feature", "threshold", "first_child", "n_branches", "missing_branch", "level_set")

Impurity = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.float64]]


class Step(NamedTuple):
    """One decision.

    Attributes
    ----------
    node : int
        Position of the question that went, in the tree as it was.
    action : {"leaf", "raise"}
    training : (float, float)
        Training errors as a leaf, of the subtree; nan where they did not decide.
    estimated : (float, float, float)
        Estimated errors as a leaf, of the subtree, of the largest branch with all rows; nan where they did not decide.
    """

    node: int
    action: Action
    training: tuple[float, float]
    estimated: tuple[float, float, float]


_NOT_ASKED = float("nan")


def _at_most(a: float, b: float) -> bool:
    """Whether ``a`` is below ``b`` or equal to it, as J48 sees it."""
    return a <= b or a - b < _EQUAL


class Pruning:
    """A tree under the knife: nodes keep their positions, their tests and children move.

    Attributes
    ----------
    tree : Tree
        As it was.
    places : Places
        What the nodes hold now.
    steps : list of Step
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
        """Take the counts that the tree holds: enough as long as nothing is raised."""
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
        """Send the training rows down: this makes all counts anew, and then subtrees can be raised.

        Parameters
        ----------
        matrix : float64 or float32 [n, p]
        codes : int32[n]
        weights : float64[n] or None
        divides : bool
            Whether a row without a value takes every branch in part, not the missing branch.

        Raises
        ------
        ParameterError
            No row has a weight above 0.
        """
        n = len(matrix)
        rows = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
        if not len(rows):
            raise ParameterError("no row has a weight above 0: there is nothing to prune with")
        tables = branches_of(self.tree)
        # Copies where the original may not be written to, or would be another type to the kernel.
        self.matrix, self.codes = np.array(matrix, order="C"), np.array(codes, np.int32)
        self.divides = divides
        self.is_whole = np.asarray(~np.isnan(self.matrix).any(axis=1)) if divides else np.ones(n, bool)
        self.all_whole = bool(self.is_whole.all())
        self.tables = tables._replace(level_branch=tables.level_branch.copy())
        self.pool = Pool(rows.astype(np.int32), np.ones(len(rows)) if weights is None else weights[rows].copy())
        self.top = len(rows)
        self.slots = np.full(n, -1, np.int32)
        self.places.end[0] = len(rows)
        self._send(0, 0, settles=True)

    def _send(self, source: int, start: int, *, settles: bool, adds: bool = False) -> float:
        """Send the rows of one node down from another, as ``send_down`` does; the errors."""
        errors, self.pool, self.top = send_down(
            self.matrix, self.codes, self.tables, self.places, self.pool, self.top,
            self.slots, source, start, self.limit, settles, adds, self.divides,
        )  # fmt: skip
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
        # The steps are the uppermost ones: what is below them goes unasked. Parents stand before children.
        gone = np.zeros(tree.n_nodes, bool)
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            if folds[node] and not gone[node]:
                self.steps.append(Step(node, "leaf", (float(wrong[node]), float(below[node])), (_NOT_ASKED,) * 3))
            if folds[node] or gone[node]:
                gone[tree.first_child[node] : tree.first_child[node] + tree.n_branches[node]] = True

    def prune(self, *, raising: bool) -> None:
        """Go through the nodes, children first, and take the cheapest of leaf, largest branch and subtree."""
        places = self.places
        below = [0.0] * self.tree.n_nodes  # estimated errors of the leaves under a settled node
        # On the stack: a node to enter, the complement of one whose branches are settled; with the place that its rows
        # had: a raised one that is settled.
        stack: list[tuple[int, tuple[int, int] | None]] = [(0, None)]
        while stack:
            node, home = stack.pop()
            if home is not None:
                # The rows of a settled subtree are not asked for again; those of the node stand where they stood.
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
        """Keep a step; the question that goes is the one that stands at the node now."""
        self.steps.append(Step(int(self.places.test_of[node]), action, (_NOT_ASKED,) * 2, estimated))

    def _errors_as_branch(self, node: int, branch: int, own: float) -> float:
        """Estimated errors of a branch's subtree, ``own`` as it stands, were all rows of the node sent down it."""
        if self.places.leaf[branch]:
            return float(self.places.errors[node])  # a leaf with all rows of the node is the node as a leaf
        rows = self.pool.rows[self.places.begin[node] : self.places.end[node]]
        if self.all_whole or self.is_whole[rows].all():
            # The rows of the branch stay in their leaves: the smaller part of the node is all that has to be sent.
            return own + self._send(node, branch, settles=False, adds=True)
        return self._send(node, branch, settles=False)

    def _largest(self, children: range) -> int:
        """The branch with the largest weight, the last of equals."""
        weights = self.places.counts[children.start : children.stop].sum(axis=1).tolist()
        largest, found = 0.0, children.start
        for child, weight in zip(children, weights, strict=True):
            if _at_most(largest, weight):
                largest, found = weight, child
        return found

    def _raise(self, node: int, branch: int) -> None:
        """Put a branch's test and children in the place of the node's own, and send the node's rows down again."""
        test_of, leaf = self.places.test_of, self.places.leaf
        # Exchanged, not copied: every test stays with exactly one node, so that side tables stay tiled.
        test_of[node], test_of[branch] = test_of[branch], test_of[node]
        leaf[node] = leaf[branch]
        self._send(node, node, settles=True)

    def cut_nodes(self) -> npt.NDArray[np.int64]:
        """Positions of the inner nodes that are leaves now; all there is to know where nothing was raised."""
        return np.flatnonzero(self.places.leaf & ~self.tree.is_leaf)

    def result(self, impurity_of: Impurity, *, keeps_own: bool = False) -> Tree:
        """The tree that is left, level by level; after ``send``.

        Parameters
        ----------
        impurity_of : callable
            Takes class counts float64[n_nodes, n_classes] and their sums, returns impurities.
        keeps_own : bool
            Whether nodes that hold the rows that they held keep their numbers, and moved tests their missing branch.
            Otherwise all numbers are made anew, and missing values take the heaviest branch.
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
            level_branch=self.tables.level_branch.copy(),
        )
        return rebuild(moved, order, places.leaf)

    def _level_order(self) -> npt.NDArray[np.int64]:
        """The nodes that stay, level by level."""
        leaf, levels = self.places.leaf, [[0]]
        while levels[-1]:
            levels.append([child for node in levels[-1] if not leaf[node] for child in self._children(node)])
        return np.array([node for level in levels for node in level], np.int64)
