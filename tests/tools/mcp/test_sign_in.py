"""Signing in to an MCP server by OAuth, on a real Jupyter server: discovery, registration, PKCE."""

from __future__ import annotations

import gc
import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from mcp.shared.auth import OAuthClientInformationFull

from jupyter_datalayer_agent.tools.mcp.sign_in import registered_by_hand
from tests.support.jupyter import RunningServer
from tests.support.mcp.oauth_server import SignInServer, sign_in_server
from tests.support.page import request_in_page

# The SDK's server, which runs in this process, leaves streams of its own open in version 1.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
MARK = "-8e1f0c5d7b2a4936"
"""Of all codes and tokens."""


@pytest.fixture(scope="module")
def there() -> Iterator[SignInServer]:
    with sign_in_server() as served:
        yield served
    gc.collect()


def info(server: RunningServer) -> dict[str, Any]:
    [found] = server.get("mcp-servers")["servers"]
    return dict(found)


def until(server: RunningServer, **expected: Any) -> dict[str, Any]:
    """The server as it is listed, once it has these fields."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = info(server)
        if expected.items() <= found.items():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{expected} did not come about: {info(server)}")


def origin(server: RunningServer) -> str:
    parts = urlsplit(server.url)
    return f"{parts.scheme}://{parts.netloc}"


def sign_in(server: RunningServer, **more: Any) -> requests.Response:
    body = {"origin": origin(server), "keepInFile": True, **more}
    return server.request("POST", "mcp-servers/there/sign-in", json=body)


def browser(server: RunningServer, address: str) -> requests.Response:
    """A browser that is logged in to Jupyter, at the address and where it leads."""
    session = requests.Session()
    away = session.get(address, allow_redirects=False, timeout=30)
    assert away.status_code == 302, away.text
    back = away.headers["location"]
    assert back.startswith(f"{server.url}datalayer-agent/mcp-sign-in?")
    return server.request("GET", back.removeprefix(f"{server.url}datalayer-agent/"))


def kept(server: RunningServer) -> list[Path]:
    """The files that hold tokens, of all that the server wrote."""
    return [
        path
        for path in server.folder.rglob("*")
        if path.is_file() and MARK.encode() in path.read_bytes()
    ]


@pytest.fixture
def wanted(server: RunningServer, there: SignInServer) -> Iterator[RunningServer]:
    """The shared server, with the server that wants a sign-in added."""
    saved = request_in_page(server, "PUT", "mcp-servers/there", json={"url": there.url})
    [listed] = saved.json()["servers"]
    assert (listed["state"], listed["signIn"]) == ("failed", "needed")
    assert listed["problem"] == "Sign-in required (401)."
    yield server
    server.request("DELETE", "mcp-servers/there")
    assert kept(server) == [], "a server that is removed leaves no tokens"


def test_only_what_the_browser_brings_back_for_this_sign_in_counts(
    wanted: RunningServer, there: SignInServer
) -> None:
    assert there.clients == {}, "nothing is registered before the user wants it"
    # Without a keyring, a file is used only where the user agreed.
    asked = sign_in(wanted, keepInFile=False).json()
    assert "address" not in asked
    assert asked["file"].endswith("keys")
    assert "keyring" in asked["keyringProblem"]
    for wrong in ("http://evil.example", "https://127.0.0.1:1", "javascript:alert(1)"):
        refused = sign_in(wanted, origin=wrong)
        assert (refused.status_code, "own address" in refused.text) == (400, True)
    address = sign_in(wanted).json()["address"]
    query = parse_qs(urlsplit(address).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["resource"] == [there.url]
    assert info(wanted)["signIn"] == "waiting"
    forged = wanted.request("GET", "mcp-sign-in?state=forged&code=code")
    assert (forged.status_code, "no longer active" in forged.text) == (400, True)
    unknown = requests.get(f"{wanted.url}datalayer-agent/mcp-sign-in?state=x&code=y", timeout=30)
    assert "/login?next=" in unknown.url, "a browser that Jupyter does not know has to log in"
    assert info(wanted)["signIn"] == "waiting"
    there.denies = True
    denied = browser(wanted, address)
    there.denies = False
    assert (denied.status_code, "Access was denied" in denied.text) == (400, True)
    found = until(wanted, signIn="needed")
    assert found["signInProblem"] == "Access was denied on the sign-in page."


def test_tokens_are_kept_refreshed_and_forgotten(
    wanted: RunningServer, there: SignInServer
) -> None:
    there.seconds = 1
    done = browser(wanted, sign_in(wanted).json()["address"])
    assert (done.status_code, "signed in to there" in done.text) == (200, True)
    again = wanted.request("GET", f"mcp-sign-in?{urlsplit(done.url).query}")
    assert again.status_code == 400, "an answer is taken once"
    running = until(wanted, signIn="done", state="running")
    assert [each["name"] for each in running["tools"]] == ["secret"]
    assert "signInProblem" not in running
    [file] = kept(wanted)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.parent.name == "keys"

    # An access token that has expired is exchanged, also by a connection that begins anew.
    time.sleep(1.1)
    assert wanted.post("tools/there__secret", {})["ok"]
    assert there.refreshed >= 1
    wanted.request("POST", "mcp-servers/there/stop")
    there.seconds = 3600
    time.sleep(1.1)
    before = there.refreshed
    assert wanted.post("tools/there__secret", {})["ok"]
    assert there.refreshed == before + 1
    assert wanted.post("tools/there__secret", {})["ok"]
    assert there.refreshed == before + 1

    # So is one that the server refuses before its time.
    there.tokens.clear()
    assert wanted.post("tools/there__secret", {})["ok"]
    assert there.refreshed == before + 2

    # What was withdrawn is asked for again.
    there.tokens.clear()
    there.refreshes.clear()
    refused = wanted.post("tools/there__secret", {})
    assert (refused["ok"], "Sign-in required" in json.dumps(refused)) == (False, True)
    assert info(wanted)["signIn"] == "needed"
    clients = len(there.clients)
    browser(wanted, sign_in(wanted).json()["address"])
    until(wanted, signIn="done", state="running")
    assert len(there.clients) == clients, "it is registered once for one address"
    for shown in ("mcp-servers", "mcp-servers/there/log", "config", "connections"):
        assert MARK not in wanted.request("GET", shown).text
    assert MARK not in wanted.log.read_text()

    # Another address under this name does not get the tokens.
    config = Path(wanted.environment["JUPYTER_CONFIG_DIR"], "mcp.json")
    here = config.read_text()
    config.write_text(here.replace("/mcp", "/other"))
    assert "signIn" not in info(wanted)
    config.write_text(here)
    [out] = wanted.request("DELETE", "mcp-servers/there/sign-in").json()["servers"]
    assert (out["state"], "signIn" in out) == ("stopped", False)
    assert kept(wanted) == []
    assert not wanted.post("tools/there__secret", {})["ok"]
    browser(wanted, sign_in(wanted).json()["address"])
    assert len(kept(wanted)) == 1


@pytest.mark.parametrize("secret", [None, f"client-secret{MARK}"])
def test_a_client_that_was_registered_by_hand(server: RunningServer, secret: str | None) -> None:
    back = f"{server.url}datalayer-agent/mcp-sign-in"
    with sign_in_server(registers=False) as there:
        request_in_page(server, "PUT", "mcp-servers/there", json={"url": there.url})
        refused = sign_in(server)
        assert (refused.status_code, "enter its client id" in refused.text) == (400, True)
        for wrong in ("two words", "x" * 501):
            entry = {"url": there.url, "clientId": wrong}
            assert (
                request_in_page(server, "PUT", "mcp-servers/there", json=entry).status_code == 400
            )
        client = registered_by_hand("by-hand", secret, back)
        there.clients["by-hand"] = OAuthClientInformationFull.model_validate(client)
        entry = {"url": there.url, "clientId": "by-hand"}
        [saved] = request_in_page(server, "PUT", "mcp-servers/there", json=entry).json()["servers"]
        assert (saved["clientId"], saved["signIn"]) == ("by-hand", "needed")
        config = Path(server.environment["JUPYTER_CONFIG_DIR"], "mcp.json").read_text()
        assert json.loads(config)["mcpServers"]["there"]["client_id"] == "by-hand"
        if secret is not None:
            wrong = browser(server, sign_in(server, clientSecret="wrong").json()["address"])
            assert wrong.status_code == 400, wrong.text
            assert until(server, signIn="needed")["signInProblem"]
        address = sign_in(server, clientSecret=secret).json()["address"]
        assert parse_qs(urlsplit(address).query)["client_id"] == ["by-hand"]
        assert browser(server, address).status_code == 200
        until(server, signIn="done", state="running")
        assert server.post("tools/there__secret", {})["ok"]
        # The secret is kept with the tokens, serves to refresh them, and is shown nowhere.
        [file] = kept(server)
        assert file.parent.name == "keys"
        there.tokens.clear()
        assert server.post("tools/there__secret", {})["ok"]
        assert there.refreshed == 1
        assert MARK not in server.request("GET", "mcp-servers").text + server.log.read_text()
        # Signing in once more does not ask for it again.
        there.tokens.clear()
        there.refreshes.clear()
        assert not server.post("tools/there__secret", {})["ok"]
        assert browser(server, sign_in(server).json()["address"]).status_code == 200
        until(server, signIn="done", state="running")
        # Another client id is another program.
        request_in_page(server, "PUT", "mcp-servers/there", json={**entry, "clientId": "other"})
        assert kept(server) == []
        server.request("DELETE", "mcp-servers/there")
    gc.collect()


def test_a_server_without_sign_in_says_so(server: RunningServer) -> None:
    for entry, problem in (
        ({"command": "no-such-program"}, "not a server over HTTP"),
        ({"url": "http://127.0.0.1:9/mcp"}, "failed"),
        ({"url": "http://mcp.example/mcp"}, "https://"),
    ):
        request_in_page(server, "PUT", "mcp-servers/there", json=entry)
        refused = sign_in(server)
        assert (refused.status_code, problem in refused.text) == (400, True), refused.text
    server.request("DELETE", "mcp-servers/there")
