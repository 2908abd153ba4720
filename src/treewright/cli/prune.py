"""``treewright prune``; and the pruners as the command line writes them, also for ``fit`` and ``compare``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.cli.holdout import score_for, warning_of
from treewright.cli.models import is_ensemble, load_model, of_trees, target_name, weighted_rows
from treewright.cli.options import Value, parse_value
from treewright.cli.show import say_tree
from treewright.cli.streams import bytes_of, check_stdout, clear_stdout, is_standard, write_stdout
from treewright.cli.terminal import (
    UsageRefusal,
    as_option,
    as_set,
    check_output,
    csv_of,
    guarded_labels,
    is_typed_short,
    note,
    printable,
    printable_lines,
    progress,
    results_after,
    say,
    say_prose,
    worded,
    write_text,
    wrote,
)
from treewright.data.schema import did_you_mean
from treewright.evaluation.measures import Score
from treewright.exceptions import Phrase
from treewright.files import ReadOptions
from treewright.prune.methods import CALLED, CROSS_VALIDATED, EXAMPLES, METHODS, ROUNDS, Method, request_of

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = [
    "DEFAULT_PRUNING",
    "FIT_PRUNINGS",
    "NO_PRUNING",
    "PruneRequest",
    "Pruning",
    "asked_pruning",
    "check_idle",
    "option_words",
    "options_of_pruning",
    "pruning_named",
    "pruning_words",
    "refuse_for_numbers",
    "run_prune",
]

_OPTIONS_OF_ROUNDS = ("n_rounds",)
_SHORT = ("mdl", "ccp")  # of ``CALLED``, those that the command takes as they are
# Cost-complexity with an alpha chosen by cross-validation within the fit, then every method of ``prune``.
_BY_CROSS_VALIDATION = tuple(name.replace("_", "-") for name in CROSS_VALIDATED)
FIT_PRUNINGS = (*_BY_CROSS_VALIDATION, *(name.replace("_", "-") for name in METHODS), "mdl")
_COUNT_ERRORS = ("error_based", "pessimistic")
# Parameters of ``PrunedTree`` itself; all others are options of the method.
_OF_THE_ESTIMATOR = ("cv", "prune_size")


@dataclass(frozen=True)
class PruneRequest:
    """The options of the command line; see ``treewright prune --help``."""

    model: Path
    method: str
    data: Path | None = None
    settings: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None
    skip_missing_target: bool = False
    reading: ReadOptions = field(default_factory=ReadOptions)
    out: Path | None = None
    log: Path | None = None
    force: bool = False


def check_idle(data: Path | None, for_data: Mapping[str, object]) -> None:
    """Refuse options about rows if no rows are given."""
    idle = [option for option, value in for_data.items() if value is not None]
    if data is None and idle:
        raise UsageRefusal(f"{idle[0]} is about rows: give them as DATA, after MODEL")


def run_prune(request: PruneRequest) -> None:
    """Prune a model, print the pruned nodes, save the smaller model."""
    is_piped = is_standard(request.out)
    check_stdout(request.out)
    with clear_stdout(is_piped):
        pruned = _pruned(replace(request, out=None) if is_piped else request, is_saved=request.out is not None)
    if is_piped:
        write_stdout(bytes_of(pruned))


def _pruned(request: PruneRequest, *, is_saved: bool) -> Any:
    """Prune, print the log and the scores; returns the pruned model."""
    name = method_named(request.method)
    method = METHODS.get(name)  # None: rounds of gradient boosting are dropped
    options = option_words(request.settings, "--set")
    known = method.options() if method is not None else _OPTIONS_OF_ROUNDS
    check_options(options, known, "--set", name.replace("_", "-"))
    check_output(request.out, request.force)
    check_output(request.log, request.force)
    model = of_trees(load_model(request.model), request.model, "prune")
    if method is None:
        _check_rounds(request, model, options)
    else:
        _check_method(request, method, model, options)
    rows: tuple[Any, ...] = ()
    if request.data is not None:
        target = target_name(model, request.model, request.target, "prune")
        score_for(model)  # a model without a score is refused before anything is pruned
        with progress():
            rows = weighted_rows(
                model, request.data, request.reading, target, request.weight, skip=request.skip_missing_target
            )
    with progress("" if is_saved else "the pruned model is not saved; --out pruned.tw saves it"), worded(_prune_words):
        given = rows if method is None or method.needs != "none" else ()
        pruned = model.prune(name, *given, **options)
    with results_after(_write(request, pruned)):
        say_prose(printable_lines(str(pruned.prune_log)).replace("; to_dict() has them all", "; --log has them all"))
        if method is not None:
            say()
            say_tree(pruned, request.out)
        if rows:
            say()
            scores = {"before": _score(model, rows), "after": _score(pruned, rows)}
            for when, score in scores.items():
                say_prose(score.line(f"on {printable(request.data)} {when}:"))
            if model.threshold is not None:
                from treewright.cli.threshold import costs_that_chose

                if costs := costs_that_chose(model):
                    for when, score in scores.items():
                        say_prose(f"{when}: {costs.line(score)}")
            if warning := warning_of(scores["after"], pruned):
                say_prose(warning)
            if method is None or method.needs == "holdout":
                what = "tree" if method is not None else "model"
                note(f"the rows above have chosen what is pruned: evaluate the {what} on other rows")
    return pruned


def _check_method(request: PruneRequest, method: Method, model: Model, options: dict[str, Any]) -> None:
    """Refuse a method that does not suit the model, or that lacks rows, before rows are read."""
    if is_ensemble(model):
        instead = "; --method rounds drops the last rounds of gradient boosting"
        raise UsageRefusal(
            f"--method {request.method} prunes one tree, and {printable(request.model)} has {model.n_trees} that "
            f"predict together{instead if model.has_scores else ''}"
        )
    if model.task == "regression":
        refuse_for_numbers(
            f"--method {request.method}", method.name, f"{request.model} predicts numbers",
            "cost-complexity, minimum-error or significance, or reduced-error with held-out rows",
        )  # fmt: skip
    with worded(_prune_words):
        _, _, needs_rows = request_of(model, method.name, options)
    if needs_rows and request.data is None:
        what = {"training": "the training rows", "holdout": "rows that the tree was not fitted on"}[method.needs]
        raise UsageRefusal(f"--method {request.method} needs {what}: give them as DATA, after MODEL")


def _check_rounds(request: PruneRequest, model: Model, options: dict[str, Any]) -> None:
    """Refuse to drop rounds of a model without rounds, or without a number of rounds or rows to choose it."""
    if not model.has_scores:
        raise UsageRefusal(
            f"--method rounds drops the last rounds of gradient boosting, and {printable(request.model)} has no rounds"
        )
    if ("n_rounds" in options) == (request.data is not None):
        raise UsageRefusal(
            "--method rounds needs either --set n_rounds=N, or rows that the trees were not fitted on: give them as "
            "DATA, after MODEL"
        )


def _write(request: PruneRequest, pruned: Model) -> list[str]:
    """Save the files that the request names; returns a line about each."""
    written = []
    if request.log is not None:
        write_text(request.log, _csv_of_log(pruned.prune_log.to_dict()), request.force)
        written.append(wrote(request.log, "log"))
    if request.out is not None:
        check_output(request.out, request.force)
        pruned.save(request.out)
        written.append(wrote(request.out, "model"))
    return written


def _csv_of_log(columns: Mapping[str, list[Any]]) -> str:
    """The pruned nodes as CSV; names of columns and levels must not run as formulas in a spreadsheet."""
    return csv_of({name: guarded_labels(cells) if name == "test" else cells for name, cells in columns.items()})


def _score(model: Model, rows: tuple[Any, ...]) -> Score:
    """The score of a model on rows with their target."""
    predicted, score = np.asarray(model.predict(rows[0])), score_for(model)
    score.add(rows[1], predicted)
    return score


# --- pruners, as they are written on the command line


@dataclass(frozen=True)
class Pruning:
    """A pruner that is applied after a fit.

    Attributes
    ----------
    named : str
        The option, such as ``--prune leaves``; for messages.
    word : str
        One of ``FIT_PRUNINGS``.
    options : mapping from name to value
        The options of the method, ``cv`` and ``prune_size``.
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

    def wrap(self, seed: int) -> Callable[[Any], Any]:
        """A function from an estimator (if folds choose, also a ``Learner``) to one that also prunes."""

        def by(estimator: Any) -> Any:
            from treewright.cli.learner import Learner

            return estimator.pruned_by(self, seed) if isinstance(estimator, Learner) else self._tree(estimator, seed)

        return by

    def _tree(self, estimator: Any, seed: int) -> Any:
        """The estimator that grows and prunes."""
        from treewright.evaluation.pruning import PrunedTree

        own: dict[str, Any] = {name: value for name, value in self.options.items() if name in _OF_THE_ESTIMATOR}
        options = {name: value for name, value in self.options.items() if name not in own}
        return PrunedTree(estimator, self.method, options=options or None, random_state=seed, **own)


NO_PRUNING = "none"
# It chooses the size of a tree if no option does.
DEFAULT_PRUNING = Pruning("", "ccp-min")


def asked_pruning(named: str, word: str, options: Mapping[str, Value]) -> Pruning:
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
    """Options of a pruner from ``name=value`` words.

    Parameters
    ----------
    words : sequence of str
    option : str
        The option that they were given by; for messages.

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
    return list(dict.fromkeys([*of_trees, *_OPTIONS_OF_ROUNDS]))


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

    Parameters
    ----------
    phrase : Phrase
    cost_complexity : str
        The name of this pruner: a fit chooses alpha itself, ``prune`` is given it.
    option : str
        The option that gives the options of the pruner.

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


def _prune_words(phrase: Phrase) -> str:
    """As ``pruning_words``, for ``treewright prune``, without the names of Python functions."""
    if phrase.kind == "draw rows":
        return "Choose rows that contain all classes"
    return pruning_words(phrase, "cost-complexity", "--set")
