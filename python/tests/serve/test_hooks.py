"""Messages of annotation platforms."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Project


def annotation(id: int, answer: str, **more: Any) -> dict[str, Any]:
    result = [{"id": "r1", "from_name": "animal", "to_name": "img", "type": "choices", "value": {"choices": [answer]}}]
    return {"id": id, "task": 19, "completed_by": 1, "was_cancelled": False, "ground_truth": False, "result": result,
            "updated_at": "2026-03-02T13:52:48.000000Z", **more}


def tell(to: Project, action: str, status: int = 200, **more: Any) -> dict[str, Any]:
    answer = to.client.post(f"{to.path}/hooks/label-studio", json={"action": action, **more})
    assert answer.status_code == status, answer.text
    document: dict[str, Any] = answer.json()
    return document


def label_of(project: Project) -> tuple[Any, int]:
    task = project.ask("/tasks/19")
    return task["label"], task["labels"]


def test_annotations_come_change_and_go(project: Project) -> None:
    assert tell(project, "ANNOTATION_CREATED", annotation=annotation(17, "cat"), project={"id": 2}, task={"id": 19})["accepted"] == 1
    assert label_of(project) == ("cat", 1)
    tell(project, "ANNOTATION_UPDATED", annotation=annotation(17, "dog", updated_at="2026-03-02T14:00:00Z"))
    assert label_of(project) == ("dog", 1)
    tell(project, "ANNOTATIONS_CREATED", annotation=[annotation(18, "cat", completed_by={"id": 2, "email": "bob@example.org"})], task=[{}])
    assert project.ask("/workers/bob@example.org")["worker"] == "bob@example.org"
    tell(project, "ANNOTATIONS_DELETED", annotations=[{"id": 17}, {"id": 999}])
    assert label_of(project) == ("cat", 1)


def test_what_comes_late_changes_nothing(project: Project) -> None:
    tell(project, "ANNOTATION_UPDATED", annotation=annotation(17, "dog", updated_at="2026-03-02T14:00:00Z"))
    tell(project, "ANNOTATION_CREATED", annotation=annotation(17, "cat"))
    assert label_of(project) == ("dog", 1)
    tell(project, "ANNOTATIONS_DELETED", annotations=[{"id": 17}])
    tell(project, "ANNOTATION_UPDATED", annotation=annotation(17, "cat", updated_at="2026-03-02T15:00:00Z"))
    assert label_of(project) == (None, 0)


def test_a_cancelled_annotation_is_no_label_and_a_ground_truth_is_a_truth(project: Project) -> None:
    tell(project, "ANNOTATION_CREATED", annotation=annotation(17, "cat"))
    tell(project, "ANNOTATION_UPDATED", annotation=annotation(17, "cat", was_cancelled=True, updated_at="2026-03-02T14:00:00Z"))
    assert label_of(project) == (None, 0)
    tell(project, "ANNOTATION_CREATED", annotation=annotation(18, "dog", ground_truth=True))
    assert project.ask("/tasks/19")["truth"] == "dog"


def test_other_messages_are_no_business_of_ours(project: Project) -> None:
    for action in ("TASKS_CREATED", "TASKS_DELETED", "PROJECT_UPDATED"):
        assert tell(project, action, tasks=[{"id": 19}])["accepted"] == 0


@pytest.mark.parametrize("message", [{}, {"action": 7}, {"action": "ANNOTATION_CREATED"}, {"action": "ANNOTATION_CREATED", "annotation": 7},
                                     {"action": "ANNOTATION_CREATED", "annotation": {"id": 1}},
                                     {"action": "ANNOTATION_CREATED", "annotation": {"id": None}}])
def test_what_is_no_message_is_refused(project: Project, message: dict[str, Any]) -> None:
    answer = project.client.post(f"{project.path}/hooks/label-studio", json=message)
    assert answer.status_code == 422, answer.text


def test_one_of_several_questions_is_chosen(project: Project) -> None:
    several = annotation(17, "cat")
    several["result"] += [{"from_name": "quality", "type": "rating", "value": {"rating": 4}},
                          {"id": "box", "from_name": "box", "type": "rectanglelabels", "value": {}},
                          {"id": "box", "from_name": "side", "type": "choices", "value": {"choices": ["left"]}}]
    assert "?question=" in tell(project, "ANNOTATION_CREATED", 422, annotation=several)["detail"]
    answer = project.client.post(f"{project.path}/hooks/label-studio", params={"question": "quality"},
                                 json={"action": "ANNOTATION_CREATED", "annotation": several})
    assert answer.status_code == 200
    assert label_of(project) == ("4", 1)


def extract(id: int, user: Any, **data: int) -> dict[str, Any]:
    return {"id": id, "classification_id": 54000000 + id, "subject_id": 900, "user_id": user, "extractor_key": "rising",
            "machine_data": False, "data": data}


def test_caesar_gets_the_answer_of_its_extracts(project: Project) -> None:
    path = f"{project.path}/hooks/caesar"
    extracts = [extract(1, 108, yes=1), extract(2, None, yes=1), extract(3, 5, no=1)]
    for message in (extracts, extracts, {"extracts": extracts, "store": {}}):
        reduction = project.client.post(path, json=message).json()
        assert (reduction["most_likely"], reduction["num_votes"], reduction["closed"]) == ("yes", 3, True)
    assert 0.5 < reduction["confidence"] < 1
    assert project.client.post(path, json=[]).json()["num_votes"] == 0
    for wrong in ([{}], [extract(1, 1, a=1, b=1)], {"x": 1}):
        assert project.client.post(path, json=wrong).status_code == 422, wrong
