"""Tables in files, read one way for every front end: whole (``read_table``) or as a fitted model wants its rows.

A file that is no sound table is one error of ``treewright.exceptions`` that names the file, the line and the remedy.
"""

from treewright.files.matching import LabelledRows, ModelRows, labelled_rows, rows_for, target_type
from treewright.files.table import Table, read_table
from treewright.files.text import ReadOptions

__all__ = [
    "LabelledRows",
    "ModelRows",
    "ReadOptions",
    "Table",
    "labelled_rows",
    "read_table",
    "rows_for",
    "target_type",
]
