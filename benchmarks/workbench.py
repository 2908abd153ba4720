"""What a step at the workbench takes: from the request of the screen to its answer as JSON.

    python benchmarks/workbench.py [--rows 50000 500000] [--columns 30]

Half of the columns are numbers, a third nominal of 8 levels, the rest has missing cells; two classes. Each step is done
five times and undone; the median and the longest are shown, in milliseconds. The browser draws the answer in 10 to 60
ms (``benchmarks/report.py`` measures the same drawing).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np
import polars as pl

import treewright as tw
from treewright.workbench.screen import Desk

REPEATS = 5


def table(n: int, columns: int) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    made = {}
    pull = rng.normal(size=n) * 2
    for at in range(columns):
        if at % 3 == 2:
            codes = rng.integers(0, 8, n)
            made[f"n{at}"] = pl.Series(codes).cast(pl.String)
            pull += (codes % 3) * 0.3
        else:
            cells = rng.lognormal(0, 1, n).round(3)
            pull += np.log(cells) * 0.3
            if at % 6 == 1:
                cells[rng.random(n) < 0.05] = np.nan
            made[f"x{at}"] = cells
    return pl.DataFrame(made), np.where(pull > 0.5, "good", "bad")


def asked(desk: Desk, request: dict) -> tuple[float, dict]:
    begun = time.perf_counter()
    answer = desk.ask({"revision": desk.revision, **request})
    json.dumps(answer)
    taken = time.perf_counter() - begun
    assert "error" not in answer, answer["error"]
    return taken, answer


def steps(desk: Desk) -> dict[str, list[float]]:
    """Times of each sort of step, on a tree of some levels."""
    taken: dict[str, list[float]] = {}

    def measure(name: str, request: dict, undo: bool = True) -> None:
        for _ in range(REPEATS):
            taken.setdefault(name, []).append(asked(desk, request)[0])
            if undo:
                taken.setdefault("undo", []).append(asked(desk, {"ask": "undo"})[0])

    def do(what: str, path: str, **given: object) -> dict:
        return {"ask": "do", "do": what, "path": path, "given": given}

    measure("candidates of the root (first)", {"ask": "candidates", "path": ""}, undo=False)
    measure("split the root", do("split", "", column=0, cut=1.0))
    asked(desk, do("split", "", column=0, cut=1.0))
    measure("move a cut", do("move", "", cut=1.3))
    measure("candidates of a child", {"ask": "candidates", "path": "1"}, undo=False)
    measure("histogram", {"ask": "column", "path": "1", "column": 3}, undo=False)
    measure("weigh a cut", {"ask": "question", "path": "1", "column": 3, "cut": 0.9}, undo=False)
    measure("grow a level", do("grow", "1", levels=1))
    begun = time.perf_counter()
    asked(desk, do("grow", "", rest=True, levels=4))
    taken["grow 5 levels everywhere"] = [time.perf_counter() - begun]
    measure("lock", do("lock", "0.0"))
    measure("prune a node", do("prune", "1.1"))
    measure("prune to 10 leaves", do("prune", "", leaves=10))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 500_000])
    parser.add_argument("--columns", type=int, default=30)
    options = parser.parse_args()
    for n in options.rows:
        features, target = table(n, options.columns)
        begun = time.perf_counter()
        session = tw.workbench.Session(features, target, min_samples_leaf=20)
        print(f"\n{n:,} rows x {options.columns} columns; a session is made in {time.perf_counter() - begun:.1f} s")
        print(f"{'step':32}{'median':>8}{'worst':>8}  ms")
        for name, times in steps(Desk(session)).items():
            print(f"{name:32}{1000 * statistics.median(times):8.0f}{1000 * max(times):8.0f}")
        print(f"leaves: {session.model.trees[0].n_leaves}")


if __name__ == "__main__":
    main()
