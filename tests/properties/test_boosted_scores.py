"""Scores of boosted trees, for any trees, rows and blocks."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from boosted_trees import random_trees
from hypothesis import given
from hypothesis import strategies as st
from random_forests import SCHEMA, random_rows

from treewright.predict import boosted, walks
from treewright.predict.boosted import boosted_scores, staged_boosted_scores


@given(
    seed=st.integers(0, 2**32 - 1),
    leaves=st.lists(st.integers(1, 70), min_size=1, max_size=9),
    shape=st.sampled_from(["any", "left", "right", "even"]),
    n_rows=st.integers(1, 150),
    base=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=7),
    least=st.integers(1, 200),
    n_jobs=st.integers(1, 3),
    absent=st.sampled_from([0.0, 0.1, 0.9]),
)
def test_engines_blocks_threads_and_single_rows_give_the_same_bits(
    seed, leaves, shape, n_rows, base, least, n_jobs, absent
):
    rng = np.random.default_rng(seed)
    packed = random_trees(rng, SCHEMA, leaves, shape)
    matrix = random_rows(rng, n_rows, SCHEMA, absent=absent)
    stop = int(rng.integers(len(leaves) + 1))
    one = rng.integers(n_rows)
    answers = []
    for engine in (boosted.steps_of, lambda packed: None):
        with (
            patch.object(boosted, "_steps_for", lambda packed, n, engine=engine: engine(packed)),
            patch.object(boosted, "_BLOCK_BYTES", 1),
            patch.multiple(walks, _LEAST_ROWS=least, INLINE_WALKS=0),
        ):
            answers.append(boosted_scores(packed, base, matrix, n_jobs, stop))
            assert boosted_scores(packed, base, matrix[[one]], 1, stop).tobytes() == answers[-1][[one]].tobytes()
            *_, last = staged_boosted_scores(packed, base, matrix, n_jobs)
            assert last.tobytes() == boosted_scores(packed, base, matrix[:, ::-1].copy()[:, ::-1], 1).tobytes()
    assert answers[0].tobytes() == answers[1].tobytes()
