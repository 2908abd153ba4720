"""How a forest's fit grows with rows, columns and trees. In: made-up tables. Out: a table, a picture, JSON.

Callers: people, tests. Each size is twice the one before; the time should double too. Kernels are compiled before the
clock runs. The picture needs matplotlib.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from forests import make_rows
from pairs import Pair, machine, write_json, written

import treewright as tw

FIGURE = (11.0, 3.9)  # inches


@dataclass(frozen=True)
class Axis:
    """One of the things that grow.

    Attributes
    ----------
    name : {"rows", "columns", "trees"}
    sizes : tuple of int
    fixed : dict
        The other two.
    max_features : float or str
        Columns for each node: all of them where the columns grow, else the time would grow with their root.
    """

    name: str
    sizes: tuple[int, ...]
    fixed: dict[str, int]
    max_features: float | str = "sqrt"


def axes(base: int, n_doublings: int) -> tuple[Axis, ...]:
    """Rows, columns and trees, doubled so often, from a table of ``base`` rows."""
    doubled = [2**at for at in range(n_doublings + 1)]
    return (
        Axis("rows", tuple(base * by for by in doubled), {"columns": 28, "trees": 10}),
        Axis("columns", tuple(7 * by for by in doubled), {"rows": base, "trees": 10}, 1.0),
        Axis("trees", tuple(5 * by for by in doubled), {"rows": base, "columns": 28}),
    )


def measure(axis: Axis, size: int, n_jobs: int, n_repeats: int) -> float:
    """Seconds of one fit, the median of some."""
    asked = {**axis.fixed, axis.name: size}
    X, y = make_rows(asked["rows"], max(8, asked["columns"]), 7)
    X = np.ascontiguousarray(X[:, : asked["columns"]])
    forest = tw.RandomForestClassifier(asked["trees"], max_features=axis.max_features, n_jobs=n_jobs)
    seconds = []
    for _ in range(n_repeats):
        start = time.perf_counter()
        forest.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def slope(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """The power of the size that the time grows with: 1 is linear."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def described(axis: Axis) -> str:
    """What is held while one thing grows."""
    held = ", ".join(f"{amount:,} {name}" for name, amount in axis.fixed.items())
    return held if axis.max_features == "sqrt" else f"{held}, all columns at each node"


def table_of(axis: Axis, seconds: list[float]) -> str:
    """The times as a Markdown table."""
    lines = [f"| {axis.name} ({described(axis)}) | seconds | times the one before |", "|---|---|---|"]
    for at, (size, taken) in enumerate(zip(axis.sizes, seconds, strict=True)):
        times = f"{taken / seconds[at - 1]:.2f}" if at else "-"
        lines.append(f"| {size:,} | {written(taken, 's')} | {times} |")
    return "\n".join([*lines, f"\ntime grows with {axis.name} to the power of {slope(axis.sizes, seconds):.2f}\n"])


def picture(measured: list[tuple[Axis, list[float]]], n_jobs: int) -> Any:
    """One panel for each thing that grows, both axes logarithmic; the dashed line doubles when the size does."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    from treewright.show.figures.look import (
        DASHED,
        DOT,
        LINE,
        PAD,
        SMALL,
        TEST,
        TRAIN,
        dress,
        set_x,
        text_style,
        tick_text,
        x_limits,
    )
    from treewright.show.figures.picture import Picture
    from treewright.show.style import LIGHT
    from treewright.trees.summary import counted

    layout = ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD)
    figure = Picture(figsize=FIGURE, dpi=100, facecolor=LIGHT.page, edgecolor=LIGHT.page, layout=layout)
    panels = figure.subplots(1, len(measured), sharey=True)
    everything = np.concatenate([seconds for _, seconds in measured])
    for panel, (axis, seconds) in zip(panels, measured, strict=True):
        sizes, taken = np.array(axis.sizes, float), np.array(seconds)
        dress(panel, xlabel=axis.name, ylabel=f"seconds, {counted(n_jobs, 'thread')}" if panel is panels[0] else "")
        set_x(panel, sizes, log=True)
        panel.xaxis.set_major_locator(FixedLocator(axis.sizes))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        for label in panel.get_xticklabels():
            label.set_rotation(30)
        # Through the middle of the points: what is above it at the right grows faster than the size.
        line = sizes * np.exp(np.mean(np.log(taken / sizes)))
        panel.plot(sizes, line, color=TRAIN, linewidth=LINE, linestyle=DASHED, label="linear", zorder=2)
        panel.plot(sizes, taken, color=TEST, linewidth=LINE, marker="o", markersize=DOT + 1, label="measured", zorder=3)
        panel.set_title(described(axis).replace(", all", ",\nall"), loc="left", **text_style(SMALL, LIGHT.muted))
    panels[0].set_yscale("log")
    panels[0].set_ylim(*x_limits(everything, log=True))
    panels[0].yaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    panels[0].yaxis.set_minor_locator(NullLocator())
    panels[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
    panels[0].legend(frameon=False, loc="upper left", labelcolor=LIGHT.ink, fontsize=SMALL)
    return figure


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description="How a random forest's fit grows with rows, columns and trees.")
    parser.add_argument("--quick", action="store_true", help="small tables, one fit each: does it run?")
    parser.add_argument("--base", type=int, default=50_000, metavar="N", help="rows of the smallest table")
    parser.add_argument("--doublings", type=int, default=4, metavar="N")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="fits of each size")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw there: .svg or .png")
    parser.add_argument("--out", type=Path, help="write JSON there")
    arguments = parser.parse_args()
    base, n_doublings, n_repeats = (
        (500, 1, 1) if arguments.quick else (arguments.base, arguments.doublings, arguments.repeats)
    )
    growing = axes(base, n_doublings)
    measure(growing[0], max(500, base // 10), arguments.threads, 1)  # compiles
    measured, results = [], []
    for axis in growing:
        seconds = [measure(axis, size, arguments.threads, n_repeats) for size in axis.sizes]
        print(table_of(axis, seconds), flush=True)
        measured.append((axis, seconds))
        results += [
            Pair(f"fit, {size:,} {axis.name}", taken, taken, None, n_repeats, note=described(axis))
            for size, taken in zip(axis.sizes, seconds, strict=True)
        ]
    print(machine())
    powers = {axis.name: slope(axis.sizes, seconds) for axis, seconds in measured}
    write_json(arguments.out, results, threads=arguments.threads, powers=powers)
    if arguments.picture is not None:
        picture(measured, arguments.threads).savefig(arguments.picture)


if __name__ == "__main__":
    main()
