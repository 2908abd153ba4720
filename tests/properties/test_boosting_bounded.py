"""Leaves that are quantiles, under monotone constraints: whatever the unit of the target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from boosted_rounds import loss_named
from gradient_tables import boost_case, draw_case, packed_difference, scores_of

TREE: dict[str, Any] = {"min_samples_leaf": 4, "max_leaf_nodes": 8, "max_depth": 3}


@pytest.mark.parametrize("order", ["leaf", "level", "symmetric"])
@pytest.mark.parametrize("name", ["absolute_error", "quantile", "three quantiles"])
@pytest.mark.parametrize("exponent", [-27, -13, 0, 13, 27])  # 1e-8 to 1e8
def test_quantiles_under_constraints_rise_and_scale_with_the_target(name, order, exponent):
    rng = np.random.default_rng(5)
    case = draw_case(17, 300, 3, nominal=False, most_bins=14, ties=False)
    held = np.where(case.cells == 255, 4.0, case.cells.astype(float))
    target = held[:, 0] / 4 - np.abs(held[:, 1] - 4) + rng.normal(size=300)
    plan = {"tree": {**TREE, "order": order, "monotone": (1, 1, -1)}, "n_rounds": 8, "learning_rate": 0.5}
    one = boost_case(case, target, loss_named(name), **plan)
    other = boost_case(case, target * 2.0**exponent, loss_named(name), **plan)

    said = scores_of(other, case.cells)
    assert np.array_equal(said, scores_of(one, case.cells) * 2.0**exponent)
    assert not packed_difference(one.trees, other.trees, but=("leaf_value", "records", "leaf_impurity"))
    for column, sign in enumerate((1, 1, -1)):
        m = int(case.bins.n_bins[column])
        others = np.repeat(case.cells[rng.integers(0, 300, 30)], m, axis=0)
        others[:, column] = np.tile(np.arange(m), 30)
        assert (sign * np.diff(scores_of(other, others).reshape(-1, 30, m), axis=2) >= 0).all()
    assert (np.ptp(said, axis=1) > 2.0**exponent).all()  # bounds of another unit would hold all leaves near 0
