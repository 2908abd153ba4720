"""The cross-validated path: what is chosen, what is shown, what is refused."""

from __future__ import annotations

import sys
import types

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, RepeatedKFold
from sklearn.tree import DecisionTreeClassifier as TheirTree

import treewright as tw
from treewright.evaluation.path import pruning_path, step_by
from treewright.evaluation.tables import MOST_LINES
from treewright.exceptions import DataError, ParameterError

WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
TREE = tw.DecisionTreeClassifier()


@pytest.fixture(scope="module")
def wine():
    return pruning_path(TREE, *WINE, cv=5)


@pytest.fixture(scope="module")
def diabetes():
    return pruning_path(tw.DecisionTreeRegressor(), *DIABETES, cv=5)


class TestRules:
    def test_min_takes_the_smallest_of_the_trees_of_least_error(self):
        error, spread = np.array([0.3, 0.2, 0.2, 0.25, 0.6]), np.full(5, 0.04)

        assert step_by("min", error, spread) == 2

    def test_1se_takes_the_smallest_tree_within_one_standard_error_of_the_least(self):
        error = np.array([0.3, 0.2, 0.21, 0.25, 0.6])

        assert step_by("1se", error, np.full(5, 0.05)) == 3
        assert step_by("1se", error, np.full(5, 0.049)) == 2

    def test_1se_looks_past_a_tree_that_is_worse(self):
        assert step_by("1se", np.array([0.2, 0.3, 0.22, 0.6]), np.full(4, 0.03)) == 2

    def test_errors_that_differ_by_a_rounding_are_equal(self):
        assert step_by("min", np.array([0.1, 0.1 * (1 + 1e-15), 0.2]), np.zeros(3)) == 1

    def test_no_error_at_all_takes_the_smallest_tree_without_one(self):
        assert step_by("1se", np.array([0.0, 0.0, 0.1]), np.zeros(3)) == 1


class TestResult:
    def test_the_estimator_is_the_tree_of_the_chosen_step(self, wine):
        step = wine.chosen

        assert wine.estimator.get_n_leaves() == wine.n_leaves[step]
        assert wine.best_alpha == wine.alphas[step]
        again = tw.DecisionTreeClassifier(ccp_alpha=wine.best_alpha).fit(*WINE)
        assert again.get_n_leaves() == wine.n_leaves[step]
        assert 1 - wine.estimator.score(*WINE) == pytest.approx(wine.train_error[step])

    def test_one_leaf_says_why(self):
        simple = pruning_path(tw.DecisionTreeClassifier(), *load_wine(return_X_y=True), loss="log_loss")
        least = pruning_path(tw.DecisionTreeClassifier(), np.arange(60.0)[:, None], np.arange(60) % 2, cv=5, rule="min")

        error, spread, best = simple.cv_error, simple.standard_error, simple.step_of("min")
        assert simple.n_leaves[simple.chosen] == 1 < simple.n_leaves[best]
        assert simple.why_one_leaf == (
            f"one leaf is left: its error, {error[-1]:.4g}, is within one standard error ({spread[best]:.3g}) of the "
            f"least, {error[best]:.4g} with {simple.n_leaves[best]} leaves"
        )
        assert "; rule='min' keeps them" in " ".join(str(simple).split())
        assert f"no larger tree of the path has a lower error than {least.cv_error[-1]:.4g}" in least.why_one_leaf
        assert max(map(len, str(simple).splitlines())) <= 80

    def test_more_than_one_leaf_needs_no_reason(self, wine):
        assert wine.why_one_leaf == ""
        assert pruning_path(tw.DecisionTreeClassifier(), [[1.0], [2.0]], [1, 1], cv=2).why_one_leaf == ""

    def test_every_step_can_be_had(self, wine):
        assert [wine.prune(step).get_n_leaves() for step in range(len(wine))] == wine.n_leaves.tolist()
        assert wine.prune(-1).get_n_leaves() == 1
        assert wine.at(leaves=4).get_n_leaves() == max(n for n in wine.n_leaves if n <= 4)

    @pytest.mark.parametrize("step", [-100, 100, 1.0, True, None, "1"])
    def test_a_step_that_is_not_there_is_refused(self, wine, step):
        with pytest.raises(ParameterError, match="the path has the steps 0 to"):
            wine.prune(step)

    def test_no_leaves_are_refused(self, wine):
        with pytest.raises(ParameterError, match="max_leaves"):
            wine.at(leaves=0)

    def test_the_table_fits_80_columns_and_marks_both_rules(self, wine, diabetes):
        for path in (wine, diabetes):
            lines = str(path).splitlines()
            assert max(map(len, lines)) <= 80
            assert lines[-1].startswith(f"chosen by the 1-SE rule: step {path.chosen}, ")
            assert sum(line.endswith(" min") for line in lines) == 1
            assert sum(line.endswith("1-SE") for line in lines) == 1

    def test_a_short_table_has_every_step_and_a_long_one_says_how_many_are_left_out(self, wine, diabetes):
        assert len(str(wine).splitlines()) == len(wine) + 3
        assert len(diabetes) > MOST_LINES > len(str(diabetes).splitlines())
        shown = [line for line in str(diabetes).splitlines()[2:-1] if "more:" not in line]
        left_out = [int(line.split()[1].replace(",", "")) for line in str(diabetes).splitlines() if "more:" in line]
        assert len(shown) + sum(left_out) == len(diabetes)

    def test_a_notebook_shows_the_table(self, wine):
        assert repr(wine) == str(wine)

    def test_columns_make_a_frame(self, wine):
        frame = pl.DataFrame(wine.to_dict())

        assert frame.columns == ["alpha", "leaves", "depth", "train_error", "cv_error", "standard_error"]
        assert len(frame) == len(wine)

    def test_plot_hands_the_columns_to_the_figure(self, wine, monkeypatch):
        given = {}
        module = types.ModuleType("treewright.show.figures.curves")
        module.error_against_size = given.update
        monkeypatch.setitem(sys.modules, "treewright.show.figures.curves", module)
        if "treewright.show.figures" not in sys.modules:
            monkeypatch.setitem(sys.modules, "treewright.show.figures", types.ModuleType("treewright.show.figures"))

        wine.plot()

        columns = {"n_leaves", "train", "cv", "se", "chosen", "rule", "alphas"}
        assert set(given) == columns | {"ylabel", "cv_label"}
        assert (given["ylabel"], given["cv_label"]) == ("misclassification rate", "cross-validated")
        assert given["cv"] is wine.cv_error
        assert given["chosen"] == wine.chosen

    def test_it_cannot_be_changed(self, wine):
        with pytest.raises(AttributeError):
            wine.chosen = 0


class TestJudges:
    def test_without_folds_there_is_no_judge_and_no_choice(self):
        path = pruning_path(TREE, *WINE, cv=None)

        assert (path.cv_error, path.standard_error, path.chosen, path.best_alpha) == (None, None, None, None)
        assert path.estimator is path.grown
        assert "cv error" not in str(path)
        assert "chosen" not in str(path)
        assert list(path.to_dict()) == ["alpha", "leaves", "depth", "train_error"]

    def test_rows_kept_aside_can_judge(self):
        X, y = WINE
        path = pruning_path(TREE, X[::2], y[::2], validation=(X[1::2], y[1::2]))

        assert path.n_folds == 0
        assert path.cv_error[path.chosen] == pytest.approx(1 - path.estimator.score(X[1::2], y[1::2]))
        assert "valid. error" in str(path)

    def test_the_result_does_not_depend_on_threads(self):
        one, two = (pruning_path(tw.DecisionTreeRegressor(), *DIABETES, cv=4, n_jobs=n) for n in (1, 2))

        assert all(one.to_dict()[name].tobytes() == two.to_dict()[name].tobytes() for name in one.to_dict())

    @pytest.mark.parametrize("missing", ["direction", "fractional"])
    def test_log_loss_is_that_of_every_pruned_trees_shares(self, missing):
        X, y = load_wine(return_X_y=True)
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        learn, judge = np.arange(178) % 2 == 0, np.arange(178) % 2 == 1
        weights = np.random.default_rng(1).random(judge.sum())

        path = pruning_path(
            tw.DecisionTreeClassifier(missing=missing), X[learn], y[learn], loss="log_loss",
            validation=(X[judge], y[judge], weights),
        )  # fmt: skip

        expected = [
            log_loss(y[judge], path.prune(step).predict_proba(X[judge]), sample_weight=weights)
            for step in range(len(path))
        ]
        assert path.cv_error == pytest.approx(expected, rel=1e-12)
        assert path.loss == "log_loss"
        assert "mean log loss" in str(path)

    def test_a_class_that_a_fold_lacks_costs_the_log_of_the_least_share_there(self):
        # The only row of b is learned from in one fold of two, and asked about in the other: ln 2^52 = 36.04.
        x, y = np.arange(6.0)[:, None], ["a", "a", "a", "a", "a", "b"]

        path = pruning_path(tw.DecisionTreeClassifier(), x, y, cv=[0, 0, 0, 1, 1, 1], loss="log_loss")

        # Fold 0 is judged by a tree of a, a, b, whose root says b is a third; fold 1 by one of a alone.
        assert path.cv_error[-1] == pytest.approx((3 * -np.log(2 / 3) + 52 * np.log(2)) / 6, rel=1e-12)

    def test_log_loss_is_of_one_target(self):
        with pytest.raises(ParameterError, match="loss='log_loss' needs one target, and there are 2"):
            pruning_path(tw.DecisionTreeClassifier(), [[1.0], [2.0]], [[0, 1], [1, 0]], cv=2, loss="log_loss")

    def test_the_seed_draws_the_folds(self, wine):
        assert pruning_path(TREE, *WINE, cv=5).cv_error.tolist() == wine.cv_error.tolist()
        assert pruning_path(TREE, *WINE, cv=5, random_state=1).cv_error.tolist() != wine.cv_error.tolist()

    def test_groups_stay_together(self):
        X, y = WINE
        groups = np.arange(len(y)) // 3
        splits = list(GroupKFold(5).split(X, y, groups))
        path = pruning_path(TREE, X, y, cv=GroupKFold(5), groups=groups)

        assert path.cv_error.tolist() == pruning_path(TREE, X, y, cv=splits).cv_error.tolist()

    def test_every_sort_of_table_gives_the_same(self, wine):
        X, y = WINE
        frame = pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])])
        for table in (frame, frame.to_pandas(), frame.to_dict(as_series=False), X.tolist()):
            assert pruning_path(TREE, table, y.tolist(), cv=5).cv_error.tolist() == wine.cv_error.tolist()


class TestGrowth:
    def test_an_estimators_own_pruning_is_switched_off(self, wine):
        path = pruning_path(tw.DecisionTreeClassifier(ccp_alpha=0.1), *WINE, cv=5)
        assert path.cv_error.tolist() == wine.cv_error.tolist()

        one, other = (pruning_path(tw.C45Classifier(confidence=c), *WINE, cv=5) for c in (0.25, None))
        assert one.n_leaves.tolist() == other.n_leaves.tolist()
        assert one.cv_error.tolist() == other.cv_error.tolist()

    def test_the_estimator_given_stays_as_it_was(self):
        est = tw.DecisionTreeClassifier(ccp_alpha=0.1)
        pruning_path(est, *WINE, cv=2)

        assert est.ccp_alpha == 0.1
        assert not hasattr(est, "model_")

    def test_a_class_that_a_fold_lacks_counts_as_wrong_there(self):
        X, y = np.arange(8.0)[:, None], np.array(list("aaabbbbc"))
        path = pruning_path(TREE, X, y, cv=[0, 1, 2, 0, 1, 2, 0, 1])

        assert path.cv_error.min() >= 1 / 8

    def test_balanced_class_weights_are_those_of_all_rows(self):
        X = np.arange(12.0)[:, None]
        y = np.array([0] * 9 + [1] * 3)
        path = pruning_path(tw.DecisionTreeClassifier(class_weight="balanced"), X, y, cv=3)

        # Twelve rows, two classes: 12 / (2 x 9) and 12 / (2 x 3). The root says 0 and is wrong in half of the weight.
        assert path.train_error[-1] == pytest.approx(0.5)

    def test_one_class_is_a_tree_of_one_leaf(self):
        path = pruning_path(TREE, np.arange(6.0)[:, None], ["a"] * 6, cv=3)

        assert path.n_leaves.tolist() == [1]
        assert path.cv_error.tolist() == [0.0]
        assert (path.chosen, path.best_alpha) == (0, 0.0)


class TestRefusals:
    @pytest.mark.parametrize("estimator", [TheirTree(), tw.DecisionTreeClassifier, None, "tree"])
    def test_what_is_not_one_of_our_trees(self, estimator):
        with pytest.raises(ParameterError, match=r"such as treewright\.DecisionTreeClassifier\(\)"):
            pruning_path(estimator, *WINE)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"rule": "2se"}, "rule='2se': choose one of '1se', 'min'"),
            ({"rule": None}, "rule=None"),
            ({"risk": "gini"}, "risk='gini': choose one of 'impurity', 'error'"),
            ({"loss": "squared_error"}, "loss='squared_error': for classification give 'misclassification'"),
            ({"cv": 1}, "cv=1: give at least 2 folds"),
            ({"cv": "ten"}, "cv='ten'"),
            ({"cv": None, "groups": [1]}, "groups= needs folds"),
            ({"validation": WINE, "cv": 5}, "not both"),
            ({"validation": WINE, "groups": [1]}, "not both"),
            ({"validation": WINE[0]}, "validation= takes"),
            ({"n_jobs": 0}, "n_jobs=0"),
        ],
    )
    def test_parameters_outside_their_range(self, options, said):
        with pytest.raises(ParameterError, match=said.replace("(", r"\(")):
            pruning_path(TREE, *WINE, **options)

    def test_a_class_of_fewer_rows_than_folds(self):
        with pytest.raises(DataError, match=r"fewer than 10 folds"):
            pruning_path(TREE, np.arange(30.0)[:, None], [0] * 25 + [1] * 5)

    def test_rows_that_are_tested_twice(self):
        with pytest.raises(DataError, match="test every row once"):
            pruning_path(TREE, *WINE, cv=RepeatedKFold(n_splits=3, n_repeats=2))

    def test_a_label_that_only_the_rows_kept_aside_have(self):
        X, y = WINE
        with pytest.raises(DataError, match="a label that the model does not know"):
            pruning_path(TREE, X[y < 2], y[y < 2], validation=(X, y))

    def test_lengths_that_differ(self):
        with pytest.raises(DataError):
            pruning_path(TREE, WINE[0], WINE[1][:-1])
        with pytest.raises(DataError, match="fold numbers"):
            pruning_path(TREE, *WINE, cv=[1, 2, 1])

    def test_an_error_in_a_fold_names_the_fold(self):
        X, y = np.arange(6.0)[:, None], np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
        with pytest.raises(DataError, match="zero throughout") as caught:
            pruning_path(tw.DecisionTreeRegressor(criterion="poisson"), X, y, cv=[0, 0, 0, 1, 1, 1])

        assert caught.value.__notes__ == ["in fold 1 of 2, counted from 0"]


class TestClassWeights:
    def test_a_factor_common_to_all_classes_changes_nothing(self):
        X, y = load_breast_cancer(return_X_y=True)
        X, y = X[::4], y[::4]
        plain = pruning_path(TREE, X, y, cv=3)

        for factor in (1.0, 100.0, 1e-3):
            est = tw.DecisionTreeClassifier(class_weight={0: factor, 1: factor})
            path = pruning_path(est, X, y, cv=3)
            assert path.n_leaves[path.chosen] == plain.n_leaves[plain.chosen]
            assert path.standard_error == pytest.approx(plain.standard_error)
            aside = pruning_path(est, X[::2], y[::2], cv=None, validation=(X[1::2], y[1::2]))
            wanted = pruning_path(TREE, X[::2], y[::2], cv=None, validation=(X[1::2], y[1::2]))
            assert aside.standard_error == pytest.approx(wanted.standard_error)

    def test_the_standard_error_takes_the_factors_to_a_weighted_mean_of_1(self):
        X, y = load_breast_cancer(return_X_y=True)
        X, y, Xv, yv = X[::4], y[::4], X[1::4], y[1::4]
        given = np.arange(len(yv)) % 3 + 1.0
        path = pruning_path(tw.DecisionTreeClassifier(class_weight={0: 4.0}), X, y, cv=None, validation=(Xv, yv, given))

        factors = np.where(yv == 0, 4.0, 1.0)
        weights = given * factors / np.average(factors, weights=given)
        wrong = (path.grown.predict(Xv) != yv).astype(float)
        mean = np.average(wrong, weights=weights)
        assert path.cv_error[0] == pytest.approx(mean)
        assert path.standard_error[0] == pytest.approx(np.sqrt((weights * (wrong - mean) ** 2).sum()) / weights.sum())
