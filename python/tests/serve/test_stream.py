"""Update lines as they come: server-sent events and webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import queue
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from .conftest import SECONDS, Project, Service, label


class Follower:
    """An open event stream."""

    def __init__(self, project: Project, **headers: str) -> None:
        self._client = project.service.client_of(project.service.token_file.read_text().strip())
        self._request = self._client.stream("GET", f"{project.path}/stream", headers=headers)
        answer = self._request.__enter__()
        assert answer.status_code == 200, answer.read()
        self._lines = answer.iter_lines()
        assert next(self._lines) == ": follows"

    def next(self) -> dict[str, Any]:
        event: dict[str, Any] = {}
        for line in self._lines:
            if not line and "data" in event:
                return event
            assert line != ": nothing new", event
            name, _, value = line.partition(": ")
            if name:
                event[name] = json.loads(value) if name == "data" else value
        return {}

    def close(self) -> None:
        self._request.__exit__(None, None, None)


def test_a_follower_is_told_what_changes(project: Project) -> None:
    follower = Follower(project)
    project.take(*[label("t", worker, "cat") for worker in ("ann", "bob", "cid")])
    events = [follower.next() for _ in range(3)]
    follower.close()
    assert [event["event"] for event in events] == ["task.changed", "task.closed", "project.done"]
    assert events[1]["data"]["task"] == "t"
    assert events[2]["data"] == {"project": project.name, "open_tasks": 0, "closed_tasks": 1}


def test_one_who_comes_back_goes_on_where_they_were(project: Project) -> None:
    project.take(*[label(f"t{i}", "ann", "cat") for i in range(5)])
    project.take(label("t5", "ann", "cat"))
    whole = Follower(project, **{"Last-Event-ID": "0-0"})
    first = [whole.next() for _ in range(2)]
    whole.close()
    again = Follower(project, **{"Last-Event-ID": first[-1]["id"]})
    assert [again.next()["data"]["task"] for _ in range(4)] == ["t2", "t3", "t4", "t5"]
    again.close()


def test_what_is_no_event_id_is_refused(project: Project) -> None:
    for id in ("x", "1", "1-x", "-1-2", "9" * 50 + "-1"):
        assert project.get("/stream", headers={"Last-Event-ID": id}).status_code == 422


def test_a_stream_goes_on_after_a_restart(make_service: Callable[..., Service]) -> None:
    service = make_service()
    project = Project(service, "p")
    project.take(label("t", "ann", "cat"))
    follower = Follower(project)
    assert service.stop() == 0
    assert follower.next() == {}  # it ended
    follower.close()
    service.start()
    project.take(label("u", "ann", "cat"))
    follower = Follower(project, **{"Last-Event-ID": "0-0"})
    assert [follower.next()["data"]["task"] for _ in range(2)] == ["t", "u"]
    follower.close()


class Receiver:
    """Takes messages; answers with what it is told to, 200 if nothing."""

    def __init__(self) -> None:
        self.messages: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        self.answers: queue.Queue[int] = queue.Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.messages.put((dict(self.headers.items()), body))
                self.send_response(200 if receiver.answers.empty() else receiver.answers.get())
                self.end_headers()

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def next(self) -> tuple[dict[str, str], dict[str, Any]]:
        headers, body = self.messages.get(timeout=SECONDS)
        return headers, json.loads(body)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    yield one
    one.close()


def add_webhook(project: Project, url: str, **more: Any) -> httpx.Response:
    return project.client.post(f"{project.path}/webhooks", json={"url": url, **more})


def test_messages_are_signed_and_in_order(project: Project, receiver: Receiver) -> None:
    told = add_webhook(project, receiver.url, types=["task.closed", "project.done"])
    assert told.status_code == 201, told.text
    key = base64.b64decode(told.json()["secret"].removeprefix("whsec_"))
    project.take(*[label(task, worker, "cat") for task in ("t", "u") for worker in ("ann", "bob", "cid")])
    messages = [receiver.messages.get(timeout=SECONDS) for _ in range(3)]
    assert [json.loads(body)["type"] for _, body in messages] == ["task.closed", "task.closed", "project.done"]
    assert [json.loads(body)["data"].get("task") for _, body in messages] == ["t", "u", None]
    for headers, body in messages:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        right = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        assert headers["webhook-signature"] == f"v1,{right}"


def test_a_message_comes_again_until_it_is_taken(project: Project, receiver: Receiver) -> None:
    id = add_webhook(project, receiver.url, types=["task.changed"]).json()["id"]
    receiver.answers.put(500)
    project.take(label("t", "ann", "cat"), label("u", "ann", "cat"))
    first, again, then = (receiver.next() for _ in range(3))
    assert first[0]["webhook-id"] == again[0]["webhook-id"] != then[0]["webhook-id"]
    assert [message[1]["data"]["task"] for message in (first, again, then)] == ["t", "t", "u"]
    assert project.client.delete(f"{project.path}/webhooks/{id}").status_code == 204
    assert project.ask("/webhooks") == []


def test_messages_survive_the_service(make_service: Callable[..., Service], receiver: Receiver) -> None:
    service = make_service("--private-webhooks", "true")
    project = Project(service, "p")
    receiver.answers.put(500)
    assert add_webhook(project, receiver.url, types=["task.changed"]).status_code == 201
    project.take(label("t", "ann", "cat"))
    first = receiver.next()
    service.kill()
    service.start()
    project.take(label("u", "ann", "cat"))
    again, then = receiver.next(), receiver.next()
    assert (first[0]["webhook-id"], first[1]) == (again[0]["webhook-id"], again[1])
    assert then[1]["data"]["task"] == "u"


def test_messages_do_not_go_to_private_addresses(make_service: Callable[..., Service], receiver: Receiver) -> None:
    service = make_service()
    project = Project(service, "p")
    for url in (receiver.url, receiver.url.replace("127.0.0.1", "localhost"), receiver.url.replace("127.0.0.1", "2130706433"),
                receiver.url.replace("127.0.0.1", "[::ffff:127.0.0.1]"), "http://169.254.169.254/latest", "http://10.0.0.1/"):
        answer = add_webhook(project, url)
        assert answer.status_code == 422, url
        assert "private" in answer.json()["detail"]
    assert receiver.messages.empty()


def test_what_is_no_webhook_is_refused(project: Project) -> None:
    for url in ("ftp://example.org", "http://", "http://a:b@example.org", "http://example.org:99999", "javascript:1",
                "http://exa mple.org"):
        assert add_webhook(project, url).status_code == 422, url
    assert add_webhook(project, "http://127.0.0.1", types=["task.opened"]).status_code == 422
    assert add_webhook(project, "http://127.0.0.1", secret="short").status_code == 422
    assert project.client.delete(f"{project.path}/webhooks/99999").status_code == 404


def test_an_alarm_is_told(make_project: Callable[..., Project]) -> None:
    project = make_project(stop={"labels_per_task": 4}, alarm_below=0.6)
    follower = Follower(project)
    for i in range(20):
        project.take({"truth": {"task": f"t{i}", "label": "cat"}}, label(f"t{i}", "bad", "dog"))
    while (event := follower.next())["event"] != "worker.alarm":
        pass
    follower.close()
    assert event["data"]["worker"] == "bad"
