"""Class codes as labels. In: codes. Out: labels in the target's dtype. Callers: model.predicting, model.neighbors."""

from __future__ import annotations

import numpy as np


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
