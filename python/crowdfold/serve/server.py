"""Uvicorn, with a time limit for the head of a request, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import signal
import sys
from types import FrameType
from typing import Any, Optional

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .config import Config

__all__ = ["run"]

SECONDS_TO_FINISH = 30
MOST_HEAD_BYTES = 64 << 10
# How long a writer that comes back from the disk may wait for the event loop; by default ten times as long.
SWITCH_SECONDS = 0.0005


def _protocol(header_seconds: float) -> type[HttpToolsProtocol]:
    class TimedProtocol(HttpToolsProtocol):
        """Closes a connection that does not send the head of a request in time, or has no end of it: it could be held for ever."""

        _head_timer: Optional[asyncio.TimerHandle] = None  # while the head is not complete
        _head_bytes = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait_for_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._head_timer is None:
                return
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES:
                self.transport.close()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._wait_for_head()

        def on_headers_complete(self) -> None:
            self._stop_waiting()
            super().on_headers_complete()

        def connection_lost(self, exc: Optional[Exception]) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait_for_head(self) -> None:
            self._stop_waiting()
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(header_seconds, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

    return TimedProtocol


class Server(uvicorn.Server):
    """Told to stop, it is not ready any more, ends event streams, and finishes what came."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    async def startup(self, sockets: Any = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: Optional[FrameType]) -> None:
        service = getattr(self._app.state, "service", None)
        if self._loop is not None and service is not None:
            self._loop.call_soon_threadsafe(service.begin_to_stop)
        super().handle_exit(sig, frame)


def run(app: FastAPI, config: Config) -> bool:
    """Until SIGTERM or Ctrl-C. False if it could not begin."""
    settings = uvicorn.Config(
        app, host=config.host, port=config.port, http=_protocol(config.header_seconds), ws="none", log_config=None, access_log=False,
        server_header=False, timeout_keep_alive=round(config.idle_seconds), limit_concurrency=config.max_connections,
        timeout_graceful_shutdown=SECONDS_TO_FINISH, lifespan="on")
    # Uvicorn raises the signal that stopped it again once it is done: that is no failure of ours.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda *_: None)
    sys.setswitchinterval(SWITCH_SECONDS)
    server = Server(settings, app)
    server.run()
    return server.started
