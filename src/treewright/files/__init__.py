"""Tables in files, read the same way for every front end: whole (``read_table``) or as a fitted model needs its rows.

A file that is not a valid table raises an error of ``treewright.exceptions`` with the file, the line and the remedy.
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
