"""Parameters that are lists or dicts, as JSON. In: the word of ``--set``. Out: a list, a dict, or a word.

Callers: cli.declared, cli.learn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from treewright.cli.terminal import UsageRefusal, printable

__all__ = ["is_structured", "last_name", "structured_value", "with_typed_labels"]

_CLASS_WEIGHT = "class_weight"


class _Form(NamedTuple):
    """``words``: what is taken beside lists and dicts; ``types``: of these, which; ``example``: one, as it is typed."""

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


def last_name(name: str) -> str:
    """The parameter itself, where it is one of the trees that are bagged.

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
    """What was said of a parameter that takes lists or dicts.

    Parameters
    ----------
    name : str
        One for which ``is_structured`` holds.
    text : str
        JSON, one of the parameter's words, or ``none``.

    Raises
    ------
    UsageRefusal
        Neither, or JSON that is damaged, names something twice or is another thing than the parameter takes.

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
    remedy = f"give {either}a {what} as JSON in single quotes, such as --set '{form.example}'"
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise UsageRefusal(f"--set {name}: brackets inside brackets without end: {remedy}") from None
    except ValueError as error:
        why = f": {printable(error)}" if text[:1] in ("[", "{") else ""
        raise UsageRefusal(f"--set {name}={printable(text)} is no {what}{why}; {remedy}") from None
    if not isinstance(value, form.types):
        raise UsageRefusal(f"--set {name}={printable(text)} is no {what}; {remedy}")
    return value


def with_typed_labels(
    settings: dict[str, Any], labels: Sequence[Any], typed: Callable[[list[str]], list[Any]]
) -> dict[str, Any]:
    """Settings whose class weights name labels as the target holds them: keys of JSON are always texts.

    Parameters
    ----------
    settings : dict
        As ``parse_settings`` gives them.
    labels : sequence
        Of the target.
    typed : callable
        From words to values of the target's type.

    Raises
    ------
    UsageRefusal
        A label is not in the target, or is named twice.
    """
    result = dict(settings)
    for name, value in settings.items():
        if last_name(name) != _CLASS_WEIGHT or not isinstance(value, dict):
            continue
        keys = typed(list(value))
        strangers = [key for key in keys if key not in labels]
        if strangers:
            listed = ", ".join(printable(label) for label in labels[:10]) + (", ..." if len(labels) > 10 else "")
            raise UsageRefusal(
                f"--set {name}: the target has no class {printable(strangers[0])!r}; its classes are {listed}"
            )
        if len(set(keys)) < len(keys):
            raise UsageRefusal(f"--set {name}: a class is named twice, once as {printable(list(value)[-1])!r}")
        result[name] = dict(zip(keys, value.values(), strict=True))
    return result


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of JSON; the last of equal names must not win in silence."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is named twice")
    return found
