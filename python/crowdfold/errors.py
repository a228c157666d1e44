"""The errors of this package. Their messages are those of the command line."""

from __future__ import annotations

from typing import Optional

__all__ = ["ColumnError", "CrowdfoldError", "DataError", "FileError", "InternalError", "NotFittedError", "UsageError"]


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


class FileError(CrowdfoldError, OSError):
    """The operating system refused."""


class InternalError(CrowdfoldError, RuntimeError):
    """A defect in crowdfold: please report it."""


class NotFittedError(CrowdfoldError, ValueError, AttributeError):
    """The result does not exist before `fit`."""
