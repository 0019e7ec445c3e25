"""A turn's events in short: enough to draw the turn again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

DELTAS = ("text_delta", "reasoning_delta", "answer_delta")


def join_deltas(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events (wire JSON, in order) with the deltas of one item joined into one event.

    A joined event takes the place of the last of its deltas and has that one's ``seq``. What an
    ``item_discarded`` took back is left out; all other events stay as they are.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    kept: dict[object, dict[str, Any]] = {}
    for event in events:
        if event["type"] in DELTAS:
            key = (event["type"], event["itemId"])
            parts.setdefault(key, []).append(event["delta"])
            kept.pop(key, None)
            kept[key] = event
            continue
        if event["type"] == "item_discarded":
            for kind in DELTAS:
                parts.pop((kind, event["itemId"]), None)
                kept.pop((kind, event["itemId"]), None)
        kept[event["seq"]] = event
    return [
        {**event, "delta": "".join(parts[key])} if isinstance(key, tuple) else event
        for key, event in kept.items()
    ]


def shown_texts(events: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The answer texts that a user had been shown, by item id, in order."""
    return {
        event["itemId"]: event["delta"]
        for event in join_deltas(events)
        if event["type"] == "text_delta"
    }
