"""Models from files and from other libraries, and the protocol of every fitted model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import InputFileError, ModelFileError, ParameterError
from treewright.model.model import Model
from treewright.trees import codec
from treewright.trees.container import NEIGHBORS_FORMAT, Reader, read_file
from treewright.trees.data import ModelData, Unseen

if TYPE_CHECKING:
    from treewright.model.neighbors import NeighborsModel


class Fitted(Protocol):
    """The protocol of every fitted model, of trees or of nearest neighbours.

    Callers check what a model can do (``has_trees`` and the like), not its class.
    """

    has_trees: ClassVar[bool]
    task: Literal["classification", "regression"]
    classes: tuple[np.ndarray, ...]
    n_outputs: int
    target_names: tuple[str, ...]

    @property
    def schema(self) -> Schema | None:
        """The columns; None if the model was fitted on sparse rows."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """Training facts that are plain JSON."""

    @property
    def n_targets(self) -> int:
        """How many columns the target has."""

    @property
    def is_single_tree(self) -> bool:
        """Whether it is one tree, which can be shown, pruned and written as rules."""

    @property
    def has_scores(self) -> bool:
        """Whether its trees add up to scores, as in gradient boosting."""

    @property
    def has_rounds(self) -> bool:
        """Whether its trees were fitted in rounds."""

    def codes_of(self, matrix: Any, n_jobs: int | None = None) -> np.ndarray:
        """Class codes of encoded rows: int[n, n_outputs]."""

    def shares_of(self, matrix: Any, n_jobs: int | None = None) -> list[np.ndarray]:
        """Class probabilities of encoded rows: float64[n, n_classes] per output."""

    def numbers_of(self, matrix: Any, n_jobs: int | None = None) -> np.ndarray:
        """Predicted numbers of encoded rows: float64[n, n_outputs]."""

    def predict(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """Predict a class label or a number for each row."""

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray | list[np.ndarray]:
        """Predict the probability of each class."""

    def predict_one(self, row: Any) -> Any:
        """Predict one row."""

    def predict_proba_one(self, row: Any) -> Any:
        """Predict the probability of each class for one row."""

    def show(self) -> str:
        """Return the model as text."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file."""


def load(path: str | os.PathLike[str]) -> Model | NeighborsModel:
    """Read a model file.

    Parameters
    ----------
    path : path of a file that ``save`` wrote

    Returns
    -------
    Model or NeighborsModel
        A ``NeighborsModel`` if the file holds nearest neighbours.

    Raises
    ------
    ModelFileError
        The file is not a complete model file, was changed, or was written by a newer version.

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


def read_model(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    target: str | None = None,
    classes: Sequence[Any] | None = None,
    unseen: Unseen | None = None,
) -> Model:
    """Read a model of another library; it can be used like a fitted model of this one.

    Parameters
    ----------
    source : path, or fitted object
        A file that the library wrote, or a model in memory. No code in a file is run, and no pickle is opened.
    columns : sequence of p str, optional
        Names of the columns, in their order, for a model without names.
    target : str, optional
        The name of the target, which files do not contain.
    classes : sequence of k labels, optional
        The labels of the classes 0 to k - 1 of a file.
    unseen : {"missing", "error", "majority"}, optional
        How an unseen level is treated: as a missing cell, as an error, or as the trees state; by default as the
        library does.

    Returns
    -------
    Model
        Cuts that are compared in float32 become the float64 cuts that send the same cells left. Sums are computed in
        float64 in the order of the trees: bit-identical if the library does the same, else within its own rounding.

    Raises
    ------
    InputFileError
        The file does not exist, is of no known kind, or is damaged.
    ParameterError
        The object is of no known library, or its model has what trees of this library cannot represent; the number
        of names or labels is not that of the columns or classes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> theirs = DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1])
    >>> model = read_model(theirs, columns=["wind"], target="walk", classes=["yes", "no"])
    >>> print(model.predict_one({"wind": 3}))
    no
    """
    from treewright.exchange.foreign import named, read

    model = Model.of(named(read(source), columns, target, classes, unseen))
    try:  # a model may not be able to keep the columns and labels of a file
        codec.loads(codec.dumps(model))
    except (ModelFileError, ParameterError, TypeError, ValueError) as error:
        if not isinstance(source, str | os.PathLike):
            raise ParameterError(f"{type(source).__name__}: cannot become a model: {error}") from None
        raise InputFileError(f"{os.fsdecode(os.fspath(source))}: cannot become a model: {error}") from None
    return model


def _reader_of(file_format: int) -> Reader[ModelData | dict[str, Any]]:
    """The reader of files of this format."""
    if file_format != NEIGHBORS_FORMAT:
        return codec.READER
    from treewright.neighbors.codec import READER  # not at the top: trees need no neighbours

    return READER
