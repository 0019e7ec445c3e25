"""What a running turn writes, as statements compiled once: the hot path builds only the rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler

from ...protocol.base import now_ms
from ...protocol.requests import ToolCallRecord, Usage
from ...protocol.tools import Change
from .. import schema
from ..encoding import to_json
from ..records import TurnContext

Statement = tuple[str, Sequence[Sequence[Any]]]
"""SQL with ``?`` marks, and the rows to run it for."""


class Compiled:
    """A statement with named parameters, compiled for the driver."""

    def __init__(
        self, statement: sa.sql.expression.ClauseElement, columns: list[str] | None = None
    ) -> None:
        dialect = sqlite.dialect(paramstyle="qmark")
        compiled = statement.compile(dialect=dialect, column_keys=columns)
        assert isinstance(compiled, SQLCompiler)
        self.sql = str(compiled)
        self._order: list[str] = list(compiled.positiontup or ())
        # Literals of the statement are parameters, too.
        self._fixed = {name: v for name, v in compiled.params.items() if v is not None}

    def rows(self, values: Iterable[Mapping[str, Any]]) -> Statement:
        """The statement with a row for each mapping."""
        return self.sql, [self._row(row) for row in values]

    def run(self, connection: sqlite3.Connection, **values: Any) -> sqlite3.Cursor:
        """Execute the statement once, in the connection's thread."""
        return connection.execute(self.sql, self._row(values))

    def _row(self, values: Mapping[str, Any]) -> list[Any]:
        return [values[name] if name in values else self._fixed[name] for name in self._order]


def insert_into(table: sa.Table) -> Compiled:
    """An insert of every column but a row number."""
    columns = [column.name for column in table.columns if not _is_row_number(column)]
    return Compiled(sa.insert(table), columns)


def run_all(connection: sqlite3.Connection, statements: Iterable[Statement]) -> None:
    """Execute the statements in order, in the connection's thread."""
    for sql, rows in statements:
        connection.executemany(sql, rows)


def _is_row_number(column: sa.Column[Any]) -> bool:
    return column.name == "id" and isinstance(column.type, sa.Integer)


def _upsert_tool_call() -> Compiled:
    table = schema.tool_calls
    insert = sqlite.insert(table)
    new = insert.excluded
    kept = ("arguments", "output", "duration_ms")
    update = insert.on_conflict_do_update(
        index_elements=["turn_id", "call_id"],
        set_={
            "name": new.name,
            "status": new.status,
            **{name: sa.func.coalesce(new[name], table.c[name]) for name in kept},
        },
    )
    columns = [column.name for column in table.columns if not _is_row_number(column)]
    return Compiled(update, columns)


INSERT_ITEM = insert_into(schema.items)
INSERT_CHANGE = insert_into(schema.changes)
INSERT_USAGE = insert_into(schema.usage)
UPSERT_TOOL_CALL = _upsert_tool_call()
KEEP_CONTEXT = """
    INSERT INTO contexts (turn_id, data, stated) VALUES (?, ?, ?)
    ON CONFLICT (turn_id) DO UPDATE SET data = excluded.data, stated = excluded.stated"""
KEEP_DURATION = Compiled(
    sa.update(schema.turns)
    .where(schema.turns.c.id == sa.bindparam("turn"))
    .values(duration_ms=sa.bindparam("duration"))
)
ADD_TOKENS = Compiled(
    sa.update(schema.sessions)
    .where(schema.sessions.c.id == sa.bindparam("session"))
    .values(session_tokens=schema.sessions.c.session_tokens + sa.bindparam("tokens"))
)
ADD_COST = Compiled(
    sa.update(schema.sessions)
    .where(schema.sessions.c.id == sa.bindparam("session"))
    .values(session_cost=sa.func.coalesce(schema.sessions.c.session_cost, 0) + sa.bindparam("cost"))
)


def turn_statements(
    session_id: str,
    turn_id: str,
    *,
    items: Sequence[Mapping[str, Any]] = (),
    tool_calls: Sequence[ToolCallRecord] = (),
    changes: Sequence[Change] = (),
    usage: Usage | None = None,
    model: str | None = None,
    context: TurnContext | None = None,
    duration_ms: float | None = None,
) -> list[Statement]:
    """Keep what belongs to a turn. ``usage`` is that of one call of ``model``; ``context`` takes
    the place of one that the turn was begun with; ``duration_ms`` is how long it has worked."""
    statements: list[Statement] = []
    if items:
        rows = ({"turn_id": turn_id, "data": to_json(item)} for item in items)
        statements.append(INSERT_ITEM.rows(rows))
    if tool_calls:
        statements.append(UPSERT_TOOL_CALL.rows(_tool_call_row(turn_id, c) for c in tool_calls))
    if changes:
        statements.append(INSERT_CHANGE.rows(_change_row(turn_id, c) for c in changes))
    if usage is not None:
        row = {"turn_id": turn_id, **usage_row(usage, model)}
        statements.append(INSERT_USAGE.rows([row]))
        tokens = {"session": session_id, "tokens": usage.total_tokens}
        statements.append(ADD_TOKENS.rows([tokens]))
        if usage.cost is not None:
            statements.append(ADD_COST.rows([{"session": session_id, "cost": usage.cost}]))
    if context is not None:
        kept = (None if each is None else to_json(each) for each in (context.item, context.stated))
        statements.append((KEEP_CONTEXT, [(turn_id, *kept)]))
    if duration_ms is not None:
        statements.append(KEEP_DURATION.rows([{"turn": turn_id, "duration": duration_ms}]))
    return statements


def _tool_call_row(turn_id: str, call: ToolCallRecord) -> dict[str, Any]:
    data = call.model_dump(mode="json")
    for name in ("arguments", "output"):
        data[name] = None if data[name] is None else to_json(data[name])
    return {"turn_id": turn_id, **data}


def _change_row(turn_id: str, change: Change) -> dict[str, Any]:
    return {"turn_id": turn_id, "path": change.path, "data": to_json(change.to_wire())}


def usage_row(usage: Usage, model: str | None) -> dict[str, Any]:
    """What a call of ``model`` used, now, as the columns that every table of usage has."""
    counts = usage.model_dump(exclude={"session_tokens", "session_cost"})
    return {"model": model, "at": now_ms(), **counts}
