"""When two trees are one. In: trees. Out: whether they are the same. Callers: tests of whatever makes trees."""

from __future__ import annotations

from treewright.trees.arrays import FIELDS, Tree


def trees_equal(a: Tree, b: Tree) -> bool:
    """Whether two trees are the same to the last bit: dtypes, shapes and cells (-0.0 is not 0.0 here)."""
    for field in FIELDS:
        one, other = getattr(a, field), getattr(b, field)
        if one.dtype != other.dtype or one.shape != other.shape or one.tobytes() != other.tobytes():
            return False
    return True
