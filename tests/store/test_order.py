"""Whatever the interleaving of appends, each session reads back what it was given, in order."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_datalayer_agent.protocol.events import (
    BaseEvent,
    ItemDiscarded,
    ReasoningDelta,
    Status,
    TextDelta,
)
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.queries.event_log import join_deltas

from .chats import Chat, open_store

ITEMS = st.sampled_from(["msg_1", "msg_2"])
TEXTS = st.text(max_size=5)
EVENTS = st.one_of(
    st.tuples(ITEMS, TEXTS).map(lambda pair: TextDelta(item_id=pair[0], delta=pair[1])),
    st.tuples(ITEMS, TEXTS).map(lambda pair: ReasoningDelta(item_id=pair[0], delta=pair[1])),
    ITEMS.map(lambda item: ItemDiscarded(item_id=item)),
    TEXTS.map(lambda text: Status(message=text)),
)
# One step: which of three chats, how many wait at once with it, and the events of each append.
STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.lists(EVENTS, max_size=4), max_size=3)), max_size=8
)
PAGE = st.integers(1, 7)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS, page=PAGE)
def test_any_interleaving_reads_back_in_order(
    steps: list[tuple[int, list[list[BaseEvent]]]], page: int
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_append_and_read(Path(directory) / "agent.db", steps, page))


async def _append_and_read(
    path: Path, steps: list[tuple[int, list[list[BaseEvent]]]], page: int
) -> None:
    given_events: dict[int, list[dict[str, Any]]] = defaultdict(list)
    async with open_store(path) as store:
        chats = [await Chat.new(store) for _ in range(3)]
        for chat in chats:
            await chat.start()
        for number, appends in steps:
            copies = [[event.model_copy() for event in events] for events in appends]
            await asyncio.gather(*(chats[number].emit(*events) for events in copies))
            given_events[number] += [event.to_wire() for events in copies for event in events]
        for number, chat in enumerate(chats):
            assert await _pages(store, chat.session_id, page) == given_events[number]
            turn = await store.turn_reader.get(chat.turn_id, include_events=True)
            assert turn.events == join_deltas(given_events[number])
            assert await store.events.last_seq(chat.session_id) == len(given_events[number])


async def _pages(store: Store, session_id: str, size: int) -> list[dict[str, Any]]:
    """All events, read as a client does that comes back again and again."""
    read: list[dict[str, Any]] = []
    while events := await store.events.after(session_id, read[-1]["seq"] if read else 0, size):
        read += events
    return read
