"""Pages that read too slowly, or send too much, on real connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from jupyter_datalayer_agent.server.page import MAX_MESSAGE_BYTES, MAX_WAITING
from tests.support.jupyter import TOKEN, RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.page import FakePage

ANSWER = "".join(f"{number:06} word " for number in range(134_000))
"""1.6 MB; its turn sends it twice, in pieces and as a whole."""
TURNS = 12
TOO_SLOW = "A page reads too slowly"


@asynccontextmanager
async def page(
    server: RunningServer, *messages: dict[str, Any]
) -> AsyncIterator[WebSocketClientConnection]:
    """A connection that reads a message only on request; the others stay in transit."""
    url = server.url.replace("http", "ws", 1) + "datalayer-agent/page"
    request = HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"})
    connection = await websocket_connect(request)
    for message in ({"type": "hello", "clientId": "slow"}, *messages):
        await connection.write_message(json.dumps(message))
    try:
        yield connection
    finally:
        connection.close()
        while connection.protocol is not None:  # until the other side has closed it, too
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(connection.read_message(), 0.1)


def subscribe(session: str, after: int = 0) -> dict[str, Any]:
    return {"type": "subscribe", "sessionId": session, "after": after}


class Seen:
    """The numbers of the events that came, by session, with their text, and how many characters
    there were in all."""

    def __init__(self, sessions: list[str]) -> None:
        self.numbers: dict[str, list[int]] = {session: [] for session in sessions}
        self.texts: dict[str, str] = dict.fromkeys(sessions, "")
        self.ends: list[str] = []
        self.size = 0
        self.ended = False
        self.lasts = dict.fromkeys(sessions, -1)
        """The newest event of each session, once that is known."""

    async def read(self, connection: WebSocketClientConnection) -> None:
        """Read until all are there or the connection ends."""
        while not all(self.last(session) == last for session, last in self.lasts.items()):
            text = await asyncio.wait_for(connection.read_message(), 60)
            if text is None:
                self.ended = True
                return
            self.size += len(text)
            message = json.loads(text)
            if message["type"] == "event":
                session, event = message["sessionId"], message["event"]
                self.numbers[session].append(event["seq"])
                if event["type"] == "text_delta":
                    self.texts[session] += event["delta"]
                elif event["type"] == "turn_completed":
                    self.ends.append(session)

    def last(self, session: str) -> int:
        return max(self.numbers[session], default=0)

    def assert_each_once_and_in_order(self) -> None:
        for session, last in self.lasts.items():
            numbers = self.numbers[session]
            assert numbers == sorted(set(numbers))
            assert (numbers[0], numbers[-1]) == (1, last)
            # Pieces of text may be joined once their turn has ended; nothing of it is missing.
            assert self.texts[session] == ANSWER
        assert sorted(self.ends) == sorted(self.lasts)


async def test_a_page_that_does_not_read_is_closed_and_continues_where_it_was(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    sessions = [server.post("sessions", {})["id"] for _ in range(TURNS)]
    seen = Seen(sessions)
    async with page(server, *map(subscribe, sessions)) as slow:
        await assert_it_is_closed(server, model, slow, seen)
    seen.lasts = {each: server.get(f"sessions/{each}")["lastSeq"] for each in sessions}
    async with page(server, *(subscribe(each, seen.last(each)) for each in sessions)) as again:
        await seen.read(again)
    seen.assert_each_once_and_in_order()

    # A long past may be more than what may wait: it is given as fast as it is read.
    past = Seen(sessions)
    past.lasts = seen.lasts
    async with page(server, *map(subscribe, sessions)) as slow:
        assert server.get("sessions")["sessions"]  # so long it has read nothing
        await past.read(slow)
    past.assert_each_once_and_in_order()
    assert past.size > 2 * MAX_WAITING


async def assert_it_is_closed(
    server: RunningServer, model: ScriptedModelServer, slow: WebSocketClientConnection, seen: Seen
) -> None:
    sent = 0
    with ThreadPoolExecutor(1) as pool:
        for session in seen.numbers:
            model.script(Say(ANSWER, chunk=40_000))
            body = {"message": "write", "sessionId": session}
            loop = asyncio.get_running_loop()
            reply = await loop.run_in_executor(pool, server.post, "chat", body)
            assert reply["status"] == "completed"
            sent += 0 if seen.ended else 2 * len(ANSWER)
            if not seen.ended and TOO_SLOW in server.log.read_text():
                # What is on its way comes, and the end; a page that reads nothing at all for
                # another five seconds finds the connection broken.
                await seen.read(slow)
    assert seen.ended, "it was not closed"
    assert slow.close_code == 1013
    assert slow.close_reason == "The page reads too slowly. Connect again."
    # What waited is not kept for a page that is to ask for it again.
    assert seen.size < sent - MAX_WAITING


async def test_a_page_is_sent_its_size_limit_and_closed_where_it_sends_more(
    server: RunningServer,
) -> None:
    text = json.dumps({"type": "response", "requestId": "r", "ok": True, "result": ""})
    large = text.replace('""', f'"{"x" * (MAX_MESSAGE_BYTES - len(text))}"')
    interrupt = {
        "type": "submit_op", "ref": "next", "sessionId": "none", "op": {"type": "interrupt"}
    }  # fmt: skip
    with FakePage(server, "other") as other:
        other.send_text(large)
        other.send(interrupt)
        assert other.wait_for("op_rejected")["error"]["code"] == "not_found"
    async with page(server) as connection:
        welcome = json.loads(str(await connection.read_message()))
        assert welcome["maxMessageBytes"] == MAX_MESSAGE_BYTES
        with suppress(WebSocketClosedError, StreamClosedError):
            await connection.write_message(large + " " * 100)  # closed before all of it is read
        while await asyncio.wait_for(connection.read_message(), 30) is not None:
            pass
        # The code may be lost with what was on its way.
        assert connection.close_code in (1009, None)
    assert server.request("GET", "sessions").status_code == 200
