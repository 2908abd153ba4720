"""Held-out rows, chosen by their contents, and rows that a user gives to evaluate rounds. In: a dataset. Out: rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.boosting.sampling import GradientWeights, names_of_rows
from treewright.core.random import mixed
from treewright.data.cells import shown
from treewright.data.dataset import Dataset
from treewright.data.encoder import encode
from treewright.data.memory import check_fits
from treewright.data.row_content import hash_content, shuffled
from treewright.data.schema import Schema
from treewright.data.take import warn_of_another_order
from treewright.data.target import (
    Factors,
    Labels,
    Numbers,
    check_lengths,
    check_weights,
    encode_labels,
    encode_numbers,
    recode,
    weighed,
)
from treewright.exceptions import DataError, TreewrightError


def encode_other_rows(
    X: Any,
    y: Any,
    sample_weight: Any,
    schema: Schema,
    classes: tuple[np.ndarray, ...],
    n_outputs: int,
    factors: Factors | None,
    *,
    unseen: str,
    owner: str,
    named: str = "evaluation rows (X_val, y_val, sample_weight_val): ",
) -> Dataset:
    """Encode rows as the model that is being fitted will; rows of weight 0 are left out.

    ``X``, ``y``, ``sample_weight``: as ``fit`` takes them. ``schema``, ``classes``, ``n_outputs``, ``factors``: of the
    rows of the fit. ``named``: the name of these rows in errors. Raises ``DataError``: what ``fit`` refuses, and labels
    that the training rows do not have.
    """
    if named:
        warn_of_another_order(X, "X_val", y_val=y, sample_weight_val=sample_weight)
    else:
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
    with _named_in_errors(named):
        matrix = encode(schema, X, unseen=unseen, missing="direction", owner=owner, sparse=True)
        target: Labels | Numbers
        if classes:
            labels = encode_labels(y)
            check_lengths(len(matrix), labels)
            _refuse_unknown_labels(labels, classes)
            target = Labels(recode(labels, classes), classes, labels.names, labels.flat)
        else:
            target = encode_numbers(y)
            check_lengths(len(matrix), target)
            if target.values.shape[1] != n_outputs:
                raise DataError(f"y has {target.values.shape[1]} outputs, but the y of fit has {n_outputs}")
        own = check_weights(sample_weight, len(matrix))
        weights = weighed(own, factors, target[0])
        rows = Dataset(schema, matrix, target, weights, own, factors)
        return rows if weights is None or weights.all() else rows.take(weights > 0)


@contextmanager
def _named_in_errors(named: str) -> Iterator[None]:
    """Make errors name these rows, not those of the fit."""
    try:
        yield
    except TreewrightError as error:
        raise error.worded(str, named) from None


def _refuse_unknown_labels(labels: Labels, classes: tuple[np.ndarray, ...]) -> None:
    """Refuse labels that the fit does not know."""
    for output, (own, known) in enumerate(zip(labels.classes, classes[: len(labels.classes)], strict=False)):
        places = set(known.tolist())
        is_unknown = np.array([label not in places for label in own.tolist()])
        rows = np.flatnonzero(is_unknown[labels.codes[:, output]])
        if len(rows):
            label = own.tolist()[labels.codes[rows[0], output]]
            more = ", ..." if len(known) > 10 else ""
            raise DataError(
                f"y has {len(rows)} row(s) with a label that the training rows do not have (first row {rows[0]}: "
                f"{shown(label)}); they have {', '.join(shown(each) for each in known.tolist()[:10])}{more}: leave "
                "these rows out, or add training rows of that class"
            )


def held_out(
    target: np.ndarray, names: np.ndarray, share: float, seed: int, *, by_class: bool, member: int = 0
) -> np.ndarray:
    """Which rows are held out, bool[n]: a share sampled at random, the same share of each class.

    The sample depends on the contents of rows, not on their order. Equal rows are sampled one by one: in a table of
    many equal rows (a survey, counts) those held out have the proportions of those that stay. The first row sampled of
    each class is not held out, because trees know only the classes of their rows.

    ``target`` (int32[n, n_outputs] or float64[n, n_outputs]). ``names`` (uint64[n], distinct): see ``names_of``.
    ``member``: each holds out other rows; a row is held out again only when all have been. Raises ``DataError``: no row
    would be held out, or none left.
    """
    n = len(names)
    order = shuffled(names, mixed(seed % 2**64, int(member * share + 1e-9)))
    may_go = np.ones(n, bool)
    if by_class:
        one = target.shape[1] == 1  # sorting tuples would take half of the time
        group = target[:, 0] if one else np.unique(target, axis=0, return_inverse=True)[1].ravel()
        order = order[np.argsort(group[order], kind="stable")]
        for codes in target.T:
            may_go[order[np.unique(codes[order], return_index=True)[1]]] = False
    # Where the whole part of share * position rises: as many rows as the share says, evenly along the order. A start in
    # the middle of a step takes as many of a class as its share, rounded; the next member starts a position later.
    reached = np.floor((np.arange(n + 1) + member) * share + 0.5)
    is_out = np.zeros(n, bool)
    is_out[order[reached[1:] > reached[:-1]]] = True
    if is_out.any() and not (is_out & may_go).any():  # seven rows of two classes: the only one is the first of a class
        is_out[order[may_go[order]][:1]] = True
    is_out &= may_go
    if not is_out.any() or is_out.all():
        raise DataError(
            f"{n} rows are too few to hold out the share {share:g} of them for early stopping: give more rows, another "
            "validation_fraction or n_members, or a number of rounds (n_estimators) without early_stopping"
        )
    return is_out


def number_of_rows(dataset: Dataset) -> int:
    """How many rows there are; a row with a whole weight k counts as k."""
    if dataset.is_remote:
        return int(dataset.matrix.n_rows)
    repeats = GradientWeights.of(dataset.sample_weight).repeats
    return len(dataset) if repeats is None else int(repeats.sum(dtype=np.int64))


def rows_one_by_one(dataset: Dataset) -> Dataset:
    """The rows without whole weights, a row of weight k as k rows: so copies can be sampled alone."""
    repeats = GradientWeights.of(dataset.sample_weight).repeats
    return dataset if repeats is None else _with_weights(dataset, _copies(dataset, repeats), None)


def _copies(dataset: Dataset, repeats: np.ndarray, *, n_bytes: int | None = None) -> np.ndarray:
    """The position of each row as often as it counts; refused if ``n_bytes`` for each, or its cells, do not fit."""
    n_rows = int(repeats.sum(dtype=np.int64))
    if n_bytes is None:
        n_bytes = 8 if dataset.is_sparse else dataset.matrix.itemsize * len(dataset.schema) + 8
    check_fits(n_rows * n_bytes, f"sampling {n_rows:,} rows (sample_weight) one by one",
               "divide the weights by a number, or sample no rows")  # fmt: skip
    return np.repeat(np.arange(len(dataset)), repeats)


def _with_weights(dataset: Dataset, rows: np.ndarray, sample_weight: np.ndarray | None) -> Dataset:
    """Some of the rows, by position, with other weights."""
    taken = dataset.take(rows)
    weights = weighed(sample_weight, taken.class_factors, taken.target_array)
    return replace(taken, sample_weight=sample_weight, weights=weights)


_BYTES_OF_NAME = 64  # of a copy: its position, content and name, and the orders of all


def parts_of(dataset: Dataset, share: float, seed: int, *, is_written_out: bool) -> tuple[Dataset, Dataset]:
    """The rows on which trees are grown, and the held-out rows that evaluate them.

    Of a row of whole weight k, each copy may be held out, so it can be in both parts. There it is one row of a smaller
    weight: a table of counts may stand for millions of rows.

    ``is_written_out``: whether held-out copies are rows, as a user's own score needs them, which knows no weights.
    """
    n, repeats = len(dataset), GradientWeights.of(dataset.sample_weight).repeats
    row_of = np.arange(n) if repeats is None else _copies(dataset, repeats, n_bytes=_BYTES_OF_NAME)
    weights = None if dataset.sample_weight is None else dataset.sample_weight[row_of]
    names = names_of_rows(contents_of(dataset)[row_of], weights)
    is_out = held_out(dataset.target_array[row_of], names, share, seed, by_class=bool(dataset.classes))
    # A user's own score may depend on the order of the rows.
    others = row_of[is_out][np.argsort(names[is_out], kind="stable")]
    if repeats is None:
        return dataset.take(~is_out), dataset.take(others)
    n_out = np.bincount(others, minlength=n)
    kept, held = np.flatnonzero(n_out < repeats), np.flatnonzero(n_out)
    training = _with_weights(dataset, kept, (repeats - n_out)[kept].astype(np.float64))
    if is_written_out:
        return training, _with_weights(dataset, others, None)
    return training, _with_weights(dataset, held, n_out[held].astype(np.float64))


def contents_of(dataset: Dataset) -> np.ndarray:
    """uint64[n]: a hash of each row with its target."""
    hashes = np.zeros(len(dataset), np.uint64)
    hash_content(dataset.target_array, dataset.matrix, hashes)
    return hashes


def names_of(dataset: Dataset) -> np.ndarray:
    """uint64[n], distinct: a name for each row, by which it is sampled; it depends on contents, not on positions."""
    return names_of_rows(contents_of(dataset), dataset.sample_weight)
