"""A conversation over the Responses API and over chat completions, and from one to the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.calls import APIS
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import (
    Answer,
    BreakAfter,
    Call,
    Calls,
    Reasoning,
    Say,
    ScriptedModelServer,
)

LOOK = Call("getActiveDocument", {}, "call_a")
KERNELS = Call("listKernels", {}, "call_b")


def running(folder: Path, model: ScriptedModelServer, api: str) -> RunningServer:
    return RunningServer(
        folder, api_base=model.base_url, environment={"DATALAYER_AGENT_MODEL_API": api}
    )


@pytest.fixture(params=APIS, scope="module")
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(
    api: str, tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    with running(tmp_path_factory.mktemp(api), shared_model, api) as server:
        write_cars(server.root)
        yield server


def ask(server: RunningServer, message: str = "go", **more: Any) -> Any:
    return server.post("chat", {"message": message, "mode": "agent", **more})


def test_calls_of_one_answer_are_carried_out_and_answered(
    server: RunningServer, model: ScriptedModelServer, api: str
) -> None:
    model.script(Calls([LOOK, KERNELS], text="Looking."), Say("Done."))
    reply = ask(server)
    assert (reply["status"], reply["reply"]) == ("completed", "Done.")
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok"]
    first, second = model.requests
    assert {first.api, second.api} == {api}
    assert list(second.tool_outputs) == ["call_a", "call_b"]


def test_broken_arguments_are_reported_to_the_model_and_can_be_sent_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("listKernels", '{"a": ', "call_a"), Call("listKernels"), Say("Done."))
    reply = ask(server)
    assert [call["status"] for call in reply["toolCalls"]] == ["error", "ok"]
    assert reply["reply"] == "Done."


def test_a_broken_stream_is_tried_again(server: RunningServer, model: ScriptedModelServer) -> None:
    model.script(BreakAfter(1, Say("Half an answer")), Say("A whole answer."))
    assert ask(server)["reply"] == "A whole answer."
    assert len(model.requests) == 2


def test_an_answer_that_was_cut_says_so(server: RunningServer, model: ScriptedModelServer) -> None:
    model.script(Answer([Say("Once upon")], finish="length"))
    events = list(server.stream("chat/stream", {"message": "go", "mode": "agent"}))
    assert [each["code"] for each in events if each["type"] == "warning"] == ["max_output_tokens"]


@pytest.mark.parametrize("first", APIS)
def test_a_conversation_continues_over_the_other_api(
    first: str, tmp_path: Path, model: ScriptedModelServer
) -> None:
    second = APIS[1 - APIS.index(first)]
    parts = [Reasoning("Hm."), *Calls([LOOK, KERNELS], text="Looking.").parts]
    model.script(Answer(parts), Say("There."), Say("As before."))
    with running(tmp_path, model, first) as server:
        session = ask(server)["sessionId"]
    with running(tmp_path, model, second) as server:
        assert ask(server, "and?", sessionId=session)["reply"] == "As before."
    before, after = model.requests[1:]
    assert (before.api, after.api) == (first, second)
    assert after.tool_outputs == before.tool_outputs
    for said in ("Looking.", "There.", "and?"):
        assert said in after.text
