"""Sessions over HTTP: what they remember, the list of their prompts, and what a reset forgets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.store.chats import Chat, open_store
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.sessions import act, chat, edit, new_notebook, turns

MANY = 2000


def test_a_session_remembers_mode_model_and_notebook_and_is_titled_by_its_first_message(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    new_notebook(server.root / "known.ipynb", "x = 1")
    model.script(Say("Yes."))
    request = {
        "message": "\n  Look at @known.ipynb\nplease",
        "mode": "edit",
        "model": "openai/other",
        "activeNotebook": "known.ipynb",
    }
    session = server.post("chat", request)["sessionId"]
    server.post(f"sessions/{session}/ops", {"type": "shutdown"})
    found = server.get(f"sessions/{session}")
    assert found["title"] == "Look at @known.ipynb"
    assert found["settings"]["notebook"] == "known.ipynb"
    assert (found["settings"]["mode"], found["settings"]["model"]) == ("edit", "openai/other")
    model.script(Say("Again."))
    reply = server.post("chat", {"message": "And now?", "sessionId": session})
    assert reply["mode"] == "edit"
    assert model.requests[-1].model == "other"


def test_the_list_of_prompts_holds_every_turn_in_short(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    new_notebook(server.root / "steps.ipynb", "x = 1", "y = 1")
    update = [
        Call("updateNotebookCell", {"cellId": cell, "content": content})
        for cell, content in (("c0", "x = 2"), ("c0", "x = 3"), ("c1", "y = 2"))
    ]
    reply = edit(
        server, model, "steps.ipynb", *update, message="\n \nChange two cells\nof the notebook"
    )
    session = reply["sessionId"]
    model.script(Say("x" * 10))
    server.post("chat", {"message": "y" * 5000, "sessionId": session})
    first, second = server.get(f"sessions/{session}/prompts")["prompts"]
    assert first["turnId"] == reply["turnId"]
    assert (first["index"], first["message"], first["mode"]) == (0, "Change two cells", "agent")
    assert first["changes"] == [{"path": "steps.ipynb", "cells": 2}]
    assert (first["status"], first["withdrawn"]) == ("completed", False)
    assert (second["message"], second["changes"]) == ("y" * 200, [])
    act(server, session, {"type": "go_back", "turnId": reply["turnId"]}, "went_back")
    prompts = server.get(f"sessions/{session}/prompts")["prompts"]
    assert [each["withdrawn"] for each in prompts] == [False, True]
    assert server.request("GET", "sessions/s_no/prompts").status_code == 404


@pytest.fixture
def long_chat(server: RunningServer) -> str:
    """A session of 2,000 turns, written past the server."""
    path = next(server.folder.glob("home/data/**/agent.db"))

    async def fill() -> str:
        async with open_store(path) as store:
            chat = await Chat.new(store, "Long")
            for number in range(MANY):
                await chat.start(f"Message {number}")
                await chat.finish()
            return chat.session_id

    return asyncio.run(fill())


def test_any_turn_of_a_long_chat_is_one_jump_away(server: RunningServer, long_chat: str) -> None:
    prompts = server.get(f"sessions/{long_chat}/prompts")["prompts"]
    assert [each["index"] for each in prompts] == list(range(MANY))

    def page(**where: Any) -> tuple[list[int], Any, Any]:
        reply = server.get(f"sessions/{long_chat}/turns", limit=5, **where)
        return [turn["index"] for turn in reply["turns"]], reply.get("before"), reply.get("after")

    ids = [each["turnId"] for each in prompts]
    assert page(around=ids[1000]) == ([998, 999, 1000, 1001, 1002], ids[998], ids[1002])
    assert page(around=ids[0]) == ([0, 1, 2, 3, 4], None, ids[4])
    assert page(around=ids[-1]) == (list(range(1995, 2000)), ids[1995], None)
    assert page(after=ids[1002]) == ([1003, 1004, 1005, 1006, 1007], ids[1003], ids[1007])
    assert page(after=ids[-3]) == ([1998, 1999], ids[1998], None)
    assert page(after=ids[-1]) == ([], None, None)
    assert page(before=ids[3]) == ([0, 1, 2], None, ids[2])
    assert page() == (list(range(1995, 2000)), ids[1995], None)
    copy = server.post(f"sessions/{long_chat}/fork", {"turnId": ids[1500]})
    assert copy["turnCount"] == 1501


def test_a_reset_forgets_messages_tokens_and_the_scratch_kernel(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("My colour is blue", "Noted."))

    def run(code: str) -> Any:
        model.script(Call("executeCode", {"code": code}), Say("Ran."))
        body = {"message": "Run", "mode": "agent", "approval": "never", "sessionId": session}
        (call,) = server.post("chat", body)["toolCalls"]
        return call

    assert run("secret = 41")["status"] == "ok"
    assert "42" in str(run("print(secret + 1)")["output"])
    assert server.get(f"sessions/{session}")["sessionTokens"] > 0
    event = act(server, session, {"type": "reset"}, "session_reset")
    assert event["type"] == "session_reset"
    found = server.get(f"sessions/{session}")
    assert (found["sessionTokens"], found["turnCount"]) == (0, 0)
    assert found["title"] == "New session", "made from a message that is forgotten"
    assert found["lastSeq"] >= event["seq"]
    assert turns(server, session) == []
    assert "NameError" in str(run("secret")["output"])
    assert "blue" not in model.requests[-1].text
    assert [turn["index"] for turn in turns(server, session)] == [0]


def test_what_is_deleted_is_gone(server: RunningServer, model: ScriptedModelServer) -> None:
    session, _ = chat(server, model, ("One", "1"))
    assert server.request("DELETE", f"sessions/{session}").status_code == 204
    for route in ("", "/turns", "/prompts", "/export"):
        assert server.request("GET", f"sessions/{session}{route}").status_code == 404
    assert server.request("DELETE", f"sessions/{session}").status_code == 404


def test_a_message_after_an_op_that_ends_the_session_is_taken_by_the_session_that_comes_back(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("One", "1"))
    for number in range(5):
        server.post(f"sessions/{session}/ops", {"type": "shutdown"})
        model.script(Say(f"Here {number}."))
        reply = server.post("chat", {"message": "Still there?", "sessionId": session})
        assert reply["reply"] == f"Here {number}."
