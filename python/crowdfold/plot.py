"""Plots, by matplotlib if it is installed. A notebook shows them; `path="workers.png"` writes them to a file, too, whose ending says the
format. Who knows matplotlib may give axes to draw on, `ax`; every function returns its axes."""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np

from . import metrics
from ._base import Aggregator, Path
from ._libraries import as_list
from .errors import UsageError

__all__ = ["calibration", "confusion", "workers"]


def _axes(ax: Any, width: float = 6, height: float = 4) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise UsageError("plots need matplotlib: pip install matplotlib") from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _finish(axes: Any, title: str, path: Optional[Path]) -> Any:
    axes.set_title(title, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if path is not None:
        axes.figure.savefig(os.fspath(path), dpi=150)
    return axes


def workers(model: Aggregator, *, most: int = 40, path: Optional[Path] = None, ax: Any = None) -> Any:
    """Qualities of workers with their 95 % intervals, the best on top. Beyond `most` workers, only the best and worst."""
    table = model._require_learned().workers()
    axes = _axes(ax, height=1.2 + 0.2 * min(most, len(table["quality"])))
    names = [str(name) for name in model._fitted.worker_list()]
    order = np.argsort(table["quality"], kind="stable")
    if len(order) > most:
        order = np.concatenate([order[: most // 2], order[len(order) - (most - most // 2):]])
    places = np.arange(len(order))
    quality = table["quality"][order]
    spread = np.abs(np.stack([quality - table["lower"][order], table["upper"][order] - quality]))
    axes.errorbar(quality, places, xerr=spread, fmt="o", capsize=2)
    axes.set_yticks(places, [names[i] for i in order])
    axes.set_xlim(0, 1)
    axes.set_xlabel("quality, with 95 % interval")
    return _finish(axes, "Workers" if len(order) == len(names) else f"The best and the worst of {len(names):,} workers", path)


def calibration(model: Aggregator, truth: Any, *, path: Optional[Path] = None, ax: Any = None) -> Any:
    """The share of right tasks, by confidence. Points on the diagonal are perfectly calibrated."""
    axes = _axes(ax)
    bins = [b for b in metrics.calibration(model.labels_, model.confidence_, truth) if b.tasks > 0]
    axes.plot([0, 1], [0, 1], linestyle=":", color="gray")
    axes.plot([b.confidence for b in bins], [b.accuracy for b in bins], marker="o")
    axes.set_xlabel("mean confidence")
    axes.set_ylabel("share of right labels")
    return _finish(axes, "Do confidences keep what they promise?", path)


def confusion(model: Aggregator, *, worker: Optional[Any] = None, path: Optional[Path] = None, ax: Any = None) -> Any:
    """The confusion matrix of a worker, or the mean over all: true classes in rows, labels in columns."""
    axes = _axes(ax)
    fitted = model._fitted
    if fitted.confusion is None:
        raise UsageError(f"{type(model).__name__} has no confusion matrices")
    if worker is None:
        matrix = fitted.confusion.mean(axis=0)
    else:
        names = fitted.worker_list()
        if worker not in names:
            raise UsageError(f"no worker {worker!r}")
        matrix = fitted.confusion[names.index(worker)]
    classes = [str(value) for value in as_list(fitted.classes.get())]
    axes.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
    axes.set_xticks(range(len(classes)), classes)
    axes.set_yticks(range(len(classes)), classes)
    axes.set_xlabel("label")
    axes.set_ylabel("truth")
    for row in range(len(classes)):
        for column in range(len(classes)):
            shade = "white" if matrix[row, column] > 0.5 else "black"
            axes.text(column, row, f"{matrix[row, column]:.2f}", ha="center", va="center", color=shade)
    return _finish(axes, "Labels by true class" if worker is None else f"Labels of {worker} by true class", path)
