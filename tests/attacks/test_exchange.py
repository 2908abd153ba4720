"""Exported and imported models: what a format cannot say is refused, and what was tampered with is no model."""

from __future__ import annotations

import json
import subprocess

import pytest

import treewright as tw
from treewright.exceptions import InputFileError, ParameterError
from treewright.exchange.verify import read_vectors


@pytest.fixture(scope="module")
def model():
    table = {"s": ["p", "q", "r"] * 10, "z": [at % 7 for at in range(30)]}
    return tw.DecisionTreeClassifier().fit(table, ["x", "y", "y"] * 10).model_


def test_whole_numbers_beyond_those_of_javascript_are_told_apart(tmp_path):
    labels = [9007199254740993, 9007199254740995, 5]
    tw.DecisionTreeClassifier().fit({"a": [1.0, 2.0, 3.0]}, labels).model_.export(tmp_path / "big.mjs")
    code = "import * as m from './big.mjs'; console.log([1, 2, 3].map((a) => m.predict([a])).join(' '))"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["9007199254740993", "9007199254740995", "5"]


@pytest.mark.parametrize(("levels", "told"), [(["a\0b", "a"], "NUL"), (["1", 1], "same string in C")])
def test_levels_that_c_does_not_tell_apart_are_refused(tmp_path, levels, told):
    model = tw.DecisionTreeClassifier(nominal=["s"]).fit({"s": levels * 10}, ["x", "y"] * 10).model_
    with pytest.raises(ParameterError, match=told):
        model.export(tmp_path / "m.c")
    assert not (tmp_path / "m.c").exists()


def test_vectors_do_not_take_the_place_of_the_model(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="the model itself"):
        model.export("same.json", vectors="./same.json")
    assert not (tmp_path / "same.json").exists()


def changed(model, path, change):
    model.export(path)
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["columns"][0]["levels"].__setitem__(2, None),
        lambda found: found["columns"][0].__setitem__("family", ["string"]),
        lambda found: found["columns"][1].__setitem__("family", -1),
        lambda found: found["targets"][0]["classes"].__setitem__(0, None),
        lambda found: found["targets"][0]["classes"].__setitem__(0, float("inf")),
        lambda found: found["facts"].__setitem__("odd", float("nan")),
    ],
)
def test_what_could_not_be_saved_is_not_read(model, tmp_path, change):
    path = changed(model, tmp_path / "m.json", change)
    with pytest.raises(InputFileError, match=r"m\.json"):
        tw.read_model(path)


def test_half_a_character_is_refused_by_name(model, tmp_path):
    path = changed(model, tmp_path / "m.json", lambda found: found["targets"][0]["classes"].__setitem__(0, "\ud800"))
    with pytest.raises(ParameterError, match="half a character"):
        tw.read_model(path).export(tmp_path / "out.json")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"target": 5}, "give a string"),
        ({"columns": 5}, "give a list"),
        ({"columns": ["a", "a"]}, "'a' occurs twice"),
        ({"columns": [["a"], ["b"]]}, "list of strings"),
        ({"classes": [[1], [2]]}, "list of strings"),
    ],
)
def test_odd_names_are_refused(model, tmp_path, options, told):
    model.export(tmp_path / "m.json")
    with pytest.raises(ParameterError, match=told):
        tw.read_model(tmp_path / "m.json", **options)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.__setitem__("answers", [[7] for _ in found["rows"]]),
        lambda found: found.__setitem__("answers", [["nan"] for _ in found["rows"]]),
        lambda found: found["classes"].append(["a"]),
        lambda found: found.__setitem__("classes", []),
        lambda found: found["rows"][0].__setitem__(1, 10**400),
        lambda found: found.__setitem__("rounding", 1e308),
    ],
)
def test_vectors_that_contradict_themselves_prove_nothing(model, tmp_path, change):
    model.export(tmp_path / "m.py", vectors=tmp_path / "v.json")
    found = json.loads((tmp_path / "v.json").read_text())
    change(found)
    (tmp_path / "v.json").write_text(json.dumps(found))
    with pytest.raises(InputFileError, match="not test vectors"):
        read_vectors(tmp_path / "v.json")


def test_a_link_to_itself_is_one_line(tmp_path, model):
    from typer.testing import CliRunner

    from treewright.cli.app import app

    model.save(tmp_path / "m.tw")
    (tmp_path / "loop.c").symlink_to(tmp_path / "loop.c")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "m.tw"), "--out", str(tmp_path / "loop.c")])
    assert (done.exit_code, done.stderr.strip().count("\n")) == (1, 0)


@pytest.mark.parametrize("made", ["columns", "trees"])
def test_onnx_files_that_double_again_and_again_are_refused(tmp_path, made):
    onnx = pytest.importorskip("onnx")
    tw.GradientBoostingRegressor(2, min_samples_leaf=1).fit({"a": [1.0, 2.0, 3.0]}, [1.0, 2.0, 5.0]).model_.export(
        tmp_path / "m.onnx"
    )
    found = onnx.load(tmp_path / "m.onnx")
    graph, helper = found.graph, onnx.helper
    at = next(at for at, node in enumerate(graph.node) if node.op_type == "TreeEnsemble")
    ensemble, place = graph.node[at], at if made == "columns" else at + 1
    last = ensemble.input[0] if made == "columns" else ensemble.output[0]
    for number in range(40):
        doubled = ("Concat", {"axis": 1}) if made == "columns" else ("Sum", {})
        graph.node.insert(place + number, helper.make_node(doubled[0], [last, last], [f"d{number}"], **doubled[1]))
        last = f"d{number}"
    if made == "columns":
        ensemble = next(node for node in graph.node if node.op_type == "TreeEnsemble")
        ensemble.input[0] = last
    onnx.save(found, tmp_path / "m.onnx")
    with pytest.raises(InputFileError, match=r"more (columns|trees) than are read"):
        tw.read_model(tmp_path / "m.onnx")
