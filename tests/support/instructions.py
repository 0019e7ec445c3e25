"""``AGENTS.md`` of a server's root, as its user allows it."""

from __future__ import annotations

from typing import Any

from .jupyter import RunningServer
from .page import request_in_page


def allow_instructions(server: RunningServer, text: str) -> None:
    """Write the file and allow it as it is."""
    (server.root / "AGENTS.md").write_text(text)
    decide_on_instructions(server, True)


def decide_on_instructions(server: RunningServer, allowed: bool) -> Any:
    """Decide as the page does, on the file as the server shows it."""
    shown = server.get("instructions")["file"]
    body = {"contentHash": shown["contentHash"], "allowed": allowed}
    response = request_in_page(server, "PUT", "instructions", json=body)
    assert response.ok, response.text
    return response.json()
