"""What is connected, where its file was damaged or written by another version."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jupyter_datalayer_agent.models.connections.connection import ModelConnection
from jupyter_datalayer_agent.models.connections.registry import Connections

LOCAL = {"id": "ollama_chat", "label": "Ollama", "server": "ollama", "api_base": "http://x:1"}
NEWER = {"id": "quux", "label": "Quux", "server": "a_newer_kind", "api_base": "http://y:1"}
ADDED = ModelConnection("h:1", "vLLM at h:1", "vllm", "http://h:1/v1")


def written(folder: Path) -> list[str]:
    found = json.loads((folder / "connections.json").read_text())["connections"]
    return [each["id"] for each in found]


async def test_an_entry_of_a_newer_version_hides_no_other_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "connections.json"
    file.write_text(json.dumps({"connections": [NEWER, LOCAL, "odd"]}))
    connections = Connections(tmp_path, environ={})
    assert list(connections.all()) == ["ollama_chat"]
    await connections.save(ADDED, None, None)
    assert list(connections.all()) == ["ollama_chat", "h:1"]
    assert json.loads(file.read_text())["connections"][2:] == [NEWER, "odd"]
    # One that is connected anew takes the place of what could not be read.
    await connections.save(ModelConnection("quux", "vLLM", "vllm", "http://y:1/v1"), None, None)
    assert list(connections.all()) == ["ollama_chat", "h:1", "quux"]
    assert "a_newer_kind" not in file.read_text()


@pytest.mark.parametrize("text", ['{"connections": [', "[]", "7", '{"connections": 1}'])
async def test_a_damaged_file_is_kept_beside_the_new_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / "connections.json"
    file.write_text(text)
    connections = Connections(tmp_path, environ={})
    assert connections.all() == {}
    await connections.save(ADDED, None, None)
    assert written(tmp_path) == ["h:1"]
    assert (tmp_path / "connections.json.damaged").read_text() == text
    # Once.
    await connections.forget("h:1")
    assert written(tmp_path) == []
    assert (tmp_path / "connections.json.damaged").read_text() == text


async def test_where_the_file_cannot_be_written_no_key_stays_behind(tmp_path: Path) -> None:
    connections = Connections(tmp_path, environ={})
    # What is written first is in the way.
    (tmp_path / f".connections.json.{os.getpid()}").mkdir()
    with pytest.raises(OSError, match="directory"):
        await connections.save(ADDED, {"api_key": "sk-kept-nowhere-0123456789"}, "file")
    assert connections.all() == {}
    assert list((tmp_path / "keys").iterdir()) == []
