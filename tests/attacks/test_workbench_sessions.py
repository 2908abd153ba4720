"""Sessions under attack: each was once a wrong answer, a lost log or a crash."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treewright as tw
from treewright.exceptions import ColumnError, DataWarning, InputFileError, ParameterError, TreewrightError
from treewright.trees.codec import dumps
from treewright.workbench.screen import Desk
from treewright.workbench.session import file_options

Session = tw.workbench.Session
X = {"x": np.arange(40.0) % 7}
Y = ["a", "b"] * 20


def rebuilt(session, **names):
    exec(session.script(), names)
    return names["model"]


def saved_again(session, tmp_path, *data):
    session.save(tmp_path / "s.json")
    return Session.load(tmp_path / "s.json", *data)


def test_the_script_weighs_rows():
    weights = np.arange(40) + 1.0
    session = Session(X, Y, weights, held_out=0)
    session.split("", "x", cut=3)
    assert dumps(rebuilt(session, X=X, y=Y, w=weights)) == dumps(session.model)


def test_names_that_are_no_texts_are_saved(tmp_path):
    labels = np.array([0, 1] * 20)
    session = Session(X, labels, held_out=0, class_weight={0: 1, 1: 9})
    again = saved_again(session, tmp_path, X, labels)
    assert again.model.predict(X).tolist() == session.model.predict(X).tolist() == [1] * 40
    table = pd.DataFrame({0: ["low", "high"] * 20, 1: np.arange(40) % 9})
    ranked = Session(table, Y, held_out=0, ordinal={0: ["low", "high"]})
    ranked.split("", 0, cut="low")
    assert dumps(saved_again(ranked, tmp_path, table, Y).model) == dumps(ranked.model)


@pytest.mark.parametrize("path", [0, None, [], False, 0.1, "0_0", " 0", "+0", "٠", "-1", "0."])
def test_a_path_is_a_text(path):
    session = Session(X, Y, held_out=0)
    session.split("", "x", cut=3)
    with pytest.raises(ParameterError, match="give branches with dots"):
        session.prune(path)
    assert session.leaves() == ["0", "1"]


def test_what_a_command_does_not_take_is_refused():
    session = Session(X, Y, held_out=0)
    session.split("", "x", cut=3)
    session.lock("0")
    with pytest.raises(ParameterError, match="prune takes no 'rest'"):
        session.command("prune", "", {"rest": True})
    with pytest.raises(ParameterError, match="grow takes no 'levls'"):
        session.command("grow", "", {"levls": 1})
    assert session.leaves() == ["0", "1"]
    document = session.to_dict()
    document["commands"] = [{"do": "lock", "path": "", "given": {"why=print('INJECTED'), who": ""}}]
    with pytest.raises(ParameterError, match="lock takes no"):
        Session.from_dict(document, X, Y)
    with pytest.raises(InputFileError, match="is damaged"):
        file_options({"path": "t.csv", "target": "y", "who=print('INJECTED'), looks": 1}, "s.json")
    with pytest.raises(InputFileError, match="is damaged"):
        file_options({"path": "t.csv", "target": "y", "types": 5}, "s.json")
    for values in ({"levels": 1, "leaves": 5}, {"leaves": 0}):
        with pytest.raises(ParameterError, match=r"levels=|leaves="):
            session.grow("1", **values)
    with pytest.raises(TypeError, match="because"):
        session.prune("1", because="x")


def test_no_file_is_written_over(tmp_path):
    place = tmp_path / "data.csv"
    place.write_text("mine")
    desk = Desk(Session(X, Y, held_out=0), save_to=str(place))
    assert "exists already" in desk.ask({"ask": "state"})["warning"]
    assert place.read_text() == "mine"
    assert json.loads((tmp_path / "data-2.json").read_text())["document"] == "treewright session"
    # Two that go on with one file: the second is told, and saved beside it.
    session = Session(X, Y, held_out=0)
    session.save(tmp_path / "s.json")
    known = (tmp_path / "s.json").read_bytes()
    one, other = (Desk(Session(X, Y, held_out=0), save_to=str(tmp_path / "s.json"), known=known) for _ in range(2))
    one.ask({"ask": "do", "do": "lock", "path": "", "given": {}, "revision": 0})
    held = (tmp_path / "s.json").read_bytes()
    assert "changed by somebody else" in other.save()["warning"]
    assert (tmp_path / "s.json").read_bytes() == held
    assert other.is_saved
    assert other.bye()["saved"].endswith("s-2.json")


def test_a_script_says_who_decided():
    session = Session(X, Y, held_out=0, sealed=0.2, who="Ann")
    session.split("", "x", cut=3)
    session.who = "Bob"
    session.lock("0")
    session.open_sealed(why="the end")
    assert [command.who for command in session.log] == ["Ann", "Bob"]
    model = rebuilt(session, X=X, y=Y)
    assert dumps(model) == dumps(session.model)
    assert model.facts["workbench"]["sealed_rows"]["who"] == "Bob"
    again = Session.from_dict(session.to_dict(), X, Y)
    assert (again.who, again.opened) == ("Bob", session.opened)


ROWS = {"x": np.repeat(np.arange(10.0), 3), "z": np.tile([0.0, 1.0, 2.0], 10)}
TARGET = ["n", "y", "y"] * 10


def test_nodes_that_lose_their_rows_end_the_tree(tmp_path):
    session = Session(ROWS, TARGET, held_out=0, numeric=["x", "z"])
    session.split("", "x", cut=5.5)
    session.split("0", "x", cut=2.5)
    session.split("0.1", "z", cut=0.5)
    session.lock("0.1.1")
    session.unlock("0.1.1")
    session.rename("0.1.1", "gone")
    session.move("", cut=2.2)
    session.model.save(tmp_path / "m.tw")
    assert session.model.trees[0].n_leaves == 3
    assert session.costs()
    assert "state" in Desk(session).ask({"ask": "state"})
    with pytest.raises(ParameterError, match="is below a node without rows"):
        session.node("0.1.1")
    with pytest.raises(ParameterError, match="no row reaches this node"):
        session.decide("0.1", "n", why="law")
    session.move("", cut=5.5)
    assert session.node("0.1.1") > 0
    session.decide("0.1.0", "n", why="law")
    session.move("", cut=2.2)
    session.decide("0.1.0", None, why="no row comes here any more")  # what has no effect can be taken back
    session.undo()
    assert session.model.facts["workbench"]["decided"] == {}
    grown = Session(ROWS, TARGET, held_out=0, numeric=["x", "z"])
    grown.grow()
    for cut in np.arange(0.5, 9.5):
        moved = Session(ROWS, TARGET, held_out=0, numeric=["x", "z"])
        moved.replay(grown.log)
        if moved.ground.columns[moved.plan.test.feature].name == "x":
            moved.move("", cut=float(cut))
        assert dumps(moved.model)
    with pytest.raises(ParameterError, match="an empty list makes a branch"):
        Session({"h": list("abc") * 5}, Y[:15], held_out=0).split("", "h", levels=[["a"], ["b", "c"], []])


def test_a_model_of_weighted_classes_is_taken_up_with_its_weights():
    tree = tw.DecisionTreeClassifier(max_depth=3, class_weight={"a": 1, "b": 9}).fit(X, Y)
    session = Session.from_model(tree, X, Y, held_out=0)
    assert (session.model.predict(X) == tree.predict(X)).all()
    with pytest.warns(DataWarning, match="predicts differently from the model for 40 of 40 rows"):
        Session.from_model(tree, X, Y, held_out=0, class_weight={"a": 9, "b": 1})
    letters = {"h": list("aab") * 13 + ["b"]}
    refusing = tw.DecisionTreeClassifier(unseen="error").fit(letters, Y)
    taken = Session.from_model(refusing, letters, Y, held_out=0).model
    with pytest.raises(TreewrightError, match="c"):
        taken.predict({"h": ["c"]})


def test_what_is_left_of_merged_branches_asks_whether_there_is_a_value():
    table = {"g": ([1] * 6 + [2] * 4) * 4, "h": ["a", "b", "b", "a", None, None, "c", "c", "c", None] * 4}
    for levels in (["a"], [["a"], ["b", "c"]]):
        session = Session(table, Y, held_out=0)
        session.split("", "g", cut=1.5)
        session.split("0", "h", levels=levels, missing="own")
        session.merge("0", [0, 1])
        ends = [session.node("0.0"), session.node("0.1")]
        assert session.model.apply({"g": [1, 1], "h": ["c", None]}).tolist() == ends
        told = session.costs()[1]
        asked = {name: told[name] for name in ("column", "levels", "missing") if name in told}
        assert session.question("0", **asked)["gain"] == pytest.approx(told["gain"])
        assert len(Session.from_model(session.model, table, Y, held_out=0).leaves()) == 3


def test_words_name_levels_that_came_with_a_move():
    table = {"x": [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3] * 2, "h": list("aabbccbccabc") * 2}
    session = Session(table, (Y * 2)[:24], held_out=0)
    session.split("", "x", cut=1.5)
    session.split("0", "h", levels=["a", "c"])
    session.move("", cut=2.5)
    assert "h in {a, c}" in session.model.show()
    assert session.costs()[1]["levels"] == ["a", "c"]


def test_columns_that_are_called_by_numbers_are_named_by_them():
    table = pd.DataFrame({10: np.arange(40.0) % 11, 20: np.arange(40.0) % 3})
    session = Session(table, Y, held_out=0)
    with pytest.raises(ColumnError, match="no column 1"):
        session.split("", 1, cut=1)
    session.split("", 10, cut=5)
    with pytest.raises(ColumnError, match="no column 10"):
        Session.from_dict(session.to_dict(), table.drop(columns=10), Y)
    plain = Session(np.arange(80.0).reshape(40, 2) % 7, Y, held_out=0)
    plain.split("", 1, cut=3)
    assert plain.log[0].given["column"] == plain.ground.columns[1].name


def test_a_session_outlives_changes_of_the_table():
    for held_out in (0, 0.25):
        table = pd.DataFrame({"x": np.arange(40.0) % 7, "z": np.arange(40.0) % 9})
        session = Session(table, Y, held_out=held_out)
        session.split("", "x", cut=3)
        before = dumps(session.model)
        table.loc[:, "x"] = 0.0
        session.lock("0")
        session.undo()
        session._tree = None
        assert dumps(session.model) == before


def test_many_branches_are_many_leaves():
    table = {"h": list("abcd") * 6, "x": np.arange(24.0)}
    session = Session(table, list("nnyy") * 6, held_out=0, nominal_splits="multiway", numeric=["x"])
    with pytest.raises(ParameterError, match="nothing grows"):
        Session({"h": table["h"]}, list("nnyy") * 6, held_out=0, nominal_splits="multiway").grow(leaves=1)
    session.grow(leaves=3)
    assert len(session.leaves()) == 4


@pytest.mark.parametrize("given", [{"name": "\ud800"}, {"name": float("nan")}])
def test_what_cannot_be_saved_is_refused_and_bricks_nothing(tmp_path, given):
    desk = Desk(Session(X, Y, held_out=0), save_to=str(tmp_path / "s.json"))
    answer = desk.ask({"ask": "do", "do": "rename", "path": "", "given": given, "revision": 0})
    if isinstance(given["name"], str):
        assert "a session keeps texts" in answer["error"]
    else:
        assert "error" in answer
    assert "error" not in desk.ask({"ask": "do", "do": "grow", "path": "", "given": {"levels": 1}, "revision": 0})
    assert (tmp_path / "s.json").exists()


def test_numbers_beyond_floats_are_refused():
    session = Session(X, Y, held_out=0)
    for act in (
        lambda: session.split("", "x", cut=10**400),
        lambda: session.split("", ["x"], cut=3),
        lambda: session.audit("9"),
        lambda: session.split("", "x", cut="3"),
        lambda: Session(X, np.arange(40.0) / 7, held_out=0).decide("", 10**400, why="w"),
        lambda: Session(X, Y, random_state=None),
    ):
        with pytest.raises(TreewrightError):
            act()
    desk = Desk(session)
    nested = json.loads("[" * 900 + "]" * 900)
    for request in (
        {"ask": "column", "path": "", "column": float("inf")},
        {"ask": "do", "do": "split", "path": "", "given": {"column": 0, "cut": 10**400}, "revision": 0},
        {"ask": "do", "do": "split", "path": "", "given": {"column": 0, "levels": nested}, "revision": 0},
    ):
        assert "error" in desk.ask(request)
    assert session.log == ()


def test_a_pipe_is_no_session(tmp_path):
    os.mkfifo(tmp_path / "s.json")
    with pytest.raises(InputFileError, match="pipe"):
        Session.load(tmp_path / "s.json", X, Y)


def test_of_one_class_nothing_is_asked():
    session = Session({"h": ["a", "b", "c", None] * 5}, ["k"] * 20, held_out=0)
    assert session.candidates("") == []
    session.split("", "h", levels=["a"])
    assert session.costs()[0]["gain"] == 0.0
    assert "candidates" in Desk(session).ask({"ask": "candidates", "path": ""})
    assert "picture" in Desk(session).ask({"ask": "column", "path": "", "column": 0})


def test_usual_parameters_are_written_into_the_script(tmp_path):
    table = {"g": ["lo", "hi"] * 20, "x": np.arange(40.0) % 13}
    session = Session(
        table, Y, held_out=np.float64(0.25), random_state=np.int64(3), ordinal={"g": np.array(["lo", "hi"])},
        nominal=[], class_weight={np.str_("a"): np.float64(2.0), "b": 1.0},
    )  # fmt: skip
    session.split("", "g", cut=np.str_("lo"))
    assert dumps(rebuilt(session, X=table, y=Y)) == dumps(session.model)
    assert dumps(saved_again(session, tmp_path, table, Y).model) == dumps(session.model)


def test_other_rows_are_noticed_and_what_was_undone_is_no_obstacle(tmp_path):
    names, others = {"h": list("ab") * 20}, {"h": ["own", "rent"] * 20}
    first, second = (Session(each, Y, held_out=0).rows_digest for each in (names, others))
    assert first != second
    assert first != Session(names, Y, np.arange(40.0) + 1, held_out=0).rows_digest
    session = Session(X, Y, held_out=0)
    session.split("", "x", cut=3)
    session.split("1", "x", cut=5.5)
    session.undo()
    session.grow(rest=True, levels=1)
    session.undo()
    session.save(tmp_path / "s.json")
    few = {"x": X["x"][:7]}
    with pytest.warns(DataWarning, match="rows have changed"):
        again = Session.load(tmp_path / "s.json", few, Y[:7])
    assert [command.do for command in again.log] == ["split"]


def test_only_the_merged_branches_matter_to_a_decision():
    session = Session({"h": list("abcd") * 10}, Y, held_out=0)
    session.split("", "h", levels=[["a"], ["b"], ["c"], ["d"]])
    session.decide("3", "a", why="law")
    with pytest.raises(ParameterError, match="the decision about node '3' would be lost"):
        session.merge("", [2, 3])
    session.merge("", [0, 1])
    assert session.model.facts["workbench"]["decided"].keys() == {"2"}


def test_decimals_are_numbers_and_copies_are_given():
    prices = pl.Series([Decimal(at) / 8 for at in range(40)])
    session = Session(X, prices, held_out=0.25)
    assert session.model.task == "regression"
    session.figures()["held_out"]["score"] = 9
    assert session.held_out()["score"] < 1


@pytest.mark.parametrize(
    "fact",
    [
        "x",
        5,
        None,
        {},
        {"log": 3, "names": [], "locked": {"a": 1}, "decided": {"": "x"}},
        {"looks_at_held_out_rows": "many", "sealed_rows": {"score": "bad", "when": 3}},
        {"log": [{"do": 5, "given": 3}, 7, {"do": "grow", "given": {"leaves": "x", "levels": []}}, {}]},
        {
            "log": [
                {"do": "split", "given": {"levels": [[], 5, "x"], "column": {}}},
                {"do": "merge", "given": {"branches": 3}},
            ]
        },
        {
            "names": {"0.0.0": 1, "1": "<b>"},
            "locked": ["7", 3, None],
            "decided": {"": [1, 2, 3], "0": [1, "x"], "1": []},
        },
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_model_file_may_hold_anything_about_hands(fact):
    session = Session(X, Y, held_out=0)
    session.split("", "x", cut=3)
    model = replace(session.model, facts={**session.model.facts, "workbench": fact})
    assert "x <= 3" in model.show()
    assert "<svg" in model.plot().text
    assert tw.report(model, X, Y, cv=None).html
    assert "x <= 3" in str(model.audit(X, Y))
