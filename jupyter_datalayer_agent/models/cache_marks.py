"""Marks for prompt caches that keep only what a request marks: Anthropic's ``cache_control``.

Other providers cache by themselves, and some refuse the marks. Tools come before the system prompt
in what is cached, so that its mark covers them; the mark on the last message covers the
conversation, of which the next request finds the longest part that was marked before.
https://docs.claude.com/en/docs/build-with-claude/prompt-caching
"""

from __future__ import annotations

from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

MARK = {"type": "ephemeral"}
_PROVIDERS = ("anthropic", "bedrock", "openrouter", "vertex_ai")


def takes_cache_marks(model: str) -> bool:
    """Whether requests to this model of litellm may have marks: Claude, at Anthropic or at one of
    those that pass the marks on."""
    provider, slash, name = model.partition("/")
    if not slash:
        return model.startswith("claude-")
    return provider in _PROVIDERS and "claude" in name


def marked(messages: list[Message]) -> list[Message]:
    """The messages of chat completions with marks; they themselves stay as they are."""
    if not messages:
        return messages
    last = len(messages) - 1
    is_marked = {0, last} if messages[0]["role"] == "system" else {last}
    return [_mark(each) if at in is_marked else each for at, each in enumerate(messages)]


def _mark(message: Message) -> Message:
    content = message.get("content")
    if message["role"] == "tool":
        return {**message, "cache_control": MARK}
    if isinstance(content, str) and content:
        return {**message, "content": [{"type": "text", "text": content, "cache_control": MARK}]}
    if isinstance(content, list) and content:
        *before, last = content
        return {**message, "content": [*before, {**last, "cache_control": MARK}]}
    return message
