"""Counter-based random numbers, and bits of machine words, for kernels. In: a seed and a place. Out: 64 bits.

A number depends on the seed and on where it is used (tree, node, column), never on when: so neither the number of
threads nor the order of growth can change a model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.cpython.unsafe.numbers import trailing_zeros as _trailing_zeros
from numba.extending import intrinsic

from treewright.core.jit import inner_kernel, twin_of

__all__ = ["prefetch", "trailing_zeros"]


@intrinsic
def _prefetch(typing_context: Any, array: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(view.strides, 0)
        place = builder.mul(
            builder.sext(arguments[1], stride.type) if arguments[1].type != stride.type else arguments[1], stride
        )
        byte = ir.IntType(8).as_pointer()
        address = builder.gep(builder.bitcast(view.data, byte), [place])
        whole = ir.IntType(32)
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        )
        builder.call(hint, [address, whole(0), whole(3), whole(1)])
        return context.get_dummy_value()

    return types.void(array, row), generate


@twin_of(_prefetch)
def prefetch(array: Any, row: Any) -> None:
    """Prefetch the cache line where ``array[row]`` begins (C-order, any number of axes); changes nothing."""


@twin_of(_trailing_zeros)
def trailing_zeros(word: Any) -> int:
    """Zeros below the lowest set bit of a uint64; 64 if none is set."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1 if bits else 64


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
