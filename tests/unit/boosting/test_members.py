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
    assert len(set(model.facts["members"])) > 1  # each was stopped by rows of its own


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
        ({"callbacks": print}, "beside callbacks"),
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


def test_there_is_no_one_history_of_members():
    est = tw.GradientBoostingRegressor(n_members=2, **FEW).fit(X, NUMBERS)
    assert est.history_ == {}
    with pytest.raises(ParameterError, match="judged by other rows each"):
        est.plot_history()
