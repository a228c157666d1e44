"""What can go wrong. Messages are those of the command line."""

from __future__ import annotations

from typing import Optional

__all__ = ["CrowdfoldError", "DataError", "FileError", "InternalError", "NotFittedError", "UsageError"]


class CrowdfoldError(Exception):
    """All errors of this package. `file`, `line` and `column` tell the place in a file, if there is one."""

    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None


class UsageError(CrowdfoldError, ValueError):
    """Something was asked for that does not exist, or does not fit."""


class DataError(CrowdfoldError, ValueError):
    """The input is not what it should be."""


class FileError(CrowdfoldError, OSError):
    """The operating system said no."""


class InternalError(CrowdfoldError, RuntimeError):
    """A promise of crowdfold was broken: please report it."""


class NotFittedError(CrowdfoldError, ValueError, AttributeError):
    """What was asked for is known after `fit` only."""
