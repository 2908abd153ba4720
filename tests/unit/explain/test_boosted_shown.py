"""How boosted models and their trees are shown, what their columns did, and why they are not audited."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from boosted_models import CASES, boosted, table_of, trees_of, weighted
from random_forests import SCHEMA, random_rows

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.exchange.dot import to_dot
from treewright.exchange.structure import to_structure
from treewright.forest.importance import impurity_decrease
from treewright.model import Model
from treewright.trees.check_model import check_model
from treewright.trees.data import impurity_importances
from treewright.trees.facts import growth_of
from treewright.trees.packed import PackedTrees
from treewright.trees.summary import node_of


@pytest.fixture(params=CASES, name="model")
def _model(request: pytest.FixtureRequest) -> Model:
    return boosted(np.random.default_rng(9), request.param, n_rounds=3)


def test_a_tree_alone_is_a_regression_tree_of_what_it_adds(model: Model) -> None:
    k = model.boosting.n_scores  # type: ignore[union-attr]
    for at in range(model.n_trees):
        alone = model.tree(at)
        assert (alone.task, alone.combine, alone.n_outputs, alone.classes) == ("regression", "single", 1, ())
        assert alone.boosting is None
        assert alone.schema is model.schema
        check_model(alone)
        assert alone.target_names == model.tree(at % k).target_names
        assert np.array_equal(alone.trees[0].value, trees_of(model)[at].value)


def test_trees_are_named_after_their_scores() -> None:
    rng = np.random.default_rng(1)

    def names(case: str, targets: tuple[str, ...] = ()) -> list[str]:
        model = replace(boosted(rng, case, n_rounds=1), target_names=targets)
        return [" ".join(model.tree(at).target_names) for at in range(model.n_trees)]

    assert names("number") == [""]
    assert names("number", ("price",)) == ["price"]
    assert names("rates", ("claims",)) == ["log of claims"]
    assert names("two numbers") == ["y0", "y1"]
    assert names("two classes") == ["log odds of b"]
    assert names("four classes") == [f"score of {label}" for label in "abcd"]
    assert names("several outputs", ("p", "q", "r")) == [
        "p: score of a", "p: score of b", "p: score of c", "q: log odds of b", "r: log odds of a",
    ]  # fmt: skip


def test_every_reader_of_one_tree_says_that_it_adds(model: Model) -> None:
    at = next(place for place, tree in enumerate(trees_of(model)) if tree.n_nodes > 1)
    alone, tree = model.tree(at), trees_of(model)[at]
    leaf = int(np.flatnonzero(tree.is_leaf)[0])

    for text in (model.show(tree=at), alone.show()):
        assert text.startswith("Regression tree")
        assert "adds: what a leaf adds to the score" in text
        assert "leaf adds" in text
        assert " variance " in text
    assert f"({at + 1} of {model.n_trees} trees)" in model.show(tree=at) or model.n_trees == 1
    rules = str(model.rules(tree=at))
    assert "then adds " in rules
    assert "adds: what a leaf adds to the score" in rules
    assert "interval" not in rules  # a variance by covers gives none
    node = model.node(leaf, tree=at)
    assert f"a leaf that adds {tree.value[leaf, 0]}" in str(node)
    assert node.value == node.prediction == tree.value[leaf, 0]
    assert str(node_of(model, leaf, tree=at)) == str(node)
    for picture in (model.plot(tree=at).text, alone.plot().text):
        assert "adds" in picture
    assert "variance" in to_dot(model, tree=at)
    structure = to_structure(model)
    json.dumps(structure, allow_nan=False)
    boosting = model.boosting
    assert boosting is not None
    assert structure["boosting"] == {"base": list(boosting.base), "link": boosting.link}


def test_a_tree_that_its_facts_do_not_tell_apart_still_adds() -> None:
    model = boosted(np.random.default_rng(1), "number")

    assert "leaf adds" in replace(model, facts={}).tree(0).show()
    plain = replace(model.tree(0), facts={"criterion": "gradient"})  # a function of a user's may be called so
    assert "leaf adds" not in plain.show()


def test_the_summary_tells_rounds_scores_base_link_and_gains(model: Model) -> None:
    text = model.show()
    boosting = model.boosting
    assert boosting is not None

    assert "3 rounds, each a tree" in text
    assert f"for each of {boosting.n_scores} scores" in text or boosting.n_scores == 1
    assert f"{boosting.base[0]:.3g}"[:4] in text
    assert "base: " in text
    assert "the prediction is the" in text
    share = model.feature_importances.max()
    assert f"{share:7.1%} of the gain" in text
    assert text.endswith("tree(0) returns it as a model")
    assert "<pre>" in model._repr_html_()


def test_a_summary_without_gains_tells_how_often_columns_are_asked() -> None:
    model = boosted(np.random.default_rng(2), "number")
    packed = model.trees
    assert isinstance(packed, PackedTrees)
    nothing = replace(packed, importances=np.zeros_like(packed.importances))

    assert "of the splits" in replace(model, trees=nothing).show()


def test_importances_are_gains_covers_and_numbers_of_tests(model: Model) -> None:
    packed, p = model.trees, len(model.schema)
    assert isinstance(packed, PackedTrees)
    cover, tests = np.zeros(p), np.zeros(p)
    for tree in trees_of(model):
        for node in np.flatnonzero(~tree.is_leaf):
            cover[tree.feature[node]] += tree.weight[node]
            tests[tree.feature[node]] += 1
    gains = packed.importances.sum(axis=0)

    np.testing.assert_allclose(model.importances(), gains / gains.sum(), rtol=1e-14)
    np.testing.assert_allclose(model.importances("cover"), cover / cover.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.importances("frequency"), tests / tests.sum(), rtol=1e-14)
    assert np.array_equal(model.importances("gain"), model.feature_importances)
    assert np.array_equal(impurity_decrease(model).values, model.feature_importances)
    assert "gain" in str(impurity_decrease(model))


def test_importances_without_splits_are_zero() -> None:
    model = boosted(np.random.default_rng(3), "number", n_rows=2)
    packed = model.trees
    assert isinstance(packed, PackedTrees)
    assert packed.n_nodes == packed.n_trees
    for kind in ("cover", "frequency"):
        assert model.importances(kind).tolist() == [0.0] * len(SCHEMA)
    assert "no tree has a split" in replace(model, trees=replace(packed, importances=packed.importances * 0)).show()


@pytest.mark.parametrize("kind", ["weight", None, [], 3])
def test_importances_of_no_kind_are_refused(kind: Any) -> None:
    model = boosted(np.random.default_rng(3), "number")

    with pytest.raises(ParameterError, match="choose one of gain, cover, frequency"):
        model.importances(kind)
    with pytest.raises(ParameterError, match="for boosted models"):
        model.tree(0).importances()


def test_trees_with_weights_count_by_them() -> None:
    model = weighted(np.random.default_rng(4), "vote", n_trees=4)
    weights = np.asarray(model.tree_weights)
    each = np.array([impurity_importances(tree, len(SCHEMA)) for tree in model.trees])
    expected = weights @ each

    np.testing.assert_allclose(model.feature_importances, expected / expected.sum(), rtol=1e-12)
    assert to_structure(model)["tree_weights"] == weights.tolist()


@pytest.mark.parametrize(("algorithm", "why"), [("gradient_boosting", "gradients"), ("adaboost", "row weights")])
def test_boosted_trees_are_not_audited(algorithm: str, why: str) -> None:
    rng = np.random.default_rng(5)
    model = boosted(rng, "number") if algorithm == "gradient_boosting" else weighted(rng, "median")
    table, y = table_of(random_rows(rng, 9, SCHEMA)), np.arange(9.0)

    for each in (model, model.tree(0)):
        with pytest.raises(ParameterError, match=rf"a tree of {algorithm} is .*{why}") as refused:
            each.audit(table, y)
        assert "show(tree=i)" in str(refused.value)


def test_growth_of_boosted_trees_is_told() -> None:
    rng = np.random.default_rng(6)
    member = {"algorithm": "cart", "parameters": {"splitter": "random"}}
    ada = growth_of(replace(weighted(rng, "vote"), facts={"algorithm": "adaboost", "member": member}))

    assert not growth_of(boosted(rng, "number")).tries_every_cut
    assert (ada.algorithm, ada.splitter, ada.is_member) == ("cart", "random", True)


def test_the_command_shows_gains(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from treewright.cli.options import FormatName, ShowRequest
    from treewright.cli.show import run_show

    model = boosted(np.random.default_rng(7), "four classes")
    path = tmp_path / "boosted.tw"
    model.save(path)
    out = tmp_path / "out.txt"

    request = ShowRequest(model=path, out=out)
    run_show(replace(request, importances=True))
    assert "(gain)" in out.read_text()
    for options in ({"tree": 1}, {}):
        run_show(replace(request, force=True, **options))
        assert "adds" in out.read_text() or "rounds" in out.read_text()
    for form in ("svg", "dot", "json", "rules", "rules-csv"):
        run_show(replace(request, form=FormatName(form), tree=2, force=True))
        assert out.read_text()


def test_what_gradients_leave_by_rounding_is_shown_as_nothing() -> None:
    X = np.arange(60.0).reshape(-1, 1)
    boosted = tw.GradientBoostingRegressor(2, min_samples_leaf=5, l2=0).fit(X, np.sin(X[:, 0]) / 7)
    tree = boosted.tree(0)

    assert 0 < abs(tree.trees[0].value[0, 0]) < 1e-8, "the test needs a root that is not quite 0"
    (row,) = (line for line in tree.show().splitlines() if "all rows" in line)
    assert row.split()[4] == "0"
    assert "adds 0\\n" in to_dot(tree)
    assert "adds 0<" in tree.plot().text
