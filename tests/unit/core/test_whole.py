"""Whole numbers among parameters."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.core.elementary import is_whole, whole_number
from treewright.exceptions import ParameterError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_become_ints(value):
    assert is_whole(value)
    assert type(whole_number("repeats", value, 3)) is int


@pytest.mark.parametrize("value", [2, -1, True, np.True_, 3.0, "3", None, [3], np.nan])
def test_what_is_none_or_too_small_is_refused(value):
    with pytest.raises(ParameterError, match=r"repeats=.*: give a whole number >= 3"):
        whole_number("repeats", value, 3)
