"""Trees that are optimal in their first levels and greedy below have the least objective of all such trees."""

from dataclasses import replace

import numpy as np
import pytest
from naive_lookahead import LookaheadTwin
from naive_optimal import CLASS_LOSSES
from rotating import few
from test_optimal_against_twin import EQUAL, LOSSES, Case, drawn

import treewright as tw
from treewright.data.encoder import encode_fit
from treewright.exceptions import DataWarning
from treewright.grow.optimal.completion import VALUE
from treewright.grow.optimal.grower import branching_of
from treewright.grow.optimal.lookahead import Lookahead
from treewright.grow.optimal.losses import class_loss, number_loss
from treewright.grow.optimal.pairs import CUT, FIRST_LEVELS, INF, ONE_LEVEL, WITH_MISSING, sum_rows
from treewright.grow.optimal.search import Limits
from treewright.grow.optimal.space import space_of
from treewright.grow.problem import class_problem, number_problem
from treewright.learn import optimal
from treewright.trees.codec import dumps

SEEDS = few(range(200), 12)


def looked_ahead(seed: int, loss: str) -> tuple[Case, int]:
    """A case without a limit of leaves, and the levels that are searched."""
    case = drawn(seed, loss, ("numeric", "ordinal", "nominal"))
    levels, below = (int(size) for size in np.random.default_rng(seed).integers(1, 3, 2))
    return replace(case, limits=replace(case.limits, max_depth=levels + below, max_leaf_nodes=None)), levels


def differences(seed: int, loss: str) -> tuple[list[str], bool]:
    """What is not as the twin has it, in words; and whether the twin has one objective."""
    case, levels = looked_ahead(seed, loss)
    est = case.fitted(optimal_depth=levels, max_search=None)
    of_leaves, n_leaves = case.loss_of(est)
    total = sum(case.twin.weights)
    own = of_leaves + case.limits.ccp_alpha * total * n_leaves
    near = EQUAL * max(1.0, own)
    least, most = LookaheadTwin(case.twin, case.limits, levels).best()
    wrong = []
    if not least - near <= own <= most + near:
        wrong.append(f"objective {own}, the twin has {least} to {most}")
    if abs(est.objective_ * total - own) > near:
        wrong.append(f"objective_ is {est.objective_ * total}, the leaves have {own}")
    if not est.proven_ or est.get_depth() > case.limits.max_depth:
        wrong.append("it is not proven, or too deep")
    of_all = case.fitted(max_search=None)
    if est.lower_bound_ * total > of_all.objective_ * total + near:
        wrong.append(f"lower_bound_ is {est.lower_bound_}, a tree has {of_all.objective_}")
    return wrong, most - least <= near


@pytest.fixture
def alone(monkeypatch):
    """The search does not begin with CART's trees, which may have any sets of levels."""
    monkeypatch.setattr(optimal, "_known", lambda *_: [])


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("loss", LOSSES)
def test_no_other_first_levels_have_a_smaller_objective(loss):
    is_single = []
    for seed in SEEDS:
        wrong, is_one = differences(seed, loss)
        assert not wrong, seed
        is_single.append(is_one)
    assert any(is_single)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("loss", LOSSES)
def test_the_proof_tries_the_least_promising_tests_too(loss, monkeypatch):
    promised = Lookahead._by_promise
    monkeypatch.setattr(Lookahead, "_by_promise", lambda search: promised(search)[::-1].copy())
    for seed in SEEDS:
        assert not differences(seed, loss)[0], seed


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("loss", LOSSES)
def test_no_other_first_levels_of_many_tables_have_a_smaller_objective(loss):
    for seed in range(1000, 1300):
        assert not differences(seed, loss)[0], seed


def greedy_search(seed: int, loss_name: str, depth: int, *, n_classes: int = 2) -> tuple[Lookahead, tuple]:
    """A search of no level, whose root has a completion; and its table, target and weights, with hardly any ties."""
    rng = np.random.default_rng(seed)
    n = 120
    numbers = rng.normal(size=(2, n))
    numbers[0, rng.random(n) < 0.2] = np.nan
    levels = [None if rng.random() < 0.15 else "abcdef"[at] for at in rng.integers(0, 6, n)]
    table = {"gone": numbers[0].tolist(), "number": numbers[1].tolist(), "level": levels}
    weights = rng.uniform(1.0, 2.0, n)
    schema, matrix = encode_fit(table)
    if loss_name in CLASS_LOSSES:
        y = rng.permutation(np.arange(n) % n_classes).astype(np.int32)
        problem = class_problem(matrix, schema, y[:, None], [n_classes], weights, "direction")
        loss, _ = class_loss(y, n_classes, weights, loss_name)
    else:
        y = rng.gamma(2.0, size=n)
        problem = number_problem(matrix, schema, y[:, None], weights, "direction")
        loss, _ = number_loss(y, weights, loss_name)
    has_subsets = n_classes == 2
    search = Lookahead(space_of(problem), loss, Limits(depth, 2**depth, price=1), has_subsets, 0)
    return search, (table, y, weights)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_completion_is_carts_tree_pruned_by_the_objective(loss):
    for seed in SEEDS:
        search, (table, y, weights) = greedy_search(seed, loss, depth=3)
        is_class = loss in CLASS_LOSSES
        criterion = "gini" if loss == "misclassification" else loss
        kind = tw.DecisionTreeClassifier if is_class else tw.DecisionTreeRegressor
        cart = kind(criterion=criterion, max_depth=3).fit(table, y, sample_weight=weights)
        _, objective = branching_of(search.space, search.loss, cart.tree_, search.limits)

        search._grow(search.root)

        assert search.nodes[0, VALUE] == objective, seed


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_test_divides_the_rows_as_it_was_scored(n_classes):
    search, _ = greedy_search(1, "gini", depth=1, n_classes=n_classes)
    search._known_of(search.root, 0)
    scores = search.work.scores.copy()
    scored = np.flatnonzero(scores < INF)
    sums = np.zeros(search.loss.n_sums, np.int64)
    for test in scored.tolist():
        sides = search._sides(search.root, test)
        assert sum(sum_rows(search.criterion, side.rows, sums) for side in sides) == scores[test], test
    kinds = {CUT, ONE_LEVEL, WITH_MISSING} | ({FIRST_LEVELS} if n_classes == 2 else set())
    assert set(search.bins.tests[scored, 1].tolist()) == kinds


def test_a_table_without_tests_is_a_leaf():
    with pytest.warns(DataWarning, match="constant"):
        est = tw.OptimalTreeClassifier(optimal_depth=1).fit({"same": [1, 1, 1]}, ["a", "b", "b"])
    assert (est.get_n_leaves(), est.proven_, est.gap_) == (1, True, 0.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_order_of_rows_and_threads_do_not_change_the_bytes(loss):
    for seed in SEEDS[:5]:
        case, levels = looked_ahead(seed, loss)
        few_completions = {"optimal_depth": levels, "max_search": 12}
        first = dumps(case.fitted(**few_completions).model_)
        order = np.random.default_rng(seed).permutation(len(case.y))
        assert dumps(case.fitted(order, **few_completions).model_) == first, f"seed {seed}, other rows first"
        assert dumps(case.fitted(n_jobs=3, **few_completions).model_) == first, f"seed {seed}, 3 threads"
