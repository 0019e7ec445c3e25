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


RUNS = {
    "run-all": "notebook:run-all-cells",
    "run-selected": "notebook:run-cell",
    "restart-run-all": "notebook:restart-run-all",
    "interrupt": "notebook:interrupt-kernel",
}


@pytest.mark.parametrize("action", RUNS)
def test_the_notebook_of_the_proposal_is_run_whatever_tab_is_active_by_then(
    server: RunningServer, action: str
) -> None:
    asked = []

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request["params"])
        return {"ok": True, "result": None}

    with FakePage(server, f"page-{action}", answer) as page:
        body = {"parameters": {}, "clientId": page.client_id, "activeNotebook": "cars.ipynb"}
        reply = server.request("POST", f"services/jupyterlab/actions/{action}/run", json=body)
    assert reply.ok, reply.text
    assert asked == [
        {"id": "docmanager:open", "args": {"path": "cars.ipynb"}},
        {"id": RUNS[action], "args": {}},
    ]
    assert "`cars.ipynb`" in reply.json()["reply"]


@pytest.mark.parametrize("action", RUNS)
def test_a_run_needs_a_notebook_and_says_what_is_lost(server: RunningServer, action: str) -> None:
    assert refused(server, f"jupyterlab/{action}", active=None).startswith("No notebook is active")
    assert refused(server, f"jupyterlab/{action}", active="cars.ipynb").startswith("No page of")
    body = {"message": "", "activeNotebook": "cars.ipynb"}
    found = server.post(f"services/jupyterlab/actions/{action}/dry-run", body)
    assert found["complete"] is True
    assert found["destructive"] is (action in ("restart-run-all", "interrupt"))
    assert bool(found.get("destroys")) is found["destructive"]


def test_what_the_page_refuses_is_the_error(server: RunningServer) -> None:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        return {"ok": False, "error": {"code": "invalid", "message": "Not now."}}

    with FakePage(server, "page-no", answer) as page:
        reply = run(server, "settings", {}, page.client_id)
    assert reply.status_code == 422
    assert reply.json()["error"]["message"] == "Not now."


def test_without_a_page_it_says_what_to_do(server: RunningServer) -> None:
    why = refused(server, "jupyterlab/settings")
    assert why.startswith("No page of JupyterLab is connected that could do this. Open JupyterLab")


def test_the_page_allows_what_the_server_may_ask_for() -> None:
    text = (REPOSITORY / "labextension" / "src" / "bridge" / "commands.ts").read_text()
    allowed = re.findall(r"'([a-z]+:[a-z-]+)': true", text)
    assert sorted(allowed) == sorted(get_args(PageCommand))
