"""Where the server shows hidden files, secrets among them stay closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.files.contents import listing
from tests.notebook.support import world


async def test_hidden_files_are_read_where_the_server_allows_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        (w.root / ".gitignore").write_text("*.pyc\n")
        (w.root / ".env").write_text("hunter2")
        (w.root / ".ssh").mkdir()
        (w.root / ".ssh" / "notes.txt").write_text("hunter2")
        files = w.service.text_files
        with pytest.raises(DocumentError, match="hidden"):
            await files.read(".gitignore")
        w.service.contents_manager.allow_hidden = True
        assert (await files.read(".gitignore")).content == "*.pyc\n"
        for path in (".env", ".ssh/notes.txt"):
            with pytest.raises(DocumentError, match="holds secrets"):
                await files.read(path)
        assert (await files.read(".env", attached=[".env"])).content == "hunter2"
        found = await listing(files.contents, "", files.why_closed, pattern=None, depth=3, limit=50)
        assert found.entries[0] == {"name": ".ssh", "closed": "holds secrets"}
        closed = [each["name"] for each in found.entries if "closed" in each]
        assert closed == [".ssh", ".env"]
        assert not any("notes" in each["name"] for each in found.entries)


async def test_the_agents_own_database_is_closed_by_any_name(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        (w.root / "mine.txt").write_text("conversations")
        (w.root / "link.txt").symlink_to("mine.txt")
        files = w.service.text_files
        files.private_places.append(w.root.resolve() / "mine.txt")
        for path in ("mine.txt", "link.txt"):
            with pytest.raises(DocumentError, match="holds secrets"):
                await files.read(path)
