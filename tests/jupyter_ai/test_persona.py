"""The persona in a chat of the real Jupyter AI, over its own WebSocket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.jupyter_ai.chat import open_chat, run
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import FakePage, request_in_page, submit_in_page
from tests.support.planning import add, plan_of
from tests.support.sessions import new_notebook, sources
from tests.tools.mcp.client import fixture

NOTHING = "*Nothing was changed or run in this turn.*"
"""The facts below such an answer."""


def last_session(server: RunningServer) -> dict[str, Any]:
    """The session that was used last."""
    return dict(server.get("sessions")["sessions"][0])


def test_messages_are_turns_of_one_session_on_the_notebook_that_the_chat_attached(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    notebook = server.root / "first.ipynb"
    new_notebook(notebook)

    async def use() -> None:
        async with open_chat(server, "first.chat") as chat:
            model.script(add("6 * 7"), Say("It is 42."))
            await chat.say("@Datalayer add a cell", files=("first.ipynb", "cars.csv"))
            said = await chat.reply("It is 42.")
            assert said.startswith("✓ Added cell 1 · ran cell 1")
            assert sources(notebook) == ["6 * 7"]
            first = last_session(server)
            assert first["title"] == "add a cell"
        # The chat is opened again later, and says nothing of the notebook.
        async with open_chat(server, "first.chat") as chat:
            model.script(Say("I remember."))
            await chat.say("And before?")
            await chat.reply("I remember.", 2)
            assert last_session(server)["id"] == first["id"]
            assert "It is 42." in model.requests[-1].text
            # Its session is deleted in the panel: the chat goes on in a new one.
            assert server.request("DELETE", f"sessions/{first['id']}").ok
            model.script(Say("A new beginning."))
            await chat.say("Still there?")
            await chat.reply("A new beginning.", 3)
            assert last_session(server)["id"] != first["id"]

    run(use())
    assert "cars.csv" in model.requests[0].text


def test_a_mode_is_chosen_in_the_input_and_a_task_is_planned_by_its_prefix(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    notebook = server.root / "modes.ipynb"
    new_notebook(notebook)

    async def use() -> None:
        async with open_chat(server, "modes.chat") as chat:
            model.script(add("1"), Say("Agent mode can do that."))
            await chat.say("Add one", files=("modes.ipynb",), mode="ask")
            said = await chat.reply("Agent mode can")
            assert "Ask mode is read-only" in said
            assert sources(notebook) == []

            model.script(
                plan_of("Add one", "Add two"), add("1"), Say("One."), add("2"), Say("Two.")
            )
            await chat.say("@Datalayer agent: fill it")
            said = await chat.reply("Two.", 2)
            assert "**Plan**\n\n1. Add one\n2. Add two" in said
            assert "**Step 2 of 2: Add two**" in said
            assert sources(notebook) == ["1", "2"]

    run(use())


def test_approvals_and_questions_are_answered_by_replies(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    notebook = server.root / "asked.ipynb"
    new_notebook(notebook, "1", "2", "3")

    def delete(cell: str) -> Call:
        return Call("deleteNotebookCells", {"cellIds": [cell]})

    async def use() -> None:
        async with open_chat(server, "asked.chat") as chat:
            model.script(Call("getNotebookCells"), delete("c0"), Say("Left as it was."))
            await chat.say("Delete the first cell", files=("asked.ipynb",))
            await chat.reply("**Approval needed:**")
            await chat.say("hmm, what would that do?")
            await chat.reply("did not understand", 2)
            await chat.say("deny, I need it")
            said = await chat.reply("Left as it was.", 3)
            assert said.startswith("*Denied by")
            assert sources(notebook) == ["1", "2", "3"]
            assert "I need it" in model.requests[-1].text

            model.script(delete("c0"), delete("c1"), Say("Both are gone."))
            await chat.say("Delete two")
            await chat.reply("**Approval needed:**", 4)
            await chat.say("Approve all.")
            said = await chat.reply("Both are gone.", 5)
            assert "**Approval needed:**" not in said
            assert sources(notebook) == ["3"]

            question = {"question": "Which one?", "options": ["A", "B"]}
            model.script(Call("askUser", question), Say("So be it."))
            await chat.say("Choose")
            await chat.reply("Reply with A, B.", 6)
            await chat.say("B")
            await chat.reply("So be it.", 7)
            assert "B" in list(model.requests[-1].tool_outputs.values())[-1]

    run(use())


def test_an_approval_that_the_panel_gives_goes_on_in_the_chat(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    notebook = server.root / "panel.ipynb"
    new_notebook(notebook, "1")

    async def use() -> None:
        async with open_chat(server, "panel.chat") as chat:
            delete = Call("deleteNotebookCells", {"cellIds": ["c0"]})
            model.script(Call("getNotebookCells"), delete, Say("It is gone."))
            await chat.say("Delete it", files=("panel.ipynb",))
            await chat.reply("**Approval needed:**")
            session = last_session(server)["id"]
            turn = server.get(f"sessions/{session}/turns", include="events")["turns"][-1]
            [asked] = [each for each in turn["events"] if each["type"] == "approval_requested"]
            op = {"type": "approval_decision", "decision": "approve"}
            submit_in_page(server, session, {**op, "approvalId": asked["approvalId"]})
            said = await chat.reply("It is gone.")
            assert "*Approved.*" in said
            # What comes now is no answer any more.
            model.script(Say("You are welcome."))
            await chat.say("approve")
            await chat.reply("You are welcome.", 2)

    run(use())
    assert sources(notebook) == []


def test_an_action_of_a_slash_command_runs_by_a_reply(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    notebook = server.root / "exported.ipynb"
    new_notebook(notebook, "1 + 1")
    given = {"service": "notebook", "action": "export", "parameters": {"format": "html"}}
    model.set_default(Call("proposeAction", given))

    async def use() -> None:
        async with open_chat(server, "exported.chat") as chat:
            await chat.say("/notebook export as HTML", files=("exported.ipynb",))
            await chat.reply("Reply `run` to run it")
            assert not notebook.with_suffix(".html").exists()
            await chat.say("run")
            await chat.reply("exported.html", 2)
            assert notebook.with_suffix(".html").exists()

    run(use())


def test_it_is_stopped_from_the_chat(server: RunningServer, model: ScriptedModelServer) -> None:
    async def use() -> None:
        async with open_chat(server, "stopped.chat") as chat:
            model.script(Gate(Say("Never said whole"), after=1))
            await chat.say("Speak")
            await chat.reply("Never")
            stopped = server.request("POST", "/api/ai/personas/cancel", params={"chat_id": chat.id})
            assert stopped.json()["status"] == "cancelled"
            await chat.reply("Stopped.")
            model.script(Say("Here."))
            await chat.say("Still there?")
            await chat.reply("Here.", 2)

    run(use())


def test_people_in_one_chat_are_kept_apart_by_name_and_wait_for_each_other(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    async def use() -> None:
        async with open_chat(server, "people.chat") as chat:
            model.script(Gate(Say("To Ada."), after=1), Say("To Grace."))
            await chat.say("Hello", sender="Ada")
            await chat.reply("To")
            await chat.say("Hello too", sender="Grace")
            model.release()
            await chat.reply("To Grace.", 2)
            assert chat.replies == [f"To {name}.\n\n{NOTHING}" for name in ("Ada", "Grace")]

    run(use())
    assert "Ada: Hello" in model.requests[0].text
    assert "Grace: Hello too" in model.requests[1].text


def test_a_single_request_of_a_program_is_answered_and_nothing_waits_for_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    question = {"question": "Which one?"}
    model.script(Call("askUser", question), Say("I decided myself."))
    answer = server.post("/api/ai/message/Datalayer", {"message": "Choose"})
    assert answer["response"].endswith(f"I decided myself.\n\n{NOTHING}")
    assert "No user is available to answer" in model.requests[-1].text


def test_what_cannot_be_done_is_said_in_the_chat(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    async def use() -> None:
        async with open_chat(server, "trouble.chat") as chat:
            await chat.say("@Datalayer")
            await chat.reply("The message is empty.")
            await chat.say("Read it", files=("gone.csv",))
            await chat.reply("gone.csv does not exist", 2)
            model.script(Say("Fine."))
            await chat.say("And now?")
            await chat.reply("Fine.", 3)

    run(use())


AUTHORIZER = """
from jupyter_server.auth.authorizer import Authorizer


class Some(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return True
"""


def test_where_an_authorizer_decides_the_chat_is_refused(tmp_path: Path) -> None:
    (tmp_path / "an_authorizer.py").write_text(AUTHORIZER)
    arguments = ["--ServerApp.authorizer_class=an_authorizer.Some"]

    async def use(server: RunningServer) -> None:
        async with open_chat(server, "refused.chat") as chat:
            await chat.say("Hello")
            await chat.reply("Use the agent's own panel")
        assert server.get("sessions")["sessions"] == []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningServer, "preloaded", None)
        with RunningServer(tmp_path, arguments=arguments) as server:
            run(use(server))


def test_a_form_of_an_mcp_server_is_announced_and_declined_by_a_reply(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    log = server.folder / "mcp-log"
    entry = fixture("bad", MCP_FIXTURE_LOG=str(log))
    assert request_in_page(server, "PUT", "mcp-servers/fix", json=entry).ok
    assert request_in_page(server, "PATCH", "mcp-servers/fix", json={"trust": "call"}).ok

    async def use() -> None:
        async with open_chat(server, "forms.chat") as chat:
            model.script(Call("fix__asks"), Say("No seat, then."))
            await chat.say("@Datalayer book it", mode="agent")
            said = await chat.reply("Answer in the agent's panel, or reply `decline`.")
            assert "**The MCP server fix asks you:**" in said
            assert "Which seat?" in said
            # No values are taken from a chat: others read it.
            await chat.say("Ada, class b")
            await chat.reply("Answer in the agent's panel, or reply `decline`.", 2)
            await chat.say("decline")
            said = await chat.reply("No seat, then.", 3)
            assert said.startswith("*Declined to answer.*")

    with FakePage(server):
        run(use())
    assert server.request("DELETE", "mcp-servers/fix").ok
    answers = [line for line in log.read_text().splitlines() if line.startswith("answer ")]
    assert answers == ['answer {"action": "decline"}']
