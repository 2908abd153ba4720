"""Names of other libraries: whoever types them is told ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import treewright as tw
from treewright.learn.registry import option_hint

GUIDE = Path(__file__).parents[2] / "docs" / "coming-from" / "scikit-learn.md"
KNOWN = set(tw.GradientBoostingRegressor().get_params()) | set(tw.GradientBoostingClassifier().get_params())


def rows_of_the_guide():
    """Names of others and ours, row by row."""
    section = GUIDE.read_text("utf-8").split("## Boosting")[1].split("##")[0]
    for line in section.splitlines():
        cells = [re.findall(r"`(\w+)", cell) for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[2]:
            yield cells[0] + cells[1], cells[2]


def test_every_name_of_the_guide_has_the_hint_of_the_guide():
    asked = 0
    for theirs, ours in rows_of_the_guide():
        for name in set(theirs) - KNOWN - {"SymmetricTree"}:
            hint = option_hint(name, KNOWN)
            asked += 1
            assert hint, name
            assert any(word in hint for word in [*ours, "early_stopping", "--nominal"]), (name, hint)
    assert asked > 15


@pytest.mark.parametrize(
    ("setting", "hint"),
    [
        ("num_leaves=10", "here it is max_leaf_nodes;"),
        ("max_iter=10", "here it is n_estimators;"),
        ("n_iter=10", "here it is n_estimators;"),
        ("eta=0.1", "here it is learning_rate;"),
        ("reg_lambda=1", "here it is l2;"),
        ("lambda_l2=1", "here it is l2;"),
        ("alpha=0.9", "here it is quantile or huber_delta or l1;"),
        ("eval_set=x.csv", "--set early_stopping=true holds out rows"),
        ("early_stopping_rounds=9", "here it is --set early_stopping=true --set n_iter_no_change=N;"),
        ("verbose_eval=5", "the progress bar is shown by itself"),
        ("categorical_feature=sex", "text columns are nominal by default; --nominal COL declares others;"),
        ("seed=1", "use --seed;"),
    ],
)
def test_the_command_answers_in_our_words(command, penguins, setting, hint):
    done = command("fit", penguins, "--target", "body_mass_g", "--algorithm", "boosting", "--set", setting)

    assert done.returncode == 2
    assert f"no parameter {setting.partition('=')[0]!r}; {hint}" in done.stderr


def test_no_name_is_advised_that_the_algorithm_lacks(command, penguins):
    done = command("fit", penguins, "--target", "species", "--set", "eta=0.1")

    assert done.returncode == 2
    assert "no parameter 'eta'; choose one of " in done.stderr
