"""Tasks: names, why an answer is what it is, and what people change."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from .conftest import Project, label


def path_of(task: str) -> str:
    """Dots too: a client may take them for a way up."""
    return "/tasks/" + quote(task, safe="").replace(".", "%2E")


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a/../b", "%2F", "%00", "a%b", "🐈", "tasks", "x/truth", "ä ö", "\u202eabc", "a?b#c",
                                  "'; DROP TABLE tasks; --", "a\\b", "~", "+", "x" * 2000])
def test_every_name_round_trips(project: Project, name: str) -> None:
    project.take(label(name, name, name))
    story = project.ask(path_of(name))
    assert (story["task"], story["label"]) == (name, name)
    assert project.ask("/workers/" + quote(name, safe="").replace(".", "%2E"))["worker"] == name
    assert project.ask("/tasks")["tasks"][0]["task"] == name
    answer = project.client.delete(f"{project.path}{path_of(name)}/labels/{quote(name, safe='').replace('.', '%2E')}")
    assert answer.status_code == 200, answer.text


def test_a_name_with_a_nul_character_is_none(project: Project) -> None:
    assert project.get("/tasks/a%00b").status_code == 404
    answer = project.send(label("a\0b", "ann", "cat"))
    assert answer.status_code == 422
    assert "NUL" in answer.json()["detail"]
    assert project.get("/tasks/%ff%fe").status_code == 404


def test_a_task_tells_why_it_has_its_answer(project: Project) -> None:
    for i in range(10):
        truth = "cat" if i % 2 else "dog"
        project.take({"truth": {"task": f"g{i}", "label": truth}}, label(f"g{i}", "ann", truth), label(f"g{i}", "bob", "cat"))
    project.take(label("t", "ann", "dog"), label("t", "bob", "cat"))
    story = project.ask("/tasks/t")
    assert story["label"] == "dog"
    assert sum(story["posterior"].values()) == pytest.approx(1)
    assert story["posterior"]["dog"] == pytest.approx(story["confidence"])
    by_worker = {label["worker"]: label["log_odds"] for label in story["labels_by_worker"]}
    assert by_worker["ann"] > 0 > by_worker["bob"]


def test_people_tell_truths_close_reopen_and_take_labels_back(project: Project) -> None:
    project.take(label("t", "ann", "cat"), label("t", "bob", "dog"))
    post = project.client.post
    assert post(f"{project.path}/tasks/t/close").json()["accepted"] == 1
    assert project.ask("/tasks/t")["reason"] == "event"
    assert post(f"{project.path}/tasks/t/reopen").json()["updates"][0]["closed"] is False
    assert project.client.delete(f"{project.path}/tasks/t/labels/bob").json()["accepted"] == 1
    assert project.ask("/tasks/t")["labels"] == 1
    assert post(f"{project.path}/tasks/t/truth", json={"label": "dog"}).json()["updates"][0]["label"] == "dog"
    assert project.ask("/tasks/t")["truth"] == "dog"


@pytest.mark.parametrize("what", ["close", "reopen"])
def test_what_is_not_there_is_not_found(project: Project, what: str) -> None:
    answer = project.client.post(f"{project.path}/tasks/none/{what}")
    assert (answer.status_code, answer.json()["detail"]) == (404, "there is no such task")
    assert project.get("/tasks/none").status_code == 404
    project.take(label("t", "ann", "cat"))
    assert project.client.delete(f"{project.path}/tasks/t/labels/bob").status_code == 404


@pytest.mark.parametrize("sort", ["came", "confidence"])
def test_tasks_come_page_by_page(project: Project, sort: str) -> None:
    project.take(*[label(f"t{i}", f"w{j}", "cat") for i in range(7) for j in range(i % 3)])
    whole = [task["task"] for task in project.ask("/tasks", params={"sort": sort})["tasks"]]
    paged = []
    cursor = None
    while True:
        page = project.ask("/tasks", params={"sort": sort, "limit": 2, **({"cursor": cursor} if cursor else {})})
        paged += [task["task"] for task in page["tasks"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert paged == whole
    assert len(set(paged)) == len(paged) == 4


def test_tasks_are_filtered_by_their_state(project: Project) -> None:
    project.take(*[label("done", worker, "cat") for worker in ("ann", "bob", "cid")], label("open", "ann", "cat"))
    assert [task["task"] for task in project.ask("/tasks", params={"state": "closed"})["tasks"]] == ["done"]
    assert [task["task"] for task in project.ask("/tasks", params={"state": "open"})["tasks"]] == ["open"]
    gain = project.ask("/tasks", params={"sort": "gain"})["tasks"]
    assert [task["task"] for task in gain] == ["open"]


def test_a_cursor_that_was_not_given_out_is_refused(project: Project) -> None:
    for cursor in ("x", "W10", "WzEsMl0x", "é", "bnVsbA"):
        assert project.get("/tasks", params={"cursor": cursor}).status_code == 422, cursor
