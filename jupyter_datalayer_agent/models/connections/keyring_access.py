"""The system's keyring: macOS's Keychain, Windows' Credential Locker, Secret Service, KWallet.

``keyring`` is imported with the first use, in a thread of its own: a keyring may ask the user to
unlock it, and one that hangs must stop neither the event loop nor the server's end.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import threading
from collections.abc import Callable
from typing import Any

log = logging.getLogger(__name__)

SERVICE = "jupyter-datalayer-agent"
SECONDS = 10.0
"""How long a keyring may take; it may be asking the user meanwhile."""
RECOMMENDED = 1
"""The lowest priority of a keyring that protects what it keeps; one with less writes plain text."""


class KeyringError(Exception):
    """The keyring is not there, does not answer or refuses; the message says which."""


class KeyringAccess:
    """One keyring entry for each connection. Every method raises ``KeyringError``."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._one_by_one = asyncio.Lock()
        self._busy = threading.Event()

    async def name(self) -> str:
        """What the keyring is called."""
        return str(await self._do("opened", lambda ring: getattr(ring, "name", "keyring")))

    async def get(self, connection_id: str) -> str | None:
        """The key, None where there is none."""
        found = await self._do("read", lambda ring: ring.get_password(SERVICE, connection_id))
        return None if found is None else str(found)

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
        """Do something with the keyring in a daemon thread, which Python's end does not wait for.

        One thing after the other; after one that hangs, nothing until it has ended."""
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
    # Where there are several, keyring puts a chain before them, which has the best one's priority.
    if float(getattr(type(ring), "priority", 0)) < RECOMMENDED:
        raise KeyringError("This computer has no keyring that can be used here.")
    return ring


def _result(act: Callable[[Any], Any]) -> Any:
    """What ``act`` returns. The system's own library raises errors of any kind; what it puts into
    them is not known, so that neither their message nor a traceback is passed on."""
    try:
        return act(_open())
    except KeyringError:
        raise
    except Exception as error:  # noqa: BLE001
        name = type(error).__name__
        log.warning("The keyring failed: %s", name)
        raise KeyringError(f"The keyring failed ({name}). It may be locked.") from None
