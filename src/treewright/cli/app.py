"""The commands: ``sys.argv`` becomes a call of a command's module.

Nothing heavy is imported here, so that ``--help`` answers at once: each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from treewright.cli.options import (
    OF_A_FIT,
    OF_A_PRUNING,
    OF_A_SEARCH,
    AuditRequest,
    CompareRequest,
    EvaluateRequest,
    ExplainRequest,
    ExportRequest,
    FitRequest,
    FollowRequest,
    ImportRequest,
    NearOptimalRequest,
    ParametersRequest,
    PredictRequest,
    PruneRequest,
    ReportRequest,
    ShowRequest,
    VerifyRequest,
    WorkbenchRequest,
)
from treewright.cli.signature import Hinting, taking
from treewright.cli.terminal import drop_stdout, note, note_stopped, refusals, say, unwritten_stdout
from treewright.exceptions import status_of_stop
from treewright.version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="treewright",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Decision trees: fit one to a table, read it, score it, use it.",
    epilog="Exit codes: 0 done, 1 the input or the model was refused, 2 wrong usage, 130 stopped by Ctrl-C, "
    "143 stopped by SIGTERM. "
    "Environment: TREEWRIGHT_CACHE_DIR: the folder of compiled kernels, TREEWRIGHT_NUM_THREADS: the number of threads.",
)


def _version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        with refusals():
            say(f"treewright {__version__}")
        raise typer.Exit


@app.callback()
def treewright(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Decision trees: fit one to a table, read it, score it, use it."""
    del version  # its callback has done the work


@app.command(cls=Hinting)
@taking(FitRequest, short=OF_A_FIT)
def fit(request: FitRequest) -> None:
    """Fit a tree, or many, to a table, show it, and score it on held-out rows."""
    from treewright.cli.fit import run_fit

    run_fit(request)


@app.command()
@taking(PredictRequest)
def predict(request: PredictRequest) -> None:
    """Predict every row of a table, or of a folder of tables, and write CSV or Parquet."""
    from treewright.cli.predict import run_predict

    run_predict(request)


@app.command()
@taking(ExplainRequest)
def explain(request: ExplainRequest) -> None:
    """Compute what each column contributes to the predictions; the contributions add up to them."""
    from treewright.cli.explain import run_explain

    run_explain(request)


@app.command()
@taking(ExportRequest, about="model")
def export(request: ExportRequest) -> None:
    """Write a model as a file that works without Treewright: source code, SQL, ONNX, PMML or JSON."""
    from treewright.cli.export import run_export

    run_export(request)


@app.command()
@taking(VerifyRequest, about="source")
def verify(request: VerifyRequest) -> None:
    """Run an exported file in its own program on the test vectors, and print how far it is from the model."""
    from treewright.cli.export import run_verify

    run_verify(request)


@app.command(name="import")
@taking(ImportRequest, about="source")
def import_model(request: ImportRequest) -> None:
    """Read a model of XGBoost, LightGBM, CatBoost or ONNX and write it as a model file for the other commands."""
    from treewright.cli.export import run_import

    run_import(request)


@app.command()
@taking(EvaluateRequest)
def evaluate(request: EvaluateRequest) -> None:
    """Score a model on rows whose target is known."""
    from treewright.cli.evaluate import run_evaluate

    run_evaluate(request)


@app.command(cls=Hinting)
@taking(ShowRequest)
def show(request: ShowRequest) -> None:
    """Show a model: as text, picture, graph, data or rules."""
    from treewright.cli.show import run_show

    run_show(request)


@app.command()
@taking(AuditRequest)
def audit(request: AuditRequest) -> None:
    """Show how a split is chosen: every candidate of a node on these rows, with the arithmetic by hand."""
    from treewright.cli.show import run_audit

    run_audit(request)


@app.command()
@taking(FollowRequest)
def follow(request: FollowRequest) -> None:
    """Follow one row: its path through the tree, its leaf, and what would have to change for another prediction."""
    from treewright.cli.show import run_follow

    run_follow(request)


@app.command()
@taking(ReportRequest)
def report(request: ReportRequest) -> None:
    """Write a page about a model, evaluated on rows whose target is known: one HTML file that needs no network."""
    from treewright.cli.report import run_report

    run_report(request)


@app.command(cls=Hinting)
@taking(PruneRequest, short=OF_A_PRUNING)
def prune(request: PruneRequest) -> None:
    """Prune a model's tree; the model file itself does not change."""
    from treewright.cli.prune import run_prune

    run_prune(request)


@app.command(cls=Hinting)
@taking(CompareRequest, short=OF_A_FIT)
def compare(request: CompareRequest) -> None:
    """Compare algorithms and pruners by cross-validation on the same folds."""
    from treewright.cli.compare import run_compare

    run_compare(request)


@app.command(name="near-optimal", cls=Hinting)
@taking(NearOptimalRequest, short=OF_A_SEARCH)
def near_optimal(request: NearOptimalRequest) -> None:
    """Count all trees that are nearly as good as the best one, and list the best of them."""
    from treewright.cli.near_optimal import run_near_optimal

    run_near_optimal(request)


@app.command()
@taking(WorkbenchRequest)
def workbench(request: WorkbenchRequest) -> None:
    """Grow and prune a tree by hand in the browser; every decision is logged and can be undone."""
    from treewright.cli.workbench import run_workbench

    run_workbench(request)


@app.command()
@taking(ParametersRequest)
def parameters(request: ParametersRequest) -> None:
    """List the parameters that --set takes for an algorithm: names, defaults, values, units and meaning."""
    from treewright.cli.parameters import run_parameters

    run_parameters(request)


@app.command()
def warmup() -> None:
    """Compile the kernels for one target (some minutes), so that the first fit runs at full speed."""
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
            _leave_help(causes)
            raise
        # The command's own exit has printed this; an exit that Typer makes of Ctrl-C has it as its cause.
        status, why = status_of_stop(causes[-1])
        if not any(isinstance(cause, typer.Exit) and cause.__cause__ is None for cause in causes):
            note_stopped(why)
        _leave(status)


def _causes(error: BaseException) -> list[BaseException]:
    """The error and its causes, down to Ctrl-C, from which Typer makes an exit and a broken import an error."""
    causes = [error]
    while not isinstance(causes[-1], KeyboardInterrupt):
        before = causes[-1].__cause__ or causes[-1].__context__
        if before is None:
            break
        causes.append(before)
    return causes


def _leave_help(causes: list[BaseException]) -> None:
    """Leave if standard output did not accept the help, which Typer prints; commands report that themselves."""
    if any(isinstance(cause, BrokenPipeError) for cause in causes):
        drop_stdout()
        sys.exit(0)
    if isinstance(causes[0], OSError) and causes[0].filename is None:
        drop_stdout()
        note(f"error: {unwritten_stdout(causes[0])}")
        sys.exit(1)


def _leave(status: int) -> NoReturn:
    """Leave at once, even while a thread still compiles: nothing would use its result."""
    threads = sys.modules.get("treewright.core.threads")
    if threads is not None and threads.is_busy():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    # After a Ctrl-C during exec (dataclasses use it), CPython under python -m kills itself with the signal at exit,
    # even though the signal has been handled; another exec resets that.
    exec("")  # noqa: S102 - of nothing
    sys.exit(status)
