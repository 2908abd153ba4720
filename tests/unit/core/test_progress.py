"""News of long work reaches who listens, and nobody else."""

from __future__ import annotations

import threading

import pytest

from treewright.core.progress import listen, report


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
