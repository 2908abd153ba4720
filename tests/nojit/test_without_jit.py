"""Kernels as plain Python make the bytes of the compiled ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FITS = Path(__file__).parent / "fits.py"


def digests(**environment: str) -> dict[str, str]:
    """What ``fits.py`` prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(FITS)], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.timeout(600)  # the compiled fits may be the first of their kernels
def test_every_fit_without_jit_has_the_bytes_of_the_compiled_one() -> None:
    plain, compiled = digests(NUMBA_DISABLE_JIT="1"), digests(NUMBA_DISABLE_JIT="0")
    assert {name: plain[name] for name in compiled} == compiled
    assert [name for name, digest in compiled.items() if len(digest) != 16] == []  # every fit is one, no error's text
