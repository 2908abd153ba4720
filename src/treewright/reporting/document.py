"""A report about a fitted model. In: a model, rows with their target. Out: ``Report``, a file. Callers: users, cli."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from treewright.core.files import write_whole
from treewright.core.threads import resolve_jobs
from treewright.core.whole import whole_number
from treewright.exceptions import ParameterError
from treewright.model.summary import counted
from treewright.page.parts import Summary
from treewright.page.plain import plain
from treewright.page.render import render
from treewright.page.tree_page import framed
from treewright.reporting.options import CurveName, check_path, checked_options
from treewright.reporting.summary import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from treewright.reporting.quality_figures import FigureName

HEIGHT = 820  # of the frame in a notebook


@dataclass(frozen=True, eq=False)
class Report:
    """A page about a fitted model; a notebook shows it by itself.

    Attributes
    ----------
    summary : treewright.page.parts.Summary
        Everything that the page shows, typed.
    """

    summary: Summary

    @cached_property
    def html(self) -> str:
        """The page: one HTML document that loads nothing."""
        return render(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, as ``json.dumps`` takes them."""
        found: dict[str, Any] = plain(self.summary)
        return found

    def to_json(self) -> str:
        """The summary as JSON; numbers are exact, ``nan`` is null, infinite numbers are "inf" and "-inf"."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page (``.html``) or its summary (``.json``) in one step; an old file stays whole if that fails.

        Raises
        ------
        ParameterError
            The name ends in neither.
        InputFileError
            The file cannot be written.
        """
        ending = check_path(path)
        text = self.to_json() if ending == ".json" else self.html
        write_whole(path, text.encode("utf-8", "backslashreplace"))

    def figure(self, name: FigureName, *, output: int = 0, label: str | None = None, ax: Axes | None = None) -> Figure:
        """Draw a picture of the section Quality with matplotlib, for a slide or a paper.

        Parameters
        ----------
        name : {"confusion", "roc", "precision_recall", "calibration", "residuals", "learning", "depth"}
        output : int
            Which of several targets.
        label : str, optional
            Of curves of classes the one to draw; by default all, of calibration the first.
        ax : matplotlib.axes.Axes, optional

        Raises
        ------
        ParameterError
            There is no such picture or target, or this report does not have it.
        MissingLibraryError
            matplotlib is not installed.
        """
        from treewright.reporting.quality_figures import quality_figure

        parts = self.summary.quality
        if whole_number("output", output, 0) >= len(parts):
            raise ParameterError(f"output={output}: the report has {counted(len(parts), 'target')}, counted from 0")
        return quality_figure(parts[output], name, label=label, ax=ax)

    def _repr_html_(self) -> str:
        """A frame of its own: styles and scripts of the page stay inside."""
        return framed(self.html, self.summary.title, HEIGHT)

    def __repr__(self) -> str:
        return f"<treewright.Report: {self.summary.subtitle}>"


def report(
    fitted: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    sample_weight: Any = None,
    title: str | None = None,
    cv: Any = "auto",
    curves: Sequence[CurveName] = (),
    examples: int = 50,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Report:
    """Make a page about a fitted model: its tree, how far to cut it back, how good it is, what its columns do.

    Parameters
    ----------
    fitted : fitted estimator of this library, or Model
    X, y : table of n rows and its target
        The rows that judge; best those that the fit did not see.
    path : path ending in ``.html`` or ``.json``, optional
        Write the page, or its summary, there.
    sample_weight : n numbers >= 0, optional
    title : str, optional
    cv : "auto", int >= 2, splitter, or None
        What judges the subtrees of the pruning path: folds, or (None) the rows themselves as rows kept aside. "auto":
        ten folds where they are the rows of the fit, else the rows.
    curves : sequence of {"learning", "depth"}
        Curves that take many fits.
    examples : int >= 0
        How many of the rows go into the page, to be followed through the tree. With 0 no row is in it; what describes
        many rows still is: quantiles, levels, and for numbers targets beside their predictions.
    random_state : int >= 0
        Of folds, shuffles and drawn rows.
    n_jobs : int, optional
        Threads; the page does not depend on it.

    Returns
    -------
    Report

    Raises
    ------
    ParameterError
        ``fitted`` is no fitted model of this library, or a parameter is out of range.
    DataError
        The rows were refused.
    InputFileError
        The file cannot be written.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> est = tw.DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> page = tw.report(est, X[1::2], y[1::2])
    >>> page.summary.tree.n_leaves, page.html[:15]
    (6, '<!doctype html>')
    """
    if path is not None:
        check_path(path)
    options = checked_options(cv, curves, examples, random_state, n_jobs, title)
    resolve_jobs(n_jobs)
    made = Report(summary_of(fitted, X, y, sample_weight, title, options))
    if path is not None:
        made.save(path)
    return made
