"""The error over the number of trees. In: ``Judged``. Out: ``CurvePart``, notes. Caller: reporting.ensemble_part."""

from __future__ import annotations

import math

import numpy as np

from treewright.estimators.forest import Forest as ForestCurve
from treewright.exceptions import ParameterError, TooLargeError
from treewright.forest.out_of_bag import OobCurve, counts_to_show
from treewright.judge.scores import share_right
from treewright.model.aggregation import first_largest
from treewright.model.summary import counted
from treewright.page.amounts import amount
from treewright.page.parts_ensemble import CurvePart, SeriesPart
from treewright.predict.ensemble import answers_after
from treewright.reporting.drawn import rows_drawn
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options

POINTS = 60
# Rows times trees that are asked; a median puts the answers of all trees in order at every point.
MOST_ASKED, MOST_ORDERED, MOST_OUT_OF_BAG = 20_000_000, 400_000, 100_000_000
WRONG, WRONG_WEIGHT, ROOT = (
    "share of the rows that are wrong",
    "share of the weight that is wrong",
    "root mean squared error",
)
JUDGED, LEFT_OUT = "judged rows", "out of bag"


def errors_after(judged: Judged, rows: np.ndarray, counts: list[int], n_jobs: int | None) -> list[float]:
    """The error of the first trees together, for several numbers of trees.

    Returns
    -------
    list of float
        Share of the rows with a wrong answer, of several outputs with any; or root mean squared error.
    """
    model, target, weights = judged.model, judged.target[rows], judged.weights[rows]
    found = []
    for said in answers_after(model, judged.matrix[rows], counts, n_jobs):
        if judged.is_classification:
            found.append(1.0 - share_right(target, first_largest(model, said), weights))
        else:
            with np.errstate(over="ignore"):
                squares = np.square(said - target).mean(axis=1)
                found.append(math.sqrt(float(np.average(squares, weights=weights))))
    return found


def error_name(judged: Judged) -> str:
    """What `errors_after` counts, in words."""
    if not judged.is_classification:
        return ROOT
    return WRONG_WEIGHT if judged.is_weighted else WRONG


def rows_to_ask(judged: Judged, options: Options) -> tuple[np.ndarray, str]:
    """The judged rows that are asked about after every number of trees, and a note where they are not all."""
    most = MOST_ORDERED if judged.model.aggregation.sorts else MOST_ASKED
    rows = rows_drawn(judged.n, max(most // len(judged.model.trees), options.rows), options.random_state)
    if len(rows) == judged.n:
        return rows, ""
    return rows, (
        f"Curves over trees and rounds are of {counted(len(rows), 'judged row')}, drawn at random from {judged.n:,}."
    )


def forest_curve(judged: Judged, options: Options) -> tuple[CurvePart, tuple[str, ...]]:
    """The error over the number of trees, on the judged rows and out of bag, and what is to be said beside it."""
    n_trees = len(judged.model.trees)
    counts = counts_to_show(n_trees, POINTS)
    rows, drawn = rows_to_ask(judged, options)
    errors = errors_after(judged, rows, counts, options.n_jobs)
    series = [SeriesPart(JUDGED, tuple(errors))]
    out_of_bag, why = out_of_bag_of(judged)
    if out_of_bag is not None:
        held = out_of_bag.error if judged.is_classification else np.sqrt(out_of_bag.error)
        series.append(SeriesPart(LEFT_OUT, tuple(held.tolist())))
    half = counts[int(np.searchsorted(counts, (n_trees + 1) // 2))]
    words = [f"With all {counted(n_trees, 'tree')}: {told(judged, errors[-1])} on the judged rows"]
    if out_of_bag is not None:
        words.append(f"{told(judged, series[1].y[-1])} out of bag")
    if out_of_bag is not None:
        words[-1] += " (each row of the fit by the trees that did not draw it)"
    before = errors[counts.index(half)]
    more = f" The first {half} alone come to {told(judged, before)} on the judged rows." if half < n_trees else ""
    part = CurvePart(
        key="error",
        title="Error over the number of trees",
        xlabel="trees",
        ylabel=error_name(judged),
        words=", ".join(words) + "." + more,
        x=tuple(counts),
        series=tuple(series),
    )
    return part, tuple(filter(None, (drawn, why)))


def told(judged: Judged, error: float | None) -> str:
    """An error in words."""
    if error is None or math.isnan(error):
        return "nothing"
    return f"{100 * error:.1f} % wrong" if judged.is_classification else amount(error)


def out_of_bag_of(judged: Judged) -> tuple[OobCurve | None, str]:
    """The curve of a forest that has rows left out, or why there is none."""
    model, est = judged.model, judged.estimator
    no_curve = "There is no out-of-bag curve:"
    if est is None:
        return None, f"{no_curve} a model without its estimator does not know the rows of its fit."
    if not isinstance(est, ForestCurve):
        score = getattr(est, "oob_score_", None)
        what = "accuracy" if judged.is_classification else "R2"
        known = f" Out of bag, with all trees, the {what} is {score:.4g} (oob_score_)." if score is not None else ""
        return None, f"{no_curve} {type(est).__name__} does not keep the rows of its fit.{known}"
    n_fit = int(model.facts.get("n_samples", 0))
    if n_fit * len(model.trees) > MOST_OUT_OF_BAG:
        return None, f"{no_curve} {n_fit:,} rows of the fit times {len(model.trees)} trees take long; ask oob_curve()."
    try:
        return est.oob_curve(points=POINTS), ""
    except (ParameterError, TooLargeError) as error:
        return None, f"{no_curve} {error}."
