"""AdaBoost: what members are fitted on, when boosting ends, and what is kept."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import treewright as tw
from treewright import AdaBoostClassifier, AdaBoostRegressor
from treewright.exceptions import ColumnError, DataWarning, ParameterError

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4)).round(1)
LABELS = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=120), [-0.5, 0.7])]
NUMBERS = X[:, 0] * 3 + np.abs(X[:, 1]) + 0.2 * rng.normal(size=120)
OTHER = rng.normal(size=(60, 4)).round(1)
LECTURE = ([[x] for x in range(10)], list("+++---+++-"))
TABLE = {
    "age": [31, 47, None, 60, 18, 25, 39, 52] * 8,
    "city": ["Oslo", "Lima", "Rome", None, "Oslo", "Rome", "Lima", "Bonn"] * 8,
    "size": ["S", "M", "L", "S", "L", "M", "S", "L"] * 8,
}
ANSWERS = ["yes", "no", "no", "yes", "yes", "no", "yes", "no"] * 8


class Parrot(ClassifierMixin, BaseEstimator):
    """A base that says what it is told, round by round, and keeps the weights that it saw."""

    told: tuple = ()

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.weights_, self.says_ = np.unique(y), sample_weight, Parrot.told[len(Parrot.seen)]
        Parrot.seen.append(sample_weight)
        return self

    def predict(self, X):
        return np.array(list(self.says_))


def parrots(*told):
    Parrot.told, Parrot.seen = told, []
    return Parrot()


def test_the_lecture_example_is_printed_with_its_row_weights():
    est = AdaBoostClassifier(n_estimators=3, keep_row_weights=True).fit(*LECTURE)

    assert str(est.rounds_).splitlines()[0].split() == ["round", "error", "weight"] + [
        word for row in range(10) for word in ("row", str(row))
    ]
    assert [line.split()[:4] for line in str(est.rounds_).splitlines()[1:]] == [
        ["1", "0.3000", "0.8473", "0.1000"],
        ["2", "0.2143", "1.2993", "0.0714"],
        ["3", "0.1818", "1.5041", "0.0455"],
    ]
    assert est.predict(LECTURE[0]).tolist() == LECTURE[1]
    assert est.rounds_.to_dict()["is_kept"] == [True] * 3
    assert est.rounds_[0].row_weights.tolist() == [0.1] * 10
    assert "row 0" not in str(AdaBoostClassifier(n_estimators=3).fit(*LECTURE).rounds_)


def test_a_foreign_member_sees_weights_that_add_up_to_one_and_ours_to_the_rows():
    est = AdaBoostClassifier(parrots("ab" * 4 + "aa", "bb" * 5), n_estimators=2, keep_row_weights=True)
    est.fit(np.zeros((10, 1)), list("ab" * 5))

    np.testing.assert_allclose(Parrot.seen[0], 0.1)
    np.testing.assert_allclose(Parrot.seen[1], [1 / 18] * 9 + [0.5], rtol=1e-12)
    np.testing.assert_allclose(est.row_weights_.sum(axis=1), 1.0)
    for member in AdaBoostClassifier(n_estimators=4).fit(X, LABELS):
        assert member.tree_.weight[0] == pytest.approx(120, rel=1e-12)
        assert member.tree_.value[0].sum() == pytest.approx(120, rel=1e-12)
        assert member.tree_.n_samples[0] == 120


def test_a_member_without_an_error_is_the_last():
    est = AdaBoostClassifier(parrots("ab" * 4 + "aa", "ab" * 5, "never"), n_estimators=9)
    est.fit(np.zeros((10, 1)), list("ab" * 5))

    assert est.estimator_errors_.tolist() == [0.1, 0.0]
    assert est.estimator_weights_[1] == 1.0
    assert len(est) == 2


def test_a_member_no_better_than_chance_is_dropped_and_shown():
    est = AdaBoostClassifier(parrots("ab" * 4 + "aa", "ba" * 5, "never"), n_estimators=9)
    est.fit(np.zeros((10, 1)), list("ab" * 5))

    assert len(est) == len(est.estimator_weights_) == 1
    assert [one.is_kept for one in est.rounds_] == [True, False]
    assert "dropped" in str(est.rounds_).splitlines()[2]


def test_the_first_member_must_be_better_than_chance():
    with pytest.raises(
        ParameterError, match=r"misclassifies 0\.5 of the weight, no better than chance among 2 classes"
    ):
        AdaBoostClassifier(parrots("aaaa")).fit(np.zeros((4, 1)), list("abab"))


def test_a_poor_first_regressor_stays_alone_with_a_warning():
    with pytest.warns(DataWarning, match="mean loss of 1, "):
        est = AdaBoostRegressor(n_estimators=5).fit([[0.0], [0.0], [1.0], [1.0]], [0.0, 1.0, 0.0, 1.0])

    assert est.predict([[0.0]]).tolist() == [0.5]
    assert est.estimator_weights_.tolist() == [1.0]


def test_a_class_without_weight_is_known_and_does_not_make_chance_easier():
    labels, weights = np.append(LABELS, "zzz"), np.append(np.ones(120), 0.0)
    est = AdaBoostClassifier(n_estimators=4).fit(np.vstack([X, X[:1]]), labels, weights)
    without = AdaBoostClassifier(n_estimators=4).fit(X, LABELS)

    assert est.classes_.tolist() == ["low", "mid", "top", "zzz"]
    assert est.estimator_weights_.tolist() == without.estimator_weights_.tolist()
    assert est.predict(OTHER).tolist() == without.predict(OTHER).tolist()


@pytest.mark.parametrize("base", [None, LogisticRegression(), tw.BaggingClassifier(n_estimators=2)],
                         ids=["stumps", "logistic", "bags"])  # fmt: skip
def test_answers_agree_with_one_another(base):
    est = AdaBoostClassifier(base, n_estimators=5).fit(X, LABELS)
    shares = est.predict_proba(OTHER)
    votes = np.zeros_like(shares)
    for member, weight in zip(est, est.estimator_weights_, strict=True):
        votes[np.arange(60), np.searchsorted(est.classes_, member.predict(OTHER))] += weight

    np.testing.assert_allclose(shares, votes / est.estimator_weights_.sum(), atol=1e-15)
    assert est.predict(OTHER).tolist() == est.classes_[shares.argmax(axis=1)].tolist()
    np.testing.assert_allclose(est.decision_function(OTHER), shares - (1 - shares) / 2, atol=1e-15)
    np.testing.assert_allclose(np.exp(est.predict_log_proba(OTHER)), shares, atol=1e-15)
    assert np.array_equal(list(est.staged_predict_proba(OTHER))[-1], shares)
    assert np.array_equal(list(est.staged_predict(OTHER))[-1], est.predict(OTHER))
    assert np.array_equal(list(est.staged_decision_function(OTHER))[-1], est.decision_function(OTHER))
    assert list(est.staged_score(X, LABELS))[-1] == est.score(X, LABELS) == accuracy_score(LABELS, est.predict(X))
    assert len(list(est.staged_predict(OTHER))) == len(est)


@pytest.mark.parametrize("base", [None, LinearRegression()], ids=["trees", "line"])
def test_numbers_agree_with_one_another(base):
    est = AdaBoostRegressor(base, n_estimators=5).fit(X, NUMBERS)

    assert np.array_equal(list(est.staged_predict(OTHER))[-1], est.predict(OTHER))
    assert list(est.staged_score(X, NUMBERS))[-1] == est.score(X, NUMBERS) == r2_score(NUMBERS, est.predict(X))
    first = est.estimators_[0].predict(OTHER)
    assert np.array_equal(next(iter(est.staged_predict(OTHER))), first)


def test_the_margin_of_two_classes_lies_between_minus_one_and_one():
    est = AdaBoostClassifier(n_estimators=7).fit(X, X[:, 0] + X[:, 1] > 0)
    margin = est.decision_function(OTHER)

    assert margin.shape == (60,)
    assert np.abs(margin).max() <= 1.0
    assert ((margin > 0) == est.predict(OTHER))[margin != 0].all()


def test_the_model_is_the_estimator_and_survives_a_file(tmp_path):
    for est, target in ((AdaBoostClassifier(n_estimators=6), LABELS), (AdaBoostRegressor(n_estimators=6), NUMBERS)):
        est.fit(X, target)
        est.save(tmp_path / "ada.tw")
        again = tw.load(tmp_path / "ada.tw")
        assert np.array_equal(again.predict(OTHER), est.predict(OTHER))
        assert again.tree_weights.tolist() == est.estimator_weights_.tolist()
        assert again.facts["member"]["algorithm"] == "cart"
        assert np.array_equal(pickle.loads(pickle.dumps(est)).predict(OTHER), est.predict(OTHER))
        assert est.apply(OTHER).shape == (60, 6)
        assert "leaf" in est.show(tree=0)
        assert np.array_equal(again.feature_importances, est.feature_importances_)


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (LogisticRegression(), r"member 0 \(LogisticRegression\) is not a single tree of Treewright"),
        (tw.RandomForestClassifier(n_estimators=2), "is not a single tree of Treewright"),
    ],
)
def test_what_is_no_model_says_why(base, why, tmp_path):
    est = AdaBoostClassifier(base, n_estimators=2).fit(X, LABELS)

    with pytest.raises(ParameterError, match=why):
        est.save(tmp_path / "ada.tw")
    with pytest.raises(AttributeError, match=why):
        est.show()
    assert not (tmp_path / "ada.tw").exists()


def test_importances_are_averaged_by_weight():
    est = AdaBoostClassifier(n_estimators=6).fit(X, LABELS)
    forests = AdaBoostClassifier(tw.RandomForestClassifier(n_estimators=3, max_depth=2), n_estimators=2).fit(X, LABELS)

    for one in (est, forests):
        by_hand = np.average([m.feature_importances_ for m in one], axis=0, weights=one.estimator_weights_)
        np.testing.assert_allclose(one.feature_importances_, by_hand, rtol=1e-12)
    lacking = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X, LABELS)
    with pytest.raises(AttributeError, match="LogisticRegression has no feature_importances_"):
        _ = lacking.feature_importances_


@pytest.mark.parametrize("base", [KNeighborsClassifier(3), make_pipeline(LogisticRegression())],
                         ids=["neighbours", "pipeline"])  # fmt: skip
def test_a_base_without_weights_asks_for_draws(base):
    with pytest.raises(ParameterError, match="takes no sample_weight: set bootstrap=True"):
        AdaBoostClassifier(base).fit(X, LABELS)
    est = AdaBoostClassifier(base, n_estimators=3, bootstrap=True).fit(X, LABELS)
    again = AdaBoostClassifier(base, n_estimators=3, bootstrap=True).fit(X, LABELS)

    assert np.array_equal(est.predict(OTHER), again.predict(OTHER))
    assert est.score(X, LABELS) > 0.6


def test_draws_follow_the_weights_and_the_seed():
    est = AdaBoostRegressor(KNeighborsRegressor(1), n_estimators=4, bootstrap=True, random_state=1).fit(X, NUMBERS)
    other = AdaBoostRegressor(KNeighborsRegressor(1), n_estimators=4, bootstrap=True, random_state=2).fit(X, NUMBERS)
    trees = AdaBoostRegressor(n_estimators=6, bootstrap=True, keep_row_weights=True).fit(X, NUMBERS)

    assert not np.array_equal(est.predict(OTHER), other.predict(OTHER))
    heavy = trees.row_weights_[-1] > np.quantile(trees.row_weights_[-1], 0.9)
    drawn = 120 * trees.row_weights_[-1][heavy].sum()
    assert all(member.tree_.weight[0] == 120 for member in trees)
    assert drawn > 2 * heavy.sum()


def test_a_table_of_all_kinds_of_columns_is_boosted_and_matched_by_name():
    est = AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=1), n_estimators=6).fit(TABLE, ANSWERS)
    shuffled = {name: TABLE[name] for name in ("size", "age", "city")}

    for make in (dict, pd.DataFrame, pl.DataFrame):
        assert est.predict(make(shuffled)).tolist() == est.predict(TABLE).tolist()
    assert est.feature_names_in_.tolist() == ["age", "city", "size"]
    with pytest.raises(ColumnError, match="city"):
        est.predict({"age": [1], "size": ["S"]})


def test_columns_of_other_bases_are_matched_by_name():
    frame = pd.DataFrame(X, columns=list("abcd"))
    est = AdaBoostClassifier(LogisticRegression(), n_estimators=3).fit(frame, LABELS)

    assert np.array_equal(est.predict(frame[list("dbca")]), est.predict(frame))
    with pytest.raises(ColumnError, match="'c'"):
        est.predict(frame.drop(columns="c"))


def test_texts_and_sparse_tables_are_boosted_where_the_base_takes_them():
    texts = ["sun and wind", "rain", "wind", "sun", "rain and wind", "sun sun", "rain rain", "no wind"] * 4
    labels = [text.count("sun") > 0 for text in texts]
    words = make_pipeline(CountVectorizer(), MultinomialNB())
    est = AdaBoostClassifier(words, n_estimators=2, bootstrap=True).fit(texts, labels)

    assert est.score(texts, labels) == 1.0
    dense, sparse = (AdaBoostClassifier(n_estimators=4).fit(make(X), LABELS) for make in (np.asarray, sp.csr_array))
    assert np.array_equal(dense.predict_proba(OTHER), sparse.predict_proba(OTHER))


@pytest.mark.parametrize("base", [None, LogisticRegression(), tw.DecisionTreeClassifier(max_depth=2, max_features=2)],
                         ids=["stumps", "logistic", "drawn"])  # fmt: skip
@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_warm_start_is_one_fit(base, bootstrap):
    warm = AdaBoostClassifier(base, n_estimators=3, warm_start=True, bootstrap=bootstrap).fit(X, LABELS)
    warm.set_params(n_estimators=8).fit(X, LABELS)
    whole = AdaBoostClassifier(base, n_estimators=8, bootstrap=bootstrap).fit(X, LABELS)

    assert warm.estimator_weights_.tolist() == whole.estimator_weights_.tolist()
    assert [one.number for one in warm.rounds_] == [one.number for one in whole.rounds_]
    assert np.array_equal(warm.predict_proba(OTHER), whole.predict_proba(OTHER))


def test_a_warm_start_after_the_end_adds_nothing():
    est = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, X[:, 0] > 0)
    assert est.estimator_errors_.tolist() == [0.0]

    est.set_params(n_estimators=9).fit(X, X[:, 0] > 0)
    assert len(est) == len(est.rounds_) == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"estimator": tw.DecisionTreeClassifier(max_depth=2)}, "estimator__max_depth"),
        ({"learning_rate": 0.5}, "learning_rate"),
        ({"bootstrap": True}, "bootstrap"),
        ({"keep_row_weights": True}, "keep_row_weights"),
        ({"random_state": 9}, "random_state"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_warm_start_refuses_another_parameter_by_name(change, named):
    base = tw.DecisionTreeClassifier(max_depth=1)
    est = AdaBoostClassifier(base, n_estimators=2, warm_start=True).fit(X, LABELS)
    before = est.predict_proba(X).tobytes()

    with pytest.raises(ParameterError, match=f"but {named} is different from the fit before"):
        est.set_params(n_estimators=4, **change).fit(X, LABELS)
    assert est.predict_proba(X).tobytes() == before


def test_a_warm_start_refuses_other_rows_and_fewer_members():
    est = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, LABELS)

    with pytest.raises(ParameterError, match="on the same table"):
        est.set_params(n_estimators=4).fit(X + 1, LABELS)
    with pytest.raises(ParameterError, match="larger or equal to the 3 fitted members"):
        est.set_params(n_estimators=2).fit(X, LABELS)
    with pytest.warns(DataWarning, match="without increasing n_estimators"):
        est.set_params(n_estimators=3).fit(X, LABELS)


def test_the_base_itself_is_never_fitted_or_changed():
    base = tw.DecisionTreeClassifier(max_depth=3, class_weight="balanced", max_features=2)
    before = base.get_params()
    est = AdaBoostClassifier(base, n_estimators=5).fit(X, LABELS)

    assert base.get_params() == before
    assert not hasattr(base, "model_")
    assert len({member.random_state for member in est}) == len(est) > 2
    assert {member.class_weight for member in est} == {"balanced"}


def test_a_class_that_the_base_gives_no_weight_is_wrong_to_boosting_all_the_same():
    base = tw.DecisionTreeClassifier(max_depth=2, class_weight={"mid": 0.0})
    est = AdaBoostClassifier(base, n_estimators=3).fit(X, LABELS)

    assert "mid" not in est.predict(X)
    assert est.estimator_errors_[0] >= np.mean(LABELS == "mid")


def test_members_do_not_hold_the_rows_and_can_be_audited_with_them():
    est = AdaBoostClassifier(n_estimators=3, keep_row_weights=True).fit(X, LABELS)
    member, shares = est.estimators_[1], est.row_weights_[1]

    with pytest.raises(ParameterError, match="the training rows were not kept"):
        member.audit()
    assert member.audit(0, X, LABELS, 120 * shares)[0].gain > 0
    with pytest.raises(ParameterError, match="row weights that depend on the trees before it"):
        est.model_.audit(X, LABELS)


def test_one_step_of_the_base_may_be_traced():
    est = AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=1, grow_trace=True), n_estimators=2).fit(X, LABELS)

    assert len(est.estimators_[1].trace_) == 1


def test_an_optimal_tree_as_base_has_the_least_error_of_every_round():
    codes = (LABELS != "mid").astype(int)
    greedy = AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=2), n_estimators=4).fit(X, codes)
    est = AdaBoostClassifier(tw.OptimalTreeClassifier(max_depth=2), n_estimators=4).fit(X, codes)

    assert [member.objective_ for member in est.estimators_] == pytest.approx(est.estimator_errors_.tolist())
    assert all(member.proven_ for member in est.estimators_)
    assert est.estimator_errors_[0] <= greedy.estimator_errors_[0]
