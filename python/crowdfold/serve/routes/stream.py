"""GET /v1/projects/{project}/stream: update lines as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Optional

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse

from ..access import Access, CanRead
from ..feed import Place
from ..names import Name
from ..problems import Problem

router = APIRouter(prefix="/v1/projects/{project:name}", tags=["stream"])

COMMENT_SECONDS = 15
BEHIND_ALL_LINES = 1 << 60


async def _follow(access: Access, place: Place) -> AsyncIterator[bytes]:
    feed = access.project.feed
    with access.service.metrics.streams.track_inprogress():
        yield b": follows\n\n"
        while not feed.is_over and access.service.tokens.is_valid(access.token.id):
            bell = feed.bell()
            messages = await feed.after(place)
            for message in messages:
                place = message.place
                yield b"id: %s\nevent: %s\ndata: %s\n\n" % (str(place).encode(), message.type.encode(), message.line)
            while not messages and not bell.is_set() and access.service.tokens.is_valid(access.token.id):
                try:
                    async with asyncio.timeout(COMMENT_SECONDS):
                        await bell.wait()
                except TimeoutError:
                    yield b": nothing new\n\n"


@router.get("/stream", summary="What changes, as it changes", response_class=StreamingResponse,
            responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
                       410: {"description": "What came after Last-Event-ID is not kept any longer"}})
async def stream(project: Name, access: CanRead, last_event_id: Annotated[Optional[str], Header(
        max_length=100, description="go on behind this one; 0-0: all that is kept; without it, from now on")] = None) -> StreamingResponse:
    place = Place(access.project.writer.events, BEHIND_ALL_LINES)
    if last_event_id is not None:
        last = Place.parse(last_event_id)
        if last is None:
            raise Problem(422, "Last-Event-ID: this is none that was given out")
        if Place(0, 0) < last < place and await access.project.feed.has_forgotten(last):
            raise Problem(410, "what came after this Last-Event-ID is not kept any longer: fetch the answers, and follow from now on")
        place = last
    return StreamingResponse(_follow(access, place), media_type="text/event-stream",
                             headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
