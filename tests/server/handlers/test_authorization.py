"""What Jupyter's authorizer calls ``read`` runs nothing; what runs something needs ``execute``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import pytest
import requests
from nbformat import v4

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer

AUTHORIZER = "--ServerApp.authorizer_class=tests.support.read_only.ReadOnlyAuthorizer"
NOTE_EACH_RUN = """
from pathlib import Path
shell = get_ipython()
def note(): Path({file!r}).open("a").write("run\\n")
shell.events.register("pre_execute", note)
# Expressions may come without any code, and are evaluated all the same.
evaluate = shell.user_expressions
def noted(expressions):
    if expressions: note()
    return evaluate(expressions)
shell.user_expressions = noted
"""
VARIABLE = quote('[{"kind": "variable", "path": "failed.ipynb", "name": "total"}]')


class Noted:
    """A server, a session, a notebook with a failed cell, and a kernel that notes what it runs."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self._file = server.folder / "runs"
        startup = Path(server.environment["IPYTHONDIR"], "profile_default", "startup", "note.py")
        startup.parent.mkdir(parents=True, exist_ok=True)
        startup.write_text(NOTE_EACH_RUN.format(file=str(self._file)))
        write_cars(server.root)
        nbformat.write(failed_notebook(), server.root / "failed.ipynb")
        server.start()
        self.session = server.post("sessions", {"title": "Kept"})["id"]
        self.start_kernel()
        run = {"arguments": {"cellIds": ["set", "bad"], "stopOnError": False}}
        server.post("tools/runNotebookCells", {**run, "path": "failed.ipynb"})
        assert self.runs() == 4, "two cells, the guard, and the search for what repairs the second"

    def start_kernel(self) -> None:
        body = {
            "path": "failed.ipynb", "name": "", "type": "notebook", "kernel": {"name": "python3"}
        }  # fmt: skip
        assert self.server.request("POST", "/api/sessions", json=body).status_code == 201

    def runs(self) -> int:
        """How often the kernel ran something since this was asked last."""
        count = len(self._file.read_text().splitlines()) if self._file.exists() else 0
        self._file.unlink(missing_ok=True)
        return count


def failed_notebook() -> nbformat.NotebookNode:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [v4.new_code_cell("total = 1", id="set"), v4.new_code_cell("print(totl)", id="bad")]
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Noted]:
    server = RunningServer(tmp_path_factory.mktemp("authorization"))
    try:
        yield Noted(server)
    finally:
        server.stop()


@pytest.fixture(scope="module")
def reader(full: Noted) -> Noted:
    """The same server for somebody who may only read."""
    full.server.stop()
    full.server.arguments.append(AUTHORIZER)
    full.server.start()
    full.start_kernel()
    return full


def described(server: RunningServer) -> list[tuple[str, str, str]]:
    """Method, route and action of each operation."""
    return [
        (method.upper(), path.strip("/"), operation["x-jupyter-action"])
        for path, operations in server.get("openapi.json")["paths"].items()
        for method, operation in operations.items()
        if path != "/health"
    ]


def filled(route: str, session: str) -> str:
    query = {
        "quality": "path=failed.ipynb",
        "fixes": "path=failed.ipynb&cellId=bad",
        "variables": "path=failed.ipynb",
        "context": "path=failed.ipynb",
        "tools": "path=failed.ipynb&attached=true",
        "search": "q=total",
    }
    known = {
        "session_id": session, "turn_id": "t", "tutorial_id": "pandas-basics", "number": "1",
        "name": "getNotebookCells", "workflow_id": "x",
        "service_id": "notebook", "action_id": "export", "connection_id": "openai",
    }  # fmt: skip
    return f"{route.format_map(known)}?{query.get(route, '')}".rstrip("?")


@pytest.mark.parametrize("route", ["fixes", "variables", f"context?attachments={VARIABLE}"])
def test_what_asks_the_kernel_is_noted_by_it(full: Noted, route: str) -> None:
    answer = full.server.request("GET", filled(route, full.session))
    assert answer.status_code == 200, answer.text
    assert full.runs() > 0


def test_a_reader_reads_everything_and_nothing_is_run_for_it(reader: Noted) -> None:
    reads = [
        (method, route)
        for method, route, action in described(reader.server)
        # Each message of MCP says by itself what it is for: see below.
        if action == "read" and route != "mcp"
    ]
    assert len(reads) > 15
    # They look into what is sent, and change nothing.
    posts = {route for method, route in reads if method != "GET"}
    assert posts == {"acts", "intent"}
    for method, route in reads:
        path = filled(route, reader.session)
        body: Any = {"path": "failed.ipynb", "changes": [{"after": "import os"}]}
        if route == "intent":
            body = {"message": "Export this notebook"}
        if route.endswith("events"):
            with reader.server._session.get(
                f"{reader.server.url}datalayer-agent/{path}", stream=True, timeout=10
            ) as answer:
                assert answer.status_code == 200, path
            continue
        answer = reader.server.request(method, path, json=body if method == "POST" else None)
        # There is no such turn, data set or provenance; it was looked for.
        assert answer.status_code in (200, 404) or _lacks_a_field(answer), (path, answer.text)
    assert reader.runs() == 0


def _lacks_a_field(answer: requests.Response) -> bool:
    return answer.status_code == 400 and answer.json()["error"]["code"] == "invalid_request"


def test_a_reader_is_refused_everything_else(reader: Noted) -> None:
    others = [each for each in described(reader.server) if each[2] != "read"]
    assert len(others) > 15
    for method, route, _ in others:
        # The connection of an upload that is refused is closed: its body is not waited for.
        own = {"headers": {"Connection": "close"}} if route == "upload" else {"json": {}}
        answer = reader.server.request(method, filled(route, reader.session), **own)
        assert answer.status_code == 403, (method, route, answer.text[:300])
        assert answer.json()["error"]["code"] == "forbidden"
    assert reader.runs() == 0
    assert {"fixes", "variables", "next-cell"} < {route for _, route, _ in others}


def test_attached_variables_need_more_than_to_read(reader: Noted) -> None:
    answer = reader.server.request("GET", f"context?path=failed.ipynb&attachments={VARIABLE}")
    assert answer.status_code == 403
    assert "execute" in answer.json()["error"]["message"]
    assert reader.runs() == 0


def test_a_reader_opens_no_page(reader: Noted) -> None:
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    assert reader.server.request("GET", "page", headers=upgrade).status_code == 403


def test_a_reader_calls_no_tools_over_mcp(reader: Noted) -> None:
    def send(method: str, session: str | None = None, **params: Any) -> requests.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Accept": "application/json, text/event-stream"}
        headers |= {"Mcp-Session-Id": session} if session else {}
        return reader.server.request("POST", "mcp", json=message, headers=headers)

    info = {"name": "reader", "version": "1"}
    begun = send("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
    session = begun.headers["Mcp-Session-Id"]
    assert send("tools/list", session).json()["result"]["tools"]
    read = send("resources/read", session, uri="jupyter://notebooks/failed.ipynb")
    assert "total = 1" in read.text
    code = {"code": "1 + 1"}
    for name, arguments in (("executeCode", code), ("getNotebookCells", {})):
        refused = send("tools/call", session, name=name, arguments=arguments)
        assert refused.status_code == 403
    assert reader.runs() == 0
