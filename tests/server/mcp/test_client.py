"""The official SDK's own client over Streamable HTTP, as a program uses it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.server.mcp.conftest import Run
from tests.support.jupyter import RunningServer
from tests.support.mcp.client import Client, connected, wire
from tests.support.page import FakePage, request_in_page
from tests.support.sessions import act, turns

PLOT = """\
from IPython.display import Image
import base64
Image(data=base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5E"
    "rkJggg=="))"""


async def notebook(client: Client, name: str, *sources: str) -> tuple[str, list[str]]:
    """A new notebook with these code cells: its path, and their ids."""
    path = (await client.ok("createNotebook", {"name": name}))["path"]
    cells = []
    for source in sources:
        added = {"path": path, "type": "code", "content": source}
        cells.append((await client.ok("addNotebookCell", added))["cellId"])
    return path, cells


@asynccontextmanager
async def open_page(server: RunningServer, client_id: str) -> AsyncIterator[FakePage]:
    """A page that is open meanwhile."""
    page = FakePage(server, client_id)
    await asyncio.to_thread(page.__enter__)
    try:
        yield page
    finally:
        await asyncio.to_thread(page.leave)


def session_of(server: RunningServer, name: str) -> str:
    """The id of the newest session of the program of that name."""
    sessions = server.get("sessions")["sessions"]
    return next(each["id"] for each in sessions if each["title"] == f"{name} (MCP)")


def test_it_introduces_itself_and_lists_what_it_has(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            assert client.server["serverInfo"]["name"] == "jupyter-datalayer-agent"
            assert client.server["capabilities"]["resources"] == {
                "subscribe": True,
                "listChanged": True,
            }
            tools = wire(await client.session.list_tools())["tools"]
            ours = {each["name"] for each in server.get("tools")["tools"]}
            assert {each["name"] for each in tools} == ours - {"updatePlan", "askUser"}
            read = next(each for each in tools if each["name"] == "getNotebookCells")
            assert read["annotations"]["readOnlyHint"]
            assert "cellIds" in read["inputSchema"]["properties"]
            delete = next(each for each in tools if each["name"] == "deleteNotebookCells")
            assert delete["annotations"]["destructiveHint"]
            prompts = wire(await client.session.list_prompts())["prompts"]
            services = {each["id"] for each in server.get("services")["services"]}
            workflows = {each["id"] for each in server.get("workflows")["workflows"]}
            assert {each["name"] for each in prompts} == services | workflows

    run(scenario())


def test_a_program_that_can_ask_its_user_is_offered_questions(
    server: RunningServer, run: Run
) -> None:
    async def elicit(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": {"answer": "the first"}}

    async def scenario() -> None:
        async with connected(server, elicit) as client:
            tools = wire(await client.session.list_tools())["tools"]
            assert "askUser" in {each["name"] for each in tools}
            assert await client.ok("askUser", {"question": "Which?"}) == {"answer": "the first"}

    run(scenario())


def test_changes_and_runs_are_turns_of_one_session(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        progress: list[str | None] = []

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            progress.append(message)

        async with connected(server, name="Claude @evil.ipynb agent:") as client:
            path, [cell] = await notebook(client, "turns.ipynb", "6 * 7")
            # Without a path: the notebook that was made last.
            ran = await client.call("runNotebookCells", {"cellIds": [cell]}, on_progress)
            assert ran["value"]["runs"][0]["outputs"] == "42"
            assert progress == ["Running cell 1"]
            await client.until("notifications/message", data="Running cell 1")
            assert (await client.ok("getNotebookCells"))["path"] == path

    run(scenario())
    session = session_of(server, "Claude evil.ipynb agent")
    made, added, ran = turns(server, session)
    assert [turn["status"] for turn in (made, added, ran)] == ["completed"] * 3
    assert [call["name"] for call in added["toolCalls"]] == ["addNotebookCell"]
    assert added["changes"][0]["after"] == "6 * 7"
    # Undone like any turn.
    act(server, session, {"type": "undo", "turnId": added["id"]}, "changes_undone")
    assert cells_of(server, "turns.ipynb") == []


def test_blocks_of_a_lexical_document_by_path_or_the_last(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            failed = await client.call("readAllBlocks", {})
            assert "Name one with path" in str(failed)
            await client.ok("createLexical", {"name": "report.dlex"})
            await client.ok("insertBlock", {"type": "heading", "content": "# Cars"})
            named = await client.ok("readAllBlocks", {"path": "report.dlex"})
            assert "Cars" in str(named)
            assert await client.ok("readAllBlocks") == named

    run(scenario())


def cells_of(server: RunningServer, path: str) -> list[Any]:
    done = server.post("tools/getNotebookCells", {"arguments": {"path": path}})
    cells: list[Any] = done["output"]["cells"]
    return cells


def test_a_cell_that_the_user_changed_is_not_overwritten(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            path, [cell] = await notebook(client, "stale.ipynb", "x = 1")
            theirs = {"path": path, "cellId": cell, "content": "x = 'theirs'"}
            server.post("tools/updateNotebookCell", {"arguments": theirs})
            mine = {"path": path, "cellId": cell, "content": "x = 2"}
            refused = await client.call("updateNotebookCell", mine)
            assert refused["isError"]
            assert refused["value"]["error"]["code"] == "stale"
            await client.ok("updateNotebookCell", mine)
            # The notebook that was named last is the one that a call without a path means.
            await notebook(client, "another.ipynb")
            await client.ok("getNotebookCells", {"path": path})
            await client.read("jupyter://notebooks/another.ipynb")
            assert (await client.ok("getNotebookCells"))["path"] == path

    run(scenario())
    assert cells_of(server, "stale.ipynb")[0]["content"] == "x = 2"


def test_pictures_come_as_image_content(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            path, [cell] = await notebook(client, "picture.ipynb", PLOT)
            ran = await client.call("runNotebookCells", {"path": path, "cellIds": [cell]})
            text, name, image = ran["content"]
            assert "picture 1: image/png 1x1" in text["text"]
            assert name["text"] == "Picture of cell 1's output:"
            assert image["type"] == "image"
            assert image["mimeType"] == "image/png"
            assert image["data"].startswith("iVBORw0KGgo")

    run(scenario())


def test_errors_say_what_would_be_right(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            nothing = await client.call("addNotebookCell", {"type": "code", "content": "1"})
            assert nothing["isError"]
            assert nothing["value"]["error"]["hint"].startswith("Name one with path")
            outside = await client.call("getNotebookCells", {"path": "../../etc/x.ipynb"})
            assert outside["isError"]
            missing = await client.call("getNotebookCells", {"path": "missing.ipynb"})
            assert missing["value"]["error"]["code"] == "not_found"
            wrong = await client.call("addNotebookCell", {"path": "a.ipynb", "type": "cake"})
            assert wrong["value"]["error"]["code"] == "invalid_arguments"
            for unknown in ("updatePlan", "nothing"):
                with pytest.raises(Exception, match="Unknown tool"):
                    await client.call(unknown)
            with pytest.raises(Exception, match="Unknown resource"):
                await client.session.read_resource("jupyter://nothing/here")  # type: ignore[arg-type]
            with pytest.raises(Exception, match=r"outside|root"):
                await client.read("jupyter://notebooks/..%2F..%2Fetc%2Fx.ipynb")
            with pytest.raises(Exception, match="needs data"):
                await client.session.get_prompt("exploratory-data-analysis", {})

    run(scenario())


def test_a_call_that_is_cancelled_interrupts_its_own_run(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server, name="Canceller") as client, connected(server) as other:
            _, [slow] = await notebook(client, "cancel.ipynb", "import time; time.sleep(60)")
            _, [cell] = await notebook(other, "other.ipynb", "import time; time.sleep(1); 1 + 1")
            running = asyncio.create_task(other.ok("runNotebookCells", {"cellIds": [cell]}))
            call = asyncio.create_task(client.call("runNotebookCells", {"cellIds": [slow]}))
            await client.until("notifications/message", data="Running cell 1")
            await client.cancel_newest()
            call.cancel()
            # The next one waits for the end of the one before.
            began = time.monotonic()
            added = {"type": "code", "content": "'after'", "run": True}
            assert (await client.ok("addNotebookCell", added))["outputs"] == "'after'"
            assert time.monotonic() - began < 20
            assert (await running)["runs"][0]["outputs"] == "2"

    run(scenario())
    ran = turns(server, session_of(server, "Canceller"))[-2]
    assert ran["status"] == "aborted"
    [call] = ran["toolCalls"]
    assert call["status"] == "aborted"


def test_fifty_calls_at_once(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            path, _ = await notebook(client, "many.ipynb")
            adds = [
                client.ok("addNotebookCell", {"path": path, "type": "code", "content": str(number)})
                for number in range(20)
            ]
            reads = [client.ok("getNotebookCells", {"path": path}) for _ in range(30)]
            await asyncio.gather(*adds, *reads)

    run(scenario())
    contents = {cell["content"] for cell in cells_of(server, "many.ipynb")}
    assert contents == {str(number) for number in range(20)}


def test_resources_are_read_and_their_changes_notified(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client, connected(server, name="Reader") as reader:
            path, [cell] = await notebook(client, "re source.ipynb", "print('hello')")
            uri = "jupyter://notebooks/re%20source.ipynb"
            read = await reader.read(uri)
            assert read["cells"][0]["content"] == "print('hello')"
            one = await reader.read(f"jupyter://cells/{cell}/re%20source.ipynb")
            assert [each["id"] for each in one["cells"]] == [cell]
            listed = wire(await reader.session.list_resources())["resources"]
            session = next(each["uri"] for each in listed if each["name"] == "Test client (MCP)")
            assert (await reader.read(session))["turns"]
            await reader.subscribe(uri)
            await client.ok("addNotebookCell", {"type": "code", "content": "1"})
            await reader.until("notifications/resources/updated", uri=uri)
            # What is written by another program is noticed, too.
            content = json.loads((server.root / path).read_text())
            content["cells"][0]["source"] = "print('from outside')"
            (server.root / path).write_text(json.dumps(content))
            await reader.until("notifications/resources/updated", uri=uri)
            await reader.unsubscribe(uri)
            async with open_page(server, "page-2") as page:
                shown = {"path": "shown.ipynb", "ready": False}
                page.send({"type": "editor_state", "notebooks": [shown]})
                await reader.until("notifications/resources/list_changed")
                listed = wire(await reader.session.list_resources())["resources"]
                assert "jupyter://notebooks/shown.ipynb" in {each["uri"] for each in listed}

    run(scenario())


def test_data_sets_are_resources_without_their_rows(server: RunningServer, run: Run) -> None:
    file = {"file": ("fruit.csv", b"name,price\npear,314159\n")}
    assert server.request("POST", "upload", files=file).ok

    async def scenario() -> None:
        async with connected(server) as client:
            listed = wire(await client.session.list_resources())["resources"]
            assert "jupyter://datasets/fruit" in {each["uri"] for each in listed}
            read = await client.read("jupyter://datasets/fruit")
            assert [column["name"] for column in read["columns"]] == ["name", "price"]
            assert "314159" not in json.dumps(read)
            assert "314159" in json.dumps(await client.ok("listDatasets"))

    run(scenario())


def test_prompts_are_made_of_their_arguments(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            given = {"data": "cars.csv"}
            prompt = wire(await client.session.get_prompt("exploratory-data-analysis", given))
            text = prompt["messages"][0]["content"]["text"]
            assert "- data: cars.csv" in text
            assert "createNotebook" in text
            service = wire(await client.session.get_prompt("data", {"question": "How do I sort?"}))
            assert service["messages"][0]["content"]["text"].startswith("How do I sort?")

    run(scenario())


def test_in_ask_mode_programs_only_read(server: RunningServer, run: Run) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            path, _ = await notebook(client, "mode.ipynb", "1")
            assert client.server["capabilities"]["tools"] == {"listChanged": True}
            request_in_page(server, "PATCH", "config", json={"values": {"mcp_mode": "ask"}})
            try:
                await client.until("notifications/tools/list_changed")
                tools = wire(await client.session.list_tools())["tools"]
                assert all(each["annotations"]["readOnlyHint"] for each in tools)
                await client.ok("getNotebookCells", {"path": path})
                refused = await client.call("createNotebook", {"name": "x.ipynb"})
                assert "mcp_mode is ask" in refused["value"]["error"]["hint"]
            finally:
                request_in_page(server, "PATCH", "config", json={"values": {"mcp_mode": None}})
            await client.until("notifications/tools/list_changed")
            assert wire(await client.session.list_tools())["tools"] != tools

    run(scenario())
    assert not (server.root / "x.ipynb").exists()


def test_the_notebook_that_was_used_last_is_still_that_one_after_a_rename(
    server: RunningServer, run: Run
) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            path, _ = await notebook(client, "before.ipynb", "x = 1")
            answer = await asyncio.to_thread(
                server.request, "PATCH", f"/api/contents/{path}", json={"path": "after.ipynb"}
            )
            assert answer.ok, answer.text
            await client.ok("addNotebookCell", {"type": "code", "content": "y = 2"})
            named = {"path": path, "type": "code", "content": "z = 3"}
            await client.ok("addNotebookCell", named)
            cells = (await client.ok("getNotebookCells"))["cells"]
            assert [cell["content"] for cell in cells] == ["x = 1", "y = 2", "z = 3"]
            assert not (server.root / path).exists()

    run(scenario())


def test_the_notebook_that_is_renamed_during_a_call_is_the_one_of_the_next(
    server: RunningServer, run: Run
) -> None:
    async def scenario() -> None:
        async with connected(server) as client:
            began, go = (server.root / name for name in ("call_began", "call_go"))
            wait = (
                "import os, pathlib, time\n"
                f"pathlib.Path({str(began)!r}).touch()\n"
                f"while not os.path.exists({str(go)!r}):\n    time.sleep(0.01)"
            )
            path, ids = await notebook(client, "during.ipynb", wait)
            running = asyncio.ensure_future(
                client.ok("runNotebookCells", {"path": path, "cellIds": ids})
            )

            def rename_when_it_runs() -> None:
                while not began.exists():
                    pass
                answer = server.request(
                    "PATCH", f"/api/contents/{path}", json={"path": "done.ipynb"}
                )
                assert answer.ok, answer.text
                go.touch()

            await asyncio.to_thread(rename_when_it_runs)
            await running
            # Another notebook has its name now.
            (server.root / path).write_text((server.root / "done.ipynb").read_text())
            await client.ok("addNotebookCell", {"type": "code", "content": "y = 2"})
            assert "y = 2" in (server.root / "done.ipynb").read_text()
            assert "y = 2" not in (server.root / path).read_text()

    run(scenario())
