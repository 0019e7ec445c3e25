"""What becomes of a turn's changes, on real files, pages and a real database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError

from jupyter_datalayer_agent.agent.asker import PAGE
from jupyter_datalayer_agent.agent.changes import undo as undo_module
from jupyter_datalayer_agent.agent.session.actor import QueuedOp
from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import source_hash
from jupyter_datalayer_agent.protocol.cells import CellPosition, DeleteCell, MoveCell, UpdateCell
from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.events import TurnStarted
from jupyter_datalayer_agent.protocol.ops import Keep, Reset, Undo
from jupyter_datalayer_agent.protocol.page import PageRequest
from jupyter_datalayer_agent.protocol.requests import ChatRequest
from tests.notebook.support import ScriptedPage, code, insert, markdown, write_notebook
from tests.store.chats import rows

from .undoing import Chat, chat

A_B_C = [code("a", "a"), code("b", "b"), markdown("c", "c")]


def update(cell_id: str, old: str, new: str | None = None, **more: Any) -> UpdateCell:
    return UpdateCell(cell_id=cell_id, base_hash=source_hash(old), source=new, **more)


def delete(cell_id: str, old: str) -> DeleteCell:
    return DeleteCell(cell_id=cell_id, base_hash=source_hash(old))


def move(cell_id: str, **position: Any) -> MoveCell:
    return MoveCell(cell_id=cell_id, position=CellPosition(**position))


async def test_a_cell_that_both_changed_stays_and_the_user_decides(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"), update("b", "b", "agent"))
            await turn.edit(insert("n", "new"))
        await c.edit(update("a", "agent", "user"), update("n", "new", "new, mine"))
        event = await c.undo(turn)

        assert event["ofTurnId"] == event["turnId"] == turn.id
        assert c.sources() == {"a": "user", "b": "b", "c": "c", "n": "new, mine"}
        path = "a.ipynb"
        assert event["conflicts"] == [
            {"path": path, "cellId": "a", "before": "a", "after": "agent", "now": "user"},
            {"path": path, "cellId": "n", "after": "new", "now": "new, mine"},
        ]
        assert event["cellIds"] == ["b"]
        assert [(e["op"], e["cellId"], e["after"]) for e in event["changes"]] == [
            ("update", "b", "b")
        ]
        assert await c.states(turn) == {"a": "open", "b": "undone", "n": "open"}

        assert (await c.keep(turn, "a"))["cellIds"] == ["a"]
        event = await c.undo(turn, "n", overwrite=True)
        assert event["conflicts"] == []
        assert c.sources() == {"a": "user", "b": "b", "c": "c"}
        assert await c.states(turn) == {"a": "kept", "b": "undone", "n": "undone"}


async def test_what_the_user_moved_stays_there_and_deleted_cells_come_back_to_neighbours(
    tmp_path: Path,
) -> None:
    cells = [code(each, each) for each in "abcdef"]
    cells[2] |= {"outputs": [], "execution_count": 4, "metadata": {"tags": ["t"]}}
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, cells)
        async with c.turn() as turn:
            await turn.edit(delete("c", "c"), move("a", at="end"), move("f", at="start"))
        assert list(c.sources()) == ["f", "b", "d", "e", "a"]
        await c.edit(move("f", after="d"), move("e", at="start"), insert("p", "mine", after="b"))
        event = await c.undo(turn)
        assert event["conflicts"] == []
        # f was moved again by the user, and e is where they put it.
        assert list(c.sources()) == ["e", "a", "b", "c", "p", "d", "f"]
        assert c.world.cell_on_disk("c")["metadata"] == {"tags": ["t"]}
        assert c.world.cell_on_disk("c")["execution_count"] == 4


async def test_an_older_turn_is_undone_and_later_turns_count_as_since(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as first:
            await first.edit(update("a", "a", "one"), update("b", "b", "one"))
        async with c.turn() as second:
            await second.edit(update("b", "one", "two"), insert("n", "two"))
        event = await c.undo(first)
        assert [each["cellId"] for each in event["conflicts"]] == ["b"]
        assert c.sources() == {"a": "a", "b": "two", "c": "c", "n": "two"}
        await c.restart()
        assert "conflicts" in await c.undo(second)
        assert c.sources() == {"a": "a", "b": "one", "c": "c"}
        assert (await c.undo(first))["conflicts"] == []
        assert c.sources() == {"a": "a", "b": "b", "c": "c"}
        # A reload shows what became of a turn with that turn, whatever came after it.
        turns = (await c.store.turn_reader.list_page(c.session.id, include_events=True)).turns
        kinds = [[event["type"] for event in turn.events or []] for turn in turns]
        assert kinds[0].count("changes_undone") == 2
        assert kinds[1].count("changes_undone") == 1
        for turn in turns:
            numbers = [event["seq"] for event in turn.events or []]
            assert numbers == sorted(set(numbers))


async def test_what_the_user_typed_between_two_changes_of_a_turn_is_kept(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
            await c.edit(update("a", "agent", "agent, and the user"))
            await turn.edit(delete("a", "agent, and the user"))
        event = await c.undo(turn)
        assert c.sources()["a"] == "agent, and the user"
        assert [each["now"] for each in event["conflicts"]] == ["agent, and the user"]


async def test_outputs_of_a_run_are_undone_and_the_kernel_is_reported_to_stay(
    tmp_path: Path,
) -> None:
    old = {"output_type": "stream", "name": "stdout", "text": "old\n"}
    async with chat(tmp_path) as c:
        cells = [
            code("a", "print('new')", outputs=[old], execution_count=9),
            code("b", "1/0"),
            markdown("m", "text"),
        ]
        write_notebook(c.world.root, cells)
        async with c.turn() as turn:
            await turn.run("a", "m", "b")
        assert c.world.cell_on_disk("a")["outputs"][0]["text"] == ["new\n"]
        assert c.world.cell_on_disk("b")["outputs"]
        assert await c.states(turn) == {"a": "open", "b": "open"}
        await c.restart()
        event = await c.undo(turn)
        assert "kernel" in event["note"]
        # The page says that they were restored.
        assert [(each["op"], each["cellId"]) for each in event["changes"]] == [
            ("update", "a"),
            ("update", "b"),
        ]
        assert c.world.cell_on_disk("a")["outputs"] == [old | {"text": ["old\n"]}]
        assert c.world.cell_on_disk("a")["execution_count"] == 9
        assert c.world.cell_on_disk("b")["outputs"] == []


async def test_through_a_page_it_is_one_batch_and_typing_elsewhere_is_kept(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        file = write_notebook(c.world.root, A_B_C)
        on_disk = file.read_bytes()
        page = ScriptedPage(c.world.pages).connect().open("a.ipynb", A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"), delete("b", "b"))
            await turn.edit(move("c", at="start"), insert("n", "n"))
        page.notebooks["a.ipynb"][-1]["source"] = "n"
        await c.edit(insert("p", "typed, not saved"))
        page.requests.clear()
        event = await c.undo(turn)
        assert event["conflicts"] == []
        assert page.methods().count("notebook.edit") == 1
        assert [(e["id"], e["source"]) for e in page.notebooks["a.ipynb"]] == [
            ("a", "a"),
            ("b", "b"),
            ("c", "c"),
            ("p", "typed, not saved"),
        ]
        assert file.read_bytes() == on_disk


async def test_typing_between_the_look_and_the_change_is_not_overwritten(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        page = ScriptedPage(c.world.pages).connect().open("a.ipynb", A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"), update("b", "b", "agent"))
        act = page._act

        async def act_late(request: PageRequest) -> Any:
            if request.method == "notebook.edit" and "typed" not in str(page.notebooks):
                page.notebooks["a.ipynb"][0] = code("a", "typed")
            return await act(request)

        page._act = act_late  # type: ignore[method-assign]
        event = await c.undo(turn)
        assert [each["now"] for each in event["conflicts"]] == ["typed"]
        assert [each["source"] for each in page.notebooks["a.ipynb"]] == ["typed", "b", "c"]


async def test_a_page_that_goes_away_leaves_everything_or_nothing(tmp_path: Path) -> None:
    async with chat(tmp_path, return_seconds=0.05) as c:
        file = write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"), delete("b", "b"))
        page = ScriptedPage(c.world.pages).connect().open("a.ipynb", c.cells())
        page.silent = {"notebook.edit"}
        undoing = asyncio.ensure_future(c.undo(turn))
        while "notebook.edit" not in page.methods():
            page.asked.clear()
            await page.asked.wait()
        page.disconnect()
        event = await undoing
        assert event["type"] == "changes_undone"
        assert c.sources() == {"a": "a", "b": "b", "c": "c"}
        assert file.exists()


async def test_a_page_that_did_it_but_could_not_save_says_so(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        page = ScriptedPage(c.world.pages).connect().open("a.ipynb", A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
        edit = page._edit

        def edit_unsaved(params: Any) -> Any:
            edit(params)
            raise DocumentError("internal", "stands in the page, but is not saved")

        page._edit = edit_unsaved  # type: ignore[method-assign]
        event = await c.undo(turn)
        assert event["type"] == "changes_undone"
        assert "not saved" in event["note"]
        assert page.notebooks["a.ipynb"][0]["source"] == "a"


class Locked(AsyncLargeFileManager):
    """Files that cannot be written, or deleted, while they are ``locked``."""

    locked: set[str] = set()

    async def save(self, model: Any, path: str = "") -> Any:
        if path in self.locked:
            raise HTTPError(500, f"{path} is locked")
        return await super().save(model, path)

    async def delete_file(self, path: str) -> Any:
        if path in self.locked:
            raise HTTPError(500, f"{path} is locked")
        return await super().delete_file(path)


@pytest.fixture
def locked() -> Any:
    Locked.locked = set()
    yield Locked.locked
    Locked.locked = set()


async def test_an_undo_that_fails_half_way_leaves_nothing_done(
    tmp_path: Path, locked: set[str]
) -> None:
    async with chat(tmp_path, contents_class=Locked) as c:
        for path in ("a.ipynb", "b.ipynb"):
            write_notebook(c.world.root, A_B_C, path)
        async with c.turn() as turn:
            for path in ("a.ipynb", "b.ipynb"):
                await turn.edit(
                    update("a", "a", "agent"),
                    delete("b", "b"),
                    insert("n", "n", at="start"),
                    path=path,
                )
        after = [c.cells("a.ipynb"), c.cells("b.ipynb")]
        locked.add("b.ipynb")
        event = await c.undo(turn)
        assert event["type"] == "error"
        assert event["message"].startswith("Nothing was undone")
        assert "locked" in event["message"]
        assert [c.cells("a.ipynb"), c.cells("b.ipynb")] == after
        assert set((await c.states(turn)).values()) == {"open"}

        locked.clear()
        assert (await c.undo(turn))["conflicts"] == []
        assert c.sources("a.ipynb") == c.sources("b.ipynb") == {"a": "a", "b": "b", "c": "c"}


async def test_where_even_that_fails_it_says_which_document_was_changed(
    tmp_path: Path, locked: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat(tmp_path, contents_class=Locked) as c:
        for path in ("a.ipynb", "b.ipynb"):
            write_notebook(c.world.root, A_B_C, path)
        async with c.turn() as turn:
            for path in ("a.ipynb", "b.ipynb"):
                await turn.edit(update("a", "a", "agent"), path=path)
        locked.add("b.ipynb")
        reverse = undo_module._Undoing._reverse

        async def reverse_locked(self: Any, path: str, spans: Any) -> None:
            locked.add("a.ipynb")
            await reverse(self, path, spans)

        monkeypatch.setattr(undo_module._Undoing, "_reverse", reverse_locked)
        event = await c.undo(turn)
        assert event["type"] == "error"
        assert "took effect in a.ipynb" in event["message"]


async def test_an_undo_that_cannot_be_written_down_is_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"), move("c", at="start"))
        after = c.cells()

        async def full(*args: Any, **more: Any) -> None:
            raise AgentError("internal", "The disk is full.")

        with monkeypatch.context() as patch:
            patch.setattr(c.store.checkpoints, "settle", full)
            event = await c.undo(turn)
        assert (event["type"], event["message"]) == ("error", "The disk is full.")
        assert c.cells() == after
        assert (await c.undo(turn))["conflicts"] == []
        assert c.sources() == {"a": "a", "b": "b", "c": "c"}


async def test_a_change_that_cannot_be_recorded_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)

        async def full(*args: Any) -> None:
            raise AgentError("internal", "The disk is full.")

        async with c.turn() as turn:
            monkeypatch.setattr(c.store.checkpoints, "save", full)
            with pytest.raises(Exception, match="disk is full"):
                await turn.edit(update("a", "a", "agent"))
        assert c.sources()["a"] == "a"


async def test_the_checkpoint_is_in_the_database_before_the_change_is_made(tmp_path: Path) -> None:
    database = tmp_path / "agent.db"
    seen: list[int] = []

    class Watching(AsyncLargeFileManager):
        async def save(self, model: Any, path: str = "") -> Any:
            seen.extend(rows(database, "SELECT count(*) FROM checkpoint_cells")[0])
            return await super().save(model, path)

    async with chat(tmp_path, contents_class=Watching) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
            await turn.edit(delete("b", "b"))
    assert seen == [1, 2]


async def test_a_refused_edit_leaves_nothing_to_undo(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            with pytest.raises(Exception, match="changed since"):
                await turn.edit(update("a", "older text", "agent"))
        event = await c.undo(turn)
        assert (event["type"], event["code"]) == ("error", "not_found")


async def test_a_notebook_that_the_turn_made_is_deleted_with_all_that_it_put_there(
    tmp_path: Path,
) -> None:
    async with chat(tmp_path) as c:
        async with c.turn() as turn:
            path = await turn.notebooks.create("made.ipynb")
            await turn.edit(insert("n", "1"), path=path)
            await turn.edit(update("n", "1", "2"), path=path)
        c.session.state.created.append(path)
        event = await c.undo(turn)
        assert not (c.world.root / path).exists()
        assert event["changes"] == [{"path": path, "op": "delete"}]
        assert c.session.state.created == []
        assert await c.states(turn) == {"": "undone", "n": "undone"}


async def test_a_notebook_that_the_turn_made_stays_where_somebody_else_wrote_in_it(
    tmp_path: Path,
) -> None:
    async with chat(tmp_path) as c:
        turn, path = await c.turn_that_creates(insert("n", "1"))
        await c.edit(insert("p", "mine"), path=path)
        event = await c.undo(turn)
        assert c.sources(path) == {"p": "mine"}
        assert event["conflicts"] == []
        assert await c.states(turn) == {"": "kept", "n": "undone"}


async def test_a_notebook_that_the_turn_made_is_deleted_when_its_last_conflict_is_decided(
    tmp_path: Path,
) -> None:
    async with chat(tmp_path) as c:
        turn, path = await c.turn_that_creates(insert("n", "1"), insert("m", "1"))
        await c.edit(update("n", "1", "1, mine"), update("m", "1", "1, mine"), path=path)
        assert len((await c.undo(turn))["conflicts"]) == 2
        await c.undo(turn, "n", overwrite=True)
        assert c.sources(path) == {"m": "1, mine"}
        event = await c.undo(turn, "m", overwrite=True)
        assert event["changes"] == [{"path": path, "op": "delete"}]
        assert not (c.world.root / path).exists()
        assert await c.states(turn) == {"": "undone", "n": "undone", "m": "undone"}


async def test_a_page_that_shows_it_deletes_the_notebook_itself(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        page = ScriptedPage(c.world.pages).connect()
        async with c.turn() as turn:
            path = await turn.notebooks.create("made.ipynb")
            # JupyterLab puts an empty cell into an empty notebook.
            page.open(path, [code("blank", "")])
            await turn.edit(insert("n", "1"), path=path)
        act = page._act

        async def act_and_delete(request: PageRequest) -> Any:
            if request.method == "document.delete":
                (c.world.root / path).unlink()
                page.close_notebook(path)
                return None
            return await act(request)

        page._act = act_and_delete  # type: ignore[method-assign]
        event = await c.undo(turn)
        assert event["changes"] == [{"path": path, "op": "delete"}]
        assert "document.delete" in page.methods()
        assert not (c.world.root / path).exists()


@pytest.mark.parametrize("changed", [False, True])
async def test_a_file_that_the_turn_made_is_deleted_unless_it_was_changed(
    tmp_path: Path, changed: bool
) -> None:
    async with chat(tmp_path) as c:
        async with c.turn() as turn:
            path = await turn.notebooks.create_file("made.lexical", "{}")
        if changed:
            (c.world.root / path).write_text("mine")
        event = await c.undo(turn)
        assert (c.world.root / path).exists() is changed
        assert [each["now"] for each in event["conflicts"]] == (["mine"] if changed else [])


async def test_a_notebook_that_is_gone_is_reported_and_nothing_is_settled(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        file = write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
        file.rename(file.with_name("renamed.ipynb"))
        event = await c.undo(turn)
        assert (event["type"], event["code"]) == ("error", "not_found")
        assert "renamed" in event["message"]
        assert await c.states(turn) == {"a": "open"}


async def test_kept_changes_are_settled_and_their_data_goes(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"), update("b", "b", "agent"))
        event = await c.keep(turn, "a")
        assert (event["type"], event["ofTurnId"], event["cellIds"]) == (
            "changes_kept",
            turn.id,
            ["a"],
        )
        assert await c.states(turn) == {"a": "kept", "b": "open"}
        assert (await c.keep(turn)).get("cellIds") is None
        kept = rows(tmp_path / "agent.db", "SELECT before, cell_left FROM checkpoint_cells")
        assert kept == [(None, None)] * 2
        assert rows(tmp_path / "agent.db", "SELECT * FROM checkpoints") == []
        for op in (Undo(turn_id=turn.id), Keep(turn_id=turn.id)):
            event = await c.op(op)
            assert (event["type"], event["code"]) == ("error", "invalid_request")
            assert "already kept" in event["message"]
        assert c.sources()["a"] == "agent"


async def test_the_model_is_notified_and_must_read_the_cells_again(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
        async with c.turn():
            pass
        for cell_id in ("a", "b"):
            c.session.state.seen.note_hash("a.ipynb", cell_id, "hash")
        before = c.session.state.history.items()
        await c.undo(turn)
        items = c.session.state.history.items()
        assert items[:-1] == before
        assert "took changes of yours back: in a.ipynb the cells a are" in str(items[-1])
        assert c.session.state.seen.base("a.ipynb", "a") is None
        assert c.session.state.seen.base("a.ipynb", "b") == "hash"
        await c.restart()
        assert c.session.state.history.items()[-1] == items[-1]


async def test_while_a_turn_runs_nothing_is_undone(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
        c.session.state.turn = object()  # type: ignore[assignment]
        for op in (Undo(turn_id=turn.id), Keep(turn_id=turn.id)):
            event = await c.op(op)
            assert (event["type"], event["code"]) == ("error", "turn_in_progress")
        c.session.state.turn = None
        assert c.sources()["a"] == "agent"


async def test_a_document_on_which_another_conversation_works_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_module, "LOCK_SECONDS", 0.05)
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
        async with c.world.service.lock("a.ipynb"):
            event = await c.undo(turn)
        assert (event["type"], event["code"]) == ("error", "turn_in_progress")
        assert c.sources()["a"] == "agent"
        assert (await c.undo(turn))["type"] == "changes_undone"


async def test_a_turn_or_cell_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        async with c.turn() as turn:
            await turn.edit(update("a", "a", "agent"))
        other = await c.store.sessions.create()
        event = await c.undo(turn, "b")
        assert (event["type"], event["code"]) == ("error", "not_found")
        for turn_id in ("nothing", await turn_elsewhere(c, other.id)):
            with pytest.raises(AgentError) as refused:
                await c.session.check(Undo(turn_id=turn_id), PAGE)
            assert refused.value.code == "not_found"


async def turn_elsewhere(c: Chat, session_id: str) -> str:
    event = TurnStarted(mode="agent", notebook_mode="off", tools=[])
    event.seq = 1
    await c.store.turns.start(
        session_id=session_id,
        turn_id="elsewhere",
        mode="agent",
        notebook_mode="off",
        location="panel",
        request=ChatRequest(message="x"),
        events=[event],
    )
    return "elsewhere"


async def test_a_reset_and_a_deleted_session_take_their_checkpoints_with_them(
    tmp_path: Path,
) -> None:
    async with chat(tmp_path) as c:
        write_notebook(c.world.root, A_B_C)
        tables = ("checkpoints", "checkpoint_cells", "later_events")

        async def one_turn() -> None:
            async with c.turn() as turn:
                await turn.edit(update("a", c.sources()["a"], "agent"))
                await turn.edit(update("b", c.sources()["b"], f"agent {turn.id}"))
            await c.keep(turn, "b")

        await one_turn()
        assert all(rows(tmp_path / "agent.db", f"SELECT * FROM {each}") for each in tables)
        await c.session._handle(QueuedOp("op_reset", Reset()))
        assert not any(rows(tmp_path / "agent.db", f"SELECT * FROM {each}") for each in tables)
        await c.edit(update("a", "agent", "a"))
        await one_turn()
        await c.store.sessions.delete(c.session.id)
        assert not any(rows(tmp_path / "agent.db", f"SELECT * FROM {each}") for each in tables)
