"""Which rows are learned from and which are predicted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold

from treewright.evaluation.folds import as_array, check_tested_once, folds_within, splits_of, times_tested, two_parts
from treewright.exceptions import DataError, ParameterError

LABELS = ["a"] * 12 + ["b"] * 8


def same(found, wanted):
    return len(found) == len(wanted) and all(
        np.array_equal(one, other) for pair, other_pair in zip(found, wanted, strict=True)
        for one, other in zip(pair, other_pair, strict=True)
    )  # fmt: skip


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series], ids=["list", "array", "pandas", "polars"])
def test_folds_of_classes_are_those_of_a_shuffled_stratified_k_fold(make):
    found = splits_of(4, make(LABELS), is_classification=True, random_state=7)

    wanted = list(StratifiedKFold(4, shuffle=True, random_state=7).split(np.zeros(20), LABELS))
    assert same(found, wanted)
    assert all(part.dtype == np.int64 for pair in found for part in pair)


@given(
    codes=st.lists(st.integers(0, 4), min_size=2, max_size=60),
    n_folds=st.integers(2, 9),
    seed=st.integers(0, 2**32 - 1),
)
def test_draws_of_folds_are_scikit_learns_number_for_number(codes, n_folds, seed):
    assume(len(codes) >= n_folds)
    n, rarest = len(codes), np.unique(codes, return_counts=True)[1].min()

    of_numbers = splits_of(n_folds, np.arange(n) * 0.5, is_classification=False, random_state=seed)
    within = folds_within(n_folds, codes, is_classification=True, random_state=seed)
    by_class = splits_of(within, codes, is_classification=True, random_state=np.random.RandomState(seed))

    wanted = list(KFold(n_folds, shuffle=True, random_state=seed).split(codes))
    stratified = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    assert same(of_numbers, wanted)
    assert same(by_class, wanted if rarest < n_folds else list(stratified.split(codes, codes)))


def test_every_fold_has_its_share_of_each_class():
    found = splits_of(4, LABELS, is_classification=True)

    assert [np.unique(np.array(LABELS)[test], return_counts=True)[1].tolist() for _, test in found] == [[3, 2]] * 4


@pytest.mark.parametrize(("y", "is_classification"), [(np.arange(20.0), False), (np.zeros((20, 2), int), True)])
def test_folds_of_numbers_and_of_several_targets_are_those_of_a_shuffled_k_fold(y, is_classification):
    found = splits_of(np.int64(5), y, is_classification=is_classification, random_state=3)

    assert same(found, list(KFold(5, shuffle=True, random_state=3).split(np.zeros(20))))


@pytest.mark.parametrize(
    "splitter", [KFold(3), StratifiedKFold(3), RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)]
)
def test_a_splitter_is_asked_as_it_is(splitter):
    found = splits_of(splitter, LABELS, is_classification=True)

    assert same(found, list(splitter.split(np.zeros(20), LABELS)))


def test_groups_reach_the_splitter():
    groups = np.arange(20) % 5

    found = splits_of(GroupKFold(5), LABELS, is_classification=True, groups=groups)

    assert all(len(set(groups[test])) == 1 for _, test in found)


THREE = np.arange(20) % 3


@pytest.mark.parametrize("numbers", [THREE, THREE.tolist(), pd.Series(THREE), np.array(list("xyz"))[THREE]])
def test_a_fold_number_says_in_which_fold_a_row_is_tested(numbers):
    found = splits_of(numbers, LABELS, is_classification=True)

    assert [test.tolist() for _, test in found] == [[row for row in range(20) if row % 3 == fold] for fold in range(3)]
    assert all(sorted([*train, *test]) == list(range(20)) for train, test in found)


def test_pairs_may_be_positions_or_masks_and_come_from_a_generator():
    mask = np.arange(20) < 15

    found = splits_of(((part, ~part) for part in (mask, ~mask)), LABELS, is_classification=True)

    assert [test.tolist() for _, test in found] == [list(range(15, 20)), list(range(15))]
    assert same(splits_of([(range(15), range(15, 20))], LABELS, is_classification=True), found[:1])


def test_as_many_folds_as_rows_are_leave_one_out():
    found = splits_of(4, [1.0, 2.0, 3.0, 4.0], is_classification=False)

    assert sorted(test.tolist() for _, test in found) == [[0], [1], [2], [3]]


def test_rows_tested_twice_or_never_are_found():
    repeated = splits_of(RepeatedKFold(n_splits=2, n_repeats=2), LABELS, is_classification=True)
    once = splits_of(ShuffleSplit(1, test_size=3, random_state=0), LABELS, is_classification=True)

    assert times_tested(repeated, 20).tolist() == [2] * 20
    with pytest.raises(DataError, match=r"20 of 20 rows are in more than one test set \(first row 0\)"):
        check_tested_once(repeated, 20)
    with pytest.raises(DataError, match="17 of 20 rows are in no test set"):
        check_tested_once(once, 20)
    check_tested_once(splits_of(4, LABELS, is_classification=True), 20)


def test_a_target_is_one_array_in_its_own_dtype():
    assert as_array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert as_array(pd.DataFrame({"y": [1, 2]})).tolist() == [1, 2]
    assert as_array(["x", "y"]).tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv=1: give at least 2 folds"),
        (0, "at least 2 folds"),
        (-3, "at least 2 folds"),
        (True, "cv=True: give a number of folds"),
        (2.0, r"cv=2\.0: give a number of folds"),
        (None, "cv=None"),
        ("10", "cv='10'"),
        (object(), "give a number of folds"),
        ([(np.arange(5),)], "fold 0, is not a pair"),
        ([([0.5], [1])], "fold 0: the training rows are not a list"),
    ],
)
def test_what_is_no_cv_is_refused(cv, message):
    with pytest.raises(ParameterError, match=message):
        splits_of(cv, LABELS, is_classification=True)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (21, "20 rows are too few for 21 folds: give cv=20 or less"),
        (9, r"class 'b' has 8 row\(s\), fewer than 9 folds: give cv=8 or less, or folds .* cv=KFold\(9, shuffle=True"),
        (np.zeros(20), "every row has the fold 0"),
        (np.arange(19) % 2, "cv holds 19 fold numbers, and y has 20 rows"),
        ([0.0, np.nan] * 10, "fold number of row 1 is missing"),
        (np.array([0, None] * 10, object), "fold number of row 1 is missing"),
        ([], "no folds"),
        ([([], [1])], "fold 0, has no training rows"),
        ([([1], [])], "fold 0, has no test rows"),
        ([([0, 1], [2]), ([0, 1, 2], [2, 3])], r"fold 1: 1 row\(s\) are in both .*\(first row 2\)"),
        ([([0], [1, 1])], "row 1 is twice in the test set"),
        ([([0], [20])], "the test row 20 is not in the table, whose rows are 0 to 19"),
        ([([-1], [1])], "the training row -1 is not in the table"),
        ([(np.ones(3, bool), np.zeros(3, bool))], "mask of training rows has 3 entries"),
    ],
)
def test_folds_that_cannot_be_are_refused(cv, message):
    with pytest.raises(DataError, match=message):
        splits_of(cv, LABELS, is_classification=True)


def test_a_class_of_one_row_asks_for_other_folds():
    told = r"class 'b' has 1 row\(s\), fewer than 2 folds: give folds that are not stratified"
    with pytest.raises(DataError, match=told):
        splits_of(2, ["a", "a", "b"], is_classification=True)


def test_groups_without_a_splitter_or_of_another_length_are_refused():
    with pytest.raises(ParameterError, match="groups= needs a splitter"):
        splits_of(5, LABELS, is_classification=True, groups=[1] * 20)
    with pytest.raises(DataError, match="groups has 3 entries, and y has 20 rows"):
        splits_of(GroupKFold(2), LABELS, is_classification=True, groups=[1, 2, 3])


@pytest.mark.parametrize("y", [None, [], "text", np.zeros((2, 2, 2))])
def test_what_is_no_target_is_refused(y):
    with pytest.raises(DataError):
        splits_of(2, y, is_classification=True)


def test_folds_within_a_fit_take_no_heed_of_classes_where_one_is_too_rare():
    folds = folds_within(10, LABELS, is_classification=True, random_state=1)

    assert same(folds, list(KFold(10, shuffle=True, random_state=1).split(LABELS)))
    assert folds_within(8, LABELS, is_classification=True, random_state=1) == 8


@pytest.mark.parametrize("cv", [0, 1, 21, True, "ten", None, [1, 2] * 10])
def test_folds_within_a_fit_leave_to_splits_of_what_is_no_number_of_folds(cv):
    assert folds_within(cv, LABELS, is_classification=True, random_state=0) is cv


@pytest.mark.parametrize("by_class", ["always", "where possible"])
def test_two_parts_hold_every_row_once_and_each_class_in_its_share(by_class):
    first, second = two_parts(LABELS, 5, 0, by_class=by_class)

    assert sorted([*first, *second]) == list(range(20))
    assert first.tolist() == sorted(first)
    assert [LABELS[row] for row in second].count("a") == 3


def test_two_parts_with_a_class_too_rare_are_refused_or_drawn_without_heed_of_it():
    y = [*LABELS, "c"]

    with pytest.raises(DataError, match="class 'c' has 1 row"):
        two_parts(y, 5, 0, by_class="always")
    assert [part.tolist() for part in two_parts(y, 5, 0, by_class="where possible")] == [
        part.tolist() for part in two_parts(y, 5, 0, by_class="never")
    ]


@pytest.mark.parametrize("n_second", [0, 20, 21])
def test_an_empty_part_is_refused(n_second):
    with pytest.raises(DataError, match=r"20 row\(s\) are too few to hold out"):
        two_parts(LABELS, n_second, 0, by_class="never")
