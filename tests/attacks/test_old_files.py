"""Files that an older version wrote load, say the same, and pass on what they hold.

``old_files`` was written by the version before identifiers, dates, thresholds and parts of dates were known (commit
ca7db13): sixty rows, their answers, and a model of each sort.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import treewright as tw

FOLDER = Path(__file__).parent / "old_files"
KNOWN = json.loads(FOLDER.joinpath("answers.json").read_text(encoding="utf-8"))
NAMES = sorted(KNOWN["answers"])


@pytest.mark.parametrize("name", NAMES)
def test_an_old_file_says_what_it_said(name, tmp_path):
    model = tw.load(FOLDER / f"{name}.tw")
    answers = KNOWN["answers"][name]

    assert model.predict(KNOWN["rows"]).tolist() == answers
    row = {column: cells[0] for column, cells in KNOWN["rows"].items()}
    assert np.asarray(model.predict_one(row)).tolist() == answers[0]
    assert [column.left_out for column in model.schema.columns] == ["", "", ""]
    assert model.schema.given == model.schema.columns
    model.save(tmp_path / "again.tw")
    assert tw.load(tmp_path / "again.tw").predict(KNOWN["rows"]).tolist() == answers


@pytest.mark.parametrize("name", ["tree", "c45", "regression"])
def test_an_old_tree_is_shown_explained_and_pruned(name):
    model = tw.load(FOLDER / f"{name}.tw")
    assert "size <= " in model.show()
    assert str(model.rules())
    assert model.prune("cost_complexity", alpha=0.01).predict(KNOWN["rows"]).shape == (60,)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_reads_an_old_file(name, tmp_path, capsys):
    from treewright.cli.app import app

    lines = zip(*KNOWN["rows"].values(), strict=True)
    table = [",".join("" if cell is None else str(cell) for cell in row) for row in lines]
    data = tmp_path / "rows.csv"
    data.write_text("\n".join(["size,kind,rank", *table]) + "\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        app(["predict", str(FOLDER / f"{name}.tw"), str(data)])
    assert not ended.value.code
    said = capsys.readouterr().out.split()[1:]
    expected = KNOWN["answers"][name]
    assert [type(expected[0])(word) for word in said] == pytest.approx(expected, rel=1e-9) if name in (
        "regression", "forest",
    ) else said == expected  # fmt: skip
