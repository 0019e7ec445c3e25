"""The data sets that are known, by server root, and the sessions that each is registered in."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.datasets import Dataset
from ...protocol.errors import AgentError
from .. import schema
from ..file.database import Database

SETS = schema.datasets.c
KNOWN = schema.session_datasets.c


class DatasetQueries:
    """The tables of data sets and of their registrations. ``root`` is the server's root folder:
    one database serves the servers of many roots."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, root: str, dataset: Dataset, sample: list[dict[str, Any]]) -> None:
        """Keep a data set and its first rows; one of that name, whose file is gone, is replaced."""
        row = {
            "root": root,
            "name": dataset.name,
            "shared": dataset.shared,
            "data": json.dumps(dataset.to_wire(), ensure_ascii=False),
            "sample": json.dumps(sample, ensure_ascii=False),
            "created_at": dataset.created_at,
        }

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(_of(root, dataset.name, sa.delete(schema.datasets)))
            await connection.execute(sa.insert(schema.datasets), row)

        await self._database.write(write)

    async def register(self, session_id: str, root: str, name: str) -> bool:
        """Make it known to the session; False when it was. Raises ``not_found`` for a session or
        a data set that there is not."""
        statement = sqlite.insert(schema.session_datasets).on_conflict_do_nothing()
        row = {"session_id": session_id, "root": root, "name": name}

        async def write(connection: AsyncConnection) -> bool:
            session = sa.select(schema.sessions.c.id).where(schema.sessions.c.id == session_id)
            if (await connection.execute(session)).first() is None:
                raise AgentError("not_found", f"There is no session {session_id}.")
            if (await connection.execute(_of(root, name, sa.select(SETS.name)))).first() is None:
                raise AgentError("not_found", f"There is no data set {name!r}.")
            return (await connection.execute(statement, row)).rowcount > 0

        return await self._database.write(write)

    async def forget(self, session_id: str) -> None:
        """The session knows none any more but those that all sessions know."""
        statement = sa.delete(schema.session_datasets).where(KNOWN.session_id == session_id)

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(statement)

        await self._database.write(write)

    async def known(self, root: str, session_id: str | None = None) -> list[Dataset]:
        """Those of the root, or those that a session knows; the newest first."""
        query = sa.select(SETS.data).where(SETS.root == root)
        if session_id is not None:
            own = sa.select(KNOWN.name).where(KNOWN.root == root, KNOWN.session_id == session_id)
            query = query.where(SETS.shared | SETS.name.in_(own))
        query = query.order_by(SETS.created_at.desc(), SETS.name)

        async def read(connection: AsyncConnection) -> list[Dataset]:
            rows = await connection.execute(query)
            return [Dataset.model_validate_json(row.data) for row in rows]

        return await self._database.read(read)

    async def get(self, root: str, name: str) -> tuple[Dataset, list[dict[str, Any]]] | None:
        """The data set of that name and its first rows."""
        query = _of(root, name, sa.select(SETS.data, SETS.sample))

        async def read(connection: AsyncConnection) -> tuple[Dataset, list[dict[str, Any]]] | None:
            row = (await connection.execute(query)).first()
            if row is None:
                return None
            return Dataset.model_validate_json(row.data), json.loads(row.sample)

        return await self._database.read(read)

    async def delete(self, root: str, name: str) -> bool:
        """Forget it, in every session; False without it."""
        statement = _of(root, name, sa.delete(schema.datasets))

        async def write(connection: AsyncConnection) -> bool:
            return (await connection.execute(statement)).rowcount > 0

        return await self._database.write(write)


def _of(root: str, name: str, statement: Any) -> Any:
    return statement.where(SETS.root == root, SETS.name == name)
