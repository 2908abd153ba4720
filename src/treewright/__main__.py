"""``python -m treewright``. In: the words after it. Out: what the command line does. Callers: the interpreter.

Ctrl-C and SIGTERM are heard from the first moment on: what the command line itself needs is imported below.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

from treewright.exceptions import Terminated, status_of_stop

__all__ = ["main"]


def _terminate(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
    Terminated.is_heard = True
    raise Terminated


def main() -> None:
    """Load the command line and run it."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # whoever started it may let it ignore the signal
        signal.signal(signal.SIGTERM, _terminate)
    try:
        from treewright.cli import app
    except KeyboardInterrupt as error:
        status, why = status_of_stop(error)
        sys.stderr.write(f"treewright: {why}; nothing was written\n")
        exec("")  # noqa: S102 - of nothing: see cli.app
        sys.exit(status)
    app.main()


if __name__ == "__main__":
    main()
