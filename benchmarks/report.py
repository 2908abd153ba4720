"""What a report costs: to make, on disk, and in a browser.

    python benchmarks/report.py [--leaves 200 1000] [--rows 20000] [--json FILE]

Needs Playwright and Chromium (``TREEWRIGHT_CHROMIUM`` names the program). Per number of leaves it prints: seconds to
make the page (median of three, the models are fitted before), its size, and in the browser the first paint, the time
until everything can be used, all nodes opened, and a step of the pruning slider (median and worst of 25).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

import treewright as tw

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAINTED = """async () => {
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  const ready = performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd;
  return [paint ? paint.startTime : NaN, ready];
}"""
OPEN_ALL = """async () => {
  const said = b => b.textContent + b.getAttribute('aria-label');
  const button = [...document.querySelectorAll('#tree button')].find(b => /all/i.test(said(b)));
  if (!button) return NaN;
  const from = performance.now();
  button.click();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - from;
}"""
SLIDE = """async () => {
  const slider = document.querySelector('#pruning-slider');
  const took = [];
  const ends = Number(slider.max);
  for (let i = 0; i < 25; i += 1) {
    const from = performance.now();
    slider.value = String(Math.round(((i * 7) % 25) / 24 * ends));
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    document.body.offsetHeight;
    const worked = performance.now() - from;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    took.push([worked, performance.now() - from]);
  }
  return took;
}"""


def page_of(n_leaves: int, n_rows: int) -> tuple[str, float, int]:
    """The page of a tree with so many leaves, the seconds it took, and how many nodes it has."""
    X, y = make_classification(
        n_rows, 20, n_informative=12, n_classes=3, n_clusters_per_class=4, flip_y=0.2, random_state=0
    )
    est = tw.DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(X[::2], y[::2])
    took = []
    for _ in range(3):
        start = time.perf_counter()
        text = tw.report(est, X[1::2], y[1::2]).html
        took.append(time.perf_counter() - start)
    return text, statistics.median(took), est.tree_.n_nodes


def in_browser(text: str) -> dict[str, float]:
    """What the browser needs for a page, in milliseconds."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("TREEWRIGHT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "page.html")
        path.write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        first = []
        for _ in range(3):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready=yes]", state="attached")
            painted = page.evaluate(PAINTED)
            first.append(painted)
            if len(first) < 3:
                page.close()
        open_all = page.evaluate(OPEN_ALL)
        steps = page.evaluate(SLIDE)
        browser.close()
    return {
        "first paint": statistics.median(one for one, _ in first),
        "ready": statistics.median(two for _, two in first),
        "open all": open_all,
        "slider step, work": statistics.median(one for one, _ in steps),
        "slider step, worst work": max(one for one, _ in steps),
        "slider step, drawn": statistics.median(two for _, two in steps),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaves", type=int, nargs="+", default=[20, 200, 1000])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    rows = []
    for n_leaves in asked.leaves:
        text, seconds, n_nodes = page_of(n_leaves, asked.rows)
        held = {"leaves": n_leaves, "nodes": n_nodes, "made in s": seconds, "size in kB": len(text.encode()) / 1000}
        held |= {f"{name}, ms": value for name, value in in_browser(text).items()}
        rows.append(held)
        print("  ".join(f"{name} {np.round(value, 1):g}" for name, value in held.items()), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
