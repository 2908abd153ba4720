"""What an audit holds. In: candidates with their numbers. Out: ``Audit``. Callers: explain.audit, audit_search."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

from treewright.explain.audit_rows import AuditBranch, AuditRow
from treewright.explain.audit_why import Barred
from treewright.model.summary import TreeSummary

LogBase = Literal[2, "e"]


@dataclass(frozen=True, eq=False)
class Audit(Sequence[AuditRow]):
    """What a node could ask: a sequence of ``AuditRow`` that prints as one would work it out on paper.

    Attributes
    ----------
    rows : tuple of AuditRow
        The best test of each column, best first; or, with ``every``, all cuts or divisions of one column.
    summary : TreeSummary
        The tree, its classes and criterion.
    node : int
    path : tuple of str
        What leads to the node, one condition per column.
    n_samples, weight : int, float
        Rows of the data given that are in the node.
    n_fitted : int
        Rows that the tree saw in the node.
    whole : AuditBranch
        What the node holds: counts or numbers, and its impurity.
    criterion, algorithm : str
    log_base : {2, "e"}
        Entropies are in bits or in nats.
    every : hashable or None
        The column whose candidates are listed.
    barred : tuple of Barred
        Columns without a candidate, and why.
    asked : str
        The question of the tree; empty at a leaf.
    asked_feature : int
        Its column; -1 at a leaf.
    leaf_reason : str
        Why the node is a leaf; empty where it is none.
    by_ratio : bool
        Whether columns are compared by their gain ratio.
    average_of : tuple of float
        Gains that make the average gain, where columns below the average are left out.
    uncounted : tuple of hashable
        Columns with a test whose gain is not in that average: they have too many levels (C4.5).
    gainless : tuple of hashable
        Columns that are left out because they gain nothing, though they are not below the average (C4.5).
    tied : tuple of hashable
        Other columns with the winner's score.
    n_equal_cuts : int
        Other cuts of the winner that gain the same.
    digits : int
        Decimals in texts.
    """

    rows: tuple[AuditRow, ...]
    summary: TreeSummary
    node: int
    path: tuple[str, ...]
    n_samples: int
    weight: float
    n_fitted: int
    whole: AuditBranch
    criterion: str
    algorithm: str
    log_base: LogBase
    targets: tuple[float, ...] = ()
    every: Hashable | None = None
    barred: tuple[Barred, ...] = ()
    asked: str = ""
    asked_feature: int = -1
    leaf_reason: str = ""
    by_ratio: bool = False
    average_of: tuple[float, ...] = ()
    uncounted: tuple[Hashable, ...] = ()
    gainless: tuple[Hashable, ...] = ()
    tied: tuple[Hashable, ...] = ()
    n_equal_cuts: int = 0
    digits: int = 3

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> AuditRow: ...
    @overload
    def __getitem__(self, index: slice) -> Audit: ...
    def __getitem__(self, index: int | slice) -> AuditRow | Audit:
        return replace(self, rows=self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __iter__(self) -> Iterator[AuditRow]:
        return iter(self.rows)

    @property
    def winner(self) -> AuditRow | None:
        """The candidate that the algorithm takes; None where it takes none."""
        return next((row for row in self.rows if row.chosen), None)

    @property
    def takes_winner(self) -> bool:
        """Whether the tree asks what the algorithm takes: not at a leaf, nor where a draw or a limit kept it out."""
        return self.winner is not None and bool(self.asked) and self.winner.question == self.asked

    @property
    def by_p(self) -> bool:
        """Whether columns are compared by adjusted p-values (CHAID)."""
        return any("multiplier" in row.notes for row in self.rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the candidates as columns, for ``pandas.DataFrame`` or ``polars.DataFrame``.

        Returns
        -------
        dict of str to list
            ``rank`` (int), ``column``, ``question``, ``chosen`` (bool), ``branches`` (int), ``labels`` (list of str),
            ``samples`` (list of int), ``weights`` (list of float), ``counts`` (list per branch of the weight of each
            class) or ``values`` and ``variances`` (list per branch of a number per output), ``impurities`` (list of
            float), ``known`` (float, 0 to 1), ``before``, ``after``, ``price``, ``gain``, ``split_info``,
            ``gain_ratio``, ``score``, ``p_value``, ``threshold`` (float or None), ``exact`` (bool).
        """
        from treewright.explain.audit_table import columns_of

        return columns_of(self)

    def __str__(self) -> str:
        from treewright.explain.audit_text import text_of

        return text_of(self)

    def __repr__(self) -> str:
        what = "candidates" if self.every is None else f"candidates of {self.every!r}"
        return f"<treewright.Audit: node {self.node}, {len(self)} {what}>"

    def _repr_html_(self) -> str:
        """The candidates as a table; a notebook asks for it."""
        from treewright.explain.audit_table import html_of

        return html_of(self)
