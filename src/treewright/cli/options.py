"""Words and options that several commands share. In: nothing. Out: types for typer. Callers: cli.app, cli.choosing."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class TaskName(StrEnum):
    """What the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class UnseenName(StrEnum):
    """What a level that fit never saw is taken for."""

    missing = "missing"
    error = "error"
    majority = "majority"
    other = "other"


class FormatName(StrEnum):
    """How a model is shown."""

    text = "text"
    svg = "svg"
    png = "png"
    pdf = "pdf"
    dot = "dot"
    json = "json"
    rules = "rules"
    rules_csv = "rules-csv"


class ColorName(StrEnum):
    """When the terminal is painted on."""

    auto = "auto"
    always = "always"
    never = "never"


Data = Annotated[Path, typer.Argument(metavar="DATA", help="CSV, TSV (plain or gzip) or Parquet.", show_default=False)]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that fit wrote.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace output files that exist.")]
MissingTokens = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-tokens",
        metavar="NA,n/a",
        help="Cells that mean missing, beside the empty cell.",
        rich_help_panel="Reading",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option("--separator", metavar="CHAR", help="Between cells; found by itself.", rich_help_panel="Reading"),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="utf-8, or what the file's mark says.", rich_help_panel="Reading"),
]
TaskChoice = Annotated[
    TaskName,
    typer.Option(
        "--task",
        help="auto: text, booleans and up to 20 different whole numbers are classes, other numbers are numbers.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter, such as max_depth=4; may be repeated."),
]
PruneSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--prune-set", metavar="NAME=VALUE", help="An option of the pruning, such as max_leaves=8; may be repeated."
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, help="For the rows held out, and for all that is drawn at random."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", help="Threads; every processor by default. The tree is the same."),
]
Nominal = Annotated[
    list[str] | None,
    typer.Option(
        "--nominal",
        metavar="COL[=LEVEL,..]",
        help="A column of names, with its levels if you list them; all: every column.",
        rich_help_panel="Columns",
    ),
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option(
        "--ordinal", metavar="COL=LOW,..,HIGH", help="A column of ranks, lowest first.", rich_help_panel="Columns"
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option("--numeric", metavar="COL", help="A column of numbers.", rich_help_panel="Columns"),
]
Types = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="COL=KIND", help="KIND: numeric, nominal or boolean.", rich_help_panel="Columns"),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help="A column to leave out.", rich_help_panel="Columns"),
]
Weight = Annotated[
    str | None, typer.Option("--weight", metavar="COL", help="A column of row weights.", rich_help_panel="Columns")
]
SkipMissingTarget = Annotated[
    bool, typer.Option("--skip-missing-target", help="Leave out rows without a target.", rich_help_panel="Columns")
]
Unseen = Annotated[
    UnseenName | None,
    typer.Option(
        "--unseen",
        help="What a level never seen means at predict; by default missing, and for knn other: another than all.",
        rich_help_panel="Columns",
    ),
]
Target = Annotated[str, typer.Option("--target", metavar="COL", help="The column to predict.", show_default=False)]
Color = Annotated[
    ColorName,
    typer.Option(
        "--color",
        help="auto: colours and bars where a person looks on, plain text in a pipe or file.",
        rich_help_panel="Screen",
    ),
]
Width = Annotated[
    int | None,
    typer.Option(
        "--width", metavar="N", help="Cells of a line; by default those of the window.", rich_help_panel="Screen"
    ),
]
