"""Models as ONNX, run by onnxruntime: sums have the same bits where no addition rounds."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from export_models import BEYOND, CLASS, MODELS, TABLE, TOWNS
from hypothesis import given
from hypothesis import strategies as st
from rotating import crossed, few

import treewright as tw
from treewright.data.derived import level_pairs, linear_score, pairs_of, rows_of_levels, with_derived
from treewright.data.encoder import encode_fit
from treewright.exceptions import MissingLibraryError, ParameterError, TooLargeError, TreewrightError
from treewright.exchange import to_onnx as writer
from treewright.exchange.code import program_of
from treewright.exchange.engines import ENGINES
from treewright.exchange.formats import FORMATS, exported
from treewright.exchange.to_onnx import onnx_of
from treewright.exchange.verify import ulps_between, vectors_of, verify

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # cells go missing on purpose

spec = spec_from_file_location("models_of_test_code", Path(__file__).with_name("test_code.py"))
code = module_from_spec(spec)
spec.loader.exec_module(code)

VERSIONS = {"onnx": 5, "onnx-v3": 3}
RNG = np.random.default_rng(5)


def session_of(data):
    return onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])


def said_by_onnx(program, version, rows, folder, classes):
    """What the engine reads out of the file: sums, values and codes."""
    data = onnx_of(program, "model", is_matrix=False, version=version)
    (folder / "m.onnx").write_bytes(data)
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    return ENGINES["onnxruntime"](folder / "m.onnx", folder, {"rows": code.texts_of(rows), "classes": classes})


def said_by_python(program, rows):
    """Sums, values and codes of the program's evaluator in Python."""
    from treewright.exchange.code import PYTHON, written

    exec(written(program, PYTHON, "model"), own := {})
    found = []
    for row in rows.tolist():
        labels = own["predict"](row) if own["classes"] else []
        labels = labels if isinstance(labels, list) else [labels]
        codes = [known.index(label) for known, label in zip(own["classes"], labels, strict=True)]
        found.append([*own["sums"](row), *own["values"](row), *codes])
    return np.array(found)


def agree(program, version, rows, folder):
    """Equal sums and codes, and values but for the last places of exp."""
    found, wanted = said_by_onnx(program, version, rows, folder, program.classes), said_by_python(program, rows)
    n = program.n_sums
    assert np.array_equal(found[:, :n], wanted[:, :n], equal_nan=True)
    assert ulps_between(found[:, n : n + program.n_values], wanted[:, n : n + program.n_values]).max() <= 4
    assert np.array_equal(found[:, n + program.n_values :], wanted[:, n + program.n_values :])


@pytest.fixture(params=few([key for key in MODELS if key != "members" and key not in BEYOND], 6), scope="module")
def model(request):
    made = MODELS[request.param]()
    return getattr(made, "model_", made)


@pytest.mark.parametrize("version", [5, 3])
def test_onnxruntime_says_the_same(model, version, tmp_path):
    agree(program_of(model), version, code.edge_rows(model), tmp_path)


@pytest.mark.parametrize("name", few(list(VERSIONS), 1))
def test_thousands_of_trees_add_up_to_the_same_bits(name, tmp_path):
    MODELS["members"]().model_.export(tmp_path / "m.onnx", format=name, vectors=tmp_path / "v.json")
    verdict = verify(tmp_path / "m.onnx", json.loads((tmp_path / "v.json").read_text()))
    assert verdict.is_equal, str(verdict)


@pytest.mark.parametrize(("name", "key"), crossed(VERSIONS, few([key for key in MODELS if key not in BEYOND], 6)))
def test_verify_finds_models_equal_to_the_bit(name, key, tmp_path):
    made = MODELS[key]()
    made = getattr(made, "model_", made)
    (tmp_path / "m.onnx").write_bytes(exported(made, "m.onnx", "model", name))
    verdict = verify(tmp_path / "m.onnx", vectors_of(made), "onnxruntime")
    assert verdict.is_equal, str(verdict)
    # Only exp may differ: by 2 units in the last place, and what divides by its sum.
    assert verdict.ulps <= (4 if made.has_scores and made.boosting.link in ("classes", "log") else 0)


@pytest.mark.parametrize("version", [5, 3])
@pytest.mark.parametrize("unseen", ["missing", "majority"])
def test_columns_made_of_others_are_worked_out(version, unseen, tmp_path):
    table = {
        "a": TABLE["a"],
        "b": TABLE["b"] - 2,
        "town": TABLE["town"],
        "sky": RNG.choice(["x", "y", "z"], 240).tolist(),
    }
    schema, matrix = encode_fit(table)
    slopes = (0.1, -1.0, 1.5, 0.7, 0.3, 0.0, 4.0, -0.2, 0.9, *np.linspace(-1, 1, 6), 1.1, 2.2, 3.3, 4.4)
    wide = with_derived(
        schema,
        [
            rows_of_levels(schema, 2, matrix[:, 2], None), *pairs_of(schema, [0, 1]),
            level_pairs(schema, 2, 3, matrix), linear_score("score", (0, 1, 2, 3), slopes),
        ],
    )  # fmt: skip
    numeric = [at for at in range(4, len(wide)) if wide.columns[at].kind == "numeric"]
    model = tw.DecisionTreeRegressor(nominal=["town", "sky"], unseen=unseen, max_depth=5).fit(
        table, np.nan_to_num(TABLE["a"]) * TABLE["b"]
    )
    program = program_of(model.model_)
    cuts = np.flatnonzero(program.tables.kind == 1)
    feature, threshold = program.tables.feature.copy(), program.tables.threshold.copy()
    feature[cuts] = [numeric[at % len(numeric)] for at in range(len(cuts))]
    threshold[cuts] = RNG.normal(size=len(cuts)) * 2
    # The root asks for the levels together: a set of those with an even code.
    kind, words, level_set = program.tables.kind.copy(), program.tables.words, program.tables.level_set.copy()
    together = next(at for at in range(4, len(wide)) if wide.columns[at].kind == "nominal")
    root = 0
    kind[root], feature[root], level_set[root] = 2, together, len(words)
    words = np.concatenate(
        [words, np.full(len(wide.columns[together].levels) // 64 + 1, 0x5555555555555555, np.uint64)]
    )
    tables = program.tables._replace(kind=kind, feature=feature, threshold=threshold, words=words, level_set=level_set)
    program = replace(program, columns=wide.columns, tables=tables)
    rows = np.vstack([
        matrix[:120],
        np.column_stack([
            RNG.choice(cells, 200) for cells in (
                [0.0, -1.0, 1.5, np.nan, np.inf, 9.0], [0.0, -0.0, 2.0, np.nan], [0, 1, 4, 5, np.nan], [0, 2, 3, np.nan]
            )
        ]),
    ])  # fmt: skip
    agree(program, version, rows, tmp_path)


@pytest.mark.parametrize(("n_levels", "version"), crossed([30, 31, 32, 33, 64, 65, 1000, 5000], [5, 3]))
def test_sets_of_any_size_are_asked_for(n_levels, version, tmp_path):
    levels = np.array([f"level {at}" for at in range(n_levels)])
    place = RNG.integers(0, n_levels, 6000)
    town = [None if RNG.random() < 0.05 else level for level in levels[place]]
    y = RNG.normal(size=n_levels)[place]
    how = {"nominal_splits": "subset", "min_samples_leaf": 100, "nominal": ["town"]}
    model = tw.DecisionTreeRegressor(**how).fit({"town": town}, y).model_
    known = len(model.schema.columns[0].levels)
    codes = np.array([*np.unique(RNG.integers(0, known, 400)), 0, known - 1, known, np.nan])[:, None]
    assert (program_of(model).tables.kind == 2).any()
    agree(program_of(model), version, codes, tmp_path)


@pytest.mark.parametrize("version", [5, 3])
def test_a_branch_for_each_of_5000_levels_is_no_deep_tree(version, tmp_path):
    table, y = {"town": [f"level {at % 5000}" for at in range(6000)]}, [str(at % 3) for at in range(6000)]
    model = tw.ID3Classifier(nominal="all").fit(table, y).model_
    agree(program_of(model), version, np.array([0, 1, 2499, 4999, 5000, np.nan])[:, None], tmp_path)


def deep_program(n):
    """A chain of n tests: is x up to 0, 1, 2, ...?"""
    program = program_of(tw.DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).model_)
    inner, nodes = np.arange(0, 2 * n, 2), np.arange(2 * n + 1)
    kind, first, threshold = np.zeros(2 * n + 1, np.uint8), np.full(2 * n + 1, -1), np.zeros(2 * n + 1)
    kind[inner], first[inner], threshold[inner] = 1, inner + 1, inner / 2
    tables = program.tables._replace(
        kind=kind, first_child=first, threshold=threshold, feature=np.where(kind == 1, 0, -1),
        n_branches=np.where(kind == 1, 2, 0), missing_branch=0 * nodes, level_set=0 * nodes,
    )  # fmt: skip
    leaf = np.flatnonzero(kind == 0)
    content_of = np.full(2 * n + 1, -1)
    content_of[leaf] = np.arange(n + 1)
    return replace(
        program, tables=tables, surrogates=program.surrogates._replace(begins=np.zeros(2 * n + 2, np.int64)),
        roots=np.array([0, 2 * n + 1]), content_of=content_of, contents=np.arange(n + 1.0)[:, None],
    )  # fmt: skip


def test_the_deepest_tree_that_is_written_is_read_on_a_stack_of_1_mb(tmp_path):
    program = deep_program(writer._MOST_DEPTH)
    (tmp_path / "m.onnx").write_bytes(onnx_of(program, "model", is_matrix=True))
    script = (
        "import sys, threading, numpy as np, onnxruntime\n"
        "def run():\n"
        "    session = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])\n"
        "    print(session.run(None, {'X': np.array([[0.0], [7.0]])})[0].ravel().tolist())\n"
        "threading.stack_size(2**20)\nthread = threading.Thread(target=run)\nthread.start()\nthread.join()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "m.onnx")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == "[0.0, 7.0]", done.stderr


@pytest.mark.parametrize("version", [5, 3])
def test_a_tree_deeper_than_onnxruntime_reads_is_refused(version, monkeypatch):
    program = deep_program(40)
    monkeypatch.setattr(writer, "_MOST_DEPTH", 39)
    with pytest.raises(ParameterError, match="tree 0 has more than 39 tests in a row"):
        onnx_of(program, "model", is_matrix=True, version=version)


@pytest.mark.parametrize("version", few([5, 3], 1))
def test_2000_small_trees_say_the_same(version, tmp_path):
    X = RNG.normal(size=(300, 3))
    X[::7, 1] = np.nan
    model = tw.RandomForestClassifier(2000, max_depth=2, random_state=0).fit(X, X[:, 0] > X[:, 2]).model_
    agree(
        program_of(model),
        version,
        np.vstack([X[:7], [[np.inf, -np.inf, np.nan], [-0.0, 0.0, 1e308]]]),
        tmp_path,
    )


def test_a_root_whose_two_ways_have_one_number_is_no_leaf(tmp_path):
    # Some releases of onnxruntime take such a root for a leaf (#24679): no root looks like that.
    found = []
    for seed in range(30):
        X = np.random.default_rng(seed).normal(size=(20, 2))
        model = tw.ExtraTreesRegressor(5, random_state=seed).fit(X, X[:, 0]).model_
        graph = onnx.load_from_string(onnx_of(program_of(model), "model", is_matrix=True)).graph
        (node,) = [each for each in graph.node if each.op_type == "TreeEnsemble"]
        held = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        for root in held["tree_roots"]:
            same = held["nodes_truenodeids"][root] == held["nodes_falsenodeids"][root]
            assert not same
            found.append(held["nodes_trueleafs"][root] != held["nodes_falseleafs"][root])
    assert any(found)  # roots with one leaf


def test_columns_go_by_their_names_and_texts():
    made = MODELS["tree"]()
    session = session_of(exported(made.model_, "m.onnx", "model"))
    assert [(each.name, each.type) for each in session.get_inputs()] == [
        ("a", "tensor(double)"), ("b", "tensor(double)"), ("town", "tensor(string)"), ("rank", "tensor(string)")
    ]  # fmt: skip
    cells = {"a": TABLE["a"][:, None], "b": TABLE["b"][:, None]}
    cells |= {name: np.array([[cell or ""] for cell in TABLE[name]]) for name in ("town", "rank")}
    labels, shares, _ = session.run(["label", "probabilities", "scores"], cells)
    assert labels.tolist() == made.predict(TABLE).tolist()
    assert np.array_equal(shares, made.predict_proba(TABLE))
    facts = session.get_modelmeta().custom_metadata_map
    assert facts["treewright"] == tw.__version__
    assert json.loads(facts["columns"])[2] == {
        "name": "town", "kind": "nominal", "holds": "string", "input": "town", "levels": sorted(TOWNS), "missing": "",
    }  # fmt: skip
    assert json.loads(facts["classes"]) == [sorted(set(CLASS.tolist()))]


def test_a_matrix_without_names_is_one_input():
    X = RNG.normal(size=(50, 4))
    made = tw.RandomForestRegressor(16, random_state=0, bootstrap=False).fit(X, np.round(X[:, 0]))
    session = session_of(exported(made.model_, "m.onnx", "model"))
    assert [(each.name, each.shape) for each in session.get_inputs()] == [("X", ["N", 4])]
    assert np.array_equal(session.run(["values"], {"X": X})[0].ravel(), made.predict(X))
    assert session.run(["values"], {"X": X[:0]})[0].shape == (0, 1)


@pytest.mark.parametrize("labels", [[1, 2], [False, True], [1.0, 2.0], ["a", "b"], [2**63, 2**63 + 5]])
def test_labels_keep_their_type(labels):
    y = np.array(labels)[[0, 1, 1, 0]]
    made = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0, 3.0, 0.0]}, y)
    said = session_of(exported(made.model_, "m.onnx", "model")).run(["label"], {"x": np.array([[0.0], [9.0]])})[0]
    wanted = [y[0], y[1]] if labels[0] != 2**63 else [str(labels[0]), str(labels[1])]  # beyond int64: texts
    assert said.tolist() == wanted


def test_columns_may_be_called_as_outputs_are_and_a_level_may_be_empty(tmp_path):
    table = {
        "label": ["", "missing", "b", None] * 5,
        "/0": [1.0, 2.0, 3.0, 4.0] * 5,
        "probabilities": ["u", "v", "u", "w"] * 5,
    }
    model = tw.DecisionTreeClassifier(nominal=["label", "probabilities"]).fit(table, ["p", "q", "r", "s"] * 5).model_
    session = session_of(exported(model, "m.onnx", "model"))
    assert [each.name for each in session.get_outputs()] == ["label (2)", "probabilities (2)", "scores"]
    (tmp_path / "m.onnx").write_bytes(exported(model, "m.onnx", "model"))
    assert json.loads(session.get_modelmeta().custom_metadata_map["columns"])[0]["missing"] == "missing (2)"
    assert verify(tmp_path / "m.onnx", vectors_of(model)).is_equal


@pytest.mark.parametrize("name", VERSIONS)
def test_the_same_model_has_the_same_bytes(name):
    model = MODELS["forest"]().model_
    assert exported(model, "m.onnx", "model", name) == exported(model, "m.onnx", "model", name)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: tw.DecisionTreeRegressor(unseen="error", nominal="all").fit({"t": ["a", "b"]}, [1, 2]),
            "unseen='error'",
        ),
        (lambda: tw.DecisionTreeRegressor(missing="error").fit({"t": [1.0, 2.0]}, [1, 2]), "missing='error'"),
        (lambda: tw.DecisionTreeRegressor(nominal="all").fit({"t": ["a\0", "b"]}, [1, 2]), "holds NUL"),
        (lambda: tw.DecisionTreeRegressor(nominal="all").fit({"t": [1, "1"]}, [1, 2]), "the same as texts"),
    ],
)
def test_what_onnx_cannot_say_is_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        exported(make().model_, "m.onnx", "model")


def test_a_file_of_more_than_2_gb_is_refused(monkeypatch):
    monkeypatch.setattr(writer, "_MOST_BYTES", 500)
    with pytest.raises(TooLargeError, match="2 GB"):
        exported(MODELS["tree"]().model_, "m.onnx", "model")


def test_more_answers_than_float32_numbers_are_refused(monkeypatch):
    monkeypatch.setattr(writer, "_MOST_WHOLE", 3)
    with pytest.raises(ParameterError, match="use format 'onnx'"):
        exported(MODELS["surrogate"]().model_, "m.onnx", "model", "onnx-v3")


def test_without_the_package_it_is_said_what_to_install(monkeypatch, tmp_path):
    model = MODELS["id3"]().model_
    (tmp_path / "m.onnx").write_bytes(exported(model, "m.onnx", "model"))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingLibraryError, match=r"pip install \"treewright\[onnx\]\""):
        exported(model, "m.onnx", "model")
    monkeypatch.setattr("treewright.exchange.engines.find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r"treewright\[onnx\]"):
        verify(tmp_path / "m.onnx", vectors_of(model))


def test_a_file_that_is_no_model_is_told_of(tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"no model")
    with pytest.raises(TreewrightError, match=r"python\S* failed"):
        verify(tmp_path / "m.onnx", vectors_of(MODELS["id3"]().model_))


def test_both_formats_are_offered_and_the_ending_means_the_newer():
    assert FORMATS["onnx"].endings == (".onnx",)
    assert FORMATS["onnx-v3"].endings == ()


@given(
    names=st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=4, unique=True),
    levels=st.lists(st.text(max_size=20), min_size=3, max_size=3, unique=True),
)
def test_any_name_and_level_is_read_back(names, levels):
    one, two, three = levels
    table = {name: [one, two, one, three] for name in names}
    try:
        model = tw.DecisionTreeClassifier(nominal="all").fit(table, [one, two, one, three]).model_
        data = exported(model, "m.onnx", "model")
    except TreewrightError:
        assert any("\0" in text for text in levels + names) or model_refuses(table, levels)
        return
    session = session_of(data)
    assert [each.name for each in session.get_inputs()] == names
    cells = {name: np.array([[text] for text in levels], object) for name in names}
    assert session.run(None, cells)[0].tolist() == levels


def model_refuses(table, levels):
    """Whether no model may have these names or levels."""
    try:
        tw.DecisionTreeClassifier(nominal="all").fit(table, [levels[0], levels[1], levels[0], levels[2]])
    except TreewrightError:
        return True
    return False
