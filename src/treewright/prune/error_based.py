"""C4.5's error-based pruning. In: ``Tree``, its training rows. Out: the pruned ``Tree``. Callers: estimators.

A leaf's errors are taken to be the upper confidence limit of a binomial whose one sample is the leaf (Quinlan 1993,
chapter 4). From the leaves up, a node becomes a leaf where that costs less than its subtree, or its largest branch
takes its place. The order of the steps, the tolerances and the ties are those of J48 in Weka 3.6.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.grow.by_node.candidates import heaviest_of
from treewright.predict.branches import branches_of
from treewright.prune.descent import Limit, Places, Pool, added_by, send_down
from treewright.tree.arrays import Tree
from treewright.tree.check import check_tree
from treewright.tree.edit import _rebuild

# What J48 gives away: training errors when it collapses, estimated errors when it prunes; and what it takes for equal.
_COLLAPSE_SLACK = 1e-3
_PRUNE_SLACK = 0.1
_EQUAL = 1e-6
# What a node takes along when it is raised.
_OF_TEST = ("kind", "feature", "threshold", "first_child", "n_branches", "missing_branch", "level_set")


def limit_of(confidence: float) -> Limit:
    """The upper limit that belongs to a confidence.

    Parameters
    ----------
    confidence : float in (0, 0.5]
        Smaller prunes more.

    Raises
    ------
    ParameterError
        It is outside its range.
    """
    if not 0.0 < confidence <= 0.5:
        raise ParameterError(f"confidence={confidence!r}: give a number above 0 and at most 0.5")
    return Limit(float(confidence), -NormalDist().inv_cdf(confidence))


def added_errors(total: float, errors: float, confidence: float = 0.25) -> float:
    """Errors that the upper confidence limit adds to the errors of a leaf.

    Parameters
    ----------
    total : float > 0
        Weight of the rows in the leaf.
    errors : float, 0 to ``total``
        Weight of those that are not of its class.
    confidence : float in (0, 0.5]

    Returns
    -------
    float
        The limit, as a number of errors, minus ``errors``.

    Raises
    ------
    ParameterError
        The confidence is outside its range.

    Examples
    --------
    Six rows without an error (Quinlan 1993, section 4.2):

    >>> round(added_errors(6, 0) / 6, 3)
    0.206
    """
    return float(added_by(limit_of(confidence), float(total), float(errors)))


def prune_error_based(
    tree: Tree,
    matrix: npt.NDArray[np.floating],
    codes: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64] | None = None,
    *,
    confidence: float = 0.25,
    raising: bool = True,
    schema: Schema | None = None,
) -> Tree:
    """Prune a classification tree as C4.5 does.

    Parameters
    ----------
    tree : Tree
        A tree with class counts of one output, without surrogates.
    matrix : float64 or float32 [n, p]
        Its encoded training rows; a row with a missing value goes to every branch in part, whatever the tree's
        ``missing_branch``.
    codes : int32[n]
        Their classes.
    weights : float64[n] or None
        None: every row weighs one.
    confidence : float in (0, 0.5], default 0.25
        Confidence of the upper limit of the errors; smaller prunes more.
    raising : bool, default True
        Whether the largest branch of a node may take its place.
    schema : Schema, optional
        Where given, the result is checked against it.

    Returns
    -------
    Tree
        In level order. Counts, weight, ``n_samples`` and impurity (entropy in bits) are made anew from the rows.

    Raises
    ------
    ParameterError
        The confidence is outside its range, the tree has surrogates, or no row has a weight.
    """
    limit = limit_of(confidence)
    if len(tree.surrogate_node):
        raise ParameterError(f"the tree has {len(tree.surrogate_node)} surrogates: error-based pruning divides rows")
    work = _Pruning(tree, matrix, codes, weights, limit)
    work.collapse()
    work.prune(raising=raising)
    pruned = work.result()
    if schema is not None:
        n_classes = pruned.value.shape[1]
        check_tree(pruned, schema, n_classes, n_classes=(n_classes,), missing="fractional")
    return pruned


def _at_most(a: float, b: float) -> bool:
    """Whether ``a`` is below ``b`` or equal to it, as J48 sees it."""
    return a <= b or a - b < _EQUAL


class _Pruning:
    """A tree under the knife: nodes keep their positions, their tests and children move."""

    def __init__(
        self,
        tree: Tree,
        matrix: npt.NDArray[np.floating],
        codes: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float64] | None,
        limit: Limit,
    ) -> None:
        n, n_nodes = len(matrix), tree.n_nodes
        rows = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
        if not len(rows):
            raise ParameterError("no row has a weight above 0: there is nothing to prune with")
        tables = branches_of(tree)
        self.tree, self.limit = tree, limit
        # Copies where the original may not be written to, or would be another type to the kernel.
        self.matrix, self.codes = np.array(matrix, order="C"), np.array(codes, np.int32)
        self.is_whole = np.asarray(~np.isnan(self.matrix).any(axis=1))
        self.all_whole = bool(self.is_whole.all())
        self.tables = tables._replace(level_branch=tables.level_branch.copy())
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
        self.pool = Pool(rows.astype(np.int32), np.ones(len(rows)) if weights is None else weights[rows].copy())
        self.top = len(rows)
        self.slots = np.full(n, -1, np.int32)
        self.places.end[0] = len(rows)
        self._send(0, 0, settles=True)

    def _send(self, source: int, start: int, *, settles: bool, adds: bool = False) -> float:
        """Send the rows of one node down from another, as ``send_down`` does; the errors."""
        errors, self.pool, self.top = send_down(
            *(self.matrix, self.codes, self.tables, self.places, self.pool, self.top),
            *(self.slots, source, start, self.limit, settles, adds),
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
        below = np.where(tree.is_leaf, wrong, 0.0).tolist()
        parent = tree.parent.tolist()
        for node in range(tree.n_nodes - 1, 0, -1):
            below[parent[node]] += below[node]
        self.places.leaf[np.array(below) >= wrong - _COLLAPSE_SLACK] = True

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
            if _at_most(as_leaf, below[node] + _PRUNE_SLACK) and _at_most(as_leaf, as_branch + _PRUNE_SLACK):
                places.leaf[node] = True
                below[node] = as_leaf
            elif _at_most(as_branch, below[node] + _PRUNE_SLACK):
                stack += [(node, (int(places.begin[node]), int(places.end[node]))), (node, None)]
                self._raise(node, largest)

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

    def result(self) -> Tree:
        """The tree that is left, level by level."""
        tree, places = self.tree, self.places
        levels = [[0]]
        while levels[-1]:
            levels.append([child for node in levels[-1] if not places.leaf[node] for child in self._children(node)])
        order = np.array([node for level in levels for node in level], np.int64)
        value, total = places.counts.copy(), places.counts.sum(axis=1)
        impurity = _entropy(value, total)
        per_node = {name: getattr(tree, name)[places.test_of] for name in _OF_TEST}
        changed = ~np.isclose(total, tree.weight[places.test_of], rtol=1e-9, atol=0.0)
        for node in order[~places.leaf[order]].tolist():
            children = np.array(self._children(node))
            empty = children[places.n_samples[children] == 0]
            value[empty], impurity[empty] = value[node], impurity[node]
            if changed[node]:
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
        return _rebuild(moved, order, places.leaf)


def _entropy(counts: npt.NDArray[np.float64], total: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Entropy in bits of each row of counts; 0.0 where there are none."""
    shares = counts / np.where(total > 0, total, 1.0)[:, None]
    bits = shares * np.log2(np.where(shares > 0, shares, 1.0))
    return np.abs(bits.sum(axis=1))
