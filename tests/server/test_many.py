"""Many of what there are few of otherwise, while the server answers others."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.support.health import Health
from tests.support.jupyter import TOKEN, RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer

SLOWEST = 0.3
"""Seconds that another request may wait."""
SESSIONS = 10_000
PAGES = 200
CALLS, MOST_CALLS = 300, 50


def test_sessions_are_listed_however_many_there_are(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("First."))
    session = server.post("chat", {"message": "hello"})["sessionId"]
    [database] = server.folder.rglob("agent.db")
    with sqlite3.connect(database, timeout=60) as connection:
        cursor = connection.execute("SELECT * FROM sessions WHERE id = ?", [session])
        names = [column[0] for column in cursor.description]
        row = dict(zip(names, cursor.fetchone(), strict=True))
        copies = [[*({**row, "id": f"s_{number:05}"}).values()] for number in range(SESSIONS)]
        marks = ",".join("?" * len(names))
        connection.executemany(f"INSERT INTO sessions VALUES ({marks})", copies)
    listed = set()
    cursor_of_page: dict[str, Any] = {}
    with Health(server) as health:
        for _ in range(SESSIONS):
            page = server.get("sessions", limit=200, **cursor_of_page)
            listed |= {each["id"] for each in page["sessions"]}
            if not page.get("nextCursor"):
                break
            cursor_of_page = {"cursor": page["nextCursor"]}
    assert len(listed) > SESSIONS
    assert health.slowest < SLOWEST


async def test_an_event_reaches_each_of_many_pages(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = server.post("sessions", {})["id"]

    async def page(number: int) -> WebSocketClientConnection:
        url = server.url.replace("http", "ws", 1) + "datalayer-agent/page"
        request = HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"})
        connection = await websocket_connect(request)
        hello = {"type": "hello", "clientId": f"page-{number}"}
        for message in (hello, {"type": "subscribe", "sessionId": session}):
            await connection.write_message(json.dumps(message))
        return connection

    async def reported(connection: WebSocketClientConnection) -> str:
        while True:
            message = json.loads(str(await connection.read_message()))
            if message["type"] == "event" and message["event"]["type"] == "final_reply":
                return str(message["event"]["text"])

    model.script(Say("To all of you."))
    pages = [await page(number) for number in range(PAGES)]
    try:
        with Health(server) as health:
            body = {"message": "hello", "sessionId": session}
            asked = asyncio.to_thread(server.post, "chat", body)
            _, *texts = await asyncio.gather(asked, *map(reported, pages))
    finally:
        for connection in pages:
            connection.close()
            while await connection.read_message() is not None:
                pass
    assert texts == ["To all of you."] * PAGES
    assert health.slowest < SLOWEST


def test_an_answer_of_very_many_calls_ends_at_the_limit_and_each_has_its_answer(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    calls = [Call("listFiles", {"path": f"{number}"}) for number in range(CALLS)]
    model.script(Calls(calls))
    body = {"message": "go", "mode": "agent", "sessionId": server.post("sessions", {})["id"]}
    with Health(server) as health:
        reply = server.post("chat", body)
    assert reply["status"] == "aborted"
    assert "the limit of one turn" in reply["reply"]
    assert Counter(each["status"] for each in reply["toolCalls"])["aborted"] == CALLS - MOST_CALLS
    assert len(model.requests) == 1
    assert health.slowest < SLOWEST
    # The next request is valid, and short enough for any model.
    model.script(Say("Gone on."))
    assert server.post("chat", {**body, "message": "continue"})["reply"] == "Gone on."
