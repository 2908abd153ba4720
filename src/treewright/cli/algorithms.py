"""The algorithms of the command: their words, their parameters, and what each refuses.

``ALGORITHMS`` and ``ISOLATION`` list them, ``check_options`` refuses options that an algorithm does not use,
``own_settings`` reads ``--set``.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from treewright.cli.options import FitRequest
from treewright.cli.parsing import parse_value
from treewright.cli.terminal import UsageRefusal, as_set, is_typed_short, printable
from treewright.learn.registry import ALGORITHMS as EVERY_ALGORITHM
from treewright.learn.registry import Algorithm, algorithm_hint, option_hint

if TYPE_CHECKING:
    from treewright.learn.params import Parameter

__all__ = [
    "ALGORITHMS",
    "BASE",
    "ENSEMBLES",
    "ISOLATION",
    "OF_BASE",
    "OWN_OPTION",
    "Algorithm",
    "algorithm_of_members",
    "algorithms_with",
    "check_options",
    "estimator_name",
    "is_structured",
    "known_parameters",
    "own_settings",
    "parameters_for",
    "parse_settings",
    "structured_value",
    "with_typed_labels",
]


ALGORITHMS = {each.word: each for each in EVERY_ALGORITHM if each.kind != "outliers"}
ENSEMBLES = tuple(word for word, algorithm in ALGORITHMS.items() if algorithm.is_ensemble)
ISOLATION = "isolation"  # it has no target

BASE = "estimator"  # the parameter that holds the members' algorithm, and the prefix of their parameters
OF_BASE = f"{BASE}__"


# --- what an algorithm refuses


def check_options(request: FitRequest) -> None:
    """Refuse an unknown algorithm, and options of ``fit`` that it does not use."""
    if request.algorithm == ISOLATION:
        _check_isolation(request)
        return
    if request.algorithm not in ALGORITHMS:
        word, words = request.algorithm, [*ALGORITHMS, ISOLATION]
        hint = algorithm_hint(word, words)
        raise UsageRefusal(f"--algorithm {word}: no such algorithm{hint}; choose one of {', '.join(words)}")
    if request.target is None:
        raise UsageRefusal(
            f"--target is missing: name the column to predict (only --algorithm {ISOLATION} learns without one)"
        )
    algorithm = ALGORITHMS[request.algorithm]
    if algorithm.is_ensemble:
        _check_ensemble(request, algorithm)
    if algorithm.is_neighbors:
        _check_neighbors(request)


def _check_ensemble(request: FitRequest, algorithm: Algorithm) -> None:
    """Refuse options that are for one tree."""
    word = f"--algorithm {request.algorithm} grows many trees"
    limit = "early_stopping=true" if algorithm.word == "boosting" else "max_depth=N"
    if request.pruning is not None:
        raise UsageRefusal(f"{request.pruning.named} prunes one tree, and {word}: limit them by --set {limit}")
    if request.trace:
        raise UsageRefusal(f"--trace shows how one tree grew, and {word}: leave it out")
    if request.svg is not None:
        raise UsageRefusal(
            f"--svg draws one tree, and {word}: save the model with --out, then show MODEL --tree 0 --format svg"
        )


def _check_neighbors(request: FitRequest) -> None:
    """Refuse options that are for trees, and weights."""
    why = f"and --algorithm {request.algorithm} grows no trees"
    if request.pruning is not None:
        raise UsageRefusal(f"{request.pruning.named} prunes a tree, {why}: choose --set n_neighbors=N instead")
    if request.trace:
        raise UsageRefusal(f"--trace shows how a tree grew, {why}: leave it out")
    if request.svg is not None:
        raise UsageRefusal(f"--svg draws a tree, {why}: leave it out")
    if request.columns.weight is not None:
        weight = printable(request.columns.weight)
        raise UsageRefusal(
            f"--weight {weight}: --algorithm {request.algorithm} gives every row the same weight; leave it out, with "
            f"--drop {weight} if the column is not to be used"
        )


def _check_isolation(request: FitRequest) -> None:
    """Refuse options that need a target or a single tree."""
    if request.target is not None:
        raise UsageRefusal(
            f"--algorithm {ISOLATION} learns without a target: leave out --target {printable(request.target)}, and add "
            f"--drop {printable(request.target)} if the column is not to be used"
        )
    given = {
        "--task": request.task != "auto",
        "--cv": request.cv is not None,
        "--prune": request.pruning is not None,
        "--trace": request.trace,
        "--svg": request.svg is not None,
        "--report": request.report is not None,
        "--skip-missing-target": request.columns.skip_missing_target,
        "--test-size": request.test_size not in (0.0, type(request).test_size),
    }
    idle = [option for option, is_given in given.items() if is_given]
    if idle:
        raise UsageRefusal(f"{', '.join(idle)}: not with --algorithm {ISOLATION}, which has no target and many trees")


# --- parameters


def known_parameters(request: FitRequest, is_classification: bool) -> dict[str, Parameter]:
    """The parameters that ``--set`` can name."""
    known = dict(parameters_for(request.algorithm, request, is_classification))
    if ALGORITHMS[request.algorithm].of_members:
        base = algorithm_of_members(request.settings) or "cart"
        # Threads and seeds are those of the whole; a trace is of one fit.
        without = {*OWN_OPTION, "grow_trace"}
        of_base = parameters_for(base, request, is_classification)
        known |= {f"{OF_BASE}{name}": each for name, each in of_base.items() if name not in without}
    return known


def parameters_for(algorithm: str, request: FitRequest, is_classification: bool) -> dict[str, Parameter]:
    """The parameters of an algorithm for a kind of target; an algorithm that cannot predict it is refused."""
    from treewright.learn.params import CLASSES, NUMBERS, parameters_of

    estimator_name(algorithm, request, is_classification)
    return parameters_of(ALGORITHMS[algorithm].params_class(), CLASSES if is_classification else NUMBERS)


def algorithms_with(name: str) -> list[str]:
    """The words of the algorithms that have a parameter."""
    from treewright.learn.params import CLASSES, NUMBERS, parameters_of

    return [
        each.word
        for each in EVERY_ALGORITHM
        if any(name in parameters_of(each.params_class(), task) for task in (CLASSES, NUMBERS))
    ]


def own_settings(request: FitRequest, is_classification: bool) -> dict[str, Any]:
    """The parameters that ``--set`` gives, by name."""
    known = known_parameters(request, is_classification)
    other: dict[str, Any] = {}
    with suppress(UsageRefusal):  # an algorithm may be for classes alone
        other = known_parameters(request, not is_classification)
    meant, found = ("numbers", "classes") if is_classification else ("classes", "numbers")
    why = f"is for targets of {meant}, and {printable(request.target)} holds {found} (--task can change that)"
    return parse_settings(request.settings, known, dict.fromkeys(set(other) - set(known), why))


def algorithm_of_members(words: Sequence[str]) -> str | None:
    """The algorithm that ``--set estimator=`` names; None without one."""
    for word in words:
        name, equals, value = (part.strip() for part in word.partition("="))
        if name == BASE and equals:
            trees = [each for each, algorithm in ALGORITHMS.items() if algorithm.words[0] == "tree"]
            if value not in trees:
                raise UsageRefusal(f"--set {word!r}: members can be trees; choose one of {', '.join(trees)}")
            return value
    return None


def estimator_name(algorithm: str, request: FitRequest, is_classification: bool) -> str:
    """The name of the estimator of an algorithm; an algorithm that does not predict such a target is refused."""
    found = ALGORITHMS[algorithm]
    name = found.classifier if is_classification else found.regressor
    if name is None:
        able = ", ".join(word for word, each in ALGORITHMS.items() if each.regressor)
        raise UsageRefusal(
            f"--algorithm {algorithm} predicts classes, and target {printable(request.target)} holds numbers: "
            f"use one of {able}, or --task classification"
        )
    return name


# --- what --set says

OWN_OPTION = {
    "nominal": "--nominal",
    "ordinal": "--ordinal",
    "numeric": "--numeric",
    "calendar": "--calendar",
    "unseen": "--unseen",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "positive": "--positive",
}
_OF_SEVERAL = ("quantile", "init")  # one number or several
# Parameters that can do nothing on the command line.
_IDLE = {
    "callbacks": "they are Python functions",
    "warm_start": "a command fits once, so there is no fit to continue",
    "verbose": "the progress bar is shown by itself on a terminal",
}

_CLASS_WEIGHT = "class_weight"


class _Form(NamedTuple):
    """``words``: values next to lists and dicts; ``types``: which of these two; ``example``: a value as it is typed."""

    words: tuple[str, ...]
    types: tuple[type, ...]
    example: str


_FORMS = {
    _CLASS_WEIGHT: _Form(("balanced", "balanced_subsample"), (dict,), 'class_weight={"yes": 3, "no": 1}'),
    "monotonic_cst": _Form((), (list, dict), 'monotonic_cst={"age": 1, "price": -1}'),
    "metric_params": _Form((), (dict,), 'metric_params={"w": [1, 0.5]}'),
    "scale": _Form(("standard", "range", "robust"), (list,), "scale=[1, 0.5, 0]"),
    "interaction_cst": _Form(("pairwise", "no_interactions"), (list,), 'interaction_cst=[["age", "price"], ["sex"]]'),
}


def parse_settings(
    words: Sequence[str], known: Mapping[str, object], elsewhere: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Parameters of an estimator from ``name=value`` words.

    ``known`` are its parameters with their defaults; ``elsewhere`` gives, for parameters that only another estimator
    has, the reason.

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
            asked = as_set(name, printable(text)) if is_typed_short(name) else f"--set {word!r}"
            raise UsageRefusal(f"{asked}: {name} {elsewhere[name]}")
        if name not in known and is_typed_short(name):
            having = algorithms_with(name)
            first = "forest" if "forest" in having else having[0]
            raise UsageRefusal(
                f"{as_set(name, printable(text))}: {as_set(name)} is for {', '.join(having)}: choose one, as in "
                f"--algorithm {first}"
            )
        if name not in known:
            near = difflib.get_close_matches(name, open_names, n=1, cutoff=0.6)
            meant = option_hint(name, open_names)
            hint = f" {meant};" if meant else f" did you mean {near[0]}?" if near else ""
            raise UsageRefusal(f"--set {word!r}: no parameter {name!r};{hint} choose one of {', '.join(open_names)}")
        if name in settings:
            both = f"{as_set(name)} and " if is_typed_short(name) else ""
            raise UsageRefusal(f"{both}--set {name}: given twice")
        settings[name] = _setting(name, text)
    return settings


def _setting(name: str, text: str) -> Any:
    """The value of a parameter from the typed text."""
    if name == "metric" and text == "precomputed":
        raise UsageRefusal(
            "--set metric=precomputed needs the distances between all training rows, and the command reads the rows "
            "themselves: name another metric, or use Python"
        )
    if is_structured(name):
        return structured_value(name, text)
    if name not in _OF_SEVERAL or not ("," in text or "[" in text or "]" in text):
        return parse_value(text)
    inner = text.removeprefix("[").removesuffix("]")
    if len(text) - len(inner) not in (0, 2) or "[" in inner or "]" in inner:
        raise UsageRefusal(f"--set {name}={text}: give one number, or several with commas between them, as in 0.1,0.9")
    return [parse_value(word.strip()) for word in inner.split(",")] if inner.strip() else []


def last_name(name: str) -> str:
    """The parameter's own name, without the prefix of the members of a bag.

    Examples
    --------
    >>> last_name("estimator__class_weight")
    'class_weight'
    """
    return name.rpartition("__")[2]


def is_structured(name: str) -> bool:
    """Whether a parameter takes lists or dicts."""
    return last_name(name) in _FORMS


def structured_value(name: str, text: str) -> Any:
    """The value of a parameter that takes lists or dicts: JSON, one of its words, or ``none``.

    Examples
    --------
    >>> structured_value("class_weight", '{"yes": 3}'), structured_value("interaction_cst", "pairwise")
    ({'yes': 3}, 'pairwise')
    """
    form = _FORMS[last_name(name)]
    if text.lower() == "none":
        return None
    if text in form.words:
        return text
    what = " or ".join("list" if each is list else "dict" for each in form.types)
    either = f"{', '.join(form.words)}, or " if form.words else ""
    example = f"--set '{form.example}'"
    if is_typed_short(name):
        example = as_set(name, f"'{form.example.partition('=')[2]}'")
    remedy = f"give {either}a {what} as JSON in single quotes, such as {example}"
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise UsageRefusal(f"{as_set(name)}: too many nested brackets: {remedy}") from None
    except ValueError as error:
        why = f": {printable(error)}" if text[:1] in ("[", "{") else ""
        raise UsageRefusal(f"{as_set(name, printable(text))} is not a {what}{why}; {remedy}") from None
    if not isinstance(value, form.types):
        raise UsageRefusal(f"{as_set(name, printable(text))} is not a {what}; {remedy}")
    return value


def with_typed_labels(
    settings: dict[str, Any], labels: Sequence[Any], typed: Callable[[list[str]], list[Any]]
) -> dict[str, Any]:
    """Settings whose class weights have the target's labels as keys: keys of JSON are always texts."""
    result = dict(settings)
    for name, value in settings.items():
        if last_name(name) != _CLASS_WEIGHT or not isinstance(value, dict):
            continue
        keys = typed(list(value))
        strangers = [key for key in keys if key not in labels]
        if strangers:
            listed = ", ".join(printable(label) for label in labels[:10]) + (", ..." if len(labels) > 10 else "")
            raise UsageRefusal(
                f"{as_set(name)}: the target has no class {printable(strangers[0])!r}; its classes are {listed}"
            )
        if len(set(keys)) < len(keys):
            raise UsageRefusal(f"{as_set(name)}: a class is named twice, once as {printable(list(value)[-1])!r}")
        result[name] = dict(zip(keys, value.values(), strict=True))
    return result


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of JSON; a name that is given twice is refused."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is named twice")
    return found
