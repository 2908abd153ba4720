"""Boosting at defaults: how long a fit takes. In: a folder of tables. Out: a table of ratios to other libraries.

Callers: people. One fold, one thread, fit and prediction; of each library a first run is not counted, and the median of
the others is, one after the other in turn. CatBoost and its like run once on tables on which they take long.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from boosting import folds_of, tables
from libraries import OURS, RIVALS, TREEWRIGHT, Library, Table, installed
from pairs import machine

_LONG = 5.0  # seconds: then one run says enough


def seconds_of(libraries: list[Library], table: Table, n_repeats: int) -> dict[str, float]:
    """Median seconds of each library."""
    train, test = folds_of(table, 5)[0]
    runs: dict[str, list[float]] = {library.name: [] for library in libraries}
    prepared = [library.prepare(table) for library in libraries]
    for repeat in range(n_repeats + 1):
        for library, X in zip(libraries, prepared, strict=True):
            taken = runs[library.name]
            if taken and taken[0] > _LONG and library.name != OURS:
                continue
            parts = library.rows(X, train), table.y[train], library.rows(X, test)
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                library.fit_predict(*parts, table, 1, {})
            taken.append(time.perf_counter() - begin)
            if repeat == 1 and taken[0] <= _LONG:
                del taken[0]
    return {name: statistics.median(taken) for name, taken in runs.items()}


def main() -> None:
    """Time the libraries."""
    parser = argparse.ArgumentParser(description="Seconds of boosting at defaults, as ratios to other libraries.")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of NAME.json and NAME.csv.gz")
    parser.add_argument("--names", nargs="+", help="which data sets; by default all with at least 100 rows")
    parser.add_argument("--rivals", nargs="+", default=["LightGBM"])
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rivals = [library for library in installed(RIVALS) if library.name in arguments.rivals]
    names = [library.name for library in rivals]
    print(f"{machine()}\n\n| set | rows x columns | classes | seconds | " + " | ".join(names) + " |")
    print("|---|---|--:|--:|" + "--:|" * len(names))
    ratios: dict[str, list[float]] = {name: [] for name in names}
    for table in tables(arguments.data, arguments.names, arguments.rows):
        found = seconds_of([TREEWRIGHT, *rivals], table, arguments.repeats)
        cells = []
        for name in names:
            ratios[name].append(found[OURS] / found[name])
            cells.append(f"{found[name]:.3f} ({ratios[name][-1]:.2f})")
        size = f"{len(table.frame):,} x {table.frame.width} | {table.n_classes or ''}"
        print(f"| {table.name} | {size} | {found[OURS]:.2f} | " + " | ".join(cells) + " |", flush=True)
    for name, each in ratios.items():
        print(f"\n{name}: geometric mean {np.exp(np.mean(np.log(each))):.2f}, at most {max(each):.2f}")


if __name__ == "__main__":
    main()
