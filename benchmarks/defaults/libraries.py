"""Boosting libraries at their defaults. In: a table with nominal columns. Out: predictions. Caller: boosting.

Each library gets nominal columns in the way its own manual advises: as categories where it knows them (LightGBM,
XGBoost, scikit-learn), as strings named in ``cat_features`` (CatBoost, ChimeraBoost), as strings (Treewright). No
other parameter is set but the number of threads, silence and a seed; "LightGBM tuned" has the values that pytabkit
found best on many sets instead. A library that is not installed is left out.
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


def fit_tuned_lightgbm(
    X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]
) -> Answer:
    """LightGBM with the defaults that pytabkit publishes, tuned on many sets: stopped by a fifth of the rows."""
    import lightgbm
    from sklearn.model_selection import train_test_split

    of_classes = {"learning_rate": 0.04, "num_leaves": 50, "min_child_samples": 40, "subsample": 0.75}
    of_numbers = {"learning_rate": 0.05, "num_leaves": 100, "min_child_samples": 3, "subsample": 0.7}
    kind, tuned = (lightgbm.LGBMClassifier, of_classes) if table.n_classes else (lightgbm.LGBMRegressor, of_numbers)
    fitted = kind(n_estimators=1000, subsample_freq=1, n_jobs=n_threads, random_state=0, verbose=-1, **tuned)
    can_be_alike = table.n_classes > 0 and np.bincount(y).min() > 1
    old, aside = train_test_split(
        np.arange(len(y)), test_size=0.2, random_state=0, stratify=y if can_be_alike else None
    )
    stop = lightgbm.early_stopping(50, verbose=False)
    fitted.fit(X.iloc[old], y[old], eval_set=[(X.iloc[aside], y[aside])], callbacks=[stop])
    return answers_of(fitted, table, X_new)


def fit_ydf(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]) -> Answer:
    """YDF's gradient boosted trees, which keep a tenth of the rows aside."""
    return ydf_answers("GradientBoostedTreesLearner", X, y, X_new, table, n_threads)


def ydf_answers(learner: str, X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, **more: Any) -> Answer:
    """What a learner of YDF answers; it takes the target as a column of the table."""
    import ydf

    ydf.verbose(0)
    task = ydf.Task.CLASSIFICATION if table.n_classes else ydf.Task.REGRESSION
    columns = [f"c{at}" for at, name in enumerate(table.frame.columns) if name in table.nominal]  # as pandas has them
    features = [(name, ydf.Semantic.CATEGORICAL) for name in columns]
    model = getattr(ydf, learner)(
        label="the target",
        task=task,
        features=features,
        include_all_columns=True,
        num_threads=n_threads,
        random_seed=0,
        **more,
    ).train(X.assign(**{"the target": y}))
    answer = np.asarray(model.predict(X_new), np.float64)
    if not table.n_classes:
        return answer
    if answer.ndim == 1:
        answer = np.column_stack([1 - answer, answer])
    shares = np.zeros((len(answer), table.n_classes))
    shares[:, [int(label) for label in model.label_classes()]] = answer
    return shares


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


# Forests, of 100 trees each: the others' own defaults are 300 (YDF) and none (LightGBM's rf has no drawn rows).
TREES = 100


def fit_our_forest(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, more: dict[str, Any]) -> Answer:
    """Treewright's random forest."""
    import treewright as tw

    kind = tw.RandomForestClassifier if table.n_classes else tw.RandomForestRegressor
    fitted = kind(TREES, nominal=list(table.nominal) or None, n_jobs=n_threads, random_state=0, **more).fit(X, y)
    return answers_of(fitted, table, X_new)


def fit_forest_on_codes(
    X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]
) -> Answer:
    """scikit-learn's forest on plain codes of levels: -1 for one that fit never saw, -2 for a missing cell."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.preprocessing import OrdinalEncoder

    columns = [name for name, kept in zip(X.columns, table.frame.columns, strict=True) if kept in table.nominal]
    X, X_new = X.copy(), X_new.copy()
    if columns:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
        X[columns], X_new[columns] = codes.fit_transform(X[columns]), codes.transform(X_new[columns])
    kind = RandomForestClassifier if table.n_classes else RandomForestRegressor
    fitted = kind(TREES, n_jobs=n_threads, random_state=0).fit(X.astype(float), y)
    return answers_of(fitted, table, X_new.astype(float))


def fit_lightgbm_forest(
    X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]
) -> Answer:
    """LightGBM's rf: two thirds of the rows and of the columns at each node, full depth as far as leaves of 20 rows."""
    import lightgbm

    kind = lightgbm.LGBMClassifier if table.n_classes else lightgbm.LGBMRegressor
    fitted = kind(
        boosting_type="rf", n_estimators=TREES, subsample=0.63, subsample_freq=1, feature_fraction_bynode=0.63,
        num_leaves=1 << 14, n_jobs=n_threads, random_state=0, verbose=-1,
    )  # fmt: skip
    return answers_of(fitted.fit(X, y), table, X_new)


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
    Library("LightGBM tuned", "lightgbm", _categories, _of_pandas, fit_tuned_lightgbm),
    Library("YDF", "ydf", _strings, _of_pandas, fit_ydf),
    Library("XGBoost", "xgboost", _categories, _of_pandas, fit_xgboost),
    Library("CatBoost", "catboost", _strings, _of_pandas, fit_catboost),
    Library("ChimeraBoost", "chimeraboost", _strings, _of_pandas, fit_chimeraboost),
)


def fit_ydf_forest(X: Any, y: np.ndarray, X_new: Any, table: Table, n_threads: int, _more: dict[str, Any]) -> Answer:
    """YDF's random forest."""
    return ydf_answers("RandomForestLearner", X, y, X_new, table, n_threads, num_trees=TREES)


OUR_FOREST = Library(OURS, "treewright", lambda table: table.frame, _of_polars, fit_our_forest)
FORESTS = (
    Library("scikit-learn", "sklearn", _strings, _of_pandas, fit_forest_on_codes),
    Library("LightGBM rf", "lightgbm", _categories, _of_pandas, fit_lightgbm_forest),
    Library("YDF", "ydf", _strings, _of_pandas, fit_ydf_forest),
)


def installed(rivals: tuple[Library, ...] = RIVALS) -> list[Library]:
    """The rivals that are here; the others are named and skipped."""
    for rival in rivals:
        if find_spec(rival.package) is None:
            print(f"{rival.name}: not installed, skipped")
    return [rival for rival in rivals if find_spec(rival.package) is not None]
