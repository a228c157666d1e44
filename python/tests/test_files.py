"""Exports of platforms: read as on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import crowdfold as cf


def annotation(worker: object, choice: str, **more: object) -> dict:
    return {"completed_by": worker, "result": [{"from_name": "animal", "value": {"choices": [choice]}}], **more}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    path.write_text(json.dumps([
        {"id": 1, "data": {}, "annotations": [annotation({"id": 11, "email": "ann@example.org"}, "cat"), annotation(12, "cat"),
                                              annotation(13, "dog"), annotation(1, "cat", ground_truth=True)],
         "predictions": [{"model_version": "m1", "result": annotation(0, "dog")["result"]}]},
        {"id": 2, "data": {}, "annotations": [annotation(11, "dog"), annotation(12, "dog")]}]))
    return path


def test_an_export_is_read_with_its_truths(export: Path) -> None:
    rows = cf.read_labels(export)
    assert list(rows["task"]) == ["1", "1", "1", "2", "2"]
    assert list(rows["worker"]) == ["ann@example.org", "12", "13", "ann@example.org", "12"]
    assert rows.truth.to_dict() == {"1": "cat"}
    assert rows.format == "Label Studio JSON"
    assert "1 prediction" in rows.notes[0]
    assert cf.MajorityVote().fit(rows, true_labels=rows.truth).labels_.to_dict() == {"1": "cat", "2": "dog"}
    assert list(rows.to_pandas().columns) == ["task", "worker", "label"]


def test_predictions_and_questions_can_be_asked_for(export: Path) -> None:
    assert "model:m1" in cf.read_labels(export, with_predictions=True)["worker"]
    assert set(cf.read_labels(export, question="animal=cat")["label"]) == {"yes", "no"}
    with pytest.raises(cf.UsageError, match="no question 'colour'"):
        cf.read_labels(export, format="label-studio", question="colour")


def test_methods_take_exports_and_tables(export: Path, tmp_path: Path) -> None:
    assert cf.MajorityVote().fit(str(export)).labels_.to_dict() == {"1": "cat", "2": "dog"}
    table = tmp_path / "labels.csv"
    table.write_text("task,worker,label\nt1,ann,cat\n")
    assert dict(cf.read_labels(table, columns={"task": "task"}).to_pandas().iloc[0]) == {"task": "t1", "worker": "ann", "label": "cat"}
