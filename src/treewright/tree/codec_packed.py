"""Packed trees in a model file. In: ``PackedTrees``. Out: arrays by name, and back. Caller: ``tree.codec``.

Only places and dtypes are looked at here; what the arrays hold is ``check_packed``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.exceptions import ModelFileError
from treewright.tree.check_bins import DTYPES as BIN_DTYPES
from treewright.tree.container import DTYPE_NAMES, Layout
from treewright.tree.packed import PackedTrees

F8, F4, I8, U8, I4, U1 = (np.dtype(kind) for kind in ("<f8", "<f4", "<i8", "<u8", "<i4", "u1"))

# Before and after the three arrays of leaves whose cells have four or eight bytes: the widest cells first.
_WIDE: Layout = {
    "packed.importances": (F8, 2),
    "bins.lowest": (F8, 1),
    "bins.highest": (F8, 1),
    "packed.records": (I8, 1),
    "packed.roots": (I8, 1),
    "packed.leaf_samples": (I8, 1),
    "bins.start": (I8, 1),
    "bins.level_start": (I8, 1),
    "packed.sets": (U8, 2),
    "packed.seen": (U8, 2),
}
_LEAVES = {"packed.leaf_value": 2, "packed.leaf_weight": 1, "packed.leaf_impurity": 1}
_NARROW: Layout = {
    "packed.set_column": (I4, 1),
    "bins.n_bins": (I4, 1),
    "bins.is_nominal": (U1, 1),
    "bins.level_bin": (U1, 1),
}


def packed_layout(places: Mapping[str, Any]) -> Layout:
    """The arrays of a file of packed trees, with the leaves' dtypes that its header states.

    Parameters
    ----------
    places : mapping
        From ``container.read_header``; not trusted.

    Returns
    -------
    dict of str to (dtype, number of axes)
        Where the header states no dtype that a leaf array may have, the one that is expected.
    """
    leaves: Layout = {}
    for name, n_axes in _LEAVES.items():
        place = places.get(name)
        stated = place.get("dtype") if isinstance(place, dict) else None
        leaves[name] = (F4 if stated == DTYPE_NAMES[F4.str] else F8, n_axes)
    # Eight bytes behind four would begin at an odd place.
    widths = [dtype.itemsize for dtype, _ in leaves.values()]
    filled = [width for width, name in zip(widths, leaves, strict=True) if _is_filled(places.get(name))]
    if filled != sorted(filled, reverse=True):
        raise ModelFileError("damaged model file: the leaf arrays have dtypes that do not go together")
    return {**_WIDE, **leaves, **_NARROW}


def _is_filled(place: object) -> bool:
    """Whether an array of the header has cells."""
    shape = place.get("shape") if isinstance(place, dict) else None
    return not isinstance(shape, list) or 0 not in shape


def arrays_of(packed: PackedTrees) -> tuple[dict[str, np.ndarray], Layout]:
    """The arrays of packed trees by their names in a file, and the layout that holds them."""
    arrays = {f"packed.{name}": array for name, array in packed.arrays().items()}
    arrays |= {f"bins.{name}": getattr(packed.bins, name) for name in BIN_DTYPES}
    leaves = {name: (arrays[name].dtype.newbyteorder("<"), n_axes) for name, n_axes in _LEAVES.items()}
    return arrays, {**_WIDE, **leaves, **_NARROW}


def packed_of(arrays: Mapping[str, np.ndarray], criterion: str, n_classes: tuple[int, ...]) -> PackedTrees:
    """Packed trees that ``check_packed`` has still to look at; the arrays of nodes and leaves are not copied."""
    from treewright.data.bins import Bins  # not at the top: it brings Numba, which loading a tree must not need

    if (arrays["bins.is_nominal"] > 1).any():
        raise ModelFileError("damaged model file: is_nominal holds other numbers than 0 and 1")
    # The bins are small; fresh copies can be written to, like those of a fit, so that kernels meet one type of array.
    held: dict[str, Any] = {name: arrays[f"bins.{name}"].astype(dtype) for name, dtype in BIN_DTYPES.items()}
    trees = {name.removeprefix("packed."): array for name, array in arrays.items() if name.startswith("packed.")}
    return PackedTrees(bins=Bins(**held), criterion=criterion, n_classes=n_classes, **trees)
