"""Isolation forests: find rows that a few random cuts isolate (Liu, Ting and Zhou 2008 and 2012).

There is no target. The rows and columns that the trees sample depend on the seed and on the contents of the rows; a
warm start continues sampling where the fit before ended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np

from treewright.core import notices
from treewright.core.progress import bar_where_nobody_listens
from treewright.data.dataset import Dataset, RemoteRows, unless_lost
from treewright.data.memory import check_fits
from treewright.data.row_content import order_of_contents, row_order
from treewright.data.take import warn_of_another_order
from treewright.data.target import Numbers, check_weights
from treewright.exceptions import ParameterError, TooLargeError
from treewright.forest.draws import Draws, held_draws, number_of_draws
from treewright.forest.isolation import (
    ALGORITHM,
    AUTO_OFFSET,
    grow_isolation_forest,
    lowest_share,
    refuse_too_many_trees,
    scores_of_rows,
    warn_of_many_outliers,
)
from treewright.learn.params import (
    FLAG,
    LOUDNESS,
    RANDOM_STATE,
    WARM_START,
    ColumnParams,
    Seed,
    param,
    real,
    share,
    stated,
    whole,
    words,
)
from treewright.learn.settings import columns_of_each, refuse_changed, seed_of
from treewright.learn.train import WARM_START_OF_TREES, Trained, WarmStart, encoded_table, rows_elsewhere
from treewright.model import Model
from treewright.trees.data import ListedTrees, Unseen, with_grid
from treewright.version import __version__

AUTO_SAMPLES = 256
_OF_NO_TREE = ("n_estimators", "contamination", "unseen")  # what may change from one warm start to the next
_BLOCK = 65_536  # rows that are made float64 at a time
_ORDER_BYTES = 28  # of a row: its hash, and the order of all hashes
_REMEDY = "sample fewer rows (max_samples), or grow fewer trees"


@dataclass(frozen=True, kw_only=True)
class IsolationParams(ColumnParams):
    """The isolation forest."""

    algorithm_name: ClassVar[str] = ALGORITHM
    learns_elsewhere: ClassVar[bool] = True
    grows_sparse: ClassVar[bool] = True

    n_estimators: int = param(100, whole(1), unit="trees", help="trees")
    max_samples: float | str = param(
        "auto", words("auto"), whole(1), share(0.0, 1.0, "right"), unit="rows or share of the rows",
        help="rows that each tree samples; 'auto' is 256, or all if there are fewer",
        more="A float is a share of all rows.",
    )  # fmt: skip
    contamination: float | str = param(
        "auto", words("auto"), real(0.0, 0.5, "right"), unit="share of the rows",
        help="share of the training rows that are outliers; 'auto': those with a score below -0.5",
        more="If columns have few different values (levels, for example) or evenly spaced ones, that can be most of "
        "the rows: then there is a warning.",
    )  # fmt: skip
    max_features: float = param(
        1.0,
        whole(1),
        share(0.0, 1.0, "right"),
        unit="columns or share of the columns",
        help="columns that each tree samples",
    )
    bootstrap: bool = param(False, FLAG, help="whether rows are sampled with replacement")
    random_state: Seed = stated(RANDOM_STATE)
    verbose: int = stated(LOUDNESS)
    warm_start: bool = stated(
        replace(
            WARM_START,
            more="The result is that of one fit: the table must be the same, and so must the parameters that trees "
            "depend on.",
        )
    )


def isolation_dataset(X: Any, params: IsolationParams, sample_weight: Any = None) -> Dataset:
    """A table without a target, or such a dataset; rows of weight 0 are left out."""
    refuse_too_many_trees(int(params.n_estimators))
    if isinstance(X, Dataset):
        return _dataset_without_target(X, params, sample_weight)
    warn_of_another_order(X, sample_weight=sample_weight)
    schema, matrix = encoded_table(X, params)
    weights = check_weights(sample_weight, len(matrix))
    rows = Dataset(schema, matrix, Numbers(np.empty((len(matrix), 0)), (), True), weights, weights)
    if weights is None or weights.all():
        return rows
    kept = weights > 0
    return replace(rows.take(kept), kept=kept)


def _dataset_without_target(dataset: Dataset, params: IsolationParams, sample_weight: Any) -> Dataset:
    given = next(
        (name for name in ("nominal", "ordinal", "numeric", "calendar") if getattr(params, name, None)),
        None if sample_weight is None else "sample_weight",
    )
    if given is not None:
        raise ParameterError(f"{given} does not go with a Dataset, which has its columns and weights: set it there")
    if dataset.n_outputs:
        raise ParameterError("an isolation forest has no target: make the Dataset with target=None")
    return dataset


def train_isolation(dataset: Dataset, params: IsolationParams, n_threads: int, start: Trained | None = None) -> Trained:
    """Grow the trees, or those that are new, and find the score below which a row is an outlier."""
    if dataset.is_remote:
        return _trained_elsewhere(dataset, params, n_threads)
    n_trees = int(params.n_estimators)
    n_columns = columns_of_each(params.max_features, len(dataset.schema))
    parameters = {name: value for name, value in params.facts().items() if name not in _OF_NO_TREE}
    rows = np.arange(len(dataset)) if dataset.kept is None else np.flatnonzero(dataset.kept)
    before: tuple[Any, ...] = ()
    if start is None:
        seed = seed_of(params.random_state)
        warm = WarmStart(_digest(dataset), parameters, seed, rows)
        size = _rows_to_draw(params.max_samples, len(dataset), dataset.weights)
        # There are no bins and there is no target: rows are identified by their cells.
        no_bins, no_target = np.empty((len(dataset), 0), np.uint8), np.empty((len(dataset), 0))
        order = row_order(no_bins, no_target, weights=dataset.weights, matrix=dataset.matrix)
        draws = Draws(order, size, seed, weights=dataset.weights, replace=bool(params.bootstrap))
    else:
        before = cast("tuple[Any, ...]", start.model.trees)
        _refuse_other_start(start, dataset, parameters, n_trees)
        warm = replace(cast("WarmStart", start.warm_start), rows=rows)
        draws = cast("Draws", start.draws)
    numbers = range(len(before), n_trees)
    with bar_where_nobody_listens(bool(params.verbose)):
        new = grow_isolation_forest(dataset.matrix, dataset.schema, draws, n_columns, numbers, n_threads)
    return Trained(_model(dataset, params, draws, before + new), warm_start=warm, draws=draws)


def _trained_elsewhere(dataset: Dataset, params: IsolationParams, n_threads: int) -> Trained:
    """Like ``train_isolation``, for rows that lie elsewhere: the sampled rows are brought here, as cells."""
    where = rows_elsewhere(dataset, params, (params.warm_start, (WARM_START_OF_TREES,)))
    # All anew if a part is lost: a restarted part may hold its rows in another order.
    with bar_where_nobody_listens(bool(params.verbose)):
        return unless_lost(where.carrier, lambda _: _asked(dataset, params, n_threads))


def _asked(dataset: Dataset, params: IsolationParams, n_threads: int) -> Trained:
    """Ask the parts for the contents of rows, the cells of the sampled rows, and scores."""
    where: RemoteRows = dataset.matrix
    of_parts = where.carrier.ask("contents")
    contents = np.concatenate([own for own, _ in of_parts])
    weights = None if of_parts[0][1] is None else np.concatenate([own for _, own in of_parts])
    ends = np.cumsum([len(own) for own, _ in of_parts])
    draws = Draws(
        order_of_contents(contents, weights), _rows_to_draw(params.max_samples, len(dataset), weights),
        seed_of(params.random_state), weights=weights, replace=bool(params.bootstrap),
    )  # fmt: skip
    numbers = range(int(params.n_estimators))
    held, of_held = held_draws(draws, numbers)
    needed = 2 * len(held) * len(dataset.schema) * 8 + _ORDER_BYTES * len(dataset)
    what = f"{len(held):,} sampled rows, and the order in which {len(dataset):,} are sampled,"
    if where.budget is not None and needed > where.budget:
        raise TooLargeError(
            f"{what} take about {needed:,} bytes, but memory={where.budget:,}: allow more, or {_REMEDY}"
        )
    check_fits(needed, what, _REMEDY)
    of_places = tuple(np.split(held, np.searchsorted(held, ends[:-1])))
    positions = tuple(own - begin for own, begin in zip(of_places, [0, *ends[:-1]], strict=True))
    blocks = where.carrier.ask("of_cells", _cells_at, positions)
    matrix = np.concatenate([each for of_part in blocks for each in of_part])
    n_columns = columns_of_each(params.max_features, len(dataset.schema))
    model = _model_of(
        dataset, params, draws, grow_isolation_forest(matrix, dataset.schema, of_held, n_columns, numbers, n_threads)
    )
    if isinstance(params.contamination, str):
        warn_of_many_outliers(model, matrix, None if weights is None else weights[held], params.n_jobs)
        return Trained(model)
    of_blocks = where.carrier.ask("of_cells", _scores_of, model)
    scores = np.concatenate([each for of_part in of_blocks for each in of_part])
    offset = lowest_share(scores, weights, float(params.contamination))
    return Trained(replace(model, facts={**model.facts, "offset": offset}))


def _cells_at(place: int, first: int, cells: np.ndarray, positions: tuple[np.ndarray, ...]) -> np.ndarray:
    """The requested rows of a block, by their numbers in each place."""
    own = positions[place]
    begin, end = np.searchsorted(own, [first, first + len(cells)])
    return cells[own[begin:end] - first]


def _scores_of(_place: int, _first: int, cells: np.ndarray, model: Model) -> np.ndarray:
    return -scores_of_rows(model, cells)


def _refuse_other_start(start: Trained, dataset: Dataset, parameters: dict[str, Any], n_trees: int) -> None:
    """Refuse to add trees of another kind or table, or fewer than there are."""
    n_before, warm = len(start.model.trees), cast("WarmStart", start.warm_start)
    if n_trees < n_before:
        raise ParameterError(
            f"n_estimators={n_trees} must be larger or equal to the {n_before} fitted trees, with warm_start=True"
        )
    refuse_changed(warm.parameters, parameters, "trees")
    if dataset.schema != start.model.schema or _digest(dataset) != warm.digest:
        raise ParameterError(
            "warm_start=True adds trees on the same table, but columns, rows or weights are different from the fit "
            "before: pass the same ones, or set warm_start=False"
        )
    if n_trees == n_before:
        notices.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")


def _model(dataset: Dataset, params: IsolationParams, draws: Draws, trees: tuple[Any, ...]) -> Model:
    """The model, with the score below which a row is an outlier."""
    model = _model_of(dataset, params, draws, trees)
    if isinstance(params.contamination, str):
        warn_of_many_outliers(model, dataset.matrix, dataset.weights, params.n_jobs)
        return model
    scores = -scores_of_rows(model, dataset.matrix, params.n_jobs)
    offset = lowest_share(scores, dataset.weights, float(params.contamination))
    return replace(model, facts={**model.facts, "offset": offset})


def _model_of(dataset: Dataset, params: IsolationParams, draws: Draws, trees: tuple[Any, ...]) -> Model:
    """The model; outliers are defined as in the paper."""
    facts: dict[str, Any] = {
        "algorithm": ALGORITHM,
        "criterion": "squared_error",  # the impurity of a node is the variance of its rows' path lengths
        "max_samples": draws.n_draws,
        "n_samples": len(dataset),
        "offset": AUTO_OFFSET,
        "parameters": params.facts(),
        "version": __version__,
    }
    unseen = cast("Unseen", params.unseen)
    return with_grid(
        Model("regression", dataset.schema, ListedTrees(trees), combine="mean", unseen=unseen, facts=facts)
    )


def _rows_to_draw(wanted: Any, n_rows: int, weights: np.ndarray | None) -> int:
    """How many rows a tree samples; more than there are means all of them, with a warning."""
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


def _digest(dataset: Dataset) -> str:
    """A digest of the cells and weights, in their order; weights of 1 count as none."""
    made = blake2b(repr(dataset.matrix.shape).encode(), digest_size=16)
    stored = dataset.matrix.stored if dataset.is_sparse else None
    for array in () if stored is None else (stored.data, stored.indices, stored.indptr):
        made.update(np.ascontiguousarray(array).data)
    for begin in range(0, len(dataset) if stored is None else 0, _BLOCK):
        block = dataset.matrix[begin : begin + _BLOCK].astype(np.float64, order="C", copy=False)
        made.update(np.ascontiguousarray(block).data)
    if dataset.weights is not None and (dataset.weights != 1).any():
        made.update(np.ascontiguousarray(dataset.weights).data)
    return made.hexdigest()
