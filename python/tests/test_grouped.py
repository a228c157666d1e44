"""Tables that are grouped by task are read in ranges, side by side: the result is that of reading row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crowdfold as cf
from crowdfold import _native

ROWS = 4 << 16  # enough for four ranges


@pytest.fixture(scope="module")
def codes() -> dict[str, Any]:
    """Seven labels a task, a worker sometimes twice; some workers and a class appear late only."""
    random = np.random.default_rng(7)
    late = np.arange(ROWS) > ROWS // 2
    return {"task": np.arange(ROWS) // 7 * 3,
            "worker": random.integers(0, 40, ROWS) + 40 * (late & (random.random(ROWS) < 0.1)),
            "label": random.integers(0, 3, ROWS) + (late & (random.random(ROWS) < 0.1))}


def texts(codes: dict[str, Any]) -> pa.Table:
    long = {"task": "a task with a name that is long ", "worker": "w", "label": "class "}
    return pa.table({role: pa.array([long[role] + str(code) for code in values]) for role, values in codes.items()})


def in_chunks(table: pa.Table, sizes: int) -> pa.Table:
    return pa.Table.from_batches(table.to_batches(max_chunksize=sizes))


FORMS = {
    "texts": lambda table, codes: table,
    "texts in chunks": lambda table, codes: in_chunks(table, 50_001),
    "long texts": lambda table, codes: pa.table({n: table[n].cast(pa.large_string()) for n in table.column_names}),
    "views": lambda table, codes: pa.table({n: table[n].cast(pa.string_view()) for n in table.column_names}),
    "one dictionary": lambda table, codes: in_chunks(
        pa.table({n: table[n].combine_chunks().dictionary_encode() for n in table.column_names}), 50_001),
    "dictionaries": lambda table, codes: pa.concat_tables(
        [pa.table({n: part[n].combine_chunks().dictionary_encode() for n in part.column_names})
         for part in (table.slice(0, 1000), table.slice(1000, 0), table.slice(1000))]),
    "sorted categories": lambda table, codes: table.to_pandas().astype("category"),
    "integers": lambda table, codes: codes,
    "narrow integers": lambda table, codes: {**codes, "worker": codes["worker"].astype("u1"), "label": codes["label"].astype("i2")},
    "large integers": lambda table, codes: {**codes, "task": codes["task"] + (1 << 40), "worker": codes["worker"] - 50},
    "every other": lambda table, codes: {role: np.repeat(values, 2)[::2] for role, values in codes.items()},
}


def native(data: Any) -> list[Any]:
    from crowdfold._input import as_table, pick_columns

    table, library = as_table(data)
    assert library is not None
    return [library.native(column) for column in pick_columns(library, table, ("task", "worker", "label"))]


def row_by_row(columns: list[Any], duplicates: str = "last") -> tuple[Any, Any]:
    reader = _native.ChunkReader(duplicates)
    rows = reader.add(*columns, None)
    return reader.build(1), rows


def assert_same(found: Any, wanted: Any, rows: Any) -> None:
    for name in ("num_tasks", "num_workers", "num_classes", "num_labels", "rows", "abstentions", "duplicates"):
        assert getattr(found, name) == getattr(wanted, name), name
    assert found.task_names() == wanted.task_names()
    assert found.worker_names() == wanted.worker_names()
    assert found.class_names() == wanted.class_names()
    for mine, theirs in zip(found.first_rows(), rows):
        assert np.array_equal(mine, theirs)
    results = [_native.fit("twopass", [], labels, None, None, [], 0, 1, True, None)[0] for labels in (found, wanted)]
    assert np.array_equal(results[0].estimate, results[1].estimate)
    assert np.array_equal(results[0].posterior, results[1].posterior)


@pytest.mark.parametrize("form", list(FORMS))
def test_ranges_are_joined_to_what_rows_say_one_by_one(form: str, codes: dict[str, Any]) -> None:
    columns = native(FORMS[form](texts(codes), codes))
    wanted, rows = row_by_row(columns)
    assert wanted.duplicates > 0
    for threads in (1, 2, 4):
        assert_same(_native.collect(*columns, "last", threads, None), wanted, rows)


def changed(codes: dict[str, Any], role: str, row: int, value: Any) -> pa.Table:
    table = texts(codes)
    column = table[role].to_pylist()
    column[row] = value
    return table.set_column(table.column_names.index(role), role, pa.array(column))


@pytest.mark.parametrize("row", [5, ROWS // 4, ROWS // 2 + 3, ROWS - 1])
@pytest.mark.parametrize("dictionary", [False, True])
def test_rows_of_another_kind_are_found_in_every_range(row: int, dictionary: bool, codes: dict[str, Any]) -> None:
    first = texts(codes)["task"][0].as_py()
    for role, value in (("task", first), ("label", None), ("label", "")):
        table = changed(codes, role, row, value)
        if dictionary:
            table = pa.table({n: table[n].combine_chunks().dictionary_encode() for n in table.column_names})
        columns = native(table)
        wanted, rows = row_by_row(columns)
        assert_same(_native.collect(*columns, "last", 4, None), wanted, rows)
    for role in ("task", "worker"):
        with pytest.raises(cf.DataError, match=rf"^row {row} \(from 0\): no {role}"):
            _native.collect(*native(changed(codes, role, row, None)), "last", 4, None)


def test_a_second_label_is_refused_if_it_is_to_be(codes: dict[str, Any]) -> None:
    with pytest.raises(cf.DataError, match="a second time"):
        cf.MajorityVote(duplicates="error").fit(texts(codes))


def test_values_of_chunks_are_those_of_the_rows(codes: dict[str, Any]) -> None:
    """They are taken chunk by chunk."""
    table = texts(codes)
    frame = table.to_pandas()
    wanted = cf.MajorityVote().fit(frame.astype(object))
    for chunked in (in_chunks(table, 30_000), FORMS["one dictionary"](table, codes), FORMS["dictionaries"](table, codes)):
        found = cf.MajorityVote().fit(chunked)
        assert found.labels_["task"].to_pylist() == wanted.labels_.index.tolist()
        assert found.labels_["agg_label"].to_pylist() == wanted.labels_.tolist()
        assert found.labels_["task"].type == chunked["task"].type
    for dtype in (pd.StringDtype("pyarrow"), pd.ArrowDtype(pa.string())):
        pieces = pd.concat([frame.astype(dtype).iloc[:1000], frame.astype(dtype).iloc[1000:]])
        found = cf.MajorityVote().fit(pieces)
        assert found.labels_.index.dtype == dtype and found.labels_.dtype == dtype
        assert found.labels_.tolist() == wanted.labels_.tolist()
        assert found.labels_.index.tolist() == wanted.labels_.index.tolist()
