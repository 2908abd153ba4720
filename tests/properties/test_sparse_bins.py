"""Bins and rows of a sparse table against those of the dense one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from treewright.data.bin_rows import bin_rows, bins_of_sparse, codes_of_sparse
from treewright.data.bins import bins_of
from treewright.data.schema import Column, Schema
from treewright.data.sparse import SparseMatrix

CELLS = st.sampled_from([0.0, 0.0, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-300, -np.inf, np.inf, np.nan])


@st.composite
def tables(draw):
    """Cells, what rows weigh, most bins."""
    n, p = draw(st.integers(1, 30)), draw(st.integers(1, 5))
    cells = draw(arrays(np.float64, (n, p), elements=CELLS))
    if draw(st.booleans()):  # more values than bins
        cells[:, 0] = np.where(np.arange(n) % 4, np.arange(n) - 7.0, 0.0)
    weights = draw(st.none() | arrays(np.float64, n, elements=st.sampled_from([1.0, 2.0, 0.25])))
    return cells, weights, draw(st.sampled_from([2, 3, 255]))


@given(tables())
def test_bins_and_codes_of_a_sparse_table_are_those_of_the_dense_one(table):
    cells, weights, max_bins = table
    schema = Schema(tuple(Column(f"x{at}", "numeric") for at in range(cells.shape[1])), False)
    matrix = SparseMatrix.of(csr_matrix(cells))
    dense, sparse = (
        bins_of(cells, schema, weights, max_bins=max_bins),
        bins_of_sparse(matrix, schema, weights, max_bins=max_bins),
    )
    for name in ("n_bins", "start", "lowest", "highest"):
        np.testing.assert_array_equal(getattr(sparse, name), getattr(dense, name))
    codes = bin_rows(dense, cells)
    np.testing.assert_array_equal(codes_of_sparse(sparse, matrix).dense(), codes)
    np.testing.assert_array_equal(bin_rows(dense, matrix), codes)
    some = np.arange(len(cells))[::-2]
    np.testing.assert_array_equal(codes_of_sparse(sparse, matrix)[some].dense(), codes[some])
