"""The words of options: columns that are declared, values, separators.

Errors here are wrong usage: exit code 2, before any file is read. Nothing heavy is imported, so that ``--help``
starts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treewright.cli.terminal import UsageRefusal

if TYPE_CHECKING:
    from treewright.files.columns import CellType

__all__ = ["Declared", "Value", "declare", "one_separator", "parse_value", "split_tokens"]

Value = int | float | bool | str | None

_KINDS = ("numeric", "nominal", "boolean")
_ALL = "all"


@dataclass(frozen=True)
class Declared:
    """Columns whose kinds the user has declared; ``every`` is ``--nominal all``.

    Levels of ordinal columns are the lowest first, ``levels`` those of nominal columns in the order of their branches;
    ``calendar`` has parts of dates, of every column or of some.
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
        """The estimator's ``nominal``, for the columns that are learned from.

        ``typed`` makes values of a column from its levels as words. "all" in ``--nominal all`` is the column of that
        name, if there is one.
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
    """Combine the words of ``--nominal``, ``--ordinal``, ``--numeric``, ``--types`` and ``--calendar``.

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
    r"""The separator as one character; ``tab`` and ``\t`` are understood."""
    if word is None:
        return None
    character = {"tab": "\t", "\\t": "\t"}.get(word, word)
    if len(character) != 1 or not character.isascii() or character in '"\n\r\0':
        raise UsageRefusal(f"--separator {word!r}: give one character, such as ',' or ';' or tab")
    return character
