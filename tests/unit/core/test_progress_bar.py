"""The bar, what stands beside it, and the line that is left."""

from __future__ import annotations

import io
import re

import pytest

from treewright.core import progress
from treewright.core.progress import bar_where_nobody_listens, listen, listen_with_bar, report

LONG = "round 173, loss 1.234e+04, others 1.234e+04 (best: 165)"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_at(monkeypatch, columns, reports, stream=None, **options):
    """What a terminal of so many columns got."""
    stream = Terminal() if stream is None else stream
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", stream)
    with listen_with_bar(**options):
        for done, what in reports:
            report(done, what)
    return re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())


@pytest.mark.parametrize("columns", [80, 90, 100, 120])
def test_neither_bar_nor_time_is_cut(monkeypatch, columns):
    shown = shown_at(monkeypatch, columns, [(0.1, "binning columns"), (0.0, LONG), (0.25, LONG)])
    lines = [line.strip() for line in re.split("[\r\n]", shown) if "25 %" in line]

    bar, time, words = re.fullmatch(r"(\S+)\s+25 % (\S+) left (.*)", lines[-1]).groups()
    assert len(bar) == (30 if columns >= 110 else 10)
    assert re.fullmatch(r"\d+:\d\d", time)
    assert words == LONG or (words.endswith("...") and LONG.startswith(words[:-3]) and len(words) > 45)
    assert len(lines[-1]) <= columns


def test_the_line_that_is_left_is_the_last_report(monkeypatch):
    shown = shown_at(monkeypatch, 80, [(0.5, "growing"), (0.24, "stopped after round 73 of 300 [bold]")], stays=True)

    assert re.fullmatch(r"stopped after round 73 of 300 \[bold\] \(24 %, 0:0\d\)", shown.splitlines()[-1])


def test_without_a_terminal_only_that_line_is_written_and_never_broken(monkeypatch):
    shown = shown_at(monkeypatch, 80, [(0.5, "growing"), (1.0, "word " * 40)], io.StringIO(), stays=True)

    assert re.fullmatch(r"(word ){40} \(100 %, 0:0\d\)\n", shown)


def test_nothing_is_left_of_a_bar_that_goes(monkeypatch):
    stream = Terminal()
    shown_at(monkeypatch, 80, [(1.0, "growing")], stream)

    assert stream.getvalue().endswith("\x1b[1A\x1b[2K")  # one line up, and that line away
    assert shown_at(monkeypatch, 80, [(1.0, "growing")], io.StringIO()) == ""


def test_nothing_is_left_of_work_that_failed(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)

    def fail():
        with bar_where_nobody_listens(True):
            report(0.5, "growing")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert stream.getvalue() == ""


def test_no_bar_where_somebody_listens(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with listen(lambda done, what: None), bar_where_nobody_listens(True):
        report(0.5, "growing")

    assert stream.getvalue() == ""


def test_the_time_left_is_that_of_the_present_stage(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    pace = progress._Pace()
    now[0] += 2.0
    assert pace.left(0.5) == "0:02 left"
    now[0] += 50.0
    assert pace.left(0.0) == "-:-- left"
    now[0] += 60.0
    assert pace.left(0.01) == "1:39:00 left"
