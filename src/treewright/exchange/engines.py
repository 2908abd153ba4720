"""Programs that run exported files. In: a file, test vectors. Out: the program's results for each row.

Each engine is a function of the file, an empty folder to work in, and the vectors; it returns float64
[n, n_sums + n_values + n_outputs]: sums, then values, then the predictions (codes of classes, or numbers).
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from treewright.exceptions import InputFileError, MissingLibraryError
from treewright.exchange.sql import DATABASES, Database, identifier, key_of
from treewright.trees.writing import escape_controls

_SECONDS = 600
_MOST_LINES = 8  # of an error message

Engine = Callable[[Path, Path, dict[str, Any]], np.ndarray]


def _texts(vectors: dict[str, Any]) -> str:
    """The rows as lines of numbers."""
    return "\n".join(" ".join(repr(float(cell)) for cell in row) for row in vectors["rows"])


def _output(words: list[str], folder: Path, given: str = "") -> str:
    """The output of a program; an error with its message if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - the caller asks for this file to be run
            words, cwd=folder, input=given, capture_output=True, encoding="utf-8", errors="replace", timeout=_SECONDS,
            check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputFileError(f"{words[0]} did not end within {_SECONDS} seconds") from None
    if done.returncode:
        # The last lines, complete, with control characters escaped.
        lines = escape_controls(done.stderr.strip()).replace("\\n", "\n").splitlines() if done.stderr else []
        said = "\n".join(line[:300] for line in lines[-_MOST_LINES:])
        if not said:
            said = (
                f"it ended with the exit code {done.returncode} and no message: the program refuses a row of the "
                "vectors, as those of another model, or crashes"
            )
        raise InputFileError(f"{Path(words[0]).name} failed: {said}")
    return done.stdout


def table_of(rows: list[Any]) -> np.ndarray:
    """Rows of numbers, all as long as the first."""
    try:
        return np.array([list(map(float, row)) for row in rows]).reshape(len(rows), -1 if rows else 0)
    except ValueError:
        raise InputFileError("the output has rows of different lengths, or cells that are not numbers") from None


def _numbers(text: str) -> np.ndarray:
    """Lines of numbers as an array."""
    return table_of([line.split() for line in text.splitlines()])


def needed(program: str, path: Path) -> None:
    """Raise an error if a program is not installed."""
    if shutil.which(program) is None:
        raise MissingLibraryError(f"{program} is not installed: it is needed to run {path.name}")


def _by_gcc(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    needed("gcc", path)
    name = vectors["name"]
    (folder / "model.c").write_bytes(path.read_bytes())  # an include does not take every path
    (folder / "run.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\n#include "model.c"\n'
        "int main(void) {\n"
        f"    static double row[{name}_INPUTS], sums[N_SUMS], values[{name}_VALUES], said[{name}_VALUES];\n"
        '    char text[64];\n    int at = 0;\n    while (scanf("%63s", text) == 1) {\n'
        f"        row[at++] = strtod(text, 0);\n        if (at < {name}_INPUTS) continue;\n        at = 0;\n"
        f"        if ({name}_sums(row, sums) || {name}_values(row, values) || {name}_predict(row, said)) return 1;\n"
        '        for (int i = 0; i < N_SUMS; i++) printf("%.17g ", sums[i]);\n'
        f'        for (int i = 0; i < {name}_VALUES; i++) printf("%.17g ", values[i]);\n'
        '        for (int i = 0; i < N_OUTPUTS; i++) printf("%.17g ", said[i]);\n        puts("");\n'
        "    }\n    return 0;\n}\n"
    )
    _output(["gcc", "-std=c99", "-O1", "-ffp-contract=off", "run.c", "-o", "run", "-lm"], folder)
    return _numbers(_output([str(folder / "run")], folder, _texts(vectors)))


def _by_node(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    needed("node", path)
    (folder / "model.mjs").write_bytes(path.read_bytes())
    (folder / "run.mjs").write_text(
        'import { sums, values, predict, classes } from "./model.mjs"; import fs from "fs";\n'
        "const odd = { nan: NaN, inf: Infinity, '-inf': -Infinity };\n"
        'for (const line of fs.readFileSync(0, "utf8").split("\\n")) {\n'
        '  const row = line.split(" ").map((text) => text in odd ? odd[text] : Number(text));\n'
        "  const said = classes.length ? [predict(row)].flat().map((label, at) => classes[at].indexOf(label)) : [];\n"
        '  console.log([...sums(row), ...values(row), ...said].join(" "));\n}\n'
    )
    text = _output(["node", "run.mjs"], folder, _texts(vectors))
    return _numbers(text.replace("Infinity", "inf"))


def _by_python(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    # In a separate process: this one never runs a file.
    program = (
        "import runpy, sys\ncode = runpy.run_path(sys.argv[1])\n"
        "for line in sys.stdin:\n    row = [float(text) for text in line.split()]\n"
        "    said = code['predict'](row) if code['classes'] else []\n"
        "    said = said if isinstance(said, list) else [said]\n"
        "    codes = [own.index(label) for own, label in zip(code['classes'], said)]\n"
        "    print(*map(repr, [*code['sums'](row), *code['values'](row), *codes]))\n"
    )
    return _numbers(_output([sys.executable, "-c", program, str(path)], folder, _texts(vectors)))


def _by_java(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    for program in ("javac", "java"):
        needed(program, path)
    name = vectors["name"]
    (folder / f"{name}.java").write_bytes(path.read_bytes())
    # The class of the model may have any name: the locals here have names that no model has.
    run = f"Run{name}"
    (folder / f"{run}.java").write_text(
        f"public class {run} {{\n    public static void main(String[] a_) {{\n"
        "        java.util.Scanner b_ = new java.util.Scanner(System.in);\n        while (b_.hasNextLine()) {\n"
        '            String[] c_ = b_.nextLine().split(" ");\n'
        "            double[] d_ = new double[c_.length];\n"
        "            for (int e_ = 0; e_ < d_.length; e_++)\n"
        '                d_[e_] = Double.parseDouble(c_[e_].replace("inf", "Infinity").replace("nan", "NaN"));\n'
        "            java.lang.StringBuilder f_ = new java.lang.StringBuilder();\n"
        f"            for (double g_ : {name}.sums(d_)) f_.append(g_).append(' ');\n"
        f"            for (double g_ : {name}.values(d_)) f_.append(g_).append(' ');\n"
        f"            java.util.List<Object> h_ = {name}.predict(d_);\n"
        f"            for (int e_ = 0; e_ < {name}.classes.size(); e_++)\n"
        f"                f_.append({name}.classes.get(e_).indexOf(h_.get(e_))).append(' ');\n"
        "            System.out.println(f_);\n        }\n    }\n}\n"
    )
    _output(["javac", "-encoding", "UTF-8", f"{name}.java", f"{run}.java"], folder)
    text = _output(["java", "-cp", str(folder), run], folder, _texts(vectors))
    return _numbers(text.replace("Infinity", "inf"))


def by_jpmml(jobs: list[tuple[Path, dict[str, Any]]], folder: Path) -> list[np.ndarray]:
    """The results of the JPMML evaluator for files, each with its vectors; Java is started once for all."""
    from treewright.data.schema import unlike
    from treewright.exchange.pmml import text_of

    if find_spec("jpmml_evaluator") is None:
        raise MissingLibraryError(
            "running PMML needs the JPMML evaluator: pip install jpmml_evaluator (it also needs Java)"
        )
    needed("java", jobs[0][0])
    program = (
        "import json, sys\nfrom jpmml_evaluator import make_evaluator\n"
        "for path, columns, rows in json.load(sys.stdin):\n"
        "    evaluator = make_evaluator(path)\n"
        "    [target] = [field.getName() for field in evaluator.getTargetFields()]\n"
        "    names = [*(field.getName() for field in evaluator.getOutputFields()), target]\n"
        "    found = [evaluator.evaluate(dict(zip(columns, row))) for row in rows]\n"
        "    print(json.dumps([[row[name] for name in names] for row in found]))\n"
    )
    given = []
    for path, vectors in jobs:
        names = [text_of(column["name"]) for column in vectors["columns"]]
        levels = [list(map(text_of, column["levels"])) for column in vectors["columns"]]
        # A text that is no level comes after the last.
        texts = [
            [*own, *unlike(["unknown"], own)] if column["kind"] != "numeric" else []
            for own, column in zip(levels, vectors["columns"], strict=True)
        ]
        rows = [
            [
                None if math.isnan(cell) else own[int(cell)] if own else cell
                for cell, own in zip(map(float, row), texts, strict=True)
            ]
            for row in vectors["rows"]
        ]
        given.append([str(path), names, rows])
    lines = _output([sys.executable, "-c", program], folder, json.dumps(given)).splitlines()
    return [_from_jpmml(json.loads(line), vectors) for line, (_, vectors) in zip(lines, jobs, strict=True)]


def _from_jpmml(rows: list[list[Any]], vectors: dict[str, Any]) -> np.ndarray:
    """Sums, values and codes: output fields are scores, if there are any, and probabilities; the last is the target."""
    from treewright.exchange.pmml import text_of

    if not vectors["classes"]:
        # A sum without a further step is the prediction.
        return table_of([[*(row[:-1] or row), row[-1]] for row in rows])
    labels = list(map(text_of, vectors["classes"][0]))
    n_sums = len(vectors["sums"][0])
    found = []
    for row in rows:
        shares, answer = row[-1 - len(labels) : -1], text_of(row[-1])
        sums = row[:n_sums] if len(row) > len(labels) + 1 else shares
        found.append([*sums, *shares, labels.index(answer) if answer in labels else -1])
    return table_of(found)


def _by_jpmml(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    return by_jpmml([(path, vectors)], folder)[0]


def _by_onnxruntime(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    if find_spec("onnxruntime") is None:
        raise MissingLibraryError('onnxruntime is not installed: pip install "treewright[onnx]"')
    (folder / "rows.json").write_text(json.dumps(vectors["rows"]))
    # In a separate process: a damaged file may crash it.
    program = (
        "import json, sys\nimport numpy as np, onnxruntime\n"
        "session = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])\n"
        "facts = session.get_modelmeta().custom_metadata_map\n"
        "rows = np.array([list(map(float, row)) for row in json.load(open('rows.json'))])\n"
        "cells, classes = {}, json.loads(facts['classes'])\n"
        "for at, column in enumerate(json.loads(facts['columns'])):\n"
        "    own = rows[:, at : at + 1]\n"
        "    if 'levels' in column:\n"
        "        texts = [*column['levels'], column['missing']]\n"
        "        unknown = max(texts, key=len) + '?'\n"
        "        texts = [*column['levels'], unknown, column['missing']]\n"
        "        own = np.array(texts, object)[np.where(np.isnan(own), len(texts) - 1, own).astype(int)]\n"
        "    if column['input'] is not None:\n"
        "        cells.setdefault(column['input'], []).append(own)\n"
        "said = session.run(None, {name: np.hstack(parts) for name, parts in cells.items()})\n"
        "codes = [[own.index(label) for label in found.tolist()] for own, found in zip(classes, said)]\n"
        "for row in np.hstack([said[-1], said[-2], np.array(codes).reshape(len(codes), len(rows)).T]).tolist():\n"
        "    print(*map(repr, row))\n"
    )
    return _numbers(_output([sys.executable, "-c", program, str(path)], folder))


def _rows_table(database: Database, vectors: dict[str, Any]) -> tuple[str, str, list[list[Any]]]:
    """The table of rows that a view reads: its definition, its key, and its rows, each after its number."""
    columns = vectors["columns"]
    names = [str(column["name"]) for column in columns]
    key, cells, types = key_of(names, database), [], []
    for at, column in enumerate(columns):
        own = [float(row[at]) for row in vectors["rows"]]
        levels = column["levels"]
        kind = "DOUBLE PRECISION"
        if column["kind"] != "numeric":
            # There is no unknown third value of a bool: then they are texts, in databases whose columns have one type.
            is_truth = bool(levels) and all(isinstance(level, bool) for level in levels)
            if is_truth and database.name != "sqlite":
                levels = ["true" if level else "false" for level in levels]
            is_text = not levels or isinstance(levels[0], str)
            kind = "TEXT" if is_text else "DOUBLE PRECISION"
            unknown = "?" * (1 + max(map(len, levels), default=0)) if is_text else math.nextafter(max(levels), math.inf)
            levels = [*levels, unknown]
        # A missing number is nan in some rows and NULL in others, in databases that distinguish them.
        gaps = [math.nan, None] if column["kind"] == "numeric" else [None, None]
        cells.append([
            gaps[place % 2] if math.isnan(cell) else cell if column["kind"] == "numeric" else levels[int(cell)]
            for place, cell in enumerate(own)
        ])  # fmt: skip
        types.append(kind)
    listed = ", ".join(f"{identifier(name)} {kind}" for name, kind in zip(names, types, strict=True))
    table = f"CREATE TABLE {identifier(vectors['name'] + '_rows')} ({identifier(key)} INTEGER, {listed})"
    return table, identifier(key), [[at, *row] for at, row in enumerate(zip(*cells, strict=True))]


def _results(rows: list[list[Any]], vectors: dict[str, Any]) -> np.ndarray:
    """The results of a view, without its key: labels as codes, -1 for an unknown one."""
    n_classes = len(vectors["classes"])
    begin = 1 + len(vectors["sums"][0]) + len(vectors["values"][0])
    found = []
    for row in rows:
        codes = [
            own.index(label) if label in own else -1
            for own, label in zip(vectors["classes"], row[begin : begin + n_classes], strict=True)
        ]
        found.append([math.nan if cell is None else cell for cell in row[1:begin]] + codes)
    return table_of(found)


def _by_database(engine: str) -> Engine:
    # In a separate process: a query may take all time and memory.
    program = (
        "import json, sys\nengine, path = sys.argv[1:]\ngiven = json.load(sys.stdin)\n"
        "if engine == 'sqlite':\n    import sqlite3\n    base = sqlite3.connect(':memory:')\n"
        "    run = base.executescript\n"
        "else:\n    import duckdb\n    base = duckdb.connect()\n    run = base.execute\n"
        "    run('SET enable_progress_bar = false')\n"
        "run(given['table'])\n"
        "if engine == 'sqlite':\n    base.executemany(given['insert'], given['rows'])\n"
        "else:\n    run(given['insert'], list(map(list, zip(*given['rows']))))\n"
        "run(open(path, encoding='utf-8', newline='').read())\n"
        "print(json.dumps(base.execute(given['question']).fetchall()))\n"
    )

    def run(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
        if engine == "duckdb" and find_spec("duckdb") is None:
            raise MissingLibraryError(f"duckdb is not installed: it is needed to run {path.name}; pip install duckdb")
        table, key, rows = _rows_table(DATABASES[engine], vectors)
        name, columns = vectors["name"], len(rows[0])
        # DuckDB inserts whole columns; row by row it is slow.
        places = (
            f"VALUES ({', '.join('?' * columns)})"
            if engine == "sqlite"
            else f"SELECT {', '.join(['unnest(?)'] * columns)}"
        )
        given = {
            "table": table,
            "insert": f"INSERT INTO {identifier(name + '_rows')} {places}",
            "rows": rows,
            "question": f"SELECT * FROM {identifier(name)} ORDER BY {key}",
        }
        text = _output([sys.executable, "-c", program, engine, str(path)], folder, json.dumps(given))
        return _results(json.loads(text), vectors)

    return run


def _by_postgres(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    """By ``psql``, which finds the server by its variables (PGHOST, PGUSER ...); it leaves nothing there."""
    needed("psql", path)
    table, key, rows = _rows_table(DATABASES["postgresql"], vectors)
    name = vectors["name"]
    escapes = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
    lines = ["\t".join("\\N" if cell is None else str(cell).translate(escapes) for cell in row) for row in rows]
    listed = "".join(f"{line}\n" for line in lines)
    script = (
        "\\set QUIET on\n\\set ON_ERROR_STOP on\n\\encoding UTF8\n\\pset format unaligned\n\\pset tuples_only on\n"
        "BEGIN;\nCREATE SCHEMA treewright_verify;\nSET LOCAL search_path = treewright_verify;\n"
        f"{table};\nCOPY {identifier(name + '_rows')} FROM STDIN;\n{listed}\\.\n"
        "\\ir model.sql\n"
        # As hexadecimal digits: psql leaves out U+10FFFE and U+10FFFF when it prints.
        f"SELECT encode(convert_to(row_to_json(said)::text, 'UTF8'), 'hex') "
        f"FROM (SELECT * FROM {identifier(name)} ORDER BY {key}) AS said;\nROLLBACK;\n"
    )
    (folder / "model.sql").write_bytes(path.read_bytes())
    (folder / "run.sql").write_text(script, encoding="utf-8")
    text = _output(["psql", "--no-psqlrc", "--no-password", "--file", "run.sql"], folder)
    told = [json.loads(bytes.fromhex(line)) for line in text.split("\n") if line]
    return _results([list(row.values()) for row in told], vectors)


ENGINES: dict[str, Engine] = {
    "gcc": _by_gcc,
    "node": _by_node,
    "python": _by_python,
    "java": _by_java,
    "pmml": _by_jpmml,
    "onnxruntime": _by_onnxruntime,
    "duckdb": _by_database("duckdb"),
    "sqlite": _by_database("sqlite"),
    "postgres": _by_postgres,
}
