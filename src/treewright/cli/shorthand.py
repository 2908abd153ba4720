"""The parameters people set most as options of their own, and what a wrong option should have been.

``--max-depth 3`` is ``--set max_depth=3``: the words end up in one list, so they are checked and told of in one way.
A command takes them by ``with_settings``, which adds the options of a table to its signature, where Typer reads them.
An option that a command has not is looked up among the parameters and among other libraries' names for them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

__all__ = ["OF_A_FIT", "OF_A_PRUNING", "Hinting", "with_settings"]

_PANEL = "Often set"

# Option -> parameter, what stands for its value, help.
OF_A_FIT: Mapping[str, tuple[str, str, str]] = {
    "--max-depth": ("max_depth", "N", "How deep a tree may grow."),
    "--max-leaves": ("max_leaf_nodes", "N", "How many leaves a tree may have."),
    "--min-leaf": ("min_samples_leaf", "N", "Rows that a leaf must hold at least."),
    "--criterion": ("criterion", "NAME", "What splits lower: gini, entropy, squared_error, ..."),
    "--class-weight": ("class_weight", "balanced|JSON", "How much the rows of each class count."),
    "--trees": ("n_estimators", "N", "Trees, or rounds of boosting."),
    "--rate": ("learning_rate", "NUMBER", "Share of each round of boosting that is added."),
    "--max-features": ("max_features", "N|SHARE|sqrt", "Columns that a split may choose from."),
    "--neighbors": ("n_neighbors", "N", "Neighbours that answer; knn."),
    "--alpha": ("ccp_alpha", "NUMBER", "The price of a leaf: the tree is cut back by it."),
}
OF_A_PRUNING: Mapping[str, tuple[str, str, str]] = {
    "--max-depth": ("max_depth", "N", "How deep the tree may stay; --method depth."),
    "--max-leaves": ("max_leaves", "N", "How many leaves may stay; --method leaves."),
    "--alpha": ("alpha", "NUMBER", "The price of a leaf; --method cost-complexity."),
}


def with_settings(table: Mapping[str, tuple[str, str, str]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command with an option ``settings`` the options of a table, each of which adds a word to it."""

    def extend(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*positional: Any, **given: Any) -> None:
            words = [
                f"{name}={value}"
                for option, (name, _, _) in table.items()
                if (value := given.pop(_key(option))) is not None
            ]
            given["settings"] = [*words, *(given["settings"] or ())] or None
            command(*positional, **given)

        known = list(inspect.signature(command, eval_str=True).parameters.values())
        after = [each.name for each in known].index("settings") + 1
        options = [
            inspect.Parameter(
                _key(option),
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=None,
                annotation=Annotated[
                    str | None, typer.Option(option, metavar=metavar, help=text, rich_help_panel=_PANEL)
                ],
            )
            for option, (_, metavar, text) in table.items()
        ]
        run.__signature__ = inspect.Signature([*known[:after], *options, *known[after:]])  # type: ignore[attr-defined]
        return run

    return extend


def _key(option: str) -> str:
    """The option's parameter of the function; another name than any that a command has."""
    return f"short_{option.strip('-').replace('-', '_')}"


class Hinting(TyperCommand):
    """A command that tells, of an option it has not, how the parameter meant is set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As Typer's; an unknown option is looked up before it is refused."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            name = getattr(error, "option_name", None)
            hint = _hint(name, ctx.command.name) if type(error).__name__ == "NoSuchOption" and name else ""
            if hint:
                error.message = f"No such option: {name}; {hint}"  # type: ignore[attr-defined]
                error.possibilities = None  # type: ignore[attr-defined]
            raise


def _hint(option: str, command: str) -> str:
    """How the parameter is set that an unknown option names, in our words or another library's; empty for none."""
    from treewright.cli.algorithms import OWN_OPTION, hint_for
    from treewright.cli.prune import every_option
    from treewright.learn.params import CLASSES, NUMBERS, parameters_of
    from treewright.learn.registry import ALGORITHMS

    name = option.strip("-").replace("-", "_")
    if command == "prune":
        table, known = OF_A_PRUNING, set(every_option())
    else:
        kinds = {each.params_class() for each in ALGORITHMS}
        table = OF_A_FIT
        known = {each for kind in kinds for task in (CLASSES, NUMBERS) for each in parameters_of(kind, task)}
    if name in OWN_OPTION:
        return f"use {OWN_OPTION[name]}"
    ours = {parameter: short for short, (parameter, _, _) in table.items()}
    meant = name if name in known else hint_for(name, known).removeprefix("here it is ")
    if meant in ours:
        return f"here it is {ours[meant]}"
    if meant in known:
        return f"it is set by --set {meant}=VALUE"
    if " or " in meant and all(part in known for part in meant.split(" or ")):
        return f"it is set by --set NAME=VALUE, where NAME is {meant}"
    return meant
