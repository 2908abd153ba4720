"""What would have to change for another prediction. In: a model of one tree, a row. Out: ``Counterfactual``.

The nearest row with another prediction explains a prediction without a look into the model (Wachter, Mittelstadt and
Russell 2018, Harvard Journal of Law & Technology 31, 841-887). On one tree the nearest row is known exactly: it lies at
the edge of a leaf, which ``explain.cheapest_leaf`` finds. This module reads the row and the wanted prediction and puts
the changes into words.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from treewright.data.cells import Cells, shown
from treewright.data.derived import is_derived
from treewright.data.encoder import encode, encode_table
from treewright.data.schema import Column, Schema
from treewright.data.table import Table, read_table
from treewright.exceptions import ColumnError, DataError, ParameterError
from treewright.explain.cheapest_leaf import Path, Query, Reached, cheapest_leaf, nearest_value
from treewright.explain.rules import plain_label, readable_cuts
from treewright.predict.ensemble import leaf_table, predict_codes, predict_leaves, predict_numbers
from treewright.trees.arrays import INTERVALS, THRESHOLD, Tree, path_to
from treewright.trees.data import ModelData
from treewright.trees.summary import counted
from treewright.trees.tests import Bound, chosen, narrowed, node_cuts, ordinal_levels
from treewright.trees.wording import clock_of
from treewright.trees.writing import shorten, written_cut, written_level, written_name, written_number, written_set

MAX_LEVELS, NAME_WIDTH = 6, 200


@dataclass(frozen=True)
class Change:
    """What one column would have to become.

    Attributes
    ----------
    column : hashable
        The column's name.
    feature : int
        Its position in the schema.
    before, after : object
        The cell as given, None where it is missing, and the nearest value that will do: a number, or a level.
    distance : float
        How far that is: 1 for a level of a nominal column and for a missing cell, for an ordinal column the levels in
        between and one, for a number the difference over the column's scale.
    bound : str
        All that will do, such as ``more than 2.45 and at most 4.95``.
    text : str
        The change in words, such as ``petal length (cm): 1.4 -> more than 2.45 and at most 4.95``.
    """

    column: Hashable
    feature: int
    before: Any
    after: Any
    distance: float
    bound: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Counterfactual:
    """The nearest row with another prediction.

    Attributes
    ----------
    wanted : str
        The wanted prediction, in words.
    before, after : object
        What the model predicts for the row, and for the changed one: labels or numbers, tuples of them for several
        targets. ``after`` is None if nothing was found.
    changes : tuple of Change
        In the order of the tests; empty if the wanted prediction is made for the row as it is, or if nothing was found.
    leaf : int or None
        Where the changed row ends, as ``apply`` gives it.
    cost : tuple of int and float, or None
        How many columns change, and the sum of their distances.
    row : dict, list, or None
        The changed row, as ``predict_one`` takes it: by name, or a list if the model knows no names.
    exact : bool
        Whether no row with this prediction is nearer. False only if surrogates leave too many choices about missing
        cells.
    why : str
        Why nothing was found; else empty.
    predicted_before, predicted_after : str
        ``before`` and ``after`` in words.
    """

    wanted: str
    before: Any
    after: Any
    changes: tuple[Change, ...]
    leaf: int | None
    cost: tuple[int, float] | None
    row: Any
    exact: bool
    why: str
    predicted_before: str
    predicted_after: str

    @property
    def found(self) -> bool:
        """Whether a row was found."""
        return self.leaf is not None

    @property
    def table(self) -> Any:
        """The changed row as a table, as ``predict`` takes it; None where nothing was found."""
        if isinstance(self.row, dict):
            return {name: [cell] for name, cell in self.row.items()}
        return None if self.row is None else [list(self.row)]

    def __str__(self) -> str:
        now = f"predicted: {self.predicted_before}"
        if not self.found:
            return f"{now}\n{self.wanted}: {self.why}"
        if not self.changes:
            return f"{now}\n{self.wanted}: nothing has to change (leaf {self.leaf})"
        many = counted(len(self.changes), "column has", "columns have")
        about = "" if self.exact else ", possibly not the smallest change"
        lines = [now, f"{self.wanted}: {many} to change (leaf {self.leaf}, predicts {self.predicted_after}{about})"]
        return "\n".join([*lines, *(f"  {change.text}" for change in self.changes)])

    def __repr__(self) -> str:
        what = counted(len(self.changes), "change") if self.found else "not found"
        return f"<treewright.Counterfactual: {self.wanted}, {what}>"


def counterfactual(
    model: ModelData,
    row: Any,
    to: Any = None,
    *,
    at_least: Any = None,
    at_most: Any = None,
    keep: Iterable[Hashable] = (),
    like: Any = None,
    owner: str = "Model",
) -> Counterfactual:
    """Find what would have to change in a row for another prediction.

    Parameters
    ----------
    model : ModelData
        Of one tree.
    row : mapping from column name to cell, sequence of p cells, or table of one row
    to : class label, optional
        The wanted prediction; for several targets a sequence with a label per target, None for any. Without it
        every other prediction will do.
    at_least, at_most : number, optional
        The same for regression: the wanted prediction is not below, not above this. For several targets a sequence.
    keep : column names or positions
        Columns that must stay as they are.
    like : table, optional
        Rows that give the distance of each numeric column that counts as 1: the median distance from its median
        (Wachter et al. 2018). Without it that is the distance between the lowest and the highest cut of the column in
        the tree, of one cut its size.
    owner : str
        Who is named in messages.

    Returns
    -------
    Counterfactual
        Its ``row`` has the wanted prediction. Of all such rows it is the one with the fewest changed columns, of these
        the one with the least sum of distances (`Change`), of these the one in the leaf with the lowest number.
        ``found`` is False where there is none.

    Raises
    ------
    ParameterError
        ``to`` is not a class of the model; ``to`` is given for regression, or a number for classification; neither
        number is given for regression; ``keep`` names no column.
    DataError
        The row was refused.

    Notes
    -----
    A column that passes all tests on the path stays as it is, a missing cell too. So do dates of which the model
    tests parts, such as the month, and these parts: one without the others would be no date. A new value is never
    missing. Under ``missing="fractional"`` a missing cell leads to
    several leaves; it is filled in if the path tests it, so that the changed row ends in one leaf. Numbers move
    to the nearest float64 that will do: where ``x <= 2.45`` is wanted that is 2.45, where ``x > 2.45`` is wanted the
    next float64 above.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.DecisionTreeClassifier().fit({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"]}, list("aabb"))
    >>> print(counterfactual(est.model_, {"age": 30, "sex": "m"}))
    predicted: a
    another class: 1 column has to change (leaf 2, predicts b)
      age: 30 -> more than 35
    """
    given = given_row(model, row, owner)
    goal = goal_of(model, given, to, at_least, at_most)
    kept = frozenset(position_of(model.schema, name) for name in listed(keep)) | with_their_parts(model.schema)
    if like is None:
        scales = scales_of_tree(model.schema, model.trees[0])
    else:
        scales = scales_of_rows(model.schema, encode(model.schema, like, unseen="missing", owner=owner))
    writer = ResultWriter(model, given, Query(model.schema, given.cells, kept, scales), goal)
    if bool(goal.holds(goal.now)[0]):
        return writer.stays()
    reached = cheapest_leaf(model, writer.query, goal.holds(predicted_by_nodes(model)) & model.trees[0].is_leaf)
    return writer.not_found() if reached is None else writer.found(reached)


class ResultWriter:
    """Writes the result of a search."""

    def __init__(self, model: ModelData, given: GivenRow, query: Query, goal: Goal) -> None:
        self.model, self.given, self.query, self.goal = model, given, query, goal

    def stays(self) -> Counterfactual:
        """The result if the row has the wanted prediction as it is."""
        leaf = int(predict_leaves(self.model, self.given.cells[None, :])[0])
        return self._result(self.goal.now[0], (), leaf, (0, 0.0), exact=True)

    def found(self, reached: Reached) -> Counterfactual:
        """The result if the row has to change."""
        changes = ChangeWriter(self.model, self.query, self.given).changes(reached.path, reached.leaf)
        cost = (len(changes), reached.path.distance)
        return self._result(
            predicted_by_nodes(self.model)[reached.leaf], changes, reached.leaf, cost, exact=reached.exact
        )

    def not_found(self) -> Counterfactual:
        """The result if there is no such row."""
        is_predicted = bool((self.goal.holds(predicted_by_nodes(self.model)) & self.model.trees[0].is_leaf).any())
        why = "no row reaches a leaf that predicts it" if is_predicted else "no leaf predicts it"
        if is_predicted and self.query.keep:
            parts = with_their_parts(self.model.schema)
            kept = ["the kept columns"] if self.query.keep - parts else []
            derived = any(map(is_derived, self.model.schema.columns))
            made = "the columns that others are derived from" if derived else "the dates whose parts are tested"
            kept += [made] if parts else []
            why += f" while {' and '.join(kept)} stay as they are"
        now, in_words = self._labels(self.goal.now[0])
        return Counterfactual(self.goal.text, now, None, (), None, None, None, True, why, in_words, "")

    def _result(
        self, after: np.ndarray, changes: tuple[Change, ...], leaf: int, cost: tuple[int, float], *, exact: bool
    ) -> Counterfactual:
        now, words_now = self._labels(self.goal.now[0])
        then, words_then = self._labels(after)
        cells = list(self.given.raw)
        for change in changes:
            cells[change.feature] = change.after
        schema = self.model.schema
        row = dict(zip(schema.given_names, cells, strict=True)) if schema.named else cells
        return Counterfactual(self.goal.text, now, then, changes, leaf, cost, row, exact, "", words_now, words_then)

    def _labels(self, predicted: np.ndarray) -> tuple[Any, str]:
        """A prediction as labels or numbers, and in words."""
        if self.model.task == "classification":
            labels = [plain_label(self.model.classes[at][code]) for at, code in enumerate(predicted.tolist())]
            texts = [written_level(label) for label in labels]
        else:
            labels = predicted.tolist()
            texts = [written_number(number) for number in labels]
        return labels[0] if len(labels) == 1 else tuple(labels), ", ".join(texts)


@dataclass(frozen=True, eq=False)
class GivenRow:
    """A row, encoded and as given."""

    cells: np.ndarray  # float64[p]: encoded
    raw: tuple[Any, ...]  # as given, in the order of the schema; None where a cell is missing


def given_row(model: ModelData, row: Any, owner: str) -> GivenRow:
    """Read one row as ``predict`` would read it.

    ``row`` mapping from column name to cell, sequence of p cells, or table of one row; ``owner``: who is named in
    messages.
    """
    schema, table = model.schema, _table(model, row, owner)
    if table.n_rows != 1:
        raise DataError(f"{owner}.counterfactual takes one row, the table has {table.n_rows}: take one, as in X[3:4]")
    encoded = encode_table(schema, table, model.unseen, owner, model.missing)[0]
    by_name = schema.named and table.names is not None
    where = {name: at for at, name in enumerate(table.names or ())}
    # A column that is left out of the model may be missing in the table.
    places = [where.get(column.name) if by_name else at for at, column in enumerate(schema.given)]
    raw = tuple(None if at is None else _raw(table.cells(at)) for at in places)
    return GivenRow(encoded.astype(np.float64), raw)


class Goal(NamedTuple):
    """The wanted prediction.

    ``now`` int32 or float64 [1, n_outputs]: what the model predicts for the row: codes of classes, or numbers; ``low``,
    ``high`` float64[n_outputs]: the wanted prediction is from ``low`` to ``high`` in each target.
    """

    now: np.ndarray
    low: np.ndarray
    high: np.ndarray
    other: bool  # any prediction but the one of now
    text: str  # in words

    def holds(self, predicted: np.ndarray) -> np.ndarray:
        """bool[n]: which predictions (``[n, n_outputs]``) will do."""
        if self.other:
            return np.asarray((predicted != self.now).any(axis=1))
        return np.asarray(((predicted >= self.low) & (predicted <= self.high)).all(axis=1))


def goal_of(model: ModelData, given: GivenRow, to: Any, at_least: Any, at_most: Any) -> Goal:
    """Read what is wanted."""
    numbers = {"at_least": at_least, "at_most": at_most}
    if model.task == "classification":
        query = next((name for name, value in numbers.items() if value is not None), None)
        if query is not None:
            raise ParameterError(f"{query} is for regression; this model predicts classes: name one with to=...")
        return _class_goal(model, predict_codes(model, given.cells[None, :]), to)
    if to is not None:
        raise ParameterError("to= is for classification; this model predicts numbers: give at_least= or at_most=")
    if at_least is None and at_most is None:
        raise ParameterError("this model predicts numbers: give at_least= or at_most=")
    low = _ends("at_least", at_least, model.n_outputs, -np.inf)
    high = _ends("at_most", at_most, model.n_outputs, np.inf)
    if bool((low > high).any()):
        raise ParameterError(f"no number is at least {at_least} and at most {at_most}")
    words = [f"{name.replace('_', ' ')} {_amounts(value)}" for name, value in numbers.items() if value is not None]
    return Goal(predict_numbers(model, given.cells[None, :]), low, high, False, " and ".join(words))


def _class_goal(model: ModelData, now: np.ndarray, to: Any) -> Goal:
    """A class per target, or any other."""
    n_outputs = model.n_outputs
    if to is None:
        nothing = np.zeros(n_outputs)
        return Goal(now, nothing, nothing, True, "another class" if n_outputs == 1 else "other classes")
    wanted = [to] if n_outputs == 1 else to
    if isinstance(wanted, str) or not isinstance(wanted, Sequence | np.ndarray) or len(wanted) != n_outputs:
        raise ParameterError(f"to is {shown(to)}; the model has {n_outputs} targets: give a label or None for each")
    low, high, words = np.zeros(n_outputs), np.zeros(n_outputs), []
    for output, label in enumerate(wanted):
        if label is None:
            high[output] = len(model.classes[output])
            continue
        low[output] = high[output] = _code_of(model.classes[output], label)
        words.append(written_level(label))
    return Goal(now, low, high, False, ", ".join(words) or "anything")


def _code_of(labels: np.ndarray, label: Any) -> int:
    """Position of a class."""
    known = [plain_label(each) for each in labels]
    label = plain_label(label)
    for code, each in enumerate(known):
        if type(each) is type(label) and each == label:
            return code
    for code, each in enumerate(known):
        if isinstance(each, Real) and isinstance(label, Real) and each == label:
            return code
    known_labels = ", ".join(written_level(each) for each in known[:10]) + (", ..." if len(known) > 10 else "")
    raise ParameterError(f"to is {shown(label)}; the classes are {known_labels}")


def _ends(name: str, value: Any, n_outputs: int, open_end: float) -> np.ndarray:
    """float64[n_outputs]: the end of each target; ``open_end`` where there is none."""
    if value is None:
        return np.full(n_outputs, open_end)
    ends = [value] if n_outputs == 1 else value
    if isinstance(ends, str) or not isinstance(ends, Sequence | np.ndarray) or len(ends) != n_outputs:
        raise ParameterError(f"{name} is {shown(value)}; the model has {n_outputs} targets: give a number or None each")
    found = np.full(n_outputs, open_end)
    for output, end in enumerate(ends):
        if end is None:
            continue
        if isinstance(end, bool) or not isinstance(end, Real) or math.isnan(end):
            raise ParameterError(f"{name} is {shown(value)}; give a number")
        found[output] = float(end)
    return found


def _amounts(value: Any) -> str:
    """Wanted numbers in words."""
    ends = value if isinstance(value, Sequence | np.ndarray) else [value]
    return ", ".join("anything" if end is None else written_number(end) for end in ends)


def listed(keep: Any) -> list[Any]:
    """The columns to keep, one or several."""
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        return [keep]
    return list(keep)


def with_their_parts(schema: Schema) -> frozenset[int]:
    """Derived columns and their sources: no row can have a change of one of them alone."""
    return frozenset(each for at, column in enumerate(schema.columns) if column.part for each in (at, *column.sources))


def position_of(schema: Schema, name: Any) -> int:
    """Position of a column, by its name or its position."""
    try:
        known = schema.positions.get(name)
    except TypeError:
        known = None
    if known is not None:
        return known
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(schema):
        return int(name)
    raise ParameterError(f"keep names {shown(name)}, which is not a column of the model")


def scales_of_tree(schema: Schema, tree: Tree) -> np.ndarray:
    """The distance between the outermost cuts of each numeric column: float64[p].

    With one cut, its absolute value; 1 if that is 0, if there is no cut, and for ordinal and nominal columns.
    """
    low, high = np.full(len(schema), np.inf), np.full(len(schema), -np.inf)
    one = np.flatnonzero((tree.kind == THRESHOLD) & np.isfinite(tree.threshold))
    np.minimum.at(low, tree.feature[one], tree.threshold[one])
    np.maximum.at(high, tree.feature[one], tree.threshold[one])
    for node in np.flatnonzero(tree.kind == INTERVALS).tolist():
        cuts, feature = node_cuts(tree, node), int(tree.feature[node])
        for cut in cuts[np.isfinite(cuts)][[0, -1]] if np.isfinite(cuts).any() else ():
            low[feature], high[feature] = min(low[feature], cut), max(high[feature], cut)
    with np.errstate(over="ignore", invalid="ignore"):
        scales = np.where(high > low, high - low, np.abs(low))
    numeric = np.array([column.kind == "numeric" for column in schema.columns])
    return np.where(numeric & (scales > 0) & np.isfinite(scales), scales, 1.0)


def scales_of_rows(schema: Schema, matrix: np.ndarray) -> np.ndarray:
    """How far the values of each numeric column lie apart: float64[p].

    The median distance from the column's median; if more than half of the rows are equal their mean distance; 1 if all
    are, and for ordinal and nominal columns.
    """
    scales = np.ones(len(schema))
    for feature, column in enumerate(schema.columns):
        cells = matrix[:, feature].astype(np.float64)
        cells = cells[np.isfinite(cells)]
        if column.kind != "numeric" or not len(cells):
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            gone = np.abs(cells - np.median(cells))
            found = [scale for scale in (float(np.median(gone)), float(gone.mean())) if 0 < scale < np.inf]
        scales[feature] = found[0] if found else 1.0
    return scales


class ChangeWriter:
    """Writes the changes that a path requires.

    ``raw``: the row's cells as given.
    """

    def __init__(self, model: ModelData, query: Query, row: GivenRow) -> None:
        self.model, self.query, self.raw = model, query, row.raw

    def changes(self, path: Path, leaf: int) -> tuple[Change, ...]:
        """Every column that has to change, in the order of the tests."""
        preferred = preferred_levels(self.model, leaf)
        return tuple(
            self._change(feature, held.bound, path.distances[feature], preferred.get(feature))
            for feature, held in path.held.items()
            if not held.kept
        )

    def _change(self, feature: int, bound: Bound, distance: float, preferred: int | None) -> Change:
        column, cell = self.model.schema.columns[feature], float(self.query.cells[feature])
        value = nearest_value(column, bound, cell, preferred)
        before = self.raw[feature]
        name = shorten(written_name(column.name), NAME_WIDTH)
        if column.kind == "numeric":
            after: Any = value
            was, wanted = self._numbers(feature, bound, cell)
            if any(clock := clock_of(column)):
                after = written_cut(value, clock)
            text = f"{name}: {was} -> {wanted}"
        else:
            quote = column.family == "object"
            after = column.levels[int(value)]
            wanted = self._levels(column, bound)
            was = "missing" if before is None else written_level(before, quote=quote)
            others = f" ({wanted} will do)" if wanted != written_level(after, quote=quote) else ""
            text = f"{name}: {was} -> {written_level(after, quote=quote)}{others}"
        return Change(column.name, feature, before, after, distance, wanted, text)

    def _numbers(self, feature: int, bound: Bound, cell: float) -> tuple[str, str]:
        """The number as it is, and what will do, with digits that keep them apart."""
        clock = clock_of(self.model.schema.columns[feature])
        cuts = {} if any(clock) else self._cuts.get(feature, {})
        lower, upper = (cuts.get(end, end) for end in (bound.lower, bound.upper))
        parts = []
        if bound.lower != -math.inf:
            parts.append(f"more than {written_cut(lower, clock, exact=bound.lower in cuts)}")
        if bound.upper != math.inf:
            parts.append(f"at most {written_cut(upper, clock, exact=bound.upper in cuts)}")
        # The end that is crossed stands first.
        wanted = " and ".join(reversed(parts) if cell > bound.upper else parts) or "any number"
        if math.isnan(cell):
            return "missing", wanted
        if any(clock):
            return written_cut(cell, clock), wanted
        ends = {written_number(end, digits=17) for end in (lower, upper)}
        digits = next((n for n in range(6, 17) if f"{float(written_number(cell, digits=n)):.17g}" not in ends), 17)
        return written_number(cell, digits=digits), wanted

    def _levels(self, column: Column, bound: Bound) -> str:
        """All levels that will do."""
        if column.kind == "ordinal":
            mask = ordinal_levels(column, bound)
        else:
            mask = np.ones(len(column.levels), bool) if bound.allowed is None else bound.allowed
        levels, quote = chosen(column, mask), column.family == "object"
        if len(levels) == 1:
            return written_level(levels[0], quote=quote)
        return f"any of {written_set(levels, quote=quote, max_levels=MAX_LEVELS)}"

    @cached_property
    def _cuts(self) -> dict[int, dict[float, float]]:
        return readable_cuts(self.model.trees[0])


def _table(model: ModelData, row: Any, owner: str) -> Table:
    """The row as a table of one row."""
    if len(getattr(row, "shape", ())) == 1 and callable(getattr(row, "to_dict", None)):
        row = row.to_dict()  # a pandas Series knows the names of its cells
    if isinstance(row, Mapping):
        if any(isinstance(cell, list | tuple | np.ndarray) and np.ndim(cell) for cell in row.values()):
            return read_table(row)
        return Table(tuple(row), 1, len(row), sources=[[cell] for cell in row.values()])
    is_flat = isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None
    is_row = isinstance(row, list | tuple) and not any(isinstance(cell, list | tuple | np.ndarray) for cell in row)
    if not (is_flat or is_row):
        return read_table(row)
    values = list(row)
    names = model.schema.given_names
    if len(values) != len(names):
        raise ColumnError(
            f"the row has {len(values)} features, but {owner} is expecting {len(names)} features as input"
        )
    return Table(names if model.schema.named else None, 1, len(values), sources=[[cell] for cell in values])


def _raw(cells: Cells) -> Any:
    """The one cell of a column as it was given."""
    if bool(cells.missing()[0]):
        return None
    if cells.is_number:
        number = float(cells.values[0])
        return int(number) if cells.whole else number
    return cells.distinct[int(cells.values[0])]


def preferred_level(bound: Bound) -> int | None:
    """Code of the first level that follows this path and occurred at the last test; None if there is none.

    ``bound``: of a nominal column.
    """
    if bound.allowed is None or bound.named is None:
        return None
    both = bound.allowed & bound.named
    return int(np.argmax(both)) if bool(both.any()) else None


def preferred_levels(model: ModelData, leaf: int) -> dict[int, int]:
    """Return `preferred_level` of each nominal column tested above a leaf."""
    tree, bounds = model.trees[0], dict[int, Bound]()
    for node, branch in path_to(tree, leaf):
        feature = int(tree.feature[node])
        column = model.schema.columns[feature]
        if column.kind == "nominal":
            bounds[feature] = narrowed(bounds.get(feature, Bound()), column, tree, node, branch)
    return levels_of(bounds)


def levels_of(bounds: Mapping[int, Bound]) -> dict[int, int]:
    """The preferred levels of bounds by column, if there are any."""
    found = {feature: preferred_level(bound) for feature, bound in bounds.items()}
    return {feature: code for feature, code in found.items() if code is not None}


def predicted_by_nodes(model: ModelData) -> np.ndarray:
    """What each node predicts as a leaf: int32 codes or float64 numbers, ``[n_nodes, n_outputs]``."""
    table = leaf_table(model)
    return table.codes if model.task == "classification" else table.values
