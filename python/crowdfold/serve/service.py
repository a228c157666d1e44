"""All that the routes share: the projects that are open, the tokens, and the threads that answer questions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

from .config import Config
from .database import Database, now
from .feed import Feed
from .journal import AuditEntry, Journal, write_audit
from .leases import Leases
from .limits import RateLimits
from .metrics import Metrics
from .problems import Problem
from .settings import Settings
from .tokens import Tokens
from .views import Views
from .webhooks import Webhooks
from .writer import Writer

__all__ = ["Project", "Service"]


class Project:
    """An open project."""

    def __init__(self, service: Service, id: int, name: str, settings: Settings, created_at: float) -> None:
        self.id = id
        self.name = name
        self.settings = settings
        self.created_at = created_at
        self.path = service.config.folder / f"project-{id}.db"
        self.journal = Journal(service.database, id, service.config.feed_days)
        self.feed = Feed(self.journal)
        self.leases = Leases()
        self.hooks = asyncio.Lock()  # whoever takes a platform's message
        self.writer = Writer(self.path, settings, self.journal, service.metrics, name, service.config.max_queue,
                             asyncio.get_running_loop(), self.feed.publish)
        self.views = Views(self.path, service.executor)
        self.webhooks = Webhooks(service.database, id, name, self.feed, service.metrics, service.config.private_webhooks)

    async def close(self) -> None:
        """Once what waits is written."""
        self.feed.close()
        await asyncio.to_thread(self.writer.stop)
        await self.webhooks.close()
        self.views.close()


class Service:
    def __init__(self, config: Config, database: Database) -> None:
        self.config = config
        self.database = database
        self.tokens = Tokens(database)
        self.metrics = Metrics()
        self.rates = RateLimits(config.rate, config.burst)
        self.executor = ThreadPoolExecutor(config.reader_threads, "reader")
        self.is_stopping = False
        self._projects: dict[str, Project] = {}
        self._changing = asyncio.Lock()  # which projects there are

    # Projects.

    async def open_projects(self) -> None:
        """CrowdfoldError if a state cannot be opened: a project that is left out would look deleted."""
        for row in self.database.rows("SELECT * FROM projects ORDER BY id"):
            await self._open(row)

    async def _open(self, row: sqlite3.Row) -> Project:
        settings = Settings.model_validate_json(row["settings"])
        project = Project(self, row["id"], row["name"], settings, row["created_at"])
        self._projects[project.name] = project
        return project

    def find(self, name: str) -> Optional[Project]:
        return self._projects.get(name)

    def projects(self) -> list[Project]:
        return sorted(self._projects.values(), key=lambda project: project.id)

    async def add_project(self, name: str, settings: Settings, who: str) -> Project:
        self.require_running()
        async with self._changing:
            if name in self._projects:
                raise Problem(409, f"there is a project '{name}'; choose another name, or change that one")
            with self.database.transaction() as connection:
                row = connection.execute("INSERT INTO projects(name, settings, created_at) VALUES(?, ?, ?) RETURNING *",
                                         (name, settings.model_dump_json(), now())).fetchone()
                write_audit(connection, AuditEntry(who, "project.add", {"name": name}), row["id"])
            return await self._open(row)

    async def change_project(self, project: Project, settings: Settings, who: str) -> None:
        async with self._changing:
            await project.writer.reconfigure(settings)
            with self.database.transaction() as connection:
                connection.execute("UPDATE projects SET settings = ? WHERE id = ?", (settings.model_dump_json(), project.id))
                write_audit(connection, AuditEntry(who, "project.change", json.loads(settings.model_dump_json())), project.id)
            project.settings = settings

    async def delete_project(self, project: Project, who: str) -> None:
        async with self._changing:
            if self._projects.pop(project.name, None) is None:
                raise Problem(404, f"there is no project '{project.name}'")
            await project.close()
            with self.database.transaction() as connection:
                connection.execute("DELETE FROM projects WHERE id = ?", (project.id,))
                write_audit(connection, AuditEntry(who, "project.delete", {"name": project.name}), project.id)
            self.tokens.forget_project()
            self.metrics.forget_project(project.name)
            for ending in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    Path(f"{project.path}{ending}").unlink()

    # The end.

    def require_running(self) -> None:
        if self.is_stopping:
            raise Problem(503, "the service stops", headers={"Retry-After": "5"})

    def begin_to_stop(self) -> None:
        """Not ready any more; event streams end. What came is finished."""
        self.is_stopping = True
        for project in self._projects.values():
            project.feed.close()

    async def close(self) -> None:
        self.begin_to_stop()
        for project in self._projects.values():
            await project.close()
        self.executor.shutdown()
        self.tokens.write_uses()
        self.database.close()
