"""Options that several commands share: their types for typer, and the parsing of their words.

Errors here are wrong usage: exit code 2, before any file is read. Nothing heavy is imported, so that ``--help``
starts at once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treewright.cli.streams import input_path, output_path
from treewright.cli.terminal import UsageRefusal

if TYPE_CHECKING:
    from treewright.files import ReadOptions
    from treewright.files.columns import CellType


Value = int | float | bool | str | None

_KINDS = ("numeric", "nominal", "boolean")
_ALL = "all"


class TaskName(StrEnum):
    """The task: classification, regression, or chosen by the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class ParameterForm(StrEnum):
    """How parameters are listed."""

    text = "text"
    markdown = "markdown"
    json = "json"


class UnseenName(StrEnum):
    """How a level that fit never saw is treated."""

    missing = "missing"
    error = "error"
    majority = "majority"
    other = "other"


class ContributionKind(StrEnum):
    """How unknown columns are treated."""

    path = "path"
    interventional = "interventional"
    steps = "steps"


class FormatName(StrEnum):
    """How a model is shown."""

    text = "text"
    svg = "svg"
    png = "png"
    pdf = "pdf"
    dot = "dot"
    json = "json"
    rules = "rules"
    rules_csv = "rules-csv"


class ColorName(StrEnum):
    """When the output has colours."""

    auto = "auto"
    always = "always"
    never = "never"


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV (plain or gzip) or Parquet, or a folder or pattern of these; - is standard input.",
        show_default=False,
        parser=input_path,
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model file that fit wrote; - is standard input.",
        show_default=False,
        parser=input_path,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Results as one JSON document, for programs.", rich_help_panel="Output")
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="fp=1,fn=5",
        help="The cost of predicting one of two classes wrongly (fp), and of missing it (fn).",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="CLASS",
        help="The class that costs, thresholds, constraints and curves are about; by default the second.",
    ),
]
AnyCost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="fp=1,fn=5",
        help="The cost of predicting one of two classes wrongly (fp), and of missing it (fn); or JSON, the true class "
        'first: {"good": {"bad": 1}, "bad": {"good": 5}}.',
    ),
]
PositiveOfMeasures = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="CLASS",
        help="The class that costs, threshold, F1, precision and recall are about; by default the second.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace output files that exist.")]
TaskChoice = Annotated[
    TaskName,
    typer.Option(
        "--task",
        help="auto: text, booleans and up to 20 different whole numbers (1 or 1.0) are classes, others are numbers.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter, such as max_depth=4; may be repeated. `treewright parameters` lists them.",
    ),
]
PruneSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--prune-set", metavar="NAME=VALUE", help="An option of the pruner, such as max_leaves=8; may be repeated."
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, help="For the held-out rows, and for everything else that is random."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", help="Threads; every processor by default. The tree is the same for any number."
    ),
]
Nominal = Annotated[
    list[str] | None,
    typer.Option(
        "--nominal",
        metavar="COL[=LEVEL,..]",
        help="A nominal column, with its levels if you list them; all: every column.",
        rich_help_panel="Columns",
    ),
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option(
        "--ordinal", metavar="COL=LOW,..,HIGH", help="An ordinal column, lowest level first.", rich_help_panel="Columns"
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option("--numeric", metavar="COL", help="A numeric column.", rich_help_panel="Columns"),
]
Calendar = Annotated[
    list[str] | None,
    typer.Option(
        "--calendar",
        metavar="[COL=]PART,..",
        help="Parts of dates as columns: year, month, day, weekday, hour, 'days since 2020-01-01'.",
        rich_help_panel="Columns",
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="COL=KIND", help="KIND: numeric, nominal or boolean.", rich_help_panel="Columns"),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help="A column to leave out.", rich_help_panel="Columns"),
]
Weight = Annotated[
    str | None, typer.Option("--weight", metavar="COL", help="A column of row weights.", rich_help_panel="Columns")
]
SkipMissingTarget = Annotated[
    bool, typer.Option("--skip-missing-target", help="Leave out rows without a target.", rich_help_panel="Columns")
]
Unseen = Annotated[
    UnseenName | None,
    typer.Option(
        "--unseen",
        help="How an unseen level is treated at predict; by default missing, for knn other: unequal to every level.",
        rich_help_panel="Columns",
    ),
]
Target = Annotated[str, typer.Option("--target", metavar="COL", help="The column to predict.", show_default=False)]
Truth = Annotated[
    str | None, typer.Option("--target", metavar="COL", help="The target column; by default the model's own.")
]
OutText = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write to this file, not to the screen.", parser=output_path),
]
Color = Annotated[
    ColorName,
    typer.Option(
        "--color",
        help="auto: colours and bars on a terminal, plain text in a pipe or file.",
        rich_help_panel="Screen",
    ),
]
Width = Annotated[
    int | None,
    typer.Option(
        "--width",
        metavar="N",
        help="Characters of a line; by default the width of the window.",
        rich_help_panel="Screen",
    ),
]


# --- parsing the words


@dataclass(frozen=True)
class Declared:
    """Columns whose kinds the user has declared.

    Attributes
    ----------
    nominal, numeric : tuple of str
    boolean : tuple of str
    ordinal : dict of str to list of str
        Levels, lowest first.
    levels : dict of str to list of str
        Levels of nominal columns, in the order of their branches.
    every : bool
        Whether ``--nominal all`` was given.
    calendar : list of str, dict of str to list of str, or None
        Parts of dates, of every column or of some.
    """

    nominal: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    ordinal: dict[str, list[str]] = field(default_factory=dict)
    levels: dict[str, list[str]] = field(default_factory=dict)
    every: bool = False
    calendar: list[str] | dict[str, list[str]] | None = None

    @property
    def cell_types(self) -> dict[str, CellType]:
        """How the cells of the declared columns are parsed; under ``--nominal all`` the cells decide."""
        types: dict[str, CellType] = dict.fromkeys((*self.nominal, *self.levels, *self.ordinal), "text")
        return types | dict.fromkeys(self.numeric, "number") | dict.fromkeys(self.boolean, "boolean")

    def nominal_of(self, features: Sequence[str], typed: Callable[[str, list[str]], list[Any]]) -> Any:
        """The estimator's ``nominal``.

        Parameters
        ----------
        features : sequence of str
            The columns that are learned from.
        typed : callable
            From a column and its levels as words to the levels as values of that column.

        Returns
        -------
        None, list of str, dict of str to levels or None, or "all"
            "all" in ``--nominal all`` is the column of that name, if there is one.
        """
        meant = set(self.nominal) | ({_ALL} if self.every else set())
        named = [name for name in features if name in meant]
        if self.every and _ALL not in features:
            if not self.levels:
                return _ALL
            otherwise = {*self.levels, *self.ordinal, *self.numeric}
            named = [name for name in features if name not in otherwise]
        if not self.levels:
            return named or None
        return dict.fromkeys(named) | {name: typed(name, words) for name, words in self.levels.items()}


def declare(
    nominal: Sequence[str],
    ordinal: Sequence[str],
    numeric: Sequence[str],
    types: Sequence[str],
    calendar: Sequence[str] = (),
) -> Declared:
    """Combine the options that declare columns.

    Parameters
    ----------
    nominal : sequence of str
        Column names; ``column=level,...,level``; or ``all``.
    ordinal : sequence of str
        ``column=lowest,...,highest``; a level that holds a comma in double quotes.
    numeric : sequence of str
        Column names.
    types : sequence of str
        ``column=kind``, several separated by commas.
    calendar : sequence of str
        ``part,...,part``, or ``column=part,...,part``.

    Raises
    ------
    UsageRefusal
        A word of another form, an unknown kind, or a column declared twice.

    Examples
    --------
    >>> declared = declare(["zip"], ["size=S,M,L"], [], ["age=numeric"], ["sold=month,hour"])
    >>> declared.nominal, declared.ordinal, declared.numeric, declared.calendar
    (('zip',), {'size': ['S', 'M', 'L']}, ('age',), {'sold': ['month', 'hour']})
    >>> declare(["all", "type=Drama,Comedy"], [], [], []).levels
    {'type': ['Drama', 'Comedy']}
    """
    kinds: dict[str, str] = {}
    levels: dict[str, dict[str, list[str]]] = {"nominal": {}, "ordinal": {}}

    def settle(name: str, kind: str) -> None:
        if kinds.setdefault(name, kind) != kind:
            raise UsageRefusal(f"column {name!r} is declared {kinds[name]} and {kind}: keep one")

    for kind, words in (("nominal", nominal), ("ordinal", ordinal)):
        for word in words:
            if kind == "nominal" and "=" not in word:
                name = word
            else:
                name, listed = _split_levels(kind, word)
                if levels[kind].setdefault(name, listed) != listed:
                    raise UsageRefusal(f"--{kind} {word!r}: column {name!r} has two lists of levels: keep one")
            if kind == "ordinal" or word != _ALL:
                settle(name, kind)
    for name in numeric:
        settle(name, "numeric")
    for word in (part for given in types for part in given.split(",")):
        name, _, kind = word.rpartition("=")
        if not name or kind not in _KINDS:
            raise UsageRefusal(f"--types {word!r}: write it as column=kind, where kind is one of {', '.join(_KINDS)}")
        settle(name, kind)
    chosen = {kind: tuple(name for name, word in kinds.items() if word == kind) for kind in _KINDS}
    named = tuple(name for name in chosen["nominal"] if name not in levels["nominal"])
    every = _ALL in nominal
    parts = _parts(calendar)
    return Declared(named, chosen["numeric"], chosen["boolean"], levels["ordinal"], levels["nominal"], every, parts)


def _parts(words: Sequence[str]) -> list[str] | dict[str, list[str]] | None:
    """The parts of dates in ``--calendar``, of every column or of some."""
    of_all: list[str] = []
    of_column: dict[str, list[str]] = {}
    for word in words:
        name, is_named, parts = word.rpartition("=")
        listed = of_column.setdefault(name, []) if is_named else of_all
        listed += [part.strip() for part in parts.split(",")]
    if of_all and of_column:
        raise UsageRefusal("--calendar names parts for every column and for some: name the column each time, or never")
    return of_all or of_column or None


def _split_levels(kind: str, word: str) -> tuple[str, list[str]]:
    """The column and the levels of ``column=level,...,level``."""
    import csv

    name, _, listed = word.partition("=")
    levels = next(csv.reader([listed], skipinitialspace=True), [])
    if name and len(set(levels)) >= 2 and len(set(levels)) == len(levels):
        return name, levels
    form = "column=lowest,...,highest" if kind == "ordinal" else "column=level,...,level"
    remedy = "" if kind == "ordinal" else f"; a column whose name contains '=' is declared by --types '{word}=nominal'"
    raise UsageRefusal(f"--{kind} {word!r}: write it as '{form}', with two levels or more, each once{remedy}")


def parse_value(text: str) -> Value:
    """A word as a whole number, number, true, false, none or text.

    Examples
    --------
    >>> [parse_value(word) for word in ("4", "0.5", "1e-3", "true", "none", "sqrt")]
    [4, 0.5, 0.001, True, None, 'sqrt']
    """
    words: dict[str, Value] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def split_tokens(words: Sequence[str]) -> tuple[str, ...]:
    """Tokens from words that may hold several, separated by commas."""
    return tuple(dict.fromkeys(token.strip() for word in words for token in word.split(",") if token.strip()))


def one_separator(word: str | None) -> str | None:
    r"""The separator as one character; ``tab`` and ``\t`` are understood.

    Raises
    ------
    UsageRefusal
        Not exactly one character, or one that cannot separate cells.
    """
    if word is None:
        return None
    character = {"tab": "\t", "\\t": "\t"}.get(word, word)
    if len(character) != 1 or not character.isascii() or character in '"\n\r\0':
        raise UsageRefusal(f"--separator {word!r}: give one character, such as ',' or ';' or tab")
    return character


# --- how text files are read


@dataclass(frozen=True)
class Reading:
    """The words of the options about reading, by the fields of ``ReadOptions``; None if not given."""

    words: Mapping[str, Any] = field(default_factory=dict)

    def given(self) -> dict[str, Any]:
        """The options by their names on the command line, with None for those that are not given."""
        return {_option(name): word or None for name, word in self.words.items()}

    def options(self) -> ReadOptions:
        """How text files are read."""
        from treewright.files import ReadOptions

        given = {name: word for name, word in self.words.items() if word is not None}
        if "missing_tokens" in given:
            given["missing_tokens"] = split_tokens(given["missing_tokens"])
        if "separator" in given:
            given["separator"] = one_separator(given["separator"])
        return ReadOptions(**given)


AS_IT_IS = Reading()
# Field of ``ReadOptions`` -> type, placeholder, help.
_READING: Mapping[str, tuple[Any, str, str]] = {
    "missing_tokens": (list[str] | None, "NA,n/a", "Cells that mean missing, in addition to empty cells."),
    "separator": (str | None, "CHAR", "Between cells; by default detected."),
    "encoding": (str | None, "NAME", "By default the file's byte order mark, or utf-8."),
    "decimal": (str | None, ",", "The decimal mark; by default a point, and between semicolons by the numbers."),
    "thousands": (str | None, "CHAR|space", "The mark between thousands; without it, such numbers are refused."),
    "date_format": (str | None, "%d.%m.%Y", "How dates are written; by default as 2021-12-31."),
    "skip_rows": (int | None, "N", "Lines before the header to leave out."),
    "skip_footer": (int | None, "N", "Lines at the end to leave out, as totals; blank lines do not count."),
}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def with_reading(*, hidden: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options about reading in place of its parameter ``read``."""

    def extend(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*positional: Any, **given: Any) -> None:
            command(*positional, read=Reading({name: given.pop(name) for name in _READING}), **given)

        known = list(inspect.signature(command, eval_str=True).parameters.values())
        at = [each.name for each in known].index("read")
        options = [
            known[at].replace(
                name=name,
                default=None,
                annotation=Annotated[
                    kind,
                    typer.Option(
                        _option(name), metavar=metavar, help=text, hidden=hidden, rich_help_panel="Reading",
                        min=0 if name.startswith("skip_") else None,
                    ),
                ],
            )
            for name, (kind, metavar, text) in _READING.items()
        ]  # fmt: skip
        run.__signature__ = inspect.Signature([*known[:at], *options, *known[at + 1 :]])  # type: ignore[attr-defined]
        return run

    return extend
