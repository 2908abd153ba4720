"""``python -m treewright``. In: the words after it. Out: what the command line does. Callers: the interpreter.

Ctrl-C is heard from the first moment on: what the command line itself needs is imported below.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Load the command line and run it."""
    try:
        from treewright.cli import app
    except KeyboardInterrupt:
        sys.stderr.write("treewright: stopped by Ctrl-C; nothing was written\n")
        exec("")  # noqa: S102 - of nothing: see cli.app
        sys.exit(130)
    app.main()


if __name__ == "__main__":
    main()
