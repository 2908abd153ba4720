"""The members of boosting: groups of models that hold out rows, grown with derived columns that help. Out: their mean.

A subset of levels is chosen on the very rows that it then explains. If levels have few rows, the subset overfits: a
forest of 100 trees had an R2 of .27 on the polls of ``benchmarks/defaults``, and .43 with tests of runs of levels in
their own order and of the row count of a level (docs/decisions/0012). Boosting has another order: that of a statistic
of the target (``boosting.statistics``). ``grow.settings`` decides which columns these are.

The first group grows on the columns of the table, then again with each sort of derived columns, if there can be any:
pairs of numbers, pairs of levels, linear scores. What lowers the loss of the held-out rows is kept, and so are the
members without it. Pairs of levels and linear scores seldom do: a few rounds of a few members first check whether they
are worth their time. Last come the other groups of the plan. All share its budget of rounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from treewright.boosting.linear import FOLDS, LinearScores, linear_scores
from treewright.boosting.rounds import (
    MEMBERS_OF_LOOK,
    ROUNDS_OF_LOOK,
    Boosted,
    BoostSettings,
    Members,
    averaged,
    boost,
    grow_members,
    mean_of,
)
from treewright.core import progress
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import MAX_LEVEL_BINS, Bins, bins_of
from treewright.data.dataset import Dataset
from treewright.data.derived import (
    derived_cells,
    level_pairs,
    pairs_of,
    rows_of_levels,
    with_derived,
    with_derived_cells,
)
from treewright.data.schema import Column, Schema, unlike
from treewright.learn.boosting_params import DEFAULT_LEAVES, BoostingParams
from treewright.learn.boosting_plan import FEWEST_OF_MEMBER, Plan
from treewright.learn.boosting_rounds import Binned, binned, evaluation_of, settings_of
from treewright.learn.held_out import names_of, number_of_rows

_COUNTED_FROM = 30  # levels of a nominal column
_CODES = Schema((Column("code", "numeric"),))


def takes_derived(params: Any, dataset: Dataset) -> bool:
    """Whether columns may be derived: constraints do not cover these, and zeros would not stay zeros."""
    return params.monotonic_cst is None and params.interaction_cst is None and not dataset.is_sparse


def with_rows_of_levels(dataset: Dataset, columns: Sequence[int] | None = None) -> Dataset:
    """The dataset with row counts of the levels of nominal ``columns``; by default of those with many levels."""
    schema, weights = dataset.schema, dataset.sample_weight
    if columns is None:
        columns = [
            at
            for at, column in enumerate(schema.columns)
            if column.kind == "nominal" and not column.left_out and len(column.levels) >= _COUNTED_FROM
        ]
    made = [rows_of_levels(schema, at, dataset.matrix[:, at], weights) for at in columns]
    return with_derived_columns(dataset, with_derived(schema, made))


def with_derived_columns(dataset: Dataset, schema: Schema) -> Dataset:
    """The dataset with the cells of the derived columns that a wider schema has."""
    if len(schema) == len(dataset.schema):
        return dataset
    return replace(dataset, schema=schema, matrix=with_derived_cells(schema, dataset.matrix), cache=None)


def in_order_of_levels(
    bins: Bins, codes: Any, dataset: Dataset, columns: Sequence[int], max_bins: int
) -> tuple[Bins, Any]:
    """Bins of nominal columns that hold neighbouring levels, like those of numbers; and the rows in these bins.

    ``codes`` (uint8[n, stride]). Returns Bins: a level without rows has the bin of its neighbours; uint8[n, stride].
    """
    n_bins, level_bin, out = bins.n_bins.copy(), bins.level_bin.copy(), codes.copy()
    for column in columns:
        n_levels = len(dataset.schema.columns[column].levels)
        if n_levels <= min(max_bins, MAX_LEVEL_BINS):
            continue  # one bin per level, in their order
        cells = np.where(dataset.matrix[:, column] < n_levels, dataset.matrix[:, column], np.nan)[:, None]
        own = bins_of(cells, _CODES, dataset.weights, max_bins=min(max_bins, MAX_LEVEL_BINS))
        of_levels = bin_rows(own, np.arange(n_levels, dtype=np.float64)[:, None])[:, 0]
        n_bins[column] = int(own.n_bins[0])
        begin = int(bins.level_start[column])
        level_bin[begin : begin + n_levels], level_bin[begin + n_levels] = of_levels, n_bins[column]
        out[:, column] = bin_rows(own, cells)[:, 0]
    return replace(bins, n_bins=n_bins, level_bin=level_bin), out


_MOST_MADE, _ROUNDS_OF_PROBE = 8, 20  # derived columns that are kept, rounds that choose them
_WORTH_A_GROUP = 0.9  # the share of the loss that pairs of levels and linear scores have to reach
_ROWS_FOR_PAIRS = 500  # on iris and wine pairs of columns overfit the held-out rows
_PAIRED = 6  # columns of a kind from which pairs are made
_ROWS_OF_PAIR = 4  # per pair of levels, on average
_MOST_SCORES, _ROWS_FOR_SCORES = 10, 100


class Table(NamedTuple):
    """Rows with derived columns, in bins; one set of bins per member if they depend on its held-out rows."""

    dataset: Dataset
    binned: Binned
    codes_of_members: list[np.ndarray] | None = None


class Groups:
    """The groups of members that are kept so far, and the table of the last one.

    Attributes
    ----------
    table : Table
        With the derived columns that helped.
    held_out : list of int64[m]
        The held-out rows of each member.
    kept : list of Members
        They weigh alike.
    n_rounds : int
        The most rounds of a member of the first group.
    n_after : int
        Groups that follow in any case.
    is_ended : bool
        Whether a callback has ended the growth. A further group that it ends early would count as much as a whole one:
        it is left out.
    spent, in_hand : int
        Of the budget: rounds of all members so far, and those that the group in hand may take.
    """

    def __init__(
        self, table: Table, plan: Plan, settings: BoostSettings, base: list[float] | None, held_out: list[np.ndarray]
    ) -> None:
        self.table, self.plan, self.settings, self.base, self.held_out = table, plan, settings, base, held_out
        self.names = names_of(table.dataset)
        self.kept: list[Members] = []
        self.n_rounds, self.n_after, self.is_ended = 0, len(plan.groups) - 1, False
        self.spent, self.in_hand = 0, 0

    def grow(self, *, has_derived: bool) -> None:
        """Grow all groups; ``has_derived``: the first one also with derived columns."""
        with self._shared_progress():
            self.n_rounds = self.plan.rounds_of(self.spent, 1 + has_derived + self.n_after)
            self._keep(self._grown(self.plan.groups[0], self.table, self.n_rounds))
            if has_derived:
                self._try_derived_columns()
            for params in self.plan.groups[1:]:
                if self.is_ended:
                    break
                group = self._grown(params, self.table, self.plan.rounds_of(self.spent, self.n_after))
                self.n_after -= 1
                if not group.is_called_off:
                    self._keep(group)
                self.is_ended = group.is_called_off

    def averaged(self) -> Boosted:
        """One model of all members."""
        return averaged(self.table.binned.table, self.kept)

    def _keep(self, group: Members) -> None:
        self.kept.append(group)
        self.is_ended = group.is_called_off

    def _grown(self, params: BoostingParams, table: Table, n_rounds: int, *, is_look: bool = False) -> Members:
        """A group of at most ``n_rounds`` per member; a look grows a few rounds of a few members."""
        rows, settings, held_out = replace(table.binned.rows, names=self.names), self.settings, self.held_out
        evaluation = evaluation_of(table.dataset, params, settings.losses, rows.take(np.concatenate(held_out)))
        own = settings_of(params, table.dataset, settings.losses, settings.seed + len(self.kept), settings.n_threads)
        own = replace(own, n_rounds=n_rounds, evaluation=evaluation, doubles_after=self.plan.doubles_after(n_rounds))
        n_members = min(len(held_out), MEMBERS_OF_LOOK) if is_look else len(held_out)
        self.in_hand = n_members * (min(n_rounds, ROUNDS_OF_LOOK) if is_look else n_rounds)
        grown = grow_members(
            table.binned.table, rows, own, held_out, self.base, table.codes_of_members, is_look=is_look
        )
        self.in_hand = 0
        self.spent += n_members * grown.history.last
        return grown

    def _try_derived_columns(self) -> None:
        """Grow the first group again with each sort of derived columns, and keep those that help."""
        can_look = all(loss.has_values for loss in self.settings.losses)
        for sort in ("pairs", "levels", "linear") if can_look else ("pairs",):
            # Groups weigh alike, so one with too few rounds is worse than none: the last ones keep half of a first
            # group's.
            if self.is_ended or self._rounds_of_next() < max(FEWEST_OF_MEMBER, self.n_rounds // 2):
                return
            if sort == "linear":
                table = self._with_linear_scores(self.held_out[:MEMBERS_OF_LOOK])
            else:
                made = _pairs_of_numbers if sort == "pairs" else _pairs_of_levels
                table = self._with_the_best(made(self.table.dataset, self.kept[-1]))
            if table is None or (sort != "pairs" and not self._is_promising(table)):
                continue
            if sort == "linear":
                table = self._with_linear_scores(self.held_out) or table
            group = self._grown(self.plan.groups[0], table, self._rounds_of_next())
            self.is_ended = group.is_called_off
            # One that ends with its budget is compared in as many rounds.
            n = min(len(each.history.validation) for each in (group, self.kept[-1]))
            if not self.is_ended and min(group.history.validation[:n]) < min(self.kept[-1].history.validation[:n]):
                self.table = table
                self._keep(group)

    def _rounds_of_next(self) -> int:
        return self.plan.rounds_of(self.spent, 1 + self.n_after)

    def _is_promising(self, table: Table) -> bool:
        """Whether a few rounds with these columns lower enough of the loss that can be avoided."""
        few = self.table.binned.rows.take(np.concatenate(self.held_out[:MEMBERS_OF_LOOK]))
        # The mean loss of the best possible scores: for a deviance without its constant it is not 0.
        least = sum(
            mean_of(loss.least(np.ascontiguousarray(few.target[:, output])), few.weights)
            for output, loss in enumerate(self.settings.losses)
        )
        must = least + _WORTH_A_GROUP * (self.kept[-1].least_soon - least)
        return self._grown(self.plan.groups[0], table, self._rounds_of_next(), is_look=True).least_soon < must

    def _binned(self, dataset: Dataset) -> Binned:
        return binned(dataset, self.plan.groups[0], self.settings.seed, self.settings.n_threads)

    def _with_the_best(self, made: Sequence[Column]) -> Table | None:
        """The rows with the columns of ``made`` that gain most in a few rounds on all rows; None if none gains."""
        dataset, settings = self.table.dataset, self.settings
        n_given = len(dataset.schema)
        wide = with_derived_columns(dataset, with_derived(dataset.schema, made))
        if wide is dataset:
            return None
        in_bins = self._binned(wide)
        tree = replace(settings.tree, order="leaf", max_leaf_nodes=DEFAULT_LEAVES, max_depth=None)
        probe = replace(settings, tree=tree, n_rounds=_ROUNDS_OF_PROBE, learning_rate=0.1, callbacks=())
        found = boost(in_bins.table, in_bins.rows, probe, None, self.base).trees.importances.sum(axis=0)[n_given:]
        best = sorted(np.argsort(-found, kind="stable")[:_MOST_MADE].tolist())
        chosen = [wide.schema.columns[n_given + at] for at in best if found[at] > 0]
        if not chosen:
            return None
        wide = with_derived_columns(dataset, with_derived(dataset.schema, chosen))
        return Table(wide, self._binned(wide))

    def _with_linear_scores(self, held_out: list[np.ndarray]) -> Table | None:
        """The rows with linear scores of all columns; None if there are none."""
        wide, cells_of_members = _linear_scores(self.table.dataset, held_out)
        if not cells_of_members:
            return None
        in_bins, n_threads = self._binned(wide), self.settings.n_threads
        n_given, n_all = len(self.table.dataset.schema), len(wide.schema)
        matrix, codes_of_members = wide.matrix.copy(order="F"), []
        for cells in cells_of_members:
            matrix[:, n_given:] = cells
            codes = in_bins.rows.codes.copy()
            codes[:, n_given:n_all] = bin_rows(in_bins.table.bins, matrix, n_threads)[:, n_given:n_all]
            codes_of_members.append(codes)
        return Table(wide, in_bins, codes_of_members)

    @contextmanager
    def _shared_progress(self) -> Iterator[None]:
        """Report the work of the block, which each group begins at 0, as shares of the budget."""
        if not progress.is_heard():
            yield
            return
        above, total = copy_context(), self.plan.most_rounds

        def heard(done: float, what: str) -> None:
            above.run(progress.report, (self.spent + self.in_hand * done) / total, what)

        with progress.listen(heard):
            yield


def _pairs_of_numbers(dataset: Dataset, members: Members) -> Sequence[Column]:
    """Sums, differences, products and ratios of the numeric columns with the largest gains in the members."""
    return pairs_of(dataset.schema, _most_gainful(dataset, members, "numeric"))


def _pairs_of_levels(dataset: Dataset, members: Members) -> Sequence[Column]:
    """Pairs of levels of the nominal columns with the largest gains; only columns with enough rows per pair."""
    pairs = itertools.combinations(_most_gainful(dataset, members, "nominal"), 2)
    found = [level_pairs(dataset.schema, one, other, dataset.matrix) for one, other in pairs]
    most = number_of_rows(dataset) // _ROWS_OF_PAIR
    return [column for column in found if len(set(column.levels)) == len(column.levels) <= most]


def _most_gainful(dataset: Dataset, members: Members, kind: str) -> list[int]:
    """The columns of a kind with the largest gains in the members, in their order; none if rows are few."""
    if number_of_rows(dataset) < _ROWS_FOR_PAIRS:
        return []
    gains = np.zeros(len(dataset.schema))
    for trees in members.trees:
        for kept in trees:
            np.add.at(gains, kept.tree.column[kept.tree.gain > 0], kept.tree.gain[kept.tree.gain > 0])
    found = [at for at, column in enumerate(dataset.schema.columns) if column.kind == kind and not column.part]
    return sorted(sorted((at for at in found if gains[at] > 0), key=lambda at: -gains[at])[:_PAIRED])


def _linear_scores(dataset: Dataset, held_out: Sequence[np.ndarray]) -> tuple[Dataset, list[np.ndarray]]:
    """The rows with a linear score of all columns, one per class or output; and float64[n, k] for each member.

    A member's cells are those of a score that was fitted without its held-out rows, so that these are like new rows:
    the cells of a score of all rows depend on the outcomes of the held-out ones. With such scores the log loss of
    cylinder_bands rose from .363 to .375, though that of the held-out rows fell.
    """
    outcomes = _outcomes_of(dataset)
    k = len(outcomes)
    if k > _MOST_SCORES or number_of_rows(dataset) < _ROWS_FOR_SCORES:
        return dataset, []
    targets = np.column_stack([own for _, own in outcomes])
    names = unlike((name for name, _ in outcomes), dataset.schema.names)
    folds = (names_of(dataset) % FOLDS).astype(np.int32)

    def scored(rows: np.ndarray, strength: float | None = None) -> LinearScores:
        own = dataset.take(rows)
        n_rows = number_of_rows(own)
        return linear_scores(own.schema, own.matrix, targets[rows], own.weights, n_rows, folds[rows], names, strength)

    n_given = len(dataset.schema)
    of_all = scored(np.arange(len(dataset)))
    if not of_all.columns:
        return dataset, []
    wide = with_derived_columns(dataset, with_derived(dataset.schema, of_all.columns))
    matrix = wide.matrix.copy(order="F")
    matrix[:, n_given:] = of_all.cells
    of_members = []
    for rows_out in held_out:
        kept = np.delete(np.arange(len(dataset)), rows_out)
        own_scores = scored(kept, of_all.strength)
        if not own_scores.columns:
            return dataset, []
        own = np.empty((len(dataset), k))
        own[kept] = own_scores.cells
        columns = (*dataset.schema.columns, *own_scores.columns)
        for at in range(k):
            own[rows_out, at] = derived_cells(columns, n_given + at, dataset.matrix[rows_out])
        of_members.append(own)
    return replace(wide, matrix=matrix, cache=None), of_members


def _outcomes_of(dataset: Dataset) -> list[tuple[str, np.ndarray]]:
    """The targets of linear scores, 0 to 1, float64[n] each, with the names of the scores."""
    found: list[tuple[str, np.ndarray]] = []
    names = dataset.target.names or range(dataset.n_outputs)
    for output, own in enumerate(dataset.target_array.T):
        several = f" of {names[output]}" if dataset.n_outputs > 1 else ""
        if not dataset.classes:
            width = max(float(np.ptp(own / 2)), np.finfo(np.float64).tiny)  # halves: the whole width may overflow
            found.append((f"linear score{several}", (own / 2 - own.min() / 2) / width))
            continue
        labels = dataset.classes[output].tolist()
        for code in range(1 if len(labels) == 2 else 0, len(labels)):
            label = "" if len(labels) == 2 else f" of {labels[code]}"
            found.append((f"linear score{several}{label}", (own == code).astype(np.float64)))
    return found
