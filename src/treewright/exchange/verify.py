"""Running an exported file on test vectors. In: a file, vectors. Out: its differences from the model."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treewright.exceptions import DataError, InputFileError, ParameterError
from treewright.exchange.code import IDENTIFIER
from treewright.exchange.engines import ENGINES, table_of
from treewright.exchange.formats import FORMATS, format_of
from treewright.exchange.vectors import FORMAT, VERSION

_ULPS = 4.0  # by which another library's ``exp``, and probabilities computed from it, may differ
_ALIKE = {"postgresql": "postgres"}
_MOST_ROUNDING = 1e-6
_LARGEST = float(np.finfo(np.float64).max)
_PARTS = ("rows", "sums", "values", "answers")


@dataclass(frozen=True)
class Verdict:
    """The differences between a program and the model.

    Attributes
    ----------
    engine : str
    n_rows : int
    n_unequal : int
        Rows in which a sum differs.
    sum_ulps, ulps : float
        The largest difference of a sum, and of a probability or number, in units in the last place.
    n_other : int
        Rows that get another class, though its probability is lower.
    n_beyond : int
        Rows in which a sum or value differs by more than the tolerance: for sums the effect of another order of
        additions, if the model has no grid; for values a few units of ``exp`` more.
    """

    engine: str
    n_rows: int
    n_unequal: int
    sum_ulps: float
    ulps: float
    n_other: int
    n_beyond: int

    @property
    def is_equal(self) -> bool:
        """Whether all sums, values and classes are those of the model, within the tolerance."""
        return self.n_beyond == 0 and self.n_other == 0

    def __str__(self) -> str:
        sums = "sums are bit-identical"
        if self.n_unequal:
            why = ", which is allowed as the program adds in another order" if self.is_equal else ""
            sums = f"sums of {self.n_unequal:,} differ, by at most {self.sum_ulps:g} units in the last place{why}"
        values = f"values differ by at most {self.ulps:g} units in the last place"
        others = f"; {self.n_other:,} get another class" if self.n_other else ""
        passed = "passed" if self.is_equal else "FAILED"
        return f"{passed}: {self.engine}, {self.n_rows:,} rows: {sums}; {values}{others}"


def verify(path: Path, vectors: dict[str, Any], engine: str | None = None) -> Verdict:
    """Run an exported file on test vectors.

    Parameters
    ----------
    path : Path
    vectors : dict
        As ``vectors_of`` returns them.
    engine : str, optional
        The program that runs it (``exchange.engines.ENGINES``); by default the first one of the format of the file's
        ending.

    Raises
    ------
    ParameterError
        No engine runs such a file, or the vectors are of another format.
    MissingLibraryError
        The program is not installed.
    InputFileError
        The file does not compile or run; the message quotes the program.
    """
    if vectors.get("format") != FORMAT or vectors.get("version") != VERSION:
        raise ParameterError(f"the vectors are not of format {FORMAT} {VERSION}: write them again with export")
    if not path.is_file():
        raise InputFileError(f"{path}: no such file")
    fitting = _engines_for(path)
    engine = fitting[0] if engine is None else _ALIKE.get(engine, engine)
    if engine not in ENGINES:
        raise ParameterError(f"program {engine!r}: give one of {', '.join(ENGINES)}")
    if engine not in fitting:
        raise ParameterError(f"{path}: {engine} does not run such a file: choose {' or '.join(fitting)}")
    with tempfile.TemporaryDirectory() as folder:
        results = ENGINES[engine](path.resolve(), Path(folder), vectors)
    sums, values, codes = (table_of(vectors[name]) for name in _PARTS[1:])
    n_sums, n_values = sums.shape[1], values.shape[1]
    if results.shape != (len(sums), n_sums + n_values + codes.shape[1]):
        raise DataError(f"{path}: the output has the shape {results.shape}, not {len(sums)} rows of {n_sums} sums, "
                        f"{n_values} values and {codes.shape[1]} classes: are the vectors of this model?")  # fmt: skip
    computed_sums, computed, classes = np.split(results, [n_sums, n_sums + n_values], axis=1)
    of_sums, of_values = ulps_between(computed_sums, sums), ulps_between(computed, values)
    rounding = float(vectors.get("rounding", 0.0))
    is_beyond = (of_sums > 0) & ~(np.abs(computed_sums - sums) <= rounding)
    off = np.abs(computed - values) <= rounding * np.maximum(np.abs(values), 1.0) + _ULPS * np.spacing(np.abs(values))
    is_value_beyond = (of_values > _ULPS) & ~off
    return Verdict(
        engine,
        len(sums),
        int((of_sums > 0).any(axis=1).sum()),
        float(of_sums.max(initial=0.0)),
        float(of_values.max(initial=0.0)),
        _others(classes, codes, values, [len(own) for own in vectors["classes"]], rounding),
        int((is_beyond.any(axis=1) | is_value_beyond.any(axis=1)).sum()),
    )


def _engines_for(path: Path) -> tuple[str, ...]:
    """The programs that run a file, by its ending; the first line of an SQL file names its database."""
    ending = path.suffix.lower()
    meant = [each for each in FORMATS.values() if ending in each.endings]
    if len(meant) > 1:
        with path.open("rb") as file:
            head = file.read(200).decode("utf-8", "replace").lower()
        meant = [each for each in meant if f"for {each.name}" in head] or meant
    engines = tuple(dict.fromkeys(engine for each in meant or [format_of(path)] for engine in each.engines))
    if not engines:
        raise ParameterError(f"{path}: {meant[0].words} is not run by any program")
    if len(meant) > 1 and len(engines) > 1:
        raise ParameterError(f"{path}: the file does not name its program: choose {', '.join(engines)} (--with)")
    return engines


def ulps_between(computed: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distances of numbers from others, in units in the last place of the latter; infinite if one is nan."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(computed - wanted) / np.spacing(np.maximum(np.abs(wanted), np.finfo(np.float64).tiny))
    # nan in place of a number is infinitely far; two equal infinities have distance 0.
    apart[np.isnan(apart)] = np.inf
    apart[(computed == wanted) | (np.isnan(computed) & np.isnan(wanted))] = 0.0
    return apart


def _others(computed: np.ndarray, codes: np.ndarray, values: np.ndarray, n_classes: list[int], rounding: float) -> int:
    """Number of rows with another class whose probability is lower by more than the last places."""
    other, begin, rows = np.zeros(len(computed), bool), 0, np.arange(len(computed))
    for output, count in enumerate(n_classes):
        known = np.isin(computed[:, output], np.arange(count))
        own, wanted = (np.where(known, each[:, output], 0).astype(int) for each in (computed, codes))
        shares = values[:, begin : begin + count]
        begin += count
        one, best = shares[rows, own], shares[rows, wanted]
        is_tie = (ulps_between(one, best) <= 2 * _ULPS) | (np.abs(one - best) <= 2 * rounding)
        other |= ~known | ((own != wanted) & ~is_tie)
    return int(other.sum())


def read_vectors(path: Path) -> dict[str, Any]:
    """The test vectors in a file of JSON.

    Raises ``InputFileError``: it cannot be read, or does not hold vectors.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputFileError(f"{path}: not test vectors ({error})") from None
    wrong = _wrong_of(found)
    if wrong:
        raise InputFileError(f"{path}: not test vectors: {wrong}")
    return dict(found)


def _wrong_of(found: Any) -> str:
    """The rule that a JSON value breaks as test vectors; empty if it breaks none."""
    lists = (*_PARTS, "columns", "classes")
    if not isinstance(found, dict) or not all(isinstance(found.get(key), list) for key in lists):
        return f"they must have lists of {', '.join(lists)}"
    if not all(isinstance(row, list) and all(_is_number(cell) for cell in row) for key in _PARTS for row in found[key]):
        return f"{', '.join(_PARTS)} must be lists of lists of numbers"
    columns = found["columns"]
    if not all(isinstance(own, list) for own in found["classes"]) or not all(
        isinstance(column, dict) and isinstance(column.get("levels"), list) and {"name", "kind"} <= set(column)
        for column in columns
    ):
        return "columns must have a name, a kind and levels, and classes must be lists of labels"
    if not found["rows"] or len({len(found[key]) for key in _PARTS}) > 1:
        return f"{', '.join(_PARTS)} must have the same length, at least 1"
    if any(len(row) != len(columns) for row in found["rows"]):
        return f"each row must have a cell for each of {len(columns)} columns"
    for at, column in enumerate(columns):
        if column["kind"] != "numeric":
            codes = {float(row[at]) for row in found["rows"]}
            if not all(math.isnan(code) or code in range(len(column["levels"]) + 1) for code in codes):
                return f"a cell of column {str(column['name'])[:40]!r} is not a code of its levels"
    widths = [{len(row) for row in found[key]} for key in _PARTS]
    if any(len(width) > 1 for width in widths) or widths[-1] != {len(found["classes"])}:
        return f"the rows of each of {', '.join(_PARTS)} must have one length, that of answers the number of outputs"
    for row in found["answers"]:
        if not all(code in range(len(labels)) for code, labels in zip(row, found["classes"], strict=True)):
            return f"answers must be codes of classes, not {row}"
    rounding = found.get("rounding")
    if isinstance(rounding, str) or not _is_number(rounding) or not 0 <= rounding <= _MOST_ROUNDING * _size_of(found):  # type: ignore[operator]
        return f"rounding must be a number from 0 to {_MOST_ROUNDING:g} of the largest sum"
    if not isinstance(found.get("name"), str) or not IDENTIFIER.fullmatch(found["name"]):
        return "the name of the functions (name) is missing or not an identifier"
    return ""


def _size_of(found: dict[str, Any]) -> float:
    """The largest sum or value, at least 1."""
    computed = (abs(float(cell)) for key in ("sums", "values") for row in found[key] for cell in row)
    return max([1.0, *(size for size in computed if math.isfinite(size))])


def _is_number(cell: object) -> bool:
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return (is_number and -_LARGEST <= cell <= _LARGEST) or cell in ("nan", "inf", "-inf")  # type: ignore[operator]
