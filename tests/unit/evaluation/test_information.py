"""AIC and BIC are what the pencil says; what cannot be counted is refused."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    Lasso,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    MultiTaskLasso,
    Ridge,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection import aic, bic, log_likelihood

# Ten rows in two groups: four "a" and one "b" on the left, the other way round on the right.
SIDES = [[0.0]] * 5 + [[1.0]] * 5
LETTERS = list("aaaabbbbba")
LN_LETTERS = 8 * math.log(4 / 5) + 2 * math.log(1 / 5)
# Two leaves with means 2 and 10; errors -1, 1, -2, 2: RSS 10 in 4 rows.
TWO, NUMBERS = [[0.0], [0.0], [1.0], [1.0]], [1.0, 3.0, 8.0, 12.0]
LN_NUMBERS = -4 / 2 * (math.log(2 * math.pi * 10 / 4) + 1)


def noisy(seed=0, n=80, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - 2 * X[:, 1] + rng.normal(size=n)


class TestByHand:
    def test_a_line_through_four_points(self):
        # Means 1.5 and 2.75; Sxy = 5.5, Sxx = 5: slope 1.1, intercept 1.1.
        # Errors -0.1, 0.8, -1.3, 0.6: RSS = 0.01 + 0.64 + 1.69 + 0.36 = 2.7, variance 2.7 / 4 = 0.675.
        # k: a slope, an intercept, a variance.
        x, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 2.0, 5.0]
        line = LinearRegression().fit(x, y)
        ln_l = -2 * (math.log(2 * math.pi * 0.675) + 1)

        assert log_likelihood(line, x, y).value == pytest.approx(ln_l, rel=1e-14)
        assert aic(line, x, y) == pytest.approx(2 * 3 - 2 * ln_l, rel=1e-14)
        assert bic(line, x, y) == pytest.approx(3 * math.log(4) - 2 * ln_l, rel=1e-14)

    def test_a_classification_tree_with_two_leaves(self):
        tree = tw.DecisionTreeClassifier().fit(SIDES, LETTERS)

        found = log_likelihood(tree, SIDES, LETTERS)

        assert found.value == pytest.approx(LN_LETTERS, rel=1e-14)
        assert (found.n_parameters, found.n_samples) == (2, 10)
        assert aic(tree, SIDES, LETTERS) == pytest.approx(4 - 2 * LN_LETTERS, rel=1e-14)
        assert bic(tree, SIDES, LETTERS) == pytest.approx(2 * math.log(10) - 2 * LN_LETTERS, rel=1e-14)

    def test_a_regression_tree_with_two_leaves(self):
        tree = tw.DecisionTreeRegressor(max_depth=1).fit(TWO, NUMBERS)

        found = log_likelihood(tree, TWO, NUMBERS)

        assert found.value == pytest.approx(LN_NUMBERS, rel=1e-14)
        assert found.n_parameters == 3
        assert found.aic == pytest.approx(6 - 2 * LN_NUMBERS, rel=1e-14)
        assert found.bic == pytest.approx(3 * math.log(4) - 2 * LN_NUMBERS, rel=1e-14)

    def test_leaves_of_medians_have_laplace_errors(self):
        # Medians 2 and 10 again; mean distance (1 + 1 + 2 + 2) / 4 = 1.5.
        tree = tw.DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(TWO, NUMBERS)
        theirs = TheirRegressor(criterion="absolute_error", max_depth=1).fit(TWO, NUMBERS)

        wanted = -4 * (math.log(2 * 1.5) + 1)

        assert log_likelihood(tree, TWO, NUMBERS).value == pytest.approx(wanted, rel=1e-14)
        assert log_likelihood(theirs, TWO, NUMBERS).value == pytest.approx(wanted, rel=1e-14)

    def test_three_classes_have_two_free_shares_a_leaf(self):
        x, y = [[0.0]] * 4 + [[1.0]] * 3, list("aabc" + "ccb")
        tree = tw.DecisionTreeClassifier(max_depth=1).fit(x, y)

        found = log_likelihood(tree, x, y)

        ln_l = 2 * math.log(2 / 4) + 2 * math.log(1 / 4) + 2 * math.log(2 / 3) + math.log(1 / 3)
        assert found.value == pytest.approx(ln_l, rel=1e-14)
        assert found.n_parameters == 2 * 2

    def test_several_outputs_add_up(self):
        both = list(zip(LETTERS, ["x"] * 4 + ["y"] + ["z"] * 5, strict=True))
        letters = [list(pair) for pair in both]
        tree = tw.DecisionTreeClassifier(max_depth=1).fit(SIDES, letters)

        found = log_likelihood(tree, SIDES, letters)

        # The second output is x x x x y | z z z z z.
        assert found.value == pytest.approx(LN_LETTERS + 4 * math.log(4 / 5) + math.log(1 / 5), rel=1e-14)
        assert found.n_parameters == 2 * (1 + 2)

    def test_several_outputs_of_numbers_have_a_variance_each(self):
        y = np.column_stack([NUMBERS, np.multiply(NUMBERS, 3)])
        tree = tw.DecisionTreeRegressor(max_depth=1).fit(TWO, y)

        found = log_likelihood(tree, TWO, y)

        assert found.value == pytest.approx(2 * LN_NUMBERS - 4 * math.log(3), rel=1e-14)
        assert found.n_parameters == 2 * 2 + 2


class TestRows:
    def test_a_weight_of_two_is_the_row_twice(self):
        X, y = noisy()
        weights = np.tile([1, 2, 0, 3], 20)
        twice = np.repeat(np.arange(80), weights)
        letters = np.where(y > 0, "up", "down")

        for est, target in (
            (tw.DecisionTreeRegressor(max_depth=3), y),
            (tw.DecisionTreeClassifier(max_depth=3), letters),
        ):
            weighted = log_likelihood(est.fit(X, target, weights), X, target, sample_weight=weights)
            repeated = log_likelihood(est.fit(X[twice], target[twice]), X[twice], target[twice])
            assert weighted.value == pytest.approx(repeated.value, rel=1e-12)
            assert (weighted.n_parameters, weighted.n_samples) == (repeated.n_parameters, repeated.n_samples)

    def test_a_class_that_a_leaf_lacks_is_impossible_there(self):
        tree = tw.DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])

        found = log_likelihood(tree, [[0.0], [1.0]], ["a", "a"])

        assert (found.value, found.aic, found.bic) == (-math.inf, math.inf, math.inf)

    def test_an_impossible_row_of_weight_0_does_not_count(self):
        tree = tw.DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])

        assert log_likelihood(tree, [[0.0], [1.0]], ["a", "a"], sample_weight=[1, 0]).value == 0.0

    def test_other_units_of_the_target_move_every_model_by_the_same(self):
        X, y = noisy()
        small, large = (tw.DecisionTreeRegressor(max_depth=depth, min_samples_leaf=5) for depth in (1, 4))

        found = {
            unit: [log_likelihood(est.fit(X, unit * y), X, unit * y).value for est in (small, large)]
            for unit in (1.0, 2.0**300, 2.0**-300)
        }

        for unit, values in found.items():
            np.testing.assert_allclose(values, np.subtract(found[1.0], 80 * math.log(unit)), rtol=1e-12)

    def test_a_model_is_the_same_as_its_estimator(self, tmp_path):
        tree = tw.DecisionTreeClassifier().fit(SIDES, LETTERS)
        tree.save(tmp_path / "m.tw")

        for model in (tree.model_, tw.load(tmp_path / "m.tw")):
            assert log_likelihood(model, SIDES, LETTERS) == log_likelihood(tree, SIDES, LETTERS)

    def test_a_deeper_tree_never_has_a_smaller_likelihood_on_its_own_rows(self):
        X, y = noisy()
        grown = tw.DecisionTreeRegressor(min_samples_leaf=2).fit(X, y)

        values = [log_likelihood(grown.prune("leaves", max_leaves=k), X, y).value for k in range(1, 20)]

        assert (np.diff(values) >= -1e-9).all()


class TestCounting:
    def test_leaves_without_rows_are_not_counted(self):
        # ID3 gives "south" a leaf although no red row came from there.
        X = {"colour": ["red", "red", "blue", "blue", "blue"], "from": ["north", "east", "north", "east", "south"]}
        tree = tw.ID3Classifier().fit(X, list("abccc"))
        empty = int((tree.tree_.is_leaf & (tree.tree_.n_samples == 0)).sum())
        assert (tree.get_n_leaves(), empty) == (4, 1)

        assert log_likelihood(tree, X, list("abccc")).n_parameters == 3 * 2

    def test_scikit_learns_trees_are_counted_like_ours(self):
        X, y = noisy()
        letters = np.digitize(y, [-1, 1])

        for ours, theirs, target in (
            (tw.DecisionTreeRegressor(max_depth=2), TheirRegressor(max_depth=2), y),
            (tw.DecisionTreeClassifier(max_depth=2), TheirClassifier(max_depth=2), letters),
        ):
            own, other = (log_likelihood(est.fit(X, target), X, target) for est in (ours, theirs))
            assert own.value == pytest.approx(other.value, rel=1e-12)
            assert own.n_parameters == other.n_parameters

    @pytest.mark.parametrize(
        ("est", "k"),
        [
            (LinearRegression(), 4 + 1 + 1),
            (LinearRegression(fit_intercept=False), 4 + 1),
            (make_pipeline(StandardScaler(), LinearRegression()), 6),
            (GridSearchCV(LinearRegression(), {"fit_intercept": [True]}, cv=2), 6),
            (DummyRegressor(), 2),
        ],
    )
    def test_linear_models_are_counted(self, est, k):
        X, y = noisy()

        assert log_likelihood(est.fit(X, y), X, y).n_parameters == k

    def test_a_column_that_repeats_another_is_no_parameter(self):
        X, y = noisy()
        doubled = np.column_stack([X, X[:, 0]])

        assert log_likelihood(LinearRegression().fit(doubled, y), doubled, y).n_parameters == 6

    def test_the_lasso_has_as_many_parameters_as_coefficients_that_are_not_0(self):
        X, y = noisy(n=200)
        lasso = Lasso(alpha=0.3).fit(X, y)

        assert np.count_nonzero(lasso.coef_) == 2
        assert log_likelihood(lasso, X, y).n_parameters == 2 + 1 + 1

    def test_a_lasso_along_the_path_is_counted_like_any_lasso(self):
        X, y = noisy(n=200)
        theirs = LassoLarsIC(criterion="bic").fit(X, y)

        assert log_likelihood(theirs, X, y).n_parameters == np.count_nonzero(theirs.coef_) + 2

    @pytest.mark.parametrize(("cuts", "k"), [([0.0], 5), ([-1.0, 1.0], 10)])
    def test_logistic_regression_without_penalty_has_log_odds_against_one_class(self, cuts, k):
        X, y = noisy(n=300)
        letters = np.digitize(y, cuts)
        est = LogisticRegression(C=np.inf, max_iter=1000).fit(X, letters)

        found = log_likelihood(est, X, letters)

        shares = est.predict_proba(X)[np.arange(300), letters]
        assert found.n_parameters == k
        assert found.value == pytest.approx(np.log(shares).sum(), rel=1e-12)

    def test_the_prior_has_one_parameter_less_than_classes(self):
        est = DummyClassifier(strategy="prior").fit(SIDES, LETTERS)

        assert log_likelihood(est, SIDES, LETTERS).n_parameters == 1

    @pytest.mark.parametrize(
        ("est", "message"),
        [
            (Ridge(), "shrunk.*trace"),
            (make_pipeline(StandardScaler(), Ridge()), "shrunk"),
            (RandomForestRegressor(3), "the number of parameters of RandomForestRegressor is not known"),
        ],
    )
    def test_what_cannot_be_counted_asks_for_the_number(self, est, message):
        X, y = noisy()
        est.fit(X, y)

        with pytest.raises(ParameterError, match=message):
            aic(est, X, y)
        found = log_likelihood(est, X, y, n_parameters=3.5)
        assert found.aic == 7 - 2 * found.value

    @pytest.mark.parametrize("est", [LogisticRegression(), RandomForestClassifier(3), GaussianNB()])
    def test_classifiers_that_cannot_be_counted_ask_for_the_number(self, est):
        X, y = noisy()
        letters = y > 0
        est.fit(X, letters)

        with pytest.raises(ParameterError, match="Give n_parameters="):
            bic(est, X, letters)
        assert log_likelihood(est, X, letters, n_parameters=9).n_parameters == 9

    def test_a_group_lasso_is_not_counted_as_a_lasso(self):
        X, y = noisy()
        both = np.column_stack([y, X[:, 2]])

        with pytest.raises(ParameterError, match="shrunk"):
            aic(MultiTaskLasso(alpha=0.1).fit(X, both), X, both)

    @pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, TheirClassifier])
    def test_class_weights_change_the_shares_and_are_refused(self, kind):
        est = kind(class_weight="balanced").fit(SIDES, LETTERS)

        with pytest.raises(ParameterError, match="Fit without class_weight"):
            aic(est, SIDES, LETTERS)


class TestRefusals:
    def test_a_tree_that_fits_every_number_exactly_is_to_be_pruned(self):
        X, y = noisy()
        grown = tw.DecisionTreeRegressor().fit(X, y)

        for est in (grown, grown.model_):
            with pytest.raises(ParameterError, match=r"fits the rows exactly.*Prune"):
                aic(est, X, y)

    def test_a_line_through_its_points_is_exact_in_spite_of_rounding(self):
        x = np.linspace(0, 1, 20).reshape(-1, 1)
        y = 3.3 * x[:, 0] + 0.1

        with pytest.raises(ParameterError, match="fits the rows exactly"):
            aic(LinearRegression().fit(x, y), x, y)

    def test_small_errors_of_large_numbers_are_no_exact_fit(self):
        X, y = noisy()
        tree = tw.DecisionTreeRegressor(max_depth=1)

        found = log_likelihood(tree.fit(X, 1e9 + 1e-3 * y), X, 1e9 + 1e-3 * y)

        wanted = log_likelihood(tree.fit(X, y), X, y).value - 80 * math.log(1e-3)
        assert found.value == pytest.approx(wanted, rel=1e-3)  # 1e9 keeps four digits of errors of 1e-3

    @pytest.mark.parametrize("constant", [0.0, 5.0])
    def test_a_constant_target_is_an_exact_fit(self, constant):
        tree = tw.DecisionTreeRegressor().fit(TWO, [constant] * 4)

        with pytest.raises(ParameterError, match="exactly"):
            aic(tree, TWO, [constant] * 4)

    @pytest.mark.parametrize("est", [KMeans(2), StandardScaler(), 3, None, BaseEstimator()])
    def test_what_predicts_neither_classes_nor_numbers_has_no_likelihood(self, est):
        with pytest.raises(ParameterError, match="neither a classifier nor a regressor"):
            aic(est, TWO, NUMBERS)

    def test_a_class_is_not_an_estimator(self):
        with pytest.raises(ParameterError, match="not the class"):
            aic(LinearRegression, TWO, NUMBERS)

    @pytest.mark.parametrize("est", [tw.DecisionTreeClassifier(), LinearRegression()])
    def test_what_was_not_fitted_says_so(self, est):
        with pytest.raises(NotFittedError):
            aic(est, TWO, NUMBERS)

    def test_a_classifier_without_probabilities_has_no_likelihood(self):
        est = LinearSVC().fit(SIDES, LETTERS)

        with pytest.raises(ParameterError, match="predict_proba"):
            aic(est, SIDES, LETTERS)

    @pytest.mark.parametrize(
        ("y", "weights", "message"),
        [
            (LETTERS[:9], None, "10 rows and y has 9"),
            ([], None, "10 rows and y has 0"),
            (["q", *LETTERS[1:]], None, "label that the model does not know: 'q'"),
            ([None, *LETTERS[1:]], None, "missing"),
            ([["a", "b"]] * 10, None, "2 outputs, the model has 1"),
            (LETTERS, [1] * 9, "expected"),
            (LETTERS, [-1] + [1] * 9, "negative"),
            (LETTERS, [np.nan] + [1] * 9, "missing"),
        ],
    )
    def test_rows_that_do_not_fit_are_refused(self, y, weights, message):
        tree = tw.DecisionTreeClassifier().fit(SIDES, LETTERS)

        with pytest.raises(DataError, match=message):
            aic(tree, SIDES, y, sample_weight=weights)

    @pytest.mark.parametrize(
        ("y", "message"),
        [([1.0, np.nan, 2.0, 3.0], "missing"), (list("abcd"), "number"), ([[1.0, 2.0]] * 4, "2 outputs")],
    )
    def test_numbers_that_do_not_fit_are_refused(self, y, message):
        tree = tw.DecisionTreeRegressor(max_depth=1).fit(TWO, NUMBERS)

        with pytest.raises(DataError, match=message):
            bic(tree, TWO, y)

    @pytest.mark.parametrize("n_parameters", [-1, math.nan, math.inf, "3", True])
    def test_a_number_of_parameters_is_finite_and_not_negative(self, n_parameters):
        tree = tw.DecisionTreeRegressor(max_depth=1).fit(TWO, NUMBERS)

        with pytest.raises(ParameterError, match="n_parameters="):
            aic(tree, TWO, NUMBERS, n_parameters=n_parameters)


class TestWhatIsCounted:
    def test_a_class_without_weight_in_the_tree_is_no_parameter(self):
        X, y = [[0.0], [1.0], [2.0], [3.0], [1.5]], ["a", "a", "b", "b", "c"]
        weights = [1.0, 1.0, 1.0, 1.0, 0.0]

        with_row = tw.DecisionTreeClassifier().fit(X, y, weights)
        without = tw.DecisionTreeClassifier().fit(X[:4], y[:4])

        counted = log_likelihood(with_row, X, y, sample_weight=weights).n_parameters
        assert counted == log_likelihood(without, X[:4], y[:4]).n_parameters == 2

    def test_coefficients_whose_shrinkage_was_searched_for_are_refused_as_shrunk(self):
        from sklearn.linear_model import LogisticRegressionCV

        X = np.arange(20.0)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn announces other defaults
            est = LogisticRegressionCV(Cs=2, cv=2).fit(X, [0, 1] * 10)

        with pytest.raises(ParameterError, match=r"LogisticRegressionCV.*shrunk"):
            bic(est, X, [0, 1] * 10)

    @pytest.mark.parametrize(
        "k", [10**400, -(10**400), math.inf, math.nan, "3"], ids=["huge", "low", "inf", "nan", "text"]
    )
    def test_a_number_of_parameters_beyond_float64_is_refused(self, k):
        est = tw.DecisionTreeClassifier(max_depth=1).fit(SIDES, LETTERS)

        with pytest.raises(ParameterError, match="n_parameters="):
            aic(est, SIDES, LETTERS, n_parameters=k)

    def test_a_log_likelihood_is_shown_in_one_line(self):
        est = tw.DecisionTreeClassifier(max_depth=1).fit(SIDES, LETTERS)

        assert len(repr(log_likelihood(est, SIDES, LETTERS)).splitlines()) == 1
