"""Results for users of none of pandas, polars and pyarrow: numpy arrays with names."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Tuple

import numpy as np

from ._show import html_columns, text_table

__all__ = ["Frame", "Series"]


class Series:
    """Values by key, such as `labels_`: an `index` and `values`, two numpy arrays of one length.

    `series[key]` looks a key up, `dict(series.items())` makes a dictionary, `np.asarray(series)` the values.
    """

    def __init__(self, values: Any, index: Any, name: str, index_name: str) -> None:
        self.values: Any = np.asarray(values)
        self.index: Any = np.asarray(index)
        self.name = name
        self.index_name = index_name
        self._places: Dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def __getitem__(self, key: Any) -> Any:
        if not self._places:
            self._places = {k: i for i, k in enumerate(self.index.tolist())}
        return self.values[self._places[key]]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def items(self) -> Iterator[Tuple[Any, Any]]:
        return zip(self.index.tolist(), self.values.tolist())

    def to_dict(self) -> Dict[Any, Any]:
        return dict(self.items())

    def to_pandas(self) -> Any:
        import pandas

        return pandas.Series(self.values, index=pandas.Index(self.index, name=self.index_name),
                             name=self.name)

    def _parts(self) -> Any:
        return [self.index_name, self.name], [self.index, self.values], f"Series, {len(self)} values"

    def __repr__(self) -> str:
        return text_table(*self._parts())

    def _repr_html_(self) -> str:
        return html_columns(*self._parts())


class Frame:
    """Named columns: `frame[name]` is a numpy array."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

    @property
    def columns(self) -> List[Any]:
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __getitem__(self, name: Any) -> Any:
        return self._columns[name]

    def __contains__(self, name: Any) -> bool:
        return name in self._columns

    def to_dict(self) -> Dict[Any, Any]:
        return dict(self._columns)

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self._columns)

    def _parts(self) -> Any:
        return list(map(str, self.columns)), list(self._columns.values()), f"Frame, {len(self)} rows"

    def __repr__(self) -> str:
        return text_table(*self._parts())

    def _repr_html_(self) -> str:
        return html_columns(*self._parts())
