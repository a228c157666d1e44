"""The five minutes of docs/service.md, as they are written."""

from __future__ import annotations

import re
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

from .conftest import ROOT, Service

PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    five_minutes = PAGE.partition("## Five minutes")[2].partition("\n## ")[0]
    return [textwrap.dedent(block) for block in re.findall(r"\n\n((?:    .*\n)+)", five_minutes)]


def test_a_task_is_closed_after_five_minutes(make_service: Callable[..., Service], tmp_path: Path) -> None:
    install, *commands = blocks()
    assert install.startswith("pip install 'crowdfold[serve]'\ncrowdfold-serve --folder crowd --admin-token-file crowd.token")
    service = make_service(folder="crowd")
    script = "".join(commands).replace("http://127.0.0.1:8080", service.url)
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"task":"1.jpg","label":"cat"' in done.stdout
    assert '"state":"closed"' in done.stdout
    assert "1.jpg,cat," in done.stdout
    assert '"tasks":[{"task":"2.jpg"' in done.stdout
