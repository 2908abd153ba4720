"""One if-then rule per leaf. In: a model. Out: ``LeafRules``. Callers: ``Model.rules``, the command line.

A rule is what the tree does to the rows that reach the leaf, said once: tests on one column are merged, what is true of
every row is left out, and the rules of all leaves together hold for every row exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.core.confidence import check_level, mean_interval, wilson_interval
from treewright.exceptions import ParameterError
from treewright.explain.rule import LeafRule, Outcome
from treewright.explain.rule_bounds import Wording, readable_cuts
from treewright.explain.rule_table import ORDERS, LeafRules
from treewright.model.data import ModelData
from treewright.model.summary import Output, TreeSummary, summarize
from treewright.tree.tests import bounds_below
from treewright.tree.writing import written_number

Order = Literal["tree", "support", "confidence"]


def leaf_rules(
    model: ModelData,
    *,
    order: Order = "tree",
    level: float = 0.95,
    exact: bool = False,
    max_levels: int | None = 12,
    keep_empty: bool = True,
    tree: int = 0,
) -> LeafRules:
    """Return one rule per leaf.

    Parameters
    ----------
    model : ModelData
    order : {"tree", "support", "confidence"}
        Leaves from left to right; those with the largest share of the weight first; those first whose class is most
        certain, by the lower end of its interval (classes only). Equal ones stay in tree order.
    level : float, between 0 and 1
        Confidence level of the intervals.
    exact : bool
        Write numbers in texts so that they read back as the same float64. Otherwise they have 6 significant digits,
        and more where two cuts of one column would look the same or change places. ``bounds`` are always exact.
    max_levels : int, optional
        Name at most this many levels in one condition; None names all of them.
    keep_empty : bool
        Keep the rules of leaves without training rows (a level that the node above did not hold). Without them a row
        may meet no rule.
    tree : int
        Which of the model's trees.

    Returns
    -------
    LeafRules

    Raises
    ------
    ParameterError
        A parameter is out of range, or ``order="confidence"`` for a model that predicts numbers.

    Notes
    -----
    The interval of a class share is Wilson's; that of a mean is Student's t from the leaf's variance, where the
    criterion is ``squared_error`` and there is one target: no other criterion keeps a variance. Weights are scaled so
    that they add up to the number of rows in the leaf; with fractional missing values, to the number of rows in the
    table. A leaf with one row has no interval of its mean, a leaf without rows has none at all.

    With ``missing`` "surrogate" or "fractional" other columns decide where a missing value goes, or several leaves get
    a part of the row: texts then do not claim a way and ``ColumnBound.missing`` is None. With "error" there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.arrays import Tree
    >>> from treewright.model.data import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.5, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([4, 1, 3]), np.array([4.0, 1, 3]),
    ...             np.array([1.2, 0, 0]), np.array([[7.0], [4.0], [8.0]]), np.zeros(0, np.uint64),
    ...             np.zeros(0, np.uint64))
    >>> model = ModelData("regression", Schema((Column("age", "numeric"),)), (tree,))
    >>> print(leaf_rules(model)[1].text)
    if   age > 2.5
    then 8  [leaf 2; 3 rows (75 %)]
    """
    if order not in list(ORDERS):  # a list bears what cannot be hashed
        raise ParameterError(f"order is {order!r}; there are: {', '.join(ORDERS)}")
    is_number = isinstance(max_levels, int) and not isinstance(max_levels, bool)
    if max_levels is not None and (not is_number or max_levels < 1):
        raise ParameterError(f"max_levels is {max_levels!r}; give 1 or more, or None for all levels")
    level = check_level(level)
    summary = summarize(model, tree)
    if order == "confidence" and not summary.counts_classes:
        raise ParameterError("order='confidence' asks for class shares; this model predicts numbers: use 'support'")
    wording = Wording(model, {} if exact else readable_cuts(summary.tree), max_levels)
    teller = OutcomeTeller(summary, level, exact)
    whole = float(summary.tree.weight[0])
    rules: list[LeafRule] = []
    for node, bounds in bounds_below(model.schema, summary.tree):
        n_samples = int(summary.tree.n_samples[node])
        if not summary.tree.is_leaf[node] or not (n_samples or keep_empty):
            continue
        weight = float(summary.tree.weight[node])
        rules.append(
            LeafRule(
                number=len(rules) + 1,
                leaf=node,
                bounds=wording.column_bounds(bounds),
                outcomes=tuple(teller.outcome(node, at) for at in range(len(summary.outputs))),
                n_samples=n_samples,
                weight=weight,
                support=weight / whole if whole else 0.0,
                weighted=summary.weighted,
                level=level,
            )
        )
    return LeafRules(tuple(in_order(rules, order)), summary, order, level, keep_empty)


def in_order(rules: list[LeafRule], order: Order) -> list[LeafRule]:
    """Return the rules in one of the orders."""
    if order == "support":
        return sorted(rules, key=lambda rule: -rule.support)
    if order == "confidence":
        return sorted(rules, key=lambda rule: -least_certain(rule))
    return rules


def least_certain(rule: LeafRule) -> float:
    """Return the lower end of the interval, the smallest one of several targets; -1 for a leaf without rows."""
    return min(-1.0 if outcome.interval is None else outcome.interval[0] for outcome in rule.outcomes)


@dataclass(frozen=True)
class OutcomeTeller:
    """What the leaves of one tree say about each target."""

    summary: TreeSummary
    level: float
    exact: bool

    def outcome(self, leaf: int, at: int) -> Outcome:
        """Return what a leaf says about the target at position ``at``."""
        output = self.summary.outputs[at]
        return self._class(leaf, at, output) if output.classes else self._number(leaf, output)

    def _class(self, leaf: int, at: int, output: Output) -> Outcome:
        values = self.summary.values(leaf, output)
        code = self.summary.predicted_class(leaf, output)
        share = float(values[code] / values.sum())
        n = self._rows(leaf)
        return Outcome(
            name=output.name,
            prediction=plain_label(self.summary.model.classes[at][code]),
            text=output.classes[code],
            probability=share,
            interval=wilson_interval(share * n, n, self.level) if n > 0 else None,
            classes=output.classes,
            # A leaf without rows holds its parent's counts, which are not its own.
            counts=tuple((values if n > 0 else np.zeros_like(values)).tolist()),
        )

    def _number(self, leaf: int, output: Output) -> Outcome:
        number = float(self.summary.values(leaf, output)[0])
        tree, interval = self.summary.tree, None
        if self._has_variance:
            interval = mean_interval(number, float(tree.impurity[leaf]), self._rows(leaf), self.level)
        text = written_number(number, exact=self.exact)
        return Outcome(output.name, number, f"adds {text}" if self.summary.adds else text, interval=interval)

    @property
    def _has_variance(self) -> bool:
        """Whether impurities are variances of the one number predicted."""
        model = self.summary.model
        is_mean = self.summary.criterion == "squared_error" and not model.has_scores
        return model.task == "regression" and is_mean and len(self.summary.outputs) == 1

    def _rows(self, leaf: int) -> float:
        """How many rows an interval rests on."""
        tree = self.summary.tree
        n = float(tree.n_samples[leaf])
        if self.summary.model.missing != "fractional" or not n:
            return n
        # n_samples counts a row in every leaf that has a part of it: the weight says how much of it is here.
        return min(n, float(tree.weight[leaf] / tree.weight[0] * tree.n_samples[0]))


def plain_label(label: Any) -> Any:
    """Return a class label as a Python object; a date finer than Python's stays what it is.

    Examples
    --------
    >>> plain_label(np.int64(3)), plain_label("a")
    (3, 'a')
    """
    plain = label.item() if isinstance(label, np.generic) else label
    is_date = isinstance(label, np.datetime64 | np.timedelta64)
    return label if is_date and isinstance(plain, int) else plain
