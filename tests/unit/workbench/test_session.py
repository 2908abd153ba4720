"""A session by hand: undone it is as before, replayed it is the same, what is locked never changes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.exceptions import ColumnError, InputFileError, ParameterError
from treewright.judge.scores import share_right
from treewright.model.codec import dumps

N = 400
RNG = np.random.default_rng(0)
X = pl.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "income": np.where(RNG.random(N) < 0.1, np.nan, RNG.lognormal(10, 0.5, N)),
        "home": RNG.choice(["own", "rent", "free"], N),
        "grade": pl.Series(RNG.choice(["low", "mid", "high"], N), dtype=pl.Enum(["low", "mid", "high"])),
    }
)
PULL = X["age"].to_numpy() / 40 + (X["home"] == "own").to_numpy() + RNG.normal(size=N) * 0.7
Y = pl.Series("risk", np.where(PULL > 1.6, "good", "bad"))


GRADES = {"grade": ["low", "mid", "high"]}


def made(**options: Any) -> Any:
    return tw.workbench.Session(X, Y, **{"held_out": 0.25, "min_samples_leaf": 5, "ordinal": GRADES, **options})


def tree_bytes(session: Any) -> bytes:
    tree = session.model.trees[0]
    return b"".join(
        np.ascontiguousarray(getattr(tree, name)).tobytes() for name in sorted(vars(tree)) if name[0] != "_"
    )


# Commands as they may come, fitting or not.
PATHS = st.lists(st.integers(0, 1), max_size=3).map(lambda path: ".".join(map(str, path)))
COMMANDS = st.one_of(
    st.tuples(st.just("split"), PATHS, st.fixed_dictionaries({"column": st.just("age"), "cut": st.integers(15, 80)})),
    st.tuples(
        st.just("split"), PATHS,
        st.fixed_dictionaries(
            {"column": st.just("home"), "levels": st.sets(st.sampled_from(["own", "rent", "free"])).map(sorted)}
        ),
    ),
    st.tuples(st.just("split"), PATHS, st.fixed_dictionaries({"column": st.just("grade"), "cut": st.just("low")})),
    st.tuples(st.just("grow"), PATHS, st.fixed_dictionaries({"levels": st.sampled_from([1, 2, None])})),
    st.tuples(st.just("grow"), PATHS, st.just({"levels": 1, "rest": True})),
    st.tuples(st.just("move"), PATHS, st.fixed_dictionaries({"cut": st.integers(15, 80)})),
    st.tuples(st.just("merge"), PATHS, st.just({"branches": [0, 1]})),
    st.tuples(st.just("prune"), PATHS, st.just({})),
    st.tuples(st.sampled_from(["lock", "unlock"]), PATHS, st.just({})),
    st.tuples(st.just("rename"), PATHS, st.just({"name": "a group"})),
    st.tuples(st.just("decide"), PATHS, st.just({"value": "bad", "why": "the regulator says so"})),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(COMMANDS, max_size=12))
def test_undone_it_is_as_before_and_replayed_it_is_the_same(commands):
    session, states = made(), []
    for do, path, options in commands:
        before, locked = tree_bytes(session), dict(_locked(session))
        try:
            getattr(session, do)(path, **options)
        except ParameterError:
            assert tree_bytes(session) == before
            continue
        states.append((before, tree_bytes(session)))
        for where, bits in dict(_locked(session)).items():
            assert locked.get(where, bits) == bits
    other = made()
    other.replay(session.log)
    assert tree_bytes(other) == tree_bytes(session)
    assert dumps(other.model) == dumps(session.model)
    for before, after in reversed(states):
        assert tree_bytes(session) == after
        session.undo()
        assert tree_bytes(session) == before
    for _, after in states:
        session.redo()
        assert tree_bytes(session) == after


def _locked(session: Any) -> Any:
    """What locked nodes and all below them are."""
    tree = session.model.trees[0]
    for path, node in session.plan.nodes():
        if node.locked:
            below = [session.node(".".join(map(str, own))) for own, _ in node.nodes(path)]
            yield path, (tree.n_samples[below].tolist(), tree.threshold[below].tolist(), tree.value[below].tolist())


def test_what_grows_is_the_tree_of_the_estimator():
    session = made(held_out=0)
    session.grow()
    tree = tw.DecisionTreeClassifier(min_samples_leaf=5, ordinal=GRADES).fit(X, Y).tree_
    found = session.model.trees[0]
    for name in ("kind", "feature", "threshold", "first_child", "n_samples", "value", "missing_branch"):
        assert (getattr(found, name) == getattr(tree, name)).all(), name


def test_levels_at_a_time_come_to_the_same_tree():
    whole, steps = made(), made()
    whole.grow()
    for _ in range(20):
        steps.grow(levels=1, rest=True)
    assert tree_bytes(steps) == tree_bytes(whole)


def test_the_task_of_an_analyst(tmp_path):
    session = made(who="Ann", sealed=0.1)
    session.split("", "home", levels=["own"], why="the scorecard asks for it first")
    session.split("0", "age", cut=30)
    session.move("0", cut=35, why="the law knows 35")
    session.lock("0", why="approved in May")
    session.grow(rest=True, levels=2)
    session.prune("1.0")
    session.decide("1.0", "bad", why="no one under review is good")
    session.rename("0.0", "young owners")
    with pytest.raises(ParameterError, match="'0' is locked"):
        session.prune("0.1")
    with pytest.raises(ParameterError, match="'0' below is locked"):
        session.split("", "age", cut=50)
    for _ in range(3):
        session.undo()
    session.prune("1.1")
    noted = session.model.facts["workbench"]
    assert [each["do"] for each in noted["log"]] == ["split", "split", "move", "lock", "grow", "prune"]
    assert noted["log"][0]["who"] == "Ann"
    assert noted["locked"] == ["0"]
    session.save(tmp_path / "session.json")
    again = tw.workbench.Session.load(tmp_path / "session.json", X, Y)
    assert dumps(again.model) == dumps(session.model)
    names = {"X": X, "y": Y}
    exec(session.script(), names)
    assert tree_bytes(names["session"]) == tree_bytes(session)
    session.model.save(tmp_path / "m.tw")
    assert tw.load(tmp_path / "m.tw").facts["workbench"]["log"] == noted["log"]


def test_a_decision_is_what_the_leaf_predicts():
    session = made(held_out=0)
    session.split("", "age", cut=40)
    leaf = session.model.apply(X)
    session.decide("1", "bad", why="a rule of the house")
    predicted = session.model.predict(X)
    assert (predicted[leaf == 2] == "bad").all()
    assert session.model.predict_proba(X)[leaf == 2][:, 0].tolist() == [1.0] * int((leaf == 2).sum())
    session.grow("1")
    assert (session.model.predict(X)[leaf == 2] != "bad").any()


def test_looks_are_counted_and_the_seal_is_broken_once():
    session = made(sealed=0.2)
    session.grow(levels=2)
    first = session.held_out()
    assert (first["seen"], session.held_out()["seen"]) == (1, 2)
    rows = session._judging
    expected = share_right(rows.target_array, session.model.codes_of(rows.matrix), None)
    assert first["score"] == expected
    assert first["n"] + len(session._sealed) + int(session.model.trees[0].n_samples[0]) == N
    assert session.open_sealed()["n"] == len(session._sealed)
    assert session.model.facts["workbench"]["sealed_rows_opened"]
    for command in (session.undo, session.redo, lambda: session.prune("")):
        with pytest.raises(ParameterError, match="sealed rows were opened"):
            command()


def test_candidates_are_what_the_grower_chooses_from():
    session = made(held_out=0)
    best = session.candidates("")[0]
    session.split("", **{name: best[name] for name in ("column", "cut", "levels") if name in best})
    other = made(held_out=0)
    other.grow(levels=1)
    assert (session.model.trees[0].n_samples == other.model.trees[0].n_samples).all()
    gains = [each["gain"] for each in session.candidates("1")]
    assert gains == sorted(gains, reverse=True)


def test_numbers_are_grown_by_hand_too():
    session = tw.workbench.Session(X, pl.Series("pull", PULL), held_out=0.25, ordinal=GRADES)
    session.split("", "age", cut=40)
    session.split("0", "grade", cut="mid")
    session.decide("1", 2.5, why="agreed")
    assert session.model.task == "regression"
    assert set(session.model.predict(X.filter(pl.col("age") > 40)).tolist()) == {2.5}
    assert session.held_out()["score"] < 1


def test_branches_of_many_ways_merge():
    session = made(held_out=0, nominal_splits="multiway", missing="branch")
    session.grow(levels=1)
    root = session.plan
    if len(root.branches) < 3:
        session.split("", "age", cut=20)
        session.grow("1", levels=1)
    wide = next(path for path, node in session.plan.nodes() if len(node.branches) >= 3)
    where, n = ".".join(map(str, wide)), len(next(node for path, node in session.plan.nodes() if path == wide).branches)
    session.merge(where, [0, 2])
    merged = next(node for path, node in session.plan.nodes() if path == wide)
    assert len(merged.branches) == n - 1
    assert session.model.predict(X).shape == (N,)


@pytest.mark.parametrize(
    ("do", "given", "told"),
    [
        ("split", ("0", "age"), "no such node"),
        ("split", ("left", "age"), "give branches with dots"),
        ("split", ("", "wage"), "no column 'wage'"),
        ("split", ("", "age"), "give cut="),
        ("split", ("", "home"), "give levels="),
        ("merge", ("", [0, 1]), "two or more of the 0 branches"),
        ("move", ("",), "nothing to move"),
        ("unlock", ("",), "is not locked"),
        ("undo", (), "nothing to undo"),
        ("redo", (), "nothing to do again"),
        ("open_sealed", (), "no rows are sealed"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(do, given, told):
    session = made()
    with pytest.raises((ParameterError, ColumnError), match=told):
        getattr(session, do)(*given)
    assert session.log == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"column": "age", "cut": 5}, "without rows"),
        ({"column": "age", "cut": "old"}, "holds numbers"),
        ({"column": "age", "cut": float("inf")}, "finite"),
        ({"column": "age", "cut": 30, "missing": "up"}, "'left' or 'right'"),
        ({"column": "home", "levels": ["castle"]}, "no level 'castle'"),
        ({"column": "grade", "cut": "top"}, "no level 'top'"),
    ],
)
def test_odd_questions_are_refused(options, told):
    with pytest.raises(ParameterError, match=told):
        made().split("", **options)


def test_a_replay_on_other_rows_says_where_it_stops(tmp_path):
    session = made(held_out=0)
    session.split("", "age", cut=40)
    session.split("1", "home", levels=["own"])
    session.save(tmp_path / "session.json")
    young = X["age"] < 39
    with pytest.raises(ParameterError, match=r"command 1 of 2 \(split ''\) does not fit: .* without rows"):
        tw.workbench.Session.load(tmp_path / "session.json", X.filter(young), Y.filter(young))
    with pytest.raises(ColumnError, match=r"command 2 of 2 .* no column 'home'"):
        tw.workbench.Session.load(tmp_path / "session.json", X.drop("home"), Y)
    damaged = json.loads((tmp_path / "session.json").read_text())
    damaged["commands"][0]["given"] = {"cut": 40}
    (tmp_path / "damaged.json").write_text(json.dumps(damaged))
    with pytest.raises(ParameterError, match=r"command 1 of 2 .* it is damaged \(KeyError\('column'\)\)"):
        tw.workbench.Session.load(tmp_path / "damaged.json", X, Y)
    for text in ("{", "[]", json.dumps({"document": "treewright session", "version": 9})):
        (tmp_path / "broken.json").write_text(text)
        with pytest.raises(InputFileError):
            tw.workbench.Session.load(tmp_path / "broken.json", X, Y)


def test_a_model_is_taken_up_question_by_question():
    tree = tw.DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, ordinal=GRADES).fit(X, Y)
    session = tw.workbench.Session.from_model(tree, X, Y, held_out=0, min_samples_leaf=5, ordinal=GRADES)
    assert (session.model.predict_proba(X) == tree.predict_proba(X)).all()
    found = session.model.trees[0]
    assert sorted(found.n_samples.tolist()) == sorted(tree.tree_.n_samples.tolist())
    session.undo()
    assert session.model.trees[0].n_nodes == tree.tree_.n_nodes - 2
    for other, told in (
        (tw.RandomForestClassifier(3).fit(X, Y), "single tree"),
        (tw.C45Classifier().fit(X, Y), "more than two branches"),
    ):
        with pytest.raises(ParameterError, match=told):
            tw.workbench.Session.from_model(other, X, Y)


def test_sessions_are_compared():
    one, other = made(), made()
    for session in (one, other):
        session.split("", "age", cut=40)
    assert one.compare(other)["same"]
    other.grow("1", levels=1)
    found = one.compare(other)
    assert (found["common"], len(found["here"]), len(found["there"])) == (1, 0, 1)
    assert (found["leaves"], found["depth"], found["same"]) == ((2, 3), (1, 2), False)


def test_odd_parameters_and_values_are_refused():
    for options, told in (
        ({"held_out": "some"}, "held_out='some'"),
        ({"splitter": "hist"}, "splitter is no parameter of a session"),
        ({"missing": "surrogate"}, "goes one way"),
    ):
        with pytest.raises(ParameterError, match=told):
            made(**options)
    session = tw.workbench.Session(X, pl.Series("pull", PULL), held_out=0, ordinal=GRADES)
    with pytest.raises(ParameterError, match="finite number"):
        session.decide("", float("nan"), why="nobody knows")
    with pytest.raises(ParameterError, match="two or more"):
        session.merge("", ["left"])


def test_numbers_of_numpy_and_shares_of_rows_are_what_they_mean(tmp_path):
    session = made(held_out=0, min_samples_split=0.5)
    session.split("", "age", cut=np.int64(40))
    session.grow("1", levels=3)
    session.save(tmp_path / "session.json")
    assert dumps(tw.workbench.Session.load(tmp_path / "session.json", X, Y).model) == dumps(session.model)
    tree = session.model.trees[0]
    assert (tree.n_samples[~tree.is_leaf] >= N / 2).all()
