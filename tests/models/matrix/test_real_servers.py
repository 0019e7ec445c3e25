"""The rows of the matrix for servers that are run. See ``test_matrix``."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jupyter_datalayer_agent.models import ModelRequest, TextChunk
from tests.models.calls import answer, model
from tests.models.matrix import real_servers
from tests.models.matrix.real_servers import KEY, RealServer, version_of
from tests.models.matrix.table import Table
from tests.support.jupyter import RunningServer
from tests.support.page import post_in_page
from tests.support.sessions import new_notebook, sources

pytestmark = [
    pytest.mark.skipif(
        not real_servers.INSTALLED, reason="scripts/test_programs.sh installs the servers"
    ),
    # The proxy imports for 13 seconds, on a core of its own.
    pytest.mark.timeout(300),
]

LLAMA, PROXY = "llama.cpp", "LiteLLM proxy"
BY_HAND = "llama-cpp-python"
STARTS = {LLAMA: real_servers.llama_cpp, PROXY: real_servers.litellm_proxy}
if real_servers.LLAMA_CPP_PYTHON in os.environ:
    STARTS[BY_HAND] = real_servers.llama_cpp_python
TITLES = pytest.mark.parametrize("title", STARTS)


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Table:
    found = Table(item.name for item in request.session.items)
    columns = ["answer", "tool call", "streaming", "long answer"]
    llama, proxy = version_of("xllamacpp", "xllamacpp"), version_of("litellm-proxy", "litellm")
    found.begin(LLAMA, f"run, xllamacpp {llama}", columns)
    found.begin(PROXY, f"run, litellm {proxy}", [*columns, "reasoning"])
    if BY_HAND in STARTS:
        found.begin(BY_HAND, f"run by hand, {real_servers.version_by_hand(BY_HAND)}", columns)
    return found


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], RealServer]]:
    """Starts each server once."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def running(title: str) -> RealServer:
            return stack.enter_context(STARTS[title](tmp_path_factory.mktemp("server")))

        yield running


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


def asked(server: RealServer, message: str, **more: Any) -> ModelRequest:
    fields: dict[str, Any] = {"api_base": server.address, "api_key": KEY, **more}
    messages = [{"role": "user", "content": message}]
    return ModelRequest(server.model, "Be brief.", messages, **fields)


@TITLES
async def test_answer(title: str, start: Callable[[str], RealServer], table: Table) -> None:
    answered = await answer(asked(start(title), "How much is it?"), model())
    assert answered.error is None, answered.error
    assert answered.text == "".join(real_servers.TEXT)
    assert answered.done.finish_reason == "stop"
    assert answered.done.usage.output_tokens > 0
    # llama-cpp-python counts only whole answers.
    assert answered.done.usage.estimated is (title == BY_HAND)
    table.shown(title, "answer")


@TITLES
async def test_streaming(title: str, start: Callable[[str], RealServer], table: Table) -> None:
    """Pieces arrive of an answer that has no end."""
    seen: list[str] = []
    request = asked(start(title), "LONG")
    async with contextlib.aclosing(model().stream(request)) as events:
        async for event in events:
            if isinstance(event, TextChunk):
                seen.append(event.delta)
            if len(seen) > 1:
                break
    assert real_servers.expected_long().startswith("".join(seen))
    table.shown(title, "streaming")


@TITLES
async def test_long_answer(title: str, start: Callable[[str], RealServer], table: Table) -> None:
    limit = real_servers.LIMIT
    answered = await answer(asked(start(title), "LONG", max_output_tokens=limit), model())
    assert answered.error is None, answered.error
    assert answered.text == real_servers.expected_long()
    assert answered.done.finish_reason == "max_output_tokens"
    table.shown(title, "long answer")


@pytest.mark.parametrize("title", [PROXY])
async def test_reasoning(title: str, start: Callable[[str], RealServer], table: Table) -> None:
    answered = await answer(asked(start(title), "THINK"), model())
    assert answered.reasoning == "Let me see."
    assert answered.text == "".join(real_servers.TEXT)
    table.shown(title, "reasoning")


@TITLES
def test_tool_call(
    title: str, start: Callable[[str], RealServer], jupyter: RunningServer, table: Table
) -> None:
    """The server is connected by its address, and a turn in Agent mode adds a cell."""
    server = start(title)
    body = {"address": server.address, "key": KEY, "storeIn": "file", "consent": True}
    post_in_page(jupyter, "connections", body)
    chosen = jupyter.get("models")["default"]
    new_notebook(jupyter.root / "calls.ipynb", "x = 1")
    reply = jupyter.post(
        "chat",
        {
            "message": "Add a cell that prints six times seven.",
            "mode": "agent",
            "approval": "never",
            "attachments": [{"kind": "notebook", "path": "calls.ipynb"}],
            "activeNotebook": "calls.ipynb",
        },
    )
    assert reply["status"] == "completed", (chosen, reply)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"], reply
    assert sources(jupyter.root / "calls.ipynb") == ["x = 1", "print(6*7)"]
    assert reply["reply"] == "".join(real_servers.TEXT)
    table.shown(title, "tool call")


def test_the_table_says_what_these_tests_showed(table: Table) -> None:
    """Last in this file."""
    assert table.differences() == [], "Run: make matrix"
