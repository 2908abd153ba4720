"""``treewright export``. In: a model. Out: source code that predicts the same without Treewright; the proof of it."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from treewright.cli.models import load_model, of_trees
from treewright.cli.streams import is_standard
from treewright.cli.terminal import UsageRefusal, check_output, note, open_output, printable, say
from treewright.exceptions import ParameterError
from treewright.export.code import exported
from treewright.export.vectors import vectors_of
from treewright.export.verify import read_vectors, verify

__all__ = ["run_export", "run_verify"]


def run_export(model_path: Path, out: Path, *, name: str, vectors: Path | None, force: bool) -> None:
    """Write the source code of a model.

    Parameters
    ----------
    model_path : Path
    out : Path
        Its ending says the language.
    name : str
        What functions are called by in C.
    vectors : Path or None
        Where test vectors go.
    force : bool
        Whether ``out`` may be replaced.
    """
    check_output(out, force)
    check_output(vectors, force)
    model = of_trees(load_model(model_path), model_path, "export")
    try:
        text = exported(model, out, name)
    except ParameterError as refused:
        raise UsageRefusal(str(refused)) from None
    with open_output(out, force) as file:
        file.write(text.encode())
    if not is_standard(out):
        note(f"wrote {printable(out)} (source code)")
    if vectors is not None:
        found = vectors_of(model, name)
        with open_output(vectors, force) as file:
            file.write(json.dumps(found).encode())
        if not is_standard(vectors):
            note(f"wrote {printable(vectors)} ({len(found['rows']):,} test vectors)")


def run_verify(source: Path, vectors: Path) -> None:
    """Run source code on its test vectors; exit code 1 where it does not say what the model says.

    Parameters
    ----------
    source, vectors : Path
    """
    verdict = verify(source, read_vectors(vectors))
    say(str(verdict))
    if not verdict.is_equal:
        raise typer.Exit(1)
