"""News of long work reaches who listens, and nobody else."""

from __future__ import annotations

import io
import threading
from contextlib import suppress

import pytest

from treewright.core import progress
from treewright.core.progress import COMPILING, compiled, compiling_announced, listen, report


def test_reports_reach_the_listener_only_while_it_listens():
    news = []
    report(0.1, "early")
    with listen(lambda done, what: news.append((done, what))):
        report(0.5, "growing")
    report(0.9, "late")

    assert news == [(0.5, "growing")]


def test_an_inner_listener_takes_over_and_gives_back():
    outer, inner = [], []
    with listen(lambda done, what: outer.append(what)):
        with listen(lambda done, what: inner.append(what)):
            report(0.2, "inside")
        report(0.4, "outside")

    assert (outer, inner) == (["outside"], ["inside"])


def test_shares_are_clipped():
    news = []
    with listen(lambda done, what: news.append(done)):
        report(-1.0, "")
        report(7.0, "")

    assert news == [0.0, 1.0]


def test_a_thread_hears_only_its_own_news():
    here, there = [], []

    def work():
        with listen(lambda done, what: there.append(what)):
            report(0.5, "there")

    with listen(lambda done, what: here.append(what)):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    assert (here, there) == ([], ["there"])


def test_the_listener_goes_when_the_work_fails():
    news = []
    with pytest.raises(ValueError, match="stop"), listen(lambda done, what: news.append(what)):
        raise ValueError("stop")
    report(0.5, "after")

    assert news == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def writing_to(monkeypatch, stream):
    """Not a fixture: pytest puts its own standard error in place before the test itself."""
    monkeypatch.setattr(progress.sys, "stderr", stream)
    return stream


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_each_fit_that_compiles_writes_one_line_to_a_terminal_a_pipe_and_a_notebook_that_ends(monkeypatch, stream):
    stream = writing_to(monkeypatch, stream())
    clock = iter([0.0, 3.0, 7.0, 100.0, 102.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    lines = []
    for n in (2, 1):
        with compiling_announced():
            for _ in range(n):
                with compiling_announced():
                    report(0.5, COMPILING)
                compiled()
            begun = stream.getvalue()
            report(0.5, "growing")
            lines.append(stream.getvalue().removeprefix(begun))
    report(0.0, COMPILING)
    compiled()

    assert lines == [" done: 2 kernels in 7 s\n", " done: 1 kernel in 2 s\n"]
    assert stream.getvalue() == "".join(
        f"treewright: compiling kernels for this machine, once ...{end}" for end in lines
    )


def test_the_line_of_a_compilation_that_fails_ends_too(monkeypatch):
    stream = writing_to(monkeypatch, io.StringIO())
    with suppress(MemoryError), compiling_announced():
        report(0.0, COMPILING)
        raise MemoryError
    assert stream.getvalue().endswith(" done: 0 kernels\n")


def test_a_process_without_standard_error_compiles_silently(monkeypatch):
    writing_to(monkeypatch, None)
    with compiling_announced():
        report(0.0, COMPILING)


def test_who_listens_is_told_of_compiling_and_the_terminal_is_not(monkeypatch):
    terminal = writing_to(monkeypatch, Terminal())
    news = []
    with listen(lambda done, what: news.append(what)), compiling_announced():
        report(0.0, COMPILING)

    assert (news, terminal.getvalue()) == ([COMPILING], "")


def test_fits_of_other_threads_tell_nothing(monkeypatch):
    terminal = writing_to(monkeypatch, Terminal())

    def work():
        with compiling_announced():
            report(0.0, COMPILING)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert terminal.getvalue() == ""
