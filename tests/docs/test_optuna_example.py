"""The Optuna example of the guide runs; only where Optuna is installed, which Treewright does not need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import treewright as tw

GUIDE = Path(__file__).parents[2] / "docs" / "show-a-decision" / "choosing-honestly.md"


def test_the_optuna_example_finds_parameters():
    pytest.importorskip("optuna", reason="Optuna is optional: only this example needs it")
    (code,) = re.findall(r"^```py\n(.*?)^```\n", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    X, y = load_iris(return_X_y=True)
    names = {"tw": tw, "X": X, "y": y}

    exec(compile(code, str(GUIDE), "exec"), names)

    assert len(names["study"].trials) == 20
    assert names["best"].get_params().items() >= names["study"].best_params.items()
    assert names["best"].get_depth() <= names["study"].best_params["max_depth"]
