"""What needs the user: asked in the program, else in the panel, else denied; and what is sent."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.server.mcp.conftest import Run
from tests.server.mcp.test_client import cells_of, notebook, open_page
from tests.support.jupyter import RunningServer
from tests.support.mcp.client import connected
from tests.support.page import FakePage, request_in_page
from tests.support.sessions import turns


def test_the_clients_user_is_asked_for_approval(server: RunningServer, run: Run) -> None:
    asked: list[str] = []
    answers = iter(["deny", "approve", "approve_for_session"])

    async def elicit(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        asked.append(message)
        assert "approve" in schema["properties"]["decision"]["enum"]
        return {"action": "accept", "content": {"decision": next(answers)}}

    async def scenario() -> None:
        async with connected(server, elicit) as client:
            path, cells = await notebook(client, "approve.ipynb", "1", "2", "3")
            first, second, third = ({"path": path, "cellIds": [each]} for each in cells)
            denied = await client.call("deleteNotebookCells", first)
            assert denied["isError"]
            assert denied["value"]["error"]["code"] == "denied"
            await client.ok("deleteNotebookCells", first)
            await client.ok("deleteNotebookCells", second)
            await client.ok("deleteNotebookCells", third)

    run(scenario())
    assert len(asked) == 3
    assert "deleteNotebookCells" in asked[0]
    assert cells_of(server, "approve.ipynb") == []


def test_a_form_that_is_closed_approves_nothing(server: RunningServer, run: Run) -> None:
    async def elicit(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        return next(answers)

    answers = iter(
        [{"action": "cancel"}, {"action": "decline"}, {"action": "accept", "content": {}}]
    )

    async def scenario() -> None:
        async with connected(server, elicit) as client:
            path, [cell] = await notebook(client, "closed.ipynb", "1")
            for said in ("The form was closed", "The user declined", "The form was closed"):
                done = await client.call("deleteNotebookCells", {"path": path, "cellIds": [cell]})
                error = done["value"]["error"]
                assert error["code"] == "denied"
                # What nobody said is not put into the user's mouth.
                assert said in error["message"]

    run(scenario())
    assert len(cells_of(server, "closed.ipynb")) == 1


def test_without_forms_the_panel_is_asked_and_without_a_page_it_is_denied(
    server: RunningServer, run: Run
) -> None:
    async def scenario() -> None:
        async with connected(server, name="Formless") as client:
            path, [cell] = await notebook(client, "panel.ipynb", "1")
            delete = {"path": path, "cellIds": [cell]}
            denied = await client.call("deleteNotebookCells", delete)
            assert "no user is available" in denied["value"]["error"]["message"]
            async with open_page(server, "page-1") as page:
                call = asyncio.create_task(client.call("deleteNotebookCells", delete))
                shown = await asyncio.to_thread(waiting, page)
                session = shown["sessionId"]
                assert shown["title"] == "Formless (MCP)"
                [turn] = turns(server, session, limit="1", include="events")
                request = next(e for e in turn["events"] if e["type"] == "approval_requested")
                decision = {
                    "type": "approval_decision",
                    "approvalId": request["approvalId"],
                    "decision": "approve",
                }
                await asyncio.to_thread(server.post, f"sessions/{session}/ops", decision)
                assert not (await call)["isError"]

    run(scenario())


def waiting(page: FakePage) -> dict[str, Any]:
    while True:
        sessions = page.wait_for("sessions_waiting")["sessions"]
        if sessions:
            found: dict[str, Any] = sessions[0]
            return found


def test_settings_of_what_may_be_sent_hold_for_other_programs(
    server: RunningServer, run: Run
) -> None:
    asked: list[str] = []

    async def elicit(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        asked.append(message)
        return {"action": "accept", "content": {"decision": next(answers)}}

    answers = iter(["deny", "approve"])

    async def scenario() -> None:
        async with connected(server, elicit) as client:
            _, [cell] = await notebook(client, "secret.ipynb", "print('a secret number')")
            request_in_page(server, "PATCH", "config", json={"values": {"outputs": "never"}})
            try:
                ran = await client.call("runNotebookCells", {"cellIds": [cell]})
                assert "a secret number" not in ran["content"][0]["text"]
                assert "withheld by the setting" in ran["content"][0]["text"]
                read = await client.read("jupyter://notebooks/secret.ipynb")
                assert "withheld" in read["cells"][0]["outputs"]
                request_in_page(server, "PATCH", "config", json={"values": {"outputs": "ask"}})
                ran = await client.call("runNotebookCells", {"cellIds": [cell]})
                assert "withheld by the user" in ran["content"][0]["text"]
                assert "are about to be sent" in asked[0]
                read = await client.read("jupyter://notebooks/secret.ipynb")
                assert "a secret number" in read["cells"][0]["outputs"]
                assert len(asked) == 2
            finally:
                request_in_page(server, "PATCH", "config", json={"values": {"outputs": None}})

    run(scenario())
