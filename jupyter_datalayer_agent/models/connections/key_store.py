"""Where keys are kept: the system's keyring, else a file of the user's own. Nowhere else."""

from __future__ import annotations

import asyncio
from pathlib import Path

from .connection import KeyPlace
from .key_files import KeyFileError, KeyFiles
from .keyring_access import KeyringAccess, KeyringError


class KeyStoreError(Exception):
    """A key cannot be read, saved or removed; the message is for a user and holds no key."""


class KeyStore:
    """Keys by the ids of their connections. Every method raises ``KeyStoreError``."""

    def __init__(self, folder: Path, keyring: KeyringAccess | None = None) -> None:
        self.files = KeyFiles(folder)
        self._keyring = keyring or KeyringAccess()

    async def keyring_name(self) -> str:
        """What the system's keyring is called; raises where there is none that can be used."""
        try:
            return await self._keyring.name()
        except KeyringError as error:
            raise KeyStoreError(str(error)) from error

    async def get(self, connection_id: str, place: KeyPlace) -> str | None:
        """The key, None where it is gone."""
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
                await asyncio.to_thread(self.files.delete, connection_id)
            else:
                await asyncio.to_thread(self.files.set, connection_id, key)
        except (KeyringError, KeyFileError) as error:
            raise KeyStoreError(str(error)) from error

    async def delete(self, connection_id: str, place: KeyPlace | None) -> None:
        """Remove a key from the file, and from the keyring where it is there, or may be."""
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
