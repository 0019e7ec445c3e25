"""A chat of the real Jupyter AI, by the WebSocket that its page uses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from tests.support.jupyter import TOKEN, RunningServer

Result = TypeVar("Result")
PERSONA = "jupyter-ai-personas::jupyter_datalayer_agent::DatalayerPersona"


class Chat:
    """One connection. ``messages`` are those of the chat by id, as they are now."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.messages: dict[str, dict[str, Any]] = {}
        self.id = ""
        self._changed = asyncio.Condition()
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        while (frame := await self._connection.read_message()) is not None:
            data = json.loads(frame)
            async with self._changed:
                for message in data.get("messages", []):
                    self.messages[message["id"]] = message
                if data["action"] == "message":
                    self.messages[data["message"]["id"]] = data["message"]
                elif data["action"] == "connection":
                    self.id = data["id"]
                self._changed.notify_all()

    async def say(
        self,
        body: str,
        *,
        sender: str | None = None,
        files: tuple[str, ...] = (),
        persona: str = PERSONA,
        **settings: str,
    ) -> None:
        """Send a message to a persona."""
        attachments = [
            {"value": each, "type": "notebook" if each.endswith(".ipynb") else "file"}
            for each in files
        ]
        metadata: dict[str, Any] = {"to_persona": persona}
        if settings:
            metadata["settings"] = settings
        message: dict[str, Any] = {
            "type": "client",
            "action": "send",
            "id": uuid.uuid4().hex,
            "body": body,
            "metadata": metadata,
            "attachments": attachments or None,
        }
        if sender is not None:
            message["sender"] = {"username": sender.lower(), "name": sender, "display_name": sender}
        await self._connection.write_message(json.dumps(message))

    @property
    def replies(self) -> list[str]:
        """What the persona said, a text for each of its messages."""
        return [each["body"] for each in self.messages.values() if sender_of(each) == PERSONA]

    async def until(self, condition: Callable[[], bool], seconds: float = 30) -> None:
        """Wait for what the chat is to show."""

        async def wait() -> None:
            async with self._changed:
                await self._changed.wait_for(condition)

        try:
            await asyncio.wait_for(wait(), seconds)
        except asyncio.TimeoutError as error:
            raise AssertionError(f"The chat shows {self.replies}") from error

    async def reply(self, text: str, count: int = 1) -> str:
        """The ``count``-th message of the persona, once it has this text."""
        await self.until(lambda: len(self.replies) >= count and text in self.replies[count - 1])
        return self.replies[count - 1]


def sender_of(message: dict[str, Any]) -> str:
    """The id of a message's sender."""
    sender = message["sender"]
    return str(sender["username"] if isinstance(sender, dict) else sender)


@contextlib.asynccontextmanager
async def open_chat(server: RunningServer, name: str) -> AsyncIterator[Chat]:
    """The chat file of this name, made if there is none, with the persona ready."""
    file = server.root / name
    if not file.exists():
        file.write_text("{}")
    address = f"{server.url.replace('http', 'ws')}api/chat/ws/{name}"
    headers = {"Authorization": f"token {TOKEN}"}
    connection = await websocket_connect(HTTPRequest(address, headers=headers))
    chat = Chat(connection)
    try:
        yield chat
    finally:
        connection.close()
        await chat._reading


def run(test: Coroutine[Any, Any, Result]) -> Result:
    """Run a test's coroutine."""
    return asyncio.run(asyncio.wait_for(test, 100))
