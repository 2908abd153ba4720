"""Options for the most used parameters, and hints for unknown options.

``--max-depth 3`` is ``--set max_depth=3``: the words end up in one list, so they are checked and reported in one way.
A command gets them by ``with_settings``, which adds the options of a table to its signature, where Typer reads them.
An unknown option is looked up among the parameters and among other libraries' names for them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from treewright.cli.terminal import typed_short

__all__ = ["OF_A_FIT", "OF_A_PRUNING", "Hinting", "with_settings"]

_PANEL = "Often set"

# Option -> parameter, placeholder of its value, help.
OF_A_FIT: Mapping[str, tuple[str, str, str]] = {
    "--max-depth": ("max_depth", "N", "The largest depth of a tree."),
    "--max-leaves": ("max_leaf_nodes", "N", "The most leaves of a tree."),
    "--min-leaf": ("min_samples_leaf", "N", "The fewest rows of a leaf."),
    "--criterion": ("criterion", "NAME", "The impurity that splits reduce: gini, entropy, squared_error, ..."),
    "--class-weight": ("class_weight", "balanced|JSON", "The weight of the rows of each class."),
    "--trees": ("n_estimators", "N", "Trees, or rounds of boosting."),
    "--rate": ("learning_rate", "NUMBER", "Share of each round of boosting that is added."),
    "--max-features": ("max_features", "N|SHARE|sqrt", "Columns sampled for each split."),
    "--neighbors": ("n_neighbors", "N", "Neighbours of a prediction; knn."),
    "--alpha": ("ccp_alpha", "NUMBER", "The price of a leaf in cost-complexity pruning."),
}
OF_A_PRUNING: Mapping[str, tuple[str, str, str]] = {
    "--max-depth": ("max_depth", "N", "The largest depth after pruning; --method depth."),
    "--max-leaves": ("max_leaves", "N", "The most leaves after pruning; --method leaves."),
    "--alpha": ("alpha", "NUMBER", "The price of a leaf; --method cost-complexity."),
}


def with_settings(table: Mapping[str, tuple[str, str, str]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of a table to a command; each adds a word to its option ``settings``."""

    def extend(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*positional: Any, **given: Any) -> None:
            values = {option: given.pop(_key(option)) for option in table}
            typed = {table[option][0]: option for option, value in values.items() if value is not None}
            words = [f"{name}={values[option]}" for name, option in typed.items()]
            given["settings"] = [*words, *(given["settings"] or ())] or None
            with typed_short(typed):
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
    """The function's parameter for an option; no command has a parameter of that name."""
    return f"short_{option.strip('-').replace('-', '_')}"


class Hinting(TyperCommand):
    """A command whose error about an unknown option says how the parameter is set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as Typer does, and look up an unknown option before it is refused."""
        try:
            return super().parse_args(ctx, [*args])  # a copy, because Typer empties the list
        except Exception as error:
            name = getattr(error, "option_name", None)
            is_unknown = type(error).__name__ == "NoSuchOption"
            hint = _hint(name, ctx, _algorithms_in(args)) if is_unknown and name else ""
            if hint:
                error.message = f"No such option: {name}; {hint}"  # type: ignore[attr-defined]
                error.possibilities = None  # type: ignore[attr-defined]
            raise


def _algorithms_in(args: list[str]) -> list[str]:
    """The words of the algorithms that a command line names, without their pruners; empty for none."""
    options = ("--algorithm", "--candidate")
    given = [after for before, after in pairwise(args) if before in options]
    given += [word.partition("=")[2] for word in args if word.partition("=")[0] in options]
    return [part.partition("+")[0].strip() for word in given for part in word.split(",")]


def _hint(option: str, ctx: Any, words: list[str]) -> str:
    """How to set the parameter that an unknown option names, by our name or another library's; empty for none.

    ``words`` are the algorithms on the command line.
    """
    from treewright.cli.algorithms import OWN_OPTION, algorithms_with
    from treewright.cli.prune import every_option
    from treewright.learn.other_names import option_hint
    from treewright.learn.params import CLASSES, NUMBERS, parameters_of
    from treewright.learn.registry import ALGORITHMS, algorithm_of

    name, command = option.strip("-").replace("-", "_"), ctx.command.name
    if command == "prune":
        table, known = OF_A_PRUNING, set(every_option())
    else:
        kinds = {each.params_class() for each in ALGORITHMS}
        table = OF_A_FIT
        known = {each for kind in kinds for task in (CLASSES, NUMBERS) for each in parameters_of(kind, task)}
    if name in OWN_OPTION:
        return f"use {OWN_OPTION[name]}"
    ours = {parameter: short for short, (parameter, _, _) in table.items()}
    meant = name if name in known else option_hint(name, known).removeprefix("here it is ")
    chosen = {found.word for word in words or ["cart"] if (found := algorithm_of(word)) is not None}

    def needed(parameter: str) -> str:
        having = algorithms_with(parameter)
        return "" if command == "prune" or chosen & set(having) else f" with --algorithm {' or '.join(having)}"

    others = ctx.parent.command.commands.items() if ctx.parent is not None else ()
    elsewhere = [other for other, each in others if any(option in param.opts for param in each.params)]
    also = f"; treewright {' and '.join(elsewhere)} has {option}" if elsewhere else ""
    if meant in ours:
        return f"here it is {ours[meant]}{needed(meant)}"
    if meant in known:
        return f"it is set by --set {meant}=VALUE{needed(meant)}{also if needed(meant) else ''}"
    if " or " in meant and all(part in known for part in meant.split(" or ")):
        return f"it is set by --set NAME=VALUE, where NAME is {meant}"
    return meant
