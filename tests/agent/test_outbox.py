"""What a turn tells goes out in order, in groups, and never without having been written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from jupyter_datalayer_agent.agent.outbox import Outbox
from jupyter_datalayer_agent.protocol.events import BaseEvent, Status, TextDelta, TokenUsage
from jupyter_datalayer_agent.protocol.requests import Usage


class Book:
    """Keeps what is written; each write waits for ``go``, and fails while ``error`` is set."""

    def __init__(self) -> None:
        self.written: list[tuple[list[str], dict[str, Any]]] = []
        self.go = asyncio.Event()
        self.began = asyncio.Event()
        self.error: Exception | None = None

    async def emit(self, events: Sequence[BaseEvent], **belongings: Any) -> None:
        self.began.set()
        await self.go.wait()
        if self.error is not None:
            raise self.error
        self.written.append(([text_of(event) for event in events], belongings))


def text_of(event: BaseEvent) -> str:
    if isinstance(event, TextDelta):
        return event.delta
    return event.message if isinstance(event, Status) else event.__class__.__name__


def delta(text: str, item: str = "msg_1") -> TextDelta:
    return TextDelta(item_id=item, delta=text)


async def test_what_comes_while_a_write_goes_on_is_written_together() -> None:
    book = Book()
    outbox = Outbox(book.emit)
    outbox.add(Status(message="first"))
    await book.began.wait()
    outbox.add(delta("a"))
    outbox.add(delta("b"))
    outbox.add(delta("c", "msg_2"))
    outbox.add(Status(message="last"), items=[{"n": 1}])
    outbox.add(None, items=[{"n": 2}])
    book.go.set()
    await outbox.flush()
    assert book.written == [
        (["first"], {}),
        (["ab", "c", "last"], {"items": [{"n": 1}, {"n": 2}]}),
    ]


async def test_what_a_group_can_have_only_once_begins_another_group() -> None:
    book = Book()
    outbox = Outbox(book.emit)
    usages = [Usage(total_tokens=1), Usage(total_tokens=2)]
    for usage in usages:
        outbox.add(TokenUsage(usage=usage), usage=usage, model="m")
    book.go.set()
    await outbox.flush()
    assert [belongings["usage"] for _, belongings in book.written] == usages


async def test_a_write_that_fails_is_raised_by_the_next_flush_and_not_for_ever() -> None:
    book = Book()
    book.error = OSError("the disk is full")
    outbox = Outbox(book.emit)
    outbox.add(Status(message="lost"))
    book.go.set()
    await book.began.wait()
    outbox.add(Status(message="later"))
    with pytest.raises(OSError, match="full"):
        await outbox.flush()
    book.error = None
    outbox.add(Status(message="again"))
    await outbox.flush()
    assert [texts for texts, _ in book.written] == [["later", "again"]]


async def test_a_flush_that_is_cancelled_goes_on_until_all_is_written() -> None:
    book = Book()
    outbox = Outbox(book.emit)
    outbox.add(Status(message="done"))
    flushing = asyncio.ensure_future(outbox.flush())
    await book.began.wait()
    flushing.cancel()
    book.go.set()
    with pytest.raises(asyncio.CancelledError):
        await flushing
    assert [texts for texts, _ in book.written] == [["done"]]
