"""What the predicted shares of a class are worth. In: shares, truth, weights. Out: ``RankPart``, ``CalibrationPart``.

Caller: reporting.quality_classes.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from treewright.core.confidence import share_interval
from treewright.judge.scores import in_units
from treewright.judge.uncertainty import rows_worth
from treewright.page.parts_quality import CalibrationPart, RankPart

MOST_POINTS = 200
N_BINS = 10


def rank_part(name: str, position: int, is_so: np.ndarray, share: np.ndarray, weights: np.ndarray) -> RankPart:
    """Return both curves of a class against the rest.

    Parameters
    ----------
    name : str
    position : int
        Of the class.
    is_so : bool[n]
        Which rows are of the class; at least one is, and one is not.
    share : float64[n]
    weights : float64[n], > 0

    Returns
    -------
    RankPart
        At most 200 points of each curve; areas are of all points.
    """
    weights = in_units(weights)
    false_rate, true_rate, _ = roc_curve(is_so, share, sample_weight=weights)
    precision, recall, _ = precision_recall_curve(is_so, share, sample_weight=weights, drop_intermediate=True)
    precision, recall = precision[::-1], recall[::-1]
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
    """Return how often a class is true where it is predicted with some share, in ten bins of equal width.

    Parameters
    ----------
    name, position, is_so, share, weights
        As ``rank_part``; all rows or none may be of the class.
    """
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    # As scikit-learn's calibration_curve, which takes no weights: a share on an edge belongs to the bin below.
    bins = np.searchsorted(edges[1:-1], share)
    held, unit = np.bincount(bins, minlength=N_BINS), in_units(weights)
    weight, total, true, said = (
        np.bincount(bins, weights=each, minlength=N_BINS) for each in (weights, unit, unit * is_so, unit * share)
    )
    lines: list[tuple[float | None, float | None, float | None, float | None]] = []
    for at in range(N_BINS):
        if not total[at] > 0:
            lines.append((None, None, None, None))
            continue
        part, n = min(1.0, float(true[at] / total[at])), rows_worth(int(held[at]), unit[bins == at])
        lines.append((min(1.0, float(said[at] / total[at])), part, *share_interval(part, n)))
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
        error=float(np.abs(true - said).sum() / total.sum()),
    )


def _some(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Positions of at most so many points, evenly along the curve, the ends with them."""
    if len(x) <= MOST_POINTS:
        return np.arange(len(x))
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    wanted = np.linspace(0.0, way[-1], MOST_POINTS)
    return np.unique([0, *np.searchsorted(way, wanted[1:-1]).tolist(), len(x) - 1])
