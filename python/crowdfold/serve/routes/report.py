"""GET /v1/projects/{project}/report: the report of now, a page. `crowdfold report` makes it from the project's labels and truths."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import tempfile
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from ..access import Access, CanRead
from ..names import Name
from ..problems import Problem
from ..views import View, ViewedTask
from .exports import PAGE, rows_of

router = APIRouter(prefix="/v1/projects/{project:name}", tags=["report"])

SECONDS = 300


def _truths(view: View) -> list[tuple[str, str]]:
    truths: list[tuple[str, str]] = []
    after = -1
    while tasks := [ViewedTask(*row) for row in view.tasks(None, False, after, -1.0, PAGE)]:
        truths += [(task.task, task.truth) for task in tasks if task.truth is not None]
        after = tasks[-1].id
    return truths


def policy_of(page: str) -> str:
    """Only the page's own scripts and styles run: their hashes are named."""
    def hashes(tag: str) -> str:
        contents = re.findall(rf"<{tag}(?:\s[^>]*)?>(.*?)</{tag}>", page, re.DOTALL)
        return " ".join("'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in contents)

    # Charts set attributes of style by script, which no hash can name; they can load nothing.
    return (f"default-src 'none'; script-src {hashes('script') or chr(39) + 'none' + chr(39)}; style-src-elem {hashes('style')}; "
            "style-src-attr 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")


async def _make_page(access: Access, folder: Path) -> str:
    labels = folder / "labels.csv"
    with labels.open("wb") as file:
        async for text in rows_of(access, "labels", "csv"):
            await asyncio.to_thread(file.write, text)
    command = [access.service.config.crowdfold, "report", str(labels), "--title", access.project.name, "-o", str(folder / "report.html")]
    truths = await access.project.views.ask(_truths)
    if truths:
        with (folder / "truth.jsonl").open("w", encoding="utf-8") as lines:
            for task, label in truths:
                lines.write(json.dumps({"task": task, "label": label}) + "\n")
        command += ["--truth", str(folder / "truth.jsonl")]
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
                                                       stderr=asyncio.subprocess.PIPE)
    except OSError:
        raise Problem(501, f"the program '{access.service.config.crowdfold}' makes reports, and is not there: install crowdfold, or "
                           "name it with --crowdfold") from None
    try:
        async with asyncio.timeout(SECONDS):
            _, said = await process.communicate()
    except TimeoutError:
        raise Problem(503, f"the report took longer than {SECONDS} s: make it from /export/labels.csv") from None
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        why = said.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
        raise Problem(409, f"there is nothing to report yet: {why[0].replace(str(folder) + '/', '')}")
    return (folder / "report.html").read_text(encoding="utf-8")


@router.get("/report", summary="A page to look at: tasks, workers, classes, what to do next", response_class=HTMLResponse)
async def report(project: Name, access: CanRead) -> HTMLResponse:
    with tempfile.TemporaryDirectory(prefix="crowdfold-report-") as folder:
        page = await _make_page(access, Path(folder))
    return HTMLResponse(page, headers={"Content-Security-Policy": policy_of(page)})
