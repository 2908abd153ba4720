"""A matplotlib figure of its own. In: a size. Out: ``Picture``. Caller: ``figures.look``, when a figure is drawn.

The only module that imports matplotlib while it is imported itself; the others import it, or this, inside functions.
"""

from __future__ import annotations

import io
import os
import threading
from pathlib import PurePath
from typing import Any

from treewright.exceptions import MissingLibraryError

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] != "matplotlib":
        raise
    raise MissingLibraryError(
        'figures need matplotlib, which is not installed: pip install "treewright[plot]"', name="matplotlib"
    ) from error

SALT = "treewright"
# What each format writes about the time of saving, which would make the same figure other bytes.
TIMES = {"svg": "Date", "pdf": "CreationDate"}
NOTEBOOK_DPI = 144.0
# The salt of SVG names is a setting of the whole process, and drawing is not said to be safe in threads.
_ONE_AT_A_TIME = threading.RLock()


class Picture(Figure):
    """A figure that pyplot knows nothing of.

    It needs no screen, keeps no global state, shows itself at the end of a notebook's cell, and saves the same figure
    as the same bytes, in SVG and PDF too. Otherwise it is a ``matplotlib.figure.Figure``.
    """

    def savefig(self, fname: Any, *, transparent: bool | None = None, **kwargs: Any) -> None:
        """Save the figure, as ``matplotlib.figure.Figure.savefig`` does.

        Parameters
        ----------
        fname : str, path-like or binary file
            The suffix says the format: ``.svg``, ``.png``, ``.pdf``.
        transparent : bool, optional
        **kwargs
            As matplotlib takes them. ``metadata=`` may name a date; by default none is written.
        """
        kind = kwargs.get("format")
        if kind is None and isinstance(fname, str | os.PathLike):
            kind = PurePath(os.fsdecode(fname)).suffix[1:]
        time = TIMES.get(str(kind or mpl.rcParams["savefig.format"]).lower())
        if time is not None:
            kwargs["metadata"] = {time: None, **(kwargs.get("metadata") or {})}
        with _ONE_AT_A_TIME:
            before = mpl.rcParams["svg.hashsalt"]
            # The layout begins at the places that the last drawing left, and would end a hair elsewhere each time.
            places = [(ax, ax.get_in_layout(), ax.get_position(original=True), ax.get_position()) for ax in self.axes]
            if before is None:
                mpl.rcParams["svg.hashsalt"] = SALT
            try:
                super().savefig(fname, transparent=transparent, **kwargs)
            finally:
                mpl.rcParams["svg.hashsalt"] = before
                for ax, is_laid_out, original, active in places:
                    ax.set_position(original, which="original")
                    ax.set_position(active, which="active")
                    ax.set_in_layout(is_laid_out)  # placing axes takes them out of the layout

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture for a notebook, sharp on screens of high resolution, and its size on the page."""
        held = io.BytesIO()
        self.savefig(held, format="png", dpi=NOTEBOOK_DPI)
        width, height = (round(inches * 100) for inches in self.get_size_inches())
        return held.getvalue(), {"width": width, "height": height}
