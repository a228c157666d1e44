"""POST /v1/projects/{project}/hooks/{platform}: messages of annotation platforms."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Annotated, Any, Optional, TypeVar

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from ..access import Access, CanWrite
from ..database import Database
from ..hooks import caesar, label_studio
from ..hooks.label_studio import Annotation, HookError
from ..names import Name
from ..problems import Problem
from ..writer import Batch
from .events import Answer
from .tasks import find_task

router = APIRouter(prefix="/v1/projects/{project:name}/hooks", tags=["hooks"])

log = logging.getLogger("crowdfold.serve")
T = TypeVar("T")

SOURCE = "label-studio"


class Reduction(BaseModel):
    """What Caesar's rules look at."""

    most_likely: Optional[str]
    num_votes: int
    confidence: float
    closed: bool


def _read(translate: Callable[[], T]) -> T:
    try:
        return translate()
    except HookError as error:
        raise Problem(422, str(error)) from None


async def _take(access: Access, events: list[dict[str, Any]]) -> bytes:
    """The platform does not listen to reasons: they are logged."""
    answer = await access.project.writer.take(Batch("\n".join(map(json.dumps, events)).encode(), partial=True))
    refused = json.loads(answer)["refused"]
    if refused:
        log.warning("project %s: a hook's events were refused: %s", access.project.name, refused[0]["detail"])
    return answer


def _known(database: Database, project: int, ids: list[str]) -> dict[str, Annotation]:
    rows = [database.row("SELECT annotation, task, worker, updated_at FROM annotations WHERE project = ? AND source = ? AND annotation = ?",
                         (project, SOURCE, id)) for id in ids]
    return {row["annotation"]: Annotation(*row) for row in rows if row is not None}


def _remember(database: Database, project: int, annotations: list[Annotation]) -> None:
    with database.transaction() as connection:
        connection.executemany("INSERT OR REPLACE INTO annotations VALUES(?, ?, ?, ?, ?, ?)", [
            (project, SOURCE, one.id, one.task, one.worker, one.updated_at) for one in annotations])


@router.post("/label-studio", summary="Webhooks of Label Studio", response_model=Answer)
async def take_label_studio(project: Name, message: dict[str, Any], access: CanWrite, question: Annotated[Optional[str], Query(
        max_length=1000, description="the from_name to read, where there are several")] = None) -> Response:
    ids = _read(lambda: label_studio.annotations_of(message))
    database = access.service.database
    async with access.project.hooks:  # one after the other: each builds on what is known
        known = await asyncio.to_thread(_known, database, access.project.id, ids)
        translation = _read(lambda: label_studio.translate(message, question, known))
        # Before its events: a label whose annotation is not known could not be taken back.
        if translation.annotations:
            await asyncio.to_thread(_remember, database, access.project.id, translation.annotations)
        return Response(await _take(access, translation.events), media_type="application/json")


@router.post("/caesar", summary="Zooniverse's Caesar: an external reducer")
async def take_caesar(project: Name, message: list[dict[str, Any]] | dict[str, Any], access: CanWrite) -> Reduction:
    task = _read(lambda: caesar.subject_of(message))
    events = _read(lambda: caesar.translate(message))
    if events:
        await _take(access, events)
    story = await access.project.views.ask(lambda view: find_task(view, task)) if task else None
    if story is None:
        return Reduction(most_likely=None, num_votes=0, confidence=0.0, closed=False)
    return Reduction(most_likely=story.label, num_votes=story.labels, confidence=story.confidence, closed=story.state == "closed")
