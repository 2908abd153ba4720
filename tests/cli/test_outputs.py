"""Files appear whole, or not at all."""

from __future__ import annotations

import pytest

from treewright.cli.terminal import check_output, guarded_labels, open_output
from treewright.exceptions import InputFileError


class StopError(Exception):
    """Something goes wrong in the middle."""


def test_a_file_appears_when_it_is_whole(tmp_path):
    with open_output(tmp_path / "o.csv", force=False) as file:
        file.write(b"half")
        assert not (tmp_path / "o.csv").exists()
        file.write(b" whole")

    assert (tmp_path / "o.csv").read_bytes() == b"half whole"
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]


@pytest.mark.parametrize("stop", [StopError, KeyboardInterrupt])
def test_nothing_stays_behind_when_the_work_stops(tmp_path, stop):
    (tmp_path / "o.csv").write_text("old")

    def half_write():
        with open_output(tmp_path / "o.csv", force=True) as file:
            file.write(b"half")
            raise stop

    with pytest.raises(stop):
        half_write()

    assert (tmp_path / "o.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]


def test_a_file_that_came_in_between_is_not_overwritten(tmp_path):
    def write_too_late():
        with open_output(tmp_path / "o.csv", force=False) as file:
            file.write(b"mine")
            (tmp_path / "o.csv").write_text("theirs")

    with pytest.raises(InputFileError, match="already exists"):
        write_too_late()

    assert (tmp_path / "o.csv").read_text() == "theirs"


def test_a_full_disk_is_one_error(tmp_path):
    def fill_the_disk():
        with open_output(tmp_path / "o.csv", force=False):
            raise OSError(28, "No space left on device")

    with pytest.raises(InputFileError, match=r"o\.csv: cannot be written: No space left"):
        fill_the_disk()

    assert list(tmp_path.iterdir()) == []


def test_a_name_too_long_for_the_disk_is_refused(tmp_path):
    with pytest.raises(InputFileError, match="File name too long"):
        check_output(tmp_path / ("x" * 300), force=False)


def test_only_texts_that_look_like_formulas_are_guarded():
    assert guarded_labels(["=a", "+a", "-a", "@a", "\ta", "\ra", "a=", "", "'a", " =a"]) == [
        "'=a",
        "'+a",
        "'-a",
        "'@a",
        "'\ta",
        "'\ra",
        "a=",
        "",
        "'a",
        " =a",
    ]
