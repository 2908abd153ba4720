"""Bits of a machine word, and hints to the memory, for kernels."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.cpython.unsafe.numbers import trailing_zeros as _trailing_zeros
from numba.extending import intrinsic

from treewright.core.jit import twin_of

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
