"""How good predicted classes are. In: ``Judged``, an output. Out: ``QualityPart``. Caller: reporting.quality_part.

Numbers come from scikit-learn's metrics; intervals are Wilson's, of as many rows as the weights are worth.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_squared_error,
    precision_recall_fscore_support,
)

from treewright.core.confidence import share_interval
from treewright.judge.scores import in_units
from treewright.judge.uncertainty import rows_worth
from treewright.model.summary import written_labels
from treewright.page.parts_quality import (
    CalibrationPart,
    ClassPart,
    ConfusionPart,
    MeasurePart,
    MixUpPart,
    QualityPart,
    RankPart,
)
from treewright.reporting.judged import Judged
from treewright.reporting.quality_ranks import calibration_part, rank_part
from treewright.tree.writing import shorten

NAME_WIDTH = 200
MOST_SHOWN = 20  # classes of a matrix that can be looked at, lines of a table
MIX_UPS_FROM, MOST_MIX_UPS = 7, 10  # the largest confusions are listed from so many classes on
MOST_CURVES = 12  # classes with curves of their own
TWO = 2

SAYS = {
    "accuracy": "The share of the rows that are predicted right.",
    "log loss": "The surprise at the truth, given the predicted shares: 0 is best. A share of 0 counts as 2e-16.",
    "Brier score": "The mean squared distance of the predicted shares from the truth. 0 is best.",
}
BESIDE = "without the model"
VOTES = "The model counts votes, and shares of votes are no probabilities: log loss, Brier score and calibration are "


def class_quality(judged: Judged, output: int, name: str) -> QualityPart:
    """Return how good one output's classes and shares are.

    Parameters
    ----------
    judged : Judged
    output : int
    name : str
        Of the output.
    """
    names = tuple(shorten(label, NAME_WIDTH) for label in written_labels(judged.model.classes[output]))
    truth, said = judged.target[:, output].astype(np.int64), judged.codes[:, output].astype(np.int64)
    shares, k = judged.shares[output], len(names)
    # For means; sums of weights as they are could be beyond float64.
    weights = in_units(judged.weights)
    # scikit-learn's confusion_matrix warns where there is one class, whatever it is told.
    counts = np.bincount(truth * k + said, weights=judged.weights, minlength=k * k).reshape(k, k)
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    votes = not judged.is_neighbors and judged.model.aggregation.votes
    ranks, calibration = _curves(names, truth, shares, judged.weights, order, votes=votes)
    measures, without = _measures(truth, said, shares, weights, names, votes=votes)
    listed = np.sort(order[:MOST_SHOWN])
    # Of two classes the curves of one are those of the other, mirrored.
    drawn = {1} if k == TWO else set(order[:MOST_CURVES].tolist())
    return QualityPart(
        output=name,
        kind="classes",
        n_rows=judged.n,
        worth=rows_worth(judged.n, weights),
        weighted=judged.is_weighted,
        lead=_lead(judged, truth, said, measures[0]),
        beside=BESIDE,
        without=without,
        measures=measures,
        n_classes=k,
        classes=_classes(names, truth, said, weights, counts, listed, {rank.position: rank for rank in ranks}),
        confusion=ConfusionPart(names, tuple(map(tuple, counts.tolist()))) if k <= MOST_SHOWN else None,
        mix_ups=_mix_ups(names, counts) if k >= MIX_UPS_FROM else (),
        ranks=tuple(rank for rank in ranks if rank.position in drawn),
        calibration=tuple(held for held in calibration if held.position in drawn),
        left_out=_left_out(truth, k, len(ranks), votes=votes),
    )


def _measures(
    truth: np.ndarray, said: np.ndarray, shares: np.ndarray, weights: np.ndarray, names: tuple[str, ...], *, votes: bool
) -> tuple[tuple[MeasurePart, ...], str]:
    """Accuracy, log loss and Brier score beside those of an answer that needs no model, and that answer in words."""
    k = len(names)
    held = np.bincount(truth, weights=weights, minlength=k) / weights.sum()
    commonest = int(held.argmax())
    accuracy = float(accuracy_score(truth, said, sample_weight=weights))
    n = rows_worth(len(truth), weights)
    low, high = share_interval(min(1.0, accuracy), n)
    found = [MeasurePart("accuracy", accuracy, low, high, float(held[commonest]), SAYS["accuracy"], "share")]
    without = f'always answering "{names[commonest]}"'
    if k < TWO or votes:
        return tuple(found), without
    same = np.broadcast_to(held, shares.shape)
    for measure, work in (("log loss", _log_loss), ("Brier score", _brier_score)):
        value, guess = (work(truth, given, weights) for given in (shares, same))
        found.append(MeasurePart(measure, value, None, None, guess, SAYS[measure], "share"))
    return tuple(found), f"{without}, with the share that each class has among these rows"


def _log_loss(truth: np.ndarray, shares: np.ndarray, weights: np.ndarray) -> float:
    """Mean of -ln of the true class's share, in nats."""
    # A mean of shares may be above 1 in its last digit, which scikit-learn refuses.
    shares = np.clip(shares, 0.0, 1.0)
    return float(log_loss(truth, shares, labels=np.arange(shares.shape[1]), sample_weight=weights))


def _brier_score(truth: np.ndarray, shares: np.ndarray, weights: np.ndarray) -> float:
    """Mean squared distance of the shares (Brier 1950); of two classes that of the second alone, as is the custom."""
    k = shares.shape[1]
    each = mean_squared_error(np.eye(k)[truth], shares, sample_weight=weights, multioutput="raw_values")
    return float(each[1] if k == TWO else each.sum())


def _classes(
    names: tuple[str, ...], truth: np.ndarray, said: np.ndarray, weights: np.ndarray, counts: np.ndarray,
    listed: np.ndarray, ranks: dict[int, RankPart],
) -> tuple[ClassPart, ...]:  # fmt: skip
    """A line for each of some classes."""
    precisions, recalls, f1s, _ = precision_recall_fscore_support(
        truth, said, labels=np.arange(len(names)), sample_weight=weights, zero_division=np.nan
    )
    found = []
    for place in listed.tolist():
        is_so, is_said = truth == place, said == place
        found_so, found_said = _ends(recalls[place], weights[is_so]), _ends(precisions[place], weights[is_said])
        rank = ranks.get(place)
        found.append(
            ClassPart(
                name=names[place],
                position=place,
                n_rows=int(is_so.sum()),
                n_said=int(is_said.sum()),
                weight=float(counts[place].sum()),
                weight_said=float(counts[:, place].sum()),
                precision=_number(precisions[place]),
                precision_low=found_said[0],
                precision_high=found_said[1],
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
    """95 % interval of a share of some rows; None where there are none."""
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


def _curves(
    names: tuple[str, ...], truth: np.ndarray, shares: np.ndarray, weights: np.ndarray, order: np.ndarray, *,
    votes: bool,
) -> tuple[tuple[RankPart, ...], tuple[CalibrationPart, ...]]:  # fmt: skip
    """What the shares of each class are worth; of many classes those with the most weight."""
    held, places = in_units(weights), sorted(order[:MOST_SHOWN].tolist())
    ranks, calibration = [], []
    for place in places:
        is_so = truth == place
        if held[is_so].any() and held[~is_so].any():
            ranks.append(rank_part(names[place], place, is_so, shares[:, place], weights))
        if not votes and len(names) > 1:
            calibration.append(calibration_part(names[place], place, is_so, shares[:, place], weights))
    return tuple(ranks), tuple(calibration)


def _lead(judged: Judged, truth: np.ndarray, said: np.ndarray, accuracy: MeasurePart) -> str:
    """The quality in a sentence."""
    share, low, high = (100 * (value or 0.0) for value in (accuracy.value, accuracy.low, accuracy.high))
    right = f"The model is right for {int((truth == said).sum()):,} of {len(truth):,} rows"
    of = " of the weight" if judged.is_weighted else ""
    if judged.seen:  # an interval would tell of other rows than these
        return f"{right} that it was fitted on: {share:.1f} %{of}."
    return f"{right}: {share:.1f} %{of}, with a 95 % interval of {low:.1f} to {high:.1f} %."


def _left_out(truth: np.ndarray, k: int, n_ranks: int, *, votes: bool) -> tuple[str, ...]:
    """What is not shown, and why."""
    found = []
    if k == 1:
        found.append("The model knows one class only: there is nothing to tell apart.")
    elif (truth == truth[0]).all():
        found.append("The rows are all of one class: there are no curves that need another class beside it.")
    elif n_ranks < min(k, MOST_SHOWN):
        absent = min(k, MOST_SHOWN) - n_ranks
        found.append(f"{absent} of the classes {'has' if absent == 1 else 'have'} no judged row, and no curves.")
    if k > MOST_SHOWN:
        found.append(f"The model knows {k} classes: a table of all against all could not be looked at.")
    if k > MOST_CURVES:
        found.append(f"Curves are drawn of the {MOST_CURVES} classes with the most rows.")
    if votes:
        found.append(VOTES + "left out.")
    return tuple(found)
