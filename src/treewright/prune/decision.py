"""What goes into a pruner and what comes out. In: nothing. Out: ``Rows``, ``Decision``. Callers: prune."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from treewright.tree.arrays import Tree

Action = Literal["leaf", "raise", "merge"]


class Rows(NamedTuple):
    """Encoded rows of a table, as ``Model.encode_rows`` gives them.

    Attributes
    ----------
    matrix : float64[n, p]
    target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
    weights : float64[n], > 0, or None
        Class weights of the fit included.
    """

    matrix: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None


class Decision(NamedTuple):
    """What a pruner decided.

    Attributes
    ----------
    tree : Tree
        The pruned tree.
    nodes : int64[k]
        Positions, in the tree as it was, of the nodes that were cut; in the order of the decisions.
    numbers : dict from name to float64[k]
        The numbers that decided.
    actions : tuple of k actions, or None
        None: every node was made a leaf.
    used : mapping from name to value, or None
        Options that were left to the pruner, with the values that it took.
    """

    tree: Tree
    nodes: np.ndarray
    numbers: Mapping[str, np.ndarray]
    actions: tuple[Action, ...] | None = None
    used: Mapping[str, Any] | None = None
