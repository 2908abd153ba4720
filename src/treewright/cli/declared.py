"""What the user says about columns and parameters. In: words. Out: checked mappings. Callers: cli.app.

Everything here is wrong usage when it is wrong: exit code 2, before any file is read.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treewright.cli.other_names import hint_for
from treewright.cli.structured import is_structured, structured_value
from treewright.cli.terminal import UsageRefusal

if TYPE_CHECKING:
    from treewright.cli.columns import CellType

__all__ = ["Declared", "Value", "declare", "one_separator", "parse_settings", "parse_value", "split_tokens"]

Value = int | float | bool | str | None

_KINDS = ("numeric", "nominal", "boolean")
_ALL = "all"
OWN_OPTION = {
    "nominal": "--nominal",
    "ordinal": "--ordinal",
    "numeric": "--numeric",
    "unseen": "--unseen",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}
_OF_SEVERAL = ("quantile", "init")  # one number or several
# Parameters that can do nothing on the command line.
_IDLE = {
    "callbacks": "they are functions of Python",
    "scoring": "it is a function of Python",
    "warm_start": "a command fits once, so there is nothing to go on from",
    "verbose": "the bar is shown by itself where a person looks on",
}


@dataclass(frozen=True)
class Declared:
    """Columns about which the user has decided.

    Attributes
    ----------
    nominal, numeric : tuple of str
    boolean : tuple of str
    ordinal : dict of str to list of str
        Levels, lowest first.
    levels : dict of str to list of str
        Levels of nominal columns, in the order of their branches.
    every : bool
        Whether ``--nominal all`` was said.
    """

    nominal: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    ordinal: dict[str, list[str]] = field(default_factory=dict)
    levels: dict[str, list[str]] = field(default_factory=dict)
    every: bool = False

    @property
    def cell_types(self) -> dict[str, CellType]:
        """How the cells of the declared columns are to be parsed; ``--nominal all`` leaves that to the cells."""
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
            "all" in ``--nominal all`` is the column of that name, where there is one.
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


def declare(nominal: Sequence[str], ordinal: Sequence[str], numeric: Sequence[str], types: Sequence[str]) -> Declared:
    """Bring the ways to declare columns together.

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

    Raises
    ------
    UsageRefusal
        A word of another form, an unknown kind, or a column declared twice.

    Examples
    --------
    >>> declare(["zip"], ["size=S,M,L"], [], ["age=numeric"])
    Declared(nominal=('zip',), numeric=('age',), boolean=(), ordinal={'size': ['S', 'M', 'L']}, levels={}, every=False)
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
                    raise UsageRefusal(f"--{kind} {word!r}: the levels of column {name!r} were given otherwise before")
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
    return Declared(named, chosen["numeric"], chosen["boolean"], levels["ordinal"], levels["nominal"], every)


def _split_levels(kind: str, word: str) -> tuple[str, list[str]]:
    """The column and the levels of ``column=level,...,level``.

    Raises
    ------
    UsageRefusal
        Not of that form, fewer than two levels, or a level twice.
    """
    name, _, listed = word.partition("=")
    levels = next(csv.reader([listed], skipinitialspace=True), [])
    if name and len(set(levels)) >= 2 and len(set(levels)) == len(levels):
        return name, levels
    form = "column=lowest,...,highest" if kind == "ordinal" else "column=level,...,level"
    remedy = "" if kind == "ordinal" else f"; a column whose name holds '=' is declared by --types '{word}=nominal'"
    raise UsageRefusal(f"--{kind} {word!r}: write it as '{form}', each of two levels or more once{remedy}")


def parse_settings(
    words: Sequence[str], known: Mapping[str, object], elsewhere: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Parameters of an estimator from ``name=value`` words.

    Parameters
    ----------
    words : sequence of str
    known : mapping
        The estimator's parameters with their defaults.
    elsewhere : mapping from name to why, optional
        Parameters that it lacks and another has.

    Raises
    ------
    UsageRefusal
        A word without ``=``, an unknown parameter (the nearest is named), one that has an option of its own or does
        nothing here, one that is given twice, or a list or dict that is none.

    Examples
    --------
    >>> parse_settings(["quantile=[0.1, 0.9]", "init=zero"], {"quantile": 0.5, "init": None})
    {'quantile': [0.1, 0.9], 'init': 'zero'}
    """
    settings: dict[str, Any] = {}
    open_names = sorted(set(known) - set(OWN_OPTION) - set(_IDLE))
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or not name:
            raise UsageRefusal(f"--set {word!r}: write it as name=value, such as max_depth=4")
        if name in OWN_OPTION:
            raise UsageRefusal(f"--set {word!r}: use {OWN_OPTION[name]} instead")
        if name in _IDLE and name in known:
            raise UsageRefusal(f"--set {word!r} does nothing on the command line: {_IDLE[name]}")
        if name not in known and elsewhere and name in elsewhere:
            raise UsageRefusal(f"--set {word!r}: {name} {elsewhere[name]}")
        if name not in known:
            near = difflib.get_close_matches(name, open_names, n=1, cutoff=0.6)
            meant = hint_for(name, open_names)
            hint = f" {meant};" if meant else f" did you mean {near[0]}?" if near else ""
            raise UsageRefusal(f"--set {word!r}: no parameter {name!r};{hint} there are: {', '.join(open_names)}")
        if name in settings:
            raise UsageRefusal(f"--set {name}: given twice")
        settings[name] = _setting(name, text)
    return settings


def _setting(name: str, text: str) -> Any:
    """What was said of a parameter.

    Raises
    ------
    UsageRefusal
        Brackets that do not close, or a list or dict that is none.
    """
    if is_structured(name):
        return structured_value(name, text)
    if name not in _OF_SEVERAL or not ("," in text or "[" in text or "]" in text):
        return parse_value(text)
    inner = text.removeprefix("[").removesuffix("]")
    if len(text) - len(inner) not in (0, 2) or "[" in inner or "]" in inner:
        raise UsageRefusal(f"--set {name}={text}: give one number, or several with commas between them, as in 0.1,0.9")
    return [parse_value(word.strip()) for word in inner.split(",")] if inner.strip() else []


def parse_value(text: str) -> Value:
    """A word as whole number, number, true, false, none or text.

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
