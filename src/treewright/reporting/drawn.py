"""Some of the judged rows, drawn by a seed. In: a number of rows. Out: positions. Callers: reporting."""

from __future__ import annotations

import numpy as np


def rows_drawn(n: int, most: int, random_state: int) -> np.ndarray:
    """Positions of all rows, or of as many as there may be, ascending.

    Parameters
    ----------
    n : int
    most : int >= 1
    random_state : int >= 0

    Returns
    -------
    int64[min(n, most)]

    Examples
    --------
    >>> rows_drawn(3, 5, 0).tolist(), len(rows_drawn(9, 5, 0))
    ([0, 1, 2], 5)
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))
