"""Forks of a process while another of its threads fits and predicts."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# BLAS ends its threads before a fork: a call of it in another thread then waits for them for ever.
FORKS = """
    import faulthandler, os, sys, threading, time, warnings
    import numpy as np
    import scipy.sparse
    import treewright as tw

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.random((4_000, 6))
    codes, numbers = (X[:, 0] > X[:, 1]).astype(int), X[:, 0] - X[:, 1]
    many = rng.random((30_000, 6))  # tables so long, and so wide, that BLAS would use threads
    wide = rng.random((300, 120))
    names = {"city": np.array(["Oslo", "Rome", "Lima"])[rng.integers(0, 3, 4_000)], "age": X[:, 0]}
    zeros = scipy.sparse.csr_matrix(np.where(X > 0.7, X, 0.0))
    few = {"n_estimators": 3, "n_jobs": 1}

    def many_rows(fitted):
        return lambda: fitted.predict(many)

    forest = tw.RandomForestRegressor(n_estimators=64, min_samples_leaf=200, n_jobs=1).fit(X, numbers)
    works = [
        *(many_rows(getattr(tw, name)(**own).fit(X, y)) for name, own, y in [
            ("DecisionTreeClassifier", {"max_depth": 3}, codes), ("DecisionTreeRegressor", {"max_depth": 3}, numbers),
            ("C45Classifier", {}, codes), ("CHAIDClassifier", {}, codes), ("ExtraTreeRegressor", {}, numbers),
            ("RandomForestClassifier", few, codes), ("ExtraTreesClassifier", few, codes),
            ("BaggingRegressor", few, numbers), ("GradientBoostingClassifier", few, codes),
            ("AdaBoostClassifier", few, codes), ("IsolationForest", few, None),
        ]),
        lambda: tw.DecisionTreeClassifier(max_depth=4).fit(many, many[:, 0] > 0.5),
        lambda: tw.GradientBoostingRegressor(n_estimators=3, n_jobs=1).fit(X, numbers),
        lambda: tw.ID3Classifier().fit({"city": names["city"]}, codes).predict({"city": names["city"]}),
        lambda: tw.CHAIDClassifier().fit(names, codes).predict(names),
        lambda: tw.DecisionTreeClassifier(max_depth=3).fit(zeros, codes).predict(zeros),
        lambda: tw.KNeighborsClassifier().fit(X[:300], codes[:300]).predict(X[:300]),
        lambda: tw.KNeighborsRegressor(metric="mahalanobis").fit(wide, wide[:, 0]),
        lambda: tw.KNeighborsRegressor(metric="mahalanobis", metric_params={"VI": np.eye(250)}).fit(
            np.zeros((9, 250)), np.arange(9)
        ),
        lambda: forest.predict_std(X[:50]),
    ]
    for work in works:
        work()  # compiled
    faulthandler.dump_traceback_later(60, exit=True)  # where it hangs
    stopped = threading.Event()

    def go_on():
        while not stopped.is_set():
            for work in works:
                work()

    thread = threading.Thread(target=go_on)
    thread.start()
    for _ in range(int(sys.argv[1])):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.005)
    stopped.set()
    thread.join()
"""


@pytest.mark.parametrize("n_forks", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_fits_and_predictions_go_on_while_the_process_forks_again_and_again(n_forks):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKS), str(n_forks)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"}, capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr[-3000:]
