"""The token of a kernel, with the session managers that there may be."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jupyter_server.services.sessions.sessionmanager import SessionManager

from jupyter_datalayer_agent.server.kernel_access import tokens as kernel_token
from jupyter_datalayer_agent.server.kernel_access.tokens import TOKENS_KEY, KernelTokens
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer

SHOW = (
    "import json, os\nnames = ('DATALAYER_AGENT_URL', 'DATALAYER_AGENT_TOKEN', 'OF_ITS_OWN')\n"
    "print(json.dumps({name: os.environ.get(name) for name in names}))"
)
REFUSED = "Kernels do not find the agent by themselves"


def environment_of_a_kernel(server: RunningServer) -> dict[str, str | None]:
    write_cars(server.root)
    result = server.post("tools/executeCode", {"path": "cars.ipynb", "arguments": {"code": SHOW}})
    assert result["ok"], result
    found: dict[str, str | None] = json.loads(result["output"]["outputs"])
    return found


@pytest.mark.parametrize("kind", [None, "OwnEnvironment"])
def test_a_kernel_has_a_token_that_opens_the_routes_for_kernels(
    tmp_path: Path, kind: str | None
) -> None:
    with RunningServer(tmp_path, arguments=manager(kind)) as server:
        found = environment_of_a_kernel(server)
        assert found["OF_ITS_OWN"] == ("yes" if kind else None)
        assert found["DATALAYER_AGENT_URL"] == f"{server.url}datalayer-agent/"
        as_kernel = {"Authorization": f"token {found['DATALAYER_AGENT_TOKEN']}"}
        assert server.request("GET", "sessions", headers=as_kernel).status_code == 200
        assert server.request("GET", "config", headers=as_kernel).status_code == 403
        assert REFUSED not in server.log.read_text()


def test_with_an_unknown_session_manager_kernels_start_without_a_token_and_the_log_says_why(
    tmp_path: Path,
) -> None:
    with RunningServer(tmp_path, arguments=manager("OtherEnvironment")) as server:
        found = environment_of_a_kernel(server)
        assert found["DATALAYER_AGENT_TOKEN"] is None
        log = server.log.read_text()
        assert log.count(REFUSED) == 1
        assert "OtherEnvironment.get_kernel_env does not take a path and a name" in log
        assert "DATALAYER_AGENT_TOKEN are set" in log


def manager(kind: str | None) -> list[str]:
    given = f"--ServerApp.session_manager_class=tests.support.session_managers.{kind}"
    return [] if kind is None else [given]


class Sessions(SessionManager):
    """Jupyter's, of which no kernel is started."""

    def __init__(self, fails: bool = False) -> None:
        self.env = {"PATH": "/bin"}
        self.started: dict[str, str] = {}
        self.fails = fails

    def get_kernel_env(self, path: str | None, name: Any = None) -> dict[str, str]:
        return self.env

    async def start_kernel_for_session(self, *args: Any, **options: Any) -> str:
        self.started = self.get_kernel_env("a.ipynb")
        if self.fails:
            raise OSError("no kernel")
        return "kernel"


def fake_server(sessions: Any) -> Any:
    return SimpleNamespace(
        session_manager=sessions,
        web_app=SimpleNamespace(settings={}),
        kernel_manager=SimpleNamespace(list_kernel_ids=list),
        connection_url="http://localhost:8888/",
        ip="127.0.0.1",
        sock="",
        port=8888,
        certfile="",
        client_ca="",
    )


def test_what_is_known_is_wrapped() -> None:
    server = fake_server(Sessions())
    KernelTokens(server, lambda: False).install()
    kernel = asyncio.run(server.session_manager.start_kernel_for_session("s", "a.ipynb"))
    env = server.session_manager.started
    assert env["PATH"] == "/bin"
    token = env["DATALAYER_AGENT_TOKEN"]
    assert server.web_app.settings[TOKENS_KEY].find(token).kernel_id == kernel
    # Of a kernel that runs, Jupyter updates the environment when its notebook is renamed.
    assert "DATALAYER_AGENT_TOKEN" not in server.session_manager.get_kernel_env("b.ipynb")


def test_a_kernel_that_did_not_start_leaves_no_token() -> None:
    server = fake_server(Sessions(fails=True))
    KernelTokens(server, lambda: False).install()
    with pytest.raises(OSError, match="no kernel"):
        asyncio.run(server.session_manager.start_kernel_for_session("s", "a.ipynb"))
    token = server.session_manager.started["DATALAYER_AGENT_TOKEN"]
    assert server.web_app.settings[TOKENS_KEY].find(token) is None


class NoSessions:
    """A session manager that has nothing of Jupyter's."""


class BlockingStart(Sessions):
    def start_kernel_for_session(self, *args: Any, **options: Any) -> str:  # type: ignore[override]
        return "kernel"


@pytest.mark.parametrize(
    ("sessions", "version", "expected"),
    [
        (NoSessions(), (2, 21, 1), "NoSessions is not Jupyter Server's session manager"),
        (BlockingStart(), (2, 21, 1), "start_kernel_for_session is not a coroutine function"),
        (Sessions(), (3, 0, 0), "jupyter_server 3.0.0 is not supported"),
    ],
)
def test_what_is_not_known_is_not_touched(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    sessions: Any,
    version: tuple[int, ...],
    expected: str,
) -> None:
    monkeypatch.setattr(kernel_token, "version_info", version)
    monkeypatch.setattr(kernel_token, "__version__", ".".join(map(str, version)))
    server = fake_server(sessions)
    before = dict(vars(sessions))
    with caplog.at_level(logging.WARNING):
        KernelTokens(server, lambda: False).install()
    assert vars(sessions) == before
    assert server.web_app.settings == {}
    assert [expected in each.getMessage() for each in caplog.records] == [True]


def test_a_token_that_cannot_be_made_keeps_no_kernel_from_starting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = fake_server(Sessions())
    KernelTokens(server, lambda: False).install()
    server.connection_url = None
    with caplog.at_level(logging.ERROR):
        asyncio.run(server.session_manager.start_kernel_for_session("s", "a.ipynb"))
    assert server.session_manager.started == {"PATH": "/bin"}
    assert REFUSED in caplog.text
    assert "DATALAYER_AGENT_TOKEN" not in os.environ
