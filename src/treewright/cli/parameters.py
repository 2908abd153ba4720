"""``treewright parameters``. In: an algorithm's word. Out: its parameters, as ``learn.params`` states them.

The page ``docs/reference/parameters.md`` is the output of ``--format markdown``; a test compares them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from treewright.cli.options import ParametersRequest
from treewright.cli.terminal import UsageRefusal, printable, say, screen_of
from treewright.learn.params import CLASSES, Parameter, Rule, parameters_of, plain
from treewright.learn.registry import ALGORITHMS, Algorithm, algorithm_of

__all__ = ["run_parameters"]

_PAGE = """\
# Parameters

What every algorithm takes, in Python as keywords of its estimators and on the command line as `--set NAME=VALUE`; the
columns, threads and the seed have options of their own there. Defaults and values that differ between classes and
numbers are given for both, classes first. `treewright parameters --format markdown` prints this page.
"""


@dataclass(frozen=True)
class _Line:
    """One parameter of one algorithm, for the tasks that have it."""

    name: str
    default: str
    values: str
    unit: str
    help: str


def run_parameters(request: ParametersRequest) -> None:
    """Print the parameters of one algorithm, or of all."""
    word, form = request.algorithm, request.form
    found = None if word is None else algorithm_of(word)
    if word is not None and found is None:
        raise UsageRefusal(f"no algorithm {printable(word)}: use one of {', '.join(each.word for each in ALGORITHMS)}")
    algorithms = ALGORITHMS if found is None else (found,)
    if form == "json":
        say(json.dumps({each.word: _facts_of(each) for each in algorithms}, indent=2))
    elif form == "markdown":
        say("\n\n".join([*([_PAGE.rstrip()] if found is None else []), *map(_section, algorithms)]))
    else:
        for number, each in enumerate(algorithms):
            _print(each, is_first=number == 0)


def _lines(algorithm: Algorithm) -> list[_Line]:
    """Every parameter, in the order of the dataclass; a parameter of one task only is marked."""
    kind, tasks = algorithm.params_class(), algorithm.estimators
    stated = {task: parameters_of(kind, task) for task in tasks}
    names = list(dict.fromkeys(name for known in stated.values() for name in known))
    lines = []
    for name in names:
        of_task = {task: known[name] for task, known in stated.items() if name in known}
        first = next(iter(of_task.values()))
        only = "" if len(of_task) == len(tasks) else f"{'classes' if CLASSES in of_task else 'numbers'} only: "
        defaults = dict.fromkeys(_typed(each.default_of(task)) for task, each in of_task.items())
        values = dict.fromkeys(_values_of(each) for each in of_task.values())
        lines.append(_Line(name, "; ".join(defaults), "; ".join(values), first.unit, only + _helped(first, names)))
    return lines


def _helped(each: Parameter, names: Collection[str]) -> str:
    """What a parameter does, and which other parameters it is used with."""
    words = [need.words for need in each.needs if need.conditions[0][0] in names and need.words not in each.help]
    return each.help + "".join(f"; used with {word}" for word in words)


def _typed(value: Any) -> str:
    """A value in Python's spelling."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _values_of(parameter: Parameter) -> str:
    """The permitted values of a parameter, in few words."""
    return ", ".join(_brief(rule) for rule in parameter.rules)


def _brief(rule: Rule) -> str:
    sort, *rest = rule.form
    if sort == "interval":
        return _range(*rest)
    if sort == "words":
        return ", ".join(json.dumps(each) for each in sorted(rest[0]))
    if sort == "instance":
        return {"Integral": "whole number", "str": "text"}.get(rest[0].__name__, rest[0].__name__)
    if sort == "methods":
        return f"an object with {' and '.join(rest[0])}"
    plain_words = {
        None: "None", "callable": "function", "array-like": "list or array", "boolean": "True, False",
        "verbose": "whole number from 0", "random_state": "whole number from 0, RandomState, None",
    }  # fmt: skip
    return plain_words[sort]


def _range(sort: str, low: float | None, high: float | None, closed: str) -> str:
    """A range in words: ``"whole number from 1"``, ``"share above 0.0, to 1.0"``."""
    what = {"int": "whole number", "real": "number", "share": "share"}[sort]
    left = "" if low is None else f" {'from' if closed in ('left', 'both') else 'above'} {low}"
    right = "" if high is None else f" {'to' if closed in ('right', 'both') else 'below'} {high}"
    return what + left + right


def _section(algorithm: Algorithm) -> str:
    """A Markdown table of an algorithm's parameters under its name."""
    rows = [
        f"| `{each.name}` | `{each.default}` | {_cell(each.values)} | {_cell(each.unit)} | {_cell(each.help)} |"
        for each in _lines(algorithm)
    ]
    estimators = ", ".join(f"`{name}`" for name in algorithm.estimators.values())
    head = ["| parameter | default | values | unit | meaning |", "|---|---|---|---|---|"]
    title = algorithm.title[0].upper() + algorithm.title[1:]
    return "\n".join([f"## {title}\n", f"`--algorithm {algorithm.word}`; {estimators}.\n", *head, *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _print(algorithm: Algorithm, *, is_first: bool) -> None:
    """Print the parameters: two lines for each, its name and default, and its meaning."""
    screen = screen_of()
    if not is_first:
        say()
    say(f"{algorithm.title} (--algorithm {algorithm.word}): {', '.join(algorithm.estimators.values())}")
    for each in _lines(algorithm):
        say(f"\n{each.name}={each.default}")
        screen.say_prose(f"    {each.help}; {each.values}" + (f" ({each.unit})" if each.unit else ""))


def _facts_of(algorithm: Algorithm) -> list[dict[str, Any]]:
    """The parameters as JSON values."""
    kind = algorithm.params_class()
    return [
        {
            "task": task,
            "estimator": estimator,
            "parameters": [
                {
                    "name": name,
                    "default": plain(each.default_of(task)),
                    "values": _values_of(each),
                    "unit": each.unit,
                    "help": each.help,
                }
                for name, each in parameters_of(kind, task).items()
            ],
        }
        for task, estimator in algorithm.estimators.items()
    ]
