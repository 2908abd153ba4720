"""The bits of a packed node.

A record is one int64 that is never negative: bits 0-1 kind (leaf, threshold, subset), 2 branch of a missing cell, 3-10
last bin that goes left, 11-31 column (for a subset, 3-31: its set), 32-62 first child (for a leaf: its row of the leaf
table).
"""

from __future__ import annotations

import numpy as np

LEAF_RECORD, THRESHOLD_RECORD, SUBSET_RECORD = 0, 1, 2
MISSING_SHIFT, CUT_SHIFT, COLUMN_SHIFT, SET_SHIFT, CHILD_SHIFT = 2, 3, 11, 3, 32
MAX_COLUMNS = 1 << 21
MAX_NODES = (1 << 31) - 1
MAX_SETS = 1 << (CHILD_SHIFT - SET_SHIFT)


def kind_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: ``LEAF_RECORD``, ``THRESHOLD_RECORD`` or ``SUBSET_RECORD`` (3 is not used)."""
    return records & 3


def missing_branch_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the branch of a missing cell; 0 at a leaf."""
    return (records >> MISSING_SHIFT) & 1


def cut_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: last bin that goes left, for threshold records."""
    return (records >> CUT_SHIFT) & 255


def column_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the column, for threshold records."""
    return (records >> COLUMN_SHIFT) & (MAX_COLUMNS - 1)


def set_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the set, for subset records."""
    return (records >> SET_SHIFT) & (MAX_SETS - 1)


def child_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the first child; for a leaf its row of the leaf table."""
    return records >> CHILD_SHIFT


def bits_below(counts: np.ndarray) -> np.ndarray:
    """uint64[k, 4]: the lowest ``counts[i]`` bits of row ``i`` set; counts from 0 to 256."""
    within = np.clip(counts[:, None] - 64 * np.arange(4), 0, 64).astype(np.uint64)
    # A shift by 64 has no defined result.
    return np.where(
        within > 0, np.uint64(2**64 - 1) >> (np.uint64(64) - np.maximum(within, np.uint64(1))), np.uint64(0)
    )
