"""A user and turns on a real file and a real database, turns kept and taken back in between."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from jupyter_datalayer_agent.notebook.service import NotebookService
from jupyter_datalayer_agent.protocol.cells import SetOutputs
from tests.notebook.edits.undoing import (
    NOTEBOOKS,
    OPERATIONS,
    Notebook,
    notebook_cells,
    plain,
    shown,
)
from tests.notebook.support import check_valid, write_notebook

from .undoing import TurnActs, chat

# Reduce failures in ``tests.notebook.edits.test_undo_properties`` first: it is quick.
PROFILE = settings(
    max_examples=20,
    stateful_step_count=14,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
FILE = "a.ipynb"


class OnDisk(RuleBasedStateMachine):
    """As ``tests.notebook.edits.test_undo_properties``, through files, checkpoints and ops."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.open = AsyncExitStack()
        self.turns: list[TurnActs] = []
        self.typed: dict[str, str] = {}

    def do(self, doing: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(doing)

    def teardown(self) -> None:
        self.do(self.open.aclose())
        self.do(self.loop.shutdown_default_executor())
        self.loop.close()

    @initialize(kinds=NOTEBOOKS)
    def begin(self, kinds: list[str]) -> None:
        folder = Path(self.open.enter_context(tempfile.TemporaryDirectory()))
        self.chat = self.do(self.open.enter_async_context(chat(folder)))
        self.file = write_notebook(self.chat.world.root, notebook_cells(kinds))
        self.number = 1000

    def notebook(self) -> Notebook:
        """The notebook as it is on disk, to choose an edit of it."""
        loaded = self.do(self.chat.world.service.files.load(FILE))
        notebook = Notebook(plain(loaded.cells))
        self.number += 1
        notebook.number = self.number
        return notebook

    @rule(operations=st.lists(OPERATIONS, min_size=1, max_size=4), mine=st.none() | OPERATIONS)
    def a_turn_acts_and_the_user_in_the_midst_of_it(
        self, operations: list[tuple[str, int, int]], mine: tuple[str, int, int] | None
    ) -> None:
        self.do(self._turn(operations, mine))

    async def _turn(self, operations: Any, mine: Any) -> None:
        async with self.chat.turn() as turn:
            self.turns.append(turn)
            for index, operation in enumerate(operations):
                changed = await self._act(turn.notebooks, operation, "agent")
                self.typed.pop(changed or "", None)
                if index == 0 and mine is not None:
                    await self._user(mine)

    async def _act(
        self, service: NotebookService, operation: tuple[str, int, int], who: str
    ) -> str | None:
        """The id of a cell whose text may be another now."""
        loaded = await service.files.load(FILE)
        notebook = Notebook(plain(loaded.cells))
        self.number += 1
        notebook.number = self.number
        document = await service.open(FILE)
        if operation[0] in ("run", "clear"):
            cell_id = notebook.code_cell(operation[1])
            if cell_id is not None:
                await self._run(service, cell_id)
            return None
        edit = notebook.edit_for(operation, who)
        if edit is None:
            return None
        await document.edit([edit])
        return None if edit.op == "move" else edit.cell_id

    async def _run(self, service: NotebookService, cell_id: str) -> None:
        """What a run leaves, recorded as a run where the service records."""
        self.number += 1
        edit = SetOutputs(
            cell_id=cell_id, outputs=[shown(self.number)], execution_count=self.number
        )
        plain_document = await self.chat.world.service.open(FILE)
        if service._recorder is None:
            await plain_document.edit([edit])
            return
        async with service._recorder.run(plain_document, [cell_id]):
            await plain_document.edit([edit])

    @rule(operation=OPERATIONS)
    def the_user_acts(self, operation: tuple[str, int, int]) -> None:
        self.do(self._user(operation))

    async def _user(self, operation: tuple[str, int, int]) -> None:
        cell_id = await self._act(self.chat.world.service, operation, "user")
        if cell_id is None:
            return
        text = self.chat.sources().get(cell_id)
        self.typed.pop(cell_id, None)
        if text is not None and text.startswith("user"):
            self.typed[cell_id] = text

    @precondition(lambda self: self.turns)
    @rule(which=st.integers(0, 5), overwrite=st.sampled_from([False, False, True]))
    def a_turn_is_taken_back(self, which: int, overwrite: bool) -> None:
        turn = self.turns[which % len(self.turns)]
        settled = set(self.do(self.chat.states(turn)).values()) - {"open"}
        event = self.do(self.chat.undo(turn, overwrite=overwrite))
        states = self.do(self.chat.states(turn))
        if event["type"] == "error":
            assert not set(states.values()) - settled
            return
        contested = {each["cellId"] for each in event["conflicts"]}
        assert {cell for cell, state in states.items() if state == "open"} == contested
        if overwrite:
            assert not contested
            for cell_id in states:
                self.typed.pop(cell_id, None)

    @precondition(lambda self: self.turns)
    @rule(which=st.integers(0, 5), one=st.integers(0, 9))
    def one_cell_is_kept(self, which: int, one: int) -> None:
        turn = self.turns[which % len(self.turns)]
        states = self.do(self.chat.states(turn))
        ids = list(states)
        if ids:
            cell_id = ids[one % len(ids)]
            before = self.chat.cells()
            self.do(self.chat.keep(turn, cell_id))
            assert self.chat.cells() == before
            assert self.do(self.chat.states(turn))[cell_id] != "open"

    @rule()
    def the_server_starts_anew(self) -> None:
        self.do(self.chat.restart())

    @rule(operations=st.lists(OPERATIONS, max_size=4))
    def a_turn_taken_back_at_once_leaves_no_trace(
        self, operations: list[tuple[str, int, int]]
    ) -> None:
        before, typed = self.chat.cells(), dict(self.typed)
        self.do(self._turn(operations, None))
        self.do(self.chat.undo(self.turns[-1]))
        assert self.chat.cells() == before
        self.typed = typed

    def check_invariants(self, *args: Any, **more: Any) -> None:
        super().check_invariants(*args, **more)
        if not hasattr(self, "file"):
            return
        check_valid(self.file)
        sources = self.chat.sources()
        for cell_id, text in self.typed.items():
            assert sources.get(cell_id) == text


TestOnDisk = OnDisk.TestCase
TestOnDisk.settings = PROFILE
