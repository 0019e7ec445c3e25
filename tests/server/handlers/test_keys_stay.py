"""A key that was tried, saved and used is in the keyring or its file, and in nothing else."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer, Status
from tests.support.page import request_in_page

SAVED = "sk-saved-5f2d8c1e9b7a4630"
REFUSED = "sk-refused-a1b2c3d4e5f60718"
PLAIN = "Zq7-plain.key/with+no=prefix"
"""Like no provider's: it is found only where it is known."""
IN_A_FILE = {"storeIn": "file", "consent": True}
OPENAI = {"provider": "openai", "model": "openai/gpt-6.1-sol"}


def echo(key: str) -> Status:
    """A refusal that repeats the key, in its message and beside it."""
    message = f"Incorrect API key provided: {key}. You sent 'Authorization: Bearer {key}'."
    return Status(401, body={"error": {"message": message, "code": key}, "key": key})


def files_with(folder: Path, key: str) -> list[str]:
    """The files under a folder that hold the key."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and key.encode() in path.read_bytes()
    )


@pytest.mark.parametrize("place", ["file", "keyring"])
def test_a_key_is_found_where_it_is_kept_and_nowhere_else(
    tmp_path: Path, model: ScriptedModelServer, place: str
) -> None:
    environment = {
        "OPENAI_BASE_URL": model.base_url,
        "DATALAYER_AGENT_LOCAL_MODEL_PORTS": "[]",
        "DATALAYER_AGENT_LOG_CONTENT": "true",
    }
    if place == "keyring":
        pytest.importorskip("keyring")
        environment |= {
            "PYTHON_KEYRING_BACKEND": "tests.support.keyrings.FileKeyring",
            "TEST_KEYRING": str(tmp_path / "kept-in-the-keyring"),
        }
    arguments = ["--debug", "--DatalayerAgentApp.metrics=True"]
    replies: list[str] = []
    with RunningServer(tmp_path, environment=environment, arguments=arguments) as server:

        def ask(method: str, path: str, body: object = None) -> str:
            answer = request_in_page(server, method, path, json=body)
            replies.append(f"{answer.status_code} {answer.headers} {answer.text}")
            return answer.text

        stored = IN_A_FILE if place == "file" else {"storeIn": "keyring"}
        # Tried: refused with an echo, broken off, answered.
        for key in (REFUSED, PLAIN):
            model.script(echo(key))
            ask("POST", "connections/test", {**OPENAI, "key": key})
            ask("POST", "connections/test", {"address": f"{model.base_url}x", "key": key})
            ask("POST", "connections/test", {"provider": key, "key": key})
            ask("POST", "connections", {**OPENAI, "key": key, "storeIn": "file"})
            ask("POST", "connections", {**OPENAI, "key": [key]})
            ask("POST", "connections", {**OPENAI, "kee": key})
            ask("PATCH", "config", {"values": {"connect_models": False}})
        # Saved and used, in a turn that a tool call and a refusal are part of.
        ask("POST", "connections", {**OPENAI, "key": SAVED, **stored})
        session = json.loads(ask("POST", "sessions", {}))["id"]
        model.script(Call("listKernels"), Say("Done."))
        ask("POST", "chat", {"message": "Hello", "mode": "agent", "sessionId": session})
        assert model.requests[-1].has_key(SAVED)
        model.script(echo(SAVED))
        refused = ask("POST", "chat", {"message": "Again", "sessionId": session})
        assert "refused the key" in refused
        # A key like no provider's, in place of the first.
        ask("POST", "connections", {**OPENAI, "key": PLAIN, **stored})
        model.script(echo(PLAIN))
        assert "refused the key" in ask("POST", "chat", {"message": "B", "sessionId": session})
        for path in (
            "models", "connections", "config", "openapi.json", "sessions", "tools", "usage",
            f"sessions/{session}", f"sessions/{session}/turns?include=events", "search?q=key",
            *(f"sessions/{session}/export?format={each}" for each in ("md", "ipynb", "json")),
            "/metrics", "/lab/api/settings", "/lab/api/workspaces",
        ):  # fmt: skip
            ask("GET", path)
        events = server.stream(f"sessions/{session}/events")
        seen = []
        for event in events:
            seen.append(json.dumps(event))
            if len([each for each in seen if '"turn_aborted"' in each]) == 2:
                break
        replies += seen
        kept = "home/data/datalayer-agent/keys/openai"
        where = [kept] if place == "file" else ["kept-in-the-keyring"]
        assert files_with(tmp_path, PLAIN) == where
        assert files_with(tmp_path, SAVED) == files_with(tmp_path, REFUSED) == []
        ask("DELETE", "connections/openai")
    for key in (SAVED, REFUSED, PLAIN):
        assert not [each for each in replies if key in each]
        assert files_with(tmp_path, key) == []
    # The search found what there was to find.
    log = (tmp_path / "server.log").read_text()
    assert "DEBUG" in log or "[D " in log
    database = tmp_path / "home/data/datalayer-agent/agent.db"
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT count(*) FROM events").fetchone()[0]
    connection.close()
    assert rows > 10
