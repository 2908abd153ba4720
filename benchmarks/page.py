"""The page of benchmarks, from ``benchmarks/results/*.json`` to Markdown. Callers: people, and a test.

    python benchmarks/page.py > docs/numbers/benchmarks.md

A result file is what a script of ``versus`` wrote with ``--out``: copy it to ``results`` under the script's name,
with nothing else running while it is measured. Every row of every file is on the page, lost ones first.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "versus"))

from pairs import written  # noqa: E402

# Result file -> title, what is compared. The order is that of the page.
FILES = {
    "single_tree": (
        "One exact tree",
        "scikit-learn's `DecisionTree*`, which uses one thread; rows say how many ours uses",
    ),
    "real_data": (
        "Real tables",
        "scikit-learn's trees with its nominal columns one-hot encoded; both times include the encoding",
    ),
    "classics": ("C4.5, ID3 and CHAID", "Weka 3.6, and the Python packages c50py and CHAID"),
    "optimal": (
        "Optimal trees",
        "the time to the proof of pycontree (raw columns) and pystreed (binary columns), one thread each",
    ),
    "pruning_path": ("The pruning path", "scikit-learn's path, with one fit for each price in each fold"),
    "forests": ("Forests", "scikit-learn, YDF, LightGBM and XGBoost, with as many threads"),
    "boosting": ("Boosting", "LightGBM, XGBoost, CatBoost and scikit-learn, with as many threads"),
    "adaboost": ("AdaBoost", "scikit-learn's"),
    "neighbours": ("Nearest neighbours", "scikit-learn, SciPy and pykdtree"),
    "explain": ("Contributions (SHAP values)", "shap, and the libraries' own"),
    "imported": ("Imported models", "the library that the model comes from"),
    "startup": ("Starting", "processes that fit with scikit-learn"),
}
OTHER = ", scikit-learn"  # how the jobs of scikit-learn end in startup.json
HEAD = """\
# Benchmarks against other libraries

Treewright next to other libraries, on the same rows, with the same parameters, in one process. Ours and theirs run in
turn, and a *ratio* is the median of theirs / ours over neighbouring pairs: above 1 Treewright is faster (or smaller),
below 1 it is slower. Kernels are compiled before the clock runs; [starting](#starting) has whole processes. Notes give
the quality of both models where it can differ.

Your machine, your table and your versions give other numbers: [run the scripts](../../benchmarks/README.md). This page
is written by `python benchmarks/page.py` from the files in `benchmarks/results`, and shows every row that was measured.
"""


def main() -> None:
    """Print the page."""
    results = {name: read(name) for name in FILES if (HERE / "results" / f"{name}.json").exists()}
    pieces = [HEAD, summary_of(results), lost_of(results)]
    pieces += [section_of(name, content) for name, content in results.items()]
    print("\n".join(pieces), end="")


def read(name: str) -> dict[str, Any]:
    """A result file; whole processes become pairs where one of ours and one of scikit-learn do the same."""
    content: dict[str, Any] = json.loads((HERE / "results" / f"{name}.json").read_text(encoding="utf-8"))
    seconds = content.get("seconds", {})
    for job in [job.removesuffix(OTHER) for job in seconds if job.endswith(OTHER)]:
        ours, theirs = seconds[f"{job}, cached"], seconds[f"{job}{OTHER}"]
        row = {"job": f"{job}, kernels compiled", "ours": ours, "theirs": theirs, "ratio": theirs / ours, "unit": "s"}
        content.setdefault("results", []).append({**row, "pairs": 1, "note": "medians of whole processes"})
    return content


def compared(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that have a ratio."""
    return [row for row in content["results"] if row["ratio"] is not None]


def summary_of(results: dict[str, dict[str, Any]]) -> str:
    """A row for each file."""
    lines = [
        "## In short",
        "",
        "| what | next to | rows | median ratio | lowest | highest | lost |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, content in results.items():
        ratios = [row["ratio"] for row in compared(content)]
        title, rivals = FILES[name]
        numbers = f"{len(ratios)} | {ratio(statistics.median(ratios))} | {ratio(min(ratios))} | {ratio(max(ratios))}"
        lines.append(f"| {title} | {rivals} | {numbers} | {sum(each < 1 for each in ratios)} |")
    return "\n".join(lines) + "\n"


def lost_of(results: dict[str, dict[str, Any]]) -> str:
    """All rows with a ratio below 1, the worst first."""
    lost = [
        (row["ratio"], name, row) for name, content in results.items() for row in compared(content) if row["ratio"] < 1
    ]
    lines = [
        "## Where Treewright loses",
        "",
        "| ratio | what | job | Treewright | the other |",
        "|---|---|---|---|---|",
    ]
    for _, name, row in sorted(lost, key=lambda each: each[0]):
        lines.append(f"| {ratio(row['ratio'])} | {FILES[name][0]} | {' | '.join(cells_of(row)[:3])} |")
    return "\n".join(lines) + "\n"


def section_of(name: str, content: dict[str, Any]) -> str:
    """A file: where it was measured, and its rows."""
    title, rivals = FILES[name]
    lines = [f"## {title}", "", f"Next to {rivals}. {measured(content)}", ""]
    lines += ["| job | Treewright | the other | ratio | pairs | note |", "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(cells_of(row)) + " |" for row in content["results"]]
    if "seconds" in content:
        lines += ["", "| process, from start to end | median |", "|---|---|"]
        lines += [f"| {job} | {written(seconds, 's')} |" for job, seconds in content["seconds"].items()]
    return "\n".join(lines) + "\n"


def measured(content: dict[str, Any]) -> str:
    """With what, on what, when."""
    machine = content["machine"]
    versions = {**machine["libraries"], **content.get("rivals", {})}
    told = ", ".join(f"{library} {version}" for library, version in versions.items())
    threads = f", {content['threads']} threads for every library" if "threads" in content else ""
    return (
        f"`{content['command']}`, {machine['date']}, {machine['processors']} x {machine['processor']} "
        f"({machine['system']}, Python {machine['python']}){threads}{': ' * bool(told)}{told}."
    )


def cells_of(row: dict[str, Any]) -> list[str]:
    """A row's cells: job, ours, theirs, ratio, pairs, note; a row without a ratio has nothing next to it."""
    theirs, told = "-", "-"
    if row["ratio"] is not None:
        theirs, told = written(row["theirs"], row["unit"]), ratio(row["ratio"])
    note = row["note"].replace("|", "\\|")
    return [row["job"], written(row["ours"], row["unit"]), theirs, told, str(row["pairs"]), note]


def ratio(number: float) -> str:
    """A ratio with three digits."""
    return f"{number:.3g}"


if __name__ == "__main__":
    main()
