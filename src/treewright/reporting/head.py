"""What stands at the head of a report. In: ``Judged``. Out: texts, facts. Caller: reporting.summary."""

from __future__ import annotations

from collections.abc import Mapping

from treewright.model.summary import counted, summarize
from treewright.page.parts import Fact
from treewright.reporting.judged import Judged
from treewright.tree.writing import escape_controls, shorten

# As readers know them; facts of a model name them as programs do.
ALGORITHMS = {
    "cart": "CART",
    "id3": "ID3",
    "c45": "C4.5",
    "chaid": "CHAID",
    "random_forest": "random forest",
    "extra_trees": "extra-trees",
    "bagging": "bagging",
    "adaboost": "AdaBoost",
    "gradient_boosting": "gradient boosting",
    "nearest_neighbors": "nearest neighbours",
}
CRITERIA = {"gini": "Gini"}
SEEN = "These are the rows of the fit: errors on them flatter the model."
PERHAPS = "The fit saw as many rows as these. If they are the same, errors on them flatter the model."
AMONG = (
    "The rows of the fit may be among these. If they are, errors flatter the model: report on rows that it did not see."
)
NAME_WIDTH = 80


def algorithm_of(judged: Judged) -> str:
    """The algorithm in words.

    A file may name one that nobody knows: it stands as it is, but for its underscores.
    """
    name = str(judged.model.facts.get("algorithm", "unknown"))
    return ALGORITHMS.get(name, in_words(name))


def in_words(name: str) -> str:
    """A name of a program as a reader writes it.

    Examples
    --------
    >>> in_words("squared_error")
    'squared error'
    """
    return CRITERIA.get(name, shorten(escape_controls(name.replace("_", " ")), NAME_WIDTH))


def subtitle_of(judged: Judged, target: str) -> str:
    """What the model is, in one line."""
    model = judged.model
    if model.is_single_tree:
        return summarize(model, 0).headline()
    what = f"{algorithm_of(judged)}, {model.task}" + (f" of {target}" if target else "")
    size = counted(model.n_neighbors, "neighbour") if judged.is_neighbors else counted(len(model.trees), "tree")
    return f"{what[0].upper()}{what[1:]}: {size}, {counted(len(model.schema), 'column')}"


def facts_of(judged: Judged) -> tuple[Fact, ...]:
    """Lines of the head."""
    model = judged.model
    facts = [Fact("algorithm", algorithm_of(judged))]
    if not judged.is_neighbors:
        facts.append(_lowered(judged))
    facts += [
        Fact("fitted on", counted(int(model.facts.get("n_samples", 0)), "row")),
        Fact("judged on", counted(judged.n, "row")),
        Fact("columns", str(len(model.schema))),
    ]
    if judged.is_neighbors:
        return (*facts, Fact("neighbours", str(model.n_neighbors)), Fact("metric", in_words(model.stored.metric.name)))
    return (*facts, Fact("trees", str(len(model.trees)))) if not model.is_single_tree else tuple(facts)


def _lowered(judged: Judged) -> Fact:
    """What the splits lower: an impurity, or the loss that boosting follows."""
    facts = judged.model.facts
    loss = facts.get("loss")
    if judged.model.has_scores and isinstance(loss, Mapping) and isinstance(loss.get("name"), str):
        return Fact("loss", in_words(loss["name"]))
    return Fact("criterion", in_words(str(facts.get("criterion", "unknown"))))


def notes_of(judged: Judged) -> tuple[str, ...]:
    """What a reader must know to read the numbers."""
    if judged.seen is None:
        return (AMONG,) if judged.n > int(judged.model.facts.get("n_samples", 0)) else (PERHAPS,)
    return (SEEN,) if judged.seen else ()
