"""What was acknowledged is there, whatever happens to the service."""

from __future__ import annotations

import collections
import contextlib
import hashlib
import json
import os
import random
import resource
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import crowdfold

from .conftest import SECONDS, Project, Service, label

ROUNDS = int(os.environ.get("CROWDFOLD_TEST_KILLS", "3"))


def state_of(service: Service) -> Path:
    [path] = service.folder.glob("project-*.db")
    return path


class Clients:
    """Threads that send events until the service is gone, and note what was acknowledged."""

    def __init__(self, project: Project, number: int, round: int) -> None:
        self.sent: collections.Counter[str] = collections.Counter()
        self.acknowledged: set[str] = set()
        self.some = threading.Semaphore(0)  # an acknowledgement each
        self._project = project
        self._token = project.service.token_file.read_text().strip()
        self._threads = [threading.Thread(target=self._run, args=(f"{round}-{i}",), daemon=True) for i in range(number)]
        for thread in self._threads:
            thread.start()

    def _run(self, name: str) -> None:
        draw = random.Random(name)
        with self._project.service.client_of(self._token) as client:
            for i in range(1_000_000):
                ids = [f"{name}-{i}-{j}" for j in range(draw.choice((1, 1, 1, 20)))]
                events = [label(f"t-{id}", draw.choice("abc"), draw.choice(("cat", "dog")), id=id) for id in ids]
                self.sent.update(ids)
                try:
                    answer = client.post(f"{self._project.path}/events", json=events, headers={"Idempotency-Key": f"{name}-{i}"})
                except httpx.HTTPError:
                    return
                if answer.status_code == 503:  # it stops
                    return
                assert answer.status_code == 200, answer.text
                assert answer.json()["accepted"] == len(ids)
                self.acknowledged.update(ids)
                self.some.release()

    def wait(self, answers: int) -> None:
        for _ in range(answers):
            assert self.some.acquire(timeout=SECONDS)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(SECONDS)
            assert not thread.is_alive()


def require_whole(service: Service, acknowledged: set[str], sent: set[str]) -> None:
    """All that was acknowledged is there, each once, nothing else, and the state is sound."""
    with crowdfold.LiveStream(state_of(service), read_only=True) as stream:
        assert stream.problems() == []
        totals = stream.totals()
    lines = service.client.get("/v1/projects/p/export/labels.jsonl").text.splitlines()
    tasks = {json.loads(line)["task"].removeprefix("t-") for line in lines}
    assert acknowledged <= tasks <= sent
    assert totals["events"] == len(tasks)


def test_nothing_acknowledged_is_lost_by_kill_9(make_service: Callable[..., Service]) -> None:
    service = make_service("--log", "json")
    project = Project(service, "p", stop={"labels_per_task": 2})
    draw = random.Random(1)
    acknowledged: set[str] = set()
    sent: set[str] = set()
    for round in range(ROUNDS):
        clients = Clients(project, 6, round)
        clients.wait(draw.randint(1, 40))
        service.kill()
        clients.join()
        acknowledged |= clients.acknowledged
        sent |= set(clients.sent)
        service.start()
        require_whole(service, acknowledged, sent)


def test_a_request_that_is_repeated_after_a_kill_counts_once(make_service: Callable[..., Service]) -> None:
    service = make_service()
    project = Project(service, "p")
    headers = {"Idempotency-Key": "k"}
    first = project.send(label("t", "ann", "cat"), headers=headers)
    service.kill()
    service.start()
    assert project.send(label("t", "ann", "cat"), headers=headers).content == first.content
    assert project.ask("")["totals"]["events"] == 1


def test_a_journal_that_is_ahead_of_its_state_is_put_right(make_service: Callable[..., Service]) -> None:
    """As after a crash between the two."""
    service = make_service()
    project = Project(service, "p")
    project.take(label("t", "ann", "cat"))
    service.kill()
    with contextlib.closing(sqlite3.connect(service.folder / "projects.db")) as database, database:
        body_hash = hashlib.sha256(b"\n" + json.dumps(label("u", "ann", "cat")).encode()).digest()
        database.execute("INSERT INTO feed VALUES(1, 2, ?, ?)", (time.time(), b'{"task": "u", "closed": false}'))
        database.execute("INSERT INTO answered VALUES(1, 'k', ?, 2, ?, 'never given')", (body_hash, time.time()))
        database.execute("INSERT INTO audit(at, who, what, project, events, detail) VALUES(0, 'nobody', 'nothing', 1, 2, '{}')")
    service.start()
    assert project.send(label("u", "ann", "cat"), headers={"Idempotency-Key": "k"}).json()["accepted"] == 1
    service.stop()
    with contextlib.closing(sqlite3.connect(service.folder / "projects.db")) as database:
        assert database.execute("SELECT count(*) FROM audit WHERE who = 'nobody'").fetchone() == (0,)
        assert database.execute("SELECT events FROM feed ORDER BY events").fetchall() == [(1,), (2,)]


def test_a_full_disk_loses_nothing_and_passes(make_service: Callable[..., Service]) -> None:
    service = make_service()
    project = Project(service, "p")
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
    acknowledged = 0
    for i in range(1000):
        answer = project.send(*[label(f"t-{i}-{j}", "ann", "cat") for j in range(200)])
        if answer.status_code != 200:
            break
        acknowledged += 200
    assert answer.status_code == 503, answer.text
    assert answer.headers["retry-after"]
    assert service.client.get("/readyz").status_code == 503
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    project.take(label("after", "ann", "cat"))
    assert service.client.get("/readyz").status_code == 200
    assert project.ask("")["totals"]["events"] == acknowledged + 1
    assert service.stop() == 0
    with crowdfold.LiveStream(state_of(service), read_only=True) as stream:
        assert stream.problems() == []


def test_sigterm_finishes_what_came_and_ends_with_0(make_service: Callable[..., Service]) -> None:
    service = make_service()
    project = Project(service, "p")
    clients = Clients(project, 4, 0)
    clients.wait(20)
    assert service.stop() == 0
    clients.join()
    service.start()
    require_whole(service, clients.acknowledged, set(clients.sent))


def test_requests_that_stop_halfway_hold_nothing(make_service: Callable[..., Service]) -> None:
    service = make_service("--header-seconds", "0.2", "--body-seconds", "0.2")
    project = Project(service, "p")
    token = service.token_file.read_text().strip()
    for head in ("", "POST /v1/projects/p/events HTTP/1.1\r\nHost: x\r\nX-Slow: ",):
        with socket.create_connection(("127.0.0.1", service.port), SECONDS) as connection:
            connection.sendall(head.encode())
            assert connection.recv(1000) == b""
    with socket.create_connection(("127.0.0.1", service.port), SECONDS) as connection:
        connection.sendall(f"POST {project.path}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                           "Content-Length: 100\r\n\r\n[".encode())
        assert b" 408 " in connection.recv(1000)
    assert project.ask("")["totals"]["events"] == 0


def test_a_head_without_an_end_is_cut_off(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port), SECONDS) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(1000):
                connection.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")
            assert connection.recv(1000) == b""


def test_a_state_that_cannot_be_written_is_told_and_comes_back(make_service: Callable[..., Service]) -> None:
    service = make_service()
    project = Project(service, "p")
    project.take(label("t", "ann", "cat"))
    service.stop()
    state = state_of(service)
    with crowdfold.LiveStream(state):  # somebody else writes to it
        pytest.raises(AssertionError, service.start)
    service.start()
    assert project.ask("/tasks/t")["label"] == "cat"
