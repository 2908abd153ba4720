"""What holds for the rounds of boosting, whatever the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from boosted_rounds import LOSSES, loss_named, target_for
from gradient_tables import (
    GradientCase,
    boost_case,
    difference_but_samples,
    draw_case,
    packed_difference,
    padded,
    scores_of,
)

from treewright.boosting import rounds as rounds_module
from treewright.boosting import rounds as scored
from treewright.boosting.rounds import Boosted, BoostRows, Evaluation
from treewright.grow.gradient import grower
from treewright.grow.gradient import rows as large
from treewright.trees.packed import take

ORDERS = ("leaf", "level", "symmetric")
TREE: dict[str, Any] = {"min_samples_leaf": 2, "max_leaf_nodes": 8, "l2": 0.5}


def table(seed: int, n: int = 150, p: int = 5) -> tuple[GradientCase, np.ndarray, np.random.Generator]:
    """Rows, what moves their targets, and more chance."""
    rng = np.random.default_rng(seed)
    case = draw_case(seed, n, p, most_bins=15)
    held = np.where(case.cells == 255, 3, case.cells).astype(np.float64)
    return case, (held[:, 0] % 4) / 2 - (held[:, -1] % 3) / 2, rng


def can_draw_by_gradient(name: str) -> bool:
    return not loss_named(name).renews  # else gradients are but signs, and that is refused


def run(name: str, case: GradientCase, target: np.ndarray, weights: np.ndarray | None = None, **more: Any) -> Boosted:
    return boost_case(case, target, loss_named(name), weights, **{"tree": TREE, "n_rounds": 6, **more})


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", LOSSES)
def test_weight_k_is_a_row_k_times(name, order):
    for seed in range(3):
        case, pull, rng = table(seed)
        target = target_for(name, pull, rng)
        weights = rng.integers(1, 4, 150)
        often = np.repeat(np.arange(150), weights)
        plan = {"tree": {**TREE, "order": order, "min_samples_leaf": 5, "min_child_weight": 0.7}}
        one = run(name, case, target, weights.astype(np.float64), **plan)
        other = run(name, case.at(often), target[often], **plan)
        assert one.boosting == other.boosting
        assert not difference_but_samples(one.trees, other.trees)


def share_everything(patch: pytest.MonkeyPatch) -> None:
    """Small blocks, and threads that share every node."""
    for module in (rounds_module, scored, grower, large):
        patch.setattr(module, "_BLOCK_ROWS", 100)
    patch.setattr(grower, "_MOST_CELLS", 0)
    patch.setattr(grower, "_MOST_CELLS_ALONE", 0)


@pytest.mark.parametrize("name", LOSSES)
def test_threads_and_blocks_change_no_byte(name, monkeypatch):
    case, pull, rng = table(4, 1_000)
    target = target_for(name, pull, rng)
    weights = rng.random(1_000) + 0.5
    other_rows = BoostRows(padded(case.cells[:400]), target[:400].reshape(-1, 1))
    plans: list[dict[str, Any]] = [
        {"weights": weights},
        {"subsample": 0.6, "evaluation": None if name == "own" else Evaluation(other_rows)},
    ]
    if can_draw_by_gradient(name):
        plans.append({"sampling": "gradient", "learning_rate": 0.5})
    for more in plans:
        one = run(name, case, target, **more)
        for n_threads in (2, 3):
            assert_same(run(name, case, target, **more, n_threads=n_threads), one)
        with monkeypatch.context() as patch:
            share_everything(patch)
            for n_threads in (1, 3):
                assert_same(run(name, case, target, **more, n_threads=n_threads), one)


def assert_same(one: Boosted, other: Boosted) -> None:
    assert one.boosting == other.boosting
    assert not packed_difference(one.trees, other.trees)
    assert one.history.train == other.history.train
    assert one.history.validation == other.history.validation


@pytest.mark.parametrize("name", LOSSES)
def test_the_order_of_rows_changes_nothing(name):
    for seed in range(3):
        case, pull, rng = table(seed)
        target = target_for(name, pull, rng)
        moved = rng.permutation(150)
        one, other = run(name, case, target), run(name, case.at(moved), target[moved])
        assert one.boosting == other.boosting
        assert not packed_difference(one.trees, other.trees)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"subsample": 0.5},
        {"sampling": "gradient", "learning_rate": 0.5},
        {"tree": {**TREE, "features_per_tree": 0.5, "features_per_node": 0.5}},
    ],
    ids=["all rows", "subsample", "gradients", "columns"],
)
def test_rounds_on_top_of_rounds_are_rounds_in_one_go(name, more):
    if "sampling" in more and not can_draw_by_gradient(name):
        return
    case, pull, rng = table(7)
    target = target_for(name, pull, rng)
    weights = rng.random(150) + 0.5
    one = run(name, case, target, weights, n_rounds=7, seed=3, **more)
    first = run(name, case, target, weights, n_rounds=3, seed=3, **more)
    other = run(name, case, target, weights, n_rounds=7, seed=3, start=(first.trees, first.boosting), **more)
    assert one.boosting == other.boosting
    assert not packed_difference(one.trees, other.trees)
    k = first.boosting.n_scores
    assert not packed_difference(take(one.trees, range(3 * k)), first.trees)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", LOSSES)
def test_scores_rise_and_fall_with_their_columns(name, order):
    for seed in range(2):
        case, pull, rng = table(seed + 20, p=4)
        target = target_for(name, pull, rng)
        signs = np.where(case.bins.is_nominal, 0, np.array([1, -1, 1, -1]) * (-1) ** seed)
        found = run(name, case, target, tree={**TREE, "order": order, "monotone": tuple(signs.tolist())}, n_rounds=8)
        for column in np.flatnonzero(signs):
            m = int(case.bins.n_bins[column])
            others = np.repeat(case.cells[rng.integers(0, 150, 20)], m, axis=0)
            others[:, column] = np.tile(np.arange(m), 20)
            said = scores_of(found, others).reshape(-1, 20, m)
            assert (signs[column] * np.diff(said, axis=2) >= 0).all()


@pytest.mark.parametrize("name", LOSSES)
def test_the_scores_of_training_are_those_of_the_model(name):
    case, pull, rng = table(9)
    target = target_for(name, pull, rng)
    plans: list[dict[str, Any]] = [{}, {"subsample": 0.4}]
    if can_draw_by_gradient(name):
        plans.append({"sampling": "gradient", "learning_rate": 0.5})
    for more in plans:
        seen, other = Seen(), Seen()
        found = run(name, case, target, evaluation=Evaluation(score=seen), **more)
        assert np.array_equal(seen.last, scores_of(found, case.cells))
        rows = BoostRows(padded(case.cells[::2]), target[::2].reshape(-1, 1))
        again = run(name, case, target, evaluation=Evaluation(rows, score=other), **more)
        assert np.array_equal(other.last, scores_of(again, case.cells[::2]))
        assert not packed_difference(found.trees, again.trees)


class Seen:
    """An evaluation that keeps the scores it is shown."""

    last: np.ndarray

    def __call__(self, scores: np.ndarray) -> float:
        self.last = scores.copy()
        return 0.0


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "own"])  # that one has no value
def test_early_stopping_keeps_the_rounds_up_to_the_best(name):
    case, pull, rng = table(11, 300)
    target = target_for(name, pull, rng)
    rows = BoostRows(padded(case.cells[200:]), target[200:].reshape(-1, 1), rng.random(100) + 0.5)
    train = case.at(np.arange(200))
    plan: dict[str, Any] = {"learning_rate": 0.6, "tree": {**TREE, "min_samples_leaf": 1, "max_leaf_nodes": 16}}
    whole = run(name, train, target[:200], n_rounds=30, evaluation=Evaluation(rows), **plan)
    values = whole.history.validation
    assert len(values) == 31
    assert whole.history.best == 1 + int(np.argmin(values[1:]))
    stopped = run(name, train, target[:200], n_rounds=30, evaluation=Evaluation(rows, patience=4), **plan)
    best, k = stopped.history.best, stopped.boosting.n_scores
    mine = stopped.history.validation
    assert mine == values[: len(mine)]
    assert best == 1 + int(np.argmin(mine[1:]))
    assert len(mine) - 1 == min(best + 4, 30)
    assert len(stopped.trees) == best * k
    assert not packed_difference(stopped.trees, take(whole.trees, range(best * k)))
    loss = loss_named(name).bound(target[:200], None)
    last = loss.values(target[200:], scores_of(stopped, case.cells[200:]))
    assert mine[best] == pytest.approx(np.average(last, weights=rows.weights), rel=1e-12)
