"""Errors over a parameter, over the size of a tree, over the number of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    validation_curve,
)
from sklearn.model_selection import (
    learning_curve as sklearn_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright.evaluation.folds import nested_order, nested_orders, task_of
from treewright.evaluation.path import family_of
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection import cross_validate, error_curve, learning_curve

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[::2], Y[::2]
TREE = tw.DecisionTreeClassifier()
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def refitted(make, values, X=X, Y=Y, folds=FOLDS, weights=None):
    """Training and test errors, one fit for each fold and value."""
    train_errors, test_errors = [], []
    for train, test in folds.split(X, Y):
        for errors, rows in ((train_errors, train), (test_errors, test)):
            learned = None if weights is None else weights[train]
            tried = [make(value).fit(X[train], Y[train], learned) for value in values]
            scored = None if weights is None else weights[rows]
            errors.append([1 - est.score(X[rows], Y[rows], scored) for est in tried])
    return np.array(train_errors), np.array(test_errors)


@pytest.mark.parametrize("weights", [None, np.arange(285) % 4 + 0.5])
def test_depths_of_one_growth_are_those_of_a_fit_for_each(weights):
    curve = error_curve(TREE, X, Y, cv=FOLDS, values=[1, 2, 3, 5, None], sample_weight=weights)

    train, test = refitted(lambda depth: tw.DecisionTreeClassifier(max_depth=depth), curve.x, weights=weights)
    assert curve.train_by_fold == pytest.approx(train, abs=1e-12)
    assert curve.test_by_fold == pytest.approx(test, abs=1e-12)


@pytest.mark.parametrize("values", [[0.0, 0.001, 0.004, 0.02, 0.1, 1.0]])
def test_prices_of_one_growth_are_those_of_a_fit_for_each(values):
    curve = error_curve(TREE, X, Y, over="alpha", cv=FOLDS, values=values)

    train, test = refitted(Priced, values)
    assert curve.train_by_fold == pytest.approx(train, abs=1e-12)
    assert curve.test_by_fold == pytest.approx(test, abs=1e-12)


class Priced:
    """Grown, then pruned at a price."""

    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y, weights):
        self.tree = tw.DecisionTreeClassifier().fit(X, y, weights).prune("cost_complexity", alpha=self.alpha)
        return self.tree


def test_an_estimators_own_pruning_is_off_while_the_price_is_varied():
    own = error_curve(tw.DecisionTreeClassifier(ccp_alpha=0.5), X, Y, over="alpha", values=[0.0, 0.01], cv=FOLDS)
    none = error_curve(TREE, X, Y, over="alpha", values=[0.0, 0.01], cv=FOLDS)

    assert own.test_by_fold.tolist() == none.test_by_fold.tolist()


def test_leaves_are_never_more_than_asked_for():
    curve = error_curve(TREE, X, Y, over="leaves", values=range(1, 9), cv=FOLDS)

    assert (curve.n_leaves <= np.arange(1, 9)).all()
    assert curve.n_leaves[0] == 1.0
    assert (np.diff(curve.train_error) <= 1e-12).all()


@pytest.mark.parametrize("over", ["alpha", "leaves", "max_depth"])
def test_default_values_go_from_end_to_end_of_the_tree(over):
    curve = error_curve(TREE, X, Y, over=over, cv=FOLDS)

    ends = curve.n_leaves[[0, -1]].tolist()
    largest = tw.DecisionTreeClassifier().fit(X, Y).get_depth()
    assert list(curve.x) == sorted(set(curve.x))
    assert len(curve.x) <= 50
    assert (ends[-1] if over == "alpha" else ends[0]) == (2.0 if over == "max_depth" else 1.0)
    assert over != "max_depth" or curve.x == tuple(range(1, largest + 1))


def test_what_is_varied_by_default_suits_the_estimator():
    x = np.round(X[:, :2] / 5.0)

    assert error_curve(TREE, X, Y, cv=2, values=[1]).over == "max_depth"
    assert error_curve(tw.C45Classifier(), X[:60], Y[:60], cv=2).over == "leaves"
    assert error_curve(tw.CHAIDClassifier(), x[:60], Y[:60], cv=2).over == "leaves"
    with pytest.raises(ParameterError, match="over= is not given: name a parameter of PrunedTree") as caught:
        error_curve(tw.model_selection.PrunedTree(TREE), X, Y, cv=2)
    assert len(str(caught.value)) < 120
    with pytest.raises(ParameterError, match="over= is not given"):
        error_curve(Ridge(), X, Y * 1.0, cv=2)


@pytest.mark.parametrize("unit", [1e160, 1e-170])
def test_numbers_whose_squares_are_outside_float64_are_refused(unit):
    x, y = load_diabetes(return_X_y=True)
    for curve, options in (
        (error_curve, {"over": "leaves"}),
        (error_curve, {"over": "max_depth"}),
        (learning_curve, {}),
    ):
        with pytest.raises(DataError, match=r"(divide|multiply) y"):
            curve(tw.DecisionTreeRegressor(), x[:60], y[:60] * unit, cv=3, **options)


def test_weights_of_any_size_give_the_same_curve():
    weights = np.arange(285) % 3 + 1.0
    for options in ({"over": "leaves", "values": [2, 4]}, {"over": "max_depth", "values": [2]}):
        plain = error_curve(TREE, X, Y, cv=FOLDS, sample_weight=weights, **options)
        for unit in (2.0**-1060, 2.0**1010):
            other = error_curve(TREE, X, Y, cv=FOLDS, sample_weight=weights * unit, **options)
            assert other.test_by_fold == pytest.approx(plain.test_by_fold, rel=1e-9)


def test_a_fold_without_weight_is_refused():
    weights = np.where(np.arange(285) < 95, 0.0, 1.0)
    for curve, options in (
        (error_curve, {"over": "leaves"}),
        (error_curve, {"over": "max_depth"}),
        (learning_curve, {}),
    ):
        with pytest.raises(DataError, match="have weight 0"):
            curve(TREE, X, Y, cv=KFold(3), sample_weight=weights, **options)


def test_another_parameter_is_fitted_for_each_value_as_scikit_learn_does():
    curve = error_curve(TREE, X, Y, over="min_samples_leaf", values=[1, 5, 20], cv=FOLDS)

    train, test = validation_curve(TREE, X, Y, param_name="min_samples_leaf", param_range=[1, 5, 20], cv=FOLDS)
    assert curve.train_by_fold == pytest.approx(1 - train.T, abs=1e-12)
    assert curve.test_by_fold == pytest.approx(1 - test.T, abs=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_numbers_have_their_losses(loss):
    x, y = load_diabetes(return_X_y=True)
    name = {"squared_error": "neg_mean_squared_error", "absolute_error": "neg_mean_absolute_error"}[loss]
    est = tw.DecisionTreeRegressor(max_depth=3)

    curve = error_curve(est, x, y, values=[3], cv=4, loss=loss)

    scores = cross_validate(est, x, y, cv=4, scoring=name)
    assert curve.test_by_fold[:, 0] == pytest.approx(-scores.test[name])
    assert curve.test_standard_error[0] == pytest.approx(scores.standard_error)


def test_the_log_loss_is_that_of_scikit_learn():
    est = LogisticRegression(max_iter=200)
    x = StandardScaler().fit_transform(X)

    curve = error_curve(est, x, Y, over="C", values=[0.01], cv=FOLDS, loss="log_loss")

    wanted = cross_validate(LogisticRegression(C=0.01, max_iter=200), x, Y, cv=FOLDS, scoring="neg_log_loss")
    assert curve.test_by_fold[:, 0] == pytest.approx(-wanted.test["neg_log_loss"])


def test_a_class_that_was_not_learned_costs_36_nats():
    x, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "c"]

    curve = error_curve(TREE, x, y, values=[1], cv=[([0, 1, 2], [3])], loss="log_loss")

    assert curve.test_error[0] == pytest.approx(-math.log(np.finfo(float).eps))


def test_a_parameter_named_alpha_of_another_estimator_is_its_own():
    x, y = load_diabetes(return_X_y=True)

    curve = error_curve(Ridge(), x, y, over="alpha", values=[0.1, 1.0], cv=3)

    assert np.isnan(curve.n_leaves).all()


@pytest.mark.parametrize(
    "options",
    [{"max_leaf_nodes": 4}, {"max_features": 2, "random_state": 0}, {"ccp_alpha": 0.01}],
    ids=lambda options: next(iter(options)),
)
def test_depth_is_fitted_anew_where_growth_depends_on_the_rest_of_the_tree(options):
    est = tw.DecisionTreeClassifier(**options)

    assert family_of(est, "max_depth") is None
    curve = error_curve(est, X, Y, values=[1, 2, 4], cv=FOLDS)
    train, _ = refitted(lambda depth: tw.DecisionTreeClassifier(max_depth=depth, **options), curve.x)
    assert curve.train_by_fold == pytest.approx(train, abs=1e-12)


def test_best_is_the_least_error_and_one_se_the_simplest_near_it():
    curve = error_curve(TREE, X, Y, over="alpha", cv=FOLDS)

    error, se, best = curve.test_error, curve.test_standard_error, curve.best_position
    near = error <= error[best] + se[best]
    assert error[best] == error.min()
    assert near[curve.one_se_position]
    assert curve.n_leaves[curve.one_se_position] == curve.n_leaves[near].min()
    assert curve.one_se >= curve.best


def test_without_leaves_the_first_value_is_the_simplest():
    x, y = load_diabetes(return_X_y=True)

    curve = error_curve(Ridge(), x, y, over="alpha", values=[1e9, 2e9, 0.1], cv=3)

    assert curve.best == 0.1
    assert curve.one_se_position == min(
        at for at in range(3) if curve.test_error[at] <= curve.test_error[2] + curve.test_standard_error[2]
    )


def test_repeats_do_not_make_the_standard_error_vanish():
    few, many = (
        error_curve(TREE, X, Y, values=[2], cv=ShuffleSplit(n, test_size=0.25, random_state=0)) for n in (10, 60)
    )

    floor = np.sqrt(1 / 3) * many.test_by_fold[:, 0].std(ddof=1)
    assert many.test_standard_error[0] > floor * 0.99
    assert few.test_standard_error[0] > few.test_by_fold[:, 0].std(ddof=1) / np.sqrt(10)


def test_one_fold_has_no_standard_error():
    curve = error_curve(TREE, X, Y, values=[1, 2], cv=[(range(200), range(200, 285))])

    assert curve.best in (1, 2)
    assert "one_se" not in str(curve)
    with pytest.raises(ParameterError, match="one fold has no standard error"):
        _ = curve.one_se


def test_sizes_are_rows_or_shares_of_the_smallest_training_part():
    curve = learning_curve(TREE, X, Y, sizes=[0.5, 20, 1.0, 20], cv=FOLDS)

    assert curve.x == (20, 114, 228)
    assert learning_curve(TREE, X, Y, cv=FOLDS).x == tuple(round(228 * tenth / 10) for tenth in range(1, 11))


def test_all_rows_give_the_error_of_cross_validation():
    curve = learning_curve(TREE, X, Y, sizes=[1.0], cv=np.arange(285) % 5)

    scores = cross_validate(TREE, X, Y, cv=np.arange(285) % 5)
    assert curve.test_by_fold[:, 0] == pytest.approx(1 - scores.test["accuracy"], abs=1e-12)


def test_a_learning_curve_is_that_of_scikit_learn_on_the_same_rows():
    x, y = load_diabetes(return_X_y=True)
    folds = KFold(3)
    task = task_of(tw.DecisionTreeRegressor(), x, y)
    splits = list(folds.split(x))
    ordered = [(order, test) for order, (_, test) in zip(nested_orders(task, splits, 0), splits, strict=True)]

    curve = learning_curve(tw.DecisionTreeRegressor(), x, y, sizes=[30, 90], cv=folds)

    _, _, test = sklearn_curve(
        tw.DecisionTreeRegressor(), x, y, train_sizes=[30, 90], cv=ordered, scoring="neg_mean_squared_error"
    )
    assert curve.test_by_fold == pytest.approx(-test.T)


def test_every_beginning_of_the_rows_has_its_share_of_each_class():
    task = task_of(TREE, np.zeros((100, 1)), ["a"] * 70 + ["b"] * 20 + ["c"] * 10)

    order = nested_order(task, np.arange(100), np.random.RandomState(0))

    assert sorted(order.tolist()) == list(range(100))
    for size in range(1, 101):
        counts = np.bincount(np.searchsorted([70, 90], order[:size], side="right"), minlength=3)
        assert np.abs(counts - size * np.array([0.7, 0.2, 0.1])).max() <= 1.0


def test_the_result_does_not_depend_on_the_threads():
    one, four = (
        [error_curve(TREE, X, Y, over=over, cv=FOLDS, n_jobs=n_jobs).to_dict() for over in ("alpha", "max_depth")]
        for n_jobs in (1, 4)
    )

    assert one == four


def test_other_trees_and_pipelines_have_curves():
    x = np.round(X[:, :3] / np.std(X[:, :3], axis=0)).astype(int)
    parts = make_pipeline(StandardScaler(), tw.DecisionTreeClassifier())

    assert error_curve(tw.C45Classifier(), X, Y, over="leaves", values=[1, 3], cv=2).n_leaves[0] == 1
    assert (
        error_curve(tw.ID3Classifier(nominal=[0, 1, 2]), x, Y, over="alpha", values=[0.0, 9.0], cv=2).n_leaves[1] == 1
    )
    assert error_curve(tw.CHAIDClassifier(), x, Y, over="max_depth", values=[1, 2], cv=2).n_leaves[0] >= 2
    over = "decisiontreeclassifier__max_depth"
    assert error_curve(parts, X, Y, over=over, values=[1], cv=2).n_leaves.tolist() == [2.0]
    search = GridSearchCV(tw.DecisionTreeClassifier(), {"max_depth": [1]}, cv=2)
    assert learning_curve(search, X, Y, sizes=[50], cv=2).n_leaves.tolist() == [2.0]


@pytest.mark.parametrize(
    ("est", "options", "message"),
    [
        (TREE, {"over": "max_dept"}, "no parameter 'max_dept'"),
        (TREE, {"over": "min_samples_leaf"}, "over='min_samples_leaf' has no default values"),
        (TREE, {"values": []}, r"values=\[\]"),
        (TREE, {"values": 3}, "values=3"),
        (TREE, {"values": [0]}, "max_depth"),
        (TREE, {"values": ["two"]}, "max_depth"),
        (TREE, {"over": "alpha", "values": [-1.0]}, "alpha=-1.0"),
        (TREE, {"over": "alpha", "values": [math.nan]}, "alpha=nan"),
        (TREE, {"over": "leaves", "values": [0]}, "max_leaves=0"),
        (LogisticRegression(), {"over": "leaves"}, "no parameter 'leaves'"),
        (TREE, {"loss": "squared_error"}, "loss='squared_error': for classification"),
        (tw.DecisionTreeRegressor(), {"loss": "log_loss"}, "loss='log_loss': for regression"),
    ],
)
def test_what_cannot_be_drawn_is_refused(est, options, message):
    with pytest.raises(ParameterError, match=message):
        error_curve(est, X, Y, cv=2, **options)


@pytest.mark.parametrize("sizes", [[0], [229], [0.0], [1.5], [-0.1], ["all"], [True], [math.nan], [], 10])
def test_sizes_outside_their_range_are_refused(sizes):
    with pytest.raises(ParameterError, match=r"sizes holds|sizes=.*give a list of numbers of rows"):
        learning_curve(TREE, X, Y, sizes=sizes, cv=FOLDS)


def test_a_loss_that_needs_shares_says_so():
    from sklearn.svm import LinearSVC

    with pytest.raises(ParameterError, match="needs predict_proba, which LinearSVC lacks"):
        error_curve(LinearSVC(), X, Y, over="C", values=[1.0], cv=2, loss="log_loss")


def test_what_fit_refuses_names_the_fold():
    with pytest.raises(ParameterError) as caught:
        learning_curve(tw.DecisionTreeClassifier(max_depth=0), X, Y, sizes=[10], cv=KFold(3))

    assert caught.value.__notes__ == ["while fitting DecisionTreeClassifier on training rows of fold 0 of 3 (10 rows)"]


def test_a_label_that_is_refused_is_named_by_its_row_in_the_table():
    y = Y.astype(float)
    y[123] = 0.5

    with pytest.raises(DataError, match="first row 123"):
        learning_curve(TREE, X, y, sizes=[10], cv=KFold(3))
