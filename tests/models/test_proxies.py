"""The way to a model server: proxies of the environment, and addresses as they are copied."""

from __future__ import annotations

import urllib.request

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
        ("http://api.example/v1", {"HTTP_PROXY": " p:1\n"}, "http://p:1"),
        ("http://api.example/v1", {"ALL_PROXY": "socks5://p:1"}, "socks5://p:1"),
        ("http://localhost:1/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://LOCALHOST.:1/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://localhost.localdomain/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://models.localhost/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://127.8.9.10/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://[::ffff:127.0.0.1]/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://127.0.0.1.example/v1", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
    ],
)
def test_the_proxy_is_the_environments(
    address: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(address, environ) == proxy


@pytest.mark.parametrize(
    ("address", "exceptions", "is_excepted"),
    [
        ("http://api.example/v1", "example", True),
        ("http://api.example/v1", ".example", True),
        ("http://api.example/v1", "*.example", True),
        ("http://example/v1", ".example", True),
        ("http://api.example/v1", "other, API.Example", True),
        ("http://badexample/v1", "example", False),
        ("http://api.example:8000/v1", "api.example:8000", True),
        ("http://api.example:8000/v1", "api.example:8001", False),
        ("http://10.1.2.3/v1", "10.0.0.0/8", True),
        ("http://11.1.2.3/v1", "10.0.0.0/8", False),
        ("http://10.1.2.3:8000/v1", "10.1.2.3:8000", True),
        ("http://10.1.2.3/v1", "10.1.2.3 192.168.0.0/16", True),
        ("http://[fd00::12]:8000/v1", "fd00::/8", True),
        ("http://[fd00::12]:8000/v1", "[fd00::12]:8000", True),
        ("http://[fd00::12]:8000/v1", "fe80::/10", False),
        ("http://api.example/v1", " , ,", False),
        ("http://api.example/v1", "*", True),
    ],
)
def test_what_no_proxy_excepts(address: str, exceptions: str, is_excepted: bool) -> None:
    proxy = proxy_for(address, {"HTTP_PROXY": "http://p:1", "NO_PROXY": exceptions})
    assert (proxy is None) == is_excepted


def test_where_the_environment_names_no_proxy_the_systems_settings_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = {"getproxies_registry": lambda: {"https": "http://of-the-system:1"}}
    read["proxy_bypass_registry"] = lambda host: host == "inside.example"  # type: ignore[assignment,misc]
    for name, function in read.items():
        monkeypatch.setattr(urllib.request, name, function, raising=False)
    assert proxy_for("https://api.example/v1", {}) == "http://of-the-system:1"
    assert proxy_for("https://inside.example/v1", {}) is None
    assert proxy_for("https://api.example/v1", {"HTTPS_PROXY": "http://p:1"}) == "http://p:1"
