"""A fit of every estimator and main option on a small table. ``python fits.py`` prints a digest of each as JSON.

With words, only of the fits whose names begin with one of them. ``--sixth K`` leaves each sixth fit, from the K-th on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.sparse import csr_matrix

import treewright as tw
from treewright.boosting.distributed import Part, boost_distributed
from treewright.boosting.linear import FOLDS, linear_scores
from treewright.boosting.losses import TwoClasses
from treewright.boosting.rounds import BoostSettings, BoostTable
from treewright.data import sparse as stored
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import Cells, bins_of
from treewright.data.dataset import Here
from treewright.data.encoder import encode_fit
from treewright.explain import contributions
from treewright.grow.gradient import grower, rows
from treewright.grow.settings import GradientSettings
from treewright.model_selection import pruning_path
from treewright.neighbors import kd_tree

N = 40


def numbers(seed: int = 0, missing: bool = False) -> np.ndarray:
    """float64[40, 3]: two columns with ties, one without; in the second some cells are missing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 12, N), rng.integers(-3, 4, N) / 4, rng.normal(size=N)]).astype(np.float64)
    if missing:
        X[rng.random(N) < 0.2, 1] = np.nan
    return X


def mixed(seed: int = 1) -> dict[str, list[Any]]:
    """A column of numbers, one of names, one of ranks, each with missing cells."""
    rng = np.random.default_rng(seed)
    table = {
        "size": rng.integers(0, 9, N).astype(float).tolist(),
        "kind": rng.choice(["a", "b", "c", "d", "e"], N).tolist(),
        "rank": rng.choice(["low", "mid", "high"], N).tolist(),
    }
    for name, at in (("size", 3), ("kind", 7), ("rank", 11)):
        table[name][at] = None
    return table


def whole(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same without missing cells."""
    fill = {"size": 1.0, "kind": "a", "rank": "low"}
    return {name: [fill[name] if cell is None else cell for cell in cells] for name, cells in table.items()}


X, XM, T = numbers(), numbers(missing=True), mixed()
TW = whole(T)
_rng = np.random.default_rng(5)
SCORE = X[:, 0] / 4 + 2 * X[:, 2] + _rng.normal(size=N)
TWO = np.where(np.median(SCORE) < SCORE, "yes", "no")
THREE = np.array(["red", "green", "blue"])[np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.7]))]
LEVELS = np.array(["x", "y", "z"])[
    (np.array([ord(kind) for kind in TW["kind"]]) + _rng.integers(0, 2, N) + np.arange(N) // 20) % 3
]
COUNTS = np.floor(np.exp(np.clip(SCORE / 3, -2, 2)))
PAIR = np.column_stack([SCORE, SCORE**2 - X[:, 1]])
PAIR_OF_CLASSES = np.column_stack([THREE, TWO])
WEIGHTS = _rng.integers(1, 4, N).astype(float)
SHARES = _rng.random(N) + 0.1
RANKED = {"ordinal": {"rank": ["low", "mid", "high"]}}
FEW = {"n_estimators": 3, "random_state": 0}


def trees() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Single trees of every algorithm."""
    classifier, regressor = tw.DecisionTreeClassifier, tw.DecisionTreeRegressor
    for splitter in ("best", "hist"):
        for criterion in ("gini", "entropy", "misclassification"):
            yield (
                f"{splitter} {criterion} 2",
                lambda s=splitter, c=criterion: classifier(splitter=s, criterion=c).fit(XM, TWO),
            )
            yield (
                f"{splitter} {criterion} 3 weights",
                lambda s=splitter, c=criterion: classifier(splitter=s, criterion=c).fit(
                    XM, THREE, sample_weight=SHARES
                ),
            )
            yield (
                f"{splitter} {criterion} levels",
                lambda s=splitter, c=criterion: classifier(splitter=s, criterion=c, **RANKED).fit(T, LEVELS),
            )
        for criterion in ("squared_error", "poisson", "absolute_error"):
            yield (
                f"{splitter} {criterion}",
                lambda s=splitter, c=criterion: regressor(splitter=s, criterion=c).fit(
                    XM, COUNTS, sample_weight=WEIGHTS
                ),
            )
            yield (
                f"{splitter} {criterion} levels",
                lambda s=splitter, c=criterion: regressor(splitter=s, criterion=c, **RANKED).fit(T, COUNTS),
            )
        yield f"{splitter} outputs", lambda s=splitter: regressor(splitter=s).fit(X, PAIR)
        yield f"{splitter} runs", lambda s=splitter: classifier(splitter=s, nominal_splits="runs").fit(T, LEVELS)
        yield f"{splitter} outputs of classes", lambda s=splitter: classifier(splitter=s).fit(X, PAIR_OF_CLASSES)
        yield (
            f"{splitter} limits",
            lambda s=splitter: classifier(
                splitter=s,
                max_leaf_nodes=5,
                min_samples_leaf=3,
                min_weight_fraction_leaf=0.05,
                max_features=2,
                random_state=1,
            ).fit(XM, THREE, sample_weight=WEIGHTS),
        )
        yield f"{splitter} monotone", lambda s=splitter: regressor(splitter=s, monotonic_cst=[1, 0, -1]).fit(XM, SCORE)
        yield (
            f"{splitter} monotone classes",
            lambda s=splitter: classifier(splitter=s, monotonic_cst=[1, 0, 0], criterion="entropy").fit(XM, TWO),
        )
    yield "hist interactions", lambda: classifier(splitter="hist", interaction_cst=[[0, 1], [2]]).fit(XM, THREE)
    yield "monotone medians", lambda: regressor(criterion="absolute_error", monotonic_cst=[1, 0, 0]).fit(X, SCORE)
    for missing in ("fractional", "surrogate", "branch"):
        yield f"by node {missing}", lambda m=missing: classifier(missing=m, **RANKED).fit(T, LEVELS)
        yield f"by node {missing} numbers", lambda m=missing: regressor(missing=m, **RANKED).fit(T, COUNTS)
    yield "by node medians", lambda: regressor(criterion="absolute_error", nominal_splits="one_vs_rest").fit(T, COUNTS)
    yield "by node poisson", lambda: regressor(criterion="poisson", nominal_splits="multiway").fit(TW, COUNTS)
    yield "by node ratio", lambda: classifier(criterion="gain_ratio", max_p_value=0.5).fit(T, LEVELS)
    yield (
        "by node misclassification",
        lambda: classifier(criterion="misclassification", nominal_splits="multiway", missing="branch").fit(T, LEVELS),
    )
    many = {"kind": [chr(ord("a") + at % 13) for at in range(N)], "size": X[:, 0]}
    yield "by node many levels", lambda: classifier(criterion="gain_ratio", nominal=["kind"]).fit(many, LEVELS)
    yield "by node own", lambda: classifier(criterion=own_impurity, max_depth=3).fit(TW, LEVELS)
    yield "id3", lambda: tw.ID3Classifier(nominal="all").fit({k: TW[k] for k in ("kind", "rank")}, LEVELS)
    yield "c45", lambda: tw.C45Classifier(**RANKED).fit(T, LEVELS)
    yield "c45 grouped", lambda: tw.C45Classifier(nominal_splits="grouped", **RANKED).fit(T, LEVELS)
    for test in ("pearson", "likelihood_ratio"):
        yield (
            f"chaid {test}",
            lambda t=test: tw.CHAIDClassifier(
                test=t, alpha=0.5, alpha_merge=0.5, min_samples_split=4, min_samples_leaf=2, **RANKED
            ).fit(T, LEVELS),
        )
    yield (
        "chaid exhaustive",
        lambda: tw.CHAIDClassifier(exhaustive=True, alpha=0.9, min_samples_split=4, min_samples_leaf=2, **RANKED).fit(
            T, LEVELS
        ),
    )
    yield (
        "chaid numbers",
        lambda: tw.CHAIDRegressor(alpha=0.5, alpha_merge=0.3, min_samples_split=4, min_samples_leaf=2, **RANKED).fit(
            T, SCORE
        ),
    )
    yield from optimal_trees()


def optimal_trees() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Searches that end early; the labels follow no column, so that no tree is pure."""
    odd = np.random.default_rng(7).permutation(np.arange(N) % 2)
    few: dict[str, Any] = {"max_search": 8}
    bits = {"a": X[:, 0] % 2, "b": (X[:, 2] > 0).astype(float), "c": [kind > "b" for kind in TW["kind"]]}
    for name, criterion, table, target, weights in (
        ("sweeps", "misclassification", XM, odd, None),
        ("weights", "misclassification", T, odd, SHARES),
        ("bits", "misclassification", bits, odd, None),
        ("three", "misclassification", T, LEVELS, None),
        ("gini", "gini", T, odd, WEIGHTS),
        ("entropy", "entropy", T, LEVELS, None),
        ("entropy weights", "entropy", T, LEVELS, SHARES),
    ):
        yield (
            f"optimal {name}",
            lambda c=criterion, x=table, y=target, w=weights: tw.OptimalTreeClassifier(criterion=c, **few).fit(
                x, y, sample_weight=w
            ),
        )
    yield "optimal smallest", lambda: tw.OptimalTreeClassifier(objective="smallest", max_search=40).fit(T, odd)
    ahead = {"optimal_depth": 1, "max_depth": 3, **few}
    for name, table, target, weights in (("two", T, odd, SHARES), ("three", T, LEVELS, None), ("cells", XM, odd, None)):
        yield (
            f"optimal above greedy {name}",
            lambda x=table, y=target, w=weights: tw.OptimalTreeClassifier(**ahead).fit(x, y, sample_weight=w),
        )
    yield "optimal above greedy numbers", lambda: tw.OptimalTreeRegressor(**ahead).fit(T, SCORE)
    yield "optimal numbers", lambda: tw.OptimalTreeRegressor(**few).fit(T, SCORE)
    shallow = tw.OptimalTreeClassifier(max_depth=2, criterion="gini")
    yield "optimal near", lambda: shallow.fit(T, LEVELS, SHARES).near_optimal(tolerance=0.02).to_json()
    yield "optimal counts", lambda: tw.OptimalTreeRegressor(criterion="poisson", **few).fit(T, COUNTS)


def own_impurity(counts: np.ndarray) -> np.ndarray:
    """A criterion of the user's."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return 1.0 - (shares**3).sum(axis=1)


def ensembles() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Forests, boosting, bags."""
    for name, of_classes, of_numbers in (
        ("forest", tw.RandomForestClassifier, tw.RandomForestRegressor),
        ("extra", tw.ExtraTreesClassifier, tw.ExtraTreesRegressor),
    ):
        yield f"{name} 2", lambda e=of_classes: e(**FEW).fit(XM, TWO)
        yield (
            f"{name} 3",
            lambda e=of_classes: e(criterion="entropy", bootstrap=True, oob_score=True, **FEW).fit(XM, THREE),
        )
        yield f"{name} levels", lambda e=of_classes: e(**FEW, **RANKED).fit(T, LEVELS)
        yield f"{name} numbers", lambda e=of_numbers: e(min_samples_leaf=2, **FEW).fit(XM, SCORE, sample_weight=SHARES)
        yield f"{name} poisson", lambda e=of_numbers: e(criterion="poisson", bootstrap=True, **FEW).fit(XM, COUNTS)
        yield f"{name} outputs", lambda e=of_numbers: e(max_leaf_nodes=6, **FEW).fit(X, PAIR)
    yield "extra medians", lambda: tw.ExtraTreesRegressor(criterion="absolute_error", **FEW).fit(XM, SCORE)
    yield "forest medians", lambda: tw.RandomForestRegressor(criterion="absolute_error", **FEW).fit(XM, SCORE)
    yield "forest quantiles", lambda: tw.RandomForestRegressor(quantiles=True, **FEW).fit(XM, SCORE)
    yield "isolation", lambda: tw.IsolationForest(**FEW).fit(X)
    yield "isolation levels", lambda: tw.IsolationForest(**FEW).fit(TW)
    boosted = {"n_estimators": 3, "min_samples_leaf": 2, "random_state": 0}
    for growth in ("leaf", "level", "symmetric"):
        limits = {"growth": growth, "max_depth": 3}
        yield f"boosting {growth} 2", lambda o=limits: tw.GradientBoostingClassifier(**boosted, **o).fit(XM, TWO)
        yield (
            f"boosting {growth} 3",
            lambda o=limits: tw.GradientBoostingClassifier(**boosted, **o).fit(XM, THREE, sample_weight=SHARES),
        )
        yield (
            f"boosting {growth} levels",
            lambda o=limits: tw.GradientBoostingClassifier(**boosted, **o, **RANKED).fit(T, LEVELS),
        )
        yield (
            f"boosting {growth} ordered levels",
            lambda o=limits: tw.GradientBoostingClassifier(**boosted, **o, level_encoding="ordered").fit(T, TWO),
        )
        yield (
            f"boosting {growth} monotone",
            lambda o=limits: tw.GradientBoostingRegressor(**boosted, **o, monotonic_cst=[1, 0, -1], l1=0.1, l2=1.0).fit(
                XM, SCORE
            ),
        )
    for loss in ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie", "expectile"):
        yield (
            f"boosting {loss}",
            lambda loss=loss: tw.GradientBoostingRegressor(loss=loss, **boosted).fit(
                XM, COUNTS + 1, sample_weight=WEIGHTS
            ),
        )
    yield (
        "boosting sampled",
        lambda: tw.GradientBoostingRegressor(
            subsample=0.7, features_per_tree=0.7, features_per_level=0.7, features_per_node=0.7, **boosted
        ).fit(XM, SCORE),
    )
    yield "boosting linear scores", linear_cells
    members = {"n_members": 2, "early_stopping": True, "validation_fraction": 0.5}
    yield "boosting members", lambda: tw.GradientBoostingClassifier(**boosted, **members).fit(XM, THREE)
    # Numbers that float32 cannot hold once they are scaled.
    yield "boosting tiny", lambda: tw.GradientBoostingRegressor(**boosted).fit(X, SCORE * 1e-30)
    yield "boosting float32", lambda: tw.GradientBoostingClassifier(**boosted).fit(X.astype(np.float32), THREE)
    yield "boosting goss", lambda: tw.GradientBoostingClassifier(sampling="gradient", **boosted).fit(XM, TWO)
    varied = {"sampling": "minimal_variance", "learning_rate": 0.9, **boosted}
    yield (
        "boosting mvs",
        lambda: tw.GradientBoostingClassifier(**varied).fit(XM, TWO, sample_weight=np.arange(N) % 3 + 1),
    )
    yield (
        "boosting interactions",
        lambda: tw.GradientBoostingRegressor(interaction_cst=[[0, 1], [2]], **boosted).fit(XM, SCORE),
    )
    yield "adaboost", lambda: tw.AdaBoostClassifier(**FEW).fit(X, THREE)
    yield "adaboost numbers", lambda: tw.AdaBoostRegressor(**FEW).fit(X, SCORE)
    yield "bagging", lambda: tw.BaggingClassifier(oob_score=True, **FEW).fit(X, THREE)
    yield "bagging numbers", lambda: tw.BaggingRegressor(max_features=0.7, **FEW).fit(X, SCORE)


def neighbours() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Nearest neighbours by every way to find them."""
    for algorithm in ("brute", "kd_tree", "auto"):
        yield f"neighbours {algorithm}", lambda a=algorithm: tw.KNeighborsClassifier(4, algorithm=a).fit(X, THREE)
    for metric in ("manhattan", "chebyshev", "minkowski", "cosine", "canberra"):
        yield (
            f"neighbours {metric}",
            lambda m=metric: tw.KNeighborsRegressor(
                3, metric=m, weights="distance", **({"p": 3} if m == "minkowski" else {})
            ).fit(X + 4.0, SCORE),
        )
    yield "neighbours gower", lambda: tw.KNeighborsClassifier(3, metric="gower", **RANKED).fit(T, LEVELS)


def pruned() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Trees cut back."""
    grown = tw.DecisionTreeClassifier().fit(X, THREE)
    fell = tw.DecisionTreeRegressor().fit(X, SCORE)
    yield "pruned ccp", lambda: tw.DecisionTreeClassifier(ccp_alpha=0.02).fit(XM, THREE)
    for method, options in (
        ("error_based", {}), ("pessimistic", {}), ("minimum_error", {}), ("leaves", {"max_leaves": 3}),
        ("reduced_error", {}), ("critical_value", {"threshold": 0.1}), ("depth", {"max_depth": 2}),
        ("description_length", {}), ("chi_squared", {}), ("p_value", {}),
    ):  # fmt: skip
        for kind, model, y in (("classes", grown, THREE), ("numbers", fell, SCORE)):
            yield f"pruned {method} {kind}", lambda m=model, y=y, method=method, o=options: cut(m, method, y, o)


def summed_in_cells(numbers: np.ndarray, weights: np.ndarray) -> Any:
    """What the cells of a column of many values hold."""
    cells = Cells()
    cells.add(numbers, weights)
    while cells.refine():
        cells.add(numbers, weights)
    return cells.summary()


def questions() -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is asked of fitted models, and the kernels that only larger tables or several threads reach."""
    rng = np.random.default_rng(3)
    many = rng.normal(size=(1200, 2))
    signs = np.where(many[:, 0] + rng.normal(size=1200) > 0, "up", "down")
    forest = tw.RandomForestRegressor(40, quantiles=True, random_state=0, min_samples_leaf=2).fit(XM, SCORE)
    yield "few bins", lambda: tw.DecisionTreeClassifier(splitter="hist", max_depth=2, max_bins=16).fit(many, signs)
    yield "cells", lambda: summed_in_cells(rng.normal(size=700), rng.integers(1, 9, 700))
    yield "isolation by chances", lambda: tw.IsolationForest(max_samples=16, **FEW).fit(X, sample_weight=SHARES)
    yield "forest spread", lambda: forest.predict_std(XM[:9])
    yield "forest proximity", lambda: forest.proximity(XM)
    yield "forest quantiles of rows", lambda: forest.predict_quantile(XM, (0.1, 0.5))
    yield "forest debiased", lambda: forest.importances("debiased")
    yield "forest permutation", lambda: forest.importances("permutation")
    yield "boosting judged 2", lambda: judged(tw.GradientBoostingClassifier, TWO)
    yield "boosting judged 3", lambda: judged(tw.GradientBoostingClassifier, THREE)
    for share in (1.0, 0.5):
        yield f"boosting elsewhere, {share} of the rows", lambda share=share: elsewhere(many, signs, share)
    yield "boosting of large nodes", lambda: on_threads(many, signs, max_leaf_nodes=5)
    yield "boosting of large levels", lambda: on_threads(many, signs, growth="symmetric", max_depth=2)
    for metric in ("euclidean", "manhattan"):
        near = tw.KNeighborsClassifier(3, metric=metric, algorithm="brute").fit(many, signs)
        yield f"{metric} brute", lambda n=near: n.kneighbors(many[:9])
        yield f"{metric} brute many", lambda n=near: n.kneighbors(many[:3], 100)
        yield f"{metric} brute radius", lambda n=near: n.radius_neighbors(many[:5], 0.3)
    tree = tw.KNeighborsClassifier(3, algorithm="kd_tree", n_jobs=2).fit(many, signs)
    yield "kd tree", lambda: with_small(kd_tree, {"_BLOCK_LEAVES": 4}, lambda: tree.kneighbors(many[:9]))
    yield "kd tree radius", lambda: tree.radius_neighbors(many[:9], 0.3)
    gower = tw.KNeighborsClassifier(3, metric="gower", **RANKED).fit({k: v * 3 for k, v in T.items()}, [*LEVELS] * 3)
    yield "gower many", lambda: gower.kneighbors({k: v[:4] for k, v in T.items()}, 100)
    yield "mahalanobis", lambda: tw.KNeighborsClassifier(3, metric="mahalanobis").fit(X, THREE).kneighbors(X)
    sparse = csr_matrix(np.where(X > 0.5, X, 0.0))
    for metric in ("cosine", "euclidean"):
        few = tw.KNeighborsClassifier(3, metric=metric).fit(sparse, THREE)
        yield f"sparse {metric}", lambda n=few: n.kneighbors(sparse[:9])
        yield f"sparse {metric} radius", lambda n=few: n.radius_neighbors(sparse[:9], 0.3)
    stays = {"DENSE_BYTES": 0, "_STORED_BYTES": 0}
    for name, kind, y in (
        ("tree", tw.DecisionTreeClassifier(splitter="hist"), THREE),
        ("forest", tw.RandomForestClassifier(3, random_state=0), THREE),
        ("forest of numbers", tw.RandomForestRegressor(3, random_state=0), SCORE),
        ("extra trees", tw.ExtraTreesClassifier(3, random_state=0), THREE),
        ("boosting", tw.GradientBoostingClassifier(3, min_samples_leaf=2), THREE),
        ("boosting of numbers", tw.GradientBoostingRegressor(3, min_samples_leaf=2), SCORE),
        ("isolation", tw.IsolationForest(n_estimators=3, random_state=0), THREE),
        ("exact numbers", tw.DecisionTreeRegressor(max_depth=3), SCORE),
    ):
        yield f"sparse {name}", lambda k=kind, t=y: with_small(stored, stays, lambda: k.fit(sparse, t).model_)
    wide = csr_matrix(np.where(np.abs(many) > 0.1, many, 0.0))
    for name, kind, y in (
        ("classes", tw.DecisionTreeClassifier(max_depth=3), signs),
        ("medians", tw.DecisionTreeRegressor(criterion="absolute_error", max_depth=2), many[:, 0]),
    ):
        yield f"sparse ranks, {name}", lambda k=kind, t=y: with_small(stored, stays, lambda: k.fit(wide, t).model_)
    divided = tw.DecisionTreeClassifier(missing="fractional", **RANKED).fit(T, LEVELS)
    yield "shares of nodes", lambda: divided.decision_path(T).toarray()
    for missing in ("direction", "fractional"):
        grown = tw.DecisionTreeClassifier(missing=missing)
        yield f"pruning path {missing}", lambda g=grown: pruning_path(g, XM, THREE, cv=3).to_dict()
    yield "pruned in shares", lambda: divided.prune("reduced_error", {k: v[::-1] for k, v in T.items()}, LEVELS[::-1])
    plain = tw.DecisionTreeClassifier().fit(X, THREE)
    yield "pruned as counted", lambda: plain.prune("error_based", confidence=0.1, subtree_raising=False)


def explained() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Contributions by each engine."""
    engines = {"tables": {"_STEPS_OF_A_CELL": 0}, "long paths": {"_LONGEST": 0}}
    boosted = tw.GradientBoostingRegressor(2, min_samples_leaf=2, random_state=0).fit(XM, SCORE)
    forest = tw.RandomForestClassifier(2, max_depth=3, random_state=0).fit(T, LEVELS)
    for engine, sizes in engines.items():
        for name, est, table in (("boosted", boosted, XM), ("forest", forest, T)):
            for order in (1, 2):
                yield (
                    f"{name} by {engine} {order}",
                    lambda e=est, t=table, s=sizes, o=order: with_small(
                        contributions, s, lambda: e.explain(t, order=o).values
                    ),
                )
                yield (
                    f"{name} by {engine} {order}, background",
                    lambda e=est, t=table, s=sizes, o=order: with_small(
                        contributions, s, lambda: e.explain(t, kind="interventional", order=o, background=t).values
                    ),
                )
        yield (
            f"pairs by {engine}",
            lambda s=sizes: with_small(contributions, s, lambda: boosted.interactions(XM).h),
        )
    for missing in ("surrogate", "fractional"):
        one = tw.DecisionTreeClassifier(missing=missing, max_depth=3, **RANKED).fit(T, LEVELS)
        yield f"steps {missing}", lambda e=one: e.explain(T, kind="steps").values


def judged(kind: Any, y: np.ndarray) -> Any:
    """Boosting that other rows judge."""
    return kind(n_estimators=4, min_samples_leaf=2, random_state=0).fit(XM, y, X_val=XM[::2], y_val=y[::2])


def on_threads(table: np.ndarray, y: np.ndarray, **more: Any) -> Any:
    """Boosting where every node is large enough for several threads."""
    boosting = tw.GradientBoostingClassifier(n_estimators=2, random_state=0, n_jobs=2, **more)
    parts = {"_BLOCK_ROWS": 64, "_FEWEST_THREADS": 1}
    whole = {"_MOST_CELLS": 0, "_BLOCK_ROWS": 256}
    return with_small(grower, whole, lambda: with_small(rows, parts, lambda: boosting.fit(table, y)))


def elsewhere(table: np.ndarray, y: np.ndarray, subsample: float) -> Any:
    """Boosting of rows that lie in two parts; some leaves have as few rows as they may."""
    schema, cells = encode_fit(table)
    bins, codes = bins_of(cells, schema), bin_rows(bins_of(cells, schema), cells)
    target = (y == y[0]).astype(np.int32)
    contents = np.arange(len(y), dtype=np.uint64) << np.uint64(50)
    parts = [
        Part(codes[rows], len(schema), [target[rows]], contents=contents[rows], number=number)
        for number, rows in enumerate(np.split(np.arange(len(y)), [500]))
    ]
    tree = GradientSettings(max_leaf_nodes=40, min_samples_leaf=9)
    settings = BoostSettings((TwoClasses(),), tree, 3, 0.5, subsample=subsample)
    boosted = boost_distributed(BoostTable(bins, schema, np.zeros(2, bool)), Here(parts), settings, None, (2,))
    return [boosted.trees.records, boosted.trees.leaf_value, boosted.trees.importances]


def with_small(module: Any, sizes: dict[str, int], work: Callable[[], Any]) -> Any:
    """``work()`` with other sizes of what is large."""
    with mock.patch.multiple(module, **sizes):
        return work()


def cut(model: Any, method: str, y: np.ndarray, options: dict[str, Any]) -> Any:
    """The pruned model, or the words of the refusal."""
    from treewright.prune.methods import METHODS

    if method not in METHODS:
        return "no such method"
    rows = () if METHODS[method].needs == "none" else (numbers(seed=9), y)
    try:
        return model.prune(method, *rows, **options)
    except Exception as error:  # a method that is not for numbers says so
        return f"{type(error).__name__}: {error}"


def linear_cells() -> list[Any]:
    """The linear score that members of 100 rows and more may ask about, of fewer rows."""
    schema, matrix = encode_fit(T)
    folds = np.arange(N, dtype=np.int32) % FOLDS
    return list(linear_scores(schema, matrix, SCORE[:, None], WEIGHTS, N, folds, ["linear score"]))


def content(made: Any) -> bytes:
    """The bytes of a model file, and what it predicts."""
    if isinstance(made, str):
        return made.encode()
    if isinstance(made, np.ndarray):
        return b"".join(map(content, made.tolist())) if made.dtype == object else made.tobytes()
    if isinstance(made, list | tuple | dict):
        return b"".join(map(content, made.values() if isinstance(made, dict) else made))
    if not hasattr(made, "predict"):
        return repr(made).encode()
    model = getattr(made, "model_", made)
    parts: list[bytes] = []
    if not hasattr(made, "estimators_") or hasattr(made, "model_"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            model.save(path)
            parts.append(path.read_bytes())
    table = X if getattr(made, "n_features_in_", 3) == 3 and not hasattr(made, "feature_names_in_") else T
    for verb in ("predict", "predict_proba", "decision_function", "score_samples", "apply"):
        if not hasattr(made, verb):
            continue
        try:
            answer = getattr(made, verb)(table)
        except (AttributeError, ValueError) as error:  # not a verb of this model
            answer = np.array([str(error)])
        for each in answer if isinstance(answer, list) else [answer]:
            array = np.asarray(each)
            parts.append(
                (str(array.dtype) + str(array.tolist())).encode() if array.dtype.kind == "O" else array.tobytes()
            )
    return b"".join(parts)


def digests(words: list[str], sixth: int | None) -> dict[str, str]:
    """Of the fits that are wanted, a digest each."""
    found: dict[str, str] = {}
    fits = chain.from_iterable(part() for part in (trees, ensembles, neighbours, pruned, questions, explained))
    for at, (name, fit) in enumerate(fits):
        if not name.startswith(tuple(words) or "") or sixth not in {None, at % 6}:
            continue
        try:
            found[name] = hashlib.blake2b(content(fit()), digest_size=8).hexdigest()
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def kernels_by_use() -> dict[str, list[str]]:
    """Which kernels of the package ran as Python only, which were loaded or compiled, and which did not run."""
    from treewright.core.background import Meanwhile

    used: dict[str, list[str]] = {"python": [], "compiled": [], "unused": []}
    for name, module in sorted(sys.modules.items()):
        for kernel in vars(module).values() if name.startswith("treewright.") else ():
            asked = getattr(kernel, "_compile_for_args", None)
            if isinstance(asked, Meanwhile) and kernel.__module__ == name:
                use = "compiled" if kernel.overloads else "python" if asked._steps > 0 else "unused"
                used[use].append(f"{name}.{kernel.__name__}")
    return used


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)  # a kernel says nothing of what wraps around or is no number
    warnings.filterwarnings("ignore", category=UserWarning)
    wanted = argparse.ArgumentParser()
    wanted.add_argument("words", nargs="*")
    wanted.add_argument("--sixth", type=int)
    json.dump({"digests": digests(**vars(wanted.parse_args())), "kernels": kernels_by_use()}, sys.stdout, indent=0)
