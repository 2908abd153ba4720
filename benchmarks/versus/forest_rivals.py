"""Forests of other libraries under one roof. In: a plan, a table. Out: class shares. Caller: forests.

Every forest is asked for the same: trees of full depth, bootstrap samples (or all rows for extra-trees), the same
number of columns for each node, the same smallest leaf, the same number of threads. Where a library cannot do just
that, its row says what it does instead. A library that is not installed is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import treewright as tw

BOOTSTRAP = 1.0 - 1.0 / math.e  # share of different rows in a bootstrap sample
XGBOOST_DEPTH = 18
FEW_LEAVES, MOST_LEAVES = 2_000, 131_072  # LightGBM's limit
LIGHTGBM_POOL = 512.0  # MB of histograms; without a limit it keeps one for each leaf

Shares = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Plan:
    """What a forest is to be.

    Attributes
    ----------
    kind : {"random forest", "extra-trees"}
    n_trees, n_threads, leaf : int >= 1
        ``leaf`` is the fewest rows that a leaf may have.
    """

    kind: str
    n_trees: int
    n_threads: int
    leaf: int = 1


@dataclass(frozen=True)
class Rival:
    """One library's forest.

    Attributes
    ----------
    name : str
    package : str
        What has to be installed.
    kinds : kinds of forests that it has
    fit : function from plan, float32[n, p], int64[n] to what was fitted
    shares : function from what was fitted to a function of rows
    note : str
        What differs from the plan.
    """

    name: str
    package: str
    kinds: tuple[str, ...]
    fit: Callable[[Plan, np.ndarray, np.ndarray], Any]
    shares: Callable[[Any], Shares]
    note: str = ""


def scikit_learn_like(forests: dict[str, Any]) -> Callable[[Plan, np.ndarray, np.ndarray], Any]:
    """A fit of estimators with scikit-learn's names."""

    def fit(plan: Plan, X: np.ndarray, y: np.ndarray) -> Any:
        return forests[plan.kind](
            plan.n_trees, min_samples_leaf=plan.leaf, n_jobs=plan.n_threads, random_state=0
        ).fit(X, y)  # fmt: skip

    return fit


def shares_of_estimator(fitted: Any) -> Shares:
    """Of anything with scikit-learn's methods."""
    return fitted.predict_proba


def fit_ydf(plan: Plan, X: np.ndarray, y: np.ndarray) -> Any:
    """YDF's random forest: every cut is tried; shares averaged, as everywhere here."""
    import ydf

    ydf.verbose(0)
    learner = ydf.RandomForestLearner(
        label="y",
        task=ydf.Task.CLASSIFICATION,
        num_trees=plan.n_trees,
        max_depth=-1,
        min_examples=plan.leaf,
        num_candidate_attributes=columns_per_node(X.shape[1]),
        winner_take_all=False,
        compute_oob_performances=False,
        num_threads=plan.n_threads,
        random_seed=1,
    )
    return learner.train({"x": X, "y": y})


def shares_of_ydf(fitted: Any) -> Shares:
    """YDF gives one column for two classes."""

    def shares(X: np.ndarray) -> np.ndarray:
        said = fitted.predict({"x": X})
        return np.stack([1.0 - said, said], axis=1) if said.ndim == 1 else said

    return shares


def lightgbm_with(n_leaves: int) -> Callable[[Plan, np.ndarray, np.ndarray], Any]:
    """A fit of LightGBM's random forest with so many leaves at most."""

    def fit(plan: Plan, X: np.ndarray, y: np.ndarray) -> Any:
        import lightgbm

        return lightgbm.LGBMClassifier(
            boosting_type="rf",
            n_estimators=plan.n_trees,
            num_leaves=min(n_leaves, max(2, len(X) // plan.leaf)),
            max_depth=-1,
            min_child_samples=plan.leaf,
            min_child_weight=0.0,
            subsample=BOOTSTRAP,
            subsample_freq=1,
            colsample_bytree=1.0,
            feature_fraction_bynode=columns_per_node(X.shape[1]) / X.shape[1],
            histogram_pool_size=LIGHTGBM_POOL,
            n_jobs=plan.n_threads,
            random_state=0,
            verbose=-1,
        ).fit(X, y)

    return fit


def shares_of_lightgbm(fitted: Any) -> Shares:
    """Without the estimator's warning about names of columns."""
    booster = fitted.booster_

    def shares(X: np.ndarray) -> np.ndarray:
        said = booster.predict(X, num_threads=fitted.n_jobs)
        return np.stack([1.0 - said, said], axis=1) if said.ndim == 1 else said

    return shares


def fit_xgboost(plan: Plan, X: np.ndarray, y: np.ndarray) -> Any:
    """XGBoost's random forest; a leaf of one row weighs p (1 - p) = 1/4."""
    import xgboost

    return xgboost.XGBRFClassifier(
        n_estimators=plan.n_trees,
        max_depth=XGBOOST_DEPTH,
        min_child_weight=plan.leaf / 4.0,
        subsample=BOOTSTRAP,
        colsample_bynode=columns_per_node(X.shape[1]) / X.shape[1],
        tree_method="hist",
        n_jobs=plan.n_threads,
        random_state=0,
    ).fit(X, y)


def columns_per_node(p: int) -> int:
    """The root of the number of columns, as scikit-learn rounds it."""
    return max(1, int(math.sqrt(p)))


OURS = Rival(
    "Treewright",
    "treewright",
    ("random forest", "extra-trees"),
    scikit_learn_like({"random forest": tw.RandomForestClassifier, "extra-trees": tw.ExtraTreesClassifier}),
    shares_of_estimator,
)
SCIKIT_LEARN = Rival(
    "scikit-learn",
    "sklearn",
    ("random forest", "extra-trees"),
    scikit_learn_like({"random forest": RandomForestClassifier, "extra-trees": ExtraTreesClassifier}),
    shares_of_estimator,
)
RIVALS = (
    SCIKIT_LEARN,
    Rival("YDF", "ydf", ("random forest",), fit_ydf, shares_of_ydf),
    Rival(
        f"LightGBM rf, {FEW_LEAVES:,} leaves",
        "lightgbm",
        ("random forest",),
        lightgbm_with(FEW_LEAVES),
        shares_of_lightgbm,
        "0.632 of the rows, each once; a tree for each class",
    ),
    Rival(
        "LightGBM rf, full depth",
        "lightgbm",
        ("random forest",),
        lightgbm_with(MOST_LEAVES),
        shares_of_lightgbm,
        "0.632 of the rows, each once; a tree for each class",
    ),
    Rival(
        f"XGBoost rf, depth {XGBOOST_DEPTH}",
        "xgboost",
        ("random forest",),
        fit_xgboost,
        shares_of_estimator,
        "0.632 of the rows, each once; a tree for each class",
    ),
)


def installed(names: list[str] | None = None) -> Iterator[Rival]:
    """The rivals that are here, those asked for; the others are named and skipped."""
    for rival in RIVALS:
        if names is not None and rival.package not in names:
            continue
        if find_spec(rival.package) is None:
            print(f"{rival.name}: {rival.package} is not installed, skipped")
            continue
        yield rival
