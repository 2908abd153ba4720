"""The section of many trees: its numbers are those of the estimators and of the functions for users."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import log_loss, mean_squared_error, roc_auc_score

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.predict.ensemble import combined, predictions_after
from treewright.reporting.data import Options, report_data
from treewright.reporting.ensemble import ensemble_part, surrogate_part
from treewright.reporting.rounds import curve_over_rounds
from treewright.show.page.parts import MarkPart
from treewright.show.page.render import json_for_script, plain
from treewright.trees.data import sizes_of
from treewright.trees.packed import take

X, Y = load_breast_cancer(return_X_y=True)
NAMES = np.where(Y == 1, "benign", "malignant")
NX, NY = load_diabetes(return_X_y=True)
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


def part_of(est, table, target, weights=None, **options):
    chosen = replace(Options(), **options)
    judged = report_data(est.model_, est, table, target, weights)
    return ensemble_part(judged, chosen, surrogate_part(judged, chosen))


def curve_of(part, key):
    return next(curve for curve in part.curves if curve.key == key)


@pytest.fixture(scope="module")
def forest():
    return tw.RandomForestClassifier(n_estimators=40, oob_score=True).fit(X[TRAIN], NAMES[TRAIN])


@pytest.fixture(scope="module")
def forest_part(forest):
    return part_of(forest, X[TEST], NAMES[TEST])


@pytest.fixture(scope="module")
def boosted():
    est = tw.GradientBoostingClassifier(n_estimators=150, early_stopping=True, learning_rate=0.3)
    return est.fit(X[TRAIN], NAMES[TRAIN])


def test_a_forests_errors_are_those_of_its_first_trees(forest, forest_part):
    curve = curve_of(forest_part, "error")

    for n, error in zip(curve.x, curve.series[0].y, strict=True):
        first = replace(forest.model_, trees=take(forest.model_.trees, np.arange(n)))
        assert error == pytest.approx(np.mean(first.predict(X[TEST]) != NAMES[TEST]), abs=1e-12)
    assert curve.series[0].y[-1] == pytest.approx(1 - forest.score(X[TEST], NAMES[TEST]), abs=1e-12)


def test_a_forests_out_of_bag_curve_ends_at_its_score(forest, forest_part):
    curve = curve_of(forest_part, "error")

    assert [series.name for series in curve.series] == ["test rows", "out of bag"]
    assert curve.series[1].y[-1] == 1 - forest.oob_score_
    assert f"{100 * (1 - forest.oob_score_):.1f} % wrong out of bag" in curve.words


def test_errors_of_numbers_are_roots_of_mean_squares():
    forest = tw.RandomForestRegressor(n_estimators=20, oob_score=True).fit(NX[TRAIN], NY[TRAIN])

    curve = curve_of(part_of(forest, NX[TEST], NY[TEST]), "error")

    assert curve.series[0].y[-1] ** 2 == pytest.approx(mean_squared_error(NY[TEST], forest.predict(NX[TEST])))
    assert curve.series[1].y[-1] ** 2 == pytest.approx(mean_squared_error(NY[TRAIN], forest.oob_prediction_))


def test_weights_of_rows_weigh_in_the_errors(forest):
    weights = np.linspace(0.1, 3, len(X[TEST]))

    curve = curve_of(part_of(forest, X[TEST], NAMES[TEST], weights), "error")

    assert curve.series[0].y[-1] == pytest.approx(1 - forest.score(X[TEST], NAMES[TEST], weights))


@pytest.mark.parametrize("make", [
    lambda: tw.RandomForestClassifier(n_estimators=9, voting="hard").fit(X[TRAIN], Y[TRAIN]),
    lambda: tw.RandomForestRegressor(n_estimators=9).fit(X[TRAIN], Y[TRAIN] * 1e308),
    lambda: tw.RandomForestRegressor(n_estimators=9, criterion="absolute_error").fit(X[TRAIN], Y[TRAIN]),
    lambda: tw.BaggingClassifier(n_estimators=9).fit(X[TRAIN], Y[TRAIN]),
    lambda: tw.AdaBoostClassifier(n_estimators=9).fit(X[TRAIN], Y[TRAIN]),
    lambda: tw.AdaBoostRegressor(n_estimators=9).fit(X[TRAIN], Y[TRAIN]),
    lambda: tw.GradientBoostingRegressor(n_estimators=9).fit(X[TRAIN], Y[TRAIN]),
], ids=["votes", "huge", "unpacked", "bag", "weights", "medians", "scores"])  # fmt: skip
def test_all_trees_together_answer_as_the_model_does(make):
    model = make().model_
    matrix = np.ascontiguousarray(X[TEST])

    *_, last = predictions_after(model, matrix, [1, 4, len(model.trees)])

    assert np.array_equal(last, combined(model, matrix))


def test_medians_of_the_first_trees_are_the_staged_ones():
    est = tw.AdaBoostRegressor(n_estimators=12).fit(NX[TRAIN], NY[TRAIN])

    curve = curve_of(part_of(est, NX[TEST], NY[TEST]), "error")

    staged = [mean_squared_error(NY[TEST], said) ** 0.5 for said in est.staged_predict(NX[TEST])]
    assert curve.series[0].y == pytest.approx(staged)


def test_the_loss_of_rounds_is_that_of_staged_shares_and_of_prune(boosted):
    part = part_of(boosted, X[TEST], NAMES[TEST])
    curve = curve_of(part, "loss")

    staged = [log_loss(NAMES[TEST], shares, labels=boosted.classes_)
              for shares in boosted.staged_predict_proba(X[TEST])]  # fmt: skip
    said = dict(zip(curve.x, curve.series[0].y, strict=True))
    assert {at: y for at, y in said.items() if y is not None} == pytest.approx(
        {at: staged[at - 1] for at in curve.x if 1 <= at <= len(staged)}
    )
    best = int(np.argmin(staged)) + 1
    assert best == boosted.prune("rounds", X[TEST], NAMES[TEST]).n_estimators_
    assert any(mark.x == best for mark in curve.marks)
    assert f"round {best}" in curve.words or f"kept, {best}" in curve.words


def test_the_history_of_the_fit_stands_beside(boosted):
    curve = curve_of(part_of(boosted, X[TEST], NAMES[TEST]), "loss")

    held = {series.name: series.y for series in curve.series}
    for name, key in (("training rows", "train"), ("held-out rows of the fit", "validation")):
        assert held[name] == tuple(boosted.history_[key][at] for at in curve.x)
    n_grown = len(boosted.history_["validation"]) - 1
    assert boosted.n_estimators_ < n_grown
    assert f"The fit ended after round {n_grown} and kept the first {boosted.n_estimators_}." in curve.words
    assert any(mark.x == boosted.n_estimators_ and mark.label.startswith("kept") for mark in curve.marks)


def test_the_errors_of_rounds_are_those_of_staged_predict(boosted):
    curve = curve_of(part_of(boosted, X[TEST], NAMES[TEST]), "error")

    staged = [np.mean(said != NAMES[TEST]) for said in boosted.staged_predict(X[TEST])]
    assert curve.series[0].y == pytest.approx([staged[at - 1] for at in curve.x])
    assert min(curve.series[0].y) == pytest.approx(min(staged))


def test_classes_weigh_in_the_loss_as_at_the_fit():
    est = tw.GradientBoostingClassifier(n_estimators=20, class_weight={0: 1.0, 1: 5.0}).fit(X[TRAIN], Y[TRAIN])

    curve = curve_of(part_of(est, X[TEST], Y[TEST]), "loss")

    log = est.model_.prune("rounds", X[TEST], Y[TEST]).prune_log
    assert [y for y in curve.series[0].y if y is not None] == pytest.approx(log.losses[-len(curve.x) :].tolist()[
        -sum(y is not None for y in curve.series[0].y) :
    ])  # fmt: skip


def test_a_score_of_the_users_own_is_a_chart_of_its_own():
    est = tw.GradientBoostingClassifier(n_estimators=15, scoring=roc_auc_score).fit(
        X[TRAIN], Y[TRAIN], X_val=X[TEST], y_val=Y[TEST]
    )

    part = part_of(est, X[TEST], Y[TEST])

    history = curve_of(part, "history")
    assert [series.name for series in curve_of(part, "loss").series] == ["test rows"]
    assert history.ylabel == "score"
    assert history.series[-1].y[-1] == pytest.approx(roc_auc_score(Y[TEST], est.predict_proba(X[TEST])[:, 1]))


def test_rounds_that_nobody_evaluated_are_told():
    part = part_of(tw.GradientBoostingRegressor(n_estimators=5).fit(NX[TRAIN], NY[TRAIN]), NX[TEST], NY[TEST])

    assert [curve.key for curve in part.curves] == ["loss"]
    assert "early_stopping=True" in part.curves[0].words


def test_targets_that_the_loss_does_not_know_leave_the_loss_out():
    counts = np.abs(NY)
    est = tw.GradientBoostingRegressor(n_estimators=5, loss="poisson").fit(NX[TRAIN], counts[TRAIN])

    part = part_of(est, NX[TEST], -counts[TEST])

    assert part.curves == ()
    assert any("no loss by round" in note for note in part.notes)


def test_rounds_are_drawn_from_the_first_tree_on_however_high_it_lies():
    losses = [None, 160.0, 150.0, *(1.0 + at / 1000 for at in range(98))]

    curve = curve_over_rounds("loss", "Loss", "loss", [], {"test rows": losses}, [MarkPart(3, "least")])

    assert (curve.x[0], curve.x[-1]) == (1, 100)
    assert curve.marks == (MarkPart(3, "least"),)
    assert curve.series[0].y == tuple(losses[at] for at in curve.x)


def test_adaboost_tells_error_and_weight_of_each_tree():
    est = tw.AdaBoostClassifier(n_estimators=15).fit(X[TRAIN], Y[TRAIN])

    part = part_of(est, X[TEST], Y[TEST])

    assert part.kind == "adaboost"
    assert curve_of(part, "alone").series[0].y == tuple(est.estimator_errors_.tolist())
    assert curve_of(part, "weights").series[0].y == tuple(est.estimator_weights_.tolist())
    staged = [np.mean(said != Y[TEST]) for said in est.staged_predict(X[TEST])]
    assert curve_of(part, "error").series[0].y == pytest.approx(staged)


@pytest.mark.parametrize("points", [300])
def test_curves_have_at_most_so_many_points(points):
    est = tw.GradientBoostingRegressor(n_estimators=points).fit(NX[TRAIN], NY[TRAIN])

    part = part_of(est, NX[TEST], NY[TEST])

    assert all(len(curve.x) <= 130 for curve in part.curves)
    assert curve_of(part, "loss").x[-1] == points


def test_sizes_are_those_of_the_trees(forest, forest_part):
    sizes = sizes_of(forest.model_)

    leaves, depth = forest_part.sizes
    assert (leaves.least, leaves.most) == (sizes.n_leaves.min(), sizes.n_leaves.max())
    assert depth.median == np.median(sizes.depth)
    assert sum(leaves.counts) == sum(depth.counts) == 40


def test_a_wide_range_of_sizes_is_put_into_cells():
    forest = tw.RandomForestRegressor(n_estimators=30).fit(NX[TRAIN], NY[TRAIN])

    leaves, _ = part_of(forest, NX[TEST], NY[TEST]).sizes

    found = sizes_of(forest.model_).n_leaves
    assert leaves.edges is not None
    assert np.histogram(found, leaves.edges)[0].tolist() == list(leaves.counts)


def test_agreement_is_the_share_of_rows_that_a_tree_answers_as_all_do(forest, forest_part):
    together = forest.predict(X[TEST])
    each = np.array([tree.predict(X[TEST]) for tree in forest])

    shares = (each == together).mean(axis=1)
    assert (forest_part.agreement.least, forest_part.agreement.most) == (shares.min(), shares.max())
    pairs = [np.mean(each[a] == each[b]) for a in range(40) for b in range(a)]
    assert f"two trees agree for {100 * np.mean(pairs):.1f} %" in forest_part.agreement.words
    assert [member.number for member in forest_part.members if "most like all" in member.label] == [shares.argmax()]


def test_agreement_of_numbers_is_a_correlation():
    forest = tw.RandomForestRegressor(n_estimators=12).fit(NX[TRAIN], NY[TRAIN])

    agreement = part_of(forest, NX[TEST], NY[TEST]).agreement

    each = np.array([tree.predict(NX[TEST]) for tree in forest])
    table = np.corrcoef(np.vstack([forest.predict(NX[TEST]), each]))
    assert (agreement.least, agreement.most) == pytest.approx((table[0, 1:].min(), table[0, 1:].max()))
    pairs = table[1:, 1:][np.triu_indices(12, 1)]
    assert f"that of two trees is {pairs.mean():.3f}" in agreement.words


def test_members_are_the_trees_that_the_estimator_has(forest, forest_part):
    assert len(forest_part.members) == Options().trees
    for member in forest_part.members:
        alone = forest.tree(member.number)
        assert member.tree.n_leaves == alone.trees[0].n_leaves
        assert member.tree.nodes[0].question
        assert all(node.rule is None for node in member.tree.nodes)
        assert member.tree.title == f"Tree {member.number + 1} of 40"


def test_a_large_tree_is_cut_to_its_heaviest_nodes():
    forest = tw.RandomForestRegressor(n_estimators=3).fit(NX, NY)

    part = part_of(forest, NX, NY)

    assert all(len(member.tree.nodes) <= 127 < member.tree.n_nodes for member in part.members)
    assert len(json_for_script(part)) < 200_000


@pytest.mark.parametrize("trees", [0, 1, 2])
def test_as_many_members_as_asked_for(forest, trees):
    assert len(part_of(forest, X[TEST], NAMES[TEST], trees=trees).members) == trees


def test_boosted_members_say_how_far_they_move_the_score(boosted):
    part = part_of(boosted, X[TEST], NAMES[TEST])

    first = next(boosted.model_.staged_scores(X[TEST]))
    moved = np.abs(first - boosted.model_.boosting.base[0]).mean()
    assert f"by {moved:.4g} on average" in part.members[0].words
    assert part.members[-1].number == len(boosted.model_.trees) - 1


def test_the_surrogate_is_that_of_the_function_for_users(forest):
    found = tw.model_selection.surrogate_tree(forest, X[TEST], min_samples_leaf=4, test_size=1 / 3)

    judged = report_data(forest.model_, forest, X[TEST], NAMES[TEST])
    standing = surrogate_part(judged, Options())
    assert (standing.words.fidelity, standing.words.low, standing.words.high) == (found.fidelity, found.low, found.high)
    assert found.words in standing.words.words
    assert standing.words.command.endswith("max_leaf_nodes=16, min_samples_leaf=4, test_size=1/3)")
    assert standing.tree.n_leaves == found.n_leaves
    assert standing.tree.outputs == (("benign", "malignant"),)
    # Every test row, by its true class.
    assert sum(standing.tree.nodes[0].judged) == len(X[TEST])


def test_a_tree_that_says_no_more_than_one_answer_warns_and_is_not_what_the_page_begins_with():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 40))
    target = np.where(rng.random(300) < 0.25, "bad", "good")  # noise: there is nothing to find
    forest = tw.RandomForestClassifier(n_estimators=30, random_state=0).fit(table[:200], target[:200])
    judged = report_data(forest.model_, forest, table[200:], target[200:])

    standing = surrogate_part(judged, Options())
    part = ensemble_part(judged, Options(), standing)

    found = tw.model_selection.surrogate_tree(forest, table[200:], min_samples_leaf=2, test_size=1 / 3)
    assert found.fidelity <= 0
    assert (
        standing.words.warning
        == "This tree is no better than one probability for all rows: do not read it as the model."
    )
    assert part.members[part.first].label.endswith("most like all")


def test_the_tree_of_an_imbalanced_forest_tells_the_probabilities():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=2000), "b": rng.normal(size=2000)}
    target = np.where(rng.random(2000) < 1 / (1 + np.exp(4.5 - table["a"] - table["b"])), "yes", "no")
    forest = tw.RandomForestClassifier(n_estimators=30, min_samples_leaf=5).fit(table, target)

    standing = surrogate_part(report_data(forest.model_, forest, table, target, None), Options())

    leaves = [node for node in standing.tree.nodes if node.test is None]
    assert len(leaves) > 4
    assert {node.code for node in leaves} == {0}
    assert len({node.said for node in leaves}) > 4
    assert all(node.said == f"no {100 * node.values[0][0] / sum(node.values[0]):.1f} %" for node in leaves)
    assert standing.words.measure == "probabilities"
    assert standing.words.warning == ""


def test_a_tree_that_says_more_than_one_answer_does_not_warn(forest_part):
    assert (forest_part.surrogate.warning, forest_part.first) == ("", None)


def test_no_leaf_of_the_surrogate_holds_a_single_row(forest):
    judged = report_data(forest.model_, forest, X[TEST], NAMES[TEST])

    tree = surrogate_part(judged, Options()).tree

    assert min(node.n_rows for node in tree.nodes) >= 4


def test_the_loss_of_squares_is_named_by_half_of_them_and_a_missing_history_is_told_with_the_chart():
    est = tw.GradientBoostingRegressor(n_estimators=5).fit(NX[TRAIN], NY[TRAIN])

    curve = curve_of(part_of(est, NX[TEST], NY[TEST]), "loss")

    assert curve.ylabel == "loss (half the squared error)"
    assert curve.series[0].y[-1] == pytest.approx(mean_squared_error(NY[TEST], est.predict(NX[TEST])) / 2)
    assert "The fit evaluated no round" in curve.words


def test_the_surrogate_has_the_columns_of_the_page():
    rng = np.random.default_rng(0)
    table = {"sky": rng.choice(["sun", "rain", "fog"], 200), "wind": rng.normal(size=200)}
    target = np.where((table["sky"] == "fog") | (table["wind"] > 1), "in", "out")
    forest = tw.RandomForestClassifier(n_estimators=10).fit(table, target)

    summary = tw.report(forest, table, target).summary

    branches = [node.test.branch_of for node in summary.tree.nodes if node.test and node.test.kind == "levels"]
    assert branches
    assert {len(each) for each in branches} == {len(summary.columns[0].levels)}
    assert summary.tree.title == "One tree in place of the 10 trees"
    assert summary.pruning is None


def test_examples_say_what_all_trees_say_and_rest_on_the_one_tree(forest):
    summary = tw.report(forest, X[TEST], NAMES[TEST], examples=6).summary

    for row in summary.examples.rows:
        assert row.said == forest.predict(X[TEST][[row.number]])[0]
    assert len(summary.examples.supports) == len(summary.tree.nodes)
    assert not any(interval for each in summary.examples.supports for interval in each.intervals)


@pytest.mark.parametrize("kind", [tw.BaggingClassifier, tw.AdaBoostClassifier])
def test_ensembles_of_members_report(kind, tmp_path):
    est = kind(n_estimators=3).fit(X[TRAIN], NAMES[TRAIN])

    page = est.report(X[TEST], NAMES[TEST], tmp_path / "page.html", examples=0)

    assert page.summary.ensemble.n_trees == 3
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html


def test_many_rows_are_asked_about_by_some_and_that_is_told(monkeypatch):
    monkeypatch.setattr("treewright.reporting.rounds.MOST_PREDICTED", 40)
    forest = tw.RandomForestClassifier(n_estimators=4).fit(X[TRAIN], Y[TRAIN])

    part = part_of(forest, X[TEST], Y[TEST], rows=50)

    assert any("50 test rows, sampled from 284" in note for note in part.notes)


def test_too_few_rows_for_a_surrogate_are_told(forest):
    part = part_of(forest, X[1:9], NAMES[1:9])

    assert part.surrogate is None
    assert any("10 test rows" in note for note in part.notes)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: tw.BaggingClassifier(n_estimators=20, oob_score=True), "oob_score_"),
    (lambda: tw.ExtraTreesClassifier(n_estimators=5), "bootstrap=True"),
])  # fmt: skip
def test_why_there_is_no_out_of_bag_curve_is_told(make, said):
    est = make().fit(X[TRAIN], Y[TRAIN])

    part = part_of(est, X[TEST], Y[TEST])

    assert len(curve_of(part, "error").series) == 1
    assert any(said in note for note in part.notes)


def test_a_model_alone_says_that_it_knows_no_rows(forest):
    judged = report_data(forest.model_, None, X[TEST], NAMES[TEST])

    part = ensemble_part(judged, Options(), None)

    assert any("without its estimator" in note for note in part.notes)


@pytest.mark.parametrize("est", [tw.DecisionTreeClassifier(), tw.KNeighborsClassifier()], ids=["tree", "neighbours"])
def test_single_trees_and_neighbours_have_no_such_section(est):
    judged = report_data(est.fit(X[TRAIN], Y[TRAIN]).model_, est, X[TEST], Y[TEST])

    assert surrogate_part(judged, Options()) is None
    assert ensemble_part(judged, Options(), None) is None


def test_an_isolation_forest_has_no_report():
    with pytest.raises(ParameterError, match="isolation forest"):
        tw.report(tw.IsolationForest(n_estimators=5).fit(X), X, Y)


def test_several_outputs_and_several_answers_have_a_section():
    two = np.stack([Y, X[:, 0] > 14], axis=1)
    both = tw.RandomForestClassifier(n_estimators=5, bootstrap=False).fit(X[TRAIN], two[TRAIN])
    levels = tw.GradientBoostingRegressor(n_estimators=5, loss="quantile", quantile=[0.1, 0.9])
    levels.fit(NX[TRAIN], NY[TRAIN])

    for est, table, target in (
        (both, X[TEST], two[TEST]),
        (levels, NX[TEST], NY[TEST]),
    ):
        part = part_of(est, table, target)
        assert json.loads(json_for_script(part)) == plain(part)
        assert part.surrogate.fidelity <= 1


def test_it_repeats(forest):
    one, again = (json_for_script(part_of(forest, X[TEST], NAMES[TEST])) for _ in range(2))

    assert one == again


def test_with_weights_shares_are_told_to_be_of_the_weight():
    weights = np.linspace(1, 3, len(NAMES[TEST]))
    forest = tw.RandomForestClassifier(n_estimators=5).fit(X[TRAIN], NAMES[TRAIN])

    part = tw.report(forest, X[TEST], NAMES[TEST], sample_weight=weights, examples=0).summary.ensemble

    assert part.curves[0].ylabel == "misclassification rate by weight"
    assert part.agreement.xlabel == "% of the weight"
    assert all(member.words.endswith("% of the weight.") for member in part.members)
