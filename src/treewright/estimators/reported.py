"""The door from an estimator to its report. In: a fitted estimator, rows. Out: ``Report``.

Callers: estimators.table_estimator, estimators.members.

The one place that looks up the rows of the design: the report stands above the estimators, and is imported when it is
asked for (docs/decisions/0008-seeing.md).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treewright.reporting.document import Report


class Reported:
    """What can be reported about."""

    def report(self, X: Any, y: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Report:
        """Make a page about this model: its tree, how far to cut it back, how good it is, what its columns do.

        Parameters
        ----------
        X, y : table of n rows and its target
            The rows that judge; best those that the fit did not see.
        path : path ending in ``.html`` or ``.json``, optional
            Write the page, or its summary, there.
        **options
            As ``treewright.report``.

        Returns
        -------
        Report
            ``save`` writes it, a notebook shows it.

        Raises
        ------
        ParameterError, DataError, InputFileError
            As ``treewright.report``.
        """
        from treewright.reporting.document import report

        return report(self, X, y, path, **options)
