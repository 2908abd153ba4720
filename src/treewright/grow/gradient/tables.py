"""Memory for growing on gradients. In: bins, rows, settings. Out: the named tuples of ``layout``. Caller: .grower.

All of it is made once and serves every tree of a model.
"""

from __future__ import annotations

import numpy as np

from treewright.data.bins import Bins
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.grow.gradient.bundles import Bundles
from treewright.grow.gradient.layout import NUMERIC, ORDERED, SUBSET, Desk, Growth, Limits, Nodes, Table
from treewright.grow.gradient.scales import Scales
from treewright.grow.gradient.settings import GradientSettings

_MOST_GROUPS = 64
_SLOT_BYTES = 256 * 2**20  # of histograms; nodes beyond have none, and their children's are summed up anew
_UNBOUNDED = 2**31 - 1


def columns_of(codes: np.ndarray, p: int) -> np.ndarray:
    """uint8[p, n]: the bins column by column."""
    columns = np.empty((p, len(codes)), np.uint8)
    for begin in range(0, len(codes), 4096):  # what is read stays in the cache until every column has been written
        columns[:, begin : begin + 4096] = codes[begin : begin + 4096, :p].T
    return columns


def table_of(
    bins: Bins, ordered: np.ndarray, columns: np.ndarray, bundles: Bundles, settings: GradientSettings
) -> Table:
    """What kernels know of the columns.

    Parameters
    ----------
    bins : Bins
    ordered : bool[p]
        Nominal columns whose bins have an order.
    columns : uint8[p, n]
    bundles : Bundles
    settings : GradientSettings

    Raises
    ------
    ParameterError
        More than 64 groups of columns.
    """
    p = bins.n_columns
    groups = np.empty(0, np.uint64)
    if settings.interactions is not None:
        if len(settings.interactions) > _MOST_GROUPS:
            raise ParameterError(f"interaction_cst has {len(settings.interactions)} groups; at most {_MOST_GROUPS}")
        groups = np.zeros(p, np.uint64)
        for number, group in enumerate(settings.interactions):
            groups[list(group)] |= np.uint64(1 << number)
    return Table(
        kind=np.where(bins.is_nominal, np.where(ordered, ORDERED, SUBSET), NUMERIC).astype(np.uint8),
        n_bins=bins.n_bins.astype(np.int32),
        place=bundles.place,
        bundled=bundles.bundled,
        pool=np.arange(p, dtype=np.int32),
        monotone=np.array(settings.monotone or [0] * p, np.int8),
        groups=groups,
        columns=columns,
    )


def most_leaves(settings: GradientSettings, n: int, n_rows: int) -> int:
    """The most leaves that a tree of ``n`` rows can have, which count as ``n_rows``."""
    most = max(1, min(n, n_rows // max(settings.min_samples_leaf, 1)))
    if settings.max_leaf_nodes is not None:
        most = min(most, settings.max_leaf_nodes)
    if settings.max_depth is not None and settings.max_depth < 31:
        most = min(most, 1 << settings.max_depth)
    return most


def nodes_for(n_leaves: int, *, is_nominal: bool, has_groups: bool) -> Nodes:
    """Room for a tree of so many leaves."""
    n = 2 * n_leaves + 1
    whole, large, number = np.int32, np.int64, np.float64
    n_sets = n if is_nominal else 1
    return Nodes(
        begin=np.zeros(n, whole),
        end=np.zeros(n, whole),
        first_child=np.full(n, -1, whole),
        depth=np.zeros(n, whole),
        column=np.zeros(n, whole),
        cut=np.zeros(n, whole),
        missing_left=np.zeros(n, np.int8),
        gain=np.zeros(n, number),
        total=np.zeros(n, large),
        left=np.zeros(n, large),
        n_rows=np.zeros(n, large),
        low=np.zeros(n, number),
        high=np.zeros(n, number),
        slot=np.zeros(n, whole),
        alive=np.zeros(n if has_groups else 1, np.uint64),
        sets=np.zeros((n_sets, 4), np.uint64),
        seen=np.zeros((n_sets, 4), np.uint64),
    )


def growth_for(n_leaves: int, width: int, *, needs_all: bool) -> Growth:
    """Room for what grows beside the nodes: ``width`` bins a histogram; where all are needed, one for every leaf.

    Raises
    ------
    TooLargeError
    """
    n_slots = 1 + (n_leaves + 1 if needs_all else max(2, min(n_leaves + 1, _SLOT_BYTES // (8 * width))))
    check_fits(n_slots * width * 8, f"{n_slots} histograms", "set a smaller max_depth, or growth='leaf'")
    return Growth(
        slots=np.empty((n_slots, width), np.int64),
        free=np.arange(n_slots, 0, -1, dtype=np.int32),
        heap=np.empty(2 * n_leaves + 1, np.int32),
        state=np.zeros(4, np.int64),
    )


def desk_for(p: int) -> Desk:
    """Scratch memory."""
    gains = np.empty(256)
    return Desk(
        sums=np.zeros(256, np.int64),
        gradient=np.empty(256),
        hessian=np.empty(256),
        gains=gains,
        gain_bits=gains.view(np.int64),
        cuts=np.zeros(256, np.int64),
        bins=np.zeros(256, np.int64),
        sorted=np.zeros(256, np.int64),
        counts=np.zeros(256, np.int64),
        sorted_counts=np.zeros(256, np.int64),
        rows_left=np.zeros(256, np.int64),
        levels=np.zeros(256, np.int64),
        keys=np.empty(256),
        goes_left=np.zeros(256, np.uint8),
        best_gain=np.empty(p),
        best=np.empty((p, 3), np.int32),
        drawn=np.empty(p, np.int32),
        level=np.empty(p, np.int32),
    )


def limits_of(settings: GradientSettings, scales: Scales, seed: int, *, unit_hessian: bool) -> Limits:
    """The settings in the units of the words.

    Parameters
    ----------
    settings : GradientSettings
    scales : Scales
    seed : int
        Of this tree.
    unit_hessian : bool
    """
    is_symmetric = settings.order == "symmetric"
    max_depth = settings.max_depth or _UNBOUNDED
    if is_symmetric and settings.max_leaf_nodes is not None:  # a level is split as a whole
        max_depth = min(max_depth, settings.max_leaf_nodes.bit_length() - 1)
    least = max(settings.min_child_weight * scales.hessian, 1.0)
    if unit_hessian:
        least = max(least, float(settings.min_samples_leaf))
    return Limits(
        l1=settings.l1 * scales.gradient,
        l2=settings.l2 * scales.hessian,
        level_l2=settings.level_l2 * scales.hessian,
        smoothing=settings.level_smoothing * scales.hessian,
        min_hessian=least,
        min_gain=settings.min_gain,
        sure_hessian=settings.min_samples_leaf * scales.largest_hessian,
        gain_unit=scales.hessian / scales.gradient / scales.gradient,
        min_rows=settings.min_samples_leaf,
        exact=int(unit_hessian),
        max_depth=min(max_depth, _UNBOUNDED),
        max_leaves=min(settings.max_leaf_nodes or _UNBOUNDED, _UNBOUNDED),
        level_share=settings.features_per_level,
        node_share=settings.features_per_node,
        seed=np.uint64(seed),
        by_gain=int(settings.order == "leaf"),
        bounded=int(settings.monotone is not None and any(settings.monotone)),
        symmetric=int(is_symmetric),
    )
