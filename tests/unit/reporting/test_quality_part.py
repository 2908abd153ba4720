"""Claims about the section Quality: its numbers are those of scikit-learn, and of slow sums by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.core.confidence import wilson_interval
from treewright.evaluation.scores import rows_worth
from treewright.reporting.data import Options, ReportData, report_data
from treewright.reporting.quality import class_quality, number_quality, quality_parts, rank_part
from treewright.show.page.render import plain
from treewright.trees.data import aggregation_of


def classes(truth, shares, weights=None, *, labels=None, combine="mean"):
    """Rows whose predicted shares are given."""
    truth, shares = np.asarray(truth), np.asarray(shares, float)
    labels = np.arange(shares.shape[1]) if labels is None else np.array(labels)
    model = SimpleNamespace(
        classes=(labels,), aggregation=aggregation_of(combine, None, None), has_trees=True, target_names=(),
        task="classification", facts={}, threshold=None,
    )  # fmt: skip
    weights = np.ones(len(truth)) if weights is None else np.asarray(weights, float)
    judged = ReportData(model, None, None, None, np.empty((len(truth), 0)), truth[:, None], weights, None)
    judged.__dict__.update(shares=[shares], codes=shares.argmax(axis=1)[:, None])
    return judged


def numbers(truth, said, weights=None):
    """Rows whose predicted numbers are given."""
    truth, said = np.asarray(truth, float), np.asarray(said, float)
    model = SimpleNamespace(
        classes=(), aggregation=aggregation_of("mean", None, None), has_trees=True, target_names=(),
        task="regression", facts={},
    )  # fmt: skip
    weights = np.ones(len(truth)) if weights is None else np.asarray(weights, float)
    judged = ReportData(model, None, None, None, np.empty((len(truth), 0)), truth[:, None], weights, None)
    judged.__dict__["numbers"] = said[:, None]
    return judged


def value(part, name):
    return next(measure for measure in part.measures if measure.name == name)


# Eight rows of two classes, by hand.
TRUTH = [0, 0, 0, 0, 1, 1, 1, 1]
SHARE = [0.1, 0.2, 0.4, 0.7, 0.3, 0.6, 0.8, 0.9]  # of class 1
EIGHT = np.column_stack([1 - np.array(SHARE), SHARE])


def test_eight_rows_by_hand():
    part = class_quality(classes(TRUTH, EIGHT, labels=["no", "yes"]), 0, "")
    no, yes = part.classes

    assert part.confusion.counts == ((3.0, 1.0), (1.0, 3.0))
    assert value(part, "accuracy").value == 6 / 8
    assert value(part, "accuracy").beside == 0.5
    assert (value(part, "accuracy").low, value(part, "accuracy").high) == wilson_interval(6, 8)
    assert (no.precision, no.recall, no.f1) == (0.75, 0.75, 0.75)
    assert (yes.recall_low, yes.recall_high) == wilson_interval(3, 4)
    surprise = [-np.log(own if true else 1 - own) for own, true in zip(SHARE, TRUTH, strict=True)]
    assert value(part, "log loss").value == pytest.approx(sum(surprise) / 8)
    assert value(part, "log loss").beside == pytest.approx(np.log(2))
    assert value(part, "Brier score").value == pytest.approx(sum((np.array(SHARE) - TRUTH) ** 2) / 8)
    # Of the 16 pairs of a row of each class the "yes" stands first in 13: 0.3 is below 0.4 and 0.7, 0.6 below 0.7.
    assert [rank.name for rank in part.ranks] == ["yes"]
    assert part.ranks[0].area == pytest.approx(13 / 16)
    # From the highest share down: yes, yes, no, yes, no, yes, ...
    assert part.ranks[0].average_precision == pytest.approx((1 + 1 + 3 / 4 + 4 / 6) / 4)
    assert "6 of 8 rows" in part.lead
    assert "75.0 %" in part.lead


def test_eight_rows_of_calibration_by_hand():
    (held,) = class_quality(classes(TRUTH, EIGHT), 0, "").calibration

    # A share on an edge belongs to the bin below: 0.1 to the first, 0.2 to the second, 0.9 to the ninth.
    assert held.n_rows == (1, 1, 1, 1, 0, 1, 1, 1, 1, 0)
    assert held.happened == (0, 0, 1, 0, None, 1, 0, 1, 1, None)
    assert held.predicted[:4] == (0.1, 0.2, 0.3, 0.4)
    assert held.error == pytest.approx(sum(abs(own - true) for own, true in zip(SHARE, TRUTH, strict=True)) / 8)
    assert (held.low[5], held.high[5]) == wilson_interval(1, 1)


def test_intervals_of_calibration_are_of_as_many_rows_as_the_weights_are_worth():
    weights = np.array([1.0, 5.0, 2.0, 2.0])
    shares = np.column_stack([1 - np.full(4, 0.55), np.full(4, 0.55)])
    (held,) = class_quality(classes([0, 1, 1, 0], shares, weights), 0, "").calibration
    n = rows_worth(4, weights)

    assert held.happened[5] == 0.7
    assert (held.low[5], held.high[5]) == wilson_interval(0.7 * n, n)


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(7)
    n, k = 300, 4
    truth = rng.choice(k, n, p=[0.5, 0.3, 0.15, 0.05])
    shares = rng.dirichlet(np.ones(k), n) + np.eye(k)[truth]
    # Ties, as leaves have them.
    shares = np.round(shares / shares.sum(axis=1, keepdims=True), 2)
    shares /= shares.sum(axis=1, keepdims=True)
    return truth, shares, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_number_of_classes_equals_scikit_learn(many, weighted):
    truth, shares, weights = many
    given = weights if weighted else None
    part = class_quality(classes(truth, shares, given), 0, "")
    said = shares.argmax(axis=1)

    assert np.allclose(part.confusion.counts, metrics.confusion_matrix(truth, said, sample_weight=given))
    assert value(part, "accuracy").value == metrics.accuracy_score(truth, said, sample_weight=given)
    assert value(part, "log loss").value == metrics.log_loss(truth, shares, sample_weight=given)
    assert value(part, "Brier score").value == pytest.approx(
        np.average(((np.eye(4)[truth] - shares) ** 2).sum(axis=1), weights=given)
    )
    told = metrics.classification_report(truth, said, output_dict=True, sample_weight=given)
    for place, found in enumerate(part.classes):
        is_so = truth == place
        assert found.n_rows == is_so.sum()
        assert found.precision == pytest.approx(told[str(place)]["precision"])
        assert found.recall == pytest.approx(told[str(place)]["recall"])
        assert found.f1 == pytest.approx(told[str(place)]["f1-score"])
        assert found.area == metrics.roc_auc_score(is_so, shares[:, place], sample_weight=given)
        assert found.average_precision == metrics.average_precision_score(is_so, shares[:, place], sample_weight=given)


def test_curves_equal_scikit_learn(many):
    truth, shares, _ = many
    part = class_quality(classes(truth, shares), 0, "")
    for rank, held in zip(part.ranks, part.calibration, strict=True):
        is_so = truth == rank.position
        false_rate, true_rate, _ = metrics.roc_curve(is_so, shares[:, rank.position])
        happened, predicted = calibration_curve(is_so, shares[:, rank.position], n_bins=10)

        assert np.array_equal(rank.false_rate, false_rate)
        assert np.array_equal(rank.true_rate, true_rate)
        assert np.allclose([each for each in held.happened if each is not None], happened)
        assert np.allclose([each for each in held.predicted if each is not None], predicted)
        assert sum(held.n_rows) == 300


def test_the_brier_score_of_two_classes_is_scikit_learns():
    part = class_quality(classes(TRUTH, EIGHT), 0, "")

    assert value(part, "Brier score").value == pytest.approx(metrics.brier_score_loss(TRUTH, SHARE))


def test_weights_count_as_repeated_rows():
    times = np.array([1, 3, 2, 1, 2, 1, 4, 1])
    once = class_quality(classes(TRUTH, EIGHT, times), 0, "")
    often = class_quality(classes(np.repeat(TRUTH, times), np.repeat(EIGHT, times, axis=0)), 0, "")

    assert once.confusion == often.confusion
    for name in ("accuracy", "log loss", "Brier score"):
        assert value(once, name).value == pytest.approx(value(often, name).value)
        assert value(once, name).beside == pytest.approx(value(often, name).beside)
    for one, other in zip(once.classes, often.classes, strict=True):
        assert (one.precision, one.recall, one.f1) == pytest.approx((other.precision, other.recall, other.f1))
        assert (one.area, one.average_precision) == pytest.approx((other.area, other.average_precision))
    assert once.calibration[0].error == pytest.approx(often.calibration[0].error)
    assert once.weighted
    assert not often.weighted
    # Weights say less than rows: the interval is wider.
    assert once.worth == rows_worth(8, times) < often.worth == 15
    assert value(once, "accuracy").low < value(often, "accuracy").low


def test_rows_of_one_class_only_have_no_curves_and_say_so():
    part = class_quality(classes([0, 0, 0], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]), 0, "")

    assert part.ranks == ()
    assert part.classes[0].area is None
    assert part.classes[1].recall is None
    assert part.classes[1].precision == 0
    assert part.calibration[0].happened[6] == 0
    assert any("all of one class" in why for why in part.left_out)


def test_a_class_without_rows_has_no_recall_and_the_others_have_their_curves():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 40)
    part = class_quality(classes(rng.choice([0, 2], 40), shares), 0, "")

    assert [rank.position for rank in part.ranks] == [0, 2]
    assert part.classes[1].recall is None
    assert part.classes[1].recall_low is None
    assert any("1 of the classes has no test row" in why for why in part.left_out)


def test_a_model_of_one_class_has_accuracy_alone():
    part = class_quality(classes([0, 0], [[1.0], [1.0]]), 0, "")

    assert [measure.name for measure in part.measures] == ["accuracy"]
    assert (part.ranks, part.calibration) == ((), ())
    assert any("only one class" in why for why in part.left_out)


def test_perfect_separation_is_an_area_of_one_without_errors():
    part = class_quality(classes([0, 1, 2, 1], np.eye(3)[[0, 1, 2, 1]]), 0, "")

    assert value(part, "accuracy").value == 1
    assert value(part, "accuracy").high == 1
    assert value(part, "log loss").value == pytest.approx(0, abs=1e-12)
    assert value(part, "Brier score").value == 0
    assert {(held.area, held.average_precision, held.precision, held.f1) for held in part.classes} == {(1, 1, 1, 1)}
    assert {held.error for held in part.calibration} == {0}


def test_shares_of_votes_are_ranked_but_not_called_probabilities():
    part = class_quality(classes(TRUTH, EIGHT, combine="vote"), 0, "")

    assert [measure.name for measure in part.measures] == ["accuracy"]
    assert part.calibration == ()
    assert len(part.ranks) == 1
    assert any("votes" in why for why in part.left_out)


def test_of_many_classes_the_largest_and_the_largest_confusions_are_listed():
    rng = np.random.default_rng(3)
    k, n = 40, 2000
    truth = np.minimum(rng.geometric(0.1, n) - 1, k - 1)
    said = np.where(rng.random(n) < 0.8, truth, (truth + 1) % k)
    part = class_quality(classes(truth, np.eye(k)[said], labels=[f"c{at:02}" for at in range(k)]), 0, "")
    table = metrics.confusion_matrix(truth, said)
    np.fill_diagonal(table, 0)

    assert part.confusion is None
    assert part.n_classes == 40
    assert len(part.classes) == 20
    least = min(held.n_rows for held in part.classes)
    assert sorted(np.bincount(truth))[-20] == least
    assert len(part.ranks) == 12
    assert [mix.weight for mix in part.mix_ups] == sorted(table.ravel(), reverse=True)[: len(part.mix_ups)]
    assert part.mix_ups[0].share == part.mix_ups[0].weight / (truth == int(part.mix_ups[0].truth[1:])).sum()
    assert len(part.left_out) == 2


def test_a_long_curve_has_at_most_200_points_with_its_ends_and_the_area_of_all():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 5000)
    share = np.clip(rng.normal(0.4 + 0.2 * truth, 0.3), 0, 1)
    (rank,) = class_quality(classes(truth, np.column_stack([1 - share, share])), 0, "").ranks

    assert len(rank.false_rate) <= 200
    assert len(rank.recall) <= 200
    assert (rank.false_rate[0], rank.true_rate[0], rank.false_rate[-1], rank.true_rate[-1]) == (0, 0, 1, 1)
    assert rank.area == metrics.roc_auc_score(truth, share)
    assert np.trapezoid(rank.true_rate, rank.false_rate) == pytest.approx(rank.area, abs=0.002)


# Numbers.


@pytest.mark.parametrize("weighted", [False, True])
def test_every_number_of_a_regression_equals_scikit_learn(weighted):
    rng = np.random.default_rng(5)
    truth = rng.normal(10, 4, 700)
    said = truth + rng.normal(0, 2, 700)
    weights = rng.uniform(0.1, 2, 700) if weighted else None
    part = number_quality(numbers(truth, said, weights), 0, "", Options())
    mean = np.full(700, np.average(truth, weights=weights))

    assert value(part, "R2").value == metrics.r2_score(truth, said, sample_weight=weights)
    assert value(part, "R2").beside == 0
    for name, metric in (
        ("mean absolute error", metrics.mean_absolute_error),
        ("root mean squared error", metrics.root_mean_squared_error),
    ):
        assert value(part, name).value == metric(truth, said, sample_weight=weights)
        assert value(part, name).beside == metric(truth, mean, sample_weight=weights)
    held = part.residuals
    assert len(held.truth) == 500 < held.n_rows == 700
    assert np.array_equal(np.subtract(held.truth, held.predicted), held.residual)
    assert set(held.truth) <= set(truth)
    assert np.allclose(held.weight, np.histogram(truth - said, bins=held.edges, weights=weights)[0])
    assert sum(held.weight) == pytest.approx(700 if weights is None else weights.sum())


def test_weighted_numbers_count_as_repeated_rows():
    truth, said, times = [1.0, 2.0, 4.0, 8.0], [1.5, 2.0, 3.0, 9.0], [1, 4, 2, 1]
    once = number_quality(numbers(truth, said, times), 0, "", Options())
    often = number_quality(numbers(np.repeat(truth, times), np.repeat(said, times)), 0, "", Options())

    for one, other in zip(once.measures, often.measures, strict=True):
        assert (one.name, one.value, one.beside) == (
            other.name,
            pytest.approx(other.value),
            pytest.approx(other.beside),
        )
    assert once.lead == often.lead


def test_a_constant_target_has_no_r2_and_says_so():
    part = number_quality(numbers([3.0] * 5, [3.0, 3.0, 4.0, 3.0, 3.0]), 0, "", Options())

    assert [measure.name for measure in part.measures] == ["mean absolute error", "root mean squared error"]
    assert value(part, "mean absolute error").value == pytest.approx(0.2)
    assert value(part, "mean absolute error").beside == 0
    assert any("the same in all rows" in why for why in part.left_out)


def test_residuals_that_are_all_the_same_stand_in_one_cell():
    held = number_quality(numbers([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]), 0, "", Options()).residuals

    assert held.weight == (3.0,)
    assert held.edges[0] < 1 < held.edges[1]


def test_residuals_beyond_float64_are_left_out_and_said():
    part = number_quality(numbers([1.7e308, -1.7e308], [-1.7e308, 1.7e308]), 0, "", Options())

    assert part.residuals is None
    assert any("float64" in why for why in part.left_out)
    plain(part)


def test_the_points_of_a_large_table_depend_on_the_seed_alone():
    truth = np.arange(1000.0)
    first, again, other = (
        number_quality(numbers(truth, truth * 0.5), 0, "", Options(random_state=seed)).residuals for seed in (0, 0, 1)
    )

    assert first == again
    assert first.truth != other.truth
    assert first.weight == other.weight


# Whole models.


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def parts_of(fitted, X, y, sample_weight=None, **options):
    judged = report_data(fitted.model_, fitted, X, y, sample_weight)
    return quality_parts(judged, Options(**options))


def test_each_output_has_a_part_with_its_name(iris):
    X, y = iris
    both = np.column_stack([y, np.where(X[:, 0] > 5.8, "long", "short")])
    est = tw.DecisionTreeClassifier(max_depth=3).fit(X[::2], both[::2])
    first, second = parts_of(est, X[1::2], both[1::2])

    assert (first.output, second.output) == ("y0", "y1")
    assert value(second, "accuracy").value == (est.predict(X[1::2])[:, 1] == both[1::2, 1]).mean()


def test_accuracy_is_the_estimators_own_score_also_with_weights(iris):
    X, y = iris
    est = tw.RandomForestClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
    weights = np.linspace(0, 2, 75)
    (part,) = parts_of(est, X[1::2], y[1::2], weights)

    assert value(part, "accuracy").value == pytest.approx(est.score(X[1::2], y[1::2], weights))
    assert part.n_rows == 74


def test_quantiles_are_judged_by_their_loss_and_by_how_many_rows_lie_below():
    X, y = load_diabetes(return_X_y=True)
    levels = [0.1, 0.9]
    est = tw.GradientBoostingRegressor(n_estimators=10, loss="quantile", quantile=levels).fit(X[::2], y[::2])
    (part,) = parts_of(est, X[1::2], y[1::2])
    said = est.predict(X[1::2])

    assert part.kind == "quantiles"
    for column, level in enumerate(levels):
        loss, below = part.measures[2 * column : 2 * column + 2]
        assert loss.value == metrics.mean_pinball_loss(y[1::2], said[:, column], alpha=level)
        assert (below.value, below.beside) == (np.mean(y[1::2] <= said[:, column]), level)
    assert part.residuals is None
    assert part.left_out


def test_neighbours_are_judged_as_trees_are(iris):
    X, y = iris
    est = tw.KNeighborsClassifier().fit(X[::2], y[::2])
    (part,) = parts_of(est, X[1::2], y[1::2])

    assert value(part, "accuracy").value == est.score(X[1::2], y[1::2])
    assert value(part, "log loss").value == metrics.log_loss(y[1::2], est.predict_proba(X[1::2]))


def test_error_curves_are_those_of_model_selection(iris):
    X, y = iris
    est = tw.DecisionTreeClassifier(max_depth=3).fit(X[::2], y[::2])
    (part,) = parts_of(est, X[1::2], y[1::2], curves=("learning", "depth"), cv=3, random_state=4)
    learning = tw.model_selection.learning_curve(est, X[1::2], y[1::2], cv=3, random_state=4)
    depth = tw.model_selection.error_curve(est, X[1::2], y[1::2], over="max_depth", cv=3, random_state=4)

    assert [curve.name for curve in part.curves] == ["learning", "depth"]
    for found, own in zip(part.curves, (learning, depth), strict=True):
        assert (found.x, found.n_folds, found.n_rows) == (own.x, 3, 75)
        assert np.array_equal(found.train, own.train_error)
        assert np.array_equal(found.test, own.test_error)
        assert np.array_equal(found.test_se, own.test_standard_error)


def test_error_curves_weigh_the_rows(iris):
    X, y = iris
    est = tw.DecisionTreeClassifier(max_depth=3).fit(X[::2], y[::2])
    weights = np.where(y[1::2] == "virginica", 5.0, 1.0)
    (part,) = parts_of(est, X[1::2], y[1::2], weights, curves=("learning",), cv=3)
    own = tw.model_selection.learning_curve(est, X[1::2], y[1::2], cv=3, sample_weight=weights)

    assert np.array_equal(part.curves[0].test, own.test_error)


def test_a_model_alone_is_fitted_again_from_its_facts(iris):
    X, y = iris
    est = tw.C45Classifier(confidence=0.1).fit(X[::2], y[::2])
    judged = report_data(est.model_, None, X[1::2], y[1::2])
    options = Options(curves=("learning",), cv=2)

    assert (
        quality_parts(judged, options)[0].curves
        == parts_of(est, X[1::2], y[1::2], curves=("learning",), cv=2)[0].curves
    )


def test_a_curve_that_cannot_be_is_named_with_its_reason(iris):
    X, y = iris
    est = tw.KNeighborsClassifier(weights=lambda far: 1 / (1 + far)).fit(X[::2], y[::2])
    judged = report_data(est.model_, None, X[1::2], y[1::2])
    (unknown,) = quality_parts(judged, Options(curves=("learning",)))
    (shallow,) = parts_of(est, X[1::2], y[1::2], curves=("depth",))
    (single,) = parts_of(tw.DecisionTreeClassifier().fit(X[::2], y[::2]), X[:1], y[:1], curves=("learning",))

    assert any("learning curve" in why and "facts" in why for why in unknown.left_out)
    assert any("no depth" in why for why in shallow.left_out)
    assert any("one row" in why for why in single.left_out)


def test_curves_of_a_pruned_tree_say_whether_their_copies_are_not_pruned(iris):
    X, y = iris
    whole = tw.DecisionTreeClassifier().fit(X[::2], y[::2])
    repeated, by_rows = whole.prune("cost_complexity", alpha=0.05), whole.prune("reduced_error", X[1::2], y[1::2])

    for est, is_said in ((repeated, False), (by_rows, True), (repeated.model_, True)):
        estimator = None if est is repeated.model_ else est
        judged = report_data(repeated.model_ if estimator is None else est.model_, estimator, X[1::2], y[1::2])
        (part,) = quality_parts(judged, Options(curves=("learning",), cv=2))
        assert ("not pruned" in part.curves[0].note) == is_said


def test_a_rare_class_is_no_reason_to_have_no_curve(iris):
    X, y = iris
    rows = [*range(50), *range(50, 53)]
    est = tw.DecisionTreeClassifier().fit(X, y)
    (part,) = parts_of(est, X[rows], y[rows], curves=("learning",))

    assert [curve.n_folds for curve in part.curves] == [10]


def test_every_part_has_a_plain_form_without_surprises(iris):
    X, y = iris
    est = tw.DecisionTreeClassifier().fit(X[::2], y[::2])
    held = plain(parts_of(est, X[1::2], y[1::2], curves=("depth",), cv=2))

    assert held[0]["confusion"]["labels"] == ["setosa", "versicolor", "virginica"]
    assert held[0]["curves"][0]["x"] == [float(each) for each in range(1, len(held[0]["curves"][0]["x"]) + 1)]


def test_the_curve_of_precision_begins_at_the_first_row_of_the_class():
    # By falling share: no, yes, yes, no. The first yes is found among two rows.
    is_so, share = np.array([False, True, True, False]), np.array([0.9, 0.8, 0.7, 0.1])

    rank = rank_part("yes", 1, is_so, share, np.ones(4))

    assert list(zip(rank.recall, rank.precision, strict=True))[:3] == [(0, 0.5), (0.5, 0.5), (1, 2 / 3)]
