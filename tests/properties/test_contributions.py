"""Contributions: the same bytes for any threads and blocks; what Shapley values must be; trees of odd shapes."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import treewright as tw
from treewright.explain import contributions
from treewright.explain.contributions import contributions_of, gauss_legendre

RNG = np.random.default_rng(11)
X = RNG.normal(size=(700, 6))
Y = X[:, 0] * (X[:, 1] > 0) + np.abs(X[:, 2])


@cache
def fitted(name):
    if name == "boosted":
        return tw.GradientBoostingRegressor(12, min_samples_leaf=5, random_state=0).fit(X, Y)
    return tw.RandomForestClassifier(3, random_state=0).fit(X, (Y > 1).astype(int) + (Y > 2))


@pytest.mark.parametrize("kind", ["path", "interventional", "steps"])
@pytest.mark.parametrize("name", ["boosted", "deep"])
def test_threads_and_blocks_change_no_byte(name, kind, monkeypatch):
    est, some = fitted(name), X[:300]
    background = X[:40] if kind == "interventional" else None
    whole = contributions_of(est.model_, some, kind=kind, background=background, n_jobs=1)
    for n_jobs, rows, nodes in ((2, 512, 50_000_000), (3, 17, 50_000_000), (2, 64, 1)):
        monkeypatch.setattr(contributions, "_MOST_ROWS", rows)
        monkeypatch.setattr(contributions, "_NODES_AT_ONCE", nodes)
        other = contributions_of(est.model_, some, kind=kind, background=background, n_jobs=n_jobs)
        assert other.values.tobytes() == whole.values.tobytes()
        np.testing.assert_allclose(other.base, whole.base, rtol=1e-14)


@pytest.mark.parametrize("kind", ["path", "interventional"])
def test_pairs_add_up_to_columns_and_are_symmetric(kind):
    background = X[:40] if kind == "interventional" else None
    single = contributions_of(fitted("boosted").model_, X[:50], kind=kind, background=background)
    pairs = contributions_of(fitted("boosted").model_, X[:50], kind=kind, background=background, pairs=True)
    np.testing.assert_allclose(pairs.values.sum(axis=2), single.values, atol=1e-13)
    assert (pairs.values == pairs.values.transpose(0, 2, 1, 3)).all()


def test_a_column_that_no_tree_asks_contributes_nothing():
    constant = np.column_stack([X[:, 0], np.zeros(len(X)), X[:, 2]])
    est = tw.GradientBoostingRegressor(5, min_samples_leaf=5).fit(constant, Y)
    for kind, background in (("path", None), ("interventional", constant[:30])):
        assert not est.explain(constant[:20], kind=kind, background=background).values[:, 1].any()
    levels = np.repeat(RNG.integers(0, 2, (400, 1)), 2, axis=1).astype(float)
    target = levels[:, 0] * 2.0 + levels[:, 1] * 2.0
    trees = [tw.DecisionTreeRegressor(max_features=1, random_state=seed).fit(levels, target) for seed in range(9)]
    found = [tree.explain(levels[:5]).values for tree in trees]
    assert {int(np.flatnonzero(each[0])[0]) for each in found} == {0, 1}  # alone each takes all


def test_the_background_as_the_rows_is_its_own_mean():
    found = fitted("boosted").explain(X[:40], kind="interventional", background=X[:40])
    np.testing.assert_allclose(found.values.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.base, fitted("boosted").predict(X[:40]).mean(), rtol=1e-12)


def test_steps_of_one_tree_are_changes_of_its_values():
    tree = tw.DecisionTreeRegressor(max_depth=3).fit(X, Y)
    found, model = tree.explain(X[:1], kind="steps"), tree.model_
    nodes = [int(at) for at in tree.decision_path(X[:1]).indices]
    values = [float(model.tree_.value[at, 0]) for at in nodes]
    rises = np.zeros(6)
    for at, (before, after) in zip(nodes, pairwise(values), strict=False):
        rises[model.tree_.feature[at]] += after - before
    np.testing.assert_allclose(found.values[0], rises, atol=1e-12)
    np.testing.assert_allclose(found.base, values[0], rtol=1e-12)


def test_one_leaf_and_a_chain_a_thousand_deep():
    alone = tw.DecisionTreeRegressor().fit(X, np.ones(len(X)))
    assert alone.explain(X[:3]).base == 1.0
    assert not alone.explain(X[:3]).values.any()
    n = 1_000
    chain = tw.DecisionTreeRegressor(max_features=1, random_state=0).fit(
        np.arange(n, dtype=float)[:, None] * np.ones((1, 2)), 3.0 ** np.linspace(0, 400, n)
    )
    assert chain.get_depth() > 300
    rows = np.array([[0.0, 999.0], [999.0, 0.0], [500.0, 700.0]])
    for kind, background in (("path", None), ("steps", None), ("interventional", rows)):
        found = chain.explain(rows, kind=kind, background=background)
        answers = chain.predict(rows)
        np.testing.assert_allclose(found.totals, answers, atol=1e-12 * answers.max())


@pytest.mark.parametrize("longest", [1, 2, 3, 8, 15, 16, 31, 60])
def test_quadrature_is_exact_for_products_of_so_many_players(longest):
    points, weights = gauss_legendre(longest)
    for degree in range(longest):
        assert weights @ points**degree == pytest.approx(1 / (degree + 1), rel=1e-13)
