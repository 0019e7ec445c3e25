"""What is too large is cut or refused at a limit that is named, while the server answers others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.limits import MAX_ANSWER_CHARACTERS
from tests.support.health import Health
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer

SLOWEST = 0.3
"""Seconds that another request may wait."""
MUCH = 50_000_000
MANY = 3_000


@pytest.fixture(scope="module", params=["chat", "responses"])
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    shared_model: ScriptedModelServer,
) -> Iterator[RunningServer]:
    environment = {"DATALAYER_AGENT_MODEL_API": request.param}
    folder = tmp_path_factory.mktemp(request.param)
    with RunningServer(folder, api_base=shared_model.base_url, environment=environment) as running:
        shared_model.script(Say("Ready."))
        running.post("chat", {"message": "hello"})
        yield running


def text_of(size: int) -> str:
    """Text that repeats nothing."""
    return random.Random(1).randbytes(size // 2).hex()


def ask(server: RunningServer) -> dict[str, Any]:
    body = {"message": "go", "mode": "agent"}
    answer = server.request("POST", "chat", json=body).json()
    assert isinstance(answer, dict)
    return answer


def database_size(server: RunningServer) -> int:
    return sum(path.stat().st_size for path in Path(server.folder).rglob("*.db*"))


def test_a_flood_of_small_pieces_is_cut_while_others_are_answered(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say(text_of(MAX_ANSWER_CHARACTERS + 10_000), chunk=400))
    with Health(server) as health:
        reply = ask(server)
    assert len(reply["reply"]) == MAX_ANSWER_CHARACTERS
    assert reply["incomplete"]["reason"] == "size_limit"
    assert f"{MAX_ANSWER_CHARACTERS:,} characters" in reply["incomplete"]["message"]
    assert len(model.requests) == 1
    assert health.slowest < SLOWEST


def test_one_huge_token_ends_the_answer(server: RunningServer, model: ScriptedModelServer) -> None:
    model.script(Say(text_of(MUCH), chunk=MUCH))
    with Health(server) as health:
        reply = ask(server)
    assert "8 MB in one piece" in reply["error"]["message"]
    assert reply["incomplete"]["reason"] == "size_limit"
    assert len(model.requests) == 1
    assert health.slowest < SLOWEST


@pytest.mark.parametrize("chunk", [MUCH + 100, 100_000])
def test_huge_arguments_of_a_call_are_no_call_and_the_model_hears_why(
    server: RunningServer, model: ScriptedModelServer, chunk: int
) -> None:
    before = database_size(server)
    arguments = {"path": "a.txt", "content": text_of(MUCH)}
    model.script(Call("writeFile", arguments, chunk=chunk), Say("I will send less."))
    with Health(server) as health:
        ask(server)
    assert not (server.root / "a.txt").exists()
    assert len(model.requests) == 2
    assert f"at the limit of {MAX_ANSWER_CHARACTERS:,} characters" in model.requests[1].text
    assert database_size(server) - before < 10_000_000
    assert health.slowest < SLOWEST


def test_thousands_of_calls_in_one_answer_are_ended_while_others_are_answered(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Calls([Call("listFiles", {"path": str(number)}) for number in range(MANY)]))
    with Health(server) as health:
        reply = ask(server)
    assert len(reply["toolCalls"]) == MANY
    assert reply["status"] == "aborted"
    assert health.slowest < SLOWEST
