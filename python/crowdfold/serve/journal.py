"""What happened in a project, for those who ask later: update lines, answers to repeated requests, the audit.

A journal row is on disk before the change that it tells of. It carries the number of events that the project's state will hold
then, so that after a crash rows of changes that did not happen can be told, and are forgotten. Change and journal are one, although
they are two files.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Optional, Sequence

from .database import Database, now

__all__ = ["AuditEntry", "FeedRow", "Journal", "KeyedAnswer", "write_audit"]


@dataclasses.dataclass(frozen=True)
class AuditEntry:
    who: str
    what: str
    detail: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class KeyedAnswer:
    """What was answered to a request with an Idempotency-Key."""

    key: str
    body_hash: bytes
    answer: bytes


@dataclasses.dataclass(frozen=True)
class FeedRow:
    """The update lines of one commit, which brought the state to `events` events."""

    events: int
    at: float
    lines: tuple[bytes, ...]


def write_audit(connection: Any, entry: AuditEntry, project: Optional[int], events: Optional[int] = None) -> None:
    connection.execute("INSERT INTO audit(at, who, what, project, events, detail) VALUES(?, ?, ?, ?, ?, ?)",
                       (now(), entry.who, entry.what, project, events, json.dumps(entry.detail, ensure_ascii=False)))


class Journal:
    """Of one project."""

    KEY_SECONDS = 24 * 3600

    def __init__(self, database: Database, project: int, feed_days: float) -> None:
        self._database = database
        self._project = project
        self._feed_seconds = feed_days * 24 * 3600
        self._next_tidying = 0.0

    def forget_after(self, events: int) -> None:
        """Forgets changes that the state does not have."""
        with self._database.transaction() as connection:
            for table in ("feed", "answered", "audit"):
                connection.execute(f"DELETE FROM {table} WHERE project = ? AND events > ?", (self._project, events))

    def write(self, events: int, lines: Sequence[bytes], answers: Sequence[KeyedAnswer], audit: Sequence[AuditEntry]) -> Optional[FeedRow]:
        """Before the state is committed. The feed's row, if there are lines."""
        at = now()
        with self._database.transaction() as connection:
            if lines:
                connection.execute("INSERT INTO feed VALUES(?, ?, ?, ?)", (self._project, events, at, b"\n".join(lines)))
            for answer in answers:
                connection.execute("INSERT OR REPLACE INTO answered VALUES(?, ?, ?, ?, ?, ?)",
                                   (self._project, answer.key, answer.body_hash, events, at, answer.answer))
            for entry in audit:
                write_audit(connection, entry, self._project, events)
            if at >= self._next_tidying:
                self._next_tidying = at + 600
                self._tidy(connection, at)
        return FeedRow(events, at, tuple(lines)) if lines else None

    def _tidy(self, connection: Any, at: float) -> None:
        connection.execute("DELETE FROM answered WHERE project = ? AND at < ?", (self._project, at - self.KEY_SECONDS))
        # What a webhook still has to deliver stays.
        connection.execute(
            "DELETE FROM feed WHERE project = ? AND at < ? AND events < "
            "coalesce((SELECT min(events) FROM webhooks WHERE project = ?), 1 << 62)",
            (self._project, at - self._feed_seconds, self._project))

    def answer_to(self, key: str) -> Optional[KeyedAnswer]:
        row = self._database.row("SELECT body_hash, answer FROM answered WHERE project = ? AND key = ? AND at >= ?",
                                 (self._project, key, now() - self.KEY_SECONDS))
        return None if row is None else KeyedAnswer(key, row["body_hash"], row["answer"])

    def feed_from(self, events: int, most: int = 100) -> list[FeedRow]:
        """Rows from the one that brought the state to `events` events."""
        rows = self._database.rows("SELECT events, at, lines FROM feed WHERE project = ? AND events >= ? ORDER BY events LIMIT ?",
                                   (self._project, events, most))
        return [FeedRow(row["events"], row["at"], tuple(row["lines"].split(b"\n"))) for row in rows]
