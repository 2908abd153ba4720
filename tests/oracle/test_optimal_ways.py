"""The ways to the optimum (sweeps, tried cuts, bits; with and without bounds by moved rows) find the same objective."""

import numpy as np
import pytest

from treewright.data.encoder import encode_fit
from treewright.grow.optimal.losses import class_loss
from treewright.grow.optimal.pairs import INF, sum_rows
from treewright.grow.optimal.search import Limits, Search
from treewright.grow.optimal.space import space_of
from treewright.grow.problem import class_problem

KINDS = {
    "bits": lambda rng, n: rng.integers(0, 2, n).astype(float).tolist(),
    "levels": lambda rng, n: [None if rng.random() < 0.1 else "abc"[v] for v in rng.integers(0, 3, n)],
    "numbers": lambda rng, n: [None if rng.random() < 0.1 else float(v) for v in rng.integers(0, 40, n)],
}


def without_bits(search):
    search.bits = None
    search.root = search.node(search.space.orders)


def without_sweeps(search):
    without_bits(search)
    nothing = np.zeros((2, 0), np.int64)
    search.scratch = search.scratch._replace(best=nothing)


def without_moved_rows(search):
    without_bits(search)
    search.is_bounded = False


def objective_of(search, tree):
    """The objective of a finished tree, from its rows."""
    total, waiting = 0, [(tree, search.root.rows)]
    while waiting:
        node, rows = waiting.pop()
        if node is None:
            total += int(sum_rows(search.loss, rows.astype(np.int32), search.sums)) + search.rules.price
        else:
            assert sorted([*node.left_rows, *node.right_rows]) == sorted(rows)
            waiting += [(node.left, node.left_rows), (node.right, node.right_rows)]
    return total


def searches(kind, seed, *ways):
    """The search as it is, and others that lack something, each with what it found."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 70)), int(rng.integers(2, 5))
    schema, matrix = encode_fit({f"x{at}": KINDS[kind](rng, n) for at in range(p)})
    codes = rng.permutation(np.arange(n) % 2).astype(np.int32)
    problem = class_problem(matrix, schema, codes[:, None], [2], None, "direction")
    loss, unit = class_loss(codes, 2, None, "misclassification")
    depth = 3 if kind == "numbers" else 4
    limits = Limits(depth, int(rng.choice([2**depth, 5, 6])), price=max(1, round(float(rng.choice([0, 0.5])) / unit)))
    for way in (lambda search: None, *ways):
        search = Search(space_of(problem), loss, limits, has_subsets=True)
        way(search)
        yield search, search.run(None, INF)


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_finds_the_same_objective_and_the_tree_that_has_it(kind):
    for seed in range(8):
        ways = [without_bits, without_sweeps, without_moved_rows]
        found = list(searches(kind, seed, *ways))
        assert len({search.goal(each.objective) for search, each in found}) == 1  # ties may have other leaves
        assert all(each.lower == each.objective == objective_of(search, each.tree) for search, each in found)


def test_a_search_that_forgets_finds_the_same(monkeypatch):
    ((_, kept),) = searches("numbers", 3)
    monkeypatch.setattr("treewright.grow.optimal.search._MOST_KEPT", 2000)
    ((_, forgotten),) = searches("numbers", 3)
    assert forgotten.objective == forgotten.lower == kept.objective


def test_a_search_that_is_stopped_has_a_tree_within_its_bounds():
    for seed in range(4):
        ((search, whole),) = searches("numbers", seed)
        for most in (1, 5, 20):
            stopped = Search(search.space, search.loss, Limits(3, 8, price=search.rules.price, max_search=most), True)
            found = stopped.run(None, INF)
            assert found.lower <= min(found.objective, whole.objective if search.limits.max_leaves == 8 else INF)
            assert objective_of(stopped, found.tree) == found.objective
