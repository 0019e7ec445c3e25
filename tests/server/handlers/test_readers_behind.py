"""Readers that are far behind are sent all events, in pages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator

import pytest

from jupyter_datalayer_agent.protocol.limits import MAX_WAITING_EVENTS
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.page import FakePage

MANY = MAX_WAITING_EVENTS + 2_500


Numbers = Generator[int, None, None]


def by_stream(server: RunningServer, session: str) -> Numbers:
    """The numbers of the session's events as server-sent events bring them."""
    with server.request("GET", f"sessions/{session}/events?after=0", stream=True) as answer:
        for line in answer.iter_lines():
            if line.startswith(b"id: "):
                yield int(line[4:])


def by_socket(server: RunningServer, session: str) -> Numbers:
    """The same over a page's WebSocket."""
    with FakePage(server, "behind") as page:
        page.send({"type": "subscribe", "sessionId": session, "after": 0})
        while True:
            yield page.wait_for("event")["event"]["seq"]


def warning(seq: int) -> str:
    return json.dumps({"type": "warning", "seq": seq, "code": "x", "message": "y", "at": 1})


@pytest.mark.parametrize("numbers", [by_stream, by_socket])
def test_a_reader_that_is_many_events_behind_is_sent_the_rest_and_then_live_ones(
    server: RunningServer,
    model: ScriptedModelServer,
    numbers: Callable[[RunningServer, str], Numbers],
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
