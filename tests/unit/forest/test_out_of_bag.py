"""Votes on the rows left out: their sums, whatever the order, and what is said of rows without any."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from treewright.data import memory
from treewright.exceptions import DataWarning, ParameterError, TooLargeError
from treewright.forest import out_of_bag
from treewright.forest.out_of_bag import Ballots, expected_draws, mean_votes

N_ROWS, N_TREES = 40, 25


def drawn(rng, n_classes: tuple[int, ...], target):
    """Per tree: rows left out, the leaf of each, and what the leaves say."""
    trees = []
    for _ in range(N_TREES):
        rows = np.flatnonzero(rng.random(N_ROWS) < 0.4).astype(np.int32)
        leaf_of = rng.integers(0, 6, len(rows)).astype(np.int32)
        counts = rng.integers(0, 9, (6, sum(n_classes))) + 0.25
        trees.append((rows, leaf_of, counts if n_classes else target[rng.integers(0, N_ROWS, 6)]))
    return trees


def plain_means(trees, n_classes, n_values):
    """The same, added up as it is said."""
    sums, n_votes = np.zeros((N_ROWS, n_values)), np.zeros(N_ROWS)
    for rows, leaf_of, value in trees:
        for row, leaf in zip(rows, leaf_of, strict=True):
            said, begin = value[leaf].astype(float), 0
            for k in n_classes:
                said[begin : begin + k] /= said[begin : begin + k].sum()
                begin += k
            sums[row] += said
            n_votes[row] += 1
    return sums / n_votes[:, None], n_votes


def cast_all(trees, target, n_classes, n_threads=1, order=None):
    ballots = Ballots(target, n_classes, N_TREES, n_threads)
    for at in range(N_TREES) if order is None else order:
        ballots.cast(at % n_threads, *trees[at])
    return ballots.total()


def targets(n_classes):
    return np.zeros((N_ROWS, len(n_classes)), np.int32) if n_classes else TARGET


TARGET = np.random.default_rng(5).normal(size=(N_ROWS, 2)) * [1e-3, 1e5] + [1e6, 0]


@pytest.mark.parametrize("n_classes", [(2,), (3, 2), ()])
def test_mean_votes_are_the_means_of_what_the_leaves_say(n_classes):
    trees = drawn(np.random.default_rng(1), n_classes, TARGET)
    votes = cast_all(trees, targets(n_classes), n_classes)
    expected, n_votes = plain_means(trees, n_classes, sum(n_classes) or 2)
    assert (votes.n_votes == n_votes).all()
    # A vote is rounded to 2**-40 of the largest one.
    allowed = 2.0**-40 * np.maximum(1.0, np.ptp(TARGET, axis=0) if not n_classes else 1.0) + 1e-15 * np.abs(expected)
    assert (np.abs(mean_votes(votes) - expected) <= allowed).all()


@pytest.mark.parametrize("n_classes", [(3,), ()])
def test_sums_of_votes_do_not_depend_on_order_or_threads(n_classes):
    trees = drawn(np.random.default_rng(2), n_classes, TARGET)
    first = cast_all(trees, targets(n_classes), n_classes)
    for n_threads in (2, 5):
        order = np.random.default_rng(n_threads).permutation(N_TREES)
        other = cast_all(trees, targets(n_classes), n_classes, n_threads, order)
        assert np.array_equal(first.sums, other.sums)
        assert np.array_equal(first.n_votes, other.n_votes)


def test_votes_of_two_parts_add_up_to_those_of_the_whole():
    trees = drawn(np.random.default_rng(2), (2,), TARGET)
    whole = cast_all(trees, targets((2,)), (2,))
    parts = [cast_all(trees, targets((2,)), (2,), order=some) for some in (range(7), range(7, N_TREES))]
    both = parts[0].plus(parts[1])
    assert np.array_equal(both.sums, whole.sums)
    assert np.array_equal(both.n_votes, whole.n_votes)


def test_votes_on_another_target_are_refused():
    one = Ballots(TARGET, (), 1, 1).total()
    for other in (Ballots(TARGET * 3, (), 1, 1), Ballots(TARGET[1:], (), 1, 1)):
        with pytest.raises(ParameterError, match="warm_start"):
            one.plus(other.total())


def test_rows_that_every_tree_drew_are_nan_and_one_warning_counts_them():
    ballots = Ballots(np.zeros((5, 1), np.int32), (2,), 1, 1)
    ballots.cast(0, np.array([1, 3], np.int32), np.array([0, 0], np.int32), np.array([[1.0, 1.0]]))
    with pytest.warns(DataWarning, match=r"3 of 5 rows were sampled for every tree.*about 14 leave") as heard:
        means = mean_votes(ballots.total())
    assert len(heard) == 1
    assert np.isnan(means[[0, 2, 4]]).all()
    assert (means[[1, 3]] == 0.5).all()


def test_large_weights_are_named_where_they_are_the_cause():
    """More trees do not help a row that all but one tree in twenty thousand draws."""
    votes = Ballots(np.zeros((4, 1), np.int32), (2,), 1, 1).total()
    counts = expected_draws(4, 40, np.full(4, 10.0))
    chances = expected_draws(4, 4, np.array([0.1, 0.1, 0.1, 30.0]))
    fewer = expected_draws(4, 2, None)

    with pytest.warns(DataWarning, match=r"large: .* 10 times .* one tree in 2.2e\+04 .*scale them") as heard:
        mean_votes(votes, counts)
    assert "Fit more" not in str(heard[0].message)
    votes.n_votes[:3] = votes.sums[:3, 0] = 1
    with pytest.warns(DataWarning, match=r"1 of 4 rows.*weights are large.*Lower max_samples$"):
        mean_votes(votes, chances)
    with pytest.warns(DataWarning, match="about 7 leave"):
        mean_votes(votes, fewer)


def test_weights_of_any_size_say_how_often_a_row_is_drawn():
    assert expected_draws(3, 6, np.array([1e308, 1e308, 1e308])).tolist() == pytest.approx([2, 2, 2])
    assert expected_draws(4, 8, None).tolist() == [2, 2, 2, 2]


def test_no_warning_where_every_row_has_votes():
    ballots = Ballots(np.array([[1.0], [3.0]]), (), 1, 1)
    ballots.cast(0, np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([[1.0], [3.0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mean_votes(ballots.total()).tolist() == [[3.0], [1.0]]


@pytest.mark.parametrize(("low", "high"), [(-1.7e308, 1.7e308), (0.0, 5e-324), (2.0, 2.0), (1e300, 1.5e308)])
def test_targets_of_any_size_are_averaged(low, high):
    ballots = Ballots(np.array([[low], [high]]), (), 2, 1)
    for _ in range(2):
        ballots.cast(0, np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([[low], [high]]))
    means = mean_votes(ballots.total())
    # Halves: the difference may be beyond float64.
    assert np.abs(means / 2 - [[high / 2], [low / 2]]).max() <= (high / 2 - low / 2) * 2.0**-40
    assert means.min() >= low
    assert means.max() <= high


def test_a_read_only_leaf_table_stays_as_it_is():
    value = np.array([[1.0, 3.0]], np.float32)
    value.flags.writeable = False
    ballots = Ballots(np.zeros((1, 1), np.int32), (2,), 1, 1)
    ballots.cast(0, np.zeros(1, np.int32), np.zeros(1, np.int32), value)
    assert mean_votes(ballots.total()).tolist() == [[0.25, 0.75]]
    assert value.tolist() == [[1.0, 3.0]]


def test_votes_that_do_not_fit_in_memory_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10)
    with pytest.raises(TooLargeError, match="oob_score=False"):
        Ballots(np.zeros((2_000_000, 1), np.int32), (2,), 10, 4)
    with pytest.raises(TooLargeError, match="can vote out of bag"):
        Ballots(np.zeros((2, 1), np.int32), (2,), out_of_bag._MOST_TREES + 1, 1)
