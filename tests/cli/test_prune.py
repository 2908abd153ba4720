"""``treewright prune`` and ``fit --prune``: what they cut, show, save and refuse."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest

import treewright


@pytest.fixture(scope="module")
def grown(command, penguins, tmp_path_factory):
    """A model of half of the penguins, the two halves as files."""
    folder = tmp_path_factory.mktemp("grown")
    table = pl.read_csv(penguins).drop_nulls()  # missing cells in one half alone are warned of
    table[::2].write_csv(folder / "grow.csv")
    table[1::2].write_csv(folder / "rest.csv")
    words = ["--target", "species", "--test-size", 0, "--prune", "none", "--out", "full.tw"]
    done = command("fit", "grow.csv", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_prune_tells_every_cut_and_saves_the_smaller_tree(command, grown):
    said = command(
        "prune", "full.tw", "--method", "leaves", "--set", "max_leaves=3", "--out", "three.tw", "--log", "three.csv",
        folder=grown,
    )  # fmt: skip

    full, three = treewright.load(grown / "full.tw"), treewright.load(grown / "three.tw")
    assert said.returncode == 0
    assert f"leaves {full.trees[0].n_leaves} -> 3" in said.stdout
    assert three.trees[0].n_leaves == 3
    assert [entry["method"] for entry in three.facts["pruning"]] == ["leaves"]
    cuts = list(csv.DictReader(io.StringIO((grown / "three.csv").read_text())))
    assert len(cuts) == three.facts["pruning"][0]["cuts"]
    assert all(f"node {cut['node']} ({cut['test']})" in said.stdout for cut in cuts)


def test_the_model_file_that_is_pruned_stays_as_it_is(command, grown):
    before = (grown / "full.tw").read_bytes()

    command("prune", "full.tw", "--method", "merge-equal-leaves", "--out", "merged.tw", folder=grown)

    assert (grown / "full.tw").read_bytes() == before


@pytest.mark.parametrize("method", ["reduced-error", "error-based"])
def test_methods_that_need_rows_take_them_from_a_file(command, grown, method):
    rows = {"reduced-error": "rest.csv", "error-based": "grow.csv"}[method]

    said = command("prune", "full.tw", rows, "--method", method, "--out", f"{method}.tw", folder=grown)

    assert said.returncode == 0, said.stderr
    assert f"on {rows} before: " in said.stdout
    assert f"on {rows} after: " in said.stdout
    assert (
        treewright.load(grown / f"{method}.tw").trees[0].n_leaves
        <= treewright.load(grown / "full.tw").trees[0].n_leaves
    )


def test_the_command_cuts_what_python_cuts(command, grown):
    command("prune", "full.tw", "rest.csv", "--method", "reduced-error", "--out", "command.tw", folder=grown)
    rest = pl.read_csv(grown / "rest.csv")

    in_python = treewright.load(grown / "full.tw").prune("reduced_error", rest.drop("species"), rest["species"])
    in_python.save(grown / "python.tw")

    assert (grown / "command.tw").read_bytes() == (grown / "python.tw").read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--method", "leafs"], 2, "did you mean 'leaves'?"),
        (["--method", "ccp"], 2, "cost-complexity needs a value, such as --set alpha=0.01"),
        (["--method", "depth"], 2, "depth needs a value, such as --set max_depth=3"),
        (["--method", "leaves"], 2, "leaves needs a value, such as --set max_leaves=8"),
        (["--method", "rep"], 2, "did you mean 'reduced-error'?"),
        (["--method", "J48"], 2, "did you mean 'error-based'?"),
        (["--method", "ccp-1se"], 2, "use fit --prune"),
        (["--method", "leaves", "--set", "max_leaves=0"], 2, "max_leaves=0: give a whole number >= 1"),
        (["--method", "leaves", "--set", "max_leafs=3"], 2, "choose one of max_leaves, risk"),
        (["--method", "leaves", "--set", "max_leaves=3", "--set", "max_leaves=4"], 2, "given twice"),
        (["--method", "cost-complexity", "--set", "alpha=-1"], 2, "alpha=-1: the price of a leaf is a number >= 0"),
        (["--method", "reduced-error"], 2, "needs rows that the tree was not fitted on: give them as DATA"),
        (["nowhere.csv", "--method", "reduced-error"], 1, "nowhere.csv: no such file"),
        (["--method", "mdl", "--out", "rest.csv"], 1, "already exists"),
        (["--method", "mdl", "--out", "full.tw"], 2, "--out full.tw: is MODEL itself"),
        (["--method", "mdl", "--out", "a.tw", "--log", "a.tw"], 2, "--out and --log name the same file"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line(command, grown, words, code, told):
    said = command("prune", "full.tw", *words, folder=grown)

    assert said.returncode == code
    assert told in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("how", ["ccp-1se", "ccp-min", "reduced-error", "error-based", "significance", "mdl"])
def test_fit_can_cut_back_what_it_grew(command, penguins, tmp_path, how):
    said = command("fit", penguins, "--target", "species", "--prune", how, "--out", "small.tw", folder=tmp_path)

    assert said.returncode == 0, said.stderr
    steps = treewright.load(tmp_path / "small.tw").facts["pruning"]
    leaves = treewright.load(tmp_path / "small.tw").trees[0].n_leaves
    assert f"pruned by {how}: {steps[0]['leaves_before']} leaves -> {leaves}, depth" in said.stdout
    assert "held-out accuracy" in said.stdout


def test_a_fit_that_prunes_by_cross_validation_repeats(command, penguins, tmp_path):
    words = ["fit", penguins, "--target", "species", "--prune", "ccp-1se", "--seed", "3", "--out"]

    first = command(*words, "a.tw", folder=tmp_path)
    second = command(*words, "b.tw", "--jobs", "1", folder=tmp_path)

    assert first.stdout.replace("a.tw", "b.tw") == second.stdout
    assert (tmp_path / "a.tw").read_bytes() == (tmp_path / "b.tw").read_bytes()


def test_fit_refuses_a_pruning_it_does_not_know_before_it_reads(command, tmp_path):
    said = command("fit", "nowhere.csv", "--target", "y", "--prune", "ccp-1sd", folder=tmp_path)

    assert said.returncode == 2
    assert "did you mean 'ccp-1se'?" in said.stderr


def test_fit_refuses_to_trace_a_tree_that_it_prunes(command, penguins, tmp_path):
    said = command("fit", penguins, "--target", "species", "--prune", "mdl", "--trace", folder=tmp_path)

    assert said.returncode == 2
    assert "--trace" in said.stderr
