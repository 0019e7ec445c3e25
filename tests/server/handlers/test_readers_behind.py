"""Readers of server-sent events that are far behind are sent all of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from jupyter_datalayer_agent.protocol.limits import MAX_WAITING_EVENTS
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

MANY = MAX_WAITING_EVENTS + 2_500


def numbers(server: RunningServer, session: str) -> Iterator[int]:
    """The numbers of the session's events as they come."""
    with server.request("GET", f"sessions/{session}/events?after=0", stream=True) as answer:
        for line in answer.iter_lines():
            if line.startswith(b"id: "):
                yield int(line[4:])


def warning(seq: int) -> str:
    return json.dumps({"type": "warning", "seq": seq, "code": "x", "message": "y", "at": 1})


def test_a_reader_that_is_many_events_behind_is_sent_the_rest_and_then_live_ones(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("First."))
    session = server.post("chat", {"message": "hello"})["sessionId"]
    begun = server.get(f"sessions/{session}")["lastSeq"]
    [database] = server.folder.rglob("agent.db")
    with sqlite3.connect(database, timeout=60) as connection:
        connection.executemany(
            "INSERT INTO events (session_id, seq, type, data) VALUES (?, ?, 'warning', ?)",
            [(session, seq, warning(seq)) for seq in range(begun + 1, begun + MANY + 1)],
        )
    coming = numbers(server, session)
    last = begun + MANY
    assert [next(coming) for _ in range(last)] == list(range(1, last + 1))
    model.script(Say("Second."))
    server.post("chat", {"message": "again", "sessionId": session})
    assert next(coming) == last + 1
    coming.close()
