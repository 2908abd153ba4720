"""Folders and patterns of files on the command line: as the one file that holds their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

N = 900
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(3)
TABLE = pl.DataFrame(
    {
        "x": X,
        "k": RNG.choice(list("abc"), N),
        "z": RNG.normal(size=N).round(3),
        "y": np.where(X + RNG.normal(size=N) > 0, "up", "down"),
    }
)


@pytest.fixture
def cli(command: Any, place: Path) -> Any:
    def run(*words: str, ok: bool = True) -> Any:
        done = command(*words, folder=place)
        assert (done.returncode == 0) == ok, done.stderr
        return done

    return run


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows" / "later").mkdir(parents=True)
    (tmp_path / "texts").mkdir()
    for at, part in enumerate(TABLE.iter_slices(400)):
        part.write_parquet(tmp_path / "rows" / ("later" if at else "") / f"{at}.parquet")
        part.write_csv(tmp_path / "texts" / f"{at}.csv")
    TABLE.write_parquet(tmp_path / "whole.parquet")
    TABLE.write_csv(tmp_path / "whole.csv")
    return tmp_path


@pytest.mark.parametrize(("several", "whole"), [("rows", "whole.parquet"), ("texts/*.csv", "whole.csv")])
def test_a_folder_is_learned_from_and_scored_as_one_file(cli: Any, place: Path, several: str, whole: str) -> None:
    told = []
    for data in (several, whole):
        done = cli("fit", data, "--target", "y", "--set", "max_depth=3", "--out", "m.tw", "--force")
        scored = cli("evaluate", "m.tw", data)
        rows = cli("predict", "m.tw", data, "--proba", "--keep", "z")
        told.append(
            (done.stdout.replace(f"{data}:", "DATA:"), scored.stdout, rows.stdout, (place / "m.tw").read_bytes())
        )
    assert told[0] == told[1]


def test_predictions_of_a_folder_lie_as_its_files_do(cli: Any, place: Path) -> None:
    cli("fit", "rows", "--target", "y", "--out", "m.tw")
    done = cli("predict", "m.tw", "rows", "--out", "answers", "--proba")
    assert "wrote answers" in done.stderr
    found = sorted(str(file.relative_to("answers")) for file in Path("answers").rglob("*.parquet"))
    assert found == ["0.parquet", "later/1.parquet", "later/2.parquet"]
    cli("predict", "m.tw", "whole.csv", "--proba", "--out", "one.parquet")
    whole = pl.concat([pl.read_parquet(Path("answers") / name) for name in found])
    assert whole.equals(pl.read_parquet("one.parquet"))
    cli("predict", "m.tw", "rows", "--out", "answers", "--proba")  # nothing is left to do
    other = cli("predict", "m.tw", "rows", "--out", "answers", ok=False)
    assert "replace it (--force)" in other.stderr
    assert "is a directory" in cli("predict", "m.tw", "whole.csv", "--out", "answers", ok=False).stderr
    cli("predict", "m.tw", "rows", "--out", "results.v1")  # whatever is no text is a folder
    assert Path("results.v1").is_dir()


def test_files_are_learned_from_in_blocks(cli: Any, place: Path) -> None:
    options = ["--target", "y", "--algorithm", "forest", "--set", "n_estimators=5", "--set", "oob_score=true"]
    options += ["--set", "max_depth=4"]
    done = cli("fit", "rows", *options, "--memory", "70KB", "--out", "blocks.tw")
    assert "900 rows" in done.stdout
    assert "read in blocks" in done.stdout
    assert "out-of-bag accuracy" in done.stdout
    held = cli("fit", "rows", *options, "--memory", "1GB", "--out", "held.tw")
    assert "held in memory" in held.stdout
    cli("fit", "rows", *options, "--test-size", "0", "--out", "m.tw")
    assert Path("blocks.tw").read_bytes() == Path("held.tw").read_bytes() == Path("m.tw").read_bytes()


def test_outliers_are_found_in_blocks(cli: Any, place: Path) -> None:
    options = ["--algorithm", "isolation", "--drop", "y", "--trees", "3", "--set", "max_samples=64"]
    done = cli("fit", "rows", *options, "--memory", "90KB", "--out", "blocks.tw")
    assert "treewright predict lists them" in done.stdout
    cli("fit", "rows", *options, "--out", "m.tw")
    assert Path("blocks.tw").read_bytes() == Path("m.tw").read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere/*.csv"], "nowhere/*.csv: there is no Parquet file or text table"),
        (["*.parquet"], "whole.parquet: column 'extra' is in only one of it"),
        (["mixed"], "one.csv: is text, and mixed/0.parquet is Parquet"),
        (["rows", "--memory", "some"], "--memory some: give a size"),
        (["rows", "--memory", "1GB", "--cv", "3"], "--cv needs the rows in memory"),
        (["texts", "--memory", "1GB"], "texts: there is no Parquet file"),
        (["whole.csv", "--memory", "1GB"], "whole.csv: is no Parquet file: write text tables as Parquet first"),
        (["rows", "--memory", "50KB"], "--set splitter=hist"),
        (["rows", "--memory", "50KB", "--algorithm", "boosting"], "--set n_estimators=300"),
        (["rows", "--memory", "1GB", "--algorithm", "knn"], "--algorithm knn keeps all rows in memory"),
        (["rows", "--memory", "1GB", "--algorithm", "bagging"], "X is a Dataset"),
        (["rows", "--memory", "1GB", "--missing-tokens", "NA"], "leave --missing-tokens out"),
        (["rows", "--memory", "1GB", "--test-size", "0.5"], "--test-size needs the rows in memory"),
        (["rows", "--memory", "10"], "--memory 10: give a size"),
        (["both"], "both: holds Parquet (a.parquet) and text tables (b.csv)"),
    ],
)
def test_what_does_not_fit_together_is_refused(cli: Any, place: Path, words: list[str], told: str) -> None:
    TABLE.with_columns(extra=1).write_parquet(place / "extra.parquet")
    (place / "mixed").mkdir()
    (place / "both").mkdir()
    TABLE.write_parquet(place / "both" / "a.parquet")
    TABLE.write_csv(place / "both" / "b.csv")
    TABLE.write_parquet(place / "mixed" / "0.parquet")
    data = "mixed/*" if words == ["mixed"] else words[0]
    TABLE.write_csv(place / "mixed" / "one.csv")
    done = cli("fit", data, *words[1:], "--target", "y", ok=False)
    assert told in done.stderr.replace("\n", " ")


@pytest.mark.parametrize(("folder", "name", "where"), [("texts", "9.csv", "line 4"), ("rows", "9.parquet", "row 2")])
def test_a_row_is_named_with_its_file(cli: Any, place: Path, folder: str, name: str, where: str) -> None:
    cli("fit", "whole.csv", "--target", "y", "--out", "m.tw")
    broken = TABLE[:5].with_columns(y=pl.Series(["up", "down", None, "up", "up"]))
    write = broken.write_csv if folder == "texts" else broken.write_parquet
    write(place / folder / name)
    for words in (["fit"], ["evaluate", "m.tw"], ["report", "m.tw", "--out", "r.html"]):
        done = cli(*words[:2], folder, *words[2:], "--target", "y", ok=False)
        assert f"{where} of {name}" in done.stderr.replace("\n", " ")


def test_the_files_of_a_folder_have_one_decimal_mark_at_fit_and_at_predict(cli: Any, place: Path) -> None:
    """1,250 may be two numbers; the other file tells that the folder has decimal commas."""
    (place / "commas").mkdir()
    for name, cells in (("a", ["1,250", "3"]), ("b", ["0,5", "2"])):
        (place / "commas" / f"{name}.csv").write_text("p;y\n" + "".join(f"{cell};{cell[0]}\n" for cell in cells))
    (place / "whole.csv").write_text("p;y\n1,250;1\n3;3\n0,5;0\n2;2\n")
    cli("fit", "commas", "--target", "y", "--test-size", "0", "--out", "m.tw")

    assert cli("predict", "m.tw", "commas").stdout == cli("predict", "m.tw", "whole.csv").stdout
    assert cli("evaluate", "m.tw", "commas").stdout == cli("evaluate", "m.tw", "whole.csv").stdout
    assert "'1,250' may be 1250 or 1.250" in cli("predict", "m.tw", "commas/a.csv", ok=False).stderr
    (place / "commas" / "c.csv").write_text("p;y\n2.5;2\n")
    assert "have different decimal marks" in cli("predict", "m.tw", "commas", ok=False).stderr
