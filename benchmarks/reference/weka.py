"""Weka's Id3, J48 and REPTree: figures of their trees, written by `WekaTrees.java`, which reads them with full digits.

In: data sets. Out: weka_id3.json, weka_j48.json, weka_reptree.json, weka_reduced_error.json (their shape: README.md).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import sets
from tables import Table

HERE = Path(__file__).resolve().parent
ID3_SETS = ("tennis", "movies", "restaurant", "contact_lenses", "car_evaluation", "tic_tac_toe", "mushroom", "vote")
J48_SETS = (
    "tennis", "tennis_numeric", "contact_lenses", "iris", "wine", "breast_cancer", "penguins", "vote", "soybean",
    "credit_g", "car_evaluation", "mushroom", "tic_tac_toe", "breast_cancer_w",
)  # fmt: skip
J48_OPTIONS = ("-C 0.25 -M 2", "-U", "-S", "-C 0.25 -M 5")
J48_LARGE = {"letter": "-", "adult": "t"}
ROWS_WANTED = ("vote", "soybean", "breast_cancer_w", "penguins")
REPTREE_SETS = ("vote", "credit_g", "auto_mpg")
HELD_OUT_SETS = (
    "tennis", "tennis_numeric", "iris", "wine", "breast_cancer", "penguins", "vote", "credit_g", "tic_tac_toe",
    "car_evaluation", "auto_mpg",
)  # fmt: skip
HELD_OUT_OPTIONS = ("-M 2 -N 3 -S 1", "-M 1 -N 5 -S 7")
HELD_OUT_ONCE = ("credit_g", "car_evaluation", "auto_mpg")  # large trees: the first options only
# Without numbers: J48 puts a cut at a value of all rows, those that it keeps aside included.
J48_HELD_OUT_SETS = ("vote", "soybean", "car_evaluation", "tic_tac_toe")
J48_HELD_OUT_OPTIONS = ("-R -N 3 -Q 1 -M 2", "-R -N 5 -Q 7 -M 2")
PRINTED_BELOW = 1500
PREDICTED_BELOW = 3000
TOP_LEVELS = 3
REPEATED = ("tree", "printed", "predicted", "distribution")


def run(folder: Path | None, jar: str, version: str) -> Iterator[tuple[str, dict]]:
    """File name and figures, one program at a time."""
    yield "weka_id3.json", _figures("Id3", version, _id3(folder, jar))
    yield "weka_j48.json", _figures("J48", version, _j48(folder, jar))
    yield "weka_reptree.json", _figures("REPTree", version, _reptree(folder, jar))
    yield "weka_reduced_error.json", _figures("REPTree and J48 -R", version, _held_out(folder, jar))


def _figures(program: str, version: str, runs: list[dict]) -> dict:
    return {"program": f"weka.classifiers.trees.{program}", "version": f"Weka {version}", "runs": runs}


def _call(jar: str, program: str, table: Table, wanted: str, options: tuple[str, ...]) -> list[dict]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "table.arff"
        path.write_text(sets.arff(table), encoding="utf-8")
        command = ["java", "-Xss64m", "-cp", jar, str(HERE / "WekaTrees.java"), program, str(path), wanted, *options]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _described(table: Table, note: str, made: dict) -> dict:
    # Seconds are of one machine and one day: they are shown, not kept.
    print(f"  {table.name:<16} {made['options']:<14} build {made.pop('seconds'):8.3f} s", flush=True)
    about = {"data": table.name, "rows": table.n_rows}
    if note:
        about["note"] = note
    if table.target in table.nominal:
        about["classes"] = table.levels(table.target)
    if len(made.get("printed", "")) > PRINTED_BELOW:
        del made["printed"]
    if table.n_rows > PREDICTED_BELOW:
        made.pop("predicted", None)
    if "distribution" in made:
        made["distribution"] = _distinct(made["distribution"])
    return about | made


def _distinct(rows: list[str]) -> dict:
    """The different distributions, in order of first appearance, and which of them each row has."""
    place = {shares: i for i, shares in enumerate(dict.fromkeys(rows))}
    return {"distinct": list(place), "row": " ".join(str(place[shares]) for shares in rows)}


def _id3(folder: Path | None, jar: str) -> list[dict]:
    runs = []
    for name in ID3_SETS:
        table, note = sets.find(name, folder), ""
        if table is None:
            continue
        if name == "mushroom":
            note = "without the column stalk-root, the only one with missing cells"
            table = sets.without(table, "stalk-root")
        elif sets.with_missing(table):
            note = "every missing cell is the level 'missing'"
            table = sets.missing_as_level(table)
        runs += [_described(table, note, made) for made in _call(jar, "Id3", table, "tp", ("",))]
    return runs


def _j48(folder: Path | None, jar: str) -> list[dict]:
    runs = []
    for name in J48_SETS:
        table = sets.find(name, folder)
        if table is None:
            continue
        seen: dict[str, str] = {}
        for made in _call(jar, "J48", table, "tcp", J48_OPTIONS):
            if name not in ROWS_WANTED:
                del made["distribution"], made["predicted"]
            first = seen.setdefault(json.dumps(made["tree"]), made["options"])
            described = _described(table, "", made)
            if first != made["options"]:
                described = {key: value for key, value in described.items() if key not in REPEATED}
                described["same_tree_as"] = first
            runs.append(described)
    for name, wanted in J48_LARGE.items():
        table = sets.find(name, folder)
        if table is None:
            continue
        for made in _call(jar, "J48", table, wanted, J48_OPTIONS[:2]):
            note = ""
            if "tree" in made:
                made["tree"] = _top(made["tree"], TOP_LEVELS)
                note = f"the tree's first {TOP_LEVELS} levels only; deeper subtrees are {{'cut': true}}"
            runs.append(_described(table, note, made))
    return runs


def _top(node: dict, levels: int) -> dict:
    if "leaf" in node:
        return node
    if levels == 0:
        return {"cut": True}
    return node | {"branches": {name: _top(son, levels - 1) for name, son in node["branches"].items()}}


def _reptree(folder: Path | None, jar: str) -> list[dict]:
    runs = []
    for name in REPTREE_SETS:
        table = sets.find(name, folder)
        if table is not None:
            runs += [_described(table, "", made) for made in _call(jar, "REPTree", table, "c", ("", "-P"))]
    return runs


def _held_out(folder: Path | None, jar: str) -> list[dict]:
    runs = []
    wanted = [("REPTree", name, HELD_OUT_OPTIONS[: 1 if name in HELD_OUT_ONCE else 2]) for name in HELD_OUT_SETS]
    wanted += [("J48", name, J48_HELD_OUT_OPTIONS) for name in J48_HELD_OUT_SETS]
    for program, name, options in wanted:
        table = sets.find(name, folder)
        if table is None:
            continue
        for made in _call(jar, program, table, "h", options):
            if not made.pop("whole_run_gives_the_same", True):
                raise RuntimeError(f"{program} {made['options']} on {name}: step by step it gives another tree")
            runs.append(_described(table, "", made))
    return runs
