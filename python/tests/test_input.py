"""Every kind of table gives the same labels, and values come out with the dtype they went in with."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdfold as cf


def as_dict(series: Any) -> dict:
    """A result of any library, as a dictionary from text to value."""
    if isinstance(series, pd.Series):
        return {str(k): v for k, v in series.items()}
    if isinstance(series, cf.Series):
        return {str(k): v for k, v in series.items()}
    if isinstance(series, pa.Table):
        return dict(zip(map(str, series.column(0).to_pylist()), series.column(1).to_pylist()))
    return dict(zip(map(str, series[series.columns[0]].to_list()), series[series.columns[1]].to_list()))


def sources(frame: pd.DataFrame) -> dict[str, Any]:
    table = pa.Table.from_pandas(frame.astype(object))
    views = pa.table({name: table[name].cast(pa.string_view()) for name in table.column_names})
    return {
        "pandas, text": frame,
        "pandas, objects": frame.astype(object),
        "pandas, categories": frame.astype("category"),
        "pandas, Arrow": frame.astype(pd.ArrowDtype(pa.large_string())),
        "pandas, text of Python": frame.astype(pd.StringDtype("python")),
        "polars": pl.from_pandas(frame),
        "polars, lazy": pl.from_pandas(frame).lazy(),
        "polars, categories": pl.from_pandas(frame).cast(pl.Categorical),
        "pyarrow": table,
        "pyarrow, views": views,
        "pyarrow, batch": table.combine_chunks().to_batches()[0],
        "pyarrow, dictionaries": pa.table({n: table[n].dictionary_encode() for n in table.column_names}),
        "pyarrow, chunks and slices": pa.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7)]),
        "pyarrow, reader": table.to_reader(max_chunksize=101),
        "duckdb": duckdb.sql("select * from frame"),
        "numpy, objects": {n: frame[n].to_numpy(dtype=object) for n in frame},
        "numpy, text": {n: frame[n].to_numpy(dtype="U") for n in frame},
        "tuple": tuple(frame[n].to_numpy(dtype=object) for n in frame),
        "lists": {n: frame[n].tolist() for n in frame},
        "chunks of pandas": (frame.iloc[i:i + 100] for i in range(0, len(frame), 100)),
        "chunks of pyarrow": iter(table.to_batches(max_chunksize=64)),
        "chunks of polars": iter(pl.from_pandas(frame).iter_slices(50)),
        "chunks of numpy": iter([{n: frame[n].to_numpy(dtype=object) for n in frame}]),
    }


NAMES = list(sources(pd.DataFrame({"task": ["a"], "worker": ["b"], "label": ["c"]})))


@pytest.mark.parametrize("name", NAMES)
def test_every_source_gives_the_same(name: str, frame: pd.DataFrame) -> None:
    wanted = cf.TwoPass().fit(frame)
    model = cf.TwoPass().fit(sources(frame)[name])
    assert as_dict(model.labels_) == as_dict(wanted.labels_)
    assert as_dict(model.confidence_) == as_dict(wanted.confidence_)
    assert as_dict(model.skills_) == as_dict(wanted.skills_)


def test_a_file_gives_the_same(frame: pd.DataFrame, tmp_path: Any) -> None:
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    assert as_dict(cf.TwoPass().fit_predict(path)) == as_dict(cf.TwoPass().fit_predict(frame))
    renamed = frame.rename(columns={"task": "picture", "worker": "who", "label": "what"})
    renamed.to_csv(path, index=False)
    columns = {"task": "picture", "worker": "who", "label": "what"}
    assert as_dict(cf.TwoPass().fit_predict(path, columns=columns)) == as_dict(cf.TwoPass().fit_predict(frame))
    assert as_dict(cf.TwoPass().fit_predict(renamed, columns=columns)) == as_dict(cf.TwoPass().fit_predict(frame))


DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool", "object",
          "category", "Int64", "boolean", "string", "int64[pyarrow]", "string[pyarrow]", "datetime64[ns]"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_pandas_dtypes_come_back(dtype: str) -> None:
    codes = pd.DataFrame({"task": [0, 0, 0, 1, 1, 1], "worker": [0, 1, 0, 0, 1, 1], "label": [1, 1, 0, 0, 0, 1]})
    frame = codes.astype(str).astype("object").astype("category") if dtype == "category" else codes.astype(dtype)
    model = cf.MajorityVote(duplicates="keep").fit(frame)
    assert model.labels_.dtype == frame["label"].dtype
    assert model.labels_.index.dtype == frame["task"].dtype
    assert model.skills_.index.dtype == frame["worker"].dtype
    assert model.labels_.tolist() == frame["label"].iloc[[0, 3]].tolist()
    assert model.probas_.columns.dtype == frame["label"].dtype
    assert model.probas_.columns.tolist() == sorted(frame["label"].unique())
    assert model.set_params(ties="first").fit(frame).probas_.columns.tolist() == frame["label"].iloc[[0, 2]].tolist()


@pytest.mark.parametrize("dtype", [pl.Int16, pl.UInt64, pl.String, pl.Boolean, pl.Categorical, pl.Enum(["0", "1"])])
def test_polars_dtypes_come_back(dtype: Any) -> None:
    codes = pl.DataFrame({"task": [0, 0, 0, 1, 1, 1], "worker": [0, 1, 0, 0, 1, 1], "label": [1, 1, 0, 0, 0, 1]})
    frame = codes.cast(pl.String).cast(dtype) if dtype in (pl.Categorical, pl.Enum) else codes.cast(dtype)
    model = cf.MajorityVote(duplicates="keep").fit(frame)
    assert model.labels_["agg_label"].dtype == frame["label"].dtype
    assert model.labels_["task"].dtype == frame["task"].dtype
    assert model.workers_["worker"].dtype == frame["worker"].dtype
    assert model.labels_["agg_label"].to_list() == [frame["label"][0], frame["label"][3]]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint32(), pa.bool_(), pa.string(), pa.large_string(),
                                  pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.int64())])
def test_arrow_types_come_back(kind: Any) -> None:
    codes = pa.table({"task": [0, 0, 0, 1, 1, 1], "worker": [0, 1, 0, 0, 1, 1], "label": [1, 1, 0, 0, 0, 1]})
    def cast(column: Any) -> Any:
        if pa.types.is_dictionary(kind):
            return column.cast(kind.value_type).dictionary_encode().cast(kind)
        return column.cast(kind)
    table = pa.table({name: cast(codes[name]) for name in codes.column_names})
    model = cf.MajorityVote(duplicates="keep").fit(table)
    assert model.labels_["agg_label"].type == table["label"].type
    assert model.labels_["task"].type == table["task"].type
    assert model.labels_["agg_label"].to_pylist() == [table["label"][0].as_py(), table["label"][3].as_py()]
    streamed = cf.MajorityVote(duplicates="keep").fit(table.to_reader(max_chunksize=2))
    assert streamed.labels_.values.tolist() == model.labels_["agg_label"].to_pylist()


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f8", "?", ">i4", "O", "U3", "S3"])
def test_numpy_dtypes_come_back(dtype: str) -> None:
    columns = {"task": [0, 0, 0, 1, 1, 1], "worker": [0, 1, 0, 0, 1, 1], "label": [1, 1, 0, 0, 0, 1]}
    data = {name: np.array(values).astype(dtype) for name, values in columns.items()}
    model = cf.MajorityVote(duplicates="keep").fit(data)
    assert model.labels_.values.dtype == data["label"].dtype
    assert model.labels_.index.dtype == data["task"].dtype
    assert model.labels_.values.tolist() == data["label"][[0, 3]].tolist()
    strided = {name: np.repeat(column, 2)[::2] for name, column in data.items()}
    assert cf.MajorityVote(duplicates="keep").fit(strided).labels_.to_dict() == model.labels_.to_dict()


@pytest.mark.parametrize("null", ["pandas", "categories", "nullable", "polars", "pyarrow", "dictionary", "numpy", "nan"])
def test_a_null_label_is_an_abstention(null: str) -> None:
    tasks, workers = ["a", "a", "a", "b"], ["u", "v", "w", "u"]
    labels: list = ["x", None, "x", None]
    frame = pd.DataFrame({"task": tasks, "worker": workers, "label": labels})
    numbers = frame.assign(label=[1, None, 1, None])
    data: Any = {
        "pandas": frame, "categories": frame.astype("category"), "nullable": numbers.astype({"label": "Int64"}),
        "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame),
        "dictionary": pa.table({"task": tasks, "worker": workers, "label": pa.array(labels).dictionary_encode()}),
        "numpy": {"task": tasks, "worker": workers, "label": np.array(labels, dtype=object)}, "nan": numbers,
    }[null]
    model = cf.MajorityVote().fit(data)
    answers = as_dict(model.labels_)
    assert answers["a"] in ("x", 1)
    assert pd.isna(answers["b"])
    assert len(model.workers_) == 3
    assert len(as_dict(model.skills_)) == 2  # a share of no labels is none


@pytest.mark.parametrize("role", ["task", "worker"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy", "chunks"])
def test_a_null_task_or_worker_is_an_error_with_its_row(role: str, kind: str) -> None:
    frame = pd.DataFrame({"task": ["a"] * 5000, "worker": [f"w{i}" for i in range(5000)], "label": ["x"] * 5000})
    frame.loc[4321, role] = None
    data: Any = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame),
                 "numpy": {n: frame[n].to_numpy(dtype=object) for n in frame},
                 "chunks": (frame.iloc[i:i + 999] for i in range(0, 5000, 999))}[kind]
    with pytest.raises(cf.DataError, match=f"row 4321 .*no {role}"):
        cf.OnePass().fit(data)


@pytest.mark.parametrize("role", ["task", "worker", "label"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "chunks"])
def test_a_nul_character_in_a_name_is_an_error(role: str, kind: str) -> None:
    frame = pd.DataFrame({"task": ["a", "b"], "worker": ["u", "v"], "label": ["x", "y"]})
    frame.loc[1, role] = "a\0b"
    data: Any = {"pandas": frame, "polars": pl.from_pandas(frame), "chunks": iter([frame])}[kind]
    word = "class" if role == "label" else role
    with pytest.raises(cf.DataError, match=f"NUL character in the name of a {word}, behind 'a'"):
        cf.OnePass().fit(data)


def test_a_missing_column_is_an_error_that_lists_those_that_are_there() -> None:
    frame = pd.DataFrame({"task": ["a"], "colour": ["u"], "label": ["x"]})
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.to_dict("list"),
                 pa.Table.from_pandas(frame).to_reader()):
        with pytest.raises(cf.UsageError, match="no column 'worker'.*task, colour, label"):
            cf.OnePass().fit(data)
    assert cf.OnePass().fit(frame, columns={"worker": "colour"}).labels_["a"] == "x"
    with pytest.raises(cf.UsageError, match="'colour' is none of task, worker, label"):
        cf.OnePass().fit(frame, columns={"colour": "worker"})


ROWS = pd.DataFrame({"task": ["a", "a"], "worker": ["u", "v"], "label": ["x", "y"]})


@pytest.mark.parametrize(("data", "said"), [
    (ROWS.set_index("task"), r"no column 'task'; there are: worker, label \(the index is called 'task': reset_index"),
    (pd.DataFrame(), "there are: none"),
    (ROWS["task"], "labels in a Series: a table with three columns is needed"),
    (pl.Series(["a"]), "labels in a Series: a table with three columns is needed"),
    (None, "labels in a NoneType: give a DataFrame"),
    (ROWS.to_numpy(), "labels in a ndarray: give a DataFrame"),
    ([("a", "u", "x"), ("a", "v")], r"row 1 \(from 0\) has 2 values: give \(task, worker, label\)"),
    ([{"task": "a", "worker": "u"}], "no column 'label'; there are: task, worker"),
    (iter(ROWS.itertuples(index=False, name=None)), "a chunk of labels is a tuple: .* makes a table of rows"),
    ({"task": 1, "worker": 2, "label": 3}, "column 'task' is one value, 1"),
])
def test_what_is_no_table_of_labels_says_what_to_do(data: Any, said: str) -> None:
    with pytest.raises(cf.UsageError, match=said):
        cf.TwoPass().fit(data)


@pytest.mark.parametrize("names", [("item_id", "annotator", "answer"), ("Question ID", "worker_email", "Response"),
                                   ("item", "user", "rating")])
def test_columns_are_recognised_by_the_names_that_files_may_have(names: Any) -> None:
    wanted = cf.TwoPass().fit(ROWS).labels_.to_dict()
    frame = ROWS.set_axis(list(names), axis=1).assign(time=1)[["time", *names[::-1]]]
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.to_dict("list"), frame.to_dict("records"), iter([frame])):
        assert as_dict(cf.TwoPass().fit(data).labels_) == wanted
    with pytest.raises(cf.ColumnError, match="no column 'task'"):
        cf.TwoPass().fit(frame.drop(columns=names[0]))
    with pytest.raises(cf.ColumnError, match="no column 'worker'"):
        cf.TwoPass().fit(frame, columns={"task": names[0]})


def test_columns_that_only_values_tell_are_not_guessed() -> None:
    with pytest.raises(cf.ColumnError, match="no column 'task'; there are: annotator, text, label"):
        cf.TwoPass().fit(ROWS.rename(columns={"task": "text", "worker": "annotator"})[["annotator", "text", "label"]])


def test_lists_of_rows_are_tables() -> None:
    wanted = cf.TwoPass().fit(ROWS).labels_.to_dict()
    for rows in (ROWS.to_dict("records"), list(ROWS.itertuples(index=False, name=None)), list(ROWS.itertuples(index=False)),
                 ROWS.to_numpy().tolist()):
        assert cf.TwoPass().fit(rows).labels_.to_dict() == wanted
    named = [{"image": task, "who": worker, "says": label} for task, worker, label in ROWS.to_numpy().tolist()]
    columns = {"task": "image", "worker": "who", "label": "says"}
    assert cf.TwoPass().fit(named, columns=columns).labels_.to_dict() == wanted
    abstained = [*ROWS.to_dict("records"), {"task": "new", "worker": "u"}]  # no label
    assert cf.TwoPass().fit(abstained).labels_["new"] is None


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy", "chunks"])
@pytest.mark.parametrize("name", [*cf.methods.__all__])
def test_no_labels_give_no_answers(name: str, kind: str) -> None:
    empty = ROWS.iloc[:0]
    nobody = ROWS.assign(label=pd.Series([None, None], dtype=object))
    forms = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas,
             "numpy": lambda f: {n: f[n].to_numpy(dtype=object) for n in f}, "chunks": lambda f: iter([f])}
    for data, tasks in ((empty, 0), (nobody, 1)):
        model = getattr(cf, name)().fit(forms[kind](data))
        assert len(model.labels_) == len(model.probas_) == tasks
        assert all(label is None or label != label for label in as_dict(model.labels_).values())
        assert len(model.workers_) == (2 if tasks else 0)
        assert len(model.skills_) in (0, len(model.workers_))  # shares of no labels are none
        assert len(model.predict(forms[kind](data))) == tasks
        assert len(model.priors_) == 0


@pytest.mark.parametrize("name", [*cf.methods.__all__])
def test_one_class_only_is_certain(name: str) -> None:
    model = getattr(cf, name)().fit(ROWS.assign(label="x"))
    assert model.labels_.tolist() == ["x"]
    assert model.confidence_.tolist() == pytest.approx([1])
    assert model.probas_.shape == (1, 1)


def test_types_that_are_not_understood_say_so() -> None:
    table = pa.table({"task": [[1], [2]], "worker": ["u", "v"], "label": ["x", "y"]})
    with pytest.raises(cf.DataError, match="column 'task' is of type list"):
        cf.OnePass().fit(table)
    with pytest.raises(cf.DataError, match="columns differ in length: 2 tasks, 1 workers"):
        cf.OnePass().fit({"task": ["a", "b"], "worker": ["u"], "label": ["x", "y"]})
    with pytest.raises(cf.UsageError, match="labels in a int"):
        cf.OnePass().fit(7)
    with pytest.raises(cf.DataError, match="2 dimensions"):
        cf.OnePass().fit({"task": np.zeros((2, 2)), "worker": ["u"], "label": ["x"]})


def test_no_library_is_imported_unless_it_is_given() -> None:
    script = textwrap.dedent("""
        import sys
        import crowdfold
        model = crowdfold.ThreePass().fit({"task": ["a", "a"], "worker": ["u", "v"], "label": ["x", "x"]})
        model.labels_, model.probas_, model.workers_, model.errors_, model.priors_
        print([name for name in ("pandas", "polars", "pyarrow", "matplotlib", "tqdm") if name in sys.modules])
    """)
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


rows = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 2))), max_size=40)


@settings(max_examples=150, deadline=None)
@given(rows=rows, kinds=st.tuples(*[st.sampled_from(["int", "text", "category", "object", "bool", "float"])] * 3),
       rule=st.sampled_from(["last", "first", "keep"]))
def test_dtypes_do_not_matter(rows: list, kinds: tuple, rule: str) -> None:
    """Whatever the types of the columns: the same answers as for texts, under the names of the types."""
    if kinds[0] == "bool" or kinds[1] == "bool":
        rows = [(task % 2, worker % 2, label) for task, worker, label in rows]
    if kinds[2] == "bool":
        rows = [(task, worker, None if label is None else label % 2) for task, worker, label in rows]
    plain = {role: np.array([None if v is None else f"v{v}" for v in column], dtype=object)
             for role, column in zip(("task", "worker", "label"), zip(*rows) if rows else ((), (), ()))}
    wanted = cf.TwoPass(duplicates=rule).fit(plain)
    columns = {}
    for role, kind, values in zip(("task", "worker", "label"), kinds, zip(*rows) if rows else ((), (), ())):
        series = pd.Series(list(values), dtype=object)
        if kind == "text":
            series = series.map(lambda v: None if v is None else str(v)).astype("string")
        elif kind == "category":
            series = series.astype("category")
        elif kind in ("int", "bool"):
            series = series.astype("Int64" if kind == "int" else "boolean")
        elif kind == "float":
            series = series.astype("float64")
        columns[role] = series
    found = cf.TwoPass(duplicates=rule).fit(pd.DataFrame(columns))
    assert len(found.labels_) == len(wanted.labels_)
    assert found.confidence_.tolist() == wanted.confidence_.values.tolist()
    assert found.skills_.tolist() == wanted.skills_.values.tolist()
    numbers = [None if pd.isna(v) else int(v) for v in found.labels_.tolist()]
    assert numbers == [None if v is None else int(v[1:]) for v in wanted.labels_.values.tolist()]
    if rows:
        assert found.labels_.index.dtype == columns["task"].dtype
