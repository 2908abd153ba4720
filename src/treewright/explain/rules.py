"""One if-then rule per leaf. In: a model. Out: ``LeafRules``: a sequence that prints, and turns into a table.

A rule states the tests on the path to a leaf: tests on one column are merged, what is true of every row is left out,
and exactly one of the rules holds for every row. The numbers in a
``ColumnBound`` are exact and its levels complete, for programs; its ``text`` is for people.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Literal, overload
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core.confidence import check_level, mean_interval, wilson_interval
from treewright.data.dates import DATES
from treewright.data.schema import Column
from treewright.exceptions import ParameterError
from treewright.trees.arrays import INTERVALS, THRESHOLD, Tree
from treewright.trees.data import ModelData
from treewright.trees.summary import ADDS_NOTE, Output, TreeSummary, counted, n_named, summarize
from treewright.trees.tests import Bound, bounds_below, chosen, has_values, node_cuts, ordinal_levels
from treewright.trees.threshold import decision_text
from treewright.trees.wording import written_bound
from treewright.trees.writing import gap_digits, written_amount, written_number

MAX_COUNTS = 8
ORDERS = {"tree": "in tree order", "support": "largest support first", "confidence": "most certain class first"}
# A page with more rows than this is slow and read by nobody; print and to_dict have them all.
MAX_HTML_ROWS = 200
CELL = '<td style="text-align: left; vertical-align: top">'
TITLE = '<th style="text-align: left">'
Order = Literal["tree", "support", "confidence"]


@dataclass(frozen=True)
class ColumnBound:
    """What one column must be for a rule to hold.

    Attributes
    ----------
    column : hashable
        The column's name.
    feature : int
        Its position in the schema.
    kind : {"numeric", "ordinal", "nominal"}
    lower, upper : float
        Numeric: a value holds if ``lower < value <= upper``; ``-inf`` and ``inf`` if that end is open. They are
        exact, even if the text is rounded. ``-inf`` and ``inf`` for the other kinds.
    levels : tuple or None
        Ordinal and nominal: the levels that hold, those without training rows in the leaf included. Numeric: None.
    present : bool
        Whether any value that is not missing holds; False is "is missing".
    missing : bool or None
        Whether a missing value holds. None if the leaf alone does not decide it (see ``leaf_rules``).
    text : str
        The same in words; empty if every training row meets it.
    """

    column: Hashable
    feature: int
    kind: Literal["numeric", "ordinal", "nominal"]
    lower: float = -math.inf
    upper: float = math.inf
    levels: tuple[Hashable, ...] | None = None
    present: bool = True
    missing: bool | None = False
    text: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a rule predicts for one target.

    Attributes
    ----------
    name : str
        Name of the target; empty if it had none.
    prediction : object
        The class label, or the number, that the model predicts.
    text : str
        The same as text.
    probability : float or None
        Proportion of the predicted class in the leaf, by weight (in the node above if the leaf has no training rows);
        None for a number.
    interval : tuple of two floats, or None
        Confidence interval of that proportion, or of the predicted mean; None if there is none.
    classes : tuple of str
        Class labels as texts; empty for a number.
    counts : tuple of float
        Weighted class counts of the leaf's training rows, in the order of ``classes``.
    """

    name: str
    prediction: Any
    text: str
    probability: float | None = None
    interval: tuple[float, float] | None = None
    classes: tuple[str, ...] = ()
    counts: tuple[float, ...] = ()

    def evidence(self, level: float) -> str:
        """The class counts other than 0, the proportion and the interval, as far as there are any."""
        pairs = zip(self.counts, self.classes, strict=True)
        held = [f"{label} {written_amount(count, digits=6)}" for count, label in pairs if count]
        most = n_named(len(held), MAX_COUNTS)
        more = [f"... {len(held) - most} more"] if len(held) > most else []
        parts = [", ".join(held[:most] + more)] if held else []
        if self.interval is not None:
            low, high = self.interval
            whose, of = "", " of the mean"
            if self.probability is not None:
                whose, of = f"proportion {self._number(self.probability)}, ", ""
            ends = f"interval{of} {self._number(low)} to {self._number(high)}"
            parts.append(f"{whose}{written_percent(level, digits=6)} {ends}")
        return "; ".join(parts)

    def _number(self, number: float) -> str:
        return f"{number:.3f}" if self.probability is not None else written_number(number)


@dataclass(frozen=True)
class LeafRule:
    """The rule of one leaf.

    Attributes
    ----------
    number : int
        Its place in tree order, from 1; the same in every order of the rules.
    leaf : int
        Position of the leaf in the tree, as ``apply`` gives it.
    bounds : tuple of ColumnBound
        One per column that the rule restricts, in the order of the tests.
    outcomes : tuple of Outcome
        One per target.
    n_samples : int
        Training rows in the leaf.
    weight : float
        Sum of their weights.
    support : float, 0 to 1
        That weight as a share of the whole; without weights the share of all rows.
    weighted : bool
        Whether weights differ from numbers of rows anywhere in the tree.
    level : float
        Level of the intervals.
    """

    number: int
    leaf: int
    bounds: tuple[ColumnBound, ...]
    outcomes: tuple[Outcome, ...]
    n_samples: int
    weight: float
    support: float
    weighted: bool = False
    level: float = 0.95

    @property
    def conditions(self) -> tuple[str, ...]:
        """The texts of the bounds, to be joined by "and"; empty if the rule holds for every row."""
        return tuple(bound.text for bound in self.bounds if bound.text)

    @property
    def prediction(self) -> Any:
        """The label or number predicted; a tuple of them for several targets."""
        return self._of_outcomes("prediction")

    @property
    def probability(self) -> Any:
        """Share of the predicted class, None for a number; a tuple of them for several targets."""
        return self._of_outcomes("probability")

    @property
    def interval(self) -> Any:
        """``(low, high)`` of that proportion or of the mean, or None; a tuple of them for several targets."""
        return self._of_outcomes("interval")

    def _of_outcomes(self, name: str) -> Any:
        found = tuple(getattr(outcome, name) for outcome in self.outcomes)
        return found[0] if len(found) == 1 else found

    @property
    def conclusion(self) -> str:
        """What the rule predicts, one text per target, joined by commas."""
        return ", ".join(outcome.text for outcome in self.outcomes)

    @property
    def evidence(self) -> str:
        """The training rows behind the rule: rows and their share, weight if it differs, classes, intervals."""
        parts = [f"leaf {self.leaf}", f"{counted(self.n_samples, 'row')} ({written_percent(self.support)})"]
        if self.weighted:
            parts.append(f"weight {written_amount(self.weight, digits=6)}")
        if not self.n_samples:
            parts.append("predicts like its parent")
        for outcome in self.outcomes:
            evidence = outcome.evidence(self.level)
            if evidence:
                parts.append(f"{outcome.name}: {evidence}" if len(self.outcomes) > 1 else evidence)
        return "; ".join(parts)

    @property
    def text(self) -> str:
        """The rule as lines: ``if ...``, ``and ...``, ``then ...``."""
        steps = [f"{'if  ' if i == 0 else 'and '} {text}" for i, text in enumerate(self.conditions)]
        return "\n".join([*steps, f"then {self.conclusion}  [{self.evidence}]"])

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class LeafRules(Sequence[LeafRule]):
    """The rules of a tree: a sequence of ``LeafRule`` that prints as text and turns into a table.

    Attributes
    ----------
    rules : tuple of LeafRule
    summary : TreeSummary
        The tree that they describe.
    order : {"tree", "support", "confidence"}
    level : float
        Level of the intervals.
    keep_empty : bool
        Whether leaves without training rows have their rules here.
    """

    rules: tuple[LeafRule, ...]
    summary: TreeSummary
    order: str = "tree"
    level: float = 0.95
    keep_empty: bool = True

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[LeafRule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> LeafRule: ...
    @overload
    def __getitem__(self, index: slice) -> LeafRules: ...
    def __getitem__(self, index: int | slice) -> LeafRule | LeafRules:
        if isinstance(index, slice):
            return replace(self, rules=self.rules[index])
        return self.rules[index]

    def __str__(self) -> str:
        return "\n\n".join(["\n".join(self.header()), *(rule.text for rule in self.rules)])

    def __repr__(self) -> str:
        return f"<treewright.LeafRules: {counted(len(self), 'rule')}, {ORDERS[self.order]}>"

    def header(self) -> list[str]:
        """The lines above the rules: the tree, the order, what the numbers mean, what is left out."""
        interval = f"its {written_percent(self.level, digits=6)} interval"
        lines = [self.summary.headline(), f"{counted(len(self), 'rule')}, {ORDERS[self.order]}"]
        model = self.summary.model
        if decides := decision_text(model):
            lines.append(decides)
        if self.summary.counts_classes:
            lines.append(f"proportion: of the predicted class among the leaf's training rows, with {interval} (Wilson)")
        elif any(outcome.interval for rule in self.rules for outcome in rule.outcomes):
            lines.append(f"predicted: the mean of the leaf's training rows, with {interval} (Student's t)")
        elif self.summary.adds:
            lines.append(ADDS_NOTE)
        tree = self.summary.tree
        n_empty = int((tree.is_leaf & (tree.n_samples == 0)).sum())
        if n_empty and not self.keep_empty:
            lines.append(f"{counted(n_empty, 'leaf', 'leaves')} without training rows left out")
        if self.summary.model.missing in {"surrogate", "fractional"}:
            lines.append(
                f"the branch that missing values follow is not part of the rules (missing values: "
                f"{self.summary.model.missing})"
            )
        return lines

    def to_dict(self) -> dict[str, list[Any]]:
        """The rules as columns, for ``pandas.DataFrame`` or ``polars.DataFrame``.

        Returns
        -------
        dict of str to list
            ``rule`` (int, place in tree order from 1), ``leaf`` (int), ``conditions`` (str, joined by "and"),
            ``prediction``, ``n_samples`` (int), ``weight`` (float), ``support`` (float, 0 to 1), ``probability``
            (float, classes only), ``low`` and ``high`` (float or None), ``count_<label>`` (float, one per class). With
            several targets their names end in that of the target: ``prediction_<name>``, ``count_<name>_<label>``.
        """
        rules = self.rules
        columns: list[tuple[str, list[Any]]] = [
            ("rule", [rule.number for rule in rules]),
            ("leaf", [rule.leaf for rule in rules]),
            ("conditions", [joined(rule.conditions) for rule in rules]),
        ]
        outputs = self.summary.outputs
        ends = [f"_{output.name}" if len(outputs) > 1 else "" for output in outputs]
        for at, end in enumerate(ends):
            columns.append((f"prediction{end}", [rule.outcomes[at].prediction for rule in rules]))
        columns += [
            ("n_samples", [rule.n_samples for rule in rules]),
            ("weight", [rule.weight for rule in rules]),
            ("support", [rule.support for rule in rules]),
        ]
        for at, (output, end) in enumerate(zip(outputs, ends, strict=True)):
            columns += self._evidence_columns(at, output, end)
        return with_own_names(columns)

    def _evidence_columns(self, at: int, output: Output, end: str) -> list[tuple[str, list[Any]]]:
        """Probability, interval and counts of one target."""
        outcomes = [rule.outcomes[at] for rule in self.rules]
        intervals = [outcome.interval or (None, None) for outcome in outcomes]
        columns: list[tuple[str, list[Any]]] = []
        if output.classes:
            columns.append((f"probability{end}", [outcome.probability for outcome in outcomes]))
        columns.append((f"low{end}", [low for low, _ in intervals]))
        columns.append((f"high{end}", [high for _, high in intervals]))
        for code, label in enumerate(output.classes):
            columns.append((f"count{end}_{label}", [outcome.counts[code] for outcome in outcomes]))
        return columns

    def _repr_html_(self) -> str:
        """The rules as an HTML table for notebooks."""
        titles = ("rule", "leaf", "if", "then", "based on")
        rows = []
        for rule in self.rules[:MAX_HTML_ROWS]:
            # The leaf has a column of its own.
            evidence = rule.evidence.removeprefix(f"leaf {rule.leaf}; ")
            conditions = "<br>".join(escape(text) for text in rule.conditions) or "always"
            cells = (str(rule.number), str(rule.leaf), conditions, escape(rule.conclusion), escape(evidence))
            rows.append("<tr>" + "".join(f"{CELL}{cell}</td>" for cell in cells) + "</tr>")
        hidden = len(self) - len(rows)
        if hidden:
            note = f"{counted(hidden, 'more rule')}: print the rules, or use to_dict()"
            rows.append(f'<tr><td colspan="{len(titles)}">{note}</td></tr>')
        head = "".join(f"{TITLE}{title}</th>" for title in titles)
        caption = "<br>".join(escape(line) for line in self.header())
        body = "\n".join(rows)
        return f"<table><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


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
        Leaves from left to right; by share of the weight, the largest first; by certainty of the class, which is the
        lower end of its interval, the highest first (classes only). Equal ones stay in tree order.
    level : float, between 0 and 1
        Confidence level of the intervals.
    exact : bool
        Write numbers in texts so that they read back as the same float64. Otherwise they have 6 significant digits,
        or more if two cuts of one column would look the same or change places. ``bounds`` are always exact.
    max_levels : int, optional
        Name at most this many levels in one condition; None names all of them.
    keep_empty : bool
        Keep the rules of leaves without training rows (a level that does not occur in the node above). Without them a
        row may meet no rule.
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
    The interval of a class proportion is Wilson's; that of a mean is Student's t from the leaf's variance, if the
    criterion is ``squared_error`` and there is one target: no other criterion keeps a variance. Weights are scaled so
    that they add up to the number of rows in the leaf; with fractional missing values, to the number of rows in the
    table. A leaf with one row has no interval of its mean, a leaf without rows has none at all.

    With ``missing`` "surrogate" or "fractional" other columns decide which branch a missing value follows, or several
    leaves get a part of the row: texts then name no branch and ``ColumnBound.missing`` is None. With "error" there are
    no missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.trees.arrays import Tree
    >>> from treewright.trees.data import ModelData
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
    if order not in list(ORDERS):  # a list: order may be unhashable
        raise ParameterError(f"order is {order!r}; choose one of: {', '.join(ORDERS)}")
    is_number = isinstance(max_levels, int) and not isinstance(max_levels, bool)
    if max_levels is not None and (not is_number or max_levels < 1):
        raise ParameterError(f"max_levels is {max_levels!r}; give 1 or more, or None for all levels")
    level = check_level(level)
    summary = summarize(model, tree)
    if order == "confidence" and not summary.counts_classes:
        raise ParameterError("order='confidence' needs class proportions; this model predicts numbers: use 'support'")
    wording = Wording(model, {} if exact else readable_cuts(summary.tree), max_levels)
    teller = OutcomeWriter(summary, level, exact)
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
    """The rules in one of the orders."""
    if order == "support":
        return sorted(rules, key=lambda rule: -rule.support)
    if order == "confidence":
        return sorted(rules, key=lambda rule: -least_certain(rule))
    return rules


def least_certain(rule: LeafRule) -> float:
    """The lower end of the interval, the smallest one of several targets; -1 for a leaf without rows."""
    return min(-1.0 if outcome.interval is None else outcome.interval[0] for outcome in rule.outcomes)


@dataclass(frozen=True)
class OutcomeWriter:
    """Turns the leaves of one tree into outcomes, one per target."""

    summary: TreeSummary
    level: float
    exact: bool

    def outcome(self, leaf: int, at: int) -> Outcome:
        """What a leaf predicts for the target at position ``at``."""
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
        """Number of rows that an interval is computed from."""
        tree = self.summary.tree
        n = float(tree.n_samples[leaf])
        if self.summary.model.missing != "fractional" or not n:
            return n
        # n_samples counts a row in every leaf that has a part of it: the weight is the part that is here.
        return min(n, float(tree.weight[leaf] / tree.weight[0] * tree.n_samples[0]))


@dataclass(eq=False)
class Wording:
    """Turns bounds into `ColumnBound`, each bound once: the leaves below a node share them."""

    model: ModelData
    readable: dict[int, dict[float, float]]  # from `readable_cuts`; empty to write every cut exactly
    max_levels: int | None
    # Weak: with 10,000 levels a bound is large, and it is shared only while the walk is below its node.
    _made: WeakKeyDictionary[Bound, ColumnBound | None] = field(default_factory=WeakKeyDictionary)

    def column_bounds(self, bounds: Mapping[int, Bound]) -> tuple[ColumnBound, ...]:
        """The bounds of a leaf that do not hold for every row."""
        made = []
        for feature, bound in bounds.items():
            if bound not in self._made:
                self._made[bound] = self._column_bound(feature, bound)
            column_bound = self._made[bound]
            if column_bound is not None:
                made.append(column_bound)
        return tuple(made)

    def _column_bound(self, feature: int, bound: Bound) -> ColumnBound | None:
        """A bound with its text, or None if it restricts nothing."""
        column = self.model.schema.columns[feature]
        levels = None if column.kind == "numeric" else chosen(column, levels_of(column, bound))
        present = bound.present and has_values(column, bound) and levels != ()
        missing = self._missing(bound, present)
        is_open = bound.lower == -math.inf and bound.upper == math.inf
        takes_every_value = present and (is_open if levels is None else levels == column.levels)
        if takes_every_value and (missing is not False or self.model.missing == "error"):
            return None
        return ColumnBound(
            column=column.name,
            feature=feature,
            kind=column.kind,
            lower=bound.lower if levels is None else -math.inf,
            upper=bound.upper if levels is None else math.inf,
            levels=levels if present or levels is None else (),
            present=present,
            missing=missing,
            # "Is present" is left out if no training row has a missing value.
            text="" if takes_every_value and not column.missing_seen else self._text(feature, column, bound),
        )

    def _missing(self, bound: Bound, present: bool) -> bool | None:
        """Whether a missing value comes to the leaf; None if the leaf alone does not decide it."""
        if self.model.missing == "error":
            return False
        if self.model.missing in {"surrogate", "fractional"} and present:
            return None
        return bound.missing

    def _text(self, feature: int, column: Column, bound: Bound) -> str:
        """The bound in words, with numbers that are easy to read."""
        if column.kind == "numeric" and column.family not in DATES:
            cuts = self.readable.get(feature, {})
            lower, upper = cuts.get(bound.lower, bound.lower), cuts.get(bound.upper, bound.upper)
            bound = replace(bound, lower=lower, upper=upper)
        # Written exactly: the numbers were rounded above, each as far as its neighbours allow.
        return written_bound(column, bound, exact=True, max_levels=self.max_levels, missing=self.model.missing)


def readable_cuts(tree: Tree) -> dict[int, dict[float, float]]:
    """For each column, by position, its cuts with the number to write instead.

    It has 6 significant digits, or as many as keep the column's cuts different and in their order.
    """
    found: dict[int, list[np.ndarray]] = {}
    is_cut = tree.kind == THRESHOLD
    for feature in np.unique(tree.feature[is_cut]).tolist():
        found[feature] = [tree.threshold[is_cut & (tree.feature == feature)]]
    for node in np.flatnonzero(tree.kind == INTERVALS).tolist():
        found.setdefault(int(tree.feature[node]), []).append(node_cuts(tree, node))
    readable = {}
    for feature, parts in found.items():
        cuts = np.unique(np.concatenate(parts))
        cuts = cuts[np.isfinite(cuts)]
        pairs = zip(cuts.tolist(), gap_digits(cuts).tolist(), strict=True)
        readable[feature] = {cut: rounded(cut, digits) for cut, digits in pairs}
    return readable


def written_percent(share: float, *, digits: int = 3) -> str:
    """A share as a percentage with so many significant digits.

    Examples
    --------
    >>> written_percent(0.95), written_percent(1 / 3)
    ('95 %', '33.3 %')
    """
    return f"{written_amount(100 * share, digits=digits)} %"


def rounded(cut: float, digits: int) -> float:
    """The cut rounded to so many digits."""
    number = float(written_number(cut, digits=digits))
    return number if math.isfinite(number) else cut  # the largest float64, rounded up, would be inf


def levels_of(column: Column, bound: Bound) -> np.ndarray:
    """Return bool[v]: the levels of an ordinal or nominal column that meet the bound."""
    if column.kind == "ordinal":
        return ordinal_levels(column, bound)
    return np.ones(len(column.levels), bool) if bound.allowed is None else bound.allowed


def with_own_names(columns: Sequence[tuple[str, list[Any]]]) -> dict[str, list[Any]]:
    """Return columns by name; of two with one name the later one gets a number at its end.

    Examples
    --------
    >>> with_own_names([("a", [1]), ("a", [2])])
    {'a': [1], 'a_2': [2]}
    """
    named: dict[str, list[Any]] = {}
    for name, values in columns:
        own, number = name, 1
        while own in named:
            number += 1
            own = f"{name}_{number}"
        named[own] = values
    return named


def joined(conditions: Sequence[str]) -> str:
    """Return conditions in one line; of several, those with a choice ("or missing") are put in brackets."""
    if len(conditions) == 1:
        return conditions[0]
    return " and ".join(f"({text})" if " or " in text else text for text in conditions)


def plain_label(label: Any) -> Any:
    """A class label as a Python object; a date finer than Python's stays as it is.

    Examples
    --------
    >>> plain_label(np.int64(3)), plain_label("a")
    (3, 'a')
    """
    plain = label.item() if isinstance(label, np.generic) else label
    is_date = isinstance(label, np.datetime64 | np.timedelta64)
    return label if is_date and isinstance(plain, int) else plain
