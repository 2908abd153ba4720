"""``pruning_part``: the numbers of the page are those of ``pruning_path``, ``compare_pruning`` and ``prune``."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import KFold

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.model_selection import PrunedTree, compare_pruning, pruning_path
from treewright.reporting import pruning as module
from treewright.reporting.data import Options, report_data
from treewright.reporting.pruning import pruning_part
from treewright.show.page.render import json_for_script

OTHERS = ("error_based", "pessimistic", "minimum_error", "significance", "description_length")


def halves(X, y, weights=None):
    """Two parts of a table, of different length: where as many rows are divided it cannot be told whose they are."""
    parts = slice(None, None, 2), slice(3, None, 2)
    return tuple((X[part], y[part], None if weights is None else weights[part]) for part in parts)


def with_holes(X, seed=0):
    X = np.array(X, float)
    X[np.random.default_rng(seed).random(X.shape) < 0.08] = np.nan
    return X


def words(n=300, seed=0):
    """A table of levels and numbers with two classes."""
    draw = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "sky": draw.choice(["sun", "rain", "snow", "fog"], n),
            "day": draw.choice(["mo", "tu", "we"], n),
            "wind": draw.normal(size=n).round(1),
        }
    )
    score = (table["sky"] == "sun") * 1.0 + (table["day"] == "mo") * 0.5 + table["wind"] * 0.4
    return table, np.where(score + draw.normal(size=n) * 0.7 > 0.6, "out", "in")


def case(name):
    """An estimator and two halves of a table."""
    draw = np.random.default_rng(1)
    X, y = load_breast_cancer(return_X_y=True)
    if name == "classes":
        return tw.DecisionTreeClassifier(), *halves(X, y)
    if name == "three classes, weights":
        X, y = load_wine(return_X_y=True)
        return tw.DecisionTreeClassifier(criterion="entropy"), *halves(X, y, draw.integers(0, 4, len(y)).astype(float))
    if name == "class weights":
        return tw.DecisionTreeClassifier(class_weight={0: 3.0, 1: 1.0}), *halves(X, y)
    if name == "missing values":
        return tw.DecisionTreeClassifier(), *halves(with_holes(X), y)
    if name == "surrogates":
        return tw.DecisionTreeClassifier(missing="surrogate", max_depth=5), *halves(with_holes(X), y)
    if name == "multiway":
        return tw.C45Classifier(confidence=None), *halves(*words())
    if name == "divided rows":
        X, y = load_iris(return_X_y=True)
        return tw.C45Classifier(confidence=None), *halves(with_holes(X), y)
    if name == "chaid":
        return tw.CHAIDClassifier(alpha=0.4), *halves(*words())
    X, y = load_diabetes(return_X_y=True)
    if name == "numbers":
        return tw.DecisionTreeRegressor(min_samples_leaf=4), *halves(X, y)
    if name == "numbers, weights":
        return tw.DecisionTreeRegressor(max_depth=6), *halves(X, y, draw.integers(1, 4, len(y)).astype(float))
    assert name == "medians"
    return tw.DecisionTreeRegressor(criterion="absolute_error", max_depth=5), *halves(X, y)


CASES = (
    "classes", "three classes, weights", "class weights", "missing values", "surrogates", "multiway", "divided rows",
    "chaid", "numbers", "numbers, weights", "medians",
)  # fmt: skip


def part_of(fitted, rows, **options):
    X, y, weights = rows
    model = getattr(fitted, "model_", fitted)
    return pruning_part(report_data(model, None if model is fitted else fitted, X, y, weights), Options(**options))


def fitted(est, rows):
    return clone(est).fit(rows[0], rows[1], rows[2])


def others_of(part):
    return {each.method: each for each in part.pruners}


def assert_is_path(part, path):
    np.testing.assert_array_equal(part.alphas, path.alphas)
    np.testing.assert_array_equal(part.n_leaves, path.n_leaves)
    np.testing.assert_array_equal(part.depth, path.depth)
    np.testing.assert_allclose(part.train_error, path.train_error, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(part.error, path.cv_error, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(part.standard_error, path.standard_error, rtol=1e-9, atol=1e-12)
    assert (part.minimum, part.one_se) == (path.step_of("min"), path.step_of("1se"))
    assert (part.judged_by, part.loss, part.n_folds) == (path.judged_by, path.loss, path.n_folds)


@pytest.mark.parametrize("name", CASES)
def test_rows_kept_aside_judge_as_validation_of_pruning_path_does(name):
    est, learned, aside = case(name)

    part = part_of(fitted(est, learned), aside)

    validation = aside if aside[2] is not None else aside[:2]
    assert_is_path(part, pruning_path(est, *learned[:2], validation=validation, sample_weight=learned[2]))


@pytest.mark.parametrize("name", CASES)
def test_rows_of_the_fit_are_judged_by_the_folds_of_pruning_path(name):
    est, learned, _ = case(name)

    part = part_of(fitted(est, learned), learned)

    assert_is_path(part, pruning_path(est, *learned[:2], sample_weight=learned[2]))
    assert any("class weight" in note for note in part.notes) == (name == "class weights")


# With class weights the page counts errors as the path does, by weight; ``compare_pruning`` counts rows.
@pytest.mark.parametrize("name", [name for name in CASES if name != "class weights"])
def test_other_pruners_are_those_of_compare_pruning(name):
    est, learned, aside = case(name)

    found = others_of(part_of(fitted(est, learned), aside))

    table = compare_pruning(
        est, *learned[:2], *aside[:2], methods=list(OTHERS), sample_weight=learned[2], valid_weight=aside[2]
    )
    for method in ("none", *OTHERS):
        if method in table.undefined:
            assert found[method].why_not == table.undefined[method]
            continue
        row, each = table["unpruned" if method == "none" else method], found[method]
        assert (each.n_leaves, each.depth, each.why_not) == (row.n_leaves, row.depth, "")
        if name == "medians":  # the page counts them as the path does, by the absolute error
            continue
        np.testing.assert_allclose(
            [each.train_error, each.error, each.standard_error],
            [row.train_error, row.valid_error, row.standard_error], rtol=1e-9, atol=1e-12,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["classes", "numbers", "multiway"])
def test_reduced_error_is_pruned_by_the_judged_rows_and_says_so(name):
    est, learned, aside = case(name)
    whole = fitted(est, learned)

    found = others_of(part_of(whole, aside))["reduced_error"]

    pruned = whole.prune("reduced_error", *aside[:2])
    assert (found.n_leaves, found.depth) == (pruned.get_n_leaves(), pruned.get_depth())
    assert "error on them is too low" in found.note
    assert "not fitted on" in others_of(part_of(whole, learned))["reduced_error"].why_not


@pytest.mark.parametrize("name", CASES)
def test_nodes_below_their_step_make_the_tree_that_prune_makes(name):
    est, learned, aside = case(name)
    whole = fitted(est, learned)
    tree = whole.tree_

    part = part_of(whole, aside)

    for at in {0, len(part.steps) // 2, len(part.steps) - 1}:
        pruned = whole.prune("cost_complexity", alpha=part.alphas[at])
        stays = {node for node, step in part.collapse_step.items() if step > part.steps[at]}
        leaves = [
            node for node in range(tree.n_nodes)
            if str(node) not in stays and (node == 0 or str(tree.parent[node]) in stays)
        ]  # fmt: skip
        assert len(leaves) == part.n_leaves[at] == pruned.get_n_leaves()
        np.testing.assert_array_equal(tree.value[leaves], pruned.tree_.value[pruned.tree_.is_leaf])


@pytest.mark.parametrize("name", CASES)
def test_nodes_made_leaves_make_the_tree_of_the_pruner(name):
    est, learned, aside = case(name)
    whole = fitted(est, learned)

    for method, each in others_of(part_of(whole, aside)).items():
        if method == "none" or each.why_not:
            continue
        pruned = whole.prune(method, *(aside if method == "reduced_error" else ()))
        if each.tree is not None:
            assert each.tree.n_nodes == pruned.tree_.n_nodes
            assert sum(sum(node.judged) for node in each.tree.nodes if node.test is None) == pytest.approx(
                len(aside[0]) if aside[2] is None else aside[2].sum()
            )
            continue
        depth_first, n_leaves = [0], 0
        while depth_first:
            node = depth_first.pop()
            if whole.tree_.is_leaf[node] or node in each.leaves:
                n_leaves += 1
                continue
            first = whole.tree_.first_child[node]
            depth_first += range(first, first + whole.tree_.n_branches[node])
        assert n_leaves == each.n_leaves


def test_raised_subtrees_have_a_tree_of_their_own():
    X, y = load_iris(return_X_y=True)
    found = None
    for seed in range(20):
        draw = np.random.default_rng(seed)
        noisy = np.where(draw.random(len(y)) < 0.2, draw.integers(0, 3, len(y)), y)
        est = tw.C45Classifier(confidence=None, min_samples_leaf=1).fit(X[::2], noisy[::2])
        if "raise" in est.prune("error_based").prune_log_.actions:
            found = others_of(part_of(est, (X[1::2], noisy[1::2], None)))["error_based"]
            break
    assert found is not None, "no case with a raised subtree"

    assert found.leaves == ()
    assert found.tree.n_leaves == found.n_leaves == est.prune("error_based").get_n_leaves()


def test_divided_rows_have_a_confusion_matrix_for_each_step():
    est, learned, aside = case("divided rows")
    whole = fitted(est, learned)

    part = part_of(whole, aside)

    assert part.has_confusion
    for at, found in enumerate(part.confusion):
        predicted = whole.prune("cost_complexity", alpha=part.alphas[at]).predict(aside[0])
        np.testing.assert_array_equal(found, confusion_matrix(aside[1], predicted))
    for each in part.pruners:
        if not each.why_not and each.method not in ("none", "reduced_error"):
            predicted = whole.prune(each.method).predict(aside[0])
            np.testing.assert_array_equal(each.confusion, confusion_matrix(aside[1], predicted))


@pytest.mark.parametrize("name", ["classes", "class weights", "numbers", "medians", "surrogates"])
def test_a_model_alone_is_judged_as_its_estimator_is(name):
    est, learned, aside = case(name)
    whole = fitted(est, learned)

    for rows in (learned, aside):
        of_estimator, of_model = part_of(whole, rows), part_of(whole.model_, rows)
        assert of_model.python.startswith("model.prune")
        for field in ("alphas", "error", "standard_error", "n_leaves", "minimum", "judged_by"):
            assert getattr(of_model, field) == getattr(of_estimator, field)
        np.testing.assert_allclose(of_model.train_error, of_estimator.train_error, rtol=1e-12, atol=1e-15)


def test_a_model_whose_parameters_are_not_known_has_no_folds_and_says_so():
    est, learned, _ = case("classes")
    model = fitted(est, learned).model_
    strange = tw.Model(**{**vars(model), "facts": {**model.facts, "algorithm": "of another house"}})

    part = part_of(strange, learned)

    assert (part.judged_by, part.error, part.minimum) == ("nothing", None, None)
    assert any("does not hold" in note for note in part.notes)


def test_folds_cut_their_trees_back_as_the_judged_tree_was():
    est, learned, _ = case("classes")
    X, y, _ = learned
    small = fitted(est, learned).prune("pessimistic")
    folds = KFold(5, shuffle=True, random_state=3)

    part = part_of(small, learned, cv=folds)

    wrong = 0
    for train, test in folds.split(X):
        again = clone(est).fit(X[train], y[train]).prune("pessimistic").prune("cost_complexity", alpha=0.0)
        wrong += (again.predict(X[test]) != y[test]).sum()
    assert part.error[0] == pytest.approx(wrong / len(y), abs=1e-15)
    assert any("already pruned" in note and "pessimistic" in note for note in part.notes)
    assert part.n_leaves[0] <= small.get_n_leaves()


@pytest.mark.parametrize("name", ["classes", "multiway", "numbers"])
def test_folds_judge_other_pruners_by_trees_that_these_pruned(name):
    est, learned, _ = case(name)
    X, y, _ = learned
    folds = KFold(5, shuffle=True, random_state=3)

    part = part_of(fitted(est, learned), learned, cv=folds)

    for each in part.pruners:
        if each.why_not:
            continue
        losses = []
        for train, test in folds.split(X):
            rows = [one.iloc if hasattr(one, "iloc") else one for one in (X, y)]
            tree = clone(est).fit(rows[0][train], rows[1][train])
            tree = tree if each.method == "none" else tree.prune(each.method)
            said = tree.predict(rows[0][test])
            truth = rows[1][test]
            losses += ((said - truth) ** 2 if name == "numbers" else said != truth).tolist()
        assert each.error == pytest.approx(np.mean(losses), rel=1e-12, abs=1e-15)
        assert each.standard_error == pytest.approx(np.std(losses) / len(losses) ** 0.5, rel=1e-9)


@pytest.mark.parametrize(("name", "at"), [("classes", 0.98), ("divided rows", 0.8)])
@pytest.mark.parametrize("is_known", [True, False], ids=["estimator", "model"])
def test_a_threshold_decides_in_every_error(name, at, is_known):
    est, learned, aside = case(name)
    learned, aside = ((X[y < 2], y[y < 2], None) for X, y, _ in (learned, aside))
    est = fitted(est if name == "divided rows" else est.set_params(max_depth=2), learned)
    model = est.model_ = est.model_.with_threshold(at)
    assert (model.predict(learned[0]) != model.with_threshold(None).predict(learned[0])).any()

    part = part_of(est if is_known else model, aside)

    wrong = (model.predict(aside[0]) != aside[1]).mean()
    assert others_of(part)["none"].error == pytest.approx(wrong)
    if is_known or name == "classes":  # nodes do not tell it of divided rows
        on_fit = (model.predict(learned[0]) != learned[1]).mean()
        assert others_of(part)["none"].train_error == pytest.approx(on_fit)
        assert part.train_error[-1] == pytest.approx((learned[1] != (learned[1].mean() >= at)).mean())


def test_the_trees_of_folds_decide_by_the_threshold():
    est, learned, _ = case("classes")
    est = fitted(est, learned)
    est.model_ = est.model_.with_threshold(1.0)

    part = part_of(est, learned, cv=KFold(4))

    X, y, _ = learned
    grown = [(clone(est).fit(X[train], y[train]).model_.with_threshold(1.0), test) for train, test in KFold(4).split(X)]
    wrong = np.concatenate([model.predict(X[test]) != y[test] for model, test in grown])
    assert others_of(part)["none"].error == pytest.approx(wrong.mean())
    assert part.error[-1] == pytest.approx(y.mean())  # one leaf is never so sure


def test_what_the_fit_itself_cut_is_said_and_repeated():
    est, learned, _ = case("classes")
    X, y, _ = learned
    own = clone(est).set_params(ccp_alpha=0.01)
    folds = KFold(5, shuffle=True, random_state=3)

    part = part_of(fitted(own, learned), learned, cv=folds)

    wrong = sum((clone(own).fit(X[a], y[a]).predict(X[b]) != y[b]).sum() for a, b in folds.split(X))
    assert part.error[0] == pytest.approx(wrong / len(y), abs=1e-15)
    assert any("ccp_alpha=0.01" in note for note in part.notes)


@pytest.mark.parametrize(
    "told", [7, ["leaves"], [{"method": "of another house", "options": {}}], [{"method": "depth"}]]
)
def test_strange_facts_about_prunings_are_no_reason_to_fail(told):
    est, learned, _ = case("classes")
    model = fitted(est, learned).model_

    part = part_of(tw.Model(**{**vars(model), "facts": {**model.facts, "pruning": told}}), learned)

    assert part.judged_by == "folds"
    assert any("the model does not hold how" in note for note in part.notes)


@pytest.mark.parametrize("pruning", ["ccp_1se", "reduced_error"])
def test_a_tree_that_is_pruned_in_one_fit_is_reported(pruning):
    est, learned, aside = case("classes")
    whole = fitted(PrunedTree(est, pruning), learned)

    part = part_of(whole, aside)

    assert part.n_leaves[0] == whole.estimator_.get_n_leaves()
    assert any("already pruned" in note for note in part.notes)


def test_many_steps_are_thinned_and_keep_their_marks(monkeypatch):
    monkeypatch.setattr(module, "MAX_STEPS", 12)
    est, learned, aside = case("numbers")
    whole = fitted(est, learned)

    part = part_of(whole, aside)

    path = pruning_path(est, *learned[:2], validation=aside[:2])
    assert part.n_steps == len(path) > 12
    assert len(part.steps) <= 12
    assert (part.steps[0], part.steps[-1]) == (0, len(path) - 1)
    assert part.steps[part.minimum] == path.step_of("min")
    assert part.steps[part.one_se] == path.step_of("1se")
    np.testing.assert_array_equal(part.n_leaves, path.n_leaves[list(part.steps)])
    np.testing.assert_allclose(part.error, path.cv_error[list(part.steps)], rtol=1e-12)


def test_what_has_no_path_has_no_section():
    X, y = load_iris(return_X_y=True)
    for est in (
        tw.RandomForestClassifier(n_estimators=3, random_state=0),
        tw.KNeighborsClassifier(),
        tw.DecisionTreeClassifier(max_depth=1, min_samples_leaf=150),
    ):
        assert part_of(est.fit(X, y), (X, y, None)) is None


def test_folds_that_cannot_be_are_refused_where_they_were_asked_for():
    est, learned, _ = case("classes")
    whole = fitted(est, learned)

    with pytest.raises(ParameterError, match="cv=1"):
        part_of(whole, learned, cv=1)
    assert part_of(whole, learned, cv=None).judged_by == "validation"


def test_a_class_of_one_row_does_not_keep_the_report_from_being_made():
    X = [[1], [2], [3], [4], [5], [6]]
    y = ["a", "b", "a", "b", "b", "c"]

    part = part_of(tw.DecisionTreeClassifier().fit(X, y), (X, y, None))

    assert part.judged_by == "folds"
    assert len(part.error) == len(part.steps)


def test_rows_of_one_class_cannot_judge_and_the_part_says_so():
    est, learned, aside = case("classes")
    X, y, _ = aside
    only = y == 1

    part = part_of(fitted(est, learned), (X[only], y[only], None))

    assert part.judged_by == "nothing"
    assert any("all of class 1" in note for note in part.notes)


def test_hostile_numbers_end_in_a_note():
    X, y = np.arange(40.0).reshape(-1, 1), np.tile([1e200, -1e200, 3.0, 4e180], 10)

    part = part_of(tw.DecisionTreeRegressor(max_depth=3).fit(X[::2], y[::2]), (X[1::2], y[1::2], None))

    assert part is None or part.judged_by == "nothing"


def alphas_of(part):
    return {0, len(part.steps) // 3, len(part.steps) - 1}


@pytest.mark.parametrize("name", ["classes", "numbers", "multiway", "three classes, weights"])
def test_the_line_of_python_makes_the_tree(name):
    est, learned, aside = case(name)
    whole = fitted(est, learned)
    X, y, sample_weight = aside
    part = part_of(whole, aside)
    given = {"est": whole, "X": X, "y": y, "sample_weight": sample_weight}

    for at in alphas_of(part):
        made = eval(part.python.replace("{alpha}", repr(part.alphas[at])), given)
        assert made.get_n_leaves() == part.n_leaves[at]
    for each in part.pruners[1:]:
        if not each.why_not:
            made = eval(each.python, given)
            assert (made.get_n_leaves(), made.get_depth()) == (each.n_leaves, each.depth)


def test_everything_goes_into_json():
    for name in ("classes", "divided rows", "numbers"):
        est, learned, aside = case(name)
        text = json_for_script(part_of(fitted(est, learned), aside))
        assert re.search(r'"n_steps":\d+', text)
