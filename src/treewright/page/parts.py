"""What a page shows, as typed values. In: nothing. Out: ``Summary``. Callers: page, reporting.

A summary is plain: numbers, texts, tuples. ``page.plain`` makes JSON of it with the names of the fields; the scripts of
the page read exactly these names. Texts from the data are ready to be read (``tree.writing``), never ready for HTML:
who writes HTML escapes. Parts of one section live beside this module: ``parts_tree``, ``parts_pruning``, ...
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.page.parts_columns import ColumnPart, Finding
from treewright.page.parts_ensemble import EnsemblePart
from treewright.page.parts_pruning import PruningPart
from treewright.page.parts_quality import QualityPart
from treewright.page.parts_rows import ExamplesPart
from treewright.page.parts_tree import TreePart

FORMAT, VERSION = "treewright-report", 1


@dataclass(frozen=True)
class ColumnWords:
    """A column as the scripts need it to send rows down.

    Attributes
    ----------
    name : str
    kind : {"numeric", "ordinal", "nominal"}
    levels : tuple of str
        In the order of their codes.
    low, high, middle : float or None
        Of a numeric column: the least, the greatest and the middle value of the judged rows; None where there are none.
    """

    name: str
    kind: str
    levels: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    middle: float | None = None


@dataclass(frozen=True)
class Fact:
    """A line of the head: what, and how much."""

    name: str
    value: str


@dataclass(frozen=True)
class Summary:
    """Everything that a page shows.

    Attributes
    ----------
    title : str
    subtitle : str
        What the model is, in one line.
    task : {"classification", "regression"}
    target : str
        Name of the target, empty where it has none.
    facts : tuple of Fact
        The head of the page.
    notes : tuple of str
        What a reader must know to read the numbers, such as that the rows are those of the fit.
    columns : tuple of ColumnWords
        All columns, in the order of the schema.
    text : str
        The model as text, for readers without scripts.
    tree : TreePart or None
    pruning, quality, data, ensemble, examples
        The sections; None or empty where a page has none.
    findings : tuple of Finding
        What looks wrong about the table.
    version : str
        Of the library.
    """

    title: str
    subtitle: str
    task: str
    target: str
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    columns: tuple[ColumnWords, ...]
    text: str
    tree: TreePart | None
    version: str
    pruning: PruningPart | None = None
    quality: tuple[QualityPart, ...] = ()
    data: tuple[ColumnPart, ...] = ()
    findings: tuple[Finding, ...] = ()
    ensemble: EnsemblePart | None = None
    examples: ExamplesPart | None = None
    format: str = FORMAT
    format_version: int = VERSION
