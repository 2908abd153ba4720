"""The section of contributions: what each column does to the answers of many trees, over the test rows and for one.

Contributions are those of ``explain`` by the rows of the fit ("path"). A page cannot hold all trees, so it has the
contributions for rows of the table; for values of a reader's own it adds up the steps of the tree in its picture.
"""

from __future__ import annotations

import numpy as np

from treewright.exceptions import DataError, ParameterError
from treewright.explain.contributions import game_of
from treewright.explain.explanation import explain_encoded, refuse_no_sum
from treewright.model.data import ModelData, sizes_of
from treewright.model.summary import counted
from treewright.reporting.judged import Judged, Options, rows_drawn
from treewright.reporting.tree import chosen_rows
from treewright.show.page.parts import ContributionsPart, OutputContributions, RowContributions
from treewright.tree.writing import written_level

MOST_COLUMNS, MOST_OUTPUTS, MOST_PAIRS, MOST_OF_A_ROW = 10, 6, 6, 8
MOST_ROWS, LEAST_ROWS = 150, 20  # of the swarm
MOST_NODES = 60_000_000  # nodes that rows meet, in a second or two
MOST_PLAYERS, NODES_OF_PAIRS = 60, 20_000_000  # of pairs, which cost a path's length more
DIGITS = 4
SCALES = {"share": "share", "score": "score", "number": "prediction"}


def contributions_part(judged: Judged, options: Options) -> ContributionsPart | None:
    """What the page tells of contributions; None of a single tree and of neighbours."""
    if judged.is_neighbors or judged.model.is_single_tree:
        return None
    model = judged.model
    try:
        refuse_no_sum(model)
        return _part(judged, model, options)
    except (DataError, ParameterError) as refused:
        return ContributionsPart(why_not=str(refused))


def _part(judged: Judged, model: ModelData, options: Options) -> ContributionsPart:
    """The section of a model whose answers are a sum over its trees."""
    n_nodes = 2 * int(sizes_of(model).n_leaves.sum())
    most = int(np.clip(MOST_NODES // n_nodes, LEAST_ROWS, MOST_ROWS))
    drawn, chosen = rows_drawn(judged.n, most, options.random_state), chosen_rows(judged, options)
    found = explain_encoded(model, judged.matrix[np.concatenate([drawn, chosen])], n_jobs=options.n_jobs)
    values = found.values if found.values.ndim == 3 else found.values[..., None]
    base = np.atleast_1d(found.base)
    swarm, examples = values[: len(drawn)], values[len(drawn) :]
    outputs = _shown_outputs(model, swarm)
    sizes = np.abs(swarm[..., outputs]).mean(axis=0)
    order = np.argsort(-sizes.sum(axis=1), kind="stable")
    columns = [int(at) for at in order if sizes[at].any()][:MOST_COLUMNS]
    players = game_of(model).players
    parts = tuple(
        OutputContributions(
            name=written_level(found.outputs[output]),
            base=float(base[output]),
            means=tuple(_short(np.abs(swarm[:, columns, output]).mean(axis=0))),
            errors=tuple(_short(_errors(np.abs(swarm[:, columns, output])))),
            swarm=tuple(tuple(_short(swarm[:, at, output])) for at in columns),
            rows=tuple(_row(of_row, players) for of_row in examples[..., output]),
        )
        for output in outputs
    )
    pairs, why_no_pairs = _pairs(judged, model, drawn, n_nodes, outputs, options)
    return ContributionsPart(
        scale=SCALES[found.scale],
        columns=tuple(players[at] for at in columns),
        n_columns=int((sizes > 0).any(axis=1).sum()),
        n_rows=len(drawn),
        n_all=judged.n,
        outputs=parts,
        n_outputs=len(found.outputs),
        places=tuple(_places(judged.matrix[drawn, players[at]]) for at in columns),
        pairs=pairs,
        notes=(why_no_pairs,) if why_no_pairs else (),
    )


def _shown_outputs(model: ModelData, values: np.ndarray) -> list[int]:
    """The outputs that the page has: of two classes the second, whose share is one less the first's; else the first."""
    n = values.shape[2]
    if n == 2 and len(model.classes) == 1:
        return [1]
    return list(range(min(n, MOST_OUTPUTS)))


def _short(values: np.ndarray) -> list[float]:
    """Numbers with as many digits as a picture shows."""
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]


def _errors(sizes: np.ndarray) -> np.ndarray:
    """Standard errors of the means of columns."""
    return sizes.std(axis=0, ddof=1) / len(sizes) ** 0.5 if len(sizes) > 1 else np.zeros(sizes.shape[1])


def _places(cells: np.ndarray) -> tuple[float | None, ...]:
    """Where cells stand among all, 0 to 1, for their colour; None where they are missing."""
    known = np.sort(cells[~np.isnan(cells)])
    distinct = np.unique(known)
    places = np.searchsorted(distinct, cells) / max(1, len(distinct) - 1)
    return tuple(None if np.isnan(cell) else round(float(place), 2) for cell, place in zip(cells, places, strict=True))


def _row(values: np.ndarray, players: tuple[int, ...]) -> RowContributions:
    """The largest contributions of a row, and what all others come to."""
    order = [int(at) for at in np.argsort(-np.abs(values), kind="stable") if values[at] != 0]
    shown = order[:MOST_OF_A_ROW] if len(order) > MOST_OF_A_ROW + 1 else order
    rest = order[len(shown) :]
    return RowContributions(
        columns=tuple(players[at] for at in shown),
        values=tuple(float(values[at]) for at in shown),
        rest=float(values[rest].sum()),
        n_rest=len(rest),
    )


def _pairs(
    judged: Judged, model: ModelData, drawn: np.ndarray, n_nodes: int, outputs: list[int], options: Options
) -> tuple[tuple[tuple[int, int, float], ...], str]:
    """Pairs of columns that do most together, with the mean size of it; or why there are none."""
    players = game_of(model).players
    if len(players) > MOST_PLAYERS:
        return (), f"Pairs of {len(players)} columns are left out: they take long; explain(X, order=2) finds them."
    rows = drawn[: NODES_OF_PAIRS // n_nodes]
    if not len(rows):
        trees = counted(n_nodes, "node")
        return (), f"Pairs of columns are left out: through {trees} they take long; explain(X, order=2) finds them."
    found = explain_encoded(model, judged.matrix[rows], order=2, n_jobs=options.n_jobs).values
    values = (found if found.ndim == 4 else found[..., None])[..., outputs]
    together = 2 * np.abs(values).mean(axis=0).sum(axis=2)
    firsts, seconds = np.triu_indices(len(players), 1)
    strengths = together[firsts, seconds]
    best = [at for at in np.argsort(-strengths, kind="stable").tolist() if strengths[at] > 1e-12 * together.max()]
    return tuple(
        (players[firsts[at]], players[seconds[at]], float(f"{strengths[at]:.{DIGITS}g}")) for at in best[:MOST_PAIRS]
    ), ""
