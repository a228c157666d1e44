"""Messages to other programs: every one at least once, in order, however long the other one is away.

A webhook has a place in its project's feed, as an event stream has, but on disk. A message is sent until it is taken, with longer
and longer pauses; one older than a day is parked, and the next ones have their turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import json
import logging
import sqlite3
from typing import Any, Optional
from urllib.parse import urlsplit

import httpx

from .addresses import AddressError, address_of
from .database import Database, now
from .feed import Feed, Message, Place
from .metrics import Metrics
from .signing import headers_of

__all__ = ["TYPES", "Webhook", "Webhooks"]

log = logging.getLogger("crowdfold.serve")

TYPES = ("task.closed", "task.changed", "worker.alarm", "project.done")
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 3600.0
PAUSE_AFTER_ERROR = 10.0
PARKED_AFTER = 24 * 3600.0
TIMEOUT = httpx.Timeout(10.0)


@dataclasses.dataclass
class Webhook:
    id: int
    url: str
    types: tuple[str, ...]
    secret: str
    created_at: float
    place: Place
    failures: int
    next_try_at: float
    last_error: Optional[str]

    @classmethod
    def of(cls, row: sqlite3.Row) -> Webhook:
        return cls(row["id"], row["url"], tuple(json.loads(row["types"])), row["secret"], row["created_at"],
                   Place(row["events"], row["line"]), row["failures"], row["next_try_at"], row["last_error"])


class Webhooks:
    """Of one project. For the event loop."""

    def __init__(self, database: Database, project: int, name: str, feed: Feed, metrics: Metrics, private: bool) -> None:
        self._database = database
        self._project = project
        self._name = name
        self._feed = feed
        self._metrics = metrics
        self._private = private
        self._client = httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False, trust_env=False)
        self._senders: dict[int, asyncio.Task[None]] = {}
        for webhook in self.all():
            self.begin(webhook)

    def all(self) -> list[Webhook]:
        return [Webhook.of(row) for row in self._database.rows("SELECT * FROM webhooks WHERE project = ? ORDER BY id", (self._project,))]

    def parked(self, id: int) -> list[sqlite3.Row]:
        return self._database.rows("SELECT * FROM parked WHERE webhook = ? ORDER BY at, id LIMIT 1000", (id,))

    def add(self, connection: Any, url: str, types: tuple[str, ...], secret: str, place: Place) -> Webhook:
        """In a transaction; begin() comes once it is over."""
        return Webhook.of(connection.execute(
            "INSERT INTO webhooks(project, url, types, secret, created_at, events, line) VALUES(?, ?, ?, ?, ?, ?, ?) RETURNING *",
            (self._project, url, json.dumps(types), secret, now(), place.events, place.line)).fetchone())

    def begin(self, webhook: Webhook) -> None:
        self._senders[webhook.id] = asyncio.create_task(self._keep_sending(webhook))

    async def end(self, id: int) -> None:
        sender = self._senders.pop(id, None)
        if sender is not None:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sender

    async def close(self) -> None:
        for id in list(self._senders):
            await self.end(id)
        await self._client.aclose()

    async def _keep_sending(self, webhook: Webhook) -> None:
        while not self._feed.is_over:
            try:
                await self._send_all(webhook)
            except Exception:  # projects.db cannot be written, perhaps: that may pass
                log.exception("webhook %d of project %s: tries again", webhook.id, self._name)
                await asyncio.sleep(PAUSE_AFTER_ERROR)

    async def _send_all(self, webhook: Webhook) -> None:
        lag = self._metrics.lag.labels(self._name, str(webhook.id))
        while True:
            bell = self._feed.bell()
            messages = await self._feed.after(webhook.place)
            for message in messages:
                if message.type in webhook.types:
                    lag.set(now() - message.at)
                    await self._send_until_taken(webhook, message)
                else:
                    webhook.place = message.place
            lag.set(0)
            if messages and messages[-1].type not in webhook.types:
                await self._keep(webhook)
            if not messages:
                await bell.wait()
                if self._feed.is_over:
                    return

    async def _send_until_taken(self, webhook: Webhook, message: Message) -> None:
        body = json.dumps({"type": message.type, "timestamp": _iso(message.at), "data": {"project": self._name, **message.content}},
                          ensure_ascii=False).encode()
        id = f"msg_{webhook.id}_{message.place}"
        while True:
            await asyncio.sleep(max(0.0, webhook.next_try_at - now()))
            error = await self._try(webhook, id, body)
            if error is None:
                self._metrics.deliveries.inc()
                webhook.place, webhook.failures, webhook.next_try_at, webhook.last_error = message.place, 0, 0.0, None
                await self._keep(webhook)
                return
            self._metrics.failures.inc()
            webhook.failures += 1
            webhook.last_error = error
            webhook.next_try_at = now() + min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(30, webhook.failures - 1))
            if now() - message.at > PARKED_AFTER:
                await self._park(webhook, message, id, body, error)
                return
            await self._keep(webhook)

    async def _try(self, webhook: Webhook, id: str, body: bytes) -> Optional[str]:
        """What went wrong; None if the message was taken."""
        parts = urlsplit(webhook.url)
        assert parts.hostname is not None
        try:
            address = await address_of(parts.hostname, parts.port or (443 if parts.scheme == "https" else 80), self._private)
            url = httpx.URL(webhook.url).copy_with(host=address)
            headers = {"content-type": "application/json", "host": parts.netloc, "user-agent": "crowdfold-serve",
                       **headers_of(webhook.secret, id, body)}
            async with self._client.stream("POST", url, content=body, headers=headers,
                                           extensions={"sni_hostname": parts.hostname}) as answer:
                return None if answer.is_success else f"it answered {answer.status_code}"
        except AddressError as error:
            return str(error)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

    async def _park(self, webhook: Webhook, message: Message, id: str, body: bytes, why: str) -> None:
        log.warning("webhook %d of project %s: %s is parked: %s", webhook.id, self._name, id, why)
        self._metrics.parked.inc()
        webhook.place = message.place

        def write() -> None:
            with self._database.transaction() as connection:
                connection.execute("INSERT OR REPLACE INTO parked VALUES(?, ?, ?, ?, ?)", (id, webhook.id, now(), body, why))
                _write_state(connection, webhook)

        await asyncio.to_thread(write)

    async def _keep(self, webhook: Webhook) -> None:
        def write() -> None:
            with self._database.transaction() as connection:
                _write_state(connection, webhook)

        await asyncio.to_thread(write)


def _write_state(connection: Any, webhook: Webhook) -> None:
    connection.execute("UPDATE webhooks SET events = ?, line = ?, failures = ?, next_try_at = ?, last_error = ? WHERE id = ?",
                       (webhook.place.events, webhook.place.line, webhook.failures, webhook.next_try_at, webhook.last_error, webhook.id))


def _iso(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).isoformat().replace("+00:00", "Z")
