"""Data sets in folders: `labels.csv` with the columns task, worker and label, and perhaps `truth.csv` with task and label."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _native
from ._plain import Series
from .errors import FileError

__all__ = ["Dataset", "load"]


class Dataset(NamedTuple):
    """`data` is a dictionary of arrays, which every method accepts; `truth` is a Series by task, or None."""

    name: str
    data: dict[str, Any]
    truth: Optional[Series]


def load(folder: Union[str, os.PathLike[str]]) -> Dataset:
    """Reads a data set. Files may end in .gz."""
    path = Path(folder)
    labels = _find(path, "labels.csv")
    if labels is None:
        raise FileError(f"{path}: no labels.csv in it")
    columns = _columns(labels)
    truth = _find(path, "truth.csv")
    if truth is None:
        return Dataset(path.name, columns, None)
    tasks, values = _native.read_truth_file(str(truth))
    return Dataset(path.name, columns, Series(_texts(values), _texts(tasks), "truth", "task"))


def _find(folder: Path, name: str) -> Optional[Path]:
    for candidate in (folder / name, folder / (name + ".gz")):
        if candidate.exists():
            return candidate
    return None


def _columns(path: Path) -> dict[str, Any]:
    """All rows, in the order of the file: methods decide about repeated labels."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            places = [header.index(role) for role in ("task", "worker", "label")]
            rows = [[row[place] for place in places] for row in reader if row]
    except (ValueError, IndexError) as error:
        raise FileError(f"{path}: not a table with the columns task, worker and label ({error})") from None
    columns = list(zip(*rows)) if rows else [(), (), ()]
    return {role: _texts(list(column)) for role, column in zip(("task", "worker", "label"), columns)}


def _texts(texts: Any) -> Any:
    values = np.empty(len(texts), dtype=object)
    known: dict[str, str] = {}  # one object for each text
    values[:] = [known.setdefault(text, text) for text in texts]
    return values
