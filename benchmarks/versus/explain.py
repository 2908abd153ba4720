"""Contributions: Treewright against LightGBM, XGBoost, CatBoost, shap and Woodelf. In: made tables. Out: a table, JSON.

Callers: people, tests. Each library explains a model of as many trees of the same depth, its own where it grows some;
shap and Woodelf explain XGBoost's, as their users do. The note says how many leaves each model has: one with fewer is
explained sooner. A library that is not installed is left out. Kernels are compiled before the clock runs.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from forest_scaling import Axis, described, picture
from pairs import Pair, machine, table_of, time_pairs, write_json

import treewright as tw

TREES, COLUMNS, DEPTH = 100, 20, 6
Run = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Sizes:
    """How large tables are."""

    rows: int = 10_000
    pair_rows: int = 1_000
    background: int = 1_000
    forest_rows: int = 20_000
    trees: int = TREES
    n_pairs: int | None = 3


QUICK = Sizes(200, 50, 20, 300, 5, 1)


def made(n: int, n_columns: int = COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with an additive part, a product and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_columns))
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:8].sum(axis=1) / 3 + rng.normal(scale=0.3, size=n)


@dataclass(frozen=True)
class Explainer:
    """A fitted model and what explains rows of it.

    Attributes
    ----------
    name : str
    n_leaves : int
    by_paths, by_rows, pairs : function from rows, or None where the library has none
    """

    name: str
    n_leaves: int
    by_paths: Run | None = None
    by_rows: Run | None = None
    pairs: Run | None = None


def leaves_of(model: Any) -> int:
    """Of a model of ours."""
    return int(model.trees.is_leaf.sum())


def of_ours(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int, more: dict[str, Any]) -> Explainer:
    """Treewright."""
    est = tw.GradientBoostingRegressor(sizes.trees, learning_rate=0.1, n_jobs=n_threads, min_samples_leaf=1, **more)
    est.fit(X, y)
    background = X[: sizes.background]
    return Explainer(
        "Treewright",
        leaves_of(est.model_),
        est.explain,
        lambda rows: est.explain(rows, kind="interventional", background=background),
        lambda rows: est.explain(rows, order=2),
    )


def of_lightgbm(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int, more: dict[str, Any]) -> Explainer:
    """LightGBM's own ``pred_contrib``."""
    import lightgbm

    fitted = lightgbm.LGBMRegressor(
        n_estimators=sizes.trees, n_jobs=n_threads, verbose=-1, min_child_samples=1, random_state=0, **more
    ).fit(X, y)
    table = fitted.booster_.trees_to_dataframe()
    return Explainer("LightGBM", int(table["left_child"].isna().sum()), lambda X: fitted.predict(X, pred_contrib=True))


def of_xgboost(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int, more: dict[str, Any]) -> Iterator[Explainer]:
    """XGBoost's own, and what shap and Woodelf make of its trees."""
    import xgboost

    fitted = xgboost.XGBRegressor(n_estimators=sizes.trees, learning_rate=0.1, n_jobs=n_threads, **more).fit(X, y)
    booster, table = fitted.get_booster(), fitted.get_booster().trees_to_dataframe()
    n_leaves = int((table["Feature"] == "Leaf").sum())
    yield Explainer(
        "XGBoost",
        n_leaves,
        lambda X: booster.predict(xgboost.DMatrix(X, nthread=n_threads), pred_contribs=True),
        pairs=lambda X: booster.predict(xgboost.DMatrix(X, nthread=n_threads), pred_interactions=True),
    )
    background = X[: sizes.background]
    if find_spec("shap"):
        import shap

        paths, rows = shap.TreeExplainer(fitted), shap.TreeExplainer(fitted, background)
        yield Explainer(
            "shap (XGBoost's trees)",
            n_leaves,
            lambda X: paths.shap_values(X, check_additivity=False),
            lambda X: rows.shap_values(X, check_additivity=False),
            paths.shap_interaction_values,
        )
    if find_spec("woodelf"):
        import pandas as pd
        from woodelf import WoodelfExplainer

        names = [f"f{at}" for at in range(X.shape[1])]
        own, other = WoodelfExplainer(fitted), WoodelfExplainer(fitted, pd.DataFrame(background, columns=names))
        yield Explainer(
            "Woodelf (XGBoost's trees)",
            n_leaves,
            lambda X: own.shap_values(pd.DataFrame(X, columns=names)),
            lambda X: other.shap_values(pd.DataFrame(X, columns=names)),
            lambda X: own.shap_interaction_values(pd.DataFrame(X, columns=names)),
        )


def of_catboost(X: np.ndarray, y: np.ndarray, sizes: Sizes, n_threads: int) -> Explainer:
    """CatBoost's ShapValues; its trees are symmetric."""
    import catboost

    fitted = catboost.CatBoostRegressor(
        iterations=sizes.trees, depth=6, verbose=0, thread_count=n_threads, allow_writing_files=False, random_seed=0
    ).fit(X, y)

    def values(rows: np.ndarray) -> Any:
        return fitted.get_feature_importance(catboost.Pool(rows), type="ShapValues", thread_count=n_threads)

    return Explainer("CatBoost", sizes.trees * 64, values)


def boosted(sizes: Sizes, n_threads: int) -> Iterator[Pair]:
    """Depth 6 and 31 leaves: by paths, by background rows, pairs, and one row."""
    X, y = made(sizes.rows)
    level = {"growth": "level", "max_depth": 6, "max_leaf_nodes": None}
    ours = of_ours(X, y, sizes, n_threads, level)
    rivals = []
    if find_spec("lightgbm"):
        rivals.append(of_lightgbm(X, y, sizes, n_threads, {"num_leaves": 64, "max_depth": 6}))
    if find_spec("xgboost"):
        rivals += of_xgboost(X, y, sizes, n_threads, {"max_depth": 6})
    if find_spec("catboost"):
        rivals.append(of_catboost(X, y, sizes, n_threads))
    for rival in rivals:
        what = f"{sizes.trees} trees of depth 6: {rival.name}"
        leaves = f"{ours.n_leaves} and {rival.n_leaves} leaves"
        for job, own, other, rows in (
            (f"{sizes.rows:,} rows, {what}", ours.by_paths, rival.by_paths, X),
            (f"{sizes.rows:,} rows x {sizes.background:,} background, {what}", ours.by_rows, rival.by_rows, X),
            (f"pairs, {sizes.pair_rows:,} rows, {what}", ours.pairs, rival.pairs, X[: sizes.pair_rows]),
            (f"1 row, {what}", ours.by_paths, rival.by_paths, X[:1]),
        ):
            if own is not None and other is not None:
                yield timed(job, own, other, rows, sizes, leaves)
    ours = of_ours(X, y, sizes, n_threads, {"max_leaf_nodes": 31})
    if find_spec("lightgbm"):
        rival = of_lightgbm(X, y, sizes, n_threads, {"num_leaves": 31})
        job = f"{sizes.rows:,} rows, {sizes.trees} trees of 31 leaves: LightGBM"
        yield timed(job, ours.by_paths, rival.by_paths, X, sizes, f"{ours.n_leaves} and {rival.n_leaves} leaves")


def forests(sizes: Sizes, n_threads: int) -> Iterator[Pair]:
    """A forest of full depth: ours, and scikit-learn's by shap."""
    if not find_spec("shap"):
        return
    import shap
    from sklearn.ensemble import RandomForestRegressor

    X, y = made(sizes.forest_rows)
    few = X[: max(2, sizes.pair_rows // 50)]
    ours = tw.RandomForestRegressor(sizes.trees, n_jobs=n_threads).fit(X, y)
    theirs = RandomForestRegressor(sizes.trees, n_jobs=n_threads, random_state=0).fit(X, y)
    explainer = shap.TreeExplainer(theirs)
    n_theirs = sum(tree.get_n_leaves() for tree in theirs.estimators_)
    yield timed(
        f"{len(few)} rows, {sizes.trees} full trees on {sizes.forest_rows:,} rows: shap (scikit-learn's trees)",
        ours.explain, lambda rows: explainer.shap_values(rows, check_additivity=False), few, sizes,
        f"{leaves_of(ours.model_)} and {n_theirs} leaves",
    )  # fmt: skip


def timed(job: str, ours: Any, theirs: Any, rows: np.ndarray, sizes: Sizes, note: str) -> Pair:
    """Both on the same rows."""
    pair = time_pairs(job, lambda: ours(rows), lambda: theirs(rows), n_pairs=sizes.n_pairs)
    return replace(pair, note=note)


def axes(sizes: Sizes) -> tuple[Axis, ...]:
    """Rows, depth, trees and columns, one growing while the others are held."""
    trees, rows = sizes.trees, sizes.rows
    return (
        Axis("rows", tuple(sorted({1, 100, rows // 10, rows})), {"trees": trees}),
        Axis("depth", (3, 6, 9, 12), {"rows": rows, "trees": trees}),
        Axis("trees", (trees // 4, trees // 2, trees, 2 * trees), {"rows": rows}),
        Axis("columns", (10, 20, 40, 80), {"rows": rows, "trees": trees}),
    )


def scaling(sizes: Sizes, n_threads: int) -> Iterator[Pair]:
    """Ours alone, over rows, depth, trees and columns."""
    for axis in axes(sizes):
        for size in axis.sizes:
            n_columns = size if axis.name == "columns" else COLUMNS
            X, y = made(sizes.rows, n_columns)
            own = replace(sizes, trees=size if axis.name == "trees" else sizes.trees)
            depth = size if axis.name == "depth" else DEPTH
            one = of_ours(
                X, y, own, n_threads, {"growth": "level", "max_depth": depth, "max_leaf_nodes": None}
            ).by_paths
            rows = X[:size] if axis.name == "rows" else X
            pair = timed(f"{size:,} {axis.name}", one, one, rows, sizes, described(axis))
            yield replace(pair, theirs=pair.ours, ratio=None)


def scaling_picture(sizes: Sizes, results: list[Pair], n_threads: int) -> Any:
    """A panel for each thing that grows."""
    seconds = {(pair.note, pair.job): pair.ours for pair in results}
    measured = [
        (axis, [seconds[described(axis), f"{size:,} {axis.name}"] for size in axis.sizes]) for axis in axes(sizes)
    ]
    return picture(measured, n_threads)


JOBS = {"boosted": boosted, "forests": forests, "scaling": scaling}


def main() -> None:
    """Run the jobs asked for."""
    parser = argparse.ArgumentParser(
        description="Contributions: Treewright, LightGBM, XGBoost, CatBoost, shap, Woodelf."
    )
    parser.add_argument("--quick", action="store_true", help="small tables, few trees, one pair: does everything run?")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which; all of them by default")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads of every library that has some")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the scaling there: .svg or .png")
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else Sizes()
    warnings.simplefilter("ignore")
    small = replace(sizes, trees=2)
    X, y = made(1_000)
    for run in (of_ours(X, y, small, arguments.threads, {"max_depth": 6}),):  # compiles
        for rows in (X, X[:1]):
            run.by_paths(rows), run.by_rows(rows), run.pairs(rows)
    results = []
    for name in arguments.jobs:
        for pair in JOBS[name](sizes, arguments.threads):
            print(table_of([pair], "the other").splitlines()[-1], flush=True)
            results.append(pair)
    packages = [each for each in ("lightgbm", "xgboost", "catboost", "shap") if find_spec(each)]
    versions = {package: import_module(package).__version__ for package in packages}
    print(f"\n{machine()}\n{versions}; ratio is theirs / ours\n")
    print(table_of(results, "the other"))
    write_json(arguments.out, results, threads=arguments.threads, rivals=versions)
    if arguments.picture is not None and "scaling" in arguments.jobs:
        scaling_picture(sizes, results, arguments.threads).savefig(arguments.picture)


if __name__ == "__main__":
    main()
