"""Boosting on samples of few rows: how many rows a branch should need. In: a folder of tables. Out: mean ranks.

Samples of each size are drawn from each table, several times; a rule is a share of the rows, at most 20. What is ranked
is the mean log loss, or R2, on up to 600 other rows.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from boosting import score_of, tables
from libraries import TREEWRIGHT, Table

SIZES = (25, 40, 60, 80, 100, 160)
RULES = {"20 rows": 1, "a third": 3, "a quarter": 4, "a fifth": 5, "a sixth": 6, "a tenth": 10}
MOST, TESTED = 20, 600


def least(rule: str, n: int) -> int:
    """Rows that a branch needs by a rule."""
    return MOST if RULES[rule] == 1 else max(1, min(MOST, n // RULES[rule]))


def loss_on_sample(table: Table, n: int, seed: int, rule: str) -> float | None:
    """Log loss, or minus R2, of a fit on ``n`` rows; None where a class is not among them."""
    order = np.random.default_rng(seed).permutation(len(table.y))
    rows, others = order[:n], order[n : n + TESTED]
    if table.n_classes and len(np.unique(table.y[rows])) < table.n_classes:
        return None
    more: dict[str, Any] = {"min_samples_leaf": least(rule, n)}
    answer = TREEWRIGHT.fit_predict(table.frame[rows], table.y[rows], table.frame[others], table, 1, more)
    score = score_of(table, table.y[others], answer)
    return score if table.n_classes else -score


def ranks_of_rules(table: Table, n: int, repeats: int) -> dict[str, int] | None:
    """Which rule is how good on samples of one size; None where none holds every class."""
    means = {}
    for rule in RULES:
        found = [loss for seed in range(repeats) if (loss := loss_on_sample(table, n, seed, rule)) is not None]
        if not found:
            return None
        means[rule] = round(float(np.mean(found)), 9)
    return {rule: 1 + sum(other < mean for other in means.values()) for rule, mean in means.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Boosting on few rows: rows that a branch needs.")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of NAME.json and NAME.csv.gz")
    parser.add_argument("--names", nargs="+", help="which data sets; all by default")
    parser.add_argument("--repeats", type=int, default=8, help="samples of each size and table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    all_tables = list(tables(arguments.data, arguments.names, 4000))
    print("| rows | sets | " + " | ".join(RULES) + " |\n|--:|--:|" + "--:|" * len(RULES))
    for n in SIZES:
        ranks = [
            found
            for table in all_tables
            if len(table.y) >= n + 60 and (found := ranks_of_rules(table, n, arguments.repeats)) is not None
        ]
        means = " | ".join(f"{np.mean([each[rule] for each in ranks]):.2f}" for rule in RULES)
        print(f"| {n} | {len(ranks)} | {means} |", flush=True)


if __name__ == "__main__":
    main()
