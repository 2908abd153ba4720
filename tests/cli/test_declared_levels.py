"""Declared levels from the command line: other spellings at fit and at predict, ``all``, and columns of Parquet."""

from __future__ import annotations

import polars as pl
import pytest

import treewright

MOVIES = """Type,Length,Rating,Liked
Animated,Short,7,yes
animated,medium,9,yes
Comedy,Medium,6,no
Drama,Long,8,no
Drama,Medium,5,no
Animated,long,7,yes
Comedy,short,9,no
drama ,Long,6,no
ANIMATED,Medium,7,yes
"""
FIT = ("fit", "movies.csv", "--target", "Liked", "--test-size", "0", "--out", "movies.tw")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "movies.csv").write_text(MOVIES)
    return tmp_path


def test_other_spellings_are_the_same_level_at_fit_and_at_predict(command, folder):
    declared = ("--nominal", "Type=Drama,Animated,Comedy", "--ordinal", "Length=Short,Medium,Long")
    (folder / "new.csv").write_text("Length,Rating,Type\nLONG,7,aNimated \n Short ,7,DRAMA\nlong,7,Horror\n")

    done = command(*FIT, *declared, folder=folder)
    model = treewright.load(folder / "movies.tw")

    assert done.returncode == 0, done.stderr
    assert [column.levels for column in model.schema.columns] == [
        ("Drama", "Animated", "Comedy"),
        ("Short", "Medium", "Long"),
        (),
    ]
    assert command("predict", "movies.tw", "new.csv", folder=folder).stdout.splitlines()[:3] == [
        "prediction",
        "yes",
        "no",
    ]
    assert model.predict_one({"Type": "ANIMATED ", "Length": "short", "Rating": 7}) == "yes"


def test_a_cell_that_is_no_declared_level_is_refused_with_the_nearest(command, folder):
    done = command(*FIT, "--nominal", "Type=Drama,Animatedd,Comedy", folder=folder)

    assert done.returncode == 1
    assert "column 'Type': 3 unseen level(s)" in done.stderr
    assert "first row 0: 'Animated' (did you mean 'Animatedd'?)" in done.stderr
    assert not (folder / "movies.tw").exists()


def test_the_target_has_no_declared_levels(command, folder):
    done = command(*FIT, "--nominal", "Liked=yes,no", folder=folder)

    assert done.returncode == 2
    assert "the target 'Liked' cannot" in done.stderr


def test_all_takes_numbers_for_names_and_knows_them_again(command, folder):
    done = command(*FIT, "--nominal", "all", "--ordinal", "Length=Short,Medium,Long", folder=folder)
    model = treewright.load(folder / "movies.tw")

    assert done.returncode == 0, done.stderr
    assert [column.kind for column in model.schema.columns] == ["nominal", "ordinal", "nominal"]
    assert model.schema.columns[2].levels == (5, 6, 7, 8, 9)
    (folder / "new.csv").write_text("Type,Length,Rating\nAnimated,Short,7.0\n")
    assert command("predict", "movies.tw", "new.csv", folder=folder).stdout.splitlines() == ["prediction", "yes"]


def test_all_and_a_column_with_levels_go_together(command, folder):
    done = command(*FIT, "--nominal", "all", "--nominal", "Type=Drama,Animated,Comedy", folder=folder)
    columns = treewright.load(folder / "movies.tw").schema.columns

    assert done.returncode == 0, done.stderr
    assert [(column.kind, column.declared) for column in columns] == [
        ("nominal", True),
        ("nominal", False),
        ("nominal", False),
    ]


def test_levels_of_parquet_columns_are_numbers_or_booleans_where_the_cells_are(command, tmp_path):
    table = pl.DataFrame({"n": [1, 2, 1], "f": [0.5, 1.5, 0.5], "b": [True, False, True], "y": ["u", "v", "u"]})
    table.write_parquet(tmp_path / "t.parquet")
    fit = ("fit", "t.parquet", "--target", "y", "--test-size", "0", "--out", "t.tw", "--force")

    done = command(*fit, "--nominal", "n=3,2,1", "--nominal", "f=1.5,0.5", "--nominal", "b=true,false", folder=tmp_path)
    columns = treewright.load(tmp_path / "t.tw").schema.columns

    assert done.returncode == 0, done.stderr
    assert [column.levels for column in columns] == [(3, 2, 1), (1.5, 0.5), (True, False)]
    for wrong in ("n=one,2", "f=true,1.5", "b=1,0"):
        refused = command(*fit, "--nominal", wrong, folder=tmp_path)
        assert refused.returncode == 1, wrong
        assert f"column '{wrong[0]}'" in refused.stderr
