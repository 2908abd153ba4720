"""Kernels as plain Python make the bytes of the compiled ones."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

FITS = Path(__file__).parent / "fits.py"


def found(**environment: str) -> dict[str, Any]:
    """What ``fits.py`` prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(FITS)], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    """With every kernel compiled before it runs."""
    return found(TREEWRIGHT_COMPILE="first")


@pytest.mark.timeout(600)  # the compiled fits may be the first of their kernels
def test_every_fit_without_jit_has_the_bytes_of_the_compiled_one(compiled: dict[str, Any]) -> None:
    plain = found(NUMBA_DISABLE_JIT="1")

    assert plain["digests"] == compiled["digests"]
    assert compiled["kernels"]["python"] == []
    assert [name for name, digest in compiled["digests"].items() if len(digest) != 16] == []  # no error's text


@pytest.mark.timeout(600)
def test_every_kernel_that_is_not_compiled_yet_makes_the_bytes_of_the_compiled_one(
    compiled: dict[str, Any], tmp_path: Path
) -> None:
    meanwhile = found(TREEWRIGHT_COMPILE="", CI="1", TREEWRIGHT_CACHE_DIR=str(tmp_path))

    assert meanwhile["digests"] == compiled["digests"]
    assert meanwhile["kernels"]["compiled"] == []
    assert meanwhile["kernels"]["unused"] == []


# Forms of its functions that NumPy, OpenBLAS and the C library choose by the processor: here, those of an old one.
OLD_PROCESSOR = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]),
    "OPENBLAS_CORETYPE": "Prescott",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-FMA4_Usable,-AVX512F",
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("libraries", [["NPY_DISABLE_CPU_FEATURES"], list(OLD_PROCESSOR)], ids=["numpy", "all"])
def test_every_fit_has_the_same_bytes_where_libraries_choose_the_forms_for_an_older_processor(
    compiled: dict[str, Any], libraries: list[str]
) -> None:
    older = found(TREEWRIGHT_COMPILE="first", **{name: OLD_PROCESSOR[name] for name in libraries})

    assert {name for name, digest in older["digests"].items() if compiled["digests"][name] != digest} == set()


@pytest.mark.slow  # compiles everything for another processor: some minutes each
@pytest.mark.timeout(3000)
@pytest.mark.skipif(platform.machine().lower() not in {"x86_64", "amd64"}, reason="the tiers of x86-64")
@pytest.mark.parametrize("tier", ["x86-64-v2", "x86-64-v3"])
def test_kernels_for_a_tier_of_processors_make_the_bytes_of_this_processor_s(
    compiled: dict[str, Any], tmp_path: Path, tier: str
) -> None:
    target = {"NUMBA_CPU_NAME": tier, "NUMBA_CPU_FEATURES": ""}
    of_tier = found(TREEWRIGHT_COMPILE="first", TREEWRIGHT_CACHE_DIR=str(tmp_path), **target)

    assert of_tier["digests"] == compiled["digests"]
