"""The scripted model server itself, as other processes use it: over HTTP, as a process."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import (
    Call,
    Empty,
    RecordedRequest,
    Say,
    ScriptedModelServer,
    Status,
)

ROOT = Path(__file__).parents[2]
CELLS = json.dumps({"ok": True, "output": {"cells": [{"id": "c-42", "content": "df.horsepowr"}]}})
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": CELLS}


def post(url: str, body: Any) -> tuple[int, str]:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-secret-value"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=20) as got:
            return got.status, got.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=20) as got:
        return json.loads(got.read())


def events(stream: str) -> list[Any]:
    lines = [line[6:] for line in stream.splitlines() if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[str]:
    """The server as a process of its own; its root URL, without ``/v1``."""
    command = [sys.executable, "-m", "tests.support.model_server", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip().removesuffix("/v1")
        finally:
            server.terminate()


def test_another_process_scripts_it_and_reads_what_it_got() -> None:
    steps = [
        {"call": "updateNotebookCell", "arguments": {"cellId": {"cell": "horsepowr"}}},
        {"say": {"format": "The cell is {}.", "values": [{"regex": '"id": "([^"]+)"'}]}},
    ]
    with process() as url:
        assert post(f"{url}/__script__", steps)[0] == 200
        asked = {"model": "m", "stream": True, "input": [OUTPUT]}
        first = events(post(f"{url}/v1/responses", asked)[1])
        second = json.loads(post(f"{url}/v1/responses", {**asked, "stream": False})[1])
        received = get(f"{url}/__requests__")
        state = get(f"{url}/__state__")
        post(f"{url}/__reset__", {})
        assert get(f"{url}/__requests__") == []
    call = first[-1]["response"]["output"][0]
    assert json.loads(call["arguments"]) == {"cellId": "c-42"}
    assert second["output"][0]["content"][0]["text"] == "The cell is c-42."
    assert [request["stream"] for request in received] == [True, False]
    assert received[0]["authorization"] == "present"
    assert "sk-secret-value" not in json.dumps(received)
    assert (state["remaining"], state["requests"]) == (0, 2)


def test_another_process_lets_a_gate_open() -> None:
    with process("--default", "Later.") as url:
        post(f"{url}/__script__", {"steps": [{"gate": {"say": "one two", "chunk": 3}, "after": 1}]})
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
        connection.request("POST", "/v1/chat/completions", json.dumps({"stream": True}))
        response = connection.getresponse()
        seen = ""
        while '"one"' not in seen:
            seen += response.readline().decode()
        assert get(f"{url}/__state__")["waiting"] == 1
        post(f"{url}/__release__", {})
        assert "[DONE]" in response.read().decode()
        response.close()
        connection.close()
        assert "Later." in post(f"{url}/v1/chat/completions", {})[1]


def test_a_request_that_the_script_has_no_step_for_is_an_error_that_says_so() -> None:
    with ScriptedModelServer(Say("only one")) as server:
        post(f"{server.base_url}/responses", {})
        status, body = post(f"{server.base_url}/responses", {})
        assert status == 500
        assert "no step left" in json.loads(body)["error"]["message"]
        assert len(server.errors) == 1


def test_a_lookup_that_finds_nothing_is_an_error_that_names_it() -> None:
    with ScriptedModelServer(Call("run", {"cellId": {"cell": "nowhere"}})) as server:
        status, body = post(f"{server.base_url}/responses", {"input": [OUTPUT]})
    assert status == 500
    assert "'nowhere'" in body


def test_a_step_may_be_a_function_of_the_request() -> None:
    def decide(request: RecordedRequest) -> Call:
        assert request.tool_outputs == {"call_1": CELLS}
        return Call("run", {"cellId": request.cell("horsepowr")})

    with ScriptedModelServer(decide) as server:
        _, body = post(f"{server.base_url}/responses", {"input": [OUTPUT]})
    assert "c-42" in body


@pytest.mark.parametrize("path", ["responses", "chat/completions"])
def test_both_wires_end_as_the_real_ones_do(path: str) -> None:
    with ScriptedModelServer(Empty()) as server:
        asked = {"stream": True, "stream_options": {"include_usage": True}}
        _, body = post(f"{server.base_url}/{path}", asked)
    if path == "responses":
        last = events(body)[-1]
        assert last["type"] == "response.completed"
        assert last["response"]["usage"]["total_tokens"] > 0
    else:
        *_, finish, usage, done = events(body)
        assert finish["choices"][0]["finish_reason"] == "stop"
        assert usage["usage"]["total_tokens"] > 0
        assert done == "[DONE]"


def test_a_bad_script_is_refused() -> None:
    with ScriptedModelServer() as server:
        url = server.base_url.removesuffix("/v1")
        status, body = post(f"{url}/__script__", [{"shout": "what"}])
    assert status == 400
    assert "not a step" in body


def test_a_status_carries_its_headers() -> None:
    with ScriptedModelServer(Status(429, {"Retry-After": "3"})) as server:
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(f"{server.base_url}/responses", data=b"{}", timeout=20)
        with raised.value as error:
            assert (error.code, error.headers["Retry-After"]) == (429, "3")
