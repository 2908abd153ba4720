"""What would have to change for another answer. In: a model of one tree, a row. Out: ``Counterfactual``.

Callers: ``Model.counterfactual``, the estimators, reporting.

The nearest row with another answer explains an answer without a look into the model (Wachter, Mittelstadt and Russell
2018, Harvard Journal of Law & Technology 31, 841-887). On one tree the nearest row is known exactly: it stands at the
edge of a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from treewright.data.cells import shown
from treewright.data.encoder import encode
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.explain.change import Change, Counterfactual
from treewright.explain.change_words import ChangeWriter
from treewright.explain.cheapest_leaf import Reached, cheapest_leaf
from treewright.explain.column_scales import scales_of_rows, scales_of_tree
from treewright.explain.given_row import GivenRow, given_row
from treewright.explain.rules import plain_label
from treewright.explain.ways import Asked
from treewright.model.data import ModelData
from treewright.predict.values import leaf_table, predict_codes, predict_leaves, predict_numbers
from treewright.tree.writing import written_level, written_number


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
    """Find what would have to change about a row for another answer.

    Parameters
    ----------
    model : ModelData
        Of one tree.
    row : mapping from column name to cell, sequence of p cells, or table of one row
    to : class label, optional
        The answer that is wanted; of several targets a sequence with a label per target, None for any. Without it
        every other answer will do.
    at_least, at_most : number, optional
        The same for numbers: the wanted answer is not below, not above this. Of several targets a sequence.
    keep : column names or positions
        Columns that must stay as they are.
    like : table, optional
        Rows that say how much of each numeric column counts as 1: the median distance from its median (Wachter et
        al. 2018). Without it that is the distance between the lowest and the highest cut of the column in the tree, of
        one cut its size.
    owner : str
        Who is named in messages.

    Returns
    -------
    Counterfactual
        Its ``row`` gives the wanted answer. Of all such rows it is the one with the fewest changed columns, of these
        the one with the least sum of distances (`Change`), of these the one in the leaf with the lowest number.
        ``found`` is False where there is none.

    Raises
    ------
    ParameterError
        ``to`` is no class of the model; a number is asked of a model of classes or the other way round, or no number
        is asked of a model of numbers; ``keep`` names no column.
    DataError
        The row was refused.

    Notes
    -----
    A column that all tests on the way send along stays as it is, a missing cell too. A new value is always one that is
    there: nothing is changed into a missing value. Under ``missing="fractional"`` a missing cell leads to several
    leaves; it is filled in where the way asks about it, so that the changed row ends in one leaf. Numbers move to the
    nearest float64 that will do: where ``x <= 2.45`` is wanted that is 2.45, where ``x > 2.45`` is wanted the next
    float64 above.

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
    kept = frozenset(position_of(model.schema, name) for name in listed(keep))
    if like is None:
        scales = scales_of_tree(model.schema, model.trees[0])
    else:
        scales = scales_of_rows(model.schema, encode(model.schema, like, unseen="missing", owner=owner))
    writer = Answering(model, given, Asked(model.schema, given.cells, kept, scales), goal)
    if bool(goal.holds(goal.now)[0]):
        return writer.stays()
    reached = cheapest_leaf(model, writer.asked, goal.holds(said_by_nodes(model)) & model.trees[0].is_leaf)
    return writer.not_found() if reached is None else writer.found(reached)


class Goal(NamedTuple):
    """The answer that is wanted.

    Attributes
    ----------
    now : int32 or float64 [1, n_outputs]
        What the model says of the row: codes of classes, or numbers.
    low, high : float64[n_outputs]
        The wanted answer is from ``low`` to ``high`` in each target.
    other : bool
        Any answer but that of now.
    text : str
        In words.
    """

    now: np.ndarray
    low: np.ndarray
    high: np.ndarray
    other: bool
    text: str

    def holds(self, said: np.ndarray) -> np.ndarray:
        """bool[n]: which answers (``[n, n_outputs]``) will do."""
        if self.other:
            return np.asarray((said != self.now).any(axis=1))
        return np.asarray(((said >= self.low) & (said <= self.high)).all(axis=1))


def said_by_nodes(model: ModelData) -> np.ndarray:
    """What each node says as a leaf: int32 codes or float64 numbers, ``[n_nodes, n_outputs]``."""
    table = leaf_table(model)
    return table.codes if model.task == "classification" else table.values


def goal_of(model: ModelData, given: GivenRow, to: Any, at_least: Any, at_most: Any) -> Goal:
    """Read what is wanted.

    Raises
    ------
    ParameterError
    """
    numbers = {"at_least": at_least, "at_most": at_most}
    if model.task == "classification":
        asked = next((name for name, value in numbers.items() if value is not None), None)
        if asked is not None:
            raise ParameterError(f"{asked} is for numbers; this model predicts classes: name one, to=...")
        return _class_goal(model, predict_codes(model, given.cells[None, :]), to)
    if to is not None:
        raise ParameterError("to= is for classes; this model predicts numbers: give at_least= or at_most=")
    if at_least is None and at_most is None:
        raise ParameterError("this model predicts numbers: say which will do, at_least= or at_most=")
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
    """Position of a class.

    Raises
    ------
    ParameterError
        There is no such class.
    """
    known = [plain_label(each) for each in labels]
    label = plain_label(label)
    for code, each in enumerate(known):
        if type(each) is type(label) and each == label:
            return code
    for code, each in enumerate(known):
        if isinstance(each, Real) and isinstance(label, Real) and each == label:
            return code
    told = ", ".join(written_level(each) for each in known[:10]) + (", ..." if len(known) > 10 else "")
    raise ParameterError(f"to is {shown(label)}; the classes are {told}")


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
    """The columns to keep, one or several.

    Raises
    ------
    ParameterError
    """
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        return [keep]
    return list(keep)


def position_of(schema: Schema, name: Any) -> int:
    """Position of a column, by its name or its position.

    Raises
    ------
    ParameterError
        There is no such column.
    """
    try:
        known = schema.positions.get(name)
    except TypeError:
        known = None
    if known is not None:
        return known
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(schema):
        return int(name)
    raise ParameterError(f"keep names {shown(name)}, which is no column of the model")


class Answering:
    """Writes the result.

    Attributes
    ----------
    asked : Asked
    """

    def __init__(self, model: ModelData, given: GivenRow, asked: Asked, goal: Goal) -> None:
        self.model, self.given, self.asked, self.goal = model, given, asked, goal

    def stays(self) -> Counterfactual:
        """The row gives the answer as it is."""
        leaf = int(predict_leaves(self.model, self.given.cells[None, :])[0])
        return self._result(self.goal.now[0], (), leaf, (0, 0.0), exact=True)

    def found(self, reached: Reached) -> Counterfactual:
        """The row has to change."""
        changes = ChangeWriter(self.model, self.asked, self.given).changes(reached.way, reached.leaf)
        cost = (len(changes), reached.way.distance)
        return self._result(said_by_nodes(self.model)[reached.leaf], changes, reached.leaf, cost, exact=reached.exact)

    def not_found(self) -> Counterfactual:
        """There is no such row."""
        says_so = bool((self.goal.holds(said_by_nodes(self.model)) & self.model.trees[0].is_leaf).any())
        why = "no row reaches a leaf that predicts it" if says_so else "no leaf predicts it"
        if says_so and self.asked.keep:
            why += " while the kept columns stay as they are"
        now, said = self._labels(self.goal.now[0])
        return Counterfactual(self.goal.text, now, None, (), None, None, None, True, why, said, "")

    def _result(
        self, after: np.ndarray, changes: tuple[Change, ...], leaf: int, cost: tuple[int, float], *, exact: bool
    ) -> Counterfactual:
        now, said_now = self._labels(self.goal.now[0])
        then, said_then = self._labels(after)
        cells = list(self.given.raw)
        for change in changes:
            cells[change.feature] = change.after
        schema = self.model.schema
        row = dict(zip(schema.names, cells, strict=True)) if schema.named else cells
        return Counterfactual(self.goal.text, now, then, changes, leaf, cost, row, exact, "", said_now, said_then)

    def _labels(self, said: np.ndarray) -> tuple[Any, str]:
        """An answer as labels or numbers, and in words."""
        if self.model.task == "classification":
            labels = [plain_label(self.model.classes[at][code]) for at, code in enumerate(said.tolist())]
            texts = [written_level(label) for label in labels]
        else:
            labels = said.tolist()
            texts = [written_number(number) for number in labels]
        return labels[0] if len(labels) == 1 else tuple(labels), ", ".join(texts)
