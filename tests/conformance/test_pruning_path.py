"""The cost-complexity path is scikit-learn's: alphas, impurities and the very same nested subtrees, on 20 tables."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn import datasets
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treewright as tw

# scikit-learn subtracts what a cut takes away from running sums, and its variances are differences of squares; ours
# adds up what is left. Its alphas so are off by up to 7e-15 of the impurity of the root (seen on these tables, in
# friedman 3; elsewhere 2e-16), which is no small part of an alpha of 1e-9.
DRIFT = 2e-14


def bundled(name):
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def two_targets():
    X, y = datasets.make_regression(220, 5, n_targets=2, noise=20, random_state=9)
    return X, y


# Name: table, parameters, whether rows have weights. Where targets are classes or whole numbers, exact ties between
# tests are common, and of equals each program takes another one: weights of any size, or a limit, keep ties away.
TABLES = {
    "iris": (lambda: bundled("iris"), {"max_depth": 3}, False),
    "iris, weights": (lambda: bundled("iris"), {}, True),
    "wine, weights": (lambda: bundled("wine"), {"min_samples_leaf": 5}, True),
    "wine, entropy, weights": (lambda: bundled("wine"), {"criterion": "entropy"}, True),
    "breast cancer, weights": (lambda: bundled("breast_cancer"), {"min_samples_leaf": 5}, True),
    "breast cancer, entropy, weights": (lambda: bundled("breast_cancer"), {"criterion": "entropy"}, True),
    "digits": (lambda: bundled("digits"), {"min_samples_leaf": 10}, True),
    "two classes": (lambda: datasets.make_classification(400, 8, random_state=1), {"min_samples_leaf": 4}, False),
    "two classes, weights": (lambda: datasets.make_classification(400, 8, random_state=2), {}, True),
    "five classes, entropy, weights": (
        lambda: datasets.make_classification(500, 10, n_informative=6, n_classes=5, random_state=3),
        {"criterion": "entropy", "min_samples_leaf": 3},
        True,
    ),
    "moons": (lambda: datasets.make_moons(400, noise=0.3, random_state=4), {"max_depth": 6}, False),
    "circles": (lambda: datasets.make_circles(400, noise=0.2, random_state=5), {"max_depth": 6}, True),
    "quantiles": (
        lambda: datasets.make_gaussian_quantiles(n_samples=500, n_classes=3, random_state=6), {"max_depth": 7}, False,
    ),
    "diabetes, weights": (lambda: bundled("diabetes"), {"min_samples_leaf": 3}, True),
    "diabetes, depth, weights": (lambda: bundled("diabetes"), {"max_depth": 6}, True),
    "friedman 1": (lambda: datasets.make_friedman1(300, noise=1, random_state=7), {}, False),
    "friedman 2, weights": (lambda: datasets.make_friedman2(300, noise=10, random_state=8), {}, True),
    "friedman 3": (lambda: datasets.make_friedman3(300, noise=0.1, random_state=9), {"min_samples_leaf": 2}, False),
    "a plane": (lambda: datasets.make_regression(300, 6, noise=30, random_state=10), {}, False),
    "two targets": (two_targets, {"max_depth": 7}, True),
}  # fmt: skip


class Both:
    """One table through both programs."""

    def __init__(self, name):
        make, self.parameters, is_weighted = TABLES[name]
        X, self.y = make()
        self.X = X.astype(np.float32)  # what scikit-learn makes of every table
        self.weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X)) if is_weighted else None
        is_regression = self.y.dtype.kind == "f"
        self.kinds = (
            (tw.DecisionTreeRegressor, DecisionTreeRegressor)
            if is_regression
            else (tw.DecisionTreeClassifier, DecisionTreeClassifier)
        )

    def ours(self, **more):
        return self.kinds[0](**self.parameters, **more)

    def theirs(self, **more):
        return self.kinds[1](random_state=0, **self.parameters, **more)

    def fit(self, estimator):
        return estimator.fit(self.X, self.y, sample_weight=self.weights)

    @cache  # noqa: B019 - as long-lived as the module
    def paths(self):
        """Ours, and theirs with the steps of one alpha made one: alphas and impurities."""
        ours = self.ours().cost_complexity_pruning_path(self.X, self.y, self.weights)
        theirs = self.theirs().cost_complexity_pruning_path(self.X, self.y, self.weights)
        alphas, impurities = [], []
        near = DRIFT * float(theirs.impurities[-1])
        for alpha, impurity in zip(theirs.ccp_alphas, theirs.impurities, strict=True):
            if alphas and alpha <= alphas[-1] * (1 + 1e-12) + near:
                impurities[-1] = impurity
            else:
                alphas.append(alpha)
                impurities.append(impurity)
        return ours, np.array(alphas), np.array(impurities)


@cache
def both(name):
    return Both(name)


def partition(leaves):
    """Leaves numbered in the order in which rows first reach them."""
    _, first, place = np.unique(leaves, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place].tolist()


@pytest.mark.parametrize("name", TABLES)
def test_alphas_and_impurities_are_those_of_scikit_learn(name):
    ours, alphas, impurities = both(name).paths()
    root = impurities[-1]

    assert len(alphas) > 4
    np.testing.assert_allclose(ours.ccp_alphas, alphas, rtol=1e-12, atol=DRIFT * root)
    np.testing.assert_allclose(ours.impurities, impurities, rtol=1e-12, atol=1e-12 * root)


@pytest.mark.parametrize("name", TABLES)
def test_between_two_alphas_the_rows_are_divided_as_scikit_learn_divides_them(name):
    table = both(name)
    _, alphas, _ = table.paths()
    grown = table.fit(table.ours())
    chosen = np.unique(np.linspace(0, len(alphas) - 2, 12).astype(int))

    for middle in ((alphas[chosen] + alphas[chosen + 1]) / 2).tolist():
        theirs = partition(table.fit(table.theirs(ccp_alpha=middle)).apply(table.X))

        assert partition(grown.prune("cost_complexity", alpha=middle).apply(table.X)) == theirs
        assert partition(table.fit(table.ours(ccp_alpha=middle)).apply(table.X)) == theirs


def test_the_path_is_that_of_the_unpruned_tree_whatever_ccp_alpha_is():
    X, y = bundled("iris")

    with_alpha = tw.DecisionTreeClassifier(ccp_alpha=0.1).cost_complexity_pruning_path(X, y)

    without = tw.DecisionTreeClassifier().cost_complexity_pruning_path(X, y)
    assert with_alpha.ccp_alphas.tolist() == without.ccp_alphas.tolist()


def test_scikit_learn_finds_the_names_that_it_knows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = tw.DecisionTreeClassifier().cost_complexity_pruning_path(*bundled("iris"))

    assert set(path) == {"ccp_alphas", "impurities"}
    assert path.ccp_alphas.dtype == path.impurities.dtype == np.float64
