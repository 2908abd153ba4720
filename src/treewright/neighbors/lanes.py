"""Eight float64 that kernels work on at once: vectors out of arrays, and back.

Written as loops, eight numbers side by side are too few for the compiler to vectorise, and it would look for overlaps
of the arrays each time. Each lane is rounded as the same float64 operation alone is, so the bits are the same.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

__all__ = ["LANES", "add", "at_most", "larger", "load", "minus", "spread", "store", "times"]

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ALIGNED = 8  # bytes: arrays of NumPy promise no more


class Lanes(types.Type):
    """Numba's type of eight float64; kernels alone know it."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    """A vector of the machine."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Address of eight numbers of a float64 array (C order, any number of axes, counted flat)."""
    view = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [at]), _VECTOR.as_pointer())


@intrinsic
def load(typing_context: Any, array: Any, at: Any) -> Any:
    """``array[at : at + 8]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], *arguments), align=_ALIGNED)

    return lanes(array, at), generate


@intrinsic
def store(typing_context: Any, array: Any, at: Any, vector: Any) -> Any:
    """Set ``array[at : at + 8]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, signature.args[0], *arguments[:2]), align=_ALIGNED)
        return context.get_dummy_value()

    return types.void(array, at, vector), generate


@intrinsic
def spread(typing_context: Any, number: Any) -> Any:
    """The same number eight times."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing, first = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)(0)
        one = builder.insert_element(nothing, arguments[0], first)
        return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    return lanes(types.float64), generate


@intrinsic
def add(typing_context: Any, one: Any, other: Any) -> Any:
    """Sums."""
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fadd(*arguments)


@intrinsic
def minus(typing_context: Any, one: Any, other: Any) -> Any:
    """Differences."""
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fsub(*arguments)


@intrinsic
def times(typing_context: Any, one: Any, other: Any) -> Any:
    """Products."""
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fmul(*arguments)


@intrinsic
def larger(typing_context: Any, one: Any, other: Any) -> Any:
    """The larger of each two."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return lanes(one, other), generate


def _mask(builder: Any, is_true: Any) -> Any:
    """A bit for each lane, the first the lowest."""
    return builder.zext(builder.bitcast(is_true, ir.IntType(LANES)), ir.IntType(64))


@intrinsic
def at_most(typing_context: Any, vector: Any, number: Any) -> Any:
    """Which lanes are at most those of another vector: a bit for each, uint64."""
    return types.uint64(vector, number), lambda _context, builder, _signature, arguments: _mask(
        builder, builder.fcmp_ordered("<=", *arguments)
    )
