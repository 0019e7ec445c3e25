"""Requests of every kind of provider take the same way through the network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from jupyter_datalayer_agent.models import ModelRequest, loader
from jupyter_datalayer_agent.models.connections.registry import ConnectedCall
from jupyter_datalayer_agent.models.connections.way import NetworkProblem
from jupyter_datalayer_agent.models.wire import _check_same_server
from tests.models.calls import Answered, answer, model, request
from tests.support.local_servers import LocalServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.ports import free_port

KEY = "sk-of-the-provider-0123456789"
# A provider of each kind of client that litellm has, at an address.
PROVIDERS = {
    "openai/gpt-6.1-sol": "OPENAI_API_KEY",
    "azure/deployment": "AZURE_API_KEY",
    "anthropic/claude-sonnet-5-5": "ANTHROPIC_API_KEY",
    "mistral/mistral-large-latest": "MISTRAL_API_KEY",
    "groq/openai/gpt-oss-120b": "GROQ_API_KEY",
    "gemini/gemini-3.8-flash": "GEMINI_API_KEY",
    "ollama_chat/qwen3:8b": "OLLAMA_API_KEY",
}
ENVIRON = dict.fromkeys(PROVIDERS.values(), KEY)


def said(path: str) -> str:
    """``Hello.`` as the server at ``path`` streams it."""
    if "/api/chat" in path:
        message = {"message": {"role": "assistant", "content": "Hello."}, "done": True}
        return json.dumps({"model": "m", "created_at": "2026-11-24T00:00:00Z", **message}) + "\n"
    if "streamGenerateContent" in path:
        candidate = {"content": {"parts": [{"text": "Hello."}], "role": "model"}}
        return f"data: {json.dumps({'candidates': [{**candidate, 'finishReason': 'STOP'}]})}\n\n"
    if "/messages" in path:
        usage = {"input_tokens": 1, "output_tokens": 1}
        text = {"type": "text_delta", "text": "Hello."}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": usage}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
            {"type": "content_block_delta", "index": 0, "delta": text},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        ]
        return "".join(f"event: {it['type']}\ndata: {json.dumps(it)}\n\n" for it in events)
    choice = {"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\ndata: [DONE]\n\n"


def hello(path: str, body: Any, key: str | None) -> tuple[int, Any]:
    return 200, said(path)


@contextmanager
def redirecting(status: int, target: str) -> Iterator[LocalServer]:
    with LocalServer(lambda path, *_: (status, f"{target}{path}")) as server:
        yield server


async def ask(
    name: str, origin: str, environ: dict[str, str] | None = None, **call: Any
) -> Answered:
    """One request to the provider, whose address is ``origin``, over chat completions."""
    asked = ModelRequest(
        model=name,
        instructions="Be brief.",
        input=[{"role": "user", "content": "Hello"}],
        api_base=f"{origin}/v1" if name.startswith(("openai", "mistral", "groq")) else origin,
        model_api="chat",
    )
    by = model()
    given = ConnectedCall(asked, {**ENVIRON, **(environ or {})}, **call)
    by.stream = lambda _: by.stream_call(given)  # type: ignore[method-assign]
    return await answer(asked, by)


every_provider = pytest.mark.parametrize("name", PROVIDERS)


@every_provider
async def test_a_server_on_this_computer_is_reached_without_the_proxy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, dead)
    with LocalServer(hello) as server:
        answered = await ask(name, server.origin, {"HTTP_PROXY": dead})
        assert len(server.paths) == 1
    assert answered.error is None
    assert answered.text == "Hello."


async def test_the_responses_api_is_reached_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with ScriptedModelServer(Say("Hello.")) as server:
        assert (await answer(request(server, "responses"))).text == "Hello."


@every_provider
async def test_another_server_is_reached_through_the_proxy(name: str) -> None:
    with LocalServer(hello) as proxy:
        answered = await ask(name, "http://models.example", {"http_proxy": f"{proxy.origin}\t "})
        assert [path.split("/")[2] for path in proxy.paths] == ["models.example"]
    assert answered.text == "Hello."


@every_provider
async def test_a_proxy_that_needs_a_login_is_named(name: str) -> None:
    with LocalServer(lambda *_: (407, "Login first")) as proxy:
        address = proxy.origin.replace("//", "//user:secret-1@")
        answered = await ask(name, "http://models.example", {"ALL_PROXY": address})
        assert len(proxy.paths) == 1
    assert f"The proxy 127.0.0.1:{proxy.port} needs a login" in answered.failure.message
    assert "secret-1" not in answered.failure.message
    assert not answered.failure.retryable


@every_provider
async def test_a_proxy_that_needs_a_login_for_https_is_named(name: str) -> None:
    with LocalServer(lambda *_: (407, "Login first")) as proxy:
        answered = await ask(name, "https://models.example", {"HTTPS_PROXY": proxy.origin})
        assert proxy.paths == ["models.example:443"]
    assert f"The proxy 127.0.0.1:{proxy.port} needs a login" in answered.failure.message


@pytest.mark.parametrize(
    ("proxy", "message"),
    [
        ("socks5://127.0.0.1:1", "The proxy 127.0.0.1:1 speaks SOCKS"),
        ("socks5h://user:secret-1@127.0.0.1:1", "pip install socksio"),
        ("ftp://127.0.0.1:1", "The proxy 127.0.0.1:1 cannot be used"),
    ],
)
async def test_a_proxy_that_cannot_be_used_is_named(proxy: str, message: str) -> None:
    for name in ("openai/m", "anthropic/claude-sonnet-5-5", "ollama_chat/m"):
        answered = await ask(name, "http://models.example", {"ALL_PROXY": proxy})
        assert message in answered.failure.message
        assert "secret-1" not in answered.failure.message
        assert answered.failure.code == "bad_request"


@every_provider
async def test_a_web_page_is_said_to_be_one(name: str) -> None:
    with LocalServer(lambda *_: (200, "<html><body>Sign in</body></html>")) as server:
        answered = await ask(name, server.origin)
        assert len(server.paths) == 1
    assert "answers with a web page" in answered.failure.message
    assert KEY not in answered.failure.message


@every_provider
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_request_is_redirected_to_another_server(name: str, status: int) -> None:
    with LocalServer(hello) as other, redirecting(status, other.origin) as server:
        answered = await ask(name, server.origin)
        assert (len(server.paths), other.paths) == (1, [])
    assert f"redirects to {other.origin}, to which nothing was sent" in answered.failure.message


@every_provider
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_on_the_same_server_is_followed(name: str, status: int) -> None:
    def answered(path: str, body: Any, key: str | None) -> tuple[int, Any]:
        return (200, said(path)) if path.startswith("/moved") else (status, f"/moved{path}")

    with LocalServer(answered) as server:
        assert (await ask(name, server.origin)).text == "Hello."
        assert len(server.paths) == 2
        assert server.bodies[0] == server.bodies[1]
        kept = [{**each, "host": ""} for each in server.headers]
        assert kept[0] == kept[1]


async def test_what_others_ask_through_litellm_goes_as_litellm_sends_it() -> None:
    """Another extension of the same server, whose clients may also be those that our calls got."""
    litellm = await loader.litellm()
    said: dict[str, Any] = {
        "model": "openai/m",
        "api_key": "k",
        "messages": [{"role": "user", "content": "Hello"}],
        "max_retries": 0,
    }
    with LocalServer(whole) as other, redirecting(307, other.origin) as server:
        failed = await ask("openai/m", server.origin, {"OPENAI_API_KEY": "k"})
        assert "nothing was sent" in failed.failure.message
        reply = await litellm.acompletion(**said, api_base=f"{server.origin}/v1")
        assert reply.choices[0].message.content == "Hello."
        assert len(other.headers) == 1


def whole(path: str, body: Any, key: str | None) -> tuple[int, Any]:
    message = {"role": "assistant", "content": "Hello."}
    return 200, {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


async def test_redirects_in_a_circle_end() -> None:
    with LocalServer(lambda path, *_: (308, path)) as server:
        answered = await ask("openai/m", server.origin)
        assert len(server.paths) == 5
    assert "again and again" in answered.failure.message


@pytest.mark.parametrize(
    ("target", "is_same"),
    [
        ("http://host/other", True),
        ("https://host/v1", True),
        ("https://HOST./v1", True),
        ("http://host:8000/v1", False),
        ("https://host:8443/v1", False),
        ("https://host.example/v1", False),
        ("http://user@other/v1", False),
    ],
)
def test_only_https_may_be_insisted_on(target: str, is_same: bool) -> None:
    try:
        _check_same_server(httpx.URL("http://host/v1"), httpx.URL(target))
        assert is_same
    except NetworkProblem:
        assert not is_same
    with pytest.raises(NetworkProblem):
        _check_same_server(httpx.URL("https://host/v1"), httpx.URL("http://host/v1"))


@every_provider
async def test_headers_go_to_the_address_that_they_are_for(name: str) -> None:
    with LocalServer(hello) as server:
        answered = await ask(name, server.origin, headers={"X-Team": "blue", "Api-Key": "sesame"})
        sent = server.headers[0]
    assert answered.text == "Hello."
    assert (sent["x-team"], sent["api-key"]) == ("blue", "sesame")


async def test_an_authorization_of_ones_own_takes_the_place_of_the_keys() -> None:
    with LocalServer(hello) as server:
        await ask("openai/m", server.origin, headers={"Authorization": "Basic b2s6b2s="})
        assert server.headers[0]["authorization"] == "Basic b2s6b2s="


async def test_without_a_key_there_is_no_authorization() -> None:
    asked = ModelRequest(model="openai/m", instructions="", input=[], model_api="chat")
    with LocalServer(hello) as server:
        asked = replace(asked, api_base=server.origin)
        assert (await answer(asked, model(environ={}))).text == "Hello."
        assert "authorization" not in server.headers[0]


async def test_a_header_that_a_server_repeats_is_not_shown() -> None:
    value = "gateway-0123456789"
    refusal = {"error": {"message": f"Unknown team {value}"}}
    with LocalServer(lambda *_: (403, refusal)) as server:
        answered = await ask("openai/m", server.origin, headers={"X-Team": value})
    assert "Unknown team [key]" in answered.failure.message
