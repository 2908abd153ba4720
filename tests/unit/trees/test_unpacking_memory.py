"""A claim about the memory that one tree of many asks for when it is unpacked."""

from __future__ import annotations

import pytest
from packed_trees import draw

from treewright.data import memory
from treewright.exceptions import TooLargeError
from treewright.trees.arrays import SUBSET_RECORD, kind_of
from treewright.trees.packed import join


def test_sets_of_levels_that_do_not_fit_in_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = join(draw(7).parts)
    records = [packed.records[start:stop] for start, stop in zip(packed.roots[:-1], packed.roots[1:], strict=True)]
    n_sets = [int((kind_of(of_tree) == SUBSET_RECORD).sum()) for of_tree in records]
    tree = max(range(len(n_sets)), key=n_sets.__getitem__)
    n_bytes = packed[tree].levels_left.nbytes + packed[tree].levels_seen.nbytes
    assert n_bytes > 0
    monkeypatch.setattr(memory, "ALWAYS_ALLOWED", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: n_bytes - 1)
    with pytest.raises(TooLargeError, match=f"{n_sets[tree]} sets of levels of one tree needs {n_bytes} bytes"):
        packed[tree]
    monkeypatch.setattr(memory, "available_memory", lambda: n_bytes)
    assert packed[tree].levels_left.nbytes * 2 == n_bytes
