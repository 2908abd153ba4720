"""Memory given back to the system."""

from __future__ import annotations

from treewright.data import memory


def test_memory_is_given_back_or_nothing_happens(monkeypatch):
    memory.release_memory()
    monkeypatch.setattr(memory, "_c_library", lambda: None)
    memory.release_memory()
