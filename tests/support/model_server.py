"""The scripted model server: real HTTP, OpenAI's APIs, and a script that says what it answers.

In a test::

    with ScriptedModelServer(Call("getNotebookCells"), Say("Done.")) as server:
        ...  # api_base = server.base_url, any key, any model name
        assert server.requests[0].tool_names == [...]

For other processes, ``python -m tests.support.model_server --port 4010 [--script file.json]
[--default TEXT]`` prints its base URL on one line when it listens (port 0: any free one). Steps, in
Python and in JSON: ``model_script``.

Routes: ``POST /v1/responses``, ``/v1/chat/completions`` and Anthropic's ``/v1/messages`` (streaming
and not), the first two at Azure's paths as well, ``GET /v1/models``;
and for control ``POST /__script__`` (a JSON list of steps to append, or ``{"steps": [...],
"default": step}``), ``GET /__requests__``, ``POST /__reset__`` (forgets script, default and
requests, and lets everything that waits go), ``POST /__release__`` ``{"count"?: 1}``, ``GET
/__state__`` ``{remaining, waiting, requests}``.

A request that finds no step left is answered 500 ``script_exhausted``, unless there is a default
step; tests see it in ``server.errors`` too. Each request is recorded with its body and headers; the
value of a key never is.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import json
import pathlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import tornado.httpserver
import tornado.netutil

from tests.support.model_request import RecordedRequest, ScriptError
from tests.support.model_routes import application, first_of
from tests.support.model_script import (
    Answer,
    BreakAfter,
    Call,
    Calls,
    Deltas,
    DropConnection,
    Empty,
    Gate,
    Hang,
    InvalidJson,
    NoFinish,
    Raw,
    Reasoning,
    Refuse,
    Say,
    Status,
    Step,
    StreamError,
    TokenCounts,
    step_from_json,
)

__all__ = [
    "Answer",
    "BreakAfter",
    "Call",
    "Calls",
    "Deltas",
    "DropConnection",
    "Empty",
    "Gate",
    "Hang",
    "InvalidJson",
    "NoFinish",
    "Raw",
    "Reasoning",
    "RecordedRequest",
    "Refuse",
    "Say",
    "ScriptError",
    "ScriptedModelServer",
    "Status",
    "StreamError",
    "TokenCounts",
    "step_from_json",
]


class ScriptedModelServer:
    """The server, in a thread of its own. Every method may be called from any thread.

    ``default`` is the step for requests that come after the script has ended. ``rules`` are asked
    first: one that returns a step refuses the request with it, and the script does not go on; see
    ``model_rules``. With ``takes_any_path`` the script answers at every path, by ``Raw`` steps."""

    def __init__(
        self,
        *steps: Step,
        default: Step | None = None,
        rules: Sequence[Callable[[RecordedRequest], Step | None]] = (),
        port: int = 0,
        takes_any_path: bool = False,
    ) -> None:
        self.takes_any_path = takes_any_path
        self._rules = list(rules)
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
        self._wake = asyncio.Event()
        self.stopping = asyncio.Event()
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

    def load(self, data: Sequence[Any] | dict[str, Any]) -> None:
        """Append the steps of a JSON script; ``default`` is set where it is given.

        Raises ``ScriptError``."""
        steps: Sequence[Any]
        if isinstance(data, dict):
            if "default" in data:
                self.set_default(step_from_json(data["default"]) if data["default"] else None)
            steps = data.get("steps", [])
        else:
            steps = data
        self.script(*[step_from_json(step) for step in steps])

    def set_default(self, step: Step | None) -> None:
        with self._changed:
            self._default = step

    def reset(self) -> None:
        """Forget the script, the default, the requests and the errors, and let every paused stream
        go on."""
        with self._changed:
            self._steps.clear()
            self._default = None
            self.requests.clear()
            self.errors.clear()
        self._let_go()

    def _let_go(self) -> None:
        with self._changed:
            self._released = 0
            self._generation += 1
        self._nudge()

    def release(self, count: int = 1) -> None:
        """Let ``count`` gates open: those that are waiting now, else the next ones that are
        reached."""
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

    def __enter__(self) -> ScriptedModelServer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
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
            self._loop.call_soon_threadsafe(self.stopping.set)
            self._thread.join(10)

    def _run(self, started: threading.Event) -> None:
        asyncio.run(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        sockets = tornado.netutil.bind_sockets(self._port, "127.0.0.1")
        self._port = sockets[0].getsockname()[1]
        server = tornado.httpserver.HTTPServer(application(self), max_body_size=1 << 30)
        server.add_sockets(sockets)
        started.set()
        await self.stopping.wait()
        server.stop()
        # What was received and what went wrong stays, for a test that asks afterwards.
        self._let_go()
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
            request.ended_at = request.ended_at or time.monotonic()
            self._changed.notify_all()

    def refusal(self, request: RecordedRequest) -> Step | None:
        """The step of the first rule that refuses ``request``."""
        answers = (rule(request) for rule in self._rules)
        return next((step for step in answers if step is not None), None)

    def next_step(self, request: RecordedRequest) -> Step:
        """The step for ``request``. Raises ``ScriptError`` when the script has ended or cannot
        answer."""
        with self._changed:
            step = self._steps.popleft() if self._steps else self._default
        if step is None:
            raise ScriptError(
                f"the script has no step left for request {len(self.requests)} to {request.path}"
            )
        while callable(step):
            step = step(request)
        return step

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
                await first_of(wake, gone)
        finally:
            with self._changed:
                self.waiting -= 1
                self._changed.notify_all()


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
        server.load(json.loads(options.script.read_text()))
    with server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
