"""What strict model servers refuse: rules for ``ScriptedModelServer(rules=…)``.

Each takes the request and returns the refusal, or None where the request is accepted. The texts are
those of the servers that are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from tests.support.model_request import RecordedRequest
from tests.support.model_script import Status

Rule = Callable[[RecordedRequest], Status | None]


def roles_alternate(request: RecordedRequest) -> Status | None:
    """The template of Mistral's and Llama 2's models, as vLLM and llama.cpp report it: user and
    assistant take turns; calls and their results do not count."""
    spoken = [
        message["role"]
        for message in request.items
        if message["role"] != "tool" and not message.get("tool_calls")
    ]
    if spoken[:1] == ["system"]:
        del spoken[0]
    wanted = ["user", "assistant"] * len(spoken)
    if spoken == wanted[: len(spoken)]:
        return None
    message = (
        "After the optional system message, conversation roles must alternate "
        "user/assistant/user/assistant/..."
    )
    return Status(400, body={"error": {"message": message, "type": "BadRequestError", "code": 400}})


def no_system_role(request: RecordedRequest) -> Status | None:
    """Gemma's template, as llama.cpp reports it: with status 500."""
    if all(message["role"] != "system" for message in request.items):
        return None
    message = "System role not supported at row 1, column 1: {{ bos_token }}{% if messages[0]"
    return Status(500, body={"error": {"message": message, "type": "server_error", "code": 500}})


def no_user_after_tool(request: RecordedRequest) -> Status | None:
    """Mistral's own API."""
    roles = [message["role"] for message in request.items]
    if ("tool", "user") not in pairwise(roles):
        return None
    message = "Unexpected role 'user' after role 'tool'"
    return Status(
        400, body={"object": "error", "message": message, "type": "invalid_request_error"}
    )


def unsupported(name: str, text: str = "Unsupported parameter: '{name}'") -> Rule:
    """A server that refuses a parameter wherever it is in the request (``strict`` in tools, too);
    ``text`` is its message."""

    def rule(request: RecordedRequest) -> Status | None:
        if name not in set(_names(request.body)):
            return None
        message = text.format(name=name)
        return Status(400, body={"error": {"message": message, "type": "invalid_request_error"}})

    return rule


def extra_forbidden(name: str) -> Rule:
    """A server whose schema forbids what it does not know, as FastAPI reports it."""

    def rule(request: RecordedRequest) -> Status | None:
        if name not in request.body:
            return None
        problem = {
            "type": "extra_forbidden",
            "loc": ["body", name],
            "msg": "Extra inputs are not permitted",
            "input": request.body[name],
        }
        return Status(422, body={"detail": [problem]})

    return rule


def _names(body: dict[str, Any]) -> Iterator[str]:
    yield from body
    for tool in body.get("tools") or []:
        yield from tool.get("function", tool)
