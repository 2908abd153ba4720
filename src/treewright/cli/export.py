"""``treewright export``, ``verify`` and ``import``: models as files of other formats, and back.

An exported file predicts the same without Treewright; test vectors check this.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

import treewright
from treewright.cli.models import load_model, of_trees
from treewright.cli.streams import is_standard
from treewright.cli.terminal import (
    UsageRefusal,
    check_output,
    note,
    open_output,
    printable,
    printable_lines,
    say,
    wrote,
)
from treewright.exceptions import ParameterError
from treewright.exchange.formats import exported, format_of, name_of
from treewright.exchange.vectors import vectors_of
from treewright.exchange.verify import read_vectors, verify
from treewright.trees.codec import dumps

__all__ = ["run_export", "run_import", "run_verify"]


def run_export(
    model_path: Path,
    out: Path,
    *,
    format: str | None,  # noqa: A002 - what users type
    name: str | None,
    vectors: Path | None,
    force: bool,
) -> None:
    """Write a model as a file of another format.

    Parameters
    ----------
    model_path : Path
    out : Path
    format : str or None
        None: by the ending of the file.
    name : str or None
        The name of the functions; None: "model", or for a Java class the name of its file.
    vectors : Path or None
        The file of the test vectors.
    force : bool
        Whether ``out`` may be replaced.
    """
    check_output(out, force)
    check_output(vectors, force)
    model = of_trees(load_model(model_path), model_path, "export")
    try:
        content = exported(model, out, name, format)
    except ParameterError as refused:
        raise UsageRefusal(str(refused)) from None
    with open_output(out, force) as file:
        file.write(content)
    if not is_standard(out):
        note(wrote(out, format_of(out, format).words))
    if vectors is not None:
        found = vectors_of(model, name_of(out, name, format))
        with open_output(vectors, force) as file:
            file.write(json.dumps(found).encode())
        if not is_standard(vectors):
            note(wrote(vectors, f"{len(found['rows']):,} test vectors"))


def run_verify(source: Path, vectors: Path, engine: str | None) -> None:
    """Run an exported file on its test vectors; exit code 1 if it does not predict what the model predicts.

    Parameters
    ----------
    source, vectors : Path
    engine : str or None
        None: by the ending of the file.
    """
    verdict = verify(source, read_vectors(vectors), engine)
    say(str(verdict))
    if not verdict.is_equal:
        raise typer.Exit(1)


def run_import(source: Path, out: Path, names: Mapping[str, Any], *, force: bool) -> None:
    """Read a model of another library, write it as a model file and print its summary.

    Parameters
    ----------
    source, out : Path
    names : mapping
        The options of ``read_model``.
    """
    check_output(out, force)
    try:
        model = treewright.read_model(source, **names)
    except ParameterError as refused:
        raise UsageRefusal(str(refused)) from None
    with open_output(out, force) as file:
        file.write(dumps(model))
    if not is_standard(out):
        lines = model.show().splitlines() if not model.is_single_tree else [repr(model)]
        say(printable_lines("\n".join(line for line in lines if not line.startswith("show(tree=0)")).rstrip()))
        note(f"wrote {printable(out)}")
