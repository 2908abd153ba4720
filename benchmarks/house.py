"""How the house is built, counted: rooms that a fit walks through, ancestors of each estimator, lines, kernels.

    PYTHONPATH=CHECKOUT/src python benchmarks/house.py --src CHECKOUT/src [--json FILE] [--files TRIP]

Works on any checkout. Kernels run as Python, so that their calls are counted too (with --compiled only those of
Python), on a table of 40 rows and 3 columns, one of which alone tells the class. Each trip is made twice and the second
is counted: the first settles lazy imports and caches. A switch is a pair of successive calls in two files of the
package; returns do not count.
"""

from __future__ import annotations

import os
import sys

if "--compiled" not in sys.argv:
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before Numba is imported

import argparse
import ast
import importlib
import io
import json
import re
import tokenize
import traceback
import warnings
from functools import partial
from pathlib import Path
from types import FunctionType

DECORATORS = {
    "kernel", "inner_kernel", "inlined_kernel", "allocating_kernel", "allocating_inner_kernel",
    "bare_kernel", "bare_inner_kernel",  # of older checkouts
}  # fmt: skip
SHAPED = re.compile(r"\b(?:u?int(?:8|16|32|64|p)?|float(?:32|64)?|bool|complex(?:64|128)|record|node|words?)\w*\s*\[")
MOST_ARGUMENTS = 12


def read_words():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parents[1] / "src"
    words.add_argument("--src", type=Path, default=default, help="the folder that holds treewright/")
    words.add_argument("--compiled", action="store_true", help="compile kernels: count what Python calls, no more")
    words.add_argument("--json", type=Path, help="write the figures to this file as well")
    words.add_argument("--files", metavar="TRIP", help="name the files that this trip enters, in order")
    words.add_argument("--trips", nargs="*", help="only these trips (none: only what needs no trip)")
    return words.parse_args()


# Trips ---------------------------------------------------------------------------------------------------------------


def replace_intrinsics():
    """Put Python in the place of intrinsics that only compiled code can call, where a checkout has no twins yet."""
    try:
        bits = importlib.import_module("treewright.core.random")
    except ImportError:
        return []
    twins = {
        "prefetch": lambda _array, _row: None,
        "trailing_zeros": lambda word: (int(word) & -int(word)).bit_length() - 1,
    }
    replaced = [name for name in twins if not isinstance(getattr(bits, name, replace_intrinsics), FunctionType)]
    for name in replaced:
        setattr(bits, name, twins[name])
    return replaced


def trips():
    """What is traced: a name and a function without arguments."""
    import numpy as np

    import treewright as tw

    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    fixed = {"random_state": 0, "n_jobs": 1}
    learners = {
        "tree": tw.DecisionTreeClassifier(),
        "tree, hist": tw.DecisionTreeClassifier(splitter="hist"),
        "C4.5": tw.C45Classifier(),
        "forest": tw.RandomForestClassifier(2, **fixed),
        "boosting": tw.GradientBoostingClassifier(n_estimators=3, **fixed),
        "AdaBoost": tw.AdaBoostClassifier(n_estimators=3, random_state=0),
    }
    tree = tw.DecisionTreeClassifier().fit(X, y)
    fits = {name: partial(learner.fit, X, y) for name, learner in learners.items()}
    return {**fits, "predict": lambda: tree.predict(X), "report": lambda: tree.report(X, y)}


def trace(trip, package):
    """Files of the package that a call enters, one for every Python function called, in order."""
    entered = []
    prefix = str(package) + os.sep
    names = {}

    def on_event(frame, event, _argument):
        if event == "call":
            code = frame.f_code
            if code not in names:
                path = os.path.realpath(code.co_filename)
                names[code] = path.removeprefix(prefix) if path.startswith(prefix) else ""
            if names[code]:
                entered.append(names[code])

    sys.setprofile(on_event)
    try:
        trip()
    finally:
        sys.setprofile(None)
    return entered


def travel(package, wanted):
    """Figures of each trip, and the way it took."""
    figures, ways = {}, {}
    for name, trip in trips().items():
        if wanted is not None and name not in wanted:
            continue
        try:
            trip()
            way = trace(trip, package)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            figures[name] = {"fails": f"cannot run without the compiler: {error!r:.90} ({place})"}
            continue
        ways[name] = [here for before, here in zip([None, *way[:-1]], way, strict=True) if here != before]
        files = set(way)
        figures[name] = {
            "files": len(files),
            "switches": len(ways[name]) - 1,
            "estimators": sum(file.startswith("estimators" + os.sep) for file in files),
        }
    return figures, ways


# Ancestors -----------------------------------------------------------------------------------------------------------


def depth(kind):
    return 1 + max((depth(base) for base in kind.__bases__ if is_own(base)), default=0)


def is_own(kind):
    return kind.__module__.split(".")[0] == "treewright"


def ancestors():
    """Own classes in the order of resolution of each public estimator, itself included, and how deep they stand."""
    import treewright as tw

    found = {}
    for name in sorted(tw.__all__):
        kind = getattr(tw, name)
        if isinstance(kind, type) and hasattr(kind, "fit"):
            own = [each.__name__ for each in kind.__mro__ if is_own(each)]
            found[name] = {"own": len(own), "depth": depth(kind), "names": own}
    return found


# Sources -------------------------------------------------------------------------------------------------------------


def mentions(node, name):
    return any(
        (isinstance(each, ast.Name) and each.id == name) or (isinstance(each, ast.Attribute) and each.attr == name)
        for each in ast.walk(node)
    )


def is_combine(node):
    return (isinstance(node, ast.Attribute) and node.attr == "combine") or (
        isinstance(node, ast.Name) and node.id == "combine"
    )


def questions(tree):
    """Lines that ask whether trees are packed, and lines that compare ``combine``."""
    packed, combine = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            if len(node.args) == 2 and mentions(node.args[1], "PackedTrees"):
                packed.append(node.lineno)
        else:
            compared = (node.left, *node.comparators) if isinstance(node, ast.Compare) else ()
            compared = (node.subject,) if isinstance(node, ast.Match) else compared
            if any(is_combine(each) for each in compared):
                combine.append(node.lineno)
    return packed, combine


def docstring_lines(tree):
    """Numbers of the lines that docstrings take, those of attributes included."""
    lines = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines.update(range(statement.lineno, statement.end_lineno + 1))
    return lines


def kinds_of_lines(text, tree):
    """Lines of a file by kind; a line of code with a comment behind it is code."""
    docstring = docstring_lines(tree)
    code, comment = set(), set()
    skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comment.add(token.start[0])
        elif token.type not in skipped:
            code.update(range(token.start[0], token.end[0] + 1))
    n_lines = len(text.splitlines())
    code -= docstring
    comment -= code | docstring
    return {
        "lines": n_lines,
        "code": len(code),
        "docstring": len(docstring),
        "comment": len(comment),
        "blank": n_lines - len(code) - len(docstring) - len(comment),
    }


def reads_arrays(function, arguments):
    """Whether a parameter is indexed, measured or asked for a field: then it is no plain number."""
    for node in ast.walk(function):
        inside = node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            inside = node.args[0]
        if isinstance(inside, ast.Name) and inside.id in arguments:
            return True
    return False


def kernels(tree):
    """Of each kernel name, line, number of arguments, whether dtypes and shapes are stated, whether it reads arrays."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {
                each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in node.decorator_list
            }
            if names & DECORATORS:
                arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                stated = bool(SHAPED.search(ast.get_docstring(node) or ""))
                yield node.name, node.lineno, len(arguments), stated, reads_arrays(node, arguments)


def circles(package):
    """Modules that import each other, under TYPE_CHECKING and inside functions too: a sorted list for each circle."""
    import grimp
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    sys.path.insert(0, str(package.parent))
    graph = grimp.build_graph(package.name, cache_dir=None)
    names = sorted(graph.modules)
    at = {name: position for position, name in enumerate(names)}
    pairs = np.array(
        [(at[name], at[other]) for name in names for other in graph.find_modules_directly_imported_by(name)]
    )
    edges = csr_array((np.ones(len(pairs)), pairs.T), shape=(len(names),) * 2)
    _, part = connected_components(edges, connection="strong")
    found = [[name for name, own in zip(names, part, strict=True) if own == each] for each in range(part.max() + 1)]
    return [each for each in found if len(each) > 1]


def read_sources(package):
    figures = {
        "lines": dict.fromkeys(("lines", "code", "docstring", "comment", "blank"), 0),
        "folders": {}, "folder lines": {}, "packed": [], "combine": [], "kernels": 0,
        "shapeless": [], "shapeless arrays": 0, "wide": [], "circles": circles(package),
    }  # fmt: skip
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        here = kinds_of_lines(text, tree)
        for kind, number in here.items():
            figures["lines"][kind] += number
        folder = name.rpartition("/")[0] or "."
        figures["folders"][folder] = figures["folders"].get(folder, 0) + 1
        figures["folder lines"][folder] = figures["folder lines"].get(folder, 0) + here["lines"]
        if name.split("/")[0] not in ("trees", "model"):  # trees are combined there; "model" in older checkouts
            packed, combine = questions(tree)
            figures["packed"] += [f"{name}:{line}" for line in packed]
            figures["combine"] += [f"{name}:{line}" for line in combine]
        for kernel, line, n_arguments, stated, reads in kernels(tree):
            figures["kernels"] += 1
            if not stated:
                figures["shapeless"].append(f"{name}:{line} {kernel}")
                figures["shapeless arrays"] += reads
            if n_arguments > MOST_ARGUMENTS:
                figures["wide"].append(f"{name}:{line} {kernel} ({n_arguments})")
    return figures


# Tables --------------------------------------------------------------------------------------------------------------


def print_table(head, rows):
    widths = [max(len(str(row[place])) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = [str(cell).ljust(width) if not place else str(cell).rjust(width)
                 for place, (cell, width) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        print("| " + " | ".join(cells) + " |")
    print()


def by_folder(places):
    counts = {}
    for place in places:
        folder = place.partition(":")[0].rpartition("/")[0] or "."
        counts[folder] = counts.get(folder, 0) + 1
    return ", ".join(f"{folder} {number}" for folder, number in sorted(counts.items(), key=lambda each: -each[1]))


def main():
    words = read_words()
    warnings.simplefilter("ignore")
    source = words.src.resolve()
    sys.path.insert(0, str(source))
    import treewright

    package = source / "treewright"
    if Path(treewright.__file__).resolve().parent != package:
        sys.exit(f"treewright comes from {treewright.__file__}, not from {package}")
    replaced = replace_intrinsics()
    figures, ways = travel(package, words.trips)
    if words.files:
        print("\n".join(ways[words.files]))
        return
    rows = [(name, *(each.values() if "fails" not in each else ("-", "-", "-"))) for name, each in figures.items()]
    print_table(("trip", "files entered", "switches", "files of estimators/"), rows)
    for name, each in figures.items():
        if "fails" in each:
            print(f"{name}: {each['fails']}")
    if replaced:
        print(f"No Python twin in this checkout, replaced by the script's own: {', '.join(replaced)}.\n")

    classes = ancestors()
    print_table(
        ("estimator", "own classes", "depth"), [(name, each["own"], each["depth"]) for name, each in classes.items()]
    )
    sources = read_sources(package)
    print_table(
        ("folder", "files", "lines"),
        [(folder, number, sources["folder lines"][folder]) for folder, number in sources["folders"].items()],
    )
    lines = sources["lines"]
    shares = (f"{kind} {lines[kind]:,}" for kind in ("code", "docstring", "comment", "blank"))
    print(f"lines of source: {lines['lines']:,} ({', '.join(shares)})")
    print(f"files: {sum(sources['folders'].values())}, at most {max(sources['folders'].values())} in a folder")
    print(f"circles: {len(sources['circles'])}", *sources["circles"])
    n_files = sum(number for folder, number in sources["folders"].items() if folder.split("/")[0] == "estimators")
    print(f"files of estimators/: {n_files}")
    print(f"isinstance(..., PackedTrees) outside trees/: {len(sources['packed'])} ({by_folder(sources['packed'])})")
    print(f"comparisons of combine outside trees/: {len(sources['combine'])} ({by_folder(sources['combine'])})")
    print(f"kernels: {sources['kernels']}")
    print(f"  without dtype[shape]: {len(sources['shapeless'])} ({by_folder(sources['shapeless'])})")
    print(f"  of these, with arrays among their arguments: {sources['shapeless arrays']}")
    print(f"  of more than {MOST_ARGUMENTS} arguments: {len(sources['wide'])} ({by_folder(sources['wide'])})")
    if words.json:
        written = {"trips": figures, "ways": ways, "classes": classes, **sources}
        words.json.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
