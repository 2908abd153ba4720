"""``treewright prune``. In: a model, and rows if the method needs them. Out: a smaller model and the pruned nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.cli.holdout import score_for, warning_of
from treewright.cli.models import is_ensemble, load_model, of_trees, target_name, weighted_rows
from treewright.cli.options import PruneRequest
from treewright.cli.pruning import (
    OPTIONS_OF_ROUNDS,
    check_options,
    method_named,
    option_words,
    pruning_words,
    refuse_for_numbers,
)
from treewright.cli.show import say_tree
from treewright.cli.signature import given_options
from treewright.cli.streams import bytes_of, check_stdout, clear_stdout, is_standard, write_stdout
from treewright.cli.terminal import (
    UsageRefusal,
    check_output,
    csv_of,
    guarded_labels,
    note,
    printable,
    printable_lines,
    progress,
    results_after,
    say,
    say_prose,
    worded,
    write_text,
    wrote,
)
from treewright.evaluation.measures import Score
from treewright.exceptions import Phrase
from treewright.prune.methods import METHODS, Method, request_of

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["run_prune"]


def run_prune(request: PruneRequest) -> None:
    """Prune a model, print the pruned nodes, save the smaller model."""
    about_rows = given_options(request, "target", "weight", "skip_missing_target") | given_options(request.reading)
    idle = [option for option, value in about_rows.items() if value is not None]
    if request.data is None and idle:
        raise UsageRefusal(f"{idle[0]} is about rows: give them as DATA, after MODEL")
    is_piped = is_standard(request.out)
    check_stdout(request.out)
    with clear_stdout(is_piped):
        pruned = _pruned(replace(request, out=None) if is_piped else request, is_saved=request.out is not None)
    if is_piped:
        write_stdout(bytes_of(pruned))


def _pruned(request: PruneRequest, *, is_saved: bool) -> Any:
    """Prune, print the log and the scores; returns the pruned model."""
    name = method_named(request.method)
    method = METHODS.get(name)  # None: rounds of gradient boosting are dropped
    options = option_words(request.settings, "--set")
    known = method.options() if method is not None else OPTIONS_OF_ROUNDS
    check_options(options, known, "--set", name.replace("_", "-"))
    check_output(request.out, request.force)
    check_output(request.log, request.force)
    model = of_trees(load_model(request.model), request.model, "prune")
    if method is None:
        _check_rounds(request, model, options)
    else:
        _check_method(request, method, model, options)
    rows: tuple[Any, ...] = ()
    if request.data is not None:
        target = target_name(model, request.model, request.target, "prune")
        score_for(model)  # a model without a score is refused before anything is pruned
        with progress():
            rows = weighted_rows(
                model, request.data, request.reading.options, target, request.weight, skip=request.skip_missing_target
            )
    with progress("" if is_saved else "the pruned model is not saved; --out pruned.tw saves it"), worded(_prune_words):
        given = rows if method is None or method.needs != "none" else ()
        pruned = model.prune(name, *given, **options)
    with results_after(_write(request, pruned)):
        say_prose(printable_lines(str(pruned.prune_log)).replace("; to_dict() has them all", "; --log has them all"))
        if method is not None:
            say()
            say_tree(pruned, request.out)
        if rows:
            say()
            scores = {"before": _score(model, rows), "after": _score(pruned, rows)}
            for when, score in scores.items():
                say_prose(score.line(f"on {printable(request.data)} {when}:"))
            if model.threshold is not None:
                from treewright.cli.threshold import costs_that_chose

                if costs := costs_that_chose(model):
                    for when, score in scores.items():
                        say_prose(f"{when}: {costs.line(score)}")
            if warning := warning_of(scores["after"], pruned):
                say_prose(warning)
            if method is None or method.needs == "holdout":
                what = "tree" if method is not None else "model"
                note(f"the rows above have chosen what is pruned: evaluate the {what} on other rows")
    return pruned


def _check_method(request: PruneRequest, method: Method, model: Model, options: dict[str, Any]) -> None:
    """Refuse a method that does not suit the model, or that lacks rows, before rows are read."""
    if is_ensemble(model):
        instead = "; --method rounds drops the last rounds of gradient boosting"
        raise UsageRefusal(
            f"--method {request.method} prunes one tree, and {printable(request.model)} has {model.n_trees} that "
            f"predict together{instead if model.has_scores else ''}"
        )
    if model.task == "regression":
        refuse_for_numbers(
            f"--method {request.method}", method.name, f"{request.model} predicts numbers",
            "cost-complexity, minimum-error or significance, or reduced-error with held-out rows",
        )  # fmt: skip
    with worded(_prune_words):
        _, _, needs_rows = request_of(model, method.name, options)
    if needs_rows and request.data is None:
        what = {"training": "the training rows", "holdout": "rows that the tree was not fitted on"}[method.needs]
        raise UsageRefusal(f"--method {request.method} needs {what}: give them as DATA, after MODEL")


def _check_rounds(request: PruneRequest, model: Model, options: dict[str, Any]) -> None:
    """Refuse to drop rounds of a model without rounds, or without a number of rounds or rows to choose it."""
    if not model.has_scores:
        raise UsageRefusal(
            f"--method rounds drops the last rounds of gradient boosting, and {printable(request.model)} has no rounds"
        )
    if ("n_rounds" in options) == (request.data is not None):
        raise UsageRefusal(
            "--method rounds needs either --set n_rounds=N, or rows that the trees were not fitted on: give them as "
            "DATA, after MODEL"
        )


def _write(request: PruneRequest, pruned: Model) -> list[str]:
    """Save the files that the request names; returns a line about each."""
    written = []
    if request.log is not None:
        columns = pruned.prune_log.to_dict()
        if "test" in columns:  # names of columns and levels must not run as formulas in a spreadsheet
            columns["test"] = guarded_labels(columns["test"])
        write_text(request.log, csv_of(columns), request.force)
        written.append(wrote(request.log, "log"))
    if request.out is not None:
        check_output(request.out, request.force)
        pruned.save(request.out)
        written.append(wrote(request.out, "model"))
    return written


def _score(model: Model, rows: tuple[Any, ...]) -> Score:
    """The score of a model on rows with their target."""
    predicted, score = np.asarray(model.predict(rows[0])), score_for(model)
    score.add(rows[1], predicted)
    return score


def _prune_words(phrase: Phrase) -> str:
    """As ``pruning_words``, for ``treewright prune``, without the names of Python functions."""
    if phrase.kind == "draw rows":
        return "Choose rows that contain all classes"
    return pruning_words(phrase, "cost-complexity", "--set")
