"""Figures of other programs' trees: runs each program on the data sets and writes JSON for the tests to compare with.

    python benchmarks/reference/run.py --data FOLDER --out tests/reference/figures [--only weka,rpart]

The programs are tables (the textbook tables as JSON), weka, rpart, rpart_xval, partykit, chaid and c50py.

How to install the programs, and the shape of what is written: README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tables import TABLES

PROGRAMS = ("tables", "weka", "rpart", "rpart_xval", "partykit", "chaid", "c50py")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of data sets; without it only those that come along")
    parser.add_argument("--out", type=Path, required=True, help="folder to write the JSON files into")
    parser.add_argument("--only", default=",".join(PROGRAMS), help="programs, separated by commas")
    parser.add_argument("--weka-jar", default="/usr/share/java/weka.jar", help="place of weka.jar")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for program in given.only.split(","):
        if program not in PROGRAMS:
            parser.error(f"no program {program!r}; there are {', '.join(PROGRAMS)}")
        print(program, flush=True)
        for name, figures in _figures(program, given):
            (given.out / name).write_text(compact(figures), encoding="utf-8")
            print(f"  wrote {name}", flush=True)
    return 0


def _figures(program: str, given: argparse.Namespace) -> Iterable[tuple[str, dict]]:
    if program == "tables":
        return [("tables.json", {"program": "textbook tables", "runs": [vars(table) for table in TABLES.values()]})]
    if program == "weka":
        import weka

        return weka.run(given.data, given.weka_jar, weka_version(given.weka_jar))
    module = __import__({"chaid": "chaid_package", "c50py": "c50"}.get(program, program))
    return module.run(given.data)


def weka_version(jar: str) -> str:
    """Version of a weka.jar: the text it carries, or what its file's name says."""
    with zipfile.ZipFile(jar) as archive:
        if "weka/core/version.txt" in archive.namelist():
            return archive.read("weka/core/version.txt").decode().strip().replace("-", ".")
    found = re.search(r"weka-([0-9.]+[0-9])", Path(jar).resolve().name)
    return found[1] if found else "of unknown version"


def compact(figures: dict) -> str:
    """JSON with one line a run, so that a change shows in a diff without a line a number."""
    dense = {"ensure_ascii": False, "separators": (",", ":")}
    head = {key: value for key, value in figures.items() if key != "runs"}
    lines = [f"{json.dumps(key)}:{json.dumps(value, **dense)}," for key, value in head.items()]
    runs = ",\n".join(json.dumps(run, **dense) for run in figures["runs"])
    return "{" + "\n".join(lines) + '\n"runs":[\n' + runs + "\n]}\n"


if __name__ == "__main__":
    sys.exit(main())
