"""What a rule asks of each column. In: merged bounds of a leaf. Out: ``ColumnBound``. Caller: explain.rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np

from treewright.data.schema import Column
from treewright.explain.rule import ColumnBound
from treewright.model.data import ModelData
from treewright.tree.arrays import INTERVALS, THRESHOLD, Tree
from treewright.tree.tests import Bound, chosen, has_values, node_cuts, ordinal_levels
from treewright.tree.wording import written_bound
from treewright.tree.writing import gap_digits, written_number


def readable_cuts(tree: Tree) -> dict[int, dict[float, float]]:
    """Return for each column its cuts with the number to write instead.

    Returns
    -------
    dict of int to dict of float to float
        Feature position to cut to the cut with 6 significant digits, or as many as keep the column's cuts different
        and in their order.
    """
    found: dict[int, list[np.ndarray]] = {}
    is_cut = tree.kind == THRESHOLD
    for feature in np.unique(tree.feature[is_cut]).tolist():
        found[feature] = [tree.threshold[is_cut & (tree.feature == feature)]]
    for node in np.flatnonzero(tree.kind == INTERVALS).tolist():
        found.setdefault(int(tree.feature[node]), []).append(node_cuts(tree, node))
    readable = {}
    for feature, parts in found.items():
        cuts = np.unique(np.concatenate(parts))
        cuts = cuts[np.isfinite(cuts)]
        pairs = zip(cuts.tolist(), gap_digits(cuts).tolist(), strict=True)
        readable[feature] = {cut: rounded(cut, digits) for cut, digits in pairs}
    return readable


def rounded(cut: float, digits: int) -> float:
    """Return the cut as it reads with so many digits."""
    number = float(written_number(cut, digits=digits))
    return number if math.isfinite(number) else cut  # the largest float64, rounded up, would be none


@dataclass(eq=False)
class Wording:
    """Turns bounds into `ColumnBound`, each bound once: the leaves below a node share them.

    Attributes
    ----------
    model : ModelData
    readable : dict
        From `readable_cuts`; empty to write every cut exactly.
    max_levels : int or None
    """

    model: ModelData
    readable: dict[int, dict[float, float]]
    max_levels: int | None
    # Weak: with 10,000 levels a bound is large, and it is shared only while the walk is below its node.
    _made: WeakKeyDictionary[Bound, ColumnBound | None] = field(default_factory=WeakKeyDictionary)

    def column_bounds(self, bounds: Mapping[int, Bound]) -> tuple[ColumnBound, ...]:
        """Return the bounds of a leaf that do not hold for every row."""
        made = []
        for feature, bound in bounds.items():
            if bound not in self._made:
                self._made[bound] = self._column_bound(feature, bound)
            said = self._made[bound]
            if said is not None:
                made.append(said)
        return tuple(made)

    def _column_bound(self, feature: int, bound: Bound) -> ColumnBound | None:
        """What a bound says, or None where it says nothing."""
        column = self.model.schema.columns[feature]
        levels = None if column.kind == "numeric" else chosen(column, levels_of(column, bound))
        present = bound.present and has_values(column, bound) and levels != ()
        missing = self._missing(bound, present)
        is_open = bound.lower == -math.inf and bound.upper == math.inf
        takes_every_value = present and (is_open if levels is None else levels == column.levels)
        if takes_every_value and (missing is not False or self.model.missing == "error"):
            return None
        return ColumnBound(
            column=column.name,
            feature=feature,
            kind=column.kind,
            lower=bound.lower if levels is None else -math.inf,
            upper=bound.upper if levels is None else math.inf,
            levels=levels if present or levels is None else (),
            present=present,
            missing=missing,
            # That a value is present needs no words where fit never saw one missing.
            text="" if takes_every_value and not column.missing_seen else self._text(feature, column, bound),
        )

    def _missing(self, bound: Bound, present: bool) -> bool | None:
        """Whether a missing value comes this way; None where the leaf alone does not decide it."""
        if self.model.missing == "error":
            return False
        if self.model.missing in {"surrogate", "fractional"} and present:
            return None
        return bound.missing

    def _text(self, feature: int, column: Column, bound: Bound) -> str:
        """The bound in words, with numbers that are easy to read."""
        if column.kind == "numeric":
            cuts = self.readable.get(feature, {})
            lower, upper = cuts.get(bound.lower, bound.lower), cuts.get(bound.upper, bound.upper)
            bound = replace(bound, lower=lower, upper=upper)
        # Written exactly: the numbers were rounded above, each as far as its neighbours allow.
        return written_bound(column, bound, exact=True, max_levels=self.max_levels, missing=self.model.missing)


def levels_of(column: Column, bound: Bound) -> np.ndarray:
    """Return bool[v]: the levels of an ordinal or nominal column that meet the bound."""
    if column.kind == "ordinal":
        return ordinal_levels(column, bound)
    return np.ones(len(column.levels), bool) if bound.allowed is None else bound.allowed
