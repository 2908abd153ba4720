"""How a tree grew, node by node. In: the grower's steps. Out: ``Trace``."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from treewright.exceptions import old_name
from treewright.explain.audit import TERMS, candidate_test, significance_text
from treewright.grow.by_node.grower import Step
from treewright.show.spans import html_table
from treewright.trees.data import ModelData
from treewright.trees.summary import TreeSummary, counted, summarize
from treewright.trees.writing import shorten, written_amount, written_name

MAX_LINES = 200  # steps that print and a page show; to_dict has them all
MAX_INDENT = 20  # deeper nodes are not indented further
TEST_WIDTH = 60
SMALLEST_P = 300  # smaller p-values than 1e-300 are not told apart


@dataclass(frozen=True)
class TraceStep:
    """One node that was split, or that ``max_p_value`` left a leaf.

    Attributes
    ----------
    node : int
        Its position in the tree as grown, before any pruning.
    depth : int
    n_samples : int
    weight, impurity : float
    column : hashable
        The column that it tests.
    test : str
        Its test; of a node that was not split, the best one.
    gain, score : float
        Decrease of impurity; what the algorithm compares columns by.
    runner_up : hashable or None
        The column with the next best score; None if no other has one.
    runner_up_gain, runner_up_score : float
        nan without a runner-up.
    exact : bool
        False if not every split of the column was tried.
    p_value, adjusted_p_value : float
        Of the test, alone and times the number of possible tests; nan without ``max_p_value``, and the second is nan if
        the first is above it.
    is_split : bool
        False if the node stayed a leaf because the test is not significant.
    significance : str
        The same in words; empty without ``max_p_value``.
    """

    node: int
    depth: int
    n_samples: int
    weight: float
    impurity: float
    column: Hashable
    test: str
    gain: float
    score: float
    runner_up: Hashable | None
    runner_up_gain: float
    runner_up_score: float
    exact: bool
    p_value: float = math.nan
    adjusted_p_value: float = math.nan
    is_split: bool = True
    significance: str = ""

    question = old_name("question", "test")


@dataclass(frozen=True, eq=False)
class Trace(Sequence[TraceStep]):
    """The steps of growth, in the order in which nodes were split or left as leaves.

    Attributes
    ----------
    steps : tuple of TraceStep
    summary : TreeSummary
        The tree of the model, after any pruning.
    n_grown : int
        Nodes that were split before any pruning.
    """

    steps: tuple[TraceStep, ...]
    summary: TreeSummary
    n_grown: int = 0

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
        return f"<treewright.Trace: {counted(self.n_split, 'split')}>"

    @property
    def n_split(self) -> int:
        """How many of the steps split their node."""
        return sum(step.is_split for step in self.steps)

    def header(self) -> list[str]:
        """The lines above the steps."""
        term = TERMS.get(self.summary.criterion, self.summary.criterion)
        lines = [f"{counted(self.n_split, 'node')} split, in the order of growth; impurity: {term}"]
        n_stopped = len(self) - self.n_split
        if n_stopped:
            lines.append(f"{counted(n_stopped, 'node')} not split: the best test is not significant (max_p_value)")
        kept = int((~self.summary.tree.is_leaf).sum())
        if self.n_grown > kept:
            lines.append(
                f"node numbers are those before pruning, which left {kept} of {counted(self.n_grown, 'split')}"
            )
        return lines

    def __str__(self) -> str:
        lines = self.header()
        for step in self.steps[:MAX_LINES]:
            lines.append("  " * min(step.depth, MAX_INDENT) + step_text(step, score_name(self.summary)))
        if len(self) > MAX_LINES:
            lines.append(f"... {len(self) - MAX_LINES} more: to_dict() has them all")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, list[Any]]:
        """The steps as columns named as the attributes of ``TraceStep``, for a data frame."""
        names = TraceStep.__dataclass_fields__
        return {name: [getattr(step, name) for step in self.steps] for name in names}

    def _repr_html_(self) -> str:
        """The steps as an HTML table for notebooks."""
        name = score_name(self.summary)
        ours, theirs = ((name,), (f"its {name}",)) if name else ((), ())
        has_significance = any(step.significance for step in self.steps)
        titles = (
            "node",
            "depth",
            "rows",
            "impurity",
            "test",
            "gain",
            *ours,
            "runner-up",
            "its gain",
            *theirs,
            "exact",
            *(("significance",) if has_significance else ()),
        )
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
                    step.test,
                    written_amount(step.gain),
                    *(score_text(score, name) for score in (step.score,) if name),
                    rival,
                    rival_gain,
                    *(score_text(score, name) for score in (step.runner_up_score,) if name),
                    "yes" if step.exact else "no",
                    *((step.significance,) if has_significance else ()),
                )
            )
        hidden = len(self) - len(cells)
        return html_table(self.header(), titles, cells, f"{hidden} more: see to_dict()" if hidden else "")


def score_name(summary: TreeSummary) -> str:
    """The name of the score that columns were compared by; empty if it is the gain."""
    if summary.algorithm == "chaid":
        return "adjusted p"
    by_ratio = summary.algorithm in ("c45", "gain_ratio") or summary.model.facts.get("criterion") == "gain_ratio"
    return "gain ratio" if by_ratio else ""


def score_text(score: float, name: str) -> str:
    """A score as text; CHAID's score is minus the decimal logarithm of a p-value. Empty for nan.

    Examples
    --------
    >>> score_text(2.0, "adjusted p"), score_text(0.25, "gain ratio"), score_text(400.0, "adjusted p")
    ('0.01', '0.25', 'below 1e-300')
    """
    if math.isnan(score):
        return ""
    if name != "adjusted p":
        return written_amount(score)
    return f"{10.0**-score:.3g}" if score < SMALLEST_P else f"below 1e-{SMALLEST_P}"


def gain_text(gain: float, score: float, name: str) -> str:
    """The gain, and the score that columns were compared by if it is another."""
    text = f"gain {written_amount(gain)}"
    return f"{text}, {name} {score_text(score, name)}" if name and not math.isnan(score) else text


def step_text(step: TraceStep, name: str = "") -> str:
    """A step as one line; ``name`` is what `score_name` returns."""
    impurity = written_amount(step.impurity)
    parts = [
        f"node {step.node}: {counted(step.n_samples, 'row')}, impurity {impurity}",
        f"{'splits on' if step.is_split else 'stays a leaf, best test'} {shorten(step.test, TEST_WIDTH)}",
        gain_text(step.gain, step.score, name),
    ]
    if step.runner_up is not None:
        rival = shorten(written_name(step.runner_up), TEST_WIDTH)
        parts.append(f"runner-up {rival} ({gain_text(step.runner_up_gain, step.runner_up_score, name)})")
    if step.significance:
        parts.append(step.significance)
    if not step.exact:
        parts.append("not every split was tried")
    return "; ".join(parts)


def trace_of(model: ModelData, steps: Sequence[Step], *, tree: int = 0) -> Trace:
    """The steps of a grower as a table that prints.

    ``steps``: ``Grown.trace``, or what ``retrace`` returns; ``tree``: which of the model's trees.
    """
    return Trace(
        tuple(_step(model, step) for step in steps), summarize(model, tree), sum(step.is_split for step in steps)
    )


def _step(model: ModelData, step: Step) -> TraceStep:
    """One step in the words of the table."""
    chosen, columns = step.chosen, model.schema.columns
    scores = np.array(step.scores, np.float64)
    own_gain, own_score = float(step.gains[chosen.feature]), float(scores[chosen.feature])
    scores[chosen.feature] = math.nan
    chance = step.chance
    rival = None if np.isnan(scores).all() else int(np.nanargmax(scores))
    return TraceStep(
        node=step.node,
        depth=step.depth,
        n_samples=step.n_samples,
        weight=step.weight,
        impurity=step.impurity,
        column=columns[chosen.feature].name,
        test=candidate_test(model.schema, chosen, model.missing).question(),
        gain=own_gain,
        score=own_score,
        runner_up=None if rival is None else columns[rival].name,
        runner_up_gain=math.nan if rival is None else float(step.gains[rival]),
        runner_up_score=math.nan if rival is None else float(scores[rival]),
        exact=chosen.exact,
        p_value=math.nan if chance is None else chance.p_value,
        adjusted_p_value=math.nan if chance is None else chance.adjusted_p_value,
        is_split=step.is_split,
        significance="" if chance is None else significance_text(chance),
    )
