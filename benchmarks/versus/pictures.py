"""The same tree drawn by three libraries. In: a folder for pictures. Out: pictures, a table and JSON.

Caller: a person, or the tests (``--quick``). Draws the pictures of ``docs/guides/looking/side-by-side.md`` with
``--pictures``, and measures how long each library works from a fitted tree to a file, and how large the file is.
Every measurement is a process of its own that is ended when it takes too long. Seconds are those of the processor,
Graphviz's among them: what else the machine does changes them little.

Each library draws as it does when it is told no more than names: scikit-learn's ``plot_tree`` with ``filled=True``
in matplotlib's default figure, dtreeviz's ``view()``, Treewright's ``plot()``. dtreeviz writes with a font that is
there. Needs matplotlib, resvg-py, Pillow, dtreeviz and Graphviz; what is not installed is named and skipped."""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pairs import library_version, machine, written

FONT = "DejaVu Sans"  # comes with matplotlib
LIBRARIES = ("scikit-learn", "dtreeviz", "treewright")
PICTURES = ("iris", "titanic", "digits")
TREES = (*PICTURES, "100", "1000", "5000")  # a number: a tree of so many nodes
WIDEST = 1600  # pixels of a stored picture
PIECE = (900, 420)  # pixels of a piece of a large one, as large as on the screen
LARGEST = 150_000  # bytes of one
# Dawson, The "unusual episode" data revisited (Journal of Statistics Education, 1995): class, sex, age; died, lived.
TITANIC = (
    ("1st", "male", "child", 0, 5), ("2nd", "male", "child", 0, 11), ("3rd", "male", "child", 35, 13),
    ("1st", "female", "child", 0, 1), ("2nd", "female", "child", 0, 13), ("3rd", "female", "child", 17, 14),
    ("1st", "male", "adult", 118, 57), ("2nd", "male", "adult", 154, 14), ("3rd", "male", "adult", 387, 75),
    ("crew", "male", "adult", 670, 192), ("1st", "female", "adult", 4, 140), ("2nd", "female", "adult", 13, 80),
    ("3rd", "female", "adult", 89, 76), ("crew", "female", "adult", 3, 20),
)  # fmt: skip


class Fitted(NamedTuple):
    """A tree, what it was fitted on as its library takes it, and the names of the classes."""

    tree: Any
    X: pd.DataFrame
    y: pd.Series
    classes: list[str]


def table_of(name: str) -> tuple[pd.DataFrame, pd.Series, dict[str, Any]]:
    """Return columns, classes and the limits of the tree."""
    from sklearn.datasets import load_digits, load_iris, make_classification

    if name == "iris":
        bunch = load_iris(as_frame=True)
        return bunch.data, bunch.target.map(dict(enumerate(bunch.target_names))).rename("species"), {"max_depth": 3}
    if name == "titanic":
        frame = pd.DataFrame(TITANIC, columns=["class", "sex", "age", "no", "yes"])
        frame = frame.melt(["class", "sex", "age"], var_name="survived", value_name="rows")
        frame = frame.loc[frame.index.repeat(frame.pop("rows"))].reset_index(drop=True)
        return frame.drop(columns="survived"), frame["survived"], {"max_depth": 3}
    if name == "digits":
        bunch = load_digits(as_frame=True)
        return bunch.data, bunch.target.astype(str).rename("digit"), {"max_depth": 10}
    # Classes that noise blurs, so that a tree of any size can be grown.
    X, y = make_classification(20_000, 12, n_informative=8, n_classes=3, flip_y=0.2, random_state=0)
    columns = pd.DataFrame(X, columns=[f"column {at}" for at in range(12)])
    return columns, pd.Series(np.array(["low", "middle", "high"])[y], name="level"), {"max_leaf_nodes": int(name) // 2}


def fitted(library: str, name: str) -> Fitted:
    """Grow the tree that a library draws; the others get levels as columns of 0 and 1, and classes as numbers."""
    X, y, limits = table_of(name)
    classes = sorted(set(y))
    if library == "treewright":
        import treewright as tw

        return Fitted(tw.DecisionTreeClassifier(random_state=0, **limits).fit(X, y), X, y, classes)
    from sklearn.tree import DecisionTreeClassifier

    if name == "titanic":
        X = pd.get_dummies(X, dtype=float).drop(columns=["sex_male", "age_child"])
    y = pd.Series(np.searchsorted(classes, y), name=y.name)
    # Of columns that split the flowers alike, this state takes the one that Treewright takes.
    tree = DecisionTreeClassifier(random_state=4 if name == "iris" else 0, **limits)
    return Fitted(tree.fit(X, y), X, y, classes)


def draw(library: str, found: Fitted, target: Path, *, every_node: bool) -> None:
    """Draw a tree into a file, as the library does by itself."""
    names = list(found.X.columns)
    if library == "treewright":
        found.tree.plot(**({"max_nodes": None} if every_node else {})).save(target)
    elif library == "scikit-learn":
        import matplotlib.pyplot as plt
        from sklearn.tree import plot_tree

        plt.figure()
        plot_tree(found.tree, feature_names=names, class_names=found.classes, filled=True)
        plt.savefig(target)
    else:
        import dtreeviz

        model = dtreeviz.model(
            found.tree, X_train=found.X, y_train=found.y, feature_names=names, class_names=found.classes,
            target_name=found.y.name,
        )  # fmt: skip
        model.view(fontname=FONT).save(str(target))


def measure_one(library: str, name: str, target: Path, *, every_node: bool) -> dict[str, Any]:
    """Draw one tree and say how long it took, without imports and without the fit."""
    import matplotlib as mpl

    mpl.use("Agg")
    warnings.simplefilter("ignore")
    logging.disable()
    small = fitted(library, "iris")
    draw(library, small, target.with_stem("first"), every_node=every_node)  # imports, font caches
    found = fitted(library, name)
    nodes = found.tree.tree_.node_count if library != "treewright" else found.tree.model_.trees[0].n_nodes
    start = worked()
    draw(library, found, target, every_node=every_node)
    return {"seconds": worked() - start, "bytes": target.stat().st_size, "nodes": int(nodes)}


def worked() -> float:
    """Seconds that this process and those that it started have worked, of all threads together."""
    times = os.times()  # in hundredths of a second, so that only what others did is read there
    return time.process_time() + times.children_user + times.children_system


def in_a_process(library: str, name: str, target: Path, limit: float, *, every_node: bool) -> dict[str, Any]:
    """Measure in a process of its own. Returns what was measured, or why there is nothing."""
    facts: dict[str, Any] = {"library": library, "tree": name, "every_node": every_node}
    words = [sys.executable, __file__, "--one", library, name, str(target), *(["--every-node"] if every_node else [])]
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {**facts, "failed": f"not finished after {limit:g} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {**facts, "failed": lines[-1][:200]}
    return {**facts, **json.loads(done.stdout.splitlines()[-1])}


def is_there(library: str) -> bool:
    """Whether a library and what it needs are installed."""
    if library == "dtreeviz":
        return find_spec("dtreeviz") is not None and shutil.which("dot") is not None
    return find_spec("matplotlib") is not None


def stored(source: Path, folder: Path, name: str) -> list[Path]:
    """Put a picture into a folder: as SVG where it is small, else as PNG, of a large one a piece as well."""
    if "treewright" in name and source.stat().st_size < LARGEST // 2:
        shutil.copyfile(source, folder / f"{name}.svg")
        return [folder / f"{name}.svg"]
    targets = [folder / f"{name}.png"]
    image = rasterised(source, width=2 * WIDEST)
    width, colors = WIDEST, 256
    while True:
        small = image.resize((width, max(1, image.height * width // image.width)), 1)  # Lanczos
        small.quantize(colors).save(targets[0], optimize=True)
        if targets[0].stat().st_size < LARGEST:
            break
        width, colors = width * 9 // 10, max(64, colors // 2)
    if "digits" in name:
        targets.append(folder / f"{name}-piece.png")
        fullest(rasterised(source)).quantize(128).save(targets[1], optimize=True)
    if name.endswith("digits-treewright"):
        targets.append(folder / f"{name}-slide.svg")
        fitted("treewright", "digits").tree.plot(size="slide", theme="light").save(targets[-1])
    return targets


def fullest(image: Any) -> Any:
    """Return the piece of an image that has the fewest white pixels, as large as it is on the screen."""
    across, down = min(image.width, PIECE[0]), min(image.height, PIECE[1])
    ink = (np.asarray(image).min(axis=2) < 250).astype(np.int64)
    sums = np.pad(ink.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    held = sums[down:, across:] - sums[:-down, across:] - sums[down:, :-across] + sums[:-down, :-across]
    top, left = np.unravel_index(held.argmax(), held.shape)
    return image.crop((int(left), int(top), int(left) + across, int(top) + down))


def rasterised(source: Path, **size: int) -> Any:
    """Return an SVG as an image."""
    from PIL import Image
    from resvg_py import svg_to_bytes

    # matplotlib's figures are measured in points, which resvg converts only where it is told of a density.
    text = source.read_text(encoding="utf-8")
    png = bytes(svg_to_bytes(svg_string=text, background="#ffffff", dpi=96, **size))
    return Image.open(io.BytesIO(png)).convert("RGB")


def main() -> None:
    """Draw, measure and print."""
    parser = argparse.ArgumentParser(description="The same tree drawn by three libraries.")
    parser.add_argument("--quick", action="store_true", help="the tree of the flowers alone")
    parser.add_argument("--pictures", type=Path, help="draw the pictures of the documentation into this folder")
    parser.add_argument("--trees", nargs="+", choices=TREES, default=list(TREES))
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds that one drawing may take")
    parser.add_argument("--out", type=Path, help="write JSON there")
    parser.add_argument("--one", nargs=3, metavar=("LIBRARY", "TREE", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--every-node", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        library, name, target = arguments.one
        print(json.dumps(measure_one(library, name, Path(target), every_node=arguments.every_node)))
        return
    for library in arguments.libraries:
        if not is_there(library):
            print(f"{library} is not there, or what it needs")
    libraries = [library for library in arguments.libraries if is_there(library)]
    names = PICTURES[:1] if arguments.quick else arguments.trees
    print(machine() | {name: library_version(name) for name in libraries})
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, library in product(names, libraries):
            # Ours folds a large tree unless it is told not to; both are measured.
            for every_node in (
                (False, True) if library == "treewright" and name not in {"iris", "titanic"} else (False,)
            ):
                source = Path(folder, f"{library}-{name}.svg")
                found = in_a_process(library, name, source, arguments.limit, every_node=every_node)
                results.append(found)
                what = f"{name}, every node" if every_node else name
                if "failed" in found:
                    print(f"{what:20}{library:14}{found['failed']}", flush=True)
                    continue
                size = f"{found['bytes'] / 1000:,.0f} kB"
                print(
                    f"{what:20}{library:14}{found['nodes']:6,} nodes  {written(found['seconds'], 's'):>8}  {size:>9}",
                    flush=True,
                )
                if arguments.pictures and name in PICTURES and not every_node:
                    arguments.pictures.mkdir(parents=True, exist_ok=True)
                    for target in stored(source, arguments.pictures, f"{name}-{library}"):
                        print(f"  {target.name}: {target.stat().st_size / 1000:.0f} kB")
    if arguments.out is not None:
        arguments.out.write_text(
            json.dumps({"machine": machine(), "results": results}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
