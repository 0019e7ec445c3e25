"""When the model library is loaded: while the panel is shown and the server has nothing to do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.page import FakePage


@pytest.fixture
def new_server(tmp_path: Path, shared_model: ScriptedModelServer) -> Iterator[RunningServer]:
    with RunningServer(tmp_path, api_base=shared_model.base_url, own_interpreter=True) as server:
        yield server


def is_loaded(server: RunningServer) -> bool:
    """Whether the process has mapped the tokenizer, which nothing but litellm imports."""
    assert server.process is not None
    return "tiktoken" in Path(f"/proc/{server.process.pid}/maps").read_text()


def loaded_within(server: RunningServer, seconds: float) -> float | None:
    """After how many seconds it was loaded, from now on."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if is_loaded(server):
            return time.monotonic() - began
        time.sleep(0.02)
    return None


def test_the_library_is_loaded_while_the_panel_is_shown_to_a_server_that_is_not_busy(
    new_server: RunningServer, model: ScriptedModelServer
) -> None:
    with FakePage(new_server) as page:
        new_server.get("models")
        # A page that is open does not load it: its panel may be closed.
        assert loaded_within(new_server, 2) is None
        page.send({"type": "panel_shown"})
        end = time.monotonic() + 3
        while time.monotonic() < end:
            new_server.get("tools", mode="agent")
        assert not is_loaded(new_server)
        took = loaded_within(new_server, 60)
        assert took is not None
        assert took > 1, "the server was to be idle for a second"
        # The first message finds it.
        model.script(Say("Hello."))
        assert new_server.post("chat", {"message": "hi"})["reply"] == "Hello."


def test_the_focus_does_not_wait_for_a_quiet_moment(new_server: RunningServer) -> None:
    with FakePage(new_server) as page:
        page.send({"type": "panel_shown"})
        page.send({"type": "input_focused"})
        end = time.monotonic() + 60
        while time.monotonic() < end and not is_loaded(new_server):
            new_server.get("tools", mode="agent")
        assert is_loaded(new_server)


def test_without_a_model_nothing_is_loaded(tmp_path: Path) -> None:
    with (
        RunningServer(tmp_path, own_interpreter=True) as server,
        FakePage(server) as page,
    ):
        page.send({"type": "panel_shown"})
        assert loaded_within(server, 3) is None
