"""Boosted estimators: what judges their rounds, when they stop, and what is told meanwhile."""

from __future__ import annotations

import io
import pickle
from contextlib import redirect_stderr
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    get_scorer,
    log_loss,
    mean_pinball_loss,
    mean_squared_error,
    mean_tweedie_deviance,
    roc_auc_score,
    zero_one_loss,
)

import treewright as tw
from treewright.core.progress import listen
from treewright.data.row_content import hash_content
from treewright.exceptions import DataError, DataWarning, ParameterError
from treewright.learn.held_out import held_out

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


def test_the_history_begins_before_any_tree_and_is_the_loss_of_the_predictions(judged):
    history = judged.history_

    assert [len(values) for values in history.values()] == [FEW["n_estimators"] + 1] * 2
    for name, part in (("train", HEAD), ("validation", TAIL)):
        staged = [mean_squared_error(NUMBERS[part], said) / 2 for said in judged.staged_predict(X[part])]
        np.testing.assert_allclose(history[name][1:], staged, rtol=1e-9)
    mean = NUMBERS[HEAD].mean()
    assert history["validation"][0] == pytest.approx(np.mean((NUMBERS[TAIL] - mean) ** 2) / 2)


def test_the_best_iteration_is_the_lowest_value_of_the_rows_that_judge(judged):
    values = judged.history_["validation"]

    assert judged.best_iteration_ == 1 + int(np.argmin(values[1:]))
    assert judged.n_iter_ == judged.n_estimators_ == FEW["n_estimators"]


def test_history_of_classes_is_the_log_loss_times_what_classes_weigh():
    boosted = tw.GradientBoostingClassifier(**FEW, class_weight={"yes": 3.0})
    boosted.fit(X[HEAD], TWO[HEAD], X_val=X[TAIL], y_val=TWO[TAIL])
    weights = np.where(TWO[TAIL] == "yes", 3.0, 1.0)
    shares = boosted.predict_proba(X[TAIL])

    assert boosted.history_["validation"][-1] == pytest.approx(log_loss(TWO[TAIL], shares, sample_weight=weights))


def test_nothing_is_evaluated_where_nobody_asks():
    boosted = tw.GradientBoostingRegressor(**FEW).fit(X, NUMBERS)

    assert boosted.history_ == {}
    assert boosted.best_iteration_ == boosted.n_iter_ == FEW["n_estimators"]
    with pytest.raises(ParameterError, match=r"no round was evaluated.*X_val and y_val"):
        boosted.plot_history()


def test_early_stopping_keeps_the_rounds_up_to_the_best_and_the_file_has_them(tmp_path):
    boosted = tw.GradientBoostingRegressor(200, learning_rate=0.5, early_stopping=True, n_iter_no_change=5)
    boosted.fit(X[HEAD], NUMBERS[HEAD], X_val=X[TAIL], y_val=NUMBERS[TAIL])
    best = boosted.best_iteration_
    boosted.save(tmp_path / "b.tw")
    model = tw.load(tmp_path / "b.tw")
    alone = tw.GradientBoostingRegressor(best, learning_rate=0.5).fit(X[HEAD], NUMBERS[HEAD])

    assert boosted.n_estimators_ == best == boosted.n_iter_ - 5 < 195
    assert model.n_trees == best
    assert model.facts["best_iteration"] == best
    assert model.facts["history"] == boosted.history_
    assert model.predict(X).tobytes() == boosted.predict(X).tobytes() == alone.predict(X).tobytes()


def test_tol_asks_for_more_than_a_little():
    keen = tw.GradientBoostingRegressor(60, early_stopping=True, n_iter_no_change=3).fit(X, NUMBERS)
    lazy = clone(keen).set_params(tol=0.5).fit(X, NUMBERS)

    assert lazy.n_iter_ < keen.n_iter_


def contents_of(target):
    """What the rows of X hold, as a fit has it."""
    hashes = np.zeros(len(X), np.uint64)
    hash_content(target, np.asarray(X, np.float64), hashes)
    return hashes


def test_a_share_of_the_rows_is_kept_aside_of_every_class_alike():
    boosted = tw.GradientBoostingClassifier(**FEW, early_stopping=True, validation_fraction=0.25).fit(X, THREE)
    codes = np.unique(THREE, return_inverse=True)[1].reshape(-1, 1)
    aside = held_out(codes, contents_of(codes), 0.25, 0, by_class=True)
    again = tw.GradientBoostingClassifier(**FEW, early_stopping=True)
    again.fit(X[~aside], THREE[~aside], X_val=X[aside], y_val=THREE[aside])

    assert boosted.model_.facts["n_samples"] == np.count_nonzero(~aside)
    for label in range(3):
        assert aside[codes[:, 0] == label].mean() == pytest.approx(0.25, abs=0.02)
    assert boosted.history_ == again.history_
    assert boosted.predict_proba(X).tobytes() == again.predict_proba(X).tobytes()


def test_rows_kept_aside_weigh_what_they_weigh():
    weights = RNG.uniform(0.5, 2.0, N)
    aside = held_out(NUMBERS[:, None], contents_of(NUMBERS[:, None]), 0.2, 0, by_class=False)
    boosted = tw.GradientBoostingRegressor(**FEW, early_stopping=True, validation_fraction=0.2)
    boosted.fit(X, NUMBERS, weights)
    again = tw.GradientBoostingRegressor(**FEW, early_stopping=True)
    rows = {"X_val": X[aside], "y_val": NUMBERS[aside], "sample_weight_val": weights[aside]}
    again.fit(X[~aside], NUMBERS[~aside], weights[~aside], **rows)

    assert boosted.history_ == again.history_
    assert boosted.predict(X).tobytes() == again.predict(X).tobytes()


def test_other_seeds_keep_other_rows_aside():
    first, second = (
        held_out(np.zeros((50, 1)), np.arange(50, dtype=np.uint64), 0.2, seed, by_class=False) for seed in (0, 1)
    )

    assert first.sum() == second.sum() == 10
    assert (first != second).any()


def test_a_class_of_one_row_stays_among_the_rows_of_the_fit():
    codes = np.array([0] * 30 + [1]).reshape(-1, 1)

    assert not any(held_out(codes, np.arange(31, dtype=np.uint64), 0.5, seed, by_class=True)[-1] for seed in range(20))


def test_too_few_rows_for_two_parts_are_refused():
    with pytest.raises(DataError, match=r"2 rows are too few to hold out the share 0\.1 of them"):
        tw.GradientBoostingRegressor(9, early_stopping=True).fit([[1.0], [2.0]], [1.0, 2.0])


def test_without_a_fraction_the_rows_of_the_fit_judge():
    boosted = tw.GradientBoostingRegressor(**FEW, early_stopping=True, validation_fraction=None).fit(X, NUMBERS)

    assert list(boosted.history_) == ["train"]
    assert boosted.model_.facts["n_samples"] == N


def test_a_score_of_ones_own_gets_what_predictions_are():
    seen = []

    def auc(true, shares):
        seen.append((true, shares))
        return roc_auc_score(true, shares)

    boosted = tw.GradientBoostingClassifier(**FEW, scoring=auc)
    boosted.fit(X[HEAD], TWO[HEAD], X_val=X[TAIL], y_val=TWO[TAIL])
    true, shares = seen[-1]

    assert true.tolist() == TWO[TAIL].tolist()
    # While trees grow there is no grid yet: the last bits may differ.
    np.testing.assert_allclose(shares, boosted.predict_proba(X[TAIL])[:, 1], rtol=1e-12)
    assert boosted.history_["validation"][-1] == -roc_auc_score(TWO[TAIL], shares)
    assert boosted.plot_history().axes[0].get_ylabel() == "score"


@pytest.mark.parametrize(
    ("scoring", "target"),
    [
        ("roc_auc", TWO), ("balanced_accuracy", TWO), ("neg_log_loss", THREE), ("f1_macro", THREE),
        (get_scorer("roc_auc_ovr"), THREE), ("r2", NUMBERS), ("neg_mean_absolute_error", NUMBERS),
    ],
)  # fmt: skip
def test_a_score_by_name_is_what_scikit_learns_scorer_says(scoring, target):
    kind = "Regressor" if target is NUMBERS else "Classifier"
    boosted = getattr(tw, f"GradientBoosting{kind}")(**FEW, scoring=scoring)

    boosted.fit(X[HEAD], target[HEAD], X_val=X[TAIL], y_val=target[TAIL])

    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    assert boosted.history_["validation"][-1] == pytest.approx(-scorer(boosted, X[TAIL], target[TAIL]), rel=1e-12)
    assert boosted.model_.facts["scored"]
    assert pickle.loads(pickle.dumps(boosted)).predict(X[:5]).tolist() == boosted.predict(X[:5]).tolist()
    if isinstance(scoring, str):
        assert clone(boosted).scoring == boosted.model_.facts["parameters"]["scoring"] == scoring


def test_a_score_by_name_may_stop_the_growth_on_rows_of_the_fit():
    boosted = tw.GradientBoostingClassifier(200, early_stopping=True, scoring="roc_auc", learning_rate=0.5).fit(X, TWO)

    assert boosted.n_iter_ < 200
    assert boosted.best_iteration_ == int(np.argmin(boosted.history_["validation"]))


@pytest.mark.parametrize(("name", "metric"), [("accuracy", accuracy_score), ("neg_log_loss", log_loss)])
def test_a_metric_of_scikit_learn_is_its_scorer_with_its_sign(name, metric):
    for target in (TWO, THREE):
        one, other = (
            tw.GradientBoostingClassifier(30, scoring=scoring, early_stopping=True).fit(X, target).history_
            for scoring in (name, metric)
        )
        assert one == other


@pytest.mark.parametrize(
    ("metric", "target", "sign"),
    [
        (zero_one_loss, TWO, -1),
        (cohen_kappa_score, THREE, 1),
        (mean_pinball_loss, NUMBERS, -1),
        (mean_tweedie_deviance, NUMBERS, -1),
    ],
)
def test_a_metric_without_a_scorer_compares_predictions_and_errors_are_lowered(metric, target, sign):
    kind = "Regressor" if target is NUMBERS else "Classifier"
    boosted = getattr(tw, f"GradientBoosting{kind}")(**FEW, scoring=metric).fit(
        X[HEAD], target[HEAD], X_val=X[TAIL], y_val=target[TAIL]
    )

    expected = -sign * metric(target[TAIL], boosted.predict(X[TAIL]))
    assert boosted.history_["validation"][-1] == pytest.approx(expected, rel=1e-12)


def test_a_function_that_needs_labels_is_refused_with_what_it_gets():
    with pytest.raises(ParameterError, match=r"gets the true targets and probabilities .*, and failed: .*wrap it"):
        tw.GradientBoostingClassifier(2, scoring=partial(zero_one_loss, normalize=True)).fit(X, TWO)


@pytest.mark.parametrize("params", [{"n_estimators": 50, "early_stopping": True}, {}])
def test_a_score_that_never_changes_is_named(params):
    few = np.arange(len(X)) % 20 == 0
    with pytest.warns(DataWarning, match=r"the score is 0\.9\d* in all \d+ rounds, so round 1 is kept"):
        tw.GradientBoostingClassifier(scoring="accuracy", max_depth=1, **params).fit(X, few)


@pytest.mark.parametrize(
    ("scoring", "target", "message"),
    [
        ("rocauc", TWO, "did you mean 'roc_auc'"),
        ("accuracy", NUMBERS, "the score 'accuracy' cannot be computed for this estimator and target"),
        ("roc_auc", THREE, "the score 'roc_auc' cannot be computed.*roc_auc_ovr"),
    ],
)
def test_a_score_that_does_not_go_with_the_target_is_refused(scoring, target, message):
    kind = "Regressor" if target is NUMBERS else "Classifier"
    with pytest.raises(ParameterError, match=message):
        getattr(tw, f"GradientBoosting{kind}")(2, scoring=scoring).fit(X, target)


@pytest.mark.parametrize(
    ("kind", "target", "shape"),
    [
        ("Classifier", THREE, (80, 3)),
        ("Regressor", NUMBERS, (80,)),
        ("Regressor", np.column_stack([NUMBERS, -NUMBERS]), (80, 2)),
    ],
)
def test_the_shape_of_what_a_score_gets(kind, target, shape):
    shapes = set()

    def score(true, said):
        shapes.add((np.shape(true), np.shape(said)))
        return 0.0

    boosted = getattr(tw, f"GradientBoosting{kind}")(2, scoring=score)
    boosted.fit(X[HEAD], target[HEAD], X_val=X[TAIL], y_val=target[TAIL])

    assert shapes == {(target[TAIL].shape, shape)}


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ParameterError, match="scoring=<lambda> must return a finite number, not nan"):
        tw.GradientBoostingRegressor(2, scoring=lambda true, said: np.nan).fit(X, NUMBERS)


def test_a_callback_hears_of_every_round_and_can_end_the_growth():
    heard = []

    def callback(news):
        heard.append(news)
        return news.number == 4

    boosted = tw.GradientBoostingRegressor(9, callbacks=callback).fit(X, NUMBERS)

    assert [news.number for news in heard] == [1, 2, 3, 4]
    assert boosted.n_estimators_ == boosted.n_iter_ == 4
    assert [news.train for news in heard] == boosted.history_["train"][1:]
    assert {news.n_rounds for news in heard} == {9}


def test_the_bar_tells_the_round_and_the_loss_and_never_the_time_twice():
    told = []
    with listen(lambda done, what: told.append((done, what))):
        boosted = tw.GradientBoostingRegressor(5, verbose=1).fit(X, NUMBERS)
    of_rounds = [what for _, what in told if what.startswith("round ")]
    last = boosted.history_["train"][-1]

    assert [what.partition(",")[0] for what in of_rounds] == [f"round {number}" for number in range(1, 6)]
    assert of_rounds[-1] == f"round 5, loss {last:.4g}"
    assert told[-1] == (1.0, f"boosting grew 5 rounds, loss {last:.4g}")


def test_what_verbose_leaves_is_where_the_growth_stopped_the_loss_and_the_best_round():
    with redirect_stderr(io.StringIO()) as shown:
        boosted = tw.GradientBoostingRegressor(300, learning_rate=0.5, early_stopping=True, verbose=1).fit(X, NUMBERS)
    history, best = boosted.history_, boosted.best_iteration_
    plan, reached = shown.getvalue().splitlines()

    assert boosted.n_iter_ < 100
    assert plan.startswith("plan: one model, at most 300 rounds, at most about ")
    assert reached.startswith(
        f"boosting stopped after round {boosted.n_iter_} of 300, loss {history['train'][-1]:.4g}, "
        f"held out {history['validation'][-1]:.4g}, best in round {best}: {history['validation'][best]:.4g} "
        f"({100 * boosted.n_iter_ / 300:.0f} %, 0:0"
    )


def test_a_score_is_told_as_it_is_not_its_negative():
    told = []
    with listen(lambda done, what: told.append(what)):
        boosted = tw.GradientBoostingClassifier(3, scoring=roc_auc_score)
        boosted.fit(X[HEAD], TWO[HEAD] == "yes", X_val=X[TAIL], y_val=TWO[TAIL] == "yes")
    scores = [-value for value in boosted.history_["validation"]]

    assert f"round 3, score of held-out rows {scores[3]:.4g} (best: {boosted.best_iteration_})" in told
    assert told[-1].endswith(
        f"score of held-out rows {scores[3]:.4g}, best in round {boosted.best_iteration_}: {max(scores):.4g}"
    )
