"""A server that is killed in the middle of a turn: run as a program, by ``crash``.

It writes to the database, says on its standard output what has been acknowledged, and goes on,
or waits, until it is killed.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from jupyter_datalayer_agent.protocol.events import (
    FinalReply,
    ItemDiscarded,
    TextDelta,
    ToolCallOutput,
    ToolCallStarted,
    TurnCompleted,
)
from jupyter_datalayer_agent.protocol.requests import ToolCallRecord, Usage
from jupyter_datalayer_agent.store import Store

from .chats import Chat, url

USER = {"type": "message", "role": "user", "content": "Load the cars"}


def call(call_id: str) -> dict[str, str]:
    """A function call of the model, as an item."""
    return {"type": "function_call", "call_id": call_id, "name": "run", "arguments": "{}"}


def output(call_id: str) -> dict[str, str]:
    """Its answer."""
    return {"type": "function_call_output", "call_id": call_id, "output": "ok"}


async def streams_for_ever(chat: Chat) -> None:
    """Text, each piece reported as soon as the store says that it is kept."""
    while True:
        await chat.say(f"{chat.seq + 1} ")
        print(chat.seq, flush=True)


async def speaks(chat: Chat) -> None:
    """A finished message, then one that is not; tokens of one call."""
    done = {"type": "message", "role": "assistant", "id": "msg_1", "content": [{"text": "First."}]}
    await chat.say("Fir", "st.")
    await chat.emit(items=[done], usage=Usage(input_tokens=4, output_tokens=1, total_tokens=5))
    await chat.say("Sec", "ond, cut", item_id="msg_2")


async def takes_back(chat: Chat) -> None:
    """A stream that was retried."""
    await chat.say("wrong", item_id="msg_1")
    await chat.emit(ItemDiscarded(item_id="msg_1"))
    await chat.say("right", item_id="msg_2")


async def forgets_ids(chat: Chat) -> None:
    """A message whose item is kept under no id."""
    await chat.say("Said.", item_id="msg_1")
    await chat.emit(items=[{"role": "assistant", "content": "Said."}])


async def runs_tools(chat: Chat) -> None:
    """One call that was answered, one that runs, one whose arguments are still streaming."""
    for call_id in ("done", "runs"):
        await chat.emit(
            ToolCallStarted(call_id=call_id, name="run"),
            items=[call(call_id)],
            tool_calls=[
                ToolCallRecord(call_id=call_id, name="run", arguments={}, status="running")
            ],
        )
    await chat.emit(
        ToolCallOutput(call_id="done", name="run", status="ok"),
        items=[output("done")],
        tool_calls=[ToolCallRecord(call_id="done", name="run", status="ok", output="ok")],
    )
    await chat.emit(ToolCallStarted(call_id="streams", name="run"))


async def emitted_the_end(chat: Chat) -> None:
    """The end's event was kept; the turn itself was not marked."""
    await chat.emit(TextDelta(item_id="msg_1", delta="Done."), FinalReply(text="Done."))
    await chat.emit(TurnCompleted(duration_ms=1, usage=Usage()))


SCENARIOS: dict[str, Callable[[Chat], Awaitable[None]]] = {
    scenario.__name__: scenario
    for scenario in (
        streams_for_ever,
        speaks,
        takes_back,
        forgets_ids,
        runs_tools,
        emitted_the_end,
    )
}


async def main(path: str, scenario: str) -> None:
    """Play the scenario in a new session, then wait for the end."""
    chat = await Chat.new(Store(url(Path(path))), scenario)
    await chat.start(items=[USER])
    print(chat.session_id, flush=True)
    await SCENARIOS[scenario](chat)
    print("played", flush=True)
    await asyncio.Event().wait()


class Server:
    """The program, running."""

    def __init__(self, path: Path, scenario: str) -> None:
        command = [sys.executable, "-m", __name__, str(path), scenario]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.session_id = self.line()

    def line(self) -> str:
        """The next line that it says."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def kill(self) -> list[str]:
        """End it as ``kill -9`` does; what it had said and nobody had read."""
        self._process.kill()
        rest, _ = self._process.communicate()
        return rest.split()


def crash(path: Path, scenario: str) -> str:
    """Let a server play the scenario and kill it; the session's id."""
    server = Server(path, scenario)
    assert server.line() == "played"
    server.kill()
    return server.session_id


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
