"""The libraries of tables: reading their columns, and making results. A library is imported only after the user passed one
of its tables.

Results keep the dtypes of the input because they reuse its values: for every task, worker and class the engine returns the
row of its first appearance, and results are selected from those rows.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ._plain import Frame, Series
from .errors import DataError

NO_CLASS = 0xFFFF  # the engine's estimate of a task without labels


class Library:
    """numpy, and the base of the others."""

    name = "numpy"

    def column(self, table: Any, name: str) -> Any:
        """A column, in the type of this library. KeyError if there is none."""
        return to_array(table[name])

    def names(self, table: Any) -> List[str]:
        return list(table)

    def native(self, column: Any) -> Any:
        """A column in a form that the engine reads: see python_column.h."""
        return native_array(column)

    def select(self, column: Any, rows: Any) -> Any:
        return column[rows]

    def select_or_null(self, values: Any, places: Any) -> Any:
        """Like select; places of -1 become nulls."""
        if len(values) == 0 or (places < 0).any():
            filled = np.empty(len(places), dtype=object)
            there = places >= 0
            filled[there] = values[places[there]]
            return filled
        return values[places]

    def concat(self, pieces: Sequence[Any]) -> Any:
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def values(self, scalars: List[Any], like: Any) -> Any:
        """An array of Python values, with the dtype of `like` if they fit."""
        return array_like(scalars, None if like is None else like.dtype)

    def series(self, values: Any, index: Any, name: str, index_name: str) -> Any:
        return Series(values, index, name, index_name)

    def by_index(self, series: Any) -> Any:
        """Sorted by its index, where crowd-kit sorts it, too: in pandas. Values that cannot be compared stay as they are."""
        return series

    def in_order_of(self, frame: Any, rows: Any) -> Any:
        """The frame in the order of the rows of an index, in pandas, if these are all of its rows."""
        return frame

    def frame(self, index: Any, index_name: str, columns: Dict[Any, Any], columns_name: Optional[str]) -> Any:
        return Frame({index_name: index, **columns})

    def matrix(self, index: Any, classes: Any, matrix: Any) -> Any:
        """One row per task, one column per class."""
        return self.frame(index, "task", {value: matrix[:, k] for k, value in enumerate(as_list(classes))}, "label")

    def confusion(self, workers: Any, classes: Any, matrices: Any) -> Any:
        count = len(classes)
        columns: Dict[Any, Any] = {"worker": np.repeat(workers, count),
                                   "label": np.tile(classes, len(workers))}
        for k, truth in enumerate(np.asarray(classes).tolist()):
            columns[truth] = matrices[:, k, :].reshape(-1)
        return Frame(columns)

    def is_series(self, given: Any) -> bool:
        return isinstance(given, Series)

    def index_of(self, series: Any) -> Any:
        return series.index

    def values_of(self, series: Any) -> Any:
        return series.values


def _is_plain(array: Any) -> bool:
    """Whether `array` is pandas' wrapper of a numpy array; pandas has renamed that class."""
    return type(array).__name__ in ("NumpyExtensionArray", "PandasArray")


def _is_arrow(array: Any) -> bool:
    """Whether an array of pandas is backed by Arrow."""
    return hasattr(array, "__arrow_array__") and (hasattr(array.dtype, "pyarrow_dtype")
                                                  or getattr(array.dtype, "storage", "") == "pyarrow")


class Pandas(Library):
    name = "pandas"

    def column(self, table: Any, name: str) -> Any:
        column = table[name]
        if column.ndim != 1:
            raise DataError(f"there are several columns '{name}'")
        return column.array

    def names(self, table: Any) -> List[str]:
        return [str(name) for name in table.columns]

    def native(self, column: Any) -> Any:
        import pandas

        if isinstance(column, (pandas.Series, pandas.Index)):
            column = column.array
        dtype = column.dtype
        if isinstance(dtype, pandas.CategoricalDtype):
            return (column.codes, self.native(column.categories), None)
        if _is_arrow(column):
            return column.__arrow_array__()
        if isinstance(column, (pandas.arrays.IntegerArray, pandas.arrays.FloatingArray, pandas.arrays.BooleanArray)):
            kind = bool if isinstance(column, pandas.arrays.BooleanArray) else dtype.numpy_dtype
            return (native_array(column.to_numpy(dtype=kind, na_value=0)), column.isna())
        return native_array(np.asarray(column))

    def select(self, column: Any, rows: Any) -> Any:
        if _is_arrow(column):
            native = column.__arrow_array__()
            if getattr(native, "num_chunks", 1) > 1:
                return column.dtype.__from_arrow__(ARROW.select(native, rows))
        return column.take(rows.astype(np.intp))

    def select_or_null(self, values: Any, places: Any) -> Any:
        import pandas

        if (places < 0).any():
            inner = values.to_numpy() if _is_plain(values) else values
            return pandas.api.extensions.take(inner, places.astype(np.intp), allow_fill=True)
        return values.take(places.astype(np.intp))

    def concat(self, pieces: Sequence[Any]) -> Any:
        import pandas

        if len(pieces) == 1:
            return pieces[0]
        return pandas.concat([pandas.Series(piece) for piece in pieces], ignore_index=True).array

    def values(self, scalars: List[Any], like: Any) -> Any:
        import pandas

        if like is not None:
            try:
                made = pandas.array(scalars, dtype=like.dtype)
                if not pandas.isna(made).any():
                    return made
            except (TypeError, ValueError):
                pass
        return pandas.Series(scalars).array

    def series(self, values: Any, index: Any, name: str, index_name: str) -> Any:
        import pandas

        return pandas.Series(values, index=pandas.Index(index, name=index_name), name=name)

    def by_index(self, series: Any) -> Any:
        try:
            return series.sort_index()
        except TypeError:
            return series

    def in_order_of(self, frame: Any, rows: Any) -> Any:
        if rows is None or len(rows) != len(frame) or rows.has_duplicates or not frame.index.isin(rows).all():
            return frame
        return frame.reindex(rows)

    def frame(self, index: Any, index_name: str, columns: Dict[Any, Any], columns_name: Optional[str]) -> Any:
        import pandas

        frame = pandas.DataFrame(columns, index=pandas.Index(index, name=index_name))
        frame.columns.name = columns_name
        return frame

    def matrix(self, index: Any, classes: Any, matrix: Any) -> Any:
        import pandas

        return pandas.DataFrame(matrix, index=pandas.Index(index, name="task"),
                                columns=pandas.Index(classes, name="label"))

    def confusion(self, workers: Any, classes: Any, matrices: Any) -> Any:
        import pandas

        index = pandas.MultiIndex.from_product(
            [pandas.Index(workers), pandas.Index(classes)], names=["worker", "label"])
        count = len(classes)
        return pandas.DataFrame(matrices.transpose(0, 2, 1).reshape(-1, count), index=index,
                                columns=pandas.Index(classes))

    def is_series(self, given: Any) -> bool:
        import pandas

        return isinstance(given, pandas.Series)

    def index_of(self, series: Any) -> Any:
        return series.index.array

    def values_of(self, series: Any) -> Any:
        return series.array


class Polars(Library):
    name = "polars"

    def column(self, table: Any, name: str) -> Any:
        import polars

        if name not in table.columns:
            raise KeyError(name)
        column = table[name]
        known = (polars.String, polars.Categorical, polars.Enum, polars.Boolean)
        if not (column.dtype in known or column.dtype.is_numeric() or column.dtype == polars.Null):
            raise DataError(f"column '{name}' is of type {column.dtype}: text, integers, booleans, "
                            "floats and categories are understood")
        return column

    def names(self, table: Any) -> List[str]:
        return list(table.columns)

    def native(self, column: Any) -> Any:
        return column

    def select(self, column: Any, rows: Any) -> Any:
        return column.gather(rows)

    def select_or_null(self, values: Any, places: Any) -> Any:
        import polars

        return values.gather(polars.Series(places).replace(-1, None))

    def concat(self, pieces: Sequence[Any]) -> Any:
        import polars

        if len(pieces) == 1:
            return pieces[0]
        if len({piece.dtype for piece in pieces}) > 1:
            return polars.Series([value for piece in pieces for value in piece.to_list()], strict=False)
        return polars.concat([piece.alias("") for piece in pieces])

    def values(self, scalars: List[Any], like: Any) -> Any:
        import polars

        try:
            return polars.Series(scalars, dtype=None if like is None else like.dtype)
        except (TypeError, polars.exceptions.PolarsError):
            return polars.Series(scalars, strict=False)

    def series(self, values: Any, index: Any, name: str, index_name: str) -> Any:
        import polars

        return polars.DataFrame({index_name: index, name: values})

    def frame(self, index: Any, index_name: str, columns: Dict[Any, Any], columns_name: Optional[str]) -> Any:
        import polars

        return polars.DataFrame({index_name: index, **{str(k): v for k, v in columns.items()}})

    def confusion(self, workers: Any, classes: Any, matrices: Any) -> Any:
        import polars

        count = len(classes)
        places = np.arange(len(workers) * count)
        columns = {"worker": workers.gather(places // count), "label": classes.gather(places % count)}
        for k, truth in enumerate(classes.to_list()):
            columns[str(truth)] = polars.Series(matrices[:, k, :].reshape(-1))
        return polars.DataFrame(columns)

    def is_series(self, given: Any) -> bool:
        return hasattr(given, "columns") and len(given.columns) == 2

    def index_of(self, series: Any) -> Any:
        return series[series.columns[0]]

    def values_of(self, series: Any) -> Any:
        return series[series.columns[1]]


class Arrow(Library):
    name = "pyarrow"

    def column(self, table: Any, name: str) -> Any:
        return table.column(name)

    def names(self, table: Any) -> List[str]:
        return list(table.column_names)

    def native(self, column: Any) -> Any:
        return column

    def select(self, column: Any, rows: Any) -> Any:
        if getattr(column, "num_chunks", 1) < 2:
            return self._select(column, rows)
        # Chunk by chunk, because rows are sorted: pyarrow would join all chunks before it selects a few values.
        ends = np.cumsum([len(chunk) for chunk in column.chunks])
        cuts = np.searchsorted(rows, ends)
        pieces = []
        for chunk, end, first, last in zip(column.chunks, ends, [0, *cuts], cuts):
            if first < last:
                pieces.append(self._select(chunk, rows[first:last] - np.uint64(end - len(chunk))))
        return self.concat(pieces or [column.chunk(0).slice(0, 0)])

    @staticmethod
    def _share_dictionary(pieces: Sequence[Any]) -> bool:
        """Whether dictionaries share memory; then they are equal, without a comparison."""
        def place(piece: Any) -> Any:
            values = piece.dictionary
            return len(values), values.offset, [buffer and buffer.address for buffer in values.buffers()]

        first = place(pieces[0])
        return all(place(piece) == first for piece in pieces[1:])

    def select_or_null(self, values: Any, places: Any) -> Any:
        import pyarrow

        return self._select(values, pyarrow.array(places, mask=places < 0))

    @staticmethod
    def _select(column: Any, rows: Any) -> Any:
        import pyarrow

        try:
            taken = column.take(rows)
        except pyarrow.ArrowNotImplementedError:  # pyarrow cannot select from string views
            places = rows.to_pylist() if hasattr(rows, "to_pylist") else rows.tolist()
            return pyarrow.array([None if i is None else column[i].as_py() for i in places], type=column.type)
        return taken.combine_chunks() if hasattr(taken, "combine_chunks") else taken

    def concat(self, pieces: Sequence[Any]) -> Any:
        import pyarrow

        if len(pieces) == 1:
            return pieces[0]
        types = {piece.type for piece in pieces}
        if len(types) > 1:
            return pyarrow.array([value for piece in pieces for value in piece.to_pylist()])
        if pyarrow.types.is_dictionary(pieces[0].type):
            if self._share_dictionary(pieces):
                codes = pyarrow.concat_arrays([piece.indices for piece in pieces])
                return pyarrow.DictionaryArray.from_arrays(codes, pieces[0].dictionary, ordered=pieces[0].type.ordered)
            return pyarrow.chunked_array(pieces).unify_dictionaries().combine_chunks()
        return pyarrow.concat_arrays(pieces)

    def values(self, scalars: List[Any], like: Any) -> Any:
        import pyarrow

        try:
            return pyarrow.array(scalars, type=None if like is None else like.type)
        except pyarrow.ArrowException:
            return pyarrow.array(scalars)

    def series(self, values: Any, index: Any, name: str, index_name: str) -> Any:
        import pyarrow

        return pyarrow.table({index_name: index, name: values})

    def frame(self, index: Any, index_name: str, columns: Dict[Any, Any], columns_name: Optional[str]) -> Any:
        import pyarrow

        return pyarrow.table({index_name: index, **{str(k): v for k, v in columns.items()}})

    def confusion(self, workers: Any, classes: Any, matrices: Any) -> Any:
        import pyarrow

        count = len(classes)
        places = np.arange(len(workers) * count)
        columns = {"worker": self._select(workers, places // count), "label": self._select(classes, places % count)}
        for k, truth in enumerate(classes.to_pylist()):
            columns[str(truth)] = pyarrow.array(matrices[:, k, :].reshape(-1))
        return pyarrow.table(columns)

    def is_series(self, given: Any) -> bool:
        return hasattr(given, "column_names") and len(given.column_names) == 2

    def index_of(self, series: Any) -> Any:
        return series.column(0)

    def values_of(self, series: Any) -> Any:
        return series.column(1)


NUMPY = Library()
PANDAS = Pandas()
POLARS = Polars()
ARROW = Arrow()


def library_of(table: Any) -> Optional[Library]:
    """The library of a table or series; None for any other object."""
    if isinstance(table, (Series, Frame)):
        return NUMPY
    kind = type(table)
    root = kind.__module__.split(".")[0]
    if root == "pandas" and kind.__name__ in ("DataFrame", "Series"):
        return PANDAS
    if root == "polars" and kind.__name__ in ("DataFrame", "Series"):
        return POLARS
    if root == "pyarrow" and kind.__name__ in ("Table", "RecordBatch"):
        return ARROW
    for name, library in (("pandas", PANDAS), ("polars", POLARS)):  # subclasses
        module = sys.modules.get(name)
        if module is not None and isinstance(table, module.DataFrame):
            return library
    return None


def as_list(values: Any) -> List[Any]:
    """Values of any library, as a list of Python objects."""
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, way):
            return list(getattr(values, way)())
    return list(values)


def array_like(scalars: List[Any], dtype: Any) -> Any:
    if dtype is not None and dtype != object:  # noqa: E721 (numpy compares)
        try:
            made = np.array(scalars, dtype=dtype)
            if made.tolist() == scalars:
                return made
        except (TypeError, ValueError, OverflowError):
            pass
    made = np.empty(len(scalars), dtype=object)
    made[:] = scalars
    return made


def to_array(values: Any) -> Any:
    """A column of a dictionary or tuple, as a numpy array. Lists keep their objects."""
    if isinstance(values, (list, tuple)):
        plain = np.asarray(values) if values and not isinstance(values[0], str) else None
        if plain is not None and plain.ndim == 1 and plain.dtype.kind in "biu":
            return plain
        return array_like(list(values), None)
    return np.asarray(values)


def native_array(array: Any) -> Any:
    """A numpy array as a buffer that the engine reads: numbers, booleans or objects."""
    kind = array.dtype.kind
    if kind == "O" or (kind in "biu" and array.dtype.isnative):
        return array
    if kind == "f" and array.dtype.itemsize in (4, 8) and array.dtype.isnative:
        return array
    if kind in "iuf":
        return array.astype("f8" if kind == "f" else f"{kind}{array.dtype.itemsize}")
    if kind == "S":
        return np.char.decode(array, "utf-8").astype(object)
    if kind == "M":  # NaT is a null
        texts = array.astype(str).astype(object)
        texts[np.isnat(array)] = None
        return texts
    return array.astype(str).astype(object)
