"""Pruners as they are written on the command line, for ``fit``, ``compare`` and ``prune``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter
from typing import Any

from treewright.cli.parsing import Value, parse_value
from treewright.cli.terminal import UsageRefusal, as_option, as_set, is_typed_short, printable
from treewright.data.schema import did_you_mean
from treewright.exceptions import Phrase
from treewright.prune.methods import CALLED, CROSS_VALIDATED, EXAMPLES, METHODS, ROUNDS

__all__ = [
    "DEFAULT_PRUNING",
    "FIT_PRUNINGS",
    "NO_PRUNING",
    "OPTIONS_OF_ROUNDS",
    "Pruning",
    "check_options",
    "every_option",
    "method_named",
    "option_words",
    "options_of_pruning",
    "pruning_named",
    "pruning_of",
    "pruning_words",
    "refuse_for_numbers",
]

OPTIONS_OF_ROUNDS = ("n_rounds",)
_SHORT = ("mdl", "ccp")  # of ``CALLED``, those that the command takes as they are
# Cost-complexity with an alpha chosen by cross-validation within the fit, then every method of ``prune``.
_BY_CROSS_VALIDATION = tuple(name.replace("_", "-") for name in CROSS_VALIDATED)
FIT_PRUNINGS = (*_BY_CROSS_VALIDATION, *(name.replace("_", "-") for name in METHODS), "mdl")
_COUNT_ERRORS = ("error_based", "pessimistic")


@dataclass(frozen=True)
class Pruning:
    """A pruner that is applied after a fit: ``word`` is one of ``FIT_PRUNINGS``, ``named`` the option for messages.

    ``options`` are those of the method, ``cv`` and ``prune_size``.
    """

    named: str
    word: str
    options: Mapping[str, Value] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The name of the method in Python."""
        return _method_of(self.word)

    @property
    def is_by_folds(self) -> bool:
        """Whether cross-validation on the training rows chooses the size."""
        return self.word in _BY_CROSS_VALIDATION

    def for_thresholds(self) -> Pruning:
        """The same for a tree that gets a threshold, with the loss that `PrunedTree.judged_by_shares` explains."""
        return replace(self, options={"loss": "log_loss", **self.options}) if self.is_by_folds else self


NO_PRUNING = "none"
# It chooses the size of a tree if no option does.
DEFAULT_PRUNING = Pruning("", "ccp-min")


def pruning_of(named: str, word: str, options: Mapping[str, Value]) -> Pruning:
    """The pruner of a fit, from the word of the option ``named`` and the options of ``--prune-set``."""
    word = pruning_named(word, named)
    known = options_of_pruning(word)
    check_options(options, known, "--prune-set", word)
    lacking = [name for name, value in known.items() if value is Parameter.empty and name not in options]
    if lacking:
        raise UsageRefusal(f"{named} needs a value, such as --prune-set {lacking[0]}={EXAMPLES[lacking[0]]}")
    return Pruning(named, word, options)


def pruning_named(word: str, named: str) -> str:
    """The one of ``FIT_PRUNINGS`` that a word means; ``-`` and ``_`` are the same."""
    meant = word.replace("_", "-")
    if meant not in FIT_PRUNINGS:
        words = (*FIT_PRUNINGS, NO_PRUNING)
        guess = _meant(word, words)
        raise UsageRefusal(f"{named}: no such pruner{guess}; choose one of {', '.join(words)}")
    return meant


def options_of_pruning(word: str) -> dict[str, Any]:
    """Options of one of ``FIT_PRUNINGS`` with their defaults; ``Parameter.empty`` if one must be given."""
    if word in _BY_CROSS_VALIDATION:
        return {"cv": 10, "risk": "impurity", "loss": None}
    method = METHODS[_method_of(word)]
    return method.options() | ({"prune_size": 1 / 3} if method.needs == "holdout" else {})


def option_words(words: Sequence[str], option: str) -> dict[str, Value]:
    """Options of a pruner from ``name=value`` words; ``option`` is the one that they were given by, for messages.

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
            both = f"{as_set(name)} and " if option == "--set" and is_typed_short(name) else ""
            raise UsageRefusal(f"{both}{option} {name}: given twice")
        options[name] = parse_value(text)
    return options


def check_options(given: Mapping[str, Value], known: Collection[str], option: str, word: str) -> None:
    """Refuse options that a pruner does not have."""
    for name in given:
        if name not in known:
            has = f"choose one of {', '.join(known)}" if known else "it has none"
            asked = as_set(name) if option == "--set" and is_typed_short(name) else f"{option} {name!r}"
            raise UsageRefusal(f"{asked}: {word} has no such option{did_you_mean(name, known)}; {has}")


def refuse_for_numbers(named: str, word: str, what: str, remedy: str) -> None:
    """Refuse a pruner of classification trees for regression.

    ``named`` is the option, ``what`` holds or predicts the numbers, ``remedy`` is what to use instead.
    """
    if _method_of(word) in _COUNT_ERRORS:
        raise UsageRefusal(f"{named} counts misclassified rows, and {printable(what)}: use {remedy}")


def every_option() -> list[str]:
    """Options of all pruners."""
    of_trees = (name for method in METHODS.values() for name in method.options())
    return list(dict.fromkeys([*of_trees, *OPTIONS_OF_ROUNDS]))


def method_named(word: str) -> str:
    """The method of ``Model.prune`` that a word means: one of ``METHODS``, or ``ROUNDS``."""
    name = _method_of(word)
    if name != ROUNDS and name not in METHODS:
        words = [*(method.replace("_", "-") for method in METHODS), ROUNDS]
        by_fit = word.replace("_", "-") in _BY_CROSS_VALIDATION
        more = " (it needs the training rows: use fit --prune)" if by_fit else _meant(word, words)
        raise UsageRefusal(f"--method {word!r}: no such method{more}; choose one of {', '.join(words)}")
    return name


def _meant(word: str, words: Collection[str]) -> str:
    """The pruner that a word of a book, of another library or with a typing error means, as a question in brackets."""
    right = CALLED.get(word.lower().replace("-", "_"), "").replace("_", "-")
    return f" (did you mean {right!r}?)" if right in words else did_you_mean(word, words)


def _method_of(word: str) -> str:
    """The name of the method in Python."""
    return CALLED[word] if word in _SHORT else word.replace("-", "_")


def pruning_words(phrase: Phrase, cost_complexity: str = "ccp-1se", option: str = "--prune-set") -> str:
    """A piece of an error about a pruner in the words of the command line.

    ``cost_complexity`` is the name of this pruner: a fit chooses alpha itself, ``prune`` is given it; ``option`` gives
    the options of the pruner.

    Examples
    --------
    >>> from treewright.exceptions import setting
    >>> pruning_words(Phrase("reduced_error", "pruning", value="reduced_error"))
    'reduced-error'
    >>> pruning_words(setting("cv", 5))
    '--prune-set cv=5'
    """
    if phrase.kind == "pruning":
        return cost_complexity if phrase.value == "cost_complexity" else str(phrase.value).replace("_", "-")
    if phrase.kind == "without raising":
        return f"Give {option} subtree_raising=false"
    return f"{option} {phrase}" if phrase.kind == "setting" and phrase.name == "cv" else as_option(phrase)
