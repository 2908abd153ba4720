"""A fitted model of nearest neighbours with its verbs: predict, kneighbors, show, save and more.

It needs no estimator and does not import scikit-learn.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treewright.core.elementary import is_whole
from treewright.core.notices import listening
from treewright.core.threads import resolve_jobs
from treewright.data.cells import shown
from treewright.data.encoder import encode, encode_row
from treewright.data.memory import available_memory, check_fits
from treewright.data.schema import Schema
from treewright.data.table import MATRIX_DIMENSIONS, is_sparse, read_table
from treewright.exceptions import ColumnError, DataError, ParameterError
from treewright.neighbors.sparse import checked_rows
from treewright.neighbors.stored import Stored, search_for
from treewright.neighbors.votes import Weights, means, shares, wants_next, weights_of
from treewright.trees.data import classes_as_estimators_have_them, labels_of, stamped, unstamped
from treewright.trees.threshold import Threshold, decision_text, positive_code, positive_label, threshold_given

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# Bytes of temporary arrays for the rows predicted at a time, in addition to the result.
_BLOCK_BYTES = 2**25
_LEAST_ROWS = 16
# Bytes of one row within a radius, while those of a block are sorted.
_FOUND_BYTES = 128
# The encoder's words for the treatment of unseen levels: "majority" is the code that no level has.
UNSEEN = {"other": "majority", "missing": "missing", "error": "error"}
_MOST = 8  # columns, classes that are listed
_SEARCHES = {
    "kd_tree": "KD-tree",
    "brute": "all rows, by matrix products",
    "direct": "all rows, pair by pair",
    "mixed": "all rows, pair by pair",
    "called": "all rows, one call of the function per row",
    "given": "all rows, by the given distances",
    "sparse": "the rows that share a term, by lists of rows per column",
}


@dataclass(frozen=True, eq=False)
class NeighborsModel:
    """A fitted, immutable model of nearest neighbours, which predicts, shows itself and can be saved.

    Made by fitting ``KNeighborsClassifier`` or ``KNeighborsRegressor`` (``est.model_``) or by ``treewright.load``.
    Neighbours are ordered by distance; among equal distances the lower row comes first, also at the k-th place.

    Attributes
    ----------
    task : {"classification", "regression"}
    schema : Schema or None
        The columns; None for sparse rows.
    n_columns : int
    stored : Stored
        The training rows.
    classes : tuple of ndarray
        Per output the sorted labels; empty for regression.
    n_outputs : int
    n_neighbors : int, 1 to the number of rows
    weights : str or callable
        See ``treewright.neighbors.votes.weights_of``.
    unseen : {"other", "missing", "error"}
        How a level that fit never saw is treated: unequal to every level, as a missing cell, as an error.
    target_names : tuple of str
    facts : mapping
        Plain JSON: parameters, version.
    threshold : Threshold or None
        The decision threshold for one of two classes; None: the more probable class is predicted.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"sky": ["sun", "rain", "sun"], "wind": [3, 5, 9]}
    >>> model = tw.KNeighborsClassifier(n_neighbors=1).fit(table, ["out", "in", "in"]).model_
    >>> model.predict({"wind": [4], "sky": ["sun"]})
    array(['out'], dtype='<U3')
    """

    task: Literal["classification", "regression"]
    schema: Schema | None
    n_columns: int
    stored: Stored
    classes: tuple[np.ndarray, ...] = ()
    n_outputs: int = 1
    n_neighbors: int = 5
    weights: Weights = "uniform"
    unseen: str = "other"
    target_names: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    threshold: Threshold | None = None

    has_trees = False  # not a field, as it has no annotation
    is_single_tree = False  # not a field, as it has no annotation
    has_scores = False  # not a field, as it has no annotation
    has_rounds = False  # not a field, as it has no annotation

    def __getstate__(self) -> dict[str, Any]:
        return stamped(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unstamped(state, type(self).__name__))

    @property
    def n_targets(self) -> int:
        """How many columns the target has."""
        return self.n_outputs

    @property
    def classes_(self) -> np.ndarray | list[np.ndarray]:
        """The labels as in estimators: an array, or a list of arrays for several outputs."""
        return classes_as_estimators_have_them(self.classes)

    @property
    def n_rows(self) -> int:
        """The number of stored rows."""
        return self.stored.n_rows

    @property
    def nbytes(self) -> int:
        """Bytes of the stored rows and targets."""
        return self.stored.nbytes

    def predict(self, X: Any, *, n_jobs: int | None = None, owner: str = "NeighborsModel") -> np.ndarray:
        """Predict a class label or a number for each row.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name if the model has names.
        n_jobs : int or None
            Threads; the result does not depend on it.
        owner : str
            The name of the caller in messages about the table.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target, the first of equally probable ones; float64 for regression.

        Raises
        ------
        ColumnError
            Columns are missing, duplicated or of another kind than at fit.
        UnseenLevelError
            A level that fit never saw, under ``unseen="error"``.
        MissingValueError
            A missing cell, which the metric does not accept.
        DataError
            An infinite cell, or a distance beyond float64.
        """
        return self._predicted(encoded_queries(self, X, owner), n_jobs)

    def _predicted(self, matrix: Any, n_jobs: int | None) -> np.ndarray:
        """Predictions for encoded rows."""
        if self.task == "classification":
            return labels_of(self.classes, self.codes_of(matrix, n_jobs))
        numbers = self.numbers_of(matrix, n_jobs)
        return numbers[:, 0] if self.n_outputs == 1 else numbers

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None, owner: str = "NeighborsModel"
    ) -> np.ndarray | list[np.ndarray]:
        """Predict class probabilities: the proportions among the neighbours, by their weights.

        Returns
        -------
        float64[n, n_classes], or a list of them for several outputs
            In the order of ``classes``; rows sum to one.

        Raises
        ------
        AttributeError
            The model predicts numbers.
        """
        if self.task == "regression":
            raise AttributeError("a regression model has no class probabilities; use predict")
        found = self.shares_of(encoded_queries(self, X, owner), n_jobs)
        return found[0] if self.n_outputs == 1 else found

    def predict_one(self, row: Any) -> Any:
        """Predict one row.

        Parameters
        ----------
        row : sequence of p cells, or mapping from column name to cell

        Returns
        -------
        scalar, or ndarray[n_outputs] for several outputs
            A label or a float, as an element of what ``predict`` returns.
        """
        predicted = self._predicted(encoded_row(self, row), 1)[0]
        return predicted.item() if self.task == "regression" and self.n_outputs == 1 else predicted

    def predict_proba_one(self, row: Any) -> Any:
        """Predict class probabilities for one row; a list of arrays for several outputs.

        Parameters
        ----------
        row : sequence of p cells, or mapping from column name to cell

        Raises
        ------
        AttributeError
            The model predicts numbers.
        """
        if self.task == "regression":
            raise AttributeError("a regression model has no class probabilities; use predict_one")
        each = [shares[0] for shares in self.shares_of(encoded_row(self, row), 1)]
        return each[0] if self.n_outputs == 1 else each

    def _encoded(self, X: Any, owner: str) -> Any:
        """The rows of a table, encoded for the metric."""
        return encoded_queries(self, X, owner)

    def codes_of(self, matrix: Any, n_jobs: int | None = None) -> np.ndarray:
        """Class codes of encoded rows: int64[n, n_outputs]."""
        if self.threshold is not None:
            return self.threshold.codes(self.shares_of(matrix, n_jobs)[0]).astype(np.int64)[:, None]
        found = self._votes(matrix, resolve_jobs(n_jobs), only_first=True)
        return np.concatenate(found, axis=1).astype(np.int64)

    def shares_of(self, matrix: Any, n_jobs: int | None = None) -> list[np.ndarray]:
        """Class probabilities of encoded rows: float64[n, n_classes] per output."""
        return self._votes(matrix, resolve_jobs(n_jobs), only_first=False)

    def numbers_of(self, matrix: Any, n_jobs: int | None = None) -> np.ndarray:
        """Predicted numbers of encoded rows: float64[n, n_outputs]."""
        values = self.stored.values
        assert values is not None  # noqa: S101 - regressors store values
        n_threads = resolve_jobs(n_jobs)
        return self._by_neighbors(
            matrix, n_threads, [self.n_outputs], lambda rows, weights: [means(values, rows, weights)]
        )[0]

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, *, n_jobs: int | None = None, owner: str = "NeighborsModel"
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nearest training rows.

        Parameters
        ----------
        X : table of n rows, or None
            None: the training rows, each without itself (a duplicate of it may be among its neighbours).
        n_neighbors : int, optional
            By default that of the model.
        n_jobs, owner
            As in ``predict``.

        Returns
        -------
        distances : float64[n, n_neighbors]
            Ascending.
        rows : int64[n, n_neighbors]
            Positions in the training table; among equal distances the lower one first.

        Raises
        ------
        ParameterError
            There are fewer rows than ``n_neighbors``.
        """
        n_threads = resolve_jobs(n_jobs)
        k = self._checked_k(n_neighbors, without_itself=X is None)
        matrix = None if X is None else encoded_queries(self, X, owner)
        m = self.n_rows if matrix is None else matrix.shape[0]
        check_fits(16 * m * k, f"{k} neighbours of each of {m} rows", "query fewer rows at a time")
        distances, rows = np.empty((m, k)), np.empty((m, k), np.int64)
        for first, last in _blocks(m, self._point_bytes, 32 * k):
            if matrix is None:
                found = self.stored.others(first, last, k, n_threads)
            else:
                points = self.stored.points_of(matrix[first:last])
                found = self.stored.nearest(points, k, n_threads, first)
            rows[first:last], distances[first:last] = found
        return distances, rows

    def radius_neighbors(
        self, X: Any, radius: Any, *, n_jobs: int | None = None, owner: str = "NeighborsModel"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The training rows within a radius of each row.

        Parameters
        ----------
        X : table of n rows, or None
            As in ``kneighbors``.
        radius : float >= 0
        n_jobs, owner
            As in ``predict``.

        Returns
        -------
        offsets : int64[n + 1]
            The rows found for row i are at ``offsets[i]:offsets[i + 1]``.
        distances : float64
            Ascending for each row.
        rows : int64

        Raises
        ------
        ParameterError
            The radius is not a number >= 0.
        TooLargeError
            The result does not fit in memory.
        """
        if (
            isinstance(radius, bool)
            or not isinstance(radius, int | float | np.integer | np.floating)
            or not radius >= 0
        ):
            raise ParameterError(f"radius={shown(radius)}: give a distance >= 0")
        n_threads = resolve_jobs(n_jobs)
        matrix = None if X is None else encoded_queries(self, X, owner)
        m = self.n_rows if matrix is None else matrix.shape[0]
        counts, distances, rows, n_found = [np.zeros(1, np.int64)], [], [], 0
        # Blocks are so small that memory suffices even if each row finds every stored one.
        most = (available_memory() or 2**33) // (_FOUND_BYTES * self.n_rows)
        for first, last in _blocks(m, self._point_bytes + 1024, 1, most):
            points = self.stored.points[first:last] if matrix is None else self.stored.points_of(matrix[first:last])
            offsets, near, far = self.stored.within(points, float(radius), n_threads)
            if matrix is None:
                asking = np.repeat(np.arange(first, last), np.diff(offsets))
                others = near != asking
                near, far = near[others], far[others]
                offsets = np.concatenate([[0], np.cumsum(np.bincount(asking[others] - first, minlength=last - first))])
            n_found += len(near)
            check_fits(
                16 * n_found, f"{n_found} rows within the radius", "give a smaller radius, or fewer rows at a time"
            )
            counts.append(np.diff(offsets))
            rows.append(near)
            distances.append(far)
        if not rows:
            return np.cumsum(np.concatenate(counts)), np.empty(0), np.empty(0, np.int64)
        return np.cumsum(np.concatenate(counts)), np.concatenate(distances), np.concatenate(rows)

    def export(self, path: Any, **options: Any) -> None:
        """Refuse to export: nearest neighbours have no trees.

        Raises
        ------
        ParameterError
            Always.
        """
        del options
        raise ParameterError(f"{path}: export writes trees, and this model has none: it is one of nearest neighbours")

    @property
    def positive(self) -> Any:
        """The label of the positive class of two, as ``Model.positive``; else None."""
        return positive_label(self)

    def with_threshold(self, at: float | None, *, positive: Any = None) -> NeighborsModel:
        """The same model with a decision threshold; as ``Model.with_threshold``."""
        code = positive_code(self)
        return replace(self, threshold=threshold_given(self.classes, at, positive, usual=1 if code is None else code))

    def show(self) -> str:
        """The stored rows, the metric and the cost of a prediction, as text."""
        return _text(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, with the stored rows. An old file is replaced only when the new one is complete.

        Raises
        ------
        InputFileError
            The file cannot be written.
        ParameterError
            The metric or the weights are a function, which a file cannot hold.
        """
        from treewright.neighbors import codec

        codec.save(self, path)

    def _checked_k(self, n_neighbors: Any, *, without_itself: bool) -> int:
        """The number of neighbours to look for."""
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not is_whole(k) or k < 1:
            raise ParameterError(f"n_neighbors={shown(k)}: give a whole number >= 1")
        most = self.n_rows - int(without_itself)
        if k > most:
            beside = " other than the row itself" if without_itself else ""
            raise ParameterError(f"n_neighbors={k} > {most} stored row(s){beside}: give a smaller n_neighbors")
        return int(k)

    def _votes(self, matrix: Any, n_threads: int, *, only_first: bool) -> list[np.ndarray]:
        """Per output the class probabilities, float64[m, n_classes]; or only the first of the most probable, [m, 1]."""
        codes = self.stored.codes
        assert codes is not None  # noqa: S101 - classifiers store codes
        sizes = [len(labels) for labels in self.classes]

        def vote(rows: np.ndarray, weights: np.ndarray | None) -> list[np.ndarray]:
            found = [shares(codes[rows, at], weights, size) for at, size in enumerate(sizes)]
            return [probabilities.argmax(axis=1)[:, None] for probabilities in found] if only_first else found

        return self._by_neighbors(matrix, n_threads, [1] * len(sizes) if only_first else sizes, vote)

    def _by_neighbors(
        self,
        matrix: Any,
        n_threads: int,
        widths: list[int],
        vote: Callable[[np.ndarray, np.ndarray | None], list[np.ndarray]],
    ) -> list[np.ndarray]:
        """The results of ``vote`` for each row's neighbours, block by block: float64[m, width] for each width."""
        m, k = matrix.shape[0], self.n_neighbors
        check_fits(8 * m * sum(widths), f"the predictions for {m} rows", "predict fewer rows at a time")
        results = [np.empty((m, width)) for width in widths]
        more = int(wants_next(self.weights) and k < self.n_rows)
        n_classes = sum(len(labels) for labels in self.classes)
        for first, last in _blocks(m, self._point_bytes, 64 * (k + more) + 24 * n_classes):
            points = self.stored.points_of(matrix[first:last])
            rows, distances = self.stored.nearest(points, k + more, n_threads, first)
            following = distances[:, k] if more else None
            weights = weights_of(distances[:, :k], following, self.weights)
            for result, voted in zip(results, vote(rows[:, :k], weights), strict=True):
                result[first:last] = voted
        return results

    @property
    def _point_bytes(self) -> int:
        """Bytes of a row in the coordinates of the metric, and of its computation."""
        points: Any = self.stored.points
        return 12 * points.nnz // self.n_rows if self.stored.is_sparse else 16 * points.shape[1]

    def __repr__(self) -> str:
        size = f"{self.n_columns} columns, {self.n_rows} rows, {self.n_neighbors} neighbours"
        return f"<treewright.NeighborsModel: {self.task}, {size}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.show())}</pre>"


def _blocks(m: int, point_bytes: int, found_bytes: int, most: int | None = None) -> Iterator[tuple[int, int]]:
    """First and last + 1 of blocks of up to ``most`` rows, by the bytes of a row's point and of its results.

    Each of the two takes at most ``_BLOCK_BYTES``; more only if blocks of so few rows would be searched slowly.
    """
    size = min(max(256, _BLOCK_BYTES // max(1, point_bytes)), max(_LEAST_ROWS, _BLOCK_BYTES // found_bytes))
    size = size if most is None else max(1, min(size, most))
    for first in range(0, m, size):
        yield first, min(first + size, m)


def encoded_queries(model: NeighborsModel, X: Any, owner: str) -> Any:
    """The rows, encoded for ``Metric.points``: float[n, p], or csr_matrix of float64 if the model's rows are sparse."""
    schema = model.schema
    if schema is None:
        return _sparse_queries(model, X, owner)
    return _settled(
        model, lambda: encode(schema, X, unseen=UNSEEN[model.unseen], missing="distance", owner=owner)
    )  # fmt: skip


def encoded_row(model: NeighborsModel, row: Any) -> Any:
    """One row as ``encoded_queries`` gives it; parameters and errors as ``NeighborsModel.predict_one``."""
    schema, owner = model.schema, type(model).__name__
    if schema is None:
        return _sparse_queries(model, [row] if isinstance(row, list | tuple) else np.asarray(row)[None], owner)
    return _settled(
        model, lambda: encode_row(schema, row, unseen=UNSEEN[model.unseen], missing="distance", owner=owner)[None]
    )


def _settled(model: NeighborsModel, read: Callable[[], np.ndarray]) -> np.ndarray:
    """The rows that ``read`` returns; an error about missing cells is raised before warnings about them."""
    with listening() as notices:
        matrix = read()
    # All rows at once: with blocks, the message would count the rows of a block.
    model.stored.metric.check(matrix, model.schema)
    notices.tell(1, "tables")
    return matrix


def _sparse_queries(model: NeighborsModel, X: Any, owner: str) -> csr_matrix:
    """Rows for a model of sparse rows; dense ones are accepted as well."""
    from scipy.sparse import csr_matrix

    if not is_sparse(X):
        table = read_table(X)
        if table.matrix is None:
            raise DataError(f"{owner} was fitted on sparse rows: X must hold numbers only")
        X = csr_matrix(table.matrix)
    if len(X.shape) == MATRIX_DIMENSIONS and X.shape[1] != model.n_columns:
        raise ColumnError(f"X has {X.shape[1]} features, but {owner} is expecting {model.n_columns} features as input")
    if X.shape[0] == 0:
        return csr_matrix((0, model.n_columns))
    return checked_rows(X)


def _text(model: NeighborsModel) -> str:
    """The stored rows, the metric and the cost of a prediction, as text.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.KNeighborsClassifier(n_neighbors=1).fit([[1.0], [2.0], [4.0]], ["a", "b", "b"])
    >>> print(est.show())
    1 nearest neighbour, classification
    metric      euclidean
    weights     uniform
    rows        3 with 1 column
    classes     2: 'a' (1), 'b' (2)
    stored      36 bytes
    search      all rows, by matrix products
    prediction  3 rows x 1 column are compared
    """
    stored = model.stored
    k = model.n_neighbors
    lines = [f"{k} nearest neighbour{'s' if k > 1 else ''}, {model.task}"]
    weights = model.weights if isinstance(model.weights, str) else "a function of the distances"
    width = f"{model.n_columns} column{'s' if model.n_columns > 1 else ''}"
    metric = model.stored.metric
    name = f"{metric.name} (p = {metric.p:g})" if metric.name == "minkowski" else metric.name
    table = [("metric", name), ("weights", weights), ("rows", f"{model.n_rows} with {width}")]
    table += _scales(model) + _targets(model)
    search = search_for(stored.metric, stored.points, stored.algorithm)
    if decides := decision_text(model):
        table.append(("threshold", decides) if model.threshold is not None else ("positive", decides))
    table += [
        ("stored", _size(stored.nbytes)),
        ("search", _SEARCHES[search]),
        ("prediction", _cost(model, search, width)),
    ]
    return "\n".join([*lines, *(f"{name:<11} {text}" for name, text in table)])


def _scales(model: NeighborsModel) -> list[tuple[str, str]]:
    """The factors of the columns."""
    scales = model.stored.metric.scales
    if scales is None:
        return []
    names = [f"x{at}" for at in range(len(scales))] if model.schema is None else model.schema.names
    parts = [f"{name} x {scale:.4g}" for name, scale in zip(names[:_MOST], scales.tolist(), strict=False)]
    return [("scales", _listed(parts, len(scales)))]


def _targets(model: NeighborsModel) -> list[tuple[str, str]]:
    """Classes with their rows, or the range of the numbers, per output."""
    stored, lines = model.stored, []
    for output in range(model.n_outputs):
        name = f" {model.target_names[output]}" if model.n_outputs > 1 and model.target_names else ""
        if stored.codes is not None:
            labels = model.classes[output]
            counts = np.bincount(stored.codes[:, output], minlength=len(labels)).tolist()
            parts = [f"{shown(label)} ({count})" for label, count in zip(labels[:_MOST].tolist(), counts, strict=False)]
            lines.append(("classes", f"{len(labels)}{name}: {_listed(parts, len(labels))}"))
        elif stored.values is not None:
            column = stored.values[:, output]
            lines.append(("target", f"{column.min():.6g} to {column.max():.6g}{name}"))
    return lines


def _listed(parts: list[str], total: int) -> str:
    more = f", and {total - len(parts)} more" if total > len(parts) else ""
    return ", ".join(parts) + more


def _size(nbytes: int) -> str:
    """A number of bytes in words."""
    if nbytes < 1024:
        return f"{nbytes} bytes"
    power = min(3, (nbytes.bit_length() - 1) // 10)
    return f"{nbytes / 1024**power:.1f} {('KiB', 'MiB', 'GiB')[power - 1]}"


def _cost(model: NeighborsModel, search: str, width: str) -> str:
    """The number of distances or cells that one prediction compares."""
    if search == "sparse":
        points: Any = model.stored.points
        return f"the {points.nnz} nonzero cells in the columns that the row has, at most"
    if search == "kd_tree":
        return f"at most {model.n_rows} rows x {width} are compared, fewer if near rows are found early"
    if search == "given":
        return f"{model.n_rows} distances are compared"
    return f"{model.n_rows} rows x {width} are compared"
