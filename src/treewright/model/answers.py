"""What answers mean. In: class codes, a model. Out: labels in the target's dtype, levels of quantiles.

Callers: model.predicting, model.neighbors, reporting, cli.
"""

from __future__ import annotations

import numpy as np

from treewright.tree.model import ModelData


def labels_of(classes: tuple[np.ndarray, ...], codes: np.ndarray) -> np.ndarray:
    """The labels that ``predict`` gives.

    Parameters
    ----------
    classes : tuple of ndarray
        Per output the sorted labels.
    codes : int[n, n_outputs]

    Returns
    -------
    ndarray[n], or ndarray[n, n_outputs] for several outputs

    Examples
    --------
    >>> labels_of((np.array(["no", "yes"]),), np.array([[1], [0]])).tolist()
    ['yes', 'no']
    """
    if len(classes) == 1:
        return classes[0].take(codes[:, 0])
    return np.stack([labels.take(codes[:, output]) for output, labels in enumerate(classes)], axis=1)


def quantile_levels(model: ModelData) -> tuple[float, ...]:
    """The levels of the quantiles that a boosted model predicts of one target; empty where it predicts other things."""
    told = model.facts.get("loss")
    if model.boosting is None or not isinstance(told, dict) or told.get("name") != "quantile":
        return ()
    given = told.get("quantile")
    levels = given if isinstance(given, list) else [given]
    if len(levels) != model.n_outputs or not all(isinstance(level, float) for level in levels):
        return ()
    return tuple(levels)
