"""What a fitted forest answers: scores of any labels and numbers, its trees as a sequence, one tree at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model

FORESTS = [
    tw.RandomForestClassifier,
    tw.ExtraTreesClassifier,
    tw.RandomForestRegressor,
    tw.ExtraTreesRegressor,
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
CODES = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)
NUMBERS = 2 * X[:, 0] + X[:, 1] + RNG.normal(size=80)


def of_tuples():
    labels = np.empty(80, object)
    labels[:] = [(("a", 1), ("b", 2))[code] for code in CODES]
    return labels


LABELS = {
    "objects": np.array([3, 5], object)[CODES],
    "bytes": np.array([b"a", b"b"])[CODES],
    "booleans as objects": np.array([False, True], object)[CODES],
    "beyond int64": np.array([10**30, 10**40], object)[CODES],
    "huge floats": np.array([-1e300, 1e300])[CODES],
    "tuples": of_tuples(),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type_are_scored_as_their_codes(kind):
    plain = tw.RandomForestClassifier(40, oob_score=True).fit(X, CODES)
    forest = tw.RandomForestClassifier(40, oob_score=True).fit(X, LABELS[kind])

    assert forest.oob_score_ == plain.oob_score_ > 0.5
    assert forest.score(X, LABELS[kind]) == plain.score(X, CODES)
    half = np.arange(80) % 2
    assert forest.score(X, LABELS[kind], half) == plain.score(X[1::2], CODES[1::2])


def test_scores_of_one_output_are_those_of_scikit_learn():
    weights = RNG.random(80)
    classes = tw.RandomForestClassifier(5).fit(X, CODES)
    numbers = tw.RandomForestRegressor(5).fit(X, np.stack([NUMBERS, -NUMBERS], axis=1))
    others = NUMBERS + RNG.normal(size=80)
    both = np.stack([others, NUMBERS], axis=1)

    right = np.roll(CODES, 3)
    assert classes.score(X, right) == accuracy_score(right, classes.predict(X))
    expected = accuracy_score(right, classes.predict(X), sample_weight=weights)
    assert classes.score(X, right, weights) == pytest.approx(expected)
    assert numbers.score(X, both) == pytest.approx(r2_score(both, numbers.predict(X)))
    assert numbers.score(X, both, weights) == pytest.approx(r2_score(both, numbers.predict(X), sample_weight=weights))


def test_a_row_of_several_outputs_is_right_where_all_of_them_are():
    both = np.stack([CODES, (X[:, 1] > 0) * 1], axis=1)
    names = np.empty((80, 2), object)
    names[:, 0], names[:, 1] = np.array(["a", "b"], object)[both[:, 0]], both[:, 1]
    forest = tw.RandomForestClassifier(40, max_depth=2, oob_score=True).fit(X, names)

    said = [shares.argmax(axis=1) for shares in forest.oob_decision_function_]
    assert forest.oob_score_ == np.mean((np.stack(said, axis=1) == both).all(axis=1))
    assert forest.score(X, names) == np.mean((forest.predict(X) == names).all(axis=1)) < 1


def test_a_label_that_fit_never_saw_is_wrong():
    forest = tw.RandomForestClassifier(5).fit(X, CODES)

    assert forest.score(X, np.where(np.arange(80) < 40, forest.predict(X), 7)) == 0.5
    assert forest.score(X, forest.predict(X).astype(float)) == 1.0
    assert forest.score(X, ["yes"] * 80) == 0.0


@pytest.mark.parametrize("forest", [tw.RandomForestClassifier(2), tw.RandomForestRegressor(2)], ids=str)
def test_what_cannot_be_scored_is_refused(forest):
    forest.fit(X, CODES)

    for y, weights in ((CODES[1:], None), (np.stack([CODES, CODES], axis=1), None), (CODES, np.ones(3))):
        with pytest.raises(DataError):
            forest.score(X, y, weights)


@pytest.mark.parametrize("exponent", [-1000, -560, 530, 1000])
def test_numbers_of_any_size_have_a_score(exponent):
    y = np.ldexp(NUMBERS, exponent)
    forest = tw.RandomForestRegressor(40, oob_score=True).fit(X, y)
    answers = np.ldexp(forest.oob_prediction_, -exponent)

    assert forest.oob_score_ == pytest.approx(r2_score(NUMBERS, answers), rel=1e-9)
    assert forest.score(X, y) == pytest.approx(r2_score(NUMBERS, np.ldexp(forest.predict(X), -exponent)), rel=1e-9)


def test_answers_far_beyond_the_numbers_have_a_score_beyond_measure():
    forest = tw.RandomForestRegressor(2).fit(X, np.ldexp(NUMBERS, 900))

    assert forest.score(X, np.ldexp(NUMBERS, -900)) == -np.inf
    assert np.isnan(forest.score(X[:1], [1.0]))


@pytest.mark.parametrize("answer", [None, "0.5", [0.5, 0.5], np.ones(2), 1j])
def test_a_score_of_ones_own_must_be_a_number(answer):
    with pytest.raises(ParameterError, match=r"oob_score=<lambda> must return a number"):
        tw.RandomForestClassifier(30, oob_score=lambda *_: answer).fit(X, CODES)


@pytest.mark.parametrize("answer", [0.5, np.float32(0.5), np.array(0.5), Fraction(1, 2)])
def test_a_number_of_any_type_is_a_score(answer):
    score = tw.RandomForestClassifier(30, oob_score=lambda *_: answer).fit(X, CODES).oob_score_

    assert (type(score), score) == (float, 0.5)


def test_a_function_of_one_argument_is_refused_before_a_tree_is_grown():
    def sum_of(true):
        return sum(true)

    with pytest.raises(ParameterError, match="oob_score=sum_of must take two arguments"):
        tw.RandomForestClassifier(10**6, oob_score=sum_of).fit(X, CODES)
    forest = tw.RandomForestClassifier(30, oob_score=accuracy_score).fit(X, CODES)
    assert forest.oob_score_ == tw.RandomForestClassifier(30, oob_score=True).fit(X, CODES).oob_score_


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_is_the_sequence_of_its_trees(kind):
    forest = kind(4).fit(X, CODES)

    assert len(forest) == 4
    assert [type(tree) for tree in forest] == [Model] * 4
    for at in range(4):
        assert (forest[at].predict(X) == forest.tree(at).predict(X)).all()
        assert (forest[at].predict(X) == forest.estimators_[at].predict(X)).all()
    assert [tree.trees[0].n_nodes for tree in forest[1:3]] == [tree.trees[0].n_nodes for tree in [forest[1], forest[2]]]
    assert forest[-1].trees[0].n_nodes == forest[3].trees[0].n_nodes
    with pytest.raises(IndexError):
        forest[4]
    with pytest.raises(ParameterError, match="the model has 4 trees"):
        forest.tree(4)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_that_was_not_fitted_is_there_and_has_no_trees(kind):
    assert bool(kind())
    for ask in (len, list, lambda forest: forest[0], lambda forest: forest.tree(0)):
        with pytest.raises(NotFittedError):
            ask(kind())


@pytest.mark.parametrize("verb", ["rules", "plot", "node"])
def test_one_tree_is_asked_for_by_number_as_of_the_model(verb):
    forest = tw.RandomForestClassifier(3, max_depth=2).fit(X, CODES)
    at = (0,) if verb == "node" else ()

    for owner in (forest, forest.model_):
        with pytest.raises(ParameterError, match=f"{verb} is for one tree, and the model has 3 trees"):
            getattr(owner, verb)(*at)
        assert str(getattr(owner, verb)(*at, tree=1)) == str(getattr(forest.model_, verb)(*at, tree=1))


@pytest.mark.parametrize("kind", FORESTS)
def test_a_wrong_keyword_is_refused_by_the_name_that_was_written(kind):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}.__init__\(\) got an unexpected keyword argument 'trees'"):
        kind(trees=5)


@pytest.mark.parametrize("n_jobs", [0, "a", 1.5])
def test_threads_that_cannot_be_are_refused_after_the_fit_too(n_jobs):
    forest = tw.RandomForestClassifier(3).fit(X, CODES).set_params(n_jobs=n_jobs)

    for verb in (forest.predict, forest.predict_proba, forest.apply, forest.predict_std):
        with pytest.raises(ParameterError, match="n_jobs="):
            verb(X[:1])
