"""``python -m treewright``. In: the words after it. Out: what the command line does. Callers: the interpreter."""

from __future__ import annotations

from treewright.cli.app import main

if __name__ == "__main__":
    main()
