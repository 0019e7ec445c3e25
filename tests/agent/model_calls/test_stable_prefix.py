"""System prompt and tools of a turn's requests: the same bytes, and no tool that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Say, ScriptedModelServer


def fixed_part(request: RecordedRequest) -> tuple[str, str]:
    """The tools, and the system prompt."""
    [first] = [item for item in request.items if item.get("role") in ("system", "developer")] or [
        request.body.get("instructions")
    ]
    return json.dumps(request.body["tools"]), json.dumps(first)


@pytest.mark.parametrize("window", [None, "8000"], ids=["large", "small window"])
def test_a_notebook_created_in_mid_turn_leaves_the_fixed_part_as_it_was(
    window: str | None, tmp_path: Path, model: ScriptedModelServer
) -> None:
    environment = {} if window is None else {"DATALAYER_AGENT_CONTEXT_WINDOW": window}
    with RunningServer(tmp_path, api_base=model.base_url, environment=environment) as server:
        model.script(
            Call("createNotebook", {"name": "new.ipynb"}),
            Call("addNotebookCell", {"content": "6 * 7", "run": True}),
            Say("42."),
            Say("Still 42."),
        )
        first = server.post("chat", {"message": "compute it in a notebook", "mode": "agent"})
        assert [call["status"] for call in first["toolCalls"]] == ["ok", "ok"]
        again = {"message": "and now?", "mode": "agent", "sessionId": first["sessionId"]}
        server.post("chat", again)
        assert len({fixed_part(request) for request in model.requests}) == 1
        assert "addNotebookCell" in model.requests[0].tool_names


def test_without_a_notebook_its_tools_are_refused_and_not_listed(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("addNotebookCell", {"content": "1"}), Say("There is no notebook."))
    events = list(server.stream("chat/stream", {"message": "add a cell", "mode": "agent"}))
    started = next(each for each in events if each["type"] == "turn_started")
    assert started["notebookMode"] == "off"
    assert "addNotebookCell" not in started["tools"]
    assert "No active notebook found" in model.requests[1].last_output


@pytest.mark.parametrize("mode", ["ask", "edit"])
def test_where_no_notebook_can_be_created_its_tools_are_not_sent(
    server: RunningServer, model: ScriptedModelServer, mode: str
) -> None:
    model.script(Say("Hello."))
    server.post("chat", {"message": "hello", "mode": mode})
    assert "getNotebookCells" not in model.requests[0].tool_names


def offered(model: ScriptedModelServer) -> bool:
    [request] = model.requests
    return "askUser" in request.tool_names


@pytest.mark.parametrize(
    ("route", "more", "expected"),
    [
        ("chat", {}, False),
        ("chat/stream", {}, True),
        ("chat/stream", {"location": "magic"}, False),
    ],
    ids=["chat", "a program that listens", "a magic without a page"],
)
def test_a_question_is_only_offered_where_somebody_can_answer(
    server: RunningServer,
    model: ScriptedModelServer,
    route: str,
    more: dict[str, Any],
    expected: bool,
) -> None:
    model.script(Say("Hello."))
    body = {"message": "hello", "mode": "agent", **more}
    if route == "chat":
        server.post(route, body)
    else:
        list(server.stream(route, body))
    assert offered(model) is expected


def test_a_question_that_nobody_can_answer_is_refused_with_what_to_do(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("askUser", {"question": "Which?"}), Say("I took the first."))
    server.post("chat", {"message": "go", "mode": "agent"})
    assert "say what you assumed" in model.requests[1].last_output
