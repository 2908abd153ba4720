"""bias_variance finds the bias, the variance and the noise that are known in closed form."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor as TheirTree

import treewright as tw
from treewright.evaluation.decompose import ERRORS, JUMPS, NAMES, squared_parts
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection import bias_variance, bias_variance_curve

DEVIATION = 0.5
POINTS = np.linspace(-1, 1, 15)
FIXED = np.column_stack([np.ones(15), POINTS, POINTS**2])
TRUTH = np.sin(3 * POINTS)


def fresh_noise(rng):
    """The same points with new errors: a fixed design."""
    return FIXED, TRUTH + rng.normal(scale=DEVIATION, size=15)


def small_table(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(scale=0.5, size=n)


def same(one, other):
    assert repr(one.to_dict()) == repr(other.to_dict())  # repr: nan is nan, and no digit is lost
    for name, column in one.rows.items():
        np.testing.assert_array_equal(column, other.rows[name])
    np.testing.assert_array_equal(one.main, other.main)


class Says(RegressorMixin, BaseEstimator):
    """Predicts the mean of its own training target."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent label; it has no predict_proba."""

    def fit(self, X, y):
        labels, counts = np.unique(y, return_counts=True)
        self.label_ = labels[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


class TestClosedForms:
    @pytest.mark.parametrize("penalty", [0.01, 1.0, 20.0])
    def test_ridge_on_a_fixed_design_has_the_bias_and_variance_of_its_hat_matrix(self, penalty):
        # f = S y with S = X (X'X + aI)^-1 X'; bias = h - S h, variance = sigma^2 diag(S S')
        hat = FIXED @ np.linalg.solve(FIXED.T @ FIXED + penalty * np.eye(3), FIXED.T)
        bias_squared = (TRUTH - hat @ TRUTH) ** 2
        variance = DEVIATION**2 * (hat**2).sum(axis=1)
        y_test = TRUTH + np.random.default_rng(8).normal(scale=DEVIATION, size=15)

        parts = bias_variance(
            Ridge(alpha=penalty, fit_intercept=False), None, None, FIXED, y_test,
            true_values=TRUTH, draw=fresh_noise, n_rounds=800,
        )  # fmt: skip

        assert parts.bias_squared == pytest.approx(bias_squared.mean(), abs=4 * parts.round_errors["bias_squared"])
        assert parts.variance == pytest.approx(variance.mean(), abs=4 * parts.round_errors["variance"])
        # The standard errors are small enough for that to say something.
        assert parts.round_errors["bias_squared"] < 0.01
        assert parts.round_errors["variance"] < 0.05 * variance.mean()
        np.testing.assert_allclose(parts.rows["variance"], variance, rtol=0.2)
        np.testing.assert_allclose(parts.main, hat @ TRUTH, atol=0.05)

    def test_the_noise_level_is_found_within_its_standard_error(self):
        rng = np.random.default_rng(3)
        x = rng.uniform(-1, 1, size=4000)
        h = np.sin(3 * x)
        y_test = h + rng.normal(scale=DEVIATION, size=4000)
        X_test = np.column_stack([np.ones(4000), x, x**2])

        parts = bias_variance(
            LinearRegression(), None, None, X_test, y_test, true_values=h, draw=fresh_noise, n_rounds=20
        )

        # The mean of 4000 squared normal errors has the standard error sigma^2 sqrt(2 / 4000).
        assert parts.row_errors["noise"] == pytest.approx(DEVIATION**2 * np.sqrt(2 / 4000), rel=0.1)
        assert parts.noise == pytest.approx(DEVIATION**2, abs=3 * parts.row_errors["noise"])
        assert parts.cross == pytest.approx(0, abs=4 * parts.row_errors["cross"])
        assert parts.round_errors["noise"] == 0.0

    def test_a_mean_of_n_values_has_the_variance_of_one_over_n(self):
        def draw(rng):
            return np.zeros((10, 1)), rng.normal(loc=3, scale=2, size=10)

        parts = bias_variance(Says(), None, None, [[0.0]], [3.0], true_values=[3.0], draw=draw, n_rounds=3000)

        assert parts.variance == pytest.approx(4 / 10, abs=4 * parts.round_errors["variance"])
        assert parts.bias_squared == pytest.approx(0, abs=0.002)
        assert np.isnan(parts.row_errors["variance"])

    def test_two_rounds_do_not_overstate_the_bias(self):
        # f is normal around 1 with variance 1, h = 0: squared bias 1; uncorrected it would be 1.5.
        m = 40_000
        said = np.random.default_rng(5).normal(loc=1, size=(2, m))

        rows = squared_parts(said, np.zeros(m), np.zeros(m)).rows

        for name in ("bias_squared", "variance"):
            assert rows[name].mean() == pytest.approx(1, abs=4 * rows[name].std() / np.sqrt(m))

    def test_the_standard_errors_over_rounds_are_those_of_repeated_experiments(self):
        y_test = TRUTH + 0.3
        runs = [
            bias_variance(
                Ridge(alpha=1.0, fit_intercept=False), None, None, FIXED, y_test,
                true_values=TRUTH, draw=fresh_noise, n_rounds=30, random_state=seed,
            )
            for seed in range(60)
        ]  # fmt: skip

        for name in ("loss", "variance", "bias_squared", "cross", "bias_and_noise"):
            spread = np.std([getattr(run, name) for run in runs], ddof=1)
            claimed = np.sqrt(np.mean([run.round_errors[name] ** 2 for run in runs]))
            assert claimed == pytest.approx(spread, rel=0.35), name  # 60 runs know a spread to 9 %, three times that

    def test_a_classifier_that_always_says_the_majority_is_counted_by_hand(self):
        # Two in three labels are "a": every round says so. Labels a a b b; optimal a a a b.
        def draw(rng):
            return [[0]] * 3, ["a", "a", "b"]

        parts = bias_variance(
            Majority(), None, None, [[0]] * 4, list("aabb"), true_values=list("aaab"), draw=draw, n_rounds=3
        )

        assert (parts.loss, parts.bias_squared, parts.variance, parts.noise, parts.cross) == (0.5, 0.25, 0, 0.25, 0)
        assert parts.main.tolist() == ["a"] * 4


class TestTheSum:
    def test_parts_of_a_tree_add_up_to_the_loss(self):
        X, y = small_table()
        parts = bias_variance(tw.DecisionTreeRegressor(), X[:40], y[:40], X[40:], y[40:], true_values=X[40:, 0])

        total = parts.bias_squared + parts.variance + parts.noise + parts.cross

        assert total == pytest.approx(parts.loss, rel=1e-13)
        assert parts.expected_loss == pytest.approx(parts.loss - parts.cross, rel=1e-13)
        assert parts.bias_and_noise + parts.variance == pytest.approx(parts.loss, rel=1e-13)

    def test_without_true_values_bias_and_noise_are_one_number(self):
        X, y = small_table()
        known = bias_variance(TheirTree(), X[:40], y[:40], X[40:], y[40:], true_values=X[40:, 0], n_rounds=20)

        unknown = bias_variance(TheirTree(), X[:40], y[:40], X[40:], y[40:], n_rounds=20)

        assert (unknown.loss, unknown.variance, unknown.bias_and_noise) == (
            known.loss,
            known.variance,
            known.bias_and_noise,
        )
        assert np.isnan([unknown.bias_squared, unknown.noise, unknown.cross]).all()
        assert unknown.expected_loss == unknown.loss
        assert not unknown.knows_truth
        assert "one number" in str(unknown)
        assert "one number" not in str(known)

    def test_zero_one_parts_of_a_tree_add_up_to_the_loss(self):
        X, y = small_table(1, 90)
        labels = np.digitize(y, [-0.5, 0.5])
        optimal = np.digitize(X[:, 0], [-0.5, 0.5])

        parts = bias_variance(
            tw.DecisionTreeClassifier(max_depth=3), X[:50], labels[:50], X[50:], labels[50:],
            true_values=optimal[50:], n_rounds=40,
        )  # fmt: skip

        total = parts.bias_squared + parts.variance + parts.noise + parts.cross
        assert total == pytest.approx(parts.loss, abs=1e-14)
        assert parts.unbiased_variance - parts.biased_variance == pytest.approx(parts.variance, abs=1e-14)
        assert parts.noise == np.mean(labels[50:] != optimal[50:])
        assert parts.expected_loss == parts.loss

    def test_several_outputs_are_averaged(self):
        X, y = small_table()
        both = np.column_stack([y, 2 * y])

        parts = bias_variance(LinearRegression(), X[:40], both[:40], X[40:], both[40:], n_rounds=10)
        alone = bias_variance(LinearRegression(), X[:40], y[:40], X[40:], y[40:], n_rounds=10)

        assert parts.loss == pytest.approx(alone.loss * (1 + 4) / 2)
        assert parts.main.shape == (20, 2)

    def test_several_outputs_of_classes_are_averaged(self):
        X, y = small_table()
        both = np.column_stack([y > 0, X[:, 1] > 0])

        tree = tw.DecisionTreeClassifier(max_depth=2)
        parts = bias_variance(tree, X[:40], both[:40], X[40:], both[40:], n_rounds=10)

        assert parts.main.shape == (20, 2)
        assert parts.bias_and_noise + parts.variance == pytest.approx(parts.loss)


class TestRounds:
    @pytest.mark.parametrize("n_jobs", [2, 3, None])
    def test_the_result_is_the_same_for_any_number_of_threads(self, n_jobs):
        X, y = small_table()
        tree = tw.DecisionTreeRegressor(max_features=1)

        same(
            bias_variance(tree, X[:40], y[:40], X[40:], y[40:], n_rounds=15, n_jobs=1),
            bias_variance(tree, X[:40], y[:40], X[40:], y[40:], n_rounds=15, n_jobs=n_jobs),
        )

    def test_the_seed_decides_and_more_rounds_begin_with_the_same_ones(self):
        X, y = small_table()
        seen = []

        def draw(rng):
            seen.append(rng.integers(1000))
            return X, y

        for n_rounds, seed in ((3, 7), (5, 7), (3, 8)):
            bias_variance(Says(), None, None, X, y, draw=draw, n_rounds=n_rounds, random_state=seed, n_jobs=1)

        assert seen[:3] == seen[3:6]
        assert seen[8:] != seen[:3]

    def test_no_seed_means_another_run_each_time(self):
        X, y = small_table()

        runs = [bias_variance(Says(), X, y, X, y, n_rounds=3, random_state=None).loss for _ in range(2)]

        assert runs[0] != runs[1]

    def test_chance_inside_the_estimator_gets_a_seed_of_the_round(self):
        X, y = small_table()
        free, fixed = (
            make_pipeline(StandardScaler(), TheirTree(splitter="random", max_depth=2, random_state=seed))
            for seed in (None, 0)
        )

        def whole_table(rng):
            return X, y

        parts = [
            bias_variance(est, None, None, X, y, draw=whole_table, n_rounds=4, n_jobs=2) for est in (free, free, fixed)
        ]

        # Every round has the same rows: what varies is the estimator alone.
        assert parts[0].variance > 0
        same(parts[0], parts[1])
        assert parts[2].variance == 0.0
        assert free.get_params()["decisiontreeregressor__random_state"] is None

    def test_a_bootstrap_sample_has_as_many_rows_and_some_of_them_twice(self):
        sizes = []

        class Looks(Says):
            def fit(self, X, y):
                sizes.append((len(X), len(np.unique(X[:, 0]))))
                return super().fit(X, y)

        X, y = small_table()
        bias_variance(Looks(), X, y, X, y, n_rounds=30)

        assert {n for n, _ in sizes} == {60}
        assert np.mean([distinct / 60 for _, distinct in sizes]) == pytest.approx(1 - np.exp(-1), abs=0.03)

    def test_rows_of_weight_0_are_never_drawn_and_weights_go_with_their_rows(self):
        seen = []

        class Weighs(Says):
            def fit(self, X, y, sample_weight=None):
                seen.append((np.asarray(X)[:, 0], sample_weight))
                return super().fit(X, y)

        X = np.arange(6.0).reshape(-1, 1)
        weights = [0, 1, 2, 0, 4, 5]
        bias_variance(Weighs(), X, X[:, 0], X, X[:, 0], sample_weight=weights, n_rounds=10)

        for rows, drawn in seen:
            assert len(rows) == 4
            assert not {0.0, 3.0} & set(rows)
            np.testing.assert_array_equal(drawn, rows)

    def test_a_round_may_lack_a_class(self):
        # With 1 row of 12 a round lacks the class "rare" with probability 0.35.
        X = np.arange(12.0).reshape(-1, 1)
        y = np.array(["common"] * 11 + ["rare"])

        parts = bias_variance(tw.DecisionTreeClassifier(), X, y, [[0.0], [11.0]], ["common", "rare"], n_rounds=50)

        assert parts.rows["loss"][0] == 0.0
        assert parts.rows["loss"][1] == pytest.approx((11 / 12) ** 12, abs=0.2)
        assert parts.main.tolist() == ["common", "rare"]

    def test_every_sort_of_table_gives_the_same(self):
        X, y = small_table()
        columns = {name: X[:, at] for at, name in enumerate("abc")}
        tree = tw.DecisionTreeRegressor(max_depth=2)
        wanted = bias_variance(tree, X[:40], y[:40], X[40:], y[40:], n_rounds=5)

        for make in (dict, pl.DataFrame):
            train = make({name: column[:40] for name, column in columns.items()})
            test = make({name: column[40:] for name, column in columns.items()})
            same(wanted, bias_variance(tree, train, list(y[:40]), test, pl.Series(y[40:]), n_rounds=5))

    def test_the_estimator_and_the_tables_stay_as_they_are(self):
        X, y = small_table()
        kept_X, kept_y, tree = X.copy(), y.copy(), tw.DecisionTreeRegressor()

        bias_variance(tree, X, y, X, y, n_rounds=3)

        assert not hasattr(tree, "model_")
        np.testing.assert_array_equal(X, kept_X)
        np.testing.assert_array_equal(y, kept_y)


class TestCurve:
    def test_a_curve_is_the_decompositions_side_by_side(self):
        X, y = small_table(2, 100)
        depths = np.array([1, 3, 8])

        curve = bias_variance_curve(
            lambda depth: tw.DecisionTreeRegressor(max_depth=depth), depths, X[:60], y[:60], X[60:], y[60:],
            true_values=X[60:, 0], n_rounds=20, name="max_depth",
        )  # fmt: skip

        alone = bias_variance(
            tw.DecisionTreeRegressor(max_depth=3), X[:60], y[:60], X[60:], y[60:], true_values=X[60:, 0], n_rounds=20
        )
        same(curve.decompositions[1], alone)
        assert curve.to_dict()["max_depth"] == [1.0, 3.0, 8.0]
        assert curve.to_dict()["variance"] == [each.variance for each in curve.decompositions]
        assert curve.variance[0] < curve.variance[1] < curve.variance[2]
        assert curve.best in depths
        assert str(curve).count("<- least") == 1
        assert len(str(curve).splitlines()) == 5

    def test_a_larger_penalty_means_more_bias_and_less_variance(self):
        curve = bias_variance_curve(
            lambda penalty: Ridge(alpha=penalty, fit_intercept=False), np.logspace(-2, 2, 5), None, None,
            FIXED, TRUTH, true_values=TRUTH, draw=fresh_noise, n_rounds=100,
        )  # fmt: skip

        assert (np.diff(curve.variance) < 0).all()
        assert (np.diff(curve.bias_squared) > 0).all()
        np.testing.assert_array_equal(curve.noise, 0.0)

    def test_the_figure_shows_the_arrays_of_the_curve(self):
        curve = bias_variance_curve(
            lambda penalty: Ridge(alpha=penalty, fit_intercept=False), [0.1, 1, 10], None, None, FIXED, TRUTH + 0.1,
            true_values=TRUTH, draw=fresh_noise, n_rounds=5, name="lambda",
        )  # fmt: skip

        axes = curve.plot().axes[0]

        shown = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
        np.testing.assert_array_equal(shown["test rows"], curve.loss)
        drawn = [list(line.get_ydata()) for line in axes.get_lines()]
        for name in ("bias_squared", "variance", "noise", "expected_loss"):
            assert getattr(curve, name).tolist() in drawn, name
        assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "lambda")
        assert curve.plot(log_x=False).axes[0].get_xscale() == "linear"

    def test_the_figure_says_that_the_bias_holds_the_noise(self):
        X, y = small_table()
        curve = bias_variance_curve(
            lambda depth: tw.DecisionTreeRegressor(max_depth=depth), [1, 2], X[:40], y[:40], X[40:], y[40:], n_rounds=5
        )

        axes = curve.plot().axes[0]

        assert "bias² + noise" in [text.get_text() for text in axes.get_legend().get_texts()]
        assert curve.bias_and_noise.tolist() in [list(line.get_ydata()) for line in axes.get_lines()]
        assert axes.get_xscale() == "linear"
        assert "one number" in str(curve)

    @pytest.mark.parametrize(
        ("values", "message"),
        [([], "empty"), ([None], "finite numbers"), ([1, np.nan], "finite numbers"), ([True], "finite numbers")],
    )
    def test_values_that_are_no_numbers_are_refused(self, values, message):
        with pytest.raises(ParameterError, match=message):
            bias_variance_curve(lambda value: Says(), values, [[1]], [1.0], [[1]], [1.0])

    def test_a_curve_needs_a_function_and_a_seed(self):
        with pytest.raises(ParameterError, match="make="):
            bias_variance_curve(Says(), [1], [[1]], [1.0], [[1]], [1.0])
        with pytest.raises(ParameterError, match="same training sets"):
            bias_variance_curve(lambda value: Says(), [1], [[1]], [1.0], [[1]], [1.0], random_state=None)


class TestShown:
    def test_the_table_has_a_row_for_every_part(self):
        X, y = small_table()
        parts = bias_variance(Says(), X, y, X, y, true_values=X[:, 0], n_rounds=3)

        columns = parts.to_dict()

        assert columns["part"] == list(NAMES)
        assert columns["value"] == [getattr(parts, name) for name in NAMES]
        assert str(parts).splitlines()[0] == "Squared loss: 3 training sets, 60 test rows"
        assert "net variance" in str(bias_variance(Majority(), X, y > 0, X, y > 0, n_rounds=3))

    def test_a_notebook_shows_the_table_and_the_table_says_what_its_errors_are(self):
        X, y = small_table()
        parts = bias_variance(Says(), X, y, X, y, true_values=X[:, 0], n_rounds=3)
        of_classes = bias_variance(Majority(), X, y > 0, X, y > 0, true_values=X[:, 0] > 0, n_rounds=3)
        curve = bias_variance_curve(lambda value: Says(), [1], X, y, X, y, n_rounds=3)

        assert (repr(parts), repr(curve)) == (str(parts), str(curve))
        assert str(parts).splitlines()[-1] == ERRORS
        assert str(of_classes).splitlines()[-2:] == [ERRORS, JUMPS]

    def test_arrays_of_a_result_cannot_be_written_to(self):
        X, y = small_table()
        parts = bias_variance(Says(), X, y, X, y, n_rounds=3)

        for column in (*parts.rows.values(), parts.main):
            with pytest.raises(ValueError, match="read-only"):
                column[0] = 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("est", "options", "message"),
        [
            (Says, {}, "not the class"),
            (3, {}, "cannot be fitted again"),
            (Says(), {"loss": "misclassification"}, "does not suit a regressor"),
            (Majority(), {"loss": "squared_error"}, "does not suit a classifier"),
            (Says(), {"loss": "hinge"}, "choose 'squared_error' or 'misclassification'"),
            (BaseEstimator(), {}, "cannot be fitted again"),
            (StandardScaler(), {}, "cannot be fitted again"),
            (Says(), {"n_rounds": 1}, "n_rounds=1"),
            (Says(), {"n_rounds": 2.5}, "n_rounds=2.5"),
            (Says(), {"n_rounds": True}, "n_rounds=True"),
            (Says(), {"random_state": -1}, "random_state=-1"),
            (Says(), {"random_state": np.random.RandomState(0)}, "whole number"),
            (Says(), {"n_jobs": 0}, "n_jobs=0"),
            (Says(), {"draw": lambda rng: None}, "leave draw out"),
            (Says(), {"sample_weight": [1, 1, 1, 2]}, "takes no sample_weight"),
        ],
    )
    def test_a_wrong_parameter_is_named(self, est, options, message):
        with pytest.raises(ParameterError, match=message):
            bias_variance(est, [[1.0]] * 4, [1.0, 2.0, 1.0, 2.0], [[1.0]], [1.0], **options)

    def test_a_fitted_model_is_no_estimator(self):
        model = tw.DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).model_

        with pytest.raises(ParameterError, match="a Model cannot be fitted again"):
            bias_variance(model, [[1.0]], [1.0], [[1.0]], [1.0])

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({}, ParameterError, "pass X and y"),
            ({"draw": 3}, ParameterError, "give a function"),
            ({"draw": lambda rng: 1}, ParameterError, "pair"),
            ({"draw": lambda rng: ([[1]], [1, 2])}, DataError, "1 rows and y with 2"),
            (
                {"draw": lambda rng: ([[1]], [1]), "sample_weight": [1]},
                ParameterError,
                "the rows of X, which draw replaces",
            ),
        ],
    )
    def test_training_sets_that_cannot_be_are_refused(self, options, error, message):
        with pytest.raises(error, match=message):
            bias_variance(Says(), None, None, [[1.0]], [1.0], **options)

    def test_an_error_in_a_round_says_which_round_it_was(self):
        def draw(rng):
            raise RuntimeError("no more")

        for n_jobs in (1, 2):
            with pytest.raises(RuntimeError, match="no more") as caught:
                bias_variance(Says(), None, None, [[1.0]], [1.0], draw=draw, n_rounds=2, n_jobs=n_jobs)
            assert caught.value.__notes__[0].startswith("in round ")
