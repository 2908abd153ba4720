"""Seeds that have nothing to do with those of the folds."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.evaluation.folds import check_random_state, overlap_of, seed_beside, splits_of
from treewright.exceptions import ParameterError


def test_a_seed_beside_is_another_one_for_every_seed_and_purpose():
    seeds = [seed_beside(state, purpose) for state in (0, 1, 2**32 - 1, np.random.RandomState(0)) for purpose in (0, 1)]

    assert len(set(seeds)) == 8
    assert seeds[0] == seed_beside(np.int64(0))
    assert seed_beside(None) != seed_beside(None)


def test_a_random_state_is_looked_at_and_not_moved_on():
    state, untouched = np.random.RandomState(3), np.random.RandomState(3)

    assert seed_beside(state) == seed_beside(state)

    assert state.randint(2**31) == untouched.randint(2**31)


@pytest.mark.parametrize("state", [None, 0, np.uint32(7), 2**32 - 1, np.random.RandomState(0), np.random])
def test_every_sort_of_seed_that_scikit_learn_takes_is_taken(state):
    check_random_state(state)


def test_a_generator_is_refused_with_what_to_give():
    with pytest.raises(ParameterError, match=r"from 0 to 4294967295, a numpy\.random\.RandomState, or None"):
        check_random_state(np.random.default_rng(0))


def test_only_folds_that_share_test_rows_overlap():
    folds = splits_of(5, np.arange(20.0), is_classification=False)

    assert overlap_of(folds, 20) == 0.0
    assert overlap_of([*folds, folds[0]], 20) == 4 / 16
