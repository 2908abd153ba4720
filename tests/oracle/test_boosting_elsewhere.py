"""Rows that lie elsewhere, cut into any parts and in any order, grow the trees that they grow here, byte for byte."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from rotating import crossed

from treewright.boosting.distributed import Part, boost_distributed
from treewright.boosting.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    Loss,
    ManyClasses,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
    TwoClasses,
)
from treewright.boosting.rounds import Boosted, BoostRows, BoostSettings, BoostTable, Evaluation, boost
from treewright.boosting.sampling import names_of_rows
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.dataset import Here
from treewright.data.encoder import encode_fit
from treewright.exceptions import DataError, ParameterError
from treewright.grow.settings import GradientSettings

N = 900
RNG = np.random.default_rng(0)
CELLS = {
    "a": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
    "b": RNG.integers(0, 9, N).astype(float),
    "c": RNG.choice(list("xyzw"), N),
    "d": RNG.choice([f"l{at}" for at in range(40)], N),
    "e": RNG.exponential(size=N),
}
SAME = np.concatenate((np.arange(700), RNG.integers(0, 100, N - 700)))  # a hundred rows stand there several times
CELLS = {name: cells[SAME] for name, cells in CELLS.items()}
SCHEMA, MATRIX = encode_fit(CELLS)
BINS = bins_of(MATRIX, SCHEMA)
CODES = bin_rows(BINS, MATRIX)
TABLE = BoostTable(BINS, SCHEMA, np.array([False, False, False, True, False]))
NUMBERS = np.nan_to_num(CELLS["a"]) + (CELLS["c"] == "x") + CELLS["b"] / 5 + (RNG.normal(size=N) * 0.3)[SAME]
TARGETS: dict[str, tuple[Loss, np.ndarray]] = {
    "squared error": (SquaredError(), NUMBERS),
    "poisson": (Poisson(), np.exp(NUMBERS / 2)),
    "gamma": (Gamma(), np.exp(NUMBERS)),
    "tweedie": (Tweedie(power=1.3), np.maximum(NUMBERS, 0.0)),
    "huber": (Huber(delta=1.0), NUMBERS),
    "two classes": (TwoClasses(), (NUMBERS > 1.0).astype(np.int32)),
    "three classes": (ManyClasses(3), np.digitize(NUMBERS, np.quantile(NUMBERS, [0.3, 0.6])).astype(np.int32)),
}
WEIGHTS = {"none": None, "whole": RNG.integers(1, 4, N).astype(float), "any": RNG.random(N) + 0.1}
CONTENTS = RNG.integers(0, 2**64, N, dtype=np.uint64)[SAME]
LEAF = GradientSettings(max_leaf_nodes=15, min_samples_leaf=10)
PLANS: dict[str, dict[str, Any]] = {
    "leaf": {"tree": LEAF},
    "by level": {"tree": GradientSettings(order="level", max_leaf_nodes=None, max_depth=4, min_samples_leaf=30)},
    "whole trees": {"tree": GradientSettings(max_leaf_nodes=None, max_depth=None, min_samples_leaf=10)},
    "drawn": {"tree": LEAF, "subsample": 0.5},
    "columns": {"tree": dataclasses.replace(LEAF, features_per_tree=0.8, features_per_node=0.7, l1=0.1, l2=2.0)},
    "bounded": {
        "tree": dataclasses.replace(LEAF, monotone=(1, -1, 0, 0, 0), interactions=((0, 2), (1, 3, 4)), min_gain=1e-3)
    },
}


def parts_of(target: np.ndarray, weights: np.ndarray | None, cuts: list[int], n_threads: int = 1) -> Here:
    """The rows shuffled, and cut into parts."""
    order = np.random.default_rng(len(cuts)).permutation(N)
    return Here(
        [
            Part(
                CODES[rows], len(SCHEMA), [target[rows]], None if weights is None else weights[rows], CONTENTS[rows],
                n_threads, number,
            )
            for number, rows in enumerate(np.split(order, cuts))
        ]
    )  # fmt: skip


def rows_here(
    target: np.ndarray, weights: np.ndarray | None, of_classes: np.ndarray | None, *, drawn: bool
) -> BoostRows:
    """All rows in one table; where rows are sampled, a row of a whole weight stands there as often."""
    rows = np.arange(N)
    if drawn and weights is not None and (weights == np.rint(weights)).all():
        rows, weights = np.repeat(rows, weights.astype(int)), None
    names = names_of_rows(CONTENTS[rows], weights)
    return BoostRows(CODES[rows], target[rows, None], weights, None if of_classes is None else of_classes[rows], names)


def arrays_of(boosted: Boosted) -> dict[str, bytes]:
    arrays = {name: value for name, value in vars(boosted.trees).items() if isinstance(value, np.ndarray)}
    assert len(arrays) > 5
    return {name: array.tobytes() for name, array in arrays.items()}


def settings_of(loss: Loss, plan: dict[str, Any]) -> BoostSettings:
    return BoostSettings((loss,), n_rounds=5, learning_rate=0.3, seed=3, **plan)


@pytest.mark.parametrize(
    ("name", "weighted", "plan"), crossed((name for name in TARGETS if name != "huber"), WEIGHTS, PLANS)
)
def test_trees_of_rows_elsewhere_are_those_of_rows_here(name, weighted, plan):
    loss, target = TARGETS[name]
    weights, is_classes = WEIGHTS[weighted], target.dtype == np.int32
    n_classes = (max(loss.n_scores, 2),) if is_classes else ()
    factors = [np.array([1.5, 0.7, 1.0])[: n_classes[0]]] if is_classes and plan in ("drawn", "columns") else None
    of_classes = None if factors is None else factors[0][target].astype(np.float32).astype(np.float64)
    settings = settings_of(loss, PLANS[plan])

    here = boost(TABLE, rows_here(target, weights, of_classes, drawn=plan == "drawn"), settings)

    for cuts, n_threads in (([], 2), ([300, 600], 1), ([0, 0, 1, 2, N - 7, N], 1)):
        carrier = parts_of(target, weights, cuts, n_threads)
        elsewhere = boost_distributed(TABLE, carrier, settings, factors, n_classes)
        assert arrays_of(elsewhere) == arrays_of(here)
        assert elsewhere.boosting == here.boosting


def test_blocks_of_rows_change_nothing(monkeypatch):
    loss, target = TARGETS["two classes"]
    settings = settings_of(loss, PLANS["leaf"])
    here = boost(TABLE, BoostRows(CODES, target[:, None]), settings)
    monkeypatch.setattr("treewright.boosting.distributed._BLOCK_ROWS", 7)
    elsewhere = boost_distributed(TABLE, parts_of(target, None, [400], n_threads=3), settings, None, (2,))
    assert arrays_of(elsewhere) == arrays_of(here)


def test_nodes_are_asked_for_together(monkeypatch):
    loss, target = TARGETS["squared error"]
    settings = settings_of(loss, PLANS["leaf"])
    carrier, asked = parts_of(target, None, []), list[str]()
    monkeypatch.setattr(carrier, "ask", lambda what, *given: (asked.append(what), Here.ask(carrier, what, *given))[1])
    together = boost_distributed(TABLE, carrier, settings)
    n_together = asked.count("split")
    asked.clear()
    monkeypatch.setattr("treewright.grow.gradient.elsewhere._MOST_AT_ONCE", 0)
    alone = boost_distributed(TABLE, carrier, settings)
    assert arrays_of(alone) == arrays_of(together)
    assert asked.count("split") == (together.trees.n_nodes - 5) // 2  # every test is asked for by itself
    assert n_together < 0.6 * asked.count("split")


def test_questions_and_answers_can_be_carried():
    loss, target = TARGETS["three classes"]
    settings, n_classes = settings_of(loss, PLANS["drawn"]), (3,)

    class Pickled(Here):
        def ask(self, what: str, *given: Any) -> list[Any]:
            return pickle.loads(pickle.dumps(Here.ask(self, *pickle.loads(pickle.dumps((what, *given))))))

    carrier = parts_of(target, None, [300])
    one, other = (
        boost_distributed(TABLE, each, settings, None, n_classes) for each in (carrier, Pickled(carrier.parts))
    )
    assert arrays_of(one) == arrays_of(other)


def test_rows_that_are_here_judge_the_rounds():
    loss, target = TARGETS["two classes"]
    settings = BoostSettings((loss,), LEAF, n_rounds=60, learning_rate=0.5, subsample=0.6)
    judged = dataclasses.replace(
        settings, evaluation=Evaluation(BoostRows(CODES[:200], target[:200, None]), patience=3)
    )
    here = boost(TABLE, BoostRows(CODES[200:], target[200:, None], names=names_of_rows(CONTENTS[200:])), judged)
    rest = Part(CODES[200:], len(SCHEMA), [target[200:]], None, CONTENTS[200:])
    elsewhere = boost_distributed(TABLE, Here([rest]), judged, None, (2,))
    assert len(here.trees) < 60
    assert arrays_of(elsewhere) == arrays_of(here)
    assert elsewhere.history.validation == here.history.validation
    assert elsewhere.history.train == here.history.train


@pytest.mark.parametrize(("name", "weighted"), crossed((name for name in TARGETS if name != "huber"), WEIGHTS))
def test_the_loss_of_rows_elsewhere_is_that_of_rows_here(name, weighted):
    loss, target = TARGETS[name]
    weights, is_classes = WEIGHTS[weighted], target.dtype == np.int32
    settings = dataclasses.replace(settings_of(loss, PLANS["leaf"]), evaluation=Evaluation())
    here = boost(TABLE, BoostRows(CODES, target[:, None], weights), settings)
    n_classes = (max(loss.n_scores, 2),) if is_classes else ()
    elsewhere = boost_distributed(TABLE, parts_of(target, weights, [0, 1, 300]), settings, None, n_classes)
    assert elsewhere.history.train == here.history.train
    assert len(here.history.train) == 6


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"losses": (AbsoluteError(),)}, "quantile of all targets"),
        ({"losses": (Quantile((0.5,)),)}, "quantile of all targets"),
        ({"sampling": "gradient"}, "compares the gradients of all rows"),
        ({"tree": GradientSettings(order="symmetric", max_depth=3)}, "one test per level"),
        ({"evaluation": Evaluation(score=lambda scores: 0.0)}, "rows of your own"),
    ],
)
def test_what_is_not_worked_out_elsewhere_is_refused_with_the_reason(plan, told):
    settings = dataclasses.replace(settings_of(SquaredError(), PLANS["leaf"]), **plan)
    with pytest.raises(ParameterError, match=told):
        boost_distributed(TABLE, parts_of(NUMBERS, None, []), settings)


def test_gradients_that_are_no_numbers_end_the_growth_with_an_error():
    settings = settings_of(SquaredError(), PLANS["leaf"])
    with pytest.raises(DataError, match="finite"):
        boost_distributed(TABLE, parts_of(NUMBERS, np.full(N, 1e29), [300]), settings, base=[1e200])
