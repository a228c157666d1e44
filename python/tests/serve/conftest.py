"""A real service on loopback, and what tests ask of it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional
from urllib.parse import quote

import httpx
import pytest

collect_ignore_glob = [] if sys.version_info >= (3, 11) else ["test_*.py"]  # the service needs it

SECONDS = 60  # for what takes milliseconds on a quiet machine
ROOT = Path(__file__).resolve().parents[3]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Service:
    """The program, in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.token_file = folder.parent / f"{folder.name}.token"
        self.start()

    def start(self) -> None:
        self.lines: list[str] = []
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crowdfold.serve.main", "--folder", str(self.folder), "--listen", f"127.0.0.1:{self.port}",
             "--admin-token-file", str(self.token_file), *self.options], stderr=subprocess.PIPE, text=True)
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._ready.wait(SECONDS), self.lines
        assert any("Uvicorn running" in line for line in self.lines), self.lines
        self.client = self.client_of(self.token_file.read_text().strip())

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if "Uvicorn running" in line:
                self._ready.set()
        self._ready.set()

    def client_of(self, token: Optional[str]) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=SECONDS, trust_env=False)

    def new_token(self, **wanted: Any) -> str:
        answer = self.client.post("/v1/tokens", json={"name": "a test", **wanted})
        assert answer.status_code == 201, answer.text
        token: str = answer.json()["token"]
        return token

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        return code


class Project:
    """A project of a service, with short ways to ask."""

    def __init__(self, service: Service, name: str, **settings: Any) -> None:
        self.service = service
        self.name = name
        self.path = f"/v1/projects/{quote(name, safe='')}"
        answer = service.client.post("/v1/projects", json={"name": name, **settings})
        assert answer.status_code == 201, answer.text

    @property
    def client(self) -> httpx.Client:
        return self.service.client

    def send(self, *events: Any, **more: Any) -> httpx.Response:
        return self.client.post(f"{self.path}/events", content="\n".join(json.dumps(event) for event in events), **more)

    def take(self, *events: Any) -> dict[str, Any]:
        answer = self.send(*events)
        assert answer.status_code == 200, answer.text
        taken: dict[str, Any] = answer.json()
        return taken

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(self.path + path, **more)

    def ask(self, path: str, **more: Any) -> Any:
        answer = self.get(path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()


def label(task: str, worker: str, answer: str, **more: Any) -> dict[str, Any]:
    return {"task": task, "worker": worker, "label": answer, **more}


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    program = os.environ.get("CROWDFOLD_CLI", str(ROOT / "build" / "crowdfold"))
    service = Service(tmp_path_factory.mktemp("service") / "data", "--private-webhooks", "true", "--max-body", "1000000",
                      "--crowdfold", program)
    yield service
    if service.process.poll() is None:
        service.kill()


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """For tests that stop one, or need options of their own."""
    made: list[Service] = []

    def make(*options: str, folder: str = "data") -> Service:
        made.append(Service(tmp_path / folder, *options))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            one.kill()


NUMBERS = itertools.count()


@pytest.fixture
def make_project(service: Service) -> Callable[..., Project]:
    return lambda **settings: Project(service, f"project {next(NUMBERS)}", **settings)


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    return make_project(stop={"labels_per_task": 3})
