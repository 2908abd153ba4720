"""The parameters of every algorithm, each stated once: default, range, unit, and a line of what it does.

There is one frozen dataclass per algorithm, in the module that learns it; this module has what they share. Everything
else reads the parameters from there: the check of an estimator's arguments, ``--set`` and ``treewright parameters`` on
the command line, the facts in a model file, the reference page.

Four ideas:

- A `Rule` is what a value may be (a range, one of some words, None ...). It accepts a value or not, and has a text:
  "an int in the range [1, inf)".
- A `Parameter` is a default, rules of which one must accept, a line of help, a unit, and what the documentation says
  besides. It is the metadata of a dataclass field; `param` writes both at once. Signatures and `Parameters` sections of
  the estimators are made of it (`estimators.signatures`).
- A `Need` is what else must be set so that a parameter has an effect. If it is not, any value but the default is
  refused, or a warning is given at fit: none is ignored in silence.
- A `Params` object holds the values as the user gave them. It cannot exist with a value out of range.
  ``learn.settings`` turns its numbers of rows, shares and words into the numbers that growers use.

Classification and regression share a dataclass. A parameter that only one of them has says so (``only``), and a default
that differs is a pair (``by_task``).
"""

from __future__ import annotations

import dataclasses
import inspect
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from treewright.core import notices
from treewright.core.threads import resolve_jobs
from treewright.data.cells import is_hashable
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.trees.threshold import code_of_positive

if TYPE_CHECKING:
    from treewright.data.target import Labels, Numbers

Task = Literal["classification", "regression"]
_LARGEST = float(np.finfo(np.float64).max)
AUTO = "auto"
CLASSES: Task = "classification"
NUMBERS: Task = "regression"


# Rules: what a value may be.


class Rule(NamedTuple):
    """What a value may be.

    Attributes
    ----------
    words : str
        The rule in words, as scikit-learn words its own: it follows "must be".
    accepts : callable
        From a value to whether it is allowed.
    form : tuple
        The sort of rule, and its numbers or words, for code that states rules in a form of its own.
    """

    words: str
    accepts: Callable[[Any], bool]
    form: tuple[Any, ...]


_OPEN_LEFT = {"both": operator.ge, "left": operator.ge, "right": operator.gt, "neither": operator.gt}
_OPEN_RIGHT = {"both": operator.le, "right": operator.le, "left": operator.lt, "neither": operator.lt}


def _interval(sort: str, low: float | None, high: float | None, closed: str, is_number: Callable[[Any], bool]) -> Rule:
    """A rule for numbers between two ends; nan is in no range."""
    above, below = _OPEN_LEFT[closed], _OPEN_RIGHT[closed]

    def accepts(value: Any) -> bool:
        return bool(is_number(value) and above(value, least) and below(value, most))  # nan is neither

    least, most = -np.inf if low is None else low, np.inf if high is None else high
    ends = ["-inf" if low is None else str(low), "inf" if high is None else str(high)]
    left, right = "[" if closed in ("left", "both") else "(", "]" if closed in ("right", "both") else ")"
    form = ("interval", sort, low, high, closed)
    return Rule(
        f"{'an int' if sort == 'int' else 'a float'} in the range {left}{ends[0]}, {ends[1]}{right}", accepts, form
    )


def whole(low: int, high: int | None = None) -> Rule:
    """A whole number; True and False are none."""
    closed = "left" if high is None else "both"
    return _interval(
        "int", low, high, closed, lambda value: isinstance(value, Integral) and not isinstance(value, bool)
    )


def real(low: float | None, high: float | None, closed: str) -> Rule:
    """A float or a whole number."""
    return _interval(
        "real", low, high, closed,
        lambda value: isinstance(value, Integral | float | np.floating) and not isinstance(value, bool),
    )  # fmt: skip


def share(low: float, high: float, closed: str) -> Rule:
    """A float: 1 is a count, 1.0 means all."""
    return _interval("share", low, high, closed, lambda value: isinstance(value, float | np.floating))


# The same for single trees and isolation forests, which have always accepted all of Python's numbers: True is 1.
def any_whole(low: int) -> Rule:
    """A whole number; True is 1."""
    return _interval("int", low, None, "left", lambda value: isinstance(value, Integral))


def any_real(low: float, high: float | None, closed: str) -> Rule:
    """Any real number, fractions included."""
    return _interval("real", low, high, closed, lambda value: isinstance(value, Real))


def any_share(low: float, high: float, closed: str) -> Rule:
    """Any real number whose type is not that of whole numbers."""
    return _interval(
        "share", low, high, closed, lambda value: isinstance(value, Real) and not isinstance(value, Integral)
    )


def words(*allowed: str) -> Rule:
    """One of some words; they are listed in alphabetical order, as a set has another order in every process."""
    known = frozenset(allowed)
    listed = "a str among {" + ", ".join(map(repr, sorted(known))) + "}"
    return Rule(listed, lambda value: isinstance(value, str) and value in known, ("words", allowed))


def instance(kind: type) -> Rule:
    """An instance of a class."""
    plain_names: dict[type, str] = {Integral: "int"}
    own = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    name = plain_names.get(kind, own)
    return Rule(f"an instance of {name!r}", lambda value: isinstance(value, kind), ("instance", kind))


def _is_listed(value: Any) -> bool:
    return any(hasattr(value, name) for name in ("__len__", "shape", "__array__")) and not np.isscalar(value)


def methods(*names: str) -> Rule:
    """An object with some methods."""
    quoted = [repr(name) for name in names]
    listed = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return Rule(
        f"an object implementing {listed}",
        lambda value: all(callable(getattr(value, name, None)) for name in names),
        ("methods", names),
    )


NOTHING = Rule("None", lambda value: value is None, (None,))
FUNCTION = Rule("a callable", callable, ("callable",))
LISTED = Rule("an array-like", _is_listed, ("array-like",))
TEXT, MAPPING, LIST = instance(str), instance(dict), instance(list)
THREADS = instance(Integral)
_FLAG = (instance(bool), instance(np.bool_))
FLAG = Rule(f"{_FLAG[0].words} or {_FLAG[1].words}", lambda value: isinstance(value, bool | np.bool_), ("boolean",))
_LOUD = any_whole(0)
VERBOSE = Rule(f"{_LOUD.words}, {FLAG.words}", lambda value: _LOUD.accepts(value) or FLAG.accepts(value), ("verbose",))
_SEED = _interval("int", 0, 2**32 - 1, "both", lambda value: isinstance(value, Integral))
SEED = Rule(
    f"{_SEED.words}, an instance of 'numpy.random.mtrand.RandomState' or None",
    lambda value: value is None or isinstance(value, np.random.RandomState) or _SEED.accepts(value),
    ("random_state",),
)


# Needs: what another parameter must be.


class Need(NamedTuple):
    """What must be set so that a parameter is used; one of several conditions is enough.

    Attributes
    ----------
    conditions : tuple of (str, tuple or None)
        A parameter, or another input of a fit, and the values that it may have; None: any but None, False and 0.
    why : str
        The reason, if other values are refused; empty if they only give a warning.
    """

    conditions: tuple[tuple[str, tuple[Any, ...] | None], ...]
    why: str = ""

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether the values by name meet the need; an input of a fit that is absent is None."""
        return any(_is_one_of(values.get(name), allowed) for name, allowed in self.conditions)

    @property
    def words(self) -> str:
        """The first condition, in words."""
        name, allowed = self.conditions[0]
        return f"a value of {name}" if allowed is None else f"{name}={' or '.join(map(repr, allowed))}"


def _is_one_of(value: Any, allowed: tuple[Any, ...] | None) -> bool:
    if allowed is None:
        return value is not None and value is not False and not (isinstance(value, Real) and value == 0)
    return any(value is each or (isinstance(value, str) and value == each) for each in allowed)


def needs(why: str = "", **conditions: Any) -> Need:
    """A need by parameters and their values: several of one in a tuple, ``...`` for any that sets it.

    Examples
    --------
    >>> needs(loss="huber").holds({"loss": "huber"}), needs(confidence=...).holds({"confidence": None})
    (True, False)
    >>> needs(splitter=("hist", "random")).words
    "splitter='hist' or 'random'"
    """
    taken = {name: each if isinstance(each, tuple) else (each,) for name, each in conditions.items()}
    return Need(tuple((name, None if each == (...,) else each) for name, each in taken.items()), why)


# Parameters: a default, rules, help.


@dataclass(frozen=True)
class Parameter:
    """Default, rules, help and needs of one parameter.

    Attributes
    ----------
    default : Any
        A value, or a pair of them, one per task (`by_task`); see `default_of`.
    rules : tuple of Rule
        One of them must accept a value; a pair of rules is given by `by_task` too.
    help : str
        What it does, in one line; the documentation begins with it.
    more : str
        What the documentation says after that; or a pair, `by_task`.
    kind : str
        The values in the words of the documentation, if those made from the rules say too little; or a pair.
    unit : str
        What its number counts: ``"rows"``, ``"share of the rows"``; empty for words and switches.
    only : {"classification", "regression"}, optional
        The task that has it.
    shapes_model : bool
        Whether the model can depend on it; other parameters stay out of the model file.
    needs : tuple of Need
        What else must be set so that it is used: all of them.
    """

    default: Any
    rules: tuple[Rule, ...]
    help: str
    unit: str = ""
    only: Task | None = None
    shapes_model: bool = True
    needs: tuple[Need, ...] = ()
    more: Any = ""
    kind: Any = ""

    def default_of(self, task: Task) -> Any:
        """The default for a task."""
        return _for_task(self.default, task)

    @property
    def range(self) -> str:
        """What a value may be, in words."""
        *others, last = [rule.words for rule in self.rules]
        return f"{', '.join(others)} or {last}" if others else last


@dataclass(frozen=True)
class _ByTask:
    """What depends on the task."""

    value: dict[Task, Any]


def by_task(classes: Any, numbers: Any) -> Any:
    """A default, rule or text for classification and one for regression."""
    return _ByTask({CLASSES: classes, NUMBERS: numbers})


def _for_task(given: Any, task: Task) -> Any:
    return given.value[task] if isinstance(given, _ByTask) else given


def param(
    default: Any,
    *rules: Rule,
    help: str,  # noqa: A002 - as argparse and click call it
    unit: str = "",
    only: Task | None = None,
    shapes_model: bool = True,
    needs: Need | tuple[Need, ...] = (),
    more: Any = "",
    kind: Any = "",
) -> Any:
    """A dataclass field that is a parameter."""
    all_needs = (needs,) if isinstance(needs, Need) else needs
    return stated(Parameter(default, rules, help, unit, only, shapes_model, all_needs, more, kind))


def stated(parameter: Parameter) -> Any:
    """A dataclass field of a parameter that is defined already."""
    return field(default=parameter.default, metadata={"parameter": parameter})


@dataclass(frozen=True, kw_only=True)
class Params:
    """The parameters of one fit.

    Attributes
    ----------
    task : {"classification", "regression"}
        The task; not a parameter of an estimator, whose class decides it.
    owner : str
        The name in error messages: the estimator's class.

    Raises
    ------
    ParameterError
        A value that no rule accepts, or values that contradict each other; ``parameter`` of the error names it.
    """

    algorithm_name: ClassVar[str]  # as the model's facts and ``learn.registry`` have it
    by_position: ClassVar[tuple[str, ...]] = ()  # parameters that an estimator takes without their names
    shown_first: ClassVar[tuple[str, ...]] = ()  # in a signature, after those: what is special about the algorithm
    learns_elsewhere: ClassVar[bool] = False  # from rows that lie elsewhere (``data.dataset``)
    cost_of_classes: ClassVar[str] = ""  # what makes many classes slow, for the warning about them

    task: Task = CLASSES
    owner: dataclasses.InitVar[str | None] = None

    def __post_init__(self, owner: str | None) -> None:
        kind: Any = type(self)
        known = parameters_of(kind, self.task)
        for name, each in _stated(kind).items():
            value = getattr(self, name)
            if isinstance(value, _ByTask):
                object.__setattr__(self, name, value.value[self.task])
            elif name not in known and value is not each.default:
                raise ParameterError(f"{name} is a parameter of {each.only}, not of {self.task}")
        self._check_each(known, owner or type(self).__name__)
        for name, need in self._unmet():
            if need.why:
                raise ParameterError(
                    f"{name}{_written(getattr(self, name))} needs {need.words}: {need.why}", parameter=name
                )
        self.check_together()

    def _check_each(self, known: Mapping[str, Parameter], owner: str) -> None:
        for name, each in known.items():
            value = getattr(self, name)
            if not any(rule.accepts(value) for rule in each.rules):
                raise ParameterError(
                    f"The {name!r} parameter of {owner} must be {each.range}. Got {value!r} instead.", parameter=name
                )

    def check_together(self) -> None:
        """Refuse values that contradict each other."""

    def warn_of_unused(self, **inputs: Any) -> None:
        """Warn of each parameter that has no effect because of others; ``inputs`` are the other arguments of a fit."""
        for name, need in self._unmet(**inputs):
            if not need.why:
                other = need.conditions[0][0]
                given = {**inputs, **self.values()}[other]
                notices.warn(
                    f"{name}{_written(getattr(self, name))} is not used: it needs {need.words}, but {other} is "
                    f"{_said(given)}; set one or leave the other out"
                )

    def _unmet(self, **inputs: Any) -> Iterator[tuple[str, Need]]:
        """Parameters that are set although something that they need is not, with the first such need."""
        values, means = self.values(), self.meant()
        kind: Any = type(self)
        for name, each in parameters_of(kind, self.task).items():
            if each.needs and not _is_default(values[name], each.default_of(self.task)):
                unmet = next((need for need in each.needs if not need.holds({**inputs, **values, **means})), None)
                if unmet is not None:
                    yield name, unmet

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Refuse a table too large to learn from in the available memory, before anything is allocated."""

    def bytes_of_classes(self, n_rows: int, n_classes: Sequence[int]) -> int:  # noqa: ARG002 - of those that need them
        """Bytes that the class counts of a fit take at least, from the number of classes of each output."""
        return 0

    def check_target(self, target: Labels | Numbers) -> None:
        """Refuse a target for which the criterion is not defined."""

    def check_domain(self, target: Labels | Numbers, kept: np.ndarray | None) -> None:
        """Refuse a target for which the loss is not defined; ``kept`` bool[n_given] says which rows these are."""

    def values(self) -> dict[str, Any]:
        """The parameters that the task has, by name."""
        kind: Any = type(self)
        return {name: getattr(self, name) for name in parameters_of(kind, self.task)}

    def meant(self) -> dict[str, Any]:
        """The values of parameters such as "auto", as far as they are known before the rows are."""
        return {}

    def positive_facts(self, classes: tuple[np.ndarray, ...]) -> dict[str, int]:
        """The positive class as a fact of the model, by its position; empty if none is set, or rows lack a class.

        Parameters
        ----------
        classes : tuple of ndarray
            Of the target. In the rows of a fold one of the two may be missing.

        Raises
        ------
        ParameterError
            The target does not have two classes, or not this one.
        """
        label = getattr(self, "positive", None)
        if label is None or [len(labels) for labels in classes] == [1]:
            return {}
        return {"positive": code_of_positive(classes, label)}

    def facts(self) -> dict[str, Any]:
        """The parameters that a model can depend on, as plain JSON: the same bytes for the same fit."""
        kind: Any = type(self)
        known = parameters_of(kind, self.task)
        return {name: plain(getattr(self, name)) for name in sorted(known) if known[name].shapes_model}


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | bool | Real | np.generic) and bool(value == default))


def _written(value: Any) -> str:
    """``=value``, to follow a name; empty for a function."""
    return "" if callable(value) else f"={value!r}"


def _said(value: Any) -> str:
    if isinstance(value, str | bool | int | float) or value is None:
        return repr(value)
    return "a function of your own" if callable(value) else "given"


@cache
def _stated(kind: Any) -> dict[str, Parameter]:
    """Every parameter of a dataclass, whichever task has it."""
    return {each.name: each.metadata["parameter"] for each in dataclasses.fields(kind) if "parameter" in each.metadata}


@cache
def parameters_of(kind: Any, task: Task = CLASSES) -> dict[str, Parameter]:
    """The parameters that an algorithm has for a task, by name.

    Examples
    --------
    >>> from treewright.learn.single import TreeParams
    >>> parameters_of(TreeParams, "regression")["criterion"].default_of("regression")
    'squared_error'
    >>> parameters_of(TreeParams)["max_depth"].range
    'an int in the range [1, inf) or None'
    """
    return {
        name: dataclasses.replace(
            each,
            rules=tuple(dict.fromkeys(_for_task(rule, task) for rule in each.rules)),
            more=_for_task(each.more, task),
            kind=_for_task(each.kind, task),
        )
        for name, each in _stated(kind).items()
        if each.only in (None, task)
    }


def plain(value: Any) -> Any:
    """A value as plain JSON; what has no JSON form is named by its attribute ``plain``, or by its type."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return min(int(value), int(_LARGEST))  # a file holds no number beyond float64
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, Real):
        return finite(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return [[plain(key), plain(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(getattr(value, "plain", type(value).__name__))


def finite(value: Any) -> float:
    """A number as float64; one beyond it as the largest."""
    try:
        return min(float(value), _LARGEST)
    except OverflowError:
        return _LARGEST


def refuse_other_function(function: Callable[..., Any], name: str, what: str, n_arguments: int) -> None:
    """Refuse a function that cannot be called with so many arguments, before anything is grown.

    Raises
    ------
    ParameterError
        It does not take so many arguments.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a function written in C has no signature
        return
    try:
        signature.bind(*[None] * n_arguments)
    except TypeError as error:
        raise ParameterError(f"{name}={name_of(function)} must take {what}: {error}") from None


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function."""
    return getattr(function, "__name__", None) or type(function).__name__


# What several algorithms have in common.

N_JOBS = Parameter(
    None, (THREADS, NOTHING), unit="threads", shapes_model=False, help="threads; None is all processors",
    more="The model does not depend on it.",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ColumnParams(Params):
    """The declarations of columns, and the number of threads."""

    grows_sparse: ClassVar[bool] = False  # whether it can learn from a dataset whose zeros are not stored

    nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = param(
        None, LISTED, MAPPING, TEXT, NOTHING, help="nominal columns, whose values are names; 'all' for every column",
        kind='sequence of column names or positions, mapping from column to its levels, or "all"',
    )  # fmt: skip
    ordinal: Mapping[Hashable, Sequence[Hashable]] | None = param(
        None, MAPPING, NOTHING, help="ordinal columns: their levels, lowest first",
        kind="dict from column name or position to its levels",
    )  # fmt: skip
    numeric: Sequence[Hashable] | None = param(
        None, LISTED, NOTHING, help="numeric columns, if their type does not say so",
        kind="sequence of column names or positions",
    )  # fmt: skip
    calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = param(
        None, LISTED, MAPPING, NOTHING, help="parts of dates, such as month, as columns of their own",
        kind="sequence of parts of dates, or mapping from column name or position to these",
        more='of every column of dates that has them, or of those that are named: "year", "month", "day", "weekday", '
        '"hour", "days since 2020-01-01".',
    )  # fmt: skip
    unseen: str = param(
        "missing", words("missing", "error", "majority"), help="how a level that fit never saw is treated",
        more="as a missing cell, as an error, or as a cell that takes the heavier branch. An ordinal column has no "
        'place for such a level: there "majority" is "missing".',
    )  # fmt: skip
    n_jobs: int | None = stated(N_JOBS)

    @property
    def class_weight_of_fit(self) -> Any:
        """The class weights of the fit."""
        return getattr(self, "class_weight", None)

    @property
    def missing_cells(self) -> str:
        """The treatment of missing values; ``"error"`` if they are refused."""
        way: str = getattr(self, "missing", "direction")
        return way


def _rows_of(size: float, n_rows: int) -> float:
    """A number of rows, or a share of them, as a number >= 1."""
    return max(1.0, size if size >= 1 else size * n_rows)


def bytes_of_leaves(params: Any, n_rows: int, n_classes: Sequence[int]) -> int:
    """Bytes of the class counts in a tree's leaves, if these separate the classes, as far as its limits allow.

    A bound from above, rows times classes, would refuse tables of a million rows whose trees are small.
    """
    limits = [max(n_classes), n_rows, params.max_leaf_nodes if hasattr(params, "max_leaf_nodes") else None]
    limits.append(int(n_rows / _rows_of(params.min_samples_leaf, n_rows)))
    limits.append(None if params.max_depth is None else 2 ** min(int(params.max_depth), 60))
    return 8 * sum(n_classes) * min(int(limit) for limit in limits if limit is not None)


MIN_SAMPLES_LEAF = Parameter(
    1, (any_whole(1), any_share(0.0, 1.0, "neither")), unit="rows or share of the rows", help="rows a branch needs"
)
MIN_WEIGHT_FRACTION_LEAF = Parameter(
    0.0, (any_real(0.0, 0.5, "both"),), unit="share of the weight", help="share of the whole weight a branch needs"
)


@dataclass(frozen=True, kw_only=True)
class TreeLimits(ColumnParams):
    """Limits of the growth of a single tree."""

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Items of 4 bytes a cell; 24 bytes a row to sort a column on each thread, and about as much for the target."""
        n_threads = min(resolve_jobs(self.n_jobs), n_columns)
        needed = 4 * n_rows * n_columns + 24 * n_rows * (n_threads + 1)
        check_fits(needed, f"growing on {n_rows} rows x {n_columns} columns")

    max_depth: int | None = param(
        None, any_whole(1), NOTHING, unit="edges", help="depth of the deepest leaf; the root has depth 0"
    )
    min_samples_split: float = param(
        2,
        any_whole(2),
        any_share(0.0, 1.0, "right"),
        unit="rows or share of the rows",
        help="rows a node needs to be split",
        more="A float is a share of all rows, rounded up.",
    )
    min_samples_leaf: float = stated(MIN_SAMPLES_LEAF)


# Parameters that mean the same in several classes: `stated` makes a field of one. First the types of their values.
ClassWeight = Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None
Seed = int | np.random.RandomState | None
Signs = Sequence[int] | Mapping[Hashable, int] | None
Groups = Sequence[Sequence[Hashable]] | str | None
CLASS_WEIGHT_KIND = 'dict, list of dict, "balanced"'
CLASS_WEIGHT = Parameter(
    None, (MAPPING, LIST, words("balanced"), NOTHING), only=CLASSES,
    help="weights of the classes: a dict from label to weight, 'balanced', or a list of them", kind=CLASS_WEIGHT_KIND,
)  # fmt: skip
POSITIVE = Parameter(
    None, (Rule("a class label", is_hashable, ("instance", object)), NOTHING), only=CLASSES, shapes_model=False,
    help="the positive class of two: constraints, costs, thresholds and curves are about it; None is the second",
)  # fmt: skip
GROW_TRACE = Parameter(
    False, (FLAG,), shapes_model=False, help="keep the best splits of every node: trace_ shows how the tree grew"
)
RANDOM_STATE = Parameter(
    None, (SEED,), help="seed of all sampling; None means 0", more="Fits are reproducible.",
    kind="int, RandomState instance",
)  # fmt: skip
MONOTONE = Parameter(
    None, (LISTED, MAPPING, NOTHING),
    help="per column -1, 0 or 1: the prediction (of classes the positive one's) may only fall or rise with the column",
    more=by_task("Two classes, one output.", "One output."), kind="sequence of -1, 0, 1, or dict from column name",
)  # fmt: skip
INTERACTIONS = Parameter(
    None, (LISTED, words("pairwise", "no_interactions"), NOTHING),
    help="groups of columns that may be tested on one path from the root to a leaf",
    more="Columns in no group form one more group.",
    kind='sequence of groups of columns (names or positions), "pairwise", "no_interactions"',
)  # fmt: skip
MAX_BINS = Parameter(
    255, (whole(2, 255),), unit="bins", help="bins of a column",
    more="One more is for missing cells. Cuts lie between bins; a column with fewer distinct values loses nothing.",
)  # fmt: skip
WARM_START = Parameter(
    False, (FLAG,), shapes_model=False, help="a further fit with more n_estimators continues from this one",
    more="The result is that of one fit, so the table must be the same.",
)  # fmt: skip
PLAN = "plan: "  # how a report of progress begins that says what will be grown; it is shown on a line of its own
LOUDNESS = Parameter(
    0, (VERBOSE,), shapes_model=False, help="above 0 shows the progress on standard error",
    more="It is a bar on a terminal, otherwise a line now and then.",
)  # fmt: skip
