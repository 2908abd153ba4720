"""Kernels that come with the package are taken where they fit, and compiled where anything about them does not."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import textwrap
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from rotating import few

from treewright.core.kernel_cache import sealed

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in {"x86_64", "amd64"}, reason="compiles for two tiers of x86-64"
)

# A kernel that compiles in a second or two.
SCRIPT = """
    import sys, time
    from pathlib import Path
    import numpy as np
    from treewright.core import kernel_cache
    from treewright.boosting.sampling import fill_keys

    if sys.argv[1:]:
        kernel_cache._FOLDER = Path(sys.argv[1])

    def fill(n=60_000):
        keys = np.arange(n, dtype=np.uint64)
        fill_keys(np.uint64(7), keys)
        return int(np.bitwise_xor.reduce(keys))

"""
ANSWER = "print(fill(), 'shipped' if fill_keys._cache.came_with_package else 'compiled')"


def wheel_script():
    """The script that makes wheels, as a module."""
    path = Path(__file__).parents[2] / ".ci" / "wheel_with_kernels"
    loader = SourceFileLoader("wheel_with_kernels", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def said(cache, *folder, script=ANSWER, before="", **changes):
    """What a script prints in a process of its own, with its own cache."""
    told = {"TREEWRIGHT_COMPILE": "first", "TREEWRIGHT_CACHE_DIR": str(cache), **changes}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT) + before + "\n" + textwrap.dedent(script), *map(str, folder)],
        env={**os.environ, **told}, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def kept(cache):
    """The kernels in a cache."""
    return sorted(Path(cache).glob("kernels-*/*.nbc"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder as a wheel brings it, with one kernel in two tiers, and the kernel's answer."""
    folder, compiled = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("package") / "compiled"
    script, files, answers = wheel_script(), {}, set()
    for tier in ("x86-64-v2", "x86-64-v3"):
        answers.add(said(folder / tier, NUMBA_CPU_NAME=tier, NUMBA_CPU_FEATURES="")[0])
        files |= script.pack(folder / tier, tier, compiled)
    script.write_list(compiled, ["x86-64-v2", "x86-64-v3"], files)
    assert len(files) == 4
    (answer,) = answers
    return compiled, answer


@pytest.fixture
def package(made, tmp_path):
    """A copy of that folder, to be spoilt, and a cache."""
    return Path(shutil.copytree(made[0], tmp_path / "compiled")), tmp_path / "cache", made[1]


def relisted(folder, **changes):
    path = folder / "list.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("tier", ["x86-64-v2", "x86-64-v3"])
def test_each_tier_is_loaded_and_nothing_is_compiled(package, tier):
    folder, cache, answer = package
    relisted(folder, tiers=[tier])

    assert said(cache, folder) == [answer, "shipped"]
    assert kept(cache) == []


def test_the_answer_is_that_of_the_python_body_and_of_this_processor_s_own_kernel(package):
    _, cache, answer = package

    assert said(cache, TREEWRIGHT_COMPILE="", CI="1")[0] == answer
    assert said(cache) == [answer, "compiled"]


def test_nowhere_to_write_is_no_hindrance(package, tmp_path):
    folder, _, answer = package
    (tmp_path / "file").touch()

    assert said(tmp_path / "file", folder) == [answer, "shipped"]


def spoil(path, how):
    content = path.read_bytes()
    evil = sealed(b"cos\nsystem\n(S'touch EVIL'\ntR.")  # behind a digest of its own, as files of a cache are
    path.write_bytes({"flipped": content[:-9] + b"\0" + content[-8:], "cut": content[:40], "foreign": evil}[how])


@pytest.mark.parametrize(
    ("how", "suffix"), few([("flipped", ".nbc"), ("cut", ".nbi"), ("foreign", ".nbi"), ("foreign", ".nbc")], 2)
)
def test_a_damaged_or_foreign_file_is_refused_by_its_digest_and_the_kernel_compiled(package, how, suffix):
    folder, cache, answer = package
    for path in folder.glob(f"*/*/*{suffix}"):
        spoil(path, how)

    assert said(cache, folder) == [answer, "compiled"]
    assert len(kept(cache)) == 1
    assert not list(Path.cwd().glob("EVIL"))


def test_a_file_that_is_not_listed_is_not_read(package):
    folder, cache, answer = package
    relisted(folder, files={})

    assert said(cache, folder) == [answer, "compiled"]


@pytest.mark.parametrize("changes", few([{"python": "cpython-399"}, {"numba": "0.1.0"}, {"tiers": ["z80"]}], 1))
def test_what_was_made_for_others_is_not_taken(package, changes):
    folder, cache, answer = package
    relisted(folder, **changes)

    assert said(cache, folder) == [answer, "compiled"]


@pytest.mark.parametrize("content", few(["{", "3", '{"tiers": 3}'], 1))
def test_a_damaged_list_is_none(package, content):
    folder, cache, answer = package
    (folder / "list.json").write_text(content)

    assert said(cache, folder) == [answer, "compiled"]


WITHOUT = """
features = dict(kernel_cache.binding.get_host_cpu_features()) | {MISSING}
kernel_cache.binding.get_host_cpu_features = lambda: features
"""


@pytest.mark.parametrize(
    ("missing", "tiers"), few([("avx2", ["x86-64-v2"]), ("fma", ["x86-64-v2"]), ("popcnt", [])], 2)
)
def test_a_processor_without_what_a_tier_needs_does_not_run_it(package, missing, tiers):
    folder, cache, answer = package
    before = WITHOUT.replace("MISSING", f"{missing!r}: False")

    usable = said(cache, folder, before=before, script="print(*kernel_cache._usable_tiers())")
    assert usable == tiers
    assert said(cache, folder, before=before) == [answer, "shipped" if tiers else "compiled"]


def test_kernels_of_another_system_are_not_taken(package):
    folder, cache, answer = package
    before = """
from numba.core.codegen import JITCPUCodegen
own = JITCPUCodegen.magic_tuple
JITCPUCodegen.magic_tuple = lambda self: ("arm64-apple-darwin", *own(self)[1:])
"""

    assert said(cache, folder, before=before) == [answer, "compiled"]


def test_what_works_long_is_compiled_for_this_processor_behind_it(package):
    folder, cache, answer = package
    surroundings = {"TREEWRIGHT_COMPILE": "", "CI": ""}

    assert said(cache, folder, script="fill(10_000_000); " + ANSWER, **surroundings) == [answer, "shipped"]
    end = time.monotonic() + 120
    while not kept(cache) and time.monotonic() < end:
        time.sleep(0.2)
    assert said(cache, folder, **surroundings)[0] == answer
    assert len(kept(cache)) == 1
    assert said(cache, folder) == [answer, "compiled"]


def test_warm_up_compiles_for_this_processor(package):
    folder, cache, answer = package

    assert said(cache, folder, script="kernel_cache.compile_natively(); " + ANSWER) == [answer, "compiled"]
    assert len(kept(cache)) == 1


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("linux-x86_64", "manylinux_2_17_x86_64"),
        ("linux-aarch64", "manylinux_2_17_aarch64"),
        ("win-amd64", "win_amd64"),
        ("macosx-11.0-arm64", "macosx_11_0_arm64"),
    ],
)
def test_the_wheel_says_what_it_is_for(monkeypatch, system, name):
    script = wheel_script()
    monkeypatch.setattr(script.sysconfig, "get_platform", lambda: system)

    assert script.tag() == f"cp{sys.version_info.major}{sys.version_info.minor}-none-{name}"
