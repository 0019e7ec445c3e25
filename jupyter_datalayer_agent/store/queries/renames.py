"""Renamed documents: everything that is kept under their old paths gets the new ones."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...protocol.events import DocumentRenamed
from ...protocol.renames import Rename
from ..encoding import from_json, to_json
from ..file.database import Database
from ..file.driver import Connection
from .event_log import save_events
from .statements import run_all, turn_statements

Item = Mapping[str, Any]

# Of a turn ``t``: whether its paths are relative to this server's root, as far as that is known.
_OURS = """NOT EXISTS (SELECT 1 FROM server_roots AS r
    WHERE r.server_id = t.server_id AND r.root IS NOT :root)"""
_OUR_SESSION = """NOT EXISTS (SELECT 1 FROM turns AS t JOIN server_roots AS r
    ON r.server_id = t.server_id WHERE t.session_id = s.id AND r.root IS NOT :root)"""
_OF_CHANGED = (
    "document_changed", "changes_undone", "changes_kept", "cells_stale", "fixes_offered",
    "turn_started", "approval_requested", "dataset_registered",
)  # fmt: skip
"""The types of events that say where something is."""
MOST_KEPT = 5_000
"""Renames and deletions that are kept for pages and models that know older paths."""
_LIKE = "({0} = :old OR substr({0}, 1, :length) = :folder)"


class DocumentRenames:
    """Renames documents in all tables. ``root`` is the server's root, which paths are relative
    to."""

    def __init__(self, database: Database, root: str | None) -> None:
        self._database = database
        self._root = root or ""

    async def apply(
        self,
        rename: Rename,
        sessions: Collection[str],
        items: Sequence[Item],
    ) -> dict[str, bool]:
        """Rename in one transaction, and return the sessions that it concerns: the ``sessions``
        that are known to be, and those in which something was renamed.

        They get ``document_renamed``, and their models are sent the ``items``; false where that was
        not possible, since a turn runs.
        """

        def write(connection: Connection) -> dict[str, bool]:
            _note(connection, self._root, rename)
            concerned = [*_Tables(connection, rename, self._root).rename(), *sessions]
            sent = {}
            for session in dict.fromkeys(concerned):
                event = DocumentRenamed(old_path=rename.old, path=rename.new)
                save_events(connection, session, None, [event])
                sent[session] = _tell(connection, session, items)
            return sent

        return await self._database.quick(write)

    async def note(self, rename: Rename) -> None:
        """Keep a deletion for ``after``."""
        await self._database.quick(lambda connection: _note(connection, self._root, rename))

    async def after(self, time: int) -> list[Rename]:
        """The renames and deletions under this root after a time (ms since 1970), in order, of the
        newest ``MOST_KEPT``."""
        statement = (
            "SELECT old_path, path, at FROM document_renames WHERE root = ? AND at > ? "
            "ORDER BY at, id"
        )

        def read(connection: Connection) -> list[Rename]:
            rows = connection.execute(statement, (self._root, time)).fetchall()
            return [Rename(old, new, at) for old, new, at in rows]

        return await self._database.read_raw(read)

    async def tell(self, session_id: str, items: Sequence[Item]) -> None:
        """Send the model of a session these items, now that no turn runs in it."""
        await self._database.quick(lambda connection: _tell(connection, session_id, items))


def _note(connection: Connection, root: str, rename: Rename) -> None:
    connection.execute(
        "INSERT INTO document_renames (root, old_path, path, at) VALUES (?, ?, ?, ?)",
        (root, rename.old, rename.new, rename.at),
    )
    connection.execute(
        "DELETE FROM document_renames WHERE id <= (SELECT max(id) FROM document_renames) - ?",
        (MOST_KEPT,),
    )


def register_root(connection: sqlite3.Connection, server_id: str, root: str) -> None:
    """Note what the paths of a server's turns are relative to."""
    connection.execute("INSERT OR IGNORE INTO server_roots VALUES (?, ?)", (server_id, root))


class _Tables:
    """One rename in one transaction."""

    def __init__(self, connection: sqlite3.Connection, rename: Rename, root: str) -> None:
        self._connection = connection
        self._rename = rename
        self._root = root
        folder = f"{rename.old}/"
        self._values = {
            "root": root,
            "old": rename.old,
            "folder": folder,
            "length": len(folder),
            # As JSON has it.
            "text": to_json(rename.old)[1:-1],
        }

    def rename(self) -> list[str]:
        """Rename everything; the ids of the sessions in which something was."""
        self._settle_replaced()
        self._rename_checkpoints()
        changed = self._rename_changes()
        asked = self._rename_json(
            "turns", "request",
            f"SELECT rowid, request, session_id FROM turns AS t WHERE {_OURS} "
            "AND instr(request, :text)",
        )  # fmt: skip
        self._rename_json(
            "plans", "data",
            f"SELECT p.rowid, p.data, p.session_id FROM plans AS p JOIN turns AS t "
            f"ON t.id = p.turn_id WHERE {_OURS} AND instr(p.data, :text)",
        )  # fmt: skip
        set_up = self._rename_json(
            "sessions", "settings",
            f"SELECT rowid, settings, id FROM sessions AS s WHERE {_OUR_SESSION} "
            "AND instr(settings, :text)",
        )  # fmt: skip
        queued = self._rename_json(
            "queued_ops", "data",
            "SELECT q.rowid, q.data, q.session_id FROM queued_ops AS q JOIN sessions AS s "
            f"ON s.id = q.session_id WHERE {_OUR_SESSION} AND instr(q.data, :text)",
        )  # fmt: skip
        self._rename_tutorials()
        known = self._rename_datasets()
        sessions = list(dict.fromkeys([*changed, *asked, *set_up, *queued, *known]))
        for session in sessions:
            self._rename_events(session)
        return sessions

    def _all(self, statement: str, **more: Any) -> list[Any]:
        return self._connection.execute(statement, {**self._values, **more}).fetchall()

    def _settle_replaced(self) -> None:
        """What was at the new path before is gone, and with it what could be reverted there."""
        new, folder = self._rename.new, f"{self._rename.new}/"
        gone = {"old": new, "folder": folder, "length": len(folder)}
        ours = f"turn_id IN (SELECT t.id FROM turns AS t WHERE {_OURS})"
        at = _LIKE.format("path")
        for statement in (
            "UPDATE checkpoint_cells SET state = 'kept', before = NULL, cell_left = NULL "
            f"WHERE state = 'open' AND {at} AND {ours}",
            f"DELETE FROM checkpoints WHERE {at} AND {ours}",
        ):
            self._connection.execute(statement, {**self._values, **gone})

    def _rename_checkpoints(self) -> None:
        at = _LIKE.format("c.path")
        parts = self._all(
            f"SELECT DISTINCT c.turn_id, c.path FROM checkpoint_cells AS c JOIN turns AS t "
            f"ON t.id = c.turn_id WHERE {at} AND {_OURS} UNION "
            f"SELECT DISTINCT c.turn_id, c.path FROM checkpoints AS c JOIN turns AS t "
            f"ON t.id = c.turn_id WHERE {at} AND {_OURS}"
        )
        for turn, path in parts:
            new = self._rename.path(path)
            for table in ("checkpoint_cells", "checkpoints"):
                # The turn may have changed what had the new name before: that is settled now.
                self._connection.execute(
                    f"DELETE FROM {table} WHERE turn_id = ? AND path = ?", (turn, new)
                )
                self._connection.execute(
                    f"UPDATE {table} SET path = ? WHERE turn_id = ? AND path = ?",
                    (new, turn, path),
                )

    def _rename_changes(self) -> list[str]:
        rows = self._all(
            "SELECT c.id, c.path, c.data, t.session_id FROM changes AS c JOIN turns AS t "
            f"ON t.id = c.turn_id WHERE {_LIKE.format('c.path')} AND {_OURS}"
        )
        for row, path, data, _ in rows:
            self._connection.execute(
                "UPDATE changes SET path = ?, data = ? WHERE id = ?",
                (self._rename.path(path), self._renamed(data), row),
            )
        return [session for *_, session in rows]

    def _rename_json(self, table: str, column: str, select: str) -> list[str]:
        """Rename in a column of JSON; the sessions of the rows in which there was something."""
        sessions = []
        for row, data, session in self._all(select):
            renamed = self._renamed(data)
            if renamed != data:
                statement = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
                self._connection.execute(statement, (renamed, row))
                sessions.append(session)
        return sessions

    def _rename_tutorials(self) -> None:
        for tutorial, notebook in self._all(
            f"SELECT tutorial, notebook FROM started_tutorials WHERE {_LIKE.format('notebook')}"
        ):
            self._connection.execute(
                "UPDATE started_tutorials SET notebook = ? WHERE tutorial = ?",
                (self._rename.path(notebook), tutorial),
            )

    def _rename_datasets(self) -> list[str]:
        """The files of data sets; the sessions that know one of those that were renamed."""
        # Their root is noted without links.
        root = os.path.realpath(self._root) if self._root else ""
        sessions: list[str] = []
        for name, data in self._all(
            "SELECT name, data FROM datasets WHERE root = :root", root=root
        ):
            path = from_json(data)["path"]
            if self._rename.affects(path):
                self._connection.execute(
                    "UPDATE datasets SET data = ? WHERE root = ? AND name = ?",
                    (self._renamed(data), root, name),
                )
                known = (
                    "SELECT session_id FROM session_datasets WHERE root = :root AND name = :name"
                )
                sessions += [session for (session,) in self._all(known, root=root, name=name)]
            elif self._rename.replaces(path):
                self._connection.execute(
                    "DELETE FROM datasets WHERE root = ? AND name = ?", (root, name)
                )
        return sessions

    def _rename_events(self, session: str) -> None:
        types = ", ".join(f"'{each}'" for each in _OF_CHANGED)
        for seq, data in self._all(
            "SELECT e.seq, e.data FROM events AS e WHERE e.session_id = :session "
            f"AND e.type IN ({types}) AND instr(e.data, :text) "
            f"AND NOT EXISTS (SELECT 1 FROM turns AS t WHERE t.id = e.turn_id AND NOT {_OURS})",
            session=session,
        ):
            self._connection.execute(
                "UPDATE events SET data = ? WHERE session_id = ? AND seq = ?",
                (self._renamed(data), session, seq),
            )

    def _renamed(self, data: str) -> str:
        return to_json(self._rename.in_json(from_json(data)))


def _tell(connection: sqlite3.Connection, session_id: str, items: Sequence[Item]) -> bool:
    """Put the items where the conversation is now, between two turns; false while one runs."""
    newest = connection.execute(
        "SELECT id, status FROM turns WHERE session_id = ? AND withdrawn_at IS NULL "
        "ORDER BY position DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    if newest is None or newest[1] == "running":
        return newest is None
    run_all(connection, turn_statements(session_id, newest[0], items=items))
    return True
