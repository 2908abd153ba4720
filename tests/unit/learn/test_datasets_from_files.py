"""A dataset made from files gives the model that the same table in memory gives, byte for byte, or one clear error."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rotating import crossed, few

import treewright as tw
from treewright.data.cells import cells_of_list
from treewright.data.kinds import Declared
from treewright.exceptions import DataError, DataWarning, InputFileError, ParameterError, TooLargeError
from treewright.files import places
from treewright.trees.codec import dumps

N = 1_500
RNG = np.random.default_rng(0)
START = np.datetime64("2020-01-01")
TABLE = pl.DataFrame(
    {
        "size": pl.Series(np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N))).fill_nan(None),
        "count": RNG.integers(0, 9, N),
        "kind": RNG.choice(list("xyzw"), N),
        "town": RNG.choice([f"town {at}" for at in range(30)], N),
        "rank": pl.Series(RNG.choice(["low", "mid", "high"], N), dtype=pl.Enum(["low", "mid", "high"])),
        "day": START + RNG.integers(0, 900, N).astype("timedelta64[D]"),
        "as_text": (START + RNG.integers(0, 300, N).astype("timedelta64[D]")).astype(str),
        "flag": RNG.random(N) < 0.3,
        "empty": pl.Series([None] * N, dtype=pl.Float64),
    }
).with_columns(pl.when(pl.Series(RNG.random(N) < 0.05)).then(None).otherwise(pl.col("kind")).alias("kind"))
PULL = TABLE["size"].fill_null(0).to_numpy() + (TABLE["kind"] == "x").fill_null(value=False).to_numpy()
NUMBERS = PULL + TABLE["count"].to_numpy() / 5 + RNG.normal(size=N) * 0.3
CLASSES = np.where(NUMBERS > 1, "up", "down")
WEIGHTS = {"none": None, "whole": RNG.integers(0, 4, N).astype(float), "any": RNG.random(N) + 0.1}
SMALL, LARGE = "20KB", "1GB"


def with_target(target: Any, weights: np.ndarray | None = None) -> pl.DataFrame:
    table = TABLE.with_columns(target=pl.Series(target))
    return table if weights is None else table.with_columns(weight=pl.Series(weights))


def written(table: pl.DataFrame, folder: Path, n_files: int) -> Path:
    """The rows shuffled, in files of uneven sizes, one of them with a single row and one empty."""
    folder.mkdir()
    table = table.sample(fraction=1.0, shuffle=True, seed=n_files)
    cuts = [
        0,
        *([] if n_files == 1 else [1, 1, *np.linspace(300, 900, n_files - 2).astype(int).tolist()]),
        table.height,
    ]
    for at, (begin, end) in enumerate(pairwise(cuts)):
        table[begin:end].write_parquet(folder / f"{n_files - at:02d}.parquet")
    return folder


def boosting(of_numbers: bool, **more: Any) -> Any:
    kind = tw.GradientBoostingRegressor if of_numbers else tw.GradientBoostingClassifier
    return kind(8, level_encoding="subsets", n_jobs=2, **more)


FITS = {
    "numbers": (True, {}),
    "counts of sampled rows": (True, {"subsample": 0.5, "loss": "poisson"}),
    "classes": (False, {}),
    "classes that weigh": (False, {"class_weight": {"up": 3.0}, "features_per_node": 0.5}),
}


@pytest.mark.parametrize(("fit", "weighted", "memory"), crossed(FITS, WEIGHTS, [SMALL, LARGE]))
def test_files_in_any_number_give_the_model_of_the_table(tmp_path, fit, weighted, memory):
    of_numbers, more = FITS[fit]
    weights, target = WEIGHTS[weighted], np.exp(NUMBERS / 2) if of_numbers else CLASSES
    expected = dumps(boosting(of_numbers, **more).fit(TABLE, pl.Series("target", target), weights).model_)
    for n_files in (1, 3, 7):
        folder = written(with_target(target, weights), tmp_path / str(n_files), n_files)
        dataset = tw.Dataset.from_parquet(
            folder, target="target", weight=None if weights is None else "weight", memory=memory
        )
        assert dataset.is_remote == (memory == SMALL)
        assert dumps(boosting(of_numbers, **more).fit(dataset).model_) == expected


def test_many_values_of_a_large_table_are_cut_alike(tmp_path, monkeypatch):
    from treewright.data import bins
    from treewright.files import sources

    monkeypatch.setattr(bins, "BLOCK_ROWS", 400)
    monkeypatch.setattr(bins, "MAX_ENTRIES", 100)
    monkeypatch.setattr(bins, "SHARES", 512)
    monkeypatch.setattr(sources, "_BLOCK", 130)
    expected = boosting(of_numbers=False).fit(TABLE, pl.Series("target", CLASSES)).model_
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    for memory in (SMALL, LARGE):
        found = boosting(of_numbers=False).fit(tw.Dataset.from_parquet(folder, target="target", memory=memory)).model_
        assert dumps(found) == dumps(expected)


def test_frames_and_delimited_text_are_read_alike(tmp_path):
    plain = with_target(CLASSES).select("size", "count", "town", "target")
    expected = dumps(boosting(of_numbers=False).fit(plain.drop("target"), plain["target"]).model_)
    plain.write_csv(tmp_path / "rows.csv")
    import pyarrow.dataset

    plain.write_parquet(tmp_path / "rows.parquet")
    for dataset in (
        tw.Dataset.from_frame(plain.lazy(), target="target", memory=SMALL),
        tw.Dataset.from_frame(plain.lazy().filter(pl.col("count") >= 0), target="target"),
        tw.Dataset.from_frame(pyarrow.dataset.dataset(tmp_path / "rows.parquet"), target="target", memory=SMALL),
        tw.Dataset.from_csv(tmp_path / "rows.csv", target="target", memory=SMALL),
        tw.Dataset.from_parquet(str(tmp_path / "*.parquet"), target="target", memory=SMALL),
    ):
        assert dumps(boosting(of_numbers=False).fit(dataset).model_) == expected


def test_a_table_that_fits_is_there_for_every_learner(tmp_path):
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    dataset = tw.Dataset.from_parquet(folder, target="target")
    for estimator in (
        tw.DecisionTreeClassifier(max_depth=4),
        tw.DecisionTreeClassifier(splitter="hist", class_weight="balanced"),
        tw.RandomForestClassifier(40, random_state=0, oob_score=True),
        tw.ExtraTreesClassifier(5, random_state=0),
    ):
        expected = dumps(estimator.fit(TABLE, pl.Series("target", CLASSES)).model_)
        assert dumps(estimator.fit(dataset).model_) == expected


def test_declared_columns_and_columns_left_out(tmp_path):
    folder = written(with_target(CLASSES).with_columns(code=pl.Series(np.arange(N) % 5)), tmp_path / "files", 3)
    declared = {"nominal": ["count", "code"], "ordinal": {"kind": ["w", "x", "y", "z"]}, "leave_out": ["town", "day"]}
    dataset = tw.Dataset.from_parquet(folder, target="target", memory=SMALL, **declared)
    estimator = boosting(of_numbers=False, nominal=declared["nominal"], ordinal=declared["ordinal"])
    rest = TABLE.with_columns(code=pl.Series(np.arange(N) % 5)).drop("town", "day")
    expected = estimator.fit(rest, pl.Series("target", CLASSES)).model_
    found = boosting(of_numbers=False).fit(dataset).model_
    assert found.schema == expected.schema
    assert found.trees.records.tobytes() == expected.trees.records.tobytes()


@pytest.mark.parametrize("n_processes", few([None, 2], 1))
def test_columns_that_count_the_rows_are_left_out_as_in_memory(tmp_path, n_processes):
    (tmp_path / "files").mkdir()
    table = with_target(CLASSES).with_columns(number=pl.Series(np.arange(N)), person_id=pl.Series(RNG.permutation(N)))
    for at, begin in enumerate((0, 500, 1000)):
        table[begin : begin + 500].write_parquet(tmp_path / "files" / f"{at}.parquet")
    for memory in (SMALL, LARGE):
        with pytest.warns(DataWarning, match="number"):
            dataset = tw.Dataset.from_parquet(
                tmp_path / "files", target="target", memory=memory, n_processes=n_processes
            )
        assert [column.name for column in dataset.schema.columns if column.left_out] == ["number", "person_id"]
        dataset.close()
    (tmp_path / "files" / "0.parquet").rename(tmp_path / "files" / "9.parquet")  # now they do not ascend
    with pytest.warns(DataWarning, match="person_id"):
        dataset = tw.Dataset.from_parquet(tmp_path / "files", target="target", memory=SMALL)
    assert [column.name for column in dataset.schema.columns if column.left_out] == ["person_id"]


def test_rows_without_a_target_are_refused_or_left_out(tmp_path):
    target = pl.Series([None if at % 10 == 0 else label for at, label in enumerate(CLASSES.tolist())])
    folder = written(with_target(target), tmp_path / "files", 3)
    with pytest.raises(DataError, match="skip_missing_target=True"):
        tw.Dataset.from_parquet(folder, target="target", memory=SMALL)
    dataset = tw.Dataset.from_parquet(folder, target="target", memory=SMALL, skip_missing_target=True)
    kept = np.arange(N) % 10 != 0
    expected = boosting(of_numbers=False).fit(TABLE.filter(kept), pl.Series("target", CLASSES[kept])).model_
    assert dumps(boosting(of_numbers=False).fit(dataset).model_) == dumps(expected)


def test_rows_in_memory_judge_rounds_of_rows_in_files(tmp_path):
    folder = written(with_target(CLASSES)[500:], tmp_path / "files", 3)
    aside = {"X_val": TABLE[:500], "y_val": CLASSES[:500]}
    dataset = tw.Dataset.from_parquet(folder, target="target", memory=SMALL)
    estimator = tw.GradientBoostingClassifier(level_encoding="subsets", learning_rate=0.3)
    expected = estimator.fit(TABLE[500:], pl.Series("target", CLASSES[500:]), **aside).model_
    assert dumps(estimator.fit(dataset, **aside).model_) == dumps(expected)


def test_bins_are_kept_in_a_folder_until_a_file_changes(tmp_path, monkeypatch):
    folder, kept = written(with_target(CLASSES), tmp_path / "files", 3), tmp_path / "kept"
    options: dict[str, Any] = {"target": "target", "memory": SMALL, "folder": kept}
    first = boosting(of_numbers=False).fit(tw.Dataset.from_parquet(folder, **options)).model_
    assert len(list(kept.iterdir())) == 1
    monkeypatch.setattr("treewright.files.dataset._write", None)
    again = boosting(of_numbers=False).fit(tw.Dataset.from_parquet(folder, **options)).model_
    assert dumps(again) == dumps(first)
    monkeypatch.undo()
    with_target(CLASSES)[:700].write_parquet(next(folder.glob("*.parquet")))
    assert len(tw.Dataset.from_parquet(folder, **options)) != N
    assert len(list(kept.iterdir())) == 2


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    dataset = tw.Dataset.from_parquet(folder, target="target", memory=SMALL)
    (place,) = (tmp_path / "temporary").iterdir()
    before = sorted(path.name for path in place.iterdir())
    boosting(of_numbers=False).fit(dataset)
    assert sorted(path.name for path in place.iterdir()) == before
    del dataset
    assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises(TooLargeError, match="no room"):
        _with_full_disk(monkeypatch, lambda: tw.Dataset.from_parquet(folder, target="target", memory=SMALL))
    assert list((tmp_path / "temporary").iterdir()) == []


def _with_full_disk(monkeypatch, work):
    def full(*_given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        return work()


def test_a_disk_that_fills_up_during_the_fit_is_an_error_and_the_dataset_serves_again(tmp_path, monkeypatch):
    dataset = tw.Dataset.from_parquet(
        written(with_target(CLASSES), tmp_path / "files", 3), target="target", memory=SMALL
    )
    with pytest.raises(TooLargeError, match="no room for"):
        _with_full_disk(monkeypatch, lambda: boosting(of_numbers=False).fit(dataset))
    assert boosting(of_numbers=False).fit(dataset).score(TABLE, CLASSES) > 0.8


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda table: table.rename({"size": "length"}), "column 'size' is in only one of it"),
        (lambda table: table.with_columns(pl.col("count").cast(pl.String)), "column 'count' holds String"),
        (lambda table: table.with_columns(more=pl.lit(1)), "column 'more' is in only one of it"),
    ],
)
def test_files_that_differ_are_named(tmp_path, change, told):
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    change(with_target(CLASSES)[:9]).write_parquet(folder / "zz.parquet")
    with pytest.raises(InputFileError, match=told):
        tw.Dataset.from_parquet(folder, target="target", memory=SMALL)


def test_a_level_that_only_the_last_file_has_is_a_level(tmp_path):
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    with_target(CLASSES)[:50].with_columns(kind=pl.lit("late")).write_parquet(folder / "zz.parquet")
    for memory in (SMALL, LARGE):
        dataset = tw.Dataset.from_parquet(folder, target="target", memory=memory)
        assert dataset.schema.columns[2].levels == ("late", "w", "x", "y", "z")


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path, monkeypatch):
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    from treewright.files import dataset as module

    whole = module._columns_of

    def meanwhile(*given: Any) -> Any:
        found = whole(*given)
        with_target(CLASSES)[:700].write_parquet(folder / "zz.parquet")
        (folder / "zz.parquet").replace(next(folder.glob("0*.parquet")))
        return found

    monkeypatch.setattr(module, "_columns_of", meanwhile)
    with pytest.raises((InputFileError, DataError)):
        tw.Dataset.from_parquet(folder, target="target", memory=SMALL)


def test_a_damaged_file_is_one_error(tmp_path):
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    victim = max(folder.glob("*.parquet"))
    data = victim.read_bytes()
    victim.write_bytes(data[:-7])
    with pytest.raises(InputFileError, match="cannot be read"):
        tw.Dataset.from_parquet(folder, target="target", memory=SMALL)
    victim.write_bytes(data[:2000] + bytes(3000) + data[5000:])
    with pytest.raises((InputFileError, DataError)):
        tw.Dataset.from_parquet(folder, target="target", memory=SMALL)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"target": "targe"}, "did you mean 'target'"),
        ({"target": "target", "weight": "kind"}, "not numbers"),
        ({"target": "target", "weight": "size"}, "not numbers >= 0"),
        ({"target": "target", "memory": "much"}, "memory='much'"),
        ({"target": "target", "memory": 0}, "memory=0"),
        ({"target": "target", "task": "ranking"}, "task='ranking'"),
        ({"target": "target", "max_bins": 1}, "max_bins=1"),
        ({"target": "target", "leave_out": TABLE.columns}, "no column is left"),
    ],
)
def test_odd_options_are_refused(tmp_path, options, told):
    folder = written(with_target(CLASSES), tmp_path / "files", 1)
    with pytest.raises((ParameterError, DataError), match=told):
        tw.Dataset.from_parquet(folder, **options)


@pytest.mark.parametrize("path", ["absent", "absent/*.parquet", "absent.parquet"])
def test_files_that_are_not_there_are_named(tmp_path, path):
    with pytest.raises(InputFileError, match="absent"):
        tw.Dataset.from_parquet(tmp_path / path, target="y")


@pytest.mark.parametrize(
    ("estimator", "told"),
    [
        (tw.GradientBoostingClassifier(), "members hold out rows"),
        (tw.GradientBoostingClassifier(5, warm_start=True), "warm_start=True"),
        (tw.GradientBoostingClassifier(5, early_stopping=True), "early stopping holds out rows"),
        (tw.GradientBoostingClassifier(5, level_encoding="ordered"), "level_encoding='subsets'"),
        (tw.GradientBoostingClassifier(5, max_bins=64), "max_bins=64"),
        (tw.GradientBoostingClassifier(5, growth="symmetric"), "growth='symmetric'"),
        (
            tw.GradientBoostingClassifier(5, nominal=["count"]),
            "nominal does not go with a Dataset, which has its columns: set it there",
        ),
        (tw.C45Classifier(), "needs the rows in memory"),
        (tw.GradientBoostingRegressor(5), "the target of the Dataset is for"),
        (tw.KNeighborsClassifier(), "pass the table here"),
    ],
)
def test_what_cannot_be_learned_from_files_says_why(tmp_path, estimator, told):
    folder = written(with_target(CLASSES), tmp_path / "files", 1)
    dataset = tw.Dataset.from_parquet(folder, target="target", memory=SMALL)
    with pytest.raises((ParameterError, DataError), match=told):
        estimator.fit(dataset, *([None] if isinstance(estimator, tw.KNeighborsClassifier) else []))


def test_a_target_or_weights_beside_a_dataset_are_refused(tmp_path):
    dataset = tw.Dataset.from_parquet(written(with_target(CLASSES), tmp_path / "files", 1), target="target")
    for beside in ({"y": CLASSES}, {"sample_weight": np.ones(N)}):
        with pytest.raises(ParameterError, match="does not go with a Dataset"):
            tw.DecisionTreeClassifier().fit(dataset, **beside)


def test_two_fits_do_not_learn_from_the_same_rows_at_once(tmp_path):
    dataset = tw.Dataset.from_parquet(
        written(with_target(CLASSES), tmp_path / "files", 1), target="target", memory=SMALL
    )
    heard = []

    def another(_round: Any) -> None:
        with pytest.raises(ParameterError, match="another fit") as error:
            boosting(of_numbers=False).fit(dataset)
        heard.append(error)

    boosting(of_numbers=False, callbacks=[another]).fit(dataset)
    assert len(heard) == 8


def test_rows_of_weight_0_have_levels_and_labels_as_in_memory(tmp_path):
    weights = np.where(TABLE["kind"].fill_null("w").to_numpy() == "w", 0.0, 1.0)
    labels = np.where(weights == 0, "never", CLASSES)
    folder = written(with_target(labels, weights), tmp_path / "files", 3)
    expected = boosting(of_numbers=False).fit(TABLE, pl.Series("target", labels), weights).model_
    for memory in (SMALL, LARGE):
        dataset = tw.Dataset.from_parquet(folder, target="target", weight="weight", memory=memory)
        assert dumps(boosting(of_numbers=False).fit(dataset).model_) == dumps(expected)


def test_dates_declared_to_be_names_are_levels(tmp_path):
    table = with_target(CLASSES).with_columns(pl.col("day").dt.month_start())
    folder = written(table, tmp_path / "files", 3)
    expected = boosting(of_numbers=False, nominal=["day"]).fit(table.drop("target"), table["target"]).model_
    for memory in (SMALL, LARGE):
        dataset = tw.Dataset.from_parquet(folder, target="target", nominal=["day"], memory=memory)
        assert dataset.schema == expected.schema


@pytest.mark.parametrize("factor", [1e35, 1e-40])
def test_weights_beyond_float32_are_refused_wherever_the_rows_lie(tmp_path, factor):
    weights = (RNG.random(N) + 0.1) * factor
    folder = written(with_target(CLASSES, weights), tmp_path / "files", 3)
    for memory in (SMALL, LARGE):
        dataset = tw.Dataset.from_parquet(folder, target="target", weight="weight", memory=memory)
        with pytest.raises(DataError, match="boosting takes weights"):
            boosting(of_numbers=False).fit(dataset)


def test_a_class_of_weight_0_is_left_out_in_memory_and_refused_elsewhere(tmp_path):
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    estimator = boosting(of_numbers=False, class_weight={"up": 0.0})
    expected = dumps(estimator.fit(TABLE, pl.Series("target", CLASSES)).model_)
    assert dumps(estimator.fit(tw.Dataset.from_parquet(folder, target="target", memory=LARGE)).model_) == expected
    with pytest.raises(ParameterError, match="the weight 0"):
        estimator.fit(tw.Dataset.from_parquet(folder, target="target", memory=SMALL))


def test_a_frame_has_no_files_whose_bins_could_be_kept(tmp_path):
    with pytest.raises(ParameterError, match="a frame has no file"):
        tw.Dataset.from_frame(with_target(CLASSES).lazy(), target="target", folder=tmp_path)


def test_a_column_of_whole_numbers_in_text_that_has_a_fraction_later_is_read(tmp_path):
    with_target(CLASSES).select("size", "target", whole=pl.Series([1.0] * (N - 1) + [1.5])).with_columns(
        pl.col("whole").cast(pl.String).str.replace(r"\.0$", "")
    ).write_csv(tmp_path / "rows.csv")
    assert len(tw.Dataset.from_csv(tmp_path / "rows.csv", target="target", memory=SMALL)) == N


def test_a_table_of_about_as_many_rows_as_a_block_is_cut_as_in_memory(tmp_path, monkeypatch):
    from treewright.data import bins

    monkeypatch.setattr(bins, "BLOCK_ROWS", N + 100)
    monkeypatch.setattr(bins, "MAX_ENTRIES", 100)
    monkeypatch.setattr(bins, "SHARES", 64)
    expected = boosting(of_numbers=False).fit(TABLE, pl.Series("target", CLASSES)).model_
    folder = written(with_target(CLASSES), tmp_path / "files", 3)
    dataset = tw.Dataset.from_parquet(folder, target="target", memory=SMALL)
    assert dumps(boosting(of_numbers=False).fit(dataset).model_) == dumps(expected)


@pytest.mark.parametrize("n_places", [1, 2])
def test_a_column_of_too_many_levels_is_refused_wherever_its_rows_are(monkeypatch, n_places):
    monkeypatch.setattr(places, "_MOST_LEVELS", 20)
    towns = [f"town {at}" for at in range(30)]
    passes = [places.Pass("town", Declared(None), "column 'town'") for _ in range(n_places)]

    def looked_at():
        for at, each in enumerate(passes):
            each.add(cells_of_list(towns[at::n_places], "column 'town'"), np.array([], np.int64), (at, 0))
        for other in passes[1:]:
            passes[0].join(other)

    with pytest.raises(DataError, match=r"column 'town' holds more than 20 different values: leave it out"):
        looked_at()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weights": "w"}, "no option 'weights': here it is weight"),
        ({"target": ["y"]}, "target is a list: give the name of a column"),
        ({"weight": np.ones(3)}, "weight is a ndarray: give the name of a column"),
        ({"leave_out": "xk"}, "give a list of column names"),
        ({"leave_out": ["target"]}, "is the target and also in leave_out"),
        ({"weight": "target"}, "is the target and also in weight"),
        ({"memory": "inf"}, "give a size"),
        ({"memory": 10}, "at least 10,000"),
        ({"n_processes": "2"}, "n_processes='2'"),
        ({"path": 3}, "path is a int"),
        ({"path": "x" * 5000}, "File name too long"),
        ({"path": "a\0b"}, "no such file"),
    ],
)
def test_odd_requests_are_refused_with_what_to_do(tmp_path, options, told):
    folder = written(with_target(CLASSES), tmp_path / "files", 1)
    given = {"path": folder, "target": "target", **options}
    with pytest.raises((ParameterError, InputFileError), match=told):
        tw.Dataset.from_parquet(given.pop("path"), **given)
    with pytest.raises(ParameterError, match="target is missing"):
        tw.Dataset.from_parquet(folder)


def test_a_dataset_says_what_it_is(tmp_path):
    folder = written(with_target(CLASSES), tmp_path / "files", 2)
    options = {"target": "target", "memory": "30KB", "task": "classification"}
    with tw.Dataset.from_parquet(folder, **options) as dataset:
        assert repr(dataset).startswith(f"<treewright.Dataset: {len(dataset):,} rows, ")
        assert "target 'target' (classes), in files>" in repr(dataset)


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _filled(value: float) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(np.full(path.stat().st_size // 8, value).tobytes())


def _other_weights_of_classes(path: Path) -> None:
    text = path.read_text()
    path.write_text(re.sub(r'("of_classes": \[\[)[0-9.]+', r"\g<1>9.0", text))
    assert path.read_text() != text


@pytest.mark.parametrize(
    ("name", "damage"),
    few([
        ("codes", Path.unlink), ("codes", _flipped), ("contents", _flipped), ("weights", _flipped),
        ("target", _filled(2.0)), ("target", _filled(np.nan)),
        ("bins.npz", _flipped), ("bins.npz", lambda path: path.write_bytes(path.read_bytes()[:-9])),
        ("done.json", _flipped), ("done.json", _other_weights_of_classes),
        ("done.json", lambda path: path.write_text("[]")), ("done.json", lambda path: path.write_text("[" * 100_000)),
    ], 4),
)  # fmt: skip
def test_kept_bins_that_are_not_as_they_were_are_made_again(tmp_path, name, damage):
    folder = written(with_target(CLASSES, WEIGHTS["any"]), tmp_path / "files", 2)
    options = {"target": "target", "weight": "weight", "memory": SMALL, "folder": tmp_path / "bins"}
    tw.Dataset.from_parquet(folder, **options)
    (kept,) = (tmp_path / "bins").iterdir()
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    damage(kept / name)
    tw.Dataset.from_parquet(folder, **options)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    assert list((tmp_path / "bins").iterdir()) == [kept]


def test_kept_bins_are_those_of_the_content_of_the_files(tmp_path):
    folder = written(with_target(CLASSES), tmp_path / "files", 1)
    (file,) = folder.iterdir()
    options = {"target": "target", "memory": SMALL, "folder": tmp_path / "bins"}
    tw.Dataset.from_parquet(folder, **options)
    time, size = file.stat().st_mtime_ns, file.stat().st_size
    swapped = pl.read_parquet(file).with_columns(pl.col("target").replace({"up": "down", "down": "up"}))
    swapped.write_parquet(file)
    os.utime(file, ns=(time, time))
    expected = boosting(of_numbers=False).fit(tw.Dataset.from_parquet(folder, target="target", memory=SMALL)).model_
    assert file.stat().st_size == size
    assert dumps(boosting(of_numbers=False).fit(tw.Dataset.from_parquet(folder, **options)).model_) == dumps(expected)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
@pytest.mark.parametrize("is_kept", [True, False])
def test_the_next_run_deletes_what_a_kill_left_and_nothing_that_is_in_use(tmp_path, monkeypatch, is_kept):
    folder, place = written(with_target(CLASSES), tmp_path / "files", 1), tmp_path / "place"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    options: dict[str, Any] = {"target": "target", "memory": SMALL, "folder": place if is_kept else None}
    script = (
        "import os, signal, sys, treewright as tw\n"
        "from treewright.files import dataset\n"
        "dataset.np.savez = dataset._cells = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"tw.Dataset.from_parquet(sys.argv[1], **{ {**options, 'folder': str(place) if is_kept else None}!r})\n"
    )
    surroundings = {**os.environ, "TMPDIR": str(place)}
    assert subprocess.run([sys.executable, "-c", script, folder], env=surroundings, check=False).returncode < 0
    (left,) = place.iterdir()
    in_use = tw.Dataset.from_parquet(folder, **{**options, "folder": None})
    assert not left.exists()
    (used,) = place.iterdir()
    dataset = tw.Dataset.from_parquet(folder, **options)
    assert used.exists()
    assert len(list(place.iterdir())) == 2
    assert dumps(boosting(of_numbers=False).fit(in_use).model_) == dumps(boosting(of_numbers=False).fit(dataset).model_)


def test_an_isolation_forest_of_files_that_changed_is_refused(tmp_path):
    table = pl.DataFrame({f"x{at}": np.random.default_rng(at).normal(size=2_000) for at in range(9)})
    table.write_csv(tmp_path / "rows.csv")
    dataset = tw.Dataset.from_csv(tmp_path / "rows.csv", target=None, memory="250KB")
    assert dataset.is_remote
    table.reverse().write_csv(tmp_path / "rows.csv")
    with pytest.raises(InputFileError, match="the rows have changed since the dataset was made"):
        tw.IsolationForest(n_estimators=2).fit(dataset)


def test_fits_at_once_are_right_or_refused(tmp_path):
    folder = written(with_target(CLASSES), tmp_path / "files", 2)
    dataset = tw.Dataset.from_parquet(folder, target="target", memory="150KB", task="classification", n_jobs=1)
    found: list[tuple[int, Any]] = []
    refused: list[str] = []

    def fit(seed: int) -> None:
        for _ in range(15):
            try:
                forest = tw.RandomForestClassifier(2, random_state=seed, max_depth=4, max_samples=0.3).fit(dataset)
                found.append((seed, dumps(forest.model_)))
            except ParameterError as error:
                refused.append(str(error))

    expected = {
        seed: dumps(tw.RandomForestClassifier(2, random_state=seed, max_depth=4, max_samples=0.3).fit(dataset).model_)
        for seed in range(3)
    }
    workers = [threading.Thread(target=fit, args=(seed,)) for seed in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found
    assert all("run one fit after another" in each for each in refused)
    assert all(model == expected[seed] for seed, model in found)
