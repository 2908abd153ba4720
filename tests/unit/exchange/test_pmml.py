"""Models as PMML, run by the JPMML evaluator: the same bits, the schema of PMML 4.4, texts that no XML changes."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from export_models import BEYOND, CLASS, HOW, MODELS, NUMBER, RNG, ROUNDS, TABLE, TWO, N
from hypothesis import given
from hypothesis import strategies as st
from rotating import few

import treewright as tw
from treewright.data.derived import DERIVED
from treewright.exceptions import InputFileError, ParameterError, TreewrightError
from treewright.exchange.engines import ENGINES, by_jpmml
from treewright.exchange.formats import exported
from treewright.exchange.verify import vectors_of, verify
from treewright.trees.data import ModelData

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # cells go missing on purpose
EVALUATOR = pytest.mark.skipif(
    find_spec("jpmml_evaluator") is None or shutil.which("java") is None,
    reason="the JPMML evaluator, or Java, is not installed",
)

# Several outputs, and what goes beyond sums.
REFUSED = ["two outputs", "extra-trees of two outputs", "quantiles", *BEYOND]
HOSTILE = [
    "", " ", " a", "a", "a ", "a\tb", "a\nb", "a\r\nb", "a\rb", "\u0085", "\u2028", "NaN", "true", "1", "1.0", "<&>\"'",
    "]]>", "N/A", "null", "two  spaces", "&#10;", "a\\", 'a\\"b', "\U0001f600", "\ufeffb", "é", "e\u0301", "unknown",
]  # fmt: skip


def surrogates_of_presence():
    """A tree of which tests and surrogates ask whether a cell is there at all."""
    model = MODELS["surrogate"]().model_
    [tree] = model.trees
    inf = np.where(np.arange(tree.n_nodes) % 2 == 0, np.inf, tree.threshold)
    surrogates = np.where(np.arange(len(tree.surrogate_node)) % 2 == 0, np.inf, tree.surrogate_threshold)
    tree = replace(
        tree,
        threshold=np.where(tree.kind == 1, inf, tree.threshold),
        surrogate_threshold=np.where(tree.surrogate_level_set < 0, surrogates, tree.surrogate_threshold),
    )
    return replace(model, trees=(tree,))


def surrogates_of_levels():
    """A tree of which surrogates ask levels that were not all at the node, with others behind them."""
    place = np.arange(N) % 5
    table = {
        "c": np.where(np.arange(N) % 3 == 0, np.nan, place + RNG.normal(0, 0.3, N)),
        "sky": [None if at % 7 == 0 else f"sky {place[at]}" for at in range(N)],
        "town": [f"town {town}" for town in place],
    }
    how = {"missing": "surrogate", "unseen": "majority", "nominal": ["sky", "town"]}
    return tw.DecisionTreeRegressor(**how).fit(table, place + RNG.normal(0, 0.1, N))


def zeros_and_infinities():
    """A tree with a cut at -0.0."""
    cells = [-np.inf, -1.0, -0.0, 5e-324, 1.0, np.inf] * 9
    model = tw.DecisionTreeRegressor().fit({"x": cells}, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 9).model_
    [tree] = model.trees
    assert (tree.threshold[~tree.is_leaf] == 0).any()
    return replace(model, trees=(replace(tree, threshold=np.where(tree.threshold == 0, -0.0, tree.threshold)),))


def hostile(n=400):
    texts = [HOSTILE[at] for at in RNG.integers(0, len(HOSTILE), n)]
    return {"x <&\"'>\n ": texts, " x": texts[::-1], "probability(a)": list(range(n))}, texts


def table_of_hostile_labels():
    table, texts = hostile()
    return tw.DecisionTreeClassifier(nominal="all").fit(table, [text or "none" for text in texts])


def whole():
    return {"town": ["a", "b", "a", "c"], "x": [1.0, 2.0, 3.0, 4.0]}


OTHERS: dict[str, Callable] = {
    "members": lambda: tw.GradientBoostingRegressor(n_members=2, **ROUNDS).fit(TABLE, NUMBER),
    "surrogates of levels": surrogates_of_levels,
    "surrogates of presence": surrogates_of_presence,
    "hostile levels": lambda: tw.DecisionTreeRegressor(nominal="all").fit(
        hostile()[0], np.random.default_rng(1).normal(size=400)
    ),
    "hostile labels": table_of_hostile_labels,
    "whole labels": lambda: tw.RandomForestClassifier(3, random_state=0).fit({"b": TABLE["b"]}, RNG.integers(0, 4, N)),
    "large labels": lambda: tw.DecisionTreeClassifier().fit({"b": TABLE["b"]}, (TABLE["b"] * 10**10).astype(int)),
    "a leaf": lambda: tw.DecisionTreeRegressor().fit({"b": TABLE["b"]}, np.full(N, 0.1)),
    "zeros and infinities": zeros_and_infinities,
    "typed levels": lambda: tw.DecisionTreeRegressor(nominal="all").fit(
        {"i": [1, 2, 3, 4] * 9, "t": [True, False, False, True] * 9, "f": [0.5, 2.0, 1e20, -0.0] * 9}, list(range(36))
    ),
    "a boosted threshold": lambda: MODELS["two classes"]().model_.with_threshold(0.8, positive=True),
    "large scores": lambda: tw.GradientBoostingClassifier(n_estimators=1, random_state=0).fit({"b": TABLE["b"]}, TWO),
    "nothing allowed": lambda: tw.DecisionTreeRegressor(missing="error", unseen="error").fit(
        whole(), [1.0, 2.0, 3.0, 4.0]
    ),
}
ALL: dict[str, Callable] = {**MODELS, **OTHERS}
for name in REFUSED:
    del ALL[name]


NAMES = sorted({*few(list(ALL), 8), "tree", "nothing allowed"})  # those two are asked by name


def model_of(name) -> ModelData:
    made = ALL[name]()
    model = getattr(made, "model_", made)
    if name == "large scores":  # shares of such scores end at a bound, never at 0
        model = replace(model, boosting=replace(model.boosting, base=(900.0,)))
    return model


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, tuple[Path, dict]]:
    """The models that a run looks at, as files with their vectors."""
    folder = tmp_path_factory.mktemp("pmml")
    found = {}
    for at, name in enumerate(NAMES):
        model = model_of(name)
        (path := folder / f"{at}.pmml").write_bytes(written(model))
        found[name] = path, vectors_of(model)
    return found


def written(model) -> bytes:
    return exported(model, "m.pmml", "mine")


@pytest.fixture(scope="module")
def said(files, tmp_path_factory):
    """What the evaluator says of all files, and of one with a leaf changed: Java starts once."""
    path, vectors = files["tree"]
    broken = path.with_name("broken.pmml")
    text = path.read_text(encoding="utf-8")
    broken.write_text(text.replace('operator="lessOrEqual"', 'operator="lessThan"'), encoding="utf-8")
    jobs = {**files, "broken": (broken, vectors)}
    return dict(zip(jobs, by_jpmml(list(jobs.values()), tmp_path_factory.mktemp("run")), strict=True))


@EVALUATOR
@pytest.mark.parametrize("name", NAMES)
def test_the_evaluator_says_the_same(name, files, said, monkeypatch):
    monkeypatch.setitem(ENGINES, "pmml", lambda *_: said[name])
    verdict = verify(*files[name])
    assert verdict.n_unequal == 0, str(verdict)  # sums are equal to the bit
    assert verdict.is_equal, str(verdict)


@EVALUATOR
def test_a_cut_asked_otherwise_is_found(files, said, monkeypatch):
    monkeypatch.setitem(ENGINES, "pmml", lambda *_: said["broken"])
    assert not verify(*files["tree"]).is_equal


@EVALUATOR
def test_answers_are_those_of_predict_to_the_class(files, said):
    # ``verify`` lets ties go; the evaluator, too, takes the first of the largest shares, or goes by the threshold.
    for name, (_, vectors) in files.items():
        if vectors["classes"]:
            assert said[name][:, -1].tolist() == [code for [code] in vectors["answers"]], name


def test_made_columns_of_all_kinds_are_asked():
    model = model_of("made columns")
    asked = {model.schema.columns[at].part for tree in model.trees for at in tree.feature[~tree.is_leaf].tolist()}
    assert asked >= set(DERIVED)


@EVALUATOR
@pytest.mark.parametrize(("row", "field"), few([([3.0, 1.0], "town"), ([0.0, "nan"], "x")], 1))
def test_what_the_model_refuses_the_evaluator_refuses(files, tmp_path, row, field):
    path, vectors = files["nothing allowed"]

    with pytest.raises(InputFileError, match=field):
        by_jpmml([(path, vectors | {"rows": [row]})], tmp_path)


@EVALUATOR
@pytest.mark.parametrize("name", NAMES)
def test_files_are_of_the_schema(name, files):
    etree = pytest.importorskip("lxml.etree", reason="lxml checks the schema")
    import jpmml_evaluator

    [jar] = (Path(jpmml_evaluator.__file__).parent / "dependencies").glob("pmml-model-1*.jar")
    with zipfile.ZipFile(jar) as packed:
        schema = etree.XMLSchema(etree.fromstring(packed.read("pmml.xsd")))
    schema.assertValid(etree.parse(str(files[name][0])))


@given(
    names=st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=4, unique=True),
    level=st.text(max_size=20),
    target=st.text(max_size=5),
)
def test_names_and_levels_come_back_from_the_file_or_are_refused(names, level, target):
    levels = sorted({level, "b", "c"})
    try:
        model = tw.DecisionTreeClassifier(nominal="all").fit(
            {name: [*levels, *levels] for name in names}, [f"is {level}" for level in levels * 2]
        )
    except TreewrightError:
        return  # names or levels that no table may have
    named = replace(model.model_, target_names=(target,))
    if any(
        (sign < " " and sign not in "\t\n\r") or sign in "\ufffe\uffff" for sign in "".join([*names, level, target])
    ):
        with pytest.raises(ParameterError, match="XML"):
            written(named)
        return
    found = written(named)
    fields = ET.fromstring(found).find("{*}DataDictionary").findall("{*}DataField")
    assert [field.get("name") for field in fields[:-1]] == names
    for field in fields[:-1]:
        assert [value.get("value") for value in field] == levels
    assert len({field.get("name") for field in fields}) == len(fields)
    assert [value.get("value") for value in fields[-1]] == [f"is {level}" for level in levels]
    cells = [cell.text or "" for cell in ET.fromstring(found).iter("{http://www.dmg.org/PMML-4_4}cell")]
    assert cells == levels * (len(cells) // len(levels))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (MODELS["two outputs"], "several outputs"),
        (MODELS["quantiles"], "several outputs"),
        *((MODELS[name], "does not support that") for name in ("divided", "median", "isolation")),
        (lambda: tw.DecisionTreeClassifier(nominal="all").fit({"t": ["a\x00", "b"]}, [0, 1]), r"column 't'.*a\\x00"),
        (lambda: tw.DecisionTreeClassifier().fit({"\x1b": [1, 2]}, [0, 1]), r"column '\\x1b' holds characters"),
        (lambda: tw.DecisionTreeClassifier().fit({"x": [1, 2]}, ["\ufffe", "b"]), r"class '\\ufffe' holds characters"),
        (lambda: tw.DecisionTreeClassifier().fit({"": [1, 2]}, [0, 1]), "does not allow a column with the name ''"),
        (lambda: tw.DecisionTreeClassifier().fit({"x": [1, 2]}, ["", "b"]), "does not allow a class with the name ''"),
        (
            lambda: tw.DecisionTreeRegressor(nominal="all").fit({"t": [1, "1", 2]}, [0, 1, 2]),
            "'1' occurs twice as text",
        ),
        (lambda: tw.RandomForestClassifier(2).fit({"x": [1, 2]}, ["a", "a"]), "a single class"),
    ],
)
def test_what_pmml_cannot_say_is_refused(make, said, tmp_path):
    made = make()
    with pytest.raises(ParameterError, match=said):
        getattr(made, "model_", made).export(tmp_path / "m.pmml")
    assert not (tmp_path / "m.pmml").exists()


def test_a_name_that_xml_cannot_hold_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"name 'a\\x00b' holds characters"):
        MODELS["tree"]().model_.export(tmp_path / "m.pmml", name="a\0b")


def test_a_chain_of_20000_tests_is_written(chain_model):
    assert written(chain_model(20_000)).count(b"</Node>") == 40_001


def test_a_target_that_is_called_as_a_column_gets_another_name():
    model = replace(MODELS["tree"]().model_, target_names=("town",))
    fields = ET.fromstring(written(model)).find("{*}DataDictionary")
    assert [field.get("name") for field in fields] == [*TABLE, "town (2)"]


def test_classes_keep_their_kind():
    for labels, kind in ((CLASS, "string"), (TWO, "boolean"), (TWO.astype(int), "integer"), (TWO * 1.0, "double")):
        model = tw.DecisionTreeClassifier(**HOW).fit(TABLE, labels).model_
        assert ET.fromstring(written(model)).find("{*}DataDictionary")[-1].get("dataType") == kind
