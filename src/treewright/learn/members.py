"""Copies of one estimator: their parameters, the rows and columns that each gets, and their common model.

Rows are sampled as in forests: the sample depends on the contents of the rows, not on their order, and a row of weight
k is k equal rows. What a base estimator was told about columns (which are nominal, which may only rise) is translated
to the columns that a member has. Members are fitted in ``estimators.members``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, ClassVar, Literal

import numpy as np

from treewright.data.calendar import requested_parts
from treewright.data.kinds import Declared, resolve
from treewright.data.memory import check_fits
from treewright.data.row_content import content_of, rough_content_of, row_order
from treewright.data.schema import Column, Schema, match_columns
from treewright.data.table import Table
from treewright.data.take import header_of, take_columns
from treewright.data.target import Labels, Numbers
from treewright.exceptions import ParameterError
from treewright.forest.draws import COLUMNS, GROWTH, Draws, counts_of_rows, number_of_draws, seeds_of
from treewright.learn.params import (
    CLASSES,
    FLAG,
    LOUDNESS,
    N_JOBS,
    NOTHING,
    NUMBERS,
    POSITIVE,
    RANDOM_STATE,
    WARM_START,
    Parameter,
    Params,
    Seed,
    by_task,
    methods,
    param,
    plain,
    real,
    share,
    stated,
    whole,
    words,
)
from treewright.learn.registry import ADABOOST, BAGGING
from treewright.learn.settings import interaction_groups, monotone_signs, refuse_changed
from treewright.model import Model
from treewright.trees.data import ListedTrees, with_grid

_ESTIMATOR = methods("fit", "predict", "get_params", "set_params")
_OF_MEMBERS = Parameter(
    None, (_ESTIMATOR, NOTHING), help="estimator of which members are copies; None is a tree",
    kind=by_task("classifier", "regressor"),
    more="Treewright's or any other with ``fit``, ``predict`` and ``get_params``. It is copied, never fitted itself. "
    "Each copy gets seeds of its own for its ``random_state``.",
)  # fmt: skip
_STUMP = by_task(
    f"{_OF_MEMBERS.more} By default it is a tree of one test (a *stump*), ``DecisionTreeClassifier(max_depth=1)``. Its "
    '``class_weight="balanced"`` is computed once, from the weights before the first round.',
    f"{_OF_MEMBERS.more} By default it is ``DecisionTreeRegressor(max_depth=3)``.",
)
_CONTINUES = "The result is that of one fit: the table must be the same, and so must all parameters but"


@dataclass(frozen=True, kw_only=True)
class BaggingParams(Params):
    """Bagging (Breiman 1996)."""

    algorithm_name: ClassVar[str] = BAGGING.name
    by_position: ClassVar[tuple[str, ...]] = ("estimator", "n_estimators")

    estimator: Any = stated(_OF_MEMBERS)
    n_estimators: int = param(10, whole(1), unit="members", help="members", more="copies of the estimator.")
    max_samples: float | None = param(
        1.0,
        whole(1),
        share(0.0, 1.0, "right"),
        NOTHING,
        unit="rows or share of the rows",
        help="rows that each member samples",
        more="A share is rounded, and at least one row; None is 1.0.",
    )
    max_features: float = param(
        1.0,
        whole(1),
        share(0.0, 1.0, "right"),
        unit="columns or share of the columns",
        help="columns that each member gets",
        more="They are sampled. A share is rounded down, and at least one column.",
    )
    bootstrap: bool = param(
        True, FLAG, help="whether rows are sampled with replacement",
        more="Without it, a row is in a member's sample at most once (*pasting*).",
    )  # fmt: skip
    bootstrap_features: bool = param(
        False, FLAG, help="whether columns are sampled with replacement",
        more='A column that is drawn twice gets a second name, "age (2)".',
    )  # fmt: skip
    oob_score: bool = param(
        False, FLAG, shapes_model=False, help="score rows by the members that did not sample them",
        more="See the attributes.",
    )  # fmt: skip
    warm_start: bool = stated(
        replace(
            WARM_START,
            more=f"{_CONTINUES} ``n_estimators``, ``oob_score``, ``voting``, ``n_jobs`` and ``verbose``.",
        )
    )
    n_jobs: int | None = stated(
        replace(
            N_JOBS,
            more="Members are fitted on them. None is one if the base is not Treewright's, because Python code blocks "
            "other threads. The members do not depend on it.",
        )
    )
    random_state: Seed = stated(RANDOM_STATE)
    verbose: int = stated(LOUDNESS)
    voting: str = param(
        "soft", words("soft", "hard"), only=CLASSES, help="average class probabilities, or one vote for each member",
        more="Members without ``predict_proba`` vote.",
    )  # fmt: skip
    positive: Any = stated(POSITIVE)


@dataclass(frozen=True, kw_only=True)
class AdaBoostParams(Params):
    """AdaBoost (Freund and Schapire 1997; SAMME, Zhu et al. 2009; R2, Drucker 1997)."""

    algorithm_name: ClassVar[str] = ADABOOST.name
    by_position: ClassVar[tuple[str, ...]] = ("estimator",)

    estimator: Any = stated(replace(_OF_MEMBERS, more=_STUMP))
    n_estimators: int = param(
        50, whole(1), unit="members", help="members", more="copies of the estimator, at most so many."
    )
    learning_rate: float = param(
        1.0, real(0.0, None, "neither"), help="factor of each member's weight",
        more="Below 1, the weights of rows change more slowly.",
    )  # fmt: skip
    loss: str = param(
        "linear", words("linear", "square", "exponential"), only=NUMBERS, help="how errors of predictions count",
        more="Of a row whose error is the share ``s`` of the largest error: ``s``, ``s**2`` or ``1 - exp(-s)``.",
    )  # fmt: skip
    bootstrap: bool = param(
        False, FLAG, help="sample rows by their weights instead of passing the weights on",
        more="As many rows as there are, with replacement, as in Drucker's paper. Needed for a base whose ``fit`` "
        "takes no ``sample_weight``.",
    )  # fmt: skip
    keep_row_weights: bool = param(False, FLAG, help="keep the weight of each row in each round: row_weights_")
    warm_start: bool = stated(replace(WARM_START, more=f"{_CONTINUES} ``n_estimators``, ``n_jobs`` and ``verbose``."))
    n_jobs: int | None = stated(replace(N_JOBS, more="Each tree grows on them. The members do not depend on it."))
    random_state: Seed = stated(RANDOM_STATE)
    verbose: int = stated(LOUDNESS)
    positive: Any = stated(POSITIVE)


_BYTES_PER_ROW = 32  # for the order of the rows and for a draw
_BLOCK = 65_536  # rows that are hashed at a time


class BagRows:
    """The rows of a fit and the draws from them.

    ``kept`` (int64[m], ascending): rows with weight; only these are drawn.
    ``own_weights`` (float64[m] or None), weights of the sampled rows, if weights are neither row counts nor chances:
        without replacement.
    ``leaves_none_out``: whether every member gets every row.
    ``digest``: a digest of the rows, targets and weights, in their order.

    ``weights`` (float64[n] or None). ``replace``: whether a row may be drawn again. ``is_ours``: whether X must be a
    table as Treewright's estimators accept it; other input is refused.
    """

    def __init__(
        self,
        X: Any,
        target: Labels | Numbers,
        weights: np.ndarray | None,
        *,
        max_samples: float | None,
        replace: bool,
        seed: int,
        is_ours: bool,
    ) -> None:
        self.n_rows = len(target[0])
        check_fits(_BYTES_PER_ROW * self.n_rows, f"drawing from {self.n_rows} rows")
        content = content_of(X) if is_ours else rough_content_of(X)
        self.digest = _digest_of(content, target, weights)
        self.kept = np.arange(self.n_rows) if weights is None else np.flatnonzero(weights > 0)
        weights = None if weights is None else weights[self.kept]
        self.own_weights = None if replace or weights is None or counts_of_rows(weights) is not None else weights
        weights = weights if self.own_weights is None else None
        self._order = self._order_of(content, target, weights)
        n_draws = number_of_draws(max_samples, len(self.kept), weights)
        self.leaves_none_out = not replace and n_draws == number_of_draws(None, len(self.kept), weights)
        self._draws = Draws(self._order, n_draws, seed, weights=weights, replace=replace)

    def _order_of(self, content: np.ndarray, target: Labels | Numbers, weights: np.ndarray | None) -> np.ndarray:
        """The rows with weight in an order that does not depend on the table's."""
        numbers = target[0][self.kept]
        if isinstance(target, Labels):
            # Ranks among the labels of these rows: a label of weight 0 must not change anything.
            ranks = [np.unique(numbers[:, output], return_inverse=True)[1] for output in range(numbers.shape[1])]
            numbers = np.stack(ranks, axis=1).astype(np.int32)
        nothing = np.empty((len(self.kept), 0), np.uint8)
        if not content.shape[1]:
            return np.arange(len(self.kept), dtype=np.int32)
        content = content if len(self.kept) == self.n_rows else content[self.kept]
        return row_order(nothing, numbers, weights=weights, matrix=content)

    def drawn(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows that a member samples.

        Returns ``rows`` (int64[k], ascending): positions in the table; ``times`` (float64[k], > 0): how often each is
        sampled, or its weight.
        """
        rows, counts = self._draws.counts(member)
        times = counts.astype(np.float64) if self.own_weights is None else self.own_weights[rows]
        return self.kept[rows], times

    def as_weights(self, member: int) -> np.ndarray:
        """float64[n_rows]: how often a member samples each row of the table."""
        rows, times = self.drawn(member)
        weights = np.zeros(self.n_rows)
        weights[rows] = times
        return weights

    def in_order(self, member: int) -> np.ndarray:
        """The rows that a member samples, each as often as drawn, in an order that does not depend on the table's.

        Returns int64[n_draws]: positions in the table.
        """
        rows, counts = self._draws.counts(member)
        by_row = np.zeros(len(self.kept), np.int64)
        by_row[rows] = counts
        return self.repeated(by_row)

    def repeated(self, by_row: np.ndarray) -> np.ndarray:
        """Rows as often as they are counted, in an order that does not depend on the table's.

        ``by_row`` (int64[m], >= 0): of the rows ``kept``. Returns int64[k]: positions in the table.
        """
        return self.kept[np.repeat(self._order, by_row[self._order])]

    def counts_by_chance(self, member: int, chances: np.ndarray) -> np.ndarray:
        """How often a member samples each row, with replacement and by other chances than the weights of the rows.

        ``chances`` (float64[m], > 0): of the rows ``kept``. Whole numbers with a sum below 2**31 are exact. Returns
        int64[m].
        """
        draws = Draws(self._order, self._draws.n_draws, self._draws.seed, weights=chances)
        by_row = np.zeros(len(self.kept), np.int64)
        rows, counts = draws.counts(member)
        by_row[rows] = counts
        return by_row

    def left_out(self, member: int) -> np.ndarray:
        """The rows with weight that a member does not sample.

        Returns int64[k], ascending: positions in the table.
        """
        return self.kept[self._draws.left_out(member)]


def _digest_of(content: np.ndarray, target: Labels | Numbers, weights: np.ndarray | None) -> str:
    """See ``BagRows.digest``."""
    made = blake2b(digest_size=16)
    labels = [known.tolist() for known in target.classes] if isinstance(target, Labels) else None
    made.update(repr(labels).encode("utf-8", "surrogatepass"))
    for array in (content, target[0], np.empty(0) if weights is None else weights):
        made.update(repr(array.shape).encode())
        for start in range(0, len(array), _BLOCK):
            made.update(np.ascontiguousarray(array[start : start + _BLOCK], np.float64).data)
    return made.hexdigest()


def member_columns(n_columns: int, n_chosen: int, seed: int, member: int, *, replace: bool) -> np.ndarray:
    """The columns that a member gets.

    ``replace``: whether a column may be drawn again. Returns int64[n_chosen], ascending.

    Examples
    --------
    >>> member_columns(3, 3, 0, 0, replace=False).tolist()
    [0, 1, 2]
    """
    # Columns are sampled like rows, with a seed of their own; their contents do not matter.
    own_seed = int(seeds_of(seed, 0, 1)[0, COLUMNS])
    columns = Draws(np.arange(n_columns, dtype=np.int32), n_chosen, own_seed, replace=replace)
    chosen, times = columns.counts(member)
    return np.repeat(chosen, times).astype(np.int64)


def seeded(estimator: Any, seed: int, member: int) -> Any:
    """The estimator itself; every ``random_state`` in it is set to a seed that no other member has."""
    state = int(seeds_of(seed, member, 1)[0, GROWTH])
    names = sorted(n for n in estimator.get_params(deep=True) if n == "random_state" or n.endswith("__random_state"))
    seeds = (seeds_of(state, 0, max(1, len(names)))[:, 0] % np.uint64(2**31 - 1)).tolist()
    return estimator.set_params(**dict(zip(names, seeds, strict=False))) if names else estimator


_ASKED = ("nominal", "ordinal", "numeric", "calendar", "monotonic_cst", "interaction_cst")


@dataclass(frozen=True)
class BagColumns:
    """The columns of a fit.

    ``schema``: their names, if they have any; kinds are not known here.
    """

    schema: Schema

    @classmethod
    def of(cls, X: Any) -> BagColumns:
        """The columns of a table.

        Raises ``DataError``: it is not a table, or has no columns. ``ColumnError``: two columns have the same name.
        """
        names, width = header_of(X)
        known = tuple(f"x{at}" for at in range(width)) if names is None else names
        return cls(Schema(tuple(Column(name, "numeric") for name in known), names is not None))

    def __len__(self) -> int:
        return len(self.schema)

    def is_every(self, columns: np.ndarray) -> bool:
        """Whether a member has all columns, each once."""
        return len(columns) == len(self) and bool((columns == np.arange(len(self))).all())

    def names_of(self, columns: np.ndarray) -> list[Hashable]:
        """Names of a member's columns; a column that it has twice has a second name, ``"age (2)"``.

        ``columns`` (int64[k]).
        """
        taken = set(self.schema.names)
        times: Counter[int] = Counter()
        names: list[Hashable] = []
        for at in columns.tolist():
            times[at] += 1
            name, number = self.schema.names[at], times[at]
            if number > 1:
                while f"{name} ({number})" in taken:
                    number += 1
                name = f"{name} ({number})"
                taken.add(name)
            names.append(name)
        return names

    def part_of(self, X: Any, columns: np.ndarray) -> Any:
        """A member's columns of a table.

        ``X``: with the columns of the fit in their order (``arranged``). ``columns`` (int64[k]).
        """
        if self.is_every(columns):
            return X
        is_named = self.schema.named and header_of(X)[0] is not None
        return take_columns(X, columns, self.names_of(columns) if is_named else None)

    def arranged(self, X: Any, owner: str) -> Any:
        """The columns of the fit, in their order, of another table; X itself if it has just these.

        Raises ``ColumnError``: a column is missing; or, without names, their number is different. Warns: columns that
        the fit did not see; names on one side only.
        """
        names, width = header_of(X)
        where = match_columns(self.schema, Table(names, 0, width), owner)
        return X if where == list(range(width)) else take_columns(X, np.array(where, np.int64))

    def told_again(self, parameters: Mapping[str, Any], columns: np.ndarray) -> dict[str, Any]:
        """The declarations and constraints of a base estimator, for the columns of a member.

        ``parameters``: ``get_params(deep=True)`` of the base. ``columns`` (int64[k]). Returns parameters to set.
        Raises ``ColumnError``: a declared column does not exist. ``ParameterError``: a column is declared twice, or a
        constraint names none of the columns.

        Examples
        --------
        >>> columns = BagColumns.of({"age": [1], "city": ["Oslo"], "size": ["S"]})
        >>> told = {"nominal": ["city"], "ordinal": {"size": ["S", "M"]}, "numeric": None}
        >>> columns.told_again(told, np.array([0, 2]))
        {'nominal': {}, 'ordinal': {'size': ['S', 'M']}, 'numeric': []}
        """
        if self.is_every(columns):
            return {}
        told: dict[str, Any] = {}
        for name in parameters:
            prefix, _, last = name.rpartition("__")
            if last == "nominal":
                start = f"{prefix}__" if prefix else ""
                given = {word: parameters.get(start + word) for word in _ASKED}
                told |= {start + word: value for word, value in self._declarations(given, columns).items()}
        return told

    def _declarations(self, given: Mapping[str, Any], columns: np.ndarray) -> dict[str, Any]:
        """Declarations of one estimator, for a member's columns."""
        told: dict[str, Any] = {}
        keys = self.names_of(columns) if self.schema.named else list(range(len(columns)))
        pairs = list(zip(keys, columns.tolist(), strict=True))
        if any(given[word] is not None for word in _ASKED[:3]):
            declared = resolve(self.schema.names, given["nominal"], given["ordinal"], given["numeric"])
            mine = {key: declared[at] for key, at in pairs if at in declared}
            told = {
                "nominal": {key: _levels(one) for key, one in mine.items() if one.kind == "nominal"},
                "ordinal": {key: _levels(one) for key, one in mine.items() if one.kind == "ordinal"},
                "numeric": [key for key, one in mine.items() if one.kind == "numeric"],
            }
            if any(one.unnamed for one in declared.values()):
                told["nominal"] = given["nominal"]  # "all", which means the same for fewer columns
        if isinstance(given["calendar"], Mapping):  # parts without columns mean the same for fewer columns
            asked = requested_parts(given["calendar"], self.schema.names)
            told["calendar"] = {key: list(asked[at].parts) for key, at in pairs if at in asked}
        signs = monotone_signs(given["monotonic_cst"], self.schema)
        if signs is not None:
            told["monotonic_cst"] = [signs[at] for _, at in pairs]
        groups = given["interaction_cst"]
        if not (groups is None or isinstance(groups, str)):  # a word means the same for fewer columns
            # With the group of the columns that no group names: it would be different among fewer columns.
            of_positions = interaction_groups(groups, self.schema) or ()
            mine_of = [[key for key, at in pairs if at in group] for group in of_positions]
            told["interaction_cst"] = [group for group in mine_of if group]
        return told


def _levels(declared: Declared) -> list[Hashable] | None:
    """Declared levels; None if they are read from the data."""
    return list(declared.levels) or None


_ALIKE = ("task", "n_outputs", "unseen", "missing", "schema")


def model_of_members(
    members: Sequence[Any],
    features: Sequence[Any],
    columns: BagColumns | None,
    target_names: tuple[str, ...],
    combine: Literal["mean", "vote", "median"],
    facts: Mapping[str, Any],
    weights: np.ndarray | None = None,
) -> Model | str:
    """The members' trees as one model.

    ``features`` (sequence of int64[k]): the columns of each. ``facts``: of the ensemble; those of the first member are
    added as ``member``. ``weights`` (float64[n_members]): of the members in a vote or a median. Returns Model or str,
    as text, why there is none: a member is not a single tree, lacks columns, or has other levels or classes.
    """
    models: list[Any] = [getattr(member, "model_", None) for member in members]
    first = models[0]
    for number, model in enumerate(models):
        name = type(members[number]).__name__
        if not isinstance(model, Model) or not model.is_single_tree:
            return f"member {number} ({name}) is not a single tree of Treewright"
        if columns is None or not columns.is_every(features[number]):
            return "its members do not have all columns (max_features, bootstrap_features)"
        same_classes = [one.tolist() for one in model.classes] == [one.tolist() for one in first.classes]
        if not same_classes or any(getattr(model, field) != getattr(first, field) for field in _ALIKE):
            return f"member {number} ({name}) has other levels or classes than member 0"
    about_member = {
        "algorithm": first.facts["algorithm"],
        # Each member has a seed of its own.
        "parameters": {name: value for name, value in first.facts["parameters"].items() if name != "random_state"},
    }
    positive = {name: first.facts[name] for name in ("positive",) if name in first.facts}
    model = Model(
        task=first.task,
        schema=first.schema,
        trees=ListedTrees(model.trees[0] for model in models),
        classes=first.classes,
        n_outputs=first.n_outputs,
        combine=combine,
        unseen=first.unseen,
        missing=first.missing,
        target_names=target_names,
        facts={"criterion": first.facts["criterion"], **positive, **facts, "member": about_member},
        tree_weights=weights,
    )
    return with_grid(model)


# Of any estimator: no fitted model can depend on them.
_WITHOUT_EFFECT = frozenset({"callbacks", "n_jobs", "grow_trace", "oob_score", "verbose", "warm_start"})
# These may change: they decide the number of members and how they are combined, not what a member is.
_FREE = frozenset({"n_estimators", "oob_score", "voting", "n_jobs", "verbose", "warm_start"})
# Of the base, at any depth: seeds are drawn for each member, the others change nothing of what is fitted.
_FREE_IN_BASE = frozenset({"random_state", "n_jobs", "verbose"})
_BASE = "estimator"


@dataclass(frozen=True, eq=False)
class BagWarmStart:
    """What all members of a bag must share.

    ``parameters``: those that decide what a member is, by name; those of the base as ``estimator__name``.
    """

    parameters: dict[str, Any]
    columns: BagColumns | None
    rows: BagRows
    seed: int

    def refuse_others(self, now: BagWarmStart) -> None:
        """Refuse to add members of another kind.

        Raises ``ParameterError``: a parameter, the columns, rows, target or weights are different.
        """
        refuse_changed(self.parameters, now.parameters, "members")
        if self.columns != now.columns:
            raise ParameterError("warm_start=True needs the same columns as the fit before: pass these, or fit anew")
        if self.rows.digest != now.rows.digest:
            raise ParameterError(
                "warm_start=True adds members on the same table, but rows, target or weights are different from the "
                "fit before: pass the same ones, or set warm_start=False"
            )


def parameters_of(own: Mapping[str, Any], base: Any) -> dict[str, Any]:
    """Parameters that decide what a member is; they are copied, as lists may change in their place.

    ``own``: of the bag, without those of the base.
    """
    found = {_BASE: type(base), **_copies({name: own[name] for name in own if name not in {_BASE, *_FREE}})}
    of_base = {name: value for name, value in base.get_params(deep=True).items()
               if name.rpartition("__")[2] not in _FREE_IN_BASE}  # fmt: skip
    return found | {f"{_BASE}__{name}": value for name, value in _copies(of_base).items()}


def _copies(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as plain JSON; functions have no JSON form and are kept."""
    kept = {name: value for name, value in values.items() if callable(value)}
    return {name: plain(value) for name, value in sorted(values.items()) if name not in _WITHOUT_EFFECT} | kept
