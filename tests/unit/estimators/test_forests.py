"""Forests: what the trees say together, which rows and columns they saw, and how they grow further."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification

import treewright as tw
from treewright.exceptions import DataWarning, ParameterError
from treewright.trees import codec

CLASSIFIERS = [tw.RandomForestClassifier, tw.ExtraTreesClassifier]
REGRESSORS = [tw.RandomForestRegressor, tw.ExtraTreesRegressor]
FORESTS = CLASSIFIERS + REGRESSORS


def table_for(kind):
    return load_iris(return_X_y=True) if kind in CLASSIFIERS else load_diabetes(return_X_y=True)


def bytes_of(forest):
    return codec.dumps(forest.model_)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def mixed(n=300, seed=0):
    """A table of three kinds of columns with missing cells, and two classes."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue"], n)
    table = {
        "size": np.where(rng.random(n) < 0.1, np.nan, size),
        "colour": colour.tolist(),
        "noise": rng.integers(0, 9, n).astype(float),
    }
    return table, ((size > 0) ^ (colour == "red")).astype(int)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_soft_voting_is_the_mean_of_the_trees_shares(kind, iris):
    X, y = iris
    forest = kind(n_estimators=7).fit(X, y)

    mean = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)

    assert forest.model_.combine == "mean"
    assert forest.predict_proba(X) == pytest.approx(mean, abs=1e-12)
    assert (forest.predict(X) == forest.classes_[forest.predict_proba(X).argmax(axis=1)]).all()


def test_hard_voting_gives_each_tree_one_vote():
    table, y = mixed()
    forest = tw.RandomForestClassifier(n_estimators=5, max_depth=2, voting="hard").fit(table, y)

    votes = np.mean([tree.predict(table) == 1 for tree in forest.estimators_], axis=0)

    assert forest.model_.combine == "vote"
    assert forest.predict_proba(table)[:, 1] == pytest.approx(votes)
    assert (forest.predict(table) == (votes > 0.5)).all()


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_regression_forest_predicts_the_mean_of_its_trees(kind):
    X, y = table_for(kind)
    forest = kind(n_estimators=6, max_depth=4).fit(X, y)

    assert forest.predict(X) == pytest.approx(np.mean([tree.predict(X) for tree in forest.estimators_], axis=0))


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_grown_in_steps_is_the_one_grown_at_once(kind):
    X, y = table_for(kind)
    at_once = kind(n_estimators=9, bootstrap=True, oob_score=True)
    in_steps = kind(n_estimators=2, bootstrap=True, oob_score=True, warm_start=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # so few trees draw every row
        at_once.fit(X, y)
        for n_trees in (2, 3, 9):
            in_steps.set_params(n_estimators=n_trees).fit(X, y)

    assert bytes_of(in_steps) == bytes_of(at_once)
    assert in_steps.oob_score_ == at_once.oob_score_
    name = "oob_decision_function_" if kind in CLASSIFIERS else "oob_prediction_"
    assert getattr(in_steps, name).tobytes() == getattr(at_once, name).tobytes()
    for mine, its in zip(in_steps.estimators_samples_, at_once.estimators_samples_, strict=True):
        assert (mine == its).all()


def test_a_warm_start_with_a_generator_keeps_the_seed_of_the_first_fit(iris):
    at_once = tw.RandomForestClassifier(6, random_state=np.random.RandomState(3)).fit(*iris)
    in_steps = tw.RandomForestClassifier(2, random_state=np.random.RandomState(3), warm_start=True).fit(*iris)

    assert bytes_of(in_steps.set_params(n_estimators=6).fit(*iris)) == bytes_of(at_once)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"n_estimators": 3}, "larger or equal to the 4 fitted trees"),
        ({"criterion": "entropy", "n_estimators": 6}, "criterion is different"),
        ({"oob_score": True, "n_estimators": 6}, "oob_score is different"),
        ({"random_state": 5, "n_estimators": 6}, "random_state is different"),
    ],
)
def test_a_warm_start_refuses_trees_of_another_kind(iris, changed, told):
    forest = tw.RandomForestClassifier(4, warm_start=True).fit(*iris)
    before = forest.model_

    with pytest.raises(ParameterError, match=told):
        forest.set_params(**changed).fit(*iris)

    assert forest.model_ is before


def test_a_warm_start_goes_on_with_trees_of_another_depth(iris):
    deep, flat = (tw.RandomForestClassifier(6, max_depth=depth).fit(*iris) for depth in (None, 1))
    forest = tw.RandomForestClassifier(4, warm_start=True).fit(*iris)

    forest.set_params(max_depth=1, n_estimators=6).fit(*iris)

    for at, tree in enumerate(forest.model_.trees):
        same = (deep if at < 4 else flat).model_.trees[at]
        assert tree.threshold.tolist() == same.threshold.tolist()
    assert forest.model_.facts["parameters"]["max_depth"] == 1


def test_a_warm_start_refuses_another_table(iris):
    X, y = iris
    forest = tw.RandomForestClassifier(4, warm_start=True).fit(X, y)

    for other in ((X[:-1], y[:-1], None), (X, np.roll(y, 1), None), (X, y, np.arange(150.0) + 1), (X + 1, y, None)):
        with pytest.raises(ParameterError, match="the same table"):
            forest.set_params(n_estimators=6).fit(*other)


def test_a_warm_start_without_more_trees_warns_and_changes_nothing(iris):
    forest = tw.RandomForestClassifier(4, warm_start=True).fit(*iris)
    before = forest.model_

    with pytest.warns(DataWarning, match="does not fit new trees") as heard:
        forest.fit(*iris)

    assert forest.model_ is before
    assert heard[0].filename == __file__


def test_out_of_bag_answers_are_the_mean_of_the_trees_that_left_the_row_out(iris):
    X, y = iris
    forest = tw.RandomForestClassifier(15, oob_score=True, min_samples_leaf=3).fit(X, y)
    sums, n_votes = np.zeros((150, 3)), np.zeros(150)

    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        left_out = np.setdiff1d(np.arange(150), rows)
        sums[left_out] += tree.predict_proba(X[left_out])
        n_votes[left_out] += 1

    assert n_votes.min() > 0
    assert forest.oob_decision_function_ == pytest.approx(sums / n_votes[:, None], abs=1e-9)
    assert forest.oob_score_ == np.mean(sums.argmax(axis=1) == y)


def test_out_of_bag_votes_are_counted_where_trees_vote():
    table, y = mixed()
    forest = tw.RandomForestClassifier(40, oob_score=True, max_depth=2, voting="hard").fit(table, y)
    votes, n_votes = np.zeros(300), np.zeros(300)

    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        left_out = np.setdiff1d(np.arange(300), rows)
        votes[left_out] += tree.predict(table)[left_out]
        n_votes[left_out] += 1

    assert forest.oob_decision_function_[:, 1] == pytest.approx(votes / n_votes, abs=1e-9)


def test_the_out_of_bag_error_is_that_of_fresh_rows():
    X, y = load_diabetes(return_X_y=True)
    train = np.arange(442) % 2 == 0
    forest = tw.RandomForestRegressor(200, oob_score=True).fit(X[train], y[train])

    out_of_bag = (forest.oob_prediction_ - y[train]) ** 2
    fresh = (forest.predict(X[~train]) - y[~train]) ** 2

    error = np.hypot(out_of_bag.std() / np.sqrt(221), fresh.std() / np.sqrt(221))
    assert abs(out_of_bag.mean() - fresh.mean()) < 2 * error


def test_a_score_of_ones_own_is_asked_for_the_rows_that_were_left_out(iris):
    X, y = iris
    heard = []

    def score(true, said):
        heard.append((true, said))
        return 0.25

    forest = tw.RandomForestClassifier(30, oob_score=score).fit(X, np.array(["a", "b", "c"])[y])

    assert forest.oob_score_ == 0.25
    assert set(heard[0][0]) == set(heard[0][1]) == {"a", "b", "c"}


def test_rows_of_weight_0_have_no_answer_out_of_bag_and_are_never_drawn(iris):
    X, y = iris
    weights = np.ones(150)
    weights[[3, 77]] = 0.0

    forest = tw.RandomForestClassifier(40, oob_score=True).fit(X, y, weights)

    assert np.isnan(forest.oob_decision_function_).all(axis=1).nonzero()[0].tolist() == [3, 77]
    assert len(forest.estimators_samples_) == 40
    assert all(len(rows) == 148 and not {3, 77} & set(rows.tolist()) for rows in forest.estimators_samples_)


@pytest.mark.parametrize(("max_samples", "n_drawn"), [(None, 150), (40, 40), (0.1, 15), (1.0, 150)])
def test_each_tree_draws_as_many_rows_as_asked(iris, max_samples, n_drawn):
    forest = tw.RandomForestClassifier(3, max_samples=max_samples).fit(*iris)

    assert [len(rows) for rows in forest.estimators_samples_] == [n_drawn] * 3
    assert [tree.trees[0].n_samples[0] for tree in forest.estimators_] == [n_drawn] * 3


def test_without_bootstrap_each_tree_has_every_row(iris):
    forest = tw.ExtraTreesClassifier(3).fit(*iris)

    assert forest.estimators_samples_[-1].tolist() == list(range(150))
    with pytest.raises(IndexError):
        forest.estimators_samples_[3]


@pytest.mark.parametrize("kind", FORESTS)
def test_columns_drawn_for_a_tree_are_all_that_it_asks(kind):
    X, y = table_for(kind)
    forest = kind(n_estimators=8, max_features=None, max_features_per_tree=2).fit(X, y)

    asked = [frozenset(np.unique(tree.feature[~tree.is_leaf]).tolist()) for tree in forest.model_.trees]

    assert all(len(columns) <= 2 for columns in asked)
    assert len(set(asked)) > 1


def paths_of(tree):
    """The columns asked on the way to each leaf."""
    for leaf in np.flatnonzero(tree.is_leaf):
        columns, node = set(), tree.parent[leaf]
        while node >= 0:
            columns.add(int(tree.feature[node]))
            node = tree.parent[node]
        yield columns


@pytest.mark.parametrize(
    ("groups", "allowed"),
    [
        ([[0, 1]], [{0, 1}, {2, 3}]),
        ([["a", "d"], ["c"]], [{0, 3}, {2}, {1}]),
        (np.array([[0, 1], [1, 2]]), [{0, 1}, {1, 2}, {3}]),
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}]),
    ],
)
def test_tests_on_one_path_ask_for_columns_of_one_group(iris, groups, allowed):
    X, y = iris
    table = dict(zip("abcd", X.T, strict=True))
    forest = tw.RandomForestClassifier(6, interaction_cst=groups).fit(table, y)
    tree = tw.DecisionTreeClassifier(splitter="hist", interaction_cst=groups).fit(table, y)

    for grown in (*forest.model_.trees, tree.tree_):
        for columns in paths_of(grown):
            assert any(columns <= group for group in allowed)


def test_a_monotone_forest_never_falls():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + rng.normal(size=400)
    forest = tw.RandomForestRegressor(10, monotonic_cst=[1, 0]).fit(X, y)

    ways = np.linspace(-3, 3, 60)
    for other in (-1.0, 0.0, 1.0):
        said = forest.predict(np.stack([ways, np.full(60, other)], axis=1))
        assert (np.diff(said) >= -1e-12).all()


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("bootstrap", [True, False])
def test_what_classes_weigh_changes_neither_draws_nor_limits_in_rows(kind, bootstrap, iris):
    X, y = iris
    plain = kind(8, bootstrap=bootstrap, min_samples_leaf=9).fit(X, y)
    for factor in (2, 2.5, 10, 17, 1000):
        weights = dict.fromkeys(range(3), factor)
        weighed = kind(8, bootstrap=bootstrap, min_samples_leaf=9, class_weight=weights).fit(X, y)
        np.testing.assert_allclose(weighed.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-12)

    some = kind(8, bootstrap=bootstrap, min_samples_leaf=9, class_weight={1: 10}).fit(X, y)
    for tree, rows, before in zip(some.model_.trees, some.estimators_samples_, plain.estimators_samples_, strict=True):
        np.testing.assert_array_equal(rows, before)
        assert tree.n_samples[0] == 150
        assert tree.n_samples[tree.is_leaf].min() >= 9
        assert tree.weight[0] == pytest.approx(150 + 9 * (y[rows] == 1).sum())


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("weighing", ["balanced", "balanced_subsample", {1: 3}, {0: 0.3}])
def test_with_class_weights_too_a_row_of_weight_k_is_k_rows(kind, weighing):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 30, (200, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(0, 10, 200) > 40).astype(int)
    weights = np.where(y == 1, 3, 1) * rng.integers(0, 3, 200)

    forest = kind(6, class_weight=weighing, min_samples_leaf=3)
    by_weight = clone(forest).fit(X, y, weights)
    by_row = clone(forest).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))

    np.testing.assert_allclose(by_weight.predict_proba(X), by_row.predict_proba(X), rtol=0, atol=1e-12)


def test_rows_of_a_rare_class_are_left_out_as_often_as_others():
    X, y = make_classification(1000, 8, n_informative=4, weights=[0.95], flip_y=0.05, random_state=0)
    forest = tw.RandomForestClassifier(40, class_weight="balanced", oob_score=True).fit(X[:600], y[:600])

    assert not np.isnan(forest.oob_decision_function_).any()
    assert abs(forest.oob_score_ - forest.score(X[600:], y[600:])) < 0.03


def test_weights_after_the_draw_are_those_of_the_drawn_rows():
    table, _ = mixed()
    y = (np.arange(300) % 10 == 0).astype(int)
    forest = tw.RandomForestClassifier(4, class_weight="balanced_subsample", max_depth=1).fit(table, y)

    for tree, rows in zip(forest.model_.trees, forest.estimators_samples_, strict=True):
        root = tree.value[0]
        assert root[0] == pytest.approx(root[1])  # both classes weigh the same
        assert len(rows) == 300
        assert y[rows].mean() < 0.2  # drawn as without class weights
    assert forest.model_.facts["class_factors"] == [[pytest.approx(300 / 540), pytest.approx(5.0)]]


def test_shuffled_rows_give_the_same_forest():
    table, y = mixed()
    order = np.random.default_rng(5).permutation(300)
    shuffled = {name: [cells[at] for at in order] for name, cells in table.items()}

    one = tw.RandomForestClassifier(6).fit(table, y)
    other = tw.RandomForestClassifier(6).fit(shuffled, y[order])

    assert bytes_of(one) == bytes_of(other)


def test_few_bins_leave_few_cuts(iris):
    forest = tw.RandomForestClassifier(30, max_bins=4).fit(*iris)

    for column in range(4):
        cuts = {
            float(cut) for tree in forest.model_.trees
            for cut in tree.threshold[~tree.is_leaf & (tree.feature == column)]
        }  # fmt: skip
        assert len(cuts) <= 3


def test_medians_are_grown_on_the_cells():
    X, y = load_diabetes(return_X_y=True)
    forest = tw.RandomForestRegressor(30, criterion="absolute_error", max_depth=3, oob_score=True).fit(X, y)

    trees = forest.model_.trees

    assert isinstance(trees, tuple)
    # The middle of an even number of targets is between two of them.
    assert set((2 * trees[0].value[trees[0].is_leaf]).ravel()) <= {a + b for a in y for b in y}
    assert forest.oob_score_ > 0.3


def test_several_outputs_are_answered_each(iris):
    X, y = iris
    both = np.stack([y, (X[:, 0] > 5.8).astype(int)], axis=1)
    forest = tw.RandomForestClassifier(20, oob_score=True).fit(X, both)

    assert [len(labels) for labels in forest.classes_] == [3, 2]
    assert [part.shape for part in forest.oob_decision_function_] == [(150, 3), (150, 2)]
    assert forest.predict(X).shape == (150, 2)
    assert (forest.predict(X) == both).mean() > 0.98
    assert 0.8 < forest.oob_score_ < 1.0

    numbers = tw.ExtraTreesRegressor(20, bootstrap=True, oob_score=True).fit(X, both.astype(float))
    assert numbers.oob_prediction_.shape == (150, 2)


def test_a_forest_keeps_its_columns_kinds_and_survives_the_disk(tmp_path):
    table, y = mixed()
    forest = tw.RandomForestClassifier(10, nominal=["noise"]).fit(table, y)
    forest.save(tmp_path / "forest.tw")

    loaded = tw.load(tmp_path / "forest.tw")
    pickled = pickle.loads(pickle.dumps(forest))

    assert forest.feature_names_in_.tolist() == ["size", "colour", "noise"]
    assert loaded.facts["algorithm"] == "random_forest"
    assert loaded.facts["parameters"]["n_estimators"] == 10
    for other in (loaded, pickled):
        assert (other.predict_proba(table) == forest.predict_proba(table)).all()
    row = {name: cells[7] for name, cells in table.items()}
    assert loaded.predict_one(row) == forest.predict(table)[7]


def test_trees_are_shown_one_by_one(iris):
    forest = tw.ExtraTreesClassifier(3, max_depth=2).fit(*iris)

    assert forest.show(tree=1).splitlines()[1:] == forest.tree(1).show().splitlines()[1:]
    assert "(2 of 3 trees)" in forest.show(tree=1).splitlines()[0]
    assert "3 trees" in forest.show()
    assert "<svg" in forest.plot(tree=2).text
    assert len(forest.rules(tree=2)) == forest.model_.trees[2].n_leaves
    assert forest.node(0, tree=1).samples == 150
    assert [tree.n_trees for tree in forest.estimators_[1:]] == [1, 1]
    with pytest.raises(ParameterError, match="3 trees"):
        forest.show(tree=3)


@pytest.mark.parametrize(("verbose", "is_shown"), [(0, False), (1, True)])
def test_progress_is_shown_where_it_is_asked_for(iris, capfd, verbose, is_shown):
    tw.RandomForestClassifier(5, verbose=verbose).fit(*iris)

    out, err = capfd.readouterr()

    assert not out
    assert ("100 %" in err) == is_shown


def test_importances_are_the_mean_over_the_trees(iris):
    forest = tw.RandomForestClassifier(10).fit(*iris)

    mean = np.mean([tree.feature_importances for tree in forest.estimators_], axis=0)

    assert forest.feature_importances_ == pytest.approx(mean)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", FORESTS)
def test_another_seed_gives_another_forest_and_none_is_0(kind):
    X, y = table_for(kind)
    forest = kind(n_estimators=3)

    none, zero, one = (clone(forest).set_params(random_state=seed).fit(X, y) for seed in (None, 0, 1))

    assert (none.predict(X) == zero.predict(X)).all()
    cuts_of = [[tree.threshold.tobytes() for tree in grown.model_.trees] for grown in (zero, one)]
    assert cuts_of[0] != cuts_of[1]


def test_out_of_bag_attributes_of_an_earlier_fit_are_forgotten(iris):
    forest = tw.RandomForestClassifier(30, oob_score=True).fit(*iris)
    forest.set_params(oob_score=False).fit(*iris)

    assert not hasattr(forest, "oob_score_")
    assert not hasattr(forest, "oob_decision_function_")


def test_a_score_of_the_users_own_that_fails_leaves_the_fit_before_as_it_was():
    table, labels = np.arange(40.0).reshape(-1, 1), np.arange(40) > 20
    forest = tw.RandomForestClassifier(40, oob_score=True).fit(table, labels)
    before, score = forest.model_, forest.oob_score_

    def failing(true, predicted):
        raise ArithmeticError("no score today")

    with pytest.raises(ArithmeticError):
        forest.set_params(oob_score=failing, max_depth=1).fit(table, ~labels)

    assert forest.model_ is before
    assert forest.oob_score_ == score
    assert forest.classes_.tolist() == [False, True]
