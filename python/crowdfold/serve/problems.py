"""Errors as people and programs get them: RFC 9457 problem documents."""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import Any, Mapping, Optional, Sequence

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.routing import Match

from ..errors import CrowdfoldError, UsageError

__all__ = ["MEDIA_TYPE", "Problem", "ProblemDocument", "RESPONSES", "add_handlers", "response_of"]

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 1000  # that a document lists; a client mends some of them and tries again

log = logging.getLogger("crowdfold.serve")


class WrongPart(BaseModel):
    """What is wrong with one part of a request."""

    line: Optional[int] = Field(None, description="line of the batch, or element of the array, from 1")
    field: Optional[str] = Field(None, description="the field that is wrong")
    detail: str


class ProblemDocument(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="about:blank: the status tells the type")
    title: str
    status: int
    detail: str = Field(description="what is wrong, and what to do")
    request_id: Optional[str] = None
    errors: Optional[list[WrongPart]] = None


RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {"description": "An error", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}},
}


class Problem(HTTPException):
    """Ends a request. `errors` are parts of it that are wrong: line, field, detail."""

    def __init__(self, status: int, detail: str, *, errors: Sequence[Mapping[str, Any]] = (),
                 headers: Optional[Mapping[str, str]] = None) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.errors = errors


def document(status: int, detail: str, errors: Sequence[Mapping[str, Any]] = (), request_id: str = "") -> bytes:
    content: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    if request_id:
        content["request_id"] = request_id
    if errors:
        content["errors"] = [dict(error) for error in errors[:MOST_ERRORS]]
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


def response_of(problem: StarletteHTTPException, request_id: str) -> Response:
    errors = problem.errors if isinstance(problem, Problem) else ()
    return Response(document(problem.status_code, str(problem.detail), errors, request_id), problem.status_code,
                    dict(problem.headers or {}), MEDIA_TYPE)


def _place(location: Sequence[Any]) -> str:
    """Of pydantic's location, without where it begins: ("body", "stop", "confidence")."""
    return ".".join(str(part) for part in location[1:]) or str(location[0])


def _methods_of(app: FastAPI, request: Request) -> str:
    """Of all routes of the path: the one that was met knows its own alone."""
    methods: set[str] = set()
    for route in app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(methods))


def add_handlers(app: FastAPI) -> None:
    def request_id(request: Request) -> str:
        return str(request.scope.get("request_id", ""))

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, StarletteHTTPException)
        if error.status_code == 405:
            methods = _methods_of(app, request)
            error = Problem(405, f"this takes {methods}", headers={"Allow": methods})
        return response_of(error, request_id(request))

    async def on_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        errors = [{"field": _place(one["loc"]), "detail": one["msg"]} for one in error.errors()]
        detail = "; ".join(f"{one['field']}: {one['detail']}" for one in errors[:3])
        return response_of(Problem(422, detail, errors=errors), request_id(request))

    async def on_engine(request: Request, error: Exception) -> Response:
        status = 422 if isinstance(error, UsageError) else 503
        headers = {} if status == 422 else {"Retry-After": "5"}
        if status == 503:
            log.error("the engine failed: %s", error, extra={"request_id": request_id(request)})
        return response_of(Problem(status, str(error), headers=headers), request_id(request))

    async def on_anything(request: Request, error: Exception) -> Response:
        detail = "a defect of crowdfold-serve: its log tells more under this request id"
        return response_of(Problem(500, detail), request_id(request))

    app.add_exception_handler(StarletteHTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_validation)
    app.add_exception_handler(CrowdfoldError, on_engine)
    app.add_exception_handler(Exception, on_anything)
