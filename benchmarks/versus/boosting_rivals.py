"""Other libraries' boosting under one roof. In: a plan, a table. Out: what was fitted, class shares. Caller: boosting.

Like is put beside like: 31 leaves, the best split first, against LightGBM, XGBoost (``lossguide``) and scikit-learn;
depth 6, level by level, against XGBoost (``depthwise``); depth 6, one test a level, against CatBoost (``Plain``). All
have as many trees, the same learning rate, at most 255 bins and the same threads; what else there is stays at each
library's default. The time of a fit includes binning. A library that is not installed is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

import treewright as tw

LEAVES = 31
DEPTH = 6
BINS = 255
MISSING = "(missing)"
GROWTHS: dict[str, dict[str, Any]] = {
    "leaf": {"max_leaf_nodes": LEAVES},
    "level": {"growth": "level", "max_depth": DEPTH, "max_leaf_nodes": None},
    "symmetric": {"growth": "symmetric", "max_depth": DEPTH, "max_leaf_nodes": None},
}

Shares = Callable[[Any], np.ndarray]


@dataclass(frozen=True)
class Plan:
    """What is to be boosted.

    Attributes
    ----------
    n_trees, n_threads : int >= 1
    rate : float
        Learning rate.
    """

    n_trees: int
    n_threads: int
    rate: float = 0.1


@dataclass(frozen=True)
class Rival:
    """One library's boosting in one order of growth.

    Attributes
    ----------
    name, package : str
    growth : {"leaf", "level", "symmetric"}
        The order of ours that is like it.
    fit : function from plan, table, int64[n] to what was fitted
    shares : function from what was fitted and a number of threads to a function of rows
    form : {"categories", "strings"}
        How it takes a table with nominal columns: as pandas categories, or as strings without missing ones.
    note : str
        What differs from the plan.
    """

    name: str
    package: str
    growth: str
    fit: Callable[[Plan, Any, np.ndarray], Any]
    shares: Callable[[Any, int], Shares]
    form: str = "categories"
    note: str = ""


def as_pandas(frame: pl.DataFrame, nominal: list[str] | tuple[str, ...], *, form: str) -> Any:
    """A table for libraries that take pandas: nominal columns as categories, or as strings without missing ones."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for at, name in enumerate(frame.columns):
        cells = frame[name]
        if name not in nominal:
            columns[f"c{at}"] = cells.cast(pl.Float64).to_numpy()
        elif form == "strings":
            columns[f"c{at}"] = cells.fill_null(MISSING).to_list()
        else:
            columns[f"c{at}"] = pd.Categorical(cells.to_list())
    return pd.DataFrame(columns)  # plain names: some libraries refuse signs in them


def text_columns(X: Any) -> list[int]:
    """Positions of a table's columns of strings; none of an array."""
    if isinstance(X, np.ndarray):
        return []
    return [at for at, kind in enumerate(X.dtypes) if not np.issubdtype(np.asarray(X.iloc[:0, at]).dtype, np.number)]


def fit_ours(growth: str) -> Callable[[Plan, Any, np.ndarray], Any]:
    """A fit of ours in some order of growth."""

    def fit(plan: Plan, X: Any, y: np.ndarray) -> Any:
        return tw.GradientBoostingClassifier(
            n_estimators=plan.n_trees,
            learning_rate=plan.rate,
            max_bins=BINS,
            l2=1.0,  # XGBoost's default; LightGBM and scikit-learn have 0, CatBoost 3
            features_per_node=1.0,
            n_jobs=plan.n_threads,
            random_state=0,
            **GROWTHS[growth],
        ).fit(X, y)

    return fit


def shares_of_ours(fitted: Any, n_threads: int) -> Shares:
    """With so many threads."""
    return fitted.set_params(n_jobs=n_threads).predict_proba


def lightgbm_with(*, quantised: bool) -> Callable[[Plan, Any, np.ndarray], Any]:
    """A fit of LightGBM, with gradients of few bits or with full ones."""

    def fit(plan: Plan, X: Any, y: np.ndarray) -> Any:
        import lightgbm

        return lightgbm.LGBMClassifier(
            n_estimators=plan.n_trees,
            learning_rate=plan.rate,
            num_leaves=LEAVES,
            max_bin=BINS,
            n_jobs=plan.n_threads,
            random_state=0,
            verbose=-1,
            **({"use_quantized_grad": True} if quantised else {}),
        ).fit(X, y)

    return fit


def shares_of_lightgbm(fitted: Any, n_threads: int) -> Shares:
    """Without the estimator's warning about names of columns."""
    booster = fitted.booster_

    def shares(X: Any) -> np.ndarray:
        said = booster.predict(X, num_threads=n_threads)
        return np.stack([1.0 - said, said], axis=1) if said.ndim == 1 else said

    return shares


def xgboost_with(**growth: Any) -> Callable[[Plan, Any, np.ndarray], Any]:
    """A fit of XGBoost."""

    def fit(plan: Plan, X: Any, y: np.ndarray) -> Any:
        import xgboost

        return xgboost.XGBClassifier(
            n_estimators=plan.n_trees,
            learning_rate=plan.rate,
            tree_method="hist",
            max_bin=BINS,
            enable_categorical=True,
            n_jobs=plan.n_threads,
            random_state=0,
            **growth,
        ).fit(X, y)

    return fit


def shares_of_xgboost(fitted: Any, n_threads: int) -> Shares:
    """In place, without a matrix of its own."""
    return fitted.set_params(n_jobs=n_threads).predict_proba


def fit_catboost(plan: Plan, X: Any, y: np.ndarray) -> Any:
    """CatBoost, with trees that ask one test a level."""
    import catboost

    return catboost.CatBoostClassifier(
        iterations=plan.n_trees,
        learning_rate=plan.rate,
        grow_policy="SymmetricTree",
        boosting_type="Plain",
        depth=DEPTH,
        border_count=BINS - 1,
        thread_count=plan.n_threads,
        cat_features=text_columns(X) or None,
        random_seed=0,
        verbose=0,
        allow_writing_files=False,
    ).fit(X, y)


def shares_of_catboost(fitted: Any, n_threads: int) -> Shares:
    """With so many threads."""
    return lambda X: fitted.predict_proba(X, thread_count=n_threads)


def fit_scikit_learn(plan: Plan, X: Any, y: np.ndarray) -> Any:
    """scikit-learn's histogram boosting; its threads are OpenMP's."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    with threadpool_limits(plan.n_threads):
        return HistGradientBoostingClassifier(
            max_iter=plan.n_trees,
            learning_rate=plan.rate,
            max_leaf_nodes=LEAVES,
            max_bins=BINS,
            early_stopping=False,
            random_state=0,
        ).fit(X, y)


def shares_of_scikit_learn(fitted: Any, n_threads: int) -> Shares:
    """With so many threads."""

    def shares(X: Any) -> np.ndarray:
        with threadpool_limits(n_threads):
            return fitted.predict_proba(X)

    return shares


OURS = {
    growth: Rival(f"Treewright {growth}", "treewright", growth, fit_ours(growth), shares_of_ours) for growth in GROWTHS
}
RIVALS = (
    Rival("LightGBM", "lightgbm", "leaf", lightgbm_with(quantised=False), shares_of_lightgbm),
    Rival(
        "LightGBM quantised",
        "lightgbm",
        "leaf",
        lightgbm_with(quantised=True),
        shares_of_lightgbm,
        note="gradients of two bits",
    ),
    Rival(
        "XGBoost leaf-wise",
        "xgboost",
        "leaf",
        xgboost_with(grow_policy="lossguide", max_leaves=LEAVES, max_depth=0),
        shares_of_xgboost,
    ),
    Rival("scikit-learn", "sklearn", "leaf", fit_scikit_learn, shares_of_scikit_learn),
    Rival("XGBoost depth-wise", "xgboost", "level", xgboost_with(max_depth=DEPTH), shares_of_xgboost),
    Rival("CatBoost", "catboost", "symmetric", fit_catboost, shares_of_catboost, "strings"),
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
