"""What a step at the workbench takes: from the request of the screen to its answer as JSON.

    python benchmarks/workbench.py [--rows 50000 500000] [--columns 30] [--out FILE] [--quick] [--browser]
    python benchmarks/workbench.py --picture docs/pictures/workbench.png

Half of the columns are numbers, a third nominal of 8 levels, the rest has missing cells; two classes. Each step is done
five times and undone; the median and the longest are shown, in milliseconds. The browser draws the answer in 10 to 60
ms (``benchmarks/report.py`` measures the same drawing). ``--picture`` takes the picture of the guide *A tree with a
committee*, in Chromium (``TREEWRIGHT_CHROMIUM`` names the program).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import treewright as tw
from treewright.workbench.screen import Desk
from treewright.workbench.server import Server

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


def picture(path: str) -> None:
    """The page with the tree of a committee."""
    rng = np.random.default_rng(0)
    n = 1_000
    rows = pl.DataFrame(
        {
            "age": rng.integers(18, 76, n),
            "income": rng.lognormal(10, 0.4, n).round(-2),
            "home": rng.choice(["own", "rent", "free"], n),
            "months": rng.integers(3, 61, n),
        }
    )
    odds = rows["income"].to_numpy() / 22_000 - rows["months"].to_numpy() / 40 + (rows["home"] == "own").to_numpy()
    risk = pl.Series("risk", np.where(odds + rng.normal(size=n) * 0.7 > 0.6, "good", "bad"))
    session = tw.workbench.Session(rows, risk, min_samples_leaf=30, sealed=0.1, who="Ann")
    told = {"when": "2026-05-02T10:00:00+00:00"}
    session.split("", "home", levels=["own"], why="the scorecard of 2019 begins with it", **told)
    session.split("0", "months", cut=36, why="contracts run for whole years", **told)
    session.lock("0", why="approved on the second of May", **told)
    session.grow(rest=True, levels=2, **told)
    with opened(session, width=1360) as page:
        page.click('.tree-card[data-path="1"]')
        page.wait_for_selector(".bench-bars")
        page.wait_for_selector(".bench-said:has-text('Gain ')")
        page.screenshot(path=path)


@contextmanager
def opened(session: tw.workbench.Session, width: int = 1440) -> Iterator[Any]:
    """The page of a session in Chromium."""
    from playwright.sync_api import sync_playwright

    server = Server(Desk(session, title="Risk of credits"))
    threading.Thread(target=server._server.run, kwargs={"sockets": [server._socket]}, daemon=True).start()
    with sync_playwright() as playwright:
        program = os.environ.get("TREEWRIGHT_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(server.address)
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        yield page
    server.quit()


PRESSED = """(selector) => new Promise((done) => {
  const root = document.documentElement, before = root.dataset.revision, begun = performance.now();
  const drawn = () => requestAnimationFrame(() => done(performance.now() - begun));
  const look = () => root.dataset.revision !== before ? drawn() : setTimeout(look, 2);
  document.querySelector(selector).click();
  look();
})"""


def in_browser(session: tw.workbench.Session) -> None:
    """Milliseconds from the press of a button to the frame after the state was drawn; each once, the page at rest."""
    steps = [
        ("split", "[data-do=split]"),
        ("undo", "#bench-undo"),
        ("redo", "#bench-redo"),
        ("lock", "[data-act=lock]"),
    ]
    steps += [("unlock", "[data-act=unlock]"), *[(f"best leaf of {at}", "#bench-grow-best") for at in range(2, 9)]]
    with opened(session) as page:
        page.wait_for_selector("[data-do=split]")
        for name, selector in steps:
            page.wait_for_timeout(2_500)
            print(f"in Chromium: {name:19}{page.evaluate(PRESSED, selector):8.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 500_000])
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="2,000 rows, to see that it runs")
    parser.add_argument("--out", help="write the figures as JSON")
    parser.add_argument("--browser", action="store_true", help="press buttons in Chromium as well")
    parser.add_argument("--picture", help="take a picture of the page in place of times")
    options = parser.parse_args()
    if options.picture:
        picture(options.picture)
        return
    found = []
    for n in [2_000] if options.quick else options.rows:
        features, target = table(n, options.columns)
        begun = time.perf_counter()
        session = tw.workbench.Session(features, target, min_samples_leaf=20)
        made = time.perf_counter() - begun
        print(f"\n{n:,} rows x {options.columns} columns; a session is made in {made:.1f} s")
        print(f"{'step':32}{'median':>8}{'worst':>8}  ms")
        times = steps(Desk(session))
        for name, taken in times.items():
            print(f"{name:32}{1000 * statistics.median(taken):8.0f}{1000 * max(taken):8.0f}")
        print(f"leaves: {session.model.trees[0].n_leaves}")
        if options.browser:
            in_browser(tw.workbench.Session(features, target, min_samples_leaf=20))
        found.append({"rows": n, "columns": options.columns, "made": made, "steps": times})
    if options.out:
        machine = {"machine": platform.machine(), "python": platform.python_version(), "treewright": tw.__version__}
        Path(options.out).write_text(json.dumps({**machine, "results": found}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
