"""Measures of labels against truths, and of the agreement of workers.

Labels, truths and confidences are Series by task (of pandas, or `crowdfold.Series`), dictionaries, tables with the columns
task and label, or paths. Tasks without a truth are left out; a task without a label counts as wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _native
from ._input import read, text_of, truth_columns
from ._libraries import as_list
from ._reading import Reading
from .errors import UsageError

__all__ = [
    "Agreement", "Evaluation", "accuracy", "agreement", "calibration", "calibration_error", "cohen_kappa", "confusion",
    "evaluate", "f1", "fleiss_kappa", "krippendorff_alpha", "log_loss", "percent_agreement",
]


@dataclass(frozen=True)
class Bin:
    """Tasks whose confidence lies between two bounds."""

    lower: float
    upper: float
    tasks: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class ClassScores:
    truths: int
    estimates: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Evaluation:
    """The results of `crowdfold evaluate`. The last three are None without confidences."""

    tasks: int
    correct: int
    accuracy: float
    macro_f1: float
    classes: Dict[str, ClassScores]
    confusion: Any  # truths in rows, labels in columns
    log_loss: Optional[float]
    calibration_error: Optional[float]
    bins: Optional[List[Bin]]


@dataclass(frozen=True)
class Agreement:
    """The results of `crowdfold agreement`."""

    tasks: int
    labels: int
    percent: float
    cohen_kappa: float
    worker_pairs: int
    fleiss_kappa: float
    krippendorff_alpha: float


def evaluate(labels: Any, truth: Any, confidence: Any = None) -> Evaluation:
    """All measures at once."""
    tasks, values, library = truth_columns(labels)
    truth_tasks, truth_values, truth_library = truth_columns(truth)
    estimates, truths, classes = _native.align(library.native(tasks), library.native(values),
                                               truth_library.native(truth_tasks), truth_library.native(truth_values))
    given = None if confidence is None else _by_task(confidence, as_list(tasks))
    found = _native.evaluate(estimates, truths, len(classes), given, None)
    return Evaluation(
        found["tasks"], found["correct"], found["accuracy"], found["macro_f1"],
        dict(zip(classes, (ClassScores(*scores) for scores in found["classes"]))), found["confusion"],
        found.get("log_loss"), found.get("calibration_error"),
        [Bin(*each) for each in found["bins"]] if "bins" in found else None)


def _by_task(confidence: Any, tasks: List[Any]) -> Any:
    keys, values, _ = truth_columns(confidence)
    by_text = dict(zip(map(text_of, as_list(keys)), as_list(values)))
    try:
        return np.array([by_text[text_of(task)] for task in tasks], dtype=float)
    except KeyError as missing:
        raise UsageError(f"confidence: none for task '{missing.args[0]}'") from None


def accuracy(labels: Any, truth: Any) -> float:
    """The share of tasks whose label is the truth."""
    return evaluate(labels, truth).accuracy


def f1(labels: Any, truth: Any) -> float:
    """F1, averaged over classes."""
    return evaluate(labels, truth).macro_f1


def confusion(labels: Any, truth: Any) -> Tuple[List[str], Any]:
    """Classes, and a matrix of counts with truths in rows and labels in columns."""
    found = evaluate(labels, truth)
    return list(found.classes), found.confusion


def calibration(labels: Any, confidence: Any, truth: Any) -> List[Bin]:
    """Tasks by confidence, and how many of them are right: the bins of a reliability diagram."""
    return evaluate(labels, truth, confidence).bins or []


def calibration_error(labels: Any, confidence: Any, truth: Any) -> float:
    """The mean difference between confidence and accuracy, over the bins of `calibration` weighted by their tasks."""
    error = evaluate(labels, truth, confidence).calibration_error
    return float("nan") if error is None else error


def log_loss(labels: Any, confidence: Any, truth: Any) -> float:
    """The mean of -log p, where p is the probability given to the truth."""
    loss = evaluate(labels, truth, confidence).log_loss
    return float("nan") if loss is None else loss


def agreement(data: Any, *, columns: Optional[Mapping[str, str]] = None, duplicates: str = "last",
              **reading: Any) -> Agreement:
    """Measures how much the workers agree. Undefined coefficients are NaN. `reading` are options for files."""
    crowd = read(data, Reading.of(columns, reading), duplicates=duplicates)
    return Agreement(**_native.agreement(crowd.labels))


def percent_agreement(data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> float:
    """The share of pairs of labels on a task that agree, mean over tasks, 0 to 1."""
    return agreement(data, columns=columns, **reading).percent


def krippendorff_alpha(data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> float:
    """Krippendorff's alpha, nominal."""
    return agreement(data, columns=columns, **reading).krippendorff_alpha


def fleiss_kappa(data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> float:
    """Fleiss' kappa; tasks may have different numbers of labels."""
    return agreement(data, columns=columns, **reading).fleiss_kappa


def cohen_kappa(data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> float:
    """Cohen's kappa, mean over pairs of workers, weighted by the tasks they share."""
    return agreement(data, columns=columns, **reading).cohen_kappa
