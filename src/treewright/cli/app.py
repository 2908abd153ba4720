"""The commands and their options. In: ``sys.argv``. Out: a call of a command's module. Callers: ``treewright``.

Nothing heavy is imported here, so that ``--help`` answers at once: each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from treewright.cli import choosing, looking
from treewright.cli.options import (
    Data,
    Drop,
    Encoding,
    Force,
    Jobs,
    MissingTokens,
    ModelFile,
    Nominal,
    Numeric,
    Ordinal,
    PruneSettings,
    Seed,
    Separator,
    Settings,
    SkipMissingTarget,
    TaskChoice,
    TaskName,
    Types,
    Unseen,
    Weight,
)  # fmt: skip
from treewright.cli.terminal import UsageRefusal, note, refusals
from treewright.version import __version__

__all__ = ["app", "main"]

_STOPPED = 130  # the exit code of a command that Ctrl-C has ended

app = typer.Typer(
    name="treewright",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Decision trees: grow one from a table, read it, score it, use it.",
    epilog="Exit codes: 0 done, 1 the input or the model was refused, 2 wrong usage, 130 stopped by Ctrl-C.",
)


def _version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        typer.echo(f"treewright {__version__}")
        raise typer.Exit


@app.callback()
def treewright(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Decision trees: grow one from a table, read it, score it, use it."""
    del version  # its callback has done the work


@app.command()
def fit(
    data: Data,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COL", help="The column to predict; needed by all but isolation."),
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            metavar="NAME",
            help="A tree: cart, id3, c45 or chaid; many: boosting, forest, extra-trees, bagging or adaboost; nearest "
            "neighbours: knn; outliers: isolation.",
        ),
    ] = "cart",
    task: TaskChoice = TaskName.auto,
    settings: Settings = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    test_size: Annotated[
        float, typer.Option("--test-size", help="Share of rows held out for the score; 0 fits on all.")
    ] = 0.25,
    cv: Annotated[
        int | None,
        typer.Option("--cv", metavar="FOLDS", help="Score by cross-validation; the tree is fitted on all rows."),
    ] = None,
    nominal: Nominal = None,
    ordinal: Ordinal = None,
    numeric: Numeric = None,
    types: Types = None,
    drop: Drop = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    unseen: Unseen = None,
    missing_tokens: MissingTokens = None,
    separator: Separator = None,
    encoding: Encoding = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Save the model.", rich_help_panel="Output")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", help="Draw the tree; as PNG or PDF where FILE ends so.", rich_help_panel="Output"
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE.html",
            help="Write a page about it: judged on the rows held out, on all rows where there are none.",
            rich_help_panel="Output",
        ),
    ] = None,
    force: Force = False,
    prune: Annotated[
        str | None,
        typer.Option(
            "--prune",
            metavar="HOW",
            help="Cut the grown tree back: ccp-1se, ccp-min, leaves, reduced-error, error-based, mdl, ...",
        ),
    ] = None,
    prune_settings: PruneSettings = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Tell node by node what was asked and gained.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Grow a tree, or many, from a table, show it, and score it on rows it did not see."""
    with refusals(data):
        from treewright.cli.algorithms import ISOLATION
        from treewright.cli.declared import declare, one_separator, split_tokens
        from treewright.cli.delimited import ReadOptions
        from treewright.cli.fit import run_fit
        from treewright.cli.learn import FitRequest
        from treewright.cli.prunings import asked_pruning, option_words

        if prune is None and prune_settings:
            raise UsageRefusal(f"--prune-set {prune_settings[0]} is an option of a pruning: name one with --prune")
        pruned = {} if prune is None else option_words(prune_settings or (), "--prune-set")
        request = FitRequest(
            data=data,
            target=target,
            algorithm=algorithm,
            task=task.value,
            settings=tuple(settings or ()),
            declared=declare(nominal or (), ordinal or (), numeric or (), types or ()),
            drop=tuple(drop or ()),
            weight=weight,
            skip_missing_target=skip_missing_target,
            reading=ReadOptions(split_tokens(missing_tokens or ()), one_separator(separator), encoding),
            unseen=None if unseen is None else unseen.value,
            test_size=test_size,
            n_folds=cv,
            seed=seed,
            out=out,
            svg=svg,
            report=report,
            force=force,
            jobs=jobs,
            trace=trace,
            prune=None if prune is None else asked_pruning(f"--prune {prune or repr(prune)}", prune, pruned),
        )
        if algorithm == ISOLATION:
            from treewright.cli.isolate import run_isolation

            run_isolation(request)
            return
        run_fit(request)


@app.command()
def predict(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the CSV here, not on the screen.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column of probabilities per class.")] = False,
    interval: Annotated[
        str | None,
        typer.Option("--interval", metavar="SHARE", help="Add the ends of an interval that holds, say, 0.9 of rows."),
    ] = None,
    quantiles: Annotated[
        list[str] | None,
        typer.Option("--quantiles", metavar="0.1,0.5,..", help="Add columns of quantiles; forests of numbers."),
    ] = None,
    guard: Annotated[
        bool, typer.Option("--guard/--no-guard", help="Put an apostrophe before texts a spreadsheet would run.")
    ] = True,
    missing_tokens: MissingTokens = None,
    separator: Separator = None,
    encoding: Encoding = None,
    force: Force = False,
) -> None:
    """Predict every row of a table; CSV comes out."""
    with refusals(data):
        from treewright.cli.declared import one_separator, split_tokens
        from treewright.cli.delimited import ReadOptions
        from treewright.cli.predict import Answers, run_predict

        options = ReadOptions(split_tokens(missing_tokens or ()), one_separator(separator), encoding)
        words = tuple(part.strip() for word in quantiles or () for part in word.split(","))
        run_predict(model, data, options, out, answers=Answers(proba, words, interval), force=force, guard=guard)


app.command()(looking.evaluate)
app.command()(looking.show)
app.command()(looking.report)
app.command()(choosing.prune)
app.command()(choosing.compare)


@app.command()
def warmup() -> None:
    """Compile the kernels for one target (several minutes), so that the first real work starts at full speed."""
    with refusals():
        from treewright.cli.warmup import run_warmup

        run_warmup()


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without box characters gets question marks, not an error
    try:
        app()
    except BaseException as error:
        causes = _causes(error)
        if not isinstance(causes[-1], KeyboardInterrupt):
            raise
        # An exit of the command's own has said so; one that Typer makes out of Ctrl-C names it as its cause.
        if not any(isinstance(cause, typer.Exit) and cause.__cause__ is None for cause in causes):
            note("stopped by Ctrl-C; nothing was written")
        _leave()


def _causes(error: BaseException) -> list[BaseException]:
    """The error and what it came of, down to Ctrl-C: Typer makes an exit of it, a broken import an error."""
    causes = [error]
    while not isinstance(causes[-1], KeyboardInterrupt):
        before = causes[-1].__cause__ or causes[-1].__context__
        if before is None:
            break
        causes.append(before)
    return causes


def _leave() -> NoReturn:
    """Leave at once, even where a thread still compiles: what it makes is of no use without us."""
    threads = sys.modules.get("treewright.core.threads")
    if threads is not None and threads.is_busy():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(_STOPPED)
    # After a Ctrl-C while a text is executed, as a dataclass in the making does, CPython would kill itself with the
    # signal where it runs a module (python -m), whoever has answered it since; the next text makes it forget.
    exec("")  # noqa: S102 - of nothing
    sys.exit(_STOPPED)
