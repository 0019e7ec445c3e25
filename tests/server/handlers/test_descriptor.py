"""``GET descriptor``: what other programs learn of the agent is what this server has."""

from __future__ import annotations

from typing import Any

import requests

from tests.support.jupyter import RunningServer


def test_the_descriptor_names_what_is_there(server: RunningServer) -> None:
    found: dict[str, Any] = server.get("descriptor")
    assert (found["id"], found["displayName"]) == (
        "datalayer-autonomous",
        "Datalayer Data Science Agent",
    )
    assert found["capabilities"] == {
        "multiTurn": True,
        "autonomous": True,
        "fileOperations": True,
        "terminalAccess": False,
        "workspaceAccess": True,
    }
    assert [each["id"] for each in found["modes"]] == ["ask", "edit", "agent"]
    assert all(len(each["systemPrompt"]) > 100 for each in found["modes"])
    services = {each["id"] for each in server.get("services")["services"]}
    assert {each["id"] for each in found["services"]} == services >= {"data", "notebook"}
    tools = {each["name"] for each in server.get("tools")["tools"]}
    assert {each["name"] for each in found["tools"]} == tools


def test_its_endpoints_answer(server: RunningServer) -> None:
    found = server.get("descriptor")
    paths = server.get("openapi.json")["paths"]
    for path in found["endpoints"].values():
        below = path.removeprefix(found["baseUrl"] + "datalayer-agent")
        assert below.replace("{id}", "{session_id}") in paths, path
    assert found["endpoints"]["events"].endswith("datalayer-agent/sessions/{id}/events")


def test_it_needs_the_token(server: RunningServer) -> None:
    for route, status in (("descriptor", 403), ("health", 200)):
        answer = requests.get(f"{server.url}datalayer-agent/{route}", timeout=60)
        assert answer.status_code == status, route
