"""Named tuples that kernels take as one pointer. In: a NamedTuple class. Out: the class, known to Numba as a struct.

Numba passes a tuple member by member, and an array as seven words or more: a grower's kernels passed each other some
six hundred words a call, and each of them was compiled with as many parameters. A struct lies in the memory of the call
from Python, and kernels pass its address.

Nothing writes to a struct while kernels run (only to the elements of its arrays), and the loads are marked accordingly:
LLVM moves them out of loops as it moves parameters. Structs are for kernels without reference counts: one with them
counts those of each array that it reads (C4.5 would).
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import NativeValue, models, register_model, typeof_impl, unbox
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr

from treewright.core.numba_inside import IS_KNOWN

__all__ = ["Struct", "struct"]

T = TypeVar("T", bound=type)


class Struct(types.Type):
    """Numba's type of a struct.

    Attributes
    ----------
    instance_class : type
        The NamedTuple.
    members : tuple of Numba types
        Of its fields, in order.
    """

    def __init__(self, instance_class: Any, members: tuple[Any, ...]) -> None:
        self.instance_class = instance_class
        self.members = members
        told = ", ".join(f"{name}: {kind}" for name, kind in zip(instance_class._fields, members, strict=True))
        # Short: every name of compiled code contains those of its arguments' types.
        digest = hashlib.blake2b(told.encode(), digest_size=5).hexdigest()
        super().__init__(name=f"{instance_class.__module__}.{instance_class.__qualname__}.{digest}")

    @property
    def key(self) -> Any:
        """The key by which two types are equal."""
        return self.instance_class, self.members

    def place_of(self, field: str) -> int:
        """Number of a field."""
        return int(self.instance_class._fields.index(field))


def struct(named_tuple: T) -> T:
    """Decorate a NamedTuple class: kernels take it as a pointer, and read its fields by name."""
    if not IS_KNOWN:
        return named_tuple

    @typeof_impl.register(named_tuple)
    def type_of(value: Any, context: Any) -> Struct:
        return Struct(named_tuple, tuple(typeof_impl(member, context) for member in value))

    return named_tuple


@infer_getattr
class _Fields(AttributeTemplate):
    key = Struct

    def generic_resolve(self, struct_type: Struct, field: str) -> Any:  # type: ignore[override]  # of an example in Numba
        if field in struct_type.instance_class._fields:
            return struct_type.members[struct_type.place_of(field)]
        return None


@register_model(Struct)
class _Pointer(models.PrimitiveModel):
    """A struct in LLVM: a pointer to its members. The caller owns the references; a kernel counts what it reads."""

    def __init__(self, dmm: Any, struct_type: Struct) -> None:
        pointed = ir.LiteralStructType([dmm[member].get_value_type() for member in struct_type.members])
        super().__init__(dmm, struct_type, pointed.as_pointer())


@lower_getattr_generic(Struct)
def _read(context: Any, builder: Any, struct_type: Struct, pointer: Any, field: str) -> Any:
    value = builder.call(_reader(builder.module, struct_type, field, pointer.type), [pointer])
    return impl_ret_borrowed(context, builder, struct_type.members[struct_type.place_of(field)], value)


def _reader(module: Any, struct_type: Struct, field: str, pointer: Any) -> Any:
    """An LLVM function that reads a field; generated once for each module that reads it, and inlined.

    Generated at each read, it took dozens of instructions every time, and a quarter of the compile time.
    """
    name = f"read.{struct_type.name}.{field}"
    if name in module.globals:
        return module.globals[name]
    place = struct_type.place_of(field)
    function = ir.Function(module, ir.FunctionType(pointer.pointee.elements[place], [pointer]), name)
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    function.attributes.add("nounwind")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(_load(builder, _member(builder, function.args[0], place)))
    return function


def _member(builder: Any, pointer: Any, place: int) -> Any:
    return cgutils.gep_inbounds(builder, pointer, 0, place)


def _load(builder: Any, pointer: Any) -> Any:
    """A member, word by word: LLVM loses the metadata of a load that it divides into words itself."""
    kind = pointer.type.pointee
    if isinstance(kind, ir.Aggregate):
        value = ir.Constant(kind, ir.Undefined)
        for place in range(len(kind)):
            value = builder.insert_value(value, _load(builder, _member(builder, pointer, place)), place)
        return value
    word = builder.load(pointer)
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@unbox(Struct)
def _from_python(struct_type: Struct, given: Any, c: Any) -> Any:
    """The members of a tuple from Python, placed one after another on the stack of the call."""
    pointed = c.context.get_value_type(struct_type).pointee
    place_of_all = cgutils.alloca_once(c.builder, pointed)
    is_error = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    natives = []
    for place, member in enumerate(struct_type.members):
        native = c.unbox(member, c.pyapi.tuple_getitem(given, place))
        c.builder.store(native.value, _member(c.builder, place_of_all, place))
        with c.builder.if_then(native.is_error, likely=False):
            c.builder.store(cgutils.true_bit, is_error)
        natives.append((member, native))

    def clean_up() -> None:
        for member, native in reversed(natives):
            if native.cleanup is not None:
                native.cleanup()
            if c.context.enable_nrt:
                c.context.nrt.decref(c.builder, member, native.value)

    # LLVM must not see that these are the cells just written: it may read what never changes before the first store.
    same = ir.FunctionType(place_of_all.type, [place_of_all.type])
    handed_on = c.builder.asm(same, "", "=r,0,~{memory}", [place_of_all], side_effect=True)
    return NativeValue(handed_on, cleanup=clean_up, is_error=c.builder.load(is_error))
