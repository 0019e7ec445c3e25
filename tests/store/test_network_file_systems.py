"""A database on a network file system: recognised, and kept without a write-ahead log."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.requests import Health
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.file import database as journal
from jupyter_datalayer_agent.store.file import driver, file_system
from jupyter_datalayer_agent.store.file.database import damage
from jupyter_datalayer_agent.store.file.file_system import network_file_system, type_of

from .chats import Chat, execute, open_store, rows, url
from .crashing import Server
from .file.test_vacuum import idle

linux_only = pytest.mark.skipif(not psutil.LINUX, reason="Linux's table of mounts")

LINUX = r"""
proc /proc proc rw,relatime 0 0
/dev/nvme0n1p2 / ext4 rw,relatime 0 0
systemd-1 /home autofs rw,relatime 0 0
filer:/export /home/anna nfs4 rw,nosuid,relatime 0 0
/dev/sdb1 /home/anna/usb fuseblk rw,relatime 0 0
//nas/team /mnt/team\040share cifs rw,relatime 0 0
anna@host: /home/anna/ssh fuse.sshfs rw,nosuid,nodev 0 0
10.0.0.1@o2ib:/scratch /scratch lustre rw,relatime 0 0
C:\134 /mnt/c 9p rw,noatime 0 0
10.0.0.2:6789:/ /ceph ceph rw,relatime 0 0
gpfs0 /gpfs gpfs rw,relatime 0 0
beegfs_nodev /bee beegfs rw,relatime 0 0
//nas/x /smb smb3 rw,relatime 0 0
a:b /merged fuse.mergerfs rw,relatime 0 0
fuse-overlayfs /container fuse.fuse-overlayfs rw,relatime 0 0
bucket /gcs fuse.gcsfuse rw,relatime 0 0
https://dav /dav fuse rw,relatime 0 0
old:/x /over nfs rw,relatime 0 0
/dev/sdc1 /over xfs rw,relatime 0 0
AFS /afs afs rw,relatime 0 0
"""


class Mounted(NamedTuple):
    mountpoint: str
    fstype: str
    opts: str


MAC = [
    Mounted("/", "apfs", "ro,local,journaled"),
    Mounted("/dev", "devfs", "local,nobrowse"),
    Mounted("/Volumes/team (data)", "smbfs", "rw,nodev,nosuid"),
    Mounted("/Users/anna/nfs", "nfs", "rw,nodev,nosuid"),
    Mounted("/Volumes/usb", "msdos", "rw,local,nodev,nosuid"),
]


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
@linux_only
def test_linux_says_what_a_path_is_on(
    path: str, kind: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted(LINUX, tmp_path, monkeypatch)
    assert network_file_system(Path(path)) == kind


@linux_only
def test_a_table_of_mounts_that_nobody_can_read_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted("what is this\n1\n", tmp_path, monkeypatch)
    assert network_file_system(tmp_path) is None
    (tmp_path / "self/mounts").unlink()
    assert network_file_system(tmp_path) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/Users/anna/agent.db", None),
        ("/Users/anna/nfs/agent.db", "nfs"),
        ("/Volumes/team (data)/agent.db", "smbfs"),
        ("/Volumes/usb/agent.db", None),
    ],
)
def test_macos_says_what_a_path_is_on(
    path: str, kind: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_system.sys, "platform", "darwin")
    assert type_of(MAC, Path(path)) == kind


def test_windows_says_which_drive_is_of_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_system.sys, "platform", "win32")
    assert type_of([Mounted("/c", "NTFS", "rw,fixed")], Path("/c/agent.db")) is None
    assert type_of([Mounted("/z", "NTFS", "rw,remote")], Path("/z/agent.db")) == ("a network drive")


@linux_only
def test_this_machine_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert network_file_system(tmp_path) is None
    link = tmp_path / "link"
    on(tmp_path / "shared folder", "nfs", tmp_path, monkeypatch)
    link.symlink_to(tmp_path / "shared folder")
    assert network_file_system(link / "agent.db") == "nfs", "by where a link leads"
    assert network_file_system(tmp_path / "agent.db") is None


def on(folder: Path, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is on a file system of this kind, says the table of mounts."""
    folder.mkdir(exist_ok=True)
    point = str(folder.resolve()).replace(" ", r"\040")
    mounted(f"{LINUX}filer:/x {point} {kind} rw,relatime 0 0\n", tmp_path, monkeypatch)


def mounted(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """psutil reads this table of mounts in place of the system's."""
    (tmp_path / "self").mkdir(exist_ok=True)
    (tmp_path / "self/mounts").write_text(table)
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))


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
