"""The parts add up to the loss, whatever was predicted, in whatever order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treewright.evaluation.decompose import squared_parts, zero_one_parts

NUMBERS = st.floats(-1e6, 1e6, width=32)


@st.composite
def predicted_numbers(draw):
    n_rounds, m = draw(st.integers(2, 8)), draw(st.integers(1, 6))
    columns = [draw(arrays(np.float64, (m,), elements=NUMBERS)) for _ in range(2)]
    return draw(arrays(np.float64, (n_rounds, m), elements=NUMBERS)), *columns


@st.composite
def predicted_labels(draw):
    n_rounds, m, k = draw(st.integers(2, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    codes = st.integers(0, k - 1)
    columns = [draw(arrays(np.int64, (m,), elements=codes)) for _ in range(2)]
    return draw(arrays(np.int64, (n_rounds, m), elements=codes)), *columns, k


@given(predicted_numbers())
def test_squared_parts_add_up_to_the_loss_of_every_row(case):
    said, y, h = case
    rows = squared_parts(said, y, h).rows
    scale = max(1.0, np.abs(said).max(), np.abs(y).max(), np.abs(h).max()) ** 2

    total = rows["bias_squared"] + rows["variance"] + rows["noise"] + rows["cross"]

    np.testing.assert_allclose(total, rows["loss"], rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(rows["bias_and_noise"] + rows["variance"], rows["loss"], rtol=0, atol=1e-13 * scale)
    assert (rows["variance"] >= 0).all()
    assert (rows["noise"] >= 0).all()


@given(predicted_labels())
def test_zero_one_parts_add_up_to_the_loss_of_every_row(case):
    said, y, h, k = case

    rows = zero_one_parts(said, y, h, k).rows

    total = rows["bias_squared"] + rows["variance"] + rows["noise"] + rows["cross"]
    np.testing.assert_allclose(total, rows["loss"], rtol=0, atol=1e-14)
    np.testing.assert_allclose(rows["unbiased_variance"] - rows["biased_variance"], rows["variance"], atol=1e-15)
    assert (rows["cross"] <= 0).all()
    assert (rows["biased_variance"] >= 0).all()


@given(predicted_numbers(), st.randoms(use_true_random=False))
def test_the_order_of_the_rounds_changes_nothing(case, random):
    said, y, h = case
    order = list(range(len(said)))
    random.shuffle(order)

    rows, again = squared_parts(said, y, h).rows, squared_parts(said[order], y, h).rows

    scale = max(1.0, np.abs(said).max(), np.abs(y).max(), np.abs(h).max()) ** 2
    for name, column in rows.items():
        np.testing.assert_allclose(again[name], column, rtol=0, atol=1e-13 * scale)


@given(predicted_numbers())
def test_what_the_rounds_contribute_has_the_mean_of_the_part_or_none(case):
    said, y, h = case
    parts = squared_parts(said, y, h)
    scale = max(1.0, np.abs(said).max(), np.abs(y).max(), np.abs(h).max()) ** 2

    for name in ("loss", "variance"):
        assert parts.rounds[name].mean() == pytest.approx(parts.rows[name].mean(), abs=1e-13 * scale)
    for name in ("bias_squared", "bias_and_noise"):
        assert parts.rounds[name].mean() == pytest.approx(0, abs=1e-13 * scale)
