"""How the trees of a model were grown, by its facts, and the check of these facts.

A file with a valid checksum may still have been written by hand. After the check, readers of a fact (an audit, a
pruner, a report) find what a fit writes, or nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from treewright.exceptions import ModelFileError
from treewright.trees.arrays import Tree
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA
from treewright.trees.data import ModelData
from treewright.trees.wording import NodeTest, describe

BY_HAND = "workbench"  # the name of the fact of a tree that was grown by hand
# The node-by-node grower lists the candidates of their nodes.
SEARCHED = ("cart", "id3", "c45", "chaid", "optimal")
# Forests whose nodes sample columns, on bins or with random cuts.
FORESTS = {
    "random_forest": "a random forest",
    "extra_trees": "extra-trees",
    "isolation_forest": "an isolation forest",
}
GRADIENT_BOOSTING, ADABOOST = "gradient_boosting", "adaboost"
# Why the rows and their target do not show how a test of these was chosen.
BOOSTED = {
    GRADIENT_BOOSTING: "is chosen by gradients, which depend on the trees before it, and not by the target",
    ADABOOST: "is fitted with row weights that depend on the trees before it, which the model does not keep",
}
MEMBERS = ("bagging", ADABOOST)  # ensembles of trees that an estimator of one tree grew
EXACT_FORESTS = (("random_forest", "absolute_error"),)  # fitted on the values, because a histogram has no medians
# With one number per row, levels in the order of their means contain the best partition (Breiman et al. 1984, 4.2.2).
ORDERED_CRITERIA = {
    "classification": tuple(CLASSIFICATION_CRITERIA),
    "regression": ("squared_error", "poisson"),
}


@dataclass(frozen=True)
class Growth:
    """The algorithm of each tree, and its parameters."""

    algorithm: str  # for bagging and AdaBoost that of their members; ``"cart"`` if the facts name none
    criterion: str  # empty if the facts name none
    parameters: Mapping[str, Any]  # those of the estimator of one tree; empty if the facts have none
    is_member: bool = False  # whether bagging or AdaBoost chose the rows of each tree, or their weights

    @property
    def splitter(self) -> str:
        """``"best"`` if every cut between two values was tried, ``"hist"`` on bins, ``"random"`` for random cuts."""
        if self.algorithm == GRADIENT_BOOSTING:
            return "hist"
        if self.algorithm in FORESTS:
            if (self.algorithm, self.criterion) in EXACT_FORESTS:
                return "best"
            return "hist" if self.algorithm == "random_forest" else "random"
        return str(self.parameters.get("splitter", "best"))

    @property
    def tries_every_cut(self) -> bool:
        """Whether a node tried every cut between two values of its candidate columns."""
        return self.splitter == "best"


def growth_of(model: ModelData) -> Growth:
    """How each tree of a model was grown, by its facts, which may come from a file of any origin."""
    facts: Mapping[str, Any] = model.facts
    criterion, member = str(facts.get("criterion", "")), facts.get("member")
    is_member = False
    if facts.get("algorithm") in MEMBERS and isinstance(member, Mapping):
        facts, is_member = member, True
    parameters = facts.get("parameters")
    return Growth(
        algorithm=str(facts.get("algorithm", "cart")),
        criterion=criterion,
        parameters=parameters if isinstance(parameters, Mapping) else {},
        is_member=is_member,
    )


def node_test(model: ModelData, tree: Tree, node: int) -> NodeTest:
    """Return `describe` with what the model knows about missing values and about the search among cuts and levels."""
    every_cut = growth_of(model).tries_every_cut
    return describe(model.schema, tree, node, missing=model.missing, ordered=has_best_order(model), every_cut=every_cut)


def has_best_order(model: ModelData) -> bool:
    """Return whether an order of a nominal column's levels is known to contain their best partition in two.

    True for one number per row (two classes, or one target) under a criterion that Breiman et al. 1984, section 4.2.2,
    cover; a criterion that the model does not state is not known.
    """
    if growth_of(model).parameters.get("nominal_splits") == "one_vs_rest":
        return True  # every one of those is tried
    one_number = model.n_outputs == 1 and sum(model.n_classes) <= 2
    return one_number and model.facts.get("criterion") in ORDERED_CRITERIA[model.task]


def cuts_of(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The prunings that pruned at least one node, first to last.

    The facts may come from a file: entries that are not of a pruning are left out.
    """
    stated = facts.get("pruning")
    entries = stated if isinstance(stated, list | tuple) else ()
    return [one for one in entries if isinstance(one, Mapping) and isinstance(one.get("cuts"), int) and one["cuts"] > 0]


def search_of(facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the search of an optimal tree found; None for other trees, and if the tree was pruned or changed by hand."""
    found = facts.get("optimal")
    is_known = isinstance(found, Mapping) and {"objective", "lower_bound", "is_proven"} <= found.keys()
    return found if is_known and not cuts_of(facts) and BY_HAND not in facts else None


def gap_of(found: Mapping[str, Any]) -> float:
    """Share of an optimal tree's objective by which it may be above the least one of all trees, 0 to 1."""
    if (found["is_proven"] and not found.get("greedy_below")) or found["objective"] <= 0.0:
        return 0.0
    return float(min(max(1.0 - found["lower_bound"] / found["objective"], 0.0), 1.0))


def proof_of(facts: Mapping[str, Any]) -> str:
    """What is proved of an optimal tree, as a clause after "grown by optimal"; empty for other trees, and if pruned.

    >>> proof_of({"optimal": {"objective": 0.2, "lower_bound": 0.2, "is_proven": True}, "parameters": {"max_depth": 3}})
    'proven: no tree of depth 3 has a smaller loss'
    >>> proof_of({"optimal": {"objective": 0.2, "lower_bound": 0.15, "is_proven": False, "stopped": "max_search=9"}})
    'not proven: the least loss is at most 25.0 % smaller (stopped by max_search=9)'
    >>> proof_of({"optimal": {"objective": 0.2, "lower_bound": 0.0, "is_proven": True, "greedy_below": 2}})
    'proven optimal in its first 2 levels, greedy below'
    >>> smallest = {"objective": "smallest", "max_depth": None}
    >>> proof_of({"optimal": {"objective": 5.0, "lower_bound": 5.0, "is_proven": True}, "parameters": smallest})
    'proven: no consistent tree has fewer than 5 leaves'
    """
    found, parameters = search_of(facts), facts.get("parameters", {})
    if found is None:
        return ""
    is_smallest = parameters.get("objective") == "smallest"
    sizes = (("max_depth", "of depth {}"), ("max_leaf_nodes", "with {} leaves"))[: 1 if is_smallest else 2]
    limits = [form.format(parameters[name]) for name, form in sizes if parameters.get(name) is not None]
    if found.get("searched"):
        limits.append(f"over {found['searched']}")
    of = "".join(f" {limit}" for limit in limits)
    stopped = f" (stopped by {found['stopped']})" if found.get("stopped") else ""
    if is_smallest:
        if found["is_proven"]:
            return f"proven: no consistent tree{of} has fewer than {found['objective']:.0f} leaves"
        return f"not proven: a consistent tree{of} has at least {found['lower_bound']:.0f} leaves{stopped}"
    if found.get("greedy_below"):
        levels, over = found["greedy_below"], f" over {found['searched']}" if found.get("searched") else ""
        of = f"in its first {levels} levels" if levels > 1 else "in its first level"
        return f"{'' if found['is_proven'] else 'not '}proven optimal {of}{over}, greedy below{stopped}"
    if found["is_proven"]:
        price = " (with the price of its leaves)" if parameters.get("ccp_alpha") else ""
        fewer = f"; perhaps one with fewer leaves has the same{stopped}" if stopped else ""
        return f"proven: no tree{of} has a smaller loss{price}{fewer}"
    return f"not proven: the least loss is at most {100.0 * gap_of(found):.1f} % smaller{stopped}"


class Form(NamedTuple):
    """The permitted values of a fact: in words that follow "expected", and as a function."""

    text: str
    accepts: Callable[[Any], bool]


def is_number(value: object) -> bool:
    """Whether a value is a finite number within float64; true and false count as 1 and 0, as in a fit."""
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


def _or_none(form: Form) -> Form:
    return Form(f"{form.text} or null", lambda value: value is None or form.accepts(value))


def _list_of(form: Form) -> Form:
    return Form(
        f"a list, each {form.text}", lambda value: isinstance(value, list | tuple) and all(map(form.accepts, value))
    )


def _either(one: Form, other: Form) -> Form:
    return Form(f"{one.text}, or {other.text}", lambda value: one.accepts(value) or other.accepts(value))


TEXT = Form("text", lambda value: isinstance(value, str))
SWITCH = Form("true or false", lambda value: isinstance(value, bool))
INTEGER = Form("a whole number, at least 0", lambda value: isinstance(value, int) and value >= 0)
NUMBER = Form("a number", is_number)
SIZE = Form(
    "a whole number above 0, or a share from 0 to 1",
    lambda value: is_number(value) and (value > 0 if isinstance(value, int) else 0.0 <= value <= 1.0),
)
PROPORTION = Form("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
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
    "n_samples": INTEGER,
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
    "best_iteration": INTEGER,
    "optimal": MAPPING,
    "positive": Form("0 or 1", lambda value: type(value) is int and value in (0, 1)),
    "members": _list_of(INTEGER),
    "scored": SWITCH,
}
# They have the same meaning in every estimator; other parameters are checked by the estimator that reads them.
PARAMETERS = {
    "alpha": PROBABILITY,
    "alpha_merge": PROBABILITY,
    "ccp_alpha": NUMBER,
    "criterion": TEXT,
    "confidence": _or_none(PROBABILITY),
    "max_depth": _or_none(INTEGER),
    "max_leaf_nodes": _or_none(INTEGER),
    "max_p_value": _or_none(PROBABILITY),
    "min_impurity_decrease": NUMBER,
    "min_samples_leaf": _either(SIZE, Form("'auto'", lambda value: value == "auto")),
    "min_samples_split": SIZE,
    "min_weight_fraction_leaf": PROPORTION,
    "monotonic_cst": _or_none(_either(_list_of(_SIGN), _list_of(_NAMED_SIGN))),
    "splitter": TEXT,
    "test": CHAID_TEST,
}
# What the search of an optimal tree has proved.
PROOF = {
    "objective": NUMBER,
    "lower_bound": NUMBER,
    "is_proven": SWITCH,
    "greedy_below": INTEGER,
    "n_solved": INTEGER,
    "stopped": TEXT,
    "searched": TEXT,
    "greedy_objective": NUMBER,
    "greedy_leaves": INTEGER,
}


def check_forms(facts: Mapping[str, Any]) -> None:
    """Refuse the first fact that a fit would not write; unknown facts may have any value.

    >>> check_forms({"n_samples": 12, "parameters": {"max_depth": None}, "of_my_own": [1]})
    >>> check_forms({"parameters": {"splitter": 3}})
    Traceback (most recent call last):
        ...
    treewright.exceptions.ModelFileError: facts: parameters.splitter is 3, expected text
    """
    _check(facts, FACTS, "")
    parameters, member = facts.get("parameters", {}), facts.get("member", {})
    _check(parameters, PARAMETERS, "parameters.")
    _check(facts.get("optimal", {}), PROOF, "optimal.")
    _check(member, {name: FACTS[name] for name in ("algorithm", "criterion", "parameters")}, "member.")
    _check(member.get("parameters", {}), PARAMETERS, "member.parameters.")


def _check(found: Mapping[str, Any], forms: Mapping[str, Form], where: str) -> None:
    for name, form in forms.items():
        if name in found and not form.accepts(found[name]):
            raise ModelFileError(f"facts: {where}{name} is {shown_fact(found[name])}, expected {form.text}")


def shown_fact(value: object) -> str:
    """A fact as text, shortened to a line."""
    try:
        return "missing" if value is None else repr(value)[:40]
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number with too many digits"
