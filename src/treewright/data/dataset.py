"""The rows that learning starts from: encoded once, shared by any number of fits, here or remote.

A `Dataset` is a table as numbers with its schema, its target as codes or numbers, and the weights of the rows. It does
not depend on the algorithm. What is slow to derive from it, sorted columns and bins, it can keep (``shared``): then
AdaBoost's rounds, folds and grids compute it once.

There are two kinds of weight. ``sample_weight`` is the weight that the caller gave a row. ``weights`` is that times the
weight of the row's classes. Growers of single trees use ``weights``; forests sample rows by ``sample_weight`` and apply
the weights of classes afterwards. Rows of weight 0 are left out, and ``kept`` says which of the given rows remain.

`RemoteRows` take the place of the matrix if the rows lie in a file, in other processes or on other machines. They
know how many rows there are and the bins of their columns, and have a *carrier*, which takes a question to every part
and returns the replies. Algorithms that can learn from replies use it; for others an error gives the reason.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np

from treewright.core import notices
from treewright.data.bin_rows import SparseCodes, bin_rows, bins_of_sparse, codes_of_sparse
from treewright.data.bins import Bins, bins_of
from treewright.data.encoder import refuse_missing_at_fit
from treewright.data.schema import Schema
from treewright.data.sparse import SparseMatrix
from treewright.data.target import (
    Factors,
    Labels,
    Numbers,
    check_lengths,
    check_weights,
    factors_by_code,
    is_weight,
    warn_of_small_weights,
    weighed,
)
from treewright.exceptions import ParameterError, Phrase, TreewrightError, old_name

T = TypeVar("T")
Made = TypeVar("Made")
KEPT_BYTES = 32 * 2**20  # an estimator keeps the rows of its last fit up to this size, so that it can audit a split


@dataclass(frozen=True, eq=False)
class Dataset:
    """Encoded rows with their target and weights."""

    schema: Schema
    matrix: Any  # float[n, p], or SparseMatrix, or RemoteRows
    target: Labels | Numbers  # of n rows; of none if the rows are remote
    # float64[n], > 0, or None; the weight of each row, that of its classes included; None: all rows weigh the same
    weights: np.ndarray | None = None
    sample_weight: np.ndarray | None = None  # float64[n] or None; the weight of each row as the caller gave it
    class_factors: Factors | None = None  # list of float64[n_classes] or None; the weight of each class, per output
    kept: np.ndarray | None = None  # bool[n_given] or None; which of the given rows these are; None for all
    cache: dict[Hashable, Any] | None = None  # sorted columns and bins, if they are kept for the next fit
    # whether the bins of the first fit are kept when the weights change: AdaBoost's rounds differ only in weights, and
    # new bins for each would take longer than growing the trees
    keeps_bins: bool = False

    @property
    def target_array(self) -> np.ndarray:
        """int32[n, n_outputs] codes or float64[n, n_outputs] numbers."""
        return self.target[0]

    @property
    def classes(self) -> tuple[np.ndarray, ...]:
        """The labels of each output; empty for numbers."""
        return self.target.classes if isinstance(self.target, Labels) else ()

    @property
    def n_classes(self) -> tuple[int, ...]:
        """Classes per output; empty for numbers."""
        return tuple(len(labels) for labels in self.classes)

    @property
    def n_outputs(self) -> int:
        """How many targets there are."""
        return int(self.target_array.shape[1])

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, chosen: np.ndarray) -> Dataset:
        """Some of the rows; bool[n] or positions."""
        return replace(
            self,
            matrix=self.matrix[chosen],
            target=target_rows(self.target, chosen),
            weights=None if self.weights is None else self.weights[chosen],
            sample_weight=None if self.sample_weight is None else self.sample_weight[chosen],
            cache=None,
        )

    def weighed(self, sample_weight: np.ndarray) -> Dataset:
        """The same rows with other weights, without those of weight 0; the cache is kept if no row is left out."""
        weights = weighed(sample_weight, self.class_factors, self.target_array)
        given = replace(self, weights=weights, sample_weight=sample_weight)
        if weights is None or weights.all():
            return given
        kept = weights > 0
        return replace(given.take(kept), kept=kept)

    def shared(self, *, keeps_bins: bool = False) -> Dataset:
        """The same rows, with a cache for what the next fit can reuse."""
        return replace(self, cache={}, keeps_bins=keeps_bins)

    def once(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """The cached result of ``make``, or a new one; ``what`` is its key: all that it depends on besides the rows."""
        if self.cache is None:
            return make()
        if what not in self.cache:
            self.cache[what] = make()
        made: Made = self.cache[what]
        return made

    def binned(self, max_bins: int, n_threads: int) -> tuple[Bins, Any]:
        """Bins that hold about equal weight, or one value each; and uint8[n, stride], the bin of each cell.

        For a sparse table, its ``SparseCodes``. The weights of classes do not matter: bins depend on the rows only.
        """

        def make() -> tuple[Bins, Any]:
            if isinstance(self.matrix, SparseMatrix):
                bins = bins_of_sparse(self.matrix, self.schema, self.sample_weight, max_bins=max_bins)
                return bins, codes_of_sparse(bins, self.matrix)
            bins = bins_of(self.matrix, self.schema, self.sample_weight, max_bins=max_bins, n_threads=n_threads)
            return bins, bin_rows(bins, self.matrix, n_threads)

        if self.cache is None or self.keeps_bins or self.sample_weight is None:
            return self.once(("bins", max_bins), make)
        weighed_by = blake2b(np.ascontiguousarray(self.sample_weight).data, digest_size=16).digest()
        return self.once(("bins", max_bins, weighed_by), make)

    @property
    def is_remote(self) -> bool:
        """Whether the rows lie elsewhere."""
        return isinstance(self.matrix, RemoteRows)

    is_elsewhere = old_name("is_elsewhere", "is_remote")

    @property
    def is_sparse(self) -> bool:
        """Whether the zeros of the matrix are not stored."""
        return isinstance(self.matrix, SparseMatrix)

    def made_dense(self, remedy: str = "") -> Dataset:
        """The same rows as a dense matrix, for code that cannot read a sparse one; TooLargeError if too large."""
        return replace(self, matrix=self.matrix.dense(remedy) if self.is_sparse else self.matrix, cache=None)

    def digest(self, bins: Bins, codes: Any) -> str:
        """A digest of the binned rows, targets and weights, in their order."""
        made = blake2b(digest_size=16)
        weights = np.empty(0) if self.weights is None else self.weights
        stored = codes.arrays if isinstance(codes, SparseCodes) else (codes,)
        for array in (*stored, self.target_array, weights, bins.lowest, bins.highest):
            made.update(repr((array.shape, array.dtype.str)).encode())
            made.update(np.ascontiguousarray(array).data)
        return made.hexdigest()

    def copied_if_small(self) -> Dataset | None:
        """A copy of the rows if they are few enough to be kept with a model and not shared by many fits, else None."""
        if self.is_remote or self.is_sparse or self.matrix.nbytes > KEPT_BYTES or self.cache is not None:
            return None
        # A copy: the matrix may be the user's own array, which may be changed after the fit.
        return replace(self, matrix=self.matrix.copy(order="K"))

    def warn_of_small_weights(self, what: str) -> None:
        """Warn if the weights are too small to be row counts, as ``what`` treats them."""
        if self.weights is not None:
            warn_of_small_weights(float(self.weights.sum()), len(self.weights), what)


def target_rows(target: Any, chosen: np.ndarray) -> Any:
    """Some rows of an encoded target."""
    return target._replace(**{target._fields[0]: target[0][chosen]})


def dataset_of(
    schema: Schema,
    matrix: Any,
    target: Labels | Numbers,
    sample_weight: Any = None,
    *,
    class_weight: Any = None,
    missing: str = "direction",
) -> Dataset:
    """The rows of a fit, checked; under ``missing="error"`` a missing cell is refused."""
    check_lengths(len(matrix), target)
    own = check_weights(sample_weight, len(matrix))
    factors = None
    if class_weight is not None and isinstance(target, Labels):
        factors = factors_for(class_weight, target, own)
    weights = weighed(own, factors, target[0])
    if missing == "error":
        refuse_missing_at_fit(matrix, schema, weights)
    rows = Dataset(schema, matrix, target, weights, own, factors)
    if weights is None or weights.all():
        return rows
    kept = weights > 0
    return replace(rows.take(kept), kept=kept)


def factors_for(class_weight: Any, target: Labels, weights: np.ndarray | None) -> Factors:
    """The weight of each class, per output; a ``class_weight`` that cannot be is refused."""
    n_outputs = target.codes.shape[1]
    if isinstance(class_weight, list) and len(class_weight) != n_outputs:
        raise ParameterError(f"class_weight lists {len(class_weight)} outputs, y has {n_outputs}")
    given: Sequence[Any] = class_weight if isinstance(class_weight, list) else [class_weight] * n_outputs
    if isinstance(class_weight, dict) and n_outputs > 1:
        raise ParameterError("class_weight: give a list with one dict per output, or 'balanced'")
    by_output: list[Any] = []
    for labels, weight in zip(target.classes, given, strict=True):
        if isinstance(weight, dict):
            for label, factor in weight.items():
                if not is_weight(factor):
                    raise ParameterError(
                        f"class_weight must be finite and >= 0 for every class, not {factor!r} for {label!r}"
                    )
            known = set(labels.tolist())
            unknown = [label for label in weight if label not in known]
            if unknown:
                # No error: a fold of a cross-validation may lack a rare class.
                notices.warn(f"class_weight names labels that y does not hold: {unknown}; y holds {labels.tolist()}")
            by_output.append(weight.items())
        elif weight == "balanced":
            by_output.append(weight)
        else:
            raise ParameterError(f"class_weight lists {weight!r}; each output takes a dict or 'balanced'")
    return factors_by_code(by_output, target.codes, target.classes, weights)


class PartLostError(TreewrightError):
    """A part no longer answers because its process or machine is gone; ``revive`` restarts it."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(f"part {at} of the rows is lost: {why}")
        self.at = at


class NotBorrowedError(TreewrightError):
    """A part does not hold the rows borrowed for this fit, or no longer: it has to borrow them again."""


claims = threading.Lock()  # held while a part checks that its rows are free and claims them for a fit
_MOST_LOST = 3  # times in a row that parts may be lost before a question is given up


class Carrier(Protocol):
    """The interface of a carrier, which takes a question to all parts and returns their answers."""

    @property
    def n_parts(self) -> int:
        """How many parts there are."""

    def ask(self, what: str, *given: Any) -> list[Any]:
        """Call the method ``what`` of all parts with these arguments; returns their replies in the order of the parts.

        An error in a part is raised here; PartLostError if a part is gone.
        """

    def share(self, fit: str) -> None:
        """Let every part ``borrow`` what all ``lend``, in their order, for a fit: then each has all rows, as bins."""

    def settle(self, what: str, *given: Any) -> list[Any]:
        """Like ``ask``, for questions that set up the parts: they are repeated for a part that is restarted."""

    def revive(self) -> None:
        """Restart lost parts from the source of their rows; what they had learned is gone."""


def unless_lost(carrier: Carrier, work: Callable[[bool], T]) -> T:
    """The result of ``work(False)``; if a part is lost on the way, parts are restarted and ``work(True)`` is called."""
    n_lost = 0
    while True:
        try:
            if n_lost:
                carrier.revive()
            return work(n_lost > 0)
        except PartLostError:
            n_lost += 1
            if n_lost > _MOST_LOST:
                raise


def replies_of(carrier: Carrier, what: str, *given: Any, settles: bool = False) -> list[Any]:
    """The replies to a question that changes nothing in the parts and so can be repeated if one is restarted.

    ``settles``: the question sets up the parts (``Carrier.settle``).
    """
    asked = carrier.settle if settles else carrier.ask
    return unless_lost(carrier, lambda _: asked(what, *given))


@dataclass(eq=False)
class Here:
    """The carrier of parts in this process; they answer one after another, each on its threads."""

    parts: list[Any]

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    def ask(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.ask``."""
        return [getattr(part, what)(*given) for part in self.parts]

    def share(self, fit: str) -> None:
        """See ``Carrier.share``."""
        self.ask("borrow", self.ask("lend"), fit)

    def settle(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.settle``."""
        return self.ask(what, *given)

    def revive(self) -> None:
        """Do nothing: parts of this process are never lost."""


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """The cells of a table that lie elsewhere."""

    shape: tuple[int, int]
    bins: Bins  # of the columns; the parts hold the rows as these
    max_bins: int  # with which they were made
    n_rows: int  # number of rows; a row with a whole weight k counts as k rows
    # tuple of float64[n_classes]; weight of the rows of each class, per output; empty for regression
    of_classes: tuple[np.ndarray, ...]
    carrier: Carrier = field(repr=False)
    where: str = "elsewhere"  # where the rows lie, in a few words for messages
    budget: int | None = None  # bytes that may be used; None: all that is available

    def refuse(self, *why: str | Phrase) -> NoReturn:
        """Raise ParameterError for what cannot be computed from rows that lie elsewhere."""
        raise ParameterError(f"the rows lie {self.where}, where this cannot be computed: ", *why)

    def check_bins(self, max_bins: int) -> None:
        """Raise ParameterError if ``max_bins`` is not the one with which the parts made their bins."""
        if max_bins != self.max_bins:
            raise ParameterError(
                f"max_bins={max_bins}, but the rows {self.where} were binned with max_bins={self.max_bins}: pass "
                f"max_bins={self.max_bins}, or make the dataset with max_bins={max_bins}"
            )


@dataclass(eq=False)
class GatheredRows:
    """All rows of a table as bins, at one of its parts, which does a share of the work."""

    codes: np.ndarray  # uint8[n, stride]
    target: np.ndarray  # int32[n] or float64[n]
    sample_weights: np.ndarray | None  # float64[n] or None
    share: tuple[int, int]  # the number of the part, and how many there are
    n_threads: int
    # bytes that may be used in addition to the rows; None: all that is available
    budget: int | None
    # makes arrays, of a shape and dtype, that need not stay in memory
    room: Callable[[tuple[int, ...], Any], np.ndarray] | None
    fit: str  # the fit that has borrowed the rows
    kept: Any = None  # what the fit keeps here from one question to the next

    def filled(self, dataset: Dataset) -> Dataset:
        """A dataset whose cells lie elsewhere, with the targets, weights and bins of its rows."""
        where: RemoteRows = dataset.matrix
        target: Any = dataset.target
        return replace(
            dataset,
            target=target._replace(**{target._fields[0]: self.target[:, None]}),
            weights=self.sample_weights, sample_weight=self.sample_weights,
            cache={("bins", where.max_bins): (where.bins, self.codes)}, keeps_bins=True,
        )  # fmt: skip
