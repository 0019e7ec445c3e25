"""A text file that a page has open is read and written in that page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.files.replacements import Replacement, replaced
from jupyter_datalayer_agent.notebook.files.text_state import TextState, text_hash
from jupyter_datalayer_agent.protocol.page import (
    EditorState,
    PageFailure,
    PageRequest,
    PageResponse,
)
from tests.notebook.support import World, world


class TextPage:
    """A page that has one text file open, as JupyterLab has it: lines end in a line feed."""

    def __init__(self, w: World, path: str) -> None:
        self.world, self.path = w, path
        self.asked: list[str] = []
        self.sent = 0
        self.file = w.root / path
        raw = self.file.read_bytes().decode()
        self.newline = "\r\n" if "\r\n" in raw else "\n"
        self.text = raw.replace("\r\n", "\n")
        self.is_open = True
        self.page = w.pages.connect("page-1", self.on_message)
        w.pages.on_state(self.page, EditorState(files=[path]))

    def on_message(self, message: Any) -> None:
        if isinstance(message, PageRequest):
            self.asked.append(message.method)
            self.world.pages.on_response(self.page, self.answer(message))

    def answer(self, request: PageRequest) -> PageResponse:
        if not self.is_open:
            error = PageFailure(code="not_open", message="closed")
            return PageResponse(request_id=request.request_id, ok=False, error=error)
        if request.method == "document.write":
            if text_hash(self.text) != request.params["baseHash"]:
                error = PageFailure(code="stale", message="changed")
                return PageResponse(request_id=request.request_id, ok=False, error=error)
            self.text = request.params["content"]
            self.file.write_bytes(self.text.replace("\n", self.newline).encode())
        result = {"path": self.path}
        is_known = text_hash(self.text) == request.params.get("knownHash")
        if not is_known and request.method == "document.read":
            result["content"] = self.text
            self.sent += 1
        return PageResponse(request_id=request.request_id, ok=True, result=result)


@pytest.mark.parametrize(
    "raw", [b"one\r\ntwo\r\n", b"one\ntwo\n", "één\n".encode("utf-16"), b"\xef\xbb\xbfone\n", b""]
)
async def test_a_text_that_is_saved_is_not_sent(tmp_path: Path, raw: bytes) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.txt").write_bytes(b"")
        page = TextPage(w, "a.txt")
        (w.root / "a.txt").write_bytes(raw)
        page.text = TextState.of_bytes(raw).content
        file = await w.service.text_files.read("a.txt", "page-1")
        assert (page.asked, page.sent) == (["document.read"], 0)
        assert file.content == page.text
        assert not file.is_unsaved
        page.text += "typed"
        file = await w.service.text_files.read("a.txt", "page-1")
        assert page.sent == 1
        assert file.is_unsaved
        assert file.content == page.text


async def edit(w: World, path: str, old: str, new: str) -> Any:
    files = w.service.text_files
    async with files.lock(path):
        file = await files.read(path, "page-1")
        return await files.write(file, replaced(file.state, [Replacement(old, new)]))


@pytest.mark.parametrize("raw", [b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\ntwo", b"one\ntwo\n"])
async def test_an_edit_goes_through_the_page_with_what_is_not_saved(
    tmp_path: Path, raw: bytes
) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.txt").write_bytes(raw)
        page = TextPage(w, "a.txt")
        page.text += "typed"
        file = await w.service.text_files.read("a.txt", "page-1")
        assert file.is_unsaved
        assert file.content.endswith("typed")
        after = await edit(w, "a.txt", "one", "1")
        assert page.asked[-2:] == ["document.write", "document.read"]
        assert after.content == file.content.replace("one", "1")
        newline = b"\r\n" if b"\r\n" in raw else b"\n"
        assert (w.root / "a.txt").read_bytes() == raw.replace(b"one", b"1") + b"typed"
        assert newline in (w.root / "a.txt").read_bytes()


async def test_a_text_that_is_typed_meanwhile_is_not_lost(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.txt").write_text("one\n")
        page = TextPage(w, "a.txt")
        files = w.service.text_files
        file = await files.read("a.txt")
        page.text = "one\ntyped\n"
        with pytest.raises(DocumentError) as refused:
            await files.write(file, file.state.with_content("1\n"))
        assert refused.value.code == "stale"
        assert page.text == "one\ntyped\n"
        assert (w.root / "a.txt").read_text() == "one\n"


async def test_a_page_that_closes_the_file_leaves_it_to_the_server(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.txt").write_text("one\n")
        page = TextPage(w, "a.txt")
        files = w.service.text_files
        file = await files.read("a.txt")
        page.is_open = False
        await files.write(file, file.state.with_content("1\n"))
        assert (w.root / "a.txt").read_text() == "1\n"


async def test_unsaved_text_that_is_closed_with_the_page_is_not_written(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.txt").write_text("one\n")
        page = TextPage(w, "a.txt")
        page.text = "one\nunsaved\n"
        files = w.service.text_files
        file = await files.read("a.txt")
        page.is_open = False
        with pytest.raises(DocumentError) as refused:
            await files.write(file, file.state.with_content("1\n"))
        assert refused.value.code == "stale"
        assert (w.root / "a.txt").read_text() == "one\n"


async def test_a_file_that_changes_between_read_and_write_is_not_overwritten(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.txt").write_text("one\n")
        files = w.service.text_files
        file = await files.read("a.txt")
        (w.root / "a.txt").write_text("two\n")
        with pytest.raises(DocumentError) as refused:
            await files.write(file, file.state.with_content("1\n"))
        assert refused.value.code == "stale"
        (w.root / "a.txt").unlink()
        with pytest.raises(DocumentError) as refused:
            await files.write(file, file.state.with_content("1\n"))
        assert refused.value.code == "not_found"
        assert not (w.root / "a.txt").exists()
