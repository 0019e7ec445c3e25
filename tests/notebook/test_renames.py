"""The owner of renames, over real contents managers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)

from jupyter_datalayer_agent.notebook.renames import Renames
from jupyter_datalayer_agent.protocol.cells import CellPosition, InsertCell
from jupyter_datalayer_agent.protocol.renames import Rename
from tests.notebook.support import code, world, write_notebook


class Heard:
    def __init__(self) -> None:
        self.renames: list[Rename] = []

    def renamed(self, rename: Rename) -> None:
        self.renames.append(rename)


@pytest.mark.parametrize("manager", [AsyncLargeFileManager, LargeFileManager])
async def test_a_tracked_path_follows_through_renames_there_and_back(
    tmp_path: Path, manager: type[Any]
) -> None:
    contents = manager(root_dir=str(tmp_path))
    stored: list[Rename] = []

    async def record(rename: Rename) -> None:
        stored.append(rename)

    renames = Renames(record)
    renames.install(contents)
    heard = Heard()
    renames.follow(heard)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a.txt").touch()
    document, other = renames.track("f/a.txt"), renames.track("g/b.txt")

    await ensure_async(contents.update({"path": "/g"}, "/f/"))
    assert document.path == "g/a.txt"
    await ensure_async(contents.rename("g/a.txt", "g/b.txt"))
    assert document.path == "g/b.txt"
    assert await renames.newer_paths("f/a.txt") == ["g/b.txt"]
    assert await renames.newer_paths("g") == []
    later = renames.track("g/b.txt")
    await ensure_async(contents.rename("g", "f"))
    assert document.path == later.path == other.path == "f/b.txt"
    await ensure_async(contents.rename("f/b.txt", "f/a.txt"))
    assert await renames.newer_paths("f/a.txt") == []
    await renames.recorded()
    assert heard.renames == stored
    assert len(stored) == 4

    with pytest.raises(Exception, match=r"No such file|not exist|Cannot rename|Unknown error"):
        await ensure_async(contents.rename("missing", "elsewhere"))
    assert renames.count == 4


async def test_a_rename_waits_for_a_write_and_a_write_for_a_rename(tmp_path: Path) -> None:
    contents = AsyncLargeFileManager(root_dir=str(tmp_path))
    renames = Renames()
    renames.install(contents)
    (tmp_path / "a.txt").touch()
    document = renames.track("a.txt")
    async with renames.using(document) as path:
        renaming = asyncio.ensure_future(contents.rename("a.txt", "b.txt"))
        other = asyncio.ensure_future(contents.rename("b.txt", "c.txt"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert path == document.path == "a.txt"
        assert (tmp_path / "a.txt").exists()
        # Whoever holds a file may use it again.
        async with renames.using(document) as again:
            assert again == "a.txt"
        other.cancel()
        await asyncio.wait([other])
    await renaming
    async with renames.using(document) as path:
        assert path == "b.txt"


@pytest.mark.parametrize("manager", [AsyncLargeFileManager, LargeFileManager])
async def test_edits_beside_renames_never_bring_an_old_file_back(
    tmp_path: Path, manager: type[Any]
) -> None:
    async with world(tmp_path, contents_class=manager) as w:
        write_notebook(w.root, [code("a", "1")], "n0.ipynb")
        document = await w.service.open("n0.ipynb")

        async def rename() -> None:
            for n in range(12):
                await ensure_async(
                    w.service.contents_manager.rename(f"n{n}.ipynb", f"n{n + 1}.ipynb")
                )
                await asyncio.sleep(0.01)

        renaming = asyncio.ensure_future(rename())
        count = 0
        while not renaming.done():
            position = CellPosition(at="start")
            cell = InsertCell(cell_id=f"c{count}", type="code", source="2", position=position)
            await document.edit([cell])
            count += 1
        await renaming
        assert [path.name for path in w.root.glob("*.ipynb")] == ["n12.ipynb"]
        assert document.path == "n12.ipynb"
        assert len(w.on_disk("n12.ipynb")["cells"]) == count + 1


async def test_a_notebook_that_is_renamed_while_it_is_opened_is_opened_by_its_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")], "a.ipynb")
        manager = w.service.contents_manager
        is_hidden = manager.is_hidden

        async def rename_then(path: str) -> bool:
            if path == "a.ipynb" and (w.root / path).exists():
                await manager.rename(path, "b.ipynb")
            return bool(await ensure_async(is_hidden(path)))

        monkeypatch.setattr(manager, "is_hidden", rename_then)
        document = await w.service.open("a.ipynb")
        assert document.path == "b.ipynb"
        assert [cell.source for cell in (await document.read()).cells] == ["1"]
