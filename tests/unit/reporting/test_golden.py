"""The summaries of three small reports are those that were looked at when they were kept.

``TREEWRIGHT_WRITE_GOLDEN=1 pytest tests/unit/reporting/test_golden.py`` writes them anew: look at what changed.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

import treewright as tw

FOLDER = Path(__file__).parent / "golden"
# Whole numbers and texts are equal; others may differ in the last digits where another version of a library adds up in
# another order.
TOLERANCE = 1e-9


def table():
    return {
        "sky": ["sun", "rain", "fog", "sun", "rain", "sun", "fog", "rain", "sun", "fog", "rain", "sun"] * 2,
        "wind": [3, 7, None, 12, 4, 9, 15, 2, 8, 11, 6, 14, 5, 1, 10, 13, 7, 3, None, 9, 12, 2, 6, 4],
    }


CLASSES = [
    "out", "in", "in", "in", "in", "out", "in", "in", "out", "in", "in", "in",
    "out", "in", "away", "in", "in", "out", "in", "in", "in", "in", "in", "out",
]  # fmt: skip
NUMBERS = [20.5, 11, 9, 18, 12, 21, 8.5, 10, 22, 9.5, 11.5, 17, 20, 10.5, 9, 18.5, 12, 21.5, 8, 10, 19, 9, 12.5, 20]


def made(kind):
    if kind == "tree":
        return tw.DecisionTreeClassifier().fit(table(), CLASSES), CLASSES
    if kind == "regression":
        return tw.DecisionTreeRegressor(min_samples_leaf=2).fit(table(), NUMBERS), NUMBERS
    return tw.RandomForestClassifier(n_estimators=4, random_state=0).fit(table(), CLASSES), CLASSES


def differences(found, kept, where=""):
    """Where two plain values differ."""
    if isinstance(found, dict) and isinstance(kept, dict):
        names = sorted({*found, *kept})
        return [each for name in names for each in differences(found.get(name), kept.get(name), f"{where}.{name}")]
    if isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        pairs = enumerate(zip(found, kept, strict=True))
        return [each for at, (one, other) in pairs for each in differences(one, other, f"{where}[{at}]")]
    if isinstance(found, float) and isinstance(kept, int | float):
        return [] if math.isclose(found, kept, rel_tol=TOLERANCE, abs_tol=1e-12) else [f"{where}: {found} {kept}"]
    return [] if found == kept else [f"{where}: {found!r} {kept!r}"]


@pytest.mark.parametrize("kind", ["tree", "regression", "forest"])
def test_the_summary_is_the_one_that_was_looked_at(kind):
    estimator, target = made(kind)
    found = json.loads(estimator.report(table(), target, cv=3, examples=4).to_json())
    found["version"] = "of this test"
    path = FOLDER / f"{kind}.json"
    if os.environ.get("TREEWRIGHT_WRITE_GOLDEN"):
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    assert differences(found, json.loads(path.read_text(encoding="utf-8"))) == []
