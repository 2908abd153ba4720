"""From which probability on a class is predicted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.exchange.structure import to_structure
from treewright.model_selection import choose_threshold

# Eight rows a value of x; of the rows of each x so many of ten are "yes".
YES_OF_TEN = {1: 0, 2: 1, 3: 4, 4: 9}
TREE = tw.DecisionTreeClassifier()


def table(times=1):
    x = [x for x in YES_OF_TEN for _ in range(10)]
    y = ["yes" if at < yes else "no" for yes in YES_OF_TEN.values() for at in range(10)]
    return {"x": x * times}, y * times


@pytest.fixture(scope="module")
def model():
    return TREE.fit(*table()).model_


def test_the_costs_of_every_threshold_can_be_counted_by_hand(model):
    # From 0.9 on: 9 of 14 "yes" are found, 1 "no" is wrong; from 0.4 on: 13 and 7; from 0.1 on: all 14 and 16.
    found = choose_threshold(model, *table(), cost={"fp": 1, "fn": 5})
    assert found.tp.tolist() == [14, 14, 13, 9, 0]
    assert found.fp.tolist() == [26, 16, 7, 1, 0]
    assert (found.cost * 40).round(9).tolist() == [26, 16, 12, 26, 70]
    assert (found.chosen, found.positive, found.negative) == (2, "yes", "no")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"cost": {"fp": 1, "fn": 1}}, (9, 1)),
        ({"cost": {"fp": 0, "fn": 1}}, (14, 26)),
        ({"cost": {"fp": 100, "fn": 1}}, (0, 0)),
        ({"precision": 0.65}, (13, 7)),
        ({"precision": 0.9}, (9, 1)),
        ({"recall": 0.9}, (13, 7)),
        ({"recall": 0.95}, (14, 16)),
    ],
)
def test_the_wish_decides(model, wanted, found):
    chosen = choose_threshold(model, *table(), **wanted)
    assert (chosen.tp[chosen.chosen], chosen.fp[chosen.chosen]) == found


def test_the_model_predicts_the_class_where_its_probability_is_at_least_the_threshold(model):
    decided = choose_threshold(model, *table(), cost={"fp": 1, "fn": 5}).model
    assert decided.predict({"x": [1, 2, 3, 4]}).tolist() == ["no", "no", "yes", "yes"]
    assert model.predict({"x": [1, 2, 3, 4]}).tolist() == ["no", "no", "no", "yes"]
    np.testing.assert_array_equal(decided.predict_proba({"x": [1, 2, 3, 4]}), model.predict_proba({"x": [1, 2, 3, 4]}))


def test_of_thresholds_of_one_cost_the_one_that_the_theory_names_is_taken(model):
    # 0.1 / 0.35 lies between the shares 0.1 and 0.4, and is written with as few digits as keep it there.
    assert choose_threshold(model, *table(), cost={"fp": 1, "fn": 2.5}).threshold == 0.3


def test_a_threshold_lies_between_two_probabilities_not_on_the_upper_one(model):
    # The theory, 0.1, lies in one of the gaps; of the others the middle with as few digits as lie there.
    found = choose_threshold(model, *table(), cost={"fp": 1, "fn": 9})
    assert found.thresholds.tolist() == [0.0, 0.1, 0.2, 0.7, 0.95]


@pytest.mark.parametrize(
    ("at", "text"), [(0.123456789, "0.123456789"), (1 / 6, "1/6 (0.1667)"), (5 / 14, "5/14 (0.3571)"), (0.2, "0.2")]
)
def test_words_state_what_was_typed_in_full_and_a_fraction_as_one(model, at, text):
    assert f"if its probability is at least {text}\n" in f"{model.with_threshold(at).show()}\n"


def test_the_other_class_may_be_the_positive_one(model):
    found = choose_threshold(model, *table(), recall=1.0, positive="no")
    assert found.positive == "no"
    assert set(found.model.predict({"x": [4]})) == {"no"}  # one "no" of ten


def test_weights_count(model):
    X, y = table()
    weights = np.where(np.array(y) == "yes", 5.0, 1.0)
    assert choose_threshold(model, X, y, cost={"fp": 1, "fn": 1}, sample_weight=weights).chosen == 2


def test_folds_judge_an_estimator_and_it_decides_by_what_they_chose():
    X, y = table(times=6)
    tree = tw.DecisionTreeClassifier()
    found = choose_threshold(tree, X, y, cost={"fp": 1, "fn": 5}, cv=3, n_jobs=2)
    assert found.n_folds == 3
    assert not hasattr(tree, "model_")
    assert found.estimator.predict({"x": [1, 2, 3, 4]}).tolist() == ["no", "no", "yes", "yes"]
    again = choose_threshold(tree, X, y, cost={"fp": 1, "fn": 5}, cv=3, n_jobs=1)
    assert str(again) == str(found)


def test_a_pruned_tree_keeps_it():
    X, y = table(times=6)
    pruned = tw.model_selection.PrunedTree(tw.DecisionTreeClassifier(), "ccp_min", options=None, cv=3)
    found = choose_threshold(pruned, X, y, cost={"fp": 1, "fn": 5}, cv=3)
    assert found.estimator.model_.threshold == found.model.threshold
    assert found.estimator.predict({"x": [3]}).tolist() == ["yes"]


def test_a_class_that_a_fold_has_not_learned_has_no_chance_there():
    X, y = {"x": [1, 2, 3, 4, 5, 6]}, ["no", "no", "no", "no", "no", "yes"]
    found = choose_threshold(tw.DecisionTreeClassifier(), X, y, recall=1.0, cv=[0, 0, 0, 1, 1, 1])
    assert found.threshold == 0
    assert found.model.predict({"x": [1]}).tolist() == ["yes"]


@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # of tables so small
@given(st.data())
def test_no_other_threshold_has_a_lower_cost(data):
    n = data.draw(st.integers(2, 30))
    x = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    is_so = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda held: len(set(held)) == 2))
    fp, fn = data.draw(st.integers(0, 9)), data.draw(st.integers(1, 9))
    model = tw.DecisionTreeClassifier().fit({"x": x}, is_so).model_
    found = choose_threshold(model, {"x": x}, is_so, cost={"fp": fp, "fn": fn})
    share = model.predict_proba({"x": x})[:, 1]

    def cost(at):
        said = share >= at
        return fp * int((said & ~np.array(is_so)).sum()) + fn * int((~said & np.array(is_so)).sum())

    assert cost(found.threshold) == min(
        cost(at) for at in [*share.tolist(), 0.0, 1.0, 1.1] if at <= 1 or share.max() < 1
    )
    assert cost(found.threshold) == pytest.approx(found.cost[found.chosen] * n)
    np.testing.assert_array_equal(found.model.predict({"x": x}), share >= found.threshold)


@pytest.mark.parametrize(
    "estimator",
    [
        tw.DecisionTreeClassifier(max_depth=2),
        tw.C45Classifier(),
        tw.RandomForestClassifier(n_estimators=7, random_state=0),
        tw.RandomForestClassifier(n_estimators=7, voting="hard", random_state=0),
        tw.GradientBoostingClassifier(n_estimators=5, min_samples_leaf=2),
        tw.AdaBoostClassifier(n_estimators=3, random_state=0),
        tw.BaggingClassifier(n_estimators=3, random_state=0),
        tw.KNeighborsClassifier(n_neighbors=4),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_way_to_predict_obeys_it_and_so_does_the_file(estimator, tmp_path):
    X, y = table()
    fitted = estimator.fit(X, y)
    model = fitted.model_.with_threshold(0.35)
    fitted.model_ = model
    expected = np.where(model.predict_proba(X)[:, 1] >= 0.35, "yes", "no").tolist()
    assert model.predict(X).tolist() == fitted.predict(X).tolist() == expected
    assert [model.predict_one({"x": x}) for x in X["x"]] == expected
    model.save(tmp_path / "first.tw")
    loaded = tw.load(tmp_path / "first.tw")
    assert loaded.threshold == model.threshold
    assert loaded.predict(X).tolist() == expected
    loaded.save(tmp_path / "second.tw")
    assert (tmp_path / "first.tw").read_bytes() == (tmp_path / "second.tw").read_bytes()
    assert "predicts yes if its probability is at least 0.35" in model.show()
    assert model.with_threshold(None).threshold is None


def test_members_of_a_forest_decide_as_they_did():
    forest = tw.RandomForestClassifier(n_estimators=3, voting="hard", random_state=0).fit(*table()).model_
    decided = forest.with_threshold(0.2)
    np.testing.assert_array_equal(decided.predict_proba(table()[0]), forest.predict_proba(table()[0]))
    assert decided.tree(0).threshold is None


def test_pruning_keeps_it_and_cuts_leaves_that_say_the_same_by_it(model):
    assert model.prune("merge_equal_leaves").trees[0].n_leaves == 2  # no, no, no, yes
    decided = model.with_threshold(0.3).prune("merge_equal_leaves")
    assert decided.trees[0].n_leaves == 3  # no, no, yes, yes: the last two are no siblings
    assert decided.predict({"x": [1, 2, 3, 4]}).tolist() == ["no", "no", "yes", "yes"]


def test_the_document_of_a_tree_states_it_where_there_is_one(model):
    decided = to_structure(model.with_threshold(0.3))
    assert decided["threshold"] == {"positive": 1, "at": 0.3, "why": ""}
    assert "threshold" not in to_structure(model)


def test_rules_and_counterfactuals_tell_what_is_predicted(model):
    decided = model.with_threshold(0.3)
    assert "predicts yes if its probability is at least 0.3" in str(decided.rules())
    assert [rule.outcomes[0].prediction for rule in decided.rules()] == ["no", "no", "yes", "yes"]
    change = decided.counterfactual({"x": 2}, to="yes")
    assert decided.predict_one(change.row) == "yes"


def test_a_tree_that_stands_for_a_model_decides_as_it_does():
    X, y = table(times=4)
    model = tw.RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y).model_.with_threshold(0.3)
    found = tw.model_selection.surrogate_tree(model, X, random_state=0)
    assert found.agreement == 1.0
    assert found.estimator.predict({"x": [3]}).tolist() == ["yes"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no aim given: choose one of"),
        ({"cost": {"fp": 1, "fn": 1}, "recall": 0.9}, "cost and recall given"),
        ({"cost": {"fp": 1}}, "give both costs"),
        ({"cost": {"fp": 1, "fn": -1}}, r"costs are 0 to 1e\+100, and not both 0"),
        ({"cost": {"fp": 10**400, "fn": 1}}, r"costs are 0 to 1e\+100"),
        ({"cost": {"fp": 1, "fn": -(10**400)}}, r"costs are 0 to 1e\+100"),
        ({"cost": {"fp": 1e308, "fn": 1e308}}, r"costs are 0 to 1e\+100"),
        ({"cost": {"fp": 0, "fn": 0}}, "not both 0"),
        ({"cost": {"fp": 1, "fn": float("nan")}}, "costs are 0 to"),
        ({"cost": {"fp": "1", "fn": 1}}, "cost of fp is '1': give a number"),
        ({"recall": 0}, "recall=0: give a share above 0"),
        ({"precision": True}, "precision is True: give a number"),
        ({"recall": 0.9, "positive": "maybe"}, "positive='maybe': the classes are 'no' and 'yes'"),
        ({"recall": 0.9, "positive": np.array([0, 1])}, r"positive=array\(\[0, 1\]\): the classes are 'no'"),
        ({"recall": 0.9, "positive": ["yes"]}, r"positive=\['yes'\]: the classes are 'no'"),
    ],
)
def test_what_has_no_meaning_is_refused(model, options, words):
    with pytest.raises(ParameterError, match=words):
        choose_threshold(model, *table(), **options)


def test_costs_up_to_the_largest_stay_finite(model):
    chosen = choose_threshold(model, *table(), cost={"fp": 1e100, "fn": 1e100})
    assert np.isfinite(chosen.cost).all()
    assert chosen.threshold == choose_threshold(model, *table(), cost={"fp": 1, "fn": 1}).threshold


def test_a_label_that_the_model_does_not_know_is_refused_with_its_row(model):
    X, y = table()
    y[7] = "maybe"
    with pytest.raises(
        DataError, match=r"a label that the model does not know: 'maybe' \(first row 7\); its classes are"
    ):
        choose_threshold(model, X, y, recall=0.9)
    with pytest.raises(DataError, match="X has 40 rows and y has 39"):
        choose_threshold(model, X, y[1:], recall=0.9)


def test_a_precision_out_of_reach_is_refused_with_the_highest(model):
    with pytest.raises(DataError, match=r"precision of at least 0.95: the highest is 0.9, at a threshold of 0.7"):
        choose_threshold(model, *table(), precision=0.95)


def test_rows_of_one_class_choose_nothing(model):
    with pytest.raises(DataError, match="no row with weight is of class 'yes'"):
        choose_threshold(model, {"x": [1, 2]}, ["no", "no"], recall=0.9)


@pytest.mark.parametrize(
    ("at", "words"), [(1.5, "0 to 1"), (True, "0 to 1"), (float("nan"), "0 to 1"), ("0.5", "0 to 1")]
)
def test_a_threshold_is_a_probability(model, at, words):
    with pytest.raises(ParameterError, match=words):
        model.with_threshold(at)


def test_the_class_of_a_threshold_is_one_label(model):
    with pytest.raises(ParameterError, match=r"positive=array\(\['no', 'yes'\], dtype='<U3'\): the classes are"):
        model.with_threshold(0.5, positive=np.array(["no", "yes"]))


def test_models_without_two_classes_have_none():
    of_numbers = tw.DecisionTreeRegressor().fit([[1], [2]], [1.0, 2.0]).model_
    of_three = tw.DecisionTreeClassifier().fit([[1], [2], [3]], ["a", "b", "c"]).model_
    with pytest.raises(ParameterError, match="this model predicts numbers"):
        of_numbers.with_threshold(0.5)
    with pytest.raises(ParameterError, match=r"this model predicts 3 class\(es\)"):
        of_three.with_threshold(0.5)


def test_scikit_learn_has_no_tree_with_a_threshold(model):
    with pytest.raises(ParameterError, match="FixedThresholdClassifier"):
        tw.to_sklearn(model.with_threshold(0.3))


@pytest.mark.parametrize("pruning", ["ccp_1se", "ccp_min"])
def test_a_pruned_tree_keeps_the_leaves_that_costs_need(pruning):
    """Of x = 1 no row is "yes", of x = 2 three of ten: one leaf has the same error, and twice the cost."""
    x = [1, 2] * 100
    y = ["yes" if at % 2 and at // 2 % 10 < 3 else "no" for at in range(200)]
    tree = tw.model_selection.PrunedTree(TREE, pruning)
    assert tree.fit({"x": x}, y).get_n_leaves() == 1

    found = choose_threshold(tree, {"x": x}, y, cost={"fp": 1, "fn": 5}, cv=5)

    assert found.estimator.get_n_leaves() == 2
    assert found.estimator.options == {"loss": "log_loss"}
    assert found.cost[found.chosen] * 200 == pytest.approx(70)  # the seventy "no" of x = 2
    own = tw.model_selection.PrunedTree(TREE, pruning, options={"loss": "misclassification"})
    assert choose_threshold(own, {"x": x}, y, cost={"fp": 1, "fn": 5}, cv=5).estimator.get_n_leaves() == 1


def test_an_out_of_bag_score_counts_the_more_probable_class_also_with_a_threshold():
    X, y = table(6)
    forest = tw.RandomForestClassifier(40, oob_score=True)
    chosen = choose_threshold(forest, X, y, cost={"fp": 1, "fn": 9}, cv=3).estimator

    shares = chosen.oob_decision_function_
    judged = ~np.isnan(shares[:, 0])
    said = chosen.classes_[shares[judged].argmax(axis=1)]
    assert chosen.oob_score_ == np.mean(said == np.array(y)[judged])
    assert chosen.oob_score_ > chosen.score(X, y)
