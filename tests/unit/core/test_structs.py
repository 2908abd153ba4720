"""Structs: what kernels read of a named tuple that they take as one pointer."""

from __future__ import annotations

import pickle
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from treewright.core.jit import allocating_kernel, inner_kernel, kernel
from treewright.core.structs import Struct, struct


@struct
class Inner(NamedTuple):
    """A struct within a struct."""

    cells: np.ndarray
    is_last: bool


@struct
class Outer(NamedTuple):
    """Everything a field can be, and a name that tuples have themselves."""

    count: np.ndarray
    scale: float
    first: int
    inner: Inner
    index: np.ndarray


@pytest.fixture
def outer():
    return Outer(np.arange(6), 0.5, 2, Inner(np.arange(6.0).reshape(2, 3), True), np.zeros(3, np.uint8))


@inner_kernel
def add_up(outer, at):
    total = 0.0
    for place in range(outer.count.shape[0]):
        total += outer.scale * outer.count[place]
    if outer.inner.is_last:
        total += outer.inner.cells[1, at]
    return total


@kernel
def read(outer):
    outer.index[outer.first] = 7
    return add_up(outer, np.int64(2)), outer.inner.cells.shape[1]


@allocating_kernel
def copies(outer, times):
    made = outer.count.copy()
    cells = outer.count
    for _ in range(times):
        own = outer.inner
        cells = outer.count if own.is_last else made
        made = made + cells
    return made


def test_fields_of_every_kind_are_read_and_arrays_are_written_to(outer):
    assert read(outer) == (0.5 * 15 + 5.0, 3)
    assert outer.index.tolist() == [0, 0, 7]


def test_the_next_call_reads_the_next_tuple(outer):
    read(outer)

    assert read(outer._replace(scale=2.0, first=0))[0] == 2.0 * 15 + 5.0
    assert outer.index.tolist() == [7, 0, 7]


def test_views_and_read_only_arrays_are_read_as_they_lie(outer):
    cells = np.arange(12.0).reshape(6, 2)[::3]
    inner = Inner(np.ascontiguousarray(np.c_[cells, [5.0, 5.0]]), False)
    count = np.arange(12)[::2]
    count.flags.writeable = False

    assert read(outer._replace(count=count, inner=inner))[0] == 0.5 * count.sum()


def test_no_reference_is_lost_or_kept(outer):
    arrays = outer.count, outer.inner.cells, outer.index
    copies(outer, 2)
    before = [sys.getrefcount(array) for array in arrays]

    made = [copies(outer, 3) for _ in range(50)]

    assert [sys.getrefcount(array) for array in arrays] == before
    assert made[0].tolist() == (4 * np.arange(6)).tolist()


def test_a_field_of_another_type_is_another_type_of_struct(outer):
    one, same, other = (numba.typeof(each) for each in (outer, outer, outer._replace(count=np.arange(3.0))))

    assert one == same != other
    assert isinstance(one, Struct)
    assert str(one) != str(other)
    assert pickle.loads(pickle.dumps(one)) == one


def test_what_is_no_field_is_refused_when_a_kernel_is_compiled(outer):
    @kernel
    def wrong(outer):
        return outer.nothing

    with pytest.raises(numba.TypingError, match="nothing"):
        wrong(outer)
