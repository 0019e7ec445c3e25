"""Conversations of many turns with the scripted model, and what its requests are measured by."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

from tests.support.model_request import RecordedRequest
from tests.support.model_script import Say
from tests.support.tokens import count

ASKS_FOR_SUMMARY = "Write a summary of the conversation above."
REPLACES_OLDER = "The earlier part of this conversation was"


def is_summary(request: RecordedRequest) -> bool:
    """Whether it asks for the summary of older turns."""
    return ASKS_FOR_SUMMARY in request.text


def summary_of(request: RecordedRequest, marks: Sequence[str]) -> Say:
    """A summary that holds those of the marks which the request shows."""
    seen = [mark for mark in marks if mark in request.text]
    return Say("Known facts: " + "; ".join(seen), chunk=10_000)


def tokens_of(request: RecordedRequest) -> int:
    """What the model reads of a request, counted by a real tokenizer."""
    return count(request.text) + count(json.dumps(request.body.get("tools") or []))


def rendered(request: RecordedRequest) -> bytes:
    """The request in the order in which providers read it: tools, system prompt, items."""
    first = [request.body.get("tools"), request.body.get("instructions")]
    return json.dumps([*first, *request.items], ensure_ascii=False).encode()


def prefix_shares(requests: Sequence[RecordedRequest]) -> list[float]:
    """Of each request's bytes but the first one's, the share that begins the one before, too."""
    pairs = pairwise(map(rendered, requests))
    return [_same(before, after) / len(after) for before, after in pairs]


def kept_share(before: RecordedRequest, after: RecordedRequest) -> float:
    """Of the bytes of one request, the share with which a later one begins."""
    return _same(rendered(before), rendered(after)) / len(rendered(before))


def _same(before: bytes, after: bytes) -> int:
    differing = (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    return next(differing, min(len(before), len(after)))


def compacted(request: RecordedRequest) -> str | None:
    """What replaces older turns in it."""
    for item in request.items:
        text = json.dumps(item, ensure_ascii=False)
        if item.get("role") == "user" and REPLACES_OLDER in text:
            return text
    return None
