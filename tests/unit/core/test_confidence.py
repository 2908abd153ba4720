"""Claims about confidence intervals, checked against their own equations and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from treewright.core.confidence import check_level, mean_interval, wilson_interval
from treewright.exceptions import ParameterError


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (73.5, 100.5)])
def test_both_ends_of_wilsons_interval_solve_its_equation(right: float, n: float, level: float) -> None:
    z2 = stats.norm.ppf((1 + level) / 2) ** 2
    share = right / n

    for end in wilson_interval(right, n, level):
        # (share - p)^2 = z^2 p (1 - p) / n
        assert (share - end) ** 2 == pytest.approx(z2 * end * (1 - end) / n, abs=1e-12)


@pytest.mark.parametrize(("right", "n"), [(0, 1), (0, 7), (7, 7), (3, 1_000_000), (1e-9, 1e-8)])
def test_the_share_lies_in_its_interval(right: float, n: float) -> None:
    low, high = wilson_interval(right, n)

    assert 0 <= low <= right / n <= high <= 1


def test_the_interval_of_a_mean_is_that_of_scipy() -> None:
    values = np.array([3.0, 4.0, 4.5, 9.0])
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.9)

    assert mean_interval(values.mean(), values.var(), 4, 0.9) == pytest.approx((low, high))


def test_one_row_has_no_interval_of_its_mean() -> None:
    assert mean_interval(5.0, 0.0, 1) is None


def test_equal_rows_have_an_interval_without_width() -> None:
    assert mean_interval(5.0, 0.0, 3) == (5.0, 5.0)


def test_a_width_beyond_float64_is_no_interval() -> None:
    assert mean_interval(1e308, 1e300, 2, 0.999999999999) == pytest.approx((1e308, 1e308), rel=1)
    assert mean_interval(1.7e308, 1.7e308, 2, 1 - 1e-16) is None


@pytest.mark.parametrize("level", [0, 1, 1.0, -0.5, 95, float("nan"), "0.95", None, True])
def test_a_level_that_is_no_share_is_refused(level: object) -> None:
    with pytest.raises(ParameterError, match="level is"):
        check_level(level)  # type: ignore[arg-type]
