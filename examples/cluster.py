"""Boosting on a Dask cluster of this machine: pip install "treewright[dask]", then python examples/cluster.py."""

from __future__ import annotations

import numpy as np
import pandas as pd

import treewright as tw


def main() -> None:
    """Learn from a table on three workers, and from the same table here; show that the models are one."""
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    n = 20_000
    table = pd.DataFrame({"age": rng.integers(18, 80, n), "income": rng.lognormal(10, 0.5, n)})
    table["region"] = rng.choice(["north", "south", "east", "west"], n)
    pull = table["income"] / 30_000 + (table["region"] == "south") + rng.normal(size=n)
    table["buys"] = np.where(pull > 1.5, "yes", "no")

    with LocalCluster(n_workers=3, threads_per_worker=1) as cluster, Client(cluster) as client:
        partitions = dd.from_pandas(table, npartitions=8)
        there = tw.distributed.fit(tw.GradientBoostingClassifier(30), partitions, target="buys", client=client)
    here = tw.GradientBoostingClassifier(30).fit(table.drop(columns="buys"), table["buys"])

    shares = there.predict_proba(table.drop(columns="buys")) == here.predict_proba(table.drop(columns="buys"))
    print(f"{len(there.model_.trees)} trees on three workers; every share is the same: {bool(shares.all())}")


if __name__ == "__main__":
    main()
