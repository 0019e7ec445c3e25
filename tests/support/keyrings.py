"""A keyring for servers of tests: a real backend of the package keyring, over one JSON file.

``PYTHON_KEYRING_BACKEND=tests.support.keyrings.FileKeyring`` chooses it, and ``TEST_KEYRING`` names
the file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend


class FileKeyring(KeyringBackend):
    """Keeps what the system's keyring would."""

    priority = 5  # type: ignore[assignment]
    name = "Test keyring"  # type: ignore[assignment]

    def _read(self) -> dict[str, str]:
        file = Path(os.environ["TEST_KEYRING"])
        return json.loads(file.read_text()) if file.exists() else {}

    def _write(self, kept: dict[str, str]) -> None:
        Path(os.environ["TEST_KEYRING"]).write_text(json.dumps(kept))

    def get_password(self, service: str, username: str) -> str | None:
        return self._read().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self._read(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._read()
        del kept[f"{service}/{username}"]
        self._write(kept)
