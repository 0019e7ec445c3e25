"""A server with rooms: nothing is written behind one that people edit in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    websocket_connect,
)

from jupyter_datalayer_agent.notebook.edits.batch import page_cell
from tests.notebook.support import code, until, write_notebook
from tests.server.page.test_socket import editor_state
from tests.support.beside import folder_of, with_package
from tests.support.jupyter import TOKEN, RunningServer
from tests.support.page import FakePage

REFUSED = "is open in a collaborative session"


@pytest.fixture(scope="module", params=["collaboration", "documents"])
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server with jupyter-collaboration, and one with jupyter-server-documents."""
    folder = tmp_path_factory.mktemp("rooms")
    environment = with_package(request.param)
    with RunningServer(folder, environment=environment, own_interpreter=True) as server:
        yield server


@pytest.fixture(autouse=True)
def documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a collaborator's page uses."""
    monkeypatch.syspath_prepend(str(folder_of("collaboration")))


class Collaborator:
    """Somebody who has a document open in a page without the agent."""

    def __init__(self, connection: WebSocketClientConnection, kind: str) -> None:
        from jupyter_ydoc import ydocs
        from pycrdt import Doc

        self.connection = connection
        self.shared: Any = Doc()
        self.document: Any = ydocs[kind](self.shared)
        self.synced = asyncio.Event()
        self._sending: set[asyncio.Future[None]] = set()
        self._own = False
        self._subscription = self.shared.observe(self._changed)
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        from pycrdt import YMessageType, create_sync_message, handle_sync_message

        await self.connection.write_message(create_sync_message(self.shared), binary=True)
        while isinstance(message := await self.connection.read_message(), bytes):
            if message[0] != YMessageType.SYNC:
                continue
            reply = handle_sync_message(message[1:], self.shared)
            if reply is not None:
                await self.connection.write_message(reply, binary=True)
            if message[1] == 1:  # the room's content
                self.synced.set()

    def _changed(self, event: Any) -> None:
        from pycrdt import create_update_message

        if self._own:
            message = create_update_message(event.update)
            self._sending.add(
                asyncio.ensure_future(self.connection.write_message(message, binary=True))
            )

    async def types(self, source: str) -> None:
        """Add a cell, or a line of text."""
        self._own = True
        if hasattr(self.document, "append_cell"):
            self.document.append_cell(code(f"c{len(self.document.ycells)}", source))
        else:
            self.document.source += source
        self._own = False
        await asyncio.gather(*self._sending)

    async def leave(self) -> None:
        self.connection.close()
        # A message of the room may have come since, to which nothing can be replied any more.
        with contextlib.suppress(WebSocketClosedError):
            await self._reading


def room_at(server: RunningServer, path: str, kind: str) -> str:
    """The room of a document, as pages of jupyter-collaboration find it, else as those of
    jupyter-server-documents."""
    body = {"format": "json" if kind == "notebook" else "text", "type": kind}
    answer = server.request("PUT", f"/api/collaboration/session/{path}", json=body)
    if answer.status_code == 404:
        answer = server.request("POST", "/api/fileid/index", params={"path": path})
        return f"{body['format']}:{kind}:{answer.json()['id']}"
    found = answer.json()
    room = f"{found['format']}:{found['type']}:{found['fileId']}"
    return f"{room}?sessionId={found['sessionId']}"


@asynccontextmanager
async def joined(
    server: RunningServer, path: str, kind: str = "notebook"
) -> AsyncIterator[Collaborator]:
    address = (
        f"{server.url.replace('http', 'ws')}api/collaboration/room/{room_at(server, path, kind)}"
    )
    headers = {"Authorization": f"token {TOKEN}"}
    other = Collaborator(await websocket_connect(HTTPRequest(address, headers=headers)), kind)
    try:
        await asyncio.wait_for(other.synced.wait(), 30)
        yield other
    finally:
        await other.leave()


async def call(server: RunningServer, tool: str, path: str, /, **arguments: Any) -> dict[str, Any]:
    body = {"path": path, "arguments": {"path": path, **arguments}}
    result = await asyncio.to_thread(server.post, f"tools/{tool}", body)
    assert isinstance(result, dict)
    return result


def sources(file: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(file.read_text())["cells"]]


async def until_saved(file: Path, text: str) -> None:
    """The room saves by itself, a second after the last change."""
    await until(lambda: text in file.read_text())


async def until_writable(server: RunningServer, path: str) -> dict[str, Any]:
    """The room's end is reported to nobody."""
    while True:
        result = await call(server, "addNotebookCell", path, content="agent = 1")
        if result.get("error") is None:
            return result
        await asyncio.sleep(0.05)


async def test_what_people_type_in_a_room_is_not_overwritten(shared: RunningServer) -> None:
    file = write_notebook(shared.root, [code("a", "print(1)")], "shared.ipynb")
    async with joined(shared, "shared.ipynb") as other:
        for number in range(20):
            await other.types(f"typed = {number}")
        added = await call(shared, "addNotebookCell", "shared.ipynb", content="agent = 1")
        ran = await call(shared, "runNotebookCells", "shared.ipynb", all=True)
        read = await call(shared, "getNotebookCells", "shared.ipynb")
        kernels = shared.request("GET", "/api/kernels").json()
        await until_saved(file, "typed = 19")
        typed = sources(file)
    after = await until_writable(shared, "shared.ipynb")

    assert REFUSED in added["error"]["message"]
    assert "open it in JupyterLab" in added["error"]["hint"]
    assert REFUSED in ran["error"]["message"]
    assert read.get("error") is None
    assert kernels == []
    assert typed == ["print(1)", *(f"typed = {number}" for number in range(20))]
    assert after["output"]["index"] == 21
    assert sources(file) == [*typed, "agent = 1"]


async def test_a_text_file_and_a_lexical_document_in_a_room_are_not_overwritten(
    shared: RunningServer,
) -> None:
    made = shared.post("tools/createLexical", {"arguments": {"name": "shared.dlex"}})
    assert made.get("error") is None
    for name, kind, tool, arguments in (
        ("shared.txt", "file", "writeFile", {"content": "agent"}),
        ("shared.dlex", "file", "insertBlock", {"type": "paragraph", "content": "agent"}),
    ):
        file = shared.root / name
        if not file.exists():
            file.write_text("first\n")
        before = file.read_text()
        async with joined(shared, name, kind):
            refused = await call(shared, tool, name, **arguments)
        assert REFUSED in refused["error"]["message"], refused
        assert file.read_text() == before


async def test_other_documents_are_written_while_a_room_is_open(shared: RunningServer) -> None:
    for name in ("one.ipynb", "two.ipynb"):
        write_notebook(shared.root, [code("a", "1")], name)
    async with joined(shared, "one.ipynb"):
        done = await call(shared, "addNotebookCell", "two.ipynb", content="2", run=True)
    assert done.get("error") is None
    assert sources(shared.root / "two.ipynb") == ["1", "2"]


async def test_a_link_to_a_document_in_a_room_is_not_written(shared: RunningServer) -> None:
    file = write_notebook(shared.root, [code("a", "1")], "target.ipynb")
    (shared.root / "link.ipynb").symlink_to(file)
    async with joined(shared, "target.ipynb"):
        refused = await call(shared, "addNotebookCell", "link.ipynb", content="2")
    assert REFUSED in refused["error"]["message"]
    assert sources(file) == ["1"]


async def test_a_page_that_shows_the_document_does_what_is_asked(shared: RunningServer) -> None:
    """It is in the room, as everybody else is."""
    file = write_notebook(shared.root, [code("a", "1")], "open.ipynb")
    shown = [code("a", "1")]

    def answer(message: dict[str, Any]) -> dict[str, Any] | None:
        if message["method"] == "notebook.edit":
            [edit] = message["params"]["edits"]
            shown.append(code(edit["cellId"], edit["source"]))
        cells = [page_cell(cell, index).to_wire() for index, cell in enumerate(shown)]
        return {"ok": True, "result": {"path": "open.ipynb", "cells": cells}}

    before = file.read_bytes()
    async with joined(shared, "open.ipynb"):
        with FakePage(shared, answer=answer) as page:
            page.send(editor_state("open.ipynb", active="open.ipynb"))
            page.send({"type": "hello", "clientId": page.client_id})
            page.wait_for("welcome")  # what was sent before is known by then
            added = await call(shared, "addNotebookCell", "open.ipynb", content="2")
        refused = await call(shared, "addNotebookCell", "open.ipynb", content="3")

    assert added.get("error") is None
    assert [cell["source"] for cell in shown] == ["1", "2"]
    assert REFUSED in refused["error"]["message"]
    assert file.read_bytes() == before


async def test_the_twin_of_a_notebook_in_a_room_is_not_written(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """jupytext writes both files of a pair together."""
    packages = [with_package("collaboration"), with_package("jupytext")]
    environment = {key: os.pathsep.join(each[key] for each in packages) for key in packages[0]}
    folder = tmp_path_factory.mktemp("twins")
    with RunningServer(folder, environment=environment, own_interpreter=True) as server:
        metadata = {"jupytext": {"formats": "ipynb,py:percent"}}
        file = write_notebook(server.root, [code("a", "1")], "pair.ipynb", metadata=metadata)
        made = await call(server, "addNotebookCell", "pair.ipynb", content="x = 1")
        async with joined(server, "pair.ipynb") as other:
            await other.types("typed = 1")
            added = await call(server, "addNotebookCell", "pair.py", content="agent = 1")
            edits = [{"oldString": "x = 1", "newString": "x = 2"}]
            edited = await call(server, "editFile", "pair.py", edits=edits)
            await until_saved(file, "typed = 1")

    assert made.get("error") is None
    for refused in (added, edited):
        assert f"pair.ipynb {REFUSED}" in refused["error"]["message"]
    assert sources(file) == ["1", "x = 1", "typed = 1"]
    assert "agent" not in (server.root / "pair.py").read_text()
