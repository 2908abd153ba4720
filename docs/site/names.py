"""The reference of names: a page for each public class, one for each module of functions, one for the commands.

Public is what ``__all__`` of ``treewright`` lists, what ``MODULES`` names, and what these return: the class that a
return annotation names belongs to the reference as well, and so do the items and the fields of a
result. Texts are the docstrings, and the help of the commands.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from page_programs import slug_of

# Title of a page -> the modules whose names it lists, and which; None is all that ``__all__`` lists.
MODULES: dict[str, dict[str, tuple[str, ...] | None]] = {
    "Judging and choosing models": {"treewright.model_selection": None},
    "Figures": {"treewright.plot": None},
    "The workbench": {"treewright.workbench": None},
    "Several processes and clusters": {"treewright.distributed": None},
    "Training without scikit-learn": {
        "treewright.learn.train": ("make_dataset", "train"),
        "treewright.learn.single": ("TreeParams", "ID3Params", "C45Params", "ChaidParams"),
        "treewright.learn.forest": ("ForestParams", "ExtraTreesParams"),
        "treewright.learn.boosting_params": ("BoostingParams",),
        "treewright.learn.params": ("parameters_of",),
    },
    "Errors and warnings": {"treewright.exceptions": None},
}


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("viewcode-follow-imported", home_of)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def skip_member(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from other libraries, and the fields of tuples, which its docstring lists."""
    held = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    module = getattr(held, "__module__", None) or getattr(getattr(obj, "__objclass__", None), "__module__", None)
    if what == "class" and (module is None or not module.startswith("treewright")):
        return True
    return None


def home_of(app: Any, module: str, name: str) -> str:
    """The module whose source stands behind a name: of this package, also where a decorator of Python wraps it."""
    held = importlib.import_module(module)
    for part in name.split("."):
        held = getattr(held, part, None)
    home = getattr(held, "__module__", None) or module
    return home if home.partition(".")[0] == "treewright" else module


def names_of(module: str, names: tuple[str, ...] | None) -> dict[str, Any]:
    """The functions and classes of a module with their full addresses."""
    held = importlib.import_module(module)
    listed = {
        f"{module}.{name}": getattr(held, name) for name in names or getattr(held, "__all__", None) or classes_in(held)
    }
    return {name: each for name, each in listed.items() if callable(each)}


def classes_in(module: Any) -> list[str]:
    """The names of the public classes that a module defines, in their order."""
    return [name for name, held in vars(module).items() if inspect.isclass(held) and held.__module__ == module.__name__]


def public_names() -> dict[str, Any]:
    """Every public name with its full address, in the order of the pages."""
    found = names_of("treewright", None)
    for modules in MODULES.values():
        for module, names in modules.items():
            found.update(names_of(module, names))
    return found


def returned_classes(public: dict[str, Any]) -> dict[str, type]:
    """Classes of the package that public functions and methods return or hold, and those that these return in turn."""
    known = {id(held) for held in public.values()}
    found: dict[str, type] = {}
    waiting = list(public.values())
    while waiting:
        for annotation, module in annotations_of(waiting.pop(0)):
            for name in re.findall(r"\b[A-Z]\w+", annotation):
                held = meaning_of(name, module)
                if inspect.isclass(held) and held.__module__.startswith("treewright") and id(held) not in known:
                    known.add(id(held))
                    found[f"{held.__module__}.{name}"] = held
                    waiting.append(held)
    return dict(sorted(found.items(), key=lambda pair: pair[1].__name__))


def annotations_of(held: Any) -> list[tuple[str, str]]:
    """What functions return and what results hold, as written, and the module that says so.

    Fields are followed in results alone: those of models and reports are their inside.
    """
    found = [(each.__annotations__.get("return", ""), each.__module__) for each in functions_of(held)]
    for base in held.__mro__ if inspect.isclass(held) else ():
        if base.__module__.startswith("treewright"):
            is_result = base.__module__.split(".")[1] in ("explain", "evaluation", "prune")
            fields = vars(base).get("__annotations__", {}) if is_result else {}
            found += [(said, base.__module__) for name, said in fields.items() if not name.startswith("_")]
            found += [(str(said), base.__module__) for said in vars(base).get("__orig_bases__", ())]  # items
    return [(said, module) for said, module in found if isinstance(said, str)]


def functions_of(held: Any) -> list[Any]:
    """A function, or the public methods and properties of a class that the package defines."""
    if not inspect.isclass(held):
        return [inspect.unwrap(held)]
    members = [
        getattr(each, "fget", None) or getattr(each, "func", None) or getattr(each, "__func__", None) or each
        for base in held.__mro__ if base.__module__.startswith("treewright")
        for name, each in vars(base).items() if not name.startswith("_") or name in ("__getitem__", "__iter__")
    ]  # fmt: skip
    return [each for each in members if inspect.isfunction(each)]


def meaning_of(name: str, module: str) -> Any:
    """What a name in an annotation means in its module, also where the module imports it for types alone."""
    held = importlib.import_module(module)
    if hasattr(held, name):
        return getattr(held, name)
    for node in ast.walk(ast.parse(inspect.getsource(held))):
        if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
            return getattr(importlib.import_module(str(node.module)), name, None)
    return None


def summary_of(held: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(held) or "").split("\n")[0]


def write_names(folder: Path) -> None:
    """Write the pages and their list, which the index of the reference one folder up leads to."""
    folder.mkdir(parents=True)
    with (folder.parent / "index.md").open("a", encoding="utf-8") as index:
        index.write("- [Every public name](api/index.md): signature, parameters, errors, examples, source\n")
    public = public_names()
    results = returned_classes(public)
    listed: dict[str, list[str]] = {"Estimators": [], "Models, files, reports": []}
    for name, held in public.items():
        if name.count(".") == 1 and inspect.isclass(held):
            is_estimator = hasattr(held, "fit")
            heading = "Estimators" if is_estimator else "Models, files, reports"
            listed[heading].append(write_class(folder, name, held))
    own = {name: held for name, held in public.items() if name.count(".") == 1 and not inspect.isclass(held)}
    listed["Models, files, reports"].append(write_functions(folder, "functions", "Functions of treewright", own))
    listed["Modules"] = []
    for title, modules in MODULES.items():
        held_there = {name: held for module, names in modules.items() for name, held in names_of(module, names).items()}
        file = next(iter(modules)).removeprefix("treewright.").partition(".")[0]
        listed["Modules"].append(write_functions(folder, file, title, held_there))
    listed["What functions and methods return"] = [write_class(folder, name, held) for name, held in results.items()]
    listed["The command"] = [write_commands(folder)]
    lines = [
        "# Every public name",
        "",
        "Signatures, parameters, errors and examples, from the docstrings. [source] leads to the code of what a class",
        "or module itself defines; what a class inherits has its source where it is defined.",
    ]
    for heading, rows in listed.items():
        lines += ["", f"## {heading}", "", *rows]
    (folder / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_class(folder: Path, name: str, held: type) -> str:
    """A page for a class; its line in the list."""
    short = held.__name__
    if (folder / f"{short}.md").exists():  # treewright.Dataset, and the dataset of learning without scikit-learn
        short = name.removeprefix("treewright.")
    lines = [f"# {short}", ""]
    for heading, estimators in re.findall(
        r"^## (.+)\n\n(.*)$", (folder.parent / "parameters.md").read_text("utf-8"), re.MULTILINE
    ):
        if f"`{short}`" in estimators:
            lines += [f"[Its parameters in one table](../parameters.md#{slug_of(heading)}), with ranges and units.", ""]
    lines += ["```{eval-rst}", f".. autoclass:: {name}", "```", ""]
    (folder / f"{short}.md").write_text("\n".join(lines), encoding="utf-8")
    return f"- [{short}]({short}.md): {summary_of(held)}"


def write_functions(folder: Path, file: str, title: str, names: dict[str, Any]) -> str:
    """A page for the functions and classes of a module; its line in the list."""
    lines = [f"# {title}", ""]
    for name, held in names.items():
        kind = "autoclass" if inspect.isclass(held) else "autofunction"
        lines += [f"## {name.rpartition('.')[2]}", "", "```{eval-rst}", f".. {kind}:: {name}", "```", ""]
    (folder / f"{file}.md").write_text("\n".join(lines), encoding="utf-8")
    words = ", ".join(f"`{name.rpartition('.')[2]}`" for name in names)
    return f"- [{title}]({file}.md): {words}"


def write_commands(folder: Path) -> str:
    """A page of every command with its options, as ``--help`` tells them; its line in the list."""
    import typer

    from treewright.cli.app import app

    group = typer.main.get_command(app)
    lines = [
        "# Every command and its options",
        "",
        "What `--help` prints. [The command line](../command-line.md) shows them at work.",
        "",
    ]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        context = command.context_class(command, info_name=name)
        pieces = " ".join(command.collect_usage_pieces(context)).replace("{", "").replace("}", "")
        lines += [f"## treewright {name}", "", command.help or "", "", f"```text\ntreewright {name} {pieces}\n```", ""]
        records = [record for each in command.params if (record := each.get_help_record(context))]
        if records:
            lines += ["| option | meaning |", "|---|---|"]
        for option, meaning in ((cell.replace("|", "\\|") for cell in record) for record in records):
            lines.append(f"| `{option}` | {meaning.replace('<', '&lt;')} |")
        lines.append("")
    (folder / "commands.md").write_text("\n".join(lines), encoding="utf-8")
    return "- [Every command and its options](commands.md)"
