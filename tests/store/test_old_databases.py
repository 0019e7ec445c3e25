"""Databases of every earlier version, with everything in them that they could hold, opened now."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.agent.features.export import exported
from jupyter_datalayer_agent.protocol.sessions import EXPORT_FORMATS
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.encoding import packed
from jupyter_datalayer_agent.store.migrations import MIGRATIONS

from .chats import Chat, open_store, rows
from .test_migrations import database_at

ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Load cars"}]}
CALL = {"type": "function_call", "call_id": "c", "name": "run", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "ok"}
CHANGE = {"path": "a.ipynb", "op": "update", "cellId": "c1", "before": "x", "after": "y"}
TURN = {
    "session_id": "s",
    "mode": "agent",
    "notebook_mode": "full",
    "location": "panel",
    "server_id": "gone",
    "request": json.dumps({"message": "Load cars"}),
    "started_at": 1,
}
USAGE = {"inputTokens": 4, "outputTokens": 1, "cachedTokens": 0, "totalTokens": 5}


def entry(seq: int, turn: str, kind: str, **fields: Any) -> dict[str, Any]:
    """A row of an event."""
    data = {"seq": seq, "turnId": turn, "at": seq, "type": kind, **fields}
    return {
        "session_id": "s", "seq": seq, "turn_id": turn, "type": kind, "data": json.dumps(data)
    }  # fmt: skip


ROWS: dict[str, list[dict[str, Any]]] = {
    "sessions": [
        {
            "id": "s",
            "title": "Cars",
            "settings": json.dumps({"mode": "edit"}),
            "created_at": 1,
            "updated_at": 2,
            "session_tokens": 5,
            "seq_base": 0,
        }
    ],
    "turns": [
        {
            **TURN,
            "id": "t0",
            "position": 0,
            "status": "completed",
            "message": "Load cars",
            "reply": "Loaded.",
            "usage": json.dumps(USAGE),
            "first_seq": 1,
            "ended_at": 2,
        },
        {
            **TURN,
            "id": "t1",
            "position": 1,
            "status": "running",
            "message": "Go on",
            "reply": "",
            "first_seq": 3,
        },
    ],
    "items": [
        {"turn_id": "t0", "data": json.dumps(ITEM)},
        {"turn_id": "t0", "data": json.dumps(CALL)},
        {"turn_id": "t0", "data": json.dumps(OUTPUT)},
    ],
    "events": [
        entry(1, "t0", "text_delta", itemId="m", delta="Loaded."),
        entry(2, "t0", "turn_completed", durationMs=1, usage=USAGE),
        entry(3, "t1", "text_delta", itemId="m", delta="Cut"),
        entry(4, "t0", "changes_kept", ofTurnId="t0"),
    ],
    "tool_calls": [
        {
            "turn_id": "t0",
            "call_id": "c",
            "name": "run",
            "arguments": "{}",
            "status": "ok",
            "output": json.dumps({"ok": True}),
            "duration_ms": 1.5,
        }
    ],
    "changes": [{"turn_id": "t0", "path": "a.ipynb", "data": json.dumps(CHANGE)}],
    "usage": [
        {
            "turn_id": "t0",
            "model": "openai/m",
            "input_tokens": 4,
            "output_tokens": 1,
            "cached_tokens": 0,
            "total_tokens": 5,
            "at": 1,
        }
    ],
    "queued_ops": [
        {
            "session_id": "s",
            "op_id": "op",
            "data": json.dumps({"type": "user_message", "request": {"message": "Later"}}),
            "created_at": 1,
        }
    ],
    "plans": [
        {
            "turn_id": "t0",
            "session_id": "s",
            "data": json.dumps({"task": "Load", "steps": [], "state": "stopped"}),
        }
    ],
    "checkpoints": [
        {
            "turn_id": "t0",
            "path": "a.ipynb",
            "span": 0,
            "cell_order": packed(["c1"]),
            "order_left": packed(["c1"]),
            "moved": "[]",
        }
    ],
    "checkpoint_cells": [
        {
            "turn_id": "t0",
            "path": "a.ipynb",
            "span": 0,
            "cell_id": "c1",
            "state": "open",
            "before": packed({"source": "x"}),
            "cell_left": packed({"source": "y"}),
        }
    ],
    "later_events": [{"turn_id": "t0", "seq": 4}],
    "started_tutorials": [{"tutorial": "pandas", "notebook": "p.ipynb"}],
    "passed_lessons": [{"tutorial": "pandas", "lesson": 1, "passed_at": 7}],
}


def filled_at(path: Path, steps: int) -> set[str]:
    """A database as the first ``steps`` migrations leave it, with rows; the tables that have
    some."""
    database_at(path, steps)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for table, values in ROWS.items():
            if table in tables:
                for row in values:
                    names, marks = ", ".join(row), ", ".join("?" * len(row))
                    sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"
                    connection.execute(sql, list(row.values()))
    return tables & ROWS.keys()


@pytest.mark.parametrize("steps", range(1, len(MIGRATIONS) + 1))
async def test_all_that_an_earlier_version_kept_is_there(tmp_path: Path, steps: int) -> None:
    path = tmp_path / "agent.db"
    tables = filled_at(path, steps)
    async with open_store(path) as store:
        session = await store.sessions.get("s")
        assert (session.title, session.settings.mode, session.session_tokens) == ("Cars", "edit", 5)
        first, second = (await store.turn_reader.list_page("s", include_events=True)).turns
        assert (first.message, first.reply, first.usage.total_tokens) == ("Load cars", "Loaded.", 5)
        assert first.items == [ITEM, CALL, OUTPUT]
        assert [call.output for call in first.tool_calls] == [{"ok": True}]
        assert [change.after for change in first.changes] == ["y"]
        kinds = ["text_delta", "turn_completed"]
        if "later_events" in tables:
            kinds.append("changes_kept")
        assert [event["type"] for event in first.events or []] == kinds
        assert (second.status, second.reply) == ("aborted", "Cut"), "its server is gone"
        assert [each.op_id for each in await store.queue.waiting("s")] == ["op"]
        assert [s.id for s in (await store.sessions.list_page("load cars")).sessions] == ["s"]
        found = await store.past.search("oaded", 5)
        assert [(hit.turn_id, hit.role) for hit in found] == [("t0", "assistant")]
        await what_came_later(store, tables)
        await is_used(store)


async def what_came_later(store: Store, tables: set[str]) -> None:
    """The rows of tables that not every version has."""
    if "plans" in tables:
        plan = await store.plans.last("s")
        assert plan is not None
        assert plan.plan.task == "Load"
    if "checkpoint_cells" in tables:
        (span,) = await store.checkpoints.open_spans("t0")
        assert [cell.before for cell in span.cells] == [{"source": "x"}]
    if "passed_lessons" in tables:
        assert (await store.tutorials.progress())["pandas"].passed == {1: 7}


async def is_used(store: Store) -> None:
    """What the present version does with a conversation works on an old one."""
    for kind in EXPORT_FORMATS:
        _, text = await exported(store, "s", kind)
        assert "Load cars" in text
    copy = await store.forks.fork("s", "t0", [])
    assert (await store.turn_reader.list_page(copy.id)).turns[0].copied_from == "t0"
    withdrawals = store.withdrawals
    await withdrawals.withdraw("s", ["t1"], [], [])
    assert [step.withdrawn for step in await withdrawals.prompts("s")] == [False, True]
    chat = Chat(store, "s", await store.events.last_seq("s"))
    assert await chat.start("And now?") == 2
    await chat.say("Yes.")
    await chat.finish()
    await store.sessions.reset("s")
    await store.sessions.delete("s")


async def test_further_answers_of_before_comparisons_stay_and_one_that_was_open_is_stopped(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    names = [migration.name for migration in MIGRATIONS]
    filled_at(path, names.index("0018_comparisons"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO responses (ai_turn_id, provider_id, response_type, response_index, text, "
            "created_at, model, answer_id) "
            "VALUES ('t0', 'openai', 'batch', 1, 'Pear.', 5, 'b', 'a1')"
        )
        connection.execute("UPDATE turns SET chosen_answer = 'a1' WHERE id = 't0'")
        connection.execute("INSERT INTO open_answers VALUES ('t0', 'a2', 'openai/c', 'gone')")
    async with open_store(path) as store:
        turn = await store.turn_reader.get("t0", include_events=True)
        (answer,) = turn.answers
        assert (answer.text, answer.usage, answer.duration_ms) == ("Pear.", None, None)
        assert (answer.tool_calls, answer.sources) == ([], None)
        assert (turn.chosen_answer, turn.compare) == ("a1", None)
        assert len(turn.tool_calls) == 1, "those of the turn itself"
        assert turn.events is not None
        stopped = [e for e in turn.events if e["type"] == "answer_finished"]
        assert [(e["answerId"], e["status"]) for e in stopped] == [("a2", "stopped")]
        copy = await store.forks.fork("s", "t0", [])
        (copied,) = (await store.turn_reader.list_page(copy.id)).turns[0].answers
        assert (copied.answer_id, copied.text) == ("a1", "Pear.")


async def test_rewinds_and_summaries_of_before_get_the_numbers_of_their_events(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    names = [migration.name for migration in MIGRATIONS]
    filled_at(path, names.index("0021_order_by_numbers"))
    late = 10**12
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM events")
        # The clock was set back after the rewind.
        connection.execute("UPDATE turns SET status = 'aborted'")
        for turn, at in (("t0", 5), ("t1", late)):
            connection.execute("UPDATE turns SET withdrawn_at = ? WHERE id = ?", (at, turn))
        for seq, kind, more in (
            (4, "context_compacted", {}),
            (5, "went_back", {"withdrawn": ["t1"]}),
            (7, "context_compacted", {}),
        ):
            data = json.dumps({"type": kind, "seq": seq, **more})
            event = ("s", seq, kind, data)
            connection.execute("INSERT INTO events VALUES (?, ?, NULL, ?, ?, NULL)", event)
        sql = """INSERT INTO compactions VALUES
            (?, 's', 0, 0, 'dropped', '[]', '[]', NULL, 'm', 1, 1, ?)"""
        for number in (91, 92, 93):
            connection.execute(sql, (number, late - number))
    async with open_store(path) as store:
        await store.sessions.get("s")
    assert rows(path, "SELECT id, withdrawn_seq FROM turns ORDER BY id") == [("t0", 7), ("t1", 5)]
    numbers = rows(path, "SELECT id, seq FROM compactions WHERE id > 90 ORDER BY id")
    assert numbers == [(91, 7), (92, 4), (93, 7)]
