"""/v1/projects/{project}/workers"""

from __future__ import annotations

from typing import Annotated, Optional

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ..access import CanRead, CanWrite
from ..names import Name
from ..problems import Problem
from ..views import NextTask, View, ViewedWorker

router = APIRouter(prefix="/v1/projects/{project:name}/workers", tags=["workers"])


class Worker(BaseModel):
    worker: str
    quality: float = Field(description="the probability that the next label is right")
    lower: float = Field(description="of the 95 % interval")
    upper: float
    labels: float = Field(description="on closed tasks; with a half-life, as they count now")


class WorkerPage(BaseModel):
    workers: list[Worker]
    cursor: Optional[int] = Field(description="for the next page; null at the end")


class Cell(BaseModel):
    truth: str
    label: str
    count: float


class WorkerStory(Worker):
    confusion: list[Cell] = Field(description="how often they gave a label on tasks of a class, without zeros")


class Next(BaseModel):
    task: str
    label: Optional[str]
    confidence: float
    labels: int
    gain: float = Field(description="expected rise of the probability that the answer is right, from a label of this worker")


class NextTasks(BaseModel):
    tasks: list[Next]
    lease: float = Field(description="seconds for which they are kept for this worker")


@router.get("", summary="Workers and their qualities, in the order in which they came")
async def list_workers(project: Name, access: CanRead,
                       limit: Annotated[int, Query(ge=1, le=1000)] = 100,
                       cursor: Annotated[int, Query(ge=0, le=2**53)] = 0) -> WorkerPage:
    rows = await access.project.views.ask(lambda view: view.workers(cursor, limit))
    return WorkerPage(workers=[Worker(**ViewedWorker(*row)._asdict()) for row in rows],
                      cursor=cursor + limit if len(rows) == limit else None)


@router.get("/{worker:name}", summary="A worker: quality, and which classes they mix up")
async def get_worker(project: Name, worker: Name, access: CanRead) -> WorkerStory:
    found = await access.project.views.ask(lambda view: view.find_worker(worker) if "\0" not in worker else None)
    if found is None:
        raise Problem(404, f"there is no worker '{worker}'")
    summary, cells = found
    return WorkerStory(**ViewedWorker(*summary)._asdict(), confusion=[Cell(truth=truth, label=label, count=count)
                                                                      for truth, label, count in cells])


@router.get("/{worker:name}/next", summary="The open tasks where a label of this worker is worth most")
async def next_tasks(project: Name, worker: Name, access: CanWrite,
                     n: Annotated[int, Query(ge=1, le=1000)] = 1,
                     lease: Annotated[float, Query(ge=0, le=86_400, description=(
                         "seconds for which the tasks are not given to more workers than they need"))] = 60.0) -> NextTasks:
    leases = access.project.leases
    stop = access.project.settings.stop

    def choose(view: View) -> list[NextTask]:
        candidates = [NextTask(*task) for task in view.next_tasks(n + leases.leased(), worker)]
        return leases.take(worker, candidates, n, lease, stop, lambda task: _workers_of(view, task))

    chosen = await access.project.views.ask(choose)
    return NextTasks(tasks=[Next(**task._asdict()) for task in chosen], lease=lease)


def _workers_of(view: View, task: str) -> list[str]:
    found = view.find_task(task)
    return [] if found is None else [label[0] for label in found[1]]
