"""/v1/projects"""

from __future__ import annotations

import time
from typing import Any, Optional

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from ..access import Administrator, Caller, CanAdminister, CanRead, TheService
from ..names import Name, require_name
from ..service import Project
from ..settings import Settings, StopRule

router = APIRouter(prefix="/v1/projects", tags=["projects"])


class NewProject(Settings):
    """A project to be made."""

    name: str = Field(min_length=1, max_length=200)


class ProjectChange(BaseModel):
    """What may be changed later; what is left out stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    stop: Optional[StopRule] = None
    alarm_below: Optional[float] = Field(None, ge=0, le=1)


class Totals(BaseModel):
    events: int
    workers: int
    classes: int
    open_tasks: int
    closed_tasks: int


class ProjectDocument(BaseModel):
    name: str
    classes: Optional[list[str]]
    stop: StopRule
    half_life: float
    alarm_below: float
    created_at: str
    totals: Totals


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


async def document(project: Project) -> ProjectDocument:
    totals: dict[str, Any] = await project.views.ask(lambda view: view.totals())
    return ProjectDocument(name=project.name, created_at=iso(project.created_at), totals=Totals(**totals),
                           **project.settings.model_dump())


@router.get("", summary="The projects that the token is for")
async def list_projects(token: Caller, service: TheService) -> list[ProjectDocument]:
    return [await document(project) for project in service.projects() if token.project in (None, project.id)]


@router.post("", status_code=201, summary="Makes a project")
async def add_project(new: NewProject, token: Administrator,
                      service: TheService) -> ProjectDocument:
    name = require_name(new.name, "name")
    settings = Settings.model_validate(new.model_dump(exclude={"name"}))
    return await document(await service.add_project(name, settings, f"token {token.id} ({token.name})"))


@router.get("/{project:name}", summary="A project and its totals")
async def get_project(project: Name, access: CanRead) -> ProjectDocument:
    return await document(access.project)


@router.patch("/{project:name}", summary="Changes when tasks close, and the line for alarms")
async def change_project(project: Name, change: ProjectChange, access: CanAdminister) -> ProjectDocument:
    before = access.project.settings
    settings = before.model_copy(update={
        "stop": change.stop or before.stop,
        "alarm_below": before.alarm_below if change.alarm_below is None else change.alarm_below})
    await access.service.change_project(access.project, settings, access.who)
    return await document(access.project)


@router.delete("/{project:name}", status_code=204, summary="Deletes a project with all that it knows")
async def delete_project(project: Name, access: CanAdminister) -> None:
    await access.service.delete_project(access.project, access.who)
