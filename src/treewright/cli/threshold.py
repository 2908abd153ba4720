"""The decision threshold on the command line: ``--cost``, ``--threshold``.

``fit`` chooses it by cross-validation on the training rows, so that the held-out rows evaluate it as new rows would.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.parsing import parse_value
from treewright.cli.terminal import UsageRefusal, printable
from treewright.evaluation.folds import Task, name_of_class, unfitted
from treewright.evaluation.measures import LabelScore, Score
from treewright.evaluation.threshold import MOST_COST, Aim, aim_of, choice_by_folds, deciding
from treewright.exceptions import ParameterError
from treewright.trees.summary import counted

if TYPE_CHECKING:
    from treewright.cli.models import AnyModel
    from treewright.evaluation.threshold import ThresholdChoice

__all__ = [
    "ThresholdRequest", "Costs", "WithThreshold", "threshold_request", "check_two_classes", "chosen_words", "costs_of",
    "costs_that_chose", "label_named",
]  # fmt: skip


@dataclass(frozen=True)
class ThresholdRequest:
    """A requested threshold: one that folds choose by ``aim``, or the one at ``at``.

    ``option`` is the option.
    """

    option: str
    aim: Aim | None = None
    at: float | None = None


def threshold_request(cost: str | None, threshold: str | None) -> ThresholdRequest | None:
    """The threshold that the two options define together; None if none is given."""
    if cost is not None and threshold is not None:
        raise UsageRefusal("--cost chooses the threshold, and --threshold sets it: leave one out")
    if cost is not None:
        return ThresholdRequest("--cost", cost_aim(cost))
    if threshold is None:
        return None
    name, equals, text = (part.strip() for part in threshold.partition("="))
    try:
        if equals:
            if name not in ("precision", "recall"):
                raise UsageRefusal(f"--threshold {threshold!r}: give a probability, precision=0.9 or recall=0.9")
            wanted = parse_value(text)
            aim = aim_of(None, wanted if name == "precision" else None, wanted if name == "recall" else None)
            return ThresholdRequest("--threshold", aim)
    except ParameterError as error:
        raise UsageRefusal(f"--threshold {threshold!r}: {error}") from None
    at = parse_value(name)
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at <= 1:
        raise UsageRefusal(f"--threshold {threshold!r}: give a probability from 0 to 1, precision=0.9 or recall=0.9")
    return ThresholdRequest("--threshold", at=float(at))


def cost_aim(words: str) -> Aim:
    """The costs in words such as ``fp=1,fn=5``."""
    costs: dict[str, Any] = {}
    for word in words.split(","):
        name, _, text = (part.strip() for part in word.partition("="))
        if not word.strip():
            raise UsageRefusal(f"--cost {words!r}: an entry is empty: write it as fp=1,fn=5")
        if name in costs:
            raise UsageRefusal(f"--cost {words!r}: {name} is given twice")
        costs[name] = parse_value(text) if text else None
    try:
        return aim_of(costs, None, None)
    except ParameterError:
        raise UsageRefusal(
            f"--cost {words!r}: give the costs of both mistakes, as in fp=1,fn=5: fp for predicting the class wrongly, "
            f"fn for missing it; numbers from 0 to {MOST_COST:g}, not both 0"
        ) from None


def costs_given(words: str) -> dict[str, Any] | list[Any]:
    """The costs in words such as ``fp=1,fn=5``, or as JSON for any number of classes."""
    if is_of_two(words):
        aim = cost_aim(words)
        return {"fp": aim.fp, "fn": aim.fn}
    try:
        found: dict[str, Any] | list[Any] = json.loads(words)
    except ValueError as error:
        raise UsageRefusal(
            f"--cost {words!r} is no JSON ({error}): write the cost of each mistake, the true class first, as in "
            '{"good": {"bad": 1}, "bad": {"good": 5}}'
        ) from None
    return found


def is_of_two(words: str) -> bool:
    """Whether the costs are those of two classes that can choose a threshold, ``fp`` and ``fn``."""
    return words.lstrip()[:1] not in ("{", "[")


def label_named(labels: Sequence[Any], word: str | None) -> Any:
    """The class label that a word of the command line names; None without a word."""
    if word is None:
        return None
    value = parse_value(word)  # the cells may spell a class in another way: 1.0 for 1, true for True
    for label in labels:
        is_same = not isinstance(label, str) and isinstance(value, bool) == isinstance(label, bool) and value == label
        if is_same or word in (str(label), printable(label)):
            return label
    listed = ", ".join(printable(label) for label in labels[:10]) + (", ..." if len(labels) > 10 else "")
    raise UsageRefusal(f"--positive {word!r}: not a class of the target; its classes are {listed}")


class WithThreshold:
    """An estimator whose model gets a decision threshold after the fit; the seed is for the folds that choose it."""

    def __init__(self, estimator: Any, asked: ThresholdRequest, seed: int, jobs: int | None) -> None:
        self.estimator, self.asked, self.seed, self.jobs = estimator, asked, seed, jobs
        self.name = name_of_class(estimator)

    def __sklearn_clone__(self) -> WithThreshold:
        """The same object, which holds nothing of a fit."""
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["estimator"], name)

    def set_params(self, **parameters: Any) -> WithThreshold:
        """The same request about an estimator with other parameters."""
        return WithThreshold(unfitted(self.estimator).set_params(**parameters), self.asked, self.seed, self.jobs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The fitted estimator; its ``threshold_choice_`` lists the choices, if folds chose."""
        asked = self.asked
        check_two_classes(asked.option, y)
        task = Task(X, y, np.asarray(y), sample_weight, True, self.seed)
        if asked.aim is None:
            fitted = task.fit(self.estimator, None, "all rows", seeded=False)
            return deciding(fitted, fitted.model_.with_threshold(asked.at))
        choice = choice_by_folds(
            self.estimator, task, asked.aim, None, random_state=self.seed, n_jobs=self.jobs, seeded=False
        )
        choice.estimator.threshold_choice_ = choice
        return choice.estimator


def check_two_classes(option: str, y: Any) -> list[Any]:
    """The two classes of a target, sorted; refused, with the option that needs them, if there are not two."""
    held = y if isinstance(y, pl.Series) else pl.Series("the target", y)
    labels: list[Any] = held.drop_nulls().unique().sort().to_list()
    if len(labels) != 2:
        raise UsageRefusal(f"{option} is for a target of two classes, and {printable(held.name)} has {len(labels)}")
    return labels


def chosen_words(choice: ThresholdChoice) -> str:
    """The chosen threshold, next to the result without one."""
    if choice.cost is None:
        return choice.words
    before, after = choice.cost[choice.usual], choice.cost[choice.chosen]
    return f"{choice.words}; by folds {after:.4g} a row, {before:.4g} where the larger share decides"


@dataclass(frozen=True)
class Costs:
    """The costs of mistakes about a class."""

    aim: Aim
    positive: Any

    def total(self, score: Score) -> float:
        """The total cost of the mistakes of a score."""
        fp, fn = self._mistakes(score)
        return self.aim.fp * fp + self.aim.fn * fn

    def line(self, score: Score) -> str:
        """The total cost in words, with the cost per row."""
        fp, fn = self._mistakes(score)
        total = self.total(score)
        name, (word, least) = printable(self.positive), self._constant(score)
        return (
            f"cost {total:g}, {total / score.n:.4g} a row: {counted(fp, 'row')} wrongly predicted {name} at "
            f"{self.aim.fp:g} each, {counted(fn, 'row')} of {name} missed at {self.aim.fn:g} each; "
            f"{word} predicting {name} costs {least:.4g} a row"
        )

    def warning(self, score: Score) -> str:
        """A warning if the mistakes cost as much as a constant prediction, or more; else an empty text."""
        word, least = self._constant(score)
        if self.total(score) < least * score.n or not self.total(score):
            return ""
        than = "no less" if self.total(score) == least * score.n else "more"
        return (
            f"WARNING: that costs {than} than {word} predicting {printable(self.positive)}; try more informative "
            "columns, another algorithm, or another size of the tree (--max-depth 4, --prune none)"
        )

    def _constant(self, score: Score) -> tuple[str, float]:
        """The constant prediction with the lower cost, and its cost per row."""
        held = score.true_totals() if isinstance(score, LabelScore) else {}
        n_positive = held.get(self.positive, 0)
        never, always = self.aim.fn * n_positive / score.n, self.aim.fp * (score.n - n_positive) / score.n
        return ("never", never) if never <= always else ("always", always)

    def _mistakes(self, score: Score) -> tuple[int, int]:
        """False positives and false negatives: rows wrongly predicted as the class, and missed rows of the class."""
        counts = score.counts if isinstance(score, LabelScore) else {}
        wrong = [(truth, said, count) for (truth, said), count in counts.items() if truth != said]
        return (
            sum(count for _, said, count in wrong if said == self.positive),
            sum(count for truth, _, count in wrong if truth == self.positive),
        )


def costs_that_chose(model: AnyModel) -> Costs | None:
    """The costs that chose the threshold of a model; None if none did."""
    if model.threshold is None or model.threshold.cost_each is None:
        return None
    fp, fn = model.threshold.cost_each
    return Costs(Aim("cost", fp, fn), model.positive)


def costs_of(model: AnyModel, words: str, positive: str | None) -> Costs:
    """The costs in ``words`` for a class of a model: ``positive``, or its own positive class."""
    sizes = [len(labels) for labels in model.classes]
    if sizes != [2]:
        raise UsageRefusal("--cost is for one target of two classes, which this model does not predict: leave it out")
    labels = model.classes[0].tolist()
    return Costs(cost_aim(words), model.positive if positive is None else label_named(labels, positive))
