"""Compiled code is kept where only its owner can write, and is never run when damaged."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rotating import few

from treewright.core import kernel_cache

needs_owners = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX owners")

# A kernel of its own, so that nothing of the package needs compiling. Prints the answer and how often the cache served.
SCRIPT = """
import sys, warnings
warnings.simplefilter("error")
import numpy as np
from treewright.core import jit, kernel_cache

@jit.kernel
def double(values, out):
    for i in range(values.shape[0]):
        out[i] = 2 * values[i]

out = np.empty(3)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    double(np.arange(3.0), out)
    if kernel_cache.cache_directory() is None:
        double(np.arange(3), out)  # another form: it is told only once
is_kept = kernel_cache.cache_directory() is not None
print(out.tolist(), sum(double.stats.cache_hits.values()), is_kept, *(each.message for each in told))
"""
FRESH, SERVED, NO_CACHE = "[0.0, 2.0, 4.0] 0 True", "[0.0, 2.0, 4.0] 1 True", "[0.0, 2.0, 4.0] 0 False"


@pytest.fixture
def run(tmp_path):
    """Run the script in a process of its own, with these changes to the environment."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run_script(**changes):
        told = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
        done = subprocess.run(
            [sys.executable, str(script)], env=told, capture_output=True, text=True, timeout=250, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run_script


def test_what_was_compiled_is_read_by_the_next_process(run, tmp_path):
    folder = tmp_path / "cache"

    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == FRESH
    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == SERVED
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def damage_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "one bit": damage_bit,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize(
    ("suffix", "damage"), few([(suffix, name) for suffix in ("nbi", "nbc") for name in DAMAGES], 1)
)
def test_damaged_code_is_compiled_anew_and_mended(run, tmp_path, suffix, damage):
    folder = str(tmp_path / "cache")
    run(TREEWRIGHT_CACHE_DIR=folder)
    (file,) = Path(folder).rglob(f"*.{suffix}")

    DAMAGES[damage](file)

    assert run(TREEWRIGHT_CACHE_DIR=folder) == FRESH
    assert run(TREEWRIGHT_CACHE_DIR=folder) == SERVED


def test_a_folder_that_others_can_write_is_not_used(run, tmp_path):
    folder = tmp_path / "cache"
    run(TREEWRIGHT_CACHE_DIR=str(folder))

    folder.chmod(0o777)

    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == NO_CACHE


@needs_owners
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o770])
def test_neither_a_folder_that_others_can_write_nor_one_inside_is_a_place(place_below, tmp_path, mode):
    folder = tmp_path / "cache"
    inner = place_below(folder)
    assert inner is not None

    folder.chmod(mode)
    assert place_below(folder) is None

    folder.chmod(0o700)
    inner.chmod(mode)
    assert place_below(folder) is None


@pytest.fixture
def place_below(monkeypatch):
    """Where kernels would be kept if the cache were in a folder."""

    def place(folder):
        monkeypatch.setenv("TREEWRIGHT_CACHE_DIR", str(folder))
        return kernel_cache._private_folder.__wrapped__("kernels")

    return place


@needs_owners
@pytest.mark.parametrize("mode", [0o777, 0o773])
def test_a_folder_below_one_that_others_can_write_is_used_only_if_names_keep_their_owners(place_below, tmp_path, mode):
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True)
    (tmp_path / "link").symlink_to(shared / "mine")

    shared.chmod(mode)
    assert place_below(shared / "mine" / "cache") is None
    assert place_below(tmp_path / "link") is None

    shared.chmod(mode | stat.S_ISVTX)
    assert place_below(shared / "mine" / "cache") == shared / "mine" / "cache" / "kernels"
    assert place_below(tmp_path / "link") == shared / "mine" / "kernels"


@needs_owners
def test_a_folder_above_may_be_writable_for_a_group_of_nobody_else(place_below, tmp_path, monkeypatch):
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o775)

    for is_alone in (True, False):
        monkeypatch.setattr(kernel_cache, "_has_no_other_member", lambda group, is_alone=is_alone: is_alone)
        assert (place_below(above / "cache") is not None) == is_alone


@needs_owners
def test_a_group_is_this_users_alone_if_nobody_else_is_in_it(monkeypatch):
    import grp
    import pwd

    own = SimpleNamespace(pw_uid=os.getuid(), pw_name="ann", pw_gid=700)
    others = [own, SimpleNamespace(pw_uid=-5, pw_name="eve", pw_gid=800)]
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: own)
    monkeypatch.setattr(pwd, "getpwall", lambda: others)
    is_alone = kernel_cache._has_no_other_member.__wrapped__

    monkeypatch.setattr(grp, "getgrgid", lambda group: SimpleNamespace(gr_mem=["ann"]))
    assert (is_alone(0), is_alone(700), is_alone(800)) == (True, True, False)
    monkeypatch.setattr(grp, "getgrgid", lambda group: SimpleNamespace(gr_mem=["ann", "eve"]))
    assert not is_alone(700)
    monkeypatch.setattr(grp, "getgrgid", lambda group: SimpleNamespace(gr_mem=[]))
    others[1].pw_gid = 700
    assert not is_alone(700)


def lend(path):
    path.chmod(0o666)


def link(path):
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def give_away(path):
    if os.getuid() != 0:
        pytest.skip("only the superuser gives files away")
    os.chown(path, 12_345, -1)


def turn_into_pipe(path):
    path.unlink()
    os.mkfifo(path)


@needs_owners
@pytest.mark.parametrize("exchange", [lend, link, give_away, turn_into_pipe])
def test_a_file_that_is_not_this_users_own_is_never_read(tmp_path, exchange):
    file = tmp_path / "kernel.nbc"
    file.write_bytes(kernel_cache.sealed(pickle.dumps("code")))
    assert kernel_cache.unpickled(file) == "code"

    exchange(file)

    with pytest.raises(OSError):  # noqa: PT011 - what the system says of a link differs
        kernel_cache.unpickled(file)


@needs_owners
def test_a_file_that_others_could_write_is_made_anew(run, tmp_path):
    folder = tmp_path / "cache"
    run(TREEWRIGHT_CACHE_DIR=str(folder))
    for file in folder.rglob("*.nb?"):
        file.chmod(0o666)

    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == FRESH
    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == SERVED


def test_files_are_this_users_own_whatever_the_mask_of_permissions(run, tmp_path):
    (tmp_path / "script.py").write_text(f"import os\nos.umask(0)\n{SCRIPT}")
    folder = tmp_path / "cache"

    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == FRESH
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*.nb?")} == {0o600}


def test_a_link_in_place_of_the_folder_is_not_followed(run, tmp_path):
    folder = tmp_path / "cache"
    run(TREEWRIGHT_CACHE_DIR=str(folder))
    (inner,) = folder.iterdir()
    inner.rename(tmp_path / "elsewhere")
    inner.symlink_to(tmp_path / "elsewhere")

    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == NO_CACHE


def test_without_a_place_kernels_are_compiled_in_memory(run, tmp_path):
    (tmp_path / "file").write_text("")

    assert run(TREEWRIGHT_CACHE_DIR=str(tmp_path / "file" / "below")) == NO_CACHE
    assert run(TREEWRIGHT_CACHE_DIR="/proc/nowhere") == NO_CACHE
    told = run(TREEWRIGHT_CACHE_DIR=None, NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME="/proc/nowhere")
    assert told.startswith(f"{NO_CACHE} the cache folder cannot be used (")
    assert told.count("every process compiles its own kernels; set TREEWRIGHT_CACHE_DIR to a folder of yours") == 1


def test_two_processes_compile_at_once_and_both_are_right(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    told = {**os.environ, "TREEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}

    both = [subprocess.Popen([sys.executable, str(script)], env=told, stdout=subprocess.PIPE, text=True) for _ in "ab"]

    for process in both:
        assert process.communicate(timeout=250)[0].strip() in {FRESH, SERVED}


def test_of_many_processes_at_once_one_compiles_and_the_others_load(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    told = {**os.environ, "TREEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}

    all_four = [
        subprocess.Popen([sys.executable, str(script)], env=told, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]

    assert sorted(process.communicate(timeout=250)[0].strip() for process in all_four) == [FRESH, *[SERVED] * 3]


def test_a_process_that_stands_still_while_it_compiles_does_not_hold_up_others_for_ever(run, tmp_path):
    fcntl = pytest.importorskip("fcntl", reason="Windows has no such locks")
    folder = tmp_path / "cache"
    run(TREEWRIGHT_CACHE_DIR=str(folder))
    for file in folder.rglob("*.nb?"):
        file.unlink()
    impatient = SCRIPT.replace(
        "from treewright.core import jit, kernel_cache\n",
        "from treewright.core import jit, kernel_cache\nkernel_cache._LONGEST_WAIT = 0.5\n",
    )
    (tmp_path / "script.py").write_text(impatient)
    (lock,) = folder.rglob("*.lock")

    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == FRESH
    assert run(TREEWRIGHT_CACHE_DIR=str(folder)) == SERVED


def test_a_kernel_that_did_not_compile_does_not_wait_for_itself(run, tmp_path):
    pytest.importorskip("fcntl", reason="Windows has no such locks")
    twice = SCRIPT.replace(
        "out = np.empty(3)\n",
        "kernel_cache._LONGEST_WAIT = 1e9\n"
        "out = np.empty(3)\n"
        "try:\n    double(None, out)\nexcept Exception as error:\n    print(type(error).__name__, end=' ')\n",
    )
    (tmp_path / "script.py").write_text(twice)

    assert run(TREEWRIGHT_CACHE_DIR=str(tmp_path / "cache")) == f"TypingError {FRESH}"


OF_NUMBA = """
import gc, logging, sys
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

def what_is_replaced():
    return TargetConfig.__hash__, TargetConfig.__eq__, BaseFunction.get_call_type, gc.isenabled(), log.level

class Counted(logging.Handler):
    lines = 0
    def emit(self, record):
        Counted.lines += record.name.startswith("numba")

logging.basicConfig(level="DEBUG", handlers=[Counted()])
log = logging.getLogger("numba")
log.setLevel(sys.argv[1])
before = what_is_replaced()
SCRIPT
assert what_is_replaced() == before
print(Counted.lines)
""".replace("SCRIPT", SCRIPT)


@pytest.mark.parametrize(("level", "is_asked_for"), [("NOTSET", False), ("DEBUG", True)])
def test_numba_logs_only_for_who_asks_for_its_log_and_is_itself_again_afterwards(tmp_path, level, is_asked_for):
    told = {**os.environ, "TREEWRIGHT_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", OF_NUMBA, level], env=told, capture_output=True, text=True, timeout=250, check=False
    )

    assert done.returncode == 0, done.stderr
    first, n_lines = done.stdout.splitlines()
    assert first == FRESH
    assert (int(n_lines) > 0) == is_asked_for


OTHER_NUMBA = """
import warnings
warnings.simplefilter("error")
import numba
numba.__version__ = "9.9.9"
from typing import NamedTuple
import numpy as np
from treewright.core import jit, structs
from treewright.core.threads import resolve_jobs

@structs.struct
class Pair(NamedTuple):
    values: np.ndarray
    times: int

@jit.inlined_kernel
def one(pair, i):
    return pair.times * pair.values[i]

@jit.costs(lambda pair, out: 1)
@jit.kernel
def multiply(pair, out):
    for i in range(pair.values.shape[0]):
        out[i] = one(pair, i)

out = np.empty(3)
multiply(Pair(np.arange(3.0), 2), out)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    resolve_jobs(1)
    resolve_jobs(1)
print(out.tolist(), len(multiply.overloads), *(each.message for each in told))
"""


def test_with_a_numba_that_was_not_tried_kernels_are_plain_and_one_notice_says_so(tmp_path):
    told = {**os.environ, "TREEWRIGHT_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", OTHER_NUMBA], env=told, capture_output=True, text=True, timeout=250, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0.0, 2.0, 4.0] 1 Numba 9.9.9 was not tried with this version of Treewright")
    assert done.stdout.count("Numba") == 1
    assert list(tmp_path.rglob("*.nb?")) == []
