"""Everything at once: exports and the report."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from .conftest import Project, label


def test_answers_workers_and_labels_are_exported(project: Project) -> None:
    project.take(*[label("a,b", worker, 'the "cat"') for worker in ("ann", "bob", "cid")], label("u", "ann", "dog"),
                 {"truth": {"task": "v", "label": "dog"}})
    rows = list(csv.DictReader(io.StringIO(project.get("/export/answers.csv").text)))
    assert [(row["task"], row["label"], row["state"]) for row in rows] == [
        ("a,b", 'the "cat"', "closed"), ("u", "dog", "open"), ("v", "dog", "open")]
    labels = [json.loads(line) for line in project.get("/export/labels.jsonl").text.splitlines()]
    assert labels[-1] == {"task": "u", "worker": "ann", "label": "dog"}
    assert len(labels) == 4
    workers = list(csv.DictReader(io.StringIO(project.get("/export/workers.csv").text)))
    assert [row["worker"] for row in workers] == ["ann", "bob", "cid"]
    assert float(workers[0]["labels"]) == 1


def test_an_export_of_nothing_is_its_header(project: Project) -> None:
    assert project.get("/export/labels.csv").text == "task,worker,label\n"
    assert project.get("/export/labels.jsonl").text == ""


def test_an_export_is_longer_than_a_page(project: Project) -> None:
    project.take(*[label(f"t{i}", "ann", "cat") for i in range(4500)])
    assert len(project.get("/export/answers.jsonl").text.splitlines()) == 4500


def test_there_are_exports_that_are_not(project: Project) -> None:
    assert project.get("/export/answers.xlsx").status_code == 422


def test_the_report_runs_its_own_scripts_alone(project: Project, cli: str) -> None:
    assert Path(cli).exists()
    assert project.get("/report").status_code == 409
    project.take(*[label(f"t{i}", worker, "cat" if i % 2 else "dog") for i in range(9) for worker in ("ann", "bob")])
    answer = project.get("/report")
    assert answer.status_code == 200, answer.text
    policy = answer.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline" not in policy.partition("style-src-attr")[0]


@pytest.mark.parametrize("path", ["/docs", "/docs/begin.js", "/docs/files/swagger-ui.css", "/openapi.json"])
def test_the_description_needs_nothing_from_elsewhere(project: Project, path: str) -> None:
    answer = project.client.get(path)
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "https://cdn" not in answer.text
