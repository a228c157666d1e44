"""The errors of this package. Their messages are those of the command line."""

from __future__ import annotations

from typing import Any, Optional, Sequence

__all__ = [
    "ColumnError", "CrowdfoldError", "DataError", "FileError", "InternalError", "NotFittedError", "RefusedLines", "UsageError",
]


class CrowdfoldError(Exception):
    """The base of all errors of this package. `file`, `line` and `column` are the place in a file, if there is one."""

    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None


class UsageError(CrowdfoldError, ValueError):
    """A parameter, column or method does not exist or does not fit."""


class ColumnError(UsageError, KeyError):
    """A table lacks a column."""

    __str__ = CrowdfoldError.__str__  # KeyError would quote the message


class DataError(CrowdfoldError, ValueError):
    """The input is malformed or inconsistent."""


class RefusedLines(DataError):
    """Lines of a batch are no events, or the stream refuses them: nothing of the batch was taken. `refused` has them all."""

    def __init__(self, refused: Sequence[Any]) -> None:
        first = refused[0]
        more = f", and {len(refused) - 1} more" if len(refused) > 1 else ""
        super().__init__(f"line {first.line}: {first.why}{more}; nothing of the batch was taken")
        self.line = first.line
        self.refused = list(refused)


class FileError(CrowdfoldError, OSError):
    """The operating system refused."""


class InternalError(CrowdfoldError, RuntimeError):
    """A defect in crowdfold: please report it."""


class NotFittedError(CrowdfoldError, ValueError, AttributeError):
    """The result does not exist before `fit`."""
