"""The check of a model's facts. In: facts of any origin. Out: nothing, or one error.

A file with a valid checksum may still have been written by hand. After the check, readers of a fact (an audit, a
pruner, a report) find what a fit writes, or nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from treewright.exceptions import ModelFileError


class Form(NamedTuple):
    """The permitted values of a fact: in words that follow "expected", and as a function."""

    words: str
    accepts: Callable[[Any], bool]


def is_number(value: object) -> bool:
    """Whether a value is a finite number within float64; true and false count as 1 and 0, as in a fit."""
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


def _or_none(form: Form) -> Form:
    return Form(f"{form.words} or null", lambda value: value is None or form.accepts(value))


def _list_of(form: Form) -> Form:
    return Form(
        f"a list, each {form.words}", lambda value: isinstance(value, list | tuple) and all(map(form.accepts, value))
    )


def _either(one: Form, other: Form) -> Form:
    return Form(f"{one.words}, or {other.words}", lambda value: one.accepts(value) or other.accepts(value))


TEXT = Form("text", lambda value: isinstance(value, str))
SWITCH = Form("true or false", lambda value: isinstance(value, bool))
WHOLE = Form("a whole number, at least 0", lambda value: isinstance(value, int) and value >= 0)
NUMBER = Form("a number", is_number)
SIZE = Form(
    "a whole number above 0, or a share from 0 to 1",
    lambda value: is_number(value) and (value > 0 if isinstance(value, int) else 0.0 <= value <= 1.0),
)
SHARE = Form("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
PROBABILITY = Form("a number above 0, at most 1", lambda value: is_number(value) and 0 < value <= 1)
CHAID_TEST = Form("'pearson' or 'likelihood_ratio'", lambda value: value in ("pearson", "likelihood_ratio"))
MAPPING = Form("a mapping", lambda value: isinstance(value, Mapping))
_SIGN = Form("-1, 0 or 1", lambda value: is_number(value) and value in (-1, 0, 1))
_NAMED_SIGN = Form(
    "a column with -1, 0 or 1",
    lambda value: isinstance(value, list | tuple) and len(value) == 2 and _SIGN.accepts(value[1]),
)
_VALUES = _list_of(_or_none(NUMBER))
_LOSS_VALUE = _or_none(_either(_either(TEXT, NUMBER), _list_of(NUMBER)))

FACTS = {
    "algorithm": TEXT,
    "criterion": TEXT,
    "version": TEXT,
    "n_samples": WHOLE,
    "parameters": MAPPING,
    "member": MAPPING,
    "pruning": _list_of(MAPPING),
    "imported": MAPPING,
    "history": Form(
        "a mapping from a name to numbers",
        lambda value: isinstance(value, Mapping) and all(map(_VALUES.accepts, value.values())),
    ),
    "loss": Form(
        "text, or a mapping from names to text and numbers",
        lambda value: (
            isinstance(value, str) or (isinstance(value, Mapping) and all(map(_LOSS_VALUE.accepts, value.values())))
        ),
    ),
    "best_iteration": WHOLE,
    "positive": Form("0 or 1", lambda value: type(value) is int and value in (0, 1)),
    "members": _list_of(WHOLE),
    "scored": SWITCH,
}
# They have the same meaning in every estimator; other parameters are checked by the estimator that reads them.
PARAMETERS = {
    "alpha": PROBABILITY,
    "alpha_merge": PROBABILITY,
    "ccp_alpha": NUMBER,
    "criterion": TEXT,
    "confidence": _or_none(PROBABILITY),
    "max_depth": _or_none(WHOLE),
    "max_leaf_nodes": _or_none(WHOLE),
    "max_p_value": _or_none(PROBABILITY),
    "min_impurity_decrease": NUMBER,
    "min_samples_leaf": _either(SIZE, Form("'auto'", lambda value: value == "auto")),
    "min_samples_split": SIZE,
    "min_weight_fraction_leaf": SHARE,
    "monotonic_cst": _or_none(_either(_list_of(_SIGN), _list_of(_NAMED_SIGN))),
    "splitter": TEXT,
    "test": CHAID_TEST,
}


def check_forms(facts: Mapping[str, Any]) -> None:
    """Refuse a fact that a fit would not write; unknown facts may have any value.

    Raises
    ------
    ModelFileError
        It names the first such fact, and says what is expected.

    Examples
    --------
    >>> check_forms({"n_samples": 12, "parameters": {"max_depth": None}, "of_my_own": [1]})
    >>> check_forms({"parameters": {"splitter": 3}})
    Traceback (most recent call last):
        ...
    treewright.exceptions.ModelFileError: facts: parameters.splitter is 3, expected text
    """
    _check(facts, FACTS, "")
    parameters, member = facts.get("parameters", {}), facts.get("member", {})
    _check(parameters, PARAMETERS, "parameters.")
    _check(member, {name: FACTS[name] for name in ("algorithm", "criterion", "parameters")}, "member.")
    _check(member.get("parameters", {}), PARAMETERS, "member.parameters.")


def _check(found: Mapping[str, Any], forms: Mapping[str, Form], where: str) -> None:
    for name, form in forms.items():
        if name in found and not form.accepts(found[name]):
            raise ModelFileError(f"facts: {where}{name} is {shown_fact(found[name])}, expected {form.words}")


def shown_fact(value: object) -> str:
    """A fact as text, shortened to a line."""
    try:
        return "missing" if value is None else repr(value)[:40]
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number with too many digits"
