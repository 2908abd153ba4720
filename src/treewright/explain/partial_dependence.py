"""How what a model says depends on a column. In: a model, rows, a column or two. Out: ``DependenceTable``.

Callers: model.dependence, reporting.columns_part.

The column is set to one value in every row and the model is asked; the mean over the rows is the partial dependence at
that value (Friedman 2001, "Greedy function approximation: a gradient boosting machine", The Annals of Statistics 29,
section 8.2), the single rows are the individual conditional expectations (Goldstein, Kapelner, Bleich and Pitkin 2015,
"Peeking inside the black box", Journal of Computational and Graphical Statistics 24). Rows are encoded once; the model
reads blocks of copies of them, with as many values of the grid as a block holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.core.whole import is_whole, whole_number
from treewright.data.cells import shown
from treewright.data.encoder import encode
from treewright.data.memory import check_fits
from treewright.data.target import check_weights
from treewright.exceptions import DataError, ParameterError
from treewright.explain.dependence_axis import GRID_OF_TWO, Axis, axis_of, drawn, position_of
from treewright.explain.dependence_table import DependenceTable
from treewright.model.data import ModelData
from treewright.predict.values import predict_numbers, predict_shares
from treewright.tree.writing import written_level, written_name

# Of the copies of the rows that the model reads at a time.
BLOCK_BYTES = 2**24
REMEDY = "give fewer rows (rows=), a coarser grid, or fewer individual lines"


def partial_dependence(
    model: ModelData,
    X: Any,
    column: Hashable,
    second: Hashable | None = None,
    *,
    grid: Any = None,
    label: Hashable | None = None,
    output: int = 0,
    individual: int = 0,
    rows: int | None = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    owner: str = "Model",
) -> DependenceTable:
    """Tell what the model says on average when a column has this or that value.

    Parameters
    ----------
    model : ModelData
        Of one or many trees.
    X : table of n rows
        All other columns are as they are here.
    column : hashable
        Its name or position.
    second : hashable, optional
        Another column: then the answers are of every pair of values.
    grid : int >= 2, sequence of values, or a pair of them, optional
        Of a numeric column so many of its values in X: all of them, or its quantiles and, where many rows are equal,
        quantiles of its other values. Or the values themselves, numbers or levels. Of two columns a pair
        ``(of the first, of the second)``, or a number for both. Default: 40 numbers, 20 of a pair; the 30 levels that
        X holds most of.
    label : hashable, optional
        A class: the answers are its shares. Default: of two classes the second one, of more all of them.
    output : int
        Which of several targets or quantiles.
    individual : int >= 0
        So many rows, drawn from X, are kept one by one. Not with ``second``.
    rows : int >= 1, optional
        At most so many rows of X count, drawn from it.
    sample_weight : n numbers >= 0, optional
        What rows of X weigh in the mean.
    random_state : int >= 0
        Of what is drawn.
    n_jobs : int or None
        Threads; the result does not depend on it.
    owner : str
        Who is named in messages about the table.

    Returns
    -------
    DependenceTable
        Print it, or take ``values``, ``individual`` or ``to_dict()``; ``Model.partial_dependence`` and estimators
        give it with ``plot()``. Of classes shares, of boosted trees
        too; of numbers what ``predict`` says.

    Raises
    ------
    ParameterError
        There is no such column, class or output; a parameter is out of range.
    DataError
        The table was refused, holds no rows, or no value of the column.
    TooLargeError

    Notes
    -----
    The rows that a grid makes need not exist: where columns go together, the model is asked about rows that it has
    never seen the like of. Individual lines that run apart tell that the mean hides something.

    Examples
    --------
    >>> import treewright as tw
    >>> from treewright.explain.partial_dependence import partial_dependence
    >>> est = tw.DecisionTreeRegressor().fit({"rain": [0, 1, 5, 9], "sun": [9, 7, 2, 1]}, [4.0, 4.0, 1.0, 1.0])
    >>> print(partial_dependence(est.model_, {"rain": [0, 9], "sun": [9, 1]}, "rain", grid=[0, 2, 4, 8]))
    what the model says on average over 2 rows, with rain set to each value
    rain      y
       0  4.000
       2  4.000
       4  1.000
       8  1.000
    """
    schema = model.schema
    at = [position_of(schema, each) for each in ((column,) if second is None else (column, second))]
    if len(set(at)) < len(at):
        raise ParameterError(f"second={shown(second)} is the first column once more: give another one")
    matrix = encode(schema, X, unseen=model.unseen, owner=owner, missing=model.missing)
    own = _weights(sample_weight, matrix)
    at_most = None if rows is None else whole_number("rows", rows, 1)
    kept = np.arange(len(matrix)) if own is None else np.flatnonzero(own > 0)
    seed = whole_number("random_state", random_state, 0)
    kept = drawn(kept, at_most, seed)
    if not len(kept):
        raise DataError("X has no rows: partial dependence is a mean over rows")
    if len(kept) < len(matrix):
        matrix, own = matrix[kept], None if own is None else own[kept]
    n_lines = whole_number("individual", individual, 0)
    if n_lines and second is not None:
        raise ParameterError("individual lines are of one column: leave second or individual out")
    grids = _grids(grid, len(at))
    columns = [schema.columns[place] for place in at]
    axes = [axis_of(*each) for each in zip(columns, at, matrix[:, at].T, grids, strict=True)]
    lines = drawn(np.arange(len(matrix)), n_lines, seed, 1)
    codes = _labels(model, label, output)
    said = SaidOf(
        model.task, said_by(model, output), labels_of(model, output, codes), _answers(model, output, codes, n_jobs)
    )
    return replace(dependence(said, matrix, axes, lines=lines, weights=own), rows=kept[lines])


@dataclass(frozen=True)
class SaidOf:
    """What a model says of encoded rows, and what that is.

    Attributes
    ----------
    task : {"classification", "regression"}
    name : str
        Of the target, ready to be read.
    labels : tuple
        The classes whose shares are said; empty for numbers.
    answers : callable
        float64[n, n_said] of float64[n, p].
    """

    task: str
    name: str
    labels: tuple[Hashable, ...]
    answers: Callable[[np.ndarray], np.ndarray]


def dependence(
    said: SaidOf, matrix: np.ndarray, axes: Sequence[Axis], *, lines: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> DependenceTable:  # fmt: skip
    """As ``partial_dependence``, of rows that are encoded and a model of any kind.

    Parameters
    ----------
    said : SaidOf
    matrix : float64[n, p], n >= 1
    axes : sequence of one or two Axis
    lines : int64[m], optional
        The rows that are kept one by one.
    weights : float64[n], > 0, optional
    """
    lines = np.empty(0, np.int64) if lines is None else lines
    points = _pairs(axes)
    n, n_points, n_said = len(matrix), len(points), max(1, len(said.labels))
    check_fits(8 * (matrix.size + n_points * n_said * len(lines)), "copies of the rows", REMEDY)
    per_block = max(1, min(n_points, BLOCK_BYTES // max(1, matrix[0].nbytes * n)))
    copies = np.tile(np.asarray(matrix, np.float64), (per_block, 1))
    means, single = np.empty((n_said, n_points)), np.empty((n_said, len(lines), n_points))
    for begin in range(0, n_points, per_block):
        block = points[begin : begin + per_block]
        used = copies[: len(block) * n]
        for axis, values in zip(axes, block.T, strict=True):
            used[:, axis.position] = np.repeat(values, n)
        answers = said.answers(used)
        for place in range(len(block)):
            # A mean over arrays of the same shape whatever the size of a block, so that it changes no bit.
            own = np.ascontiguousarray(answers[place * n : (place + 1) * n].T)
            means[:, begin + place] = [_mean(each, weights) for each in own]
            single[:, :, begin + place] = own[:, lines]
    shape = tuple(len(axis.values) for axis in axes)
    return DependenceTable(
        said.task, said.name, said.labels, tuple(axes), means.reshape(n_said, *shape), single, lines, n
    )


def labels_of(model: Any, output: int, codes: Sequence[int]) -> tuple[Hashable, ...]:
    """Return the labels of some classes as Python scalars; none of numbers."""
    return tuple(model.classes[output][list(codes)].tolist()) if len(codes) else ()


def default_labels(model: Any, output: int) -> tuple[int, ...]:
    """Return the classes that are told of by themselves: of two the second, of more all."""
    n = len(model.classes[output]) if model.classes else 0
    return (1,) if n == 2 else tuple(range(n))


def said_by(model: Any, output: int) -> str:
    """Return what the answers are: the name of a target, ``y`` where it has none."""
    names = model.target_names
    return written_name(names[output]) if output < len(names) else "y" if model.n_outputs == 1 else f"y{output}"


def _grids(grid: Any, n_axes: int) -> tuple[Any, ...]:
    """The grid of each column."""
    if n_axes == 1:
        return (grid,)
    if grid is None:
        return GRID_OF_TWO, GRID_OF_TWO
    if is_whole(grid):
        return grid, grid
    if isinstance(grid, str) or not hasattr(grid, "__len__") or len(grid) != 2:
        raise ParameterError("grid of two columns: give a number, or a pair (of the first, of the second)")
    return tuple(grid)


def _pairs(axes: Sequence[Axis]) -> np.ndarray:
    """float64[n_points, n_axes]: every point of the grid, the last column the fastest."""
    return np.stack([each.ravel() for each in np.meshgrid(*(axis.cells for axis in axes), indexing="ij")], axis=1)


def _answers(
    model: ModelData, output: int, codes: Sequence[int], n_jobs: int | None
) -> Callable[[np.ndarray], np.ndarray]:
    """What a model of trees says of rows: shares of these classes, or numbers."""
    if model.task == "classification":
        return lambda rows: predict_shares(model, rows, n_jobs)[output][:, list(codes)]
    return lambda rows: predict_numbers(model, rows, n_jobs)[:, [output]]


def _mean(answers: np.ndarray, weights: np.ndarray | None) -> float:
    """The weighted mean of some answers; finite where they are."""
    exponent = int(np.frexp(np.abs(answers).max())[1])
    # Sums near the end of float64 would overflow; a power of two changes no digit.
    small = np.ldexp(answers, -exponent) if exponent > 900 else answers
    if weights is None:
        mean = float(small.sum()) / len(small)
    else:
        share = weights / weights.max()
        mean = float((small * share).sum() / share.sum())
    return float(np.ldexp(mean, exponent)) if exponent > 900 else mean


def _weights(sample_weight: Any, matrix: np.ndarray) -> np.ndarray | None:
    """float64[n] or None."""
    if sample_weight is None:
        return None
    given = check_weights(sample_weight, len(matrix))
    return None if given is None else given.astype(np.float64)


def _labels(model: ModelData, label: Any, output: Any) -> tuple[int, ...]:
    """Positions of the classes that are told of."""
    n = model.n_outputs
    if not is_whole(output) or not 0 <= output < n:
        raise ParameterError(f"output={output!r}: the model predicts {n} target(s), counted from 0")
    if model.task == "regression":
        if label is not None:
            raise ParameterError(f"label={shown(label)}: the model predicts numbers, it has no classes")
        return ()
    if label is None:
        return default_labels(model, int(output)) or (0,)
    known = model.classes[int(output)].tolist()
    if label not in known:
        have = ", ".join(written_level(each) for each in known[:12])
        raise ParameterError(f"label={shown(label)} is no class of the model; there are {have}")
    return (known.index(label),)
