"""A tree with the rows that judge it. In: ``TreePart``, ``Judged``. Out: ``TreePart``. Caller: reporting.summary."""

from __future__ import annotations

import numpy as np

from treewright.page.parts import TreePart
from treewright.page.tree_part import with_judged
from treewright.reporting.judged import Judged

N_CELLS = 12


def tree_with_judges(part: TreePart, judged: Judged) -> TreePart:
    """Return the tree with the weight of judged rows per true class in each node; of numbers a histogram.

    A row is counted in its leaf and in every node above it.
    """
    tree = judged.model.trees[0]
    edges: tuple[float, ...] | None = None
    if judged.is_classification:
        place, n_places = judged.target[:, 0].astype(np.int64), len(judged.model.classes[0])
    else:
        truth = judged.target[:, 0]
        low, high = float(truth.min()), float(truth.max())
        ends = np.linspace(low, high, N_CELLS + 1) if high > low else np.array([low - 0.5, low + 0.5])
        n_places = len(ends) - 1
        place = np.clip(np.searchsorted(ends, truth, side="right") - 1, 0, n_places - 1)
        edges = tuple(ends.tolist())
    held = np.zeros((tree.n_nodes, n_places))
    np.add.at(held, (judged.leaves, place), judged.weights)
    # Parents stand before their children, so one pass backwards carries everything up.
    parents = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        held[parents[node]] += held[node]
    return with_judged(part, {node.id: tuple(held[node.id].tolist()) for node in part.nodes}, edges)
