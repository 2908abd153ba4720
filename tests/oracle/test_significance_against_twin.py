"""With ``max_p_value`` the grower by nodes stops where its slow, obvious twin stops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from by_node_tables import Drawn, difference, draw, draw_limits
from naive_by_node import TwinRules
from naive_costs import Costs
from naive_significance import Stopping, StoppingC45Twin, StoppingRatioTwin, StoppingTwin
from rotating import crossed, few

import treewright as tw
from treewright.trees.check_model import check_model

LIMITS = (0.003, 0.05, 0.3, 0.9)
# criterion, classes (0: regression), outputs
TARGETS = {
    "gini of two classes": ("gini", 2, 1),
    "entropy of three classes": ("entropy", 3, 1),
    "gini of two outputs": ("gini", 2, 2),
    "gain ratio of three classes": ("gain_ratio", 3, 1),
    "squared error": ("squared_error", 0, 1),
    "squared error of two outputs": ("squared_error", 0, 2),
}
WAYS = [
    (splits, missing)
    for splits in ("subset", "runs", "one_vs_rest", "multiway")
    for missing in ("direction", "branch", "fractional", "surrogate")
    if (splits, missing) != ("multiway", "surrogate")
]


def with_signal(rng: np.random.Generator, drawn: Drawn, criterion: str, n_outputs: int) -> Drawn:
    """The same table with a target that follows its first column, so that some tests are significant."""
    cells = np.array([0 if cell is None else cell for cell in drawn.twin.columns[0]])
    y = np.asarray(drawn.y).reshape(len(cells), -1).copy()
    largest = y.max(axis=0)
    follows = rng.random(y.shape) < 0.85
    y = np.where(follows, np.minimum(cells[:, None], largest), y)
    n_classes: tuple[int, ...] = ()
    if criterion != "squared_error":
        codes = [np.unique(column, return_inverse=True) for column in y.T]
        y = np.stack([code for _, code in codes], axis=1)
        n_classes = tuple(len(labels) for labels, _ in codes)
    drawn.twin.costs = Costs(criterion, [tuple(int(v) for v in row) for row in y], n_classes)
    drawn.y = y[:, 0] if n_outputs == 1 else y
    return drawn


def check(estimator: Any, drawn: Drawn, twin: Any, seed: int) -> Stopping:
    """Assert that estimator and twin agree where rounding does not decide."""
    tree = drawn.fit(estimator)
    check_model(estimator.model_)
    nodes = twin.grow()
    if not twin.is_close:
        found = difference(tree, nodes, drawn.twin)
        assert not found, f"seed {seed}: {found}"
    return twin


def assert_both_happen(twins: list[Any]) -> None:
    """Nodes that stop and nodes that are split, and few tables about which nothing can be said."""
    told = [twin for twin in twins if not twin.is_close]
    assert len(told) >= (0.6 if len(twins) >= 60 else 0.1) * len(twins)
    assert 0 < sum(twin.n_stopped for twin in told) < sum(twin.n_judged for twin in told)


def compare(target: str, splits: str, missing: str, seeds: Sequence[int]) -> None:
    name, n_classes, n_outputs = TARGETS[target]
    twins = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        drawn = with_signal(rng, draw(rng, name, n_classes, n_outputs), name, n_outputs)
        rules = TwinRules(splits, missing)
        limits = draw_limits(rng, rules) if seed % 2 else {}
        limit = float(rng.choice(LIMITS))
        kind = tw.DecisionTreeClassifier if n_classes else tw.DecisionTreeRegressor
        estimator = kind(criterion=name, nominal_splits=splits, missing=missing, max_p_value=limit, **limits)
        twin = (StoppingRatioTwin if name == "gain_ratio" else StoppingTwin)(drawn.twin, rules)
        twin.max_p_value = limit
        twins.append(check(estimator, drawn, twin, seed))
    assert_both_happen(twins)


@pytest.mark.parametrize(("target", "way"), crossed(TARGETS, WAYS))
def test_growth_stops_where_the_best_test_is_not_significant(target: str, way: tuple[str, str]) -> None:
    compare(target, *way, few(range(60), 8))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("splits", "missing"), WAYS)
@pytest.mark.parametrize("target", TARGETS)
def test_growth_stops_where_the_best_test_is_not_significant_on_many_tables(
    target: str, splits: str, missing: str
) -> None:
    compare(target, splits, missing, range(1_000, 1_100))


@pytest.mark.parametrize("missing", ["branch", "direction", "fractional"])
def test_id3_stops_where_the_best_test_is_not_significant(missing: str) -> None:
    twins = []
    for seed in few(range(60), 20):
        rng = np.random.default_rng(seed)
        drawn = draw(rng, "entropy", 2, kinds=("nominal", "ordinal"), ordinal_levels=True)
        drawn = with_signal(rng, drawn, "entropy", 1)
        limit = float(rng.choice(LIMITS))
        twin = StoppingTwin(drawn.twin, TwinRules("multiway", missing))
        twin.max_p_value = limit
        twins.append(check(tw.ID3Classifier(missing=missing, max_p_value=limit), drawn, twin, seed))
    assert_both_happen(twins)


def test_c45_stops_where_the_best_test_is_not_significant() -> None:
    twins = []
    for seed in few(range(80), 20):
        rng = np.random.default_rng(seed)
        drawn = with_signal(rng, draw(rng, "entropy", int(rng.integers(2, 4))), "entropy", 1)
        limit, min_leaf = float(rng.choice(LIMITS)), int(rng.choice([1, 2, 3]))
        twin = StoppingC45Twin(drawn.twin, TwinRules("multiway", "fractional"), min_leaf)
        twin.max_p_value = limit
        estimator = tw.C45Classifier(confidence=None, min_samples_leaf=min_leaf, max_p_value=limit)
        twins.append(check(estimator, drawn, twin, seed))
    assert_both_happen(twins)
