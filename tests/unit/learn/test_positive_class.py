"""The positive class is one value: constraints, costs, thresholds and explanations are about it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import treewright as tw
from treewright import model_selection as ms
from treewright.exceptions import ModelFileError, ParameterError
from treewright.reporting.data import estimator_of

rng = np.random.default_rng(0)
DURATION, AMOUNT = rng.uniform(4, 72, 400), rng.uniform(18, 75, 400)
X = {"duration": DURATION, "amount": AMOUNT}
# That a credit is bad rises with its duration, but for a dip that only a constraint leaves out.
Y = np.where(rng.uniform(size=400) < 0.2 + 0.5 * DURATION / 72 - 0.4 * (abs(DURATION - 40) < 5), "bad", "good")
GRID = {"duration": np.linspace(4, 72, 60), "amount": np.full(60, 40.0)}
RISES = {"monotonic_cst": {"duration": 1}}
CONSTRAINED = {
    "tree": lambda **own: tw.DecisionTreeClassifier(min_samples_leaf=5, **own),
    "tree on bins": lambda **own: tw.DecisionTreeClassifier(splitter="hist", min_samples_leaf=5, **own),
    "random tree": lambda **own: tw.ExtraTreeClassifier(min_samples_leaf=5, **own),
    "forest": lambda **own: tw.RandomForestClassifier(5, **own),
    "extra trees": lambda **own: tw.ExtraTreesClassifier(5, **own),
    "boosting": lambda **own: tw.GradientBoostingClassifier(20, early_stopping=False, **own),
}  # fmt: skip


def rise_of(model, label):
    """The least and the largest step of a class's probability along the grid."""
    steps = np.diff(model.predict_proba(GRID)[:, [*model.classes[0]].index(label)])
    return steps.min(), steps.max()


@pytest.mark.parametrize("name", CONSTRAINED)
def test_constraints_are_about_the_positive_class(name):
    for positive, label in ((None, "good"), ("good", "good"), ("bad", "bad")):
        model = CONSTRAINED[name](positive=positive, **RISES).fit(X, Y).model_
        assert model.positive == label
        least, most = rise_of(model, label)
        assert least >= -1e-12
        assert most > 0.01 if label == "bad" else most < 0.5
    falling = CONSTRAINED[name](positive="bad", monotonic_cst={"duration": -1}).fit(X, Y).model_
    assert rise_of(falling, "bad")[1] <= 1e-12


def test_an_ensemble_gives_its_positive_class_to_its_members_and_refuses_two():
    tree = CONSTRAINED["tree"](**RISES)
    bags = [
        tw.BaggingClassifier(tree, n_estimators=3, positive="bad"),
        tw.BaggingClassifier(clone(tree).set_params(positive="bad"), n_estimators=3),
        tw.AdaBoostClassifier(clone(tree).set_params(max_depth=1), n_estimators=1, positive="bad"),
    ]
    for bag in bags:
        bag.fit(X, Y)
        assert bag.model_.positive == "bad"
        assert rise_of(bag.model_, "bad")[0] >= -1e-12
    with pytest.raises(ParameterError, match="there is one positive class"):
        bags[1].set_params(positive="good").fit(X, Y)


@pytest.mark.parametrize(
    "make", [tw.ID3Classifier, tw.C45Classifier, tw.CHAIDClassifier, tw.KNeighborsClassifier, tw.AdaBoostClassifier]
)
def test_every_classifier_has_a_positive_class_in_its_model_and_file(make, tmp_path):
    table = {"a": np.where(DURATION > 30, "long", "short")}
    model = make(positive="bad").fit(table, Y).model_
    model.save(tmp_path / "model.tw")
    again = tw.load(tmp_path / "model.tw")
    for each in (model, again):
        assert each.positive == "bad"
        assert each.with_threshold(0.3).threshold.positive == 0
        assert each.with_threshold(0.3, positive="good").with_threshold(0.2).positive == "good"
        assert each.with_threshold(0.3, positive="good").with_threshold(None).positive == "bad"
    assert estimator_of(model).positive == "bad"
    assert make().fit(table, Y).model_.positive == "good"
    assert "positive" not in make().fit(table, Y).model_.facts


def test_costs_take_the_positive_class_of_the_estimator_and_give_it_theirs():
    own = ms.choose_threshold(CONSTRAINED["tree"](positive="bad", **RISES), X, Y, cost={"fp": 1, "fn": 5})
    given = ms.choose_threshold(CONSTRAINED["tree"](**RISES), X, Y, cost={"fp": 1, "fn": 5}, positive="bad")
    of_model = ms.choose_threshold(own.model, X, Y, cost={"fp": 1, "fn": 5})
    for chosen in (own, given, of_model):
        assert (chosen.positive, chosen.model.positive) == ("bad", "bad")
        assert chosen.model.threshold.at < 0.5
        assert rise_of(chosen.model, "bad")[0] >= -1e-12
    assert own.threshold == given.threshold
    assert given.estimator.positive == "bad"
    with pytest.raises(ParameterError, match="set it in one place"):
        ms.choose_threshold(CONSTRAINED["tree"](positive="bad"), X, Y, cost={"fp": 1, "fn": 5}, positive="good")


def test_a_class_that_there_is_not_and_a_target_without_two_classes_are_refused_before_the_work():
    with pytest.raises(ParameterError, match="positive='worse': the classes are 'bad' and 'good'"):
        tw.GradientBoostingClassifier(positive="worse").fit(X, Y)
    with pytest.raises(ParameterError, match="one target of two classes; this model predicts 3"):
        tw.DecisionTreeClassifier(positive=1).fit(X, np.arange(400) % 3)
    # A fold may lack one of the two.
    assert tw.DecisionTreeClassifier(positive="bad").fit(X, ["good"] * 400).model_.positive is None


def test_a_warm_start_with_another_positive_class_is_refused():
    for make in (lambda: tw.RandomForestClassifier(2), lambda: tw.GradientBoostingClassifier(2, early_stopping=False)):
        est = make().set_params(warm_start=True, positive="bad").fit(X, Y)
        with pytest.raises(ParameterError, match="positive"):
            est.set_params(n_estimators=4, positive="good").fit(X, Y)


def test_a_file_whose_positive_class_is_no_position_of_two_is_refused(tmp_path):
    model = tw.DecisionTreeClassifier(positive="bad").fit(X, Y).model_
    model.facts["positive"] = 2
    with pytest.raises(ModelFileError, match="positive is 2, expected 0 or 1"):
        model.save(tmp_path / "model.tw")


def test_a_positive_class_among_the_facts_of_another_kind_of_model_means_nothing():
    est = tw.DecisionTreeRegressor(max_depth=1).fit(X, DURATION + AMOUNT)
    est.model_.facts["positive"] = 0
    assert est.model_.positive is None
    assert estimator_of(est.model_).max_depth == 1
    assert "positive class" not in est.show()
