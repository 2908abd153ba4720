"""``treewright show --audit``. In: a model, the rows of a file. Out: a node's audit as text. Callers: cli.app."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from treewright.cli.delimited import ReadOptions
from treewright.cli.ensembles import is_ensemble
from treewright.cli.kinds_of_models import of_trees
from treewright.cli.labelled import labelled_rows, target_name
from treewright.cli.outputs import check_output, write_text
from treewright.cli.terminal import UsageRefusal, note, progress

if TYPE_CHECKING:
    from treewright.fitted import Model

__all__ = ["run_audit"]

_DRAWN = "drew their rows and columns by chance"
# Why trees of a model that are not drawn by chance have no audit.
_GROWN = {
    "gradient_boosting": "were grown on gradients of the loss, which every tree before changed",
    "adaboost": "were grown on weights of the rows, which every tree before changed",
}


def run_audit(
    model_path: Path,
    data: Path | None,
    options: ReadOptions,
    *,
    node: int = 0,
    every: str | None = None,
    target: str | None = None,
    skip_missing_target: bool = False,
    out: Path | None = None,
    force: bool = False,
) -> None:
    """Show what a node could have asked, for the rows of a file that reach it.

    Parameters
    ----------
    model_path : Path
    data : Path or None
        The rows; a model file holds none.
    options : ReadOptions
    node : int
    every : str or None
        The column whose cuts or divisions are listed.
    target : str or None
        The column with the truth; None takes the name the model was fitted with.
    skip_missing_target : bool
        Leave out rows without a target instead of refusing them.
    out : Path or None
        None writes to the standard output.
    force : bool
        Whether ``out`` may be replaced.

    Raises
    ------
    TreewrightError
        The model, the table or the output was refused; there is no such node or column; a true value is missing.
    UsageRefusal
        No data, several targets, or a target without a name.
    """
    if data is None:
        raise UsageRefusal(
            "--audit needs rows, and a model file holds none: give those it was fitted on with --data FILE"
        )
    import treewright

    check_output(out, force)
    model = of_trees(treewright.load(model_path), model_path, "--audit")
    if is_ensemble(model):
        raise UsageRefusal(
            f"--audit compares all that a node could ask, by the target of the rows of a file, and the trees of "
            f"{model_path} {_GROWN.get(str(model.facts.get('algorithm')), _DRAWN)}. There is no audit of them; "
            f"treewright show {model_path} --tree N, without --audit, shows one"
        )
    name = target_name(model, model_path, target, "--audit")
    with progress():
        features, truth = labelled_rows(model, data, options, name, skip=skip_missing_target)
        audit = model.audit(features, truth, node=node, every=_column(model, every))
    write_text(out, str(audit), force)
    if audit.n_samples != audit.n_fitted:
        note("these are not the rows that the tree was grown on; fit with --test-size 0 to audit the rows of the file")


def _column(model: Model, every: str | None) -> Any:
    """The column that was typed: a name that is no text is found by how it is written."""
    if every is None:
        return None
    return next((name for name in model.schema.names if str(name) == every), every)
