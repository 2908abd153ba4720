"""Processes that hold rows die at any moment of a fit: it ends in the same model or one clear error, never a hang."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import polars as pl
import pytest
from rotating import crossed, few

import treewright as tw
from treewright.data.dataset import PartLostError
from treewright.data.processes import Processes
from treewright.trees.codec import dumps

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
    pytest.mark.usefixtures("copies"),
]

N = 2_000
RNG = np.random.default_rng(0)
TABLE = pl.DataFrame({"x": RNG.normal(size=N), "k": RNG.choice(list("abcd"), N), "z": RNG.exponential(size=N)})
CLASSES = np.digitize(TABLE["x"].to_numpy() + (TABLE["k"] == "a").to_numpy() + RNG.normal(size=N) * 0.5, [-0.5, 0.8])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("files")
    table = TABLE.with_columns(y=pl.Series(CLASSES))
    for at, part in enumerate(table.iter_slices(500)):
        part.write_parquet(place / f"{at}.parquet")
    return place


def made(folder, n_processes: int | None, memory: str = "40KB") -> Any:
    return tw.Dataset.from_parquet(
        folder, target="y", task="classification", memory=memory, n_processes=n_processes, n_jobs=2
    )


def boosting(**more: Any) -> Any:
    return tw.GradientBoostingClassifier(4, learning_rate=0.4, **more)


@pytest.fixture(scope="module")
def expected():
    return dumps(boosting(subsample=0.7).fit(TABLE, pl.Series("y", CLASSES)).model_)


@pytest.mark.parametrize("n_processes", few([1, 2, 4, 6], 2))
def test_any_number_of_processes_gives_the_model_of_the_table(folder, expected, n_processes):
    dataset = made(folder, n_processes)
    try:
        assert dumps(boosting(subsample=0.7).fit(dataset).model_) == expected
        assert dumps(boosting(subsample=0.7).fit(dataset).model_) == expected
    finally:
        dataset.close()


class Killing:
    """Kills a process before a question of one kind is asked for the n-th time, or right after it was sent."""

    def __init__(self, monkeypatch: Any, what: str, times: set[int], *, is_sent: bool) -> None:
        self.what, self.times, self.n_asked, self.n_killed = what, times, 0, 0
        ask, exchanged = Processes.ask, Processes._exchanged

        def killing(carrier: Processes, asked: str, *given: Any) -> list[Any]:
            self.n_asked += asked == self.what
            self.is_due = asked == self.what and self.n_asked in self.times
            if self.is_due and not is_sent:
                self.kill(carrier)
            return ask(carrier, asked, *given)

        def exchanged_and_killing(carrier: Processes, question: bytes) -> list[bytes]:
            if self.is_due and is_sent:
                self.is_due = False
                threading.Timer(0.003, self.kill, [carrier]).start()
            return exchanged(carrier, question)

        monkeypatch.setattr(Processes, "ask", killing)
        monkeypatch.setattr(Processes, "_exchanged", exchanged_and_killing)

    def kill(self, carrier: Processes) -> None:
        self.n_killed += 1
        for victim in carrier._children[-1:]:
            os.kill(victim.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("what", "is_sent"),
    crossed(("begin", "gradients", "open", "split", "leaf_sums", "add", "draw"), (False, True)),
)
def test_a_process_killed_at_any_question_changes_nothing(folder, expected, monkeypatch, what, is_sent):
    dataset = made(folder, 2)
    killing = Killing(monkeypatch, what, {1} if what == "begin" else {5}, is_sent=is_sent)
    if what in ("gradients", "draw"):
        killing.times = {3}
    try:
        assert dumps(boosting(subsample=0.7).fit(dataset).model_) == expected
        assert killing.n_killed == 1
    finally:
        dataset.close()


@pytest.mark.parametrize(("what", "is_sent"), crossed(("lend", "borrow", "do"), (False, True)))
def test_a_process_killed_while_trees_are_handed_out_changes_nothing(folder, monkeypatch, what, is_sent):
    def forest() -> Any:
        return tw.RandomForestClassifier(40, oob_score=True)

    whole = forest().fit(TABLE, pl.Series("y", CLASSES))
    dataset = made(folder, 2, "400KB")
    killing = Killing(monkeypatch, what, {3 if what == "do" else 1}, is_sent=is_sent)
    try:
        found = forest().fit(dataset)
        assert killing.n_killed == 1
        assert dumps(found.model_) == dumps(whole.model_)
        assert found.oob_score_ == whole.oob_score_
        assert dumps(forest().fit(dataset).model_) == dumps(whole.model_)
    finally:
        dataset.close()


def test_a_process_killed_while_others_judge_changes_no_score(folder, monkeypatch):
    aside = {"X_val": TABLE[:300], "y_val": CLASSES[:300]}
    whole = boosting().fit(TABLE, pl.Series("y", CLASSES), **aside)
    dataset = made(folder, 2)
    Killing(monkeypatch, "add", {5}, is_sent=False)
    try:
        assert dumps(boosting().fit(dataset, **aside).model_) == dumps(whole.model_)
    finally:
        dataset.close()


def test_processes_that_die_again_and_again_are_one_error(folder, monkeypatch):
    dataset = made(folder, 2)
    Killing(monkeypatch, "open", set(range(1, 100)), is_sent=False)
    try:
        with pytest.raises(PartLostError, match="is lost"):
            boosting().fit(dataset)
        monkeypatch.undo()
        dataset.matrix.carrier.revive()
        assert boosting().fit(dataset).score(TABLE, CLASSES) > 0.5
    finally:
        dataset.close()


def test_the_files_of_a_process_that_died_must_still_be_there(folder, tmp_path, monkeypatch):
    import shutil

    copied = shutil.copytree(folder, tmp_path / "copied")
    dataset = made(copied, 2)
    shutil.rmtree(copied)
    Killing(monkeypatch, "open", {2}, is_sent=False)
    try:
        with pytest.raises(Exception, match=r"cannot be read|No such file"):
            boosting().fit(dataset)
    finally:
        dataset.close()
