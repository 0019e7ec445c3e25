"""What a turn emits goes out in order, in groups, and never without having been written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from jupyter_datalayer_agent.agent import event_buffer as buffer_module
from jupyter_datalayer_agent.agent.event_buffer import EventBuffer
from jupyter_datalayer_agent.protocol.events import (
    BaseEvent,
    ItemDiscarded,
    ReasoningDelta,
    Status,
    TextDelta,
    TokenUsage,
)
from jupyter_datalayer_agent.protocol.requests import Usage


class Book:
    """Keeps what is written; each write waits for ``go``, and fails while ``error`` is set."""

    def __init__(self) -> None:
        self.written: list[tuple[list[str], dict[str, Any]]] = []
        self.go = asyncio.Event()
        self.began = asyncio.Event()
        self.error: Exception | None = None
        self._more = asyncio.Event()

    async def emit(self, events: Sequence[BaseEvent], **belongings: Any) -> None:
        self.began.set()
        await self.go.wait()
        if self.error is not None:
            raise self.error
        self.written.append(([text_of(event) for event in events], belongings))
        self._more.set()

    async def emitted(self, groups: int) -> list[list[str]]:
        """The texts of the groups, once so many are written."""
        while len(self.written) < groups:
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), 10)
        return [texts for texts, _ in self.written]


def text_of(event: BaseEvent) -> str:
    if isinstance(event, TextDelta):
        return event.delta
    return event.message if isinstance(event, Status) else event.__class__.__name__


def delta(text: str, item: str = "msg_1") -> TextDelta:
    return TextDelta(item_id=item, delta=text)


async def test_what_comes_while_a_write_continues_is_written_together() -> None:
    book = Book()
    buffer = EventBuffer(book.emit)
    buffer.add(Status(message="first"))
    await book.began.wait()
    buffer.add(delta("a"))
    buffer.add(delta("b"))
    buffer.add(delta("c", "msg_2"))
    buffer.add(Status(message="last"), items=[{"n": 1}])
    buffer.add(None, items=[{"n": 2}])
    book.go.set()
    await buffer.flush()
    assert book.written == [
        (["first"], {}),
        (["ab", "c", "last"], {"items": [{"n": 1}, {"n": 2}]}),
    ]


async def test_what_a_group_can_have_only_once_begins_another_group() -> None:
    book = Book()
    buffer = EventBuffer(book.emit)
    usages = [Usage(total_tokens=1), Usage(total_tokens=2)]
    for usage in usages:
        buffer.add(TokenUsage(usage=usage), usage=usage, model="m")
    book.go.set()
    await buffer.flush()
    assert [belongings["usage"] for _, belongings in book.written] == usages


async def test_a_write_that_fails_is_raised_by_the_next_flush_and_not_for_ever() -> None:
    book = Book()
    book.error = OSError("the disk is full")
    buffer = EventBuffer(book.emit)
    buffer.add(Status(message="lost"))
    book.go.set()
    await book.began.wait()
    buffer.add(Status(message="later"))
    with pytest.raises(OSError, match="full"):
        await buffer.flush()
    book.error = None
    buffer.add(Status(message="again"))
    await buffer.flush()
    assert [texts for texts, _ in book.written] == [["later", "again"]]


async def test_a_flush_that_is_cancelled_continues_until_all_is_written() -> None:
    book = Book()
    buffer = EventBuffer(book.emit)
    buffer.add(Status(message="done"))
    flushing = asyncio.ensure_future(buffer.flush())
    await book.began.wait()
    flushing.cancel()
    book.go.set()
    with pytest.raises(asyncio.CancelledError):
        await flushing
    assert [texts for texts, _ in book.written] == [["done"]]


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deltas are gathered for an hour, so that what ends that is seen."""
    monkeypatch.setattr(buffer_module, "WINDOW_SECONDS", 3600.0)


async def test_the_first_delta_goes_out_at_once_and_the_next_ones_together_a_moment_later() -> None:
    book = Book()
    book.go.set()
    buffer = EventBuffer(book.emit)
    buffer.add(delta("a"))
    assert await book.emitted(1) == [["a"]]
    began = asyncio.get_running_loop().time()
    for text in "bcd":
        buffer.add(delta(text))
        await asyncio.sleep(0.005)
    assert await book.emitted(2) == [["a"], ["bcd"]]
    took = asyncio.get_running_loop().time() - began
    assert took > buffer_module.WINDOW_SECONDS - 0.005
    # After a pause the next is a first one again.
    await asyncio.sleep(buffer_module.WINDOW_SECONDS)
    began = asyncio.get_running_loop().time()
    buffer.add(delta("e"))
    await book.emitted(3)
    assert asyncio.get_running_loop().time() - began < buffer_module.WINDOW_SECONDS / 2


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Status(message="x"), "x"),
        (delta("x", "msg_2"), "x"),
        (ReasoningDelta(item_id="msg_1", delta="x"), "ReasoningDelta"),
        (ItemDiscarded(item_id="msg_1"), "ItemDiscarded"),
    ],
)
@pytest.mark.usefixtures("endless")
async def test_whatever_is_not_more_of_the_same_text_sends_it_off_before_itself(
    event: BaseEvent, text: str
) -> None:
    book = Book()
    book.go.set()
    buffer = EventBuffer(book.emit)
    buffer.add(delta("a"))
    await book.emitted(1)
    buffer.add(delta("b"))
    buffer.add(delta("c"))
    buffer.add(event)
    assert await book.emitted(2) == [["a"], ["bc", text]]


@pytest.mark.usefixtures("endless")
async def test_what_belongs_to_no_event_and_groups_that_follow_wait_for_no_text() -> None:
    book = Book()
    book.go.set()
    buffer = EventBuffer(book.emit)
    buffer.add(delta("a"))
    await book.emitted(1)
    buffer.add(delta("b"))
    for number in (1, 2):
        buffer.add(None, usage=Usage(total_tokens=number), model="m")
    assert await book.emitted(3) == [["a"], ["b"], []]


@pytest.mark.usefixtures("endless")
async def test_a_flush_waits_for_no_more_text() -> None:
    book = Book()
    book.go.set()
    buffer = EventBuffer(book.emit)
    buffer.add(delta("a"))
    await book.emitted(1)
    buffer.add(delta("b"))
    await asyncio.sleep(0)  # it is being gathered
    await asyncio.wait_for(buffer.flush(), 10)
    assert [texts for texts, _ in book.written] == [["a"], ["b"]]
