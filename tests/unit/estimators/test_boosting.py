"""Boosted estimators: what they grow, and what they keep of a fit."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import d2_pinball_score

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError, UnseenLevelError
from treewright.grow.settings import MANY_LEVELS
from treewright.learn.boosting_plan import SYMMETRIC_DEPTH
from treewright.learn.boosting_rounds import FEW_ROWS_IN_BOOSTING, ordered_columns

RNG = np.random.default_rng(3)
N = 240
X = RNG.normal(size=(N, 4))
NUMBERS = 2 * X[:, 0] + np.square(X[:, 1]) + RNG.normal(scale=0.5, size=N)
TWO = np.where(X[:, 0] + X[:, 1] + RNG.normal(scale=0.5, size=N) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [0.0, 2.0])]
HEAD, TAIL = slice(0, 160), slice(160, N)
FEW = {"n_estimators": 12, "learning_rate": 0.3, "min_samples_leaf": 5}


@pytest.fixture(scope="module")
def judged():
    """A regressor that other rows judge."""
    boosted = tw.GradientBoostingRegressor(**FEW)
    return boosted.fit(X[HEAD], NUMBERS[HEAD], X_val=X[TAIL], y_val=NUMBERS[TAIL])


@pytest.fixture(scope="module")
def of_three():
    return tw.GradientBoostingClassifier(**FEW).fit(X, THREE)


def test_facts_say_how_the_model_was_made(of_three):
    facts = of_three.model_.facts

    assert facts["algorithm"] == "gradient_boosting"
    assert facts["criterion"] == "gradient"
    assert facts["loss"] == {"name": "log_loss"}
    assert facts["n_samples"] == N
    assert facts["parameters"]["learning_rate"] == 0.3
    assert "callbacks" not in facts["parameters"]


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"loss": "huber", "huber_delta": 2.0}, {"name": "huber", "huber_delta": 2.0}),
        ({"loss": "quantile", "quantile": [0.25, 0.75]}, {"name": "quantile", "quantile": [0.25, 0.75]}),
        ({"loss": "quantile", "quantile": 0.75}, {"name": "quantile", "quantile": 0.75}),
        ({"loss": "expectile", "expectile": 0.9}, {"name": "expectile", "expectile": 0.9}),
    ],
)
def test_facts_hold_the_numbers_of_the_loss(parameters, told):
    assert tw.GradientBoostingRegressor(2, **parameters).fit(X, NUMBERS).model_.facts["loss"] == told


def test_every_output_has_the_distance_of_its_own_rows_in_hubers_loss():
    both = tw.GradientBoostingRegressor(3, loss="huber").fit(X, np.column_stack([NUMBERS, 10 * NUMBERS]))
    first, second = both.model_.facts["loss"]["huber_delta"]

    assert second == pytest.approx(10 * first)


def test_several_quantiles_are_one_model_in_their_order_and_their_score_is_of_pinball_losses():
    levels = [0.1, 0.5, 0.9]
    boosted = tw.GradientBoostingRegressor(**FEW, loss="quantile", quantile=levels)
    boosted.fit(X, pd.Series(NUMBERS, name="price"))
    said = boosted.predict(X)
    single = [d2_pinball_score(NUMBERS, said[:, at], alpha=level) for at, level in enumerate(levels)]

    assert said.shape == (N, 3)
    assert boosted.model_.target_names == ("price 0.1", "price 0.5", "price 0.9")
    assert (np.diff(said, axis=1) >= 0).all()
    assert boosted.score(X, NUMBERS) == pytest.approx(np.mean(single))
    assert list(boosted.staged_score(X, NUMBERS))[-1] == boosted.score(X, NUMBERS)
    fewer = boosted.prune("rounds", X, NUMBERS)
    assert fewer.n_estimators_ <= boosted.n_estimators_
    assert [np.mean(said[:, at] > NUMBERS) for at in range(3)] == pytest.approx(levels, abs=0.1)


def test_quantiles_of_the_rows_lie_below_what_is_predicted_by_their_level():
    said = tw.GradientBoostingRegressor(**FEW, loss="quantile", quantile=0.8).fit(X, NUMBERS).predict(X)

    assert np.mean(said >= NUMBERS) == pytest.approx(0.8, abs=0.06)


def test_stages_end_in_the_answers(of_three):
    assert list(of_three.staged_predict(X))[-1].tolist() == of_three.predict(X).tolist()
    assert list(of_three.staged_predict_proba(X))[-1].tobytes() == of_three.predict_proba(X).tobytes()
    assert list(of_three.staged_decision_function(X))[-1].tobytes() == of_three.decision_function(X).tobytes()
    scores = list(of_three.staged_score(X, THREE))
    assert len(scores) == FEW["n_estimators"]
    assert scores[-1] == of_three.score(X, THREE) == np.mean(of_three.predict(X) == THREE)


def test_an_unknown_label_is_never_predicted_right(of_three):
    other = np.where(THREE == "a", "z", THREE)

    assert of_three.score(X, other) == np.mean((of_three.predict(X) == THREE) & (THREE != "a"))


def test_the_estimator_is_the_sequence_of_its_trees(of_three):
    assert len(of_three) == len(of_three.estimators_) == 3 * FEW["n_estimators"]
    assert of_three.n_estimators_ == FEW["n_estimators"]
    score = of_three.model_.boosting.base[1] + sum(of_three[at].predict(X) for at in range(1, len(of_three), 3))
    np.testing.assert_allclose(of_three.decision_function(X)[:, 1], score)
    assert of_three.apply(X).shape == (N, len(of_three))
    assert not hasattr(of_three, "estimators_samples_")


def test_several_outputs_of_classes_are_predicted_side_by_side():
    target = np.column_stack([TWO, THREE])
    boosted = tw.GradientBoostingClassifier(**FEW, features_per_node=1.0).fit(X, target)  # trees draw no columns
    alone = tw.GradientBoostingClassifier(**FEW, features_per_node=1.0).fit(X, THREE)

    assert boosted.predict(X).shape == (N, 2)
    assert boosted.predict_proba(X)[1].tobytes() == alone.predict_proba(X).tobytes()
    assert boosted.score(X, target) == np.mean((boosted.predict(X) == target).all(axis=1))
    with pytest.raises(AttributeError, match="decision_function") as error:
        boosted.decision_function(X)
    assert "use model_.predict_scores" in str(error.value.__cause__)
    assert boosted.model_.predict_scores(X).shape == (N, 4)


def test_importances_are_shares_of_gain_cover_and_tests(of_three):
    for kind in ("gain", "cover", "frequency"):
        found = of_three.importances(kind)
        assert found.values.sum() == pytest.approx(1.0)
        assert np.isnan(found.standard_errors).all()
        assert f"({kind})" in str(found)
        assert "s.e." not in str(found)
    assert of_three.importances().values.tobytes() == of_three.feature_importances_.tobytes()
    assert of_three.importances().plot().axes


def test_shuffling_what_does_not_matter_raises_nothing_and_the_rest_does(judged):
    found = judged.importances("permutation", X[TAIL], NUMBERS[TAIL], n_repeats=3)
    again = judged.importances("permutation", X[TAIL], NUMBERS[TAIL], n_repeats=3)
    other = judged.importances("permutation", X[TAIL], NUMBERS[TAIL], n_repeats=3, random_state=1)

    assert found.values[0] > found.values[1] > 10 * np.abs(found.values[2:]).max()
    assert found.values.tobytes() == again.values.tobytes() != other.values.tobytes()
    assert "increase of the loss" in str(found)
    assert "mean over 3 shuffles" in str(found)


def test_a_column_that_no_tree_asks_has_no_rise():
    wide = np.column_stack([X, np.zeros(N)])
    boosted = tw.GradientBoostingRegressor(**FEW).fit(wide, NUMBERS)

    assert boosted.importances("permutation", wide, NUMBERS).values[-1] == 0.0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("impurity",), "choose from 'gain', 'cover'"),
        (("gain", X, NUMBERS), "leave X and y out"),
        (("permutation",), r"importances\('permutation', X, y\)"),
    ],
)
def test_importances_refuse_what_they_cannot_do(judged, arguments, told):
    with pytest.raises(ParameterError, match=told):
        judged.importances(*arguments)


def test_pruning_drops_the_last_rounds_of_a_copy(judged):
    fewer = judged.prune(n_rounds=4)
    best = judged.prune("rounds", X[TAIL], NUMBERS[TAIL])

    assert (fewer.n_estimators_, judged.n_estimators_) == (4, FEW["n_estimators"])
    assert fewer.predict(X).tobytes() == list(judged.staged_predict(X))[3].tobytes()
    assert best.n_estimators_ == judged.best_iteration_
    with pytest.raises(ParameterError, match="method='leaves'"):
        judged.prune("leaves")
    with pytest.raises(ParameterError, match="X and y together"):
        judged.prune("rounds", X)


def test_the_figure_shows_both_curves_and_the_best_round(judged):
    texts = [text.get_text() for text in judged.plot_history().axes[0].get_legend().get_texts()]

    assert texts == ["training rows", "other rows", f"best round: {judged.best_iteration_}"]
    assert judged.plot_history().axes[0].get_ylabel() == "loss (half the squared error)"


def test_the_stages_of_a_fit_are_timed_and_stay_out_of_pickles(judged):
    other = pickle.loads(pickle.dumps(judged))

    assert {"bins", "gradients", "histograms", "search", "partition", "update", "evaluation"} <= set(
        judged.fit_seconds_
    )
    assert all(seconds >= 0 for seconds in judged.fit_seconds_.values())
    assert not hasattr(other, "fit_seconds_")
    assert other.predict(X).tobytes() == judged.predict(X).tobytes()
    assert copy.deepcopy(judged).history_ == judged.history_


@pytest.mark.parametrize(("init", "base"), [("zero", 0.0), (2.5, 2.5), ([1.0], 1.0), (None, NUMBERS.mean())])
def test_scores_begin_where_init_says(init, base):
    model = tw.GradientBoostingRegressor(2, init=init).fit(X, NUMBERS).model_

    assert model.boosting.base == (pytest.approx(base),)


def test_one_number_is_where_all_scores_begin():
    assert tw.GradientBoostingClassifier(2, init=0.5).fit(X, THREE).model_.boosting.base == (0.5, 0.5, 0.5)
    assert tw.GradientBoostingClassifier(2, init=[0.1, 0.2, 0.3]).fit(X, THREE).model_.boosting.base == (0.1, 0.2, 0.3)


def test_symmetric_trees_have_six_levels_at_most_and_ask_one_question_on_each():
    rows = np.random.default_rng(0).normal(size=(3000, 5))
    boosted = tw.GradientBoostingRegressor(2, growth="symmetric", min_samples_leaf=1)
    boosted.fit(rows, np.sin(3 * rows).sum(axis=1))

    tree = boosted[0].trees[0]
    level, asked = [0], [set()]
    while level:
        tests = {(int(tree.feature[at]), float(tree.threshold[at])) for at in level if not tree.is_leaf[at]}
        asked.append(tests)
        level = [int(tree.first_child[at]) + side for at in level if not tree.is_leaf[at] for side in (0, 1)]
    assert [len(tests) for tests in asked[1:]] == [1] * SYMMETRIC_DEPTH + [0]
    assert clone(boosted).set_params(max_depth=2).fit(rows, np.sin(rows[:, 0]))[0].trees[0].max_depth == 2


@pytest.mark.parametrize(
    ("n_levels", "n_rows", "is_ordered"),
    [
        (MANY_LEVELS - 1, MANY_LEVELS, False),
        (MANY_LEVELS, MANY_LEVELS * FEW_ROWS_IN_BOOSTING - 1, True),
        (MANY_LEVELS, MANY_LEVELS * FEW_ROWS_IN_BOOSTING, False),
        (254, 100_000, False),
        (255, 100_000, True),
    ],
)
def test_many_levels_are_ordered_where_they_have_few_rows_or_no_bin_each(n_levels, n_rows, is_ordered):
    levels = tuple(f"l{at:03}" for at in range(n_levels))
    schema = Schema(
        (Column("number", "numeric"), Column("few", "nominal", levels[:4]), Column("name", "nominal", levels))
    )

    assert ordered_columns(schema, "auto", n_rows, one_number=True).tolist() == [2] * is_ordered
    assert ordered_columns(schema, "auto", n_rows, one_number=False).tolist() == []
    assert ordered_columns(schema, "subsets", n_rows, one_number=True).tolist() == []
    assert ordered_columns(schema, "ordered", n_rows, one_number=True).tolist() == [1, 2]


def test_columns_of_many_levels_are_ordered_and_others_are_subsets():
    rng = np.random.default_rng(0)
    worth = rng.normal(size=MANY_LEVELS)
    n_rows = MANY_LEVELS * (FEW_ROWS_IN_BOOSTING - 1)
    many, few = rng.permutation(np.arange(n_rows) % MANY_LEVELS), rng.integers(0, 4, n_rows)
    frame = pd.DataFrame({"many": [f"m{at:02}" for at in many], "few": [f"f{at}" for at in few]})
    numbers = worth[many] + few + rng.normal(scale=0.1, size=n_rows)

    fits = {
        encoding: tw.GradientBoostingRegressor(20, learning_rate=0.3, level_encoding=encoding).fit(frame, numbers)
        for encoding in ("auto", "subsets", "ordered")
    }
    predictions = {name: fit.predict(frame).tobytes() for name, fit in fits.items()}

    assert len(set(predictions.values())) == 3
    for fit in fits.values():
        assert fit.score(frame, numbers) > 0.8
    without = frame[["few"]]
    assert (
        tw.GradientBoostingRegressor(5).fit(without, numbers).predict(without).tobytes()
        == tw.GradientBoostingRegressor(5, level_encoding="subsets").fit(without, numbers).predict(without).tobytes()
    )


def test_evaluation_rows_are_matched_by_name_and_unseen_levels_are_missing():
    frame = pd.DataFrame({"a": X[:, 0], "c": np.array(["u", "v"])[(X[:, 1] > 0).astype(int)]})
    other = pd.DataFrame({"c": frame["c"].mask(X[:, 2] > 1, "new"), "a": frame["a"]})
    boosted = tw.GradientBoostingRegressor(**FEW).fit(frame, NUMBERS, X_val=other, y_val=NUMBERS)
    loss = np.mean((boosted.predict(other) - NUMBERS) ** 2) / 2

    assert boosted.history_["validation"][-1] == pytest.approx(loss)
    with pytest.raises(UnseenLevelError, match=r"evaluation rows \(X_val.*new"):
        tw.GradientBoostingRegressor(**FEW, unseen="error").fit(frame, NUMBERS, X_val=other, y_val=NUMBERS)


def test_a_loss_of_ones_own_grows_the_same_trees_as_ours():
    own = tw.GradientBoostingRegressor(**FEW, loss=lambda y, raw: (raw - y, np.ones_like(y))).fit(X, NUMBERS)
    ours = tw.GradientBoostingRegressor(**FEW).fit(X, NUMBERS)

    np.testing.assert_allclose(own.predict(X), ours.predict(X), rtol=1e-4, atol=1e-4)
    assert own.model_.facts["loss"] == {"name": "own"}
    with pytest.raises(ParameterError, match="no value"):
        clone(own).set_params(early_stopping=True).fit(X, NUMBERS)


def test_class_weights_count_all_rows_that_are_given():
    boosted = tw.GradientBoostingClassifier(**FEW, class_weight="balanced", early_stopping=True).fit(X, TWO)
    counts = np.unique(TWO, return_counts=True)[1]

    np.testing.assert_allclose(boosted.model_.facts["class_factors"][0], N / (2 * counts))


@pytest.mark.parametrize(("n", "least"), [(3, 1), (25, 8), (40, 13), (59, 19), (60, 20), (200, 20)])
def test_a_branch_needs_a_third_of_few_rows_and_twenty_of_many(n, least):
    X = np.arange(float(n))[:, None]
    y = X[:, 0] > n - least - 0.5  # the rows of one branch that is just large enough

    def told(**more):
        return tw.GradientBoostingRegressor(n_estimators=5, l2=0, **more).fit(X, 2.0 * y).predict(X)

    np.testing.assert_array_equal(told(), told(min_samples_leaf=least))
    assert len(set(told())) == 2
    if n > 3:  # of three rows no two branches have two each
        assert (told() != told(min_samples_leaf=least + 1)).any()


def test_rows_of_a_leaf_are_counted_by_whole_weights():
    X = np.random.default_rng(5).normal(size=(20, 2))
    y = X[:, 0] + X[:, 1]
    weighed = tw.GradientBoostingRegressor(n_estimators=5).fit(X, y, sample_weight=np.full(20, 2.0))
    twice = tw.GradientBoostingRegressor(n_estimators=5).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_array_equal(weighed.predict(X), twice.predict(X))
    assert len(set(twice.predict(X))) > 1


def test_forty_rows_are_told_apart_at_defaults():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 17, "low", "high")
    assert tw.GradientBoostingClassifier().fit(X, y).score(X, y) == 1.0
