"""Hostile surroundings: interrupts, forks, threads, limits, switches. The answer is the same, the process lives."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import treewright as tw

pytestmark = pytest.mark.usefixtures("copies")
SOURCES = Path(tw.__file__).parent


def run_script(script, *options, timeout=250, **changes):
    """Run a script in a process of its own; what it printed."""
    told = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    command = [sys.executable, *options, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


@pytest.fixture(scope="module")
def points():
    """4,000 rows of 6 columns, noisy labels."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 6))
    return X, (X[:, 0] + rng.normal(size=4000) > 0).astype(int)


INTERRUPT = """
    import signal, threading, time
    import numpy as np
    import treewright as tw

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 12))
    y = (X[:, 0] + rng.normal(size=400_000) > 0).astype(int)
    small = tw.DecisionTreeClassifier(max_depth=3, n_jobs={n_jobs}).fit(X[:50_000], y[:50_000])
    small.predict(X)
    before = dict(small.__dict__)
    sent = []

    def send():
        sent.append(time.process_time())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    late = []
    for wait in (0.02, 0.15, 0.4):
        small.max_depth = None
        timer = threading.Timer(wait, send)
        timer.start()
        try:
            {work}
            raise SystemExit("too quick to be interrupted")
        except KeyboardInterrupt:
            late.append(time.process_time() - sent[-1])
        timer.join()
    small.max_depth = 3
    assert dict(small.__dict__) == before, "the estimator changed"
    again = tw.DecisionTreeClassifier(max_depth=3, n_jobs={n_jobs}).fit(X[:50_000], y[:50_000])
    assert again.model_.trees[0].threshold.tolist() == small.model_.trees[0].threshold.tolist()
    print(max(late), len([t for t in threading.enumerate() if not t.name.startswith(("MainThread", "treewright"))]))
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "work", ["small.fit(X, y)", "for _ in range(10_000): small.predict(X)"], ids=["fit", "predict"]
)
def test_an_interrupt_is_answered_soon_and_leaves_everything_usable(work, n_jobs):
    late, others = run_script(INTERRUPT.format(work=work, n_jobs=n_jobs))

    assert float(late) < 0.5 * n_jobs  # of processor time, which other programs do not lengthen
    assert others == "0"


FORK = """
    import os, sys
    import numpy as np
    import treewright as tw

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 8))
    y = X[:, 0] + rng.normal(size=30_000) > 0

    def depth(seed=0):
        return tw.DecisionTreeClassifier(n_jobs=2, random_state=seed).fit(X, y).predict(X).sum().item()

    expected = depth()
    child = os.fork()
    if child == 0:
        os._exit(0 if depth() == expected else 7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print(depth() == expected)
"""


def test_a_forked_child_fits_and_so_does_its_parent():
    assert run_script(FORK, "-W", "ignore::DeprecationWarning") == ["True"]


POOLS = """
import multiprocessing, sys
import numpy as np
import treewright as tw

def fit(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9_000, 8))
    return tw.DecisionTreeRegressor(n_jobs=2, max_depth=5).fit(X, X[:, 0] * X[:, 1]).predict(X).sum().item()

if __name__ == "__main__":
    expected = [fit(0), fit(1)]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map_async(fit, [0, 1]).get(50) == expected)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_pools_of_processes_fit_after_their_parent_did(method, tmp_path):
    script = tmp_path / "pools.py"
    script.write_text(POOLS)

    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(script), method],
        capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip

    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_fits_side_by_side(points, backend):
    X, y = np.tile(points[0], (4, 1)), np.tile(points[1], 4)
    trees = [tw.DecisionTreeClassifier(max_depth=depth, n_jobs=2) for depth in (2, 5, 9)]

    # A method of the package's own: a worker process cannot import this test.
    fitted = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(clone(tree).fit)(X, y) for tree in trees)

    for tree, from_worker in zip(trees, fitted, strict=True):
        assert from_worker.predict_proba(X).tobytes() == tree.fit(X, y).predict_proba(X).tobytes()


def test_sixteen_threads_predict_while_another_fits(points):
    X, y = np.tile(points[0], (6, 1)), np.tile(points[1], 6)
    tree = tw.DecisionTreeClassifier(n_jobs=2).fit(X, y)
    model = tw.DecisionTreeClassifier(n_jobs=2).fit(X, y).model_  # nothing kept for speed yet
    expected = tree.predict_proba(X).tobytes()
    with ThreadPoolExecutor(17) as pool:
        refit = [pool.submit(lambda: clone(tree).fit(X, y).predict_proba(X).tobytes()) for _ in range(2)]
        asked = [pool.submit(lambda: model.predict_proba(X, n_jobs=2).tobytes()) for _ in range(48)]

    assert {job.result() for job in asked + refit} == {expected}


@pytest.mark.parametrize(
    "estimator",
    [
        tw.DecisionTreeClassifier(max_depth=9),
        tw.DecisionTreeClassifier(criterion="entropy", max_features=2, random_state=1),
        tw.DecisionTreeRegressor(max_leaf_nodes=60),
    ],
    ids=["gini", "entropy, columns drawn", "best first"],
)
def test_the_number_of_threads_does_not_change_a_model_file(points, estimator, tmp_path):
    X, y = np.tile(points[0], (5, 1)), np.tile(points[1], 5)
    weights = np.random.default_rng(0).random(len(y))
    digests = set()
    for n_jobs in (1, 2, 3, 7, 64):
        clone(estimator).set_params(n_jobs=n_jobs).fit(X, y, weights).save(tmp_path / "model.tw")
        digests.add(hashlib.sha256((tmp_path / "model.tw").read_bytes()).hexdigest())

    assert len(digests) == 1


SURROUNDINGS = """
    import sys, warnings
    {before}
    import numpy as np
    import treewright as tw

    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) * np.array([1e-300, 1.0, 1e300, 1e-5])
    X[::7, 1] = np.nan
    y = np.digitize(np.nan_to_num(X[:, 1]), [-0.5, 0.5])
    for est in (tw.DecisionTreeClassifier(), tw.DecisionTreeRegressor(max_leaf_nodes=50), tw.DecisionTreeClassifier(
        criterion="entropy", max_features=2)):
        est.fit(X, y)
        est.predict(X)
        est.show()
        est.plot()
        est.decision_path(X)
        getattr(est, "predict_log_proba", est.predict)(X)
        est.fit(X, y, rng.random(3000) * 1e-12)
    print(est.get_n_leaves() > 1)
"""


@pytest.mark.parametrize(
    ("before", "options"),
    [
        ("", ["-W", "error"]),
        ("import numpy; numpy.seterr(all='raise')", []),
        pytest.param("", ["-O"], marks=pytest.mark.slow),  # -OO is that and more
        ("", ["-OO"]),
        ("import locale; locale.setlocale(locale.LC_ALL, 'C')", []),
    ],
    ids=["warnings are errors", "floating point raises", "-O", "-OO", "locale"],
)
def test_switches_of_the_process_change_nothing(before, options):
    assert run_script(SURROUNDINGS.format(before=before), *options) == ["True"]


@pytest.mark.parametrize("option", [pytest.param("-O", marks=pytest.mark.slow), "-OO"])
def test_what_was_compiled_serves_whatever_the_switches(option):
    """``-OO`` changes bytecode, which Numba takes for another kernel."""
    script = """
        import gc
        from numba.core.dispatcher import Dispatcher
        import treewright as tw

        tw.DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], [0, 1, 1])
        kernels = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
        print(sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels) > 0)
        print(sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels))
    """
    run_script(script)
    assert run_script(script, option) == ["True", "0"]


def test_a_small_recursion_limit_is_enough_for_a_deep_tree():
    script = """
        import io, sys
        import numpy as np
        import treewright as tw
        X, y = np.arange(3000.0)[:, None], np.arange(3000) % 2
        est = tw.DecisionTreeClassifier().fit(X, y)
        est.predict(X)
        est.show(), est.plot(), est.decision_path(X[:5])
        def below(n):
            return below(n - 1) if n else work()
        def work():
            est.fit(X, y)
            est.predict(X), est.show(), est.plot(), est.decision_path(X[:5]), est.feature_importances_
            return est.get_depth()
        sys.setrecursionlimit(100)
        print(work())
    """

    assert run_script(script) == ["2999"]


def test_a_limit_on_memory_gives_a_memory_error_and_a_living_process():
    script = """
        import resource
        import numpy as np
        import treewright as tw
        rng = np.random.default_rng(0)
        X = rng.normal(size=(2000, 10))
        y = X[:, 0] > 0.1
        est = tw.DecisionTreeClassifier(n_jobs=1).fit(X, y)
        before = dict(est.__dict__)
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20, resource.RLIM_INFINITY))
        # Far beyond the limit: what threads had reserved before counts as used, and is free for this.
        wide = np.broadcast_to(X[:1], (5_000_000, 10))
        y_wide = np.arange(5_000_000) % 2
        for attempt in (lambda: est.fit(wide, y_wide), lambda: est.predict(wide)):
            try:
                attempt()
            except MemoryError:
                print("refused")
        assert dict(est.__dict__) == before
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(est.fit(X, y).score(X, y))
    """

    answers = run_script(script)

    assert answers[0] == "refused"
    assert answers[-1] == "1.0"


def test_the_global_random_state_is_neither_read_nor_changed(points):
    X, y = points
    np.random.seed(7)  # noqa: NPY002 - the global state is what is asked about
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    first = tw.DecisionTreeClassifier(max_features=2).fit(X, y)
    after = np.random.get_state()[1].tobytes()  # noqa: NPY002
    np.random.seed(8)  # noqa: NPY002
    second = tw.DecisionTreeClassifier(max_features=2).fit(X, y)

    assert before == after
    assert first.tree_.threshold.tobytes() == second.tree_.threshold.tobytes()


def test_floating_point_switches_are_left_as_they_were(points):
    with np.errstate(all="raise", divide="print"):
        before = np.geterr()
        tw.DecisionTreeClassifier().fit(*points).predict_log_proba(points[0])

        assert np.geterr() == before


# The empty text is executed on purpose, where a command leaves after Ctrl-C (cli.app).
CALLS = [r"\beval\(", r"\bexec\((?!\"\"\))", r"pickle\.load\b", r"os\.system", r"shell=True", r"\b__import__\("]


@pytest.mark.parametrize("call", CALLS)
def test_the_package_runs_nothing_that_it_reads(call):
    found = [path.name for path in SOURCES.rglob("*.py") if re.search(call, path.read_text(encoding="utf-8"))]

    assert found == []


def test_only_the_private_kernel_cache_and_own_processes_are_read_as_pickles():
    sources = SOURCES.rglob("*.py")
    found = {path.name for path in sources if re.search(r"(pickle|joblib)\.load", path.read_text("utf-8"))}

    assert found == {"kernel_cache.py", "processes.py"}  # the second: pipes between a process and its own children


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_without_a_home_or_a_cache_everything_is_compiled_in_memory():
    script = """
        import treewright as tw
        print(tw.DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1]).predict([[1.0], [2.0]]).tolist())
    """
    nowhere = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": None, "TREEWRIGHT_CACHE_DIR": None, "NUMBA_CACHE_DIR": None}

    assert run_script(script, timeout=250, **nowhere) == ["[0,", "1]"]
