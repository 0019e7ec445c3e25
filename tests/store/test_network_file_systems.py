"""A database on a network file system: recognised, and kept without a write-ahead log."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.requests import Health
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.file import database as journal
from jupyter_datalayer_agent.store.file import driver, file_system
from jupyter_datalayer_agent.store.file.database import damage
from jupyter_datalayer_agent.store.file.file_system import network_file_system, of_linux, of_mac

from .chats import Chat, execute, open_store, rows, url
from .crashing import Server
from .file.test_vacuum import idle

LINUX = r"""
22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw
25 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro
98 25 0:45 / /home rw,relatime shared:50 - autofs systemd-1 rw,fd=50,pgrp=1,timeout=0,minproto=5
412 98 0:61 /u/anna /home/anna rw,nosuid,relatime shared:216 - nfs4 filer:/export rw,vers=4.2
413 412 8:17 / /home/anna/usb rw,relatime shared:217 - fuseblk /dev/sdb1 rw,user_id=0
414 25 0:70 / /mnt/team\040share rw,relatime shared:220 - cifs //nas/team rw,vers=3.1.1,cache=strict
415 25 0:71 / /home/anna/ssh rw,nosuid,nodev shared:221 - fuse.sshfs anna@host: rw,user_id=1000
416 25 0:72 / /scratch rw,relatime - lustre 10.0.0.1@o2ib:/scratch rw,flock
417 25 0:73 / /mnt/c rw,noatime - 9p C:\134 rw,dirsync,aname=drvfs;path=C:\;uid=1000
418 25 0:74 / /ceph rw,relatime - ceph 10.0.0.2:6789:/ rw,name=jupyter
419 25 0:75 / /gpfs rw,relatime - gpfs gpfs0 rw
420 25 0:76 / /bee rw,relatime - beegfs beegfs_nodev rw
421 25 0:77 / /smb rw,relatime - smb3 //nas/x rw
422 25 0:78 / /merged rw,relatime - fuse.mergerfs a:b rw
423 25 0:79 / /container rw,relatime - fuse.fuse-overlayfs fuse-overlayfs rw
424 25 0:80 / /gcs rw,relatime - fuse.gcsfuse bucket rw
425 25 0:81 / /dav rw,relatime - fuse https://dav rw
426 25 0:82 / /over rw,relatime - nfs old:/x rw
427 426 8:33 / /over rw,relatime - xfs /dev/sdc1 rw
428 25 0:83 / /afs rw,relatime - afs AFS rw
"""
MAC = """
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect)
//anna@nas/team on /Volumes/team (data) (smbfs, nodev, nosuid, mounted by anna)
filer:/export on /Users/anna/nfs (nfs, nodev, nosuid, mounted by anna)
/dev/disk5s1 on /Volumes/usb (msdos, local, nodev, nosuid, noowners)
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/agent.db", None),
        ("/home/anna/.local/share/jupyter/agent.db", "nfs4"),
        ("/home/annabel/agent.db", None),
        ("/home/anna/usb/agent.db", None),
        ("/home/anna/ssh/agent.db", "fuse.sshfs"),
        ("/mnt/team share/agent.db", "cifs"),
        ("/mnt/team/agent.db", None),
        ("/scratch/x/agent.db", "lustre"),
        ("/mnt/c/Users/agent.db", "9p"),
        ("/ceph/agent.db", "ceph"),
        ("/gpfs/agent.db", "gpfs"),
        ("/bee/agent.db", "beegfs"),
        ("/smb/agent.db", "smb3"),
        ("/merged/agent.db", None),
        ("/container/agent.db", None),
        ("/gcs/agent.db", "fuse.gcsfuse"),
        ("/dav/agent.db", "fuse"),
        ("/over/agent.db", None),
        ("/afs/cell/agent.db", "afs"),
    ],
)
def test_linux_says_what_a_path_is_on(path: str, kind: str | None) -> None:
    assert of_linux(LINUX, Path(path)) == kind


def test_a_table_of_mounts_that_nobody_can_read_says_nothing() -> None:
    assert of_linux("", Path("/x")) is None
    assert of_linux("what is this\n1 2 3\n\n36 35 98:0 / / rw -", Path("/x")) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/Users/anna/agent.db", None),
        ("/Users/anna/nfs/agent.db", "nfs"),
        ("/Volumes/team (data)/agent.db", "smbfs"),
        ("/Volumes/usb/agent.db", None),
    ],
)
def test_macos_says_what_a_path_is_on(path: str, kind: str | None) -> None:
    assert of_mac(MAC, Path(path)) == kind


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="Linux")
def test_this_machine_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert " - proc " in file_system.MOUNTS.read_text()
    link = tmp_path / "link"
    on(tmp_path / "shared folder", "nfs", tmp_path, monkeypatch)
    link.symlink_to(tmp_path / "shared folder")
    assert network_file_system(link / "agent.db") == "nfs", "by where a link leads"
    assert network_file_system(tmp_path / "agent.db") is None


def on(folder: Path, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is on a file system of this kind, says the table of mounts."""
    folder.mkdir(exist_ok=True)
    mounts = tmp_path / "mountinfo"
    point = str(folder.resolve()).replace(" ", r"\040")
    mounts.write_text(f"{LINUX}500 25 0:99 / {point} rw,relatime - {kind} filer:/x rw\n")
    monkeypatch.setattr(file_system, "MOUNTS", mounts)
    monkeypatch.setattr(file_system.sys, "platform", "linux")


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database on a network file system."""
    on(tmp_path / "home", "nfs4", tmp_path, monkeypatch)
    monkeypatch.setattr(driver, "BUSY_TIMEOUT_MS", 200)
    monkeypatch.setattr(journal, "BUSY_TIMEOUT_MS", 200)
    return tmp_path / "home" / "agent.db"


def has_no_log(path: Path) -> bool:
    beside = [path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "shm")]
    return rows(path, "PRAGMA journal_mode") == [("delete",)] and not any(
        each.exists() for each in beside
    )


def shorten(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - size)


def content(path: Path) -> bytes:
    return path.read_bytes()


async def talk(store: Store, text: str = "Said.") -> Chat:
    chat = await Chat.new(store)
    await chat.start()
    await chat.say(text)
    await chat.finish(text)
    return chat


async def test_a_new_database_has_a_rollback_journal_and_every_commit_is_on_the_disk(
    shared: Path,
) -> None:
    async with open_store(shared) as store:
        assert store.health is None, "nothing is opened to say it"
        chat = await talk(store)
        assert Health(database=store.health).to_wire() == {
            "status": "ok",
            "database": {"fileSystem": "nfs4", "journal": "truncate"},
        }
        database = (await store._open()).database
        assert (database.network, database.journal) == ("nfs4", "truncate")
        modes = [
            await database.look(lambda c, name=name: c.execute(f"PRAGMA {name}").fetchone()[0])  # type: ignore[misc]
            for name in ("journal_mode", "synchronous", "locking_mode")
        ]
        assert modes == ["truncate", 2, "normal"]
        assert has_no_log(shared)
        # Two servers, and a reader in the middle of a write.
        async with open_store(shared) as other:
            assert (await other.turn_reader.get(chat.turn_id)).reply == "Said."
            await talk(other, "By the other.")
        assert len((await store.sessions.list_page()).sessions) == 2
        await idle(store)
    assert has_no_log(shared)
    assert rows(shared, "PRAGMA integrity_check") == [("ok",)]


async def test_a_local_database_keeps_its_log(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        await talk(store)
        database = (await store._open()).database
        assert (database.network, database.journal) == (None, "wal")
        assert Health(database=store.health).to_wire() == {"status": "ok"}
        assert rows(tmp_path / "agent.db", "PRAGMA journal_mode") == [("wal",)]


async def test_a_database_with_a_log_that_a_killed_server_left_loses_nothing(
    shared: Path, tmp_path: Path
) -> None:
    local = tmp_path / "agent.db"
    server = Server(local, "streams_for_ever")
    acknowledged = [int(server.line()) for _ in range(50)]
    server.kill()
    log = tmp_path / "agent.db-wal"
    assert log.stat().st_size > 0
    for file in (local, log):
        shutil.copy(file, shared.parent)
    async with open_store(shared) as store:
        [turn] = (await store.turn_reader.list_page(server.session_id)).turns
        assert turn.status == "aborted"
        assert turn.reply.split()[:50] == [str(number) for number in acknowledged]
        assert has_no_log(shared)


async def test_one_that_another_program_uses_with_a_log_is_refused_and_left_as_it_is(
    shared: Path,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_system, "NETWORK", frozenset())
        older = Store(url(shared))
        await talk(older)
    async with open_store(shared) as store:
        with pytest.raises(AgentError, match="is locked by another program"):
            await store.open()
        assert rows(shared, "PRAGMA journal_mode") == [("wal",)]
        await talk(older, "It goes on.")
        await older.close()
        assert len((await store.sessions.list_page()).sessions) == 2
        assert has_no_log(shared)


async def test_it_gets_its_log_again_once_it_is_on_a_local_disk(
    shared: Path, tmp_path: Path
) -> None:
    async with open_store(shared) as store:
        chat = await talk(store)
    local = shutil.copy(shared, tmp_path / "moved.db")
    async with open_store(local) as store:
        assert (await store.turn_reader.get(chat.turn_id)).reply == "Said."
        assert rows(local, "PRAGMA journal_mode") == [("wal",)]


async def test_a_write_that_was_cut_off_is_taken_back(shared: Path, tmp_path: Path) -> None:
    async with open_store(shared) as store:
        chat = await talk(store)
    cut = tmp_path / "cut"
    cut.mkdir()
    with closing(sqlite3.connect(shared, isolation_level=None)) as connection:
        # A cache of ten pages: what does not fit is in the file before the commit.
        connection.execute("PRAGMA cache_size = 10")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE turns SET reply = 'never committed'")
        connection.executemany(
            "INSERT INTO items (turn_id, data) VALUES (?, ?)", [(chat.turn_id, "x" * 9000)] * 200
        )
        for file in (shared, shared.with_name("agent.db-journal")):
            shutil.copy(file, cut)
        connection.execute("ROLLBACK")
    for file in cut.iterdir():
        shutil.copy(file, shared.parent)
    # The end of what was added never reached the disk.
    shorten(shared, 5 * 4096)
    async with open_store(shared) as store:
        assert (await store.turn_reader.get(chat.turn_id)).reply == "Said."
    assert rows(shared, "PRAGMA integrity_check") == [("ok",)]


def test_a_file_that_is_too_short_is_damaged_unless_a_journal_says_otherwise(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    execute(path, "CREATE TABLE x AS SELECT randomblob(20000)")
    shorten(path, 4096)
    assert "cut off" in str(damage(path))
    journal_of_it = tmp_path / "agent.db-journal"
    journal_of_it.touch()
    assert "cut off" in str(damage(path)), "an empty journal takes nothing back"
    journal_of_it.write_bytes(b"x")
    assert damage(path) is None, "it is SQLite's to say"


async def test_the_database_of_another_program_keeps_its_log(shared: Path) -> None:
    execute(shared, "CREATE TABLE theirs (id)")
    execute(shared, "PRAGMA journal_mode = WAL")
    before = content(shared)
    async with open_store(shared) as store:
        with pytest.raises(AgentError, match="of another program"):
            await store.open()
    assert content(shared) == before
