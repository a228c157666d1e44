"""Turns input of any form into Labels of the engine, and keeps the original values of tasks, workers and classes."""

from __future__ import annotations

import csv
import functools
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _native
from ._libraries import NUMPY, Library, as_list, library_of, to_array
from ._reading import ROLES, Reading
from .errors import ColumnError, CrowdfoldError, UsageError

Path = Union[str, "os.PathLike[str]"]

# Arrow's formats of numbers -> numpy's types.
_NUMBERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
            "f": "f4", "g": "f8"}


@dataclass
class Values:
    """The original values of ids, in the order of the ids, in pieces."""

    library: Library
    pieces: List[Any] = field(default_factory=list)

    def append(self, piece: Any) -> None:
        if len(piece) > 0 or not self.pieces:
            self.pieces.append(piece)

    def get(self) -> Any:
        if not self.pieces:
            return self.library.values([], None)
        if len(self.pieces) > 1:
            some = [piece for piece in self.pieces if len(piece) > 0] or self.pieces[:1]
            self.pieces = [self.library.concat(some)]
        return self.pieces[0]

    def in_library(self, library: Library, more: Any) -> Values:
        """These values followed by `more`, all in `library`, which is that of `more`."""
        same = Values(library, list(self.pieces))
        if library is not self.library:
            known = as_list(self.get())
            same.pieces = [library.values(known, more)] if known else []
        same.append(more)
        return same

    def append_scalars(self, scalars: List[Any]) -> None:
        if scalars:
            self.append(self.library.values(scalars, self.pieces[0] if self.pieces else None))


@dataclass
class LabelTable:
    """Labels of the engine, with the original values of their new tasks, workers and classes."""

    labels: _native.Labels
    library: Library
    tasks: Any
    workers: Any
    classes: Any

    def in_library(self, library: Library) -> LabelTable:
        """The same with its values in another library."""
        if library is self.library:
            return self
        values = (library.values(as_list(each), None) for each in (self.tasks, self.workers, self.classes))
        return LabelTable(self.labels, library, *values)


def as_texts(texts: List[str]) -> Any:
    """Names of a file as an array."""
    return _texts(texts, "u")


def pick_columns(library: Library, table: Any, names: Iterable[str]) -> List[Any]:
    picked = []
    for name in names:
        try:
            picked.append(library.column(table, name))
        except (KeyError, IndexError):
            there = ", ".join(library.names(table)) or "none"
            hint = "columns=dict(task=..., worker=..., label=...) says which is which"
            if name in getattr(getattr(table, "index", None), "names", ()):
                hint = f"the index is called '{name}': reset_index() makes a column of it"
            raise ColumnError(f"no column '{name}'; there are: {there} ({hint})") from None
    return picked


@functools.lru_cache(maxsize=64)
def _recognised(names: Tuple[str, ...]) -> Optional[Tuple[str, str, str]]:
    """The columns that are task, worker and label by their names alone, as the reader of files knows them: it is given a table of one
    row, in which every value says its column."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "names.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, range(len(names))])
        try:
            labels = _native.read_file(path, {"format": "csv", "header": True}, "keep", 1, None)
        except CrowdfoldError:
            return None
    if labels.notes:  # not by names alone
        return None
    task, worker, label = (names[int(found[0])] for found in (labels.task_names(), labels.worker_names(), labels.class_names()))
    return task, worker, label


def columns_of(library: Library, table: Any, reading: Reading) -> Tuple[str, str, str]:
    """The columns of task, worker and label: those that the user named, those of these names, or those recognised."""
    names = reading.column_names()
    there = library.names(table)
    if reading.columns or all(name in there for name in names) or len(there) < len(names):
        return names
    return _recognised(tuple(map(str, there))) or names


def read(data: Any, reading: Reading, *, duplicates: str = "last", threads: int = 0, progress: Any = None) -> LabelTable:
    """Reads the labels of a table, a file, or an iterator of tables."""
    names = reading.column_names()
    reading.require_file(data)
    if isinstance(data, (str, os.PathLike)):
        return _read_file(os.fspath(data), reading, duplicates, threads, progress)
    if type(data).__name__ == "LazyFrame":
        data = data.collect()
    table, library = as_table(data)
    if library is not None and not hasattr(table, "columns") and not isinstance(table, dict):
        raise UsageError(f"labels in a {type(data).__name__}: a table with three columns is needed")
    if library is not None:
        task, worker, label = pick_columns(library, table, columns_of(library, table, reading))
        native = [library.native(column) for column in (task, worker, label)]
        labels = _native.collect(native[0], native[1], native[2], duplicates, threads, progress)
        rows = labels.first_rows()
        return LabelTable(labels, library, *(library.select(column, at)
                                             for column, at in zip((task, worker, label), rows)))
    if hasattr(data, "__arrow_c_stream__"):
        return _read_stream(data, names, duplicates, threads, progress)
    if isinstance(data, (Iterator, list, tuple)):
        return _read_chunks(iter(data), reading, duplicates, threads, progress)
    raise UsageError(f"labels in a {type(data).__name__}: give a DataFrame, an Arrow table, a dictionary "
                     "of arrays, an iterator of such chunks, or a path")


def as_table(data: Any) -> Tuple[Any, Optional[Library]]:
    library = library_of(data)
    if library is not None:
        return data, library
    if isinstance(data, list) and data:
        data = _columns_of(data)
    if isinstance(data, Mapping):
        for name, column in data.items():
            if isinstance(column, str) or not hasattr(column, "__len__"):
                raise UsageError(f"column '{name}' is one value, {column!r}: give columns, not rows "
                                 "(pandas.DataFrame(rows) makes a table of them)")
        return {name: to_array(column) for name, column in data.items()}, NUMPY
    if isinstance(data, tuple) and len(data) == 3 and not any(
            isinstance(part, (str, tuple, Mapping)) or library_of(part) for part in data):
        return dict(zip(ROLES, map(to_array, data))), NUMPY
    return data, None


def _is_value(part: Any) -> bool:
    return isinstance(part, (str, bytes)) or not hasattr(part, "__len__")


def _columns_of(rows: List[Any]) -> Any:
    """The columns of rows: tuples (task, worker, label), or dictionaries. Anything else stays as it is."""
    if all(isinstance(row, Mapping) and all(map(_is_value, row.values())) for row in rows):
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}
    if all(isinstance(row, (tuple, list)) and all(map(_is_value, row)) for row in rows):
        for place, row in enumerate(rows):
            if len(row) != len(ROLES):
                raise UsageError(f"row {place} (from 0) has {len(row)} values: give (task, worker, label)")
        return dict(zip(ROLES, map(list, zip(*rows))))
    return rows


def warn_of(path: Path, notes: Iterable[str]) -> None:
    """What looks wrong about a file, or was decided for the user. Warnings are of the caller's line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(__package__ or ""):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(f"{os.fspath(path)}: {note}", stacklevel=level)


def _read_file(path: str, reading: Reading, duplicates: str, threads: int, progress: Any) -> LabelTable:
    labels = _native.read_file(path, reading.native(), duplicates, threads, progress)
    warn_of(path, labels.notes)
    return LabelTable(labels, NUMPY, *(as_texts(names) for names in (
        labels.task_names(), labels.worker_names(), labels.class_names())))


def _read_stream(data: Any, names: Tuple[str, str, str], duplicates: str, threads: int,
                 progress: Any) -> LabelTable:
    reader = _native.ChunkReader(duplicates)
    formats = reader.add_stream(data, list(names), progress)
    labels = reader.build(threads)
    texts = (labels.task_names(), labels.worker_names(), labels.class_names())
    return LabelTable(labels, NUMPY, *(_texts(text, kind) for text, kind in zip(texts, formats)))


def _read_chunks(chunks: Iterator[Any], reading: Reading, duplicates: str, threads: int,
                 progress: Any) -> LabelTable:
    reader = _native.ChunkReader(duplicates)
    values: Dict[str, Values] = {}
    library = NUMPY
    for chunk in chunks:
        table, found = as_table(chunk)
        if found is None:
            raise UsageError(f"a chunk of labels is a {type(chunk).__name__}: give DataFrames, Arrow batches or "
                             "dictionaries of arrays (pandas.DataFrame(rows, columns=['task', 'worker', 'label']) makes "
                             "a table of rows)")
        if not values:
            library = found
            values = {role: Values(library) for role in ROLES}
        if found is not library:
            raise UsageError(f"chunks of {library.name} and of {found.name} cannot be mixed")
        picked = pick_columns(library, table, columns_of(library, table, reading))
        native = [library.native(column) for column in picked]
        new_rows = reader.add(native[0], native[1], native[2], progress)
        for role, column, rows in zip(ROLES, picked, new_rows):
            values[role].append(library.select(column, rows))
    labels = reader.build(threads)
    return LabelTable(labels, library, *(values[role].get() if values else library.values([], None)
                                         for role in ROLES))


def _texts(texts: List[str], kind: str) -> Any:
    """Turns texts back into values of Arrow's format `kind`."""
    if kind in _NUMBERS:
        number = float if kind in "fg" else int
        return np.array([number(text) for text in texts], dtype=_NUMBERS[kind])
    if kind == "b":
        return np.array([text == "True" for text in texts], dtype=bool)
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return values


def truths_by_row(data: Any, reading: Reading, truths: Any) -> Any:
    """Truths by task, if they are given by row of a table: an array or list, as scikit-learn splits them. Others stay."""
    if isinstance(truths, list) and not (truths and isinstance(truths[0], (tuple, list, Mapping))):
        truths = to_array(truths)
    if not isinstance(truths, np.ndarray) or truths.ndim != 1:
        return truths
    table, library = as_table(data)
    if library is None:
        raise UsageError(f"truths by row are for tables, not for a {type(data).__name__}: give them by task")
    tasks = as_list(pick_columns(library, table, columns_of(library, table, reading)[:1])[0])
    if len(tasks) != len(truths):
        raise UsageError(f"truths: {len(truths)} of them for {len(tasks)} rows of labels; one for each row is needed, or a Series by task")
    return {"task": tasks, "label": truths}


def truth_columns(truths: Any) -> Tuple[Any, Any, Library]:
    """Tasks and labels of known truths, from a series by task, a table with the columns task and label, a dictionary
    from task to label, or a file."""
    if isinstance(truths, (str, os.PathLike)):
        tasks, labels = _native.read_truth_file(os.fspath(truths))
        return _texts(tasks, "u"), _texts(labels, "u"), NUMPY
    return key_columns(truths, "truths", "task", "label", ", or a path")


def key_columns(given: Any, what: str, key: str, value: str, other_forms: str = "") -> Tuple[Any, Any, Library]:
    """Keys and values, from a series by key, a table with both columns, or a dictionary."""
    if isinstance(given, Mapping):
        if set(given) == {key, value} and not isinstance(given[key], str) and hasattr(given[key], "__len__"):
            return to_array(given[key]), to_array(given[value]), NUMPY
        return to_array(list(given)), to_array(list(given.values())), NUMPY
    library = library_of(given)
    if library is None:
        raise UsageError(f"{what} in a {type(given).__name__}: give a Series by {key}, a table with the columns "
                         f"{key} and {value}, a dictionary{other_forms}")
    names = library.names(given) if hasattr(given, "columns") else []
    if key in names and value in names:
        return library.column(given, key), library.column(given, value), library
    if library.is_series(given):
        return library.index_of(given), library.values_of(given), library
    raise UsageError(f"{what}: a table needs the columns {key} and {value}")


def text_of(value: Any) -> str:
    """The text by which the engine identifies a value; empty for a null."""
    if value is None or value != value:
        return ""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
