"""Targets of leaves in a model file. In: ``LeafTargets``. Out: arrays by name, and back. Caller: ``tree.codec``.

Only names and dtypes are known here; what the arrays hold is ``check_leaf_targets``'s.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from treewright.tree.container import Layout
from treewright.tree.leaf_targets import LeafTargets

_TARGETS: Layout = {
    "targets.values": (np.dtype("<f8"), 1),
    "targets.ranks": (np.dtype("<i4"), 1),
    "targets.reached": (np.dtype("<i4"), 1),
}


def arrays_of_targets(targets: LeafTargets | None) -> dict[str, np.ndarray]:
    """The arrays by their names in a file; none where there are no targets."""
    if targets is None:
        return {}
    return {name: getattr(targets, name.removeprefix("targets.")) for name in _TARGETS}


def with_targets(layout: Layout, names: Container[str]) -> Layout:
    """The arrays of a file, those of the targets among them where one of them is named.

    Parameters
    ----------
    layout : dict of str to (dtype, number of axes)
        The other arrays of the file.
    names : container of str
        The arrays that there are; not trusted.
    """
    if not any(name in names for name in _TARGETS):
        return layout
    # The widest cells first, as everywhere; sorting leaves the others in their order.
    return dict(sorted({**layout, **_TARGETS}.items(), key=lambda item: -item[1][0].itemsize))


def targets_of(arrays: Mapping[str, np.ndarray]) -> LeafTargets | None:
    """Targets that ``check_model`` has still to look at; the arrays are not copied."""
    if "targets.values" not in arrays:
        return None
    return LeafTargets(*(arrays[name] for name in _TARGETS))
