"""The tree of a page says what the estimator says: nodes, tests, rules, answers, of every kind of tree."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import treewright as tw
from treewright.show.page import tree as module
from treewright.show.page.render import json_for_script
from treewright.show.page.tree import tree_part
from treewright.trees.arrays import children

N = 240


def table(seed=0):
    """Levels, ordered levels, numbers, gaps, and a target that depends on all of them."""
    rng = np.random.default_rng(seed)
    sky = np.array(["sun", "rain", "fog", "snow"])[rng.integers(0, 4, N)].astype(object)
    size = np.array(["small", "middle", "large"])[rng.integers(0, 3, N)].astype(object)
    warmth = np.round(rng.normal(15, 6, N), 1)
    score = (warmth > 14) + np.isin(sky, ["rain", "fog"]) + 2 * (size == "large") + (rng.random(N) < 0.2)
    sky[rng.random(N) < 0.08] = None
    warmth[rng.random(N) < 0.08] = math.nan
    return {"sky": sky, "size": size, "warmth": warmth}, np.array(list("abcde"))[score], score.astype(float)


ORDER = {"size": ["small", "middle", "large"]}
KINDS = {
    "subsets": lambda: tw.DecisionTreeClassifier(min_samples_leaf=3),
    "ordinal": lambda: tw.DecisionTreeClassifier(ordinal=ORDER, min_samples_leaf=3),
    "multiway": tw.C45Classifier,
    "grouped": lambda: tw.C45Classifier(nominal_splits="grouped"),
    "intervals": lambda: tw.CHAIDClassifier(alpha=0.9),
    "missing branch": lambda: tw.DecisionTreeClassifier(missing="branch", min_samples_leaf=3),
    "surrogates": lambda: tw.DecisionTreeClassifier(missing="surrogate", min_samples_leaf=3),
    "best first": lambda: tw.DecisionTreeClassifier(max_leaf_nodes=9),
    "pruned": lambda: tw.DecisionTreeClassifier(ccp_alpha=0.005),
    "numbers": lambda: tw.DecisionTreeRegressor(min_samples_leaf=3),
    "medians": lambda: tw.DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=8),
}


def fitted(kind):
    X, classes, numbers = table()
    est = KINDS[kind]()
    return est.fit(X, numbers if isinstance(est, tw.DecisionTreeRegressor) else classes)


@pytest.fixture(scope="module", params=KINDS, ids=str)
def grown(request):
    est = fitted(request.param)
    return est, tree_part(est.model_)


def test_every_node_of_a_small_tree_is_there_once_parents_first(grown):
    est, part = grown

    assert [node.id for node in part.nodes] == list(range(est.tree_.n_nodes))
    assert part.n_nodes == est.tree_.n_nodes
    assert part.n_leaves == est.get_n_leaves()
    assert part.depth == est.get_depth()
    assert all(node.parent is None or node.parent < node.id for node in part.nodes)


def test_nodes_say_what_the_estimator_says(grown):
    est, part = grown
    for node in part.nodes:
        own = est.node(node.id)
        assert node.parent == own.parent
        assert node.depth == own.depth
        assert node.n_rows == own.samples
        assert node.weight == own.weight
        assert node.impurity == own.impurity
        assert node.hidden == 0
        held = own.value if isinstance(own.value, dict) else {"": own.value}
        assert node.values == (tuple(held.values()),)
        assert (node.test is None) == own.is_leaf == (node.question == "") == (node.gain is None)
        if part.outputs[0]:
            assert node.said == own.prediction == part.outputs[0][node.code]
        else:
            assert float(node.said) == pytest.approx(own.prediction, rel=1e-3)
            assert node.code is None


def test_questions_and_answers_are_those_of_the_nodes(grown):
    est, part = grown
    for node in part.nodes:
        if node.parent is None:
            assert (node.edge, node.branch, node.rule) == ("", 0, ())
            continue
        above = est.node(node.parent)
        assert above.children[node.branch] == node.id
        asked = part.nodes[node.parent]
        assert asked.question.startswith(above.test.column)
        assert asked.test.column == list(est.model_.schema.names).index(above.test.column)
        assert node.edge
        assert asked.test.missing == above.missing_branch


def test_a_gain_is_the_impurity_minus_that_of_the_branches(grown):
    est, part = grown
    tree = est.tree_
    for node in part.nodes:
        if node.gain is None:
            continue
        below = list(children(tree, node.id))
        after = np.average(tree.impurity[below], weights=tree.weight[below])
        assert node.gain == pytest.approx(max(0.0, tree.impurity[node.id] - after), abs=1e-12)
        assert node.gain >= 0


def branch_taken(test, cell):
    """The branch of a cell, as a program with the part alone finds it; None where it is missing."""
    if cell is None or math.isnan(cell):
        return None
    if test.kind == "present":
        return 0
    if test.kind == "levels":
        return test.branch_of[int(cell)]
    return next((at for at, cut in enumerate(test.cuts) if cell <= cut), len(test.cuts))


def sent(part, cells):
    """The leaf that a row ends in, by the part alone."""
    at = {node.id: node for node in part.nodes}
    below = {(node.parent, node.branch): node for node in part.nodes}
    node = at[0]
    while node.test is not None:
        branch = branch_taken(node.test, cells[node.test.column])
        for stand_in in node.test.surrogates if branch is None else ():
            branch = branch_taken(stand_in, cells[stand_in.column])
            if branch is not None and stand_in.kind == "cuts" and stand_in.flipped:
                branch = 1 - branch
            branch = None if branch == -1 else branch
            if branch is not None:
                break
        node = below[node.id, node.test.missing if branch is None else branch]
    return node.id


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("multiway", "grouped")])
def test_a_program_with_the_part_alone_sends_rows_to_the_leaves_of_apply(kind):
    est = fitted(kind)
    part = tree_part(est.model_)
    X, y, numbers = table(seed=1)  # rows that the fit never saw
    target = numbers if est.model_.task == "regression" else y
    matrix, _, _ = est.model_.encode_rows(X, target, None, routed=True)

    assert [sent(part, row) for row in matrix.tolist()] == est.apply(X).tolist()


@pytest.mark.parametrize("kind", ["multiway", "grouped"])
def test_whole_rows_of_a_tree_that_divides_gaps_go_to_the_leaves_of_apply(kind):
    est = fitted(kind)
    X, y, _ = table(seed=1)
    matrix, _, _ = est.model_.encode_rows(X, y, None, routed=True)
    whole = ~np.isnan(matrix).any(axis=1)

    assert [sent(tree_part(est.model_), row) for row in matrix[whole].tolist()] == est.apply(X)[whole].tolist()


@pytest.mark.parametrize("kind", ["subsets", "ordinal", "multiway", "missing branch", "numbers"])
def test_the_rule_of_a_node_is_the_path_of_its_audit(kind):
    est = fitted(kind)

    for node in tree_part(est.model_).nodes:
        assert node.rule == est.audit(node.id).path


def test_several_outputs_stand_side_by_side():
    X, y, _ = table()
    Y = np.column_stack([y, np.where(np.isin(y, ["a", "b"]), "few", "many")])
    est = tw.DecisionTreeClassifier(max_depth=3).fit(X, Y)

    part = tree_part(est.model_)

    assert part.outputs == (("a", "b", "c", "d", "e"), ("few", "many"))
    assert part.output_names == ("y0", "y1")
    for node in part.nodes:
        own = est.node(node.id)
        assert node.values == tuple(tuple(each.values()) for each in own.value)
        assert node.said == ", ".join(own.prediction)
        assert part.outputs[0][node.code] == own.prediction[0]


def test_a_folded_tree_says_how_many_nodes_it_leaves_out():
    est = fitted("subsets")
    whole = tree_part(est.model_)

    part = tree_part(est.model_, max_nodes=9)

    assert len(part.nodes) <= 9
    assert part.n_nodes == est.tree_.n_nodes
    assert len(part.nodes) + sum(node.hidden for node in part.nodes) == est.tree_.n_nodes
    kept = {node.id for node in part.nodes}
    for node in part.nodes:
        own = whole.nodes[node.id]
        if node.hidden:
            assert (node.test, node.question, node.gain) == (None, "", None)
            assert not any(child in kept for child in est.node(node.id).children)
            assert (node.said, node.values, node.rule) == (own.said, own.values, own.rule)
        else:
            assert node == own


def test_a_pruned_tree_is_shown_as_it_is_now():
    X, y, _ = table()
    est = tw.DecisionTreeClassifier().fit(X, y)

    small = est.prune("cost_complexity", alpha=0.01)

    part = tree_part(small.model_)
    assert part.n_nodes == small.tree_.n_nodes < est.tree_.n_nodes
    assert "pruned" in part.headline
    assert [node.n_rows for node in part.nodes] == small.tree_.n_samples.tolist()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("subsets", "The texts on the edges show the branch that missing values follow."),
        ("missing branch", "Missing values have their own branch"),
        ("surrogates", "Missing values follow the first surrogate test"),
        ("multiway", "Missing values take every branch, in proportion"),
    ],
)
def test_the_way_of_missing_values_is_told_in_words(kind, words):
    assert tree_part(fitted(kind).model_).missing_words.startswith(words)


def test_a_tree_that_met_no_gap_says_so():
    est = tw.DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])

    assert tree_part(est.model_).missing_words == "The training rows have no missing values."


def test_the_range_of_numbers_is_that_of_the_nodes():
    part = tree_part(fitted("numbers").model_)

    values = [node.values[0][0] for node in part.nodes]
    assert (part.low, part.high) == (min(values), max(values))


def test_a_chain_of_5000_levels_is_folded_and_its_rules_stay_short():
    X = np.column_stack([np.arange(5001.0), np.zeros(5001)])
    est = tw.DecisionTreeClassifier().fit(X, np.arange(5001) % 2)
    assert est.get_depth() == 5000

    part = tree_part(est.model_)

    assert len(part.nodes) == 4001
    assert part.nodes[-1].hidden + part.nodes[-2].hidden == 10_001 - 4001
    # One condition per column and node, however deep it is.
    assert all(len(node.rule) == (node.id > 0) for node in part.nodes)


def test_a_tree_with_too_many_conditions_has_no_rules(monkeypatch):
    model = fitted("subsets").model_
    n_conditions = sum(len(node.rule) for node in tree_part(model).nodes)

    monkeypatch.setattr(module, "MAX_CONDITIONS", n_conditions)
    assert all(node.rule is not None for node in tree_part(model).nodes)
    monkeypatch.setattr(module, "MAX_CONDITIONS", n_conditions - 1)
    assert all(node.rule is None for node in tree_part(model).nodes)


def test_hostile_names_are_text():
    name = "</script><img src=x onerror=alert(1)>\u202e"
    est = tw.DecisionTreeClassifier().fit({name: ["<b>", "x", "<b>", "x"]}, ["</script>", "b", "</script>", "b"])

    written = json_for_script(tree_part(est.model_))

    assert "<" not in written
    asked = json.loads(written)["nodes"][0]["question"]
    assert asked.startswith("</script><img src=x onerror=alert(1)>"), "it is read as it is"
    assert "\u202e" not in asked, "but it turns no text around"
