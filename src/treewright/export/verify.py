"""Source code run by the real program on test vectors. In: a file, vectors. Out: how far it is from the model."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treewright.exceptions import DataError, InputFileError, MissingLibraryError, ParameterError
from treewright.export.code import ENDINGS, IDENTIFIER
from treewright.export.vectors import FORMAT, VERSION

_SECONDS = 600
_NAMES = {"c": "gcc", "javascript": "node", "python": "python"}


@dataclass(frozen=True)
class Verdict:
    """What a program says beside the model.

    Attributes
    ----------
    engine : str
    n_rows : int
    n_unequal : int
        Rows of which a sum is another number.
    ulps : float
        The largest difference of a share or number, in units in the last place.
    """

    engine: str
    n_rows: int
    n_unequal: int
    ulps: float

    @property
    def is_equal(self) -> bool:
        """Whether sums are the same bits, and values within what the language's ``exp`` may differ by."""
        return self.n_unequal == 0 and self.ulps <= 4.0

    def __str__(self) -> str:
        sums = "sums are equal to the bit" if not self.n_unequal else f"sums of {self.n_unequal:,} differ"
        values = f"values differ by at most {self.ulps:g} units in the last place"
        return f"{self.engine}, {self.n_rows:,} rows: {sums}; {values}"


def verify(path: Path, vectors: dict[str, Any]) -> Verdict:
    """Run a file of source code on test vectors.

    Parameters
    ----------
    path : Path
        Ends in ``.c`` (compiled by gcc), ``.js`` or ``.mjs`` (node), ``.py`` (this Python, in a process of its own).
    vectors : dict
        As ``vectors_of`` gives them.

    Raises
    ------
    ParameterError
        Another ending, or vectors of another format.
    MissingLibraryError
        The program is not installed.
    InputFileError
        The file does not compile or run; the program's own words are told.
    """
    language = ENDINGS.get(path.suffix.lower())
    if language is None:
        raise ParameterError(f"{path}: the ending says the language, one of {', '.join(ENDINGS)}")
    if vectors.get("format") != FORMAT or vectors.get("version") != VERSION:
        raise ParameterError(f"the vectors are not of format {FORMAT} {VERSION}")
    engine = _NAMES[language]
    if engine != "python" and shutil.which(engine) is None:
        raise MissingLibraryError(f"{engine} is not installed: it is needed to run {path.name}")
    with tempfile.TemporaryDirectory() as folder:
        answers = _RUN[language](path.resolve(), Path(folder), vectors)
    sums, values = (_table(vectors[name]) for name in ("sums", "values"))
    if answers.shape != (len(sums), sums.shape[1] + values.shape[1]):
        raise DataError(f"{path}: it answers {answers.shape}, not {len(sums)} rows of {sums.shape[1]} sums and "
                        f"{values.shape[1]} values: are the vectors of this model?")  # fmt: skip
    said_sums, said = answers[:, : sums.shape[1]], answers[:, sums.shape[1] :]
    unequal = (said_sums != sums) & ~(np.isnan(said_sums) & np.isnan(sums))
    with np.errstate(invalid="ignore"):
        apart = np.abs(said - values) / np.spacing(np.maximum(np.abs(values), np.finfo(np.float64).tiny))
    # What is no number where the model has one is as far off as can be; two infinities alike are not apart.
    apart[np.isnan(apart)] = np.inf
    apart[(said == values) | (np.isnan(said) & np.isnan(values))] = 0.0
    return Verdict(engine, len(sums), int(unequal.any(axis=1).sum()), float(apart.max(initial=0.0)))


def _texts(vectors: dict[str, Any]) -> str:
    """The rows as lines of numbers."""
    return "\n".join(" ".join(repr(float(cell)) for cell in row) for row in vectors["rows"])


def _output(words: list[str], folder: Path, given: str = "") -> str:
    """What a program writes; its complaint where it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - the caller asks for this file to be run
            words, cwd=folder, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputFileError(f"{words[0]} did not end within {_SECONDS} seconds") from None
    if done.returncode:
        raise InputFileError(f"{Path(words[0]).name} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def _table(rows: list[Any]) -> np.ndarray:
    """Rows of numbers, all as long as the first."""
    try:
        return np.array([list(map(float, row)) for row in rows]).reshape(len(rows), -1 if rows else 0)
    except ValueError:
        raise InputFileError("rows of different lengths, or of what are no numbers: are these answers?") from None


def _numbers(text: str) -> np.ndarray:
    """Lines of numbers as an array."""
    return _table([line.split() for line in text.splitlines()])


def _by_gcc(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    name = vectors["name"]
    (folder / "run.c").write_text(
        f"#include <stdio.h>\n#include <stdlib.h>\n#include {json.dumps(str(path))}\n"
        "int main(void) {\n"
        f"    static double row[{name}_INPUTS], sums[N_SUMS], values[{name}_VALUES];\n"
        '    char text[64];\n    int at = 0;\n    while (scanf("%63s", text) == 1) {\n'
        f"        row[at++] = strtod(text, 0);\n        if (at < {name}_INPUTS) continue;\n        at = 0;\n"
        f"        if ({name}_sums(row, sums) || {name}_values(row, values)) return 1;\n"
        '        for (int i = 0; i < N_SUMS; i++) printf("%.17g ", sums[i]);\n'
        f'        for (int i = 0; i < {name}_VALUES; i++) printf("%.17g ", values[i]);\n        puts("");\n'
        "    }\n    return 0;\n}\n"
    )
    _output(["gcc", "-std=c99", "-O1", "-ffp-contract=off", "run.c", "-o", "run", "-lm"], folder)
    return _numbers(_output([str(folder / "run")], folder, _texts(vectors)))


def _by_node(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    (folder / "model.mjs").write_bytes(path.read_bytes())
    (folder / "run.mjs").write_text(
        'import { sums, values } from "./model.mjs"; import fs from "fs";\n'
        "const odd = { nan: NaN, inf: Infinity, '-inf': -Infinity };\n"
        'for (const line of fs.readFileSync(0, "utf8").split("\\n")) {\n'
        '  const row = line.split(" ").map((text) => text in odd ? odd[text] : Number(text));\n'
        '  console.log([...sums(row), ...values(row)].join(" "));\n}\n'
    )
    text = _output(["node", "run.mjs"], folder, _texts(vectors))
    return _numbers(text.replace("Infinity", "inf"))


def _by_python(path: Path, folder: Path, vectors: dict[str, Any]) -> np.ndarray:
    # In a process of its own: this one runs nothing that it reads.
    program = (
        "import runpy, sys\ncode = runpy.run_path(sys.argv[1])\n"
        "for line in sys.stdin:\n    row = [float(text) for text in line.split()]\n"
        "    print(*map(repr, [*code['sums'](row), *code['values'](row)]))\n"
    )
    return _numbers(_output([sys.executable, "-c", program, str(path)], folder, _texts(vectors)))


_RUN: dict[str, Callable[[Path, Path, dict[str, Any]], np.ndarray]] = {
    "c": _by_gcc, "javascript": _by_node, "python": _by_python,
}  # fmt: skip


def read_vectors(path: Path) -> dict[str, Any]:
    """The test vectors in a file of JSON."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputFileError(f"{path}: no test vectors ({error})") from None
    if not isinstance(found, dict) or not all(isinstance(found.get(key), list) for key in ("rows", "sums", "values")):
        raise InputFileError(f"{path}: no test vectors: it has no rows, sums and values")
    if not all(
        isinstance(row, list) and all(_is_number(cell) for cell in row)
        for key in ("rows", "sums", "values")
        for row in found[key]
    ):
        raise InputFileError(f"{path}: rows, sums and values are lists of numbers")
    if not found["rows"]:
        raise InputFileError(f"{path}: no test vectors: it has no rows")
    if not isinstance(found.get("name"), str) or not IDENTIFIER.fullmatch(found["name"]):
        raise InputFileError(f"{path}: it does not say what functions are called by (name)")
    return found


def _is_number(cell: object) -> bool:
    return (isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)) or cell in (
        "nan",
        "inf",
        "-inf",
    )
