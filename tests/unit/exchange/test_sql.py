"""Models as SQL, run by the real databases: sums have the same bits, and what cannot be said is refused."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile

import numpy as np
import polars as pl
import pytest
from export_models import BEYOND, HOW, MODELS, NUMBER, TABLE
from hypothesis import given
from hypothesis import strategies as st
from plain_trees import chain_tree
from rotating import crossed, few

import treewright as tw
from treewright.data.derived import (
    DERIVED,
    level_pairs,
    linear_score,
    pairs_of,
    rows_of_levels,
    with_derived,
    with_derived_cells,
)
from treewright.data.encoder import encode
from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError, ParameterError, TreewrightError
from treewright.exchange import sql
from treewright.exchange.code import program_of
from treewright.exchange.formats import FORMATS
from treewright.exchange.sql import DATABASES, result_names
from treewright.exchange.verify import vectors_of, verify
from treewright.model.model import Model

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # cells go missing on purpose

duckdb = pytest.importorskip("duckdb", reason="the dev extra brings duckdb")


@pytest.fixture(scope="module")
def postgres():
    """A server of its own on a socket, while the tests of this file run."""
    if not all(map(shutil.which, ("initdb", "pg_ctl", "psql"))):
        pytest.skip("PostgreSQL is not installed: initdb, pg_ctl and psql are needed")
    as_owner = []
    if os.geteuid() == 0:  # which the server refuses to run as
        if (
            shutil.which("runuser") is None
            or subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode
        ):
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres to run it")
        as_owner = ["runuser", "-u", "postgres", "--"]
    folder = tempfile.mkdtemp(prefix="tw", dir="/tmp")  # the path of a socket is short
    if as_owner:
        shutil.chown(folder, "postgres")
    data = f"{folder}/data"

    def run(*words):
        return subprocess.run([*as_owner, *words], cwd=folder, capture_output=True, timeout=120, check=False)

    made = run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
    options = f"-c listen_addresses='' -k {folder} -c fsync=off"
    started = run("pg_ctl", "-D", data, "-o", options, "-w", "-l", f"{folder}/log", "start")
    try:
        if made.returncode or started.returncode:
            pytest.skip(f"PostgreSQL does not start here: {(made.stderr + started.stderr).decode()[-300:]}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGHOST", folder)
            patch.setenv("PGUSER", "postgres")
            patch.setenv("PGDATABASE", "postgres")
            yield folder
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


# Ten models of hundreds of trees are a minute of a database's time: three of four rounds say the same.
FEW_MEMBERS = {
    "members": lambda: tw.GradientBoostingRegressor(n_estimators=4, n_members=3, random_state=0, **HOW).fit(
        TABLE, NUMBER
    )
}
KINDS = {kind: made for kind, made in (MODELS | FEW_MEMBERS).items() if kind not in BEYOND}


@pytest.fixture(scope="module", params=few(list(KINDS), 3))
def model(request):
    made = KINDS[request.param]()
    return getattr(made, "model_", made)


@pytest.fixture(scope="module")
def all_vectors(model):
    return json.loads(json.dumps(vectors_of(model, "mine")))


@pytest.fixture
def vectors(all_vectors, form):
    """All rows; of walks, which take longer, every seventh."""
    parts = ("rows", "sums", "values", "answers")
    return all_vectors | {part: all_vectors[part][:: 7 if form == "walked" else 1] for part in parts}


@pytest.fixture(params=["nested", "walked"])
def form(request, monkeypatch):
    """Either form, whatever the size of the model."""
    if request.param == "walked":
        monkeypatch.setattr(sql, "_MOST_NODES", 0)
    return request.param


def written(model, folder, name, called="mine"):
    path = folder / f"{name}.sql"
    model.export(path, format=name, name=called)
    return path


def scored(model, folder, cells, name="sqlite"):
    """The answers of a view over rows that a table of Python holds."""
    text = written(model, folder, name).read_bytes().decode()
    base = sqlite3.connect(":memory:") if name == "sqlite" else duckdb.connect()
    cells = {"id": list(range(len(next(iter(cells.values()))))), **cells}
    kinds = {bool: "BOOLEAN", str: "TEXT", int: "INTEGER"}
    kinds = [
        kinds.get(next((type(each) for each in own if each is not None), float), "DOUBLE") for own in cells.values()
    ]
    names = ['"' + each.replace('"', '""') + '"' for each in cells]
    base.execute(f"CREATE TABLE mine_rows ({', '.join(f'{a} {b}' for a, b in zip(names, kinds, strict=True))})")
    places = ", ".join("?" * len(cells))
    base.executemany(f"INSERT INTO mine_rows VALUES ({places})", list(zip(*cells.values(), strict=True)))
    (base.executescript if name == "sqlite" else base.execute)(text)
    return [row[-1] for row in base.execute("SELECT * FROM mine ORDER BY id").fetchall()]


def test_the_columns_of_a_view_are_named_as_those_of_predicted_files(tmp_path):
    table, labels = {"a": [1.0, 2.0, 3.0]}, ["Adelie", "it's", "A b"]
    both = tw.DecisionTreeRegressor().fit(table, pl.DataFrame({"rain": [1.0, 2.0, 3.0], "snow": [0.0, 1.0, 0.0]}))
    cases = {
        tw.DecisionTreeClassifier().fit(table, labels): [
            "score_1", "score_2", "score_3", "probability_A b", "probability_Adelie", "probability_it's", "prediction",
        ],
        tw.GradientBoostingClassifier(n_estimators=1).fit({"a": [1, 2] * 20}, [True, False] * 20): [
            "score_1", "probability_false", "probability_true", "prediction",
        ],
        both: ["score_1", "score_2", "prediction_rain", "prediction_snow"],
    }  # fmt: skip
    for made, names in cases.items():
        base = sqlite3.connect(":memory:")
        base.executescript("CREATE TABLE mine_rows (id INTEGER, a REAL); INSERT INTO mine_rows VALUES (0, 1.0);")
        base.executescript(written(made.model_, tmp_path, "sqlite").read_text())
        assert [each[0] for each in base.execute("SELECT * FROM mine").description] == ["id", *names]


def test_a_class_that_cannot_name_a_column_is_named_by_its_position():
    made = tw.DecisionTreeClassifier().fit({"a": [1.0, 2.0, 3.0, 4.0]}, ["A", "a", "b\n", "l" * 60])
    program = program_of(made.model_)
    folded = ["probability_A", "probability_2", "probability_3", "probability_" + "l" * 60]
    assert result_names(program, DATABASES["duckdb"]) == (folded, ["prediction"])
    cut = ["probability_A", "probability_a", "probability_3", "probability_4"]
    assert result_names(program, DATABASES["postgresql"]) == (cut, ["prediction"])


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_databases_say_the_same(model, vectors, form, name, tmp_path):
    path = written(model, tmp_path, name)
    is_deep = max(tree.max_depth for tree in model.trees) > 4 * DATABASES[name].most_levels
    assert ("mine_nodes" in path.read_text()) == (form == "walked" or is_deep)
    verdict = verify(path, vectors, FORMATS[name].engines[0])
    assert verdict.is_equal, str(verdict)


def test_postgresql_says_the_same(postgres, model, vectors, form, tmp_path):
    verdict = verify(written(model, tmp_path, "postgresql"), vectors, "postgres")
    assert verdict.is_equal, str(verdict)


def test_every_character_of_a_label_comes_back_from_postgresql(postgres, tmp_path):
    labels = [f"a{chr(code)}b" for code in (0x10FFFF, 0x10FFFE, 0xFFFF, 0xFEFF, 0x1F600, 0x2028, 0x7F, 1, 0x5C)]
    table = {f"k{chr(0x10FFFF)}": labels * 3}
    model = tw.DecisionTreeClassifier().fit(table, labels * 3).model_
    path = written(model, tmp_path, "postgresql")
    verdict = verify(path, json.loads(json.dumps(vectors_of(model, "mine"))), "postgres")
    assert verdict.is_equal, str(verdict)


def test_a_changed_cut_is_found_by_every_database(postgres, tmp_path):
    model = tw.DecisionTreeRegressor().fit({"x": [0.0, 0.2, 1.0, 7.0]}, [1.0, 2.0, 3.0, 4.0]).model_
    cut = float(model.trees[0].threshold[0])
    vectors = json.loads(json.dumps(vectors_of(model, "mine")))
    for name, database in DATABASES.items():
        path = written(model, tmp_path, name)
        text = path.read_text()
        assert verify(path, vectors, FORMATS[name].engines[0]).is_equal
        beside = database.number(float(np.nextafter(cut, np.inf)))
        path.write_text(text.replace(database.number(cut), beside))
        assert path.read_text() != text
        assert not verify(path, vectors, FORMATS[name].engines[0]).is_equal


def test_literals_are_read_to_the_bit_by_sqlite_and_duckdb():
    rng = np.random.default_rng(0)
    numbers = [struct.unpack("d", rng.bytes(8))[0] for _ in range(3000)]
    numbers = [each for each in numbers if not np.isnan(each)] + rng.normal(size=3000).tolist()
    numbers += [
        0.0,
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        np.inf,
        -np.inf,
        0.1,
        1e22,
        2.0**-1000,
    ]
    numbers += [2.0**53 + 2, 2.0**63, 1e15, 123456789012345.6, 44.85, 0.5, 100.0]
    for name, base in (("sqlite", sqlite3.connect(":memory:")), ("duckdb", duckdb.connect())):
        for begin in range(0, len(numbers), 500):
            own = numbers[begin : begin + 500]
            listed = ", ".join(f"({DATABASES[name].number(each)})" for each in own)
            said = [row[0] for row in base.execute(f"SELECT * FROM (VALUES {listed})").fetchall()]
            assert all(type(each) is float for each in said)
            assert said == own


def test_literals_are_read_to_the_bit_by_postgresql(postgres, tmp_path):
    rng = np.random.default_rng(0)
    numbers = [struct.unpack("d", rng.bytes(8))[0] for _ in range(3000)]
    numbers = [each for each in numbers if not np.isnan(each)] + [5e-324, 1.7976931348623157e308, np.inf, -np.inf, 0.1]
    listed = ",\n".join(f"({DATABASES['postgresql'].number(each)})" for each in numbers)
    (tmp_path / "n.sql").write_text(f"SELECT * FROM (VALUES {listed}) AS t;")
    done = subprocess.run(["psql", "-XAtqf", "n.sql"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert list(map(float, done.stdout.split())) == numbers


ODD = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 5e-324, -5e-324, 1e-308, 1e-160, -1e-160, 1e160, 1e308, -1e308,
       1.7976931348623157e308, -1.7976931348623157e308, np.inf, -np.inf, 1e-20, 1e292, 9.979201547673599e291,
       2.0**-1022, 2.0**1023]  # fmt: skip


def test_arithmetic_of_postgresql_is_that_of_float64_and_ends_no_query(postgres, tmp_path):
    work = {"plus": np.add, "minus": np.subtract, "times": np.multiply, "over": np.divide}
    words = [getattr(DATABASES["postgresql"], name)("a", "b") for name in work]
    listed = ", ".join(f"({at}, {DATABASES['postgresql'].number(each)})" for at, each in enumerate(ODD))
    (tmp_path / "n.sql").write_text(
        f"CREATE TEMP TABLE odd (at int, v double precision); INSERT INTO odd VALUES {listed};\n"
        f"SELECT a, b, {', '.join(f'COALESCE({word}, float8 $$NaN$$)' for word in words)} "
        "FROM (SELECT x.v AS a, y.v AS b FROM odd x, odd y ORDER BY x.at, y.at) AS pairs;"
    )
    done = subprocess.run(["psql", "-XAtqf", "n.sql"], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [list(map(float, line.split("|"))) for line in done.stdout.splitlines()]
    assert len(lines) == len(ODD) ** 2
    for a, b, *said in lines:
        with np.errstate(all="ignore"):
            wanted = [float(each(np.float64(a), np.float64(b))) for each in work.values()]
        wanted[3] = np.nan if b == 0 else wanted[3]
        np.testing.assert_array_equal(said, wanted, err_msg=f"{a!r} {b!r}")


def test_exp_of_postgresql_goes_down_to_nothing(postgres, tmp_path):
    numbers = [-1e308, -746.0, -745.13, -745.0, -740.0, -720.5, -708.4, -700.1, -700.0, -1.0, 0.0, 1.0, 700.0]
    listed = ", ".join(f"({DATABASES['postgresql'].number(each)})" for each in numbers)
    text = f"SELECT {DATABASES['postgresql'].exp('a')} FROM (VALUES {listed}) AS t (a);"
    done = subprocess.run(["psql", "-XAtqc", text], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(list(map(float, done.stdout.split())), np.exp(numbers), rtol=1e-15, atol=1.5e-323)


@pytest.mark.parametrize(("depth", "is_nested"), [(12, True), (13, True), (40, True), (48, True), (49, False)])
def test_a_tree_deeper_than_the_parser_of_sqlite_is_divided_into_steps(depth, is_nested, tmp_path):
    schema = Schema((Column("x", "numeric"),))
    model = Model(task="regression", schema=schema, trees=(chain_tree(depth),))
    path = written(model, tmp_path, "sqlite")
    assert ("mine_nodes" in path.read_text()) != is_nested
    assert verify(path, json.loads(json.dumps(vectors_of(model, "mine"))), "sqlite").is_equal


@pytest.mark.parametrize(("depth", "is_nested"), [(1, True), (16, False)])
@pytest.mark.parametrize("name", few(["sqlite", "postgresql"], 1))
def test_2000_trees_are_added_in_either_form(name, depth, is_nested, request, tmp_path):
    if name == "postgresql":
        request.getfixturevalue("postgres")
    schema = Schema((Column("x", "numeric"),))
    model = Model(task="regression", schema=schema, trees=(chain_tree(depth),) * 2000, combine="mean")
    vectors = json.loads(json.dumps(vectors_of(model, "mine")))
    for part in ("rows", "sums", "values", "answers"):
        vectors[part] = vectors[part][:6]
    path = written(model, tmp_path, name)
    assert ("mine_nodes" in path.read_text()) != is_nested
    assert verify(path, vectors, FORMATS[name].engines[0]).is_equal


@pytest.mark.parametrize("name", few(["duckdb", "sqlite", "postgresql"], 1))
def test_a_chain_of_5000_levels_is_walked(name, request, tmp_path):
    if name == "postgresql":
        request.getfixturevalue("postgres")
    schema = Schema((Column("x", "numeric"),))
    model = Model(task="regression", schema=schema, trees=(chain_tree(5000),))
    vectors = json.loads(json.dumps(vectors_of(model, "mine")))
    for part in ("rows", "sums", "values", "answers"):
        vectors[part] = vectors[part][:6] + vectors[part][-6:]
    path = written(model, tmp_path, name)
    assert "mine_nodes" in path.read_text()
    assert verify(path, vectors, FORMATS[name].engines[0]).is_equal


@pytest.mark.parametrize(("name", "unseen"), crossed(DATABASES, ["missing", "majority"]))
def test_columns_made_of_others_are_worked_out_in_the_query(name, unseen, request, tmp_path):
    if name == "postgresql":
        request.getfixturevalue("postgres")
    table = TABLE | {"sky": [("wet", "dry", None)[at % 3] for at in range(len(NUMBER))]}
    plain = tw.DecisionTreeRegressor(**HOW).fit(table, NUMBER).model_
    matrix = encode(plain.schema, table, unseen="missing", missing="direction")
    slopes = [
        0.5,
        -1.0,
        1.0,
        3.0,
        0.25,
        0.0,
        5.0,
        -0.5,
        2.0,
        1.0,
        2.0,
        3.0,
        4.0,
        5.0,
        9.0,
        0.0,
        2.0,
        -0.1,
        7.0,
        1.0,
        2.0,
        3.0,
    ]
    made = [
        rows_of_levels(plain.schema, 2, matrix[:, 2], None), *pairs_of(plain.schema, [0, 1]),
        level_pairs(plain.schema, 2, 4, matrix), linear_score("score", range(5), slopes),
    ]  # fmt: skip
    schema = with_derived(plain.schema, made)
    wide = with_derived_cells(schema, matrix)
    cells = {
        column.name: [
            None if np.isnan(cell) else column.levels[int(cell)] if column.levels else cell for cell in wide[:, at]
        ]
        for at, column in enumerate(schema.columns)
    }
    how = HOW | {"nominal": ["town", "sky", "town & sky"]}
    trees = tw.ExtraTreesRegressor(12, random_state=0, **how).fit(cells, np.sin(np.arange(len(NUMBER)))).model_.trees
    model = Model(task="regression", schema=schema, trees=tuple(trees), combine="mean", unseen=unseen)
    asked = {schema.columns[at].part for tree in trees for at in tree.feature[tree.feature >= 0]}
    assert asked == {"", *DERIVED}
    vectors = json.loads(json.dumps(vectors_of(model, "mine")))
    verdict = verify(written(model, tmp_path, name), vectors, FORMATS[name].engines[0])
    assert verdict.is_equal, str(verdict)


STRICT = {"missing": "error", "unseen": "error"}
WHOLE = {"town": ["a", "b", "a", "c"], "x": [1.0, 2.0, 3.0, 4.0]}


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_what_the_model_refuses_ends_the_query_with_the_reason(name, tmp_path):
    strict = tw.DecisionTreeRegressor(**STRICT).fit(WHOLE, [1.0, 2.0, 3.0, 4.0]).model_
    assert scored(strict, tmp_path, WHOLE, name) == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(Exception, match="column town: a level that the model does not know, z"):
        scored(strict, tmp_path, {"town": ["z"], "x": [1.0]}, name)
    with pytest.raises(Exception, match="column x: the model refuses missing cells"):
        scored(strict, tmp_path, {"town": ["a"], "x": [None]}, name)


def test_what_the_model_refuses_ends_the_query_of_postgresql(postgres, tmp_path):
    strict = tw.DecisionTreeRegressor(**STRICT).fit(WHOLE, [1.0, 2.0, 3.0, 4.0]).model_
    vectors = json.loads(json.dumps(vectors_of(strict, "mine")))
    for cells, said in (([3.0, 1.0], "column town: a level"), ([0.0, "nan"], "column x: the model refuses missing")):
        vectors["rows"][0] = cells
        with pytest.raises(InputFileError, match=said):
            verify(written(strict, tmp_path, "postgresql"), vectors, "postgres")


def test_a_text_in_a_column_of_numbers_is_refused_by_sqlite(tmp_path):
    model = tw.DecisionTreeRegressor().fit(WHOLE, [1.0, 2.0, 3.0, 4.0]).model_
    with pytest.raises(sqlite3.OperationalError, match="another type"):
        scored(model, tmp_path, {"town": ["a"], "x": ["1,5"]})


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_levels_and_labels_keep_their_types(name, tmp_path):
    table = {
        "flag": [True, False, None, True] * 9,
        "code": [10, 20, 30, 40] * 9,
        "size": [0.5, 1.5, None, 0.1] * 9,
        "town": ["1", "a'b", "c\\d", 'e"f'] * 9,
    }
    for labels in ([1, 2, 3, 4], [True, False, True, False], ["x", "y'", "z", "w"]):
        y = labels * 9
        model = tw.DecisionTreeClassifier(nominal=["code", "size", "flag", "town"]).fit(table, y).model_
        said = scored(model, tmp_path, table, name)
        assert said == y
        assert {type(each) for each in said} == {int if isinstance(y[0], bool) and name == "sqlite" else type(y[0])}


@pytest.mark.parametrize(
    ("table", "said", "names"),
    [
        ({"a": [1.0, 2.0], "A": [1.0, 2.0]}, "are one name", ["duckdb", "sqlite"]),
        ({"n" * 64: [1.0, 2.0]}, "64 bytes", ["postgresql"]),
        ({"a\0b": [1.0, 2.0]}, "NUL", list(DATABASES)),
        ({"town": ["a\0", "b"]}, "NUL", list(DATABASES)),
    ],
)
def test_names_and_levels_that_a_database_cannot_hold_are_refused(table, said, names, tmp_path):
    model = tw.DecisionTreeRegressor().fit(table, [1.0, 2.0]).model_
    for name in names:
        with pytest.raises(ParameterError, match=said):
            written(model, tmp_path, name)
        assert not (tmp_path / f"{name}.sql").exists()


def test_the_ending_does_not_say_the_database(tmp_path):
    model = tw.DecisionTreeRegressor().fit(WHOLE, [1.0, 2.0, 3.0, 4.0]).model_
    with pytest.raises(ParameterError, match="duckdb, sqlite, postgresql: name the format"):
        model.export(tmp_path / "m.sql")


def test_a_column_called_id_leaves_the_key_another_name(tmp_path):
    model = tw.DecisionTreeRegressor(numeric=["ID"]).fit({"ID": [1.0, 2.0]}, [1.0, 2.0]).model_
    vectors = json.loads(json.dumps(vectors_of(model, "mine")))
    for name, key in (("duckdb", "row_id"), ("sqlite", "row_id"), ("postgresql", "id")):
        path = written(model, tmp_path, name)
        assert f'"{key}"' in path.read_text()
        if name != "postgresql":
            assert verify(path, vectors, name).is_equal


@given(
    names=st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=4, unique=True), level=st.text(max_size=20)
)
def test_no_text_leaves_its_quotes(names, level, tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    table = {name: [level, "b", level, "c"] for name in names}
    try:
        model = tw.DecisionTreeClassifier(nominal="all").fit(table, [level, "b", level, "c"]).model_
    except TreewrightError:
        return  # names or levels that no table may have
    for name in ("duckdb", "sqlite"):
        try:
            written(model, folder, name)
        except ParameterError as refused:
            assert any(word in str(refused) for word in ("NUL", "one name"))  # noqa: PT017
            continue
        assert scored(model, folder, table, name) == [level, "b", level, "c"]
