"""Many trees in eight bytes a node. In: grown nodes. Out: ``PackedTrees``. Callers: forest, predict, codec, model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from treewright.tree.arrays import Tree
from treewright.tree.records import (
    CHILD_SHIFT,
    COLUMN_SHIFT,
    CUT_SHIFT,
    LEAF_RECORD,
    MAX_COLUMNS,
    MAX_NODES,
    MISSING_SHIFT,
    SET_SHIFT,
    SUBSET_RECORD,
    THRESHOLD_RECORD,
)
from treewright.tree.unpacking import unpack

if TYPE_CHECKING:
    from treewright.data.bins import Bins

__all__ = [
    "CHILD_SHIFT",
    "COLUMN_SHIFT",
    "CUT_SHIFT",
    "LEAF_RECORD",
    "MAX_COLUMNS",
    "MAX_NODES",
    "MISSING_SHIFT",
    "SET_SHIFT",
    "SUBSET_RECORD",
    "THRESHOLD_RECORD",
    "PackedTrees",
]


@dataclass(frozen=True, eq=False)
class PackedTrees(Sequence[Tree]):
    """Trees on bins, one int64 a node (docs/decisions/0005). A sequence: an item becomes a `Tree` when it is asked for.

    Of criterion ``"gradient"`` (boosting) a leaf's value is what it adds to a score, its weight its sum of hessians,
    its impurity 0; ``importances`` are gains, not negative, that do not sum to one.

    Attributes
    ----------
    bins : Bins
    criterion : str
        What the trees were grown to lower: impurities are made from it.
    n_classes : tuple of int
        Classes per output; empty for regression.
    records : int64[n_nodes]
        All trees one after another; siblings side by side, parents before children. A child is a position in
        ``records``. The bits: ``tree.records``.
    roots : int64[n_trees + 1]
        Where each tree begins; the last entry is ``n_nodes``.
    sets, seen : uint64[n_sets, 4]
        Of each subset test: bins that go left (also those without rows in the node: they take the heavier branch), and
        bins that had rows in the node. Bit ``b & 63`` of word ``b >> 6``. In the order of their nodes. No bit of
        ``sets`` beyond ``n_bins`` (the bin of levels without rows) is set, and none of ``seen`` from there on.
    set_column : int32[n_sets]
        Column of each subset test.
    leaf_value : float32 or float64 [m, n_values]
        Leaf table: class counts (outputs one after another; float32 where all of them are whole numbers below 2**24),
        or predictions (one per output; float64). Leaves that are equal share a row.
    leaf_weight, leaf_impurity : float32[m] or float64[m]
        Regression only, else empty. One dtype for both: float64 where float32 does not hold the weights exactly or
        where an impurity is beyond its range.
    leaf_samples : int64[m]
        Training rows of the leaf; empty where they are as many as the weight.
    importances : float64[n_trees, p]
        Impurity importances of each tree: not negative, they sum to one or are all 0.
    """

    bins: Bins
    criterion: str
    n_classes: tuple[int, ...]
    records: np.ndarray
    roots: np.ndarray
    sets: np.ndarray
    seen: np.ndarray
    set_column: np.ndarray
    leaf_value: np.ndarray
    leaf_weight: np.ndarray
    leaf_impurity: np.ndarray
    leaf_samples: np.ndarray
    importances: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[type[PackedTrees], tuple[Any, ...]]:
        # Only the fields: what was derived from them and kept must not change the bytes of a pickle.
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, without those of the bins."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in held.items() if isinstance(value, np.ndarray)}

    @property
    def n_trees(self) -> int:
        """How many trees there are; 0 where ``roots`` is empty, as a file may have it."""
        return max(len(self.roots) - 1, 0)

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees, leaves included."""
        return len(self.records)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays in bytes, those of the bins included."""
        binned = (getattr(self.bins, each.name) for each in fields(self.bins))
        return sum(array.nbytes for array in (*self.arrays().values(), *binned))

    @cached_property
    def cuts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each column's cuts begin, and the cuts (``data.bins.cuts_of``)."""
        from treewright.data.bins import cuts_of  # not at the top: it brings Numba, which loading a tree must not need

        return cuts_of(self.bins)

    def feature_importances(self) -> np.ndarray:
        """Return float64[p]: the trees' mean impurity importances, or shares of all gains; they sum to one or are 0."""
        total = self.importances.sum(axis=0)
        whole = total.sum()
        return total / whole if whole > 0 else total

    def __len__(self) -> int:
        return self.n_trees

    @overload
    def __getitem__(self, item: int) -> Tree: ...

    @overload
    def __getitem__(self, item: slice) -> tuple[Tree, ...]: ...

    def __getitem__(self, item: int | slice) -> Tree | tuple[Tree, ...]:
        found = range(self.n_trees)[item]
        if isinstance(found, range):
            return tuple(unpack(self, tree) for tree in found)
        return unpack(self, found)

    def __iter__(self) -> Iterator[Tree]:
        return (unpack(self, tree) for tree in range(self.n_trees))

    def __repr__(self) -> str:
        return f"PackedTrees({self.n_trees} trees, {self.n_nodes} nodes)"
