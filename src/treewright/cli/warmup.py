"""``treewright warmup``. In: nothing. Out: compiled kernels.

A kernel is compiled for each kind of table (with columns of names or without) and each kind of target, so small fits
of every kind are made. Several targets at once and more than 256 classes are left for when they are needed: they are
rare, and each takes as long as what is compiled here for one kind.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.cli.terminal import note, say

__all__ = ["run_warmup"]

_TWO = ["x", "y", "x", "y", "y", "x"]
_THREE = ["x", "y", "z", "x", "y", "z"]
_NUMBERS = [1.0, 2.0, 4.0, 8.0, 16.0, 5.0]
_WEIGHTS = np.array([1.0, 2.0, 1.0, 1.5, 1.0, 1.0])


def run_warmup() -> None:
    """Compile the kernels that a fit, a pruning and a prediction of one target need, and say how long it took."""
    from treewright.core.meanwhile import compile_first

    compile_first()
    start = time.perf_counter()
    numbers = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 6.0], [4.0, 5.0], [5.0, 8.0], [6.0, 5.5]])
    words = {"word": ["a", "b", "c", "a", "b", "c"], "number": [1.0, 2.0, None, 4.0, 5.0, 6.0]}
    note("1 of 3: single trees and AdaBoost of them ...")
    for table in (numbers, words):
        _warm_up_trees(table)
        _warm_up_adaboost(table)
    _warm_up_others(numbers, words)
    _warm_up_neighbors(numbers, words)
    note("2 of 3: forests and boosting on columns of numbers ...")
    _warm_up_forests(numbers)
    _warm_up_boosting(numbers)
    note("3 of 3: forests and boosting on columns of names ...")
    _warm_up_forests(words)
    _warm_up_boosting(words)
    took = time.perf_counter() - start
    say(f"kernels are compiled and kept, for trees, AdaBoost, forests and boosting of one target; it took {took:.1f} s")


def _warm_up_trees(table: Any) -> None:
    """CART under every criterion."""
    import treewright
    from treewright.grow.settings import REGRESSION_CRITERIA
    from treewright.tree.class_criteria import CLASSIFICATION_CRITERIA

    for weights in (None, _WEIGHTS):
        for criterion in CLASSIFICATION_CRITERIA:
            for labels in (_TWO, _THREE):
                classifier = treewright.DecisionTreeClassifier(criterion=criterion)
                classifier.fit(table, labels, sample_weight=weights).predict(table)
        for criterion in REGRESSION_CRITERIA:
            regressor = treewright.DecisionTreeRegressor(criterion=criterion)
            regressor.fit(table, _NUMBERS, sample_weight=weights).predict(table)


def _warm_up_others(numbers: np.ndarray, words: Mapping[str, Any]) -> None:
    """The other algorithms, the other ways of missing cells, and pruning."""
    import treewright

    for estimator in (
        treewright.C45Classifier(min_samples_leaf=1),
        treewright.CHAIDClassifier(alpha=1.0, alpha_merge=0.9),
        treewright.CHAIDRegressor(alpha=1.0, alpha_merge=0.9),
        treewright.DecisionTreeClassifier(missing="surrogate"),
        treewright.DecisionTreeRegressor(missing="fractional"),
        treewright.DecisionTreeRegressor(missing="surrogate", criterion="absolute_error"),
    ):
        is_regressor = type(estimator).__name__.endswith("Regressor")
        estimator.fit(words, _NUMBERS if is_regressor else _TWO).predict(words)
    treewright.DecisionTreeClassifier(ccp_alpha=0.1).fit(numbers, _TWO)


def _warm_up_neighbors(numbers: np.ndarray, words: Mapping[str, Any]) -> None:
    """Every search of nearest neighbours, by every formula of distance."""
    from scipy.sparse import csr_matrix

    import treewright
    from treewright.neighbors.metrics_by_name import METRICS
    from treewright.neighbors.mixed_columns import RULES
    from treewright.neighbors.sparse import KINDS

    whole = np.nan_to_num(numbers)
    for metric in METRICS:
        table = words if metric in RULES else whole
        classifier = treewright.KNeighborsClassifier(2, metric=metric, p=3, weights="distance")
        classifier.fit(table, _TWO).radius_neighbors(table, 1.0)
        classifier.predict(table)
        treewright.KNeighborsRegressor(2, metric=metric, p=3).fit(table, _NUMBERS).predict(table)
    for metric in ("euclidean", "manhattan", "chebyshev", "minkowski"):
        classifier = treewright.KNeighborsClassifier(2, metric=metric, p=3, algorithm="kd_tree").fit(whole, _TWO)
        classifier.radius_neighbors(whole, 1.0)
        classifier.predict(whole)
    for metric in KINDS:
        classifier = treewright.KNeighborsClassifier(2, metric=metric).fit(csr_matrix(whole), _TWO)
        classifier.radius_neighbors(csr_matrix(whole), 1.0)
        classifier.predict(csr_matrix(whole))


def _warm_up_adaboost(table: Any) -> None:
    """AdaBoost of trees grown exactly and on bins."""
    import treewright

    for splitter in ("best", "hist"):
        classifier = treewright.DecisionTreeClassifier(max_depth=1, splitter=splitter)
        for target in (_TWO, _THREE):
            treewright.AdaBoostClassifier(classifier, n_estimators=3).fit(table, target).predict(table)
        regressor = treewright.DecisionTreeRegressor(max_depth=3, splitter=splitter)
        treewright.AdaBoostRegressor(regressor, n_estimators=3).fit(table, _NUMBERS).predict(table)


def _warm_up_forests(table: Any) -> None:
    """What forests need; one tree on bins comes with them."""
    import treewright
    from treewright.grow.settings import REGRESSION_CRITERIA
    from treewright.tree.class_criteria import CLASSIFICATION_CRITERIA

    few: dict[str, Any] = {"n_estimators": 2, "max_samples": 3}
    classifiers = [treewright.RandomForestClassifier(**few, criterion=each) for each in CLASSIFICATION_CRITERIA]
    regressors = [treewright.RandomForestRegressor(**few, criterion=each) for each in REGRESSION_CRITERIA]
    for forests, target in (
        ([*classifiers, treewright.ExtraTreesClassifier(2)], _THREE),
        # Two classes on all rows have sums of another type than drawn rows, which weigh.
        ([classifiers[0], treewright.ExtraTreesClassifier(2)], _TWO),
        ([*regressors, treewright.ExtraTreesRegressor(2)], _NUMBERS),
    ):
        for forest in forests:
            for weights in (None, _WEIGHTS):
                forest.fit(table, target, sample_weight=weights).predict(table)
        # Every row is left out by some tree, so that nothing is warned of; few leaves are grown best-first.
        first = forests[0].set_params(n_estimators=30, oob_score=True, max_leaf_nodes=3)
        first.fit(table, target).apply(table)
        for kind in ("debiased", "permutation"):
            first.importances(kind)
    treewright.IsolationForest(n_estimators=2).fit(table).predict(table)


def _warm_up_boosting(table: Any) -> None:
    """Boosted trees under every loss and growth order, with rows that judge them."""
    import treewright
    from treewright.boosting.losses_given import NUMBER_LOSSES

    few: dict[str, Any] = {"n_estimators": 2, "min_samples_leaf": 1}
    for target in (_TWO, _THREE):
        for weights in (None, _WEIGHTS):
            boosted = treewright.GradientBoostingClassifier(**few)
            boosted.fit(table, target, weights, X_val=table, y_val=target).predict(table)
    for more in ({"growth": "level"}, {"growth": "symmetric"}, {"subsample": 0.7}, {"sampling": "gradient"}):
        for target in (_TWO, _THREE):
            treewright.GradientBoostingClassifier(**few, **more).fit(table, target)
        treewright.GradientBoostingRegressor(**few, **more).fit(table, _NUMBERS)
    for loss in NUMBER_LOSSES:
        for weights in (None, _WEIGHTS):
            regressor = treewright.GradientBoostingRegressor(**few, loss=loss)
            regressor.fit(table, _NUMBERS, weights, X_val=table, y_val=_NUMBERS).apply(table)
    treewright.GradientBoostingRegressor(**few, level_encoding="ordered").fit(table, _NUMBERS).predict(table)
