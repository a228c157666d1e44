"""/v1/projects/{project}/tasks"""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, Literal, Optional

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from ..access import Access, CanRead, CanWrite
from ..journal import AuditEntry
from ..names import Name
from ..problems import Problem
from ..views import View, ViewedLabel, ViewedTask
from ..writer import Batch
from .events import Answer, answer

router = APIRouter(prefix="/v1/projects/{project:name}/tasks", tags=["tasks"])


class Task(BaseModel):
    task: str
    label: Optional[str] = Field(description="the answer")
    confidence: float
    labels: int = Field(description="how many")
    state: Literal["open", "closed"]
    reason: Optional[str] = Field(description="why it closed: labels, confidence, max_labels, truth, event")
    truth: Optional[str]
    gain: Optional[float] = Field(None, description="what one more label would bring; with sort=gain")


class TaskPage(BaseModel):
    tasks: list[Task]
    cursor: Optional[str] = Field(description="for the next page; null at the end")


class TaskLabel(BaseModel):
    worker: str
    label: str
    log_odds: float = Field(description="by how much the answer's log-odds are higher with this label than without it")


class TaskStory(Task):
    """As it would be judged now."""

    posterior: dict[str, float]
    labels_by_worker: list[TaskLabel]


class Truth(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    label: str = Field(min_length=1, max_length=10_000)


def task_document(task: ViewedTask) -> dict[str, Any]:
    return {"task": task.task, "label": task.label, "confidence": task.confidence, "labels": task.labels,
            "state": "closed" if task.closed else "open", "reason": task.reason, "truth": task.truth}


def _cursor_of(task: ViewedTask) -> str:
    return base64.urlsafe_b64encode(json.dumps([task.id, task.confidence]).encode()).decode().rstrip("=")


def _place_of(cursor: Optional[str]) -> tuple[int, float]:
    if cursor is None:
        return -1, -1.0
    try:
        id, confidence = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(id, int) or not -2**63 <= id < 2**63:
            raise ValueError
        return id, float(confidence)
    except (ValueError, TypeError):
        raise Problem(422, "cursor: this is none that was given out", errors=[{"field": "cursor", "detail": "unknown"}]) from None


@router.get("", summary="Tasks, page by page")
async def list_tasks(
    project: Name, access: CanRead,
    state: Annotated[Optional[Literal["open", "closed"]], Query()] = None,
    sort: Annotated[Literal["came", "confidence", "gain"], Query(description=(
        "in the order in which they came; the least confident first; or open tasks by what one more label would bring, "
        "one page of them"))] = "came",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100, cursor: Annotated[Optional[str], Query(max_length=1000)] = None,
) -> TaskPage:
    if sort == "gain":
        if state == "closed" or cursor is not None:
            raise Problem(422, "sort=gain is for open tasks, and has one page")
        best = await access.project.views.ask(lambda view: view.next_tasks(limit, None))
        return TaskPage(tasks=[Task(task=name, label=label, confidence=confidence, labels=labels, state="open", reason=None,
                                    truth=None, gain=gain) for name, label, confidence, labels, gain in best], cursor=None)
    closed = None if state is None else state == "closed"
    id, confidence = _place_of(cursor)
    rows = await access.project.views.ask(lambda view: view.tasks(closed, sort == "confidence", id, confidence, limit))
    tasks = [ViewedTask(*row) for row in rows]
    return TaskPage(tasks=[Task(**task_document(task)) for task in tasks], cursor=_cursor_of(tasks[-1]) if len(tasks) == limit else None)


def find_task(view: View, name: str) -> Optional[TaskStory]:
    found = view.find_task(name) if "\0" not in name else None
    if found is None:
        return None
    task, labels, posterior = found
    by_worker = [TaskLabel(**ViewedLabel(*label)._asdict()) for label in labels]
    return TaskStory(**task_document(ViewedTask(*task)), posterior=dict(posterior), labels_by_worker=by_worker)


@router.get("/{task:name}", summary="A task, and why it has its answer")
async def get_task(project: Name, task: Name, access: CanRead) -> TaskStory:
    story = await access.project.views.ask(lambda view: find_task(view, task))
    if story is None:
        raise Problem(404, f"there is no task '{task}'")
    return story


async def _tell(access: Access, what: str, event: dict[str, Any], detail: dict[str, Any]) -> Response:
    """An event that a person causes: it is audited."""
    lines = json.dumps(event).encode()
    try:
        return await answer(access, Batch(lines, audit=AuditEntry(access.who, what, detail)))
    except Problem as problem:
        reasons = [error["detail"] for error in problem.errors]
        if "there is no such task" in reasons or "this worker has no label on the task" in reasons:
            raise Problem(404, reasons[0]) from None
        raise


@router.post("/{task:name}/truth", summary="Tells the truth of a task", response_model=Answer)
async def tell_truth(project: Name, task: Name, truth: Truth, access: CanWrite) -> Response:
    event = {"truth": {"task": task, "label": truth.label}}
    return await _tell(access, "task.truth", event, {"task": task, "label": truth.label})


@router.post("/{task:name}/close", summary="Closes a task", response_model=Answer)
async def close_task(project: Name, task: Name, access: CanWrite) -> Response:
    return await _tell(access, "task.close", {"close": task}, {"task": task})


@router.post("/{task:name}/reopen", summary="Opens a task again, until its next label", response_model=Answer)
async def reopen_task(project: Name, task: Name, access: CanWrite) -> Response:
    return await _tell(access, "task.reopen", {"reopen": task}, {"task": task})


@router.delete("/{task:name}/labels/{worker:name}", summary="Takes a label back", response_model=Answer)
async def retract_label(project: Name, task: Name, worker: Name, access: CanWrite) -> Response:
    return await _tell(access, "task.retract", {"retract": {"task": task, "worker": worker}}, {"task": task, "worker": worker})
