"""A server in the test's own process, so that what it emits can be listened to."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cars import write_cars
from tests.support.model_server import ScriptedModelServer

KEY = "sk-secret-key-0123456789abcdef"
Chat = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        monkeypatch.setenv("DATALAYER_AGENT_API_BASE", model.base_url)
        monkeypatch.setenv("DATALAYER_AGENT_MODEL", "openai/scripted")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield model
        assert model.errors == []


@pytest.fixture
def jp_server_config(model: ScriptedModelServer) -> dict[str, Any]:
    return {"ServerApp": {"jpserver_extensions": {"jupyter_datalayer_agent": True}}}


@pytest.fixture
def chat(jp_fetch: Any, jp_root_dir: Path) -> Chat:
    """One message, about a notebook that is there; the reply."""
    write_cars(jp_root_dir)

    async def send(message: str, **more: Any) -> dict[str, Any]:
        body = {
            "message": message,
            "mode": "agent",
            "activeNotebook": "cars.ipynb",
            "attachments": [{"kind": "notebook", "path": "cars.ipynb"}],
            **more,
        }
        response = await jp_fetch(
            "datalayer-agent", "chat", method="POST", body=json.dumps(body), request_timeout=100
        )
        reply: dict[str, Any] = json.loads(response.body)
        return reply

    return send
