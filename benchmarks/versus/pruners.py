"""Every pruner on real tables. In: a folder of data sets. Out: leaves and scores, JSON, a table for the docs.

Callers: people, tests.

Five folds; in each, a CART tree of full depth and then every pruner on the same learning rows (``PrunedTree``:
``reduced_error`` grows on two thirds of them and prunes with the rest; ``ccp_*`` cross-validates among them). Scores
are accuracy, for numbers R2. Tables with more than ``--most`` rows are sampled, by seed.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from pairs import write_json
from real_data import read
from scipy import stats
from sklearn.model_selection import KFold, StratifiedKFold

import treewright as tw
from treewright.exceptions import ParameterError

METHODS = (
    "ccp_min", "ccp_1se", "reduced_error", "error_based", "pessimistic", "minimum_error", "significance",
    "description_length", "merge_equal_leaves",
)  # fmt: skip
SHORT = {"merge_equal_leaves": "merge", "description_length": "mdl"}
LEAST = 100  # rows; five folds of fewer say nothing
MARKS = ("<!-- pruners: begin -->", "<!-- pruners: end -->")


def measure(facts: dict[str, Any], folder: Path, most: int, methods: tuple[str, ...]) -> dict[str, Any]:
    """Leaves, scores and seconds of every method on one data set, fold by fold."""
    X, y = read(facts, folder)
    if len(y) > most:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
        X, y = X[rows], y[rows]
    numbers = facts["task"] == "regression"
    made = tw.DecisionTreeRegressor if numbers else tw.DecisionTreeClassifier
    folds = (KFold if numbers else StratifiedKFold)(5, shuffle=True, random_state=0)
    target = y.to_numpy()
    results: dict[str, Any] = {name: {"leaves": [], "score": [], "seconds": []} for name in ("unpruned", *methods)}
    for learn, test in folds.split(np.zeros(len(y)), None if numbers else target.astype(str)):
        for name in list(results):
            tree = made(nominal=facts["nominal"] or None)
            estimator = tree if name == "unpruned" else tw.model_selection.PrunedTree(tree, name)
            began = time.perf_counter()
            try:
                estimator.fit(X[learn], target[learn])
            except ParameterError:
                del results[name]  # undefined for numbers
                continue
            results[name]["seconds"].append(time.perf_counter() - began)
            results[name]["leaves"].append(int(estimator.get_n_leaves()))
            results[name]["score"].append(float(estimator.score(X[test], target[test])))
    return {"name": facts["name"], "rows": len(y), "columns": X.width, "task": facts["task"], "results": results}


def cell(results: dict[str, Any], name: str) -> str:
    """Mean leaves and score; bold where clearly better than the unpruned tree, in brackets where clearly worse."""
    if name not in results:
        return "-"
    leaves, score = np.mean(results[name]["leaves"]), np.array(results[name]["score"])
    apart = score - np.array(results["unpruned"]["score"])
    # Nadeau and Bengio 2003; 5 % on either side together, with the four degrees of freedom of five folds.
    doubt = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + 1 / 4) * apart.var(ddof=1))
    text = f"{100 * score.mean():.1f}"
    if name != "unpruned" and abs(apart.mean()) > doubt:
        text = f"**{text}**" if apart.mean() > 0 else f"({text})"
    return f"{leaves:.0f} / {text}"


def summary(sets: list[dict[str, Any]], names: tuple[str, ...], regression: bool) -> list[str]:
    """Two rows: leaves left as a share (geometric mean), and the mean change of the score in points."""
    left, change = ["*leaves left, %*"], ["*score, points*"]
    for name in names:
        those = [each["results"] for each in sets if name in each["results"]]
        if not those:
            left.append("-")
            change.append("-")
            continue
        shares = [np.mean(each[name]["leaves"]) / np.mean(each["unpruned"]["leaves"]) for each in those]
        points = [100 * (np.mean(each[name]["score"]) - np.mean(each["unpruned"]["score"])) for each in those]
        left.append(f"{100 * np.exp(np.mean(np.log(shares))):.0f}")
        change.append(f"{np.mean(points):+.1f}")
    what = "mean of the regressions" if regression else "mean of the classifications"
    return [f"| {what}: {' | '.join(row)} |" for row in (left, change)]


def table(sets: list[dict[str, Any]]) -> str:
    """The table for the docs, in Markdown."""
    names = tuple(name for name in ("unpruned", *METHODS) if any(name in each["results"] for each in sets))
    lines = [
        f"| data (rows) | {' | '.join(f'`{SHORT.get(name, name)}`' for name in names)} |",
        f"|---|{'---:|' * len(names)}",
    ]
    for regression in (False, True):
        those = [each for each in sets if (each["task"] == "regression") == regression]
        lines += [
            f"| {each['name']} ({each['rows']:,}) | {' | '.join(cell(each['results'], name) for name in names)} |"
            for each in those
        ]
        if those:
            lines += summary(those, names, regression)
    return "\n".join(lines)


def put_into(path: Path, text: str) -> None:
    """Replace what stands between the marks of a page."""
    page = path.read_text(encoding="utf-8")
    between = re.compile(f"({re.escape(MARKS[0])}\n).*?({re.escape(MARKS[1])})", re.DOTALL)
    if not between.search(page):
        raise SystemExit(f"{path} has no lines {MARKS[0]} and {MARKS[1]}")
    path.write_text(between.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page), encoding="utf-8")


def main() -> None:
    """Measure what is asked for, print it, write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--names", nargs="*", help="only these")
    parser.add_argument("--most", type=int, default=20_000, help="rows at most")
    parser.add_argument("--out", type=Path, help="JSON")
    parser.add_argument("--docs", type=Path, help="page whose table is made anew")
    parser.add_argument("--quick", action="store_true", help="few rows, three methods: does it run?")
    words = parser.parse_args()
    warnings.simplefilter("ignore")
    most, methods = (200, ("ccp_1se", "reduced_error", "pessimistic")) if words.quick else (words.most, METHODS)
    sets = []
    for path in sorted(words.data.glob("*.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        if "target" not in facts or (words.names and facts["name"] not in words.names):
            continue
        if not (words.data / facts["file"]).exists():
            print(f"{facts['name']}: no file {facts['file']}, skipped")
            continue
        if facts.get("rows", LEAST) < LEAST:
            print(f"{facts['name']}: fewer than {LEAST} rows, skipped")
            continue
        sets.append(measure(facts, words.data, most, methods))
        print(sets[-1]["name"], {name: cell(sets[-1]["results"], name) for name in sets[-1]["results"]}, flush=True)
    text = table(sets)
    print(text)
    if words.docs:
        put_into(words.docs, text)
    if words.out:
        write_json(words.out, [], sets=sets)


if __name__ == "__main__":
    main()
