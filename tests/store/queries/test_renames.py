"""Renames in the database: of documents of this server's root, and of no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.datasets import Dataset, DatasetReport
from jupyter_datalayer_agent.protocol.events import DocumentChanged
from jupyter_datalayer_agent.protocol.renames import Rename
from jupyter_datalayer_agent.protocol.requests import ChatRequest, Usage
from jupyter_datalayer_agent.protocol.tools import Change
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.queries import renames as queries
from jupyter_datalayer_agent.store.records import CheckpointCell, CheckpointPart
from tests.store.chats import url


async def changed(store: Store, *paths: str) -> tuple[str, str]:
    """A session with a turn that changed a cell in each of these documents."""
    session = (await store.sessions.create()).id
    turn = new_id("turn")
    await store.turns.start(
        session_id=session,
        turn_id=turn,
        mode="agent",
        notebook_mode="full",
        location="panel",
        request=ChatRequest(message="Do it", active_notebook=paths[0]),
    )
    for path in paths:
        part = CheckpointPart(
            path=path, span=0, orders=([], ["c"]), added=[CheckpointCell("c", None, None)]
        )
        await store.checkpoints.save(turn, part)
        change = Change(path=path, op="insert", cell_id="c", after=f"'{path}'")
        event = DocumentChanged(path=path, changes=[change])
        await store.events.append(session, turn, events=[event], changes=[change])
    await store.turns.finish(turn, status="completed", usage=Usage())
    return session, turn


async def paths_of(store: Store, turn: str) -> list[str]:
    return [span.path for span in await store.checkpoints.open_spans(turn)]


async def test_a_rename_concerns_the_turns_of_servers_with_the_same_root(tmp_path: Path) -> None:
    address = url(tmp_path / "agent.db")
    here, there = Store(address, root="/here"), Store(address, root="/there")
    again = Store(address, root="/here")
    rename = Rename("Untitled.ipynb", "sales.ipynb")
    try:
        own, own_turn = await changed(here, "Untitled.ipynb")
        _, other_turn = await changed(there, "Untitled.ipynb")
        sent = await again.renames.apply(rename, [], [{"type": "message"}])
        assert sent == {own: True}
        assert await paths_of(again, own_turn) == ["sales.ipynb"]
        assert await paths_of(again, other_turn) == ["Untitled.ipynb"]
        turn = await again.turn_reader.get(own_turn, include_events=True)
        assert [each.path for each in turn.changes] == ["sales.ipynb"]
        assert turn.changes[0].after == "'Untitled.ipynb'"
        assert {event["path"] for event in turn.events or []} == {"sales.ipynb"}
        assert turn.items[-1] == {"type": "message"}
    finally:
        for store in (here, there, again):
            await store.close()


async def test_what_was_changed_in_a_replaced_document_is_settled(tmp_path: Path) -> None:
    store = Store(url(tmp_path / "agent.db"), root="/here")
    try:
        _, turn = await changed(store, "a.ipynb", "b.ipynb", "f/b.ipynb")
        await store.renames.apply(Rename("a.ipynb", "b.ipynb"), [], [])
        assert await paths_of(store, turn) == ["b.ipynb", "f/b.ipynb"]
        assert await store.checkpoints.states(turn) == {
            ("b.ipynb", "c"): "open",
            ("f/b.ipynb", "c"): "open",
        }
        # A folder that takes the place of another one.
        await store.renames.apply(Rename("f", "g"), [], [])
        assert await paths_of(store, turn) == ["b.ipynb", "g/b.ipynb"]
        # Another turn's changes of what is replaced are kept, as they cannot be reverted.
        _, later = await changed(store, "x.ipynb")
        await store.renames.apply(Rename("x.ipynb", "b.ipynb"), [], [])
        assert await paths_of(store, turn) == ["g/b.ipynb"]
        assert (await store.checkpoints.states(turn))["b.ipynb", "c"] == "kept"
        assert await paths_of(store, later) == ["b.ipynb"]
    finally:
        await store.close()


async def test_names_with_wildcards_and_quotes_rename_themselves_only(tmp_path: Path) -> None:
    store = Store(url(tmp_path / "agent.db"))
    try:
        odd = 'a_%"ä\\.ipynb'
        _, turn = await changed(store, odd, "aXY.ipynb", "a_%")
        await store.renames.apply(Rename(odd, "b'.ipynb"), [], [])
        assert await paths_of(store, turn) == ["aXY.ipynb", "a_%", "b'.ipynb"]
        changes = (await store.turn_reader.get(turn)).changes
        assert [each.path for each in changes] == ["b'.ipynb", "aXY.ipynb", "a_%"]
    finally:
        await store.close()


async def test_renames_are_kept_for_servers_of_the_same_root_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_KEPT", 3)
    address = url(tmp_path / "agent.db")
    here, there = Store(address, root="/here"), Store(address, root="/there")
    again = Store(address, root="/here")
    try:
        await here.renames.apply(Rename("a", "b", at=10), [], [])
        await here.renames.note(Rename("b", "", at=20))
        await there.renames.apply(Rename("x", "y", at=15), [], [])
        assert await again.renames.after(0) == [Rename("a", "b"), Rename("b", "")]
        assert [each.at for each in await again.renames.after(10)] == [20]
        assert await there.renames.after(0) == [Rename("x", "y")]
        for at in range(30, 90):
            await here.renames.apply(Rename(f"a{at}", f"a{at + 1}", at=at), [], [])
        assert [each.at for each in await again.renames.after(0)] == [87, 88, 89]
        assert await there.renames.after(0) == []
    finally:
        for store in (here, there, again):
            await store.close()


async def test_the_files_of_data_sets_follow_and_their_sessions_know(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "linked").symlink_to(root, target_is_directory=True)
    address = url(tmp_path / "agent.db")
    # The server's root may be named by a link; those of data sets are not.
    store, other = Store(address, root=str(tmp_path / "linked")), Store(address, root="/there")

    async def add(name: str, path: str, under: str = str(root)) -> None:
        report = DatasetReport(format="csv")
        made = Dataset(
            name=name, path=path, rows=1, columns=[], size=1, memory=1, source="x", report=report
        )
        await store.datasets.save(under, made, [])

    try:
        session = (await store.sessions.create()).id
        await add("sales", ".datalayer/datasets/sales.parquet")
        await add("sales", ".datalayer/datasets/sales.parquet", "/there")
        await add("cars", "data/old.parquet")
        await store.datasets.register(session, str(root), "sales")
        moved = Rename(".datalayer/datasets/sales.parquet", "data/new.parquet", at=1)
        assert list(await store.renames.apply(moved, [], [])) == [session]
        await store.renames.apply(Rename("data", "my data", at=2), [], [])
        paths = {each.name: each.path for each in await store.datasets.known(str(root))}
        assert paths == {"sales": "my data/new.parquet", "cars": "my data/old.parquet"}
        (elsewhere,) = await store.datasets.known("/there")
        assert elsewhere.path == ".datalayer/datasets/sales.parquet"
        # Another file has its place: the data set that was there is gone.
        await store.renames.apply(Rename("x.parquet", "my data/old.parquet", at=3), [], [])
        assert [each.name for each in await store.datasets.known(str(root))] == ["sales"]
    finally:
        await store.close()
        await other.close()
