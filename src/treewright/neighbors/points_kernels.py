"""Rows into points, each for itself. In: rows. Out: rows of length one, rows times a matrix. Caller: neighbors.metrics.

Every sum runs over the columns in order: a row has the same point alone and among a million. (BLAS gives no such
promise, and a row of the fit would not be at distance 0 from itself.)
"""

from __future__ import annotations

import math

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel


@bare_kernel
def times_matrix(rows, matrix, out):
    """Rows times a matrix.

    Parameters
    ----------
    rows : float64[n, p]
    matrix : float64[p, d]
    out : float64[n, d], OUT
    """
    for i in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for c in range(rows.shape[1]):
            cell = rows[i, c]
            for j in range(out.shape[1]):
                out[i, j] += cell * matrix[c, j]


@bare_kernel
def unit_rows(rows, centred, out):
    """Rows divided by their length, and one coordinate more, which puts rows of zeros beside them.

    A row of zeros has no direction. Its point is 0 everywhere but 1 in the last coordinate: the squares from it to
    every unit row add up to exactly 2 (a cosine of 0), to another row of zeros to 0. The last coordinate of a unit row
    makes up for the rounding of its own squares: some units in the last place, which add some 1e-32 to squares between
    unit rows.

    Parameters
    ----------
    rows : float64[n, p]
    centred : bool
        Subtract its mean from every row first; a row of equal cells is one of zeros.
    out : float64[n, p + 1], OUT
    """
    p = rows.shape[1]
    for i in range(rows.shape[0]):
        for j in range(p):
            out[i, j] = rows[i, j]
        out[i, p] = 0.0
        if centred:
            _shrink(out, i, p)
            _centre(out, i, p)
        largest = _shrink(out, i, p)
        if largest == 0.0:
            out[i, p] = 1.0
            continue
        length = math.sqrt(_squares(out, i, p))
        for j in range(p):
            out[i, j] /= length
        out[i, p] = _remainder(_squares(out, i, p))


@bare_inner_kernel
def _squares(points, i, p):
    """Sum of squares of a row's first p coordinates, in order."""
    total = 0.0
    for j in range(p):
        total += points[i, j] * points[i, j]
    return total


@bare_inner_kernel
def _shrink(points, i, p):
    """Multiply a row by the power of two that puts its largest cell between 0.5 and 1: no square overflows.

    Returns
    -------
    float64
        The largest magnitude before; 0 for a row of zeros, which stays as it is.
    """
    largest = 0.0
    for j in range(p):
        largest = max(largest, abs(points[i, j]))
    if largest > 0.0:
        _, exponent = math.frexp(largest)
        half = -(exponent // 2)  # in two steps: 2**1073 and 2**-1074 are not both float64
        first, second = math.ldexp(1.0, half), math.ldexp(1.0, -exponent - half)
        for j in range(p):
            points[i, j] = points[i, j] * first * second
    return largest


@bare_inner_kernel
def _centre(points, i, p):
    """Subtract its mean from a row, which ``_shrink`` has seen; equal cells become exactly 0."""
    equal = True
    for j in range(1, p):
        equal = equal and points[i, j] == points[i, 0]
    if equal:
        for j in range(p):
            points[i, j] = 0.0
        return
    for _ in range(2):  # the second time takes what rounding left of the first
        mean = 0.0
        for j in range(p):
            mean += points[i, j]
        mean /= p
        for j in range(p):
            points[i, j] -= mean


@bare_inner_kernel
def _remainder(squares):
    """The coordinate c for which ``squares + (1 - c) * (1 - c)`` is 2 in float64, of squares that are nearly 1.

    Below 1 squares are 1 - m / 2**53 and all of m - 1, ..., m + 2 over 2**53 fill it up to a number that rounds to 2;
    one of these is a multiple of four, and the square of 1 + t / 2**52 is 1 + 4 t / 2**53.
    Above 1 they are 1 + m / 2**52, and the square of 1 - m / 2**53 is 1 - m / 2**52.
    """
    if squares > 1.0:
        return (squares - 1.0) * 0.5
    missing = np.int64((1.0 - squares) * 2.0**53)
    return -np.float64((missing + 2) // 4) * 2.0**-52
