"""Every format beside every kind of model, run by the real program. In: nothing. Out: a table of Markdown.

Callers: people, who put it into ``docs/reference/engines.md``. The kinds are those of the tests of exports. A cell says
whether sums are equal to the bit, and by how many units in the last place shares and numbers differ at most, or that
the format refuses such a model. An engine that is not installed is left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "common"))

from export_models import MODELS

import treewright as tw
from treewright.exceptions import MissingLibraryError, TreewrightError
from treewright.exchange.formats import FORMATS
from treewright.exchange.verify import read_vectors, verify


def cell(model: tw.Model, name: str, engine: str, folder: Path) -> str:
    """What one engine says of one model in one format."""
    path, vectors = folder / f"model{(FORMATS[name].endings or ('.onnx',))[0]}", folder / "vectors.json"
    try:
        model.export(path, format=name, vectors=vectors)
    except TreewrightError:
        return "refused"
    verdict = verify(path, read_vectors(vectors), engine)
    if verdict.n_unequal:
        return f"{verdict.n_unequal:,} of {verdict.n_rows:,} sums differ, {verdict.sum_ulps:.3g} ulp"
    return "equal" if not verdict.ulps else f"equal; {verdict.ulps:.3g} ulp"


def rows_of(kinds: list[str], formats: list[str]) -> Iterator[list[str]]:
    """The table, a row for each kind of model."""
    runs = [(name, engine) for name in formats for engine in FORMATS[name].engines]
    yield ["", *(name if name == engine else f"{name} ({engine})" for name, engine in runs)]
    missing: set[str] = set()
    for kind in kinds:
        made = MODELS[kind]()
        model, cells = getattr(made, "model_", made), []
        for name, engine in runs:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    cells.append("" if engine in missing else cell(model, name, engine, Path(folder)))
                except MissingLibraryError as error:
                    missing.add(engine)
                    print(error, file=sys.stderr)
                    cells.append("")
        print(kind, cells, file=sys.stderr, flush=True)
        yield [kind, *cells]


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description="Exported models beside the library, by the real programs.")
    every = [name for name, each in FORMATS.items() if each.engines]
    parser.add_argument("--formats", nargs="+", choices=every, default=every)
    parser.add_argument("--kinds", nargs="+", choices=list(MODELS), default=list(MODELS), metavar="KIND")
    parser.add_argument("--out", type=Path, help="write the table there, else on the screen")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    head, *rows = rows_of(arguments.kinds, arguments.formats)
    lines = [head, ["---"] * len(head), *rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    if arguments.out is None:
        print(text)
    else:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
