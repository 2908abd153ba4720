"""The bar, what stands beside it, and the line that is left."""

from __future__ import annotations

import io
import re
import threading
from types import SimpleNamespace

import pytest

from treewright.core import progress
from treewright.core.progress import (
    COMPILING,
    bar_where_nobody_listens,
    compiled,
    compiling_announced,
    counted,
    listen,
    listen_with_bar,
    report,
)

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

    def left_after(seconds, done, what="growing"):
        now[0] += seconds
        pace.heard(done, what)
        return pace.left()

    assert left_after(2.0, 0.5) == "0:02 left"
    assert left_after(50.0, 0.0) == "-:-- left"
    assert left_after(60.0, 0.01) == "1:39:00 left"
    assert left_after(60.0, 0.0, COMPILING) == "3:18:00 left"  # compiling interrupts a stage, and begins none


class Patience:
    """A clock that stands still until the writer waits, and then has moved on by as much."""

    def __init__(self, monkeypatch, until):
        self.now, self.until = 0.0, until
        self.is_reported, self.is_over = threading.Event(), threading.Event()
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(progress, "threading", SimpleNamespace(**{**vars(threading), "Event": lambda: self}))

    def wait(self, seconds):
        self.is_reported.wait(20)
        if self.now + seconds > self.until:
            self.is_over.wait(20)
            return True
        self.now += seconds
        return False

    def set(self):
        self.now = self.until
        self.is_over.set()


@pytest.mark.parametrize(
    ("takes", "times"),
    [(4, []), (29, ["0:05", "0:10", "0:20"]), (205, ["0:05", "0:10", "0:20", "0:40", "1:20", "2:20", "3:20"])],
)
def test_where_no_bar_is_lines_come_at_growing_intervals_and_one_at_the_end(monkeypatch, takes, times):
    written, patience = [], Patience(monkeypatch, takes)

    def write(line):
        written.append(line)
        if len(written) == len(times):
            at_work.set()

    at_work = threading.Event()
    with progress.listen_with_lines(write):
        report(0.5, "growing")
        patience.is_reported.set()
        assert not times or at_work.wait(20)
    *during, end = written or [""]

    assert [re.search(r"growing \(50 %, ([\d:]+), [\d:]+ left\)", line)[1] for line in during] == times
    assert end == (f"done ({progress.clock(takes)})" if times else "")


def test_work_that_reports_nothing_is_not_silent_in_a_log(monkeypatch):
    written, told = [], threading.Event()
    Patience(monkeypatch, 6).is_reported.set()
    with progress.listen_with_lines(lambda line: (written.append(line), told.set())):
        assert told.wait(20)

    assert written == ["working (0:05)", "done (0:06)"]


def test_verbose_writes_lines_in_a_pipe_while_it_works(monkeypatch):
    stream, pause = io.StringIO(), threading.Event()
    patience = Patience(monkeypatch, 11)
    monkeypatch.setattr("sys.stderr", stream)
    with bar_where_nobody_listens(True):
        report(0.5, "growing")
        patience.is_reported.set()
        while stream.getvalue().count("\n") < 2 and not pause.wait(0.01):
            pass
        report(1.0, "growing")

    assert stream.getvalue() == (
        "growing (50 %, 0:05, 0:05 left)\ngrowing (50 %, 0:10, 0:10 left)\ngrowing (100 %, 0:11)\n"
    )


def test_tasks_are_counted_for_who_began_them_whatever_the_tasks_report():
    heard = []
    with listen(lambda done, what: heard.append((done, what))), counted(4, "folds") as count:
        others = [threading.Thread(target=count) for _ in range(2)]
        for thread in others:
            thread.start()
            thread.join()
        report(0.9, "growing")
        report(0.0, COMPILING)
        count()

    assert heard == [(0.5, "2 of 4 folds"), (0.5, COMPILING), (0.75, "3 of 4 folds"), (0.75, "3 of 4 folds")]


@pytest.mark.parametrize(("level", "is_followed"), [("INFO", True), ("WARNING", False)])
def test_a_log_of_level_info_follows_work_that_nobody_else_follows(monkeypatch, caplog, level, is_followed):
    caplog.set_level(level, logger="treewright")
    Patience(monkeypatch, 6).is_reported.set()
    with compiling_announced(), counted(2, "folds") as count:
        count()
        report(0.0, COMPILING)
        compiled()
        while is_followed and len(caplog.messages) < 2:
            pass
    with listen(lambda done, what: None), compiling_announced():
        report(0.0, COMPILING)

    assert ("done (0:06)" in caplog.messages) == is_followed
    assert caplog.messages.count(progress.COMPILING_NOTICE) == is_followed
    assert any(line.startswith("compiling done: 1 kernel in") for line in caplog.messages) == is_followed
