"""``IsolationForest``: as good as scikit-learn's, the same whatever the threads and the order of the rows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import IsolationForest as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

import treewright as tw
from treewright.core import progress
from treewright.estimators.isolation import IsolationForest
from treewright.exceptions import DataWarning, ParameterError, UnseenLevelError
from treewright.forest.isolation import anomaly_scores
from treewright.trees import codec


def cloud_and_ring(rng):
    """1,000 points of a cloud in two dimensions, and 60 around it."""
    angle, radius = rng.uniform(0, 2 * np.pi, 60), rng.uniform(3, 5, 60)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return np.vstack([rng.normal(size=(1000, 2)), ring]), np.repeat([0, 1], [1000, 60])


def three_states(rng):
    """As the shuttle data: three states of nine measures, one frequent, one rare; 80 rows are odd in four measures."""
    centres = rng.normal(scale=8, size=(3, 9))
    states = [
        rng.normal(size=(n, 9)) * spread + centre
        for n, spread, centre in zip((1500, 350, 150), (1, 2, 0.5), centres, strict=True)
    ]
    odd = np.hstack([rng.normal(scale=9, size=(80, 4)), rng.normal(size=(80, 5))])
    return np.vstack([*states, odd]), np.repeat([0, 1], [2000, 80])


@pytest.mark.parametrize("draw", [cloud_and_ring, three_states])
def test_outliers_are_found_as_well_as_scikit_learn_finds_them(draw):
    ours, theirs = [], []
    for seed in range(5):
        X, odd = draw(np.random.default_rng(seed))
        ours.append(roc_auc_score(odd, -IsolationForest(random_state=seed).fit(X).score_samples(X)))
        theirs.append(roc_auc_score(odd, -TheirForest(random_state=seed).fit(X).score_samples(X)))

    assert np.mean(theirs) > 0.95  # there is something to find
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.02


def test_scores_are_on_the_scale_of_scikit_learn():
    X, _ = cloud_and_ring(np.random.default_rng(0))

    ours = IsolationForest(n_estimators=400).fit(X).score_samples(X)
    theirs = TheirForest(n_estimators=400, random_state=0).fit(X).score_samples(X)

    # Two forests of other seeds differ by 0.02 at most.
    assert np.abs(ours - theirs).max() < 0.04
    assert np.abs(ours - theirs).mean() < 0.01


@pytest.fixture
def mixed():
    """Numbers, names and missing cells."""
    rng = np.random.default_rng(1)
    n = 400
    return {
        "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "town": rng.choice(["Bonn", "Oslo", "Rome", "Lima"], n, p=[0.5, 0.3, 0.15, 0.05]).tolist(),
        "y": rng.normal(size=n),
    }


def test_rows_in_another_order_give_the_same_forest(mixed):
    order = np.random.default_rng(2).permutation(400)
    shuffled = {name: np.array(cells)[order].tolist() for name, cells in mixed.items()}

    first, second = IsolationForest(contamination=0.1).fit(mixed), IsolationForest(contamination=0.1).fit(shuffled)

    assert codec.dumps(first.model_) == codec.dumps(second.model_)


@pytest.mark.parametrize("options", [{}, {"bootstrap": True}, {"max_samples": 0.9}, {"contamination": 0.2}])
def test_a_row_of_weight_k_is_k_equal_rows(options):
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(60, 3)), rng.integers(0, 5, 60)

    weighted = IsolationForest(**options).fit(X, sample_weight=weights)
    repeated = IsolationForest(**options).fit(np.repeat(X, weights, axis=0))

    assert weighted.max_samples_ == repeated.max_samples_
    assert weighted.offset_ == repeated.offset_
    assert weighted.score_samples(X).tobytes() == repeated.score_samples(X).tobytes()


@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_row_is_drawn_as_often_as_it_weighs(bootstrap):
    weights = np.r_[np.full(500, 0.1), np.full(500, 0.3)]
    X = np.random.default_rng(4).normal(size=(1000, 2))

    forest = IsolationForest(n_estimators=200, max_samples=20, bootstrap=bootstrap).fit(X, sample_weight=weights)

    heavy = np.mean([rows >= 500 for rows in forest.estimators_samples_])
    assert abs(heavy - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)


def test_the_share_of_weight_below_the_offset_is_the_contamination():
    rng = np.random.default_rng(5)
    X, weights = rng.normal(size=(500, 2)), rng.uniform(0.1, 2, 500)

    forest = IsolationForest(contamination=0.15).fit(X, sample_weight=weights)
    even = IsolationForest(contamination=0.15).fit(X)

    share = weights[forest.score_samples(X) < forest.offset_].sum() / weights.sum()
    assert 0.145 < share <= 0.15
    assert (even.predict(X) == -1).sum() == 75


def test_samples_and_columns_are_those_that_the_trees_drew():
    X = np.random.default_rng(6).normal(size=(50, 6))
    weights = np.r_[np.zeros(10), np.ones(40)]

    forest = IsolationForest(n_estimators=15, max_samples=25, max_features=2).fit(X, sample_weight=weights)

    for tree, rows, columns in zip(
        forest.estimators_, forest.estimators_samples_, forest.estimators_features_, strict=True
    ):
        assert len(set(rows.tolist())) == 25
        assert rows.min() >= 10
        assert set(tree.trees[0].feature.tolist()) - {-1} <= set(columns.tolist())
        assert len(columns) == 2
        leaves = tree.apply(X[rows])
        assert np.bincount(leaves).max() == tree.trees[0].n_samples[np.unique(leaves)].max()
    assert forest.estimators_[0].predict(X).shape == (50,)


def test_a_warm_start_gives_the_forest_that_would_have_grown_at_once(mixed):
    forest = IsolationForest(n_estimators=10, warm_start=True, contamination=0.1).fit(mixed)
    first = forest.model_.trees

    forest.set_params(n_estimators=25).fit(mixed)
    at_once = IsolationForest(n_estimators=25, contamination=0.1).fit(mixed)

    assert forest.model_.trees[:10] == first
    assert codec.dumps(forest.model_) == codec.dumps(at_once.model_)
    assert [rows.tolist() for rows in forest.estimators_samples_] == [
        rows.tolist() for rows in at_once.estimators_samples_
    ]


def test_a_warm_start_is_refused_where_trees_would_be_lost_or_differ():
    X = np.random.default_rng(7).normal(size=(100, 2))
    forest = IsolationForest(n_estimators=10, warm_start=True).fit(X)

    with pytest.raises(ParameterError, match="n_estimators=5 must be larger or equal to the 10 fitted trees"):
        forest.set_params(n_estimators=5).fit(X)
    with pytest.raises(ParameterError, match="columns, rows or weights are different"):
        forest.set_params(n_estimators=20).fit(X[:50])
    with pytest.warns(DataWarning, match="does not fit new trees"):
        forest.set_params(n_estimators=10).fit(X)
    assert len(forest.estimators_) == 10


def test_a_saved_forest_scores_as_the_fitted_one(mixed, tmp_path):
    forest = IsolationForest(contamination=0.1).fit(mixed)

    forest.save(tmp_path / "odd.tw")
    model = tw.load(tmp_path / "odd.tw")

    scores = anomaly_scores(model, mixed)
    assert (-scores).tobytes() == forest.score_samples(mixed).tobytes()
    assert np.where(-scores < model.facts["offset"], -1, 1).tolist() == forest.predict(mixed).tolist()


@pytest.mark.parametrize("copied", [lambda forest: pickle.loads(pickle.dumps(forest)), copy.deepcopy])
def test_a_copy_predicts_and_grows_on_and_knows_what_its_trees_drew(mixed, copied):
    forest = IsolationForest(n_estimators=10, max_features=2, warm_start=True).fit(mixed)

    second = copied(forest)

    assert second.predict(mixed).tolist() == forest.predict(mixed).tolist()
    for name in ("estimators_samples_", "estimators_features_"):
        own, of_copy = ([drawn.tolist() for drawn in getattr(each, name)] for each in (forest, second))
        assert own == of_copy
    grown = second.set_params(n_estimators=12).fit(mixed)
    assert codec.dumps(grown.model_) == codec.dumps(forest.set_params(n_estimators=12).fit(mixed).model_)
    assert len(grown.estimators_samples_) == len(grown.estimators_features_) == 12


def test_a_name_that_fit_never_saw_is_taken_as_asked(mixed):
    row = {"x": [0.0], "town": ["Paris"], "y": [0.0]}
    options = {"n_estimators": 20}
    missing, heavier = (IsolationForest(unseen=way, **options).fit(mixed) for way in ("missing", "majority"))
    with pytest.warns(DataWarning, match="missing values in 1 column"):
        as_missing = missing.score_samples({**row, "town": [None]})

    assert missing.score_samples(row) == as_missing
    assert heavier.predict(row).tolist() == [1]
    with pytest.raises(UnseenLevelError, match="Paris"):
        IsolationForest(unseen="error", **options).fit(mixed).predict(row)


def test_a_rare_name_is_odder_than_a_frequent_one(mixed):
    forest = IsolationForest(n_estimators=300, contamination=0.1).fit({"town": mixed["town"]})

    bonn, lima = forest.score_samples({"town": ["Bonn", "Lima"]})

    assert lima < bonn


def test_columns_are_matched_by_name(mixed):
    forest = IsolationForest().fit(pd.DataFrame(mixed))

    assert forest.feature_names_in_.tolist() == ["x", "town", "y"]
    turned = pd.DataFrame(mixed)[["y", "town", "x"]]
    assert forest.score_samples(turned).tobytes() == forest.score_samples(mixed).tobytes()
    assert not hasattr(forest.fit(np.ones((4, 2))), "feature_names_in_")


def test_float32_and_float64_of_the_same_numbers_give_the_same_forest():
    X = np.random.default_rng(8).normal(size=(300, 3)).astype(np.float32)

    single, double = IsolationForest().fit(X), IsolationForest().fit(X.astype(np.float64))

    assert codec.dumps(single.model_) == codec.dumps(double.model_)
    assert single.score_samples(X).tobytes() == double.score_samples(np.asfortranarray(X)).tobytes()


def test_a_seed_changes_the_trees_and_none_is_0(mixed):
    made = [codec.dumps(IsolationForest(random_state=seed).fit(mixed).model_) for seed in (1, np.random.RandomState(1))]
    none, zero = (IsolationForest(random_state=seed).fit(mixed).score_samples(mixed) for seed in (None, 0))

    assert made[0] != made[1]
    assert none.tobytes() == zero.tobytes()


def test_nothing_is_known_before_a_fit():
    forest = IsolationForest()

    for ask in (
        lambda: forest.predict([[1.0]]),
        lambda: forest.estimators_,
        lambda: forest.estimators_samples_,
        lambda: forest.save("nowhere"),
    ):
        with pytest.raises(NotFittedError):
            ask()


def test_verbose_tells_how_far_it_is_and_changes_nothing(mixed, capsys):
    loud = IsolationForest(n_estimators=10, verbose=1, n_jobs=1).fit(mixed)

    assert "growing" in capsys.readouterr().err
    assert codec.dumps(loud.model_) == codec.dumps(clone(loud).set_params(verbose=0).fit(mixed).model_)
    assert capsys.readouterr().err == ""


def test_progress_rises_to_the_end(mixed):
    heard = []
    with progress.listen(lambda done, what: heard.append((done, what))):
        IsolationForest(n_estimators=20, n_jobs=1).fit(mixed)

    shares = [done for done, what in heard if what == "growing"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_fit_predict_is_fit_and_predict(mixed):
    assert IsolationForest().fit_predict(mixed).tolist() == IsolationForest().fit(mixed).predict(mixed).tolist()
