"""Files that were asked for are there also when nobody reads to the end, as in ``treewright ... | head``."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import treewright


@pytest.fixture(scope="module")
def unread(surroundings):
    """Runs the command while the reader of its standard output is gone already."""

    def run(folder, *words):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return subprocess.run(
                [sys.executable, "-m", "treewright", *map(str, words)], cwd=folder, stdout=writer,
                stderr=subprocess.PIPE, text=True, timeout=300, check=False, env=surroundings,
            )  # fmt: skip
        finally:
            os.close(writer)

    return run


def test_no_file_is_lost_when_the_reader_goes(unread, penguins, tmp_path):
    fitted = unread(tmp_path, "fit", penguins, "--target", "species", "--out", "m.tw", "--svg", "m.svg")

    assert fitted.returncode == 0, fitted.stderr
    assert "Traceback" not in fitted.stderr
    assert treewright.load(tmp_path / "m.tw").trees[0].n_leaves > 1
    assert "</svg>" in (tmp_path / "m.svg").read_text(encoding="utf-8")

    words = ["--method", "leaves", "--set", "max_leaves=2", "--out", "two.tw", "--log", "two.csv"]
    pruned = unread(tmp_path, "prune", "m.tw", *words)

    assert pruned.returncode == 0, pruned.stderr
    assert treewright.load(tmp_path / "two.tw").trees[0].n_leaves == 2
    assert (tmp_path / "two.csv").read_text().startswith("node,")

    words = ["--candidate", "cart", "--cv", 2, "--out", "table.csv"]
    compared = unread(tmp_path, "compare", penguins, "--target", "species", *words)

    assert compared.returncode == 0, compared.stderr
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("there", "told"), [([], "nothing was written"), (["wrote m.tw (model)"], "wrote m.tw (model)")]
)
def test_ctrl_c_among_the_results_tells_of_the_files_that_are_there(there, told, capsys):
    import typer

    from treewright.cli.terminal import results_after

    with pytest.raises(typer.Exit) as left, results_after(there):
        raise KeyboardInterrupt

    assert left.value.exit_code == 130
    assert capsys.readouterr().err == f"treewright: stopped by Ctrl-C; {told}\n"
