"""A tree grown on gradients, and what its leaves say. In: arrays. Out: ``GradientTree``. Callers: .grower, boosting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.grow.gradient.settings import GradientSettings


@dataclass(frozen=True, eq=False)
class GradientTree:
    """A grown tree, before it is packed.

    Attributes
    ----------
    first_child, column, cut : int32[n_nodes]
        The first child's number (-1 at a leaf); column of the test; last bin on the left.
    missing_branch : int8[n_nodes]
    is_set : bool[n_nodes]
        Which tests ask for a set of bins.
    sets, seen : uint64[n_nodes, 4], or a single row where no column is nominal
    gain : float64[n_nodes]
        What each test gains.
    leaves : int32[n_leaves]
        The leaves' numbers, ascending.
    begins, ends : int32[n_leaves]
        Where each leaf's rows stand in ``order``.
    order : int32[2 n]
        Where the tree's rows stand; the next tree writes over it.
    values : float64[n_leaves]
        Newton's step within the bounds of monotone constraints; not yet times the learning rate.
    bounds : float64[2, n_leaves]
        Those bounds.
    depth : int32[n_nodes]
        Edges from the root.
    covers : float64[n_leaves]
        Sums of hessians.
    """

    first_child: np.ndarray
    column: np.ndarray
    cut: np.ndarray
    missing_branch: np.ndarray
    is_set: np.ndarray
    sets: np.ndarray
    seen: np.ndarray
    gain: np.ndarray
    leaves: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    order: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    depth: np.ndarray
    covers: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Nodes, leaves included."""
        return len(self.first_child)

    def groups(self, leaves: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        """The rows of some groups of leaves, group by group.

        Parameters
        ----------
        leaves : sequence of sequences of int
            Of each group places in ``leaves``.

        Returns
        -------
        rows : int32[m]
        starts : int64[k + 1]
            Where each group begins.
        """
        sizes = [int((self.ends[group] - self.begins[group]).sum()) for group in map(list, leaves)]
        rows = [self.order[self.begins[leaf] : self.ends[leaf]] for group in leaves for leaf in group]
        return np.concatenate(rows), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def leaves_below(self) -> list[list[int]]:
        """Of each node the places of the leaves below it; of a leaf its own."""
        below: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for place, leaf in enumerate(self.leaves.tolist()):
            below[leaf] = [place]
        for node in range(self.n_nodes - 1, -1, -1):  # children stand behind their parents
            first = int(self.first_child[node])
            if first >= 0:
                below[node] = below[first] + below[first + 1]
        return below


def leaf_values(g: np.ndarray, h: np.ndarray, settings: GradientSettings, bounds: np.ndarray) -> np.ndarray:
    """Newton's step of each leaf: minus gradient over hessian, shrunk and within bounds; 0 without curvature.

    Parameters
    ----------
    g, h : float64[k]
    settings : GradientSettings
    bounds : float64[2, k]

    Returns
    -------
    float64[k]
    """
    shrunk = g if settings.l1 == 0.0 else np.maximum(g - settings.l1, 0.0) + np.minimum(g + settings.l1, 0.0)
    below = h + settings.l2
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(below > 0, -shrunk / below, 0.0)
    return np.minimum(np.maximum(values, bounds[0]), bounds[1]) + 0.0
