"""Progress of native code: one bar of tqdm that starts anew at every stage, or a line for each where there is no tqdm."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Optional


class Progress:
    """A callable to which native code reports its progress; a context manager that cleans up."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm: Any = None
        else:
            self._tqdm = tqdm

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._tqdm is None:
            if stage != self._stage:
                print(f"crowdfold: {stage}", file=sys.stderr, flush=True)
            self._stage = stage
            return
        if self._bar is None:
            self._bar = self._tqdm(total=total or None, desc=stage)
        elif stage != self._stage or done < self._bar.n:
            self._bar.reset(total=total or None)
            self._bar.set_description(stage, refresh=False)
        self._stage = stage
        if total and self._bar.total != total:
            self._bar.total = total
        self._bar.update(done - self._bar.n)
        self._bar.refresh()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is None and self._bar is not None and self._bar.total:
            self._bar.update(max(0, self._bar.total - self._bar.n))
        self._finish()

    def _finish(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class Silence:
    """The same without output: native code gets None."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        return None


def progress(verbose: Any) -> Any:
    return Progress() if verbose else Silence()
