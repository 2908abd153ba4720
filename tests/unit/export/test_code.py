"""Source code of models, run by the real programs: sums have the same bits, and what cannot be said is refused."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
from export_models import CLASS, MODELS, NUMBER, RNG, TABLE, N
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.cli import app
from treewright.data.encoder import encode
from treewright.exceptions import ParameterError, TreewrightError
from treewright.export.code import LANGUAGES
from treewright.export.engines import ENGINES
from treewright.export.formats import FORMATS
from treewright.export.program import program_of
from treewright.export.vectors import vectors_of
from treewright.export.verify import read_vectors, verify
from treewright.predict.ensemble import combined, scores_of

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # cells go missing on purpose


def edge_rows(model):
    """Rows of the fit, and such as lie on and beside every cut, beyond all, missing, and of unknown levels."""
    program = program_of(model)
    table = {column.name: list(TABLE[column.name]) for column in model.schema.given}
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
    values = np.hstack(model.shares_of(matrix)) if model.classes else model.numbers_of(matrix).reshape(len(rows), -1)
    sums = scores_of(model, matrix) if model.has_scores else values if model.is_single_tree else combined(model, matrix)
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


@pytest.fixture(params=MODELS)
def model(request):
    made = MODELS[request.param]()
    return getattr(made, "model_", made)


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


def test_what_the_model_refuses_is_refused(tmp_path):
    whole = {"town": ["a", "b", "a", "c"], "x": [1.0, 2.0, 3.0, 4.0]}
    strict = tw.DecisionTreeRegressor(missing="error", unseen="error").fit(whole, [1.0, 2.0, 3.0, 4.0])
    strict.export(tmp_path / "m.py")
    exec((tmp_path / "m.py").read_text(), code := {})
    with pytest.raises(ValueError, match="column town: a level"):
        code["predict"](code["encode"]({"town": "z", "x": 1}))
    with pytest.raises(ValueError, match="column x: the model refuses missing"):
        code["predict"](code["encode"]({"town": "a", "x": None}))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tw.C45Classifier(nominal=["town"]).fit(TABLE, CLASS), "fractional"),
        (lambda: tw.AdaBoostRegressor(n_estimators=3).fit({"b": TABLE["b"]}, NUMBER), "median"),
        (lambda: tw.IsolationForest(n_estimators=3).fit(np.zeros((9, 2)) + np.arange(9)[:, None]), "isolation forest"),
        (
            lambda: tw.DecisionTreeRegressor().fit({"d": np.arange("2024-01", "2024-05", dtype="M8[M]")}, range(4)),
            "dates",
        ),
    ],
)
def test_what_code_cannot_say_is_refused_and_no_file_is_left(make, said, tmp_path):
    with pytest.raises(ParameterError, match=said):
        make().export(tmp_path / "m.c")
    assert not (tmp_path / "m.c").exists()


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
    assert app.EXPORTS.split(", ") == list(FORMATS)
    assert app.ENGINES.split(", ") == list(ENGINES)
    assert {engine for each in FORMATS.values() for engine in each.engines} == set(ENGINES)


@settings(deadline=None, max_examples=25, derandomize=True)
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
    for ending in (FORMATS[language].endings[0] for language in LANGUAGES):
        model.export(folder / f"m{ending}")
    exec((folder / "m.py").read_text(encoding="utf-8"), code := {})
    assert code["columns"] == names
    if shutil.which("node"):
        subprocess.run(["node", "--check", "m.js"], cwd=folder, check=True, timeout=60)
    if shutil.which("gcc"):
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
