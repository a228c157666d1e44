"""The one thread that writes to a project's state.

Requests queue batches and wait. All that waits is taken together, and goes to disk in one commit; then all are answered. So an
answer means that the events are on disk, and a hundred clients cost one sync.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import queue
import threading
import time
from pathlib import Path
from typing import Any, Callable, Optional, Union

from .._stream import LiveStream
from ..errors import CrowdfoldError, RefusedLines
from .journal import AuditEntry, FeedRow, Journal, KeyedAnswer
from .metrics import Metrics
from .problems import Problem
from .settings import Settings

__all__ = ["Batch", "Writer"]

log = logging.getLogger("crowdfold.serve")

MOST_BYTES = 1 << 20  # of batches that are committed together: some 10,000 events
MOST_SECONDS = 0.005
MOST_WAITING = 100_000


@dataclasses.dataclass(frozen=True)
class Batch:
    """Events of one request."""

    lines: bytes
    partial: bool = False
    key: Optional[str] = None
    body_hash: bytes = b""
    audit: Optional[AuditEntry] = None


@dataclasses.dataclass(frozen=True)
class _Waiting:
    batch: Batch
    answer: asyncio.Future[bytes]


@dataclasses.dataclass(frozen=True)
class _Command:
    run: Callable[[], Any]
    answer: asyncio.Future[Any]


Item = Union[_Waiting, _Command, None]
Outcome = Union[bytes, Exception]


class Writer:
    """Of one project. `publish` is called in the loop, once a row of the feed and its change are on disk."""

    def __init__(self, path: Path, settings: Settings, journal: Journal, metrics: Metrics, name: str, most_bytes: int,
                 loop: asyncio.AbstractEventLoop, publish: Callable[[FeedRow], None]) -> None:
        self._path = path
        self._settings = settings
        self._journal = journal
        self._metrics = metrics
        self._name = name
        self._most_bytes = most_bytes
        self._loop = loop
        self._publish = publish
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting_bytes = 0
        self._waiting = 0
        self._is_stopped = False
        self.failure: Optional[str] = None  # why the last commit failed
        self._stream: Optional[LiveStream] = None
        self._events = 0  # that are on disk
        self._closed_tasks = 0
        self._open()
        self._thread = threading.Thread(target=self._run, name=f"writer of {name}", daemon=True)
        self._thread.start()

    # For the event loop.

    async def take(self, batch: Batch) -> bytes:
        """The answer, once the batch is on disk. Problem if it is refused, or cannot be taken."""
        with self._lock:
            self._require_running()
            if self._waiting_bytes + len(batch.lines) > self._most_bytes or self._waiting >= MOST_WAITING:
                raise Problem(503, "too many events wait to be written; try again soon", headers={"Retry-After": "1"})
            self._waiting_bytes += len(batch.lines)
            self._waiting += 1
            answer: asyncio.Future[bytes] = self._loop.create_future()
            self._queue.put(_Waiting(batch, answer))
        return await answer

    async def reconfigure(self, settings: Settings) -> None:
        """From the next event on."""
        await self._command(lambda: self._reopen_with(settings))

    async def _command(self, run: Callable[[], Any]) -> Any:
        with self._lock:
            self._require_running()
            answer: asyncio.Future[Any] = self._loop.create_future()
            self._queue.put(_Command(run, answer))
        return await answer

    def _require_running(self) -> None:
        if self._is_stopped:
            raise Problem(503, "the service stops, or the project is being deleted", headers={"Retry-After": "5"})

    def stop(self) -> None:
        """What waits is written first. Blocks; may be called twice."""
        with self._lock:
            if not self._is_stopped:
                self._is_stopped = True
                self._queue.put(None)
        self._thread.join()

    @property
    def events(self) -> int:
        """That are on disk."""
        return self._events

    @property
    def waiting(self) -> int:
        return self._waiting

    # The thread.

    def _run(self) -> None:
        while True:
            group, last = self._gather()
            if group:
                self._serve(group)
            if isinstance(last, _Command):
                self._execute(last)
            elif last is None:
                self._shut()
                return

    def _gather(self) -> tuple[list[_Waiting], Union[Item, bool]]:
        """All that waits, up to some amount; and what comes behind it, if that is not a batch. (True: nothing.)"""
        first = self._queue.get()
        if not isinstance(first, _Waiting):
            return [], first
        group = [first]
        size = len(first.batch.lines)
        end = time.monotonic() + MOST_SECONDS
        while size < MOST_BYTES and time.monotonic() < end:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                break
            if not isinstance(item, _Waiting):
                return group, item
            group.append(item)
            size += len(item.batch.lines)
        return group, True

    def _serve(self, group: list[_Waiting]) -> None:
        try:
            outcomes = self._take_and_commit([waiting.batch for waiting in group])
        except Exception as error:  # whatever it was: what is not committed did not happen
            log.exception("project %s: a commit failed", self._name)
            self._recover(error)
            problem = Problem(503, f"nothing of this was taken ({error}); try again", headers={"Retry-After": "5"})
            outcomes = [problem] * len(group)
        with self._lock:
            self._waiting -= len(group)
            self._waiting_bytes -= sum(len(waiting.batch.lines) for waiting in group)
        answers = [(waiting.answer, outcome) for waiting, outcome in zip(group, outcomes)]
        self._in_loop(lambda: _resolve(answers))

    def _take_and_commit(self, batches: list[Batch]) -> list[Outcome]:
        stream = self._require_stream()
        keyed: dict[str, KeyedAnswer] = {}
        lines: list[bytes] = []
        audit: list[AuditEntry] = []
        outcomes: list[Outcome] = []
        for batch in batches:
            outcomes.append(self._take(stream, batch, keyed, lines, audit))
        totals = stream.totals()
        if totals["open_tasks"] == 0 and totals["closed_tasks"] != self._closed_tasks:
            lines.append(json.dumps({"project": self._name, "open_tasks": 0, "closed_tasks": totals["closed_tasks"]}).encode())
        row = None
        events = totals["events"]
        with self._metrics.commit_seconds.time():
            if events > self._events:
                if lines or keyed or audit:
                    row = self._journal.write(events, lines, list(keyed.values()), audit)
                stream.commit()
        self._events = events
        self._closed_tasks = totals["closed_tasks"]
        self.failure = None
        self._metrics.committed(self._name, totals, lines)
        if row is not None:
            published = row
            self._in_loop(lambda: self._publish(published))
        return outcomes

    def _take(self, stream: LiveStream, batch: Batch, keyed: dict[str, KeyedAnswer], lines: list[bytes],
              audit: list[AuditEntry]) -> Outcome:
        if batch.key is not None:
            known = keyed.get(batch.key) or self._journal.answer_to(batch.key)
            if known is not None and known.body_hash == batch.body_hash:
                return known.answer
            if known is not None:
                return Problem(422, "this Idempotency-Key came before, with another body; a new request needs a new key")
        try:
            taken = stream.take_lines(batch.lines, partial=batch.partial)
        except RefusedLines as error:
            self._metrics.refused_batches.inc()
            return Problem(422, str(error), errors=[
                {"line": line.line, "field": line.field, "detail": line.why} for line in error.refused])
        self._metrics.taken(taken)
        updates = taken.updates.splitlines()
        lines.extend(updates)
        refused = [{"line": line.line, "field": line.field, "detail": line.why} for line in taken.refused]
        answer = b'{"accepted": %d, "repeated": %d, "refused": %s, "updates": [%s]}' % (
            taken.accepted, taken.repeated, json.dumps(refused, ensure_ascii=False).encode("utf-8", "replace"), b", ".join(updates))
        if batch.key is not None:
            keyed[batch.key] = KeyedAnswer(batch.key, batch.body_hash, answer)
        if batch.audit is not None and taken.accepted > 0:
            audit.append(batch.audit)
        return answer

    def _execute(self, command: _Command) -> None:
        outcome: Any
        try:
            outcome = command.run()
        except Exception as error:
            outcome = error
        self._in_loop(lambda: _resolve([(command.answer, outcome)]))

    def _in_loop(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(call)

    # The stream.

    def _open(self) -> None:
        self._stream = self._settings.open(self._path)
        totals = self._stream.totals()
        self._events = totals["events"]
        self._closed_tasks = totals["closed_tasks"]
        self._journal.forget_after(self._events)

    def _require_stream(self) -> LiveStream:
        if self._stream is None:
            self._open()
        assert self._stream is not None
        return self._stream

    def _recover(self, error: Exception) -> None:
        """The stream may be in the middle of something: its state is opened anew, with what was committed."""
        self.failure = str(error)
        stream, self._stream = self._stream, None
        try:
            if stream is not None:
                stream.abandon()
            self._open()
        except Exception as again:  # the next batch tries again
            self.failure = str(again)
            log.error("project %s: its state cannot be opened: %s", self._name, again)

    def _reopen_with(self, settings: Settings) -> None:
        before, self._settings = self._settings, settings
        self._shut()
        try:
            self._open()
        except CrowdfoldError:
            self._settings = before
            self._open()
            raise

    def _shut(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            try:
                stream.close()
            except CrowdfoldError as error:
                log.error("project %s: %s", self._name, error)


def _resolve(answers: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for answer, outcome in answers:
        if answer.done():  # the client went away
            continue
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)
