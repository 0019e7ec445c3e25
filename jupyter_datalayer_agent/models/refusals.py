"""What model servers refuse of a request, learnt from what they answer.

Servers that speak the OpenAI form know different parts of it, and say so in words of their own. A
refusal that contains the name of something that the request has is taken to be about that: the
request is repeated without it, and once that is accepted, later requests to the same model do
without it from the start.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .chat_messages import Message, alternating
from .errors import causes
from .types import ModelError

ROLE = "role"
"""Stands for the form of the conversation: templates of chat models name roles in what they
refuse."""

_IDENTIFIER = re.compile(r"[A-Za-z_]+")
_LONGEST = 20_000
"""Characters of a refusal that are looked at: servers may repeat the whole request in it."""

# Not about the form of a request: without them there is none.
_NEEDED = frozenset(["model", "messages", "input", "instructions", "tools", "stream", "store"])
# Addressed to litellm, which does not send them.
_OF_LITELLM = frozenset(
    ["api_base", "api_key", "extra_body", "max_retries", "num_retries", "drop_params", "timeout"]
)
_OLDER, _NEWER = "max_tokens", "max_completion_tokens"
"""The limit of an answer in the older and the newer form of the API."""


class Refusals:
    """What each model of each server refused, while this process lives: a server may be updated."""

    def __init__(self) -> None:
        self._known: dict[tuple[str | None, str], frozenset[str]] = {}

    def of(self, api_base: str | None, model: str) -> frozenset[str]:
        """The names that requests to this model do without."""
        return self._known.get((api_base, model), frozenset())

    def learn(self, api_base: str | None, model: str, names: frozenset[str]) -> None:
        """A request without ``names`` was accepted."""
        if names:
            self._known[api_base, model] = names


def refused_by(error: ModelError, arguments: Mapping[str, Any]) -> frozenset[str]:
    """The names in ``error`` of what the request with these ``arguments`` of litellm has, and could
    do without; empty for an error of another kind."""
    if error.code not in ("bad_request", "server"):
        return frozenset()
    said = set(_IDENTIFIER.findall(str(error.__cause__ or error)[:_LONGEST]))
    if said & {"roles", "Role", "Roles", "System"}:
        said.add(ROLE)
    names = _names(arguments)
    if _NEWER in _sent(error):
        # litellm renames it for some models. Servers name both, one as what to use instead.
        names = (names - {_OLDER}) | {_NEWER}
    return frozenset(said & names)


def _sent(error: ModelError) -> set[str]:
    """The names at the top of the request that was refused, as it was sent."""
    for each in causes(error):
        request = getattr(getattr(each, "response", None), "_request", None)
        with contextlib.suppress(ValueError, RuntimeError):
            body = None if request is None else json.loads(request.content)
            if isinstance(body, dict):
                return set(body)
    return set()


def without(arguments: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The arguments without what has these names; what can be said otherwise, is."""
    arguments = dict(arguments)
    body = dict(arguments.get("extra_body") or {})
    limit = arguments.get(_OLDER)
    if limit is not None and _NEWER in names:
        # As it is: an argument would be renamed again.
        del arguments[_OLDER]
        body[_OLDER] = limit
    elif limit is not None and _OLDER in names:
        arguments[_NEWER] = limit
    for name in names:
        for holder in (arguments, body):
            holder.pop(name, None)
    for holder in (arguments, body):
        if "strict" in names and holder.get("tools"):
            holder["tools"] = [_not_strict(tool) for tool in holder["tools"]]
        if ROLE in names and "messages" in holder:
            holder["messages"] = alternating(holder["messages"])
    if body:
        arguments["extra_body"] = body
    return arguments


def _names(arguments: Mapping[str, Any]) -> set[str]:
    body = arguments.get("extra_body") or {}
    names = {*arguments, *body} - _NEEDED - _OF_LITELLM
    tools = body.get("tools") or arguments.get("tools") or []
    if any("strict" in tool.get("function", tool) for tool in tools):
        names.add("strict")
    messages: list[Message] = body.get("messages") or arguments.get("messages") or []
    if alternating(messages) != messages:
        names.add(ROLE)
    return names


def _not_strict(tool: Mapping[str, Any]) -> dict[str, Any]:
    if "function" in tool:
        return {**tool, "function": _not_strict(tool["function"])}
    return {name: value for name, value in tool.items() if name != "strict"}
