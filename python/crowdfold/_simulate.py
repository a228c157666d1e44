"""Crowds of known quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Tuple, Union

import numpy as np

from . import _native
from ._plain import Series

__all__ = ["Crowd", "simulate"]


@dataclass(frozen=True)
class Crowd:
    """Labels of a simulated crowd, with their truths and the workers' qualities.

    `data` is a dictionary of numpy arrays, task, worker and label, which every method accepts; `to_pandas()` makes a
    DataFrame of it. `truth` is a Series by task, `quality` one by worker.
    """

    data: dict[str, Any]
    truth: Series
    quality: Series

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self.data)


def simulate(*, tasks: int = 1000, workers: int = 50, classes: int = 4,
             labels_per_task: Union[int, Tuple[int, int]] = 5, quality: str = "beta:4,2", confusion: bool = False,
             spammers: float = 0.0, adversaries: float = 0.0, skew: float = 0.0, random_state: int = 0) -> Crowd:
    """Draws a crowd, as `crowdfold simulate` does: the same options and seed give the same labels.

    Parameters
    ----------
    labels_per_task : a number, or a pair (least, most)
    quality : of workers, "fixed:Q", "uniform:LOW,HIGH" or "beta:A,B"
    confusion : each worker mixes up classes in their own way, instead of uniformly
    spammers, adversaries : shares of workers who answer at random, or wrongly on purpose
    skew : the frequency of class k is proportional to (k+1) to the power of -skew
    """
    least, most = (labels_per_task, labels_per_task) if isinstance(labels_per_task, int) else labels_per_task
    task, worker, label, truth, true_quality = _native.simulate(
        tasks, workers, classes, least, most, quality, confusion, spammers, adversaries, skew, random_state)
    task_names = _numbered("task_", tasks)
    worker_names = _numbered("worker_", workers)
    class_names = np.array([f"class_{k}" for k in range(classes)], dtype=object)
    data = {"task": task_names[task], "worker": worker_names[worker], "label": class_names[label]}
    return Crowd(data, Series(class_names[truth], task_names, "truth", "task"),
                 Series(true_quality, worker_names, "quality", "worker"))


def _numbered(prefix: str, count: int) -> Any:
    digits = len(str(max(0, count - 1)))
    return np.array([f"{prefix}{i:0{digits}}" for i in range(count)], dtype=object)
