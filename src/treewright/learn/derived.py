"""Columns derived from nominal ones with many levels, and bins in the order of their levels. In: a dataset.

A subset of levels is chosen on the very rows that it then explains. If levels have few rows, the subset overfits: a
forest of 100 trees had an R2 of .27 on the polls of ``benchmarks/defaults``, and .43 with tests of runs of levels in
their own order and of the row count of a level (docs/decisions/0012). Boosting has another order: that of a statistic
of the target (``boosting.statistics``). ``grow.settings`` decides which columns these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import MAX_LEVEL_BINS, Bins, bins_of
from treewright.data.dataset import Dataset
from treewright.data.derived import rows_of_levels, with_derived, with_derived_cells
from treewright.data.schema import Column, Schema

_COUNTED_FROM = 30  # levels of a nominal column
_CODES = Schema((Column("code", "numeric"),))


def takes_derived(params: Any, dataset: Dataset) -> bool:
    """Whether columns may be derived: constraints do not cover these, and zeros would not stay zeros."""
    return params.monotonic_cst is None and params.interaction_cst is None and not dataset.is_sparse


def with_rows_of_levels(dataset: Dataset, columns: Sequence[int] | None = None) -> Dataset:
    """The dataset with row counts of the levels of nominal ``columns``; by default of those with many levels."""
    schema, weights = dataset.schema, dataset.sample_weight
    if columns is None:
        columns = [
            at
            for at, column in enumerate(schema.columns)
            if column.kind == "nominal" and not column.left_out and len(column.levels) >= _COUNTED_FROM
        ]
    made = [rows_of_levels(schema, at, dataset.matrix[:, at], weights) for at in columns]
    return with_derived_columns(dataset, with_derived(schema, made))


def with_derived_columns(dataset: Dataset, schema: Schema) -> Dataset:
    """The dataset with the cells of the derived columns that a wider schema has."""
    if len(schema) == len(dataset.schema):
        return dataset
    return replace(dataset, schema=schema, matrix=with_derived_cells(schema, dataset.matrix), cache=None)


def in_order_of_levels(
    bins: Bins, codes: Any, dataset: Dataset, columns: Sequence[int], max_bins: int
) -> tuple[Bins, Any]:
    """Bins of nominal columns that hold neighbouring levels, like those of numbers; and the rows in these bins.

    ``codes`` (uint8[n, stride]). Returns Bins: a level without rows has the bin of its neighbours; uint8[n, stride].
    """
    n_bins, level_bin, out = bins.n_bins.copy(), bins.level_bin.copy(), codes.copy()
    for column in columns:
        n_levels = len(dataset.schema.columns[column].levels)
        if n_levels <= min(max_bins, MAX_LEVEL_BINS):
            continue  # one bin per level, in their order
        cells = np.where(dataset.matrix[:, column] < n_levels, dataset.matrix[:, column], np.nan)[:, None]
        own = bins_of(cells, _CODES, dataset.weights, max_bins=min(max_bins, MAX_LEVEL_BINS))
        of_levels = bin_rows(own, np.arange(n_levels, dtype=np.float64)[:, None])[:, 0]
        n_bins[column] = int(own.n_bins[0])
        begin = int(bins.level_start[column])
        level_bin[begin : begin + n_levels], level_bin[begin + n_levels] = of_levels, n_bins[column]
        out[:, column] = bin_rows(own, cells)[:, 0]
    return replace(bins, n_bins=n_bins, level_bin=level_bin), out
