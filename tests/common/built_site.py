"""The documentation site, built once for all processes that run tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built_site(tmp_path_factory):
    """The folder of the site: ``TREEWRIGHT_SITE``, or one that the first process that asks builds for all."""
    if "TREEWRIGHT_SITE" in os.environ:
        return Path(os.environ["TREEWRIGHT_SITE"])
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    lock, site, failed = shared / "site.lock", shared / "site", shared / "site.failed"
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        while not (site / "index.html").exists():
            assert not failed.exists(), "another process could not build the site"
            time.sleep(0.5)
        return site
    command = [sys.executable, ROOT / "docs" / "site" / "build.py", "--out", shared / "site.new"]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (shared / "site.new").rename(site)
    except BaseException:
        failed.touch()  # also where a test's time is over: others wait
        raise
    return site
