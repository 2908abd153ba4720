"""``treewright export``. In: a model. Out: source code that predicts the same without Treewright."""

from __future__ import annotations

from pathlib import Path

from treewright.cli.models import load_model, of_trees
from treewright.cli.streams import is_standard
from treewright.cli.terminal import UsageRefusal, check_output, note, open_output, printable
from treewright.exceptions import ParameterError
from treewright.export.code import exported

__all__ = ["run_export"]


def run_export(model_path: Path, out: Path, *, name: str, force: bool) -> None:
    """Write the source code of a model.

    Parameters
    ----------
    model_path : Path
    out : Path
        Its ending says the language.
    name : str
        What functions are called by in C.
    force : bool
        Whether ``out`` may be replaced.
    """
    check_output(out, force)
    model = of_trees(load_model(model_path), model_path, "export")
    try:
        text = exported(model, out, name)
    except ParameterError as refused:
        raise UsageRefusal(str(refused)) from None
    with open_output(out, force) as file:
        file.write(text.encode())
    if not is_standard(out):
        note(f"wrote {printable(out)} (source code)")
