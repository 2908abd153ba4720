"""What a page tells of columns, as typed values. In: nothing. Out: ``ColumnPart``, ``Finding``.

Callers: page, reporting.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SpreadPart:
    """How the values of a column lie, and what the target is where they lie.

    Attributes
    ----------
    edges : tuple of float or None
        Ends of the cells of a numeric column; None where there is a bar for each of ``labels``.
    labels : tuple of str
        Levels, the commonest first (ordinal ones in their order); what is left over and missing cells stand at the end.
        Of a numeric column with few different numbers these; empty where ``edges`` tell.
    names, codes : tuple of str, tuple of int or None
        The classes, and their positions; None stands for all others together. Of a target of numbers one name.
    parts : tuple of tuple of float
        Per class the weight of its rows in each cell; of numbers one tuple for all rows.
    means, errors : tuple of float or None
        Of a target of numbers: its mean in each cell and the standard error of that; None (in the tuple) of a cell
        with too few rows.
    n_beyond : int
        How many rows lie beyond ``edges``, where these leave out a few numbers far from the rest; they are counted in
        the first and the last cell.
    """

    edges: tuple[float, ...] | None
    labels: tuple[str, ...]
    names: tuple[str, ...]
    codes: tuple[int | None, ...]
    parts: tuple[tuple[float, ...], ...]
    means: tuple[float | None, ...] | None = None
    errors: tuple[float | None, ...] | None = None
    n_beyond: int = 0


@dataclass(frozen=True)
class DependenceLine:
    """What the model says along a column: of one class, or the number.

    Attributes
    ----------
    name : str
        The class, or the target.
    code : int or None
        Position of the class.
    means : tuple of float
        One for each value of the column.
    rows : tuple of tuple of float
        The same of single rows, to four digits; may be empty.
    """

    name: str
    code: int | None
    means: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class DependencePart:
    """Partial dependence on a column.

    Attributes
    ----------
    values : tuple of float
        That a numeric column is set to; empty for levels.
    labels : tuple of str
        The levels that it is set to; empty for numbers.
    deciles : tuple of float
        Of the rows' own values.
    lines : tuple of DependenceLine
    n_rows : int
        How many rows the means are of.
    """

    values: tuple[float, ...]
    labels: tuple[str, ...]
    deciles: tuple[float, ...]
    lines: tuple[DependenceLine, ...]
    n_rows: int


@dataclass(frozen=True)
class ColumnPart:
    """A column of the judged rows.

    Attributes
    ----------
    position : int
        In ``Summary.columns``, where name and levels stand.
    name : str
    kind : {"numeric", "ordinal", "nominal"}
    told : str
        What its values are, in a few words.
    n_distinct : int
        Different values, or levels, of the judged rows.
    n_levels : int
        That the model knows; 0 of a numeric column.
    missing : float
        Share of the judged rows, by weight, without a value.
    low, high, mean, sd : float or None
        Of a numeric column, over the rows with a finite value.
    quartiles : tuple of float, or None
    asked : bool
        Whether the model asks this column anywhere.
    impurity : float or None
        Share of the impurity (of boosted trees: the gain) that the column's splits removed from the rows of the fit;
        None for a model without splits.
    permutation, error : float or None
        How much worse the model is when the column is shuffled among the judged rows, and the standard error of that
        over the shuffles; None where it cannot be told.
    measure : str
        What ``permutation`` is, in words.
    spread : SpreadPart or None
    dependence : DependencePart or None
        None where the page leaves it out: of columns that matter less.
    """

    position: int
    name: str
    kind: str
    told: str
    n_distinct: int
    n_levels: int
    missing: float
    low: float | None
    high: float | None
    mean: float | None
    sd: float | None
    quartiles: tuple[float, ...] | None
    asked: bool = True
    impurity: float | None = None
    permutation: float | None = None
    error: float | None = None
    measure: str = ""
    spread: SpreadPart | None = None
    dependence: DependencePart | None = None


@dataclass(frozen=True)
class Finding:
    """Something about the table that a reader should look at.

    Attributes
    ----------
    kind : str
        Which check found it, such as ``"equals the target"``.
    serious : bool
        Whether numbers on the page cannot be believed before it is looked at.
    columns : tuple of str
        Names of the columns, ready to be read; empty where it is about rows or classes.
    n : int
        How many columns, rows or classes it is about.
    text : str
        What was found, as a sentence.
    advice : str
        What to do.
    """

    kind: str
    serious: bool
    columns: tuple[str, ...]
    n: int
    text: str
    advice: str
