"""What waits for a slow page, without a connection: order, bounds, and the end."""

from __future__ import annotations

import asyncio

from jupyter_datalayer_agent.server import page
from jupyter_datalayer_agent.server.page import AT_ONCE, MAX_WAITING, SendQueue


class Connection:
    """Takes texts, and passes them on when the test says so."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self._passing: list[asyncio.Future[None]] = []
        self.overflows = 0
        self.queue = SendQueue(self._write, self._overflow)

    def _write(self, text: str) -> asyncio.Future[None]:
        self.taken.append(text)
        self._passing.append(asyncio.get_running_loop().create_future())
        return self._passing[-1]

    def _overflow(self) -> None:
        self.overflows += 1

    async def pass_on(self, error: Exception | None = None) -> None:
        """What was taken is on its way, or the connection broke."""
        passing, self._passing = self._passing, []
        for each in passing:
            if error is None:
                each.set_result(None)
            else:
                each.set_exception(error)
        await asyncio.sleep(0)


async def test_texts_go_in_order_and_only_so_many_at_once() -> None:
    connection = Connection()
    texts = [str(number) * (AT_ONCE // 4) for number in range(10)]
    for text in texts:
        connection.queue.put(text)
    assert len(connection.taken) == 1
    await connection.pass_on()
    assert len(connection.taken) == 5
    await connection.pass_on()
    await connection.pass_on()
    assert connection.taken == texts


async def test_live_events_past_the_bound_end_it_once_and_are_forgotten() -> None:
    connection = Connection()
    event = "e" * (MAX_WAITING // 8)
    for _ in range(20):
        connection.queue.put_live(event)
    assert connection.overflows == 1
    assert not connection.queue._waiting
    connection.queue.put("a request")
    await connection.pass_on()
    assert connection.taken == [event]


async def test_what_is_not_live_waits_however_much_it_is() -> None:
    connection = Connection()
    large = "r" * MAX_WAITING
    for _ in range(3):
        connection.queue.put(large)
    connection.queue.put_live("event")
    # One event that is larger than the bound is sent like any other.
    other = Connection()
    other.queue.put("before")
    other.queue.put_live("e" * (MAX_WAITING + 1))
    for _ in range(4):
        await connection.pass_on()
        await other.pass_on()
    assert [len(each) for each in connection.taken] == [MAX_WAITING] * 3 + [5]
    assert len(other.taken) == 2
    assert (connection.overflows, other.overflows) == (0, 0)


async def test_it_is_drained_when_the_last_text_is_on_its_way_and_when_it_is_closed() -> None:
    connection = Connection()
    await connection.queue.drained()
    connection.queue.put("first")
    waiting = asyncio.ensure_future(connection.queue.drained())
    await asyncio.sleep(0)
    assert not waiting.done()
    await connection.pass_on()
    await waiting
    connection.queue.put("second")
    waiting = asyncio.ensure_future(connection.queue.drained())
    await asyncio.sleep(0)
    connection.queue.close()
    await waiting


async def test_a_connection_that_breaks_ends_it() -> None:
    connection = Connection()
    for _ in range(3):
        connection.queue.put("x" * page.AT_ONCE)
    await connection.pass_on(OSError("broken"))
    await connection.queue.drained()
    connection.queue.put("more")
    assert len(connection.taken) == 1
    assert connection.overflows == 0
