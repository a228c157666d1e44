"""Workers, and the tasks that they are sent to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Project, label


def next_of(project: Project, worker: str, **params: object) -> list[str]:
    return [task["task"] for task in project.ask(f"/workers/{worker}/next", params=params)["tasks"]]


def test_a_worker_has_a_quality_and_a_confusion(project: Project) -> None:
    project.take({"truth": {"task": "t", "label": "cat"}}, label("t", "ann", "dog"))
    ann = project.ask("/workers/ann")
    assert ann["labels"] == 1
    assert ann["lower"] < ann["quality"] < ann["upper"]
    assert ann["confusion"] == [{"truth": "cat", "label": "dog", "count": 1.0}]
    assert project.get("/workers/bob").status_code == 404
    assert [worker["worker"] for worker in project.ask("/workers")["workers"]] == ["ann"]


def test_workers_come_page_by_page(project: Project) -> None:
    project.take(*[label("t", f"w{i}", "cat") for i in range(5)])
    first = project.ask("/workers", params={"limit": 3})
    rest = project.ask("/workers", params={"limit": 3, "cursor": first["cursor"]})
    assert [worker["worker"] for worker in first["workers"] + rest["workers"]] == [f"w{i}" for i in range(5)]
    assert rest["cursor"] is None


def test_nobody_is_sent_to_a_task_that_they_labelled(project: Project) -> None:
    project.take(label("t", "ann", "cat"), label("u", "bob", "cat"))
    assert next_of(project, "ann", n=10) == ["u"]
    project.take(label("u", "ann", "cat"))
    assert next_of(project, "ann", n=10) == []


def test_two_workers_are_not_sent_to_the_same_last_label(make_project: Callable[..., Project]) -> None:
    project = make_project(stop={"labels_per_task": 2})
    project.take(label("t", "ann", "cat"), label("u", "ann", "dog"))
    first = next_of(project, "bob", n=1)
    assert next_of(project, "bob", n=1) == first  # one's own lease is no obstacle
    second = next_of(project, "cid", n=1)
    assert sorted(first + second) == ["t", "u"]
    assert next_of(project, "dan", n=1) == []
    assert next_of(project, "dan", n=1, lease=0) == []


def test_a_lease_ends_with_its_label(make_project: Callable[..., Project]) -> None:
    project = make_project(stop={"labels_per_task": 3})
    project.take(label("t", "ann", "cat"))
    assert next_of(project, "bob") == next_of(project, "cid") == ["t"]
    assert next_of(project, "dan") == []
    project.take(label("t", "bob", "cat"))
    assert next_of(project, "dan") == []  # cid's lease is the last label's
    assert next_of(project, "cid") == ["t"]


def test_a_worker_is_sent_where_they_can_tell_classes_apart(project: Project) -> None:
    for i in range(60):
        truth = ("cat", "dog", "wolf")[i % 3]
        project.take({"truth": {"task": f"g{i}", "label": truth}}, label(f"g{i}", "pat", "dog" if truth == "wolf" else truth))
    project.take(label("dog or wolf", "kim", "dog"), label("dog or wolf", "lee", "wolf"),
                 label("cat or dog", "kim", "cat"), label("cat or dog", "lee", "dog"))
    tasks = project.ask("/workers/pat/next", params={"n": 2})["tasks"]
    assert [task["task"] for task in tasks] == ["cat or dog", "dog or wolf"]
    assert tasks[0]["gain"] == pytest.approx(max(task["gain"] for task in tasks))
