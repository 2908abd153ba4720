"""``treewright show``, ``audit`` and ``follow``.

``show`` draws or writes the trees, ``audit`` shows how a node's split is chosen, ``follow`` shows the path of one row.
"""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.cli.models import (
    is_ensemble,
    is_neighbors,
    labelled_rows,
    load_model,
    of_trees,
    one_tree,
    refuse_isolation,
    summary,
    target_name,
)
from treewright.cli.options import AuditRequest, FollowRequest, FormatName, ShowRequest
from treewright.cli.streams import is_standard
from treewright.cli.terminal import (
    Screen,
    UsageRefusal,
    check_output,
    guarded_labels,
    note,
    open_output,
    printable,
    printable_lines,
    progress,
    say,
    screen_of,
    write_text,
    wrote,
)
from treewright.data.encoder import encode
from treewright.explain.rules import leaf_rules
from treewright.files import rows_for
from treewright.files.table import did_you_mean, place
from treewright.show.prediction import predictions_of, predictions_of_nodes
from treewright.show.spans import Span, Spans, fitted, folded, mark_of, width_of
from treewright.trees.arrays import path_to
from treewright.trees.facts import node_test
from treewright.trees.summary import counted
from treewright.trees.writing import cell_width, written_level, written_number

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = [
    "FORMATS",
    "impurity_importances",
    "run_audit",
    "run_follow",
    "run_show",
    "say_tree",
    "tree_lines",
]

UNFOLD = "give a larger --max-depth, or --max-nodes 0 for all"
MORE = "--surrogates lists the surrogate tests"
FORMATS = tuple(form.value for form in FormatName)
_PICTURES = ("svg", "png", "pdf")
_BY_ENDING = (*_PICTURES, "dot", "json")  # a CSV file may be for the rules or for the importances

_BY_CHANCE = "have sampled rows and columns"
# Why the trees of other models have no audit.
_GROWN = {
    "gradient_boosting": "are fitted to gradients of the loss, which depend on the trees before",
    "adaboost": "are fitted with row weights, which depend on the trees before",
}

_AT_LEAST_OR_MOST = re.compile(r"\s*(>=|<=)\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*")
_NAME_WIDTH = 60
_MISSING = "missing"


def run_show(request: ShowRequest) -> None:
    """Show a model as text, as a picture, as a graph or as data."""
    out, max_depth, max_nodes, tree = request.out, request.max_depth, request.max_nodes, request.tree
    color, width = request.color.value, request.width
    form, by = _form_for(None if request.form is None else request.form.value, out, is_table=request.importances)
    _check_form(form, max_depth, max_nodes, surrogates=request.surrogates)
    screen = screen_of(color, width, to_file=out is not None)
    given = [
        option
        for option, is_given in (
            (by, form != "text"),
            ("--max-depth", max_depth is not None),
            ("--max-nodes", max_nodes is not None),
            ("--surrogates", request.surrogates),
            (f"--color {color}", color != "auto"),
            (f"--width {width}", width is not None),
        )
        if is_given
    ]
    if form != "text" and (color != "auto" or width is not None):
        raise UsageRefusal(f"{given[-1]}: only with --format text, not {form}")

    check_output(out, request.force)
    options: dict[str, Any] = {"max_depth": max_depth}
    if form == "text":
        options["surrogates"] = request.surrogates
    if max_nodes is not None:
        options["max_nodes"] = max_nodes or None
    model = load_model(request.model)
    for_trees = [*given, *(["--importances"] if request.importances else []), *([] if tree is None else ["--tree"])]
    if is_neighbors(model) and not for_trees:
        write_text(out, model.show(), request.force)
        _note_written(out, form)
        return
    model = of_trees(model, request.model, ", ".join(for_trees))
    if request.importances and given:
        raise UsageRefusal(f"{', '.join(given)}: not with --importances, which is a table of the columns")
    if request.importances:
        write_text(out, impurity_importances(model, request.model, tree), request.force)
    elif is_ensemble(model) and tree is None and not given:
        write_text(out, summary(model, request.model), request.force)
    else:
        model = one_tree(model, request.model, tree, ", ".join(given))
        if form in {"png", "pdf"}:
            _write_pixels(model.plot(**options), form, out, request.force)
        elif form == "text" and (screen.painted or width is not None):
            _write_drawing(model, screen, out, request.force, options)
        else:
            write_text(out, _rendered(model, form, options), request.force)
    _note_written(out, form)


def _form_for(form: str | None, out: Path | None, *, is_table: bool = False) -> tuple[str, str]:
    """The format, and the option that names it: ``--format``, or else the ending of the file."""
    ending = "" if out is None else out.suffix.lower().removeprefix(".")
    if form is None:
        by_ending = ending if ending in _BY_ENDING and not (is_table and ending not in _PICTURES) else "text"
        return by_ending, f"--out {out}"
    if ending in _PICTURES and form != ending:
        raise UsageRefusal(f"--out {out}: --format {form} writes no {ending}: leave --format out, or name another file")
    return form, f"--format {form}"


def _refuse_picture(out: Path | None, asked: str) -> None:
    """Refuse to write text into a file whose ending is that of a picture."""
    if out is not None and out.suffix.lower().removeprefix(".") in _PICTURES:
        raise UsageRefusal(f"--out {out}: {asked} writes text, no picture: name a file such as {out.stem}.txt")


def _note_written(out: Path | None, form: str) -> None:
    if out is not None and not is_standard(out):
        note(wrote(out, form))


def _check_form(form: str, max_depth: int | None, max_nodes: int | None, *, surrogates: bool) -> None:
    """Refuse an unknown format, and options that a format does not have."""
    if form not in FORMATS:
        raise UsageRefusal(f"--format {form}: choose one of {', '.join(FORMATS)}")
    if max_depth is not None and (form not in {"text", *_PICTURES} or max_depth < 0):
        raise UsageRefusal(
            f"--max-depth {max_depth}: give 0 or more, with --format text, svg, png or pdf; {form} shows the whole tree"
        )
    if form != "text" and (surrogates or max_nodes is not None):
        raise UsageRefusal(f"{'--surrogates' if surrogates else '--max-nodes'}: only with --format text, not {form}")
    if max_nodes is not None and max_nodes < 0:
        raise UsageRefusal(f"--max-nodes {max_nodes}: give 1 or more, or 0 for all")


def impurity_importances(model: Model, path: Path, tree: int | None) -> str:
    """The share of the impurity that each column's splits removed from the training rows: of one tree, or of all."""
    from treewright.forest.importance import impurity_decrease

    refuse_isolation(model, path, "its splits reduce no impurity")
    return printable_lines(str(impurity_decrease(model if tree is None else one_tree(model, path, tree, "--tree"))))


def _write_pixels(picture: Any, form: str, out: Path | None, force: bool) -> None:
    """Write a picture as bytes to a file or a pipe; a terminal is refused."""
    if out is None and sys.stdout is not None and sys.stdout.isatty():
        raise UsageRefusal(f"--format {form} is not text: name a file with --out tree.{form}")
    content = picture.png() if form == "png" else picture.pdf()
    with open_output(out, force) as file:
        file.write(content)


def _write_drawing(model: Model, screen: Screen, out: Path | None, force: bool, options: dict[str, Any]) -> None:
    """Write the tree with bars, and with colours if the screen has them, in lines of its width."""
    lines = tree_lines(model, screen, **options)
    if out is None:
        screen.say(lines)
    else:
        write_text(out, screen.written(lines), force)


def tree_lines(model: Model, screen: Screen, *, unfold: str = UNFOLD, **options: Any) -> list[Spans]:
    """A tree as lines for a screen; options as ``treewright.show.text.draw_tree``."""
    from treewright.show.text import draw_tree  # not at the top: it imports numpy, and ``--help`` must start at once

    return draw_tree(
        model, width=screen.width, ascii=screen.is_ascii, colors=screen.painted, unfold=unfold, more=MORE, **options
    )


def plain_tree(model: Model, *, unfold: str = UNFOLD, **options: Any) -> str:
    """A tree as plain text, whose notes name the options of the command; options as ``Model.show``."""
    from treewright.show import text  # not at the top, as in ``tree_lines``

    drawing, gap, notes = model.show(**options).rpartition("\n\n")
    return drawing + gap + notes.replace(text.UNFOLD, unfold).replace(text.MORE_SURROGATES, MORE)


def say_tree(model: Model, kept_at: Path | None) -> None:
    """Print one tree, with colours on a terminal; ``kept_at`` is the model file, for the note about hidden nodes."""
    screen = screen_of()
    shows = f"treewright show {kept_at or 'MODEL'} --max-nodes 0 shows all"
    if screen.painted:
        screen.say(tree_lines(model, screen, unfold=shows))
    else:
        say(plain_tree(model, unfold=shows).rstrip("\n"))


def _rendered(model: Model, form: str, options: dict[str, Any]) -> str:
    """The model in one of the formats; the options are those of `Model.plot` and `Model.show`."""
    match form:
        case "svg":
            return str(model.plot(**options).text)
        case "dot":
            from treewright.exchange.dot import to_dot

            return to_dot(model)
        case "json":
            from treewright.exchange.structure import to_structure

            return json.dumps(to_structure(model), indent=1, allow_nan=False, ensure_ascii=False)
        case "rules":
            return str(leaf_rules(model))
        case "rules-csv":
            return _rules_csv(model)
        case _:
            return plain_tree(model, **options)


def _rules_csv(model: Model) -> str:
    """The table of rules as CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
    import polars as pl

    from treewright.evaluation.measures import label_series

    written = []
    for name, cells in leaf_rules(model).to_dict().items():
        is_label = name == "conditions" or name.startswith("prediction")
        series = label_series(name, np.array(cells)) if is_label else pl.Series(name, cells)
        if series.dtype == pl.String:
            texts = [text.encode("utf-8", "backslashreplace").decode() for text in series.to_list()]
            series = pl.Series(name, guarded_labels(texts))
        written.append(series)
    return str(pl.DataFrame(written).write_csv())


# --- audit: how a split is chosen


def run_audit(request: AuditRequest) -> None:
    """Show every candidate of a node, for the rows of a file that reach it."""
    out, path = request.out, request.model
    _refuse_picture(out, "audit")
    check_output(out, request.force)
    model = of_trees(load_model(path), path, "audit")
    if is_ensemble(model):
        raise UsageRefusal(
            "audit compares every candidate of a node by the target of the rows of a file, and the trees of "
            f"{path} {_GROWN.get(str(model.facts.get('algorithm')), _BY_CHANCE)}: they have no audit; "
            f"treewright show {path} --tree N shows one"
        )
    name = target_name(model, path, request.target, "audit")
    # Names that are not texts are compared by their text.
    every = next((each for each in model.schema.names if str(each) == request.every), request.every)
    with progress():
        features, truth = labelled_rows(
            model, request.data, request.reading.options, name, skip=request.skip_missing_target
        )
        audit = model.audit(features, truth, node=request.node, every=every)
    write_text(out, str(audit), request.force)
    if audit.n_samples != audit.n_fitted:
        note("these are not the training rows of the tree; fit with --test-size 0 to audit all rows of the file")


# --- follow: the path of one row


def run_follow(request: FollowRequest) -> None:
    """Follow a row through the tree, and show what would have to change for another prediction."""
    if request.row < 0:
        raise UsageRefusal(f"--row {request.row}: rows are counted from 0")

    screen = screen_of(request.color, request.width, to_file=request.out is not None)
    _refuse_picture(request.out, "follow")
    check_output(request.out, request.force)
    model = of_trees(load_model(request.model), request.model, "follow")
    refuse_isolation(model, request.model, "it predicts no class or number")
    model = one_tree(model, request.model, request.tree, "follow")
    wanted = _wanted(model, request)
    with progress():
        row, where = _row_of(model, request)
        leaf = int(model.apply(row)[0])
        change = model.counterfactual(row, **wanted) if wanted is not None else None
    width = screen.width if screen.is_asked else None
    mark = mark_of(0, signed=screen.is_ascii) if screen.painted else ""
    title = _prose([f"row {request.row} of {printable(request.data)}{where}"], width)
    lines: list[Spans] = [*([replace(span, role="strong") for span in line] for line in title), []]
    lines += [
        *_path_lines(model, row, leaf, width),
        [],
        *_prose(_divided(model, row, leaf), width),
        *_leaf(model, leaf, width, mark),
    ]
    if change is not None:
        described = str(change).split("\n")[1:]  # the first line is what the leaf predicts
        lines += [[], *_prose(described, width)]
    if request.out is None:
        screen.say(lines)
    else:
        write_text(request.out, screen.written(lines), request.force)


def _wanted(model: Model, request: FollowRequest) -> dict[str, Any] | None:
    """The prediction in ``--to``, as ``Model.counterfactual`` takes it; None for numbers without ``--to``."""
    to = request.to
    if model.task == "regression":
        if to is None:
            return None
        found = _AT_LEAST_OR_MOST.fullmatch(to)
        if found is None or model.n_outputs != 1:
            raise UsageRefusal(
                f"--to {to}: {printable(request.model)} predicts numbers: write --to '>=5' or --to '<=5'"
            )
        try:
            return {"at_least" if found[1] == ">=" else "at_most": float(found[2])}
        except ValueError:
            raise UsageRefusal(f"--to {to}: {found[2]} is not a number") from None
    if to is None:
        return {}
    if model.n_outputs != 1:
        raise UsageRefusal(f"--to {to}: {printable(request.model)} predicts {model.n_outputs} targets at once")
    labels = {str(label): label for label in model.classes[0].tolist()}
    if to not in labels:
        known = ", ".join(fitted(printable(label), _NAME_WIDTH) for label in list(labels)[:20])
        raise UsageRefusal(
            f"--to {printable(to)}: not a class of the model{did_you_mean(to, list(labels))}; its classes are {known}"
        )
    return {"to": labels[to]}


def _row_of(model: Model, request: FollowRequest) -> tuple[Any, str]:
    """The row as a table of its own, and its line in the file."""
    before = 0
    for rows in rows_for(model, request.data, request.reading.options):
        at = request.row - before
        if at < rows.n_rows:
            where = f" ({place(rows.lines, at)})" if rows.lines is not None else ""
            one, table = slice(at, at + 1), rows.features
            is_dict = isinstance(table, dict)
            return {name: cells[one] for name, cells in table.items()} if is_dict else table[one], where
        before += rows.n_rows
    raise UsageRefusal(f"--row {request.row}: {printable(request.data)} has {counted(before, 'row')}, counted from 0")


def _path_lines(model: Model, row: Any, leaf: int, width: int | None) -> list[Spans]:
    """The tests on the row's path, with the row's own values."""
    tree = model.trees[0]
    stand_ins = set(tree.surrogate_node.tolist())
    steps = []
    for node, branch in path_to(tree, leaf):
        test = node_test(model, tree, node)
        edge = f"{fitted(test.column, _NAME_WIDTH)} {fitted(test.edge(branch), _NAME_WIDTH)}"
        value = _cell(model, row, int(tree.feature[node]))
        if value == _MISSING and node in stand_ins:
            value = f"{_MISSING}, by surrogates"
        steps.append((int(tree.first_child[node]) + branch, edge, value))
    if not steps:
        return [[Span("the tree has no tests: every row reaches its one leaf")]]
    numbers = [str(child) for child, _, _ in steps]
    wide = max(map(len, numbers))
    edges = [fitted(edge, _NAME_WIDTH if width is None else max(20, int(0.6 * width))) for _, edge, _ in steps]
    most = max(map(cell_width, edges))
    lines = []
    for number, edge, (_, _, value) in zip(numbers, edges, steps, strict=True):
        line = [Span(f"{number:>{wide}}  ", "faint"), Span(edge + " " * (most - cell_width(edge)))]
        room = _NAME_WIDTH if width is None else max(4, width - width_of(line) - 5)
        lines.append([*line, Span("  is ", "faint"), Span(fitted(value, room), "strong")])
    return lines


def _cell(model: Model, row: Any, feature: int) -> str:
    """A cell of the row in words."""
    column = model.schema.columns[feature]
    if column.part:  # the table does not have it
        value = float(encode(model.schema, row, unseen=model.unseen, missing=model.missing)[0, feature])
        if math.isnan(value):
            return _MISSING
        return written_level(column.levels[int(value)]) if column.levels else written_number(value, exact=True)
    name = column.name
    if isinstance(row, dict):
        cell = row[name][0]
    elif hasattr(row, "columns"):
        cell = row[str(name)][0]
    else:
        cell = row[0, feature]
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return _MISSING
    return written_number(cell, exact=True) if isinstance(cell, float) else written_level(cell)


def _divided(model: Model, row: Any, leaf: int) -> list[str]:
    """A note if a missing cell divides the row among leaves: what these predict together."""
    asked = {int(model.trees[0].feature[node]) for node, _ in path_to(model.trees[0], leaf)}
    if model.missing != "fractional" or all(_cell(model, row, feature) != _MISSING for feature in asked):
        return []
    cells = encode(model.schema, row, unseen=model.unseen, missing=model.missing)
    line = predictions_of(model, cells).line(0).removeprefix("predicts ")
    return [f"a missing cell divides the row; this is the path of its largest part; all together predict {line}"]


def _leaf(model: Model, leaf: int, width: int | None, mark: str) -> list[Spans]:
    """The row's leaf and its training rows; ``mark`` is painted in the colour of the class."""
    rule = next(rule for rule in leaf_rules(model, keep_empty=True) if rule.leaf == leaf)
    says = rule.conclusion if rule.conclusion.startswith("adds ") else f"predicts {rule.conclusion}"
    evidence = rule.evidence.removeprefix(f"leaf {leaf}; ")
    if model.threshold is not None:
        evidence = f"{predictions_of_nodes(model).why(leaf)}; {evidence}"
    lines = _prose([f"leaf {leaf} {says}: {evidence}"], width)
    outcome = rule.outcomes[0]
    if mark and outcome.classes and len(rule.outcomes) == 1:
        lines[0].insert(0, Span(mark + " ", "class", outcome.classes.index(outcome.text)))
    return lines


def _prose(texts: list[str], width: int | None) -> list[Spans]:
    return [[Span(line)] for text in texts for line in ([text] if width is None else folded(text, width - 2))]
