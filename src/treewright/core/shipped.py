"""Compiled kernels that come with the package. In: a folder of kernels. Out: the files of it that fit this processor.

A wheel for one version of Python and of Numba may carry the kernels, compiled for a *tier* of processors
(``.ci/wheel_with_kernels`` makes it). They are arranged as in the cache, and are read as code only if the list in the
wheel names them with their digest:

    compiled/list.json                                  versions; a digest for each file
    compiled/x86-64-v3/kernels-<sources>/<kernel>.nbi   the list of forms
    compiled/x86-64-v3/kernels-<sources>/<kernel>.1.nbc one form

With other sources, another Python or Numba, a processor without the tier's features, or a damaged file, the kernel is
compiled as if nothing had been shipped. Code for a tier makes the same bytes as the processor's own and may be slower,
so a kernel that runs long is compiled for this processor in the background (``meanwhile``).
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding

__all__ = ["TIERS", "Tier", "checked", "compile_natively", "folders_of", "is_native"]

_log = logging.getLogger(__name__)
_FOLDER = Path(__file__).resolve().parent.parent / "compiled"
_native = False

_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")


class Tier(NamedTuple):
    """A kind of processor: its name for LLVM, and LLVM's names of the features that it must have.

    Compile for it with ``NUMBA_CPU_NAME`` set to the name and ``NUMBA_CPU_FEATURES`` to nothing.

    The levels of x86-64 are those of its System V ABI, section 3.1.1.
    """

    processor: str
    features: tuple[str, ...]


TIERS = {  # the best first
    "x86-64-v3": Tier("x86-64-v3", (*_V2, *_V3)),
    "x86-64-v2": Tier("x86-64-v2", _V2),
    "arm64": Tier("generic", ("neon",)),
}


def compile_natively() -> None:
    """From now on this process does not use shipped kernels: it compiles those of its own processor."""
    global _native  # noqa: PLW0603 - a switch of the process
    _native = True


def is_native() -> bool:
    """Whether this process does not use shipped kernels."""
    return _native


def folders_of(kernels: str) -> list[tuple[Path, Tier]]:
    """The shipped folders for a folder of the cache and this processor, the best tier first; may be empty."""
    return [] if _native else [(_FOLDER / name / kernels, TIERS[name]) for name in _usable_tiers()]


def checked(path: Path) -> bytes:
    """A shipped file, if it is the one that the list names.

    Raises
    ------
    FileNotFoundError
        The list does not name it, or it is gone.
    ValueError
        Its digest is wrong.
    """
    name = path.relative_to(_FOLDER).as_posix()
    digest = _list()["files"].get(name)
    if digest is None:
        raise FileNotFoundError(f"{path} is not in the list of compiled kernels")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        _log.warning("%s is not the file that came with the package: the kernel is compiled instead", path)
        raise ValueError(f"{path} is not the file that came with the package")
    return content


@cache
def _list() -> dict[str, Any]:
    """The list, or an empty one if nothing was shipped for these versions."""
    nothing: dict[str, Any] = {"tiers": [], "files": {}}
    try:
        told = json.loads((_FOLDER / "list.json").read_text(encoding="utf-8"))
        fits = (told["python"], told["numba"]) == (sys.implementation.cache_tag, numba.__version__)
        return {"tiers": list(told["tiers"]), "files": dict(told["files"])} if fits else nothing
    except (OSError, ValueError, KeyError, TypeError):  # no list, the package is in an archive, the list is damaged
        return nothing


@cache
def _usable_tiers() -> tuple[str, ...]:
    """The shipped tiers whose features this processor has."""
    shipped = _list()["tiers"]
    if not shipped:
        return ()
    has = binding.get_host_cpu_features()
    return tuple(name for name, tier in TIERS.items() if name in shipped and all(map(has.get, tier.features)))
