"""``treewright show``. In: a model file. Out: a view. Callers: cli.app."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treewright.cli.ensembles import is_ensemble, one_tree, summary
from treewright.cli.importances import impurity_importances
from treewright.cli.kinds_of_models import is_neighbors, of_trees
from treewright.cli.outputs import check_output, guarded_labels, write_text
from treewright.cli.terminal import UsageRefusal

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["FORMATS", "check_words", "run_show"]

FORMATS = ("text", "svg", "dot", "json", "rules", "rules-csv")


def check_words(*, audit: bool, form: str, for_views: Mapping[str, object], for_audits: Mapping[str, object]) -> None:
    """Refuse options that would be passed over in silence.

    Parameters
    ----------
    audit : bool
        Whether a node is audited; otherwise the model is shown.
    form : str
    for_views, for_audits : dict of option to value
        Options that only a view, or only an audit, knows; None where one was not given.

    Raises
    ------
    UsageRefusal
        One of the other sort was given, or an audit was asked for in another form than text.
    """
    if audit and form != "text":
        raise UsageRefusal(f"--audit is always text: leave out --format {form}, or --audit")
    given = [option for option, value in (for_views if audit else for_audits).items() if value is not None]
    if given:
        raise UsageRefusal(
            f"{', '.join(given)}: not with --audit" if audit else f"{', '.join(given)}: only with --audit"
        )


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
) -> None:
    """Show a model.

    Parameters
    ----------
    model_path : Path
    form : {"text", "svg", "dot", "json", "rules", "rules-csv"}
        ``rules`` is text; ``rules-csv`` is the table of the same rules.
    max_depth : int >= 0 or None
        How deep to show it; text and svg only.
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

    Raises
    ------
    TreewrightError
        The model or the output was refused.
    UsageRefusal
        Many trees of which none was chosen, an unknown form, or an option that the form does not have.
    """
    if form not in FORMATS:
        raise UsageRefusal(f"--format {form}: there are: {', '.join(FORMATS)}")
    if max_depth is not None and (form not in {"text", "svg"} or max_depth < 0):
        raise UsageRefusal(
            f"--max-depth {max_depth}: give 0 or more, with --format text or svg; {form} shows the whole tree"
        )
    if form != "text" and (surrogates or max_nodes is not None):
        raise UsageRefusal(f"{'--surrogates' if surrogates else '--max-nodes'}: only with --format text, not {form}")
    if max_nodes is not None and max_nodes < 0:
        raise UsageRefusal(f"--max-nodes {max_nodes}: give 1 or more, or 0 for all")
    import treewright

    check_output(out, force)
    options: dict[str, Any] = {"max_depth": max_depth}
    if form == "text":
        options["surrogates"] = surrogates
    if max_nodes is not None:
        options["max_nodes"] = max_nodes or None
    model = treewright.load(model_path)
    given = [
        option
        for option, is_given in (
            (f"--format {form}", form != "text"),
            ("--max-depth", max_depth is not None),
            ("--max-nodes", max_nodes is not None),
            ("--surrogates", surrogates),
        )
        if is_given
    ]
    for_trees = [*given, *(["--importances"] if importances else []), *([] if tree is None else ["--tree"])]
    if is_neighbors(model) and not for_trees:
        write_text(out, model.show(), force)
        return
    model = of_trees(model, model_path, ", ".join(for_trees))
    if importances and given:
        raise UsageRefusal(f"{', '.join(given)}: not with --importances, which is a table of the columns")
    if importances:
        write_text(out, impurity_importances(model, model_path, tree), force)
        return
    if is_ensemble(model) and tree is None and not given:
        text = summary(model, model_path)
    else:
        text = _rendered(one_tree(model, model_path, tree, ", ".join(given)), form, options)
    write_text(out, text, force)


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

    from treewright.cli.scores import label_series
    from treewright.explain.rules import leaf_rules

    written = []
    for name, cells in leaf_rules(model).to_dict().items():
        is_label = name == "conditions" or name.startswith("prediction")
        series = label_series(name, np.array(cells)) if is_label else pl.Series(name, cells)
        if series.dtype == pl.String:
            texts = [text.encode("utf-8", "backslashreplace").decode() for text in series.to_list()]
            series = pl.Series(name, guarded_labels(texts))
        written.append(series)
    return str(pl.DataFrame(written).write_csv())
