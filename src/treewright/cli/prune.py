"""``treewright prune``. In: a model file, perhaps rows. Out: the pruned model, what was cut. Callers: cli.app."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.cli.declared import parse_value
from treewright.cli.delimited import ReadOptions
from treewright.cli.labelled import labelled_rows, target_name
from treewright.cli.outputs import check_output, csv_of, write_text
from treewright.cli.prunings import method_named
from treewright.cli.scores import LabelScore, NumberScore, label_series
from treewright.cli.terminal import UsageRefusal, note, printable, progress, say
from treewright.prune.methods import METHODS

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["PruneRequest", "run_prune"]


@dataclass(frozen=True)
class PruneRequest:
    """Everything that was asked for on the command line; see ``treewright prune --help``."""

    model: Path
    method: str
    data: Path | None = None
    settings: tuple[str, ...] = ()
    target: str | None = None
    skip_missing_target: bool = False
    reading: ReadOptions = field(default_factory=ReadOptions)
    out: Path | None = None
    log: Path | None = None
    force: bool = False


def run_prune(request: PruneRequest) -> None:
    """Prune a model, tell what was cut, save the rest.

    Raises
    ------
    TreewrightError
        The model, the table, an option or an output was refused.
    UsageRefusal
        The words of the request contradict each other.
    """
    import treewright

    method = METHODS[method_named(request.method)]
    options = _options(request.settings, method.options())
    if method.needs != "none" and request.data is None:
        what = {"training": "the rows of the fit", "holdout": "rows that the tree was not grown on"}[method.needs]
        raise UsageRefusal(f"--method {request.method} needs {what}: give them as DATA, after MODEL")
    if request.out is not None and request.out == request.log:
        raise UsageRefusal(f"--out and --log name the same file {request.out}")
    check_output(request.out, request.force)
    check_output(request.log, request.force)
    model = treewright.load(request.model)
    rows: tuple[Any, ...] = ()
    if request.data is not None:
        name = target_name(model, request.model, request.target, "prune")
        with progress():
            rows = labelled_rows(model, request.data, request.reading, name, skip=request.skip_missing_target)
    with progress():
        pruned = model.prune(method.name, *(rows if method.needs != "none" else ()), **options)
    say(printable_lines(str(pruned.prune_log)))
    if rows:
        say()
        for what, each in (("before", model), ("after", pruned)):
            say(_score(each, rows).line(f"on {printable(request.data)} {what}:"))
        if method.needs == "holdout":
            note("the rows above have chosen what was cut: judge the tree on others")
    if request.log is not None:
        write_text(request.log, csv_of(pruned.prune_log.to_dict()), request.force)
        say(f"wrote {printable(request.log)} (log)")
    if request.out is None:
        note("the pruned model was not kept; --out pruned.tw saves it")
        return
    check_output(request.out, request.force)
    pruned.save(request.out)
    say(f"wrote {printable(request.out)} (model)")


def printable_lines(text: str) -> str:
    """Lines whose control characters are shown, not obeyed."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _options(words: tuple[str, ...], known: dict[str, Any]) -> dict[str, Any]:
    """Options of a method from ``name=value`` words."""
    options: dict[str, Any] = {}
    has = f"there are: {', '.join(known)}" if known else "this method has none"
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or name not in known:
            raise UsageRefusal(f"--set {word!r}: write it as option=value; {has}")
        if name in options:
            raise UsageRefusal(f"--set {name}: given twice")
        options[name] = parse_value(text)
    return options


def _score(model: Model, rows: tuple[Any, ...]) -> LabelScore | NumberScore:
    """How good a model is on rows with their truth."""
    predicted = np.asarray(model.predict(rows[0]))
    if model.task == "regression":
        score = NumberScore()
        score.add(rows[1].astype(np.float64), predicted)
        return score
    counted = LabelScore()
    counted.add(label_series("true", rows[1]), predicted)
    return counted
