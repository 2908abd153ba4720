"""Bagging: which rows and columns members get, how their answers become one, and what is kept."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import r2_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import treewright as tw
from treewright import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treewright.core.progress import COMPILING_NOTICE
from treewright.exceptions import ColumnError, DataWarning, ParameterError

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4)).round(1)
LABELS = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=120), [-0.5, 0.7])]
NUMBERS = X[:, 0] * 3 + np.abs(X[:, 1]) + 0.2 * rng.normal(size=120)
OTHER = rng.normal(size=(60, 4)).round(1)
TABLE = {
    "age": [31, 47, None, 60, 18, 25, 39, 52] * 8,
    "city": (["Oslo", "Lima", "Rome", None, "Oslo", "Rome", "Lima", "Bonn"] * 8),
    "size": ["S", "M", "L", "S", "L", "M", "S", "L"] * 8,
}
ANSWERS = ["yes", "no", "no", "yes", "yes", "no", "yes", "no"] * 8


class Recorder(ClassifierMixin, BaseEstimator):
    """A base that keeps what it was fitted on and knows no weights."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_each_of_our_members_is_the_tree_of_its_rows_repeated():
    bag = BaggingClassifier(n_estimators=6).fit(X, LABELS)

    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        again = tw.DecisionTreeClassifier().fit(X[rows], LABELS[rows])
        assert len(rows) == len(X)
        assert member.predict(OTHER).tolist() == again.predict(OTHER).tolist()
        assert member.get_n_leaves() == again.get_n_leaves()


def test_any_other_base_gets_the_drawn_rows_repeated():
    bag = BaggingClassifier(Recorder(), n_estimators=4).fit(X, LABELS)

    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        got = sorted(zip(map(tuple, member.X_.tolist()), member.y_.tolist(), strict=True))
        assert got == sorted(zip(map(tuple, X[rows].tolist()), LABELS[rows].tolist(), strict=True))


def test_members_draw_different_rows_about_two_thirds_of_them():
    samples = BaggingClassifier(n_estimators=20).fit(X, LABELS).estimators_samples_

    shares = [len(np.unique(rows)) / len(X) for rows in samples]
    assert len({rows.tobytes() for rows in samples}) == 20
    assert abs(np.mean(shares) - (1 - np.exp(-1))) < 0.03


def test_the_base_itself_is_never_fitted_or_changed():
    base = tw.DecisionTreeClassifier(max_features=2)
    before = base.get_params()

    BaggingClassifier(base, n_estimators=2).fit(X, LABELS)

    assert base.get_params() == before
    assert not hasattr(base, "model_")


def test_each_member_has_a_seed_of_its_own_whatever_the_seed_of_the_base():
    base = tw.DecisionTreeClassifier(max_features=1, random_state=7)

    bag = BaggingClassifier(base, n_estimators=20, bootstrap=False).fit(X, LABELS)

    assert len({member.random_state for member in bag}) == 20
    assert len({member.predict_proba(OTHER).tobytes() for member in bag}) > 10


@pytest.mark.parametrize("base", [None, KNeighborsClassifier(3)], ids=["trees", "neighbours"])
def test_nothing_depends_on_the_number_of_threads(base):
    one, three = (
        BaggingClassifier(base, n_estimators=25, oob_score=True, n_jobs=n_jobs).fit(X, LABELS) for n_jobs in (1, 3)
    )

    assert one.predict_proba(OTHER).tobytes() == three.predict_proba(OTHER).tobytes()
    assert one.oob_decision_function_.tobytes() == three.oob_decision_function_.tobytes()


@pytest.mark.parametrize("base", [None, KNeighborsRegressor(3)], ids=["trees", "neighbours"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, pd.DataFrame], ids=["array", "sparse", "pandas"])
def test_a_shuffled_table_gives_the_same_ensemble(base, make):
    order = np.random.default_rng(1).permutation(len(X))

    one = BaggingRegressor(base, n_estimators=5).fit(make(X), NUMBERS)
    other = BaggingRegressor(base, n_estimators=5).fit(make(X[order]), NUMBERS[order])

    assert one.predict(make(OTHER)).tobytes() == other.predict(make(OTHER)).tobytes()


@pytest.mark.parametrize("base", [None, KNeighborsClassifier(3)], ids=["trees", "neighbours"])
@pytest.mark.parametrize("replace", [True, False])
def test_a_row_of_weight_k_is_k_rows(base, replace):
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), weights)
    options = {"n_estimators": 5, "bootstrap": replace, "max_samples": 0.8}

    weighed = BaggingClassifier(base, **options).fit(X, LABELS, sample_weight=weights)
    longer = BaggingClassifier(base, **options).fit(X[repeated], LABELS[repeated])

    assert weighed.predict_proba(OTHER).tobytes() == longer.predict_proba(OTHER).tobytes()
    assert {len(rows) for rows in weighed.estimators_samples_} == {round(0.8 * weights.sum())}


def test_text_and_missing_cells_are_drawn_by_content_too():
    order = np.random.default_rng(3).permutation(len(ANSWERS))
    frame = pl.DataFrame({**TABLE, "n": np.arange(64.0) / 2})
    answers = np.array(ANSWERS)

    one = BaggingClassifier(n_estimators=5).fit(frame, answers)
    other = BaggingClassifier(n_estimators=5).fit(frame[order], answers[order])

    assert one.predict_proba(frame).tobytes() == other.predict_proba(frame).tobytes()


def test_weights_that_are_no_numbers_of_rows_are_chances():
    weights = np.where(np.arange(len(X)) < 30, 3.7, 0.1)

    samples = BaggingClassifier(n_estimators=20).fit(X, LABELS, sample_weight=weights).estimators_samples_

    heavy = np.mean([np.mean(rows < 30) for rows in samples])
    assert {len(rows) for rows in samples} == {len(X)}
    assert abs(heavy - 111 / 120) < 0.02


def test_without_replacement_such_weights_stay_with_the_rows():
    weights = np.linspace(0.5, 2.3, len(X))
    options = {"n_estimators": 3, "bootstrap": False}

    every = BaggingRegressor(**options).fit(X, NUMBERS, sample_weight=weights)
    part = BaggingRegressor(max_samples=0.5, **options).fit(X, NUMBERS, sample_weight=weights)

    alone = tw.DecisionTreeRegressor().fit(X, NUMBERS, sample_weight=weights)
    assert np.allclose(every.predict(OTHER), alone.predict(OTHER), rtol=1e-12)
    for member, rows in zip(part.estimators_, part.estimators_samples_, strict=True):
        again = tw.DecisionTreeRegressor().fit(X[rows], NUMBERS[rows], sample_weight=weights[rows])
        assert len(set(rows.tolist())) == len(rows) == 60
        assert np.allclose(member.predict(OTHER), again.predict(OTHER), rtol=1e-12)


def test_a_soft_vote_is_the_mean_of_the_shares_and_a_hard_vote_counts():
    base = tw.DecisionTreeClassifier(max_depth=2)
    soft = BaggingClassifier(base, n_estimators=9).fit(X, LABELS)
    hard = BaggingClassifier(base, n_estimators=9, voting="hard").fit(X, LABELS)

    shares = np.mean([member.predict_proba(OTHER) for member in soft], axis=0)
    votes = np.mean([member.predict(OTHER)[:, None] == hard.classes_ for member in hard], axis=0)

    assert np.allclose(soft.predict_proba(OTHER), shares, rtol=0, atol=1e-15)
    assert np.allclose(hard.predict_proba(OTHER), votes, rtol=0, atol=1e-15)
    assert hard.predict(OTHER).tolist() == hard.classes_[votes.argmax(axis=1)].tolist()
    assert np.allclose(np.exp(soft.predict_log_proba(OTHER)), shares)


def test_members_without_probabilities_vote():
    bag = BaggingClassifier(Perceptron(), n_estimators=5).fit(X, LABELS)

    votes = np.mean([member.predict(OTHER)[:, None] == bag.classes_ for member in bag], axis=0)
    assert np.allclose(bag.predict_proba(OTHER), votes, rtol=0, atol=1e-15)


def test_a_class_that_a_sample_misses_has_share_zero_there():
    labels = np.where(np.arange(len(X)) == 0, "rare", LABELS)
    bag = BaggingClassifier(KNeighborsClassifier(1), n_estimators=12, oob_score=True).fit(X, labels)

    known = [len(member.classes_) for member in bag]
    holders = np.mean([0 in rows for rows in bag.estimators_samples_])
    assert set(known) == {3, 4}
    assert bag.predict_proba(X[:1])[0, bag.classes_.tolist().index("rare")] == pytest.approx(holders)
    assert np.allclose(bag.predict_proba(OTHER).sum(axis=1), 1)


def test_decision_values_are_averaged_where_members_have_them():
    bag = BaggingClassifier(LogisticRegression(), n_estimators=3).fit(X, LABELS)

    mean = np.mean([member.decision_function(OTHER) for member in bag], axis=0)
    assert np.allclose(bag.decision_function(OTHER), mean)
    assert not hasattr(BaggingClassifier(), "decision_function")
    assert not hasattr(BaggingClassifier(LogisticRegression(), voting="hard"), "decision_function")


def test_decision_values_are_refused_where_a_member_lacks_a_class():
    labels = np.where(np.arange(len(X)) == 0, "rare", LABELS)
    bag = BaggingClassifier(LogisticRegression(), n_estimators=12).fit(X, labels)

    with pytest.raises(ParameterError, match="seen 3 of 4 classes"):
        bag.decision_function(OTHER)


@pytest.mark.parametrize("base", [None, KNeighborsClassifier(3)], ids=["trees", "neighbours"])
def test_out_of_bag_a_row_is_judged_by_the_members_that_did_not_draw_it(base):
    weights = np.random.default_rng(4).uniform(0.5, 1.5, len(X))
    bag = BaggingClassifier(base, n_estimators=40, oob_score=True).fit(X, LABELS, sample_weight=weights)

    sums, times = np.zeros((len(X), 3)), np.zeros(len(X))
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), rows)
        sums[out] += member.predict_proba(X[out])
        times[out] += 1
    shares = sums / times[:, None]

    assert np.allclose(bag.oob_decision_function_, shares)
    right = bag.classes_[shares.argmax(axis=1)] == LABELS
    assert bag.oob_score_ == pytest.approx(np.average(right, weights=weights))


def test_out_of_bag_numbers_have_an_r_squared():
    bag = BaggingRegressor(n_estimators=40, oob_score=True).fit(X, NUMBERS)

    said = [[] for _ in X]
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        for row in np.setdiff1d(np.arange(len(X)), rows):
            said[row].append(member.predict(X[row : row + 1])[0])
    means = np.array([np.mean(some) for some in said])

    assert np.allclose(bag.oob_prediction_, means)
    assert bag.oob_score_ == pytest.approx(r2_score(NUMBERS, means))


def test_rows_that_every_member_drew_are_told_and_not_judged():
    with pytest.warns(DataWarning, match="of 120 row.s. are in the sample of every member"):
        bag = BaggingClassifier(n_estimators=1, oob_score=True).fit(X, LABELS)

    drawn = np.unique(bag.estimators_samples_[0])
    lost = np.flatnonzero(np.isnan(bag.oob_decision_function_).any(axis=1))
    out = np.setdiff1d(np.arange(len(X)), drawn)
    assert lost.tolist() == drawn.tolist()
    assert bag.oob_score_ == pytest.approx(np.mean(bag[0].predict(X[out]) == LABELS[out]))


def test_a_warm_start_ends_where_one_fit_ends():
    whole = BaggingClassifier(n_estimators=30, oob_score=True, max_features=0.5).fit(X, LABELS)
    grown = BaggingClassifier(n_estimators=12, warm_start=True, max_features=0.5).fit(X, LABELS)
    first = grown.estimators_[0]

    grown.set_params(n_estimators=30, oob_score=True).fit(X, LABELS)

    assert grown.estimators_[0] is first
    assert grown.predict_proba(OTHER).tobytes() == whole.predict_proba(OTHER).tobytes()
    assert [rows.tobytes() for rows in grown.estimators_samples_] == [
        rows.tobytes() for rows in whole.estimators_samples_
    ]
    assert grown.oob_score_ == whole.oob_score_


def test_a_warm_start_from_a_moving_seed_goes_on_with_the_first_one():
    whole = BaggingRegressor(n_estimators=8, random_state=np.random.RandomState(5)).fit(X, NUMBERS)
    grown = BaggingRegressor(n_estimators=3, random_state=np.random.RandomState(5), warm_start=True).fit(X, NUMBERS)

    grown.set_params(n_estimators=8).fit(X, NUMBERS)

    assert grown.predict(OTHER).tobytes() == whole.predict(OTHER).tobytes()


def test_seeds_change_the_draws_and_none_is_zero():
    fits = [BaggingRegressor(n_estimators=3, random_state=seed).fit(X, NUMBERS).predict(OTHER) for seed in (None, 0, 1)]

    assert fits[0].tobytes() == fits[1].tobytes() != fits[2].tobytes()


@pytest.mark.parametrize(("given", "drawn"), [(2, 2), (0.8, 3), (0.1, 1), (1.0, 4), (4, 4)])
def test_each_member_gets_so_many_columns(given, drawn):
    bag = BaggingClassifier(n_estimators=10, max_features=given).fit(X, LABELS)

    assert {len(set(columns.tolist())) for columns in bag.estimators_features_} == {drawn}
    assert {member.n_features_in_ for member in bag} == {drawn}
    assert bag.n_features_in_ == 4
    assert (len({columns.tobytes() for columns in bag.estimators_features_}) > 1) == (drawn < 4)


@pytest.mark.parametrize("base", [None, KNeighborsClassifier(3)], ids=["trees", "neighbours"])
def test_members_on_some_columns_find_them_by_name(base):
    frame = pd.DataFrame(X, columns=list("abcd"))
    bag = BaggingClassifier(base, n_estimators=6, max_features=2).fit(frame, LABELS)

    assert bag.feature_names_in_.tolist() == list("abcd")
    assert (bag.predict_proba(frame[list("cadb")]) == bag.predict_proba(frame)).all()
    with pytest.raises(ColumnError, match="missing 1 column"):
        bag.predict(frame[["a", "b", "c"]])


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"])
def test_a_column_drawn_twice_has_a_second_name(make):
    bag = BaggingClassifier(n_estimators=8, bootstrap_features=True).fit(make(TABLE), ANSWERS)

    names = [member.feature_names_in_.tolist() for member in bag]
    assert any("(2)" in name for some in names for name in some)
    assert all(len(set(some)) == 3 for some in names)
    assert bag.predict(make(TABLE)).shape == (64,)


def test_what_was_said_about_columns_goes_with_them():
    base = tw.DecisionTreeClassifier(ordinal={"size": ["S", "M", "L"]}, nominal=["age"], monotonic_cst={"size": 1})
    bag = BaggingClassifier(base, n_estimators=10, max_features=2).fit(TABLE, ANSWERS)

    kinds = {(column.name, column.kind) for member in bag for column in member.model_.schema.columns}
    assert kinds == {("age", "nominal"), ("city", "nominal"), ("size", "ordinal")}


def test_what_was_said_by_position_goes_with_the_columns_too():
    base = tw.DecisionTreeRegressor(nominal=[3], monotonic_cst=[1, 0, -1, 0])
    bag = BaggingRegressor(base, n_estimators=10, max_features=2).fit(X, NUMBERS)

    for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        assert [column.kind == "nominal" for column in member.model_.schema.columns] == (columns == 3).tolist()
        assert list(member.monotonic_cst) == [[1, 0, -1, 0][at] for at in columns]


def test_all_columns_nominal_stay_all():
    table = {name: column for name, column in TABLE.items() if name != "age"}
    bag = BaggingClassifier(tw.ID3Classifier(nominal="all"), n_estimators=6, max_features=1).fit(table, ANSWERS)

    assert {member.nominal for member in bag} == {"all"}


@pytest.mark.parametrize("base", [tw.C45Classifier(), tw.CHAIDClassifier(), tw.DecisionTreeClassifier()], ids=repr)
@pytest.mark.parametrize("make", [dict, pl.DataFrame], ids=["dict", "polars"])
def test_levels_that_a_sample_misses_stay_known(base, make):
    table = make({**TABLE, "city": ["Bergen", *TABLE["city"][1:]]})
    bag = BaggingClassifier(base, n_estimators=12).fit(table, ANSWERS)

    assert any(0 not in rows for rows in bag.estimators_samples_)
    assert len({member.model_.schema for member in bag}) == 1
    assert "Bergen" in bag.model_.schema.columns[1].levels


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_a_saved_ensemble_of_trees_predicts_the_same_bits(voting, tmp_path):
    bag = BaggingClassifier(n_estimators=9, voting=voting).fit(TABLE, ANSWERS)

    bag.save(tmp_path / "bag.tw")
    model = tw.load(tmp_path / "bag.tw")

    assert len(model.trees) == 9
    assert model.predict_proba(TABLE).tobytes() == bag.predict_proba(TABLE).tobytes()
    assert model.predict(TABLE).tolist() == bag.predict(TABLE).tolist()
    assert model.facts["algorithm"] == "bagging"
    assert model.facts["member"]["algorithm"] == "cart"


@pytest.mark.parametrize(
    ("base", "options", "reason"),
    [
        (None, {"max_features": 2}, "do not have all columns"),
        (LogisticRegression(), {}, "is not a single tree of Treewright"),
        (BaggingClassifier(n_estimators=2), {}, "is not a single tree of Treewright"),
    ],
    ids=["columns", "other", "nested"],
)
def test_what_is_no_model_says_why_it_cannot_be_saved(base, options, reason, tmp_path):
    bag = BaggingClassifier(base, n_estimators=3, **options).fit(X, LABELS)

    assert not hasattr(bag, "model_")
    with pytest.raises(ParameterError, match=reason):
        bag.save(tmp_path / "bag.tw")
    assert not (tmp_path / "bag.tw").exists()
    assert pickle.loads(pickle.dumps(bag)).predict(OTHER).tolist() == bag.predict(OTHER).tolist()


def test_members_do_not_keep_the_rows_of_the_fit():
    bag = BaggingClassifier(n_estimators=2).fit(X, LABELS)

    for member in bag:
        with pytest.raises(ParameterError, match="the training rows were not kept"):
            member.audit()


def test_numbers_are_averaged_for_one_and_several_outputs():
    several = np.stack([NUMBERS, -2 * NUMBERS], axis=1)
    one = BaggingRegressor(n_estimators=5).fit(X, NUMBERS)
    two = BaggingRegressor(n_estimators=5, max_features=3).fit(X, several)

    assert np.allclose(one.predict(OTHER), np.mean([member.predict(OTHER) for member in one], axis=0))
    parts = [m.predict(OTHER[:, at]) for m, at in zip(two.estimators_, two.estimators_features_, strict=True)]
    assert np.allclose(two.predict(OTHER), np.mean(parts, axis=0))


@pytest.mark.parametrize("features", [1.0, 0.5], ids=["model", "members"])
def test_several_targets_have_a_list_of_shares(features):
    targets = np.stack([LABELS, np.where(X[:, 1] > 0, "up", "down")], axis=1)
    bag = BaggingClassifier(n_estimators=30, max_features=features, oob_score=True).fit(X, targets)

    shares = bag.predict_proba(OTHER)
    assert [share.shape for share in shares] == [(60, 3), (60, 2)]
    said = np.stack([labels[share.argmax(axis=1)] for labels, share in zip(bag.classes_, shares, strict=True)], axis=1)
    assert bag.predict(OTHER).tolist() == said.tolist()
    assert 0.4 < bag.oob_score_ < 1  # both right; by chance a sixth


def test_a_base_may_take_what_is_no_table():
    texts = ["good film", "bad film", "good plot", "bad plot", "good", "bad"] * 5
    likes = [1, 0, 1, 0, 1, 0] * 5
    bag = BaggingClassifier(make_pipeline(CountVectorizer(), MultinomialNB()), n_estimators=5).fit(texts, likes)

    assert bag.predict(["good plot", "bad film"]).tolist() == [1, 0]
    assert not hasattr(bag, "n_features_in_")


@pytest.mark.parametrize(
    "make",
    [
        *(BaggingClassifier, BaggingRegressor, AdaBoostClassifier, AdaBoostRegressor, RandomForestClassifier),
        *(RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor, GradientBoostingClassifier),
        *(GradientBoostingRegressor, IsolationForest),
    ],
)
@pytest.mark.parametrize("verbose", [0, False, 1, True, 7])
def test_every_estimator_of_many_trees_understands_verbose_alike(capsys, make, verbose):
    rows, target = X[:30], NUMBERS[:30] if make.__name__.endswith("Regressor") else LABELS[:30]
    make(n_estimators=2, verbose=verbose, n_jobs=2).fit(rows, target)
    shown = [line for line in capsys.readouterr().err.splitlines() if COMPILING_NOTICE not in line]
    if verbose and "Boosting" in make.__name__:  # says first what it is going to do
        assert shown.pop(0).startswith("plan: one model, at most 2 rounds, at most about ")

    assert len(shown) == bool(verbose)
    assert all(re.search(r"\(100 %, \d+:\d\d\)$", line) for line in shown), shown


def test_the_ensemble_is_a_sequence_of_its_members():
    bag = BaggingRegressor(n_estimators=3).fit(X, NUMBERS)

    assert len(bag) == 3
    assert list(bag) == bag.estimators_
    assert bag[-1] is bag.estimators_[2]
