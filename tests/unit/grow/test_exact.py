"""Columns drawn per node, and the choice among their gains."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from treewright.grow import layout as storage
from treewright.grow.exact import steps as exact
from treewright.grow.layout import Limits, Nodes


@numba.njit
def choose(nodes, parents, gains, limits):
    return exact.choose(nodes, parents, gains, limits)


@numba.njit
def draw_columns(nodes, parents, n_drawn, gains, drawn, keep_first):
    exact.draw_columns(nodes, parents, n_drawn, gains, drawn, keep_first)


ROOT = np.array([-1], np.int32)


def open_root(key: int = 1, tolerance: float = 1e-9) -> Nodes:
    shapes = {"totals": (2, 1), "value": (2, 1)}
    nodes = Nodes(**{name: np.zeros(shapes.get(name, 2), dtype) for name, dtype in storage._TYPES.items()})
    nodes.feature[:], nodes.is_open[:], nodes.key[:], nodes.tolerance[:], nodes.gain[:] = -1, 1, key, tolerance, -1.0
    return nodes


def limits(min_decrease: float = 0.0) -> Limits:
    return Limits(2**31 - 1, 2, 1, 0, min_decrease, 1, False)


def gains_of(*values: float) -> np.ndarray:
    return np.array([[value, -1.0] for value in values])


@pytest.mark.parametrize(
    ("gains", "column"),
    [((1.0, 2.0), 1), ((2.0, 1.0), 0), ((1.0, 1.0), 0), ((1.0, 1.0 + 1e-12), 0), ((-1.0, 0.0), 1), ((-1.0, -1.0), -1)],
)
def test_a_later_column_wins_only_by_more_than_the_tolerance(gains, column) -> None:
    nodes = open_root()

    n_without = choose(nodes, ROOT, gains_of(*gains), limits())

    assert nodes.feature[0] == column
    assert n_without == (column < 0)


def test_a_gain_below_the_least_decrease_closes_the_node() -> None:
    nodes = open_root()

    assert choose(nodes, ROOT, gains_of(1.0), limits(1.5)) == 0
    assert nodes.feature[0] == -1
    assert not nodes.is_open[0]


@pytest.mark.parametrize("n_drawn", [1, 2, 4])
def test_as_many_columns_are_drawn_as_asked_for(n_drawn: int) -> None:
    drawn = np.empty((2, 4), np.uint8)

    draw_columns(open_root(), ROOT, n_drawn, gains_of(0, 0, 0, 0), drawn, False)

    assert drawn[0].sum() == n_drawn


def test_every_column_is_drawn_about_as_often() -> None:
    counts = np.zeros(4, int)
    drawn = np.empty((2, 4), np.uint8)
    for key in range(2000):
        draw_columns(open_root(key * 0x9E3779B97F4A7C15 % 2**64), ROOT, 1, gains_of(0, 0, 0, 0), drawn, False)
        counts += drawn[0]

    # 500 expected; the standard deviation is 19.
    assert counts.min() > 400
    assert counts.max() < 600


def test_only_a_column_that_splits_the_node_is_kept_when_the_draw_goes_on() -> None:
    gains, drawn = gains_of(-1.0, 3.0, -1.0, 5.0), np.empty((2, 4), np.uint8)

    draw_columns(open_root(), ROOT, 1, gains, drawn, True)

    assert sorted(gains[:, 0].tolist()) in ([-1.0, -1.0, -1.0, 3.0], [-1.0, -1.0, -1.0, 5.0])
