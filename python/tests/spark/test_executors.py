"""What runs on executors, on tables of Arrow alone: no Spark is started."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crowdfold as cf
from crowdfold import rounds

ex: Any = pytest.importorskip("crowdfold.spark._executors", reason="no pyspark here: make spark installs it")


@pytest.fixture(scope="module")
def rows() -> pa.RecordBatch:
    crowd = cf.simulate(tasks=40, workers=9, classes=3, labels_per_task=4, random_state=2).to_pandas()
    columns = [crowd["task"].astype(str), *(crowd[name].astype("category").cat.codes for name in ("worker", "label"))]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], ["task", "worker", "label"])


def packed(rows: pa.RecordBatch, monkeypatch: pytest.MonkeyPatch, labels_per_chunk: int = 50) -> pa.Table:
    monkeypatch.setattr(ex, "LABELS_PER_CHUNK", labels_per_chunk)
    return pa.Table.from_batches(list(ex.pack(iter([rows]), "last", False, True)))


def numbers_of(chunks: pa.Table) -> dict[str, int]:
    counts = np.cumsum([0, *chunks.column("tasks").to_pylist()])
    return dict(zip(chunks.column("first").to_pylist(), counts.tolist()))


def by_parts(chunks: pa.Table, model: bytes, width: int) -> list[pa.Table]:
    """As cogroup brings them together: for each chunk, the parts of the model that it needs."""
    needs = pa.Table.from_batches(list(ex.needs(iter(chunks.select(["first", "workers"]).to_batches()), width)))
    found = []
    for at in sorted(set(needs.column("slice").to_pylist())):
        known = rounds.part(model, np.arange(at * width, min(9, (at + 1) * width)))
        asked = needs.filter(pa.compute.equal(needs.column("slice"), at))
        found.append(ex.cut(asked, pa.table({"slice": [at], "known": pa.array([known], pa.binary())})))
    parts = pa.concat_tables(found)
    return [parts.filter(pa.compute.equal(parts.column("first"), first)) for first in chunks.column("first").to_pylist()]


def test_parts_of_a_model_do_what_the_whole_one_does(rows: pa.RecordBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = packed(rows, monkeypatch)
    assert chunks.num_rows == 4 and chunks.column("at").to_pylist() == [0, 1, 2, 3]
    numbers = numbers_of(chunks)
    model = rounds.start("ds", workers=9, classes=3, settings={"iterations": 3})
    while not rounds.is_done(model):
        whole = next(ex.judge(iter(chunks.to_batches()), model, numbers)).column("summary")[0].as_py()
        parts = [ex.judge_by_parts(chunks.slice(i, 1), part, numbers).column("summary")[0].as_py()
                 for i, part in enumerate(by_parts(chunks, model, 4))]
        merged = next(ex.merge(iter([pa.RecordBatch.from_arrays([pa.array(parts, pa.binary())], ["summary"])]), model))
        assert rounds.merge(model, merged.column("summary")[0].as_py()) == rounds.merge(model, whole)
        model = rounds.next(model, whole)
    classes = ["a", "b", "c"]
    whole = pa.Table.from_batches(list(ex.finish(iter(chunks.to_batches()), model, numbers, classes, True)))
    parts = [ex.finish_by_parts(chunks.slice(i, 1), part, numbers, classes, True) for i, part in enumerate(by_parts(chunks, model, 4))]
    assert pa.concat_tables(parts).equals(whole)
    assert whole.column("task").to_pylist() == sorted(set(rows.column("task").to_pylist()))


def test_the_order_of_rows_and_the_size_of_chunks_change_nothing(rows: pa.RecordBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    shuffled = rows.take(pa.array(np.random.default_rng(1).permutation(rows.num_rows)))
    assert packed(rows, monkeypatch).equals(packed(shuffled, monkeypatch))
    one = packed(rows, monkeypatch, 10_000)
    assert one.num_rows == 1 and one.column("labels").to_pylist() == [160]
    assert sum(packed(rows, monkeypatch, 1).column("labels").to_pylist()) == 160


def test_a_chunk_of_abstentions_alone_is_judged_by_parts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.RecordBatch.from_arrays([pa.array(["x", "y"]), pa.array([0, 1]), pa.array([-1, 1])], ["task", "worker", "label"])
    chunks = packed(rows, monkeypatch, 1)
    model = rounds.start("ds", workers=9, classes=2, settings={"iterations": 1})
    for i, part in enumerate(by_parts(chunks, model, 4)):
        ex.judge_by_parts(chunks.slice(i, 1), part, numbers_of(chunks))


@pytest.mark.parametrize(("task", "worker", "what"), [(None, 0, "task"), ("x", ex.ABSTENTION, "worker")])
def test_a_missing_task_or_worker_is_told(task: Any, worker: int, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.RecordBatch.from_arrays([pa.array(["x", task]), pa.array([0, worker]), pa.array([1, 1])], ["task", "worker", "label"])
    chunks = packed(rows, monkeypatch)
    assert chunks.column("problem").to_pylist() == [f"no {what}: the value is missing or empty"]
    with pytest.raises(cf.DataError, match=f"no {what}: the value is missing or empty"):
        list(ex.finish(iter(chunks.to_batches()), b"", {}, ["a"], False))


def test_rows_that_change_are_refused(rows: pa.RecordBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = packed(rows, monkeypatch)
    with pytest.raises(cf.DataError, match="the DataFrame gives other rows each time"):
        list(ex.judge(iter(chunks.to_batches()), rounds.start("mv", workers=9, classes=3), {}))
