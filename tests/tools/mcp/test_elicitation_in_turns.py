"""Forms of MCP servers in turns, over a real Jupyter server: asked in a page, and nowhere else."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.page import FakePage, request_in_page
from tests.support.planning import of_type, submit, until

from .client import fixture

END = ("turn_completed", "turn_aborted")
SEAT = {"name": "Ada", "class": "b"}


@pytest.fixture
def model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        yield model
    assert model.errors == []


@pytest.fixture
def server(tmp_path: Path, model: ScriptedModelServer) -> Iterator[RunningServer]:
    with RunningServer(tmp_path, api_base=model.base_url) as running:
        entry = fixture("bad", MCP_FIXTURE_LOG=str(running.folder / "log"))
        assert request_in_page(running, "PUT", "mcp-servers/fix", json=entry).ok
        assert request_in_page(running, "PATCH", "mcp-servers/fix", json={"trust": "call"}).ok
        yield running


def begin(server: RunningServer) -> str:
    """A turn of a page, whose model calls the tool that asks."""
    session = str(server.post("sessions", {})["id"])
    request = {"message": "Book it", "mode": "agent", "clientId": "page-1"}
    submit(server, session, {"type": "user_message", "request": request})
    return session


def events(server: RunningServer, session: str) -> Iterator[dict[str, Any]]:
    return server.stream(f"sessions/{session}/events")


def answer_of(asked: dict[str, Any], action: str, **values: Any) -> dict[str, Any]:
    form = {"action": action, "values": values}
    return {"type": "user_input_answer", "requestId": asked["requestId"], "form": form}


def answers(server: RunningServer) -> list[Any]:
    """What the MCP server was answered."""
    lines = (server.folder / "log").read_text().splitlines()
    return [json.loads(line[7:]) for line in lines if line.startswith("answer ")]


def first_answer(server: RunningServer) -> Any:
    """As ``answers``; a turn that was stopped does not wait for the MCP server to read it."""
    deadline = time.monotonic() + 10
    while not (found := answers(server)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found[0]


def test_the_page_is_asked_and_the_answer_goes_to_the_server(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("fix__asks"), Say("Booked."))
    with FakePage(server):
        session = begin(server)
        [*_, asked] = until(events(server, session), "user_input_requested")
        assert asked["question"] == "Which seat?\nThe flight is <b>full</b>."
        assert asked["form"]["server"] == "fix"
        assert asked["form"]["schema"]["required"] == ["name", "class"]
        # What does not fit the form is refused, and it stays open.
        wrong = answer_of(asked, "accept", name="Ada")
        assert server.request("POST", f"sessions/{session}/ops", json=wrong).status_code == 202
        failed = until(events(server, session), "error")[-1]
        assert (failed["code"], failed["message"]) == ("invalid_request", "class is required.")
        assert answers(server) == []
        submit(server, session, answer_of(asked, "accept", **SEAT))
        seen = until(events(server, session), *END)
    assert [each["action"] for each in of_type(seen, "user_input_resolved")] == ["accept"]
    assert answers(server) == [{"action": "accept", "content": SEAT}]
    [output] = of_type(seen, "tool_call_output")
    assert output["status"] == "ok"


def test_the_user_may_decline_or_decide_nothing(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("fix__asks"), Call("fix__asks"), Say("No seat, then."))
    with FakePage(server):
        session = begin(server)
        stream = events(server, session)
        for action in ("decline", "cancel"):
            [*_, asked] = until(stream, "user_input_requested")
            submit(server, session, answer_of(asked, action))
        until(stream, *END)
    assert answers(server) == [{"action": "decline"}, {"action": "cancel"}]


def test_a_stopped_turn_cancels(server: RunningServer, model: ScriptedModelServer) -> None:
    model.script(Call("fix__asks"))
    with FakePage(server):
        session = begin(server)
        stream = events(server, session)
        [*_, asked] = until(stream, "user_input_requested")
        submit(server, session, {"type": "interrupt"})
        seen = until(stream, *END)
        assert seen[-1]["type"] == "turn_aborted"
        assert [each["action"] for each in of_type(seen, "user_input_resolved")] == ["cancel"]
        assert first_answer(server) == {"action": "cancel"}
        late = answer_of(asked, "accept", **SEAT)
        assert server.request("POST", f"sessions/{session}/ops", json=late).status_code == 202
        assert until(stream, "error")[-1]["code"] == "not_found"


def test_without_a_page_it_is_cancelled_at_once(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("fix__asks"), Say("Nobody."))
    request = {"message": "Book it", "mode": "agent"}
    seen = list(server.stream("chat/stream", request))
    assert of_type(seen, "user_input_requested") == []
    [output] = of_type(seen, "tool_call_output")
    assert '"cancel"' in json.dumps(output["output"]).replace("\\", "")
    called = server.post("tools/fix__asks", {})
    assert json.loads(called["output"]) == {"action": "cancel"}


@pytest.mark.parametrize("how", ["kill -9", "restart"])
def test_a_form_ends_with_the_server_and_so_does_its_turn(
    server: RunningServer, model: ScriptedModelServer, how: str
) -> None:
    model.script(Call("fix__asks"))
    with FakePage(server):
        session = begin(server)
        until(events(server, session), "user_input_requested")
        server.kill() if how == "kill -9" else server.stop()
    server.start()
    [turn] = server.get(f"sessions/{session}/turns")["turns"]
    assert turn["status"] == "aborted"
    # The session can be used.
    model.script(Say("Here."))
    assert server.post("chat", {"message": "Hello", "sessionId": session})["reply"] == "Here."
