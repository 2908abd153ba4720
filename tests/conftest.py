"""Lets every test import what the folder ``common`` holds, whichever way pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "common"))
