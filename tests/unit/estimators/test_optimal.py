"""What an optimal tree says of its proof, and what it refuses."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import ModelFileError, ParameterError
from treewright.trees.facts import check_forms, proof_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 3))
Y = RNG.integers(0, 2, 120)


def test_a_pruned_tree_has_no_proof():
    pruned = tw.OptimalTreeClassifier(max_depth=2).fit(X, Y).prune("depth", max_depth=1)
    with pytest.raises(AttributeError, match="the tree was pruned, so nothing is proved of it"):
        _ = pruned.proven_
    assert "proven" not in pruned.show()


def test_a_price_beyond_every_loss_leaves_one_leaf_with_its_objective():
    est = tw.OptimalTreeClassifier(ccp_alpha=1e300).fit(X, Y)
    assert (est.get_n_leaves(), est.proven_, est.objective_) == (1, True, 1e300)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_targets_of_any_size_have_the_tree_of_their_like(scale, tmp_path):
    y = X[:, 0].round(1)
    plain, scaled = (tw.OptimalTreeRegressor(max_depth=2).fit(X, y * each) for each in (1.0, scale))
    assert np.array_equal(plain.tree_.threshold, scaled.tree_.threshold)
    scaled.model_.save(tmp_path / "m.tw")
    assert np.isfinite(tw.load(tmp_path / "m.tw").facts["optimal"]["objective"])


def test_limits_that_no_search_can_keep_are_refused():
    with pytest.raises(ParameterError, match="max_depth"):
        tw.OptimalTreeClassifier(max_depth=1000).fit(X, Y)
    with pytest.raises(ParameterError, match="max_depth=None needs max_leaf_nodes"):
        tw.OptimalTreeClassifier(max_depth=None).fit(X, Y)
    with pytest.raises(ParameterError, match="set max_depth, or at most 51 leaves"):
        tw.OptimalTreeClassifier(max_depth=None, max_leaf_nodes=1000).fit(X, Y)


def test_with_bins_the_proof_is_about_the_cuts_between_them():
    table = np.column_stack([np.arange(100.0), RNG.permutation(100)])
    y = (np.arange(100) < 33).astype(int)
    every, few = (tw.OptimalTreeClassifier(max_depth=1, max_bins=bins).fit(table, y) for bins in (None, 4))
    assert every.objective_ == 0.0
    assert few.objective_ == pytest.approx(0.08)  # of 25, 50 and 75 rows 25 is the nearest to 33
    assert "over cuts between bins" in few.show()
    assert few.proven_


def test_a_search_counts_no_more_subproblems_than_it_may():
    est = tw.OptimalTreeClassifier(max_search=5).fit(X, Y)
    found = est.model_.facts["optimal"]
    assert (est.proven_, found["n_solved"], found["stopped"]) == (False, 5, "max_search=5")
    assert 0.0 < est.gap_ <= 1.0


def test_two_levels_of_five_are_searched_and_cart_is_where_it_begins():
    rng = np.random.default_rng(8)
    table = rng.normal(size=(3000, 6))
    y = (table[:, 0] * table[:, 1] + 0.3 * table[:, 2] * table[:, 3] + rng.normal(size=3000) > 0).astype(int)
    cart = tw.DecisionTreeClassifier(max_depth=5).fit(table, y)
    errors = [1.0 - cart.score(table, y)]
    for most in (1, 100, 1000):
        est = tw.OptimalTreeClassifier(max_depth=5, optimal_depth=2, max_search=most).fit(table, y)
        assert (est.proven_, est.get_depth(), est.model_.facts["optimal"]["n_solved"]) == (False, 5, most)
        assert est.objective_ == pytest.approx(1.0 - est.score(table, y))
        errors.append(est.objective_)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0]
    said = "not proven optimal in its first 2 levels over cuts between bins, greedy below (stopped by max_search=1000)"
    assert said in est.show()


def test_a_proof_of_first_levels_is_none_of_all_trees():
    table = RNG.integers(0, 20, (150, 3)).astype(float)
    y = RNG.integers(0, 2, 150)
    est = tw.OptimalTreeClassifier(max_depth=3, optimal_depth=1).fit(table, y)
    every = tw.OptimalTreeClassifier(max_depth=3, max_search=None).fit(table, y)
    assert "proven optimal in its first level, greedy below" in est.show()
    assert est.proven_
    assert est.lower_bound_ < every.objective_ < est.objective_
    assert est.gap_ == 1.0 - est.lower_bound_ / est.objective_


def test_with_optimal_depth_the_number_of_leaves_has_a_price_and_no_limit():
    with pytest.raises(ParameterError, match="leave max_leaf_nodes out"):
        tw.OptimalTreeClassifier(max_depth=4, optimal_depth=2, max_leaf_nodes=5).fit(X, Y)
    sizes = [
        tw.OptimalTreeClassifier(max_depth=4, optimal_depth=2, ccp_alpha=alpha, max_search=100).fit(X, Y).get_n_leaves()
        for alpha in (0.0, 0.02, 0.5)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0] > sizes[1], sizes[2]) == (True, 1)


def test_all_levels_searched_is_the_search_of_the_whole_tree():
    whole, same = (tw.OptimalTreeClassifier(max_depth=2, optimal_depth=levels).fit(X, Y) for levels in (None, 2))
    assert whole.show() == same.show()


def test_facts_written_by_hand_are_refused_or_harmless():
    with pytest.raises(ModelFileError, match=r"optimal\.objective is 'x', expected a number"):
        check_forms({"optimal": {"objective": "x"}})
    said = proof_of({"optimal": {"objective": 0.2, "lower_bound": 5.0, "is_proven": False}})
    assert said == "not proven: the least loss is at most 0.0 % smaller"


STOPPED = """
    import signal, threading, warnings
    import numpy as np
    import treewright as tw
    from sklearn.model_selection import cross_val_score
    from treewright.model_selection import cross_validate

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)
    est = tw.OptimalTreeClassifier(max_depth=5, max_search=None)
    tw.OptimalTreeClassifier(max_depth=3, max_search=3).fit(X, y)  # compiled
    main = threading.main_thread().ident

    def interrupted(work):
        timer = threading.Timer(1.0, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = work()
            return found.proven_, [str(each.message).partition(":")[0] for each in told]
        except KeyboardInterrupt:
            return "ended"

    print(interrupted(lambda: est.fit(X, y)))
    print(interrupted(lambda: est.set_params(optimal_depth=3).fit(X, y)))
    print(interrupted(lambda: cross_validate(est, X, y, cv=3, n_jobs=1)))
    print(interrupted(lambda: cross_val_score(est, X, y, cv=3)))
"""


def test_ctrl_c_keeps_the_best_tree_of_one_fit_and_ends_many():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STOPPED)], env={**os.environ, "TREEWRIGHT_COMPILE": "first"},
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    expected = ["(False, ['the search was stopped by Ctrl-C'])"] * 2 + ["ended", "ended"]
    assert done.stdout.splitlines() == expected, done.stderr
