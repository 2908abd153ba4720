"""Many trees of a curve from one growth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold

import treewright as tw
from treewright.evaluation.folds import task_of
from treewright.evaluation.path import family_of, unpruned
from treewright.evaluation.scores import mean_loss
from treewright.model_selection import error_curve

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[::2], Y[::2]
TREE = tw.DecisionTreeClassifier()


@pytest.mark.parametrize("over", ["alpha", "leaves"])
@pytest.mark.parametrize("loss", ["misclassification", "squared_error", "absolute_error"])
@pytest.mark.parametrize("weighed", [False, True])
def test_errors_read_off_one_path_are_those_of_pruning_and_predicting_for_each_point(over, loss, weighed):
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=(90, 3)), 1)
    y = rng.integers(0, 3, 90) if loss == "misclassification" else np.stack([x[:, 0] + rng.normal(size=90)] * 2, axis=1)
    est = tw.DecisionTreeClassifier() if loss == "misclassification" else tw.DecisionTreeRegressor()
    weights = np.arange(90) % 4 * 1.0 if weighed else None
    values = [0.02, 0.0, 5.0, 0.02] if over == "alpha" else [4, 1, 1000, 7, 2]
    folds = list(KFold(3).split(x))

    curve = error_curve(est, x, y, over=over, values=values, cv=folds, loss=loss, sample_weight=weights)

    for fold, (train, test) in enumerate(folds):
        grown = clone(est).fit(x[train], y[train], None if weights is None else weights[train])
        for at, value in enumerate(values):
            cut = (
                grown.prune("cost_complexity", alpha=value)
                if over == "alpha"
                else grown.prune("leaves", max_leaves=value)
            )
            for found, rows in ((curve.train_by_fold, train), (curve.test_by_fold, test)):
                slow = mean_loss(loss, cut, x[rows], y[rows], None if weights is None else weights[rows])
                assert found[fold, at] == pytest.approx(slow, rel=1e-12, abs=1e-14)
        assert curve.n_leaves.shape == (len(values),)


def test_a_class_that_a_fold_never_learned_is_wrong_there():
    x, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "c"]

    curve = error_curve(TREE, x, y, over="leaves", values=[1, 9], cv=[([0, 1, 2], [2 + 1]), ([0, 2, 3], [1])])

    assert curve.test_by_fold.tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_one_growth_for_each_fold_gives_all_leaves(monkeypatch):
    grown = []
    fit = tw.DecisionTreeClassifier.fit
    monkeypatch.setattr(tw.DecisionTreeClassifier, "fit", lambda self, *a, **k: grown.append(1) or fit(self, *a, **k))
    monkeypatch.setattr(tw.DecisionTreeClassifier, "predict", lambda *a: pytest.fail("predicted point by point"))

    error_curve(TREE, X, Y, over="leaves", values=range(1, 9), cv=3)

    assert len(grown) == 3


@pytest.mark.parametrize("over", ["alpha", "leaves"])
def test_default_sizes_have_every_small_one_and_the_rest_at_like_ratios(over):
    x, y = load_diabetes(return_X_y=True)
    task = task_of(tw.DecisionTreeRegressor(), x, y)

    values = family_of(tw.DecisionTreeRegressor(), over).default_values(task)

    path = tw.model_selection.pruning_path(tw.DecisionTreeRegressor(), x, y, cv=None)
    sizes = (
        np.array([path.at(leaves=value).get_n_leaves() for value in values])
        if over == "leaves"
        else np.array([path.n_leaves[np.searchsorted(path.alphas, value, side="right") - 1] for value in values])
    )
    assert 40 <= len(values) <= 50
    assert set(path.n_leaves[path.n_leaves <= 10].tolist()) <= set(sizes.tolist())
    assert sizes.max() == path.n_leaves.max()
    large = np.sort(sizes[sizes > 10])
    assert (large[1:] / large[:-1]).max() < 1.4
    if over == "leaves":
        assert values[:10] == list(range(1, 11))


def test_the_default_sizes_find_the_small_tree_that_is_best():
    x, y = load_diabetes(return_X_y=True)
    est = tw.DecisionTreeRegressor()

    curve = error_curve(est, x, y, over="leaves", cv=5)

    small = error_curve(est, x, y, over="leaves", values=range(1, 11), cv=5)
    assert (curve.best, curve.one_se) == (small.best, small.one_se)


@pytest.mark.parametrize(
    "est", [tw.C45Classifier(), tw.DecisionTreeClassifier(missing="surrogate"), tw.CHAIDClassifier()], ids=repr
)
@pytest.mark.filterwarnings("ignore:missing values in")
def test_rows_with_missing_cells_are_read_off_as_they_are_predicted(est):
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=(120, 3)))
    y = np.where(x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=120) > 0, "yes", "no")
    x[rng.random(x.shape) < 0.15] = np.nan

    curve = error_curve(est, x, y, over="leaves", values=[1, 3, 6, 12], cv=KFold(3))

    for fold, (train, test) in enumerate(KFold(3).split(x)):
        grown = unpruned(est).fit(x[train], y[train])
        for at, most in enumerate(curve.x):
            cut = grown.prune("leaves", max_leaves=most)
            assert curve.test_by_fold[fold, at] == pytest.approx(np.mean(cut.predict(x[test]) != y[test]), abs=1e-14)
            assert curve.train_by_fold[fold, at] == pytest.approx(np.mean(cut.predict(x[train]) != y[train]), abs=1e-14)
