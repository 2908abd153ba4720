"""What each leaf of many trees adds to the sum. In: ``ModelData``. Out: tables. Caller: predict.ensemble."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from treewright.predict.shares import class_shares, votes_for
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees

_contents: WeakKeyDictionary[ModelData, tuple[np.ndarray, ...]] = WeakKeyDictionary()


def contents_of(model: ModelData) -> tuple[np.ndarray, ...]:
    """What the leaves hold, made once.

    Parameters
    ----------
    model : ModelData
        Of many trees.

    Returns
    -------
    tuple of float64[m, n_values]
        One for ``PackedTrees``: a row per row of the leaf table. Else one per tree, a row per node. Class shares; under
        ``combine="vote"`` a 1 for the most frequent class; predictions for regression.
    """
    contents = _contents.get(model)
    if contents is None:
        trees = model.trees
        values = (trees.leaf_value,) if isinstance(trees, PackedTrees) else tuple(tree.value for tree in trees)
        contents = _contents[model] = tuple(_content(model, value) for value in values)
    return contents


def _content(model: ModelData, value: np.ndarray) -> np.ndarray:
    """What rows of values add to the sum. A table of its own: kernels take arrays that can be written to."""
    if model.task == "regression":
        return np.array(value, np.float64, order="C")
    if model.combine != "vote":
        return class_shares(model, value)
    # By counts, as a single tree chooses: the division could make neighbours equal.
    return votes_for(model, value)
