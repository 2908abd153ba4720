"""News of long work reaches who listens, and nobody else."""

from __future__ import annotations

import io
import threading

import pytest

from treewright.core import progress
from treewright.core.progress import COMPILING, compiling_announced, listen, report


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
def test_each_fit_that_compiles_tells_it_once_to_a_terminal_a_pipe_and_a_notebook(monkeypatch, stream):
    stream = writing_to(monkeypatch, stream())
    for _ in range(2):
        with compiling_announced():
            report(0.0, COMPILING)
            with compiling_announced():
                report(0.5, COMPILING)
            report(0.5, "growing")
    report(0.0, COMPILING)

    assert stream.getvalue().count("treewright: compiling kernels for this kind of fit") == 2
    assert stream.getvalue().count("\n") == 2


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
