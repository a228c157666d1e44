"""/healthz, /readyz, /metrics: for those who look after the service."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from fastapi import APIRouter, Response
from pydantic import BaseModel

from ..access import Reader, TheService
from ..problems import Problem

router = APIRouter(tags=["health"])


class State(BaseModel):
    status: str


@router.get("/healthz", summary="Whether the process answers")
async def healthz() -> State:
    return State(status="ok")


@router.get("/readyz", summary="Whether events can be taken")
async def readyz(service: TheService) -> State:
    service.require_running()
    try:
        await asyncio.to_thread(service.database.require_writable)
    except sqlite3.Error as error:
        raise Problem(503, f"projects.db cannot be written: {error}") from None
    if any(project.writer.failure is not None for project in service.projects()):
        raise Problem(503, "the state of a project cannot be written: the log says which, and why")
    return State(status="ready")


@router.get("/metrics", summary="For Prometheus", response_class=Response,
            responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
async def metrics(reader: Reader, service: TheService) -> Response:
    for project in service.projects():
        service.metrics.waiting.labels(project.name).set(project.writer.waiting)
        service.metrics.log_bytes.labels(project.name).set(_size(Path(f"{project.path}-wal")))
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
