"""Labels as they come."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Union

from . import _native
from ._input import text_of
from .errors import UsageError

__all__ = ["LiveStream", "OpenTask", "TaskUpdate", "WorkerQuality"]


class TaskUpdate(NamedTuple):
    """A task changed its answer, or closed. `reason` tells why it closed: labels, confidence, most, truth, event, end."""

    task: str
    label: Optional[str]
    confidence: float
    labels: int
    closed: bool
    reason: Optional[str]


class OpenTask(NamedTuple):
    """A task that is open. `gain` is the expected rise of the probability that its answer is right, by one label more."""

    task: str
    label: Optional[str]
    confidence: float
    labels: int
    gain: float


class WorkerQuality(NamedTuple):
    worker: str
    quality: float
    lower: float
    upper: float
    labels: float


class LiveStream:
    """Answers while labels come in, one at a time and in any order between tasks, with a durable state.

    Labels may be taken back or corrected, and truths may come late: closed tasks are judged again. `path` is an SQLite
    file, the same that `crowdfold stream --state` makes and goes on from; without one, everything is in memory. What was
    taken is on disk after `commit`, or at the end of a `with` block that raises nothing. Names are texts: 7 and "7" are the
    same task.

    Parameters
    ----------
    labels_per_task : a task closes with so many labels
    confidence, min_labels, max_labels : a task closes when its answer is so probable, but not with fewer labels; and with so
        many, however uncertain
    alpha, beta : prior of worker quality, Beta(alpha, beta)
    half_life : a worker's labels are worth half after so many more
    classes : all classes there may be
    forget_closed : do not keep labels of closed tasks
    alarm_below : `alarms` tells of workers whose 95 % interval falls below this quality
    read_only : look into a state, also while another program writes to it
    """

    def __init__(self, path: Optional[Union[str, os.PathLike[str]]] = None, *, labels_per_task: int = 0,
                 confidence: float = 0.0, min_labels: int = 3, max_labels: int = 0, alpha: Optional[float] = None,
                 beta: Optional[float] = None, half_life: Optional[float] = None,
                 classes: Optional[Iterable[Any]] = None, forget_closed: bool = False, alarm_below: float = 0.0,
                 read_only: bool = False) -> None:
        self._read_only = read_only
        self._native = _native.Stream("" if path is None else os.fspath(path), read_only, alpha, beta, half_life,
                                      forget_closed, [text_of(c) for c in classes or ()], labels_per_task, confidence,
                                      min_labels, max_labels, alarm_below)

    def add(self, task: Any, worker: Any, label: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Takes a label; a worker's second one on a task replaces the first. An `id` that was there before is ignored.
        Returns the tasks that changed, or closed. A null as label is an abstention: nothing happens."""
        if not text_of(label):
            return []
        return self._take("label", task, worker, label, id)

    def retract(self, task: Any, worker: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Takes a label back, also on a closed task."""
        return self._take("retract", task, worker, None, id)

    def set_truth(self, task: Any, label: Any, *, id: Any = None) -> List[TaskUpdate]:
        """The truth of a task, at any time."""
        return self._take("truth", task, None, label, id)

    def close_task(self, task: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Closes a task: from now on it counts for its workers."""
        return self._take("close", task, None, None, id)

    def close_all(self) -> List[TaskUpdate]:
        """Closes all open tasks."""
        self._native.close_all()
        return self._updates()

    def judge_again(self) -> List[TaskUpdate]:
        """Judges closed tasks with what is known of workers now."""
        self._native.rejudge()
        return self._updates()

    def next_tasks(self, most: int = 10) -> List[OpenTask]:
        """Open tasks, those first for which one more label is worth most."""
        return [OpenTask(*task) for task in self._native.next_tasks(most)]

    def workers(self) -> List[WorkerQuality]:
        """What is known of workers."""
        return [WorkerQuality(*worker) for worker in self._native.workers()]

    def alarms(self) -> List[WorkerQuality]:
        """Workers that fell below `alarm_below` since the last call."""
        return [WorkerQuality(*worker) for worker in self._native.alarms()]

    def totals(self) -> Dict[str, int]:
        """Numbers of events, workers, classes, open and closed tasks."""
        return dict(self._native.totals())

    def problems(self) -> List[str]:
        """What does not fit together in the state, after a commit: nothing, unless it is damaged."""
        if not self._read_only:
            self._native.commit()
        return list(self._native.problems())

    def merge(self, other: LiveStream) -> List[TaskUpdate]:
        """Takes over all that another stream knows, as if both had been one. The other one must be committed."""
        self._native.merge(other._native)
        return self._updates()

    def commit(self) -> None:
        """What was taken is on disk once this returns. After a FileError there is no going on: close the stream and open its
        state again, what was committed is there."""
        self._native.commit()

    def close(self) -> None:
        """Commits, and lets go of the file, whether or not that worked."""
        try:
            if not self._read_only:
                self._native.commit()
        finally:
            self._native.shut()

    def __enter__(self) -> LiveStream:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is None:
            self.close()
        else:
            self._native.shut()

    def _take(self, kind: str, task: Any, worker: Any, label: Any, id: Any) -> List[TaskUpdate]:
        texts = [text_of(value) for value in (task, worker, label, id)]
        if not texts[0]:
            raise UsageError("a stream's event needs a task")
        self._native.take(kind, *texts)
        return self._updates()

    def _updates(self) -> List[TaskUpdate]:
        return [TaskUpdate(*update) for update in self._native.updates()]
