"""Servers that are killed while they write: run as a program, which has everything imported and
makes a child for each story, so that a kill costs milliseconds.

A story is a list of steps; see ``STEPS``. The child says what it is about to do, and what it has
been acknowledged, one JSON object a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.events import SessionReset, WentBack
from jupyter_datalayer_agent.protocol.ops import UserMessage
from jupyter_datalayer_agent.protocol.plans import Plan
from jupyter_datalayer_agent.protocol.requests import ChatRequest, ToolCallRecord, Usage
from jupyter_datalayer_agent.protocol.tools import Change
from jupyter_datalayer_agent.store import Store, repositories
from jupyter_datalayer_agent.store.records import CheckpointCell, CheckpointPart

from .chats import Chat, url
from .samples import KINDS, sample

ENDS = {"turn_completed", "turn_aborted", "session_deleted"}
EVENTS = sorted(KINDS.keys() - ENDS)
assert repositories  # imported here, once for all children


def say(what: dict[str, Any]) -> None:
    """A line of the standard output, in one piece: parent and child write to the same one."""
    os.write(1, f"{json.dumps(what)}\n".encode())


class Teller:
    """A chat, and what of it was acknowledged."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self.store = chat.store
        self.queued: list[str] = []
        self.turns: list[str] = []
        self.count = 0

    async def turn(self) -> str:
        """The running turn, begun if need be."""
        if not self.chat.turn_id:
            await self.start()
        return self.chat.turn_id

    async def start(self) -> None:
        """Begin a turn, unless one runs."""
        if not self.chat.turn_id:
            item = {"type": "message", "role": "user", "content": "Load"}
            await self.chat.start(items=[item])
            self.turns.append(self.chat.turn_id)
            self.kept("turn", turn=self.chat.turn_id)

    async def end(self) -> None:
        """End the running turn."""
        turn = await self.turn()
        await self.chat.finish("All of it.")
        self.chat.turn_id = ""
        self.kept("ended", turn=turn)

    async def event(self, kind: str) -> None:
        """Tell something."""
        turn = await self.turn()
        await self.chat.emit(sample(kind))
        self.kept("event", seq=self.chat.seq, type=kind, turn=turn)

    async def belongings(self) -> None:
        """All that may come with an event, in one transaction."""
        turn, self.count = await self.turn(), self.count + 1
        name = f"call_{self.count}"
        await self.chat.emit(
            sample("status"),
            items=[{"type": "function_call", "call_id": name, "name": "run", "arguments": "{}"}],
            tool_calls=[ToolCallRecord(call_id=name, name="run", status="running")],
            changes=[Change(path=f"{name}.ipynb", op="create")],
            usage=Usage(total_tokens=10),
            model="m",
        )
        self.kept("belongings", turn=turn, call=name, seq=self.chat.seq)

    async def plan(self) -> None:
        """Keep a plan as it stands."""
        turn, self.count = await self.turn(), self.count + 1
        plan = Plan(task=f"Task {self.count}", steps=[])
        await self.store.plans.save(self.chat.session_id, turn, plan)
        self.kept("plan", turn=turn, task=plan.task)

    async def checkpoint(self) -> None:
        """Keep a cell as it was before a change."""
        turn, self.count = await self.turn(), self.count + 1
        cell = CheckpointCell(f"c{self.count}", {"source": "before"}, {"source": "after"})
        part = CheckpointPart(path="a.ipynb", span=self.count, orders=([], []), added=[cell])
        await self.store.checkpoints.save(turn, part)
        self.kept("checkpoint", turn=turn, cell=cell.cell_id)

    async def queue(self) -> None:
        """Let a message wait."""
        op = UserMessage(request=ChatRequest(message="Later"))
        op_id = new_id("op")
        await self.store.queue.save(self.chat.session_id, op_id, op)
        self.queued.append(op_id)
        self.kept("queued", op=op_id)

    async def dequeue(self) -> None:
        """Take one back."""
        if self.queued:
            op_id = self.queued.pop()
            self.about(undoes=op_id)
            await self.store.queue.remove(self.chat.session_id, op_id)
            self.kept("dequeued", op=op_id)

    async def back(self) -> None:
        """Go back to before the last turn."""
        if self.turns:
            await self.end()
            turn = self.turns.pop()
            event = WentBack(to_turn_id=turn, include_turn=True, withdrawn=[turn], documents=False)
            withdrawals = self.store.withdrawals
            await withdrawals.withdraw(self.chat.session_id, [turn], self.chat.timed(event), [])
            self.kept("event", seq=self.chat.seq, type="went_back", turn=None)
            self.kept("withdrawn", turn=turn)

    async def fork(self) -> None:
        """Copy all that has ended."""
        forks = self.store.forks
        copy = await forks.fork(self.chat.session_id, None, [])
        self.kept("session", id=copy.id, turns=copy.turn_count)

    async def rename(self) -> None:
        """Give it another title."""
        self.count += 1
        await self.store.sessions.update(self.chat.session_id, title=f"Title {self.count}")
        self.kept("title", title=f"Title {self.count}")

    async def reset(self) -> None:
        """Forget all of it."""
        await self.end()
        self.about(undoes="all")
        events = self.chat.timed(SessionReset())
        await self.store.sessions.reset(self.chat.session_id, events=events)
        self.turns.clear()
        self.kept("reset", seq=self.chat.seq)
        self.kept("event", seq=self.chat.seq, type="session_reset", turn=None)

    @staticmethod
    def about(**what: Any) -> None:
        """Say what is about to be done."""
        say({"about": what})

    @staticmethod
    def kept(kind: str, **what: Any) -> None:
        """Say what is kept."""
        say({"kept": kind, **what})


STEPS: dict[str, Callable[[Teller], Awaitable[None]]] = {
    **{kind: (lambda teller, kind=kind: teller.event(kind)) for kind in EVENTS},
    **{
        step.__name__: step
        for step in (
            Teller.start, Teller.end, Teller.belongings, Teller.plan, Teller.checkpoint,
            Teller.queue, Teller.dequeue, Teller.back, Teller.fork, Teller.rename, Teller.reset,
        )
    },
}  # fmt: skip


async def replay(path: str, steps: list[str]) -> None:
    """Play the steps in a new session, again and again, until it is killed."""
    chat = await Chat.new(Store(url(Path(path))))
    say({"session": chat.session_id})
    teller = Teller(chat)
    while True:
        for step in steps:
            await STEPS[step](teller)


def main() -> None:
    """A child for each line of the standard input."""
    for line in sys.stdin:
        story = json.loads(line)
        child = os.fork()
        if child == 0:
            asyncio.run(replay(story["path"], story["steps"]))
        say({"child": child})
        os.waitpid(child, 0)
        say({"dead": child})


class Nursery:
    """The program, running."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", __name__]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, text=True, **pipes)

    def run_and_kill(self, path: Path, steps: list[str], after: int) -> list[dict[str, Any]]:
        """Play the steps and kill the server once it acknowledged ``after`` things; all that it
        said, its session first."""
        assert self._process.stdin is not None
        print(json.dumps({"path": str(path), "steps": steps}), file=self._process.stdin, flush=True)
        child, said = 0, []
        while True:
            line = self._line()
            child = line.get("child", child)
            if "dead" in line:
                return said
            if "child" not in line:
                said.append(line)
            if child and sum("kept" in each for each in said) >= after and after >= 0:
                os.kill(child, signal.SIGKILL)
                after = -1

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line: dict[str, Any] = json.loads(self._process.stdout.readline())
        return line

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


if __name__ == "__main__":
    main()
