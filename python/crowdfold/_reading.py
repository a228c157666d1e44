"""How files are read: the options that every function which takes the path of labels takes by name."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import UsageError

ROLES = ("task", "worker", "label")


@dataclass(frozen=True)
class Reading:
    """How to understand a file, as the options of the same names do on the command line.

    Parameters
    ----------
    columns : which column is which, {"task": ..., "worker": ..., "label": ...}; for tables in memory, too
    format : "csv", "tsv", "jsonl", or a platform as `crowdfold import --formats` lists them; recognised if it is not given
    encoding : of the text, such as "utf-16le" or "latin1"; recognised if it is not given
    header : whether the first row names the columns; recognised if it is not given
    skip_lines : lines above the table
    wide : the table has a row per task and a column per worker
    wide_workers : the same, and which columns are workers
    abstain : labels that mean no label, one or several
    without_workers : workers whose labels do not count, one or several
    fold_case : "Cat" and "cat" are one class
    normalize : "0" and "0.0" are one class, and so are spellings that differ in blanks inside and in Unicode's forms
    multi_select : labels with several choices, such as "a;b": "refuse", "first" or "keep"
    skip_bad_rows : leave malformed rows out
    question : of an export with several; "name=class" reads one class of a multiple choice as yes or no
    with_predictions : predictions in an export are labels of workers "model:VERSION"
    """

    columns: Optional[Mapping[str, str]] = None
    format: Optional[str] = None
    encoding: Optional[str] = None
    header: Optional[bool] = None
    skip_lines: int = 0
    wide: bool = False
    wide_workers: Sequence[str] = ()
    abstain: Union[str, Sequence[str]] = ()
    without_workers: Union[str, Sequence[str]] = ()
    fold_case: bool = False
    normalize: bool = False
    multi_select: str = "refuse"
    skip_bad_rows: bool = False
    question: Optional[str] = None
    with_predictions: bool = False

    @classmethod
    def of(cls, columns: Optional[Mapping[str, str]], options: Mapping[str, Any]) -> Reading:
        """From the arguments of a function: TypeError if one is none of these."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise TypeError(f"unexpected argument '{name}'; those for reading files are {', '.join(known)}")
        return cls(columns, **options)

    def column_names(self) -> Tuple[str, str, str]:
        """The columns of a table in memory, by role."""
        columns = dict(self.columns or {})
        names = tuple(str(columns.pop(role, role)) for role in ROLES)
        if columns:
            raise UsageError(f"columns: '{next(iter(columns))}' is none of {', '.join(ROLES)}")
        return names[0], names[1], names[2]

    def require_file(self, data: Any) -> None:
        """UsageError if there are options for files, and the data are none."""
        if isinstance(data, (str, os.PathLike)):
            return
        for field in fields(self):
            if field.name != "columns" and getattr(self, field.name) != field.default:
                raise UsageError(f"{field.name}= is for the path of a file, not for a {type(data).__name__}")

    def native(self) -> Dict[str, Any]:
        """What differs from the defaults, as the engine takes it."""
        self.column_names()  # refuses roles that are none
        given: Dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or value == field.default:
                continue
            if field.name == "columns":
                value = [(role, str(name)) for role, name in value.items()]
            elif field.name in ("abstain", "wide_workers", "without_workers"):
                value = texts_of(value)
            given[field.name] = value
        return given


def arguments_of_fit() -> Tuple[str, ...]:
    """Arguments of `fit` besides the labels."""
    return ("true_labels", "workers", "low_memory", *(field.name for field in fields(Reading)))


def texts_of(values: Union[str, Sequence[Any]]) -> List[str]:
    return [values] if isinstance(values, str) else [str(value) for value in values]
