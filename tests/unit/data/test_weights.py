"""A class weighs in every later use of a model what it weighed at the fit, whatever its label is."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataError, DataWarning, ParameterError
from treewright.model import Model
from treewright.model_selection import pruning_path

RNG = np.random.default_rng(7)
X = RNG.normal(size=(400, 3))
CODES = ((X[:, 0] + RNG.normal(size=400)) > 0.8).astype(int)
GROW, ASIDE = slice(0, 250), slice(250, 400)
LABELS = {
    "text": ["x", "y"],
    "bytes": [b"x", b"y"],
    "days": [np.datetime64("2020-01-01"), np.datetime64("2020-01-02")],
    "nanoseconds": np.array(["2020-01-01", "2020-01-02"], "datetime64[ns]").tolist(),
    "dates": [dt.date(2020, 1, 1), dt.date(2020, 1, 2)],
    "truth": [np.False_, np.True_],
    "numbers": [3, 4],
    "tuples of dates": [(dt.date(2020, 1, 1), 0), (dt.date(2020, 1, 2), 0)],
}


def labelled(kind: str, codes: np.ndarray = CODES):
    """The target with labels of a kind, and the keys that name them in ``class_weight``."""
    labels = LABELS[kind]
    if kind == "tuples of dates":
        return [labels[code] for code in codes], labels
    if kind == "nanoseconds":
        return np.array(labels, "datetime64[ns]")[codes], labels
    return np.array(labels)[codes] if kind != "dates" else np.array(labels, object)[codes], labels


def weighted_tree(kind: str, weights=(20.0, 1.0), **options):
    y, (first, second) = labelled(kind)
    if kind == "days":
        first, second = (label.item() for label in (first, second))
    given = {first: weights[0], second: weights[1]}
    return tw.DecisionTreeClassifier(class_weight=given, **options).fit(X[GROW], y[GROW]), y


@pytest.mark.parametrize("kind", LABELS)
def test_hold_out_rows_weigh_what_their_classes_did_whatever_the_labels_are(kind):
    est, y = weighted_tree(kind)
    plain, words = weighted_tree("text")

    small = est.prune("reduced_error", X[ASIDE], y[ASIDE])

    expected = plain.prune("reduced_error", X[ASIDE], words[ASIDE])
    unweighted = tw.DecisionTreeClassifier().fit(X[GROW], words[GROW]).prune("reduced_error", X[ASIDE], words[ASIDE])
    assert small.get_n_leaves() == expected.get_n_leaves() != unweighted.get_n_leaves()
    assert small.prune_log_.numbers["holdout_weight"].tolist() == expected.prune_log_.numbers["holdout_weight"].tolist()
    assert est.model_.facts["class_factors"] == [[20.0, 1.0]]


@pytest.mark.parametrize("kind", LABELS)
def test_the_rows_of_the_fit_are_known_again_whatever_the_labels_are(kind, tmp_path):
    est, y = weighted_tree(kind)
    est.save(tmp_path / "model.tw")

    again = tw.load(tmp_path / "model.tw")

    kept = est.prune("error_based")
    assert again.prune("error_based", X[GROW], y[GROW]).trees[0].value.tolist() == kept.tree_.value.tolist()
    assert repr(est.audit(0, X[GROW], y[GROW]).to_dict()) == repr(est.audit(0).to_dict())


@pytest.mark.parametrize("kind", ["bytes", "days", "dates"])
def test_a_path_with_folds_weighs_classes_whatever_the_labels_are(kind):
    est, y = weighted_tree(kind)
    plain, words = weighted_tree("text")

    path, expected = pruning_path(est, X, y, cv=3), pruning_path(plain, X, words, cv=3)

    assert path.cv_error.tolist() == expected.cv_error.tolist()
    aside = pruning_path(est, X[GROW], y[GROW], validation=(X[ASIDE], y[ASIDE]))
    of_words = pruning_path(plain, X[GROW], words[GROW], validation=(X[ASIDE], words[ASIDE]))
    assert aside.cv_error.tolist() == of_words.cv_error.tolist()


@pytest.mark.parametrize("factor", [Fraction(5, 2), np.float32(2.5)])
def test_a_class_weight_may_be_any_real_number(factor):
    est, y = weighted_tree("text", (factor, 1))
    same, _ = weighted_tree("text", (2.5, 1))

    small = est.prune("reduced_error", X[ASIDE], y[ASIDE])

    assert small.tree_.value.tolist() == same.prune("reduced_error", X[ASIDE], y[ASIDE]).tree_.value.tolist()
    assert est.model_.facts["parameters"] == same.model_.facts["parameters"]


def test_balanced_weights_of_passed_rows_are_those_of_the_fit():
    y = np.array(LABELS["text"])[CODES]
    est = tw.DecisionTreeClassifier(class_weight="balanced").fit(X[GROW], y[GROW])
    counts = np.bincount(CODES[GROW])
    few = np.r_[np.flatnonzero(CODES == 0)[:30], np.flatnonzero(CODES == 1)[:3]]

    _, target, weights = est.model_.encode_rows(X[few], y[few])

    assert weights.tolist() == (250 / (2 * counts))[target[:, 0]].tolist()


def test_class_weights_of_several_outputs_multiply():
    y = np.stack([np.array(["a", "b"])[CODES], np.array(["c", "d"])[(X[:, 1] > 0).astype(int)]], axis=1)
    est = tw.DecisionTreeClassifier(class_weight=[{"a": 2.0}, "balanced"], max_depth=3).fit(X, y)
    share = 400 / (2 * np.bincount((X[:, 1] > 0).astype(int)))

    _, target, weights = est.model_.encode_rows(X[:50], y[:50], np.full(50, 3.0))

    expected = 3.0 * np.array([2.0, 1.0])[target[:, 0]] * share[target[:, 1]]
    assert weights == pytest.approx(expected, rel=1e-15)


def without_factors(model: Model, stated: object) -> Model:
    """A model as older files hold it: the parameter as it was stated, and no factors."""
    facts = {name: fact for name, fact in model.facts.items() if name != "class_factors"}
    return Model.of(replace(model, facts={**facts, "parameters": {"class_weight": stated}}))


@pytest.mark.parametrize(
    ("kind", "stated", "expected"),
    [
        ("text", [["x", 20.0], ["y", 1.0]], [20.0, 1.0]),
        ("text", [["x", 20.0], ["z", 3.0]], [20.0, 1.0]),
        ("text", "balanced", [150 / (2 * n) for n in np.bincount(CODES[ASIDE])]),
        ("text", ["balanced"], [150 / (2 * n) for n in np.bincount(CODES[ASIDE])]),
        ("text", [[["x", 20.0]]], [20.0, 1.0]),
        ("text", None, None),
        ("numbers", [[3, 20], [5, 3]], [20.0, 1.0]),
    ],
)
def test_an_older_file_tells_the_weights_by_label(kind, stated, expected):
    est, y = weighted_tree(kind)

    _, target, weights = without_factors(est.model_, stated).encode_rows(X[ASIDE], y[ASIDE])

    if expected is None:
        assert weights is None
    else:
        assert weights.tolist() == np.array(expected)[target[:, 0]].tolist()


@pytest.mark.parametrize(
    ("kind", "stated", "why"),
    [
        ("bytes", [["bytes", 20.0], ["bytes", 1.0]], "names? a class only by its type"),
        ("days", [["date", 20.0]], "names? a class only by its type"),
        ("tuples of dates", [[["date", 0], 20.0]], "names? a class only by its type"),
        ("numbers", [["Decimal", 20.0]], "names? a class only by its type"),
        ("text", [["x", "Fraction"]], "do not hold the class weights"),
        ("text", [["x", -1.0]], "do not hold the class weights"),
        ("text", 3, "do not hold the class weights"),
        ("text", "even", "do not hold the class weights"),
        ("text", [["x"]], "do not hold the class weights"),
        ("text", [[["x", 2.0]], [["y", 2.0]]], "class weights of 2 outputs, the model has 1"),
    ],
)
def test_an_older_file_that_lost_the_weights_is_refused_and_not_taken_for_unweighted(kind, stated, why):
    est, y = weighted_tree(kind)

    with pytest.raises(DataError, match=why):
        without_factors(est.model_, stated).encode_rows(X[ASIDE], y[ASIDE])


@pytest.mark.parametrize(
    "factors",
    [[], [[1.0, 2.0]] * 2, [[1.0]], [[1.0, -2.0]], [[1.0, "a"]], [[1.0, True]], 3, "ab", [3], [[1.0, 10**400]]],
)
def test_factors_of_a_strange_file_are_refused(factors):
    est, y = weighted_tree("text")
    strange = Model.of(replace(est.model_, facts={**est.model_.facts, "class_factors": factors}))

    with pytest.raises(DataError, match="class_factors of the model's facts are not one number >= 0 for each class"):
        strange.prune("reduced_error", X[ASIDE], y[ASIDE])


def test_passed_weights_that_leave_float64_with_the_class_weights_are_refused():
    est, y = weighted_tree("text")

    with pytest.raises(ParameterError, match="class_weight times sample_weight is beyond float64"):
        est.prune("reduced_error", X[ASIDE], y[ASIDE], np.full(150, 1e306))


def test_the_refusal_of_rows_of_one_class_names_the_class_weight_that_left_the_other_out():
    y = CODES[GROW].copy()
    y[:50] = 2
    est = tw.DecisionTreeClassifier(class_weight={0: 0, 1: 1, 2: 1}).fit(X[GROW], y)

    with pytest.raises(DataError, match=r"the class_weight of the fit is 0 for 0, so .* are all of class 1: a single"):
        est.prune("reduced_error", X[ASIDE], CODES[ASIDE])
    with pytest.raises(ParameterError, match="class_weight gives every row the weight 0"):
        est.prune("reduced_error", X[:20], np.zeros(20, int))


def test_a_warning_of_small_weights_names_the_line_of_who_called():
    def warned(call):
        with pytest.warns(DataWarning, match="add up to 1 for 400 rows") as record:
            call()
        return [(one.filename, str(one.message).split(", and ")[1].split(" treats")[0]) for one in record]

    shares = np.full(400, 1 / 400)
    est = tw.DecisionTreeClassifier().fit(X, CODES, shares)

    for method in ("error_based", "pessimistic", "minimum_error", "significance", "description_length"):
        options = {"subtree_raising": False} if method == "error_based" else {}
        assert warned(lambda name=method, given=options: est.model_.prune(name, **given)) == [(__file__, method)]
        assert warned(lambda name=method, given=options: est.prune(name, **given)) == [(__file__, method)]
    assert warned(lambda: est.prune("error_based")) == [(__file__, "error_based")]
    assert warned(lambda: est.prune("error_based", X, CODES, shares)) == [(__file__, "error_based")]
    assert warned(lambda: tw.DecisionTreeClassifier(max_p_value=0.05).fit(X, CODES, shares)) == [
        (__file__, "max_p_value")
    ]


def test_methods_to_which_the_size_of_weights_is_nothing_do_not_warn():
    est = tw.DecisionTreeClassifier().fit(X[GROW], CODES[GROW], np.full(250, 1 / 250))

    est.prune("cost_complexity", alpha=0.01)
    est.prune("merge_equal_leaves")
    est.prune("reduced_error", X[ASIDE], CODES[ASIDE], np.full(150, 1e-9))
