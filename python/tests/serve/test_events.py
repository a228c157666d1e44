"""What becomes of events."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator

import zstandard

from .conftest import Project, label

THREE = [label("t", "ann", "cat"), label("t", "bob", "cat"), label("t", "cid", "dog")]


def test_labels_go_in_and_an_answer_comes_out(project: Project) -> None:
    taken = project.take(*THREE)
    assert (taken["accepted"], taken["repeated"], taken["refused"]) == (3, 0, [])
    assert taken["updates"][-1] == {"task": "t", "label": "cat", "confidence": taken["updates"][-1]["confidence"], "labels": 3,
                                    "closed": True, "reason": "labels"}
    assert project.ask("/tasks/t")["state"] == "closed"


def test_an_array_is_as_good_as_lines(project: Project) -> None:
    answer = project.client.post(f"{project.path}/events", json=THREE)
    assert answer.json()["accepted"] == 3


def test_packed_bodies_are_unpacked(project: Project) -> None:
    lines = b"\n".join(json.dumps(event).encode() for event in THREE)
    for encoding, packed in (("gzip", gzip.compress(lines[:60]) + gzip.compress(lines[60:])),
                             ("zstd", zstandard.ZstdCompressor().compress(lines))):
        answer = project.client.post(f"{project.path}/events", content=packed, headers={"Content-Encoding": encoding})
        assert answer.json()["accepted"] == 3, encoding


def test_a_packed_body_that_is_damaged_or_unknown_is_refused(project: Project) -> None:
    packed = gzip.compress(b"x" * 1000)
    for encoding, body, status in (("gzip", packed[:-5], 400), ("gzip", b"no gzip", 400), ("zstd", b"no zstd", 400),
                                   ("zstd", zstandard.ZstdCompressor().compress(b"x" * 1000)[:-3], 400), ("br", b"", 415)):
        answer = project.client.post(f"{project.path}/events", content=body, headers={"Content-Encoding": encoding})
        assert answer.status_code == status, (encoding, answer.text)


def test_a_body_that_is_too_large_is_refused_however_it_comes(project: Project) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(200):
            yield b" " * 10_000

    zeros = b"\n" * 50_000_000
    for content, headers in ((b" " * 1_000_001, {}), (endless(), {}), (gzip.compress(zeros), {"Content-Encoding": "gzip"}),
                             (zstandard.ZstdCompressor().compress(zeros), {"Content-Encoding": "zstd"})):
        answer = project.client.post(f"{project.path}/events", content=content, headers=headers)
        assert answer.status_code == 413, answer.text


def test_a_batch_with_a_bad_line_is_refused_whole(project: Project) -> None:
    answer = project.client.post(f"{project.path}/events", content='{"task": "t", "worker": "ann", "label": "cat"}\n\n'
                                 '{"task": "t", "worker": "ann", "lable": "cat"}\n{"close": "u"}\nno\n')
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert [(error["line"], error["field"]) for error in document["errors"]] == [(3, "label"), (4, "close"), (5, None)]
    assert document["errors"][0]["detail"] == "no 'label' in this event; it has 'lable'"
    assert project.ask("")["totals"]["events"] == 0


def test_the_other_lines_are_taken_if_asked(project: Project) -> None:
    answer = project.send(label("t", "ann", "cat"), {"close": "u"}, params={"partial": True})
    assert answer.status_code == 200
    assert answer.json()["accepted"] == 1
    assert answer.json()["refused"] == [{"line": 2, "field": "close", "detail": "there is no such task"}]


def test_an_element_of_an_array_that_is_wrong_is_told(project: Project) -> None:
    answer = project.client.post(f"{project.path}/events", json=[label("t", "ann", "cat"), 7])
    assert answer.json()["errors"][0]["line"] == 2


def test_an_event_with_an_id_counts_once(project: Project) -> None:
    assert project.take(label("t", "ann", "cat", id="e1"))["accepted"] == 1
    assert project.take(label("t", "ann", "dog", id="e1"))["repeated"] == 1
    assert project.ask("/tasks/t")["label"] == "cat"


def test_a_request_with_a_known_key_gets_the_first_answer(project: Project) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = project.send(label("t", "ann", "cat"), headers=headers)
    again = project.send(label("t", "ann", "cat"), headers=headers)
    assert first.content == again.content
    assert project.ask("")["totals"]["events"] == 1
    other = project.send(label("t", "ann", "dog"), headers=headers)
    assert other.status_code == 422
    assert "Idempotency-Key" in other.json()["detail"]


def test_a_key_of_a_refused_batch_may_come_again(project: Project) -> None:
    headers = {"Idempotency-Key": "k1"}
    assert project.send({"close": "t"}, headers=headers).status_code == 422
    project.take(label("t", "ann", "cat"))
    assert project.send({"close": "t"}, headers=headers).status_code == 200


def test_only_the_classes_of_a_project_are_taken(make_project: Callable[..., Project]) -> None:
    project = make_project(classes=["cat", "dog"])
    answer = project.send(label("t", "ann", "cow"))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "label"


def test_nothing_is_a_batch_too(project: Project) -> None:
    assert project.take()["accepted"] == 0
