"""A command made from the dataclass of its options, and hints for unknown options.

A field of such a dataclass states one option: its type, its ``typer.Option``, its default. A field that is itself such
a dataclass is a group, whose options come in its place; any other field is no option. ``taking`` writes the signature
that Typer reads, and hands the command one instance.

An unknown option is looked up among the parameters and among other libraries' names for them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import pairwise
from typing import Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperCommand
from typer.models import ArgumentInfo, OptionInfo

from treewright.cli.options import OF_A_FIT, OF_A_PRUNING, ShortOptions
from treewright.cli.streams import check_files, input_path, output_path
from treewright.cli.terminal import refusals, typed_short

__all__ = ["Hinting", "given_options", "taking"]

_REPEATED = tuple[str, ...]  # the type of an option that may be repeated
_Options = TypeVar("_Options")


def taking(
    kind: type[_Options], *, about: str = "data", short: ShortOptions | None = None
) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """Give a command the options of a dataclass; an error becomes one line and an exit code.

    ``about`` is the field of the file that errors are about. ``short`` are options for parameters, as ``--max-depth 3``
    for ``--set max_depth=3``: the words end up in ``settings``, so they are checked and reported in one way.
    """
    table = short or {}
    options = [*_options_of(kind)]

    def extend(command: Callable[[_Options], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            values = {option: given.pop(_key(option)) for option in table}
            typed = {table[option][0]: option for option, value in values.items() if value is not None}
            words = [f"{name}={values[option]}" for name, option in typed.items()]
            if words:
                given["settings"] = [*words, *(given["settings"] or ())]
            with typed_short(typed), refusals(given.get(about)):
                inputs, outputs = (
                    {_name(each): given[each.name] for each in options if _info(each).parser is parser}
                    for parser in (input_path, output_path)
                )
                check_files(inputs, outputs)
                command(_made(kind, given))

        parameters = []
        for each in options:
            parameters.append(_parameter(each))
            if each.name == "settings":
                parameters += [_short(option, metavar, text) for option, (_, metavar, text) in table.items()]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return extend


def given_options(options: Any, *names: str) -> dict[str, Any]:
    """The options of these fields, or of all, by their names in the command; None for those that are not given."""
    return {
        _name(each): getattr(options, each.name) or None
        for each in _options_of(type(options)) if not names or each.name in names
    }  # fmt: skip


def _options_of(kind: type) -> Iterator[Field[Any]]:
    """The fields that are options, with those of groups in their place."""
    for each in fields(kind):
        if _is_group(each):
            yield from _options_of(cast("type", each.type))
        elif hasattr(each.type, "__metadata__"):
            yield each


def _is_group(each: Field[Any]) -> bool:
    return each.init and is_dataclass(each.type)


def _info(option: Field[Any]) -> OptionInfo | ArgumentInfo:
    """What Typer knows about an option."""
    found: OptionInfo | ArgumentInfo = cast("Any", option.type).__metadata__[0]
    return found


def _name(option: Field[Any]) -> str:
    """The name of an option in the command, such as ``DATA`` or ``--out``."""
    info = _info(option)
    return str(info.metavar if isinstance(info, ArgumentInfo) else info.default)  # where Annotated keeps the name


def _is_repeated(option: Field[Any]) -> bool:
    return bool(cast("Any", option.type).__origin__ == _REPEATED)


def _parameter(option: Field[Any]) -> inspect.Parameter:
    """The parameter that Typer reads; it has lists for options that may be repeated."""
    default = inspect.Parameter.empty if option.default is MISSING else option.default
    annotation: Any = option.type
    if _is_repeated(option):
        annotation, default = Annotated[list[str] | None, _info(option)], None
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _short(option: str, metavar: str, text: str) -> inspect.Parameter:
    """The parameter of an option for a parameter of an algorithm."""
    info = typer.Option(option, metavar=metavar, help=text, rich_help_panel="Often set")
    annotation = Annotated[str | None, info]
    return inspect.Parameter(_key(option), inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _key(option: str) -> str:
    """The function's parameter for a short option; no field has such a name."""
    return f"short_{option.strip('-').replace('-', '_')}"


def _made(kind: type[_Options], given: Mapping[str, Any]) -> _Options:
    """The dataclass with what is given."""
    values: dict[str, Any] = {}
    for each in fields(cast("Any", kind)):
        if _is_group(each):
            values[each.name] = _made(cast("type", each.type), given)
        elif each.name in given:
            value = given[each.name]
            values[each.name] = tuple(value or ()) if _is_repeated(each) else value
    return kind(**values)


# Former options of ``show`` that became commands.
_BECAME_COMMANDS = {"--audit": "treewright audit MODEL DATA", "--row": "treewright follow MODEL DATA --row N"}


class Hinting(TyperCommand):
    """A command whose error about an unknown option says how the parameter is set, or what does its work."""

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
    name, command = option.strip("-").replace("-", "_"), ctx.command.name
    if command == "show":
        return f"it is a command now: {_BECAME_COMMANDS[option]}" if option in _BECAME_COMMANDS else ""
    from treewright.cli.algorithms import OWN_OPTION, algorithms_with
    from treewright.cli.pruning import every_option
    from treewright.learn.params import CLASSES, NUMBERS, parameters_of
    from treewright.learn.registry import ALGORITHMS, algorithm_of, option_hint

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
    having_it = [other for other, each in others if any(option in param.opts for param in each.params)]
    also = f"; treewright {' and '.join(having_it)} has {option}" if having_it else ""
    if meant in ours:
        return f"here it is {ours[meant]}{needed(meant)}"
    if meant in known:
        return f"it is set by --set {meant}=VALUE{needed(meant)}{also if needed(meant) else ''}"
    if " or " in meant and all(part in known for part in meant.split(" or ")):
        return f"it is set by --set NAME=VALUE, where NAME is {meant}"
    return meant
