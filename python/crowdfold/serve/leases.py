"""Tasks that were given to workers, so that two of them are not sent to the same last label.

A lease is a promise of some seconds, and in memory alone: after a restart, tasks may be given out once more than they need.
"""

from __future__ import annotations

import threading
import time
from typing import Callable, Sequence

from .settings import StopRule
from .views import NextTask

__all__ = ["Leases"]


class Leases:
    """Of one project."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: dict[str, dict[str, float]] = {}  # by task and worker

    def leased(self) -> int:
        """How many tasks, at most: so many more are to be looked at."""
        with self._lock:
            self._drop_ended(time.monotonic())
            return len(self._until)

    def take(self, worker: str, tasks: Sequence[NextTask], most: int, seconds: float, stop: StopRule,
             workers_of: Callable[[str], Sequence[str]]) -> list[NextTask]:
        """The first tasks that have room for one more label. `workers_of` tells who labelled a task meanwhile."""
        at = time.monotonic()
        chosen: list[NextTask] = []
        with self._lock:
            for task in tasks:
                if len(chosen) == most:
                    break
                holders = self._until.get(task.task, {})
                others = {holder for holder, until in holders.items() if holder != worker and until > at}
                if others:
                    others -= set(workers_of(task.task))
                if len(others) >= _room(task, stop):
                    continue
                if seconds > 0:
                    self._until.setdefault(task.task, {})[worker] = at + seconds
                chosen.append(task)
        return chosen

    def _drop_ended(self, at: float) -> None:
        for task, holders in list(self._until.items()):
            for worker in [worker for worker, until in holders.items() if until <= at]:
                del holders[worker]
            if not holders:
                del self._until[task]


def _room(task: NextTask, stop: StopRule) -> int:
    """How many labels the task will take, as far as that is known: one at least."""
    wanted = stop.labels_per_task or stop.min_labels
    if stop.max_labels:
        wanted = min(wanted, stop.max_labels)
    return max(1, wanted - task.labels)
