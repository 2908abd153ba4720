"""Predictions of files and lazy frames are those of the same rows in memory, whatever stops and goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import treewright as tw
from treewright.exceptions import ColumnError, DataError, InputFileError, ParameterError
from treewright.files import predictions, sources

N = 700
RNG = np.random.default_rng(0)
X = pl.DataFrame(
    {
        "x": RNG.normal(size=N),
        "k": [None if level == "e" else level for level in RNG.choice(list("abcde"), N)],
        "name": [f"row {at}" for at in range(N)],
    }
)
PULL = X["x"].to_numpy() + (X["k"] == "a").fill_null(value=False).to_numpy()
FEATURES = X.select("x", "k")
CLASSES = pl.Series("y", np.where(PULL > 0.5, "up", "down"))
FOREST = tw.RandomForestClassifier(8, max_depth=4).fit(FEATURES, CLASSES)
NUMBERS = tw.RandomForestRegressor(8, max_depth=4, quantiles=True).fit(FEATURES, pl.Series("y", PULL))
EXPECTED = X.select("name").with_columns(
    prediction=pl.Series(FOREST.predict(FEATURES)),
    probability_down=FOREST.predict_proba(FEATURES)[:, 0],
    probability_up=FOREST.predict_proba(FEATURES)[:, 1],
)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    folder = tmp_path / "rows"
    (folder / "b").mkdir(parents=True)
    for name, part in zip(["a.parquet", "b/1.parquet", "b/2.parquet"], X.iter_slices(300), strict=True):
        part.write_parquet(folder / name)
    return folder


def read(files: list[Path]) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(file) for file in files])


def test_files_of_a_folder_are_predicted_into_files_of_the_same_names(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_BLOCK_ROWS", 70)
    done = tw.predict_files(FOREST, rows, tmp_path / "out", proba=True, keep=["name"])
    assert [str(file.relative_to(tmp_path / "out")) for file in done] == ["a.parquet", "b/1.parquet", "b/2.parquet"]
    assert_frame_equal(read(done), EXPECTED)
    assert not list((tmp_path / "out").rglob(".*"))


def test_text_and_single_files_are_predicted_too(tmp_path):
    X.write_csv(tmp_path / "rows.csv")
    (one,) = tw.predict_files(FOREST.model_, tmp_path / "rows.csv", tmp_path / "one.parquet", keep=["name"])
    assert_frame_equal(pl.read_parquet(one), EXPECTED.select("name", "prediction"))
    (other,) = tw.predict_files(FOREST, [tmp_path / "rows.csv"], tmp_path / "out")
    assert other == tmp_path / "out" / "rows.csv.parquet"


def test_quantiles_are_columns(rows, tmp_path):
    done = tw.predict_files(NUMBERS, rows, tmp_path / "out", quantiles=[0.1, 0.9])
    expected = NUMBERS.predict_quantile(FEATURES, [0.1, 0.9])
    found = read(done)
    assert found.columns == ["prediction", "quantile_0.1", "quantile_0.9"]
    assert (found.select("quantile_0.1", "quantile_0.9").to_numpy() == expected).all()


def test_what_is_done_is_not_done_again(rows, tmp_path, monkeypatch):
    out, options = tmp_path / "out", {"keep": ["name"]}
    done = tw.predict_files(FOREST, rows, out, **options)
    before = [file.stat().st_mtime_ns for file in done]
    done[1].unlink()
    asked: list[Path] = []
    frames = predictions._frames

    def counted(model: Any, file: Path, *given: Any) -> Any:
        asked.append(file)
        return frames(model, file, *given)

    monkeypatch.setattr(predictions, "_frames", counted)
    again = tw.predict_files(FOREST, rows, out, **options)
    assert again == done
    assert asked == [rows / "b" / "1.parquet"]
    assert [file.stat().st_mtime_ns for file in done][::2] == before[::2]


def test_files_of_another_run_are_not_taken_for_this_one(rows, tmp_path):
    out = tmp_path / "out"
    tw.predict_files(FOREST, rows, out)
    with pytest.raises(InputFileError, match=r"a\.parquet: exists, and is of another model"):
        tw.predict_files(NUMBERS, rows, out)
    with pytest.raises(InputFileError, match="other rows or options"):
        tw.predict_files(FOREST, rows, out, proba=True)
    X[:10].write_parquet(rows / "a.parquet")
    with pytest.raises(InputFileError, match="other rows"):
        tw.predict_files(FOREST, rows, out)
    done = tw.predict_files(NUMBERS, rows, out, force=True)
    assert read(done).height == 10 + N - 300
    (out / "a.parquet").write_text("no Parquet at all")
    with pytest.raises(InputFileError, match="exists, and is of another model"):
        tw.predict_files(NUMBERS, rows, out)


@pytest.mark.parametrize(
    "write", [partial(pl.DataFrame.write_parquet, compression="uncompressed"), pl.DataFrame.write_csv]
)
def test_predictions_of_other_rows_of_the_same_size_and_time_are_not_kept(tmp_path, write):
    file, out = tmp_path / "rows.any", tmp_path / "one.parquet"
    other = FEATURES.with_columns(pl.col("x").reverse())  # the statistics of a Parquet footer are the same
    write(FEATURES, file)
    tw.predict_files(FOREST, file, out)
    before = file.stat()
    write(other, file)
    assert file.stat().st_size == before.st_size
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(InputFileError, match="other rows"):
        tw.predict_files(FOREST, file, out)
    tw.predict_files(FOREST, file, out, force=True)
    assert pl.read_parquet(out)["prediction"].to_list() == FOREST.predict(other).tolist()


def test_predictions_of_the_same_rows_are_kept_whatever_their_time(rows, tmp_path):
    done = tw.predict_files(FOREST, rows, tmp_path / "out")
    before = [file.stat().st_mtime_ns for file in done]
    for file in rows.rglob("*.parquet"):
        os.utime(file, ns=(0, 0))
    assert tw.predict_files(FOREST, rows, tmp_path / "out") == done
    assert [file.stat().st_mtime_ns for file in done] == before


def test_what_fails_leaves_no_half_file(rows, tmp_path, monkeypatch):
    out = tmp_path / "out"
    X[:5].with_columns(pl.lit("high").alias("x")).write_parquet(rows / "b" / "1.parquet")
    with pytest.raises(DataError, match="'x'"):
        tw.predict_files(FOREST, rows, out)
    assert [file.name for file in out.rglob("*") if file.is_file()] == ["a.parquet"]

    def changing(*given: Any) -> Any:
        yield pl.DataFrame({"prediction": ["up"]})
        X[:3].write_parquet(rows / "b" / "1.parquet")

    monkeypatch.setattr(predictions, "_frames", changing)
    with pytest.raises(InputFileError, match="changed while they were read"):
        tw.predict_files(FOREST, rows, out)
    assert [file.name for file in out.rglob("*") if file.is_file()] == ["a.parquet"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_a_run_that_is_killed_goes_on(rows, tmp_path):
    FOREST.save(tmp_path / "model.tw")
    script = (
        "import sys, time, treewright as tw\n"
        "from treewright.files import predictions\n"
        "frames = predictions._frames\n"
        "def slow(model, file, *given):\n"
        "    for frame in frames(model, file, *given):\n"
        "        yield frame\n"
        "        time.sleep(60 if file.name == '1.parquet' else 0)\n"
        "predictions._frames = slow\n"
        "tw.predict_files(tw.load(sys.argv[1]), sys.argv[2], sys.argv[3])\n"
    )
    out = tmp_path / "out"
    child = subprocess.Popen([sys.executable, "-c", script, tmp_path / "model.tw", rows, out])
    end = time.monotonic() + 120
    while not list(out.rglob("*.part")) or not (out / "a.parquet").exists():
        assert time.monotonic() < end
        assert child.poll() is None
        time.sleep(0.05)
    child.kill()
    child.wait()
    assert not (out / "b" / "1.parquet").exists()
    before = (out / "a.parquet").stat().st_mtime_ns
    done = tw.predict_files(FOREST, rows, out)
    assert read(done)["prediction"].to_list() == EXPECTED["prediction"].to_list()
    assert (out / "a.parquet").stat().st_mtime_ns == before
    assert not list(out.rglob("*.part"))


def test_odd_requests_are_refused(rows, tmp_path):
    out = tmp_path / "out"
    for options, told in (
        ({"keep": ["nme"]}, "nme"),
        ({"proba": True, "model": NUMBERS}, "no class probabilities"),
        ({"quantiles": [0.5]}, "quantiles=True"),
        ({"model": "model.tw"}, "give a model"),
        ({"path": tmp_path / "nowhere"}, "no such file"),
        ({"path": tmp_path / "*.xyz"}, "there is no Parquet file or text table"),
        ({"out": rows}, "holds rows"),
        ({"out": rows / "b"}, "holds rows, such as"),
        ({"keep": "name"}, "give a list of columns"),
        ({"out": tmp_path / "all.parquet"}, "go to a folder"),
    ):
        given = {"model": FOREST, "path": rows, "out": out, **options}
        with pytest.raises((ParameterError, InputFileError, ColumnError), match=told):
            tw.predict_files(given.pop("model"), given.pop("path"), given.pop("out"), **given)
    taken = X.rename({"name": "prediction"})
    taken.write_parquet(tmp_path / "taken.parquet")
    with pytest.raises(ParameterError, match="rename it"):
        tw.predict_files(FOREST, tmp_path / "taken.parquet", out, keep=["prediction"])


def test_a_lazy_frame_stays_lazy(rows):
    lazy = pl.scan_parquet(rows / "**/*.parquet")
    asked = tw.predict_frame(FOREST, lazy, proba=True, keep=["name"])
    assert isinstance(asked, pl.LazyFrame)
    assert_frame_equal(asked.collect(), EXPECTED)
    assert_frame_equal(asked.collect(engine="streaming").sort("name"), EXPECTED.sort("name"))
    assert_frame_equal(tw.predict_frame(FOREST, X, proba=True, keep=["name"]), EXPECTED)
    with pytest.raises(ColumnError, match="'k'"):
        tw.predict_frame(FOREST, lazy.drop("k"))
    with pytest.raises(DataError, match="LazyFrame"):
        tw.predict_frame(FOREST, [1, 2])


@pytest.mark.filterwarnings("default")
def test_a_frame_of_dask_stays_one():
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(X.to_pandas(), npartitions=3)
    asked = tw.predict_frame(FOREST, frame, proba=True, keep=["name"])
    assert list(asked.columns) == EXPECTED.columns
    found = asked.compute(scheduler="synchronous")
    assert found.index.tolist() == list(range(N))
    assert_frame_equal(pl.DataFrame(found), EXPECTED)


def test_outliers_are_predicted_with_their_scores(tmp_path):
    table = X.select("x", "k")
    table.write_parquet(tmp_path / "rows.parquet")
    forest = tw.IsolationForest(n_estimators=20).fit(table)
    (one,) = tw.predict_files(forest, tmp_path / "rows.parquet", tmp_path / "one.parquet")
    found = pl.read_parquet(one)
    assert found["prediction"].to_list() == forest.predict(table).tolist()
    assert found["score"].to_list() == (-forest.score_samples(table)).tolist()


def test_predictions_never_take_the_place_of_rows(tmp_path):
    for folder in ("", "later", "later/still"):
        (tmp_path / "rows" / folder).mkdir(parents=True, exist_ok=True)
        X[:50].write_parquet(tmp_path / "rows" / folder / "a.parquet")
    before = {file: file.read_bytes() for file in (tmp_path / "rows").rglob("*.parquet")}
    for out in ("rows", "rows/later", "rows/later/still"):
        with pytest.raises(InputFileError, match="holds rows"):
            tw.predict_files(FOREST, tmp_path / "rows", tmp_path / out, force=True)
    apart = [tmp_path / "rows" / "later" / ".." / "a.parquet", tmp_path / "rows" / "later" / "a.parquet"]
    with pytest.raises(InputFileError, match="holds rows"):
        tw.predict_files(FOREST, apart, tmp_path / "rows", force=True)
    assert {file: file.read_bytes() for file in (tmp_path / "rows").rglob("*.parquet")} == before
    done = tw.predict_files(FOREST, apart, tmp_path / "out")
    assert [str(file.relative_to(tmp_path)) for file in done] == ["out/a.parquet", "out/later/a.parquet"]


def test_answers_may_lie_among_the_rows_and_are_no_rows(rows):
    first = tw.predict_files(FOREST, rows, rows / "answers", keep=["x", "k"])
    assert tw.predict_files(FOREST, rows, rows / "answers", keep=["x", "k"]) == first
    assert len(list(rows.rglob("*.parquet"))) == 6


def test_two_files_with_one_name_for_their_predictions_are_refused(tmp_path):
    X[:10].write_csv(tmp_path / "a.csv")
    X[:20].write_parquet(tmp_path / "a.csv.parquet")
    with pytest.raises(InputFileError, match="predict them separately"):
        tw.predict_files(FOREST, tmp_path / "a*", tmp_path / "out", force=True)
    os.mkfifo(tmp_path / "pipe.parquet")
    with pytest.raises(InputFileError, match="not an ordinary file"):
        tw.predict_files(FOREST, tmp_path / "a.csv", tmp_path / "pipe.parquet")


def test_columns_with_numbers_for_names_are_found(tmp_path):
    table = {0: [1.0, 2.0, 8.0], "a": [1, 2, 3]}
    tree = tw.DecisionTreeRegressor().fit(table, [1.0, 2.0, 3.0])
    assert tw.predict_frame(tree, pl.DataFrame({"0": [1.0, 8.0], "a": [1, 2]}))["prediction"].to_list() == [1.0, 3.0]
    with pytest.raises(ParameterError, match="two columns of the predictions"):
        tw.predict_frame(NUMBERS, X, quantiles={"prediction": 0.5})
    assert tw.predict_frame(FOREST, X, keep=["x", "x"]).columns == ["x", "prediction"]
    y = pl.DataFrame({"a": ["b_c", "d"] * 10, "a_b": ["c", "e"] * 10})
    both = tw.DecisionTreeClassifier().fit(pl.DataFrame({"x": range(20)}), y)
    with pytest.raises(ParameterError, match="'probability_a_b_c': two targets with their classes"):
        tw.predict_frame(both, pl.DataFrame({"x": [1]}), proba=True)
