"""Boosting with members: each is stopped by rows of its own and replayed on all rows; the model is their mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import treewright as tw
from treewright.data import encoder
from treewright.data.table import is_sparse
from treewright.exceptions import ParameterError
from treewright.learn.rows_aside import held_out

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
        ({"warm_start": True}, "beside warm_start"),
        ({"validation_fraction": None}, "beside validation_fraction=None"),
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
    with pytest.raises(ParameterError, match="several groups"):
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
    asides = [held_out(codes, contents, 0.2, 1, by_class=True, member=member) for member in range(5)]
    times = np.sum(asides, axis=0)
    assert times.max() == 1
    assert (times == 0).sum() == 3
    again = held_out(codes, contents, 0.2, 1, by_class=True, member=5)  # a turn of its own
    assert 0 < (again & asides[0]).sum() < 20


def test_rows_that_hold_the_same_are_kept_aside_together():
    contents = np.repeat(np.arange(50, dtype=np.uint64), 3)
    aside = held_out(np.zeros((150, 1)), contents, 0.3, 4, by_class=False)
    assert aside.sum() == 45
    assert (aside.reshape(50, 3).all(axis=1) == aside.reshape(50, 3).any(axis=1)).all()
