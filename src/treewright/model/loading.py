"""A model from its file. In: a path. Out: ``Model`` or ``NeighborsModel``. Callers: users, cli.

``treewright.model`` is the door.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from treewright.model.fitted import Model
from treewright.tree import codec
from treewright.tree.model import ModelData
from treewright.tree.model_file import NEIGHBORS_FORMAT, Reader, read_file

if TYPE_CHECKING:
    from treewright.model.neighbors import NeighborsModel


def load(path: str | os.PathLike[str]) -> Model | NeighborsModel:
    """Read a model file.

    Parameters
    ----------
    path : path of a file that ``save`` wrote

    Returns
    -------
    Model or NeighborsModel
        As the file holds trees or the rows of nearest neighbours.

    Raises
    ------
    ModelFileError
        The file is not a whole model file, was tampered with, or was written by a newer version.

    Examples
    --------
    >>> import os, tempfile, treewright as tw
    >>> est = tw.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [10.0, 20.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "two.tw")
    ...     est.save(path)
    ...     tw.load(path).predict([[1.2]])
    array([10.])
    """
    found = read_file(path, _reader_of)
    if isinstance(found, ModelData):
        return Model.of(found)
    from treewright.model.neighbors import NeighborsModel

    return NeighborsModel(**found)


def _reader_of(file_format: int) -> Reader[ModelData | dict[str, Any]]:
    """The reader of what a file of this format holds."""
    if file_format != NEIGHBORS_FORMAT:
        return codec.READER
    from treewright.neighbors.codec import READER  # not at the top: trees need no neighbours

    return READER
