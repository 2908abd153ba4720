"""Nearest neighbours: Treewright against scikit-learn, SciPy and pykdtree. In: made tables. Out: a table, JSON.

Callers: people, tests. Ours and theirs run in turn in one process, with the same number of threads: threads of
scikit-learn (``n_jobs``), of SciPy (``workers``), of OpenMP and BLAS (threadpoolctl). Kernels are compiled before the
clock runs. Every job says how many of the first neighbours agree. pykdtree is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from memory import begin_peak, peak_bytes
from pairs import Pair, library_version, machine, table_of, time_pairs, write_json
from scipy.sparse import csr_matrix, diags
from scipy.spatial import cKDTree
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from threadpoolctl import threadpool_limits

import treewright as tw
from treewright.data.memory import release_memory
from treewright.model_selection import neighbor_curve

K = 5
Answers = Callable[[], Any]


@dataclass(frozen=True)
class Sizes:
    """How large tables are, and how often a job is repeated (None: as often as the budget allows)."""

    brute: tuple[int, int, int] = (100_000, 64, 10_000)  # rows, columns, queries
    trees: tuple[tuple[int, int, int], ...] = ((1_000_000, 3, 100_000), (200_000, 8, 100_000))
    documents: tuple[int, int, int, int] = (18_000, 100_000, 100, 2_000)  # rows, terms, terms a row, queries
    left_out: tuple[int, int] = (5_000, 10)
    fits: tuple[int, int] = (300, 10)  # a fit for each row and each k
    most: int = 100
    n_pairs: int | None = None

    def scaled(self, share: float) -> Sizes:
        """Fewer rows and queries."""

        def fewer(n: int) -> int:
            return max(200, round(share * n))

        rows, columns, queries = self.brute
        n, terms, length, asked = self.documents
        return replace(
            self,
            brute=(fewer(rows), columns, fewer(queries)),
            trees=tuple((fewer(n), p, fewer(m)) for n, p, m in self.trees),
            documents=(fewer(n), terms, length, fewer(asked)),
            left_out=(fewer(self.left_out[0]), self.left_out[1]),
            fits=(fewer(self.fits[0]), self.fits[1]),
        )


QUICK = Sizes((500, 8, 100), ((600, 3, 100), (400, 8, 100)), (200, 1_000, 20, 50), (80, 4), (30, 4), 5, 1)


@dataclass(frozen=True)
class Run:
    """What was asked for."""

    sizes: Sizes
    n_threads: int


def made_points(n: int, p: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and queries: numbers in clusters of two widths, float64."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(20, p))
    points = centers[rng.integers(0, 20, n + m)] + rng.normal(size=(n + m, p)) * rng.choice([0.2, 1.0], (n + m, 1))
    return points[:n].copy(), points[n:].copy()


def made_documents(n: int, terms: int, length: int, m: int, seed: int = 0) -> tuple[csr_matrix, csr_matrix]:
    """Rows and queries like texts of newsgroups: words by Zipf's law, tf-idf, rows of length one.

    Lengths are log-normal with the mean ``length``; each text prefers the words of one of 20 subjects.
    """
    rng = np.random.default_rng(seed)
    lengths = np.maximum(1, rng.lognormal(np.log(length) - 0.32, 0.8, n + m)).astype(np.int64)
    owner = np.repeat(np.arange(n + m), lengths)
    chances = np.cumsum(1.0 / (np.arange(terms) + 2.7))
    words = np.searchsorted(chances, rng.random(len(owner)) * chances[-1])
    subject = rng.integers(0, 20, n + m)[owner]
    is_own = (rng.random(len(owner)) < 0.3) & (words > 100)
    words[is_own] = (words[is_own] // 20 * 20 + subject[is_own]) % terms
    counts = csr_matrix((np.ones(len(owner)), (owner, words)), shape=(n + m, terms))
    rarity = np.log((1.0 + n) / (1.0 + np.bincount(counts.indices, minlength=terms))) + 1.0
    weighed = (counts @ diags(np.maximum(rarity, 0.1))).tocsr()
    norms = np.sqrt(weighed.multiply(weighed).sum(axis=1)).A1
    rows = (diags(1.0 / norms) @ weighed).tocsr()
    rows.sort_indices()
    return rows[:n], rows[n:]


def agreeing(ours: np.ndarray, theirs: np.ndarray) -> str:
    """How many first neighbours are the same."""
    return f"{np.mean(ours[:, 0] == np.asarray(theirs).reshape(len(ours), -1)[:, 0]):.2%} of first neighbours agree"


def searched(job: str, ours: Answers, theirs: Answers, n_pairs: int | None) -> Pair:
    """Time two searches in turn; both give rows int[m, k]."""
    last: dict[str, np.ndarray] = {}
    pair = time_pairs(
        job, lambda: last.update(ours=ours()), lambda: last.update(theirs=theirs()), n_pairs=n_pairs
    )  # fmt: skip
    return replace(pair, note=agreeing(last["ours"], last["theirs"]))


def fitted(points: Any, n_threads: int, **options: Any) -> Any:
    """Ours, with its index made."""
    est = tw.KNeighborsRegressor(K, n_jobs=n_threads, **options).fit(points, np.zeros(points.shape[0]))
    est.kneighbors(points[:1])
    return est


def brute(run: Run) -> Iterator[Pair]:
    """Many columns: all rows are compared."""
    n, p, m = run.sizes.brute
    points, queries = made_points(n, p, m)
    ours = fitted(points, run.n_threads)
    theirs = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=run.n_threads).fit(points)
    yield searched(
        f"brute {n:,} x {p}, {m:,} queries: scikit-learn",
        lambda: ours.kneighbors(queries, return_distance=False),
        lambda: theirs.kneighbors(queries, return_distance=False),
        run.sizes.n_pairs,
    )


def kd(run: Run) -> Iterator[Pair]:
    """Few columns: trees. Building and searching are timed apart."""
    for n, p, m in run.sizes.trees:
        points, queries = made_points(n, p, m)
        ours = fitted(points, run.n_threads, algorithm="kd_tree")
        for name, build in tree_rivals(run.n_threads):
            yield time_pairs(
                f"build a tree of {n:,} x {p}: {name}",
                lambda: fitted(points, run.n_threads, algorithm="kd_tree"),  # noqa: B023
                lambda: build(points),  # noqa: B023
                n_pairs=run.sizes.n_pairs,
                note="ours with everything that fit does",
            )
            search = build(points)
            yield searched(
                f"search a tree of {n:,} x {p}, {m:,} queries: {name}",
                lambda: ours.kneighbors(queries, return_distance=False),  # noqa: B023
                lambda: search(queries),  # noqa: B023
                run.sizes.n_pairs,
            )


def tree_rivals(n_threads: int) -> Iterator[tuple[str, Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]]]:
    """Names, and functions from points to a function from queries to rows."""

    def of_sklearn(points: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        made = NearestNeighbors(n_neighbors=K, algorithm="kd_tree", n_jobs=n_threads).fit(points)
        return lambda queries: made.kneighbors(queries, return_distance=False)

    def of_scipy(points: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        made = cKDTree(points)
        return lambda queries: made.query(queries, k=K, workers=n_threads)[1]

    yield "scikit-learn", of_sklearn
    yield "SciPy cKDTree", of_scipy
    if find_spec("pykdtree") is None:
        print("pykdtree is not installed, skipped")
        return
    from pykdtree.kdtree import KDTree

    def of_pykdtree(points: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        made = KDTree(points)
        return lambda queries: made.query(queries, k=K)[1]

    yield "pykdtree", of_pykdtree


def sparse(run: Run) -> Iterator[Pair]:
    """Documents under the cosine."""
    n, terms, _, m = run.sizes.documents
    rows, queries = made_documents(*run.sizes.documents)
    ours = fitted(rows, run.n_threads, metric="cosine")
    theirs = NearestNeighbors(n_neighbors=K, metric="cosine", algorithm="brute", n_jobs=run.n_threads).fit(rows)
    pair = searched(
        f"documents {n:,} x {terms:,}, {m:,} queries: scikit-learn",
        lambda: ours.kneighbors(queries, return_distance=False),
        lambda: theirs.kneighbors(queries, return_distance=False),
        run.sizes.n_pairs,
    )
    yield replace(pair, note=f"{pair.note}; {rows.nnz / n:.0f} terms a document")


def left_out(run: Run) -> Iterator[Pair]:
    """Leave-one-out for every number of neighbours, against a search for each, and against a fit for each row."""
    most, n_threads = run.sizes.most, run.n_threads
    n, p = run.sizes.left_out
    X, _ = made_points(n, p, 0)
    y = (X @ np.linspace(-1, 1, p) > 0).astype(np.int64)
    est = tw.KNeighborsClassifier(n_jobs=n_threads)

    def ours() -> None:
        neighbor_curve(est, X, y, max_neighbors=most, n_jobs=n_threads)

    def searches() -> None:
        for k in range(1, most + 1):
            near = NearestNeighbors(n_neighbors=k, n_jobs=n_threads).fit(X).kneighbors(return_distance=False)
            np.mean((y[near].mean(axis=1) > 0.5) != y)

    job = f"leave one out {n:,} x {p}, k = 1 to {most}"
    yield time_pairs(
        f"{job}: a search of scikit-learn for each k", ours, searches, n_pairs=run.sizes.n_pairs, note="without refits"
    )

    def own_refits() -> None:
        for k in range(1, most + 1):
            tw.model_selection.leave_one_out(tw.KNeighborsClassifier(k, n_jobs=n_threads), X, y, n_jobs=n_threads)

    yield time_pairs(f"{job}: leave_one_out for each k", ours, own_refits, n_pairs=run.sizes.n_pairs, note="ours both")
    n = run.sizes.fits[0]
    few, labels = X[:n], y[:n]
    started = time.perf_counter()
    for row in range(n):
        others = np.delete(np.arange(n), row)
        KNeighborsClassifier(1 + row % most).fit(few[others], labels[others]).predict(few[row : row + 1])
    theirs = (time.perf_counter() - started) * most
    pair = time_pairs("", lambda: neighbor_curve(est, few, labels, max_neighbors=most, n_jobs=n_threads), lambda: None)
    job = f"leave one out {n:,} x {p}, k = 1 to {most}: a fit of scikit-learn for each row and k"
    note = f"theirs measured on {n:,} of {n * most:,} fits"
    yield Pair(job, pair.ours, theirs, theirs / pair.ours, 1, note=note)


MEASURED: dict[str, Callable[[Sizes], tuple[int, ...]]] = {
    "brute": lambda sizes: sizes.brute,
    "kd": lambda sizes: sizes.trees[0],
    "sparse": lambda sizes: sizes.documents,
}


def memory(run: Run) -> Iterator[Pair]:
    """Peak memory of fit and search beyond the tables, in multiples of the rows."""
    for name, size_of in MEASURED.items():
        size = size_of(run.sizes)
        said = [run_child(run, whose, name, *map(str, size)) for whose in ("ours", "theirs")]
        (ours, table), (theirs, _) = (map(int, each.split()) for each in said)
        yield Pair(
            job=f"memory of fit and search, {name} {' x '.join(f'{number:,}' for number in size)}: scikit-learn",
            ours=ours / table,
            theirs=theirs / table,
            ratio=theirs / ours if min(ours, theirs) > 0 else None,
            pairs=1,
            unit="x rows",
            note=f"beyond rows of {table / 2**20:.1f} MiB",
        )


def run_child(run: Run, *words: str) -> str:
    """This script in a process of its own; what it printed."""
    command = [sys.executable, __file__, "--threads", str(run.n_threads), "--measured-search", *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ).stdout


def rise_of_search(whose: str, name: str, size: list[int], n_threads: int) -> tuple[int, int]:
    """Bytes of fit and search beyond the tables, and those of the rows; a small search first loads what is needed."""
    rows, queries = made_documents(*size) if name == "sparse" else made_points(*size)
    options: dict[str, Any] = {"algorithm": "kd_tree" if name == "kd" else "brute"}
    if name == "sparse":
        options["metric"] = "cosine"

    def search(some: Any, asked: Any) -> Any:
        if whose == "ours":
            est = tw.KNeighborsRegressor(K, n_jobs=n_threads, **options).fit(some, np.zeros(some.shape[0]))
        else:
            est = NearestNeighbors(n_neighbors=K, n_jobs=n_threads, **options).fit(some)
        return est, est.kneighbors(asked)

    search(rows[:100], queries[:10])
    release_memory()  # what making the tables left free would hide what the search needs
    before = begin_peak()
    kept = search(rows, queries)
    rise = peak_bytes() - before
    del kept
    arrays = [rows] if isinstance(rows, np.ndarray) else [rows.data, rows.indices, rows.indptr]
    return rise, sum(array.nbytes for array in arrays)


def warm() -> None:
    """Compile what the jobs call."""
    run = Run(QUICK, 2)
    for job in (brute, kd, sparse, left_out):
        for _ in job(run):
            pass


JOBS: dict[str, Callable[[Run], Iterator[Pair]]] = {
    "brute": brute,
    "kd": kd,
    "sparse": sparse,
    "left_out": left_out,
    "memory": memory,
}


def arguments_of() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description="Nearest neighbours: Treewright, scikit-learn, SciPy, pykdtree.")
    parser.add_argument("--quick", action="store_true", help="small tables, one pair: does everything run?")
    parser.add_argument("--scale", type=float, default=1.0, metavar="SHARE", help="share of the rows, above 0 to 1")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which; all of them by default")
    parser.add_argument("--repeats", type=int, metavar="N", help="pairs of each job; by default what the budget allows")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads of every library")
    parser.add_argument("--out", type=Path, help="write JSON there")
    parser.add_argument("--measured-search", nargs="+", metavar="WORD", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Run the jobs asked for."""
    arguments = arguments_of()
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # pykdtree asks for it when it is imported
    with threadpool_limits(arguments.threads):
        if arguments.measured_search:
            whose, name, *size = arguments.measured_search
            print(*rise_of_search(whose, name, list(map(int, size)), arguments.threads))
            return
        sizes = QUICK if arguments.quick else Sizes().scaled(arguments.scale)
        run = Run(replace(sizes, n_pairs=arguments.repeats or sizes.n_pairs), arguments.threads)
        warm()
        results = []
        for name in arguments.jobs:
            for pair in JOBS[name](run):
                print(table_of([pair], "the other").splitlines()[-1], flush=True)
                results.append(pair)
    versions = {name: library_version(name) for name in ("scipy", "pykdtree") if find_spec(name) is not None}
    print(f"\n{machine()}\n{versions}, all with {arguments.threads} threads; ratio is theirs / ours\n")
    print(table_of(results, "the other"))
    write_json(arguments.out, results, threads=arguments.threads, rivals=versions)


if __name__ == "__main__":
    main()
