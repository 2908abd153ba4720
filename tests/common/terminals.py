"""Terminals for tests: one that is a real pseudo-terminal, and one that only says so, which is quicker."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import redirect_stdout, suppress
from unittest import mock

from treewright.cli.app import app

CODE = re.compile("\x1b\\[[0-9;]*m")
# What decides about colours and widths; a test says each of them itself.
DECIDING = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


def plain(text):
    """A text without colour codes."""
    return CODE.sub("", text)


class _Screen(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def run_on_screen(*words, columns=80, encoding="utf-8", code=0, **environ):
    """Run the command within this process, its output on a terminal, to this exit code; what it printed there."""
    bytes_of_screen = io.BytesIO()
    screen = _Screen(bytes_of_screen, encoding=encoding, errors="replace", write_through=True)
    kept = {name: value for name, value in os.environ.items() if name not in DECIDING}
    around = {**kept, "TERM": "xterm-256color", "COLUMNS": str(columns), **environ}
    with mock.patch.dict(os.environ, around, clear=True), redirect_stdout(screen):
        left_with = app([str(word) for word in words], standalone_mode=False)
    assert (left_with or 0) == code
    return bytes_of_screen.getvalue().decode(encoding)


def run_on_pty(*words, columns=80, surroundings=None, **environ):
    """Run the command in a process of its own on a pseudo-terminal of some width; what it printed there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {name: value for name, value in (surroundings or os.environ).items() if name not in DECIDING}
    with subprocess.Popen(
        [sys.executable, "-m", "treewright", *map(str, words)],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
        env={**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **environ},
    ) as process:  # fmt: skip
        os.close(theirs)
        said = b""
        with suppress(OSError):  # the other end has gone
            while piece := os.read(ours, 65536):
                said += piece
        os.close(ours)
        assert process.stderr is not None
        errors = process.stderr.read()
        assert process.wait(timeout=250) == 0, errors
    return said.decode("utf-8").replace("\r\n", "\n")
