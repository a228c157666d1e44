"""Looks at a project's state, in threads of their own: questions never wait for the writer, nor the writer for them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import Executor
from pathlib import Path
from typing import AsyncIterator, Callable, NamedTuple, Optional, TypeVar

from .. import _native

__all__ = ["NextTask", "ViewedLabel", "ViewedTask", "ViewedWorker", "Views"]

T = TypeVar("T")
View = _native.StateView


class ViewedTask(NamedTuple):
    id: int
    task: str
    label: Optional[str]
    confidence: float
    labels: int
    closed: bool
    reason: Optional[str]
    truth: Optional[str]


class ViewedLabel(NamedTuple):
    worker: str
    label: str
    log_odds: float


class ViewedWorker(NamedTuple):
    worker: str
    quality: float
    lower: float
    upper: float
    labels: float


class NextTask(NamedTuple):
    task: str
    label: Optional[str]
    confidence: float
    labels: int
    gain: float


class Views:
    """Of one state. A view is opened when all others are in use, and kept for the next question."""

    def __init__(self, path: Path, executor: Executor) -> None:
        self._path = path
        self._executor = executor
        self._lock = threading.Lock()
        self._idle: list[View] = []
        self._is_closed = False

    async def ask(self, question: Callable[[View], T]) -> T:
        """The answer of one moment, which holds all that was acknowledged before."""
        async with self.moment() as ask:
            return await ask(question)

    @contextlib.asynccontextmanager
    async def moment(self) -> AsyncIterator[Callable[[Callable[[View], T]], asyncio.Future[T]]]:
        """Several questions about the same moment."""
        loop = asyncio.get_running_loop()
        view = await loop.run_in_executor(self._executor, self._look)
        yield lambda question: loop.run_in_executor(self._executor, question, view)
        # After an error, or where the client went away, a thread may still look: such a view is dropped.
        await loop.run_in_executor(self._executor, self._give_back, view)

    def _look(self) -> View:
        with self._lock:
            view = self._idle.pop() if self._idle else None
        if view is None:
            return View(str(self._path))
        view.look_again()
        return view

    def _give_back(self, view: View) -> None:
        view.rest()
        with self._lock:
            if not self._is_closed:
                self._idle.append(view)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._idle.clear()
