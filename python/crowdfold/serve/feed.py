"""The update lines of a project, for those who follow it: event streams and webhooks.

Each follower has a place, and asks for what is behind it. So nobody keeps a queue for a follower, and one who comes back goes on.
"""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import json
from typing import Any, Optional

from .journal import FeedRow, Journal

__all__ = ["Feed", "Message", "Place"]

ROWS_AT_HAND = 256


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """Behind line number `line`, from 0, of the commit that brought the state to `events` events."""

    events: int
    line: int

    def __str__(self) -> str:
        return f"{self.events}-{self.line}"

    @classmethod
    def parse(cls, text: str) -> Optional[Place]:
        events, _, line = text.partition("-")
        if not (events.isascii() and events.isdigit() and line.isascii() and line.isdigit() and len(text) < 40):
            return None
        return cls(int(events), int(line))


@dataclasses.dataclass(frozen=True)
class Message:
    place: Place
    at: float
    line: bytes

    @property
    def type(self) -> str:
        """What the line tells of. A task that is closed tells so each time that its answer changes."""
        if self.line.startswith(b'{"worker"'):
            return "worker.alarm"
        if self.line.startswith(b'{"project"'):
            return "project.done"
        if self.line.startswith(b'{"task"'):
            return "task.closed" if json.loads(self.line)["closed"] else "task.changed"
        return "summary"

    @property
    def content(self) -> Any:
        return json.loads(self.line)


class Feed:
    """Of one project. For the event loop."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._recent: collections.deque[FeedRow] = collections.deque(maxlen=ROWS_AT_HAND)
        self._rung = asyncio.Event()
        self.is_over = False

    def publish(self, row: FeedRow) -> None:
        self._recent.append(row)
        self._ring()

    def close(self) -> None:
        self.is_over = True
        self._ring()

    def _ring(self) -> None:
        self._rung.set()
        self._rung = asyncio.Event()

    def bell(self) -> asyncio.Event:
        """Rings once when there is more, or the feed is over. To be asked for before the feed is read."""
        return self._rung

    async def after(self, place: Place) -> list[Message]:
        """Some messages behind the place; none if there are none yet."""
        rows = [row for row in self._recent if row.events >= place.events]
        if not self._recent or self._recent[0].events > place.events:
            rows = await asyncio.to_thread(self._journal.feed_from, place.events)
        return [Message(at, row.at, line) for row in rows for i, line in enumerate(row.lines) if (at := Place(row.events, i)) > place]

    async def has_forgotten(self, place: Place) -> bool:
        """Whether messages behind the place may be gone."""
        first = await asyncio.to_thread(self._journal.feed_from, 0, 1)
        return not first or first[0].events > place.events
