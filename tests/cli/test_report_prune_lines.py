"""The lines of ``treewright prune`` that a report shows make the trees that it shows."""

from __future__ import annotations

import shlex

import polars as pl
import pytest

import treewright


@pytest.fixture(scope="module")
def grown(command, penguins, tmp_path_factory):
    """A model of half of the penguins, the two halves as files."""
    folder = tmp_path_factory.mktemp("lines")
    table = pl.read_csv(penguins).drop_nulls()
    table[::2].write_csv(folder / "grow.csv")
    table[1::2].write_csv(folder / "rest.csv")
    done = command("fit", "grow.csv", "--target", "species", "--test-size", 0, "--out", "full.tw", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def part(grown):
    model, rest = treewright.load(grown / "full.tw"), pl.read_csv(grown / "rest.csv")
    return treewright.report(model, rest.drop("species"), rest["species"]).summary.pruning


def leaves_made_by(command, grown, line):
    names = {"MODEL": "full.tw", "DATA": "rest.csv", "ROWS_OF_THE_FIT": "grow.csv"}
    program, *rest = (names.get(word, word) for word in shlex.split(line))
    assert program == "treewright"
    done = command(*rest, "--force", folder=grown)
    assert done.returncode == 0, done.stderr
    return treewright.load(grown / "pruned.tw").trees[0].n_leaves


def test_the_line_of_each_step_makes_its_tree(command, grown, part):
    for alpha, n_leaves in zip(part.alphas, part.n_leaves, strict=True):
        assert leaves_made_by(command, grown, part.command.replace("{alpha}", repr(alpha))) == n_leaves


def test_the_line_of_each_pruner_makes_its_tree(command, grown, part):
    defined = [each for each in part.pruners[1:] if not each.why_not]
    assert len(defined) >= 4
    for each in defined:
        assert leaves_made_by(command, grown, each.command) == each.n_leaves
