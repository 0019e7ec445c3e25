"""Keys in files and in keyrings that hang, fail, or are not there."""

from __future__ import annotations

import os
import sys
import threading
import types
from pathlib import Path

import pytest

from jupyter_datalayer_agent.models.connections.key_store import (
    KeyFileError,
    KeyFiles,
    KeyringAccess,
    KeyringError,
    KeyStore,
    KeyStoreError,
)

KEY = "sk-stored-0123456789abcdef"


class Ring:
    """A keyring in memory, behind ``keyring.get_keyring``."""

    priority = 5.0
    name = "Memory"

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, key: str) -> None:
        self.kept[service, name] = key

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


def use(monkeypatch: pytest.MonkeyPatch, ring: object) -> None:
    module = types.ModuleType("keyring")
    module.get_keyring = lambda: ring  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)


def test_a_file_is_the_users_alone_from_the_start(tmp_path: Path) -> None:
    files = KeyFiles(tmp_path)
    before = os.umask(0)
    try:
        files.set("127.0.0.1:8000", KEY)
    finally:
        os.umask(before)
    path = files.path("127.0.0.1:8000")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert files.get("127.0.0.1:8000") == KEY
    files.set("127.0.0.1:8000", f"{KEY}2")
    assert files.get("127.0.0.1:8000") == f"{KEY}2"
    files.delete("127.0.0.1:8000")
    files.delete("127.0.0.1:8000")
    assert files.get("127.0.0.1:8000") is None


def test_a_file_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    files = KeyFiles(tmp_path)
    files.set("openai", KEY)
    files.path("openai").chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600") as refused:
        files.get("openai")
    assert KEY not in str(refused.value)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    files = KeyFiles(tmp_path)
    files.set("openai", KEY)
    other = tmp_path / "other"
    files.path("openai").rename(other)
    files.path("openai").symlink_to(other)
    with pytest.raises(KeyFileError):
        files.get("openai")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("in the way")
    with pytest.raises(KeyFileError, match="cannot be written"):
        KeyFiles(tmp_path).set("openai", KEY)


async def test_a_key_goes_into_the_keyring_and_out_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Ring()
    use(monkeypatch, ring)
    store = KeyStore(tmp_path)
    assert await store.keyring_name() == "Memory"
    await store.set("openai", "sk-old-key-in-file", "file")
    await store.set("openai", KEY, "keyring")
    assert await store.get("openai", "keyring") == KEY
    assert await store.get("openai", "file") is None
    await store.set("openai", KEY, "file")
    await store.delete("openai", "file")
    assert ring.kept == {}
    assert await store.get("openai", "file") is None


async def test_without_the_package_the_key_can_go_into_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    store = KeyStore(tmp_path)
    with pytest.raises(KeyStoreError, match="pip install keyring"):
        await store.keyring_name()
    await store.set("openai", KEY, "file")
    await store.delete("openai", "file")
    assert await store.get("openai", "file") is None


async def test_a_keyring_that_writes_plain_text_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring = type("Plain", (Ring,), {"priority": 0.5})()
    use(monkeypatch, ring)
    with pytest.raises(KeyringError, match="no usable keyring"):
        await KeyringAccess().set("openai", KEY)
    assert ring.kept == {}


async def test_a_keyring_that_fails_is_said_so_without_what_it_says(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Ring):
        def set_password(self, service: str, name: str, key: str) -> None:
            raise RuntimeError(f"no bus for {key}")

    use(monkeypatch, Broken())
    with pytest.raises(KeyringError, match="RuntimeError") as failed:
        await KeyringAccess().set("openai", KEY)
    assert KEY not in str(failed.value)
    assert KEY not in caplog.text


async def test_a_keyring_that_forgets_at_once_did_not_keep_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Forgetful(Ring):
        def set_password(self, service: str, name: str, key: str) -> None:
            pass

    use(monkeypatch, Forgetful())
    with pytest.raises(KeyringError, match="did not keep"):
        await KeyringAccess().set("openai", KEY)


async def test_a_keyring_that_hangs_stops_nobody_and_is_used_again_once_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unlocked = threading.Event()

    class Locked(Ring):
        def get_password(self, service: str, name: str) -> str | None:
            unlocked.wait(30)
            return KEY

    use(monkeypatch, Locked())
    access = KeyringAccess(seconds=0.2)
    with pytest.raises(KeyringError, match="locked"):
        await access.get("openai")
    with pytest.raises(KeyringError, match="does not answer"):
        await access.name()
    unlocked.set()
    for thread in threading.enumerate():
        if thread.name == "keyring":
            thread.join(5)
    assert await access.get("openai") == KEY
