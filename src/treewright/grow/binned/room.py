"""The limits and arrays of one growth on bins. In: bins, objective, settings. Out: ``Plan``, ``Room``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.bin_rows import SparseCodes
from treewright.data.bins import MISSING_BIN, Bins
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.grow.binned.histograms import histogram_width
from treewright.grow.binned.layout import MOST_TRACKED, SLOT_ROWS, WINDOW_ROWS, BinTable, Desk, Growth, Rules
from treewright.grow.binned.steps import make_window
from treewright.grow.exact.grower import limits_of
from treewright.grow.layout import Columns, Limits, Nodes, Work, make_nodes, make_work
from treewright.grow.objective import Objective
from treewright.grow.settings import BinnedSettings

_MOST_GROUPS = 64
_SLOT_BYTES = 32 * 2**20
_FEW_CLASSES = 16  # with more, small nodes are searched row by row: a histogram is read class by class
_NEVER = 1 << 62
_WINDOW_BYTES = 1 << 20  # in a wide table windows have fewer rows, to stay in the cache and keep Ctrl-C fast


@dataclass(frozen=True, eq=False)
class Plan:
    """The data that all parts of a growth share.

    Attributes
    ----------
    codes : uint8[n, stride]
        For a sparse table one unused row: its cells are in the table.
    objective : Objective
    settings : BinnedSettings
    table : BinTable
    columns : Columns
        The columns for the kernels of the exact grower.
    limits : Limits
    rules : Rules
    width : int
        Numbers per bin in a histogram; 0 without histograms.
    """

    codes: np.ndarray
    objective: Objective
    settings: BinnedSettings
    table: BinTable
    columns: Columns
    limits: Limits
    rules: Rules
    width: int


@dataclass(frozen=True, eq=False)
class Room:
    """Memory for a growth, or a part of one: nodes, and scratch of one thread.

    Attributes
    ----------
    nodes : Nodes
    growth : Growth
    work : Work
    desk : Desk
    window_stats : statistics of a window's rows
    window : uint8[n_window, stride]
    """

    nodes: Nodes
    growth: Growth
    work: Work
    desk: Desk
    window_stats: Any
    window: np.ndarray


def plan_of(
    codes: np.ndarray | SparseCodes, bins: Bins, schema: Schema, objective: Objective, settings: BinnedSettings
) -> Plan:
    """The ``Plan`` of a growth, with parameters in the units of the kernels."""
    p = len(schema)
    table = _table(bins, settings, codes)
    limits = _limits(objective, settings, len(table.candidates))
    width = histogram_width(objective.stats)
    rules = Rules(
        n_drawn=min(settings.max_features or p, p),
        random_cuts=settings.random_cuts,
        min_split_weight=_weight_of(objective, settings.min_samples_split) if settings.counts_rows else 0,
        histogram_rows=_histogram_rows(objective, settings, limits, width),
        ranks=isinstance(codes, SparseCodes) and codes.are_ranks,
    )
    if isinstance(codes, SparseCodes):
        # Cells that are not stored take no time in a histogram: nodes of any size are searched by it.
        rules = rules._replace(histogram_rows=rules.histogram_rows if rules.histogram_rows == _NEVER else 0)
        codes = np.empty((1, 8), np.uint8)
    return Plan(codes, objective, settings, table, _columns(bins, schema, settings), limits, rules, width)


def room_for(plan: Plan, n: int) -> Room:
    """Room for the largest tree that ``n`` rows can give; memory that no node uses is never touched."""
    settings, limits, objective = plan.settings, plan.limits, plan.objective
    most_leaves = n
    if settings.max_leaf_nodes is not None:
        most_leaves = min(most_leaves, settings.max_leaf_nodes)
    if limits.max_depth < 31:
        most_leaves = min(most_leaves, 1 << limits.max_depth)
    capacity = max(2 * most_leaves - 1, 1)
    nodes = make_nodes(capacity, plan.columns, objective, limits)
    per_node = sum(array[:1].nbytes for array in nodes)
    # Full trees on noise need about a fifth of it.
    check_fits(capacity * per_node // 5, f"a tree of up to {capacity} nodes", "set max_depth or min_samples_leaf")
    # In a sparse table there are no windows: nodes of one row are not grown.
    is_sparse = len(plan.table.row_start) > 0
    n_window = 1 if is_sparse else min(WINDOW_ROWS, max(_WINDOW_BYTES // max(plan.codes.shape[1], 1), 64))
    return Room(
        nodes,
        _growth(plan, n, capacity, most_leaves if plan.table.is_nominal.any() else 0),
        make_work(n, plan.columns, objective),
        _desk(plan, n, nodes.totals.shape[1]),
        make_window(objective.stats, n_window),
        np.empty((n_window, plan.codes.shape[1]), np.uint8),
    )


def _growth(plan: Plan, n: int, capacity: int, n_sets: int) -> Growth:
    """The arrays of a growth, besides the nodes."""
    p = len(plan.columns.code_row)
    n_slots = _n_slots(plan, n)
    return Growth(
        rows=np.empty(n, np.int32),
        origin=np.empty(n, np.int32),
        stack=np.empty(256, np.int32),
        sets=np.empty((n_sets, 4), np.uint64),
        seen=np.empty((n_sets, 4), np.uint64),
        alive=np.empty(capacity if plan.settings.interactions is not None else 0, np.uint64),
        constant=np.empty((capacity, p // 64 + 1) if p <= MOST_TRACKED else (1, 0), np.uint64),
        slots=np.zeros((n_slots, p if n_slots else 1, 256 * max(plan.width, 1)), np.int64),
        slot=np.full(capacity if n_slots else 0, -1, np.int8),
        free=np.arange(n_slots + 1, dtype=np.int64)[::-1] - 1,
        state=np.array([0, 0, 0, 0, n_slots], np.int64),
    )


def _n_slots(plan: Plan, n: int) -> int:
    """Number of histograms kept for children: one per level of the frontier, within memory.

    0 if no node has enough rows, or if nodes search different columns, so that a parent's histogram is of no use.
    """
    rules, table = plan.rules, plan.table
    draws = rules.random_cuts or bool(len(table.groups)) or rules.n_drawn < len(table.candidates)
    if draws or len(table.row_start) or n < SLOT_ROWS or rules.histogram_rows > SLOT_ROWS:
        return 0
    within = _SLOT_BYTES // max(256 * 8 * plan.width * len(table.candidates), 1)
    return min(within, 24) if within >= 2 else 0


def _desk(plan: Plan, n: int, n_totals: int) -> Desk:
    """Scratch memory of one thread."""
    rules, p, width = plan.rules, len(plan.columns.code_row), max(plan.width, 1)
    n_random = rules.n_drawn if rules.random_cuts else 1
    n_columns = rules.n_drawn if plan.width and not rules.random_cuts else 1
    # If histograms are kept for children, two with all columns fit into ``_SLOT_BYTES``: so all columns fit here.
    n_random = rules.n_drawn if rules.random_cuts else 1
    n_columns = rules.n_drawn if width and not rules.random_cuts else 1
    n_histograms = min(n_columns, max(1, _SLOT_BYTES // 2 // (2048 * width)))
    n_table = max(len(plan.table.row_start) - 1, 0)
    n_sparse, n_cells = (p, len(plan.table.row_bins)) if len(plan.table.row_start) else (0, 0)
    if n_sparse:
        n_random = n_histograms = 1  # a column at a time
    return Desk(
        items=np.empty(n + 1, np.int32),
        spare=np.empty(n + 1, np.int32),
        counts=np.empty(257, np.int32),
        pool=np.append(plan.table.candidates, np.empty(p - len(plan.table.candidates), np.int32)),
        swaps=np.empty(p, np.int32),
        chosen=np.empty(p, np.int32),
        varying=np.empty(p, np.int32),
        gains=np.empty(p),
        goes_left=np.zeros(256, np.uint8),
        flags=np.full(257, -1, np.int32),
        cuts=np.zeros((p, 3), np.int32),
        histograms=np.zeros((n_histograms, 256 * width), np.int64),
        touched=np.zeros((n_histograms, 4), np.uint64),
        spans=np.empty((n_random, 2), np.int32),
        below=np.empty((n_random, n_totals), np.int64),
        below_weight=np.empty(n_random, np.int64),
        present=np.empty(4, np.uint64),
        cells=np.empty((n_table if n_sparse else 0, 1), np.uint8),
        met=np.zeros(n_sparse // 64 + 1 if n_sparse else 0, np.uint64),
        begin=np.zeros(n_sparse, np.int64),
        end=np.zeros(n_sparse, np.int64),
        cell_rows=np.empty(n_cells, np.int32),
        cell_bins=np.empty(n_cells, np.int32),
        wanted=np.zeros(n_sparse // 64 + 1 if n_sparse else 0, np.uint64),
        found=np.empty((n_cells, 2), np.int32),
        found_bins=np.empty(n_cells, np.int32),
        keys=np.empty(n_table if rules.ranks else 0, np.int64),
        ranks=np.empty(n_table + 1 if rules.ranks else 0, np.int32),
    )


def _columns(bins: Bins, schema: Schema, settings: BinnedSettings) -> Columns:
    """The columns for the exact grower's kernels; they are sorted node by node."""
    p = len(schema)
    nominal = bins.is_nominal.astype(bool)
    code_row = np.where(nominal, np.cumsum(nominal) - 1, -1).astype(np.int32)
    return Columns(
        order=np.empty((0, 0), np.int32),
        codes=np.empty((int(nominal.sum()), 0), np.int32),
        code_row=code_row,
        n_levels=np.where(nominal, bins.n_bins + 1, 0).astype(np.int32),
        monotone=np.array(settings.monotone or [0] * p, np.int8),
        in_runs=np.zeros(p, np.uint8),  # here these columns are numbers (grower._with_numbers)
    )


def _table(bins: Bins, settings: BinnedSettings, codes: np.ndarray | SparseCodes) -> BinTable:
    """The columns as kernels read them."""
    p = bins.n_columns
    groups = np.empty(0, np.uint64)
    if settings.interactions is not None:
        if len(settings.interactions) > _MOST_GROUPS:
            raise ParameterError(f"interaction_cst has {len(settings.interactions)} groups; at most {_MOST_GROUPS}")
        groups = np.zeros(p, np.uint64)
        for number, group in enumerate(settings.interactions):
            groups[list(group)] |= np.uint64(1 << number)
    candidates = np.arange(p, dtype=np.int32) if settings.candidates is None else settings.candidates
    return BinTable(
        n_bins=np.array(bins.n_bins),
        is_nominal=bins.is_nominal.astype(np.uint8),
        start=np.array(bins.start),
        lowest=np.array(bins.lowest),
        highest=np.array(bins.highest),
        candidates=np.array(candidates, np.int32),
        groups=groups,
        has_missing=_has_missing(codes, p).view(np.uint8) if settings.random_cuts else np.zeros(p, np.uint8),
        **_stored_cells(codes),
    )


def _has_missing(codes: np.ndarray | SparseCodes, p: int) -> np.ndarray:
    """bool[p]: whether a column holds missing cells."""
    return codes.has_missing() if isinstance(codes, SparseCodes) else codes.max(axis=0)[:p] == MISSING_BIN


def _stored_cells(codes: np.ndarray | SparseCodes) -> dict[str, np.ndarray]:
    """The arrays of ``BinTable`` that only a sparse table fills."""
    cells: dict[str, np.ndarray] = {"usual": np.empty(0, np.int32)}
    for kind, of in (("row", "columns"), ("column", "rows")):
        cells[f"{kind}_start"], cells[f"{kind}_{of}"] = np.empty(0, np.int64), np.empty(0, np.int32)
        cells[f"{kind}_bins"] = np.empty(0, np.int32)
    if isinstance(codes, SparseCodes):
        cells["usual"] = codes.usual.astype(np.int32)
        for kind, of, stored in (("row", "columns", codes.by_row), ("column", "rows", codes.by_column)):
            cells[f"{kind}_start"] = stored.indptr.astype(np.int64)
            cells[f"{kind}_{of}"] = stored.indices.astype(np.int32, copy=False)
            cells[f"{kind}_bins"] = stored.data.astype(np.int32)
    return cells


def _limits(objective: Objective, settings: BinnedSettings, n_candidates: int) -> Limits:
    """The settings in the units of the kernels; if weights are numbers of rows, the limits apply to weights."""
    # Which columns are sampled depends on the nodes' keys: these are kept if anything is random.
    is_random = settings.random_cuts or (settings.max_features or n_candidates) < n_candidates
    limits = limits_of(objective, settings, n_candidates)._replace(max_features=0 if is_random else 1 << 30)
    if not settings.counts_rows:
        return limits
    least = max(limits.min_leaf_weight, _weight_of(objective, settings.min_samples_leaf))
    return limits._replace(min_split=2, min_leaf=1, min_leaf_weight=least)


def _histogram_rows(objective: Objective, settings: BinnedSettings, limits: Limits, width: int) -> int:
    """The number of rows from which a node is searched by histogram."""
    # A histogram holds no numbers of rows next to the weights.
    has_rows = limits.min_leaf <= 1 or not len(objective.stats.weights)
    if not width or not has_rows:
        return _NEVER
    return 0 if width <= _FEW_CLASSES else 16 * width


def _weight_of(objective: Objective, n_rows: int) -> int:
    """Fixed-point weight of so many rows; it is their number unless the sum of the weights is huge."""
    return math.ceil(math.ldexp(n_rows, objective.weight_exponent))
