"""Parts in processes of their own: questions, answers, what goes wrong, and what is left behind: nothing."""

from __future__ import annotations

import os
import pickle
import signal
import time
from functools import partial

import pytest

from treewright.data.dataset import PartLostError
from treewright.data.processes import Processes
from treewright.exceptions import DataError

signals = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")


def of_lists(**more):
    return Processes([partial(list, (3, 1, 2)), partial(list, (2, 5))], **more)


def test_every_part_is_asked_and_answers_stand_in_the_order_of_the_parts():
    with of_lists() as carrier:
        assert carrier.n_parts == 2
        assert carrier.ask("index", 2) == [2, 0]
        carrier.ask("append", 7)
        assert carrier.ask("__len__") == [4, 3]


def test_what_a_part_raises_is_raised_here_and_the_others_answer_the_next_question():
    with of_lists() as carrier:
        with pytest.raises(ValueError, match="not in list"):
            carrier.ask("index", 3)
        assert carrier.ask("index", 2) == [2, 0]
        with pytest.raises(AttributeError):
            carrier.ask("no_such_question")
        assert carrier.ask("__len__") == [3, 2]


def test_errors_of_this_library_come_through():
    with Processes([partial(partial, raised)]) as carrier, pytest.raises(DataError, match="row 3"):
        carrier.ask("__call__")


def raised():
    raise DataError("row 3 is odd", row=3)


@signals
@pytest.mark.parametrize("when", ["before", "while"])
def test_a_process_that_dies_is_told_and_made_again(when):
    with Processes([partial(partial, time.sleep), partial(partial, time.sleep)]) as carrier:
        carrier.settle("__call__", 0)
        victim = carrier._children[1]
        if when == "before":
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()
            with pytest.raises(PartLostError, match=r"part 1 .* SIGKILL"):
                carrier.ask("__call__", 0)
        else:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(victim.pid, signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(PartLostError, match=r"part 1 .* SIGKILL"):
                carrier.ask("__call__", 2)
        carrier.revive()
        assert carrier.ask("__call__", 0) == [None, None]


@signals
def test_a_process_that_says_nothing_is_ended_after_a_while():
    with Processes([partial(partial, time.sleep)]) as carrier:
        carrier.ask("__call__", 0)
        carrier.patience = 0.5
        os.kill(carrier._children[0].pid, signal.SIGSTOP)
        with pytest.raises(PartLostError, match=r"did not answer within 0\.5 s"):
            carrier.ask("__call__", 0)
        carrier.patience = 3600.0
        carrier.revive()
        assert carrier.ask("__call__", 0) == [None]


def test_what_was_settled_is_told_to_a_part_that_is_made_again():
    with of_lists() as carrier:
        carrier.settle("append", 9)
        carrier.ask("append", 8)
        carrier.revive()
        assert carrier.ask("__len__") == [4, 3]


@signals
def test_no_process_is_left_behind():
    carrier = of_lists()
    numbers = [child.pid for child in carrier._children]
    carrier.ask("__len__")
    del carrier
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_a_part_that_cannot_be_made_says_why():
    with Processes([partial(int, "no number")]) as carrier, pytest.raises(ValueError, match="no number"):
        carrier.ask("bit_length")


def test_a_question_that_is_broken_off_leaves_no_answer_for_the_next(monkeypatch):
    with of_lists() as carrier:
        whole = pickle.loads
        monkeypatch.setattr(pickle, "loads", lambda _data: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            carrier.ask("__len__")
        monkeypatch.setattr(pickle, "loads", whole)
        with pytest.raises(PartLostError, match="interrupted"):
            carrier.ask("index", 2)
        carrier.revive()
        assert carrier.ask("index", 2) == [2, 0]


def test_large_questions_and_answers_do_not_wait_for_each_other():
    with of_lists() as carrier:
        large = b"x" * 3_000_000
        carrier.ask("append", large)
        assert [len(answer) for answer in carrier.ask("pop")] == [3_000_000] * 2


@signals
def test_a_large_question_to_a_process_that_is_stopped_ends_too():
    with Processes([partial(list, (1,))]) as carrier:
        carrier.ask("__len__")
        carrier.patience = 0.5
        os.kill(carrier._children[0].pid, signal.SIGSTOP)
        with pytest.raises(PartLostError, match="did not answer"):
            carrier.ask("append", b"x" * 3_000_000)
