"""From which probability on a class is predicted, as the command line asks for it: ``--cost``, ``--threshold``.

``fit`` chooses it by folds within the rows of the fit, so that the rows held out judge what new rows will meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.cli.options import parse_value
from treewright.cli.terminal import UsageRefusal, printable
from treewright.exceptions import ParameterError
from treewright.judge.tallies import LabelScore, Score
from treewright.judge.tasks import Task
from treewright.model.summary import counted
from treewright.model_selection.threshold import MOST_COST, Aim, aim_of, choice_by_folds, deciding

if TYPE_CHECKING:
    from treewright.cli.models import AnyModel
    from treewright.model_selection.threshold import ThresholdChoice

__all__ = ["Asked", "Costs", "WithThreshold", "asked_threshold", "chosen_words", "costs_of"]


@dataclass(frozen=True)
class Asked:
    """A threshold that is asked for: one that folds choose by ``aim``, or the one at ``at``.

    ``option`` is what asked; ``positive`` the class as it was written, None for the second.
    """

    option: str
    aim: Aim | None = None
    at: float | None = None
    positive: str | None = None


def asked_threshold(cost: str | None, threshold: str | None, positive: str | None) -> Asked | None:
    """What the three options ask for together; None where none is given."""
    if cost is not None and threshold is not None:
        raise UsageRefusal("--cost chooses the threshold, which --threshold gives: leave one out")
    if cost is not None:
        return Asked("--cost", cost_aim(cost), positive=positive)
    if threshold is None:
        if positive is not None:
            raise UsageRefusal("--positive names the class of a threshold: give --cost or --threshold as well")
        return None
    name, equals, text = (part.strip() for part in threshold.partition("="))
    try:
        if equals:
            if name not in ("precision", "recall"):
                raise UsageRefusal(f"--threshold {threshold!r}: give a probability, precision=0.9 or recall=0.9")
            wanted = parse_value(text)
            aim = aim_of(None, wanted if name == "precision" else None, wanted if name == "recall" else None)
            return Asked("--threshold", aim, positive=positive)
    except ParameterError as error:
        raise UsageRefusal(f"--threshold {threshold!r}: {error}") from None
    at = parse_value(name)
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at <= 1:
        raise UsageRefusal(f"--threshold {threshold!r}: give a probability from 0 to 1, precision=0.9 or recall=0.9")
    return Asked("--threshold", at=float(at), positive=positive)


def cost_aim(words: str) -> Aim:
    """The costs that ``fp=1,fn=5`` states."""
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
            f"--cost {words!r}: write what both mistakes cost, as in fp=1,fn=5: fp for predicting the class wrongly, "
            f"fn for missing it; numbers from 0 to {MOST_COST:g}, not both 0"
        ) from None


def label_named(labels: Sequence[Any], word: str | None) -> Any:
    """The class label that a word of the command line names; None for none."""
    if word is None:
        return None
    value = parse_value(word)  # the cells may write a class otherwise: 1.0 for 1, true for True
    for label in labels:
        is_same = not isinstance(label, str) and isinstance(value, bool) == isinstance(label, bool) and value == label
        if is_same or word in (str(label), printable(label)):
            return label
    listed = ", ".join(printable(label) for label in labels[:10]) + (", ..." if len(labels) > 10 else "")
    raise UsageRefusal(f"--positive {word!r}: the target has no such class; its classes are {listed}")


class WithThreshold:
    """What fits an estimator and lets its model decide by a threshold; the seed draws the folds that choose it."""

    def __init__(self, estimator: Any, asked: Asked, seed: int, jobs: int | None) -> None:
        self.estimator, self.asked, self.seed, self.jobs = estimator, asked, seed, jobs
        self.name = getattr(estimator, "name", type(estimator).__name__)

    def __sklearn_clone__(self) -> WithThreshold:
        """Itself: it holds nothing of a fit."""
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["estimator"], name)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The fitted estimator; ``threshold_choice_`` of it tells what was chosen from, where folds chose."""
        asked = self.asked
        task = Task(X, y, np.asarray(y), sample_weight, True, self.seed)
        if asked.aim is None:
            fitted = task.fit(self.estimator, None, "all rows", seeded=False)
            return deciding(fitted, fitted.model_.with_threshold(asked.at, positive=self._positive(y)))
        choice = choice_by_folds(
            self.estimator, task, asked.aim, self._positive(y), random_state=self.seed, n_jobs=self.jobs, seeded=False
        )
        choice.estimator.threshold_choice_ = choice
        return choice.estimator

    def _positive(self, y: Any) -> Any:
        """The class that is asked for, as the target writes it."""
        labels = y.drop_nulls().unique().sort().to_list()
        if len(labels) != 2:
            raise UsageRefusal(
                f"{self.asked.option} is for a target of two classes, {printable(y.name)} has {len(labels)}"
            )
        return label_named(labels, self.asked.positive)


def chosen_words(choice: ThresholdChoice) -> str:
    """What was chosen, beside what the larger share would have done."""
    if choice.cost is None:
        return choice.words
    before, after = choice.cost[choice.usual], choice.cost[choice.chosen]
    return f"{choice.words}; by folds {after:.4g} a row, {before:.4g} where the larger share decides"


@dataclass(frozen=True)
class Costs:
    """What mistakes about a class cost."""

    aim: Aim
    positive: Any

    def total(self, score: Score) -> float:
        """What the mistakes of a score cost in all."""
        fp, fn = self._mistakes(score)
        return self.aim.fp * fp + self.aim.fn * fn

    def line(self, score: Score) -> str:
        """The same in words, and per row."""
        fp, fn = self._mistakes(score)
        total = self.total(score)
        name = printable(self.positive)
        return (
            f"cost {total:g}, {total / score.n:.4g} a row: {counted(fp, 'row')} wrongly predicted {name} at "
            f"{self.aim.fp:g} each, {counted(fn, 'row')} of {name} missed at {self.aim.fn:g} each; "
            f"{self._of_one_answer(score)}"
        )

    def warning(self, score: Score) -> str:
        """A line where the mistakes cost as much as one answer for all rows, or more; else nothing."""
        word, least = self._one_answer(score)
        if self.total(score) < least * score.n or not self.total(score):
            return ""
        than = "no less" if self.total(score) == least * score.n else "more"
        return (
            f"WARNING: that costs {than} than {word} predicting {printable(self.positive)}; look for columns that tell "
            "more of it, another algorithm, or another size of the tree (--max-depth 4, --prune none)"
        )

    def _of_one_answer(self, score: Score) -> str:
        """What one answer for all rows would cost, in words."""
        word, least = self._one_answer(score)
        return f"{word} predicting it costs {least:.4g} a row"

    def _one_answer(self, score: Score) -> tuple[str, float]:
        """The cheaper answer for all rows, and what it costs a row."""
        held = score.true_totals() if isinstance(score, LabelScore) else {}
        n_positive = held.get(self.positive, 0)
        never, always = self.aim.fn * n_positive / score.n, self.aim.fp * (score.n - n_positive) / score.n
        return ("never", never) if never <= always else ("always", always)

    def _mistakes(self, score: Score) -> tuple[int, int]:
        """Rows that are wrongly predicted to be of the class, and rows of the class that are missed."""
        counts = score.counts if isinstance(score, LabelScore) else {}
        wrong = [(truth, said, count) for (truth, said), count in counts.items() if truth != said]
        return (
            sum(count for _, said, count in wrong if said == self.positive),
            sum(count for truth, _, count in wrong if truth == self.positive),
        )


def costs_of(model: AnyModel, words: str, positive: str | None) -> Costs:
    """The costs of ``words`` for a class of a model: the one named, that of its threshold, or the second."""
    sizes = [len(labels) for labels in model.classes]
    if sizes != [2]:
        raise UsageRefusal("--cost is for two classes of one target, which this model does not predict: leave it out")
    labels = model.classes[0].tolist()
    code = 1 if model.threshold is None else model.threshold.positive
    return Costs(cost_aim(words), labels[code] if positive is None else label_named(labels, positive))
