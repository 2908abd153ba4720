"""A model as scikit-learn's own tree or forest: the same answers, and what cannot be said is refused by name."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.tree import export_text, plot_tree

import treewright as tw
from treewright.exceptions import ParameterError

N = 60
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 9, (N, 3)).astype(float)
GAPS = np.where(RANDOM.random((N, 3)) < 0.2, np.nan, X)
THREE = np.array(["red", "green", "blue"])[(X[:, 0] + RANDOM.integers(0, 5, N)).astype(int) % 3]
NUMBERS = X[:, 0] * 2 + X[:, 1] + RANDOM.normal(size=N)
FEW = {"n_estimators": 4, "random_state": 0}
MODELS = [
    tw.DecisionTreeClassifier(), tw.DecisionTreeClassifier(criterion="entropy", max_depth=3),
    tw.DecisionTreeClassifier(splitter="random", random_state=0), tw.RandomForestClassifier(**FEW),
    tw.ExtraTreesClassifier(**FEW),
    tw.DecisionTreeRegressor(max_depth=4), tw.DecisionTreeRegressor(criterion="absolute_error", max_depth=3),
    tw.RandomForestRegressor(**FEW), tw.ExtraTreesRegressor(**FEW),
]  # fmt: skip


def target_of(model, several=False):
    one = THREE if is_classifier(model) else NUMBERS
    return np.column_stack([one, one[::-1]]) if several else one


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("table", [X, GAPS], ids=["whole", "gaps"])
@pytest.mark.parametrize("several", [False, True], ids=["one", "two outputs"])
def test_answers_are_those_of_the_model(model, table, several):
    if several and getattr(model, "criterion", "") == "absolute_error":
        pytest.skip("medians are of one target here")
    fitted = model.fit(table, target_of(model, several))
    theirs = tw.to_sklearn(fitted)
    assert type(theirs).__module__.startswith("sklearn.")
    if is_classifier(model):
        assert np.array_equal(theirs.predict(table), fitted.predict(table))
        for one, other in zip(
            np.atleast_3d(theirs.predict_proba(table)), np.atleast_3d(fitted.predict_proba(table)), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    else:
        np.testing.assert_allclose(theirs.predict(table), fitted.predict(table), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # columns without two values
@given(data=st.data())
def test_every_row_of_float32_takes_the_same_way(data):
    cells = st.one_of(st.floats(-100, 100, width=32), st.just(np.nan), st.integers(-3, 3).map(float))
    table = np.array(data.draw(st.lists(st.tuples(cells, cells), min_size=4, max_size=15)))
    target = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(table), max_size=len(table))))
    fitted = tw.DecisionTreeClassifier().fit(table, target)
    other = np.array(data.draw(st.lists(st.tuples(cells, cells), min_size=1, max_size=15)))
    if not np.isnan(table).any():
        other = np.nan_to_num(other)  # a tree that saw no missing cell has no side for one that scikit-learn would know
    assert np.array_equal(tw.to_sklearn(fitted).predict(other), fitted.predict(other))


def test_it_is_exported_drawn_and_pickled_as_scikit_learns_own():
    fitted = tw.DecisionTreeClassifier(max_depth=2).fit({"size": X[:, 0], "weight": X[:, 1]}, THREE)
    theirs = tw.to_sklearn(fitted)
    assert theirs.feature_names_in_.tolist() == ["size", "weight"]
    assert "size <=" in export_text(theirs, feature_names=["size", "weight"])
    assert plot_tree(theirs)
    assert np.array_equal(pickle.loads(pickle.dumps(theirs)).tree_.value, theirs.tree_.value)
    assert theirs.get_n_leaves() == fitted.get_n_leaves()
    assert theirs.get_depth() == fitted.get_depth()


def test_a_model_that_was_loaded_is_taken_as_well(tmp_path):
    tw.RandomForestRegressor(**FEW).fit(X, NUMBERS).save(tmp_path / "m.tw")
    model = tw.load(tmp_path / "m.tw")
    np.testing.assert_allclose(tw.to_sklearn(model).predict(X), model.predict(X), rtol=1e-12)


KIND = {"kind": RANDOM.choice(["a", "b", "c"], N), "size": X[:, 0]}


@pytest.mark.parametrize(
    ("fitted", "what"),
    [
        (lambda: tw.DecisionTreeClassifier().fit(KIND, THREE), "column 'kind', which is nominal"),
        (lambda: tw.C45Classifier().fit(KIND, THREE), "nominal"),
        (
            lambda: tw.DecisionTreeClassifier().fit({"sold": ["2024-01-01", "2024-02-01"]}, ["a", "b"]),
            "column 'sold', which is of dates",
        ),
        (lambda: tw.CHAIDClassifier().fit(X, THREE), "criterion='chi_squared'|several branches|criterion"),
        (lambda: tw.GradientBoostingClassifier(**FEW).fit(X, THREE), "grown by gradient_boosting"),
        (lambda: tw.AdaBoostClassifier(**FEW).fit(X, THREE), "grown by adaboost"),
        (lambda: tw.RandomForestClassifier(voting="hard", **FEW).fit(X, THREE), "vote"),
        (lambda: tw.DecisionTreeClassifier(missing="surrogate").fit(GAPS, THREE), "missing='surrogate'"),
        (
            lambda: tw.DecisionTreeClassifier(criterion="misclassification").fit(X, THREE),
            "criterion='misclassification'",
        ),
        (lambda: tw.KNeighborsClassifier().fit(X, THREE), "KNeighborsClassifier"),
        (tw.DecisionTreeClassifier, "not a fitted tree"),
    ],
)
def test_what_scikit_learn_cannot_say_is_refused_by_name(fitted, what):
    with pytest.raises(ParameterError, match=what):
        tw.to_sklearn(fitted())
