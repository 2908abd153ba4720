"""Fits of nearest neighbours at the terminal. In: requests. Out: words, or a refusal. Callers: cli.learn, cli.fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from treewright.cli.algorithms import NEIGHBORS
from treewright.cli.terminal import UsageRefusal, printable

if TYPE_CHECKING:
    from treewright.cli.learn import FitRequest

__all__ = ["check_neighbors", "written_in_words"]


def check_neighbors(request: FitRequest) -> None:
    """Refuse options that nearest neighbours have no use for.

    Raises
    ------
    UsageRefusal
    """
    why = f"and --algorithm {NEIGHBORS} grows no tree"
    if request.prune is not None:
        raise UsageRefusal(f"{request.prune.named} cuts a tree back, {why}: choose --set n_neighbors=N instead")
    if request.trace:
        raise UsageRefusal(f"--trace tells how a tree grew, {why}: leave it out")
    if request.svg is not None:
        raise UsageRefusal(f"--svg draws a tree, {why}: leave it out")
    if request.weight is not None:
        raise UsageRefusal(
            f"--weight {printable(request.weight)}: --algorithm {NEIGHBORS} counts every row alike; leave it out, with "
            f"--drop {printable(request.weight)} if the column is not to be looked at"
        )


def written_in_words(path: Path, n_rows: int) -> str:
    """What is said of a model file that holds rows: how large they make it.

    Parameters
    ----------
    path : Path
        A file that was written.
    n_rows : int
        How many rows it holds.
    """
    return f"model, {path.stat().st_size:,} bytes: it holds the {n_rows:,} rows of the fit"
