"""Two checkouts timed in turn, old, new, old, new: is the new one slower?

    python benchmarks/two_commits.py OLD/src NEW/src [--jobs WORD ...] [--rounds N] [--quick] [--out FILE]

Each checkout has a process of its own, which compiles and warms up before the clock runs; while one works, the other
waits. A ratio is new / old of two neighbouring readings, above 1 the new one is slower; the table shows its median and
quartiles. The jobs ``start`` and ``command`` run the command itself, with kernels read from the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

SECONDS = 0.2  # shorter work is repeated within one reading


def jobs(quick):
    """What is timed inside a process: a name and a function without arguments."""
    import numpy as np

    import treewright as tw

    random = np.random.default_rng(0)
    n = 2_000 if quick else 50_000
    X = random.normal(size=(n, 20))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=n)
    y, numbers = (score > 0).astype(int), score + (X[:, 3] > 1)
    few = slice(0, n // 10)
    one = {"n_jobs": 1}
    tree = tw.DecisionTreeClassifier(**one).fit(X[few], y[few])
    forest = tw.RandomForestClassifier(50, random_state=0, **one).fit(X[few], y[few])
    boosted = tw.GradientBoostingClassifier(n_estimators=100, random_state=0, **one).fit(X[few], y[few])
    near = tw.KNeighborsClassifier(**one).fit(X[:, :6], y)
    row = X[0]
    return {
        "tree": lambda: tw.DecisionTreeClassifier(**one).fit(X, y),
        "tree of numbers": lambda: tw.DecisionTreeRegressor(max_depth=10, **one).fit(X, numbers),
        "tree, hist": lambda: tw.DecisionTreeClassifier(splitter="hist", **one).fit(X, y),
        "C4.5": lambda: tw.C45Classifier(**one).fit(X[few], y[few]),
        "forest": lambda: tw.RandomForestClassifier(20, random_state=0, **one).fit(X, y),
        "boosting": lambda: tw.GradientBoostingClassifier(n_estimators=50, random_state=0, **one).fit(X, y),
        "AdaBoost": lambda: tw.AdaBoostClassifier(n_estimators=20, random_state=0, **one).fit(X[few], y[few]),
        "small tree": lambda: tw.DecisionTreeClassifier(**one).fit(X[:150, :4], y[:150]),
        "small forest": lambda: tw.RandomForestClassifier(10, random_state=0, **one).fit(X[:150, :4], y[:150]),
        "predict tree": lambda: tree.predict(X),
        "predict forest": lambda: forest.predict(X),
        "predict boosting": lambda: boosted.predict(X),
        "one row, tree": lambda: tree.model_.predict_one(row),
        "one row, forest": lambda: forest.model_.predict_one(row),
        "one row, boosting": lambda: boosted.model_.predict_one(row),
        "predict one row, tree": lambda: tree.predict(X[:1]),
        "neighbours": lambda: near.predict(X[few, :6]),
        "neighbours, fit": lambda: tw.KNeighborsClassifier(**one).fit(X[:, :6], y),
    }


def commands(folder, quick):
    """What is timed as a process of its own: a name and words behind ``python -m treewright``."""
    table = Path(folder) / "rows.csv"
    lines = ["a,b,y"]
    lines += [f"{i % 17},{(i * 7) % 23},{'yes' if (i % 17) + (i * 7) % 23 > 19 else 'no'}" for i in range(150)]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {"start": ["--version"], "command": ["fit", str(table), "--target", "y"]}
    return {"start": found["start"]} if quick else found


def seconds_of(work, times):
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times


def serve(quick):
    """Answer the parent: for each line "NAME TIMES" the seconds of one call."""
    known = jobs(quick)
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        name, times = json.loads(line)
        print(json.dumps(seconds_of(known[name], times)), flush=True)


class Checkout:
    """A process that works with one checkout."""

    def __init__(self, source, quick):
        self.environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "PYTHONUTF8": "1", "NO_COLOR": "1"}
        self.environment["TREEWRIGHT_COMPILE"] = "first"  # the kernels are timed, not their Python bodies
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
        words = [sys.executable, __file__, "--serve", *(["--quick"] if quick else [])]
        self.process = subprocess.Popen(
            words, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.names = json.loads(self.process.stdout.readline() or "[]")
        if not self.names:
            sys.exit(f"{source}: the process ended")

    def read(self, name, times):
        self.process.stdin.write(json.dumps([name, times]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def run(self, words, times):
        work = partial(
            subprocess.run, [sys.executable, "-m", "treewright", *words],
            env={**self.environment, "TREEWRIGHT_COMPILE": ""}, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return seconds_of(work, times)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare(readings, n_rounds):
    """Median seconds of both, and ratios of neighbours; ``readings`` are functions of the number of repetitions."""
    first = [read(1) for read in readings]  # compiles
    times = max(1, round(SECONDS / max(min(read(1) for read in readings), 1e-6))) if max(first) < SECONDS * 50 else 1
    times = min(times, 10_000)
    pairs = []
    for number in range(n_rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)  # who goes first takes turns as well
        seconds = {which: readings[which](times) for which in order}
        pairs.append((seconds[0], seconds[1]))
    ratios = sorted(new / old for old, new in pairs)
    return {
        "old": statistics.median(old for old, _ in pairs),
        "new": statistics.median(new for _, new in pairs),
        "ratio": statistics.median(ratios),
        "low": ratios[len(ratios) // 4],
        "high": ratios[-1 - len(ratios) // 4],
        "repetitions": times,
        "pairs": len(pairs),
    }


def written(seconds):
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    return ""


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("sources", nargs="*", type=Path, metavar="SRC", help="the old and the new folder src")
    words.add_argument("--jobs", nargs="*", default=[], help="only jobs with one of these words in their name")
    words.add_argument("--rounds", type=int, default=11, help="pairs of readings for each job")
    words.add_argument("--quick", action="store_true", help="small tables, two pairs: only to see that it runs")
    words.add_argument("--out", type=Path, help="write the figures to this file as JSON")
    words.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.serve:
        serve(given.quick)
        return
    if len(given.sources) != 2:
        words.error("give two folders: OLD/src NEW/src")
    n_rounds = 2 if given.quick else given.rounds
    both = [Checkout(source, given.quick) for source in given.sources]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        work = {name: [partial(checkout.read, name) for checkout in both] for name in both[0].names}
        for name, line in commands(folder, given.quick).items():
            work[name] = [partial(checkout.run, line) for checkout in both]
        print("| job | old | new | new / old | quartiles |\n| --- | ---: | ---: | ---: | ---: |", flush=True)
        for name, readings in work.items():
            if given.jobs and not any(word in name for word in given.jobs):
                continue
            each = found[name] = compare(readings, n_rounds)
            print(
                f"| {name} | {written(each['old'])} | {written(each['new'])} | {each['ratio']:.3f} "
                f"| {each['low']:.3f} to {each['high']:.3f} |",
                flush=True,
            )
    for checkout in both:
        checkout.end()
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
