"""The live stream: the same as the command line's."""

from __future__ import annotations

import json
import resource
import threading
from pathlib import Path
from typing import Any

import pytest

import crowdfold as cf


def test_a_task_closes_by_its_rule_and_tells(tmp_path: Path) -> None:
    with cf.LiveStream(tmp_path / "s.db", labels_per_task=3) as stream:
        assert stream.add("t1", "ann", "cat")[0].label == "cat"
        stream.add("t1", "bob", "cat")
        closed = stream.add("t1", "eve", "dog")[-1]
        assert closed == ("t1", "cat", closed.confidence, 3, True, "labels")
        assert stream.totals()["closed_tasks"] == 1
        assert [w.worker for w in stream.workers()] == ["ann", "bob", "eve"]
        assert stream.add("t2", "ann", None) == []
    with pytest.raises(cf.UsageError, match="the stream is closed"):
        stream.add("t2", "ann", "cat")


def test_labels_are_taken_back_and_truths_come_late() -> None:
    stream = cf.LiveStream(labels_per_task=2)
    stream.add(1, 10, True)
    stream.add(1, 11, True)
    stream.add(2, 10, False)
    changed = stream.set_truth(1, False)
    assert changed[0].label == "False" and changed[0].closed
    assert stream.retract(2, 10)[0].label is None
    assert stream.problems() == []
    with pytest.raises(cf.DataError):
        stream.retract(2, 99)
    with pytest.raises(cf.UsageError):
        stream.add(None, 10, True)


def test_a_nul_character_in_a_name_is_refused() -> None:
    stream = cf.LiveStream()
    for event in (("a\0b", "ann", "x"), ("t", "a\0b", "x"), ("t", "ann", "a\0b")):
        with pytest.raises(cf.DataError, match="NUL character in a name, behind 'a'"):
            stream.add(*event)
    with pytest.raises(cf.DataError, match="NUL character"):
        cf.LiveStream(classes=["x", "a\0b"])
    assert stream.totals()["events"] == 0


def test_next_tasks_are_those_that_need_labels_most() -> None:
    stream = cf.LiveStream()
    for worker in "abc":
        stream.add("agreed", worker, "x")
        stream.add("disputed", worker, "x" if worker == "a" else "y")
    ranked = stream.next_tasks(2)
    assert [task.task for task in ranked] == ["disputed", "agreed"]
    assert ranked[0].gain > ranked[1].gain
    assert [u.task for u in stream.close_all()] and stream.next_tasks() == []


def test_alarms_tell_of_bad_workers() -> None:
    stream = cf.LiveStream(labels_per_task=4, alarm_below=0.5, classes=["x", "y"])
    alarmed = []
    for task in range(60):
        for worker in ("a", "b", "c", "bad"):
            stream.add(task, worker, "y" if worker == "bad" else "x")
        alarmed += stream.alarms()
    assert {w.worker for w in alarmed} == {"bad"}
    assert alarmed[0].upper < 0.5


def test_a_state_survives_and_the_command_line_reads_it(run: Any, crowd: cf.Crowd, tmp_path: Path) -> None:
    rows = list(zip(*crowd.data.values()))[:600]
    events = tmp_path / "events.jsonl"
    events.write_text("".join(json.dumps({"task": t, "worker": w, "label": label}) + "\n" for t, w, label in rows))
    told = run("stream", events, "--state", tmp_path / "cli.db", "--labels-per-task", 4, "--keep-open")
    lines: list[str] = []
    with cf.LiveStream(tmp_path / "py.db", labels_per_task=4) as stream:
        for row in rows[:300]:
            lines += stream.add(*row)
    with cf.LiveStream(tmp_path / "py.db", labels_per_task=4) as stream:
        for row in rows[300:]:
            lines += stream.add(*row)
        assert stream.add(*rows[0], id="once") is not None
        stream.retract(*rows[0][:2])
        stream.add(*rows[0])
    mine = [(u.task, u.label, u.closed) for u in lines]
    theirs = [(e["task"], e["label"], e["closed"]) for e in map(json.loads, told.splitlines())]
    assert mine == theirs
    shown = run("state", "export", tmp_path / "cli.db")
    with cf.LiveStream(tmp_path / "cli.db", read_only=True) as other:
        assert len(shown.splitlines()) - 1 == len(other.workers())
    run("state", "check", tmp_path / "py.db", "-q")


def test_streams_merge(tmp_path: Path) -> None:
    left, right = cf.LiveStream(), cf.LiveStream(tmp_path / "r.db")
    left.add("a", "u", "x")
    right.add("b", "u", "y")
    right.close_all()
    right.commit()
    left.merge(right)
    assert left.totals()["closed_tasks"] == 1 and left.totals()["open_tasks"] == 1


def test_a_block_that_raises_leaves_what_was_committed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        with cf.LiveStream(tmp_path / "s.db") as stream:
            stream.add("a", "u", "x")
            stream.commit()
            stream.add("b", "u", "x")
            raise RuntimeError
    with cf.LiveStream(tmp_path / "s.db") as stream:
        assert stream.totals()["open_tasks"] == 1


def test_a_full_disk_loses_only_what_was_not_committed(tmp_path: Path) -> None:
    stream = cf.LiveStream(tmp_path / "s.db", labels_per_task=1)
    stream.add("kept", "u", "x")
    stream.commit()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "s.db-wal").stat().st_size, before[1]))
    try:
        for i in range(1000):
            stream.add(i, "u", "x")
        with pytest.raises(cf.FileError, match="what was acknowledged is safe"):
            stream.commit()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(cf.FileError, match="failed before"):
        stream.add("more", "u", "x")
    with pytest.raises(cf.FileError, match="failed before"):
        stream.close()
    with cf.LiveStream(tmp_path / "s.db") as again:
        assert again.totals()["closed_tasks"] == 1
        assert again.problems() == []


def test_a_refused_second_stream_leaves_the_first_its_log(tmp_path: Path, run: Any) -> None:
    stream = cf.LiveStream(tmp_path / "s.db")
    stream.add("a", "u", "x")
    stream.commit()
    with pytest.raises(cf.FileError, match="another stream writes"):
        cf.LiveStream(tmp_path / "s.db")
    assert run("state", "events", tmp_path / "s.db").strip() == "1"
    assert (tmp_path / "s.db-wal").exists()
    stream.add("b", "u", "x")
    stream.close()
    assert run("state", "events", tmp_path / "s.db").strip() == "2"


def test_names_that_sqlite_takes_for_no_file_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with cf.LiveStream(":memory:") as stream:
        stream.add("a", "u", "x")
    with cf.LiveStream(":memory:", read_only=True) as stream:
        assert stream.totals()["events"] == 1
    with pytest.raises(cf.UsageError):
        cf.LiveStream("")


def test_a_stream_is_not_merged_with_itself(tmp_path: Path) -> None:
    with cf.LiveStream(tmp_path / "s.db") as stream:
        with pytest.raises(cf.UsageError, match="itself"):
            stream.merge(stream)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_text("not a database, but long enough to look like something" * 20)
    with pytest.raises((cf.DataError, cf.FileError)):
        cf.LiveStream(path)


LINES = b"""{"task": "t", "worker": "ann", "label": "cat", "id": "e1"}
{"task": "t", "worker": "bob", "label": "cat"}
"""


def test_a_batch_of_lines_is_taken_whole_or_not_at_all() -> None:
    with cf.LiveStream(labels_per_task=2) as stream:
        taken = stream.take_lines(LINES)
        assert (taken.accepted, taken.repeated, taken.refused) == (2, 0, [])
        assert [json.loads(line)["closed"] for line in taken.updates.splitlines()] == [False, True]
        assert stream.take_lines(LINES).repeated == 1
        with pytest.raises(cf.RefusedLines) as refused:
            stream.take_lines(LINES + b'{"close": "u"}\n{"task": "t"}\n')
        assert [(line.line, line.field) for line in refused.value.refused] == [(3, "close"), (4, "worker")]
        assert refused.value.line == 3
        assert stream.totals()["refused"] == 0
        partial = stream.take_lines(b'[{"close": "u"}, {"task": "v", "worker": "ann", "label": "cat"}]', partial=True)
        assert (partial.accepted, partial.refused) == (1, [cf.RefusedLine(1, "close", "there is no such task")])


def test_other_threads_run_while_lines_are_taken() -> None:
    lines = b"\n".join(b'{"task": "%d", "worker": "%d", "label": "%d"}' % (i % 5000, i % 97, i % 7) for i in range(200_000))
    began = threading.Event()
    counted = 0

    def count() -> None:
        nonlocal counted
        began.set()
        while not done.is_set():
            counted += 1

    done = threading.Event()
    with cf.LiveStream() as stream:
        thread = threading.Thread(target=count)
        thread.start()
        began.wait()
        before = counted
        stream.take_lines(lines)
        done.set()
        thread.join()
    assert counted > before + 1000


def test_a_task_is_opened_again() -> None:
    with cf.LiveStream(labels_per_task=1) as stream:
        stream.add("t", "ann", "cat")
        [update] = stream.reopen_task("t")
        assert (update.closed, update.reason) == (False, None)
        assert stream.add("t", "bob", "cat")[0].closed
