"""A vote weighted by each worker's accuracy on tasks of known truth."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple, TypeVar

import numpy as np

from ._fitted import Fitted
from ._input import LabelTable, text_of, truth_columns
from ._libraries import as_list
from ._progress import progress
from ._reading import Reading
from .errors import DataError, NotFittedError, UsageError
from .methods import MajorityVote

Self = TypeVar("Self", bound="GoldMajorityVote")


class GoldMajorityVote(MajorityVote):
    """A vote weighted by the share of right labels on tasks whose truth is known.

    `fit(data, true_labels)` learns `skills_`; `predict(data)` votes, and fills `labels_` and the other results. Parameters are
    those of `MajorityVote`: `on_missing_skill` and `default_skill` set the weight of workers who labelled none of those tasks.
    """

    def fit(self: Self, data: Any, true_labels: Any, *,  # type: ignore[override]
            columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Self:
        """Learns how often workers are right, from the tasks in `true_labels`. Judges nothing. A task may have several truths:
        then each of them is right."""
        if true_labels is None:
            raise UsageError("GoldMajorityVote.fit(data, true_labels): truths of some tasks are needed")
        self._settings()
        with progress(self._shows_progress()) as bar:
            crowd = self._read(data, Reading.of(columns, reading), bar)
        right, seen = _count_right(crowd, true_labels)
        known = np.flatnonzero(seen)
        workers = crowd.library.select(crowd.workers, known.astype(np.uint64))
        skills = crowd.library.series(right[known] / seen[known], workers, "skill", "worker")
        self._skills = crowd.library.by_index(skills)
        self.__dict__.pop("_fitted_", None)
        return self

    def predict(self, data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Any:
        """Judges tasks by a vote weighted by `skills_`."""
        return self._vote(data, Reading.of(columns, reading), False).labels()

    def predict_proba(self, data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Any:
        """Like `predict`, but returns each class's share of the weights."""
        return self._vote(data, Reading.of(columns, reading), True).probas()

    def fit_predict(self, data: Any, true_labels: Any, *,  # type: ignore[override]
                    columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Any:
        """`fit`, then `predict`."""
        return self.fit(data, true_labels, columns=columns, **reading).predict(data, columns=columns, **reading)

    def fit_predict_proba(self, data: Any, true_labels: Any, *,  # type: ignore[override]
                          columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Any:
        """`fit`, then `predict_proba`."""
        return self.fit(data, true_labels, columns=columns, **reading).predict_proba(data, columns=columns, **reading)

    def partial_fit(self: Self, data: Any, true_labels: Any = None, *,
                    columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Self:
        """Not for this class."""
        raise UsageError("GoldMajorityVote learns by fit(data, true_labels) only; TwoPass learns as labels come")

    def learn_one(self: Self, task: Any, labels: Any, truth: Any = None) -> Self:
        """Not for this class."""
        return self.partial_fit(labels)

    @property
    def skills_(self) -> Any:
        """The share of right labels, for every worker who labelled a task of known truth: a Series `skill`."""
        if "_skills" not in self.__dict__:
            raise NotFittedError("this GoldMajorityVote has not seen any truths yet: call fit")
        return self._skills

    def _vote(self, data: Any, reading: Reading, posterior: bool) -> Fitted:
        return self._fit(data, None, reading, None, posterior, skills=self.skills_)

    @property
    def _fitted(self) -> Fitted:
        if "_skills" in self.__dict__ and "_fitted_" not in self.__dict__:
            raise NotFittedError("this GoldMajorityVote has not judged any tasks yet: call predict")
        return super()._fitted

    def __sklearn_is_fitted__(self) -> bool:
        return "_skills" in self.__dict__


def _count_right(crowd: LabelTable, true_labels: Any) -> Tuple[Any, Any]:
    """By worker: labels that are a truth of their task, and labels on tasks with a truth."""
    tasks, labels, library = truth_columns(true_labels)
    told = np.array([text_of(label) != "" for label in as_list(labels)], dtype=bool)
    task_ids = crowd.labels.find_ids("task", library.native(tasks))
    classes = crowd.labels.find_ids("label", library.native(labels))
    there = told & (task_ids >= 0)
    if len(told) > 0 and not there.any():
        raise DataError("truths: none of their tasks has a label")
    task_of, worker_of, class_of = crowd.labels.label_rows()
    has_truth = np.zeros(crowd.labels.num_tasks, dtype=bool)
    has_truth[task_ids[there]] = True
    named = there & (classes >= 0)
    count = crowd.labels.num_classes
    is_right = np.isin(task_of.astype(np.int64) * count + class_of, task_ids[named] * count + classes[named])
    workers = crowd.labels.num_workers
    return np.bincount(worker_of[is_right], minlength=workers), np.bincount(worker_of[has_truth[task_of]], minlength=workers)
