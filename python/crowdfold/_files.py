"""Files of labels, exports of platforms among them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Iterator, List, Optional, Sequence, Union

from . import _native
from ._input import Path, as_texts
from ._plain import Series
from ._reading import ROLES, Reading

__all__ = ["LabelRows", "read_labels"]

class LabelRows(Mapping[str, Any]):
    """Labels of a file: the columns task, worker and label as numpy arrays, which every method accepts.

    `truth` is a Series by task with the truths that came with them (gold, ground truth, control tasks), `format` the kind
    of file that was recognised, `notes` what was left out and why. `to_pandas()` makes a DataFrame of the columns.
    """

    def __init__(self, columns: Mapping[str, Any], truth: Series, format: str, notes: List[str]) -> None:
        self._columns = dict(columns)
        self.truth = truth
        self.format = format
        self.notes = notes

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self._columns)

    def __repr__(self) -> str:
        return f"LabelRows({self.format}; {len(self['task'])} labels, {len(self.truth)} truths)"


def read_labels(path: Union[Path, Sequence[Path]], format: Optional[str] = None, question: Optional[str] = None,
                with_predictions: bool = False, *, columns: Optional[Mapping[str, str]] = None, duplicates: str = "last",
                n_jobs: int = 0, **reading: Any) -> LabelRows:
    """Reads a file of labels, or the export of a platform, as `crowdfold import` does.

    `path` is a file, a folder, or several that make one data set; `duplicates` and `n_jobs` are as in the classes of methods.
    """
    options = Reading.of(columns, {"format": format, "question": question, "with_predictions": with_predictions, **reading})
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    labels, truth_tasks, truth_labels, kind, notes = _native.import_files(
        [os.fspath(one) for one in paths], options.native(), duplicates, n_jobs, None)
    names = (labels.task_names(), labels.worker_names(), labels.class_names())
    rows = (as_texts(texts)[ids] for texts, ids in zip(names, labels.label_rows()))
    truth = Series(as_texts(truth_labels), as_texts(truth_tasks), "truth", "task")
    return LabelRows(dict(zip(ROLES, rows)), truth, kind, notes)


read_labels.__doc__ = f"{read_labels.__doc__}\n    {(Reading.__doc__ or '').split(chr(10), 2)[2].strip()}\n    "
