"""Ways to prune, as they are written on the command line. In: words. Out: what they stand for. Callers: cli."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

from treewright.cli.declared import Value, parse_value
from treewright.cli.terminal import UsageRefusal, printable
from treewright.data.matching import did_you_mean
from treewright.prune.methods import CROSS_VALIDATED, METHODS, ROUNDS

__all__ = [
    "FIT_PRUNINGS",
    "Pruning",
    "asked_pruning",
    "check_options",
    "in_words",
    "method_named",
    "option_words",
    "options_of_pruning",
    "pruning_named",
    "refuse_for_numbers",
]

_SHORT = {"mdl": "description_length", "ccp": "cost_complexity"}
# Cost-complexity with the price found by cross-validation within the fit, then every method of ``prune``.
_BY_CROSS_VALIDATION = tuple(name.replace("_", "-") for name in CROSS_VALIDATED)
FIT_PRUNINGS = (*_BY_CROSS_VALIDATION, *(name.replace("_", "-") for name in METHODS), "mdl")
_COUNT_ERRORS = ("error_based", "pessimistic")
# Parameters of ``PrunedTree`` itself; all others are options of the method.
_OF_THE_ESTIMATOR = ("cv", "prune_size")


@dataclass(frozen=True)
class Pruning:
    """A way to prune after a fit.

    Attributes
    ----------
    named : str
        How it was asked for, such as ``--prune leaves``; for messages.
    word : str
        One of ``FIT_PRUNINGS``.
    options : mapping from name to value
        Those of the method, ``cv`` and ``prune_size``.
    """

    named: str
    word: str
    options: Mapping[str, Value] = field(default_factory=dict)

    def wrap(self, seed: int) -> Callable[[Any], Any]:
        """What makes of an estimator one that also prunes."""
        from treewright.model_selection.pruning import PrunedTree

        own: dict[str, Any] = {name: value for name, value in self.options.items() if name in _OF_THE_ESTIMATOR}
        options = {name: value for name, value in self.options.items() if name not in own}
        method = _method_of(self.word)
        return lambda estimator: PrunedTree(estimator, method, options=options or None, random_state=seed, **own)


def asked_pruning(named: str, word: str, options: Mapping[str, Value]) -> Pruning:
    """The pruning that a fit is asked for.

    Parameters
    ----------
    named : str
        How it was asked for; for messages.
    word : str
    options : mapping from name to value
        What ``--prune-set`` says.

    Raises
    ------
    UsageRefusal
        There is no such pruning, it has no such option, or one that it needs is lacking.
    """
    word = pruning_named(word, named)
    known = options_of_pruning(word)
    check_options(options, known, "--prune-set", word)
    lacking = [name for name, value in known.items() if value is Parameter.empty and name not in options]
    if lacking:
        raise UsageRefusal(f"{named} needs a number: give it with --prune-set {lacking[0]}=NUMBER")
    return Pruning(named, word, options)


def pruning_named(word: str, named: str) -> str:
    """The one of ``FIT_PRUNINGS`` that a word means; ``-`` and ``_`` are the same.

    Raises
    ------
    UsageRefusal
        There is none.
    """
    meant = word.replace("_", "-")
    if meant not in FIT_PRUNINGS:
        guess = did_you_mean(meant, FIT_PRUNINGS)
        raise UsageRefusal(f"{named}: there is no such pruning{guess}; there are: {', '.join(FIT_PRUNINGS)}")
    return meant


def options_of_pruning(word: str) -> dict[str, Any]:
    """Options of one of ``FIT_PRUNINGS`` with their defaults; ``Parameter.empty`` where one must be given."""
    if word in _BY_CROSS_VALIDATION:
        return {"cv": 10, "risk": "impurity", "loss": None}
    method = METHODS[_method_of(word)]
    return method.options() | ({"prune_size": 1 / 3} if method.needs == "holdout" else {})


def option_words(words: Sequence[str], option: str) -> dict[str, Value]:
    """Options of a pruning from ``name=value`` words.

    Parameters
    ----------
    words : sequence of str
    option : str
        Where they were given; for messages.

    Raises
    ------
    UsageRefusal
        A word of another form, or a name that is given twice.

    Examples
    --------
    >>> option_words(["max-leaves=3", "risk=error"], "--prune-set")
    {'max_leaves': 3, 'risk': 'error'}
    """
    options: dict[str, Value] = {}
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        name = name.replace("-", "_")
        if not equals or not name:
            raise UsageRefusal(f"{option} {word!r}: write it as option=value, such as max_leaves=8")
        if name in options:
            raise UsageRefusal(f"{option} {name}: given twice")
        options[name] = parse_value(text)
    return options


def check_options(given: Mapping[str, Value], known: Collection[str], option: str, word: str) -> None:
    """Refuse options that a pruning has not.

    Raises
    ------
    UsageRefusal
    """
    for name in given:
        if name not in known:
            has = f"there are: {', '.join(known)}" if known else "this one has none"
            raise UsageRefusal(f"{option} {name!r}: {word} has no such option{did_you_mean(name, known)}; {has}")


def refuse_for_numbers(named: str, word: str, what: str, remedy: str) -> None:
    """Refuse a pruning that is for classes alone, where numbers are predicted.

    Parameters
    ----------
    named : str
        How it was asked for.
    word : str
    what : str
        What holds or predicts numbers.
    remedy : str
        What to use instead.

    Raises
    ------
    UsageRefusal
    """
    if _method_of(word) in _COUNT_ERRORS:
        raise UsageRefusal(f"{named} counts misclassified rows, and {printable(what)}: use {remedy}")


def in_words(text: str, cost_complexity: str = "ccp-1se", option: str = "--prune-set") -> str:
    """A message about a pruning in the words of the command line.

    Parameters
    ----------
    text : str
    cost_complexity : str
        What this one is called: a fit finds the price itself, ``prune`` is told it.
    option : str
        Where the options of the pruning are given.

    Examples
    --------
    >>> in_words("use cost_complexity, or reduced_error with rows kept aside")
    'use ccp-1se, or reduced-error with rows kept aside'
    >>> in_words("Pass subtree_raising=False: nodes then only become leaves")
    'Give --prune-set subtree_raising=false: nodes then only become leaves'
    """
    text = re.sub(r"\bPass subtree_raising=False", f"Give {option} subtree_raising=false", text)
    text = re.sub(r"(?<!-set )\bcv=", f"{option} cv=", text)
    text = re.sub(r"\bcost_complexity\b", cost_complexity, text)
    names = "|".join(sorted([*METHODS, "ccp_1se", "ccp_min"], key=len, reverse=True))
    return re.sub(rf"\b({names})\b", lambda found: found.group().replace("_", "-"), text)


def method_named(word: str) -> str:
    """The method of ``Model.prune`` that a word means: one of ``METHODS``, or ``ROUNDS``.

    Raises
    ------
    UsageRefusal
        There is none.
    """
    name = _method_of(word)
    if name != ROUNDS and name not in METHODS:
        words = [*(method.replace("_", "-") for method in METHODS), ROUNDS]
        by_fit = word.replace("_", "-") in _BY_CROSS_VALIDATION
        more = " (it needs the rows to grow on: use fit --prune)" if by_fit else did_you_mean(word, words)
        raise UsageRefusal(f"--method {word!r}: there is no such method{more}; there are: {', '.join(words)}")
    return name


def _method_of(word: str) -> str:
    """The name in Python."""
    return _SHORT.get(word, word.replace("-", "_"))
