"""The signature of every estimator, made of the parameters that ``learn`` states: a base of the class of its name.

It holds ``__init__`` and the name of the algorithm. ``signatures.pyi``, next to this file, says the same for editors
and type checkers, and a test compares the two. It is written, never edited:

    python -m treewright.estimators.signatures > src/treewright/estimators/signatures.pyi
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from textwrap import indent
from types import UnionType
from typing import Any

from treewright.estimators.documentation import in_signature, parameter_section
from treewright.learn import params as stated
from treewright.learn.registry import ALGORITHMS, Algorithm, naming_keywords

ESTIMATORS = {name: (each, task) for each in ALGORITHMS for task, name in each.estimators.items()}
_STUB = '''\
"""The signature of every estimator for editors and type checkers: ``signatures.py`` writes this file."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
'''


def __getattr__(name: str) -> type:
    if name not in ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    algorithm, task = ESTIMATORS[name]
    kind = algorithm.params_class()
    held = {
        "__init__": _init_of(signature_of(kind, task)),
        "_algorithm": algorithm.name,
        "_parameter_section": parameter_section(kind, task),
        "__module__": __name__,
        "__doc__": f"The parameters of `{name}`.",
    }
    made = globals()[name] = type(name, (), held)
    return made


def signature_of(kind: Any, task: stated.Task) -> inspect.Signature:
    """The signature of ``__init__`` for a dataclass of parameters."""
    known = in_signature(kind, task)
    types = {each.name: _written(str(each.type)) for each in dataclasses.fields(kind)}
    by_position, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    each = [
        inspect.Parameter(
            name, by_position if name in kind.by_position else by_name, default=parameter.default_of(task),
            annotation=types[name],
        )
        for name, parameter in known.items()
    ]  # fmt: skip
    return inspect.Signature([inspect.Parameter("self", by_position), *each], return_annotation="None")


def _written(annotation: str) -> str:
    """A type as a signature shows it: types that ``learn.params`` names are written out."""
    alias = getattr(stated, annotation, None)
    text = str(alias) if isinstance(alias, UnionType) else annotation
    return text.replace("collections.abc.", "").replace("numpy.random.mtrand.", "np.random.")


def _init_of(signature: inspect.Signature) -> Any:
    """Store the parameters as they are, as attributes of their names: scikit-learn's rule."""
    _, *parameters = signature.parameters.values()
    by_position = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]

    def __init__(self: Any, *positional: Any, **given: Any) -> None:  # noqa: N807 - it becomes that method
        named = dict(zip(by_position, positional, strict=False))
        twice = next(iter(named.keys() & given.keys()), None)
        if twice is not None:
            raise TypeError(f"{type(self).__name__}.__init__() got multiple values for argument {twice!r}")
        given |= named
        for each in parameters:
            setattr(self, each.name, given.get(each.name, each.default))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return naming_keywords(__init__, parameters=True)


def stub() -> str:
    """The text of ``signatures.pyi``."""
    return "\n".join([_STUB, *(_stub_of(name, *each) for name, each in ESTIMATORS.items())])


def _stub_of(name: str, algorithm: Algorithm, task: stated.Task) -> str:
    kind = algorithm.params_class()
    lines, is_named = [], False
    for each in signature_of(kind, task).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not is_named:
            lines, is_named = [*lines, "*,"], True
        default = json.dumps(each.default) if isinstance(each.default, str) else repr(each.default)
        lines.append(f"{each.name}: {each.annotation} = {default}," if each.name != "self" else "self,")
    section = indent(parameter_section(kind, task), " " * 8)
    return f"""\
class {name}:
    _algorithm: ClassVar[str]
    _parameter_section: ClassVar[str]
    def __init__(
{indent(chr(10).join(lines), " " * 8)}
    ) -> None:
        \"\"\"
        Parameters
        ----------
{section}
        \"\"\"
"""


if __name__ == "__main__":
    sys.stdout.write(stub())
