"""Every impurity of class counts that is on the list, in every grower: a new one is tested by being listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import treewright as tw
from treewright.grow.criteria.costs import Criterion
from treewright.grow.criteria.counts import WITH_TERMS, refuse_without_terms
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA, impurity_of_proportions

NAMES = sorted(CLASSIFICATION_CRITERIA)
N = 60


def table() -> tuple[np.ndarray, np.ndarray]:
    """Two columns of whole numbers, three classes."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 20, (N, 2)).astype(np.float64)
    y = np.digitize(X[:, 0] + rng.normal(0, 4, N), [6, 13])
    return X, y


def impurity(name: str, counts: np.ndarray) -> np.ndarray:
    return impurity_of_proportions(CLASSIFICATION_CRITERIA[name], counts / counts.sum(axis=-1, keepdims=True))


def best_decrease(name: str, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """The largest decrease of impurity by one cut, looked for in the plainest way."""

    def counts_of(rows: np.ndarray) -> np.ndarray:
        return np.bincount(y[rows], weights[rows], minlength=3)

    whole = counts_of(np.ones(len(y), bool))
    best = 0.0
    for x in X.T:
        for cut in np.unique(x)[:-1]:
            sides = [counts_of(x <= cut), counts_of(x > cut)]
            cost = sum(side.sum() * float(impurity(name, side)) for side in sides)
            best = max(best, float(impurity(name, whole)) - cost / whole.sum())
    return best


def growers(name: str) -> dict[str, tw.DecisionTreeClassifier]:
    return {
        "by levels": tw.DecisionTreeClassifier(criterion=name),
        "on bins": tw.DecisionTreeClassifier(criterion=name, splitter="hist"),
        "by nodes": tw.DecisionTreeClassifier(criterion=name, missing="surrogate"),
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_grower_finds_the_best_cut_and_the_impurity_of_every_node(name: str, weighted: bool) -> None:
    X, y = table()
    weights = np.random.default_rng(4).random(N) + 0.5 if weighted else np.ones(N)
    for grower, tree in growers(name).items():
        tree.fit(X, y, sample_weight=weights if weighted else None)
        grown = tree.tree_
        inner = np.flatnonzero(~grown.is_leaf)
        np.testing.assert_allclose(grown.impurity, impurity(name, grown.value), atol=1e-12, err_msg=grower)
        assert (grown.impurity[inner] > 0.0).all(), grower
        first = int(grown.first_child[0])
        share = grown.weight[first] / grown.weight[0]
        fall = grown.impurity[0] - share * grown.impurity[first] - (1.0 - share) * grown.impurity[first + 1]
        assert fall == pytest.approx(best_decrease(name, X, y, weights), abs=1e-12), grower


@pytest.mark.parametrize("name", NAMES)
def test_forests_audits_prunings_and_files_know_it(name: str, tmp_path: Path) -> None:
    X, y = table()
    forest = tw.RandomForestClassifier(n_estimators=2, criterion=name, random_state=0).fit(X, y)
    tree = tw.DecisionTreeClassifier(criterion=name).fit(X, y)
    for model in (forest.model_, tree.model_):
        model.save(tmp_path / "model")
        assert (tw.load(tmp_path / "model").predict(X) == model.predict(X)).all()
    member = forest.model_.tree(0).trees[0]
    np.testing.assert_allclose(member.impurity, impurity(name, member.value), atol=1e-12)
    assert tree.audit(0).whole.impurity == pytest.approx(float(impurity(name, np.bincount(y))))
    pruned = tree.model_.prune("cost_complexity", alpha=0.05)
    assert pruned.trees[0].n_nodes < tree.tree_.n_nodes


def test_a_name_without_terms_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"no terms in grow\.criteria\.counts for other"):
        refuse_without_terms({"gini": 0, "other": max(WITH_TERMS) + 1})
    with pytest.raises(KeyError):
        impurity_of_proportions(max(WITH_TERMS) + 1, np.ones(2) / 2)
    with pytest.raises(KeyError):
        Criterion.of("other")
