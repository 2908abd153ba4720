"""The rounds of boosting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from boosted_rounds import loss_named, target_for
from gradient_tables import (
    NO_HESSIAN,
    GradientCase,
    answers,
    boost_case,
    draw_case,
    packed_difference,
    packed_of,
    padded,
    scores_of,
)

from treewright.boosting.losses import Loss
from treewright.boosting.rounds import Boosted, BoostRows, Evaluation, Round
from treewright.boosting.sampling import drawn_by_gradient, drawn_by_variance, drawn_uniformly, keys_of
from treewright.core.random import mixed
from treewright.exceptions import DataError, ParameterError
from treewright.trees.arrays import LEAF_RECORD, child_of, kind_of
from treewright.trees.packed import PackedTrees, leaf_samples_of, leaf_weights_of, take

TREE: dict[str, Any] = {"min_samples_leaf": 3, "max_leaf_nodes": 8, "l2": 0.25}
N = 240


@pytest.fixture(scope="module")
def case() -> GradientCase:
    return draw_case(31, N, 5, most_bins=12)


def target_of(case: GradientCase, name: str, n: int = N) -> np.ndarray:
    return target_for(name, (case.cells[:n, 0] % 4) / 2.0, np.random.default_rng(5))


def naive_rounds(case: GradientCase, loss: Loss, target: np.ndarray, plan: dict[str, Any], weights=None) -> np.ndarray:
    """Scores after all rounds, a tree at a time, each row's answer read off the packed tree."""
    loss = loss.bound(target, weights)
    n, k = len(target), loss.n_scores
    scores = np.repeat(loss.base(target, weights)[:, None], n, axis=1)
    for number in range(1, plan["n_rounds"] + 1):
        g, h = np.empty((k, n), np.float32), np.ones((k, n), np.float32)
        loss.gradients(target, scores, g, h)
        if weights is not None:
            g, h = g * weights.astype(np.float32), h * weights.astype(np.float32)
        seed = mixed(mixed(plan.get("seed", 0), number), 0)
        chosen, keys = None, keys_of(np.arange(n, dtype=np.uint64), mixed(seed, 0))
        by_variance = plan.get("sampling") == "minimal_variance"
        if by_variance and number > 1 / plan["learning_rate"]:
            g2, h2 = (np.square(each, dtype=np.float64).sum(axis=0) for each in (g, h))
            sizes = np.sqrt(g2 + g2.sum() / h2.sum() * h2)
            chosen, factors = drawn_by_variance(sizes, plan["subsample"], keys)
            g[:, chosen] *= factors
            h[:, chosen] *= factors
        elif "subsample" in plan and not by_variance:
            chosen = drawn_uniformly(keys, plan["subsample"])
        elif "sampling" in plan and not by_variance and number > 1 / plan["learning_rate"]:
            chosen, factors = drawn_by_gradient(np.abs(g).sum(axis=0, dtype=np.float64), 0.2, 0.1, keys)
            g[:, chosen] *= factors
            h[:, chosen] *= factors
        is_unit = loss.unit_hessian and weights is None and "sampling" not in plan
        for score in range(k):
            held = replace_gradients(case, g[score], NO_HESSIAN if is_unit else h[score])
            tree_seed = mixed(mixed(mixed(plan.get("seed", 0), number), 1), score)
            tree = held.grow(chosen=chosen, seed=tree_seed, max_step=loss.max_step, **plan["tree"])
            scores[score] += plan["learning_rate"] * answers(packed_of(held, tree), case.cells)
    return scores


def replace_gradients(case: GradientCase, gradient: np.ndarray, hessian: np.ndarray) -> GradientCase:
    return replace(case, gradient=np.ascontiguousarray(gradient), hessian=np.ascontiguousarray(hessian))


@pytest.mark.parametrize("weighs", [False, True])
@pytest.mark.parametrize("name", ["squared_error", "poisson", "two classes", "four classes", "own of two scores"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"subsample": 0.5},
        {"sampling": "gradient"},
        {"sampling": "minimal_variance", "subsample": 0.4},
        {"tree": {**TREE, "features_per_node": 0.4}, "seed": 2**63 + 1},
    ],
    ids=["all rows", "subsample", "gradients", "variance", "columns"],
)
def test_rounds_are_gradients_trees_and_sums(case, name, more, weighs):
    target, loss = target_of(case, name), loss_named(name)
    weights = np.random.default_rng(1).random(N) + 0.5 if weighs else None
    plan = {"tree": TREE, "n_rounds": 6, "learning_rate": 0.4, **more}
    found = boost_case(case, target, loss, weights, **plan)
    assert found.boosting.base == tuple(loss.bound(target, weights).base(target, weights).tolist())
    assert len(found.trees) == 6 * loss.n_scores
    assert np.array_equal(scores_of(found, case.cells), naive_rounds(case, loss, target, plan, weights))


@pytest.mark.parametrize("name", ["absolute_error", "quantile"])
def test_leaves_of_losses_without_curvature_are_quantiles(case, name):
    target, loss = target_of(case, name), loss_named(name)
    level = 0.3 if name == "quantile" else 0.5
    found = boost_case(case, target, loss, tree=TREE, n_rounds=1, learning_rate=1.0)
    base = found.boosting.base[0]
    said = scores_of(found, case.cells)[0]
    for value in np.unique(said):
        rows = target[said == value]
        assert np.count_nonzero(rows < value - 1e-9) <= level * len(rows) + 1e-9
        assert np.count_nonzero(rows > value + 1e-9) <= (1 - level) * len(rows) + 1e-9
    assert len(np.unique(said)) > 2
    assert np.count_nonzero(target < base) <= level * N


def test_several_outputs_put_their_scores_side_by_side(case):
    losses = (loss_named("squared_error"), loss_named("three quantiles"), loss_named("absolute_error"))
    targets = np.column_stack([np.roll(target_of(case, "squared_error"), 3 * at) for at in range(3)])
    for weights in (None, np.random.default_rng(1).random(N) + 0.5):
        together = boost_case(case, targets, losses, weights, tree=TREE, n_rounds=4)
        assert together.boosting.n_scores == 5
        begin = 0
        for at, loss in enumerate(losses):
            alone = boost_case(case, targets[:, at], loss, weights, tree=TREE, n_rounds=4)
            mine = np.arange(20).reshape(4, 5)[:, begin : begin + loss.n_scores].ravel()
            assert not packed_difference(take(together.trees, mine), alone.trees)
            assert together.boosting.base[begin : begin + loss.n_scores] == alone.boosting.base
            begin += loss.n_scores


def per_tree(packed: PackedTrees, of_leaves: np.ndarray) -> list[float]:
    """The sum over the leaves of each tree."""
    is_leaf = kind_of(packed.records) == LEAF_RECORD
    tree_of = np.repeat(np.arange(len(packed)), np.diff(packed.roots))
    return np.bincount(tree_of[is_leaf], of_leaves[child_of(packed.records[is_leaf])]).tolist()


def rows_per_tree(found: Boosted) -> list[float]:
    return per_tree(found.trees, leaf_samples_of(found.trees))


def weight_per_tree(found: Boosted) -> list[float]:
    return per_tree(found.trees, leaf_weights_of(found.trees))


def test_rounds_learn_from_the_rows_drawn(case):
    target = target_of(case, "squared_error")
    found = boost_case(case, target, loss_named("squared_error"), tree=TREE, n_rounds=4, subsample=0.25)
    drawn = rows_per_tree(found)
    assert len(set(drawn)) > 1
    assert np.mean(drawn) == pytest.approx(60, abs=4 * np.sqrt(N * 0.25 * 0.75 / 4))
    assert weight_per_tree(found) == drawn
    found = boost_case(
        case, target, loss_named("squared_error"), tree=TREE, n_rounds=5, learning_rate=0.5, sampling="gradient",
        top_rate=0.1, other_rate=0.3,
    )  # fmt: skip
    # Of 240 rows 24, and 72 of the other 216, which count for 3 each; the first two rounds learn from all.
    assert rows_per_tree(found) == [240, 240, 96, 96, 96]
    assert weight_per_tree(found) == [240.0] * 5


@pytest.mark.parametrize("sampling", ["gradient", "minimal_variance"])
@pytest.mark.parametrize("name", ["absolute_error", "quantile", "three quantiles"])
def test_rows_are_not_drawn_by_gradients_that_only_have_a_sign(case, name, sampling):
    with pytest.raises(ParameterError, match=rf"sampling='{sampling}' with loss '.*subsample"):
        boost_case(case, target_of(case, name), loss_named(name), tree=TREE, sampling=sampling)


@pytest.mark.parametrize("order", ["leaf", "level", "symmetric"])
def test_no_leaf_of_classes_adds_more_than_the_largest_step(case, order):
    target = (np.arange(N) == 7).astype(np.int32)  # one of many: Newton's step is 240
    loss = loss_named("two classes")
    tree = {**TREE, "order": order, "min_samples_leaf": 1, "min_child_weight": 0.0, "l2": 0.0}
    found = boost_case(case, target, loss, tree=tree, n_rounds=1, learning_rate=1.0)
    moved = scores_of(found, case.cells)[0] - found.boosting.base[0]
    assert moved.max() == loss.max_step == 5.0
    assert moved.min() >= -5.0
    start = 2 * loss.values(target, np.full((1, N), found.boosting.base[0])).sum()
    assert found.trees.importances.sum() <= start  # gains are of answers that are given


def test_noise_gains_nothing_where_every_step_is_too_large(case):
    target = np.random.default_rng(2).integers(0, 2, N).astype(np.int32)
    found = boost_case(
        case, target, loss_named("two classes"), base=[-12.0], n_rounds=1,
        tree={**TREE, "min_gain": 1.0, "l2": 0.0, "min_child_weight": 0.0},
    )  # fmt: skip
    assert found.trees.n_nodes == 1


def test_a_row_of_several_classes_is_drawn_for_all_of_them(case):
    found = boost_case(
        case, target_of(case, "four classes"), loss_named("four classes"), tree=TREE, n_rounds=3, subsample=0.5
    )
    of_rounds = np.array(rows_per_tree(found)).reshape(3, 4)
    assert (of_rounds == of_rounds[:, :1]).all()
    assert of_rounds.mean() == pytest.approx(120, abs=4 * np.sqrt(N * 0.25 / 3))


def test_seeds_draw_other_rows_and_columns_and_equal_seeds_the_same(case):
    target = target_of(case, "squared_error")
    plans: list[dict[str, Any]] = [{"subsample": 0.5}, {"tree": {**TREE, "features_per_tree": 0.4}}]
    for plan in plans:
        plan = {"tree": TREE, "n_rounds": 3, **plan}
        one, same, other = (
            boost_case(case, target, loss_named("squared_error"), seed=seed, **plan) for seed in (1, 1, 2)
        )
        assert not packed_difference(one.trees, same.trees)
        assert packed_difference(one.trees, other.trees)


def test_scores_begin_where_they_are_told_to(case):
    target = target_of(case, "squared_error")
    plan: dict[str, Any] = {"tree": TREE, "n_rounds": 1, "learning_rate": 1.0}
    found = boost_case(case, target, loss_named("squared_error"), base=[3.0], **plan)
    assert found.boosting.base == (3.0,)
    moved = boost_case(case, target - 3, loss_named("squared_error"), base=[0.0], **plan)
    assert not packed_difference(found.trees, moved.trees)


@pytest.mark.parametrize("base", [[], [1.0, 2.0], [np.nan], [np.inf]])
def test_beginnings_that_do_not_fit_are_refused(case, base):
    with pytest.raises(ParameterError, match="init"):
        boost_case(case, target_of(case, "squared_error"), loss_named("squared_error"), base=base, n_rounds=1)


def test_more_rounds_are_asked_for_than_there_are(case):
    target, loss = target_of(case, "squared_error"), loss_named("squared_error")
    first = boost_case(case, target, loss, tree=TREE, n_rounds=3)
    with pytest.raises(ParameterError, match="the model already has 3 rounds"):
        boost_case(case, target, loss, tree=TREE, n_rounds=3, start=(first.trees, first.boosting))


def test_gradients_that_are_no_numbers_end_the_growth_with_an_error(case):
    target, loss = target_of(case, "squared_error"), loss_named("squared_error")
    with pytest.raises(DataError, match="finite"):
        boost_case(case, target, loss, np.full(N, 1e30), base=[1e200], tree=TREE, n_rounds=1)


# What is told of the rounds.


def test_the_history_holds_the_loss_before_and_after_each_round(case):
    target, loss = target_of(case, "poisson"), loss_named("poisson")
    weights = np.random.default_rng(3).random(N) + 0.5
    other = BoostRows(padded(case.cells[:50]), target[:50, None], None)
    found = boost_case(case, target, loss, weights, tree=TREE, n_rounds=4, evaluation=Evaluation(other))
    history = found.history
    for number in range(5):
        part = replace(found, trees=take(found.trees, range(number))) if number else None
        scores = np.full((1, N), found.boosting.base[0]) if part is None else scores_of(part, case.cells)
        assert history.train[number] == pytest.approx(
            np.average(loss.values(target, scores), weights=weights), rel=1e-13
        )
        of_others = np.average(loss.values(target[:50], scores[:, :50]))
        assert history.validation[number] == pytest.approx(of_others, rel=1e-13)
    assert history.train[-1] < history.train[0]
    assert set(history.stages) == {"gradients", "histograms", "search", "partition", "update", "evaluation"}
    assert all(seconds >= 0 for seconds in history.stages.values())


def test_nothing_is_evaluated_unless_asked_for(case):
    found = boost_case(case, target_of(case, "squared_error"), loss_named("squared_error"), tree=TREE, n_rounds=4)
    assert found.history.train == found.history.validation == []
    assert found.history.best == 4


def test_a_history_of_more_rounds_goes_on(case):
    target, loss = target_of(case, "squared_error"), loss_named("squared_error")
    whole = boost_case(case, target, loss, tree=TREE, n_rounds=6, evaluation=Evaluation())
    first = boost_case(case, target, loss, tree=TREE, n_rounds=2, evaluation=Evaluation())
    rest = boost_case(
        case, target, loss, tree=TREE, n_rounds=6, evaluation=Evaluation(), start=(first.trees, first.boosting)
    )
    assert rest.history.train == whole.history.train[2:]
    assert whole.history.train[:3] == first.history.train


def scored(values: list[float], **more: Any) -> Evaluation:
    """An evaluation that answers with these numbers, round by round."""
    left = iter(values)
    return Evaluation(score=lambda _: next(left), **more)


@pytest.mark.parametrize(
    ("values", "patience", "tolerance", "best", "rounds"),
    [
        ([9, 5, 4, 6, 7, 8, 1], 3, 0.0, 2, 5),
        ([0, 5, 6, 7, 8, 9, 9], 2, 0.0, 1, 3),  # what was before any tree does not count
        ([9, 5, 4.9, 4.8, 4.7, 4.6, 4.5], 2, 0.5, 1, 3),
        ([9, 5, 4, 4, 4, 3, 9], 2, 0.0, 2, 4),  # equal is not better
        ([9, 6, 5, 4, 3, 2, 1], 1, 0.0, 6, 6),
        ([9, 1, 2, 3, 4, 5, 6], None, 0.0, 1, 6),
    ],
)
def test_the_growth_ends_after_rounds_without_a_better_value(case, values, patience, tolerance, best, rounds):
    told: list[Round] = []
    found = boost_case(
        case, target_of(case, "three quantiles"), loss_named("three quantiles"), tree=TREE, n_rounds=6,
        evaluation=scored([float(each) for each in values], patience=patience, tolerance=tolerance),
        callbacks=[told.append],
    )  # fmt: skip
    assert found.history.best == best
    assert found.history.train == values[: rounds + 1]
    assert len(found.trees) == 3 * (rounds if patience is None else best)
    assert [news.number for news in told] == list(range(1, rounds + 1))
    assert [news.train for news in told] == values[1 : rounds + 1]
    assert all(news.n_rounds == 6 and news.validation is None for news in told)


def test_more_rounds_stop_at_what_was_there_if_none_is_better(case):
    target, loss = target_of(case, "squared_error"), loss_named("squared_error")
    first = boost_case(case, target, loss, tree=TREE, n_rounds=2)
    rest = boost_case(
        case, target, loss, tree=TREE, n_rounds=9, start=(first.trees, first.boosting),
        evaluation=scored([1.0, 2.0, 3.0, 4.0], patience=2),
    )  # fmt: skip
    assert rest.history.best == 2
    assert rest.history.train == [1.0, 2.0, 3.0]
    assert not packed_difference(rest.trees, first.trees)


def test_a_callback_that_answers_true_ends_the_growth(case):
    told: list[Round] = []

    def stop(news: Round) -> bool:
        told.append(news)
        return news.number == 3

    found = boost_case(
        case, target_of(case, "squared_error"), loss_named("squared_error"), tree=TREE, n_rounds=10, callbacks=[stop]
    )
    assert len(found.trees) == 3
    assert found.history.best == 3
    assert [news.best for news in told] == [1, 2, 3]
    assert all(news.seconds >= 0 and news.seconds_left >= 0 for news in told)
    assert told[-1].train is None


def test_every_callback_is_told_even_if_another_ends_the_growth(case):
    told: list[int] = []
    boost_case(
        case, target_of(case, "squared_error"), loss_named("squared_error"), tree=TREE, n_rounds=5,
        callbacks=[lambda _: True, lambda news: told.append(news.number)],
    )  # fmt: skip
    assert told == [1]
