"""Where keys are kept: the system's keyring, a file of the user's own, or this process until it
ends. Nowhere else.

What a connection keeps is one entry: its key, or where there is more, a JSON object of all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from .connection import KeyPlace
from .key_files import KeyFileError, KeyFiles
from .keyring_access import KeyringAccess, KeyringError
from .provider_forms import API_KEY


class KeyStoreError(Exception):
    """A key cannot be read, saved or removed; the message is for a user and holds no key."""


Secrets = Mapping[str, str]
"""By the names of a form's fields; an extra header's as ``header:NAME``."""


def packed(secrets: Secrets) -> str:
    """The entry that is kept."""
    return secrets[API_KEY] if secrets.keys() == {API_KEY} else json.dumps(dict(secrets))


def unpacked(entry: str) -> Secrets:
    """What ``packed`` made an entry of, or somebody wrote into a file."""
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
        """Whether this process keeps it."""
        return connection_id in self._memory

    async def keyring_name(self) -> str:
        """What the system's keyring is called; raises where there is none that can be used."""
        try:
            return await self._keyring.name()
        except KeyringError as error:
            raise KeyStoreError(str(error)) from error

    async def get(self, connection_id: str, place: KeyPlace) -> str | None:
        """The key, None where it is gone."""
        if place == "memory":
            return self._memory.get(connection_id)
        try:
            if place == "keyring":
                return await self._keyring.get(connection_id)
            return await asyncio.to_thread(self.files.get, connection_id)
        except (KeyringError, KeyFileError) as error:
            raise KeyStoreError(str(error)) from error

    async def set(self, connection_id: str, key: str, place: KeyPlace) -> None:
        """Save a key there, and only there."""
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
        """Remove a key from the file, and from the keyring where it is there, or may be."""
        self._memory.pop(connection_id, None)
        try:
            await asyncio.to_thread(self.files.delete, connection_id)
        except KeyFileError as error:
            raise KeyStoreError(str(error)) from error
        try:
            await self._keyring.delete(connection_id)
        except KeyringError as error:
            # Without one, nothing can be in it.
            if place == "keyring":
                raise KeyStoreError(f"The key is still in the keyring. {error}") from error

    async def delete_from_keyring(self, connection_id: str) -> None:
        """Remove a key that is in the keyring."""
        try:
            await self._keyring.delete(connection_id)
        except KeyringError as error:
            raise KeyStoreError(f"The former key is still in the keyring. {error}") from error
