"""A file that holds secrets is not sent because it is the active one; attached, it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.page import FakePage


def text_of(path: str, content: str) -> Any:
    """A page that has one text file open."""

    def answer(request: dict[str, Any]) -> dict[str, Any] | None:
        if request["method"] == "document.read":
            return {"ok": True, "result": {"path": path, "content": content}}
        return {"ok": False, "error": {"code": "invalid", "message": "not here"}}

    return answer


@pytest.mark.parametrize(
    ("name", "is_attached", "is_sent"),
    [("tls.pem", False, False), ("tls.pem", True, True), ("tls.txt", False, True)],
)
def test_the_active_file(
    server: RunningServer,
    model: ScriptedModelServer,
    tmp_path: Path,
    name: str,
    is_attached: bool,
    is_sent: bool,
) -> None:
    path = f"{tmp_path.name}-{name}"
    (server.root / path).write_text("hunter2\n")
    model.script(Say("Done."))
    with FakePage(server, "page", text_of(path, "hunter2\n")) as page:
        document = {"path": path, "kind": "file"}
        page.send({"type": "editor_state", "activeDocument": document, "files": [path]})
        # Answered once the page's state was taken.
        page.send({"type": "subscribe", "sessionId": "nobody"})
        page.wait_for("op_rejected")
        attached = [{"kind": "file", "path": path}] if is_attached else []
        body = {"message": "Well?", "mode": "ask", "clientId": "page", "attachments": attached}
        server.post("chat", body)
    text = model.requests[-1].text
    assert ("hunter2" in text) == is_sent
    assert path in text
    assert ("holds secrets: no access unless" in text) != is_sent
