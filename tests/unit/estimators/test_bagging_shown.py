"""What bags say of their members, and what members are told about columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier as TheirTree

import treewright as tw
from treewright import BaggingClassifier, BaggingRegressor
from treewright.exceptions import ColumnError, DataWarning, ParameterError

BOTH = pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4)).round(2)
NUMBERS = X[:, 0] * X[:, 2] * 2 + X[:, 1] + rng.normal(0, 0.3, 150)
LABELS = np.where(NUMBERS > 0, "up", "down")
FRAME = pd.DataFrame(X, columns=list("abcd"))


def asked_together(member, table):
    """The sets of columns, by name, that the ways of the rows through a tree ask."""
    path, model = member.decision_path(table), member.model_
    for row in range(path.shape[0]):
        nodes = path.indices[path.indptr[row] : path.indptr[row + 1]]
        yield {node.test.column for node in map(model.node, nodes.tolist()) if node.test}


@pytest.mark.parametrize("groups", [[[0, 1]], [["a", "b"], ["d", "c"]], [["a", 1], ["c"], ["c", "d"]]], ids=repr)
@pytest.mark.parametrize("options", [{"max_features": 3}, {"max_features": 2}, {"bootstrap_features": True}], ids=repr)
def test_members_ask_only_columns_together_that_may_meet(groups, options):
    base = tw.DecisionTreeRegressor(splitter="hist", interaction_cst=groups, max_depth=4)
    bag = BaggingRegressor(base, n_estimators=12, **options).fit(FRAME, NUMBERS)

    ways = []
    for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        part = pd.DataFrame(X[:, columns], columns=member.feature_names_in_)
        ways += [{name[0] for name in way} for way in asked_together(member, part)]
    assert any(len(way) == 2 for way in ways)
    assert all(way <= {"a", "b"} or way <= {"c", "d"} for way in ways)


def test_columns_without_names_meet_as_they_may_too():
    base = tw.DecisionTreeRegressor(splitter="hist", interaction_cst=[[0, 1]], max_depth=4)
    bag = BaggingRegressor(base, n_estimators=12, max_features=3).fit(X, NUMBERS)

    for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        for way in asked_together(member, X[:, columns]):
            of_fit = {int(columns[int(name[1:])]) for name in way}
            assert of_fit <= {0, 1} or of_fit <= {2, 3}


@pytest.mark.parametrize("word", ["pairwise", "no_interactions"])
def test_words_about_columns_that_may_meet_stay_words(word):
    base = tw.DecisionTreeRegressor(splitter="hist", interaction_cst=word, max_depth=3)
    bag = BaggingRegressor(base, n_estimators=4, max_features=2).fit(FRAME, NUMBERS)

    assert {member.interaction_cst for member in bag} == {word}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"interaction_cst": [["a", "zz"]], "splitter": "hist"}, "interaction_cst names a column that X does not have"),
        ({"monotonic_cst": {"zz": 1}}, "monotonic_cst names a column that X does not have"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has shape 2 but the input data X has 4 features"),
    ],
    ids=["groups", "signs by name", "too few signs"],
)
def test_constraints_are_on_the_columns_of_the_table_not_of_the_member(told, why):
    with pytest.raises(ParameterError, match=why):
        BaggingRegressor(tw.DecisionTreeRegressor(**told), n_estimators=2, max_features=2).fit(FRAME, NUMBERS)


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_a_bag_of_trees_shows_each_of_them(kind):
    bag = kind(n_estimators=3).fit(FRAME, LABELS if kind is BaggingClassifier else NUMBERS)

    leaves = bag.apply(FRAME)
    path, first = bag.decision_path(FRAME)
    assert leaves.shape == (150, 3)
    assert path.shape == (150, first[-1])
    for at, member in enumerate(bag):
        assert leaves[:, at].tolist() == member.apply(FRAME).tolist()
        assert path[:, first[at] : first[at + 1]].toarray().tolist() == member.decision_path(FRAME).toarray().tolist()
        assert bag.node(0, tree=at).test == member.node(0).test
        assert len(bag.rules(tree=at)) == len(member.rules())
        assert bag.plot(tree=at).text == bag.model_.plot(tree=at).text
        assert bag.show(tree=at) == bag.model_.show(tree=at)
        assert bag.tree(at).predict(FRAME).tolist() == member.predict(FRAME).tolist()
    assert "by 3 trees" in bag.show()
    mean = np.mean([member.feature_importances_ for member in bag], axis=0)
    assert np.allclose(bag.feature_importances_, mean, rtol=1e-12)


@pytest.mark.parametrize("verb", ["rules", "plot"])
def test_what_is_for_one_tree_asks_which(verb):
    bag = BaggingClassifier(n_estimators=3).fit(X, LABELS)

    with pytest.raises(ParameterError, match="the model has 3 trees: choose one"):
        getattr(bag, verb)()


@pytest.mark.parametrize(
    ("base", "options", "why"),
    [
        (LogisticRegression(), {}, "is not a single tree of Treewright"),
        (tw.RandomForestClassifier(2), {}, "is not a single tree of Treewright"),
        (None, {"max_features": 2}, "do not have all columns"),
    ],
    ids=["other", "forests", "columns"],
)
def test_a_bag_that_is_no_model_of_trees_says_why_it_shows_none(base, options, why):
    bag = BaggingClassifier(base, n_estimators=2, **options).fit(X, LABELS)

    with pytest.raises(AttributeError, match=why):
        bag.show()
    with pytest.raises(AttributeError, match=why):
        bag.apply(X)
    assert not hasattr(bag, "feature_importances_")


def test_a_member_is_audited_on_its_rows_as_weights():
    bag = BaggingClassifier(n_estimators=2).fit(X, LABELS)
    drawn = np.bincount(bag.estimators_samples_[1], minlength=len(X))

    with pytest.raises(ParameterError, match="the estimator was pickled or is a member of a bag"):
        bag[1].audit()
    audit = bag[1].audit(0, X, LABELS, drawn)

    alone = tw.DecisionTreeClassifier().fit(X, LABELS, sample_weight=drawn)
    assert str(audit) == str(alone.audit())


def test_the_out_of_bag_score_of_several_targets_asks_for_every_one_as_in_forests():
    targets = np.stack([LABELS, np.where(X[:, 2] > 0, "left", "right")], axis=1)
    bag = BaggingClassifier(n_estimators=40, oob_score=True).fit(X, targets)

    said = [
        labels[share.argmax(axis=1)] for labels, share in zip(bag.classes_, bag.oob_decision_function_, strict=True)
    ]
    right = np.stack(said, axis=1) == targets
    assert bag.oob_score_ == pytest.approx(right.all(axis=1).mean())
    assert bag.oob_score_ < right.mean()


@BOTH
@pytest.mark.parametrize("use", [len, list, lambda bag: bag[0]], ids=["len", "list", "index"])
def test_a_bag_without_members_says_that_it_is_not_fitted(kind, use):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        use(kind())


@BOTH
def test_a_bag_is_true_whether_it_is_fitted_or_not(kind):
    assert kind()


@BOTH
@pytest.mark.parametrize("name", ["n_estimators", "max_samples", "max_features"])
@pytest.mark.parametrize("value", [True, False, np.True_])
def test_true_is_no_number(kind, name, value):
    with pytest.raises(ParameterError, match=f"'{name}' parameter"):
        kind(**{name: value}).fit(X, NUMBERS > 0)


@BOTH
@pytest.mark.parametrize("name", ["max_samples", "max_features"])
def test_a_share_may_be_any_sort_of_float(kind, name):
    one, other = (kind(n_estimators=3, **{name: half}).fit(X, NUMBERS > 0) for half in (0.5, np.float32(0.5)))

    assert one.predict(X).tolist() == other.predict(X).tolist()


@pytest.mark.parametrize("options", [{}, {"max_features": 1}])
def test_no_rows_give_no_predictions_whatever_the_base_makes_of_them(options):
    bag = BaggingClassifier(TheirTree(), n_estimators=3, **options).fit(FRAME, LABELS)

    assert bag.predict(FRAME[:0]).shape == (0,)
    assert bag.predict(FRAME[:0]).dtype == bag.classes_.dtype
    assert bag.predict_proba(FRAME[:0]).shape == (0, 2)
    with pytest.raises(ColumnError, match="missing 1 column"):
        bag.predict(FRAME[["a", "b", "c"]][:0])


def test_columns_of_any_base_are_matched_by_the_bag():
    bag = BaggingClassifier(TheirTree(), n_estimators=3).fit(FRAME, LABELS)
    said = bag.predict(FRAME)

    assert bag.predict(FRAME[list("dacb")]).tolist() == said.tolist()
    with pytest.warns(DataWarning, match="not there at fit"):
        assert bag.predict(FRAME.assign(e=1.0)).tolist() == said.tolist()
    with pytest.raises(ColumnError, match="X has 3 features, but BaggingClassifier is expecting 4"):
        BaggingClassifier(TheirTree(), n_estimators=3).fit(X, LABELS).predict(X[:, :3])
