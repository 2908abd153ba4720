"""``treewright export``, ``verify`` and ``import``: models as files of other formats, and back.

An exported file predicts the same without Treewright; test vectors check this.
"""

from __future__ import annotations

import json
from typing import Any

import typer

import treewright
from treewright.cli.models import load_model, of_trees
from treewright.cli.options import ExportRequest, ImportRequest, VerifyRequest
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
from treewright.exchange.verify import read_vectors, vectors_of, verify
from treewright.trees.codec import dumps

__all__ = ["run_export", "run_import", "run_verify"]


def run_export(request: ExportRequest) -> None:
    """Write a model as a file of another format."""
    out, force, vectors = request.out, request.force, request.vectors
    check_output(out, force)
    check_output(vectors, force)
    model = of_trees(load_model(request.model), request.model, "export")
    try:
        content = exported(model, out, request.name, request.format)
    except ParameterError as refused:
        raise UsageRefusal(str(refused)) from None
    with open_output(out, force) as file:
        file.write(content)
    if not is_standard(out):
        note(wrote(out, format_of(out, request.format).words))
    if vectors is not None:
        found = vectors_of(model, name_of(out, request.name, request.format))
        with open_output(vectors, force) as file:
            file.write(json.dumps(found).encode())
        if not is_standard(vectors):
            note(wrote(vectors, f"{len(found['rows']):,} test vectors"))


def run_verify(request: VerifyRequest) -> None:
    """Run an exported file on its test vectors; exit code 1 if it does not predict what the model predicts."""
    verdict = verify(request.source, read_vectors(request.vectors), request.engine)
    say(str(verdict))
    if not verdict.is_equal:
        raise typer.Exit(1)


def run_import(request: ImportRequest) -> None:
    """Read a model of another library, write it as a model file and print its summary."""
    out, force = request.out, request.force
    lists = {"classes": request.classes, "columns": request.columns}
    names: dict[str, Any] = {"unseen": request.unseen}
    names |= {name: words and [word.strip() for word in words.split(",")] for name, words in lists.items()}
    check_output(out, force)
    try:
        model = treewright.read_model(request.source, target=request.target, **names)
    except ParameterError as refused:
        raise UsageRefusal(str(refused)) from None
    with open_output(out, force) as file:
        file.write(dumps(model))
    if not is_standard(out):
        lines = model.show().splitlines() if not model.is_single_tree else [repr(model)]
        say(printable_lines("\n".join(line for line in lines if not line.startswith("show(tree=0)")).rstrip()))
        note(f"wrote {printable(out)}")
