"""``connections.json``: what is connected, without keys. Read again when it has changed, since
another server of the same user may have written it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from .connection import ModelConnection

log = logging.getLogger(__name__)

NAME = "connections.json"


class ConnectionsFile:
    """The connections of a user, by their ids."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._stamp: tuple[int, int, int] | None = None
        self._connections: dict[str, ModelConnection] = {}

    @property
    def stamp(self) -> tuple[int, int, int] | None:
        """Differs when the file has changed since the last ``read``."""
        return self._stamp

    def read(self) -> Mapping[str, ModelConnection]:
        """All of them; empty where the file is missing or cannot be read, which is logged once."""
        try:
            status = self.path.stat()
        except OSError:
            self._stamp, self._connections = None, {}
            return self._connections
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._stamp, self._connections = stamp, {}
            try:
                found = json.loads(self.path.read_text(encoding="utf-8"))
                read = [ModelConnection.from_json(each) for each in found["connections"]]
                self._connections = {each.id: each for each in read}
            except (OSError, ValueError, TypeError, KeyError) as error:
                log.error("%s cannot be read, and is not used: %s", self.path, error)
        return self._connections

    def write(self, connections: Mapping[str, ModelConnection]) -> None:
        """Write all of them, whole or not at all. Raises ``OSError``."""
        text = json.dumps(
            {"connections": [each.to_json() for each in connections.values()]},
            ensure_ascii=False,
            indent=2,
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(f".{NAME}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(self.path)
