"""Claims about declared levels: their order, what counts as one of them, and which columns "all" means."""

from __future__ import annotations

import pickle
import timeit
import unicodedata

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.data.categories import schema_from_json, schema_to_json
from treewright.data.encoder import encode, encode_fit, encode_plain_row, encode_row
from treewright.data.schema import folded
from treewright.exceptions import ColumnError, DataError, DataWarning, ParameterError, UnseenLevelError

# Nine movies as they were typed in: two spellings of most types and lengths.
MOVIES = {
    "Type": ["Animated", "animated", "Comedy", "Drama", "Drama", "Animated", "Comedy", "drama ", "ANIMATED"],
    "Length": ["Short", "medium", "Medium", "Long", "Medium", "long", "short", "Long", "Medium"],
    "Rating": [7, 9, 6, 8, 5, 7, 9, 6, 7],
}
LIKED = ["yes", "yes", "no", "no", "no", "yes", "no", "no", "yes"]
TYPES, LENGTHS = ["Drama", "Animated", "Comedy"], ["Short", "Medium", "Long"]


def test_spellings_become_the_declared_levels_in_the_declared_order() -> None:
    schema, matrix = encode_fit(MOVIES, nominal={"Type": TYPES}, ordinal={"Length": LENGTHS})

    assert [column.levels for column in schema.columns] == [tuple(TYPES), tuple(LENGTHS), ()]
    assert [column.declared for column in schema.columns] == [True, True, False]
    assert matrix[:, 0].tolist() == [1, 1, 2, 0, 0, 1, 2, 0, 1]
    assert matrix[:, 1].tolist() == [0, 1, 1, 2, 1, 2, 0, 2, 1]


def test_levels_read_from_the_data_are_never_cleaned() -> None:
    for nominal in (None, ["Type"], {"Type": None}, {"Type": ()}, {"Type": []}):
        schema = encode_fit(MOVIES, nominal=nominal)[0]

        assert schema.columns[0].levels == ("ANIMATED", "Animated", "Comedy", "Drama", "animated", "drama ")
        assert not schema.columns[0].declared
        with pytest.warns(DataWarning, match=r"'Type' \(9 of 9 cells, such as 'COMEDY'\), at fit 'ANIMATED'"):
            assert np.isnan(encode(schema, {**MOVIES, "Type": ["COMEDY"] * 9})[:, 0]).all()


def test_an_ordered_category_is_not_a_declaration() -> None:
    table = pd.DataFrame({"size": pd.Categorical(["S", "L"], categories=["S", "L"], ordered=True)})
    schema = encode_fit(table)[0]

    assert not schema.columns[0].declared
    assert np.isnan(encode(schema, {"size": ["s"]})).all()


def test_a_mapping_mixes_declared_levels_and_levels_from_the_data() -> None:
    schema, matrix = encode_fit(MOVIES, nominal={"Type": TYPES, 2: None}, ordinal={1: LENGTHS})

    assert schema.columns[2].levels == (5, 6, 7, 8, 9)
    assert matrix[:, 2].tolist() == [2, 4, 1, 3, 0, 2, 4, 1, 2]


def test_a_declared_level_without_rows_exists() -> None:
    schema, matrix = encode_fit({"c": ["b", None]}, nominal={"c": ["c", "b", "a"]})

    assert schema.columns[0].levels == ("c", "b", "a")
    assert np.array_equal(matrix.ravel(), [1, np.nan], equal_nan=True)
    assert encode(schema, {"c": ["c", "a"]}).ravel().tolist() == [0, 2]


def test_numbers_may_be_declared_and_match_by_value() -> None:
    schema, matrix = encode_fit(np.array([[7.0], [5.0], [7.0]]), nominal={0: [7, 6, 5]})

    assert schema.columns[0].levels == (7, 6, 5)
    assert matrix.ravel().tolist() == [0, 2, 0]


@pytest.mark.parametrize("declare", [{"nominal": {"Type": TYPES}}, {"ordinal": {"Type": TYPES}}])
def test_a_cell_outside_the_declared_levels_names_column_row_count_and_nearest(declare: dict[str, object]) -> None:
    cells = ["Drama", "comedy", "Comdy", "Comdy", None]

    message = r"column 'Type': 1 unseen.*'Comdy', in 2 cell\(s\), first row 2: 'Comdy' \(did you mean 'Comedy'\?\)"
    with pytest.raises(UnseenLevelError, match=message):
        encode_fit({"Type": cells}, **declare)  # type: ignore[arg-type]


@pytest.mark.parametrize(("unseen", "code"), [("missing", np.nan), ("majority", 3.0)])
def test_cleaning_comes_before_the_policy_for_unseen_levels(unseen: str, code: float) -> None:
    schema = encode_fit({"c": ["Drama", None]}, nominal={"c": TYPES})[0]

    matrix = encode(schema, {"c": ["DRAMA", "Horror", None]}, unseen=unseen)

    assert np.array_equal(matrix.ravel(), [0, code, np.nan], equal_nan=True)


def test_unseen_error_accepts_another_spelling_and_refuses_another_word() -> None:
    schema = encode_fit({"c": ["Drama"]}, nominal={"c": TYPES})[0]

    assert encode(schema, {"c": ["\tdrama\n"]}, unseen="error").item() == 0
    with pytest.raises(UnseenLevelError, match=r"'Horror', in 1 cell"):
        encode(schema, {"c": ["drama", "Horror"]}, unseen="error")


def test_an_exact_match_wins_over_levels_that_fold_alike() -> None:
    schema, matrix = encode_fit({"c": ["a", "A", "a"]}, nominal={"c": ["A", "a"]})

    assert matrix.ravel().tolist() == [1, 0, 1]
    assert encode(schema, {"c": ["A", "a"]}).ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("levels", "cell", "named"),
    [
        (["A", "a"], "a ", r"'A' and 'a'"),
        (["ß", "x", "SS"], "ss", r"'ß' and 'SS'"),
        (["caf\u00e9", "cafe\u0301"], "CAFÉ", r"'caf\\xe9' and 'cafe\\u0301'"),
        (["a", " a"], "A", r"'a' and ' a'"),
    ],
)
def test_a_spelling_of_two_levels_is_refused_naming_both(levels: list[str], cell: str, named: str) -> None:
    where = r"column 'c' row 1: .* is another spelling of two declared levels, "
    for declare in ({"nominal": {"c": levels}}, {"ordinal": {"c": levels}}):
        with pytest.raises(DataError, match=where + named + r", in 2 cell\(s\)"):
            encode_fit({"c": [levels[0], cell, cell]}, **declare)  # type: ignore[arg-type]
        schema = encode_fit({"c": levels}, **declare)[0]  # type: ignore[arg-type]
        for unseen in ("missing", "error", "majority"):
            with pytest.raises(DataError, match=where + named):
                encode(schema, {"c": [levels[0], cell]}, unseen=unseen)


def test_a_category_that_no_cell_holds_is_no_spelling_of_anything() -> None:
    table = pd.DataFrame({"c": pd.Categorical(["A", "B "], categories=["a ", "A", "B "])})

    assert encode_fit(table, nominal={"c": ["A", "a", "B"]})[1].ravel().tolist() == [0, 2]


@pytest.mark.parametrize(
    ("cell", "is_spelling"),
    [
        ("STRASSE", True),
        ("  straße\u2003", True),
        ("Stra\u200bße", False),  # a zero-width space is a character, not outer white space
        ("Stra ße", False),
        ("Strase", False),
        (b"Strasse", False),
    ],
)
def test_only_case_outer_space_and_unicode_form_are_cleaned(cell: object, is_spelling: bool) -> None:
    schema = encode_fit({"c": ["Straße", 1]}, nominal={"c": ["Straße", 1]})[0]

    assert np.isnan(encode(schema, {"c": [cell, 1]})[0, 0]) == (not is_spelling)


def test_text_is_never_another_spelling_of_a_number() -> None:
    schema = encode_fit({"c": [1, "x"]}, nominal={"c": [1, "x"]})[0]

    assert np.isnan(encode(schema, {"c": ["1"]})).all()


@pytest.mark.parametrize("text", ["é", "Å", "ǰ", "ᾳ", "ﬁ", "İ", "ΐ", "Σ", "\u0345\u0301", "\ud800", ""])
def test_a_text_and_its_unicode_forms_and_cases_fold_alike(text: str) -> None:
    for form in ("NFC", "NFD"):
        other = unicodedata.normalize(form, text)
        assert folded(other) == folded(text) == folded(f" {other}\n")
        assert folded(other.casefold()) == folded(text)


@given(st.text(alphabet=st.characters(codec=None), max_size=6))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.lists(st.sampled_from(["a", "A", " a", "b", "B ", "ß", "ss"]), min_size=1, max_size=4, unique=True))
def test_every_declared_level_encodes_as_itself(levels: list[str]) -> None:
    matrix = encode_fit({"c": levels}, nominal={"c": levels})[1]

    assert matrix.ravel().tolist() == list(range(len(levels)))


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["x", "y", "x"], r"nominal\['a'\] lists 'x' more than once"),
        ([1, True], "more than once"),
        (["x", None], "no missing value"),
        (["x", float("nan")], "no missing value"),
        ("xy", "must be a list of levels"),
        (7, "must be a list of levels"),
        ({"x", "y"}, "must be a list of levels"),
        (iter(["x", "y"]), "must be a list of levels"),
        (np.array("x"), "must be a list of levels"),
        ([["x"]], "is of type list"),
        ([object()], "is of type object"),
    ],
)
def test_levels_that_cannot_be_meant_are_refused(levels: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        encode_fit({"a": ["x", "y"]}, nominal={"a": levels})  # type: ignore[dict-item]


def test_levels_in_a_set_have_no_order_to_be_ordinal_by() -> None:
    with pytest.raises(ParameterError, match="lowest first"):
        encode_fit({"a": ["x", "y"]}, ordinal={"a": {"x", "y"}})  # type: ignore[dict-item]


@pytest.mark.parametrize("levels", [np.array(["x", "y"]), pd.Index(["x", "y"]), pl.Series(["x", "y"]), ("x", "y")])
def test_levels_may_come_in_any_ordered_container(levels: object) -> None:
    schema = encode_fit({"a": ["Y"]}, nominal={"a": levels})[0]  # type: ignore[dict-item]

    assert schema.columns[0].levels == ("x", "y")
    assert {type(level) for level in schema.columns[0].levels} == {str}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nominal": {"a": ["x", "y"]}, "ordinal": {"a": ["x", "y"]}}, "declared nominal and ordinal"),
        ({"nominal": {"a": ["x", "y"], 0: None}}, "declared nominal and nominal"),
        ({"nominal": [["a"]]}, "must hold column names"),
        ({"numeric": np.array(1)}, "must hold column names"),
    ],
)
def test_contradicting_declarations_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        encode_fit({"a": ["x", "y"]}, **arguments)  # type: ignore[arg-type]


def test_a_mapping_with_an_unknown_column_suggests_the_nearest() -> None:
    with pytest.raises(ColumnError, match=r"'type'.*did you mean 'Type'"):
        encode_fit(MOVIES, nominal={"type": TYPES})


def test_all_makes_every_column_nominal_but_those_declared_otherwise() -> None:
    table = {"n": [3, 1, 3], "t": ["b", "a", "b"], "o": ["l", "h", "l"], "w": ["1", "2", "3"], "e": [None] * 3}

    schema, matrix = encode_fit(table, nominal="all", ordinal={"o": ["l", "h"]}, numeric=["w"])

    assert [column.kind for column in schema.columns] == ["nominal", "nominal", "ordinal", "numeric", "nominal"]
    assert [column.levels for column in schema.columns] == [(1, 3), ("a", "b"), ("l", "h"), (), ()]
    assert matrix[:, :4].tolist() == [[1, 1, 0, 1], [0, 0, 1, 2], [1, 1, 0, 3]]


def test_all_works_on_a_matrix_without_names_and_leaves_it_alone() -> None:
    X = np.array([[2.5, -0.0], [1.5, 0.0], [2.5, np.nan]])

    schema, matrix = encode_fit(X, nominal="all")

    assert [column.levels for column in schema.columns] == [(1.5, 2.5), (0.0,)]
    assert np.array_equal(matrix, [[1, 0], [0, 0], [1, np.nan]], equal_nan=True)
    assert X[0].tolist() == [2.5, 0]


def test_a_column_with_the_name_all_is_what_all_means() -> None:
    schema = encode_fit({"all": [1, 2], "b": [1, 2]}, nominal="all")[0]

    assert [column.kind for column in schema.columns] == ["nominal", "numeric"]
    with pytest.raises(ColumnError, match="does not have: 'all'"):
        encode_fit({"b": [1, 2]}, nominal=["all"])


def test_all_refuses_a_measurement_and_takes_it_where_it_is_named() -> None:
    table = {"x": np.arange(10_001) / 7, "t": ["a", "b", "c"] * 3333 + ["a", "b"]}

    with pytest.raises(DataError, match=r"column 'x' holds 10,001 different numbers.*numeric=\['x'\]"):
        encode_fit(table, nominal="all")

    assert len(encode_fit(table, nominal=["x"])[0].columns[0].levels) == 10_001
    assert len(encode_fit({"x": table["x"][:-1]}, nominal="all")[0].columns[0].levels) == 10_000


def test_a_declaration_survives_json_and_pickle() -> None:
    schema = encode_fit(MOVIES, nominal={"Type": TYPES}, ordinal={"Length": LENGTHS})[0]

    for back in (schema_from_json(schema_to_json(schema)), pickle.loads(pickle.dumps(schema))):
        assert back == schema
        assert encode(back, {"Type": ["animated"], "Length": ["SHORT"], "Rating": [1]}).tolist() == [[1, 0, 1]]


def test_a_row_in_a_hurry_leaves_other_spellings_to_the_slow_way() -> None:
    schema = encode_fit(MOVIES, nominal={"Type": TYPES}, ordinal={"Length": LENGTHS})[0]

    assert encode_plain_row(schema, ["Animated", "Long", 7]) == [1, 2, 7]
    assert encode_plain_row(schema, ["ANIMATED ", "Long", 7]) is None
    assert encode_row(schema, ["ANIMATED ", "long", 7]).tolist() == [1, 2, 7]


def test_cells_that_are_levels_are_never_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = encode_fit(MOVIES, nominal={"Type": TYPES}, ordinal={"Length": LENGTHS})[0]

    def refuse(text: str) -> str:
        raise AssertionError(text)

    monkeypatch.setattr("treewright.data.kinds.folded", refuse)

    encode(schema, {"Type": ["Comedy", "Drama"], "Length": ["Long", "Short"], "Rating": [1, 2]})


def test_a_long_column_of_other_spellings_is_cleaned_by_its_distinct_cells() -> None:
    cells = np.array(["a", "A", " a", "b"], object)[np.arange(200_000) % 4]
    schema = encode_fit({"c": ["a"]}, nominal={"c": ["a", "b"]})[0]
    exact = np.where(cells == "b", "b", "a").astype(object)

    slow, plain = (
        min(timeit.repeat(lambda table={"c": column}: encode(schema, table), number=1, repeat=3))
        for column in (cells, exact)
    )

    assert encode(schema, {"c": cells}).sum() == 50_000
    assert slow < 3 * plain + 0.05


def test_a_saved_model_reads_other_spellings_as_fit_did(tmp_path: pytest.TempPathFactory) -> None:
    tree = tw.DecisionTreeClassifier(nominal={"Type": TYPES}, ordinal={"Length": LENGTHS}, unseen="error")
    path = tmp_path / "movies.tw"  # type: ignore[operator]
    tree.fit(MOVIES, LIKED).save(path)
    back = tw.load(path)

    rows = {"Type": ["ANIMATED ", "drama"], "Length": [" MEDIUM", "long"], "Rating": [7, 6]}

    assert back.schema == tree.model_.schema
    assert tree.predict(rows).tolist() == back.predict(rows).tolist() == ["yes", "no"]
    for at, liked in enumerate(["yes", "no"]):
        row = {name: cells[at] for name, cells in rows.items()}
        assert back.predict_one(row) == liked
        assert back.predict_one(list(row.values())) == liked
    with pytest.raises(UnseenLevelError, match="Horror"):
        back.predict_one({"Type": "Horror", "Length": "Long", "Rating": 1})


@pytest.mark.parametrize("splits", ["subset", "multiway", "one_vs_rest"])
def test_a_level_without_rows_is_answered_by_a_tree(splits: str) -> None:
    tree = tw.DecisionTreeClassifier(nominal={"c": ["never", "b", "a"]}, nominal_splits=splits)
    tree.fit({"c": ["a", "B", "b", "A"]}, [0, 1, 1, 0])

    assert tree.predict({"c": ["A", "B"]}).tolist() == [0, 1]
    assert tree.predict({"c": ["NEVER"]}).tolist() == tree.predict({"c": ["never"]}).tolist()
    assert tree.model_.facts["parameters"]["nominal"] == [["c", ["never", "b", "a"]]]
