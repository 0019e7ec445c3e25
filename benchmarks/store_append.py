"""What it costs to keep a piece of streamed text, in chats of 10 and of 2,000 turns.

Run: ``python -m benchmarks store_append``. Real SQLite files in a temporary directory; times are
medians in ms, seen by the caller in the event loop. The two chats are measured in turns, so that
noise of the machine meets both.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.events import BaseEvent, TextDelta, TurnCompleted
from jupyter_datalayer_agent.protocol.requests import ChatRequest, ToolCallRecord, Usage
from jupyter_datalayer_agent.store import Store

LENGTHS = (10, 2_000)
DELTAS_A_TURN = 40
ROUNDS = 2_000
WRITERS = 8


class Chat:
    """A store with one session of ``turns`` finished turns and one that runs."""

    def __init__(self, directory: Path, turns: int) -> None:
        self.turns = turns
        self.store = Store(f"sqlite:///{directory / f'{turns}.db'}")
        self.seq = 0
        self.session_id = ""
        self.turn_id = ""

    async def fill(self) -> None:
        """Make the session; its last turn goes on running."""
        self.session_id = (await self.store.sessions.create()).id
        for _ in range(self.turns):
            await self.start()
            await self.finish()
        await self.start()

    async def start(self) -> None:
        """Begin a turn, with a call of a tool and an answer."""
        self.turn_id = new_id("t")
        await self.store.turns.start(
            session_id=self.session_id,
            turn_id=self.turn_id,
            mode="agent",
            notebook_mode="full",
            location="panel",
            request=ChatRequest(message="Plot the mean of each month, please."),
        )
        text = "The mean is 12.5 in January and rises to 24 in July. " * 10
        call = {"type": "function_call", "call_id": "c", "name": "runNotebookCells"}
        output = {"type": "function_call_output", "call_id": "c", "output": text * 3}
        message = {"type": "message", "role": "assistant", "content": text}
        await self.store.events.append(
            self.session_id,
            self.turn_id,
            events=[self.delta() for _ in range(DELTAS_A_TURN)],
            items=[call, output, message],
            tool_calls=[ToolCallRecord(call_id="c", name="runNotebookCells", status="ok")],
            usage=Usage(input_tokens=2000, output_tokens=100, total_tokens=2100),
        )

    async def finish(self) -> None:
        """End the running turn."""
        self.seq += 1
        end = TurnCompleted(seq=self.seq, turn_id=self.turn_id, duration_ms=1, usage=Usage())
        await self.store.turns.finish(
            self.turn_id, status="completed", reply="The mean is 12.5.", events=[end]
        )

    def delta(self) -> BaseEvent:
        """The next piece of text."""
        self.seq += 1
        return TextDelta(
            seq=self.seq, turn_id=self.turn_id, at=1, item_id="msg_1", delta=" a few words"
        )

    async def append(self) -> None:
        """Keep one piece of text."""
        await self.store.events.append(self.session_id, self.turn_id, events=[self.delta()])

    async def append_together(self) -> None:
        """Keep one piece of text for each of several that write at once."""
        await asyncio.gather(*(self.append() for _ in range(WRITERS)))

    async def turn(self) -> None:
        """End the running turn and begin the next."""
        await self.finish()
        await self.start()

    async def history(self) -> None:
        """What a session that is loaded again needs for the model."""
        await self.store.turn_reader.history(self.session_id, 15)

    async def page(self) -> None:
        """What a page that opens the session shows."""
        await self.store.turn_reader.list_page(self.session_id, include_events=True)

    async def session(self) -> None:
        """One session's line in the list."""
        await self.store.sessions.get(self.session_id)

    async def replay(self) -> None:
        """What a client that comes back has missed."""
        await self.store.events.after(self.session_id, self.seq - 100)


Step = Callable[[Chat], Awaitable[None]]
STEPS: list[tuple[str, Step, int]] = [
    ("append one text_delta", Chat.append, ROUNDS),
    (f"append {WRITERS} at once", Chat.append_together, ROUNDS // WRITERS),
    ("end a turn, begin the next", Chat.turn, 100),
    ("history of 15 turns", Chat.history, 100),
    ("last 20 turns with events", Chat.page, 50),
    ("replay 100 events", Chat.replay, 100),
    ("one session", Chat.session, 200),
]


async def measure(step: Step, chats: list[Chat], rounds: int) -> list[float]:
    """The median time of ``step`` for each chat, in ms."""
    times: list[list[float]] = [[] for _ in chats]
    for _ in range(rounds):
        for chat, taken in zip(chats, times, strict=True):
            began = time.perf_counter()
            await step(chat)
            taken.append((time.perf_counter() - began) * 1000)
    return [statistics.median(taken) for taken in times]


def main() -> None:
    """Print the table."""
    asyncio.run(_main())


async def _main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        chats = [Chat(Path(directory), turns) for turns in LENGTHS]
        began = time.perf_counter()
        await chats[0].store.open()
        first_open = (time.perf_counter() - began) * 1000
        for chat in chats:
            await chat.fill()
        print(f"{'ms, median':28}" + "".join(f"{n:>8,} turns" for n in LENGTHS) + "   ratio")
        for name, step, rounds in STEPS:
            short, long = await measure(step, chats, rounds)
            print(f"{name:28}{short:>14.3f}{long:>14.3f}{long / short:>8.2f}")
        print(f"first open, with the import of SQLAlchemy and the migration: {first_open:.0f} ms")
        for chat in chats:
            await chat.store.close()


if __name__ == "__main__":
    main()
