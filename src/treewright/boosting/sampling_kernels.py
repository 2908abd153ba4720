"""Numbers by which rows are drawn. In: a seed. Out: a key a row. Caller: boosting.sampling."""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_kernel
from treewright.core.random import mix


@bare_kernel
def fill_keys(seed, keys):
    """Fill in a key for each row; no two rows of one seed have the same (``mix`` maps one to one).

    Parameters
    ----------
    seed : uint64
    keys : uint64[n], OUT
    """
    for row in range(len(keys)):
        keys[row] = mix(seed, np.uint64(row))
