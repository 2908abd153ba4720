"""Lets every test import what the folders ``common`` and ``oracle`` hold, whichever way pytest was started."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("common", "oracle")]

# A shell that starts the run in the background lets it ignore Ctrl-C, and the tests of Ctrl-C send that to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
