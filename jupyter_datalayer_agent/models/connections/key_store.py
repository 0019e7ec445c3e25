"""Where keys are kept: the system's keyring, a file of the user's own, or this process until it
ends. Nowhere else.

Each connection has one entry: its key, or a JSON object if it has other secrets.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import os
import stat
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .connection import KeyPlace
from .provider_forms import API_KEY

# Keys in the user's own files, one per connection, for computers without a keyring.
#
# A file has mode 0600 from its first byte on, in a folder of mode 0700. A file that others can
# read, or that is a symbolic link, is not read.


FOLDER = "keys"
_LARGEST = 64 * 1024
_HAS_MODES = os.name == "posix"


class KeyFileError(Exception):
    """A key file cannot be read, written or removed; the message says why."""


class KeyFiles:
    """The files in ``folder / "keys"``, which is created with the first key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER

    def path(self, connection_id: str) -> Path:
        """The file of a connection's key."""
        return self.folder / quote(connection_id, safe="")

    def get(self, connection_id: str) -> str | None:
        """The key, None where there is none. Raises ``KeyFileError``."""
        path = self.path(connection_id)
        try:
            number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeyFileError(f"{path} cannot be read: {error.strerror}.") from error
        with open(number, "rb") as file:
            _check_private(os.fstat(number), path)
            content = file.read(_LARGEST)
        try:
            return content.decode().strip() or None
        except UnicodeDecodeError as error:
            raise KeyFileError(f"{path} holds no key. Connect the model again.") from error

    def set(self, connection_id: str, key: str) -> None:
        """Write a key, whole or not at all. Raises ``KeyFileError``."""
        path = self.path(connection_id)
        new = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "w", encoding="utf-8") as file:
                # On a file system without modes, this fails before the key is written.
                _check_private(os.fstat(number), path)
                file.write(key)
                file.flush()
                os.fsync(number)
            new.replace(path)
        except OSError as error:
            raise KeyFileError(f"{path} cannot be written: {error.strerror}.") from error
        finally:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)

    def delete(self, connection_id: str) -> None:
        """Remove a key, if there is one. Raises ``KeyFileError``."""
        path = self.path(connection_id)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise KeyFileError(f"{path} cannot be removed: {error.strerror}.") from error


def _check_private(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise KeyFileError(f"{path} is not a file.")
    if not _HAS_MODES:
        return
    if status.st_uid != os.getuid():
        raise KeyFileError(f"{path} belongs to another user, and is not used.")
    if status.st_mode & 0o077:
        raise KeyFileError(f"Others can read {path}, so it is not used. Run: chmod 600 {path}")


# The system's keyring: macOS's Keychain, Windows' Credential Locker, Secret Service, KWallet.
#
# ``keyring`` is imported with the first use, in a thread of its own: a keyring may ask the user to
# unlock it, and one that hangs must block neither the event loop nor the server's shutdown.


log = logging.getLogger(__name__)

SERVICE = "jupyter-datalayer-agent"
SECONDS = 10.0
"""How long a keyring may take; it may be asking the user meanwhile."""
RECOMMENDED = 1
"""The lowest priority of a keyring that protects what it keeps; one with less writes plain text."""


class KeyringError(Exception):
    """The keyring is missing, does not answer or refuses; the message says which."""


class KeyringAccess:
    """One keyring entry for each connection. Every method raises ``KeyringError``."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._one_by_one = asyncio.Lock()
        self._busy = threading.Event()

    async def name(self) -> str:
        """The keyring's name, for users."""
        return str(await self._do("opened", lambda ring: getattr(ring, "name", "keyring")))

    async def get(self, connection_id: str) -> str | None:
        """The key, None where there is none."""
        key = await self._do("read", lambda ring: ring.get_password(SERVICE, connection_id))
        return None if key is None else str(key)

    async def set(self, connection_id: str, key: str) -> None:
        """Save a key, and read it back."""

        def save(ring: Any) -> bool:
            ring.set_password(SERVICE, connection_id, key)
            return bool(ring.get_password(SERVICE, connection_id) == key)

        if not await self._do("written", save):
            raise KeyringError("The keyring did not keep the key.")

    async def delete(self, connection_id: str) -> None:
        """Remove a key, if there is one."""

        def delete(ring: Any) -> None:
            if ring.get_password(SERVICE, connection_id) is not None:
                ring.delete_password(SERVICE, connection_id)

        await self._do("written", delete)

    async def _do(self, what: str, act: Callable[[Any], Any]) -> Any:
        """Call ``act`` with the keyring in a daemon thread, for which Python's exit does not wait.

        Calls run one at a time. While one hangs, all others fail at once."""
        async with self._one_by_one:
            if self._busy.is_set():
                raise KeyringError("The keyring does not answer. It may be locked.")
            self._busy.set()
            loop = asyncio.get_running_loop()
            done: asyncio.Future[Any] = loop.create_future()

            def finish(set_outcome: Callable[[Any], None], outcome: Any) -> None:
                if not done.done():
                    set_outcome(outcome)

            def work() -> None:
                try:
                    call: tuple[Callable[[Any], None], Any] = done.set_result, _result(act)
                except KeyringError as error:
                    call = done.set_exception, error
                self._busy.clear()
                with contextlib.suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(finish, *call)

            threading.Thread(target=work, name="keyring", daemon=True).start()
            try:
                return await asyncio.wait_for(done, self._seconds)
            except asyncio.TimeoutError as error:
                raise KeyringError(
                    f"The keyring was not {what} within {self._seconds:g} seconds. It may be "
                    "locked."
                ) from error


def _open() -> Any:
    """The system's keyring. Raises ``KeyringError`` where there is none that protects keys."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError as error:
        raise KeyringError("To use the system's keyring: pip install keyring") from error
    ring = keyring.get_keyring()
    # With several backends, keyring returns a chain of them, which has the best one's priority.
    if float(getattr(type(ring), "priority", 0)) < RECOMMENDED:
        raise KeyringError("This computer has no usable keyring.")
    return ring


def _result(act: Callable[[Any], Any]) -> Any:
    """Return what ``act`` returns. The system's library may raise any error, and the text of one
    could contain the key; so neither the message nor the traceback is passed on."""
    try:
        return act(_open())
    except KeyringError:
        raise
    except Exception as error:  # noqa: BLE001
        name = type(error).__name__
        log.warning("The keyring failed: %s", name)
        raise KeyringError(f"The keyring failed ({name}). It may be locked.") from None


class KeyStoreError(Exception):
    """A key cannot be read, saved or removed; the message is for a user and contains no key."""


Secrets = Mapping[str, str]
"""Secrets by the names of a form's fields; an extra header's value by ``header:NAME``."""


def packed(secrets: Secrets) -> str:
    """The secrets as one entry."""
    return secrets[API_KEY] if secrets.keys() == {API_KEY} else json.dumps(dict(secrets))


def unpacked(entry: str) -> Secrets:
    """The secrets of an entry, which ``packed`` made or a user wrote into a file."""
    if entry.startswith("{"):
        try:
            return {str(name): str(value) for name, value in json.loads(entry).items()}
        except ValueError:
            pass
    return {API_KEY: entry}


class KeyStore:
    """Keys by the ids of their connections. Every method raises ``KeyStoreError``."""

    def __init__(self, folder: Path, keyring: KeyringAccess | None = None) -> None:
        self.files = KeyFiles(folder)
        self._keyring = keyring or KeyringAccess()
        self._memory: dict[str, str] = {}

    def has_in_memory(self, connection_id: str) -> bool:
        """Whether this process has the connection's key in memory."""
        return connection_id in self._memory

    async def keyring_name(self) -> str:
        """The name of the system's keyring; raises if none is usable."""
        try:
            return await self._keyring.name()
        except KeyringError as error:
            raise KeyStoreError(str(error)) from error

    async def get(self, connection_id: str, place: KeyPlace) -> str | None:
        """The key, None if it is not there any more."""
        if place == "memory":
            return self._memory.get(connection_id)
        try:
            if place == "keyring":
                return await self._keyring.get(connection_id)
            return await asyncio.to_thread(self.files.get, connection_id)
        except (KeyringError, KeyFileError) as error:
            raise KeyStoreError(str(error)) from error

    async def set(self, connection_id: str, key: str, place: KeyPlace) -> None:
        """Save a key in this place, and remove it from file and memory if they are not the place.
        A former key in the keyring stays: see ``delete_from_keyring``."""
        try:
            if place == "keyring":
                await self._keyring.set(connection_id, key)
            if place == "file":
                await asyncio.to_thread(self.files.set, connection_id, key)
            else:
                await asyncio.to_thread(self.files.delete, connection_id)
        except (KeyringError, KeyFileError) as error:
            raise KeyStoreError(str(error)) from error
        self._memory.pop(connection_id, None)
        if place == "memory":
            self._memory[connection_id] = key

    async def delete(self, connection_id: str, place: KeyPlace | None) -> None:
        """Remove a key from memory, the file and the keyring. A failure of the keyring counts only
        if the key is there (``place``)."""
        self._memory.pop(connection_id, None)
        try:
            await asyncio.to_thread(self.files.delete, connection_id)
        except KeyFileError as error:
            raise KeyStoreError(str(error)) from error
        try:
            await self._keyring.delete(connection_id)
        except KeyringError as error:
            # Often there is no keyring, and then no key in it either.
            if place == "keyring":
                raise KeyStoreError(f"The key is still in the keyring. {error}") from error

    async def delete_from_keyring(self, connection_id: str) -> None:
        """Remove a key that is in the keyring."""
        try:
            await self._keyring.delete(connection_id)
        except KeyringError as error:
            raise KeyStoreError(f"The former key is still in the keyring. {error}") from error
