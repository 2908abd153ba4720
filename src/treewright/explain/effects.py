"""Interactions of pairs of columns. In: a model, rows. Out: ``Interactions``.

Friedman and Popescu 2008, "Predictive learning via rule ensembles", The Annals of Applied Statistics 2, section 8.1:
the share of the partial dependence on a pair of columns that is not a sum of what each does alone. The partial
dependence at every row is exact and computed for all pairs at once, from the tables that contributions are read from
(``contributions_of`` with ``worths``), not from a grid.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.memory import check_fits
from treewright.exceptions import DataError
from treewright.explain.contributions import contributions_of, game_of
from treewright.explain.explanation import encoded, outputs_of, refuse_no_sum
from treewright.model.data import ModelData
from treewright.model.summary import counted
from treewright.tree.writing import shorten, written_amount, written_level, written_name

MOST_ROWS, MOST_BACKGROUND = 2_000, 500
NAME_WIDTH, MOST_PAIRS = 30, 15
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Interactions:
    """Interactions of pairs of columns: Friedman's H, and their spread.

    Attributes
    ----------
    columns, outputs : tuple of hashable
        As of an explanation.
    h : float64[p, p, k]
        H of Friedman and Popescu: of the variance of the partial dependence on a pair, the root of the share that is
        not a sum of what each column does alone; 0 if there is none, about 1 if all of it is. 0 on the diagonal.
    spread : float64[p, p, k]
        The standard deviation of that part, in the units of the prediction: a large H with a small spread does not
        matter.
    n_rows : int
    """

    columns: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    h: np.ndarray
    spread: np.ndarray
    n_rows: int

    def pairs(self, output: int = 0) -> list[tuple[Hashable, Hashable, float, float]]:
        """Columns, H and spread of each pair that interacts, the largest spread first."""
        p = len(self.columns)
        found = [
            (self.columns[i], self.columns[j], float(self.h[i, j, output]), float(self.spread[i, j, output]))
            for i in range(p)
            for j in range(i + 1, p)
            if self.spread[i, j, output] > 0
        ]
        return sorted(found, key=lambda each: -each[3])

    def to_dict(self) -> dict[str, list[Any]]:
        """As columns, for a data frame: ``output`` where there are several, ``column``, ``with``, ``h``, ``spread``."""
        found: dict[str, list[Any]] = {"output": [], "column": [], "with": [], "h": [], "spread": []}
        for output, name in enumerate(self.outputs):
            for one, other, h, spread in self.pairs(output):
                for key, cell in zip(found, (name, one, other, h, spread), strict=True):
                    found[key].append(cell)
        if len(self.outputs) == 1:
            del found["output"]
        return found

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        over = counted(self.n_rows, "row")
        parts = [f"interactions of pairs of columns over {over}: H and spread (standard deviation), largest first"]
        for output, output_name in enumerate(self.outputs):
            pairs = self.pairs(output)
            names = [
                " and ".join(shorten(written_name(each), NAME_WIDTH) for each in pair[:2])
                for pair in pairs[:MOST_PAIRS]
            ]
            width = max(map(len, names), default=0)
            lines = [f"{written_level(output_name)}:"] if len(self.outputs) > 1 else []
            lines += [f"  {'':<{width}}  H      spread"] if names else []
            for name, (_, _, h, spread) in zip(names, pairs, strict=False):
                lines.append(f"  {name:<{width}}  {h:.3f}  {written_amount(spread)}")
            lines += [f"  {len(pairs) - MOST_PAIRS} more"] if len(pairs) > MOST_PAIRS else []
            parts.append("\n".join(lines or ["  no pair interacts"]))
        return "\n\n".join(parts) if len(self.outputs) > 1 else "\n".join(parts)


def interactions(
    model: ModelData, X: Any, *, background: Any = None, n_jobs: int | None = None, owner: str = "Model"
) -> Interactions:
    """Compute the interactions of pairs of columns: Friedman's H.

    Parameters
    ----------
    model : ModelData
    X : table of n rows
        If there are more than 2,000, 2,000 of them are used, evenly spread.
    background : table of m rows, optional
        Rows that partial dependence is a mean over; by default at most 500 of X, evenly spread.
    n_jobs : int, optional

    Returns
    -------
    Interactions

    Raises
    ------
    ParameterError
        The predictions are not a sum over the trees.
    DataError
        The rows were refused, or there are none.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "c": [0, 1, 1, 0, 1] * 4}
    >>> model = tw.DecisionTreeRegressor(random_state=0).fit(table, [0.0, 1.0, 1.0, 0.0] * 5).model_
    >>> [(one, other, round(h, 3)) for one, other, h, _ in interactions(model, table).pairs()]
    [('a', 'b', 1.0)]
    """
    refuse_no_sum(model)
    matrix = _spread(encoded(model, X, owner), MOST_ROWS)
    others = _spread(matrix if background is None else encoded(model, background, owner), MOST_BACKGROUND)
    if not len(matrix) or not len(others):
        raise DataError("interactions are means over rows, but there are no rows")
    if model.missing == "fractional" and bool(np.isnan(matrix).any() or np.isnan(others).any()):
        raise DataError(
            "interactions do not work with missing cells that follow every branch (missing='fractional'): fill them"
        )
    n_players = len(game_of(model).players)
    check_fits(
        len(matrix) * n_players**2 * len(outputs_of(model)[0]) * 8, f"pairs of {n_players} columns",
        "give fewer rows, or fit a model on fewer columns",
    )  # fmt: skip
    values = contributions_of(
        model, matrix, kind="interventional", pairs=True, background=others, worths=True, n_jobs=n_jobs
    ).values
    values -= values.mean(axis=0)
    alone = values[:, range(n_players), range(n_players)]
    h, spread = np.zeros(values.shape[1:]), np.zeros(values.shape[1:])
    least = (_ROUNDING * np.abs(alone).max(axis=(0, 1), initial=0.0)) ** 2  # what rounding alone may give
    for i in range(n_players):
        for j in range(i):
            together = (values[:, i, j] ** 2).mean(axis=0)
            whole = ((alone[:, i] + alone[:, j] + values[:, i, j]) ** 2).mean(axis=0)
            is_some = together > least
            h[i, j] = h[j, i] = np.sqrt(
                np.divide(together, whole, out=np.zeros(len(whole)), where=is_some & (whole > 0))
            )
            spread[i, j] = spread[j, i] = np.sqrt(np.where(is_some, together, 0.0))
    names = tuple(model.schema.columns[at].name for at in game_of(model).players)
    return Interactions(names, outputs_of(model)[0], h, spread, len(matrix))


def _spread(matrix: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows, evenly spread."""
    if len(matrix) <= most:
        return matrix
    kept: np.ndarray = matrix[np.linspace(0, len(matrix) - 1, most).round().astype(np.int64)]
    return kept
