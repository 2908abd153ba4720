"""What a page shows, as typed values. In: nothing. Out: ``Summary`` and the parts of a tree. Callers: page, reporting.

A summary is plain: numbers, texts, tuples. ``page.plain`` makes JSON of it with the names of the fields; the scripts of
the page read exactly these names. Texts from the data are ready to be read (``tree.words``), never ready for HTML: who
writes HTML escapes. Parts of one section live beside this module: ``parts_pruning``, ``parts_quality``, ...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treewright.page.parts_columns import ColumnPart, Finding
    from treewright.page.parts_ensemble import EnsemblePart
    from treewright.page.parts_pruning import PruningPart
    from treewright.page.parts_quality import QualityPart
    from treewright.page.parts_rows import ExamplesPart

FORMAT, VERSION = "treewright-report", 1


@dataclass(frozen=True)
class SurrogatePart:
    """A test that stands in where the node's own column is missing.

    Attributes
    ----------
    text : str
        What leads to branch 0, in words.
    kind, column, cuts, branch_of
        As in ``TestPart``; the branches are the node's, turned around already where the surrogate is flipped. A level
        that it does not answer has branch -1.
    flipped : bool
        For a cut: whether ``value <= cut`` leads to branch 1.
    """

    text: str
    kind: str
    column: int
    cuts: tuple[float, ...]
    branch_of: tuple[int, ...]
    flipped: bool


@dataclass(frozen=True)
class TestPart:
    """What a node asks, for a program that sends rows down.

    Attributes
    ----------
    kind : {"cuts", "levels", "present"}
        ``"cuts"``: branch ``b`` is the first with ``value <= cuts[b]``, else ``len(cuts)``; the value of an ordinal
        column is the position of its level. ``"levels"``: ``branch_of[code]``. ``"present"``: branch 0 if there is a
        value, else ``missing``.
    column : int
        Position of the column.
    cuts : tuple of float
        Ascending, exact.
    branch_of : tuple of int
        Per level of the column.
    missing : int
        The branch of a missing value, where no surrogate answers and nothing is divided.
    unseen : int
        The branch of a level that the fit never saw; -1 where the test asks for no levels.
    surrogates : tuple of SurrogatePart
        In the order in which they are asked.
    """

    kind: str
    column: int
    cuts: tuple[float, ...]
    branch_of: tuple[int, ...]
    missing: int
    unseen: int
    surrogates: tuple[SurrogatePart, ...] = ()


@dataclass(frozen=True)
class CandidatePart:
    """One line of a split's audit: the best test that a column offered.

    Attributes
    ----------
    question : str
    gain : float
        Decrease of impurity.
    score : float
        What the algorithm compares columns by.
    chosen : bool
        Whether the node asks this.
    """

    question: str
    gain: float
    score: float
    chosen: bool


@dataclass(frozen=True)
class NodePart:
    """One node.

    Attributes
    ----------
    id : int
        Its number in the tree: ``est.node(id)``.
    parent : int or None
    branch : int
        Which branch of the parent it is; 0 for the root.
    depth : int
    edge : str
        The answer that leads here, in words; empty for the root.
    question : str
        The test in words; empty for a leaf.
    said : str
        What it predicts, as a leaf, in words.
    code : int or None
        Position of the class that it predicts (first output); None for numbers.
    n_rows : int
        Rows of the fit.
    weight, impurity : float
    gain : float or None
        Decrease of impurity by its test: its impurity minus the weighted mean of its branches'; None for a leaf.
    values : tuple of tuple of float
        Per output: weighted class counts, or one number.
    rule : tuple of str
        What leads here, a condition per column; None where the tree is too deep to write one for every node.
    test : TestPart or None
    hidden : int
        How many nodes below it are not in this page.
    judged : tuple of float or None
        Of the judged rows that pass here the weight per true class (first output), or for numbers their histogram over
        ``TreePart.edges``; None where no rows judge.
    audit : tuple of CandidatePart
        Best first; empty where no rows were at hand or the node is small.
    """

    id: int
    parent: int | None
    branch: int
    depth: int
    edge: str
    question: str
    said: str
    code: int | None
    n_rows: int
    weight: float
    impurity: float
    gain: float | None
    values: tuple[tuple[float, ...], ...]
    rule: tuple[str, ...] | None
    test: TestPart | None
    hidden: int = 0
    judged: tuple[float, ...] | None = None
    audit: tuple[CandidatePart, ...] = ()


@dataclass(frozen=True)
class TreePart:
    """One tree.

    Attributes
    ----------
    title : str
        ``"The tree"`` or ``"Tree 3 of 100"``.
    headline : str
        What kind of tree, of what target, how large, in one line.
    outputs : tuple of tuple of str
        Class labels per output; an empty tuple for a number.
    output_names : tuple of str
    criterion : str
        Name of the impurity.
    centre : {"mean", "median", "adds"}
        What the numbers of nodes are.
    weighted : bool
        Whether weights differ from numbers of rows.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        How missing values go.
    low, high : float or None
        The least and the greatest number of a node (first output); None for classes.
    edges : tuple of float or None
        Ends of the cells of ``NodePart.judged`` for numbers.
    n_nodes, n_leaves, depth : int
        Of the whole tree.
    nodes : tuple of NodePart
        Parents before children; of a large tree those with the most rows.
    missing_words : str
        How missing values go, as a sentence.
    """

    title: str
    headline: str
    outputs: tuple[tuple[str, ...], ...]
    output_names: tuple[str, ...]
    criterion: str
    centre: str
    weighted: bool
    missing: str
    low: float | None
    high: float | None
    edges: tuple[float, ...] | None
    n_nodes: int
    n_leaves: int
    depth: int
    nodes: tuple[NodePart, ...]
    missing_words: str = ""


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
