"""One tree that says what a model says: what it is grown on, what judges it, how it is told."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier as OtherForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import treewright as tw
from treewright.core.confidence import r2_interval
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection import surrogate_tree

X, Y = load_breast_cancer(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    return tw.RandomForestClassifier(n_estimators=30).fit(X[::2], Y[::2])


@pytest.fixture(scope="module")
def number_forest():
    return tw.RandomForestRegressor(n_estimators=30).fit(*NUMBERS)


def halves(found, n):
    assert found.n_fit + found.n_judged == n
    return found


def test_fidelity_is_one_on_a_trees_own_answers():
    table = np.arange(400.0).reshape(-1, 1) % 40
    tree = tw.DecisionTreeClassifier().fit(table, (table[:, 0] // 10).astype(int))

    found = surrogate_tree(tree, table)

    assert found.fidelity == found.fidelity_at_fit == found.agreement == 1.0
    assert found.n_leaves == 4
    assert math.isnan(found.low)  # no error at all
    assert "explains 100.0 % of the variance in the probabilities that the tree predicts for 200 rows" in found.words


def test_fidelity_of_numbers_is_one_on_a_trees_own_answers():
    table = np.arange(400.0).reshape(-1, 1) % 40
    tree = tw.DecisionTreeRegressor().fit(table, table[:, 0] // 10)

    found = surrogate_tree(tree, table)

    assert found.fidelity == 1.0
    assert math.isnan(found.low)  # no error at all: the rows do not tell how far the next one is off


def test_fidelity_is_the_variance_of_the_probabilities_that_is_explained_on_the_rows_kept_aside(forest):
    found = halves(surrogate_tree(forest, X, max_leaf_nodes=5, random_state=3), len(X))

    # The rows that it was grown on are those in its root: the others are found by drawing them again.
    from treewright.evaluation.folds import two_parts

    _, aside = two_parts(forest.predict(X), found.n_judged, 3, by_class="where possible")
    own, true = (each.predict_proba(X[aside])[:, 1] for each in (found.estimator, forest))
    assert found.fidelity == pytest.approx(1 - np.square(true - own).mean() / true.var(), abs=1e-12)
    assert found.agreement == np.mean(found.estimator.predict(X[aside]) == forest.predict(X[aside]))
    assert found.low < found.fidelity < found.high
    assert found.n_leaves <= 5


def test_it_is_grown_on_the_answers_and_not_on_a_truth(forest):
    found = surrogate_tree(forest, X, random_state=2)

    from treewright.evaluation.folds import two_parts

    grown_on, _ = two_parts(forest.predict(X), found.n_judged, 2, by_class="where possible")
    assert found.estimator.tree_.value[0] == pytest.approx(forest.predict_proba(X[grown_on]).sum(axis=0), abs=1e-9)
    assert found.estimator.tree_.value[0].tolist() != np.bincount(Y[grown_on]).tolist()


@pytest.mark.parametrize("size", [2, 4, 16])
def test_it_has_no_more_leaves_than_asked_for(number_forest, size):
    assert 2 <= surrogate_tree(number_forest, NUMBERS[0], max_leaf_nodes=size).n_leaves <= size


def test_more_leaves_explain_more_of_the_numbers(number_forest):
    few, many = (surrogate_tree(number_forest, NUMBERS[0], max_leaf_nodes=size) for size in (2, 16))

    assert few.measure == "r2"
    assert few.fidelity < many.fidelity <= 1
    assert few.one_answer == 0.0


def test_labels_that_are_strings_stay_strings():
    names = np.where(Y == 1, "benign", "malignant")
    forest = tw.RandomForestClassifier(n_estimators=10).fit(X, names)

    found = surrogate_tree(forest, X)

    assert found.estimator.classes_.tolist() == ["benign", "malignant"]
    assert set(found.estimator.predict(X).tolist()) == {"benign", "malignant"}


def test_a_class_that_is_never_answered_stays_a_class():
    labels = np.where(Y == 1, "yes", "no").astype(object)
    labels[0] = "rare"
    boosted = tw.GradientBoostingClassifier(n_estimators=5).fit(X, labels)
    assert "rare" not in boosted.predict(X)

    found = surrogate_tree(boosted, X)

    assert found.estimator.classes_.tolist() == ["no", "rare", "yes"]
    assert found.estimator.predict_proba(X).shape == (len(X), 3)


@pytest.mark.parametrize("make", [pd.DataFrame, "polars", dict])
def test_a_table_of_any_kind_gives_the_same_tree(make):
    columns = {"size": X[:, 0], "kind": np.where(X[:, 1] > 18, "rough", "smooth")}
    if make == "polars":
        make = pytest.importorskip("polars").DataFrame
    forest = tw.RandomForestClassifier(n_estimators=10).fit(columns, Y)

    found, plain = surrogate_tree(forest, make(columns)), surrogate_tree(forest, columns)

    assert found.estimator.show() == plain.estimator.show()
    assert found.fidelity == plain.fidelity


def test_columns_and_levels_are_those_of_the_model():
    rng = np.random.default_rng(0)
    levels = ["low", "middle", "high", "never drawn"]
    table = {"rank": rng.choice(levels[:3], 300), "code": rng.integers(0, 5, 300)}
    target = (table["rank"] == "high") | (table["code"] == 2)
    forest = tw.RandomForestClassifier(n_estimators=10, ordinal={"rank": levels}, nominal=["code"]).fit(table, target)

    found = surrogate_tree(forest, table)

    schema = found.estimator.model_.schema
    assert schema == forest.model_.schema
    assert schema.columns[0].levels == tuple(levels)


def test_a_column_in_another_order_is_found_by_its_name():
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 27]}
    forest = tw.RandomForestClassifier(n_estimators=10).fit(columns, Y)

    turned = surrogate_tree(forest, dict(reversed(columns.items())))

    assert turned.fidelity == surrogate_tree(forest, columns).fidelity


def test_a_row_of_weight_two_counts_as_two(forest):
    weights = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)

    found = surrogate_tree(forest, X, sample_weight=weights, random_state=1)

    from treewright.evaluation.folds import two_parts

    _, aside = two_parts(forest.predict(X), found.n_judged, 1, by_class="where possible")
    own, true = (each.predict_proba(X[aside])[:, 1] for each in (found.estimator, forest))
    mean = np.average(true, weights=weights[aside])
    error, spread = (np.average(np.square(true - each), weights=weights[aside]) for each in (own, mean))
    assert found.fidelity == pytest.approx(1 - error / spread, abs=1e-12)
    same = found.estimator.predict(X[aside]) == forest.predict(X[aside])
    assert found.agreement == pytest.approx(np.average(same, weights=weights[aside]), abs=1e-12)
    assert found.weighted
    assert "for 285 weighted rows it did not see" in found.words


def test_rows_of_weight_zero_are_not_there(forest):
    weights = np.ones(len(X))
    weights[::5] = 0
    kept = weights > 0

    found, without = surrogate_tree(forest, X, sample_weight=weights), surrogate_tree(forest, X[kept])

    assert found.n_fit + found.n_judged == kept.sum()
    assert found.fidelity == pytest.approx(without.fidelity, abs=1e-12)


@pytest.mark.parametrize(
    "other",
    [OtherForest(n_estimators=10, random_state=0), make_pipeline(StandardScaler(), OtherForest(10, random_state=0)),
     tw.KNeighborsClassifier(), tw.BaggingClassifier(n_estimators=5, max_features=5)],
    ids=["scikit-learn", "pipeline", "neighbours", "members on some columns"],
)  # fmt: skip
def test_anything_that_predicts_has_one(other):
    names = np.where(Y == 1, "benign", "malignant")
    other.fit(X, names)

    found = surrogate_tree(other, X, max_leaf_nodes=4)

    assert 0.6 < found.fidelity < found.agreement <= 1
    assert found.estimator.classes_.tolist() == ["benign", "malignant"]
    assert f"the {type(other).__name__}" in found.words


def test_a_model_alone_has_the_same_as_its_estimator(forest):
    assert surrogate_tree(forest.model_, X).to_dict() == surrogate_tree(forest, X).to_dict()


def test_several_outputs_are_equal_where_each_is():
    both = np.stack([Y, X[:, 0] > 14], axis=1)
    forest = tw.RandomForestClassifier(n_estimators=10).fit(X, both)

    found = surrogate_tree(forest, X)

    assert 0.5 < found.fidelity <= 1
    assert found.estimator.predict(X).shape == (len(X), 2)


def test_it_repeats_and_another_seed_keeps_other_rows(forest):
    one, again, other = (surrogate_tree(forest, X, random_state=seed) for seed in (0, 0, 1))

    assert one.to_dict() == again.to_dict()
    assert one.estimator.show() == again.estimator.show() != other.estimator.show()


def test_the_text_has_the_sentence_and_the_tree(forest):
    found = surrogate_tree(forest, X, max_leaf_nodes=4)

    text = str(found)

    assert text.startswith("One tree in place of the 30 trees: ")
    assert f"It {found.words}." in text
    assert found.estimator.show() in text
    assert repr(found) == found.show() == text


def test_r2_and_its_interval_agree_with_resampled_rows():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(400, 1))
    said = truth + rng.normal(scale=0.6, size=(400, 1))
    r2 = 1 - np.square(truth - said).mean() / truth.var()

    low, high = r2_interval(truth, said, None, r2)

    drawn = []
    for _ in range(2000):
        rows = rng.integers(0, 400, 400)
        drawn.append(1 - np.square(truth[rows] - said[rows]).mean() / truth[rows].var())
    assert [low, high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)


def test_r2_and_its_interval_do_not_depend_on_the_unit():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(50, 1))
    said = truth + rng.normal(scale=0.5, size=(50, 1))

    assert r2_interval(truth * 1e200, said * 1e200, None, 0.7) == pytest.approx(r2_interval(truth, said, None, 0.7))


@pytest.mark.parametrize(
    ("options", "said"),
    [({"max_leaf_nodes": 1}, "max_leaf_nodes"), ({"test_size": 1.0}, "test_size"), ({"test_size": 2}, "test_size"),
     ({"level": 0}, "level")],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(forest, options, said):
    with pytest.raises(ParameterError, match=said):
        surrogate_tree(forest, X, **options)


@pytest.mark.parametrize(
    ("fitted", "said"),
    [
        (3, "not int"),
        (tw.RandomForestClassifier, "not"),
        (StandardScaler(), "StandardScaler"),
        (tw.IsolationForest(n_estimators=5).fit(X[:50]), "isolation forest"),
    ],
    ids=["number", "class", "no predictor", "isolation"],
)
def test_what_predicts_no_target_is_refused(fitted, said):
    with pytest.raises(ParameterError, match=said):
        surrogate_tree(fitted, X)


def test_one_row_is_too_few(forest):
    with pytest.raises(DataError, match="at least 2"):
        surrogate_tree(forest, X[:1])


def test_two_rows_are_enough(forest):
    found = surrogate_tree(forest, X[:2])

    assert (found.n_fit, found.n_judged) == (1, 1)
    assert math.isnan(found.fidelity)  # one row has no variance
    assert found.agreement in (0.0, 1.0)


def test_numbers_that_are_all_the_same_leave_nothing_to_explain():
    forest = tw.RandomForestRegressor(n_estimators=3).fit(X[:40], np.full(40, 7.0))

    found = surrogate_tree(forest, X[:40])

    assert math.isnan(found.fidelity)
    assert "have no variance to explain" in str(found)


def test_missing_cells_go_the_way_of_the_model():
    table = X[:, :5].copy()
    table[::7, 0] = np.nan
    forest = tw.RandomForestClassifier(n_estimators=10).fit(table, Y)

    found = surrogate_tree(forest, table)

    assert found.agreement > 0.85
    assert found.fidelity > 0.5


@pytest.mark.parametrize("least", [1, 12])
def test_every_leaf_has_as_many_rows_as_asked_for(forest, least):
    tree = surrogate_tree(forest, X, min_samples_leaf=least).estimator.model_.trees[0]

    assert tree.n_samples[tree.is_leaf].min() >= least


def rare_class(n=2000):
    """A class of 3 % that two columns make likelier, and an id."""
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=n), "b": rng.normal(size=n), "id": np.array([f"k{i}" for i in range(n)])}
    chance = 1 / (1 + np.exp(4.5 - table["a"] - table["b"]))
    return table, np.where(rng.random(n) < chance, "yes", "no")


def test_of_a_rare_class_that_is_never_predicted_the_tree_tells_the_probabilities_and_asks_no_id():
    table, target = rare_class()
    forest = tw.RandomForestClassifier(n_estimators=30, min_samples_leaf=30, nominal=["id"]).fit(table, target)
    assert set(forest.predict(table)) == {"no"}

    found = surrogate_tree(forest, table, max_leaf_nodes=6)

    assert found.n_leaves == 6
    asked = {found.estimator.model_.schema.names[at] for at in found.estimator.tree_.feature if at >= 0}
    assert asked == {"a", "b"}
    assert found.agreement == found.one_answer == 1.0
    assert found.fidelity > 0.5
    chances = found.estimator.predict_proba(table)[:, 1]
    assert chances.max() > 5 * chances.min()
    assert "always predicting the most frequent class agrees for 100.0 %" in found.words


def test_the_tree_of_probabilities_is_a_whole_model(tmp_path):
    labels = np.where(Y == 1, "benign", "malignant")
    labels[::9] = "unclear"
    forest = tw.RandomForestClassifier(n_estimators=10).fit(X, labels)

    found = surrogate_tree(forest, X, max_leaf_nodes=5)

    found.estimator.save(tmp_path / "tree.tw")
    again = tw.load(tmp_path / "tree.tw")  # every check of a model file
    assert again.show() == found.estimator.show()
    shares = found.estimator.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    leaf = found.estimator.tree_
    assert leaf.impurity == pytest.approx(1 - np.square(leaf.value / leaf.weight[:, None]).sum(axis=1), abs=1e-12)
    assert found.fidelity > 0.5


def test_a_model_without_probabilities_is_told_by_its_classes():
    machine = SVC().fit(X, Y)

    found = surrogate_tree(machine, X)

    assert found.measure == "agreement"
    assert found.fidelity == found.agreement
    assert found.words.startswith("predicts the same class as the SVC for ")


def test_a_column_that_the_model_never_asks_is_never_asked():
    rng = np.random.default_rng(1)
    table = {"x": rng.normal(size=300), "twin": np.zeros(300)}
    forest = tw.RandomForestRegressor(n_estimators=5).fit(table, np.sin(table["x"]))

    found = surrogate_tree(forest, {"x": rng.normal(size=300), "twin": rng.normal(size=300)})

    assert {at for at in found.estimator.tree_.feature.tolist() if at >= 0} == {0}
