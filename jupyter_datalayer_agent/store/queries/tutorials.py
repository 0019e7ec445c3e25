"""A user's progress in the tutorials."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import now_ms
from .. import schema
from ..file.database import Database
from ..records import TutorialProgress

STARTED = schema.started_tutorials.c
PASSED = schema.passed_lessons.c


class Tutorials:
    """The tables of tutorials that were started and of lessons that were passed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def progress(self) -> dict[str, TutorialProgress]:
        """Of each tutorial that was started or has a passed lesson, by id."""

        async def read(connection: AsyncConnection) -> dict[str, TutorialProgress]:
            found: dict[str, TutorialProgress] = {}
            for row in await connection.execute(sa.select(STARTED.tutorial, STARTED.notebook)):
                found[row.tutorial] = TutorialProgress(notebook=row.notebook)
            for row in await connection.execute(sa.select(schema.passed_lessons)):
                progress = found.setdefault(row.tutorial, TutorialProgress())
                progress.passed[row.lesson] = row.passed_at
            return found

        return await self._database.read(read)

    async def start(self, tutorial: str, notebook: str) -> None:
        """Save where the tutorial was last started."""
        insert = sqlite.insert(schema.started_tutorials)
        statement = insert.on_conflict_do_update(
            index_elements=["tutorial"], set_={"notebook": insert.excluded.notebook}
        )

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(statement, {"tutorial": tutorial, "notebook": notebook})

        await self._database.write(write)

    async def passed(self, tutorial: str, lesson: int) -> None:
        """Mark the lesson as passed now; the first time counts."""
        statement = sqlite.insert(schema.passed_lessons).on_conflict_do_nothing()
        row = {"tutorial": tutorial, "lesson": lesson, "passed_at": now_ms()}

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(statement, row)

        await self._database.write(write)
