"""The arithmetic of bias and variance is that of the exact twin, on every small case there is."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from naive_bias_variance import domingos_row, squared_row

from treewright.evaluation.decompose import squared_parts, zero_one_parts


@pytest.mark.parametrize(("n_classes", "n_rounds"), [(2, 2), (2, 3), (2, 5), (3, 3), (3, 4), (4, 3)])
def test_zero_one_parts_are_domingos_on_every_table_of_predictions_and_labels(n_classes, n_rounds):
    cases = list(product(product(range(n_classes), repeat=n_rounds), range(n_classes), range(n_classes)))
    said = np.array([case[0] for case in cases]).T
    t, h = np.array([case[1] for case in cases]), np.array([case[2] for case in cases])

    parts = zero_one_parts(said, t, h, n_classes)

    for at, case in enumerate(cases):
        exact = domingos_row(*case)
        wanted = {
            "loss": exact["loss"],
            "bias_squared": exact["bias"],
            "variance": exact["c2"] * exact["variance"],
            "noise": exact["noise"],
            "cross": (exact["c1"] - 1) * exact["noise"],
        }
        assert parts.main[at] == exact["main"]
        for name, value in wanted.items():
            assert parts.rows[name][at] == pytest.approx(float(value), abs=1e-15), (name, case)
        # Domingos' identity itself, in fractions
        assert exact["loss"] == exact["c1"] * exact["noise"] + exact["bias"] + exact["c2"] * exact["variance"], case


def test_with_two_classes_the_factors_are_those_of_the_paper():
    for said, t, h in product(product(range(2), repeat=4), range(2), range(2)):
        exact = domingos_row(said, t, h)
        hits = Fraction(said.count(h), 4)
        assert exact["c1"] == 2 * hits - 1 or t == h  # where there is no noise its factor does not matter
        assert exact["c2"] == (1 if exact["main"] == h else -1) or exact["variance"] == 0


def test_labels_that_vary_at_one_point_cost_what_the_papers_theorem_says():
    # Predictions 0 0 1 at a point whose label is 0 with probability 3/4: P(f = h) = 2/3, c1 = 1/3, N = 1/4.
    said = np.array([[0] * 4, [0] * 4, [1] * 4])

    parts = zero_one_parts(said, np.array([0, 0, 0, 1]), np.zeros(4, np.int64), 2)

    assert parts.rows["noise"].mean() == 1 / 4
    assert (parts.rows["noise"] + parts.rows["cross"]).mean() == pytest.approx(1 / 3 * 1 / 4)
    assert parts.rows["loss"].mean() == pytest.approx(1 / 3 * 1 / 4 + 0 + 1 / 3)


def test_without_optimal_labels_the_bias_is_that_against_the_labels():
    cases = list(product(product(range(3), repeat=3), range(3)))
    said, t = np.array([case[0] for case in cases]).T, np.array([case[1] for case in cases])

    alone, told = zero_one_parts(said, t, None, 3), zero_one_parts(said, t, t, 3)

    assert np.isnan([alone.rows[name] for name in ("bias_squared", "noise", "cross")]).all()
    np.testing.assert_array_equal(alone.rows["bias_and_noise"], told.rows["bias_squared"])
    np.testing.assert_array_equal(alone.rows["variance"], told.rows["variance"])


@pytest.mark.parametrize("n_rounds", [2, 3, 4])
def test_squared_parts_are_means_over_pairs_of_rounds(n_rounds):
    values = [Fraction(-1), Fraction(0), Fraction(5, 2)]
    cases = list(product(product(values, repeat=n_rounds), values, values))
    said = np.array([case[0] for case in cases], float).T
    y, h = np.array([case[1] for case in cases], float), np.array([case[2] for case in cases], float)

    parts = squared_parts(said, y, h)

    for at, case in enumerate(cases):
        exact = squared_row(*case)
        assert exact["loss"] == exact["bias_squared"] + exact["variance"] + exact["noise"] + exact["cross"]
        assert exact["loss"] == exact["bias_and_noise"] + exact["variance"]
        for name, value in exact.items():
            assert parts.rows[name][at] == pytest.approx(float(value), abs=1e-12), (name, case)
