"""The error over the number of trees, and boosting round by round."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.boosting.growth import losses_of_rounds
from treewright.boosting.losses import loss_words
from treewright.data.target import class_factors, weighed
from treewright.evaluation.scores import accuracy
from treewright.exceptions import DataError
from treewright.forest.out_of_bag import counts_to_show
from treewright.predict.ensemble import predictions_after
from treewright.prune.methods import Rows
from treewright.reporting.data import POINTS_OF_TREES, Options, ReportData, out_of_bag_of, sampled_rows
from treewright.show.page.parts import CurvePart, MarkPart, SeriesPart
from treewright.show.page.render import amount
from treewright.trees.data import predicted_codes
from treewright.trees.summary import counted

# Rows times trees that predict; a median sorts the predictions of all trees at every point.
MOST_PREDICTED, MOST_ORDERED = 20_000_000, 400_000
WRONG, WRONG_WEIGHT, ROOT = (
    "misclassification rate",
    "misclassification rate by weight",
    "root mean squared error",
)
TEST_ROWS, LEFT_OUT = "test rows", "out of bag"
POINTS = 120
NO_HISTORY = (
    "The fit evaluated no round, so it has no history: fit with early_stopping=True, with X_val and y_val, or with "
    "verbose=1."
)
NO_ONE_HISTORY = (
    "The members stopped on their held-out rows, in groups with different numbers of rounds, so the fit has no single "
    "history."
)
NAMES = {"train": "training rows", "validation": "held-out rows of the fit"}
Curves = tuple[list[CurvePart], list[str]]


def errors_after(data: ReportData, rows: np.ndarray, counts: list[int], n_jobs: int | None) -> list[float]:
    """The error of the first trees together, for several numbers of trees.

    Misclassification rate, with several outputs of any of them; or root mean squared error.
    """
    model, target, weights = data.model, data.target[rows], data.weights[rows]
    found = []
    for answers in predictions_after(model, data.matrix[rows], counts, n_jobs):
        if data.is_classification:
            found.append(1.0 - accuracy(target, predicted_codes(model, answers), weights))
        else:
            with np.errstate(over="ignore"):
                squares = np.square(answers - target).mean(axis=1)
                found.append(math.sqrt(float(np.average(squares, weights=weights))))
    return found


def error_name(data: ReportData) -> str:
    """The name of the error that `errors_after` computes."""
    if not data.is_classification:
        return ROOT
    return WRONG_WEIGHT if data.is_weighted else WRONG


def rows_to_predict(data: ReportData, options: Options) -> tuple[np.ndarray, str]:
    """The test rows that are predicted after every number of trees, and a note if they are not all."""
    most = MOST_ORDERED if data.model.aggregation.sorts else MOST_PREDICTED
    rows = sampled_rows(data.n, max(most // len(data.model.trees), options.rows), options.random_state)
    if len(rows) == data.n:
        return rows, ""
    return rows, (f"Curves over trees and rounds are of {counted(len(rows), 'test row')}, sampled from {data.n:,}.")


def forest_curve(data: ReportData, options: Options) -> tuple[CurvePart, tuple[str, ...]]:
    """The error over the number of trees, on the test rows and out of bag, with notes."""
    n_trees = len(data.model.trees)
    counts = counts_to_show(n_trees, POINTS_OF_TREES)
    rows, drawn = rows_to_predict(data, options)
    errors = errors_after(data, rows, counts, options.n_jobs)
    series = [SeriesPart(TEST_ROWS, tuple(errors))]
    out_of_bag, why = out_of_bag_of(data)
    if out_of_bag is not None:
        held = out_of_bag.error if data.is_classification else np.sqrt(out_of_bag.error)
        series.append(SeriesPart(LEFT_OUT, tuple(held.tolist())))
    half = counts[int(np.searchsorted(counts, (n_trees + 1) // 2))]
    words = [f"With all {counted(n_trees, 'tree')}: {error_words(data, errors[-1])} on the test rows"]
    if out_of_bag is not None:
        words.append(f"{error_words(data, series[1].y[-1])} out of bag")
    if out_of_bag is not None:
        words[-1] += " (each training row by the trees that did not sample it)"
    before = errors[counts.index(half)]
    more = f" With the first {half}: {error_words(data, before)} on the test rows." if half < n_trees else ""
    part = CurvePart(
        key="error",
        title="Error over the number of trees",
        xlabel="trees",
        ylabel=error_name(data),
        words=", ".join(words) + "." + more,
        x=tuple(counts),
        series=tuple(series),
    )
    return part, tuple(filter(None, (drawn, why)))


def error_words(data: ReportData, error: float | None) -> str:
    """An error in words."""
    if error is None or math.isnan(error):
        return "nothing"
    return f"{100 * error:.1f} % wrong" if data.is_classification else amount(error)


def boosting_curves(data: ReportData, options: Options, n_rounds: int) -> Curves:
    """The loss after each round, the history of the fit, and for classification the error after each round."""
    rows, drawn = rows_to_predict(data, options)
    notes, curves = [drawn] if drawn else [], []
    history, is_scored = history_of(data)
    losses, name = np.empty(0), ""
    try:
        name, losses = losses_on_test_rows(data, rows)
    except DataError as error:
        notes.append(f"There is no loss by round on the test rows: {error}.")
    beside = {} if is_scored else history
    if len(losses) or beside:
        curves.append(loss_curve(data, losses, name or "loss", beside))
    if is_scored and history:
        curves.append(score_curve(data, history))
    if data.is_classification:
        curves.append(error_curve(data, rows, n_rounds, options))
    without = NO_ONE_HISTORY if data.model.facts.get("members") else NO_HISTORY
    if not history and len(losses):
        curves[0] = replace(curves[0], words=f"{curves[0].words} {without}")
    elif not history:
        notes.append(without)
    return curves, notes


def losses_on_test_rows(data: ReportData, rows: np.ndarray) -> tuple[str, np.ndarray]:
    """Name of the model's loss, and its mean on the test rows after each round, as in ``prune("rounds", X, y)``.

    Classes have the weights that they had in the fit.
    """
    model, target, weights = data.model, data.target[rows], data.weights[rows]
    if model.classes:
        weights = weighed(weights, class_factors(model.facts, target, model.classes), target)
    return losses_of_rounds(model, Rows(data.matrix[rows], target, weights))


def history_of(data: ReportData) -> tuple[dict[str, list[float | None]], bool]:
    """The history of the fit, from round 0 on; and whether it is of a score, of which higher is better."""
    facts = data.model.facts
    held, is_scored = facts.get("history"), bool(facts.get("scored"))
    if not isinstance(held, dict):
        return {}, is_scored
    sign = -1.0 if is_scored else 1.0
    return {
        name: [None if value is None else sign * float(value) for value in held[name]]
        for name in NAMES
        if isinstance(held.get(name), list) and len(held[name]) > 1
    }, is_scored


def loss_curve(data: ReportData, losses: np.ndarray, name: str, history: dict[str, list[float | None]]) -> CurvePart:
    """The loss on the test rows, and the history of the fit."""
    series: dict[str, list[float | None]] = {}
    best = 0
    if len(losses):
        best = int(losses.argmin()) + 1
        series[TEST_ROWS] = [None, *losses.tolist()]  # the rounds begin with 0 in the history
    series |= {NAMES[which]: values for which, values in history.items()}
    kept = len(losses) or int(data.model.facts.get("best_iteration") or 0)
    last = max(len(values) for values in series.values()) - 1
    is_cut = kept < last
    marks, words = [], []
    if best and is_cut and best == kept:
        marks = [MarkPart(best, f"kept, and lowest on the test rows: round {best}")]
    elif best:
        marks = [MarkPart(best, f"lowest on the test rows: round {best}")]
    if is_cut and best != kept:
        marks.append(MarkPart(kept, f"kept: round {kept}"))
    if best and best == len(losses):
        words.append(
            f"On the test rows the loss ({loss_words(name)}) is lowest after the last round that was kept, {best}: "
            f"{amount(losses[-1])}."
        )
    elif best:
        words.append(
            f"On the test rows the loss ({loss_words(name)}) is lowest after round {best}: "
            f"{amount(losses[best - 1])}; after the last, round {len(losses)}, it is {amount(losses[-1])}."
        )
    if is_cut:
        words.append(f"The fit ended after round {last} and kept the first {kept}.")
    return curve_over_rounds("loss", "Loss after each round", f"loss ({loss_words(name)})", words, series, marks)


def score_curve(data: ReportData, history: dict[str, list[float | None]]) -> CurvePart:
    """The scores of the user's function after each round."""
    best = int(data.model.facts.get("best_iteration") or 0)
    series = {NAMES[which]: values for which, values in history.items()}
    marks = [MarkPart(best, f"best at the fit: round {best}")] if best else []
    words = ["The score of the fit's scoring function after each round; higher is better."]
    return curve_over_rounds("history", "Score after each round of the fit", "score", words, series, marks)


def error_curve(data: ReportData, rows: np.ndarray, n_rounds: int, options: Options) -> CurvePart:
    """The misclassification rate on the test rows after each round, or the root mean squared error."""
    # A median sorts all predictions at every round; sums go on from the round before.
    counts = places(n_rounds, POINTS if data.model.aggregation.sorts else n_rounds)
    errors = errors_after(data, rows, counts, options.n_jobs)
    best = int(np.argmin(errors))
    words = f"After all {counted(n_rounds, 'round')}: {error_words(data, errors[-1])} on the test rows"
    if errors[best] < errors[-1]:
        words += f"; lowest after round {counts[best]}: {error_words(data, errors[best])}"
    shown = sorted({*(at - 1 for at in places(len(counts), POINTS)), best})
    return CurvePart(
        "error", "Error after each round", "rounds", error_name(data), words + ".",
        tuple(counts[at] for at in shown), (SeriesPart(TEST_ROWS, tuple(errors[at] for at in shown)),),
    )  # fmt: skip


def adaboost_curves(data: ReportData, options: Options, n_rounds: int) -> Curves:
    """The error after each round, the error of each tree in the fit, and the weights of the trees."""
    rows, drawn = rows_to_predict(data, options)
    curves = [error_curve(data, rows, n_rounds, options)]
    own = getattr(data.estimator, "estimator_errors_", None)
    if own is not None and len(own) == n_rounds:
        what = WRONG_WEIGHT if data.is_classification else "mean loss by weight, 0 to 1"
        words = (
            "Each tree with the row weights of its round: rows that earlier trees got wrong have more weight, so this "
            "rises while the trees together improve."
        )
        curves.append(points_of("alone", "Error of each tree alone, in the fit", what, words, own))
    if data.model.tree_weights is not None:
        words = "The weight of each tree in the prediction of all together."
        curves.append(points_of("weights", "Weights of the trees", "weight", words, data.model.tree_weights))
    return curves, [drawn] if drawn else []


def points_of(key: str, title: str, ylabel: str, words: str, values: np.ndarray) -> CurvePart:
    """A number per round, each a point."""
    counts = places(len(values), POINTS)
    series = SeriesPart(ylabel, tuple(float(values[at - 1]) for at in counts))
    return CurvePart(key, title, "rounds", ylabel, words, tuple(counts), (series,), dots=True)


def curve_over_rounds(
    key: str, title: str, ylabel: str, words: Sequence[str], series: dict[str, list[float | None]],
    marks: Sequence[MarkPart],
) -> CurvePart:  # fmt: skip
    """Values from round 0 on as a chart of at most ``POINTS`` rounds, from the first tree on."""
    last = max(len(values) for values in series.values()) - 1
    longest = [[*values, *[None] * (last + 1 - len(values))] for values in series.values()]
    first = min(1, last)
    shown = sorted({*(first + at - 1 for at in places(last + 1 - first, POINTS)), *marked(marks, first, last)})
    return CurvePart(
        key, title, "rounds", ylabel, " ".join(words), tuple(shown),
        tuple(
            SeriesPart(name, tuple(values[at] for at in shown)) for name, values in zip(series, longest, strict=True)
        ),
        tuple(mark for mark in marks if first <= mark.x <= last),
    )  # fmt: skip


def marked(marks: Iterable[MarkPart], first: int, last: int) -> list[int]:
    """Rounds that a mark names."""
    return [int(mark.x) for mark in marks if first <= mark.x <= last]


def places(n: int, points: int) -> list[int]:
    """Whole numbers from 1 to ``n``, evenly spaced, at most ``points``; the ends included.

    Examples
    --------
    >>> places(3, 5), places(100, 4)
    ([1, 2, 3], [1, 34, 67, 100])
    """
    return sorted({int(at) for at in np.linspace(1, n, min(n, points)).round()})


def loss_name(model: Any) -> str:
    """The name of the loss of boosted trees, in words; empty for other models, and if it is not known."""
    loss = model.facts.get("loss")
    if (
        getattr(model, "boosting", None) is None
        or not isinstance(loss, Mapping)
        or not isinstance(loss.get("name"), str)
    ):
        return ""
    return loss_words(loss["name"])
