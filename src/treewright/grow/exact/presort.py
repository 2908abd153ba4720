"""Sorting each column once. In: the encoded matrix. Out: ``order``.

A radix sort of the float's bits, 11 at a time, least significant first: stable, so equal cells are in row order, and
digits that all cells share take no time (small integers and level codes need two or three of the six passes).
"""

from __future__ import annotations

import numpy as np

from treewright.core import progress, threads
from treewright.core.jit import inner_kernel, kernel
from treewright.data.schema import Schema
from treewright.grow.layout import MISSING, NEW, Columns
from treewright.grow.settings import GrowSettings

_DIGITS = 6
_BITS = 11
_RADIX = 1 << _BITS
_INLINE_CELLS = 30_000  # below, starting a thread takes longer than it saves


@inner_kernel
def float_keys(column, keys):
    """Unsigned integers in the order of the floats; nan becomes the largest, -0.0 equals 0.0.

    Parameters
    ----------
    column : float64[n], IN
    keys : uint64[n], OUT
    """
    bits = column.view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    for i in range(column.shape[0]):
        x = column[i]
        b = bits[i]
        if x == 0.0:
            b = np.uint64(0)
        if x != x:
            keys[i] = ~np.uint64(0)
        elif b & sign:
            keys[i] = ~b
        else:
            keys[i] = b | sign


@kernel
def sort_column(column, items, keys, other_keys, rows, other_rows, counts):
    """Sort one column into items (see ``layout``).

    Parameters
    ----------
    column : float64[n], IN
    items : int32[n], OUT
    keys, other_keys : uint64[n], scratch
    rows, other_rows : int32[n], scratch
    counts : int64[6, 2048], scratch

    Returns
    -------
    int
        Number of missing cells.
    """
    n = column.shape[0]
    float_keys(column, keys)
    counts[:] = 0
    for i in range(n):
        key = keys[i]
        for digit in range(_DIGITS):
            counts[digit, np.intp((key >> np.uint64(digit * _BITS)) & np.uint64(_RADIX - 1))] += 1
    for i in range(n):
        rows[i] = i
    for digit in range(_DIGITS):
        shift = np.uint64(digit * _BITS)
        if n > 0 and counts[digit, np.intp((keys[0] >> shift) & np.uint64(_RADIX - 1))] == n:
            continue
        start = 0
        for value in range(_RADIX):
            here = counts[digit, value]
            counts[digit, value] = start
            start += here
        for i in range(n):
            key = keys[i]
            value = np.intp((key >> shift) & np.uint64(_RADIX - 1))
            place = counts[digit, value]
            counts[digit, value] = place + 1
            other_keys[place] = key
            other_rows[place] = rows[i]
        keys, other_keys = other_keys, keys
        rows, other_rows = other_rows, rows
    missing = ~np.uint64(0)
    n_missing = 0
    for i in range(n):
        item = np.int64(rows[i])
        if keys[i] == missing:
            item |= MISSING
            n_missing += 1
        if i == 0 or keys[i] != keys[i - 1]:
            item |= NEW
        items[i] = item
    return n_missing


def presort(matrix: np.ndarray, schema: Schema, targets: np.ndarray, settings: GrowSettings) -> Columns:
    """Sort every column of the table, and the targets if medians are needed.

    Parameters
    ----------
    matrix : float[n, p]
    schema : Schema
    targets : float64[t, n]
    settings : GrowSettings

    Returns
    -------
    Columns
    """
    n, p = matrix.shape
    is_nominal = np.array([column.kind == "nominal" for column in schema.columns], bool)
    code_row = np.where(is_nominal, np.cumsum(is_nominal) - 1, -1).astype(np.int32)
    order = np.empty((p + len(targets), n), np.int32)
    codes = np.empty((int(is_nominal.sum()), n), np.int32)
    n_threads = min(settings.n_threads, p) if n * p > _INLINE_CELLS else 1
    scratch = [scratch_of_sort(n) for _ in range(n_threads)]

    def sort_one(task: int, thread: int) -> None:
        column = targets[task - p] if task >= p else np.ascontiguousarray(matrix[:, task], np.float64)
        if task < p and is_nominal[task]:
            codes[code_row[task]] = np.where(np.isnan(column), -1.0, column)
        sort_column(column, order[task], *scratch[thread])
        progress.report(task / (p + len(targets)), "sorting columns")

    threads.run_each(sort_one, p + len(targets), n_threads)
    return Columns(
        order=order,
        codes=codes,
        code_row=code_row,
        n_levels=np.array([len(c.levels) if c.kind == "nominal" else 0 for c in schema.columns], np.int32),
        monotone=np.array(settings.monotone or (0,) * p, np.int8),
        in_runs=np.isin(np.arange(p), settings.in_runs).astype(np.uint8),
    )


def scratch_of_sort(n: int) -> tuple[np.ndarray, ...]:
    """Scratch memory for sorting a column: 24 bytes per row."""
    return (
        np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.int32), np.empty(n, np.int32),
        np.empty((_DIGITS, _RADIX), np.int64),
    )  # fmt: skip
