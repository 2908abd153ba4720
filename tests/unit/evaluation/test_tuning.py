"""The best parameters by cross-validation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, RepeatedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright.core.progress import listen
from treewright.evaluation.tuning import Candidate, _chosen
from treewright.exceptions import DataError, DataWarning, ParameterError, TooLargeError
from treewright.model_selection import compare, tune

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[::3], Y[::3]
GRID = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 8]}
TREE = tw.DecisionTreeClassifier()
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def test_scores_and_choice_of_a_grid_are_those_of_scikit_learns_search():
    tuned = tune(TREE, X, Y, GRID)

    search = GridSearchCV(TREE, GRID, cv=FOLDS, return_train_score=True).fit(X, Y)
    assert [one.parameters for one in tuned] == search.cv_results_["params"]
    assert [one.mean for one in tuned] == pytest.approx(search.cv_results_["mean_test_score"].tolist(), abs=1e-15)
    assert [one.train_mean for one in tuned] == pytest.approx(search.cv_results_["mean_train_score"].tolist())
    assert math.isclose(tuned.best.mean, search.best_score_)
    assert tuned.estimator.predict_proba(X).tolist() == TREE.__class__(**tuned.best_parameters).fit(X, Y).predict_proba(
        X
    ).tolist()  # fmt: skip


def test_candidates_at_random_are_those_of_scikit_learns_search():
    grid = {"max_depth": [1, 2, 4], "ccp_alpha": stats.uniform(0, 0.05)}

    tuned = tune(TREE, X, Y, grid, method="random", n_candidates=4, random_state=5, cv=FOLDS)

    search = RandomizedSearchCV(TREE, grid, n_iter=4, cv=FOLDS, random_state=5).fit(X, Y)
    assert [one.parameters for one in tuned] == search.cv_results_["params"]
    assert [one.mean for one in tuned] == pytest.approx(search.cv_results_["mean_test_score"].tolist(), abs=1e-15)


def test_no_more_is_drawn_than_the_grid_holds():
    tuned = tune(TREE, X, Y, GRID, method="random", n_candidates=100)

    assert sorted(str(one.parameters) for one in tuned) == sorted(
        str({"min_samples_leaf": leaf, "max_depth": depth}) for leaf in (1, 8) for depth in (1, 2, 4)
    )


def test_the_one_se_rule_takes_the_fewest_leaves_within_one_standard_error():
    tuned, best = (tune(TREE, X, Y, GRID, rule=rule) for rule in ("1se", "best"))

    limit = best.best.mean - best.best.standard_error
    near = [one for one in tuned if one.mean >= limit]
    assert tuned.best.n_leaves == min(one.n_leaves for one in near)
    assert best.best.mean == max(one.mean for one in tuned)
    assert tuned.best.n_leaves < best.best.n_leaves


def test_halving_gives_the_last_round_all_rows_and_scores_it_as_a_grid_does():
    whole = {str(one.parameters): one.mean for one in tune(TREE, X, Y, {"max_depth": range(1, 10)})}

    tuned = tune(TREE, X, Y, {"max_depth": range(1, 10)}, method="halving")

    n_train = sorted(one.n_train for one in tuned)
    full = max(n_train)
    assert n_train == [full // 3] * 6 + [full] * 3
    assert tuned.best.n_train == full
    assert tuned.best.mean == whole[str(tuned.best_parameters)]


def test_what_was_dropped_early_is_not_chosen_for_a_lucky_score_on_few_rows():
    def tried(mean, n_leaves, n_train):
        return Candidate({}, mean, 0.05, 1.0, n_leaves, 1.0, n_train, np.zeros(2))

    candidates = [tried(0.99, 1.0, 10), tried(0.80, 9.0, 100), tried(0.78, 3.0, 100)]

    assert _chosen(candidates, [1, 2], "best") == 1
    assert _chosen(candidates, [1, 2], "1se") == 2


def test_halving_draws_where_values_are_not_listed():
    tuned = tune(TREE, X, Y, {"ccp_alpha": stats.uniform(0, 0.1)}, method="halving", n_candidates=4, factor=2)

    assert max(one.n_train for one in tuned) == tuned.best.n_train == 152


def test_a_dict_of_columns_and_weights_are_taken():
    columns = {f"c{at}": X[:, at] for at in range(4)}
    weights = np.where(Y == 1, 1.0, 3.0)

    tuned = tune(TREE, columns, Y.tolist(), GRID, sample_weight=weights)

    alone = tw.model_selection.cross_validate(
        TREE.__class__(**tuned.best_parameters), columns, Y, cv=5, sample_weight=weights
    )
    assert tuned.best.mean == alone.mean
    assert tuned.estimator.feature_names_in_.tolist() == list(columns)


def test_a_list_of_grids_and_parameters_of_parts_are_taken():
    parts = make_pipeline(StandardScaler(), tw.DecisionTreeClassifier())

    tuned = tune(
        parts, X, Y, [{"decisiontreeclassifier__max_depth": [1]}, {"standardscaler": ["passthrough"]}], cv=2
    )  # fmt: skip

    assert len(tuned) == 2
    assert tuned.to_dict()["parameter_standardscaler"] == [None, "passthrough"]


def test_the_result_does_not_depend_on_the_threads():
    one, four = (tune(TREE, X, Y, GRID, method="halving", n_jobs=n_jobs).to_dict() for n_jobs in (1, 4))

    assert one == four


def test_the_given_estimator_stays_as_it_is():
    est = tw.DecisionTreeClassifier()

    tune(est, X, Y, {"max_depth": [1]}, cv=2)

    assert est.max_depth is None
    assert not hasattr(est, "model_")


def test_scikit_learns_own_search_takes_our_estimators():
    x, y = load_iris(return_X_y=True)

    search = GridSearchCV(tw.DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=3, n_jobs=1).fit(x, y)

    assert search.best_params_ == {"max_depth": 2}


def test_what_is_printed_fits_into_80_columns_with_the_chosen_first():
    tuned = tune(TREE, X, Y, {"max_depth": range(1, 30), "min_samples_leaf": [5]}, method="halving", cv=2)

    lines = str(tuned).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1] == "* the best"
    assert lines[3].startswith("*")
    assert lines[-1] == "and 9 more: see to_dict()"


@pytest.mark.parametrize(
    ("grid", "options", "message"),
    [
        ({"max_dept": [1]}, {}, r"no parameter 'max_dept' \(did you mean 'max_depth'\?\)"),
        ({"max_depth": []}, {}, "list of values of 'max_depth' is empty"),
        ({"max_depth": 3}, {}, "give a list, such as"),
        ({"criterion": "gini"}, {}, "give a list, such as"),
        ({}, {}, "give a dict"),
        ([], {}, "give a dict"),
        (None, {}, "give a dict"),
        (3, {"method": "halving"}, "give a dict"),
        ({"ccp_alpha": stats.uniform()}, {}, "'ccp_alpha' is a distribution"),
        (GRID, {"method": "optuna"}, "method='optuna'"),
        (GRID, {"rule": "least"}, "rule='least'"),
        (GRID, {"method": "random", "n_candidates": 0}, "n_candidates=0"),
        (GRID, {"method": "halving", "factor": 1}, "factor=1"),
        (GRID, {"method": "grid", "n_candidates": "a"}, "n_candidates='a'"),
        (GRID, {"method": "halving", "n_candidates": "a"}, "n_candidates='a'"),
        (GRID, {"factor": "a"}, "factor='a'"),
        ({"max_depth": [2, 3, 2]}, {}, "hold 2 twice"),
        (GRID, {"random_state": "a"}, "random_state='a'"),
        (GRID, {"rule": "1se", "cv": [(range(100), range(100, 190))]}, "at least 2 folds"),
        ({"max_depth": [0]}, {}, "max_depth"),
    ],
)
def test_what_cannot_be_tried_is_refused(grid, options, message):
    with pytest.raises(ParameterError, match=message):
        tune(TREE, X, Y, grid, **options)


def test_the_parameters_that_fail_are_named():
    with pytest.raises(ParameterError) as caught:
        tune(TREE, X, Y, {"max_depth": [1, 0]}, cv=2)

    assert caught.value.__notes__[-1] == "while trying the parameters {'max_depth': 0}"


@pytest.mark.filterwarnings("ignore:.*is nan in")
def test_without_any_score_nothing_is_chosen():
    with pytest.raises(DataError, match="score of every candidate is nan"):
        tune(TREE, X, Y, {"max_depth": [1, 2]}, scoring=lambda est, X, y: math.nan)


def test_what_has_no_leaves_has_no_simplest():
    with pytest.raises(ParameterError, match="this estimator has none"):
        tune(Ridge(), X, X[:, 0], {"alpha": [1.0, 2.0]}, rule="1se", cv=2)


def test_the_last_round_of_halving_has_a_choice():
    for n, wanted in ((3, 3), (9, 3), (27, 3), (10, 2)):
        tuned = tune(TREE, X, Y, {"max_depth": range(1, n + 1)}, method="halving", cv=2)

        full = max(one.n_train for one in tuned)
        assert sum(one.n_train == full for one in tuned) == wanted, n


@pytest.mark.parametrize("method", ["grid", "halving", "random"])
def test_more_candidates_than_can_be_tried_are_refused_with_their_number(method):
    grid = {"max_depth": range(1, 10_001), "min_samples_leaf": range(1, 10_001)}

    with pytest.raises(TooLargeError, match=str(10**8)):
        tune(TREE, X, Y, grid, method=method, n_candidates=10**9)


def test_a_grid_of_more_candidates_than_can_be_numbered_is_refused():
    names = ["max_depth", "min_samples_leaf", "min_samples_split", "max_leaf_nodes"]
    grid = {name: range(2, 10**5) for name in names}

    with pytest.raises(TooLargeError, match="more than can be numbered"):
        tune(TREE, X, Y, grid, method="random", n_candidates=2)


def test_the_folds_are_those_of_cross_validate_for_every_sort_of_seed_and_method():
    drawn = {"min_impurity_decrease": stats.uniform(0, 0.01)}
    for method, grid in (("grid", GRID), ("random", drawn), ("halving", drawn)):
        for make in (lambda: 5, lambda: np.random.RandomState(5)):
            tuned = tune(TREE, X, Y, grid, method=method, n_candidates=2, factor=9, random_state=make())

            alone = tw.model_selection.cross_validate(
                tw.DecisionTreeClassifier(**tuned[0].parameters), X, Y, cv=5, random_state=make()
            )
            assert tuned[0].scores.tolist() == alone.test["accuracy"].tolist()


def test_the_one_se_rule_does_not_tire_of_repeats():
    repeated = tune(TREE, X, Y, {"max_depth": [2]}, cv=RepeatedKFold(n_splits=5, n_repeats=20, random_state=0))

    scores = repeated[0].scores
    # 190 rows in 5 folds: 38 against 152.
    assert math.isclose(repeated[0].standard_error, math.sqrt((1 / 100 + 1 / 4) * scores.var(ddof=1)))


def test_a_sort_of_warning_of_many_fits_is_told_once():
    x = X.copy()
    x[:2, 0] = np.nan

    with pytest.warns(DataWarning, match=r"\(in 6 of 30 fits\)") as told:
        tune(TREE, x, Y, GRID, cv=np.arange(190) // 38)

    assert len(told) == 1


def test_undefined_scores_of_many_candidates_are_told_once():
    def odd(est, X, y):
        return math.nan if est.max_depth < 3 else 0.5

    with pytest.warns(DataWarning, match="so are 3 more of 6 scores") as told:
        tune(TREE, X, Y, GRID, scoring=odd)

    assert len(told) == 1


def test_errors_are_printed_as_what_they_are():
    tuned = tune(
        tw.DecisionTreeRegressor(), X[:, 1:5], X[:, 0], {"max_depth": [1, 2]}, scoring="neg_mean_absolute_error"
    )

    assert tuned.best.mean < 0
    assert str(tuned).startswith("mean_absolute_error")
    assert "-" not in str(tuned)
    assert repr(tuned) == str(tuned)


def test_depth_and_price_of_an_optimal_tree_are_chosen_within_the_folds_of_a_comparison():
    random = np.random.default_rng(0)
    switches = random.integers(0, 2, (200, 2))
    table = np.column_stack([switches, random.normal(size=(200, 2))])
    light = switches[:, 0] ^ switches[:, 1] ^ (random.random(200) < 0.1)
    grid = {"max_depth": [1, 2, 3], "ccp_alpha": [0.0, 0.02]}
    est = tw.OptimalTreeClassifier(max_search=50)

    tuned = tune(est, table, light, grid, cv=3)
    compared = compare(
        {"stump": tw.OptimalTreeClassifier(max_depth=1), "inner": GridSearchCV(est, grid, cv=3)}, table, light, cv=3
    )

    # Two switches need two levels; at three a price keeps the noise out.
    means = {(one.parameters["max_depth"], one.parameters["ccp_alpha"]): one.mean for one in tuned}
    assert means[2, 0.0] == means[2, 0.02] == means[3, 0.02] > means[3, 0.0] > means[1, 0.0]
    assert (tuned.best_parameters["max_depth"], tuned.estimator.get_n_leaves()) == (2, 4)
    assert compared["inner"].mean > compared["stump"].mean + 0.2


@pytest.mark.parametrize("method", ["grid", "halving"])
def test_progress_counts_the_candidates(method):
    heard = []
    with listen(lambda done, what: heard.append(what)):
        tune(TREE, X, Y, {"max_depth": [1, 2]}, method=method, cv=3, n_jobs=1)

    assert "candidate 2 of 2: 3 of 3 folds" in heard
    assert "growing" in heard  # the last fit, on all rows, is none of them
