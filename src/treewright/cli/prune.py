"""``treewright prune``. In: a model file, perhaps rows. Out: the pruned model, what was cut. Callers: cli.app."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.cli.delimited import ReadOptions
from treewright.cli.ensembles import is_ensemble
from treewright.cli.holdout import score_for
from treewright.cli.kinds_of_models import of_trees
from treewright.cli.labelled import target_name, weighted_rows
from treewright.cli.outputs import check_output, csv_of, guarded_labels, write_text
from treewright.cli.prunings import check_options, in_words, method_named, option_words, refuse_for_numbers
from treewright.cli.screen import say_prose
from treewright.cli.terminal import UsageRefusal, note, printable, printable_lines, progress, results_after, say
from treewright.exceptions import DataError, ParameterError
from treewright.judge.tallies import Score
from treewright.prune.methods import METHODS, Method, request_of

if TYPE_CHECKING:
    from treewright.fitted import Model

__all__ = ["PruneRequest", "check_words", "run_prune"]

_OPTIONS_OF_ROUNDS = ("n_rounds",)


@dataclass(frozen=True)
class PruneRequest:
    """Everything that was asked for on the command line; see ``treewright prune --help``."""

    model: Path
    method: str
    data: Path | None = None
    settings: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None
    skip_missing_target: bool = False
    reading: ReadOptions = field(default_factory=ReadOptions)
    out: Path | None = None
    log: Path | None = None
    force: bool = False


def check_words(data: Path | None, for_data: Mapping[str, object]) -> None:
    """Refuse options about rows where no rows are given.

    Parameters
    ----------
    data : Path or None
    for_data : mapping from option to its value
        None where it was not given.

    Raises
    ------
    UsageRefusal
    """
    idle = [option for option, value in for_data.items() if value is not None]
    if data is None and idle:
        raise UsageRefusal(f"{idle[0]} is about rows: give them as DATA, after MODEL")


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

    name = method_named(request.method)
    method = METHODS.get(name)  # None: rounds of gradient boosting are dropped
    options = option_words(request.settings, "--set")
    known = method.options() if method is not None else _OPTIONS_OF_ROUNDS
    check_options(options, known, "--set", name.replace("_", "-"))
    check_output(request.out, request.force)
    check_output(request.log, request.force)
    if request.out is not None and request.log is not None and request.out.resolve() == request.log.resolve():
        raise UsageRefusal(f"--out and --log name the same file {request.out}")
    model = of_trees(treewright.load(request.model), request.model, "prune")
    if method is None:
        _check_rounds(request, model, options)
    else:
        _check_method(request, method, model, options)
    rows: tuple[Any, ...] = ()
    if request.data is not None:
        target = target_name(model, request.model, request.target, "prune")
        score_for(model)  # refused before anything is pruned
        with progress():
            rows = weighted_rows(
                model, request.data, request.reading, target, request.weight, skip=request.skip_missing_target
            )
    with progress(), _methods_as_words():
        given = rows if method is None or method.needs != "none" else ()
        pruned = model.prune(name, *given, **options)
    with results_after(_write(request, pruned)):
        say_prose(printable_lines(str(pruned.prune_log)).replace("; to_dict() has them all", "; --log has them all"))
        if rows:
            say()
            for what, each in (("before", model), ("after", pruned)):
                say_prose(_score(each, rows).line(f"on {printable(request.data)} {what}:"))
            if method is None or method.needs == "holdout":
                what = "tree" if method is not None else "model"
                note(f"the rows above have chosen what was cut: judge the {what} on others")
    if request.out is None:
        note("the pruned model was not kept; --out pruned.tw saves it")


def _check_method(request: PruneRequest, method: Method, model: Model, options: dict[str, Any]) -> None:
    """Refuse a method that the model or the lack of rows rules out, before rows are read."""
    if is_ensemble(model):
        instead = "; of gradient boosting the last rounds can be dropped: --method rounds"
        raise UsageRefusal(
            f"--method {request.method} cuts one tree back, and {printable(request.model)} has {model.n_trees} that "
            f"answer together{instead if model.has_scores else ''}"
        )
    if model.task == "regression":
        refuse_for_numbers(
            f"--method {request.method}", method.name, f"{request.model} predicts numbers",
            "cost-complexity, minimum-error or significance, or reduced-error with rows kept aside",
        )  # fmt: skip
    with _methods_as_words():
        _, _, needs_rows = request_of(model, method.name, options)
    if needs_rows and request.data is None:
        what = {"training": "the rows of the fit", "holdout": "rows that the tree was not grown on"}[method.needs]
        raise UsageRefusal(f"--method {request.method} needs {what}: give them as DATA, after MODEL")


def _check_rounds(request: PruneRequest, model: Model, options: dict[str, Any]) -> None:
    """Refuse to drop rounds where there are none, or where it is not told which."""
    if not model.has_scores:
        raise UsageRefusal(
            f"--method rounds drops the last rounds of gradient boosting, and {printable(request.model)} is none"
        )
    if ("n_rounds" in options) == (request.data is not None):
        raise UsageRefusal(
            "--method rounds needs either --set n_rounds=N, or rows that the trees were not grown on: give them as "
            "DATA, after MODEL"
        )


def _write(request: PruneRequest, pruned: Model) -> list[str]:
    """Save what was asked for; a line about each file."""
    written = []
    if request.log is not None:
        write_text(request.log, _csv_of_log(pruned.prune_log.to_dict()), request.force)
        written.append(f"wrote {printable(request.log)} (log)")
    if request.out is not None:
        check_output(request.out, request.force)
        pruned.save(request.out)
        written.append(f"wrote {printable(request.out)} (model)")
    return written


@contextmanager
def _methods_as_words() -> Iterator[None]:
    """Refusals name methods as ``--method`` does, and no functions of Python."""
    try:
        yield
    except (ParameterError, DataError) as error:
        text = re.sub(r", as train_test_split\(.*?\) does", "", str(error))
        raise type(error)(in_words(text, "cost-complexity", "--set")) from None


def _csv_of_log(columns: Mapping[str, list[Any]]) -> str:
    """The cuts as CSV; names of columns and levels are the data's, and must not run in a spreadsheet."""
    return csv_of({name: guarded_labels(cells) if name == "test" else cells for name, cells in columns.items()})


def _score(model: Model, rows: tuple[Any, ...]) -> Score:
    """How good a model is on rows with their truth."""
    predicted, score = np.asarray(model.predict(rows[0])), score_for(model)
    score.add(rows[1], predicted)
    return score
