"""Optimal trees have the least loss of all trees that a slow twin can build, and say what they have."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl
import pytest
from naive_optimal import (
    CLASS_LOSSES,
    NUMBER_LOSSES,
    EveryTree,
    Sets,
    Twin,
    TwinColumn,
    TwinLimits,
    TwinTable,
    fewest_leaves,
)
from rotating import few

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.grow.optimal import consistent, search
from treewright.learn import optimal
from treewright.trees.codec import dumps

SEEDS = few(range(60), 6)
EQUAL = 1e-9  # a loss is rounded once a leaf
TINY = 1e-6  # a price that only decides between trees of equal loss
LOSSES = (*CLASS_LOSSES, *NUMBER_LOSSES)
LETTERS = "abcd"


@dataclass
class Case:
    """A table in both forms, and limits."""

    twin: TwinTable
    limits: TwinLimits
    X: pl.DataFrame
    y: np.ndarray
    weights: np.ndarray | None
    ordinal: dict[str, list[str]]

    def fitted(self, order: np.ndarray | None = None, n_jobs: int = 1, **more):
        """The estimator, fitted to the rows in an order."""
        order = np.arange(len(self.y)) if order is None else order
        kind = tw.OptimalTreeClassifier if self.twin.loss in CLASS_LOSSES else tw.OptimalTreeRegressor
        est = kind(criterion=self.twin.loss, n_jobs=n_jobs, ordinal=self.ordinal or None, **asdict(self.limits), **more)
        return self._fit(est, order)

    def greedy(self):
        """CART within the same limits."""
        kind = tw.DecisionTreeClassifier if self.twin.loss in CLASS_LOSSES else tw.DecisionTreeRegressor
        est = kind(criterion=self.twin.loss, ordinal=self.ordinal or None, **asdict(self.limits))
        return self._fit(est, np.arange(len(self.y)))

    def _fit(self, est, order):
        weights = None if self.weights is None else self.weights[order]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # constant columns, columns that are missing as a whole
            return est.fit(self.X[order], self.y[order], sample_weight=weights)

    def loss_of(self, est) -> tuple[float, int]:
        """The sum of the losses of the leaves that the rows reach, and how many these are."""
        leaves = np.asarray(est.apply(self.X)).ravel()
        groups = [frozenset(np.flatnonzero(leaves == leaf).tolist()) for leaf in np.unique(leaves)]
        return sum(map(self.twin.leaf_loss, groups)), len(groups)


def drawn(seed: int, loss: str, kinds: tuple[str, ...]) -> Case:
    """A table of few distinct values, so that ties are the rule."""
    rng = np.random.default_rng([seed, LOSSES.index(loss), len(kinds)])
    n = int(rng.integers(4, 13))
    columns, frame, ordinal = [], {}, {}
    for at in range(int(rng.integers(1, 4))):
        kind = str(rng.choice(kinds))
        size = int(rng.integers(1, len(LETTERS) + 1 if kind != "numeric" else 9))
        gone = rng.random(n) < rng.choice([0.0, 0.0, 0.2, 0.4])
        gone[0] = False
        cells = [None if is_gone else int(cell) for cell, is_gone in zip(rng.integers(0, size, n), gone, strict=True)]
        columns.append(TwinColumn(cells, kind == "nominal"))
        name = f"x{at}"
        frame[name] = pl.Series(
            [None if cell is None else float(cell) if kind == "numeric" else LETTERS[cell] for cell in cells],
            dtype=pl.Float64 if kind == "numeric" else pl.String,
        )
        if kind == "ordinal":
            ordinal[name] = list(LETTERS)
    n_classes = int(rng.integers(2, 4)) if loss in CLASS_LOSSES else int(rng.choice([2, 4, 30]))
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    weights = [None, rng.integers(1, 4, n).astype(float)][rng.integers(2)]
    limits = TwinLimits(
        max_depth=int(rng.choice([1, 2, 3, 3, 3])),
        max_leaf_nodes=[None, None, 2, 3, 5, 6][rng.integers(6)],
        min_samples_leaf=int(rng.choice([1, 1, 2, 3])),
        min_weight_fraction_leaf=float(rng.choice([0.0, 0.0, 0.13])),
        ccp_alpha=float(rng.choice([0.0, TINY, 0.03, 0.11])),
    )
    whole = [1] * n if weights is None else [int(weight) for weight in weights]
    twin = TwinTable(columns, y.tolist(), whole, loss)
    target = y if loss in CLASS_LOSSES else y.astype(float)
    return Case(twin, limits, pl.DataFrame(frame), target, weights, ordinal)


def differences(case: Case, *, is_alone: bool = False) -> list[str]:
    """What is not as the twin has it, in words; alone, the search does not begin with CART's trees."""
    est = case.fitted()
    loss, n_leaves = case.loss_of(est)
    total = sum(case.twin.weights)
    own = loss + case.limits.ccp_alpha * total * n_leaves
    near = EQUAL * max(1.0, own)
    wrong = []
    if not est.proven_:
        wrong.append("it is not proven")
    if abs(est.objective_ * total - own) > near:
        wrong.append(f"objective_ is {est.objective_ * total}, the leaves have {own}")
    if est.lower_bound_ != est.objective_:
        wrong.append(f"proven, but the bound is {est.lower_bound_}, the objective {est.objective_}")
    if any(column.is_nominal for column in case.twin.columns):
        # CART, with which the search begins, may have sets of levels anywhere. Sets in the order of their means are
        # the best of all sets without limits of the leaves, and for two classes or numbers.
        is_limited = case.limits.min_samples_leaf > 1 or case.limits.min_weight_fraction_leaf > 0.0
        is_ordered = case.twin.loss in NUMBER_LOSSES or len(set(case.twin.target)) == 2
        least = Twin(case.twin, case.limits, Sets.EVERYWHERE).best()[0]
        above = Sets.ABOVE_LEAVES if is_ordered and not is_limited else Sets.NOWHERE
        most, fewest = Twin(case.twin, case.limits, above).best()
        least = most if is_alone and not (is_limited and is_ordered) else least
        if not least - near <= own <= most + near:
            wrong.append(f"objective {own}, the twin has {least} to {most}")
    else:
        most, fewest = Twin(case.twin, case.limits, Sets.NOWHERE).best()
        if abs(own - most) > near:
            wrong.append(f"objective {own}, the twin has {most}")
        elif case.twin.loss == "misclassification" and case.limits.ccp_alpha == TINY and n_leaves != fewest:
            wrong.append(f"{n_leaves} leaves, the twin has {fewest}")
    of_greedy, leaves_of_greedy = case.loss_of(case.greedy())
    if not is_alone and own > of_greedy + case.limits.ccp_alpha * total * leaves_of_greedy + near:
        wrong.append(f"objective {own}, CART has {of_greedy}")
    predicted = np.asarray(est.predict(case.X))
    weights = np.array(case.twin.weights)
    if case.twin.loss == "misclassification" and abs((weights * (predicted != case.y)).sum() - loss) > near:
        wrong.append("the predictions have another number of errors than the leaves")
    if case.twin.loss == "squared_error" and abs((weights * (predicted - case.y) ** 2).sum() - loss) > near:
        wrong.append("the predictions have another squared error than the leaves")
    return wrong


@pytest.mark.parametrize("kinds", [("numeric", "ordinal"), ("numeric", "ordinal", "nominal")], ids=["ordered", "mixed"])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_tree_has_less_loss(loss, kinds):
    for seed in SEEDS:
        assert not differences(drawn(seed, loss, kinds)), seed


@pytest.fixture
def alone(monkeypatch):
    """Only the proof finds trees: neither CART's trees nor the passes before it do."""
    monkeypatch.setattr(optimal, "_known", lambda *_: [])
    monkeypatch.setattr(search, "_WIDTHS", ())
    monkeypatch.setattr(consistent, "_WIDTHS", ())


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("kinds", [("numeric", "ordinal"), ("numeric", "ordinal", "nominal")], ids=["ordered", "mixed"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_proof_alone_finds_the_least_loss(loss, kinds):
    for seed in SEEDS:
        assert not differences(drawn(seed, loss, kinds), is_alone=True), seed


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("numeric", "ordinal"), ("numeric", "ordinal", "nominal")], ids=["ordered", "mixed"])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_tree_of_many_tables_has_less_loss(loss, kinds):
    for seed in range(1000, 1150):
        assert not differences(drawn(seed, loss, kinds)), seed


@pytest.mark.parametrize("loss", LOSSES)
def test_order_of_rows_and_threads_do_not_change_the_bytes(loss):
    for seed in SEEDS:
        case = drawn(seed, loss, ("numeric", "ordinal", "nominal"))
        first = dumps(case.fitted().model_)
        order = np.random.default_rng(seed).permutation(len(case.y))
        assert dumps(case.fitted(order).model_) == first, f"seed {seed}, other rows first"
        for n_jobs in (2, 3):
            assert dumps(case.fitted(n_jobs=n_jobs).model_) == first, f"seed {seed}, {n_jobs} threads"


def smallest(case: Case, order: np.ndarray | None = None, **given):
    """The smallest consistent tree of the rows in an order."""
    order = np.arange(len(case.y)) if order is None else order
    est = tw.OptimalTreeClassifier(objective="smallest", ordinal=case.ordinal or None, **given)
    return case._fit(est, order)


def consistent_cases(kinds: tuple[str, ...], seeds: range | list[int]) -> list[Case]:
    """Tables without contradictions."""
    cases = [drawn(seed, "misclassification", kinds) for seed in seeds]
    return [case for case in cases if fewest_leaves(case.twin, len(case.y), Sets.NOWHERE) < math.inf]


def faults_of_smallest(case: Case, max_depth: int | None, *, is_alone: bool = False) -> list[str]:
    """What is not as the twin has it; CART may have sets of levels anywhere."""
    is_ordered = len(set(case.twin.target)) == 2
    depth = max_depth or len(case.y)
    most = fewest_leaves(case.twin, depth, Sets.ABOVE_LEAVES if is_ordered else Sets.NOWHERE)
    least = most if is_alone else fewest_leaves(case.twin, depth, Sets.EVERYWHERE)
    try:
        est = smallest(case, max_depth=max_depth)
    except ParameterError as error:
        return [] if most == math.inf else [str(error)]
    wrong = []
    if not least <= est.get_n_leaves() <= most:
        wrong.append(f"{est.get_n_leaves()} leaves, the twin has {least} to {most}")
    if not est.proven_ or not est.objective_ == est.lower_bound_ == est.get_n_leaves():
        wrong.append(f"objective {est.objective_}, bound {est.lower_bound_}, {est.get_n_leaves()} leaves")
    if max_depth is not None and est.get_depth() > max_depth:
        wrong.append(f"depth {est.get_depth()}")
    if (np.asarray(est.predict(case.X)) != case.y).any():
        wrong.append("it has errors on the training rows")
    return wrong


MIXED = ("numeric", "ordinal", "nominal")


@pytest.mark.parametrize("max_depth", [None, 2, 3])
def test_no_consistent_tree_has_fewer_leaves(max_depth):
    cases = few(consistent_cases(MIXED, range(120)), 8)
    assert len(cases) >= 8
    for case in cases:
        assert not faults_of_smallest(case, max_depth), case


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("max_depth", [None, 2, 3])
def test_the_proof_alone_finds_the_fewest_leaves(max_depth):
    for case in consistent_cases(MIXED, few(range(120), 30)):
        assert not faults_of_smallest(case, max_depth, is_alone=True), case


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("limit", "value"), [("_MOST_KEPT", 2000), ("_MOST_APART", 3)])
def test_a_search_that_keeps_and_compares_less_finds_the_fewest_leaves(limit, value, monkeypatch):
    monkeypatch.setattr(consistent, limit, value)
    for case in consistent_cases(MIXED, few(range(120), 20)):
        assert not faults_of_smallest(case, None, is_alone=True), case


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("max_depth", [None, 2, 3])
def test_the_proof_alone_finds_the_fewest_leaves_of_many_tables(max_depth):
    for case in consistent_cases(MIXED, range(1000, 1600)):
        assert not faults_of_smallest(case, max_depth, is_alone=True), case


@pytest.mark.parametrize("max_search", [None, 2, 5])
def test_order_of_rows_does_not_change_the_bytes_of_the_smallest_tree(max_search):
    for case in consistent_cases(MIXED, few(range(120), 20)):
        order = np.random.default_rng(0).permutation(len(case.y))
        own, other = smallest(case, max_search=max_search), smallest(case, order, max_search=max_search)
        assert dumps(own.model_) == dumps(other.model_), case


def test_weights_do_not_change_the_leaves_of_the_smallest_tree():
    for case in consistent_cases(MIXED, few(range(120), 20)):
        plain, weighted = replace(case, weights=None), replace(case, weights=np.arange(1.0, len(case.y) + 1.0))
        assert smallest(plain).get_n_leaves() == smallest(weighted).get_n_leaves(), case


def test_a_stopped_search_has_a_consistent_tree_and_a_bound():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 6, (80, 4))
    y = np.random.default_rng(1).integers(0, 2, 6**4)[X @ [216, 36, 6, 1]]
    est = tw.OptimalTreeClassifier(objective="smallest", max_search=20).fit(X, y)
    assert est.score(X, y) == 1.0
    assert not est.proven_
    assert 2 < est.lower_bound_ < est.objective_ == est.get_n_leaves()


@pytest.mark.usefixtures("alone")
def test_the_smallest_tree_may_end_with_a_set_of_levels():
    est = tw.OptimalTreeClassifier(objective="smallest").fit(pl.DataFrame({"x": list("abcd")}), [0, 1, 0, 1])
    assert est.get_n_leaves() == 2


@pytest.mark.usefixtures("alone")
def test_missing_cells_may_join_a_level_in_the_smallest_tree():
    X = pl.DataFrame({"x": ["a", None, "b", "c"]})
    est = tw.OptimalTreeClassifier(objective="smallest").fit(X, [0, 0, 1, 2])
    assert est.get_n_leaves() == 3
    Y = pl.DataFrame({"x": ["a", None, "b", "c"] * 2, "z": [0] * 4 + [1] * 4})
    est = tw.OptimalTreeClassifier(objective="smallest").fit(Y, [0, 0, 1, 1, 2, 2, 2, 2])
    assert est.get_n_leaves() == 3


def test_order_of_rows_does_not_change_a_stopped_search():
    rng = np.random.default_rng(5)
    X = rng.permutation(np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3))
    y = rng.integers(0, 3, len(X))
    order = rng.permutation(len(y))
    for max_search in (3, 30, 300):
        est = tw.OptimalTreeClassifier(objective="smallest", max_search=max_search)
        first = dumps(est.fit(X, y).model_)
        assert not est.proven_
        assert dumps(est.fit(X[order], y[order]).model_) == first, max_search


def near_differences(seed: int, loss: str, kinds: tuple[str, ...]) -> list[str]:
    """Where the trees within some tolerances are not those of the twin, in words."""
    case = drawn(seed, loss, kinds)
    case.limits.max_depth = min(case.limits.max_depth, 2 if len(case.y) > 9 else 3)  # the twin lists every tree
    est = case.fitted()
    has_means = loss in NUMBER_LOSSES or len(set(case.twin.target)) == 2
    every = EveryTree(case.twin, case.limits, has_means).trees()
    total = sum(case.twin.weights)
    least = min(value for value, *_ in every)
    wrong = []
    for tolerance, extra in ((0.0, 0.0), (0.25, 0.0), (1.0, 0.0), (0.0, 0.1)):
        bound = least * (1.0 + tolerance) + extra * total + EQUAL * max(1.0, least)
        within = sorted(tree for tree in every if tree[0] <= bound)
        near = est.near_optimal(tolerance=tolerance, extra_loss=extra, distinct="tests", max_trees=40)
        if near.n_trees != len(within):
            wrong.append(f"{near.n_trees} trees, the twin has {len(within)}")
            continue
        if not np.allclose(np.array(near.objectives) * total, [value for value, *_ in within[:40]], rtol=0, atol=1e-8):
            wrong.append(f"other objectives: {near.objectives}, the twin has {within[:40]}")
        for model, objective in zip(near, near.objectives, strict=True):
            own, n_leaves = case.loss_of(model)
            if abs(own + case.limits.ccp_alpha * total * n_leaves - objective * total) > 1e-8:
                wrong.append(f"a tree has {own}, its objective is {objective * total}")
        for at, column in enumerate(near.columns):
            if column.n_trees != sum(at in columns for *_, columns in within):
                wrong.append(f"column {at} is in {column.n_trees} trees")
            if abs(column.root_share * len(within) - sum(columns[0] == at for *_, columns in within)) > 1e-6:
                wrong.append(f"column {at} is first in {column.root_share}")
        arranged = Counter(columns for *_, columns in within)
        listed = est.near_optimal(tolerance=tolerance, extra_loss=extra, distinct="columns", max_trees=40)
        if listed.n_distinct != len(arranged):
            wrong.append(f"{listed.n_distinct} arrangements, the twin has {len(arranged)}")
        for model, n_alike, objective in zip(listed, listed.n_alike, listed.objectives, strict=True):
            columns = columns_of(model.trees[0])
            if n_alike != arranged[columns]:
                wrong.append(f"{n_alike} trees have the columns {columns}, the twin has {arranged[columns]}")
            best = min(value for value, _, own in within if own == columns)
            if abs(objective * total - best) > 1e-8:
                wrong.append(f"the best tree of {columns} has {objective * total}, that of the twin {best}")
    return wrong


def columns_of(tree, node=0) -> tuple[int, ...]:
    """The columns of a tree, a parent before its sides; -1 is a leaf."""
    if tree.is_leaf[node]:
        return (-1,)
    first = int(tree.first_child[node])
    return int(tree.feature[node]), *columns_of(tree, first), *columns_of(tree, first + 1)


@pytest.mark.parametrize("kinds", [("numeric", "ordinal"), ("numeric", "ordinal", "nominal")], ids=["ordered", "mixed"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_trees_near_the_optimum_are_those_of_the_twin(loss, kinds):
    for seed in SEEDS[:4]:
        assert not near_differences(seed, loss, kinds), seed


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("numeric", "ordinal"), ("numeric", "ordinal", "nominal")], ids=["ordered", "mixed"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_trees_near_the_optimum_of_many_tables_are_those_of_the_twin(loss, kinds):
    for seed in range(1000, 1100):
        assert not near_differences(seed, loss, kinds), seed
