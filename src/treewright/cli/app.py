"""The commands and their options: ``sys.argv`` becomes a call of a command's module.

Nothing heavy is imported here, so that ``--help`` answers at once: each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from treewright.cli.options import (
    AS_IT_IS,
    AnyCost,
    Calendar,
    Color,
    ColorName,
    ContributionKind,
    Cost,
    Data,
    Drop,
    Force,
    FormatName,
    Jobs,
    Json,
    ModelFile,
    Nominal,
    Numeric,
    Ordinal,
    OutText,
    ParameterForm,
    Positive,
    PositiveOfMeasures,
    PruneSettings,
    Reading,
    Seed,
    Settings,
    SkipMissingTarget,
    Target,
    TaskChoice,
    TaskName,
    Truth,
    Types,
    Unseen,
    Weight,
    Width,
    declare,
    with_reading,
)
from treewright.cli.shorthand import OF_A_FIT, OF_A_PRUNING, Hinting, with_settings
from treewright.cli.streams import check_files, input_path, output_path
from treewright.cli.terminal import UsageRefusal, drop_stdout, note, note_stopped, refusals, say, unwritten_stdout
from treewright.exceptions import status_of_stop
from treewright.version import __version__

__all__ = ["app", "main"]

# The same as in ``export.formats`` and ``export.engines``, which are not loaded at the start.
EXPORTS = "c, javascript, python, java, pmml, onnx, onnx-v3, duckdb, sqlite, postgresql, graphviz, json"
ENGINES = "gcc, node, python, java, pmml, onnxruntime, duckdb, sqlite, postgres"

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
@with_settings(OF_A_FIT)
@with_reading()
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
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Learn from Parquet files in blocks, within this memory (4GB); no row is held out.",
        ),
    ] = None,
    test_size: Annotated[
        float, typer.Option("--test-size", help="Share of rows held out for the score; 0 fits on all rows.")
    ] = 0.25,
    cv: Annotated[
        int | None,
        typer.Option("--cv", metavar="FOLDS", help="Score by cross-validation; the tree is fitted on all rows."),
    ] = None,
    nominal: Nominal = None,
    ordinal: Ordinal = None,
    numeric: Numeric = None,
    calendar: Calendar = None,
    types: Types = None,
    drop: Drop = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    unseen: Unseen = None,
    read: Reading = AS_IT_IS,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=output_path, metavar="FILE", help="Save the model.", rich_help_panel="Output"),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            parser=output_path,
            metavar="FILE",
            help="Draw the tree; as PNG or PDF if FILE ends so.",
            rich_help_panel="Output",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            parser=output_path,
            metavar="FILE.html",
            help="Write a report page: evaluated on the held-out rows, or on all rows if none are held out.",
            rich_help_panel="Output",
        ),
    ] = None,
    force: Force = False,
    prune: Annotated[
        str | None,
        typer.Option(
            "--prune",
            metavar="HOW",
            help="Prune the tree: ccp-1se, ccp-min, leaves, reduced-error, error-based, mdl, ..., or none. "
            "By default ccp-min, for one cart tree whose size no other option limits.",
        ),
    ] = None,
    prune_settings: PruneSettings = None,
    cost: Cost = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            metavar="AT",
            help="Predict one of two classes if its probability is at least this; or precision=0.9, recall=0.9: chosen "
            "by cross-validation.",
        ),
    ] = None,
    positive: Positive = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="List the test and the gain of every node.", rich_help_panel="Output")
    ] = False,
    json: Json = False,
) -> None:
    """Fit a tree, or many, to a table, show it, and score it on held-out rows."""
    with refusals(data):
        check_files({"DATA": data}, {"--out": out, "--svg": svg, "--report": report})
        from treewright.cli.fit import run_fit
        from treewright.cli.prune import NO_PRUNING, asked_pruning, option_words
        from treewright.cli.request import FitRequest

        wanted = None
        if (cost, threshold) != (None, None):
            from treewright.cli.threshold import asked_threshold

            wanted = asked_threshold(cost, threshold)
        choose_size, prune = prune is None, None if prune == NO_PRUNING else prune
        if prune is None and prune_settings:
            raise UsageRefusal(f"--prune-set {prune_settings[0]} is an option of a pruner: name one with --prune")
        pruned = {} if prune is None else option_words(prune_settings or (), "--prune-set")
        request = FitRequest(
            data=data,
            target=target,
            algorithm=algorithm,
            task=task.value,
            settings=tuple(settings or ()),
            declared=declare(nominal or (), ordinal or (), numeric or (), types or (), calendar or ()),
            drop=tuple(drop or ()),
            weight=weight,
            skip_missing_target=skip_missing_target,
            reading=read.options(),
            unseen=None if unseen is None else unseen.value,
            test_size=test_size,
            n_folds=cv,
            seed=seed,
            out=out,
            svg=svg,
            report=report,
            force=force,
            jobs=jobs,
            memory=memory,
            trace=trace,
            json=json,
            prune=None if prune is None else asked_pruning(f"--prune {prune or repr(prune)}", prune, pruned),
            choose_size=choose_size,
            threshold=wanted,
            positive=positive,
        )
        run_fit(request)


@app.command()
@with_reading()
def predict(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=output_path,
            metavar="FILE",
            help="Write the CSV here, not to the screen; Parquet if FILE ends so. For a folder of files: a folder.",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column of probabilities per class.")] = False,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval", metavar="SHARE", help="Add the ends of an interval that contains, say, 0.9 of rows."
        ),
    ] = None,
    quantiles: Annotated[
        list[str] | None,
        typer.Option("--quantiles", metavar="0.1,0.5,..", help="Add columns of quantiles; regression forests."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="Copy this column of DATA before the predictions; repeatable."),
    ] = None,
    guard: Annotated[
        bool, typer.Option("--guard/--no-guard", help="Put an apostrophe before texts that a spreadsheet would run.")
    ] = True,
    read: Reading = AS_IT_IS,
    force: Force = False,
) -> None:
    """Predict every row of a table, or of a folder of tables, and write CSV or Parquet."""
    with refusals(data):
        check_files({"MODEL": model, "DATA": data}, {"--out": out})
        from treewright.cli.predict import Answers, run_predict

        options = read.options()
        words = tuple(part.strip() for word in quantiles or () for part in word.split(","))
        run_predict(
            model,
            data,
            options,
            out,
            answers=Answers(proba, words, interval, tuple(dict.fromkeys(keep or ()))),
            force=force,
            guard=guard,
        )


@app.command()
@with_reading()
def explain(
    model: ModelFile,
    data: Data,
    kind: Annotated[
        ContributionKind, typer.Option("--kind", help="How unknown columns are treated; see the guide.")
    ] = ContributionKind.path,
    order: Annotated[
        int, typer.Option("--order", min=1, max=2, help="2 adds the interactions of pairs of columns.")
    ] = 1,
    background: Annotated[
        Path | None,
        typer.Option(
            "--background", parser=input_path, metavar="FILE", help="Background rows; for --kind interventional."
        ),
    ] = None,
    row: Annotated[
        int | None, typer.Option("--row", min=0, metavar="N", help="Explain this row alone, counted from 0.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=output_path,
            metavar="FILE",
            help="Write a line for each row here, CSV or Parquet; or a page, .html.",
        ),
    ] = None,
    guard: Annotated[
        bool, typer.Option("--guard/--no-guard", help="Put an apostrophe before texts that a spreadsheet would run.")
    ] = True,
    read: Reading = AS_IT_IS,
    force: Force = False,
) -> None:
    """Compute what each column contributes to the predictions; the contributions add up to them."""
    with refusals(data):
        check_files({"MODEL": model, "DATA": data, "--background": background}, {"--out": out})
        from treewright.cli.explain import Question, run_explain

        run_explain(
            model,
            data,
            read.options(),
            out,
            question=Question(kind.value, order, background, row),
            force=force,
            guard=guard,
        )


@app.command()
def export(
    model: ModelFile,
    out: Annotated[
        Path,
        typer.Option("--out", parser=output_path, metavar="FILE", help="The file; its ending determines the format."),
    ],
    format: Annotated[  # noqa: A002 - what users type
        str | None, typer.Option("--format", metavar="NAME", help=f"The format, for any ending: {EXPORTS}.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The name of the functions, as NAME_predict in C.")
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option("--vectors", parser=output_path, metavar="FILE", help="Write test vectors there, for verify."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a model as a file that works without Treewright: source code, SQL, ONNX, PMML or JSON."""
    with refusals(model):
        check_files({"MODEL": model}, {"--out": out, "--vectors": vectors})
        from treewright.cli.export import run_export

        run_export(model, out, format=format, name=name, vectors=vectors, force=force)


@app.command()
def verify(
    source: Annotated[Path, typer.Argument(parser=input_path, metavar="FILE", help="A file that export wrote.")],
    vectors: Annotated[Path, typer.Option("--vectors", parser=input_path, metavar="FILE", help="Its test vectors.")],
    engine: Annotated[
        str | None, typer.Option("--with", metavar="PROGRAM", help=f"The program that runs it: {ENGINES}.")
    ] = None,
) -> None:
    """Run an exported file in its own program on the test vectors, and print how far it is from the model."""
    with refusals(source):
        check_files({"FILE": source, "--vectors": vectors}, {})
        from treewright.cli.export import run_verify

        run_verify(source, vectors, engine)


@app.command(name="import")
def import_model(
    source: Annotated[
        Path, typer.Argument(parser=input_path, metavar="FILE", help="A model file that another library wrote.")
    ],
    out: Annotated[Path, typer.Option("--out", parser=output_path, metavar="MODEL", help="The model file to write.")],
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COL", help="The name of the target, which these files do not contain."),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option("--classes", metavar="A,B,..", help="The names of the classes 0, 1, ... of the file."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B,..", help="The names of the columns, if the model has none.")
    ] = None,
    unseen: Annotated[
        str | None,
        typer.Option("--unseen", metavar="WAY", help="How unseen levels are treated: missing, error, majority."),
    ] = None,
    force: Force = False,
) -> None:
    """Read a model of XGBoost, LightGBM, CatBoost or ONNX and write it as a model file for the other commands."""
    with refusals(source):
        check_files({"FILE": source}, {"--out": out})
        from treewright.cli.export import run_import

        given = {"classes": classes, "columns": columns}
        lists = {name: words and [word.strip() for word in words.split(",")] for name, words in given.items()}
        names = {"target": target, **lists, "unseen": unseen}
        run_import(source, out, names, force=force)


@app.command()
@with_reading()
def evaluate(
    model: ModelFile,
    data: Data,
    target: Truth = None,
    importances: Annotated[
        bool,
        typer.Option("--importances", help="Also print how much worse the trees predict when a column is shuffled."),
    ] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="95 % intervals next to precision and recall, also in a pipe.")
    ] = False,
    cost: Cost = None,
    positive: Positive = None,
    skip_missing_target: SkipMissingTarget = False,
    read: Reading = AS_IT_IS,
    json: Json = False,
    color: Color = ColorName.auto,
    width: Width = None,
) -> None:
    """Score a model on rows whose target is known."""
    with refusals(data):
        check_files({"MODEL": model, "DATA": data}, {})
        from treewright.cli.evaluate import run_evaluate

        options = read.options()
        run_evaluate(
            model,
            data,
            options,
            target,
            skip_missing_target=skip_missing_target,
            importances=importances,
            intervals=intervals,
            cost=cost,
            positive=positive,
            as_json=json,
            color=color.value,
            width=width,
        )


@app.command()
@with_reading(hidden=True)
def show(
    model: ModelFile,
    form: Annotated[
        FormatName | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="text, svg, png, pdf, dot, json, rules or rules-csv; by default the ending of --out, else text.",
        ),
    ] = None,
    tree: Annotated[
        int | None, typer.Option("--tree", metavar="N", help="Which of many trees, from 0; without it, a summary.")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", metavar="N", help="The depth to show; text and pictures.")
    ] = None,
    max_nodes: Annotated[
        int | None, typer.Option("--max-nodes", metavar="N", help="The most nodes to show, 0 for all; text.")
    ] = None,
    surrogates: Annotated[
        bool, typer.Option("--surrogates", help="List the surrogate tests below each node; text.")
    ] = False,
    importances: Annotated[
        bool, typer.Option("--importances", help="How much each column lowered the impurity, instead of the trees.")
    ] = False,
    out: OutText = None,
    audit: Annotated[bool, typer.Option("--audit", hidden=True)] = False,
    data: Annotated[Path | None, typer.Option("--data", hidden=True, parser=input_path)] = None,
    row: Annotated[int | None, typer.Option("--row", hidden=True)] = None,
    to: Annotated[str | None, typer.Option("--to", hidden=True)] = None,
    node: Annotated[int | None, typer.Option("--node", hidden=True)] = None,
    every: Annotated[str | None, typer.Option("--every", hidden=True)] = None,
    target: Annotated[str | None, typer.Option("--target", hidden=True)] = None,
    skip_missing_target: Annotated[bool, typer.Option("--skip-missing-target", hidden=True)] = False,
    read: Reading = AS_IT_IS,
    force: Force = False,
    color: Color = ColorName.auto,
    width: Width = None,
) -> None:
    """Show a model: as text, picture, graph, data or rules."""
    # show --audit and show --row are the old words for the commands audit and follow; they still work.
    with refusals(data):
        check_files({"MODEL": model, "--data": data}, {"--out": out})
        from treewright.cli.show import FollowRequest, check_words, run_audit, run_follow, run_show

        looks = {f"--color {color.value}": None if color is ColorName.auto else color, "--width": width}
        check_words(
            audit=audit,
            row=row is not None,
            form="text" if form is None else form.value,
            for_views={
                "--max-depth": max_depth,
                "--max-nodes": max_nodes,
                "--surrogates": surrogates or None,
                "--importances": importances or None,
            },
            for_views_and_rows={"--tree": tree, **looks},
            for_audits={
                "--node": node,
                "--every": every,
                "--target": target,
                "--skip-missing-target": skip_missing_target or None,
            },
            for_audits_and_rows={
                "--data": data,
                **read.given(),
            },
            for_rows={"--to": to},
        )
        if row is not None:
            options = read.options()
            run_follow(
                FollowRequest(model, data, row, to, tree, options, out, force, color.value, width, asked="--row")
            )
            note(f"show --row has become a command of its own: treewright follow {model} {data} --row {row}")
        elif audit:
            run_audit(
                model,
                data,
                read.options(),
                node=node or 0,
                every=every,
                target=target,
                skip_missing_target=skip_missing_target,
                out=out,
                force=force,
                asked="--audit",
            )
            note(f"show --audit has become a command of its own: treewright audit {model} {data}")
        else:
            run_show(
                model,
                None if form is None else form.value,
                max_depth,
                out,
                max_nodes=max_nodes,
                surrogates=surrogates,
                tree=tree,
                importances=importances,
                force=force,
                color=color.value,
                width=width,
            )


@app.command()
@with_reading()
def audit(
    model: ModelFile,
    data: Data,
    node: Annotated[
        int, typer.Option("--node", metavar="N", help="The node, by its number in show; 0 is the root.")
    ] = 0,
    every: Annotated[str | None, typer.Option("--every", metavar="COL", help="List every cut of this column.")] = None,
    target: Truth = None,
    skip_missing_target: SkipMissingTarget = False,
    read: Reading = AS_IT_IS,
    out: OutText = None,
    force: Force = False,
) -> None:
    """Show how a split is chosen: every candidate of a node on these rows, with the arithmetic by hand."""
    with refusals(data):
        check_files({"MODEL": model, "DATA": data}, {"--out": out})
        from treewright.cli.show import run_audit

        run_audit(
            model,
            data,
            read.options(),
            node=node,
            every=every,
            target=target,
            skip_missing_target=skip_missing_target,
            out=out,
            force=force,
        )


@app.command()
@with_reading()
def follow(
    model: ModelFile,
    data: Data,
    row: Annotated[
        int, typer.Option("--row", metavar="N", help="Which row of DATA, from 0.", show_default=False)
    ] = ...,  # type: ignore[assignment]
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="CLASS",
            help="The class to predict instead, by default any other; in regression '>=5' or '<=5'.",
        ),
    ] = None,
    tree: Annotated[int | None, typer.Option("--tree", metavar="N", help="Which of many trees, from 0.")] = None,
    read: Reading = AS_IT_IS,
    out: OutText = None,
    force: Force = False,
    color: Color = ColorName.auto,
    width: Width = None,
) -> None:
    """Follow one row: its path through the tree, its leaf, and what would have to change for another prediction."""
    with refusals(data):
        check_files({"MODEL": model, "DATA": data}, {"--out": out})
        from treewright.cli.show import FollowRequest, run_follow

        options = read.options()
        run_follow(FollowRequest(model, data, row, to, tree, options, out, force, color.value, width))


@app.command()
@with_reading()
def report(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            parser=output_path,
            metavar="FILE.html",
            help="The page; FILE.json: its summary as numbers.",
            show_default=False,
        ),
    ],
    target: Truth = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The heading of the page.")] = None,
    cv: Annotated[
        str,
        typer.Option(
            "--cv",
            metavar="FOLDS",
            help="What evaluates the pruned trees: 2 folds or more, or none: the rows of DATA. auto: ten folds if DATA "
            "holds the training rows, else none.",
        ),
    ] = "auto",
    curves: Annotated[
        list[str] | None,
        typer.Option("--curves", metavar="learning,depth", help="Curves that need many fits; none by default."),
    ] = None,
    examples: Annotated[
        int,
        typer.Option("--examples", metavar="N", help="Rows of DATA to follow through the tree; 0: the page has none."),
    ] = 50,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="For folds, and for everything else that is random.")
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", metavar="N", help="Threads; every processor by default. The page is the same for any number."
        ),
    ] = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    read: Reading = AS_IT_IS,
    force: Force = False,
) -> None:
    """Write a page about a model, evaluated on rows whose target is known: one HTML file that needs no network."""
    with refusals(data):
        check_files({"MODEL": model, "DATA": data}, {"--out": out})
        from treewright.cli.report import ReportRequest, run_report

        run_report(
            ReportRequest(
                model=model,
                data=data,
                out=out,
                target=target,
                weight=weight,
                skip_missing_target=skip_missing_target,
                reading=read.options(),
                cv=cv,
                curves=tuple(curves or ()),
                examples=examples,
                title=title,
                seed=seed,
                jobs=jobs,
                force=force,
            )
        )


@app.command(cls=Hinting)
@with_settings(OF_A_PRUNING)
@with_reading()
def prune(
    model: ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Rows with their target: the training rows for error-based, other rows for reduced-error, "
            "any rows to see the score.",
            show_default=False,
            parser=input_path,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="cost-complexity, depth, leaves, reduced-error, error-based, pessimistic, minimum-error, "
            "significance, description-length (or mdl), merge-equal-leaves; for gradient boosting: rounds.",
            show_default=False,
        ),
    ] = ...,  # type: ignore[assignment]
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the method, such as alpha=0.01, max_leaves=8 or n_rounds=50.",
        ),
    ] = None,
    target: Truth = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    read: Reading = AS_IT_IS,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=output_path, metavar="FILE", help="Save the pruned model.", rich_help_panel="Output"
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            parser=output_path,
            metavar="FILE",
            help="Write every pruned node with its numbers as CSV.",
            rich_help_panel="Output",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Prune a model's tree; the model file itself does not change."""
    with refusals(data):
        check_files({"MODEL": model, "DATA": data}, {"--out": out, "--log": log})
        from treewright.cli.prune import PruneRequest, check_idle, run_prune

        check_idle(
            data,
            {
                "--target": target,
                "--weight": weight,
                "--skip-missing-target": skip_missing_target or None,
                **read.given(),
            },
        )
        run_prune(
            PruneRequest(
                model=model,
                method=method,
                data=data,
                settings=tuple(settings or ()),
                target=target,
                weight=weight,
                skip_missing_target=skip_missing_target,
                reading=read.options(),
                out=out,
                log=log,
                force=force,
            )
        )


@app.command(cls=Hinting)
@with_settings(OF_A_FIT)
@with_reading()
def compare(
    data: Data,
    target: Target,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate",
            "--algorithm",
            metavar="ALGORITHM[+PRUNING]",
            help="Such as cart, cart+ccp-1se or forest; may be repeated. By default a list that suits the target.",
        ),
    ] = None,
    task: TaskChoice = TaskName.auto,
    settings: Settings = None,
    prune_settings: PruneSettings = None,
    cv: Annotated[int, typer.Option("--cv", metavar="FOLDS", help="Folds of the cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Repetitions, each on other folds.")] = 1,
    scoring: Annotated[
        str | None,
        typer.Option(
            "--scoring",
            "--measure",
            metavar="NAME,...",
            help="Scores of scikit-learn, such as roc_auc,log_loss, or cost; the first decides. By default what "
            "chooses the models: cost, else the weights of classes, else accuracy or R2; for unequal classes also "
            "balanced accuracy, ROC AUC and log loss.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="CANDIDATE", help="The others are compared with it; by default the best."),
    ] = None,
    cost: AnyCost = None,
    threshold: Annotated[
        str | None,
        typer.Option("--threshold", metavar="AT", help="As for fit: each candidate predicts by such a threshold."),
    ] = None,
    positive: PositiveOfMeasures = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    nominal: Nominal = None,
    ordinal: Ordinal = None,
    numeric: Numeric = None,
    calendar: Calendar = None,
    types: Types = None,
    drop: Drop = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    unseen: Unseen = None,
    read: Reading = AS_IT_IS,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=output_path, metavar="FILE", help="Write the table as CSV.", rich_help_panel="Output"
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compare algorithms and pruners by cross-validation on the same folds."""
    with refusals(data):
        check_files({"DATA": data}, {"--out": out})
        from treewright.cli.compare import CompareRequest, run_compare
        from treewright.cli.prune import option_words
        from treewright.cli.request import FitRequest
        from treewright.cli.threshold import asked_threshold, costs_given, is_of_two

        decides = cost if cost is not None and is_of_two(cost) else None
        shared = FitRequest(
            data=data,
            target=target,
            task=task.value,
            settings=tuple(settings or ()),
            declared=declare(nominal or (), ordinal or (), numeric or (), types or (), calendar or ()),
            drop=tuple(drop or ()),
            weight=weight,
            skip_missing_target=skip_missing_target,
            reading=read.options(),
            unseen=None if unseen is None else unseen.value,
            seed=seed,
            force=force,
            jobs=jobs,
            threshold=asked_threshold(decides, threshold),
            positive=positive,
        )
        # A word without any candidate stays, to be refused: an empty word is a mistake, not the default.
        named = [[part.strip() for part in word.split(",") if part.strip()] or [word] for word in candidate or ()]
        words = tuple(part for parts in named for part in parts)
        run_compare(
            CompareRequest(
                shared,
                words,
                prune_options=option_words(prune_settings or (), "--prune-set"),
                n_folds=cv,
                repeats=repeats,
                scoring=() if scoring is None else tuple(name.strip() for name in scoring.split(",")),
                baseline=baseline,
                cost=None if cost is None else costs_given(cost),
                out=out,
                json=json,
            )
        )


@app.command()
@with_reading()
def workbench(
    data: Data,
    target: Target,
    session: Annotated[
        Path | None,
        typer.Option(
            "--session",
            parser=output_path,
            metavar="FILE.json",
            help="Saves the session after every command, and continues it; by default DATA.session.json here.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            parser=input_path,
            metavar="MODEL",
            help="Begin with this tree; for many trees, a surrogate tree.",
        ),
    ] = None,
    task: TaskChoice = TaskName.auto,
    settings: Settings = None,
    held_out: Annotated[
        float | None, typer.Option("--held-out", help="Share of rows held out; 0.25 by default, 0: none.")
    ] = None,
    sealed: Annotated[
        float | None, typer.Option("--sealed", help="Share of rows for one final evaluation; none by default.")
    ] = None,
    seed: Seed = 0,
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", help="The name of the person who decides, for the log.")
    ] = None,
    fitting: Annotated[
        bool, typer.Option("--fitting", help="If the rows have changed: replay the commands that still apply.")
    ] = False,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="What judges the tree, such as balanced_accuracy, roc_auc, log_loss, f1 or cost; the page can change "
            "it. By default what chooses the tree: cost, else the weights of classes, else accuracy or R2.",
        ),
    ] = None,
    cost: AnyCost = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", metavar="AT", help="Predict one of two classes from this probability on."),
    ] = None,
    positive: PositiveOfMeasures = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 chooses a free port.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser, or print its address only.")
    ] = True,
    nominal: Nominal = None,
    ordinal: Ordinal = None,
    numeric: Numeric = None,
    calendar: Calendar = None,
    types: Types = None,
    drop: Drop = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    unseen: Unseen = None,
    read: Reading = AS_IT_IS,
) -> None:
    """Grow and prune a tree by hand in the browser; every decision is logged and can be undone."""
    with refusals(data):
        check_files({"DATA": data, "--model": model}, {"--session": session})
        from treewright.cli.request import FitRequest
        from treewright.cli.threshold import costs_given
        from treewright.cli.workbench import Beginning, run_workbench

        request = FitRequest(
            data=data,
            target=target,
            task=task.value,
            settings=tuple(settings or ()),
            declared=declare(nominal or (), ordinal or (), numeric or (), types or (), calendar or ()),
            drop=tuple(drop or ()),
            weight=weight,
            skip_missing_target=skip_missing_target,
            reading=read.options(),
            unseen=None if unseen is None else unseen.value,
            seed=seed,
        )
        costs = None if cost is None else costs_given(cost)
        judging = {"cost": costs, "threshold": threshold, "positive": positive}
        run_workbench(
            request, Beginning(session, model, held_out, sealed, who, fitting, port, browser, measure, judging)
        )


@app.command()
def parameters(
    algorithm: Annotated[
        str | None,
        typer.Argument(metavar="[ALGORITHM]", help="As for fit --algorithm; by default all of them."),
    ] = None,
    form: Annotated[ParameterForm, typer.Option("--format", help="As text, Markdown or JSON.")] = ParameterForm.text,
) -> None:
    """List the parameters that --set takes for an algorithm: names, defaults, values, units and meaning."""
    with refusals():
        from treewright.cli.parameters import run_parameters

        run_parameters(algorithm, form.value)


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
