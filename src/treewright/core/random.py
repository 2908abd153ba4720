"""Counter-based random numbers. In: a seed and a place. Out: the same 64 bits for ever.

A number depends on the seed and on where it is used (tree, node, column), never on when: so neither the number of
threads nor the order of growth can change a model.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel

_WORD = 2**64 - 1


def mixed(state: int, position: int) -> int:
    """Like ``mix``, outside of kernels.

    Parameters
    ----------
    state, position : int, 0 to 2**64 - 1

    Examples
    --------
    >>> mixed(1, 0) != mixed(0, 1)
    True
    """
    z = (state + (position + 1) * 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


@inner_kernel
def mix(state, position):
    """64 well-mixed bits from a state and a position.

    The finaliser of splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators", figure
    9).

    Parameters
    ----------
    state, position : uint64

    Returns
    -------
    uint64
    """
    z = np.uint64(state) + (np.uint64(position) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
