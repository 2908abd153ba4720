"""Every task is done once, nobody waits for ever, and an error or interrupt comes out after the last task has ended."""

from __future__ import annotations

import contextvars
import gc
import signal
import threading
import time
import weakref

import numpy as np
import pytest

from treewright.core import threads
from treewright.exceptions import ParameterError


@pytest.mark.parametrize("n_threads", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 50])
def test_every_task_is_done_once(n_tasks, n_threads):
    done = np.zeros(n_tasks, int)

    def work(task, thread):
        done[task] += 1

    threads.run_each(work, n_tasks, n_threads)

    assert done.tolist() == [1] * n_tasks


def test_no_two_tasks_share_a_thread_number_at_the_same_time():
    busy, clashes = set(), []

    def work(task, thread):
        if thread in busy or not 0 <= thread < 4:
            clashes.append(thread)
        busy.add(thread)
        time.sleep(0.001)
        busy.discard(thread)

    threads.run_each(work, 60, 4)

    assert not clashes


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_error_of_a_task_comes_out_when_nothing_runs_any_more(n_threads):
    running = []

    def work(task, thread):
        running.append(task)
        try:
            time.sleep(0.01)
            if task == 3:
                raise ArithmeticError("task 3")
        finally:
            running.remove(task)

    with pytest.raises(ArithmeticError, match="task 3"):
        threads.run_each(work, 1000, n_threads)
    assert running == []


def test_an_error_stops_the_tasks_that_have_not_begun():
    done = []

    def work(task, thread):
        done.append(task)
        if task == 0:
            raise ArithmeticError
        time.sleep(0.005)

    with pytest.raises(ArithmeticError):
        threads.run_each(work, 1000, 2)
    assert len(done) < 10


def test_work_within_work_runs_inline():
    inner = []

    def work(task, thread):
        name = threading.current_thread().name
        if name.startswith("treewright"):
            threads.run_each(lambda _, number: inner.append((name, threading.current_thread().name, number)), 3, 4)
        time.sleep(0.01)

    threads.run_each(work, 8, 2)

    assert inner
    assert all(outer == here and number == 0 for outer, here, number in inner)


def test_callers_side_by_side_with_pools_of_other_sizes_all_finish():
    totals = np.zeros(12, int)

    def call(caller):
        counts = np.zeros(40, int)

        def work(task, thread):
            counts[task] += 1

        for n_threads in (2, 3 + caller, 2):
            threads.run_each(work, 40, n_threads)
        totals[caller] = counts.sum()

    callers = [threading.Thread(target=call, args=(caller,)) for caller in range(12)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)

    assert totals.tolist() == [120] * 12


def test_where_no_thread_can_be_started_the_caller_does_everything(monkeypatch):
    class NoThreads:
        def submit(self, *arguments):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pool_of", lambda size: NoThreads())
    done = []

    threads.run_each(lambda task, thread: done.append(task), 5, 4)

    assert done == [0, 1, 2, 3, 4]


def test_a_thread_whose_start_was_reported_as_failed_is_waited_for_all_the_same(monkeypatch):
    # A pool may take the work and then fail to start a thread for it: an idle thread gets it later.
    begun, ended = threading.Event(), []

    class Half:
        def submit(self, run, number):
            threading.Thread(target=run, args=(number,)).start()
            begun.wait(5)
            raise RuntimeError("can't start new thread")

    def work(task, thread):
        begun.set()
        time.sleep(0.3 if thread else 0.05)
        ended.append(task)

    monkeypatch.setattr(threads, "_pool_of", lambda size: Half())
    threads.run_each(work, 4, 2)

    assert sorted(ended) == [0, 1, 2, 3]


def test_who_comes_after_the_work_is_done_is_sent_away(monkeypatch):
    late = []

    class Later:
        def submit(self, run, number):
            late.append((run, number))

    monkeypatch.setattr(threads, "_pool_of", lambda size: Later())
    done = []
    threads.run_each(lambda task, thread: done.append((task, thread)), 3, 2)
    late_comer = threading.Thread(target=late[0][0], args=late[0][1:])
    late_comer.start()
    late_comer.join()

    assert done == [(0, 0), (1, 0), (2, 0)]


def test_an_interrupt_waits_for_running_tasks_and_starts_no_more():
    running, done = [], []

    def work(task, thread):
        running.append(task)
        deadline = time.perf_counter() + 0.05
        while time.perf_counter() < deadline:
            time.sleep(0.001)
        running.remove(task)
        done.append(task)

    timer = threading.Timer(0.12, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        threads.run_each(work, 1000, 3)
    timer.join()

    assert len(running) <= 1  # what the caller itself was doing was cut short
    assert len(done) < 30


def interrupt_after(seconds):
    timer = threading.Timer(seconds, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    return timer


def wait_until_idle():
    deadline = time.perf_counter() + 10
    while threads.is_busy() and time.perf_counter() < deadline:
        time.sleep(0.005)
    assert not threads.is_busy()


def test_an_interrupt_waits_a_second_for_a_task_that_cannot_be_cut_short_and_then_no_more():
    end, began = threading.Event(), time.perf_counter()

    def work(task, thread):
        if thread:
            end.wait()
        else:
            time.sleep(0.01)

    timer = interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        threads.run_each(work, 1000, 2)
    late = time.perf_counter() - began - 0.1
    timer.join()
    done = np.zeros(20, int)

    def count(task, thread):
        done[task] += 1
        time.sleep(0.01)
        names.add(threading.current_thread().name)

    names = set()
    threads.run_each(count, 20, 2)  # the thread that was given up is not missed
    end.set()
    wait_until_idle()

    assert late > 0.9
    assert done.tolist() == [1] * 20
    assert len(names) == 2


def test_a_second_interrupt_ends_the_wait(monkeypatch):
    monkeypatch.setattr(threads, "_PATIENCE", float("inf"))
    end = threading.Event()
    timers = [interrupt_after(0.1), interrupt_after(0.3)]
    with pytest.raises(KeyboardInterrupt):
        threads.run_each(lambda task, thread: end.wait() if thread else time.sleep(0.01), 1000, 2)
    for timer in timers:
        timer.join()
    end.set()
    wait_until_idle()


@pytest.mark.parametrize("halt", [threads.heed, lambda: threads.run_each(lambda *_: None, 1, 1)])
def test_a_task_whose_caller_has_left_ends_where_it_heeds(halt):
    rounds, ended = [], []

    def work(task, thread):
        if not thread:
            time.sleep(0.01)
            return
        try:
            for _ in range(2000):
                halt()
                rounds.append(task)
                time.sleep(0.005)
        finally:
            ended.append(time.perf_counter())

    timer = interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        threads.run_each(work, 1000, 2)
    left = time.perf_counter()
    timer.join()
    wait_until_idle()

    assert 0 < len(rounds) < 1000
    assert len(ended) == 1
    assert ended[0] < left  # it was waited for: nothing runs any more


def test_heeding_means_nothing_to_a_task_that_is_only_behind_another_with_an_error():
    done = []

    def work(task, thread):
        if task == 1:
            raise ArithmeticError
        for _ in range(20):
            threads.heed()
            time.sleep(0.005)
        done.append(task)

    with pytest.raises(ArithmeticError):
        threads.run_each(work, 2, 2)
    assert done == [0]


def test_without_an_interrupt_the_caller_waits_for_work_apart():
    done = []

    def work(task, thread):
        if threading.current_thread() is threading.main_thread():
            time.sleep(0.01)
        else:
            threads.apart(lambda: time.sleep(0.2))
        done.append(task)

    threads.run_each(work, 4, 2)

    assert sorted(done) == [0, 1, 2, 3]


def test_an_interrupt_does_not_wait_for_work_apart_and_sends_away_who_comes_back(monkeypatch):
    monkeypatch.setattr(threads, "_PATIENCE", float("inf"))
    end, after = threading.Event(), []

    def work(task, thread):
        if thread:
            threads.apart(end.wait)
            after.append(task)
        else:
            time.sleep(0.01)

    timer = interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        threads.run_each(work, 1000, 2)
    timer.join()
    end.set()
    wait_until_idle()

    assert after == []


def test_the_main_thread_has_another_one_do_work_apart_and_gets_its_answer_or_its_error():
    setting = contextvars.ContextVar("setting")
    setting.set("seen")
    name, seen = threads.apart(lambda: (threading.current_thread().name, setting.get()))

    assert name.startswith("treewright")
    assert seen == "seen"
    with pytest.raises(ZeroDivisionError):
        threads.apart(lambda: 1 / 0)


def test_work_apart_is_done_on_the_spot_where_no_thread_can_be_started(monkeypatch):
    def refuse(work, name):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start", refuse)

    assert threads.apart(threading.current_thread) is threading.main_thread()


def test_an_error_does_not_keep_arrays_alive():
    class Block:
        pass

    block = Block()
    seen = weakref.ref(block)

    def work(task, thread, block=block):
        time.sleep(0.002)
        if threading.current_thread() is not threading.main_thread():
            raise ArithmeticError

    gc.disable()
    try:
        with pytest.raises(ArithmeticError):
            threads.run_each(work, 50, 2)
        del block, work
        threads.run_each(lambda task, thread: time.sleep(0.002), 10, 2)  # the pool lets go of its last work
    finally:
        gc.enable()
    gc.collect()

    assert seen() is None


@pytest.mark.parametrize("n_jobs", [0, 1.0, "2", True, []])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs"):
        threads.resolve_jobs(n_jobs)


def test_numbers_of_threads_are_read_as_joblib_reads_them(monkeypatch):
    monkeypatch.setattr(threads, "available_processors", lambda: 8)

    assert [threads.resolve_jobs(n_jobs) for n_jobs in (None, -1, -2, -8, -9, -(10**30), 1, 5, np.int8(3))] == [
        8, 8, 7, 1, 1, 1, 1, 5, 3,
    ]  # fmt: skip
    assert threads.resolve_jobs(10**30) == 256


@pytest.mark.parametrize(
    ("value", "expected"), [("1", 1), ("0", None), ("", None), ("\u00b2", None), ("9" * 5000, None)]
)
@pytest.mark.parametrize("variable", ["TREEWRIGHT_NUM_THREADS", "OMP_NUM_THREADS"])
def test_the_environment_lowers_the_number_of_processors(monkeypatch, variable, value, expected):
    for name in ("TREEWRIGHT_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    every = threads.available_processors()
    monkeypatch.setenv(variable, value)

    assert threads.available_processors() == (every if expected is None else expected)
