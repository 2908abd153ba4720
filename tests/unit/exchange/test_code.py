"""Source code of models, run by the real programs: sums have the same bits, and what cannot be said is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from export_models import CELLS, HOW, MODELS, RNG, TABLE, N, model_of
from hypothesis import given
from hypothesis import strategies as st
from plain_trees import chain_tree
from rotating import few

import treewright as tw
from treewright.cli import options
from treewright.data.encoder import encode
from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError, MissingLibraryError, ParameterError, TreewrightError
from treewright.exchange.code import EXTRAS, LANGUAGES, program_of
from treewright.exchange.engines import ENGINES, _output
from treewright.exchange.formats import FORMATS
from treewright.exchange.verify import read_vectors, vectors_of, verify
from treewright.forest.isolation import anomaly_scores
from treewright.model import Model
from treewright.predict.ensemble import combined, leaf_table, scores_of
from treewright.predict.walks import contents_in_tree

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # cells go missing on purpose


def edge_rows(model):
    """Rows of the fit, and such as lie on and beside every cut, beyond all, missing, and of unknown levels."""
    program = program_of(model, EXTRAS)
    table = {column.name: list(CELLS[column.name]) for column in model.schema.given}
    matrix = encode(model.schema, table, unseen=model.unseen, missing=model.missing)[:, : program.n_given]
    rows = [*matrix[:80]]
    for at, column in enumerate(model.schema.given):
        if column.kind != "numeric":
            cells = [*range(len(column.levels) + (model.unseen != "error"))]
        else:
            asked = (program.tables.feature == at) & (program.tables.kind == 1)
            cuts = np.unique(program.tables.threshold[asked])[:12]
            cells = [*cuts, *np.nextafter(cuts, np.inf), *np.nextafter(cuts, -np.inf), np.inf, -np.inf, -0.0, 1e308]
        for cell in [*cells, *([np.nan] * (model.missing != "error"))]:
            row = matrix[RNG.integers(0, N)].copy()
            row[at] = cell
            rows.append(row)
    return np.array(rows)


def expected(model, rows):
    """Sums and values of the library: unknown levels stand for what ``unseen`` says."""
    columns = []
    for at, column in enumerate(model.schema.given):
        cells = [None if np.isnan(cell) else cell for cell in rows[:, at].tolist()]
        if column.kind != "numeric":
            cells = [None if c is None else [*column.levels, "elsewhere"][int(c)] for c in cells]
        columns.append(cells)
    table = dict(zip((column.name for column in model.schema.given), columns, strict=True))
    matrix = encode(model.schema, table, unseen=model.unseen, missing=model.missing)
    if model.facts.get("algorithm") == "isolation_forest":
        scores = -anomaly_scores(model, table)
        outliers = np.where(scores < model.facts["offset"], -1, 1)
        return model.predict(table).reshape(-1, 1), scores.reshape(-1, 1), outliers
    values = np.hstack(model.shares_of(matrix)) if model.classes else model.numbers_of(matrix).reshape(len(rows), -1)
    if not model.is_single_tree:
        sums = scores_of(model, matrix) if model.has_scores else combined(model, matrix)
    else:
        table_ = leaf_table(model)
        sums = contents_in_tree(model, model.trees[0], table_.shares if model.classes else table_.values, matrix, None)
        assert np.array_equal(np.minimum(sums, 1.0) if model.classes else sums, values)
    return sums.reshape(len(rows), -1), values, model.predict(table)


def texts_of(rows):
    return [[repr(cell) for cell in row] for row in rows.tolist()]


def by_python(folder, rows):
    code = {}
    exec((folder / "m.py").read_text(encoding="utf-8"), code)
    listed = rows.tolist()
    return [[code["sums"](row), code["values"](row), code["predict"](row)] for row in listed]


def by_node(folder, rows):
    (folder / "run.mjs").write_text(
        'import { sums, values, predict } from "./m.mjs"; import fs from "fs";\n'
        "const odd = { nan: NaN, inf: Infinity, '-inf': -Infinity };\n"
        "const read = (text) => text in odd ? odd[text] : Number(text);\n"
        'const rows = JSON.parse(fs.readFileSync("rows.json")).map((row) => row.map(read));\n'
        "console.log(JSON.stringify(rows.map((row) => [sums(row), values(row), predict(row)])));\n"
    )
    (folder / "rows.json").write_text(json.dumps(texts_of(rows)))
    done = subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


def by_gcc(folder, rows):
    (folder / "run.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\n#include "m.c"\n'
        "int main(void) {\n"
        "    static double row[mine_INPUTS], sums[N_SUMS], values[mine_VALUES], said[mine_OUTPUTS];\n"
        "    char text[64];\n    int at = 0;\n"
        '    while (scanf("%63s", text) == 1) {\n        row[at++] = strtod(text, 0);\n'
        "        if (at < mine_INPUTS) continue;\n        at = 0;\n"
        "        if (mine_sums(row, sums) || mine_values(row, values) || mine_predict(row, said)) return 1;\n"
        '        for (int i = 0; i < N_SUMS; i++) printf("%.17g ", sums[i]);\n'
        '        for (int i = 0; i < mine_VALUES; i++) printf("%.17g ", values[i]);\n'
        '        for (int i = 0; i < mine_OUTPUTS; i++) printf("%.17g ", said[i]);\n        puts("");\n    }\n'
        "    return 0;\n}\n"
    )
    subprocess.run(
        ["gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-O1", "-ffp-contract=off", "run.c", "-o", "run", "-lm"],
        cwd=folder, check=True, timeout=120,
    )  # fmt: skip
    given = "\n".join(" ".join(row) for row in texts_of(rows))
    done = subprocess.run(["./run"], cwd=folder, input=given, capture_output=True, text=True, check=True, timeout=120)
    return [[float(text) for text in line.split()] for line in done.stdout.splitlines()]


FEW = few(list(MODELS), 7)


@pytest.fixture(params=FEW)
def kind(request):
    return request.param


@pytest.fixture
def model(kind):
    return model_of(kind)


def agree(model, found, sums, values, labels):
    """Sums to the bit, values to the last place of the language's exp, and the labels."""
    assert np.array_equal(np.array([sums_ for sums_, _, _ in found]).reshape(sums.shape), sums)
    np.testing.assert_allclose([values_ for _, values_, _ in found], values, rtol=4e-16 * values.shape[1], atol=1e-300)
    said = [each if isinstance(each, list) else [each] for _, _, each in found]
    wanted = np.asarray(labels).reshape(len(said), -1).tolist()
    if model.classes:
        assert [list(map(str, row)) for row in wanted] == [list(map(str, row)) for row in said]
    else:
        np.testing.assert_allclose(said, wanted, rtol=1e-15)


def test_python_says_the_same(model, tmp_path):
    model.export(tmp_path / "m.py")
    rows = edge_rows(model)
    agree(model, by_python(tmp_path, rows), *expected(model, rows))


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_says_the_same(model, tmp_path):
    model.export(tmp_path / "m.mjs")
    rows = edge_rows(model)
    agree(model, by_node(tmp_path, rows), *expected(model, rows))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c_says_the_same(model, tmp_path):
    model.export(tmp_path / "m.c", name="mine")
    rows = edge_rows(model)
    sums, values, labels = expected(model, rows)
    k, v = sums.shape[1], values.shape[1]
    found = []
    for line in by_gcc(tmp_path, rows):
        said = line[k + v :]
        if model.classes:
            said = [str(own[int(code)]) for own, code in zip(model.classes, said, strict=True)]
        found.append([line[:k], line[k : k + v], said])
    agree(model, found, sums, values, labels)


HAS_JAVA = pytest.mark.skipif(
    shutil.which("javac") is None or shutil.which("java") is None, reason="javac or java is not installed"
)
RUN_JAVA = """
import java.nio.file.*;
import java.util.*;

public class Run {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class<?> model = Class.forName(name);
            List<?> classes = (List<?>) model.getField("classes").get(null);
            StringBuilder text = new StringBuilder();
            for (String line : Files.readAllLines(Paths.get(name + ".txt"))) {
                double[] row = Arrays.stream(line.split(" ")).mapToDouble(Double::parseDouble).toArray();
                for (String method : new String[] {"sums", "values"})
                    for (double each : (double[]) model.getMethod(method, double[].class).invoke(null, row))
                        text.append(each).append(' ');
                List<?> said = (List<?>) model.getMethod("predict", double[].class).invoke(null, row);
                for (int o = 0; o < said.size(); o++)
                    text.append(classes.isEmpty() ? said.get(o) : ((List<?>) classes.get(o)).indexOf(said.get(o)))
                        .append(' ');
                text.append('\\n');
            }
            Files.write(Paths.get(name + ".out"), text.toString().getBytes());
        }
    }
}
"""


def run_java(folder, *words):
    """Compile all there is, and run one class."""
    files = sorted(path.name for path in folder.glob("*.java"))
    subprocess.run(["javac", "-Xlint:all", "-Werror", *files], cwd=folder, check=True, timeout=120)
    done = subprocess.run(["java", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


@HAS_JAVA
def test_java_says_the_same(tmp_path):
    # The models are compiled and run at once: Java takes a second to start.
    wanted = {}
    for at, kind in enumerate(FEW):
        model, name = model_of(kind), f"M{at}"
        model.export(tmp_path / f"{name}.java")
        rows = edge_rows(model)
        wanted[name] = (model, *expected(model, rows))
        lines = (" ".join(row).replace("inf", "Infinity").replace("nan", "NaN") for row in texts_of(rows))
        (tmp_path / f"{name}.txt").write_text("\n".join(lines))
    (tmp_path / "Run.java").write_text(RUN_JAVA)
    run_java(tmp_path, "Run", *wanted)
    for name, (model, sums, values, labels) in wanted.items():
        k, v, found = sums.shape[1], values.shape[1], []
        for line in (tmp_path / f"{name}.out").read_text().splitlines():
            numbers = [float(text) for text in line.split()]
            said = numbers[k + v :]
            if model.classes:
                said = [str(own[int(code)]) for own, code in zip(model.classes, said, strict=True)]
            found.append([numbers[:k], numbers[k : k + v], said])
        agree(model, found, sums, values, labels)


def hostile_texts():
    """What has a meaning in a language, and texts of any characters, longer than a literal may be."""
    rng = np.random.default_rng(0)
    letters = [*map(chr, range(1, 300)), *"\u2028\u2029\u6f22\uffff\U0001f600", *('\\"u0022:[') * 9]
    drawn = ["".join(rng.choice(letters, 80)) for _ in range(600)]
    whole = [
        '"',
        "\\",
        "\\u0022",
        "\\\\u0022",
        "\n",
        "\r\n",
        "*/",
        "//",
        "[",
        "s3:",
        "i1:1",
        '");',
        "\x00",
        "\\8",
        "\x7f9",
    ]
    return [*whole, *drawn]


@HAS_JAVA
def test_texts_numbers_and_truths_arrive_in_java(tmp_path):
    texts = hostile_texts()
    n = len(texts)
    table = {"\\u0022 [:": texts, "is": [True, False, True] * (n // 3), "x": [1, 2, 3] * (n // 3)}
    nominal = {"\\u0022 [:": None, "is": None}
    model = tw.DecisionTreeClassifier(nominal=nominal, max_depth=3).fit(table, texts)
    model.export(tmp_path / "Texts.java")
    (tmp_path / "Run.java").write_text(
        "public class Run {\n"
        "    static void tell(java.util.List<Object> all) {\n        StringBuilder said = new StringBuilder();\n"
        "        for (Object each : all) {\n            said.append(each.getClass().getSimpleName());\n"
        '            String.valueOf(each).chars().forEach(unit -> said.append(" ").append(unit));\n'
        '            said.append(";");\n        }\n        System.out.println(said);\n    }\n\n'
        "    public static void main(String[] given) {\n        tell(Texts.columns);\n"
        "        for (java.util.List<Object> own : Texts.levels) tell(own);\n"
        "        for (java.util.List<Object> own : Texts.classes) tell(own);\n"
        "        java.util.Map<String, Object> cells = new java.util.HashMap<>();\n"
        "        cells.put((String) Texts.columns.get(0), Texts.levels.get(0).get(7));\n"
        '        cells.put("is", true);\n        cells.put("x", 2);\n'
        "        System.out.println(java.util.Arrays.toString(Texts.encode(cells)));\n"
        '        System.out.println(Texts.code(1, "true") + " " + Texts.code(1, null));\n'
        '        try {\n            Texts.encode(java.util.Arrays.asList(1, true, "x"));\n'
        "        } catch (IllegalArgumentException no) {\n            System.out.println(no.getMessage());\n        }\n"
        "    }\n}\n"
    )
    *lists, row, codes, refused = run_java(tmp_path, "Run").splitlines()

    def units(value):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return [int(unit) for unit in np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")]

    sorts = {bool: "Boolean", int: "Long", float: "Double", str: "String"}
    held = model.model_
    wanted = [[column.name for column in held.schema.given], *(column.levels for column in held.schema.given)]
    wanted.append(held.classes[0].tolist())
    assert len(lists) == len(wanted)
    for line, own in zip(lists, wanted, strict=True):
        found = [entry.split() for entry in line.split(";")[:-1]]
        assert [[sort, *map(int, told)] for sort, *told in found] == [[sorts[type(each)], *units(each)] for each in own]
    assert row == "[7.0, 1.0, 2.0]"
    assert (codes, refused) == ("2.0 NaN", "column x: x is not a number")


@pytest.mark.parametrize("word", ["class", "String", "java", "_"])
def test_a_java_class_is_called_as_its_file_and_by_no_word_of_java(word, tmp_path):
    model = model_of("tree")
    model.export(tmp_path / "Rain.java", vectors=tmp_path / "v.json")
    assert "public final class Rain {" in (tmp_path / "Rain.java").read_text()
    assert json.loads((tmp_path / "v.json").read_text())["name"] == "Rain"
    with pytest.raises(ParameterError, match=r"a Java class has the name of its file, Rain\.java"):
        model.export(tmp_path / "Rain.java", name="Drops")
    with pytest.raises(ParameterError, match="word of the language"):
        model.export(tmp_path / f"{word}.java")
    with pytest.raises(ParameterError, match="letters, digits and _"):
        model.export(tmp_path / "rain-2.java")


def test_cells_become_rows_by_name_and_by_place(tmp_path):
    model = MODELS["tree"]().model_
    model.export(tmp_path / "m.py")
    exec((tmp_path / "m.py").read_text(encoding="utf-8"), code := {})
    for at in range(40):
        cells = {name: cells[at] for name, cells in TABLE.items()}
        row = code["encode"](cells)
        assert code["predict"](row) == model.predict_one(cells)
        assert [str(cell) for cell in code["encode"](list(cells.values()))] == [str(cell) for cell in row]
    assert code["columns"] == list(TABLE)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_what_is_no_number_is_no_missing_cell_in_javascript(tmp_path):
    model_of("tree").export(tmp_path / "m.mjs")
    (tmp_path / "run.mjs").write_text(
        'import { encode } from "./m.mjs";\n'
        'for (const b of [2.5, true, null, NaN, "2.5", "", "x", new Date(0)]) {\n'
        '  try { console.log(encode({ a: 1, b, town: "Lima", rank: "low" })[1]); }\n'
        "  catch (error) { console.log(error.message.slice(0, 9)); }\n}\n"
    )
    done = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("\n")[:-1] == ["2.5", "1", "NaN", "NaN", *["column b:"] * 4]


def test_what_the_model_refuses_is_refused(tmp_path):
    whole = {"town": ["a", "b", "a", "c"], "x": [1.0, 2.0, 3.0, 4.0]}
    strict = tw.DecisionTreeRegressor(missing="error", unseen="error").fit(whole, [1.0, 2.0, 3.0, 4.0])
    strict.export(tmp_path / "m.py")
    exec((tmp_path / "m.py").read_text(), code := {})
    with pytest.raises(ValueError, match="column town: a level"):
        code["predict"](code["encode"]({"town": "z", "x": 1}))
    with pytest.raises(ValueError, match="column x: the model refuses missing"):
        code["predict"](code["encode"]({"town": "a", "x": None}))


DAYS = {"d": np.arange("2024-01-01", "2024-03-01", dtype="M8[D]"), "n": np.arange(60) % 7}


@pytest.mark.parametrize(
    ("extra", "make"),
    [
        ("divides", lambda: model_of("divided")),
        ("sorts", lambda: model_of("median")),
        ("isolates", lambda: model_of("isolation")),
        ("dates", lambda: tw.DecisionTreeRegressor().fit(DAYS, range(60)).model_),
    ],
)
def test_a_format_that_does_not_say_so_gets_no_program_of_a_model_beyond_sums(extra, make):
    model = make()
    for says in ([], [other for other in EXTRAS if other != extra]):
        with pytest.raises(ParameterError, match=r"this format does not support that"):
            program_of(model, says)
    assert program_of(model, [extra]).n_given


def test_parts_of_dates_are_refused_and_no_file_is_left(tmp_path):
    with pytest.raises(ParameterError, match=r"'d\.month' is a part of dates"):
        tw.DecisionTreeRegressor(calendar=["month"]).fit(DAYS, range(60)).export(tmp_path / "m.c")
    assert not (tmp_path / "m.c").exists()


def test_dates_are_days_since_1970(tmp_path):
    model = tw.DecisionTreeRegressor().fit(DAYS, np.arange(60.0)).model_
    model.export(tmp_path / "m.py", vectors=tmp_path / "v.json")
    exec((tmp_path / "m.py").read_text(), code := {})
    days = DAYS["d"].astype(int).tolist()
    assert days[0] == 19_723
    said = [code["predict"](code["encode"]([day, n])) for day, n in zip(days, DAYS["n"].tolist(), strict=True)]
    assert said == model.predict(DAYS).tolist() == list(range(60))
    assert verify(tmp_path / "m.py", read_vectors(tmp_path / "v.json")).is_equal
    with pytest.raises(TypeError):
        code["encode"]([DAYS["d"][0].item(), 0])


def test_an_isolation_forest_says_what_the_estimator_says(tmp_path):
    forest = tw.IsolationForest(n_estimators=20, random_state=0, **HOW).fit(TABLE)
    forest.export(tmp_path / "m.py")
    exec((tmp_path / "m.py").read_text(encoding="utf-8"), code := {})
    rows = [code["encode"]({name: cells[at] for name, cells in TABLE.items()}) for at in range(N)]
    assert [code["predict"](row) for row in rows] == forest.predict(TABLE).tolist()
    assert {-1, 1} == {code["predict"](row) for row in rows}
    np.testing.assert_allclose([code["values"](row)[0] for row in rows], forest.score_samples(TABLE), rtol=4e-16)
    assert [code["sums"](row)[0] for row in rows] == forest.model_.predict(TABLE).tolist()


def test_a_column_that_is_left_out_holds_anything(tmp_path):
    table = {"key": [f"id {at}" for at in range(60)], "x": [0.0, 9.0] * 30}
    model = tw.DecisionTreeRegressor(missing="error").fit(table, [1.0, 7.0] * 30).model_
    assert model.schema.columns[0].left_out
    model.export(tmp_path / "m.py")
    exec((tmp_path / "m.py").read_text(), code := {})
    for key in ("id 3", "another", None):
        assert code["predict"](code["encode"]({"key": key, "x": 7})) == 7.0


def test_endings_and_names_are_checked(tmp_path):
    model = MODELS["tree"]()
    with pytest.raises(ParameterError, match=r"\.c, \.js, \.mjs, \.py"):
        model.export(tmp_path / "m.rs")
    for name in ("2b", "a b", "", "x;", "é"):
        with pytest.raises(ParameterError, match="letters, digits and _"):
            model.export(tmp_path / "m.c", name=name)
    with pytest.raises(ParameterError, match="c, javascript, python"):
        model.export(tmp_path / "m.c", format="cobol")


def test_the_command_names_all_formats_and_engines():
    assert options.EXPORTS.split(", ") == list(FORMATS)
    assert options.ENGINES.split(", ") == list(ENGINES)
    assert {engine for each in FORMATS.values() for engine in each.engines} == set(ENGINES)


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
    is_c_text = "\0" not in "".join([*names, level])
    for ending in (FORMATS[language].endings[0] for language in LANGUAGES if is_c_text or language != "c"):
        model.export(folder / f"m{ending}")
    exec((folder / "m.py").read_text(encoding="utf-8"), code := {})
    assert code["columns"] == names
    if shutil.which("node"):
        subprocess.run(["node", "--check", "m.js"], cwd=folder, check=True, timeout=60)
    if is_c_text and shutil.which("gcc"):
        words = ["gcc", "-std=c99", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-function", "m.c"]
        subprocess.run(words, cwd=folder, check=True, timeout=60)


def test_vectors_are_what_the_model_says(model):
    found = vectors_of(model)
    rows = np.array([list(map(float, row)) for row in found["rows"]])
    sums, values, _ = expected(model, rows)
    assert np.array_equal(np.array([list(map(float, row)) for row in found["sums"]]), sums)
    assert np.array_equal(np.array([list(map(float, row)) for row in found["values"]]), values)


def test_names_that_look_like_places_and_bags_are_written(tmp_path):
    table = {'a "//name//"': ["//name//", "//version//", "//tables//", "b"] * 9, "x": list(range(36))}
    y = [1.0, 2.0, 3.0, 4.0] * 9
    bag = tw.BaggingRegressor(tw.DecisionTreeRegressor(nominal=['a "//name//"']), n_estimators=4, random_state=0)
    model = bag.fit(table, y).model_
    model.export(tmp_path / "m.py", vectors=tmp_path / "v.json")
    exec((tmp_path / "m.py").read_text(), code := {})
    for at in range(36):
        row = {name: cells[at] for name, cells in table.items()}
        assert code["predict"](code["encode"](row)) == model.predict_one(row)
    assert verify(tmp_path / "m.py", read_vectors(tmp_path / "v.json")).is_equal


def test_no_number_where_the_model_has_one_is_no_proof(tmp_path):
    MODELS["two classes"]().export(tmp_path / "m.py", vectors=tmp_path / "v.json")
    text = (tmp_path / "m.py").read_text()
    (tmp_path / "m.py").write_text(text.replace("from math import exp as _exp", "_exp = lambda x: float('nan')"))
    assert not verify(tmp_path / "m.py", read_vectors(tmp_path / "v.json")).is_equal
    found = json.loads((tmp_path / "v.json").read_text())
    for broken in ({"rows": []}, {"sums": [[1.0], [1.0, 2.0]]}):
        (tmp_path / "v.json").write_text(json.dumps(found | broken))
        with pytest.raises(TreewrightError):
            verify(tmp_path / "m.py", read_vectors(tmp_path / "v.json"))


@cache
def deep_and_many():
    """A chain and a large forest, each with every 20th row of its vectors: Python takes 15 s to walk all of them."""
    schema = Schema((Column("x", "numeric"),))
    deep = Model(task="regression", schema=schema, trees=(chain_tree(5_000),))
    many = Model(task="regression", schema=schema, trees=(chain_tree(8),) * 2_000, combine="mean")
    found = [(model, vectors_of(model)) for model in (deep, many)]
    rows = ("rows", "sums", "values", "answers")
    return [(model, vectors | {part: vectors[part][::20] for part in rows}) for model, vectors in found]


@pytest.mark.parametrize("ending", few([".c", ".mjs", ".py", ".java"], 1))
def test_chains_of_5000_levels_and_2000_trees_are_written(ending, tmp_path):
    path = tmp_path / f"model{ending}"
    for model, vectors in deep_and_many():
        model.export(path)
        try:
            verdict = verify(path, vectors)
        except MissingLibraryError as missing:
            pytest.skip(str(missing))
        assert verdict.is_equal, str(verdict)


def test_infinite_cells_are_rows_of_the_vectors_on_both_sides_of_their_cut():
    table = {"a": [-np.inf, -np.inf, 1.0, 2.0, 3.0, np.inf] * 3, "b": [0.0, 1.0, 2.0] * 6}
    model = tw.DecisionTreeClassifier().fit(table, list("aabbbb") * 3).model_
    found = vectors_of(model)
    beside = [row for row in found["rows"][-12:] if row[0] == "-inf"]  # the rows at the test itself come last
    assert beside, found["rows"][-12:]
    assert model.node(0).test.column == "a"


@pytest.mark.parametrize(("name", "imported"), [("rain.js", "./rain.js"), ("a b.mjs", "./a b.mjs")])
def test_a_javascript_module_tells_to_import_it_by_its_own_name(name, imported, tmp_path):
    tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, ["a", "b"]).model_.export(str(tmp_path / name))

    assert f'from "{imported}";' in (tmp_path / name).read_text().splitlines()[2]


def test_a_program_that_fails_in_silence_is_refused_with_its_exit_code():
    with pytest.raises(InputFileError, match="failed: it ended with the exit code 3 and no message: the program"):
        _output([sys.executable, "-c", "raise SystemExit(3)"], None)
