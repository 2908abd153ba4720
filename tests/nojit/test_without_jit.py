"""Kernels as plain Python make the bytes of the compiled ones.

A run compares a sixth of the fits, which rotates; with ``TREEWRIGHT_SEEDS=all`` all of them.
"""

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
from rotating import few

FITS = Path(__file__).parent / "fits.py"
PROJECT = Path(__file__).parents[2] / "pyproject.toml"

SIXTHS = pytest.mark.parametrize("sixth", few(range(6), 1))


def found(*command: str, **environment: str) -> dict[str, Any]:
    """What ``fits.py``, or another command that runs it, prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, *(command or [str(FITS)])],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    """With every kernel compiled before it runs."""
    return found(TREEWRIGHT_COMPILE="first")


def of_the_same_fits(compiled: dict[str, Any], other: dict[str, Any]) -> dict[str, str]:
    """The digests of the compiled fits that another process made as well."""
    return {name: compiled["digests"][name] for name in other["digests"]}


@pytest.mark.slow
def test_every_kernel_is_used_by_some_fit(tmp_path: Path) -> None:
    uncompiled = {"TREEWRIGHT_COMPILE": "", "CI": "1", "TREEWRIGHT_CACHE_DIR": str(tmp_path)}

    assert found(**uncompiled)["kernels"]["unused"] == []


def test_no_fit_fails_and_each_runs_compiled(compiled: dict[str, Any]) -> None:
    assert compiled["kernels"]["python"] == []
    assert [name for name, digest in compiled["digests"].items() if len(digest) != 16] == []  # no error's text


@pytest.mark.timeout(600)  # the compiled fits may be the first of their kernels
@SIXTHS
def test_every_fit_without_jit_has_the_bytes_of_the_compiled_one(compiled: dict[str, Any], sixth: int) -> None:
    plain = found(str(FITS), "--sixth", str(sixth), NUMBA_DISABLE_JIT="1")

    assert len(plain["digests"]) > 30
    assert plain["digests"] == of_the_same_fits(compiled, plain)


@pytest.mark.timeout(600)
@SIXTHS
def test_every_kernel_that_is_not_compiled_yet_makes_the_bytes_of_the_compiled_one(
    compiled: dict[str, Any], tmp_path: Path, sixth: int
) -> None:
    uncompiled = {"TREEWRIGHT_COMPILE": "", "CI": "1", "TREEWRIGHT_CACHE_DIR": str(tmp_path)}
    meanwhile = found(str(FITS), "--sixth", str(sixth), **uncompiled)

    assert meanwhile["digests"] == of_the_same_fits(compiled, meanwhile)
    assert meanwhile["kernels"]["compiled"] == []
    assert meanwhile["kernels"]["python"] != []


# Forms of its functions that NumPy, OpenBLAS and the C library choose by the processor: here, those of an old one.
OLD_PROCESSOR = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]),
    "OPENBLAS_CORETYPE": "Prescott",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-FMA4_Usable,-AVX512F",
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("libraries", few([["NPY_DISABLE_CPU_FEATURES"], list(OLD_PROCESSOR)], 1), ids=len)
@SIXTHS
def test_every_fit_has_the_same_bytes_where_libraries_choose_the_forms_for_an_older_processor(
    compiled: dict[str, Any], libraries: list[str], sixth: int
) -> None:
    older = found(
        str(FITS),
        "--sixth",
        str(sixth),
        TREEWRIGHT_COMPILE="first",
        **{name: OLD_PROCESSOR[name] for name in libraries},
    )

    assert older["digests"] == of_the_same_fits(compiled, older)


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


# One or two for each grower and search; all 166 would take hours.
SAMPLE = ["monotone medians", "extra medians", "c45", "isolation", "adaboost", "boosting goss", "neighbours gower"]
# As a future Numba: nothing is known of it but its name.
NEWER = f"import numba, runpy; numba.__version__ = '9.9.9'; runpy.run_path({str(FITS)!r}, run_name='__main__')"


@pytest.mark.slow  # compiles everything without what makes that fast, and nothing is kept
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("numba", ["the oldest allowed", "the newest allowed"])
def test_plain_kernels_of_a_numba_that_was_not_tried_make_the_bytes_of_the_tried_one(
    compiled: dict[str, Any], tmp_path: Path, numba: str
) -> None:
    environment = {"TREEWRIGHT_CACHE_DIR": str(tmp_path / "kernels")}
    command = ["-c", NEWER]
    if numba == "the oldest allowed":
        least = next(line for line in PROJECT.read_text().splitlines() if '"numba>=' in line).split('"')[1]
        install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(tmp_path / "old")]
        if subprocess.run([*install, least.replace(">=", "==") + ".*", "numpy<2.2"], check=False).returncode:
            pytest.skip("there is no such Numba for this Python, or no network")
        environment["PYTHONPATH"] = f"{tmp_path / 'old'}{os.pathsep}{PROJECT.parent / 'src'}"
        command = [str(FITS)]
    plain = found(*command, *SAMPLE, **environment)

    assert plain["digests"] == {
        name: digest for name, digest in compiled["digests"].items() if name.startswith(tuple(SAMPLE))
    }
    assert plain["kernels"]["compiled"] == []  # by our own cache
    assert not (tmp_path / "kernels").exists()
