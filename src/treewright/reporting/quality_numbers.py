"""How good predicted numbers are. In: ``Judged``, an output. Out: ``QualityPart``. Caller: reporting.quality_part.

Numbers come from scikit-learn's metrics, beside those of always answering the mean of the judged rows.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, r2_score, root_mean_squared_error

from treewright.core.confidence import share_interval
from treewright.judge.scores import in_units
from treewright.judge.uncertainty import rows_worth
from treewright.page.amounts import amount
from treewright.page.parts_quality import MeasurePart, QualityPart, ResidualsPart
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options

MOST_POINTS = 500
LEAST_CELLS, MOST_CELLS = 5, 30
SAYS = {
    "R2": "The share of the differences between the rows that the model explains. 1 is all, 0 no more than the mean.",
    "mean absolute error": "How far off a prediction is, on average, in the unit of the target.",
    "root mean squared error": "The same with large errors counting more.",
}
PINBALL = "How far off the quantile is: being on the wrong side costs more. 0 is best."
NOT_ABOVE = "The share of the rows whose number is not above the quantile; it should be the level."


def number_quality(judged: Judged, output: int, name: str, options: Options) -> QualityPart:
    """Return how good one output's numbers are.

    Parameters
    ----------
    judged : Judged
    output : int
    name : str
        Of the output.
    options : Options
        ``random_state`` draws the points.
    """
    truth, said = judged.target[:, output], judged.numbers[:, output]
    constant = bool((truth == truth[0]).all())
    # In units of a power of 2, in which squares and sums are within float64; nothing is rounded.
    unit = int(np.frexp(max(np.abs(truth).max(), np.abs(said).max()))[1])
    with np.errstate(over="ignore", under="ignore"):
        weights, scaled = in_units(judged.weights), np.ldexp(truth, -unit)
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
                float(work(scaled, given, sample_weight=weights)) for given in (np.ldexp(said, -unit), same)
            )
            if measure == "R2":
                measures.append(MeasurePart(measure, value, None, None, 0.0, SAYS[measure], "share"))
            else:
                value, guess = (float(np.ldexp(each, unit)) for each in (value, guess))
                measures.append(MeasurePart(measure, value, None, None, guess, SAYS[measure]))
        mean = float(np.ldexp(mean, unit))
        residuals = _residuals(truth, said, judged.weights, options.random_state)
    absolute = next(each for each in measures if each.name == "mean absolute error")
    left_out = ["The numbers of the rows are all the same: there are no differences for R2 to explain."] * constant
    if residuals is None:
        left_out.append("Residuals are beyond float64 and are not drawn.")
    return QualityPart(
        output=name,
        kind="numbers",
        n_rows=judged.n,
        worth=rows_worth(judged.n, weights),
        weighted=judged.is_weighted,
        lead=(
            f"A prediction is off by {amount(absolute.value)} on average; always answering the mean, {amount(mean)}, "
            f"by {amount(absolute.beside)}."
        ),
        beside="without the model",
        without=f"always answering the mean of these rows, {amount(mean)}",
        measures=tuple(measures),
        residuals=residuals,
        left_out=tuple(left_out),
    )


def quantile_quality(judged: Judged, levels: tuple[float, ...], name: str) -> QualityPart:
    """Return how good predicted quantiles are: a loss for each, and how many rows lie below it.

    Parameters
    ----------
    judged : Judged
        ``numbers`` has a column for each level.
    levels : tuple of float
    name : str
        Of the output.
    """
    truth, weights, n = judged.target[:, 0], in_units(judged.weights), rows_worth(judged.n, judged.weights)
    measures = []
    for column, level in enumerate(levels):
        said = judged.numbers[:, column]
        loss = float(mean_pinball_loss(truth, said, alpha=level, sample_weight=weights))
        share = min(1.0, float(np.average(truth <= said, weights=weights)))
        low, high = share_interval(share, n)
        measures += [
            MeasurePart(f"pinball loss of quantile {level:g}", loss, None, None, None, PINBALL),
            MeasurePart(f"not above quantile {level:g}", share, low, high, level, NOT_ABOVE, "share"),
        ]
    return QualityPart(
        output=name,
        kind="quantiles",
        n_rows=judged.n,
        worth=n,
        weighted=judged.is_weighted,
        lead=f"The model predicts {'a quantile' if len(levels) == 1 else 'quantiles'}, no mean: judge it by how many "
        "rows lie below.",
        beside="should be",
        measures=tuple(measures),
        left_out=("R2 and residuals compare with a mean, and the model predicts none.",),
    )


def _residuals(truth: np.ndarray, said: np.ndarray, weights: np.ndarray, seed: int) -> ResidualsPart | None:
    """Drawn rows with their residuals, and all residuals as a histogram; None where they are beyond float64."""
    residual = truth - said
    if not np.isfinite(residual).all() or not np.isfinite(np.ptp(residual)):
        return None
    rows = np.arange(len(truth))
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(seed).choice(len(truth), MOST_POINTS, replace=False))
    edges = _edges(residual)
    held, _ = np.histogram(residual, bins=edges, weights=weights)
    return ResidualsPart(
        truth=tuple(truth[rows].tolist()),
        predicted=tuple(said[rows].tolist()),
        residual=tuple(residual[rows].tolist()),
        n_rows=len(truth),
        edges=tuple(edges.tolist()),
        weight=tuple(held.tolist()),
    )


def _edges(residual: np.ndarray) -> np.ndarray:
    """Ends of the cells of a histogram: about the root of the number of rows, between 5 and 30 cells."""
    low, high = float(residual.min()), float(residual.max())
    n_cells = int(np.clip(np.ceil(np.sqrt(len(residual))), LEAST_CELLS, MOST_CELLS))
    edges = np.unique(np.linspace(low, high, n_cells + 1))
    if len(edges) > 1:
        return edges
    room = max(0.5, abs(low) * 0.5)
    return np.array([low - room, low + room])
