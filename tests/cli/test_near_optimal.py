"""``treewright near-optimal``: the count, the page, the models, JSON, and what is refused."""

import json

import pytest

import treewright as tw
from treewright.grow.optimal.search import Search


@pytest.fixture(scope="module")
def found(command, penguins, tmp_path_factory):
    folder = tmp_path_factory.mktemp("near")
    done = command(
        "near-optimal", penguins, "--target", "species", "--max-depth", 2, "--tolerance", 0.5, "--out", "near.html",
        "--models", "trees", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, done


def test_it_counts_all_trees_and_lists_the_best_of_each_arrangement(found):
    _, done = found
    assert "56 trees within 50 % of the least objective, 0.01744; 2 arrangements of columns" in done.stdout
    assert "island = Dream; bill_length_mm <= 42.35; flipper_length_mm <= 202.5 or missing" in done.stdout


def test_the_page_and_the_models_are_written_and_other_commands_read_them(found, command, penguins):
    folder, done = found
    assert "wrote near.html (nearly optimal trees)" in done.stdout
    assert "Nearly optimal trees for species" in (folder / "near.html").read_text()
    assert sorted(path.name for path in (folder / "trees").iterdir()) == ["tree-1.tw", "tree-2.tw"]
    assert tw.load(folder / "trees" / "tree-2.tw").facts["optimal"]["rank"] == 2
    shown = command("show", folder / "trees" / "tree-2.tw").stdout
    assert "number 2 of the trees near the optimum: the least loss is 33.3 % smaller" in shown
    again = command("near-optimal", penguins, "--target", "species", "--out", folder / "near.html")
    assert again.returncode == 1
    assert "--force" in again.stderr


def test_json_has_the_numbers_and_every_tree_if_it_is_asked_for(command, penguins):
    done = command(
        "near-optimal", penguins, "--target", "species", "--set", "max_depth=2", "--tolerance", 0.5,
        "--distinct", "tests", "--max-trees", 60, "--json", "--jobs", 1,
    )  # fmt: skip
    held = json.loads(done.stdout)
    assert (held["document"], held["version"]) == ("treewright near-optimal", 1)
    assert (held["n_trees"], held["n_distinct"], len(held["trees"])) == (56, 56, 56)
    assert held["columns"][1] == {
        "name": "bill_length_mm", "n_trees": 56, "share": 1.0, "root_share": 0.0,
        "lowest": pytest.approx(0.28, abs=0.03), "highest": pytest.approx(0.33, abs=0.03),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--tolerance", "-1"], "--tolerance -1.0: give a number, 0 or more"),
        (["--max-trees", "0"], "--max-trees 0: give a whole number >= 1"),
        (["--max-search", "2"], "--max-search 2: the search for the least loss ended without a proof"),
        (["--out", "near.pdf"], "name a page that ends in .html"),
        (["--set", "max_dept=2"], "did you mean max_depth?"),
        (["--json", "--out", "-"], "--json and --out - both take standard output"),
    ],
)
def test_what_cannot_be_is_refused_in_the_options_of_the_command(command, penguins, words, told):
    done = command("near-optimal", penguins, "--target", "species", *words)
    assert done.returncode == 2
    assert told in done.stderr.replace("\n", " ")


@pytest.mark.parametrize("at", [1, 2])
def test_ctrl_c_ends_the_command_in_the_fit_and_in_the_count(command, penguins, monkeypatch, at):
    solve, calls = Search.run, []

    def interrupted(self, *given):
        calls.append(self)
        if len(calls) == at:
            monkeypatch.setattr(Search, "solve", stopped)
        return solve(self, *given)

    def stopped(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "run", interrupted)
    done = command("near-optimal", penguins, "--target", "species", "--max-depth", 2)
    assert done.returncode == 130
    assert "trees within" not in done.stdout
    assert len(calls) == at
