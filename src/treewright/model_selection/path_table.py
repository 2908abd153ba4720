"""The table of a cost-complexity path. In: numbers per subtree. Out: ``PruningPath``. Caller: model_selection.path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treewright.core.whole import is_whole
from treewright.exceptions import ParameterError
from treewright.model_selection.losses import WORDS
from treewright.model_selection.table_text import left_out, lines_shown
from treewright.prune.path_errors import PathLoss
from treewright.prune.risk import EQUAL, Risk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rule = Literal["1se", "min"]
RULES: tuple[Rule, ...] = ("1se", "min")
JUDGES = {"folds": "cv error", "validation": "valid. error", "nothing": ""}
LABELS = {"folds": "cross-validated", "validation": "rows kept aside", "nothing": ""}


@dataclass(frozen=True, eq=False)
class PruningPath:
    """Every subtree of the cost-complexity path, from the largest to the root alone, with its errors.

    Attributes
    ----------
    alphas : float64[k], strictly ascending, the first 0.0
        The price of a leaf from which on each subtree is the one wanted, in units of ``risk``.
    n_leaves, depth : int64[k]
    train_error : float64[k]
        Mean loss over the rows of the fit.
    cv_error : float64[k], or None
        Mean loss over all rows, each predicted by trees grown without its fold; with ``validation=`` over those rows.
        None where neither was asked for.
    standard_error : float64[k], or None
        Of ``cv_error``.
    n_folds : int
        0 without cross-validation.
    rule : {"1se", "min"}
    risk : {"impurity", "error"}
    loss : {"misclassification", "squared_error", "absolute_error"}
    judged_by : {"folds", "validation", "nothing"}
    grown : estimator
        Fitted on all rows, not cut back.
    chosen : int, or None
        The step that the rule takes; None where nothing judges.
    estimator : estimator
        Fitted, cut back to the step ``chosen``; ``grown`` where nothing judges.
    """

    alphas: np.ndarray
    n_leaves: np.ndarray
    depth: np.ndarray
    train_error: np.ndarray
    cv_error: np.ndarray | None
    standard_error: np.ndarray | None
    n_folds: int
    rule: Rule
    risk: Risk
    loss: PathLoss
    judged_by: Literal["folds", "validation", "nothing"]
    grown: Any
    chosen: int | None
    estimator: Any

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def best_alpha(self) -> float | None:
        """The price of a leaf of the step that was chosen."""
        return None if self.chosen is None else float(self.alphas[self.chosen])

    def step_of(self, rule: Rule) -> int:
        """The step that a rule takes.

        Raises
        ------
        ParameterError
            There is no such rule, or no errors to judge by.
        """
        if rule not in RULES or self.cv_error is None or self.standard_error is None:
            raise ParameterError(f"rule={rule!r}: give '1se' or 'min', for a path with cross-validated errors")
        return step_by(rule, self.cv_error, self.standard_error)

    def prune(self, step: int) -> Any:
        """The tree of one step.

        Parameters
        ----------
        step : int, -k to k - 1
            Negative numbers count from the end: -1 is the root alone.

        Returns
        -------
        estimator
            Fitted; its ``prune_log_`` tells every cut.

        Raises
        ------
        ParameterError
            There is no such step.
        """
        if not is_whole(step) or not -len(self) <= step < len(self):
            raise ParameterError(f"step={step!r}: the path has the steps 0 to {len(self) - 1}")
        return cut_to(self.grown, float(self.alphas[step]), self.risk)

    def at(self, *, leaves: int) -> Any:
        """The largest tree of the path that has no more leaves than that.

        Parameters
        ----------
        leaves : int >= 1

        Returns
        -------
        estimator

        Raises
        ------
        ParameterError
            ``leaves`` is below 1 or not a whole number.
        """
        return self.grown.prune("leaves", max_leaves=leaves, risk=self.risk)

    def to_dict(self) -> dict[str, np.ndarray]:
        """Columns for a data frame, one row per step."""
        columns = {
            "alpha": self.alphas,
            "leaves": self.n_leaves,
            "depth": self.depth,
            "train_error": self.train_error,
        }
        if self.cv_error is not None and self.standard_error is not None:
            columns |= {"cv_error": self.cv_error, "standard_error": self.standard_error}
        return columns

    def plot(self) -> Figure:
        """Draw the errors over the number of leaves; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from treewright.plot.figures.curves import error_against_size

        return error_against_size(
            n_leaves=self.n_leaves, train=self.train_error, cv=self.cv_error, se=self.standard_error,
            chosen=self.chosen, rule=self.rule, alphas=self.alphas, ylabel=WORDS[self.loss],
            cv_label=LABELS[self.judged_by],
        )  # fmt: skip

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [self._title(), self._head()]
        marks = self._marks()
        before = -1
        for step in lines_shown(len(self), marks):
            lines += left_out(before, step, "step")
            lines.append(self._line(step, marks.get(step, "")))
            before = step
        if self.chosen is not None:
            lines.append(self._verdict(self.chosen))
        return "\n".join(lines)

    def _title(self) -> str:
        """What was measured, and how."""
        how = {
            "folds": f"cross-validated in {self.n_folds} folds",
            "validation": "judged on rows of their own",
            "nothing": "on the rows of the fit only",
        }[self.judged_by]
        return f"{WORDS[self.loss]} of {len(self):,} subtrees, {how}"

    def _head(self) -> str:
        judged = f" {JUDGES[self.judged_by]:>12} {'std. error':>11}" if self.judged_by != "nothing" else ""
        return f"{'step':>5} {'alpha':>11} {'leaves':>7} {'depth':>6} {'train error':>12}{judged}"

    def _line(self, step: int, mark: str) -> str:
        """One step of the table."""
        text = f"{step:>5} {self.alphas[step]:>11.5g} {self.n_leaves[step]:>7} {self.depth[step]:>6}"
        text += f" {self.train_error[step]:>12.5g}"
        if self.cv_error is not None and self.standard_error is not None:
            text += f" {self.cv_error[step]:>12.5g} {self.standard_error[step]:>11.4g}"
        return f"{text} {mark}".rstrip()

    def _marks(self) -> dict[int, str]:
        """Steps that the rules name."""
        if self.cv_error is None or self.standard_error is None:
            return {}
        simple, least = (self.step_of(rule) for rule in RULES)
        return {least: "min, 1-SE"} if least == simple else {least: "min", simple: "1-SE"}

    def _verdict(self, step: int) -> str:
        """The step that was chosen, in words."""
        rule = {"min": "the least error", "1se": "the 1-SE rule"}[self.rule]
        return f"chosen by {rule}: step {step}, {self.n_leaves[step]} leaves, alpha {self.alphas[step]:.5g}"


def step_by(rule: Rule, error: np.ndarray, standard_error: np.ndarray) -> int:
    """The step that a rule takes.

    Parameters
    ----------
    rule : {"1se", "min"}
        The smallest tree of least error; or the smallest tree whose error is no more than that plus its standard error
        (Breiman et al. 1984, section 3.4.3).
    error, standard_error : float64[k], by step: from the largest tree to the smallest
    """
    least = int(np.flatnonzero(error <= error.min() * (1 + EQUAL))[-1])
    if rule == "min":
        return least
    return int(np.flatnonzero(error <= (error[least] + standard_error[least]) * (1 + EQUAL))[-1])


def cut_to(grown: Any, alpha: float, risk: Risk) -> Any:
    """A fitted estimator cut back at a price."""
    return grown.prune("cost_complexity", alpha=alpha, risk=risk)
