"""A report about a fitted model: one page, made of a summary of its sections.

``report`` checks its arguments, ``summary_of`` computes the sections, ``Report`` renders and writes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from treewright.core import progress
from treewright.core.elementary import is_whole, whole_number
from treewright.core.files import write_whole
from treewright.core.threads import resolve_jobs
from treewright.data.cells import shown
from treewright.data.derived import is_derived
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.exchange.code import EXTRAS, JAVASCRIPT, as_script, program_of, written
from treewright.learn import registry
from treewright.model import Model
from treewright.model.neighbors import NeighborsModel
from treewright.reporting.columns import columns_part
from treewright.reporting.data import CurveName, Options, ReportData, is_ours, report_data
from treewright.reporting.ensemble import contributions_part, ensemble_part, examples_of_trees, surrogate_part
from treewright.reporting.findings import findings_of
from treewright.reporting.pruning import pruning_part
from treewright.reporting.quality import quality_parts
from treewright.reporting.tree import examples_part, proof_part, tree_with_test_rows
from treewright.show.page import tree as page_tree
from treewright.show.page.parts import ColumnWords, Fact, QualityPart, Summary
from treewright.show.page.render import amount, plain, render
from treewright.show.page.tree import framed, tree_part, with_named_levels
from treewright.trees.edit import log_of, noted
from treewright.trees.summary import counted, summarize
from treewright.trees.threshold import COST, decision_text
from treewright.trees.writing import escape_controls, shorten, written_level, written_name
from treewright.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from treewright.reporting.figures import FigureName

Part = TypeVar("Part")
HEIGHT = 820  # of the frame in a notebook
MOST_NODES_OF_CODE = 40_000  # about a megabyte of script
CRITERIA = {"gini": "Gini"}
SEEN = "The test rows are the training rows: errors on them are too low."
PERHAPS = "There are as many training rows as test rows. If they are the same, errors on them are too low."
AMONG = (
    "The training rows may be among the test rows. If they are, the errors are too low: report on rows that the model "
    "has not seen."
)
WORDS_WIDTH = 80


@dataclass(frozen=True, eq=False)
class Report:
    """A report page about a fitted model; notebooks display it.

    Attributes
    ----------
    summary : treewright.show.page.parts.Summary
        Everything that the page shows, typed.
    code : str
        The script with which the page of many trees predicts a row by all of them; empty if it holds none.
    """

    summary: Summary
    code: str = ""

    @cached_property
    def html(self) -> str:
        """The page: one HTML document that loads no other files."""
        return render(self.summary, code=self.code)

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
        name : {"confusion", "roc", "precision_recall", "gains", "lift", "calibration", "residuals", "learning",
            "depth"}
        output : int
            Which of several targets.
        label : str, optional
            The class to draw, in curves of classes; by default all, for calibration the first.
        ax : matplotlib.axes.Axes, optional

        Raises
        ------
        ParameterError
            There is no such picture or target, or this report does not have it.
        MissingLibraryError
            matplotlib is not installed.
        """
        from treewright.reporting.figures import quality_figure

        parts = self.summary.quality
        if whole_number("output", output, 0) >= len(parts):
            raise ParameterError(f"output={output}: the report has {counted(len(parts), 'target')}, counted from 0")
        return quality_figure(parts[output], name, label=label, ax=ax)

    def _repr_html_(self) -> str:
        """The page in a frame: its styles and scripts stay inside."""
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
    """Make a report page about a fitted model: its tree, its pruning path, its quality and its columns.

    Parameters
    ----------
    fitted : fitted estimator of this library, or Model
    X, y : table of n rows and its target
        The test rows; preferably not the training rows.
    path : path ending in ``.html`` or ``.json``, optional
        Write the page, or its summary, there.
    sample_weight : n numbers >= 0, optional
    title : str, optional
    cv : "auto", int >= 2, splitter, or None
        What the subtrees of the pruning path are evaluated on: folds, or (None) the rows themselves as held-out rows.
        "auto": ten folds if they are the training rows, else the rows.
    curves : sequence of {"learning", "depth"}
        Curves that require many fits.
    examples : int >= 0
        Number of rows in the page, to be followed through the tree. With 0 it holds no row, but still what describes
        many rows: quantiles, levels, and for regression targets with their predictions.
    random_state : int >= 0
        Seed of folds, shuffles and sampled rows.
    n_jobs : int, optional
        Threads; the page does not depend on it.

    Returns
    -------
    Report

    Raises
    ------
    ParameterError
        ``fitted`` is not a fitted model of this library, or a parameter is out of range.
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
    with progress.logged():
        made = Report(summary_of(fitted, X, y, sample_weight, title, options), code_of(model_of(fitted)[0]))
    if path is not None:
        made.save(path)
    return made


def check_path(path: str | os.PathLike[str]) -> str:
    """Return the ending of a report's file name, checked."""
    ending = PurePath(os.fsdecode(path)).suffix.lower()
    if ending == ".htm":
        return ".html"
    if ending not in (".html", ".json"):
        raise ParameterError(f"{os.fsdecode(path)!r}: name a page, .html, or its summary, .json")
    return ending


def checked_options(cv: Any, curves: Any, examples: Any, random_state: Any, n_jobs: Any, title: Any) -> Options:
    """Return the options, checked; the title is checked only."""
    if (isinstance(cv, str) and cv != "auto") or isinstance(cv, bool) or (is_whole(cv) and cv < 2):
        raise ParameterError(f"cv={cv!r}: give 'auto', 2 folds or more, a splitter, or None for no folds")
    if title is not None and not isinstance(title, str):
        raise ParameterError(f"title={shown(title)}: give a text, or None")
    known = get_args(CurveName)
    if not isinstance(curves, list | tuple) or not all(isinstance(name, str) and name in known for name in curves):
        raise ParameterError(f"curves={curves!r}: give a list of {' and '.join(map(repr, known))}")
    return Options(
        cv=cv,
        curves=tuple(dict.fromkeys(curves)),
        examples=whole_number("examples", examples, 0),
        random_state=whole_number("random_state", random_state, 0),
        n_jobs=n_jobs,
    )


_N_SECTIONS = 8  # those that take time


def summary_of(fitted: Any, X: Any, y: Any, sample_weight: Any, title: str | None, options: Options) -> Summary:
    """Compute every section."""
    model, estimator = model_of(fitted)
    data = report_data(model, estimator, X, y, sample_weight)
    target = ", ".join(target_names_of(model))
    single = isinstance(model, Model) and model.is_single_tree
    sections = count()

    def made(name: str, make: Callable[..., Part], *given: Any) -> Part:
        with progress.part(next(sections), _N_SECTIONS, f"report, {name}"):
            return make(*given)

    # Of many trees the page shows the surrogate tree; rows are followed through it, not through all of them.
    standing = made("tree", surrogate_part, data, options)
    tree = tree_with_test_rows(tree_part(data.model, title="The tree"), data) if single else standing and standing.tree
    examples = None
    if tree is not None:
        followed = (examples_of_trees, data, standing, options) if standing else (examples_part, data, options, tree)
        examples = made("rows", *followed)
    quality = made("quality", quality_parts, data, options)
    summary = Summary(
        title=escape_controls(title) if title is not None else heading_of(data, target),
        subtitle=subtitle_of(data, target),
        task=model.task,
        target=target,
        facts=(*facts_of(data), *scores_of(data, quality)),
        notes=notes_of(data),
        columns=columns_in_words(data),
        text=model.show(),
        tree=tree,
        version=__version__,
        proof=proof_part(data.model) if single else None,
        pruning=made("pruning", pruning_part, data, options),
        quality=quality,
        data=made("columns", columns_part, data, options),
        findings=made("findings", findings_of, data),
        examples=examples,
        ensemble=made("trees", ensemble_part, data, options, standing),
        contributions=made("contributions", contributions_part, data, options),
        log=tuple(log_of(model.facts)),
        log_note=_log_note(model.facts),
    )
    return with_named_levels(summary)


def _log_note(facts: Mapping[str, Any]) -> str:
    """How often a tree grown by hand was evaluated on held-out rows, and its score on the sealed rows."""
    said = noted(facts)
    if said is None:
        return ""
    looks, sealed = said.get("looks_at_held_out_rows"), said.get("sealed_rows")
    n = looks if isinstance(looks, int) else 0
    seen = f"Evaluated on the held-out rows: {counted(n, 'state')} of the tree."
    score = sealed.get("score") if isinstance(sealed, Mapping) else None
    if not isinstance(sealed, Mapping) or not isinstance(score, int | float):
        return seen
    when = shorten(escape_controls(str(sealed.get("when", ""))), WORDS_WIDTH)
    return f"{seen} The sealed rows were opened{f' at {when}' * bool(when)}: {amount(score, 3)}."


def code_of(model: Any) -> str:
    """The script that predicts a row by all trees in a page; empty for large models, and if it cannot be written."""
    if not isinstance(model, Model) or model.is_single_tree or model.n_outputs > 1:
        return ""
    if len(model.trees.is_leaf) > MOST_NODES_OF_CODE:
        return ""
    try:
        return as_script(written(program_of(model, EXTRAS), JAVASCRIPT, "model"))
    except ParameterError:
        return ""


def model_of(fitted: Any) -> tuple[Model | NeighborsModel, Any]:
    """The model, and the estimator if one was given."""
    model = fitted if isinstance(fitted, Model | NeighborsModel) else getattr(fitted, "model_", None)
    if not isinstance(model, Model | NeighborsModel):
        why = getattr(fitted, "_why_no_model", None)
        if isinstance(why, str):
            raise ParameterError(f"report needs one model of trees, and this {type(fitted).__name__} has none: {why}")
        raise ParameterError(f"report takes a fitted estimator of this library or a Model, {what_instead(fitted)}")
    if model.facts.get("algorithm") == "isolation_forest":
        raise ParameterError(
            "an isolation forest predicts no target, so a report has nothing to evaluate: score rows with "
            "score_samples, or read one of its trees with model.tree(0).show()"
        )
    return model, None if model is fitted else fitted


def what_instead(given: Any) -> str:
    """What was given to a report in place of a fitted estimator of this library, and what to give."""
    name = type(given).__name__
    if isinstance(given, type):
        return f"not the class {given.__name__} itself: make one and fit it first"
    if is_ours(given):
        return f"and this {name} is not fitted: fit it first"
    if isinstance(getattr(given, "steps", None), list):
        rows = "the transformed rows"
        return f"not a {name}: give its last step and {rows}: report(pipe[-1], pipe[:-1].transform(X), y)"
    if hasattr(given, "best_estimator_") or hasattr(given, "best_params_"):
        return f"not a {name}: give its best_estimator_"
    if type(given).__module__.partition(".")[0] == "treewright":
        return f"not {name}: fit it first"
    return f"not {name} (of {type(given).__module__.partition('.')[0]})"


def columns_in_words(data: ReportData) -> tuple[ColumnWords, ...]:
    """Every column with its levels, or the range and median of its numbers."""
    found = []
    for position, words in enumerate(page_tree.columns_in_words(data.model.schema)):
        cells = data.matrix[:, position]
        held = cells[np.isfinite(cells)] if words.kind == "numeric" else cells[:0]
        low, high, middle = (float(f(held)) if len(held) else None for f in (np.min, np.max, np.median))
        found.append(replace(words, low=low, high=high, middle=middle))
    return tuple(found)


def target_names_of(model: Model | NeighborsModel) -> list[str]:
    """The targets of the whole model: a single boosted tree is named after the score that it adds to."""
    if model.target_names:
        return [written_name(name) for name in model.target_names]
    return [f"y{at}" for at in range(model.n_outputs)] if model.n_outputs > 1 else []


def heading_of(data: ReportData, target: str) -> str:
    """The title of the page: the kind of model and its target."""
    single = not data.is_neighbors and data.model.is_single_tree
    kind = "decision tree" if single else algorithm_of(data)
    return f"{kind[0].upper()}{kind[1:]}" + (f" for {target}" if target else "")


def subtitle_of(data: ReportData, target: str) -> str:
    """Algorithm, task, target and size of the model, in one line."""
    model = data.model
    if not data.is_neighbors and model.is_single_tree:
        return summarize(model, 0).headline()
    what = f"{algorithm_of(data)}, {model.task}" + (f" of {target}" if target else "")
    size = counted(model.n_neighbors, "neighbour") if data.is_neighbors else counted(len(model.trees), "tree")
    return f"{what[0].upper()}{what[1:]}: {size}, {counted(len(model.schema.needed), 'column')}"


def _columns_of(schema: Schema) -> str:
    """How many columns of the table are used, how many are left out, and how many are derived."""
    n_used, n_given = len(schema.needed), len(schema.given)
    left_out = f" ({n_given - n_used} left out)" if n_used < n_given else ""
    n_derived = sum(map(is_derived, schema.columns))
    n_parts = len(schema) - n_given - n_derived
    parts = f", {counted(n_parts, 'part')} of dates" if n_parts else ""
    derived = f", {n_derived} derived" if n_derived else ""
    return f"{n_used}{left_out}{parts}{derived}"


def facts_of(data: ReportData) -> tuple[Fact, ...]:
    """Lines of the head."""
    model = data.model
    facts = [Fact("algorithm", algorithm_of(data))]
    if not data.is_neighbors:
        facts.append(_lowered(data))
    facts += [
        Fact("fitted on", counted(int(model.facts.get("n_samples", 0)), "row")),
        Fact("tested on", counted(data.n + data.n_unknown, "row")),
        Fact("columns", _columns_of(model.schema)),
    ]
    if model.threshold is not None:
        facts.append(Fact("threshold", decision_text(model)))
    elif "positive" in model.facts and model.positive is not None:
        facts.append(Fact("positive class", written_level(model.positive)))
    if data.is_neighbors:
        return (*facts, Fact("neighbours", str(model.n_neighbors)), Fact("metric", in_words(model.stored.metric.name)))
    return (*facts, Fact("trees", str(len(model.trees)))) if not model.is_single_tree else tuple(facts)


def scores_of(data: ReportData, quality: Sequence[QualityPart]) -> tuple[Fact, ...]:
    """Measures of a single output, for the head of the page: the cost that chose the threshold, accuracy or R2.

    Accuracy counts the rows of classes without training rows: the model is wrong about them.
    """
    if len(quality) != 1 or not quality[0].measures:
        return ()
    first = quality[0].measures[0]
    costs = [Fact(each.name, f"{each.value:.4g}") for each in quality[0].measures if each.name == COST]
    return (*costs, Fact(first.name, f"{(first.value or 0.0) * (1.0 - data.unknown_share):.3f}"))


def notes_of(data: ReportData) -> tuple[str, ...]:
    """Notes that a reader needs to read the numbers."""
    if data.seen is None:
        return (AMONG,) if data.n > int(data.model.facts.get("n_samples", 0)) else (PERHAPS,)
    return (SEEN,) if data.seen else ()


def algorithm_of(data: ReportData) -> str:
    """The algorithm in words.

    A file may name an unknown one: it is shown as it is, except for its underscores.
    """
    name = str(data.model.facts.get("algorithm", "unknown"))
    known = registry.algorithm_of(name)
    return in_words(name) if known is None else known.title


def in_words(name: str) -> str:
    """The name of an algorithm, criterion or loss as text.

    Examples
    --------
    >>> in_words("squared_error")
    'squared error'
    """
    return CRITERIA.get(name, shorten(escape_controls(name.replace("_", " ")), WORDS_WIDTH))


def _lowered(data: ReportData) -> Fact:
    """What the splits reduce: an impurity, or the loss of boosting."""
    facts = data.model.facts
    loss = facts.get("loss")
    if data.model.has_scores and isinstance(loss, Mapping) and isinstance(loss.get("name"), str):
        return Fact("loss", in_words(loss["name"]))
    return Fact("criterion", in_words(str(facts.get("criterion", "unknown"))))
