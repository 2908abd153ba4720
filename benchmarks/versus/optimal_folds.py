"""What optimal trees are worth on new rows: next to CART with as many leaves, and to CART pruned by folds.

In: a folder of data sets (see the README). Out: a table, JSON.

Five folds, stratified for classes, all trees on the same rows. The score is accuracy, or R² of numbers; its mean over
the folds, and the mean number of leaves. A search stops after ``--search`` subproblems; how many folds were proved is
told.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from pairs import machine, write_json
from real_data import read, those_there
from sklearn.model_selection import KFold, StratifiedKFold

import treewright as tw
from treewright.model_selection import PrunedTree

SETS = (
    "breast_cancer_w", "car_evaluation", "credit_g", "cylinder_bands", "heart_cleveland", "iris", "mammographic_masses",
    "mushroom", "penguins", "tic_tac_toe", "vote", "wine", "abalone", "auto_mpg", "student_por",
)  # fmt: skip
PRUNED = "CART, cost-complexity by folds"


def measure(facts: dict[str, Any], folder: Path, depths: list[int], most: int) -> list[dict[str, Any]]:
    """The trees of one data set."""
    X, target = read(facts, folder)
    is_number, y = facts["task"] == "regression", target.to_numpy()
    cart, optimal = (
        (tw.DecisionTreeRegressor, tw.OptimalTreeRegressor)
        if is_number
        else (tw.DecisionTreeClassifier, tw.OptimalTreeClassifier)
    )
    fixed: dict[str, Any] = {"nominal": facts["nominal"] or None, "n_jobs": 1}
    folds = (KFold if is_number else StratifiedKFold)(5, shuffle=True, random_state=0)
    runs: dict[str, list[tuple[float, float, bool, float]]] = {}
    for fitted, held_out in folds.split(np.zeros(len(y)), y):

        def run(name: str, est: Any, rows: np.ndarray = fitted, new: np.ndarray = held_out) -> int:
            start = time.process_time()
            est.fit(X[rows], y[rows])
            seconds = time.process_time() - start
            leaves = int(est.get_n_leaves() if hasattr(est, "get_n_leaves") else est.estimator_.get_n_leaves())
            score = float(est.score(X[new], y[new]))
            runs.setdefault(name, []).append((score, leaves, bool(getattr(est, "proven_", False)), seconds))
            return leaves

        run(PRUNED, PrunedTree(cart(**fixed), "ccp_1se"))
        for depth in depths:
            leaves = run(f"optimal, depth {depth}", optimal(max_depth=depth, max_search=most, **fixed))
            run(f"CART with the leaves of depth {depth}", cart(max_leaf_nodes=max(leaves, 2), **fixed))
            run(f"CART, depth {depth}", cart(max_depth=depth, **fixed))
    found = []
    for name, each in runs.items():
        scores, leaves, proven, seconds = zip(*each, strict=True)
        one = {
            "set": facts["name"], "rows": len(y), "columns": X.width, "tree": name, "score": statistics.mean(scores),
            "leaves": statistics.mean(leaves), "proven": sum(proven), "seconds": statistics.mean(seconds),
        }  # fmt: skip
        proved = f", {one['proven']} of 5 proven" if name.startswith("optimal") else ""
        print(
            f"{one['set']} {len(y):,} x {X.width}: {name}: {one['score']:.4f}, {one['leaves']:.1f} leaves, "
            f"{one['seconds']:.2f} s{proved}", flush=True,
        )  # fmt: skip
        found.append(one)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--names", nargs="+", default=list(SETS), help="only these sets")
    parser.add_argument("--depths", nargs="+", type=int, default=[3, 4], help="of the optimal trees")
    parser.add_argument("--search", type=int, default=2000, help="subproblems of each search")
    parser.add_argument("--quick", action="store_true", help="depth 2 and few subproblems: only to see that it runs")
    parser.add_argument("--out", type=Path, help="write JSON here")
    given = parser.parse_args()
    if given.quick:
        given.depths, given.search = [2], 20
    warnings.simplefilter("ignore")
    print(machine())
    found = []
    for facts in those_there(given.names, given.data):
        found += measure(facts, given.data, given.depths, given.search)
    write_json(given.out, [], trees=found)


if __name__ == "__main__":
    main()
