"""The options of the commands that cut back and choose. In: words. Out: a call of their modules. Callers: cli.app.

Nothing heavy is imported here, as in ``cli.app``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    Target,
    TaskChoice,
    TaskName,
    Types,
    Unseen,
    Weight,
)  # fmt: skip
from treewright.cli.terminal import refusals

__all__ = ["compare", "prune"]


def prune(
    model: ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Rows with their target: those of the fit for error-based, others for reduced-error, "
            "any to see the score.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="cost-complexity, depth, leaves, reduced-error, error-based, pessimistic, minimum-error, "
            "significance, description-length (or mdl), merge-equal-leaves; of gradient boosting: rounds.",
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
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="The column with the truth; the model knows its own.")
    ] = None,
    weight: Weight = None,
    skip_missing_target: SkipMissingTarget = False,
    missing_tokens: MissingTokens = None,
    separator: Separator = None,
    encoding: Encoding = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Save the pruned model.", rich_help_panel="Output")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log", metavar="FILE", help="Write every cut with its numbers as CSV.", rich_help_panel="Output"
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Cut a model's tree back; the model file itself stays as it is."""
    with refusals(data):
        from treewright.cli.declared import one_separator, split_tokens
        from treewright.cli.delimited import ReadOptions
        from treewright.cli.prune import PruneRequest, check_words, run_prune

        check_words(
            data,
            {
                "--target": target,
                "--weight": weight,
                "--skip-missing-target": skip_missing_target or None,
                "--missing-tokens": missing_tokens,
                "--separator": separator,
                "--encoding": encoding,
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
                reading=ReadOptions(split_tokens(missing_tokens or ()), one_separator(separator), encoding),
                out=out,
                log=log,
                force=force,
            )
        )


def compare(
    data: Data,
    target: Target,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate",
            "--algorithm",
            metavar="ALGORITHM[+PRUNING]",
            help="Such as cart, cart+ccp-1se or forest; may be repeated. By default those that suit the target.",
        ),
    ] = None,
    task: TaskChoice = TaskName.auto,
    settings: Settings = None,
    prune_settings: PruneSettings = None,
    cv: Annotated[int, typer.Option("--cv", metavar="FOLDS", help="Folds of the cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Times it is done, on other folds.")] = 1,
    scoring: Annotated[
        str | None,
        typer.Option("--scoring", metavar="NAME", help="A score of scikit-learn; accuracy or R2 by default."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
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
        Path | None, typer.Option("--out", metavar="FILE", help="Write the table as CSV.", rich_help_panel="Output")
    ] = None,
    force: Force = False,
) -> None:
    """Compare algorithms and prunings by cross-validation on the same folds."""
    with refusals(data):
        from treewright.cli.compare import CompareRequest, run_compare
        from treewright.cli.declared import declare, one_separator, split_tokens
        from treewright.cli.delimited import ReadOptions
        from treewright.cli.learn import FitRequest
        from treewright.cli.prunings import option_words

        shared = FitRequest(
            data=data,
            target=target,
            task=task.value,
            settings=tuple(settings or ()),
            declared=declare(nominal or (), ordinal or (), numeric or (), types or ()),
            drop=tuple(drop or ()),
            weight=weight,
            skip_missing_target=skip_missing_target,
            reading=ReadOptions(split_tokens(missing_tokens or ()), one_separator(separator), encoding),
            unseen=None if unseen is None else unseen.value,
            seed=seed,
            force=force,
            jobs=jobs,
        )
        # A word without any candidate stays as it is, to be refused: an empty one is a mistake, not "by default".
        named = [[part.strip() for part in word.split(",") if part.strip()] or [word] for word in candidate or ()]
        words = tuple(part for parts in named for part in parts)
        run_compare(
            CompareRequest(
                shared,
                words,
                prune_options=option_words(prune_settings or (), "--prune-set"),
                n_folds=cv,
                repeats=repeats,
                scoring=scoring,
                out=out,
            )
        )
