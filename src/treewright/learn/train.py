"""Learning without scikit-learn: from a table and parameters to a model and the by-products of the fit.

Trees of rows that lie elsewhere are grown by parts that have all rows:

    carrier.share                    every part has all rows, as bins: mapped from files, or from the other workers
    "do" begin_work                  begin(rows, dataset, *given): what grows trees by their numbers
    "do" some_of_work(first, ...)    each part its share of the next trees, wave by wave: a lost part costs at most one
                                     wave

Histograms would move more data than the rows: a node moves columns x 256 sums, and a forest has a node for a few rows.
So the parts share the trees. Rows move once to each part that grows, one byte per cell and 12 per row.

    params = TreeParams(task="classification", max_depth=3)      learn.single, learn.forest, ...
    dataset = make_dataset(X, y, params)                          encoded once
    trained = train(dataset, params)                              grown
    trained.model.predict(X)

`train` finds the learner by the class of the parameters (`learn.registry`), and a learner is a function from a dataset
and parameters to `Trained`. Estimators, folds and grids all use it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.data.dataset import (
    Carrier,
    Dataset,
    GatheredRows,
    NotBorrowedError,
    PartLostError,
    dataset_of,
    factors_for,
    target_rows,
    unless_lost,
)
from treewright.data.encoder import encode_fit
from treewright.data.memory import check_fits
from treewright.data.sparse import SparseMatrix
from treewright.data.take import warn_of_another_order
from treewright.data.target import Labels, Numbers, check_weights, encode_labels, encode_numbers, refuse_large, weighed
from treewright.exceptions import TARGET, DataError, MissingValueError, ParameterError, TooLargeError, first_row
from treewright.grow.layout import MAX_ROWS
from treewright.learn.data_checks import warn_of_left_out, warn_of_many_classes, warn_of_text
from treewright.learn.params import CLASSES, NUMBERS
from treewright.model import Model
from treewright.trees.arrays import MAX_COLUMNS
from treewright.trees.data import with_grid
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss
    from treewright.boosting.rounds import History
    from treewright.data.dataset import RemoteRows
    from treewright.exceptions import Phrase
    from treewright.forest.draws import Draws
    from treewright.forest.out_of_bag import Votes
    from treewright.grow.by_node.grower import Step
    from treewright.trees.arrays import Missing
    from treewright.trees.data import Combine, Unseen

Work = Callable[[range], list[Any]]
_WAVE = 20.0  # seconds, roughly: the work lost with a part, and the longest wait after Ctrl-C
# Bytes, in addition to the bins, measured on 12,000,000 rows: per row of the table for the order of sampling, and for
# each draw; per row of a growing tree, and for its nodes if trees may be deep.
_ORDER_BYTES, _DRAW_BYTES, _ROW_BYTES, _NODE_BYTES, _DEEP = 28, 12, 36, 20, 20


@dataclass(eq=False)
class Shared:
    """The rows of a dataset while each part has all of them; ``with`` gives them back.

    Attributes
    ----------
    dataset : Dataset
        Its cells lie elsewhere.
    begin : callable
        Importable: from ``GatheredRows``, the dataset without its carrier and ``given`` to a function that grows trees
        by their numbers.
    given : tuple
    """

    dataset: Dataset
    begin: Callable[..., Work]
    given: tuple[Any, ...]
    fit: str = field(default_factory=lambda: secrets.token_hex(8))
    is_begun: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(PartLostError):
            self.carrier.ask("give_back", self.fit)

    @property
    def carrier(self) -> Carrier:
        """The carrier of the dataset, which asks the parts."""
        carrier: Carrier = self.dataset.matrix.carrier
        return carrier

    def each(self, n: int) -> Iterator[Any]:
        """The results of the work for the numbers 0 to ``n - 1``, in order."""
        first, of_wave = 0, 1
        while first < n:
            began = perf_counter()
            answers = self.ask(some_of_work, first, min(of_wave, -(-(n - first) // max(self.carrier.n_parts, 1))), n)
            some = [each for of_part in answers for each in of_part]
            yield from some
            first += len(some)
            of_wave = max(1, int(of_wave * min(_WAVE / max(perf_counter() - began, 1e-3), 8.0)))

    def ask(self, work: Callable[..., Any], *given: Any) -> list[Any]:
        """The answers of all parts to a question that can be repeated; if a part is lost, all borrow again."""

        def done(was_lost: bool) -> list[Any]:
            if was_lost:
                self.carrier.ask("give_back", self.fit)
            if was_lost or not self.is_begun:
                self.carrier.share(self.fit)
                without = replace(self.dataset, matrix=replace(self.dataset.matrix, carrier=None))
                self.carrier.ask("do", self.fit, begin_work, without, self.begin, self.given)
                self.is_begun = True
            return self.carrier.ask("do", self.fit, work, *given)

        try:
            return unless_lost(self.carrier, done)
        except NotBorrowedError:  # another fit on the same rows has lost a part and restarted all
            self.carrier.ask("give_back", self.fit)
            self.is_begun = False
            return unless_lost(self.carrier, done)


# At the parts.


def begin_work(rows: GatheredRows, dataset: Dataset, begin: Callable[..., Work], given: tuple[Any, ...]) -> None:
    """Make the function that grows trees of the rows."""
    rows.kept = begin(rows, rows.filled(dataset), *given)


def some_of_work(rows: GatheredRows, first: int, n_each: int, n: int) -> list[Any]:
    """The part's share of the next trees; a part has ``n_each`` of them, while there are trees left."""
    number, _ = rows.share
    begin = min(first + number * n_each, n)
    some: list[Any] = rows.kept(range(begin, min(begin + n_each, n)))
    return some


def trees_at_once(rows: GatheredRows, params: Any, n_drawn: int | None) -> int:
    """How many trees may grow at a time within the budget; each on ``n_drawn`` sampled rows, None: on all rows.

    Raises
    ------
    TooLargeError
        Not even one tree fits.
    """
    if rows.budget is None:
        return rows.n_threads
    n = len(rows.codes)
    are_few_nodes = params.max_leaf_nodes is not None or (params.max_depth or _DEEP) < _DEEP
    of_row = _ROW_BYTES if are_few_nodes else _ROW_BYTES + _NODE_BYTES
    beside, of_tree = (0, of_row * n) if n_drawn is None else (_ORDER_BYTES * n, _DRAW_BYTES * n + of_row * n_drawn)
    if beside + of_tree > rows.budget:
        n_held, n_parts = n if n_drawn is None else n_drawn, rows.share[1]
        draw = f" and {of_tree - of_row * n_held + beside:,} for sampling from {n:,} rows" if beside else ""
        processes = f", or fewer than {n_parts} processes" if n_parts > 1 else ""
        limits = [] if are_few_nodes else ["max_depth"]
        limits += ["max_samples"] if beside else []
        smaller = f", or a smaller tree ({', '.join(limits)})" if limits else ""
        raise TooLargeError(
            f"growing a tree takes about {of_row * n_held:,} bytes for its {n_held:,} rows{draw}, and each process may "
            f"use {rows.budget:,}: set memory={n_parts * (beside + of_tree)}{processes}{smaller}"
        )
    return min(rows.n_threads, (rows.budget - beside) // of_tree)


@dataclass(frozen=True, eq=False)
class WarmStart:
    """What must be unchanged in a further fit, so that its trees can be added to those of this one.

    ``digest``: of the binned rows, their targets and weights.
    ``parameters``: those that all trees share.
    ``rows`` (int64[n]): positions of the rows of the dataset in the table.
    """

    digest: str
    parameters: dict[str, Any]
    seed: int
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a fit.

    Attributes
    ----------
    model : Model, or NeighborsModel
    trace : tuple of Step, optional
        How a single tree grew, with ``grow_trace``.
    warm_start : WarmStart, optional
        Of ensembles: pass the whole ``Trained`` as ``start`` of the next fit.
    draws : Draws, optional
        Of forests and isolation forests: which rows each tree sampled.
    cells : uint8[n, stride] or float[n, p], optional
        Of forests: what the trees read, bins or the encoded table.
    votes : Votes, optional
        Of forests with ``oob_score``: the predictions of the trees for their out-of-bag rows.
    oob_rows : Dataset, optional
        The rows of the votes, if those of the fit lie elsewhere.
    losses, history : tuple of Loss, History, optional
        Of boosting: the losses, bound to the rows, and the values evaluated in this fit.
    """

    model: Any
    trace: tuple[Step, ...] | None = None
    warm_start: WarmStart | None = None
    draws: Draws | None = None
    cells: np.ndarray | None = None
    votes: Votes | None = None
    oob_rows: Dataset | None = None
    losses: tuple[Loss, ...] = ()
    history: History | None = None


def make_dataset(
    X: Any,
    y: Any,
    params: Any,
    sample_weight: Any = None,
    *,
    encode_target: Callable[[Any], Labels | Numbers] | None = None,
) -> Dataset:
    """A table as `train` uses it.

    Parameters
    ----------
    X : table of n rows and p columns
        Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. Never modified.
    y : n labels or numbers, or n x n_outputs of them
    params : Params
        They declare columns and class weights, and decide whether missing cells are refused.
    sample_weight : n numbers >= 0, optional
    encode_target : callable, optional
        From ``y`` to its codes or numbers, with more checks than the task needs.

    Raises
    ------
    DataError
        A column, cell, label or weight was refused; the message says which and what to do.
    TooLargeError
        More rows or columns than a tree's integers can name.
    """
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    with telling_of_a_swap(X, y):
        schema, matrix = encoded_table(X, params)
        if not isinstance(matrix, SparseMatrix):  # a sparse one is stored already; the growers check their memory
            params.check_size(*matrix.shape)
        target = encoded_target(y, params) if encode_target is None else encode_target(y)
        warn_of_many_classes(target, params.cost_of_classes)
        return dataset_of(
            schema, matrix, target, sample_weight,
            class_weight=params.class_weight_of_fit, missing=params.missing_cells,
        )  # fmt: skip


@contextmanager
def telling_of_a_swap(X: Any, y: Any) -> Iterator[None]:
    """If table or target are refused, and the target has more columns, the error asks whether they are swapped."""
    try:
        yield
    except DataError as error:
        wide, narrow = _n_columns(y), _n_columns(X)
        if wide is None or narrow is None or narrow >= wide:
            raise
        found = "one column" if not narrow else f"{narrow} column(s)"
        end = " " if str(error).endswith(".") else ". "
        hint = f"{end}X has {found} and y has {wide}: are they swapped? The table comes first, as in fit(X, y)"
        raise type(error)(*error.parts, hint, parameter=error.parameter, column=error.column, row=error.row) from None


def _n_columns(table: Any) -> int | None:
    """The columns of a table as it is given, 0 for one row of cells; None if that cannot be seen at once."""
    shape = getattr(table, "shape", None)
    if isinstance(shape, tuple) and len(shape) in (1, 2):
        return shape[1] if len(shape) == 2 else 0
    if isinstance(table, dict):
        return len(table)
    if isinstance(table, list | tuple) and len(table):
        return len(table[0]) if isinstance(table[0], list | tuple | dict | np.ndarray) else 0
    return None


def dataset_for(dataset: Dataset, params: Any, y: Any = None, sample_weight: Any = None) -> Dataset:
    """A dataset that was made before, with the parameters' class weights and treatment of missing cells.

    Raises ``ParameterError``: a target or weights are also given, or columns are declared: a dataset has its own.
    ``MissingValueError``: a cell is missing, and the parameters refuse that.
    """
    if y is not None or sample_weight is not None:
        given = "y" if y is not None else "sample_weight"
        raise ParameterError(f"{given} does not go with a Dataset, which has its own: leave it out, or pass the table")
    for name in ("nominal", "ordinal", "numeric", "calendar"):
        if getattr(params, name, None):
            raise ParameterError(f"{name} does not go with a Dataset, which has its columns: set it there")
    held = CLASSES if dataset.classes else NUMBERS
    if not dataset.n_outputs:
        raise ParameterError("the Dataset has no target: make it with target=...")
    if params.task != held:
        raise ParameterError(
            f"the target of the Dataset is for {held}, but the estimator does {params.task}: make the dataset with "
            f"task={params.task!r}"
        )
    if not dataset.is_remote:  # there the parts that have the targets check it
        check_classes(dataset.target, params)
        warn_of_many_classes(dataset.target, params.cost_of_classes)
        params.check_target(dataset.target)
    factors, class_weight = None, params.class_weight_of_fit
    if class_weight is not None and isinstance(dataset.target, Labels):
        if dataset.is_remote:  # one row per class, with the weight of the class
            one_each = [np.arange(count, dtype=np.int32) for count in dataset.n_classes]
            if len(one_each) > 1:
                raise ParameterError("class_weight with several outputs needs the rows in memory")
            labels = Labels(one_each[0][:, None], dataset.classes, dataset.target.names, dataset.target.flat)
            factors = factors_for(class_weight, labels, dataset.matrix.of_classes[0])
        else:
            factors = factors_for(class_weight, dataset.target, dataset.sample_weight)
    if params.missing_cells == "error" and any(column.missing_seen for column in dataset.schema.columns):
        found = next(column.name for column in dataset.schema.columns if column.missing_seen)
        raise MissingValueError(f"column {found!r} has missing cells: fill them in, or fit with missing='direction'")
    if dataset.is_remote:
        if factors is not None and not all((own > 0).all() for own in factors):
            raise ParameterError("class_weight gives a class the weight 0: leave its rows out of the dataset")
        return replace(dataset, class_factors=factors)
    weights = weighed(dataset.sample_weight, factors, dataset.target[0])
    whole = replace(dataset, class_factors=factors, weights=weights)
    if weights is None or weights.all():
        return whole
    return replace(whole.take(weights > 0), kept=weights > 0)


def encoded_target(y: Any, params: Any) -> Labels | Numbers:
    """The target as codes or numbers, refused if the parameters have no meaning for it."""
    target: Labels | Numbers = encode_labels(y) if params.task == CLASSES else encode_numbers(y)
    check_classes(target, params)
    params.check_target(target)
    return target


def _title(params: Any) -> str:
    """The name of the algorithm in a sentence."""
    from treewright.learn.registry import algorithm_of

    algorithm = algorithm_of(params.algorithm_name)
    return params.algorithm_name if algorithm is None else algorithm.title


def check_classes(target: Labels | Numbers, params: Any) -> None:
    """Refuse so many classes that their counts or scores do not fit in memory, before any work."""
    if isinstance(target, Labels):
        n_rows, n_classes = len(target.codes), [len(labels) for labels in target.classes]
        check_fits(
            params.bytes_of_classes(n_rows, n_classes),
            f"{_title(params)} on {n_rows} rows of {max(n_classes)} classes",
            "an identifier as the class target? Name the column to predict, or leave out or group rare classes",
        )


def check_domain(target: Labels | Numbers, sample_weight: Any, params: Any) -> None:
    """Refuse a target for which the loss is not defined, as a fit would, or whose squares do not add up.

    Trees can grow on larger numbers, but no R2 could be computed.
    """
    weights = check_weights(sample_weight, len(target[0]))
    kept = None if weights is None else weights > 0
    params.check_domain(target if kept is None else target_rows(target, kept), kept)
    if isinstance(target, Numbers):
        refuse_large(target.values, kept)


def with_every_cell(dataset: Dataset, params: Any, remedy: str = "") -> Dataset:
    """The dataset with a dense matrix, for parameters that need more than the stored cells.

    Raises ``TooLargeError``: it does not fit in memory; ``remedy`` is further advice for the error.
    """
    if not dataset.is_sparse:
        return dataset
    dense = dataset.made_dense(remedy)
    params.check_size(*dense.matrix.shape)
    return dense


def encoded_table(X: Any, params: Any) -> tuple[Any, Any]:
    """The columns of a table and its cells as numbers, with warnings about columns that are left out and about text."""
    refuse_too_large(X)
    schema, matrix = encode_fit(
        X,
        nominal=params.nominal,
        ordinal=params.ordinal,
        numeric=params.numeric,
        calendar=params.calendar,
        sparse=params.grows_sparse,
    )
    warn_of_left_out(schema)
    warn_of_text(schema, matrix, params.nominal, params.ordinal, params.numeric)
    return schema, matrix


def refuse_too_large(X: Any) -> None:
    """Refuse a table that is too large for any memory, before anything is allocated."""
    shape = getattr(X, "shape", ())
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(isinstance(size, int) for size in shape):
        return
    for size, most, what in ((shape[0], MAX_ROWS, "rows"), (shape[1], MAX_COLUMNS, "columns")):
        if size > most:
            raise TooLargeError(f"X has {size} {what}, but at most {most} are possible: fit on a sample of the {what}")


WARM_START_OF_TREES = "warm_start=True needs the rows of the fit before: fit all trees at once"


def rows_elsewhere(dataset: Dataset, params: Any, *needs: tuple[bool, Sequence[str | Phrase]]) -> RemoteRows:
    """The rows of a dataset that lie elsewhere, for growth on bins.

    Each of ``needs`` is whether the fit needs something that only rows in memory have, and the words for it: the first
    one is refused, and bins of another number as well.
    """
    rows: RemoteRows = dataset.matrix
    for is_needed, words in needs:
        if is_needed:
            rows.refuse(*words)
    if hasattr(params, "max_bins"):
        rows.check_bins(int(params.max_bins))
    return rows


def train(dataset: Dataset, params: Any, *, start: Trained | None = None, **options: Any) -> Trained:
    """Learn a model.

    Parameters
    ----------
    dataset : Dataset
        From `make_dataset` with the same parameters, or with others that declare the same columns, class weights and
        missing cells: these are applied in the dataset.
    params : Params
        Their class decides the algorithm: ``TreeParams``, ``ForestParams``, ``BoostingParams`` ...
    start : Trained, optional
        Ensembles: a fit with fewer trees on the same rows, which the new trees join.
    **options
        Boosting: ``validation``, a dataset that evaluates the rounds.

    Returns
    -------
    Trained
        Never depends on threads, or on what else was trained on the dataset.

    Raises
    ------
    ParameterError
        Parameters that have no meaning for this table or target; or a ``start`` of another algorithm, or from other
        rows or parameters.
    DataError
        A target outside the domain of the criterion or loss.
    TooLargeError
        The work would not fit in memory.

    Examples
    --------
    >>> from treewright.learn.single import TreeParams
    >>> params = TreeParams(task="classification", max_depth=1)
    >>> dataset = make_dataset({"hours": [1, 2, 8, 9]}, ["fail", "fail", "pass", "pass"], params)
    >>> train(dataset, params).model
    <treewright.Model: classification, 1 columns, 2 leaves, depth 1>
    """
    from treewright.learn.registry import learner_of

    held = CLASSES if dataset.classes else NUMBERS
    if params.task != held and dataset.n_outputs:
        raise ParameterError(
            f"task={params.task!r}, but the target of the dataset is for {held}: use one task for both"
        )
    if start is not None:
        if start.warm_start is None or start.model.facts.get("algorithm") != params.algorithm_name:
            raise ParameterError(
                f"start is not a fit of {params.algorithm_name} that can be continued: pass one of the same algorithm, "
                "or none"
            )
        options["start"] = start
    if dataset.is_remote and not params.learns_elsewhere:
        raise ParameterError(
            f"{params.algorithm_name} needs the rows in memory, but these lie {dataset.matrix.where}: use boosting, "
            "a forest or a tree on bins"
        )
    params.positive_facts(dataset.classes)  # refuses a class that there is not, before the work
    params.warn_of_unused(X_val=options.get("validation"))
    try:
        trained: Trained = learner_of(params)(dataset, params, resolve_jobs(params.n_jobs), **options)
    except MemoryError as error:
        if isinstance(error, TooLargeError):
            raise
        n_classes = f" of {max(dataset.n_classes)} classes" if dataset.n_classes else ""
        raise TooLargeError(
            f"{_title(params)} on {len(dataset)} rows x {len(dataset.schema)} columns"
            f"{n_classes} does not fit in memory ({error}): use fewer rows, columns or classes, or smaller trees"
        ) from error
    return trained


def model_of(
    dataset: Dataset, trees: Any, params: Any, *, combine: Combine, criterion: str, missing: str, **more_facts: Any
) -> Model:
    """The model of grown trees, with the facts of its training."""
    facts: dict[str, Any] = {
        "algorithm": params.algorithm_name,
        "criterion": criterion,
        "n_samples": len(dataset),
        "parameters": params.facts(),
        "version": __version__,
        **params.positive_facts(dataset.classes),
        **more_facts,
    }
    if dataset.class_factors is not None:
        # By code, as at fit: labels need not have a JSON form, and "balanced" would be different for other rows.
        facts["class_factors"] = [by_code.tolist() for by_code in dataset.class_factors]
    model = Model(
        task=params.task,
        schema=dataset.schema,
        trees=trees,
        classes=dataset.classes,
        n_outputs=dataset.n_outputs,
        combine=combine,
        unseen=cast("Unseen", params.unseen),
        missing=cast("Missing", missing),
        target_names=dataset.target.names,
        facts=facts,
    )
    return model if combine == "sum" else with_grid(model)  # boosting has no base yet


def refuse_not_counts(values: np.ndarray) -> None:
    """Refuse numbers that have no Poisson deviance: negative ones, or a column of zeros."""
    negative = np.argwhere(values < 0)
    if len(negative):
        raise DataError(
            TARGET,
            f" has {len(negative)} negative value(s) (",
            first_row(int(negative[0][0])),
            f": {values[tuple(negative[0])]:g}), "
            "but criterion='poisson' needs values >= 0; use 'squared_error', or remove the rows",
            row=int(negative[0][0]),
        )
    empty = np.flatnonzero(values.sum(axis=0) <= 0)
    if len(empty):
        raise DataError(
            TARGET,
            f" is zero throughout (output {empty[0]}), but criterion='poisson' needs a positive sum; "
            "use 'squared_error'",
        )
