"""An editor drives the agent over the Agent Client Protocol, with a Jupyter server that runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import acp
import nbformat
import pytest
from acp.schema import EmbeddedResourceContentBlock, ImageContentBlock, TextResourceContents

from tests.acp.editor import OpenEditor, open_editor
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import submit_in_page
from tests.support.planning import add, plan_of
from tests.support.sessions import new_notebook, sources


@pytest.fixture(scope="module")
def opened(server: RunningServer) -> Iterator[OpenEditor]:
    """One process of the agent for all tests, as an editor has one all day."""
    with OpenEditor(server) as opened:
        yield opened


def test_a_linked_notebook_is_changed_and_the_editor_sees_how(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    notebook = server.root / "linked.ipynb"
    new_notebook(notebook, "1")
    model.script(Call("getNotebookCells"), add("6 * 7"), Say("It is 42."))

    async def use() -> None:
        async with opened.again() as (editor, agent):
            made = await agent.connection.new_session(cwd=str(server.root), mcp_servers=[])
            session = made.session_id
            assert [mode.id for mode in made.modes.available_modes] == ["ask", "edit", "agent"]
            assert [option.id for option in made.config_options] == ["mode", "model"]
            assert made.config_options[1].current_value == "openai/scripted"

            done = await agent.ask(session, "Add a cell to ", notebook, ", please.")
            assert done.stop_reason == "end_turn"
            assert done.usage.output_tokens > 0
            # Then what it did, counted from results.
            assert editor.text(session) == "It is 42.\n\n*1 change · 1 run*"
            assert sources(notebook) == ["1", "6 * 7"]
            started = editor.of_kind(session, "tool_call")
            assert [(each.title, each.kind) for each in started] == [
                ("Read cells", "read"),
                ("Add a cell", "edit"),
            ]
            last = editor.of_kind(session, "tool_call_update")[-1]
            assert last.status == "completed"
            assert last.title.startswith("Added cell 2 · ran cell 2")
            assert (last.content[0].path, last.content[0].new_text) == (str(notebook), "6 * 7")
            [commands] = editor.of_kind(session, "available_commands_update")
            assert {"data", "help"} <= {each.name for each in commands.available_commands}
            [named] = editor.of_kind(session, "session_info_update")
            assert named.title == "Add a cell to linked.ipynb, please."

            # The next message names none, and goes on with the same one.
            model.script(add("7 * 6"), Say("Done."))
            await agent.ask(session, "And the other way round.")
            assert sources(notebook) == ["1", "6 * 7", "7 * 6"]
            # In Ask mode nothing is changed.
            await agent.connection.set_session_mode(session_id=session, mode_id="ask")
            model.script(add("0"), Say("Agent mode can do that."))
            await agent.ask(session, "And once more.")
            assert editor.of_kind(session, "tool_call_update")[-1].status == "failed"
            assert len(sources(notebook)) == 3

    opened.run(use())
    assert "Add a cell to linked.ipynb, please." in model.requests[0].text


def test_what_needs_approval_is_rejected_allowed_once_and_for_the_session(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    notebook = server.root / "risky.ipynb"
    new_notebook(notebook, "1", "2", "3")

    def delete(cell: str) -> Call:
        return Call("deleteNotebookCells", {"cellIds": [cell]})

    async def use() -> None:
        async with opened.again() as (editor, agent):
            session = await agent.new(server.root)
            editor.answers = ["reject", "allow_session"]
            model.script(Call("getNotebookCells"), delete("c0"), Say("You rejected it."))
            done = await agent.ask(session, "Delete the first cell of ", notebook)
            assert done.stop_reason == "end_turn"
            assert sources(notebook) == ["1", "2", "3"]
            assert editor.of_kind(session, "tool_call_update")[-1].status == "failed"
            started = editor.of_kind(session, "tool_call")
            assert [each.kind for each in started] == ["read", "delete"]
            [(call, options)] = editor.asked
            assert call.content[0].old_text == "1"
            assert call.content[0].new_text == ""
            assert [each.kind for each in options] == ["allow_once", "allow_always", "reject_once"]

            model.script(delete("c0"), delete("c1"), Say("Both are gone."))
            await agent.ask(session, "Delete the first two.")
            assert sources(notebook) == ["3"]
            assert len(editor.asked) == 2

    opened.run(use())


def test_an_approval_may_be_given_in_the_panel_or_end_with_the_turn(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    notebook = server.root / "elsewhere.ipynb"
    new_notebook(notebook, "1", "2")

    async def use() -> None:
        async with opened.again() as (editor, agent):
            session = await agent.new(server.root)

            async def never(_: object) -> str | None:
                await asyncio.Event().wait()
                return None

            async def cancel(_: object) -> str | None:
                await agent.connection.cancel(session_id=session)
                return None

            editor.answers = [never, cancel]
            delete = Call("deleteNotebookCells", {"cellIds": ["c0"]})
            model.script(Call("getNotebookCells"), delete, Say("It is gone."))
            asked = asyncio.ensure_future(agent.ask(session, "Delete one of ", notebook))
            await editor.until(lambda: len(editor.asked) == 1)
            turn = server.get(f"sessions/{session}/turns", include="events")["turns"][-1]
            [event] = [each for each in turn["events"] if each["type"] == "approval_requested"]
            op = {"type": "approval_decision", "decision": "approve"}
            submit_in_page(server, session, {**op, "approvalId": event["approvalId"]})
            assert (await asked).stop_reason == "end_turn"
            assert sources(notebook) == ["2"]

            model.script(Call("deleteNotebookCells", {"cellIds": ["c1"]}))
            done = await agent.ask(session, "And the other")
            assert done.stop_reason == "cancelled"
            assert sources(notebook) == ["2"]

    opened.run(use())


def test_a_question_with_options_is_answered_and_one_without_is_put_off(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    async def use() -> None:
        async with opened.again() as (editor, agent):
            session = await agent.new(server.root)
            editor.answers = ["1", "no_answer"]
            question = {"question": "Which one?", "options": ["A", "B"]}
            model.script(Call("askUser", question), Call("askUser", {"question": "Why?"}),
                         Call("askUser", question), Say("B"))  # fmt: skip
            await agent.ask(session, "Choose")
            assert editor.asked[0][0].title == "Which one?"
            assert [each.name for each in editor.asked[0][1]] == ["A", "B", "None of these"]
            assert len(editor.asked) == 2

    opened.run(use())
    first, second, third = model.requests[-1].tool_outputs.values()
    assert "B" in first
    assert "None of these" in third
    assert "Ask it as your answer" in second
    assert "not_allowed" in second, "the user has not said so"


def test_cancelling_stops_the_model_and_a_cell_that_runs(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    notebook = server.root / "endless.ipynb"
    new_notebook(notebook)

    async def use() -> None:
        async with opened.again() as (editor, agent):
            session = await agent.new(server.root)
            model.script(Gate(Say("Never said whole"), after=1))
            asked = asyncio.ensure_future(agent.ask(session, "Speak of ", notebook))
            await editor.until(lambda: editor.text(session) != "")
            await agent.connection.cancel(session_id=session)
            assert (await asked).stop_reason == "cancelled"

            model.script(add("import time\nprint('on', flush=True)\nwhile True: time.sleep(0.05)"))
            asked = asyncio.ensure_future(agent.ask(session, "Run it"))
            # The cell is there; it runs.
            await editor.until(
                lambda: any(each.content for each in editor.of_kind(session, "tool_call_update"))
            )
            await agent.connection.cancel(session_id=session)
            assert (await asked).stop_reason == "cancelled"
            # It goes on afterwards.
            model.script(add("'free'"), Say("The kernel is free."))
            assert (await agent.ask(session, "Still there?")).stop_reason == "end_turn"

    opened.run(use())
    [cell] = [each for each in nbformat.read(notebook, 4).cells if each.source == "'free'"]
    assert cell.outputs[0].data["text/plain"] == "'free'"


def test_two_sessions_work_at_once_each_on_its_own_notebook(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    for name in ("one", "two"):
        new_notebook(server.root / f"{name}.ipynb")

    async def use() -> None:
        async with opened.again() as (editor, agent):
            one, two = await agent.new(server.root), await agent.new(server.root)
            model.script(Gate(Say("I am the first."), after=1))
            first = asyncio.ensure_future(agent.ask(one, "In ", server.root / "one.ipynb"))
            await editor.until(lambda: editor.text(one) != "")
            model.script(add("2"), Say("I am the second."))
            await agent.ask(two, "In ", server.root / "two.ipynb")
            # A second message while the first one's turn runs is refused, and says why.
            with pytest.raises(acp.RequestError, match="A turn is running in this session"):
                await agent.ask(one, "Hurry")
            with pytest.raises(acp.RequestError, match="A turn is running in this session"):
                await agent.ask(one, "Hurry")
            model.release()
            await first
            nothing = "*Nothing was changed or run in this turn.*"
            assert editor.text(one) == f"I am the first.\n\n{nothing}"
            assert editor.text(two) == "I am the second.\n\n*1 change · 1 run*"

    opened.run(use())
    assert sources(server.root / "one.ipynb") == []
    assert sources(server.root / "two.ipynb") == ["2"]


def test_a_plan_is_shown_and_waits_where_the_session_says_so(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    new_notebook(server.root / "planned.ipynb")

    async def use() -> None:
        async with opened.again() as (editor, agent):
            session = await agent.new(server.root)
            settings = {"settings": {"planFirst": True}}
            assert server.request("PATCH", f"sessions/{session}", json=settings).ok
            model.script(
                plan_of("Add one", "Add two"), add("1"), Say("One."), add("2"), Say("Two.")
            )
            editor.answers = ["allow_once"]
            done = await agent.ask(session, "agent: fill ", server.root / "planned.ipynb")
            assert done.stop_reason == "end_turn"
            assert editor.asked[0][0].title == "Run this plan"
            plans = editor.of_kind(session, "plan")
            assert [each.content for each in plans[0].entries] == ["Add one", "Add two"]
            assert [each.status for each in plans[-1].entries] == ["completed", "completed"]

            model.script(plan_of("Add three"))
            editor.answers = ["reject"]
            await agent.ask(session, "agent: one more")

    opened.run(use())
    assert sources(server.root / "planned.ipynb") == ["1", "2"]


def test_the_action_of_a_slash_command_runs_once_the_user_agrees(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    notebook = server.root / "exported.ipynb"
    new_notebook(notebook, "1 + 1")
    given = {"service": "notebook", "action": "export", "parameters": {"format": "html"}}
    model.set_default(Call("proposeAction", given))

    async def use() -> None:
        async with opened.again() as (editor, agent):
            session = await agent.new(server.root)
            editor.answers = ["reject", "allow_once"]
            await agent.ask(session, "/notebook export as HTML ", notebook)
            assert not notebook.with_suffix(".html").exists()
            await agent.ask(session, "/notebook export as HTML")
            assert notebook.with_suffix(".html").exists()
            assert len(editor.asked) == 2
            *proposed, run_of_it = editor.of_kind(session, "tool_call")
            assert [each.title for each in proposed] == ["Propose an action"] * 2
            assert run_of_it.kind == "execute"

    opened.run(use())


def test_a_conversation_is_listed_and_loaded_with_all_that_happened(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor
) -> None:
    notebook = server.root / "loaded.ipynb"
    new_notebook(notebook)

    async def use() -> None:
        async with opened.again() as (editor, agent):
            session = await agent.new(server.root)
            model.script(add("1"), Say("Added it."))
            await agent.ask(session, "Add one to ", notebook)
            await agent.connection.set_config_option(
                session_id=session, config_id="mode", value="edit"
            )
        async with open_editor(server) as (editor, agent):
            listed = await agent.connection.list_sessions(cwd=str(server.root))
            assert listed.sessions[0].session_id == session
            assert listed.sessions[0].title == "Add one to loaded.ipynb"
            loaded = await agent.connection.load_session(
                cwd=str(server.root), session_id=session, mcp_servers=[]
            )
            assert loaded.modes.current_mode_id == "edit"
            await editor.until(lambda: "Added it." in editor.text(session))
            [said] = editor.of_kind(session, "user_message_chunk")
            assert said.content.text == "Add one to loaded.ipynb"
            [call] = editor.of_kind(session, "tool_call")
            assert call.title == "Add a cell"
            # It knows the notebook that it was about.
            await agent.connection.set_session_mode(session_id=session, mode_id="agent")
            model.script(add("2"), Say("Again."))
            await agent.ask(session, "Again")
            assert sources(notebook) == ["1", "2"]
            with pytest.raises(acp.RequestError, match="no session"):
                await agent.connection.load_session(
                    cwd=str(server.root), session_id="s_unknown", mcp_servers=[]
                )

    opened.run(use())


def test_what_cannot_be_done_is_said_and_nothing_is_lost(
    server: RunningServer, model: ScriptedModelServer, opened: OpenEditor, tmp_path: Any
) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("a,b\n")
    picture = ImageContentBlock(type="image", data="", mime_type="image/png")

    async def use() -> None:
        async with opened.again() as (editor, agent):
            connection = agent.connection
            session = await agent.new(server.root)
            with pytest.raises(acp.RequestError, match="is outside the root folder"):
                await agent.ask(session, "Read ", outside)
            with pytest.raises(acp.RequestError, match="does not exist"):
                await agent.ask(session, "Read ", server.root / "gone.csv")
            with pytest.raises(acp.RequestError, match="not image content"):
                await agent.ask(session, "See ", picture)
            with pytest.raises(acp.RequestError, match="The message is empty"):
                await agent.ask(session, " ")
            with pytest.raises(acp.RequestError, match="There is no mode 'yolo', but ask, edit"):
                await connection.set_session_mode(session_id=session, mode_id="yolo")
            with pytest.raises(acp.RequestError, match="There is no option 'speed'"):
                await connection.set_config_option(
                    session_id=session, config_id="speed", value="high"
                )
            with pytest.raises(acp.RequestError, match="There is no session 's_other'"):
                await agent.ask("s_other", "Hello")
            with pytest.raises(acp.RequestError, match="not the absolute path of a folder"):
                await connection.new_session(cwd="relative", mcp_servers=[])
            # What an editor embeds is sent as it shows it, saved or not.
            resource = TextResourceContents(
                uri=(server.root / "draft.py").as_uri(), text="unsaved = 1"
            )
            model.script(Say("I see it."))
            done = await agent.ask(
                session,
                "Look at ",
                EmbeddedResourceContentBlock(type="resource", resource=resource),
            )
            assert done.stop_reason == "end_turn"
            # A model that is not connected.
            await connection.set_config_option(
                session_id=session, config_id="model", value="anthropic/claude-sonnet-4-5"
            )
            with pytest.raises(acp.RequestError, match="ANTHROPIC_API_KEY"):
                await agent.ask(session, "Hello?")
            # One that is, whose context window is known.
            chosen = await connection.set_config_option(
                session_id=session, config_id="model", value="openai/gpt-6.1-sol"
            )
            assert chosen.config_options[1].current_value == "openai/gpt-6.1-sol"
            model.script(Say("Hello."))
            await agent.ask(session, "Hello?")
            [usage] = editor.of_kind(session, "usage_update")
            assert usage.size == 922_000
            assert 0 < usage.used < 100_000

    opened.run(use())
    assert "draft.py:\n```\nunsaved = 1\n```" in model.requests[0].text
    assert model.requests[-1].body["model"] == "gpt-6.1-sol"
