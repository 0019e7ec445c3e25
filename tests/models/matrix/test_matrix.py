"""What works with which provider and server: an answer, a tool call of a turn, streaming, a long
answer, reasoning. ``docs/models.md`` has the table; ``make matrix`` writes it.

Providers are replayed: their documented streams, over HTTP, through the real litellm.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jupyter_datalayer_agent.models import ModelRequest, TextChunk
from tests.models.calls import Answered, answer, model, request
from tests.models.matrix.recorded import Recording, recordings
from tests.models.matrix.table import Table
from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_rules import unsupported
from tests.support.model_server import Raw, ScriptedModelServer
from tests.support.sessions import new_notebook, sources

RECORDINGS = recordings()
KEY = "sk-test-0123456789abcdef"
KEYS = {each.key: KEY for each in RECORDINGS if each.key}
TEXT = ["The ans", "wer is", " 42: déjà", " vu, 答え."]
THOUGHT = ["Let me ", "see."]
LONG = [f"word{number} " for number in range(2000)]


def parametrized(stream: str) -> pytest.MarkDecorator:
    """With each recording that has such a stream. One that is known to fail is to do so."""
    return pytest.mark.parametrize(
        "recording",
        [
            pytest.param(
                each,
                id=each.title,
                marks=[pytest.mark.xfail(reason=each.fails, strict=True)] if each.fails else [],
            )
            for each in RECORDINGS
            if stream in each.streams
        ],
    )


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, KEY)


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Table:
    found = Table(item.name for item in request.session.items)
    for each in RECORDINGS:
        columns = ["answer", "streaming", "long answer"]
        columns += ["tool call"] if "call" in each.streams else []
        columns += ["reasoning"] if "reasoning" in each.streams else []
        found.begin(each.title, f"[replayed]({each.documented})", columns)
    return found


def _side_request(asked: RecordedRequest) -> Raw | None:
    """litellm asks Ollama about the model first."""
    is_side = asked.path == "/api/show"
    return Raw([b'{"template": "{{ .Tools }}"}'], "application/json") if is_side else None


def replaying(recording: Recording, *streams: list[bytes], **gate: int) -> ScriptedModelServer:
    refusal = unsupported(recording.refuses) if recording.refuses else None
    return ScriptedModelServer(
        *[Raw(pieces, recording.content_type, **gate) for pieces in streams],
        rules=[each for each in (_side_request, refusal) if each is not None],
        takes_any_path=True,
    )


def root_of(server: ScriptedModelServer) -> str:
    return server.base_url.removesuffix("/v1")


def answers(server: ScriptedModelServer, recording: Recording) -> list[RecordedRequest]:
    """The requests that were answered by the recording."""
    # A client may have the last piece before the server has noted that it sent it.
    server.wait_for(lambda: all(each.outcome is not None for each in server.requests))
    received = [each for each in server.requests if each.outcome == "completed"]
    received = [each for each in received if each.path != "/api/show"]
    assert {each.path for each in received} == {recording.path}
    return received


def asked_of(server: ScriptedModelServer, recording: Recording) -> ModelRequest:
    return request(server, recording.api, model=recording.model, api_base=root_of(server))


async def ask(server: ScriptedModelServer, recording: Recording) -> Answered:
    asked = asked_of(server, recording)
    answered = await answer(asked, model(environ=KEYS))
    assert answered.error is None, answered.error
    return answered


@parametrized("answer")
async def test_answer(recording: Recording, table: Table) -> None:
    with replaying(recording, recording.answer(TEXT)) as server:
        answered = await ask(server, recording)
        assert len(answers(server, recording)) == 1
    assert answered.text == "".join(TEXT)
    assert answered.done.finish_reason == "stop"
    usage = answered.done.usage
    if recording.counted:
        assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (11, 7, False)
    else:
        assert usage.estimated
    table.shown(recording.title, "answer")


@parametrized("answer")
async def test_streaming(recording: Recording, table: Table) -> None:
    """The first piece arrives before the server sends the last one."""
    stream, without_last = recording.answer(TEXT), recording.answer(TEXT[:-1])
    last = next(at for at, piece in enumerate(stream) if piece != without_last[at])
    seen: list[str] = []
    with replaying(recording, stream, gate=last) as server:
        asked = asked_of(server, recording)
        async with contextlib.aclosing(model(environ=KEYS).stream(asked)) as events:
            async for event in events:
                if isinstance(event, TextChunk):
                    if not seen:
                        await server.wait_until(server.at_gate)
                        server.release()
                    seen.append(event.delta)
    assert "".join(seen) == "".join(TEXT)
    assert len(seen) > 1
    table.shown(recording.title, "streaming")


@parametrized("answer")
async def test_long_answer(recording: Recording, table: Table) -> None:
    """Thousands of tokens, up to the limit."""
    with replaying(recording, recording.answer(LONG, "length")) as server:
        answered = await ask(server, recording)
    assert answered.text == "".join(LONG)
    assert answered.done.finish_reason == "max_output_tokens"
    table.shown(recording.title, "long answer")


@parametrized("reasoning")
async def test_reasoning(recording: Recording, table: Table) -> None:
    with replaying(recording, recording.reasoning(THOUGHT, TEXT)) as server:
        answered = await ask(server, recording)
    assert answered.reasoning == "".join(THOUGHT)
    assert answered.text == "".join(TEXT)
    assert [item["type"] for item in answered.done.items] == ["reasoning", "message"]
    table.shown(recording.title, "reasoning")


@pytest.fixture(scope="module")
def replay() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(rules=[_side_request], takes_any_path=True) as server:
        yield server


@pytest.fixture(scope="module")
def jupyter(
    tmp_path_factory: pytest.TempPathFactory, replay: ScriptedModelServer
) -> Iterator[Callable[[str], RunningServer]]:
    """A Jupyter server by the API that it is set to use."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def running(api: str) -> RunningServer:
            environment = {**KEYS, "DATALAYER_AGENT_MODEL_API": api}
            folder = tmp_path_factory.mktemp(api)
            return stack.enter_context(
                RunningServer(folder, api_base=root_of(replay), environment=environment)
            )

        yield running


@parametrized("call")
def test_tool_call(
    recording: Recording,
    replay: ScriptedModelServer,
    jupyter: Callable[[str], RunningServer],
    table: Table,
) -> None:
    """A turn in Agent mode adds a cell, and the model hears of it."""
    server = jupyter(recording.api)
    replay.reset()
    replay.script(
        *[
            Raw(pieces, recording.content_type)
            for pieces in (
                recording.call("addNotebookCell", {"content": "print(6*7)", "type": "code"}),
                recording.answer(TEXT),
            )
        ]
    )
    new_notebook(server.root / "calls.ipynb", "x = 1")
    reply = turn(server, recording.model, "calls.ipynb")
    assert reply["status"] == "completed", reply
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"], reply
    assert sources(server.root / "calls.ipynb") == ["x = 1", "print(6*7)"]
    assert reply["reply"] == "".join(TEXT)
    calls, result = answers(replay, recording)
    assert "addNotebookCell" in str(calls.body)
    assert "print(6*7)" in str(result.body)
    # An answer that is only a call has no empty text in it.
    assert '"text": ""' not in json.dumps(result.body)
    table.shown(recording.title, "tool call")


def turn(server: RunningServer, model_name: str, path: str, **more: Any) -> dict[str, Any]:
    reply: dict[str, Any] = server.post(
        "chat",
        {
            "message": "Add a cell that prints six times seven.",
            "mode": "agent",
            "approval": "never",
            "model": model_name,
            "attachments": [{"kind": "notebook", "path": path}],
            "activeNotebook": path,
            **more,
        },
    )
    return reply


def test_the_table_says_what_these_tests_showed(table: Table) -> None:
    """Last in this file."""
    assert table.differences() == [], "Run: make matrix"
