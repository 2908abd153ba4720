"""Vectors of eight float64 for kernels: from arrays, and back.

Loops over eight numbers are too short for the compiler to vectorise, and it would check for overlaps of the arrays each
time. Each lane is rounded like the same float64 operation alone, so the bits are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

from treewright.core.jit import twin_of

__all__ = ["LANES", "add", "at_most", "larger", "load", "minus", "spread", "store", "times"]

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ALIGNED = 8  # bytes: NumPy guarantees no more for its arrays


class Lanes(types.Type):
    """Numba's type of eight float64, for kernels only."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    """A vector of the machine."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """The address of eight numbers of a float64 array (C order, any number of axes, flat index)."""
    view = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [at]), _VECTOR.as_pointer())


@intrinsic
def _load(typing_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], *arguments), align=_ALIGNED)

    return lanes(array, at), generate


@twin_of(_load)
def load(array: Any, at: Any) -> np.ndarray:
    """``array[at : at + 8]``."""
    return array.reshape(-1)[at : at + LANES].copy()


@intrinsic
def _store(typing_context: Any, array: Any, at: Any, vector: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, signature.args[0], *arguments[:2]), align=_ALIGNED)
        return context.get_dummy_value()

    return types.void(array, at, vector), generate


@twin_of(_store)
def store(array: Any, at: Any, vector: Any) -> None:
    """Set ``array[at : at + 8]``."""
    array.reshape(-1)[at : at + LANES] = vector


@intrinsic
def _spread(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing, first = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)(0)
        one = builder.insert_element(nothing, arguments[0], first)
        return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    return lanes(types.float64), generate


@twin_of(_spread)
def spread(number: Any) -> np.ndarray:
    """The same number eight times."""
    return np.full(LANES, number)


@intrinsic
def _add(typing_context: Any, one: Any, other: Any) -> Any:
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fadd(*arguments)


@twin_of(_add)
def add(one: Any, other: Any) -> np.ndarray:
    """The sums of two vectors."""
    return np.add(one, other)


@intrinsic
def _minus(typing_context: Any, one: Any, other: Any) -> Any:
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fsub(*arguments)


@twin_of(_minus)
def minus(one: Any, other: Any) -> np.ndarray:
    """The differences of two vectors."""
    return np.subtract(one, other)


@intrinsic
def _times(typing_context: Any, one: Any, other: Any) -> Any:
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fmul(*arguments)


@twin_of(_times)
def times(one: Any, other: Any) -> np.ndarray:
    """The products of two vectors."""
    return np.multiply(one, other)


@intrinsic
def _larger(typing_context: Any, one: Any, other: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return lanes(one, other), generate


@twin_of(_larger)
def larger(one: Any, other: Any) -> np.ndarray:
    """The larger numbers of two vectors."""
    return np.where(one > other, one, other)


def _mask(builder: Any, is_true: Any) -> Any:
    """A bit for each lane, the first the lowest."""
    return builder.zext(builder.bitcast(is_true, ir.IntType(LANES)), ir.IntType(64))


@intrinsic
def _at_most(typing_context: Any, vector: Any, number: Any) -> Any:
    return types.uint64(vector, number), lambda _context, builder, _signature, arguments: _mask(
        builder, builder.fcmp_ordered("<=", *arguments)
    )


@twin_of(_at_most)
def at_most(vector: Any, number: Any) -> np.uint64:
    """A bit for each lane that is at most that of another vector, uint64."""
    return np.uint64(np.packbits(vector <= number, bitorder="little")[0])
