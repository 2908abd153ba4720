"""The matplotlib figure of all pictures. In: a size. Out: ``Picture``.

The only module that imports matplotlib at the top; the others import it, or this, inside functions.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import threading
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from treewright.exceptions import MissingLibraryError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

try:
    import matplotlib as mpl
    from matplotlib import cbook
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] != "matplotlib":
        raise
    raise MissingLibraryError(
        'figures need matplotlib, which is not installed: pip install "treewright[plot]"', name="matplotlib"
    ) from error

# The metadata of each format with the time of saving, which would change the bytes of the same figure.
TIMES = {"svg": "Date", "pdf": "CreationDate"}
PACKED = "svgz"
VECTOR = ("svg", "pdf", "ps", "eps", "pgf")
# Names that matplotlib gives to clips, markers, hatches, images and paths of collections: a hash of their content and
# of a salt, which is random for each file unless the process has one in its settings.
SALTED = re.compile(r'(?<= id=")((?:[phm]|image|Im_image|C[0-9a-f]+_[0-9a-f]+_)[0-9a-f]{10})(?=")')
NOTEBOOK_DPI = 144.0
# matplotlib does not promise that drawing is safe in threads.
_ONE_AT_A_TIME = threading.RLock()


class Picture(Figure):
    """A figure outside pyplot.

    It needs no screen, keeps no global state, is displayed at the end of a notebook's cell, and saves the same figure
    as the same bytes, in SVG and PDF too. Otherwise it is a ``matplotlib.figure.Figure``.

    ``print_dpi`` is that of a PNG unless ``dpi=`` is given. If ``is_exact``, it keeps its size for any content; if
    ``is_narrow``, there is no room for a legend next to the axes.
    """

    print_dpi: float | None = None
    is_exact: bool = False
    is_narrow: bool = False

    def savefig(self, fname: Any, *, transparent: bool | None = None, **kwargs: Any) -> None:
        """Save the figure, as ``matplotlib.figure.Figure.savefig`` does.

        Parameters
        ----------
        fname : str, path-like or binary file
            The suffix determines the format: ``.svg``, ``.png``, ``.pdf``.
        **kwargs
            As matplotlib takes them. ``metadata=`` may name a date; by default none is written.
        """
        kind = kwargs.get("format")
        if kind is None and isinstance(fname, str | os.PathLike):
            kind = PurePath(os.fsdecode(fname)).suffix[1:]
        kind = str(kind or mpl.rcParams["savefig.format"]).lower()
        if kind in ("svg", PACKED):
            held = io.BytesIO()
            self._save(held, "svg", transparent=transparent, **kwargs | {"format": "svg"})
            self._write(fname, self._with_lasting_names(held.getvalue().decode("utf-8")), packed=kind == PACKED)
        else:
            self._save(fname, kind, transparent=transparent, **kwargs)

    def _save(self, fname: Any, kind: str, **kwargs: Any) -> None:
        """Save without a date, and leave the layout as it was."""
        if kind in TIMES:
            kwargs["metadata"] = {TIMES[kind]: None, **(kwargs.get("metadata") or {})}
        if self.print_dpi is not None and kind not in VECTOR:
            kwargs.setdefault("dpi", self.print_dpi)
        with _ONE_AT_A_TIME:
            # The layout starts from the places of the last drawing, and would end slightly elsewhere each time.
            places = [(ax, ax.get_in_layout(), ax.get_position(original=True), ax.get_position()) for ax in self.axes]
            try:
                super().savefig(fname, **kwargs)
            finally:
                for ax, is_laid_out, original, active in places:
                    ax.set_position(original, which="original")
                    ax.set_position(active, which="active")
                    ax.set_in_layout(is_laid_out)  # placing axes takes them out of the layout

    def _with_lasting_names(self, svg: str) -> str:
        """Return an SVG with names that are the same each time it is saved.

        They follow from all of the picture, so that two pictures in one page do not share any.
        """
        given = {artist.get_gid() for artist in self.findobj()}
        salted = [name for name in dict.fromkeys(SALTED.findall(svg)) if name not in given]
        if not salted:
            return svg
        # The definition of a name, and the two ways to refer to it.
        known = re.compile(rf'( id="|href="#|url\(#)({"|".join(map(re.escape, salted))})(?=["\)])')
        numbers = {name: str(at) for at, name in enumerate(salted)}
        whole = hashlib.sha256(known.sub(lambda found: found[1] + numbers[found[2]], svg).encode("utf-8")).hexdigest()
        lasting = {
            name: name[:-10] + hashlib.sha256(f"{whole} {at}".encode()).hexdigest()[:10] for name, at in numbers.items()
        }
        return known.sub(lambda found: found[1] + lasting[found[2]], svg)

    @staticmethod
    def _write(fname: Any, svg: str, *, packed: bool) -> None:
        """Write an SVG to a file that is named, or open for text or bytes."""
        content = gzip.compress(svg.encode("utf-8"), mtime=0) if packed else svg.encode("utf-8")
        if isinstance(fname, str | os.PathLike):
            Path(os.fsdecode(fname)).write_bytes(content)
        else:
            fname.write(svg if not packed and cbook.file_requires_unicode(fname) else content)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture for a notebook, sharp on screens of high resolution, and its size on the page."""
        held = io.BytesIO()
        self.savefig(held, format="png", dpi=NOTEBOOK_DPI)
        width, height = (round(inches * 100) for inches in self.get_size_inches())
        return held.getvalue(), {"width": width, "height": height}
