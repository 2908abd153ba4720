"""What an optimal tree and the smallest consistent one say of their proofs, and what they refuse."""

import os
import re
import subprocess
import sys
import textwrap
from itertools import combinations, count

import numpy as np
import pytest

import treewright as tw
from treewright.core.progress import listen
from treewright.exceptions import DataError, ModelFileError, ParameterError
from treewright.learn import optimal
from treewright.trees.facts import check_forms, proof_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 3))
Y = RNG.integers(0, 2, 120)


def test_a_pruned_tree_has_no_proof():
    pruned = tw.OptimalTreeClassifier(max_depth=2).fit(X, Y).prune("depth", max_depth=1)
    with pytest.raises(AttributeError, match="the tree was pruned, so nothing is proved of it"):
        _ = pruned.proven_
    assert "proven" not in pruned.show()


def test_a_pruning_that_takes_nothing_and_a_change_by_hand_differ():
    est = tw.OptimalTreeClassifier(max_depth=2).fit(X, Y)
    same = est.prune("depth", max_depth=2)
    assert (same.proven_, same.objective_, "proven" in same.show()) == (True, est.objective_, True)
    assert proof_of({**est.model_.facts, "workbench": {"log": []}}) == ""


def test_there_is_no_trace_of_a_search():
    with pytest.raises(AttributeError, match="did not grow node by node"):
        _ = tw.OptimalTreeClassifier(max_depth=1).fit(X, Y).trace_


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


LETTERS = list("abcde") * 8
SIXES = [0, 1, 0, 1, 1, 0, 0, 1, 1, 1] * 4


@pytest.mark.parametrize(
    ("levels", "target", "params", "searched"),
    [
        ("abcde", SIXES, {"max_depth": 2}, "single levels of nominal columns"),
        ("abcde", SIXES, {"max_depth": 2, "max_bins": 9}, "single levels of nominal columns"),  # no numbers, no bins
        ("abc", SIXES, {"max_depth": 2}, ""),  # one level against two others is every set
        ("abcde", SIXES, {"max_depth": 1}, ""),  # a single test is the best of all sets
        ("abcde", SIXES, {"max_depth": 2, "max_leaf_nodes": 2}, ""),
        ("abcde", [0, 1, 2, 0] * 10, {"max_depth": 1}, "single levels of nominal columns"),
    ],
)
def test_the_proof_names_the_sets_of_levels_that_were_not_searched(levels, target, params, searched):
    table = {"letter": [letter if letter in levels else "a" for letter in LETTERS]}
    est = tw.OptimalTreeClassifier(**params).fit(table, target)

    assert est.model_.facts["optimal"]["searched"] == searched
    assert (f" over {searched} has a smaller loss" in est.show()) == bool(searched)


@pytest.mark.parametrize("criterion", ["misclassification", "gini"])
def test_a_single_test_is_the_best_of_every_set_of_levels(criterion):
    letters, target = np.array([*LETTERS[:38], None, None], object), RNG.integers(0, 2, 40)
    est = tw.OptimalTreeClassifier(criterion=criterion, max_depth=1).fit({"letter": letters}, target)

    sides = [np.isin(letters.astype(str), some) for n in range(6) for some in combinations([*"abcde", "None"], n + 1)]
    assert est.objective_ == pytest.approx(min(loss_of_sides(side, target, criterion) for side in sides))


def loss_of_sides(side, target, criterion):
    """Of two leaves, per row."""
    shares = [target[rows].mean() if rows.any() else 0.0 for rows in (side, ~side)]
    each = [min(p, 1 - p) if criterion == "misclassification" else 2 * p * (1 - p) for p in shares]
    return (side.sum() * each[0] + (~side).sum() * each[1]) / len(target)


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


def test_the_limits_of_a_leaf_do_not_hold_for_the_root():
    est = tw.OptimalTreeClassifier(min_samples_leaf=121).fit(X, Y)
    least = min(Y.mean(), 1 - Y.mean())
    assert (est.get_n_leaves(), est.proven_, est.objective_) == (1, True, pytest.approx(least))


SEARCHING = re.compile(
    r"searching: loss ([\d.]+), bound ([\d.]+), gap ([\d.]+) %, ([\d,]+)(?: of ([\d,]+))? subproblems"
)


def searched_with_a_listener(monkeypatch, **params):
    """The fitted estimator, the shares and the numbers of each report of the search."""
    monkeypatch.setattr(optimal, "_BETWEEN_REPORTS", 0.0)
    heard = []
    with listen(lambda done, what: heard.append((done, what))):
        est = tw.OptimalTreeClassifier(**params).fit(X, Y)
    found = [(done, SEARCHING.fullmatch(what)) for done, what in heard if what.startswith("searching")]
    return est, [done for done, _ in found], [match.groups() for _, match in found]


def test_a_search_reports_loss_bound_gap_and_what_it_used(monkeypatch):
    est, shares, told = searched_with_a_listener(monkeypatch, max_depth=3, max_search=40)

    assert [int(used) for *_, used, _ in told] == list(range(1, 41))
    assert {most for *_, most in told} == {"40"}
    assert shares == [number / 40 for number in range(1, 41)]
    losses, bounds = ([float(each[at]) for each in told] for at in (0, 1))
    assert losses == sorted(losses, reverse=True)
    assert bounds == sorted(bounds)
    loss, bound, gap = map(float, told[-1][:3])
    assert (loss, bound) == pytest.approx((est.objective_, est.lower_bound_), rel=1e-3)
    assert gap == pytest.approx(100 * est.gap_, abs=0.05)


def test_without_limits_of_the_search_the_share_is_that_of_the_bound(monkeypatch):
    est, shares, told = searched_with_a_listener(monkeypatch, max_depth=2, ccp_alpha=0.02, max_search=None)

    assert told[0][-1] is None
    assert [round(float(bound) / float(loss), 2) for loss, bound, *_ in told] == pytest.approx(shares, abs=0.01)
    assert float(told[-1][0]) >= est.objective_ >= float(told[-1][1])


def test_the_share_is_that_of_the_limit_that_is_nearer(monkeypatch):
    clock = count(0.0, 0.25)
    monkeypatch.setattr(optimal, "monotonic", lambda: next(clock))
    est, shares, _ = searched_with_a_listener(monkeypatch, time_limit=8.0, max_search=1000)

    assert est.model_.facts["optimal"]["stopped"] == "time_limit"
    assert shares == sorted(shares)
    assert 0.9 < shares[-1] <= 1.0


def test_a_search_to_which_nobody_listens_computes_no_report(monkeypatch, tmp_path):
    told = []
    monkeypatch.setattr(optimal, "_listener", lambda *given: told.append(given))
    quiet = tw.OptimalTreeClassifier(max_search=40).fit(X, Y)
    assert not told
    monkeypatch.undo()
    heard, *_ = searched_with_a_listener(monkeypatch, max_search=40)
    for est, name in ((quiet, "quiet.tw"), (heard, "heard.tw")):
        est.save(tmp_path / name)
    assert (tmp_path / "quiet.tw").read_bytes() == (tmp_path / "heard.tw").read_bytes()


@pytest.mark.parametrize(("verbose", "is_shown"), [(0, False), (1, True)])
def test_the_search_is_shown_where_it_is_asked_for(capfd, verbose, is_shown):
    tw.OptimalTreeClassifier(verbose=verbose).fit(X, Y)

    out, err = capfd.readouterr()

    assert not out
    assert bool(SEARCHING.search(err.replace("\n", " "))) == is_shown


def test_a_loss_of_nothing_is_proven_though_fewer_leaves_may_have_it():
    est = tw.OptimalTreeClassifier(max_depth=4, max_search=1).fit(X, X[:, 0] > 0)
    assert (est.objective_, est.lower_bound_, est.proven_, est.gap_) == (0.0, 0.0, True, 0.0)
    table = {"left": [0, 0, 1, 1, 0, 1], "right": [0, 1, 0, 1, 0, 1], "hour": [5, 1, 5, 6, 5, 7]}
    lamp = [0, 1, 1, 0, 0, 0]
    stopped = tw.OptimalTreeClassifier(max_depth=3, max_search=1).fit(table, lamp)
    words = "has a smaller loss; perhaps one with fewer leaves has the same (stopped by max_search=1)"
    assert stopped.proven_
    assert words in stopped.show()


def test_facts_written_by_hand_are_refused_or_harmless():
    with pytest.raises(ModelFileError, match=r"optimal\.objective is 'x', expected a number"):
        check_forms({"optimal": {"objective": "x"}})
    with pytest.raises(ModelFileError, match=r"optimal\.greedy_leaves is -1, expected a whole number"):
        check_forms({"optimal": {"greedy_leaves": -1}})
    said = proof_of({"optimal": {"objective": 0.2, "lower_bound": 5.0, "is_proven": False}})
    assert said == "not proven: the least loss is at most 0.0 % smaller"


# The smallest consistent tree. No test of exclusive or has a gain, and both are needed.

EITHER, ODD = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), ["no", "yes", "yes", "no"]


def smallest(**given):
    """An estimator that seeks the smallest consistent tree."""
    return tw.OptimalTreeClassifier(objective="smallest", **given)


def test_a_proof_about_leaves_is_in_the_text_the_file_and_the_report(tmp_path):
    est = smallest().fit(EITHER, ODD)
    est.save(tmp_path / "m.tw")
    read = tw.load(tmp_path / "m.tw")
    said = "grown by optimal, proven: no consistent tree has fewer than 4 leaves"
    assert said in est.show()
    assert read.show() == est.show()
    assert said in tw.report(read, EITHER, ODD).html
    assert (est.objective_, est.lower_bound_, est.gap_) == (4.0, 4.0, 0.0)
    assert "proven" not in est.prune("leaves", max_leaves=2).show()


def test_a_stopped_search_says_how_many_leaves_are_needed():
    est = smallest(max_search=5).fit(X, Y)
    needed = int(est.lower_bound_)
    assert 2 < needed < est.get_n_leaves()
    assert f"not proven: a consistent tree has at least {needed} leaves (stopped by max_search=5)" in est.show()
    assert est.gap_ == pytest.approx(1 - needed / est.get_n_leaves())


def test_time_ends_a_search_with_a_consistent_tree():
    est = smallest(time_limit=1e-6, max_search=None).fit(X, Y)
    assert (est.proven_, est.model_.facts["optimal"]["stopped"], est.score(X, Y)) == (False, "time_limit", 1.0)


def test_depth_is_three_for_the_least_loss_and_free_for_the_smallest_tree():
    x = np.arange(32)[:, None]
    y = x[:, 0] % 2
    for limits in ({}, {"max_leaf_nodes": 16}):
        least = tw.OptimalTreeClassifier(**limits).fit(x, y)
        assert (least.get_depth(), least.model_.facts["parameters"]["max_depth"]) == (3, 3)
    assert (smallest().fit(x, y).get_n_leaves(), smallest(max_depth=5).fit(x, y).get_depth()) == (32, 5)


def test_rows_that_contradict_each_other_are_named_as_they_were_given():
    cells, classes = [[9, 9], [0, 1], [2, 2], [0, 1], [2, 2], [2, 2]], ["no", "no", "no", "yes", "yes", "no"]
    said = r"2 of them are equal .*: rows 1 \(no\) and 3 \(yes\); 2 \(no\) and 4 \(yes\)\. .*objective=\"loss\""
    with pytest.raises(DataError, match=said):
        smallest().fit(cells, classes)
    with pytest.raises(DataError, match=said):
        smallest().fit(cells, classes, sample_weight=[0, 1, 1, 1, 1, 1])
    with pytest.raises(DataError, match=r"5 of them .*; \.\.\.\. "):
        smallest().fit([[0]] * 10, ["no", "yes"] * 5)
    assert smallest().fit(cells, classes, sample_weight=[1, 1, 1, 0, 0, 1]).get_n_leaves() == 1


WITHOUT_MEANING = {
    "criterion": "gini", "ccp_alpha": 0.1, "max_bins": 9, "min_samples_leaf": 2, "min_weight_fraction_leaf": 0.1,
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_MEANING)
def test_what_has_no_meaning_for_the_smallest_tree_is_refused(name):
    given = {name: WITHOUT_MEANING[name]}
    with pytest.raises(ParameterError, match=f"{name}=.* needs objective='loss': "):
        smallest(**given).fit(EITHER, ODD)
    tw.OptimalTreeClassifier(**given).fit(EITHER, ODD)


def test_limits_without_a_consistent_tree_are_named():
    with pytest.raises(ParameterError, match=r"with max_leaf_nodes=3 no tree without an error .* exists: raise"):
        smallest(max_leaf_nodes=3).fit(EITHER, ODD)
    with pytest.raises(ParameterError, match=r"with max_depth=1 no tree without an error .* exists: raise"):
        smallest(max_depth=1).fit(EITHER, ODD)


def test_folds_of_the_smallest_tree_are_scored():
    x = np.arange(30)[:, None]
    found = tw.model_selection.cross_validate(smallest(), x, x[:, 0] > 12, cv=3)
    assert found.mean >= 27 / 30  # a fold may miss the rows next to its own cut


@pytest.mark.parametrize("ensemble", [tw.BaggingClassifier, tw.AdaBoostClassifier])
@pytest.mark.parametrize("objective", ["loss", "smallest"])
def test_ensembles_of_optimal_trees_are_saved(ensemble, objective, tmp_path):
    member = tw.OptimalTreeClassifier(objective=objective, max_search=10)
    est = ensemble(member, n_estimators=2).fit(X, Y)
    est.save(tmp_path / "m.tw")
    assert (tw.load(tmp_path / "m.tw").predict(X) == est.predict(X)).all()


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
    print(interrupted(lambda: tw.OptimalTreeClassifier(objective="smallest", max_search=None).fit(X, y)))
    print(interrupted(lambda: cross_validate(est, X, y, cv=3, n_jobs=1)))
    print(interrupted(lambda: cross_val_score(est, X, y, cv=3)))
"""


def test_ctrl_c_keeps_the_best_tree_of_one_fit_and_ends_many():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STOPPED)], env={**os.environ, "TREEWRIGHT_COMPILE": "first"},
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    expected = ["(False, ['the search was stopped by Ctrl-C'])"] * 3 + ["ended", "ended"]
    assert done.stdout.splitlines() == expected, done.stderr
