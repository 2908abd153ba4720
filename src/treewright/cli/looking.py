"""The options of the commands that look at a model. In: words. Out: a call of their modules. Callers: cli.app.

Nothing heavy is imported here, as in ``cli.app``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treewright.cli.options import (
    Color,
    ColorName,
    Data,
    Encoding,
    Force,
    FormatName,
    MissingTokens,
    ModelFile,
    Separator,
    SkipMissingTarget,
    Weight,
    Width,
)  # fmt: skip
from treewright.cli.terminal import refusals

__all__ = ["evaluate", "report", "show"]


def evaluate(
    model: ModelFile,
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="The column with the truth; the model knows its own.")
    ] = None,
    importances: Annotated[
        bool, typer.Option("--importances", help="Also tell how much worse trees get when a column is shuffled.")
    ] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="95 % intervals beside precision and recall, also in a pipe.")
    ] = False,
    missing_tokens: MissingTokens = None,
    separator: Separator = None,
    encoding: Encoding = None,
    color: Color = ColorName.auto,
    width: Width = None,
) -> None:
    """Score a model on rows whose truth is known."""
    with refusals(data):
        from treewright.cli.declared import one_separator, split_tokens
        from treewright.cli.delimited import ReadOptions
        from treewright.cli.evaluate import run_evaluate

        options = ReadOptions(split_tokens(missing_tokens or ()), one_separator(separator), encoding)
        run_evaluate(
            model,
            data,
            options,
            target,
            importances=importances,
            intervals=intervals,
            color=color.value,
            width=width,
        )


def show(
    model: ModelFile,
    form: Annotated[
        FormatName, typer.Option("--format", metavar="FORM", help="text, svg, png, pdf, dot, json, rules or rules-csv.")
    ] = FormatName.text,
    tree: Annotated[
        int | None, typer.Option("--tree", metavar="N", help="Which of many trees, from 0; without it, a summary.")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", metavar="N", help="How deep; text and pictures.")
    ] = None,
    max_nodes: Annotated[
        int | None, typer.Option("--max-nodes", metavar="N", help="At most so many nodes, 0 for all; text.")
    ] = None,
    surrogates: Annotated[
        bool, typer.Option("--surrogates", help="Below each node, the tests that stand in for it; text.")
    ] = False,
    importances: Annotated[
        bool, typer.Option("--importances", help="How much each column lowered the impurity, instead of the trees.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it here, not on the screen.")] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="What a node could have asked, with the arithmetic; needs --data.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DATA", help="The rows: to audit, or that --row is one of.", rich_help_panel="Rows"
        ),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(
            "--row",
            metavar="N",
            help="Follow this row of --data, from 0: its way, its leaf, and what would have to change.",
            rich_help_panel="Rows",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="CLASS",
            help="The class that the row is to have instead, by default any other; of numbers '>=5' or '<=5'.",
            rich_help_panel="Rows",
        ),
    ] = None,
    node: Annotated[
        int | None, typer.Option("--node", metavar="N", help="Which node; 0, the root.", rich_help_panel="Audit")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option("--every", metavar="COL", help="List every cut of this column.", rich_help_panel="Audit"),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COL",
            help="The column with the truth; the model knows its own.",
            rich_help_panel="Audit",
        ),
    ] = None,
    skip_missing_target: Annotated[
        bool, typer.Option("--skip-missing-target", help="Leave out rows without a target.", rich_help_panel="Audit")
    ] = False,
    missing_tokens: MissingTokens = None,
    separator: Separator = None,
    encoding: Encoding = None,
    force: Force = False,
    color: Color = ColorName.auto,
    width: Width = None,
) -> None:
    """Show a model: as text, picture, graph, data or rules; audit one of its nodes; or follow a row."""
    with refusals(data):
        from treewright.cli.show import check_words, run_show

        looks = {f"--color {color.value}": None if color is ColorName.auto else color, "--width": width}
        check_words(
            audit=audit,
            row=row is not None,
            form=form.value,
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
                "--missing-tokens": missing_tokens,
                "--separator": separator,
                "--encoding": encoding,
            },
            for_rows={"--to": to},
        )
        if audit or row is not None:
            from treewright.cli.declared import one_separator, split_tokens
            from treewright.cli.delimited import ReadOptions

            options = ReadOptions(split_tokens(missing_tokens or ()), one_separator(separator), encoding)
        if row is not None:
            from treewright.cli.one_row import RowRequest, run_row

            run_row(
                RowRequest(
                    model=model,
                    data=data,
                    row=row,
                    to=to,
                    tree=tree,
                    reading=options,
                    out=out,
                    force=force,
                    color=color.value,
                    width=width,
                )
            )
            return
        if audit:
            from treewright.cli.audit import run_audit

            run_audit(
                model,
                data,
                options,
                node=node or 0,
                every=every,
                target=target,
                skip_missing_target=skip_missing_target,
                out=out,
                force=force,
            )
            return
        run_show(
            model,
            form.value,
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


def report(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE.html", help="The page; FILE.json: its summary as numbers.", show_default=False
        ),
    ],
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="The column with the truth; the model knows its own.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The heading of the page.")] = None,
    cv: Annotated[
        str,
        typer.Option(
            "--cv",
            metavar="FOLDS",
            help="What judges the pruned trees: 2 folds or more, or none: the rows of DATA. auto: ten folds where DATA "
            "is what the model was fitted on, else none.",
        ),
    ] = "auto",
    curves: Annotated[
        list[str] | None,
        typer.Option("--curves", metavar="learning,depth", help="Curves that take many fits; none by default."),
    ] = None,
    examples: Annotated[
        int,
        typer.Option(
            "--examples", metavar="N", help="Rows of DATA to follow through the tree; 0: none is in the page."
        ),
    ] = 50,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="For folds, and for all that is drawn at random.")
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", help="Threads; every processor by default. The page is the same."),
    ] = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    missing_tokens: MissingTokens = None,
    separator: Separator = None,
    encoding: Encoding = None,
    force: Force = False,
) -> None:
    """Write a page about a model, judged on rows whose truth is known: one HTML file that needs no network."""
    with refusals(data):
        from treewright.cli.declared import one_separator, split_tokens
        from treewright.cli.delimited import ReadOptions
        from treewright.cli.report import ReportRequest, run_report

        run_report(
            ReportRequest(
                model=model,
                data=data,
                out=out,
                target=target,
                weight=weight,
                skip_missing_target=skip_missing_target,
                reading=ReadOptions(split_tokens(missing_tokens or ()), one_separator(separator), encoding),
                cv=cv,
                curves=tuple(curves or ()),
                examples=examples,
                title=title,
                seed=seed,
                jobs=jobs,
                force=force,
            )
        )
