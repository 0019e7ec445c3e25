"""A model with a small context window gets a short system prompt and the basic tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer, Status
from tests.support.sessions import new_notebook

SHORT, FULL = "You are the notebook assistant in JupyterLab. Answer", "for data scientists"
BASIC = [
    "getNotebookCells", "getCellOutputs", "addNotebookCell", "updateNotebookCell",
    "deleteNotebookCells", "runNotebookCells", "createNotebook", "listKernels", "selectKernel",
]  # fmt: skip


@pytest.fixture(autouse=True)
def notebook(server: RunningServer) -> None:
    new_notebook(server.root / "a.ipynb", "x = 1")


def ask(server: RunningServer, **more: Any) -> dict[str, Any]:
    reply: dict[str, Any] = server.post(
        "chat",
        {
            "message": "Go on",
            "mode": "agent",
            "attachments": [{"kind": "notebook", "path": "a.ipynb"}],
            "activeNotebook": "a.ipynb",
            **more,
        },
    )
    return reply


def session_with(server: RunningServer, **settings: Any) -> str:
    return str(server.post("sessions", {"settings": settings})["id"])


@pytest.mark.parametrize(("window", "is_short"), [(15_999, True), (16_000, False), (None, False)])
def test_the_sessions_setting_says_how_large_the_window_is(
    server: RunningServer, model: ScriptedModelServer, window: int | None, is_short: bool
) -> None:
    session = session_with(server, **({"contextWindow": window} if window else {}))
    model.script(Call("getNotebookCells"), Say("One cell."))
    assert ask(server, sessionId=session)["reply"] == "One cell."
    for request in model.requests:
        assert (SHORT in request.text) is is_short
        assert (FULL in request.text) is not is_short
        assert (request.tool_names == BASIC) is is_short
    shown = server.get("context", path="a.ipynb", sessionId=session, mode="agent")["request"]
    assert (shown["tools"] == BASIC) is is_short


def test_a_window_that_litellm_knows_counts_from_the_first_request(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Yes."), Say("Yes."))
    ask(server, model="openai/gpt-4")
    ask(server, model="openai/gpt-4o")
    assert [request.tool_names == BASIC for request in model.requests] == [True, False]


def test_a_tool_that_the_message_names_is_sent_too(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = session_with(server, contextWindow=8000)
    model.script(Say("Yes."))
    ask(server, sessionId=session, message="Move the cell with #moveNotebookCell")
    assert set(model.requests[0].tool_names) == {*BASIC, "moveNotebookCell"}


def test_a_window_that_turns_out_to_be_small_is_tried_with_the_short_prompt(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    message = "This model's maximum context length is 2048 tokens."
    error = {"error": {"message": message, "code": "context_length_exceeded"}}
    model.script(Status(400, body=error), Say("Now it fits."), Say("Still."))
    reply = ask(server)
    assert reply["reply"] == "Now it fits."
    ask(server, sessionId=reply["sessionId"])
    assert [request.tool_names == BASIC for request in model.requests] == [False, True, True]
    # Another conversation does not know it yet.
    model.script(Say("Yes."))
    ask(server)
    assert model.requests[3].tool_names != BASIC


def test_a_window_below_1000_is_refused_with_what_is_allowed(server: RunningServer) -> None:
    response = server.request("POST", "sessions", json={"settings": {"contextWindow": 10}})
    assert response.status_code == 400
    assert "1000" in response.text
