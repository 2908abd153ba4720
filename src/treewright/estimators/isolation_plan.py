"""What the trees of an isolation forest have in common. In: parameters, an encoded table. Out: ``IsolationPlan``.

Caller: estimators.isolation. The plan of a fit is kept beside the model, so that more trees of the same kind can join.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np

from treewright.core import notices
from treewright.data.schema import Schema
from treewright.estimators.resolve import refuse_changed
from treewright.exceptions import ParameterError
from treewright.forest.draws import Draws, number_of_draws, row_order

AUTO_SAMPLES = 256
_OF_NO_TREE = ("n_estimators", "contamination", "unseen")  # what may change from one warm start to the next
_BLOCK = 65_536  # rows that are made float64 at a time


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """The rows of a fit as numbers.

    Attributes
    ----------
    schema : Schema
    matrix : float32 or float64 [n, p]
    weights : float64[n], > 0, or None
    rows : int64[n]
        Positions in the table that was given: rows of weight 0 are left out.
    """

    schema: Schema
    matrix: np.ndarray
    weights: np.ndarray | None
    rows: np.ndarray

    @classmethod
    def of(cls, schema: Schema, matrix: np.ndarray, weights: np.ndarray | None) -> EncodedTable:
        """The table without rows of weight 0."""
        rows = np.arange(len(matrix))
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            matrix, weights = matrix[rows], weights[rows]
        return cls(schema, matrix, weights, rows)

    def digest(self) -> str:
        """The same for the same cells and weights in the same order; weights of 1 are none."""
        made = blake2b(repr(self.matrix.shape).encode(), digest_size=16)
        for start in range(0, len(self.matrix), _BLOCK):
            block = self.matrix[start : start + _BLOCK].astype(np.float64, order="C", copy=False)
            made.update(np.ascontiguousarray(block).data)
        if self.weights is not None and (self.weights != 1).any():
            made.update(np.ascontiguousarray(self.weights).data)
        return made.hexdigest()


@dataclass(frozen=True, eq=False)
class IsolationPlan:
    """Which rows and columns the trees draw, and of what.

    Attributes
    ----------
    digest : str
        Of the cells and weights.
    schema : Schema
    parameters : dict
        As plain JSON, those that all trees share.
    draws : Draws
    n_columns : int
        Columns that each tree draws.
    rows : int64[n]
        Positions of the rows in the table that was given.
    """

    digest: str
    schema: Schema
    parameters: dict[str, Any]
    draws: Draws
    n_columns: int
    rows: np.ndarray

    @classmethod
    def of(
        cls, table: EncodedTable, parameters: dict[str, Any], *, max_samples: Any, n_columns: int, seed: int,
        replace: bool,
    ) -> IsolationPlan:  # fmt: skip
        """Plan a forest from its first tree on.

        Parameters
        ----------
        table : EncodedTable
        parameters : dict
            All of them, as plain JSON.
        max_samples : int, float or "auto"
        n_columns, seed : int
        replace : bool
            Whether a tree may draw a row again.
        """
        matrix, weights = table.matrix, table.weights
        size = _rows_to_draw(max_samples, len(matrix), weights)
        # There are no bins and there is no target: rows are told apart by their cells.
        order = row_order(np.empty((len(matrix), 0), np.uint8), matrix, weights=weights)
        draws = Draws(order, size, seed, weights=weights, replace=replace)
        return cls(table.digest(), table.schema, _shared(parameters), draws, n_columns, table.rows)

    def grown_on(self, table: EncodedTable, parameters: dict[str, Any], n_before: int, n_trees: int) -> IsolationPlan:
        """The same plan, for more trees.

        Parameters
        ----------
        table : EncodedTable
        parameters : dict
        n_before, n_trees : int
            Trees that there are, and that there are to be.

        Raises
        ------
        ParameterError
            A parameter that all trees share or the table is another one, or fewer trees are asked for than there are.

        Warns
        -----
        DataWarning
            No more trees are asked for than there are.
        """
        if n_trees < n_before:
            raise ParameterError(
                f"n_estimators={n_trees} must be larger or equal to the {n_before} trees that there are, with "
                "warm_start=True"
            )
        refuse_changed(self.parameters, _shared(parameters), "trees")
        if table.schema != self.schema or table.digest() != self.digest:
            raise ParameterError(
                "warm_start=True adds trees on the same table, but columns, rows or weights are others than at the fit "
                "before: give the same ones, or set warm_start=False"
            )
        if n_trees == n_before:
            notices.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return replace(self, rows=table.rows)


def _shared(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a tree depends on."""
    return {name: value for name, value in parameters.items() if name not in _OF_NO_TREE}


def _rows_to_draw(wanted: Any, n_rows: int, weights: np.ndarray | None) -> int:
    """How many rows a tree draws; more than there are is all of them, with a warning."""
    n = number_of_draws(None, n_rows, weights)
    if isinstance(wanted, str):
        return min(AUTO_SAMPLES, n)
    if isinstance(wanted, Integral) and int(wanted) > n:
        notices.warn(
            f"max_samples ({wanted}) is greater than the total number of samples ({n}). max_samples will be set to "
            "n_samples for estimation."
        )
        return n
    return number_of_draws(wanted, n_rows, weights)
