"""A tree with the rows that judge it. In: ``TreePart``, ``Judged``. Out: ``TreePart``. Caller: reporting."""

from __future__ import annotations

import numpy as np

from treewright.page.parts_tree import TreePart
from treewright.page.tree_part import with_judged
from treewright.reporting.audits import with_audits
from treewright.reporting.judged import Judged

N_CELLS = 12


def tree_with_judges(part: TreePart, judged: Judged, *, audited: bool = True) -> TreePart:
    """Return the tree with the weight of judged rows per true class in each node; of numbers a histogram.

    A row is counted in its leaf and in every node above it. Nodes that many rows pass have their audits too, unless
    ``audited`` is false.
    """
    tree = judged.model.trees[0]
    edges: tuple[float, ...] | None = None
    if judged.is_classification:
        place, n_places = judged.target[:, 0].astype(np.int64), len(judged.model.classes[0])
    else:
        truth = judged.target[:, 0]
        low, high = float(truth.min()), float(truth.max())
        # Halves: the range of numbers near the ends of float64 would overflow.
        ends = 2.0 * np.linspace(low / 2, high / 2, N_CELLS + 1) if high > low else np.array([low, low])
        n_places = len(ends) - 1
        place = np.clip(np.searchsorted(ends, truth, side="right") - 1, 0, n_places - 1)
        edges = tuple(ends.tolist())
    held = np.zeros((tree.n_nodes, n_places))
    np.add.at(held, (judged.leaves, place), judged.weights)
    # Parents stand before their children, so one pass backwards carries everything up.
    parents = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        held[parents[node]] += held[node]
    shown = with_judged(part, {node.id: tuple(held[node.id].tolist()) for node in part.nodes}, edges)
    return with_audits(shown, judged) if audited else shown
