"""How a tree grew, node by node. In: the grower's steps. Out: ``Trace``. Callers: estimators, users."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from treewright.explain.audit_rows import candidate_test
from treewright.explain.audit_table import html_table
from treewright.explain.audit_text import TERMS
from treewright.grow.by_node.grower import Step
from treewright.tree.model import ModelData
from treewright.tree.summary import TreeSummary, counted, summarize
from treewright.tree.words import shorten, written_amount, written_name

MAX_LINES = 200  # steps that print and a page show; to_dict has them all
MAX_INDENT = 20  # deeper nodes stand no further to the right
QUESTION_WIDTH = 60


@dataclass(frozen=True)
class TraceStep:
    """One node that was split.

    Attributes
    ----------
    node : int
        Its position in the tree as grown, before any pruning.
    depth : int
    n_samples : int
    weight, impurity : float
    column : hashable
        The column it asks about.
    question : str
    gain, score : float
        Decrease of impurity; what the algorithm compares columns by.
    runner_up : hashable or None
        The column with the next best score; None where no other had one.
    runner_up_gain, runner_up_score : float
        nan without a runner-up.
    exact : bool
        False where not every division of the column was tried.
    """

    node: int
    depth: int
    n_samples: int
    weight: float
    impurity: float
    column: Hashable
    question: str
    gain: float
    score: float
    runner_up: Hashable | None
    runner_up_gain: float
    runner_up_score: float
    exact: bool


@dataclass(frozen=True, eq=False)
class Trace(Sequence[TraceStep]):
    """The steps of growth, in the order in which nodes were split.

    Attributes
    ----------
    steps : tuple of TraceStep
    summary : TreeSummary
        The tree that came out; it may have been pruned since.
    """

    steps: tuple[TraceStep, ...]
    summary: TreeSummary

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, index: int) -> TraceStep: ...
    @overload
    def __getitem__(self, index: slice) -> Trace: ...
    def __getitem__(self, index: int | slice) -> TraceStep | Trace:
        return replace(self, steps=self.steps[index]) if isinstance(index, slice) else self.steps[index]

    def __iter__(self) -> Iterator[TraceStep]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return f"<treewright.Trace: {counted(len(self), 'split')}>"

    def header(self) -> list[str]:
        """Return the lines above the steps."""
        term = TERMS.get(self.summary.criterion, self.summary.criterion)
        lines = [f"{counted(len(self), 'node')} split, in the order of growth; impurity: {term}"]
        kept = int((~self.summary.tree.is_leaf).sum())
        if len(self) > kept:
            asks = "asks" if kept == 1 else "ask"
            lines.append(
                f"the tree was pruned since: {kept} of these nodes still {asks}; numbers are those before that"
            )
        return lines

    def __str__(self) -> str:
        lines = self.header()
        for step in self.steps[:MAX_LINES]:
            lines.append("  " * min(step.depth, MAX_INDENT) + step_text(step))
        if len(self) > MAX_LINES:
            lines.append(f"... {len(self) - MAX_LINES} more: to_dict() has them all")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the steps as columns named as the attributes of ``TraceStep``, for a data frame."""
        names = TraceStep.__dataclass_fields__
        return {name: [getattr(step, name) for step in self.steps] for name in names}

    def _repr_html_(self) -> str:
        """The steps as a table; a notebook asks for it."""
        titles = ("node", "depth", "rows", "impurity", "asked", "gain", "runner-up", "its gain", "exact")
        cells = []
        for step in self.steps[:MAX_LINES]:
            rival = "" if step.runner_up is None else written_name(step.runner_up)
            rival_gain = "" if math.isnan(step.runner_up_gain) else written_amount(step.runner_up_gain)
            cells.append(
                (
                    str(step.node),
                    str(step.depth),
                    str(step.n_samples),
                    written_amount(step.impurity),
                    step.question,
                    written_amount(step.gain),
                    rival,
                    rival_gain,
                    "yes" if step.exact else "no",
                )
            )
        hidden = len(self) - len(cells)
        return html_table(self.header(), titles, cells, f"{hidden} more: take to_dict()" if hidden else "")


def step_text(step: TraceStep) -> str:
    """Return a step as one line."""
    impurity, gain = written_amount(step.impurity), written_amount(step.gain)
    parts = [
        f"node {step.node}: {counted(step.n_samples, 'row')}, impurity {impurity}",
        f"asks {shorten(step.question, QUESTION_WIDTH)}",
        f"gain {gain}" if step.score == step.gain else f"gain {gain}, score {written_amount(step.score)}",
    ]
    if step.runner_up is not None:
        rival = shorten(written_name(step.runner_up), QUESTION_WIDTH)
        parts.append(f"runner-up {rival} (gain {written_amount(step.runner_up_gain)})")
    if not step.exact:
        parts.append("not every division was tried")
    return "; ".join(parts)


def trace_of(model: ModelData, steps: Sequence[Step], *, tree: int = 0) -> Trace:
    """Return the steps of a grower as a table that prints.

    Parameters
    ----------
    model : ModelData
    steps : sequence of Step
        ``Grown.trace``, or what ``retrace`` returns.
    tree : int
        Which of the model's trees.

    Returns
    -------
    Trace
    """
    return Trace(tuple(_step(model, step) for step in steps), summarize(model, tree))


def _step(model: ModelData, step: Step) -> TraceStep:
    """One step in the words of the table."""
    chosen, columns = step.chosen, model.schema.columns
    scores = np.array(step.scores, np.float64)
    own_gain, own_score = float(step.gains[chosen.feature]), float(scores[chosen.feature])
    scores[chosen.feature] = math.nan
    rival = None if np.isnan(scores).all() else int(np.nanargmax(scores))
    return TraceStep(
        node=step.node,
        depth=step.depth,
        n_samples=step.n_samples,
        weight=step.weight,
        impurity=step.impurity,
        column=columns[chosen.feature].name,
        question=candidate_test(model.schema, chosen, model.missing).question(),
        gain=own_gain,
        score=own_score,
        runner_up=None if rival is None else columns[rival].name,
        runner_up_gain=math.nan if rival is None else float(step.gains[rival]),
        runner_up_score=math.nan if rival is None else float(scores[rival]),
        exact=chosen.exact,
    )
