"""``/jupyterlab``: what the page is asked to do."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from jupyter_datalayer_agent.protocol.page import PageCommand
from tests.services.builtin.running import refused
from tests.support.jupyter import REPOSITORY, RunningServer
from tests.support.page import FakePage

DONE = [
    ("theme", {"theme": "JupyterLab Dark"}, "apputils:change-theme", {"theme": "JupyterLab Dark"}),
    ("layout", {"what": "left"}, "application:toggle-left-area", {}),
    ("layout", {"what": "single"}, "application:set-mode", {"mode": "single-document"}),
    ("open", {"path": "README.md"}, "docmanager:open", {"path": "README.md"}),
    ("find", {"text": "mpg"}, "documentsearch:start", {"searchText": "mpg"}),
    ("restart-run-all", {}, "notebook:restart-run-all", {}),
    ("settings", {"query": "theme"}, "settingeditor:open", {"query": "theme"}),
    (
        "zoom",
        {"what": "code", "direction": "smaller"},
        "apputils:decr-font-size",
        {"key": "code-font-size"},
    ),
]


def run(server: RunningServer, action: str, parameters: dict[str, Any], client: str) -> Any:
    body = {"parameters": parameters, "clientId": client}
    return server.request("POST", f"services/jupyterlab/actions/{action}/run", json=body)


@pytest.mark.parametrize(("action", "parameters", "command", "args"), DONE)
def test_the_page_is_asked_for_the_command(
    server: RunningServer,
    action: str,
    parameters: dict[str, Any],
    command: str,
    args: dict[str, Any],
) -> None:
    (server.root / "README.md").write_text("# Cars")
    asked = []

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        asked.append((request["method"], request["params"]))
        return {"ok": True, "result": None}

    with FakePage(server, f"page-{action}", answer) as page:
        reply = run(server, action, parameters, page.client_id)
    assert reply.ok, reply.text
    assert asked == [("page.executeCommand", {"id": command, "args": args})]


def test_what_the_page_refuses_is_the_error(server: RunningServer) -> None:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        return {"ok": False, "error": {"code": "invalid", "message": "Not now."}}

    with FakePage(server, "page-no", answer) as page:
        reply = run(server, "settings", {}, page.client_id)
    assert reply.status_code == 422
    assert reply.json()["error"]["message"] == "Not now."


def test_without_a_page_it_says_what_to_do(server: RunningServer) -> None:
    why = refused(server, "jupyterlab/settings")
    assert why.startswith("No page of JupyterLab is connected that could do it: open JupyterLab")


def test_the_page_allows_what_the_server_may_ask_for() -> None:
    text = (REPOSITORY / "labextension" / "src" / "bridge" / "commands.ts").read_text()
    allowed = re.findall(r"'([a-z]+:[a-z-]+)': true", text)
    assert sorted(allowed) == sorted(get_args(PageCommand))
