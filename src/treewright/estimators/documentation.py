"""The documentation of estimators, put together when a class is made: what is said elsewhere is not said again.

- The section ``Parameters`` is made of the parameters that ``learn`` states.
- The section ``Attributes`` begins with those of the bases: a family describes its attributes once.
- A verb that an estimator forwards to its model has the sections of the model's verb, under a summary of its own.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from textwrap import fill, indent
from typing import Any, TypeVar

from treewright.learn.params import ColumnParams, Parameter, Rule, Task, parameters_of
from treewright.model import Model

_WIDTH = 112  # of a line, so that it can be indented by eight
_HEAD = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_ATTRIBUTE = re.compile(r"(?<![`\w])[a-z]\w*_(?![`\w])")  # of a fitted estimator, in running text
_ORDER = ("", "Parameters", "Attributes")  # of the first sections of a class
Method = TypeVar("Method", bound=Callable[..., Any])


def sections_of(text: str | None) -> dict[str, str]:
    """The sections of a docstring by their titles; what comes before the first has the title "".

    Examples
    --------
    >>> sections_of('''Count.
    ...
    ...     Returns
    ...     -------
    ...     int
    ... ''')
    {'': 'Count.', 'Returns': 'int'}
    """
    lead, *rest = _HEAD.split(inspect.cleandoc(text or ""))
    return {"": lead.strip()} | {title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)}


def _joined(sections: Mapping[str, str]) -> str:
    return "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{body}" if title else body for title, body in sections.items() if body
    )


def _entries_of(section: str) -> dict[tuple[str, ...], str]:
    """The entries of a section of parameters or attributes, by the names that each is about."""
    entries = re.split(r"\n(?=\S)", section) if section else []
    return {tuple(re.split(r", *", each.split("\n")[0].split(" : ")[0])): each for each in entries}


# Parameters.


def parameter_section(kind: Any, task: Task) -> str:
    r"""The section about the parameters that a dataclass of them states, for a task.

    Examples
    --------
    >>> from treewright.learn.isolation import IsolationParams
    >>> print(parameter_section(IsolationParams, "regression").split("\nmax_samples")[0])
    n_estimators : int >= 1, default 100
        Trees.
    """
    return "\n".join(_entry(name, each, task) for name, each in in_signature(kind, task).items())


def in_signature(kind: Any, task: Task) -> dict[str, Parameter]:
    """The parameters in the order of a signature: those by position, special ones, others, what every algorithm has."""
    known = parameters_of(kind, task)
    own = [name for name in known if name not in parameters_of(ColumnParams)]
    ordered = dict.fromkeys((*kind.by_position, *kind.shown_first, *own, *known))
    return {name: known[name] for name in ordered if name in known}


def _entry(name: str, parameter: Parameter, task: Task) -> str:
    link = ": " if parameter.more[:1].islower() else ". "  # what follows is a part of the sentence, or the next one
    said = f"{parameter.help[0].upper()}{parameter.help[1:]}{link}{parameter.more}".strip()
    said = _ATTRIBUTE.sub(r"``\g<0>``", said)  # reStructuredText takes a bare trace_ for a link
    lines = fill(said, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return f"{name} : {_values_of(parameter, task)}\n{indent(lines, '    ')}"


def _values_of(parameter: Parameter, task: Task) -> str:
    default = parameter.default_of(task)
    kind = parameter.kind
    if not kind:
        *others, last = [text for rule in parameter.rules if (text := _values_of_rule(rule, default))]
        kind = f"{', '.join(others)} or {last}" if others else last
    if default is None:
        return f"{kind}, optional"
    return f"{kind}, default {json.dumps(default) if isinstance(default, str) else default}"


def _values_of_rule(rule: Rule, default: Any) -> str:
    """The values that a rule accepts; of None nothing if it is the default."""
    sort, *rest = rule.form
    if sort == "interval":
        return _range_of(*rest)
    if sort == "words":
        quoted = [json.dumps(each) for each in rest[0]]
        return quoted[0] if len(quoted) == 1 else f"{{{', '.join(quoted)}}}"
    if sort == "instance":
        return {"Integral": "int", "object": "class label"}.get(rest[0].__name__, rest[0].__name__)
    if sort is None:
        return "" if default is None else "None"
    return {"array-like": "sequence", "boolean": "bool", "verbose": "int"}.get(sort, sort)


def _range_of(sort: str, low: float | None, high: float | None, closed: str) -> str:
    """A range of numbers: ``"int >= 1"``, ``"float in (0, 1]"``."""
    what = "int" if sort == "int" else "float"
    if low is None:
        return what
    if high is None:
        return f"{what} {'>=' if closed in ('left', 'both') else '>'} {low:g}"
    left, right = "[" if closed in ("left", "both") else "(", "]" if closed in ("right", "both") else ")"
    return f"{what} from {low} to {high}" if sort == "int" else f"{what} in {left}{low:g}, {high:g}{right}"


# Classes and methods.


def document(kind: type, parameters: str) -> None:
    """Complete the docstring of an estimator: its parameters, and the attributes of its bases."""
    if kind.__doc__ is None:  # python -OO
        return
    own = sections_of(kind.__doc__)
    attributes: dict[tuple[str, ...], str] = {}
    for base in reversed(kind.__mro__):
        said = _entries_of(sections_of(vars(base).get("__doc__")).get("Attributes", ""))
        anew = {name for names in said for name in names}
        attributes = {names: each for names, each in attributes.items() if not anew.issuperset(names)} | said
    found = {**own, "Parameters": parameters, "Attributes": "\n".join(attributes.values())}
    kind.__doc__ = _joined({title: found[title] for title in dict.fromkeys((*_ORDER, *own))})


def as_model(method: Method, of: type = Model) -> Method:
    """Complete the docstring of a verb by that of the model's verb of that name, but for its summary.

    Parameters that the estimator sets itself (``n_jobs``, ``owner``) are left out, others that it has are added. A
    section of its own takes the place of the model's.
    """
    if method.__doc__ is None:  # python -OO
        return method
    own, said = sections_of(method.__doc__), sections_of(getattr(of, method.__name__).__doc__)
    taken = inspect.signature(method).parameters
    known = _entries_of(said.get("Parameters", ""))
    kept = {names: each for names, each in known.items() if any(name.strip("*") in taken for name in names)}
    _, blank, more = said[""].partition("\n\n")
    anew = {
        "": own[""] + blank + more,
        "Parameters": "\n".join((kept | _entries_of(own.get("Parameters", ""))).values()),
    }
    method.__doc__ = _joined(anew | {title: text for title, text in (said | own).items() if title not in anew})
    return method
