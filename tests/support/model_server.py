"""The scripted model server: a real HTTP server that speaks OpenAI's APIs and says what its script says.

In a test::

    with ScriptedModelServer(Call("getNotebookCells"), Say("Done.")) as server:
        ...  # api_base = server.base_url, any key, any model name
        assert server.requests[0].tool_names == [...]

For other processes, ``python -m tests.support.model_server --port 4010 [--script file.json] [--default TEXT]`` prints
its base URL on one line when it listens (port 0: any free one). Steps, in Python and in JSON: ``model_script``.

Routes: ``POST /v1/responses`` and ``/v1/chat/completions`` (streaming and not), ``GET /v1/models``; and for control
``POST /__script__`` (a JSON list of steps to append, or ``{"steps": [...], "default": step}``), ``GET /__requests__``,
``POST /__reset__`` (forgets script, default and requests, and lets everything that waits go), ``POST /__release__``
``{"count"?: 1}``, ``GET /__state__`` ``{remaining, waiting, requests}``.

A request that finds no step left is answered 500 ``script_exhausted``, unless there is a default step; tests see it in
``server.errors`` too. Each request is recorded with its body and headers; the value of a key never is.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import pathlib
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import tornado.httpserver
import tornado.iostream
import tornado.netutil
import tornado.web

from tests.support import model_wire
from tests.support.model_request import RecordedRequest, ScriptError
from tests.support.model_script import (
    Answer,
    BreakAfter,
    Call,
    Calls,
    DropConnection,
    Empty,
    Gate,
    Hang,
    InvalidJson,
    NoFinish,
    Plan,
    Reasoning,
    Say,
    Status,
    Step,
    StreamError,
    TokenCounts,
    plan,
    step_from_json,
)

__all__ = [
    "Answer",
    "BreakAfter",
    "Call",
    "Calls",
    "DropConnection",
    "Empty",
    "Gate",
    "Hang",
    "InvalidJson",
    "NoFinish",
    "Reasoning",
    "RecordedRequest",
    "Say",
    "ScriptError",
    "ScriptedModelServer",
    "Status",
    "StreamError",
    "TokenCounts",
    "step_from_json",
]

ERROR_TYPES = {
    400: ("invalid_request_error", "bad_request"),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


class ScriptedModelServer:
    """The server, in a thread of its own. Every method may be called from any thread.

    ``default`` is the step for requests that come after the script has ended."""

    def __init__(self, *steps: Step, default: Step | None = None, port: int = 0) -> None:
        self._steps: collections.deque[Step] = collections.deque(steps)
        self._default = default
        self._changed = threading.Condition()
        self._released = 0
        self._generation = 0
        self.waiting = 0
        """How many streams are paused at a gate."""
        self.requests: list[RecordedRequest] = []
        """Every model request, in order of arrival."""
        self.errors: list[str] = []
        """What the script could not answer."""
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event = asyncio.Event()
        self._thread: threading.Thread | None = None

    # -- what a test does with it

    @property
    def base_url(self) -> str:
        """The API base, ``http://127.0.0.1:PORT/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def remaining(self) -> int:
        """How many steps have not been used."""
        with self._changed:
            return len(self._steps)

    def script(self, *steps: Step) -> None:
        """Append steps."""
        with self._changed:
            self._steps.extend(steps)

    def set_default(self, step: Step | None) -> None:
        with self._changed:
            self._default = step

    def reset(self) -> None:
        """Forget the script, the default, the requests and the errors, and let every paused stream go on."""
        with self._changed:
            self._steps.clear()
            self._default = None
            self.requests.clear()
            self.errors.clear()
            self._released = 0
            self._generation += 1
        self._nudge()

    def release(self, count: int = 1) -> None:
        """Let ``count`` gates open: those that are waiting now, else the next ones that are reached."""
        with self._changed:
            self._released += count
        self._nudge()

    def wait_for(self, condition: Callable[[], bool], timeout: float = 10) -> None:
        """Block until ``condition()`` holds; it is looked at whenever something happens here.

        Raises ``TimeoutError``, naming what has been received."""
        with self._changed:
            if not self._changed.wait_for(condition, timeout):
                seen = [(request.path, request.outcome) for request in self.requests]
                raise TimeoutError(
                    f"waited {timeout} s; requests: {seen}; at gates: {self.waiting}; {self.errors}"
                )

    async def wait_until(self, condition: Callable[[], bool], timeout: float = 10) -> None:
        """``wait_for``, without blocking the event loop."""
        await asyncio.to_thread(self.wait_for, condition, timeout)

    def received(self, count: int) -> Callable[[], bool]:
        """A condition for ``wait_for``: at least ``count`` requests have arrived."""
        return lambda: len(self.requests) >= count

    def at_gate(self) -> bool:
        """A condition for ``wait_for``: a stream is paused."""
        return self.waiting > 0

    def answered(self, index: int, outcome: str | None = None) -> Callable[[], bool]:
        """A condition for ``wait_for``: request ``index`` has ended (with ``outcome``)."""

        def holds() -> bool:
            if len(self.requests) <= index or self.requests[index].outcome is None:
                return False
            return outcome is None or self.requests[index].outcome == outcome

        return holds

    # -- its life

    def __enter__(self) -> ScriptedModelServer:  # noqa: PYI034 - Self needs Python 3.11
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        started = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(started,), name="scripted-model", daemon=True
        )
        self._thread.start()
        if not started.wait(10):
            raise RuntimeError("the scripted model server did not start")

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(10)

    def _run(self, started: threading.Event) -> None:
        asyncio.run(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        sockets = tornado.netutil.bind_sockets(self._port, "127.0.0.1")
        self._port = sockets[0].getsockname()[1]
        server = tornado.httpserver.HTTPServer(_application(self), max_body_size=1 << 30)
        server.add_sockets(sockets)
        started.set()
        await self._stopping.wait()
        server.stop()
        self.reset()
        await server.close_all_connections()
        waiting = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    # -- what the handlers use, in the server's thread

    def _nudge(self) -> None:
        def wake() -> None:
            self._wake.set()
            self._wake = asyncio.Event()

        with self._changed:
            self._changed.notify_all()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(wake)

    def record(self, request: RecordedRequest) -> None:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()

    def ended(self, request: RecordedRequest, outcome: str) -> None:
        with self._changed:
            request.outcome = request.outcome or outcome
            self._changed.notify_all()

    def next_step(self, request: RecordedRequest) -> Step:
        """The step for ``request``. Raises ``ScriptError`` when the script has ended or cannot answer."""
        with self._changed:
            step = self._steps.popleft() if self._steps else self._default
        if step is None:
            raise ScriptError(
                f"the script has no step left for request {len(self.requests)} to {request.path}"
            )
        while callable(step):
            step = step(request)
        return step  # type: ignore[return-value]

    def failed(self, message: str) -> None:
        with self._changed:
            self.errors.append(message)
            self._changed.notify_all()

    async def pass_gate(self, gone: asyncio.Event) -> None:
        """Wait for ``release``, or until the client has gone."""
        generation = self._generation
        with self._changed:
            self.waiting += 1
            self._changed.notify_all()
        try:
            while not gone.is_set():
                wake = self._wake
                with self._changed:
                    if self._generation != generation:
                        return
                    if self._released > 0:
                        self._released -= 1
                        return
                await _either(wake, gone)
        finally:
            with self._changed:
                self.waiting -= 1
                self._changed.notify_all()


async def _either(*events: asyncio.Event, timeout: float | None = None) -> None:
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


class _Cut(Exception):
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
        try:
            body = json.loads(self.request.body)
        except ValueError:
            self._error(400, "the request body is not JSON")
            return
        headers = {name.lower(): value for name, value in self.request.headers.get_all()}
        key = headers.pop("authorization", None) or headers.pop("api-key", None)
        self.recorded = RecordedRequest(
            self.request.path, headers, body, "present" if key else None
        )
        self.server.record(self.recorded)
        try:
            await self._play(self.server.next_step(self.recorded))
        except ScriptError as error:
            self.server.failed(str(error))
            self._error(500, f"scripted model: {error}", "script_exhausted")
        except _Cut:
            self._cut()
        except tornado.iostream.StreamClosedError:
            self.server.ended(self.recorded, "disconnected")

    async def _play(self, step: Step) -> None:
        if isinstance(step, Hang):
            await _either(self.gone, self.server._stopping, timeout=step.seconds)
            if step.step is None or self.gone.is_set():
                raise _Cut
            step = step.step
        if isinstance(step, DropConnection):
            raise _Cut
        if isinstance(step, Status):
            self._status(step)
        elif isinstance(step, InvalidJson):
            streamed = self.recorded.stream
            self.set_header("Content-Type", "text/event-stream" if streamed else "application/json")
            await self.finish("data: {not json\n\n" if streamed else "{not json")
            self.server.ended(self.recorded, "completed")
        elif callable(step):
            raise ScriptError("a function returned a function")
        else:
            planned = plan(step, self.recorded)
            await (self._stream(planned) if self.recorded.stream else self._whole(planned))
            self.server.ended(self.recorded, "completed")

    async def _stream(self, planned: Plan) -> None:
        self.set_header("Content-Type", "text/event-stream; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.request.connection.stream.set_nodelay(True)  # type: ignore[union-attr]
        sent = 0
        ended = await self._at(planned, sent)
        for frame in () if ended else model_wire.frames(planned, self.recorded):
            if frame.delay_ms:
                await _either(self.gone, timeout=frame.delay_ms / 1000)
            if self.gone.is_set():
                raise tornado.iostream.StreamClosedError
            self.write(frame.encode())
            await self.flush()
            if frame.content:
                sent += 1
                self.recorded.chunks_sent = sent
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
            raise _Cut
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
            raise _Cut
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
    """The list of models: one that stands for any."""

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
                load_script(self.server, body)
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


def load_script(server: ScriptedModelServer, data: Sequence[Any] | dict[str, Any]) -> None:
    """Append the steps of a JSON script; ``default`` is set where it is given."""
    if isinstance(data, dict):
        if "default" in data:
            server.set_default(step_from_json(data["default"]) if data["default"] else None)
        data = data.get("steps", [])
    server.script(*[step_from_json(step) for step in data])


def _application(server: ScriptedModelServer) -> tornado.web.Application:
    arguments = {"server": server}
    return tornado.web.Application(
        [
            (r"(?:/v1)?/(?:responses|chat/completions)", ModelHandler, arguments),
            (r"(?:/v1)?/models", ModelsHandler),
            (r"/__(script|requests|reset|release|state)__", ControlHandler, arguments),
        ],
        log_function=lambda handler: None,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=pathlib.Path, help="a JSON file with steps")
    parser.add_argument("--default", help="text to answer when the script has ended")
    options = parser.parse_args()
    server = ScriptedModelServer(
        default=Say(options.default) if options.default else None, port=options.port
    )
    if options.script:
        load_script(server, json.loads(options.script.read_text()))
    with server:
        print(server.base_url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
