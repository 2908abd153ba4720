"""A session by hand: undone it is as before, replayed it is the same, what is locked never changes."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import treewright as tw
from treewright.cli.app import app
from treewright.evaluation.scores import accuracy
from treewright.exceptions import ColumnError, DataWarning, InputFileError, ParameterError
from treewright.grow.by_node.plan import LEAF, Plan
from treewright.show.page.tree import tree_part
from treewright.trees.codec import dumps

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
    return b"".join(np.ascontiguousarray(getattr(tree, each.name)).tobytes() for each in fields(tree))


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
    st.tuples(st.just("prune"), PATHS, st.fixed_dictionaries({"leaves": st.integers(1, 6)})),
    st.tuples(st.just("grow"), PATHS, st.fixed_dictionaries({"leaves": st.integers(1, 3)})),
    st.tuples(
        st.just("split"), PATHS,
        st.fixed_dictionaries({"column": st.just("age"), "cut": st.integers(10, 90), "empty": st.just(True)}),
    ),
    st.tuples(st.sampled_from(["lock", "unlock"]), PATHS, st.just({})),
    st.tuples(st.just("rename"), PATHS, st.just({"name": "a group"})),
    st.tuples(st.just("decide"), PATHS, st.just({"value": "bad", "why": "the regulator says so"})),
)  # fmt: skip


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
        now = dict(_locked(session))
        for where, bits in locked.items():
            assert (do == "unlock" and ".".join(map(str, where)) == path) or now[where] == bits
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
    for _ in range(whole.model.trees[0].max_depth):
        steps.grow(levels=1, rest=True)
    with pytest.raises(ParameterError, match="nothing grows here"):
        steps.grow(levels=1, rest=True)
    with pytest.raises(ParameterError, match="nothing grows here"):
        steps.grow(leaves=1)
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
    session.held_out()
    names = {"X": X, "y": Y}
    exec(session.script(), names)
    assert dumps(names["model"]) == dumps(session.model)
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
    tree = session.model
    assert "(decided)" in tree.show()
    assert tree.facts["workbench"]["decided"] == {"1": made_split().model.trees[0].value[2].tolist()}
    for command in (lambda: session.grow("1"), lambda: session.prune(""), lambda: session.split("", "age", cut=30)):
        with pytest.raises(ParameterError, match="the decision about node '1' would be lost"):
            command()
    with pytest.raises(ParameterError, match="why is empty"):
        session.decide("1", None)
    session.decide("1", None, why="the rule is gone")
    with pytest.raises(ParameterError, match="nothing was decided"):
        session.decide("1", None, why="again")
    session.grow("1")
    assert (session.model.predict(X)[leaf == 2] != "bad").any()


def made_split() -> Any:
    session = made(held_out=0)
    session.split("", "age", cut=40)
    return session


def test_pruning_spares_what_was_decided_and_pages_show_what_its_rows_say():
    session = made(held_out=0)
    session.grow(levels=4)
    deep = max(session.leaves(), key=len)
    counts = session.model.trees[0].value[session.node(deep)].tolist()
    session.decide(deep, "bad", why="a rule of the house")
    session.prune(leaves=len(deep.split(".")) + 1)
    assert deep in session.leaves()
    part = tree_part(session.model)
    node = next(each for each in part.nodes if each.id == session.node(deep))
    assert (node.by_hand.decided, node.said, list(node.values[0])) == (True, "bad", counts)
    page = session.report().summary
    said = [f"Decide node {deep}: bad", f"Prune the tree to {len(session.leaves())} leaves"]
    assert [line.words for line in page.log][-2:] == said
    assert "a rule of the house" in [line.why for line in page.log]
    numbers = tw.workbench.Session(X, pl.Series("pull", PULL), held_out=0, ordinal=GRADES)
    numbers.split("", "age", cut=40)
    mean = float(numbers.model.trees[0].value[1, 0])
    numbers.decide("0", -1000.0, why="agreed")
    assert (tree_part(numbers.model).low, tree_part(numbers.model).nodes[1].values) == (mean, ((mean,),))
    assert "-1000 (decided)" in numbers.model.show()


def test_looks_are_counted_and_the_seal_is_broken_once():
    session = made(sealed=0.2)
    session.grow(levels=2)
    first = session.held_out()
    assert (first["seen"], session.held_out()["seen"], session.n_looks) == (1, 1, 1)
    session.rename("0", "the others")  # says the same of every row
    assert session.held_out()["seen"] == 1
    session.prune("")
    assert session.held_out()["seen"] == 2
    session.undo()
    session.undo()
    assert session.held_out() == {**first, "seen": 2}
    rows = session._judging
    expected = accuracy(rows.target_array, session.model.codes_of(rows.matrix), None)
    assert first["score"] == expected
    assert first["n"] + len(session._sealed) + int(session.model.trees[0].n_samples[0]) == N
    assert session.open_sealed()["n"] == len(session._sealed)
    assert session.model.facts["workbench"]["sealed_rows"]["n"] == len(session._sealed)
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
        ("redo", (), "nothing to redo"),
        ("open_sealed", (), "no rows are sealed"),
        ("prune", ("",), "is a leaf: there is nothing to prune"),
        ("go_to", (1,), "from 0 to 0, the number of commands"),
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
        ({"column": "age", "cut": "old"}, "is numeric, give a finite number"),
        ({"column": "age", "cut": float("inf")}, "finite"),
        ({"column": "age", "cut": 30, "missing": "up"}, "give 'left', 'right' or 'own'"),
        ({"column": "age", "cut": [30, 20]}, "ascending cuts"),
        ({"column": "age", "cut": 30, "levels": ["own"]}, "either cut= or levels="),
        ({"column": "home", "levels": [["own"], ["rent"]]}, r"in no branch: \['free'\]"),
        ({"column": "home", "levels": [["own", "rent", "free"]]}, "two lists of levels or more"),
        ({"column": "age", "cut": 30, "missing": "own"}, "without rows"),
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
    with pytest.raises(ParameterError, match=r"command 1 of 2 .* split needs 'column'"):
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
    with pytest.raises(ParameterError, match="fitted model of trees"):
        tw.workbench.Session.from_model(tw.KNeighborsClassifier().fit(X.select("age"), Y), X, Y)


WHOLE = X.drop("income")


@pytest.mark.parametrize("learner", [tw.C45Classifier(), tw.CHAIDClassifier(), tw.ID3Classifier()])
def test_trees_of_many_branches_are_taken_up(learner):
    rows = WHOLE if not isinstance(learner, tw.ID3Classifier) else WHOLE.select(pl.col("home", "grade").cast(pl.String))
    tree = learner.fit(rows, Y)
    session = tw.workbench.Session.from_model(tree, rows, Y, held_out=0)
    assert (tree.tree_.n_branches > 2).any()
    assert (session.model.predict(rows) == tree.predict(rows)).all()
    assert (session.model.trees[0].n_samples == tree.tree_.n_samples).all()
    names = {"X": rows, "y": Y}
    exec(session.script(), names)
    assert dumps(names["model"]) == dumps(session.model)


def test_an_imported_tree_is_taken_up():
    from sklearn.tree import DecisionTreeClassifier

    rows = WHOLE.select("age").with_columns(size=pl.Series(RNG.normal(size=N))).to_pandas()
    theirs = DecisionTreeClassifier(max_depth=5, random_state=0).fit(rows, Y.to_numpy())
    session = tw.workbench.Session.from_model(tw.read_model(theirs), rows, Y, held_out=0)
    assert (session.model.predict(rows) == theirs.predict(rows)).all()
    assert session.log[0].why == "as in the model"
    session.grow(leaves=1)
    assert len(session.leaves()) == theirs.get_n_leaves() + 1


def test_held_out_figures_are_those_of_the_command_evaluate(tmp_path):
    session = tw.workbench.Session(WHOLE, Y, min_samples_leaf=5, held_out=0.3)
    session.grow(levels=3)
    found = session.figures()["held_out"]
    WHOLE.with_columns(Y).filter(pl.Series(np.isin(np.arange(N), session._reported))).write_csv(tmp_path / "aside.csv")
    session.model.save(tmp_path / "m.tw")
    done = CliRunner().invoke(app, ["evaluate", str(tmp_path / "m.tw"), str(tmp_path / "aside.csv"), "--json"])
    told = json.loads(done.stdout)["score"]
    assert told["accuracy"] == found["score"]
    assert told["accuracy_interval"] == [found["low"], found["high"]]


def test_of_a_forest_the_surrogate_is_taken_up():
    forest = tw.RandomForestClassifier(20, ordinal=GRADES).fit(X, Y)
    with pytest.warns(DataWarning, match="predicts differently from the model for"):
        session = tw.workbench.Session.from_model(forest, X, Y, held_out=0, ordinal=GRADES)
    assert session.log[0].why == "as in the surrogate of the 20 trees"
    assert np.mean(session.model.predict(X) == forest.predict(X)) > 0.7


def test_missing_cells_have_a_branch_of_their_own():
    session = made(held_out=0)
    session.split("", "income", cut=20_000, missing="own")
    session.split("2", "home", levels=[["own"], ["rent", "free"]])
    session.split("0", "age", cut=[30, 50])
    tree = session.model.trees[0]
    assert tree.n_samples[1:4].tolist() == [
        int((X["income"] <= 20_000).sum()),
        int(((X["income"] > 20_000) & ~X["income"].is_nan()).sum()),
        int(X["income"].is_nan().sum()),
    ]
    session.merge("", [1, 2])
    session.split("1", "income", missing="right")
    assert session.model.trees[0].n_samples[session.node("1.1")] == int(X["income"].is_nan().sum())
    session.undo()
    session.undo()
    session.merge("", [0, 1])
    assert session.model.trees[0].n_samples[1:3].tolist() == [
        N - int(X["income"].is_nan().sum()),
        int(X["income"].is_nan().sum()),
    ]
    again = made(held_out=0)
    again.replay(session.log)
    assert dumps(again.model) == dumps(session.model)


def test_a_question_costs_what_the_best_gains_more():
    session = made(held_out=0)
    session.split("", "age", cut=40)
    for each in session.candidates("1"):
        asked = {name: each[name] for name in ("column", "cut", "levels", "missing") if name in each}
        told = session.question("1", **asked)
        assert told["gain"] == pytest.approx(each["gain"], abs=1e-12)
        assert told["cost"] == pytest.approx(each["cost"], abs=1e-12)
        assert told["p_value"] == pytest.approx(each["p_value"], rel=1e-9)
        assert sum(branch["n"] for branch in told["branches"]) == session.model.trees[0].n_samples[2]
    assert session.candidates("1")[0]["cost"] == 0.0
    assert (session.costs()[0]["column"], session.costs()[0]["cut"]) == ("age", 40)
    assert session.costs()[0]["cost"] == session.question("", "age", cut=40)["cost"] > 0
    best = session.audit("1").winner
    assert best.gain == pytest.approx(session.candidates("1")[0]["gain"])


def test_a_p_value_is_that_of_scipy():
    from scipy.stats import chi2_contingency, f_oneway

    session = made(held_out=0)
    is_left = (X["age"] <= 40).to_numpy()
    good = (Y == "good").to_numpy()
    table = [[int((good[side] == own).sum()) for own in (False, True)] for side in (is_left, ~is_left)]
    expected = chi2_contingency(table, correction=False).pvalue
    assert session.question("", "age", cut=40)["p_value"] == pytest.approx(expected, rel=1e-9)
    numbers = tw.workbench.Session(X, pl.Series("pull", PULL), held_out=0, ordinal=GRADES)
    expected = f_oneway(PULL[is_left], PULL[~is_left]).pvalue
    assert numbers.question("", "age", cut=40)["p_value"] == pytest.approx(expected, rel=1e-9)


def test_many_branches_are_adjusted_by_their_own_number_and_small_p_values_keep_an_order():
    session = made(held_out=0)
    one, three = session.question("", "age", cut=40), session.question("", "age", cut=[30, 40, 50])
    different = X["age"].n_unique()
    ways = math.comb(different - 1, 3)
    assert three["adjusted_p_value"] == pytest.approx(three["p_value"] * ways, rel=1e-6)
    assert one["log_worth"] == pytest.approx(-math.log10(one["adjusted_p_value"]), rel=1e-9)
    n = 20_000
    sharp = tw.workbench.Session({"x": np.sqrt(np.arange(n)), "z": np.arange(n) % 2}, np.arange(n) < n / 4, held_out=0)
    told = sharp.question("", "x", cut=math.sqrt(n) / 2)
    assert (told["adjusted_p_value"], told["log_worth"] > 1_000) == (0.0, True)


@pytest.mark.parametrize("leaves", [2, 4, 9])
def test_leaves_grow_best_first_as_the_estimator_grows_them(leaves):
    session = made(held_out=0)
    session.grow(leaves=leaves - 1)
    tree = tw.DecisionTreeClassifier(min_samples_leaf=5, max_leaf_nodes=leaves, ordinal=GRADES).fit(X, Y)
    assert (session.model.predict_proba(X) == tree.predict_proba(X)).all()
    assert len(session.leaves()) == leaves
    for _ in range(3):
        session.grow(leaves=1)
    whole = made(held_out=0)
    whole.grow(leaves=leaves + 2)
    assert tree_bytes(session) == tree_bytes(whole)
    session.lock(session.leaves()[0])
    session.grow(leaves=500)
    assert session.leaves()[0] == whole.leaves()[0]


@pytest.mark.parametrize("leaves", [1, 2, 3, 5, 8, 13])
def test_without_locks_few_leaves_are_those_of_the_pruner(leaves):
    session = made(held_out=0)
    session.grow()
    expected = session.model.prune("leaves", max_leaves=leaves)
    session.prune(leaves=leaves)
    assert (session.model.predict_proba(X) == expected.predict_proba(X)).all()
    assert session.model.trees[0].n_leaves == expected.trees[0].n_leaves


def test_what_is_locked_outlasts_pruning():
    session = made(held_out=0)
    session.grow()
    inner = [path for path, node in session.plan.nodes() if node.test is not None and len(path) == 3]
    where = ".".join(map(str, inner[-1]))
    session.lock(where)
    locked = [tree_bytes_below(session, inner[-1])]
    for leaves in (12, 8, 7):
        session.prune(leaves=leaves)
        locked.append(tree_bytes_below(session, inner[-1]))
        assert session.model.trees[0].n_leaves <= leaves
    assert len(set(locked)) == 1
    with pytest.raises(ParameterError, match="locked and decided nodes keep"):
        session.prune(leaves=1)
    below = made(held_out=0)
    below.grow()
    before = below.model.trees[0].n_leaves
    own = int(below.model.tree(0).trees[0].n_leaves)
    below.prune("1", leaves=2)
    assert below.model.trees[0].n_leaves < before == own
    assert sum(1 for path, node in below.plan.nodes() if path[:1] == (1,) and node.test is None) <= 2


def tree_bytes_below(session: Any, path: tuple[int, ...]) -> bytes:
    tree = session.model.trees[0]
    nodes = [session.node(".".join(map(str, own))) for own, _ in session.plan.nodes() if own[: len(path)] == path]
    return b"".join(
        np.ascontiguousarray(getattr(tree, name)[nodes]).tobytes() for name in ("kind", "threshold", "value")
    )


def test_figures_are_those_of_evaluate_now_and_before():
    session = made()
    session.grow(levels=1)
    session.figures()
    session.grow(rest=True, levels=2)
    found = session.figures()
    rows = session._judging
    labels = rows.classes[0]
    table = {name: rows.matrix[:, at] for at, name in enumerate(X.columns)}
    assert found["held_out"]["score"] == accuracy(rows.target_array, session.model.codes_of(rows.matrix), None)
    assert found["held_out"]["low"] < found["held_out"]["score"] < found["held_out"]["high"]
    assert (found["seen"], found["measure"], len(table), len(labels)) == (2, "accuracy", 4, 2)
    before = found["before"]
    session.undo()
    now = session.figures()
    assert (now["training"], now["held_out"]) == (before["training"], before["held_out"])
    assert now["seen"] == 2
    assert session.figures(look=False)["seen"] == 2


def test_a_chain_of_thousands_of_levels_is_no_deep_recursion():
    numbers, n = np.arange(3_000.0), 2_500
    session = tw.workbench.Session({"x": numbers}, (numbers % 2).astype(int), held_out=0)
    chain = LEAF
    for cut in range(n - 1, -1, -1):
        test = session.ground.test_of(LEAF, (), 0, {"cut": cut + 0.5})
        chain = Plan(test, (LEAF, chain))
    session._states[0] = chain
    assert session.model.trees[0].max_depth == n
    session.rename(".".join(["1"] * n), "far")
    assert list(session.model.facts["workbench"]["names"].values()) == ["far"]
    session.lock("1.0")
    session.prune(leaves=600)
    assert session.model.trees[0].n_leaves <= 600
    assert session.node("1.0") == 3


def test_what_was_undone_and_seen_is_saved_too(tmp_path):
    session = made(sealed=0.1)
    session.split("", "age", cut=40)
    session.held_out()
    session.prune("")
    session.undo()
    session.save(tmp_path / "s.json")
    again = tw.workbench.Session.load(tmp_path / "s.json", X, Y)
    assert (again.log, again.undone, again.n_looks) == (session.log, session.undone, 1)
    again.redo()
    assert again.model.trees[0].n_nodes == 1
    again.go_to(0)
    again.go_to(2)
    again.open_sealed()
    again.save(tmp_path / "s.json")
    opened = tw.workbench.Session.load(tmp_path / "s.json", X, Y)
    assert dumps(opened.model) == dumps(again.model)
    with pytest.raises(ParameterError, match="sealed rows were opened"):
        opened.undo()


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
        ({"splitter": "hist"}, "splitter is not a parameter of a session"),
        ({"missing": "surrogate"}, "follows one branch"),
    ):
        with pytest.raises(ParameterError, match=told):
            made(**options)
    session = tw.workbench.Session(X, pl.Series("pull", PULL), held_out=0, ordinal=GRADES)
    with pytest.raises(ParameterError, match="finite number"):
        session.decide("", float("nan"), why="nobody knows")
    with pytest.raises(ParameterError, match="two branches or more"):
        session.merge("", ["left"])


def test_numbers_of_numpy_and_shares_of_rows_are_what_they_mean(tmp_path):
    session = made(held_out=0, min_samples_split=0.5)
    session.split("", "age", cut=np.int64(40))
    session.grow("1", levels=3)
    session.save(tmp_path / "session.json")
    assert dumps(tw.workbench.Session.load(tmp_path / "session.json", X, Y).model) == dumps(session.model)
    tree = session.model.trees[0]
    assert (tree.n_samples[~tree.is_leaf] >= N / 2).all()


# What judges.


def figures_by_hand(session):
    """Truth and prediction of the held-out rows."""
    rows = session.rows_held_out
    return Y.to_numpy()[rows], np.asarray(session.model.predict(X[rows.tolist()])), X[rows.tolist()]


@pytest.mark.parametrize(
    ("options", "usual"),
    [
        ({}, "accuracy"),
        ({"cost": {"fp": 1, "fn": 6}, "positive": "bad"}, "cost"),
        ({"cost": {"good": {"bad": 1}, "bad": {"good": 6}}, "class_weight": "balanced"}, "cost"),
        ({"class_weight": "balanced"}, "balanced_accuracy"),
        ({"class_weight": {"bad": 3}}, "class_weighted_accuracy"),
        ({"threshold": 0.3, "positive": "bad"}, "accuracy"),
        ({"threshold": 0.3, "positive": "bad", "measure": "neg_log_loss"}, "log_loss"),
    ],
)
def test_by_default_the_tree_is_judged_as_it_is_chosen(options, usual):
    session = made(**options)
    session.grow(levels=2)

    assert session.measure == usual
    found = session.figures()
    assert found["name"] == usual
    assert found["held_out"]["low"] < found["held_out"]["score"] < found["held_out"]["high"]
    truth, said, _ = figures_by_hand(session)
    wanted = {
        "accuracy": (truth == said).mean(),
        "cost": np.where(truth == said, 0, np.where(truth == "bad", 6, 1)).mean(),
        "balanced_accuracy": np.mean([(said == label)[truth == label].mean() for label in ("bad", "good")]),
        "class_weighted_accuracy": np.average(truth == said, weights=np.where(truth == "bad", 3, 1)),
    }
    if usual in wanted:
        assert found["held_out"]["score"] == pytest.approx(wanted[usual])


def test_costs_decide_what_a_leaf_predicts_whatever_the_weights_of_the_classes():
    options = {"cost": {"fp": 1, "fn": 4}, "positive": "bad", "held_out": 0}
    plain, weighed = made(**options), made(**options, class_weight={"bad": 7})
    for session in (plain, weighed):
        session.split("", "age", cut=40)
        session.split("0", "home", levels=["own"])
        model = session.model
        leaves, said = model.apply(X), np.asarray(model.predict(X))
        for leaf in np.unique(leaves):
            share = (Y.to_numpy()[leaves == leaf] == "bad").mean()
            assert set(said[leaves == leaf]) == {"bad" if 4 * share >= 1 - share else "good"}
    assert plain.model.threshold.at == 0.2
    assert plain.model.threshold.cost_each == weighed.model.threshold.cost_each == (1.0, 4.0)
    assert plain.model.show().splitlines()[2].startswith("predicts bad if its probability is at least 0.2")


def test_another_measure_of_a_state_is_no_second_look_but_shows_the_states_of_its_own():
    session = made()
    session.grow(levels=1)
    first = session.held_out()
    session.measure = "roc_auc"
    assert session.figures(look=False)["held_out"] is None
    assert session.held_out()["seen"] == first["seen"] == 1
    session.grow(levels=3)
    found = session.figures()
    assert found["seen"] == 2
    assert found["before"]["held_out"]["score"] != first["score"]
    again = tw.workbench.Session.from_dict(session.to_dict(), X, Y)
    assert again.measure == "roc_auc"
    assert again.held_out() == session.held_out()
    space = {"X": X, "y": Y}
    exec(session.script(), space)
    assert space["session"].measure == "roc_auc"
    assert space["session"].held_out() == session.held_out()
    assert dumps(space["model"]) == dumps(session.model)


def test_costs_and_threshold_are_saved_and_in_the_script():
    session = made(cost={"fp": 1, "fn": 6}, positive="bad", threshold=0.25, sealed=0.1)
    session.grow(levels=2)
    sealed = session.open_sealed()
    assert sealed["measure"] == "cost per row"
    space = {"X": X, "y": Y}
    exec(session.script(), space)
    again = tw.workbench.Session.from_dict(json.loads(json.dumps(session.to_dict())), X, Y)
    for each in (space["session"], again):
        assert each.measure == "cost"
        assert dumps(each.model) == dumps(session.model)
        assert each.opened["score"] == sealed["score"]
        assert each.model.threshold.at == 0.25


def test_a_session_of_a_model_keeps_its_threshold_and_costs():
    tree = tw.DecisionTreeClassifier(max_depth=3, ordinal=GRADES)
    chosen = tw.model_selection.choose_threshold(tree, X, Y, cost={"fp": 1, "fn": 6}, positive="bad").model

    session = tw.workbench.Session.from_model(chosen, X, Y, held_out=0)

    assert (session.model.predict(X) == chosen.predict(X)).all()
    assert session.measure == "cost"
    costs = np.where(Y.to_numpy() == chosen.predict(X), 0, np.where(Y.to_numpy() == "bad", 6, 1))
    assert session.figures()["training"]["score"] == pytest.approx(costs.mean())


@pytest.mark.filterwarnings("ignore:the session predicts differently")  # costs move its threshold
@pytest.mark.parametrize("positive", ["bad", "good"])
def test_the_positive_class_of_a_model_is_that_of_the_session_and_of_its_model(positive):
    tree = tw.DecisionTreeClassifier(max_depth=3, ordinal=GRADES, positive=positive).fit(X, Y)
    plain, costly = (
        tw.workbench.Session.from_model(tree, X, Y, held_out=0, **each) for each in ({}, {"cost": {"fp": 1, "fn": 6}})
    )
    by_hand = tw.workbench.Session(X, Y, positive=positive, held_out=0, ordinal=GRADES)

    for session in (plain, costly, by_hand):
        assert session.measures["recall"].words == f"recall of {positive}"
        assert session.model.positive == positive
    assert costly.model.threshold.at == pytest.approx(1 / 7)
    wrong = np.where(Y.to_numpy() == costly.model.predict(X), 0, np.where(Y.to_numpy() == positive, 6, 1))
    assert costly.figures()["training"]["score"] == pytest.approx(wrong.mean())
    with pytest.raises(ParameterError, match="two classes"):
        tw.workbench.Session({"x": [1, 2, 3] * 9}, ["a", "b", "c"] * 9, positive="a")


def test_a_session_of_many_classes_and_of_numbers_has_its_own_measures():
    three = Y.to_numpy().astype(object).copy()
    three[:60] = "none"
    many = tw.workbench.Session(X, three, cost=[[0, 1, 2], [3, 0, 1], [1, 1, 0]])
    assert "f1_macro" in many.measures
    assert many.measure == "cost"
    assert many.model.threshold is None
    for name in many.measures:
        many.measure = name
        assert many.figures()["held_out"]["n"] == 100
    numbers = tw.workbench.Session(X, PULL)
    numbers.grow(levels=2)
    assert list(numbers.measures) == ["r2", "mean_squared_error", "mean_absolute_error"]
    numbers.measure = "mean_absolute_error"
    rows = numbers.rows_held_out
    wanted = np.abs(PULL[rows] - numbers.model.predict(X[rows.tolist()])).mean()
    assert numbers.figures()["held_out"]["score"] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "beauty"}, "there are accuracy"),
        ({"measure": "cost"}, "give the costs of mistakes"),
        ({"cost": {"fp": 1}}, "give .*'fp': 1"),
        ({"cost": [[0, 1], [1, 5]]}, "no threshold follows"),
        ({"threshold": 2.0}, "give a probability"),
        ({"threshold": 0.3, "positive": "worse"}, "worse"),
    ],
)
def test_measures_and_costs_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        made(**options)
    with pytest.raises(ParameterError, match="is for classes, and the target is a number"):
        tw.workbench.Session(X, PULL, cost={"fp": 1, "fn": 2})
