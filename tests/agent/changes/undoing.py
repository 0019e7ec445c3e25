"""A live session over real files, SQLite and pages, in which turns change notebooks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import nbformat

from jupyter_datalayer_agent.agent.changes.checkpoints import recorded
from jupyter_datalayer_agent.agent.history import user_item
from jupyter_datalayer_agent.agent.runtime import Runtime
from jupyter_datalayer_agent.agent.session.actor import LiveSession
from jupyter_datalayer_agent.agent.session.registry import load
from jupyter_datalayer_agent.notebook.service import NotebookService
from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.cells import CellEdit
from jupyter_datalayer_agent.protocol.events import (
    DocumentChanged,
    TurnCompleted,
    TurnStarted,
)
from jupyter_datalayer_agent.protocol.ops import Keep, Op, Undo
from jupyter_datalayer_agent.protocol.requests import ChatRequest, Usage
from jupyter_datalayer_agent.protocol.tools import Change
from jupyter_datalayer_agent.settings.turn_settings import Settings
from jupyter_datalayer_agent.store import Store
from tests.notebook.support import World, world
from tests.store.chats import open_store

ANSWERS = ("changes_undone", "changes_kept", "error")


class Chat:
    """A session, and what is done in it."""

    def __init__(self, w: World, store: Store, session: LiveSession) -> None:
        self.world = w
        self.store = store
        self.session = session
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def listen(self) -> None:
        last = await self.store.events.last_seq(self.session.id)

        def on_entry(entry: Any) -> None:
            if entry.type in ANSWERS:
                self.answers.put_nowait(json.loads(entry.text))

        await self.session.state.channel.subscribe(on_entry, last)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[TurnActs]:
        """A turn of the agent, begun and ended as a real one is."""
        turn_id = new_id("turn")
        session = self.session

        await self.store.turns.start(
            session_id=session.id,
            turn_id=turn_id,
            mode="agent",
            notebook_mode="full",
            location="panel",
            request=ChatRequest(message="Do it"),
            events=[TurnStarted(mode="agent", notebook_mode="full", tools=[])],
        )
        service = recorded(self.world.service, self.store, turn_id)
        yield TurnActs(self, turn_id, service)
        session.state.history.add([user_item("Do it")])
        ended = TurnCompleted(duration_ms=1, usage=Usage())
        await self.store.turns.finish(turn_id, status="completed", events=[ended])

    async def turn_that_creates(self, *edits: CellEdit) -> tuple[TurnActs, str]:
        """A turn that creates a notebook with these edits; the turn and the path."""
        async with self.turn() as turn:
            path = await turn.notebooks.create("made.ipynb")
            await turn.edit(*edits, path=path)
        return turn, path

    async def edit(self, *edits: CellEdit, path: str = "a.ipynb") -> None:
        """The user's edits."""
        await (await self.world.service.open(path)).edit(edits)

    async def op(self, op: Op) -> dict[str, Any]:
        """Submit an op; the event that answers it."""
        self.session.submit(op)
        return await self.answers.get()

    async def undo(self, turn: TurnActs, *cell_ids: str, overwrite: bool = False) -> dict[str, Any]:
        ids = list(cell_ids) or None
        return await self.op(Undo(turn_id=turn.id, cell_ids=ids, overwrite=overwrite))

    async def keep(self, turn: TurnActs, *cell_ids: str) -> dict[str, Any]:
        return await self.op(Keep(turn_id=turn.id, cell_ids=list(cell_ids) or None))

    async def restart(self) -> None:
        """Load the session anew, as a server that starts does."""
        await self.session.close()
        self.session = await load(self.session.state.runtime, self.session.id)
        await self.listen()

    async def states(self, turn: TurnActs) -> dict[str, str]:
        """What became of each cell."""
        states = await self.store.checkpoints.states(turn.id)
        return {cell_id: state for (_, cell_id), state in states.items()}

    def cells(self, path: str = "a.ipynb") -> list[dict[str, Any]]:
        """The cells on disk, as nbformat reads them."""
        return [dict(cell) for cell in nbformat.read(self.world.root / path, as_version=4).cells]

    def sources(self, path: str = "a.ipynb") -> dict[str, str]:
        return {cell["id"]: cell["source"] for cell in self.cells(path)}


class TurnActs:
    """What a turn does."""

    def __init__(self, chat: Chat, turn_id: str, notebooks: NotebookService) -> None:
        self.chat = chat
        self.id = turn_id
        self.notebooks = notebooks

    async def edit(self, *edits: CellEdit, path: str = "a.ipynb") -> list[Change]:
        document = await self.notebooks.open(path)
        changes = (await document.edit(edits)).changes
        event = DocumentChanged(path=path, changes=changes)
        session_id = self.chat.session.id
        await self.chat.store.events.append(session_id, self.id, events=[event], changes=changes)
        return changes

    async def run(self, *cell_ids: str, path: str = "a.ipynb") -> None:
        document = await self.notebooks.open(path)
        await document.run(cell_ids, timeout=60)


@asynccontextmanager
async def chat(tmp_path: Path, **options: Any) -> AsyncIterator[Chat]:
    """A new session over a new root and a new database."""
    async with world(tmp_path, **options) as w, open_store(tmp_path / "agent.db") as store:
        w.root.mkdir(exist_ok=True)
        runtime = Runtime(
            store=store,
            model=cast(Any, None),
            registry=cast(Any, None),
            pages=w.pages,
            notebooks=w.service,
            settings=Settings,
            resolve_model=cast(Any, None),
            supports_vision=cast(Any, None),
            templates=cast(Any, None),
            find_fixes=cast(Any, None),
            service_registry=cast(Any, None),
            router=cast(Any, None),
        )
        session = await load(runtime, (await store.sessions.create()).id)
        talk = Chat(w, store, session)
        await talk.listen()
        try:
            yield talk
        finally:
            await talk.session.close()
