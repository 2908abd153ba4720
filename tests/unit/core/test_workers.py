"""Threads are started whole, whatever Ctrl-C does, and a wait ends by news, by its deadline or by Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from queue import Empty, SimpleQueue

import pytest

from treewright.core import threads


def test_ctrl_c_while_a_thread_starts_comes_after_the_start(monkeypatch):
    begin, news, steps = threading.Thread.start, SimpleQueue(), []

    def start_and_be_interrupted(thread):
        signal.raise_signal(signal.SIGINT)
        begin(thread)
        signal.raise_signal(signal.SIGINT)
        steps.append("started")

    monkeypatch.setattr(threading.Thread, "start", start_and_be_interrupted)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        threads.start(lambda: news.put("ran"), "test")

    assert steps == ["started"]
    assert threads.wait_for(news, time.monotonic() + 5) == "ran"
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_handler_of_ones_own_hears_of_it_once(monkeypatch):
    heard, begin = [], threading.Thread.start

    def start_and_be_interrupted(thread):
        begin(thread)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threading.Thread, "start", start_and_be_interrupted)
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        threads.start(lambda: None, "test")
    finally:
        signal.signal(signal.SIGINT, before)

    assert heard == [signal.SIGINT]


def test_a_wait_ends_at_its_deadline():
    began = time.monotonic()
    with pytest.raises(Empty):
        threads.wait_for(SimpleQueue(), began + 0.25)

    assert time.monotonic() - began > 0.2


def test_where_only_some_threads_can_be_started_these_do_the_work(monkeypatch):
    begin, news, crew = threading.Thread.start, SimpleQueue(), threads.Workers()
    started = []

    def start_one(thread):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start_one)
    crew.grow_to(5)
    for number in range(3):
        crew.submit(news.put, number)

    assert sorted(threads.wait_for(news, time.monotonic() + 5) for _ in range(3)) == [0, 1, 2]
    assert len(started) == 1


def test_where_not_a_single_thread_can_be_started_it_is_said(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    with pytest.raises(RuntimeError, match="new thread"):
        threads.Workers().grow_to(2)
