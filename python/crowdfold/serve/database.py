"""projects.db: all that is not labels. One connection, which threads take in turn; every change is on disk when it returns."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

__all__ = ["Database", "DatabaseError", "now"]

APPLICATION = 0x63776673  # "cwfs"
VERSION = 1

# `events` of a journal row: how many events the project's state holds once the row's change is in it. A row with more than the
# state has is of a change that did not happen.
SCHEMA = """
CREATE TABLE projects(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, created_at REAL NOT NULL);
CREATE TABLE tokens(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, hash BLOB NOT NULL UNIQUE, role TEXT NOT NULL,
    project INTEGER REFERENCES projects ON DELETE CASCADE, created_at REAL NOT NULL, expires_at REAL, revoked_at REAL, last_used_at REAL);
CREATE TABLE audit(
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, project INTEGER, events INTEGER,
    detail TEXT NOT NULL);
CREATE TABLE feed(
    project INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, events INTEGER NOT NULL, at REAL NOT NULL, lines BLOB NOT NULL,
    PRIMARY KEY(project, events));
CREATE TABLE answered(
    project INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, key TEXT NOT NULL, body_hash BLOB NOT NULL, events INTEGER NOT NULL,
    at REAL NOT NULL, answer BLOB NOT NULL, PRIMARY KEY(project, key)) WITHOUT ROWID;
CREATE TABLE webhooks(
    id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, url TEXT NOT NULL,
    types TEXT NOT NULL, secret TEXT NOT NULL, created_at REAL NOT NULL, events INTEGER NOT NULL, line INTEGER NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0, next_try_at REAL NOT NULL DEFAULT 0, last_error TEXT);
CREATE TABLE parked(
    id TEXT PRIMARY KEY, webhook INTEGER NOT NULL REFERENCES webhooks ON DELETE CASCADE, at REAL NOT NULL, body BLOB NOT NULL,
    why TEXT NOT NULL);
CREATE TABLE annotations(
    project INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, source TEXT NOT NULL, annotation TEXT NOT NULL, task TEXT NOT NULL,
    worker TEXT NOT NULL, updated_at TEXT NOT NULL, PRIMARY KEY(project, source, annotation)) WITHOUT ROWID;
"""


def now() -> float:
    return time.time()


class DatabaseError(Exception):
    """projects.db cannot be used: why, and what to do."""


class Database:
    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        try:
            path.touch(0o600, exist_ok=True)
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            self._open(path)
        except (sqlite3.Error, OSError) as error:
            raise DatabaseError(f"{path}: {error}") from error

    def _open(self, path: Path) -> None:
        application = self.value("PRAGMA application_id")
        version = self.value("PRAGMA user_version")
        is_new = application == 0 and self.value("SELECT count(*) FROM sqlite_schema") == 0
        if not is_new and application != APPLICATION:
            raise DatabaseError(f"{path}: this is a database of another program; give another --folder")
        if version > VERSION:
            raise DatabaseError(f"{path}: made by a newer crowdfold-serve (version {version}, {VERSION} is known here); use that one")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        if is_new:
            self._connection.executescript(
                f"BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the changes inside, or none."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            try:
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Optional[sqlite3.Row]:
        with self._lock:
            found: Optional[sqlite3.Row] = self._connection.execute(sql, values).fetchone()
            return found

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        row = self.row(sql, values)
        return None if row is None else row[0]

    def require_writable(self) -> None:
        """sqlite3.Error if nothing could be written."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        with self._lock:
            self._connection.close()
