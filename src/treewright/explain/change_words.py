"""Changes in words. In: what a way asks of the columns. Out: ``Change``. Callers: explain.counterfactual, reporting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from treewright.data.schema import Column
from treewright.explain.change import Change
from treewright.explain.given_row import GivenRow
from treewright.explain.rule_bounds import readable_cuts
from treewright.explain.ways import Asked, Way, nearest_value
from treewright.model.data import ModelData
from treewright.tree.tests import Bound, chosen, narrowed, ordinal_levels
from treewright.tree.walk import path_to
from treewright.tree.writing import shorten, written_level, written_name, written_number, written_set

MAX_LEVELS, NAME_WIDTH = 6, 200


def preferred_level(bound: Bound) -> int | None:
    """Code of the first level that comes this way and was there at the last test; None where there is none.

    Parameters
    ----------
    bound : Bound
        Of a nominal column.
    """
    if bound.allowed is None or bound.named is None:
        return None
    both = bound.allowed & bound.named
    return int(np.argmax(both)) if bool(both.any()) else None


def preferred_levels(model: ModelData, leaf: int) -> dict[int, int]:
    """Return `preferred_level` of each nominal column that the tests above a leaf ask about."""
    tree, bounds = model.trees[0], dict[int, Bound]()
    for node, branch in path_to(tree, leaf):
        feature = int(tree.feature[node])
        column = model.schema.columns[feature]
        if column.kind == "nominal":
            bounds[feature] = narrowed(bounds.get(feature, Bound()), column, tree, node, branch)
    return levels_of(bounds)


def levels_of(bounds: Mapping[int, Bound]) -> dict[int, int]:
    """Return the preferred levels of bounds by column, where there are any."""
    found = {feature: preferred_level(bound) for feature, bound in bounds.items()}
    return {feature: code for feature, code in found.items() if code is not None}


class ChangeWriter:
    """Writes what a way asks for.

    Attributes
    ----------
    model : ModelData
    asked : Asked
    raw : tuple
        The row's cells as given.
    """

    def __init__(self, model: ModelData, asked: Asked, row: GivenRow) -> None:
        self.model, self.asked, self.raw = model, asked, row.raw

    def changes(self, way: Way, leaf: int) -> tuple[Change, ...]:
        """Return every column that has to change, first asked first."""
        preferred = preferred_levels(self.model, leaf)
        return tuple(
            self._change(feature, held.bound, way.distances[feature], preferred.get(feature))
            for feature, held in way.held.items()
            if not held.kept
        )

    def _change(self, feature: int, bound: Bound, distance: float, preferred: int | None) -> Change:
        column, cell = self.model.schema.columns[feature], float(self.asked.cells[feature])
        value = nearest_value(column, bound, cell, preferred)
        before = self.raw[feature]
        name = shorten(written_name(column.name), NAME_WIDTH)
        if column.kind == "numeric":
            after: Any = value
            was, told = self._numbers(feature, bound, cell)
            text = f"{name}: {was} -> {told}"
        else:
            quote = column.family == "object"
            after = column.levels[int(value)]
            told = self._levels(column, bound)
            was = "missing" if before is None else written_level(before, quote=quote)
            others = f" ({told} will do)" if told != written_level(after, quote=quote) else ""
            text = f"{name}: {was} -> {written_level(after, quote=quote)}{others}"
        return Change(column.name, feature, before, after, distance, told, text)

    def _numbers(self, feature: int, bound: Bound, cell: float) -> tuple[str, str]:
        """The number as it is, and what will do, with digits that keep them apart."""
        cuts = self._cuts.get(feature, {})
        lower, upper = (cuts.get(end, end) for end in (bound.lower, bound.upper))
        parts = []
        if bound.lower != -math.inf:
            parts.append(f"more than {written_number(lower, exact=bound.lower in cuts)}")
        if bound.upper != math.inf:
            parts.append(f"at most {written_number(upper, exact=bound.upper in cuts)}")
        # The end that is crossed stands first.
        told = " and ".join(reversed(parts) if cell > bound.upper else parts) or "any number"
        if math.isnan(cell):
            return "missing", told
        ends = {written_number(end, digits=17) for end in (lower, upper)}
        digits = next((n for n in range(6, 17) if f"{float(written_number(cell, digits=n)):.17g}" not in ends), 17)
        return written_number(cell, digits=digits), told

    def _levels(self, column: Column, bound: Bound) -> str:
        """All levels that will do."""
        if column.kind == "ordinal":
            mask = ordinal_levels(column, bound)
        else:
            mask = np.ones(len(column.levels), bool) if bound.allowed is None else bound.allowed
        levels, quote = chosen(column, mask), column.family == "object"
        if len(levels) == 1:
            return written_level(levels[0], quote=quote)
        return f"any of {written_set(levels, quote=quote, max_levels=MAX_LEVELS)}"

    @cached_property
    def _cuts(self) -> dict[int, dict[float, float]]:
        return readable_cuts(self.model.trees[0])
