"""Projects come, change and go."""

from __future__ import annotations

from collections.abc import Callable

from .conftest import Project, Service, label


def test_a_project_is_what_it_was_made_with(make_project: Callable[..., Project]) -> None:
    project = make_project(classes=["cat", "dog"], stop={"confidence": 0.9, "max_labels": 7}, half_life=100, alarm_below=0.6)
    document = project.ask("")
    assert document["classes"] == ["cat", "dog"]
    assert document["stop"] == {"confidence": 0.9, "min_labels": 3, "max_labels": 7, "labels_per_task": 0}
    assert (document["half_life"], document["alarm_below"]) == (100, 0.6)
    assert document["totals"] == {"events": 0, "workers": 0, "classes": 2, "open_tasks": 0, "closed_tasks": 0}


def test_a_name_is_taken_once(service: Service, project: Project) -> None:
    answer = service.client.post("/v1/projects", json={"name": project.name})
    assert answer.status_code == 409


def test_any_name_will_do(service: Service) -> None:
    for name in ("a/b", "..", "🐈", "%2F", "x y"):
        project = Project(service, name)
        path = project.path.replace(".", "%2E")
        assert service.client.get(path).json()["name"] == name
        assert service.client.delete(path).status_code == 204
        assert service.client.get(path).status_code == 404


def test_what_makes_no_sense_is_refused_with_its_field(service: Service) -> None:
    for wrong, field in (({"stop": {"confidence": 2}}, "stop.confidence"), ({"classes": ["a", "a"]}, "body"), ({"name": ""}, "name"),
                         ({"half_life": -1}, "half_life"), ({"stop": {"labels": 3}}, "stop.labels"), ({"nmae": "x"}, "nmae"),
                         ({"name": "\0"}, "name"), ({"stop": None}, "stop")):
        answer = service.client.post("/v1/projects", json={"name": "wrong", **wrong})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["field"] == field
    for body in (b"", b"{", b"[]", b'"x"', b"\xff"):
        answer = service.client.post("/v1/projects", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), (body, answer.text)


def test_the_stop_rule_changes_from_the_next_event_on(project: Project) -> None:
    project.take(label("t", "ann", "cat"))
    answer = project.client.patch(project.path, json={"stop": {"labels_per_task": 2}})
    assert answer.json()["stop"]["labels_per_task"] == 2
    assert project.take(label("t", "bob", "cat"))["updates"][-1]["closed"] is True
    assert project.client.patch(project.path, json={"classes": ["a", "b"]}).status_code == 422


def test_a_deleted_project_leaves_nothing(project: Project) -> None:
    project.take(label("t", "ann", "cat"))
    files = set(project.service.folder.glob("project-*"))
    token = project.service.new_token(role="read", project=project.name)
    assert project.client.delete(project.path).status_code == 204
    assert len(files - set(project.service.folder.glob("project-*"))) >= 1
    assert project.get("").status_code == 404
    assert project.service.client_of(token).get("/v1/projects").status_code == 401
    again = Project(project.service, project.name)
    assert again.ask("")["totals"]["events"] == 0


def test_every_answer_has_a_request_id_which_the_log_has_too(service: Service) -> None:
    given = service.client.get("/healthz", headers={"X-Request-Id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    odd = service.client.get("/healthz", headers={"X-Request-Id": "a b\tc"})
    assert odd.headers["x-request-id"] != "a b\tc"
    problem = service.client.get("/v1/none")
    assert problem.status_code == 404
    assert problem.json()["request_id"] == problem.headers["x-request-id"]
    assert service.client.put("/healthz").status_code == 405


def test_metrics_count_what_happens(service: Service, project: Project) -> None:
    project.take(label("t", "ann", "cat"))
    text = service.client.get("/metrics").text
    assert f'crowdfold_open_tasks{{project="{project.name}"}} 1.0' in text
    assert "crowdfold_commit_seconds_count" in text
    assert service.client.get("/readyz").json() == {"status": "ready"}
