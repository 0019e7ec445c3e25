"""A server with a scripted model, and notebooks and chats of a given size, for benchmarks."""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat

from tests.support.jupyter import RunningServer
from tests.support.long_chats import is_summary
from tests.support.model_request import RecordedRequest
from tests.support.model_script import Call, Say, Step
from tests.support.model_server import ScriptedModelServer

CALLS = 20


@contextlib.contextmanager
def running(**options: Any) -> Iterator[tuple[RunningServer, ScriptedModelServer]]:
    """A server whose model is scripted, both warmed up by one turn."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedModelServer() as model,
        RunningServer(Path(folder), api_base=model.base_url, **options) as server,
    ):
        yield server, model


def write_notebook(server: RunningServer, cells: int) -> str:
    """A notebook of that many short code cells; its path."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(f"x{n} = {n}", id=f"c{n}") for n in range(cells)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    path = f"{cells}.ipynb"
    nbformat.write(notebook, server.root / path)
    return path


def request(path: str | None = None, **more: Any) -> dict[str, Any]:
    """A chat request, on a notebook if one is named."""
    if path is None:
        return {"message": "go", "mode": "agent", **more}
    attached = [{"kind": "notebook", "path": path}]
    return {
        "message": "go", "mode": "agent", "attachments": attached, "activeNotebook": path, **more
    }  # fmt: skip


def answering(call: Step) -> Callable[[RecordedRequest], Step]:
    """Calls after each message, ``CALLS`` of them one after the other, then a few words; a summary
    where one is asked for."""

    def answer(asked: RecordedRequest) -> Step:
        if is_summary(asked):
            return Say("What was done so far: cells were read.", chunk=1_000)
        calls = 0
        for item in reversed(asked.items):
            if item.get("role") == "user":
                break
            calls += item.get("role") == "tool" or item.get("type") == "function_call_output"
        return call if calls < CALLS else Say("Done.")

    return answer


def turn_with_calls(
    server: RunningServer, model: ScriptedModelServer, call: Step, body: dict[str, Any]
) -> float:
    """Seconds of one turn of ``CALLS`` tool calls, one after the other, and a short answer."""
    model.set_default(answering(call))
    began = time.perf_counter()
    reply = server.post("chat", body)
    took = time.perf_counter() - began
    assert [each["status"] for each in reply["toolCalls"]] == ["ok"] * CALLS, reply
    return took


def first_text(server: RunningServer, body: dict[str, Any]) -> float:
    """Seconds from the request to the first piece of text."""
    began = time.perf_counter()
    took = 0.0
    for event in server.stream("chat/stream", body):
        if event["type"] == "text_delta" and not took:
            took = time.perf_counter() - began
        # To the end of the stream, so that the connection can be used again.
        assert event["type"] != "turn_aborted", json.dumps(event)
    return took


def median_first_text(
    server: RunningServer, model: ScriptedModelServer, body: dict[str, Any], runs: int
) -> float:
    """Median seconds to the first text, after a warm-up."""
    times = []
    model.set_default(Say("One two three four five."))
    for number in range(runs + 3):
        took = first_text(server, body)
        if number >= 3:
            times.append(took)
    return statistics.median(times)


MOVE = Call("moveNotebookCell", {"cellId": "c1", "position": "start"})
READ_ONE = Call("getNotebookCells", {"start": 0, "limit": 1})
LOOK = Call("getActiveDocument")
