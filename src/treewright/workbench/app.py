"""The session that users hold: the commands of ``workbench.session``, on a screen in the browser or in a notebook."""

from __future__ import annotations

from typing import Any

from treewright.exceptions import InputFileError
from treewright.workbench.screen import Desk
from treewright.workbench.server import Server
from treewright.workbench.session import BareSession
from treewright.workbench.widget import widget_of

__all__ = ["Session"]


class Session(BareSession):
    """A tree grown by hand, command by command.

    Parameters
    ----------
    X : table of n rows
        Array, dict of columns, list of rows, or a pandas, polars or pyarrow table.
    y : n labels or numbers
    sample_weight : n numbers >= 0, optional
    task : {"classification", "regression"}, optional
        By default numbers that are not all whole, or have more than 20 different values, are a regression, everything
        else is a classification.
    held_out : float, default 0.25
        Share of the rows that are held out for evaluation; 0 for none. The choice depends on the content of all rows:
        if a cell changes, other rows may be held out.
    sealed : float, default 0
        Share of the rows for one final evaluation (``open_sealed``).
    random_state : int, default 0
        Seed of the held-out and sealed rows, which depend on the content of the rows, not on their order.
    who : str, optional
        Who decides; written into the log.
    looks : int, or list of str
        Earlier looks at the held-out rows: their number, or their digests, as in a script.
    cost : mapping or list of lists, optional
        What mistakes cost: ``{"fp": 1, "fn": 5}``; for any number of classes ``{true: {predicted: cost}}``, or a row of
        numbers for each true class. Of two classes the tree then predicts the one that costs less by the proportions of
        a leaf (Elkan 2001), unless ``threshold`` is given.
    threshold : float, 0 to 1, optional
        The lowest probability at which the positive class is predicted.
    positive : class label, optional
        The class of the threshold, of fp and fn, and of F1, precision and recall; by default the second of two.
    measure : str, optional
        What judges the tree, see ``measures``; by default as it is chosen: the cost if there are costs, the balanced
        accuracy for ``class_weight="balanced"``, the accuracy by other weights of classes; else accuracy or R2.
    **params
        Of CART (``DecisionTreeClassifier``): ``criterion``, ``min_samples_leaf``, ``class_weight``, ``nominal``,
        ``ordinal``, ``numeric``, ``nominal_splits`` ... Nominal columns of more than 1,000 levels are asked only by
        hand.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [22, 25, 31, 40, 47, 58], "home": ["own", "rent", "rent", "own", "own", "rent"]}
    >>> session = tw.workbench.Session(table, ["bad", "bad", "bad", "good", "good", "good"], held_out=0)
    >>> session.split("", "age", cut=35, why="below 35 is a group of its own in the scorecard")
    >>> session.split("1", "home", levels=["own"])
    >>> session.undo()
    >>> print(session.model.show())
    Classification tree: 6 rows, 3 nodes, 2 leaves, depth 1
    grown by hand
    counts: bad / good
    <BLANKLINE>
    node                rows  counts   gini    predicts
       0  all rows         6     3/3  0.500
       1  ├─ age <= 35     3     3/0  0      * bad
       2  └─ age > 35      3     0/3  0      * good
    <BLANKLINE>
    * leaf
    """

    def widget(self, *, title: str = "", save_to: str | None = None, height: int = 760) -> Any:
        """The workbench in a notebook: Jupyter, VS Code or marimo.

        Parameters
        ----------
        title : str
        save_to : str, optional
            A file that holds the session after every command.
        height : int, pixels

        Returns
        -------
        anywidget.AnyWidget

        Raises
        ------
        MissingLibraryError
            anywidget is not installed.
        """
        return widget_of(Desk(self, save_to=save_to, title=title), height)

    def serve(self, *, title: str = "", save_to: str | None = None, port: int = 0, browser: bool = True) -> None:
        """The workbench in the browser, until it is quit there or by Ctrl-C.

        Parameters
        ----------
        title : str
        save_to : str, optional
            A file that holds the session after every command.
        port : int
            0 takes a free one.
        browser : bool
            Whether the page is opened, or only its address printed.

        Raises
        ------
        MissingLibraryError
            starlette or uvicorn is not installed.
        ParameterError
            The port is taken.
        InputFileError
            Commands could not be saved in ``save_to``, such as on a full disk. The session has them: ``save`` it
            elsewhere.
        """
        desk = Desk(self, save_to=save_to, title=title)
        Server(desk, port).serve(browser=browser)
        if lost := desk.unsaved():
            raise InputFileError(f"{lost}. The session still has them: call its save() with another name")
