"""``--set max_p_value``: growth stops, and the command's audit of the saved model knows why."""

from __future__ import annotations

import treewright


def test_a_limit_on_p_values_is_set_like_any_parameter(command, penguins, tmp_path):
    model = tmp_path / "penguins.tw"

    done = command("fit", penguins, "--target", "species", "--set", "max_p_value=0.05", "--out", model)

    assert done.returncode == 0
    loaded = treewright.load(model)
    assert loaded.facts["parameters"]["max_p_value"] == 0.05
    whole = command("fit", penguins, "--target", "species", "--out", tmp_path / "whole.tw")
    assert whole.returncode == 0
    assert 1 < loaded.trees[0].n_leaves < treewright.load(tmp_path / "whole.tw").trees[0].n_leaves
