"""Large notebooks are parsed once, in a thread, and are the same as Jupyter itself reads them."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat import v3, v4

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import EditedCells
from jupyter_datalayer_agent.notebook.large_text import SMALL

from ..support import code, insert, world, write_notebook

LARGE = "x" * SMALL
stream = {"output_type": "stream", "name": "stdout", "text": [LARGE, "y"]}


class Looks:
    """Notes how often a large text is parsed and hashed, and whether by the event loop's thread."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parsed: list[bool] = []
        self.hashed: list[bool] = []
        self._note(monkeypatch, json, "loads", self.parsed)
        self._note(monkeypatch, hashlib, "sha256", self.hashed)

    @staticmethod
    def _note(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, looks: list[bool]) -> None:
        original: Callable[..., Any] = getattr(module, name)

        def noted(given: Any = b"", *more: Any, **options: Any) -> Any:
            if len(given) > SMALL:
                looks.append(threading.current_thread() is threading.main_thread())
            return original(given, *more, **options)

        monkeypatch.setattr(module, name, noted)

    def taken(self) -> tuple[list[bool], list[bool]]:
        """What was noted since the last time."""
        noted = list(self.parsed), list(self.hashed)
        self.parsed.clear()
        self.hashed.clear()
        return noted


async def test_a_first_load_parses_and_hashes_the_text_once_and_not_in_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1", outputs=[stream])])
        looks = Looks(monkeypatch)
        document = await w.service.open("a.ipynb")
        assert looks.taken() == ([False], [False])
        # What was seen last is known by its text.
        await document.read()
        assert looks.taken() == ([], [False])


async def test_a_save_looks_once_before_and_once_after_and_not_in_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1", outputs=[stream])])
        files = w.service.files
        loaded = await files.load("a.ipynb")
        looks = Looks(monkeypatch)
        cells = [*loaded.cells, {**copy.deepcopy(loaded.cells[0]), "id": "b", "outputs": []}]
        await files.save(loaded, EditedCells(cells, touched=["b"]))
        assert looks.taken() == ([False], [False, False])
        assert [each["id"] for each in w.on_disk()["cells"]] == ["a", "b"]


async def test_others_continue_while_a_notebook_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser gives way at each object: what waits for the loop meanwhile is done meanwhile."""
    objects = [{"a": number} for number in range(100_000)]
    output = {"output_type": "display_data", "metadata": {}, "data": {"application/json": objects}}
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1", outputs=[output])])
        loading = asyncio.ensure_future(w.service.open("a.ipynb"))
        ticks = 0
        while not loading.done():
            await asyncio.sleep(0)
            ticks += 1
        await loading
    assert ticks > 50


def notebooks() -> dict[str, str]:
    """Texts of notebooks of each kind that there is."""
    cells = [
        v4.new_code_cell("a = 1\nb = 2", id="a", outputs=[v4.new_output("stream", text="x\ny\n")]),
        v4.new_markdown_cell("# T\ntext", id="b", attachments={"a.png": {"image/png": "iVBO"}}),
        v4.new_raw_cell("raw", id="c"),
    ]
    whole: dict[str, Any] = v4.new_notebook(cells=cells, metadata={"own": [1, {"x": None}]})
    texts = {"4.5": nbformat.writes(whole)}
    without_ids = json.loads(texts["4.5"])
    without_ids["nbformat_minor"] = 4
    for cell in without_ids["cells"]:
        del cell["id"]
    texts["4.4"] = json.dumps(without_ids)
    newer = json.loads(texts["4.5"])
    newer["nbformat_minor"] = 9
    texts["4.9"] = json.dumps(newer)
    old = v3.new_notebook(worksheets=[v3.new_worksheet(cells=[v3.new_code_cell("print 1")])])
    texts["3"] = json.dumps(old)
    return texts


@pytest.mark.parametrize("kind", notebooks())
@pytest.mark.parametrize("trusted", [True, False])
async def test_a_notebook_is_the_same_as_jupyter_reads_it(
    tmp_path: Path, kind: str, trusted: bool
) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.ipynb").write_text(notebooks()[kind])
        manager = w.service.contents_manager
        if trusted:
            await manager.trust_notebook("a.ipynb")
        expected = (await manager.get("a.ipynb", type="notebook"))["content"]
        loaded = await w.service.files.load("a.ipynb")
        found = loaded.content
        for each, other in zip(found["cells"], expected["cells"], strict=True):
            assert each["id"]
            if kind in ("4.5", "4.9"):
                assert each["id"] == other["id"]
            each.pop("id"), other.pop("id", None)
        assert found == expected
        [first, *_] = found["cells"]
        assert first["metadata"]["trusted"] is (trusted and kind != "3")


async def test_a_trusted_notebook_stays_trusted_when_it_is_edited(tmp_path: Path) -> None:
    html = {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<b>b</b>"}}
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1", outputs=[html])])
        manager = w.service.contents_manager
        await manager.trust_notebook("a.ipynb")
        document = await w.service.open("a.ipynb")
        await document.edit([insert("b", "2")])
        model = await manager.get("a.ipynb", type="notebook")
        assert [each["metadata"]["trusted"] for each in model["content"]["cells"]] == [True, True]


class Paired(AsyncLargeFileManager):
    """Takes the sources from elsewhere, as a contents manager that pairs files does."""

    async def get(self, path: str, *args: Any, **options: Any) -> Any:
        model = await super().get(path, *args, **options)
        if model["type"] == "notebook" and model["content"] is not None:
            model["content"]["cells"][0]["source"] = "from elsewhere"
        return model


async def test_a_contents_manager_of_another_kind_is_requested_the_notebook(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, contents_class=Paired) as w:
        write_notebook(w.root, [code("a", "in the file")])
        assert (await w.service.files.load("a.ipynb")).cells[0]["source"] == "from elsewhere"


@pytest.mark.parametrize("kind", [AsyncLargeFileManager, FileContentsManager, Paired])
async def test_what_is_wrong_is_reported_in_the_same_way(tmp_path: Path, kind: Any) -> None:
    async with world(tmp_path, contents_class=kind) as w:
        for text, words in [
            ('{"cells": [{"cell_type": "code", "id": "a", "source": "", "outputs": [], '
             '"execution_count": null}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
             "not a valid"),
            ('{"cells": 5, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "not a valid"),
            ('{"cells": [], "metadata": {}, "nbformat": 9, "nbformat_minor": 0}', "not a valid"),
            ("[]", "not a valid"),
        ]:  # fmt: skip
            (w.root / "a.ipynb").write_text(text)
            with pytest.raises(DocumentError, match=words):
                await w.service.files.load("a.ipynb")
