"""Trees grown and pruned by hand: a session of commands, the figures of every step, and its model, script and log."""

from treewright.workbench.app import Session
from treewright.workbench.commands import Command

__all__ = ["Command", "Session"]
