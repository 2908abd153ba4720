"""What long commands tell while they work, where there is no terminal for a bar."""

from __future__ import annotations

import re
import time

import pytest

import treewright.cli.fit
import treewright.cli.prune
import treewright.cli.warmup
from treewright.core import progress


@pytest.fixture
def impatient(monkeypatch):
    """The first line comes at once."""
    monkeypatch.setattr(progress, "_FIRST_LINE", 0.001)


def lines_of(said):
    """Lines about the progress alone."""
    others = (progress.COMPILING_NOTICE, "treewright: warning: ")
    return [line for line in said.stderr.splitlines() if not any(other in line for other in others)]


def test_compare_in_a_pipe_counts_candidates_and_folds(command, penguins, impatient):
    said = command("compare", penguins, "--target", "species", "--candidate", "cart,c45", "--cv", 3, "--jobs", 1)

    assert said.returncode == 0, said.stderr
    *during, end = lines_of(said)
    assert during
    for line in during:
        assert re.match(r"treewright: (working|candidate [12] of 2, (cart|c45)(: [0-3] of 3 folds)?) \(", line), line
    assert re.fullmatch(r"treewright: done \(\d+:\d\d\)", end)


def test_the_search_of_an_optimal_tree_in_a_pipe_tells_loss_bound_and_gap(command, penguins, impatient):
    said = command("fit", penguins, "--target", "species", "--algorithm", "optimal", "--set", "max_depth=5")

    assert said.returncode == 0, said.stderr
    told = r"treewright: searching: loss [\d.e-]+, bound [\d.e-]+, gap [\d.]+ %, [\d,]+ of 2,000 subproblems \("
    assert any(re.match(told, line) for line in lines_of(said)), said.stderr
    assert re.fullmatch(r"treewright: done \(\d+:\d\d\)", lines_of(said)[-1])


def test_a_report_in_a_pipe_tells_its_sections(command, fitted, penguins, tmp_path, impatient):
    folder, _ = fitted
    said = command("report", folder / "penguins.tw", penguins, "--out", tmp_path / "page.html")

    assert any("report, " in line for line in lines_of(said)), said.stderr
    assert "treewright: done (" in said.stderr


def test_quick_work_in_a_pipe_tells_nothing_of_progress(command, fitted, penguins):
    said = command("evaluate", fitted[0] / "penguins.tw", penguins)

    assert not re.search(r"done \(|working \(", said.stderr)


class StoppedError(KeyboardInterrupt):
    pass


def stop(*_, **__):
    progress.report(0.0, "growing")
    raise StoppedError


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["fit", "penguins.csv", "--target", "species"], "fit_and_hold_out"),
        (["fit", "penguins.csv", "--target", "species", "--cv", 3], "score_by_folds"),
        (["fit", "penguins.csv", "--algorithm", "isolation-forest"], "weights_of"),
    ],
)
def test_that_nothing_is_saved_is_said_before_the_fit(command, penguins, monkeypatch, words, place):
    monkeypatch.setattr(treewright.cli.fit, place, stop)
    said = command(*words, folder=penguins.parent)

    assert "the model is not saved; --out model.tw saves it" in said.stderr


def test_a_model_that_is_saved_or_piped_is_not_said_to_be_lost(command, fitted, penguins):
    piped = command("fit", penguins, "--target", "species", "--set", "max_depth=1", "--out", "-")

    assert piped.returncode == 0, piped.stderr
    assert "not saved" not in fitted[1].stderr + piped.stderr


def test_a_fit_that_is_refused_says_nothing_of_saving(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n3,c\n4,d\n")
    said = command("fit", "t.csv", "--target", "y", "--cv", 9, folder=tmp_path)

    assert (said.returncode, said.stderr.count("\n")) == (1, 1)


def test_that_nothing_is_saved_is_said_before_the_pruning(command, fitted, monkeypatch):
    monkeypatch.setattr("treewright.model.model.Model.prune", stop)
    said = command("prune", fitted[0] / "penguins.tw", "--method", "leaves", "--set", "max_leaves=2")

    assert "the pruned model is not saved; --out pruned.tw saves it" in said.stderr


@pytest.mark.parametrize(("kept", "seconds"), [(0, "1:25"), (0.75, "0:25"), (1, "0:05"), (1.5, "0:05")])
def test_warmup_says_how_long_it_will_take_by_what_is_missing_and_by_the_pace_of_this_machine(
    command, monkeypatch, kept, seconds
):
    warmup = treewright.cli.warmup
    monkeypatch.setattr(warmup, "available_processors", lambda: 1)
    monkeypatch.setattr(warmup, "_warm_up", lambda _: None)
    monkeypatch.setattr(warmup, "_seconds_of_typical", lambda: 80.0 / warmup._TIMES_TYPICAL)
    monkeypatch.setattr(warmup, "kept_forms", lambda: kept * warmup._N_FORMS)

    assert f"7 groups of kernels, 1 at a time, about {seconds} in all" in command("warmup").stderr


def test_warmup_counts_its_groups(command, monkeypatch, impatient):
    monkeypatch.setattr(treewright.cli.warmup, "available_processors", lambda: 1)
    monkeypatch.setattr(treewright.cli.warmup, "_seconds_of_typical", lambda: 0.1)
    monkeypatch.setattr(treewright.cli.warmup, "_warm_up", lambda _: time.sleep(0.02))
    said = command("warmup")

    assert "7 groups of kernels, 1 at a time" in said.stderr
    assert "7 of 7: contributions" in said.stderr
    assert "treewright: done (" in said.stderr
