"""Exports of platforms: read as on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import crowdfold as cf
from crowdfold._reading import Reading


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


def labels(rows: cf.LabelRows) -> list[str]:
    return [" ".join(row) for row in zip(rows["task"], rows["worker"], rows["label"])]


OPTIONS = [  # a file, how it is read, and what it holds then
    ("task,worker,label\nt1,a,Cat\nt1,b,cat\n", {"fold_case": True}, ["t1 a Cat", "t1 b Cat"]),
    ("task,worker,label\nt1,a,1\nt1,b,1.0\n", {"normalize": True}, ["t1 a 1", "t1 b 1"]),
    ("task,worker,label\nt1,a,?\nt1,b,x\n", {"abstain": "?"}, ["t1 b x"]),
    ("task,worker,label\nt1,a,?\nt1,b,x\nt1,c,-\n", {"abstain": ["?", "-"]}, ["t1 b x"]),
    ("task,worker,label\nt1,a,x\nt1,b,y\n", {"without_workers": "b"}, ["t1 a x"]),
    ("task,worker,label\nt1,a,x\nt1,b,y\nt1,c,y\n", {"without_workers": ["b", "c"]}, ["t1 a x"]),
    ("p,x,y\n1,a,b\n", {"wide": True}, ["1 x a", "1 y b"]),
    ("p,x,y,z\n1,a,b,c\n", {"wide_workers": ["x", "z"]}, ["1 x a", "1 z c"]),
    ("no table\nt1,a,x\n", {"skip_lines": 1, "header": False, "columns": {"task": "1", "worker": "2", "label": "3"}}, ["t1 a x"]),
    ("t1,a,x\nt1,b,x\n", {"header": True, "columns": {"task": "1", "worker": "2", "label": "3"}}, ["t1 b x"]),
    ("task,worker,label\nt1,a,x;y\nt1,b,x\n", {"multi_select": "first"}, ["t1 a x", "t1 b x"]),
    ("task,worker,label\nt1,a,x\nt1\n", {"skip_bad_rows": True}, ["t1 a x"]),
    ("task;worker;label\nt1;a;\xe4\n", {"encoding": "latin1"}, ["t1 a \xe4"]),
    ('{"task": 1, "worker": 2, "label": 3}\n', {"format": "jsonl"}, ["1 2 3"]),
]


@pytest.mark.parametrize("text, options, expected", OPTIONS, ids=[",".join(options) for _, options, _ in OPTIONS])
def test_files_are_read_with_the_options_of_the_command_line(text: str, options: dict, expected: list, tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_bytes(text.encode("latin-1"))
    assert labels(cf.read_labels(path, **options)) == expected
    tasks = dict.fromkeys(row.split()[0] for row in expected)
    assert list(cf.MajorityVote().fit(path, **options).labels_.to_dict()) == list(tasks)
    assert list(cf.MajorityVote(ties="first").fit(path, low_memory=True, **options).labels_.to_dict()) == list(tasks)


def test_every_option_of_reading_is_tested_and_on_the_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    tested = {name for _, options, _ in OPTIONS for name in options} | {"question", "with_predictions"}
    assert tested == set(Reading.__dataclass_fields__)
    for name in tested:
        assert f"`{name}`" in page
        assert f"{name} :" in (cf.read_labels.__doc__ or "")


def test_options_that_are_none_or_do_not_fit_are_refused(tmp_path: Path) -> None:
    table = {"task": [1, 1], "worker": [1, 2], "label": [1, 1]}
    with pytest.raises(TypeError, match="unexpected argument 'fold'"):
        cf.MajorityVote().fit(table, fold=True)
    with pytest.raises(cf.UsageError, match="fold_case= is for the path of a file, not for a dict"):
        cf.MajorityVote().fit(table, fold_case=True)
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\nt1,a,x\n")
    with pytest.raises(cf.UsageError, match="multi_select=last: refuse"):
        cf.read_labels(path, multi_select="last")
    with pytest.raises(cf.UsageError, match="skip_lines='two'"):
        cf.read_labels(path, skip_lines="two")


def test_warnings_are_the_same_with_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("photo,who,verdict\np1,ann,Yes\np1,bob,yes\np2,ann,no\np2,bob,N/A\np3,ann,Yes\np3,bob,Yes\np4,ann,no\n"
                    "p4,bob,no\n")
    said = []
    for low_memory in (False, True):
        with pytest.warns(UserWarning) as caught:
            cf.TwoPass().fit(path, low_memory=low_memory)
        assert {Path(warning.filename).name for warning in caught} == {"test_files.py"}
        said.append([str(warning.message) for warning in caught])
    assert said[0] == said[1]
    assert any("worked out from the values" in note for note in said[0])
    assert any("'Yes' (3 rows) and 'yes' (1 row) look like one class" in note for note in said[0])
    assert any("label 'N/A' (1 row) may mean no answer" in note for note in said[0])


def test_exports_have_notes_on_their_labels_too(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps([{"id": task, "data": {}, "annotations": [annotation(11, "Cat"), annotation(12, "cat "),
                                                                        annotation(13, "n/a")]} for task in range(3)]))
    notes = cf.read_labels(path).notes
    assert "label 'n/a' (3 rows) may mean no answer: --abstain n/a" in notes
    assert "'Cat' (3 rows) and 'cat' (3 rows) look like one class: --fold-case makes them one" in notes
    assert set(cf.read_labels(path, fold_case=True, abstain="n/a")["label"]) == {"Cat"}
    assert "--abstain never: no label is 'never'" in cf.read_labels(path, abstain="never").notes
