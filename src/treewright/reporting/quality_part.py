"""How good a model is. In: ``Judged``, ``Options``. Out: ``QualityPart`` per output. Caller: reporting.summary."""

from __future__ import annotations

from dataclasses import replace

from treewright.model.data import quantile_levels
from treewright.page.parts_quality import QualityPart
from treewright.reporting.curves_part import curve_parts
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.reporting.quality_classes import class_quality
from treewright.reporting.quality_numbers import number_quality, quantile_quality
from treewright.tree.writing import shorten, written_name

NAME_WIDTH = 200


def quality_parts(judged: Judged, options: Options) -> tuple[QualityPart, ...]:
    """Return how good the predictions of each output are; error curves, where asked for, stand with the first.

    Parameters
    ----------
    judged : Judged
    options : Options
        Of these ``curves``, ``cv``, ``random_state`` and ``n_jobs``.

    Raises
    ------
    ParameterError
        ``cv`` makes no folds of these rows.
    """
    names = output_names(judged)
    if judged.is_classification:
        parts = [class_quality(judged, output, names[output]) for output in range(len(judged.model.classes))]
    else:
        parts = _of_numbers(judged, names, options)
    curves, without = curve_parts(judged, options)
    parts[0] = replace(parts[0], curves=curves, left_out=(*parts[0].left_out, *without))
    return tuple(parts)


def _of_numbers(judged: Judged, names: tuple[str, ...], options: Options) -> list[QualityPart]:
    """The parts of a model that predicts numbers: one answer for each output, or quantiles, or something else."""
    levels = quantile_levels(judged.model)
    if levels:
        return [quantile_quality(judged, levels, names[0])]
    if judged.numbers.shape != judged.target.shape:
        why = (
            f"The model has {judged.numbers.shape[1]} answers for a row, of a loss that was a function of Python: no "
            "number is known that says how good they are."
        )
        return [QualityPart(names[0], "none", judged.n, float(judged.n), False, "", left_out=(why,))]
    return [number_quality(judged, output, names[output], options) for output in range(judged.target.shape[1])]


def output_names(judged: Judged) -> tuple[str, ...]:
    """What each output is called; empty where there is one and it has no name."""
    names, n_outputs = judged.model.target_names, judged.target.shape[1]
    if names:
        return tuple(shorten(written_name(name), NAME_WIDTH) for name in names)
    return tuple(f"y{output}" for output in range(n_outputs)) if n_outputs > 1 else ("",)
