"""How many rows stand in each node. In: a model. Out: a number per node. Callers: prune."""

from __future__ import annotations

import numpy as np

from treewright.model.data import ModelData


def row_counts(model: ModelData) -> np.ndarray:
    """Rows of each node, whatever they weigh.

    Parameters
    ----------
    model : ModelData

    Returns
    -------
    float64[n_nodes]
        Where rows are divided among branches (``missing="fractional"``), parts count as parts. The nodes hold only the
        weight of these: it counts in rows of average weight, and for no more than the rows that left a part there.
    """
    rows = model.trees[0].n_samples.astype(np.float64)
    return np.minimum(rows, scaled_weights(model)) if model.missing == "fractional" else rows


def scaled_weights(model: ModelData) -> np.ndarray:
    """Weight of each node where the rows of the tree weigh 1 on average, float64[n_nodes]: a common factor is gone.

    Parameters
    ----------
    model : ModelData
    """
    tree = model.trees[0]
    return np.asarray(tree.weight * (float(tree.n_samples[0]) / float(tree.weight[0])))
