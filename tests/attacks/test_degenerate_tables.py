"""Tables in which nothing can be split, for every estimator, while kernels run as Python and once they are compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from rotating import few

# Every estimator on every table. Each is fitted and asked twice, so that each kernel is called when it has been timed.
CASES = """
    import sys, warnings
    import numpy as np
    import scipy.sparse
    import treewright as tw
    from treewright.exceptions import TreewrightError
    from treewright.learn.registry import ALGORITHMS

    warnings.simplefilter("ignore")
    n, third = map(int, sys.argv[1:])
    numbers = np.arange(n) % 7 / 8
    names = np.array(list("abcdefg"))[np.arange(n) % 7]
    tables = {
        "constant": np.ones((n, 2)),
        "all missing": np.full((n, 2), np.nan),
        "one level": {"city": ["Oslo"] * n},
        "all-zero sparse": scipy.sparse.csr_matrix((n, 3)),
        "one row a leaf": np.random.default_rng(0).permutation(2 * n).reshape(n, 2).astype(float),
    }
    fewer = {"boosting": {"n_estimators": 20}, "forest": {"n_estimators": 3}, "extra-trees": {"n_estimators": 3},
             "bagging": {"n_estimators": 3}, "adaboost": {"n_estimators": 3}, "isolation": {"n_estimators": 3}}
    estimators = [
        (name, each, fewer.get(each.word, {}))
        for each in ALGORITHMS for name in (each.classifier, each.regressor, each.detector) if name
    ]
    for name, algorithm, settings in estimators[third::3]:
        for table, X in tables.items():
            own = dict(settings)
            if table == "one row a leaf":  # which none may have
                if "min_samples_leaf" not in getattr(tw, name)().get_params():
                    continue
                own["min_samples_leaf"] = n
            y = names if name.endswith("Classifier") else numbers
            try:
                for _ in range(2):
                    fitted = getattr(tw, name)(**own).fit(X, y)
                    found = [np.unique(fitted.predict(X)) for _ in range(2)]
            except TreewrightError:
                told = "refused"
            else:
                told = "one prediction" if [len(each) for each in found] == [1, 1] else repr(found)
            print(name, table, told, sep="; ")
"""
# All kernels run as Python, however long, and count as timed from their second call on.
NEVER_COMPILED = """
    from treewright.core import background

    background._WORTH_LOADING, background._LONGEST_CALL, background._WORTH_COMPILING = 0.0, float("inf"), float("inf")
"""
# ID3 has no test for numbers.
REFUSED = {f"ID3Classifier; {table}" for table in ("constant", "all missing", "all-zero sparse", "one row a leaf")}


def said_by(script, n, third, cache, timeout):
    """What the cases print, line by line, in a process with an empty cache of kernels."""
    told = {name: value for name, value in os.environ.items() if name != "TREEWRIGHT_COMPILE"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script) + textwrap.dedent(CASES), str(n), str(third)],
        env={**told, "TREEWRIGHT_CACHE_DIR": str(cache), "CI": "1"},
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(line.rsplit("; ", 1) for line in done.stdout.splitlines())


def check(said):
    assert {case for case, told in said.items() if told == "refused"} == REFUSED & {*said}
    assert {case: told for case, told in said.items() if told not in ("refused", "one prediction")} == {}


@pytest.mark.parametrize("third", few(range(3), 1))
def test_every_estimator_predicts_one_value_of_a_table_without_a_split_before_kernels_are_compiled(tmp_path, third):
    check(said_by(NEVER_COMPILED, 40, third, tmp_path, 120))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_estimator_predicts_one_value_of_a_large_table_without_a_split(tmp_path):
    """Kernels are compiled in the midst of it, from an empty cache."""
    for third in range(3):
        check(said_by("", 20_000, third, tmp_path, 1700))
