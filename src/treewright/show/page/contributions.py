"""Contributions as a part of a page, and as a page of their own. In: an explanation. Out: typed parts, HTML.

A page cannot hold all trees, so it has contributions for rows: of a sample as a swarm, of others one by one to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.explain.explanation import ExplanationTable
from treewright.show.page.parts import (
    ColumnWords,
    ContributionsPart,
    ExampleRow,
    ExamplesPart,
    OutputContributions,
    RowContributions,
    Summary,
)
from treewright.show.page.render import render
from treewright.trees.writing import escape_controls, shorten, written_level, written_name
from treewright.version import __version__

MOST_COLUMNS, MOST_OUTPUTS, MOST_PAIRS, MOST_OF_A_ROW = 10, 6, 6, 8
MOST_ROWS, MOST_CHOSEN = 150, 50  # of the swarm, to choose one by one
NAME_WIDTH = 200
_DIGITS, _ROUNDING = 4, 1e-6
_SCALES = {"share": "share", "score": "score", "number": "prediction"}
_GAMES = {
    "path": "The base is the mean of all leaves by their training rows; contributions are Shapley values, with unknown "
    "columns averaged over these rows",
    "interventional": "The base is the mean prediction for the background rows; contributions are Shapley values, with "
    "unknown columns averaged over these rows",
    "steps": "The base is the expected prediction at the root; contributions are its changes along the path of the row",
}


def part_of(
    found: ExplanationTable,
    drawn: Sequence[int],
    chosen: Sequence[int],
    positions: Sequence[int],
    places: Sequence[np.ndarray],
    *,
    n_all: int,
    pairs: np.ndarray | None = None,
    notes: tuple[str, ...] = (),
) -> ContributionsPart:
    """The section of an explanation of columns.

    Its rows ``drawn``, sampled from ``n_all``, are in the swarm, those ``chosen`` are to choose one by one. ``places``
    has the cells of each column as numbers in order; nan where missing.
    """
    values = found.values if found.values.ndim == 3 else found.values[..., None]
    base = np.atleast_1d(found.base)
    outputs = _shown_outputs(found, values, chosen)
    swarm = values[np.asarray(drawn, np.int64)]
    sizes = np.abs(swarm[..., outputs]).sum(axis=0) / max(len(swarm), 1)
    columns = [int(at) for at in np.argsort(-sizes.sum(axis=1), kind="stable") if sizes[at].any()][:MOST_COLUMNS]
    errors = np.zeros(values.shape[1:])
    if len(drawn) > 1:
        errors = np.array([error for _, error in found.rows(list(drawn)).importances().values()])
    parts = tuple(
        OutputContributions(
            name=shorten(written_level(found.outputs[output]), NAME_WIDTH),
            base=float(base[output]),
            means=_short(sizes[columns, place]),
            errors=_short(errors[columns, output]),
            swarm=tuple(_short(swarm[:, at, output]) for at in columns),
            rows=tuple(_row(values[row, :, output], positions) for row in chosen),
        )
        for place, output in enumerate(outputs)
    )
    return ContributionsPart(
        scale=_SCALES[found.scale],
        game=_GAMES[found.kind],
        link=found.link_words,
        whose="the tree" if found.predictions.n_trees == 1 else "all trees together",
        columns=tuple(positions[at] for at in columns),
        n_columns=int((sizes > 0).any(axis=1).sum()),
        n_rows=len(drawn),
        n_all=n_all,
        outputs=parts,
        n_outputs=len(found.outputs),
        places=tuple(_ranks(places[at][np.asarray(drawn, np.int64)]) for at in columns),
        pairs=() if pairs is None or not len(pairs) else _strongest(pairs, outputs, positions),
        notes=notes,
    )


def _shown_outputs(found: ExplanationTable, values: np.ndarray, chosen: Sequence[int]) -> list[int]:
    """The outputs that a page has.

    Of two classes the positive one, as the probability of the other is 1 minus its own; of many those most often
    predicted for the chosen rows.
    """
    n = len(found.outputs)
    if n == 2 and found.scale == "share" and bool((values[..., 0] == -values[..., 1]).all()):
        return [1 if found.positive is None else found.positive]
    if n <= MOST_OUTPUTS:
        return list(range(n))
    answers = found.answers.reshape(len(values), n)[np.asarray(chosen, np.int64)]
    counts = np.bincount(answers.argmax(axis=1), minlength=n)
    return sorted(np.argsort(-counts, kind="stable")[:MOST_OUTPUTS].tolist())


def _short(values: np.ndarray) -> tuple[float, ...]:
    """Numbers with as many digits as a picture shows."""
    return tuple(float(f"{value:.{_DIGITS}g}") for value in values.tolist())


def _ranks(cells: np.ndarray) -> tuple[float | None, ...]:
    """The ranks of cells among all, 0 to 1, for their colour; None where they are missing."""
    distinct = np.unique(cells[~np.isnan(cells)])
    places = np.searchsorted(distinct, cells) / max(1, len(distinct) - 1)
    return tuple(None if np.isnan(cell) else round(float(place), 2) for cell, place in zip(cells, places, strict=True))


def _row(values: np.ndarray, positions: Sequence[int]) -> RowContributions:
    """The largest contributions of a row, and the sum of all others."""
    order = [int(at) for at in np.argsort(-np.abs(values), kind="stable") if values[at] != 0]
    shown = order[:MOST_OF_A_ROW] if len(order) > MOST_OF_A_ROW + 1 else order
    rest = order[len(shown) :]
    return RowContributions(
        columns=tuple(positions[at] for at in shown),
        values=tuple(float(values[at]) for at in shown),
        rest=float(values[rest].sum()),
        n_rest=len(rest),
    )


def _strongest(pairs: np.ndarray, outputs: list[int], positions: Sequence[int]) -> tuple[tuple[int, int, float], ...]:
    """The pairs of columns with the largest interactions, with their mean size over rows."""
    of_outputs = pairs[..., outputs] if pairs.ndim == 4 else pairs[..., None]
    together = 2 * np.abs(of_outputs).mean(axis=0).sum(axis=2)
    firsts, seconds = np.triu_indices(len(together), 1)
    sizes = together[firsts, seconds]
    best = [at for at in np.argsort(-sizes, kind="stable").tolist() if sizes[at] > 1e-12 * together.max()]
    return tuple(
        (positions[firsts[at]], positions[seconds[at]], float(f"{sizes[at]:.{_DIGITS}g}")) for at in best[:MOST_PAIRS]
    )


def explanation_page(found: ExplanationTable) -> str:
    """A page about an explanation: one HTML document that loads nothing.

    Of many rows 150 are in the swarm and 50 can be chosen, evenly spread. With pairs each column has what it does alone
    and its halves of all its pairs, which is its Shapley value.
    """
    n, pairs = len(found), None
    if found.order == 2:
        pairs = found.values
        found = replace(found, values=found.values.sum(axis=2), order=1)
    drawn, chosen = (
        np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)).tolist() if n else []
        for most in (MOST_ROWS, MOST_CHOSEN)
    )
    coded = [
        _coded(name, cells, clock) for name, cells, clock in zip(found.columns, found.cells, found.clocks, strict=True)
    ]
    codes = [codes for _, codes in coded]
    part = part_of(found, drawn, chosen, range(len(coded)), codes, n_all=n, pairs=pairs)
    rows = tuple(
        ExampleRow(
            number=int(found.positions[row]), cells=tuple(float(own[row]) for own in codes), truth="",
            said=shorten(found.predictions.said(row), NAME_WIDTH), right=None, shares=(),
            why=found.predictions.why(row),
        )
        for row in chosen
    )  # fmt: skip
    what = ", ".join(shorten(written_level(each), NAME_WIDTH) for each in found.outputs[:3]) + ", ..." * (
        len(found.outputs) > 3
    )
    title = escape_controls(
        f"Contributions to the {part.scale} of {what}" if found.scale != "number" else f"Contributions to {what}"
    )
    summary = Summary(
        title=title, subtitle="", task="classification" if found.scale == "share" else "", target="", facts=(),
        notes=(), columns=tuple(words for words, _ in coded), text=str(found), tree=None, version=__version__,
        contributions=part, examples=ExamplesPart(rows, (), 0.0, "", (), "missing"),
    )  # fmt: skip
    return render(summary, template="explanation")


def _coded(name: Any, cells: list[Any], clock: tuple[str, str]) -> tuple[ColumnWords, np.ndarray]:
    """A column for the page, and its cells as numbers or codes of levels, float64[n]."""
    title = shorten(written_name(name), NAME_WIDTH)
    if all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells):
        words = ColumnWords(title, "numeric", (), dates=clock[0], zone=clock[1])
        return words, np.array([np.nan if cell is None else cell for cell in cells], float)
    levels = sorted({written_level(cell) for cell in cells if cell is not None})
    places = {level: float(at) for at, level in enumerate(levels)}
    codes = np.array([np.nan if cell is None else places[written_level(cell)] for cell in cells])
    return ColumnWords(title, "nominal", tuple(levels)), codes
