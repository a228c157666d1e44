"""GET /v1/projects/{project}/export/{file}: all answers, workers or labels of one moment, streamed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any, Literal, Optional

from fastapi import APIRouter, Path
from fastapi.responses import StreamingResponse

from ..access import Access, CanRead
from ..names import Name
from ..views import View, ViewedTask, ViewedWorker

router = APIRouter(prefix="/v1/projects/{project:name}", tags=["exports"])

PAGE = 2000

File = Literal["answers.csv", "answers.jsonl", "workers.csv", "workers.jsonl", "labels.csv", "labels.jsonl"]
COLUMNS = {
    "answers": ("task", "label", "confidence", "labels", "state", "reason"),
    "workers": ("worker", "quality", "lower", "upper", "labels"),
    "labels": ("task", "worker", "label"),
}
Row = Sequence[Any]
# The rows of a page, and where the next page begins; none: there is no more.
Page = tuple[list[Row], Optional[int]]


def _answers(view: View, after: int) -> Page:
    tasks = [ViewedTask(*row) for row in view.tasks(None, False, after, -1.0, PAGE)]
    rows: list[Row] = [(task.task, task.label, None if task.label is None else task.confidence, task.labels,
                        "closed" if task.closed else "open", task.reason) for task in tasks]
    return rows, tasks[-1].id if tasks else None


def _labels(view: View, after: int) -> Page:
    tasks = view.tasks_with_labels(after, PAGE)
    rows: list[Row] = [(task[1], worker, label) for task, labels in tasks for worker, label, _ in labels]
    return rows, tasks[-1][0][0] if tasks else None


def _workers(view: View, after: int) -> Page:
    first = max(0, after)
    workers = [ViewedWorker(*row) for row in view.workers(first, PAGE)]
    return list(workers), first + len(workers) if workers else None


PAGES: dict[str, Callable[[View, int], Page]] = {"answers": _answers, "labels": _labels, "workers": _workers}


def _as_csv(columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _as_jsonl(columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    return b"".join(json.dumps(dict(zip(columns, row)), ensure_ascii=False).encode() + b"\n" for row in rows)


async def rows_of(access: Access, what: str, form: str) -> AsyncIterator[bytes]:
    columns = COLUMNS[what]
    page = PAGES[what]
    write = _as_csv if form == "csv" else _as_jsonl
    async with access.project.views.moment() as ask:
        if form == "csv":
            yield _as_csv(columns, [columns])
        after: Optional[int] = -1
        while after is not None:
            start = after

            def next_page(view: View) -> tuple[bytes, Optional[int]]:
                rows, end = page(view, start)  # noqa: B023 (called at once)
                return write(columns, rows), end

            text, after = await ask(next_page)
            if text:
                yield text


@router.get("/export/{file}", summary="All answers, workers or labels", response_class=StreamingResponse,
            responses={200: {"content": {"text/csv": {"schema": {"type": "string"}},
                                         "application/x-ndjson": {"schema": {"type": "string"}}}}})
async def export(project: Name, file: Annotated[File, Path()], access: CanRead) -> StreamingResponse:
    what, _, form = file.partition(".")
    media_type = "text/csv; charset=utf-8" if form == "csv" else "application/x-ndjson"
    return StreamingResponse(rows_of(access, what, form), media_type=media_type,
                             headers={"Content-Disposition": f'attachment; filename="{file}"'})
