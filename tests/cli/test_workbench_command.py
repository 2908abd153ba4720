"""``treewright workbench``: it begins, goes on, and refuses what does not fit before it serves."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest

import treewright.cli.workbench
from treewright.workbench.server import Server

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


def no_loop():
    raise RuntimeError("no running event loop")


@pytest.fixture
def serving(monkeypatch):
    """What is done while the command serves, given the session's desk; then Ctrl-C is pressed."""
    acts = []

    class Watched(Server):
        def __init__(self, desk, port):
            super().__init__(desk, port)

            def run(sockets):
                for each in sockets:
                    each.close()
                for act in acts:
                    act(desk)
                raise KeyboardInterrupt

            self._server.run = run

    monkeypatch.setattr(treewright.cli.workbench, "Server", Watched)
    # A browser of other tests in this process leaves its loop running, as a notebook does.
    monkeypatch.setattr(asyncio, "get_running_loop", no_loop)
    return acts


@pytest.fixture
def begin(serving, command, tmp_path):
    """Runs the command in this process until Ctrl-C; returns all that it said."""

    def run(*words):
        done = command("workbench", *words, "--no-browser", folder=tmp_path)
        sys.stderr.write(done.stderr)
        return done.returncode, done.stdout, done.stderr

    return run


def saved(place):
    return json.loads(place.read_text(encoding="utf-8"))


def test_it_begins_and_keeps_a_session(tmp_path):
    words = [PENGUINS, "--target", "species", "--who", "Ann", "--set", "min_samples_leaf=5", "--no-browser"]
    with subprocess.Popen(
        [sys.executable, "-m", "treewright", "workbench", *words], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert first.startswith("the workbench is at http://127.0.0.1:")
    assert out.endswith("0 commands in penguins.session.json\n")
    assert "penguins.session.json after every command" in said
    document = saved(tmp_path / "penguins.session.json")
    assert document["made_with"]["min_samples_leaf"] == 5
    assert document["file"] == {"path": str(PENGUINS), "target": "species"}


@pytest.fixture
def lost(serving, begin, tmp_path, monkeypatch):
    """Serves a session, grows a tree, makes saving impossible, gives names, and ends as Ctrl-C does."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = tmp_path / "place" / "p.json"
    place.parent.mkdir()

    def run(spoil, mend=None):
        def act(desk):
            def ask(revision, do, **given):
                return desk.ask({"ask": "do", "revision": revision, "do": do, "path": "", "given": given})

            assert ask(0, "grow", levels=1)["state"]["is_saved"]
            spoil(place)
            for at in range(2):
                assert "could not be saved" in ask(1 + at, "rename", name=f"root {at}")["warning"]
            if mend is not None:
                mend(place)

        serving.append(act)
        code, out, said = begin(PENGUINS, "--target", "species", "--session", place)
        serving.clear()
        return code, out.partition("\n")[2], said  # without the line of the address

    return run


def test_a_session_that_cannot_be_saved_is_kept_elsewhere_and_ctrl_c_says_so(lost, begin, tmp_path):
    code, out, said = lost(lambda place: place.parent.rename(tmp_path / "gone"))
    assert (code, out) == (1, "")
    (kept,) = tmp_path.glob("treewright-session-*/p.json")
    assert f"2 commands of 3 could not be saved: '{tmp_path}/place/p.json'" in said
    assert f"--session {kept}" in said
    assert [each["do"] for each in saved(kept)["commands"]] == ["grow", "rename", "rename"]
    assert len(saved(tmp_path / "gone" / "p.json")["commands"]) == 1
    code, _, said = begin(PENGUINS, "--target", "species", "--session", kept)
    assert (code, "after 3 commands" in said) == (0, True)


def test_where_nothing_can_be_written_ctrl_c_prints_the_script(lost, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def spoil(place):
        resource.setrlimit(resource.RLIMIT_FSIZE, (place.stat().st_size, before[1]))

    try:
        code, out, said = lost(spoil)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 1
    assert "2 commands of 3 could not be saved" in said
    assert "File too large" in said
    assert "standard output has the script" in said
    assert out.count("rename") == 2
    compile(out, "script", "exec")
    assert not list(tmp_path.glob("treewright-session-*"))


def test_a_session_that_can_be_saved_at_the_end_is(lost, tmp_path):
    code, out, _ = lost(
        lambda place: place.parent.rename(tmp_path / "gone"),
        mend=lambda place: (tmp_path / "gone").rename(place.parent),
    )
    assert (code, "3 commands in" in out) == (0, True)
    assert len(saved(tmp_path / "place" / "p.json")["commands"]) == 3


def test_it_goes_on_and_says_so(begin, tmp_path):
    table = pl.read_csv(PENGUINS, null_values="NA")
    table.write_csv(tmp_path / "p.csv")
    begin("p.csv", "--target", "species")
    place = tmp_path / "p.session.json"
    document = saved(place)
    document["commands"] = [{"do": "grow", "path": "", "given": {"levels": 2}, "when": "2026-05-02T10:00:00+00:00"}]
    place.write_text(json.dumps(document))
    code, out, said = begin("p.csv", "--target", "species")
    assert "continuing p.session.json after 1 command" in said
    assert (code, "1 command in p.session.json" in out) == (0, True)
    table.head(300).write_csv(tmp_path / "p.csv")
    _, _, said = begin("p.csv", "--target", "species")
    assert "rows have changed since the session was saved" in said
    document["commands"].append({"do": "split", "path": "0", "given": {"column": "body_mass_g", "cut": 1.0}})
    place.write_text(json.dumps(document))
    before = place.read_bytes()
    code, out, said = begin("p.csv", "--target", "species")
    assert (code, out) == (1, "")
    assert "command 2 of 2 (split '0') does not fit" in said
    assert place.read_bytes() == before
    code, out, said = begin("p.csv", "--target", "species", "--fitting")
    assert (code, "1 command in p.session.json" in out) == (0, True)
    assert "command 2 of 2 (split '0') does not fit" in said
    assert [each["do"] for each in saved(place)["dropped"]] == ["split"]


def test_what_was_said_of_the_file_holds_when_it_goes_on(begin, tmp_path):
    rows = pl.read_csv(PENGUINS, null_values="NA")
    is_third = pl.int_range(pl.len()) == 3
    rows.with_columns(species=pl.when(is_third).then(None).otherwise(pl.col("species"))).write_csv(tmp_path / "p.csv")
    _, out, _ = begin("p.csv", "--target", "species", "--skip-missing-target", "--drop", "sex")
    place = tmp_path / "p.session.json"
    document = saved(place)
    document["commands"] = [{"do": "grow", "path": "", "given": {"levels": 1}}]
    place.write_text(json.dumps(document))
    _, out, said = begin("p.csv", "--target", "species")
    assert out.startswith("the workbench is at"), said
    os.mkfifo(tmp_path / "pipe.json")
    code, _, said = begin("p.csv", "--target", "species", "--session", "pipe.json")
    assert (code, "is a pipe" in said) == (1, True)


def test_a_tree_and_a_forest_are_taken_up(begin, command, tmp_path):
    for name, words in (("tree", ["--max-depth", "2"]), ("forest", ["--algorithm", "forest", "--trees", "5"])):
        done = command("fit", PENGUINS, "--target", "species", *words, "--out", tmp_path / f"{name}.tw")
        assert done.returncode == 0
        code, out, said = begin(PENGUINS, "--target", "species", "--model", f"{name}.tw", "--session", f"{name}.json")
        assert out.startswith("the workbench is at"), said
        commands = saved(tmp_path / f"{name}.json")["commands"]
        assert {each["do"] for each in commands} == {"split"}
        assert commands[0]["why"].startswith("as in the")
        assert "their figures are too good" in said
        assert code == 0


def test_columns_are_what_the_options_say(begin, tmp_path):
    begin(
        PENGUINS, "--target", "species", "--ordinal", "island=Biscoe,Dream,Torgersen", "--drop", "sex",
        "--numeric", "body_mass_g", "--held-out", "0.5", "--sealed", "0.1", "--session", "s.json",
    )  # fmt: skip
    document = saved(tmp_path / "s.json")
    assert document["made_with"]["ordinal"] == {"island": ["Biscoe", "Dream", "Torgersen"]}
    assert (document["made_with"]["held_out"], document["made_with"]["sealed"]) == (0.5, 0.1)
    assert document["file"]["drop"] == ["sex"]
    # It goes on without being told again, or told the same; who decides may change.
    document["commands"] = [{"do": "grow", "path": "", "given": {"levels": 1}}]
    (tmp_path / "s.json").write_text(json.dumps(document))
    for words in ([], ["--sealed", "0.1", "--drop", "sex", "--who", "Bob"]):
        _, out, _ = begin(PENGUINS, "--target", "species", "--session", "s.json", *words)
        assert out.startswith("the workbench is at")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--target", "kind"], 1, "no column 'kind'"),
        (["--target", "species", "--set", "splitter=hist"], 2, "splitter is not a parameter of a session"),
        (["--target", "species", "--held-out", "2"], 2, "held_out=2"),
        (["--target", "species", "--session", "taken.json"], 1, "is not a Treewright session"),
        (["--target", "island", "--session", "begun.json"], 2, "a session with target 'species', not 'island'"),
        (
            ["--target", "species", "--session", "begun.json", "--sealed", "0.1"],
            2,
            "a session with sealed None, not 0.1",
        ),
        (["--target", "species", "--session", "begun.json", "--set", "max_depth=2"], 2, "with max_depth None, not 2"),
        (["--target", "species", "--session", "begun.json", "--drop", "sex"], 2, "with drop None, not ['sex']"),
        (["--target", "species", "--session", "begun.json", "--model", "x.tw"], 2, "--model begins a new one"),
        (["--target", "species", "--model", "absent.tw"], 1, "absent.tw"),
        (["--target", "species", "--port", "70000"], 2, "65535"),
    ],
)
def test_what_does_not_fit_is_refused(command, tmp_path, words, code, told):
    (tmp_path / "taken.json").write_text("{}")
    begun = {"document": "treewright session", "version": 1, "made_with": {}, "commands": [], "file": {}}
    begun["commands"] = [{"do": "grow", "path": "", "given": {"levels": 1}}]
    begun["file"] = {"path": str(PENGUINS), "target": "species"}
    (tmp_path / "begun.json").write_text(json.dumps(begun))
    done = command("workbench", PENGUINS, *words, "--no-browser", folder=tmp_path)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr


def test_costs_and_the_measure_begin_and_go_on_with_a_session(begin, tmp_path):
    table = pl.read_csv(PENGUINS, null_values="NA").with_columns(is_big=pl.col("species") == "Gentoo").drop("species")
    table.write_csv(tmp_path / "p.csv")
    words = ["p.csv", "--target", "is_big", "--cost", "fp=1,fn=5", "--positive", "true"]
    assert begin(*words)[0] == 0
    document = saved(tmp_path / "p.session.json")
    assert document["measure"] == "cost"
    assert document["made_with"]["cost"] == {"fp": 1, "fn": 5}
    document["commands"] = [{"do": "grow", "path": "", "given": {"levels": 2}, "when": "2026-05-02T10:00:00+00:00"}]
    (tmp_path / "p.session.json").write_text(json.dumps(document))
    assert begin("p.csv", "--target", "is_big", "--measure", "f1")[0] == 0
    assert saved(tmp_path / "p.session.json")["measure"] == "f1"
    for more, told in (
        (["--measure", "beauty"], "--measure 'beauty': choose one of accuracy, balanced_accuracy"),
        (["--cost", "fp=1,fn=6"], "is a session with cost {'fp': 1.0, 'fn': 5.0}, not {'fp': 1.0, 'fn': 6.0}"),
    ):
        code, _, said = begin("p.csv", "--target", "is_big", *more)
        assert code != 0
        assert told in said
