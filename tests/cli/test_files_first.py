"""Files that were asked for are there also when nobody reads to the end, as in ``treewright ... | head``."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
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


@pytest.mark.parametrize("n", [0, 1, 2])
def test_ctrl_c_tells_of_the_files_that_are_there(n, capsys):
    import typer

    from treewright.cli.terminal import refusals, results_after, wrote

    with (
        pytest.raises(typer.Exit) as left,
        refusals(),
        results_after([wrote(Path(f"{at}.tw"), "model") for at in range(n)]),
    ):
        raise KeyboardInterrupt

    assert left.value.exit_code == 130
    told = ", ".join(f"wrote {at}.tw (model)" for at in range(n)) or "nothing was written"
    assert capsys.readouterr().err == f"treewright: stopped by Ctrl-C; {told}\n"


def test_ctrl_c_tells_that_a_part_went_to_standard_output(fitted, tmp_path, penguins):
    """The reader takes a hundred bytes of a result that is larger than a pipe holds, and waits."""
    model = fitted[0] / "penguins.tw"
    table = pl.read_csv(penguins, null_values="NA")
    pl.concat([table] * 100).write_csv(tmp_path / "rows.csv")
    words = [sys.executable, "-m", "treewright", "predict", model, "rows.csv", "--proba"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(100)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (
        130,
        b"treewright: stopped by Ctrl-C; standard output has only a part of the result\n",
    )


def test_ctrl_c_tells_of_the_complete_files_of_predictions(fitted, tmp_path, penguins, monkeypatch, capsys):
    import typer

    from treewright.cli.options import PredictRequest
    from treewright.cli.predict import run_predict
    from treewright.cli.terminal import refusals
    from treewright.files import predictions

    (tmp_path / "rows").mkdir()
    for name in ("a.csv", "b.csv"):
        shutil.copy(penguins, tmp_path / "rows" / name)
    written = predictions._write

    def stopped(rows, *given):
        if rows.name == "b.csv":
            raise KeyboardInterrupt
        written(rows, *given)

    monkeypatch.setattr(predictions, "_write", stopped)
    out = tmp_path / "out"
    for told in (f"{out} has 1 complete file: the same command goes on",) * 2:
        with pytest.raises(typer.Exit), refusals():
            run_predict(PredictRequest(model=fitted[0] / "penguins.tw", data=tmp_path / "rows", out=out))
        assert capsys.readouterr().err == f"treewright: stopped by Ctrl-C; {told}\n"
