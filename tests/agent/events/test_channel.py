"""Who listens to a session gets each of its events once, in order, as soon as it is stored."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from pathlib import Path

import pytest

from jupyter_datalayer_agent.agent import events as channel_module
from jupyter_datalayer_agent.agent.events import EventChannel, SerializedEvent
from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.events import Status, TextDelta
from tests.store.chats import Chat, execute, open_store

TEXTS = [str(number) for number in range(60)]


class Page:
    """Listens, and knows what it got."""

    def __init__(self) -> None:
        self.got: list[SerializedEvent] = []

    @property
    def numbers(self) -> list[int]:
        return [each.seq for each in self.got]

    @property
    def text(self) -> str:
        return "".join(json.loads(each.text).get("delta", "") for each in self.got)


@pytest.mark.parametrize("size", [2, 1000])
async def test_who_subscribes_in_the_middle_of_a_stream_gets_each_event_once_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(channel_module, "REPLAY_PAGE", size)
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        channel = EventChannel(store, chat.session_id, 0)
        await chat.start()
        pages = [Page() for _ in range(12)]

        comes = []
        for number, text in enumerate(TEXTS):
            if number % 5 == 4:
                page = pages[number // 5]
                comes.append(asyncio.create_task(channel.subscribe(page.got.append, 3)))
            await chat.say(text)
        await asyncio.gather(*comes)
        await chat.say("end")
        for page in pages:
            assert page.numbers == list(range(4, len(TEXTS) + 2))
            assert page.text == "".join(TEXTS[3:]) + "end"


async def test_live_events_do_not_accumulate_while_a_slow_listener_reads_the_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_module, "REPLAY_PAGE", 2)
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        channel, page = EventChannel(store, chat.session_id, 0), Page()
        await chat.start()
        await chat.say("a", "b")
        waits, may_go_on = asyncio.Event(), asyncio.Event()

        async def ready() -> None:
            waits.set()
            await may_go_on.wait()

        coming = asyncio.create_task(channel.subscribe(page.got.append, 0, ready))
        await waits.wait()
        live: list[weakref.ref[SerializedEvent]] = []
        leave = channel.listen(lambda sent: live.append(weakref.ref(sent)))
        for text in TEXTS:
            await chat.say(text)
        leave()
        gc.collect()
        assert len(live) == len(TEXTS)
        assert not [sent for sent in live if sent() is not None]
        channel.send_unsaved(Status(message="The disk is full"), None)
        may_go_on.set()
        await coming
        assert page.numbers == [*range(1, len(TEXTS) + 3), 0]
        assert page.text == "ab" + "".join(TEXTS)


async def test_what_was_read_of_the_past_is_not_sent_again(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        channel = EventChannel(store, chat.session_id, 0)
        late: list[SerializedEvent] = []
        events_after, page = store.events.after, Page()
        leave = channel.listen(late.append)
        await chat.say("a", "b")
        leave()

        async def as_a_thread_is_faster(session: str, after: int, limit: int) -> object:
            found = await events_after(session, after, limit)
            for each in list(channel._listeners):
                each(late[1])  # it was committed, read, and only then passed on
            return found

        store.events.after = as_a_thread_is_faster  # type: ignore[method-assign,assignment]
        await channel.subscribe(page.got.append, 0)
        assert page.numbers == [1, 2]


async def test_what_is_not_stored_is_sent_to_nobody_and_what_comes_next_is(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        channel, page = EventChannel(store, chat.session_id, 0), Page()
        await channel.subscribe(page.got.append, 0)
        execute(
            path,
            "CREATE TRIGGER t BEFORE INSERT ON events WHEN new.type = 'status' "
            "BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END",
        )
        said = chat.say("a"), chat.emit(Status(message="lost")), chat.say("b")
        results = await asyncio.gather(*said, return_exceptions=True)
        assert [type(each) for each in results] == [type(None), AgentError, type(None)]
        assert (page.numbers, page.text, channel.seq) == ([1, 2], "ab", 2)
        channel.send_unsaved(Status(message="The disk is full"), None)
        assert page.numbers == [1, 2, 0]


async def test_what_a_caller_stored_is_sent_though_it_was_cancelled(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        channel, page = EventChannel(store, chat.session_id, 0), Page()
        await channel.subscribe(page.got.append, 0)
        saying = asyncio.create_task(chat.say("a"))
        await asyncio.sleep(0)
        saying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saying
        await chat.say("b")
        assert (page.numbers, page.text) == ([1, 2], "ab")


async def test_a_listener_that_fails_harms_neither_the_store_nor_the_next_event(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        channel, page = EventChannel(store, chat.session_id, 0), Page()

        def fail(sent: SerializedEvent) -> None:
            page.got.append(sent)
            raise RuntimeError("a bug")

        channel.listen(fail)
        await chat.say("a", "b")
        assert page.numbers == await chat.numbers() == [1, 2]


async def test_a_channel_stays_behind_where_another_server_wrote(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as one, open_store(path) as two:
        chat = await Chat.new(one)
        channel, page = EventChannel(one, chat.session_id, 0), Page()
        await channel.subscribe(page.got.append, 0)
        await chat.say("a")
        await two.events.append(chat.session_id, None, events=[TextDelta(item_id="i", delta="b")])
        await chat.say("c")
        assert (page.numbers, page.text) == ([1, 3], "ac")
        assert (channel.seq, await one.events.last_seq(chat.session_id)) == (1, 3)


async def test_a_channel_that_nobody_holds_is_let_go(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        channel, page = EventChannel(store, chat.session_id, 0), Page()
        leave = channel.listen(page.got.append)
        del channel
        await chat.say("a")
        assert page.numbers == [1], "who listens holds it"
        leave()
        del leave
        assert not store._readers
