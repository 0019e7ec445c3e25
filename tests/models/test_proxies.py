"""The way to a model server: proxies of the environment, and addresses as they are copied."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.models.connections.address import proxy_for
from tests.models.calls import ENVIRON, answer, model, request
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.ports import free_port


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_server_on_this_computer_is_reached_without_the_proxy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv(name, dead)
    with ScriptedModelServer(Say("Hello.")) as server:
        by = model(environ={**ENVIRON, name: dead})
        answered = await answer(request(server, "chat"), by)
    assert answered.text == "Hello."


async def test_another_server_is_reached_through_the_proxy_and_an_error_names_it() -> None:
    proxy = f"http://user:secret@127.0.0.1:{free_port()}"
    by = model(environ={**ENVIRON, "HTTP_PROXY": proxy})
    with ScriptedModelServer() as server:
        asked = request(server, "chat", api_base="http://models.example/v1")
        answered = await answer(asked, by)
    assert answered.failure.code == "connection"
    assert f"through the proxy {proxy.rpartition('@')[2]}" in answered.failure.message
    assert "secret" not in answered.failure.message


@pytest.mark.parametrize("around", ["\n", " \t", "\r\n"])
async def test_an_address_that_was_copied_with_blanks_is_the_address(around: str) -> None:
    with ScriptedModelServer(Say("Hello.")) as server:
        asked = request(server, "chat", api_base=f"{around}{server.base_url}{around}")
        assert (await answer(asked)).text == "Hello."


@pytest.mark.parametrize(
    ("address", "environ", "proxy"),
    [
        ("https://api.example/v1", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api.example/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("https://api.example/v1", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api.example/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example"}, None),
        ("https://api.example/v1", {"https_proxy": "http://p:1", "no_proxy": "*"}, None),
        ("http://127.0.0.1:8000/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://[::1]:8000/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://localhost.example/v1", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("http://api.example/v1", {"HTTP_PROXY": " "}, None),
    ],
)
def test_the_proxy_is_the_environments(
    address: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(address, environ) == proxy
