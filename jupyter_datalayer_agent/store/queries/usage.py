"""What was used in the last days, summed up by SQLite: one query, along indexes by time."""

from __future__ import annotations

import sqlite3
from datetime import datetime, time, timedelta
from typing import Any

from ...protocol.requests import Usage
from ...protocol.sessions import UsageBy, UsageReply, UsageRow
from .. import schema
from ..file.database import Database
from .statements import insert_into, usage_row

MAX_ROWS = 366
"""Rows of one answer."""

DAY = "date({at} / 1000, 'unixepoch', 'localtime')"
KEYS: dict[UsageBy, tuple[str, str, str]] = {
    # Of a row of ``usage`` u, of one of ``turns`` t, and of one of ``usage_apart`` a. The plus
    # keeps SQLite from reading all turns in the order of their sessions, to spare itself the
    # sorting of a few.
    "day": (DAY.format(at="u.at"), DAY.format(at="t.started_at"), DAY.format(at="a.at")),
    "model": (
        "coalesce(u.model, '')",
        "coalesce(t.model, (SELECT model FROM usage WHERE turn_id = t.id LIMIT 1), '')",
        "coalesce(a.model, '')",
    ),
    "session": ("(SELECT session_id FROM turns WHERE id = u.turn_id)", "+t.session_id", "''"),
}
SUMS = (
    "input_tokens", "output_tokens", "cached_tokens", "total_tokens", "model_calls",
    "priced_calls", "cost", "turns", "duration_ms", "tool_calls", "tool_errors",
)  # fmt: skip
OF_CALLS = """sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(cached_tokens) AS cached_tokens,
    sum(total_tokens) AS total_tokens, count(*) AS model_calls, count(cost) AS priced_calls,
    sum(cost) AS cost, 0 AS turns, 0.0 AS duration_ms, 0 AS tool_calls, 0 AS tool_errors"""
# Each part sums up by itself, so that SQLite never sorts more than there are keys.
QUERY = """
SELECT key, {sums} FROM (
  SELECT {of_usage} AS key, {of_calls} FROM usage AS u WHERE u.at >= :since GROUP BY 1
  UNION ALL
  SELECT {of_apart}, {of_calls} FROM usage_apart AS a WHERE a.at >= :since GROUP BY 1
  UNION ALL
  SELECT {of_turn}, 0, 0, 0, 0, 0, 0, NULL, count(*), sum(t.duration_ms), 0, 0
  FROM turns AS t WHERE t.started_at >= :since AND t.copied_from IS NULL GROUP BY 1
  UNION ALL
  SELECT {of_turn}, 0, 0, 0, 0, 0, 0, NULL, 0, 0.0, count(*), sum(c.status = 'error')
  FROM turns AS t JOIN tool_calls AS c ON c.turn_id = t.id
  WHERE t.started_at >= :since AND t.copied_from IS NULL GROUP BY 1
) WHERE key IS NOT NULL GROUP BY key ORDER BY {order} LIMIT {limit}
"""
SUGGESTED = "Suggested next cells"
"""The only calls so far that no session remembers."""
INSERT_APART = insert_into(schema.usage_apart)
TITLES = "SELECT id, title FROM sessions WHERE id IN ({marks})"


def query(by: UsageBy) -> str:
    """The statement that sums up what was used since ``:since`` (ms since 1970)."""
    of_usage, of_turn, of_apart = KEYS[by]
    return QUERY.format(
        sums=", ".join(f"sum({name}) AS {name}" for name in SUMS),
        of_usage=of_usage,
        of_turn=of_turn,
        of_apart=of_apart,
        of_calls=OF_CALLS,
        order="key DESC" if by == "day" else "total_tokens DESC, key",
        limit=MAX_ROWS,
    )


class UsageSums:
    """Sums over the tables of usage, turns and tool calls; the rest of usage is kept with turns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_apart(self, model: str, usage: Usage) -> None:
        """Add the usage of a call of ``model`` that belongs to no session."""
        sql, rows = INSERT_APART.rows([usage_row(usage, model)])
        await self._database.quick(lambda connection: connection.executemany(sql, rows))

    async def read(self, by: UsageBy, days: int) -> UsageReply:
        """Usage of all sessions in the last ``days`` days, including today."""
        since = first_ms(days)

        def read(connection: sqlite3.Connection) -> list[UsageRow]:
            found = connection.execute(query(by), {"since": since}).fetchall()
            rows = [UsageRow(key=key, **_given(values)) for key, *values in found]
            if by == "session":
                _add_titles(connection, rows)
            return rows

        rows = await self._database.look(read)
        return UsageReply(by=by, days=days, since=since, total=_total(rows), rows=rows)


def first_ms(days: int, now: datetime | None = None) -> int:
    """When the first of the last ``days`` days began here, today included; ms since 1970."""
    today = (now or datetime.now()).date()
    first = datetime.combine(today - timedelta(days=days - 1), time.min)
    return int(first.timestamp() * 1000)


def _given(values: list[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(SUMS, values, strict=True) if value is not None}


def _add_titles(connection: sqlite3.Connection, rows: list[UsageRow]) -> None:
    marks = ", ".join("?" * len(rows))
    found = connection.execute(TITLES.format(marks=marks), [row.key for row in rows])
    titles = dict(found.fetchall())
    for row in rows:
        row.label = titles.get(row.key) if row.key else SUGGESTED


def _total(rows: list[UsageRow]) -> UsageRow:
    total: dict[str, Any] = {name: sum(getattr(row, name) or 0 for row in rows) for name in SUMS}
    if not total["priced_calls"]:
        del total["cost"]
    return UsageRow(key="total", **total)
