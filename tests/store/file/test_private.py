"""The database's files are the user's alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_datalayer_agent.store.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """The umask with which new files can be written by everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    return tmp_path / "datalayer-agent"


def modes(folder: Path) -> dict[str, int]:
    found = {str(each.relative_to(folder)): each.stat().st_mode & 0o777 for each in
             folder.rglob("*")}  # fmt: skip
    return {**found, ".": folder.stat().st_mode & 0o777}


def private(folder: Path) -> dict[str, int]:
    return {name: 0o700 if (folder / name).is_dir() else 0o600 for name in modes(folder)}


def open_to_all(folder: Path) -> None:
    for each in [folder, *folder.glob("agent.db*")]:
        each.chmod(0o777 if each.is_dir() else 0o666)


async def test_new_files_are_made_so(own_folder: Path) -> None:
    store = Store()
    await store.open()
    assert {"agent.db", "agent.db-wal", "agent.db-shm"} <= set(modes(own_folder))
    assert modes(own_folder) == private(own_folder)
    await store.close()
    assert modes(own_folder) == private(own_folder)


async def test_existing_files_are_made_so(own_folder: Path) -> None:
    store = Store()
    await store.open()
    open_to_all(own_folder)
    other = Store()
    await other.open()
    assert modes(own_folder) == private(own_folder)
    await other.close()
    await store.close()


async def test_a_folder_that_holds_other_things_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    os.mkdir(folder, 0o755)
    store = Store(f"sqlite:///{folder}/a.db")
    await store.open()
    await store.close()
    assert modes(folder) == {**private(folder), ".": 0o755}


def damaged(folder: Path) -> Path:
    folder.mkdir()
    path = folder / "agent.db"
    path.write_bytes(b"no database at all")
    return path


async def test_a_damaged_database_says_how_to_go_on_and_that_works(own_folder: Path) -> None:
    path = damaged(own_folder)
    store = Store()
    with pytest.raises(Exception, match="move it away to start with an empty one"):
        await store.sessions.list_page()
    path.rename(own_folder / "kept.db")
    await store.open()
    assert modes(own_folder)["agent.db"] == 0o600
    await store.close()
    assert (own_folder / "kept.db").read_bytes() == b"no database at all"
