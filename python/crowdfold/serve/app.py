"""The HTTP application: routes, and what every request goes through."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .._native import version
from .config import Config
from .database import Database
from .limits import BodyLimits
from .logs import RequestLog
from .names import RawPaths
from .problems import RESPONSES, ProblemDocument, add_handlers
from .routes import docs, events, exports, health, hooks, projects, report, stream, tasks, tokens, webhooks, workers
from .service import Service

__all__ = ["make_app"]

ROUTERS = (projects.router, events.router, tasks.router, workers.router, exports.router, report.router, stream.router,
           webhooks.router, hooks.router, tokens.router, health.router)
TOKEN_USES_SECONDS = 60

# For answers that no browser is to show; pages have rules of their own.
HEADERS = {b"x-content-type-options": b"nosniff", b"referrer-policy": b"no-referrer", b"cache-control": b"no-store",
           b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'"}


class SafeHeaders:
    """Adds headers that a route did not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((name, value) for name, value in HEADERS.items() if name not in there)]
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


def make_app(config: Config, database: Database) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = app.state.service = Service(config, database)
        await service.open_projects()
        uses = asyncio.create_task(_write_uses(service))
        yield
        uses.cancel()
        await service.close()

    app = FastAPI(title="crowdfold", version=version, lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False,
                  responses=RESPONSES, summary="Labels go in, answers come out.")
    for router in ROUTERS:
        app.include_router(router)
    docs.add_to(app)
    add_handlers(app)
    _describe_problems(app)
    app.add_middleware(BodyLimits, most_bytes=config.max_body, seconds=config.body_seconds)
    app.add_middleware(RawPaths)
    app.add_middleware(SafeHeaders)
    app.add_middleware(RequestLog)
    return app


async def _write_uses(service: Service) -> None:
    while True:
        await asyncio.sleep(TOKEN_USES_SECONDS)
        await asyncio.to_thread(service.tokens.write_uses)


def _describe_problems(app: FastAPI) -> None:
    """Errors are problem documents, also those that FastAPI would describe as its own."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = make()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            problem = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(problem.pop("$defs", {}))
            schemas["ProblemDocument"] = problem
            for path in document["paths"].values():
                for operation in path.values():
                    operation["responses"].pop("422", None)
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
