"""What a wrong prediction of one row costs: names of losses, and the kernel. In: a row's target, what is predicted.

Out: a number. Callers: prune.losses, prune.path_errors.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from treewright.core.jit import inner_kernel

Loss = Literal["misclassification", "squared_error", "absolute_error", "poisson"]

MISCLASSIFICATION, SQUARED_ERROR, ABSOLUTE_ERROR, POISSON = range(4)
OF_CLASSES: dict[str, int] = {"misclassification": MISCLASSIFICATION}
OF_NUMBERS: dict[str, int] = {"squared_error": SQUARED_ERROR, "absolute_error": ABSOLUTE_ERROR, "poisson": POISSON}
NUMBERS = OF_CLASSES | OF_NUMBERS


@inner_kernel
def row_loss(target: np.ndarray, row: int, said: np.ndarray, at: int, loss: int) -> float:
    """Loss of a row, summed over the outputs.

    Parameters
    ----------
    target : float64[n, n_outputs], IN
        Class codes or numbers.
    row : int
    said : float64[m, n_outputs], IN
        Predictions; for Poisson's deviance above 0.
    at : int
        Which of them is the row's.
    loss : int
        One of the constants of this module.

    Notes
    -----
    Poisson's deviance of y at a prediction m is 2 (y log(y / m) - y + m).
    """
    total = 0.0
    for output in range(target.shape[1]):
        truth, predicted = target[row, output], said[at, output]
        if loss == MISCLASSIFICATION:
            total += 0.0 if truth == predicted else 1.0
        elif loss == SQUARED_ERROR:
            total += (truth - predicted) * (truth - predicted)
        elif loss == ABSOLUTE_ERROR:
            total += abs(truth - predicted)
        else:
            # Rounding must not make a perfect prediction better than perfect.
            part = truth * np.log(truth / predicted) if truth > 0.0 else 0.0
            total += 2.0 * max(part - truth + predicted, 0.0)
    return total
