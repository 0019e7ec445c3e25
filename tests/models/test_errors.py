"""What users are shown when a call fails, and that no key is in it."""

from __future__ import annotations

import datetime
import email.utils
from typing import Any

import httpx
import pytest

from jupyter_datalayer_agent.models.errors import model_error
from tests.models.calls import APIS, KEY, answer, model, request
from tests.support.model_server import Hang, Say, ScriptedModelServer, Status

both_apis = pytest.mark.parametrize("api", APIS)


@both_apis
@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "bad_request", False),
        (401, "authentication", False),
        (403, "authentication", False),
        (404, "bad_request", False),
        (429, "rate_limit", True),
        (500, "server", True),
        (503, "server", True),
        (529, "server", True),
    ],
)
async def test_a_status_becomes_its_kind_of_error(
    api: str, status: int, code: str, retryable: bool
) -> None:
    with ScriptedModelServer(Status(status)) as server:
        answered = await answer(request(server, api))
        assert len(server.requests) == 1
    error = answered.failure
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert f"Scripted status {status}." in error.message
    assert "Traceback" not in error.message
    assert "litellm" not in error.message


@both_apis
async def test_peers_18_a_wrong_key_is_called_that_and_not_shown(api: str) -> None:
    said = f"Incorrect API key provided: {KEY}. You can find your API key at https://example.com."
    body = {"error": {"message": said, "type": "invalid_request_error", "code": "invalid_api_key"}}
    with ScriptedModelServer(Status(401, body=body)) as server:
        answered = await answer(request(server, api))
        assert server.requests[0].authorization == "present"
    error = answered.failure
    assert error.code == "authentication"
    assert "OPENAI_API_KEY" in error.message
    assert "onnection error" not in error.message
    assert KEY not in error.message


@both_apis
@pytest.mark.parametrize("value", ["", "  ", "sk-with\nnewline-inside", "schlüssel"])
async def test_peers_18_an_empty_or_impossible_key_is_called_that(api: str, value: str) -> None:
    with ScriptedModelServer() as server:
        asked = request(server, api, api_base=None)
        answered = await answer(asked, model(environ={"OPENAI_API_KEY": value}))
    error = answered.failure
    assert error.code == "authentication"
    assert "OPENAI_API_KEY" in error.message
    assert "onnection" not in error.message
    assert not error.retryable


async def test_no_key_at_all_says_which_one_to_set() -> None:
    with ScriptedModelServer() as server:
        asked = request(server, "auto", api_base=None, model="anthropic/claude-sonnet-5-5")
        answered = await answer(asked, model(environ={}))
    assert answered.failure.code == "no_model"
    assert "ANTHROPIC_API_KEY" in answered.failure.message


async def test_no_model_at_all_says_what_was_looked_for() -> None:
    with ScriptedModelServer() as server:
        answered = await answer(request(server, "auto", api_base=None, model=""))
    assert answered.failure.code == "no_model"
    assert "OPENAI_API_KEY" in answered.failure.message


@both_apis
async def test_a_key_with_white_space_around_it_works(api: str) -> None:
    with ScriptedModelServer(Say("Hi.")) as server:
        environ = {"OPENAI_API_KEY": f" {KEY}\n"}
        answered = await answer(request(server, api), model(environ=environ))
    assert answered.text == "Hi."


@both_apis
async def test_a_server_of_ones_own_needs_no_key(api: str) -> None:
    with ScriptedModelServer(Say("Hi.")) as server:
        answered = await answer(request(server, api, model="Qwen/Qwen3-8B"), model(environ={}))
        assert server.requests[0].model == "Qwen/Qwen3-8B"
    assert answered.text == "Hi."


@pytest.mark.parametrize(
    ("address", "is_near"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.20:8000/v1", True),
        ("http://ollama:11434", True),
        ("http://workstation.local/v1", True),
        ("https://api.example.com/v1", False),
        ("http://8.8.8.8/v1", False),
        (None, False),
    ],
)
def test_a_server_nearby_that_is_unavailable_loads(address: str | None, is_near: bool) -> None:
    for status in (503, 500):
        request = httpx.Request("POST", "http://x/v1/chat/completions")
        failed = httpx.HTTPStatusError(
            "Loading model", request=request, response=httpx.Response(status, request=request)
        )
        error = model_error(failed, provider=None, api_base=address)
        assert error.is_not_ready == (is_near and status == 503)


@both_apis
async def test_retry_after_is_passed_on_in_seconds(api: str) -> None:
    soon = datetime.datetime.now(tz=datetime.timezone.utc) + datetime.timedelta(seconds=30)
    with ScriptedModelServer(
        Status(429, {"Retry-After": "7"}),
        Status(503, {"Retry-After": "1.5"}),
        Status(429, {"Retry-After": email.utils.format_datetime(soon, usegmt=True)}),
        Status(429),
    ) as server:
        waits = [(await answer(request(server, api))).failure.retry_after for _ in range(4)]
    assert waits[:2] == [7.0, 1.5]
    assert waits[2] is not None
    assert 25 < waits[2] <= 30
    assert waits[3] is None


@both_apis
async def test_a_spent_quota_is_not_retried(api: str) -> None:
    body = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}
    with ScriptedModelServer(Status(429, body=body)) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == "payment"
    assert "the account has no quota or credit left" in answered.failure.message
    assert not answered.failure.retryable


@both_apis
async def test_a_conversation_that_is_too_long_is_called_that(api: str) -> None:
    said = "This model's maximum context length is 8192 tokens. You requested 9000."
    body: dict[str, Any] = {"error": {"message": said, "code": "context_length_exceeded"}}
    with ScriptedModelServer(Status(400, body=body)) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == "context_window"
    assert not answered.failure.retryable


@both_apis
async def test_nothing_listening_is_a_connection_error(api: str) -> None:
    with ScriptedModelServer() as server:
        asked = request(server, api)
    answered = await answer(asked)
    assert answered.failure.code == "connection"
    assert answered.failure.retryable
    assert "127.0.0.1" in answered.failure.message


@both_apis
async def test_a_body_that_is_no_json_is_shown_shortened(api: str) -> None:
    with ScriptedModelServer(Status(502, body="<html>" + "bad gateway " * 200)) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == "server"
    assert len(answered.failure.message) < 600


async def test_an_answer_after_a_long_think_is_not_an_error() -> None:
    with ScriptedModelServer(Hang(0.3, Say("Thought."))) as server:
        answered = await answer(request(server, "chat"))
    assert answered.text == "Thought."


@both_apis
async def test_a_short_key_is_taken_out_of_its_refusal_only(api: str) -> None:
    bodies = [{"error": {"message": f"{said}: EMPTY"}} for said in ("Unknown key", "The prompt is")]
    steps = (Status(401, body=bodies[0]), Status(400, body=bodies[1]))
    with ScriptedModelServer(*steps) as server:
        by = model(environ={"OPENAI_API_KEY": "EMPTY"})
        refused, other = [(await answer(request(server, api), by)).failure for _ in steps]
    assert "Unknown key: [key]" in refused.message
    assert "The prompt is: EMPTY" in other.message
