"""Requests made from the service's own description, right ones and wrong ones: for `make serve-test`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .conftest import Project, Service, label

CONFIG = """
[[operations]]
include-path-regex = "/v1/projects/\\\\{project\\\\}"
parameters = { project = "attacked", task = "t", worker = "ann" }
"""
# What a schema cannot say: that a cursor was given out, that a name holds no NUL, that an event is of one kind. And event streams end
# when the client does.
HOOKS = """
import schemathesis

@schemathesis.serializer("application/x-ndjson")
def as_it_is(context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
"""


def test_no_request_is_answered_but_as_described(make_service: Callable[..., Service], tmp_path: Path, cli: str) -> None:
    service = make_service("--rate", "1e6", "--burst", "1e6", "--crowdfold", cli)
    project = Project(service, "attacked", stop={"labels_per_task": 3})
    project.take(label("t", "ann", "cat"), label("t", "bob", "dog"))
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    (tmp_path / "hooks_of_attack.py").write_text(HOOKS)
    done = subprocess.run(
        [str(Path(sys.executable).parent / "st"), "--config-file", str(tmp_path / "schemathesis.toml"),
         "run", f"{service.url}/openapi.json", "-H", f"Authorization: Bearer {service.token_file.read_text().strip()}", "--checks", "all",
         "--exclude-checks", "positive_data_acceptance", "--max-examples", os.environ.get("CROWDFOLD_TEST_EXAMPLES", "100"),
         "--phases", "examples,coverage,fuzzing,stateful", "--exclude-path-regex", "/(stream|report)$", "--request-timeout", "30"],
        cwd=tmp_path, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks_of_attack", "PYTHONPATH": os.pathsep.join(
            [str(tmp_path), os.environ.get("PYTHONPATH", "")])}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert not any(" 500 " in line for line in service.lines)
    assert service.stop() == 0
