"""Measures of probabilities: scikit-learn's numbers, whatever the blocks, and the cases that it refuses."""

from __future__ import annotations

import math
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from treewright.evaluation.measures import LabelScore, ShareScore, are_unequal, calibration_error_of, label_series


@pytest.fixture(scope="module", autouse=True)
def imported():
    """scikit-learn is there before the first example: Hypothesis takes its time for the example's."""
    scored(["a", "b"], ["a", "b"], [[1.0, 0.0], [0.0, 1.0]])


def scored(labels, truth, shares, blocks=1):
    score = ShareScore()
    for rows in np.array_split(np.arange(len(truth)), blocks):
        score.add(pl.Series(np.array(truth)[rows].tolist()), np.array(shares)[rows], list(labels))
    return score.measures()


@given(data=st.data(), k=st.integers(2, 4))
def test_measures_are_those_of_scikit_learn_whatever_the_blocks(data, k):
    labels = ["a", "b", "c", "d"][:k]
    codes = data.draw(
        st.lists(st.integers(0, k - 1), min_size=2, max_size=30).filter(lambda codes: len(set(codes)) == k or k > 2)
    )
    raw = data.draw(
        st.lists(
            st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.0]), min_size=k, max_size=k),
            min_size=len(codes),
            max_size=len(codes),
        )
    )
    shares = np.array(raw) / np.array(raw).sum(axis=1, keepdims=True)
    truth = [labels[code] for code in codes]
    found = scored(labels, truth, shares, blocks=data.draw(st.integers(1, 4)))

    codes = np.array(codes)
    counts = np.bincount(codes, minlength=k)
    ranked = [place for place in range(k) if 0 < counts[place] < len(codes)]
    if k == 2 and len(ranked) == 2:
        # By the order of first sight: equal classes are judged by the model's second.
        ranked = [int(counts.argmin()) if counts[0] != counts[1] else 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found["log loss"] == pytest.approx(metrics.log_loss(codes, shares, labels=range(k)))
        if k == 2:
            assert found["Brier score"] == pytest.approx(metrics.brier_score_loss(codes, shares[:, 1], pos_label=1))
        if ranked:
            areas = [metrics.roc_auc_score(codes == place, shares[:, place]) for place in ranked]
            precisions = [metrics.average_precision_score(codes == place, shares[:, place]) for place in ranked]
            assert found["ROC AUC"] == pytest.approx(np.mean(areas))
            assert found["average precision"] == pytest.approx(np.mean(precisions))


def test_measures_by_hand():
    found = scored(["no", "yes"], ["no", "no", "no", "yes"], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.5, 0.5]])
    assert found["ROC AUC"] == pytest.approx(2 / 3)  # yes is ranked above two of three
    assert found["average precision"] == pytest.approx(0.5)
    assert found["Brier score"] == pytest.approx((0.01 + 0.04 + 0.36 + 0.25) / 4)
    assert found["log loss"] == pytest.approx(-(math.log(0.9) + math.log(0.8) + math.log(0.4) + math.log(0.5)) / 4)
    assert found["calibration error"] == pytest.approx((0.1 + 0.2 + 0.6 + 0.5) / 4)


def test_a_class_that_no_model_knew_has_the_share_0():
    found = scored(["no", "yes"], ["no", "yes", "maybe"], [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    assert found["log loss"] == pytest.approx(-math.log(np.finfo(float).eps) / 3)


def test_models_of_several_folds_may_know_different_classes():
    score = ShareScore()
    score.add(pl.Series(["a", "b"]), np.array([[0.7, 0.3], [0.2, 0.8]]), ["a", "b"])
    score.add(pl.Series(["c", "b"]), np.array([[0.4, 0.6], [1.0, 0.0]]), ["b", "c"])
    whole = [[0.7, 0.3, 0], [0.2, 0.8, 0], [0, 0.4, 0.6], [0, 1.0, 0]]
    assert score.measures() == scored(["a", "b", "c"], ["a", "b", "c", "b"], whole)


def test_of_one_class_nothing_is_ranked_and_of_votes_nothing_is_calibrated():
    assert "ROC AUC" not in scored(["no", "yes"], ["no", "no"], [[1.0, 0.0], [0.5, 0.5]])
    score = ShareScore(are_probabilities=False)
    score.add(pl.Series(["no", "yes"]), np.array([[1.0, 0.0], [0.5, 0.5]]), ["no", "yes"])
    assert set(score.measures()) == {"ROC AUC", "average precision"}


def test_calibration_compares_the_share_of_a_bin_with_its_frequency():
    share = np.array([0.31, 0.33, 0.39, 0.37, 0.95])
    assert calibration_error_of(np.array([True, False, False, False, True]), share) == pytest.approx((0.4 + 0.05) / 5)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.randoms())
def test_balanced_accuracy_and_f1_are_those_of_scikit_learn(truth, random):
    predicted = [random.choice("abc") for _ in truth]
    score = LabelScore()
    score.add(pl.Series(truth), np.array(predicted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert score.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(truth, predicted))
        for label in {*truth, *predicted}:
            f1 = metrics.f1_score(truth, predicted, labels=[label], average=None, zero_division=0)[0]
            assert score.f1(label) == pytest.approx(f1)


def test_classes_are_unequal_where_the_rarest_has_less_than_half_of_an_equal_share():
    assert are_unequal({"a": 249, "b": 751})
    assert not are_unequal({"a": 25, "b": 75})
    assert not are_unequal({"a": 10})


def test_labels_of_every_type_find_their_shares():
    for labels in (np.array([1, 2]), np.array([False, True]), np.array(["x", "y"])):
        held = label_series("class", labels).to_list()
        found = scored(held, [held[1], held[0], held[0]], [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
        assert found["ROC AUC"] == 1.0
