"""Lexical documents in a folder of their test, and the tools and turns that work on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer


class Documents:
    """The Lexical documents in a folder of this test."""

    def __init__(self, server: RunningServer, model: ScriptedModelServer, name: str) -> None:
        self.server, self.model, self.name = server, model, name
        self.folder = server.root / name
        self.folder.mkdir()

    def __call__(self, name: str) -> str:
        return f"{self.name}/{name}"

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.write_text(text)
        return file

    def call(self, tool: str, name: str | None = None, /, **arguments: Any) -> Any:
        if name is not None:
            arguments["path"] = self(name)
        return self.server.request("POST", f"tools/{tool}", json={"arguments": arguments}).json()

    def output(self, tool: str, name: str | None = None, /, **arguments: Any) -> Any:
        result = self.call(tool, name, **arguments)
        assert result["ok"], result
        return result["output"]

    def refused(self, tool: str, name: str, /, **arguments: Any) -> Any:
        before = (self.folder / name).read_bytes()
        result = self.call(tool, name, **arguments)
        assert not result["ok"], result
        assert (self.folder / name).read_bytes() == before
        return result["error"]

    def nodes(self, name: str) -> list[dict[str, Any]]:
        return json.loads((self.folder / name).read_text())["root"]["children"]

    def turn(self, *calls: Any, **more: Any) -> Any:
        """The reply to a message in Agent mode, of these calls."""
        self.model.script(*calls, Say("Done."))
        body = {"message": "Do it", "mode": "agent", "approval": "never"} | more
        return self.server.post("chat", body)

    def at_hand(self, name: str) -> dict[str, Any]:
        """A message's fields by which the document is attached and active."""
        path = self(name)
        return {"attachments": [{"kind": "file", "path": path}], "activeNotebook": path}
