"""Labels as they come."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Union

from . import _native
from ._input import text_of
from .errors import RefusedLines, UsageError

__all__ = ["LiveStream", "OpenTask", "RefusedLine", "TakenLines", "TaskUpdate", "WorkerQuality"]


class TaskUpdate(NamedTuple):
    """A task changed its answer, or closed. `reason` is why it closed: labels, confidence, max_labels, truth, event, end."""

    task: str
    label: Optional[str]
    confidence: float
    labels: int
    closed: bool
    reason: Optional[str]


class OpenTask(NamedTuple):
    """An open task. `gain` is the expected rise of the probability that its answer is right, from one more label."""

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


class RefusedLine(NamedTuple):
    """A line of a batch that was not taken. `field` is None where the line is wrong as a whole."""

    line: int
    field: Optional[str]
    why: str


class TakenLines(NamedTuple):
    """What became of a batch. `updates` are JSON lines, as `crowdfold stream` prints them."""

    accepted: int
    repeated: int
    refused: List[RefusedLine]
    updates: bytes


class LiveStream:
    """Answers while labels come in, one at a time and in any order between tasks, with a durable state.

    Labels may be retracted or corrected, and truths may come late: the stream then judges closed tasks again. `path` is an
    SQLite file, the same that `crowdfold stream --state` uses; without one, everything is in memory. Events are on disk after
    `commit`, or at the end of a `with` block that raises nothing. Names are texts: 7 and "7" are the same task.

    Parameters
    ----------
    labels_per_task : number of labels with which a task closes
    confidence : probability of the answer at which a task closes
    min_labels : a task does not close by `confidence` with fewer labels
    max_labels : number of labels with which a task closes, however uncertain
    alpha, beta : prior of worker quality, Beta(alpha, beta)
    half_life : number of a worker's further labels after which a label counts half
    classes : all possible classes
    forget_closed : do not keep labels of closed tasks
    alarm_below : `alarms` returns workers whose 95 % interval falls below this quality
    read_only : only read the state, also while another program writes to it
    """

    def __init__(self, path: Optional[Union[str, os.PathLike[str]]] = None, *, labels_per_task: int = 0,
                 confidence: float = 0.0, min_labels: int = 3, max_labels: int = 0, alpha: Optional[float] = None,
                 beta: Optional[float] = None, half_life: Optional[float] = None,
                 classes: Optional[Iterable[Any]] = None, forget_closed: bool = False, alarm_below: float = 0.0,
                 read_only: bool = False) -> None:
        if path is not None and not os.fspath(path):
            raise UsageError("the path of a state cannot be empty; leave it out to keep everything in memory")
        self._read_only = read_only
        self._native = _native.Stream("" if path is None else os.fspath(path), read_only, alpha, beta, half_life,
                                      forget_closed, [text_of(c) for c in classes or ()], labels_per_task, confidence,
                                      min_labels, max_labels, alarm_below)

    def add(self, task: Any, worker: Any, label: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Adds a label; a worker's second label on a task replaces the first. An event with a known `id` is ignored.
        Returns the tasks that changed or closed. A null as label is an abstention: nothing happens."""
        if not text_of(label):
            return []
        return self._consume("label", task, worker, label, id)

    def retract(self, task: Any, worker: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Retracts a label, also on a closed task."""
        return self._consume("retract", task, worker, None, id)

    def set_truth(self, task: Any, label: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Sets the truth of a task, at any time."""
        return self._consume("truth", task, None, label, id)

    def close_task(self, task: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Closes a task: from now on it counts for its workers."""
        return self._consume("close", task, None, None, id)

    def reopen_task(self, task: Any, *, id: Any = None) -> List[TaskUpdate]:
        """Opens a closed task again, until its next label that meets the stop rule."""
        return self._consume("reopen", task, None, None, id)

    def take_lines(self, lines: bytes, *, partial: bool = False) -> TakenLines:
        """Takes a batch of events: JSON lines, or a JSON array of them. If a line is no event, or the stream refuses it, takes
        nothing and raises RefusedLines; with `partial`, takes the others. Other threads of Python run meanwhile."""
        accepted, repeated, refused, updates = self._native.take_lines(lines, partial)
        taken = TakenLines(accepted, repeated, [RefusedLine(*line) for line in refused], updates)
        if taken.refused and not partial:
            raise RefusedLines(taken.refused)
        return taken

    def close_all(self) -> List[TaskUpdate]:
        """Closes all open tasks."""
        self._native.close_all()
        return self._updates()

    def judge_again(self) -> List[TaskUpdate]:
        """Judges closed tasks again, with the workers' present qualities."""
        self._native.rejudge()
        return self._updates()

    def next_tasks(self, most: int = 10) -> List[OpenTask]:
        """Open tasks, ordered by the gain from one more label, largest first."""
        return [OpenTask(*task) for task in self._native.next_tasks(most)]

    def workers(self) -> List[WorkerQuality]:
        """The quality of every worker, with its interval."""
        return [WorkerQuality(*worker) for worker in self._native.workers()]

    def alarms(self) -> List[WorkerQuality]:
        """Workers who fell below `alarm_below` since the last call."""
        return [WorkerQuality(*worker) for worker in self._native.alarms()]

    def totals(self) -> Dict[str, int]:
        """Numbers of events, workers, classes, open and closed tasks."""
        return dict(self._native.totals())

    def problems(self) -> List[str]:
        """Commits, then checks the state: a list of inconsistencies, empty unless the state is damaged."""
        if not self._read_only:
            self._native.commit()
        return list(self._native.problems())

    def merge(self, other: LiveStream) -> List[TaskUpdate]:
        """Adds everything that `other` knows, as if one stream had seen the events of both. `other` must be committed."""
        self._native.merge(other._native)
        return self._updates()

    def commit(self) -> None:
        """Writes all events to disk. After a FileError the stream is unusable: close it and open its state again, which has
        everything up to the last commit."""
        self._native.commit()

    def close(self) -> None:
        """Commits, and closes the file even if the commit fails."""
        try:
            if not self._read_only:
                self._native.commit()
        finally:
            self._native.shut()

    def abandon(self) -> None:
        """Closes the file, which keeps what was committed and nothing else."""
        self._native.shut()

    def __enter__(self) -> LiveStream:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is None:
            self.close()
        else:
            self.abandon()

    def _consume(self, kind: str, task: Any, worker: Any, label: Any, id: Any) -> List[TaskUpdate]:
        texts = [text_of(value) for value in (task, worker, label, id)]
        if not texts[0]:
            raise UsageError("a stream's event needs a task")
        self._native.consume(kind, *texts)
        return self._updates()

    def _updates(self) -> List[TaskUpdate]:
        return [TaskUpdate(*update) for update in self._native.updates()]
