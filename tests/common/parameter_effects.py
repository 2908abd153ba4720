"""What a parameter does to a fit: values to set it to, tables on which it can matter, and what a fit leaves.

Values come from the rules of ``learn.params``: every word, the other way of every switch, a few numbers of every range.
Only what no rule says, such as columns of the tables, stands in `BY_HAND`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import treewright as tw
from treewright.exceptions import TreewrightError
from treewright.learn.params import CLASSES, NUMBERS, Parameter, Rule, Task, parameters_of
from treewright.learn.registry import ALGORITHMS, Algorithm
from treewright.trees.codec import dumps

# The tables: numbers, names of few and of many levels, ranks, digits as text; a target that hangs on most of them.

N = 66
_rng = np.random.default_rng(3)
_NUMBERS = np.column_stack([_rng.integers(0, 12, N), _rng.gamma(2.0, 1.0, N).round(2), _rng.normal(size=N).round(2)])
_KIND, _RANK, _SHOP = _rng.choice(list("abcde"), N), _rng.choice(["low", "mid", "high"], N), np.arange(N) % 33
_SCORE = _NUMBERS[:, 0] / 3 + _NUMBERS[:, 1] * (_KIND < "c") + (_RANK == "high") + _SHOP / 20 + _rng.normal(size=N) / 2
_MIDDLE = np.quantile(_SCORE, 0.6)
TARGETS = {CLASSES: np.where(_MIDDLE < _SCORE, "yes", "no"), NUMBERS: np.exp(_SCORE / 3).round(2)}


class Example(NamedTuple):
    """A table to learn from, one to predict, and the target by task."""

    fitted: Any
    asked: Any
    targets: Mapping[Task, np.ndarray] = TARGETS


def _table(rows: slice) -> dict[str, list[Any]]:
    return {
        "size": _NUMBERS[rows, 0].tolist(),
        "price": _NUMBERS[rows, 1].tolist(),
        "kind": _KIND[rows].tolist(),
        "shop": [f"shop {number:02}" for number in _SHOP[rows]],
        "rank": _RANK[rows].tolist(),
        "code": [str(int(size) % 5) for size in _NUMBERS[rows, 0]],
    }


def _with_gaps(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Every eleventh cell of each column is missing."""
    return {
        name: [None if row % 11 == at else cell for row, cell in enumerate(cells)]
        for at, (name, cells) in enumerate(table.items())
    }


def _names_of(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: table[name] for name in ("kind", "rank", "code")}


_SOME = slice(0, N, 3)
_UNHEARD = {**_with_gaps(_table(_SOME)), **dict.fromkeys(("kind", "shop", "rank", "code"), ["unheard"] * (N // 3))}
GAPS = Example(_with_gaps(_table(slice(None))), _UNHEARD)
WHOLE = Example(_table(slice(None)), _table(_SOME))
PLAIN = Example(_NUMBERS, _NUMBERS[_SOME] + 0.25)
NAMES = Example(_names_of(GAPS.fitted), _names_of(GAPS.asked))
DIGITS = Example(_NUMBERS[:, :1], _NUMBERS[_SOME, :1])  # ID3 refuses them, unless they are declared names
# A tree in which C4.5 raises a subtree: two steps, and some of the labels turned round.
_GRID = np.random.default_rng(1).integers(0, 5, (96, 3)).astype(float)
_IS_TURNED = np.random.default_rng(101).random(96) < 1 / 7
_TURNED = np.where((_GRID[:, 0] > 2) & (_GRID[:, 1] > 1) ^ _IS_TURNED, "yes", "no")
STEPS = Example(_GRID, _GRID, {CLASSES: _TURNED})
# Dates whose month and weekday decide.
_DAYS = np.array("2023-01-01", "M8[D]") + np.random.default_rng(7).integers(0, 900, 120)
_SEASON = (_DAYS.astype("M8[M]").astype(int) % 12 >= 6) ^ ((_DAYS.astype(int) + 3) % 7 >= 5)
DATES = Example(
    {"sold": _DAYS, "size": np.arange(120) % 7},
    {"sold": _DAYS[::3] + 1, "size": np.arange(40) % 5},
    {CLASSES: np.where(_SEASON, "yes", "no"), NUMBERS: 1.0 + _SEASON},
)


# The estimators.

_OF_FOREST = {"n_estimators": 4, "random_state": 0}
_FEW: dict[str, dict[str, Any]] = {
    "forest": _OF_FOREST,
    "extra-trees": _OF_FOREST,
    "bagging": _OF_FOREST,
    "isolation": _OF_FOREST,
    "adaboost": {"n_estimators": 3, "random_state": 0},
    "boosting": {"n_estimators": 4, "learning_rate": 0.5, "min_samples_leaf": 5},
}


class Outcome(NamedTuple):
    """What a fit leaves (`left_by`; None where it is refused), and what it says: warnings, or its one error."""

    left: bytes | None
    said: list[str]


class Subject(NamedTuple):
    """An estimator, its algorithm and task."""

    name: str
    algorithm: Algorithm
    task: Task

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its parameters by name."""
        return parameters_of(self.algorithm.params_class(), self.task)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The tables on which a parameter may matter."""
        if self.algorithm.word == "id3":
            return NAMES, DIGITS
        return GAPS, STEPS if self.algorithm.word == "c45" else PLAIN, WHOLE, NAMES, DATES

    def outcome(self, example: Example, settings: Mapping[str, Any]) -> Outcome:
        """What comes of a fit."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                est = getattr(tw, self.name)(**{**_FEW.get(self.algorithm.word, {}), **settings})
                target = () if self.algorithm.kind == "outliers" else (example.targets[self.task],)
                est.fit(example.fitted, *target)
                left = left_by(est, example.asked)
            except TreewrightError as error:
                return Outcome(None, [f"{type(error).__name__}: {error}"])
        return Outcome(left, sorted({str(each.message) for each in heard}))


SUBJECTS = [
    Subject(name, each, task)
    for each in ALGORITHMS
    for task, name in ((CLASSES, each.classifier), (NUMBERS, each.regressor))
    if name is not None
] + [Subject("IsolationForest", each, CLASSES) for each in ALGORITHMS if each.kind == "outliers"]

# Facts that repeat a parameter.
_REPEATED = ("parameters", "member", "loss", "criterion", "scored")


def left_by(est: Any, asked: Any) -> bytes:
    """Answers, attributes and trees of a fit, without what only repeats its parameters."""
    ways = ("score_samples", "predict", "predict_proba", "kneighbors")
    parts = [np.asarray(getattr(est, way)(asked)).tobytes() for way in ways if hasattr(est, way)]
    model = est.__dict__.get("model_")
    if model is not None and model.has_trees:
        facts = {name: value for name, value in model.facts.items() if name not in _REPEATED}
        # What is done with unseen levels is in the answers; the model keeps the word.
        parts.append(dumps(replace(model, facts={**facts, "parameters": {}}, unseen="missing")))
    parts.append(repr(getattr(model, "positive", None)).encode())
    names = {name for name in (*vars(est), "trace_", "oob_score_", "history_") if name.endswith("_")} - {"model_"}
    parts += [f"{name}={_told(getattr(est, name))}".encode() for name in sorted(names) if _has(est, name)]
    return b"|".join(parts)


def _has(est: Any, name: str) -> bool:
    try:
        getattr(est, name)
    except (AttributeError, TreewrightError):
        return False
    return True


def _told(value: Any) -> str:
    """An attribute in a form that is the same for the same fit."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.tolist()}"
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return repr(value)
    if isinstance(value, list | tuple):
        return repr([_told(each) for each in value])
    return type(value).__name__


# Values to set.


def _distance(true: Any, predicted: Any) -> float:
    true = np.asarray(true)
    return -float(np.abs(np.asarray(predicted) - (true == "yes" if true.dtype.kind == "U" else true)).mean())


def _enough(_: Any) -> bool:
    return True


def _squares(true: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return scores - true, np.ones_like(scores)


BY_HAND: dict[str, tuple[Any, ...]] = {
    "nominal": (["size"], [0]),
    "ordinal": ({"kind": list("abcde")},),
    "numeric": (["code"],),
    "calendar": (["month", "weekday"], {"sold": ["month"]}),
    "class_weight": ({"no": 1, "yes": 3}, "balanced"),
    "positive": ("no",),
    "monotonic_cst": ([0, -1, 1], {"size": -1}),
    "interaction_cst": ("no_interactions", [["size"], ["kind", "shop"]]),
    "init": ("zero", 0.5),
    "scoring": (_distance,),
    "callbacks": ([_enough],),
    "metric_params": ({"w": [1.0, 0.0, 2.0]}, {"VI": np.diag([1.0, 2.0, 3.0])}),
    "scale": ("standard", "range", "robust", [1.0, 0.0, 3.0]),
    "metric": (
        "euclidean", "manhattan", "chebyshev", "minkowski", "mahalanobis", "cosine", "angle", "correlation", "hamming",
        "jaccard", "canberra", "gower", "heom", "hvdm",
    ),
    "estimator": (tw.DecisionTreeClassifier(max_depth=2), tw.DecisionTreeRegressor(max_depth=2)),
}  # fmt: skip


def values_of(subject: Subject, name: str) -> list[Any]:
    """Values other than the default, and other than what the fits here have anyway."""
    if name in BY_HAND:
        return list(BY_HAND[name])
    parameter = subject.parameters[name]
    default = _FEW.get(subject.algorithm.word, {}).get(name, parameter.default_of(subject.task))
    found = [value for rule in parameter.rules for value in _allowed_by(rule, default)]
    if name == "loss" and subject.task == CLASSES and "callable" in [rule.form[0] for rule in parameter.rules]:
        found.append(_squares)
    return [value for value in found if type(value) is not type(default) or value != default]


def _allowed_by(rule: Rule, default: Any) -> Iterator[Any]:
    sort, *rest = rule.form
    if sort == "words":
        yield from sorted(rest[0])
    elif sort == "boolean":
        yield from (not default,) if isinstance(default, bool) else (True, False)
    elif sort is None:
        yield None
    elif sort == "interval":
        wanted = (3, 1, 2, 7, 30) if rest[0] == "int" else (0.3, 0.1, 0.9, 1.7, 30.0)
        yield from filter(rule.accepts, wanted)
    elif sort in ("verbose", "random_state"):
        yield 1
    elif sort == "instance" and rest[0].__name__ == "Integral":
        yield 2
