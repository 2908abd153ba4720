"""Properties of audits: what they compute from the rows is what the search found, for every criterion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw

# Some tables are constant.
pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")

CLASSES = ("gini", "entropy", "misclassification", "gain_ratio")
NUMBERS = ("squared_error", "absolute_error", "poisson")


@st.composite
def fits(draw):
    """A fitted tree on a small table with missing cells, of any criterion."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(2, 30))
    splits = draw(st.sampled_from(["subset", "multiway", "one_vs_rest"]))
    ways = ["direction", "branch", "fractional"] + (["surrogate"] if splits != "multiway" else [])
    criterion = draw(st.sampled_from(CLASSES + NUMBERS))
    options = {
        "criterion": criterion,
        "nominal_splits": splits,
        "missing": draw(st.sampled_from(ways)),
        "min_samples_leaf": draw(st.integers(1, 3)),
    }
    table = {
        "x": np.where(rng.random(n) < 0.25, math.nan, rng.integers(0, 6, n)).tolist(),
        "c": [None if code == 4 else "pqrs"[code] for code in rng.integers(0, 5, n)],
        "z": rng.integers(0, 3, n).astype(float).tolist(),
    }
    weights = rng.integers(1, 9, n) / 4 if draw(st.booleans()) else None
    if criterion in NUMBERS:
        y = rng.integers(1, 9, (n, draw(st.integers(1, 2)))).astype(float)
        return tw.DecisionTreeRegressor(**options).fit(table, y if y.shape[1] > 1 else y[:, 0], weights), weights
    return tw.DecisionTreeClassifier(**options).fit(table, ["abc"[k] for k in rng.integers(0, 3, n)], weights), weights


@given(fits())
def test_an_audit_of_any_node_agrees_with_the_tree(fit):
    est, _ = fit
    tree = est.tree_
    for node in range(tree.n_nodes):
        audit = est.audit(node)
        assert audit.n_samples == tree.n_samples[node]
        assert audit.weight == pytest.approx(tree.weight[node])
        if not audit.n_samples:  # a level that no row of the node above held: it says what that node says
            assert audit.leaf_reason == "no row reaches it"
            continue
        assert audit.whole.impurity == pytest.approx(tree.impurity[node], abs=1e-9)
        str(audit)
        if tree.is_leaf[node]:
            assert audit.leaf_reason
            continue
        assert audit.winner is not None
        assert audit.winner.feature == tree.feature[node]
        assert audit.winner.test == audit.tree_test
        assert "The tree asks" not in str(audit)
        # Gain, from impurities before and after: as the branches of the tree have it where no row is left out.
        if not audit.winner.n_left_out:
            children = tree.first_child[node] + np.arange(tree.n_branches[node])
            after = (tree.weight[children] * tree.impurity[children]).sum() / tree.weight[node]
            assert audit.winner.gain == pytest.approx(tree.impurity[node] - after, abs=1e-9)
            held = [b.samples for b in audit.winner.branches]
            assert held == tree.n_samples[children].tolist()


@given(fits())
def test_what_is_measured_is_what_the_search_found(fit):
    est, _ = fit
    for row in est.audit():
        if not math.isnan(row.score) and est.criterion != "gain_ratio":
            assert row.gain == pytest.approx(row.score, abs=1e-9)
        elif not math.isnan(row.score) and row.split_info > 0:
            assert row.gain_ratio == pytest.approx(row.score, abs=1e-9)


@given(fits())
def test_the_best_of_every_candidate_is_the_columns_own(fit):
    est, _ = fit
    audit = est.audit()
    if "pure" in audit.leaf_reason:
        return  # nobody asks there, and only ``every`` lists what could be asked
    best = {row.column: row for row in audit}
    for name in ("x", "c", "z"):
        every = est.audit(every=name)
        if name == "c" and est.min_samples_leaf > 1:
            # The order of levels by mean holds the best division of all, not the best of those that a limit leaves.
            assert name not in best or max(row.gain for row in every) >= best[name].gain - 1e-9
            continue
        assert (name in best) == (len(every) > 0)
        if name in best:
            assert max(row.gain for row in every) == pytest.approx(best[name].gain, abs=1e-9) or not best[name].exact
            assert sum(row.chosen for row in every) == 1
            ours, found = every.winner.branches, best[name].branches
            assert [(b.label, b.samples) for b in ours] == [(b.label, b.samples) for b in found]
            assert [b.impurity for b in ours] == pytest.approx([b.impurity for b in found], abs=1e-9)
