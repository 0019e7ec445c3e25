"""A Lexical document is parsed once, and never taken for what it was before."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from jupyter_datalayer_agent.notebook.recent import RecentDocuments
from tests.notebook.support import world


def text(*contents: str) -> str:
    return new_document([node for each in contents for node in new_blocks("markdown", each)])


async def test_it_is_parsed_again_where_only_its_text_says_that_it_changed(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = w.root / "a.dlex"
        file.write_text(text("one", "two"))
        first = await w.service.lexical.read("a.dlex")
        again = await w.service.lexical.read("a.dlex")
        assert again.blocks is first.blocks
        was = file.stat()
        file.write_text(text("one", "TWO"))
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
        now = file.stat()
        assert (now.st_size, now.st_mtime_ns, now.st_ino) == (
            was.st_size,
            was.st_mtime_ns,
            was.st_ino,
        )
        changed = await w.service.lexical.read("a.dlex")
        assert [each.content for each in changed.blocks.all] == ["one", "TWO"]
        assert changed.blocks.ids == first.blocks.ids
        # As it was before: the blocks of then, by the ids of now.
        file.write_text(text("one", "two"))
        back = await w.service.lexical.read("a.dlex")
        assert [each.content for each in back.blocks.all] == ["one", "two"]
        assert back.blocks.ids == first.blocks.ids


def test_few_documents_are_kept_and_the_newest_whatever_its_size() -> None:
    recent = RecentDocuments[str](most=2, characters=10)
    for path, size in [("a", 1), ("b", 1), ("c", 1)]:
        recent.keep(path, path, size)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (None, "b", "c")
    recent.keep("d", "d", 100)
    assert (recent.get("b"), recent.get("c"), recent.get("d")) == (None, None, "d")
    recent.drop("d")
    assert recent.get("d") is None
