"""The file backend's reads and edits: every nbformat 4, through the ContentsManager."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.protocol.cells import CellPosition, DeleteCell, MoveCell, UpdateCell

from ..support import ScriptedPage, check_valid, code, insert, markdown, world, write_notebook


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 5])
async def test_every_nbformat_4_is_read_edited_and_valid_afterwards(
    tmp_path: Path, minor: int
) -> None:
    cells = [markdown("m", "# T"), code("a", "x"), code("b", "x")]
    async with world(tmp_path) as w:
        file = write_notebook(w.root, cells, minor=minor)
        document = await w.service.open("a.ipynb")
        first = await document.read()
        again = await document.read()
        target = first.cells[2]
        await document.edit(
            [
                UpdateCell(cell_id=target.id, base_hash=target.hash, source="y"),
                insert("new1", "1", after=target.id),
            ]
        )
        check_valid(file)
        content = w.on_disk()
        after = await document.read()

    assert [cell.id for cell in first.cells] == [cell.id for cell in again.cells]
    assert len({cell.id for cell in first.cells}) == 3
    assert content["nbformat_minor"] == minor
    written = [cell.get("id") for cell in content["cells"]]
    assert written == ([cell.id for cell in after.cells] if minor == 5 else [None] * 4)
    assert after.cells[3].id == "new1"
    assert [cell.id for cell in after.cells[:3]] == [cell.id for cell in first.cells]
    assert [cell.source for cell in after.cells] == ["# T", "x", "y", "1"]


@pytest.mark.filterwarnings("ignore::nbformat.warnings.DuplicateCellId")
async def test_a_file_without_its_version_is_not_edited_through_a_page_that_emptied_it(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1"), markdown("m", "# T")])
        content = w.on_disk()
        del content["nbformat"], content["nbformat_minor"]
        file.write_text(json.dumps(content))
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", ""), markdown("m", "")])
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError, match="lacks its version of nbformat"):
            await document.edit([insert("b", "2")])
        assert "notebook.edit" not in page.methods()

        page.open("good.ipynb", [code("a", "1")])
        write_notebook(w.root, [code("a", "1")], "good.ipynb")
        await (await w.service.open("good.ipynb")).edit([insert("b", "2")])
        assert "notebook.edit" in page.methods()


async def test_reading_does_not_write(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")], minor=4)
        before = file.read_bytes()
        document = await w.service.open("a.ipynb")
        await document.read(outputs=True)
        await w.service.context("a.ipynb")
        assert file.read_bytes() == before


async def test_a_newer_minor_version_is_kept(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")], minor=9)
        document = await w.service.open("a.ipynb")
        await document.edit([insert("b", "2")])
        content = w.on_disk()

    assert content["nbformat_minor"] == 9
    assert [cell["id"] for cell in content["cells"]] == ["a", "b"]


@pytest.mark.filterwarnings("ignore::nbformat.warnings.MissingIDFieldWarning")
@pytest.mark.filterwarnings("ignore::nbformat.warnings.DuplicateCellId")
async def test_cells_whose_ids_are_missing_or_double_can_be_addressed(tmp_path: Path) -> None:
    nameless = {key: value for key, value in code("x", "nameless").items() if key != "id"}
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1"), nameless, code("a", "2")])
        cells = (await (await w.service.open("a.ipynb")).read()).cells
        # Nothing of the first read may be needed for the second: a restart of the server.
        w.service.files._cache.drop("a.ipynb")
        document = await w.service.open("a.ipynb")
        await document.edit(
            [DeleteCell(cell_id=cells[2].id, base_hash=cells[2].hash), insert("n", "3")]
        )
        check_valid(file)
        after = (await document.read()).cells

    assert [cell.source for cell in after] == ["1", "nameless", "3"]
    assert [cell.id for cell in after[:2]] == [cell.id for cell in cells[:2]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"cells": [', "valid"),
        ("", "valid"),
        ("[1, 2]", "valid"),
        (
            '{"cells": [{"cell_type": "code"}], "metadata": {}, "nbformat": 4,'
            ' "nbformat_minor": 4}',
            "valid",
        ),
        ('{"cells": [], "metadata": {}, "nbformat": 99, "nbformat_minor": 0}', "valid"),
    ],
)
@pytest.mark.filterwarnings("ignore::nbformat.warnings.MissingIDFieldWarning")
async def test_a_file_that_is_no_valid_notebook_is_refused_and_untouched(
    tmp_path: Path, text: str, said: str
) -> None:
    async with world(tmp_path) as w:
        file = w.root / "bad.ipynb"
        file.write_text(text)
        with pytest.raises(DocumentError) as refused:
            await w.service.open("bad.ipynb")
        assert file.read_text() == text

    assert refused.value.code == "invalid_arguments"
    assert "bad.ipynb" in refused.value.message
    assert said in refused.value.message
    assert len(refused.value.message) < 700


async def test_a_notebook_that_becomes_invalid_after_opening_is_not_overwritten(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        document = await w.service.open("a.ipynb")
        file.write_text("{ half")
        with pytest.raises(DocumentError):
            await document.edit([insert("b", "2")])
        assert file.read_text() == "{ half"


async def test_a_notebook_that_is_not_there_or_is_none_is_refused(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.txt").write_text("x")
        (w.root / "folder.ipynb").mkdir()
        codes = []
        for path in ("none.ipynb", "a.txt", "folder.ipynb", "no/such/folder/a.ipynb"):
            with pytest.raises(DocumentError) as refused:
                await w.service.open(path)
            codes.append(refused.value.code)

    assert codes == ["not_found", "invalid_arguments", "invalid_arguments", "not_found"]


async def test_a_cell_that_somebody_changed_on_disk_is_not_overwritten(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "mine"), code("b", "other")])
        document = await w.service.open("a.ipynb")
        read = (await document.read()).cells
        write_notebook(w.root, [code("a", "theirs"), code("b", "other")])
        with pytest.raises(DocumentError) as refused:
            await document.edit(
                [
                    UpdateCell(cell_id="b", base_hash=read[1].hash, source="changed"),
                    UpdateCell(cell_id="a", base_hash=read[0].hash, source="ours"),
                ]
            )
        on_disk = [cell["source"] for cell in w.on_disk()["cells"]]

    assert refused.value.code == "stale"
    assert [cell.source for cell in refused.value.cells] == ["theirs"]
    assert on_disk == ["theirs", "other"]


class WrittenInBetween(AsyncLargeFileManager):
    """Another program writes the file once, after our read and before our save."""

    other: Any = None

    async def get(self, path: str, *args: Any, **options: Any) -> Any:
        model = await super().get(path, *args, **options)
        if self.other is not None and options.get("content"):
            write, self.other = self.other, None
            write()
        return model


async def test_a_write_between_our_read_and_our_save_is_kept(tmp_path: Path) -> None:
    async with world(tmp_path, contents_class=WrittenInBetween) as w:
        write_notebook(w.root, [code("a", "1")])
        document = await w.service.open("a.ipynb")

        def write() -> None:
            write_notebook(w.root, [code("a", "1"), code("theirs", "2")])

        w.service.contents_manager.other = write
        await document.edit([insert("ours", "3", at="start")])
        on_disk = [cell["id"] for cell in w.on_disk()["cells"]]

    assert on_disk == ["ours", "a", "theirs"]


class SavesNothing(AsyncLargeFileManager):
    async def save(self, model: Any, path: str = "") -> Any:
        return await self.get(path, content=False)


async def test_peers_01_a_save_that_did_not_persist_is_an_error(tmp_path: Path) -> None:
    async with world(tmp_path, contents_class=SavesNothing) as w:
        write_notebook(w.root, [code("a", "1")])
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError) as refused:
            await document.edit([insert("b", "2")])

    assert "read back" in refused.value.message


class NoText(AsyncLargeFileManager):
    """Storage that knows notebooks only as notebooks, as a database does."""

    async def get(self, path: str, *args: Any, **options: Any) -> Any:
        if options.get("type") == "file":
            from tornado.web import HTTPError

            raise HTTPError(400, "not a file")
        return await super().get(path, *args, **options)


async def test_storage_without_text_works(tmp_path: Path) -> None:
    async with world(tmp_path, contents_class=NoText) as w:
        file = write_notebook(w.root, [code("a", "1")])
        document = await w.service.open("a.ipynb")
        applied = await document.edit([insert("b", "2")])
        runs = await document.run(["b"], timeout=60)
        check_valid(file)

    assert [cell.id for cell in applied.cells] == ["b"]
    assert runs[0].status == "ok"


async def test_a_file_that_cannot_be_written_is_an_error_and_stays(tmp_path: Path) -> None:
    class ReadOnly(AsyncLargeFileManager):
        async def save(self, model: Any, path: str = "") -> Any:
            from tornado.web import HTTPError

            raise HTTPError(403, "Permission denied: a.ipynb")

    async with world(tmp_path, contents_class=ReadOnly) as w:
        file = write_notebook(w.root, [code("a", "1")])
        before = file.read_bytes()
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError) as refused:
            await document.edit([insert("b", "2")])
        assert file.read_bytes() == before

    assert "Permission denied" in refused.value.message


async def test_reading_while_a_save_is_under_way_sees_whole_notebooks(tmp_path: Path) -> None:
    """Jupyter writes in place: a reader in between would take the old file back over the new."""
    async with world(tmp_path) as w:
        write_notebook(w.root, [code(f"c{n}", "x" * 500) for n in range(300)])
        document = await w.service.open("a.ipynb")

        async def read() -> None:
            for _ in range(10):
                await document.read()

        async def edit(name: str) -> None:
            for n in range(5):
                await document.edit([insert(f"{name}{n}", "new")])

        await asyncio.gather(read(), read(), edit("x"), edit("y"))
        names = {cell["id"] for cell in w.on_disk()["cells"]}
        strays = [each.name for each in w.root.iterdir() if each.name != ".ipynb_checkpoints"]

    assert {f"{name}{n}" for name in "xy" for n in range(5)} <= names
    assert strays == ["a.ipynb"]


async def test_a_file_that_another_program_is_writing_is_waited_for(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        whole = file.read_text()
        file.write_text(whole[:40])
        opening = asyncio.create_task(w.service.open("a.ipynb"))
        await asyncio.wait([opening], timeout=0.06)
        file.write_text(whole)
        document = await opening
        cells = (await document.read()).cells

    assert [cell.source for cell in cells] == ["1"]


async def test_metadata_attachments_and_unknown_fields_survive_an_edit(tmp_path: Path) -> None:
    note = markdown("m", "![x](attachment:x.png)", attachments={"x.png": {"image/png": "aGk="}})
    cell = code("a", "1", metadata={"tags": ["keep"], "mine": {"deep": [1]}})
    metadata = {"kernelspec": {"name": "python3", "display_name": "P"}, "custom": {"x": 1}}
    async with world(tmp_path) as w:
        write_notebook(w.root, [note, cell], metadata=metadata)
        document = await w.service.open("a.ipynb")
        await document.edit(
            [insert("b", "2"), MoveCell(cell_id="b", position=CellPosition(at="start"))]
        )
        content = w.on_disk()

    assert content["metadata"] == metadata
    assert content["cells"][1]["attachments"] == note["attachments"]
    assert content["cells"][2]["metadata"] == cell["metadata"]


async def test_peers_02_an_edit_of_one_notebook_leaves_the_others_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        other = write_notebook(w.root, [code("a", "1")], "other.ipynb")
        before = other.read_bytes()
        first = await w.service.open("a.ipynb")
        await w.service.open("other.ipynb")  # what was opened last is not what is edited
        await first.edit([insert("b", "2")])
        assert other.read_bytes() == before
        assert w.cell_on_disk("b")["source"] == ["2"]


async def test_new_notebooks_never_overwrite(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        first = await w.service.create("new", None)
        second = await w.service.create("new.ipynb", "python3")
        check_valid(w.root / second)
        with pytest.raises(DocumentError) as no_folder:
            await w.service.create("no/such/new.ipynb", None)
        with pytest.raises(DocumentError) as no_kernel:
            await w.service.create("x.ipynb", "nope")
        text = await w.service.create_file("x.lexical", "{}")
        content = w.on_disk(second)

    assert (first, second, text) == ("new.ipynb", "new-1.ipynb", "x.lexical")
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert no_folder.value.code == "not_found"
    assert no_kernel.value.code == "kernel_error"


async def test_the_cost_of_an_edit_grows_no_worse_than_the_notebook(tmp_path: Path) -> None:
    async def seconds(count: int) -> float:
        path = f"n{count}.ipynb"
        write_notebook(w.root, [code(f"c{n}", f"x = {n}\nprint(x)") for n in range(count)], path)
        document = await w.service.open(path)
        times = []
        for n in range(3):
            began = time.process_time()  # of the processor: others may use the machine
            await document.edit([insert(f"n{n}", "1", after=f"c{count // 2}")])
            times.append(time.process_time() - began)
        return min(times)

    async with world(tmp_path) as w:
        small, large = await seconds(1000), await seconds(5000)

    assert large < small * 5 * 2  # linear, with room for a busy machine


async def test_a_notebook_is_parsed_again_only_when_its_text_changed(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        files = w.service.files
        first = await files.load("a.ipynb")
        second = await files.load("a.ipynb")
        text = json.loads(file.read_text())
        text["cells"][0]["source"] = "theirs"
        file.write_text(json.dumps(text))
        third = await files.load("a.ipynb")

    assert second is first
    assert third is not first
    assert third.page_cells[0].source == "theirs"
