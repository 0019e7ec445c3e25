"""The routes of the scripted model server: both APIs, and what other processes control it with."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import tornado.iostream
import tornado.web

from tests.support import model_wire
from tests.support.model_request import RecordedRequest, ScriptError, hash_of
from tests.support.model_script import (
    DropConnection,
    Hang,
    InvalidJson,
    Plan,
    Raw,
    Status,
    Step,
    plan,
)

if TYPE_CHECKING:
    from tests.support.model_server import ScriptedModelServer

READING_TIME = 0.1
"""Seconds that a client gets to read what was sent before the connection is cut."""

KEY_HEADERS = ("x-api-key", "authorization", "api-key")

ERROR_TYPES = {
    400: ("invalid_request_error", "bad_request"),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


async def first_of(*events: asyncio.Event, timeout: float | None = None) -> None:
    """Wait until one of ``events`` is set, or for ``timeout`` seconds."""
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


class Cut(Exception):
    """The script ends the connection here."""


class ModelHandler(tornado.web.RequestHandler):
    """Both model routes."""

    def initialize(self, server: ScriptedModelServer) -> None:
        self.server = server
        self.gone = asyncio.Event()

    def on_connection_close(self) -> None:
        self.gone.set()
        if hasattr(self, "recorded"):
            self.server.ended(self.recorded, "disconnected")

    async def post(self) -> None:
        arrived_at = time.monotonic()
        try:
            body = json.loads(self.request.body)
        except ValueError:
            self._error(400, "the request body is not JSON")
            return
        headers = {name.lower(): value for name, value in self.request.headers.get_all()}
        keys = {name: headers.pop(name) for name in KEY_HEADERS if name in headers}
        key_header, key = next(iter(keys.items()), (None, None))
        self.recorded = RecordedRequest(
            self.request.path, headers, body, "present" if key else None, arrived_at
        )
        self.recorded.key_hash = hash_of(key) if key else None
        self.recorded.key_header = key_header
        self.recorded.query = self.request.query
        self.server.record(self.recorded)
        try:
            refusal = self.server.refusal(self.recorded)
            await self._play(refusal or self.server.next_step(self.recorded))
        except ScriptError as error:
            self.server.failed(str(error))
            self._error(500, f"scripted model: {error}", "script_exhausted")
        except Cut:
            self._cut()
        except tornado.iostream.StreamClosedError:
            self.server.ended(self.recorded, "disconnected")

    async def _play(self, step: Step) -> None:
        if isinstance(step, Hang):
            await first_of(self.gone, self.server.stopping, timeout=step.seconds)
            if step.step is None or self.gone.is_set():
                raise Cut
            step = step.step
        if isinstance(step, DropConnection):
            raise Cut
        if isinstance(step, Status):
            self._status(step)
        elif isinstance(step, InvalidJson):
            streamed = self.recorded.stream
            self.set_header("Content-Type", "text/event-stream" if streamed else "application/json")
            await self.finish("data: {not json\n\n" if streamed else "{not json")
            self.server.ended(self.recorded, "completed")
        elif isinstance(step, Raw):
            await self._raw(step)
        elif callable(step):
            raise ScriptError("a function returned a function")
        else:
            planned = plan(step, self.recorded)
            await (self._stream(planned) if self.recorded.stream else self._whole(planned))
            self.server.ended(self.recorded, "completed")

    async def _raw(self, step: Raw) -> None:
        self.set_header("Content-Type", step.content_type)
        self.request.connection.stream.set_nodelay(True)  # type: ignore[union-attr]
        for sent, piece in enumerate(step.pieces):
            if sent == step.gate:
                await self.server.pass_gate(self.gone)
            if step.delay_ms:
                await first_of(self.gone, timeout=step.delay_ms / 1000)
            self.write(piece)
            await self.flush()
        if step.cut:
            await self._let_read()
            raise Cut
        await self.finish()
        self.server.ended(self.recorded, "completed")

    async def _let_read(self) -> None:
        """A client that finds the connection gone drops what it has not read yet."""
        await first_of(self.gone, timeout=READING_TIME)

    async def _stream(self, planned: Plan) -> None:
        self.set_header("Content-Type", "text/event-stream; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.request.connection.stream.set_nodelay(True)  # type: ignore[union-attr]
        sent = 0
        ended = await self._at(planned, sent)
        for frame in () if ended else model_wire.frames(planned, self.recorded):
            if frame.delay_ms:
                await first_of(self.gone, timeout=frame.delay_ms / 1000)
            if self.gone.is_set():
                raise tornado.iostream.StreamClosedError
            self.write(frame.encode())
            await self.flush()
            if frame.content:
                sent += 1
                self.recorded.chunks_sent = sent
                self.recorded.first_sent_at = self.recorded.first_sent_at or time.monotonic()
                if await self._at(planned, sent):
                    break
        await self.finish()

    async def _at(self, planned: Plan, sent: int) -> bool:
        """What the plan has in store after ``sent`` pieces; true if the stream is to end here."""
        if sent in planned.gates:
            await self.flush()
            await self.server.pass_gate(self.gone)
        if planned.break_after == sent:
            await self.flush()
            await self._let_read()
            raise Cut
        if planned.error is not None and planned.error.after == sent:
            error = planned.error
            self.write(model_wire.error_frame(error.message, error.code, self.recorded).encode())
            return True
        return False

    async def _whole(self, planned: Plan) -> None:
        if planned.gates:
            await self.server.pass_gate(self.gone)
        if planned.error is not None:
            self._status(
                Status(
                    500,
                    body={"error": {"message": planned.error.message, "code": planned.error.code}},
                )
            )
            return
        body = json.dumps(model_wire.whole(planned, self.recorded)).encode()
        self.set_header("Content-Type", "application/json")
        if planned.break_after is not None:
            self.write(body[: len(body) // 2])
            await self.flush()
            raise Cut
        await self.finish(body)

    def _cut(self) -> None:
        """Close the connection as it is: a client sees it break off."""
        self.server.ended(self.recorded, "cut")
        self._finished = True
        self.request.connection.stream.close()  # type: ignore[union-attr]

    def _status(self, step: Status) -> None:
        self.set_status(step.code)
        for name, value in step.headers.items():
            self.set_header(name, value)
        kind, code = ERROR_TYPES.get(step.code, ("server_error", "server_error"))
        body = step.body
        if body is None:
            message = f"Scripted status {step.code}."
            body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
        self.server.ended(self.recorded, "status")
        if isinstance(body, str):
            self.finish(body)
        else:
            self.set_header("Content-Type", "application/json")
            self.finish(json.dumps(body))

    def _error(self, status: int, message: str, code: str = "bad_request") -> None:
        if hasattr(self, "recorded"):
            self.server.ended(self.recorded, "status")
        self.set_status(status)
        self.finish(
            {"error": {"message": message, "type": "scripted_model", "param": None, "code": code}}
        )


class ModelsHandler(tornado.web.RequestHandler):
    """The list of models: a single example."""

    def get(self) -> None:
        model = {
            "id": "scripted",
            "object": "model",
            "created": int(time.time()),
            "owned_by": "tests",
        }
        self.write({"object": "list", "data": [model]})


class ControlHandler(tornado.web.RequestHandler):
    """What another process does with the server."""

    def initialize(self, server: ScriptedModelServer) -> None:
        self.server = server

    def get(self, action: str) -> None:
        if action == "requests":
            self.set_header("Content-Type", "application/json")
            self.finish(json.dumps([request.to_json() for request in self.server.requests]))
        elif action == "state":
            state = {"remaining": self.server.remaining, "waiting": self.server.waiting}
            self.finish(
                {**state, "requests": len(self.server.requests), "errors": self.server.errors}
            )
        else:
            raise tornado.web.HTTPError(405)

    def post(self, action: str) -> None:
        body = json.loads(self.request.body or b"{}")
        if action == "script":
            try:
                self.server.load(body)
            except (ScriptError, KeyError, TypeError) as error:
                self.set_status(400)
                self.finish({"error": {"message": str(error), "code": "bad_script"}})
                return
        elif action == "reset":
            self.server.reset()
        elif action == "release":
            self.server.release(body.get("count", 1))
        else:
            raise tornado.web.HTTPError(405)
        self.finish({"remaining": self.server.remaining})


def application(server: ScriptedModelServer) -> tornado.web.Application:
    arguments = {"server": server}
    return tornado.web.Application(
        [
            (r"(?:/v1)?/(?:responses|chat/completions|messages)", ModelHandler, arguments),
            # Azure's
            (r"/openai/(?:v1/)?responses", ModelHandler, arguments),
            (r"/openai/deployments/[^/]+/chat/completions", ModelHandler, arguments),
            (r"(?:/v1)?/models", ModelsHandler),
            (r"/__(script|requests|reset|release|state)__", ControlHandler, arguments),
            *([(r"/.*", ModelHandler, arguments)] if server.takes_any_path else []),
        ],
        log_function=lambda handler: None,
    )
