"""A page that had a notebook open goes away: who waits for it, and who does not."""

from __future__ import annotations

import shutil
import threading
import time
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.notebook.page import RETURN_SECONDS
from tests.server.page.test_socket import editor_state, notebook_answer
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import FakePage

AT_ONCE = RETURN_SECONDS / 3
ADD = Call("addNotebookCell", {"type": "code", "content": "added = 1"})


@pytest.fixture
def path(server: RunningServer, request: pytest.FixtureRequest) -> str:
    """A notebook of the test's own, with one Markdown cell."""
    name = f"{abs(hash(request.node.name))}.ipynb"
    shutil.copy(server.root / "cars.ipynb", server.root / name)
    return name


def shows(page: FakePage, path: str) -> None:
    """The page has the notebook open, and the server knows it."""
    page.send(editor_state(path, active=path))
    page.send({"type": "hello", "clientId": page.client_id})
    page.wait_for("welcome")


def ask(path: str, **more: Any) -> dict[str, Any]:
    """A message in Agent mode about an attached and active notebook."""
    return {"message": f"@{path} add a cell", "mode": "agent", "activeNotebook": path, **more}


def sources(server: RunningServer, path: str) -> list[str]:
    """The cells as they are in the file."""
    return [cell.source for cell in nbformat.read(server.root / path, as_version=4).cells]


def first_cell(reply: dict[str, Any]) -> str:
    """The text of the first cell that the first call read."""
    return str(reply["toolCalls"][0]["output"]["output"]["cells"][0]["content"])


class Chat:
    """A turn that is requested in a separate thread; ``reply`` waits for its end."""

    def __init__(self, server: RunningServer, body: dict[str, Any]) -> None:
        self._answer: dict[str, Any] = {}
        self._thread = threading.Thread(
            target=lambda: self._answer.update(server.post("chat", body))
        )
        self._thread.start()

    def reply(self) -> dict[str, Any]:
        self._thread.join(60)
        return self._answer


@pytest.mark.parametrize("goes", ["leave", "break_off"])
@pytest.mark.parametrize("client", [None, "another"])
def test_nobody_waits_for_a_page_that_is_not_theirs(
    server: RunningServer, model: ScriptedModelServer, path: str, goes: str, client: str | None
) -> None:
    model.script(ADD, Say("Added."))
    with FakePage(server, "gone", notebook_answer) as page:
        shows(page, path)
        getattr(page, goes)()
        begun = time.monotonic()
        reply = server.post("chat", ask(path, clientId=client))
        took = time.monotonic() - begun
    assert model.requests[0].arrived_at - begun < AT_ONCE
    assert took < AT_ONCE
    assert "# Cars" in model.requests[0].text
    assert reply["toolCalls"][0]["status"] == "ok"
    assert sources(server, path) == ["# Cars", "added = 1"]


def test_a_turn_continues_at_once_when_its_own_page_is_closed_between_two_calls(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    model.script(Call("getNotebookCells", {}), Gate(ADD), Say("Added."))
    with FakePage(server, "own", notebook_answer) as page:
        shows(page, path)
        chat = Chat(server, ask(path, clientId="own"))
        model.wait_for(model.at_gate)
        page.leave()
        begun = time.monotonic()
        model.release()
        reply = chat.reply()
        took = time.monotonic() - begun
    assert took < AT_ONCE
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok"]
    assert "unsaved = 1" in first_cell(reply)
    assert sources(server, path) == ["# Cars", "added = 1"]


def test_a_turn_waits_for_its_own_page_whose_connection_broke(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    model.script(Gate(Call("getNotebookCells", {})), Say("Read."))
    with FakePage(server, "own", notebook_answer) as page:
        shows(page, path)
        chat = Chat(server, ask(path, clientId="own"))
        model.wait_for(model.at_gate)
        page.break_off()
        model.release()
        model.wait_for(model.answered(0))
    with FakePage(server, "own", notebook_answer) as page:
        shows(page, path)
        reply = chat.reply()
    # What was typed there and not saved is only in the page.
    assert first_cell(reply) == "unsaved = 1"


@pytest.mark.parametrize("comes_back", [True, False])
def test_an_edit_whose_page_is_loaded_anew_before_it_answers_is_made_once(
    server: RunningServer, model: ScriptedModelServer, path: str, comes_back: bool
) -> None:
    def silent_at_edits(message: dict[str, Any]) -> dict[str, Any] | None:
        return None if message["method"] == "notebook.edit" else notebook_answer(message)

    def nothing_open(message: dict[str, Any]) -> dict[str, Any]:
        return {"ok": False, "error": {"code": "not_open", "message": "not open"}}

    model.script(ADD, Say("Added."))
    with FakePage(server, "own", silent_at_edits) as page:
        shows(page, path)
        chat = Chat(server, ask(path, clientId="own"))
        while page.wait_for("request")["method"] != "notebook.edit":
            pass
        begun = time.monotonic()
        page.leave()
    if comes_back:
        with FakePage(server, "own", nothing_open):
            reply = chat.reply()
    else:
        reply = chat.reply()
    assert time.monotonic() - begun < AT_ONCE
    assert reply["toolCalls"][0]["status"] == "ok"
    assert sources(server, path) == ["# Cars", "added = 1"]


def test_the_other_page_is_asked_when_one_of_two_is_closed(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    model.script(Gate(Call("getNotebookCells", {})), Say("Read."))
    with (
        FakePage(server, "own", notebook_answer) as page,
        FakePage(server, "other", notebook_answer) as other,
    ):
        shows(other, path)
        shows(page, path)
        chat = Chat(server, ask(path, clientId="own"))
        model.wait_for(model.at_gate)
        page.leave()
        model.release()
        reply = chat.reply()
        assert other.wait_for("request")["method"] == "notebook.read"
    assert first_cell(reply) == "unsaved = 1"


def test_a_notebook_that_was_renamed_after_its_page_was_closed(
    server: RunningServer, model: ScriptedModelServer, path: str
) -> None:
    model.script(ADD, Say("Added."))
    with FakePage(server, "gone", notebook_answer) as page:
        shows(page, path)
    renamed = f"renamed-{path}"
    begun = time.monotonic()
    assert server.request("PATCH", f"/api/contents/{path}", json={"path": renamed}).ok
    assert server.get("context", path=path)["notebook"]["uri"] == renamed
    server.post("chat", ask(renamed))
    assert time.monotonic() - begun < AT_ONCE
    assert sources(server, renamed) == ["# Cars", "added = 1"]
