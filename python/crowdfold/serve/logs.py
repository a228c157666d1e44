"""Logs for people, or as JSON lines; a line for every request, with its id, which the answer has too."""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["RequestLog", "begin_to_log"]

log = logging.getLogger("crowdfold.requests")
FIELDS = ("request_id", "method", "path", "status", "ms", "token", "client")
SANE_ID = re.compile(rb"[A-Za-z0-9._:-]{1,100}")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"), "level": record.levelname.lower(),
                                "logger": record.name, "message": record.getMessage()}
        line.update((field, getattr(record, field)) for field in FIELDS if hasattr(record, field))
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Text(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        # A name in a path is somebody else's text: no line of it looks like one of ours.
        return super().format(record).replace("\r", "\\r").replace("\n", "\n    ")


def begin_to_log(form: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Text())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)


class RequestLog:
    """Gives every request an id, or keeps the one that it came with, and logs and measures its answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        request_id = given.decode() if SANE_ID.fullmatch(given) else secrets.token_hex(8)
        scope["request_id"] = request_id
        began = time.perf_counter()
        status = 0

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
                metrics = scope["app"].state.service.metrics
                metrics.request_seconds.labels(scope["method"], status).observe(time.perf_counter() - began)
            await send(message)

        try:
            await self.app(scope, receive, told)
        finally:
            path = scope["raw_path"].decode("latin-1")
            ms = round(1000 * (time.perf_counter() - began), 2)
            log.info("%s %s %s %.2f ms", scope["method"], path, status or "gone", ms, extra={
                "request_id": request_id, "method": scope["method"], "path": path, "status": status, "ms": ms,
                "token": scope.get("token"), "client": (scope.get("client") or ["?"])[0]})
