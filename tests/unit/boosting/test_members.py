"""Boosting with members: each is stopped by rows of its own and replayed on all rows; the model is their mean."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from gradient_tables import bins_with, padded, schema_of

import treewright as tw
from treewright.boosting.losses import SquaredError
from treewright.boosting.rounds import BoostRows, BoostSettings, BoostTable, Evaluation, grow_members
from treewright.core.progress import listen
from treewright.data import encoder
from treewright.data.table import is_sparse
from treewright.exceptions import ParameterError
from treewright.grow.gradient import layout
from treewright.learn.boosting_params import BoostingParams
from treewright.learn.boosting_plan import Size, plan_of
from treewright.learn.held_out import held_out

RNG = np.random.default_rng(7)
N = 300
X = RNG.normal(size=(N, 4))
NUMBERS = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + RNG.normal(size=N)
THREE = np.digitize(NUMBERS, [-1.0, 1.5])
FEW = {"n_estimators": 40, "learning_rate": 0.2, "early_stopping": True, "validation_fraction": 0.2, "random_state": 3}


def saved(est, path):
    est.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def model():
    return tw.GradientBoostingRegressor(n_members=3, features_per_node=1.0, **FEW).fit(X, NUMBERS).model_


def replay(rounds, rate, l2):
    """The slow twin: the scores of all rows after one member's rounds, of which the leaf of each row is known."""
    scores = np.full(N, NUMBERS.mean())
    for leaf in rounds:
        residuals = NUMBERS - scores
        values = {at: rate * residuals[leaf == at].sum() / ((leaf == at).sum() + l2) for at in np.unique(leaf)}
        scores = scores + np.array([values[at] for at in leaf])
    return scores


def members_of(model, n_members):
    """The leaves of all rows in each member's trees, in the order of its rounds: the members' rounds stand in turn."""
    leaves = model.apply(X)
    lengths = model.facts["members"]
    members, at = [[] for _ in range(n_members)], 0
    for number in range(max(lengths)):
        for member in range(n_members):
            if number < lengths[member]:
                members[member].append(leaves[:, at])
                at += 1
    assert at == leaves.shape[1]
    return members


def test_the_model_is_the_mean_of_its_members_replayed_on_all_rows(model):
    ends = [replay(member, 0.2, 3.0) for member in members_of(model, 3)]
    np.testing.assert_allclose(model.predict(X), np.mean(ends, axis=0), rtol=1e-6, atol=1e-6)
    assert len(set(model.facts["members"])) == 1  # they end together


def test_covers_and_samples_of_leaves_are_of_all_rows(model):
    tree = model.trees[0]
    assert tree.n_samples[0] == N
    assert tree.weight[tree.is_leaf].sum() == N


@pytest.mark.parametrize("task", ["numbers", "classes", "medians"])
def test_threads_and_sparse_tables_change_no_byte(task, tmp_path, monkeypatch):
    cells = np.where(X > 0.3, X, 0.0)

    def fitted(table, n_jobs):
        kind = tw.GradientBoostingClassifier if task == "classes" else tw.GradientBoostingRegressor
        more = {"loss": "absolute_error"} if task == "medians" else {}
        target = THREE if task == "classes" else NUMBERS
        return kind(n_members=2, n_jobs=n_jobs, **FEW, **more).fit(table, target)

    one = saved(fitted(cells, 1), tmp_path / "one")
    assert saved(fitted(cells, 3), tmp_path / "three") == one
    monkeypatch.setattr(encoder, "stays_sparse", is_sparse)
    assert saved(fitted(sp.csr_matrix(cells), 1), tmp_path / "sparse") == one


def test_files_stages_importances_and_fewer_rounds_are_those_of_any_boosted_model(model, tmp_path):
    model.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.facts["members"] == model.facts["members"]
    stages = list(model.staged_predict(X))
    assert len(stages) == sum(model.facts["members"])
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    assert model.feature_importances.argmax() == 0
    fewer = model.prune("rounds", n_rounds=5)
    np.testing.assert_array_equal(fewer.predict(X), stages[4])
    assert fewer.facts["members"] == [2, 2, 1]
    assert "5 rounds of 3 members in turn" in fewer.show()


@pytest.mark.parametrize("lengths", [[0, 0], [], [10**18, 1], [1, 1]])
def test_a_file_that_tells_of_other_members_is_pruned_all_the_same(model, lengths):
    told = replace(model, facts={**model.facts, "members": lengths})
    fewer = told.prune("rounds", n_rounds=5)
    np.testing.assert_array_equal(fewer.predict(X), model.prune("rounds", n_rounds=5).predict(X))
    assert sum(fewer.facts["members"]) <= 5


def test_members_keep_to_monotone_constraints_of_losses_without_curvature():
    est = tw.GradientBoostingRegressor(n_members=3, loss="absolute_error", monotonic_cst=[1, 0, 0, 0], **FEW)
    est.fit(X, NUMBERS)
    grid = np.linspace(-2, 2, 60)
    for row in X[:20]:
        assert (np.diff(est.predict(np.column_stack([grid, *np.repeat(row[1:, None], 60, axis=1)]))) >= 0).all()


def test_weights_of_rows_and_classes_reach_every_member():
    weights = np.where(np.arange(N) % 3 == 0, 0.0, 2.0)
    kept = weights > 0
    one = tw.GradientBoostingClassifier(n_members=2, **FEW).fit(X, THREE, sample_weight=weights)
    other = tw.GradientBoostingClassifier(n_members=2, **FEW).fit(X[kept], THREE[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    rare = tw.GradientBoostingClassifier(n_members=2, class_weight={0: 9.0, 1: 1.0, 2: 1.0}, **FEW).fit(X, THREE)
    plain = tw.GradientBoostingClassifier(n_members=2, **FEW).fit(X, THREE)
    assert rare.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"warm_start": True}, "does not go with warm_start"),
        ({"validation_fraction": None}, "does not go with validation_fraction=None"),
    ],
)
def test_what_members_cannot_have_is_refused_with_the_reason(more, words):
    with pytest.raises(ParameterError, match=words):
        tw.GradientBoostingRegressor(n_members=2, **{**FEW, **more}).fit(X, NUMBERS)


def test_rows_of_your_own_are_refused_beside_members():
    est = tw.GradientBoostingRegressor(n_members=2, n_estimators=5, early_stopping=True)
    with pytest.raises(ParameterError, match="X_val"):
        est.fit(X, NUMBERS, X_val=X, y_val=NUMBERS)


def test_members_judge_themselves_by_a_score_of_the_user():
    by_score = tw.GradientBoostingClassifier(n_members=2, scoring="balanced_accuracy", **FEW).fit(X, THREE)
    by_loss = tw.GradientBoostingClassifier(n_members=2, **FEW).fit(X, THREE)
    assert by_score.model_.facts["members"] != by_loss.model_.facts["members"]
    assert by_score.score(X, THREE) > 0.7


def test_the_history_of_members_is_that_of_all_rows_aside():
    told = []
    est = tw.GradientBoostingRegressor(n_members=5, callbacks=lambda each: told.append(each.validation), **FEW)
    est.fit(X, NUMBERS)
    values = est.history_["validation"]
    assert values[1:] == told
    assert values.index(min(values)) == est.best_iteration_ == est.model_.facts["members"][0]
    assert "train" not in est.history_


def test_groups_that_end_with_other_rounds_have_no_one_history():
    est = tw.GradientBoostingRegressor(learning_rate=0.2).fit(X, NUMBERS)
    assert est.history_ == {}
    with pytest.raises(ParameterError, match="members are in groups with different numbers of rounds"):
        est.plot_history()


def test_neither_the_order_of_rows_nor_a_row_twice_changes_what_members_say():
    rng = np.random.default_rng(5)
    names = rng.choice(["a", "b", "c", "d"], N)
    table = {"x0": X[:, 0], "x1": X[:, 1], "name": names}
    times = rng.integers(1, 3, N)
    order = rng.permutation(np.repeat(np.arange(N), times))
    twice = {name: cells[order] for name, cells in table.items()}
    for kind, target in ((tw.GradientBoostingRegressor, NUMBERS), (tw.GradientBoostingClassifier, THREE)):
        one = kind().fit(table, target, sample_weight=times).model_
        other = kind().fit(twice, target[order]).model_
        assert len(one.trees) == len(other.trees)
        np.testing.assert_allclose(one.predict_scores(table), other.predict_scores(table), rtol=1e-12, atol=1e-12)


def test_every_row_is_kept_aside_by_one_of_five_members_but_the_first_of_each_class():
    contents = np.arange(100, dtype=np.uint64)
    codes = (np.arange(100) % 3)[:, None]
    held_out_rows = [held_out(codes, contents, 0.2, 1, by_class=True, member=member) for member in range(5)]
    times = np.sum(held_out_rows, axis=0)
    assert times.max() == 1
    assert (times == 0).sum() == 3
    again = held_out(codes, contents, 0.2, 1, by_class=True, member=5)  # a turn of its own
    assert 0 < (again & held_out_rows[0]).sum() < 20


@pytest.mark.parametrize("n", range(5, 30))
def test_as_soon_as_rows_suffice_to_hold_some_out_more_rows_do_too(n):
    for codes in (np.arange(n) % 2, np.arange(n) % 3, np.zeros(n, int)):
        aside = held_out(codes[:, None], np.arange(n, dtype=np.uint64), 0.1, 0, by_class=True)
        assert 1 <= aside.sum() <= n // 10 + 1
        assert set(codes[~aside]) == set(codes)


def test_the_cells_of_a_survey_do_not_end_early_stopping():
    rng = np.random.default_rng(0)
    X = {name: rng.choice(list("abcde"), 4_000) for name in ("one", "two", "three")}
    chance = 0.2 + 0.2 * (X["one"] < "c") + 0.3 * (X["two"] == "d")
    y = rng.random(4_000) < chance
    for params in ({}, {"early_stopping": True, "n_members": 1}):
        model = tw.GradientBoostingClassifier(**params).fit(X, y)
        assert model.n_estimators_ > 5
        assert np.abs(model.predict_proba(X)[:, 1] - chance).mean() < 0.04


OWN = {"random_state": 0, "n_jobs": 1}


def rounds_of(est):
    return est.model_.facts.get("members", [])


def test_what_a_user_sets_never_clashes_with_what_quality_says():
    leaves = tw.GradientBoostingRegressor(max_leaf_nodes=7, **OWN).fit(X, NUMBERS)
    assert max(tree.n_leaves for tree in leaves.model_.trees) <= 7
    drawn = tw.GradientBoostingRegressor(sampling="gradient", **OWN).fit(X, NUMBERS)
    assert len(rounds_of(drawn)) == 10
    own_rows = tw.GradientBoostingRegressor(validation_fraction=None, **OWN).fit(X, NUMBERS)
    assert not rounds_of(own_rows)
    assert own_rows.n_estimators_ <= 300


def test_a_loss_that_has_no_value_gets_a_number_of_rounds():
    est = tw.GradientBoostingRegressor(loss=lambda y, raw: (raw - y, np.ones_like(raw)), **OWN).fit(X, NUMBERS)
    assert est.n_estimators_ == 300
    with pytest.raises(ParameterError, match="value"):
        tw.GradientBoostingRegressor(loss=lambda y, raw: (raw - y, np.ones_like(raw)), early_stopping=True, **OWN).fit(
            X, NUMBERS
        )


def test_a_callback_ends_all_of_the_growth():
    heard = []

    def stop(each):
        heard.append(each.number)
        return len(heard) >= 12

    est = tw.GradientBoostingRegressor(callbacks=stop, **OWN).fit(X, NUMBERS)
    assert heard == list(range(1, 13))
    assert rounds_of(est) == [est.model_.facts["members"][0]] * 5


def test_a_group_that_a_callback_cuts_short_has_no_share():
    heard = []

    def stop(each):
        heard.append(each.number)
        return heard.count(2) == 2  # the second round of the second group

    est = tw.GradientBoostingRegressor(callbacks=stop, **OWN).fit(X, NUMBERS)
    assert heard[-2:] == [1, 2]
    assert len(rounds_of(est)) == 5
    assert min(rounds_of(est)) > 2


def test_very_few_rows_are_one_model():
    for n in (1, 2, 3, 5, 8):
        few = tw.GradientBoostingRegressor(quality="best", **OWN).fit(X[:n], NUMBERS[:n])
        assert few.predict(X[:n]).shape == (n,)
        assert few.model_.facts["parameters"]["early_stopping"] == "auto"


def test_members_share_a_budget_of_rounds():
    labels = np.argsort(np.argsort(NUMBERS)) * 12 // N
    est = tw.GradientBoostingClassifier(learning_rate=0.001, features_per_node=1.0, subsample=1.0, **OWN)
    plan = plan_of(BoostingParams(task="classification"), Size(N, 4, 4 * N, 12))
    assert 0.8 * plan.n_rounds < sum(rounds_of(est.fit(X, labels))) <= plan.n_rounds


@pytest.mark.parametrize(
    ("size", "growths", "n_members"),
    [
        (Size(10_000, 10, 100_000, 1), ["symmetric", "leaf"], 5),
        (Size(20_001, 10, 200_010, 1), ["leaf"], 1),
        (Size(1_000, 3_000, 50_000, 1), ["leaf"], 5),  # symmetric trees would need 2 GB of histograms
        (Size(1_600, 14_249, 100_000, 4), ["leaf"], 1),  # documents: a round takes a quarter of a second
        (Size(4_000, 5, 20_000, 3_000), ["leaf"], 1),
    ],
)
def test_the_plan_depends_on_what_it_costs(size, growths, n_members):
    plan = plan_of(BoostingParams(task="classification"), size)
    assert [each.growth for each in plan.groups] == growths
    assert plan.groups[0].n_members == n_members
    assert plan.n_rounds * size.seconds_of_round <= 60.0
    assert 100 <= plan.groups[0].n_estimators <= 1_000


def test_the_learning_rate_doubles_only_where_it_is_open():
    size = Size(500, 4, 2_000, 1)
    assert [plan_of(BoostingParams(task="regression"), size).doubles_after(n) for n in (3, 100, 150)] == [20, 25, 38]
    assert plan_of(BoostingParams(task="regression", learning_rate=0.1), size).doubles_after(100) is None
    rates = [BoostSettings((), learning_rate=0.1, doubles_after=50).rate_of(at) for at in (1, 50, 51, 101, 900)]
    assert rates == [0.1, 0.1, 0.2, 0.4, 0.8]


def test_a_look_tells_how_the_first_rounds_of_the_first_members_would_do():
    n_bins = [8, 8, 8]
    table = BoostTable(bins_with(n_bins), schema_of(bins_with(n_bins)), np.zeros(3, bool))
    cells = RNG.integers(0, 8, (N, 3)).astype(np.uint8)
    rows = BoostRows(padded(cells), (cells[:, :1] * 3.0 + cells[:, 1:2]))
    held_out_rows = [np.arange(begin, N, 3) for begin in range(3)]
    evaluation = Evaluation(rows.take(np.concatenate(held_out_rows)))
    settings = BoostSettings((SquaredError(),), n_rounds=30, evaluation=evaluation)
    group = grow_members(table, rows, settings, held_out_rows)
    look = grow_members(table, rows, settings, held_out_rows, is_look=True)
    assert look.least_soon == group.least_soon == min(look.history.validation[1:])
    assert (look.history.last, look.trees) == (20, [])
    assert [len(trees) for trees in group.trees] == [30, 30, 30]


def test_members_share_the_bundles_of_all_rows_and_the_bytes_of_none(monkeypatch, tmp_path):
    table = (np.digitize(X, [-0.7, 0.0, 0.7])[:, :, None] == np.arange(4)).reshape(N, -1).astype(float)
    growers = []
    monkeypatch.setattr(layout, "_members", noted(layout._members, growers))
    bundled = saved(tw.GradientBoostingRegressor(n_members=3, **FEW).fit(table, NUMBERS), tmp_path / "bundled.tw")
    assert len(growers) == 1
    assert any(len(each) > 1 for each in growers[0])
    monkeypatch.setattr(layout, "_members", lambda *_: [])
    assert bundled == saved(tw.GradientBoostingRegressor(n_members=3, **FEW).fit(table, NUMBERS), tmp_path / "alone.tw")


def noted(function, answers):
    """The function, whose answers are noted."""

    def call(*arguments):
        answers.append(function(*arguments))
        return answers[-1]

    return call


def test_the_plan_is_said_before_it_begins():
    heard: list[str] = []
    with listen(lambda _, words: heard.append(words)):
        tw.GradientBoostingRegressor(**OWN).fit(X, NUMBERS)
    assert re.fullmatch(
        r"plan: 5 members in 2 groups or more, at most \d+ rounds in all, at most about \d s on one thread", heard[0]
    )


@pytest.mark.parametrize("is_terminal", [True, False])
def test_verbose_leaves_the_plan_as_the_first_line(is_terminal, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr("sys.stderr", stream)
    tw.GradientBoostingRegressor(n_estimators=3, verbose=1).fit(X, NUMBERS)

    first, *_, last = stream.getvalue().splitlines()
    assert first == "plan: one model, at most 3 rounds, at most about 1 s on one thread"
    assert re.search(r"boosting grew 3 rounds, loss .* \(100 %", last)


@pytest.mark.parametrize("own", [{}, {"n_members": 3, "n_estimators": 4, "early_stopping": True}])
def test_the_share_that_is_done_never_falls_from_one_group_to_the_next(own):
    heard: list[float] = []
    with listen(lambda done, words: heard.append(done) if words.startswith("round") else None):
        tw.GradientBoostingRegressor(**OWN | own).fit(X, NUMBERS)

    assert len(heard) >= 4
    assert heard == sorted(heard)
    assert 0.0 < heard[0] < heard[-1] <= 1.0


def test_a_constant_target_brings_no_warning(recwarn):
    tw.GradientBoostingRegressor(**OWN).fit(X, np.ones(N))
    assert not [each for each in recwarn.list if "early stopping" in str(each.message)]


@pytest.mark.filterwarnings("default")
def test_what_is_not_used_is_said(recwarn):
    tw.GradientBoostingRegressor(quality="best", **OWN).fit(X, NUMBERS, X_val=X, y_val=NUMBERS)
    tw.GradientBoostingRegressor(quality="fast", warm_start=True, **OWN).fit(X, NUMBERS)
    tw.GradientBoostingRegressor(derived_columns="all", monotonic_cst=[1, 0, 0, 0], **OWN).fit(X, NUMBERS)
    tw.GradientBoostingRegressor(n_members=1, n_iter_no_change=5, **OWN).fit(X, NUMBERS)
    said = [str(each.message) for each in recwarn.list]
    for words in (
        "with your own evaluation rows",
        "with warm_start",
        "derived_columns='all'",
        "n_iter_no_change is not used",
    ):
        assert any(words in text for text in said), (words, said)


def test_a_model_of_members_takes_no_further_rounds():
    est = tw.GradientBoostingRegressor(**OWN).fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="the model has members"):
        est.set_params(warm_start=True, n_estimators=10_000).fit(X, NUMBERS)


@pytest.mark.parametrize("own", [{}, {"n_estimators": 20, "early_stopping": True}])
def test_too_few_sampled_rows_are_named_as_the_reason_and_not_the_columns(own, recwarn):
    tw.GradientBoostingClassifier(subsample=0.5, **OWN, **own).fit([[0], [1]] * 30, [0, 1] * 30)

    told = [str(each.message) for each in recwarn.list if "no round is better" in str(each.message)]
    assert len(told) == 1
    assert "(subsample=0.5), fewer than the" in told[0]
    assert "the columns seem" not in told[0]
