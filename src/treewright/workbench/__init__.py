"""Trees grown and cut by hand: a session of commands, what every step shows, and the model, script and log of it."""

from treewright.workbench.commands import Command
from treewright.workbench.session import Session

__all__ = ["Command", "Session"]
