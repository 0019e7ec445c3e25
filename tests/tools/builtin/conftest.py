"""The file and block tools of a server, in a folder of their test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.lexical.documents import Documents
from tests.support.model_server import ScriptedModelServer


class Files:
    """The file tools of a server, in a folder of this test."""

    def __init__(self, server: RunningServer, name: str) -> None:
        self.server = server
        self.name = name
        self.folder = server.root / name
        self.folder.mkdir()

    def call(self, tool: str, path: str | None = None, /, **arguments: Any) -> Any:
        if path is not None:
            arguments["path"] = f"{self.name}/{path}" if path else self.name
        response = self.server.request("POST", f"tools/{tool}", json={"arguments": arguments})
        if response.status_code == 400:  # a path that leads out of the root
            return {"ok": False, "error": {**response.json()["error"], "code": "not_allowed"}}
        return response.json()

    def read(self, path: str, **arguments: Any) -> Any:
        result = self.call("readFile", path, **arguments)
        assert result["ok"], result
        return result["output"]

    def refused(self, tool: str, path: str, **arguments: Any) -> Any:
        result = self.call(tool, path, **arguments)
        assert not result["ok"], result
        return result["error"]

    def edit(self, path: str, *edits: tuple[str, str], **more: Any) -> Any:
        pairs = [{"oldString": old, "newString": new, **more} for old, new in edits]
        return self.call("editFile", path, edits=pairs)

    def listed(self, path: str = "", **arguments: Any) -> list[str]:
        result = self.call("listFiles", path, **arguments)
        assert result["ok"], result
        return [each["name"] for each in result["output"]["entries"]]

    def write(self, path: str, data: bytes | str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file


@pytest.fixture
def files(server: RunningServer, tmp_path: Path) -> Files:
    return Files(server, tmp_path.name)


@pytest.fixture
def documents(server: RunningServer, model: ScriptedModelServer, tmp_path: Path) -> Documents:
    return Documents(server, model, tmp_path.name)
