"""Rows on the workers of a Dask cluster give the model of the same rows in memory, whatever happens to workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rotating import few

import treewright as tw
from treewright.data.dataset import PartLostError
from treewright.exceptions import DataError, InputFileError, MissingLibraryError, ParameterError
from treewright.trees.codec import dumps

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
    pytest.mark.filterwarnings("default"),  # what Dask itself warns of
]

N = 1_500
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "x": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
        "k": RNG.choice(list("abcd"), N),
        "z": RNG.exponential(size=N),
        "w": RNG.random(N) + 0.1,
    }
)
PULL = TABLE.x.fillna(0) + (TABLE.k == "a") + RNG.normal(size=N) * 0.5
TABLE["y"] = np.where(PULL > 0.5, "up", "down")
ROUNDS = 5


@contextmanager
def cluster(n_workers: int) -> Any:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as here,
        distributed.Client(here) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster(3) as found:
        yield found


def partitions(client: Any, cuts: list[int]) -> list[Any]:
    """The rows shuffled, in partitions on the workers."""
    shuffled = TABLE.sample(frac=1.0, random_state=len(cuts))
    parts = [shuffled.iloc[begin:end] for begin, end in zip([0, *cuts], [*cuts, N], strict=True)]
    return [client.scatter(part, hash=False) for part in parts]


def boosting(**more: Any) -> Any:
    return tw.GradientBoostingClassifier(ROUNDS, learning_rate=0.3, subsample=0.7, **more)


@pytest.fixture(scope="module")
def expected():
    return dumps(boosting().fit(TABLE[["x", "k", "z"]], TABLE.y, TABLE.w).model_)


@pytest.mark.parametrize("cuts", few([[], [500, 1000], [0, 1, 2, 2, 300, N]], 1), ids=len)
def test_any_partitions_give_the_model_of_the_table(client, expected, cuts):
    fitted = tw.distributed.fit(boosting(), partitions(client, cuts), target="y", weight="w", client=client)
    assert dumps(fitted.model_) == expected


@pytest.mark.parametrize("cuts", few([[500, 1000], [0, 1, 2, 2, 300, N]], 1), ids=len)
def test_trees_are_handed_out_to_the_workers(client, cuts):
    table = TABLE[["x", "k", "z"]]
    rows = tw.distributed.dataset(partitions(client, cuts), target="y", weight="w", client=client)
    forest = {"n_estimators": 10, "class_weight": "balanced_subsample", "oob_score": True, "max_samples": 0.5}
    for found, here in (
        (tw.RandomForestClassifier(**forest), tw.RandomForestClassifier(**forest)),
        (tw.ExtraTreesClassifier(5), tw.ExtraTreesClassifier(5)),
        (tw.DecisionTreeClassifier(splitter="hist"), tw.DecisionTreeClassifier(splitter="hist")),
        (boosting(), boosting()),
    ):
        assert dumps(found.fit(rows).model_) == dumps(here.fit(table, TABLE.y, TABLE.w).model_)
    rows.close()


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_grows_trees_changes_nothing(monkeypatch):
    import dask

    from treewright.distributed import OnDask

    here = tw.RandomForestClassifier(12).fit(TABLE[["x", "k", "z"]], TABLE.y, TABLE.w)
    with cluster(3) as client:
        made = [dask.delayed(TABLE.iloc)[begin : begin + 300] for begin in range(0, N, 300)]
        rows = tw.distributed.dataset(client.compute(made), target="y", weight="w", client=client)
        victims, ask = sorted(client.run(os.getpid).values()), OnDask.ask

        def killing(carrier: Any, what: str, *given: Any) -> list[Any]:
            if what == "do" and victims and "some_of_work" in str(given[1]):
                os.kill(victims[0], signal.SIGKILL)
                victims.clear()
            return ask(carrier, what, *given)

        monkeypatch.setattr(OnDask, "ask", killing)
        assert dumps(tw.RandomForestClassifier(12).fit(rows).model_) == dumps(here.model_)
        assert not victims


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 7])
def test_any_number_of_workers_gives_the_model_of_the_table(expected, n_workers):
    table, cuts = TABLE[["x", "k", "z"]], list(range(100, N, 100))
    with cluster(n_workers) as client:
        rows = tw.distributed.dataset(partitions(client, cuts), target="y", weight="w", client=client)
        assert dumps(boosting().fit(rows).model_) == expected
        for kind in (tw.RandomForestClassifier, tw.ExtraTreesClassifier):
            assert dumps(kind(9).fit(rows).model_) == dumps(kind(9).fit(table, TABLE.y, TABLE.w).model_)
        rows.close()
        same_outliers(client, cuts)


def same_outliers(client: Any, cuts: list[int]) -> None:
    """An isolation forest has no target: rows, weights, and the share of them that are outliers."""
    options = {"n_estimators": 10, "contamination": 0.05}
    parts = partitions(client, cuts)
    found = tw.distributed.fit(
        tw.IsolationForest(**options), parts, target=None, weight="w", leave_out=["y"], client=client
    )
    here = tw.IsolationForest(**options).fit(TABLE[["x", "k", "z"]], sample_weight=TABLE.w)
    assert dumps(found.model_) == dumps(here.model_)


def test_outliers_on_a_cluster_are_those_of_the_table(client):
    same_outliers(client, [0, 1, 2, 2, 300, N])


@pytest.mark.slow
def test_the_example_runs():
    example = Path(__file__).parents[2] / "examples" / "cluster.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True, timeout=200)
    assert done.stdout == "30 trees on three workers; every share is the same: True\n"


def test_a_dask_frame_of_numbers_is_learned_from(client):
    import dask.dataframe as dd

    frame = dd.from_pandas(TABLE.assign(y=PULL), npartitions=4, sort=False)
    estimator = tw.GradientBoostingRegressor(ROUNDS, loss="squared_error")
    rows = tw.distributed.dataset(frame, target="y", leave_out=["w"], client=client)
    assert dumps(estimator.fit(rows).model_) == dumps(estimator.fit(TABLE[["x", "k", "z"]], PULL.rename("y")).model_)
    rows.close()


@pytest.mark.parametrize(
    "when", ["split", *(pytest.param(when, marks=pytest.mark.slow) for when in ("between rounds", "add"))]
)
def test_a_worker_that_is_killed_changes_nothing(expected, monkeypatch, when):
    from treewright.distributed import OnDask

    with cluster(3) as client:
        # Made by tasks, so that Dask can make them again.
        import dask

        shuffled = TABLE.sample(frac=1.0, random_state=3)
        made = [dask.delayed(shuffled.iloc)[begin : begin + 300] for begin in range(0, N, 300)]
        rows = tw.distributed.dataset(client.compute(made), target="y", weight="w", client=client)
        victims = sorted(client.run(os.getpid).values())
        n_asked, ask = {"gradients": 0, "split": 0, "add": 0}, OnDask.ask

        def killing(carrier: Any, what: str, *given: Any) -> list[Any]:
            if what in n_asked:
                n_asked[what] += 1
                if victims and n_asked[what] == 3 and what == ("gradients" if when == "between rounds" else when):
                    os.kill(victims[0], signal.SIGKILL)
                    victims.clear()
            return ask(carrier, what, *given)

        monkeypatch.setattr(OnDask, "ask", killing)
        found = boosting().fit(rows)
        assert not victims
        assert dumps(found.model_) == expected


def test_a_partition_that_cannot_be_read_is_one_error(client):
    def broken(at: int) -> pd.DataFrame:
        if at == 2:
            raise OSError("disk on fire")
        return TABLE.iloc[at * 300 : at * 300 + 300]

    frames = [client.submit(broken, at, pure=False) for at in range(5)]
    with pytest.raises(OSError, match="disk on fire"):
        tw.distributed.fit(boosting(), frames, target="y", client=client)


@pytest.mark.slow
def test_a_scheduler_that_goes_is_one_error(monkeypatch):
    with cluster(1) as client:
        rows = tw.distributed.dataset(partitions(client, [700]), target="y", weight="w", client=client, patience=20.0)

        def gone(_round: Any) -> None:
            client.close()

        with pytest.raises(PartLostError):
            boosting(callbacks=[gone]).fit(rows)


def test_types_that_differ_between_partitions_are_named(client):
    frames = [client.scatter(TABLE.iloc[:700]), client.scatter(TABLE.iloc[700:].assign(x=lambda t: t.x.astype(str)))]
    with pytest.raises(InputFileError, match="column 'x' holds"):
        tw.distributed.fit(boosting(), frames, target="y", client=client)


def test_odd_requests_are_refused(client, monkeypatch):
    with pytest.raises(DataError, match="give a dask DataFrame"):
        tw.distributed.fit(boosting(), TABLE, target="y", client=client)
    with pytest.raises(ParameterError, match="no column 'why'"):
        tw.distributed.fit(boosting(), partitions(client, []), target="why", client=client)
    with pytest.raises(ParameterError, match="no option 'wate'"):
        tw.distributed.fit(boosting(), partitions(client, []), target="y", wate="w", client=client)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingLibraryError, match=r"treewright\[dask\]"):
        tw.distributed.fit(boosting(), [], target="y")
