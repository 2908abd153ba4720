"""What a cell of text means to the commands: the same at fit and afterwards, whatever file it comes from."""

from __future__ import annotations

import json

import polars as pl
import pytest

import treewright as tw
from treewright.exceptions import DataWarning, InputFileError, ParameterError, TreewrightError

AGES = [str(18 + 2 * at % 80) for at in range(200)]


def write(folder, name, header, rows, separator=","):
    path = folder / name
    path.write_text("\n".join(separator.join(row) for row in [header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def fitted(command, tmp_path):
    def fit(table, *words, target="y"):
        model = tmp_path / "model.tw"
        done = command("fit", table, "--target", target, "--test-size", "0", "--out", model, "--force", *words)
        assert done.returncode == 0, done.stderr
        return model

    return fit


@pytest.fixture
def predicted(command):
    def predict(model, table, *words):
        done = command("predict", model, table, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[1:], done.stderr

    return predict


def test_a_padded_age_means_the_same_at_fit_and_at_predict(fitted, predicted, tmp_path):
    rows = [(age, "young" if int(age) < 50 else "old") for age in AGES]
    clean = write(tmp_path, "clean.csv", ["age", "y"], rows)
    padded = write(tmp_path, "padded.csv", ["age", "y"], [*rows, ("045", "young")])
    asked = write(tmp_path, "asked.csv", ["age"], [["95"], ["17"], ["045"]])

    for table in (clean, padded):
        assert predicted(fitted(table), asked)[0] == ["old", "young", "young"]


def test_marks_of_numbers_mean_the_same_at_fit_and_at_predict(fitted, predicted, command, tmp_path):
    points = write(
        tmp_path, "points.csv", ["price", "y"], [(f"{at * 50}.5", "low" if at < 50 else "high") for at in range(100)]
    )
    model = fitted(points)
    german = write(tmp_path, "german.csv", ["price", "id"], [["1,5", "a"], ["4999,25", "b"]], ";")
    grouped = write(tmp_path, "grouped.csv", ["price", "id"], [["999", "a"], ["4.999", "b"]], ";")

    assert predicted(model, german)[0] == ["low", "high"]
    assert predicted(model, grouped, "--thousands", ".")[0] == ["low", "high"]
    assert predicted(model, grouped, "--decimal", ".")[0] == ["low", "low"]
    refused = command("predict", model, grouped)
    assert refused.returncode == 1
    assert ":3: column 'price': '4.999' may be 4999 or 4.999" in refused.stderr
    assert "--thousands . or --decimal ." in refused.stderr


def test_every_command_that_reads_rows_has_the_options_of_reading(command, fitted, tmp_path):
    rows = [(f"{at}.000,5", "no" if at < 20 else "yes") for at in range(1, 41)]
    table = tmp_path / "german.csv"
    body = "\n".join(";".join(row) for row in [["price", "y"], *rows])
    table.write_text(f"made today\nsep=;\n{body}\nTotal;40\n", encoding="utf-8")
    own = ["--thousands", ".", "--skip-rows", 1, "--skip-footer", 1]
    model = fitted(table, *own)
    words = {
        "predict": [model, table],
        "evaluate": [model, table],
        "compare": [table, "--target", "y", "--candidate", "cart,id3", "--cv", 2],
        "near-optimal": [table, "--target", "y", "--max-depth", 1],
        "report": [model, table, "--out", tmp_path / "page.html"],
        "explain": [model, table],
        "audit": [model, table],
        "follow": [model, table, "--row", 1],
        "prune": [model, table, "--method", "reduced-error"],
    }
    known = {each.name for each in command_group().commands.values() if "skip_rows" in {p.name for p in each.params}}

    assert known - {"fit", "show", "workbench"} <= set(words)
    for name in known & set(words):
        done = command(name, *words[name], *own)
        assert done.returncode == 0, (name, done.stderr)


def command_group():
    import typer

    from treewright.cli.app import app

    return typer.main.get_command(app)


def test_dates_of_a_format_mean_the_same_at_fit_and_at_predict(fitted, predicted, tmp_path):
    days = [(f"{1 + at % 28:02}.{1 + at // 28:02}.2021", "early" if at < 100 else "late") for at in range(200)]
    model = fitted(write(tmp_path, "days.csv", ["sold", "y"], days), "--date-format", "%d.%m.%Y")
    german = write(tmp_path, "german.csv", ["sold", "n"], [["02.01.2021", "1"], ["27.07.2021", "2"]])
    iso = write(tmp_path, "iso.csv", ["sold", "n"], [["2021-01-02", "1"], ["2021-07-27", "2"]])

    assert tw.load(model).schema.columns[0].family == "date"
    assert predicted(model, german, "--date-format", "%d.%m.%Y")[0] == predicted(model, iso)[0] == ["early", "late"]


@pytest.fixture
def codes(tmp_path):
    rows = [(code, {"1010": "a", "2020": "b", "3030": "c"}[code]) for code in ("1010", "2020", "3030") * 20]
    return write(tmp_path, "codes.csv", ["code", "y"], rows)


def test_levels_with_and_without_a_fraction_of_zeros_are_the_same_level(fitted, predicted, codes, tmp_path):
    model = fitted(codes, "--nominal", "code")
    asked = write(tmp_path, "asked.csv", ["code", "n"], [["1010.0", "1"], ["3030.0", "2"], ["", "3"], ["2020", "4"]])

    answers, told = predicted(model, asked)

    assert [answers[0], answers[1], answers[3]] == ["a", "c", "b"]
    assert "never saw" not in told
    again = fitted(
        write(tmp_path, "floats.csv", ["code", "y"], [["1010.0", "a"], ["2020.0", "b"]] * 20), "--nominal", "code"
    )
    assert predicted(again, asked)[0][3] == "b"


@pytest.mark.parametrize("declared", ["--nominal", "--ordinal"])
def test_declared_levels_with_and_without_a_fraction_of_zeros_are_the_same_level(fitted, predicted, declared, tmp_path):
    rows = [(level, "u" if level == "1.0" else "v") for level in ("1.0", "2.0", "3.0") * 20]
    table = write(tmp_path, "zeros.csv", ["g", "y"], rows)
    asked = write(tmp_path, "asked.csv", ["g"], [["1"], ["2.0"], ["3"]])

    assert predicted(fitted(table, declared, "g=1,2,3"), asked) == (["u", "v", "v"], "")


def test_classes_with_and_without_a_fraction_of_zeros_are_the_same_class(fitted, command, tmp_path):
    rows = [(str(at), "1010" if at < 20 else "2020") for at in range(40)]
    model = fitted(write(tmp_path, "fit.csv", ["x", "y"], rows), "--types", "y=nominal")
    judged = write(tmp_path, "judged.csv", ["x", "y"], [(x, f"{y}.0") for x, y in rows])

    done = command("evaluate", model, judged, "--json")

    assert json.loads(done.stdout)["score"]["accuracy"] == 1.0


def test_unseen_levels_are_counted_once_and_warned_of_if_they_are_most(fitted, command, codes, tmp_path):
    model = fitted(codes, "--nominal", "code")
    rows = [("X1", "a")] * 2 + [("X2", "b")] * 20 + [("1010", "a")] * 8 + [("", "a")] * 5
    judged = write(tmp_path, "judged.csv", ["code", "y"], rows)

    for found in (command("evaluate", model, judged, "--json"), command("evaluate", model, judged)):
        assert "'code' (22 of 30 cells, such as 'X2'), at fit '1010', '2020', ..." in found.stderr
    document = json.loads(command("evaluate", model, judged, "--json").stdout)
    assert document["unseen_levels"] == {"code": {"cells": 22, "of": 30, "levels": {"X2": 20, "X1": 2}}}
    assert "levels that fit never saw: 'code' (22 of 30 cells, such as 'X2')" in found.stdout
    for name in ("predictions.csv", "predictions.parquet"):
        done = command("predict", model, judged, "--proba", "--out", tmp_path / name)
        assert done.stderr.count("22 of 30 cells") == 1
    page = tmp_path / "page.json"
    assert "22 of 30 cells" in command("report", model, judged, "--out", page).stderr
    finding = next(each for each in json.loads(page.read_text())["findings"] if each["kind"] == "unseen levels")
    assert finding["serious"]
    assert "code (22 of 35 rows: X1, X2)" in finding["text"]


def test_a_few_unseen_levels_are_counted_without_a_warning(fitted, command, codes, tmp_path):
    model = fitted(codes, "--nominal", "code")
    judged = write(tmp_path, "judged.csv", ["code", "y"], [("X1", "a"), ("1010", "a")] * 9)

    done = command("evaluate", model, judged)

    assert "levels that fit never saw: 'code' (9 of 18 cells, such as 'X1')" in done.stdout
    assert "never saw" not in done.stderr


def test_blocks_of_a_file_are_counted_as_one_table(fitted, command, codes, tmp_path, monkeypatch):
    from treewright.files import text

    model = fitted(codes, "--nominal", "code")
    judged = write(tmp_path, "judged.csv", ["code", "y"], [("1010", "a")] * 400 + [("X1", "a")] * 399)
    monkeypatch.setattr(text, "BLOCK_BYTES", 500)

    done = command("evaluate", model, judged)

    assert "(399 of 799 cells, such as 'X1')" in done.stdout
    assert "never saw" not in done.stderr


def test_the_python_reader_of_text_reads_as_the_command_does(fitted, tmp_path, monkeypatch):
    from treewright.files import text

    monkeypatch.setattr(text, "BLOCK_BYTES", 300)
    rows = [(f"{at // 2},{at % 2}5", f"0{at:04}", "no" if at < 50 else "yes") for at in range(100)]
    table = write(tmp_path, "german.csv", ["price", "code", "y", ""], [(*row, "") for row in rows], ";")
    with pytest.warns(DataWarning, match="1 column without a name and without a cell"):
        dataset = tw.Dataset.from_csv(table, target="y", nominal=["code"])

    assert [(column.name, column.kind) for column in dataset.schema.columns] == [
        ("price", "numeric"),
        ("code", "nominal"),
    ]
    assert dataset.schema.columns[1].levels[0] == "00000"
    assert dataset.matrix[:3, 0].tolist() == [0.05, 0.15, 1.05]
    ambiguous = write(tmp_path, "ambiguous.csv", ["price", "y"], [["2.155", "no"], ["999", "yes"]], ";")
    with pytest.raises(InputFileError, match=r":2: column 'price': '2\.155' may be 2155 or 2\.155.*thousands='\.'"):
        tw.Dataset.from_csv(ambiguous, target="y")
    assert tw.Dataset.from_csv(ambiguous, target="y", thousands=".").matrix.tolist() == [[2155.0], [999.0]]
    with pytest.raises(ParameterError, match="no option 'decimals': did you mean 'decimal'"):
        tw.Dataset.from_csv(ambiguous, target="y", decimals=",")


def test_processes_read_text_as_one_does(tmp_path):
    rows = [(f"{at % 40},5", "no" if at % 40 < 20 else "yes") for at in range(200)]
    table = write(tmp_path, "german.csv", ["price", "y"], rows, ";")

    one, two = (tw.Dataset.from_csv(table, target="y", **own) for own in ({}, {"n_processes": 2}))

    with two:
        models = [tw.GradientBoostingClassifier(3).fit(each) for each in (one, two)]
    asked = pl.DataFrame({"price": [0.5, 39.5]})
    assert models[0].predict_proba(asked).tolist() == models[1].predict_proba(asked).tolist()


def test_python_tables_warn_of_columns_of_unseen_levels():
    est = tw.DecisionTreeClassifier().fit({"code": ["1010", "2020"] * 9}, ["a", "b"] * 9)

    with pytest.warns(DataWarning, match=r"'code' \(3 of 4 cells, such as '1010 '\)"):
        est.predict({"code": ["1010 "] * 3 + ["2020"]})
    est.predict(
        {"code": ["1010 ", "1010 ", "2020", "2020"]}
    )  # half of the cells, and a row or two, are no sign of another spelling
    est.predict({"code": ["1010 ", "2020 "]})


def test_an_identifier_beyond_float64_is_to_be_dropped_first(command, tmp_path):
    table = write(tmp_path, "ids.csv", ["user", "x", "y"], [("9007199254740993", "1", "a"), ("7", "2", "b")])

    told = command("fit", table, "--target", "y").stderr

    assert "leave the column out if it is an identifier (--drop user), or read it as text" in told
    with pytest.raises(TreewrightError, match="drop the column if it is an identifier; else subtract an offset"):
        tw.DecisionTreeClassifier().fit({"user": [2**53 + 1, 7], "x": [1, 2]}, ["a", "b"])


def test_advice_about_numbers_as_text_does_not_depend_on_one_padded_cell():
    texts = [f"{at}.5" for at in range(60)] * 4
    with pytest.warns(DataWarning, match="numbers as text, treated as nominal: declare them numeric"):
        tw.DecisionTreeClassifier(max_depth=2).fit({"price": ["007.5", *texts]}, [0, *[0, 1] * 120])


def test_a_cell_of_a_folder_is_named_with_its_own_file(command, tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    write(rows, "a.csv", ["a", "y"], [("1", "n"), ("2,5", "y")], ";")

    write(rows, "b.csv", ["a", "y"], [("3", "n"), ("2.155", "y")], ";")
    done = command("fit", rows, "--target", "y")
    assert f"{rows / 'b.csv'}:3: column 'a': '2.155' seems to hold thousands" in done.stderr

    write(rows, "b.csv", ["a", "y"], [("2.5", "n"), ("4", "y")], ";")
    done = command("fit", rows, "--target", "y")
    assert f"{rows / 'b.csv'}:2: column 'a': '2.5' and '2,5' in column 'a' (line 3 of {rows / 'a.csv'})" in done.stderr


def test_separators_at_the_end_of_lines_may_differ_between_the_files_of_a_folder(command, tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    write(rows, "a.csv", ["a", "y", ""], [("1", "n", ""), ("2", "y", "")])
    write(rows, "b.csv", ["a", "y"], [("3", "n"), ("4", "y")])

    done = command("fit", rows, "--target", "y", "--test-size", "0")

    assert "4 rows, 1 column" in done.stdout
    assert "1 column without a name and without a cell is left out" in done.stderr


@pytest.mark.parametrize(
    ("word", "hint"),
    [("sep", "here it is separator"), ("na_values", "here it is missing_tokens"), ("wibble", "choose one of")],
)
def test_an_unknown_option_of_a_dataset_is_answered_with_ours(tmp_path, word, hint):
    table = write(tmp_path, "table.csv", ["a", "y"], [("1", "n"), ("2", "y")])

    with pytest.raises(ParameterError, match=f"a dataset has no option '{word}': {hint}"):
        tw.Dataset.from_csv(table, target="y", **{word: ";"})


@pytest.mark.parametrize("declared", ["--nominal=code", "--types=code=nominal", None])
def test_a_fit_tells_that_levels_of_a_text_file_are_merged(command, declared, tmp_path):
    table = write(tmp_path, "both.csv", ["code", "y"], [["1010", "a"], ["1010.0", "b"], ["ab", "b"]] * 20)

    done = command("fit", table, "--target", "y", *([declared] if declared else []))

    assert done.returncode == 0
    assert done.stderr.count("both.csv:3: column 'code': '1010.0' is read as the level '1010' (20 such cells)") == 1

    with pytest.warns(DataWarning, match=r"'1010.0' is read as the level '1010' \(20 such cells\)"):
        tw.Dataset.from_csv(table, target="y")


@pytest.mark.parametrize("option", ["--nominal", "--ordinal"])
def test_two_spellings_of_a_level_are_no_two_declared_levels_and_the_refusal_names_both(command, option, tmp_path):
    table = write(tmp_path, "both.csv", ["code", "y"], [["1010", "a"], ["1010.0", "b"], ["ab", "b"]] * 20)

    done = command("fit", table, "--target", "y", option, "code=1010,1010.0,ab")

    assert done.returncode != 0
    assert "the levels 1010 and 1010.0 of column code are one level" in done.stderr


@pytest.mark.parametrize(("fitted_on", "asked"), [("1010", "1010.0"), ("1010.0", "1010")])
def test_a_table_in_memory_that_spells_a_level_with_other_zeros_is_told_so(fitted_on, asked):
    model = tw.DecisionTreeClassifier().fit({"code": [fitted_on, "ab"] * 10}, ["p", "q"] * 10).model_

    with pytest.warns(DataWarning, match=f"'code': 1 cell.s. hold.*such as '{asked}', but it saw '{fitted_on}'"):
        model.predict({"code": [asked, "ab", "ab"]})


@pytest.mark.parametrize(
    "declared", [{"nominal": ["code"]}, {"nominal": {"code": None}}, {"ordinal": {"code": ["1010.0", "2020.0"]}}]
)
def test_a_column_that_a_session_declares_decides_no_decimal_mark_of_its_file(declared, tmp_path):
    rows = [["96,04", "1010.0", "a"], ["12,5", "2020.0", "b"]] * 20
    table = write(tmp_path, "marks.csv", ["price", "code", "y"], rows, separator=";")

    with pytest.raises(InputFileError, match=r"declare the column that .* as text \(nominal=\['code'\]\)"):
        tw.workbench.Session.from_file(str(table), "y")
    session = tw.workbench.Session.from_file(str(table), "y", **declared)

    assert [(each.name, each.family) for each in session.model.schema.columns] == [
        ("price", "number"), ("code", "string"),
    ]  # fmt: skip
