"""Runs actions as the form's button does."""

from __future__ import annotations

from typing import Any

from tests.support.jupyter import RunningServer


def run(
    server: RunningServer, action: str, active: str | None = "a.ipynb", **parameters: Any
) -> dict[str, Any]:
    """The reply of running ``service/action``, which must succeed."""
    reply: dict[str, Any] = server.post(*_asked(action, active, parameters))
    return reply


def refused(
    server: RunningServer, action: str, active: str | None = "a.ipynb", **parameters: Any
) -> str:
    """Why ``service/action`` failed."""
    path, body = _asked(action, active, parameters)
    response = server.request("POST", path, json=body)
    assert not response.ok, response.text
    error = response.json()["error"]
    assert error["code"] == "action_failed", error
    return str(error["message"])


def _asked(action: str, active: str | None, parameters: dict[str, Any]) -> tuple[str, Any]:
    service, _, name = action.partition("/")
    body: dict[str, Any] = {"parameters": parameters}
    if active is not None:
        body["activeNotebook"] = active
    return f"services/{service}/actions/{name}/run", body
