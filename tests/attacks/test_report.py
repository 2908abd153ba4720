"""Hostile reports: odd rows, weights, models and paths give a page or one error that says what to do."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as OtherTree

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.reporting import columns as columns_part
from treewright.show.page.tree import tree_part


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(160, 3))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] + rng.normal(size=160) > 1)


@pytest.fixture(scope="module")
def tree(rows):
    return tw.DecisionTreeClassifier().fit(*rows)


@pytest.mark.parametrize("make", [tw.DecisionTreeClassifier, tw.KNeighborsClassifier])
def test_one_weight_for_all_rows_is_as_a_list_of_them(make, rows):
    est = make().fit(*rows)

    page = tw.report(est, *rows, sample_weight=2.0)

    assert page.html == tw.report(est, *rows, sample_weight=[2.0] * 160).html


def test_reports_in_threads_leave_the_filters_of_warnings_alone(tree, rows):
    before, found = list(warnings.filters), {}

    def make(at):
        found[at] = tw.report(tree, *rows, n_jobs=1).html

    threads = [threading.Thread(target=make, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list(warnings.filters) == before
    assert len(set(found.values())) == 1


def test_folds_that_do_not_suit_do_not_warn():
    X = np.arange(40.0).reshape(-1, 1)
    y = np.repeat([0, 1], [3, 37])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        est = tw.DecisionTreeClassifier().fit(X, y)
        for n_jobs in (1, 2):
            assert tw.report(est, X, y, n_jobs=n_jobs).summary.pruning is not None


def test_weights_of_nearly_nothing_are_noted_on_the_page(tree, rows):
    pruning = tw.report(tree, *rows, sample_weight=np.full(160, 1e-30), cv=None).summary.pruning

    assert any("the weights add up to 1.6e-28" in note for note in pruning.notes)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda tree, _: type(tree), "not the class DecisionTreeClassifier itself"),
        (lambda *_: tw.DecisionTreeClassifier(), "this DecisionTreeClassifier is not fitted: fit it first"),
        (lambda _, rows: OtherTree().fit(*rows), r"not DecisionTreeClassifier \(of sklearn\)"),
        (
            lambda _, rows: make_pipeline(StandardScaler(), tw.DecisionTreeClassifier()).fit(*rows),
            r"give its last step .* report\(pipe\[-1\], pipe\[:-1\].transform\(X\), y\)",
        ),
        (
            lambda tree, rows: GridSearchCV(tree, {"max_depth": [1]}, cv=2).fit(*rows),
            "give its best_estimator_",
        ),
    ],
    ids=["class", "not fitted", "other library", "pipeline", "search"],
)
def test_what_is_no_fitted_estimator_is_refused_with_what_to_give(make, words, tree, rows):
    with pytest.raises(ParameterError, match=words):
        tw.report(make(tree, rows), *rows)


def test_messages_about_the_table_name_the_estimator(tree, rows):
    with pytest.raises(DataError, match="2 features, but DecisionTreeClassifier is expecting 3"):
        tw.report(tree, rows[0][:, :2], rows[1])
    with pytest.raises(DataError, match="2 features, but the model is expecting 3"):
        tw.report(tree.model_, rows[0][:, :2], rows[1])
    with pytest.raises(DataError, match="report requires y"):
        tw.report(tree, rows[0], None)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"curves": None}, "curves=None: give a list of 'learning' and 'depth'"),
        ({"curves": {"learning"}}, "give a list"),
        ({"title": 5}, "title=5: give a text, or None"),
    ],
)
def test_options_of_another_type_are_refused(option, words, tree, rows):
    with pytest.raises(ParameterError, match=words):
        tw.report(tree, *rows, **option)


def test_a_title_may_hold_what_no_file_can(tree, rows):
    page = tw.report(tree, *rows, title="</title>\ud800\x00\n")

    assert r"<title>&lt;/title&gt;\ud800\x00\n</title>" in page.html
    page.html.encode("utf-8")


def test_numbers_whose_squares_overflow_are_named(rows):
    est = tw.DecisionTreeRegressor().fit(*rows)

    with pytest.raises(DataError, match=r"numbers up to 2e\+308"):
        tw.report(est, rows[0], np.where(rows[1] > 1, 1e308, 0.0))


def test_a_tree_that_a_pruner_rebuilt_tells_no_audit_of_another_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=900) > 0).astype(int)
    est = tw.DecisionTreeClassifier().fit(X[:450], y[:450])

    page = tw.report(est, X[450:], y[450:]).summary

    own = [pruner.tree for pruner in page.pruning.pruners if pruner.tree is not None]
    assert own, "no pruner rebuilt the tree: choose other rows"
    assert all(not node.audit for part in own for node in part.nodes)
    assert page.tree.nodes[0].audit


def test_columns_of_one_target_do_not_warn_in_every_fold(tree, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tw.report(tree, rows[0], rows[1][:, None]).html == tw.report(tree, *rows).html


def test_importances_of_huge_numbers_have_finite_errors(rows):
    X = rows[0]
    est = tw.DecisionTreeRegressor(max_depth=4).fit(X, X[:, 0] * 1e150)

    page = tw.report(est, X, X[:, 0] * 1e150)

    assert all(np.isfinite([column.permutation, column.error]).all() for column in page.summary.data)
    assert "<title>" in page.html


def test_a_curve_whose_folds_have_too_few_rows_is_left_out():
    X, y = np.arange(30.0).reshape(-1, 1), np.arange(30) % 3
    est = tw.KNeighborsClassifier().fit(X, y)

    (quality,) = tw.report(est, X, y, curves=["learning"]).summary.quality

    assert quality.curves == ()
    assert any("No learning curve" in why for why in quality.left_out)


@pytest.mark.slow
def test_distances_that_are_a_function_are_asked_for_as_often_as_the_report_may(rows):
    rows, n_calls = tuple(part[:80] for part in rows), [0]

    def distance(a, b):
        n_calls[0] += 1
        return float(np.abs(a - b).sum())

    est = tw.KNeighborsClassifier(metric=distance).fit(*rows)
    tw.report(est, *rows)

    assert 80 * 80 < n_calls[0] < 1_000_000


def test_of_a_wide_table_the_columns_that_gained_most_are_shuffled(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60))
    y = (X[:, :40].sum(axis=1) > 0).astype(int)
    est = tw.RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    whole = {part.position: part for part in tw.report(est, X, y).summary.data}
    monkeypatch.setattr(columns_part, "MOST_WORK", 1)

    parts = tw.report(est, X, y).summary.data

    asked = [part for part in parts if part.asked]
    told = [part for part in asked if part.permutation is not None]
    assert len(told) == columns_part.FEWEST_COLUMNS
    assert min(part.impurity for part in told) >= max(part.impurity for part in asked if part.permutation is None)
    assert all(part.error is None for part in parts if part.permutation is None)
    assert all("for the 20 columns with the largest gain" in part.measure for part in parts)
    assert all("columns" not in part.measure for part in whole.values())
    assert [part.impurity for part in parts] == [whole[part.position].impurity for part in parts]


def test_of_neighbours_of_a_wide_table_nothing_is_shuffled(monkeypatch, rows):
    est = tw.KNeighborsClassifier().fit(*rows)
    monkeypatch.setattr(columns_part, "MOST_WORK", 1)

    page = tw.report(est, *rows)

    assert all(part.permutation is None and part.measure == "" for part in page.summary.data)
    assert "it would take too long" in page.html


def test_a_split_into_thousands_of_levels_has_an_edge_for_each():
    rng = np.random.default_rng(0)
    table = {"level": [f"level {code}" for code in rng.integers(0, 3000, 4000)], "x": rng.normal(size=4000)}
    y = rng.integers(0, 3, 4000)
    est = tw.DecisionTreeClassifier(nominal_splits="multiway", max_depth=3, nominal=["level"]).fit(table, y)
    assert est.tree_.n_branches.max() > 1000

    part = tree_part(est.model_)

    assert len({node.edge for node in part.nodes if node.parent == 0}) > 1000


@pytest.mark.slow
def test_a_thousand_columns_are_audited():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 1500))
    y = (X[:, 3] + X[:, 7] > 0).astype(int)
    tree = tw.DecisionTreeClassifier(max_depth=3).fit(X, y)

    page = tw.report(tree, X, y)

    assert page.summary.tree.nodes[0].audit
