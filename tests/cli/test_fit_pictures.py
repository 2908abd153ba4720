"""Claims about ``fit --svg``: the ending of the file says what is drawn into it."""

from __future__ import annotations

import pytest

from treewright.exceptions import MissingLibraryError
from treewright.show import svg as raster


@pytest.mark.parametrize(
    ("name", "begin"),
    [("tree.svg", b"<svg"), ("tree.png", b"\x89PNG"), ("tree.PDF", b"%PDF"), ("tree.picture", b"<svg")],
)
def test_the_ending_says_the_format(command, penguins, tmp_path, name, begin):
    done = command("fit", penguins, "--target", "species", "--set", "max_depth=1", "--svg", name, folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_bytes().startswith(begin)
    assert f"wrote {name} (picture)" in done.stdout + done.stderr


def test_a_library_that_is_absent_is_missed_before_the_fit(command, penguins, tmp_path, monkeypatch):
    def refuse():
        raise MissingLibraryError('a PNG of a tree needs resvg: pip install "treewright[png]"', name="resvg_py")

    monkeypatch.setattr(raster, "fonts", refuse)

    done = command("fit", penguins, "--target", "species", "--out", "tree.tw", "--svg", "tree.png", folder=tmp_path)

    assert done.returncode == 1
    assert 'pip install "treewright[png]"' in done.stderr
    assert list(tmp_path.iterdir()) == []
