"""Tokens: who may do what. Only their SHA-256 is stored."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import secrets
import sqlite3
import threading
from typing import Optional

from .database import Database, now
from .journal import AuditEntry, write_audit

__all__ = ["Role", "Token", "Tokens"]


class Role(enum.IntEnum):
    """Each may do what those before it may."""

    read = 1
    write = 2
    admin = 3


@dataclasses.dataclass(frozen=True)
class Token:
    id: int
    name: str
    role: Role
    project: Optional[int]  # none: all
    created_at: float
    expires_at: Optional[float]
    revoked_at: Optional[float]

    @property
    def is_valid(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now() < self.expires_at)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


class Tokens:
    """All tokens, in memory: nobody waits for a disk to be known."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._used: dict[int, float] = {}
        self._load()

    def _load(self) -> None:
        self._by_hash = {bytes(row["hash"]): self._token(row) for row in self._database.rows("SELECT * FROM tokens")}

    @staticmethod
    def _token(row: sqlite3.Row) -> Token:
        return Token(row["id"], row["name"], Role[row["role"]], row["project"], row["created_at"], row["expires_at"], row["revoked_at"])

    def find(self, secret: str) -> Optional[Token]:
        """A token that may be used now."""
        token = self._by_hash.get(_hash(secret))
        if token is None or not token.is_valid:
            return None
        self._used[token.id] = now()
        return token

    def is_valid(self, id: int) -> bool:
        """Still: for what takes long."""
        return any(token.id == id and token.is_valid for token in self._by_hash.values())

    def has_admin(self) -> bool:
        return any(token.is_valid and token.role is Role.admin and token.project is None for token in self._by_hash.values())

    def all(self) -> list[tuple[Token, Optional[float]]]:
        """Every token, with when it was used last."""
        self.write_uses()
        used = {row["id"]: row["last_used_at"] for row in self._database.rows("SELECT id, last_used_at FROM tokens")}
        return [(token, used.get(token.id)) for token in sorted(self._by_hash.values(), key=lambda token: token.id)]

    def add(self, name: str, role: Role, project: Optional[int], expires_at: Optional[float], who: str) -> tuple[Token, str]:
        """A new token, and its secret, which is told once."""
        secret = "cf_" + secrets.token_urlsafe(32)
        with self._lock:
            with self._database.transaction() as connection:
                cursor = connection.execute(
                    "INSERT INTO tokens(name, hash, role, project, created_at, expires_at) VALUES(?, ?, ?, ?, ?, ?) RETURNING *",
                    (name, _hash(secret), role.name, project, now(), expires_at))
                token = self._token(cursor.fetchone())
                write_audit(connection, AuditEntry(who, "token.add", {"token": token.id, "name": name, "role": role.name}), project)
            self._load()
        return token, secret

    def revoke(self, id: int, who: str) -> bool:
        """False if there is no such token."""
        with self._lock:
            with self._database.transaction() as connection:
                found = connection.execute("UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", (now(), id)).rowcount
                if found:
                    write_audit(connection, AuditEntry(who, "token.revoke", {"token": id}), None)
            self._load()
        return found > 0

    def forget_project(self) -> None:
        """A project is gone, and with it its tokens."""
        with self._lock:
            self._load()

    def write_uses(self) -> None:
        """When tokens were used last is written now and then: it is no reason for a sync per request."""
        used, self._used = self._used, {}
        if not used:
            return
        with self._database.transaction() as connection:
            connection.executemany("UPDATE tokens SET last_used_at = ? WHERE id = ?", [(at, id) for id, at in used.items()])
