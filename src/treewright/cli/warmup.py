"""``treewright warmup``. In: nothing. Out: compiled kernels.

A kernel is compiled for each kind of table (with nominal columns or without) and each kind of target, so small fits of
every kind are run. Kernels for several targets and for more than 256 classes are compiled when they are needed: they
are rare, and each takes as long as those compiled here for one kind.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numba
import numpy as np

from treewright.cli.terminal import note, progress, say
from treewright.core import numba_inside
from treewright.core.background import compile_first
from treewright.core.kernel_cache import compile_natively, kept_forms
from treewright.core.progress import clock, counted, listen, report
from treewright.core.threads import available_processors, tell_of_junk

__all__ = ["run_warmup"]

_TWO = ["x", "y", "x", "y", "y", "x"]
_THREE = ["x", "y", "z", "x", "y", "z"]
_NUMBERS = [1.0, 2.0, 4.0, 8.0, 16.0, 5.0]
_LOADING = 5.0  # seconds, with everything compiled
_WEIGHTS = np.array([1.0, 2.0, 1.0, 1.5, 1.0, 1.0])


# Two tables of six rows: numeric, and nominal with numeric columns, both with missing cells.
_NUMERIC = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 6.0], [4.0, 5.0], [5.0, 8.0], [6.0, 5.5]])
_MIXED: dict[str, Any] = {"word": ["a", "b", "c", "a", "b", "c"], "number": [1.0, 2.0, None, 4.0, 5.0, 6.0]}
_TABLES: tuple[Any, ...] = (_NUMERIC, _MIXED)
# What a warm-up of nothing makes, and how much longer it takes one process than to compile ``_typical``.
_N_FORMS = 110
_TIMES_TYPICAL = 1900.0
_MANY_ROWS = 70_000  # with 8 columns more than a tree of few rows may have


def run_warmup() -> None:
    """Compile the kernels that fit, prune and predict need for one target, and print how long it took.

    The groups are compiled in parallel; the kernels of a group have parts in common, which are compiled once.
    """
    start = time.perf_counter()
    tell_of_junk()
    n_processes = min(available_processors(), len(_GROUPS))
    missing = 1.0 - min(1.0, kept_forms() / _N_FORMS)
    expected = _LOADING + missing * _TIMES_TYPICAL * _seconds_of_typical() / n_processes if missing else _LOADING
    note(f"{len(_GROUPS)} groups of kernels, {n_processes} at a time, about {clock(expected)} in all ...")
    with progress(), counted(len(_GROUPS), "groups of kernels compiled") as count:
        report(0.0, "compiling kernels")
        if n_processes == 1:
            for number, group in enumerate(_GROUPS):
                _warm_up(group)
                count()
                note(f"{number + 1} of {len(_GROUPS)}: {group}")
        else:
            with ProcessPoolExecutor(n_processes, multiprocessing.get_context("spawn")) as processes:
                try:
                    running = {processes.submit(_warm_up, group): group for group in _GROUPS}
                    for number, done in enumerate(as_completed(running)):
                        done.result()
                        count()
                        note(f"{number + 1} of {len(_GROUPS)}: {running[done]}")
                except BaseException:
                    for process in multiprocessing.active_children():
                        process.terminate()
                    raise
    took = time.perf_counter() - start
    say(f"kernels for one target are compiled and stored: trees, AdaBoost, forests, boosting; it took {took:.1f} s")


def _typical(values: np.ndarray, order: np.ndarray, sums: np.ndarray) -> float:
    """What most kernels are like: loops, comparisons, reads and writes of arrays."""
    best = -1.0
    for i in range(order.shape[0]):
        row = order[i]
        if values[row] == values[row]:
            sums[row & 7] += values[row]
            gain = sums[row & 7] * sums[row & 7] / (i + 1.0)
            best = max(best, gain)
    return best


def _seconds_of_typical() -> float:
    """How long this machine compiles a typical function now."""
    function = numba.njit(nogil=True, error_model="numpy")(_typical)
    for dtype in (np.float32, np.float64):  # the first form of a process makes Numba's types known as well
        start = time.perf_counter()
        with numba_inside.at_work(aside=False):
            function(np.zeros(8, dtype), np.arange(8), np.zeros(8))
    return time.perf_counter() - start


def _warm_up(group: str) -> None:
    compile_first()
    compile_natively()
    # Each process would repeat the warnings about the environment, and say that it compiles.
    with warnings.catch_warnings(), listen(lambda *_: None):
        warnings.simplefilter("ignore")
        _GROUPS[group]()


def _warm_up_classes() -> None:
    """Classification trees with every criterion, single and in forests."""
    import treewright
    from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA

    for table in _TABLES:
        for weights in (None, _WEIGHTS):
            for criterion in CLASSIFICATION_CRITERIA:
                for labels in (_TWO, _THREE):
                    for most in (None, 3):  # leaves: without a limit depth-first, with one best-first
                        classifier = treewright.DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=most)
                        classifier.fit(table, labels, sample_weight=weights).predict(table)
        for splitter in ("best", "hist"):
            stump = treewright.DecisionTreeClassifier(max_depth=1, splitter=splitter)
            for labels in (_TWO, _THREE):
                treewright.AdaBoostClassifier(stump, n_estimators=3).fit(table, labels).predict(table)
        forests = [treewright.RandomForestClassifier(**_FEW, criterion=each) for each in CLASSIFICATION_CRITERIA]
        _warm_up_forests(table, _THREE, [*forests, treewright.ExtraTreesClassifier(2)])
        # Sums of two classes on all rows have another type than those of sampled rows, which have weights.
        _warm_up_forests(table, _TWO, [forests[0], treewright.ExtraTreesClassifier(2)])
    treewright.DecisionTreeClassifier(ccp_alpha=0.1).fit(_NUMERIC, _TWO)


def _warm_up_numbers() -> None:
    """Regression trees with every criterion, single and in forests."""
    import treewright
    from treewright.grow.settings import REGRESSION_CRITERIA

    for table in _TABLES:
        for weights in (None, _WEIGHTS):
            for criterion in REGRESSION_CRITERIA:
                for most in (None, 3):
                    regressor = treewright.DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=most)
                    regressor.fit(table, _NUMBERS, sample_weight=weights).predict(table)
        for splitter in ("best", "hist"):
            small = treewright.DecisionTreeRegressor(max_depth=3, splitter=splitter)
            treewright.AdaBoostRegressor(small, n_estimators=3).fit(table, _NUMBERS).predict(table)
        forests = [treewright.RandomForestRegressor(**_FEW, criterion=each) for each in REGRESSION_CRITERIA]
        extra = [treewright.ExtraTreesRegressor(2, criterion=each) for each in ("squared_error", "absolute_error")]
        _warm_up_forests(table, _NUMBERS, [*forests, *extra])
    treewright.IsolationForest(n_estimators=2).fit(_NUMERIC).predict(_NUMERIC)
    treewright.IsolationForest(n_estimators=2).fit(_MIXED).predict(_MIXED)


_FEW: dict[str, Any] = {"n_estimators": 2, "max_samples": 3}


def _warm_up_forests(table: Any, target: list[Any], forests: list[Any]) -> None:
    """The kernels of forests for one kind of target; they include those of one tree on bins."""
    for forest in forests:
        for weights in (None, _WEIGHTS):
            forest.fit(table, target, sample_weight=weights).predict(table)
    # Every row is out of bag for some tree, so that nothing warns; trees with few leaves grow best-first.
    first = forests[0].set_params(n_estimators=30, oob_score=True, max_leaf_nodes=3)
    first.fit(table, target).apply(table)
    for kind in ("debiased", "permutation"):
        first.importances(kind)


def _warm_up_others() -> None:
    """The other algorithms and the other treatments of missing cells."""
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
        estimator.fit(_MIXED, _NUMBERS if is_regressor else _TWO).predict(_MIXED)


def _warm_up_optimal() -> None:
    """Optimal trees of cuts, of levels and of tests that are bits; no tree of depth 3 fits these rows."""
    import treewright

    rows = np.arange(40)
    numbers = rows * rows % 13
    for table in (
        {"cut": rows * 5 % 11, "level": np.array(["a", "b", "c", "d"])[rows % 4]},
        {"bit": rows % 2, "other": rows // 4 % 2},
    ):
        for levels in (None, 1):
            treewright.OptimalTreeClassifier(optimal_depth=levels).fit(table, numbers % 2)
            treewright.OptimalTreeRegressor(optimal_depth=levels).fit(table, numbers.astype(float))
    treewright.OptimalTreeClassifier(objective="smallest").fit({"cut": rows}, rows % 2)


def _warm_up_neighbors() -> None:
    """Every search of nearest neighbours, with every distance."""
    from scipy.sparse import csr_matrix

    import treewright
    from treewright.neighbors.metrics import METRICS, RULES
    from treewright.neighbors.sparse import KINDS

    whole = np.nan_to_num(_NUMERIC)
    powers = {"minkowski": 3}
    tables = {**dict.fromkeys(RULES, _MIXED), "precomputed": np.abs(whole[:, :1] - whole[:, 0])}
    for metric in METRICS:
        table, power = tables.get(metric, whole), powers.get(metric, 2)
        classifier = treewright.KNeighborsClassifier(2, metric=metric, p=power, weights="distance")
        classifier.fit(table, _TWO).radius_neighbors(table, 1.0)
        classifier.predict(table)
        treewright.KNeighborsRegressor(2, metric=metric, p=power).fit(table, _NUMBERS).predict(table)
    for metric in ("euclidean", "manhattan", "chebyshev", "minkowski"):
        classifier = treewright.KNeighborsClassifier(2, metric=metric, p=powers.get(metric, 2), algorithm="kd_tree")
        classifier.fit(whole, _TWO)
        classifier.radius_neighbors(whole, 1.0)
        classifier.predict(whole)
    for metric in KINDS:
        classifier = treewright.KNeighborsClassifier(2, metric=metric).fit(csr_matrix(whole), _TWO)
        classifier.radius_neighbors(csr_matrix(whole), 1.0)
        classifier.predict(csr_matrix(whole))


def _warm_up_boosting() -> None:
    """Boosted trees with every loss and growth order, with held-out rows."""
    for table in _TABLES:
        _warm_up_boosting_of(table)
    _warm_up_boosting_of_many_rows()


def _warm_up_boosting_of(table: Any) -> None:
    import treewright
    from treewright.boosting.losses import NUMBER_LOSSES

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
    treewright.GradientBoostingRegressor(**few, n_members=2).fit(table, _NUMBERS)


def _warm_up_boosting_of_many_rows() -> None:
    """Trees of many rows, which grow node by node; those of few rows grow in one call."""
    import treewright

    numbers = np.arange(_MANY_ROWS * 8) % 97.0
    table = numbers.reshape(_MANY_ROWS, 8).copy(order="F")
    for growth in ("leaf", "symmetric"):
        treewright.GradientBoostingRegressor(2, growth=growth, max_depth=2).fit(table, numbers[:_MANY_ROWS])
        treewright.GradientBoostingClassifier(2, growth=growth, max_depth=2).fit(table, numbers[:_MANY_ROWS] > 40)


def _warm_up_contributions() -> None:
    """Contributions to predictions, of few rows and of many, for every engine."""
    import treewright

    fitted = treewright.GradientBoostingRegressor(n_estimators=1, min_samples_leaf=1, max_depth=3).fit(
        _NUMERIC, _NUMBERS
    )
    for rows in (_NUMERIC[:1], np.tile(_NUMERIC, (500, 1))):
        fitted.explain(rows, kind="steps")
        for order in (1, 2):
            fitted.explain(rows, order=order)
            fitted.explain(rows, kind="interventional", order=order, background=rows[:3])


# The longest first, so that no long group runs alone at the end.
_GROUPS: dict[str, Callable[[], None]] = {
    "regression trees and forests": _warm_up_numbers,
    "classification trees and forests": _warm_up_classes,
    "boosting": _warm_up_boosting,
    "C4.5, CHAID, other treatments of missing cells": _warm_up_others,
    "nearest neighbours": _warm_up_neighbors,
    "optimal trees": _warm_up_optimal,
    "contributions": _warm_up_contributions,
}
