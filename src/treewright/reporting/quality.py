"""The section Quality: measures, curves, calibration and residuals of each output; error curves of copies.

Numbers come from scikit-learn's metrics, next to those of a constant prediction; intervals are Wilson's, with the
effective number of rows. Error curves fit copies of the estimator on parts of the test rows: they do not evaluate the
model itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    mean_absolute_error,
    mean_pinball_loss,
    precision_recall_curve,
    precision_recall_fscore_support,
    r2_score,
    roc_auc_score,
    roc_curve,
    root_mean_squared_error,
)

from treewright.core.confidence import share_interval
from treewright.data.cells import shown
from treewright.evaluation.after_fit import without_steps
from treewright.evaluation.curves import Curve, error_curve, learning_curve
from treewright.evaluation.folds import as_array, folds_within
from treewright.evaluation.measures import TWO, brier_score_of, log_loss_of
from treewright.evaluation.path import family_of, usually_over
from treewright.evaluation.scores import WORDS, in_units, rows_worth
from treewright.exceptions import DataError, ParameterError
from treewright.reporting.data import Options, ReportData, estimator_of
from treewright.show.page.parts import (
    CalibrationPart,
    ClassPart,
    ConfusionPart,
    ErrorCurvePart,
    MeasurePart,
    MixUpPart,
    QualityPart,
    RankPart,
    ResidualsPart,
)
from treewright.show.page.render import amount
from treewright.trees.data import quantile_levels
from treewright.trees.summary import counted, written_labels
from treewright.trees.threshold import COST, Threshold, positive_code
from treewright.trees.writing import shorten, written_name

NAME_WIDTH = 200
MOST_SHOWN = 20  # classes of a readable matrix, lines of a table
MIX_UPS_FROM, MOST_MIX_UPS = 7, 10  # the largest confusions are listed from so many classes on
MOST_CURVES = 12  # classes with curves of their own
SAYS = {
    "accuracy": "The share of the rows that are predicted correctly.",
    "log loss": "Minus the mean logarithm of the true class's probability, 0 counting as 2e-16. 0 is best.",
    "Brier score": "The mean squared distance of the predicted probabilities from the truth. 0 is best.",
    "R2": "The share of the target's variance that the model explains. 1 is all, 0 no more than the mean.",
    "mean absolute error": "How far off a prediction is, on average, in the unit of the target.",
    "root mean squared error": "The same with large errors counting more.",
}
BESIDE = "without the model"
VOTES = "The model counts votes, and shares of votes are not probabilities: log loss, Brier score and calibration are "
MOST_CURVE_POINTS = 200
N_BINS = 10
MOST_RESIDUALS = 500
LEAST_CELLS, MOST_CELLS = 5, 30
PINBALL = "How far off the quantile is: being on the wrong side costs more. 0 is best."
NOT_ABOVE = "The share of the rows whose target is not above the quantile; it should be the level."
FOLDS = 10
# Depths to try if each has to be fitted; one tree is cut off at every depth instead.
DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16)
WORDS_OF = {"rows": "training rows", "max_depth": "depth of the trees", "leaves": "leaves"}
UNKNOWN = "the facts of the model do not hold all parameters of its fit: make the report from the estimator"
PRUNED = "The copies are not pruned as this tree was."
LONGEST_WHY = 300


def quality_parts(data: ReportData, options: Options) -> tuple[QualityPart, ...]:
    """The quality of the predictions of each output; error curves, if there are any, are with the first."""
    names = output_names(data)
    if data.is_classification:
        parts = [class_quality(data, output, names[output]) for output in range(len(data.model.classes))]
    else:
        parts = _of_numbers(data, names, options)
    curves, without = curve_parts(data, options)
    parts[0] = replace(parts[0], curves=curves, left_out=(*parts[0].left_out, *without))
    return tuple(parts)


def _of_numbers(data: ReportData, names: tuple[str, ...], options: Options) -> list[QualityPart]:
    """The parts of a regression model: one number for each output, or quantiles, or something else."""
    levels = () if data.is_neighbors else quantile_levels(data.model)
    if levels:
        return [quantile_quality(data, levels, names[0])]
    if data.numbers.shape != data.target.shape:
        why = (
            f"The model predicts {data.numbers.shape[1]} numbers for a row, with a loss that was a function of "
            "Python: no measure of them is known."
        )
        return [QualityPart(names[0], "none", data.n, float(data.n), False, "", left_out=(why,))]
    return [number_quality(data, output, names[output], options) for output in range(data.target.shape[1])]


def output_names(data: ReportData) -> tuple[str, ...]:
    """The name of each output; empty if there is one and it has no name."""
    names, n_outputs = data.model.target_names, data.target.shape[1]
    if names:
        return tuple(shorten(written_name(name), NAME_WIDTH) for name in names)
    return tuple(f"y{output}" for output in range(n_outputs)) if n_outputs > 1 else ("",)


def class_quality(data: ReportData, output: int, name: str) -> QualityPart:
    """The quality of one output's classes and probabilities."""
    names = tuple(shorten(label, NAME_WIDTH) for label in written_labels(data.model.classes[output]))
    truth, predicted = data.target[:, output].astype(np.int64), data.codes[:, output].astype(np.int64)
    shares, k = data.shares[output], len(names)
    # For means; sums of weights as they are could be beyond float64.
    weights = in_units(data.weights)
    # scikit-learn's confusion_matrix always warns if there is one class.
    counts = np.bincount(truth * k + predicted, weights=data.weights, minlength=k * k).reshape(k, k)
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    votes = not data.is_neighbors and data.model.aggregation.votes
    ranks, calibration = _ranks_and_calibration(names, truth, shares, data.weights, order, votes=votes)
    measures, without = _measures(truth, predicted, shares, weights, names, votes=votes)
    if data.model.threshold is not None and data.model.threshold.cost_each is not None:
        measures += (_cost(data.model.threshold, truth, predicted, weights, names),)
    listed = np.sort(order[:MOST_SHOWN])
    # Of two classes the curves of one are those of the other, mirrored.
    positive = positive_code(data.model)
    if data.model.threshold is not None:
        ranks = tuple(_marked(rank, data.model.threshold, truth, predicted, weights) for rank in ranks)
    drawn = {1 if positive is None else positive} if k == TWO else set(order[:MOST_CURVES].tolist())
    return QualityPart(
        output=name,
        kind="classes",
        n_rows=data.n,
        worth=rows_worth(data.n, weights),
        weighted=data.is_weighted,
        lead=_lead(data, truth, predicted, measures[0]),
        beside=BESIDE,
        without=without,
        measures=measures,
        n_classes=k,
        classes=_classes(names, truth, predicted, weights, counts, listed, {rank.position: rank for rank in ranks}),
        confusion=ConfusionPart(names, tuple(map(tuple, counts.tolist()))) if k <= MOST_SHOWN else None,
        mix_ups=_mix_ups(names, counts) if k >= MIX_UPS_FROM else (),
        ranks=tuple(rank for rank in ranks if rank.position in drawn),
        calibration=tuple(held for held in calibration if held.position in drawn),
        left_out=_left_out(truth, k, len(ranks), votes=votes),
    )


def _measures(
    truth: np.ndarray,
    predicted: np.ndarray,
    shares: np.ndarray,
    weights: np.ndarray,
    names: tuple[str, ...],
    *,
    votes: bool,
) -> tuple[tuple[MeasurePart, ...], str]:
    """Accuracy, log loss and Brier score next to those of a constant prediction, and that prediction in words."""
    k = len(names)
    held = np.bincount(truth, weights=weights, minlength=k) / weights.sum()
    commonest = int(held.argmax())
    accuracy = float(accuracy_score(truth, predicted, sample_weight=weights))
    n = rows_worth(len(truth), weights)
    low, high = share_interval(min(1.0, accuracy), n)
    found = [MeasurePart("accuracy", accuracy, low, high, float(held[commonest]), SAYS["accuracy"], "share")]
    without = f'always predicting "{names[commonest]}"'
    if k < TWO or votes:
        return tuple(found), without
    same = np.broadcast_to(held, shares.shape)
    for measure, work in (("log loss", log_loss_of), ("Brier score", brier_score_of)):
        value, guess = (work(truth, given, weights) for given in (shares, same))
        found.append(MeasurePart(measure, value, None, None, guess, SAYS[measure], "share"))
    return tuple(found), f"{without}, with the class proportions of these rows"


def _marked(
    rank: RankPart, threshold: Threshold, truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray
) -> RankPart:
    """The curves of the positive class with the place of the threshold; those of the other as they are."""
    if rank.position != threshold.positive:
        return rank
    is_so, is_said = truth == threshold.positive, predicted == threshold.positive
    found, taken_wrongly = (float(np.average(is_said[of], weights=weights[of])) for of in (is_so, ~is_so))
    return replace(rank, decides=(threshold.at, taken_wrongly, found))


def _cost(
    threshold: Threshold, truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray, names: tuple[str, ...]
) -> MeasurePart:
    """The cost of the errors by the costs that chose the threshold, next to that of a constant prediction."""
    fp, fn = threshold.cost_each or (0.0, 0.0)
    name, is_so, is_said = names[threshold.positive], truth == threshold.positive, predicted == threshold.positive
    each = fp * (is_said & ~is_so) + fn * (is_so & ~is_said)
    value, never, always = (float(np.average(cost, weights=weights)) for cost in (each, fn * is_so, fp * ~is_so))
    # The most frequent class is what "without the model" predicts in every line of the table.
    held = np.bincount(truth, weights=weights, minlength=len(names))
    guess = always if int(held.argmax()) == threshold.positive else never
    says = (
        f"The mean cost of a row if predicting {name} wrongly costs {fp:g} and missing it {fn:g}; these costs chose "
        f"the threshold. Never predicting {name} costs {never:.4g} per row, always {always:.4g}."
    )
    return MeasurePart(COST, value, None, None, guess, says)


def _classes(
    names: tuple[str, ...], truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray, counts: np.ndarray,
    listed: np.ndarray, ranks: dict[int, RankPart],
) -> tuple[ClassPart, ...]:  # fmt: skip
    """A line for each of some classes."""
    precisions, recalls, f1s, _ = precision_recall_fscore_support(
        truth, predicted, labels=np.arange(len(names)), sample_weight=weights, zero_division=np.nan
    )
    found = []
    for place in listed.tolist():
        is_so, is_predicted = truth == place, predicted == place
        found_so, found_predicted = (
            _ends(recalls[place], weights[is_so]),
            _ends(precisions[place], weights[is_predicted]),
        )
        rank = ranks.get(place)
        found.append(
            ClassPart(
                name=names[place],
                position=place,
                n_rows=int(is_so.sum()),
                n_said=int(is_predicted.sum()),
                weight=float(counts[place].sum()),
                weight_said=float(counts[:, place].sum()),
                precision=_number(precisions[place]),
                precision_low=found_predicted[0],
                precision_high=found_predicted[1],
                recall=_number(recalls[place]),
                recall_low=found_so[0],
                recall_high=found_so[1],
                f1=_number(f1s[place]),
                area=None if rank is None else rank.area,
                average_precision=None if rank is None else rank.average_precision,
            )
        )
    return tuple(found)


def _number(value: float) -> float | None:
    """A number, None for nan."""
    return None if np.isnan(value) else float(value)


def _ends(share: float, weights: np.ndarray) -> tuple[float | None, float | None]:
    """95 % interval of a share of some rows; None if there are none."""
    if np.isnan(share):
        return None, None
    n = rows_worth(len(weights), weights)
    return share_interval(float(np.clip(share, 0.0, 1.0)), n)


def _mix_ups(names: tuple[str, ...], counts: np.ndarray) -> tuple[MixUpPart, ...]:
    """The largest confusions; of equal ones the first."""
    off = counts.copy()
    np.fill_diagonal(off, 0.0)
    totals = counts.sum(axis=1)
    largest = [place for place in np.argsort(-off, axis=None, kind="stable")[:MOST_MIX_UPS] if off.flat[place] > 0]
    pairs = [(int(place) // len(names), int(place) % len(names)) for place in largest]
    return tuple(
        MixUpPart(names[true], names[guess], float(off[true, guess]), float(off[true, guess] / totals[true]))
        for true, guess in pairs
    )


def _ranks_and_calibration(
    names: tuple[str, ...], truth: np.ndarray, shares: np.ndarray, weights: np.ndarray, order: np.ndarray, *,
    votes: bool,
) -> tuple[tuple[RankPart, ...], tuple[CalibrationPart, ...]]:  # fmt: skip
    """Curves and calibration of the probabilities of each class; of many classes those with the most weight."""
    held, places = in_units(weights), sorted(order[:MOST_SHOWN].tolist())
    ranks, calibration = [], []
    for place in places:
        is_so = truth == place
        if held[is_so].any() and held[~is_so].any():
            ranks.append(rank_part(names[place], place, is_so, shares[:, place], weights))
        if not votes and len(names) > 1:
            calibration.append(calibration_part(names[place], place, is_so, shares[:, place], weights))
    return tuple(ranks), tuple(calibration)


def _lead(data: ReportData, truth: np.ndarray, predicted: np.ndarray, accuracy: MeasurePart) -> str:
    """The quality in a sentence."""
    share, low, high = (100 * (value or 0.0) for value in (accuracy.value, accuracy.low, accuracy.high))
    right = f"The model is correct for {int((truth == predicted).sum()):,} of {len(truth):,} rows"
    of = " of the weight" if data.is_weighted else ""
    if data.seen:  # an interval would be about other rows than these
        return f"{right} that it was fitted on: {share:.1f} %{of}."
    lead = f"{right}: {share:.1f} %{of}, with a 95 % interval of {low:.1f} to {high:.1f} %."
    if not data.n_unknown:
        return lead
    return (
        f"{lead} It is wrong about {counted(data.n_unknown, 'more row')} of classes without training rows: with "
        f"them {share * (1.0 - data.unknown_share):.1f} % are correct. The numbers below leave them out."
    )


def _left_out(truth: np.ndarray, k: int, n_ranks: int, *, votes: bool) -> tuple[str, ...]:
    """What is not shown, and why."""
    found = []
    if k == 1:
        found.append("The model knows only one class: there are no curves.")
    elif (truth == truth[0]).all():
        found.append("The rows are all of one class: curves need another class.")
    elif n_ranks < min(k, MOST_SHOWN):
        absent = min(k, MOST_SHOWN) - n_ranks
        found.append(f"{absent} of the classes {'has' if absent == 1 else 'have'} no test row, and no curves.")
    if k > MOST_SHOWN:
        found.append(f"The model knows {k} classes: the confusion matrix is too large to show.")
    if k > MOST_CURVES:
        found.append(f"Curves are drawn for the {MOST_CURVES} classes with the most rows.")
    if votes:
        found.append(VOTES + "left out.")
    return tuple(found)


def rank_part(name: str, position: int, is_so: np.ndarray, share: np.ndarray, weights: np.ndarray) -> RankPart:
    """Both curves of a class against the rest, at most 200 points of each; areas are of all points.

    ``is_so`` says which rows are of the class: at least one is, and one is not; ``share`` is their probability.
    """
    weights = in_units(weights)
    false_rate, true_rate, _ = roc_curve(is_so, share, sample_weight=weights)
    precision, recall, _ = precision_recall_curve(is_so, share, sample_weight=weights, drop_intermediate=True)
    precision, recall = precision[::-1], recall[::-1]
    # Before the first true positive there is no precision to draw: scikit-learn's last point (0, 1) is not measured,
    # and rows before the first true positive would be a vertical line at 0.
    found = recall > 0
    precision, recall = precision[found], recall[found]
    precision, recall = np.append(precision[0], precision), np.append(0.0, recall)
    kept, held = _some(false_rate, true_rate), _some(recall, precision)
    return RankPart(
        name=name,
        position=position,
        share=float(weights[is_so].sum() / weights.sum()),
        false_rate=tuple(false_rate[kept].tolist()),
        true_rate=tuple(true_rate[kept].tolist()),
        area=float(roc_auc_score(is_so, share, sample_weight=weights)),
        recall=tuple(recall[held].tolist()),
        precision=tuple(precision[held].tolist()),
        average_precision=float(average_precision_score(is_so, share, sample_weight=weights)),
    )


def calibration_part(
    name: str, position: int, is_so: np.ndarray, share: np.ndarray, weights: np.ndarray
) -> CalibrationPart:
    """How often a class is true by its predicted probability, in ten bins of equal width.

    Parameters are those of ``rank_part``; all rows or none may be of the class.
    """
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    # As scikit-learn's calibration_curve, which takes no weights: a share on an edge belongs to the bin below.
    bins = np.searchsorted(edges[1:-1], share)
    held, unit = np.bincount(bins, minlength=N_BINS), in_units(weights)
    weight, total, true, stated = (
        np.bincount(bins, weights=each, minlength=N_BINS) for each in (weights, unit, unit * is_so, unit * share)
    )
    lines: list[tuple[float | None, float | None, float | None, float | None]] = []
    for at in range(N_BINS):
        if not total[at] > 0:
            lines.append((None, None, None, None))
            continue
        part, n = min(1.0, float(true[at] / total[at])), rows_worth(int(held[at]), unit[bins == at])
        lines.append((min(1.0, float(stated[at] / total[at])), part, *share_interval(part, n)))
    predicted, happened, lows, highs = zip(*lines, strict=True)
    return CalibrationPart(
        name=name,
        position=position,
        edges=tuple(edges.tolist()),
        n_rows=tuple(held.tolist()),
        weight=tuple(weight.tolist()),
        predicted=predicted,
        happened=happened,
        low=lows,
        high=highs,
        error=float(np.abs(true - stated).sum() / total.sum()),
    )


def _some(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Positions of at most so many points, evenly along the curve, including the ends."""
    if len(x) <= MOST_CURVE_POINTS:
        return np.arange(len(x))
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    wanted = np.linspace(0.0, way[-1], MOST_CURVE_POINTS)
    return np.unique([0, *np.searchsorted(way, wanted[1:-1]).tolist(), len(x) - 1])


def number_quality(data: ReportData, output: int, name: str, options: Options) -> QualityPart:
    """The quality of one output's numbers; ``options.random_state`` samples the points."""
    truth, predicted = data.target[:, output], data.numbers[:, output]
    constant = bool((truth == truth[0]).all())
    # In units of a power of 2, in which squares and sums are within float64; nothing is rounded.
    unit = int(np.frexp(max(np.abs(truth).max(), np.abs(predicted).max()))[1])
    with np.errstate(over="ignore", under="ignore"):
        weights, scaled = in_units(data.weights), np.ldexp(truth, -unit)
        mean = float(np.average(scaled, weights=weights))
        same = np.full(len(truth), mean)
        measures = []
        for measure, work in (
            ("R2", r2_score),
            ("mean absolute error", mean_absolute_error),
            ("root mean squared error", root_mean_squared_error),
        ):
            if measure == "R2" and constant:
                continue
            value, guess = (
                float(work(scaled, given, sample_weight=weights)) for given in (np.ldexp(predicted, -unit), same)
            )
            if measure == "R2":
                measures.append(MeasurePart(measure, value, None, None, 0.0, SAYS[measure], "share"))
            else:
                value, guess = (float(np.ldexp(each, unit)) for each in (value, guess))
                measures.append(MeasurePart(measure, value, None, None, guess, SAYS[measure]))
        mean = float(np.ldexp(mean, unit))
        residuals = _residuals(truth, predicted, data.weights, options.random_state)
    absolute = next(each for each in measures if each.name == "mean absolute error")
    left_out = ["The target is the same in all rows: there is no variance for R2 to explain."] * constant
    if residuals is None:
        left_out.append("Residuals are beyond float64 and are not drawn.")
    return QualityPart(
        output=name,
        kind="numbers",
        n_rows=data.n,
        worth=rows_worth(data.n, weights),
        weighted=data.is_weighted,
        lead=(
            f"A prediction is off by {amount(absolute.value)} on average; always predicting the mean, {amount(mean)}, "
            f"by {amount(absolute.beside)}."
        ),
        beside="without the model",
        without=f"always predicting the mean of these rows, {amount(mean)}",
        measures=tuple(measures),
        residuals=residuals,
        left_out=tuple(left_out),
    )


def quantile_quality(data: ReportData, levels: tuple[float, ...], name: str) -> QualityPart:
    """The quality of predicted quantiles, a column of ``data.numbers`` each: its loss, and the rows at or below it."""
    truth, weights, n = data.target[:, 0], in_units(data.weights), rows_worth(data.n, data.weights)
    measures = []
    for column, level in enumerate(levels):
        predicted = data.numbers[:, column]
        loss = float(mean_pinball_loss(truth, predicted, alpha=level, sample_weight=weights))
        share = min(1.0, float(np.average(truth <= predicted, weights=weights)))
        low, high = share_interval(share, n)
        measures += [
            MeasurePart(f"pinball loss of quantile {level:g}", loss, None, None, None, PINBALL),
            MeasurePart(f"not above quantile {level:g}", share, low, high, level, NOT_ABOVE, "share"),
        ]
    return QualityPart(
        output=name,
        kind="quantiles",
        n_rows=data.n,
        worth=n,
        weighted=data.is_weighted,
        lead=f"The model predicts {'a quantile' if len(levels) == 1 else 'quantiles'}, not a mean: evaluate it by how "
        "many rows lie below.",
        beside="should be",
        measures=tuple(measures),
        left_out=("R2 and residuals compare with a mean, and the model predicts none.",),
    )


def _residuals(truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray, seed: int) -> ResidualsPart | None:
    """Sampled rows with their residuals, and all residuals as a histogram; None if they are beyond float64."""
    residual = truth - predicted
    if not np.isfinite(residual).all() or not np.isfinite(np.ptp(residual)):
        return None
    rows = np.arange(len(truth))
    if len(rows) > MOST_RESIDUALS:
        rows = np.sort(np.random.default_rng(seed).choice(len(truth), MOST_RESIDUALS, replace=False))
    edges = _residual_edges(residual)
    held, _ = np.histogram(residual, bins=edges, weights=weights)
    return ResidualsPart(
        truth=tuple(truth[rows].tolist()),
        predicted=tuple(predicted[rows].tolist()),
        residual=tuple(residual[rows].tolist()),
        n_rows=len(truth),
        edges=tuple(edges.tolist()),
        weight=tuple(held.tolist()),
    )


def _residual_edges(residual: np.ndarray) -> np.ndarray:
    """Ends of the cells of a histogram: about the root of the number of rows, between 5 and 30 cells."""
    low, high = float(residual.min()), float(residual.max())
    n_cells = int(np.clip(np.ceil(np.sqrt(len(residual))), LEAST_CELLS, MOST_CELLS))
    edges = np.unique(np.linspace(low, high, n_cells + 1))
    if len(edges) > 1:
        return edges
    room = max(0.5, abs(low) * 0.5)
    return np.array([low - room, low + room])


def curve_parts(data: ReportData, options: Options) -> tuple[tuple[ErrorCurvePart, ...], tuple[str, ...]]:
    """The requested curves, and why one is missing; by default with ten folds, fewer if there are few rows."""
    if not options.curves:
        return (), ()
    estimator, is_pruned = _for_copies(data)
    found, without = [], []
    for name in dict.fromkeys(options.curves):
        if estimator is None:
            without.append(f"No {name} curve: {UNKNOWN}.")
            continue
        try:
            folds = _folds(data, options)
        except DataError as error:
            without.append(f"No {name} curve: {shorten(str(error), LONGEST_WHY)}")
            continue
        try:
            curve = _error_curve(name, estimator, data, options, folds)
        except (DataError, ParameterError) as error:  # parameters that a part of the rows does not suit
            without.append(f"No {name} curve: {shorten(str(error), LONGEST_WHY)}")
            continue
        if isinstance(curve, str):
            without.append(f"No {name} curve: {curve}.")
        else:
            is_other = "pruning" in data.model.facts and not (is_pruned and curve.over != "leaves")
            found.append(_error_curve_part(name, curve, PRUNED if is_other else ""))
    return tuple(found), tuple(without)


def _for_copies(data: ReportData) -> tuple[Any, bool]:
    """The estimator whose copies are fitted, None if it is not known, and whether they are pruned as the model is."""
    if data.estimator is None:
        return estimator_of(data.model), False
    try:
        for step in getattr(data.estimator, "_after_fit", ()):
            step.check()
    except ParameterError:  # held-out rows pruned it
        return without_steps(data.estimator), False
    return data.estimator, True


def _error_curve(name: str, estimator: Any, data: ReportData, options: Options, folds: Any) -> Curve | str:
    """One curve, or why there is none."""
    held: dict[str, Any] = {
        "cv": folds,
        "sample_weight": data.weights_given,
        "random_state": options.random_state,
        "n_jobs": options.n_jobs,
    }
    if name == "learning":
        return learning_curve(estimator, data.table, data.target_given, **held)
    try:
        over = usually_over(estimator)
    except ParameterError:
        return f"{type(estimator).__name__} has no depth to vary"
    values = None if family_of(estimator, over) is not None else list(DEPTHS)
    return error_curve(estimator, data.table, data.target_given, over=over, values=values, **held)


def _folds(data: ReportData, options: Options) -> Any:
    """What ``cv`` means for curves."""
    cv = options.cv
    if isinstance(cv, str) or cv is None:
        if isinstance(cv, str) and cv != "auto":
            raise ParameterError(f"cv={shown(cv)}: give 'auto', a number of folds, a splitter, or None")
        n = len(as_array(data.target_given))
        if n < 2:
            raise DataError("one row cannot be both a training row and a test row.")
        cv = min(FOLDS, n)
    return folds_within(
        cv, data.target_given, is_classification=data.is_classification, random_state=options.random_state
    )


def _error_curve_part(name: str, curve: Curve, note: str) -> ErrorCurvePart:
    """A curve as a page shows it."""
    numbers = (curve.train_error, curve.train_standard_error, curve.test_error, curve.test_standard_error)
    train, train_se, test, test_se = (tuple(np.asarray(each).tolist()) for each in numbers)
    return ErrorCurvePart(
        name=name,
        over=WORDS_OF.get(curve.over, curve.over),
        loss=WORDS[curve.loss],
        x=tuple(float(value) for value in curve.x),
        train=train,
        train_se=train_se,
        test=test,
        test_se=test_se,
        n_folds=curve.n_folds,
        n_rows=curve.n_rows,
        note=note,
    )
