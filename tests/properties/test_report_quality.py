"""What holds for the quality of any predictions: shares are shares, intervals hold their share, nothing is lost."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from treewright.reporting.data import Options, ReportData
from treewright.reporting.quality import class_quality, number_quality
from treewright.show.page.render import json_for_script
from treewright.trees.data import aggregation_of

WEIGHTS = st.floats(1e-250, 1e250) | st.sampled_from([1.0, 2.0])


def judged(target, weights, **said):
    model = SimpleNamespace(
        facts={},
        threshold=None,
        aggregation=aggregation_of("mean", None, None),
        has_trees=True,
        classes=(np.arange(said["shares"][0].shape[1]),) if "shares" in said else (),
    )
    rows = ReportData(model, None, None, None, np.empty((len(target), 0)), target[:, None], weights, None)
    rows.__dict__.update(said)
    return rows


@st.composite
def predicted_classes(draw):
    n, k = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    votes = draw(hnp.arrays(np.int64, (n, k), elements=st.integers(0, 4))).astype(float)
    votes[:, 0] += votes.sum(axis=1) == 0
    truth = draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1)))
    return truth, votes / votes.sum(axis=1, keepdims=True), draw(hnp.arrays(np.float64, n, elements=WEIGHTS))


@given(predicted_classes())
def test_the_quality_of_any_classes_is_made_of_shares_within_their_intervals(rows):
    truth, shares, weights = rows
    part = class_quality(judged(truth, weights, shares=[shares], codes=shares.argmax(axis=1)[:, None]), 0, "")
    total = weights.sum()

    accuracy = part.measures[0]
    assert 0 <= accuracy.low <= accuracy.value + 1e-12
    assert accuracy.value <= accuracy.high + 1e-12 <= 1 + 1e-12
    assert 1 - 1e-9 <= part.worth <= len(truth) * (1 + 1e-9)
    assert np.isclose(np.sum(np.array(part.confusion.counts) / total), 1)
    for held in part.classes:
        for low, share, high in (
            (held.precision_low, held.precision, held.precision_high),
            (held.recall_low, held.recall, held.recall_high),
        ):
            assert (low is None) == (share is None) == (high is None)
            assert share is None or -1e-12 <= low - 1e-12 <= share <= high + 1e-12 <= 1 + 2e-12
    for rank in part.ranks:
        assert 0 <= rank.area <= 1 + 1e-9
        assert 0 <= rank.average_precision <= 1 + 1e-9
        assert (np.diff(rank.false_rate) >= 0).all()
        assert (np.diff(rank.recall) >= 0).all()
    for calibration in part.calibration:
        assert sum(calibration.n_rows) == len(truth)
        assert 0 <= calibration.error <= 1 + 1e-9
        for low, share, high in zip(calibration.low, calibration.happened, calibration.high, strict=True):
            assert share is None or low <= share <= high
    json_for_script(part)


@given(st.data())
def test_the_quality_of_any_numbers_can_be_written(data):
    n = data.draw(st.integers(1, 20))
    floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 2.0])
    truth, said = (data.draw(hnp.arrays(np.float64, n, elements=floats)) for _ in range(2))
    weights = data.draw(hnp.arrays(np.float64, n, elements=WEIGHTS))
    part = number_quality(judged(truth, weights, numbers=said[:, None]), 0, "", Options())

    json_for_script(part)
    held = part.residuals
    if held is not None:
        assert (np.diff(held.edges) > 0).all()
        assert np.isclose(np.sum(np.array(held.weight) / weights.sum()), 1)
        assert len(held.truth) == len(held.residual) == n
