"""``treewright show``. In: a model file. Out: a view. Callers: cli.app."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treewright.cli.ensembles import is_ensemble, one_tree, summary
from treewright.cli.importances import impurity_importances
from treewright.cli.kinds_of_models import is_neighbors, of_trees
from treewright.cli.outputs import check_output, guarded_labels, open_output, write_text
from treewright.cli.screen import Screen, screen_of
from treewright.cli.terminal import UsageRefusal
from treewright.show.text import draw_tree

if TYPE_CHECKING:
    from treewright.fitted import Model
    from treewright.show.spans import Spans

__all__ = ["FORMATS", "check_words", "run_show", "tree_lines"]

UNFOLD = "give a larger --max-depth, or --max-nodes 0 for all"
MORE = "--surrogates lists the surrogate tests"
FORMATS = ("text", "svg", "png", "pdf", "dot", "json", "rules", "rules-csv")
_DRAWN = ("svg", "png", "pdf")


def check_words(
    *,
    audit: bool,
    row: bool,
    form: str,
    for_views: Mapping[str, object],
    for_views_and_rows: Mapping[str, object],
    for_audits: Mapping[str, object],
    for_audits_and_rows: Mapping[str, object],
    for_rows: Mapping[str, object],
) -> None:
    """Refuse options that would be passed over in silence.

    Parameters
    ----------
    audit, row : bool
        Whether a node is audited, whether a row is followed; otherwise the model is shown.
    form : str
    for_views, for_views_and_rows, for_audits, for_audits_and_rows, for_rows : dict of option to value
        Options by what knows them; None where one was not given.

    Raises
    ------
    UsageRefusal
        One of another sort was given, or an audit was asked for in another form than text.
    """
    if audit and row:
        raise UsageRefusal("--row: not with --audit: ask one after the other")
    mode = "--audit" if audit else "--row"
    if (audit or row) and form != "text":
        raise UsageRefusal(f"{mode} is always text: leave out --format {form}, or {mode}")
    refused: list[tuple[str, Mapping[str, object]]] = []
    if audit:
        refused = [("not with --audit", {**for_views, **for_views_and_rows}), ("only with --row", for_rows)]
    elif row:
        refused = [("not with --row", for_views), ("only with --audit", for_audits)]
    else:
        refused = [
            ("only with --audit", for_audits),
            ("only with --audit or --row", for_audits_and_rows),
            ("only with --row", for_rows),
        ]
    for why, options in refused:
        given = [option for option, value in options.items() if value is not None]
        if given:
            raise UsageRefusal(f"{', '.join(given)}: {why}")


def run_show(
    model_path: Path,
    form: str,
    max_depth: int | None,
    out: Path | None,
    *,
    max_nodes: int | None = None,
    surrogates: bool = False,
    tree: int | None = None,
    importances: bool = False,
    force: bool,
    color: str = "auto",
    width: int | None = None,
) -> None:
    """Show a model.

    Parameters
    ----------
    model_path : Path
    form : {"text", "svg", "png", "pdf", "dot", "json", "rules", "rules-csv"}
        ``rules`` is text; ``rules-csv`` is the table of the same rules.
    max_depth : int >= 0 or None
        How deep to show it; text and pictures only.
    out : Path or None
        None writes to the standard output.
    max_nodes : int >= 0 or None
        Show at most this many nodes, text only; 0 shows all, None is what `Model.show` does by itself.
    surrogates : bool
        Whether to list the best surrogates below each node, text only.
    tree : int >= 0 or None
        Which of many trees; None shows what they are like as a whole, text only.
    importances : bool
        Whether to show how much each column lowered the impurity instead, text only.
    force : bool
        Whether ``out`` may be replaced.
    color : {"auto", "always", "never"}
        Whether the tree is drawn with colours and bars; text only.
    width : int or None
        Cells of a line of the tree, text only; None is the width of the window, no limit where there is none.

    Raises
    ------
    TreewrightError
        The model or the output was refused.
    UsageRefusal
        Many trees of which none was chosen, an unknown form, or an option that the form does not have.
    """
    _check_form(form, max_depth, max_nodes, surrogates=surrogates)
    screen = screen_of(color, width, to_file=out is not None)
    given = [
        option
        for option, is_given in (
            (f"--format {form}", form != "text"),
            ("--max-depth", max_depth is not None),
            ("--max-nodes", max_nodes is not None),
            ("--surrogates", surrogates),
            (f"--color {color}", color != "auto"),
            (f"--width {width}", width is not None),
        )
        if is_given
    ]
    if form != "text" and (color != "auto" or width is not None):
        raise UsageRefusal(f"{given[-1]}: only with --format text, not {form}")
    import treewright

    check_output(out, force)
    options: dict[str, Any] = {"max_depth": max_depth}
    if form == "text":
        options["surrogates"] = surrogates
    if max_nodes is not None:
        options["max_nodes"] = max_nodes or None
    model = treewright.load(model_path)
    for_trees = [*given, *(["--importances"] if importances else []), *([] if tree is None else ["--tree"])]
    if is_neighbors(model) and not for_trees:
        write_text(out, model.show(), force)
        return
    model = of_trees(model, model_path, ", ".join(for_trees))
    if importances and given:
        raise UsageRefusal(f"{', '.join(given)}: not with --importances, which is a table of the columns")
    if importances:
        write_text(out, impurity_importances(model, model_path, tree), force)
    elif is_ensemble(model) and tree is None and not given:
        write_text(out, summary(model, model_path), force)
    else:
        model = one_tree(model, model_path, tree, ", ".join(given))
        if form in {"png", "pdf"}:
            _write_pixels(model.plot(**options), form, out, force)
        elif form == "text" and (screen.painted or width is not None):
            _write_drawing(model, screen, out, force, options)
        else:
            write_text(out, _rendered(model, form, options), force)


def _check_form(form: str, max_depth: int | None, max_nodes: int | None, *, surrogates: bool) -> None:
    """Refuse an unknown form, and options that a form does not have."""
    if form not in FORMATS:
        raise UsageRefusal(f"--format {form}: there are: {', '.join(FORMATS)}")
    if max_depth is not None and (form not in {"text", *_DRAWN} or max_depth < 0):
        raise UsageRefusal(
            f"--max-depth {max_depth}: give 0 or more, with --format text, svg, png or pdf; {form} shows the whole tree"
        )
    if form != "text" and (surrogates or max_nodes is not None):
        raise UsageRefusal(f"{'--surrogates' if surrogates else '--max-nodes'}: only with --format text, not {form}")
    if max_nodes is not None and max_nodes < 0:
        raise UsageRefusal(f"--max-nodes {max_nodes}: give 1 or more, or 0 for all")


def _write_pixels(picture: Any, form: str, out: Path | None, force: bool) -> None:
    """A picture as bytes, which no terminal shows.

    Raises
    ------
    UsageRefusal
        They would land on the screen.
    """
    if out is None and sys.stdout.isatty():
        raise UsageRefusal(f"--format {form} is no text: name a file with --out tree.{form}")
    content = picture.png() if form == "png" else picture.pdf()
    with open_output(out, force) as file:
        file.write(content)


def _write_drawing(model: Model, screen: Screen, out: Path | None, force: bool, options: dict[str, Any]) -> None:
    """The tree with bars, and with colours where they are wanted, in lines of a width."""
    lines = tree_lines(model, screen, **options)
    if out is None:
        screen.say(lines)
    else:
        write_text(out, screen.written(lines), force)


def tree_lines(model: Model, screen: Screen, *, unfold: str = UNFOLD, **options: Any) -> list[Spans]:
    """A tree as lines for a screen; options as ``treewright.show.text.draw_tree``."""
    return draw_tree(
        model, width=screen.width, ascii=screen.is_ascii, colors=screen.painted, unfold=unfold, more=MORE, **options
    )


def _rendered(model: Model, form: str, options: dict[str, Any]) -> str:
    """The model in one of the forms; the options are those of `Model.plot` and `Model.show`."""
    match form:
        case "svg":
            return str(model.plot(**options).text)
        case "dot":
            from treewright.export.dot import to_dot

            return to_dot(model)
        case "json":
            from treewright.export.structure import to_structure

            return json.dumps(to_structure(model), indent=1, allow_nan=False, ensure_ascii=False)
        case "rules":
            from treewright.explain.rules import leaf_rules

            return str(leaf_rules(model))
        case "rules-csv":
            return _rules_csv(model)
        case _:
            return str(model.show(**options))


def _rules_csv(model: Model) -> str:
    """The table of rules as CSV; a text that a spreadsheet would take for a formula gets an apostrophe in front."""
    import numpy as np
    import polars as pl

    from treewright.explain.rules import leaf_rules
    from treewright.judge.tallies import label_series

    written = []
    for name, cells in leaf_rules(model).to_dict().items():
        is_label = name == "conditions" or name.startswith("prediction")
        series = label_series(name, np.array(cells)) if is_label else pl.Series(name, cells)
        if series.dtype == pl.String:
            texts = [text.encode("utf-8", "backslashreplace").decode() for text in series.to_list()]
            series = pl.Series(name, guarded_labels(texts))
        written.append(series)
    return str(pl.DataFrame(written).write_csv())
