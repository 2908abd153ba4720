"""One tree at its defaults: full, or with its size chosen by cross-validation. In: a folder of tables. Out: a table.

Callers: people. For each data set and each repeat a quarter of the rows is held out (seeded, stratified for classes);
the full tree and the two that cost-complexity pruning chooses (lowest cross-validated error, and the smallest tree
within one standard error of it) are fitted on the rest. Large tables are cut to ``--rows`` rows drawn at random.
Scores are accuracy or R2 on the rows held out.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import treewright as tw

FEWEST_ROWS = 20
WAYS = ("full", "ccp_min", "ccp_1se")


def loader(folder: Path) -> Any:
    """The module ``load`` of the folder of tables."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judged(frame: Any, meta: dict[str, Any], n_rows: int, n_folds: int, repeats: int) -> dict[str, np.ndarray]:
    """Of each way: score, leaves and seconds, mean over the repeats."""
    target = meta["target"]
    is_numbers = meta["task"] == "regression"
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    for seed in range(repeats):
        rows = frame.sample(min(len(frame), n_rows), random_state=seed)
        X, y = rows.drop(columns=target), rows[target]
        y = y.to_numpy(float) if is_numbers else y.astype(str).to_numpy()
        rare = not is_numbers and np.unique(y, return_counts=True)[1].min() < 2
        parts = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=None if is_numbers or rare else y)
        learn_X, test_X, learn_y, test_y = parts
        for way in WAYS:
            kind = tw.DecisionTreeRegressor if is_numbers else tw.DecisionTreeClassifier
            estimator: Any = kind(random_state=seed)
            if way != "full":
                estimator = tw.model_selection.PrunedTree(estimator, way, cv=n_folds, random_state=seed)
            start = time.perf_counter()
            estimator.fit(learn_X, learn_y)
            seconds = time.perf_counter() - start
            found[way].append((estimator.score(test_X, test_y), estimator.get_n_leaves(), seconds))
    return {way: np.mean(values, axis=0) for way, values in found.items()}


def main() -> None:
    """Judge every data set and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with load.py and the tables")
    parser.add_argument("--names", nargs="*", help="only these")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    module = loader(asked.data)
    print(
        "| data | rows | score: full | lowest | 1 s.e. | leaves: full | lowest | 1 s.e. | s: full | lowest | 1 s.e. |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    every = []
    for name in asked.names or module.names():
        frame, meta = module.load(name)
        frame = frame.dropna(subset=[meta["target"]])
        if len(frame) < FEWEST_ROWS:
            continue
        found = judged(frame, meta, asked.rows, asked.folds, asked.repeats)
        every.append([found[way] for way in WAYS])
        scores, leaves, seconds = zip(*(found[way] for way in WAYS), strict=True)
        cells = [
            *(f"{value:.3f}" for value in scores),
            *(f"{value:.0f}" for value in leaves),
            *(f"{value:.2f}" for value in seconds),
        ]
        print(f"| {name} | {min(len(frame), asked.rows)} | {' | '.join(cells)} |", flush=True)
    values = np.array(every)
    score = values[:, :, 0]
    for at, way in ((1, "lowest"), (2, "1 s.e.")):
        apart = score[:, at] - score[:, 0]
        share = np.median(values[:, at, 1] / values[:, 0, 1])
        times = np.median(values[:, at, 2] / values[:, 0, 2])
        better, worse = int((apart > 0.005).sum()), int((apart < -0.005).sum())
        print(
            f"\n{way}: better by more than 0.005 on {better} of {len(apart)} sets, worse on {worse}; "
            f"mean {apart.mean():+.4f}, lowest {apart.min():+.3f}, highest {apart.max():+.3f}; "
            f"median share of the leaves {share:.2f}; median seconds {times:.1f} times",
        )


if __name__ == "__main__":
    main()
