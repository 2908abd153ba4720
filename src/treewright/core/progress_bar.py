"""A progress bar on standard error. In: reports of ``core.progress``. Out: a bar. Callers: estimators, cli.

``rich`` is imported only when a bar is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from treewright.core.progress import Listener, is_heard, listen

__all__ = ["bar_where_nobody_listens", "listen_with_bar"]


@contextmanager
def listen_with_bar(tell: Callable[[str], None] | None = None, *, stays: bool = False) -> Iterator[None]:
    """Show the reports of this thread as a bar while the block runs.

    Parameters
    ----------
    tell : callable, optional
        Called with the word of each report before the bar moves.
    stays : bool
        Whether the bar is left on the screen when the work is done.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    shape = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*shape, console=Console(stderr=True), transient=not stays) as bar:
        task = bar.add_task("working", total=1.0, visible=False)

        def show(done: float, what: str) -> None:
            if tell is not None:
                tell(what)
            bar.update(task, completed=done, description=what, visible=True)

        heard: Listener = show
        with listen(heard):
            yield


@contextmanager
def bar_where_nobody_listens(wanted: bool) -> Iterator[None]:
    """A bar that stays, if it is wanted and no other listener shows the same already.

    Examples
    --------
    >>> from treewright.core.progress import report
    >>> with bar_where_nobody_listens(False):
    ...     report(0.5, "growing")
    """
    if not wanted or is_heard():
        yield
        return
    with listen_with_bar(stays=True):
        yield
