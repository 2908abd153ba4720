"""Boosting libraries at their defaults. In: a table with nominal columns. Out: predictions. Caller: boosting.

Each library gets nominal columns in the way its own manual advises: as categories where it knows them (LightGBM,
XGBoost, scikit-learn), as strings named in ``cat_features`` (CatBoost, ChimeraBoost), as strings (Treewright). No
other parameter is set but the number of threads, silence and a seed. A library that is not installed is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.append(str(Path(__file__).parents[1] / "versus"))
from boosting_rivals import as_pandas

OURS = "Treewright"


@dataclass(frozen=True)
class Table:
    """One data set.

    Attributes
    ----------
    name : str
    frame : polars.DataFrame
        Nominal columns are strings, the others numbers; missing cells are null.
    nominal : tuple of str
    y : float64[n] or int64[n]
        Numbers, or classes from 0 on.
    n_classes : int
        0 for numbers.
    """

    name: str
    frame: pl.DataFrame
    nominal: tuple[str, ...]
    y: np.ndarray
    n_classes: int


Answer = np.ndarray  # float64[m] or float64[m, n_classes]
FitPredict = Callable[[Any, np.ndarray, Any, Table, int, dict[str, Any]], Answer]


def answers_of(fitted: Any, table: Table, X: Any) -> Answer:
    """Class shares or numbers of an estimator with scikit-learn's methods."""
    answer = fitted.predict_proba(X) if table.n_classes else fitted.predict(X)
    return np.asarray(answer, np.float64)


def fit_ours(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, more: dict[str, Any]) -> Answer:
    """Treewright."""
    import treewright as tw

    kind = tw.GradientBoostingClassifier if table.n_classes else tw.GradientBoostingRegressor
    fitted = kind(nominal=list(table.nominal) or None, n_jobs=n_threads, random_state=0, **more).fit(X, y)
    return answers_of(fitted, table, X_new)


def fit_lightgbm(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]) -> Answer:
    """LightGBM."""
    import lightgbm

    kind = lightgbm.LGBMClassifier if table.n_classes else lightgbm.LGBMRegressor
    return answers_of(kind(n_jobs=n_threads, random_state=0, verbose=-1).fit(X, y), table, X_new)


def fit_xgboost(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]) -> Answer:
    """XGBoost; categories have to be allowed by name."""
    import xgboost

    kind = xgboost.XGBClassifier if table.n_classes else xgboost.XGBRegressor
    return answers_of(kind(n_jobs=n_threads, random_state=0, enable_categorical=True).fit(X, y), table, X_new)


def fit_catboost(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]) -> Answer:
    """CatBoost."""
    import catboost

    kind = catboost.CatBoostClassifier if table.n_classes else catboost.CatBoostRegressor
    nominal = [at for at, name in enumerate(table.frame.columns) if name in table.nominal]
    fitted = kind(thread_count=n_threads, random_seed=0, verbose=0, allow_writing_files=False, cat_features=nominal)
    return answers_of(fitted.fit(X, y), table, X_new)


def fit_chimeraboost(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]) -> Answer:
    """ChimeraBoost; nominal columns are named by position."""
    import chimeraboost

    kind = chimeraboost.ChimeraBoostClassifier if table.n_classes else chimeraboost.ChimeraBoostRegressor
    nominal = [at for at, name in enumerate(table.frame.columns) if name in table.nominal]
    fitted = kind(thread_count=n_threads, random_state=0, cat_features=nominal or None).fit(X, y)
    return answers_of(fitted, table, X_new)


def fit_scikit_learn(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]) -> Answer:
    """scikit-learn's histogram boosting; its threads are OpenMP's."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    kind = HistGradientBoostingClassifier if table.n_classes else HistGradientBoostingRegressor
    with threadpool_limits(n_threads):
        return answers_of(kind(random_state=0).fit(X, y), table, X_new)


@dataclass(frozen=True)
class Library:
    """One library at its defaults.

    Attributes
    ----------
    name, package : str
    prepare : function from a table to what the library takes
    rows : function from that and row numbers to some rows
    fit_predict : function
        From rows, targets, new rows, table, threads and further parameters to answers for the new rows.
    """

    name: str
    package: str
    prepare: Callable[[Table], Any]
    rows: Callable[[Any, np.ndarray], Any]
    fit_predict: FitPredict


def _categories(table: Table) -> Any:
    return as_pandas(table.frame, table.nominal, form="categories")


def _strings(table: Table) -> Any:
    return as_pandas(table.frame, table.nominal, form="strings")


def _of_pandas(frame: Any, rows: np.ndarray) -> Any:
    return frame.iloc[rows]


def _of_polars(frame: Any, rows: np.ndarray) -> Any:
    return frame[rows]


TREEWRIGHT = Library(OURS, "treewright", lambda table: table.frame, _of_polars, fit_ours)
RIVALS = (
    Library("scikit-learn", "sklearn", _categories, _of_pandas, fit_scikit_learn),
    Library("LightGBM", "lightgbm", _categories, _of_pandas, fit_lightgbm),
    Library("XGBoost", "xgboost", _categories, _of_pandas, fit_xgboost),
    Library("CatBoost", "catboost", _strings, _of_pandas, fit_catboost),
    Library("ChimeraBoost", "chimeraboost", _strings, _of_pandas, fit_chimeraboost),
)


def installed() -> list[Library]:
    """The rivals that are here; the others are named and skipped."""
    for rival in RIVALS:
        if find_spec(rival.package) is None:
            print(f"{rival.name}: not installed, skipped")
    return [rival for rival in RIVALS if find_spec(rival.package) is not None]
