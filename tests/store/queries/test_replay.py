"""Joining the deltas of a turn."""

from __future__ import annotations

from typing import Any

from jupyter_datalayer_agent.store.queries.event_log import join_deltas, shown_texts


def delta(seq: int, item: str, text: str, kind: str = "text_delta") -> dict[str, Any]:
    return {"seq": seq, "type": kind, "itemId": item, "delta": text}


def other(seq: int, kind: str = "status", **more: Any) -> dict[str, Any]:
    return {"seq": seq, "type": kind, **more}


def test_the_deltas_of_an_item_become_one_with_the_last_ones_number() -> None:
    events = [other(1), delta(2, "a", "Hel"), delta(3, "a", "lo"), other(4)]
    assert join_deltas(events) == [other(1), delta(3, "a", "Hello"), other(4)]


def test_items_and_kinds_stay_apart_when_they_interleave() -> None:
    events = [
        delta(1, "a", "x", "reasoning_delta"),
        delta(2, "a", "1"),
        delta(3, "b", "2"),
        delta(4, "a", "3"),
        delta(5, "a", "y", "reasoning_delta"),
    ]
    assert join_deltas(events) == [
        delta(3, "b", "2"),
        delta(4, "a", "13"),
        delta(5, "a", "xy", "reasoning_delta"),
    ]


def test_what_was_discarded_is_left_out_and_the_retry_kept() -> None:
    discarded = other(3, "item_discarded", itemId="a")
    events = [
        delta(1, "a", "wrong"),
        delta(2, "b", "kept"),
        discarded,
        delta(4, "a", "right"),
    ]
    assert join_deltas(events) == [delta(2, "b", "kept"), discarded, delta(4, "a", "right")]


def test_the_events_that_were_given_stay_as_they_were() -> None:
    events = [delta(1, "a", "x"), delta(2, "a", "y")]
    join_deltas(events)
    assert events == [delta(1, "a", "x"), delta(2, "a", "y")]


def test_shown_texts_are_the_answers_in_order_without_the_reasoning() -> None:
    events = [
        delta(1, "a", "x", "reasoning_delta"),
        delta(2, "a", "one"),
        delta(3, "b", "two"),
    ]
    assert shown_texts(events) == {"a": "one", "b": "two"}
