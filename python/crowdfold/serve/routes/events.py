"""POST /v1/projects/{project}/events: the hot route. Its bytes go to the engine as they are."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Optional

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel

from ..access import Access, CanWrite
from ..limits import unpacked_body
from ..names import Name
from ..writer import Batch

router = APIRouter(prefix="/v1/projects", tags=["events"])

EVENT: dict[str, Any] = {
    "type": "object",
    "description": "A label {task, worker, label}, {retract: {task, worker}}, {truth: {task, label}}, {close: task}, {reopen: task} "
                   "or {summary: true}; any may have an id, and comes but once.",
    "example": {"task": "t1", "worker": "ann", "label": "cat", "id": "e1"},
}
BODY: dict[str, Any] = {"requestBody": {"required": False, "content": {
    "application/json": {"schema": {"type": "array", "items": EVENT}},
    "application/x-ndjson": {"schema": {"type": "string"}, "example": '{"task": "t1", "worker": "ann", "label": "cat"}\n'},
}}}


class RefusedEvent(BaseModel):
    line: int
    field: Optional[str]
    detail: str


class Answer(BaseModel):
    """What became of a batch, which is on disk."""

    accepted: int
    repeated: int
    refused: list[RefusedEvent]
    updates: list[dict[str, Any]]


async def answer(access: Access, batch: Batch) -> Response:
    return Response(await access.project.writer.take(batch), media_type="application/json")


@router.post("/{project:name}/events", summary="Takes events", response_model=Answer, openapi_extra=BODY)
async def take_events(
    project: Name, request: Request, access: CanWrite,
    partial: Annotated[bool, Query(description="take the other lines where some are refused")] = False,
    idempotency_key: Annotated[Optional[str], Header(min_length=1, max_length=255, description=(
        "a request with a key that came before gets the answer of that one, and changes nothing; for 24 hours"))] = None,
) -> Response:
    lines = await unpacked_body(request, access.service.config.max_body)
    body_hash = hashlib.sha256(b"partial" * partial + b"\n" + lines).digest() if idempotency_key else b""
    return await answer(access, Batch(lines, partial, idempotency_key, body_hash))
