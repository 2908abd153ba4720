"""What a fit of a forest leaves behind beside the model. In: a table, parameters. Out: ``PastFit``, what has changed.

Callers: estimators.forest_base, estimators.forest_importance.

The digest of a table knows its bins and codes, not what columns, levels and labels are called; names are compared with
those that the model holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.target import Labels
from treewright.estimators.resolve import refuse_changed
from treewright.estimators.table import FitTable
from treewright.exceptions import ParameterError
from treewright.forest.draws import Draws
from treewright.forest.out_of_bag import Votes
from treewright.tree.model import ModelData
from treewright.tree.words import written_name


@dataclass(frozen=True, eq=False)
class PastFit:
    """What a fit leaves behind beside the model, so that more trees can join it.

    Attributes
    ----------
    digest : str
        Of the rows as bins, the target and the weights.
    parameters : dict
        As plain JSON, those that more trees must share.
    seed : int
    draws : Draws or None
    votes : Votes or None
    rows : int64[n]
        Positions of the rows of the fit in the table that was given.
    """

    digest: str
    parameters: dict[str, Any]
    seed: int
    draws: Draws | None
    votes: Votes | None
    rows: np.ndarray

    def refuse_another(self, model: ModelData, table: FitTable, digest: str, parameters: dict[str, Any]) -> None:
        """Refuse to add trees of another kind or table.

        Raises
        ------
        ParameterError
        """
        refuse_changed(self.parameters, parameters, "trees")
        other = self.other_than(model, table, digest)
        if other:
            raise ParameterError(
                f"warm_start=True adds trees on the same table, but {other} than at the fit before: give the same "
                "ones, or set warm_start=False"
            )

    def other_than(self, model: ModelData, table: FitTable, digest: str) -> str:
        """What of a table is another than at the fit, in words before "than"; nothing where it is the same table."""
        if digest != self.digest:
            return "rows, target or weights are others"
        schema = model.schema
        if table.schema.named != schema.named or not _same(table.schema.names, schema.names):
            return "columns have other names"
        for mine, its in zip(schema.columns, table.schema.columns, strict=True):
            if not _same(mine.levels, its.levels):
                return f"column {written_name(mine.name)} has other levels"
            if mine != its:
                return f"column {written_name(mine.name)} is of another kind"
        classes = table.target.classes if isinstance(table.target, Labels) else ()
        for known, given in zip(model.classes, classes, strict=True):
            if not _same(known.tolist(), given.tolist()):
                return "labels are others"
        return ""


def _same(known: Iterable[Any], given: Iterable[Any]) -> bool:
    """Whether names are the same and of the same types: True is not 1."""
    return [(type(each), each) for each in known] == [(type(each), each) for each in given]
